/* SPDX-License-Identifier: Apache-2.0 */
/* Details of Samba's v2 models. */
#ifndef MODEL_DETAILS_H
#define MODEL_DETAILS_H

#include "base/arena.h"
#include "packets/packet_details.h"

/* A Samba v2 model's details of one packet as fields in arena; row may be NULL. Sets *foreign when
 * something in it was not understood and left out. 0 or -ENOMEM. */
int details_from_samba(struct arena *arena, const struct packet_row *row, const char *text,
                       struct packet_field **fields, size_t *count, bool *foreign);

#endif
