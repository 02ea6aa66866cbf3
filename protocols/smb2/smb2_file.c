/* SPDX-License-Identifier: Apache-2.0 */
/* SMB2 requests on files, directories and pipes. */
#include "protocols/smb2/smb2_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/little_endian.h"
#include "protocols/ntstatus.h"

enum {
    CREATE_STRUCTURE = 57,
    CREATE_NAME = SMB2_HEADER_SIZE + 56,
    CREATE_NAME_LENGTH = SMB2_HEADER_SIZE + 46,
    CREATE_CONTEXTS = SMB2_HEADER_SIZE + 48,
    CREATED_STRUCTURE = 89,
    CREATED_FIXED = 88,
    IMPERSONATION = 2,
    LEASE_V1_SIZE = 32,
    LEASE_V2_SIZE = 52
};

enum { CLOSE_STRUCTURE = 24, CLOSED_STRUCTURE = 60, ECHO_STRUCTURE = 4 };

#define ALWAYS_DATA UINT32_MAX

enum {
    READ_STRUCTURE = 49,
    READ_PADDING = SMB2_HEADER_SIZE + 16, /* where data should begin in the reply */
    DATA_STRUCTURE = 17,
    DATA_FIXED = 16,
    WRITE_STRUCTURE = 49,
    WRITE_DATA = SMB2_HEADER_SIZE + 48
};

enum {
    IOCTL_STRUCTURE = 57,
    IOCTL_INPUT = SMB2_HEADER_SIZE + 56,
    IOCTL_IS_FSCTL = 1,
    IOCTL_REPLY_STRUCTURE = 49,
    IOCTL_REPLY_FIXED = 48
};

enum {
    DIRECTORY_STRUCTURE = 33,
    DIRECTORY_PATTERN = SMB2_HEADER_SIZE + 32,
    RESTART_SCANS = 1,
    INFO_STRUCTURE = 41,
    INFO_INPUT = SMB2_HEADER_SIZE + 40,
    QUERY_REPLY_STRUCTURE = 9,
    QUERY_REPLY_FIXED = 8
};

enum { ENTRY_FIXED = 64, DFS_HEADER = 8, DFS_REFERRAL_MIN = 8 };

static void begin_call(struct smb2_call *call, const struct smb2_target *target,
                       enum smb2_command command, size_t body_size);
static void put_create(struct smb2_writer *writer, const struct smb2_create *create,
                       uint16_t dialect);
static void put_lease(struct smb2_writer *writer, const struct smb2_create *create, bool version2);
static struct outcome call_outcome(const struct smb2_call *call, int rc);
static struct outcome run_for_data(struct smb2_call *call, uint32_t no_data,
                                   int (*decode)(const struct smb2_reply *, struct smb2_slice *),
                                   struct smb2_data *out);
static bool has_data(uint32_t status);
static void count_data(const struct smb2_target *target, size_t got, size_t written);
static uint32_t limit_output(const struct smb2_target *target, uint32_t wanted);
static void put_ioctl(struct smb2_writer *writer, const uint8_t *file_id, enum smb2_fsctl control,
                      uint32_t input_size, uint32_t output_max);

void smb2_data_free(struct smb2_data *data)
{
    free(data->received);
    *data = (struct smb2_data){0};
}

int smb2_create_decode(const struct smb2_reply *reply, struct smb2_created *created)
{
    const uint8_t *body = smb2_body(reply, CREATED_STRUCTURE, CREATED_FIXED);
    struct smb2_slice contexts;
    if (!body ||
        !smb2_slice_at(reply, le_get32(body + 80), le_get32(body + 84), CREATED_FIXED, &contexts))
        return -EBADMSG;
    created->oplock = body[2];
    created->end_of_file = le_get64(body + 48);
    memcpy(created->file_id, body + 64, SMB2_FILE_ID_SIZE);
    return 0;
}

