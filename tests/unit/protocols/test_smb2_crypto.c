/* SPDX-License-Identifier: Apache-2.0 */
/* SMB2 keys, signatures and encryption against values from Microsoft's articles on SMB 3, otherwise
 * against GnuTLS; and each flipped bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include "protocols/smb2/smb2_crypto.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/smb2/smb2_wire.h"
#include "tests/lib/bytes.h"

static void derive(struct smb2_keys *keys, uint16_t dialect, enum smb2_cipher cipher,
                   const char *session_key_hex, const char *preauth_hex)
{
    uint8_t session_key[64], preauth[SMB2_PREAUTH_SIZE] = {0};
    size_t size = bytes_from_hex(session_key_hex, session_key);
    bytes_from_hex(preauth_hex, preauth);
    smb2_keys_derive(keys, dialect, cipher, session_key, size, preauth);
}

static const char preauth_311[] =
    "0DD13628CC3ED218EF9DF9772D436D0887AB9814BFAE63A80AA845F36909DB7928622DDDAD522D97"
    "51640A459762C5A9D6BB084CBB3CE6BDADEF5D5BCE3C6C01";

static void keys_of_each_dialect(void **state)
{
    (void)state;
    struct smb2_keys keys;
    derive(&keys, 0x0210, SMB2_CIPHER_NONE, "7CD451825D0450D235424E44BA6E78CC", "");
    assert_bytes(keys.signing, 16, "7CD451825D0450D235424E44BA6E78CC");
    derive(&keys, 0x0300, SMB2_CIPHER_AES128_CCM, "7CD451825D0450D235424E44BA6E78CC", "");
    assert_bytes(keys.signing, 16, "0B7E9C5CAC36C0F6EA9AB275298CEDCE");
    assert_bytes(keys.to_server, 16, "FAD27796665B313EBB578F388632B4F7");
    assert_bytes(keys.to_client, 16, "B0F0427F7CEB416D1D9DCC0CD4F99447");
    derive(&keys, 0x0311, SMB2_CIPHER_AES128_GCM, "270E1BA896585EEB7AF3472D3B4C75A7", preauth_311);
    assert_bytes(keys.signing, 16, "73FE7A9A77BEF0BDE49C650D8CCB5F76");
    assert_bytes(keys.to_server, 16, "629BCBC54422A0F572B97F45989B6073");
    assert_bytes(keys.to_client, 16, "E2AF0DCEFAC68DA71A0DFBD0D1350D74");
}

/* Keys of 32 bytes depend on the whole session key, the signing key only on its first half. */
static void keys_of_256_bits(void **state)
{
    (void)state;
    static const char half[] = "000102030405060708090a0b0c0d0e0f";
    static const char whole[] = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
    struct smb2_keys short_keys, long_keys, keys_128;
    derive(&short_keys, 0x0311, SMB2_CIPHER_AES256_GCM, half, preauth_311);
    derive(&long_keys, 0x0311, SMB2_CIPHER_AES256_GCM, whole, preauth_311);
    derive(&keys_128, 0x0311, SMB2_CIPHER_AES128_GCM, whole, preauth_311);
    assert_memory_equal(short_keys.signing, long_keys.signing, 16);
    assert_memory_equal(short_keys.signing, keys_128.signing, 16);
    assert_memory_not_equal(short_keys.to_server, long_keys.to_server, 32);
    /* The hash includes the length (SP800-108), so no key is a prefix of another. */
    assert_memory_not_equal(keys_128.to_server, short_keys.to_server, 16);
}

/* The SESSION_SETUP response that ends the published exchange, signed by AES-CMAC. */
static const char signed_hex[] =
    "FE534D4240000100000000000100800009000000000000000300000000000000FFFE000000000000"
    "1900000000100000EBE146DA120BA25FC3376A49DFE31BC10900000048001D00A11B3019A0030A01"
    "00A3120410010000003B453CDC3524164200000000";

