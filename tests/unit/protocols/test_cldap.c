/* SPDX-License-Identifier: Apache-2.0 */
/* CLDAP: requests and replies byte by byte; silence, garbage and refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include <errno.h>
#include <lber.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "protocols/conversation.h"
#include "protocols/names/cldap.h"
#include "protocols/packet.h"
#include "tests/lib/bytes.h"
#include "tests/lib/packets.h"
#include "tests/lib/servers/loopback.h"
#include "tests/lib/servers/udp_server.h"

/* A DC's reply to messageID 1. */
static const char reply_hex[] =
    "30 7e 02 01 01 64 79 04 00 30 75 30 73 04 08 6e 65 74 6c 6f 67 6f 6e 31 67 04 65 17 00 00 00"
    "fd 13 00 00 ae e1 98 5d ea d9 12 42 a2 64 6f fc 78 c5 f7 8c 06 73 61 6d 64 6f 6d 07 65 78 61"
    "6d 70 6c 65 03 63 6f 6d 00 c0 18 03 64 63 31 c0 18 06 53 41 4d 44 4f 4d 00 03 44 43 31 00 00"
    "17 44 65 66 61 75 6c 74 2d 46 69 72 73 74 2d 53 69 74 65 2d 4e 61 6d 65 00 c0 42 05 00 00 00"
    "ff ff ff ff 30 0c 02 01 01 65 07 0a 01 00 04 00 04 00";
enum { NETLOGON_OFFSET = 27, NETLOGON_SIZE = 0x65 };

/* The same reply with messageIDs of four bytes, as our requests have. */
static const char long_reply_hex[] =
    "30 81 81 02 04 00000001 64 79 04 00 30 75 30 73 04 08 6e 65 74 6c 6f 67 6f 6e 31 67 04 65"
    "17 00 00 00"
    "fd 13 00 00 ae e1 98 5d ea d9 12 42 a2 64 6f fc 78 c5 f7 8c 06 73 61 6d 64 6f 6d 07 65 78 61"
    "6d 70 6c 65 03 63 6f 6d 00 c0 18 03 64 63 31 c0 18 06 53 41 4d 44 4f 4d 00 03 44 43 31 00 00"
    "17 44 65 66 61 75 6c 74 2d 46 69 72 73 74 2d 53 69 74 65 2d 4e 61 6d 65 00 c0 42 05 00 00 00"
    "ff ff ff ff 30 0f 02 04 00000001 65 07 0a 01 00 04 00 04 00";
enum { QUESTION_ID = 4, REPLY_ID = 5, REPLY_NETLOGON = 31, REPLY_SECOND_ID = 136 };

/* The request for it: domain samdom.example.com, host me. */
static const char request_hex[] =
    "30 63 02 04 00 00 00 00 63 5b 04 00 0a 01 00 0a 01 00 02 01 00 02 01 00 01 01 00 a0 3c a3 1f "
    "04 09 44"
    "6e 73 44 6f 6d 61 69 6e 04 12 73 61 6d 64 6f 6d 2e 65 78 61 6d 70 6c 65 2e 63 6f 6d a3 0a 04"
    "04 48 6f 73 74 04 02 6d 65 a3 0d 04 05 4e 74 56 65 72 04 04 16 00 00 00 30 0a 04 08 4e 65 74"
    "6c 6f 67 6f 6e";

/* Fixed part of a netlogon reply: opcode 23, flags, GUID. */
static const char fixed_hex[] = "17 00 00 00 fd 13 00 00 000102030405060708090a0b0c0d0e0f";

static int parse_hex(const char *hex, struct cldap_netlogon *out)
{
    uint8_t bytes[1024];
    size_t size = bytes_from_hex(hex, bytes);
    uint8_t *copy = malloc(size); /* so that a sanitizer detects reads beyond its end */
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    int error = cldap_netlogon_parse(copy, size, out);
    free(copy);
    return error;
}

