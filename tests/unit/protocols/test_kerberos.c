/* SPDX-License-Identifier: Apache-2.0 */
/* Kerberos without a DC: keys, causes of a KDC's misbehaviour, the user's own tickets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include <ctype.h>
#include <errno.h>
#include <krb5/krb5.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "protocols/kerberos/kerberos.h"
#include "protocols/kerberos/kerberos_private.h"
#include "tests/lib/bytes.h"
#include "tests/lib/kdc_error.h"
#include "tests/lib/packets.h"
#include "tests/lib/servers/loopback.h"
#include "tests/lib/servers/udp_server.h"
#include "tests/lib/temporary.h"

static const char realm[] = "SAMDOM.EXAMPLE.COM";
static char user_name[] = "krb-user", machine_name[] = "PC-0-1$", password[] = "Pa55-word";

/* The key that libkrb5 derives. */
static void expected_key(const char *salt_text, uint8_t key[32])
{
    krb5_context context;
    krb5_keyblock made;
    const krb5_data text = {.data = password, .length = sizeof password - 1};
    const krb5_data salt = {.data = (char *)(uintptr_t)salt_text,
                            .length = (unsigned)strlen(salt_text)};
    assert_int_equal(krb5_init_context(&context), 0);
    assert_int_equal(
        krb5_c_string_to_key(context, ENCTYPE_AES256_CTS_HMAC_SHA1_96, &text, &salt, &made), 0);
    assert_int_equal(made.length, 32);
    memcpy(key, made.contents, 32);
    krb5_free_keyblock_contents(context, &made);
    krb5_free_context(context);
}

static void keys_have_the_salts_of_a_domain(void **state)
{
    (void)state;
    static const struct {
        const char *name, *salt;
        bool machine;
    } cases[] = {{"krb-user", "SAMDOM.EXAMPLE.COMkrb-user", false},
                 {"STGU-0-1", "SAMDOM.EXAMPLE.COMSTGU-0-1", false},
                 {"STGM-0-1$", "SAMDOM.EXAMPLE.COMhoststgm-0-1.samdom.example.com", true},
                 {"pc", "SAMDOM.EXAMPLE.COMhostpc.samdom.example.com", true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct account account = {.name = strdup(cases[i].name),
                                  .password = strdup(password),
                                  .machine = cases[i].machine};
        uint8_t key[32];
        assert_int_equal(kerberos_derive_key(&account, realm), 0);
        assert_true(account.has_aes256_key);
        expected_key(cases[i].salt, key);
        assert_memory_equal(account.aes256_key, key, sizeof key);
        account_clear(&account);
    }
    struct account nobody = {0};
    assert_int_equal(kerberos_derive_key(&nobody, realm), -EINVAL);
}

static void *derive_some(void *argument)
{
    struct account *account = argument;
    for (int i = 0; i < 5; i++)
        if (kerberos_derive_key(account, realm) != 0)
            return argument;
    return NULL;
}

static void keys_are_derived_in_parallel(void **state)
{
    (void)state;
    enum { THREADS = 6 };
    pthread_t threads[THREADS];
    struct account accounts[THREADS];
    uint8_t key[32];
    for (int i = 0; i < THREADS; i++) {
        accounts[i] = (struct account){.name = user_name, .password = password};
        assert_int_equal(pthread_create(&threads[i], NULL, derive_some, &accounts[i]), 0);
    }
    expected_key("SAMDOM.EXAMPLE.COMkrb-user", key);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
        assert_memory_equal(accounts[i].aes256_key, key, sizeof key);
    }
}

/* Answers each TCP connection with the same bytes (NULL: only reads), then closes it. */
struct kdc_server {
    const uint8_t *reply;
    size_t size;
    uint16_t port;
    atomic_uint requests;
    int fd, stop[2];
    pthread_t thread;
};

static void *kdc_main(void *argument)
{
    struct kdc_server *server = argument;
    for (;;) {
        struct pollfd fds[] = {{server->fd, POLLIN, 0}, {server->stop[0], POLLIN, 0}};
        if (poll(fds, 2, -1) > 0 && fds[1].revents)
            return NULL;
        int fd = accept(server->fd, NULL, NULL);
        uint8_t request[4096];
        if (recv(fd, request, sizeof request, 0) > 0)
            atomic_fetch_add(&server->requests, 1);
        if (server->reply)
            send(fd, server->reply, server->size, MSG_NOSIGNAL);
        else
            recv(fd, request, sizeof request, 0); /* until the other side closes */
        close(fd);
    }
}

