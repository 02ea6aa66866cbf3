/* SPDX-License-Identifier: Apache-2.0 */
/* Every RPC packet of the table against the lab's DC, many times over, with NTLM and Kerberos. */
#include "lab.h"
#include "protocols/kerberos.h"
#include "protocols/ntlmssp.h"
#include "protocols/packet.h"
#include "protocols/security_descriptor.h"

struct lab {
    struct dc *dc;
    struct account user, machine, bad_machine;
};

static struct lab lab;
static const char *const skip_reason = "no lab: TRAFFIC_REPLAY_DC and its like are not set";

#define NEED_LAB()                                                                                 \
    do {                                                                                           \
        if (!lab.dc) {                                                                             \
            print_message("# SKIP %s\n", skip_reason);                                             \
            skip();                                                                                \
        }                                                                                          \
    } while (0)

static const char *const protocols[] = {"epm",  "rpc_netlogon", "lsarpc",
                                        "samr", "srvsvc",       "drsuapi"};

static void begin(struct conversation *conversation, uint64_t *random, bool kerberos)
{
    *random = 7;
    *conversation = (struct conversation){.wire.waiter = wire_blocking_waiter(),
                                          .dc = lab.dc,
                                          .user = &lab.user,
                                          .machine = &lab.machine,
                                          .random = lab_random,
                                          .random_state = random};
    lab.dc->options = (struct dc_options){
        .kdc_preauth_legs = 1, .prefer_kerberos = kerberos, .allow_replication = true};
    conversation_init(conversation);
}

static struct outcome play_type(struct conversation *conversation, const struct packet_type *type)
{
    char error[256] = "";
    void *details = type->compile ? type->compile(NULL, 0, error, sizeof error) : NULL;
    struct outcome outcome = packet_play(conversation, type, details, INT64_C(20000000000));
    if (type->release)
        type->release(details);
    return outcome;
}

static struct outcome play(struct conversation *conversation, const char *protocol,
                           const char *opcode)
{
    const struct packet_type *type = packet_type_find(protocol, opcode);
    assert_non_null(type);
    return play_type(conversation, type);
}

static void assert_ok(struct outcome outcome, const char *what)
{
    if (outcome.kind != OUTCOME_OK)
        fail_msg("%s: kind %d: %s", what, (int)outcome.kind, outcome.cause);
}

struct round {
    bool kerberos;
    int times;
    unsigned played, failed;
};

static bool is_rpc(const struct packet_type *type)
{
    for (size_t i = 0; i < sizeof protocols / sizeof protocols[0]; i++)
        if (strcmp(type->protocol, protocols[i]) == 0)
            return type->kind == PACKET_OPERATION;
    return false;
}

/* Plays a packet alone, several times in one conversation, after which a new one begins. */
static void play_alone(const struct packet_type *type, void *context)
{
    struct round *round = context;
    struct conversation conversation;
    uint64_t random;
    if (!is_rpc(type))
        return;
    begin(&conversation, &random, round->kerberos);
    for (int i = 0; i < round->times; i++) {
        struct outcome outcome = play_type(&conversation, type);
        round->played++;
        if (outcome.kind != OUTCOME_OK) {
            round->failed++;
            print_error("%s:%s, time %d: kind %d: %s\n", type->protocol, type->opcode, i + 1,
                        (int)outcome.kind, outcome.cause);
            break;
        }
        assert_true(conversation.wire.first_sent > 0);
        assert_true(conversation.wire.last_received >= conversation.wire.first_sent);
        if (i % 10 == 9)
            conversation_reset(&conversation);
    }
    conversation_reset(&conversation);
}

static void every_packet_with_ntlm(void **state)
{
    (void)state;
    NEED_LAB();
    struct round round = {.kerberos = false, .times = 100};
    packet_types_each(play_alone, &round);
    assert_int_equal(round.failed, 0);
    assert_true(round.played >= 100 * 50);
}

static void every_packet_with_kerberos(void **state)
{
    (void)state;
    NEED_LAB();
    struct round round = {.kerberos = true, .times = 20};
    packet_types_each(play_alone, &round);
    assert_int_equal(round.failed, 0);
}

