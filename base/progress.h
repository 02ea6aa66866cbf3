/* SPDX-License-Identifier: Apache-2.0 */
/* Progress of start-up work on standard error. On a terminal one line is overwritten, otherwise
 * there is a line every few seconds. A last line follows at the end. */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *what; /* for example "Accounts created" */
    uint64_t total, done;
    int64_t started, printed; /* CLOCK_MONOTONIC ns */
    bool terminal, shown;
};

/* Prints the first line. total is the number of items; what must outlive the progress. */
void progress_start(struct progress *progress, const char *what, uint64_t total);
void progress_step(struct progress *progress);
/* Prints the total and the rate. */
void progress_end(struct progress *progress);

#endif
