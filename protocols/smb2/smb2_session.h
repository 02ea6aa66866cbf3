/* SPDX-License-Identifier: Apache-2.0 */
/* SMB2 SESSION_SETUP and LOGOFF (MS-SMB2 2.2.5 to 2.2.8, 3.2.4.2.3, 3.2.5.3). */
#ifndef PROTOCOLS_SMB2_SMB2_SESSION_H
#define PROTOCOLS_SMB2_SMB2_SESSION_H

#include "protocols/smb2/smb2_connection.h"

/* A SESSION_SETUP response. */
struct smb2_setup {
    uint16_t flags; /* SMB2_SESSION_FLAG_... */
    struct smb2_slice token;
};
enum { SMB2_SESSION_IS_GUEST = 1, SMB2_SESSION_IS_NULL = 2, SMB2_SESSION_ENCRYPT_DATA = 4 };

/* -EBADMSG: malformed. */
int smb2_session_setup_decode(const struct smb2_reply *reply, struct smb2_setup *setup);

/*
 * Establishes the session of `who`, which must not be established yet, on a negotiated connection.
 * Derives its keys and verifies the signature of the last response. The conversation's state
 * selects Kerberos or NTLM. wrong_password: the server is expected to refuse.
 */
struct outcome smb2_session_setup(struct smb2_connection *connection,
                                  struct conversation *conversation, enum smb2_who who,
                                  bool wrong_password);

/* Sends LOGOFF. On OUTCOME_OK the session is cleared. */
struct outcome smb2_session_logoff(struct smb2_connection *connection,
                                   struct smb2_session *session);

#endif
