/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The netlogon packets against a test server that implements its half of the secure channel
 * (MS-NRPC 3.1.4, 3.5.4): credentials of both sides, the chain of authenticators, types of
 * channels, passwords, pass-through logons; and servers whose answers must be rejected. PDUs are
 * not protected; test_rpc_secured.c tests that.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include <errno.h>
#include <nettle/aes.h>
#include <nettle/cfb.h>
#include <nettle/hmac.h>
#include <stdlib.h>
#include <string.h>

#include "base/little_endian.h"
#include "base/utf16.h"
#include "protocols/auth/ntlmssp.h"
#include "protocols/rpc/rpc_pdu.h"
#include "protocols/rpc/rpc_play.h"
#include "tests/lib/bytes.h"
#include "tests/lib/packets.h"
#include "tests/lib/rpc_script.h"
#include "tests/lib/test_random.h"

enum wrong {
    NOTHING,
    CREDENTIAL,          /* ServerAuthenticate3 returns a wrong one */
    NO_AES,              /* the server does not agree to AES */
    BACKUP_DC,           /* only a domain controller's channel is accepted */
    NO_ACCOUNT,          /* the account does not exist */
    DOWNGRADE,           /* AES channels are refused */
    RETURN_AUTHENTICATOR /* a wrong one is returned */
};

struct peer {
    struct rpc_script out; /* first */
    enum wrong wrong;
    bool is_locator;                      /* its association is not the secure channel's */
    unsigned faults;                      /* the next calls that are faulted, "access denied" */
    uint8_t hash[16], key[16], stored[8]; /* of the account, the channel, the chain */
    uint8_t client_challenge[8];
    uint16_t channel_type;
    uint16_t most_validation; /* NETLOGON_VALIDATION_...: higher ones are refused */
    unsigned calls[64];       /* by opnum */
    char password[64];        /* the last one that was set */
    unsigned changes;         /* of the password to another one */
    uint32_t level;           /* of the last LogonGetCapabilities */
    uint8_t challenge[8];     /* of the last logon */
    uint8_t response[1024];   /* its NTLMv2 response */
    size_t response_size;
    uint32_t build; /* of the last LogonGetDomainInfo */
    char os_name[64];
};

enum { BOTH = RPC_PFC_FIRST_FRAG | RPC_PFC_LAST_FRAG };

static const uint8_t server_challenge[8] = {8, 7, 6, 5, 4, 3, 2, 1};

static void cfb8(const uint8_t key[16], bool decrypts, uint8_t *data, size_t size)
{
    struct aes128_ctx aes;
    uint8_t iv[16] = {0};
    aes128_set_encrypt_key(&aes, key);
    if (decrypts)
        cfb8_decrypt(&aes, (nettle_cipher_func *)aes128_encrypt, 16, iv, size, data, data);
    else
        cfb8_encrypt(&aes, (nettle_cipher_func *)aes128_encrypt, 16, iv, size, data, data);
}

static void make_key(struct peer *peer)
{
    struct hmac_sha256_ctx hmac;
    hmac_sha256_set_key(&hmac, 16, peer->hash);
    hmac_sha256_update(&hmac, 8, peer->client_challenge);
    hmac_sha256_update(&hmac, 8, server_challenge);
    hmac_sha256_digest(&hmac, 16, peer->key);
}

static void step(struct peer *peer, uint32_t by)
{
    uint32_t low;
    memcpy(&low, peer->stored,
           4); /* the wire is little-endian, like the machines that run the tests */
    low += by;
    memcpy(peer->stored, &low, 4);
}

/* Checks an authenticator and returns the next one (3.1.4.5). */
static struct netlogon_authenticator take(struct peer *peer,
                                          const struct netlogon_authenticator *authenticator)
{
    struct netlogon_authenticator returned = {.timestamp = 0};
    uint8_t expected[8];
    step(peer, authenticator->timestamp);
    memcpy(expected, peer->stored, 8);
    cfb8(peer->key, false, expected, 8);
    assert_memory_equal(authenticator->credential, expected, 8);
    step(peer, 1);
    memcpy(returned.credential, peer->stored, 8);
    cfb8(peer->key, false, returned.credential, 8);
    returned.credential[3] ^= peer->wrong == RETURN_AUTHENTICATOR;
    return returned;
}

