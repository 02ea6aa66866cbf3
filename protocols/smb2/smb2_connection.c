/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An SMB2 connection and its calls: credits and message ids (MS-SMB2 3.2.4.1), framing, signing and
 * encryption of requests, checks of replies (3.2.5.1), interim replies, oplock and lease breaks.
 */
#include "protocols/smb2/smb2_connection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/little_endian.h"
#include "protocols/ntstatus.h"
#include "protocols/smb2/smb2_trace.h"

enum {
    CREDITS_WANTED = 64,  /* enough for the largest read */
    CREDITS_MOST = 65535, /* upper bound, whatever the server grants */
    RECEIVE_CHUNK = 4096,
    UNSOLICITED_MOST = 64 /* interim replies and breaks in a row before giving up */
};
/* An idle client keeps this and a stream. */
_Static_assert(sizeof(struct smb2_connection) <= 1024, "an SMB2 connection costs at most 1 KiB");

/* Received bytes, beginning with the rest of the last read. */
struct incoming {
    uint8_t *data;
    size_t size, capacity;
};

enum { NOT_YET = 1 };

static int connection_broken(struct smb2_connection *connection, int error);
static bool has_multi_credit(const struct smb2_connection *connection);
static int fill_header(struct smb2_call *call);
static uint16_t credit_charge(const struct smb2_call *call);
static int connection_send_request(struct smb2_call *call);
static bool call_encrypts(const struct smb2_call *call);
static bool call_signs(const struct smb2_call *call);
static int receive_reply(struct smb2_call *call);
static int receive_one(struct smb2_call *call, uint64_t message_id);
static int receive_frame(struct smb2_connection *connection, uint8_t **data, size_t *message_size);
static int incoming_begin(struct smb2_connection *connection, struct incoming *in);
static int incoming_fill(struct smb2_connection *connection, struct incoming *in, size_t wanted);
static int incoming_keep_rest(struct smb2_connection *connection, const struct incoming *in,
                              size_t used);
static int open_message(struct smb2_connection *connection, uint8_t *message, size_t size,
                        struct smb2_reply *reply, struct smb2_header *header, bool *encrypted);
static const struct smb2_session *session_by_id(const struct smb2_connection *connection,
                                                uint64_t id);
static int answer_break(struct smb2_connection *connection, const struct smb2_reply *reply,
                        const struct smb2_header *header);
static int acknowledge_break(struct smb2_connection *connection, const struct smb2_header *notice,
                             const uint8_t *body, size_t body_size);
static int check_reply(const struct smb2_call *call, bool encrypted);
static int check_protection(const struct smb2_call *call, bool encrypted);
static void note_loss(const struct smb2_call *call);

int smb2_connection_open(struct smb2_connection **out, struct conversation *conversation)
{
    *out = NULL;
    struct sockaddr_storage peer;
    socklen_t peer_size = dc_address(conversation->dc, conversation->dc->ports.smb, &peer);
    struct smb2_connection *connection = calloc(1, sizeof *connection);
    if (!connection)
        return -ENOMEM;
    int rc = stream_open(&connection->stream, &conversation->wire, STREAM_TCP,
                         (struct sockaddr *)&peer, peer_size);
    if (rc) {
        free(connection);
        return rc;
    }
    connection->credits = 1;
    connection->data = &conversation->wire.data;
    connection->client = conversation->user ? conversation->user->name : NULL;
    *out = connection;
    return 0;
}

void smb2_connection_free(struct smb2_connection *connection)
{
    if (!connection)
        return;
    stream_close(connection->stream);
    free(connection->unread);
    explicit_bzero(connection, sizeof *connection);
    free(connection);
}

int smb2_connection_complain(struct smb2_connection *connection, const char *complaint)
{
    if (!connection->complaint)
        connection->complaint = complaint;
    return connection_broken(connection, -EBADMSG);
}

static int connection_broken(struct smb2_connection *connection, int error)
{
    if (!connection->error)
        connection->error = error;
    return error;
}

struct outcome smb2_connection_outcome(const struct smb2_connection *connection, int error)
{
    if (error == -EBADMSG && connection->complaint)
        return outcome_failed("%s", connection->complaint);
    return outcome_of_error(error);
}

