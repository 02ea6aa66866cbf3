/* SPDX-License-Identifier: Apache-2.0 */
/* Reading command lines of traffic-replay in tests. */
#ifndef TESTS_LIB_SETTINGS_LINES_H
#define TESTS_LIB_SETTINGS_LINES_H

#include "replay/settings.h"
#include "tests/lib/command_line.h"

enum { NO_STATUS = -1 };

/* Writes the test's configuration file. */
void write_config(const char *content);

/* Reads a command line. Returns the exit status; NO_STATUS: the run can begin. Messages
 * are captured. */
int read_line(struct settings *settings, const char *line);

/* Reads a command line that must be right. */
void read_well(struct settings *settings, const char *line);

/* cmocka set-up and tear-down: the folder with a model, accounts and credential files. */
int make_files(void **state);

int remove_files(void **state);

#endif
