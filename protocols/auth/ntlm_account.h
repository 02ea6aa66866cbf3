/* SPDX-License-Identifier: Apache-2.0 */
/* The names and the key with which a test account authenticates by NTLM. */
#ifndef PROTOCOLS_AUTH_NTLM_ACCOUNT_H
#define PROTOCOLS_AUTH_NTLM_ACCOUNT_H

#include "protocols/account.h"
#include "protocols/auth/ntlmssp.h"
#include "protocols/conversation.h"

enum { NTLM_NAME_SIZE = 256 };

struct ntlm_account {
    const char *user; /* points into the account's name */
    char domain[NTLM_NAME_SIZE];
    char workstation[NTLM_NAME_SIZE];
    uint8_t nt_hash[ACCOUNT_NT_HASH_SIZE];
};

/*
 * Fills *out and points *identity into it; the other members of *identity become NULL. The domain
 * is the one before a backslash, empty for a user principal name (MS-NLMP 3.1.1.1), else the DC's;
 * the workstation is the client's machine. 0, -ENOKEY: the account has no name or no password,
 * -EINVAL: a name is too long, -EILSEQ: the password is not UTF-8, or -ENOMEM.
 */
int ntlm_account_init(struct ntlm_account *out, struct ntlmssp_identity *identity,
                      const struct conversation *conversation, const struct account *account);

/* Overwrites the hash. */
void ntlm_account_clear(struct ntlm_account *account);

#endif
