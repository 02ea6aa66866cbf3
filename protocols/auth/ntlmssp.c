/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NTLMSSP client, in the order of a context's life: new, NEGOTIATE, CHALLENGE, AUTHENTICATE,
 * signing and sealing. Paragraph numbers refer to MS-NLMP.
 */
#include "protocols/auth/ntlmssp.h"

#include <errno.h>
#include <nettle/arcfour.h>
#include <nettle/hmac.h>
#include <nettle/md4.h>
#include <nettle/md5.h>
#include <nettle/memops.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/little_endian.h"
#include "base/utf16.h"

/* 2.2.2.5 */
enum ntlmssp_flag {
    FLAG_UNICODE = 0x00000001,
    FLAG_OEM = 0x00000002,
    FLAG_REQUEST_TARGET = 0x00000004,
    FLAG_SIGN = 0x00000010,
    FLAG_SEAL = 0x00000020,
    FLAG_NTLM = 0x00000200,
    FLAG_ALWAYS_SIGN = 0x00008000,
    FLAG_EXTENDED_SESSIONSECURITY = 0x00080000,
    FLAG_TARGET_INFO = 0x00800000,
    FLAG_VERSION = 0x02000000,
    FLAG_128 = 0x20000000,
    FLAG_KEY_EXCH = 0x40000000
};
static const uint32_t flag_56 = 0x80000000;

/* 2.2.2.1 */
enum ntlmssp_av {
    AV_EOL = 0,
    AV_FLAGS = 6,
    AV_TIMESTAMP = 7,
    AV_TARGET_NAME = 9,
    AV_CHANNEL_BINDINGS = 10
};

enum {
    NEGOTIATE_SIZE = 40,
    CHALLENGE_MIN_SIZE = 32,
    CHALLENGE_TARGET_INFO = 40, /* offset of its length and offset */
    AUTHENTICATE_MIC = 72,      /* offset of the MIC, or of the payload if there is none */
    MIC_SIZE = 16,
    RESPONSE_HEADER_SIZE = 28, /* 2.2.2.7, before the AV pairs */
    LM_RESPONSE_SIZE = 24,
    MESSAGE_MAX = 0xffff
};

static const char signature_text[8] = "NTLMSSP";
/* 2.2.2.10, as Windows 10 sends it; servers only log it. */
static const uint8_t version[8] = {0x0a, 0x00, 0x61, 0x4a, 0x00, 0x00, 0x00, 0x0f};

struct bytes {
    uint8_t *data;
    size_t size;
};

/* One direction of a security context. */
struct direction {
    uint8_t sign_key[16];
    uint8_t seal_key[16];
    uint32_t sequence;
    bool keyed; /* seal has its key */
    struct arcfour_ctx seal;
};

struct ntlmssp {
    struct bytes user, domain, workstation, target_name; /* UTF-16LE */
    uint8_t ntowf_v2[16];
    bool sign, seal;
    uint32_t flags;   /* requested; after the challenge: negotiated */
    uint32_t refused; /* flags that are needed and that the server does not offer */
    bool has_mic, has_random;
    uint8_t channel_bindings[16]; /* zeros: none */
    struct ntlmssp_random random;
    uint8_t negotiate[NEGOTIATE_SIZE]; /* as sent, because the MIC covers it */
    uint8_t session_key[16];           /* ExportedSessionKey */
    struct direction send, receive;
};

/* The relevant parts of a CHALLENGE_MESSAGE; points into it. */
struct challenge {
    uint32_t flags;
    const uint8_t *server_challenge;
    const uint8_t *target_info; /* AV pairs without their end mark */
    size_t target_info_size;
    uint32_t av_flags;
    bool has_timestamp;
    uint64_t timestamp;
};

/* The four answers to a challenge. */
struct answer {
    uint8_t lm[LM_RESPONSE_SIZE];
    struct bytes nt;
    uint8_t encrypted_key[16];
    bool key_exchange;
};

static int copy_identity(struct ntlmssp *ntlmssp, const struct ntlmssp_identity *identity);
static int copy_utf16(struct bytes *to, const char *text);
static void hmac_md5(const uint8_t key[16], const void *a, size_t a_size, const void *b,
                     size_t b_size, uint8_t digest[16]);