struct outcome smb2_create(const struct smb2_target *target, const struct smb2_create *create,
                           struct smb2_created *created)
{
    struct smb2_call call;
    begin_call(&call, target, SMB2_CREATE, 160 + 2 * strlen(create->name));
    put_create(&call.request, create, target->connection->dialect);
    int rc = smb2_call_run(&call);
    if (rc == 0 && call.header.status == NTSTATUS_SUCCESS)
        rc = smb2_create_decode(&call.reply, created);
    struct outcome outcome = call_outcome(&call, rc);
    smb2_call_end(&call);
    return outcome;
}

static void begin_call(struct smb2_call *call, const struct smb2_target *target,
                       enum smb2_command command, size_t body_size)
{
    smb2_call_begin(call, target->connection, target->session, target->tree, command, body_size);
}

static void put_create(struct smb2_writer *writer, const struct smb2_create *create,
                       uint16_t dialect)
{
    smb2_put16(writer, CREATE_STRUCTURE);
    smb2_put8(writer, 0);
    smb2_put8(writer, (uint8_t)create->oplock);
    smb2_put32(writer, IMPERSONATION);
    smb2_put_zeros(writer, 16);
    smb2_put32(writer, create->access);
    smb2_put32(writer, 0);
    smb2_put32(writer, create->share_access);
    smb2_put32(writer, create->disposition);
    smb2_put32(writer, create->options);
    smb2_put16(writer, CREATE_NAME);
    smb2_put_zeros(writer, 10);
    uint16_t size = smb2_put_text(writer, create->name);
    smb2_patch16(writer, CREATE_NAME_LENGTH, size);
    if (create->oplock == SMB2_OPLOCK_LEASE)
        put_lease(writer, create, dialect >= 0x0300);
    else if (size == 0)
        smb2_put8(writer, 0); /* the buffer is never empty */
}

/* 2.2.13.2.8, 2.2.13.2.10: requests a lease; version 2 from dialect 3.0. */
static void put_lease(struct smb2_writer *writer, const struct smb2_create *create, bool version2)
{
    uint32_t size = version2 ? LEASE_V2_SIZE : LEASE_V1_SIZE;
    smb2_put_align8(writer);
    size_t start = writer->size;
    smb2_put32(writer, 0);
    smb2_put16(writer, 16);
    smb2_put16(writer, 4);
    smb2_put16(writer, 0);
    smb2_put16(writer, 24);
    smb2_put32(writer, size);
    smb2_put_bytes(writer, "RqLs", 4);
    smb2_put32(writer, 0);
    smb2_put_bytes(writer, create->lease_key, sizeof create->lease_key);
    smb2_put32(writer, create->lease);
    smb2_put32(writer, 0);
    smb2_put_zeros(writer, size - 24);
    smb2_patch32(writer, CREATE_CONTEXTS, (uint32_t)start);
    smb2_patch32(writer, CREATE_CONTEXTS + 4, (uint32_t)(writer->size - start));
}

/* The outcome of a call, after smb2_call_run() or a decoder returned rc. */
static struct outcome call_outcome(const struct smb2_call *call, int rc)
{
    if (rc == -EBADMSG)
        smb2_connection_complain(call->connection, "SMB2: malformed reply");
    if (rc)
        return smb2_connection_outcome(call->connection, rc);
    return ntstatus_outcome(call->header.status);
}

struct outcome smb2_close(const struct smb2_target *target, const uint8_t *file_id)
{
    struct smb2_call call;
    const uint8_t *body;
    begin_call(&call, target, SMB2_CLOSE, CLOSE_STRUCTURE);
    call.file_id = file_id;
    smb2_put16(&call.request, CLOSE_STRUCTURE);
    smb2_put_zeros(&call.request, 6);
    smb2_put_bytes(&call.request, file_id, SMB2_FILE_ID_SIZE);
    int rc = smb2_call_run_body(&call, CLOSED_STRUCTURE, CLOSED_STRUCTURE, &body);
    struct outcome outcome = call_outcome(&call, rc);
    smb2_call_end(&call);
    return outcome;
}

