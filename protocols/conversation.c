/* SPDX-License-Identifier: Apache-2.0 */
#include "protocols/conversation.h"

#include <stddef.h>

#include "protocols/kerberos/kerberos.h"
#include "protocols/ldap/ldap_private.h"
#include "protocols/names/cldap.h"
#include "protocols/rpc/rpc_play.h"
#include "protocols/smb2/smb2.h"

/* Each protocol's way to drop what it holds; called at a conversation's end. */
static void (*const reset_functions[])(struct conversation *) = {
    cldap_reset,
    ldap_reset,
    /* before SMB2, whose pipes it uses */
    rpc_reset,
    smb2_reset,
    /* last: what is above may still use its credentials */
    kerberos_reset,
    NULL,
};

void conversation_init(struct conversation *conversation)
{
    conversation->kerberos = conversation->dc->options.prefer_kerberos;
    conversation->last_auth_was_wrong = false;
}

void conversation_reset(struct conversation *conversation)
{
    for (size_t i = 0; reset_functions[i]; i++)
        reset_functions[i](conversation);
    conversation_init(conversation);
}

uint64_t conversation_random(struct conversation *conversation, uint64_t bound)
{
    unsigned __int128 wide =
        (unsigned __int128)conversation->random(conversation->random_state) * bound;
    return (uint64_t)(wide >> 64);
}

bool conversation_wants_bad_password(struct conversation *conversation)
{
    double frequency = conversation->dc->options.badpassword_frequency;
    double draw = (double)(conversation->random(conversation->random_state) >> 11) * 0x1p-53;
    bool wanted = !conversation->last_auth_was_wrong && draw < frequency;
    conversation->last_auth_was_wrong = wanted;
    return wanted;
}
