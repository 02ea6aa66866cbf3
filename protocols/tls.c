/* SPDX-License-Identifier: Apache-2.0 */
/* Non-blocking TLS by GnuTLS. */
#include "protocols/tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/error.h"

struct tls {
    gnutls_certificate_credentials_t credentials;
    gnutls_priority_t priority;
    bool verify;
};

struct tls_session {
    gnutls_session_t gnutls;
    int fd;
    int socket_error; /* errno of a failed send or receive: more precise than GnuTLS */
    bool connected;   /* the handshake is done */
    char *server_name;
};

static int load_authorities(struct tls *tls, const char *ca_file);
static int tls_session_setup(struct tls_session *session, struct tls *tls, const char *server_name);
static ssize_t tls_pull(gnutls_transport_ptr_t context, void *buffer, size_t size);
static void keep_socket_error(struct tls_session *session);
static ssize_t tls_push(gnutls_transport_ptr_t context, const giovec_t *pieces, int count);
static bool is_address(const char *name);
static bool must_repeat(ssize_t code);
static int tls_error(struct tls_session *session, ssize_t code, enum wire_event *event);

struct tls *tls_new(bool verify, const char *ca_file, struct error *error)
{
    struct tls *tls = calloc(1, sizeof *tls);
    if (!tls) {
        error_set(error, -ENOMEM, "TLS: out of memory");
        return NULL;
    }
    tls->verify = verify;
    int n = gnutls_certificate_allocate_credentials(&tls->credentials);
    if (n == 0)
        n = gnutls_priority_init(&tls->priority, NULL, NULL);
    if (n < 0) {
        error_set(error, -EINVAL, "TLS: %s", gnutls_strerror(n));
        goto cleanup;
    }
    if (!verify)
        return tls;
    n = load_authorities(tls, ca_file);
    if (n > 0)
        return tls;
    error_set(error, -EINVAL, "TLS: no certificate authority in %s%s%s",
              ca_file ? ca_file : "the system's trust store", n < 0 ? ": " : "",
              n < 0 ? gnutls_strerror(n) : "");
cleanup:
    tls_free(tls);
    return NULL;
}

static int load_authorities(struct tls *tls, const char *ca_file)
{
    if (ca_file)
        return gnutls_certificate_set_x509_trust_file(tls->credentials, ca_file,
                                                      GNUTLS_X509_FMT_PEM);
    return gnutls_certificate_set_x509_system_trust(tls->credentials);
}

void tls_free(struct tls *tls)
{
    if (!tls)
        return;
    if (tls->priority)
        gnutls_priority_deinit(tls->priority);
    if (tls->credentials)
        gnutls_certificate_free_credentials(tls->credentials);
    free(tls);
}

int tls_session_new(struct tls_session **out, struct tls *tls, int fd, const char *server_name)
{
    struct tls_session *session = calloc(1, sizeof *session);
    if (!session)
        return -ENOMEM;
    session->fd = fd;
    int error = tls_session_setup(session, tls, server_name);
    if (error)
        tls_session_free(session, false);
    else
        *out = session;
    return error;
}

/* The part that can fail; the caller frees the session. */
static int tls_session_setup(struct tls_session *session, struct tls *tls, const char *server_name)
{
    if (gnutls_init(&session->gnutls, GNUTLS_CLIENT | GNUTLS_NONBLOCK | GNUTLS_NO_TICKETS) < 0)
        return -ENOMEM;
    if (gnutls_priority_set(session->gnutls, tls->priority) < 0 ||
        gnutls_credentials_set(session->gnutls, GNUTLS_CRD_CERTIFICATE, tls->credentials) < 0)
        return -ENOMEM;
    gnutls_transport_set_ptr(session->gnutls, session);
    gnutls_transport_set_pull_function(session->gnutls, tls_pull);
    gnutls_transport_set_vec_push_function(session->gnutls, tls_push);
    gnutls_handshake_set_timeout(session->gnutls, GNUTLS_INDEFINITE_TIMEOUT);
    if (server_name && !is_address(server_name) &&
        gnutls_server_name_set(session->gnutls, GNUTLS_NAME_DNS, server_name, strlen(server_name)) <
            0)
        return -ENOMEM;
    if (!tls->verify)
        return 0;
    if (server_name && !(session->server_name = strdup(server_name)))
        return -ENOMEM;
    gnutls_session_set_verify_cert(session->gnutls, session->server_name, 0);
    return 0;
}

/* GnuTLS reads errno after this function and tls_push(). */
static ssize_t tls_pull(gnutls_transport_ptr_t context, void *buffer, size_t size)
{
    struct tls_session *session = context;
    ssize_t n = recv(session->fd, buffer, size, 0);
    if (n < 0)
        keep_socket_error(session);
    return n;
}

static void keep_socket_error(struct tls_session *session)
{
    if (errno != EAGAIN && errno != EINTR)
        session->socket_error = errno;
}

