/* SPDX-License-Identifier: Apache-2.0 */
/* Histograms: error bound over the whole range, merging, quantiles, and the JSON form. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "summary/result/histogram.h"
#include "tests/lib/test_random.h"

static const int64_t microsecond = 1000, hour = INT64_C(3600) * 1000000000;

static void assert_within_bound(int64_t ns)
{
    int64_t value = histogram_bucket_value(histogram_bucket(ns));
    assert_true(llabs(value - ns) * 100 <= ns);
}

static void errors_are_bounded(void **state)
{
    (void)state;
    for (unsigned bucket = 0; bucket + 1 < HISTOGRAM_BUCKETS; bucket++) {
        int64_t middle = histogram_bucket_value(bucket);
        int64_t next = histogram_bucket_value(bucket + 1);
        assert_int_equal(histogram_bucket(middle), bucket);
        assert_true(next > middle);
        for (int64_t ns = middle; ns < next; ns += (next - middle) / 8 + 1)
            if (ns >= microsecond && ns <= hour)
                assert_within_bound(ns);
    }
    uint64_t random = 88172645463325252u;
    for (unsigned i = 0; i < 1000000; i++) {
        unsigned bits = 10 + (unsigned)(test_random(&random) % 33);
        int64_t ns = (int64_t)(test_random(&random) >> (64 - bits));
        if (ns >= microsecond && ns <= hour)
            assert_within_bound(ns);
    }
    for (int64_t ns = microsecond; ns < 200 * microsecond; ns++) {
        assert_within_bound(ns);
        assert_true(histogram_bucket(ns) >= histogram_bucket(ns - 1));
    }
    assert_within_bound(microsecond);
    assert_within_bound(hour);
}

static void extreme_values_take_the_last_bucket(void **state)
{
    (void)state;
    assert_int_equal(histogram_bucket(INT64_MIN), 0);
    assert_int_equal(histogram_bucket(0), 0);
    assert_int_equal(histogram_bucket(511), 0);
    assert_int_equal(histogram_bucket(INT64_MAX), HISTOGRAM_BUCKETS - 1);
    assert_int_equal(histogram_bucket(INT64_C(1) << 42), HISTOGRAM_BUCKETS - 1);

    struct histogram histogram;
    histogram_init(&histogram);
    assert_int_equal(histogram_add(&histogram, -5), 0);
    assert_int_equal(histogram_add(&histogram, 7), 0);
    assert_int_equal(histogram_add(&histogram, 10 * hour), 0);
    assert_int_equal(histogram.count, 3);
    assert_int_equal(histogram.min, 0);
    assert_int_equal(histogram.max, 10 * hour);
    assert_true(histogram.sum == (double)(10 * hour) + 7);
    assert_true(histogram_quantile(&histogram, 0.5) < 520);
    assert_int_equal(histogram_quantile(&histogram, 1), 10 * hour);
    histogram_clear(&histogram);
}

static void an_empty_histogram_has_no_figures(void **state)
{
    (void)state;
    struct histogram histogram;
    histogram_init(&histogram);
    assert_int_equal(histogram_quantile(&histogram, 0), -1);
    assert_int_equal(histogram_quantile(&histogram, 0.5), -1);
    assert_int_equal(histogram_quantile(&histogram, 1), -1);
    assert_true(isnan(histogram_mean(&histogram)));
    histogram_clear(&histogram);
    histogram_clear(&histogram);
}

static int compare_ns(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

/* Quantiles against those of the sorted values. */
static void quantiles_are_those_of_sorted_values(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    int64_t *values = calloc(COUNT, sizeof *values);
    assert_non_null(values);
    struct histogram histogram;
    histogram_init(&histogram);
    uint64_t random = 42;
    double sum = 0;
    for (size_t i = 0; i < COUNT; i++) {
        /* Log-uniform from 1 us to 1 h. */
        double fraction = (double)(test_random(&random) >> 11) / 9007199254740992.0;
        values[i] = (int64_t)(1000 * exp(fraction * log(3.6e9)));
        sum += (double)values[i];
        assert_int_equal(histogram_add(&histogram, values[i]), 0);
    }
    qsort(values, COUNT, sizeof *values, compare_ns);
    static const double fractions[] = {0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999};
    for (size_t i = 0; i < sizeof fractions / sizeof fractions[0]; i++) {
        int64_t exact = values[(size_t)llround(fractions[i] * COUNT) - 1];
        int64_t got = histogram_quantile(&histogram, fractions[i]);
        assert_true(llabs(got - exact) * 100 <= exact);
    }
    assert_int_equal(histogram_quantile(&histogram, 0), values[0]);
    assert_int_equal(histogram_quantile(&histogram, 1), values[COUNT - 1]);
    assert_true(fabs(histogram_mean(&histogram) - sum / COUNT) < 1e-9 * sum);
    histogram_clear(&histogram);
    free(values);
}

