/* SPDX-License-Identifier: Apache-2.0 */
/* Where a user's files are: the XDG Base Directory Specification. */
#ifndef BASE_FILES_USER_PATH_H
#define BASE_FILES_USER_PATH_H

/* The path of name in the folder $VARIABLE, or in folder below $HOME if the variable is unset or
 * not absolute. Malloc'd. On failure NULL with errno: ENOENT when neither folder is known, or
 * ENOMEM. */
char *user_path(const char *variable, const char *folder, const char *name);

#endif