uint32_t smb2_connection_payload(const struct smb2_connection *connection, uint32_t negotiated,
                                 uint32_t most)
{
    uint64_t credits = 1;
    /* Keep one credit to acknowledge a break of an oplock. */
    if (has_multi_credit(connection) && connection->credits > 2)
        credits = connection->credits - 1;
    uint64_t paid = credits * SMB2_CREDIT_UNIT;
    uint64_t allowed = negotiated < paid ? negotiated : paid;
    return allowed < most ? (uint32_t)allowed : most;
}

/* Connection.SupportsMultiCredit (3.2.5.2). Without it a request has at most 64 KiB and uses one
 * credit, which its header does not state (3.2.4.1.5). */
static bool has_multi_credit(const struct smb2_connection *connection)
{
    return connection->dialect > 0x0202 && connection->capabilities & SMB2_GLOBAL_CAP_LARGE_MTU;
}

void smb2_call_begin(struct smb2_call *call, struct smb2_connection *connection,
                     struct smb2_session *session, const struct smb2_tree *tree,
                     enum smb2_command command, size_t body_size)
{
    *call = (struct smb2_call){
        .connection = connection, .session = session, .tree = tree, .command = command};
    smb2_writer_begin(&call->request, body_size);
}

int smb2_call_run(struct smb2_call *call)
{
    if (call->connection->error)
        return call->connection->error;
    int rc = call->request.error;
    if (rc == 0)
        rc = fill_header(call);
    if (rc == 0)
        rc = connection_send_request(call);
    if (rc == 0 && call->connection->data)
        call->connection->data->requests++;
    if (rc == 0)
        rc = receive_reply(call);
    if (rc)
        return rc;
    note_loss(call);
    smb2_trace(call->connection->client, call->command, call->request.size, call->reply.size,
               call->header.status);
    return 0;
}

/* 2.2.1.2. Takes the credits that the request uses. */
static int fill_header(struct smb2_call *call)
{
    struct smb2_connection *connection = call->connection;
    uint8_t *message = smb2_writer_message(&call->request);
    static const uint8_t protocol_id[4] = {0xfe, 'S', 'M', 'B'};
    uint16_t charge = credit_charge(call);
    uint32_t used = charge ? charge : 1;
    if (connection->credits < used)
        return smb2_connection_complain(connection, "SMB2: the server grants too few credits");
    uint32_t left = connection->credits - used;
    uint32_t wanted = left < CREDITS_WANTED ? CREDITS_WANTED - left : 1;
    memcpy(message, protocol_id, 4);
    le_put16(message + 4, SMB2_HEADER_SIZE);
    le_put16(message + 6, charge);
    le_put16(message + 12, (uint16_t)call->command);
    le_put16(message + 14, (uint16_t)wanted);
    le_put64(message + 24, connection->next_message_id);
    le_put32(message + 36, call->tree ? call->tree->id : 0);
    le_put64(message + 40, call->session ? call->session->id : 0);
    call->header.message_id = connection->next_message_id;
    connection->next_message_id += used;
    connection->credits = left;
    return 0;
}

static uint16_t credit_charge(const struct smb2_call *call)
{
    if (!has_multi_credit(call->connection))
        return 0;
    return (uint16_t)(call->payload > 1 ? (call->payload - 1) / SMB2_CREDIT_UNIT + 1 : 1);
}

/* Signs or encrypts the message and sends it in its frame. */
static int connection_send_request(struct smb2_call *call)
{
    struct smb2_connection *connection = call->connection;
    struct smb2_session *session = call->session;
    uint8_t *message = smb2_writer_message(&call->request);
    uint8_t *frame = message - SMB2_FRAME_SIZE;
    size_t size = call->request.size;
    if (call_encrypts(call)) {
        frame = call->request.buffer;
        smb2_encrypt(session->keys.to_server, connection->cipher, session->nonce++, session->id,
                     frame + SMB2_FRAME_SIZE, size);
        size += SMB2_TRANSFORM_SIZE;
    } else if (call_signs(call)) {
        le_put32(message + 16, SMB2_FLAGS_SIGNED);
        smb2_sign_message(session->keys.signing, connection->signing, message, size);
    }
    frame[0] = 0;
    frame[1] = (uint8_t)(size >> 16);
    frame[2] = (uint8_t)(size >> 8);
    frame[3] = (uint8_t)size;
    int rc = stream_write(connection->stream, frame, SMB2_FRAME_SIZE + size);
    return rc ? connection_broken(connection, rc) : 0;
}

