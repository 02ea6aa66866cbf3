/* SPDX-License-Identifier: Apache-2.0 */
/* Messages on standard error. */
#include "base/message.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"

const char *message_program = "traffic-replay";
void (*message_before_line)(void);

void message_print(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    message_print_args(format, args);
    va_end(args);
}

void message_print_args(const char *format, va_list args)
{
    char *line = NULL;
    if (vasprintf(&line, format, args) < 0)
        line = NULL;
    if (line)
        text_clean(line);
    flockfile(stderr);
    if (message_before_line)
        message_before_line();
    fprintf(stderr, "%s: %s\n", message_program, line ? line : "out of memory");
    funlockfile(stderr);
    free(line);
}