static void answer_challenge(struct peer *peer, const void *request, void *reply)
{
    const struct netlogon_ServerReqChallenge_request *asked = request;
    struct netlogon_ServerReqChallenge_reply *answer = reply;
    assert_string_equal(asked->server_name, "\\\\server.test");
    assert_string_equal(asked->computer_name, "PC");
    memcpy(peer->client_challenge, asked->client_challenge, 8);
    memcpy(answer->server_challenge, server_challenge, 8);
}

static void answer_authenticate(struct peer *peer, const void *request, void *reply)
{
    const struct netlogon_ServerAuthenticate3_request *asked = request;
    struct netlogon_ServerAuthenticate3_reply *answer = reply;
    assert_string_equal(asked->account_name, "PC$");
    assert_string_equal(asked->computer_name, "PC");
    assert_int_equal(asked->flags & 0x01000000, 0x01000000); /* AES */
    peer->channel_type = asked->channel_type;
    bool refused = peer->wrong == NO_ACCOUNT ||
                   (peer->wrong == BACKUP_DC && asked->channel_type != NETLOGON_CHANNEL_SERVER);
    if (refused) {
        answer->status = 0xc000018b; /* STATUS_NO_TRUST_SAM_ACCOUNT */
        return;
    }
    if (peer->wrong == DOWNGRADE) {
        answer->status = 0xc0000388; /* STATUS_DOWNGRADE_DETECTED */
        return;
    }
    make_key(peer);
    memcpy(peer->stored, peer->client_challenge, 8);
    cfb8(peer->key, false, peer->stored, 8);
    if (memcmp(peer->stored, asked->client_credential, 8) != 0) {
        answer->status = 0xc0000022;
        return;
    }
    memcpy(answer->server_credential, server_challenge, 8);
    cfb8(peer->key, false, answer->server_credential, 8);
    answer->server_credential[0] ^= peer->wrong == CREDENTIAL;
    answer->flags = peer->wrong == NO_AES ? 0x602fffff : asked->flags;
}

static void answer_capabilities(struct peer *peer, const void *request, void *reply)
{
    const struct netlogon_LogonGetCapabilities_request *asked = request;
    struct netlogon_LogonGetCapabilities_reply *answer = reply;
    answer->return_authenticator = take(peer, &asked->authenticator);
    peer->level = asked->level;
    answer->level = asked->level;
}

static void answer_domain_info(struct peer *peer, const void *request, void *reply)
{
    const struct netlogon_LogonGetDomainInfo_request *asked = request;
    struct netlogon_LogonGetDomainInfo_reply *answer = reply;
    answer->return_authenticator = take(peer, &asked->authenticator);
    answer->level = 1;
    assert_non_null(asked->workstation->os_version);
    assert_int_equal(asked->workstation->os_version->major, 10);
    assert_int_equal(asked->workstation->os_version->platform, 2); /* Windows NT */
    assert_string_equal(asked->workstation->dns_host_name, "pc.domain.test");
    peer->build = asked->workstation->os_version->build;
    snprintf(peer->os_name, sizeof peer->os_name, "%s", asked->workstation->os_name);
}

static const uint8_t *hash_of(const char *password)
{
    static uint8_t hash[16];
    assert_int_equal(ntlmssp_nt_hash(password, hash), 0);
    return hash;
}

static void answer_password(struct peer *peer, const void *request, void *reply)
{
    const struct netlogon_ServerPasswordSet2_request *asked = request;
    struct netlogon_ServerPasswordSet2_reply *answer = reply;
    uint8_t plain[516];
    char *text;
    assert_int_equal(asked->channel_type, peer->channel_type);
    answer->return_authenticator = take(peer, &asked->authenticator);
    memcpy(plain, asked->password, 512);
    memcpy(plain + 512, asked->length, 4);
    cfb8(peer->key, true, plain, sizeof plain);
    size_t size = plain[512] | (size_t)plain[513] << 8;
    assert_true(size <= 512 && plain[514] == 0 && plain[515] == 0);
    assert_int_equal(utf16le_to_utf8(plain + 512 - size, size, &text), 0);
    snprintf(peer->password, sizeof peer->password, "%s", text);
    peer->changes += memcmp(peer->hash, hash_of(text), 16) != 0;
    memcpy(peer->hash, hash_of(text), 16);
    free(text);
}

