/* SPDX-License-Identifier: Apache-2.0 */
/* An account of a client. Created before the run, read-only during it. */
#ifndef PROTOCOLS_ACCOUNT_H
#define PROTOCOLS_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ACCOUNT_NT_HASH_SIZE = 16, ACCOUNT_AES256_KEY_SIZE = 32 };

struct account {
    char *name;     /* sAMAccountName; machines end in $ */
    char *dn;       /* distinguished name */
    char *password; /* UTF-8; never printed */
    bool machine;
    bool has_nt_hash;
    bool has_aes256_key;
    bool no_aes256_key;                    /* the KDC has none: AS exchanges use the password */
    uint8_t nt_hash[ACCOUNT_NT_HASH_SIZE]; /* MS-NLMP 3.3.1 NTOWFv1 = MD4(UTF-16LE) */
    uint8_t aes256_key[ACCOUNT_AES256_KEY_SIZE]; /* RFC 3962, salt of MS-KILE 3.1.1.2 */
};

/* Overwrites the secrets of an account and frees its members, but not the struct itself. */
void account_clear(struct account *account);

#endif
