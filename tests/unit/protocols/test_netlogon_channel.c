/* SPDX-License-Identifier: Apache-2.0 */
/* The secure channel's arithmetic, with values recorded from a Samba DC and as a round trip. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/rpc/netlogon/netlogon_channel.h"
#include "tests/lib/bytes.h"

static void from_hex(const char *hex, uint8_t *out, size_t size)
{
    assert_int_equal(bytes_from_hex(hex, out), size);
}

static void keys_and_credentials(void **state)
{
    (void)state;
    struct netlogon_channel channel = {.challenged = true};
    uint8_t hash[16], server[8];
    from_hex("6a35ad0044738b7560dbb2e32664ed6b", hash, 16);
    from_hex("d2ab3821460d9763", channel.client_challenge, 8);
    from_hex("130aa09de019508a", channel.server_challenge, 8);
    netlogon_channel_compute(&channel, hash, server);
    assert_bytes(channel.session_key, 16, "6c617aca678b9fa2a8bb39f321f52d29");
    assert_bytes(channel.client_credential, 8, "9e57093847f7dbe1");
    assert_bytes(server, 8, "5f1b258a38b6b3f1");
}

/* The stored credential advances by the time, then by one for the server's answer. */
static void credential_chain(void **state)
{
    (void)state;
    struct netlogon_channel channel = {.authenticated = true};
    struct netlogon_authenticator sent, returned;
    from_hex("6c617aca678b9fa2a8bb39f321f52d29", channel.session_key, 16);
    from_hex("9e57093847f7dbe1", channel.client_credential, 8);
    /* The time sent, computed from the credentials before and after; the check adds one. */
    const uint32_t sent_at = UINT32_C(0xa316c36e) - 1 - UINT32_C(0x3809579e);
    netlogon_channel_authenticator(&channel, sent_at, &sent);
    assert_int_equal(sent.timestamp, sent_at);
    from_hex("229591dff2c677d8", returned.credential, 8);
    assert_int_equal(netlogon_channel_check(&channel, &returned), 0);
    assert_bytes(channel.client_credential, 8, "6ec316a347f7dbe1");
    /* A replay. */
    assert_int_equal(netlogon_channel_check(&channel, &returned), -EBADMSG);
    /* The carry out of the low half is lost (MS-NRPC 3.1.4.5). */
    from_hex("ffffffff47f7dbe1", channel.client_credential, 8);
    netlogon_channel_authenticator(&channel, 3, &sent);
    assert_bytes(channel.client_credential, 8, "0200000047f7dbe1");
}

static const char sealed_data[] =
    "af11652a6c0943563c01f895637bf75645740d0ad0a661268a8a000aa95c49db";
static const char sealed_token[] =
    "13001a00ffff0000 4dd6dcb82034a00b d38d9ae58e77bd9b "
    "864e466c3470ddd6 000000000000000000000000000000000000000000000000";

static void server_side(struct netlogon_security *security, uint8_t data[32], uint8_t token[56])
{
    *security = (struct netlogon_security){.sequence = 1};
    from_hex("6c617aca678b9fa2a8bb39f321f52d29", security->session_key, 16);
    from_hex(sealed_data, data, 32);
    from_hex(sealed_token, token, 56);
}

static void a_sealed_reply(void **state)
{
    (void)state;
    struct netlogon_security security;
    uint8_t data[32], token[56];
    server_side(&security, data, token);
    assert_int_equal(netlogon_unprotect(&security, true, data, 32, token, 56), 0);
    assert_int_equal(security.sequence, 2);
    /* The return authenticator of the chain above, level 1, the capabilities, status 0. */
    assert_bytes(data, 8, "229591dff2c677d8");
    assert_bytes(data + 12, 4, "01000000");
    assert_bytes(data + 20, 4, "00000000");
}

/* Any flipped bit in the data or the used part of the token, and any other sequence number, is
 * refused. */
