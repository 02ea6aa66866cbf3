/* SPDX-License-Identifier: Apache-2.0 */
/* NTLM as a mechanism of auth.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/auth/auth_private.h"
#include "protocols/auth/ntlm_account.h"
#include "protocols/auth/ntlmssp.h"

struct auth_ntlm {
    struct auth_mech mech;
    struct ntlmssp *ntlmssp;
    bool begun;
};

static int ntlm_step(struct auth_mech *mech, const uint8_t *token, size_t size, uint8_t **out,
                     size_t *out_size);
static struct auth_ntlm *auth_ntlm_of(struct auth_mech *mech);
static int ntlm_session_key(struct auth_mech *mech, uint8_t *key, size_t *size);
static int ntlm_sign_mic(struct auth_mech *mech, struct spnego_slice list, uint8_t **mic,
                         size_t *mic_size);
static int ntlm_verify_mic(struct auth_mech *mech, struct spnego_slice list,
                           struct spnego_slice mic);
static void ntlm_after_mics(struct auth_mech *mech);
static int ntlm_token_size(struct auth_mech *mech, size_t body_size, size_t *size);
static int ntlm_protect(struct auth_mech *mech, const struct auth_pdu *pdu, uint8_t *token,
                        size_t token_size);
static int ntlm_unprotect(struct auth_mech *mech, const struct auth_pdu *pdu, const uint8_t *token,
                          size_t token_size);
static void ntlm_free(struct auth_mech *mech);

static const struct auth_mech_ops ntlm_ops = {.step = ntlm_step,
                                              .session_key = ntlm_session_key,
                                              .sign_mic = ntlm_sign_mic,
                                              .verify_mic = ntlm_verify_mic,
                                              .after_mics = ntlm_after_mics,
                                              .token_size = ntlm_token_size,
                                              .protect = ntlm_protect,
                                              .unprotect = ntlm_unprotect,
                                              .free = ntlm_free};

int auth_ntlm_new(struct conversation *conversation, const struct auth_request *request,
                  struct auth_mech **out)
{
    struct ntlm_account account;
    struct ntlmssp_identity identity;
    char target[2 * NTLM_NAME_SIZE];
    const struct dc *dc = conversation->dc;
    struct auth_ntlm *ntlm = calloc(1, sizeof *ntlm);
    if (!ntlm)
        return -ENOMEM;
    ntlm->mech.ops = &ntlm_ops;
    int rc = ntlm_account_init(&account, &identity, conversation, request->account);
    if (rc)
        goto cleanup;
    snprintf(target, sizeof target, "%s/%s", request->service, dc->dns_name ? dc->dns_name : "");
    identity.target_name = dc->dns_name ? target : NULL;
    if (request->wrong_password)
        account.nt_hash[0] ^= 0x5a;
    /* Sealing is allowed only if it is negotiated from the start (RPC fault 0x1c01000b). */
    rc = ntlmssp_new(&ntlm->ntlmssp, &identity, true, request->level == AUTH_LEVEL_PRIVACY);
cleanup:
    ntlm_account_clear(&account);
    if (rc) {
        free(ntlm);
        return rc;
    }
    *out = &ntlm->mech;
    return 0;
}

static int ntlm_step(struct auth_mech *mech, const uint8_t *token, size_t size, uint8_t **out,
                     size_t *out_size)
{
    struct auth_ntlm *ntlm = auth_ntlm_of(mech);
    if (!ntlm->begun) {
        ntlm->begun = true;
        int rc = ntlmssp_negotiate(ntlm->ntlmssp, out, out_size);
        return rc ? rc : AUTH_MORE;
    }
    int rc = ntlmssp_authenticate(ntlm->ntlmssp, token, size, out, out_size);
    if (rc == -EBADMSG)
        snprintf(mech->error, sizeof mech->error, "NTLM: malformed CHALLENGE_MESSAGE");
    else if (rc == -EOPNOTSUPP)
        snprintf(mech->error, sizeof mech->error, "NTLM: the server refused %s",
                 ntlmssp_refused(ntlm->ntlmssp));
    mech->wants_mic = rc == 0 && ntlmssp_has_mic(ntlm->ntlmssp);
    return rc;
}

static struct auth_ntlm *auth_ntlm_of(struct auth_mech *mech)
{
    return (struct auth_ntlm *)mech;
}

static int ntlm_session_key(struct auth_mech *mech, uint8_t *key, size_t *size)
{
    if (*size < NTLMSSP_SESSION_KEY_SIZE)
        return -ENOSPC;
    ntlmssp_session_key(auth_ntlm_of(mech)->ntlmssp, key);
    *size = NTLMSSP_SESSION_KEY_SIZE;
    return 0;
}

static int ntlm_sign_mic(struct auth_mech *mech, struct spnego_slice list, uint8_t **mic,
                         size_t *mic_size)
{
    *mic = malloc(NTLMSSP_SIGNATURE_SIZE);
    if (!*mic)
        return -ENOMEM;
    ntlmssp_sign(auth_ntlm_of(mech)->ntlmssp, list.data, list.size, *mic);
    *mic_size = NTLMSSP_SIGNATURE_SIZE;
    return 0;
}

static int ntlm_verify_mic(struct auth_mech *mech, struct spnego_slice list,
                           struct spnego_slice mic)
{
    if (mic.size != NTLMSSP_SIGNATURE_SIZE)
        return -EBADMSG;
    return ntlmssp_verify(auth_ntlm_of(mech)->ntlmssp, list.data, list.size, mic.data);
}

static void ntlm_after_mics(struct auth_mech *mech)
{
    ntlmssp_reset_crypto(auth_ntlm_of(mech)->ntlmssp);
}

static int ntlm_token_size(struct auth_mech *mech, size_t body_size, size_t *size)
{
    (void)mech;
    (void)body_size;
    *size = NTLMSSP_SIGNATURE_SIZE;
    return 0;
}

/* NTLM signs the whole PDU, with or without header signing. */
static int ntlm_protect(struct auth_mech *mech, const struct auth_pdu *pdu, uint8_t *token,
                        size_t token_size)
{
    struct ntlmssp *ntlmssp = auth_ntlm_of(mech)->ntlmssp;
    if (token_size != NTLMSSP_SIGNATURE_SIZE)
        return -EINVAL;
    if (mech->level == AUTH_LEVEL_PRIVACY)
        ntlmssp_seal(ntlmssp, pdu->data + pdu->body, pdu->body_size, pdu->data, pdu->size, token);
    else
        ntlmssp_sign(ntlmssp, pdu->data, pdu->size, token);
    return 0;
}

static int ntlm_unprotect(struct auth_mech *mech, const struct auth_pdu *pdu, const uint8_t *token,
                          size_t token_size)
{
    struct ntlmssp *ntlmssp = auth_ntlm_of(mech)->ntlmssp;
    if (token_size != NTLMSSP_SIGNATURE_SIZE)
        return -EBADMSG;
    if (mech->level == AUTH_LEVEL_PRIVACY)
        return ntlmssp_unseal(ntlmssp, pdu->data + pdu->body, pdu->body_size, pdu->data, pdu->size,
                              token);
    return ntlmssp_verify(ntlmssp, pdu->data, pdu->size, token);
}

static void ntlm_free(struct auth_mech *mech)
{
    ntlmssp_free(auth_ntlm_of(mech)->ntlmssp);
    free(mech);
}
