/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signing and encryption of SMB2 messages (MS-SMB2 3.1.4, 3.1.5.1) on nettle, and the preauth
 * integrity hash. Pure functions over keys that the caller keeps; keys are expanded per message,
 * since a table of AES-GCM alone would cost an idle session 4 KiB.
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
    uint8_t to_server[SMB2_CIPHER_KEY_MAX]; /* what the client encrypts with */
    uint8_t to_client[SMB2_CIPHER_KEY_MAX];
};

/* Chains a message into the preauth integrity hash (SHA-512, 3.1.4.4.1); starts with zeros. */
void smb2_preauth_update(uint8_t hash[SMB2_PREAUTH_SIZE], const uint8_t *message, size_t size);

/* Keys of a session from its full session key (at least 16 bytes; 3.1.4.2). preauth is the
 * session's hash in dialect 3.1.1 and not looked at before. */
void smb2_keys_derive(struct smb2_keys *keys, uint16_t dialect, enum smb2_cipher cipher,
                      const uint8_t *session_key, size_t session_key_size,
                      const uint8_t preauth[SMB2_PREAUTH_SIZE]);

/* Signs a message with its header's signature taken as zeros; writes nothing but signature. */
void smb2_sign(const uint8_t key[SMB2_KEY_SIZE], enum smb2_signing algorithm,
               const uint8_t *message, size_t size, uint8_t signature[16]);
/* Signs it into its header. */
void smb2_sign_message(const uint8_t key[SMB2_KEY_SIZE], enum smb2_signing algorithm,
                       uint8_t *message, size_t size);
/* True when the signature in the message's header is right. */
bool smb2_signature_valid(const uint8_t key[SMB2_KEY_SIZE], enum smb2_signing algorithm,
                          const uint8_t *message, size_t size);

/*
 * Writes the TRANSFORM_HEADER (2.2.41) into the 52 bytes at transform and encrypts the message that
 * follows it in place. nonce must never repeat for a key.
 */
void smb2_encrypt(const uint8_t *key, enum smb2_cipher cipher, uint64_t nonce, uint64_t session_id,
                  uint8_t *transform, size_t message_size);
/* Checks and decrypts in place what follows a TRANSFORM_HEADER. size: header and message.
 * -EBADMSG: it is not one, was cut, or does not verify. */
int smb2_decrypt(const uint8_t *key, enum smb2_cipher cipher, uint8_t *transform, size_t size);

#endif
