/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SASL security layers of LDAP (RFC 4422 3.7): after a bind, messages travel inside frames, each a
 * length of 4 bytes and that many signed or sealed bytes. This module contains the framing, the
 * layer of our NTLMSSP, and the input of a connection, which turns received bytes into LDAP.
 *
 * Bytes are read into a buffer of the thread and decoded in place. Only what the reader leaves over
 * is copied to the connection, so that an idle one holds no buffer.
 */
#ifndef PROTOCOLS_LDAP_LDAP_LAYER_H
#define PROTOCOLS_LDAP_LDAP_LAYER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "protocols/auth/ntlmssp.h"

/* DCs send frames of up to 128 KiB; longer than 16 MiB is refused. */
enum { LDAP_FRAME_HEADER = 4, LDAP_FRAME_MAX = 16 << 20 };

struct ldap_layer;

struct ldap_layer_ops {
    /* Makes frames for size bytes; *frames is valid until the next call. */
    int (*encode)(struct ldap_layer *layer, const void *plain, size_t size, const uint8_t **frames,
                  size_t *frames_size);
    /* Decodes one frame of size bytes including its header, possibly in place. *plain is valid
     * until the next call, as long as the frame. -EBADMSG: forged or damaged. */
    int (*decode)(struct ldap_layer *layer, uint8_t *frame, size_t size, const uint8_t **plain,
                  size_t *plain_size);
    void (*free)(struct ldap_layer *layer);
};

struct ldap_layer {
    const struct ldap_layer_ops *ops;
};

/*
 * NTLMSSP's layer (MS-NLMP 3.4). Its frames are always sealed: even if only signing was negotiated,
 * DCs seal LDAP and reject an unsealed frame as forged. Takes over ntlmssp, even on failure. NULL:
 * no memory.
 */
struct ldap_layer *ldap_layer_ntlmssp(struct ntlmssp *ntlmssp);

void ldap_layer_free(struct ldap_layer *layer);

/* Where in its messages (RFC 4511 5.1) a stream of LDAP is. */
struct ldap_framing {
    uint64_t left;     /* bytes of the current message that were not taken yet */
    uint8_t header[9]; /* tag and length, as far as they were taken */
    uint8_t header_size;
};

/* Follows bytes that were received: -EBADMSG if they do not begin a message. libldap would wait for
 * as many bytes as their second one seems to announce. */
int ldap_framing_follow(struct ldap_framing *framing, const uint8_t *bytes, size_t size);

struct ldap_input {
    struct ldap_layer *layer; /* NULL: the bytes are plain LDAP. The connection frees it */
    const uint8_t *plain;     /* LDAP that was not taken yet */
    size_t plain_left;
    size_t plain_taken; /* bytes before plain that are still readable */
    uint8_t *raw;       /* with a layer: the frames after it */
    size_t raw_left;
    bool borrowed;    /* plain and raw point into the caller's buffer */
    uint8_t *saved;   /* otherwise the memory that they point into, or NULL */
    uint8_t *partial; /* an incomplete frame, or NULL */
    size_t partial_have, partial_size;
    uint8_t *frame; /* a completed partial frame that plain points into, or NULL */
    int error;      /* the first failure, negative errno */
};

/* Gives received bytes to an empty input. The caller keeps the buffer, and calls ldap_input_save()
 * before using it for anything else. */
void ldap_input_feed(struct ldap_input *input, uint8_t *buffer, size_t size);

/* Takes up to size bytes of LDAP. Their number, or -EAGAIN: more must be read first, -EBADMSG,
 * -EMSGSIZE, -ENOMEM. */
ssize_t ldap_input_take(struct ldap_input *input, void *out, size_t size);

/* True if there are bytes that were neither taken nor stored as part of a frame. */
bool ldap_input_pending(const struct ldap_input *input);

/* Copies the rest of the caller's buffer. 0 or -ENOMEM. */
int ldap_input_save(struct ldap_input *input);

/* Drops all bytes; keeps the layer. */
void ldap_input_clear(struct ldap_input *input);

#endif
