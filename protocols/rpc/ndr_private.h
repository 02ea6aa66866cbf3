/* SPDX-License-Identifier: Apache-2.0 */
/* What the ndr*.c files and coders with their own allocations share. */
#ifndef PROTOCOLS_RPC_NDR_PRIVATE_H
#define PROTOCOLS_RPC_NDR_PRIVATE_H

#include "protocols/rpc/ndr.h"

/* Encode: room for size bytes at the end, zeroed; NULL after a failure. */
uint8_t *ndr_put_room(struct ndr *ndr, const char *field, size_t size);

/* Decode: the next size bytes; NULL after a failure. */
const uint8_t *ndr_get_room(struct ndr *ndr, const char *field, size_t size);

/* Decode: zeroed memory of the cursor's arena; NULL after a failure. */
void *ndr_arena_room(struct ndr *ndr, const char *field, size_t size);

/* Print: one line; NULL text prints as NULL. */
void ndr_print_text(struct ndr *ndr, const char *field, const char *text);

/* The texts of a GUID and of a SID, as ndr_guid_parse() and ndr_sid_parse() read them. */
enum { NDR_GUID_TEXT_SIZE = 37, NDR_SID_TEXT_SIZE = 192 };
void ndr_guid_format(const struct ndr_guid *guid, char text[NDR_GUID_TEXT_SIZE]);
void ndr_sid_format(const struct ndr_sid *sid, char text[NDR_SID_TEXT_SIZE]);

#endif
