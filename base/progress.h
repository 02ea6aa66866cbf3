/* SPDX-License-Identifier: Apache-2.0 */
/* Progress of start-up work on standard error: on a terminal one line written over, else a line
 * every few seconds, and one at the end. Short work says nothing but the end. */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *what; /* "Accounts made" */
    uint64_t total, done;
    int64_t started, told; /* CLOCK_MONOTONIC ns */
    bool terminal, shown;
};

void progress_start(struct progress *progress, const char *what, uint64_t total);
void progress_step(struct progress *progress);
/* Says how much was done and how fast. */
void progress_end(struct progress *progress);

#endif
