/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SMB2 requests on files, directories and pipes, one function each (MS-SMB2 2.2.13 to 2.2.38):
 * CREATE, CLOSE, READ, WRITE, IOCTL, ECHO, QUERY_DIRECTORY, QUERY_INFO. Each sends one request and
 * reads its reply. smb2.h chooses the file and opens what is needed.
 */
#ifndef PROTOCOLS_SMB2_SMB2_FILE_H
#define PROTOCOLS_SMB2_SMB2_FILE_H

#include "protocols/smb2/smb2_connection.h"

/* The target of a request. */
struct smb2_target {
    struct smb2_connection *connection;
    struct smb2_session *session;
    const struct smb2_tree *tree;
};

/* The data of a reply, freed by smb2_data_free(). status is a warning that came with it:
 * NTSTATUS_BUFFER_OVERFLOW (there is more), NTSTATUS_END_OF_FILE, NTSTATUS_NO_MORE_FILES. */
struct smb2_data {
    uint8_t *received;
    const uint8_t *data;
    size_t size;
    uint32_t status;
};
void smb2_data_free(struct smb2_data *data);

/* 2.2.13 */
enum smb2_disposition {
    SMB2_SUPERSEDE,
    SMB2_OPEN,
    SMB2_CREATE_NEW,
    SMB2_OPEN_IF,
    SMB2_OVERWRITE,
    SMB2_OVERWRITE_IF
};
enum smb2_create_option {
    SMB2_DIRECTORY_FILE = 0x00000001,
    SMB2_NON_DIRECTORY_FILE = 0x00000040,
    SMB2_DELETE_ON_CLOSE = 0x00001000,
    SMB2_OPEN_REPARSE_POINT = 0x00200000
};

struct smb2_create {
    const char *name; /* relative to the share, separated by \; "" is the root */
    uint32_t access;
    uint32_t share_access;
    enum smb2_disposition disposition;
    uint32_t options;
    enum smb2_oplock oplock;
    uint32_t lease;        /* SMB2_OPLOCK_LEASE: enum smb2_lease bits */
    uint8_t lease_key[16]; /* name of the lease */
};

struct smb2_created {
    uint8_t file_id[SMB2_FILE_ID_SIZE];
    uint64_t end_of_file;
    uint8_t oplock;
};

int smb2_create_decode(const struct smb2_reply *reply, struct smb2_created *created);
struct outcome smb2_create(const struct smb2_target *target, const struct smb2_create *create,
                           struct smb2_created *created);

/* Closes the file, directory or pipe. */
struct outcome smb2_close(const struct smb2_target *target, const uint8_t *file_id);

/* The data of READ, IOCTL, QUERY_DIRECTORY and QUERY_INFO replies. */
int smb2_read_decode(const struct smb2_reply *reply, struct smb2_slice *data);
int smb2_ioctl_decode(const struct smb2_reply *reply, struct smb2_slice *data);
int smb2_query_decode(const struct smb2_reply *reply, struct smb2_slice *data);

/* Reads up to size bytes, which smb2_connection_payload() must allow for one request. At the end of
 * the file: OUTCOME_OK without data. */
struct outcome smb2_read(const struct smb2_target *target, const uint8_t *file_id, uint64_t offset,
                         uint32_t size, struct smb2_data *out);

/* Writes data in one request; *written: how much the server accepted. */
int smb2_write_decode(const struct smb2_reply *reply, uint32_t *written);
struct outcome smb2_write(const struct smb2_target *target, const uint8_t *file_id, uint64_t offset,
                          const void *data, uint32_t size, uint32_t *written);

enum smb2_fsctl {
    SMB2_FSCTL_PIPE_TRANSCEIVE = 0x0011c017,
    SMB2_FSCTL_DFS_GET_REFERRALS = 0x00060194
};

/* file_id NULL: the control concerns no file. */
struct outcome smb2_ioctl(const struct smb2_target *target, const uint8_t *file_id,
                          enum smb2_fsctl control, const void *input, uint32_t input_size,
                          uint32_t output_max, struct smb2_data *out);

/* Sends an ECHO and waits for the reply. session may be NULL. */
struct outcome smb2_echo(struct smb2_connection *connection, struct smb2_session *session);

/* After the last file: OUTCOME_OK without data. */
struct outcome smb2_query_directory(const struct smb2_target *target, const uint8_t *file_id,
                                    uint8_t information_class, bool restart, const char *pattern,
                                    uint32_t output_max, struct smb2_data *out);

/* 2.2.37: type 1 file, 2 file system, 3 security, 4 quota. OUTCOME_OK even if the data does not
 * fit.
 */
struct outcome smb2_query_info(const struct smb2_target *target, const uint8_t *file_id,
                               uint8_t type, uint8_t information_class, uint32_t additional,
                               uint32_t output_max, struct smb2_data *out);

/* One entry of FileDirectoryInformation (MS-FSCC 2.4.10). name is UTF-16LE inside the listing. */
struct smb2_entry {
    struct smb2_slice name;
    uint64_t end_of_file;
    uint32_t attributes;
};
enum {
    SMB2_FILE_DIRECTORY_INFORMATION = 1,
    SMB2_ATTRIBUTE_DIRECTORY = 0x10,
    SMB2_ATTRIBUTE_REPARSE_POINT = 0x400
};

/* Reads the entry at *at and advances *at. 1: an entry, 0: no more entries, -EBADMSG. */
int smb2_entry_next(const uint8_t *listing, size_t size, size_t *at, struct smb2_entry *entry);

/* Counts the referrals of a RESP_GET_DFS_REFERRAL (MS-DFSC 2.2.4). -EBADMSG: malformed. */
int smb2_dfs_referrals_decode(const uint8_t *data, size_t size, unsigned *count);

#endif
