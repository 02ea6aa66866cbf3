/* SPDX-License-Identifier: Apache-2.0 */
/* Kerberos exchanges with the lab's KDC; every request is counted on the way by a relay. */
#include <errno.h>
#include <gssapi/gssapi_krb5.h>
#include <krb5/krb5.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "protocols/kerberos/kerberos.h"
#include "protocols/packet.h"
#include "replay/engine/loop.h"
#include "tests/lib/kdc_error.h"
#include "tests/lib/lab.h"
#include "tests/lib/servers/relay.h"
#include "tests/lib/test_random.h"

struct lab {
    struct dc *dc;
    struct account user, machine, renamed;
    struct relay relay;
};

static struct lab lab;

/* The conversation of the running test. */
static struct conversation current;
static uint64_t random_state;

/* A conversation that talks to the KDC through the relay, whose counters start at 0. */
static void begin(struct conversation *conversation, uint64_t *random)
{
    lab.dc->options = (struct dc_options){.kdc_preauth_legs = 1};
    lab.dc->ports.kerberos = lab.relay.port;
    lab_begin(conversation, random, lab.dc, &lab.user, &lab.machine);
    relay_reset(&lab.relay);
}

static struct outcome play(struct conversation *conversation, const char *opcode, const char *key,
                           const char *value)
{
    return form_play_value(conversation, "kerberos", opcode, key, value, INT64_C(60000000000));
}

static void as_is_one_request(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    assert_false(current.kerberos);
    assert_ok(play(&current, "10", NULL, NULL));
    assert_true(current.kerberos);
    assert_int_equal(lab.relay.tcp_requests, 1);
    assert_ok(play(&current, "10", "as", "machine"));
    assert_int_equal(lab.relay.tcp_requests, 2);
    assert_ok(play(&current, "10", "as", "user")); /* again: a new TGT each time */
    assert_int_equal(lab.relay.tcp_requests, 3);
    assert_int_equal(lab.relay.udp_requests, 0);
    conversation_reset(&current);
    assert_null(current.krb5);
    assert_false(current.kerberos);
}

static void as_in_two_legs(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    lab.dc->options.kdc_preauth_legs = 2;
    assert_ok(play(&current, "10", NULL, NULL));
    assert_int_equal(lab.relay.tcp_requests, 2);
}

static void as_over_udp_goes_over_to_tcp(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    lab.dc->options.kdc = KDC_UDP;
    assert_ok(play(&current, "10", NULL, NULL));
    assert_int_equal(lab.relay.udp_requests, 1);
    assert_int_equal(lab.relay.tcp_requests, 1); /* "response too big" */
    assert_ok(play(&current, "12", NULL, NULL));
    assert_int_equal(lab.relay.udp_requests, 2);
    assert_int_equal(lab.relay.tcp_requests, 2);
    lab.dc->options.kdc_preauth_legs = 2; /* only the second leg's reply is too big */
    assert_ok(play(&current, "10", NULL, NULL));
    assert_int_equal(lab.relay.udp_requests, 4);
    assert_int_equal(lab.relay.tcp_requests, 3);
}

static void as_with_a_wrong_key(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    struct account wrong = lab.user;
    wrong.aes256_key[5] ^= 1;
    current.user = &wrong;
    assert_failed(play(&current, "10", NULL, NULL), "KDC_ERR_PREAUTH_FAILED");
    assert_int_equal(lab.relay.tcp_requests, 1);
    lab.dc->options.kdc_preauth_legs = 2;
    assert_failed(play(&current, "10", NULL, NULL), "KDC_ERR_PREAUTH_FAILED");
    assert_int_equal(lab.relay.tcp_requests, 3);
    wrong.name = (char *)(uintptr_t) "nobody-of-that-name";
    assert_failed(play(&current, "10", NULL, NULL), "KDC_ERR_C_PRINCIPAL_UNKNOWN");
}

