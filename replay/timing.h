/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timing data (-t FILE): one line for each operation that ended,
 *     time <TAB> conv <TAB> protocol <TAB> type <TAB> duration <TAB> successful <TAB> error
 * after a header line with these names, in the format that existing scripts parse. time is the end
 * of the operation in seconds since the start of the warm-up, conv a number that is unique to the
 * conversation, duration the service time in seconds, successful True or False, error the cause of
 * a failure. The file includes operations of the warm-up, but no unfinished ones.
 *
 * Each worker has a buffer, from which one writer thread writes to the file; workers take no lock
 * and never wait for the disk. Lines of one worker keep their order. Lines of several workers are
 * mixed in blocks, so the file is not sorted by time. Memory is bounded: when the writer cannot
 * keep up, lines are lost, counted and reported.
 */
#ifndef REPLAY_TIMING_H
#define REPLAY_TIMING_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct timing;

/* path "-" is standard output. On failure NULL: error->code is -ENOMEM or the negative errno of the
 * file. */
struct timing *timing_open(const char *path, unsigned workers, struct error *error);

struct timing_line {
    int64_t ended; /* ns since the plan's start */
    uint64_t conversation;
    const char *protocol;
    const char *opcode;
    int64_t duration;  /* ns; negative: none, the field stays empty */
    const char *error; /* NULL: successful */
};

/* Only the worker's own thread may call it. */
void timing_write(struct timing *timing, unsigned worker, const struct timing_line *line);

/* Writes what is left and frees timing. Call after the workers have stopped. *lost is the number of
 * lines lost. 0, or a negative errno (disk full, ...). */
int timing_close(struct timing *timing, uint64_t *lost, struct error *error);

#endif
