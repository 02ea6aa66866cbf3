/* SPDX-License-Identifier: Apache-2.0 */
/* The result of a made-up run, with known figures. */
#ifndef TESTS_LIB_SAMPLE_RESULT_H
#define TESTS_LIB_SAMPLE_RESULT_H

#include <stdint.h>

#include "replay/session/report.h"
#include "summary/result/result.h"

/* The packet types of the run. */
enum {
    SAMPLE_SEARCH,
    SAMPLE_BIND,
    SAMPLE_NBNS,
    SAMPLE_ECHO,
    SAMPLE_ODD,
    SAMPLE_UNUSED,
    SAMPLE_TYPES
};

/* Plans and counts one operation; cause NULL: it succeeds. Times are in ns. */
void sample_play(struct tally *tally, uint32_t type, int64_t due, int64_t service,
                 const char *cause);

/* Counters with a warm-up of 1 s and a window of 10 s. */
struct tally *sample_tally_new(void);

struct settings sample_settings(void);

/* What a report says of the run besides the counters; keeps a pointer to settings. */
struct report_facts sample_facts(const struct settings *settings);

/* The result of a run with successes, failures and a missing answer; the caller clears it. */
void sample_result(struct result *result);

/* The text report; the caller frees it. */
char *sample_text(const struct result *result);

#endif
