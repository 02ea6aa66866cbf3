/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Security descriptors: header (MS-DTYP 2.4.6), ACL (2.4.5), ACEs (2.4.4), SIDs (2.4.2.2), and the
 * part of SDDL (2.5.1) that test accounts need.
 */
#include "protocols/auth/security_descriptor.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/little_endian.h"

enum {
    SD_HEADER_SIZE = 20,
    SD_REVISION = 1,
    SD_DACL_PRESENT = 0x0004,
    SD_SELF_RELATIVE = 0x8000,
    /* Control bits of the DACL: present, auto-inherit required, auto-inherited, protected. */
    SD_DACL_BITS = 0x0004 | 0x0100 | 0x0400 | 0x1000,
    ACL_HEADER_SIZE = 8,
    ACL_REVISION = 2,
    ACL_REVISION_DS = 4,
    ACE_HEADER_SIZE = 4,
    ACE_INHERITED = 0x10,
    SID_AUTHORITIES_MAX = 15,
    SID_SIZE_MAX = 8 + 4 * SID_AUTHORITIES_MAX,
    ACE_SIZE_MAX = 8 + SID_SIZE_MAX,
    ADDED_MAX = 8,
    ACL_SIZE_MAX = UINT16_MAX
};

struct acl {
    const uint8_t *entries; /* after the header */
    size_t size;            /* of count entries */
    unsigned count;
    uint8_t revision;
};

/* An ACE parsed from SDDL. */
struct ace {
    uint8_t bytes[ACE_SIZE_MAX];
    size_t size;
};

struct word {
    char text[3];
    uint32_t value;
};

/* MS-DTYP 2.4.2.4, well-known SIDs. */
static const struct {
    char text[3];
    const char *sid;
} trustee_words[] = {{"PS", "S-1-5-10"}, {"AU", "S-1-5-11"}, {"CO", "S-1-3-0"},
                     {"WD", "S-1-1-0"},  {"SY", "S-1-5-18"}, {"BA", "S-1-5-32-544"}};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static int parse_sddl(const char *sddl, struct ace aces[ADDED_MAX], size_t *count);
static int parse_ace(const char **text, struct ace *ace);
static int parse_words(const char **text, const struct word *words, size_t count, uint32_t *value);
static int parse_trustee(const char **text, uint8_t *sid, size_t *size);
static int parse_sid(const char *text, const char **end, uint8_t *sid, size_t *size);
static int find_dacl(const uint8_t *sd, size_t size, struct acl *acl);
static size_t entry_size(const uint8_t *entries, size_t size, size_t offset);
static size_t missing_aces(const struct acl *acl, struct ace *aces, size_t count);
static bool acl_has(const struct acl *acl, const struct ace *ace);
static uint8_t *copy_entries(uint8_t *to, const struct acl *acl, bool inherited, unsigned *count);

int security_descriptor_add(const uint8_t *sd, size_t size, const char *sddl,
                            enum security_descriptor_inherited inherited, uint8_t **out,
                            size_t *out_size, bool *changed)
{
    struct acl acl;
    struct ace aces[ADDED_MAX];
    size_t added;
    unsigned count = 0;
    if (parse_sddl(sddl, aces, &added) != 0)
        return -EINVAL;
    if (find_dacl(sd, size, &acl) != 0)
        return -EBADMSG;
    added = missing_aces(&acl, aces, added);
    size_t most = ACL_HEADER_SIZE + acl.size + added * ACE_SIZE_MAX;
    if (most > ACL_SIZE_MAX)
        return -E2BIG;
    uint8_t *made = calloc(1, SD_HEADER_SIZE + most);
    if (!made)
        return -ENOMEM;
    /* Canonical order (MS-DTYP 2.4.5): explicit entries, denials first, then the inherited ones. */
    uint8_t *header = made + SD_HEADER_SIZE;
    uint8_t *to = copy_entries(header + ACL_HEADER_SIZE, &acl, false, &count);
    for (size_t i = 0; i < added; i++) {
        memcpy(to, aces[i].bytes, aces[i].size);
        to += aces[i].size;
        count++;
    }
    if (inherited == SECURITY_DESCRIPTOR_KEEP_INHERITED)
        to = copy_entries(to, &acl, true, &count);
    header[0] = acl.revision;
    le_put16(header + 2, (unsigned)(to - header));
    le_put16(header + 4, count);
    made[0] = SD_REVISION;
    le_put16(made + 2, SD_SELF_RELATIVE | SD_DACL_PRESENT | (le_get16(sd + 2) & SD_DACL_BITS));
    le_put32(made + 16, SD_HEADER_SIZE);
    *out = made;
    *out_size = (size_t)(to - made);
    *changed = added > 0;
    return 0;
}

