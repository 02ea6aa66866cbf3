/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Binds with NTLM inside TLS, against a small server with fixed certificates: the channel bindings
 * that the client sends, and both ways in which a server ends SPNEGO.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after those four */
#include <cmocka.h>

#include <errno.h>
#include <gnutls/x509.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/little_endian.h"
#include "protocols/auth/channel_bindings.h"
#include "protocols/auth/ntlmssp.h"
#include "protocols/auth/spnego.h"
#include "protocols/ldap/ldap_connection.h"
#include "protocols/stream.h"
#include "protocols/tls.h"
#include "tests/lib/bytes.h"
#include "tests/lib/servers/ldap_server.h"
#include "tests/lib/servers/ntlm_acceptor.h"
#include "tests/lib/temporary.h"
#include "tests/lib/test_random.h"

/* Self-signed certificates of dc1.samdom.example.com, valid until 2126, and their bindings. */
struct identity {
    const char *key, *certificate;
    const char *md5;
};

static const char sha256_key[] =
    "-----BEGIN EC PRIVATE KEY-----\n"
    "MHcCAQEEILDmdI0t+1NKwzZFh3a3xYF5oWdsa69g6gcRKIe5hjHaoAoGCCqGSM49\n"
    "AwEHoUQDQgAE84DOOAHYuMm/hyiYeAH/ZflP1M7PEcd3Livp3ohyxrTFNiZDbPAx\n"
    "gAbDiqp90oJb1e8GtmQk5uVxYq2NlWr4tQ==\n"
    "-----END EC PRIVATE KEY-----\n";
static const char sha256_certificate[] =
    "-----BEGIN CERTIFICATE-----\n"
    "MIIBvDCCAWKgAwIBAgIUGypQe38oVGyDtXz1xwgGmblcLBwwCgYIKoZIzj0EAwIw\n"
    "ITEfMB0GA1UEAwwWZGMxLnNhbWRvbS5leGFtcGxlLmNvbTAgFw0yNjEyMDExMTM3\n"
    "MTBaGA8yMTI2MTEwNzExMzcxMFowITEfMB0GA1UEAwwWZGMxLnNhbWRvbS5leGFt\n"
    "cGxlLmNvbTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABPOAzjgB2LjJv4comHgB\n"
    "/2X5T9TOzxHHdy4r6d6Icsa0xTYmQ2zwMYAGw4qqfdKCW9XvBrZkJOblcWKtjZVq\n"
    "+LWjdjB0MB0GA1UdDgQWBBTHkOd5b19Cg6AA08pnSRTcr7eTsDAfBgNVHSMEGDAW\n"
    "gBTHkOd5b19Cg6AA08pnSRTcr7eTsDAPBgNVHRMBAf8EBTADAQH/MCEGA1UdEQQa\n"
    "MBiCFmRjMS5zYW1kb20uZXhhbXBsZS5jb20wCgYIKoZIzj0EAwIDSAAwRQIgJVM1\n"
    "oY5/hBe3ulTrZmk/Li3AYH1WRCGSLj9n4pfPeGECIQCxslvIOFqujt1jNTiOpk8d\n"
    "F2RUOUFLyNugerqHffrEJQ==\n"
    "-----END CERTIFICATE-----\n";
static const char sha384_key[] =
    "-----BEGIN EC PRIVATE KEY-----\n"
    "MHcCAQEEIA9RsHrWa7v5nt1eg8wr6lS+MrQnWJUeFzmseK75P3/voAoGCCqGSM49\n"
    "AwEHoUQDQgAE9KeEPKivRIRh8dXvvRtRPnSJj5/xfD+2YBZ1r5gCsRi+xr9RRKxy\n"
    "dba8N7GjPID5CWQKG5Xh1JP/41tUhUkEeQ==\n"
    "-----END EC PRIVATE KEY-----\n";
static const char sha384_certificate[] =
    "-----BEGIN CERTIFICATE-----\n"
    "MIIBuzCCAWKgAwIBAgIUZcVlNuiezQGva1KoQMYy0/KLcoIwCgYIKoZIzj0EAwMw\n"
    "ITEfMB0GA1UEAwwWZGMxLnNhbWRvbS5leGFtcGxlLmNvbTAgFw0yNjEyMDExMTM3\n"
    "MTFaGA8yMTI2MTEwNzExMzcxMVowITEfMB0GA1UEAwwWZGMxLnNhbWRvbS5leGFt\n"
    "cGxlLmNvbTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABPSnhDyor0SEYfHV770b\n"
    "UT50iY+f8Xw/tmAWda+YArEYvsa/UUSscnW2vDexozyA+QlkChuV4dST/+NbVIVJ\n"
    "BHmjdjB0MB0GA1UdDgQWBBQhpiC74YsvfQ/e7C+Htmqryu56izAfBgNVHSMEGDAW\n"
    "gBQhpiC74YsvfQ/e7C+Htmqryu56izAPBgNVHRMBAf8EBTADAQH/MCEGA1UdEQQa\n"
    "MBiCFmRjMS5zYW1kb20uZXhhbXBsZS5jb20wCgYIKoZIzj0EAwMDRwAwRAIgXZGc\n"
    "n1D3exQ5i5lge62o+wwR9h5/CkIBpkdBO5LyqXgCIFBXM6lqvqHD37zm8m4yuWP+\n"
    "K4K4+8GY8vSRPHXGW1r5\n"
    "-----END CERTIFICATE-----\n";

