/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LDAP connections against a small server: answers that arrive byte by byte, are cut at every
 * length, are garbage, too large or missing; failures of the libraries.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after those four */
#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <openldap.h>
#include <sasl/sasl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "protocols/ldap/ldap_connection_private.h"
#include "protocols/ldap/ldap_hide_hostname.h"
#include "protocols/ldap/ldap_search.h"
#include "protocols/tls.h"
#include "replay/engine/loop.h"
#include "tests/lib/servers/ldap_leaks.h"
#include "tests/lib/servers/ldap_server.h"
#include "tests/lib/test_random.h"

static const int64_t TIMEOUT = 10000000000;

struct client {
    struct dc *dc;
    struct conversation conversation;
    struct ldap_connection *connection;
};

static struct outcome client_open(struct client *client, struct dc *dc, struct waiter *waiter,
                                  int64_t timeout)
{
    *client = (struct client){.dc = dc};
    client->conversation =
        (struct conversation){.wire = {.waiter = waiter}, .dc = dc, .random = test_random_zero};
    client->conversation.wire.deadline = clock_now() + timeout;
    return ldap_connection_open(&client->connection, &client->conversation, LDAP_TRANSPORT_CLEAR);
}

static struct outcome client_search(struct client *client, uint64_t *entries)
{
    struct ldap_search search = {
        .base = "o=x", .scope = LDAP_SCOPE_SUBTREE, .filter = "(cn=*)", .paged = true};
    struct outcome outcome = ldap_search_run(client->connection, &search);
    if (entries)
        *entries = search.entries;
    return outcome;
}

/* Opens one connection to the server and searches once. */
static struct outcome search_once(struct ldap_server *server, int64_t timeout, uint64_t *entries)
{
    struct client client;
    struct dc *dc = ldap_server_dc(server);
    struct outcome outcome = client_open(&client, dc, wire_blocking_waiter(), timeout);
    assert_int_equal(outcome.kind, OUTCOME_OK);
    outcome = client_search(&client, entries);
    assert_true(outcome.kind == OUTCOME_OK || ldap_connection_is_broken(client.connection) ||
                outcome.kind == OUTCOME_FAILED);
    ldap_connection_close(client.connection);
    dc_free(dc);
    return outcome;
}

static void three_entries(struct ldap_server *server, int id, int request,
                          struct ldap_answer *answer)
{
    (void)server;
    (void)request;
    ldap_answer_put_entry(answer, id, "cn=one,o=x", "one");
    ldap_answer_put_entry(answer, id, "cn=two,o=x", "two");
    ldap_answer_put_entry(answer, id, "cn=three,o=x", "three");
    ldap_answer_put_result(answer, id, LDAP_RES_SEARCH_RESULT, LDAP_SUCCESS, "");
}

static size_t size_of_three_entries(void)
{
    struct ldap_answer *answer = calloc(1, sizeof *answer);
    assert_non_null(answer);
    three_entries(NULL, 1, 0, answer);
    size_t size = answer->size;
    free(answer);
    return size;
}

static void bytes_may_come_in_any_pieces(void **state)
{
    (void)state;
    for (size_t chunk = 1; chunk <= 60; chunk += chunk < 8 ? 1 : 13) {
        struct ldap_server server = {.reply = three_entries, .chunk = chunk, .cut_after = SIZE_MAX};
        uint64_t entries = 0;
        ldap_server_start(&server);
        assert_int_equal(search_once(&server, TIMEOUT, &entries).kind, OUTCOME_OK);
        assert_int_equal(entries, 3);
        ldap_server_stop(&server);
    }
}

