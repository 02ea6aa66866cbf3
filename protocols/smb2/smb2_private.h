/* SPDX-License-Identifier: Apache-2.0 */
/* The state that SMB2 keeps in a conversation. */
#ifndef PROTOCOLS_SMB2_SMB2_PRIVATE_H
#define PROTOCOLS_SMB2_SMB2_PRIVATE_H

#include "protocols/smb2/smb2.h"

struct smb2_state {
    struct conversation_state base;
    struct smb2_connection *connection; /* NULL: none */
    /* By enum smb2_who: changes whenever a session begins or ends, so that a pipe can tell whether
     * its session is still the same. */
    uint32_t generation[SMB2_WHO_COUNT];
    struct smb2_open *opens; /* oldest first */
    unsigned open_count, open_capacity;
};

/* Closes the connection and drops everything. Never waits. */
void smb2_reset(struct conversation *conversation);

#endif
