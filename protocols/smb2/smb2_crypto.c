/* SPDX-License-Identifier: Apache-2.0 */
/* Signing and encryption of SMB2 messages. */
#include "protocols/smb2/smb2_crypto.h"

#include <errno.h>
#include <nettle/ccm.h>
#include <nettle/cmac.h>
#include <nettle/gcm.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <nettle/sha2.h>
#include <string.h>

#include "base/little_endian.h"
#include "protocols/smb2/smb2_wire.h"

enum {
    TAG_SIZE = 16,
    CCM_NONCE_SIZE = 11,
    GCM_NONCE_SIZE = 12,
    /* In the TRANSFORM_HEADER. */
    TRANSFORM_NONCE = 20,
    TRANSFORM_MESSAGE_SIZE = 36,
    TRANSFORM_FLAGS = 42,
    TRANSFORM_SESSION_ID = 44,
    /* The tag covers these bytes and the message. */
    TRANSFORM_AAD = TRANSFORM_NONCE,
    TRANSFORM_AAD_SIZE = SMB2_TRANSFORM_SIZE - TRANSFORM_NONCE,
    COMMAND_CANCEL = 0x0c
};

/* A message in three pieces, so that zeros replace its signature without a copy. */
static const uint8_t no_signature[SMB2_SIGNATURE_SIZE];
#define SIGNED_PIECES(update, context, message, size)                                              \
    do {                                                                                           \
        update(context, SMB2_SIGNATURE, message);                                                  \
        update(context, SMB2_SIGNATURE_SIZE, no_signature);                                        \
        update(context, (size)-SMB2_HEADER_SIZE, (message) + SMB2_HEADER_SIZE);                    \
    } while (0)

/* Passes a cipher over a message in place; writes the tag of AAD and plain text to tag. */
#define CCM_PASS(bits, direction)                                                                  \
    static void ccm##bits##_##direction(const uint8_t *key, uint8_t *transform, size_t size,       \
                                        uint8_t *tag)                                              \
    {                                                                                              \
        struct ccm_aes##bits##_ctx context;                                                        \
        uint8_t *message = transform + SMB2_TRANSFORM_SIZE;                                        \
        ccm_aes##bits##_set_key(&context, key);                                                    \
        ccm_aes##bits##_set_nonce(&context, CCM_NONCE_SIZE, transform + TRANSFORM_NONCE,           \
                                  TRANSFORM_AAD_SIZE, size, TAG_SIZE);                             \
        ccm_aes##bits##_update(&context, TRANSFORM_AAD_SIZE, transform + TRANSFORM_AAD);           \
        ccm_aes##bits##_##direction(&context, size, message, message);                             \
        ccm_aes##bits##_digest(&context, TAG_SIZE, tag);                                           \
    }
#define GCM_PASS(bits, direction)                                                                  \
    static void gcm##bits##_##direction(const uint8_t *key, uint8_t *transform, size_t size,       \
                                        uint8_t *tag)                                              \
    {                                                                                              \
        struct gcm_aes##bits##_ctx context;                                                        \
        uint8_t *message = transform + SMB2_TRANSFORM_SIZE;                                        \
        gcm_aes##bits##_set_key(&context, key);                                                    \
        gcm_aes##bits##_set_iv(&context, GCM_NONCE_SIZE, transform + TRANSFORM_NONCE);             \
        gcm_aes##bits##_update(&context, TRANSFORM_AAD_SIZE, transform + TRANSFORM_AAD);           \
        gcm_aes##bits##_##direction(&context, size, message, message);                             \
        gcm_aes##bits##_digest(&context, TAG_SIZE, tag);                                           \
    }
CCM_PASS(128, encrypt)
CCM_PASS(128, decrypt)
CCM_PASS(256, encrypt)
CCM_PASS(256, decrypt)
GCM_PASS(128, encrypt)
GCM_PASS(128, decrypt)
GCM_PASS(256, encrypt)
GCM_PASS(256, decrypt)

static const struct {
    void (*encrypt)(const uint8_t *key, uint8_t *transform, size_t size, uint8_t *tag);
    void (*decrypt)(const uint8_t *key, uint8_t *transform, size_t size, uint8_t *tag);
} ciphers[] = {
    [SMB2_CIPHER_AES128_CCM] = {ccm128_encrypt, ccm128_decrypt},
    [SMB2_CIPHER_AES128_GCM] = {gcm128_encrypt, gcm128_decrypt},
    [SMB2_CIPHER_AES256_CCM] = {ccm256_encrypt, ccm256_decrypt},
    [SMB2_CIPHER_AES256_GCM] = {gcm256_encrypt, gcm256_decrypt},
};

