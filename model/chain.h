/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of a chain: packets, waits and "-", the start or the end of a conversation. */
#ifndef MODEL_CHAIN_H
#define MODEL_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;

/* The longest wait, wait:20, and the longest history in entries. */
enum { CHAIN_WAIT_MAX = 20, CHAIN_HISTORY_MAX = 32 };

/* An entry as one number: the index of a packet type, CHAIN_WAIT + N for wait:N, or CHAIN_NONE for
 * "-". */
enum { CHAIN_WAIT = 0x40000000, CHAIN_NONE = 0x7fffffff };

static inline bool chain_is_packet(uint32_t entry)
{
    return entry < CHAIN_WAIT;
}

static inline bool chain_is_wait(uint32_t entry)
{
    return entry >= CHAIN_WAIT && entry < CHAIN_NONE;
}

enum { CHAIN_NAME_SIZE = 160 };

/* Writes an entry's name ("ldap:3", "wait:2", "-") and returns buffer. */
const char *chain_entry_name(const struct model *model, uint32_t entry, char *buffer, size_t size);

#endif
