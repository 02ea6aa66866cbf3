/* SPDX-License-Identifier: Apache-2.0 */
/* NTSTATUS values (MS-ERREF 2.3) and their names. */
#ifndef PROTOCOLS_NTSTATUS_H
#define PROTOCOLS_NTSTATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "protocols/outcome.h"

/* The values to which the program reacts. */
#define NTSTATUS_SUCCESS                  0x00000000u
#define NTSTATUS_PENDING                  0x00000103u
#define NTSTATUS_BUFFER_OVERFLOW          0x80000005u
#define NTSTATUS_NO_MORE_FILES            0x80000006u
#define NTSTATUS_END_OF_FILE              0xc0000011u
#define NTSTATUS_MORE_PROCESSING_REQUIRED 0xc0000016u
#define NTSTATUS_LOGON_FAILURE            0xc000006du
#define NTSTATUS_NETWORK_NAME_DELETED     0xc00000c9u
#define NTSTATUS_FILE_CLOSED              0xc0000128u
#define NTSTATUS_USER_SESSION_DELETED     0xc0000203u
#define NTSTATUS_NETWORK_SESSION_EXPIRED  0xc000035cu

/* "NT_STATUS_ACCESS_DENIED"; NULL for a value without a name. Static text. */
const char *ntstatus_name(uint32_t status);

/* Whether a text is such a name. */
bool ntstatus_is_name(const char *name);

/* OUTCOME_OK for success; else a failure whose cause is the name, or "NTSTATUS 0x%08x". */
struct outcome ntstatus_outcome(uint32_t status);

#endif
