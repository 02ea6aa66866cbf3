/* SPDX-License-Identifier: Apache-2.0 */
/* SMB2 NEGOTIATE (MS-SMB2 2.2.3, 2.2.4), with negotiate contexts, and the SMB1 negotiate that leads
 * to it. */
#ifndef PROTOCOLS_SMB2_SMB2_NEGOTIATE_H
#define PROTOCOLS_SMB2_SMB2_NEGOTIATE_H

#include "protocols/smb2/smb2_connection.h"

/* A NEGOTIATE response. */
struct smb2_negotiated {
    uint16_t security_mode;
    uint16_t dialect;
    uint32_t capabilities;
    uint32_t max_transact, max_read, max_write;
    enum smb2_cipher cipher;
    enum smb2_signing signing;
    struct smb2_slice token; /* the server's SPNEGO offer */
};

enum { SMB2_NEGOTIATE_SIGNING_REQUIRED = 2, SMB2_GLOBAL_CAP_ENCRYPTION = 0x40 };

/* -EBADMSG: malformed, or the server chose something that was not offered. */
int smb2_negotiate_decode(const struct smb2_reply *reply, struct smb2_negotiated *negotiated);

/* Negotiates one of the dialects 2.0.2 to 3.1.1 on a new connection. from_smb1: first sends an SMB1
 * negotiate that offers "SMB 2.???" (3.2.4.2.2.1). */
struct outcome smb2_negotiate(struct smb2_connection *connection, struct conversation *conversation,
                              bool from_smb1);

#endif
