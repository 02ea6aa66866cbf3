/* SPDX-License-Identifier: Apache-2.0 */
/* The layer of NTLMSSP, and the input of a connection. */
#include "protocols/ldap/ldap_layer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* An idle connection keeps a buffer for frames of at most this size. */
enum { FRAMES_KEPT_MAX = 2048 };

struct ntlmssp_layer {
    struct ldap_layer layer;
    struct ntlmssp *ntlmssp;
    uint8_t *out; /* frames made by the last encode */
    size_t out_size;
};

static int ntlmssp_encode(struct ldap_layer *layer, const void *plain, size_t size,
                          const uint8_t **frames, size_t *frames_size);
static void encode_frame(struct ntlmssp_layer *self, uint8_t *frame, const uint8_t *plain,
                         size_t size);
static void put_length(uint8_t *header, size_t length);
static int decode_frame(struct ldap_input *input, uint8_t *frame, size_t size);
static int ntlmssp_decode(struct ldap_layer *layer, uint8_t *frame, size_t size,
                          const uint8_t **plain, size_t *plain_size);
static void ntlmssp_layer_free(struct ldap_layer *layer);
static void free_buffer(uint8_t **memory);
static int follow_header(struct ldap_framing *framing, uint8_t byte);
static int decode_next_frame(struct ldap_input *input);
static int continue_partial(struct ldap_input *input);
static int fill_partial(struct ldap_input *input, size_t want);
static uint8_t *take_raw(struct ldap_input *input, size_t size);
static int resize_partial(struct ldap_input *input);
static uint64_t frame_size(const uint8_t *header);
static int start_partial(struct ldap_input *input);

static const struct ldap_layer_ops ntlmssp_ops = {
    .encode = ntlmssp_encode, .decode = ntlmssp_decode, .free = ntlmssp_layer_free};

struct ldap_layer *ldap_layer_ntlmssp(struct ntlmssp *ntlmssp)
{
    struct ntlmssp_layer *self = calloc(1, sizeof *self);
    if (!self) {
        ntlmssp_free(ntlmssp);
        return NULL;
    }
    *self = (struct ntlmssp_layer){.layer = {.ops = &ntlmssp_ops}, .ntlmssp = ntlmssp};
    return &self->layer;
}

/* Every server accepts frames of 64 KiB. */
enum { FRAME_PLAIN_MAX = 65536 - LDAP_FRAME_HEADER - NTLMSSP_SIGNATURE_SIZE };

static int ntlmssp_encode(struct ldap_layer *layer, const void *plain, size_t size,
                          const uint8_t **frames, size_t *frames_size)
{
    struct ntlmssp_layer *self = (struct ntlmssp_layer *)layer;
    const size_t overhead = LDAP_FRAME_HEADER + NTLMSSP_SIGNATURE_SIZE;
    size_t count = size / FRAME_PLAIN_MAX + (size % FRAME_PLAIN_MAX != 0);
    size_t needed = size + count * overhead;
    if (needed > self->out_size || self->out_size > FRAMES_KEPT_MAX) {
        free(self->out);
        self->out = malloc(needed);
        self->out_size = self->out ? needed : 0;
    }
    if (!self->out)
        return -ENOMEM;
    uint8_t *at = self->out;
    for (size_t done = 0; done < size;) {
        size_t part = size - done < FRAME_PLAIN_MAX ? size - done : FRAME_PLAIN_MAX;
        encode_frame(self, at, (const uint8_t *)plain + done, part);
        done += part;
        at += part + overhead;
    }
    *frames = self->out;
    *frames_size = (size_t)(at - self->out);
    return 0;
}

static void encode_frame(struct ntlmssp_layer *self, uint8_t *frame, const uint8_t *plain,
                         size_t size)
{
    uint8_t *signature = frame + LDAP_FRAME_HEADER;
    uint8_t *data = signature + NTLMSSP_SIGNATURE_SIZE;
    put_length(frame, size + NTLMSSP_SIGNATURE_SIZE);
    memcpy(data, plain, size);
    ntlmssp_seal(self->ntlmssp, data, size, data, size, signature);
}

