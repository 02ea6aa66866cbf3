/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HdrHistogram logs: a line holds a histogram as base64 of a header and zlib-compressed bytes, in
 * the format V2 of HdrHistogram's encoder. All numbers are big-endian.
 */
#include "summary/result/hdr_log.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <nettle/base64.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

#include "base/files/atomic_file.h"

/* Two significant digits need 256 linear buckets in the first octaves, and 128 in each later one.
 * Ours have 64 for each power of two, so each of them falls into one of these. */
enum {
    HALF_MAGNITUDE = 7,
    HALF_COUNT = 1 << HALF_MAGNITUDE,
    DIGITS = 2,
    HIGHEST_EXPONENT = 42, /* that of struct histogram */
    COUNTS_MAX = (HIGHEST_EXPONENT - HALF_MAGNITUDE + 1) * HALF_COUNT,
    NUMBER_MAX = 9, /* bytes of one encoded count */
    COOKIE = 0x1c849313,
    COMPRESSED_COOKIE = 0x1c849314,
    HEAD_SIZE = 40
};

/* The counts of a histogram as they are encoded: runs of zeros are one negative number. */
struct encoding {
    unsigned next; /* index of the first count that is not encoded */
    size_t used;
    uint8_t bytes[HEAD_SIZE + COUNTS_MAX * 2 * NUMBER_MAX];
};

static int hdr_log_print(FILE *stream, void *context);
static int print_histogram(FILE *stream, const struct result *result, const char *tag,
                           const struct histogram *histogram);
static void encode_head(struct encoding *encoding, int64_t highest);
static void encode_bucket(void *context, unsigned bucket, uint64_t count);
static void encode_number(struct encoding *encoding, int64_t number);
static unsigned hdr_index(uint64_t value);
static void put_32(uint8_t *to, uint32_t value);
static void put_64(uint8_t *to, uint64_t value);
static int print_compressed(FILE *stream, const struct encoding *encoding);
static int print_seconds(FILE *stream, void *context);

int hdr_log_write(const struct result *result, const char *path, struct error *error)
{
    return atomic_file_write(path, hdr_log_print, (void *)result, error);
}

static int hdr_log_print(FILE *stream, void *context)
{
    const struct result *result = context;
    struct histogram total;
    char date[64], tag[128];
    time_t start = (time_t)result->start;
    struct tm local;
    histogram_init(&total);
    strftime(date, sizeof date, "%a %b %d %H:%M:%S %Z %Y", localtime_r(&start, &local));
    fprintf(stream,
            "#[Logged with %s %s]\n#[Histogram log format version 1.3]\n"
            "#[StartTime: %.3f (seconds since epoch), %s]\n"
            "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_"
            "Histogram\"\n",
            result->program, result->version, result->start, date);
    int printed = result_total(result, RESULT_RESPONSE, &total);
    if (printed == 0)
        printed = print_histogram(stream, result, "", &total);
    for (size_t i = 0; i < result->packet_count && printed == 0; i++) {
        const struct result_packet *packet = &result->packets[i];
        snprintf(tag, sizeof tag, "Tag=%s:%s,", packet->protocol, packet->opcode);
        if (packet->response.count)
            printed = print_histogram(stream, result, tag, &packet->response);
    }
    histogram_clear(&total);
    return printed;
}

static int print_histogram(FILE *stream, const struct result *result, const char *tag,
                           const struct histogram *histogram)
{
    struct encoding *encoding = malloc(sizeof *encoding);
    if (!encoding)
        return -ENOMEM;
    int64_t highest = histogram->count ? histogram->max : 0;
    encode_head(encoding, highest);
    histogram_each(histogram, encode_bucket, encoding);
    put_32(encoding->bytes + 4, (uint32_t)(encoding->used - HEAD_SIZE));
    fprintf(stream, "%s0.000,%.3f,%.6f,", tag, result->window, (double)highest / 1e6);
    int printed = print_compressed(stream, encoding);
    fputc('\n', stream);
    free(encoding);
    return printed;
}

