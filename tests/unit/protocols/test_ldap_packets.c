/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the LDAP packets send, on which connection and in which order, seen by a small server: the
 * rules about the newest connection, binds inside operations, pages, objects, -B.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include "protocols/packet.h"

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "protocols/conversation.h"
#include "protocols/ldap/ldap_connection_private.h"
#include "protocols/ldap/ldap_private.h"
#include "protocols/stream.h"
#include "tests/lib/packets.h"
#include "tests/lib/servers/ldap_leaks.h"
#include "tests/lib/servers/ldap_server.h"
#include "tests/lib/test_random.h"

static const int64_t TIMEOUT = 10000000000;

/* The requests as "1B 1S": number of the connection, letter of the request. */
struct story {
    pthread_mutex_t mutex;
    char text[1000];
    int pages;         /* per search */
    int cookies;       /* searches for a next page */
    bool close_search; /* close the connection instead of answering a search */
    bool end_idle;     /* close it after the answer to a search */
    bool notice;       /* announce the end after the answer to a search */
    char last_add[300];
    char last_oid[100]; /* of an extended request */
};

static const struct {
    int request;
    char letter;
} letters[] = {{LDAP_REQ_BIND, 'B'},    {LDAP_REQ_UNBIND, 'U'},  {LDAP_REQ_SEARCH, 'S'},
               {LDAP_REQ_MODIFY, 'M'},  {LDAP_REQ_ADD, 'A'},     {LDAP_REQ_DELETE, 'D'},
               {LDAP_REQ_RENAME, 'N'},  {LDAP_REQ_COMPARE, 'C'}, {LDAP_REQ_ABANDON, 'X'},
               {LDAP_REQ_EXTENDED, 'E'}};

static bool holds(const uint8_t *bytes, size_t size, const char *text)
{
    return memmem(bytes, size, text, strlen(text)) != NULL;
}

static void note(struct ldap_server *server, unsigned connection, int request, const uint8_t *bytes,
                 size_t size)
{
    struct story *story = server->context;
    char letter = '?';
    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++)
        if (letters[i].request == request)
            letter = letters[i].letter;
    /* A bind with the wrong password is a lower-case letter, and refused. */
    if (letter == 'B' && holds(bytes, size, "not-the-password"))
        letter = 'b';
    pthread_mutex_lock(&story->mutex);
    size_t length = strlen(story->text);
    snprintf(story->text + length, sizeof story->text - length, "%s%u%c", length ? " " : "",
             connection, letter);
    if (letter == 'S' && holds(bytes, size, "cookie!"))
        story->cookies++;
    if (letter == 'A') {
        const uint8_t *dn = memmem(bytes, size, "CN=", 3);
        assert_non_null(dn);
        /* The byte before the DN is its length. */
        snprintf(story->last_add, sizeof story->last_add, "%.*s", (int)dn[-1], (const char *)dn);
    }
    if (letter == 'E') {
        const uint8_t *oid = memmem(bytes, size, "1.3.", 4);
        assert_non_null(oid);
        /* As above. */
        snprintf(story->last_oid, sizeof story->last_oid, "%.*s", (int)oid[-1], (const char *)oid);
    }
    server->hang_up = letter == 'S' && story->end_idle;
    server->cut_after = letter == 'S' && story->close_search ? 0 : SIZE_MAX;
    pthread_mutex_unlock(&story->mutex);
}

static void put_page_end(struct ldap_answer *answer, int id, bool more)
{
    BerElement *control = ber_alloc_t(LBER_USE_DER), *ber = ber_alloc_t(LBER_USE_DER);
    struct berval *value = NULL;
    ber_printf(control, "{is}", 0, more ? "cookie!" : "");
    assert_int_equal(ber_flatten(control, &value), 0);
    ber_printf(ber, "{it{ess}t{{sO}}}", id, LDAP_RES_SEARCH_RESULT, LDAP_SUCCESS, "", "",
               LDAP_TAG_CONTROLS, LDAP_CONTROL_PAGEDRESULTS, value);
    ldap_answer_put(answer, ber);
    ber_bvfree(value);
    ber_free(control, 1);
}

