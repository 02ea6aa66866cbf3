/* SPDX-License-Identifier: Apache-2.0 */
#include "protocols/rpc/rpc_channel.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <nettle/memops.h>
#include <string.h>

#include "base/secret.h"
#include "protocols/auth/ntlmssp.h"
#include "protocols/ntstatus.h"

enum {
    STATUS_ACCESS_DENIED = 0xc0000022,
    STATUS_NO_TRUST_SAM_ACCOUNT = 0xc000018b,
    STATUS_DOWNGRADE_DETECTED = 0xc0000388,
    FAULT_ACCESS_DENIED = 5,
    FAULT_SEC_PKG_ERROR = 0x721
};

static struct outcome attempt_wrong_key(struct conversation *conversation);
static struct outcome try_authenticate(struct conversation *conversation, const uint8_t nt_hash[16],
                                       uint32_t *status);
static struct outcome authenticate_with(struct conversation *conversation,
                                        const uint8_t nt_hash[16], uint32_t *status);
static bool other_hash(const struct conversation *conversation, uint8_t hash[16]);

struct outcome rpc_channel_need(struct conversation *conversation)
{
    struct rpc_state *state = rpc_state_of(conversation);
    if (!state)
        return outcome_of_error(-ENOMEM);
    if (state->channel.authenticated)
        return outcome_ok();
    struct outcome outcome = attempt_wrong_key(conversation);
    return outcome.kind == OUTCOME_OK ? rpc_channel_authenticate(conversation) : outcome;
}

/* -B: makes an attempt with a wrong key if one is due. */
static struct outcome attempt_wrong_key(struct conversation *conversation)
{
    uint8_t wrong[16];
    uint32_t status = 0;
    if (!conversation_wants_bad_password(conversation))
        return outcome_ok();
    for (int i = 0; i < 16; i++)
        wrong[i] = conversation->machine->nt_hash[i] ^ 0x5a;
    struct outcome outcome = rpc_channel_challenge(conversation);
    if (outcome.kind == OUTCOME_OK)
        outcome = try_authenticate(conversation, wrong, &status);
    explicit_bzero(wrong, sizeof wrong);
    if (outcome.kind == OUTCOME_OK)
        return outcome_failed("a wrong password was accepted");
    if (outcome.kind == OUTCOME_UNFINISHED || status == 0)
        return outcome;
    conversation->expected_failures++;
    return outcome_ok();
}

struct outcome rpc_channel_challenge(struct conversation *conversation)
{
    struct rpc_state *state = rpc_state_of(conversation);
    struct arena arena = {0};
    struct netlogon_ServerReqChallenge_reply reply = {.status = 0};
    if (!state)
        return outcome_of_error(-ENOMEM);
    struct netlogon_ServerReqChallenge_request request = {
        .server_name = rpc_server_name(conversation, &arena), .computer_name = state->computer};
    struct outcome outcome;
    if (gnutls_rnd(GNUTLS_RND_NONCE, state->channel.client_challenge, 8) < 0) {
        outcome = outcome_failed("no random bytes");
    } else {
        memcpy(request.client_challenge, state->channel.client_challenge, 8);
        outcome = rpc_play_call(conversation, RPC_SLOT_NETLOGON, NETLOGON_SERVER_REQ_CHALLENGE,
                                &request, &reply, &arena);
    }
    if (outcome.kind == OUTCOME_OK)
        outcome = ntstatus_outcome(reply.status);
    if (outcome.kind == OUTCOME_OK) {
        memcpy(state->channel.server_challenge, reply.server_challenge, 8);
        state->channel.challenged = true;
    }
    arena_free(&arena);
    return outcome;
}