int smb2_read_decode(const struct smb2_reply *reply, struct smb2_slice *data)
{
    const uint8_t *body = smb2_body(reply, DATA_STRUCTURE, DATA_FIXED);
    return body && smb2_slice_at(reply, body[2], le_get32(body + 4), DATA_FIXED, data) ? 0
                                                                                       : -EBADMSG;
}

int smb2_ioctl_decode(const struct smb2_reply *reply, struct smb2_slice *data)
{
    const uint8_t *body = smb2_body(reply, IOCTL_REPLY_STRUCTURE, IOCTL_REPLY_FIXED);
    return body && smb2_slice_at(reply, le_get32(body + 32), le_get32(body + 36), IOCTL_REPLY_FIXED,
                                 data)
               ? 0
               : -EBADMSG;
}

int smb2_query_decode(const struct smb2_reply *reply, struct smb2_slice *data)
{
    const uint8_t *body = smb2_body(reply, QUERY_REPLY_STRUCTURE, QUERY_REPLY_FIXED);
    return body && smb2_slice_at(reply, le_get16(body + 2), le_get32(body + 4), QUERY_REPLY_FIXED,
                                 data)
               ? 0
               : -EBADMSG;
}

struct outcome smb2_read(const struct smb2_target *target, const uint8_t *file_id, uint64_t offset,
                         uint32_t size, struct smb2_data *out)
{
    struct smb2_call call;
    begin_call(&call, target, SMB2_READ, READ_STRUCTURE);
    call.file_id = file_id;
    call.payload = size;
    smb2_put16(&call.request, READ_STRUCTURE);
    smb2_put8(&call.request, READ_PADDING);
    smb2_put8(&call.request, 0);
    smb2_put32(&call.request, size);
    smb2_put64(&call.request, offset);
    smb2_put_bytes(&call.request, file_id, SMB2_FILE_ID_SIZE);
    smb2_put_zeros(&call.request, 17); /* no minimum, no channel, one byte of buffer */
    struct outcome outcome = run_for_data(&call, NTSTATUS_END_OF_FILE, smb2_read_decode, out);
    smb2_call_end(&call);
    if (outcome.kind == OUTCOME_OK && out->size > size) {
        smb2_data_free(out);
        return call_outcome(&call, -EBADMSG);
    }
    if (outcome.kind == OUTCOME_OK)
        count_data(target, out->size, 0);
    return outcome;
}

/* Bytes in pipes are not those of files. */
static void count_data(const struct smb2_target *target, size_t got, size_t written)
{
    struct wire_data *data = target->connection->data;
    if (!data || target->tree->share == SMB2_SHARE_IPC)
        return;
    data->read += got;
    data->written += written;
}

/* Runs the call. On success, or a warning with data, *out takes over the reply. no_data is a status
 * that only means that there is no data. */
static struct outcome run_for_data(struct smb2_call *call, uint32_t no_data,
                                   int (*decode)(const struct smb2_reply *, struct smb2_slice *),
                                   struct smb2_data *out)
{
    struct smb2_slice slice = {NULL, 0};
    *out = (struct smb2_data){0};
    int rc = smb2_call_run(call);
    if (rc == 0 && has_data(call->header.status))
        rc = decode(&call->reply, &slice);
    if (rc)
        return call_outcome(call, rc);
    out->status = call->header.status;
    if (out->status == no_data)
        return outcome_ok();
    if (!has_data(out->status))
        return ntstatus_outcome(out->status);
    out->received = call->received;
    out->data = slice.data;
    out->size = slice.size;
    call->received = NULL;
    return outcome_ok();
}

static bool has_data(uint32_t status)
{
    return status == NTSTATUS_SUCCESS || status == NTSTATUS_BUFFER_OVERFLOW;
}

int smb2_write_decode(const struct smb2_reply *reply, uint32_t *written)
{
    const uint8_t *body = smb2_body(reply, DATA_STRUCTURE, DATA_FIXED);
    if (!body)
        return -EBADMSG;
    *written = le_get32(body + 4);
    return 0;
}

