/* SPDX-License-Identifier: Apache-2.0 */
/* What the ndr*.c files share: room in the message, and printing. */
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

#endif
