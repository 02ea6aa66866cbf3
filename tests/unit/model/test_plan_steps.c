/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of plans: what they depend on, details, further legs, counts, and settings that are
 * refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <nettle/sha2.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "model/model_load.h"
#include "model/model_private.h"
#include "model/model_write.h"
#include "model/plan_count.h"
#include "tests/lib/plans.h"

struct digest_job {
    pthread_t thread;
    const struct plan *plan;
    uint32_t first, stride;
    uint8_t (*digests)[SHA256_DIGEST_SIZE];
};

static void *digest_clients(void *argument)
{
    struct digest_job *job = argument;
    for (uint32_t client = job->first; client < plan_figures(job->plan)->clients;
         client += job->stride) {
        struct sha256_ctx sha256;
        struct plan_client cursor;
        struct plan_step step;
        sha256_init(&sha256);
        plan_client_start(job->plan, client, &cursor);
        while (plan_client_next(job->plan, &cursor, &step)) {
            uint64_t words[] = {step.kind,    step.first,        step.operation,    step.type,
                                step.details, step.conversation, (uint64_t)step.due};
            sha256_update(&sha256, sizeof words, (const uint8_t *)words);
        }
        sha256_digest(&sha256, SHA256_DIGEST_SIZE, job->digests[client]);
    }
    return NULL;
}

/* A digest of all steps of all clients, which a number of threads walk at once. */
static void digest_plan(const struct model *model, const struct plan_settings *settings,
                        uint32_t threads, uint8_t digest[SHA256_DIGEST_SIZE])
{
    struct digest_job jobs[8];
    struct sha256_ctx sha256;
    struct plan *plan = plan_of(model, settings);
    uint32_t clients = plan_figures(plan)->clients;
    uint8_t(*digests)[SHA256_DIGEST_SIZE] = calloc(clients, sizeof *digests);
    assert_non_null(digests);
    for (uint32_t i = 0; i < threads; i++) {
        jobs[i] =
            (struct digest_job){.plan = plan, .first = i, .stride = threads, .digests = digests};
        assert_int_equal(pthread_create(&jobs[i].thread, NULL, digest_clients, &jobs[i]), 0);
    }
    for (uint32_t i = 0; i < threads; i++)
        pthread_join(jobs[i].thread, NULL);
    sha256_init(&sha256);
    sha256_update(&sha256, clients * sizeof *digests, (const uint8_t *)digests);
    sha256_digest(&sha256, SHA256_DIGEST_SIZE, digest);
    free(digests);
    plan_free(plan);
}

static void a_plan_depends_on_its_seed_only(void **state)
{
    (void)state;
    uint8_t one[SHA256_DIGEST_SIZE], other[SHA256_DIGEST_SIZE];
    struct model *model = model_of_file(OFFICE_V2);
    struct plan_settings settings = plan_settings_of(4, 5, 60);
    settings.persistence = 0.1;
    digest_plan(model, &settings, 1, one);
    digest_plan(model, &settings, 2, other);
    assert_memory_equal(one, other, sizeof one);
    digest_plan(model, &settings, 8, other);
    assert_memory_equal(one, other, sizeof one);
    settings.seed = 2;
    digest_plan(model, &settings, 1, other);
    assert_memory_not_equal(one, other, sizeof one);
    settings.seed = 1 + (UINT64_C(1) << 40);
    digest_plan(model, &settings, 1, other);
    assert_memory_not_equal(one, other, sizeof one);
    model_free(model);
}

/* The clients of a plan differ from each other, and so do neighbouring seeds. */
static void clients_and_seeds_differ(void **state)
{
    (void)state;
    struct model *model = model_of_file(OFFICE_V2);
    struct plan_settings settings = plan_settings_of(1, 1, 1e6);
    int64_t first[2][2];
    for (uint64_t seed = 0; seed < 2; seed++) {
        settings.seed = seed;
        struct plan *plan = plan_of(model, &settings);
        for (uint32_t client = 0; client < 2; client++) {
            struct plan_client cursor;
            struct plan_step step;
            plan_client_start(plan, client, &cursor);
            assert_true(plan_client_next(plan, &cursor, &step));
            first[seed][client] = step.due;
        }
        plan_free(plan);
    }
    assert_true(first[0][0] != first[0][1] && first[0][1] != first[1][0] &&
                first[0][0] != first[1][1] && first[1][0] != first[0][0]);
    model_free(model);
}