static bool call_encrypts(const struct smb2_call *call)
{
    return call->session && call->session->established && call->command != SMB2_SESSION_SETUP &&
           (call->session->encrypts || (call->tree && call->tree->encrypts));
}

static bool call_signs(const struct smb2_call *call)
{
    return call->session && call->session->established && call->command != SMB2_SESSION_SETUP &&
           (call->session->signs || call->sign);
}

static int receive_reply(struct smb2_call *call)
{
    uint64_t message_id = call->header.message_id;
    for (int i = 0; i < UNSOLICITED_MOST; i++) {
        int rc = receive_one(call, message_id);
        if (rc != NOT_YET)
            return rc;
    }
    return smb2_connection_complain(call->connection, "SMB2: no reply, only interim ones");
}

static const uint64_t message_id_break = UINT64_MAX;

/* Receives one message. 0: it is the call's reply; NOT_YET: another message, which was handled. */
static int receive_one(struct smb2_call *call, uint64_t message_id)
{
    struct smb2_connection *connection = call->connection;
    size_t size = 0;
    bool encrypted = false;
    int rc = receive_frame(connection, &call->received, &size);
    if (rc == 0)
        rc = open_message(connection, call->received + SMB2_FRAME_SIZE, size, &call->reply,
                          &call->header, &encrypted);
    if (rc)
        return rc;
    uint32_t credits = connection->credits + call->header.credits;
    connection->credits = credits < CREDITS_MOST ? credits : CREDITS_MOST;
    /* A break, or the reply to the acknowledgement of one. */
    bool notice =
        call->header.command == SMB2_OPLOCK_BREAK && call->header.message_id != message_id;
    if (notice && call->header.message_id == message_id_break)
        rc = answer_break(connection, &call->reply, &call->header);
    else if (call->header.message_id != message_id && !notice)
        rc = smb2_connection_complain(connection, "SMB2: reply to another request");
    else if (!notice && !(call->header.status == NTSTATUS_PENDING &&
                          (call->header.flags & SMB2_FLAGS_ASYNC_COMMAND)))
        return check_reply(call, encrypted);
    free(call->received);
    call->received = NULL;
    return rc ? rc : NOT_YET;
}

/* Receives a frame into *data, which the caller frees; the message begins at SMB2_FRAME_SIZE. */
static int receive_frame(struct smb2_connection *connection, uint8_t **data, size_t *message_size)
{
    struct incoming in = {0};
    int rc = incoming_begin(connection, &in);
    if (rc == 0)
        rc = incoming_fill(connection, &in, SMB2_FRAME_SIZE);
    size_t size = 0;
    if (rc == 0) {
        size = (size_t)in.data[1] << 16 | (size_t)in.data[2] << 8 | in.data[3];
        if (in.data[0] != 0 || size < SMB2_HEADER_SIZE || size > SMB2_MESSAGE_MAX)
            rc = smb2_connection_complain(connection, "SMB2: malformed frame");
    }
    if (rc == 0)
        rc = incoming_fill(connection, &in, SMB2_FRAME_SIZE + size);
    if (rc == 0)
        rc = incoming_keep_rest(connection, &in, SMB2_FRAME_SIZE + size);
    if (rc) {
        free(in.data);
        return rc;
    }
    *data = in.data;
    *message_size = size;
    return 0;
}

static int incoming_begin(struct smb2_connection *connection, struct incoming *in)
{
    in->capacity =
        connection->unread_size > RECEIVE_CHUNK ? connection->unread_size : RECEIVE_CHUNK;
    in->data = malloc(in->capacity);
    if (!in->data)
        return connection_broken(connection, -ENOMEM);
    if (connection->unread_size)
        memcpy(in->data, connection->unread, connection->unread_size);
    in->size = connection->unread_size;
    free(connection->unread);
    connection->unread = NULL;
    connection->unread_size = 0;
    return 0;
}

