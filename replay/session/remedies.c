/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/session/remedies.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/message.h"
#include "protocols/ldap/ldap_connection.h"
#include "protocols/tls.h"

static const struct {
    const char *part; /* of the cause */
    const char *remedy;
} remedies[] = {
    {LDAP_LDAPS_CAUSE,
     "simple binds use LDAPS, and this server does not offer it: give it a certificate, leave them "
     "out (--skip ldap:0), or, if it allows them in clear text, give --plain-simple-bind"},
    {LDAP_STARTTLS_CAUSE,
     "this server refuses StartTLS: give it a certificate, or play a model without tls: starttls"},
    {LDAP_CLEAR_BIND_CAUSE,
     "this server refuses binds in clear text: leave --plain-simple-bind out, so that simple binds "
     "use LDAPS"},
    {LDAP_SASL_IN_TLS_CAUSE,
     "this server refuses SASL binds inside TLS; Samba older than 4.20.3 takes them with "
     "\"ldap server require strong auth = allow_sasl_over_tls\""},
    {"sizeLimitExceeded",
     "searches have more answers than the server allows these users, although they ask for pages "
     "(control 1.2.840.113556.1.4.319): raise its limit (sizelimit in slapd, LDAP policies in AD)"},
    {"KDC_ERR_ETYPE_NOSUPP", "the KDC accepts none of the keys of the accounts: this program "
                             "derives AES256 keys for its test "
                             "accounts, so allow AES256 on the KDC, or use --accounts"},
    {"NT_STATUS_DOWNGRADE_DETECTED",
     "this server demands a netlogon channel by Kerberos (Samba: server reject aes schannel = "
     "yes), "
     "which traffic-replay does not have: leave it out with --skip rpc_netlogon"},
    {TLS_EXPIRED, "renew the server's certificate, or leave --tls-verify and --tls-ca out"},
    {TLS_NOT_YET_VALID,
     "compare the clocks of this machine and the server, or leave --tls-verify and --tls-ca out"},
    {TLS_UNKNOWN_AUTHORITY, "give its authority's certificate with --tls-ca FILE"},
    {TLS_OTHER_NAME, "name the server as its certificate does (NAME=ADDRESS)"},
    {LDAP_BINDINGS_CAUSE,
     "the server demands the channel bindings of its own certificate: connect to it directly, "
     "without a TLS proxy in between"},
    {"fault ERROR_ACCESS_DENIED",
     "the server refused RPC calls: a Windows DC must not have the policy \"Restrict "
     "Unauthenticated RPC clients\" (RestrictRemoteClients is 0 by default), and the account needs "
     "the right to make the call"},
};

enum { REMEDY_COUNT = sizeof remedies / sizeof remedies[0] };

const char *remedies_find(const char *cause)
{
    for (size_t i = 0; i < REMEDY_COUNT; i++)
        if (strstr(cause, remedies[i].part))
            return remedies[i].remedy;
    return NULL;
}

void remedies_print(const struct result *result)
{
    const char *printed[REMEDY_COUNT] = {NULL};
    for (size_t p = 0; p < result->packet_count; p++)
        for (size_t c = 0; c < result->packets[p].cause_count; c++) {
            const char *remedy = remedies_find(result->packets[p].causes[c].name);
            size_t i = 0;
            while (remedy && printed[i] && printed[i] != remedy)
                i++;
            if (remedy && !printed[i])
                message_print("%s", printed[i] = remedy);
        }
}
