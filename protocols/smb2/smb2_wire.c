/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and reads SMB2 messages. */
#include "protocols/smb2/smb2_wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/little_endian.h"
#include "base/utf16.h"

static uint8_t *append_bytes(struct smb2_writer *writer, size_t size);

void smb2_writer_begin(struct smb2_writer *writer, size_t capacity)
{
    *writer = (struct smb2_writer){.capacity = capacity + SMB2_HEADER_SIZE};
    writer->buffer = malloc(SMB2_PREFIX_SIZE + writer->capacity);
    if (!writer->buffer)
        writer->error = -ENOMEM;
    smb2_put_zeros(writer, SMB2_HEADER_SIZE);
}

void smb2_writer_free(struct smb2_writer *writer)
{
    free(writer->buffer);
    writer->buffer = NULL;
}

uint8_t *smb2_writer_message(const struct smb2_writer *writer)
{
    return writer->buffer + SMB2_PREFIX_SIZE;
}

void smb2_put8(struct smb2_writer *writer, uint8_t value)
{
    smb2_put_bytes(writer, &value, 1);
}

void smb2_put16(struct smb2_writer *writer, uint16_t value)
{
    uint8_t *at = append_bytes(writer, 2);
    if (at)
        le_put16(at, value);
}

/* The frame's length has 24 bits. */
enum { WRITER_MAX = 0xffffff - SMB2_TRANSFORM_SIZE };

/* Appends size uninitialized bytes and returns them; NULL after an error. */
static uint8_t *append_bytes(struct smb2_writer *writer, size_t size)
{
    if (writer->error)
        return NULL;
    if (size > WRITER_MAX - writer->size) {
        writer->error = -EMSGSIZE;
        return NULL;
    }
    if (writer->size + size > writer->capacity) {
        size_t capacity = 2 * (writer->size + size);
        uint8_t *grown = realloc(writer->buffer, SMB2_PREFIX_SIZE + capacity);
        if (!grown) {
            writer->error = -ENOMEM;
            return NULL;
        }
        writer->buffer = grown;
        writer->capacity = capacity;
    }
    uint8_t *at = smb2_writer_message(writer) + writer->size;
    writer->size += size;
    return at;
}

void smb2_put32(struct smb2_writer *writer, uint32_t value)
{
    uint8_t *at = append_bytes(writer, 4);
    if (at)
        le_put32(at, value);
}

void smb2_put64(struct smb2_writer *writer, uint64_t value)
{
    uint8_t *at = append_bytes(writer, 8);
    if (at)
        le_put64(at, value);
}

void smb2_put_bytes(struct smb2_writer *writer, const void *data, size_t size)
{
    uint8_t *at = append_bytes(writer, size);
    if (at && size)
        memcpy(at, data, size);
}

void smb2_put_zeros(struct smb2_writer *writer, size_t count)
{
    uint8_t *at = append_bytes(writer, count);
    if (at)
        memset(at, 0, count);
}

void smb2_put_align8(struct smb2_writer *writer)
{
    smb2_put_zeros(writer, (8 - writer->size % 8) % 8);
}

uint16_t smb2_put_text(struct smb2_writer *writer, const char *utf8)
{
    uint8_t *wide = NULL;
    size_t size = 0;
    if (writer->error)
        return 0;
    int rc = utf16le_from_utf8(utf8, &wide, &size);
    if (rc == 0 && size > UINT16_MAX)
        rc = -EMSGSIZE;
    if (rc)
        writer->error = rc;
    else
        smb2_put_bytes(writer, wide, size);
    free(wide);
    return writer->error ? 0 : (uint16_t)size;
}

void smb2_patch16(struct smb2_writer *writer, size_t at, uint16_t value)
{
    if (!writer->error)
        le_put16(smb2_writer_message(writer) + at, value);
}

void smb2_patch32(struct smb2_writer *writer, size_t at, uint32_t value)
{
    if (!writer->error)
        le_put32(smb2_writer_message(writer) + at, value);
}

int smb2_header_decode(const struct smb2_reply *reply, struct smb2_header *header)
{
    static const uint8_t protocol_id[4] = {0xfe, 'S', 'M', 'B'};
    const uint8_t *m = reply->message;
    if (reply->size < SMB2_HEADER_SIZE || memcmp(m, protocol_id, 4) != 0 ||
        le_get16(m + 4) != SMB2_HEADER_SIZE)
        return -EBADMSG;
    *header = (struct smb2_header){.status = le_get32(m + 8),
                                   .command = le_get16(m + 12),
                                   .credits = le_get16(m + 14),
                                   .flags = le_get32(m + 16),
                                   .next_command = le_get32(m + 20),
                                   .message_id = le_get64(m + 24),
                                   .session_id = le_get64(m + 40)};
    if (!(header->flags & SMB2_FLAGS_ASYNC_COMMAND))
        header->tree_id = le_get32(m + 36);
    return 0;
}

const uint8_t *smb2_body(const struct smb2_reply *reply, uint16_t structure_size, size_t fixed)
{
    const uint8_t *body = reply->message + SMB2_HEADER_SIZE;
    if (reply->size < SMB2_HEADER_SIZE || reply->size - SMB2_HEADER_SIZE < fixed || fixed < 2 ||
        le_get16(body) != structure_size)
        return NULL;
    return body;
}

bool smb2_slice_at(const struct smb2_reply *reply, uint64_t offset, uint64_t size, size_t least,
                   struct smb2_slice *slice)
{
    *slice = (struct smb2_slice){NULL, 0};
    if (size == 0)
        return true;
    if (offset < SMB2_HEADER_SIZE + least || offset > reply->size || size > reply->size - offset)
        return false;
    *slice = (struct smb2_slice){reply->message + offset, (size_t)size};
    return true;
}
