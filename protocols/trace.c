/* SPDX-License-Identifier: Apache-2.0 */
#include "protocols/trace.h"

#include <stdarg.h>

static FILE *trace_out;

void trace_to(FILE *out)
{
    trace_out = out;
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
