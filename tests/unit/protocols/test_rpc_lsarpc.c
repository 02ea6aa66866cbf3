/* SPDX-License-Identifier: Apache-2.0 */
/* What lsarpc's look-ups ask for (MS-LSAT 3.1.4), and which answers are successes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include <string.h>

#include "protocols/rpc/rpc_lsarpc.h"
#include "protocols/rpc/rpc_pdu.h"
#include "protocols/rpc/rpc_play.h"
#include "tests/lib/packets.h"
#include "tests/lib/rpc_script.h"
#include "tests/lib/test_random.h"

enum { NONE_MAPPED = 0xc0000073, SOME_NOT_MAPPED = 0x107 };

struct peer {
    struct rpc_script out; /* first */
    uint32_t status;       /* of each reply */
    unsigned calls;
    uint32_t count; /* of what the last request looked up */
    char name[64];
    struct ndr_sid sid;
};

static void hear_name(struct peer *peer, uint32_t count, char **names)
{
    peer->count = count;
    snprintf(peer->name, sizeof peer->name, "%s", names[0]);
}

static void hear_sid(struct peer *peer, uint32_t count, struct ndr_sid **sids)
{
    peer->count = count;
    peer->sid = *sids[0];
}

static void answer(void *context, uint16_t opnum, const void *request, void *reply)
{
    struct peer *peer = context;
    const struct lsarpc_LookupNames_request *names = request;
    const struct lsarpc_LookupNames4_request *names4 = request;
    const struct lsarpc_LookupSids_request *sids = request;
    const struct lsarpc_LookupSids3_request *sids3 = request;
    peer->calls++;
    if (opnum == LSARPC_LOOKUP_NAMES)
        hear_name(peer, names->count, names->names);
    else if (opnum == LSARPC_LOOKUP_NAMES4)
        hear_name(peer, names4->count, names4->names);
    else if (opnum == LSARPC_LOOKUP_SIDS)
        hear_sid(peer, sids->count, sids->sids);
    else
        hear_sid(peer, sids3->count, sids3->sids);
    if (opnum == LSARPC_LOOKUP_NAMES || opnum == LSARPC_LOOKUP_NAMES4)
        ((struct lsarpc_LookupNames_reply *)reply)->status = peer->status;
    else
        ((struct lsarpc_LookupSids_reply *)reply)->status = peer->status;
}

static int peer_send(struct rpc_transport *transport, const uint8_t *data, size_t size,
                     bool answered)
{
    struct peer *peer = (struct peer *)transport;
    (void)answered;
    rpc_script_clear(&peer->out);
    if (data[2] == RPC_PDU_REQUEST)
        rpc_script_respond(&peer->out, &rpc_lsarpc, data, size, answer, peer);
    else
        rpc_script_say_pdu(&peer->out, RPC_PDU_BIND_ACK, RPC_PFC_FIRST_FRAG | RPC_PFC_LAST_FRAG,
                           data[12], rpc_script_bind_ack, sizeof rpc_script_bind_ack, 0);
    return 0;
}

static const struct rpc_transport_ops peer_ops = {
    .send = peer_send, .receive = rpc_script_receive, .close = rpc_script_close};

struct fixture {
    struct peer peer;
    struct conversation conversation;
    struct account user, machine;
    uint64_t random;
    struct dc *dc;
};

static void begin(struct fixture *fixture)
{
    static const enum rpc_slot slots[] = {RPC_SLOT_LSARPC, RPC_SLOT_LSARPC_SECURE};
    static const struct rpc_binding binding = {.interface = &rpc_lsarpc,
                                               .security = RPC_SECURITY_NONE};
    static char user[] = "STGU-0-7", machine[] = "STGM-0-7$";
    *fixture = (struct fixture){.peer.out.base.ops = &peer_ops, .dc = dc_new()};
    assert_non_null(fixture->dc);
    fixture->dc->netbios_domain = strdup("SAMDOM");
    fixture->dc->dns_name = strdup("dc1.samdom.test");
    fixture->dc->domain_sid = strdup("S-1-5-21-1-2-3");
    fixture->user.name = user;
    fixture->machine.name = machine;
    fixture->conversation = (struct conversation){.wire.waiter = wire_blocking_waiter(),
                                                  .dc = fixture->dc,
                                                  .user = &fixture->user,
                                                  .machine = &fixture->machine,
                                                  .random = test_random,
                                                  .random_state = &fixture->random};
    conversation_init(&fixture->conversation);
    struct rpc_state *state = rpc_state_of(&fixture->conversation);
    for (size_t i = 0; i < 2; i++)
        assert_ok(rpc_bind(&fixture->conversation, &fixture->peer.out.base, &binding,
                           &state->associations[slots[i]]));
    state->policy.open = true;
}

static void end(struct fixture *fixture)
{
    conversation_reset(&fixture->conversation);
    rpc_script_clear(&fixture->peer.out);
    dc_free(fixture->dc);
}

static struct outcome play(struct fixture *fixture, const char *opcode)
{
    return form_play(&fixture->conversation, "lsarpc", opcode, NULL, 0, INT64_C(5000000000));
}

/* Well-known names are in the language of the DC. */
static void names_of_the_domain_are_looked_up(void **state)
{
    (void)state;
    static const char *const opcodes[] = {"14", "77"};
    struct fixture fixture;
    begin(&fixture);
    for (size_t i = 0; i < 2; i++) {
        assert_ok(play(&fixture, opcodes[i]));
        assert_int_equal(fixture.peer.count, 1);
        assert_string_equal(fixture.peer.name, "SAMDOM\\STGU-0-7");
        fixture.peer.name[0] = 0;
    }
    end(&fixture);
}

static void sids_of_the_domain_are_looked_up(void **state)
{
    (void)state;
    static const char *const opcodes[] = {"15", "76"};
    struct fixture fixture;
    struct ndr_sid group, user;
    assert_int_equal(ndr_sid_parse("S-1-5-21-1-2-3-513", &group), 0); /* Domain Users */
    assert_int_equal(ndr_sid_parse("S-1-5-21-1-2-3-1107", &user), 0);
    for (size_t i = 0; i < 2; i++) {
        begin(&fixture);
        assert_ok(play(&fixture, opcodes[i]));
        assert_int_equal(fixture.peer.count, 1);
        assert_memory_equal(&fixture.peer.sid, &group, sizeof group);
        fixture.conversation.rpc->rid = 1107; /* as SAMR tells it */
        assert_ok(play(&fixture, opcodes[i]));
        assert_memory_equal(&fixture.peer.sid, &user, sizeof user);
        end(&fixture);
    }
}

static void nothing_found_is_a_failure(void **state)
{
    (void)state;
    static const char *const opcodes[] = {"14", "15", "76", "77"};
    struct fixture fixture;
    begin(&fixture);
    for (size_t i = 0; i < 4; i++) {
        fixture.peer.status = NONE_MAPPED;
        assert_failed(play(&fixture, opcodes[i]), "NT_STATUS_NONE_MAPPED");
        fixture.peer.status = SOME_NOT_MAPPED;
        assert_ok_for(opcodes[i], play(&fixture, opcodes[i]));
    }
    assert_int_equal(fixture.peer.calls, 8);
    end(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_the_domain_are_looked_up),
        cmocka_unit_test(sids_of_the_domain_are_looked_up),
        cmocka_unit_test(nothing_found_is_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
