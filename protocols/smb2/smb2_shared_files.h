/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that all clients may read: a survey finds them in SYSVOL and NETLOGON before the run. All
 * threads share the result, which never changes.
 */
#ifndef PROTOCOLS_SMB2_SMB2_SHARED_FILES_H
#define PROTOCOLS_SMB2_SMB2_SHARED_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "protocols/conversation.h"
#include "protocols/smb2/smb2_connection.h"

struct smb2_shared_files;

enum smb2_shared_class {
    SMB2_SHARED_POLICY,
    SMB2_SHARED_SCRIPT,
    SMB2_SHARED_DIRECTORY,
    SMB2_SHARED_CLASSES
};

struct smb2_shared_file {
    enum smb2_share share;
    char *path; /* relative to the share */
};

/*
 * Searches both shares (up to 2,000 files, 6 folders deep) as the conversation's user, before
 * wire.deadline, and keeps the files that this user may open. On success the caller owns *out and
 * frees it with smb2_shared_files_free() after the run. Otherwise a negative errno, one line in
 * error, and *out is NULL; the run can continue with the policy that every domain has.
 */
int smb2_survey(struct conversation *conversation, struct smb2_shared_files **out,
                struct error *error);

/*
 * Checks that the conversation's user may write to the share of --smb-share, with a scratch file
 * that is deleted again, before wire.deadline. 0: yes, or unknown without a connection and a logon,
 * whose failure the packets will report. -EINVAL: no, with one line in error.
 */
int smb2_check_share(struct conversation *conversation, struct error *error);

/* NULL is allowed. */
void smb2_shared_files_free(struct smb2_shared_files *files);

/* The number of files of a class. */
size_t smb2_shared_files_count(const struct smb2_shared_files *files, enum smb2_shared_class class);

/* Picks a file of a class by a random number; NULL: there is none. files may be NULL. */
const struct smb2_shared_file *smb2_shared_files_pick(const struct smb2_shared_files *files,
                                                      enum smb2_shared_class class,
                                                      uint64_t random);

#endif
