/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/windows/standin_ldap.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

enum { TLS_PORT = 636, OWN_ID = 0x7ffffff0, FRAME_MAX = 32768 };

static void ldap_session(struct standin_ldap *ldap);
static void read_client(struct standin_ldap *ldap);
static bool decode_frames(struct standin_ldap *ldap);
static bool next_message(const struct standin_bytes *bytes, struct standin_message *message);
static size_t whole_size(const uint8_t *data, size_t size);
static void take_request(struct standin_ldap *ldap, const struct standin_message *message);
static bool is_start_tls(const struct standin_message *message);
static void start_tls(struct standin_ldap *ldap, ber_int_t id);
static bool take_bind(struct standin_ldap *ldap, const struct standin_message *message);
static void sasl_bind(struct standin_ldap *ldap, ber_int_t id, const char *mechanism,
                      const struct berval *token);
static void send_bind_answer(struct standin_ldap *ldap, ber_int_t id,
                             const struct standin_bind_answer *answer);
static bool bind_at_dc(struct standin_ldap *ldap);
static void see_result(void *context, const struct standin_message *message);
static void read_server(struct standin_ldap *ldap);
static void take_reply(struct standin_ldap *ldap, const struct standin_message *message);
static bool ends_request(ber_tag_t tag);

void standin_ldap_serve(struct standin *standin, int fd, uint16_t port)
{
    struct standin_ldap ldap = {.standin = standin, .client.fd = fd, .server.fd = -1};
    standin_link_connect(&ldap.server, &standin->dc, TLS_PORT);
    standin_ldap_enter(&ldap);
    if (ldap.server.fd >= 0 && standin_link_tls(&ldap.server, false, standin->client_credentials) &&
        (port != TLS_PORT || standin_link_tls(&ldap.client, true, standin->server_credentials)))
        ldap_session(&ldap);
    standin_ldap_leave(&ldap);
    standin_link_close(&ldap.client);
    standin_link_close(&ldap.server);
    standin_context_clear(&ldap.context);
    standin_bytes_free(&ldap.requests);
}

static void ldap_session(struct standin_ldap *ldap)
{
    while (!ldap->over) {
        unsigned ready =
            standin_link_wait(&ldap->client, &ldap->server, standin_ldap_idle_time(ldap));
        if (!ready)
            standin_ldap_idle_end(ldap);
        ldap->last_used = clock_now();
        if (ready & 1)
            read_client(ldap);
        if (ready & 2 && !ldap->over)
            read_server(ldap);
    }
}

static void read_client(struct standin_ldap *ldap)
{
    struct standin_message message;
    if (!standin_link_read(&ldap->client) || !decode_frames(ldap)) {
        ldap->over = true;
        return;
    }
    while (!ldap->over && next_message(&ldap->requests, &message)) {
        take_request(ldap, &message);
        standin_bytes_take(&ldap->requests, message.size);
        if (ldap->context.layer != LAYER_NONE && !decode_frames(ldap))
            ldap->over = true;
    }
}

/* Moves what the client sent to ldap->requests, whole frames only if there is a layer. */
static bool decode_frames(struct standin_ldap *ldap)
{
    struct standin_bytes *in = &ldap->client.in;
    if (ldap->context.layer == LAYER_NONE) {
        standin_bytes_add(&ldap->requests, in->data, in->size);
        in->size = 0;
        return true;
    }
    while (in->size >= 4) {
        size_t size = (size_t)in->data[0] << 24 | (size_t)in->data[1] << 16 |
                      (size_t)in->data[2] << 8 | in->data[3];
        if (in->size - 4 < size)
            break;
        if (!standin_layer_decode(&ldap->context, in->data + 4, size, &ldap->requests))
            return false;
        standin_bytes_take(in, 4 + size);
    }
    return true;
}

static bool next_message(const struct standin_bytes *bytes, struct standin_message *message)
{
    size_t size = whole_size(bytes->data, bytes->size);
    struct berval value = {.bv_val = (char *)bytes->data, .bv_len = size};
    ber_len_t length;
    if (!size)
        return false;
    *message = (struct standin_message){.data = bytes->data, .size = size};
    BerElement *ber = ber_init(&value);
    ber_scanf(ber, "{i", &message->id);
    message->tag = ber_peek_tag(ber, &length);
    ber_free(ber, 1);
    return true;
}