static void reply(struct ldap_server *server, int id, int request, struct ldap_answer *answer)
{
    struct story *story = server->context;
    bool wrong = request == LDAP_REQ_BIND && story->text[strlen(story->text) - 1] == 'b';
    if (request == LDAP_REQ_ABANDON)
        return;
    if (request == LDAP_REQ_SEARCH) {
        ldap_answer_put_entry(answer, id, "cn=one,o=x", "one");
        if (story->pages)
            put_page_end(answer, id, --story->pages > 0);
        else
            ldap_answer_put_result(answer, id, LDAP_RES_SEARCH_RESULT, LDAP_SUCCESS, "");
        if (story->notice)
            ldap_answer_put_notice(answer, LDAP_BUSY, "idle for too long");
        return;
    }
    /* The tag of a reply follows that of its request; compare has two successful answers. */
    ber_tag_t type = request == LDAP_REQ_DELETE ? LDAP_RES_DELETE : (ber_tag_t)request + 1;
    int code = wrong                         ? LDAP_INVALID_CREDENTIALS
               : request == LDAP_REQ_COMPARE ? LDAP_COMPARE_FALSE
                                             : LDAP_SUCCESS;
    ldap_answer_put_result(answer, id, type, code, "");
}

static struct ldap_server server;
static struct story story;
static struct dc *dc;
static struct conversation conversation;
static struct account user;

static int set_up(void **state)
{
    (void)state;
    story = (struct story){.mutex = PTHREAD_MUTEX_INITIALIZER};
    server = (struct ldap_server){
        .reply = reply, .note = note, .context = &story, .cut_after = SIZE_MAX};
    ldap_server_start(&server);
    dc = ldap_server_dc(&server);
    dc->options.generic_ldap = true;
    dc->base_dn = strdup("o=x");
    user = (struct account){.name = "u(1)", .dn = "cn=u1,o=x", .password = "secret"};
    dc->users = &user;
    dc->account_count = 1;
    conversation = (struct conversation){.wire = {.waiter = wire_blocking_waiter()},
                                         .dc = dc,
                                         .user = &user,
                                         .machine = &user,
                                         .random = test_random_zero};
    conversation_init(&conversation);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    conversation_reset(&conversation);
    ldap_server_stop(&server);
    dc->users = NULL;
    dc_free(dc);
    return 0;
}

static struct outcome play_fields(const char *opcode, const struct packet_field *fields,
                                  size_t count)
{
    return form_play(&conversation, "ldap", opcode, fields, count, TIMEOUT);
}

/* Plays "ldap:opcode" of the usual form; "root": a search of the root DSE. */
static void play(const char *name)
{
    static const char *const base = "base", *const empty = "";
    const struct packet_field root[] = {{"scope", 1, &base}, {"base", 1, &empty}};
    bool is_root = strcmp(name, "root") == 0;
    struct outcome outcome = is_root ? play_fields("3", root, 2) : play_fields(name, NULL, 0);
    enum outcome_kind expected = strcmp(name, "2") == 0 ? OUTCOME_NOTHING : OUTCOME_OK;
    if (outcome.kind != expected)
        fail_msg("ldap:%s: %s", name, outcome.cause);
}

static void assert_story(const char *expected)
{
    pthread_mutex_lock(&story.mutex);
    char text[sizeof story.text];
    memcpy(text, story.text, sizeof text);
    pthread_mutex_unlock(&story.mutex);
    assert_string_equal(text, expected);
}

static void a_search_binds_first(void **state)
{
    (void)state;
    play("3");
    play("3");
    assert_story("1B 1S 1S");
}

static void the_root_dse_needs_no_bind(void **state)
{
    (void)state;
    play("root");
    assert_story("1S");
    play("root");
    play("3");
    assert_story("1S 1S 1B 1S");
    play("root");
    assert_story("1S 1S 1B 1S 1S");
}

static void a_bind_takes_the_newest_unbound_connection(void **state)
{
    (void)state;
    play("root");
    play("0");
    assert_story("1S 1B");
    play("0"); /* bound: a new one */
    play("3");
    assert_story("1S 1B 2B 2S");
}

static void an_unbind_closes_the_newest(void **state)
{
    (void)state;
    play("0");
    play("0");
    play("2");
    play("3");
    play("2");
    play("2"); /* none is left */
    play("3");
    conversation_reset(&conversation);
    ldap_server_stop(&server); /* everything has arrived */
    assert_non_null(strstr(story.text, "2U"));
    assert_non_null(strstr(story.text, "1S"));
    assert_non_null(strstr(story.text, "1U"));
    /* The server's threads may note the end of connection 1 at any time. */
    const char *bind = strstr(story.text, "3B");
    const char *search = bind ? strstr(bind, "3S") : NULL;
    assert_non_null(search);
    assert_non_null(strstr(search, "3U"));
    ldap_server_start(&server);
}

