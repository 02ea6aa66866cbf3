/* SPDX-License-Identifier: Apache-2.0 */
#include <gnutls/crypto.h>
#include <gnutls/x509.h>
#include <string.h>
#include <time.h>

#include "base/little_endian.h"
#include "tests/lib/windows/standin.h"

static int sign(gnutls_x509_crt_t certificate, gnutls_x509_privkey_t key);
static void remember_bindings(struct standin *standin, gnutls_x509_crt_t certificate);

int standin_certificate_make(struct standin *standin)
{
    gnutls_x509_crt_t certificate;
    gnutls_x509_privkey_t key;
    gnutls_x509_crt_init(&certificate);
    gnutls_x509_privkey_init(&key);
    gnutls_certificate_allocate_credentials(&standin->server_credentials);
    gnutls_certificate_allocate_credentials(&standin->client_credentials);
    int rc = gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA,
                                          GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
    if (!rc)
        rc = sign(certificate, key);
    if (!rc)
        rc = gnutls_certificate_set_x509_key(standin->server_credentials, &certificate, 1, key);
    if (!rc)
        remember_bindings(standin, certificate);
    gnutls_x509_crt_deinit(certificate);
    gnutls_x509_privkey_deinit(key);
    return rc;
}

static int sign(gnutls_x509_crt_t certificate, gnutls_x509_privkey_t key)
{
    static const char name[] = "windows-standin";
    gnutls_x509_crt_set_version(certificate, 3);
    gnutls_x509_crt_set_serial(certificate, "\1", 1);
    gnutls_x509_crt_set_activation_time(certificate, time(NULL) - 3600);
    gnutls_x509_crt_set_expiration_time(certificate, time(NULL) + 86400);
    gnutls_x509_crt_set_dn_by_oid(certificate, GNUTLS_OID_X520_COMMON_NAME, 0, name,
                                  sizeof name - 1);
    gnutls_x509_crt_set_key(certificate, key);
    return gnutls_x509_crt_sign2(certificate, certificate, key, GNUTLS_DIG_SHA256, 0);
}

/* The structure of MS-NLMP 2.2.2.1, whose addresses are empty, around RFC 5929's bindings. */
static void remember_bindings(struct standin *standin, gnutls_x509_crt_t certificate)
{
    static const char prefix[] = "tls-server-end-point:";
    size_t at = sizeof prefix - 1, size = 32;
    uint8_t structure[20 + sizeof standin->endpoint] = {0};
    memcpy(standin->endpoint, prefix, at);
    gnutls_x509_crt_get_fingerprint(certificate, GNUTLS_DIG_SHA256, standin->endpoint + at, &size);
    standin->endpoint_size = at + size;
    le_put32(structure + 16, (uint32_t)standin->endpoint_size);
    memcpy(structure + 20, standin->endpoint, standin->endpoint_size);
    gnutls_hash_fast(GNUTLS_DIG_MD5, structure, 20 + standin->endpoint_size, standin->bindings);
}
