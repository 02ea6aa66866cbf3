/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timing data (-t FILE): one line for each operation that ended,
 *     time <TAB> conv <TAB> protocol <TAB> type <TAB> duration <TAB> successful <TAB> error
 * below a line with these names, as the field's scripts read it: time is the end of the operation
 * in seconds since the start of the warm-up, conv a number that no other conversation of the run
 * has, duration the service time in seconds, successful True or False, error the cause of a
 * failure. Operations of the warm-up are in it; unfinished ones are not.
 *
 * A worker writes into a buffer of its own and hands full ones to one writer thread, without a
 * lock and without waiting for the disk. Lines of one worker keep their order; those of several
 * workers are mixed in blocks, so the file is not sorted by time. Memory is bounded; when the
 * writer cannot keep up for long, lines are lost, counted and told: never waited for.
 */
#ifndef REPLAY_TIMING_H
#define REPLAY_TIMING_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct timing;

/* path "-" is standard output. On failure NULL and a line in error. */
struct timing *timing_open(const char *path, unsigned workers, struct error *error);

struct timing_line {
    int64_t ended; /* ns since the plan's start */
    uint64_t conversation;
    const char *protocol;
    const char *opcode;
    int64_t duration;  /* ns; negative: none, written as nothing */
    const char *error; /* NULL: successful */
};

/* By worker's thread only. */
void timing_write(struct timing *timing, unsigned worker, const struct timing_line *line);

/* After the workers stopped: writes what is left and frees it. *lost is the number of lines lost.
 * 0, or a negative errno (disk full, ...) with a line in error. */
int timing_close(struct timing *timing, uint64_t *lost, struct error *error);

#endif
