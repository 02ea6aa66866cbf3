/* SPDX-License-Identifier: Apache-2.0 */
/* Overwrites passwords: before memory is freed, in argv and in the environment. */
#ifndef BASE_SECRET_H
#define BASE_SECRET_H

/* Overwrites and frees a malloc'd secret. NULL is allowed. */
void secret_free(char *secret);

/* Overwrites a secret in argv or the environment. At most three stars remain. */
void secret_wipe(char *text);

#endif
