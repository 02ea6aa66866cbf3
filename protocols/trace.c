/* SPDX-License-Identifier: Apache-2.0 */
/* Printing messages: put together first, so that those of several threads do not mix. */
#include "protocols/trace.h"

#include <stdlib.h>

#include "protocols/ntstatus.h"

static FILE *trace_out;

static void trace_print(FILE *text, const struct rpc_procedure *procedure, bool reply,
                        void *message);

void trace_to(FILE *out)
{
    trace_out = out;
}

void trace_rpc(const char *client, const struct rpc_interface *interface,
               const struct rpc_procedure *procedure, bool reply, void *message)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = trace_out ? open_memstream(&text, &size) : NULL;
    if (!stream)
        return;
    fprintf(stream, "%s%s%s %s %s\n", client ? client : "", client ? ": " : "", interface->name,
            procedure->name, reply ? "reply" : "request");
    trace_print(stream, procedure, reply, message);
    if (fclose(stream) == 0)
        fwrite(text, 1, size, trace_out);
    free(text);
}

static void trace_print(FILE *text, const struct rpc_procedure *procedure, bool reply,
                        void *message)
{
    struct ndr ndr;
    ndr_print_start(&ndr, text);
    ndr.indent = 2;
    (reply ? procedure->reply : procedure->request)(&ndr, procedure->name, message, 0);
    if (ndr.failed)
        fprintf(text, "  %s: %s\n", ndr.error_field ? ndr.error_field : "?", ndr.error);
    ndr_end(&ndr);
}

/* MS-SMB2 2.2.1.2 */
static const char *const smb2_commands[] = {
    "NEGOTIATE",     "SESSION_SETUP", "LOGOFF",   "TREE_CONNECT", "TREE_DISCONNECT",
    "CREATE",        "CLOSE",         "FLUSH",    "READ",         "WRITE",
    "LOCK",          "IOCTL",         "CANCEL",   "ECHO",         "QUERY_DIRECTORY",
    "CHANGE_NOTIFY", "QUERY_INFO",    "SET_INFO", "OPLOCK_BREAK"};

void trace_smb2(const char *client, unsigned command, size_t sent, size_t received, uint32_t status)
{
    if (!trace_out || command >= sizeof smb2_commands / sizeof smb2_commands[0])
        return;
    const char *name = ntstatus_name(status);
    char number[16];
    snprintf(number, sizeof number, "0x%08x", status);
    fprintf(trace_out, "%s%ssmb2 %s: %zu bytes sent, %zu received, %s\n", client ? client : "",
            client ? ": " : "", smb2_commands[command], sent, received, name ? name : number);
}
