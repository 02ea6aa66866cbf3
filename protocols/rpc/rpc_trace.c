/* SPDX-License-Identifier: Apache-2.0 */
#include "protocols/rpc/rpc_trace.h"

#include <stdlib.h>

#include "protocols/trace.h"

void rpc_trace(const char *client, const struct rpc_interface *interface,
               const struct rpc_procedure *procedure, bool reply, void *message)
{
    char *text = NULL;
    size_t size = 0;
    struct ndr ndr;
    FILE *out = trace_is_on() ? open_memstream(&text, &size) : NULL;
    if (!out)
        return;
    fprintf(out, "%s%s%s %s %s\n", client ? client : "", client ? ": " : "", interface->name,
            procedure->name, reply ? "reply" : "request");
    ndr_print_start(&ndr, out);
    ndr.indent = 2;
    (reply ? procedure->reply : procedure->request)(&ndr, procedure->name, message, 0);
    if (ndr.failed)
        fprintf(out, "  %s: %s\n", ndr.error_field, ndr.error);
    ndr_end(&ndr);
    if (fclose(out) == 0)
        trace_print("%s", text);
    free(text);
}

void rpc_trace_error(const char *client, const struct rpc_interface *interface,
                     const struct rpc_procedure *procedure, bool reply, const struct ndr *ndr)
{
    char error[NDR_ERROR_TEXT_SIZE];
    ndr_error_text(ndr, error);
    trace_print("%s%s%s %s %s: %s\n", client ? client : "", client ? ": " : "", interface->name,
                procedure->name, reply ? "reply" : "request", error);
}
