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

/* Connects to \\server\name, which becomes the session's newest tree. Disconnects the oldest first
 * if the session has SMB2_TREES_MAX trees. */
struct outcome smb2_tree_connect(struct smb2_connection *connection, struct smb2_session *session,
                                 const char *server, const char *name, enum smb2_share share);

/* Disconnects one of the session's trees. */
struct outcome smb2_tree_disconnect(struct smb2_connection *connection,
                                    struct smb2_session *session, unsigned index);

/* Drops the session's lost trees. False: there were none. */
bool smb2_tree_drop_lost(struct smb2_session *session);

/* The session's newest tree of a share that is not lost, or NULL. */
const struct smb2_tree *smb2_tree_find(const struct smb2_session *session, enum smb2_share share);
/* The session's tree with this id, or NULL. */
const struct smb2_tree *smb2_tree_by_id(const struct smb2_session *session, uint32_t id);

#endif