/* A Samba v2 model and the version 3 file written from it give the same plan. */
static void a_converted_model_gives_the_same_plan(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size;
    uint8_t one[SHA256_DIGEST_SIZE], other[SHA256_DIGEST_SIZE];
    struct model *model = model_of_file(OFFICE_V2);
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_int_equal(model_write_yaml(model, stream), 0);
    fclose(stream);
    struct model *converted = model_of(text, NULL);
    struct plan_settings settings = plan_settings_of(4, 5, 60);
    digest_plan(model, &settings, 1, one);
    digest_plan(converted, &settings, 1, other);
    assert_memory_equal(one, other, sizeof one);
    model_free(converted);
    model_free(model);
    free(text);
}

/* --skip and --only remove operations from a plan and change nothing else. */
static void skipping_removes_operations_only(void **state)
{
    (void)state;
    struct model *model = model_of_file(OFFICE_V2);
    struct plan_settings settings = plan_settings_of(4, 2, 60);
    struct plan *all = plan_of(model, &settings);
    settings.is_operation = first_protocols;
    struct plan *some = plan_of(model, &settings);
    uint64_t operations[2] = {0};
    for (uint32_t client = 0; client < plan_figures(all)->clients; client++) {
        struct plan_client a, b;
        struct plan_step left, right;
        plan_client_start(all, client, &a);
        plan_client_start(some, client, &b);
        while (plan_client_next(all, &a, &left)) {
            assert_true(plan_client_next(some, &b, &right));
            assert_int_equal(left.due, right.due);
            assert_int_equal(left.kind, right.kind);
            assert_int_equal(left.type, right.type);
            assert_int_equal(left.details, right.details);
            operations[0] += left.operation;
            operations[1] += right.operation;
        }
        assert_false(plan_client_next(some, &b, &right));
    }
    assert_true(operations[0] > operations[1] && operations[1] > 0);
    plan_free(all);
    plan_free(some);
    model_free(model);
}

static void check_client(const struct plan *plan, uint32_t client, int64_t end)
{
    struct plan_client cursor;
    struct plan_step step;
    int64_t last = 0;
    uint32_t conversation = 0;
    bool begun = false;
    plan_client_start(plan, client, &cursor);
    while (plan_client_next(plan, &cursor, &step)) {
        assert_true(step.due >= last && step.due < end);
        assert_int_equal(step.conversation, conversation);
        if (step.kind == PLAN_END) {
            assert_false(step.operation || step.first);
            conversation++;
            begun = false;
        } else {
            assert_int_equal(step.first, !begun);
            begun = true;
        }
        last = step.due;
    }
    /* and it stays at the end */
    assert_false(plan_client_next(plan, &cursor, &step));
}

static void steps_are_in_order(void **state)
{
    (void)state;
    struct model *model = model_of_file(OFFICE_V2);
    struct plan_settings settings = plan_settings_of(10, 3, 60);
    settings.persistence = 0.3;
    struct plan *plan = plan_of(model, &settings);
    for (uint32_t client = 0; client < plan_figures(plan)->clients; client++)
        check_client(plan, client, 65 * INT64_C(1000000000));
    plan_free(plan);
    model_free(model);
}

