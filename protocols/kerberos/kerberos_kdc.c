/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exchanges with the KDC (RFC 4120 7.2). Over TCP each request has its own connection, as with
 * Windows clients, whose KDC closes it after the reply. Over UDP a request is repeated like any
 * datagram, and switches to TCP if the reply is too long.
 */
#include <com_err.h>
#include <endian.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "protocols/datagram.h"
#include "protocols/kerberos/kerberos_private.h"
#include "protocols/stream.h"

enum { REPLY_MAX = 1 << 20, DATAGRAM_MAX = 65536 };

/* The errors of a DC's KDC: RFC 4120 7.5.9, RFC 4556 3.1.3, MS-KILE 2.2.1. */
static const struct {
    int code;
    const char *name;
} kdc_errors[] = {
    {1, "KDC_ERR_NAME_EXP"},
    {2, "KDC_ERR_SERVICE_EXP"},
    {3, "KDC_ERR_BAD_PVNO"},
    {4, "KDC_ERR_C_OLD_MAST_KVNO"},
    {5, "KDC_ERR_S_OLD_MAST_KVNO"},
    {6, "KDC_ERR_C_PRINCIPAL_UNKNOWN"},
    {7, "KDC_ERR_S_PRINCIPAL_UNKNOWN"},
    {8, "KDC_ERR_PRINCIPAL_NOT_UNIQUE"},
    {9, "KDC_ERR_NULL_KEY"},
    {10, "KDC_ERR_CANNOT_POSTDATE"},
    {11, "KDC_ERR_NEVER_VALID"},
    {12, "KDC_ERR_POLICY"},
    {13, "KDC_ERR_BADOPTION"},
    {14, "KDC_ERR_ETYPE_NOSUPP"},
    {15, "KDC_ERR_SUMTYPE_NOSUPP"},
    {16, "KDC_ERR_PADATA_TYPE_NOSUPP"},
    {17, "KDC_ERR_TRTYPE_NOSUPP"},
    {18, "KDC_ERR_CLIENT_REVOKED"},
    {19, "KDC_ERR_SERVICE_REVOKED"},
    {20, "KDC_ERR_TGT_REVOKED"},
    {21, "KDC_ERR_CLIENT_NOTYET"},
    {22, "KDC_ERR_SERVICE_NOTYET"},
    {23, "KDC_ERR_KEY_EXPIRED"},
    {24, "KDC_ERR_PREAUTH_FAILED"},
    {25, "KDC_ERR_PREAUTH_REQUIRED"},
    {26, "KDC_ERR_SERVER_NOMATCH"},
    {27, "KDC_ERR_MUST_USE_USER2USER"},
    {28, "KDC_ERR_PATH_NOT_ACCEPTED"},
    {29, "KDC_ERR_SVC_UNAVAILABLE"},
    {31, "KRB_AP_ERR_BAD_INTEGRITY"},
    {32, "KRB_AP_ERR_TKT_EXPIRED"},
    {33, "KRB_AP_ERR_TKT_NYV"},
    {34, "KRB_AP_ERR_REPEAT"},
    {35, "KRB_AP_ERR_NOT_US"},
    {36, "KRB_AP_ERR_BADMATCH"},
    {37, "KRB_AP_ERR_SKEW"},
    {38, "KRB_AP_ERR_BADADDR"},
    {39, "KRB_AP_ERR_BADVERSION"},
    {40, "KRB_AP_ERR_MSG_TYPE"},
    {41, "KRB_AP_ERR_MODIFIED"},
    {42, "KRB_AP_ERR_BADORDER"},
    {44, "KRB_AP_ERR_BADKEYVER"},
    {45, "KRB_AP_ERR_NOKEY"},
    {46, "KRB_AP_ERR_MUT_FAIL"},
    {47, "KRB_AP_ERR_BADDIRECTION"},
    {48, "KRB_AP_ERR_METHOD"},
    {49, "KRB_AP_ERR_BADSEQ"},
    {50, "KRB_AP_ERR_INAPP_CKSUM"},
    {51, "KRB_AP_PATH_NOT_ACCEPTED"},
    {52, "KRB_ERR_RESPONSE_TOO_BIG"},
    {60, "KRB_ERR_GENERIC"},
    {61, "KRB_ERR_FIELD_TOOLONG"},
    {62, "KDC_ERR_CLIENT_NOT_TRUSTED"},
    {68, "KDC_ERR_WRONG_REALM"},
    {69, "KRB_AP_ERR_USER_TO_USER_REQUIRED"},
};