static void cut_answers_fail(bool reset)
{
    size_t size = size_of_three_entries();
    for (size_t cut = 0; cut < size; cut++) {
        struct ldap_server server = {.reply = three_entries, .cut_after = cut, .reset = reset};
        ldap_server_start(&server);
        struct outcome outcome = search_once(&server, TIMEOUT, NULL);
        ldap_server_stop(&server);
        assert_int_equal(outcome.kind, OUTCOME_FAILED);
        if (reset)
            assert_string_equal(outcome.cause, "connection reset");
        else if (cut == 0)
            assert_string_equal(outcome.cause, "connection closed by the server");
        else if (strcmp(outcome.cause, "connection closed by the server") != 0)
            assert_string_equal(outcome.cause, "connection closed in mid-message");
    }
}

static void answers_cut_at_every_length(void **state)
{
    (void)state;
    cut_answers_fail(false);
}

static void resets_at_every_length(void **state)
{
    (void)state;
    cut_answers_fail(true);
}

static void silence_times_out(void **state)
{
    (void)state;
    struct ldap_server server = {.reply = three_entries, .cut_after = 20, .silent = true};
    ldap_server_start(&server);
    int64_t began = clock_now();
    struct outcome outcome = search_once(&server, 200000000, NULL);
    assert_int_equal(outcome.kind, OUTCOME_FAILED);
    assert_string_equal(outcome.cause, "timed out");
    assert_true(clock_now() - began < 2000000000);
    ldap_server_stop(&server);
}

static void many_entries(struct ldap_server *server, int id, int request,
                         struct ldap_answer *answer)
{
    (void)server;
    (void)request;
    while (answer->size < 100000)
        ldap_answer_put_entry(answer, id, "cn=one,o=x", "one");
}

/* Endless entries without a pause must not defeat the deadline. */
static void a_flood_times_out(void **state)
{
    (void)state;
    struct ldap_server server = {.reply = many_entries, .cut_after = SIZE_MAX, .flood = true};
    uint64_t entries = 0;
    ldap_server_start(&server);
    int64_t began = clock_now();
    struct outcome outcome = search_once(&server, 300000000, &entries);
    assert_string_equal(outcome.cause, "timed out");
    assert_true(entries > 1000);
    assert_true(clock_now() - began < 3000000000);
    ldap_server_stop(&server);
}

static const struct {
    const char *bytes;
    size_t size;
} garbage[] = {
    {"\x30\x84\x7f\xff\xff\xff\x02\x01\x01", 9},          /* 2 GiB */
    {"\x30\x88\x7f\xff\xff\xff\xff\xff\xff\xff\x00", 11}, /* 8 EiB */
    {"\x30\x80\x02\x01\x01\x00\x00", 7},                  /* indefinite length */
    {"\x31\x03\x02\x01\x01", 5},                          /* a SET */
    {"\x30\x03\x04\x01\x01", 5},                          /* no message id */
    {"\x30\x06\x02\x01\x01\x65\x07\x0a", 8},              /* a part longer than the whole */
    {"\x30\x0c\x02\x01\x01\x65\x07\x0a\x01\x00\x04\x7f\x04\x00", 14}, /* matchedDN too long */
    {"\x00\x00\x00\x00\x00\x00\x00\x00", 8},
    {"\xff\xff\xff\xff\xff\xff\xff\xff", 8},
    {"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", 47},
};

static size_t garbage_number;

static void put_garbage(struct ldap_server *server, int id, int request, struct ldap_answer *answer)
{
    (void)server;
    (void)id;
    (void)request;
    memcpy(answer->bytes, garbage[garbage_number].bytes, garbage[garbage_number].size);
    answer->size = garbage[garbage_number].size;
}

static void garbage_is_refused(void **state)
{
    (void)state;
    for (garbage_number = 0; garbage_number < sizeof garbage / sizeof garbage[0];
         garbage_number++) {
        struct ldap_server server = {.reply = put_garbage, .cut_after = SIZE_MAX, .silent = true};
        ldap_server_start(&server);
        struct outcome outcome = search_once(&server, 300000000, NULL);
        assert_int_equal(outcome.kind, OUTCOME_FAILED);
        /* A length beyond the end looks like a slow answer. */
        if (strcmp(outcome.cause, "timed out") != 0)
            assert_string_equal(outcome.cause, "malformed reply");
        else
            assert_true(garbage[garbage_number].size >= 8);
        ldap_server_stop(&server);
    }
}

