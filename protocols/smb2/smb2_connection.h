/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One SMB2 connection (MS-SMB2 3.2.1.2): its stream, the result of NEGOTIATE, credits, and the
 * sessions of the user and of the machine; and a call: one request and its reply.
 *
 *     closed -> open (TCP) -> negotiated -> sessions begin and end -> broken or closed
 *
 * After the first failure below SMB2 (timeout, reset, malformed or unverifiable reply) a connection
 * is broken: every call returns the same failure, and the connection must be freed.
 */
#ifndef PROTOCOLS_SMB2_SMB2_CONNECTION_H
#define PROTOCOLS_SMB2_SMB2_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "packets/packet_words.h"
#include "protocols/conversation.h"
#include "protocols/packet.h"
#include "protocols/smb2/smb2_crypto.h"
#include "protocols/smb2/smb2_wire.h"
#include "protocols/stream.h"

enum {
    SMB2_TREES_MAX = 8,                        /* of a session at the same time */
    SMB2_IO_MAX = 1 << 20,                     /* upper bound on data in one request */
    SMB2_MESSAGE_MAX = (1 << 20) + (64 << 10), /* longest reply accepted */
    SMB2_CREDIT_UNIT = 1 << 16                 /* bytes that one credit pays for (3.1.5.2) */
};

enum { SMB2_GLOBAL_CAP_LARGE_MTU = 0x04 }; /* 2.2.4: multi-credit requests */

enum smb2_who { SMB2_USER, SMB2_MACHINE, SMB2_WHO_COUNT };

struct smb2_tree {
    uint32_t id;
    uint8_t share; /* enum smb2_share */
    bool encrypts; /* the share requires encryption */
    bool lost;     /* the server ended it */
};

struct smb2_session {
    uint64_t id;
    bool established;
    bool lost;     /* the server ended it: expired or deleted */
    bool signs;    /* every request and reply is signed */
    bool encrypts; /* every request and reply is encrypted */
    uint64_t nonce;
    struct smb2_keys keys;
    unsigned tree_count;
    struct smb2_tree trees[SMB2_TREES_MAX]; /* oldest first */
    bool file_lost;                         /* the server closed lost_file */
    uint8_t lost_file[SMB2_FILE_ID_SIZE];
};

struct smb2_connection {
    struct stream *stream;
    const char *client;     /* the account, for smb2_trace(); may be NULL */
    struct wire_data *data; /* of the client's wire: what its current packet moves */
    int error;              /* negative errno: broken */
    const char *complaint;  /* the cause, if it is the server's fault */
    /* The result of NEGOTIATE. */
    uint16_t dialect; /* 0: not negotiated */
    uint16_t security_mode;
    uint32_t capabilities;
    uint32_t max_transact, max_read, max_write;
    enum smb2_cipher cipher;
    enum smb2_signing signing;
    uint8_t client_guid[16];
    uint8_t preauth[SMB2_PREAUTH_SIZE]; /* after NEGOTIATE; each session starts with it */
    uint64_t next_message_id;
    uint32_t credits;
    struct smb2_session sessions[SMB2_WHO_COUNT];
    /* Received bytes of the next message. */
    uint8_t *unread;
    size_t unread_size;
};

/* Connects to the DC without sending anything. The caller owns *out and frees it with
 * smb2_connection_free(). */
int smb2_connection_open(struct smb2_connection **out, struct conversation *conversation);
/* Closes and frees; never waits. NULL is allowed. */
void smb2_connection_free(struct smb2_connection *connection);

/* Marks the connection as broken and returns -EBADMSG. complaint is the cause, a static text. */
int smb2_connection_complain(struct smb2_connection *connection, const char *complaint);
/* The outcome for a negative errno of a call: the complaint, or the stream's failure. */
struct outcome smb2_connection_outcome(const struct smb2_connection *connection, int error);

/* The largest payload that the available credits allow, keeping one for an acknowledgement; at most
 * `most` and the negotiated maximum. */
uint32_t smb2_connection_payload(const struct smb2_connection *connection, uint32_t negotiated,
                                 uint32_t most);

/* One request and its reply. */
struct smb2_call {
    struct smb2_connection *connection;
    struct smb2_session *session; /* NULL: none yet */
    const struct smb2_tree *tree; /* NULL: none */
    const uint8_t *file_id;       /* of the open file; NULL: none */
    enum smb2_command command;
    uint32_t payload; /* larger of request and expected reply: determines the credit charge */
    bool sign;        /* even if the session does not sign */
    struct smb2_writer request;
    /* Valid after smb2_call_run() returned 0. */
    struct smb2_header header;
    struct smb2_reply reply;
    uint8_t *received; /* owns the reply's bytes */
};

/* Begins a request; the caller then writes the body to call->request. */
void smb2_call_begin(struct smb2_call *call, struct smb2_connection *connection,
                     struct smb2_session *session, const struct smb2_tree *tree,
                     enum smb2_command command, size_t body_size);
/*
 * Sends the request, waits for the reply, decrypts or verifies it. Handles interim replies and
 * breaks of oplocks and leases. 0: call->header.status is the server's answer; otherwise a negative
 * errno for smb2_connection_outcome().
 */
int smb2_call_run(struct smb2_call *call);
void smb2_call_end(struct smb2_call *call);

/* Like smb2_call_run(), and sets *body to the reply's body. If the status is not 0, *body is NULL
 * and the result 0. -EBADMSG: the body has another StructureSize or is too short. */
int smb2_call_run_body(struct smb2_call *call, uint16_t structure_size, size_t fixed,
                       const uint8_t **body);

/* Sends the SMB1 negotiate and reads the SMB2 reply to it. */
int smb2_connection_exchange_raw(struct smb2_connection *connection, const uint8_t *frame,
                                 size_t size, struct smb2_call *call);

#endif
