/* SPDX-License-Identifier: Apache-2.0 */
/* Filled filters, guessed filters, base patterns, and details of LDAP packets: tables of inputs and
 * expected outputs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after those four */
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "protocols/ldap/catalogue_private.h"
#include "protocols/ldap/ldap_details.h"
#include "protocols/ldap/ldap_filter.h"
#include "tests/lib/packets.h"
#include "tests/lib/test_random.h"

#define BASE "DC=samdom,DC=example,DC=com"

/* Always draws the first one. */
static uint64_t first_of_all(void *state)
{
    (void)state;
    return 0;
}

static uint64_t last_of_all(void *state)
{
    (void)state;
    return UINT64_MAX;
}

static struct account users[] = {{.name = "user(1)", .dn = "CN=one,OU=people,o=org"},
                                 {.name = "user2", .dn = "uid=two,ou=people,o=org"}};
static struct account machines[] = {{.name = "pc1$"}, {.name = "pc2$"}};

static struct dc *new_dc(void)
{
    struct dc *dc = dc_new();
    assert_non_null(dc);
    dc->base_dn = strdup(BASE);
    dc->dns_domain = strdup("samdom.example.com");
    dc->instance_dn = strdup("OU=instance-1,OU=traffic_replay," BASE);
    dc->users = users;
    dc->machines = machines;
    dc->account_count = 2;
    return dc;
}

static void free_dc(struct dc *dc)
{
    catalogue_free(dc->catalogue);
    dc->catalogue = NULL;
    dc->users = NULL;
    dc->machines = NULL;
    dc_free(dc);
}

static void add_object(struct catalogue *catalogue, const char *dn, const char *host)
{
    struct catalogue_bytes values[CATALOGUE_VALUES] = {{NULL, 0}};
    values[CATALOGUE_DN] = (struct catalogue_bytes){(void *)dn, strlen(dn)};
    if (host)
        values[CATALOGUE_HOST] = (struct catalogue_bytes){(void *)host, strlen(host)};
    assert_int_equal(catalogue_add(catalogue, values), 0);
}

static struct catalogue *new_catalogue(void)
{
    struct catalogue *catalogue = catalogue_new(BASE);
    assert_non_null(catalogue);
    add_object(catalogue, "CN=Users," BASE, NULL);
    add_object(catalogue, "OU=Domain Controllers," BASE, NULL);
    add_object(catalogue, "CN=DC1,OU=Domain Controllers," BASE, "dc1.samdom.example.com");
    add_object(catalogue, "CN=a\\,b\\2a(c),CN=Users," BASE, NULL);
    add_object(catalogue, "cn={31B2},cn=Policies,cn=System," BASE, NULL);
    add_object(catalogue, "CN={6AC1},CN=Policies,CN=System," BASE, NULL);
    add_object(catalogue, "CN=x,CN=Other,CN=System," BASE, NULL);
    add_object(catalogue, "CN=Sites,CN=Configuration,DC=forest,DC=test", NULL);
    add_object(catalogue, BASE, NULL);
    static const char sid[] = {1, 5, 0, '*', '(', ')', '\\', 'A', (char)0xff};
    struct catalogue_bytes values[CATALOGUE_VALUES] = {{NULL, 0}};
    values[CATALOGUE_DN] = (struct catalogue_bytes){"CN=z,CN=Users," BASE, 14 + strlen(BASE)};
    values[CATALOGUE_SID] = (struct catalogue_bytes){(void *)sid, sizeof sid};
    values[CATALOGUE_GUID] = (struct catalogue_bytes){"\x01G", 2};
    values[CATALOGUE_CATEGORY] = (struct catalogue_bytes){"CN=Person,CN=Schema", 19};
    values[CATALOGUE_SPN] = (struct catalogue_bytes){"HOST/z", 6};
    assert_int_equal(catalogue_add(catalogue, values), 0);
    catalogue_set_highest_usn(catalogue, 4711);
    assert_int_equal(catalogue_finish(catalogue), 0);
    return catalogue;
}

