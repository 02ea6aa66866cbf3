/* SPDX-License-Identifier: Apache-2.0 */
/* The text of recordings: lines, directions, refusals, and lines that are written and read
 * again; the shapes of DNs and filters. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "model/recording_text.h"
#include "model/shape.h"

struct seen {
    char text[4096];
    FILE *copy; /* every packet is written to it */
    int result;
};

static int note(void *context, const struct recording_line *packet)
{
    struct seen *seen = context;
    size_t used = strlen(seen->text), size = sizeof seen->text;
    char *to = seen->text;
    used += (size_t)snprintf(to + used, size - used, "%lld %s>%s %s:%s%s", (long long)packet->time,
                             packet->client, packet->server, packet->protocol, packet->opcode,
                             packet->reply ? " reply" : "");
    for (size_t i = 0; i < packet->field_count; i++) {
        used += (size_t)snprintf(to + used, size - used, " %s=", packet->fields[i].key);
        for (size_t v = 0; v < packet->fields[i].count; v++)
            used += (size_t)snprintf(to + used, size - used, "%s%s", v ? "," : "",
                                     packet->fields[i].values[v]);
    }
    snprintf(to + used, size - used, "\n");
    if (seen->copy)
        recording_text_write(seen->copy, packet, "");
    return seen->result;
}

static int read_text(const char *text, struct seen *seen, struct error *error)
{
    FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    assert_non_null(file);
    int result = recording_text_read(file, "text", note, seen, error);
    fclose(file);
    return result;
}

#define SEARCH                                                                                     \
    "1500000002.5\t06\t3\t7\t1\tldap\t3\tsearchRequest\t2\tDC,DC\t(&(cn)(objectClass=user))"       \
    "\tcn,mail\t\t\t\tsealed=true controls=1.2.3,1.2.4\n"
#define BIND                                                                                       \
    "1500000003.25\t06\t\t7\t1\tldap\t0\tbindRequest\t\t\t\t\t3\tsasl\t1.2.840.113554.1.2.2\ttls=" \
    "ldaps\n"
#define CREATE "1500000004\t06\t\t7\t1\tsmb2\t5\tCreate\t\t\t\t\t\t\t\tfile=pipe access=0x12019f\n"

static const char good[] = "1500000001.371377\t11\t\t7\t1\tdns\t0\tquery\t\n" SEARCH BIND CREATE;

static const char expected[] =
    "1500000001371377000 7>1 dns:0\n"
    "1500000002500000000 7>1 ldap:3 scope=sub base=DC,DC filter=(&(cn)(objectClass=user)) "
    "attrs=cn,mail sealed=true controls=1.2.3,1.2.4\n"
    "1500000003250000000 7>1 ldap:0 auth=sasl mech=GSSAPI tls=ldaps\n"
    "1500000004000000000 7>1 smb2:5 file=pipe access=0x12019f\n";

static void lines_have_their_format(void **state)
{
    struct seen seen = {0};
    struct error error = {0};
    (void)state;
    assert_int_equal(read_text(good, &seen, &error), 0);
    assert_string_equal(seen.text, expected);
}

static void a_text_survives_a_round_trip(void **state)
{
    struct seen seen = {0}, again = {0};
    struct error error = {0};
    char *text = NULL;
    size_t size = 0;
    (void)state;
    seen.copy = open_memstream(&text, &size);
    assert_non_null(seen.copy);
    assert_int_equal(read_text(good, &seen, &error), 0);
    fclose(seen.copy);
    assert_int_equal(read_text(text, &again, &error), 0);
    assert_string_equal(again.text, expected);
    free(text);
}

/* Requests and replies of these protocols have the same opcode: the first line between two hosts
 * decides. */
static void the_first_line_shows_the_direction(void **state)
{
    struct seen seen = {0};
    struct error error = {0};
    (void)state;
    assert_int_equal(read_text("1\t06\t0\t9\t2\tsmb2\t1\tSession Setup\n"
                               "2\t06\t0\t2\t9\tsmb2\t1\tSession Setup\n"
                               "3\t06\t0\t9\t2\tsmb2\t1\tSession Setup\n"
                               "4\t06\t1\t2\t5\tkerberos\t30\tkrb-error\n"
                               "5\t06\t1\t2\t5\tsamr\t7\tOpenDomain\n",
                               &seen, &error),
                     0);
    assert_string_equal(seen.text, "1000000000 9>2 smb2:1\n"
                                   "2000000000 9>2 smb2:1 reply\n"
                                   "3000000000 9>2 smb2:1\n"
                                   "4000000000 5>2 kerberos:30 reply\n"
                                   "5000000000 5>2 samr:7 reply\n");
}

