/* SPDX-License-Identifier: Apache-2.0 */
#include "model/loadfile/loadfile_number.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *read_change(const char *text, struct script_change *change);

const char *loadfile_read_whole(const char *text, uint64_t most, uint64_t *out)
{
    bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    char *end;
    if (text[0] < '0' || text[0] > '9')
        return NULL;
    errno = 0;
    unsigned long long value = strtoull(text + (hexadecimal ? 2 : 0), &end, hexadecimal ? 16 : 10);
    bool digits = !hexadecimal || (text[2] && strchr("0123456789abcdefABCDEF", text[2]));
    if (errno || !digits || value > most)
        return NULL;
    *out = value;
    return end;
}

bool loadfile_read_number(const char *text, struct script_number *number)
{
    *number = (struct script_number){.random = *text == '*'};
    text += *text == '*';
    while (*text) {
        if (number->change_count == SCRIPT_CHANGES_MAX)
            return false;
        text = read_change(text, &number->changes[number->change_count]);
        if (!text)
            return false;
        number->change_count++;
    }
    return true;
}

static const char *read_change(const char *text, struct script_change *change)
{
    static const char child[] = "+child", children[] = "+num_children";
    *change = (struct script_change){.sign = *text};
    if (strncmp(text, children, sizeof children - 1) == 0) {
        change->sign = 'n';
        return text + sizeof children - 1;
    }
    if (strncmp(text, child, sizeof child - 1) == 0) {
        change->sign = 'c';
        return text + sizeof child - 1;
    }
    if (!strchr("+*/%", *text))
        return NULL;
    text = loadfile_read_whole(text + 1, UINT64_MAX, &change->value);
    bool divides = change->sign == '/' || change->sign == '%';
    return divides && change->value == 0 ? NULL : text;
}