static struct conversation a_conversation(const struct dc *dc, uint64_t (*chance)(void *))
{
    return (struct conversation){
        .dc = dc, .user = &users[1], .machine = &machines[1], .random = chance};
}

static void assert_filled(const struct dc *dc, uint64_t (*chance)(void *), const char *text,
                          const char *expected)
{
    struct error error = {0};
    struct conversation conversation = a_conversation(dc, chance);
    struct ldap_filter *filter = ldap_filter_parse(text, &error);
    if (!filter)
        fail_msg("%s: %s", text, error.text);
    char *filled = ldap_filter_fill(filter, &conversation);
    assert_string_equal(filled, expected);
    free(filled);
    ldap_filter_free(filter);
}

static void values_are_filled_in(void **state)
{
    (void)state;
    static const struct {
        const char *text, *first, *last;
    } rows[] = {
        /* Unchanged. */
        {"(objectClass=*)", "(objectClass=*)", NULL},
        {"(&(objectCategory=person)(!(cn=a*b*)))", "(&(objectCategory=person)(!(cn=a*b*)))", NULL},
        {"(cn=\\28x\\29)", "(cn=\\28x\\29)", NULL},
        {"(a>=1)", "(a>=1)", NULL},
        {"(a<=1)", "(a<=1)", NULL},
        {"(a~=1)", "(a~=1)", NULL},
        {"(userAccountControl:1.2.840.113556.1.4.803:=2)",
         "(userAccountControl:1.2.840.113556.1.4.803:=2)", NULL},
        {"(:dn:2.4.6:=x)", "(:dn:2.4.6:=x)", NULL},
        {"(cn;lang-de=)", "(cn;lang-de=)", NULL},
        {"(&)", "(&)", NULL},
        {"(|)", "(|)", NULL},
        /* Without values. */
        {"(sAMAccountName)", "(sAMAccountName=user\\281\\29)", "(sAMAccountName=pc2$)"},
        {"(SAMACCOUNTNAME)", "(SAMACCOUNTNAME=user\\281\\29)", "(SAMACCOUNTNAME=pc2$)"},
        {"(&(sAMAccountName)(objectClass=user))",
         "(&(sAMAccountName=user\\281\\29)(objectClass=user))",
         "(&(sAMAccountName=pc2$)(objectClass=user))"},
        {"(|(mail)(userPrincipalName))",
         "(|(mail=user2@samdom.example.com)(userPrincipalName=user2@samdom.example.com))", NULL},
        {"(objectSid)", "(objectSid=\\01\\05\\00\\2a\\28\\29\\5cA\\ff)", NULL},
        {"(objectGUID)", "(objectGUID=\\01G)", NULL},
        {"(objectCategory)", "(objectCategory=CN=Person,CN=Schema)", NULL},
        {"(servicePrincipalName)", "(servicePrincipalName=HOST/z)", NULL},
        {"(dNSHostName)", "(dNSHostName=dc1.samdom.example.com)", NULL},
        {"(uSNChanged)", "(uSNChanged>=4711)", NULL},
        {"(nCName)", "(nCName=" BASE ")", NULL},
        {"(!(nCName))", "(!(nCName=" BASE "))", NULL},
        {"(distinguishedName)", "(distinguishedName=" BASE ")", NULL},
        {"(member)", "(member=" BASE ")", NULL},
        {"(memberOf)", "(memberOf=" BASE ")", NULL},
        {"(manager)", "(manager=" BASE ")", NULL},
        {"(cn)", "(cn=samdom)", NULL},
        {"(name)", "(name=samdom)", NULL},
        {"(displayName)", "(displayName=samdom)", NULL},
        /* Attributes without known values. */
        {"(unheardOf)", "(unheardOf=*)", NULL},
        {"(uid)", "(uid=*)", NULL},
        {"(userAccountControl:1.2.840.113556.1.4.803:)", "(userAccountControl=*)", NULL},
    };
    struct dc *dc = new_dc();
    dc->catalogue = new_catalogue();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_filled(dc, first_of_all, rows[i].text, rows[i].first);
        if (rows[i].last)
            assert_filled(dc, last_of_all, rows[i].text, rows[i].last);
    }
    free_dc(dc);
}