static void wrong_password_first(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    lab.dc->options.badpassword_frequency = 1;
    assert_ok(play(&current, "10", NULL, NULL));
    assert_int_equal(current.expected_failures, 1);
    assert_int_equal(lab.relay.tcp_requests, 2);
    assert_ok(play(&current, "10", NULL, NULL)); /* never twice in a row */
    assert_int_equal(current.expected_failures, 0);
    assert_int_equal(lab.relay.tcp_requests, 3);
    /* Not for the administrator. */
    current.wire.deadline = clock_now() + INT64_C(60000000000);
    assert_ok(kerberos_as_exchange(&current, &lab.dc->admin));
    assert_int_equal(current.expected_failures, 0);
}

static void tgs_really_asks(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    /* AS first, then ldap, cifs, host, ldap. */
    assert_ok(play(&current, "12", NULL, NULL));
    assert_int_equal(lab.relay.tcp_requests, 2);
    for (unsigned i = 0; i < 3; i++) {
        assert_ok(play(&current, "12", NULL, NULL));
        assert_int_equal(lab.relay.tcp_requests, 3 + i);
    }
    assert_true(current.kerberos);
    assert_ok(play(&current, "12", "service", "GC"));
    assert_int_equal(lab.relay.tcp_requests, 6);
    assert_failed(play(&current, "12", "service", "nosuch"), "KDC_ERR_S_PRINCIPAL_UNKNOWN");
    assert_int_equal(lab.relay.tcp_requests, 7);
    relay_reset(&lab.relay);
    assert_ok(play(&current, "12", "service", "krbtgt")); /* as for delegation */
    assert_ok(play(&current, "12", "service", "krbtgt"));
    assert_int_equal(lab.relay.tcp_requests, 2);
    assert_ok(play(&current, "12", "service", "ldap"));
    assert_int_equal(lab.relay.tcp_requests, 3);
}

static OM_uint32 begin_context(gss_cred_id_t credentials, const char *service, size_t *token_size)
{
    OM_uint32 minor, ignored;
    char text[256];
    snprintf(text, sizeof text, "%s@%s", service, lab.dc->dns_name);
    gss_buffer_desc name = {strlen(text), text}, token = GSS_C_EMPTY_BUFFER;
    gss_name_t target;
    gss_ctx_id_t context = GSS_C_NO_CONTEXT;
    assert_int_equal(gss_import_name(&minor, &name, GSS_C_NT_HOSTBASED_SERVICE, &target), 0);
    OM_uint32 major =
        gss_init_sec_context(&minor, credentials, &context, target, (gss_OID)gss_mech_krb5,
                             GSS_C_MUTUAL_FLAG, 0, NULL, GSS_C_NO_BUFFER, NULL, &token, NULL, NULL);
    *token_size = token.length;
    gss_release_buffer(&ignored, &token);
    gss_release_name(&ignored, &target);
    gss_delete_sec_context(&ignored, &context, NULL);
    return major;
}

static void tickets_are_fetched_once(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    current.wire.deadline = clock_now() + INT64_C(60000000000);
    assert_ok(kerberos_ensure_ticket(&current, &lab.user, "ldap"));
    assert_int_equal(lab.relay.tcp_requests, 2);
    assert_ok(kerberos_ensure_ticket(&current, &lab.user, "ldap"));
    assert_int_equal(lab.relay.tcp_requests, 2);
    assert_ok(kerberos_ensure_ticket(&current, &lab.user, "cifs"));
    assert_int_equal(lab.relay.tcp_requests, 3);
    assert_ok(kerberos_ensure_ticket(&current, &lab.machine, "ldap"));
    assert_int_equal(lab.relay.tcp_requests, 5);
    gss_cred_id_t credentials = kerberos_gss_credentials(&current, &lab.user);
    assert_ptr_not_equal(credentials, GSS_C_NO_CREDENTIAL);
    size_t size;
    assert_int_equal(begin_context(credentials, "ldap", &size), GSS_S_CONTINUE_NEEDED);
    assert_true(size > 500);
    assert_int_equal(begin_context(credentials, "cifs", &size), GSS_S_CONTINUE_NEEDED);
    /* A ticket that was not fetched is missing: GSS never contacts a KDC. */
    assert_true(GSS_ERROR(begin_context(credentials, "host", &size)));
    assert_int_equal(lab.relay.tcp_requests, 5);
    /* After a new AS exchange the service tickets are still there. */
    assert_ok(kerberos_as_exchange(&current, &lab.user));
    assert_ok(kerberos_ensure_ticket(&current, &lab.user, "cifs"));
    assert_int_equal(lab.relay.tcp_requests, 6);
    credentials = kerberos_gss_credentials(&current, &lab.user);
    assert_int_equal(begin_context(credentials, "cifs", &size), GSS_S_CONTINUE_NEEDED);
    kerberos_forget_tickets(&current, &lab.user);
    assert_ptr_equal(kerberos_gss_credentials(&current, &lab.user), GSS_C_NO_CREDENTIAL);
}

