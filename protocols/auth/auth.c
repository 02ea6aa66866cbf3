/* SPDX-License-Identifier: Apache-2.0 */
/* Opens security contexts, and wraps their mechanism in the client's side of SPNEGO. */
#include "protocols/auth/auth.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/auth/auth_private.h"
#include "protocols/kerberos/kerberos.h"
#include "protocols/stream.h"

struct auth {
    struct auth_mech *mech;
    bool raw;
    unsigned legs;     /* calls of auth_step() so far */
    bool mech_done;    /* the mechanism expects and sends nothing more */
    bool mic_sent;     /* our mechListMIC was sent */
    bool mic_verified; /* the server's was correct */
    enum spnego_mech name;
};

static struct outcome open_failure(int rc);
static int mech_step(struct auth *auth, struct spnego_slice token, uint8_t **out, size_t *out_size);
static int spnego_begin(struct auth *auth, uint8_t **out, size_t *out_size);
static int spnego_continue(struct auth *auth, const uint8_t *token, size_t size, bool first,
                           uint8_t **out, size_t *out_size);
static int auth_complain(struct auth *auth, int rc, const char *text);
static int check_response(struct auth *auth, const struct spnego_response *response, bool first);
static bool same_mech(enum spnego_mech ours, enum spnego_mech theirs);
static int take_mic(struct auth *auth, const struct spnego_response *response);
static int spnego_reply(struct auth *auth, const struct spnego_response *response,
                        struct spnego_slice inner, uint8_t **out, size_t *out_size);
static int spnego_end(struct auth *auth);

struct outcome auth_open(struct conversation *conversation, const struct auth_request *request,
                         struct auth **out)
{
    *out = NULL;
    if (request->kerberos) {
        struct outcome ticket =
            kerberos_ensure_ticket(conversation, request->account, request->service);
        if (ticket.kind != OUTCOME_OK)
            return ticket;
    }
    struct auth *auth = calloc(1, sizeof *auth);
    if (!auth)
        return outcome_of_error(-ENOMEM);
    auth->raw = request->raw;
    auth->name = request->kerberos ? SPNEGO_KERBEROS : SPNEGO_NTLMSSP;
    int rc = request->kerberos ? auth_kerberos_new(conversation, request, &auth->mech)
                               : auth_ntlm_new(conversation, request, &auth->mech);
    if (rc) {
        free(auth);
        return open_failure(rc);
    }
    auth->mech->level = request->level;
    *out = auth;
    return outcome_ok();
}

static struct outcome open_failure(int rc)
{
    if (rc == -ENOKEY)
        return outcome_failed("no credentials for the account");
    if (rc == -EILSEQ || rc == -EINVAL)
        return outcome_failed("account name or password cannot be sent");
    if (rc == -ENAMETOOLONG)
        return outcome_failed("the DC's name cannot be part of a service principal");
    return outcome_of_error(rc);
}

void auth_free(struct auth *auth)
{
    if (!auth)
        return;
    auth->mech->ops->free(auth->mech);
    free(auth);
}

int auth_step(struct auth *auth, const uint8_t *token, size_t size, uint8_t **out, size_t *out_size)
{
    *out = NULL;
    *out_size = 0;
    auth->legs++;
    if (auth->raw)
        return mech_step(auth, (struct spnego_slice){token, size}, out, out_size);
    if (auth->legs == 1)
        return spnego_begin(auth, out, out_size);
    return spnego_continue(auth, token, size, auth->legs == 2, out, out_size);
}

static int mech_step(struct auth *auth, struct spnego_slice token, uint8_t **out, size_t *out_size)
{
    int rc = auth->mech->ops->step(auth->mech, token.data, token.size, out, out_size);
    auth->mech_done = rc == AUTH_DONE;
    return rc;
}

/* The first token: NegTokenInit around that of the mechanism. */
static int spnego_begin(struct auth *auth, uint8_t **out, size_t *out_size)
{
    uint8_t *inner = NULL;
    size_t inner_size = 0;
    int rc = mech_step(auth, (struct spnego_slice){NULL, 0}, &inner, &inner_size);
    if (rc >= 0) {
        rc = spnego_build_init(auth->name, inner, inner_size, out, out_size);
        free(inner);
    }
    return rc ? rc : AUTH_MORE;
}

static int spnego_continue(struct auth *auth, const uint8_t *token, size_t size, bool first,
                           uint8_t **out, size_t *out_size)
{
    struct spnego_response response;
    uint8_t *inner = NULL;
    size_t inner_size = 0;
    int rc = spnego_parse_response(token, size, &response);
    if (rc)
        return auth_complain(auth, rc, "SPNEGO: malformed token");
    rc = check_response(auth, &response, first);
    if (rc == 0 && !auth->mech_done) {
        if (!response.token.data)
            return auth_complain(auth, -EBADMSG, "SPNEGO: no token inside");
        rc = mech_step(auth, response.token, &inner, &inner_size);
    }
    if (rc >= 0) /* the mechanism's AUTH_MORE or AUTH_DONE */
        rc = take_mic(auth, &response);
    if (rc == 0 && response.state != SPNEGO_ACCEPT_COMPLETED)
        rc = spnego_reply(auth, &response, (struct spnego_slice){inner, inner_size}, out, out_size);
    if (rc == 0 && inner && response.state == SPNEGO_ACCEPT_COMPLETED)
        rc = auth_complain(auth, -EBADMSG, "SPNEGO: completed before the last token");
    free(inner);
    if (rc < 0)
        return rc;
    return response.state == SPNEGO_ACCEPT_COMPLETED ? spnego_end(auth) : AUTH_MORE;
}