static int incoming_fill(struct smb2_connection *connection, struct incoming *in, size_t wanted)
{
    if (wanted > in->capacity) {
        uint8_t *grown = realloc(in->data, wanted);
        if (!grown)
            return connection_broken(connection, -ENOMEM);
        in->data = grown;
        in->capacity = wanted;
    }
    while (in->size < wanted) {
        ssize_t n = stream_read(connection->stream, in->data + in->size, in->capacity - in->size);
        if (n <= 0)
            return connection_broken(connection, n == 0 ? -ENODATA : (int)n);
        in->size += (size_t)n;
    }
    return 0;
}

/* Bytes after the message belong to the next one. */
static int incoming_keep_rest(struct smb2_connection *connection, const struct incoming *in,
                              size_t used)
{
    size_t rest = in->size - used;
    if (!rest)
        return 0;
    connection->unread = malloc(rest);
    if (!connection->unread)
        return connection_broken(connection, -ENOMEM);
    memcpy(connection->unread, in->data + used, rest);
    connection->unread_size = rest;
    return 0;
}

/* Decrypts the message, if it is encrypted, and reads its header. */
static int open_message(struct smb2_connection *connection, uint8_t *message, size_t size,
                        struct smb2_reply *reply, struct smb2_header *header, bool *encrypted)
{
    *encrypted = message[0] == 0xfd;
    if (*encrypted) {
        const struct smb2_session *session = NULL;
        if (size > SMB2_TRANSFORM_SIZE)
            session = session_by_id(connection, le_get64(message + 44));
        if (!session ||
            smb2_decrypt(session->keys.to_client, connection->cipher, message, size) != 0)
            return smb2_connection_complain(connection, "SMB2: reply cannot be decrypted");
        message += SMB2_TRANSFORM_SIZE;
        size -= SMB2_TRANSFORM_SIZE;
    }
    *reply = (struct smb2_reply){message, size};
    if (smb2_header_decode(reply, header) != 0 || !(header->flags & SMB2_FLAGS_SERVER_TO_REDIR))
        return smb2_connection_complain(connection, "SMB2: malformed header");
    /* 3.3.4.1.3: only replies to compounded requests may be compounded; we send none. */
    if (header->next_command != 0)
        return smb2_connection_complain(connection, "SMB2: unexpected compounded replies");
    return 0;
}

static const struct smb2_session *session_by_id(const struct smb2_connection *connection,
                                                uint64_t id)
{
    for (size_t i = 0; i < SMB2_WHO_COUNT; i++)
        if (connection->sessions[i].established && connection->sessions[i].id == id)
            return &connection->sessions[i];
    return NULL;
}

/* 3.2.5.19: the server breaks an oplock (StructureSize 24) or a lease (44). */
static int answer_break(struct smb2_connection *connection, const struct smb2_reply *reply,
                        const struct smb2_header *header)
{
    const uint8_t *body = smb2_body(reply, 24, 24);
    if (body) {
        uint8_t ack[24] = {24, 0, body[2]};
        memcpy(ack + 8, body + 8, SMB2_FILE_ID_SIZE);
        /* A break from level II to none needs no acknowledgement, but the notice does not show the
         * old level. Servers answer with an error then, which is ignored. */
        return acknowledge_break(connection, header, ack, sizeof ack);
    }
    body = smb2_body(reply, 44, 44);
    if (!body)
        return smb2_connection_complain(connection, "SMB2: malformed oplock break");
    if (!(le_get32(body + 4) & 1)) /* SMB2_NOTIFY_BREAK_LEASE_FLAG_ACK_REQUIRED */
        return 0;
    uint8_t ack[36] = {36, 0};
    memcpy(ack + 8, body + 8, 16);  /* LeaseKey */
    memcpy(ack + 24, body + 28, 4); /* NewLeaseState */
    return acknowledge_break(connection, header, ack, sizeof ack);
}

