/* SPDX-License-Identifier: Apache-2.0 */
/* Printing messages: put together first, so that those of several threads do not mix. */
#include "protocols/trace.h"

#include <stdarg.h>
#include <stdlib.h>

static FILE *trace_out;

static void trace_message(FILE *text, const struct rpc_procedure *procedure, bool reply,
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
    trace_message(stream, procedure, reply, message);
    if (fclose(stream) == 0)
        fwrite(text, 1, size, trace_out);
    free(text);
}

static void trace_message(FILE *text, const struct rpc_procedure *procedure, bool reply,
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

bool trace_is_on(void)
{
    return trace_out != NULL;
}

void trace_print(const char *format, ...)
{
    if (!trace_out)
        return;
    va_list args;
    va_start(args, format);
    vfprintf(trace_out, format, args); /* one call: stdio locks the stream for it */
    va_end(args);
}
