/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LDAP connections: libldap encodes and decodes messages, our Sockbuf transports its bytes.
 *
 *     ldap_..._ext()  ->  sockbuf_write  ->  layer's encode  ->  stream_write (may wait)
 *     ldap_result()   <-  sockbuf_read   <-  input (layer's decode)  <-  stream_read (may wait)
 *
 * libldap never uses the socket. ldap_connection_wait() reads from the stream and then lets
 * ldap_result() decode what was read, until there is a message.
 */
#include "protocols/ldap/ldap_connection.h"

#include <errno.h>
#include <openldap.h>
#include <sasl/sasl.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "protocols/ldap/ldap_connection_private.h"
#include "protocols/ldap/ldap_hide_hostname.h"
#include "protocols/stream.h"

static const struct {
    int code;
    const char *name;
} result_names[] = {
    {LDAP_SUCCESS, "success"},
    {LDAP_OPERATIONS_ERROR, "operationsError"},
    {LDAP_PROTOCOL_ERROR, "protocolError"},
    {LDAP_TIMELIMIT_EXCEEDED, "timeLimitExceeded"},
    {LDAP_SIZELIMIT_EXCEEDED, "sizeLimitExceeded"},
    {LDAP_COMPARE_FALSE, "compareFalse"},
    {LDAP_COMPARE_TRUE, "compareTrue"},
    {LDAP_AUTH_METHOD_NOT_SUPPORTED, "authMethodNotSupported"},
    {LDAP_STRONG_AUTH_REQUIRED, "strongerAuthRequired"},
    {LDAP_REFERRAL, "referral"},
    {LDAP_ADMINLIMIT_EXCEEDED, "adminLimitExceeded"},
    {LDAP_UNAVAILABLE_CRITICAL_EXTENSION, "unavailableCriticalExtension"},
    {LDAP_CONFIDENTIALITY_REQUIRED, "confidentialityRequired"},
    {LDAP_SASL_BIND_IN_PROGRESS, "saslBindInProgress"},
    {LDAP_NO_SUCH_ATTRIBUTE, "noSuchAttribute"},
    {LDAP_UNDEFINED_TYPE, "undefinedAttributeType"},
    {LDAP_INAPPROPRIATE_MATCHING, "inappropriateMatching"},
    {LDAP_CONSTRAINT_VIOLATION, "constraintViolation"},
    {LDAP_TYPE_OR_VALUE_EXISTS, "attributeOrValueExists"},
    {LDAP_INVALID_SYNTAX, "invalidAttributeSyntax"},
    {LDAP_NO_SUCH_OBJECT, "noSuchObject"},
    {LDAP_ALIAS_PROBLEM, "aliasProblem"},
    {LDAP_INVALID_DN_SYNTAX, "invalidDNSyntax"},
    {LDAP_ALIAS_DEREF_PROBLEM, "aliasDereferencingProblem"},
    {LDAP_INAPPROPRIATE_AUTH, "inappropriateAuthentication"},
    {LDAP_INVALID_CREDENTIALS, "invalidCredentials"},
    {LDAP_INSUFFICIENT_ACCESS, "insufficientAccessRights"},
    {LDAP_BUSY, "busy"},
    {LDAP_UNAVAILABLE, "unavailable"},
    {LDAP_UNWILLING_TO_PERFORM, "unwillingToPerform"},
    {LDAP_LOOP_DETECT, "loopDetect"},
    {LDAP_NAMING_VIOLATION, "namingViolation"},
    {LDAP_OBJECT_CLASS_VIOLATION, "objectClassViolation"},
    {LDAP_NOT_ALLOWED_ON_NONLEAF, "notAllowedOnNonLeaf"},
    {LDAP_NOT_ALLOWED_ON_RDN, "notAllowedOnRDN"},
    {LDAP_ALREADY_EXISTS, "entryAlreadyExists"},
    {LDAP_NO_OBJECT_CLASS_MODS, "objectClassModsProhibited"},
    {LDAP_AFFECTS_MULTIPLE_DSAS, "affectsMultipleDSAs"},
    {LDAP_OTHER, "other"},
};

static struct outcome connect_to_dc(struct ldap_connection *connection);
static struct outcome outcome_of_ldaps_error(int error, uint16_t port);
static int start_tls(struct ldap_connection *connection);
static struct outcome refused_certificate(const struct ldap_connection *connection);
static struct outcome make_handle(struct ldap_connection *connection);
static int prepare_handle(struct ldap_connection *connection);
static struct outcome bind_admin(struct ldap_connection *connection, const struct dc *dc);
static int decode_result(struct ldap_connection *connection, int message_id, int all,
                         LDAPMessage **result);
static int handle_error(struct ldap_connection *connection);

static int read_input(struct ldap_connection *connection, bool answer_began);
static int check_notification(struct ldap_connection *connection, LDAPMessage *message);
static int read_idle_input(struct ldap_connection *connection);
static struct outcome outcome_of_code(int code, const char *diagnostic);
static bool logon_sub_code(const char *diagnostic, char code[9]);
static const char *logon_sub_code_meaning(const char *code);
static int sockbuf_setup(Sockbuf_IO_Desc *io, void *connection);
static int sockbuf_remove(Sockbuf_IO_Desc *io);
static int sockbuf_ctrl(Sockbuf_IO_Desc *io, int option, void *argument);
static ber_slen_t sockbuf_read(Sockbuf_IO_Desc *io, void *buffer, ber_len_t size);
static ber_slen_t sockbuf_write(Sockbuf_IO_Desc *io, void *buffer, ber_len_t size);
static int write_frames(struct ldap_connection *connection, const void *bytes, size_t size);
static int sockbuf_close(Sockbuf_IO_Desc *io);

static Sockbuf_IO sockbuf_io = {.sbi_setup = sockbuf_setup,
                                .sbi_remove = sockbuf_remove,
                                .sbi_ctrl = sockbuf_ctrl,
                                .sbi_read = sockbuf_read,
                                .sbi_write = sockbuf_write,
                                .sbi_close = sockbuf_close};

int ldap_connection_global_init(struct error *error)
{
    if (setenv("LDAPNOINIT", "1", 1) < 0)
        return error_no_memory(error);
    LDAP *handle;
    ldap_hide_hostname(true);
    int result = ldap_create(&handle);
    int sasl = sasl_client_init(NULL);
    ldap_hide_hostname(false);
    if (result == LDAP_NO_MEMORY || sasl == SASL_NOMEM)
        return error_no_memory(error);
    if (result != LDAP_SUCCESS)
        return error_set(error, -ENOSYS, "libldap cannot be used: %s", ldap_err2string(result));
    ldap_unbind_ext(handle, NULL, NULL);
    if (sasl != SASL_OK)
        return error_set(error, -ENOSYS, "libsasl cannot be used: %s",
                         sasl_errstring(sasl, NULL, NULL));
    return 0;
}

struct outcome ldap_connection_open(struct ldap_connection **out, struct conversation *conversation,
                                    enum ldap_transport transport)
{
    struct ldap_connection *connection = calloc(1, sizeof *connection);
    if (!connection)
        return outcome_of_error(-ENOMEM);
    connection->conversation = conversation;
    connection->transport = transport == LDAP_TRANSPORT_STARTTLS ? LDAP_TRANSPORT_CLEAR : transport;
    struct outcome outcome = connect_to_dc(connection);
    if (outcome.kind == OUTCOME_OK && transport == LDAP_TRANSPORT_STARTTLS)
        outcome = ldap_connection_start_tls(connection);
    if (outcome.kind == OUTCOME_OK)
        *out = connection;
    else
        ldap_connection_close(connection);
    return outcome;
}

static struct outcome connect_to_dc(struct ldap_connection *connection)
{
    struct conversation *conversation = connection->conversation;
    const struct dc *dc = conversation->dc;
    bool ldaps = connection->transport == LDAP_TRANSPORT_LDAPS;
    struct sockaddr_storage address;
    socklen_t size = dc_address(dc, ldaps ? dc->ports.ldaps : dc->ports.ldap, &address);
    int error = stream_open(&connection->stream, &conversation->wire, STREAM_TCP,
                            (struct sockaddr *)&address, size);
    if (!error && ldaps)
        error = start_tls(connection);
    if (error == -EKEYREJECTED)
        return refused_certificate(connection);
    if (error)
        return ldaps ? outcome_of_ldaps_error(error, dc->ports.ldaps)
                     : outcome_of_wire(&conversation->wire, error);
    return make_handle(connection);
}

/* A DC without a certificate refuses LDAPS connections or resets them, and the model need not say
 * that it uses LDAPS. So the cause names the port. */
static struct outcome outcome_of_ldaps_error(int error, uint16_t port)
{
    static const int of_the_port[] = {ECONNREFUSED, ECONNRESET,   ETIMEDOUT,
                                      EPIPE,        EHOSTUNREACH, ENETUNREACH};
    struct outcome outcome = outcome_of_error(error);
    for (size_t i = 0; i < sizeof of_the_port / sizeof of_the_port[0]; i++)
        if (error == -of_the_port[i])
            return outcome_failed("%s " LDAP_LDAPS_CAUSE " %u)", stream_error_text(error), port);
    return outcome;
}

static int start_tls(struct ldap_connection *connection)
{
    const struct dc *dc = connection->conversation->dc;
    if (!dc->tls)
        return -EOPNOTSUPP;
    return stream_start_tls(connection->stream, dc->tls, ldap_connection_server_name(connection));
}

/* Longer LDAP messages are refused: no request of ours has such answers. */
enum { MESSAGE_MAX = 32 << 20 };

/* libldap reconnects to this address if it loses its connection. Nobody listens there. */
#define NOWHERE "ldapi://%2Fnonexistent%2Fno-reconnect"

static struct outcome make_handle(struct ldap_connection *connection)
{
    int fd = stream_fd(connection->stream);
    int result = ldap_init_fd(fd, LDAP_PROTO_EXT, NOWHERE, &connection->handle);
    if (result == LDAP_SUCCESS)
        result = prepare_handle(connection);
    if (result == LDAP_SUCCESS)
        return outcome_ok();
    if (result == LDAP_NO_MEMORY)
        return outcome_of_error(-ENOMEM);
    return outcome_failed("libldap: %s", ldap_err2string(result));
}

/* Puts our Sockbuf below the handle and sets its options. An LDAP result code. */
static int prepare_handle(struct ldap_connection *connection)
{
    LDAP *handle = connection->handle;
    Sockbuf *sockbuf = NULL;
    int version = LDAP_VERSION3;
    ber_len_t longest = MESSAGE_MAX;
    if (ldap_get_option(handle, LDAP_OPT_SOCKBUF, &sockbuf) != LDAP_OPT_SUCCESS)
        return LDAP_NOT_SUPPORTED;
    /* This fails only without memory. */
    if (ber_sockbuf_add_io(sockbuf, &sockbuf_io, LBER_SBIOD_LEVEL_PROVIDER, connection) != 0)
        return LDAP_NO_MEMORY;
    if (ber_sockbuf_ctrl(sockbuf, LBER_SB_OPT_SET_MAX_INCOMING, &longest) < 0 ||
        ldap_set_option(handle, LDAP_OPT_PROTOCOL_VERSION, &version) != LDAP_OPT_SUCCESS ||
        ldap_set_option(handle, LDAP_OPT_REFERRALS, LDAP_OPT_OFF) != LDAP_OPT_SUCCESS)
        return LDAP_NOT_SUPPORTED;
    return LDAP_SUCCESS;
}

struct outcome ldap_connection_start_tls(struct ldap_connection *connection)
{
    int id;
    int result =
        ldap_extended_operation(connection->handle, LDAP_EXOP_START_TLS, NULL, NULL, NULL, &id);
    struct outcome outcome = ldap_connection_finish(connection, result, id);
    if (outcome.kind == OUTCOME_FAILED && !connection->error)
        return outcome_failed("%.60s " LDAP_STARTTLS_CAUSE, outcome.cause);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    /* Bytes received before the handshake cannot be trusted. */
    int error = ldap_input_pending(&connection->input) ? -EBADMSG : start_tls(connection);
    connection->error = error;
    connection->transport = LDAP_TRANSPORT_STARTTLS;
    if (error == -EKEYREJECTED)
        return refused_certificate(connection);
    return error ? outcome_of_error(error) : outcome_ok();
}

static struct outcome refused_certificate(const struct ldap_connection *connection)
{
    return outcome_failed("%s: %s", stream_error_text(-EKEYREJECTED),
                          stream_tls_refusal(connection->stream));
}

enum ldap_transport ldap_connection_transport(const struct ldap_connection *connection)
{
    return connection->transport;
}

struct outcome ldap_connection_bind_simple(struct ldap_connection *connection, const char *name,
                                           const char *password)
{
    struct berval credentials = {.bv_val = (char *)password, .bv_len = strlen(password)};
    LDAPMessage *message = NULL;
    int id;
    int result =
        ldap_sasl_bind(connection->handle, name, LDAP_SASL_SIMPLE, &credentials, NULL, NULL, &id);
    if (result != LDAP_SUCCESS)
        return ldap_connection_send_outcome(connection, result);
    int error = ldap_connection_wait(connection, id, LDAP_MSG_ALL, &message);
    if (error)
        return ldap_connection_failure(connection, error);
    struct outcome outcome = ldap_connection_outcome(connection, message);
    ldap_msgfree(message);
    connection->bound = outcome.kind == OUTCOME_OK;
    return outcome;
}

struct outcome ldap_connection_open_admin(struct ldap_connection **out,
                                          struct conversation *conversation)
{
    struct ldap_connection *connection = NULL;
    struct outcome outcome = ldap_connection_open(&connection, conversation, LDAP_TRANSPORT_CLEAR);
    if (outcome.kind == OUTCOME_OK)
        outcome = bind_admin(connection, conversation->dc);
    if (outcome.kind == OUTCOME_OK)
        *out = connection;
    else
        ldap_connection_close(connection);
    return outcome;
}

static struct outcome bind_admin(struct ldap_connection *connection, const struct dc *dc)
{
    const struct account *admin = &dc->admin;
    bool kerberos = dc->admin_ccache != NULL || (dc->options.prefer_kerberos &&
                                                 (admin->has_aes256_key || admin->no_aes256_key));
    if (!dc->options.generic_ldap)
        return ldap_connection_bind_sasl(connection, admin, LDAP_MECHANISM_GSS_SPNEGO, kerberos);
    if (!admin->name)
        return outcome_ok();
    return ldap_connection_bind_simple(connection, admin->dn ? admin->dn : admin->name,
                                       admin->password ? admin->password : "");
}

LDAP *ldap_connection_handle(struct ldap_connection *connection)
{
    return connection->handle;
}

int ldap_connection_wait(struct ldap_connection *connection, int message_id, int all,
                         LDAPMessage **result)
{
    bool answer_began = false;
    *result = NULL;
    if (connection->error)
        return connection->error;
    int done = decode_result(connection, message_id, all, result);
    while (done == 0) {
        done = read_input(connection, answer_began);
        answer_began = true;
        if (done == 0)
            done = decode_result(connection, message_id, all, result);
    }
    int error = ldap_input_save(&connection->input);
    if (done == 1 && error) {
        ldap_msgfree(*result);
        *result = NULL;
    }
    if (done < 0)
        error = done;
    connection->error = error;
    return error;
}

/* Lets libldap decode what was read. 1: *result is the message, 0: more bytes are needed, or a
 * negative errno. */
static int decode_result(struct ldap_connection *connection, int message_id, int all,
                         LDAPMessage **result)
{
    size_t left, left_before = SIZE_MAX;
    while ((left = connection->input.plain_left + connection->input.raw_left) != left_before) {
        struct timeval now = {0};
        int type = ldap_result(connection->handle, message_id, all, &now, result);
        if (type > 0)
            return 1;
        if (type < 0 || connection->error)
            return connection->error ? connection->error : handle_error(connection);
        if (!ldap_input_pending(&connection->input))
            return 0;
        left_before = left;
    }
    return -EBADMSG; /* libldap leaves bytes unread */
}

/* Why libldap could not decode a message: it also fails without memory, and with the server's
 * result code if that announces its end. */
static int handle_error(struct ldap_connection *connection)
{
    int code = LDAP_SUCCESS;
    const struct ldap_input *input = &connection->input;
    ldap_get_option(connection->handle, LDAP_OPT_RESULT_CODE, &code);
    if (code > LDAP_SUCCESS) {
        connection->notice = code;
        connection->notice_text =
            ldap_notice_text(input->plain - input->plain_taken, input->plain_taken);
        return -ESHUTDOWN;
    }
    return code == LDAP_NO_MEMORY ? -ENOMEM : -EBADMSG;
}

/* What one read returns. The fibers of a thread share the buffer: stream_read() writes to it only
 * after its last wait. */
static _Thread_local uint8_t read_buffer[64 << 10];

/* Reads once, and waits for the first byte. 0 or a negative errno. */
static int read_input(struct ldap_connection *connection, bool answer_began)
{
    const struct wire *wire = &connection->conversation->wire;
    ssize_t n = stream_read(connection->stream, read_buffer, sizeof read_buffer);
    if (n < 0)
        return (int)n;
    if (n == 0)
        return answer_began ? -ENODATA : -EPIPE;
    /* If a server sends without a pause, no wait ever checks the deadline. */
    if (wire->last_received > wire->deadline)
        return -ETIMEDOUT;
    ldap_input_feed(&connection->input, read_buffer, (size_t)n);
    return 0;
}

struct outcome ldap_connection_failure(const struct ldap_connection *connection, int error)
{
    const char *text = connection->notice_text;
    const char *name = ldap_result_name(connection->notice);
    if (error != -ESHUTDOWN || !name)
        return outcome_of_error(error);
    return outcome_failed("%s (%s%s%s)", name, stream_error_text(error), text ? ": " : "",
                          text ? text : "");
}

void ldap_connection_check_idle(struct ldap_connection *connection)
{
    const struct ldap_input *input = &connection->input;
    LDAPMessage *message = NULL;
    int done = connection->error;
    while (!done && (ldap_input_pending(input) || stream_has_input(connection->stream))) {
        done = ldap_input_pending(input) ? 0 : read_idle_input(connection);
        if (!done)
            done = decode_result(connection, LDAP_RES_UNSOLICITED, LDAP_MSG_ALL, &message);
    }
    int error = ldap_input_save(&connection->input);
    if (done == 1 && message)
        done = check_notification(connection, message);
    ldap_msgfree(message);
    connection->error = done < 0 ? done : error;
}

/* -ESHUTDOWN if an unsolicited notification announces the end of the connection. */
static int check_notification(struct ldap_connection *connection, LDAPMessage *message)
{
    char *oid = NULL;
    int parsed = ldap_parse_extended_result(connection->handle, message, &oid, NULL, 0);
    bool ends = parsed == LDAP_SUCCESS && oid && strcmp(oid, LDAP_NOTICE_OF_DISCONNECTION) == 0;
    ldap_memfree(oid);
    return ends ? -ESHUTDOWN : 0;
}

/* Reads once without a wait. 0, 1: there is nothing, or a negative errno. */
static int read_idle_input(struct ldap_connection *connection)
{
    ssize_t n = stream_read_now(connection->stream, read_buffer, sizeof read_buffer);
    if (n == -EAGAIN)
        return 1;
    if (n <= 0)
        return n < 0 ? (int)n : -EPIPE;
    ldap_input_feed(&connection->input, read_buffer, (size_t)n);
    return 0;
}

struct outcome ldap_connection_outcome(struct ldap_connection *connection, LDAPMessage *result)
{
    int code = LDAP_OTHER;
    char *diagnostic = NULL;
    int parsed =
        ldap_parse_result(connection->handle, result, &code, NULL, &diagnostic, NULL, NULL, 0);
    struct outcome outcome = outcome_ok();
    if (parsed != LDAP_SUCCESS)
        outcome = outcome_of_error(parsed == LDAP_NO_MEMORY ? -ENOMEM : -EBADMSG);
    else if (code != LDAP_SUCCESS && code != LDAP_COMPARE_TRUE && code != LDAP_COMPARE_FALSE)
        outcome = outcome_of_code(code, diagnostic);
    if (code == LDAP_STRONG_AUTH_REQUIRED && ldap_msgtype(result) == LDAP_RES_BIND)
        outcome =
            outcome_failed("%s %s", ldap_result_name(code),
                           connection->transport == LDAP_TRANSPORT_CLEAR ? LDAP_CLEAR_BIND_CAUSE
                                                                         : LDAP_SASL_IN_TLS_CAUSE);
    ldap_memfree(diagnostic);
    return outcome;
}

static struct outcome outcome_of_code(int code, const char *diagnostic)
{
    const char *name = ldap_result_name(code);
    char sub_code[9];
    if (!name)
        return outcome_failed("LDAP result code %d", code);
    if (code == LDAP_INVALID_CREDENTIALS && logon_sub_code(diagnostic, sub_code)) {
        const char *meaning = logon_sub_code_meaning(sub_code);
        return outcome_failed("%s (data %s%s%s)", name, sub_code, meaning ? ": " : "",
                              meaning ? meaning : "");
    }
    return outcome_failed("%s", name);
}

/* Finds AD's sub-code of a refused logon: "... AcceptSecurityContext error, data 52e, v1db1". */
static bool logon_sub_code(const char *diagnostic, char code[9])
{
    const char *at = diagnostic ? strstr(diagnostic, "error, data ") : NULL;
    if (!at)
        return false;
    at += strlen("error, data ");
    size_t length = strspn(at, "0123456789abcdefABCDEF");
    if (length == 0 || length > 8 || at[length] != ',')
        return false;
    memcpy(code, at, length);
    code[length] = '\0';
    return true;
}

/* Sub-codes are Windows error codes, in hexadecimal (MS-ERREF 2.2). */
static const char *logon_sub_code_meaning(const char *code)
{
    static const struct {
        const char *code, *meaning;
    } meanings[] = {
        {"35b", LDAP_BINDINGS_CAUSE}, /* Samba: the lower half of STATUS_BAD_BINDINGS */
        {"418", "NTLM is disabled"},  /* Samba: the lower half of STATUS_NTLM_BLOCKED */
        {"525", "no such user"},
        {"52b", "wrong password"},
        {"52e", "wrong name or password"},
        {"52f", "account restriction"},
        {"530", "outside logon hours"},
        {"531", "workstation not allowed"},
        {"532", "password expired"},
        {"533", "account disabled"},
        {"569", "logon type not granted"},
        {"701", "account expired"},
        {"773", "password must be changed"},
        {"775", "account locked out"},
        {"791", "NTLM is disabled"},
        {"80090346", LDAP_BINDINGS_CAUSE},
    };
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++)
        if (strcasecmp(meanings[i].code, code) == 0)
            return meanings[i].meaning;
    return NULL;
}