/* MS-NLMP 3.3.2: the proof before the blob. */
static uint32_t logon_status(struct peer *peer, const struct netlogon_network *network,
                             uint16_t validation)
{
    uint8_t ntowf[16], proof[16];
    struct hmac_md5_ctx hmac;
    if (validation > peer->most_validation)
        return 0xc0000003; /* STATUS_INVALID_INFO_CLASS */
    assert_string_equal(network->account, "User");
    assert_string_equal(network->workstation, "PC");
    memcpy(peer->challenge, network->challenge, 8);
    peer->response_size = network->nt.size;
    assert_true(peer->response_size <= sizeof peer->response);
    memcpy(peer->response, network->nt.bytes, peer->response_size);
    assert_int_equal(ntlmssp_ntowf_v2(peer->hash, network->account, network->domain, ntowf), 0);
    hmac_md5_set_key(&hmac, 16, ntowf);
    hmac_md5_update(&hmac, 8, network->challenge);
    hmac_md5_update(&hmac, network->nt.size - 16u, network->nt.bytes + 16);
    hmac_md5_digest(&hmac, 16, proof);
    return memcmp(proof, network->nt.bytes, 16) == 0 ? 0 : 0xc000006a;
}

static void answer_logon_ex(struct peer *peer, const void *request, void *reply)
{
    const struct netlogon_LogonSamLogonEx_request *asked = request;
    struct netlogon_LogonSamLogonEx_reply *answer = reply;
    answer->status = logon_status(peer, asked->network, asked->validation_level);
    answer->validation_level = asked->validation_level;
}

static void answer_logon(struct peer *peer, const void *request, void *reply)
{
    static struct netlogon_authenticator returned;
    const struct netlogon_LogonSamLogonWithFlags_request *asked = request;
    struct netlogon_LogonSamLogonWithFlags_reply *answer = reply;
    returned = take(peer, asked->authenticator);
    answer->return_authenticator = &returned;
    answer->status = logon_status(peer, asked->network, asked->validation_level);
    answer->validation_level = asked->validation_level;
}

/* MS-NRPC 3.5.4.3.1: a caller that the secure channel alone authenticates is refused. */
static void answer_locator(struct peer *peer, const void *request, void *reply)
{
    struct netlogon_DsrGetDcName_reply *answer = reply;
    (void)request;
    answer->status = peer->is_locator ? 0 : 5; /* ERROR_ACCESS_DENIED */
}

static void (*const answers[64])(struct peer *, const void *,
                                 void *) = {[NETLOGON_LOGON_SAM_LOGON] = answer_logon,
                                            [NETLOGON_SERVER_REQ_CHALLENGE] = answer_challenge,
                                            [NETLOGON_LOGON_GET_CAPABILITIES] = answer_capabilities,
                                            [NETLOGON_SERVER_AUTHENTICATE3] = answer_authenticate,
                                            [NETLOGON_LOGON_GET_DOMAIN_INFO] = answer_domain_info,
                                            [NETLOGON_SERVER_PASSWORD_SET2] = answer_password,
                                            [NETLOGON_LOGON_SAM_LOGON_EX] = answer_logon_ex,
                                            [NETLOGON_DSR_GET_DC_NAME] = answer_locator,
                                            [NETLOGON_DSR_GET_DC_NAME_EX2] = answer_locator,
                                            [NETLOGON_LOGON_SAM_LOGON_WITH_FLAGS] = answer_logon};

static void answer_call(void *context, uint16_t opnum, const void *request, void *reply)
{
    assert_non_null(answers[opnum]);
    answers[opnum](context, request, reply);
}

static void hear_request(struct peer *peer, const uint8_t *pdu, size_t size)
{
    peer->calls[pdu[22]]++;
    if (peer->faults) {
        uint8_t body[16] = {[8] = 5}; /* ERROR_ACCESS_DENIED */
        peer->faults--;
        rpc_script_say_pdu(&peer->out, RPC_PDU_FAULT, BOTH, pdu[12], body, sizeof body, 0);
        return;
    }
    rpc_script_respond(&peer->out, &rpc_netlogon, pdu, size, answer_call, peer);
}

