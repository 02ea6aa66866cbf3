/* SPDX-License-Identifier: Apache-2.0 */
/* The Notice of Disconnection (RFC 4511 4.4.1): libldap keeps its result code only. */
#include <lber.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/ldap/ldap_connection_private.h"

static const char *find_response(const uint8_t *bytes, size_t size);
static char *printable_copy(const struct berval *text);

char *ldap_notice_text(const uint8_t *bytes, size_t size)
{
    const char *response = find_response(bytes, size);
    if (!response)
        return NULL;
    struct berval rest = {.bv_val = (char *)(uintptr_t)response,
                          .bv_len = (size_t)((const char *)bytes + size - response)};
    struct berval dn, text;
    ber_int_t code;
    BerElement *ber = ber_init(&rest);
    bool parsed = ber && ber_scanf(ber, "{emm", &code, &dn, &text) != LBER_ERROR && text.bv_len;
    char *copy = parsed ? printable_copy(&text) : NULL;
    ber_free(ber, 1);
    return copy;
}

/* The extended response in a message of id 0, which only unsolicited notifications have. */
static const char *find_response(const uint8_t *bytes, size_t size)
{
    static const char id_and_tag[] = {0x02, 0x01, 0x00, LDAP_RES_EXTENDED};
    const char *found = NULL, *at = (const char *)bytes, *end = at + size;
    while (at < end && (at = memmem(at, (size_t)(end - at), id_and_tag, sizeof id_and_tag))) {
        found = at + 3;
        at += sizeof id_and_tag;
    }
    return found;
}

/* Causes are printed and counted, so the text has one line of bounded length. */
static char *printable_copy(const struct berval *text)
{
    enum { TEXT_MAX = 40 };
    char *copy = strndup(text->bv_val, text->bv_len < TEXT_MAX ? text->bv_len : TEXT_MAX);
    for (char *c = copy; c && *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    return copy;
}
