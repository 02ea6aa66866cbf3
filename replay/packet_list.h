/* SPDX-License-Identifier: Apache-2.0 */
/* What --list-packets prints: the table of packets, for those who write models or choose from them.
 */
#ifndef REPLAY_PACKET_LIST_H
#define REPLAY_PACKET_LIST_H

#include <stdio.h>

/* A line for each row of the table of packets, three fields with tabs between them: PROTOCOL:OPCODE
 * as models, --only and --skip write it ("*" for any opcode, none for a hint); "operation" (is sent
 * and timed), "state" (changes what the conversation does next, is not counted) or "silent"
 * (nothing is sent: a reply, or what another packet implies); the description of the report.
 * Errors are the stream's. */
void packet_list_print(FILE *out);

#endif
