/* SPDX-License-Identifier: Apache-2.0 */
#include "base/secret.h"

#include <stdlib.h>
#include <string.h>

void secret_free(char *secret)
{
    if (secret)
        explicit_bzero(secret, strlen(secret));
    free(secret);
}

/* Overwritten arguments keep this many characters, so that `ps` shows that something was given. */
enum { STARS = 3 };

void secret_wipe(char *text)
{
    size_t length = strlen(text);
    explicit_bzero(text, length);
    memset(text, '*', length < STARS ? length : STARS);
}
