/* SPDX-License-Identifier: Apache-2.0 */
/* NTLM below auth.h: our NTLMSSP with the account's hash, this client's name and the service's. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/auth/auth_private.h"
#include "protocols/auth/ntlmssp.h"

enum { NAME_SIZE = 256 };

struct auth_ntlm {
    struct auth_mech mech;
    struct ntlmssp *ntlmssp;
    bool begun;
};

static int account_hash(const struct auth_request *request, uint8_t hash[16]);
static void auth_ntlm_split_name(const struct dc *dc, const char *name, const char **user,
                                 char domain[NAME_SIZE]);
static const char *workstation(const struct conversation *conversation, char name[NAME_SIZE]);
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
    uint8_t hash[16] = {0};
    char machine[NAME_SIZE], domain[NAME_SIZE], target[NAME_SIZE * 2];
    const char *user;
    const struct dc *dc = conversation->dc;
    struct auth_ntlm *ntlm = calloc(1, sizeof *ntlm);
    if (!ntlm)
        return -ENOMEM;
    ntlm->mech.ops = &ntlm_ops;
    int rc = account_hash(request, hash);
    if (rc)
        goto cleanup;
    snprintf(target, sizeof target, "%s/%s", request->service, dc->dns_name ? dc->dns_name : "");
    auth_ntlm_split_name(dc, request->account->name, &user, domain);
    struct ntlmssp_identity identity = {.user = user,
                                        .domain = domain,
                                        .workstation = workstation(conversation, machine),
                                        .nt_hash = hash,
                                        .target_name = dc->dns_name ? target : NULL};
    /* Sealing must be agreed on from the start to be allowed later (RPC fault 0x1c01000b). */
    rc = ntlmssp_new(&ntlm->ntlmssp, &identity, true, request->level == AUTH_LEVEL_PRIVACY);
cleanup:
    explicit_bzero(hash, sizeof hash);
    if (rc) {
        free(ntlm);
        return rc;
    }
    *out = &ntlm->mech;
    return 0;
}

/* The account's hash, derived beforehand; the admin's may still have to be made from the password.
 */
static int account_hash(const struct auth_request *request, uint8_t hash[16])
{
    int rc = 0;
    if (request->account->has_nt_hash)
        memcpy(hash, request->account->nt_hash, 16);
    else if (request->account->password)
        rc = ntlmssp_nt_hash(request->account->password, hash);
    else
        rc = -ENOKEY;
    if (request->wrong_password)
        hash[0] ^= 0x5a;
    return rc;
}

/* The account's domain: the one before a backslash, none for a user principal name, the DC's
 * otherwise. *user is what is left of the name. */
static void auth_ntlm_split_name(const struct dc *dc, const char *name, const char **user,
                                 char domain[NAME_SIZE])
{
    const char *backslash = strchr(name, '\\');
    *user = backslash ? backslash + 1 : name;
    if (backslash)
        snprintf(domain, NAME_SIZE, "%.*s", (int)(backslash - name), name);
    else
        snprintf(domain, NAME_SIZE, "%s",
                 strchr(name, '@') || !dc->netbios_domain ? "" : dc->netbios_domain);
}

/* The client's name: its machine's, without the $. */
static const char *workstation(const struct conversation *conversation, char name[NAME_SIZE])
{
    if (!conversation->machine || !conversation->machine->name)
        return NULL;
    size_t length = strcspn(conversation->machine->name, "$");
    snprintf(name, NAME_SIZE, "%.*s", (int)(length < NAME_SIZE ? length : NAME_SIZE - 1),
             conversation->machine->name);
    return name;
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
        snprintf(mech->error, sizeof mech->error, "NTLM: the server refused the needed flags");
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

/* NTLM signs the whole PDU, whether header signing was agreed on or not. */
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
