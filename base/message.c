/* SPDX-License-Identifier: Apache-2.0 */
/* Lines on standard error. */
#include "base/message.h"

#include <stdio.h>
#include <stdlib.h>

const char *message_program = "traffic-replay";

void message_clean(char *text)
{
    enum { DELETE = 0x7f, C1_LEAD = 0xc2, C1_FIRST = 0x80, C1_LAST = 0x9f };
    for (unsigned char *c = (unsigned char *)text; *c; c++) {
        if (*c < ' ' || *c == DELETE)
            *c = '?';
        else if (c[0] == C1_LEAD && c[1] >= C1_FIRST && c[1] <= C1_LAST)
            c[0] = c[1] = '?';
    }
}

void message_tell(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    message_tell_args(format, args);
    va_end(args);
}

void message_tell_args(const char *format, va_list args)
{
    char *line = NULL;
    if (vasprintf(&line, format, args) < 0)
        line = NULL;
    if (line)
        message_clean(line);
    /* One call, so that lines of several threads stay whole. */
    fprintf(stderr, "%s: %s\n", message_program, line ? line : "out of memory");
    free(line);
}
