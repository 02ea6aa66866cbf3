/* SPDX-License-Identifier: Apache-2.0 */
/* Decoders of SMB2 replies, on replies of a Samba 4.17 DC (tshark dissects them alike), truncated
 * at every length and with every bit flipped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "base/little_endian.h"
#include "base/utf16.h"
#include "protocols/auth/spnego.h"
#include "protocols/smb2/smb2_file.h"
#include "protocols/smb2/smb2_negotiate.h"
#include "protocols/smb2/smb2_session.h"
#include "protocols/smb2/smb2_trace.h"
#include "protocols/smb2/smb2_tree.h"
#include "protocols/trace.h"
#include "tests/lib/bytes.h"

static const char negotiate_hex[] =
    "fe534d4240000000000000000000010001000000000000000000000000000000000000000000000000000000"
    "0000000000000000000000000000000000000000410003001103030064633100000000000000000000000000"
    "07000000000080000000800000008000f2d63136c480dd01000000000000000080006000e0000000605e0606"
    "2b0601050502a0543052a024302206092a864882f71201020206092a864886f712010202060a2b0601040182"
    "3702020aa32a3028a0261b246e6f745f646566696e65645f696e5f5246433431373840706c656173655f6967"
    "6e6f72650100260000000000010020000100fb0dd7903e9506744e2e5351f7c75403be18778fd2eaaaad2007"
    "167eb30530f2000002000400000000000100020000000000080004000000000001000200";
static const char setup_hex[] =
    "fe534d4240000100160000c0010001000100000000000000010000000000000000000000000000007ff63868"
    "0000000000000000000000000000000000000000090000004800e500a181e23081dfa0030a0101a10c060a2b"
    "06010401823702020aa281c90481c64e544c4d53535000020000000c000c0038000000158289e290ad66b1a4"
    "658ff800000000000000008200820044000000060100000000000f530041004d0044004f004d0002000c0053"
    "0041004d0044004f004d000100060044004300310004002400730061006d0064006f006d002e006500780061"
    "006d0070006c0065002e0063006f006d0003002c006400630031002e00730061006d0064006f006d002e0065"
    "00780061006d0070006c0065002e0063006f006d0007000800aa968e39c480dd0100000000";
static const char tree_hex[] =
    "fe534d42400001000000000003000100090000000000000003000000000000000000000049175c7c770acb46"
    "0000000092b8bc774163731a1b7a1748280c653f100002000000000000000000a9001f00";
static const char created_hex[] =
    "fe534d42400001000000000005000100090000000000000053000000000000000000000078ff43aabe5d56f4"
    "00000000c95d7f2c4e8526863f4d0652a5fa25c15900ff0001000000811a51fcbf80dd01e74a26a1c380dd01"
    "811a51fcbf80dd01811a51fcbf80dd01002000000000000014000000000000008000000000000000b3932ed2"
    "000000006f1ba74500000000980000004c0000000000000010000400000018003400000052714c7300000000"
    "e53e1863b52c8e3f902a27019485d9cc01000000000000000000000000000000000000000000000000000000"
    "0000000001000000";
static const char read_hex[] =
    "fe534d424000010000000000080000000b0000000000000005000000000000000500000000000000ab4be966"
    "000000002a6e0c8fb00939dab3cc6544cf449c2c110050001400000000000000000000005b47656e6572616c"
    "5d0d0a56657273696f6e3d30";
static const char written_hex[] =
    "fe534d424000010000000000090000000b00000000000000050000000000000005000000000000002840de8d"
    "00000000c2960a4f66eb137adf470447d1b3800111000000001000000000000000000000";
static const char referral_hex[] =
    "fe534d4240000100000000000b0001000900000000000000040000000000000000000000294d3146d0f59376"
    "00000000a6c74aba1c244072fbd22889d415a7ec3100000094010600ffffffffffffffffffffffffffffffff"
    "700000000000000070000000d400000000000000000000003400010002000000040022000000040084030000"
    "220058008e00000000000000000000000000000000005c00730061006d0064006f006d002e00650078006100"
    "6d0070006c0065002e0063006f006d005c0073007900730076006f006c0000005c00730061006d0064006f00"
    "6d002e006500780061006d0070006c0065002e0063006f006d005c0073007900730076006f006c0000005c00"
    "6400630031002e00730061006d0064006f006d002e006500780061006d0070006c0065002e0063006f006d00"
    "5c0073007900730076006f006c000000";
static const char info_hex[] =
    "fe534d4240000100000000001000010009000000000000000500000000000000000000006757531c6f5010db"
    "00000000ce5061a8d15797cc04e9aed148ad3e1e09004800fa000000811a51fcbf80dd01e74a26a1c380dd01"
    "811a51fcbf80dd01811a51fcbf80dd0180000000000000000020000000000000140000000000000001000000"
    "000000006322a70000000000000000008900120000000000000000008000000000000000960000005c007300"
    "61006d0064006f006d002e006500780061006d0070006c0065002e0063006f006d005c0050006f006c006900"
    "63006900650073005c007b00330031004200320046003300340030002d0030003100360044002d0031003100"
    "440032002d0039003400350046002d003000300043003000340046004200390038003400460039007d005c00"
    "4700500054002e0049004e004900";
static const char listing_hex[] =
    "fe534d4240000100000000000e00010009000000000000001c000000000000000000000078ff43aabe5d56f4"
    "00000000c5d2c58daa32c61095299d2bd81394f509004800ac0100004800000000000000242251fcbf80dd01"
    "c89e8adbc180dd01242251fcbf80dd01242251fcbf80dd010000000000000000000000000000000010000000"
    "020000002e0000000000000048000000000000009bbc50fcbf80dd01c89e8adbc180dd019bbc50fcbf80dd01"
    "9bbc50fcbf80dd010000000000000000000000000000000010000000040000002e002e000000000090000000"
    "00000000242251fcbf80dd01385c8ffcbf80dd01242251fcbf80dd01242251fcbf80dd010000000000000000"
    "0000000000000000100000004c0000007b00330031004200320046003300340030002d003000310036004400"
    "2d0031003100440032002d0039003400350046002d0030003000430030003400460042003900380034004600"
    "39007d00000000000000000000000000443051fcbf80dd016dc68efcbf80dd01443051fcbf80dd01443051fc"
    "bf80dd0100000000000000000000000000000000100000004c0000007b003600410043003100370038003600"
    "43002d0030003100360046002d0031003100440032002d0039003400350046002d0030003000430030003400"
    "46004200390038003400460039007d00";

static struct smb2_reply load(const char *hex, uint8_t *bytes)
{
    return (struct smb2_reply){.message = bytes, .size = bytes_from_hex(hex, bytes)};
}

static void negotiate(void **state)
{
    (void)state;
    uint8_t bytes[1024];
    struct smb2_reply reply = load(negotiate_hex, bytes);
    struct smb2_negotiated negotiated;
    assert_int_equal(smb2_negotiate_decode(&reply, &negotiated), 0);
    assert_int_equal(negotiated.dialect, 0x0311);
    assert_int_equal(negotiated.security_mode, 3);
    assert_int_equal(negotiated.capabilities, 7);
    assert_int_equal(negotiated.max_transact, 8 << 20);
    assert_int_equal(negotiated.max_read, 8 << 20);
    assert_int_equal(negotiated.max_write, 8 << 20);
    assert_int_equal(negotiated.cipher, SMB2_CIPHER_AES128_GCM);
    assert_int_equal(negotiated.signing, SMB2_SIGNING_AES_GMAC);
    assert_int_equal(negotiated.token.data[0], 0x60); /* NegTokenInit2 */
    assert_int_equal(negotiated.token.data[1] + 2, negotiated.token.size);
}

