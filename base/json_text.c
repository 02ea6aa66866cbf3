/* SPDX-License-Identifier: Apache-2.0 */
/* Values of jansson's as text in a stream: what prints results as JSON comes by here. */
#include "base/json_text.h"

#include <errno.h>

int json_text_write(FILE *stream, const json_t *value, size_t flags)
{
    errno = 0;
    if (json_dumpf(value, stream, flags) == 0 && fputc('\n', stream) != EOF)
        return 0;
    return errno ? -errno : -EIO;
}
