/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each worker has a ring of bytes. Only the worker moves its head, only the writer thread moves its
 * tail. A head is always at the end of a line.
 */
#include "replay/timing.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/system.h"

enum {
    RING_SIZE = 8 << 20, /* about 100,000 lines */
    LINE_SIZE = 512,
    PAUSE_NS = 20000000 /* between two rounds of the writer */
};

struct ring {
    char *bytes;
    _Atomic uint64_t head; /* the worker's: bytes put in since the start */
    uint64_t lost;         /* the worker's: lines */
    _Atomic uint64_t tail __attribute__((aligned(64))); /* the writer's: bytes taken out */
};

struct timing {
    int fd;
    char *path;
    unsigned workers;
    struct ring *rings;
    pthread_t writer;
    atomic_bool stop;
    int failed;          /* negative errno of the first write that failed */
    uint64_t lost_lines; /* by failed writes */
};

static int make_rings(struct timing *timing);
static int start_writer(struct timing *timing);
static void *writer_main(void *argument);
static void drain_ring(struct timing *timing, struct ring *ring);
static void write_lines(struct timing *timing, const char *bytes, size_t length);
static void timing_release(struct timing *timing);
static size_t timing_format_line(char *out, size_t size, const struct timing_line *line);
static int format_seconds(char *out, size_t size, int64_t ns);
static void clean_field(char *text);

static const char header[] = "time\tconv\tprotocol\ttype\tduration\tsuccessful\terror\n";

struct timing *timing_open(const char *path, unsigned workers, struct error *error)
{
    struct timing *timing = calloc(1, sizeof *timing);
    int result = -ENOMEM;
    if (!timing)
        goto cleanup;
    timing->workers = workers;
    timing->fd = -1;
    timing->path = strdup(strcmp(path, "-") == 0 ? "standard output" : path);
    if (!timing->path)
        goto cleanup;
    result = make_rings(timing);
    if (result)
        goto cleanup;
    if (strcmp(path, "-") == 0)
        timing->fd = STDOUT_FILENO;
    else
        timing->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    result = timing->fd < 0 ? -errno : system_write_all(timing->fd, header, sizeof header - 1);
    if (!result)
        result = start_writer(timing);
cleanup:
    if (!result)
        return timing;
    error_set(error, result, "%s: timing data cannot be written: %s", path, strerror(-result));
    if (timing)
        timing_release(timing);
    return NULL;
}

static int make_rings(struct timing *timing)
{
    size_t size = timing->workers * sizeof *timing->rings;
    timing->rings = aligned_alloc(64, size);
    if (!timing->rings)
        return -ENOMEM;
    memset(timing->rings, 0, size);
    for (unsigned i = 0; i < timing->workers; i++) {
        timing->rings[i].bytes = malloc(RING_SIZE);
        if (!timing->rings[i].bytes)
            return -ENOMEM;
    }
    return 0;
}

/* Blocks all signals in the writer thread; writing to a pipe without a reader fails with EPIPE. */
static int start_writer(struct timing *timing)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int result = pthread_create(&timing->writer, NULL, writer_main, timing);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -result;
}

static void *writer_main(void *argument)
{
    struct timing *timing = argument;
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    for (bool stop = false; !stop;) {
        /* Read before the rings are drained, so that the last round sees every line. */
        stop = atomic_load_explicit(&timing->stop, memory_order_acquire);
        for (unsigned i = 0; i < timing->workers; i++)
            drain_ring(timing, &timing->rings[i]);
        if (!stop)
            nanosleep(&pause, NULL);
    }
    return NULL;
}

static void drain_ring(struct timing *timing, struct ring *ring)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    while (tail != head) {
        size_t from = tail % RING_SIZE, length = head - tail;
        if (length > RING_SIZE - from)
            length = RING_SIZE - from;
        write_lines(timing, ring->bytes + from, length);
        tail += length;
        atomic_store_explicit(&ring->tail, tail, memory_order_release);
    }
}

/* Writes lines. Once a write has failed, counts them as lost instead. */
static void write_lines(struct timing *timing, const char *bytes, size_t length)
{
    if (!timing->failed)
        timing->failed = system_write_all(timing->fd, bytes, length);
    for (size_t i = 0; timing->failed && i < length; i++)
        timing->lost_lines += bytes[i] == '\n';
}

static void timing_release(struct timing *timing)
{
    for (unsigned i = 0; timing->rings && i < timing->workers; i++)
        free(timing->rings[i].bytes);
    free(timing->rings);
    free(timing->path);
    if (timing->fd > STDERR_FILENO)
        close(timing->fd);
    free(timing);
}

void timing_write(struct timing *timing, unsigned worker, const struct timing_line *line)
{
    struct ring *ring = &timing->rings[worker];
    char text[LINE_SIZE];
    size_t length = timing_format_line(text, sizeof text, line);
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    if (RING_SIZE - (head - tail) < length) {
        ring->lost++;
        return;
    }
    size_t offset = head % RING_SIZE;
    size_t first = RING_SIZE - offset < length ? RING_SIZE - offset : length;
    memcpy(ring->bytes + offset, text, first);
    memcpy(ring->bytes, text + first, length - first);
    atomic_store_explicit(&ring->head, head + length, memory_order_release);
}

static size_t timing_format_line(char *out, size_t size, const struct timing_line *line)
{
    char ended[32], duration[32] = "", error[128] = "";
    format_seconds(ended, sizeof ended, line->ended);
    if (line->duration >= 0)
        format_seconds(duration, sizeof duration, line->duration);
    if (line->error) {
        snprintf(error, sizeof error, "%s", line->error);
        clean_field(error);
    }
    int length = snprintf(out, size, "%s\t%" PRIu64 "\t%.80s\t%.80s\t%s\t%s\t%s\n", ended,
                          line->conversation, line->protocol, line->opcode, duration,
                          line->error ? "False" : "True", error);
    return (size_t)length;
}

/* Seconds with six decimals, from integers: printing a double takes three times as long. */
static int format_seconds(char *out, size_t size, int64_t ns)
{
    int64_t us = (ns < 0 ? -ns + 500 : ns + 500) / 1000;
    return snprintf(out, size, "%s%" PRId64 ".%06" PRId64, ns < 0 && us ? "-" : "", us / 1000000,
                    us % 1000000);
}

/* Replaces what separates fields and lines. */
static void clean_field(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ')
            *text = ' ';
}

int timing_close(struct timing *timing, uint64_t *lost, struct error *error)
{
    atomic_store_explicit(&timing->stop, true, memory_order_release);
    pthread_join(timing->writer, NULL);
    *lost = timing->lost_lines;
    for (unsigned i = 0; i < timing->workers; i++)
        *lost += timing->rings[i].lost;
    int result = timing->failed;
    if (timing->fd > STDERR_FILENO) {
        if (close(timing->fd) < 0 && !result)
            result = -errno;
        timing->fd = -1;
    }
    if (result)
        error_set(error, result, "%s: timing data could not be written: %s", timing->path,
                  strerror(-result));
    timing_release(timing);
    return result;
}