static uint64_t noise_state;

static void put_noise(struct ldap_server *server, int id, int request, struct ldap_answer *answer)
{
    (void)server;
    (void)id;
    (void)request;
    for (size_t i = 0; i < 200; i++) {
        answer->bytes[answer->size++] = (uint8_t)(test_random(&noise_state) >> 40);
    }
    /* A plausible beginning, so that more than the first byte is decoded. */
    memcpy(answer->bytes, "\x30\x20\x02\x01\x01\x64", 6);
    server->cut_after = 200;
}

static void noise_is_refused(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        noise_state = seed;
        struct ldap_server server = {.reply = put_noise, .cut_after = SIZE_MAX};
        ldap_server_start(&server);
        struct client client;
        struct dc *dc = ldap_server_dc(&server);
        assert_int_equal(client_open(&client, dc, wire_blocking_waiter(), 100000000).kind,
                         OUTCOME_OK);
        assert_int_equal(client_search(&client, NULL).kind, OUTCOME_FAILED);
        /* A broken connection stays broken and sends nothing more. */
        if (ldap_connection_is_broken(client.connection))
            assert_int_equal(client_search(&client, NULL).kind, OUTCOME_FAILED);
        ldap_connection_close(client.connection);
        dc_free(dc);
        ldap_server_stop(&server);
    }
}

static const char *sub_code;

static void refuse(struct ldap_server *server, int id, int request, struct ldap_answer *answer)
{
    (void)server;
    char text[120];
    bool bind = request == LDAP_REQ_BIND;
    snprintf(text, sizeof text,
             "80090308: LdapErr: DSID-0C0903A9, comment: AcceptSecurityContext error, data %s, "
             "v1db1",
             sub_code);
    ldap_answer_put_result(answer, id, bind ? LDAP_RES_BIND : LDAP_RES_SEARCH_RESULT,
                           bind ? LDAP_INVALID_CREDENTIALS : LDAP_BUSY, text);
}

static void result_codes_are_named(void **state)
{
    (void)state;
    struct ldap_server server = {.reply = refuse, .cut_after = SIZE_MAX};
    struct client client;
    ldap_server_start(&server);
    struct dc *dc = ldap_server_dc(&server);
    assert_int_equal(client_open(&client, dc, wire_blocking_waiter(), TIMEOUT).kind, OUTCOME_OK);
    sub_code = "418";
    struct outcome outcome = ldap_connection_bind_simple(client.connection, "cn=x", "secret");
    assert_string_equal(outcome.cause, "invalidCredentials (data 418: NTLM is disabled)");
    sub_code = "80090346";
    outcome = ldap_connection_bind_simple(client.connection, "cn=x", "secret");
    assert_string_equal(outcome.cause,
                        "invalidCredentials (data 80090346: wrong TLS channel bindings)");
    sub_code = "35b";
    outcome = ldap_connection_bind_simple(client.connection, "cn=x", "secret");
    assert_string_equal(outcome.cause, "invalidCredentials (data 35b: wrong TLS channel bindings)");
    sub_code = "52e";
    outcome = ldap_connection_bind_simple(client.connection, "cn=x", "secret");
    assert_string_equal(outcome.cause, "invalidCredentials (data 52e: wrong name or password)");
    assert_false(ldap_connection_is_bound(client.connection));
    outcome = client_search(&client, NULL);
    assert_string_equal(outcome.cause, "busy");
    assert_false(ldap_connection_is_broken(client.connection));
    assert_string_equal(ldap_result_name(LDAP_STRONG_AUTH_REQUIRED), "strongerAuthRequired");
    assert_null(ldap_result_name(12345));
    ldap_connection_close(client.connection);
    dc_free(dc);
    ldap_server_stop(&server);
}

