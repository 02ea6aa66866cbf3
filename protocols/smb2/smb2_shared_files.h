/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that all clients may read: what a survey found under SYSVOL and NETLOGON before the run.
 * Immutable afterwards, shared by all threads.
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
 * Looks through both shares (up to 2,000 files, 6 folders deep) as the conversation's user, before
 * wire.deadline, and keeps what that user may open. On success *out is the caller's, to be given to
 * smb2_shared_files_free() after the run. On failure a negative errno, a line in error and *out is
 * NULL: the run may go on without, and then reads the policy that every domain has.
 */
int smb2_survey(struct conversation *conversation, struct smb2_shared_files **out,
                struct error *error);

/*
 * Whether the conversation's user may write to the share of --smb-share: makes a scratch file
 * there, which goes again, before wire.deadline. 0: yes, or nobody could tell (no connection, no
 * logon), which the packets will say themselves. -EINVAL: no, and a line in error.
 */
int smb2_check_share(struct conversation *conversation, struct error *error);

void smb2_shared_files_free(struct smb2_shared_files *files);

/* How many of a class were found. */
size_t smb2_shared_files_count(const struct smb2_shared_files *files, enum smb2_shared_class class);

/* One of a class, by a number at random; NULL when there is none of that class. files may be NULL:
 * none. */
const struct smb2_shared_file *smb2_shared_files_pick(const struct smb2_shared_files *files,
                                                      enum smb2_shared_class class,
                                                      uint64_t random);

#endif
