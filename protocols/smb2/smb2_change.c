/* SPDX-License-Identifier: Apache-2.0 */
#include "protocols/smb2/smb2_change.h"

#include <errno.h>
#include <string.h>

#include "protocols/ntstatus.h"

enum {
    FLUSH_STRUCTURE = 24,
    LOCK_STRUCTURE = 48,
    SET_STRUCTURE = 33,
    SET_BUFFER = SMB2_HEADER_SIZE + 32,
    DONE_STRUCTURE = 4, /* of the replies to FLUSH and LOCK */
    SET_DONE_STRUCTURE = 2,
    INFO_FILE = 1,
    BASIC_SIZE = 40,
    RENAME_FIXED = 20
};

static void begin_change(struct smb2_call *call, const struct smb2_target *target,
                         const uint8_t *file_id, enum smb2_command command, size_t body_size);
static struct outcome end_change(struct smb2_call *call, uint16_t structure);
static void begin_set(struct smb2_call *call, const struct smb2_target *target,
                      const uint8_t *file_id, enum smb2_file_information class, uint32_t size);

struct outcome smb2_flush(const struct smb2_target *target, const uint8_t *file_id)
{
    struct smb2_call call;
    begin_change(&call, target, file_id, SMB2_FLUSH, FLUSH_STRUCTURE);
    smb2_put16(&call.request, FLUSH_STRUCTURE);
    smb2_put_zeros(&call.request, 6);
    smb2_put_bytes(&call.request, file_id, SMB2_FILE_ID_SIZE);
    return end_change(&call, DONE_STRUCTURE);
}

static void begin_change(struct smb2_call *call, const struct smb2_target *target,
                         const uint8_t *file_id, enum smb2_command command, size_t body_size)
{
    smb2_call_begin(call, target->connection, target->session, target->tree, command, body_size);
    call->file_id = file_id;
}

static struct outcome end_change(struct smb2_call *call, uint16_t structure)
{
    const uint8_t *body;
    int rc = smb2_call_run_body(call, structure, structure, &body);
    struct outcome outcome =
        rc ? smb2_connection_outcome(call->connection, rc) : ntstatus_outcome(call->header.status);
    smb2_call_end(call);
    return outcome;
}

struct outcome smb2_lock(const struct smb2_target *target, const uint8_t *file_id, uint64_t offset,
                         uint64_t size, uint32_t flags)
{
    struct smb2_call call;
    begin_change(&call, target, file_id, SMB2_LOCK, LOCK_STRUCTURE);
    smb2_put16(&call.request, LOCK_STRUCTURE);
    smb2_put16(&call.request, 1);
    smb2_put32(&call.request, 0);
    smb2_put_bytes(&call.request, file_id, SMB2_FILE_ID_SIZE);
    smb2_put64(&call.request, offset);
    smb2_put64(&call.request, size);
    smb2_put32(&call.request, flags);
    smb2_put32(&call.request, 0);
    return end_change(&call, DONE_STRUCTURE);
}

struct outcome smb2_set_basic(const struct smb2_target *target, const uint8_t *file_id)
{
    struct smb2_call call;
    begin_set(&call, target, file_id, SMB2_INFO_BASIC, BASIC_SIZE);
    smb2_put_zeros(&call.request, BASIC_SIZE);
    return end_change(&call, SET_DONE_STRUCTURE);
}

static void begin_set(struct smb2_call *call, const struct smb2_target *target,
                      const uint8_t *file_id, enum smb2_file_information class, uint32_t size)
{
    begin_change(call, target, file_id, SMB2_SET_INFO, SET_STRUCTURE + (size_t)size);
    call->payload = size;
    smb2_put16(&call->request, SET_STRUCTURE);
    smb2_put8(&call->request, INFO_FILE);
    smb2_put8(&call->request, (uint8_t) class);
    smb2_put32(&call->request, size);
    smb2_put16(&call->request, SET_BUFFER);
    smb2_put16(&call->request, 0);
    smb2_put32(&call->request, 0);
    smb2_put_bytes(&call->request, file_id, SMB2_FILE_ID_SIZE);
}

struct outcome smb2_set_disposition(const struct smb2_target *target, const uint8_t *file_id,
                                    bool remove)
{
    struct smb2_call call;
    begin_set(&call, target, file_id, SMB2_INFO_DISPOSITION, 1);
    smb2_put8(&call.request, remove);
    return end_change(&call, SET_DONE_STRUCTURE);
}

struct outcome smb2_set_size(const struct smb2_target *target, const uint8_t *file_id,
                             enum smb2_file_information class, uint64_t size)
{
    struct smb2_call call;
    begin_set(&call, target, file_id, class, sizeof size);
    smb2_put64(&call.request, size);
    return end_change(&call, SET_DONE_STRUCTURE);
}

/* FileRenameInformation for SMB2 (MS-FSCC 2.4.42.2). */
struct outcome smb2_set_name(const struct smb2_target *target, const uint8_t *file_id,
                             const char *name, bool replace)
{
    struct smb2_call call;
    begin_set(&call, target, file_id, SMB2_INFO_RENAME,
              (uint32_t)(RENAME_FIXED + 2 * strlen(name)));
    smb2_put8(&call.request, replace);
    smb2_put_zeros(&call.request, 15);
    smb2_put32(&call.request, 0);
    uint16_t size = smb2_put_text(&call.request, name);
    smb2_patch32(&call.request, SET_BUFFER + RENAME_FIXED - 4, size);
    smb2_patch32(&call.request, SMB2_HEADER_SIZE + 4, RENAME_FIXED + (uint32_t)size);
    return end_change(&call, SET_DONE_STRUCTURE);
}
