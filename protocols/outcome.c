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

struct outcome outcome_of_wire(const struct wire *wire, int error)
{
    static const int of_the_port[] = {-ECONNREFUSED, -ECONNRESET, -ETIMEDOUT, -EHOSTUNREACH,
                                      -ENETUNREACH};
    const struct wire_unreached *unreached = &wire->unreached;
    for (size_t i = 0; i < sizeof of_the_port / sizeof of_the_port[0]; i++)
        if (error == of_the_port[i] && error == unreached->error)
            return outcome_failed("%s (%s port %u)", stream_error_text(error),
                                  unreached->udp ? "UDP" : "TCP", unreached->port);
    return outcome_of_error(error);
}

struct outcome outcome_of_error(int error)
{
    if (error == -ECANCELED)
        return (struct outcome){.kind = OUTCOME_UNFINISHED};
    return outcome_failed("%s", stream_error_text(error));
}