static void a_wrong_request_is_reported(void **state)
{
    (void)state;
    struct ldap_server server = {.reply = three_entries, .cut_after = SIZE_MAX};
    struct client client;
    ldap_server_start(&server);
    struct dc *dc = ldap_server_dc(&server);
    assert_int_equal(client_open(&client, dc, wire_blocking_waiter(), TIMEOUT).kind, OUTCOME_OK);
    struct ldap_search search = {.base = "o=x", .scope = LDAP_SCOPE_SUBTREE, .filter = "(cn"};
    struct outcome outcome = ldap_search_run(client.connection, &search);
    assert_string_equal(outcome.cause, "request not sent: Bad search filter");
    assert_int_equal(client_search(&client, NULL).kind, OUTCOME_OK);
    ldap_connection_close(client.connection);
    dc_free(dc);
    ldap_server_stop(&server);
}

/* Answers in another order than the requests, and one to an unknown request. */
static void mixed_order(struct ldap_server *server, int id, int request, struct ldap_answer *answer)
{
    (void)server;
    (void)request;
    if (id == 1)
        return;
    ldap_answer_put_result(answer, 99, LDAP_RES_SEARCH_RESULT, LDAP_SUCCESS, "");
    ldap_answer_put_result(answer, 0, LDAP_RES_EXTENDED, LDAP_UNAVAILABLE, "");
    for (int i = id; i > 0; i--)
        three_entries(server, i, request, answer);
}

