/* SPDX-License-Identifier: Apache-2.0 */
/* Strings in NDR: UTF-16 on the wire, UTF-8 in memory (C706 14.3.4, MS-DTYP 2.3.10). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/utf16.h"
#include "protocols/rpc/ndr_private.h"

static void put_utf16(struct ndr *ndr, const char *field, const char *text, size_t size);
static void get_utf16(struct ndr *ndr, const char *field, char **value, size_t size);
static const uint8_t *swap_units(struct ndr *ndr, const char *field, const uint8_t *in,
                                 size_t size);
static size_t text_units(struct ndr *ndr, const char *field, const char *text);
static bool code_string_header(struct ndr *ndr, const char *field, uint32_t *max, uint32_t *actual);
static void unique_text(struct ndr *ndr, const char *field, char **value, ndr_coder *coder,
                        uint32_t argument);
static void wstring_coder(struct ndr *ndr, const char *field, void *value, uint32_t argument);
static void unicode_string(struct ndr *ndr, const char *field, char **text, uint32_t spare);
static void unicode_buffer_coder(struct ndr *ndr, const char *field, void *value,
                                 uint32_t argument);

void ndr_utf16(struct ndr *ndr, const char *field, char **value, size_t size)
{
    if (ndr->mode == NDR_ENCODE)
        put_utf16(ndr, field, *value, size);
    else if (ndr->mode == NDR_DECODE)
        get_utf16(ndr, field, value, size);
}

static void put_utf16(struct ndr *ndr, const char *field, const char *text, size_t size)
{
    uint8_t *utf16 = NULL, *out = ndr_put_room(ndr, field, size);
    size_t made = 0;
    if (!out)
        return;
    int rc = utf16le_from_utf8(text, &utf16, &made);
    if (rc == 0 && made == size)
        memcpy(out, utf16, size);
    else
        ndr_fail(ndr, field, rc == -ENOMEM ? "out of memory" : "text is not UTF-8");
    free(utf16);
}

static void get_utf16(struct ndr *ndr, const char *field, char **value, size_t size)
{
    char *text = NULL;
    const uint8_t *in = ndr_get_room(ndr, field, size);
    if (in && ndr->big_endian)
        in = swap_units(ndr, field, in, size);
    if (!in)
        return;
    int rc = utf16le_to_utf8(in, size, &text);
    if (rc < 0) {
        ndr_fail(ndr, field, rc == -ENOMEM ? "out of memory" : "text is not UTF-16");
        return;
    }
    size_t length = strlen(text);
    char *copy = ndr_arena_room(ndr, field, length + 1);
    if (copy)
        memcpy(copy, text, length + 1);
    *value = copy;
    free(text);
}

/* A big-endian sender's UTF-16 in little-endian order; NULL after a failure. */
static const uint8_t *swap_units(struct ndr *ndr, const char *field, const uint8_t *in, size_t size)
{
    uint8_t *swapped = ndr_arena_room(ndr, field, size);
    for (size_t i = 0; swapped && i + 1 < size; i += 2) {
        swapped[i] = in[i + 1];
        swapped[i + 1] = in[i];
    }
    return swapped;
}

void ndr_wstring(struct ndr *ndr, const char *field, char **value)
{
    if (ndr->mode == NDR_PRINT) {
        ndr_print_text(ndr, field, *value);
        return;
    }
    if (ndr->failed)
        return;
    uint32_t max = (uint32_t)text_units(ndr, field, *value) + 1, actual = max;
    if (!code_string_header(ndr, field, &max, &actual))
        return;
    if (actual == 0) {
        ndr_fail(ndr, field, "string without a terminating NUL");
        return;
    }
    ndr_utf16(ndr, field, value, ((size_t)actual - 1) * 2);
    ndr_tag16(ndr, field, 0);
}