/* RDN values are unescaped; then characters that are special in filters are escaped. */
static void rdn_values_are_unescaped(void **state)
{
    (void)state;
    struct dc *dc = new_dc();
    dc->catalogue = catalogue_new(BASE);
    add_object(dc->catalogue, "CN=a\\,b\\2a(c)\\C3\\A4,CN=Users," BASE, NULL);
    assert_int_equal(catalogue_finish(dc->catalogue), 0);
    assert_filled(dc, first_of_all, "(cn)", "(cn=a,b\\2a\\28c\\29\\c3\\a4)");
    assert_filled(dc, first_of_all, "(member)",
                  "(member=CN=a\\5c,b\\5c2a\\28c\\29\\5cC3\\5cA4,CN=Users," BASE ")");
    free_dc(dc);
}

static void presence_when_nothing_is_known(void **state)
{
    (void)state;
    struct dc *dc = dc_new();
    assert_non_null(dc);
    static const char *const attributes[] = {"sAMAccountName", "mail", "cn",     "objectSid",
                                             "nCName",         "uid",  "member", "dNSHostName"};
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
        char text[64], expected[64];
        snprintf(text, sizeof text, "(%s)", attributes[i]);
        snprintf(expected, sizeof expected, "(%s=*)", attributes[i]);
        assert_filled(dc, first_of_all, text, expected);
    }
    assert_filled(dc, first_of_all, "(uSNChanged)", "(uSNChanged>=0)");
    dc_free(dc);
}

static void wrong_filters_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"", "character 1: expected '(', found the end"},
        {"cn=a", "character 1: expected '(', found 'c'"},
        {"(", "character 2: expected an attribute, '&', '|' or '!', found the end"},
        {"()", "character 2: expected an attribute, '&', '|' or '!', found ')'"},
        {"(cn", "character 4: expected '=' or ')', found the end"},
        {"(cn=a", "character 6: expected ')', found the end"},
        {"(cn=a))", "character 7: expected the end, found ')'"},
        {"(cn=a)(cn=b)", "character 7: expected the end, found '('"},
        {"(cn=a(b)", "character 6: expected \\28 for a parenthesis in a value, found '('"},
        {"(cn=\\2)", "character 6: expected two hexadecimal digits, found '2'"},
        {"(cn=\\xy)", "character 6: expected two hexadecimal digits, found 'x'"},
        {"(cn>a)", "character 5: expected '=', found 'a'"},
        {"(cn<)", "character 5: expected '=', found ')'"},
        {"(c n=a)", "character 3: expected '=' or ')', found ' '"},
        {"(!cn=a)", "character 3: expected '(', found 'c'"},
        {"(!(a)(b))", "character 6: expected ')', found '('"},
        {"(&(a)x)", "character 6: expected ')', found 'x'"},
        {"(&(a)", "character 6: expected ')', found the end"},
        {"(:1.2:)", "character 7: expected '=' and a value, found ')'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct error error = {0};
        char expected[300];
        assert_null(ldap_filter_parse(rows[i].text, &error));
        snprintf(expected, sizeof expected, "filter \"%s\": %s", rows[i].text, rows[i].error);
        assert_string_equal(error.text, expected);
    }
}

static struct ldap_filter *parse_nested(int depth, struct error *error)
{
    char text[4 * 100 + 10] = "";
    for (int i = 1; i < depth; i++)
        strcat(text, "(!");
    strcat(text, "(cn=a)");
    for (int i = 1; i < depth; i++)
        strcat(text, ")");
    return ldap_filter_parse(text, error);
}

