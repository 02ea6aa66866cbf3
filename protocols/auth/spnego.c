/* SPDX-License-Identifier: Apache-2.0 */
/* SPNEGO tokens: a small DER writer that works backwards, a small bounded reader, and the messages
 * of RFC 4178 4.2. */
#include "protocols/auth/spnego.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    TAG_OCTET_STRING = 0x04,
    TAG_OID = 0x06,
    TAG_ENUMERATED = 0x0a,
    TAG_SEQUENCE = 0x30,
    TAG_APPLICATION_0 = 0x60,
    TAG_CONTEXT = 0xa0 /* plus the number */
};

/* FRAME_MAX: all tags and lengths around the tokens. */
enum { TOKEN_MAX = 0xffff, FRAME_MAX = 128 };

/* DER MechTypeLists by enum spnego_mech; the OID with its tag begins at offset 2. */
static const uint8_t list_ntlmssp[] = {0x30, 0x0c, 0x06, 0x0a, 0x2b, 0x06, 0x01,
                                       0x04, 0x01, 0x82, 0x37, 0x02, 0x02, 0x0a};
static const uint8_t list_kerberos[] = {0x30, 0x0b, 0x06, 0x09, 0x2a, 0x86, 0x48,
                                        0x86, 0xf7, 0x12, 0x01, 0x02, 0x02};
static const uint8_t list_ms_kerberos[] = {0x30, 0x0b, 0x06, 0x09, 0x2a, 0x86, 0x48,
                                           0x82, 0xf7, 0x12, 0x01, 0x02, 0x02};
static const struct spnego_slice mech_lists[] = {
    {list_ntlmssp, sizeof list_ntlmssp},
    {list_kerberos, sizeof list_kerberos},
    {list_ms_kerberos, sizeof list_ms_kerberos},
};

static const uint8_t oid_spnego[] = {TAG_OID, 0x06, 0x2b, 0x06, 0x01, 0x05, 0x05, 0x02};

/* Writes downwards from end: the last piece written comes first. */
struct der_writer {
    uint8_t *start, *at, *end;
};

static int der_begin(struct der_writer *writer, size_t tokens_size);
static void der_put_octets(struct der_writer *writer, unsigned number, struct spnego_slice octets);
static void der_put(struct der_writer *writer, const uint8_t *data, size_t size);
static void der_wrap(struct der_writer *writer, uint8_t tag, const uint8_t *end);
static void der_finish(struct der_writer *writer, uint8_t **out, size_t *out_size);
static bool der_single(struct spnego_slice in, uint8_t wanted, struct spnego_slice *content);
static bool der_next(struct spnego_slice *in, uint8_t *tag, struct spnego_slice *content);
static bool der_length(const struct spnego_slice *in, size_t *length, size_t *header);
static bool parse_field(unsigned number, struct spnego_slice field,
                        struct spnego_response *response);
static enum spnego_mech mech_of_oid(struct spnego_slice oid);

int spnego_build_init(enum spnego_mech mech, const uint8_t *token, size_t token_size, uint8_t **out,
                      size_t *out_size)
{
    struct der_writer writer;
    int rc = der_begin(&writer, token_size);
    if (rc)
        return rc;
    der_put_octets(&writer, 2, (struct spnego_slice){token, token_size});
    const uint8_t *end = writer.at;
    der_put(&writer, mech_lists[mech].data, mech_lists[mech].size);
    der_wrap(&writer, TAG_CONTEXT + 0, end);
    der_wrap(&writer, TAG_SEQUENCE, writer.end);
    der_wrap(&writer, TAG_CONTEXT + 0, writer.end);
    der_put(&writer, oid_spnego, sizeof oid_spnego);
    der_wrap(&writer, TAG_APPLICATION_0, writer.end);
    der_finish(&writer, out, out_size);
    return 0;
}

static int der_begin(struct der_writer *writer, size_t tokens_size)
{
    if (tokens_size > TOKEN_MAX)
        return -EMSGSIZE;
    size_t size = tokens_size + FRAME_MAX;
    writer->start = malloc(size);
    if (!writer->start)
        return -ENOMEM;
    writer->at = writer->end = writer->start + size;
    return 0;
}

/* Writes [number] EXPLICIT OCTET STRING; nothing if it is absent. */
static void der_put_octets(struct der_writer *writer, unsigned number, struct spnego_slice octets)
{
    if (!octets.data)
        return;
    const uint8_t *end = writer->at;
    der_put(writer, octets.data, octets.size);
    der_wrap(writer, TAG_OCTET_STRING, end);
    der_wrap(writer, (uint8_t)(TAG_CONTEXT + number), end);
}

static void der_put(struct der_writer *writer, const uint8_t *data, size_t size)
{
    writer->at -= size;
    if (size)
        memcpy(writer->at, data, size);
}

/* Writes tag and length in front of everything written since the position was `end`. */
static void der_wrap(struct der_writer *writer, uint8_t tag, const uint8_t *end)
{
    size_t length = (size_t)(end - writer->at);
    size_t rest = length;
    uint8_t octets = 0;
    if (length >= 0x80) {
        for (; rest; rest >>= 8, octets++)
            *--writer->at = (uint8_t)rest;
        *--writer->at = 0x80 | octets;
    } else {
        *--writer->at = (uint8_t)length;
    }
    *--writer->at = tag;
}

