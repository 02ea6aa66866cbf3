/* SPDX-License-Identifier: Apache-2.0 */
/* DNS: queries and replies byte by byte, failures, the query file. */
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
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "protocols/names/dns.h"
#include "replay/accounts/discover.h"
#include "tests/lib/bytes.h"
#include "tests/lib/packets.h"
#include "tests/lib/servers/loopback.h"
#include "tests/lib/servers/udp_server.h"
#include "tests/lib/temporary.h"
#include "tests/lib/test_random.h"

/* A DC's answer to 0x1234 "dc1.a.b" A: 127.88.0.7. */
static const char reply_hex[] = "1234 8580 0001 0001 0000 0000"
                                "03 646331 01 61 01 62 00 0001 0001"
                                "c00c 0001 0001 00000384 0004 7f580007";
static const char query_hex[] = "1234 0100 0001 0000 0000 0000 03 646331 01 61 01 62 00 0001 0001";
enum { A = 1, SRV = 33, FLAGS = 2, ANSWERS = 7 };

static int parse(const uint8_t *bytes, size_t size, const char *name, uint16_t type, int *rcode)
{
    uint8_t *copy = bytes_exact(bytes, size);
    int result = dns_reply_parse(copy, size, name, type, rcode);
    free(copy);
    return result;
}

static void reply_to_our_question(void **state)
{
    (void)state;
    uint8_t bytes[256];
    size_t size = bytes_from_hex(reply_hex, bytes);
    int rcode = -1;
    assert_int_equal(parse(bytes, size, "dc1.a.b", A, &rcode), 1);
    assert_int_equal(rcode, 0);
    assert_int_equal(parse(bytes, size, "DC1.a.B", A, &rcode), 1);
    /* Another name, another type, a query instead of a reply. */
    assert_int_equal(parse(bytes, size, "dc2.a.b", A, &rcode), -EBADMSG);
    assert_int_equal(parse(bytes, size, "dc1.a", A, &rcode), -EBADMSG);
    assert_int_equal(parse(bytes, size, "dc1.a.b", SRV, &rcode), -EBADMSG);
    bytes[FLAGS] &= 0x7f;
    assert_int_equal(parse(bytes, size, "dc1.a.b", A, &rcode), -EBADMSG);
}

static void reply_cut_anywhere(void **state)
{
    (void)state;
    uint8_t bytes[256];
    size_t size = bytes_from_hex(reply_hex, bytes);
    int rcode;
    for (size_t cut = 0; cut < size; cut++)
        assert_int_equal(parse(bytes, cut, "dc1.a.b", A, &rcode), -EBADMSG);
}

static void reply_without_answers(void **state)
{
    (void)state;
    uint8_t bytes[256];
    int rcode;
    size_t size =
        bytes_from_hex("1234 8583 0001 0000 0000 0000 03 646331 01 61 01 62 00 0001 0001", bytes);
    assert_int_equal(parse(bytes, size, "dc1.a.b", A, &rcode), 0);
    assert_int_equal(rcode, 3);
    /* An error may omit the question; a success may not. */
    size = bytes_from_hex("1234 8581 0000 0000 0000 0000", bytes);
    assert_int_equal(parse(bytes, size, "dc1.a.b", A, &rcode), 0);
    assert_int_equal(rcode, 1);
    bytes[3] = 0x80;
    assert_int_equal(parse(bytes, size, "dc1.a.b", A, &rcode), -EBADMSG);
}

static void reply_truncated(void **state)
{
    (void)state;
    uint8_t bytes[256];
    size_t size = bytes_from_hex(reply_hex, bytes);
    int rcode;
    bytes[FLAGS] |= 0x02;
    assert_int_equal(parse(bytes, size, "dc1.a.b", A, &rcode), DNS_TRUNCATED);
}

static void reply_whose_names_loop(void **state)
{
    (void)state;
    uint8_t bytes[256];
    int rcode;
    size_t size = bytes_from_hex("1234 8580 0001 0000 0000 0000 c00c 0001 0001", bytes);
    assert_int_equal(parse(bytes, size, "dc1.a.b", A, &rcode), -EBADMSG);
}

struct behaviour {
    uint8_t rcode;  /* for unknown names */
    bool truncated; /* over UDP */
    bool known;     /* names that begin with '_' or "dc1" have an answer */
    bool wrong_id_first;
};

/* The question, and the answer if there is one. */
static size_t make_reply(const struct behaviour *behaviour, const uint8_t *question, size_t size,
                         uint8_t *reply)
{
    if (size < 17)
        return 0;
    memcpy(reply, question, size);
    reply[2] = 0x85;
    reply[3] = 0x80;
    bool known = behaviour->known && (question[13] == '_' || memcmp(question + 13, "dc1", 3) == 0);
    uint8_t type = question[size - 3];
    if (!known || type == 28) {
        reply[3] |= behaviour->rcode;
        return size;
    }
    static const uint8_t address[] = {0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 3, 0x84, 0, 4, 127, 88, 0, 7};
    memcpy(reply + size, address, sizeof address);
    reply[size + 3] = type;
    reply[ANSWERS] = 1;
    return size + sizeof address;
}

