/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 to UTF-16LE and back. */
#include "base/utf16.h"

#include <errno.h>
#include <locale.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <wctype.h>

static locale_t upper_locale;
static pthread_once_t upper_once = PTHREAD_ONCE_INIT;

static int utf16_convert(const char *text, bool upper_case, uint8_t **out, size_t *size);
static int utf8_next(const char **at, uint32_t *code);
static uint32_t upper_case_of(uint32_t code);
static void upper_locale_make(void);
static uint8_t *put_unit(uint8_t *to, uint32_t unit);
static char *put_utf8(char *to, uint32_t code);
static uint32_t utf16_next(const uint8_t *text, size_t size, size_t *at);
static uint32_t unit_at(const uint8_t *text, size_t at);

int utf16le_from_utf8(const char *text, uint8_t **out, size_t *size)
{
    return utf16_convert(text, false, out, size);
}

static int utf16_convert(const char *text, bool upper_case, uint8_t **out, size_t *size)
{
    /* UTF-16 has at most one unit per byte of UTF-8. */
    uint8_t *buffer = malloc(2 * strlen(text) + 1);
    if (!buffer)
        return -ENOMEM;
    uint8_t *to = buffer;
    while (*text) {
        uint32_t code = 0;
        int rc = utf8_next(&text, &code);
        if (rc) {
            free(buffer);
            return rc;
        }
        if (upper_case)
            code = upper_case_of(code);
        if (code >= 0x10000) {
            to = put_unit(to, 0xd800 + ((code - 0x10000) >> 10));
            code = 0xdc00 + (code & 0x3ff);
        }
        to = put_unit(to, code);
    }
    *out = buffer;
    *size = (size_t)(to - buffer);
    return 0;
}

/* Decodes one code point of NUL-terminated text and advances *at. -EILSEQ: overlong, a surrogate,
 * or truncated. */
static int utf8_next(const char **at, uint32_t *code)
{
    static const uint32_t smallest[] = {0, 0x80, 0x800, 0x10000};
    const uint8_t *p = (const uint8_t *)*at;
    unsigned more = p[0] < 0x80 ? 0 : p[0] >= 0xf0 ? 3 : p[0] >= 0xe0 ? 2 : 1;
    if ((p[0] >= 0x80 && p[0] < 0xc2) || p[0] > 0xf4)
        return -EILSEQ;
    uint32_t value = more ? p[0] & (0x3fu >> more) : p[0];
    for (unsigned i = 1; i <= more; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return -EILSEQ;
        value = value << 6 | (p[i] & 0x3f);
    }
    if (value < smallest[more] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
        return -EILSEQ;
    *at += more + 1;
    *code = value;
    return 0;
}

static uint32_t upper_case_of(uint32_t code)
{
    if (code < 0x80)
        return code >= 'a' && code <= 'z' ? code - 0x20 : code;
    pthread_once(&upper_once, upper_locale_make);
    if (!upper_locale)
        return code;
    uint32_t mapped = (uint32_t)towupper_l((wint_t)code, upper_locale);
    return mapped <= 0xffff && code <= 0xffff ? mapped : code;
}

/* In the locale "C" towupper() maps only ASCII. The locale is never freed. */
static void upper_locale_make(void)
{
    upper_locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

static uint8_t *put_unit(uint8_t *to, uint32_t unit)
{
    *to++ = (uint8_t)unit;
    *to++ = (uint8_t)(unit >> 8);
    return to;
}

int utf16le_upper_from_utf8(const char *text, uint8_t **out, size_t *size)
{
    return utf16_convert(text, true, out, size);
}

int utf16le_size(const char *text, size_t *size)
{
    size_t units = 0;
    while (*text) {
        uint32_t code = 0;
        int rc = utf8_next(&text, &code);
        if (rc)
            return rc;
        units += code >= 0x10000 ? 2 : 1;
    }
    *size = 2 * units;
    return 0;
}

int utf16le_to_utf8(const uint8_t *text, size_t size, char **out)
{
    if (size % 2)
        return -EILSEQ;
    char *buffer = malloc(size / 2 * 3 + 1); /* a unit gives at most 3 bytes, a pair 4 */
    if (!buffer)
        return -ENOMEM;
    char *to = buffer;
    for (size_t at = 0; at < size;)
        to = put_utf8(to, utf16_next(text, size, &at));
    *to = '\0';
    *out = buffer;
    return 0;
}

static char *put_utf8(char *to, uint32_t code)
{
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xc0 | code >> 6);
        *to++ = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        *to++ = (char)(0xe0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
        *to++ = (char)(0x80 | (code & 0x3f));
    } else {
        *to++ = (char)(0xf0 | code >> 18);
        *to++ = (char)(0x80 | (code >> 12 & 0x3f));
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
        *to++ = (char)(0x80 | (code & 0x3f));
    }
    return to;
}

/* Decodes one code point and advances *at. */
static uint32_t utf16_next(const uint8_t *text, size_t size, size_t *at)
{
    uint32_t unit = unit_at(text, *at);
    *at += 2;
    if (unit == 0 || (unit >= 0xdc00 && unit < 0xe000))
        return 0xfffd;
    if (unit < 0xd800 || unit >= 0xe000)
        return unit;
    if (size - *at < 2 || (unit_at(text, *at) & 0xfc00) != 0xdc00)
        return 0xfffd;
    uint32_t code = 0x10000 + ((unit & 0x3ff) << 10 | (unit_at(text, *at) & 0x3ff));
    *at += 2;
    return code;
}

static uint32_t unit_at(const uint8_t *text, size_t at)
{
    return (uint32_t)text[at] | (uint32_t)text[at + 1] << 8;
}