static int peer_send(struct rpc_transport *transport, const uint8_t *data, size_t size,
                     bool answered)
{
    struct peer *peer = (struct peer *)transport;
    (void)answered;
    rpc_script_clear(&peer->out);
    if (data[2] == RPC_PDU_REQUEST)
        hear_request(peer, data, size);
    else
        rpc_script_say_pdu(&peer->out, RPC_PDU_BIND_ACK, BOTH, data[12], rpc_script_bind_ack,
                           sizeof rpc_script_bind_ack, 0);
    return 0;
}

static const struct rpc_transport_ops peer_ops = {
    .send = peer_send, .receive = rpc_script_receive, .close = rpc_script_close};

struct fixture {
    struct peer peer, locator;
    struct conversation conversation;
    struct dc *dc;
    struct account user, machine;
    uint64_t random;
};

/* Connects the netlogon associations of the conversation to the peer, and the one that finds a DC
 * to a separate one. */
static void begin(struct fixture *fixture, enum wrong wrong)
{
    static char user[] = "User", machine[] = "PC$", password[] = "Pass\xc3\xa4word";
    memset(fixture, 0, sizeof *fixture);
    fixture->dc = dc_new();
    assert_non_null(fixture->dc);
    fixture->dc->netbios_domain = strdup("Domain");
    fixture->dc->dns_name = strdup("server.test");
    fixture->dc->dns_domain = strdup("domain.test");
    fixture->machine = (struct account){.name = machine, .password = password, .has_nt_hash = true};
    assert_int_equal(ntlmssp_nt_hash(password, fixture->machine.nt_hash), 0);
    fixture->user = fixture->machine;
    fixture->user.name = user;
    fixture->peer.out.base.ops = &peer_ops;
    fixture->peer.wrong = wrong;
    fixture->peer.most_validation = NETLOGON_VALIDATION_SAM_INFO4;
    memcpy(fixture->peer.hash, fixture->machine.nt_hash, 16);
    fixture->conversation = (struct conversation){.wire.waiter = wire_blocking_waiter(),
                                                  .dc = fixture->dc,
                                                  .user = &fixture->user,
                                                  .machine = &fixture->machine,
                                                  .random = test_random,
                                                  .random_state = &fixture->random};
    conversation_init(&fixture->conversation);
    struct rpc_state *state = rpc_state_of(&fixture->conversation);
    assert_non_null(state);
    static const enum rpc_slot slots[] = {RPC_SLOT_NETLOGON, RPC_SLOT_NETLOGON_SECURE};
    struct rpc_binding binding = {.interface = &rpc_netlogon, .security = RPC_SECURITY_NONE};
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(rpc_bind(&fixture->conversation, &fixture->peer.out.base, &binding,
                                  &state->associations[slots[i]])
                             .kind,
                         OUTCOME_OK);
    fixture->locator.out.base.ops = &peer_ops;
    fixture->locator.is_locator = true;
    assert_int_equal(rpc_bind(&fixture->conversation, &fixture->locator.out.base, &binding,
                              &state->associations[RPC_SLOT_NETLOGON_LOCATOR])
                         .kind,
                     OUTCOME_OK);
}

static void end(struct fixture *fixture)
{
    conversation_reset(&fixture->conversation);
    rpc_script_clear(&fixture->peer.out);
    rpc_script_clear(&fixture->locator.out);
    dc_free(fixture->dc);
}

static struct outcome play(struct fixture *fixture, const char *opcode)
{
    return form_play(&fixture->conversation, "rpc_netlogon", opcode, NULL, 0, INT64_C(5000000000));
}

static bool authenticated(const struct fixture *fixture)
{
    return fixture->conversation.rpc->channel.authenticated;
}

static void the_channel_is_that_of_a_workstation(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, NOTHING);
    assert_ok(play(&fixture, "4"));
    assert_false(authenticated(&fixture));
    assert_ok(play(&fixture, "26"));
    assert_true(authenticated(&fixture));
    assert_int_equal(fixture.peer.calls[NETLOGON_SERVER_REQ_CHALLENGE], 1);
    assert_int_equal(fixture.peer.channel_type, NETLOGON_CHANNEL_WORKSTATION);
    /* A challenge is valid for one attempt. */
    assert_ok(play(&fixture, "26"));
    assert_int_equal(fixture.peer.calls[NETLOGON_SERVER_REQ_CHALLENGE], 2);
    end(&fixture);
}