/* The size of the BER element at data; 0: not all of it is there. */
static size_t whole_size(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    size_t header = 2, content = data[1];
    if (content & 0x80) {
        header += content & 0x7f;
        content = 0;
        for (size_t i = 2; i < header && i < size; i++)
            content = content << 8 | data[i];
    }
    return size >= header && size - header >= content ? header + content : 0;
}

static void take_request(struct standin_ldap *ldap, const struct standin_message *message)
{
    if (message->tag == LDAP_REQ_EXTENDED && is_start_tls(message)) {
        start_tls(ldap, message->id);
        return;
    }
    if ((message->tag == LDAP_REQ_BIND && take_bind(ldap, message)) ||
        standin_ldap_rule_request(ldap, message))
        return;
    ldap->outstanding += message->tag != LDAP_REQ_UNBIND && message->tag != LDAP_REQ_ABANDON;
    if (!standin_link_write(&ldap->server, message->data, message->size) ||
        message->tag == LDAP_REQ_UNBIND)
        ldap->over = true;
}

static bool is_start_tls(const struct standin_message *message)
{
    return memmem(message->data, message->size, LDAP_EXOP_START_TLS, strlen(LDAP_EXOP_START_TLS)) !=
           NULL;
}

static void start_tls(struct standin_ldap *ldap, ber_int_t id)
{
    standin_ldap_result(ldap, id, LDAP_RES_EXTENDED, LDAP_SUCCESS, "");
    if (!standin_link_tls(&ldap->client, true, ldap->standin->server_credentials))
        ldap->over = true;
}

/* True: answered here. Simple binds go to the DC. */
static bool take_bind(struct standin_ldap *ldap, const struct standin_message *message)
{
    struct berval value = {.bv_val = (char *)(uintptr_t)message->data, .bv_len = message->size};
    BerElement *ber = ber_init(&value);
    ber_int_t id, version;
    ber_len_t length;
    struct berval dn, token = {0};
    char mechanism[32] = "";
    ber_len_t capacity = sizeof mechanism;
    ber_scanf(ber, "{i{im", &id, &version, &dn);
    bool sasl = ber_peek_tag(ber, &length) == LDAP_AUTH_SASL;
    if (sasl) {
        ber_scanf(ber, "{s", mechanism, &capacity);
        if (ber_peek_tag(ber, &length) == LBER_OCTETSTRING)
            ber_scanf(ber, "m", &token);
        sasl_bind(ldap, id, mechanism, &token);
    }
    ber_free(ber, 0);
    if (sasl || dn.bv_len == 0 ||
        !windows_rules_apply(&ldap->standin->rules, RULE_SIMPLE_IN_CLEAR, !ldap->client.tls))
        return sasl;
    standin_ldap_result(ldap, id, LDAP_RES_BIND, LDAP_STRONG_AUTH_REQUIRED,
                        "00002028: LdapErr: DSID-0C090259, comment: The server requires binds to "
                        "turn on integrity checking if SSL\\TLS are not already active on the "
                        "connection, data 0, v4f7c");
    return true;
}

static void sasl_bind(struct standin_ldap *ldap, ber_int_t id, const char *mechanism,
                      const struct berval *token)
{
    struct standin_bind_answer answer;
    if (ldap->context.complete)
        standin_context_clear(&ldap->context);
    standin_bind_leg(ldap->standin, &ldap->context, ldap->client.tls != NULL, mechanism,
                     (const uint8_t *)token->bv_val, token->bv_len, &answer);
    enum standin_layer layer = ldap->context.layer;
    ldap->context.layer = LAYER_NONE; /* not on this answer */
    if (answer.code == LDAP_SUCCESS && !bind_at_dc(ldap)) {
        answer.code = LDAP_INVALID_CREDENTIALS;
        answer.diagnostic = "the stand-in has no password of this account";
    }
    send_bind_answer(ldap, id, &answer);
    ldap->context.complete = answer.code == LDAP_SUCCESS;
    if (ldap->context.complete)
        ldap->context.layer = layer;
    else if (answer.code != LDAP_SASL_BIND_IN_PROGRESS)
        standin_context_clear(&ldap->context);
    standin_bytes_free(&answer.token);
}

