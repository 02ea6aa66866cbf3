/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The figure to compare SASL GSSAPI binds with: the same binds by libldap alone.
 *
 * usage: bench_sasl_bind URI SECONDS
 *
 * Repeats: connect, ldap_sasl_interactive_bind_s with the service ticket in KRB5CCNAME, unbind.
 * Prints the number of binds and their CPU seconds.
 */
#include <ldap.h>
#include <sasl/sasl.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/clocks.h"

/* GSSAPI needs no answers: the ticket is enough. */
static int interact(LDAP *ldap, unsigned flags, void *defaults, void *interaction)
{
    (void)ldap, (void)flags, (void)defaults;
    for (sasl_interact_t *ask = interaction; ask->id != SASL_CB_LIST_END; ask++) {
        ask->result = "";
        ask->len = 0;
    }
    return LDAP_SUCCESS;
}

static int bind_once(const char *uri)
{
    LDAP *ldap = NULL;
    int version = LDAP_VERSION3, rc = ldap_initialize(&ldap, uri);
    if (rc != LDAP_SUCCESS)
        return rc;
    ldap_set_option(ldap, LDAP_OPT_PROTOCOL_VERSION, &version);
    ldap_set_option(ldap, LDAP_OPT_X_SASL_NOCANON, LDAP_OPT_ON);
    rc = ldap_sasl_interactive_bind_s(ldap, NULL, "GSSAPI", NULL, NULL, LDAP_SASL_QUIET, interact,
                                      NULL);
    ldap_unbind_ext_s(ldap, NULL, NULL);
    return rc;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    int rc = bind_once(argv[1]);
    double cpu = cpu_seconds(), end = now() + atof(argv[2]);
    unsigned long count = 0;
    for (; rc == LDAP_SUCCESS && now() < end; count++)
        rc = bind_once(argv[1]);
    if (rc != LDAP_SUCCESS) {
        fprintf(stderr, "bench_sasl_bind: %s\n", ldap_err2string(rc));
        return 1;
    }
    printf("%lu %.6f\n", count, cpu_seconds() - cpu);
    return 0;
}
