/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/settings_lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

void write_config(const char *content)
{
    write_file("traffic-replay.yaml", content, 0600);
}

int read_line(struct settings *settings, const char *line)
{
    int count = cut("traffic-replay", line), status = NO_STATUS;
    capture_messages();
    enum step step = settings_read(settings, count, words, &status);
    end_capture();
    return step == STEP_NEXT ? NO_STATUS : status;
}

void read_well(struct settings *settings, const char *line)
{
    int status = read_line(settings, line);
    if (status != NO_STATUS)
        fail_msg("%s: status %d: %s", line, status, messages);
}

int make_files(void **state)
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

int remove_files(void **state)
{
    (void)state;
    static const char *const names[] = {"model",      "accounts",    "auth",
                                        "auth-wrong", "auth-nobody", "traffic-replay.yaml"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unlink(path_in_folder(names[i]));
    free_words();
    return rmdir(folder);
}
