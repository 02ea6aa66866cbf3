/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SASL security layers of LDAP (RFC 4422 3.7): after a bind every message travels inside frames, a
 * length of 4 bytes and that many bytes that are signed or sealed. Here is the framing, the layer
 * of our own NTLMSSP, and the input of a connection, through which received bytes become LDAP.
 *
 * Received bytes are read into a buffer of the thread and decoded in place; only what is left over
 * when the reader is done is copied to memory of the connection, so that an idle one holds none.
 */
#ifndef PROTOCOLS_LDAP_LDAP_LAYER_H
#define PROTOCOLS_LDAP_LDAP_LAYER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "protocols/auth/ntlmssp.h"

/* DCs send frames of up to 128 KiB; more than 16 MiB is refused. */
enum { LDAP_FRAME_HEADER = 4, LDAP_FRAME_MAX = 16 << 20 };

struct ldap_layer;

struct ldap_layer_ops {
    /* Frames for size bytes; *frames is valid until the next call or the layer's end. */
    int (*encode)(struct ldap_layer *layer, const void *plain, size_t size, const uint8_t **frames,
                  size_t *frames_size);
    /* One frame of size bytes, header included, to what was in it; may overwrite the frame. *plain
     * is valid until the next call, as long as the frame. -EBADMSG: forged or damaged. */
    int (*decode)(struct ldap_layer *layer, uint8_t *frame, size_t size, const uint8_t **plain,
                  size_t *plain_size);
    void (*free)(struct ldap_layer *layer);
};

struct ldap_layer {
    const struct ldap_layer_ops *ops;
};

/*
 * NTLMSSP's layer (MS-NLMP 3.4). Its frames are always sealed: when only signing was negotiated,
 * DCs seal LDAP all the same, and take a frame in the clear for a forged one.
 * Takes ntlmssp over, also on failure (NULL, for want of memory).
 */
struct ldap_layer *ldap_layer_ntlmssp(struct ntlmssp *ntlmssp);

void ldap_layer_free(struct ldap_layer *layer);

struct ldap_input {
    struct ldap_layer *layer; /* NULL: bytes are LDAP as they come. The connection's */
    const uint8_t *plain;     /* LDAP that nobody has taken yet */
    size_t plain_left;
    uint8_t *raw; /* with a layer: what follows in its buffer, still in frames */
    size_t raw_left;
    bool borrowed;    /* plain and raw may point into the caller's buffer */
    uint8_t *saved;   /* the memory that they point into otherwise, or NULL */
    uint8_t *partial; /* a frame of which a part has come, or NULL */
    size_t partial_have, partial_size;
    uint8_t *frame; /* the frame that plain points into, once a partial one, or NULL */
    int error;      /* the first failure, negative errno */
};

/* Gives what was read to an empty input. The buffer stays the caller's: ldap_input_save() before
 * it is used for anything else. */
void ldap_input_feed(struct ldap_input *input, uint8_t *buffer, size_t size);

/* Takes up to size bytes of LDAP: their number, -EAGAIN when more must be read first, or -EBADMSG,
 * -EMSGSIZE, -ENOMEM. */
ssize_t ldap_input_take(struct ldap_input *input, void *out, size_t size);

/* True when something was fed that has not been taken or put aside as part of a frame. */
bool ldap_input_pending(const struct ldap_input *input);

/* True when a frame has begun and not ended. */
bool ldap_input_in_frame(const struct ldap_input *input);

/* Copies what is left to memory of its own. 0 or -ENOMEM. */
int ldap_input_save(struct ldap_input *input);

void ldap_input_clear(struct ldap_input *input);

#endif