static int auth_complain(struct auth *auth, int rc, const char *text)
{
    snprintf(auth->mech->error, sizeof auth->mech->error, "%s", text);
    return rc;
}

static int check_response(struct auth *auth, const struct spnego_response *response, bool first)
{
    if (response->state == SPNEGO_REJECT)
        return auth_complain(auth, -EACCES, "SPNEGO: rejected");
    /* supportedMech is required in the first answer only (RFC 4178 4.2.2); a later one may repeat
     * it. */
    if ((first || response->mech != SPNEGO_NONE) && !same_mech(auth->name, response->mech) &&
        !(first && response->mech == SPNEGO_NONE && response->state == SPNEGO_ACCEPT_COMPLETED))
        return auth_complain(auth, -EOPNOTSUPP, "SPNEGO: the server chose another mechanism");
    return 0;
}

static bool same_mech(enum spnego_mech ours, enum spnego_mech theirs)
{
    return theirs == ours || (ours == SPNEGO_KERBEROS && theirs == SPNEGO_MS_KERBEROS);
}

static int take_mic(struct auth *auth, const struct spnego_response *response)
{
    if (!response->mech_list_mic.data)
        return 0;
    if (!auth->mech_done)
        return auth_complain(auth, -EBADMSG, "SPNEGO: mechListMIC too early");
    int rc = auth->mech->ops->verify_mic(auth->mech, spnego_mech_list(auth->name),
                                         response->mech_list_mic);
    if (rc)
        return auth_complain(auth, rc, "SPNEGO: mechListMIC does not verify");
    auth->mic_verified = true;
    return 0;
}

/* Wraps the mechanism's token and, once it is needed, our MIC. No token if there is neither. */
static int spnego_reply(struct auth *auth, const struct spnego_response *response,
                        struct spnego_slice inner, uint8_t **out, size_t *out_size)
{
    struct spnego_response reply = {
        .state = SPNEGO_STATE_ABSENT, .mech = SPNEGO_NONE, .token = inner};
    uint8_t *mic = NULL;
    int rc = 0;
    bool asked = response->state == SPNEGO_REQUEST_MIC ||
                 (response->state == SPNEGO_ACCEPT_INCOMPLETE && !inner.data);
    if (auth->mech_done && !auth->mic_sent && (auth->mech->wants_mic || asked)) {
        rc = auth->mech->ops->sign_mic(auth->mech, spnego_mech_list(auth->name), &mic,
                                       &reply.mech_list_mic.size);
        reply.mech_list_mic.data = mic;
        auth->mic_sent = rc == 0;
    }
    if (rc == 0 && (reply.token.data || reply.mech_list_mic.data))
        rc = spnego_build_response(&reply, out, out_size);
    free(mic);
    return rc;
}

static int spnego_end(struct auth *auth)
{
    if (!auth->mech_done)
        return auth_complain(auth, -EBADMSG, "SPNEGO: completed before the mechanism");
    if (auth->mic_sent && !auth->mic_verified)
        return auth_complain(auth, -EBADMSG, "SPNEGO: no mechListMIC from the server");
    if (auth->mic_sent)
        auth->mech->ops->after_mics(auth->mech);
    return AUTH_DONE;
}

const char *auth_error(const struct auth *auth)
{
    return auth->mech->error[0] ? auth->mech->error : "authentication failed";
}

int auth_session_key(const struct auth *auth, uint8_t *key, size_t *size)
{
    return auth->mech->ops->session_key(auth->mech, key, size);
}

int auth_token_size(struct auth *auth, size_t body_size, size_t *size)
{
    *size = 0;
    if (auth->mech->level == AUTH_LEVEL_CONNECT)
        return 0;
    return auth->mech->ops->token_size(auth->mech, body_size, size);
}

int auth_protect(struct auth *auth, const struct auth_pdu *pdu, uint8_t *token, size_t token_size)
{
    if (auth->mech->level == AUTH_LEVEL_CONNECT)
        return token_size == 0 ? 0 : -EINVAL;
    return auth->mech->ops->protect(auth->mech, pdu, token, token_size);
}

int auth_unprotect(struct auth *auth, const struct auth_pdu *pdu, const uint8_t *token,
                   size_t token_size)
{
    if (auth->mech->level == AUTH_LEVEL_CONNECT)
        return 0;
    if (pdu->body > pdu->size || pdu->body_size > pdu->size - pdu->body)
        return -EBADMSG;
    return auth->mech->ops->unprotect(auth->mech, pdu, token, token_size);
}