static void send_bind_answer(struct standin_ldap *ldap, ber_int_t id,
                             const struct standin_bind_answer *answer)
{
    struct berval *bytes = NULL;
    BerElement *ber = ber_alloc_t(LBER_USE_DER);
    ber_printf(ber, "{it{ess", id, LDAP_RES_BIND, answer->code, "", answer->diagnostic);
    if (answer->token.size)
        ber_printf(ber, "to", LDAP_TAG_SASL_RES_CREDS, (char *)answer->token.data,
                   (ber_len_t)answer->token.size);
    ber_printf(ber, "}}");
    ber_flatten(ber, &bytes);
    standin_ldap_send(ldap, (uint8_t *)bytes->bv_val, bytes->bv_len);
    ber_bvfree(bytes);
    ber_free(ber, 1);
}

/* The user's requests continue on a connection that a simple bind authenticates. */
static bool bind_at_dc(struct standin_ldap *ldap)
{
    int code = LDAP_INVALID_CREDENTIALS;
    for (int i = 0; code != LDAP_SUCCESS && i < STANDIN_PASSWORDS; i++) {
        BerElement *ber = ber_alloc_t(LBER_USE_DER);
        ber_printf(ber, "{it{ists}}", OWN_ID, LDAP_REQ_BIND, LDAP_VERSION3, ldap->context.user,
                   LDAP_AUTH_SIMPLE, ldap->standin->passwords[i]);
        standin_ldap_ask(ldap, ber, see_result, &code);
    }
    return code == LDAP_SUCCESS;
}

static void see_result(void *context, const struct standin_message *message)
{
    struct berval value = {.bv_val = (char *)(uintptr_t)message->data, .bv_len = message->size};
    BerElement *ber = ber_init(&value);
    ber_int_t id;
    ber_scanf(ber, "{i{e", &id, (int *)context);
    ber_free(ber, 0);
}

void standin_ldap_ask(struct standin_ldap *ldap, BerElement *request,
                      void (*see)(void *context, const struct standin_message *message),
                      void *context)
{
    struct berval *bytes = NULL;
    struct standin_message message = {0};
    ber_flatten(request, &bytes);
    bool sent = standin_link_write(&ldap->server, bytes->bv_val, bytes->bv_len);
    ber_bvfree(bytes);
    ber_free(request, 1);
    while (sent && !ldap->over) {
        if (!next_message(&ldap->server.in, &message)) {
            ldap->over = !standin_link_read(&ldap->server);
            continue;
        }
        bool done = ends_request(message.tag);
        if (message.id == OWN_ID)
            see(context, &message);
        else
            take_reply(ldap, &message);
        done = done && message.id == OWN_ID;
        standin_bytes_take(&ldap->server.in, message.size);
        if (done)
            return;
    }
}

static void read_server(struct standin_ldap *ldap)
{
    struct standin_message message;
    if (!standin_link_read(&ldap->server))
        ldap->over = true;
    while (!ldap->over && next_message(&ldap->server.in, &message)) {
        take_reply(ldap, &message);
        standin_bytes_take(&ldap->server.in, message.size);
    }
}

static void take_reply(struct standin_ldap *ldap, const struct standin_message *message)
{
    if (ends_request(message->tag) && ldap->outstanding)
        ldap->outstanding--;
    if (!standin_ldap_rule_reply(ldap, message))
        standin_ldap_send(ldap, message->data, message->size);
}

static bool ends_request(ber_tag_t tag)
{
    return tag != LDAP_RES_SEARCH_ENTRY && tag != LDAP_RES_SEARCH_REFERENCE &&
           tag != LDAP_RES_INTERMEDIATE;
}

void standin_ldap_result(struct standin_ldap *ldap, ber_int_t id, ber_tag_t type, int code,
                         const char *diagnostic)
{
    struct berval *bytes = NULL;
    BerElement *ber = ber_alloc_t(LBER_USE_DER);
    ber_printf(ber, "{it{ess}}", id, type, code, "", diagnostic);
    ber_flatten(ber, &bytes);
    standin_ldap_send(ldap, (uint8_t *)bytes->bv_val, bytes->bv_len);
    ber_bvfree(bytes);
    ber_free(ber, 1);
}

void standin_ldap_send(struct standin_ldap *ldap, const uint8_t *data, size_t size)
{
    struct standin_bytes out = {0};
    if (ldap->context.layer == LAYER_NONE)
        standin_bytes_add(&out, data, size);
    for (size_t at = 0; ldap->context.layer != LAYER_NONE && at < size; at += FRAME_MAX)
        standin_layer_encode(&ldap->context, data + at,
                             size - at < FRAME_MAX ? size - at : FRAME_MAX, &out);
    if (!standin_link_write(&ldap->client, out.data, out.size))
        ldap->over = true;
    standin_bytes_free(&out);
}
