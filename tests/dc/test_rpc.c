/* SPDX-License-Identifier: Apache-2.0 */
/* Every RPC packet of the table against the lab's DC, many times over, with NTLM and Kerberos. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "protocols/auth/ntlmssp.h"
#include "protocols/auth/security_descriptor.h"
#include "protocols/kerberos/kerberos.h"
#include "protocols/packet.h"
#include "protocols/rpc/netlogon/netlogon_logon.h"
#include "protocols/rpc/rpc_association.h"
#include "protocols/rpc/rpc_drsuapi.h"
#include "protocols/rpc/rpc_epm.h"
#include "protocols/rpc/rpc_netlogon.h"
#include "protocols/rpc/rpc_samr.h"
#include "protocols/smb2/smb2_connection.h"
#include "protocols/smb2/smb2_private.h"
#include "replay/accounts/discover.h"
#include "tests/lib/lab.h"
#include "tests/lib/servers/relay.h"

struct lab {
    struct dc *dc;
    struct account user, machine, bad_machine;
};

static struct lab lab;

static const char *const protocols[] = {"epm",  "rpc_netlogon", "lsarpc",
                                        "samr", "srvsvc",       "drsuapi"};

static void begin(struct conversation *conversation, uint64_t *random, bool kerberos)
{
    lab.dc->options = (struct dc_options){
        .kdc_preauth_legs = 1, .prefer_kerberos = kerberos, .allow_replication = true};
    lab_begin(conversation, random, lab.dc, &lab.user, &lab.machine);
}

static const int64_t timeout = INT64_C(20000000000);

static struct outcome play(struct conversation *conversation, const char *protocol,
                           const char *opcode)
{
    return form_play(conversation, protocol, opcode, NULL, 0, timeout);
}

/* How often each packet is played: TRAFFIC_REPLAY_TIMES, 100 by default. */
static int times_wanted(void)
{
    const char *text = getenv("TRAFFIC_REPLAY_TIMES");
    return text ? atoi(text) : 100;
}

struct round {
    bool kerberos;
    int times;
    unsigned played, failed;
};

static bool is_rpc(const struct packet_row *row)
{
    for (size_t i = 0; i < sizeof protocols / sizeof protocols[0]; i++)
        if (strcmp(row->protocol->name, protocols[i]) == 0)
            return row->kind == PACKET_OPERATION;
    return false;
}

