/* SPDX-License-Identifier: Apache-2.0 */
/* Timing data and the status line: what is written, and that no line is lost or mixed. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "replay/status.h"
#include "replay/tally.h"
#include "replay/timing.h"
#include "tests/lib/temporary.h"

static const char header[] = "time\tconv\tprotocol\ttype\tduration\tsuccessful\terror\n";

static void lines_have_the_format(void **state)
{
    (void)state;
    struct error error = {0};
    char *path = path_in_tmp("lines.tsv");
    uint64_t lost = 99;
    struct timing *timing = timing_open(path, 1, &error);
    assert_non_null(timing);
    const struct timing_line lines[] = {
        {1234567890, 3, "ldap", "3", 1500000, NULL},
        {60000000000, 51, "ldap", "0", 499, "timed out"},
        {5, 0, "nbns", "0", -1, "no answer"},
        {999999500, 0, "smb", "0x72", 0, "a\tb\nc"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        timing_write(timing, 0, &lines[i]);
    assert_int_equal(timing_close(timing, &lost, &error), 0);
    assert_int_equal(lost, 0);
    char text[1024] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    assert_string_equal(text, "time\tconv\tprotocol\ttype\tduration\tsuccessful\terror\n"
                              "1.234568\t3\tldap\t3\t0.001500\tTrue\t\n"
                              "60.000000\t51\tldap\t0\t0.000000\tFalse\ttimed out\n"
                              "0.000000\t0\tnbns\t0\t\tFalse\tno answer\n"
                              "1.000000\t0\tsmb\t0x72\t0.000000\tFalse\ta b c\n");
    unlink(path);
    free(path);
}

enum { WORKERS = 4, LINES = 60000 };

struct worker {
    struct timing *timing;
    unsigned number;
};

static void *write_many(void *argument)
{
    struct worker *worker = argument;
    for (uint64_t i = 0; i < LINES; i++) {
        timing_write(worker->timing, worker->number,
                     &(struct timing_line){(int64_t)i * 1000, i * WORKERS + worker->number, "ldap",
                                           "3", 1000, NULL});
        /* Occasionally, so that the rings wrap but never fill on a slow machine. */
        if (i % 5000 == 4999)
            usleep(30000);
    }
    return NULL;
}

/* Several workers: complete lines, in order for each worker, none missing. */
static void workers_lines_stay_in_order(void **state)
{
    (void)state;
    struct error error = {0};
    char *path = path_in_tmp("workers.tsv"), line[256];
    struct worker workers[WORKERS];
    pthread_t threads[WORKERS];
    uint64_t next[WORKERS] = {0}, lost;
    struct timing *timing = timing_open(path, WORKERS, &error);
    assert_non_null(timing);
    for (unsigned i = 0; i < WORKERS; i++) {
        workers[i] = (struct worker){timing, i};
        assert_int_equal(pthread_create(&threads[i], NULL, write_many, &workers[i]), 0);
    }
    for (unsigned i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(timing_close(timing, &lost, &error), 0);
    assert_int_equal(lost, 0);

    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal(line, header);
    while (fgets(line, sizeof line, file)) {
        uint64_t conversation;
        double time, duration;
        int end = 0;
        assert_int_equal(sscanf(line, "%lf\t%" SCNu64 "\tldap\t3\t%lf\tTrue\t\n%n", &time,
                                &conversation, &duration, &end),
                         3);
        assert_int_equal(line[strlen(line) - 1], '\n');
        unsigned worker = (unsigned)(conversation % WORKERS);
        assert_int_equal(conversation / WORKERS, next[worker]);
        next[worker]++;
    }
    for (unsigned i = 0; i < WORKERS; i++)
        assert_int_equal(next[i], LINES);
    fclose(file);
    unlink(path);
    free(path);
}

/* A full disk: the workers continue, each missing line is counted, the reason is reported. */
static void a_full_disk_is_reported(void **state)
{
    (void)state;
    struct error error = {0};
    uint64_t lost;
    struct timing *timing = timing_open("/dev/full", 2, &error);
    assert_null(timing);
    assert_non_null(strstr(error.text, "/dev/full: timing data cannot be written: No space left"));
    assert_null(timing_open("/nonexistent/x", 1, &error));
    assert_non_null(strstr(error.text, "/nonexistent/x: "));

    /* The reader closes the pipe after the header. */
    int ends[2], kept = dup(STDOUT_FILENO);
    assert_int_equal(pipe(ends), 0);
    fflush(stdout);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[1]);
    timing = timing_open("-", 2, &error);
    close(ends[0]);
    for (unsigned i = 0; i < 100; i++)
        timing_write(timing, i % 2, &(struct timing_line){0, i, "ldap", "3", 1, NULL});
    error.text[0] = '\0';
    int result = timing_close(timing, &lost, &error);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    assert_int_equal(result, -EPIPE);
    assert_int_equal(lost, 100);
    assert_non_null(strstr(error.text, "standard output: timing data could not be written: "));
}

struct reader {
    int fd;
    atomic_bool go;
    uint64_t lines;
};