/* A Samba 4.22 DC with this certificate, whose default is to demand channel bindings, has accepted
 * exactly this value. */
static const struct identity signed_with_sha256 = {sha256_key, sha256_certificate,
                                                   "1975370f2e9198c6ea924789988a8dbd"};
static const struct identity signed_with_sha384 = {sha384_key, sha384_certificate,
                                                   "70fec226824ecc3948278089f21b4e4b"};

enum ending { WITH_MIC, WITHOUT_MIC, INCOMPLETE };

struct script {
    struct ldap_server server;
    struct ntlm_acceptor ntlm;
    enum ending ending;
    uint8_t authenticate[2048]; /* the client's last NTLM message */
    size_t authenticate_size;
    unsigned binds;
    uint8_t key[16];
};

static void note_bind(struct ldap_server *server, unsigned connection, int request,
                      const uint8_t *bytes, size_t size)
{
    struct script *script = server->context;
    (void)connection;
    if (request != LDAP_REQ_BIND)
        return;
    if (++script->binds == 1) {
        ntlm_acceptor_negotiate(&script->ntlm, bytes, size);
        return;
    }
    /* The SPNEGO token is the end of the request. */
    const uint8_t *message = memmem(bytes, size, "NTLMSSP", 8);
    script->authenticate_size = message ? size - (size_t)(message - bytes) : 0;
    if (message)
        memcpy(script->authenticate, message, script->authenticate_size);
}

static void put_bind_result(struct ldap_answer *answer, int id, int code,
                            const struct spnego_response *response)
{
    uint8_t *token;
    size_t size;
    assert_int_equal(spnego_build_response(response, &token, &size), 0);
    struct berval credentials = {.bv_val = (char *)token, .bv_len = size};
    BerElement *ber = ber_alloc_t(LBER_USE_DER);
    ber_printf(ber, "{it{esstO}}", id, LDAP_RES_BIND, code, "", "", LDAP_TAG_SASL_RES_CREDS,
               &credentials);
    ldap_answer_put(answer, ber);
    free(token);
}

static void answer_bind(struct ldap_server *server, int id, int request, struct ldap_answer *answer)
{
    struct script *script = server->context;
    (void)request;
    struct spnego_response response = {
        .state = SPNEGO_ACCEPT_INCOMPLETE,
        .mech = SPNEGO_NTLMSSP,
        .token = {script->ntlm.challenge, script->ntlm.challenge_size}};
    if (script->binds == 1) {
        put_bind_result(answer, id, LDAP_SASL_BIND_IN_PROGRESS, &response);
        return;
    }
    /* Not the signature of any key: the client has negotiated none. */
    static const uint8_t mic[16] = {1};
    response = (struct spnego_response){.mech = SPNEGO_NONE};
    response.state =
        script->ending == INCOMPLETE ? SPNEGO_ACCEPT_INCOMPLETE : SPNEGO_ACCEPT_COMPLETED;
    if (script->ending == WITH_MIC)
        response.mech_list_mic = (struct spnego_slice){mic, sizeof mic};
    put_bind_result(answer, id, LDAP_SUCCESS, &response);
}

static gnutls_certificate_credentials_t server_credentials(const struct identity *identity)
{
    gnutls_certificate_credentials_t credentials;
    gnutls_datum_t certificate = {(unsigned char *)(uintptr_t)identity->certificate,
                                  (unsigned)strlen(identity->certificate)};
    gnutls_datum_t key = {(unsigned char *)(uintptr_t)identity->key,
                          (unsigned)strlen(identity->key)};
    assert_int_equal(gnutls_certificate_allocate_credentials(&credentials), 0);
    assert_int_equal(
        gnutls_certificate_set_x509_key_mem(credentials, &certificate, &key, GNUTLS_X509_FMT_PEM),
        0);
    return credentials;
}