static void session_setup(void **state)
{
    (void)state;
    uint8_t bytes[1024];
    struct smb2_reply reply = load(setup_hex, bytes);
    struct smb2_setup setup;
    struct smb2_header header;
    struct spnego_response response;
    assert_int_equal(smb2_header_decode(&reply, &header), 0);
    assert_int_equal(header.status, 0xc0000016);
    assert_int_equal(header.command, SMB2_SESSION_SETUP);
    assert_int_equal(header.session_id, 0x6838f67f);
    assert_int_equal(smb2_session_setup_decode(&reply, &setup), 0);
    assert_int_equal(setup.flags, 0);
    assert_int_equal(spnego_parse_response(setup.token.data, setup.token.size, &response), 0);
    assert_int_equal(response.state, SPNEGO_ACCEPT_INCOMPLETE);
    assert_int_equal(response.mech, SPNEGO_NTLMSSP);
    assert_memory_equal(response.token.data, "NTLMSSP\0\2\0\0", 11);
}

static void tree_connect(void **state)
{
    (void)state;
    uint8_t bytes[1024];
    struct smb2_reply reply = load(tree_hex, bytes);
    struct smb2_tree_connected connected;
    assert_int_equal(smb2_tree_connect_decode(&reply, &connected), 0);
    assert_int_equal(connected.share_type, 2);
    assert_int_equal(connected.share_flags, 0);
}