static size_t answer(void *context, unsigned nth, const uint8_t *question, size_t size,
                     uint8_t *reply)
{
    const struct behaviour *behaviour = context;
    (void)nth;
    size_t length = make_reply(behaviour, question, size, reply);
    if (behaviour->truncated)
        reply[2] |= 0x02;
    if (behaviour->wrong_id_first)
        reply[0] ^= 0xff;
    return length;
}

static struct dc *new_dc(uint16_t port)
{
    struct dc *dc = loopback_dc();
    dc->ports.dns = port;
    dc->dns_domain = strdup("a.b");
    dc->dns_name = strdup("dc1.a.b");
    assert_true(dc->dns_domain && dc->dns_name);
    return dc;
}

static struct outcome play_type(struct dc *dc, const char *name, const char *rr_type, uint64_t seed,
                                int64_t timeout_ms)
{
    struct conversation conversation = {.wire.waiter = wire_blocking_waiter(),
                                        .dc = dc,
                                        .random = test_random,
                                        .random_state = &seed};
    conversation_init(&conversation);
    struct packet_field fields[2];
    size_t count = 0;
    if (name)
        fields[count++] = (struct packet_field){"name", 1, &name};
    if (rr_type)
        fields[count++] = (struct packet_field){"type", 1, &rr_type};
    return form_play(&conversation, "dns", "0", fields, count, timeout_ms * 1000000);
}

static struct outcome play_extra(struct dc *dc, uint64_t seed)
{
    struct conversation conversation = {.wire.waiter = wire_blocking_waiter(),
                                        .dc = dc,
                                        .random = test_random,
                                        .random_state = &seed};
    conversation_init(&conversation);
    return packet_play(&conversation, &dns_extra_player, NULL, INT64_C(5000000000));
}

static struct outcome play(struct dc *dc, const char *name, const char *type)
{
    return play_type(dc, name, type, 1, 5000);
}

static void query_is_as_specified(void **state)
{
    (void)state;
    struct behaviour behaviour = {.known = true};
    struct udp_server server = {.answer = answer, .context = &behaviour};
    udp_server_start(&server);
    struct dc *dc = new_dc(server.port);
    assert_int_equal(play(dc, "dc", "A").kind, OUTCOME_OK);
    udp_server_stop(&server);
    uint8_t query[64];
    size_t size = bytes_from_hex(query_hex, query);
    memcpy(query, server.last_question, 2);
    assert_int_equal(server.last_size, size);
    assert_memory_equal(server.last_question, query, size);
    dc_free(dc);
}

static void names_and_types_are_drawn(void **state)
{
    (void)state;
    struct behaviour behaviour = {.known = true};
    struct udp_server server = {.answer = answer, .context = &behaviour};
    udp_server_start(&server);
    struct dc *dc = new_dc(server.port);
    static const char *const wanted[] = {"\x01"
                                         "a\x01"
                                         "b\x00\x00\x01",
                                         "\x05_ldap\x04_tcp\x01"
                                         "a\x01"
                                         "b\x00\x00\x21",
                                         "\x09_kerberos\x04_tcp\x01"
                                         "a\x01"
                                         "b\x00\x00\x21",
                                         "\x05_ldap\x04_tcp\x02"
                                         "dc\x06_msdcs\x01"
                                         "a\x01"
                                         "b\x00\x00\x21",
                                         "\x03"
                                         "dc1\x01"
                                         "a\x01"
                                         "b\x00\x00\x01",
                                         "\x03"
                                         "dc1\x01"
                                         "a\x01"
                                         "b\x00\x00\x1c"};
    static const size_t sizes[] = {7, 18, 22, 28, 11, 11};
    enum { WANTED = 6 };
    unsigned seen[WANTED] = {0};
    for (uint64_t seed = 0; seed < 120; seed++) {
        play_type(dc, NULL, NULL, seed * UINT64_C(0x9e3779b97f4a7c15), 5000);
        for (size_t i = 0; i < WANTED; i++)
            if (server.last_size == 12 + sizes[i] + 2 &&
                memcmp(server.last_question + 12, wanted[i], sizes[i]) == 0)
                seen[i]++;
    }
    unsigned sum = 0;
    for (size_t i = 0; i < WANTED; i++) {
        assert_true(seen[i] >= 5);
        sum += seen[i];
    }
    assert_int_equal(sum, 120);
    udp_server_stop(&server);
    dc_free(dc);
}

