/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/learn_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

int learn_bench_set_up(void **state)
{
    struct learn_bench *bench = calloc(1, sizeof *bench);
    assert_non_null(bench);
    assert_int_equal(learn_capture_init(&bench->capture, &bench->error), 0);
    bench->frames = learn_frames_new(&bench->capture);
    assert_non_null(bench->frames);
    *state = bench;
    return 0;
}

int learn_bench_tear_down(void **state)
{
    struct learn_bench *bench = *state;
    learn_frames_free(bench->frames);
    learn_capture_clear(&bench->capture);
    free(bench);
    return 0;
}

void learn_bench_take(struct learn_bench *bench, const struct learn_value *values)
{
    static char text[1 << 16];
    enum learn_line_field columns[LEARN_LINE_FIELDS];
    struct learn_line line;
    size_t used = 0;
    char time[32];
    snprintf(time, sizeof time, "15000000%02u.%03u000000", bench->time / 1000, bench->time % 1000);
    bench->time += 1;
    for (int field = 0; field < LEARN_LINE_FIELDS; field++) {
        const char *value = field == LEARN_LINE_TIME ? time : "";
        for (const struct learn_value *v = values; v->text; v++)
            value = (int)v->field == field ? v->text : value;
        columns[field] = (enum learn_line_field)field;
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%s", field ? "\xff" : "", value);
    }
    assert_true(used < sizeof text);
    assert_int_equal(learn_line_parse(&line, text, columns, LEARN_LINE_FIELDS), 0);
    if (learn_frames_take(bench->frames, &line) != 0)
        fail_msg("%s", bench->error.text);
}

const char *learn_bench_requests(struct learn_bench *bench)
{
    static char text[1 << 16];
    struct learn_record record;
    uint32_t server;
    size_t used = 0;
    text[0] = '\0';
    if (bench->capture.record_count == 0)
        return text;
    server = intern_find(&bench->capture.addresses, "10.1.1.1", 8);
    assert_int_equal(learn_capture_finish(&bench->capture, server), 0);
    assert_int_equal(learn_capture_rewind(&bench->capture), 0);
    while (learn_capture_next(&bench->capture, &record) > 0) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s\n",
                                 bench->capture.forms.entries[record.form].bytes,
                                 record.kerberos ? " (ticket)" : "");
        assert_true(used < sizeof text);
    }
    for (char *c = text; *c; c++)
        *c = *c == LEARN_FIELD ? ' ' : *c;
    return text;
}

uint64_t learn_bench_counted(const struct learn_bench *bench, enum learn_count count)
{
    return bench->capture.counts[count];
}