/* The KDC's reply to a TGT that was encrypted with an older key. */
enum { BAD_KEY_VERSION = 44 };

static void refused_tickets_are_replaced(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    uint8_t answer[256];
    assert_ok(play(&current, "10", NULL, NULL));
    lab.relay.answer = answer;
    atomic_store(&lab.relay.answer_size, kdc_error(BAD_KEY_VERSION, 0, answer));
    assert_ok(play(&current, "12", NULL, NULL));
    assert_int_equal(lab.relay.tcp_requests, 4); /* AS, TGS refused, AS, TGS */
    /* An AS exchange uses no ticket, so nothing is replaced. */
    kerberos_forget_tickets(&current, &lab.user);
    relay_reset(&lab.relay);
    atomic_store(&lab.relay.answer_size, kdc_error(BAD_KEY_VERSION, 0, answer));
    assert_failed(play(&current, "10", NULL, NULL), "KRB_AP_ERR_BADKEYVER");
    assert_int_equal(lab.relay.tcp_requests, 1);
}

/* The salt of the administrator or of a renamed account need not be the usual one. */
static void key_with_the_salt_of_the_kdc(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    struct account renamed = lab.renamed;
    current.user = &renamed;
    assert_int_equal(kerberos_derive_key(&renamed, lab.dc->realm), 0);
    assert_failed(play(&current, "10", NULL, NULL), "KDC_ERR_PREAUTH_FAILED");
    current.wire.deadline = clock_now() + INT64_C(60000000000);
    relay_reset(&lab.relay);
    assert_ok(kerberos_learn_key(&current, &renamed));
    assert_int_equal(lab.relay.tcp_requests, 1);
    assert_ok(play(&current, "10", NULL, NULL));
    assert_int_equal(lab.relay.tcp_requests, 2);
    renamed.has_aes256_key = false; /* from the password and the salt that the KDC sends */
    assert_ok(play(&current, "10", NULL, NULL));
    assert_int_equal(lab.relay.tcp_requests, 4);
}

static void administrator_by_password(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    current.wire.deadline = clock_now() + INT64_C(60000000000);
    assert_ok(kerberos_ensure_ticket(&current, &lab.dc->admin, "ldap"));
}

static atomic_uint at_once_ok;

static void one_of_many(struct loop *loop, void *argument, uint64_t i)
{
    (void)argument;
    uint64_t random = i;
    struct conversation conversation = {.wire.waiter = loop_waiter(loop),
                                        .dc = lab.dc,
                                        .user = &lab.user,
                                        .machine = &lab.machine,
                                        .random = test_random,
                                        .random_state = &random};
    conversation_init(&conversation);
    for (int round = 0; round < 3; round++) {
        struct outcome outcome = play(&conversation, "10", NULL, NULL);
        if (outcome.kind == OUTCOME_OK)
            outcome = play(&conversation, "12", NULL, NULL);
        if (outcome.kind == OUTCOME_OK)
            atomic_fetch_add(&at_once_ok, 1);
        else
            print_message("# %s\n", outcome.cause);
    }
    conversation_reset(&conversation);
}

