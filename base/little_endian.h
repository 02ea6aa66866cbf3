/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Little-endian numbers of Microsoft's protocols, at any address. Callers check lengths. Inline, so
 * that each call is one load or store.
 */
#ifndef BASE_LITTLE_ENDIAN_H
#define BASE_LITTLE_ENDIAN_H

#include <stdint.h>

static inline uint16_t le_get16(const uint8_t *from)
{
    return (uint16_t)(from[0] | from[1] << 8);
}

static inline uint32_t le_get32(const uint8_t *from)
{
    return le_get16(from) | (uint32_t)le_get16(from + 2) << 16;
}

static inline uint64_t le_get64(const uint8_t *from)
{
    return le_get32(from) | (uint64_t)le_get32(from + 4) << 32;
}

static inline void le_put16(uint8_t *to, uint16_t value)
{
    to[0] = (uint8_t)value;
    to[1] = (uint8_t)(value >> 8);
}

static inline void le_put32(uint8_t *to, uint32_t value)
{
    le_put16(to, (uint16_t)value);
    le_put16(to + 2, (uint16_t)(value >> 16));
}

static inline void le_put64(uint8_t *to, uint64_t value)
{
    le_put32(to, (uint32_t)value);
    le_put32(to + 4, (uint32_t)(value >> 32));
}

#endif