static int parse_challenge(struct challenge *challenge, const uint8_t *message, size_t size);
static int parse_target_info(struct challenge *challenge, const uint8_t *info, size_t size);
static int parse_av_pair(struct challenge *challenge, uint16_t id, const uint8_t *value,
                         size_t size);
static uint32_t needed_flags(const struct ntlmssp *ntlmssp);
static int negotiate_flags(struct ntlmssp *ntlmssp, uint32_t offered);
static int make_answer(struct ntlmssp *ntlmssp, const struct challenge *challenge,
                       struct answer *answer);
static int draw_random(struct ntlmssp *ntlmssp, const struct challenge *challenge);
static uint64_t filetime_now(void);
static int client_target_info(const struct ntlmssp *ntlmssp, const struct challenge *challenge,
                              struct bytes *out);
static uint8_t *put_av(uint8_t *to, uint16_t id, const void *value, size_t size);
static void make_lm_response(const struct ntlmssp *ntlmssp, const struct challenge *challenge,
                             uint8_t lm[LM_RESPONSE_SIZE]);
static void exchange_key(struct ntlmssp *ntlmssp, const uint8_t key[16], struct answer *answer);
static int write_authenticate(struct ntlmssp *ntlmssp, const struct answer *answer,
                              struct bytes *out);
static void put_payload(uint8_t *message, size_t field, size_t *at, const void *data, size_t size);
static void put_mic(const struct ntlmssp *ntlmssp, const uint8_t *challenge, size_t challenge_size,
                    struct bytes *message);
static void derive_keys(struct ntlmssp *ntlmssp);
static void derive_direction(const struct ntlmssp *ntlmssp, struct direction *direction,
                             const char *sign_magic, const char *seal_magic);
static void compute_checksum(struct direction *direction, const uint8_t *data, size_t size,
                             uint8_t signature[16]);
static void encrypt_checksum(const struct ntlmssp *ntlmssp, struct direction *direction,
                             uint8_t signature[16]);
static void apply_rc4(struct direction *direction, size_t size, uint8_t *data);

int ntlmssp_new(struct ntlmssp **out, const struct ntlmssp_identity *identity, bool sign, bool seal)
{
    struct ntlmssp *ntlmssp = calloc(1, sizeof *ntlmssp);
    if (!ntlmssp)
        return -ENOMEM;
    int rc = copy_identity(ntlmssp, identity);
    if (rc) {
        ntlmssp_free(ntlmssp);
        return rc;
    }
    ntlmssp->sign = sign || seal;
    ntlmssp->seal = seal;
    ntlmssp->flags = FLAG_UNICODE | FLAG_OEM | FLAG_REQUEST_TARGET | FLAG_NTLM | FLAG_ALWAYS_SIGN |
                     FLAG_EXTENDED_SESSIONSECURITY | FLAG_VERSION | FLAG_128 | FLAG_KEY_EXCH |
                     flag_56 | (ntlmssp->sign ? FLAG_SIGN : 0) | (seal ? FLAG_SEAL : 0);
    *out = ntlmssp;
    return 0;
}

static int copy_identity(struct ntlmssp *ntlmssp, const struct ntlmssp_identity *identity)
{
    int rc = copy_utf16(&ntlmssp->user, identity->user);
    if (rc == 0)
        rc = copy_utf16(&ntlmssp->domain, identity->domain);
    if (rc == 0)
        rc = copy_utf16(&ntlmssp->workstation, identity->workstation);
    if (rc == 0)
        rc = copy_utf16(&ntlmssp->target_name, identity->target_name);
    if (rc == 0)
        rc = ntlmssp_ntowf_v2(identity->nt_hash, identity->user, identity->domain,
                              ntlmssp->ntowf_v2);
    if (identity->channel_bindings)
        memcpy(ntlmssp->channel_bindings, identity->channel_bindings,
               sizeof ntlmssp->channel_bindings);
    if (rc == 0 && identity->random) {
        ntlmssp->has_random = true;
        ntlmssp->random = *identity->random;
    }
    return rc;
}

