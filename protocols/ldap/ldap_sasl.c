/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SASL binds (RFC 4513 5.2): one bind request per leg; then a security layer is put between libldap
 * and the stream. This file plays the legs, and GSS-SPNEGO with our NTLMSSP inside (MS-ADTS
 * 5.1.1.1.2, MS-SPNG). Kerberos is in ldap_gssapi.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/auth/channel_bindings.h"
#include "protocols/auth/ntlm_account.h"
#include "protocols/auth/ntlmssp.h"
#include "protocols/auth/spnego.h"
#include "protocols/ldap/ldap_connection_private.h"

/* A bind with NTLM. */
struct ntlm_bind {
    struct ldap_connection *connection;
    struct ntlmssp *ntlmssp;
    struct ldap_sasl_leg leg;
    uint8_t *message; /* NTLMSSP's */
    size_t message_size;
    uint8_t *token; /* SPNEGO around it */
    size_t token_size;
};

/* What an identity says about TLS. */
struct tls_identity {
    uint8_t bindings[CHANNEL_BINDINGS_MD5_SIZE];
    char target[512];
};

static int parse_leg(struct ldap_connection *connection, struct ldap_sasl_leg *leg,
                     LDAPMessage *message);
static struct outcome bind_ntlm(struct ldap_connection *connection, const struct account *account);
static struct outcome ntlm_play_legs(struct ntlm_bind *bind, const struct account *account);
static int ntlm_start(struct ntlm_bind *bind, const struct account *account);
static int identify_tls(const struct ldap_connection *connection, struct tls_identity *tls,
                        struct ntlmssp_identity *identity);
static struct outcome ntlm_fail(struct ntlm_bind *bind, int error);
static struct outcome ntlm_play_leg(struct ntlm_bind *bind);
static int ntlm_answer_challenge(struct ntlm_bind *bind);
static int parse_answer(const struct ntlm_bind *bind, struct spnego_response *response);
static int ntlm_check_end(struct ntlm_bind *bind);
static int ntlm_install_layer(struct ntlm_bind *bind);
static void ntlm_leg_clear(struct ntlm_bind *bind);

struct outcome ldap_sasl_leg_play(struct ldap_connection *connection, struct ldap_sasl_leg *leg)
{
    struct berval token = {.bv_val = (char *)leg->token, .bv_len = leg->token_size};
    LDAPMessage *message = NULL;
    int id;
    leg->answer = NULL;
    connection->refused = false;
    int result = ldap_sasl_bind(connection->handle, NULL, leg->mechanism,
                                leg->token ? &token : NULL, NULL, NULL, &id);
    if (result != LDAP_SUCCESS)
        return ldap_connection_send_outcome(connection, result);
    int error = ldap_connection_wait(connection, id, LDAP_MSG_ALL, &message);
    if (!error)
        error = parse_leg(connection, leg, message);
    struct outcome outcome = outcome_ok();
    connection->refused = !error && leg->code == LDAP_INVALID_CREDENTIALS;
    if (error)
        outcome = ldap_connection_failure(connection, error);
    else if (leg->code != LDAP_SUCCESS && leg->code != LDAP_SASL_BIND_IN_PROGRESS)
        outcome = ldap_connection_outcome(connection, message);
    ldap_msgfree(message);
    return outcome;
}

static int parse_leg(struct ldap_connection *connection, struct ldap_sasl_leg *leg,
                     LDAPMessage *message)
{
    char *diagnostic = NULL;
    LDAP *handle = connection->handle;
    int result = ldap_parse_result(handle, message, &leg->code, NULL, &diagnostic, NULL, NULL, 0);
    ldap_memfree(diagnostic);
    if (result != LDAP_SUCCESS)
        return -EBADMSG;
    if (leg->code == LDAP_SUCCESS || leg->code == LDAP_SASL_BIND_IN_PROGRESS)
        /* Returns the result code again; only the answer matters here. */
        ldap_parse_sasl_bind_result(handle, message, &leg->answer, 0);
    return 0;
}

struct outcome ldap_connection_bind_sasl(struct ldap_connection *connection,
                                         const struct account *account,
                                         enum ldap_mechanism mechanism, bool kerberos)
{
    bool gssapi = mechanism == LDAP_MECHANISM_GSSAPI;
    connection->bound = false;
    connection->expires = 0;
    struct outcome outcome;
    if (gssapi || kerberos)
        outcome = ldap_gssapi_bind(connection, account, gssapi ? "GSSAPI" : "GSS-SPNEGO");
    else
        outcome = bind_ntlm(connection, account);
    connection->bound = outcome.kind == OUTCOME_OK;
    return outcome;
}

static struct outcome bind_ntlm(struct ldap_connection *connection, const struct account *account)
{
    struct ntlm_bind bind = {.connection = connection, .leg = {.mechanism = "GSS-SPNEGO"}};
    struct outcome outcome = ntlm_play_legs(&bind, account);
    ntlm_leg_clear(&bind);
    ntlmssp_free(bind.ntlmssp);
    return outcome;
}

static struct outcome ntlm_play_legs(struct ntlm_bind *bind, const struct account *account)
{
    int error = ntlm_start(bind, account);
    if (!error)
        error = ntlmssp_negotiate(bind->ntlmssp, &bind->message, &bind->message_size);
    if (!error)
        error = spnego_build_init(SPNEGO_NTLMSSP, bind->message, bind->message_size, &bind->token,
                                  &bind->token_size);
    if (error)
        return ntlm_fail(bind, error);
    struct outcome outcome = ntlm_play_leg(bind);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    free(bind->message);
    bind->message = NULL;
    free(bind->token);
    bind->token = NULL;
    error = ntlm_answer_challenge(bind);
    if (error)
        return ntlm_fail(bind, error);
    ber_bvfree(bind->leg.answer);
    outcome = ntlm_play_leg(bind);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    error = ntlm_check_end(bind);
    if (!error)
        error = ntlm_install_layer(bind);
    return error ? ntlm_fail(bind, error) : outcome;
}

