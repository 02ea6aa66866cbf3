/* SPDX-License-Identifier: Apache-2.0 */
/* SMB2 TREE_CONNECT and TREE_DISCONNECT. */
#include "protocols/smb2/smb2_tree.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/little_endian.h"
#include "protocols/ntstatus.h"

enum {
    CONNECT_STRUCTURE = 9,
    CONNECT_PATH = SMB2_HEADER_SIZE + 8,
    RESPONSE_STRUCTURE = 16,
    DISCONNECT_STRUCTURE = 4,
    SHAREFLAG_ENCRYPT_DATA = 0x00008000,
    PATH_SIZE = 512
};

static void put_connect(struct smb2_writer *writer, const char *path);
static struct outcome add_tree(const struct smb2_call *call, enum smb2_share share);

int smb2_tree_connect_decode(const struct smb2_reply *reply, struct smb2_tree_connected *connected)
{
    const uint8_t *body = smb2_body(reply, RESPONSE_STRUCTURE, RESPONSE_STRUCTURE);
    if (!body)
        return -EBADMSG;
    connected->share_type = body[2];
    connected->share_flags = le_get32(body + 4);
    return 0;
}

struct outcome smb2_tree_connect(struct smb2_connection *connection, struct smb2_session *session,
                                 const char *server, const char *name, enum smb2_share share)
{
    struct smb2_call call;
    char path[PATH_SIZE];
    struct outcome outcome = outcome_ok();
    if (session->tree_count == SMB2_TREES_MAX)
        outcome = smb2_tree_disconnect(connection, session, 0);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    int length = snprintf(path, sizeof path, "\\\\%s\\%s", server, name);
    if (length < 0 || (size_t)length >= sizeof path)
        return outcome_failed("SMB2: the share's name is too long");
    smb2_call_begin(&call, connection, session, NULL, SMB2_TREE_CONNECT, 8 + 2 * (size_t)length);
    /* 3.2.4.1.1: in 3.1.1 this request is always signed. */
    call.sign = connection->dialect == 0x0311;
    put_connect(&call.request, path);
    int rc = smb2_call_run(&call);
    outcome = rc ? smb2_connection_outcome(connection, rc) : add_tree(&call, share);
    smb2_call_end(&call);
    return outcome;
}

static void put_connect(struct smb2_writer *writer, const char *path)
{
    smb2_put16(writer, CONNECT_STRUCTURE);
    smb2_put16(writer, 0);
    smb2_put16(writer, CONNECT_PATH);
    smb2_put16(writer, 0);
    uint16_t size = smb2_put_text(writer, path);
    smb2_patch16(writer, CONNECT_PATH - 2, size);
}

static struct outcome add_tree(const struct smb2_call *call, enum smb2_share share)
{
    struct smb2_connection *connection = call->connection;
    struct smb2_session *session = call->session;
    struct smb2_tree_connected connected;
    if (call->header.status != NTSTATUS_SUCCESS)
        return ntstatus_outcome(call->header.status);
    if (smb2_tree_connect_decode(&call->reply, &connected) != 0) {
        int rc = smb2_connection_complain(connection, "SMB2: malformed TREE_CONNECT");
        return smb2_connection_outcome(connection, rc);
    }
    bool encrypts = connected.share_flags & SHAREFLAG_ENCRYPT_DATA;
    if (encrypts && connection->cipher == SMB2_CIPHER_NONE)
        return outcome_failed("SMB2: no cipher in common for an encrypted share");
    session->trees[session->tree_count++] = (struct smb2_tree){
        .id = call->header.tree_id, .share = (uint8_t)share, .encrypts = encrypts};
    return outcome_ok();
}

struct outcome smb2_tree_disconnect(struct smb2_connection *connection,
                                    struct smb2_session *session, unsigned index)
{
    struct smb2_call call;
    const uint8_t *body;
    struct smb2_tree tree = session->trees[index];
    smb2_call_begin(&call, connection, session, &tree, SMB2_TREE_DISCONNECT, DISCONNECT_STRUCTURE);
    smb2_put16(&call.request, DISCONNECT_STRUCTURE);
    smb2_put16(&call.request, 0);
    int rc = smb2_call_run_body(&call, DISCONNECT_STRUCTURE, DISCONNECT_STRUCTURE, &body);
    struct outcome outcome =
        rc ? smb2_connection_outcome(connection, rc) : ntstatus_outcome(call.header.status);
    smb2_call_end(&call);
    /* The tree is not used again, whatever the server answers. */
    if (rc == 0) {
        session->tree_count--;
        memmove(&session->trees[index], &session->trees[index + 1],
                (session->tree_count - index) * sizeof session->trees[0]);
    }
    return outcome;
}

bool smb2_tree_drop_lost(struct smb2_session *session)
{
    unsigned kept = 0, before = session->tree_count;
    for (unsigned i = 0; i < before; i++)
        if (!session->trees[i].lost)
            session->trees[kept++] = session->trees[i];
    session->tree_count = kept;
    return kept < before;
}

const struct smb2_tree *smb2_tree_find(const struct smb2_session *session, enum smb2_share share)
{
    for (unsigned i = session->tree_count; i > 0; i--)
        if (session->trees[i - 1].share == share && !session->trees[i - 1].lost)
            return &session->trees[i - 1];
    return NULL;
}

const struct smb2_tree *smb2_tree_by_id(const struct smb2_session *session, uint32_t id)
{
    for (unsigned i = 0; i < session->tree_count; i++)
        if (session->trees[i].id == id && !session->trees[i].lost)
            return &session->trees[i];
    return NULL;
}
