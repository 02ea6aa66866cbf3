/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/accounts/password_check.h"

#include <string.h>

#include "base/clock.h"
#include "protocols/auth/ntlmssp.h"
#include "protocols/kerberos/kerberos.h"
#include "protocols/ldap/ldap_connection.h"
#include "replay/accounts/directory.h"

static const int64_t check_timeout = 30LL * 1000000000;

static bool is_wrong_password(const char *cause);

bool password_check(const struct dc *dc, struct account *account)
{
    bool kerberos = dc->options.prefer_kerberos;
    struct directory directory;
    if (ntlmssp_nt_hash(account->password, account->nt_hash) != 0 ||
        (kerberos && kerberos_derive_key(account, dc->realm) != 0))
        return true;
    account->has_nt_hash = true;
    directory_prepare(&directory, dc, wire_blocking_waiter());
    directory.conversation.user = account;
    directory.conversation.wire.deadline = clock_now() + check_timeout;
    struct outcome outcome =
        ldap_connection_open(&directory.connection, &directory.conversation, LDAP_TRANSPORT_CLEAR);
    if (outcome.kind == OUTCOME_OK)
        outcome = ldap_connection_bind_sasl(directory.connection, account,
                                            LDAP_MECHANISM_GSS_SPNEGO, kerberos);
    bool wrong = outcome.kind == OUTCOME_FAILED && is_wrong_password(outcome.cause);
    directory_close(&directory);
    return !wrong;
}

static bool is_wrong_password(const char *cause)
{
    static const char *const causes[] = {"data 52e", "KDC_ERR_PREAUTH_FAILED"};
    for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++)
        if (strstr(cause, causes[i]))
            return true;
    return false;
}
