/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for a patched Windows Server 2025: a proxy in front of the lab's DC that applies the
 * rules of windows_rules.h to what passes, and hands on everything that no rule touches.
 *
 * LDAP ends here: TLS, StartTLS, and SASL binds with NTLM and Kerberos are verified, and the
 * messages continue over LDAPS as the same user. RPC and SMB2 pass unchanged; sealed RPC requests
 * are decrypted for the rules. What a rule refuses inside a sealed association is answered with a
 * fault that carries the status, since the stand-in does not re-encrypt.
 */
#ifndef TESTS_LIB_WINDOWS_STANDIN_H
#define TESTS_LIB_WINDOWS_STANDIN_H

#include <gnutls/gnutls.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/socket.h>

#include "tests/lib/windows/standin_link.h"
#include "tests/lib/windows/windows_rules.h"

enum { STANDIN_PASSWORDS = 2, STANDIN_MACHINES = 256, STANDIN_LDAP_SESSIONS = 8192 };

/* The secure channel of a machine account, as the stand-in has seen it being set up. */
struct standin_machine {
    char name[64];
    uint8_t nt_hash[16], client_challenge[8], server_challenge[8], session_key[16];
};

struct standin {
    struct windows_rules rules;
    struct sockaddr_storage listen, dc;
    const char *passwords[STANDIN_PASSWORDS]; /* of the administrator, of the test accounts */
    gnutls_certificate_credentials_t server_credentials, client_credentials;
    uint8_t bindings[16]; /* MD5 of the certificate's channel bindings, MS-NLMP 2.2.2.1 */
    uint8_t endpoint[64]; /* "tls-server-end-point:" and its hash, RFC 5929 4 */
    size_t endpoint_size;
    pthread_mutex_t lock; /* of what follows */
    struct standin_machine machines[STANDIN_MACHINES];
    size_t machine_count;
    struct standin_ldap *sessions[STANDIN_LDAP_SESSIONS]; /* open LDAP connections */
    size_t session_count;
};

/* Listens on the ports of a DC and serves them until the process ends. 0 or a negative errno. */
int standin_run(struct standin *standin);

/* Makes a certificate and its channel bindings. 0 or a GnuTLS error. */
int standin_certificate_make(struct standin *standin);

/* Each serves one accepted connection until it ends, and closes it. */
void standin_ldap_serve(struct standin *standin, int fd, uint16_t port);
void standin_rpc_serve(struct standin *standin, int fd, uint16_t port);
void standin_smb2_serve(struct standin *standin, int fd, uint16_t port);

#endif
