/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "protocols/auth/ntlmssp.h"
#include "protocols/kerberos/kerberos.h"
#include "replay/accounts/discover.h"
#include "tests/lib/test_random.h"

static LDAP *lab_ldap_as_system(void);
static LDAP *lab_ldap_with_password(const struct dc *dc);
static size_t lab_quote_password(const char *password, char *out);

bool lab_is_there(void)
{
    return getenv("TRAFFIC_REPLAY_DC") && getenv("TRAFFIC_REPLAY_USER") &&
           getenv("TRAFFIC_REPLAY_PASSWORD");
}

bool lab_ntlm_is_refused(void)
{
    const char *ntlm = getenv("TRAFFIC_REPLAY_NTLM");
    return ntlm && strcmp(ntlm, "refused") == 0;
}

struct dc *lab_dc(void)
{
    struct dc *dc = dc_new();
    struct error error = {0};
    assert_non_null(dc);
    if (discover_dc(dc, getenv("TRAFFIC_REPLAY_DC"), NULL, NULL, &error) != 0)
        fail_msg("%s", error.text);
    dc->admin.name = strdup(getenv("TRAFFIC_REPLAY_USER"));
    dc->admin.password = strdup(getenv("TRAFFIC_REPLAY_PASSWORD"));
    assert_true(dc->admin.name && dc->admin.password);
    return dc;
}

LDAP *lab_ldap(const struct dc *dc)
{
    return lab_ntlm_is_refused() ? lab_ldap_as_system() : lab_ldap_with_password(dc);
}

/* Newer Samba refuses simple binds together with NTLM. On this machine, root needs neither: the
 * connection to the socket in the DC's private folder is that of the system account. */
static LDAP *lab_ldap_as_system(void)
{
    LDAP *ldap;
    int version = LDAP_VERSION3;
    char path[256], uri[16 + 3 * sizeof path] = "ldapi://";
    const char *dir = getenv("LAB_DIR");
    assert_non_null(dir);
    assert_true((size_t)snprintf(path, sizeof path, "%s/private/ldap_priv/ldapi", dir) <
                sizeof path);
    for (const char *c = path; *c; c++)
        strcat(uri, *c == '/' ? "%2F" : (char[]){*c, 0});
    assert_int_equal(ldap_initialize(&ldap, uri), LDAP_SUCCESS);
    ldap_set_option(ldap, LDAP_OPT_PROTOCOL_VERSION, &version);
    return ldap;
}

static LDAP *lab_ldap_with_password(const struct dc *dc)
{
    LDAP *ldap;
    char uri[128], name[128];
    int version = LDAP_VERSION3, never = LDAP_OPT_X_TLS_NEVER, zero = 0;
    snprintf(uri, sizeof uri, "ldaps://%s", dc->address_text);
    snprintf(name, sizeof name, "%s\\%s", dc->netbios_domain, dc->admin.name);
    assert_int_equal(ldap_initialize(&ldap, uri), LDAP_SUCCESS);
    ldap_set_option(ldap, LDAP_OPT_PROTOCOL_VERSION, &version);
    ldap_set_option(ldap, LDAP_OPT_X_TLS_REQUIRE_CERT, &never);
    ldap_set_option(ldap, LDAP_OPT_X_TLS_NEWCTX, &zero);
    struct berval password = {.bv_val = dc->admin.password, .bv_len = strlen(dc->admin.password)};
    assert_int_equal(ldap_sasl_bind_s(ldap, name, LDAP_SASL_SIMPLE, &password, NULL, NULL, NULL),
                     LDAP_SUCCESS);
    return ldap;
}

char *lab_account_dn(const struct dc *dc, const char *name)
{
    char *dn = NULL;
    assert_true(asprintf(&dn, "CN=%.*s,CN=Users,%s", (int)strcspn(name, "$"), name, dc->base_dn) >
                0);
    return dn;
}

