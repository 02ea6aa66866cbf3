/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DCERPC PDUs against a scripted server. The tests check what is sent, and what happens when
 * answers are cut, changed, out of order or endless.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "protocols/rpc/rpc_association.h"
#include "protocols/rpc/rpc_pdu.h"
#include "protocols/rpc/rpc_samr.h"
#include "tests/lib/rpc_script.h"

/* What the server says, and the last PDU that it received. */
struct script {
    struct rpc_script out; /* first */
    uint8_t heard[70000];
    size_t heard_size;
    unsigned sent;
    bool closed;
};

static int script_send(struct rpc_transport *transport, const uint8_t *data, size_t size,
                       bool answered)
{
    struct script *script = (struct script *)transport;
    (void)answered;
    assert_true(size <= sizeof script->heard);
    memcpy(script->heard, data, size);
    script->heard_size = size;
    script->sent++;
    return 0;
}

static void script_close(struct rpc_transport *transport)
{
    ((struct script *)transport)->closed = true;
}

static const struct rpc_transport_ops script_ops = {
    .send = script_send, .receive = rpc_script_receive, .close = script_close};

static void say(struct script *script, const void *data, size_t size)
{
    memcpy(rpc_script_room(&script->out, size), data, size);
}

static void say_pdu(struct script *script, enum rpc_pdu_type type, uint8_t flags, uint32_t call_id,
                    const void *body, size_t size)
{
    rpc_script_say_pdu(&script->out, type, flags, call_id, body, size, 0);
}

enum { FIRST = RPC_PFC_FIRST_FRAG, LAST = RPC_PFC_LAST_FRAG, BOTH = FIRST | LAST };

static void script_start(struct script *script)
{
    memset(script, 0, sizeof *script);
    script->out.base.ops = &script_ops;
}

static void script_end(struct script *script)
{
    rpc_script_clear(&script->out);
}

static struct outcome bind_script(struct script *script, struct rpc_association **association)
{
    struct rpc_binding binding = {.interface = &rpc_samr, .security = RPC_SECURITY_NONE};
    return rpc_bind(NULL, &script->out.base, &binding, association);
}

static struct rpc_association *bound(struct script *script)
{
    struct rpc_association *association = NULL;
    script_start(script);
    say_pdu(script, RPC_PDU_BIND_ACK, BOTH, 1, rpc_script_bind_ack, sizeof rpc_script_bind_ack);
    assert_int_equal(bind_script(script, &association).kind, OUTCOME_OK);
    assert_non_null(association);
    return association;
}

static struct outcome close_handle(struct rpc_association *association,
                                   struct samr_handle_reply *reply)
{
    struct arena arena = {0};
    struct samr_handle_request request = {.handle = {.type = 7}};
    struct outcome outcome =
        rpc_call(association, rpc_procedure_find(&rpc_samr, SAMR_CLOSE), &request, reply, &arena);
    arena_free(&arena);
    return outcome;
}

static void done(struct script *script, struct rpc_association *association)
{
    rpc_association_close(association);
    assert_true(script->closed);
    script_end(script);
}

/* A response's first 8 bytes (alloc_hint, context, cancel count) and its stub. */
static size_t response(uint8_t *out, const uint8_t *stub, size_t size)
{
    memset(out, 0, 8);
    memcpy(out + 8, stub, size);
    return size + 8;
}

static void bind_bytes(void **state)
{
    (void)state;
    static const uint8_t expected[] = {
        5,    0,    11,   3,    0x10, 0,    0,    0,    72,   0,    0,    0,    1,    0,    0,
        0,    0xd0, 0x16, 0xd0, 0x16, 0,    0,    0,    0,    1,    0,    0,    0,    0,    0,
        1,    0,    0x78, 0x57, 0x34, 0x12, 0x34, 0x12, 0xcd, 0xab, 0xef, 0,    1,    0x23, 0x45,
        0x67, 0x89, 0xac, 1,    0,    0,    0,    4,    0x5d, 0x88, 0x8a, 0xeb, 0x1c, 0xc9, 0x11,
        0x9f, 0xe8, 8,    0,    0x2b, 0x10, 0x48, 0x60, 2,    0,    0,    0,
    };
    struct script script;
    struct rpc_association *association = bound(&script);
    assert_int_equal(script.heard_size, sizeof expected);
    assert_memory_equal(script.heard, expected, sizeof expected);
    done(&script, association);
}