static void wrong_servers(void **state)
{
    (void)state;
    static const struct {
        enum wrong wrong;
        const char *cause;
    } rows[] = {{CREDENTIAL, "netlogon: the server's credential does not verify"},
                {NO_AES, "netlogon: the server does not support AES"},
                {DOWNGRADE, "NT_STATUS_DOWNGRADE_DETECTED (the DC refuses AES secure channels)"},
                {NO_ACCOUNT, "NT_STATUS_NO_TRUST_SAM_ACCOUNT"}};
    for (size_t i = 0; i < 4; i++) {
        struct fixture fixture;
        begin(&fixture, rows[i].wrong);
        assert_failed(play(&fixture, "26"), rows[i].cause);
        assert_false(authenticated(&fixture));
        assert_int_equal(fixture.peer.calls[NETLOGON_SERVER_AUTHENTICATE3],
                         rows[i].wrong == NO_ACCOUNT ? 2 : 1);
        end(&fixture);
    }
}

static void wrong_password(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, NOTHING);
    fixture.machine.nt_hash[0] ^= 1;
    assert_failed(play(&fixture, "26"), "NT_STATUS_ACCESS_DENIED");
    assert_false(authenticated(&fixture));
    end(&fixture);
}

/* Each type is tried with a new challenge; the right one is remembered. */
static void accounts_of_domain_controllers_open_the_channel_at_the_second_try(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, BACKUP_DC);
    assert_ok(play(&fixture, "26"));
    assert_int_equal(fixture.peer.channel_type, NETLOGON_CHANNEL_SERVER);
    assert_int_equal(fixture.peer.calls[NETLOGON_SERVER_REQ_CHALLENGE], 2);
    assert_ok(play(&fixture, "26"));
    assert_int_equal(fixture.peer.calls[NETLOGON_SERVER_AUTHENTICATE3], 3);
    assert_ok(play(&fixture, "30"));
    end(&fixture);
}

/* Calls inside and outside the chain in any order, and a change of the machine's password. */
static void chain_of_calls(void **state)
{
    (void)state;
    static const char *const opcodes[] = {"21", "39", "45", "30", "21", "2", "39", "21"};
    struct fixture fixture;
    begin(&fixture, NOTHING);
    assert_ok(play(&fixture, "26"));
    for (size_t i = 0; i < sizeof opcodes / sizeof opcodes[0]; i++)
        assert_ok(play(&fixture, opcodes[i]));
    assert_string_equal(fixture.peer.password, fixture.machine.password);
    assert_int_equal(fixture.peer.calls[NETLOGON_SERVER_AUTHENTICATE3], 1);
    end(&fixture);
}

static void return_authenticators_are_checked(void **state)
{
    (void)state;
    static const char *const opcodes[] = {"21", "30", "45", "2"};
    for (size_t i = 0; i < 4; i++) {
        struct fixture fixture;
        begin(&fixture, RETURN_AUTHENTICATOR);
        assert_ok(play(&fixture, "26"));
        assert_failed(play(&fixture, opcodes[i]),
                      "netlogon: the return authenticator does not verify");
        /* The next call sets up a new channel over a new association. */
        assert_false(authenticated(&fixture));
        assert_null(fixture.conversation.rpc->associations[RPC_SLOT_NETLOGON_SECURE]);
        end(&fixture);
    }
}

/* The server's highest validation level is found once; wrong passwords are reported. */
static void logons(void **state)
{
    (void)state;
    static const char *const opcodes[] = {"39", "45", "2"};
    static const enum netlogon_opnum opnums[] = {
        NETLOGON_LOGON_SAM_LOGON_EX, NETLOGON_LOGON_SAM_LOGON_WITH_FLAGS, NETLOGON_LOGON_SAM_LOGON};
    for (size_t i = 0; i < 3; i++) {
        struct fixture fixture;
        begin(&fixture, NOTHING);
        fixture.peer.most_validation = NETLOGON_VALIDATION_SAM_INFO2;
        assert_ok(play(&fixture, "26"));
        assert_ok(play(&fixture, opcodes[i]));
        assert_int_equal(fixture.peer.calls[opnums[i]], 2);
        assert_ok(play(&fixture, opcodes[i]));
        assert_int_equal(fixture.peer.calls[opnums[i]], 3);
        fixture.user.nt_hash[0] ^= 1;
        assert_failed(play(&fixture, opcodes[i]), "NT_STATUS_WRONG_PASSWORD");
        end(&fixture);
    }
}

