/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer target: CLDAP replies, and the netlogon value alone. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "protocols/names/cldap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void visit(void *context, const char *attribute, const struct berval *values, size_t count)
{
    (void)context;
    struct cldap_netlogon netlogon;
    for (size_t i = 0; i < count && strcasecmp(attribute, "netlogon") == 0; i++)
        cldap_netlogon_parse((const uint8_t *)values[i].bv_val, values[i].bv_len, &netlogon);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cldap_netlogon netlogon;
    cldap_netlogon_parse(data, size, &netlogon);
    uint8_t *copy = malloc(size + 1);
    if (!copy)
        return 0;
    memcpy(copy, data, size);
    cldap_reply_parse(copy, size, visit, NULL);
    free(copy);
    return 0;
}
