/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kerberos as a mechanism of auth.h: MIT GSSAPI's krb5 mechanism with the conversation's tickets.
 * The service ticket is in the ccache before a context is created, so that no GSS call uses the
 * network.
 */
#include <errno.h>
#include <gssapi/gssapi_ext.h>
#include <gssapi/gssapi_krb5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/auth/auth_private.h"
#include "protocols/kerberos/kerberos.h"

struct auth_kerberos {
    struct auth_mech mech;
    gss_ctx_id_t context;
    gss_cred_id_t credentials;     /* owned by the conversation, or own_credentials */
    gss_cred_id_t own_credentials; /* a copy that does not offer confidentiality */
    gss_name_t target;
    OM_uint32 flags;
};

enum { IOV_COUNT = 4 };

static int import_target(struct auth_kerberos *kerberos, const struct dc *dc, const char *service);
static int drop_confidentiality(struct auth_kerberos *kerberos);
static void kerberos_free(struct auth_mech *mech);
static struct auth_kerberos *auth_kerberos_of(struct auth_mech *mech);
static int kerberos_step(struct auth_mech *mech, const uint8_t *token, size_t size, uint8_t **out,
                         size_t *out_size);
static int copy_buffer(gss_buffer_t from, uint8_t **out, size_t *out_size);
static void describe_failure(struct auth_mech *mech, OM_uint32 major, OM_uint32 minor);
static int kerberos_session_key(struct auth_mech *mech, uint8_t *key, size_t *size);
static int kerberos_sign_mic(struct auth_mech *mech, struct spnego_slice list, uint8_t **mic,
                             size_t *mic_size);
static int kerberos_verify_mic(struct auth_mech *mech, struct spnego_slice list,
                               struct spnego_slice mic);
static void kerberos_after_mics(struct auth_mech *mech);
static int kerberos_token_size(struct auth_mech *mech, size_t body_size, size_t *size);
static void fill_buffer(gss_iov_buffer_desc *buffer, OM_uint32 type, const void *data, size_t size);
static int kerberos_protect(struct auth_mech *mech, const struct auth_pdu *pdu, uint8_t *token,
                            size_t token_size);
static void fill_iov(const struct auth_mech *mech, const struct auth_pdu *pdu, const void *token,
                     size_t token_size, gss_iov_buffer_desc iov[IOV_COUNT]);
static int kerberos_unprotect(struct auth_mech *mech, const struct auth_pdu *pdu,
                              const uint8_t *token, size_t token_size);

static const struct auth_mech_ops kerberos_ops = {.step = kerberos_step,
                                                  .session_key = kerberos_session_key,
                                                  .sign_mic = kerberos_sign_mic,
                                                  .verify_mic = kerberos_verify_mic,
                                                  .after_mics = kerberos_after_mics,
                                                  .token_size = kerberos_token_size,
                                                  .protect = kerberos_protect,
                                                  .unprotect = kerberos_unprotect,
                                                  .free = kerberos_free};

int auth_kerberos_new(struct conversation *conversation, const struct auth_request *request,
                      struct auth_mech **out)
{
    struct auth_kerberos *kerberos = calloc(1, sizeof *kerberos);
    if (!kerberos)
        return -ENOMEM;
    kerberos->mech.ops = &kerberos_ops;
    kerberos->flags = GSS_C_MUTUAL_FLAG | GSS_C_INTEG_FLAG;
    if (request->level == AUTH_LEVEL_PRIVACY)
        kerberos->flags |= GSS_C_CONF_FLAG;
    if (request->dce_style)
        kerberos->flags |= GSS_C_DCE_STYLE | GSS_C_SEQUENCE_FLAG | GSS_C_REPLAY_FLAG;
    kerberos->credentials = kerberos_gss_credentials(conversation, request->account);
    int rc = kerberos->credentials ? import_target(kerberos, conversation->dc, request->service)
                                   : -ENOKEY;
    if (rc == 0 && request->dce_style && request->level == AUTH_LEVEL_INTEGRITY)
        rc = drop_confidentiality(kerberos);
    if (rc) {
        kerberos_free(&kerberos->mech);
        return rc;
    }
    *out = &kerberos->mech;
    return 0;
}

