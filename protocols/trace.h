/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where traffic-replay's -vv prints what it sends and receives. Each protocol formats its own
 * messages (rpc_trace.h, smb2_trace.h).
 */
#ifndef PROTOCOLS_TRACE_H
#define PROTOCOLS_TRACE_H

#include <stdbool.h>
#include <stdio.h>

/* Prints to out from now on; NULL: nowhere. Call only while no thread plays. */
void trace_to(FILE *out);

/* Whether anything is printed: saves the work of preparing a message. */
bool trace_is_on(void);

/* Prints one message in one piece. Any thread may call it; does nothing without trace_to(). */
void trace_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
