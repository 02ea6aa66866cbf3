/* SPDX-License-Identifier: Apache-2.0 */
#include "model/learn/learn_profile.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Nobody can create a folder in /proc, so nothing has to be removed afterwards. */
static char *const replaced[] = {
    "HOME=/proc/traffic-learn",
    "XDG_CONFIG_HOME=/proc/traffic-learn",
    "XDG_DATA_HOME=/proc/traffic-learn",
    "WIRESHARK_CONFIG_DIR=/proc/traffic-learn",
    "WIRESHARK_PLUGIN_DIR=/proc/traffic-learn",
};

enum { REPLACED = sizeof replaced / sizeof replaced[0] };

static bool profile_is_replaced(const char *variable);

char **learn_profile_environment(void)
{
    size_t count = 0, kept = 0;
    while (environ && environ[count])
        count++;
    char **environment = calloc(count + REPLACED + 1, sizeof *environment);
    if (!environment)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (!profile_is_replaced(environ[i]))
            environment[kept++] = environ[i];
    memcpy(environment + kept, replaced, sizeof replaced);
    return environment;
}

static bool profile_is_replaced(const char *variable)
{
    for (size_t i = 0; i < REPLACED; i++)
        if (strncmp(variable, replaced[i], strcspn(replaced[i], "=") + 1) == 0)
            return true;
    return false;
}

void learn_profile_free(char **environment)
{
    free(environment);
}