/* Of 20 values the 95% quantile is the 19th: no off by one. */
static void ranks_are_exact(void **state)
{
    (void)state;
    struct histogram histogram;
    histogram_init(&histogram);
    int64_t value = 1000;
    for (unsigned i = 0; i < 20; i++, value *= 2)
        assert_int_equal(histogram_add(&histogram, value), 0);
    int64_t nineteenth = 1000 * (INT64_C(1) << 18), twentieth = nineteenth * 2;
    int64_t got = histogram_quantile(&histogram, 0.95);
    assert_true(llabs(got - nineteenth) * 100 <= nineteenth);
    assert_int_equal(histogram_quantile(&histogram, 0.9501), twentieth);
    got = histogram_quantile(&histogram, 0.5);
    assert_true(llabs(got - 1000 * 512) * 100 <= 1000 * 512);
    got = histogram_quantile(&histogram, 0.05);
    assert_true(llabs(got - 1000) * 100 <= 1000);
    histogram_clear(&histogram);

    /* One value alone is every quantile of itself. */
    assert_int_equal(histogram_add(&histogram, 123456789), 0);
    assert_int_equal(histogram_quantile(&histogram, 0.5), 123456789);
    histogram_clear(&histogram);
}

static void fill(struct histogram *histogram, uint64_t seed, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(histogram_add(histogram, (int64_t)(test_random(&seed) >> 28)), 0);
}

static void assert_same(const struct histogram *left, const struct histogram *right)
{
    assert_int_equal(left->count, right->count);
    assert_int_equal(left->min, right->min);
    assert_int_equal(left->max, right->max);
    assert_true(fabs(left->sum - right->sum) <= 1e-9 * fabs(right->sum));
    json_t *a = histogram_to_json(left), *b = histogram_to_json(right);
    assert_non_null(a);
    assert_non_null(b);
    assert_string_equal(json_string_value(json_object_get(a, "counts")),
                        json_string_value(json_object_get(b, "counts")));
    json_decref(a);
    json_decref(b);
}

/* All quantiles, too. */
static void assert_packed_same(const struct histogram *one, const struct histogram *other)
{
    assert_same(one, other);
    for (double fraction = 0; fraction <= 1; fraction += 0.01)
        assert_true(histogram_quantile(one, fraction) == histogram_quantile(other, fraction));
}

/* Packed or not: the same values, also when it is added to, merged, and merged into. */
static void packed_histograms_hold_the_same_values(void **state)
{
    (void)state;
    struct histogram plain, packed, sums[2];
    histogram_init(&plain);
    histogram_init(&packed);
    histogram_pack(&packed);
    assert_packed_same(&plain, &packed);
    uint64_t random = 1;
    for (unsigned i = 0; i < 3000; i++) {
        int64_t ns = (int64_t)(test_random(&random) >> (20 + test_random(&random) % 30));
        assert_int_equal(histogram_add(&plain, ns), 0);
        assert_int_equal(histogram_add(&packed, ns), 0);
        if (i % 500 == 0) {
            histogram_pack(&packed);
            histogram_pack(&packed);
            assert_packed_same(&plain, &packed);
        }
    }
    histogram_pack(&packed);
    assert_null(packed.pages);
    for (unsigned i = 0; i < 2; i++) {
        histogram_init(&sums[i]);
        assert_int_equal(histogram_add(&sums[i], hour), 0);
        if (i == 1)
            histogram_pack(&sums[i]);
        assert_int_equal(histogram_merge(&sums[i], i ? &packed : &plain), 0);
    }
    assert_packed_same(&sums[0], &sums[1]);
    for (unsigned i = 0; i < 2; i++)
        histogram_clear(&sums[i]);
    histogram_clear(&plain);
    histogram_clear(&packed);
}

static void merged_histograms_hold_all_values(void **state)
{
    (void)state;
    struct histogram empty, one, two, both, into;
    struct histogram *all[] = {&empty, &one, &two, &both, &into};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        histogram_init(all[i]);
    fill(&one, 1, 500);
    fill(&two, 2, 3000);
    fill(&both, 1, 500);
    fill(&both, 2, 3000);

    assert_int_equal(histogram_merge(&into, &empty), 0);
    assert_same(&into, &empty);
    assert_int_equal(histogram_merge(&into, &one), 0);
    assert_same(&into, &one);
    assert_int_equal(histogram_merge(&into, &empty), 0);
    assert_same(&into, &one);
    assert_int_equal(histogram_merge(&into, &two), 0);
    assert_same(&into, &both);

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        histogram_clear(all[i]);
}

