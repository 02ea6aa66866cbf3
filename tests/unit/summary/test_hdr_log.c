/* SPDX-License-Identifier: Apache-2.0 */
/* HdrHistogram logs, read by a decoder written from the format alone; the seconds as CSV. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <nettle/base64.h>
#include <zlib.h>

#include "summary/result/hdr_log.h"
#include "tests/lib/test_random.h"

/* What a reader of the log gets: the counts of an array whose index stands for a value. */
struct decoded {
    size_t count;
    uint64_t counts[1 << 14];
    uint64_t total;
};

static uint64_t big_endian(const uint8_t *bytes, unsigned length)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < length; i++)
        value = value << 8 | bytes[i];
    return value;
}

static int64_t read_number(const uint8_t **at)
{
    uint64_t bits = 0;
    for (unsigned shift = 0, i = 0; i < 9; i++, shift += 7) {
        uint8_t byte = *(*at)++;
        bits |= (uint64_t)(i < 8 ? byte & 0x7f : byte) << shift;
        if (i < 8 && !(byte & 0x80))
            break;
    }
    return (int64_t)(bits >> 1) ^ -(int64_t)(bits & 1);
}

static void read_counts(const uint8_t *at, const uint8_t *end, struct decoded *decoded)
{
    while (at < end) {
        int64_t number = read_number(&at);
        if (number < 0) {
            decoded->count += (size_t)-number;
            continue;
        }
        assert_true(decoded->count < sizeof decoded->counts / sizeof decoded->counts[0]);
        decoded->counts[decoded->count++] = (uint64_t)number;
        decoded->total += (uint64_t)number;
    }
    assert_ptr_equal(at, end);
}

static void decode(const char *text, struct decoded *decoded)
{
    static uint8_t packed[1 << 20], plain[1 << 20];
    size_t length = sizeof packed, text_length = strcspn(text, "\n");
    struct base64_decode_ctx context;
    *decoded = (struct decoded){0};
    base64_decode_init(&context);
    assert_true(base64_decode_update(&context, &length, packed, text_length, text));
    assert_true(base64_decode_final(&context));
    assert_int_equal(big_endian(packed, 4), 0x1c849314);
    assert_int_equal(big_endian(packed + 4, 4), length - 8);
    uLong size = sizeof plain;
    assert_int_equal(uncompress(plain, &size, packed + 8, length - 8), Z_OK);
    assert_int_equal(big_endian(plain, 4), 0x1c849313);
    assert_int_equal(big_endian(plain + 4, 4), size - 40);
    assert_int_equal(big_endian(plain + 8, 4), 0);
    assert_int_equal(big_endian(plain + 12, 4), 2);
    assert_int_equal(big_endian(plain + 16, 8), 1);
    read_counts(plain + 40, plain + size, decoded);
}

/* With two significant digits: 256 values one by one, then 128 per power of two. */
static double value_at(size_t index)
{
    if (index < 256)
        return (double)index;
    size_t octave = index / 128 - 1;
    return ldexp((double)(index % 128 + 128) + 0.5, (int)octave);
}

static double decoded_quantile(const struct decoded *decoded, double fraction)
{
    uint64_t seen = 0;
    for (size_t i = 0; i < decoded->count; i++)
        if ((double)(seen += decoded->counts[i]) >= fraction * (double)decoded->total)
            return value_at(i);
    return NAN;
}

static void fill(struct result_packet *packet, const char *opcode, uint64_t seed)
{
    *packet = (struct result_packet){.protocol = "ldap", .opcode = opcode, .description = ""};
    histogram_init(&packet->service);
    histogram_init(&packet->response);
    histogram_init(&packet->lag);
    for (unsigned i = 0; i < 5000; i++)
        assert_int_equal(
            histogram_add(&packet->response, (int64_t)(test_random(&seed) >> (24 + i % 20))), 0);
}