static void kdc_start_on(struct kdc_server *server, int fd);

static void kdc_start(struct kdc_server *server, uint16_t port)
{
    server->port = port;
    kdc_start_on(server, loopback_listen(&server->port, 8));
}

static void kdc_start_on(struct kdc_server *server, int fd)
{
    atomic_init(&server->requests, 0);
    server->fd = fd;
    assert_return_code(pipe(server->stop), errno);
    assert_int_equal(pthread_create(&server->thread, NULL, kdc_main, server), 0);
}

static void kdc_stop(struct kdc_server *server)
{
    assert_int_equal(write(server->stop[1], "", 1), 1);
    pthread_join(server->thread, NULL);
    close(server->fd);
    close(server->stop[0]);
    close(server->stop[1]);
}

static uint64_t random_zero(void *state)
{
    (void)state;
    return 0;
}

struct player {
    struct dc *dc;
    struct account user, machine;
    struct conversation conversation;
};

static void player_init(struct player *player, uint16_t port)
{
    *player = (struct player){.dc = loopback_dc(),
                              .user = {.name = user_name, .password = password},
                              .machine = {.name = machine_name, .machine = true}};
    struct dc *dc = player->dc;
    dc->ports.kerberos = port;
    dc->realm = strdup(realm);
    dc->dns_domain = strdup("samdom.example.com");
    dc->dns_name = strdup("dc1.samdom.example.com");
    assert_true(dc->realm && dc->dns_domain && dc->dns_name);
    player->user.has_aes256_key = player->machine.has_aes256_key = true;
    player->conversation = (struct conversation){.wire.waiter = wire_blocking_waiter(),
                                                 .dc = dc,
                                                 .user = &player->user,
                                                 .machine = &player->machine,
                                                 .random = random_zero};
    conversation_init(&player->conversation);
}

static void player_end(struct player *player)
{
    conversation_reset(&player->conversation);
    assert_null(player->conversation.krb5);
    dc_free(player->dc);
}

static struct outcome play(struct player *player, const char *opcode, int64_t timeout_ms)
{
    return form_play(&player->conversation, "kerberos", opcode, NULL, 0, timeout_ms * 1000000);
}

/* Expects a cause after an AS exchange gets this reply, which includes its length. */
static void expect(const uint8_t *reply, size_t size, const char *cause)
{
    struct kdc_server server = {.reply = reply, .size = size};
    struct player player;
    kdc_start(&server, 0);
    player_init(&player, server.port);
    struct outcome outcome = play(&player, "10", reply ? 10000 : 200);
    assert_int_equal(outcome.kind, OUTCOME_FAILED);
    assert_string_equal(outcome.cause, cause);
    assert_int_equal(server.requests, 1);
    assert_true(player.conversation.kerberos);
    /* There are no credentials. */
    assert_ptr_equal(kerberos_gss_credentials(&player.conversation, &player.user),
                     GSS_C_NO_CREDENTIAL);
    player_end(&player);
    kdc_stop(&server);
}

static void expect_hex(const char *hex, const char *cause)
{
    uint8_t bytes[256];
    expect(bytes, bytes_from_hex(hex, bytes), cause);
}

static void kdc_that_sends_nonsense(void **state)
{
    (void)state;
    expect_hex("00000000", "malformed reply");
    expect_hex("00100001 6b", "malformed reply"); /* over 1 MiB */
    expect_hex("ffffffff", "malformed reply");
    expect_hex("00000004 deadbeef", "malformed reply");
    expect_hex("00000004 6b020000", "malformed reply");     /* AS-REP, but empty */
    expect_hex("00000006 7e0430020000", "malformed reply"); /* KRB-ERROR, but empty */
    expect_hex("00000010 6b0e", "connection closed in mid-message");
    expect_hex("0000", "connection closed in mid-message");
    expect_hex("00000002 6b82", "malformed reply");
    expect(NULL, 0, "timed out");
}

static void kdc_that_is_not_there(void **state)
{
    (void)state;
    struct player player;
    player_init(&player, loopback_unused_port());
    struct outcome outcome = play(&player, "10", 5000);
    assert_unreached(outcome, "connection refused", "TCP", player.dc->ports.kerberos);
    player.dc->options.kdc = KDC_UDP;
    outcome = play(&player, "12", 5000);
    assert_unreached(outcome, "connection refused", "UDP", player.dc->ports.kerberos);
    player_end(&player);
}

