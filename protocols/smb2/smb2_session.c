/* SPDX-License-Identifier: Apache-2.0 */
/* SMB2 SESSION_SETUP and LOGOFF. */
#include "protocols/smb2/smb2_session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/little_endian.h"
#include "protocols/auth/auth.h"
#include "protocols/ntstatus.h"
#include "protocols/smb2/smb2_negotiate.h"

enum {
    SETUP_STRUCTURE = 25,
    SETUP_TOKEN = SMB2_HEADER_SIZE + 24, /* offset of the token in a request */
    RESPONSE_STRUCTURE = 9,
    RESPONSE_FIXED = 8,
    LOGOFF_STRUCTURE = 4,
    SIGNING_ENABLED = 1,
    LEGS_MOST = 8
};

/* A session during its setup. */
struct setup {
    struct smb2_connection *connection;
    struct conversation *conversation;
    struct smb2_session *session;
    struct auth *auth;
    uint8_t preauth[SMB2_PREAUTH_SIZE];
    uint8_t *token; /* the next to send */
    size_t token_size;
    enum auth_progress progress;
    bool done; /* the server reported success */
};

static struct outcome step_context(struct setup *setup, struct smb2_slice token);
static struct outcome auth_outcome(const struct setup *setup, int rc);
static struct outcome play_leg(struct setup *setup);
static void put_setup(struct smb2_writer *writer, const uint8_t *token, size_t size);
static struct outcome read_response(struct setup *setup, const struct smb2_call *call);
static struct outcome finish_setup(struct setup *setup, const struct smb2_call *call,
                                   const struct smb2_setup *response);
static struct outcome establish_session(struct setup *setup, uint16_t flags);
static struct outcome verify_last_response(struct setup *setup, const struct smb2_call *call);

int smb2_session_setup_decode(const struct smb2_reply *reply, struct smb2_setup *setup)
{
    const uint8_t *body = smb2_body(reply, RESPONSE_STRUCTURE, RESPONSE_FIXED);
    if (!body)
        return -EBADMSG;
    setup->flags = le_get16(body + 2);
    return smb2_slice_at(reply, le_get16(body + 4), le_get16(body + 6), RESPONSE_FIXED,
                         &setup->token)
               ? 0
               : -EBADMSG;
}

struct outcome smb2_session_setup(struct smb2_connection *connection,
                                  struct conversation *conversation, enum smb2_who who,
                                  bool wrong_password)
{
    struct setup setup = {.connection = connection,
                          .conversation = conversation,
                          .session = &connection->sessions[who],
                          .progress = AUTH_MORE};
    struct auth_request request = {.account = who == SMB2_USER ? conversation->user
                                                               : conversation->machine,
                                   .service = "cifs",
                                   .level = AUTH_LEVEL_INTEGRITY,
                                   .kerberos = conversation->kerberos,
                                   .wrong_password = wrong_password};
    memset(setup.session, 0, sizeof *setup.session);
    memcpy(setup.preauth, connection->preauth, sizeof setup.preauth);
    struct outcome outcome = auth_open(conversation, &request, &setup.auth);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    outcome = step_context(&setup, (struct smb2_slice){NULL, 0});
    for (int i = 0; outcome.kind == OUTCOME_OK && !setup.done; i++)
        outcome = i < LEGS_MOST ? play_leg(&setup) : outcome_failed("SMB2: the logon does not end");
    auth_free(setup.auth);
    free(setup.token);
    if (outcome.kind != OUTCOME_OK)
        memset(setup.session, 0, sizeof *setup.session);
    return outcome;
}

/* Gives a token to the security context, which makes the next one. */
static struct outcome step_context(struct setup *setup, struct smb2_slice token)
{
    free(setup->token);
    setup->token = NULL;
    setup->token_size = 0;
    int rc = auth_step(setup->auth, token.data, token.size, &setup->token, &setup->token_size);
    if (rc < 0)
        return auth_outcome(setup, rc);
    setup->progress = (enum auth_progress)rc;
    return outcome_ok();
}

static struct outcome auth_outcome(const struct setup *setup, int rc)
{
    if (rc == -ENOMEM)
        return outcome_of_error(rc);
    return outcome_failed("%s", auth_error(setup->auth));
}

/* Sends one request and reads its response. */
static struct outcome play_leg(struct setup *setup)
{
    struct smb2_call call;
    if (setup->token_size > UINT16_MAX)
        return outcome_failed("SMB2: the security token is too long");
    smb2_call_begin(&call, setup->connection, setup->session, NULL, SMB2_SESSION_SETUP,
                    32 + setup->token_size);
    put_setup(&call.request, setup->token, setup->token_size);
    int rc = smb2_call_run(&call);
    struct outcome outcome;
    if (rc) {
        outcome = smb2_connection_outcome(setup->connection, rc);
    } else {
        smb2_preauth_update(setup->preauth, smb2_writer_message(&call.request), call.request.size);
        outcome = read_response(setup, &call);
    }
    smb2_call_end(&call);
    return outcome;
}

