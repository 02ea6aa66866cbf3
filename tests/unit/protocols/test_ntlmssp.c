/* SPDX-License-Identifier: Apache-2.0 */
/* NTLMSSP against the example of MS-NLMP 4.2.4, and against truncated, flipped and false messages.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include "protocols/auth/ntlmssp.h"

#include <errno.h>
#include <nettle/arcfour.h>
#include <nettle/hmac.h>
#include <nettle/md5.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/bytes.h"

/* 4.2.4.3 CHALLENGE_MESSAGE */
static const char challenge_hex[] =
    "4e544c4d53535000 02000000 0c000c00 38000000 33828ae2 0123456789abcdef 0000000000000000"
    "24002400 44000000 0600701700 00000f 530065007200760065007200"
    "02000c00 44006f006d00610069006e00 01000c00 530065007200760065007200 00000000";

/* The same with a server's time (MsvAvTimestamp), which requires a MIC. */
static const char challenge_time_hex[] =
    "4e544c4d53535000 02000000 0c000c00 38000000 33828ae2 0123456789abcdef 0000000000000000"
    "30003000 44000000 0600701700 00000f 530065007200760065007200"
    "02000c00 44006f006d00610069006e00 01000c00 530065007200760065007200"
    "07000800 1122334455667700 00000000";

static const struct ntlmssp_random fixed = {
    .client_challenge = {0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa},
    .exported_session_key = {0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55,
                             0x55, 0x55, 0x55, 0x55},
};

static struct ntlmssp *new_context(const char *target_name)
{
    uint8_t hash[16];
    assert_int_equal(ntlmssp_nt_hash("Password", hash), 0);
    struct ntlmssp_identity identity = {.user = "User",
                                        .domain = "Domain",
                                        .workstation = "COMPUTER",
                                        .nt_hash = hash,
                                        .target_name = target_name,
                                        .random = &fixed};
    struct ntlmssp *ntlmssp = NULL;
    assert_int_equal(ntlmssp_new(&ntlmssp, &identity, true, true), 0);
    return ntlmssp;
}

/* Runs the whole exchange; the caller frees message. */
static struct ntlmssp *authenticated(const char *hex, const char *target_name, uint8_t **message,
                                     size_t *size)
{
    uint8_t challenge[512];
    size_t challenge_size = bytes_from_hex(hex, challenge);
    struct ntlmssp *ntlmssp = new_context(target_name);
    uint8_t *negotiate;
    size_t negotiate_size;
    assert_int_equal(ntlmssp_negotiate(ntlmssp, &negotiate, &negotiate_size), 0);
    assert_bytes(negotiate, negotiate_size,
                 "4e544c4d53535000 01000000 378208e2 00000000 28000000 00000000 28000000"
                 "0a00614a0000000f");
    free(negotiate);
    assert_int_equal(ntlmssp_authenticate(ntlmssp, challenge, challenge_size, message, size), 0);
    return ntlmssp;
}

