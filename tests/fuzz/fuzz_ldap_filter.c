/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer target: filters of a model. A filled filter is complete: filling it again changes
 * nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "protocols/ldap/ldap_filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t chance(void *state)
{
    (void)state;
    return 0;
}

static char *fill(const char *text)
{
    static struct account user = {.name = "a(*)b", .dn = "CN=a"};
    static struct dc dc = {
        .users = &user, .account_count = 1, .base_dn = "DC=x", .dns_domain = "x"};
    struct conversation conversation = {.dc = &dc, .user = &user, .random = chance};
    struct error error = {0};
    struct ldap_filter *filter = ldap_filter_parse(text, &error);
    if (!filter)
        return NULL;
    char *filled = ldap_filter_fill(filter, &conversation);
    ldap_filter_free(filter);
    return filled;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    char *filled = fill(text);
    if (filled) {
        char *again = fill(filled);
        if (strlen(filled) <= LDAP_FILTER_SIZE_MAX && (!again || strcmp(again, filled) != 0))
            abort();
        free(again);
    }
    free(filled);
    free(text);
    return 0;
}