/* The text comes from the server, so control characters are replaced. */
void ndr_print_text(struct ndr *ndr, const char *field, const char *text)
{
    if (!text) {
        fprintf(ndr->out, "%*s%s: NULL\n", ndr->indent, "", field);
        return;
    }
    fprintf(ndr->out, "%*s%s: \"", ndr->indent, "", field);
    text_print_clean(ndr->out, text);
    fputs("\"\n", ndr->out);
}

/* Length of text in UTF-16 units when encoding; 0 otherwise. */
static size_t text_units(struct ndr *ndr, const char *field, const char *text)
{
    size_t size = 0;
    if (ndr->mode == NDR_ENCODE && !text)
        ndr_fail(ndr, field, "a null reference pointer");
    else if (ndr->mode == NDR_ENCODE && utf16le_size(text, &size) < 0)
        ndr_fail(ndr, field, "text is not UTF-8");
    return size / 2;
}

/* The header of a conformant varying string, in characters; false after a failure. */
static bool code_string_header(struct ndr *ndr, const char *field, uint32_t *max, uint32_t *actual)
{
    uint32_t offset = 0;
    ndr_u32(ndr, field, max);
    ndr_u32(ndr, field, &offset);
    ndr_u32(ndr, field, actual);
    if (!ndr->failed && (offset != 0 || *actual > *max || *actual > NDR_COUNT_MAX))
        ndr_fail(ndr, field, "string longer than its buffer");
    return !ndr->failed;
}

void ndr_unique_wstring(struct ndr *ndr, const char *field, char **value)
{
    unique_text(ndr, field, value, wstring_coder, 0);
}

/* A unique pointer to text. The coder gets the address of the pointer, not the pointee. */
static void unique_text(struct ndr *ndr, const char *field, char **value, ndr_coder *coder,
                        uint32_t argument)
{
    bool present = *value != NULL;
    if (ndr->mode == NDR_DECODE)
        *value = NULL;
    ndr_unique_member(ndr, field, present, value, coder, argument);
}

static void wstring_coder(struct ndr *ndr, const char *field, void *value, uint32_t argument)
{
    (void)argument;
    ndr_wstring(ndr, field, value);
}

void ndr_unicode_string_coder(struct ndr *ndr, const char *field, void *value, uint32_t argument)
{
    (void)argument;
    unicode_string(ndr, field, value, 0);
}

static void unicode_string(struct ndr *ndr, const char *field, char **text, uint32_t spare)
{
    if (ndr->mode == NDR_PRINT) {
        ndr_print_text(ndr, field, *text);
        return;
    }
    if (ndr->failed)
        return;
    ndr_align(ndr, 4);
    size_t units = *text ? text_units(ndr, field, *text) : 0;
    if (units > 0x7ffe)
        ndr_fail(ndr, field, "text longer than 32,766 characters");
    bool present = *text != NULL;
    uint16_t length = (uint16_t)(units * 2);
    uint16_t room = (uint16_t)(present ? (units + spare) * 2 : 0);
    ndr_u16(ndr, field, &length);
    ndr_u16(ndr, field, &room);
    if (!ndr->failed && (length > room || length % 2))
        ndr_fail(ndr, field, "string longer than its buffer");
    unique_text(ndr, field, text, unicode_buffer_coder, (uint32_t)room / 2 << 16 | length / 2);
}

/* The buffer of an RPC_UNICODE_STRING: argument is MaximumLength << 16 | Length, in characters. */
static void unicode_buffer_coder(struct ndr *ndr, const char *field, void *value, uint32_t argument)
{
    uint32_t max = argument >> 16, actual = argument & 0xffff;
    uint32_t wire_max = max, wire_actual = actual;
    if (!code_string_header(ndr, field, &wire_max, &wire_actual))
        return;
    if (wire_actual != actual)
        ndr_fail(ndr, field, "string length differs from its count");
    else
        ndr_utf16(ndr, field, value, (size_t)actual * 2);
}

void ndr_unicode_string_large_coder(struct ndr *ndr, const char *field, void *value,
                                    uint32_t argument)
{
    (void)argument;
    unicode_string(ndr, field, value, 1);
}