static void create(void **state)
{
    (void)state;
    uint8_t bytes[1024];
    struct smb2_reply reply = load(created_hex, bytes);
    struct smb2_created created;
    assert_int_equal(smb2_create_decode(&reply, &created), 0);
    assert_int_equal(created.oplock, SMB2_OPLOCK_LEASE);
    assert_int_equal(created.end_of_file, 20);
    assert_bytes(created.file_id, sizeof created.file_id, "b3932ed2000000006f1ba74500000000");
}

static void read_and_write(void **state)
{
    (void)state;
    uint8_t bytes[1024];
    struct smb2_reply reply = load(read_hex, bytes);
    struct smb2_slice data;
    uint32_t written;
    assert_int_equal(smb2_read_decode(&reply, &data), 0);
    assert_int_equal(data.size, 20);
    assert_memory_equal(data.data, "[General]\r\nVersion=0", 20);
    reply = load(written_hex, bytes);
    assert_int_equal(smb2_write_decode(&reply, &written), 0);
    assert_int_equal(written, 4096);
}

static void dfs_referral(void **state)
{
    (void)state;
    uint8_t bytes[1024];
    struct smb2_reply reply = load(referral_hex, bytes);
    struct smb2_slice data;
    unsigned count;
    assert_int_equal(smb2_ioctl_decode(&reply, &data), 0);
    assert_int_equal(smb2_dfs_referrals_decode(data.data, data.size, &count), 0);
    assert_int_equal(count, 1);
}

static void query_info(void **state)
{
    (void)state;
    uint8_t bytes[1024];
    struct smb2_reply reply = load(info_hex, bytes);
    struct smb2_slice data;
    assert_int_equal(smb2_query_decode(&reply, &data), 0);
    assert_int_equal(data.size, 250);
}

static void query_directory(void **state)
{
    (void)state;
    static const char *const names[] = {".", "..", "{31B2F340-016D-11D2-945F-00C04FB984F9}",
                                        "{6AC1786C-016F-11D2-945F-00C04FB984F9}"};
    uint8_t bytes[1024];
    struct smb2_reply reply = load(listing_hex, bytes);
    struct smb2_slice data;
    struct smb2_entry entry;
    size_t at = 0;
    assert_int_equal(smb2_query_decode(&reply, &data), 0);
    for (size_t i = 0; i < 4; i++) {
        char *name;
        assert_int_equal(smb2_entry_next(data.data, data.size, &at, &entry), 1);
        assert_int_equal(entry.attributes, SMB2_ATTRIBUTE_DIRECTORY);
        assert_int_equal(utf16le_to_utf8(entry.name.data, entry.name.size, &name), 0);
        assert_string_equal(name, names[i]);
        free(name);
    }
    assert_int_equal(smb2_entry_next(data.data, data.size, &at, &entry), 0);
}

static int decode_negotiate(const struct smb2_reply *reply)
{
    struct smb2_negotiated negotiated;
    return smb2_negotiate_decode(reply, &negotiated);
}

static int decode_setup(const struct smb2_reply *reply)
{
    struct smb2_setup setup;
    return smb2_session_setup_decode(reply, &setup);
}

static int decode_tree(const struct smb2_reply *reply)
{
    struct smb2_tree_connected connected;
    return smb2_tree_connect_decode(reply, &connected);
}

static int decode_created(const struct smb2_reply *reply)
{
    struct smb2_created created;
    return smb2_create_decode(reply, &created);
}

static int decode_read(const struct smb2_reply *reply)
{
    struct smb2_slice data;
    return smb2_read_decode(reply, &data);
}

static int decode_written(const struct smb2_reply *reply)
{
    uint32_t written;
    return smb2_write_decode(reply, &written);
}

static int decode_ioctl(const struct smb2_reply *reply)
{
    struct smb2_slice data;
    unsigned count;
    int rc = smb2_ioctl_decode(reply, &data);
    return rc ? rc : smb2_dfs_referrals_decode(data.data, data.size, &count);
}

static int decode_info(const struct smb2_reply *reply)
{
    struct smb2_slice data;
    return smb2_query_decode(reply, &data);
}

static int decode_listing(const struct smb2_reply *reply)
{
    struct smb2_slice data;
    struct smb2_entry entry;
    size_t at = 0;
    int rc = smb2_query_decode(reply, &data);
    while (rc == 0 && (rc = smb2_entry_next(data.data, data.size, &at, &entry)) == 1)
        rc = 0;
    return rc;
}

