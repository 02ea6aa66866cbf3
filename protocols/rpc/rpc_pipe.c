/* SPDX-License-Identifier: Apache-2.0 */
/* RPC over a named pipe of the conversation's SMB2 connection (ncacn_np). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/rpc/rpc_transport.h"

struct pipe_transport {
    struct rpc_transport base;
    struct smb2_pipe *pipe;
    uint8_t *message; /* [at, size) is not read yet */
    size_t size, at;
    char cause[OUTCOME_CAUSE_SIZE];
};

static int pipe_send(struct rpc_transport *transport, const uint8_t *data, size_t size,
                     bool answered);
static void drop_message(struct pipe_transport *pipe);
static int pipe_failed(struct pipe_transport *pipe, const struct outcome *outcome);
static int pipe_receive(struct rpc_transport *transport, uint8_t *data, size_t size);
static const char *pipe_cause(const struct rpc_transport *transport);
static bool pipe_is_open(const struct rpc_transport *transport);
static void pipe_close(struct rpc_transport *transport);

static const struct rpc_transport_ops pipe_ops = {.send = pipe_send,
                                                  .receive = pipe_receive,
                                                  .cause = pipe_cause,
                                                  .is_open = pipe_is_open,
                                                  .close = pipe_close};

struct outcome rpc_pipe_open(struct conversation *conversation, enum smb2_who who, const char *name,
                             struct rpc_transport **out)
{
    *out = NULL;
    struct pipe_transport *pipe = calloc(1, sizeof *pipe);
    if (!pipe)
        return outcome_of_error(-ENOMEM);
    pipe->base.ops = &pipe_ops;
    struct outcome outcome = smb2_pipe_open(conversation, who, name, &pipe->pipe);
    if (outcome.kind == OUTCOME_OK)
        *out = &pipe->base;
    else
        free(pipe);
    return outcome;
}

static int pipe_send(struct rpc_transport *transport, const uint8_t *data, size_t size,
                     bool answered)
{
    struct pipe_transport *pipe = (struct pipe_transport *)transport;
    drop_message(pipe);
    struct outcome outcome =
        answered ? smb2_pipe_transceive(pipe->pipe, data, size, &pipe->message, &pipe->size)
                 : smb2_pipe_write(pipe->pipe, data, size);
    return outcome.kind == OUTCOME_OK ? 0 : pipe_failed(pipe, &outcome);
}

static void drop_message(struct pipe_transport *pipe)
{
    free(pipe->message);
    pipe->message = NULL;
    pipe->size = pipe->at = 0;
}

static int pipe_failed(struct pipe_transport *pipe, const struct outcome *outcome)
{
    if (outcome->kind == OUTCOME_UNFINISHED)
        return -ECANCELED;
    memcpy(pipe->cause, outcome->cause, sizeof pipe->cause);
    return -EIO;
}

static int pipe_receive(struct rpc_transport *transport, uint8_t *data, size_t size)
{
    struct pipe_transport *pipe = (struct pipe_transport *)transport;
    while (size > 0) {
        if (pipe->at == pipe->size) {
            drop_message(pipe);
            struct outcome outcome = smb2_pipe_read(pipe->pipe, &pipe->message, &pipe->size);
            if (outcome.kind != OUTCOME_OK)
                return pipe_failed(pipe, &outcome);
            if (pipe->size == 0)
                return -ENODATA;
        }
        size_t part = pipe->size - pipe->at < size ? pipe->size - pipe->at : size;
        memcpy(data, pipe->message + pipe->at, part);
        pipe->at += part;
        data += part;
        size -= part;
    }
    return 0;
}

static const char *pipe_cause(const struct rpc_transport *transport)
{
    const struct pipe_transport *pipe = (const struct pipe_transport *)transport;
    return pipe->cause[0] ? pipe->cause : NULL;
}

static bool pipe_is_open(const struct rpc_transport *transport)
{
    return smb2_pipe_is_open(((const struct pipe_transport *)transport)->pipe);
}

static void pipe_close(struct rpc_transport *transport)
{
    struct pipe_transport *pipe = (struct pipe_transport *)transport;
    drop_message(pipe);
    smb2_pipe_free(pipe->pipe);
    free(pipe);
}
