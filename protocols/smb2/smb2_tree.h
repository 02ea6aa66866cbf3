/* SPDX-License-Identifier: Apache-2.0 */
/* SMB2 TREE_CONNECT and TREE_DISCONNECT (MS-SMB2 2.2.9 to 2.2.12, 3.2.5.5). */
#ifndef PROTOCOLS_SMB2_SMB2_TREE_H
#define PROTOCOLS_SMB2_SMB2_TREE_H

#include "protocols/smb2/smb2_connection.h"

struct smb2_tree_connected {
    uint8_t share_type;   /* 1 disk, 2 pipe, 3 print */
    uint32_t share_flags; /* SMB2_SHAREFLAG_ENCRYPT_DATA = 0x8000 */
};

int smb2_tree_connect_decode(const struct smb2_reply *reply, struct smb2_tree_connected *connected);

/* Connects to \\server\name as the session's newest tree. When the session has SMB2_TREES_MAX
 * already, the oldest is disconnected first. */
struct outcome smb2_tree_connect(struct smb2_connection *connection, struct smb2_session *session,
                                 const char *server, const char *name, enum smb2_share share);

/* Disconnects one of the session's trees. */
struct outcome smb2_tree_disconnect(struct smb2_connection *connection,
                                    struct smb2_session *session, unsigned index);

/* Forgets the session's trees that are marked as lost. False: there were none. */
bool smb2_tree_drop_lost(struct smb2_session *session);

/* The session's newest tree of that share, or NULL; a lost one is none. */
const struct smb2_tree *smb2_tree_find(const struct smb2_session *session, enum smb2_share share);
/* ... of that id, or NULL. */
const struct smb2_tree *smb2_tree_by_id(const struct smb2_session *session, uint32_t id);

#endif