/* A full principal with its realm, so that GSS has nothing to canonicalize or look up. */
static int import_target(struct auth_kerberos *kerberos, const struct dc *dc, const char *service)
{
    OM_uint32 minor;
    char name[512];
    if (!dc->dns_name || !dc->realm)
        return -ENOKEY;
    int length = snprintf(name, sizeof name, "%s/%s@%s", service, dc->dns_name, dc->realm);
    if (length < 0 || (size_t)length >= sizeof name)
        return -ENAMETOOLONG;
    gss_buffer_desc text = {.length = (size_t)length, .value = name};
    OM_uint32 major =
        gss_import_name(&minor, &text, (gss_OID)GSS_KRB5_NT_PRINCIPAL_NAME, &kerberos->target);
    if (GSS_ERROR(major))
        return minor == ENOMEM ? -ENOMEM : -ENAMETOOLONG;
    return 0;
}

/*
 * MIT always offers confidentiality, and a server then demands it in every RPC PDU. RPC at
 * integrity level therefore uses a copy of the credentials with that offer turned off, which cannot
 * be undone on the conversation's credentials.
 */
static int drop_confidentiality(struct auth_kerberos *kerberos)
{
    OM_uint32 minor, ignored;
    gss_buffer_desc text = GSS_C_EMPTY_BUFFER, none = GSS_C_EMPTY_BUFFER;
    OM_uint32 major = gss_export_cred(&minor, kerberos->credentials, &text);
    if (!GSS_ERROR(major))
        major = gss_import_cred(&minor, &text, &kerberos->own_credentials);
    if (!GSS_ERROR(major))
        major = gss_set_cred_option(&minor, &kerberos->own_credentials,
                                    (gss_OID)GSS_KRB5_CRED_NO_CI_FLAGS_X, &none);
    gss_release_buffer(&ignored, &text);
    if (GSS_ERROR(major))
        return -ENOKEY;
    kerberos->credentials = kerberos->own_credentials;
    return 0;
}

static void kerberos_free(struct auth_mech *mech)
{
    struct auth_kerberos *kerberos = auth_kerberos_of(mech);
    OM_uint32 ignored;
    gss_delete_sec_context(&ignored, &kerberos->context, GSS_C_NO_BUFFER);
    gss_release_cred(&ignored, &kerberos->own_credentials);
    gss_release_name(&ignored, &kerberos->target);
    free(kerberos);
}

static struct auth_kerberos *auth_kerberos_of(struct auth_mech *mech)
{
    return (struct auth_kerberos *)mech;
}

static int kerberos_step(struct auth_mech *mech, const uint8_t *token, size_t size, uint8_t **out,
                         size_t *out_size)
{
    struct auth_kerberos *kerberos = auth_kerberos_of(mech);
    OM_uint32 major, minor, ignored;
    gss_buffer_desc in = {.length = size, .value = (void *)(uintptr_t)token};
    gss_buffer_desc made = GSS_C_EMPTY_BUFFER;
    major =
        gss_init_sec_context(&minor, kerberos->credentials, &kerberos->context, kerberos->target,
                             (gss_OID)gss_mech_krb5, kerberos->flags, 0, GSS_C_NO_CHANNEL_BINDINGS,
                             token ? &in : GSS_C_NO_BUFFER, NULL, &made, NULL, NULL);
    int rc = GSS_ERROR(major) ? -EBADMSG : copy_buffer(&made, out, out_size);
    gss_release_buffer(&ignored, &made);
    if (GSS_ERROR(major))
        describe_failure(mech, major, minor);
    if (rc)
        return rc;
    return major == GSS_S_CONTINUE_NEEDED ? AUTH_MORE : AUTH_DONE;
}

