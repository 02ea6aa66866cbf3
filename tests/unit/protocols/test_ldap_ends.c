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
#include "protocols/ldap/ldap_connection_private.h"
#include "protocols/ldap/ldap_search.h"
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
    };
    return cmocka_run_group_tests_name("ldap_ends", tests, group_set_up, NULL);
}