static ssize_t tls_push(gnutls_transport_ptr_t context, const giovec_t *pieces, int count)
{
    struct tls_session *session = context;
    /* giovec_t is struct iovec by GnuTLS's own definition. */
    struct msghdr message = {.msg_iov = (struct iovec *)pieces, .msg_iovlen = (size_t)count};
    ssize_t n = sendmsg(session->fd, &message, MSG_NOSIGNAL);
    if (n < 0)
        keep_socket_error(session);
    return n;
}

static bool is_address(const char *name)
{
    unsigned char buffer[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, name, buffer) == 1 || inet_pton(AF_INET6, name, buffer) == 1;
}

int tls_session_handshake(struct tls_session *session, enum wire_event *event)
{
    int code;
    do
        code = gnutls_handshake(session->gnutls);
    while (must_repeat(code));
    if (code < 0)
        return tls_error(session, code, event);
    session->connected = true;
    return 0;
}

/* True if the same GnuTLS call must be repeated at once: after an interruption, a warning alert, or
 * a renegotiation request of the server, which a client may ignore (RFC 5246 7.4.1.1). */
static bool must_repeat(ssize_t code)
{
    return code < 0 && code != GNUTLS_E_AGAIN && !gnutls_error_is_fatal((int)code);
}

/* The errno for a negative GnuTLS code. -EAGAIN: the same call again after *event. */
static int tls_error(struct tls_session *session, ssize_t code, enum wire_event *event)
{
    if (code == GNUTLS_E_AGAIN) {
        *event = gnutls_record_get_direction(session->gnutls) ? WIRE_WRITE : WIRE_READ;
        return -EAGAIN;
    }
    if (session->socket_error)
        return -session->socket_error;
    switch (code) {
    case GNUTLS_E_PREMATURE_TERMINATION:
        return -ENODATA;
    case GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR:
        return -EKEYREJECTED;
    case GNUTLS_E_MEMORY_ERROR:
        return -ENOMEM;
    default:
        return -EPROTO;
    }
}

const char *tls_session_refusal(const struct tls_session *session)
{
    static const struct {
        unsigned bit;
        const char *text;
    } refusals[] = {
        {GNUTLS_CERT_EXPIRED, TLS_EXPIRED},
        {GNUTLS_CERT_NOT_ACTIVATED, TLS_NOT_YET_VALID},
        {GNUTLS_CERT_REVOKED, "it is revoked"},
        {GNUTLS_CERT_SIGNER_NOT_FOUND, TLS_UNKNOWN_AUTHORITY},
        {GNUTLS_CERT_UNEXPECTED_OWNER, TLS_OTHER_NAME},
        {GNUTLS_CERT_SIGNER_NOT_CA, "its issuer is no authority"},
        {GNUTLS_CERT_INSECURE_ALGORITHM, "its signature algorithm is insecure"},
        {GNUTLS_CERT_SIGNATURE_FAILURE, "its signature is wrong"},
        {GNUTLS_CERT_PURPOSE_MISMATCH, "it is not for servers"},
    };
    unsigned status = gnutls_session_get_verify_cert_status(session->gnutls);
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
        if (status & refusals[i].bit)
            return refusals[i].text;
    return "it is invalid";
}

int tls_session_end_point(struct tls_session *session, uint8_t *hash, size_t *size)
{
    gnutls_datum_t found = {0};
    int code =
        gnutls_session_channel_binding(session->gnutls, GNUTLS_CB_TLS_SERVER_END_POINT, &found);
    if (code < 0)
        return code == GNUTLS_E_MEMORY_ERROR ? -ENOMEM : -EOPNOTSUPP;
    int error = found.size > *size ? -ENOSPC : 0;
    if (!error) {
        memcpy(hash, found.data, found.size);
        *size = found.size;
    }
    gnutls_free(found.data);
    return error;
}

ssize_t tls_session_read(struct tls_session *session, void *buffer, size_t size,
                         enum wire_event *event)
{
    ssize_t n;
    do
        n = gnutls_record_recv(session->gnutls, buffer, size);
    while (must_repeat(n));
    return n < 0 ? tls_error(session, n, event) : n;
}

ssize_t tls_session_write(struct tls_session *session, const void *buffer, size_t size,
                          enum wire_event *event)
{
    ssize_t n;
    do
        n = gnutls_record_send(session->gnutls, buffer, size);
    while (must_repeat(n));
    return n < 0 ? tls_error(session, n, event) : n;
}

bool tls_session_pending(const struct tls_session *session)
{
    return gnutls_record_check_pending(session->gnutls) > 0;
}

void tls_session_free(struct tls_session *session, bool close_notify)
{
    if (!session)
        return;
    if (close_notify && session->connected)
        (void)gnutls_bye(session->gnutls, GNUTLS_SHUT_WR);
    if (session->gnutls)
        gnutls_deinit(session->gnutls);
    free(session->server_name);
    free(session);
}
