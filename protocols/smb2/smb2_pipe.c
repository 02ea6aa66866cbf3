/* SPDX-License-Identifier: Apache-2.0 */
/* Named pipes for RPC, in IPC$ of the user's or the machine's session. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/ntstatus.h"
#include "protocols/smb2/smb2.h"
#include "protocols/smb2/smb2_private.h"
#include "protocols/smb2/smb2_tree.h"

enum {
    PIPE_ACCESS = 0x0012019f,
    PIPE_SHARE = 3,
    /* As a Windows client requests; the rest of a longer message is read with READ. */
    PIPE_OUTPUT_MAX = 4280
};

struct smb2_pipe {
    struct conversation *conversation;
    enum smb2_who who;
    uint32_t generation;
    uint32_t tree_id;
    uint8_t file_id[SMB2_FILE_ID_SIZE];
};

struct open_request {
    enum smb2_who who;
    const char *name;
    struct smb2_pipe *pipe;
};

/* A message assembled from its parts. */
struct message {
    uint8_t *data;
    size_t size;
};

static struct outcome open_pipe(struct conversation *conversation, const void *details);
static bool find_target(const struct smb2_pipe *pipe, struct smb2_target *target);
static struct outcome pipe_lost(void);
static struct outcome pipe_finish(const struct smb2_target *target, const struct smb2_pipe *pipe,
                                  struct smb2_data *part, uint8_t **reply, size_t *reply_size);
static struct outcome pipe_complete(const struct smb2_target *target, const struct smb2_pipe *pipe,
                                    struct smb2_data *part, struct message *message);
static int pipe_append(struct message *message, const struct smb2_data *part);
static struct outcome read_part(const struct smb2_target *target, const struct smb2_pipe *pipe,
                                struct smb2_data *part);

bool smb2_pipe_is_open(const struct smb2_pipe *pipe)
{
    const struct smb2_state *state = pipe->conversation->smb2;
    if (!state || !state->connection || state->connection->error ||
        state->generation[pipe->who] != pipe->generation)
        return false;
    const struct smb2_session *session = &state->connection->sessions[pipe->who];
    return session->established && smb2_tree_by_id(session, pipe->tree_id);
}

struct outcome smb2_pipe_open(struct conversation *conversation, enum smb2_who who,
                              const char *name, struct smb2_pipe **out)
{
    *out = NULL;
    struct smb2_pipe *pipe = calloc(1, sizeof *pipe);
    if (!pipe)
        return outcome_of_error(-ENOMEM);
    pipe->conversation = conversation;
    pipe->who = who;
    struct open_request request = {.who = who, .name = name, .pipe = pipe};
    struct outcome outcome = smb2_play(conversation, open_pipe, &request);
    if (outcome.kind == OUTCOME_OK)
        *out = pipe;
    else
        free(pipe);
    return outcome;
}

static struct outcome open_pipe(struct conversation *conversation, const void *details)
{
    const struct open_request *request = details;
    struct smb2_pipe *pipe = request->pipe;
    struct smb2_target target;
    struct smb2_created created;
    struct smb2_create create = {.name = request->name,
                                 .access = PIPE_ACCESS,
                                 .share_access = PIPE_SHARE,
                                 .disposition = SMB2_OPEN};
    struct outcome outcome = smb2_need_tree(conversation, request->who, SMB2_SHARE_IPC, &target);
    if (outcome.kind == OUTCOME_OK)
        outcome = smb2_create(&target, &create, &created);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    pipe->generation = conversation->smb2->generation[request->who];
    pipe->tree_id = target.tree->id;
    memcpy(pipe->file_id, created.file_id, sizeof pipe->file_id);
    return outcome;
}

struct outcome smb2_pipe_transceive(struct smb2_pipe *pipe, const uint8_t *message, size_t size,
                                    uint8_t **reply, size_t *reply_size)
{
    struct smb2_target target;
    struct smb2_data part;
    if (!find_target(pipe, &target))
        return pipe_lost();
    if (size > SMB2_CREDIT_UNIT)
        return outcome_failed("SMB2: pipe message is too long");
    struct outcome outcome = smb2_ioctl(&target, pipe->file_id, SMB2_FSCTL_PIPE_TRANSCEIVE, message,
                                        (uint32_t)size, PIPE_OUTPUT_MAX, &part);
    if (outcome.kind == OUTCOME_OK)
        outcome = pipe_finish(&target, pipe, &part, reply, reply_size);
    return outcome;
}

