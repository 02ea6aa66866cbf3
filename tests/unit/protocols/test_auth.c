/* SPDX-License-Identifier: Apache-2.0 */
/* Security contexts with NTLM, raw and in SPNEGO, against servers that misbehave at each leg;
 * signing and sealing of RPC. Kerberos needs a KDC, so tests/dc tests it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include "protocols/auth/auth.h"
#include "protocols/auth/ntlmssp.h"
#include "protocols/auth/spnego.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/bytes.h"
#include "tests/lib/servers/ntlm_acceptor.h"
#include "tests/lib/test_random.h"

struct fixture {
    struct conversation conversation;
    struct dc *dc;
    struct account user;
    uint64_t random;
    struct auth *auth;
    struct ntlm_acceptor server;
};

static void begin(struct fixture *fixture, bool raw, enum auth_level level)
{
    static char name[] = "User";
    memset(fixture, 0, sizeof *fixture);
    fixture->dc = dc_new();
    assert_non_null(fixture->dc);
    fixture->dc->netbios_domain = strdup("Domain");
    fixture->dc->dns_name = strdup("server.test");
    fixture->user = (struct account){.name = name, .has_nt_hash = true};
    assert_int_equal(ntlmssp_nt_hash("Password", fixture->user.nt_hash), 0);
    memcpy(fixture->server.nt_hash, fixture->user.nt_hash, 16);
    fixture->conversation = (struct conversation){.dc = fixture->dc,
                                                  .user = &fixture->user,
                                                  .machine = &fixture->user,
                                                  .random = test_random,
                                                  .random_state = &fixture->random};
    struct auth_request request = {
        .account = &fixture->user, .service = "cifs", .level = level, .raw = raw};
    assert_int_equal(auth_open(&fixture->conversation, &request, &fixture->auth).kind, OUTCOME_OK);
}

static void end(struct fixture *fixture)
{
    auth_free(fixture->auth);
    dc_free(fixture->dc);
}

/* Reads the client's NEGOTIATE_MESSAGE from its first token. */
static void first_token(struct fixture *fixture)
{
    uint8_t *token = NULL;
    size_t size;
    assert_int_equal(auth_step(fixture->auth, NULL, 0, &token, &size), AUTH_MORE);
    assert_true(ntlm_acceptor_negotiate(&fixture->server, token, size));
    free(token);
}

/* Gives a NegTokenResp to the client. */
static int feed(struct fixture *fixture, const struct spnego_response *response, uint8_t **out,
                size_t *out_size)
{
    uint8_t *token;
    size_t size;
    assert_int_equal(spnego_build_response(response, &token, &size), 0);
    uint8_t *copy = bytes_exact(token, size);
    int rc = auth_step(fixture->auth, copy, size, out, out_size);
    free(copy);
    free(token);
    return rc;
}

static struct spnego_response challenge_of(const struct fixture *fixture)
{
    return (struct spnego_response){
        .state = SPNEGO_ACCEPT_INCOMPLETE,
        .mech = SPNEGO_NTLMSSP,
        .token = {fixture->server.challenge, fixture->server.challenge_size}};
}

/* Continues up to the AUTHENTICATE_MESSAGE, checks it, and returns the session key. */
static void second_token(struct fixture *fixture, uint8_t key[16])
{
    struct spnego_response challenge = challenge_of(fixture), reply;
    uint8_t *token = NULL, mic[16];
    size_t size;
    assert_int_equal(feed(fixture, &challenge, &token, &size), AUTH_MORE);
    assert_int_equal(spnego_parse_response(token, size, &reply), 0);
    assert_true(
        ntlm_acceptor_authenticate(&fixture->server, reply.token.data, reply.token.size, key));
    ntlm_acceptor_mic(key, false, mic);
    assert_int_equal(reply.mech_list_mic.size, 16);
    assert_memory_equal(reply.mech_list_mic.data, mic, 16);
    free(token);
}

static void ntlm_in_spnego(void **state)
{
    (void)state;
    struct fixture fixture;
    uint8_t key[16], ours[AUTH_SESSION_KEY_MAX], mic[16], *out = NULL;
    size_t size = sizeof ours, out_size;
    begin(&fixture, false, AUTH_LEVEL_INTEGRITY);
    first_token(&fixture);
    second_token(&fixture, key);
    ntlm_acceptor_mic(key, true, mic);
    struct spnego_response last = {
        .state = SPNEGO_ACCEPT_COMPLETED, .mech = SPNEGO_NONE, .mech_list_mic = {mic, 16}};
    assert_int_equal(feed(&fixture, &last, &out, &out_size), AUTH_DONE);
    assert_null(out);
    assert_int_equal(auth_session_key(fixture.auth, ours, &size), 0);
    assert_int_equal(size, 16);
    assert_memory_equal(ours, key, 16);
    size = 15;
    assert_int_equal(auth_session_key(fixture.auth, ours, &size), -ENOSPC);
    end(&fixture);
}

