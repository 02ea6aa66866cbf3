/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signed and sealed DCERPC against a test server: raw NTLM, NTLM in SPNEGO, the netlogon secure
 * channel. The server checks each PDU (MS-RPCE 2.2.2.11, MS-NLMP 3.4.4, MS-NRPC 3.3.4.2) and
 * answers correctly or with one error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include <errno.h>
#include <nettle/aes.h>
#include <nettle/arcfour.h>
#include <nettle/cfb.h>
#include <nettle/hmac.h>
#include <nettle/md5.h>
#include <stdlib.h>
#include <string.h>

#include "base/little_endian.h"
#include "protocols/auth/ntlmssp.h"
#include "protocols/auth/spnego.h"
#include "protocols/rpc/rpc_association.h"
#include "protocols/rpc/rpc_pdu.h"
#include "protocols/rpc/rpc_samr.h"
#include "tests/lib/bytes.h"
#include "tests/lib/rpc_script.h"
#include "tests/lib/servers/ntlm_acceptor.h"
#include "tests/lib/test_random.h"

/* The error in the server's answers. */
enum wrong {
    NOTHING,
    AUTH_TYPE,
    AUTH_LEVEL,
    CONTEXT_ID,
    PAD_LENGTH,
    NO_TOKEN,
    SHORT_TOKEN,
    OLD_SEQUENCE,
    ONE_BIT,          /* bit number `bit` is flipped */
    FAULT_WITH_TOKEN, /* which does not verify */
    FAULT_WITHOUT_TOKEN,
    PROTECTED_FAULT, /* its token verifies */
    ALTER_FOR_BIND,  /* the bind's answer is an alter_context_resp */
    BIND_TOKEN,      /* the bind's answer has a malformed token */
    NO_BIND_TOKEN,   /* the bind's answer has no token */
    IN_PIECES,       /* no error: the reply has three fragments */
    NO_HEADER_SIGNING,
    SMALL_FRAGMENTS, /* accepts fragments of 1,432 bytes */
    TINY_FRAGMENTS   /* claims to accept only 100 bytes, which is not allowed */
};

/* One direction of the NTLM context. */
struct side {
    uint8_t sign_key[16], seal_key[16];
    uint32_t sequence;
    struct arcfour_ctx rc4;
};

struct peer {
    struct rpc_script out; /* first */
    enum rpc_security security;
    enum auth_level level;
    enum wrong wrong;
    size_t bit;
    struct ntlm_acceptor ntlm;
    struct side from_client, to_client;
    uint8_t session_key[16]; /* netlogon */
    uint64_t sequence;
    uint8_t stub[70000]; /* of the call, reassembled */
    uint32_t hint;       /* of its first fragment */
    size_t stub_size;
    unsigned fragments, most; /* of the last call; size of the longest */
    uint8_t last_type;
};

static uint16_t get16(const uint8_t *at)
{
    return le_get16(at);
}

static void side_begin(struct side *side, const uint8_t key[16], const char *direction)
{
    static const char *const purposes[] = {"sign", "seal"};
    for (int i = 0; i < 2; i++) {
        char magic[80];
        struct md5_ctx md5;
        snprintf(magic, sizeof magic, "session key to %s %sing key magic constant", direction,
                 purposes[i]);
        md5_init(&md5);
        md5_update(&md5, 16, key);
        md5_update(&md5, strlen(magic) + 1, (const uint8_t *)magic);
        md5_digest(&md5, 16, i == 0 ? side->sign_key : side->seal_key);
    }
    side->sequence = 0;
    arcfour_set_key(&side->rc4, 16, side->seal_key);
}

static void sides_begin(struct peer *peer, const uint8_t key[16])
{
    side_begin(&peer->from_client, key, "client-to-server");
    side_begin(&peer->to_client, key, "server-to-client");
}

static void ntlm_sum(struct side *side, const uint8_t *data, size_t size, uint8_t token[16])
{
    uint8_t digest[16];
    le_put32(token, 1);
    le_put32(token + 12, side->sequence++);
    ntlm_acceptor_hmac(side->sign_key, token + 12, 4, data, size, digest);
    memcpy(token + 4, digest, 8);
}

