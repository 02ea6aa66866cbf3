/* SPDX-License-Identifier: Apache-2.0 */
/* Private to smb2.c and smb2_pipe.c: what a conversation has open over SMB2. */
#ifndef PROTOCOLS_SMB2_SMB2_PRIVATE_H
#define PROTOCOLS_SMB2_SMB2_PRIVATE_H

#include "protocols/smb2/smb2.h"

struct smb2_state {
    struct smb2_connection *connection; /* NULL: none */
    /* By enum smb2_who: changes whenever a session begins or ends, so that a pipe knows whether it
     * still is of the session it was opened in. */
    uint32_t generation[SMB2_WHO_COUNT];
    struct smb2_open *opens; /* oldest first */
    unsigned open_count, open_capacity;
};

#endif
