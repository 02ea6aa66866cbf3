/* SPDX-License-Identifier: Apache-2.0 */
/* Paths that are opened for a moment, and the deletion of trees. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf16.h"
#include "protocols/nbench/nbench_private.h"
#include "protocols/smb2/smb2_change.h"

enum { DEPTH_MOST = 32, LISTING_SIZE = 65536, ROUNDS_MOST = 1 << 20 };

static struct outcome delete_folder(const struct smb2_target *target, const char *path,
                                    unsigned depth);
static struct outcome delete_entries(const struct smb2_target *target, const char *path,
                                     const uint8_t *file_id, unsigned depth, size_t *deleted);
static struct outcome delete_listed(const struct smb2_target *target, const char *path,
                                    const struct smb2_data *data, unsigned depth, size_t *deleted);
static struct outcome delete_entry(const struct smb2_target *target, const char *path,
                                   const struct smb2_entry *entry, unsigned depth, size_t *deleted);

struct outcome nbench_open_path(const struct smb2_target *target, const char *path, uint32_t access,
                                uint32_t options, enum smb2_disposition disposition,
                                struct smb2_created *created)
{
    const struct smb2_create create = {.name = path,
                                       .access = access,
                                       .share_access = NBENCH_SHARE_ALL,
                                       .disposition = disposition,
                                       .options = options};
    return smb2_create(target, &create, created);
}

struct outcome nbench_close_path(const struct smb2_target *target,
                                 const struct smb2_created *created, struct outcome outcome)
{
    if (target->connection->error)
        return outcome;
    struct outcome closed = smb2_close(target, created->file_id);
    return outcome.kind == OUTCOME_OK ? closed : outcome;
}

bool nbench_is_status(const struct outcome *outcome, const char *status)
{
    return outcome->kind == OUTCOME_FAILED && strcmp(outcome->cause, status) == 0;
}

struct outcome nbench_delete_tree(const struct smb2_target *target, const char *path)
{
    struct outcome outcome = delete_folder(target, path, 0);
    if (nbench_is_status(&outcome, "NT_STATUS_NOT_A_DIRECTORY"))
        return nbench_delete_path(target, path);
    return outcome;
}

static struct outcome delete_folder(const struct smb2_target *target, const char *path,
                                    unsigned depth)
{
    struct smb2_created created;
    size_t deleted = 1;
    if (depth == DEPTH_MOST)
        return outcome_failed("folders are nested too deeply");
    struct outcome outcome =
        nbench_open_path(target, path, NBENCH_READ_DATA | NBENCH_READ_ATTRIBUTES,
                         SMB2_DIRECTORY_FILE, SMB2_OPEN, &created);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    /* Until nothing is left: a listing may miss entries while others are deleted. */
    for (unsigned round = 0; outcome.kind == OUTCOME_OK && deleted && round < ROUNDS_MOST; round++)
        outcome = delete_entries(target, path, created.file_id, depth, &deleted);
    outcome = nbench_close_path(target, &created, outcome);
    return outcome.kind == OUTCOME_OK ? nbench_delete_path(target, path) : outcome;
}

static struct outcome delete_entries(const struct smb2_target *target, const char *path,
                                     const uint8_t *file_id, unsigned depth, size_t *deleted)
{
    struct smb2_data data;
    *deleted = 0;
    struct outcome outcome = smb2_query_directory(target, file_id, SMB2_FILE_DIRECTORY_INFORMATION,
                                                  true, "*", LISTING_SIZE, &data);
    if (outcome.kind == OUTCOME_OK)
        outcome = delete_listed(target, path, &data, depth, deleted);
    smb2_data_free(&data);
    return outcome;
}

static struct outcome delete_listed(const struct smb2_target *target, const char *path,
                                    const struct smb2_data *data, unsigned depth, size_t *deleted)
{
    struct outcome outcome = outcome_ok();
    struct smb2_entry entry;
    size_t at = 0;
    int more = 0;
    while (outcome.kind == OUTCOME_OK &&
           (more = smb2_entry_next(data->data, data->size, &at, &entry)) > 0)
        outcome = delete_entry(target, path, &entry, depth, deleted);
    return more < 0 ? outcome_failed("SMB2: malformed directory listing") : outcome;
}

static struct outcome delete_entry(const struct smb2_target *target, const char *path,
                                   const struct smb2_entry *entry, unsigned depth, size_t *deleted)
{
    char *name = NULL, full[NBENCH_PATH_SIZE];
    int rc = utf16le_to_utf8(entry->name.data, entry->name.size, &name);
    if (rc)
        return outcome_of_error(rc);
    bool itself = strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
    bool leads_out = strpbrk(name, "\\/") != NULL;
    int length = snprintf(full, sizeof full, "%s\\%s", path, name);
    free(name);
    if (itself)
        return outcome_ok();
    if (leads_out || length < 0 || (size_t)length >= sizeof full)
        return outcome_failed("SMB2: a listed name is no file name");
    bool folder = entry->attributes & SMB2_ATTRIBUTE_DIRECTORY &&
                  !(entry->attributes & SMB2_ATTRIBUTE_REPARSE_POINT);
    struct outcome outcome =
        folder ? delete_folder(target, full, depth + 1) : nbench_delete_path(target, full);
    *deleted += outcome.kind == OUTCOME_OK;
    return outcome;
}

struct outcome nbench_delete_path(const struct smb2_target *target, const char *path)
{
    struct smb2_created created;
    struct outcome outcome =
        nbench_open_path(target, path, NBENCH_DELETE, SMB2_OPEN_REPARSE_POINT, SMB2_OPEN, &created);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    outcome = smb2_set_disposition(target, created.file_id, true);
    return nbench_close_path(target, &created, outcome);
}
