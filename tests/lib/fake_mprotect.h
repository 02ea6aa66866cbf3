/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An mprotect(2) that can fail. It splits a mapping in two, so it is the call that fails when
 * vm.max_map_count is reached: there is no memory for another stack.
 */
#ifndef TESTS_LIB_FAKE_MPROTECT_H
#define TESTS_LIB_FAKE_MPROTECT_H

/* Lets the next `good` guard pages (PROT_NONE) succeed and the `bad` ones after them fail with
 * ENOMEM. A test program that calls this has the replacement linked in. */
void fake_mprotect_fail(int good, int bad);

/* The number of failures that are still to come. */
int fake_mprotect_left(void);

#endif
