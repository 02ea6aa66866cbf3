/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <errno.h>
#include <stdio.h>

int error_set(struct error *error, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    error_set_args(error, code, format, args);
    va_end(args);
    return code;
}

int error_set_args(struct error *error, int code, const char *format, va_list args)
{
    if (!error)
        return code;
    error->code = code;
    vsnprintf(error->text, sizeof error->text, format, args);
    return code;
}

int error_no_memory(struct error *error)
{
    return error_set(error, -ENOMEM, "out of memory");
}