/* Sends a message without waiting for the reply, which is ignored when it arrives. */
static int acknowledge_break(struct smb2_connection *connection, const struct smb2_header *notice,
                             const uint8_t *body, size_t body_size)
{
    struct smb2_session *session =
        (struct smb2_session *)(uintptr_t)session_by_id(connection, notice->session_id);
    struct smb2_tree tree = {.id = notice->tree_id};
    struct smb2_call call;
    if (!session)
        session = &connection->sessions[SMB2_USER];
    if (!session->established)
        return 0;
    /* The notice may not name the tree: take the session's newest, for its encryption. */
    if (notice->tree_id == 0 && session->tree_count)
        tree = session->trees[session->tree_count - 1];
    smb2_call_begin(&call, connection, session, &tree, SMB2_OPLOCK_BREAK, body_size);
    smb2_put_bytes(&call.request, body, body_size);
    int rc = call.request.error;
    if (rc == 0)
        rc = fill_header(&call);
    if (rc == 0)
        rc = connection_send_request(&call);
    smb2_call_end(&call);
    return rc;
}

static int check_reply(const struct smb2_call *call, bool encrypted)
{
    struct smb2_connection *connection = call->connection;
    if (call->header.command != call->command)
        return smb2_connection_complain(connection, "SMB2: reply to another command");
    int rc = check_protection(call, encrypted);
    if (rc == 0 && call->session && call->session->established &&
        call->command != SMB2_SESSION_SETUP && call->header.session_id != call->session->id)
        rc = smb2_connection_complain(connection, "SMB2: reply of another session");
    return rc;
}

/* 3.2.5.1.3: required signatures must be present, and any signature must verify. */
static int check_protection(const struct smb2_call *call, bool encrypted)
{
    struct smb2_connection *connection = call->connection;
    if (encrypted)
        return 0;
    bool deleted = call->header.status == NTSTATUS_USER_SESSION_DELETED;
    if (call_encrypts(call) && !deleted)
        return smb2_connection_complain(connection, "SMB2: reply is not encrypted");
    /* smb2_session.c verifies the replies to SESSION_SETUP. */
    if (!call->session || !call->session->established || call->command == SMB2_SESSION_SETUP)
        return 0;
    /* The server has no key for a session that it no longer knows; Samba sets the flag anyway. */
    if (deleted)
        return 0;
    bool is_signed = call->header.flags & SMB2_FLAGS_SIGNED;
    if (!is_signed && call_signs(call))
        return smb2_connection_complain(connection, "SMB2: reply is not signed");
    if (is_signed && !smb2_signature_valid(call->session->keys.signing, connection->signing,
                                           call->reply.message, call->reply.size))
        return smb2_connection_complain(connection, "SMB2: signature does not verify");
    return 0;
}

/* Notes what the server ended, so that its next user opens it again: a session that expired or was
 * deleted, a tree whose share was closed (3.3.5.11 and others), a file. */
static void note_loss(const struct smb2_call *call)
{
    struct smb2_session *session = call->session;
    uint32_t status = call->header.status;
    if (!session)
        return;
    if (status == NTSTATUS_USER_SESSION_DELETED || status == NTSTATUS_NETWORK_SESSION_EXPIRED) {
        session->established = false;
        session->lost = true;
    } else if (status == NTSTATUS_NETWORK_NAME_DELETED && call->tree) {
        for (unsigned i = 0; i < session->tree_count; i++)
            session->trees[i].lost |= session->trees[i].id == call->tree->id;
    } else if (status == NTSTATUS_FILE_CLOSED && call->file_id) {
        session->file_lost = true;
        memcpy(session->lost_file, call->file_id, sizeof session->lost_file);
    }
}

void smb2_call_end(struct smb2_call *call)
{
    smb2_writer_free(&call->request);
    free(call->received);
    call->received = NULL;
}

int smb2_call_run_body(struct smb2_call *call, uint16_t structure_size, size_t fixed,
                       const uint8_t **body)
{
    *body = NULL;
    int rc = smb2_call_run(call);
    if (rc || call->header.status != NTSTATUS_SUCCESS)
        return rc;
    *body = smb2_body(&call->reply, structure_size, fixed);
    return *body ? 0 : smb2_connection_complain(call->connection, "SMB2: malformed reply");
}

int smb2_connection_exchange_raw(struct smb2_connection *connection, const uint8_t *frame,
                                 size_t size, struct smb2_call *call)
{
    *call = (struct smb2_call){.connection = connection, .command = SMB2_NEGOTIATE};
    int rc = stream_write(connection->stream, frame, size);
    if (rc)
        return connection_broken(connection, rc);
    call->header.message_id = 0;
    connection->credits = 0;
    rc = receive_reply(call);
    connection->next_message_id = 1;
    return rc;
}
