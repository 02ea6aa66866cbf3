/* SPDX-License-Identifier: Apache-2.0 */
/* What cures failures whose cause alone does not say it. */
#ifndef REPLAY_SESSION_REMEDIES_H
#define REPLAY_SESSION_REMEDIES_H

#include "summary/result/result.h"

/* One line that explains a cause of failure and how to avoid it; static. NULL: none is known. */
const char *remedies_find(const char *cause);

/* Prints the remedies for the failures of a run, each one once. */
void remedies_print(const struct result *result);

#endif
