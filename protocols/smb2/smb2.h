/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SMB2 state of a conversation: one connection with up to two sessions (the user's and the
 * machine's), their trees and open files. Each function first opens what it needs (connection,
 * negotiation, session, tree, file), within the same operation.
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

/* The largest number of open files; opening another closes the oldest. */
enum { SMB2_OPENS_MAX = 128 };

/* An open file, directory or pipe of the user's session. */
struct smb2_open {
    uint8_t file_id[SMB2_FILE_ID_SIZE];
    uint32_t tree_id;
    uint8_t file_class; /* enum smb2_file_class; SMB2_FILE_OTHER: the scratch file */
    bool begun;         /* the listing has begun, or the pipe is bound */
    uint64_t position;  /* offset of the next read or write */
    uint64_t end_of_file;
    bool locked; /* its first byte, by smb2:10 */
};

struct smb2_state;

/* How to open a file; zeros: a policy file with the usual rights. */
struct smb2_open_request {
    enum smb2_file_class file_class;
    uint32_t access; /* in addition to the class's usual rights */
    enum smb2_oplock oplock;
    uint32_t lease;
    enum smb2_scratch_disposition disposition; /* of the scratch file */
};

/* smb2:0 and smb:0x72: opens a new connection, closing an existing one, and negotiates. */
struct outcome smb2_connect(struct conversation *conversation, bool from_smb1);

/* smb2:1: sets up a new session for the user, replacing an existing one. */
struct outcome smb2_logon(struct conversation *conversation);
/* smb2:2 */
struct outcome smb2_logoff(struct conversation *conversation);

/* smb2:3 connects a new tree; smb2:4 disconnects the newest. */
struct outcome smb2_connect_tree(struct conversation *conversation, enum smb2_share share);
struct outcome smb2_disconnect_tree(struct conversation *conversation);

/* Opens a file, even if one of its class is open. */
struct outcome smb2_open_file(struct conversation *conversation,
                              const struct smb2_open_request *request);
/* The newest open file of one of these classes (bits 1u << enum smb2_file_class), or NULL; *target
 * is where requests on it go. */
struct smb2_open *smb2_newest(struct conversation *conversation, unsigned classes,
                              struct smb2_target *target);
/* The same, but opens a file of class `usual` if there is none. */
struct outcome smb2_need_open(struct conversation *conversation, unsigned classes,
                              enum smb2_file_class usual, struct smb2_open **open,
                              struct smb2_target *target);
/* Closes a file. */
struct outcome smb2_close_file(struct conversation *conversation, struct smb2_open *open);

/* The session's tree of a share, connected if there is none. */
struct outcome smb2_need_tree(struct conversation *conversation, enum smb2_who who,
                              enum smb2_share share, struct smb2_target *target);

/* A negotiated connection; *session is the user's if it is established, else NULL. */
struct outcome smb2_need_connection(struct conversation *conversation,
                                    struct smb2_connection **connection,
                                    struct smb2_session **session);

/* Plays a packet, and a second time if it failed because the server had ended a session or a tree,
 * or closed a file. */
struct outcome smb2_play(struct conversation *conversation,
                         struct outcome (*play)(struct conversation *, const void *),
                         const void *details);

/*
 * A named pipe in IPC$ of one of the two sessions, for RPC. The caller frees it before the
 * conversation ends. A pipe is lost with its connection, session or tree: then every call fails at
 * once, and the caller opens a new one.
 */
struct smb2_pipe;

/* Opens a pipe; name has no \pipe\, such as "lsarpc". On OUTCOME_OK the caller owns *out and frees
 * it with smb2_pipe_free(). */
struct outcome smb2_pipe_open(struct conversation *conversation, enum smb2_who who,
                              const char *name, struct smb2_pipe **out);

/* False: the pipe is lost. Never waits. */
bool smb2_pipe_is_open(const struct smb2_pipe *pipe);

/* Writes one message and reads the first message of the answer, up to SMB2_MESSAGE_MAX bytes. The
 * caller frees *reply. */
struct outcome smb2_pipe_transceive(struct smb2_pipe *pipe, const uint8_t *message, size_t size,
                                    uint8_t **reply, size_t *reply_size);

/* Writes a message that has no answer (fragments before the last); reads the next message of an
 * answer, which the caller frees. */
struct outcome smb2_pipe_write(struct smb2_pipe *pipe, const uint8_t *message, size_t size);
struct outcome smb2_pipe_read(struct smb2_pipe *pipe, uint8_t **reply, size_t *reply_size);

/* Sends nothing and never waits. NULL is allowed. */
void smb2_pipe_free(struct smb2_pipe *pipe);

#endif
