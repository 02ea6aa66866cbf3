/* SPDX-License-Identifier: Apache-2.0 */
/* Discovery: how the user can name a DC, and the messages for servers that are not DCs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/error.h"
#include "protocols/wire.h"
#include "replay/accounts/directory.h"
#include "replay/accounts/discover.h"
#include "tests/lib/bytes.h"
#include "tests/lib/servers/ldap_server.h"
#include "tests/lib/servers/loopback.h"
#include "tests/lib/servers/udp_server.h"

static const char ping_reply[] =
    "30 81 81 02 04 00000000 64 79 04 00 30 75 30 73 04 08 6e 65 74 6c 6f 67 6f 6e 31 67 04 65 17 "
    "00 00 00"
    "fd 13 00 00 ae e1 98 5d ea d9 12 42 a2 64 6f fc 78 c5 f7 8c 06 73 61 6d 64 6f 6d 07 65 78 61"
    "6d 70 6c 65 03 63 6f 6d 00 c0 18 03 64 63 31 c0 18 06 53 41 4d 44 4f 4d 00 03 44 43 31 00 00"
    "17 44 65 66 61 75 6c 74 2d 46 69 72 73 74 2d 53 69 74 65 2d 4e 61 6d 65 00 c0 42 05 00 00 00"
    "ff ff ff ff 30 0f 02 04 00000000 65 07 0a 01 00 04 00 04 00";

/* The messageIDs of a request, and of the reply to a ping. */
enum { QUESTION_ID = 4, REPLY_ID = 5, REPLY_SECOND_ID = 136, REPLY_OPCODE = 31 };

static size_t put_attribute(uint8_t *out, const char *name, const char *value)
{
    uint8_t *at = out + 2;
    *at++ = 0x04;
    *at++ = (uint8_t)strlen(name);
    at = mempcpy(at, name, strlen(name));
    *at++ = 0x31;
    *at++ = (uint8_t)(strlen(value) + 2);
    *at++ = 0x04;
    *at++ = (uint8_t)strlen(value);
    at = mempcpy(at, value, strlen(value));
    out[0] = 0x30;
    out[1] = (uint8_t)(at - out - 2);
    return (size_t)(at - out);
}

/* searchResDone without an entry. */
static size_t put_done(const uint8_t *id, uint8_t *out)
{
    size_t size = bytes_from_hex("30 0f 02 04 00000000 65 07 0a 01 00 04 00 04 00", out);
    memcpy(out + 4, id, 4);
    return size;
}

/* An entry with the attributes of the root DSE, and searchResDone. */
static size_t root_dse_reply(const uint8_t *id, uint8_t *reply)
{
    uint8_t attributes[256];
    size_t size = put_attribute(attributes, "defaultNamingContext", "DC=samdom");
    size += put_attribute(attributes + size, "configurationNamingContext", "CN=C,DC=samdom");
    size += put_attribute(attributes + size, "schemaNamingContext", "CN=S,CN=C,DC=samdom");
    const uint8_t head[] = {
        0x30, 0x81, (uint8_t)(size + 14), 2,    4, id[0], id[1], id[2],        id[3],
        0x64, 0x81, (uint8_t)(size + 5),  0x04, 0, 0x30,  0x81,  (uint8_t)size};
    uint8_t *at = mempcpy(reply, head, sizeof head);
    at = mempcpy(at, attributes, size);
    return (size_t)(at - reply) + put_done(id, at);
}

static bool is_ping(const uint8_t *question, size_t size)
{
    return memmem(question, size, "NtVer", 5) != NULL;
}

static size_t answer_as_dc(void *context, unsigned nth, const uint8_t *question, size_t size,
                           uint8_t *reply)
{
    (void)context, (void)nth;
    if (size < 5)
        return 0;
    if (!is_ping(question, size))
        return root_dse_reply(question + QUESTION_ID, reply);
    size_t length = bytes_from_hex(ping_reply, reply);
    memcpy(reply + REPLY_ID, question + QUESTION_ID, 4);
    memcpy(reply + REPLY_SECOND_ID, question + QUESTION_ID, 4);
    return length;
}