/* A server that sends no time gets no MIC, and a mechListMIC only if it requests one. */
static void mics_on_request(void **state)
{
    (void)state;
    static const enum spnego_state states[] = {SPNEGO_ACCEPT_INCOMPLETE, SPNEGO_REQUEST_MIC};
    for (size_t i = 0; i < 2; i++) {
        struct fixture fixture;
        struct spnego_response reply;
        uint8_t *token = NULL;
        size_t size;
        begin(&fixture, false, AUTH_LEVEL_INTEGRITY);
        first_token(&fixture);
        struct spnego_response challenge = challenge_of(&fixture);
        uint8_t *info = fixture.server.challenge + fixture.server.challenge_size - 16;
        assert_int_equal(info[0], 7); /* MsvAvTimestamp becomes MsvAvSingleHost */
        info[0] = 8;
        challenge.state = states[i];
        assert_int_equal(feed(&fixture, &challenge, &token, &size), AUTH_MORE);
        assert_int_equal(spnego_parse_response(token, size, &reply), 0);
        assert_int_equal(reply.mech_list_mic.size, i == 0 ? 0 : 16);
        free(token);
        end(&fixture);
    }
}

static void raw_ntlm(void **state)
{
    (void)state;
    struct fixture fixture;
    uint8_t key[16], *out = NULL;
    size_t out_size;
    begin(&fixture, true, AUTH_LEVEL_PRIVACY);
    first_token(&fixture);
    assert_int_equal(auth_step(fixture.auth, fixture.server.challenge,
                               fixture.server.challenge_size, &out, &out_size),
                     AUTH_DONE);
    assert_true(ntlm_acceptor_authenticate(&fixture.server, out, out_size, key));
    free(out);
    end(&fixture);
}

/* Answers to the first token that end the exchange. */
static void wrong_first_answers(void **state)
{
    (void)state;
    for (int i = 0; i < 7; i++) {
        struct fixture fixture;
        uint8_t *out = NULL, mic[16] = {1};
        size_t out_size;
        begin(&fixture, false, AUTH_LEVEL_INTEGRITY);
        first_token(&fixture);
        struct spnego_response response = challenge_of(&fixture);
        int wanted = -EBADMSG;
        const char *text = "";
        if (i == 0) {
            response = (struct spnego_response){.state = SPNEGO_REJECT, .mech = SPNEGO_NONE};
            wanted = -EACCES;
            text = "SPNEGO: rejected";
        } else if (i == 1) {
            response.mech = SPNEGO_KERBEROS;
            wanted = -EOPNOTSUPP;
            text = "SPNEGO: the server chose another mechanism";
        } else if (i == 2) {
            response.token = (struct spnego_slice){NULL, 0};
            text = "SPNEGO: no token inside";
        } else if (i == 3) {
            response.token.size--;
            text = "NTLM: malformed CHALLENGE_MESSAGE";
        } else if (i == 4) { /* completed before our AUTHENTICATE_MESSAGE */
            response.state = SPNEGO_ACCEPT_COMPLETED;
            text = "SPNEGO: completed before the last token";
        } else if (i == 5) {
            response.mech_list_mic = (struct spnego_slice){mic, sizeof mic};
            text = "SPNEGO: mechListMIC does not verify";
        } else {
            fixture.server.challenge[20] &= 0xef; /* no signing */
            wanted = -EOPNOTSUPP;
            text = "NTLM: the server refused NTLMSSP_NEGOTIATE_SIGN";
        }
        assert_int_equal(feed(&fixture, &response, &out, &out_size), wanted);
        assert_string_equal(auth_error(fixture.auth), text);
        free(out);
        end(&fixture);
    }
}