/* Six of eight smb2:1 come directly after another: further legs, not operations. */
static void further_legs_are_no_operations(void **state)
{
    (void)state;
    static const char text[] =
        "{\"version\": 2, \"packet_rate\": [10, 5], \"ngrams\": {"
        "\"-\": {\"smb2:0\": 1}, \"smb2:0\": {\"smb2:1\": 1}, "
        "\"smb2:1\": {\"smb2:1\": 6, \"wait:0\": 2}, \"wait:0\": {\"smb2:1\": 1, \"ldap:3\": 1}}}";
    /* entered 1 + 6 + 1 = 8 times, left 8 times: legs 6 of 8; smb2:1 8, smb2:0 1, ldap:3 1 */
    struct model *model = model_of(text, NULL);
    struct plan_settings settings = plan_settings_of(10, 100, 60);
    struct plan *plan = plan_of(model, &settings);
    size_t setup = model_find_type(model, "smb2", "1");
    struct plan_count count;
    expect_near(plan_figures(plan)->conversation_packets, 10, 1e-14);
    expect_near(plan_figures(plan)->conversation_operations, 4, 1e-14);
    assert_int_equal(plan_count(plan, 1, &count), 0);
    const struct plan_type_count *setups = &count.types[setup];
    expect_near((double)setups->window_operations / (double)setups->window_packets, 0.25, 0.05);
    expect_near((double)count.window_operations / (double)count.window_packets, 0.4, 0.05);
    plan_count_clear(&count);
    plan_free(plan);
    model_free(model);
}

/* Details are drawn as often as they were seen. */
static void details_are_drawn_as_often_as_seen(void **state)
{
    (void)state;
    struct model *model = model_of_file(OFFICE_V2);
    struct plan_settings settings = plan_settings_of(10, 100, 60);
    struct plan *plan = plan_of(model, &settings);
    size_t types, search = model_find_type(model, "ldap", "3");
    const struct model_type *type = &model_types(model, &types)[search];
    uint64_t counts[16] = {0}, total = 0, seen = 0;
    for (uint32_t client = 0; client < plan_figures(plan)->clients; client++) {
        struct plan_client cursor;
        struct plan_step step;
        plan_client_start(plan, client, &cursor);
        while (plan_client_next(plan, &cursor, &step)) {
            if (step.kind != PLAN_PACKET || step.type != search)
                continue;
            assert_true(step.details < type->details_count);
            counts[step.details]++;
            total++;
        }
    }
    for (size_t d = 0; d < type->details_count; d++)
        seen += type->details[d].count;
    for (size_t d = 0; d < type->details_count; d++)
        expect_near((double)counts[d] / (double)total,
                    (double)type->details[d].count / (double)seen, 0.03);
    plan_free(plan);
    model_free(model);
}

static void packets_are_counted_by_type(void **state)
{
    (void)state;
    struct model *model = model_of_file(OFFICE_V2);
    struct plan_settings settings = plan_settings_of(4, 5, 60);
    struct plan *plan = plan_of(model, &settings);
    struct plan_count one, eight;
    assert_int_equal(plan_count(plan, 1, &one), 0);
    assert_int_equal(plan_count(plan, 8, &eight), 0);
    assert_int_equal(one.window_packets, count_between(plan, 5, 65));
    assert_int_equal(one.packets, count_between(plan, 0, 65));
    assert_int_equal(one.packets, eight.packets);
    assert_int_equal(one.window_operations, eight.window_operations);
    assert_int_equal(one.conversations, eight.conversations);
    assert_memory_equal(one.types, eight.types, one.type_count * sizeof *one.types);
    uint64_t window_operations = one.window_operations;
    plan_count_clear(&one);
    plan_count_clear(&eight);
    size_t seconds;
    uint64_t *due = plan_count_by_second(plan, &seconds);
    assert_non_null(due);
    assert_int_equal(seconds, 65);
    assert_int_equal(due[0], 0);
    assert_int_equal(due[65] - due[5], window_operations);
    for (size_t i = 0; i < seconds; i++)
        assert_true(due[i] <= due[i + 1]);
    free(due);
    /* Until a time inside the window. */
    assert_int_equal(plan_count_until(plan, INT64_C(20) * 1000000000, 3, &one), 0);
    assert_int_equal(one.window_packets, count_between(plan, 5, 20));
    assert_int_equal(one.packets, count_between(plan, 0, 20));
    plan_count_clear(&one);
    plan_free(plan);
    model_free(model);
}