struct outcome ldap_connection_send_outcome(const struct ldap_connection *connection, int result)
{
    if (connection->error)
        return ldap_connection_failure(connection, connection->error);
    return outcome_failed("request not sent: %s", ldap_err2string(result));
}

struct outcome ldap_connection_finish(struct ldap_connection *connection, int result, int id)
{
    if (result != LDAP_SUCCESS)
        return ldap_connection_send_outcome(connection, result);
    LDAPMessage *message = NULL;
    int error = ldap_connection_wait(connection, id, LDAP_MSG_ALL, &message);
    if (error)
        return ldap_connection_failure(connection, error);
    struct outcome outcome = ldap_connection_outcome(connection, message);
    ldap_msgfree(message);
    return outcome;
}

const char *ldap_result_name(int code)
{
    for (size_t i = 0; i < sizeof result_names / sizeof result_names[0]; i++)
        if (result_names[i].code == code)
            return result_names[i].name;
    return NULL;
}

int ldap_connection_error(const struct ldap_connection *connection)
{
    return connection->error;
}

bool ldap_connection_is_broken(const struct ldap_connection *connection)
{
    return connection->error != 0;
}

bool ldap_connection_is_expired(const struct ldap_connection *connection)
{
    return connection->bound && connection->expires && clock_now() >= connection->expires;
}

