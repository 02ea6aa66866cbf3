/* SPDX-License-Identifier: Apache-2.0 */
/* How packets bind over TCP: with which security, and with whose account. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/little_endian.h"
#include "protocols/auth/ntlmssp.h"
#include "protocols/auth/spnego.h"
#include "protocols/rpc/rpc_association.h"
#include "protocols/rpc/rpc_epm.h"
#include "protocols/rpc/rpc_pdu.h"
#include "protocols/rpc/rpc_play.h"
#include "tests/lib/packets.h"
#include "tests/lib/servers/loopback.h"
#include "tests/lib/servers/ntlm_acceptor.h"
#include "tests/lib/servers/rpc_server.h"
#include "tests/lib/test_random.h"

enum { BOTH = RPC_PFC_FIRST_FRAG | RPC_PFC_LAST_FRAG, ACCESS_DENIED = 5, BINDS_MAX = 8 };

/* What the server heard. It grants nothing: each authentication ends with a fault. */
struct heard {
    unsigned binds;
    uint8_t security[BINDS_MAX]; /* auth_type of each bind */
    bool user, machine;          /* whom the AUTHENTICATE_MESSAGE names */
    bool maps;                   /* it answers the endpoint mapper's calls, without security */
    bool any_object;             /* ept_map asked for the nil object */
    struct ntlm_acceptor ntlm;
};

static uint8_t security_of(const uint8_t *pdu, size_t size)
{
    size_t token = le_get16(pdu + 10);
    return token ? pdu[size - token - RPC_TRAILER_SIZE] : RPC_SECURITY_NONE;
}

static void say_challenge(struct heard *heard, const uint8_t *pdu, size_t size,
                          struct rpc_script *out)
{
    uint8_t trailer[RPC_TRAILER_SIZE] = {RPC_SECURITY_SPNEGO, AUTH_LEVEL_PRIVACY, 0, 0, 1};
    uint8_t *token;
    size_t token_size;
    assert_true(
        ntlm_acceptor_negotiate(&heard->ntlm, pdu + size - le_get16(pdu + 10), le_get16(pdu + 10)));
    struct spnego_response response = {
        .state = SPNEGO_ACCEPT_INCOMPLETE,
        .mech = SPNEGO_NTLMSSP,
        .token = {heard->ntlm.challenge, heard->ntlm.challenge_size}};
    assert_int_equal(spnego_build_response(&response, &token, &token_size), 0);
    uint8_t *ack =
        rpc_script_say_pdu(out, RPC_PDU_BIND_ACK, BOTH, le_get32(pdu + 12), rpc_script_bind_ack,
                           sizeof rpc_script_bind_ack, sizeof trailer + token_size);
    le_put16(ack + 10, token_size);
    memcpy(ack + out->size - token_size - sizeof trailer, trailer, sizeof trailer);
    memcpy(ack + out->size - token_size, token, token_size);
    free(token);
}

static void say_fault(const uint8_t *pdu, struct rpc_script *out)
{
    uint8_t body[16] = {[8] = ACCESS_DENIED};
    rpc_script_say_pdu(out, RPC_PDU_FAULT, BOTH, le_get32(pdu + 12), body, sizeof body, 0);
}

static void answer_map(void *context, uint16_t opnum, const void *request, void *reply)
{
    static const struct ndr_guid nil = {0};
    const struct epm_Map_request *asked = request;
    struct heard *heard = context;
    assert_int_equal(opnum, EPM_MAP);
    heard->any_object = asked->object && memcmp(asked->object, &nil, sizeof nil) == 0;
    ((struct epm_Map_reply *)reply)->max_towers = asked->max_towers;
}

