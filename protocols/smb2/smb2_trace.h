/* SPDX-License-Identifier: Apache-2.0 */
/* SMB2 calls in the output of traffic-replay's -vv. */
#ifndef PROTOCOLS_SMB2_SMB2_TRACE_H
#define PROTOCOLS_SMB2_SMB2_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "protocols/smb2/smb2_wire.h"

/* Prints one line for a call and its reply: command, bytes sent and received, NTSTATUS. client is
 * the name of the account, or NULL. Any thread may call it; does nothing without trace_to(). */
void smb2_trace(const char *client, enum smb2_command command, size_t sent, size_t received,
                uint32_t status);

#endif
