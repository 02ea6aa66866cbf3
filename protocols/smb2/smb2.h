/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SMB2 as a conversation uses it: one connection with up to two sessions (the user's and the
 * machine's), their trees and open files. Each function opens first what it needs (connection,
 * negotiation, session, tree, file), inside the same operation, and makes a session that the server
 * ended anew.
 *
 * RPC over named pipes uses the smb2_pipe_ functions.
 */
#ifndef PROTOCOLS_SMB2_SMB2_H
#define PROTOCOLS_SMB2_SMB2_H

#include "protocols/conversation.h"
#include "protocols/packet.h"
#include "protocols/smb2/smb2_connection.h"
#include "protocols/smb2/smb2_file.h"
#include "protocols/smb2/smb2_shared_files.h"

/* Most files that a conversation has open; when one more is opened the oldest is closed. */
enum { SMB2_OPENS_MAX = 128 };

/* An open file, directory or pipe of the user's session. */
struct smb2_open {
    uint8_t file_id[SMB2_FILE_ID_SIZE];
    uint32_t tree_id;
    uint8_t file_class; /* enum smb2_file_class; SMB2_FILE_OTHER: the scratch file */
    bool begun;         /* a listing was begun, a pipe was bound */
    uint64_t position;  /* where the next read or write goes on */
    uint64_t end_of_file;
};

struct smb2_state;

/* How a file is to be opened; zeros: a policy file with the usual rights. */
struct smb2_open_request {
    enum smb2_file_class file_class;
    uint32_t access; /* 0: the class's usual rights */
    enum smb2_oplock oplock;
    uint32_t lease;
};

/* smb2:0 and smb:0x72: a new connection in place of the one there is, and NEGOTIATE on it. */
struct outcome smb2_connect(struct conversation *conversation, bool from_smb1);

/* smb2:1: a new session for the user, in place of the one there is. */
struct outcome smb2_logon(struct conversation *conversation);
/* smb2:2 */
struct outcome smb2_logoff(struct conversation *conversation);

/* smb2:3, always a new tree; smb2:4, the newest one. */
struct outcome smb2_connect_tree(struct conversation *conversation, enum smb2_share share);
struct outcome smb2_disconnect_tree(struct conversation *conversation);

/* Opens a file: always a new one. */
struct outcome smb2_open_file(struct conversation *conversation,
                              const struct smb2_open_request *request);
/* The newest open file of one of these classes (bits 1u << enum smb2_file_class), or NULL; and
 * where requests on it go. */
struct smb2_open *smb2_newest(struct conversation *conversation, unsigned classes,
                              struct smb2_target *target);
/* The same, after opening one of class `usual` when there is none. */
struct outcome smb2_need_open(struct conversation *conversation, unsigned classes,
                              enum smb2_file_class usual, struct smb2_open **open,
                              struct smb2_target *target);
/* Closes it and forgets it. */
struct outcome smb2_close_file(struct conversation *conversation, struct smb2_open *open);

/* A tree of that share in that session, connected when there is none. */
struct outcome smb2_need_tree(struct conversation *conversation, enum smb2_who who,
                              enum smb2_share share, struct smb2_target *target);

/* A negotiated connection; *session is the user's when that is established, else NULL. */
struct outcome smb2_need_connection(struct conversation *conversation,
                                    struct smb2_connection **connection,
                                    struct smb2_session **session);

/* Plays once more when the first try failed because the server had ended a session or a tree, or
 * closed a file. */
struct outcome smb2_play(struct conversation *conversation,
                         struct outcome (*play)(struct conversation *, const void *),
                         const void *details);

/*
 * A named pipe in IPC$ of one of the two sessions, for RPC. Owned by the caller, who frees it
 * before the conversation ends. A pipe is lost when its connection, session or tree is: then every
 * call fails at once, and the caller opens a new one.
 */
struct smb2_pipe;

/* name without \pipe\, such as "lsarpc". On OUTCOME_OK *out is the caller's, to be given to
 * smb2_pipe_free(). */
struct outcome smb2_pipe_open(struct conversation *conversation, enum smb2_who who,
                              const char *name, struct smb2_pipe **out);

/* False: it is lost. Never waits. */
bool smb2_pipe_is_open(const struct smb2_pipe *pipe);

/* Writes one message and reads the first one of the answer, whole, whatever its size up to
 * SMB2_MESSAGE_MAX. *reply is malloc'd, the caller's. */
struct outcome smb2_pipe_transceive(struct smb2_pipe *pipe, const uint8_t *message, size_t size,
                                    uint8_t **reply, size_t *reply_size);

/* A message without an answer (fragments before the last), the next message of an answer. */
struct outcome smb2_pipe_write(struct smb2_pipe *pipe, const uint8_t *message, size_t size);
struct outcome smb2_pipe_read(struct smb2_pipe *pipe, uint8_t **reply, size_t *reply_size);

/* Sends CLOSE; the pipe has still to be freed. */
struct outcome smb2_pipe_close(struct smb2_pipe *pipe);
/* Never waits. NULL is allowed. */
void smb2_pipe_free(struct smb2_pipe *pipe);

#endif
