/* SPDX-License-Identifier: Apache-2.0 */
/* Discovery, LDAP pings, DNS and NBNS against the lab's DC. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "protocols/auth/ntlmssp.h"
#include "protocols/kerberos/kerberos.h"
#include "protocols/ldap/ldap_connection.h"
#include "protocols/names/cldap.h"
#include "protocols/names/dns.h"
#include "protocols/packet.h"
#include "replay/accounts/discover.h"
#include "tests/lib/lab.h"
#include "tests/lib/packets.h"
#include "tests/lib/test_random.h"

static struct dc *dc;

#define NEED_LAB()                                                                                 \
    do {                                                                                           \
        if (!dc)                                                                                   \
            skip();                                                                                \
    } while (0)

static struct outcome play(const char *protocol, const char *opcode, const char *key,
                           const char *value)
{
    static uint64_t random;
    struct account machine = {.name = (char *)(uintptr_t) "STGM-0-1$"};
    struct conversation conversation = {.wire.waiter = wire_blocking_waiter(),
                                        .dc = dc,
                                        .machine = &machine,
                                        .random = test_random,
                                        .random_state = &random};
    conversation_init(&conversation);
    struct outcome outcome =
        form_play_value(&conversation, protocol, opcode, key, value, INT64_C(10000000000));
    conversation_reset(&conversation);
    return outcome;
}

static void the_dc_is_discovered(void **state)
{
    (void)state;
    NEED_LAB();
    char base[256] = "";
    assert_string_equal(dc->realm, "SAMDOM.EXAMPLE.COM");
    assert_string_equal(dc->netbios_domain, "SAMDOM");
    assert_string_equal(dc->dns_name, "dc1.samdom.example.com");
    assert_string_equal(dc->base_dn, "DC=samdom,DC=example,DC=com");
    snprintf(base, sizeof base, "CN=Configuration,%s", dc->base_dn);
    assert_string_equal(dc->config_dn, base);
    snprintf(base, sizeof base, "CN=Schema,%s", dc->config_dn);
    assert_string_equal(dc->schema_dn, base);
}

static void the_domain_has_a_sid(void **state)
{
    (void)state;
    NEED_LAB();
    struct error error = {0};
    if (discover_domain_sid(dc, &error) != 0)
        fail_msg("%s", error.text);
    assert_int_equal(strncmp(dc->domain_sid, "S-1-5-21-", 9), 0);
    unsigned a, b, c;
    char rest;
    assert_int_equal(sscanf(dc->domain_sid, "S-1-5-21-%u-%u-%u%c", &a, &b, &c, &rest), 3);
}

static void pings_are_answered(void **state)
{
    (void)state;
    NEED_LAB();
    assert_ok(play("cldap", "3", NULL, NULL));
    struct wire wire = {.waiter = wire_blocking_waiter(),
                        .deadline = clock_now() + INT64_C(5000000000)};
    struct cldap_netlogon netlogon;
    assert_int_equal(cldap_netlogon(&wire, dc, "other.example.com", NULL, &netlogon), -ENOENT);
}

static void dns_knows_the_domain(void **state)
{
    (void)state;
    NEED_LAB();
    unsigned answered;
    assert_int_equal(discover_dns(dc, &answered), 0);
    assert_true(answered >= 6);
    for (int i = 0; i < 20; i++)
        assert_ok(play("dns", "0", NULL, NULL));
    static const char *const names[] = {"realm", "dc", "ldap", "kerberos", "msdcs", "other"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_ok(play("dns", "0", "name", names[i]));
    assert_ok(play("dns", "0", "type", "SOA"));
    assert_ok(play("dns", "0", "type", "TYPE65"));
}

static void netbios_name_of_the_domain(void **state)
{
    (void)state;
    NEED_LAB();
    struct outcome outcome = play("nbns", "0", NULL, NULL);
    if (outcome.kind != OUTCOME_NO_ANSWER) /* many a DC has NBT off */
        assert_ok(outcome);
}

/* A DC is an LDAP server, too, when nothing more is asked of it. */
static void the_dc_as_any_ldap_server(void **state)
{
    (void)state;
    NEED_LAB();
    struct dc *generic = dc_new();
    struct error error = {0};
    assert_non_null(generic);
    generic->options.generic_ldap = true;
    assert_int_equal(ldap_connection_global_init(&error), 0);
    if (discover_dc(generic, getenv("TRAFFIC_REPLAY_DC"), NULL, NULL, &error) != 0)
        fail_msg("%s", error.text);
    assert_string_equal(generic->base_dn, dc->base_dn);
    assert_string_equal(generic->dns_name, generic->given);
    assert_null(generic->realm);
    dc_free(generic);
}

static int set_up(void **state)
{
    (void)state;
    struct error error = {0};
    if (!lab_is_there())
        return 0;
    dc = lab_dc();
    if (ldap_connection_global_init(&error) != 0 || kerberos_global_init(dc, &error) != 0)
        return -1;
    dc->admin.has_nt_hash = true;
    return ntlmssp_nt_hash(dc->admin.password, dc->admin.nt_hash);
}

static int tear_down(void **state)
{
    (void)state;
    if (dc)
        kerberos_global_end();
    dc_free(dc);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_dc_is_discovered),       cmocka_unit_test(the_domain_has_a_sid),
        cmocka_unit_test(pings_are_answered),         cmocka_unit_test(dns_knows_the_domain),
        cmocka_unit_test(netbios_name_of_the_domain), cmocka_unit_test(the_dc_as_any_ldap_server),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
