/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments quoted for a shell. */
#include "base/shell_text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf16.h"

static bool needs_no_quotes(const char *argument);
static bool is_printable(const char *argument);
static void write_in_quotes(FILE *out, const char *argument);
static void write_escaped(FILE *out, const char *argument);

char *shell_text_join(int argc, char *const *argv)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    for (int i = 0; out && i < argc; i++) {
        fputs(i > 0 ? " " : "", out);
        shell_text_write(out, argv[i]);
    }
    if (out && fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

void shell_text_write(FILE *out, const char *argument)
{
    if (needs_no_quotes(argument))
        fputs(argument, out);
    else if (is_printable(argument))
        write_in_quotes(out, argument);
    else
        write_escaped(out, argument);
}

static bool needs_no_quotes(const char *argument)
{
    bool plain = *argument && !argument[strspn(argument, "abcdefghijklmnopqrstuvwxyz"
                                                         "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                         "0123456789-_=+.,:/@%*{}")];
    /* {a,b} is two arguments for a shell, {a} is one. */
    return plain && !(strchr(argument, '{') && strchr(argument, ','));
}

static bool is_printable(const char *argument)
{
    size_t size;
    bool printable = utf16le_size(argument, &size) == 0;
    for (const char *c = argument; *c; c++)
        printable = printable && !iscntrl((unsigned char)*c);
    return printable;
}

static void write_in_quotes(FILE *out, const char *argument)
{
    fputc('\'', out);
    for (const char *c = argument; *c; c++)
        *c == '\'' ? fputs("'\\''", out) : fputc(*c, out);
    fputc('\'', out);
}

static void write_escaped(FILE *out, const char *argument)
{
    enum { DELETE = 0x7f };
    fputs("$'", out);
    for (const unsigned char *c = (const unsigned char *)argument; *c; c++) {
        if (*c < ' ' || *c >= DELETE || *c == '\'' || *c == '\\')
            fprintf(out, "\\%03o", *c);
        else
            fputc(*c, out);
    }
    fputc('\'', out);
}