static void a_conversation_closes_all(void **state)
{
    (void)state;
    play("0");
    play("0");
    conversation_reset(&conversation);
    assert_null(conversation.ldap);
    ldap_server_stop(&server);
    assert_non_null(strstr(story.text, "1U"));
    assert_non_null(strstr(story.text, "2U"));
    ldap_server_start(&server);
    dc->ports.ldap = server.port;
    play("3"); /* the next one begins anew */
}

static void a_lost_connection_fails_one_operation(void **state)
{
    (void)state;
    play("0");
    story.close_search = true;
    struct outcome outcome = play_fields("3", NULL, 0);
    assert_int_equal(outcome.kind, OUTCOME_FAILED);
    assert_string_equal(outcome.cause, "connection closed by the server");
    story.close_search = false;
    play("3");
    assert_story("1B 1S 2B 2S");
}

/* Waits until the server has ended the newest connection. */
static void wait_for_end(void)
{
    struct ldap_state *ldap = conversation.ldap;
    struct ldap_connection *connection = ldap->connections[ldap->connection_count - 1];
    struct pollfd end = {.fd = stream_fd(connection->stream), .events = POLLRDHUP};
    assert_int_equal(poll(&end, 1, 10000), 1);
}

static void a_connection_that_ended_while_idle_is_replaced(void **state)
{
    (void)state;
    story.end_idle = true;
    play("3");
    wait_for_end();
    story.end_idle = false;
    play("3");
    play("3");
    assert_story("1B 1S 2B 2S 2S");
}

static void a_connection_whose_end_was_announced_is_replaced(void **state)
{
    (void)state;
    story.notice = true;
    play("3");
    story.notice = false;
    play("3");
    play("3");
    conversation_reset(&conversation);
    ldap_server_stop(&server);
    assert_null(strstr(story.text, "1S 1S"));
    assert_non_null(strstr(story.text, "2S 2S"));
    ldap_server_start(&server);
}

/* The answer to an abandoned search arrives late; it does not end the connection. */
static void an_abandoned_search_leaves_the_connection_in_use(void **state)
{
    (void)state;
    play("16");
    usleep(20000);
    play("3");
    play("3");
    assert_story("1B 1S 1X 1S 1S");
}

static void wrong_passwords_are_tried_before(void **state)
{
    (void)state;
    dc->options.badpassword_frequency = 1;
    play("0");
    assert_int_equal(conversation.expected_failures, 1);
    assert_story("1b 1B");
    play("0"); /* never twice in a row */
    assert_int_equal(conversation.expected_failures, 0);
    assert_story("1b 1B 2B");
    play("2");
    play("2");
    play("3"); /* binds inside a search count too */
    assert_int_equal(conversation.expected_failures, 1);
}

static void a_refused_bind_fails(void **state)
{
    (void)state;
    user.password = "not-the-password";
    struct outcome outcome = play_fields("0", NULL, 0);
    assert_int_equal(outcome.kind, OUTCOME_FAILED);
    assert_string_equal(outcome.cause, "invalidCredentials");
    user.password = "secret";
    play("0"); /* the same one, because it is still unbound */
    assert_story("1b 1B");
    user.password = "";
    outcome = play_fields("0", NULL, 0);
    assert_string_equal(outcome.cause, "account without a password");
}

static void nobody_there(void **state)
{
    (void)state;
    ldap_server_stop(&server);
    struct outcome outcome = play_fields("3", NULL, 0);
    assert_unreached(outcome, "connection refused", "TCP", dc->ports.ldap);
    ldap_server_start(&server);
}