/* Values of the network in a text are left out. */
static void values_of_the_network_are_left_out(void **state)
{
    struct seen seen = {0};
    struct error error = {0};
    (void)state;
    assert_int_equal(
        read_text("1\t06\t\t7\t1\tldap\t3\t\t2\tCN=Jane Secret,DC=secret,DC=example\t"
                  "(&(sAMAccountName=secret)(objectCategory=CN=Person,CN=Schema,DC=secret))\tcn\n"
                  "2\t06\t\t7\t1\tkerberos\t12\t\t\t\t\t\t\t\t\tservice=a/secret note=secret\n",
                  &seen, &error),
        0);
    assert_null(strcasestr(seen.text, "secret"));
    assert_non_null(strstr(seen.text, "base=CN,DC,DC"));
    assert_non_null(strstr(seen.text, "filter=(&(sAMAccountName)(objectCategory=Person))"));
}

static void malformed_lines_are_refused(void **state)
{
    static const char *const texts[][2] = {
        {"version: 3\n", "text:1: expected a traffic-summary line"},
        {"now\t06\t\t7\t1\tdns\t0\tquery\n", "text:1: expected a time"},
        {"1\t06\t\t7\t1\tdns\t0\tquery\n2\t06\t\t\t1\tdns\t0\n", "text:2: expected sender"},
        {"1\t06\t\t7\t1\td ns\t0\n", "text:1: expected a protocol"},
        {"1.5x\t06\t\t7\t1\tdns\t0\n", "text:1: expected a time"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct seen seen = {0};
        struct error error = {0};
        assert_int_equal(read_text(texts[i][0], &seen, &error), -EINVAL);
        assert_memory_equal(error.text, texts[i][1], strlen(texts[i][1]));
    }
    struct seen stop = {.result = 5};
    struct error error = {0};
    assert_int_equal(read_text(good, &stop, &error), 5);
    assert_int_equal(strcspn(stop.text, "\n") + 1, strlen(stop.text));
}

static void forms_are_written_and_read(void **state)
{
    static const char *const filters[][2] = {
        {"(cn=secret)", "(cn)"},
        {"(cn=*)", "(cn=*)"},
        {"(&(objectClass=user)(|(cn=a*b)(!(uid>=4))))", "(&(objectClass=user)(|(cn)(!(uid))))"},
        {"(memberOf:1.2.840.113556.1.4.1941:=CN=x,DC=y)", "(memberOf)"},
        {"(objectClass=acmeSecret)", "(objectClass)"},
        {"(objectCategory=CN=Group-Policy-Container,CN=Schema,DC=x)",
         "(objectCategory=GroupPolicyContainer)"},
        {"(&)", "(&)"},
        {"(&(cn)(mail))", "(&(cn)(mail))"},
        {"cn=x", NULL},
        {"(cn=x", NULL},
        {"(cn=x))", NULL},
        {"(=x)", NULL},
        {"(a b=x)", NULL},
        {"", NULL},
    };
    static const char *const dns[][2] = {
        {"", ""},
        {"CN=a\\,b,ou=x,dc=y", "CN,OU,DC"},
        {"CN,CN,DC", "CN,CN,DC"},
        {"cn=a+sn=b, dc=c", "CN,DC"},
        {"CN=\"a,b\",DC=c", "CN,DC"},
        {"<GUID=0123>", NULL},
        {"secret,DC=x", NULL},
        {"user@example.com", NULL},
        {"CN=x,", NULL},
    };
    char shape[SHAPE_SIZE];
    (void)state;
    for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++) {
        assert_int_equal(shape_of_filter(filters[i][0], shape, sizeof shape) == 0,
                         filters[i][1] != NULL);
        if (filters[i][1])
            assert_string_equal(shape, filters[i][1]);
    }
    for (size_t i = 0; i < sizeof dns / sizeof dns[0]; i++) {
        bool got = shape_of_dn(dns[i][0], shape, sizeof shape) == 0;
        if (got != (dns[i][1] != NULL))
            print_message("%s\n", dns[i][0]);
        assert_int_equal(got, dns[i][1] != NULL);
        if (dns[i][1])
            assert_string_equal(shape, dns[i][1]);
    }
    /* Buffers that are too small are refused, not overrun. */
    for (size_t size = 1; size < sizeof "(&(cn)(mail))"; size++)
        assert_int_equal(shape_of_filter("(&(cn)(mail))", shape, size), -ENOSPC);
}

static void times_are_exact(void **state)
{
    int64_t time;
    (void)state;
    assert_int_equal(recording_text_time("1500000000.000000001", &time), 0);
    assert_int_equal(time, 1500000000000000001);
    assert_int_equal(recording_text_time("7", &time), 0);
    assert_int_equal(time, 7000000000);
    assert_int_equal(recording_text_time("", &time), -EINVAL);
    assert_int_equal(recording_text_time("1e9", &time), -EINVAL);
    assert_int_equal(recording_text_time("15000000000000000000", &time), -EINVAL);
    assert_int_equal(recording_text_time("9563470189", &time), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_exact),
        cmocka_unit_test(lines_have_their_format),
        cmocka_unit_test(a_text_survives_a_round_trip),
        cmocka_unit_test(the_first_line_shows_the_direction),
        cmocka_unit_test(values_of_the_network_are_left_out),
        cmocka_unit_test(malformed_lines_are_refused),
        cmocka_unit_test(forms_are_written_and_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