void lab_delete_account(LDAP *ldap, const struct account *account)
{
    int code = ldap_delete_ext_s(ldap, account->dn, NULL, NULL);
    assert_true(code == LDAP_SUCCESS || code == LDAP_NO_SUCH_OBJECT);
}

void lab_set_password(LDAP *ldap, const struct account *account)
{
    char bytes[256];
    struct berval value = {.bv_val = bytes, .bv_len = lab_quote_password(account->password, bytes)};
    struct berval *values[] = {&value, NULL};
    LDAPMod mod = {.mod_op = LDAP_MOD_REPLACE | LDAP_MOD_BVALUES,
                   .mod_type = (char *)(uintptr_t) "unicodePwd",
                   .mod_bvalues = values};
    LDAPMod *mods[] = {&mod, NULL};
    assert_int_equal(ldap_modify_ext_s(ldap, account->dn, mods, NULL, NULL), LDAP_SUCCESS);
}

/* The password in quotes, UTF-16LE (ASCII passwords only). */
static size_t lab_quote_password(const char *password, char *out)
{
    size_t size = 0;
    out[size++] = '"';
    out[size++] = 0;
    for (; *password; password++) {
        out[size++] = *password;
        out[size++] = 0;
    }
    out[size++] = '"';
    out[size++] = 0;
    return size;
}

void lab_make_account(LDAP *ldap, const struct dc *dc, const char *name, struct account *account)
{
    bool machine = name[strlen(name) - 1] == '$';
    *account = (struct account){.name = strdup(name),
                                .password = strdup(LAB_PASSWORD),
                                .dn = lab_account_dn(dc, name),
                                .machine = machine};
    assert_true(account->name && account->password);
    char *classes[] = {machine ? (char *)(uintptr_t) "computer" : (char *)(uintptr_t) "user", NULL};
    char *names[] = {account->name, NULL};
    char *control[] = {machine ? (char *)(uintptr_t) "4096" : (char *)(uintptr_t) "512", NULL};
    LDAPMod mods[] = {{LDAP_MOD_ADD, (char *)(uintptr_t) "objectClass", {classes}},
                      {LDAP_MOD_ADD, (char *)(uintptr_t) "sAMAccountName", {names}}};
    LDAPMod *add[] = {&mods[0], &mods[1], NULL};
    lab_delete_account(ldap, account);
    assert_int_equal(ldap_add_ext_s(ldap, account->dn, add, NULL, NULL), LDAP_SUCCESS);
    lab_set_password(ldap, account);
    LDAPMod enable = {LDAP_MOD_REPLACE, (char *)(uintptr_t) "userAccountControl", {control}};
    LDAPMod *modify[] = {&enable, NULL};
    assert_int_equal(ldap_modify_ext_s(ldap, account->dn, modify, NULL, NULL), LDAP_SUCCESS);
}

void lab_derive_keys(const struct dc *dc, struct account *account)
{
    assert_int_equal(ntlmssp_nt_hash(account->password, account->nt_hash), 0);
    account->has_nt_hash = true;
    assert_int_equal(kerberos_derive_key(account, dc->realm), 0);
}

void lab_end(struct dc *dc, struct account *const accounts[], size_t count)
{
    LDAP *ldap = lab_ldap(dc);
    for (size_t i = 0; i < count; i++) {
        lab_delete_account(ldap, accounts[i]);
        account_clear(accounts[i]);
    }
    ldap_unbind_ext_s(ldap, NULL, NULL);
    kerberos_global_end();
    dc_free(dc);
}

void lab_begin(struct conversation *conversation, uint64_t *random, struct dc *dc,
               const struct account *user, const struct account *machine)
{
    *random = 1;
    *conversation = (struct conversation){.wire.waiter = wire_blocking_waiter(),
                                          .dc = dc,
                                          .user = user,
                                          .machine = machine,
                                          .random = test_random,
                                          .random_state = random};
    conversation_init(conversation);
}