static void nesting_and_size_are_bounded(void **state)
{
    (void)state;
    struct error error = {0};
    struct ldap_filter *deep = parse_nested(LDAP_FILTER_NESTING_MAX, &error);
    assert_non_null(deep);
    ldap_filter_free(deep);
    assert_null(parse_nested(LDAP_FILTER_NESTING_MAX + 1, &error));
    assert_non_null(strstr(error.text, "at most 64 nested filters"));
    char *large = malloc(LDAP_FILTER_SIZE_MAX + 10);
    assert_non_null(large);
    memset(large, 'a', LDAP_FILTER_SIZE_MAX + 9);
    large[LDAP_FILTER_SIZE_MAX + 9] = '\0';
    assert_null(ldap_filter_parse(large, &error));
    assert_non_null(strstr(error.text, "64 KiB"));
    free(large);
}

static void assert_guessed(const struct dc *dc, const char *base, char *const *attributes,
                           const char *expected)
{
    struct conversation conversation = a_conversation(dc, first_of_all);
    struct ldap_filter *filter = ldap_filter_guess(base, attributes);
    assert_non_null(filter);
    char *filled = ldap_filter_fill(filter, &conversation);
    assert_string_equal(filled, expected);
    free(filled);
    ldap_filter_free(filter);
}

static void missing_filters_are_guessed(void **state)
{
    (void)state;
    struct dc *dc = new_dc();
    dc->catalogue = new_catalogue();
    assert_guessed(dc, "CN,CN,DC,DC", (char *[]){"displayName", "gpcFileSysPath", NULL},
                   "(|(distinguishedName=cn={31B2},cn=Policies,cn=System," BASE
                   ")(distinguishedName=CN={6AC1},CN=Policies,CN=System," BASE "))");
    assert_guessed(dc, "DC,DC", (char *[]){"gPLink", "gpOptions", NULL},
                   "(|(distinguishedName=" BASE ")(distinguishedName=OU=Domain Controllers," BASE
                   ")(distinguishedName=OU=instance-1,OU=traffic_replay," BASE "))");
    assert_guessed(dc, "CN,DC,DC", (char *[]){"pKIExtendedKeyUsage", NULL},
                   "(objectCategory=pKICertificateTemplate)");
    assert_guessed(dc, "CN,DC,DC", (char *[]){"uSNChanged", NULL}, "(uSNChanged>=4711)");
    assert_guessed(dc, "DC,DC", (char *[]){"cn", NULL}, "(sAMAccountName=user\\281\\29)");
    assert_guessed(dc, "dc,dc,dc", NULL, "(sAMAccountName=user\\281\\29)");
    assert_guessed(dc, "CN,CN,CN,DC,DC", (char *[]){"siteObject", NULL}, "(objectClass=*)");
    assert_guessed(dc, "", NULL, "(objectClass=*)");
    assert_guessed(dc, NULL, NULL, "(objectClass=*)");
    dc->options.generic_ldap = true;
    assert_guessed(dc, "DC,DC", NULL, "(CN=one)");
    assert_filled(dc, last_of_all, "(uid)", "(uid=user2)");
    free_dc(dc);
}

static void patterns_become_keys(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *key;
    } rows[] = {
        {"", ""},
        {"DC", ""},
        {"DC,DC", ""},
        {"DC,DC,DC,DC", ""},
        {"CN,DC,DC", "CN"},
        {"cn, ou ,dc", "CN,OU"},
        {"CN", "CN"},
        {"O,C", "O,C"},
        {"ADC,DC", "ADC"},
        {"DC,CN,DC", "DC,CN"},
        {"UID,OU", "UID,OU"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *key = catalogue_pattern_key(rows[i].pattern);
        assert_string_equal(key, rows[i].key);
        free(key);
    }
}