static const uint8_t transform_id[4] = {0xfd, 'S', 'M', 'B'};

static size_t cipher_key_size(enum smb2_cipher cipher);
static void crypto_derive(const uint8_t *key, size_t key_size, const char *label, size_t label_size,
                          const void *context, size_t context_size, uint8_t *out, size_t out_size);
static void sign_hmac(const uint8_t *key, const uint8_t *message, size_t size, uint8_t *signature);
static void sign_cmac(const uint8_t *key, const uint8_t *message, size_t size, uint8_t *signature);
static void sign_gmac(const uint8_t *key, const uint8_t *message, size_t size, uint8_t *signature);

void smb2_preauth_update(uint8_t hash[SMB2_PREAUTH_SIZE], const uint8_t *message, size_t size)
{
    struct sha512_ctx context;
    sha512_init(&context);
    sha512_update(&context, SMB2_PREAUTH_SIZE, hash);
    sha512_update(&context, size, message);
    sha512_digest(&context, SMB2_PREAUTH_SIZE, hash);
}

#define LABEL(text) text, sizeof text

void smb2_keys_derive(struct smb2_keys *keys, uint16_t dialect, enum smb2_cipher cipher,
                      const uint8_t *session_key, size_t session_key_size,
                      const uint8_t preauth[SMB2_PREAUTH_SIZE])
{
    size_t out = cipher_key_size(cipher);
    /* Only AES-256 keys are derived from more than 16 bytes. */
    size_t full = out == 32 ? session_key_size : SMB2_KEY_SIZE;
    memset(keys, 0, sizeof *keys);
    if (dialect < 0x0300) {
        memcpy(keys->signing, session_key, SMB2_KEY_SIZE);
    } else if (dialect < 0x0311) {
        crypto_derive(session_key, 16, LABEL("SMB2AESCMAC"), LABEL("SmbSign"), keys->signing, 16);
        crypto_derive(session_key, full, LABEL("SMB2AESCCM"), LABEL("ServerIn "), keys->to_server,
                      out);
        crypto_derive(session_key, full, LABEL("SMB2AESCCM"), LABEL("ServerOut"), keys->to_client,
                      out);
    } else {
        crypto_derive(session_key, 16, LABEL("SMBSigningKey"), preauth, SMB2_PREAUTH_SIZE,
                      keys->signing, 16);
        crypto_derive(session_key, full, LABEL("SMBC2SCipherKey"), preauth, SMB2_PREAUTH_SIZE,
                      keys->to_server, out);
        crypto_derive(session_key, full, LABEL("SMBS2CCipherKey"), preauth, SMB2_PREAUTH_SIZE,
                      keys->to_client, out);
    }
}

static size_t cipher_key_size(enum smb2_cipher cipher)
{
    return cipher == SMB2_CIPHER_AES256_CCM || cipher == SMB2_CIPHER_AES256_GCM ? 32 : 16;
}

/* SP800-108 counter mode with HMAC-SHA256, one block (3.1.4.2). Sizes include terminating zeros. */
static void crypto_derive(const uint8_t *key, size_t key_size, const char *label, size_t label_size,
                          const void *context, size_t context_size, uint8_t *out, size_t out_size)
{
    static const uint8_t counter[4] = {0, 0, 0, 1}, zero[1] = {0};
    uint8_t bits[4] = {0, 0, (uint8_t)(8 * out_size >> 8), (uint8_t)(8 * out_size)};
    struct hmac_sha256_ctx hmac;
    hmac_sha256_set_key(&hmac, key_size, key);
    hmac_sha256_update(&hmac, sizeof counter, counter);
    hmac_sha256_update(&hmac, label_size, (const uint8_t *)label);
    hmac_sha256_update(&hmac, sizeof zero, zero);
    hmac_sha256_update(&hmac, context_size, context);
    hmac_sha256_update(&hmac, sizeof bits, bits);
    hmac_sha256_digest(&hmac, out_size, out);
}

