/* SPDX-License-Identifier: Apache-2.0 */
/* Messages on standard error. */
#include "base/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

const char *message_program = "traffic-replay";
void (*message_before_line)(void);

static void message_shorten(char *line);

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
        message_shorten(text_clean(line));
    flockfile(stderr);
    if (message_before_line)
        message_before_line();
    fprintf(stderr, "%s: %s\n", message_program, line ? line : "out of memory");
    funlockfile(stderr);
    free(line);
}

/* Replaces the middle of words that nobody reads to their end, such as a quoted value of thousands
 * of characters. */
static void message_shorten(char *line)
{
    enum { LONGEST = 256, BEGIN = 120, END = 40 };
    static const char dots[] = "...";
    char *to = line;
    for (const char *word = line; *word;) {
        size_t length = strcspn(word, " ");
        length += word[length] == ' ';
        if (length > LONGEST) {
            memmove(to, word, BEGIN);
            memcpy(to + BEGIN, dots, sizeof dots - 1);
            to += BEGIN + sizeof dots - 1;
            word += length - END;
            length = END;
        }
        memmove(to, word, length);
        to += length;
        word += length;
    }
    *to = '\0';
}
