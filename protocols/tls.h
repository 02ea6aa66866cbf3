/* SPDX-License-Identifier: Apache-2.0 */
/* TLS settings shared by all streams of a run: credentials, priority, what is checked. */
#ifndef PROTOCOLS_TLS_H
#define PROTOCOLS_TLS_H

#include <stdbool.h>
#include <stddef.h>

struct tls;

/* verify: check the server's certificate against ca_file (NULL: the system's authorities). On
 * failure NULL and a line in error. Immutable afterwards: shared by threads. */
struct tls *tls_new(bool verify, const char *ca_file, char *error, size_t error_size);
void tls_free(struct tls *tls);

#endif
