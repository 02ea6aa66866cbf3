/* SPDX-License-Identifier: Apache-2.0 */
/* One line for each SMB2 call. */
#include "protocols/smb2/smb2_trace.h"

#include <stdio.h>

#include "protocols/ntstatus.h"
#include "protocols/trace.h"

/* MS-SMB2 2.2.1.2 */
static const char *const command_names[] = {
    "NEGOTIATE",     "SESSION_SETUP", "LOGOFF",   "TREE_CONNECT", "TREE_DISCONNECT",
    "CREATE",        "CLOSE",         "FLUSH",    "READ",         "WRITE",
    "LOCK",          "IOCTL",         "CANCEL",   "ECHO",         "QUERY_DIRECTORY",
    "CHANGE_NOTIFY", "QUERY_INFO",    "SET_INFO", "OPLOCK_BREAK"};

void smb2_trace(const char *client, enum smb2_command command, size_t sent, size_t received,
                uint32_t status)
{
    if (!trace_is_on() || (size_t)command >= sizeof command_names / sizeof command_names[0])
        return;
    const char *name = ntstatus_name(status);
    char number[16];
    snprintf(number, sizeof number, "0x%08x", status);
    trace_print("%s%ssmb2 %s: %zu bytes sent, %zu received, %s\n", client ? client : "",
                client ? ": " : "", command_names[command], sent, received, name ? name : number);
}
