/* SPDX-License-Identifier: Apache-2.0 */
/* JSON values from and to text. */
#include "base/files/json_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int json_text_write(FILE *stream, const json_t *value, size_t flags)
{
    errno = 0;
    if (json_dumpf(value, stream, flags) == 0 && fputc('\n', stream) != EOF)
        return 0;
    return errno ? -errno : -EIO;
}

json_t *json_text_string(const char *text)
{
    json_t *string = json_string(text);
    char *clean = string ? NULL : strdup(text);
    if (!clean)
        return string;
    for (char *byte = clean; *byte; byte++)
        if ((unsigned char)*byte >= 0x80)
            *byte = '?';
    string = json_string(clean);
    free(clean);
    return string;
}
