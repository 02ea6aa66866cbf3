/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: everything that a server answers to a bind and to calls, PDU after PDU:
 * headers, bind_acks, tokens, faults, fragments, and the towers of ept_map. The first byte selects
 * the security and its level.
 */
#include <string.h>

#include "protocols/rpc/rpc_association.h"
#include "protocols/rpc/rpc_epm.h"
#include "tests/lib/rpc_script.h"
#include "tests/lib/test_random.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int script_send(struct rpc_transport *transport, const uint8_t *data, size_t size,
                       bool answered)
{
    (void)transport, (void)data, (void)size, (void)answered;
    return 0;
}

static const struct rpc_transport_ops script_ops = {
    .send = script_send, .receive = rpc_script_receive, .close = rpc_script_close};

static void call(struct rpc_association *association)
{
    struct arena arena = {0};
    struct epm_tower tower;
    struct epm_Map_request request = {.tower = &tower, .max_towers = 4};
    struct epm_Map_reply reply;
    if (epm_tower_build(&rpc_samr, &arena, &tower) == 0 &&
        rpc_call(association, rpc_procedure_find(&rpc_epm, 3), &request, &reply, &arena).kind ==
            OUTCOME_OK)
        for (uint32_t i = 0; i < reply.count; i++)
            if (reply.towers[i])
                (void)epm_tower_port(reply.towers[i]);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum rpc_security securities[] = {RPC_SECURITY_NONE, RPC_SECURITY_SPNEGO,
                                                   RPC_SECURITY_NTLM, RPC_SECURITY_NETLOGON};
    static struct dc *dc;
    static char name[] = "user", computer[] = "PC", domain[] = "DOM";
    struct account user = {.name = name, .has_nt_hash = true};
    struct netlogon_channel channel = {.computer = computer, .domain = domain};
    uint64_t random = 0;
    if (!dc)
        dc = dc_new();
    if (!dc || size < 1)
        return 0;
    struct conversation conversation = {
        .dc = dc, .user = &user, .random = test_random, .random_state = &random};
    struct rpc_script script = {.base.ops = &script_ops};
    memcpy(rpc_script_room(&script, size - 1), data + 1, size - 1);
    struct rpc_binding binding = {.interface = &rpc_epm,
                                  .security = securities[data[0] & 3],
                                  .level = data[0] & 4 ? AUTH_LEVEL_INTEGRITY : AUTH_LEVEL_PRIVACY,
                                  .account = &user,
                                  .service = "host",
                                  .channel = &channel};
    struct rpc_association *association;
    if (rpc_bind(&conversation, &script.base, &binding, &association).kind == OUTCOME_OK) {
        while (script.at < script.size && !rpc_association_broken(association))
            call(association);
        rpc_association_close(association);
    }
    rpc_script_clear(&script);
    return 0;
}