static void failure_only_where_the_probe_was_answered(void **state)
{
    (void)state;
    struct behaviour behaviour = {.known = true, .rcode = 3};
    struct udp_server server = {.answer = answer, .context = &behaviour};
    udp_server_start(&server);
    struct dc *dc = new_dc(server.port);
    unsigned answered = 0;
    assert_int_equal(discover_dns(dc, &answered), 0);
    assert_int_equal(answered, 4 * 9); /* dc, ldap, kerberos, msdcs; all types but AAAA */
    assert_int_equal(play(dc, "realm", "A").kind, OUTCOME_OK);
    assert_int_equal(play(dc, "dc", "AAAA").kind, OUTCOME_OK);
    assert_int_equal(play(dc, "dc", "TYPE65").kind, OUTCOME_OK);
    assert_int_equal(play(dc, "other", NULL).kind, OUTCOME_OK);
    behaviour.known = false;
    assert_failed(play(dc, "dc", "A"), "NXDOMAIN");
    assert_failed(play(dc, "ldap", NULL), "NXDOMAIN");
    assert_int_equal(play(dc, "dc", "AAAA").kind, OUTCOME_OK);
    behaviour.rcode = 0;
    assert_failed(play(dc, "msdcs", NULL), "no answer record");
    behaviour.rcode = 2; /* never counts as an answer */
    assert_failed(play(dc, "realm", "A"), "SERVFAIL");
    udp_server_stop(&server);
    dc_free(dc);
}

static void nobody_answers(void **state)
{
    (void)state;
    struct dc *dc = new_dc(loopback_unused_port());
    unsigned answered = 1;
    int64_t start = clock_now();
    assert_int_equal(discover_dns(dc, &answered), 0);
    assert_int_equal(answered, 0);
    assert_true(clock_now() - start < INT64_C(3000000000));
    assert_unreached(play(dc, "realm", "A"), "connection refused", "UDP", dc->ports.dns);
    struct behaviour behaviour = {.known = true, .wrong_id_first = true};
    struct udp_server server = {.answer = answer, .context = &behaviour};
    udp_server_start(&server);
    dc->ports.dns = server.port;
    start = clock_now();
    assert_int_equal(discover_dns(dc, &answered), 0);
    assert_int_equal(answered, 0);
    assert_true(clock_now() - start < INT64_C(4000000000)); /* 2 s for all together */
    assert_unreached(play_type(dc, "dc", "A", 1, 200), "timed out", "UDP", dc->ports.dns);
    udp_server_stop(&server);
    dc_free(dc);
}

struct tcp_server {
    int fd;
    int connections;
    bool cut; /* closes in the middle of the reply */
};

static void *tcp_main(void *argument)
{
    struct tcp_server *server = argument;
    static const struct behaviour behaviour = {.known = true};
    for (;;) {
        int fd = accept(server->fd, NULL, NULL);
        if (fd < 0)
            return NULL;
        uint8_t question[512], reply[600];
        ssize_t size = recv(fd, question, sizeof question, 0);
        size_t length =
            size > 2 ? make_reply(&behaviour, question + 2, (size_t)size - 2, reply + 2) : 0;
        reply[0] = (uint8_t)(length >> 8);
        reply[1] = (uint8_t)length;
        send(fd, reply, server->cut ? length / 2 : length + 2, MSG_NOSIGNAL);
        server->connections++;
        close(fd);
    }
}

static void truncated_goes_over_to_tcp(void **state)
{
    (void)state;
    struct behaviour behaviour = {.known = true, .truncated = true};
    struct udp_server server = {.answer = answer, .context = &behaviour};
    struct tcp_server tcp = {.fd = -1};
    int udp;
    uint16_t port;
    loopback_pair(&udp, &tcp.fd, &port);
    udp_server_start_on(&server, udp, port);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, tcp_main, &tcp), 0);
    struct dc *dc = new_dc(server.port);
    assert_int_equal(play(dc, "dc", "A").kind, OUTCOME_OK);
    assert_int_equal(server.questions, 1);
    tcp.cut = true;
    assert_failed(play(dc, "dc", "A"), "connection closed in mid-message");
    shutdown(tcp.fd, SHUT_RDWR);
    pthread_join(thread, NULL);
    close(tcp.fd);
    assert_int_equal(tcp.connections, 2);
    udp_server_stop(&server);
    dc_free(dc);
}

static void details_are_checked(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value;
        bool good;
    } cases[] = {{"type", "SRV", true},    {"type", "srv", false},       {"type", "TYPE65", true},
                 {"type", "TYPE0", false}, {"type", "TYPE65536", false}, {"type", "TYPE1x", false},
                 {"type", "B", false},     {"type", "", false},          {"name", "realm", true},
                 {"name", "other", true},  {"name", "moon", false},      {"sort", "A", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error error = {0};
        struct packet_field field = {cases[i].key, 1, &cases[i].value};
        struct form form;
        assert_int_equal(form_compile(&form, "dns", "0", &field, 1, &error), cases[i].good);
        assert_int_equal(error.text[0] == '\0', cases[i].good);
        form_release(&form);
    }
}

