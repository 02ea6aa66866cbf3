/* SPDX-License-Identifier: Apache-2.0 */
/* How the program binds to drsuapi (MS-DRSR 4.1.3, 5.39), and the names of errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include <string.h>

#include "base/little_endian.h"
#include "protocols/rpc/rpc_drsuapi.h"
#include "protocols/rpc/rpc_pdu.h"
#include "protocols/rpc/rpc_play.h"
#include "tests/lib/packets.h"
#include "tests/lib/rpc_script.h"
#include "tests/lib/test_random.h"

struct peer {
    struct rpc_script out; /* first */
    uint8_t extensions[64];
    uint32_t size; /* of the extensions: cb */
    uint32_t status;
};

static void answer(void *context, uint16_t opnum, const void *request, void *reply)
{
    const struct drsuapi_DsBind_request *asked = request;
    struct peer *peer = context;
    assert_int_equal(opnum, DRSUAPI_DS_BIND);
    peer->size = asked->extensions->size;
    assert_true(peer->size <= sizeof peer->extensions);
    memcpy(peer->extensions, asked->extensions->bytes, peer->size);
    ((struct drsuapi_DsBind_reply *)reply)->status = peer->status;
}

static int peer_send(struct rpc_transport *transport, const uint8_t *data, size_t size,
                     bool answered)
{
    struct peer *peer = (struct peer *)transport;
    (void)answered;
    rpc_script_clear(&peer->out);
    if (data[2] == RPC_PDU_REQUEST)
        rpc_script_respond(&peer->out, &rpc_drsuapi, data, size, answer, peer);
    else
        rpc_script_say_pdu(&peer->out, RPC_PDU_BIND_ACK, RPC_PFC_FIRST_FRAG | RPC_PFC_LAST_FRAG,
                           data[12], rpc_script_bind_ack, sizeof rpc_script_bind_ack, 0);
    return 0;
}

static const struct rpc_transport_ops peer_ops = {
    .send = peer_send, .receive = rpc_script_receive, .close = rpc_script_close};

/* Replication binds first, over its own association; status is the server's answer. */
static struct outcome bind_for_replication(struct peer *peer, uint32_t status)
{
    static const struct rpc_binding binding = {.interface = &rpc_drsuapi,
                                               .security = RPC_SECURITY_NONE};
    uint64_t random = 1;
    struct dc *dc = dc_new();
    assert_non_null(dc);
    *peer = (struct peer){.out.base.ops = &peer_ops, .status = status};
    dc->dns_name = strdup("dc1.samdom.test");
    dc->base_dn = strdup("DC=samdom,DC=test");
    struct conversation conversation = {.wire.waiter = wire_blocking_waiter(),
                                        .dc = dc,
                                        .random = test_random,
                                        .random_state = &random};
    conversation_init(&conversation);
    struct rpc_state *state = rpc_state_of(&conversation);
    assert_ok(rpc_bind(&conversation, &peer->out.base, &binding,
                       &state->associations[RPC_SLOT_REPLICATION]));
    struct outcome outcome = form_play(&conversation, "drsuapi", "3", NULL, 0, INT64_C(5000000000));
    conversation_reset(&conversation);
    rpc_script_clear(&peer->out);
    dc_free(dc);
    return outcome;
}

/* Without dwExtCaps, a server with the Recycle Bin refuses GetNCChanges. */
static void a_bind_announces_every_optional_feature(void **state)
{
    (void)state;
    static const uint8_t zeros[48] = {0};
    struct peer peer;
    bind_for_replication(&peer, 87);
    assert_int_equal(peer.size, 4 + 16 + 4 + 4 + 4 + 16 + 4);
    assert_int_equal(le_get32(peer.extensions), 0x04008001);
    assert_memory_equal(peer.extensions + 4, zeros, 16 + 4 + 4);  /* SiteObjGuid, Pid, epoch */
    assert_int_equal(le_get32(peer.extensions + 28), 0);          /* dwFlagsExt */
    assert_memory_equal(peer.extensions + 32, zeros, 16);         /* ConfigObjGUID */
    assert_int_equal(le_get32(peer.extensions + 48), 0xffffffff); /* dwExtCaps */
}

static void errors_of_replication_have_names(void **state)
{
    (void)state;
    static const struct {
        uint32_t status;
        const char *cause;
    } rows[] = {{1306, "ERROR_REVISION_MISMATCH"}, {8453, "ERROR_DS_DRA_ACCESS_DENIED"}};
    for (size_t i = 0; i < 2; i++) {
        struct peer peer;
        assert_failed(bind_for_replication(&peer, rows[i].status), rows[i].cause);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bind_announces_every_optional_feature),
        cmocka_unit_test(errors_of_replication_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