static uint32_t get32(const uint8_t *from)
{
    return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

/* The target of a security buffer in an AUTHENTICATE_MESSAGE. */
static const uint8_t *field(const uint8_t *message, size_t size, size_t at, size_t *length)
{
    *length = get32(message + at) & 0xffff;
    size_t offset = get32(message + at + 4);
    assert_true(offset <= size && *length <= size - offset);
    return message + offset;
}

static void assert_field(const uint8_t *message, size_t size, size_t at, const char *hex)
{
    size_t length;
    const uint8_t *data = field(message, size, at, &length);
    assert_bytes(data, length, hex);
}

static void hashes_of_4_2_4_1(void **state)
{
    (void)state;
    uint8_t hash[16], ntowf[16];
    assert_int_equal(ntlmssp_nt_hash("Password", hash), 0);
    assert_bytes(hash, 16, "a4f49c406510bdcab6824ee7c30fd852");
    assert_int_equal(ntlmssp_ntowf_v2(hash, "User", "Domain", ntowf), 0);
    assert_bytes(ntowf, 16, "0c868a403bfd7a93a3001ef22ef02e3f");
    assert_int_equal(ntlmssp_nt_hash("\xff", hash), -EILSEQ);
}

static void user_name_is_upper_case_beyond_ascii(void **state)
{
    (void)state;
    uint8_t hash[16] = {1}, lower[16], upper[16];
    assert_int_equal(ntlmssp_ntowf_v2(hash, "jürgen.ßя", "D", lower), 0);
    assert_int_equal(ntlmssp_ntowf_v2(hash, "JÜRGEN.ßЯ", "D", upper), 0);
    assert_memory_equal(lower, upper, 16);
}

static void messages_of_4_2_4_3(void **state)
{
    (void)state;
    uint8_t *message, key[16];
    size_t size;
    struct ntlmssp *ntlmssp = authenticated(challenge_hex, NULL, &message, &size);
    assert_bytes(message, 12, "4e544c4d53535000 03000000");
    assert_field(message, size, 12, "86c35097ac9cec102554764a57cccc19aaaaaaaaaaaaaaaa");
    assert_field(message, size, 20,
                 "68cd0ab851e51c96aabc927bebef6a1c 0101000000000000 0000000000000000"
                 "aaaaaaaaaaaaaaaa 00000000 02000c0044006f006d00610069006e00"
                 "01000c00530065007200760065007200 00000000 00000000");
    assert_field(message, size, 28, "44006f006d00610069006e00");
    assert_field(message, size, 36, "5500730065007200");
    assert_field(message, size, 44, "43004f004d0050005500540045005200");
    assert_field(message, size, 52, "c5dad2544fc9799094ce1ce90bc9d03e");
    assert_false(ntlmssp_has_mic(ntlmssp));
    ntlmssp_session_key(ntlmssp, key);
    assert_memory_equal(key, fixed.exported_session_key, 16);
    free(message);
    ntlmssp_free(ntlmssp);
}

static void seal_and_sign_of_4_2_4_4(void **state)
{
    (void)state;
    uint8_t *message, signature[16], text[18];
    size_t size;
    struct ntlmssp *ntlmssp = authenticated(challenge_hex, NULL, &message, &size);
    bytes_from_hex("50006c00610069006e007400650078007400", text);
    ntlmssp_seal(ntlmssp, text, sizeof text, text, sizeof text, signature);
    assert_bytes(text, sizeof text, "54e50165bf1936dc996020c1811b0f06fb5f");
    assert_bytes(signature, 16, "010000007fb38ec5c55d497600000000");
    bytes_from_hex("160871b730ba74e946c453d7465b54278dd0", text);
    bytes_from_hex("01000000b298b847ce7c580700000000", signature);
    assert_int_equal(ntlmssp_unseal(ntlmssp, text, sizeof text, text, sizeof text, signature), 0);
    assert_bytes(text, sizeof text, "50006c00610069006e007400650078007400");
    free(message);
    ntlmssp_free(ntlmssp);
}

/* After a reset the RC4 state is that of the first message, but sequence numbers continue: only
 * checksum and number differ. */
static void reset_keeps_sequence_numbers(void **state)
{
    (void)state;
    uint8_t *message, first[16], second[16], text[18];
    size_t size;
    struct ntlmssp *ntlmssp = authenticated(challenge_hex, NULL, &message, &size);
    memset(text, 0, sizeof text);
    ntlmssp_seal(ntlmssp, text, sizeof text, text, sizeof text, first);
    uint8_t once[18];
    memcpy(once, text, sizeof once);
    ntlmssp_reset_crypto(ntlmssp);
    memset(text, 0, sizeof text);
    ntlmssp_seal(ntlmssp, text, sizeof text, text, sizeof text, second);
    assert_memory_equal(once, text, sizeof once);
    assert_int_equal(get32(first + 12), 0);
    assert_int_equal(get32(second + 12), 1);
    free(message);
    ntlmssp_free(ntlmssp);
}

static void every_flipped_bit_of_a_signature_is_seen(void **state)
{
    (void)state;
    uint8_t *message, text[18], signature[16];
    size_t size;
    for (unsigned bit = 0; bit < 8 * (sizeof text + sizeof signature); bit++) {
        struct ntlmssp *ntlmssp = authenticated(challenge_hex, NULL, &message, &size);
        bytes_from_hex("160871b730ba74e946c453d7465b54278dd0", text);
        bytes_from_hex("01000000b298b847ce7c580700000000", signature);
        if (bit < 8 * sizeof text)
            text[bit / 8] ^= (uint8_t)(1u << bit % 8);
        else
            signature[bit / 8 - sizeof text] ^= (uint8_t)(1u << bit % 8);
        assert_int_equal(ntlmssp_unseal(ntlmssp, text, sizeof text, text, sizeof text, signature),
                         -EBADMSG);
        free(message);
        ntlmssp_free(ntlmssp);
    }
}

static void time_calls_for_a_mic(void **state)
{
    (void)state;
    uint8_t *message, challenge[512], mic[16], zeros[24] = {0};
    size_t size, length, challenge_size = bytes_from_hex(challenge_time_hex, challenge);
    struct ntlmssp *ntlmssp = authenticated(challenge_time_hex, "cifs/a", &message, &size);
    assert_true(ntlmssp_has_mic(ntlmssp));
    const uint8_t *lm = field(message, size, 12, &length);
    assert_int_equal(length, 24);
    assert_memory_equal(lm, zeros, 24);
    const uint8_t *nt = field(message, size, 20, &length);
    assert_bytes(nt + 16, length - 16,
                 "0101000000000000 1122334455667700 aaaaaaaaaaaaaaaa 00000000"
                 "02000c0044006f006d00610069006e00 01000c00530065007200760065007200"
                 "07000800 1122334455667700 06000400 02000000"
                 "0a001000 00000000000000000000000000000000"
                 "09000c00 63006900660073002f006100 00000000 00000000");
    memcpy(mic, message + 72, 16);
    memset(message + 72, 0, 16);
    uint8_t negotiate[40], expected[16];
    bytes_from_hex("4e544c4d53535000 01000000 378208e2 00000000 28000000 00000000 28000000"
                   "0a00614a0000000f",
                   negotiate);
    struct hmac_md5_ctx context;
    hmac_md5_set_key(&context, 16, fixed.exported_session_key);
    hmac_md5_update(&context, sizeof negotiate, negotiate);
    hmac_md5_update(&context, challenge_size, challenge);
    hmac_md5_update(&context, size, message);
    hmac_md5_digest(&context, 16, expected);
    assert_memory_equal(mic, expected, 16);
    free(message);
    ntlmssp_free(ntlmssp);
}

static int try_challenge(const uint8_t *challenge, size_t size)
{
    uint8_t *copy = bytes_exact(challenge, size), *message = NULL;
    size_t message_size;
    struct ntlmssp *ntlmssp = new_context("cifs/a");
    int rc = ntlmssp_authenticate(ntlmssp, copy, size, &message, &message_size);
    if (rc == 0)
        free(message);
    ntlmssp_free(ntlmssp);
    free(copy);
    return rc;
}

static void cut_at_every_length(void **state)
{
    (void)state;
    uint8_t challenge[512];
    size_t size = bytes_from_hex(challenge_time_hex, challenge);
    assert_int_equal(try_challenge(challenge, size), 0);
    for (size_t cut = 0; cut < size; cut++)
        assert_int_equal(try_challenge(challenge, cut), -EBADMSG);
}

/* Most flips give another valid message, so the result is either. The test fails when a decoder
 * reads out of bounds, which only a build with sanitizers detects. */
static void flipped_at_every_bit(void **state)
{
    (void)state;
    uint8_t challenge[512];
    size_t size = bytes_from_hex(challenge_time_hex, challenge);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        challenge[bit / 8] ^= (uint8_t)(1u << bit % 8);
        int rc = try_challenge(challenge, size);
        assert_true(rc == 0 || rc == -EBADMSG || rc == -EOPNOTSUPP);
        challenge[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

static void lying_lengths(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint32_t value;
    } lies[] = {
        {40, 0xffffffff}, /* target info longer than the message */
        {44, 0xffffffff}, /* ... and far beyond it */
        {44, 0x00000073}, /* ... across its end */
        {70, 0x0000ffff}, /* an AV pair longer than the rest */
        {102, 0x00000007} /* a time of 7 bytes */
    };
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        uint8_t challenge[512];
        size_t size = bytes_from_hex(challenge_time_hex, challenge);
        challenge[lies[i].at] = (uint8_t)lies[i].value;
        challenge[lies[i].at + 1] = (uint8_t)(lies[i].value >> 8);
        if (lies[i].at == 44) {
            challenge[46] = (uint8_t)(lies[i].value >> 16);
            challenge[47] = (uint8_t)(lies[i].value >> 24);
        }
        assert_int_equal(try_challenge(challenge, size), -EBADMSG);
    }
}

/* A server without sealing, NTLM, UTF-16 or extended session security is refused. */
static void refused_flags(void **state)
{
    (void)state;
    static const uint32_t needed[] = {0x20, 0x10, 0x200, 0x1, 0x80000};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        uint8_t challenge[512];
        size_t size = bytes_from_hex(challenge_hex, challenge);
        for (unsigned byte = 0; byte < 4; byte++)
            challenge[20 + byte] &= (uint8_t) ~(needed[i] >> 8 * byte);
        assert_int_equal(try_challenge(challenge, size), -EOPNOTSUPP);
    }
}