static int copy_utf16(struct bytes *to, const char *text)
{
    if (!text)
        return 0;
    int rc = utf16le_from_utf8(text, &to->data, &to->size);
    /* Security buffers count in 16 bits. */
    return rc == 0 && to->size > MESSAGE_MAX / 8 ? -EINVAL : rc;
}

void ntlmssp_free(struct ntlmssp *ntlmssp)
{
    if (!ntlmssp)
        return;
    free(ntlmssp->user.data);
    free(ntlmssp->domain.data);
    free(ntlmssp->workstation.data);
    free(ntlmssp->target_name.data);
    explicit_bzero(ntlmssp, sizeof *ntlmssp);
    free(ntlmssp);
}

int ntlmssp_nt_hash(const char *password, uint8_t hash[16])
{
    struct bytes wide;
    int rc = utf16le_from_utf8(password, &wide.data, &wide.size);
    if (rc)
        return rc;
    struct md4_ctx context;
    md4_init(&context);
    md4_update(&context, wide.size, wide.data);
    md4_digest(&context, 16, hash);
    explicit_bzero(wide.data, wide.size);
    free(wide.data);
    return 0;
}

int ntlmssp_ntowf_v2(const uint8_t nt_hash[16], const char *user, const char *domain,
                     uint8_t key[16])
{
    struct bytes upper = {0}, wide_domain = {0};
    int rc = utf16le_upper_from_utf8(user, &upper.data, &upper.size);
    if (rc == 0)
        rc = utf16le_from_utf8(domain, &wide_domain.data, &wide_domain.size);
    if (rc == 0)
        hmac_md5(nt_hash, upper.data, upper.size, wide_domain.data, wide_domain.size, key);
    free(upper.data);
    free(wide_domain.data);
    return rc;
}

static void hmac_md5(const uint8_t key[16], const void *a, size_t a_size, const void *b,
                     size_t b_size, uint8_t digest[16])
{
    struct hmac_md5_ctx context;
    hmac_md5_set_key(&context, 16, key);
    hmac_md5_update(&context, a_size, a);
    hmac_md5_update(&context, b_size, b);
    hmac_md5_digest(&context, 16, digest);
}

int ntlmssp_v2_response(const uint8_t ntowf_v2[16], const uint8_t server_challenge[8],
                        const uint8_t client_challenge[8], uint64_t time,
                        const uint8_t *target_info, size_t target_info_size, uint8_t **response,
                        size_t *size, uint8_t session_base_key[16])
{
    size_t blob_size = RESPONSE_HEADER_SIZE + target_info_size + 4;
    if (target_info_size > MESSAGE_MAX || 16 + blob_size > MESSAGE_MAX)
        return -EMSGSIZE;
    uint8_t *out = calloc(1, 16 + blob_size);
    if (!out)
        return -ENOMEM;
    uint8_t *blob = out + 16;
    blob[0] = blob[1] = 1;
    le_put64(blob + 8, time);
    memcpy(blob + 16, client_challenge, 8);
    memcpy(blob + RESPONSE_HEADER_SIZE, target_info, target_info_size);
    hmac_md5(ntowf_v2, server_challenge, 8, blob, blob_size, out);
    if (session_base_key)
        hmac_md5(ntowf_v2, out, 16, NULL, 0, session_base_key);
    *response = out;
    *size = 16 + blob_size;
    return 0;
}

/* 2.2.1.1, without domain and workstation, which it can only give in the OEM character set. */
int ntlmssp_negotiate(struct ntlmssp *ntlmssp, uint8_t **message, size_t *size)
{
    uint8_t *out = calloc(1, NEGOTIATE_SIZE);
    if (!out)
        return -ENOMEM;
    memcpy(out, signature_text, 8);
    le_put32(out + 8, 1);
    le_put32(out + 12, ntlmssp->flags);
    le_put32(out + 20, NEGOTIATE_SIZE);
    le_put32(out + 28, NEGOTIATE_SIZE);
    memcpy(out + 32, version, sizeof version);
    memcpy(ntlmssp->negotiate, out, NEGOTIATE_SIZE);
    *message = out;
    *size = NEGOTIATE_SIZE;
    return 0;
}

