/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Network logons that a member server passes on to its DC (MS-NRPC 3.2.4.1): the conversation's
 * machine has sent a challenge to the conversation's user and forwards the NTLMv2 response.
 */
#ifndef PROTOCOLS_RPC_NETLOGON_NETLOGON_LOGON_H
#define PROTOCOLS_RPC_NETLOGON_NETLOGON_LOGON_H

#include "base/arena.h"
#include "protocols/rpc/rpc_play.h"

/* Fills network for the user's logon to the machine computer, a NetBIOS name. Its texts and the
 * response live in arena, the names as long as the conversation. */
struct outcome netlogon_logon_make(const struct conversation *conversation, char *computer,
                                   struct arena *arena, struct netlogon_network *network);

/* "stgm-0-1.samdom.example.com" in arena; NULL: out of memory. */
char *netlogon_dns_name(const struct conversation *conversation, const char *computer,
                        struct arena *arena);

#endif