static void *many_in_a_thread(void *argument)
{
    return (void *)(intptr_t)loop_run_all(one_of_many, argument, 15, 15);
}

static void many_at_once(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    lab.dc->options = (struct dc_options){.kdc_preauth_legs = 2};
    struct sockaddr_storage relayed = lab.dc->address;
    lab.dc->address = lab.relay.real_address; /* straight to the KDC */
    lab.dc->ports.kerberos = 88;
    atomic_init(&at_once_ok, 0);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, many_in_a_thread, NULL), 0);
    for (int i = 0; i < 2; i++) {
        void *result;
        pthread_join(threads[i], &result);
        assert_null(result);
    }
    lab.dc->address = relayed;
    assert_int_equal(at_once_ok, 2 * 15 * 3);
}

/* A renamed account keeps the salt of its first name. */
static void make_renamed(LDAP *ldap)
{
    struct account account;
    lab_make_account(ldap, lab.dc, "krbtest-before", &account);
    char *names[] = {(char *)(uintptr_t) "krbtest-after", NULL};
    LDAPMod mod = {LDAP_MOD_REPLACE, (char *)(uintptr_t) "sAMAccountName", {names}};
    LDAPMod *mods[] = {&mod, NULL};
    assert_int_equal(ldap_modify_ext_s(ldap, account.dn, mods, NULL, NULL), LDAP_SUCCESS);
    free(account.name);
    account.name = strdup(names[0]);
    lab.renamed = account;
}

static int set_up(void **state)
{
    (void)state;
    if (!lab_is_there())
        return 0;
    struct error error = {0};
    struct dc *dc = lab.dc = lab_dc();
    LDAP *ldap = lab_ldap(dc);
    lab_make_account(ldap, dc, "krbtest-user", &lab.user);
    lab_make_account(ldap, dc, "krbtest-pc$", &lab.machine);
    make_renamed(ldap);
    ldap_unbind_ext_s(ldap, NULL, NULL);
    if (kerberos_global_init(dc, &error) != 0)
        fail_msg("%s", error.text);
    assert_int_equal(kerberos_derive_key(&lab.user, dc->realm), 0);
    assert_int_equal(kerberos_derive_key(&lab.machine, dc->realm), 0);
    relay_start(&lab.relay, dc, 88);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    if (!lab.dc)
        return 0;
    relay_stop(&lab.relay);
    struct account *accounts[] = {&lab.user, &lab.machine, &lab.renamed};
    lab_end(lab.dc, accounts, 3);
    return 0;
}

static int begin_test(void **state)
{
    (void)state;
    if (lab.dc)
        begin(&current, &random_state);
    return 0;
}

static int end_test(void **state)
{
    (void)state;
    if (lab.dc)
        conversation_reset(&current);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(as_is_one_request, begin_test, end_test),
        cmocka_unit_test_setup_teardown(as_in_two_legs, begin_test, end_test),
        cmocka_unit_test_setup_teardown(as_over_udp_goes_over_to_tcp, begin_test, end_test),
        cmocka_unit_test_setup_teardown(as_with_a_wrong_key, begin_test, end_test),
        cmocka_unit_test_setup_teardown(wrong_password_first, begin_test, end_test),
        cmocka_unit_test_setup_teardown(tgs_really_asks, begin_test, end_test),
        cmocka_unit_test_setup_teardown(tickets_are_fetched_once, begin_test, end_test),
        cmocka_unit_test_setup_teardown(refused_tickets_are_replaced, begin_test, end_test),
        cmocka_unit_test_setup_teardown(key_with_the_salt_of_the_kdc, begin_test, end_test),
        cmocka_unit_test_setup_teardown(administrator_by_password, begin_test, end_test),
        cmocka_unit_test(many_at_once),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