int ntlmssp_authenticate(struct ntlmssp *ntlmssp, const uint8_t *challenge, size_t challenge_size,
                         uint8_t **message, size_t *size)
{
    struct challenge offer = {0};
    struct answer answer = {0};
    struct bytes out = {0};
    int rc = parse_challenge(&offer, challenge, challenge_size);
    if (rc == 0)
        rc = negotiate_flags(ntlmssp, offer.flags);
    if (rc == 0)
        rc = make_answer(ntlmssp, &offer, &answer);
    if (rc)
        goto cleanup;
    ntlmssp->has_mic = offer.has_timestamp;
    rc = write_authenticate(ntlmssp, &answer, &out);
    if (rc)
        goto cleanup;
    if (ntlmssp->has_mic)
        put_mic(ntlmssp, challenge, challenge_size, &out);
    derive_keys(ntlmssp);
    *message = out.data;
    *size = out.size;
cleanup:
    free(answer.nt.data);
    return rc;
}

/* 2.2.1.2 */
static int parse_challenge(struct challenge *challenge, const uint8_t *message, size_t size)
{
    if (size < CHALLENGE_MIN_SIZE || size > MESSAGE_MAX ||
        memcmp(message, signature_text, 8) != 0 || le_get32(message + 8) != 2)
        return -EBADMSG;
    challenge->flags = le_get32(message + 20);
    challenge->server_challenge = message + 24;
    if (!(challenge->flags & FLAG_TARGET_INFO))
        return 0;
    if (size < CHALLENGE_TARGET_INFO + 8)
        return -EBADMSG;
    size_t length = le_get16(message + CHALLENGE_TARGET_INFO);
    uint64_t offset = le_get32(message + CHALLENGE_TARGET_INFO + 4);
    if (offset > size || length > size - offset)
        return -EBADMSG;
    return parse_target_info(challenge, message + offset, length);
}

static int parse_target_info(struct challenge *challenge, const uint8_t *info, size_t size)
{
    size_t at = 0;
    for (;;) {
        if (size - at < 4)
            return -EBADMSG;
        uint16_t id = le_get16(info + at), value_size = le_get16(info + at + 2);
        if (id == AV_EOL)
            break;
        if (size - at - 4 < value_size)
            return -EBADMSG;
        int rc = parse_av_pair(challenge, id, info + at + 4, value_size);
        if (rc)
            return rc;
        at += 4 + (size_t)value_size;
    }
    challenge->target_info = info;
    challenge->target_info_size = at;
    return 0;
}

static int parse_av_pair(struct challenge *challenge, uint16_t id, const uint8_t *value,
                         size_t size)
{
    if (id == AV_TIMESTAMP) {
        if (size != 8)
            return -EBADMSG;
        challenge->has_timestamp = true;
        challenge->timestamp = le_get64(value);
    } else if (id == AV_FLAGS) {
        if (size != 4)
            return -EBADMSG;
        challenge->av_flags = le_get32(value);
    }
    return 0;
}

static uint32_t needed_flags(const struct ntlmssp *ntlmssp)
{
    return FLAG_UNICODE | FLAG_NTLM | FLAG_EXTENDED_SESSIONSECURITY |
           (ntlmssp->sign ? FLAG_SIGN : 0u) | (ntlmssp->seal ? FLAG_SEAL : 0u);
}