/* The highest trackable value must be at least twice the lowest. */
static void encode_head(struct encoding *encoding, int64_t highest)
{
    encoding->next = 0;
    encoding->used = HEAD_SIZE;
    put_32(encoding->bytes, COOKIE);
    put_32(encoding->bytes + 8, 0); /* normalizing index offset */
    put_32(encoding->bytes + 12, DIGITS);
    put_64(encoding->bytes + 16, 1); /* lowest value that differs from 0 */
    put_64(encoding->bytes + 24, highest < 2 ? 2 : (uint64_t)highest);
    put_64(encoding->bytes + 32, 0x3ff0000000000000); /* value conversion ratio: 1.0 */
}

/* A bucket of struct histogram; they come in ascending order. */
static void encode_bucket(void *context, unsigned bucket, uint64_t count)
{
    struct encoding *encoding = context;
    unsigned index = hdr_index((uint64_t)histogram_bucket_value(bucket));
    if (index > encoding->next)
        encode_number(encoding, -(int64_t)(index - encoding->next));
    encode_number(encoding, (int64_t)count);
    encoding->next = index + 1;
}

/* ZigZag, then 7 bits per byte from the lowest; the ninth byte has 8. */
static void encode_number(struct encoding *encoding, int64_t number)
{
    uint64_t bits = (uint64_t)number << 1 ^ (number < 0 ? UINT64_MAX : 0);
    unsigned bytes = 1;
    for (; bits >= 0x80 && bytes < NUMBER_MAX; bytes++, bits >>= 7)
        encoding->bytes[encoding->used++] = (uint8_t)(bits | 0x80);
    encoding->bytes[encoding->used++] = (uint8_t)bits;
}

/* The index of a value's count in HdrHistogram's array. */
static unsigned hdr_index(uint64_t value)
{
    unsigned octave =
        64 - HALF_MAGNITUDE - 1 - (unsigned)__builtin_clzll(value | (2 * HALF_COUNT - 1));
    return ((octave + 1) << HALF_MAGNITUDE) + (unsigned)(value >> octave) - HALF_COUNT;
}

static void put_32(uint8_t *to, uint32_t value)
{
    value = htobe32(value);
    memcpy(to, &value, sizeof value);
}

static void put_64(uint8_t *to, uint64_t value)
{
    value = htobe64(value);
    memcpy(to, &value, sizeof value);
}

static int print_compressed(FILE *stream, const struct encoding *encoding)
{
    uLong size = compressBound(encoding->used);
    uint8_t *packed = malloc(8 + size);
    char *text = malloc(BASE64_ENCODE_RAW_LENGTH(8 + size));
    int result =
        packed && text && compress(packed + 8, &size, encoding->bytes, encoding->used) == Z_OK
            ? 0
            : -ENOMEM;
    if (result == 0) {
        put_32(packed, COMPRESSED_COOKIE);
        put_32(packed + 4, (uint32_t)size);
        base64_encode_raw(text, 8 + size, packed);
        fwrite(text, 1, BASE64_ENCODE_RAW_LENGTH(8 + size), stream);
    }
    free(packed);
    free(text);
    return result;
}

int seconds_csv_write(const struct result *result, const char *path, struct error *error)
{
    return atomic_file_write(path, print_seconds, (void *)result, error);
}

static int print_seconds(FILE *stream, void *context)
{
    const struct result *result = context;
    fputs("t,planned,ok,failed,p95,read,written\n", stream);
    for (size_t i = 0; i < result->second_count; i++) {
        const struct result_second *second = &result->seconds[i];
        fprintf(stream, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", second->t,
                second->planned, second->ok, second->failed);
        if (!isnan(second->p95))
            fprintf(stream, "%.9f", second->p95);
        fprintf(stream, ",%" PRIu64 ",%" PRIu64 "\n", second->read, second->written);
    }
    return 0;
}