/* A user may write its own SPN, as made users may: what drsuapi:13 needs. */
static void let_write_itself(LDAP *ldap, const struct account *user)
{
    char *attributes[] = {(char *)(uintptr_t) "nTSecurityDescriptor", NULL};
    LDAPMessage *found = NULL;
    uint8_t *descriptor = NULL;
    size_t size = 0;
    bool changed = false;
    assert_int_equal(ldap_search_ext_s(ldap, user->dn, LDAP_SCOPE_BASE, "(objectClass=*)",
                                       attributes, 0, NULL, NULL, NULL, 0, &found),
                     LDAP_SUCCESS);
    struct berval **values =
        ldap_get_values_len(ldap, ldap_first_entry(ldap, found), attributes[0]);
    assert_non_null(values);
    assert_int_equal(security_descriptor_add((uint8_t *)values[0]->bv_val, values[0]->bv_len,
                                             "(A;;WP;;;PS)", SECURITY_DESCRIPTOR_KEEP_INHERITED,
                                             &descriptor, &size, &changed),
                     0);
    struct berval value = {.bv_val = (char *)descriptor, .bv_len = size};
    struct berval *replaced[] = {&value, NULL};
    LDAPMod mod = {.mod_op = LDAP_MOD_REPLACE | LDAP_MOD_BVALUES,
                   .mod_type = attributes[0],
                   .mod_bvalues = replaced};
    LDAPMod *mods[] = {&mod, NULL};
    char flags[] = {0x30, 0x03, 0x02, 0x01, SECURITY_DESCRIPTOR_DACL_ONLY};
    LDAPControl control = {.ldctl_oid = (char *)(uintptr_t)SECURITY_DESCRIPTOR_FLAGS_OID,
                           .ldctl_value = {sizeof flags, flags},
                           .ldctl_iscritical = 1};
    LDAPControl *controls[] = {&control, NULL};
    assert_int_equal(ldap_modify_ext_s(ldap, user->dn, mods, controls, NULL), LDAP_SUCCESS);
    ldap_value_free_len(values);
    ldap_msgfree(found);
    free(descriptor);
}

static void make_lab(void)
{
    char error[256] = "";
    if (!lab_is_there())
        return;
    lab.dc = lab_dc();
    LDAP *ldap = lab_ldap(lab.dc);
    lab_make_account(ldap, lab.dc, "rpctestuser", &lab.user);
    lab_make_account(ldap, lab.dc, "RPCTESTPC$", &lab.machine);
    let_write_itself(ldap, &lab.user);
    ldap_unbind_ext_s(ldap, NULL, NULL);
    assert_int_equal(kerberos_global_init(lab.dc, error, sizeof error), 0);
    struct account *accounts[] = {&lab.user, &lab.machine, &lab.dc->admin};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(ntlmssp_nt_hash(accounts[i]->password, accounts[i]->nt_hash), 0);
        accounts[i]->has_nt_hash = true;
        assert_int_equal(kerberos_derive_key(accounts[i], lab.dc->realm), 0);
    }
    if (discover_domain_sid(lab.dc, error, sizeof error) != 0)
        fail_msg("%s", error);
}

static int set_up(void **state)
{
    (void)state;
    make_lab();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    if (!lab.dc)
        return 0;
    LDAP *ldap = lab_ldap(lab.dc);
    lab_delete_account(ldap, &lab.user);
    lab_delete_account(ldap, &lab.machine);
    ldap_unbind_ext_s(ldap, NULL, NULL);
    account_clear(&lab.user);
    account_clear(&lab.machine);
    kerberos_global_end();
    dc_free(lab.dc);
    return 0;
}

static void wrong_machine_password(void **state)
{
    (void)state;
    NEED_LAB();
    struct conversation conversation;
    uint64_t random;
    begin(&conversation, &random, false);
    lab.bad_machine = lab.machine;
    lab.bad_machine.nt_hash[3] ^= 1;
    conversation.machine = &lab.bad_machine;
    struct outcome outcome = play(&conversation, "rpc_netlogon", "39");
    assert_int_equal(outcome.kind, OUTCOME_FAILED);
    assert_string_equal(outcome.cause, "NT_STATUS_ACCESS_DENIED");
    conversation_reset(&conversation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_packet_with_ntlm),
        cmocka_unit_test(every_packet_with_kerberos),
        cmocka_unit_test(wrong_machine_password),
    };
    (void)play;
    (void)assert_ok;
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
