/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signing and encryption of SMB2 messages (MS-SMB2 3.1.4, 3.1.5.1) on nettle, and the preauth
 * integrity hash. The caller keeps the keys. They are expanded for each message, because the table
 * of AES-GCM alone would cost an idle session 4 KiB.
 */
#ifndef PROTOCOLS_SMB2_SMB2_CRYPTO_H
#define PROTOCOLS_SMB2_SMB2_CRYPTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 2.2.3.1.7 */
enum smb2_signing {
    SMB2_SIGNING_HMAC_SHA256 = 0,
    SMB2_SIGNING_AES_CMAC = 1,
    SMB2_SIGNING_AES_GMAC = 2
};

/* 2.2.3.1.2 */
enum smb2_cipher {
    SMB2_CIPHER_NONE = 0,
    SMB2_CIPHER_AES128_CCM = 1,
    SMB2_CIPHER_AES128_GCM = 2,
    SMB2_CIPHER_AES256_CCM = 3,
    SMB2_CIPHER_AES256_GCM = 4
};

enum { SMB2_PREAUTH_SIZE = 64, SMB2_KEY_SIZE = 16, SMB2_CIPHER_KEY_MAX = 32 };

struct smb2_keys {
    uint8_t signing[SMB2_KEY_SIZE];
    uint8_t to_server[SMB2_CIPHER_KEY_MAX]; /* the client encrypts with it */
    uint8_t to_client[SMB2_CIPHER_KEY_MAX];
};

/* Adds a message to the preauth integrity hash (SHA-512, 3.1.4.4.1), which starts as zeros. */
void smb2_preauth_update(uint8_t hash[SMB2_PREAUTH_SIZE], const uint8_t *message, size_t size);

/* Derives a session's keys from its full session key (at least 16 bytes; 3.1.4.2). preauth is the
 * session's hash, used only in dialect 3.1.1. */
void smb2_keys_derive(struct smb2_keys *keys, uint16_t dialect, enum smb2_cipher cipher,
                      const uint8_t *session_key, size_t session_key_size,
                      const uint8_t preauth[SMB2_PREAUTH_SIZE]);

/* Computes the signature of a message, with zeros in place of the signature in its header. */
void smb2_sign(const uint8_t key[SMB2_KEY_SIZE], enum smb2_signing algorithm,
               const uint8_t *message, size_t size, uint8_t signature[16]);
/* Signs a message and writes the signature to its header. */
void smb2_sign_message(const uint8_t key[SMB2_KEY_SIZE], enum smb2_signing algorithm,
                       uint8_t *message, size_t size);
/* True if the signature in the message's header verifies. */
bool smb2_signature_valid(const uint8_t key[SMB2_KEY_SIZE], enum smb2_signing algorithm,
                          const uint8_t *message, size_t size);

/*
 * Writes the TRANSFORM_HEADER (2.2.41) into the 52 bytes at transform and encrypts the message that
 * follows it in place. nonce must never repeat for a key.
 */
void smb2_encrypt(const uint8_t *key, enum smb2_cipher cipher, uint64_t nonce, uint64_t session_id,
                  uint8_t *transform, size_t message_size);
/* Verifies and decrypts in place the message after a TRANSFORM_HEADER. size includes the header.
 * -EBADMSG: not a TRANSFORM_HEADER, truncated, or it does not verify. */
int smb2_decrypt(const uint8_t *key, enum smb2_cipher cipher, uint8_t *transform, size_t size);

#endif
