/* SPDX-License-Identifier: Apache-2.0 */
/* Error messages of a KDC. */
#ifndef TESTS_LIB_KDC_ERROR_H
#define TESTS_LIB_KDC_ERROR_H

#include <stddef.h>
#include <stdint.h>

/* Writes a KRB-ERROR after its length, as over TCP (RFC 4120 7.2.2); out has room for 512 bytes.
 * The server's clock is clock_offset seconds ahead. Returns the size. */
size_t kdc_error(uint32_t code, int clock_offset, uint8_t *out);

#endif