static void make_result(struct result *result)
{
    result_init(result);
    result->program = "traffic-replay";
    result->version = "0.0.0";
    result->start = 1796044232.25;
    result->window = 10;
    result->packet_count = 3;
    result->packets = result_alloc(result, 3, sizeof *result->packets);
    assert_non_null(result->packets);
    fill(&result->packets[0], "0", 1);
    fill(&result->packets[1], "3", 2);
    fill(&result->packets[2], "2", 3);
    histogram_clear(&result->packets[2].response);
}

/* Reads the file that write() makes. */
static char *written(const struct result *result,
                     int (*write)(const struct result *, const char *, struct error *))
{
    char path[] = "/tmp/hdr-log.XXXXXX";
    static char text[1 << 20];
    struct error error = {0};
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(write(result, path, &error), 0);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    unlink(path);
    return text;
}

static void assert_line_holds(const char *line, const char *head, const struct histogram *histogram)
{
    static struct decoded decoded;
    assert_memory_equal(line, head, strlen(head));
    const char *text = line;
    for (unsigned commas = 0; commas < 3 + (line[0] == 'T'); text++)
        commas += *text == ',';
    decode(text, &decoded);
    assert_int_equal(decoded.total, histogram->count);
    /* Between two ranks, where rounding does not choose another bucket. */
    for (unsigned percent = 0; percent < 100; percent++) {
        double fraction = percent / 100.0 + 0.5 / (double)histogram->count;
        double wanted = (double)histogram_quantile(histogram, fraction);
        assert_true(fabs(decoded_quantile(&decoded, fraction) - wanted) <= 0.01 * wanted);
    }
}

static void a_log_holds_the_histogram_of_each_packet(void **state)
{
    (void)state;
    struct result result;
    struct histogram total;
    make_result(&result);
    histogram_init(&total);
    assert_int_equal(result_total(&result, RESULT_RESPONSE, &total), 0);
    char *line = written(&result, hdr_log_write);
    assert_non_null(strstr(line, "#[Histogram log format version 1.3]\n"));
    assert_non_null(strstr(line, "#[StartTime: 1796044232.250 (seconds since epoch), "));
    line = strstr(line, "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",");
    assert_non_null(line);
    line = strchr(line, '\n') + 1;
    assert_line_holds(line, "0.000,10.000,", &total);
    line = strchr(line, '\n') + 1;
    assert_line_holds(line, "Tag=ldap:0,0.000,10.000,", &result.packets[0].response);
    line = strchr(line, '\n') + 1;
    assert_line_holds(line, "Tag=ldap:3,0.000,10.000,", &result.packets[1].response);
    assert_string_equal(strchr(line, '\n'), "\n"); /* nothing of a packet without operations */
    histogram_clear(&total);
    result_clear(&result);
}

static void the_seconds_are_lines_of_csv(void **state)
{
    (void)state;
    struct result result;
    struct result_second seconds[] = {{.t = 0, .planned = 4, .ok = 3, .failed = 1, .p95 = 0.0125},
                                      {.t = 1, .p95 = NAN, .read = 4096, .written = 1}};
    make_result(&result);
    result.seconds = seconds;
    result.second_count = 2;
    assert_string_equal(written(&result, seconds_csv_write),
                        "t,planned,ok,failed,p95,read,written\n"
                        "0,4,3,1,0.012500000,0,0\n"
                        "1,0,0,0,,4096,1\n");
    result_clear(&result);
}

static void files_that_cannot_be_written_are_reported(void **state)
{
    (void)state;
    struct result result;
    struct error error = {0};
    make_result(&result);
    assert_int_equal(hdr_log_write(&result, "/dev/null/log", &error), -ENOTDIR);
    assert_non_null(strstr(error.text, "/dev/null/log"));
    assert_int_equal(seconds_csv_write(&result, "/dev/null/csv", &error), -ENOTDIR);
    result_clear(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_holds_the_histogram_of_each_packet),
        cmocka_unit_test(the_seconds_are_lines_of_csv),
        cmocka_unit_test(files_that_cannot_be_written_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