static void call_and_reply(void **state)
{
    (void)state;
    struct script script;
    struct rpc_association *association = bound(&script);
    uint8_t body[64], stub[24] = {9, 0, 0, 0};
    stub[20] = 0x22;
    stub[23] = 0xc0;
    say_pdu(&script, RPC_PDU_RESPONSE, BOTH, 2, body, response(body, stub, sizeof stub));
    struct samr_handle_reply reply;
    assert_int_equal(close_handle(association, &reply).kind, OUTCOME_OK);
    assert_int_equal(reply.handle.type, 9);
    assert_int_equal(reply.status, 0xc0000022);
    static const uint8_t sent[] = {5, 0, 0,  3, 0x10, 0, 0, 0, 44, 0, 0, 0, 2, 0,
                                   0, 0, 20, 0, 0,    0, 0, 0, 1,  0, 7, 0, 0, 0};
    assert_int_equal(script.heard_size, 44);
    assert_memory_equal(script.heard, sent, sizeof sent);
    done(&script, association);
}

/* A reply in fragments of one byte is one reply. */
static void reply_in_one_byte_fragments(void **state)
{
    (void)state;
    struct script script;
    struct rpc_association *association = bound(&script);
    uint8_t body[16], stub[24] = {9, 0, 0, 0};
    for (size_t i = 0; i < sizeof stub; i++)
        say_pdu(&script, RPC_PDU_RESPONSE,
                (uint8_t)((i == 0 ? FIRST : 0) | (i == sizeof stub - 1 ? LAST : 0)), 2, body,
                response(body, &stub[i], 1));
    struct samr_handle_reply reply;
    assert_int_equal(close_handle(association, &reply).kind, OUTCOME_OK);
    assert_int_equal(reply.handle.type, 9);
    assert_false(rpc_association_broken(association));
    done(&script, association);
}

static void faults_by_name(void **state)
{
    (void)state;
    static const struct {
        uint8_t status[4];
        const char *cause;
    } faults[] = {{{5, 0, 0, 0}, "fault ERROR_ACCESS_DENIED"},
                  {{2, 0, 1, 0x1c}, "fault nca_s_op_rng_error"},
                  {{0x21, 7, 0, 0}, "fault RPC_S_SEC_PKG_ERROR"},
                  {{8, 0, 0, 0x1c}, "fault nca_s_rpc_version_mismatch"},
                  {{0xd, 0, 0, 0x1c}, "fault nca_s_fault_cancel"},
                  {{0x12, 0, 0, 0x1c}, "fault nca_s_fault_unspec"},
                  {{0x1b, 0, 0, 0x1c}, "fault nca_s_fault_remote_no_memory"},
                  {{0x20, 0, 0, 0x1c}, "fault nca_s_invalid_crc"},
                  {{0x24, 0, 0, 0x1c}, "fault nca_s_fault_object_not_found"},
                  {{9, 0, 0, 0x1c}, "fault nca_s_unspec_reject"},
                  {{0xef, 0xbe, 0xad, 0xde}, "fault 0xdeadbeef"}};
    struct script script;
    struct rpc_association *association = bound(&script);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        uint8_t body[16] = {0};
        memcpy(body + 8, faults[i].status, 4);
        say_pdu(&script, RPC_PDU_FAULT, BOTH, (uint32_t)(2 + i), body, sizeof body);
        struct samr_handle_reply reply;
        struct outcome outcome = close_handle(association, &reply);
        assert_int_equal(outcome.kind, OUTCOME_FAILED);
        assert_string_equal(outcome.cause, faults[i].cause);
        assert_false(rpc_association_broken(association));
    }
    done(&script, association);
}

struct bad_reply {
    const char *what;
    uint8_t type, flags, call_id;
    size_t size; /* of the body */
    const char *cause;
};

