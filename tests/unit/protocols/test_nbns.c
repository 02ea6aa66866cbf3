/* SPDX-License-Identifier: Apache-2.0 */
/* NBNS: the query and replies byte by byte; silence and refusal are not failures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "protocols/conversation.h"
#include "protocols/names/nbns.h"
#include "protocols/packet.h"
#include "tests/lib/bytes.h"
#include "tests/lib/servers/loopback.h"
#include "tests/lib/servers/udp_server.h"

/* SAMDOM<1c> in first level encoding: two letters per character. */
static const char query_hex[] =
    "1234 0100 0001 0000 0000 0000 20"
    "4644 4542 454e 4545 4550 454e 4341 4341 4341 4341 4341 4341 4341 4341 4341 424d 00 0020 0001";
static const char reply_hex[] =
    "1234 8500 0000 0001 0000 0000 20"
    "4644 4542 454e 4545 4550 454e 4341 4341 4341 4341 4341 4341 4341 4341 4341 424d 00 0020 0001"
    "00000000 0006 8000 7f580007";

static void query_is_as_specified(void **state)
{
    (void)state;
    uint8_t query[NBNS_QUERY_SIZE];
    assert_int_equal(nbns_query(0x1234, "samdom", query), 0);
    assert_bytes(query, sizeof query, query_hex);
    assert_int_equal(nbns_query(1, "FIFTEEN-LETTERS", query), 0);
    assert_int_equal(nbns_query(1, "SIXTEEN-LETTERS-", query), -EINVAL);
}

static int parse(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = bytes_exact(bytes, size);
    int result = nbns_reply_parse(copy, size);
    free(copy);
    return result;
}

static void replies(void **state)
{
    (void)state;
    uint8_t bytes[256];
    size_t size = bytes_from_hex(reply_hex, bytes);
    assert_int_equal(parse(bytes, size), 0);
    for (size_t cut = 0; cut < size; cut++)
        assert_int_equal(parse(bytes, cut), -EBADMSG);
    bytes[3] = 3; /* NAM_ERR */
    assert_int_equal(parse(bytes, size), -ENOENT);
    bytes[3] = 0;
    bytes[47] ^= 1; /* type */
    assert_int_equal(parse(bytes, size), -EBADMSG);
    bytes[47] ^= 1;
    bytes[2] = 0x05; /* a query */
    assert_int_equal(parse(bytes, size), -EBADMSG);
    size = bytes_from_hex("1234 8583 0000 0000 0000 0000", bytes);
    assert_int_equal(parse(bytes, size), -ENOENT);
    bytes[3] = 0x80;
    assert_int_equal(parse(bytes, size), -EBADMSG);
}

struct behaviour {
    unsigned from; /* first question that is answered; 0: none */
    const char *reply;
};

static size_t answer(void *context, unsigned nth, const uint8_t *question, size_t size,
                     uint8_t *reply)
{
    const struct behaviour *behaviour = context;
    if (size != NBNS_QUERY_SIZE || behaviour->from == 0 || nth < behaviour->from)
        return 0;
    size_t length = bytes_from_hex(behaviour->reply, reply);
    memcpy(reply, question, 2);
    return length;
}

static uint64_t no_random(void *state)
{
    (void)state;
    return UINT64_C(0x8765432100000000);
}

static struct outcome play(uint16_t port, int64_t timeout_ms)
{
    struct dc *dc = loopback_dc();
    dc->ports.nbns = port;
    dc->netbios_domain = strdup("SAMDOM");
    assert_non_null(dc->netbios_domain);
    struct conversation conversation = {
        .wire.waiter = wire_blocking_waiter(), .dc = dc, .random = no_random};
    conversation_init(&conversation);
    struct outcome outcome =
        packet_play(&conversation, packet_player_find("nbns", "0"), NULL, timeout_ms * 1000000);
    dc_free(dc);
    return outcome;
}

static struct outcome play_with(struct behaviour behaviour, unsigned *questions)
{
    struct udp_server server = {.answer = answer, .context = &behaviour};
    udp_server_start(&server);
    struct outcome outcome = play(server.port, 30000);
    udp_server_stop(&server);
    *questions = server.questions;
    return outcome;
}

static void packet_outcomes(void **state)
{
    (void)state;
    unsigned questions;
    assert_int_equal(play_with((struct behaviour){1, reply_hex}, &questions).kind, OUTCOME_OK);
    assert_int_equal(questions, 1);
    assert_int_equal(play_with((struct behaviour){2, reply_hex}, &questions).kind, OUTCOME_OK);
    assert_int_equal(questions, 2);
    struct outcome outcome =
        play_with((struct behaviour){1, "0000 8583 0000 0000 0000 0000"}, &questions);
    assert_int_equal(outcome.kind, OUTCOME_FAILED);
    assert_string_equal(outcome.cause, "name not found");
    outcome = play_with((struct behaviour){1, "0000 ffff ffff ffff ffff ffff 41"}, &questions);
    assert_int_equal(outcome.kind, OUTCOME_FAILED);
}

static void nobody_answers(void **state)
{
    (void)state;
    assert_int_equal(play(loopback_unused_port(), 30000).kind, OUTCOME_NO_ANSWER);
    unsigned questions;
    int64_t start = clock_now();
    assert_int_equal(play_with((struct behaviour){0, ""}, &questions).kind, OUTCOME_NO_ANSWER);
    int64_t took = clock_now() - start;
    assert_true(took >= INT64_C(3900000000) && took < INT64_C(6000000000));
    assert_int_equal(questions, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(query_is_as_specified),
        cmocka_unit_test(replies),
        cmocka_unit_test(packet_outcomes),
        cmocka_unit_test(nobody_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