/* Moves the token to the front of its allocation, which the caller then owns. */
static void der_finish(struct der_writer *writer, uint8_t **out, size_t *out_size)
{
    *out_size = (size_t)(writer->end - writer->at);
    memmove(writer->start, writer->at, *out_size);
    *out = writer->start;
}

struct spnego_slice spnego_mech_list(enum spnego_mech mech)
{
    return mech_lists[mech];
}

int spnego_build_response(const struct spnego_response *response, uint8_t **out, size_t *out_size)
{
    struct der_writer writer;
    size_t tokens_size = response->token.size + response->mech_list_mic.size;
    int rc = der_begin(&writer, tokens_size);
    if (rc)
        return rc;
    der_put_octets(&writer, 3, response->mech_list_mic);
    der_put_octets(&writer, 2, response->token);
    if (response->mech != SPNEGO_NONE) {
        const uint8_t *end = writer.at;
        der_put(&writer, mech_lists[response->mech].data + 2, mech_lists[response->mech].size - 2);
        der_wrap(&writer, TAG_CONTEXT + 1, end);
    }
    if (response->state != SPNEGO_STATE_ABSENT) {
        const uint8_t *end = writer.at;
        *--writer.at = (uint8_t)response->state;
        der_wrap(&writer, TAG_ENUMERATED, end);
        der_wrap(&writer, TAG_CONTEXT + 0, end);
    }
    der_wrap(&writer, TAG_SEQUENCE, writer.end);
    der_wrap(&writer, TAG_CONTEXT + 1, writer.end);
    der_finish(&writer, out, out_size);
    return 0;
}

int spnego_parse_response(const uint8_t *token, size_t size, struct spnego_response *response)
{
    struct spnego_slice in = {token, size}, body, fields;
    *response = (struct spnego_response){.state = SPNEGO_STATE_ABSENT, .mech = SPNEGO_NONE};
    if (!der_single(in, TAG_CONTEXT + 1, &body) || !der_single(body, TAG_SEQUENCE, &fields))
        return -EBADMSG;
    int last = -1;
    while (fields.size) {
        uint8_t tag;
        struct spnego_slice field;
        if (!der_next(&fields, &tag, &field) || tag < TAG_CONTEXT || tag - TAG_CONTEXT <= last ||
            !parse_field(tag - TAG_CONTEXT, field, response))
            return -EBADMSG;
        last = tag - TAG_CONTEXT;
    }
    return 0;
}

/* The content of in, which must be exactly one element with this tag. */
static bool der_single(struct spnego_slice in, uint8_t wanted, struct spnego_slice *content)
{
    uint8_t tag;
    return der_next(&in, &tag, content) && tag == wanted && in.size == 0;
}

/* Removes the next element from in and returns its tag and content. */
static bool der_next(struct spnego_slice *in, uint8_t *tag, struct spnego_slice *content)
{
    size_t length, header;
    if (in->size < 2 || !der_length(in, &length, &header) || in->size - header < length)
        return false;
    *tag = in->data[0];
    *content = (struct spnego_slice){in->data + header, length};
    in->data += header + length;
    in->size -= header + length;
    return true;
}

/* Reads the length octets at in->data[1..]. False: indefinite, over 64 KiB, or truncated. */
static bool der_length(const struct spnego_slice *in, size_t *length, size_t *header)
{
    *length = in->data[1];
    *header = 2;
    if (*length < 0x80)
        return true;
    size_t octets = *length & 0x7f;
    if (octets < 1 || octets > 4 || in->size - 2 < octets)
        return false;
    *length = 0;
    for (size_t i = 0; i < octets; i++)
        *length = *length << 8 | in->data[2 + i];
    *header += octets;
    return *length <= TOKEN_MAX;
}

static bool parse_field(unsigned number, struct spnego_slice field,
                        struct spnego_response *response)
{
    struct spnego_slice content;
    switch (number) {
    case 0:
        if (!der_single(field, TAG_ENUMERATED, &content) || content.size != 1 ||
            content.data[0] > 3)
            return false;
        response->state = (enum spnego_state)content.data[0];
        return true;
    case 1:
        if (!der_single(field, TAG_OID, &content))
            return false;
        response->mech = mech_of_oid(content);
        return true;
    case 2:
        return der_single(field, TAG_OCTET_STRING, &response->token);
    case 3:
        return der_single(field, TAG_OCTET_STRING, &response->mech_list_mic);
    default:
        return false;
    }
}

enum { MECH_COUNT = sizeof mech_lists / sizeof mech_lists[0] };

static enum spnego_mech mech_of_oid(struct spnego_slice oid)
{
    for (size_t i = 0; i < MECH_COUNT; i++)
        if (oid.size == mech_lists[i].size - 4 &&
            memcmp(oid.data, mech_lists[i].data + 4, oid.size) == 0)
            return (enum spnego_mech)i;
    return SPNEGO_NONE;
}
