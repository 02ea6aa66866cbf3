/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/windows/windows_rules.h"

#include <stdlib.h>
#include <string.h>

#define SASL(mech, tls) "ldap:0 {count: 1, auth: sasl, mech: " mech ", tls: " tls "}"
/* A conversation that uses its connection several times. */
#define IDLE "ldap:3 {count: 1, scope: base, base: \"DC,DC\"}|wait:2|ldap:14|ldap:6"

const struct windows_rule_row windows_rule_rows[WINDOWS_RULES] = {
    [RULE_LOCATOR_SCHANNEL] =
        {
            .name = "locator-schannel",
            .paragraph = "MS-NRPC 3.5.4.3.1",
            .touches = "rpc_netlogon:20,34",
            .claim = "a patched DC refuses the DC locator over schannel and we use SPNEGO",
            .form = "rpc_netlogon:20|rpc_netlogon:34|rpc_netlogon:29",
            .on = "ok",
        },
    [RULE_BINDINGS_ALWAYS] =
        {
            .name = "bindings-always",
            .paragraph = "MS-ADTS 5.1.2.2",
            .touches = "ldap:0 (SASL in TLS)",
            .claim = "a DC demands channel bindings and SASL in TLS sends the right ones",
            .form = SASL("GSS-SPNEGO", "ldaps") "|" SASL("GSS-SPNEGO",
                                                         "starttls") "|" SASL("GSSAPI", "ldaps"),
            .on = "ok",
        },
    [RULE_BINDINGS_SUPPORTED] =
        {
            .name = "bindings-supported",
            .paragraph = "MS-ADTS 5.1.2.2",
            .touches = "ldap:0 (SASL in TLS)",
            .claim =
                "a DC refuses wrong channel bindings and SASL in TLS sends none or the right ones",
            .form = SASL("GSS-SPNEGO", "ldaps") "|" SASL("GSSAPI", "starttls"),
            .on = "ok",
        },
    [RULE_LDAP_SIGNING] =
        {
            .name = "ldap-signing",
            .paragraph = "MS-ADTS 5.1.1.1.2",
            .touches = "ldap:0 (SASL without TLS)",
            .claim = "a DC demands LDAP signing and SASL binds seal",
            .form = SASL("GSS-SPNEGO", "none") "|" SASL("GSSAPI", "none"),
            .on = "ok",
        },
    [RULE_SIMPLE_IN_CLEAR] =
        {
            .name = "simple-in-clear",
            .paragraph = "MS-ADTS 5.1.1.1.1",
            .touches = "ldap:0 (simple, without TLS)",
            .claim = "a DC demands LDAP signing and the report names the remedy for simple binds",
            .form = "ldap:0 {count: 1, auth: simple}",
            .options = "--plain-simple-bind",
            .on = "strongerAuthRequired.*leave --plain-simple-bind out",
            .met = true,
        },
    [RULE_MAX_PAGE_SIZE] =
        {
            .name = "max-page-size",
            .paragraph = "MS-ADTS 3.1.1.3.4.6",
            .touches = "ldap:3 (without paging)",
            .usual = 1000,
            .unit = "entries",
            .claim = "a DC stops unpaged searches at MaxPageSize and we page",
            .form = "ldap:3 {count: 1, scope: sub, base: \"DC,DC\", filter: \"(objectClass=*)\", "
                    "attrs: [cn]}",
            .options = "-S 0.1 -D 8",
            .tested = 20,
            .on = "ok",

        },
    [RULE_MAX_CONNECTIONS] =
        {
            .name = "max-connections",
            .paragraph = "MS-ADTS 3.1.1.3.4.6",
            .touches = "ldap:* (idle connections)",
            .usual = 5000,
            .unit = "connections",
            .claim = "a DC drops an idle connection beyond MaxConnections and the next operation "
                     "reconnects",
            .form = IDLE,
            .options = "-S 0.2 -D 8",
            .tested = 2,
            .on = "ok",
            .met = true,
        },
    [RULE_IDLE_CLOSE] =
        {
            .name = "idle-close",
            .paragraph = "MS-ADTS 3.1.1.3.4.6",
            .touches = "ldap:* (idle connections)",
            .usual = 900,
            .unit = "seconds",
            .claim = "a DC closes an idle connection and the next operation reconnects",
            .form = IDLE,
            .options = "-S 0.1 -D 8",
            .tested = 0.3,
            .on = "ok",
            .met = true,
        },
    [RULE_IDLE_NOTICE] =
        {
            .name = "idle-notice",
            .paragraph = "RFC 4511 4.4.1",
            .touches = "ldap:* (idle connections)",
            .usual = 900,
            .unit = "seconds",
            .claim = "a DC ends an idle connection with a notice and the next operation reconnects",
            .form = IDLE,
            .options = "-S 0.1 -D 8",
            .tested = 0.3,
            .on = "ok",
            .met = true,
        },
    [RULE_RID_POOL] =
        {
            .name = "rid-pool",
            .paragraph = "MS-ERREF 2.2 (8208)",
            .touches = "accounts",
            .usual = 2,
            .unit = "refusals",
            .claim = "a DC has no RIDs for a moment and the creation of accounts tries again",
            .form = "ldap:0 {count: 1, auth: simple}",
            .tested = 2,
            .on = "ok",
            .met = true,
        },
    [RULE_BUSY] =
        {
            .name = "busy",
            .paragraph = "RFC 4511 A.2",
            .touches = "accounts",
            .usual = 2,
            .unit = "refusals",
            .claim = "a DC is busy for a moment and the creation of accounts tries again",
            .form = "ldap:0 {count: 1, auth: simple}",
            .tested = 2,
            .on = "ok",
            .met = true,
        },
    [RULE_UNAVAILABLE] =
        {
            .name = "unavailable",
            .paragraph = "RFC 4511 A.2",
            .touches = "accounts",
            .usual = 2,
            .unit = "refusals",
            .claim = "a DC is unavailable for a moment and the creation of accounts tries again",
            .form = "ldap:0 {count: 1, auth: simple}",
            .tested = 2,
            .on = "ok",
            .met = true,
        },
    [RULE_PASSWORD_POLICY] =
        {
            .name = "password-policy",
            .paragraph = "MS-ERREF 2.2 (0x52D)",
            .touches = "accounts",
            .claim = "a DC refuses a password and the message names -F",
            .form = "ldap:0 {count: 1, auth: simple}",
            .on = "0000052D.*-F",
            .met = true,
        },
    [RULE_CRITICAL_OBJECTS] =
        {
            .name = "critical-objects",
            .paragraph = "MS-ADTS 3.1.1.5.5.7.2",
            .touches = "clean-up",
            .claim = "a DC deletes no tree with critical objects and clean-up succeeds",
            .form = "rpc_netlogon:29",
            .on = "ok",
            .met = true,
        },
    [RULE_RECYCLE_BIN] =
        {
            .name = "recycle-bin",
            .paragraph = "MS-DRSR 4.1.10.5.1",
            .touches = "drsuapi:3",
            .claim = "a DC with the Recycle Bin wants the client's capabilities and we send them",
            .form = "drsuapi:3",
            .options = "--allow-replication",
            .on = "ok",
        },
    [RULE_LOCALIZED_NAMES] =
        {
            .name = "localized-names",
            .paragraph = "MS-LSAT 3.1.1.1.1",
            .touches = "lsarpc:14,77",
            .claim = "a DC that is not English knows no English names and we look up accounts",
            .form = "lsarpc:14|lsarpc:77",
            .on = "ok",
        },
    [RULE_PASSWORD_UNCHANGED] =
        {
            .name = "password-unchanged",
            .paragraph = "MS-NRPC 3.5.4.4.6",
            .touches = "rpc_netlogon:30",
            .claim = "a DC ignores the password that an account has and we set another",
            .form = "rpc_netlogon:30",
            .on = "ok",
        },
    [RULE_COMPUTER_NAME] =
        {
            .name = "computer-name",
            .paragraph = "MS-NRPC 3.5.4.5.1.1",
            .touches = "rpc_netlogon:2,39,45",
            .claim = "a DC compares the response's computer with the channel's and they agree",
            .form = "rpc_netlogon:2|rpc_netlogon:39|rpc_netlogon:45",
            .on = "ok",
        },
    [RULE_NTLM_DELAY] =
        {
            .name = "ntlm-delay",
            .paragraph = "Set-SmbServerConfiguration",
            .touches = "smb2:1 (failed)",
            .usual = 2000,
            .unit = "ms",
            .claim = "a DC delays failed logons over SMB and the run continues",
            .form = "smb2:1",
            .options = "-B 0.5",
            .tested = 200,
            .on = "ok",
            .met = true,
        },
    [RULE_ANONYMOUS_MAPPER] =
        {
            .name = "anonymous-mapper",
            .paragraph = "MS-RPCE 3.1.1.1.3",
            .touches = "epm:3, RPC over TCP",
            .claim = "a DC refuses the anonymous endpoint mapper and we authenticate to it",
            .form = "epm:3|samr:64",
            .on = "ok",
            .met = true,
        },
    [RULE_ANONYMOUS_NETLOGON] =
        {
            .name = "anonymous-netlogon",
            .paragraph = "MS-RPCE 3.1.1.1.3",
            .touches = "rpc_netlogon:4,26",
            .claim = "a DC refuses anonymous netlogon and the report names the refusal",
            .form = "rpc_netlogon:29",
            .on = "rpc_netlogon:29 +fault ERROR_ACCESS_DENIED.*RestrictRemoteClients",
            .met = true,
        },
};