void smb2_sign(const uint8_t key[SMB2_KEY_SIZE], enum smb2_signing algorithm,
               const uint8_t *message, size_t size, uint8_t signature[16])
{
    static void (*const by_algorithm[])(const uint8_t *, const uint8_t *, size_t,
                                        uint8_t *) = {[SMB2_SIGNING_HMAC_SHA256] = sign_hmac,
                                                      [SMB2_SIGNING_AES_CMAC] = sign_cmac,
                                                      [SMB2_SIGNING_AES_GMAC] = sign_gmac};
    by_algorithm[algorithm](key, message, size, signature);
}

static void sign_hmac(const uint8_t *key, const uint8_t *message, size_t size, uint8_t *signature)
{
    struct hmac_sha256_ctx context;
    hmac_sha256_set_key(&context, SMB2_KEY_SIZE, key);
    SIGNED_PIECES(hmac_sha256_update, &context, message, size);
    hmac_sha256_digest(&context, TAG_SIZE, signature);
}

static void sign_cmac(const uint8_t *key, const uint8_t *message, size_t size, uint8_t *signature)
{
    struct cmac_aes128_ctx context;
    cmac_aes128_set_key(&context, key);
    SIGNED_PIECES(cmac_aes128_update, &context, message, size);
    cmac_aes128_digest(&context, TAG_SIZE, signature);
}

/* Both pieces before the body are multiples of the block size, as nettle requires. */
static void sign_gmac(const uint8_t *key, const uint8_t *message, size_t size, uint8_t *signature)
{
    struct gcm_aes128_ctx context;
    uint8_t nonce[GCM_NONCE_SIZE] = {0};
    memcpy(nonce, message + 24, 8); /* MessageId */
    nonce[8] = (uint8_t)((message[16] & SMB2_FLAGS_SERVER_TO_REDIR) |
                         (le_get16(message + 12) == COMMAND_CANCEL ? 2 : 0));
    gcm_aes128_set_key(&context, key);
    gcm_aes128_set_iv(&context, sizeof nonce, nonce);
    SIGNED_PIECES(gcm_aes128_update, &context, message, size);
    gcm_aes128_digest(&context, TAG_SIZE, signature);
}

void smb2_sign_message(const uint8_t key[SMB2_KEY_SIZE], enum smb2_signing algorithm,
                       uint8_t *message, size_t size)
{
    smb2_sign(key, algorithm, message, size, message + SMB2_SIGNATURE);
}

bool smb2_signature_valid(const uint8_t key[SMB2_KEY_SIZE], enum smb2_signing algorithm,
                          const uint8_t *message, size_t size)
{
    uint8_t expected[SMB2_SIGNATURE_SIZE];
    smb2_sign(key, algorithm, message, size, expected);
    return memeql_sec(expected, message + SMB2_SIGNATURE, sizeof expected);
}

void smb2_encrypt(const uint8_t *key, enum smb2_cipher cipher, uint64_t nonce, uint64_t session_id,
                  uint8_t *transform, size_t message_size)
{
    memset(transform, 0, SMB2_TRANSFORM_SIZE);
    memcpy(transform, transform_id, 4);
    le_put64(transform + TRANSFORM_NONCE, nonce);
    le_put32(transform + TRANSFORM_MESSAGE_SIZE, (uint32_t)message_size);
    le_put16(transform + TRANSFORM_FLAGS, 1); /* Encrypted */
    le_put64(transform + TRANSFORM_SESSION_ID, session_id);
    ciphers[cipher].encrypt(key, transform, message_size, transform + 4);
}

int smb2_decrypt(const uint8_t *key, enum smb2_cipher cipher, uint8_t *transform, size_t size)
{
    uint8_t tag[TAG_SIZE];
    if (size < SMB2_TRANSFORM_SIZE || memcmp(transform, transform_id, 4) != 0 ||
        le_get16(transform + TRANSFORM_FLAGS) != 1 || cipher == SMB2_CIPHER_NONE ||
        le_get32(transform + TRANSFORM_MESSAGE_SIZE) != size - SMB2_TRANSFORM_SIZE)
        return -EBADMSG;
    ciphers[cipher].decrypt(key, transform, size - SMB2_TRANSFORM_SIZE, tag);
    return memeql_sec(tag, transform + 4, sizeof tag) ? 0 : -EBADMSG;
}