static int copy_buffer(gss_buffer_t from, uint8_t **out, size_t *out_size)
{
    if (from->length == 0)
        return 0;
    *out = malloc(from->length);
    if (!*out)
        return -ENOMEM;
    memcpy(*out, from->value, from->length);
    *out_size = from->length;
    return 0;
}

/* The minor status is more precise ("Clock skew too great"); the major one is used if it is 0. */
static void describe_failure(struct auth_mech *mech, OM_uint32 major, OM_uint32 minor)
{
    OM_uint32 ignored, more = 0;
    gss_buffer_desc text = GSS_C_EMPTY_BUFFER;
    OM_uint32 status = minor ? minor : major;
    int type = minor ? GSS_C_MECH_CODE : GSS_C_GSS_CODE;
    if (gss_display_status(&ignored, status, type, (gss_OID)gss_mech_krb5, &more, &text) ==
        GSS_S_COMPLETE)
        snprintf(mech->error, sizeof mech->error, "Kerberos: %.*s", (int)text.length,
                 (const char *)text.value);
    else
        snprintf(mech->error, sizeof mech->error, "Kerberos: GSS error 0x%08x", major);
    gss_release_buffer(&ignored, &text);
}

/* MS-KILE 3.1.1.2: element 0 is the key; a second one names its encryption type. */
static int kerberos_session_key(struct auth_mech *mech, uint8_t *key, size_t *size)
{
    OM_uint32 minor, ignored;
    gss_buffer_set_t set = GSS_C_NO_BUFFER_SET;
    OM_uint32 major = gss_inquire_sec_context_by_oid(&minor, auth_kerberos_of(mech)->context,
                                                     GSS_C_INQ_SSPI_SESSION_KEY, &set);
    int rc = 0;
    if (GSS_ERROR(major) || set->count < 1 || set->elements[0].length < 16) {
        rc = -ENOKEY;
    } else if (set->elements[0].length > *size) {
        rc = -ENOSPC;
    } else {
        memcpy(key, set->elements[0].value, set->elements[0].length);
        *size = set->elements[0].length;
    }
    gss_release_buffer_set(&ignored, &set);
    return rc;
}

static int kerberos_sign_mic(struct auth_mech *mech, struct spnego_slice list, uint8_t **mic,
                             size_t *mic_size)
{
    OM_uint32 minor, ignored;
    gss_buffer_desc in = {.length = list.size, .value = (void *)(uintptr_t)list.data};
    gss_buffer_desc made = GSS_C_EMPTY_BUFFER;
    OM_uint32 major =
        gss_get_mic(&minor, auth_kerberos_of(mech)->context, GSS_C_QOP_DEFAULT, &in, &made);
    int rc = GSS_ERROR(major) ? -EBADMSG : copy_buffer(&made, mic, mic_size);
    if (GSS_ERROR(major))
        describe_failure(mech, major, minor);
    gss_release_buffer(&ignored, &made);
    return rc;
}

static int kerberos_verify_mic(struct auth_mech *mech, struct spnego_slice list,
                               struct spnego_slice mic)
{
    OM_uint32 minor;
    gss_buffer_desc in = {.length = list.size, .value = (void *)(uintptr_t)list.data};
    gss_buffer_desc token = {.length = mic.size, .value = (void *)(uintptr_t)mic.data};
    OM_uint32 major = gss_verify_mic(&minor, auth_kerberos_of(mech)->context, &in, &token, NULL);
    return major == GSS_S_COMPLETE ? 0 : -EBADMSG;
}

static void kerberos_after_mics(struct auth_mech *mech)
{
    (void)mech;
}

static int kerberos_token_size(struct auth_mech *mech, size_t body_size, size_t *size)
{
    OM_uint32 major, minor;
    gss_iov_buffer_desc iov[2];
    bool seals = mech->level == AUTH_LEVEL_PRIVACY;
    fill_buffer(&iov[0], seals ? GSS_IOV_BUFFER_TYPE_HEADER : GSS_IOV_BUFFER_TYPE_MIC_TOKEN, NULL,
                0);
    fill_buffer(&iov[1], GSS_IOV_BUFFER_TYPE_DATA, NULL, body_size);
    if (seals)
        major = gss_wrap_iov_length(&minor, auth_kerberos_of(mech)->context, 1, GSS_C_QOP_DEFAULT,
                                    NULL, iov, 2);
    else
        major = gss_get_mic_iov_length(&minor, auth_kerberos_of(mech)->context, GSS_C_QOP_DEFAULT,
                                       iov, 2);
    if (GSS_ERROR(major)) {
        describe_failure(mech, major, minor);
        return -EIO;
    }
    *size = iov[0].buffer.length;
    return 0;
}