static void errors_have_their_names(void **state)
{
    (void)state;
    static const struct {
        krb5_ui_4 code;
        int clock_offset;
        const char *cause;
    } cases[] = {{6, 0, "KDC_ERR_C_PRINCIPAL_UNKNOWN"},
                 {18, 0, "KDC_ERR_CLIENT_REVOKED"},
                 {23, 0, "KDC_ERR_KEY_EXPIRED"},
                 {24, 0, "KDC_ERR_PREAUTH_FAILED"},
                 {60, 0, "KRB_ERR_GENERIC"},
                 {121, 0, "KDC error 121"},
                 {37, 400, "clock differs by 420 s"},
                 {37, -7200, "clock differs by 7200 s"},
                 {37, 7185, "clock differs by 7200 s"},
                 {52, 0, "KRB_ERR_RESPONSE_TOO_BIG"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t reply[512];
        size_t size = kdc_error(cases[i].code, cases[i].clock_offset, reply);
        expect(reply, size, cases[i].cause);
    }
}

/* A truncated KRB-ERROR is malformed, or the connection closed; there is no third cause. */
static void error_cut_anywhere(void **state)
{
    (void)state;
    uint8_t reply[512];
    size_t size = kdc_error(24, 0, reply);
    for (size_t cut = 5; cut < size; cut++) {
        reply[2] = (uint8_t)((cut - 4) >> 8);
        reply[3] = (uint8_t)(cut - 4);
        expect(reply, cut, "malformed reply");
    }
}

static size_t too_big(void *context, unsigned nth, const uint8_t *question, size_t size,
                      uint8_t *reply)
{
    (void)context, (void)nth, (void)question, (void)size;
    uint8_t error[512];
    size_t length = kdc_error(52, 0, error) - 4;
    memcpy(reply, error + 4, length);
    return length;
}

static void too_big_for_udp_goes_over_to_tcp(void **state)
{
    (void)state;
    uint8_t reply[512];
    struct kdc_server tcp = {.reply = reply, .size = kdc_error(18, 0, reply)};
    struct udp_server udp = {.answer = too_big};
    struct player player;
    int udp_fd, tcp_fd;
    uint16_t port;
    loopback_pair(&udp_fd, &tcp_fd, &port);
    kdc_start_on(&tcp, tcp_fd);
    udp_server_start_on(&udp, udp_fd, port);
    player_init(&player, port);
    player.dc->options.kdc = KDC_UDP;
    struct outcome outcome = play(&player, "10", 10000);
    assert_string_equal(outcome.cause, "KDC_ERR_CLIENT_REVOKED");
    assert_int_equal(udp.questions, 1);
    assert_int_equal(tcp.requests, 1);
    player_end(&player);
    udp_server_stop(&udp);
    kdc_stop(&tcp);
}

static void wrong_password_that_is_not_answered(void **state)
{
    (void)state;
    struct kdc_server server = {.reply = NULL};
    struct player player;
    kdc_start(&server, 0);
    player_init(&player, server.port);
    player.dc->options.badpassword_frequency = 1;
    struct outcome outcome = play(&player, "10", 200);
    assert_int_equal(outcome.kind, OUTCOME_FAILED);
    assert_string_equal(outcome.cause, "timed out");
    assert_int_equal(player.conversation.expected_failures, 0);
    player_end(&player);
    kdc_stop(&server);
    uint8_t reply[512];
    server = (struct kdc_server){.reply = reply, .size = kdc_error(24, 0, reply)};
    kdc_start(&server, 0);
    player_init(&player, server.port);
    player.dc->options.badpassword_frequency = 1;
    outcome = play(&player, "10", 10000); /* -B's failure is expected, this one is not */
    assert_string_equal(outcome.cause, "KDC_ERR_PREAUTH_FAILED");
    assert_int_equal(player.conversation.expected_failures, 1);
    assert_int_equal(server.requests, 2);
    player_end(&player);
    kdc_stop(&server);
}

static void salt_that_the_kdc_does_not_tell(void **state)
{
    (void)state;
    uint8_t reply[512];
    struct kdc_server server = {.reply = reply, .size = kdc_error(6, 0, reply)};
    struct player player;
    kdc_start(&server, 0);
    player_init(&player, server.port);
    player.conversation.wire.deadline = clock_now() + INT64_C(10000000000);
    struct outcome outcome = kerberos_learn_key(&player.conversation, &player.user);
    assert_string_equal(outcome.cause, "KDC_ERR_C_PRINCIPAL_UNKNOWN");
    player_end(&player);
    kdc_stop(&server);
}

static void hint_turns_to_kerberos(void **state)
{
    (void)state;
    struct player player;
    player_init(&player, 1);
    assert_false(player.conversation.kerberos);
    assert_int_equal(play(&player, "", 1000).kind, OUTCOME_NOTHING);
    assert_true(player.conversation.kerberos);
    player_end(&player);
}

static void without_realm_or_key(void **state)
{
    (void)state;
    struct player player;
    player_init(&player, 1);
    struct account nobody = {.name = user_name};
    player.conversation.user = &nobody;
    assert_string_equal(play(&player, "10", 1000).cause, "no credentials for the account");
    free(player.dc->realm);
    player.dc->realm = NULL;
    assert_string_equal(play(&player, "10", 1000).cause, "no Kerberos realm is known");
    assert_string_equal(play(&player, "12", 1000).cause, "no Kerberos realm is known");
    player_end(&player);
}

static void details_are_checked(void **state)
{
    (void)state;
    static const struct {
        const char *opcode, *key, *value;
        bool good;
    } cases[] = {{"10", "as", "user", true},      {"10", "as", "machine", true},
                 {"10", "as", "admin", false},    {"10", "service", "ldap", false},
                 {"12", "service", "ldap", true}, {"12", "service", "host/dc1", false},
                 {"12", "service", "", false},    {"12", "as", "user", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct packet_field field = {cases[i].key, 1, &cases[i].value};
        struct error error = {0};
        struct form form;
        assert_int_equal(form_compile(&form, "kerberos", cases[i].opcode, &field, 1, &error),
                         cases[i].good);
        assert_int_equal(error.text[0] == '\0', cases[i].good);
        form_release(&form);
    }
}

static void profile_is_private_and_leaves_nothing(void **state)
{
    (void)state;
    struct player player;
    struct error error = {0};
    player_init(&player, 1);
    free(player.dc->dns_name);
    player.dc->dns_name =
        strdup("dc1\n[plugins]"); /* a malformed name does not enter the profile */
    assert_int_equal(kerberos_global_init(player.dc, &error), 0);
    char text[4096], path[128];
    snprintf(path, sizeof path, "%s", getenv("KRB5_CONFIG"));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_non_null(strstr(text, "dns_lookup_kdc = false"));
    assert_non_null(strstr(text, "default_realm = SAMDOM.EXAMPLE.COM"));
    assert_null(strstr(text, "dc1"));
    kerberos_global_end();
    struct stat status;
    assert_int_not_equal(stat(path, &status), 0);
    player_end(&player);
}

static krb5_principal principal(krb5_context context, const char *name)
{
    krb5_principal result;
    assert_int_equal(krb5_parse_name(context, name, &result), 0);
    return result;
}

/* RFC 4120 5.3, with an enc-part that nobody decrypts. */
static char fake_ticket[] = "\x61\x57\x30\x55\xa0\x03\x02\x01\x05\xa1\x14\x1b\x12SAMDOM.EXAMPLE.COM"
                            "\xa2\x27\x30\x25\xa0\x03\x02\x01\x02\xa1\x1e\x30\x1c\x1b\x06krbtgt"
                            "\x1b\x12SAMDOM.EXAMPLE.COM\xa3\x0f\x30\x0d\xa0\x03\x02\x01\x12"
                            "\xa2\x06\x04\x04sxyz";
static uint8_t fake_key[32] = {1};

/* A ticket for a service; the caller frees its principals. */
static krb5_creds fake_creds(krb5_context context, const char *service, time_t end)
{
    return (krb5_creds){
        .client = principal(context, "Administrator@SAMDOM.EXAMPLE.COM"),
        .server = principal(context, service),
        .keyblock = {.enctype = ENCTYPE_AES256_CTS_HMAC_SHA1_96,
                     .length = sizeof fake_key,
                     .contents = fake_key},
        .times = {.authtime = (krb5_timestamp)(end - 36000), .endtime = (krb5_timestamp)end},
        .ticket = {.length = sizeof fake_ticket - 1, .data = fake_ticket}};
}

static const char krbtgt[] = "krbtgt/SAMDOM.EXAMPLE.COM@SAMDOM.EXAMPLE.COM";
static const char ldap_service[] = "ldap/dc1.samdom.example.com@SAMDOM.EXAMPLE.COM";

/* A ticket cache in a file with a TGT and a ticket for LDAP that end at that time. */
static void make_ccache(const char *file, time_t end)
{
    krb5_context context;
    krb5_ccache ccache;
    const char *services[] = {krbtgt, ldap_service};
    assert_int_equal(krb5_init_context(&context), 0);
    assert_int_equal(krb5_cc_resolve(context, file, &ccache), 0);
    for (int i = 0; i < 2; i++) {
        krb5_creds creds = fake_creds(context, services[i], end);
        if (i == 0)
            assert_int_equal(krb5_cc_initialize(context, ccache, creds.client), 0);
        assert_int_equal(krb5_cc_store_cred(context, ccache, &creds), 0);
        krb5_free_principal(context, creds.client);
        krb5_free_principal(context, creds.server);
    }
    krb5_cc_close(context, ccache);
    krb5_free_context(context);
}

static unsigned count_tickets(krb5_context context, krb5_ccache ccache)
{
    krb5_cc_cursor cursor;
    krb5_creds ticket;
    unsigned count = 0;
    assert_int_equal(krb5_cc_start_seq_get(context, ccache, &cursor), 0);
    for (; krb5_cc_next_cred(context, ccache, &cursor, &ticket) == 0; count++)
        krb5_free_cred_contents(context, &ticket);
    krb5_cc_end_seq_get(context, ccache, &cursor);
    return count;
}

/* A new ticket replaces the old one, however often. */
static void tickets_take_the_place_of_older_ones(void **state)
{
    (void)state;
    struct player player;
    player_init(&player, 1);
    krb5_context context = kerberos_context();
    struct tickets *tickets = tickets_get(&player.conversation, &player.user);
    assert_non_null(tickets);
    assert_null(tickets->ccache);
    krb5_creds service = fake_creds(context, ldap_service, time(NULL) + 3600);
    for (int i = 0; i < 300; i++) {
        krb5_creds tgt = fake_creds(context, krbtgt, time(NULL) + 3600 + i), *copy;
        assert_int_equal(krb5_copy_creds(context, &tgt, &copy), 0);
        krb5_free_principal(context, tgt.client);
        krb5_free_principal(context, tgt.server);
        assert_int_equal(tickets_keep_tgt(context, tickets, copy), 0);
        free(copy);
        assert_int_equal(tickets_add(context, tickets, &service), 0);
        assert_true(tickets->replaced < 100);
        assert_int_equal(count_tickets(context, tickets->ccache), 2);
        assert_ptr_not_equal(kerberos_gss_credentials(&player.conversation, &player.user),
                             GSS_C_NO_CREDENTIAL);
    }
    assert_int_equal(kerberos_ensure_ticket(&player.conversation, &player.user, "ldap").kind,
                     OUTCOME_OK);
    krb5_free_principal(context, service.client);
    krb5_free_principal(context, service.server);
    player_end(&player);
}

static void own_tickets_of_the_administrator(void **state)
{
    (void)state;
    struct error error = {0};
    char name[512];
    char *file = file_in_tmp("krb5", "");
    snprintf(name, sizeof name, "FILE:%s", file);
    struct player player;
    player_init(&player, loopback_unused_port());
    player.dc->admin_ccache = strdup(name);

    make_ccache(name, time(NULL) - 60);
    assert_int_equal(kerberos_global_init(player.dc, &error), -EKEYEXPIRED);
    assert_non_null(strstr(error.text, "have expired: run kinit again"));
    kerberos_global_end();

    unsetenv("KRB5_CONFIG");
    make_ccache(name, time(NULL) + 3600);
    assert_int_equal(kerberos_global_init(player.dc, &error), 0);
    unlink(file); /* already read */
    free(file);
    player.conversation.wire.deadline = clock_now() + INT64_C(5000000000);
    struct account *admin = &player.dc->admin;
    assert_int_equal(kerberos_as_exchange(&player.conversation, admin).kind, OUTCOME_OK);
    assert_int_equal(kerberos_ensure_ticket(&player.conversation, admin, "ldap").kind, OUTCOME_OK);
    assert_ptr_not_equal(kerberos_gss_credentials(&player.conversation, admin),
                         GSS_C_NO_CREDENTIAL);
    /* A missing ticket is requested from the KDC, and nobody listens. */
    struct outcome outcome = kerberos_ensure_ticket(&player.conversation, admin, "cifs");
    assert_unreached(outcome, "connection refused", "TCP", player.dc->ports.kerberos);
    conversation_reset(&player.conversation);
    kerberos_global_end();

    assert_int_equal(kerberos_global_init(player.dc, &error), -ENOENT);
    assert_non_null(strstr(error.text, "there are no Kerberos tickets in"));
    kerberos_global_end();
    unsetenv("KRB5_CONFIG");
    player_end(&player);
}

static void a_damaged_profile_is_reported(void **state)
{
    (void)state;
    struct error error = {0};
    char *file = file_in_tmp("krb5", "[libdefaults]\nnonsense\n");
    setenv("KRB5_CONFIG", file, 1);
    assert_null(kerberos_default_ccache(&error));
    assert_int_equal(error.code, -EIO);
    assert_string_equal(error.text, "libkrb5 cannot be used: Improper format of Kerberos "
                                    "configuration file");
    unsetenv("KRB5_CONFIG");
    unlink(file);
    free(file);
}

static void failures_of_libkrb5_have_their_own_causes(void **state)
{
    (void)state;
    static const struct {
        krb5_error_code code;
        const char *cause;
    } failures[] = {
        {ENOMEM, "out of memory"},
        {KRB5_CC_NOTFOUND, "Kerberos: Matching credential not found"},
        {KRB5_PARSE_MALFORMED, "Kerberos: Malformed representation of principal"},
        {ASN1_BAD_LENGTH, "malformed reply"},
    };
    assert_non_null(kerberos_context()); /* registers the texts */
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
        struct outcome outcome = kerberos_library_failure(failures[i].code);
        assert_int_equal(outcome.kind, OUTCOME_FAILED);
        assert_string_equal(outcome.cause, failures[i].cause);
    }
    kerberos_global_end();
}

static void a_ticket_cache_that_cannot_be_read_is_reported(void **state)
{
    (void)state;
    struct error error = {0};
    char name[512];
    char *file = file_in_tmp("krb5", "no tickets");
    snprintf(name, sizeof name, "FILE:%s", file);
    struct player player;
    player_init(&player, loopback_unused_port());
    player.dc->admin_ccache = strdup(name);
    assert_int_equal(kerberos_global_init(player.dc, &error), -EIO);
    assert_int_equal(error.code, -EIO);
    assert_non_null(strstr(error.text, "cannot be read: "));
    kerberos_global_end();
    unsetenv("KRB5_CONFIG");
    unlink(file);
    free(file);
    player_end(&player);
}

static void default_ccache_is_the_users(void **state)
{
    (void)state;
    setenv("KRB5CCNAME", "FILE:/tmp/some-cache", 1);
    char *name = kerberos_default_ccache(NULL);
    assert_string_equal(name, "FILE:/tmp/some-cache");
    free(name);
    unsetenv("KRB5CCNAME");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_have_the_salts_of_a_domain),
        cmocka_unit_test(keys_are_derived_in_parallel),
        cmocka_unit_test(kdc_that_sends_nonsense),
        cmocka_unit_test(kdc_that_is_not_there),
        cmocka_unit_test(errors_have_their_names),
        cmocka_unit_test(error_cut_anywhere),
        cmocka_unit_test(too_big_for_udp_goes_over_to_tcp),
        cmocka_unit_test(wrong_password_that_is_not_answered),
        cmocka_unit_test(salt_that_the_kdc_does_not_tell),
        cmocka_unit_test(hint_turns_to_kerberos),
        cmocka_unit_test(without_realm_or_key),
        cmocka_unit_test(details_are_checked),
        cmocka_unit_test(profile_is_private_and_leaves_nothing),
        cmocka_unit_test(tickets_take_the_place_of_older_ones),
        cmocka_unit_test(own_tickets_of_the_administrator),
        cmocka_unit_test(a_damaged_profile_is_reported),
        cmocka_unit_test(failures_of_libkrb5_have_their_own_causes),
        cmocka_unit_test(a_ticket_cache_that_cannot_be_read_is_reported),
        cmocka_unit_test(default_ccache_is_the_users),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
