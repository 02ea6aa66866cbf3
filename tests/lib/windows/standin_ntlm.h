/* SPDX-License-Identifier: Apache-2.0 */
/* The accounts that the stand-in verifies NTLM for: all that have one of its passwords. */
#ifndef TESTS_LIB_WINDOWS_STANDIN_NTLM_H
#define TESTS_LIB_WINDOWS_STANDIN_NTLM_H

#include "protocols/auth/spnego.h"
#include "tests/lib/servers/ntlm_acceptor.h"
#include "tests/lib/windows/standin.h"

enum { STANDIN_NAME = 256 };

/* Verifies an AUTHENTICATE_MESSAGE against the challenge that acceptor holds. user receives
 * DOMAIN\USER, key the session key. */
bool standin_ntlm_verify(struct standin *standin, struct ntlm_acceptor *acceptor,
                         struct spnego_slice message, uint8_t key[16], char user[STANDIN_NAME]);

#endif
