/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The LDAP packets against a real DC (TRAFFIC_REPLAY_DC, _USER, _PASSWORD): each way to bind, every
 * packet, pages, many fibers at once. Works in a private OU, which it deletes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after those four */
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "protocols/auth/ntlmssp.h"
#include "protocols/kerberos/kerberos.h"
#include "protocols/ldap/catalogue.h"
#include "protocols/ldap/ldap_connection_private.h"
#include "protocols/ldap/ldap_private.h"
#include "protocols/ldap/ldap_search.h"
#include "protocols/packet.h"
#include "protocols/tls.h"
#include "replay/accounts/discover.h"
#include "replay/engine/loop.h"
#include "tests/lib/packets.h"
#include "tests/lib/test_random.h"

static const int64_t TIMEOUT = 60000000000; /* the DC may have others to serve */
enum { USERS = 3 };

static struct dc *dc;
static char user_password[32];

struct client {
    struct conversation conversation;
    uint64_t random;
};

static void client_open(struct client *client, struct waiter *waiter, const struct account *user)
{
    *client = (struct client){.random = 1};
    client->conversation = (struct conversation){.wire = {.waiter = waiter},
                                                 .dc = dc,
                                                 .user = user,
                                                 .machine = user,
                                                 .random = test_random,
                                                 .random_state = &client->random};
    client->conversation.wire.deadline = clock_now() + TIMEOUT;
    conversation_init(&client->conversation);
}

/* Plays ldap:opcode with details given as "key", "value", ..., NULL (one value each; attrs are
 * split at commas). */
static struct outcome play(struct conversation *conversation, const char *opcode, ...)
{
    struct packet_field fields[8];
    const char *values[8][16];
    char attributes[256];
    size_t count = 0;
    va_list args;
    va_start(args, opcode);
    for (const char *key; (key = va_arg(args, const char *)) != NULL; count++) {
        fields[count] = (struct packet_field){.key = key, .count = 1, .values = values[count]};
        values[count][0] = va_arg(args, const char *);
        if (strcmp(key, "attrs") == 0) {
            snprintf(attributes, sizeof attributes, "%s", values[count][0]);
            fields[count].count = 0;
            for (char *rest = attributes, *one; (one = strsep(&rest, ",")) != NULL;)
                values[count][fields[count].count++] = one;
        }
    }
    va_end(args);
    return form_play(conversation, "ldap", opcode, fields, count, TIMEOUT);
}

static struct outcome add_ou(struct ldap_connection *connection)
{
    char *classes[] = {"organizationalUnit", NULL};
    LDAPMod object_class = {.mod_type = "objectClass", .mod_values = classes};
    LDAPMod *attributes[] = {&object_class, NULL};
    int id = 0;
    int result = ldap_add_ext(ldap_connection_handle(connection), dc->instance_dn, attributes, NULL,
                              NULL, &id);
    return ldap_connection_finish(connection, result, id);
}

static struct outcome add_user(struct ldap_connection *connection, struct account *user)
{
    char quoted[80];
    size_t size = 0;
    char text[40];
    snprintf(text, sizeof text, "\"%s\"", user_password);
    for (const char *at = text; *at; at++) {
        quoted[size++] = *at;
        quoted[size++] = '\0';
    }
    char *classes[] = {"user", NULL}, *names[] = {user->name, NULL}, *flags[] = {"512", NULL};
    struct berval password = {.bv_val = quoted, .bv_len = size};
    struct berval *passwords[] = {&password, NULL};
    LDAPMod object_class = {.mod_type = "objectClass", .mod_values = classes};
    LDAPMod name = {.mod_type = "sAMAccountName", .mod_values = names};
    LDAPMod control = {.mod_type = "userAccountControl", .mod_values = flags};
    LDAPMod secret = {
        .mod_op = LDAP_MOD_BVALUES, .mod_type = "unicodePwd", .mod_bvalues = passwords};
    LDAPMod *attributes[] = {&object_class, &name, &control, &secret, NULL};
    int id = 0;
    int result =
        ldap_add_ext(ldap_connection_handle(connection), user->dn, attributes, NULL, NULL, &id);
    return ldap_connection_finish(connection, result, id);
}

static void make_user(struct account *user, int number)
{
    char text[300];
    snprintf(text, sizeof text, "LDAPT-%d-%d", (int)getpid(), number);
    user->name = strdup(text);
    snprintf(text, sizeof text, "CN=%s,%s", user->name, dc->instance_dn);
    user->dn = strdup(text);
    user->password = strdup(user_password);
    assert_int_equal(ntlmssp_nt_hash(user_password, user->nt_hash), 0);
    user->has_nt_hash = true;
    assert_int_equal(kerberos_derive_key(user, dc->realm), 0);
}

