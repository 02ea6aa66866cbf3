/* SPDX-License-Identifier: Apache-2.0 */
/* The associations of a conversation: transport, security and account of each slot. */
#include "protocols/rpc/rpc_play.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/ntstatus.h"
#include "protocols/rpc/rpc_channel.h"
#include "protocols/rpc/rpc_epm.h"

static const struct slot_row {
    const struct rpc_interface *interface;
    enum rpc_security security;
    bool pipe;
    enum smb2_who who;   /* pipes */
    const char *service; /* SPNEGO with Kerberos */
} slots[RPC_SLOT_COUNT] = {
    [RPC_SLOT_NETLOGON] = {&rpc_netlogon, RPC_SECURITY_NONE, false, SMB2_USER, NULL},
    [RPC_SLOT_NETLOGON_SECURE] = {&rpc_netlogon, RPC_SECURITY_NETLOGON, false, SMB2_USER, NULL},
    [RPC_SLOT_NETLOGON_LOCATOR] = {&rpc_netlogon, RPC_SECURITY_SPNEGO, false, SMB2_USER, "host"},
    [RPC_SLOT_LSARPC_SECURE] = {&rpc_lsarpc, RPC_SECURITY_NETLOGON, false, SMB2_USER, NULL},
    [RPC_SLOT_LSARPC] = {&rpc_lsarpc, RPC_SECURITY_NONE, true, SMB2_MACHINE, NULL},
    [RPC_SLOT_SRVSVC] = {&rpc_srvsvc, RPC_SECURITY_NONE, true, SMB2_USER, NULL},
    [RPC_SLOT_SAMR] = {&rpc_samr, RPC_SECURITY_SPNEGO, false, SMB2_USER, "host"},
    [RPC_SLOT_DRSUAPI] = {&rpc_drsuapi, RPC_SECURITY_SPNEGO, false, SMB2_USER, "ldap"},
    [RPC_SLOT_REPLICATION] = {&rpc_drsuapi, RPC_SECURITY_SPNEGO, false, SMB2_USER, "ldap"},
};

/* What open_and_bind() opens, and the answer that it got. */
struct bind_attempt {
    enum rpc_slot slot;
    bool wrong_password;
    enum rpc_answer answer;
};

static void rpc_reset(struct conversation *conversation);
static struct outcome need_over_channel(struct conversation *conversation, enum rpc_slot slot);
static struct outcome bind_slot(struct conversation *conversation, enum rpc_slot slot);
static struct outcome open_and_bind(struct conversation *conversation, struct bind_attempt *attempt,
                                    struct rpc_association **out);
static struct outcome open_and_bind_once(struct conversation *conversation,
                                         struct bind_attempt *attempt,
                                         struct rpc_association **out);
static const struct account *binding_account(const struct conversation *conversation,
                                             enum rpc_slot slot);
static struct outcome open_transport(struct conversation *conversation, enum rpc_slot slot,
                                     struct rpc_transport **transport);
static struct outcome attempt_wrong_password(struct conversation *conversation, enum rpc_slot slot);

struct rpc_state *rpc_state_of(struct conversation *conversation)
{
    if (conversation->rpc)
        return conversation->rpc;
    struct rpc_state *state = calloc(1, sizeof *state);
    if (!state)
        return NULL;
    state->base.reset = rpc_reset;
    /* Accounts from a file may have no machines if no packet needs one. */
    const char *name = conversation->machine ? conversation->machine->name : "CLIENT";
    snprintf(state->computer, sizeof state->computer, "%.*s", (int)strcspn(name, "$"), name);
    state->channel.computer = state->computer;
    state->channel.domain = conversation->dc->netbios_domain;
    state->channel_type = NETLOGON_CHANNEL_WORKSTATION;
    state->validation_level = NETLOGON_VALIDATION_SAM_INFO4;
    conversation->rpc = state;
    return state;
}

static void rpc_reset(struct conversation *conversation)
{
    struct rpc_state *state = conversation->rpc;
    if (!state)
        return;
    for (int slot = 0; slot < RPC_SLOT_COUNT; slot++)
        rpc_association_close(state->associations[slot]);
    explicit_bzero(state, sizeof *state);
    free(state);
    conversation->rpc = NULL;
}

void rpc_drop(struct conversation *conversation, enum rpc_slot slot)
{
    struct rpc_state *state = conversation->rpc;
    rpc_association_close(state->associations[slot]);
    state->associations[slot] = NULL;
    if (slot == RPC_SLOT_SAMR)
        memset(state->samr, 0, sizeof state->samr);
    else if (slot == RPC_SLOT_LSARPC)
        state->policy.open = false;
    else if (slot == RPC_SLOT_DRSUAPI)
        state->drs.open = false;
    else if (slot == RPC_SLOT_REPLICATION)
        state->replication.open = false;
}

