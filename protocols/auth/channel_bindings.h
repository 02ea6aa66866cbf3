/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Channel bindings (RFC 5056): what a client that authenticates inside TLS says about the TLS
 * session, so that nobody in the middle can pass its authentication on. Their type is
 * tls-server-end-point (RFC 5929 4.1), the one that DCs accept (MS-ADTS 5.1.2.2).
 */
#ifndef PROTOCOLS_AUTH_CHANNEL_BINDINGS_H
#define PROTOCOLS_AUTH_CHANNEL_BINDINGS_H

#include <stddef.h>
#include <stdint.h>

struct stream;

enum { CHANNEL_BINDINGS_MAX = 96, CHANNEL_BINDINGS_MD5_SIZE = 16 };

/* The application data of the bindings: the type, a colon and the certificate's hash. */
struct channel_bindings {
    uint8_t data[CHANNEL_BINDINGS_MAX];
    size_t size; /* 0: there are none */
};

/* The bindings of a stream; none without TLS, or if RFC 5929 defines none for the certificate. 0 or
 * -ENOMEM. */
int channel_bindings_of_stream(struct channel_bindings *out, struct stream *stream);

/* NTLM's form of them (MS-NLMP 2.2.2.1, MsvAvChannelBindings): the MD5 of a
 * gss_channel_bindings_struct without addresses. */
void channel_bindings_md5(const struct channel_bindings *bindings,
                          uint8_t md5[CHANNEL_BINDINGS_MD5_SIZE]);

#endif