/* One ServerAuthenticate3 with the present challenge. *status is the server's. */
static struct outcome try_authenticate(struct conversation *conversation, const uint8_t nt_hash[16],
                                       uint32_t *status)
{
    struct rpc_state *state = conversation->rpc;
    struct arena arena = {0};
    struct netlogon_ServerAuthenticate3_reply reply = {.status = 0};
    uint8_t expected[8];
    netlogon_channel_compute(&state->channel, nt_hash, expected);
    struct netlogon_ServerAuthenticate3_request request = {
        .server_name = rpc_server_name(conversation, &arena),
        .account_name = conversation->machine->name,
        .channel_type = state->channel_type,
        .computer_name = state->computer,
        .flags = NETLOGON_NEGOTIATE_FLAGS};
    memcpy(request.client_credential, state->channel.client_credential, 8);
    state->channel.challenged = false; /* a challenge is valid for one attempt */
    struct outcome outcome = rpc_play_call(conversation, RPC_SLOT_NETLOGON,
                                           NETLOGON_SERVER_AUTHENTICATE3, &request, &reply, &arena);
    arena_free(&arena);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    *status = reply.status;
    if (reply.status == STATUS_DOWNGRADE_DETECTED)
        return outcome_failed("NT_STATUS_DOWNGRADE_DETECTED (the DC refuses AES secure channels)");
    if (reply.status != NTSTATUS_SUCCESS)
        return ntstatus_outcome(reply.status);
    if (!memeql_sec(expected, reply.server_credential, 8))
        return outcome_failed("netlogon: the server's credential does not verify");
    if (!(reply.flags & NETLOGON_NEGOTIATE_AES))
        return outcome_failed("netlogon: the server does not support AES");
    state->channel.authenticated = true;
    return outcome;
}

struct outcome rpc_channel_authenticate(struct conversation *conversation)
{
    struct rpc_state *state = rpc_state_of(conversation);
    uint8_t other[ACCOUNT_NT_HASH_SIZE];
    uint32_t status = 0;
    if (!state)
        return outcome_of_error(-ENOMEM);
    if (!conversation->machine->has_nt_hash)
        return outcome_failed("no credentials for the account");
    state->other_password = false;
    struct outcome outcome =
        authenticate_with(conversation, conversation->machine->nt_hash, &status);
    if (outcome.kind != OUTCOME_FAILED || status != STATUS_ACCESS_DENIED ||
        !other_hash(conversation, other))
        return outcome;
    if (authenticate_with(conversation, other, &status).kind == OUTCOME_OK) {
        state->other_password = true;
        outcome = outcome_ok();
    }
    explicit_bzero(other, sizeof other);
    return outcome;
}

/* *status is the server's last one. */
static struct outcome authenticate_with(struct conversation *conversation,
                                        const uint8_t nt_hash[16], uint32_t *status)
{
    struct rpc_state *state = conversation->rpc;
    for (int attempt = 0;; attempt++) {
        *status = 0;
        struct outcome outcome =
            state->channel.challenged ? outcome_ok() : rpc_channel_challenge(conversation);
        if (outcome.kind == OUTCOME_OK)
            outcome = try_authenticate(conversation, nt_hash, status);
        if (outcome.kind != OUTCOME_FAILED || attempt > 0 || *status != STATUS_NO_TRUST_SAM_ACCOUNT)
            return outcome;
        state->channel_type = state->channel_type == NETLOGON_CHANNEL_SERVER
                                  ? NETLOGON_CHANNEL_WORKSTATION
                                  : NETLOGON_CHANNEL_SERVER;
    }
}

/* The NT hash of netlogon_other_password(). False: the account cannot have it. */
static bool other_hash(const struct conversation *conversation, uint8_t hash[16])
{
    char *other = NULL;
    if (!rpc_channel_owns_password(conversation) ||
        netlogon_other_password(conversation->machine->password, &other) < 0)
        return false;
    bool good = ntlmssp_nt_hash(other, hash) == 0;
    secret_free(other);
    return good;
}

bool rpc_channel_owns_password(const struct conversation *conversation)
{
    return conversation->dc->instance_dn && conversation->machine->password;
}

bool rpc_channel_lost(const struct conversation *conversation)
{
    const struct rpc_state *state = conversation->rpc;
    return state->fault == FAULT_SEC_PKG_ERROR ||
           (state->fault == FAULT_ACCESS_DENIED && state->first_call);
}

void rpc_channel_forget(struct conversation *conversation)
{
    struct rpc_state *state = conversation->rpc;
    rpc_drop(conversation, RPC_SLOT_NETLOGON_SECURE);
    rpc_drop(conversation, RPC_SLOT_LSARPC_SECURE);
    state->channel.authenticated = false;
    state->channel.challenged = false;
}