static void json_survives_a_round_trip(void **state)
{
    (void)state;
    static const unsigned counts[] = {0, 1, 2, 50, 20000};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        struct histogram before, after;
        histogram_init(&before);
        histogram_init(&after);
        fill(&before, 7 + i, counts[i]);
        json_t *json = histogram_to_json(&before);
        assert_non_null(json);
        char *text = json_dumps(json, JSON_COMPACT);
        assert_non_null(text);
        json_t *again = json_loads(text, 0, NULL);
        assert_non_null(again);
        assert_int_equal(histogram_from_json(&after, again), 0);
        assert_same(&after, &before);
        assert_true(after.sum == before.sum);
        json_decref(again);
        json_decref(json);
        free(text);
        histogram_clear(&before);
        histogram_clear(&after);
    }
}

static int read_text(const char *text)
{
    json_t *json = json_loads(text, JSON_ALLOW_NUL, NULL);
    assert_non_null(json);
    struct histogram histogram;
    histogram_init(&histogram);
    /* What was in it before does not matter. */
    assert_int_equal(histogram_add(&histogram, 5), 0);
    int result = histogram_from_json(&histogram, json);
    if (result < 0) {
        assert_int_equal(histogram.count, 0);
        assert_null(histogram.pages);
    }
    histogram_clear(&histogram);
    json_decref(json);
    return result;
}

#define HEAD(min, max, sum)                                                                        \
    "{\"min\":" min ",\"max\":" max ",\"sum\":" sum ",\"rule\":\"" HISTOGRAM_RULE "\",\"counts\":"
#define GOOD HEAD("1008", "1030", "3056")

static void malformed_histograms_are_refused(void **state)
{
    (void)state;
    /* Bucket 62 is 1008..1015 ns, 64 is 1024..1039 ns. */
    assert_int_equal(read_text(GOOD "\"62:2 64:1\"}"), 0);
    assert_int_equal(read_text(HEAD("null", "null", "0") "\"\"}"), 0);
    static const char *const wrong[] = {
        "[]",
        "{}",
        "{\"min\":1008,\"max\":1030,\"sum\":3056,\"counts\":\"62:2 64:1\"}",
        "{\"min\":1008,\"max\":1030,\"sum\":3056,\"rule\":\"log2/32\",\"counts\":\"62:2 64:1\"}",
        GOOD "[62,2]}",
        GOOD "\"\"}",
        GOOD "\"64:1 62:2\"}",
        GOOD "\"62:1 62:1 64:1\"}",
        GOOD "\"62:2 64:0\"}",
        GOOD "\"62:2  64:1\"}",
        GOOD "\" 62:2 64:1\"}",
        GOOD "\"62:2 64:1 \"}",
        GOOD "\"62:2,64:1\"}",
        GOOD "\"62:2 064:1\"}",
        GOOD "\"62:2 64:-1\"}",
        GOOD "\"62:2 64\"}",
        GOOD "\"62:2 64:1\\u0000 65:1\"}",
        GOOD "\"62:2 64:1 2112:1\"}",
        GOOD "\"62:2 64:18446744073709551615\"}",
        GOOD "\"62:2 64:99999999999999999999\"}",
        HEAD("1007", "1030", "3056") "\"62:2 64:1\"}",
        HEAD("1008", "1040", "3056") "\"62:2 64:1\"}",
        HEAD("-1", "1030", "3056") "\"0:2 64:1\"}",
        HEAD("1015", "1008", "2024") "\"62:2\"}",
        HEAD("1008.0", "1030", "3056") "\"62:2 64:1\"}",
        HEAD("null", "1030", "3056") "\"62:2 64:1\"}",
        HEAD("1008", "1030", "3020") "\"62:2 64:1\"}",
        HEAD("1008", "1030", "3095") "\"62:2 64:1\"}",
        HEAD("1008", "1030", "\"3056\"") "\"62:2 64:1\"}",
        HEAD("0", "0", "0") "\"\"}",
        HEAD("null", "null", "1") "\"\"}",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (read_text(wrong[i]) != -EINVAL)
            fail_msg("taken as good: %s", wrong[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_bounded),
        cmocka_unit_test(extreme_values_take_the_last_bucket),
        cmocka_unit_test(packed_histograms_hold_the_same_values),
        cmocka_unit_test(an_empty_histogram_has_no_figures),
        cmocka_unit_test(quantiles_are_those_of_sorted_values),
        cmocka_unit_test(ranks_are_exact),
        cmocka_unit_test(merged_histograms_hold_all_values),
        cmocka_unit_test(json_survives_a_round_trip),
        cmocka_unit_test(malformed_histograms_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
