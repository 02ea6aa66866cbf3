/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The secure channel of the client's machine (MS-NRPC 3.4.5): setting it up, and recovering when
 * the server has lost it. netlogon_channel.h has the keys and the arithmetic.
 */
#ifndef PROTOCOLS_RPC_RPC_CHANNEL_H
#define PROTOCOLS_RPC_RPC_CHANNEL_H

#include "protocols/rpc/rpc_play.h"

/* Sets up the channel if there is none (ServerReqChallenge, ServerAuthenticate3). First makes an
 * attempt with a wrong key if -B asks for one. */
struct outcome rpc_channel_need(struct conversation *conversation);

/* True if rpc_netlogon:30 may change the machine's password: the program created the account. */
bool rpc_channel_owns_password(const struct conversation *conversation);

/* ServerReqChallenge: a new challenge, which is valid for one ServerAuthenticate3. */
struct outcome rpc_channel_challenge(struct conversation *conversation);

/* ServerAuthenticate3, preceded by a challenge if there is none. Finds out once which type of
 * channel the machine's account is for (MS-NRPC 3.5.4.4.2). If the machine has the password to
 * which rpc_netlogon:30 changes it for a moment, because a run ended in between, authenticates with
 * that and sets state->other_password. */
struct outcome rpc_channel_authenticate(struct conversation *conversation);

/* True if the fault of the last rpc_play_call() means that the server no longer knows the channel.
 * Once the association has answered a call, "access denied" refuses only that call. */
bool rpc_channel_lost(const struct conversation *conversation);

/* Drops the channel and the associations that it secures. */
void rpc_channel_forget(struct conversation *conversation);

#endif
