/* SPDX-License-Identifier: Apache-2.0 */
/* The packet table as text. */
#ifndef REPLAY_PACKET_LIST_H
#define REPLAY_PACKET_LIST_H

#include <stdio.h>

/*
 * Prints --list-packets: one line per row of the packet table, three fields separated by tabs:
 * - PROTOCOL:OPCODE, as in models, --only and --skip ("*" is any opcode);
 * - "operation" (sent and timed), "state" (changes what the conversation does next, not counted) or
 *   "silent" (not sent: a reply, or implied by another packet);
 * - the description in reports.
 * The caller checks the stream for errors.
 */
void packet_list_print(FILE *out);

#endif