static void hear(void *context, unsigned connection, const uint8_t *pdu, size_t size,
                 struct rpc_script *out)
{
    static const char machine[] = "P\0C\0$", user[] = "U\0s\0e\0r";
    struct heard *heard = context;
    (void)connection;
    if (heard->maps) {
        if (pdu[2] == RPC_PDU_BIND)
            rpc_script_say_pdu(out, RPC_PDU_BIND_ACK, BOTH, le_get32(pdu + 12), rpc_script_bind_ack,
                               sizeof rpc_script_bind_ack, 0);
        else
            rpc_script_respond(out, &rpc_epm, pdu, size, answer_map, heard);
        return;
    }
    if (pdu[2] == RPC_PDU_BIND && heard->binds < BINDS_MAX)
        heard->security[heard->binds++] = security_of(pdu, size);
    else
        heard->machine = memmem(pdu, size, machine, sizeof machine) != NULL;
    heard->user |= memmem(pdu, size, user, sizeof user) != NULL;
    if (pdu[2] == RPC_PDU_BIND && security_of(pdu, size) == RPC_SECURITY_SPNEGO)
        say_challenge(heard, pdu, size, out);
    else
        say_fault(pdu, out);
}

struct fixture {
    struct heard heard;
    struct rpc_server server;
    struct conversation conversation;
    struct account user, machine;
    uint64_t random;
    struct dc *dc;
};

static void begin(struct fixture *fixture)
{
    static char user[] = "User", machine[] = "PC$", password[] = "Password";
    *fixture = (struct fixture){.server = {.hear = hear}};
    fixture->server.context = &fixture->heard;
    rpc_server_start(&fixture->server);
    fixture->dc = loopback_dc();
    fixture->dc->ports.epm = fixture->server.port;
    fixture->dc->netbios_domain = strdup("Domain");
    fixture->dc->dns_domain = strdup("domain.test");
    fixture->dc->dns_name = strdup("server.domain.test");
    fixture->machine = (struct account){
        .name = machine, .password = password, .machine = true, .has_nt_hash = true};
    assert_int_equal(ntlmssp_nt_hash(password, fixture->machine.nt_hash), 0);
    fixture->user = fixture->machine;
    fixture->user.name = user;
    fixture->conversation = (struct conversation){.wire.waiter = wire_blocking_waiter(),
                                                  .dc = fixture->dc,
                                                  .user = &fixture->user,
                                                  .machine = &fixture->machine,
                                                  .random = test_random,
                                                  .random_state = &fixture->random};
    conversation_init(&fixture->conversation);
}

static void end(struct fixture *fixture)
{
    conversation_reset(&fixture->conversation);
    rpc_server_stop(&fixture->server);
    dc_free(fixture->dc);
}

static struct outcome play(struct fixture *fixture, const char *protocol, const char *opcode)
{
    return form_play(&fixture->conversation, protocol, opcode, NULL, 0, INT64_C(5000000000));
}

static void dcs_are_found_with_the_machines_account(void **state)
{
    (void)state;
    static const char *const opcodes[] = {"20", "34"};
    for (size_t i = 0; i < 2; i++) {
        struct fixture fixture;
        begin(&fixture);
        rpc_ports_remember(fixture.dc->rpc_ports, &rpc_netlogon, fixture.server.port);
        assert_failed(play(&fixture, "rpc_netlogon", opcodes[i]), "fault ERROR_ACCESS_DENIED");
        end(&fixture);
        assert_int_equal(fixture.heard.binds, 1);
        assert_int_equal(fixture.heard.security[0], RPC_SECURITY_SPNEGO);
        assert_true(fixture.heard.machine);
    }
}

/* As Windows and Samba ask. */
static void ports_are_mapped_for_any_object(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture);
    fixture.heard.maps = true;
    assert_failed(play(&fixture, "epm", "3"),
                  "rpc_netlogon is not registered with the endpoint mapper");
    end(&fixture);
    assert_true(fixture.heard.any_object);
}

/* Only a mapper that refuses unauthenticated clients gets a second bind. */
static void a_restricted_mapper_is_asked_by_the_user(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture);
    assert_failed(play(&fixture, "epm", "3"), "endpoint mapper: fault ERROR_ACCESS_DENIED");
    end(&fixture);
    assert_int_equal(fixture.heard.binds, 2);
    assert_int_equal(fixture.heard.security[0], RPC_SECURITY_NONE);
    assert_int_equal(fixture.heard.security[1], RPC_SECURITY_SPNEGO);
    assert_true(fixture.heard.user);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dcs_are_found_with_the_machines_account),
        cmocka_unit_test(ports_are_mapped_for_any_object),
        cmocka_unit_test(a_restricted_mapper_is_asked_by_the_user),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