static void signature_of_the_published_exchange(void **state)
{
    (void)state;
    uint8_t key[16], message[160];
    bytes_from_hex("73FE7A9A77BEF0BDE49C650D8CCB5F76", key);
    size_t size = bytes_from_hex(signed_hex, message);
    assert_true(smb2_signature_valid(key, SMB2_SIGNING_AES_CMAC, message, size));
    for (size_t bit = 0; bit < 8 * size; bit++) {
        message[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_false(smb2_signature_valid(key, SMB2_SIGNING_AES_CMAC, message, size));
        message[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    for (size_t cut = SMB2_HEADER_SIZE; cut < size; cut++)
        assert_false(smb2_signature_valid(key, SMB2_SIGNING_AES_CMAC, message, cut));
}

/* HMAC and GMAC by another library over the message with zeros for its signature. */
static void signatures_as_gnutls_makes_them(void **state)
{
    (void)state;
    uint8_t key[16], message[160], signature[16], expected[32];
    bytes_from_hex("73FE7A9A77BEF0BDE49C650D8CCB5F76", key);
    size_t size = bytes_from_hex(signed_hex, message);
    smb2_sign(key, SMB2_SIGNING_HMAC_SHA256, message, size, signature);
    uint8_t zeroed[160];
    memcpy(zeroed, message, size);
    memset(zeroed + SMB2_SIGNATURE, 0, SMB2_SIGNATURE_SIZE);
    assert_int_equal(gnutls_hmac_fast(GNUTLS_MAC_SHA256, key, 16, zeroed, size, expected), 0);
    assert_memory_equal(signature, expected, 16);

    smb2_sign(key, SMB2_SIGNING_AES_GMAC, message, size, signature);
    /* 2.2.1.2, 3.1.4.1: MessageId, then bit 0 for the server. */
    uint8_t nonce[12] = {3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0};
    gnutls_datum_t datum = {.data = key, .size = sizeof key};
    gnutls_aead_cipher_hd_t handle;
    size_t tag_size = sizeof expected;
    assert_int_equal(gnutls_aead_cipher_init(&handle, GNUTLS_CIPHER_AES_128_GCM, &datum), 0);
    assert_int_equal(gnutls_aead_cipher_encrypt(handle, nonce, sizeof nonce, zeroed, size, 16, "",
                                                0, expected, &tag_size),
                     0);
    gnutls_aead_cipher_deinit(handle);
    assert_int_equal(tag_size, 16);
    assert_memory_equal(signature, expected, 16);
}

/* Messages that were encrypted by Windows. */
static const struct {
    uint16_t dialect;
    enum smb2_cipher cipher;
    const char *session_key, *preauth;
    bool from_client;
    const char *encrypted, *plain;
} published[] = {
    {0x0300, SMB2_CIPHER_AES128_CCM, "B4546771B515F766A86735532DD6C4F0", "", false,
     "FD534D42A6015530A18F6D9AFFE22AFAE8E66484860000000000000011000014"
     "00E4080050000000000001001100001400E40800DBF46435C5F14169293CE079"
     "E344479BF670227E49873F458672C3098DAC467DD5809F369D67409166515787"
     "1483E01F7BECD02064EAC3E235F913668BBC2F097980D4B378F1993EFF6E60D1"
     "77309E5B",
     "FE534D4240000100000000000900210009000000000000000400000000000000"
     "FFFE0000010000001100001400E4080000000000000000000000000000000000"
     "11000000170000000000000000000000"},
    {0x0300, SMB2_CIPHER_AES128_CCM, "B4546771B515F766A86735532DD6C4F0", "", true,
     "FD534D4281A286535415445DAE393921E44FA42E66E69A111892584FB5ED524A"
     "744DA3EE87000000000001001100001400E4080025C8FEE16605A437832D1CD5"
     "2DA9F4645333482A175FE5384563F45FCDAFAEF38BC62BA4D5C62897996625A4"
     "4C29BE5658DE2E6117585779E7B59FFD971278D08580D7FA899E410E910EABF5"
     "AA1DB43050B33B49182637759AC15D84BFCDF5B6B238993C0F4CF4D6012023F6"
     "C627297075D84B7803912D0A9639634453595EF3E33FFE4E7AC2AB",
     "FE534D4240000100000000000900400008000000000000000400000000000000"
     "FFFE0000010000001100001400E4080000000000000000000000000000000000"
     "3100700017000000000000000000000015010000390000020100000039020000"
     "00000000000000007000000000000000536D623320656E6372797074696F6E20"
     "74657374696E67"},
    {0x0311, SMB2_CIPHER_AES128_GCM, "419FDDF34C1E001909D362AE7FB6AF79",
     "B23F3CBFD69487D9832B79B1594A367CDD950909B774C3A4C412B4FCEA9EDDDBA7DB256BA2EA30E9"
     "77F11F9B113247578E0E915C6D2A513B8F2FCA5707DC8770",
     false,
     "FD534D42ACBE1CB7ED343ADF1725EF144D90D4B0E06831DD2E8EB7B4000000000000000050000000"
     "00000100250000000010000026BBBF949983A6C1C796559D0F2C510CB651D1F7B6AC8DED32A2A0B8"
     "F2D793A815C6F6B848D69767A215841A42D400AE6DDB5F0B44173A014973321FDD7950DA6179159B"
     "82E03C9E18A050FF0EA1C967",
     "FE534D4240000100000000000900010001000000000000000500000000000000FFFE000001000000"
     "25000000001000000000000000000000000000000000000011000000170000000000000000000000"},
};

static void decrypts_what_windows_sent(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++) {
        struct smb2_keys keys;
        uint8_t message[256];
        derive(&keys, published[i].dialect, published[i].cipher, published[i].session_key,
               published[i].preauth);
        const uint8_t *key = published[i].from_client ? keys.to_server : keys.to_client;
        size_t size = bytes_from_hex(published[i].encrypted, message);
        assert_int_equal(smb2_decrypt(key, published[i].cipher, message, size), 0);
        assert_bytes(message + SMB2_TRANSFORM_SIZE, size - SMB2_TRANSFORM_SIZE, published[i].plain);
        for (size_t cut = 0; cut < size; cut++) {
            bytes_from_hex(published[i].encrypted, message);
            uint8_t *copy = bytes_exact(message, cut);
            assert_int_equal(smb2_decrypt(key, published[i].cipher, copy, cut), -EBADMSG);
            free(copy);
        }
        for (size_t bit = 0; bit < 8 * size; bit++) {
            bytes_from_hex(published[i].encrypted, message);
            message[bit / 8] ^= (uint8_t)(1u << bit % 8);
            /* The end of the nonce field is not part of the nonce, but is authenticated. */
            assert_int_equal(smb2_decrypt(key, published[i].cipher, message, size), -EBADMSG);
        }
    }
}

/* Each cipher by another library. */
static void encrypts_as_gnutls_does(void **state)
{
    (void)state;
    static const struct {
        enum smb2_cipher cipher;
        gnutls_cipher_algorithm_t gnutls;
        unsigned key_size, nonce_size;
    } rows[] = {{SMB2_CIPHER_AES128_CCM, GNUTLS_CIPHER_AES_128_CCM, 16, 11},
                {SMB2_CIPHER_AES128_GCM, GNUTLS_CIPHER_AES_128_GCM, 16, 12},
                {SMB2_CIPHER_AES256_CCM, GNUTLS_CIPHER_AES_256_CCM, 32, 11},
                {SMB2_CIPHER_AES256_GCM, GNUTLS_CIPHER_AES_256_GCM, 32, 12}};
    enum { SIZE = 77 };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t key[32], buffer[SMB2_TRANSFORM_SIZE + SIZE], plain[SIZE], expected[SIZE + 16];
        for (size_t k = 0; k < sizeof key; k++)
            key[k] = (uint8_t)(k * 3 + 1);
        for (size_t k = 0; k < SIZE; k++)
            buffer[SMB2_TRANSFORM_SIZE + k] = plain[k] = (uint8_t)(k * 7);
        smb2_encrypt(key, rows[i].cipher, 0x1122334455667788, 0x99aabbccddeeff00, buffer, SIZE);
        gnutls_datum_t datum = {.data = key, .size = rows[i].key_size};
        gnutls_aead_cipher_hd_t handle;
        size_t size = sizeof expected;
        assert_int_equal(gnutls_aead_cipher_init(&handle, rows[i].gnutls, &datum), 0);
        assert_int_equal(gnutls_aead_cipher_encrypt(handle, buffer + 20, rows[i].nonce_size,
                                                    buffer + 20, 32, 16, plain, SIZE, expected,
                                                    &size),
                         0);
        gnutls_aead_cipher_deinit(handle);
        assert_int_equal(size, SIZE + 16);
        assert_memory_equal(buffer + SMB2_TRANSFORM_SIZE, expected, SIZE);
        assert_memory_equal(buffer + 4, expected + SIZE, 16);
        assert_bytes(buffer + 20, 12, "8877665544332211 00000000");
        assert_bytes(buffer + 36, 16, "4d000000 0000 0100 00ffeeddccbbaa99");
        assert_int_equal(smb2_decrypt(key, rows[i].cipher, buffer, sizeof buffer), 0);
        assert_memory_equal(buffer + SMB2_TRANSFORM_SIZE, plain, SIZE);
    }
}

/* Authentic headers with wrong flags or another size (2.2.41). */
static void sealed_headers_that_lie(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint8_t value;
        int rc;
    } rows[] = {{42, 1, 0}, {42, 0, -EBADMSG}, {42, 3, -EBADMSG}, {36, 76, -EBADMSG}};
    enum { SIZE = 77 };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t key[16] = {7}, plain[SIZE] = {1}, sealed[SIZE + 16];
        uint8_t buffer[SMB2_TRANSFORM_SIZE + SIZE] = {0};
        smb2_encrypt(key, SMB2_CIPHER_AES128_GCM, 5, 6, buffer, SIZE);
        buffer[rows[i].at] = rows[i].value;
        gnutls_datum_t datum = {.data = key, .size = sizeof key};
        gnutls_aead_cipher_hd_t handle;
        size_t size = sizeof sealed;
        assert_int_equal(gnutls_aead_cipher_init(&handle, GNUTLS_CIPHER_AES_128_GCM, &datum), 0);
        assert_int_equal(gnutls_aead_cipher_encrypt(handle, buffer + 20, 12, buffer + 20, 32, 16,
                                                    plain, SIZE, sealed, &size),
                         0);
        gnutls_aead_cipher_deinit(handle);
        memcpy(buffer + SMB2_TRANSFORM_SIZE, sealed, SIZE);
        memcpy(buffer + 4, sealed + SIZE, 16);
        assert_int_equal(smb2_decrypt(key, SMB2_CIPHER_AES128_GCM, buffer, sizeof buffer),
                         rows[i].rc);
    }
}

static void preauth_chain(void **state)
{
    (void)state;
    uint8_t hash[SMB2_PREAUTH_SIZE] = {0}, chained[SMB2_PREAUTH_SIZE + 3], expected[64];
    memset(chained, 0, SMB2_PREAUTH_SIZE);
    memcpy(chained + SMB2_PREAUTH_SIZE, "abc", 3);
    smb2_preauth_update(hash, (const uint8_t *)"abc", 3);
    assert_int_equal(gnutls_hash_fast(GNUTLS_DIG_SHA512, chained, sizeof chained, expected), 0);
    assert_memory_equal(hash, expected, sizeof expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_of_each_dialect),
        cmocka_unit_test(keys_of_256_bits),
        cmocka_unit_test(signature_of_the_published_exchange),
        cmocka_unit_test(signatures_as_gnutls_makes_them),
        cmocka_unit_test(decrypts_what_windows_sent),
        cmocka_unit_test(encrypts_as_gnutls_does),
        cmocka_unit_test(sealed_headers_that_lie),
        cmocka_unit_test(preauth_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