/* The value of one AV pair of the last response (MS-NLMP 2.2.2.1, 2.2.2.7); fails without it. */
static const uint8_t *av_pair(const struct peer *peer, uint16_t id, size_t *size)
{
    const uint8_t *at = peer->response + 16 + 28, *end = peer->response + peer->response_size;
    while (at + 4 <= end && le_get16(at) != 0) {
        *size = le_get16(at + 2);
        assert_true((size_t)(end - at) >= 4 + *size);
        if (le_get16(at) == id)
            return at + 4;
        at += 4 + *size;
    }
    fail_msg("no AV pair %u", id);
    return NULL;
}

static void assert_av_text(const struct peer *peer, uint16_t id, const char *expected)
{
    char *text;
    size_t size;
    const uint8_t *value = av_pair(peer, id, &size);
    assert_int_equal(utf16le_to_utf8(value, size, &text), 0);
    assert_string_equal(text, expected);
    free(text);
}

/* What a member server passes on: the names of its own challenge and what its client adds. */
static void logons_carry_the_members_target_info(void **state)
{
    (void)state;
    static const uint8_t zeros[16] = {0};
    struct fixture fixture;
    size_t size;
    begin(&fixture, NOTHING);
    assert_ok(play(&fixture, "26"));
    assert_ok(play(&fixture, "39"));
    const struct peer *peer = &fixture.peer;
    assert_av_text(peer, 1, "PC"); /* MsvAvNbComputerName: the channel's machine */
    assert_av_text(peer, 2, "Domain");
    assert_av_text(peer, 3, "pc.domain.test");
    assert_av_text(peer, 4, "domain.test");
    assert_av_text(peer, 9, "cifs/pc.domain.test");
    assert_int_equal(le_get32(av_pair(peer, 6, &size)), 2); /* a MIC is present */
    assert_memory_equal(av_pair(peer, 10, &size), zeros, 16);
    assert_int_equal(size, 16);
    /* The time is in the pairs and before them; FILETIME of 2020. */
    uint64_t now = le_get64(av_pair(peer, 7, &size));
    assert_int_equal(now, le_get64(peer->response + 16 + 8));
    assert_true(now > UINT64_C(132223104000000000));
    end(&fixture);
}

static void each_logon_has_another_challenge(void **state)
{
    (void)state;
    struct fixture fixture;
    uint8_t first[8];
    begin(&fixture, NOTHING);
    assert_ok(play(&fixture, "26"));
    assert_ok(play(&fixture, "39"));
    memcpy(first, fixture.peer.challenge, 8);
    assert_ok(play(&fixture, "39"));
    assert_memory_not_equal(fixture.peer.challenge, first, 8);
    end(&fixture);
}

static void members_report_their_operating_system(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, NOTHING);
    assert_ok(play(&fixture, "26"));
    assert_ok(play(&fixture, "29"));
    assert_int_equal(fixture.peer.build, 19045);
    assert_string_equal(fixture.peer.os_name, "Windows 10 Enterprise");
    end(&fixture);
}

/* Older DCs fault level 2, so only models ask for it. */
static void capabilities_of_level_2_are_asked_by_models(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, NOTHING);
    assert_ok(play(&fixture, "26"));
    assert_ok(play(&fixture, "21"));
    assert_int_equal(fixture.peer.level, 1);
    assert_ok(form_play_value(&fixture.conversation, "rpc_netlogon", "21", "level", "2",
                              INT64_C(5000000000)));
    assert_int_equal(fixture.peer.level, 2);
    end(&fixture);
}

/* Setting the password that the machine has is no work for a Windows DC. */
static void passwords_change_and_change_back(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, NOTHING);
    fixture.dc->instance_dn = strdup("OU=instance-0,OU=traffic_replay,DC=domain,DC=test");
    assert_ok(play(&fixture, "26"));
    assert_ok(play(&fixture, "30"));
    assert_int_equal(fixture.peer.calls[NETLOGON_SERVER_PASSWORD_SET2], 2);
    assert_int_equal(fixture.peer.changes, 2);
    assert_string_equal(fixture.peer.password, fixture.machine.password);
    assert_ok(play(&fixture, "26"));
    assert_int_equal(fixture.peer.calls[NETLOGON_SERVER_AUTHENTICATE3], 2);
    end(&fixture);
}