static int parse_sddl(const char *sddl, struct ace aces[ADDED_MAX], size_t *count)
{
    for (*count = 0; *sddl; ++*count) {
        if (*count == ADDED_MAX || parse_ace(&sddl, &aces[*count]) != 0)
            return -EINVAL;
    }
    return 0;
}

/* MS-DTYP 2.5.1.1: ace-flag-string and the directory's rights. */
static const struct word flag_words[] = {
    {"OI", 0x01}, {"CI", 0x02}, {"NP", 0x04}, {"IO", 0x08}, {"ID", ACE_INHERITED}};

static const struct word right_words[] = {
    {"CC", 0x1},        {"DC", 0x2},       {"LC", 0x4},     {"SW", 0x8},        {"RP", 0x10},
    {"WP", 0x20},       {"DT", 0x40},      {"LO", 0x80},    {"CR", 0x100},      {"SD", 0x10000},
    {"RC", 0x20000},    {"WD", 0x40000},   {"WO", 0x80000}, {"GA", 0x10000000}, {"GX", 0x20000000},
    {"GW", 0x40000000}, {"GR", 0x80000000}};

/* Parses one "(A;flags;rights;;;trustee)". */
static int parse_ace(const char **text, struct ace *ace)
{
    uint32_t flags = 0, rights = 0;
    size_t sid_size = 0;
    if (strncmp(*text, "(A;", 3) != 0)
        return -EINVAL;
    *text += 3;
    int error = parse_words(text, flag_words, COUNT(flag_words), &flags);
    if (!error)
        error = parse_words(text, right_words, COUNT(right_words), &rights);
    if (error || strncmp(*text, ";;", 2) != 0)
        return -EINVAL;
    *text += 2;
    error = parse_trustee(text, ace->bytes + 8, &sid_size);
    if (error || **text != ')')
        return -EINVAL;
    ++*text;
    ace->size = 8 + sid_size;
    ace->bytes[0] = 0; /* ACCESS_ALLOWED_ACE_TYPE */
    ace->bytes[1] = (uint8_t)flags;
    le_put16(ace->bytes + 2, (unsigned)ace->size);
    le_put32(ace->bytes + 4, rights);
    return 0;
}

/* Combines the two-letter words up to the next ';'. */
static int parse_words(const char **text, const struct word *words, size_t count, uint32_t *value)
{
    *value = 0;
    while (**text != ';') {
        size_t i = 0;
        while (i < count && strncmp(words[i].text, *text, 2) != 0)
            i++;
        if (i == count)
            return -EINVAL;
        *value |= words[i].value;
        *text += 2;
    }
    ++*text;
    return 0;
}

static int parse_trustee(const char **text, uint8_t *sid, size_t *size)
{
    const char *end;
    for (size_t i = 0; i < COUNT(trustee_words); i++)
        if (strncmp(trustee_words[i].text, *text, 2) == 0) {
            *text += 2;
            return parse_sid(trustee_words[i].sid, &end, sid, size);
        }
    return parse_sid(*text, text, sid, size);
}