static void put_setup(struct smb2_writer *writer, const uint8_t *token, size_t size)
{
    smb2_put16(writer, SETUP_STRUCTURE);
    smb2_put8(writer, 0);
    smb2_put8(writer, SIGNING_ENABLED);
    smb2_put32(writer, 1); /* DFS */
    smb2_put32(writer, 0);
    smb2_put16(writer, SETUP_TOKEN);
    smb2_put16(writer, (uint16_t)size);
    smb2_put64(writer, 0);
    smb2_put_bytes(writer, token, size);
}

static struct outcome read_response(struct setup *setup, const struct smb2_call *call)
{
    uint32_t status = call->header.status;
    struct smb2_setup response;
    if (status != NTSTATUS_SUCCESS && status != NTSTATUS_MORE_PROCESSING_REQUIRED)
        return ntstatus_outcome(status);
    if (smb2_session_setup_decode(&call->reply, &response) != 0) {
        int rc = smb2_connection_complain(setup->connection, "SMB2: malformed SESSION_SETUP");
        return smb2_connection_outcome(setup->connection, rc);
    }
    setup->session->id = call->header.session_id;
    if (status == NTSTATUS_SUCCESS)
        return finish_setup(setup, call, &response);
    smb2_preauth_update(setup->preauth, call->reply.message, call->reply.size);
    if (setup->progress == AUTH_DONE)
        return outcome_failed("SMB2: the server requests another leg of the logon");
    return step_context(setup, response.token);
}

/* After the server's success, its last token may still have to be read (Kerberos' AP-REP, the
 * mechListMIC). */
static struct outcome finish_setup(struct setup *setup, const struct smb2_call *call,
                                   const struct smb2_setup *response)
{
    struct outcome outcome = outcome_ok();
    setup->done = true;
    if (setup->progress == AUTH_MORE)
        outcome = step_context(setup, response->token);
    if (outcome.kind == OUTCOME_OK && setup->progress != AUTH_DONE)
        outcome = outcome_failed("SMB2: the server ended the logon too early");
    if (outcome.kind == OUTCOME_OK)
        outcome = establish_session(setup, response->flags);
    if (outcome.kind == OUTCOME_OK)
        outcome = verify_last_response(setup, call);
    setup->session->established = outcome.kind == OUTCOME_OK;
    return outcome;
}

/* 3.2.5.3.1, 3.2.5.3.3: derives the keys and sets the session's protection. */
static struct outcome establish_session(struct setup *setup, uint16_t flags)
{
    struct smb2_connection *connection = setup->connection;
    struct smb2_session *session = setup->session;
    uint8_t key[AUTH_SESSION_KEY_MAX];
    size_t size = sizeof key;
    if (flags & (SMB2_SESSION_IS_GUEST | SMB2_SESSION_IS_NULL))
        return outcome_failed("SMB2: logged on as guest");
    int rc = auth_session_key(setup->auth, key, &size);
    if (rc)
        return outcome_failed("SMB2: no session key");
    smb2_keys_derive(&session->keys, connection->dialect, connection->cipher, key, size,
                     setup->preauth);
    explicit_bzero(key, sizeof key);
    bool wants_encryption =
        flags & SMB2_SESSION_ENCRYPT_DATA || setup->conversation->dc->options.smb_encrypt;
    if (wants_encryption && connection->cipher == SMB2_CIPHER_NONE)
        return outcome_failed("SMB2: the server does not encrypt");
    session->encrypts = wants_encryption;
    session->signs = connection->security_mode & SMB2_NEGOTIATE_SIGNING_REQUIRED ||
                     setup->conversation->dc->options.smb_sign;
    return outcome_ok();
}

/* Verifies the successful response, which the new key signs (in 3.1.1 always). */
static struct outcome verify_last_response(struct setup *setup, const struct smb2_call *call)
{
    struct smb2_connection *connection = setup->connection;
    bool is_signed = call->header.flags & SMB2_FLAGS_SIGNED;
    int rc = 0;
    if (!is_signed && (setup->session->signs || connection->dialect == 0x0311))
        rc = smb2_connection_complain(connection, "SMB2: reply is not signed");
    else if (is_signed && !smb2_signature_valid(setup->session->keys.signing, connection->signing,
                                                call->reply.message, call->reply.size))
        rc = smb2_connection_complain(connection, "SMB2: signature does not verify");
    return rc ? smb2_connection_outcome(connection, rc) : outcome_ok();
}

struct outcome smb2_session_logoff(struct smb2_connection *connection, struct smb2_session *session)
{
    struct smb2_call call;
    const uint8_t *body;
    smb2_call_begin(&call, connection, session, NULL, SMB2_LOGOFF, LOGOFF_STRUCTURE);
    smb2_put16(&call.request, LOGOFF_STRUCTURE);
    smb2_put16(&call.request, 0);
    int rc = smb2_call_run_body(&call, LOGOFF_STRUCTURE, LOGOFF_STRUCTURE, &body);
    struct outcome outcome =
        rc ? smb2_connection_outcome(connection, rc) : ntstatus_outcome(call.header.status);
    if (outcome.kind == OUTCOME_OK)
        memset(session, 0, sizeof *session);
    smb2_call_end(&call);
    return outcome;
}
