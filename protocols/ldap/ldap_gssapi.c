/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SASL binds with Kerberos (RFC 4752, and SPNEGO around it) by cyrus-sasl: its client_start and
 * client_step make the tokens that our legs send, its encode and decode are the security layer. The
 * ticket is fetched before, so that no call of the library uses the network.
 */
#include <errno.h>
#include <sasl/sasl.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "protocols/auth/channel_bindings.h"
#include "protocols/kerberos/kerberos.h"
#include "protocols/ldap/ldap_connection_private.h"
#include "protocols/ldap/ldap_hide_hostname.h"

/* The longest frame of the server; libsasl keeps lengths in 24 bits. */
enum { SASL_FRAME_MAX = 0xffffff };

struct sasl_layer {
    struct ldap_layer layer;
    sasl_conn_t *sasl;
};

static struct outcome bind_with_ticket(struct ldap_connection *connection,
                                       gss_cred_id_t credentials, const char *mechanism);
static struct outcome make_client(struct ldap_connection *connection, gss_cred_id_t credentials,
                                  sasl_conn_t **out);
static sasl_security_properties_t security_properties(const struct ldap_connection *connection);
static int get_authorization_id(void *context, int id, const char **result, unsigned *length);
static struct outcome play_legs(struct ldap_connection *connection, sasl_conn_t *sasl,
                                struct ldap_sasl_leg *leg);
static struct outcome fail_bind(struct ldap_connection *connection);
static int step_client(sasl_conn_t *sasl, struct ldap_sasl_leg *leg);
static int install_layer(struct ldap_connection *connection, sasl_conn_t **sasl);
static int sasl_layer_encode(struct ldap_layer *layer, const void *plain, size_t size,
                             const uint8_t **frames, size_t *frames_size);
static int sasl_layer_decode(struct ldap_layer *layer, uint8_t *frame, size_t size,
                             const uint8_t **plain, size_t *plain_size);
static void sasl_layer_free(struct ldap_layer *layer);
static void set_expiry(struct ldap_connection *connection, gss_cred_id_t credentials);

struct outcome ldap_gssapi_bind(struct ldap_connection *connection, const struct account *account,
                                const char *mechanism)
{
    struct conversation *conversation = connection->conversation;
    bool spnego = strcmp(mechanism, "GSSAPI") != 0;
    struct outcome outcome = kerberos_ensure_ticket(conversation, account, "ldap");
    for (int attempt = 0; outcome.kind == OUTCOME_OK; attempt++) {
        gss_cred_id_t credentials = spnego ? kerberos_spnego_credentials(conversation, account)
                                           : kerberos_gss_credentials(conversation, account);
        if (credentials == GSS_C_NO_CREDENTIAL)
            return outcome_failed("no credentials for the account");
        outcome = bind_with_ticket(connection, credentials, mechanism);
        if (outcome.kind == OUTCOME_OK)
            set_expiry(connection, credentials);
        if (!connection->refused || attempt > 0)
            break;
        /* The DC may no longer accept the ticket: try once with a new one. */
        kerberos_forget_tickets(conversation, account);
        outcome = kerberos_ensure_ticket(conversation, account, "ldap");
    }
    return outcome;
}

static struct outcome bind_with_ticket(struct ldap_connection *connection,
                                       gss_cred_id_t credentials, const char *mechanism)
{
    struct ldap_sasl_leg leg = {.mechanism = mechanism};
    sasl_conn_t *sasl = NULL;
    struct channel_bindings bindings;
    sasl_channel_binding_t tls = {.name = "ldap", .data = bindings.data};
    if (channel_bindings_of_stream(&bindings, connection->stream) != 0)
        return outcome_of_error(-ENOMEM);
    tls.len = bindings.size;
    struct outcome outcome = make_client(connection, credentials, &sasl);
    /* libsasl keeps the pointer. No client outlives this function if there is TLS, because it has
     * no security layer then. */
    if (outcome.kind == OUTCOME_OK && tls.len)
        sasl_setprop(sasl, SASL_CHANNEL_BINDING, &tls);
    if (outcome.kind == OUTCOME_OK)
        outcome = play_legs(connection, sasl, &leg);
    int error = outcome.kind == OUTCOME_OK ? install_layer(connection, &sasl) : 0;
    if (error) {
        connection->error = error;
        outcome = outcome_of_error(error);
    }
    ber_bvfree(leg.answer);
    sasl_dispose(&sasl);
    return outcome;
}

static const sasl_callback_t callbacks[] = {
    {SASL_CB_USER, (int (*)(void))(void (*)(void))get_authorization_id, NULL},
    {SASL_CB_LIST_END, NULL, NULL},
};

static struct outcome make_client(struct ldap_connection *connection, gss_cred_id_t credentials,
                                  sasl_conn_t **out)
{
    sasl_security_properties_t wanted = security_properties(connection);
    ldap_hide_hostname(true);
    int result = sasl_client_new("ldap", ldap_connection_server_name(connection), NULL, NULL,
                                 callbacks, 0, out);
    ldap_hide_hostname(false);
    if (result == SASL_OK)
        result = sasl_setprop(*out, SASL_SEC_PROPS, &wanted);
    if (result == SASL_OK)
        result = sasl_setprop(*out, SASL_GSS_CREDS, credentials);
    if (result == SASL_OK)
        return outcome_ok();
    connection->error = result == SASL_NOMEM ? -ENOMEM : -EPROTO;
    if (result == SASL_NOMEM)
        return outcome_of_error(-ENOMEM);
    return outcome_failed("SASL: %s", sasl_errstring(result, NULL, NULL));
}

