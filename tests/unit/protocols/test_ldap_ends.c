/* SPDX-License-Identifier: Apache-2.0 */
/* LDAP servers that refuse, and that end a connection or talk on it unasked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after those four */
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "protocols/ldap/catalogue.h"
#include "protocols/ldap/ldap_connection_private.h"
#include "protocols/ldap/ldap_search.h"
#include "tests/lib/servers/ldap_leaks.h"
#include "tests/lib/servers/ldap_server.h"
#include "tests/lib/test_random.h"

static const int64_t TIMEOUT = 10000000000;

struct client {
    struct dc *dc;
    struct conversation conversation;
    struct ldap_connection *connection;
};

static void client_open(struct client *client, const struct ldap_server *server)
{
    *client = (struct client){.dc = ldap_server_dc(server)};
    client->conversation = (struct conversation){
        .wire = {.waiter = wire_blocking_waiter(), .deadline = clock_now() + TIMEOUT},
        .dc = client->dc,
        .random = test_random_zero};
    struct outcome outcome =
        ldap_connection_open(&client->connection, &client->conversation, LDAP_TRANSPORT_CLEAR);
    assert_int_equal(outcome.kind, OUTCOME_OK);
}

static void client_close(struct client *client)
{
    ldap_connection_close(client->connection);
    dc_free(client->dc);
}

static int refusal;

static void refuse_with(struct ldap_server *server, int id, int request, struct ldap_answer *answer)
{
    (void)server;
    ldap_answer_put_result(answer, id, request == LDAP_REQ_BIND ? LDAP_RES_BIND : LDAP_RES_EXTENDED,
                           refusal,
                           "00000000: LdapErr: DSID-0C090E17, comment: Error initializing SSL/TLS");
}

static void refused_binds_and_tls_name_what_was_refused(void **state)
{
    (void)state;
    struct ldap_server server = {.reply = refuse_with, .cut_after = SIZE_MAX};
    struct client client;
    ldap_server_start(&server);
    client_open(&client, &server);
    refusal = LDAP_STRONG_AUTH_REQUIRED;
    struct outcome outcome = ldap_connection_bind_simple(client.connection, "cn=x", "secret");
    assert_string_equal(outcome.cause, "strongerAuthRequired (without TLS)");
    refusal = LDAP_UNAVAILABLE;
    outcome = ldap_connection_start_tls(client.connection);
    assert_string_equal(outcome.cause, "unavailable (StartTLS)");
    assert_false(ldap_connection_is_broken(client.connection));
    client.connection->transport = LDAP_TRANSPORT_STARTTLS;
    refusal = LDAP_STRONG_AUTH_REQUIRED;
    outcome = ldap_connection_bind_simple(client.connection, "cn=x", "secret");
    assert_string_equal(outcome.cause, "strongerAuthRequired (SASL inside TLS)");
    client_close(&client);
    ldap_server_stop(&server);
}

static struct outcome search(struct client *client)
{
    struct ldap_search search = {
        .base = "o=x", .scope = LDAP_SCOPE_SUBTREE, .filter = "(cn=*)", .paged = true};
    return ldap_search_run(client->connection, &search);
}

/* Plays one search against a server that answers with `reply` and then stays silent. */
static struct outcome
search_once(void (*reply)(struct ldap_server *, int, int, struct ldap_answer *), size_t chunk)
{
    struct ldap_server server = {.reply = reply, .cut_after = SIZE_MAX, .chunk = chunk};
    struct client client;
    ldap_server_start(&server);
    client_open(&client, &server);
    struct outcome outcome = search(&client);
    assert_true(ldap_connection_is_broken(client.connection));
    client_close(&client);
    ldap_server_stop(&server);
    return outcome;
}

static void announce_end(struct ldap_server *server, int id, int request,
                         struct ldap_answer *answer)
{
    (void)server;
    (void)request;
    ldap_answer_put_entry(answer, id, "cn=one,o=x", "one");
    ldap_answer_put_notice(answer, LDAP_UNAVAILABLE, "going down");
}

static void announce_end_oddly(struct ldap_server *server, int id, int request,
                               struct ldap_answer *answer)
{
    (void)server;
    (void)id;
    (void)request;
    ldap_answer_put_notice(answer, LDAP_STRONG_AUTH_REQUIRED,
                           "a text with \x1b and more characters than a cause can hold");
}

