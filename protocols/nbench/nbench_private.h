/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share: paths that are opened for a moment. */
#ifndef PROTOCOLS_NBENCH_NBENCH_PRIVATE_H
#define PROTOCOLS_NBENCH_NBENCH_PRIVATE_H

#include "protocols/nbench/nbench.h"
#include "protocols/smb2/smb2.h"

/* Longest path with the folder, in UTF-8. */
enum { NBENCH_PATH_SIZE = 2048 };

/* MS-SMB2 2.2.13.1.1, 2.2.13.1.2 */
enum {
    NBENCH_READ_DATA = 0x00000001,
    NBENCH_WRITE_DATA = 0x00000002,
    NBENCH_READ_ATTRIBUTES = 0x00000080,
    NBENCH_WRITE_ATTRIBUTES = 0x00000100,
    NBENCH_DELETE = 0x00010000,
    NBENCH_SHARE_READ_WRITE = 3,
    NBENCH_SHARE_ALL = 7
};

/* Opens a path for a moment; the caller closes it with nbench_close_path(). */
struct outcome nbench_open_path(const struct smb2_target *target, const char *path, uint32_t access,
                                uint32_t options, enum smb2_disposition disposition,
                                struct smb2_created *created);
/* Closes it. Returns outcome if that is a failure, else the outcome of the close. */
struct outcome nbench_close_path(const struct smb2_target *target,
                                 const struct smb2_created *created, struct outcome outcome);

/* Whether the outcome is this status of the server. */
bool nbench_is_status(const struct outcome *outcome, const char *status);

/* Deletes a folder and all that is in it, or a file. Links are deleted, not followed. */
struct outcome nbench_delete_tree(const struct smb2_target *target, const char *path);
/* Deletes a file or an empty folder. */
struct outcome nbench_delete_path(const struct smb2_target *target, const char *path);

#endif