static const struct {
    const char *hex;
    int (*decode)(const struct smb2_reply *reply);
} replies[] = {
    {negotiate_hex, decode_negotiate}, {setup_hex, decode_setup}, {tree_hex, decode_tree},
    {created_hex, decode_created},     {read_hex, decode_read},   {written_hex, decode_written},
    {referral_hex, decode_ioctl},      {info_hex, decode_info},   {listing_hex, decode_listing},
};
enum { REPLIES = sizeof replies / sizeof replies[0] };

static int decode_exact(size_t i, const uint8_t *bytes, size_t size)
{
    uint8_t *copy = bytes_exact(bytes, size);
    struct smb2_reply reply = {.message = copy, .size = size};
    int rc = replies[i].decode(&reply);
    free(copy);
    return rc;
}

static void cut_at_every_length(void **state)
{
    (void)state;
    for (size_t i = 0; i < REPLIES; i++) {
        uint8_t bytes[1024];
        size_t size = bytes_from_hex(replies[i].hex, bytes);
        assert_int_equal(decode_exact(i, bytes, size), 0);
        for (size_t cut = 0; cut < size; cut++)
            assert_int_equal(decode_exact(i, bytes, cut), -EBADMSG);
    }
}

/* A header has its own size, and data is after the fixed part of a body. */
static void lying_places(void **state)
{
    (void)state;
    uint8_t bytes[1024];
    struct smb2_header header;
    struct smb2_slice data;
    struct smb2_reply reply = load(read_hex, bytes);
    uint8_t *offset = bytes + SMB2_HEADER_SIZE + 2;
    assert_int_equal(*offset, 80);
    for (int at = 0; at < 80; at++) {
        *offset = (uint8_t)at;
        assert_int_equal(smb2_read_decode(&reply, &data), -EBADMSG);
    }
    bytes[4]++;
    assert_int_equal(smb2_header_decode(&reply, &header), -EBADMSG);
}

/* MaxTransactSize, MaxReadSize and MaxWriteSize: each at least 4,096. */
static void small_sizes(void **state)
{
    (void)state;
    uint8_t bytes[1024];
    struct smb2_negotiated negotiated;
    for (size_t at = 28; at <= 36; at += 4) {
        struct smb2_reply reply = load(negotiate_hex, bytes);
        le_put32(bytes + SMB2_HEADER_SIZE + at, 4096);
        assert_int_equal(smb2_negotiate_decode(&reply, &negotiated), 0);
        le_put32(bytes + SMB2_HEADER_SIZE + at, 4095);
        assert_int_equal(smb2_negotiate_decode(&reply, &negotiated), -EBADMSG);
    }
}

/* Most flips give another valid message, so the result is either. The test fails when a decoder
 * reads out of bounds, which only a build with sanitizers detects. */
static void flipped_at_every_bit(void **state)
{
    (void)state;
    for (size_t i = 0; i < REPLIES; i++) {
        uint8_t bytes[1024];
        size_t size = bytes_from_hex(replies[i].hex, bytes);
        for (size_t bit = 0; bit < 8 * size; bit++) {
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
            int rc = decode_exact(i, bytes, size);
            assert_true(rc == 0 || rc == -EBADMSG);
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    }
}

static void the_trace_names_calls_and_statuses(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    smb2_trace("STGU-0-1", SMB2_CREATE, 136, 152, 0); /* trace_to() comes later */
    trace_to(out);
    smb2_trace("STGU-0-1", SMB2_CREATE, 136, 152, 0xc0000034);
    smb2_trace(NULL, SMB2_OPLOCK_BREAK, 88, 73, 0xc0000203);
    smb2_trace(NULL, SMB2_NEGOTIATE, 88, 73, 0xdeadbeef);
    smb2_trace(NULL, (enum smb2_command)19, 88, 73, 0);
    trace_to(NULL);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(
        text, "STGU-0-1: smb2 CREATE: 136 bytes sent, 152 received, "
              "NT_STATUS_OBJECT_NAME_NOT_FOUND\n"
              "smb2 OPLOCK_BREAK: 88 bytes sent, 73 received, NT_STATUS_USER_SESSION_DELETED\n"
              "smb2 NEGOTIATE: 88 bytes sent, 73 received, 0xdeadbeef\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(negotiate),
        cmocka_unit_test(session_setup),
        cmocka_unit_test(tree_connect),
        cmocka_unit_test(create),
        cmocka_unit_test(read_and_write),
        cmocka_unit_test(dfs_referral),
        cmocka_unit_test(query_info),
        cmocka_unit_test(query_directory),
        cmocka_unit_test(cut_at_every_length),
        cmocka_unit_test(flipped_at_every_bit),
        cmocka_unit_test(lying_places),
        cmocka_unit_test(small_sizes),
        cmocka_unit_test(the_trace_names_calls_and_statuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
