/* SPDX-License-Identifier: Apache-2.0 */
/* Error messages of a KDC. */
#ifndef TESTS_LIB_KDC_ERROR_H
#define TESTS_LIB_KDC_ERROR_H

#include <stddef.h>
#include <stdint.h>

/* Writes a KRB-ERROR after its length, as over TCP (RFC 4120 7.2.2); out has room for 512 bytes.
 * The server's clock is clock_offset seconds ahead. Returns the size. */
size_t kdc_error(uint32_t code, int clock_offset, uint8_t *out);

/* The same with error data, such as the METHOD-DATA of KDC_ERR_PREAUTH_REQUIRED; NULL: none. */
size_t kdc_error_with(uint32_t code, int clock_offset, const uint8_t *data, size_t data_size,
                      uint8_t *out);

#endif