static void a_notice_of_disconnection_is_its_code_and_text(void **state)
{
    (void)state;
    assert_string_equal(search_once(announce_end, 0).cause,
                        "unavailable (disconnected by the server: going down)");
    assert_string_equal(search_once(announce_end_oddly, 0).cause,
                        "strongerAuthRequired (disconnected by the server: a text with ? and more "
                        "characters than a)");
}

/* The text is lost in pieces, the code is not. */
static void a_notice_may_come_in_pieces(void **state)
{
    (void)state;
    struct outcome outcome = search_once(announce_end, 1);
    assert_memory_equal(outcome.cause, "unavailable (disconnected by the server", 39);
}

static void put_http(struct ldap_answer *answer)
{
    static const char text[] = "HTTP/1.1 400 Bad Request\r\n\r\n";
    memcpy(answer->bytes + answer->size, text, sizeof text - 1);
    answer->size += sizeof text - 1;
}

static void speak_http(struct ldap_server *server, int id, int request, struct ldap_answer *answer)
{
    (void)server;
    (void)id;
    (void)request;
    put_http(answer);
}

static void speak_http_later(struct ldap_server *server, int id, int request,
                             struct ldap_answer *answer)
{
    (void)server;
    (void)request;
    ldap_answer_put_entry(answer, id, "cn=one,o=x", "one");
    put_http(answer);
}

/* libldap alone would wait for the 84 bytes that "HT" seems to announce. */
static void bytes_that_are_not_ldap_fail_at_once(void **state)
{
    (void)state;
    assert_string_equal(search_once(speak_http, 0).cause, "malformed reply");
    assert_string_equal(search_once(speak_http_later, 0).cause, "malformed reply");
    assert_string_equal(search_once(speak_http_later, 1).cause, "malformed reply");
}

/* Two entries, then the limit. */
static void end_early(struct ldap_server *server, int id, int request, struct ldap_answer *answer)
{
    (void)request;
    ldap_answer_put_entry(answer, id, "cn=one,o=x", "one");
    ldap_answer_put_entry(answer, id, "cn=two,o=x", "two");
    ldap_answer_put_result(answer, id, LDAP_RES_SEARCH_RESULT, *(int *)server->context, "");
}

static int read_catalogue(int code, struct catalogue **catalogue, struct error *error)
{
    struct ldap_server server = {.reply = end_early, .cut_after = SIZE_MAX, .context = &code};
    struct client client;
    ldap_server_start(&server);
    client_open(&client, &server);
    client.dc->options.generic_ldap = true;
    client.dc->base_dn = strdup("o=x");
    int result = catalogue_read(&client.conversation, catalogue, error);
    client_close(&client);
    ldap_server_stop(&server);
    return result;
}

static void a_directory_is_read_up_to_the_limit_of_the_server(void **state)
{
    (void)state;
    static const int codes[] = {LDAP_SIZELIMIT_EXCEEDED, LDAP_ADMINLIMIT_EXCEEDED,
                                LDAP_TIMELIMIT_EXCEEDED};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        struct catalogue *catalogue = NULL;
        struct error error = {0};
        assert_int_equal(read_catalogue(codes[i], &catalogue, &error), 0);
        assert_int_equal(catalogue_count(catalogue), 2);
        assert_string_equal(catalogue_limit(catalogue), ldap_result_name(codes[i]));
        catalogue_free(catalogue);
    }
}

static void a_refused_directory_is_no_catalogue(void **state)
{
    (void)state;
    struct catalogue *catalogue = NULL;
    struct error error = {0};
    assert_int_not_equal(read_catalogue(LDAP_INSUFFICIENT_ACCESS, &catalogue, &error), 0);
    assert_string_equal(error.text,
                        "reading the directory below o=x failed: insufficientAccessRights");
    assert_int_equal(read_catalogue(LDAP_SUCCESS, &catalogue, &error), 0);
    assert_null(catalogue_limit(catalogue));
    catalogue_free(catalogue);
}

static int group_set_up(void **state)
{
    (void)state;
    struct error error = {0};
    return ldap_connection_global_init(&error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_binds_and_tls_name_what_was_refused),
        cmocka_unit_test(a_notice_of_disconnection_is_its_code_and_text),
        cmocka_unit_test(a_notice_may_come_in_pieces),
        cmocka_unit_test(bytes_that_are_not_ldap_fail_at_once),
        cmocka_unit_test(a_directory_is_read_up_to_the_limit_of_the_server),
        cmocka_unit_test(a_refused_directory_is_no_catalogue),
    };
    return cmocka_run_group_tests_name("ldap_ends", tests, group_set_up, NULL);
}
