/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/temporary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

char *path_in_tmp(const char *name)
{
    const char *folder = getenv("TMPDIR");
    char *path = NULL;
    assert_true(asprintf(&path, "%s/%s", folder ? folder : "/tmp", name) > 0);
    return path;
}