static bool no_packet(const struct model_type *type, void *context)
{
    (void)type;
    (void)context;
    return false;
}

static void expect_refused(const struct model *model, const struct plan_settings *settings,
                           int result, const char *message)
{
    struct plan *plan = NULL;
    struct error error = {0};
    assert_int_equal(plan_make(model, settings, &plan, &error), result);
    assert_string_equal(error.text, message);
}

static void impossible_plans_are_refused(void **state)
{
    (void)state;
    struct model *model = model_of_file(OFFICE_V2);
    struct plan_settings settings = plan_settings_of(2, 1e6, 60);
    expect_refused(model, &settings, -ERANGE,
                   "this takes 48856495 clients, more than 10000000: lower -S (office-v2.json asks "
                   "for 9.161e+07 packets/s)");
    settings.packets_per_second = 1e9;
    expect_refused(model, &settings, -ERANGE,
                   "this takes 533309391 clients, more than 10000000: lower -T (office-v2.json "
                   "asks for 1e+09 packets/s)");
    settings = plan_settings_of(1, INFINITY, 60);
    expect_refused(model, &settings, -EINVAL, "-S: expected a number above 0");
    settings = plan_settings_of(0, 1, 60);
    expect_refused(model, &settings, -EINVAL, "-r: expected a number above 0");
    settings = plan_settings_of(1, 1, 0);
    expect_refused(model, &settings, -EINVAL, "-D, --warmup: expected seconds, at most a billion");
    settings = plan_settings_of(1, 1, 60);
    settings.persistence = 1.5;
    expect_refused(model, &settings, -EINVAL,
                   "--conversation-persistence: expected a number from 0 to 1");
    settings.persistence = 0;
    settings.is_operation = no_packet;
    expect_refused(
        model, &settings, -EINVAL,
        "nothing to send: no packet of office-v2.json (cldap:3, ldap:0, rpc_netlogon:39, samr:64, "
        "samr:0, samr:57, rpc_netlogon:45, kerberos:, ldap:3, samr:6, ldap:2, lsarpc:76, lsar...) "
        "has a player and passes --only and --skip");
    model_free(model);
}

/* Rates at the limits of a double cause neither an endless loop nor an overflow. */
static void extreme_rates_end(void **state)
{
    (void)state;
    static const char *const rates[] = {"1e-300", "4.9e-324", "1e-9", "1e6"};
    for (size_t i = 0; i < 4; i++) {
        char text[200];
        snprintf(text, sizeof text,
                 "{version: 3, packet_rate: %s, history: 1, chain: {\"-\": {\"wait:20\": 1}, "
                 "\"wait:20\": {\"ldap:3\": 1}, \"ldap:3\": {\"-\": 1}}}",
                 rates[i]);
        struct model *model = model_of(text, NULL);
        struct plan_settings settings = plan_settings_of(1000, 1e-3, 1e8);
        settings.warmup = 0;
        struct plan *plan = NULL;
        struct error error = {0};
        if (plan_make(model, &settings, &plan, &error) == 0)
            check_client(plan, 0, INT64_C(100000000000000000));
        else
            assert_non_null(strstr(error.text, "clients, more than 10000000: lower -S"));
        plan_free(plan);
        model_free(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_depends_on_its_seed_only),
        cmocka_unit_test(clients_and_seeds_differ),
        cmocka_unit_test(a_converted_model_gives_the_same_plan),
        cmocka_unit_test(skipping_removes_operations_only),
        cmocka_unit_test(steps_are_in_order),
        cmocka_unit_test(further_legs_are_no_operations),
        cmocka_unit_test(details_are_drawn_as_often_as_seen),
        cmocka_unit_test(packets_are_counted_by_type),
        cmocka_unit_test(impossible_plans_are_refused),
        cmocka_unit_test(extreme_rates_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
