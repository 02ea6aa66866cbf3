/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/windows/standin_bind.h"

#include <ldap.h>
#include <stdlib.h>
#include <string.h>

#include "base/little_endian.h"
#include "protocols/auth/spnego.h"

enum { NEGOTIATE_SIGN = 0x10, NEGOTIATE_SEAL = 0x20, AV_CHANNEL_BINDINGS = 10 };

static const char bad_bindings[] =
    "80090346: LdapErr: DSID-0C090597, comment: AcceptSecurityContext error, data 80090346, v4f7c";
static const char bad_password[] =
    "80090308: LdapErr: DSID-0C090597, comment: AcceptSecurityContext error, data 52e, v4f7c";
static const char layer_in_tls[] =
    "00002029: LdapErr: DSID-0C0904D0, comment: Cannot start kerberos signing/sealing when using "
    "TLS/SSL, data 0, v4f7c";
static const char signing_wanted[] =
    "00002028: LdapErr: DSID-0C090259, comment: The server requires binds to turn on integrity "
    "checking if SSL\\TLS are not already active on the connection, data 0, v4f7c";

static void ntlm_challenge(struct standin_context *context, const uint8_t *token, size_t size,
                           struct standin_bind_answer *answer);
static void ntlm_authenticate(struct standin *standin, struct standin_context *context, bool tls,
                              const struct spnego_response *response,
                              struct standin_bind_answer *answer);
static void finish_ntlm(struct standin *standin, struct standin_context *context, bool tls,
                        const struct spnego_response *response, const uint8_t key[16],
                        struct standin_bind_answer *answer);
static const uint8_t *bindings_in(const uint8_t *message, size_t size);
static bool bindings_refused(struct standin *standin, const uint8_t *bindings);
static void refuse(struct standin_bind_answer *answer, int code, const char *diagnostic);
static void put_response(struct standin_bind_answer *answer,
                         const struct spnego_response *response);
static void gss_leg(struct standin *standin, struct standin_context *context, bool tls,
                    const char *mechanism, const uint8_t *token, size_t size,
                    struct standin_bind_answer *answer);
static void gss_established(struct standin *standin, struct standin_context *context, bool tls,
                            const char *mechanism, OM_uint32 flags,
                            struct standin_bind_answer *answer);
static void offer_layers(struct standin_context *context, bool tls,
                         struct standin_bind_answer *answer);
static void choose_layer(struct standin *standin, struct standin_context *context, bool tls,
                         const uint8_t *token, size_t size, struct standin_bind_answer *answer);
static void name_of_context(struct standin_context *context);

void standin_bind_leg(struct standin *standin, struct standin_context *context, bool tls,
                      const char *mechanism, const uint8_t *token, size_t size,
                      struct standin_bind_answer *answer)
{
    struct spnego_response response;
    *answer = (struct standin_bind_answer){.code = LDAP_SASL_BIND_IN_PROGRESS, .diagnostic = ""};
    if (!context->gss && memmem(token, size, "NTLMSSP\0\1", 9))
        ntlm_challenge(context, token, size, answer);
    else if (!context->gss && spnego_parse_response(token, size, &response) == 0 &&
             response.token.data)
        ntlm_authenticate(standin, context, tls, &response, answer);
    else if (context->gss_done)
        choose_layer(standin, context, tls, token, size, answer);
    else
        gss_leg(standin, context, tls, mechanism, token, size, answer);
}

static void ntlm_challenge(struct standin_context *context, const uint8_t *token, size_t size,
                           struct standin_bind_answer *answer)
{
    if (!ntlm_acceptor_negotiate(&context->ntlm, token, size)) {
        refuse(answer, LDAP_INVALID_CREDENTIALS, bad_password);
        return;
    }
    struct spnego_response response = {
        .state = SPNEGO_ACCEPT_INCOMPLETE,
        .mech = SPNEGO_NTLMSSP,
        .token = {context->ntlm.challenge, context->ntlm.challenge_size}};
    put_response(answer, &response);
}

static void put_response(struct standin_bind_answer *answer, const struct spnego_response *response)
{
    uint8_t *token;
    size_t size;
    if (spnego_build_response(response, &token, &size) != 0)
        abort();
    standin_bytes_add(&answer->token, token, size);
    free(token);
}