static bool take_dn(void *context, LDAP *handle, LDAPMessage *entry)
{
    *(char **)context = ldap_get_dn(handle, entry);
    return true;
}

static char *find_admin_dn(struct ldap_connection *connection)
{
    char filter[100], *dn = NULL;
    snprintf(filter, sizeof filter, "(sAMAccountName=%s)", dc->admin.name);
    struct ldap_search search = {.base = dc->base_dn,
                                 .scope = LDAP_SCOPE_SUBTREE,
                                 .filter = filter,
                                 .entry = take_dn,
                                 .context = &dn};
    assert_ok(ldap_search_run(connection, &search));
    return dn;
}

static int set_up(void **state)
{
    (void)state;
    struct error error = {0};
    dc = dc_new();
    const char *where = getenv("TRAFFIC_REPLAY_DC");
    if (!dc || !where)
        return dc ? 0 : -1;
    dc->admin.name = strdup(getenv("TRAFFIC_REPLAY_USER"));
    dc->admin.password = strdup(getenv("TRAFFIC_REPLAY_PASSWORD"));
    if (discover_dc(dc, where, NULL, NULL, &error) != 0 || kerberos_global_init(dc, &error) != 0 ||
        ldap_connection_global_init(&error) != 0 || !(dc->tls = tls_new(false, NULL, &error))) {
        print_error("%s\n", error.text);
        return -1;
    }
    char text[200];
    snprintf(text, sizeof text, "OU=ldap-test-%d,%s", (int)getpid(), dc->base_dn);
    dc->instance_dn = strdup(text);
    snprintf(user_password, sizeof user_password, "Pa55-%lx", (long)clock_now());
    dc->users = calloc(USERS, sizeof *dc->users);
    dc->account_count = USERS;
    struct client admin;
    struct ldap_connection *connection = NULL;
    client_open(&admin, wire_blocking_waiter(), &dc->admin);
    assert_ok(ldap_connection_open_admin(&connection, &admin.conversation));
    assert_ok(add_ou(connection));
    for (int i = 0; i < USERS; i++) {
        make_user(&dc->users[i], i);
        assert_ok(add_user(connection, &dc->users[i]));
    }
    dc->admin.dn = find_admin_dn(connection);
    assert_non_null(dc->admin.dn);
    ldap_connection_close(connection);
    if (catalogue_read(&admin.conversation, &dc->catalogue, &error) != 0) {
        print_error("%s\n", error.text);
        return -1;
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    if (dc->instance_dn) {
        struct client admin;
        struct ldap_connection *connection = NULL;
        LDAPControl tree_delete = {.ldctl_oid = "1.2.840.113556.1.4.805"};
        LDAPControl *controls[] = {&tree_delete, NULL};
        client_open(&admin, wire_blocking_waiter(), &dc->admin);
        assert_ok(ldap_connection_open_admin(&connection, &admin.conversation));
        int id = 0;
        int result = ldap_delete_ext(ldap_connection_handle(connection), dc->instance_dn, controls,
                                     NULL, &id);
        assert_ok(ldap_connection_finish(connection, result, id));
        ldap_connection_close(connection);
        kerberos_global_end();
    }
    catalogue_free(dc->catalogue);
    dc->catalogue = NULL;
    tls_free(dc->tls);
    dc->tls = NULL;
    dc_free(dc);
    return 0;
}

static void need_dc(void)
{
    if (!dc->instance_dn)
        skip();
}

/* Binds in a new conversation and searches over the connection. */
static void check_bind(bool kerberos, const char *auth, const char *mech, const char *tls)
{
    need_dc();
    struct client client;
    client_open(&client, wire_blocking_waiter(), &dc->users[0]);
    client.conversation.kerberos = kerberos;
    assert_ok(play(&client.conversation, "0", "auth", auth, "mech", mech, "tls", tls, NULL));
    assert_true(client.conversation.wire.first_sent > 0);
    assert_true(client.conversation.wire.last_received > client.conversation.wire.first_sent);
    assert_ok(play(&client.conversation, "3", "scope", "sub", "base", "DC,DC", "filter",
                   "(&(sAMAccountName)(objectClass=user))", NULL));
    assert_ok(play(&client.conversation, "3", "scope", "sub", "base", "CN,DC", "filter",
                   "(objectClass=*)", NULL));
    conversation_reset(&client.conversation);
}

static void simple_over_ldaps(void **state)
{
    (void)state;
    check_bind(false, "simple", "GSSAPI", "none");
    check_bind(false, "simple", "GSSAPI", "ldaps");
}

static void simple_over_starttls(void **state)
{
    (void)state;
    check_bind(false, "simple", "GSSAPI", "starttls");
}

static void spnego_with_ntlm(void **state)
{
    (void)state;
    check_bind(false, "sasl", "GSS-SPNEGO", "none");
    check_bind(false, "sasl", "1.2.840.48018.1.2.2", "none");
}

static void spnego_with_kerberos(void **state)
{
    (void)state;
    check_bind(true, "sasl", "GSS-SPNEGO", "none");
}

static void gssapi(void **state)
{
    (void)state;
    check_bind(false, "sasl", "GSSAPI", "none");
}

/* A DC closes a connection when its ticket expires, and the next operation binds again. */
static void expired_tickets_are_replaced(void **state)
{
    (void)state;
    need_dc();
    struct client client;
    struct conversation *conversation = &client.conversation;
    client_open(&client, wire_blocking_waiter(), &dc->users[0]);
    assert_ok(play(conversation, "0", "auth", "sasl", "mech", "GSSAPI", NULL));
    struct ldap_state *ldap = conversation->ldap;
    int64_t left = ldap->connections[0]->expires - clock_now();
    assert_true(left > 60 * 1000000000LL && left < 11 * 3600 * 1000000000LL);
    ldap->connections[0]->expires = clock_now();
    assert_ok(play(conversation, "3", NULL));
    assert_int_equal(ldap->connection_count, 1);
    assert_true(ldap->connections[0]->expires > clock_now());
    conversation_reset(conversation);
}

static void signed_only(enum ldap_mechanism mechanism, bool kerberos)
{
    struct client client;
    struct ldap_connection *connection = NULL;
    client_open(&client, wire_blocking_waiter(), &dc->users[0]);
    assert_ok(ldap_connection_open(&connection, &client.conversation, LDAP_TRANSPORT_CLEAR));
    connection->protection = LDAP_PROTECTION_SIGN;
    assert_ok(ldap_connection_bind_sasl(connection, &dc->users[0], mechanism, kerberos));
    struct ldap_search search = {.base = dc->base_dn,
                                 .scope = LDAP_SCOPE_SUBTREE,
                                 .filter = "(objectClass=user)",
                                 .paged = true};
    assert_ok(ldap_search_run(connection, &search));
    assert_true(search.entries >= USERS);
    ldap_connection_close(connection);
    conversation_reset(&client.conversation);
}

static void signing_without_sealing(void **state)
{
    (void)state;
    need_dc();
    signed_only(LDAP_MECHANISM_GSS_SPNEGO, false);
    signed_only(LDAP_MECHANISM_GSS_SPNEGO, true);
    signed_only(LDAP_MECHANISM_GSSAPI, true);
}

/* The DC wants signing or TLS: its refusals come by name. */
static void refusals_are_named(void **state)
{
    (void)state;
    need_dc();
    struct client client;
    struct ldap_connection *connection = NULL;
    client_open(&client, wire_blocking_waiter(), &dc->users[0]);
    assert_ok(ldap_connection_open(&connection, &client.conversation, LDAP_TRANSPORT_CLEAR));
    assert_failed(ldap_connection_bind_simple(connection, dc->users[0].dn, user_password),
                  "strongerAuthRequired (without TLS)");
    struct account wrong = dc->users[0];
    wrong.nt_hash[0] ^= 1;
    assert_failed(ldap_connection_bind_sasl(connection, &wrong, LDAP_MECHANISM_GSS_SPNEGO, false),
                  "invalidCredentials (data 52e: wrong name or password)");
    assert_false(ldap_connection_is_bound(connection));
    /* The same connection takes the right one. */
    assert_ok(
        ldap_connection_bind_sasl(connection, &dc->users[0], LDAP_MECHANISM_GSS_SPNEGO, false));
    assert_true(ldap_connection_is_bound(connection));
    ldap_connection_close(connection);
    conversation_reset(&client.conversation);
}

static void check_wrong_password_attempts(bool kerberos, const char *auth, const char *mech)
{
    struct client client;
    client_open(&client, wire_blocking_waiter(), &dc->users[1]);
    client.conversation.kerberos = kerberos;
    dc->options.badpassword_frequency = 1;
    struct outcome first = play(&client.conversation, "0", "auth", auth, "mech", mech, NULL);
    unsigned first_failures = client.conversation.expected_failures;
    struct outcome second = play(&client.conversation, "0", "auth", auth, "mech", mech, NULL);
    unsigned second_failures = client.conversation.expected_failures;
    dc->options.badpassword_frequency = 0;
    assert_ok(first);
    assert_ok(second);
    assert_int_equal(first_failures, 1);
    assert_int_equal(second_failures, 0); /* never twice in a row */
    conversation_reset(&client.conversation);
}

static void wrong_password_attempts(void **state)
{
    (void)state;
    need_dc();
    check_wrong_password_attempts(false, "simple", "GSSAPI");
    check_wrong_password_attempts(false, "sasl", "GSS-SPNEGO");
    check_wrong_password_attempts(true, "sasl", "GSS-SPNEGO");
    check_wrong_password_attempts(false, "sasl", "GSSAPI");
}

static void searches_of_an_office(void **state)
{
    (void)state;
    need_dc();
    struct client client;
    struct conversation *conversation = &client.conversation;
    client_open(&client, wire_blocking_waiter(), &dc->users[0]);
    /* Needs no bind, and takes none. */
    assert_ok(play(conversation, "3", "scope", "base", "base", "", "attrs",
                   "subschemaSubentry,dsServiceName,namingContexts,supportedControl", NULL));
    assert_ok(play(conversation, "3", "scope", "base", "base", "CN,CN,DC,DC", "attrs",
                   "objectSid,objectGUID,sAMAccountName,tokenGroups", NULL));
    assert_ok(play(conversation, "3", "scope", "sub", "base", "DC,DC", "filter",
                   "(|(distinguishedName)(distinguishedName)(distinguishedName))", "attrs",
                   "gpLink,gpOptions,nTSecurityDescriptor", NULL));
    assert_ok(play(conversation, "3", "scope", "sub", "base", "CN,CN,DC,DC", "attrs",
                   "gPCFileSysPath,displayName,flags,versionNumber", NULL));
    assert_ok(play(conversation, "3", "scope", "sub", "base", "DC,DC", "attrs", "cn", NULL));
    assert_ok(play(conversation, "3", "scope", "sub", "base", "DC,DC", "attrs", "gpLink", NULL));
    assert_ok(
        play(conversation, "3", "scope", "sub", "base", "DC,DC", "attrs", "uSNChanged", NULL));
    assert_ok(play(conversation, "3", "scope", "base", "base", "CN,CN,CN,DC,DC", "attrs",
                   "dNSHostName,serverReference", NULL));
    assert_ok(play(conversation, "3", "scope", "one", "base", "OU,DC,DC", "filter",
                   "(|(objectSid)(objectGUID)(cn)(servicePrincipalName)(dNSHostName)"
                   "(objectCategory)(uSNChanged)(nCName)(mail)(userAccountControl:1.2.3:))",
                   "controls", "1.2.840.113556.1.4.801", NULL));
    assert_ok(play(conversation, "3", "sealed", "true", NULL));
    assert_ok(play(conversation, "3", NULL));
    conversation_reset(conversation);
}

static void writes(void **state)
{
    (void)state;
    need_dc();
    struct client client;
    struct conversation *conversation = &client.conversation;
    client_open(&client, wire_blocking_waiter(), &dc->admin);
    assert_ok(play(conversation, "6", NULL));
    assert_ok(play(conversation, "10", NULL)); /* adds first */
    assert_ok(play(conversation, "12", NULL)); /* adds first */
    assert_ok(play(conversation, "12", NULL));
    assert_ok(play(conversation, "8", NULL));
    assert_ok(play(conversation, "10", NULL));
    assert_ok(play(conversation, "10", NULL));
    assert_ok(play(conversation, "14", NULL));
    assert_ok(play(conversation, "16", NULL));
    assert_ok(play(conversation, "14", NULL)); /* past what the abandoned search still brings */
    struct outcome outcome = play(conversation, "23", NULL);
    /* Samba learned "Who am I?" late; AD has it. */
    if (outcome.kind != OUTCOME_OK)
        assert_string_equal(outcome.cause, "protocolError");
    assert_int_equal(play(conversation, "2", NULL).kind, OUTCOME_NOTHING);
    assert_int_equal(play(conversation, "2", NULL).kind, OUTCOME_NOTHING); /* none is left */
    conversation_reset(conversation);
}

/* The schema has more than a page of classes and attributes. */
static void all_pages_are_read(void **state)
{
    (void)state;
    need_dc();
    struct client client;
    struct ldap_connection *connection = NULL;
    client_open(&client, wire_blocking_waiter(), &dc->users[0]);
    assert_ok(ldap_connection_open(&connection, &client.conversation, LDAP_TRANSPORT_CLEAR));
    assert_ok(
        ldap_connection_bind_sasl(connection, &dc->users[0], LDAP_MECHANISM_GSS_SPNEGO, false));
    static char *attributes[] = {"cn", NULL};
    struct ldap_search search = {.base = dc->schema_dn,
                                 .scope = LDAP_SCOPE_ONELEVEL,
                                 .filter = "(objectClass=*)",
                                 .attributes = attributes,
                                 .paged = true};
    assert_ok(ldap_search_run(connection, &search));
    assert_true(search.entries > LDAP_SEARCH_PAGE);
    uint64_t small = search.entries;
    /* With all attributes: frames of the largest size. */
    search.attributes = NULL;
    assert_ok(ldap_search_run(connection, &search));
    assert_int_equal(search.entries, small);
    ldap_connection_close(connection);
    conversation_reset(&client.conversation);
}

static void catalogue_is_read(void **state)
{
    (void)state;
    need_dc();
    struct client client;
    client_open(&client, wire_blocking_waiter(), &dc->users[0]);
    assert_true(catalogue_count(dc->catalogue) > 200);
    assert_true(catalogue_highest_usn(dc->catalogue) > 1000);
    size_t gpos;
    catalogue_gpos(dc->catalogue, &gpos);
    assert_true(gpos >= 2);
    for (int v = 0; v < CATALOGUE_VALUES; v++)
        assert_non_null(catalogue_draw(dc->catalogue, &client.conversation, v));
    assert_string_equal(catalogue_base(dc->catalogue, &client.conversation, ""), dc->base_dn);
    /* The DC's own server object is in the configuration, five CNs deep. */
    bool configuration = false;
    for (int i = 0; i < 1000; i++)
        configuration = configuration || strstr(catalogue_base(dc->catalogue, &client.conversation,
                                                               "CN,CN,CN,CN,CN"),
                                                ",CN=Configuration,");
    assert_true(configuration);
}

struct crowd {
    unsigned ok;
    char cause[OUTCOME_CAUSE_SIZE];
};

static void one_of_many(struct loop *loop, void *argument, uint64_t i)
{
    static const char *const mechs[] = {"GSS-SPNEGO", "GSSAPI"};
    struct crowd *crowd = argument;
    struct client client;
    client_open(&client, loop_waiter(loop), &dc->users[i % USERS]);
    client.random = i;
    client.conversation.kerberos = i % 4 == 1;
    bool simple = i % 4 == 3;
    struct outcome outcome =
        play(&client.conversation, "0", "auth", simple ? "simple" : "sasl", "mech",
             mechs[i % 4 == 2], "tls", simple && i % 8 == 3 ? "starttls" : "none", NULL);
    for (int n = 0; outcome.kind == OUTCOME_OK && n < 3; n++)
        outcome = play(&client.conversation, "3", "scope", "sub", "base", n ? "DC,DC" : "CN,DC",
                       "filter", n ? "(sAMAccountName)" : "(objectClass=*)", NULL);
    if (outcome.kind == OUTCOME_OK)
        crowd->ok++;
    else
        snprintf(crowd->cause, sizeof crowd->cause, "%s", outcome.cause);
    conversation_reset(&client.conversation);
}

static void forty_clients_at_once(void **state)
{
    (void)state;
    need_dc();
    struct crowd crowd = {.ok = 0};
    assert_int_equal(loop_run_all(one_of_many, &crowd, 80, 40), 0);
    assert_string_equal(crowd.cause, "");
    assert_int_equal(crowd.ok, 80);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simple_over_ldaps),
        cmocka_unit_test(simple_over_starttls),
        cmocka_unit_test(spnego_with_ntlm),
        cmocka_unit_test(spnego_with_kerberos),
        cmocka_unit_test(gssapi),
        cmocka_unit_test(expired_tickets_are_replaced),
        cmocka_unit_test(signing_without_sealing),
        cmocka_unit_test(refusals_are_named),
        cmocka_unit_test(wrong_password_attempts),
        cmocka_unit_test(searches_of_an_office),
        cmocka_unit_test(writes),
        cmocka_unit_test(all_pages_are_read),
        cmocka_unit_test(catalogue_is_read),
        cmocka_unit_test(forty_clients_at_once),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