bool ldap_connection_is_bound(const struct ldap_connection *connection)
{
    return connection->bound;
}

void ldap_connection_close(struct ldap_connection *connection)
{
    if (!connection)
        return;
    connection->closing = true;
    if (connection->handle)
        ldap_unbind_ext(connection->handle, NULL, NULL);
    ldap_layer_free(connection->input.layer);
    connection->input.layer = NULL;
    ldap_input_clear(&connection->input);
    free(connection->notice_text);
    stream_close(connection->stream);
    free(connection);
}

const char *ldap_connection_server_name(const struct ldap_connection *connection)
{
    const struct dc *dc = connection->conversation->dc;
    return dc->dns_name ? dc->dns_name : dc->given;
}

/* The Sockbuf's lowest level. */
static int sockbuf_setup(Sockbuf_IO_Desc *io, void *connection)
{
    io->sbiod_pvt = connection;
    return 0;
}

static int sockbuf_remove(Sockbuf_IO_Desc *io)
{
    io->sbiod_pvt = NULL;
    return 0;
}

static int sockbuf_ctrl(Sockbuf_IO_Desc *io, int option, void *argument)
{
    (void)argument;
    /* "Ready" keeps libldap from calling poll(2). ldap_connection_wait() has already read
     * everything that libldap can get. */
    return option == LBER_SB_OPT_DATA_READY && io->sbiod_pvt ? 1 : 0;
}