static void answers_find_their_request(void **state)
{
    (void)state;
    struct ldap_server server = {.reply = mixed_order, .cut_after = SIZE_MAX};
    struct client client;
    ldap_server_start(&server);
    struct dc *dc = ldap_server_dc(&server);
    assert_int_equal(client_open(&client, dc, wire_blocking_waiter(), TIMEOUT).kind, OUTCOME_OK);
    int ids[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(ldap_search_ext(ldap_connection_handle(client.connection), "o=x",
                                         LDAP_SCOPE_SUBTREE, "(cn=*)", NULL, 0, NULL, NULL, NULL,
                                         LDAP_NO_LIMIT, &ids[i]),
                         LDAP_SUCCESS);
    for (int i = 0; i < 2; i++) {
        LDAPMessage *message = NULL;
        assert_int_equal(ldap_connection_wait(client.connection, ids[i], LDAP_MSG_ALL, &message),
                         0);
        assert_int_equal(ldap_msgid(message), ids[i]);
        assert_int_equal(ldap_count_entries(ldap_connection_handle(client.connection), message), 3);
        ldap_msgfree(message);
    }
    ldap_connection_close(client.connection);
    dc_free(dc);
    ldap_server_stop(&server);
}

/* StartTLS: bytes before the handshake may be forged. */
static void success_and_more(struct ldap_server *server, int id, int request,
                             struct ldap_answer *answer)
{
    (void)server;
    (void)request;
    ldap_answer_put_result(answer, id, LDAP_RES_EXTENDED, LDAP_SUCCESS, "");
    ldap_answer_put_result(answer, id + 1, LDAP_RES_BIND, LDAP_SUCCESS, "");
}

static void bytes_before_the_handshake_are_refused(void **state)
{
    (void)state;
    struct error error = {0};
    struct ldap_server server = {.reply = success_and_more, .cut_after = SIZE_MAX};
    struct client client;
    ldap_server_start(&server);
    struct dc *dc = ldap_server_dc(&server);
    dc->tls = tls_new(false, NULL, &error);
    assert_non_null(dc->tls);
    assert_int_equal(client_open(&client, dc, wire_blocking_waiter(), TIMEOUT).kind, OUTCOME_OK);
    struct outcome outcome = ldap_connection_start_tls(client.connection);
    assert_string_equal(outcome.cause, "malformed reply");
    assert_true(ldap_connection_is_broken(client.connection));
    ldap_connection_close(client.connection);
    tls_free(dc->tls);
    dc->tls = NULL;
    dc_free(dc);
    ldap_server_stop(&server);
}

struct crowd {
    struct dc *dc;
    unsigned ok;
};

static void one_of_many(struct loop *loop, void *argument, uint64_t i)
{
    (void)i;
    struct crowd *crowd = argument;
    struct client client;
    if (client_open(&client, crowd->dc, loop_waiter(loop), TIMEOUT).kind != OUTCOME_OK)
        return;
    for (int n = 0; n < 5; n++) {
        uint64_t entries = 0;
        if (client_search(&client, &entries).kind == OUTCOME_OK && entries == 3)
            crowd->ok++;
    }
    ldap_connection_close(client.connection);
}

static void fibers_wait_inside_at_once(void **state)
{
    (void)state;
    struct ldap_server server = {.reply = three_entries, .chunk = 7, .cut_after = SIZE_MAX};
    ldap_server_start(&server);
    struct crowd crowd = {.dc = ldap_server_dc(&server)};
    assert_int_equal(loop_run_all(one_of_many, &crowd, 64, 64), 0);
    assert_int_equal(crowd.ok, 64 * 5);
    dc_free(crowd.dc);
    ldap_server_stop(&server);
}

/* Returned by the next call of each of these functions of libldap and libsasl, if not 0. */
static int next_ldap_create, next_ldap_init_fd, next_ldap_set_option, next_sasl_client_init;
static int next_ldap_parse_result;

static int take_result(int *next)
{
    int result = *next;
    *next = 0;
    return result;
}

int ldap_create(LDAP **out)
{
    int result = take_result(&next_ldap_create);
    return result ? result : ((int (*)(LDAP **))dlsym(RTLD_NEXT, "ldap_create"))(out);
}

int ldap_init_fd(ber_socket_t fd, int proto, const char *url, LDAP **out)
{
    int (*real)(ber_socket_t, int, const char *, LDAP **) =
        (int (*)(ber_socket_t, int, const char *, LDAP **))dlsym(RTLD_NEXT, "ldap_init_fd");
    int result = take_result(&next_ldap_init_fd);
    return result ? result : real(fd, proto, url, out);
}

int ldap_set_option(LDAP *handle, int option, const void *value)
{
    int (*real)(LDAP *, int, const void *) =
        (int (*)(LDAP *, int, const void *))dlsym(RTLD_NEXT, "ldap_set_option");
    int result = option == LDAP_OPT_REFERRALS ? take_result(&next_ldap_set_option) : 0;
    return result ? result : real(handle, option, value);
}

int ldap_parse_result(LDAP *handle, LDAPMessage *message, int *code, char **matched,
                      char **diagnostic, char ***referrals, LDAPControl ***controls, int free_it)
{
    int (*real)(LDAP *, LDAPMessage *, int *, char **, char **, char ***, LDAPControl ***, int) =
        (int (*)(LDAP *, LDAPMessage *, int *, char **, char **, char ***, LDAPControl ***,
                 int))dlsym(RTLD_NEXT, "ldap_parse_result");
    int result = take_result(&next_ldap_parse_result);
    return result ? result
                  : real(handle, message, code, matched, diagnostic, referrals, controls, free_it);
}

int sasl_client_init(const sasl_callback_t *callbacks)
{
    int (*real)(const sasl_callback_t *) =
        (int (*)(const sasl_callback_t *))dlsym(RTLD_NEXT, "sasl_client_init");
    int result = take_result(&next_sasl_client_init);
    return result ? result : real(callbacks);
}

static void a_failure_to_start_names_the_library(void **state)
{
    (void)state;
    struct error error = {0};
    next_sasl_client_init = SASL_NOMECH;
    assert_int_equal(ldap_connection_global_init(&error), -ENOSYS);
    assert_string_equal(error.text, "libsasl cannot be used: no mechanism available");
    next_ldap_create = LDAP_LOCAL_ERROR;
    assert_int_equal(ldap_connection_global_init(&error), -ENOSYS);
    assert_string_equal(error.text, "libldap cannot be used: Local error");
    next_ldap_create = LDAP_NO_MEMORY;
    assert_int_equal(ldap_connection_global_init(&error), -ENOMEM);
    assert_string_equal(error.text, "out of memory");
    assert_int_equal(ldap_connection_global_init(&error), 0);
}

static void a_failure_to_open_has_its_own_cause(void **state)
{
    (void)state;
    static const struct {
        int *next, result;
        const char *cause;
    } failures[] = {
        {&next_ldap_init_fd, LDAP_NO_MEMORY, "out of memory"},
        {&next_ldap_init_fd, LDAP_PARAM_ERROR, "libldap: Bad parameter to an ldap routine"},
        {&next_ldap_set_option, LDAP_OPT_ERROR, "libldap: Not Supported"},
    };
    struct ldap_server server = {.reply = three_entries, .cut_after = SIZE_MAX};
    ldap_server_start(&server);
    struct dc *dc = ldap_server_dc(&server);
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
        struct client client;
        *failures[i].next = failures[i].result;
        struct outcome outcome = client_open(&client, dc, wire_blocking_waiter(), TIMEOUT);
        assert_int_equal(outcome.kind, OUTCOME_FAILED);
        assert_string_equal(outcome.cause, failures[i].cause);
        assert_null(client.connection);
    }
    dc_free(dc);
    ldap_server_stop(&server);
}

