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

bool ntlm_acceptor_negotiate(struct ntlm_acceptor *acceptor, const uint8_t *token, size_t size)
{
    const uint8_t *message = memmem(token, size, "NTLMSSP", 8);
    if (!message)
        return false;
    acceptor->negotiate_size = size - (size_t)(message - token);
    assert_true(acceptor->negotiate_size <= sizeof acceptor->negotiate);
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
        ntlmssp_ntowf_v2(acceptor->nt_hash, "User", "Domain", ntowf) != 0)
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
    const char *sign = from_server ? "session key to server-to-client signing key magic constant"
                                   : "session key to client-to-server signing key magic constant";
    const char *seal = from_server ? "session key to server-to-client sealing key magic constant"
                                   : "session key to client-to-server sealing key magic constant";
    uint8_t sign_key[16], seal_key[16], digest[16];
    struct md5_ctx md5;
    md5_init(&md5);
    md5_update(&md5, 16, key);
    md5_update(&md5, strlen(sign) + 1, (const uint8_t *)sign);
    md5_digest(&md5, 16, sign_key);
    md5_update(&md5, 16, key);
    md5_update(&md5, strlen(seal) + 1, (const uint8_t *)seal);
    md5_digest(&md5, 16, seal_key);
    struct spnego_slice list = spnego_mech_list(SPNEGO_NTLMSSP);
    uint8_t sequence[4] = {0};
    ntlm_acceptor_hmac(sign_key, sequence, 4, list.data, list.size, digest);
    struct arcfour_ctx rc4;
    arcfour_set_key(&rc4, 16, seal_key);
    memset(mic, 0, 16);
    mic[0] = 1;
    arcfour_crypt(&rc4, 8, mic + 4, digest);
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