static void ntlm_authenticate(struct standin *standin, struct standin_context *context, bool tls,
                              const struct spnego_response *response,
                              struct standin_bind_answer *answer)
{
    uint8_t key[16];
    if (!context->ntlm.challenge_size ||
        !standin_ntlm_verify(standin, &context->ntlm, response->token, key, context->user))
        refuse(answer, LDAP_INVALID_CREDENTIALS, bad_password);
    else
        finish_ntlm(standin, context, tls, response, key, answer);
}

static void finish_ntlm(struct standin *standin, struct standin_context *context, bool tls,
                        const struct spnego_response *response, const uint8_t key[16],
                        struct standin_bind_answer *answer)
{
    const uint8_t *message = response->token.data;
    uint32_t flags = le_get32(message + 60);
    uint8_t mic[16];
    struct spnego_response last = {.state = SPNEGO_ACCEPT_COMPLETED, .mech = SPNEGO_NONE};
    ntlm_acceptor_mic(key, false, mic);
    if (flags & NEGOTIATE_SIGN &&
        (response->mech_list_mic.size != 16 || memcmp(mic, response->mech_list_mic.data, 16) != 0))
        refuse(answer, LDAP_INVALID_CREDENTIALS, bad_password);
    else if (tls && flags & NEGOTIATE_SIGN)
        refuse(answer, LDAP_UNWILLING_TO_PERFORM, layer_in_tls);
    else if (tls && bindings_refused(standin, bindings_in(message, response->token.size)))
        refuse(answer, LDAP_INVALID_CREDENTIALS, bad_bindings);
    else if (!tls &&
             windows_rules_apply(&standin->rules, RULE_LDAP_SIGNING, !(flags & NEGOTIATE_SIGN)))
        refuse(answer, LDAP_STRONG_AUTH_REQUIRED, signing_wanted);
    else {
        ntlm_side_init(&context->from_client, key, false);
        ntlm_side_init(&context->from_server, key, true);
        context->from_client.sequence = context->from_server.sequence = 1; /* the mechListMIC */
        context->seal = (flags & NEGOTIATE_SEAL) != 0;
        context->layer = flags & NEGOTIATE_SIGN ? LAYER_NTLM : LAYER_NONE;
        answer->layer = true;
        answer->code = LDAP_SUCCESS;
        ntlm_acceptor_mic(key, true, mic);
        if (flags & NEGOTIATE_SIGN)
            last.mech_list_mic = (struct spnego_slice){mic, 16};
        put_response(answer, &last);
    }
}

/* MsvAvChannelBindings of the NTLMv2 response (MS-NLMP 2.2.2.1, 2.2.2.7), or NULL. */
static const uint8_t *bindings_in(const uint8_t *message, size_t size)
{
    size_t length = le_get16(message + 20), at = le_get32(message + 24), end = at + length;
    if (at > size || length > size - at)
        return NULL;
    for (at += 16 + 28; at + 4 <= end;) {
        unsigned id = le_get16(message + at), value_size = le_get16(message + at + 2);
        at += 4;
        if (id == AV_CHANNEL_BINDINGS && value_size == 16 && at + 16 <= end)
            return message + at;
        if (id == 0)
            break;
        at += value_size;
    }
    return NULL;
}

/* "When supported" takes no bindings at all; sixteen zeros are wrong ones. */
static bool bindings_refused(struct standin *standin, const uint8_t *bindings)
{
    bool wrong = bindings && memcmp(bindings, standin->bindings, 16) != 0;
    bool always = windows_rules_apply(&standin->rules, RULE_BINDINGS_ALWAYS, wrong || !bindings);
    bool supported = windows_rules_apply(&standin->rules, RULE_BINDINGS_SUPPORTED, wrong);
    return always || supported;
}

static void refuse(struct standin_bind_answer *answer, int code, const char *diagnostic)
{
    answer->code = code;
    answer->diagnostic = diagnostic;
}

