/* SPDX-License-Identifier: Apache-2.0 */
/* Keys, credentials and PDU security of the netlogon secure channel, AES only. */
#include "protocols/rpc/netlogon/netlogon_channel.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <nettle/aes.h>
#include <nettle/cfb.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf16.h"

enum { BLOCK = AES_BLOCK_SIZE, CHECKSUM_SIZE = 8, CONFOUNDER_SIZE = 8, SEQUENCE_SIZE = 8 };

/* NL_AUTH_SHA2_SIGNATURE without its reserved bytes, MS-NRPC 2.2.1.3.3. */
struct signature {
    uint8_t head[8];
    uint8_t sequence[SEQUENCE_SIZE], checksum[CHECKSUM_SIZE], confounder[CONFOUNDER_SIZE];
};

typedef void cfb8_function(const void *ctx, nettle_cipher_func *f, size_t block_size, uint8_t *iv,
                           size_t length, uint8_t *dst, const uint8_t *src);

static void encrypt_in_place(const uint8_t key[16], uint8_t *data, size_t size);
static void step_credential(uint8_t credential[8], uint32_t by);
static void signature_head(struct signature *signature, bool seal);
static void signature_sequence(uint64_t sequence, bool from_client, uint8_t out[SEQUENCE_SIZE]);
static void signature_checksum(const uint8_t key[16], const struct signature *signature, bool seal,
                               const uint8_t *data, size_t size, uint8_t checksum[CHECKSUM_SIZE]);
static void crypt_data(const uint8_t key[16], cfb8_function *crypt,
                       const uint8_t sequence[SEQUENCE_SIZE], uint8_t *confounder, uint8_t *data,
                       size_t size);
static void crypt_sequence(const uint8_t key[16], cfb8_function *crypt,
                           const uint8_t checksum[CHECKSUM_SIZE], uint8_t sequence[SEQUENCE_SIZE]);

void netlogon_channel_compute(struct netlogon_channel *channel, const uint8_t nt_hash[16],
                              uint8_t server_credential[8])
{
    struct hmac_sha256_ctx hmac;
    hmac_sha256_set_key(&hmac, 16, nt_hash);
    hmac_sha256_update(&hmac, 8, channel->client_challenge);
    hmac_sha256_update(&hmac, 8, channel->server_challenge);
    hmac_sha256_digest(&hmac, sizeof channel->session_key, channel->session_key);
    explicit_bzero(&hmac, sizeof hmac);
    memcpy(channel->client_credential, channel->client_challenge, 8);
    encrypt_in_place(channel->session_key, channel->client_credential, 8);
    memcpy(server_credential, channel->server_challenge, 8);
    encrypt_in_place(channel->session_key, server_credential, 8);
}

/* AES-128-CFB8 with a zero IV: every credential and secret of the channel (MS-NRPC 3.1.4.4.1). */
static void encrypt_in_place(const uint8_t key[16], uint8_t *data, size_t size)
{
    struct aes128_ctx aes;
    uint8_t iv[BLOCK] = {0};
    aes128_set_encrypt_key(&aes, key);
    cfb8_encrypt(&aes, (nettle_cipher_func *)aes128_encrypt, BLOCK, iv, size, data, data);
    explicit_bzero(&aes, sizeof aes);
}

void netlogon_channel_authenticator(struct netlogon_channel *channel, uint32_t now,
                                    struct netlogon_authenticator *out)
{
    step_credential(channel->client_credential, now);
    out->timestamp = now;
    memcpy(out->credential, channel->client_credential, 8);
    encrypt_in_place(channel->session_key, out->credential, 8);
}

/* Adds to the low 32 bits of the stored credential; a carry is lost. */
static void step_credential(uint8_t credential[8], uint32_t by)
{
    uint32_t low = (uint32_t)credential[0] | (uint32_t)credential[1] << 8 |
                   (uint32_t)credential[2] << 16 | (uint32_t)credential[3] << 24;
    low += by;
    for (int i = 0; i < 4; i++)
        credential[i] = (uint8_t)(low >> 8 * i);
}

int netlogon_channel_check(struct netlogon_channel *channel,
                           const struct netlogon_authenticator *returned)
{
    uint8_t expected[8];
    step_credential(channel->client_credential, 1);
    memcpy(expected, channel->client_credential, 8);
    encrypt_in_place(channel->session_key, expected, 8);
    return memeql_sec(expected, returned->credential, 8) ? 0 : -EBADMSG;
}

