/* SPDX-License-Identifier: Apache-2.0 */
/* GUIDs, SIDs and context handles (MS-DTYP 2.3.4, 2.4.2; C706 14.2.5): coders and text forms. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/rpc/ndr_private.h"

static bool hex_number(const char **text, int digits, uint32_t *number);
static int sid_number(const char **text, uint64_t limit, uint64_t *number);
static void sid_body(struct ndr *ndr, struct ndr_sid *sid);

int ndr_guid_parse(const char *text, struct ndr_guid *guid)
{
    /* Digits per number: the groups of 4 and 12 at the end are single bytes. */
    static const uint8_t digits[] = {8, 4, 4, 2, 2, 2, 2, 2, 2, 2, 2};
    uint32_t numbers[11];
    for (int i = 0; i < 11; i++) {
        bool dash = (i >= 1 && i <= 3) || i == 5;
        if ((dash && *text++ != '-') || !hex_number(&text, digits[i], &numbers[i]))
            return -EINVAL;
    }
    if (*text)
        return -EINVAL;
    guid->time_low = numbers[0];
    guid->time_mid = (uint16_t)numbers[1];
    guid->time_hi_and_version = (uint16_t)numbers[2];
    for (int i = 0; i < 2; i++)
        guid->clock_seq[i] = (uint8_t)numbers[3 + i];
    for (int i = 0; i < 6; i++)
        guid->node[i] = (uint8_t)numbers[5 + i];
    return 0;
}

/* A number of exactly `digits` hexadecimal digits, in either case; advances *text past them. Every
 * bind parses two GUIDs, and sscanf(3) would take a measurable part of its time. */
static bool hex_number(const char **text, int digits, uint32_t *number)
{
    *number = 0;
    for (int i = 0; i < digits; i++, ++*text) {
        char c = **text;
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                         : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
                                                : 16;
        if (digit == 16)
            return false;
        *number = *number << 4 | digit;
    }
    return true;
}

void ndr_guid_format(const struct ndr_guid *guid, char text[NDR_GUID_TEXT_SIZE])
{
    const uint8_t *seq = guid->clock_seq, *node = guid->node;
    snprintf(text, NDR_GUID_TEXT_SIZE, "%08" PRIx32 "-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x",
             guid->time_low, guid->time_mid, guid->time_hi_and_version, seq[0], seq[1], node[0],
             node[1], node[2], node[3], node[4], node[5]);
}

int ndr_sid_parse(const char *text, struct ndr_sid *sid)
{
    uint64_t authority, number;
    *sid = (struct ndr_sid){.revision = 1};
    if (strncmp(text, "S-1-", 4) != 0)
        return -EINVAL;
    text += 4;
    if (sid_number(&text, 0xffffffffffff, &authority) < 0)
        return -EINVAL;
    for (int i = 0; i < 6; i++)
        sid->authority[i] = (uint8_t)(authority >> 8 * (5 - i));
    while (*text == '-' && sid->count < NDR_SID_AUTHORITIES_MAX) {
        text++;
        if (sid_number(&text, UINT32_MAX, &number) < 0)
            return -EINVAL;
        sid->sub_authorities[sid->count++] = (uint32_t)number;
    }
    return *text ? -EINVAL : 0;
}

/* One decimal number of a SID, at most limit; advances *text past it. 0 or -EINVAL. */
static int sid_number(const char **text, uint64_t limit, uint64_t *number)
{
    if (!isdigit((unsigned char)**text))
        return -EINVAL;
    char *end;
    errno = 0;
    unsigned long long value = strtoull(*text, &end, 10);
    if (errno || value > limit)
        return -EINVAL;
    *text = end;
    *number = value;
    return 0;
}

void ndr_sid_format(const struct ndr_sid *sid, char text[NDR_SID_TEXT_SIZE])
{
    uint64_t authority = 0;
    for (int i = 0; i < 6; i++)
        authority = authority << 8 | sid->authority[i];
    size_t used =
        (size_t)snprintf(text, NDR_SID_TEXT_SIZE, "S-%u-%" PRIu64, sid->revision, authority);
    for (int i = 0; i < sid->count && i < NDR_SID_AUTHORITIES_MAX; i++)
        used += (size_t)snprintf(text + used, NDR_SID_TEXT_SIZE - used, "-%" PRIu32,
                                 sid->sub_authorities[i]);
}

void ndr_guid_coder(struct ndr *ndr, const char *field, void *value, uint32_t argument)
{
    (void)argument;
    struct ndr_guid *guid = value;
    if (ndr->mode == NDR_PRINT) {
        char text[NDR_GUID_TEXT_SIZE];
        ndr_guid_format(guid, text);
        ndr_print_text(ndr, field, text);
        return;
    }
    ndr_u32(ndr, field, &guid->time_low);
    ndr_u16(ndr, field, &guid->time_mid);
    ndr_u16(ndr, field, &guid->time_hi_and_version);
    ndr_bytes(ndr, field, guid->clock_seq, sizeof guid->clock_seq);
    ndr_bytes(ndr, field, guid->node, sizeof guid->node);
}

void ndr_policy_handle_coder(struct ndr *ndr, const char *field, void *value, uint32_t argument)
{
    struct ndr_policy_handle *handle = value;
    if (ndr->mode != NDR_PRINT)
        ndr_u32(ndr, field, &handle->type);
    ndr_guid_coder(ndr, field, &handle->uuid, argument);
}

void ndr_sid_coder(struct ndr *ndr, const char *field, void *value, uint32_t argument)
{
    (void)argument;
    struct ndr_sid *sid = value;
    if (ndr->mode == NDR_PRINT) {
        char text[NDR_SID_TEXT_SIZE];
        ndr_sid_format(sid, text);
        ndr_print_text(ndr, field, text);
        return;
    }
    uint32_t conformance = sid->count;
    ndr_u32(ndr, field, &conformance);
    sid_body(ndr, sid);
    if (!ndr->failed && conformance != sid->count)
        ndr_fail(ndr, field, "array size differs from its count");
}

static void sid_body(struct ndr *ndr, struct ndr_sid *sid)
{
    ndr_u8(ndr, "Revision", &sid->revision);
    ndr_u8(ndr, "SubAuthorityCount", &sid->count);
    ndr_bytes(ndr, "IdentifierAuthority", sid->authority, sizeof sid->authority);
    if (!ndr->failed && sid->count > NDR_SID_AUTHORITIES_MAX)
        ndr_fail(ndr, "SubAuthorityCount", "more than 15 sub-authorities");
    for (unsigned i = 0; i < sid->count && !ndr->failed; i++)
        ndr_u32(ndr, "SubAuthority", &sid->sub_authorities[i]);
}