/* libldap reports a lack of memory like a reply that it cannot parse. */
static void a_lack_of_memory_is_no_malformed_reply(void **state)
{
    (void)state;
    static const struct {
        int result;
        const char *cause;
    } failures[] = {{LDAP_NO_MEMORY, "out of memory"}, {LDAP_DECODING_ERROR, "malformed reply"}};
    struct ldap_server server = {.reply = three_entries, .cut_after = SIZE_MAX};
    ldap_server_start(&server);
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
        next_ldap_parse_result = failures[i].result;
        struct outcome outcome = search_once(&server, TIMEOUT, NULL);
        assert_int_equal(outcome.kind, OUTCOME_FAILED);
        assert_string_equal(outcome.cause, failures[i].cause);
    }
    ldap_server_stop(&server);
}

/* libsasl and libldap look up this host's name unless it looks like an address. */
static void host_name_is_not_looked_up(void **state)
{
    (void)state;
    char name[300] = "", hidden[300] = "";
    assert_int_equal(gethostname(name, sizeof name), 0);
    ldap_hide_hostname(true);
    int result = gethostname(hidden, sizeof hidden);
    ldap_hide_hostname(false);
    assert_int_equal(result, 0);
    assert_string_equal(hidden, "127.0.0.1");
    assert_string_not_equal(name, hidden);
    assert_int_equal(gethostname(name, 1), -1);
    assert_int_equal(errno, ENAMETOOLONG);
}

static int set_up(void **state)
{
    (void)state;
    return ldap_connection_global_init(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_may_come_in_any_pieces),
        cmocka_unit_test(answers_cut_at_every_length),
        cmocka_unit_test(resets_at_every_length),
        cmocka_unit_test(silence_times_out),
        cmocka_unit_test(a_flood_times_out),
        cmocka_unit_test(garbage_is_refused),
        cmocka_unit_test(noise_is_refused),
        cmocka_unit_test(result_codes_are_named),
        cmocka_unit_test(a_wrong_request_is_reported),
        cmocka_unit_test(answers_find_their_request),
        cmocka_unit_test(bytes_before_the_handshake_are_refused),
        cmocka_unit_test(fibers_wait_inside_at_once),
        cmocka_unit_test(a_failure_to_start_names_the_library),
        cmocka_unit_test(a_failure_to_open_has_its_own_cause),
        cmocka_unit_test(a_lack_of_memory_is_no_malformed_reply),
        cmocka_unit_test(host_name_is_not_looked_up),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