static int parse_names(const char *names, const char *tail, struct cldap_netlogon *out)
{
    char hex[2048];
    snprintf(hex, sizeof hex, "%s %s %s", fixed_hex, names, tail);
    return parse_hex(hex, out);
}

static void netlogon_reply_of_a_dc(void **state)
{
    (void)state;
    uint8_t bytes[256];
    bytes_from_hex(reply_hex, bytes);
    struct cldap_netlogon netlogon;
    assert_int_equal(cldap_netlogon_parse(bytes + NETLOGON_OFFSET, NETLOGON_SIZE, &netlogon), 0);
    assert_int_equal(netlogon.opcode, CLDAP_SAM_LOGON_RESPONSE_EX);
    assert_int_equal(netlogon.flags, 0x13fd);
    assert_int_equal(netlogon.domain_guid[0], 0xae);
    assert_int_equal(netlogon.domain_guid[15], 0x8c);
    assert_string_equal(netlogon.forest, "samdom.example.com");
    assert_string_equal(netlogon.dns_domain, "samdom.example.com");
    assert_string_equal(netlogon.dns_host, "dc1.samdom.example.com");
    assert_string_equal(netlogon.netbios_domain, "SAMDOM");
    assert_string_equal(netlogon.netbios_name, "DC1");
    assert_string_equal(netlogon.user, "");
    assert_string_equal(netlogon.dc_site, "Default-First-Site-Name");
    assert_string_equal(netlogon.client_site, "Default-First-Site-Name");
    assert_string_equal(netlogon.next_closest_site, "");
    assert_int_equal(netlogon.nt_version, 5);
}

static void netlogon_reply_cut_anywhere(void **state)
{
    (void)state;
    uint8_t bytes[256];
    bytes_from_hex(reply_hex, bytes);
    for (size_t size = 0; size < NETLOGON_SIZE; size++) {
        uint8_t *cut = malloc(size ? size : 1);
        assert_non_null(cut);
        memcpy(cut, bytes + NETLOGON_OFFSET, size);
        struct cldap_netlogon netlogon;
        assert_int_equal(cldap_netlogon_parse(cut, size, &netlogon), -EBADMSG);
        free(cut);
    }
}

static void netlogon_reply_with_address_and_next_site(void **state)
{
    (void)state;
    /* forest "a.b" at 24; domain points to it; host "h"+pointer; the rest "X", user "u$". */
    static const char names[] = "0161 0162 00  c018  0168 c018  0158 00  0158 00  02 75 24 00  0153"
                                "00  0153 00";
    static const char address[] = "10 02000185 7f580007 0000000000000000";
    char tail[256];
    struct cldap_netlogon netlogon;
    snprintf(tail, sizeof tail, "%s 01 4e 00  1d000000 ffff ffff", address);
    assert_int_equal(parse_names(names, tail, &netlogon), 0);
    assert_string_equal(netlogon.dns_host, "h.a.b");
    assert_string_equal(netlogon.user, "u$");
    assert_string_equal(netlogon.next_closest_site, "N");
    /* An address longer than the message. */
    assert_int_equal(parse_names(names, "10 0200  0d000000 ffff ffff", &netlogon), -EBADMSG);
    assert_int_equal(parse_names(names, "0d000000 ffff ffff", &netlogon), -EBADMSG);
    /* The next site is announced but missing, as from a DC with a single site. */
    assert_int_equal(parse_names(names, "15000000 ffff ffff", &netlogon), 0);
    assert_string_equal(netlogon.next_closest_site, "");
}

