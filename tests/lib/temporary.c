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

char *file_in_tmp(const char *name, const char *text)
{
    char *path = path_in_tmp(name);
    FILE *file = fopen(path, "wx");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    return path;
}
