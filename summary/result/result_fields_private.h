/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields of a result file: name, kind and place in struct result, each listed once. Reading and
 * writing walk these tables. Private to the files that read, write and check results.
 */
#ifndef SUMMARY_RESULT_RESULT_FIELDS_PRIVATE_H
#define SUMMARY_RESULT_RESULT_FIELDS_PRIVATE_H

#include <stddef.h>

#include "summary/result/result.h"

enum field_kind {
    FIELD_COUNT,   /* uint64_t */
    FIELD_INTEGER, /* int64_t */
    FIELD_SEED,    /* uint64_t as decimal digits in a string */
    FIELD_REAL,    /* double, not negative */
    FIELD_MAYBE,   /* the same or NaN, which is null */
    FIELD_TEXT,    /* const char * */
    FIELD_BOOL,
    FIELD_LATER_BOOL,  /* missing in files of older versions: false then */
    FIELD_LATER_COUNT, /* the same: 0 then */
    FIELD_LATER_TEXT   /* the same: "" then */
};

struct result_field {
    const char *name;
    enum field_kind kind;
    size_t offset;
};

/* clang-format off */
#define NAMED(kind, of, name, member) {name, kind, offsetof(struct of, member)}
#define ROW(kind, of, member) NAMED(kind, of, #member, member)
/* clang-format on */

/* Each table ends with a row without a name. */
extern const struct result_field result_head_fields[], result_backlog_fields[], result_cpu_fields[];
extern const struct result_field result_packet_fields[], result_second_fields[];

/* The histograms of a packet type, in the order of enum result_time. */
enum { RESULT_PACKET_TIMES = 3 };

struct result_time_field {
    const char *name;
    size_t offset; /* in struct result_packet */
};

extern const struct result_time_field result_packet_times[RESULT_PACKET_TIMES];

#endif
