/* SPDX-License-Identifier: Apache-2.0 */
/* What surrounds a run of a loadfile: the statuses that it expects, and the run's folder. */
#include "protocols/nbench/nbench.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/nbench/nbench_private.h"
#include "protocols/ntstatus.h"

/* Marks a folder that a run has created, so that nothing else is ever removed. */
static const char mark[] = "traffic-replay.run";

enum { PATTERN = 0xab };

static bool is_busy(const struct outcome *outcome);
static int name_statuses(struct nbench *nbench, struct error *error);
static const char *status_name(const char *text);
static int folder_failed(const char *folder, const char *what, const struct outcome *outcome,
                         struct error *error);
static struct outcome touch_path(const struct smb2_target *target, const char *path,
                                 uint32_t access, uint32_t options,
                                 enum smb2_disposition disposition);

int nbench_new(const struct script *script, const char *folder, uint32_t clients,
               struct nbench **out, struct error *error)
{
    size_t largest = 1;
    for (uint32_t i = 0; i < script->step_count; i++) {
        const struct script_step *step = &script->steps[i];
        bool computed = step->flags & SCRIPT_COMPUTED_SIZE;
        size_t size = computed ? SMB2_IO_MAX : step->size;
        if (step->op == SCRIPT_WRITE && size > largest)
            largest = size < SMB2_IO_MAX ? size : SMB2_IO_MAX;
    }
    struct nbench *nbench = calloc(1, sizeof *nbench);
    if (!nbench)
        return error_no_memory(error);
    *nbench = (struct nbench){.script = script, .folder = folder, .clients = clients};
    nbench->statuses = calloc(script->status_count + 1, sizeof *nbench->statuses);
    nbench->pattern = malloc(largest);
    int result =
        nbench->statuses && nbench->pattern ? name_statuses(nbench, error) : error_no_memory(error);
    if (result < 0) {
        nbench_free(nbench);
        return result;
    }
    memset(nbench->pattern, PATTERN, largest);
    *out = nbench;
    return 0;
}

static int name_statuses(struct nbench *nbench, struct error *error)
{
    const struct script *script = nbench->script;
    for (uint32_t i = 0; i < script->status_count; i++) {
        const struct script_status *status = &script->statuses[i];
        nbench->statuses[i] = status_name(status->name);
        if (!nbench->statuses[i])
            return error_set(error, -EINVAL, "%s:%" PRIu32 ": unknown status %s", script->file,
                             status->line, status->name);
    }
    return 0;
}

/* NULL: there is no such status. */
static const char *status_name(const char *text)
{
    bool known = strcmp(text, "*") == 0 || strcmp(text, "ERROR") == 0 ||
                 strcmp(text, "NT_STATUS_OK") == 0 || ntstatus_is_name(text);
    if (strncmp(text, "0x", 2) == 0)
        return ntstatus_name((uint32_t)strtoul(text, NULL, 16));
    return known ? text : NULL;
}

void nbench_free(struct nbench *nbench)
{
    if (!nbench)
        return;
    free(nbench->statuses);
    free(nbench->pattern);
    free(nbench);
}

int nbench_create_folder(struct conversation *conversation, const char *folder, struct error *error)
{
    struct smb2_target target;
    char path[NBENCH_PATH_SIZE];
    struct outcome outcome = smb2_need_tree(conversation, SMB2_USER, SMB2_SHARE_OTHER, &target);
    if (outcome.kind != OUTCOME_OK)
        return folder_failed(folder, "cannot connect to the share", &outcome, error);
    outcome =
        touch_path(&target, folder, NBENCH_READ_ATTRIBUTES, SMB2_DIRECTORY_FILE, SMB2_CREATE_NEW);
    if (nbench_is_status(&outcome, "NT_STATUS_OBJECT_NAME_COLLISION"))
        return error_set(error, -EINVAL,
                         "the share has a folder \"%s\" already; remove that of a killed run with "
                         "-c, or give another --smb-folder or -I",
                         folder);
    snprintf(path, sizeof path, "%s\\%s", folder, mark);
    if (outcome.kind == OUTCOME_OK)
        outcome =
            touch_path(&target, path, NBENCH_WRITE_DATA, SMB2_NON_DIRECTORY_FILE, SMB2_CREATE_NEW);
    return outcome.kind == OUTCOME_OK
               ? 0
               : folder_failed(folder, "cannot be created on the share", &outcome, error);
}

static int folder_failed(const char *folder, const char *what, const struct outcome *outcome,
                         struct error *error)
{
    return error_set(error, -EIO, "folder \"%s\": %s: %s", folder, what, outcome->cause);
}

/* Opens and closes a path. */
static struct outcome touch_path(const struct smb2_target *target, const char *path,
                                 uint32_t access, uint32_t options,
                                 enum smb2_disposition disposition)
{
    struct smb2_created created;
    struct outcome outcome = nbench_open_path(target, path, access, options, disposition, &created);
    return outcome.kind == OUTCOME_OK ? nbench_close_path(target, &created, outcome) : outcome;
}

/* The server has not noticed yet that a client is gone, or others use the files. */
static bool is_busy(const struct outcome *outcome)
{
    return nbench_is_status(outcome, "NT_STATUS_SHARING_VIOLATION") ||
           nbench_is_status(outcome, "NT_STATUS_DELETE_PENDING") ||
           nbench_is_status(outcome, "NT_STATUS_DIRECTORY_NOT_EMPTY");
}

int nbench_remove_folder(struct conversation *conversation, const char *folder, struct error *error)
{
    struct smb2_target target;
    char path[NBENCH_PATH_SIZE];
    struct outcome outcome = smb2_need_tree(conversation, SMB2_USER, SMB2_SHARE_OTHER, &target);
    if (outcome.kind != OUTCOME_OK)
        return folder_failed(folder, "cannot connect to the share", &outcome, error);
    outcome = touch_path(&target, folder, NBENCH_READ_ATTRIBUTES, SMB2_DIRECTORY_FILE, SMB2_OPEN);
    if (nbench_is_status(&outcome, "NT_STATUS_OBJECT_NAME_NOT_FOUND"))
        return 0;
    snprintf(path, sizeof path, "%s\\%s", folder, mark);
    if (outcome.kind == OUTCOME_OK)
        outcome =
            touch_path(&target, path, NBENCH_READ_ATTRIBUTES, SMB2_NON_DIRECTORY_FILE, SMB2_OPEN);
    if (nbench_is_status(&outcome, "NT_STATUS_OBJECT_NAME_NOT_FOUND"))
        return error_set(error, -EINVAL,
                         "folder \"%s\" contains no file %s, so no run has created it; it is not "
                         "removed",
                         folder, mark);
    if (outcome.kind == OUTCOME_OK)
        outcome = nbench_delete_tree(&target, folder);
    if (is_busy(&outcome))
        return error_set(error, -EBUSY, "folder \"%s\": files are in use: %s", folder,
                         outcome.cause);
    return outcome.kind == OUTCOME_OK ? 1
                                      : folder_failed(folder, "cannot be removed", &outcome, error);
}