static size_t answer_pings_only(void *context, unsigned nth, const uint8_t *question, size_t size,
                                uint8_t *reply)
{
    size_t length = answer_as_dc(context, nth, question, size, reply);
    if (is_ping(question, size))
        return length;
    return put_done(question + QUESTION_ID, reply);
}

static size_t answer_paused(void *context, unsigned nth, const uint8_t *question, size_t size,
                            uint8_t *reply)
{
    size_t length = answer_as_dc(context, nth, question, size, reply);
    reply[REPLY_OPCODE] = 24;
    return length;
}

static size_t answer_no_dc(void *context, unsigned nth, const uint8_t *question, size_t size,
                           uint8_t *reply)
{
    (void)context, (void)nth, (void)size;
    return put_done(question + QUESTION_ID, reply);
}

static size_t answer_garbage(void *context, unsigned nth, const uint8_t *question, size_t size,
                             uint8_t *reply)
{
    (void)context, (void)nth, (void)question, (void)size;
    memset(reply, 0xff, 60);
    return 60;
}

/* Discovers a server with this answer as "dc1=127.0.0.1". The caller frees the dc. */
static struct dc *discover(struct udp_server *server, const char *realm, const char *workgroup,
                           int *code, struct error *error)
{
    struct dc *dc = dc_new();
    assert_non_null(dc);
    udp_server_start(server);
    dc->ports.cldap = dc->ports.ldap = server->port;
    *code = discover_dc(dc, "dc1=127.0.0.1", realm, workgroup, error);
    udp_server_stop(server);
    return dc;
}

