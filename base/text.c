/* SPDX-License-Identifier: Apache-2.0 */
/* Text that is safe to print on a terminal. */
#include "base/text.h"

#include <stddef.h>
#include <string.h>

static size_t control_length(const unsigned char *text);

char *text_clean(char *text)
{
    for (char *c = text; *c; c++)
        for (size_t left = control_length((const unsigned char *)c); left > 0; left--)
            c[left - 1] = '?';
    return text;
}

void text_print_clean(FILE *stream, const char *text)
{
    while (*text) {
        size_t length = control_length((const unsigned char *)text);
        for (size_t i = 0; i < length; i++)
            putc('?', stream);
        if (length == 0)
            putc(*text++, stream);
        text += length;
    }
}

/* The bytes of the control character that text begins with; 0: it is none. */
static size_t control_length(const unsigned char *text)
{
    enum { DELETE = 0x7f, C1_LEAD = 0xc2, C1_FIRST = 0x80, C1_LAST = 0x9f };
    if (text[0] < ' ' || text[0] == DELETE)
        return text[0] ? 1 : 0;
    return text[0] == C1_LEAD && text[1] >= C1_FIRST && text[1] <= C1_LAST ? 2 : 0;
}

size_t text_mark_length(const char *text)
{
    static const char mark[] = "\xef\xbb\xbf";
    return strncmp(text, mark, sizeof mark - 1) == 0 ? sizeof mark - 1 : 0;
}

void text_hex(char *out, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    out[2 * size] = '\0';
}