struct outcome smb2_write(const struct smb2_target *target, const uint8_t *file_id, uint64_t offset,
                          const void *data, uint32_t size, uint32_t *written)
{
    struct smb2_call call;
    begin_call(&call, target, SMB2_WRITE, WRITE_STRUCTURE + (size_t)size);
    call.file_id = file_id;
    call.payload = size;
    smb2_put16(&call.request, WRITE_STRUCTURE);
    smb2_put16(&call.request, WRITE_DATA);
    smb2_put32(&call.request, size);
    smb2_put64(&call.request, offset);
    smb2_put_bytes(&call.request, file_id, SMB2_FILE_ID_SIZE);
    smb2_put_zeros(&call.request, 16);
    smb2_put_bytes(&call.request, data, size);
    int rc = smb2_call_run(&call);
    if (rc == 0 && call.header.status == NTSTATUS_SUCCESS)
        rc = smb2_write_decode(&call.reply, written);
    if (rc == 0 && call.header.status == NTSTATUS_SUCCESS && *written > size)
        rc = -EBADMSG;
    struct outcome outcome = call_outcome(&call, rc);
    smb2_call_end(&call);
    if (outcome.kind == OUTCOME_OK)
        count_data(target, 0, *written);
    return outcome;
}

struct outcome smb2_ioctl(const struct smb2_target *target, const uint8_t *file_id,
                          enum smb2_fsctl control, const void *input, uint32_t input_size,
                          uint32_t output_max, struct smb2_data *out)
{
    struct smb2_call call;
    output_max = limit_output(target, output_max);
    begin_call(&call, target, SMB2_IOCTL, IOCTL_STRUCTURE + (size_t)input_size);
    call.file_id = file_id;
    call.payload = input_size > output_max ? input_size : output_max;
    put_ioctl(&call.request, file_id, control, input_size, output_max);
    smb2_put_bytes(&call.request, input, input_size);
    struct outcome outcome = run_for_data(&call, ALWAYS_DATA, smb2_ioctl_decode, out);
    smb2_call_end(&call);
    return outcome;
}

/* A server refuses requests for more than its negotiated maximum (3.3.5.15, .18, .20). */
static uint32_t limit_output(const struct smb2_target *target, uint32_t wanted)
{
    const struct smb2_connection *connection = target->connection;
    return smb2_connection_payload(connection, connection->max_transact, wanted);
}

static void put_ioctl(struct smb2_writer *writer, const uint8_t *file_id, enum smb2_fsctl control,
                      uint32_t input_size, uint32_t output_max)
{
    static const uint8_t no_file[SMB2_FILE_ID_SIZE] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                                       0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                                       0xff, 0xff, 0xff, 0xff};
    smb2_put16(writer, IOCTL_STRUCTURE);
    smb2_put16(writer, 0);
    smb2_put32(writer, control);
    smb2_put_bytes(writer, file_id ? file_id : no_file, SMB2_FILE_ID_SIZE);
    smb2_put32(writer, IOCTL_INPUT);
    smb2_put32(writer, input_size);
    smb2_put32(writer, 0);
    smb2_put32(writer, 0);
    smb2_put32(writer, 0);
    smb2_put32(writer, output_max);
    smb2_put32(writer, IOCTL_IS_FSCTL);
    smb2_put32(writer, 0);
}

struct outcome smb2_echo(struct smb2_connection *connection, struct smb2_session *session)
{
    struct smb2_call call;
    const uint8_t *body;
    smb2_call_begin(&call, connection, session, NULL, SMB2_ECHO, ECHO_STRUCTURE);
    smb2_put16(&call.request, ECHO_STRUCTURE);
    smb2_put16(&call.request, 0);
    int rc = smb2_call_run_body(&call, ECHO_STRUCTURE, ECHO_STRUCTURE, &body);
    struct outcome outcome = call_outcome(&call, rc);
    smb2_call_end(&call);
    return outcome;
}