int netlogon_other_password(const char *password, char **other)
{
    size_t last = strlen(password);
    if (last == 0)
        return -EINVAL;
    do
        last--;
    while (last > 0 && ((uint8_t)password[last] & 0xc0) == 0x80); /* inside a character of UTF-8 */
    *other = strdup(password);
    if (!*other)
        return -ENOMEM;
    explicit_bzero(*other + last, strlen(*other + last));
    (*other)[last] = password[last] == '2' ? '1' : '2';
    return 0;
}

int netlogon_channel_encrypt_password(const struct netlogon_channel *channel, const char *password,
                                      struct netlogon_ServerPasswordSet2_request *request)
{
    uint8_t *utf16 = NULL, plain[NETLOGON_PASSWORD_SIZE + 4];
    size_t size = 0;
    int rc = utf16le_from_utf8(password, &utf16, &size);
    if (rc)
        return rc;
    if (size > NETLOGON_PASSWORD_SIZE)
        rc = -EMSGSIZE;
    else if (gnutls_rnd(GNUTLS_RND_NONCE, plain, NETLOGON_PASSWORD_SIZE) < 0)
        rc = -EIO;
    if (rc == 0) {
        memcpy(plain + NETLOGON_PASSWORD_SIZE - size, utf16, size);
        for (int i = 0; i < 4; i++)
            plain[NETLOGON_PASSWORD_SIZE + i] = (uint8_t)(size >> 8 * i);
        encrypt_in_place(channel->session_key, plain, sizeof plain);
        memcpy(request->password, plain, NETLOGON_PASSWORD_SIZE);
        memcpy(request->length, plain + NETLOGON_PASSWORD_SIZE, 4);
    }
    explicit_bzero(plain, sizeof plain);
    explicit_bzero(utf16, size);
    free(utf16);
    return rc;
}

/* MessageType 0 (negotiate request), Flags: NetBIOS domain (1) and computer name (2) follow */
static const uint8_t bind_head[8] = {0, 0, 0, 0, 3, 0, 0, 0};

int netlogon_bind_token(const struct netlogon_channel *channel, uint8_t **token, size_t *size)
{
    size_t domain = strlen(channel->domain) + 1, computer = strlen(channel->computer) + 1;
    *size = sizeof bind_head + domain + computer;
    *token = malloc(*size);
    if (!*token)
        return -ENOMEM;
    memcpy(*token, bind_head, sizeof bind_head);
    memcpy(*token + sizeof bind_head, channel->domain, domain);
    memcpy(*token + sizeof bind_head + domain, channel->computer, computer);
    return 0;
}

int netlogon_bind_answer_check(const uint8_t *token, size_t size)
{
    static const uint8_t negotiate_response[4] = {1, 0, 0, 0};
    return size >= 8 && memcmp(token, negotiate_response, 4) == 0 ? 0 : -EBADMSG;
}

int netlogon_protect(struct netlogon_security *security, bool seal, uint8_t *data, size_t size,
                     uint8_t token[NETLOGON_SIGNATURE_SIZE])
{
    struct signature signature = {.confounder = {0}};
    signature_head(&signature, seal);
    signature_sequence(security->sequence, true, signature.sequence);
    if (seal && gnutls_rnd(GNUTLS_RND_NONCE, signature.confounder, CONFOUNDER_SIZE) < 0)
        return -EIO;
    signature_checksum(security->session_key, &signature, seal, data, size, signature.checksum);
    if (seal)
        crypt_data(security->session_key, cfb8_encrypt, signature.sequence, signature.confounder,
                   data, size);
    crypt_sequence(security->session_key, cfb8_encrypt, signature.checksum, signature.sequence);
    memset(token, 0, NETLOGON_SIGNATURE_SIZE);
    memcpy(token, &signature, sizeof signature);
    security->sequence++;
    return 0;
}

static void signature_head(struct signature *signature, bool seal)
{
    static const uint8_t sealed[8] = {0x13, 0, 0x1a, 0, 0xff, 0xff, 0, 0};
    static const uint8_t plain[8] = {0x13, 0, 0xff, 0xff, 0xff, 0xff, 0, 0};
    memcpy(signature->head, seal ? sealed : plain, 8);
}

