/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/windows/standin_seal.h"

#include <nettle/aes.h>
#include <nettle/cfb.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/little_endian.h"
#include "protocols/auth/ntlmssp.h"
#include "protocols/auth/spnego.h"

enum { AUTH_SPNEGO = 9, AUTH_NTLM = 10, AUTH_NETLOGON = 68, LEVEL_PRIVACY = 6 };

static void ntlm_key(struct standin *standin, struct standin_seal *seal, const uint8_t *token,
                     size_t size);
static void channel_name(struct standin_seal *seal, const uint8_t *token, size_t size);
static bool channel_open(const uint8_t key[16], uint8_t *data, size_t size, const uint8_t *token,
                         size_t token_size);

void standin_seal_client_token(struct standin *standin, struct standin_seal *seal,
                               const uint8_t *token, size_t size)
{
    if (seal->type == AUTH_NETLOGON)
        channel_name(seal, token, size);
    else if (seal->type != AUTH_SPNEGO && seal->type != AUTH_NTLM)
        return;
    else if (memmem(token, size, "NTLMSSP\0\1", 9))
        ntlm_acceptor_negotiate(&seal->ntlm, token, size);
    else if (seal->ntlm.challenge_size && memmem(token, size, "NTLMSSP\0\3", 9))
        ntlm_key(standin, seal, token, size);
}

/* NL_AUTH_MESSAGE with both names (MS-NRPC 2.2.1.3.1). */
static void channel_name(struct standin_seal *seal, const uint8_t *token, size_t size)
{
    const uint8_t *end = size > 8 ? memchr(token + 8, 0, size - 8) : NULL;
    if (end)
        snprintf(seal->computer, sizeof seal->computer, "%.*s",
                 (int)(size - (size_t)(end + 1 - token)), (const char *)end + 1);
}

static void ntlm_key(struct standin *standin, struct standin_seal *seal, const uint8_t *token,
                     size_t size)
{
    struct spnego_response response = {.token = {token, size}};
    uint8_t key[16];
    char user[STANDIN_NAME];
    if (seal->type == AUTH_SPNEGO && spnego_parse_response(token, size, &response) != 0)
        return;
    if (!response.token.data ||
        !standin_ntlm_verify(standin, &seal->ntlm, response.token, key, user))
        return;
    ntlm_side_init(&seal->from_client, key, false);
    seal->from_client.sequence = response.mech_list_mic.size ? 1 : 0;
    seal->ntlm_keyed = true;
}

void standin_seal_server_token(struct standin_seal *seal, const uint8_t *token, size_t size)
{
    const uint8_t *message = memmem(token, size, "NTLMSSP\0\2", 9);
    size_t length = message ? size - (size_t)(message - token) : 0;
    if (!message || length > sizeof seal->ntlm.challenge)
        return;
    memcpy(seal->ntlm.challenge, message, length);
    seal->ntlm.challenge_size = length;
}

bool standin_seal_open(struct standin *standin, struct standin_seal *seal, uint8_t *data,
                       size_t size, const uint8_t *token, size_t token_size)
{
    uint8_t key[16], mac[8];
    if (seal->ntlm_keyed && token_size == 16) {
        if (seal->level == LEVEL_PRIVACY)
            arcfour_crypt(&seal->from_client.rc4, size, data, data);
        arcfour_crypt(&seal->from_client.rc4, 8, mac, token + 4);
        return true;
    }
    if (seal->type != AUTH_NETLOGON)
        return seal->level < LEVEL_PRIVACY;
    pthread_mutex_lock(&standin->lock);
    memcpy(key, standin_machine_find(standin, seal->computer)->session_key, 16);
    pthread_mutex_unlock(&standin->lock);
    return channel_open(key, data, size, token, token_size);
}

/* NL_AUTH_SHA2_SIGNATURE (MS-NRPC 2.2.1.3.3, 3.3.4.2.2): the sequence number, then the data. */
static bool channel_open(const uint8_t key[16], uint8_t *data, size_t size, const uint8_t *token,
                         size_t token_size)
{
    uint8_t iv[16], sequence[8], seal_key[16], confounder[8];
    if (token_size < 32)
        return false;
    memcpy(iv, token + 16, 8);
    memcpy(iv + 8, token + 16, 8);
    memcpy(sequence, token + 8, 8);
    standin_cfb8_decrypt(key, iv, sequence, 8);
    if (sequence[4] != 0x80) /* sent by a client: the key is another */
        return false;
    for (int i = 0; i < 16; i++)
        seal_key[i] = key[i] ^ 0xf0;
    memcpy(iv, sequence, 8);
    memcpy(iv + 8, sequence, 8);
    memcpy(confounder, token + 24, 8);
    standin_cfb8_decrypt(seal_key, iv, confounder, 8);
    standin_cfb8_decrypt(seal_key, iv, data, size);
    return true;
}

void standin_cfb8_decrypt(const uint8_t key[16], uint8_t iv[16], uint8_t *data, size_t size)
{
    struct aes128_ctx aes;
    aes128_set_encrypt_key(&aes, key);
    cfb8_decrypt(&aes, (nettle_cipher_func *)aes128_encrypt, 16, iv, size, data, data);
}

struct standin_machine *standin_machine_find(struct standin *standin, const char *computer)
{
    struct standin_machine *machine;
    for (size_t i = 0; i < standin->machine_count; i++)
        if (strcasecmp(standin->machines[i].name, computer) == 0)
            return &standin->machines[i];
    if (standin->machine_count == STANDIN_MACHINES)
        abort();
    machine = &standin->machines[standin->machine_count++];
    snprintf(machine->name, sizeof machine->name, "%s", computer);
    ntlmssp_nt_hash(standin->passwords[1], machine->nt_hash);
    return machine;
}