struct outcome smb2_query_directory(const struct smb2_target *target, const uint8_t *file_id,
                                    uint8_t information_class, bool restart, const char *pattern,
                                    uint32_t output_max, struct smb2_data *out)
{
    struct smb2_call call;
    output_max = limit_output(target, output_max);
    begin_call(&call, target, SMB2_QUERY_DIRECTORY, DIRECTORY_STRUCTURE + 2 * strlen(pattern));
    call.file_id = file_id;
    call.payload = output_max;
    smb2_put16(&call.request, DIRECTORY_STRUCTURE);
    smb2_put8(&call.request, information_class);
    smb2_put8(&call.request, restart ? RESTART_SCANS : 0);
    smb2_put32(&call.request, 0);
    smb2_put_bytes(&call.request, file_id, SMB2_FILE_ID_SIZE);
    smb2_put16(&call.request, DIRECTORY_PATTERN);
    smb2_put16(&call.request, 0);
    smb2_put32(&call.request, output_max);
    uint16_t size = smb2_put_text(&call.request, pattern);
    smb2_patch16(&call.request, DIRECTORY_PATTERN - 6, size);
    struct outcome outcome = run_for_data(&call, NTSTATUS_NO_MORE_FILES, smb2_query_decode, out);
    smb2_call_end(&call);
    return outcome;
}

struct outcome smb2_query_info(const struct smb2_target *target, const uint8_t *file_id,
                               uint8_t type, uint8_t information_class, uint32_t additional,
                               uint32_t output_max, struct smb2_data *out)
{
    struct smb2_call call;
    output_max = limit_output(target, output_max);
    begin_call(&call, target, SMB2_QUERY_INFO, INFO_STRUCTURE);
    call.file_id = file_id;
    call.payload = output_max;
    smb2_put16(&call.request, INFO_STRUCTURE);
    smb2_put8(&call.request, type);
    smb2_put8(&call.request, information_class);
    smb2_put32(&call.request, output_max);
    smb2_put16(&call.request, INFO_INPUT);
    smb2_put16(&call.request, 0);
    smb2_put32(&call.request, 0);
    smb2_put32(&call.request, additional);
    smb2_put32(&call.request, 0);
    smb2_put_bytes(&call.request, file_id, SMB2_FILE_ID_SIZE);
    smb2_put8(&call.request, 0);
    struct outcome outcome = run_for_data(&call, ALWAYS_DATA, smb2_query_decode, out);
    smb2_call_end(&call);
    return outcome;
}

int smb2_entry_next(const uint8_t *listing, size_t size, size_t *at, struct smb2_entry *entry)
{
    if (*at == size)
        return 0;
    if (size < *at || size - *at < ENTRY_FIXED)
        return -EBADMSG;
    const uint8_t *from = listing + *at;
    uint64_t next = le_get32(from), name_size = le_get32(from + 60);
    uint64_t left = size - *at;
    if (name_size > left - ENTRY_FIXED || next > left ||
        (next != 0 && next < ENTRY_FIXED + name_size))
        return -EBADMSG;
    entry->end_of_file = le_get64(from + 40);
    entry->attributes = le_get32(from + 56);
    entry->name = (struct smb2_slice){from + ENTRY_FIXED, (size_t)name_size};
    *at = next == 0 ? size : *at + (size_t)next;
    return 1;
}

int smb2_dfs_referrals_decode(const uint8_t *data, size_t size, unsigned *count)
{
    if (size < DFS_HEADER)
        return -EBADMSG;
    *count = le_get16(data + 2);
    size_t at = DFS_HEADER;
    for (unsigned i = 0; i < *count; i++) {
        if (size - at < DFS_REFERRAL_MIN)
            return -EBADMSG;
        size_t length = le_get16(data + at + 2);
        if (length < DFS_REFERRAL_MIN || length > size - at)
            return -EBADMSG;
        at += length;
    }
    return 0;
}