static void ntlm_open(struct peer *peer, uint8_t *pdu, size_t end, size_t body,
                      const uint8_t *token)
{
    uint8_t expected[16];
    struct side *side = &peer->from_client;
    if (peer->level == AUTH_LEVEL_PRIVACY)
        arcfour_crypt(&side->rc4, body, pdu + 24, pdu + 24);
    ntlm_sum(side, pdu, end, expected);
    arcfour_crypt(&side->rc4, 8, expected + 4, expected + 4);
    assert_memory_equal(token, expected, 16);
}

static void ntlm_close(struct peer *peer, uint8_t *pdu, size_t end, size_t body, uint8_t *token)
{
    struct side *side = &peer->to_client;
    if (peer->wrong == OLD_SEQUENCE)
        side->sequence--;
    ntlm_sum(side, pdu, end, token);
    if (peer->level == AUTH_LEVEL_PRIVACY)
        arcfour_crypt(&side->rc4, body, pdu + 24, pdu + 24);
    arcfour_crypt(&side->rc4, 8, token + 4, token + 4);
}

typedef void cfb8(const void *, nettle_cipher_func *, size_t, uint8_t *, size_t, uint8_t *,
                  const uint8_t *);

/* Encrypts or decrypts two pieces as one stream; the IV is 8 bytes twice. */
static void netlogon_crypt(const uint8_t key[16], uint8_t mask, const uint8_t half[8], cfb8 *crypt,
                           uint8_t *first, uint8_t *second, size_t second_size)
{
    struct aes128_ctx aes;
    uint8_t masked[16], iv[16];
    for (int i = 0; i < 16; i++)
        masked[i] = key[i] ^ mask;
    memcpy(iv, half, 8);
    memcpy(iv + 8, half, 8);
    aes128_set_encrypt_key(&aes, masked);
    crypt(&aes, (nettle_cipher_func *)aes128_encrypt, 16, iv, 8, first, first);
    crypt(&aes, (nettle_cipher_func *)aes128_encrypt, 16, iv, second_size, second, second);
}

static void netlogon_sum(const struct peer *peer, const uint8_t *head, const uint8_t *confounder,
                         const uint8_t *data, size_t size, uint8_t sum[8])
{
    struct hmac_sha256_ctx hmac;
    hmac_sha256_set_key(&hmac, 16, peer->session_key);
    hmac_sha256_update(&hmac, 8, head);
    if (peer->level == AUTH_LEVEL_PRIVACY)
        hmac_sha256_update(&hmac, 8, confounder);
    hmac_sha256_update(&hmac, size, data);
    hmac_sha256_digest(&hmac, 8, sum);
}

static void netlogon_sequence(uint64_t sequence, uint8_t direction, uint8_t out[8])
{
    memset(out, 0, 8);
    for (int i = 0; i < 4; i++)
        out[i] = (uint8_t)(sequence >> (24 - 8 * i));
    out[4] = direction;
}

static void netlogon_open(struct peer *peer, uint8_t *pdu, size_t body, const uint8_t *token)
{
    uint8_t sequence[8], expected[8], sum[8], confounder[8];
    bool seals = peer->level == AUTH_LEVEL_PRIVACY;
    assert_bytes(token, 8, seals ? "13001a00ffff0000" : "1300ffffffff0000");
    memcpy(sequence, token + 8, 8);
    netlogon_crypt(peer->session_key, 0, token + 16, cfb8_decrypt, sequence, NULL, 0);
    netlogon_sequence(peer->sequence++, 0x80, expected);
    assert_memory_equal(sequence, expected, 8);
    memcpy(confounder, token + 24, 8);
    if (seals)
        netlogon_crypt(peer->session_key, 0xf0, sequence, cfb8_decrypt, confounder, pdu + 24, body);
    netlogon_sum(peer, token, confounder, pdu + 24, body, sum);
    assert_memory_equal(sum, token + 16, 8);
}

