/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/user_path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

char *user_path(const char *variable, const char *folder, const char *name)
{
    const char *base = getenv(variable), *home = getenv("HOME");
    char *path = NULL;
    int size = -1;
    errno = ENOENT;
    if (base && base[0] == '/')
        size = asprintf(&path, "%s/%s", base, name);
    else if (home && home[0] == '/')
        size = asprintf(&path, "%s/%s/%s", home, folder, name);
    return size < 0 ? NULL : path;
}