static void tampering(void **state)
{
    (void)state;
    struct netlogon_security security;
    uint8_t data[32], token[56];
    for (size_t bit = 0; bit < (32 + 32) * 8; bit++) {
        server_side(&security, data, token);
        uint8_t *byte = bit < 256 ? &data[bit / 8] : &token[bit / 8 - 32];
        *byte ^= (uint8_t)(1 << bit % 8);
        assert_int_equal(netlogon_unprotect(&security, true, data, 32, token, 56), -EBADMSG);
    }
    server_side(&security, data, token);
    security.sequence = 3;
    assert_int_equal(netlogon_unprotect(&security, true, data, 32, token, 56), -EBADMSG);
    for (size_t size = 0; size < 32; size++) {
        server_side(&security, data, token);
        assert_int_equal(netlogon_unprotect(&security, true, data, 32, token, size), -EBADMSG);
    }
}

/* A PDU sent back to its sender is refused: the sequence number contains the direction. */
static void reflection(void **state)
{
    (void)state;
    struct netlogon_security sender = {.sequence = 4}, receiver = {.sequence = 4};
    uint8_t data[48] = "some stub data", token[NETLOGON_SIGNATURE_SIZE];
    memset(sender.session_key, 7, 16);
    memset(receiver.session_key, 7, 16);
    assert_int_equal(netlogon_protect(&sender, true, data, sizeof data, token), 0);
    assert_true(memcmp(data, "some stub data", 14) != 0);
    assert_bytes(token, 8, "13001a00ffff0000");
    assert_int_equal(netlogon_unprotect(&receiver, true, data, sizeof data, token, sizeof token),
                     -EBADMSG);
    assert_int_equal(netlogon_protect(&sender, false, data, sizeof data, token), 0);
    assert_bytes(token, 8, "1300ffffffff0000");
    assert_int_equal(sender.sequence, 6);
}

static void bind_tokens(void **state)
{
    (void)state;
    struct netlogon_channel channel = {.computer = (char[]){"STGM-0-1"},
                                       .domain = (char[]){"SAMDOM"}};
    uint8_t *token = NULL, answer[12] = {1};
    size_t size = 0;
    assert_int_equal(netlogon_bind_token(&channel, &token, &size), 0);
    assert_bytes(token, size, "0000000003000000 53414d444f4d00 5354474d2d302d3100");
    free(token);
    assert_int_equal(netlogon_bind_answer_check(answer, 12), 0);
    assert_int_equal(netlogon_bind_answer_check(answer, 7), -EBADMSG);
    answer[0] = 0;
    assert_int_equal(netlogon_bind_answer_check(answer, 12), -EBADMSG);
}

static void passwords(void **state)
{
    (void)state;
    struct netlogon_channel channel = {.authenticated = true};
    struct netlogon_ServerPasswordSet2_request first, second;
    char longest[258];
    assert_int_equal(netlogon_channel_encrypt_password(&channel, "secret", &first), 0);
    assert_int_equal(netlogon_channel_encrypt_password(&channel, "secret", &second), 0);
    /* Random bytes fill the buffer, so no two are equal, and the password is not visible. */
    assert_memory_not_equal(first.password, second.password, sizeof first.password);
    assert_null(memmem(first.password, sizeof first.password, "s\0e\0c\0r", 7));
    memset(longest, 'x', sizeof longest);
    longest[257] = '\0';
    assert_int_equal(netlogon_channel_encrypt_password(&channel, longest, &first), -EMSGSIZE);
    longest[256] = '\0';
    assert_int_equal(netlogon_channel_encrypt_password(&channel, longest, &first), 0);
    assert_int_equal(netlogon_channel_encrypt_password(&channel, "\xff", &first), -EILSEQ);
}

/* Another last character, of one or more bytes. */
static void other_passwords(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"secret", "secre2"}, {"2", "1"}, {"a\xc3\xa4", "a2"}, {"\xe2\x82\xac", "2"}};
    char *other;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(netlogon_other_password(rows[i][0], &other), 0);
        assert_string_equal(other, rows[i][1]);
        free(other);
    }
    assert_int_equal(netlogon_other_password("", &other), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_and_credentials),
        cmocka_unit_test(credential_chain),
        cmocka_unit_test(a_sealed_reply),
        cmocka_unit_test(tampering),
        cmocka_unit_test(reflection),
        cmocka_unit_test(bind_tokens),
        cmocka_unit_test(passwords),
        cmocka_unit_test(other_passwords),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
