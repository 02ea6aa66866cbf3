/* SPDX-License-Identifier: Apache-2.0 */
/* Frees accounts. */
#include "protocols/account.h"

#include <stdlib.h>
#include <string.h>

#include "base/secret.h"

void account_clear(struct account *account)
{
    free(account->name);
    free(account->dn);
    secret_free(account->password);
    explicit_bzero(account, sizeof *account);
}