static void bases_fit_their_pattern(void **state)
{
    (void)state;
    static const struct {
        const char *key, *base;
    } rows[] = {
        {"", BASE},
        {"CN", "CN=Users," BASE},
        {"OU", "OU=Domain Controllers," BASE},
        {"CN,OU", "CN=DC1,OU=Domain Controllers," BASE},
        {"CN,CN", "CN=a\\,b\\2a(c),CN=Users," BASE},
        {"CN,CN,CN", "CN=x,CN=Other,CN=System," BASE},
        {"CN,CN,CN,CN,CN", "CN=x,CN=Other,CN=System," BASE}, /* shortened */
        {"L,OU", "OU=Domain Controllers," BASE},
        {"L,O", BASE}, /* no match */
    };
    struct dc *dc = new_dc();
    dc->catalogue = new_catalogue();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct conversation conversation = a_conversation(dc, first_of_all);
        const char *base = catalogue_base(dc->catalogue, &conversation, rows[i].key);
        assert_string_equal(base, rows[i].base);
    }
    /* All objects of a pattern are drawn and no others, including the forest's configuration. */
    unsigned seen = 0;
    uint64_t chance = 1;
    for (int i = 0; i < 200; i++) {
        struct conversation conversation = a_conversation(dc, test_random);
        conversation.random_state = &chance;
        const char *base = catalogue_base(dc->catalogue, &conversation, "CN,CN");
        seen |= strncmp(base, "CN=a\\,b", 7) == 0    ? 1
                : strncmp(base, "CN=z,", 5) == 0     ? 2
                : strncmp(base, "CN=Sites,", 9) == 0 ? 4
                                                     : 8;
    }
    assert_int_equal(seen, 7);
    free_dc(dc);
}

static void an_empty_catalogue_gives_the_domain(void **state)
{
    (void)state;
    struct dc *dc = new_dc();
    struct conversation conversation = a_conversation(dc, first_of_all);
    assert_string_equal(catalogue_base(NULL, &conversation, "CN"), BASE);
    struct catalogue *catalogue = catalogue_new(BASE);
    assert_int_equal(catalogue_finish(catalogue), 0);
    assert_string_equal(catalogue_base(catalogue, &conversation, "CN"), BASE);
    assert_null(catalogue_draw(catalogue, &conversation, CATALOGUE_DN));
    struct catalogue_bytes none[CATALOGUE_VALUES] = {{NULL, 0}};
    assert_int_equal(catalogue_add(catalogue, none), -EINVAL);
    none[CATALOGUE_DN] = (struct catalogue_bytes){"no dn", 5};
    assert_int_equal(catalogue_add(catalogue, none), -EINVAL);
    assert_int_equal(catalogue_count(catalogue), 0);
    catalogue_free(catalogue);
    free_dc(dc);
}

static void a_catalogue_is_bounded(void **state)
{
    (void)state;
    struct catalogue *catalogue = catalogue_new(BASE);
    char dn[100];
    struct catalogue_bytes values[CATALOGUE_VALUES] = {{NULL, 0}};
    values[CATALOGUE_DN].data = dn;
    for (int i = 0; i < CATALOGUE_OBJECTS_MAX; i++) {
        values[CATALOGUE_DN].size = (size_t)snprintf(dn, sizeof dn, "CN=o%d,%s", i, BASE);
        assert_int_equal(catalogue_add(catalogue, values), 0);
    }
    assert_int_equal(catalogue_add(catalogue, values), -ENOSPC);
    assert_int_equal(catalogue_finish(catalogue), 0);
    assert_int_equal(catalogue_count(catalogue), CATALOGUE_OBJECTS_MAX);
    catalogue_free(catalogue);
}

static void assert_refused(const char *opcode, const char *key, const char *value,
                           const char *expected)
{
    struct form form;
    struct error error = {0};
    struct packet_field field = {.key = key, .count = 1, .values = &value};
    assert_false(form_compile(&form, "ldap", opcode, &field, 1, &error));
    form_release(&form);
    assert_string_equal(error.text, expected);
}

