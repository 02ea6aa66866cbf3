/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SMB2 requests that change an open file without moving its data, one function each: FLUSH, LOCK,
 * SET_INFO (MS-SMB2 2.2.17, 2.2.26, 2.2.39).
 */
#ifndef PROTOCOLS_SMB2_SMB2_CHANGE_H
#define PROTOCOLS_SMB2_SMB2_CHANGE_H

#include "protocols/smb2/smb2_file.h"

struct outcome smb2_flush(const struct smb2_target *target, const uint8_t *file_id);

/* 2.2.26.1 */
enum smb2_lock_flag {
    SMB2_LOCK_SHARED = 1,
    SMB2_LOCK_EXCLUSIVE = 2,
    SMB2_LOCK_UNLOCK = 4,
    SMB2_LOCK_FAIL_IMMEDIATELY = 16
};

/* Locks or unlocks one range of bytes. */
struct outcome smb2_lock(const struct smb2_target *target, const uint8_t *file_id, uint64_t offset,
                         uint64_t size, uint32_t flags);

/* Information classes of files (MS-FSCC 2.4). */
enum smb2_file_information {
    SMB2_INFO_BASIC = 4,
    SMB2_INFO_RENAME = 10,
    SMB2_INFO_DISPOSITION = 13,
    SMB2_INFO_ALLOCATION = 19,
    SMB2_INFO_END_OF_FILE = 20
};

/* Sends FileBasicInformation that changes nothing: zeros keep times and attributes. */
struct outcome smb2_set_basic(const struct smb2_target *target, const uint8_t *file_id);
/* Marks a file for deletion when it is closed, or takes the mark back. */
struct outcome smb2_set_disposition(const struct smb2_target *target, const uint8_t *file_id,
                                    bool remove);
/* Sets a size: SMB2_INFO_END_OF_FILE or SMB2_INFO_ALLOCATION. */
struct outcome smb2_set_size(const struct smb2_target *target, const uint8_t *file_id,
                             enum smb2_file_information class, uint64_t size);
/* Renames to a path relative to the share. */
struct outcome smb2_set_name(const struct smb2_target *target, const uint8_t *file_id,
                             const char *name, bool replace);

#endif
