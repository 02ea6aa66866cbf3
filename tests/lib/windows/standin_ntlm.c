/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/windows/standin_ntlm.h"

#include <stdlib.h>

#include "base/little_endian.h"
#include "base/utf16.h"
#include "protocols/auth/ntlmssp.h"

static char *name_in(struct spnego_slice message, unsigned field);

bool standin_ntlm_verify(struct standin *standin, struct ntlm_acceptor *acceptor,
                         struct spnego_slice message, uint8_t key[16], char user[STANDIN_NAME])
{
    char *domain = name_in(message, 28), *name = name_in(message, 36);
    bool right = false;
    acceptor->user = name;
    acceptor->domain = domain;
    for (int i = 0; name && domain && !right && i < STANDIN_PASSWORDS; i++)
        right = ntlmssp_nt_hash(standin->passwords[i], acceptor->nt_hash) == 0 &&
                ntlm_acceptor_authenticate(acceptor, message.data, message.size, key);
    if (right)
        snprintf(user, STANDIN_NAME, "%s\\%s", domain, name);
    acceptor->user = acceptor->domain = NULL;
    free(domain);
    free(name);
    return right;
}

/* A name of an AUTHENTICATE_MESSAGE, whose fields (length, capacity, offset) are at `field`. */
static char *name_in(struct spnego_slice message, unsigned field)
{
    char *name = NULL;
    if (message.size < 64)
        return NULL;
    size_t length = le_get16(message.data + field), at = le_get32(message.data + field + 4);
    if (at <= message.size && length <= message.size - at)
        utf16le_to_utf8(message.data + at, length, &name);
    return name;
}