/* Plays a packet alone, several times in one conversation, then in a new one. */
static void play_alone(const struct packet_row *row, struct round *round)
{
    struct conversation conversation;
    uint64_t random;
    begin(&conversation, &random, round->kerberos);
    for (int i = 0; i < round->times; i++) {
        struct outcome outcome =
            form_play(&conversation, row->protocol->name, row->opcode, NULL, 0, timeout);
        round->played++;
        /* A network logon is NTLM whatever the conversation uses. */
        if (lab_ntlm_is_refused() && strcmp(outcome.cause, "NT_STATUS_NTLM_BLOCKED") == 0)
            continue;
        if (outcome.kind != OUTCOME_OK) {
            round->failed++;
            print_error("%s:%s, time %d: kind %d: %s\n", row->protocol->name, row->opcode, i + 1,
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

static void play_each_alone(struct round *round)
{
    size_t count;
    const struct packet_row *rows = packet_rows(&count);
    for (size_t i = 0; i < count; i++)
        if (is_rpc(&rows[i]))
            play_alone(&rows[i], round);
}

static void every_packet_with_ntlm(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    if (lab_ntlm_is_refused())
        return;
    struct round round = {.kerberos = false, .times = times_wanted()};
    play_each_alone(&round);
    assert_int_equal(round.failed, 0);
    assert_true(round.played >= (unsigned)round.times * 50);
}

/* Packets that need NTLM fail with that cause; the secure channel does not need it. */
static void ntlm_refused(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    if (!lab_ntlm_is_refused())
        return;
    struct conversation conversation;
    uint64_t random;
    begin(&conversation, &random, false);
    assert_failed(play(&conversation, "rpc_netlogon", "39"), "NT_STATUS_NTLM_BLOCKED");
    struct outcome outcome = play(&conversation, "samr", "64");
    assert_int_equal(outcome.kind, OUTCOME_FAILED);
    assert_true(conversation.wire.first_sent > 0);
    assert_ok_for("rpc_netlogon:29", play(&conversation, "rpc_netlogon", "29"));
    assert_ok_for("lsarpc:77", play(&conversation, "lsarpc", "77"));
    conversation_reset(&conversation);
}

static void every_packet_with_kerberos(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    struct round round = {.kerberos = true, .times = (times_wanted() + 4) / 5};
    play_each_alone(&round);
    assert_int_equal(round.failed, 0);
}

/* Lets a user write its own SPN, as test users may: drsuapi:13 needs it. */
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
    struct error error = {0};
    if (!lab_is_there())
        return;
    lab.dc = lab_dc();
    LDAP *ldap = lab_ldap(lab.dc);
    lab_make_account(ldap, lab.dc, "rpctestuser", &lab.user);
    lab_make_account(ldap, lab.dc, "RPCTESTPC$", &lab.machine);
    let_write_itself(ldap, &lab.user);
    ldap_unbind_ext_s(ldap, NULL, NULL);
    assert_int_equal(kerberos_global_init(lab.dc, &error), 0);
    struct account *accounts[] = {&lab.user, &lab.machine, &lab.dc->admin};
    for (size_t i = 0; i < 3; i++)
        lab_derive_keys(lab.dc, accounts[i]);
    lab.dc->options.prefer_kerberos = lab_ntlm_is_refused();
    if (discover_domain_sid(lab.dc, &error) != 0)
        fail_msg("%s", error.text);
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
    struct account *accounts[] = {&lab.user, &lab.machine};
    lab_end(lab.dc, accounts, 2);
    return 0;
}

/* The status of a logon of the user to a machine, over the channel of the lab's machine. */
static uint32_t logon_to(struct conversation *conversation, const char *computer)
{
    struct arena arena = {0};
    struct netlogon_network network;
    struct netlogon_LogonSamLogonEx_reply reply = {.status = 0};
    char name[16];
    snprintf(name, sizeof name, "%s", computer);
    assert_ok_for(computer, netlogon_logon_make(conversation, name, &arena, &network));
    network.workstation = conversation->rpc->computer;
    struct netlogon_LogonSamLogonEx_request request = {
        .server_name = rpc_server_name(conversation, &arena),
        .computer_name = conversation->rpc->computer,
        .level = NETLOGON_LOGON_NETWORK_TRANSITIVE,
        .network = &network,
        .validation_level = NETLOGON_VALIDATION_SAM_INFO4};
    assert_ok_for(computer, rpc_play_call(conversation, RPC_SLOT_NETLOGON_SECURE,
                                          NETLOGON_LOGON_SAM_LOGON_EX, &request, &reply, &arena));
    arena_free(&arena);
    return reply.status;
}

/* The DC compares the target's NetBIOS name with the channel's computer, so it reads what the
 * logons carry. */
static void logons_of_another_machine_are_refused(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    struct conversation conversation;
    uint64_t random;
    if (lab_ntlm_is_refused())
        return;
    begin(&conversation, &random, false);
    assert_ok_for("channel", play(&conversation, "rpc_netlogon", "29"));
    conversation.wire.deadline = clock_now() + timeout;
    assert_int_equal(conversation.rpc->channel_type, NETLOGON_CHANNEL_WORKSTATION);
    assert_int_equal(logon_to(&conversation, conversation.rpc->computer), 0);
    assert_int_equal(logon_to(&conversation, "OTHERPC"), 0xc000006d); /* STATUS_LOGON_FAILURE */
    conversation_reset(&conversation);
}

/* pwdLastSet of the lab's machine (MS-ADA3 2.175). */
static long long password_time(LDAP *ldap)
{
    char *attributes[] = {(char *)(uintptr_t) "pwdLastSet", NULL};
    LDAPMessage *found = NULL;
    assert_int_equal(ldap_search_ext_s(ldap, lab.machine.dn, LDAP_SCOPE_BASE, "(objectClass=*)",
                                       attributes, 0, NULL, NULL, NULL, 0, &found),
                     LDAP_SUCCESS);
    struct berval **values =
        ldap_get_values_len(ldap, ldap_first_entry(ldap, found), attributes[0]);
    assert_non_null(values);
    long long time = atoll(values[0]->bv_val);
    ldap_value_free_len(values);
    ldap_msgfree(found);
    return time;
}

/* rpc_netlogon:30 writes, and leaves the machine's own password; a run that finds the other one,
 * because another was killed in the middle, sets it back. */
static void machine_passwords_change_and_come_back(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    struct conversation conversation;
    uint64_t random;
    struct account killed = lab.machine;
    LDAP *ldap = lab_ldap(lab.dc);
    begin(&conversation, &random, true);
    lab.dc->instance_dn = strdup(lab.dc->base_dn); /* the program's own accounts */
    long long before = password_time(ldap);
    assert_ok_for("change", play(&conversation, "rpc_netlogon", "30"));
    assert_true(password_time(ldap) > before);
    conversation_reset(&conversation);
    assert_ok_for("channel", play(&conversation, "rpc_netlogon", "29"));
    assert_ok_for("machine's session", play(&conversation, "lsarpc", "44"));
    conversation_reset(&conversation);
    assert_int_equal(netlogon_other_password(lab.machine.password, &killed.password), 0);
    lab_set_password(ldap, &killed);
    free(killed.password);
    assert_ok_for("after a kill", play(&conversation, "rpc_netlogon", "29"));
    conversation_reset(&conversation);
    conversation.kerberos = true;
    assert_ok_for("its own password", play(&conversation, "lsarpc", "44"));
    conversation_reset(&conversation);
    free(lab.dc->instance_dn);
    lab.dc->instance_dn = NULL;
    ldap_unbind_ext_s(ldap, NULL, NULL);
}

static void wrong_machine_password(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    struct conversation conversation;
    uint64_t random;
    begin(&conversation, &random, false);
    lab.bad_machine = lab.machine;
    lab.bad_machine.nt_hash[3] ^= 1;
    conversation.machine = &lab.bad_machine;
    assert_failed(play(&conversation, "rpc_netlogon", "39"), "NT_STATUS_ACCESS_DENIED");
    conversation_reset(&conversation);
}

/* Every way to bind, at both levels, with requests and replies of several fragments. */

enum { MANY_NAMES = 900 };

/* The reply, two arrays of MANY_NAMES numbers, has several fragments too. */
static void many_names(struct rpc_association *association, const struct ndr_policy_handle *domain)
{
    struct arena arena = {0};
    char *names[MANY_NAMES], name[MANY_NAMES][24];
    struct samr_LookupNames_reply reply = {.status = 0};
    for (int i = 0; i < MANY_NAMES; i++) {
        snprintf(name[i], sizeof name[i], "%s", i % 2 ? "Administrator" : "nobody-of-that-name");
        names[i] = name[i];
    }
    struct samr_LookupNames_request request = {
        .handle = *domain, .count = MANY_NAMES, .names = names};
    assert_ok_for("LookupNames",
                  rpc_call(association, rpc_procedure_find(&rpc_samr, SAMR_LOOKUP_NAMES), &request,
                           &reply, &arena));
    assert_int_equal(reply.status, 0x107); /* STATUS_SOME_UNMAPPED */
    assert_int_equal(reply.rids.count, MANY_NAMES);
    assert_int_equal(reply.rids.ids[1], 500);
    assert_int_equal(reply.rids.ids[0], 0);
    arena_free(&arena);
}

static void use_samr(struct rpc_association *association)
{
    struct arena arena = {0};
    struct samr_Connect2_request connect = {.server_name = NULL, .access = SAMR_MAXIMUM_ALLOWED};
    struct samr_handle_reply server = {.status = 1}, domain = {.status = 1};
    assert_ok_for("Connect2", rpc_call(association, rpc_procedure_find(&rpc_samr, SAMR_CONNECT2),
                                       &connect, &server, &arena));
    assert_int_equal(server.status, 0);
    struct samr_OpenDomain_request open = {.handle = server.handle, .access = SAMR_MAXIMUM_ALLOWED};
    assert_int_equal(ndr_sid_parse(lab.dc->domain_sid, &open.sid), 0);
    assert_ok_for("OpenDomain",
                  rpc_call(association, rpc_procedure_find(&rpc_samr, SAMR_OPEN_DOMAIN), &open,
                           &domain, &arena));
    assert_int_equal(domain.status, 0);
    many_names(association, &domain.handle);
    /* A fault is reported by name and leaves the association usable. */
    struct rpc_procedure unknown = *rpc_procedure_find(&rpc_samr, SAMR_CLOSE);
    struct samr_handle_request nothing = {.handle = server.handle};
    unknown.opnum = 200;
    struct outcome fault = rpc_call(association, &unknown, &nothing, &server, &arena);
    assert_failed(fault, "fault nca_s_op_rng_error");
    assert_false(rpc_association_broken(association));
    many_names(association, &domain.handle);
    arena_free(&arena);
}

static void bind_and_use(enum rpc_security security, enum auth_level level, bool kerberos)
{
    struct conversation conversation;
    uint64_t random;
    struct rpc_transport *transport;
    struct rpc_association *association;
    begin(&conversation, &random, kerberos);
    conversation.wire.deadline = clock_now() + INT64_C(20000000000);
    struct rpc_binding binding = {.interface = &rpc_samr,
                                  .security = security,
                                  .level = level,
                                  .account = &lab.dc->admin,
                                  .kerberos = kerberos,
                                  .service = "host"};
    char what[64];
    snprintf(what, sizeof what, "security %d, level %d", (int)security, (int)level);
    assert_ok_for(what, rpc_tcp_open(&conversation, &rpc_samr, &transport));
    assert_ok_for(what, rpc_bind(&conversation, transport, &binding, &association));
    use_samr(association);
    rpc_association_close(association);
    conversation_reset(&conversation);
}

static void every_way_to_bind(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    static const enum auth_level levels[] = {AUTH_LEVEL_INTEGRITY, AUTH_LEVEL_PRIVACY};
    for (size_t i = 0; i < 2; i++) {
        if (!lab_ntlm_is_refused()) {
            bind_and_use(RPC_SECURITY_NTLM, levels[i], false);
            bind_and_use(RPC_SECURITY_SPNEGO, levels[i], false);
        }
        bind_and_use(RPC_SECURITY_KERBEROS, levels[i], true);
        bind_and_use(RPC_SECURITY_SPNEGO, levels[i], true);
    }
}

/* If a port belongs to another interface now, the same operation asks the endpoint mapper again. */
static void port_of_another_interface(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    static const char *const packets[][2] = {
        {"samr", "64"}, {"drsuapi", "0"}, {"rpc_netlogon", "4"}, {"rpc_netlogon", "29"}};
    static const struct rpc_interface *const interfaces[] = {&rpc_samr, &rpc_drsuapi,
                                                             &rpc_netlogon};
    struct conversation conversation;
    uint64_t random;
    for (size_t i = 0; i < sizeof packets / sizeof packets[0]; i++) {
        begin(&conversation, &random, true);
        for (size_t j = 0; j < 3; j++)
            rpc_ports_remember(lab.dc->rpc_ports, interfaces[j], lab.dc->ports.epm);
        assert_ok_for(packets[i][0], play(&conversation, packets[i][0], packets[i][1]));
        conversation_reset(&conversation);
    }
}

/* The endpoint mapper refuses the first, unauthenticated bind; the second has SPNEGO. */
static void restricted_endpoint_mapper(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    static const uint8_t denied[32] = {5,       0, 3, 3, 0x10, 0, 0, 0, /* fault, little-endian */
                                       32,      0, 0, 0, 1,    0, 0, 0, /* frag_length; call_id */
                                       [24] = 5};
    struct conversation conversation;
    struct relay relay = {.port = 0};
    uint64_t random;
    uint16_t epm = lab.dc->ports.epm;
    if (lab_ntlm_is_refused()) /* the relay carries nothing to the KDC */
        return;
    relay_start(&relay, lab.dc, epm);
    lab.dc->ports.epm = relay.port;
    begin(&conversation, &random, false);
    relay.answer = denied;
    relay.answer_size = sizeof denied;
    struct outcome outcome = play(&conversation, "epm", "3");
    unsigned connections = relay.tcp_requests;
    conversation_reset(&conversation);
    relay_stop(&relay);
    lab.dc->ports.epm = epm;
    assert_ok_for("epm:3", outcome);
    assert_int_equal(connections, 2);
}

/* With -B, a server that does not answer has refused no wrong password. */
static void nobody_refuses_a_password(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    if (lab_ntlm_is_refused())
        return;
    struct conversation conversation;
    uint64_t random;
    uint16_t epm = lab.dc->ports.epm;
    begin(&conversation, &random, false);
    lab.dc->options.badpassword_frequency = 1;
    rpc_ports_remember(lab.dc->rpc_ports, &rpc_drsuapi, 0);
    lab.dc->ports.epm = 1;
    struct outcome outcome = play(&conversation, "drsuapi", "0");
    lab.dc->ports.epm = epm;
    assert_failed(outcome, "connection refused (TCP port 1)");
    assert_int_equal(conversation.expected_failures, 0);
    conversation.last_auth_was_wrong = false;
    assert_ok_for("afterwards", play(&conversation, "drsuapi", "0"));
    assert_int_equal(conversation.expected_failures, 1);
    conversation_reset(&conversation);
}

/* If another client of the same machine takes over a channel, the next operation recreates it. */
static void channel_taken_over(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    if (lab_ntlm_is_refused())
        return;
    struct conversation first, second;
    uint64_t random[2];
    begin(&first, &random[0], false);
    begin(&second, &random[1], false);
    static const char *const opnums[] = {"39", "29", "21", "45", "30", "2", "40"};
    for (size_t i = 0; i < sizeof opnums / sizeof opnums[0]; i++) {
        assert_ok_for(opnums[i], play(&first, "rpc_netlogon", opnums[i]));
        assert_ok_for(opnums[i], play(&second, "rpc_netlogon", opnums[i]));
        assert_ok_for("lsarpc:76", play(&first, "lsarpc", "76"));
    }
    conversation_reset(&first);
    conversation_reset(&second);
}

/* If the server ends an SMB2 session, the next operation recreates it with its pipe and handle. */
static void pipes_of_ended_sessions(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    static const struct {
        const char *protocol, *opcode;
        enum smb2_who who;
    } packets[] = {{"lsarpc", "15", SMB2_MACHINE},
                   {"lsarpc", "7", SMB2_MACHINE},
                   {"lsarpc", "0", SMB2_MACHINE},
                   {"srvsvc", "16", SMB2_USER},
                   {"srvsvc", "15", SMB2_USER}};
    struct conversation conversation;
    uint64_t random;
    begin(&conversation, &random, lab_ntlm_is_refused());
    for (size_t i = 0; i < sizeof packets / sizeof packets[0]; i++) {
        const char *protocol = packets[i].protocol, *opcode = packets[i].opcode;
        assert_ok_for(protocol, play(&conversation, protocol, opcode));
        struct smb2_session *session = &conversation.smb2->connection->sessions[packets[i].who];
        bool encrypts = session->encrypts;
        session->id ^= UINT64_C(0x5a5a0000); /* the server knows no such session */
        struct outcome outcome = play(&conversation, protocol, opcode);
        if (encrypts) /* the server closes the connection if it cannot decrypt */
            assert_int_equal(outcome.kind, OUTCOME_FAILED);
        else
            assert_ok_for(protocol, outcome);
        assert_ok_for(protocol, play(&conversation, protocol, opcode));
    }
    conversation_reset(&conversation);
}

static void set_account_control(LDAP *ldap, const struct account *account, const char *control)
{
    char *values[] = {(char *)(uintptr_t)control, NULL};
    LDAPMod mod = {LDAP_MOD_REPLACE, (char *)(uintptr_t) "userAccountControl", {values}};
    LDAPMod *mods[] = {&mod, NULL};
    assert_int_equal(ldap_modify_ext_s(ldap, account->dn, mods, NULL, NULL), LDAP_SUCCESS);
}

/* The account of a machine becomes that of a domain controller, is disabled, enabled and deleted:
 * failures are reported by name, and operations succeed again when the account does. */
static void machine_account_comes_and_goes(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    struct conversation conversation;
    struct account machine;
    uint64_t random;
    LDAP *ldap = lab_ldap(lab.dc);
    lab_make_account(ldap, lab.dc, "RPCGONEPC$", &machine);
    assert_int_equal(ntlmssp_nt_hash(machine.password, machine.nt_hash), 0);
    machine.has_nt_hash = true;
    begin(&conversation, &random, false);
    conversation.machine = &machine;
    assert_ok_for("enabled", play(&conversation, "rpc_netlogon", "29"));
    conversation_reset(&conversation);
    /* SERVER_TRUST_ACCOUNT, alone and as earlier versions created machines. */
    static const char *const domain_controllers[] = {"8192", "532480"};
    for (size_t i = 0; i < 2; i++) {
        set_account_control(ldap, &machine, domain_controllers[i]);
        assert_ok_for(domain_controllers[i], play(&conversation, "rpc_netlogon", "29"));
        conversation_reset(&conversation);
    }
    set_account_control(ldap, &machine, "4098");
    for (int i = 0; i < 2; i++) {
        struct outcome outcome = play(&conversation, "rpc_netlogon", "29");
        assert_int_equal(outcome.kind, OUTCOME_FAILED);
        assert_true(strncmp(outcome.cause, "NT_STATUS_", 10) == 0);
    }
    set_account_control(ldap, &machine, "4096");
    assert_ok_for("enabled again", play(&conversation, "rpc_netlogon", "29"));
    conversation_reset(&conversation);
    lab_delete_account(ldap, &machine);
    for (int i = 0; i < 2; i++) {
        assert_failed(play(&conversation, "lsarpc", "76"), "NT_STATUS_NO_TRUST_SAM_ACCOUNT");
    }
    conversation_reset(&conversation);
    ldap_unbind_ext_s(ldap, NULL, NULL);
    account_clear(&machine);
}

/* With -B, refused passwords are counted, and the right one follows. */
static void wrong_passwords_are_expected(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    if (lab_ntlm_is_refused())
        return;
    struct conversation conversation;
    uint64_t random;
    begin(&conversation, &random, false);
    lab.dc->options.badpassword_frequency = 1;
    assert_ok_for("drsuapi:0", play(&conversation, "drsuapi", "0"));
    assert_int_equal(conversation.expected_failures, 1);
    conversation_reset(&conversation);
    assert_ok_for("rpc_netlogon:39", play(&conversation, "rpc_netlogon", "39"));
    assert_int_equal(conversation.expected_failures, 1);
    /* The administrator never logs on with a wrong password. */
    conversation_reset(&conversation);
    assert_ok_for("samr:64", play(&conversation, "samr", "64"));
    assert_int_equal(conversation.expected_failures, 0);
    conversation_reset(&conversation);
}

/* Levels of details reach the wire. */
static void levels_reach_the_wire(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    if (lab_ntlm_is_refused())
        return;
    static const struct {
        const char *protocol, *opcode, *levels[16];
    } packets[] = {
        {"samr", "8", {"1", "2", "3", "4", "5", "6", "7", "8", "9", "11", "12", "13"}},
        {"samr",
         "36",
         {"1", "2", "3", "5", "6", "7", "8", "9", "10", "12", "16", "17", "20", "21"}},
        {"lsarpc", "7", {"3", "5", "6", "12"}},
        {"lsarpc", "46", {"3", "5", "12"}},
        {"srvsvc", "16", {"1", "501", "1005"}},
        {"srvsvc", "21", {"100", "101"}},
    };
    struct conversation conversation;
    uint64_t random;
    begin(&conversation, &random, false);
    for (size_t i = 0; i < sizeof packets / sizeof packets[0]; i++) {
        for (const char *const *level = packets[i].levels; *level; level++)
            assert_ok_for(*level, form_play_value(&conversation, packets[i].protocol,
                                                  packets[i].opcode, "level", *level, timeout));
    }
    conversation_reset(&conversation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_packet_with_ntlm),
        cmocka_unit_test(every_packet_with_kerberos),
        cmocka_unit_test(ntlm_refused),
        cmocka_unit_test(logons_of_another_machine_are_refused),
        cmocka_unit_test(machine_passwords_change_and_come_back),
        cmocka_unit_test(wrong_machine_password),
        cmocka_unit_test(every_way_to_bind),
        cmocka_unit_test(port_of_another_interface),
        cmocka_unit_test(restricted_endpoint_mapper),
        cmocka_unit_test(nobody_refuses_a_password),
        cmocka_unit_test(channel_taken_over),
        cmocka_unit_test(pipes_of_ended_sessions),
        cmocka_unit_test(machine_account_comes_and_goes),
        cmocka_unit_test(wrong_passwords_are_expected),
        cmocka_unit_test(levels_reach_the_wire),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