static int ntlm_start(struct ntlm_bind *bind, const struct account *account)
{
    struct ntlm_account names;
    struct ntlmssp_identity identity;
    struct tls_identity tls;
    bool layer = bind->connection->transport == LDAP_TRANSPORT_CLEAR;
    bool seal = layer && bind->connection->protection == LDAP_PROTECTION_SEAL;
    int error = ntlm_account_init(&names, &identity, bind->connection->conversation, account);
    if (!error)
        error = identify_tls(bind->connection, &tls, &identity);
    if (!error)
        error = ntlmssp_new(&bind->ntlmssp, &identity, layer, seal);
    ntlm_account_clear(&names);
    return error;
}

/* Adds the channel bindings and the target's name that belong to them. A server takes zeros for
 * wrong bindings, and a missing pair for a client that knows none. */
static int identify_tls(const struct ldap_connection *connection, struct tls_identity *tls,
                        struct ntlmssp_identity *identity)
{
    struct channel_bindings bindings;
    int error = channel_bindings_of_stream(&bindings, connection->stream);
    if (error || bindings.size == 0)
        return error;
    channel_bindings_md5(&bindings, tls->bindings);
    const char *server = ldap_connection_server_name(connection);
    int length = snprintf(tls->target, sizeof tls->target, "ldap/%s", server);
    if (length < 0 || (size_t)length >= sizeof tls->target)
        return -ENAMETOOLONG;
    identity->target_name = tls->target;
    identity->channel_bindings = tls->bindings;
    return 0;
}

/* After a failure on our side the server still waits for the next leg: the connection is unusable.
 */
static struct outcome ntlm_fail(struct ntlm_bind *bind, int error)
{
    bind->connection->error = error;
    return outcome_of_error(error);
}

static struct outcome ntlm_play_leg(struct ntlm_bind *bind)
{
    bind->leg.token = bind->token;
    bind->leg.token_size = bind->token_size;
    return ldap_sasl_leg_play(bind->connection, &bind->leg);
}

/* Answers the server's challenge with our second token. A MIC requires a mechListMIC with it. */
static int ntlm_answer_challenge(struct ntlm_bind *bind)
{
    struct spnego_response challenge;
    int error =
        bind->leg.code == LDAP_SASL_BIND_IN_PROGRESS ? parse_answer(bind, &challenge) : -EBADMSG;
    if (!error && !challenge.token.data)
        error = -EBADMSG;
    if (!error)
        error = ntlmssp_authenticate(bind->ntlmssp, challenge.token.data, challenge.token.size,
                                     &bind->message, &bind->message_size);
    if (error)
        return error;
    uint8_t mic[NTLMSSP_SIGNATURE_SIZE];
    struct spnego_slice mech_list = spnego_mech_list(SPNEGO_NTLMSSP);
    ntlmssp_sign(bind->ntlmssp, mech_list.data, mech_list.size, mic);
    struct spnego_response response = {
        .state = SPNEGO_STATE_ABSENT,
        .mech = SPNEGO_NONE,
        .token = {bind->message, bind->message_size},
        .mech_list_mic = {mic, sizeof mic},
    };
    return spnego_build_response(&response, &bind->token, &bind->token_size);
}

static int parse_answer(const struct ntlm_bind *bind, struct spnego_response *response)
{
    const struct berval *answer = bind->leg.answer;
    return answer ? spnego_parse_response((const uint8_t *)answer->bv_val, answer->bv_len, response)
                  : -EBADMSG;
}

/* The server's last token must accept. If signing was negotiated, it must be signed with the same
 * key; otherwise, inside TLS, there is nothing to sign it with (MS-NLMP 3.4.4), and servers leave
 * the mechListMIC out. */
static int ntlm_check_end(struct ntlm_bind *bind)
{
    struct spnego_response response;
    if (bind->leg.code != LDAP_SUCCESS)
        return -EBADMSG;
    int error = parse_answer(bind, &response);
    if (error)
        return error;
    if (bind->connection->transport != LDAP_TRANSPORT_CLEAR)
        return response.state == SPNEGO_ACCEPT_COMPLETED ? 0 : -EBADMSG;
    struct spnego_slice mech_list = spnego_mech_list(SPNEGO_NTLMSSP);
    if (response.mech_list_mic.size != NTLMSSP_SIGNATURE_SIZE)
        return -EBADMSG;
    error =
        ntlmssp_verify(bind->ntlmssp, mech_list.data, mech_list.size, response.mech_list_mic.data);
    if (!error)
        ntlmssp_reset_crypto(bind->ntlmssp);
    return error;
}

/* Everything read and written from now on passes through the layer. */
static int ntlm_install_layer(struct ntlm_bind *bind)
{
    struct ldap_connection *connection = bind->connection;
    if (connection->transport != LDAP_TRANSPORT_CLEAR)
        return 0;
    if (ldap_input_pending(&connection->input))
        return -EBADMSG;
    struct ldap_layer *layer = ldap_layer_ntlmssp(bind->ntlmssp);
    bind->ntlmssp = NULL;
    if (!layer)
        return -ENOMEM;
    ldap_layer_free(connection->input.layer);
    connection->input.layer = layer;
    return 0;
}

static void ntlm_leg_clear(struct ntlm_bind *bind)
{
    ber_bvfree(bind->leg.answer);
    bind->leg.answer = NULL;
    free(bind->message);
    bind->message = NULL;
    free(bind->token);
    bind->token = NULL;
}