static void *read_pipe(void *argument)
{
    struct reader *reader = argument;
    char line[256];
    while (!atomic_load(&reader->go))
        usleep(1000);
    FILE *stream = fdopen(reader->fd, "r");
    while (stream && fgets(line, sizeof line, stream))
        reader->lines += strcmp(line + strlen(line) - 7, "\tTrue\t\n") == 0;
    if (stream)
        fclose(stream);
    return NULL;
}

/* A writer that cannot keep up: lines are lost and counted, the others are complete. */
static void a_slow_writer_loses_lines(void **state)
{
    (void)state;
    enum { MANY = 400000 };
    struct error error = {0};
    char path[64];
    uint64_t lost;
    int ends[2];
    pthread_t thread;
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[1]);
    struct timing *timing = timing_open(path, 1, &error);
    assert_non_null(timing);
    close(ends[1]);
    struct reader reader = {.fd = ends[0]};
    assert_int_equal(pthread_create(&thread, NULL, read_pipe, &reader), 0);
    /* Nothing reads yet: the pipe fills, then the ring. */
    for (uint64_t i = 0; i < MANY; i++)
        timing_write(timing, 0, &(struct timing_line){0, i, "ldap", "3", 1, NULL});
    atomic_store(&reader.go, true);
    assert_int_equal(timing_close(timing, &lost, &error), 0);
    pthread_join(thread, NULL);
    assert_true(lost > 0);
    assert_int_equal(reader.lines + lost, MANY);
}

static const struct tally_type types[] = {{"ldap", "3", "searchRequest"}};

static struct tally *make_tally(void)
{
    struct tally *tally = tally_new(&(struct tally_setup){.types = types,
                                                          .type_count = 1,
                                                          .clients = 1,
                                                          .window_start = INT64_C(5) * 1000000000,
                                                          .window_end = INT64_C(65) * 1000000000});
    assert_non_null(tally);
    return tally;
}

static void play(struct tally *tally, enum outcome_kind kind)
{
    struct outcome outcome = {.kind = kind};
    tally_planned(tally, 0, 0);
    tally_started(tally);
    tally_event(
        tally, &(struct tally_event){.first_sent = 0, .last_received = 20000000, .ended = 20000000},
        &outcome);
}

static char *show(bool terminal, const uint64_t *planned)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    struct tally *tallies[] = {make_tally(), make_tally()};
    struct status *status = status_new(&(struct status_setup){.stream = stream,
                                                              .terminal = terminal,
                                                              .warmup = 5,
                                                              .duration = 60,
                                                              .planned = planned,
                                                              .seconds = 12,
                                                              .nominal = 2,
                                                              .tallies = tallies,
                                                              .count = 2});
    assert_non_null(status);
    const int64_t tenth = 100000000;
    for (int64_t now = -20 * tenth; now <= 205 * tenth; now += 5 * tenth) {
        if (now == 50 * tenth) {
            for (unsigned i = 0; i < 20; i++)
                play(tallies[i % 2], i % 4 ? OUTCOME_OK : OUTCOME_FAILED);
            tally_started(tallies[1]);
        }
        status_tick(status, now);
    }
    status_free(status);
    fclose(stream);
    tally_free(tallies[0]);
    tally_free(tallies[1]);
    return text;
}

static void the_status_line(void **state)
{
    (void)state;
    char *text = show(false, NULL);
    assert_string_equal(
        text,
        "10 of 65 s: planned about 21, sent 21, ok 1.5/s, failed 0.5/s, p95 20.4 ms, in flight 1\n"
        "20 of 65 s: planned about 40, sent 21, ok 0.0/s, failed 0.0/s, p95 none, in flight 1\n");
    free(text);

    static const uint64_t planned[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 17, 18, 19};
    text = show(false, planned);
    assert_non_null(strstr(text, "10 of 65 s: planned 21, sent 21, "));
    assert_non_null(strstr(text, "20 of 65 s: planned 21, sent 21, "));
    free(text);

    text = show(true, NULL);
    /* Each second overwrites the line; at the end the line is removed. */
    assert_non_null(
        strstr(text, "\r\033[K\033[?7l1 of 65 s (warm-up): planned about 2, sent 0, ok 0.0/s, "
                     "failed 0.0/s, p95 none, in flight 0"));
    assert_non_null(strstr(text, "\r\033[K\033[?7l5 of 65 s: planned about 21, sent 21, ok 15.0/s, "
                                 "failed 5.0/s, p95 20.4 ms, in "
                                 "flight 1\033[?7h\r\033[K\033[?7l6 of"));
    assert_null(strchr(text, '\n'));
    assert_string_equal(text + strlen(text) - 4, "\r\033[K");
    assert_null(strstr(text, " -"));
    free(text);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_have_the_format),   cmocka_unit_test(workers_lines_stay_in_order),
        cmocka_unit_test(a_full_disk_is_reported), cmocka_unit_test(a_slow_writer_loses_lines),
        cmocka_unit_test(the_status_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