/* Parses "S-1-authority-sub-sub...". */
static int parse_sid(const char *text, const char **end, uint8_t *sid, size_t *size)
{
    unsigned count = 0;
    if (strncmp(text, "S-1-", 4) != 0 || !isdigit((unsigned char)text[4]))
        return -EINVAL;
    char *next;
    errno = 0;
    uint64_t authority = strtoull(text + 4, &next, 10);
    if (errno || authority > 0xffffffffffffULL)
        return -EINVAL;
    while (*next == '-' && isdigit((unsigned char)next[1])) {
        uint64_t sub = strtoull(next + 1, &next, 10);
        if (errno || sub > UINT32_MAX || count == SID_AUTHORITIES_MAX)
            return -EINVAL;
        le_put32(sid + 8 + 4 * count++, (uint32_t)sub);
    }
    sid[0] = 1;
    sid[1] = (uint8_t)count;
    for (unsigned i = 0; i < 6; i++)
        sid[2 + i] = (uint8_t)(authority >> (8 * (5 - i)));
    *size = 8 + 4 * (size_t)count;
    *end = next;
    return 0;
}

/* Finds the DACL of a descriptor; a missing one is an empty list. */
static int find_dacl(const uint8_t *sd, size_t size, struct acl *acl)
{
    *acl = (struct acl){.revision = ACL_REVISION};
    if (size < SD_HEADER_SIZE || sd[0] != SD_REVISION || !(le_get16(sd + 2) & SD_SELF_RELATIVE))
        return -EBADMSG;
    size_t offset = le_get32(sd + 16);
    if (!(le_get16(sd + 2) & SD_DACL_PRESENT) || offset == 0)
        return 0;
    if (offset < SD_HEADER_SIZE || offset > size || size - offset < ACL_HEADER_SIZE)
        return -EBADMSG;
    const uint8_t *header = sd + offset;
    size_t acl_size = le_get16(header + 2);
    acl->revision = header[0];
    acl->count = le_get16(header + 4);
    acl->entries = header + ACL_HEADER_SIZE;
    if ((acl->revision != ACL_REVISION && acl->revision != ACL_REVISION_DS) ||
        acl_size < ACL_HEADER_SIZE || acl_size > size - offset)
        return -EBADMSG;
    size_t room = acl_size - ACL_HEADER_SIZE;
    for (unsigned i = 0; i < acl->count; i++) {
        size_t entry = entry_size(acl->entries, room, acl->size);
        if (entry == 0)
            return -EBADMSG;
        acl->size += entry;
    }
    return 0;
}

/* The size of the entry at offset: a multiple of 4, at least a header. 0: it does not fit. */
static size_t entry_size(const uint8_t *entries, size_t size, size_t offset)
{
    if (size - offset < ACE_HEADER_SIZE)
        return 0;
    size_t entry = le_get16(entries + offset + 2);
    return entry < ACE_HEADER_SIZE || entry % 4 != 0 || entry > size - offset ? 0 : entry;
}

/* Keeps only those of aces that the list lacks. */
static size_t missing_aces(const struct acl *acl, struct ace *aces, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!acl_has(acl, &aces[i]))
            aces[kept++] = aces[i];
    return kept;
}

static bool acl_has(const struct acl *acl, const struct ace *ace)
{
    for (size_t at = 0; at < acl->size; at += le_get16(acl->entries + at + 2))
        if (le_get16(acl->entries + at + 2) == ace->size &&
            memcmp(acl->entries + at, ace->bytes, ace->size) == 0)
            return true;
    return false;
}

/* Copies the explicit or the inherited entries; returns the end of the copy. */
static uint8_t *copy_entries(uint8_t *to, const struct acl *acl, bool inherited, unsigned *count)
{
    for (size_t at = 0, size; at < acl->size; at += size) {
        size = le_get16(acl->entries + at + 2);
        if (((acl->entries[at + 1] & ACE_INHERITED) != 0) != inherited)
            continue;
        memcpy(to, acl->entries + at, size);
        to += size;
        ++*count;
    }
    return to;
}