static void gss_leg(struct standin *standin, struct standin_context *context, bool tls,
                    const char *mechanism, const uint8_t *token, size_t size,
                    struct standin_bind_answer *answer)
{
    OM_uint32 major, minor, flags = 0;
    gss_buffer_desc in = {size, (void *)(uintptr_t)token}, out = GSS_C_EMPTY_BUFFER;
    struct gss_channel_bindings_struct bindings = {
        .application_data = {standin->endpoint_size, standin->endpoint}};
    bool strict =
        standin->rules.on[RULE_BINDINGS_ALWAYS] || standin->rules.on[RULE_BINDINGS_SUPPORTED];
    major = gss_accept_sec_context(&minor, &context->gss, GSS_C_NO_CREDENTIAL, &in,
                                   tls && strict ? &bindings : GSS_C_NO_CHANNEL_BINDINGS, NULL,
                                   NULL, &out, &flags, NULL, NULL);
    standin_bytes_add(&answer->token, out.value, out.length);
    gss_release_buffer(&minor, &out);
    if (GSS_ERROR(major) == GSS_S_BAD_BINDINGS) {
        bindings_refused(standin, (const uint8_t[16]){0});
        refuse(answer, LDAP_INVALID_CREDENTIALS, bad_bindings);
    } else if (GSS_ERROR(major)) {
        refuse(answer, LDAP_INVALID_CREDENTIALS, bad_password);
    } else if (major == GSS_S_COMPLETE) {
        gss_established(standin, context, tls, mechanism, flags, answer);
    }
}

static void gss_established(struct standin *standin, struct standin_context *context, bool tls,
                            const char *mechanism, OM_uint32 flags,
                            struct standin_bind_answer *answer)
{
    bool layer = (flags & (GSS_C_INTEG_FLAG | GSS_C_CONF_FLAG)) != 0;
    bool spnego = strcmp(mechanism, "GSS-SPNEGO") == 0;
    name_of_context(context);
    context->seal = (flags & GSS_C_CONF_FLAG) != 0;
    const uint8_t *bindings = flags & GSS_C_CHANNEL_BOUND_FLAG ? standin->bindings : NULL;
    if (tls && bindings_refused(standin, bindings)) {
        refuse(answer, LDAP_INVALID_CREDENTIALS, bad_bindings);
    } else if (!spnego) {
        context->gss_done = true; /* a token of its own comes before the layers, if there is one */
        if (!answer->token.size)
            offer_layers(context, tls, answer);
    } else if (tls && layer) {
        refuse(answer, LDAP_UNWILLING_TO_PERFORM, layer_in_tls);
    } else if (!tls && windows_rules_apply(&standin->rules, RULE_LDAP_SIGNING, !layer)) {
        refuse(answer, LDAP_STRONG_AUTH_REQUIRED, signing_wanted);
    } else {
        context->layer = layer ? LAYER_GSS : LAYER_NONE;
        answer->layer = true;
        answer->code = LDAP_SUCCESS;
    }
}

/* RFC 4752 3.2: which layers there are (1 none, 2 integrity, 4 confidentiality), and the largest
 * message. */
static void offer_layers(struct standin_context *context, bool tls,
                         struct standin_bind_answer *answer)
{
    OM_uint32 minor;
    uint8_t offer[4] = {tls ? 1 : 7, tls ? 0 : 0x9f, tls ? 0 : 0xff, tls ? 0 : 0xff};
    gss_buffer_desc in = {sizeof offer, offer}, out = GSS_C_EMPTY_BUFFER;
    if (gss_wrap(&minor, context->gss, 0, GSS_C_QOP_DEFAULT, &in, NULL, &out) != GSS_S_COMPLETE)
        abort();
    standin_bytes_add(&answer->token, out.value, out.length);
    gss_release_buffer(&minor, &out);
}