static void bad_replies_break_it(void **state)
{
    (void)state;
    static const struct bad_reply bad[] = {
        {"another call's", RPC_PDU_RESPONSE, BOTH, 9, 32, "samr: reply to another call"},
        {"not first", RPC_PDU_RESPONSE, LAST, 2, 32, "samr: malformed DCERPC reply"},
        {"a rpc_script_bind_ack", RPC_PDU_BIND_ACK, BOTH, 2, 32, "samr: malformed DCERPC reply"},
        {"no header", RPC_PDU_RESPONSE, BOTH, 2, 4, "samr: malformed DCERPC reply"},
        {"a short stub", RPC_PDU_RESPONSE, BOTH, 2, 20,
         "Close reply: field Handle: message ends too early"},
        {"no stub", RPC_PDU_RESPONSE, BOTH, 2, 8,
         "Close reply: field Handle: message ends too early"},
        {"an empty piece that is not the last", RPC_PDU_RESPONSE, FIRST, 2, 8,
         "samr: malformed DCERPC reply"},
        {"an end", RPC_PDU_RESPONSE, FIRST, 2, 32, "connection closed"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct script script;
        struct rpc_association *association = bound(&script);
        uint8_t body[64] = {0};
        say_pdu(&script, (enum rpc_pdu_type)bad[i].type, bad[i].flags, bad[i].call_id, body,
                bad[i].size);
        struct samr_handle_reply reply;
        struct outcome outcome = close_handle(association, &reply);
        if (outcome.kind != OUTCOME_FAILED || !rpc_association_broken(association))
            fail_msg("%s: not refused", bad[i].what);
        if (strcmp(bad[i].cause, "connection closed") != 0)
            assert_string_equal(outcome.cause, bad[i].cause);
        done(&script, association);
    }
}

/* Valid headers: version 5.0 or 5.1, either byte order, long enough for header and token. */
static void headers(void **state)
{
    (void)state;
    static const struct {
        uint8_t bytes[16];
        int rc;
    } rows[] = {
        {{5, 0, 2, 3, 0x10, 0, 0, 0, 24, 0, 0, 0, 7, 0, 0, 0}, 0},
        {{5, 1, 2, 3, 0x10, 0, 0, 0, 24, 0, 0, 0, 7, 0, 0, 0}, 0},
        {{5, 2, 2, 3, 0x10, 0, 0, 0, 24, 0, 0, 0, 7, 0, 0, 0}, -EBADMSG},
        {{4, 0, 2, 3, 0x10, 0, 0, 0, 24, 0, 0, 0, 7, 0, 0, 0}, -EBADMSG},
        {{5, 0, 2, 3, 0x00, 0, 0, 0, 0, 24, 0, 0, 0, 0, 0, 7}, 0},
        {{5, 0, 2, 3, 0x10, 0, 0, 0, 15, 0, 0, 0, 7, 0, 0, 0}, -EBADMSG},
        {{5, 0, 2, 3, 0x10, 0, 0, 0, 40, 0, 16, 0, 7, 0, 0, 0}, 0},
        {{5, 0, 2, 3, 0x10, 0, 0, 0, 39, 0, 16, 0, 7, 0, 0, 0}, -EBADMSG}, /* no sec_trailer */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct rpc_pdu_header header;
        assert_int_equal(rpc_pdu_header_decode(rows[i].bytes, &header), rows[i].rc);
        if (rows[i].rc)
            continue;
        assert_int_equal(header.frag_length, rows[i].bytes[10] ? 40 : 24);
        assert_int_equal(header.call_id, 7);
        assert_int_equal(header.big_endian, rows[i].bytes[4] == 0);
    }
}

/* The server's byte order applies to headers and stubs. */
static void big_endian_server(void **state)
{
    (void)state;
    struct script script;
    struct rpc_association *association = bound(&script);
    static const uint8_t pdu[] = {5,           0, RPC_PDU_RESPONSE,
                                  BOTH,        0, 0,
                                  0,           0, 0,
                                  48,          0, 0,
                                  0,           0, 0,
                                  2, /* header */
                                  0,           0, 0,
                                  24,          0, 0,
                                  0,           0, 0,
                                  0,           0, 9,
                                  [44] = 0xc0, 0, 0,
                                  0x22};
    say(&script, pdu, sizeof pdu);
    struct samr_handle_reply reply;
    assert_int_equal(close_handle(association, &reply).kind, OUTCOME_OK);
    assert_int_equal(reply.handle.type, 9);
    assert_int_equal(reply.status, 0xc0000022);
    done(&script, association);
}

/* An unexpected token; a bind_ack without a result or with an address that is too long. */
static void unexpected_or_missing_parts(void **state)
{
    (void)state;
    struct script script;
    struct rpc_association *association = bound(&script);
    uint8_t pdu[72] = {5, 0, RPC_PDU_RESPONSE, BOTH, 0x10, 0, 0, 0, 72, 0, 16, 0, 2};
    say(&script, pdu, sizeof pdu);
    struct samr_handle_reply reply;
    assert_string_equal(close_handle(association, &reply).cause, "samr: malformed DCERPC reply");
    done(&script, association);
    uint8_t no_result[sizeof rpc_script_bind_ack];
    memcpy(no_result, rpc_script_bind_ack, sizeof no_result);
    no_result[16] = 0;
    script_start(&script);
    say_pdu(&script, RPC_PDU_BIND_ACK, BOTH, 1, no_result, sizeof no_result);
    assert_int_equal(bind_script(&script, &association).kind, OUTCOME_FAILED);
    script_end(&script);
    uint8_t long_address[400] = {0xd0, 0x16, 0xd0, 0x16, [8] = 0x2c, 0x01}; /* 300 bytes */
    memcpy(long_address + 8 + 2 + 300 + 2, rpc_script_bind_ack + 16,
           sizeof rpc_script_bind_ack - 16);
    script_start(&script);
    say_pdu(&script, RPC_PDU_BIND_ACK, BOTH, 1, long_address, sizeof long_address);
    assert_int_equal(bind_script(&script, &association).kind, OUTCOME_FAILED);
    script_end(&script);
}

/* A reply without a last fragment fails at 4 MiB. */
static void endless_reply(void **state)
{
    (void)state;
    struct script script;
    struct rpc_association *association = bound(&script);
    uint8_t *body = calloc(1, 60008);
    for (int i = 0; i < 72; i++)
        say_pdu(&script, RPC_PDU_RESPONSE, i == 0 ? FIRST : 0, 2, body, 60008);
    struct samr_handle_reply reply;
    struct outcome outcome = close_handle(association, &reply);
    assert_int_equal(outcome.kind, OUTCOME_FAILED);
    assert_string_equal(outcome.cause, "samr: reply longer than 4 MiB");
    assert_true(rpc_association_broken(association));
    free(body);
    done(&script, association);
}

/* A bind_ack cut at any length is refused; one with any bit flipped is refused or harmless. */
static void broken_bind_acks(void **state)
{
    (void)state;
    uint8_t whole[16 + sizeof rpc_script_bind_ack];
    struct script script;
    script_start(&script);
    say_pdu(&script, RPC_PDU_BIND_ACK, BOTH, 1, rpc_script_bind_ack, sizeof rpc_script_bind_ack);
    memcpy(whole, script.out.bytes, sizeof whole);
    script_end(&script);
    for (size_t size = 0; size < sizeof whole; size++) {
        struct rpc_association *association = NULL;
        script_start(&script);
        say(&script, whole, size);
        assert_int_equal(bind_script(&script, &association).kind, OUTCOME_FAILED);
        assert_null(association);
        assert_true(script.closed);
        script_end(&script);
    }
    for (size_t i = 0; i < sizeof whole * 8; i++) {
        struct rpc_association *association = NULL;
        uint8_t changed[sizeof whole];
        memcpy(changed, whole, sizeof whole);
        changed[i / 8] ^= (uint8_t)(1 << i % 8);
        script_start(&script);
        say(&script, changed, sizeof changed);
        (void)bind_script(&script, &association);
        rpc_association_close(association);
        assert_true(script.closed);
        script_end(&script);
    }
}

/* Binds against a server that answers with this PDU. */
static struct outcome bind_answered(enum rpc_pdu_type type, const uint8_t *body, size_t size,
                                    enum rpc_answer *answer)
{
    struct script script;
    struct rpc_association *association = NULL;
    struct rpc_binding binding = {
        .interface = &rpc_samr, .security = RPC_SECURITY_NONE, .answer = answer};
    script_start(&script);
    if (size)
        say_pdu(&script, type, BOTH, 1, body, size);
    struct outcome outcome = rpc_bind(NULL, &script.out.base, &binding, &association);
    rpc_association_close(association);
    assert_true(script.closed);
    script_end(&script);
    return outcome;
}

static void refused_binds(void **state)
{
    (void)state;
    static const struct {
        enum rpc_pdu_type type;
        uint8_t result, reason;
        enum rpc_answer answer;
        const char *cause;
    } rows[] = {
        {RPC_PDU_BIND_NAK, 0, 8, RPC_ANSWER_GIVEN,
         "bind of samr refused: authentication_type_not_recognized"},
        {RPC_PDU_BIND_NAK, 0, 1, RPC_ANSWER_GIVEN, "bind of samr refused: temporary_congestion"},
        {RPC_PDU_BIND_NAK, 0, 77, RPC_ANSWER_GIVEN, "bind of samr refused, reason 77"},
        {RPC_PDU_BIND_ACK, 2, 1, RPC_ANSWER_ELSEWHERE,
         "bind of samr rejected: abstract_syntax_not_supported"},
        {RPC_PDU_BIND_ACK, 2, 2, RPC_ANSWER_GIVEN,
         "bind of samr rejected: proposed_transfer_syntaxes_not_supported"},
        {RPC_PDU_BIND_ACK, 1, 1, RPC_ANSWER_GIVEN, "bind of samr rejected: user_rejection"},
        {RPC_PDU_BIND_ACK, 2, 99, RPC_ANSWER_GIVEN, "bind of samr rejected: unknown reason"},
        {RPC_PDU_RESPONSE, 0, 0, RPC_ANSWER_NONE, "samr: malformed DCERPC reply"},
    };
    enum rpc_answer answer;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t body[sizeof rpc_script_bind_ack];
        memcpy(body, rpc_script_bind_ack, sizeof body);
        body[20] = rows[i].result;
        body[22] = rows[i].reason;
        if (rows[i].type == RPC_PDU_BIND_NAK)
            body[0] = rows[i].reason, body[1] = 0;
        struct outcome outcome = bind_answered(rows[i].type, body, sizeof body, &answer);
        assert_int_equal(outcome.kind, OUTCOME_FAILED);
        assert_string_equal(outcome.cause, rows[i].cause);
        assert_int_equal(answer, rows[i].answer);
    }
    assert_int_equal(bind_answered(RPC_PDU_BIND_ACK, NULL, 0, &answer).kind, OUTCOME_FAILED);
    assert_int_equal(answer, RPC_ANSWER_NONE);
    assert_int_equal(
        bind_answered(RPC_PDU_BIND_ACK, rpc_script_bind_ack, sizeof rpc_script_bind_ack, &answer)
            .kind,
        OUTCOME_OK);
    assert_int_equal(answer, RPC_ANSWER_GIVEN);
}