static void accounts_from_a_file_keep_their_password(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, NOTHING);
    assert_ok(play(&fixture, "26"));
    assert_ok(play(&fixture, "30"));
    assert_int_equal(fixture.peer.changes, 0);
    assert_int_equal(fixture.peer.calls[NETLOGON_SERVER_PASSWORD_SET2], 1);
    end(&fixture);
}

/* A run that is killed in the middle leaves the other password; the next one undoes that. */
static void an_interrupted_change_is_undone(void **state)
{
    (void)state;
    struct fixture fixture;
    char *other;
    begin(&fixture, NOTHING);
    fixture.dc->instance_dn = strdup("OU=instance-0,OU=traffic_replay,DC=domain,DC=test");
    assert_int_equal(netlogon_other_password(fixture.machine.password, &other), 0);
    memcpy(fixture.peer.hash, hash_of(other), 16);
    free(other);
    assert_ok(play(&fixture, "26"));
    assert_ok(play(&fixture, "21"));
    assert_string_equal(fixture.peer.password, fixture.machine.password);
    assert_int_equal(fixture.peer.calls[NETLOGON_SERVER_PASSWORD_SET2], 1);
    assert_ok(play(&fixture, "21"));
    assert_int_equal(fixture.peer.calls[NETLOGON_SERVER_PASSWORD_SET2], 1);
    end(&fixture);
}

static void dcs_are_found_without_the_secure_channel(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, NOTHING);
    assert_ok(play(&fixture, "26"));
    assert_ok(play(&fixture, "39"));
    for (size_t i = 0; i < 3; i++) {
        assert_ok(play(&fixture, "20"));
        assert_ok(play(&fixture, "34"));
    }
    assert_ok(play(&fixture, "39"));
    assert_int_equal(fixture.peer.calls[NETLOGON_SERVER_AUTHENTICATE3], 1);
    assert_int_equal(fixture.locator.calls[NETLOGON_DSR_GET_DC_NAME], 3);
    assert_int_equal(fixture.locator.calls[NETLOGON_DSR_GET_DC_NAME_EX2], 3);
    end(&fixture);
}

/* "Access denied" for one call of an association that has answered others is about that call. The
 * first call of an association with an old key gets the same fault. */
static void a_denied_call_costs_no_channel(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, NOTHING);
    assert_ok(play(&fixture, "26"));
    assert_ok(play(&fixture, "39"));
    fixture.peer.faults = 1;
    assert_failed(play(&fixture, "39"), "fault ERROR_ACCESS_DENIED");
    assert_true(authenticated(&fixture));
    assert_ok(play(&fixture, "39"));
    assert_int_equal(fixture.peer.calls[NETLOGON_SERVER_AUTHENTICATE3], 1);
    end(&fixture);
    begin(&fixture, NOTHING);
    assert_ok(play(&fixture, "26"));
    fixture.peer.faults = 1;
    assert_int_equal(play(&fixture, "39").kind, OUTCOME_FAILED); /* no server for the new bind */
    assert_int_equal(fixture.peer.calls[NETLOGON_SERVER_AUTHENTICATE3], 2);
    end(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_channel_is_that_of_a_workstation),
        cmocka_unit_test(wrong_servers),
        cmocka_unit_test(wrong_password),
        cmocka_unit_test(accounts_of_domain_controllers_open_the_channel_at_the_second_try),
        cmocka_unit_test(chain_of_calls),
        cmocka_unit_test(return_authenticators_are_checked),
        cmocka_unit_test(logons),
        cmocka_unit_test(logons_carry_the_members_target_info),
        cmocka_unit_test(each_logon_has_another_challenge),
        cmocka_unit_test(members_report_their_operating_system),
        cmocka_unit_test(capabilities_of_level_2_are_asked_by_models),
        cmocka_unit_test(passwords_change_and_change_back),
        cmocka_unit_test(accounts_from_a_file_keep_their_password),
        cmocka_unit_test(an_interrupted_change_is_undone),
        cmocka_unit_test(dcs_are_found_without_the_secure_channel),
        cmocka_unit_test(a_denied_call_costs_no_channel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