struct outcome rpc_need(struct conversation *conversation, enum rpc_slot slot)
{
    struct rpc_state *state = rpc_state_of(conversation);
    if (!state)
        return outcome_of_error(-ENOMEM);
    if (state->associations[slot] && rpc_association_broken(state->associations[slot]))
        rpc_drop(conversation, slot);
    if (state->associations[slot])
        return outcome_ok();
    if (slots[slot].security == RPC_SECURITY_NETLOGON)
        return need_over_channel(conversation, slot);
    struct outcome outcome = attempt_wrong_password(conversation, slot);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    return bind_slot(conversation, slot);
}

/* Opens a channel and the association that it secures. A server that was restarted has forgotten
 * the channel and refuses the bind; then a new channel is set up over a new connection, once. */
static struct outcome need_over_channel(struct conversation *conversation, enum rpc_slot slot)
{
    struct rpc_state *state = conversation->rpc;
    bool had_channel = state->channel.authenticated;
    struct outcome outcome = rpc_channel_need(conversation);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    outcome = bind_slot(conversation, slot);
    if (!had_channel || outcome.kind != OUTCOME_FAILED)
        return outcome;
    rpc_channel_forget(conversation);
    rpc_drop(conversation, RPC_SLOT_NETLOGON);
    outcome = rpc_channel_need(conversation);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    return bind_slot(conversation, slot);
}

static struct outcome bind_slot(struct conversation *conversation, enum rpc_slot slot)
{
    struct bind_attempt attempt = {.slot = slot};
    return open_and_bind(conversation, &attempt, &conversation->rpc->associations[slot]);
}

/* After a restart of the DC, the cached port may belong to another server. If that is the server of
 * another interface, the endpoint mapper is asked again at once. Any other server does not answer
 * or closes the connection, and the next bind asks the mapper. */
static struct outcome open_and_bind(struct conversation *conversation, struct bind_attempt *attempt,
                                    struct rpc_association **out)
{
    const struct slot_row *row = &slots[attempt->slot];
    struct outcome outcome = open_and_bind_once(conversation, attempt, out);
    if (row->pipe || outcome.kind != OUTCOME_FAILED || attempt->answer == RPC_ANSWER_GIVEN)
        return outcome;
    rpc_ports_remember(conversation->dc->rpc_ports, row->interface, 0);
    if (attempt->answer == RPC_ANSWER_ELSEWHERE)
        outcome = open_and_bind_once(conversation, attempt, out);
    return outcome;
}

static struct outcome open_and_bind_once(struct conversation *conversation,
                                         struct bind_attempt *attempt, struct rpc_association **out)
{
    const struct slot_row *row = &slots[attempt->slot];
    const struct account *account = binding_account(conversation, attempt->slot);
    struct rpc_transport *transport;
    attempt->answer = RPC_ANSWER_NONE;
    struct outcome outcome = open_transport(conversation, attempt->slot, &transport);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    struct rpc_binding binding = {.interface = row->interface,
                                  .security = row->security,
                                  .level = AUTH_LEVEL_PRIVACY,
                                  .account = account,
                                  .kerberos = conversation->kerberos || !account->password,
                                  .service = row->service,
                                  .wrong_password = attempt->wrong_password,
                                  .channel = &conversation->rpc->channel,
                                  .answer = &attempt->answer};
    return rpc_bind(conversation, transport, &binding, out);
}

/* The account that binds: the administrator's for replication and, without --samr-as-user, for
 * SAMR; the machine's to find a DC, as its Netlogon service does; otherwise the user's. */
static const struct account *binding_account(const struct conversation *conversation,
                                             enum rpc_slot slot)
{
    bool admin = slot == RPC_SLOT_REPLICATION ||
                 (slot == RPC_SLOT_SAMR && !conversation->dc->options.samr_as_user);
    return admin                               ? &conversation->dc->admin
           : slot == RPC_SLOT_NETLOGON_LOCATOR ? conversation->machine
                                               : conversation->user;
}

static struct outcome open_transport(struct conversation *conversation, enum rpc_slot slot,
                                     struct rpc_transport **transport)
{
    const struct slot_row *row = &slots[slot];
    if (row->pipe)
        return rpc_pipe_open(conversation, row->who, row->interface->pipe, transport);
    return rpc_tcp_open(conversation, row->interface, transport);
}