static void wrong_details_are_refused(void **state)
{
    (void)state;
    assert_refused("0", "auth", "basic", "auth: expected one of simple, sasl, found \"basic\"");
    assert_refused("0", "mech", "PLAIN",
                   "mech: expected one of GSS-SPNEGO, GSSAPI, found \"PLAIN\"");
    assert_refused("0", "tls", "yes", "tls: expected one of none, starttls, ldaps, found \"yes\"");
    assert_refused("0", "scope", "sub", "\"scope\" is not a field of ldap:0");
    assert_refused("3", "scope", "tree", "scope: expected one of base, one, sub, found \"tree\"");
    assert_refused("3", "base", "CN/DC",
                   "base: expected a DN pattern like CN,CN,DC,DC, found \"CN/DC\"");
    assert_refused("3", "filter", "(cn",
                   "filter \"(cn\": character 4: expected '=' or ')', found the end");
    assert_refused("3", "controls", "paged",
                   "controls: expected a list of at most 16 OIDs, found \"paged\"");
    assert_refused("3", "sealed", "1", "sealed: expected true or false, found \"1\"");
    const char *two[] = {"base", "sub"};
    struct form form;
    struct error error = {0};
    struct packet_field field = {.key = "scope", .count = 2, .values = two};
    assert_false(form_compile(&form, "ldap", "3", &field, 1, &error));
    form_release(&form);
    assert_string_equal(error.text, "scope: expected one value, found 2");
}