static void choose_layer(struct standin *standin, struct standin_context *context, bool tls,
                         const uint8_t *token, size_t size, struct standin_bind_answer *answer)
{
    OM_uint32 minor;
    gss_buffer_desc in = {size, (void *)(uintptr_t)token}, out = GSS_C_EMPTY_BUFFER;
    if (!size) { /* the client confirms the last token of the context */
        offer_layers(context, tls, answer);
        return;
    }
    unsigned chosen = 0;
    if (gss_unwrap(&minor, context->gss, &in, &out, NULL, NULL) == GSS_S_COMPLETE && out.length > 3)
        chosen = *(uint8_t *)out.value;
    gss_release_buffer(&minor, &out);
    if (tls && chosen > 1) {
        refuse(answer, LDAP_UNWILLING_TO_PERFORM, layer_in_tls);
    } else if (!tls && windows_rules_apply(&standin->rules, RULE_LDAP_SIGNING, chosen == 1)) {
        refuse(answer, LDAP_STRONG_AUTH_REQUIRED, signing_wanted);
    } else if (chosen == 0) {
        refuse(answer, LDAP_INVALID_CREDENTIALS, bad_password);
    } else {
        context->layer = chosen > 1 ? LAYER_GSS : LAYER_NONE;
        context->seal = chosen == 4;
        answer->layer = true;
        answer->code = LDAP_SUCCESS;
    }
}

static void name_of_context(struct standin_context *context)
{
    OM_uint32 minor;
    gss_name_t name = GSS_C_NO_NAME;
    gss_buffer_desc text = GSS_C_EMPTY_BUFFER;
    gss_inquire_context(&minor, context->gss, &name, NULL, NULL, NULL, NULL, NULL, NULL);
    if (gss_display_name(&minor, name, &text, NULL) == GSS_S_COMPLETE)
        snprintf(context->user, sizeof context->user, "%.*s", (int)text.length,
                 (const char *)text.value);
    gss_release_buffer(&minor, &text);
    gss_release_name(&minor, &name);
}

bool standin_layer_decode(struct standin_context *context, uint8_t *frame, size_t size,
                          struct standin_bytes *out)
{
    OM_uint32 minor;
    if (context->layer == LAYER_GSS) {
        gss_buffer_desc in = {size, frame}, plain = GSS_C_EMPTY_BUFFER;
        bool right = gss_unwrap(&minor, context->gss, &in, &plain, NULL, NULL) == GSS_S_COMPLETE;
        if (right)
            standin_bytes_add(out, plain.value, plain.length);
        gss_release_buffer(&minor, &plain);
        return right;
    }
    uint8_t mac[16];
    if (size < 16)
        return false;
    if (context->seal)
        arcfour_crypt(&context->from_client.rc4, size - 16, frame + 16, frame + 16);
    ntlm_side_sign(&context->from_client, frame + 16, size - 16, mac);
    standin_bytes_add(out, frame + 16, size - 16);
    return memcmp(mac, frame, 16) == 0;
}

void standin_layer_encode(struct standin_context *context, const uint8_t *data, size_t size,
                          struct standin_bytes *out)
{
    OM_uint32 minor;
    uint8_t length[4], mac[16] = {0};
    gss_buffer_desc in = {size, (void *)(uintptr_t)data}, sealed = GSS_C_EMPTY_BUFFER;
    bool gss = context->layer == LAYER_GSS;
    if (gss && gss_wrap(&minor, context->gss, context->seal, GSS_C_QOP_DEFAULT, &in, NULL,
                        &sealed) != GSS_S_COMPLETE)
        abort();
    size_t frame = gss ? sealed.length : size + 16;
    for (int i = 0; i < 4; i++)
        length[i] = (uint8_t)(frame >> 8 * (3 - i));
    standin_bytes_add(out, length, 4);
    if (gss) {
        standin_bytes_add(out, sealed.value, sealed.length);
        gss_release_buffer(&minor, &sealed);
        return;
    }
    standin_bytes_add(out, mac, 16);
    standin_bytes_add(out, data, size);
    uint8_t *body = out->data + out->size - size;
    if (context->seal)
        arcfour_crypt(&context->from_server.rc4, size, body, body);
    ntlm_side_sign(&context->from_server, data, size, mac);
    memcpy(body - 16, mac, 16);
}

void standin_context_clear(struct standin_context *context)
{
    OM_uint32 minor;
    if (context->gss)
        gss_delete_sec_context(&minor, &context->gss, GSS_C_NO_BUFFER);
    *context = (struct standin_context){0};
}
