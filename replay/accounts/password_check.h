/* SPDX-License-Identifier: Apache-2.0 */
/* Whether existing test accounts still have the stored password. */
#ifndef REPLAY_ACCOUNTS_PASSWORD_CHECK_H
#define REPLAY_ACCOUNTS_PASSWORD_CHECK_H

#include <stdbool.h>

#include "protocols/dc.h"

/* Logs the account on over LDAP. False: the server says that the password is wrong. Other failures
 * (NTLM is disabled, the account is locked, no answer) prove nothing and count as true. Sets the
 * account's keys. */
bool password_check(const struct dc *dc, struct account *account);

#endif