static void netlogon_close(struct peer *peer, uint8_t *pdu, size_t body, uint8_t token[56])
{
    bool seals = peer->level == AUTH_LEVEL_PRIVACY;
    memset(token, 0, 56);
    bytes_from_hex(seals ? "13001a00ffff0000" : "1300ffffffff0000", token);
    netlogon_sequence(peer->sequence++ - (peer->wrong == OLD_SEQUENCE), 0, token + 8);
    memset(token + 24, seals ? 0x5c : 0, 8);
    netlogon_sum(peer, token, token + 24, pdu + 24, body, token + 16);
    if (seals)
        netlogon_crypt(peer->session_key, 0xf0, token + 8, cfb8_encrypt, token + 24, pdu + 24,
                       body);
    netlogon_crypt(peer->session_key, 0, token + 16, cfb8_encrypt, token + 8, NULL, 0);
}

static size_t token_size_of(const struct peer *peer)
{
    return peer->security == RPC_SECURITY_NETLOGON ? 56 : 16;
}

/* Queues a PDU with its trailer and token; token NULL: neither. Returns the PDU. */
static uint8_t *say(struct peer *peer, enum rpc_pdu_type type, uint8_t flags, uint32_t call_id,
                    const uint8_t *body, size_t body_size, const uint8_t *token, size_t token_size)
{
    uint8_t fields[8] = {(uint8_t)peer->security, (uint8_t)peer->level, 0, 0, 1, 0, 0, 0};
    uint8_t *pdu = rpc_script_say_pdu(&peer->out, type, flags, call_id, body, body_size,
                                      token ? sizeof fields + token_size : 0);
    if (!token)
        return pdu;
    le_put16(pdu + 10, (uint16_t)token_size);
    memcpy(pdu + 16 + body_size, fields, sizeof fields);
    memcpy(pdu + 16 + body_size + sizeof fields, token, token_size);
    return pdu;
}

static void say_ack(struct peer *peer, enum rpc_pdu_type type, uint32_t call_id,
                    const uint8_t *token, size_t token_size)
{
    uint8_t flags = RPC_PFC_FIRST_FRAG | RPC_PFC_LAST_FRAG;
    bool signs = peer->security != RPC_SECURITY_NETLOGON && peer->wrong != NO_HEADER_SIGNING;
    if (type == RPC_PDU_BIND_ACK && signs)
        flags |= RPC_PFC_SUPPORT_HEADER_SIGN;
    uint8_t *pdu = say(peer, type, flags, call_id, rpc_script_bind_ack, sizeof rpc_script_bind_ack,
                       token, token_size);
    if (peer->wrong == SMALL_FRAGMENTS || peer->wrong == TINY_FRAGMENTS)
        le_put16(pdu + 18, peer->wrong == SMALL_FRAGMENTS ? 1432 : 100);
}

static void say_spnego(struct peer *peer, enum rpc_pdu_type type, uint32_t call_id,
                       const struct spnego_response *response)
{
    uint8_t *token;
    size_t size;
    assert_int_equal(spnego_build_response(response, &token, &size), 0);
    say_ack(peer, type, call_id, token, size);
    free(token);
}

/* Damages the trailer or the lengths before the PDU is protected. */
static void spoil_reply(struct peer *peer, uint8_t *pdu, uint8_t *trailer)
{
    trailer[0] = (uint8_t)(trailer[0] + (peer->wrong == AUTH_TYPE));
    trailer[1] = (uint8_t)(trailer[1] ^ (peer->wrong == AUTH_LEVEL ? 3 : 0));
    trailer[2] = peer->wrong == PAD_LENGTH ? 33 : trailer[2];
    trailer[4] = (uint8_t)(trailer[4] + (peer->wrong == CONTEXT_ID));
    if (peer->wrong == SHORT_TOKEN) {
        size_t cut = peer->security == RPC_SECURITY_NETLOGON ? 40 : 4;
        le_put16(pdu + 8, (uint16_t)(get16(pdu + 8) - cut));
        le_put16(pdu + 10, (uint16_t)(get16(pdu + 10) - cut));
        peer->out.size -= cut;
    }
}