/* Binds once with NTLM; identity NULL: in clear. */
static struct outcome bind_once(struct script *script, const struct identity *identity,
                                enum ending ending)
{
    struct error error = {0};
    *script = (struct script){.server = {.reply = answer_bind,
                                         .note = note_bind,
                                         .context = script,
                                         .cut_after = SIZE_MAX},
                              .ending = ending};
    if (identity)
        script->server.tls = server_credentials(identity);
    ldap_server_start(&script->server);
    struct dc *dc = ldap_server_dc(&script->server);
    dc->dns_name = strdup("dc1.samdom.example.com");
    dc->tls = tls_new(false, NULL, &error);
    assert_non_null(dc->tls);
    struct account user = {.name = (char *)(uintptr_t) "Domain\\User",
                           .password = (char *)(uintptr_t) "Password"};
    struct conversation conversation = {
        .wire = {.waiter = wire_blocking_waiter(), .deadline = clock_now() + 10000000000},
        .dc = dc,
        .user = &user,
        .random = test_random_zero};
    struct ldap_connection *connection = NULL;
    struct outcome outcome = ldap_connection_open(
        &connection, &conversation, identity ? LDAP_TRANSPORT_LDAPS : LDAP_TRANSPORT_CLEAR);
    assert_int_equal(outcome.kind, OUTCOME_OK);
    outcome = ldap_connection_bind_sasl(connection, &user, LDAP_MECHANISM_GSS_SPNEGO, false);
    ldap_connection_close(connection);
    ldap_server_stop(&script->server);
    tls_free(dc->tls);
    dc->tls = NULL;
    dc_free(dc);
    if (identity)
        gnutls_certificate_free_credentials(script->server.tls);
    return outcome;
}

static void a_bind_in_tls_needs_no_mech_list_mic(void **state)
{
    (void)state;
    struct script script;
    assert_int_equal(bind_once(&script, &signed_with_sha256, WITHOUT_MIC).kind, OUTCOME_OK);
    assert_int_equal(script.binds, 2);
}

static void a_mech_list_mic_in_tls_is_not_verified(void **state)
{
    (void)state;
    struct script script;
    assert_int_equal(bind_once(&script, &signed_with_sha256, WITH_MIC).kind, OUTCOME_OK);
}

static void a_bind_in_tls_must_be_completed(void **state)
{
    (void)state;
    struct script script;
    struct outcome outcome = bind_once(&script, &signed_with_sha256, INCOMPLETE);
    assert_int_equal(outcome.kind, OUTCOME_FAILED);
    assert_string_equal(outcome.cause, "malformed reply");
}

static void a_bind_in_clear_needs_a_right_mech_list_mic(void **state)
{
    (void)state;
    struct script script;
    assert_string_equal(bind_once(&script, NULL, WITHOUT_MIC).cause, "malformed reply");
    assert_string_equal(bind_once(&script, NULL, WITH_MIC).cause, "malformed reply");
}

/* The value of an AV pair in the client's answer to the challenge (MS-NLMP 2.2.1.3, 2.2.2.7);
 * NULL: absent. */
static const uint8_t *av_value(const struct script *script, uint16_t id, size_t *size)
{
    const uint8_t *message = script->authenticate;
    size_t length = le_get16(message + 20), at = le_get32(message + 24);
    assert_true(at + length <= script->authenticate_size && length >= 44);
    const uint8_t *end = message + at + length;
    for (const uint8_t *av = message + at + 44; av + 4 <= end && le_get16(av) != 0;
         av += 4 + le_get16(av + 2)) {
        *size = le_get16(av + 2);
        if (le_get16(av) == id)
            return av + 4;
    }
    return NULL;
}

static void check_bindings(const struct identity *identity)
{
    struct script script;
    size_t size = 0;
    bind_once(&script, identity, WITHOUT_MIC);
    const uint8_t *value = av_value(&script, 10, &size);
    assert_non_null(value);
    assert_bytes(value, size, identity->md5);
    value = av_value(&script, 9, &size);
    assert_non_null(value);
    assert_bytes(value, size,
                 "6c00 6400 6100 7000 2f00 6400 6300 3100 2e00 7300 6100 6d00 6400 6f00 6d00 2e00"
                 "6500 7800 6100 6d00 7000 6c00 6500 2e00 6300 6f00 6d00");
}

/* RFC 5929 4.1: the certificate's own hash is used. */
static void binds_in_tls_send_channel_bindings(void **state)
{
    (void)state;
    check_bindings(&signed_with_sha256);
    check_bindings(&signed_with_sha384);
}

static void binds_in_clear_send_no_channel_bindings(void **state)
{
    (void)state;
    struct script script;
    size_t size;
    bind_once(&script, NULL, WITHOUT_MIC);
    assert_null(av_value(&script, 10, &size));
    assert_null(av_value(&script, 9, &size));
}