static void binds_compile(void **state)
{
    (void)state;
    static const struct {
        const char *auth, *mech, *tls;
        struct ldap_bind_details expected;
    } rows[] = {
        {"sasl", "1.2.840.48018.1.2.2", "none", {.mechanism = LDAP_MECHANISM_GSS_SPNEGO}},
        {"sasl", "GSS-SPNEGO", "none", {.mechanism = LDAP_MECHANISM_GSS_SPNEGO}},
        {"sasl", "GSSAPI", "none", {.mechanism = LDAP_MECHANISM_GSSAPI}},
        {"simple",
         "GSSAPI",
         "ldaps",
         {.simple = true,
          .mechanism = LDAP_MECHANISM_GSSAPI,
          .transport_given = true,
          .transport = LDAP_TRANSPORT_LDAPS}},
        {"simple",
         "GSSAPI",
         "starttls",
         {.simple = true,
          .mechanism = LDAP_MECHANISM_GSSAPI,
          .transport_given = true,
          .transport = LDAP_TRANSPORT_STARTTLS}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct packet_field fields[] = {
            {"auth", 1, &rows[i].auth}, {"mech", 1, &rows[i].mech}, {"tls", 1, &rows[i].tls}};
        struct error error = {0};
        struct form form;
        assert_true(form_compile(&form, "ldap", "0", fields, 3, &error));
        const struct ldap_bind_details *bind = form.compiled;
        assert_int_equal(bind->simple, rows[i].expected.simple);
        assert_int_equal(bind->mechanism, rows[i].expected.mechanism);
        assert_int_equal(bind->transport_given, rows[i].expected.transport_given);
        assert_int_equal(bind->transport, rows[i].expected.transport);
        form_release(&form);
    }
}

static const struct ldap_search_details *
compile_search(struct packet_context *context, const char *scope, const char *base, uint64_t count)
{
    struct error error = {0};
    static const char *const attributes[] = {"cn", "member"};
    static const char *const controls[] = {"1.2.840.113556.1.4.319", "1.2.840.113556.1.4.801",
                                           "1.2.3"};
    const struct packet_field fields[] = {{"scope", 1, &scope},
                                          {"base", 1, &base},
                                          {"attrs", 2, attributes},
                                          {"controls", 3, controls}};
    struct packet_details details;
    struct ldap_search_details *search = NULL;
    if (packet_details_read(&details, packet_row_find("ldap", "3"), fields, 4, &error) == 0) {
        details.count = count;
        search = ldap_details_compile_search(&details, context, &error);
    }
    if (!search)
        fail_msg("%s", error.text);
    return search;
}

static void release_search(const struct ldap_search_details *search)
{
    ldap_details_release_search((void *)(uintptr_t)search);
}

static void searches_compile(void **state)
{
    (void)state;
    struct packet_context context = {0};
    const struct ldap_search_details *search = compile_search(&context, "sub", "cn,DC,DC", 1);
    assert_int_equal(search->scope, LDAP_SCOPE_SUBTREE);
    assert_null(search->base);
    assert_string_equal(search->base_key, "CN");
    assert_string_equal(search->attributes[0], "cn");
    assert_string_equal(search->attributes[1], "member");
    assert_null(search->attributes[2]);
    /* Paging is always on; SD flags require a value. */
    assert_string_equal(search->controls[0]->ldctl_oid, "1.2.840.113556.1.4.801");
    assert_int_equal(search->controls[0]->ldctl_value.bv_len, 5);
    assert_string_equal(search->controls[1]->ldctl_oid, "1.2.3");
    assert_null(search->controls[2]);
    release_search(search);
    search = compile_search(&context, "base", "", 1);
    assert_string_equal(search->base, "");
    release_search(search);
    search = compile_search(&context, "one", "", 1);
    assert_null(search->base);
    assert_int_equal(search->scope, LDAP_SCOPE_ONELEVEL);
    release_search(search);
    packet_context_clear(&context);
}

static struct ldap_search_details *compile_sealed(struct packet_context *context)
{
    struct error error = {0};
    const char *yes = "true";
    struct packet_field field = {.key = "sealed", .count = 1, .values = &yes};
    struct packet_details details;
    assert_int_equal(packet_details_read(&details, packet_row_find("ldap", "3"), &field, 1, &error),
                     0);
    struct ldap_search_details *sealed = ldap_details_compile_search(&details, context, &error);
    assert_non_null(sealed);
    return sealed;
}

/* A search that was encrypted in the capture is played as one of the readable ones. */
static void sealed_searches_are_drawn(void **state)
{
    (void)state;
    struct conversation conversation = {.random = first_of_all};
    struct packet_context context = {0}, other = {0};
    struct ldap_search_details *sealed = compile_sealed(&context);
    assert_non_null(sealed->sealed);
    assert_non_null(sealed->filter); /* played if there is no readable one */
    assert_ptr_equal(ldap_details_draw_search(&conversation, sealed), sealed);
    /* Weighted by how often the model saw them: 30 to 10. */
    const struct ldap_search_details *first = compile_search(&context, "base", "CN,DC", 30);
    const struct ldap_search_details *second = compile_search(&context, "sub", "CN,DC", 10);
    assert_ptr_equal(ldap_details_draw_search(&conversation, sealed), first);
    conversation.random = last_of_all;
    assert_ptr_equal(ldap_details_draw_search(&conversation, sealed), second);
    assert_ptr_equal(ldap_details_draw_search(&conversation, first), first);
    uint64_t chance = 1;
    unsigned firsts = 0;
    conversation.random = test_random;
    conversation.random_state = &chance;
    for (int i = 0; i < 4000; i++)
        firsts += ldap_details_draw_search(&conversation, sealed) == first;
    assert_in_range(firsts, 2880, 3120);
    /* Searches of another model are never drawn. */
    struct ldap_search_details *alone = compile_sealed(&other);
    assert_ptr_equal(ldap_details_draw_search(&conversation, alone), alone);
    ldap_details_release_search(alone);
    release_search(second);
    release_search(first);
    ldap_details_release_search(sealed);
    packet_context_clear(&context);
    packet_context_clear(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_filled_in),
        cmocka_unit_test(rdn_values_are_unescaped),
        cmocka_unit_test(presence_when_nothing_is_known),
        cmocka_unit_test(wrong_filters_are_refused),
        cmocka_unit_test(nesting_and_size_are_bounded),
        cmocka_unit_test(missing_filters_are_guessed),
        cmocka_unit_test(patterns_become_keys),
        cmocka_unit_test(bases_fit_their_pattern),
        cmocka_unit_test(an_empty_catalogue_gives_the_domain),
        cmocka_unit_test(a_catalogue_is_bounded),
        cmocka_unit_test(wrong_details_are_refused),
        cmocka_unit_test(binds_compile),
        cmocka_unit_test(searches_compile),
        cmocka_unit_test(sealed_searches_are_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