/* Nothing listens on the port for LDAPS. */
static void a_simple_bind_over_ldaps_names_its_port_or_is_sent_in_clear(void **state)
{
    (void)state;
    static const char *const simple = "simple", *const ldaps = "ldaps",
                             *const starttls = "starttls";
    const struct packet_field fields[] = {{"auth", 1, &simple}, {"tls", 1, &ldaps}};
    const struct packet_field secured[] = {{"auth", 1, &simple}, {"tls", 1, &starttls}};
    dc->ports.ldaps = 1;
    struct outcome outcome = play_fields("0", fields, 2);
    assert_int_equal(outcome.kind, OUTCOME_FAILED);
    assert_string_equal(outcome.cause, "connection refused (LDAPS, port 1)");
    dc->options.plain_simple_bind = true;
    outcome = play_fields("0", fields, 2);
    assert_int_equal(outcome.kind, OUTCOME_OK);
    outcome = play_fields("0", secured, 2);
    assert_int_equal(outcome.kind, OUTCOME_OK);
}

static void each_operation_sends_its_request(void **state)
{
    (void)state;
    play("6");
    play("8");
    play("10");
    play("8");
    play("12");
    play("14");
    play("16");
    play("14");
    play("23");
    assert_story("1B 1M 1A 1D 1A 1N 1C 1S 1X 1C 1E");
}

static void an_extended_operation_has_its_oid(void **state)
{
    (void)state;
    static const char *const refresh = "1.3.6.1.4.1.1466.101.119.1", *const tls =
                                                                         LDAP_EXOP_START_TLS;
    const struct packet_field oid = {"oid", 1, &refresh}, start_tls = {"oid", 1, &tls};
    struct form form;
    struct error error = {0};
    play("23");
    assert_string_equal(story.last_oid, LDAP_EXOP_WHO_AM_I);
    assert_int_equal(play_fields("23", &oid, 1).kind, OUTCOME_OK);
    assert_string_equal(story.last_oid, refresh);
    assert_story("1B 1E 1E");
    assert_false(form_compile(&form, "ldap", "23", &start_tls, 1, &error));
    assert_string_equal(error.text, "oid: StartTLS is requested with tls: starttls of ldap:0");
    form_release(&form);
}

static void delete_and_rename_add_first(void **state)
{
    (void)state;
    play("10");
    play("12");
    play("12"); /* the renamed object still exists */
    play("10");
    play("10");
    assert_story("1B 1A 1D 1A 1N 1N 1D 1A 1D");
}

static void objects_have_names_of_their_own(void **state)
{
    (void)state;
    char first[sizeof story.last_add];
    dc->instance_dn = strdup("ou=mine,o=x");
    play("8");
    memcpy(first, story.last_add, sizeof first);
    /* Contains the client's name without special characters. */
    assert_memory_equal(first, "CN=u1-", 6);
    assert_string_equal(first + strlen(first) - 12, ",ou=mine,o=x");
    play("8");
    assert_string_not_equal(first, story.last_add);
    conversation_reset(&conversation);
    play("8");
    assert_string_not_equal(first, story.last_add);
}

static void all_pages_are_read(void **state)
{
    (void)state;
    story.pages = 3;
    play("3");
    assert_story("1B 1S 1S 1S");
    assert_int_equal(story.cookies, 2);
    play("3");
    assert_story("1B 1S 1S 1S 1S");
}

/* Each operation sets its own times in the wire. */
static void times_are_stamped(void **state)
{
    (void)state;
    play("3");
    int64_t sent = conversation.wire.first_sent, received = conversation.wire.last_received;
    assert_true(sent > 0 && received >= sent && received <= clock_now());
    play("3");
    assert_true(conversation.wire.first_sent > received);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_search_binds_first),
        TEST(an_extended_operation_has_its_oid),
        TEST(the_root_dse_needs_no_bind),
        TEST(a_bind_takes_the_newest_unbound_connection),
        TEST(an_unbind_closes_the_newest),
        TEST(a_conversation_closes_all),
        TEST(a_lost_connection_fails_one_operation),
        TEST(a_connection_that_ended_while_idle_is_replaced),
        TEST(a_connection_whose_end_was_announced_is_replaced),
        TEST(an_abandoned_search_leaves_the_connection_in_use),
        TEST(wrong_passwords_are_tried_before),
        TEST(a_refused_bind_fails),
        TEST(nobody_there),
        TEST(a_simple_bind_over_ldaps_names_its_port_or_is_sent_in_clear),
        TEST(each_operation_sends_its_request),
        TEST(delete_and_rename_add_first),
        TEST(objects_have_names_of_their_own),
        TEST(all_pages_are_read),
        TEST(times_are_stamped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