bool windows_rules_switch(struct windows_rules *rules, const char *text)
{
    size_t length = strcspn(text, "=");
    for (int i = 0; i < WINDOWS_RULES; i++) {
        const struct windows_rule_row *row = &windows_rule_rows[i];
        if (strlen(row->name) != length || strncmp(row->name, text, length) != 0)
            continue;
        char *end = NULL;
        rules->on[i] = true;
        rules->number[i] = text[length] ? strtod(text + length + 1, &end) : row->usual;
        return !end || (row->unit && end != text + length + 1 && !*end && rules->number[i] >= 0);
    }
    return false;
}

bool windows_rules_apply(struct windows_rules *rules, enum windows_rule rule, bool meets)
{
    atomic_fetch_add(&rules->seen[rule], 1);
    if (!rules->on[rule] || !meets)
        return false;
    atomic_fetch_add(&rules->broken[rule], 1);
    return true;
}

bool windows_rules_apply_first(struct windows_rules *rules, enum windows_rule rule)
{
    return windows_rules_apply(rules, rule, rules->seen[rule] < rules->number[rule]);
}

void windows_rules_print(FILE *out)
{
    for (int i = 0; i < WINDOWS_RULES; i++) {
        const struct windows_rule_row *row = &windows_rule_rows[i];
        fprintf(out, "%s\t%s\t%s\t%s\t%g\t%s\t%s\t%s\t%s\n", row->name, row->paragraph,
                row->touches, row->claim, row->tested, row->options ? row->options : "-", row->on,
                row->met ? "met" : "kept", row->form);
    }
}

void windows_rules_report(const struct windows_rules *rules, FILE *out)
{
    for (int i = 0; i < WINDOWS_RULES; i++)
        if (rules->on[i] || rules->seen[i])
            fprintf(out, "%s: met %u of %u times\n", windows_rule_rows[i].name, rules->broken[i],
                    rules->seen[i]);
}
