/* SPDX-License-Identifier: Apache-2.0 */
/* How a catalogue is built, for catalogue.c and its tests. */
#ifndef PROTOCOLS_LDAP_CATALOGUE_PRIVATE_H
#define PROTOCOLS_LDAP_CATALOGUE_PRIVATE_H

#include "protocols/ldap/catalogue.h"

/* Creates an empty catalogue. NULL: no memory. */
struct catalogue *catalogue_new(const char *base_dn);
/* Copies values[CATALOGUE_VALUES]. The DN is required; the RDN comes from it. -EINVAL: no DN,
 * -ENOSPC: CATALOGUE_OBJECTS_MAX is reached, -ENOMEM. */
int catalogue_add(struct catalogue *catalogue, const struct catalogue_bytes *values);
/* Sets the domain's highestCommittedUSN. */
void catalogue_set_highest_usn(struct catalogue *catalogue, uint64_t usn);
/* Call it once, after the last object and before drawing. 0 or -ENOMEM. */
int catalogue_finish(struct catalogue *catalogue);

#endif