static void put_length(uint8_t *header, size_t length)
{
    for (int i = 0; i < LDAP_FRAME_HEADER; i++)
        header[i] = (uint8_t)(length >> (24 - 8 * i));
}

static int decode_frame(struct ldap_input *input, uint8_t *frame, size_t size)
{
    input->plain_taken = 0;
    return input->layer->ops->decode(input->layer, frame, size, &input->plain, &input->plain_left);
}

static int ntlmssp_decode(struct ldap_layer *layer, uint8_t *frame, size_t size,
                          const uint8_t **plain, size_t *plain_size)
{
    struct ntlmssp_layer *self = (struct ntlmssp_layer *)layer;
    if (self->out_size > FRAMES_KEPT_MAX) {
        /* This is an answer, so the request has been sent. */
        free(self->out);
        self->out = NULL;
        self->out_size = 0;
    }
    if (size < LDAP_FRAME_HEADER + NTLMSSP_SIGNATURE_SIZE)
        return -EBADMSG;
    uint8_t *signature = frame + LDAP_FRAME_HEADER;
    uint8_t *data = signature + NTLMSSP_SIGNATURE_SIZE;
    size_t length = size - LDAP_FRAME_HEADER - NTLMSSP_SIGNATURE_SIZE;
    *plain = data;
    *plain_size = length;
    return ntlmssp_unseal(self->ntlmssp, data, length, data, length, signature);
}

static void ntlmssp_layer_free(struct ldap_layer *layer)
{
    struct ntlmssp_layer *self = (struct ntlmssp_layer *)layer;
    ntlmssp_free(self->ntlmssp);
    free(self->out);
    free(self);
}

void ldap_layer_free(struct ldap_layer *layer)
{
    if (layer)
        layer->ops->free(layer);
}

void ldap_input_feed(struct ldap_input *input, uint8_t *buffer, size_t size)
{
    free_buffer(&input->saved);
    input->borrowed = true;
    input->plain_taken = 0;
    if (input->layer) {
        input->raw = buffer;
        input->raw_left = size;
    } else {
        input->plain = buffer;
        input->plain_left = size;
    }
}

static void free_buffer(uint8_t **memory)
{
    free(*memory);
    *memory = NULL;
}

ssize_t ldap_input_take(struct ldap_input *input, void *out, size_t size)
{
    if (input->error)
        return input->error;
    while (input->plain_left == 0) {
        int error = input->layer ? decode_next_frame(input) : -EAGAIN;
        if (error == -EAGAIN)
            return error;
        if (error) {
            input->plain_left = 0;
            return input->error = error;
        }
    }
    size_t part = size < input->plain_left ? size : input->plain_left;
    memcpy(out, input->plain, part);
    input->plain += part;
    input->plain_left -= part;
    input->plain_taken += part;
    return (ssize_t)part;
}

int ldap_framing_follow(struct ldap_framing *framing, const uint8_t *bytes, size_t size)
{
    while (size) {
        size_t part = size < framing->left ? size : framing->left;
        if (part == 0) {
            int error = follow_header(framing, *bytes);
            if (error)
                return error;
            part = 1;
        } else {
            framing->left -= part;
        }
        bytes += part;
        size -= part;
    }
    return 0;
}

/* A message is a SEQUENCE of definite length (X.690 8.1.3). */
static int follow_header(struct ldap_framing *framing, uint8_t byte)
{
    enum { SEQUENCE = 0x30, LONG_FORM = 0x80 };
    uint8_t *header = framing->header;
    header[framing->header_size++] = byte;
    if (header[0] != SEQUENCE)
        return -EBADMSG;
    if (framing->header_size < 2)
        return 0;
    bool long_form = header[1] & LONG_FORM;
    size_t size = 2 + (long_form ? header[1] & 0x7fu : 0);
    if ((long_form && size == 2) || size > sizeof framing->header)
        return -EBADMSG;
    if (framing->header_size < size)
        return 0;
    uint64_t left = long_form ? 0 : header[1];
    for (size_t i = 2; i < size; i++)
        left = left << 8 | header[i];
    *framing = (struct ldap_framing){.left = left};
    return 0;
}

