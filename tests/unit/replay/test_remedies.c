/* SPDX-License-Identifier: Apache-2.0 */
/* The remedies that are printed after a report. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after those four */
#include <cmocka.h>

#include <string.h>

#include "replay/session/remedies.h"

static void causes_have_remedies(void **state)
{
    (void)state;
    static const struct {
        const char *cause, *remedy;
    } cases[] = {
        {"connection refused (LDAPS, port 636)", "--plain-simple-bind"},
        {"unavailable (StartTLS)", "refuses StartTLS: give it a certificate"},
        {"strongerAuthRequired (without TLS)", "leave --plain-simple-bind out"},
        {"strongerAuthRequired (SASL inside TLS)", "allow_sasl_over_tls"},
        {"certificate not accepted: it has expired", "renew"},
        {"certificate not accepted: it is not yet valid", "clocks"},
        {"certificate not accepted: its authority is unknown", "--tls-ca FILE"},
        {"certificate not accepted: it is for another name", "NAME=ADDRESS"},
        {"KDC_ERR_ETYPE_NOSUPP", "allow AES256"},
        {"NT_STATUS_DOWNGRADE_DETECTED", "--skip rpc_netlogon"},
        {"sizeLimitExceeded", "raise its limit (sizelimit in slapd"},
        {"invalidCredentials (data 80090346: wrong TLS channel bindings)", "without a TLS proxy"},
        {"endpoint mapper: fault ERROR_ACCESS_DENIED", "RestrictRemoteClients is 0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *remedy = remedies_find(cases[i].cause);
        assert_non_null(remedy);
        assert_non_null(strstr(remedy, cases[i].remedy));
    }
}

static void causes_that_explain_themselves_have_none(void **state)
{
    (void)state;
    assert_null(remedies_find("timed out"));
    assert_null(remedies_find("invalidCredentials (data 52e: wrong name or password)"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(causes_have_remedies),
        cmocka_unit_test(causes_that_explain_themselves_have_none),
    };
    return cmocka_run_group_tests_name("remedies", tests, NULL, NULL);
}