static int read_queries(struct dc *dc, const char *text, struct error *error)
{
    char *file = file_in_tmp("queries", text);
    int code = dns_queries_read(&dc->dns_names, file, dc->dns_domain, error);
    unlink(file);
    /* Removes the file's name from the error. */
    if (strncmp(error->text, file, strlen(file)) == 0)
        memmove(error->text, error->text + strlen(file), strlen(error->text + strlen(file)) + 1);
    free(file);
    return code;
}

static void query_file_with_mistakes(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"0,a,A\n", ":1: line is not opcode,name,type,expected"},
        {"\n# x\n0,a,A,yes,b\n", ":3: line is not opcode,name,type,expected"},
        {"x,a,A,yes\n", ":1: line does not begin with a number"},
        {",a,A,yes\n", ":1: line does not begin with a number"},
        {"0,,A,yes\n", ":1: line has no domain name in its second field"},
        {"0,{relam},A,yes\n",
         ":1: line has an unknown placeholder in its second field; only {realm} is replaced"},
        {"0,a..b,A,yes\n", ":1: line has no domain name in its second field"},
        {"0,a,Q,yes\n", ":1: line has no DNS type (A, AAAA, SRV, ... TYPE65) in its third field"},
        {"0,a,A,maybe\n", ":1: line does not end in yes or no"},
        {"# only remarks\n", ": contains no queries"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct dc *dc = new_dc(1);
        struct error error = {0};
        assert_int_equal(read_queries(dc, cases[i].text, &error), -EINVAL);
        assert_string_equal(error.text, cases[i].error);
        dc_free(dc);
    }
    struct dc *dc = new_dc(1);
    struct error error = {0};
    char longest[1000] = "0,";
    for (int i = 0; i < 100; i++)
        strcat(longest, "{realm}");
    strcat(longest, ",A,yes");
    assert_int_equal(read_queries(dc, longest, &error), -EINVAL);
    assert_int_equal(dns_queries_read(&dc->dns_names, "/dev/zero", NULL, &error), -EINVAL);
    assert_string_equal(error.text,
                        "/dev/zero:1: expected a line of text of fewer than 4096 bytes");
    assert_int_equal(dns_queries_read(&dc->dns_names, "/tmp", NULL, &error), -EISDIR);
    assert_int_equal(dns_queries_read(&dc->dns_names, "/nonexistent/file", NULL, &error), -ENOENT);
    assert_string_equal(error.text, "/nonexistent/file: No such file or directory");
    dc_free(dc);
}

static void query_file_is_asked(void **state)
{
    (void)state;
    struct behaviour behaviour = {.known = true, .rcode = 3};
    struct udp_server server = {.answer = answer, .context = &behaviour};
    udp_server_start(&server);
    struct dc *dc = new_dc(server.port);
    struct error error = {0};
    assert_int_equal(read_queries(dc, " 0 , dc1.{realm} , A , yes\r\n", &error), 0);
    assert_int_equal(play_extra(dc, 7).kind, OUTCOME_OK);
    assert_memory_equal(server.last_question + 12,
                        "\x03"
                        "dc1\x01"
                        "a\x01"
                        "b",
                        9);
    behaviour.known = false;
    assert_failed(play_extra(dc, 7), "NXDOMAIN");
    dns_names_free(dc->dns_names);
    dc->dns_names = NULL;
    assert_int_equal(read_queries(dc, "\xef\xbb\xbf\x31\x32,dc1.{realm},A,no", &error), 0);
    assert_int_equal(play_extra(dc, 7).kind, OUTCOME_OK);
    behaviour.known = true;
    assert_failed(play_extra(dc, 7), "unexpected answer record");
    udp_server_stop(&server);
    dc_free(dc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reply_to_our_question),
        cmocka_unit_test(reply_cut_anywhere),
        cmocka_unit_test(reply_without_answers),
        cmocka_unit_test(reply_truncated),
        cmocka_unit_test(reply_whose_names_loop),
        cmocka_unit_test(query_is_as_specified),
        cmocka_unit_test(names_and_types_are_drawn),
        cmocka_unit_test(failure_only_where_the_probe_was_answered),
        cmocka_unit_test(nobody_answers),
        cmocka_unit_test(truncated_goes_over_to_tcp),
        cmocka_unit_test(details_are_checked),
        cmocka_unit_test(query_file_with_mistakes),
        cmocka_unit_test(query_file_is_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