/* 3.3.4.2.1 step 5: low half big-endian, then the high half, whose top bit is the direction */
static void signature_sequence(uint64_t sequence, bool from_client, uint8_t out[SEQUENCE_SIZE])
{
    for (int i = 0; i < 4; i++) {
        out[i] = (uint8_t)(sequence >> 8 * (3 - i));
        out[4 + i] = (uint8_t)(sequence >> (32 + 8 * (3 - i)));
    }
    out[4] = (uint8_t)((out[4] & 0x7f) | (from_client ? 0x80 : 0));
}

/* 3.3.4.2.1 step 7: over plain head, plain confounder (when sealing) and plain data */
static void signature_checksum(const uint8_t key[16], const struct signature *signature, bool seal,
                               const uint8_t *data, size_t size, uint8_t checksum[CHECKSUM_SIZE])
{
    struct hmac_sha256_ctx hmac;
    hmac_sha256_set_key(&hmac, 16, key);
    hmac_sha256_update(&hmac, sizeof signature->head, signature->head);
    if (seal)
        hmac_sha256_update(&hmac, CONFOUNDER_SIZE, signature->confounder);
    hmac_sha256_update(&hmac, size, data);
    hmac_sha256_digest(&hmac, CHECKSUM_SIZE, checksum);
    explicit_bzero(&hmac, sizeof hmac);
}

/* Encrypts or decrypts confounder and data as one stream: the key xor 0xf0, the IV is the sequence
 * number twice. */
static void crypt_data(const uint8_t key[16], cfb8_function *crypt,
                       const uint8_t sequence[SEQUENCE_SIZE], uint8_t *confounder, uint8_t *data,
                       size_t size)
{
    struct aes128_ctx aes;
    uint8_t seal_key[16], iv[BLOCK];
    for (int i = 0; i < 16; i++)
        seal_key[i] = key[i] ^ 0xf0;
    memcpy(iv, sequence, SEQUENCE_SIZE);
    memcpy(iv + SEQUENCE_SIZE, sequence, SEQUENCE_SIZE);
    aes128_set_encrypt_key(&aes, seal_key);
    crypt(&aes, (nettle_cipher_func *)aes128_encrypt, BLOCK, iv, CONFOUNDER_SIZE, confounder,
          confounder);
    crypt(&aes, (nettle_cipher_func *)aes128_encrypt, BLOCK, iv, size, data, data);
    explicit_bzero(&aes, sizeof aes);
    explicit_bzero(seal_key, sizeof seal_key);
}

/* Encrypts or decrypts the sequence number with the session key; the IV is the checksum twice. */
static void crypt_sequence(const uint8_t key[16], cfb8_function *crypt,
                           const uint8_t checksum[CHECKSUM_SIZE], uint8_t sequence[SEQUENCE_SIZE])
{
    struct aes128_ctx aes;
    uint8_t iv[BLOCK];
    memcpy(iv, checksum, CHECKSUM_SIZE);
    memcpy(iv + CHECKSUM_SIZE, checksum, CHECKSUM_SIZE);
    aes128_set_encrypt_key(&aes, key);
    crypt(&aes, (nettle_cipher_func *)aes128_encrypt, BLOCK, iv, SEQUENCE_SIZE, sequence, sequence);
    explicit_bzero(&aes, sizeof aes);
}

int netlogon_unprotect(struct netlogon_security *security, bool seal, uint8_t *data, size_t size,
                       const uint8_t *token, size_t token_size)
{
    struct signature signature, wanted = {.confounder = {0}};
    uint8_t checksum[CHECKSUM_SIZE];
    size_t least = sizeof signature - (seal ? 0 : CONFOUNDER_SIZE);
    if (token_size < least)
        return -EBADMSG;
    memset(&signature, 0, sizeof signature);
    memcpy(&signature, token, least);
    signature_head(&wanted, seal);
    signature_sequence(security->sequence, false, wanted.sequence);
    crypt_sequence(security->session_key, cfb8_decrypt, signature.checksum, signature.sequence);
    if (memcmp(signature.head, wanted.head, sizeof wanted.head) != 0 ||
        memcmp(signature.sequence, wanted.sequence, SEQUENCE_SIZE) != 0)
        return -EBADMSG;
    if (seal)
        crypt_data(security->session_key, cfb8_decrypt, signature.sequence, signature.confounder,
                   data, size);
    signature_checksum(security->session_key, &signature, seal, data, size, checksum);
    security->sequence++;
    return memeql_sec(checksum, signature.checksum, CHECKSUM_SIZE) ? 0 : -EBADMSG;
}
