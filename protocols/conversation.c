/* SPDX-License-Identifier: Apache-2.0 */
/* What all protocols share of a conversation: its start, its end and its random choices. */
#include "protocols/conversation.h"

#include <stddef.h>

static void reset_state(struct conversation *conversation, void *state);

void conversation_init(struct conversation *conversation)
{
    conversation->kerberos = conversation->dc->options.prefer_kerberos;
    conversation->last_auth_was_wrong = false;
}

void conversation_reset(struct conversation *conversation)
{
    reset_state(conversation, conversation->cldap);
    reset_state(conversation, conversation->ldap);
    reset_state(conversation, conversation->rpc);    /* before SMB2, whose pipes it uses */
    reset_state(conversation, conversation->nbench); /* before SMB2, whose files it uses */
    reset_state(conversation, conversation->smb2);
    reset_state(conversation, conversation->krb5); /* last: the others use its credentials */
    conversation_init(conversation);
}

/* state is NULL, or begins with struct conversation_state. */
static void reset_state(struct conversation *conversation, void *state)
{
    if (state)
        ((struct conversation_state *)state)->reset(conversation);
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
