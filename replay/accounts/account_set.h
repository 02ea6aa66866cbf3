/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The accounts of one instance: their names, and which of them exist. Names and locations are those
 * of an existing tool, so that either program can use or remove the accounts of the other.
 */
#ifndef REPLAY_ACCOUNTS_ACCOUNT_SET_H
#define REPLAY_ACCOUNTS_ACCOUNT_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replay/accounts/directory.h"

enum account_kind { ACCOUNT_USER, ACCOUNT_MACHINE, ACCOUNT_FILLER, ACCOUNT_GROUP, ACCOUNT_KINDS };

enum { ACCOUNT_NAME_SIZE = 40 };

struct account_form {
    const char *prefix; /* "STGU": the name is prefix-instance-number and suffix */
    const char *suffix; /* "$" for machines */
    const char *object_class;
    const char *control; /* userAccountControl; NULL for groups */
    const char *one;     /* "user": for messages */
};
extern const struct account_form account_forms[ACCOUNT_KINDS];

/* The existing accounts of one kind, by number. */
struct account_presence {
    uint32_t size; /* numbers 1..size have one byte each */
    uint8_t *flags;
    uint64_t count;
    uint32_t newest;       /* the one whose password was set last; 0: none */
    uint64_t newest_since; /* its pwdLastSet */
};
enum account_flag { ACCOUNT_THERE = 1, ACCOUNT_LACKS_PASSWORD = 2, ACCOUNT_CREATED = 4 };

struct account_set {
    int instance;
    char *parent_dn;   /* OU=traffic_replay,... */
    char *instance_dn; /* OU=instance-I,... */
    bool exists;       /* the instance's OU exists */
    char *description; /* of the OU, or NULL */
    char *renamed; /* DN of an account whose name in the OU is not its sAMAccountName; or NULL */
    char renamed_name[ACCOUNT_NAME_SIZE];
    uint8_t *descriptor; /* of the OU, with its DACL only */
    size_t descriptor_size;
    struct account_presence there[ACCOUNT_KINDS];
};

/* Prepares an empty set for the instance below base_dn. 0 or -ENOMEM. */
int account_set_init(struct account_set *set, const char *base_dn, int instance);
void account_set_clear(struct account_set *set);

/* 0, or -EACCES and a text: the DC is read-only, so accounts are created and removed elsewhere. */
int account_set_check_writable(const struct dc *dc, struct error *error);

/* Reads the instance's OU, then everything in it with one paged search. Returns what
 * directory_search() returns; 0 if the OU does not exist. */
int account_set_read(struct account_set *set, struct directory *directory);

/* The marker of the password (password_store.h) in the description of the instance's OU, or "". */
enum { ACCOUNT_SET_MARKER_SIZE = 65 };
void account_set_parse_marker(const char *description, char marker[ACCOUNT_SET_MARKER_SIZE]);

/* The description of OU=traffic_replay, if this program has created it. */
#define ACCOUNT_SET_PARENT_DESCRIPTION "created by traffic-replay"
/* Removes OU=traffic_replay if this program has created it and it is empty. */
void account_set_remove_parent(const struct account_set *set, struct directory *directory);

/* Whether the account was found to exist. */
bool account_set_has(const struct account_set *set, enum account_kind kind, uint32_t number);
/* Marks an account as existing. 0 or -ENOMEM. */
int account_set_note(struct account_set *set, enum account_kind kind, uint32_t number,
                     uint8_t flags);

/* The common name, such as "STGM-0-7"; the sAMAccountName also has the suffix. */
void account_set_name(const struct account_set *set, enum account_kind kind, uint32_t number,
                      char name[ACCOUNT_NAME_SIZE]);
/* Malloc'd, or NULL. */
char *account_set_dn(const struct account_set *set, enum account_kind kind, uint32_t number);

/* Prints numbers: "49 users, 49 machines and 4 groups". counts[ACCOUNT_KINDS] are objects of
 * another kind, named `other` in the singular. */
void account_set_list_kinds(const uint64_t counts[ACCOUNT_KINDS + 1], const char *other, char *text,
                            size_t size);

/* Finds the account of this instance with this sAMAccountName. False: it is not one of them. */
bool account_set_parse(const struct account_set *set, const char *name, enum account_kind *kind,
                       uint32_t *number);

/* Limits nTSecurityDescriptor to the DACL (MS-ADTS 3.1.1.3.4.1.11). */
extern LDAPControl account_set_dacl_control;

#endif
