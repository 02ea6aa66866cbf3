/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the machine disturbed a run: steal time, late timers, a generator that was too slow. */
#ifndef REPLAY_SWEEP_SWEEP_DISTURBED_H
#define REPLAY_SWEEP_SWEEP_DISTURBED_H

#include <stdbool.h>
#include <stdint.h>

#include "summary/result/result.h"

enum { SWEEP_DISTURBED_SIZE = 160 };

/* Processor time of this machine from the first line of /proc/stat, in ticks. */
struct sweep_stolen {
    uint64_t stolen, all; /* all 0: unknown */
};

void sweep_stolen_read(struct sweep_stolen *stolen);
/* Parses the line "cpu ..."; false: it has another form, and *stolen is zeroed. */
bool sweep_stolen_parse(const char *line, struct sweep_stolen *stolen);

/* Whether a run that began at *before and ended at *after was disturbed; why is the reason. */
bool sweep_disturbed_between(const struct result *result, const struct sweep_stolen *before,
                             const struct sweep_stolen *after, char why[SWEEP_DISTURBED_SIZE]);
/* The same for a run that has just ended. */
bool sweep_disturbed(const struct result *result, const struct sweep_stolen *before,
                     char why[SWEEP_DISTURBED_SIZE]);

#endif