static void fill_buffer(gss_iov_buffer_desc *buffer, OM_uint32 type, const void *data, size_t size)
{
    *buffer = (gss_iov_buffer_desc){.type = type,
                                    .buffer = {.length = size, .value = (void *)(uintptr_t)data}};
}

static int kerberos_protect(struct auth_mech *mech, const struct auth_pdu *pdu, uint8_t *token,
                            size_t token_size)
{
    OM_uint32 major, minor;
    gss_iov_buffer_desc iov[IOV_COUNT];
    fill_iov(mech, pdu, token, token_size, iov);
    if (mech->level == AUTH_LEVEL_PRIVACY)
        major = gss_wrap_iov(&minor, auth_kerberos_of(mech)->context, 1, GSS_C_QOP_DEFAULT, NULL,
                             iov, IOV_COUNT);
    else
        major = gss_get_mic_iov(&minor, auth_kerberos_of(mech)->context, GSS_C_QOP_DEFAULT, iov,
                                IOV_COUNT);
    if (GSS_ERROR(major)) {
        describe_failure(mech, major, minor);
        return -EIO;
    }
    return iov[0].buffer.length == token_size ? 0 : -EINVAL;
}

/*
 * Privacy: token, header, body, trailer; header and trailer are signed only if header signing was
 * negotiated. Integrity: the same, with everything signed and nothing encrypted.
 */
static void fill_iov(const struct auth_mech *mech, const struct auth_pdu *pdu, const void *token,
                     size_t token_size, gss_iov_buffer_desc iov[IOV_COUNT])
{
    bool seals = mech->level == AUTH_LEVEL_PRIVACY;
    size_t after = pdu->body + pdu->body_size;
    OM_uint32 around_body =
        pdu->header_signing ? GSS_IOV_BUFFER_TYPE_SIGN_ONLY : GSS_IOV_BUFFER_TYPE_EMPTY;
    size_t header_size = pdu->header_signing ? pdu->body : 0;
    size_t trailer_size = pdu->header_signing ? pdu->size - after : 0;
    fill_buffer(&iov[0], seals ? GSS_IOV_BUFFER_TYPE_HEADER : GSS_IOV_BUFFER_TYPE_MIC_TOKEN, token,
                token_size);
    fill_buffer(&iov[1], around_body, pdu->data, header_size);
    fill_buffer(&iov[2], GSS_IOV_BUFFER_TYPE_DATA, pdu->data + pdu->body, pdu->body_size);
    fill_buffer(&iov[3], around_body, pdu->data + after, trailer_size);
}

static int kerberos_unprotect(struct auth_mech *mech, const struct auth_pdu *pdu,
                              const uint8_t *token, size_t token_size)
{
    OM_uint32 major, minor;
    int encrypted = 0;
    gss_iov_buffer_desc iov[IOV_COUNT];
    fill_iov(mech, pdu, token, token_size, iov);
    if (mech->level == AUTH_LEVEL_PRIVACY) {
        major = gss_unwrap_iov(&minor, auth_kerberos_of(mech)->context, &encrypted, NULL, iov,
                               IOV_COUNT);
        if (major == GSS_S_COMPLETE && !encrypted)
            return -EBADMSG;
    } else {
        major = gss_verify_mic_iov(&minor, auth_kerberos_of(mech)->context, NULL, iov, IOV_COUNT);
    }
    if (major == GSS_S_COMPLETE)
        return 0;
    describe_failure(mech, major, minor);
    return -EBADMSG;
}
