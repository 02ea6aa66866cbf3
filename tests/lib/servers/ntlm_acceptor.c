/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/servers/ntlm_acceptor.h"

#include <nettle/arcfour.h>
#include <nettle/hmac.h>
#include <nettle/md5.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/little_endian.h"
#include "protocols/auth/ntlmssp.h"
#include "protocols/auth/spnego.h"
#include "tests/lib/bytes.h"

static size_t ntlm_challenge_message(uint8_t *out);
static void side_key(const uint8_t key[16], const char *name, uint8_t out[16]);

bool ntlm_acceptor_negotiate(struct ntlm_acceptor *acceptor, const uint8_t *token, size_t size)
{
    const uint8_t *message = memmem(token, size, "NTLMSSP", 8);
    if (!message)
        return false;
    acceptor->negotiate_size = size - (size_t)(message - token);
    if (acceptor->negotiate_size > sizeof acceptor->negotiate)
        return false;
    memcpy(acceptor->negotiate, message, acceptor->negotiate_size);
    acceptor->challenge_size = ntlm_challenge_message(acceptor->challenge);
    return true;
}

static size_t ntlm_challenge_message(uint8_t *out)
{
    return bytes_from_hex(
        "4e544c4d53535000 02000000 0c000c00 38000000 33828ae2 0123456789abcdef 0000000000000000"
        "30003000 44000000 0600701700 00000f 530065007200760065007200"
        "02000c00 44006f006d00610069006e00 01000c00 530065007200760065007200"
        "07000800 1122334455667700 00000000",
        out);
}

bool ntlm_acceptor_authenticate(struct ntlm_acceptor *acceptor, const uint8_t *message, size_t size,
                                uint8_t key[16])
{
    uint8_t ntowf[16], proof[16], base[16], mic[16], expected[16], copy[4096];
    if (size < 88 || size > sizeof copy || le_get32(message + 8) != 3)
        return false;
    size_t nt_size = le_get16(message + 20), nt = le_get32(message + 24);
    size_t key_size = le_get16(message + 52), key_at = le_get32(message + 56);
    if (nt + nt_size > size || nt_size < 16 || key_size != 16 || key_at + 16 > size ||
        ntlmssp_ntowf_v2(acceptor->nt_hash, acceptor->user ? acceptor->user : "User",
                         acceptor->domain ? acceptor->domain : "Domain", ntowf) != 0)
        return false;
    ntlm_acceptor_hmac(ntowf, acceptor->challenge + 24, 8, message + nt + 16, nt_size - 16, proof);
    if (memcmp(proof, message + nt, 16) != 0)
        return false;
    ntlm_acceptor_hmac(ntowf, proof, 16, NULL, 0, base);
    struct arcfour_ctx rc4;
    arcfour_set_key(&rc4, 16, base);
    arcfour_crypt(&rc4, 16, key, message + key_at);
    memcpy(copy, message, size);
    memcpy(mic, copy + 72, 16);
    memset(copy + 72, 0, 16);
    struct hmac_md5_ctx context;
    hmac_md5_set_key(&context, 16, key);
    hmac_md5_update(&context, acceptor->negotiate_size, acceptor->negotiate);
    hmac_md5_update(&context, acceptor->challenge_size, acceptor->challenge);
    hmac_md5_update(&context, size, copy);
    hmac_md5_digest(&context, 16, expected);
    return memcmp(mic, expected, 16) == 0;
}

void ntlm_acceptor_mic(const uint8_t key[16], bool from_server, uint8_t mic[16])
{
    struct ntlm_side side;
    struct spnego_slice list = spnego_mech_list(SPNEGO_NTLMSSP);
    ntlm_side_init(&side, key, from_server);
    ntlm_side_sign(&side, list.data, list.size, mic);
}

void ntlm_side_init(struct ntlm_side *side, const uint8_t key[16], bool from_server)
{
    static const char *const names[2][2] = {
        {"session key to client-to-server signing key magic constant",
         "session key to client-to-server sealing key magic constant"},
        {"session key to server-to-client signing key magic constant",
         "session key to server-to-client sealing key magic constant"}};
    side_key(key, names[from_server][0], side->sign_key);
    side_key(key, names[from_server][1], side->seal_key);
    side->sequence = 0;
    ntlm_side_restart(side);
}

static void side_key(const uint8_t key[16], const char *name, uint8_t out[16])
{
    struct md5_ctx md5;
    md5_init(&md5);
    md5_update(&md5, 16, key);
    md5_update(&md5, strlen(name) + 1, (const uint8_t *)name);
    md5_digest(&md5, 16, out);
}

void ntlm_side_restart(struct ntlm_side *side)
{
    arcfour_set_key(&side->rc4, 16, side->seal_key);
}

void ntlm_side_sign(struct ntlm_side *side, const uint8_t *data, size_t size, uint8_t mac[16])
{
    uint8_t sequence[4], digest[16];
    le_put32(sequence, side->sequence++);
    ntlm_acceptor_hmac(side->sign_key, sequence, 4, data, size, digest);
    le_put32(mac, 1);
    arcfour_crypt(&side->rc4, 8, mac + 4, digest);
    memcpy(mac + 12, sequence, 4);
}

void ntlm_acceptor_hmac(const uint8_t *key, const void *a, size_t a_size, const void *b,
                        size_t b_size, uint8_t *out)
{
    struct hmac_md5_ctx context;
    hmac_md5_set_key(&context, 16, key);
    hmac_md5_update(&context, a_size, a);
    hmac_md5_update(&context, b_size, b);
    hmac_md5_digest(&context, 16, out);
}