static void netlogon_reply_that_is_none(void **state)
{
    (void)state;
    struct cldap_netlogon netlogon;
    static const char tail[] = "05000000 ffff ffff";
    /* Names that point to themselves, forward or beyond the end; a reserved type of label. */
    static const char *const bad[] = {"c018 00 00 00 00 00 00 00",
                                      "c01a c018 00 00 00 00 00 00",
                                      "c0ff 00 00 00 00 00 00 00",
                                      "8161 00 00 00 00 00 00 00 00",
                                      "05 61 62",
                                      "c0",
                                      "0141 00 00 00 00 00 00"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(parse_names(bad[i], tail, &netlogon), -EBADMSG);
    /* Control characters would reach the terminal. */
    assert_int_equal(parse_names("0107 00 00 00 00 00 00 00 00", tail, &netlogon), -EBADMSG);
    /* Tokens, opcode. */
    assert_int_equal(parse_names("00 00 00 00 00 00 00 00", "05000000 ffff fffe", &netlogon),
                     -EBADMSG);
    assert_int_equal(parse_names("00 00 00 00 00 00 00 00", tail, &netlogon), 0);
    assert_int_equal(parse_hex("13 00 00 00 fd 13 00 00 000102030405060708090a0b0c0d0e0f"
                               "00 00 00 00 00 00 00 00 05000000 ffff ffff",
                               &netlogon),
                     -EBADMSG);
}

static void netlogon_reply_with_the_longest_name(void **state)
{
    (void)state;
    /* Three labels of 63 and one of 61 make 255 bytes on the wire: RFC 1035 2.3.4. */
    char names[2048] = "";
    for (int label = 0; label < 4; label++) {
        strcat(names, label < 3 ? "3f" : "3d");
        for (int i = 0; i < (label < 3 ? 63 : 61); i++)
            strcat(names, "78");
    }
    strcat(names, "00 00 00 00 00 00 00 00");
    struct cldap_netlogon netlogon;
    assert_int_equal(parse_names(names, "05000000 ffff ffff", &netlogon), 0);
    assert_int_equal(strlen(netlogon.forest), 253);
}

static void count_attributes(void *context, const char *attribute, const struct berval *values,
                             size_t count)
{
    unsigned *seen = context;
    assert_string_equal(attribute, "netlogon");
    assert_int_equal(count, 1);
    assert_int_equal(values[0].bv_len, NETLOGON_SIZE);
    ++*seen;
}

static int parse_reply(const uint8_t *bytes, size_t size, cldap_visit *visit, void *context)
{
    uint8_t *copy = malloc(size + 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    int error = cldap_reply_parse(copy, size, visit, context);
    free(copy);
    return error;
}

static int parse_reply_hex(const char *hex)
{
    uint8_t bytes[512];
    size_t size = bytes_from_hex(hex, bytes);
    return parse_reply(bytes, size, NULL, NULL);
}

static void reply_datagram(void **state)
{
    (void)state;
    uint8_t bytes[256];
    size_t size = bytes_from_hex(reply_hex, bytes);
    unsigned seen = 0;
    assert_int_equal(parse_reply(bytes, size, count_attributes, &seen), 0);
    assert_int_equal(seen, 1);
    for (size_t cut = 0; cut < size; cut++)
        assert_int_equal(parse_reply(bytes, cut, NULL, NULL), -EBADMSG);
}

static void reply_datagram_without_entry(void **state)
{
    (void)state;
    assert_int_equal(parse_reply_hex("30 0c 02 01 01 65 07 0a 01 00 04 00 04 00"), -ENOENT);
    assert_int_equal(parse_reply_hex("30 0c 02 01 01 65 07 0a 01 33 04 00 04 00"), 0x33);
    /* Only an entry, another response, nothing. */
    assert_int_equal(parse_reply_hex("30 09 02 01 01 64 04 04 00 30 00"), -EBADMSG);
    assert_int_equal(parse_reply_hex("30 0c 02 01 01 61 07 0a 01 00 04 00 04 00"), -EBADMSG);
    assert_int_equal(parse_reply_hex(""), -EBADMSG);
}

static void reply_datagram_with_controls(void **state)
{
    (void)state;
    assert_int_equal(parse_reply_hex("30 10 02 01 01 65 07 0a 01 33 04 00 04 00 a0 02 30 00"),
                     0x33);
    /* A message shorter than its operation. */
    assert_int_equal(parse_reply_hex("30 05 02 01 01 65 07 0a 01 00 04 00 04 00"), -EBADMSG);
}

/* Answers like the DC, beginning with the context's nth question. */
static size_t answer_as_dc(void *context, unsigned nth, const uint8_t *question, size_t size,
                           uint8_t *reply)
{
    const unsigned *from = context;
    if (size < 5 || (from && nth < *from))
        return 0;
    size_t length = bytes_from_hex(long_reply_hex, reply);
    memcpy(reply + REPLY_ID, question + QUESTION_ID, 4);
    memcpy(reply + REPLY_SECOND_ID, question + QUESTION_ID, 4);
    return length;
}

static size_t answer_garbage(void *context, unsigned nth, const uint8_t *question, size_t size,
                             uint8_t *reply)
{
    (void)context, (void)nth, (void)question, (void)size;
    memset(reply, 0xa5, 100);
    return 100;
}

static size_t answer_another(void *context, unsigned nth, const uint8_t *question, size_t size,
                             uint8_t *reply)
{
    size_t length = answer_as_dc(context, nth, question, size, reply);
    reply[REPLY_ID] ^= 0x40;
    return length;
}

static size_t answer_nothing_found(void *context, unsigned nth, const uint8_t *question,
                                   size_t size, uint8_t *reply)
{
    (void)context, (void)nth, (void)size;
    size_t length = bytes_from_hex("30 0f 02 04 00000000 65 07 0a 01 00 04 00 04 00", reply);
    memcpy(reply + 4, question + QUESTION_ID, 4);
    return length;
}

static size_t answer_too_long(void *context, unsigned nth, const uint8_t *question, size_t size,
                              uint8_t *reply)
{
    (void)context, (void)nth, (void)question, (void)size;
    memset(reply, 0x30, 8192);
    return 8192;
}

/* Pings the server on port with this patience. */
static int ping_at(uint16_t port, int64_t patience_ms, struct cldap_netlogon *netlogon)
{
    struct dc *dc = loopback_dc();
    dc->ports.cldap = port;
    struct wire wire = {.waiter = wire_blocking_waiter(),
                        .deadline = clock_now() + patience_ms * 1000000};
    int error = cldap_netlogon(&wire, dc, "samdom.example.com", "me$", netlogon);
    assert_true(wire.first_sent > 0);
    dc_free(dc);
    return error;
}

static void ping_asks_as_specified(void **state)
{
    (void)state;
    struct udp_server server = {.answer = answer_as_dc};
    udp_server_start(&server);
    struct cldap_netlogon netlogon;
    assert_int_equal(ping_at(server.port, 5000, &netlogon), 0);
    assert_string_equal(netlogon.dns_host, "dc1.samdom.example.com");
    udp_server_stop(&server);
    uint8_t request[256];
    size_t size = bytes_from_hex(request_hex, request);
    memcpy(request + QUESTION_ID, server.last_question + QUESTION_ID, 4);
    assert_int_equal(server.last_size, size);
    assert_memory_equal(server.last_question, request, size);
}

static void ping_is_sent_again(void **state)
{
    (void)state;
    unsigned from = 2;
    struct udp_server server = {.answer = answer_as_dc, .context = &from};
    udp_server_start(&server);
    struct cldap_netlogon netlogon;
    assert_int_equal(ping_at(server.port, 5000, &netlogon), 0);
    udp_server_stop(&server);
    assert_int_equal(server.questions, 2);
}

static void ping_of_strange_servers(void **state)
{
    (void)state;
    const struct {
        size_t (*answer)(void *, unsigned, const uint8_t *, size_t, uint8_t *);
        int result;
    } servers[] = {{NULL, -ETIMEDOUT},
                   {answer_garbage, -EBADMSG},
                   {answer_another, -ETIMEDOUT},
                   {answer_nothing_found, -ENOENT},
                   {answer_too_long, -EMSGSIZE}};
    for (size_t i = 0; i < sizeof servers / sizeof servers[0]; i++) {
        struct udp_server server = {.answer = servers[i].answer};
        udp_server_start(&server);
        struct cldap_netlogon netlogon;
        assert_int_equal(
            ping_at(server.port, servers[i].result == -ETIMEDOUT ? 200 : 5000, &netlogon),
            servers[i].result);
        udp_server_stop(&server);
    }
    struct cldap_netlogon netlogon;
    assert_int_equal(ping_at(loopback_unused_port(), 5000, &netlogon), -ECONNREFUSED);
}

static struct outcome play(struct dc *dc, int64_t timeout_ms)
{
    struct account machine = {.name = (char *)(uintptr_t) "STGM-0-1$"};
    struct conversation conversation = {
        .wire.waiter = wire_blocking_waiter(), .dc = dc, .machine = &machine};
    conversation_init(&conversation);
    const struct packet_player *player = packet_player_find("cldap", "3");
    assert_non_null(player);
    struct outcome outcome = packet_play(&conversation, player, NULL, timeout_ms * 1000000);
    conversation_reset(&conversation);
    assert_null(conversation.cldap);
    return outcome;
}

static void set(char **text, const char *value)
{
    free(*text);
    *text = strdup(value);
    assert_non_null(*text);
}

static void packet_checks_who_answers(void **state)
{
    (void)state;
    struct udp_server server = {.answer = answer_as_dc};
    udp_server_start(&server);
    struct dc *dc = loopback_dc();
    dc->ports.cldap = server.port;
    set(&dc->dns_domain, "SAMDOM.example.com");
    set(&dc->dns_name, "DC1.samdom.example.com");
    assert_int_equal(play(dc, 5000).kind, OUTCOME_OK);
    set(&dc->dns_name, "dc2.samdom.example.com");
    struct outcome outcome = play(dc, 5000);
    assert_int_equal(outcome.kind, OUTCOME_FAILED);
    assert_string_equal(outcome.cause, "reply from another DC");
    set(&dc->dns_domain, "other.example.com");
    outcome = play(dc, 5000);
    assert_int_equal(outcome.kind, OUTCOME_FAILED);
    assert_string_equal(outcome.cause, "reply from another domain");
    udp_server_stop(&server);
    dc_free(dc);
}

/* From the third question, one byte of the reply differs, as if from another DC. Earlier replies
 * must not hide that. */
static size_t answer_changed(void *context, unsigned nth, const uint8_t *question, size_t size,
                             uint8_t *reply)
{
    size_t length = answer_as_dc(NULL, nth, question, size, reply);
    if (nth == 3)
        reply[*(size_t *)context] ^= 0x01;
    return length;
}

static void packet_reads_every_reply(void **state)
{
    (void)state;
    /* Opcode, a letter of the host's name, result code, length of a label. */
    static const struct {
        size_t at;
        const char *cause;
    } cases[] = {{REPLY_NETLOGON, "malformed reply"},
                 {REPLY_NETLOGON + 47, "reply from another DC"},
                 {REPLY_SECOND_ID + 8, "Operations error"},
                 {REPLY_NETLOGON + 24, "malformed reply"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t at = cases[i].at;
        struct udp_server server = {.answer = answer_changed, .context = &at};
        udp_server_start(&server);
        struct dc *dc = loopback_dc();
        dc->ports.cldap = server.port;
        set(&dc->dns_domain, "samdom.example.com");
        set(&dc->dns_name, "dc1.samdom.example.com");
        struct conversation conversation = {.wire.waiter = wire_blocking_waiter(), .dc = dc};
        const struct packet_player *player = packet_player_find("cldap", "3");
        conversation_init(&conversation);
        for (int nth = 1; nth <= 5; nth++) {
            struct outcome outcome = packet_play(&conversation, player, NULL, INT64_C(5000000000));
            assert_string_equal(outcome.cause, nth == 3 ? cases[i].cause : "");
            assert_int_equal(outcome.kind, nth == 3 ? OUTCOME_FAILED : OUTCOME_OK);
        }
        conversation_reset(&conversation);
        udp_server_stop(&server);
        dc_free(dc);
    }
}

/* The third question is not answered in time. */
static size_t answer_late(void *context, unsigned nth, const uint8_t *question, size_t size,
                          uint8_t *reply)
{
    if (nth == 3)
        usleep(400000);
    return answer_as_dc(context, nth, question, size, reply);
}

static void packet_keeps_its_socket_after_success(void **state)
{
    (void)state;
    struct udp_server server = {.answer = answer_late};
    udp_server_start(&server);
    struct dc *dc = loopback_dc();
    dc->ports.cldap = server.port;
    struct conversation conversation = {.wire.waiter = wire_blocking_waiter(), .dc = dc};
    const struct packet_player *player = packet_player_find("cldap", "3");
    conversation_init(&conversation);
    assert_int_equal(packet_play(&conversation, player, NULL, INT64_C(5000000000)).kind,
                     OUTCOME_OK);
    uint16_t port = server.last_port;
    assert_int_equal(packet_play(&conversation, player, NULL, INT64_C(5000000000)).kind,
                     OUTCOME_OK);
    assert_int_equal(server.last_port, port);
    assert_true(conversation.wire.first_sent > 0);
    struct outcome outcome = packet_play(&conversation, player, NULL, INT64_C(100000000));
    assert_unreached(outcome, "timed out", "UDP", dc->ports.cldap);
    assert_int_equal(packet_play(&conversation, player, NULL, INT64_C(5000000000)).kind,
                     OUTCOME_OK);
    assert_int_not_equal(server.last_port, port);
    conversation_reset(&conversation);
    assert_null(conversation.cldap);
    udp_server_stop(&server);
    dc_free(dc);
}

static void packet_without_an_answer(void **state)
{
    (void)state;
    struct dc *dc = loopback_dc();
    dc->ports.cldap = loopback_unused_port();
    struct outcome outcome = play(dc, 5000);
    assert_int_equal(outcome.kind, OUTCOME_FAILED);
    assert_unreached(outcome, "connection refused", "UDP", dc->ports.cldap);
    dc->options.generic_ldap = true;
    assert_int_equal(play(dc, 5000).kind, OUTCOME_NO_ANSWER);
    struct udp_server server = {.answer = NULL};
    udp_server_start(&server);
    dc->ports.cldap = server.port;
    assert_int_equal(play(dc, 100).kind, OUTCOME_NO_ANSWER);
    dc->options.generic_ldap = false;
    outcome = play(dc, 100);
    assert_int_equal(outcome.kind, OUTCOME_FAILED);
    assert_unreached(outcome, "timed out", "UDP", dc->ports.cldap);
    udp_server_stop(&server);
    dc_free(dc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(netlogon_reply_of_a_dc),
        cmocka_unit_test(netlogon_reply_cut_anywhere),
        cmocka_unit_test(netlogon_reply_with_address_and_next_site),
        cmocka_unit_test(netlogon_reply_that_is_none),
        cmocka_unit_test(netlogon_reply_with_the_longest_name),
        cmocka_unit_test(reply_datagram),
        cmocka_unit_test(reply_datagram_without_entry),
        cmocka_unit_test(reply_datagram_with_controls),
        cmocka_unit_test(ping_asks_as_specified),
        cmocka_unit_test(ping_is_sent_again),
        cmocka_unit_test(ping_of_strange_servers),
        cmocka_unit_test(packet_checks_who_answers),
        cmocka_unit_test(packet_reads_every_reply),
        cmocka_unit_test(packet_keeps_its_socket_after_success),
        cmocka_unit_test(packet_without_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
