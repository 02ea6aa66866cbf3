/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SMB2 messages: a growing writer with a sticky error, bounded slices of a reply, and the header
 * (MS-SMB2 2.2.1).
 */
#ifndef PROTOCOLS_SMB2_SMB2_WIRE_H
#define PROTOCOLS_SMB2_SMB2_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum smb2_command {
    SMB2_NEGOTIATE = 0x00,
    SMB2_SESSION_SETUP = 0x01,
    SMB2_LOGOFF = 0x02,
    SMB2_TREE_CONNECT = 0x03,
    SMB2_TREE_DISCONNECT = 0x04,
    SMB2_CREATE = 0x05,
    SMB2_CLOSE = 0x06,
    SMB2_FLUSH = 0x07,
    SMB2_READ = 0x08,
    SMB2_WRITE = 0x09,
    SMB2_LOCK = 0x0a,
    SMB2_IOCTL = 0x0b,
    SMB2_ECHO = 0x0d,
    SMB2_QUERY_DIRECTORY = 0x0e,
    SMB2_QUERY_INFO = 0x10,
    SMB2_SET_INFO = 0x11,
    SMB2_OPLOCK_BREAK = 0x12
};

enum smb2_header_flag {
    SMB2_FLAGS_SERVER_TO_REDIR = 0x00000001,
    SMB2_FLAGS_ASYNC_COMMAND = 0x00000002,
    SMB2_FLAGS_SIGNED = 0x00000008
};

enum {
    SMB2_HEADER_SIZE = 64,
    SMB2_SIGNATURE = 48, /* offset in the header */
    SMB2_SIGNATURE_SIZE = 16,
    SMB2_TRANSFORM_SIZE = 52,
    SMB2_FRAME_SIZE = 4, /* direct TCP: a zero and the length (2.1) */
    /* Space before the header for both, so that a request is sent in one write. */
    SMB2_PREFIX_SIZE = SMB2_FRAME_SIZE + SMB2_TRANSFORM_SIZE,
    SMB2_FILE_ID_SIZE = 16
};

/* A message being written. After the first failure (-ENOMEM, -EMSGSIZE, -EILSEQ) every call does
 * nothing. Offsets count from the SMB2 header. */
struct smb2_writer {
    uint8_t *buffer; /* SMB2_PREFIX_SIZE bytes, then the message */
    size_t size;     /* of the message */
    size_t capacity; /* of the message */
    int error;
};

/* Begins with a header of zeros; capacity is an estimate. */
void smb2_writer_begin(struct smb2_writer *writer, size_t capacity);
void smb2_writer_free(struct smb2_writer *writer);
uint8_t *smb2_writer_message(const struct smb2_writer *writer);
void smb2_put8(struct smb2_writer *writer, uint8_t value);
void smb2_put16(struct smb2_writer *writer, uint16_t value);
void smb2_put32(struct smb2_writer *writer, uint32_t value);
void smb2_put64(struct smb2_writer *writer, uint64_t value);
void smb2_put_bytes(struct smb2_writer *writer, const void *data, size_t size);
void smb2_put_zeros(struct smb2_writer *writer, size_t count);
/* Appends zeros up to a multiple of 8, counted from the header. */
void smb2_put_align8(struct smb2_writer *writer);
/* Appends UTF-16LE without a terminator; returns its size in bytes (0 after an error). */
uint16_t smb2_put_text(struct smb2_writer *writer, const char *utf8);
/* Overwrites earlier bytes. */
void smb2_patch16(struct smb2_writer *writer, size_t at, uint16_t value);
void smb2_patch32(struct smb2_writer *writer, size_t at, uint32_t value);

/* The fields of a header that are used. */
struct smb2_header {
    uint32_t status;
    uint16_t command;
    uint16_t credits;
    uint32_t flags;
    uint32_t next_command;
    uint64_t message_id;
    uint32_t tree_id; /* 0 in asynchronous replies */
    uint64_t session_id;
};

/* A message of the server with its header. */
struct smb2_reply {
    const uint8_t *message;
    size_t size;
};

/* Part of a reply. */
struct smb2_slice {
    const uint8_t *data;
    size_t size;
};

/* -EBADMSG: too short, or not an SMB2 header. */
int smb2_header_decode(const struct smb2_reply *reply, struct smb2_header *header);

/* The reply's body, if it has this StructureSize and at least fixed bytes; else NULL. */
const uint8_t *smb2_body(const struct smb2_reply *reply, uint16_t structure_size, size_t fixed);

/* The slice of size bytes at offset from the header, after the fixed part of the body, which has
 * `least` bytes. Size 0 is always allowed. False: it is not inside the message. */
bool smb2_slice_at(const struct smb2_reply *reply, uint64_t offset, uint64_t size, size_t least,
                   struct smb2_slice *slice);

#endif
