/* SPDX-License-Identifier: Apache-2.0 */
/* SPNEGO tokens: golden bytes in both directions, truncated and flipped tokens, false lengths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include "protocols/auth/spnego.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tests/lib/bytes.h"

/* A server's answers as a DC sends them (tokens shortened). */
static const char incomplete_hex[] = "a120301ea0030a0101a10c060a2b06010401823702020aa2090407"
                                     "4e544c4d535350";
static const char completed_hex[] = "a11b3019a0030a0100a3120410"
                                    "01000000aabbccdd1122334400000000";
static void init_token(void **state)
{
    (void)state;
    static const uint8_t token[] = {0x4e, 0x54};
    uint8_t *out;
    size_t size;
    assert_int_equal(spnego_build_init(SPNEGO_NTLMSSP, token, sizeof token, &out, &size), 0);
    assert_bytes(out, size,
                 "6022 06062b0601050502 a018 3016 a00e 300c 060a2b06010401823702020a"
                 "a204 0402 4e54");
    free(out);
    assert_int_equal(spnego_build_init(SPNEGO_KERBEROS, token, sizeof token, &out, &size), 0);
    assert_bytes(out, size,
                 "6021 06062b0601050502 a017 3015 a00d 300b 06092a864886f712010202"
                 "a204 0402 4e54");
    free(out);
}

static void long_lengths(void **state)
{
    (void)state;
    static uint8_t token[40000];
    uint8_t *out;
    size_t size;
    assert_int_equal(spnego_build_init(SPNEGO_NTLMSSP, token, sizeof token, &out, &size), 0);
    assert_int_equal(size, sizeof token + 16 + 8 + 5 * 4);
    assert_bytes(out, 12, "60829c68 06062b0601050502");
    free(out);
    static uint8_t longer[70000];
    assert_int_equal(spnego_build_init(SPNEGO_NTLMSSP, longer, sizeof longer, &out, &size),
                     -EMSGSIZE);
}

static void response_token(void **state)
{
    (void)state;
    static const uint8_t token[] = {1, 2, 3}, mic[] = {4, 5};
    struct spnego_response response = {.state = SPNEGO_STATE_ABSENT,
                                       .mech = SPNEGO_NONE,
                                       .token = {token, sizeof token},
                                       .mech_list_mic = {mic, sizeof mic}};
    uint8_t *out;
    size_t size;
    assert_int_equal(spnego_build_response(&response, &out, &size), 0);
    assert_bytes(out, size, "a10f 300d a205 0403 010203 a304 0402 0405");
    free(out);
}

static void round_trip_of_all_fields(void **state)
{
    (void)state;
    static const uint8_t token[200] = {1}, mic[16] = {4};
    for (int mech = SPNEGO_NTLMSSP; mech <= SPNEGO_MS_KERBEROS; mech++) {
        struct spnego_response response = {.state = SPNEGO_REQUEST_MIC,
                                           .mech = (enum spnego_mech)mech,
                                           .token = {token, sizeof token},
                                           .mech_list_mic = {mic, sizeof mic}};
        struct spnego_response read;
        uint8_t *out;
        size_t size;
        assert_int_equal(spnego_build_response(&response, &out, &size), 0);
        assert_int_equal(spnego_parse_response(out, size, &read), 0);
        assert_int_equal(read.state, SPNEGO_REQUEST_MIC);
        assert_int_equal(read.mech, mech);
        assert_int_equal(read.token.size, sizeof token);
        assert_memory_equal(read.token.data, token, sizeof token);
        assert_int_equal(read.mech_list_mic.size, sizeof mic);
        assert_memory_equal(read.mech_list_mic.data, mic, sizeof mic);
        free(out);
    }
}

static void servers_answers(void **state)
{
    (void)state;
    uint8_t bytes[256];
    struct spnego_response response;
    size_t size = bytes_from_hex(incomplete_hex, bytes);
    assert_int_equal(spnego_parse_response(bytes, size, &response), 0);
    assert_int_equal(response.state, SPNEGO_ACCEPT_INCOMPLETE);
    assert_int_equal(response.mech, SPNEGO_NTLMSSP);
    assert_bytes(response.token.data, response.token.size, "4e544c4d535350");
    assert_null(response.mech_list_mic.data);
    size = bytes_from_hex(completed_hex, bytes);
    assert_int_equal(spnego_parse_response(bytes, size, &response), 0);
    assert_int_equal(response.state, SPNEGO_ACCEPT_COMPLETED);
    assert_int_equal(response.mech, SPNEGO_NONE);
    assert_null(response.token.data);
    assert_int_equal(response.mech_list_mic.size, 16);
}

static int try_response(const uint8_t *token, size_t size)
{
    struct spnego_response response;
    uint8_t *copy = bytes_exact(token, size);
    int rc = spnego_parse_response(copy, size, &response);
    if (rc == 0) {
        assert_true(response.token.size <= size && response.mech_list_mic.size <= size);
        assert_true(!response.token.data ||
                    (response.token.data >= copy &&
                     response.token.data + response.token.size <= copy + size));
    }
    free(copy);
    return rc;
}

static void cut_at_every_length(void **state)
{
    (void)state;
    uint8_t bytes[256];
    size_t size = bytes_from_hex(incomplete_hex, bytes);
    assert_int_equal(try_response(bytes, size), 0);
    for (size_t cut = 0; cut < size; cut++)
        assert_int_equal(try_response(bytes, cut), -EBADMSG);
}

/* Most flips give another valid message, so the result is either. The test fails when a decoder
 * reads out of bounds, which only a build with sanitizers detects. */
static void flipped_at_every_bit(void **state)
{
    (void)state;
    uint8_t bytes[256];
    size_t size = bytes_from_hex(incomplete_hex, bytes);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        int rc = try_response(bytes, size);
        assert_true(rc == 0 || rc == -EBADMSG);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

static void malformed(void **state)
{
    (void)state;
    static const char *const tokens[] = {
        "a180 3000 0000",                    /* indefinite length */
        "a1 85 0000000002 3000",             /* five length octets */
        "a1 84 ffffffff 3000",               /* 4 GiB */
        "a104 3002 a300",                    /* no octet string inside */
        "a107 3005 a003 0a0104",             /* negState 4 */
        "a107 3005 a003 0a0200",             /* negState cut */
        "a10c 300a a003 0a0101 a003 0a0100", /* negState twice */
        "a10c 300a a203 040101 a003 0a0100", /* out of order */
        "a107 3005 a403 040101",             /* unknown field */
        "a107 3005 a003 0a0101 00",          /* something after the end */
        "6107 3005 a003 0a0101",             /* another tag */
    };
    for (size_t i = 0; i < sizeof tokens / sizeof tokens[0]; i++) {
        uint8_t bytes[64];
        size_t size = bytes_from_hex(tokens[i], bytes);
        assert_int_equal(try_response(bytes, size), -EBADMSG);
    }
    assert_int_equal(try_response((const uint8_t *)"\xa1\x02\x30\x00", 4), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(init_token),           cmocka_unit_test(long_lengths),
        cmocka_unit_test(response_token),       cmocka_unit_test(round_trip_of_all_fields),
        cmocka_unit_test(servers_answers),      cmocka_unit_test(cut_at_every_length),
        cmocka_unit_test(flipped_at_every_bit), cmocka_unit_test(malformed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
