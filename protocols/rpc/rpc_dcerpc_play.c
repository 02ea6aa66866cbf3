/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of DCERPC itself: ept_map of the endpoint mapper (TCP 135), and two hints of a recording.
 */
#include <stdatomic.h>

#include "base/message.h"
#include "protocols/packet_players.h"
#include "protocols/rpc/rpc_play.h"

static struct outcome play_alter_context_resp(struct conversation *conversation,
                                              const void *details);
static struct outcome warn_once(atomic_flag *printed, bool mismatch, const char *text);
static struct outcome play_auth3(struct conversation *conversation, const void *details);
static struct outcome play_map(struct conversation *conversation, const void *details);
static const struct rpc_interface *interface_wanted(const struct conversation *conversation);

const struct packet_player packet_players_dcerpc[] = {
    {.name = "dcerpc:15", .play = play_alter_context_resp},
    {.name = "dcerpc:16", .play = play_auth3},
    {.name = "epm:3", .play = play_map},
    {.name = NULL},
};

/*
 * dcerpc:15 and dcerpc:16 show how the recorded client authenticated: an alter_context_resp belongs
 * to Kerberos in SPNEGO, an AUTH3 to NTLM. They send nothing. If the conversation authenticates in
 * the other way, a warning is printed once per run.
 */
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

static struct outcome play_map(struct conversation *conversation, const void *details)
{
    (void)details;
    uint16_t port;
    return rpc_map_port(conversation, interface_wanted(conversation), &port);
}

/* The interface that the conversation will use next is unknown. This is the first one with a TCP
 * port that it has no association with; members of a domain ask for netlogon first. */
static const struct rpc_interface *interface_wanted(const struct conversation *conversation)
{
    static const struct {
        enum rpc_slot slot;
        const struct rpc_interface *interface;
    } order[] = {{RPC_SLOT_NETLOGON_SECURE, &rpc_netlogon},
                 {RPC_SLOT_LSARPC_SECURE, &rpc_lsarpc},
                 {RPC_SLOT_SAMR, &rpc_samr},
                 {RPC_SLOT_DRSUAPI, &rpc_drsuapi}};
    for (size_t i = 0; conversation->rpc && i < sizeof order / sizeof order[0]; i++)
        if (!conversation->rpc->associations[order[i].slot])
            return order[i].interface;
    return &rpc_netlogon;
}