/* A protected fragment of the reply: size bytes of stub, padded to 16. */
static void say_fragment(struct peer *peer, uint32_t call_id, uint8_t flags, const uint8_t *stub,
                         size_t size)
{
    uint8_t token[56] = {0}, stub_body[8 + 32] = {0};
    size_t body = (size + 15) / 16 * 16;
    bool fault = peer->wrong == FAULT_WITH_TOKEN || peer->wrong == FAULT_WITHOUT_TOKEN;
    bool bare = peer->wrong == NO_TOKEN || peer->wrong == FAULT_WITHOUT_TOKEN;
    assert_true(8 + body <= sizeof stub_body);
    memcpy(stub_body + 8, stub, size);
    uint8_t *pdu = say(peer, fault ? RPC_PDU_FAULT : RPC_PDU_RESPONSE, flags, call_id, stub_body,
                       8 + body, bare ? NULL : token, token_size_of(peer));
    if (fault)
        pdu[24] = 5;
    if (bare || fault)
        return;
    uint8_t *trailer = pdu + 24 + body;
    trailer[2] = (uint8_t)(body - size);
    spoil_reply(peer, pdu, trailer);
    if (peer->security == RPC_SECURITY_NETLOGON)
        netlogon_close(peer, pdu, body, trailer + 8);
    else
        ntlm_close(peer, pdu, 24 + body + 8, body, trailer + 8);
    if (peer->wrong == ONE_BIT)
        pdu[peer->bit / 8] ^= (uint8_t)(1u << peer->bit % 8);
}

/* A fault without a stub that is protected like a response. */
static void say_protected_fault(struct peer *peer, uint32_t call_id)
{
    uint8_t token[56] = {0}, body[16] = {[8] = 5};
    uint8_t *pdu = say(peer, RPC_PDU_FAULT, RPC_PFC_FIRST_FRAG | RPC_PFC_LAST_FRAG, call_id, body,
                       sizeof body, token, token_size_of(peer));
    uint8_t *trailer = pdu + 16 + sizeof body;
    if (peer->security == RPC_SECURITY_NETLOGON)
        netlogon_close(peer, pdu, 0, trailer + 8);
    else
        ntlm_close(peer, pdu, 16 + sizeof body + 8, 0, trailer + 8);
}

/* The reply to a call: a handle and status 0. */
static void say_reply(struct peer *peer, uint32_t call_id)
{
    if (peer->wrong == PROTECTED_FAULT) {
        say_protected_fault(peer, call_id);
        return;
    }
    static const uint8_t stub[24] = {9, [16] = 0xab};
    size_t part = peer->wrong == IN_PIECES ? 10 : sizeof stub;
    for (size_t at = 0; at < sizeof stub; at += part) {
        size_t size = sizeof stub - at < part ? sizeof stub - at : part;
        say_fragment(peer, call_id,
                     (uint8_t)((at == 0 ? RPC_PFC_FIRST_FRAG : 0) |
                               (at + size == sizeof stub ? RPC_PFC_LAST_FRAG : 0)),
                     stub + at, size);
    }
}

static void hear_bind(struct peer *peer, const uint8_t *pdu, const uint8_t *token, size_t size)
{
    uint32_t call_id = le_get32(pdu + 12);
    enum rpc_pdu_type type =
        peer->wrong == ALTER_FOR_BIND ? RPC_PDU_ALTER_CONTEXT_RESP : RPC_PDU_BIND_ACK;
    assert_int_equal(le_get32(pdu + 20), 0); /* no association group yet */
    if (peer->wrong == NO_BIND_TOKEN) {
        say_ack(peer, type, call_id, NULL, 0);
        return;
    }
    if (peer->security == RPC_SECURITY_NETLOGON) {
        uint8_t answer[12] = {1};
        assert_int_equal(pdu[3], 3);
        assert_bytes(token, size, "0000000003000000 444f4d00 504300");
        answer[0] = peer->wrong != BIND_TOKEN;
        say_ack(peer, type, call_id, answer, sizeof answer);
        return;
    }
    assert_int_equal(pdu[3], 7); /* header signing is offered */
    assert_true(ntlm_acceptor_negotiate(&peer->ntlm, token, size));
    peer->ntlm.challenge[8] = (uint8_t)(2 + (peer->wrong == BIND_TOKEN));
    struct spnego_slice challenge = {peer->ntlm.challenge, peer->ntlm.challenge_size};
    struct spnego_response response = {
        .state = SPNEGO_ACCEPT_INCOMPLETE, .mech = SPNEGO_NTLMSSP, .token = challenge};
    if (peer->security == RPC_SECURITY_SPNEGO)
        say_spnego(peer, type, call_id, &response);
    else
        say_ack(peer, type, call_id, challenge.data, challenge.size);
}

