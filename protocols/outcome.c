/* SPDX-License-Identifier: Apache-2.0 */
/* Outcomes. */
#include "protocols/outcome.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "protocols/stream.h"

struct outcome outcome_ok(void)
{
    return (struct outcome){.kind = OUTCOME_OK};
}

struct outcome outcome_nothing(void)
{
    return (struct outcome){.kind = OUTCOME_NOTHING};
}

struct outcome outcome_no_answer(void)
{
    return (struct outcome){.kind = OUTCOME_NO_ANSWER};
}

struct outcome outcome_failed(const char *format, ...)
{
    struct outcome outcome = {.kind = OUTCOME_FAILED};
    va_list args;
    va_start(args, format);
    vsnprintf(outcome.cause, sizeof outcome.cause, format, args);
    va_end(args);
    return outcome;
}

struct outcome outcome_of_error(int error)
{
    if (error == -ECANCELED)
        return (struct outcome){.kind = OUTCOME_UNFINISHED};
    return outcome_failed("%s", stream_error_text(error));
}