/* Decodes the next frame. -EAGAIN: it is incomplete. */
static int decode_next_frame(struct ldap_input *input)
{
    free_buffer(&input->frame);
    if (input->raw_left == 0)
        return -EAGAIN;
    if (input->partial)
        return continue_partial(input);
    if (input->raw_left >= LDAP_FRAME_HEADER) {
        uint64_t size = frame_size(input->raw);
        if (size > LDAP_FRAME_MAX)
            return -EMSGSIZE;
        if (size <= input->raw_left)
            return decode_frame(input, take_raw(input, size), size);
    }
    return start_partial(input);
}

static int continue_partial(struct ldap_input *input)
{
    if (input->partial_have < LDAP_FRAME_HEADER) {
        int error = fill_partial(input, LDAP_FRAME_HEADER);
        if (!error)
            error = resize_partial(input);
        if (error)
            return error;
    }
    int error = fill_partial(input, input->partial_size);
    if (error)
        return error;
    input->frame = input->partial;
    input->partial = NULL;
    input->partial_have = 0;
    return decode_frame(input, input->frame, input->partial_size);
}

/* Appends to the partial frame until it has `want` bytes. 0 or -EAGAIN. */
static int fill_partial(struct ldap_input *input, size_t want)
{
    size_t missing = want - input->partial_have;
    size_t part = missing < input->raw_left ? missing : input->raw_left;
    memcpy(input->partial + input->partial_have, take_raw(input, part), part);
    input->partial_have += part;
    return part == missing ? 0 : -EAGAIN;
}

static uint8_t *take_raw(struct ldap_input *input, size_t size)
{
    uint8_t *at = input->raw;
    input->raw += size;
    input->raw_left -= size;
    return at;
}

/* Once its header is complete, gives the partial frame memory for all of it. */
static int resize_partial(struct ldap_input *input)
{
    uint64_t size = frame_size(input->partial);
    if (size > LDAP_FRAME_MAX)
        return -EMSGSIZE;
    uint8_t *larger = realloc(input->partial, size);
    if (!larger)
        return -ENOMEM;
    input->partial = larger;
    input->partial_size = size;
    return 0;
}

/* The size of a frame, including its header. */
static uint64_t frame_size(const uint8_t *header)
{
    uint64_t length = 0;
    for (int i = 0; i < LDAP_FRAME_HEADER; i++)
        length = length << 8 | header[i];
    return length + LDAP_FRAME_HEADER;
}

static int start_partial(struct ldap_input *input)
{
    input->partial = malloc(LDAP_FRAME_HEADER);
    input->partial_have = 0;
    input->partial_size = LDAP_FRAME_HEADER;
    return input->partial ? continue_partial(input) : -ENOMEM;
}

bool ldap_input_pending(const struct ldap_input *input)
{
    return input->plain_left != 0 || input->raw_left != 0;
}

int ldap_input_save(struct ldap_input *input)
{
    if (!ldap_input_pending(input)) {
        free_buffer(&input->saved);
        free_buffer(&input->frame);
        return 0;
    }
    if (!input->borrowed)
        return 0;
    uint8_t *copy = malloc(input->plain_left + input->raw_left);
    if (!copy)
        return input->error = -ENOMEM;
    if (input->plain_left)
        memcpy(copy, input->plain, input->plain_left);
    if (input->raw_left)
        memcpy(copy + input->plain_left, input->raw, input->raw_left);
    input->plain = copy;
    input->raw = copy + input->plain_left;
    input->saved = copy;
    input->plain_taken = 0;
    input->borrowed = false;
    free_buffer(&input->frame);
    return 0;
}

void ldap_input_clear(struct ldap_input *input)
{
    free_buffer(&input->saved);
    free_buffer(&input->partial);
    free_buffer(&input->frame);
    *input = (struct ldap_input){.layer = input->layer};
}