static bool switch_to_tcp(struct kdc *kdc, krb5_error_code code);
static int kdc_ask_udp(struct kdc *kdc, const krb5_data *request);
static bool kdc_is_answer(const struct datagram_question *question, const uint8_t *bytes,
                          size_t size);
static int kdc_ask_tcp(struct kdc *kdc, const krb5_data *request);
static int kdc_write_request(struct stream *stream, const krb5_data *request);
static int kdc_read_reply(struct stream *stream, krb5_data *reply);
static krb5_error *last_error(krb5_context context, const struct kdc *kdc);
static struct outcome clock_failure(const struct kdc *kdc);
static struct outcome kdc_failure(int code);
static bool is_malformed(krb5_error_code code);

/* An upper bound on the replies of one exchange. */
enum { STEPS_MAX = 8 };

krb5_error_code kdc_run(krb5_context context, struct kdc *kdc, const struct kdc_exchange *exchange)
{
    for (int step = 0; step < STEPS_MAX; step++) {
        krb5_data request, realm;
        bool more = false;
        krb5_error_code code = step > 0 ? exchange->refusal(kdc_error_code(context, kdc)) : 0;
        if (code)
            return code;
        code = exchange->step(exchange->self, &request, &realm, &more);
        more = switch_to_tcp(kdc, code) || (!code && more);
        if (more)
            code = kdc_ask(kdc, &request) ? KRB5_KDC_UNREACH : 0;
        krb5_free_data_contents(context, &request);
        krb5_free_data_contents(context, &realm);
        if (code || !more)
            return code;
    }
    return KRB5_GET_IN_TKT_LOOP;
}

/* True if a reply did not fit into a datagram: the same request then goes over TCP. */
static bool switch_to_tcp(struct kdc *kdc, krb5_error_code code)
{
    if (code != KRB5KRB_ERR_RESPONSE_TOO_BIG || kdc->transport != KDC_UDP)
        return false;
    kdc->transport = KDC_TCP;
    return true;
}

int kdc_ask(struct kdc *kdc, const krb5_data *request)
{
    kdc_end(kdc);
    kdc->error = -EMSGSIZE;
    if (kdc->transport == KDC_UDP)
        kdc->error = kdc_ask_udp(kdc, request);
    if (kdc->error == -EMSGSIZE) {
        kdc->transport = KDC_TCP;
        kdc->error = kdc_ask_tcp(kdc, request);
    }
    return kdc->error;
}

static int kdc_ask_udp(struct kdc *kdc, const krb5_data *request)
{
    const struct dc *dc = kdc->conversation->dc;
    const struct datagram_question question = {.port = dc->ports.kerberos,
                                               .bytes = request->data,
                                               .size = request->length,
                                               .waits = datagram_waits_default,
                                               .is_answer = kdc_is_answer};
    uint8_t *reply = malloc(DATAGRAM_MAX);
    if (!reply)
        return -ENOMEM;
    ssize_t size = datagram_ask(&kdc->conversation->wire, dc, &question, reply, DATAGRAM_MAX);
    if (size < 0) {
        free(reply);
        return (int)size;
    }
    kdc->reply.data = (char *)reply;
    kdc->reply.length = (unsigned)size;
    return 0;
}

static bool kdc_is_answer(const struct datagram_question *question, const uint8_t *bytes,
                          size_t size)
{
    (void)question, (void)bytes;
    return size > 0;
}

static int kdc_ask_tcp(struct kdc *kdc, const krb5_data *request)
{
    const struct dc *dc = kdc->conversation->dc;
    struct sockaddr_storage peer;
    socklen_t peer_len = dc_address(dc, dc->ports.kerberos, &peer);
    struct stream *stream = NULL;
    int error = stream_open(&stream, &kdc->conversation->wire, STREAM_TCP,
                            (const struct sockaddr *)&peer, peer_len);
    if (!error)
        error = kdc_write_request(stream, request);
    if (!error)
        error = kdc_read_reply(stream, &kdc->reply);
    stream_close(stream);
    return error;
}

