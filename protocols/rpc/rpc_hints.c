/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dcerpc:15 and dcerpc:16 show how the recorded client authenticated: an alter_context_resp belongs
 * to Kerberos in SPNEGO, an AUTH3 to NTLM. They send nothing. If the conversation authenticates in
 * the other way, a warning is printed once per run.
 */
#include <stdatomic.h>

#include "base/message.h"
#include "protocols/conversation.h"
#include "protocols/packet_players.h"

static struct outcome play_alter_context_resp(struct conversation *conversation,
                                              const void *details);
static struct outcome warn_once(atomic_flag *printed, bool mismatch, const char *text);
static struct outcome play_auth3(struct conversation *conversation, const void *details);

const struct packet_player packet_players_hints[] = {
    {.name = "dcerpc:15", .play = play_alter_context_resp},
    {.name = "dcerpc:16", .play = play_auth3},
    {.name = NULL},
};

static struct outcome play_alter_context_resp(struct conversation *conversation,
                                              const void *details)
{
    (void)details;
    static atomic_flag printed = ATOMIC_FLAG_INIT;
    return warn_once(&printed, !conversation->kerberos,
                     "the model has dcerpc:15 (an RPC bind with Kerberos) in a conversation that "
                     "uses NTLM; to use Kerberos in all conversations, add -K");
}

static struct outcome warn_once(atomic_flag *printed, bool mismatch, const char *text)
{
    if (mismatch && !atomic_flag_test_and_set(printed))
        message_print("%s", text);
    return outcome_nothing();
}

static struct outcome play_auth3(struct conversation *conversation, const void *details)
{
    (void)details;
    static atomic_flag printed = ATOMIC_FLAG_INIT;
    return warn_once(&printed, conversation->kerberos,
                     "the model has dcerpc:16 (an RPC bind with NTLM) in a conversation that uses "
                     "Kerberos");
}