/* The AUTHENTICATE_MESSAGE, in AUTH3 or in an alter_context. */
static void hear_authenticate(struct peer *peer, const uint8_t *pdu, const uint8_t *token,
                              size_t size)
{
    uint8_t key[16], mic[16];
    struct spnego_response response;
    if (pdu[2] == RPC_PDU_AUTH3) {
        assert_int_equal(peer->security, RPC_SECURITY_NTLM);
        assert_int_equal(get16(pdu + 8),
                         16 + 4 + 8 + size); /* 4 bytes of padding, MS-RPCE 2.2.2.5 */
        assert_true(ntlm_acceptor_authenticate(&peer->ntlm, token, size, key));
        sides_begin(peer, key);
        return;
    }
    assert_int_equal(le_get32(pdu + 20), 0x1234); /* the association group of the bind_ack */
    assert_int_equal(spnego_parse_response(token, size, &response), 0);
    assert_true(
        ntlm_acceptor_authenticate(&peer->ntlm, response.token.data, response.token.size, key));
    ntlm_acceptor_mic(key, true, mic);
    struct spnego_response last = {
        .state = SPNEGO_ACCEPT_COMPLETED, .mech = SPNEGO_NONE, .mech_list_mic = {mic, 16}};
    say_spnego(peer, RPC_PDU_ALTER_CONTEXT_RESP, le_get32(pdu + 12), &last);
    sides_begin(peer, key);
    peer->from_client.sequence = peer->to_client.sequence = 1; /* both MICs had number 0 */
}

static void hear_request(struct peer *peer, uint8_t *pdu, size_t end, const uint8_t *token)
{
    const uint8_t *trailer = pdu + end - 8;
    size_t body = end - 8 - 24, pad = trailer[2];
    bool first = pdu[3] & RPC_PFC_FIRST_FRAG, last = pdu[3] & RPC_PFC_LAST_FRAG;
    assert_int_equal(get16(pdu + 10), token_size_of(peer));
    assert_int_equal(body % 16, 0);
    assert_true(pad < 16 && (pad == 0 || last));
    if (peer->security == RPC_SECURITY_NETLOGON)
        netlogon_open(peer, pdu, body, token);
    else
        ntlm_open(peer, pdu, end, body, token);
    if (first) {
        peer->stub_size = peer->fragments = peer->most = 0;
        peer->hint = le_get32(pdu + 16);
    }
    memcpy(peer->stub + peer->stub_size, pdu + 24, body - pad);
    peer->stub_size += body - pad;
    peer->fragments++;
    if (get16(pdu + 8) > peer->most)
        peer->most = get16(pdu + 8);
    if (last) {
        assert_int_equal(le_get32(pdu + 16), body - pad); /* alloc_hint: what is left */
        say_reply(peer, le_get32(pdu + 12));
    }
}

static int peer_send(struct rpc_transport *transport, const uint8_t *data, size_t size,
                     bool answered)
{
    struct peer *peer = (struct peer *)transport;
    uint8_t *pdu = bytes_exact(data, size);
    size_t token_size = get16(pdu + 10), end = size - token_size;
    assert_int_equal(get16(pdu + 8), size);
    assert_true(token_size > 0);
    const uint8_t *trailer = pdu + end - 8;
    assert_int_equal(end % 4, 0);
    assert_int_equal(trailer[0], peer->security);
    assert_int_equal(trailer[1], peer->level);
    assert_int_equal(le_get32(trailer + 4), 1);
    assert_int_equal(answered, pdu[2] != RPC_PDU_AUTH3 && pdu[3] & RPC_PFC_LAST_FRAG);
    peer->last_type = pdu[2];
    if (pdu[2] == RPC_PDU_BIND)
        hear_bind(peer, pdu, pdu + end, token_size);
    else if (pdu[2] == RPC_PDU_REQUEST)
        hear_request(peer, pdu, end, pdu + end);
    else
        hear_authenticate(peer, pdu, pdu + end, token_size);
    free(pdu);
    return 0;
}