const char *ntlmssp_refused(const struct ntlmssp *ntlmssp)
{
    static const struct {
        uint32_t flag;
        const char *name;
    } names[] = {{FLAG_UNICODE, "NTLMSSP_NEGOTIATE_UNICODE"},
                 {FLAG_NTLM, "NTLMSSP_NEGOTIATE_NTLM"},
                 {FLAG_EXTENDED_SESSIONSECURITY, "NTLMSSP_NEGOTIATE_EXTENDED_SESSIONSECURITY"},
                 {FLAG_SIGN, "NTLMSSP_NEGOTIATE_SIGN"},
                 {FLAG_SEAL, "NTLMSSP_NEGOTIATE_SEAL"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (ntlmssp->refused & names[i].flag)
            return names[i].name;
    return NULL;
}

static int negotiate_flags(struct ntlmssp *ntlmssp, uint32_t offered)
{
    ntlmssp->refused = needed_flags(ntlmssp) & ~offered;
    if (ntlmssp->refused)
        return -EOPNOTSUPP;
    ntlmssp->flags = (ntlmssp->flags | FLAG_TARGET_INFO) & offered & ~(uint32_t)FLAG_OEM;
    return 0;
}

static int make_answer(struct ntlmssp *ntlmssp, const struct challenge *challenge,
                       struct answer *answer)
{
    struct bytes target_info = {0};
    uint8_t session_base_key[16];
    int rc = draw_random(ntlmssp, challenge);
    if (rc == 0)
        rc = client_target_info(ntlmssp, challenge, &target_info);
    if (rc == 0)
        rc = ntlmssp_v2_response(ntlmssp->ntowf_v2, challenge->server_challenge,
                                 ntlmssp->random.client_challenge, ntlmssp->random.time,
                                 target_info.data, target_info.size, &answer->nt.data,
                                 &answer->nt.size, session_base_key);
    free(target_info.data);
    if (rc)
        return rc;
    make_lm_response(ntlmssp, challenge, answer->lm);
    exchange_key(ntlmssp, session_base_key, answer);
    explicit_bzero(session_base_key, sizeof session_base_key);
    return 0;
}

static int draw_random(struct ntlmssp *ntlmssp, const struct challenge *challenge)
{
    struct ntlmssp_random *random = &ntlmssp->random;
    if (!ntlmssp->has_random) {
        if (getentropy(random->client_challenge, sizeof random->client_challenge) != 0 ||
            getentropy(random->exported_session_key, sizeof random->exported_session_key) != 0)
            return -errno;
        random->time = filetime_now();
    }
    if (challenge->has_timestamp)
        random->time = challenge->timestamp;
    return 0;
}

static uint64_t filetime_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return ((uint64_t)now.tv_sec + 11644473600u) * 10000000u + (uint64_t)now.tv_nsec / 100;
}

enum { AV_FLAG_MIC = 2 };

/*
 * 3.1.5.1.2: the server's AV pairs; MsvAvFlags with the MIC bit if the server sent a time; the
 * service's name and the channel bindings if the service is known.
 */
static int client_target_info(const struct ntlmssp *ntlmssp, const struct challenge *challenge,
                              struct bytes *out)
{
    uint8_t flags[4];
    le_put32(flags, challenge->av_flags | (challenge->has_timestamp ? AV_FLAG_MIC : 0));
    size_t most = challenge->target_info_size + 8 + 20 + 4 + ntlmssp->target_name.size + 4;
    out->data = malloc(most);
    if (!out->data)
        return -ENOMEM;
    uint8_t *to = out->data;
    const uint8_t *from = challenge->target_info;
    for (size_t left = challenge->target_info_size, step; left; left -= step, from += step) {
        step = 4 + (size_t)le_get16(from + 2);
        if (le_get16(from) != AV_FLAGS)
            to = put_av(to, le_get16(from), from + 4, step - 4);
    }
    if (le_get32(flags))
        to = put_av(to, AV_FLAGS, flags, sizeof flags);
    if (ntlmssp->target_name.size) {
        to = put_av(to, AV_CHANNEL_BINDINGS, ntlmssp->channel_bindings,
                    sizeof ntlmssp->channel_bindings);
        to = put_av(to, AV_TARGET_NAME, ntlmssp->target_name.data, ntlmssp->target_name.size);
    }
    to = put_av(to, AV_EOL, NULL, 0);
    out->size = (size_t)(to - out->data);
    return 0;
}

static uint8_t *put_av(uint8_t *to, uint16_t id, const void *value, size_t size)
{
    le_put16(to, id);
    le_put16(to + 2, size);
    if (size)
        memcpy(to + 4, value, size);
    return to + 4 + size;
}

/* LMv2, or zeros if the challenge contains the server's time (3.1.5.1.2). */
static void make_lm_response(const struct ntlmssp *ntlmssp, const struct challenge *challenge,
                             uint8_t lm[LM_RESPONSE_SIZE])
{
    memset(lm, 0, LM_RESPONSE_SIZE);
    if (challenge->has_timestamp)
        return;
    memcpy(lm + 16, ntlmssp->random.client_challenge, 8);
    hmac_md5(ntlmssp->ntowf_v2, challenge->server_challenge, 8, lm + 16, 8, lm);
}

/* 3.1.5.1.2. In NTLMv2 the KeyExchangeKey is the SessionBaseKey. */
static void exchange_key(struct ntlmssp *ntlmssp, const uint8_t key[16], struct answer *answer)
{
    answer->key_exchange = ntlmssp->flags & FLAG_KEY_EXCH;
    if (!answer->key_exchange) {
        memcpy(ntlmssp->session_key, key, 16);
        return;
    }
    memcpy(ntlmssp->session_key, ntlmssp->random.exported_session_key, 16);
    struct arcfour_ctx exchange;
    arcfour_set_key(&exchange, 16, key);
    arcfour_crypt(&exchange, 16, answer->encrypted_key, ntlmssp->session_key);
}

static int write_authenticate(struct ntlmssp *ntlmssp, const struct answer *answer,
                              struct bytes *out)
{
    size_t at = AUTHENTICATE_MIC + (ntlmssp->has_mic ? MIC_SIZE : 0);
    size_t key_size = answer->key_exchange ? sizeof answer->encrypted_key : 0;
    out->size = at + ntlmssp->domain.size + ntlmssp->user.size + ntlmssp->workstation.size +
                LM_RESPONSE_SIZE + answer->nt.size + key_size;
    if (out->size > MESSAGE_MAX)
        return -EMSGSIZE;
    uint8_t *message = calloc(1, out->size);
    if (!message)
        return -ENOMEM;
    memcpy(message, signature_text, 8);
    le_put32(message + 8, 3);
    put_payload(message, 28, &at, ntlmssp->domain.data, ntlmssp->domain.size);
    put_payload(message, 36, &at, ntlmssp->user.data, ntlmssp->user.size);
    put_payload(message, 44, &at, ntlmssp->workstation.data, ntlmssp->workstation.size);
    put_payload(message, 12, &at, answer->lm, LM_RESPONSE_SIZE);
    put_payload(message, 20, &at, answer->nt.data, answer->nt.size);
    put_payload(message, 52, &at, answer->encrypted_key, key_size);
    le_put32(message + 60, ntlmssp->flags);
    if (ntlmssp->flags & FLAG_VERSION)
        memcpy(message + 64, version, sizeof version);
    out->data = message;
    return 0;
}

/* Appends a payload at *at and writes its security buffer (2.2.1.3) into the header. */
static void put_payload(uint8_t *message, size_t field, size_t *at, const void *data, size_t size)
{
    le_put16(message + field, size);
    le_put16(message + field + 2, size);
    le_put32(message + field + 4, (uint32_t)*at);
    if (size)
        memcpy(message + *at, data, size);
    *at += size;
}

/* 3.1.5.1.2: a MIC over the three messages, with zeros in its own place. */
static void put_mic(const struct ntlmssp *ntlmssp, const uint8_t *challenge, size_t challenge_size,
                    struct bytes *message)
{
    struct hmac_md5_ctx context;
    hmac_md5_set_key(&context, 16, ntlmssp->session_key);
    hmac_md5_update(&context, NEGOTIATE_SIZE, ntlmssp->negotiate);
    hmac_md5_update(&context, challenge_size, challenge);
    hmac_md5_update(&context, message->size, message->data);
    hmac_md5_digest(&context, MIC_SIZE, message->data + AUTHENTICATE_MIC);
}

static void derive_keys(struct ntlmssp *ntlmssp)
{
    derive_direction(ntlmssp, &ntlmssp->send,
                     "session key to client-to-server signing key magic constant",
                     "session key to client-to-server sealing key magic constant");
    derive_direction(ntlmssp, &ntlmssp->receive,
                     "session key to server-to-client signing key magic constant",
                     "session key to server-to-client sealing key magic constant");
    ntlmssp_reset_crypto(ntlmssp);
}

/* 3.4.5.2, 3.4.5.3 */
static void derive_direction(const struct ntlmssp *ntlmssp, struct direction *direction,
                             const char *sign_magic, const char *seal_magic)
{
    size_t key_size = ntlmssp->flags & FLAG_128 ? 16 : ntlmssp->flags & flag_56 ? 7 : 5;
    struct md5_ctx md5;
    md5_init(&md5);
    md5_update(&md5, 16, ntlmssp->session_key);
    md5_update(&md5, strlen(sign_magic) + 1, (const uint8_t *)sign_magic);
    md5_digest(&md5, 16, direction->sign_key);
    md5_update(&md5, key_size, ntlmssp->session_key);
    md5_update(&md5, strlen(seal_magic) + 1, (const uint8_t *)seal_magic);
    md5_digest(&md5, 16, direction->seal_key);
    direction->sequence = 0;
}

void ntlmssp_session_key(const struct ntlmssp *ntlmssp, uint8_t key[16])
{
    memcpy(key, ntlmssp->session_key, 16);
}

bool ntlmssp_has_mic(const struct ntlmssp *ntlmssp)
{
    return ntlmssp->has_mic;
}

void ntlmssp_sign(struct ntlmssp *ntlmssp, const uint8_t *data, size_t size, uint8_t signature[16])
{
    compute_checksum(&ntlmssp->send, data, size, signature);
    encrypt_checksum(ntlmssp, &ntlmssp->send, signature);
}

/* 3.4.4.2, without the encryption of the checksum by RC4. */
static void compute_checksum(struct direction *direction, const uint8_t *data, size_t size,
                             uint8_t signature[16])
{
    uint8_t digest[16];
    le_put32(signature, 1);
    le_put32(signature + 12, direction->sequence++);
    hmac_md5(direction->sign_key, signature + 12, 4, data, size, digest);
    memcpy(signature + 4, digest, 8);
}

static void encrypt_checksum(const struct ntlmssp *ntlmssp, struct direction *direction,
                             uint8_t signature[16])
{
    if (ntlmssp->flags & FLAG_KEY_EXCH)
        apply_rc4(direction, 8, signature + 4);
}

/* The key schedule is computed at first use: it costs as much as sealing 1 KiB, and SMB2 needs it
 * only for the mechListMIC. */
static void apply_rc4(struct direction *direction, size_t size, uint8_t *data)
{
    if (!direction->keyed)
        arcfour_set_key(&direction->seal, 16, direction->seal_key);
    direction->keyed = true;
    arcfour_crypt(&direction->seal, size, data, data);
}

int ntlmssp_verify(struct ntlmssp *ntlmssp, const uint8_t *data, size_t size,
                   const uint8_t signature[16])
{
    uint8_t expected[16];
    compute_checksum(&ntlmssp->receive, data, size, expected);
    encrypt_checksum(ntlmssp, &ntlmssp->receive, expected);
    return memeql_sec(expected, signature, sizeof expected) ? 0 : -EBADMSG;
}

void ntlmssp_seal(struct ntlmssp *ntlmssp, uint8_t *data, size_t size, const uint8_t *signed_data,
                  size_t signed_size, uint8_t signature[16])
{
    compute_checksum(&ntlmssp->send, signed_data, signed_size, signature);
    apply_rc4(&ntlmssp->send, size, data);
    encrypt_checksum(ntlmssp, &ntlmssp->send, signature);
}

int ntlmssp_unseal(struct ntlmssp *ntlmssp, uint8_t *data, size_t size, const uint8_t *signed_data,
                   size_t signed_size, const uint8_t signature[16])
{
    apply_rc4(&ntlmssp->receive, size, data);
    return ntlmssp_verify(ntlmssp, signed_data, signed_size, signature);
}

void ntlmssp_reset_crypto(struct ntlmssp *ntlmssp)
{
    ntlmssp->send.keyed = ntlmssp->receive.keyed = false;
}
