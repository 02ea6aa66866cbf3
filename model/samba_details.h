/* SPDX-License-Identifier: Apache-2.0 */
/* Details of packets as Samba v2 models write them: seven fields separated by tabs. */
#ifndef MODEL_SAMBA_DETAILS_H
#define MODEL_SAMBA_DETAILS_H

#include "base/arena.h"
#include "packets/packet_details.h"

/* Reads the details of a packet as fields, which are allocated in arena. row may be NULL: the
 * packet has no details. Sets *foreign if a part of them is unknown and left out. 0 or -ENOMEM. */
int samba_details_read(struct arena *arena, const struct packet_row *row, const char *text,
                       struct packet_field **fields, size_t *count, bool *foreign);

#endif