static void without_target_info(void **state)
{
    (void)state;
    uint8_t challenge[512];
    bytes_from_hex(challenge_hex, challenge);
    challenge[22] &= 0x7f; /* NTLMSSP_NEGOTIATE_TARGET_INFO */
    assert_int_equal(try_challenge(challenge, 32), 0);
}

/* The server's MsvAvFlags are returned once, with the MIC bit. */
static void flags_of_the_server(void **state)
{
    (void)state;
    static const char hex[] =
        "4e544c4d53535000 02000000 0c000c00 38000000 33828ae2 0123456789abcdef 0000000000000000"
        "28002800 44000000 0600701700 00000f 530065007200760065007200"
        "02000c00 44006f006d00610069006e00 06000400 01000000 07000800 1122334455667700 00000000";
    uint8_t *message;
    size_t size, length;
    struct ntlmssp *ntlmssp = authenticated(hex, NULL, &message, &size);
    const uint8_t *nt = field(message, size, 20, &length);
    assert_bytes(nt + 16 + 28, length - 16 - 28,
                 "02000c0044006f006d00610069006e00 07000800 1122334455667700"
                 "06000400 03000000 00000000 00000000");
    free(message);
    ntlmssp_free(ntlmssp);
}

/* Only offered features are used (2.2.2.5): never OEM strings; weak keys and no key exchange if the
 * server offers nothing better (3.4.5.3, 3.4.4.2). */