/* Security strength factors: integrity alone is 1, any cipher of Kerberos at least 56. */
enum { SSF_SIGN = 1, SSF_SEAL = 56, SSF_ANY = 65535 };

static sasl_security_properties_t security_properties(const struct ldap_connection *connection)
{
    sasl_security_properties_t wanted = {.maxbufsize = SASL_FRAME_MAX};
    if (connection->transport != LDAP_TRANSPORT_CLEAR)
        return (sasl_security_properties_t){0}; /* TLS protects the connection */
    bool sign = connection->protection == LDAP_PROTECTION_SIGN;
    wanted.min_ssf = sign ? SSF_SIGN : SSF_SEAL;
    wanted.max_ssf = sign ? SSF_SIGN : SSF_ANY;
    return wanted;
}

/* Acts as the account that authenticates. */
static int get_authorization_id(void *context, int id, const char **result, unsigned *length)
{
    (void)context;
    (void)id;
    *result = "";
    if (length)
        *length = 0;
    return SASL_OK;
}

/* Plays legs until the server reports success and the client has nothing to add. */
static struct outcome play_legs(struct ldap_connection *connection, sasl_conn_t *sasl,
                                struct ldap_sasl_leg *leg)
{
    const char *out = NULL, *chosen = NULL;
    unsigned size = 0;
    int result = sasl_client_start(sasl, leg->mechanism, NULL, &out, &size, &chosen);
    leg->token = out;
    leg->token_size = size;
    for (;;) {
        if (result != SASL_OK && result != SASL_CONTINUE)
            return fail_bind(connection);
        struct outcome outcome = ldap_sasl_leg_play(connection, leg);
        if (outcome.kind != OUTCOME_OK)
            return outcome;
        bool last = leg->code == LDAP_SUCCESS;
        /* A client that is done ignores a token in the server's success. The server must not
         * request another leg. */
        if (result == SASL_CONTINUE)
            result = step_client(sasl, leg);
        else if (!last)
            return fail_bind(connection);
        ber_bvfree(leg->answer);
        leg->answer = NULL;
        if (last)
            return result == SASL_OK ? outcome : fail_bind(connection);
    }
}

/* After a failure on our side the server waits in the middle of a bind: the connection is unusable.
 */
static struct outcome fail_bind(struct ldap_connection *connection)
{
    connection->error = -EPROTO;
    return outcome_failed("SASL client failed");
}

static int step_client(sasl_conn_t *sasl, struct ldap_sasl_leg *leg)
{
    const char *out = NULL;
    unsigned size = 0;
    const struct berval *answer = leg->answer;
    int result = sasl_client_step(sasl, answer ? answer->bv_val : NULL,
                                  answer ? (unsigned)answer->bv_len : 0, NULL, &out, &size);
    leg->token = out;
    leg->token_size = size;
    return result;
}

static const struct ldap_layer_ops sasl_layer_ops = {
    .encode = sasl_layer_encode, .decode = sasl_layer_decode, .free = sasl_layer_free};

/* Puts the negotiated layer between libldap and the stream. The layer takes over *sasl. */
static int install_layer(struct ldap_connection *connection, sasl_conn_t **sasl)
{
    const void *ssf = NULL;
    if (sasl_getprop(*sasl, SASL_SSF, &ssf) != SASL_OK)
        return -EPROTO;
    if (*(const sasl_ssf_t *)ssf == 0)
        return 0;
    if (ldap_input_pending(&connection->input))
        return -EBADMSG;
    struct sasl_layer *layer = calloc(1, sizeof *layer);
    if (!layer)
        return -ENOMEM;
    *layer = (struct sasl_layer){.layer = {.ops = &sasl_layer_ops}, .sasl = *sasl};
    *sasl = NULL;
    ldap_layer_free(connection->input.layer);
    connection->input.layer = &layer->layer;
    return 0;
}

static int sasl_layer_encode(struct ldap_layer *layer, const void *plain, size_t size,
                             const uint8_t **frames, size_t *frames_size)
{
    struct sasl_layer *self = (struct sasl_layer *)layer;
    const char *out = NULL;
    unsigned out_size = 0;
    if (size > SASL_FRAME_MAX)
        return -EMSGSIZE;
    if (sasl_encode(self->sasl, plain, (unsigned)size, &out, &out_size) != SASL_OK)
        return -EPROTO;
    *frames = (const uint8_t *)out;
    *frames_size = out_size;
    return 0;
}

static int sasl_layer_decode(struct ldap_layer *layer, uint8_t *frame, size_t size,
                             const uint8_t **plain, size_t *plain_size)
{
    struct sasl_layer *self = (struct sasl_layer *)layer;
    const char *out = NULL;
    unsigned out_size = 0;
    if (sasl_decode(self->sasl, (const char *)frame, (unsigned)size, &out, &out_size) != SASL_OK)
        return -EBADMSG;
    *plain = (const uint8_t *)out;
    *plain_size = out_size;
    return 0;
}

static void sasl_layer_free(struct ldap_layer *layer)
{
    struct sasl_layer *self = (struct sasl_layer *)layer;
    sasl_dispose(&self->sasl);
    free(self);
}

/* A DC closes the connection when the ticket of its bind expires. */
static void set_expiry(struct ldap_connection *connection, gss_cred_id_t credentials)
{
    OM_uint32 minor, seconds = GSS_C_INDEFINITE;
    connection->expires = 0;
    if (gss_inquire_cred(&minor, credentials, NULL, &seconds, NULL, NULL) == GSS_S_COMPLETE &&
        seconds != GSS_C_INDEFINITE)
        connection->expires = clock_now() + (int64_t)seconds * 1000000000;
}