static void wrong_last_answers(void **state)
{
    (void)state;
    static const char *const texts[] = {"SPNEGO: no mechListMIC from the server",
                                        "SPNEGO: mechListMIC does not verify",
                                        "SPNEGO: mechListMIC does not verify",
                                        "SPNEGO: rejected",
                                        "SPNEGO: malformed token",
                                        "SPNEGO: mechListMIC does not verify"};
    for (int i = 0; i < 6; i++) {
        struct fixture fixture;
        uint8_t key[16], mic[17] = {0}, *out = NULL;
        size_t out_size;
        begin(&fixture, false, AUTH_LEVEL_INTEGRITY);
        first_token(&fixture);
        second_token(&fixture, key);
        ntlm_acceptor_mic(key, i != 1, mic); /* 1: our own MIC */
        struct spnego_response last = {.state = i == 3 ? SPNEGO_REJECT : SPNEGO_ACCEPT_COMPLETED,
                                       .mech = SPNEGO_NONE,
                                       .mech_list_mic = {mic, 16}};
        if (i == 0)
            last.mech_list_mic = (struct spnego_slice){NULL, 0};
        if (i == 2)
            last.mech_list_mic.size = 15;
        if (i == 5)
            last.mech_list_mic.size = 17;
        int rc = i == 4 ? auth_step(fixture.auth, mic, 16, &out, &out_size)
                        : feed(&fixture, &last, &out, &out_size);
        assert_int_equal(rc, i == 3 ? -EACCES : -EBADMSG);
        assert_string_equal(auth_error(fixture.auth), texts[i]);
        assert_null(out);
        end(&fixture);
    }
}

/* A PDU with 16 bytes of header, 8 of stub, 8 of trailer. Only the server could verify what the
 * client seals, so this test checks which bytes change. */
static void what_rpc_protects(void **state)
{
    (void)state;
    static const enum auth_level levels[] = {AUTH_LEVEL_CONNECT, AUTH_LEVEL_INTEGRITY,
                                             AUTH_LEVEL_PRIVACY};
    for (size_t i = 0; i < 3; i++) {
        struct fixture fixture;
        uint8_t *out = NULL, data[32], token[16];
        size_t out_size, token_size;
        begin(&fixture, true, levels[i]);
        first_token(&fixture);
        assert_int_equal(auth_step(fixture.auth, fixture.server.challenge,
                                   fixture.server.challenge_size, &out, &out_size),
                         AUTH_DONE);
        free(out);
        for (size_t b = 0; b < sizeof data; b++)
            data[b] = (uint8_t)b;
        struct auth_pdu pdu = {.data = data, .size = sizeof data, .body = 16, .body_size = 8};
        assert_int_equal(auth_token_size(fixture.auth, 8, &token_size), 0);
        assert_int_equal(token_size, levels[i] == AUTH_LEVEL_CONNECT ? 0 : 16);
        assert_int_equal(auth_protect(fixture.auth, &pdu, token, token_size), 0);
        assert_int_equal(auth_protect(fixture.auth, &pdu, token, 12), -EINVAL);
        bool changed = false;
        for (size_t b = 0; b < sizeof data; b++)
            if (b >= 16 && b < 24)
                changed |= data[b] != b;
            else
                assert_int_equal(data[b], b);
        assert_int_equal(changed, levels[i] == AUTH_LEVEL_PRIVACY);
        /* Tokens that the server did not make never verify. */
        if (levels[i] != AUTH_LEVEL_CONNECT) {
            assert_int_equal(auth_unprotect(fixture.auth, &pdu, token, 16), -EBADMSG);
            assert_int_equal(auth_unprotect(fixture.auth, &pdu, token, 15), -EBADMSG);
        }
        pdu.body_size = 17; /* beyond the end */
        if (levels[i] != AUTH_LEVEL_CONNECT)
            assert_int_equal(auth_unprotect(fixture.auth, &pdu, token, 16), -EBADMSG);
        end(&fixture);
    }
}

static void no_password(void **state)
{
    (void)state;
    struct fixture fixture;
    struct auth *auth;
    begin(&fixture, true, AUTH_LEVEL_INTEGRITY);
    fixture.user.has_nt_hash = false;
    struct auth_request request = {.account = &fixture.user, .service = "cifs"};
    struct outcome outcome = auth_open(&fixture.conversation, &request, &auth);
    assert_int_equal(outcome.kind, OUTCOME_FAILED);
    assert_string_equal(outcome.cause, "no credentials for the account");
    assert_null(auth);
    end(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ntlm_in_spnego),     cmocka_unit_test(raw_ntlm),
        cmocka_unit_test(mics_on_request),    cmocka_unit_test(wrong_first_answers),
        cmocka_unit_test(wrong_last_answers), cmocka_unit_test(what_rpc_protects),
        cmocka_unit_test(no_password),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