static bool find_target(const struct smb2_pipe *pipe, struct smb2_target *target)
{
    if (!smb2_pipe_is_open(pipe))
        return false;
    target->connection = pipe->conversation->smb2->connection;
    target->session = &target->connection->sessions[pipe->who];
    target->tree = smb2_tree_by_id(target->session, pipe->tree_id);
    return true;
}

static struct outcome pipe_lost(void)
{
    return outcome_failed("SMB2: the pipe's session is gone");
}

static struct outcome pipe_finish(const struct smb2_target *target, const struct smb2_pipe *pipe,
                                  struct smb2_data *part, uint8_t **reply, size_t *reply_size)
{
    struct message message = {0};
    struct outcome outcome = pipe_complete(target, pipe, part, &message);
    if (outcome.kind != OUTCOME_OK) {
        free(message.data);
        return outcome;
    }
    *reply = message.data;
    *reply_size = message.size;
    return outcome;
}

/* Appends a part, and reads more parts until the message is complete. */
static struct outcome pipe_complete(const struct smb2_target *target, const struct smb2_pipe *pipe,
                                    struct smb2_data *part, struct message *message)
{
    for (;;) {
        bool more = part->status == NTSTATUS_BUFFER_OVERFLOW;
        bool empty = part->size == 0;
        int rc = pipe_append(message, part);
        smb2_data_free(part);
        if (rc == -EMSGSIZE)
            return outcome_failed("SMB2: pipe message is too long");
        if (rc)
            return outcome_of_error(rc);
        if (!more)
            return outcome_ok();
        if (empty)
            return outcome_failed("SMB2: pipe message does not end");
        struct outcome outcome = read_part(target, pipe, part);
        if (outcome.kind != OUTCOME_OK)
            return outcome;
    }
}

static int pipe_append(struct message *message, const struct smb2_data *part)
{
    if (part->size > SMB2_MESSAGE_MAX - message->size)
        return -EMSGSIZE;
    uint8_t *grown = realloc(message->data, message->size + part->size + 1);
    if (!grown)
        return -ENOMEM;
    if (part->size)
        memcpy(grown + message->size, part->data, part->size);
    message->data = grown;
    message->size += part->size;
    return 0;
}

static struct outcome read_part(const struct smb2_target *target, const struct smb2_pipe *pipe,
                                struct smb2_data *part)
{
    const struct smb2_connection *connection = target->connection;
    uint32_t most = smb2_connection_payload(connection, connection->max_read, SMB2_CREDIT_UNIT);
    return smb2_read(target, pipe->file_id, 0, most, part);
}

struct outcome smb2_pipe_write(struct smb2_pipe *pipe, const uint8_t *message, size_t size)
{
    struct smb2_target target;
    uint32_t written = 0;
    if (!find_target(pipe, &target))
        return pipe_lost();
    if (size > SMB2_CREDIT_UNIT)
        return outcome_failed("SMB2: pipe message is too long");
    struct outcome outcome =
        smb2_write(&target, pipe->file_id, 0, message, (uint32_t)size, &written);
    if (outcome.kind == OUTCOME_OK && written != size)
        outcome = outcome_failed("SMB2: the pipe accepted only part of a message");
    return outcome;
}

struct outcome smb2_pipe_read(struct smb2_pipe *pipe, uint8_t **reply, size_t *reply_size)
{
    struct smb2_target target;
    struct smb2_data part;
    if (!find_target(pipe, &target))
        return pipe_lost();
    struct outcome outcome = read_part(&target, pipe, &part);
    if (outcome.kind == OUTCOME_OK)
        outcome = pipe_finish(&target, pipe, &part, reply, reply_size);
    return outcome;
}

void smb2_pipe_free(struct smb2_pipe *pipe)
{
    free(pipe);
}
