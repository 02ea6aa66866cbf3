/* SPDX-License-Identifier: Apache-2.0 */
/* Files in the folder of the running test: $TMPDIR, else /tmp. */
#ifndef TESTS_LIB_TEMPORARY_H
#define TESTS_LIB_TEMPORARY_H

/* The path of a file there; the caller frees it. */
char *path_in_tmp(const char *name);

/* Writes a new file there with a text; returns its path, which the caller frees. */
char *file_in_tmp(const char *name, const char *text);

#endif