/* -B: binds with a wrong password if one is due. The administrator never does, so that the account
 * is not locked; with Kerberos the KDC gets the wrong password instead. Without an answer from the
 * server, no password was refused. */
static struct outcome attempt_wrong_password(struct conversation *conversation, enum rpc_slot slot)
{
    struct rpc_association *association = NULL;
    struct bind_attempt attempt = {.slot = slot, .wrong_password = true};
    if (slots[slot].security != RPC_SECURITY_SPNEGO || conversation->kerberos ||
        binding_account(conversation, slot) == &conversation->dc->admin ||
        !conversation_wants_bad_password(conversation))
        return outcome_ok();
    struct outcome outcome = open_and_bind(conversation, &attempt, &association);
    rpc_association_close(association);
    if (outcome.kind == OUTCOME_OK)
        return outcome_failed("a wrong password was accepted");
    if (outcome.kind == OUTCOME_UNFINISHED || attempt.answer != RPC_ANSWER_GIVEN)
        return outcome;
    conversation->expected_failures++;
    return outcome_ok();
}

struct outcome rpc_play_call(struct conversation *conversation, enum rpc_slot slot, uint16_t opnum,
                             void *request, void *reply, struct arena *arena)
{
    struct outcome outcome = rpc_need(conversation, slot);
    struct rpc_state *state = conversation->rpc;
    if (state)
        state->fault = 0;
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    struct rpc_association *association = state->associations[slot];
    state->first_call = !rpc_association_answered(association);
    outcome = rpc_call(association, rpc_procedure_find(slots[slot].interface, opnum), request,
                       reply, arena);
    state->fault = rpc_association_fault(association);
    if (outcome.kind != OUTCOME_OK && rpc_association_broken(association))
        rpc_drop(conversation, slot);
    return outcome;
}

struct outcome rpc_play_ntstatus(struct conversation *conversation, enum rpc_slot slot,
                                 uint16_t opnum, void *request, void *reply, const uint32_t *status,
                                 struct arena *arena)
{
    struct outcome outcome = rpc_play_call(conversation, slot, opnum, request, reply, arena);
    return outcome.kind == OUTCOME_OK ? ntstatus_outcome(*status) : outcome;
}

struct outcome rpc_play_werror(struct conversation *conversation, enum rpc_slot slot,
                               uint16_t opnum, void *request, void *reply, const uint32_t *status,
                               struct arena *arena)
{
    struct outcome outcome = rpc_play_call(conversation, slot, opnum, request, reply, arena);
    return outcome.kind == OUTCOME_OK ? rpc_werror_outcome(*status, false) : outcome;
}

void rpc_level_fill(const struct packet_details *details, void *compiled)
{
    struct rpc_level_details *level = compiled;
    level->level = (uint16_t)packet_details_get(details, "level")->number;
}

char *rpc_server_name(const struct conversation *conversation, struct arena *arena)
{
    size_t size = strlen(conversation->dc->dns_name) + 3;
    char *name = arena_alloc(arena, size);
    if (name)
        snprintf(name, size, "\\\\%s", conversation->dc->dns_name);
    return name;
}

struct outcome rpc_werror_outcome(uint32_t error, bool more_data)
{
    static const struct {
        uint32_t error;
        const char *name;
    } names[] = {{2, "ERROR_FILE_NOT_FOUND"},
                 {5, "ERROR_ACCESS_DENIED"},
                 {8, "ERROR_NOT_ENOUGH_MEMORY"},
                 {50, "ERROR_NOT_SUPPORTED"},
                 {53, "ERROR_BAD_NETPATH"},
                 {87, "ERROR_INVALID_PARAMETER"},
                 {124, "ERROR_INVALID_LEVEL"},
                 {234, "ERROR_MORE_DATA"},
                 {1212, "ERROR_INVALID_DOMAINNAME"},
                 {1306, "ERROR_REVISION_MISMATCH"},
                 {1311, "ERROR_NO_LOGON_SERVERS"},
                 {1355, "ERROR_NO_SUCH_DOMAIN"},
                 {2310, "NERR_NetNameNotFound"},
                 {8439, "ERROR_DS_DRA_BAD_DN"},
                 {8440, "ERROR_DS_DRA_BAD_NC"},
                 {8452, "ERROR_DS_DRA_NO_REPLICA"},
                 {8453, "ERROR_DS_DRA_ACCESS_DENIED"},
                 {8647, "ERROR_DS_SPN_VALUE_NOT_UNIQUE_IN_FOREST"}};
    if (error == 0 || (more_data && error == 234))
        return outcome_ok();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].error == error)
            return outcome_failed("%s", names[i].name);
    return outcome_failed("WERROR %u", error);
}