static const struct rpc_transport_ops peer_ops = {
    .send = peer_send, .receive = rpc_script_receive, .close = rpc_script_close};

struct fixture {
    struct peer peer;
    struct conversation conversation;
    struct dc *dc;
    struct account user;
    uint64_t random;
    struct rpc_association *association;
};

static struct outcome bind_as(struct fixture *fixture, enum rpc_security security,
                              enum auth_level level, enum wrong wrong)
{
    static char name[] = "User", computer[] = "PC", domain[] = "DOM";
    static struct netlogon_channel channel = {
        .authenticated = true, .session_key = {1, 2, 3}, .computer = computer, .domain = domain};
    struct peer *peer = &fixture->peer;
    memset(fixture, 0, sizeof *fixture);
    fixture->dc = dc_new();
    assert_non_null(fixture->dc);
    fixture->dc->netbios_domain = strdup("Domain");
    fixture->user = (struct account){.name = name, .has_nt_hash = true};
    assert_int_equal(ntlmssp_nt_hash("Password", fixture->user.nt_hash), 0);
    memcpy(peer->ntlm.nt_hash, fixture->user.nt_hash, 16);
    memcpy(peer->session_key, channel.session_key, 16);
    peer->out.base.ops = &peer_ops;
    peer->security = security;
    peer->level = level;
    peer->wrong = wrong;
    fixture->conversation = (struct conversation){.dc = fixture->dc,
                                                  .user = &fixture->user,
                                                  .random = test_random,
                                                  .random_state = &fixture->random};
    struct rpc_binding binding = {.interface = &rpc_samr,
                                  .security = security,
                                  .level = level,
                                  .account = &fixture->user,
                                  .service = "host",
                                  .channel = &channel};
    return rpc_bind(&fixture->conversation, &peer->out.base, &binding, &fixture->association);
}

static struct fixture *bound(enum rpc_security security, enum auth_level level, enum wrong wrong)
{
    struct fixture *fixture = malloc(sizeof *fixture);
    assert_non_null(fixture);
    struct outcome outcome = bind_as(fixture, security, level, wrong);
    if (outcome.kind != OUTCOME_OK)
        fail_msg("bind, security %d, level %d: %s", (int)security, (int)level, outcome.cause);
    return fixture;
}

static void end(struct fixture *fixture)
{
    rpc_association_close(fixture->association);
    dc_free(fixture->dc);
    rpc_script_clear(&fixture->peer.out);
    free(fixture);
}

static struct outcome call(struct fixture *fixture)
{
    struct arena arena = {0};
    struct samr_handle_request request = {.handle = {.type = 7}};
    struct samr_handle_reply reply = {.status = 1};
    struct outcome outcome = rpc_call(
        fixture->association, rpc_procedure_find(&rpc_samr, SAMR_CLOSE), &request, &reply, &arena);
    if (outcome.kind == OUTCOME_OK) {
        assert_int_equal(reply.handle.type, 9);
        assert_int_equal(reply.handle.uuid.node[2], 0xab);
        assert_int_equal(reply.status, 0);
    }
    arena_free(&arena);
    return outcome;
}

static const struct {
    enum rpc_security security;
    enum auth_level level;
} ways[] = {
    {RPC_SECURITY_NTLM, AUTH_LEVEL_INTEGRITY},     {RPC_SECURITY_NTLM, AUTH_LEVEL_PRIVACY},
    {RPC_SECURITY_SPNEGO, AUTH_LEVEL_INTEGRITY},   {RPC_SECURITY_SPNEGO, AUTH_LEVEL_PRIVACY},
    {RPC_SECURITY_NETLOGON, AUTH_LEVEL_INTEGRITY}, {RPC_SECURITY_NETLOGON, AUTH_LEVEL_PRIVACY},
};
enum { WAYS = sizeof ways / sizeof ways[0] };