/* A request longer than one fragment is sent in several; the last one has the flag. */
static void long_request(void **state)
{
    (void)state;
    struct script script;
    struct rpc_association *association = bound(&script);
    struct arena arena = {0};
    static char name[2000];
    char *names[4] = {name, name, name, name};
    memset(name, 'x', sizeof name - 1);
    uint8_t body[64], stub[20] = {0};
    say_pdu(&script, RPC_PDU_RESPONSE, BOTH, 2, body, response(body, stub, sizeof stub));
    struct samr_LookupNames_request request = {.count = 4, .names = names};
    struct samr_LookupNames_reply reply;
    assert_int_equal(rpc_call(association, rpc_procedure_find(&rpc_samr, SAMR_LOOKUP_NAMES),
                              &request, &reply, &arena)
                         .kind,
                     OUTCOME_OK);
    assert_int_equal(script.sent, 1 + 3); /* the bind, then 16 KiB in pieces of 5,840 bytes */
    assert_int_equal(script.heard[3], LAST);
    arena_free(&arena);
    done(&script, association);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bind_bytes),
        cmocka_unit_test(call_and_reply),
        cmocka_unit_test(reply_in_one_byte_fragments),
        cmocka_unit_test(faults_by_name),
        cmocka_unit_test(headers),
        cmocka_unit_test(big_endian_server),
        cmocka_unit_test(unexpected_or_missing_parts),
        cmocka_unit_test(bad_replies_break_it),
        cmocka_unit_test(endless_reply),
        cmocka_unit_test(broken_bind_acks),
        cmocka_unit_test(refused_binds),
        cmocka_unit_test(long_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