static void everything_is_learned(void **state)
{
    (void)state;
    struct udp_server server = {.answer = answer_as_dc};
    int code;
    struct error error = {0};
    struct dc *dc = discover(&server, NULL, NULL, &code, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(code, 0);
    assert_string_equal(dc->given, "dc1");
    assert_string_equal(dc->address_text, "127.0.0.1");
    assert_int_equal(dc->address.ss_family, AF_INET);
    assert_string_equal(dc->realm, "SAMDOM.EXAMPLE.COM");
    assert_string_equal(dc->dns_domain, "samdom.example.com");
    assert_string_equal(dc->dns_name, "dc1.samdom.example.com");
    assert_string_equal(dc->netbios_domain, "SAMDOM");
    assert_string_equal(dc->netbios_name, "DC1");
    assert_string_equal(dc->forest, "samdom.example.com");
    assert_string_equal(dc->site, "Default-First-Site-Name");
    assert_string_equal(dc->base_dn, "DC=samdom");
    assert_string_equal(dc->config_dn, "CN=C,DC=samdom");
    assert_string_equal(dc->schema_dn, "CN=S,CN=C,DC=samdom");
    assert_null(dc->domain_sid);
    dc_free(dc);
}

static void options_override(void **state)
{
    (void)state;
    struct udp_server server = {.answer = answer_as_dc};
    int code;
    struct error error = {0};
    struct dc *dc = discover(&server, "other.example.com", "OTHER", &code, &error);
    assert_int_equal(code, 0);
    assert_string_equal(dc->realm, "OTHER.EXAMPLE.COM");
    assert_string_equal(dc->netbios_domain, "OTHER");
    dc_free(dc);
}

static void servers_that_are_not_dcs(void **state)
{
    (void)state;
    const struct {
        size_t (*answer)(void *, unsigned, const uint8_t *, size_t, uint8_t *);
        int code;
        const char *says;
    } cases[] = {
        {answer_garbage, -EBADMSG, "not like a domain controller"},
        {answer_no_dc, -ENOENT, "is not a domain controller (use --server ldap)"},
        {answer_paused, -EAGAIN, "dc1: its netlogon service is paused"},
        {answer_pings_only, -ENOENT, "answers LDAP pings but does not return its root DSE"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct udp_server server = {.answer = cases[i].answer};
        int code;
        struct error error = {0};
        dc_free(discover(&server, NULL, NULL, &code, &error));
        assert_int_equal(code, cases[i].code);
        assert_int_equal(error.code, code);
        assert_non_null(strstr(error.text, cases[i].says));
    }
}

static int discover_at(const char *given, uint16_t port, struct error *error, double *seconds)
{
    struct dc *dc = dc_new();
    assert_non_null(dc);
    dc->ports.cldap = dc->ports.ldap = port;
    int64_t start = clock_now();
    int code = discover_dc(dc, given, NULL, NULL, error);
    *seconds = (double)(clock_now() - start) * 1e-9;
    dc_free(dc);
    return code;
}

static void nothing_listens(void **state)
{
    (void)state;
    struct error error = {0};
    double seconds;
    uint16_t port = loopback_unused_port();
    assert_int_equal(discover_at("127.0.0.1", port, &error, &seconds), -ECONNREFUSED);
    assert_non_null(strstr(error.text, "nothing listens on port"));
    assert_true(seconds > 1 && seconds < 3); /* it waits for a DC that is just starting */
}

static void silence_has_an_end(void **state)
{
    (void)state;
    struct udp_server server = {.answer = NULL};
    struct error error = {0};
    double seconds;
    udp_server_start(&server);
    assert_int_equal(discover_at("127.0.0.1", server.port, &error, &seconds), -ETIMEDOUT);
    udp_server_stop(&server);
    assert_true(server.questions >= 3);
    assert_true(seconds > 5 && seconds < 8);
    assert_non_null(strstr(error.text, "no answer from 127.0.0.1"));
}

static void firewall_before_udp(void **state)
{
    (void)state;
    uint16_t port = 0;
    int fd = loopback_listen(&port, 5);
    struct error error = {0};
    double seconds;
    assert_int_equal(discover_at("127.0.0.1", port, &error, &seconds), -ECONNREFUSED);
    assert_non_null(strstr(error.text, "accepts LDAP connections but does not answer LDAP pings"));
    close(fd);
}

static void a_dc_that_is_just_starting(void **state)
{
    (void)state;
    struct udp_server server = {.answer = answer_as_dc};
    struct dc *dc = dc_new();
    assert_non_null(dc);
    /* The port is reserved; the server starts to listen a little later. */
    uint16_t port = loopback_unused_port();
    dc->ports.cldap = port;
    pid_t child = fork();
    assert_return_code(child, errno);
    if (child == 0) {
        usleep(600000);
        udp_server_start_on(&server, loopback_socket(SOCK_DGRAM, &port), port);
        sleep(10); /* until the parent's SIGKILL */
        _exit(0);
    }
    struct error error = {0};
    assert_int_equal(discover_dc(dc, "127.0.0.1", NULL, NULL, &error), 0);
    assert_string_equal(dc->dns_name, "dc1.samdom.example.com");
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    dc_free(dc);
}

static void malformed_names(void **state)
{
    (void)state;
    const struct {
        const char *given, *says;
    } cases[] = {{"dc1=", "neither a name, an address, nor NAME=ADDRESS"},
                 {"=127.0.0.1", "neither a name, an address, nor NAME=ADDRESS"},
                 {"", "neither a name, an address, nor NAME=ADDRESS"},
                 {"dc1=dc2", "\"dc2\" is not an address"},
                 {"dc1=300.1.1.1", "\"300.1.1.1\" is not an address"},
                 {"[]", "neither a name, an address, nor NAME=ADDRESS"},
                 {"[dc1]", "\"dc1\" is not an address"},
                 {"dc1=[fd00::1", "\"[fd00::1\" is not an address"},
                 {"dc1=fd00:::1", "\"fd00:::1\" is not an address"},
                 {"[fd00::1]:389", "is not an address (a port cannot be given)"},
                 {"dc1.example.com:389", "is not an address (a port cannot be given)"},
                 {"10.0.0.1:389", "is not an address (a port cannot be given)"},
                 {"dc1=fd00::1/64", "\"fd00::1/64\" is not an address"},
                 {"dc1=fe80::1", "needs the interface that leads to it; give fe80::1%INTERFACE"},
                 {"[fe80::1]", "needs the interface"},
                 {"fe80::1%no-such-one", "this machine has no interface \"no-such-one\""},
                 {"no-such-name.invalid", "cannot be resolved"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error error = {0};
        double seconds;
        assert_int_equal(discover_at(cases[i].given, 9, &error, &seconds), -EINVAL);
        assert_int_equal(error.code, -EINVAL);
        assert_non_null(strstr(error.text, cases[i].says));
    }
}

static void address_of_version_6(void **state)
{
    (void)state;
    struct dc *dc = dc_new();
    assert_non_null(dc);
    dc->ports.cldap = dc->ports.ldap = loopback_unused_port();
    struct error error = {0};
    assert_true(discover_dc(dc, "dc1=::1", NULL, NULL, &error) < 0);
    assert_int_equal(dc->address.ss_family, AF_INET6);
    assert_string_equal(dc->address_text, "::1");
    struct sockaddr_storage peer;
    assert_int_equal(dc_address(dc, 389, &peer), sizeof(struct sockaddr_in6));
    assert_int_equal(((struct sockaddr_in6 *)&peer)->sin6_port, htons(389));
    dc_free(dc);
}

/* What AD LDS lists: its configuration and its schema first, and no default. */
static void put_naming_contexts(struct ldap_server *server, int id, int request,
                                struct ldap_answer *answer)
{
    (void)server;
    (void)request;
    BerElement *ber = ber_alloc_t(LBER_USE_DER);
    ber_printf(ber, "{it{s{{s[sss]}}}}", id, LDAP_RES_SEARCH_ENTRY, "", "namingContexts",
               "CN=Configuration,CN={01234567-89AB-CDEF-0123-456789ABCDEF}",
               "CN=Schema,CN=Configuration,CN={01234567-89AB-CDEF-0123-456789ABCDEF}",
               "O=application");
    ldap_answer_put(answer, ber);
    ldap_answer_put_result(answer, id, LDAP_RES_SEARCH_RESULT, LDAP_SUCCESS, "");
}

static void a_naming_context_with_data_is_chosen(void **state)
{
    (void)state;
    struct ldap_server server = {.reply = put_naming_contexts, .cut_after = SIZE_MAX};
    struct error error = {0};
    ldap_server_start(&server);
    struct dc *dc = ldap_server_dc(&server);
    dc->options.generic_ldap = true;
    assert_int_equal(discover_dc(dc, "127.0.0.1", NULL, NULL, &error), 0);
    assert_string_equal(dc->base_dn, "O=application");
    dc_free(dc);
    ldap_server_stop(&server);
}

/* The environment of a lab's DC contains a name, which another LDAP server refuses. */
static void a_server_that_is_no_dc_needs_a_dn(void **state)
{
    (void)state;
    static const char hint[] =
        "; --server ldap needs a DN as the user (-U, -A or TRAFFIC_REPLAY_USER)";
    struct dc dc = {.admin.name = strdup("Administrator")};
    assert_string_equal(directory_logon_hint(&dc), "");
    dc.options.generic_ldap = true;
    assert_string_equal(directory_logon_hint(&dc), hint);
    strcpy(dc.admin.name, "cn=admin");
    assert_string_equal(directory_logon_hint(&dc), "");
    free(dc.admin.name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_learned),
        cmocka_unit_test(options_override),
        cmocka_unit_test(a_server_that_is_no_dc_needs_a_dn),
        cmocka_unit_test(servers_that_are_not_dcs),
        cmocka_unit_test(nothing_listens),
        cmocka_unit_test(silence_has_an_end),
        cmocka_unit_test(firewall_before_udp),
        cmocka_unit_test(a_dc_that_is_just_starting),
        cmocka_unit_test(malformed_names),
        cmocka_unit_test(address_of_version_6),
        cmocka_unit_test(a_naming_context_with_data_is_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