/* Several calls, each with the next sequence number. */
static void calls_in_a_row(void **state)
{
    (void)state;
    static const enum wrong wrongs[] = {NOTHING, NO_HEADER_SIGNING, IN_PIECES};
    for (size_t i = 0; i < 3 * WAYS; i++) {
        struct fixture *fixture =
            bound(ways[i % WAYS].security, ways[i % WAYS].level, wrongs[i / WAYS]);
        for (int n = 0; n < 3; n++) {
            struct outcome outcome = call(fixture);
            if (outcome.kind != OUTCOME_OK)
                fail_msg("way %zu, call %d: %s", i, n, outcome.cause);
            assert_bytes(fixture->peer.stub, fixture->peer.stub_size,
                         "0700000000000000000000000000000000000000");
            assert_int_equal(fixture->peer.fragments, 1);
        }
        end(fixture);
    }
}

/* 8,000 characters: each fragment is as long as the server accepts, and protected separately. */
static void long_calls(void **state)
{
    (void)state;
    static const struct {
        enum wrong wrong;
        unsigned most;
    } rows[] = {{NOTHING, 5840}, {SMALL_FRAGMENTS, 1432}, {TINY_FRAGMENTS, 1432}};
    static char name[2000];
    char *names[4] = {name, name, name, name};
    memset(name, 'x', sizeof name - 1);
    for (size_t i = 0; i < 3 * WAYS; i++) {
        struct fixture *fixture =
            bound(ways[i % WAYS].security, ways[i % WAYS].level, rows[i / WAYS].wrong);
        struct arena arena = {0};
        struct ndr ndr;
        struct samr_LookupNames_request request = {.count = 4, .names = names};
        struct samr_LookupNames_reply reply;
        const struct rpc_procedure *procedure = rpc_procedure_find(&rpc_samr, SAMR_LOOKUP_NAMES);
        (void)rpc_call(fixture->association, procedure, &request, &reply, &arena);
        ndr_encode_start(&ndr);
        procedure->request(&ndr, procedure->name, &request, 0);
        assert_int_equal(fixture->peer.stub_size, ndr.size);
        assert_memory_equal(fixture->peer.stub, ndr.data, ndr.size);
        assert_int_equal(fixture->peer.hint, ndr.size);
        unsigned most = rows[i / WAYS].most;
        assert_true(fixture->peer.most <= most && fixture->peer.most > most - 64);
        /* Header, trailer, token and at most 16 bytes of padding; the rest is whole blocks. */
        size_t room = (most - 24 - 8 - token_size_of(&fixture->peer) - 16) / 16 * 16;
        assert_int_equal(fixture->peer.fragments, (ndr.size + room - 1) / room);
        ndr_end(&ndr);
        arena_free(&arena);
        end(fixture);
    }
}

static void wrong_replies(void **state)
{
    (void)state;
    static const struct {
        enum wrong wrong;
        const char *cause;
    } rows[] = {
        {AUTH_TYPE, "samr: malformed DCERPC reply"},
        {AUTH_LEVEL, "samr: malformed DCERPC reply"},
        {CONTEXT_ID, "samr: malformed DCERPC reply"},
        {PAD_LENGTH, "samr: malformed DCERPC reply"},
        {NO_TOKEN, "samr: malformed DCERPC reply"},
        {SHORT_TOKEN, "samr: reply does not verify"},
        {OLD_SEQUENCE, "samr: reply does not verify"},
        {FAULT_WITH_TOKEN, "fault ERROR_ACCESS_DENIED"},
    };
    for (size_t i = 0; i < WAYS; i++)
        for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
            struct fixture *fixture = bound(ways[i].security, ways[i].level, rows[r].wrong);
            struct outcome outcome = call(fixture);
            if (outcome.kind != OUTCOME_FAILED || strcmp(outcome.cause, rows[r].cause) != 0)
                fail_msg("way %zu, row %zu: %s", i, r, outcome.cause);
            assert_true(rpc_association_broken(fixture->association));
            end(fixture);
        }
}