/* Writes length and request at once, so that they travel in one segment. */
static int kdc_write_request(struct stream *stream, const krb5_data *request)
{
    uint32_t length = htobe32(request->length);
    char *message = malloc(sizeof length + request->length);
    if (!message)
        return -ENOMEM;
    memcpy(message, &length, sizeof length);
    memcpy(message + sizeof length, request->data, request->length);
    int error = stream_write(stream, message, sizeof length + request->length);
    free(message);
    return error;
}

/* Large enough for most replies, which arrive with their length in one read. */
enum { FIRST_READ = 4096 };

/* Waits before the first read: the reply cannot have arrived yet. */
static int kdc_read_reply(struct stream *stream, krb5_data *reply)
{
    uint8_t first[FIRST_READ];
    uint32_t length;
    size_t have = 0;
    int error = stream_wait(stream);
    while (!error && have < sizeof length) {
        ssize_t n = stream_read(stream, first + have, sizeof first - have);
        error = n < 0 ? (int)n : n == 0 ? -ENODATA : 0;
        have += n > 0 ? (size_t)n : 0;
    }
    if (error)
        return error;
    memcpy(&length, first, sizeof length);
    length = be32toh(length);
    have -= sizeof length;
    if (length == 0 || length > REPLY_MAX)
        return -EBADMSG;
    reply->data = malloc(length);
    if (!reply->data)
        return -ENOMEM;
    reply->length = length;
    if (have > length)
        have = length; /* bytes after the reply are ignored */
    memcpy(reply->data, first + sizeof length, have);
    return stream_read_all(stream, reply->data + have, length - have);
}

void kdc_end(struct kdc *kdc)
{
    free(kdc->reply.data);
    kdc->reply = (krb5_data){.magic = KV5M_DATA};
}

int kdc_error_code(krb5_context context, struct kdc *kdc)
{
    krb5_error *error = last_error(context, kdc);
    int code = error ? (int)error->error : 0;
    if (error)
        kdc->clock_difference = (int64_t)(uint32_t)error->stime - (int64_t)time(NULL);
    krb5_free_error(context, error);
    return code;
}

static krb5_error *last_error(krb5_context context, const struct kdc *kdc)
{
    enum { KRB_ERROR_TAG = 0x7e }; /* [APPLICATION 30] */
    krb5_error *error = NULL;
    if (!kdc->reply.data || (uint8_t)kdc->reply.data[0] != KRB_ERROR_TAG ||
        krb5_rd_error(context, &kdc->reply, &error) != 0)
        return NULL;
    return error;
}

enum { KDC_CODE_SKEW = 37 };

struct outcome kerberos_failure(krb5_context context, struct kdc *kdc, krb5_error_code code)
{
    if (kdc->error)
        return outcome_of_wire(&kdc->conversation->wire, kdc->error);
    int kdc_code = kdc_error_code(context, kdc);
    if (kdc_code == KDC_CODE_SKEW || (code == KRB5_KDCREP_SKEW && kdc->clock_difference))
        return clock_failure(kdc);
    if (kdc_code)
        return kdc_failure(kdc_code);
    return kerberos_library_failure(code);
}

/* Rounded to minutes, so that the failures of one run have the same cause. */
static struct outcome clock_failure(const struct kdc *kdc)
{
    return outcome_failed("clock differs by %lld s", (llabs(kdc->clock_difference) + 30) / 60 * 60);
}

static struct outcome kdc_failure(int code)
{
    for (size_t i = 0; i < sizeof kdc_errors / sizeof kdc_errors[0]; i++)
        if (kdc_errors[i].code == code)
            return outcome_failed("%s", kdc_errors[i].name);
    return outcome_failed("KDC error %d", code);
}

struct outcome kerberos_library_failure(krb5_error_code code)
{
    if (code == ENOMEM)
        return outcome_of_error(-ENOMEM);
    if (is_malformed(code))
        return outcome_of_error(-EBADMSG);
    return outcome_failed("Kerberos: %s", error_message(code));
}

static bool is_malformed(krb5_error_code code)
{
    return (code >= ASN1_BAD_TIMEFORMAT && code <= ASN1_BAD_TIMEFORMAT + 255) ||
           code == KRB5KRB_AP_ERR_MSG_TYPE || code == KRB5KRB_AP_ERR_BADVERSION;
}