static void weaker_servers(void **state)
{
    (void)state;
    static const char magic[] = "session key to client-to-server signing key magic constant";
    static const char seal_magic[] = "session key to client-to-server sealing key magic constant";
    static const struct {
        uint8_t gone; /* of the flags' highest byte: KEY_EXCH 0x40, 128 0x20, 56 0x80 */
        size_t key_size;
    } rows[] = {{0x00, 16}, {0x40, 16}, {0x20, 7}, {0xa0, 5}, {0xe0, 5}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t challenge[512], *message, key[16], digest[16], sign_key[16], seal_key[16];
        uint8_t signature[16], expected[16] = {1}, data[8] = "plain";
        size_t message_size, size = bytes_from_hex(challenge_hex, challenge);
        challenge[20] |= 0x02; /* NTLM_NEGOTIATE_OEM beside UNICODE */
        challenge[23] = (uint8_t)(challenge[23] & ~rows[i].gone);
        struct ntlmssp *ntlmssp = new_context(NULL);
        assert_int_equal(ntlmssp_authenticate(ntlmssp, challenge, size, &message, &message_size),
                         0);
        uint32_t flags = get32(message + 60);
        assert_int_equal(flags & 0x03, 0x01);
        assert_int_equal(flags >> 24 & rows[i].gone, 0);
        bool exchange = flags >> 24 & 0x40;
        ntlmssp_session_key(ntlmssp, key);
        assert_int_equal(memcmp(key, fixed.exported_session_key, 16) == 0, exchange);
        assert_int_equal(get32(message + 52) & 0xffff, exchange ? 16 : 0);
        struct md5_ctx md5;
        md5_init(&md5);
        md5_update(&md5, 16, key);
        md5_update(&md5, sizeof magic, (const uint8_t *)magic);
        md5_digest(&md5, 16, sign_key);
        md5_update(&md5, rows[i].key_size, key);
        md5_update(&md5, sizeof seal_magic, (const uint8_t *)seal_magic);
        md5_digest(&md5, 16, seal_key);
        struct hmac_md5_ctx hmac;
        hmac_md5_set_key(&hmac, 16, sign_key);
        hmac_md5_update(&hmac, 4, expected + 12);
        hmac_md5_update(&hmac, sizeof data, data);
        hmac_md5_digest(&hmac, 16, digest);
        memcpy(expected + 4, digest, 8);
        struct arcfour_ctx rc4;
        arcfour_set_key(&rc4, 16, seal_key);
        uint8_t sealed[8];
        arcfour_crypt(&rc4, sizeof data, sealed, data);
        if (exchange)
            arcfour_crypt(&rc4, 8, expected + 4, expected + 4);
        ntlmssp_seal(ntlmssp, data, sizeof data, data, sizeof data, signature);
        assert_memory_equal(data, sealed, sizeof data);
        assert_memory_equal(signature, expected, 16);
        free(message);
        ntlmssp_free(ntlmssp);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_of_4_2_4_1),
        cmocka_unit_test(user_name_is_upper_case_beyond_ascii),
        cmocka_unit_test(messages_of_4_2_4_3),
        cmocka_unit_test(seal_and_sign_of_4_2_4_4),
        cmocka_unit_test(reset_keeps_sequence_numbers),
        cmocka_unit_test(every_flipped_bit_of_a_signature_is_seen),
        cmocka_unit_test(time_calls_for_a_mic),
        cmocka_unit_test(cut_at_every_length),
        cmocka_unit_test(flipped_at_every_bit),
        cmocka_unit_test(lying_lengths),
        cmocka_unit_test(refused_flags),
        cmocka_unit_test(without_target_info),
        cmocka_unit_test(flags_of_the_server),
        cmocka_unit_test(weaker_servers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
