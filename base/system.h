/* SPDX-License-Identifier: Apache-2.0 */
/* The process's cores, and writes that are complete. */
#ifndef BASE_SYSTEM_H
#define BASE_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>

/* The number of cores that this process may use; at least 1. */
unsigned system_cores(void);

/* Writes all bytes to a descriptor. 0 or a negative errno. */
int system_write_all(int fd, const void *bytes, size_t size);

/* Whether a line on this descriptor can be overwritten: it is a terminal, and not a dumb one. */
bool system_is_terminal(int fd);

#endif