/* A flipped bit in stub, padding or token is detected. NTLM signs the whole PDU, also its header.
 */
static void every_bit_is_signed(void **state)
{
    (void)state;
    for (size_t i = 0; i < WAYS; i++) {
        bool netlogon = ways[i].security == RPC_SECURITY_NETLOGON;
        /* The last 24 bytes of Netlogon's token are unused; without sealing, the last 32. */
        size_t most = netlogon ? 24 + 32 + 8 + 24 + (ways[i].level == AUTH_LEVEL_PRIVACY ? 8 : 0)
                               : 24 + 32 + 8 + 16;
        for (size_t bit = 0; bit < 8 * most; bit++) {
            bool in_trailer = bit / 8 >= 24 + 32 && bit / 8 < 24 + 32 + 8;
            if (netlogon && (bit / 8 < 24 || in_trailer))
                continue;
            struct fixture *fixture = bound(ways[i].security, ways[i].level, ONE_BIT);
            fixture->peer.bit = bit;
            if (call(fixture).kind != OUTCOME_FAILED)
                fail_msg("way %zu, bit %zu: not seen", i, bit);
            end(fixture);
        }
    }
}

/* A fault without a token takes no sequence number. */
static void calls_after_a_fault(void **state)
{
    (void)state;
    for (size_t i = 0; i < WAYS; i++) {
        struct fixture *fixture = bound(ways[i].security, ways[i].level, FAULT_WITHOUT_TOKEN);
        struct outcome outcome = call(fixture);
        assert_string_equal(outcome.cause, "fault ERROR_ACCESS_DENIED");
        assert_false(rpc_association_broken(fixture->association));
        fixture->peer.wrong = NOTHING;
        assert_int_equal(call(fixture).kind, OUTCOME_OK);
        end(fixture);
    }
}

/* The token takes a sequence number, so calls continue only if it is verified. */
static void protected_faults_leave_the_association_usable(void **state)
{
    (void)state;
    for (size_t i = 0; i < WAYS; i++) {
        struct fixture *fixture = bound(ways[i].security, ways[i].level, PROTECTED_FAULT);
        for (int times = 0; times < 2; times++) {
            struct outcome outcome = call(fixture);
            assert_string_equal(outcome.cause, "fault ERROR_ACCESS_DENIED");
            assert_false(rpc_association_broken(fixture->association));
        }
        fixture->peer.wrong = NOTHING;
        assert_int_equal(call(fixture).kind, OUTCOME_OK);
        end(fixture);
    }
}

static const char *cause_of(enum wrong wrong, enum rpc_security security)
{
    if (wrong == ALTER_FOR_BIND)
        return "samr: malformed DCERPC reply";
    if (security == RPC_SECURITY_NETLOGON)
        return "samr: malformed answer to a netlogon bind";
    if (security == RPC_SECURITY_SPNEGO && wrong == NO_BIND_TOKEN)
        return "SPNEGO: malformed token";
    return "NTLM: malformed CHALLENGE_MESSAGE";
}

static void wrong_answers_to_binds(void **state)
{
    (void)state;
    static const enum wrong wrongs[] = {ALTER_FOR_BIND, BIND_TOKEN, NO_BIND_TOKEN};
    for (size_t i = 0; i < 3 * WAYS; i++) {
        struct fixture *fixture = malloc(sizeof *fixture);
        assert_non_null(fixture);
        enum wrong wrong = wrongs[i / WAYS];
        enum rpc_security security = ways[i % WAYS].security;
        struct outcome outcome = bind_as(fixture, security, ways[i % WAYS].level, wrong);
        assert_int_equal(outcome.kind, OUTCOME_FAILED);
        assert_string_equal(outcome.cause, cause_of(wrong, security));
        assert_null(fixture->association);
        end(fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_in_a_row),
        cmocka_unit_test(long_calls),
        cmocka_unit_test(wrong_replies),
        cmocka_unit_test(every_bit_is_signed),
        cmocka_unit_test(calls_after_a_fault),
        cmocka_unit_test(wrong_answers_to_binds),
        cmocka_unit_test(protected_faults_leave_the_association_usable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