/* A certificate that signs itself; its times are relative to now, in seconds. */
static gnutls_certificate_credentials_t make_certificate(time_t from, time_t until, char **pem)
{
    gnutls_x509_privkey_t key;
    gnutls_x509_crt_t certificate;
    gnutls_certificate_credentials_t credentials;
    gnutls_datum_t text;
    gnutls_x509_privkey_init(&key);
    assert_int_equal(gnutls_x509_privkey_generate(
                         key, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0),
                     0);
    gnutls_x509_crt_init(&certificate);
    gnutls_x509_crt_set_version(certificate, 3);
    gnutls_x509_crt_set_serial(certificate, "\x01", 1);
    gnutls_x509_crt_set_activation_time(certificate, time(NULL) + from);
    gnutls_x509_crt_set_expiration_time(certificate, time(NULL) + until);
    gnutls_x509_crt_set_dn(certificate, "CN=dc1.samdom.example.com", NULL);
    gnutls_x509_crt_set_basic_constraints(certificate, 1, -1);
    gnutls_x509_crt_set_subject_alt_name(certificate, GNUTLS_SAN_DNSNAME, "dc1.samdom.example.com",
                                         22, GNUTLS_FSAN_SET);
    gnutls_x509_crt_set_key(certificate, key);
    assert_int_equal(gnutls_x509_crt_sign2(certificate, certificate, key, GNUTLS_DIG_SHA256, 0), 0);
    gnutls_certificate_allocate_credentials(&credentials);
    assert_int_equal(gnutls_certificate_set_x509_key(credentials, &certificate, 1, key), 0);
    assert_int_equal(gnutls_x509_crt_export2(certificate, GNUTLS_X509_FMT_PEM, &text), 0);
    *pem = strndup((char *)text.data, text.size);
    gnutls_free(text.data);
    gnutls_x509_crt_deinit(certificate);
    gnutls_x509_privkey_deinit(key);
    return credentials;
}

/* Connects with verification to a server whose certificate is valid from and until these times;
 * authority NULL: the certificate itself. */
static void check_certificate(time_t from, time_t until, const char *name, const char *authority,
                              const char *cause)
{
    char *pem;
    struct error error = {0};
    struct script script = {.server = {.reply = answer_bind, .cut_after = SIZE_MAX}};
    script.server.tls = make_certificate(from, until, &pem);
    script.server.context = &script;
    ldap_server_start(&script.server);
    struct dc *dc = ldap_server_dc(&script.server);
    char *path = file_in_tmp("authority.pem", authority ? authority : pem);
    dc->dns_name = strdup(name);
    dc->tls = tls_new(true, path, &error);
    assert_non_null(dc->tls);
    struct conversation conversation = {
        .wire = {.waiter = wire_blocking_waiter(), .deadline = clock_now() + 10000000000},
        .dc = dc,
        .random = test_random_zero};
    struct ldap_connection *connection = NULL;
    struct outcome outcome = ldap_connection_open(&connection, &conversation, LDAP_TRANSPORT_LDAPS);
    assert_string_equal(outcome.cause, cause);
    ldap_connection_close(connection);
    ldap_server_stop(&script.server);
    gnutls_certificate_free_credentials(script.server.tls);
    tls_free(dc->tls);
    dc->tls = NULL;
    dc_free(dc);
    unlink(path);
    free(path);
    free(pem);
}

static void a_refused_certificate_is_explained(void **state)
{
    (void)state;
    static const char name[] = "dc1.samdom.example.com";
    check_certificate(-60, 3600, name, NULL, "");
    check_certificate(-7200, -3600, name, NULL, "certificate not accepted: it has expired");
    check_certificate(3600, 7200, name, NULL, "certificate not accepted: it is not yet valid");
    check_certificate(-60, 3600, "dc2.samdom.example.com", NULL,
                      "certificate not accepted: it is for another name");
    check_certificate(-60, 3600, "127.0.0.1", NULL,
                      "certificate not accepted: it is for another name");
    check_certificate(-60, 3600, name, sha256_certificate,
                      "certificate not accepted: its authority is unknown");
}

static int group_set_up(void **state)
{
    (void)state;
    struct error error = {0};
    return ldap_connection_global_init(&error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bind_in_tls_needs_no_mech_list_mic),
        cmocka_unit_test(a_mech_list_mic_in_tls_is_not_verified),
        cmocka_unit_test(a_bind_in_tls_must_be_completed),
        cmocka_unit_test(a_bind_in_clear_needs_a_right_mech_list_mic),
        cmocka_unit_test(binds_in_tls_send_channel_bindings),
        cmocka_unit_test(binds_in_clear_send_no_channel_bindings),
        cmocka_unit_test(a_refused_certificate_is_explained),
    };
    return cmocka_run_group_tests_name("ldap_tls", tests, group_set_up, NULL);
}