static ber_slen_t sockbuf_read(Sockbuf_IO_Desc *io, void *buffer, ber_len_t size)
{
    struct ldap_connection *connection = io->sbiod_pvt;
    ssize_t n = ldap_input_take(&connection->input, buffer, size);
    int error = n > 0 ? ldap_framing_follow(&connection->framing, buffer, (size_t)n) : 0;
    if (error)
        n = error;
    if (n >= 0)
        return n;
    if (n != -EAGAIN)
        connection->error = connection->error ? connection->error : (int)n;
    errno = n == -EAGAIN ? EWOULDBLOCK : (int)-n;
    return -1;
}

static ber_slen_t sockbuf_write(Sockbuf_IO_Desc *io, void *buffer, ber_len_t size)
{
    struct ldap_connection *connection = io->sbiod_pvt;
    int error = connection->error;
    if (!error)
        error = write_frames(connection, buffer, size);
    if (!error)
        return (ber_slen_t)size;
    connection->error = error;
    errno = -error; /* last, because other fibers ran while this one waited */
    return -1;
}

static int write_frames(struct ldap_connection *connection, const void *bytes, size_t size)
{
    struct ldap_layer *layer = connection->input.layer;
    const uint8_t *frames = bytes;
    size_t frames_size = size;
    if (layer) {
        int error = layer->ops->encode(layer, bytes, size, &frames, &frames_size);
        if (error)
            return error;
    }
    return connection->closing ? stream_write_now(connection->stream, frames, frames_size)
                               : stream_write(connection->stream, frames, frames_size);
}

static int sockbuf_close(Sockbuf_IO_Desc *io)
{
    (void)io; /* the stream owns the descriptor */
    return 0;
}
