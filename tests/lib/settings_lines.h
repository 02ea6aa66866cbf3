/* SPDX-License-Identifier: Apache-2.0 */
/* Reading command lines of traffic-replay in tests. */
#ifndef TESTS_LIB_SETTINGS_LINES_H
#define TESTS_LIB_SETTINGS_LINES_H

#include "replay/settings.h"
#include "tests/lib/command_line.h"

static inline void write_config(const char *content)
{
    write_file("traffic-replay.yaml", content, 0600);
}

enum { NO_STATUS = -1 };

/* Reads a command line. Returns the exit status; NO_STATUS: the run can begin. Messages
 * are captured. */
static inline int read_line(struct settings *settings, const char *line)
{
    int count = cut("traffic-replay", line), status = NO_STATUS;
    capture_messages();
    enum step step = settings_read(settings, count, words, &status);
    end_capture();
    return step == STEP_NEXT ? NO_STATUS : status;
}

static inline void read_well(struct settings *settings, const char *line)
{
    int status = read_line(settings, line);
    if (status != NO_STATUS)
        fail_msg("%s: status %d: %s", line, status, messages);
}

static inline int make_files(void **state)
{
    (void)state;
    if (!mkdtemp(folder) || !freopen("/dev/null", "r", stdin))
        return -1;
    unsetenv("TRAFFIC_REPLAY_USER");
    unsetenv("TRAFFIC_REPLAY_PASSWORD");
    setenv("XDG_CONFIG_HOME", folder, 1);
    write_file("model", "version: 3\n", 0600);
    write_file("accounts", "", 0600);
    write_file("auth", "# who\nusername = filed\n password=p = w # %  \ndomain = FILEDOM\n", 0600);
    write_file("auth-wrong", "username = x\npasword = y\n", 0600);
    write_file("auth-nobody", "password = y\n", 0600);
    return 0;
}

static inline int remove_files(void **state)
{
    (void)state;
    static const char *const names[] = {"model",      "accounts",    "auth",
                                        "auth-wrong", "auth-nobody", "traffic-replay.yaml"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unlink(path_in_folder(names[i]));
    free_words();
    return rmdir(folder);
}

#endif
