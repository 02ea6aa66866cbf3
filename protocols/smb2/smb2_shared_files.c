/* SPDX-License-Identifier: Apache-2.0 */
/* Surveys SYSVOL and NETLOGON, and picks files from the result. */
#include "protocols/smb2/smb2_shared_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/utf16.h"
#include "protocols/smb2/smb2.h"
#include "protocols/smb2/smb2_private.h"

enum {
    FILES_MOST = 2000,
    DEPTH_MOST = 6,
    PATH_MOST = 400,
    /* The same access as in smb2.c. */
    LIST_ACCESS = 0x00120081,
    READ_ACCESS = 0x00120089
};

struct list {
    struct smb2_shared_file *items;
    size_t count, capacity;
};

struct smb2_shared_files {
    struct list lists[SMB2_SHARED_CLASSES];
};

/* The search of one share. */
struct walk {
    struct smb2_shared_files *files;
    struct smb2_target target;
    enum smb2_share share;
};

static struct outcome walk_share(struct conversation *conversation, struct smb2_shared_files *files,
                                 enum smb2_share share);
static struct outcome walk_folder(const struct walk *walk, const char *path, int depth);
static struct outcome open_path(const struct walk *walk, const char *path, bool folder,
                                struct smb2_created *created);
static int shared_files_add(struct smb2_shared_files *files, enum smb2_shared_class class,
                            enum smb2_share share, const char *path);
static struct outcome walk_listing(const struct walk *walk, const char *path,
                                   const struct smb2_data *data, int depth);
static struct outcome walk_entry(const struct walk *walk, const char *path,
                                 const struct smb2_entry *entry, int depth);
static size_t count_files(const struct smb2_shared_files *files);
static struct outcome try_file(const struct walk *walk, const char *path);
static bool is_script(enum smb2_share share, const char *path);

int smb2_survey(struct conversation *conversation, struct smb2_shared_files **out,
                struct error *error)
{
    *out = NULL;
    struct smb2_shared_files *files = calloc(1, sizeof *files);
    if (!files)
        return error_no_memory(error);
    struct outcome outcome = walk_share(conversation, files, SMB2_SHARE_SYSVOL);
    const char *share = "SYSVOL";
    if (outcome.kind == OUTCOME_OK) {
        outcome = walk_share(conversation, files, SMB2_SHARE_NETLOGON);
        share = "NETLOGON";
    }
    smb2_reset(conversation);
    if (outcome.kind != OUTCOME_OK) {
        smb2_shared_files_free(files);
        return error_set(error, -EIO, "reading %s over SMB2: %s", share, outcome.cause);
    }
    *out = files;
    return 0;
}

static struct outcome walk_share(struct conversation *conversation, struct smb2_shared_files *files,
                                 enum smb2_share share)
{
    struct walk walk = {.files = files, .share = share};
    struct outcome outcome = smb2_need_tree(conversation, SMB2_USER, share, &walk.target);
    return outcome.kind == OUTCOME_OK ? walk_folder(&walk, "", 0) : outcome;
}

static struct outcome walk_folder(const struct walk *walk, const char *path, int depth)
{
    struct smb2_created created;
    struct smb2_data data = {0};
    struct outcome outcome = open_path(walk, path, true, &created);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    int rc = *path ? shared_files_add(walk->files, SMB2_SHARED_DIRECTORY, walk->share, path) : 0;
    if (rc)
        return outcome_of_error(rc);
    bool more = true;
    for (bool first = true; outcome.kind == OUTCOME_OK && more; first = false) {
        outcome =
            smb2_query_directory(&walk->target, created.file_id, SMB2_FILE_DIRECTORY_INFORMATION,
                                 first, "*", SMB2_CREDIT_UNIT, &data);
        more = data.size > 0;
        if (outcome.kind == OUTCOME_OK && more)
            outcome = walk_listing(walk, path, &data, depth);
        smb2_data_free(&data);
    }
    struct outcome closed = smb2_close(&walk->target, created.file_id);
    return outcome.kind == OUTCOME_OK ? closed : outcome;
}

static struct outcome open_path(const struct walk *walk, const char *path, bool folder,
                                struct smb2_created *created)
{
    struct smb2_create create = {.name = path,
                                 .access = folder ? LIST_ACCESS : READ_ACCESS,
                                 .share_access = 7,
                                 .disposition = SMB2_OPEN,
                                 .options = folder ? SMB2_DIRECTORY_FILE : SMB2_NON_DIRECTORY_FILE};
    return smb2_create(&walk->target, &create, created);
}

static int shared_files_add(struct smb2_shared_files *files, enum smb2_shared_class class,
                            enum smb2_share share, const char *path)
{
    struct list *list = &files->lists[class];
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 16;
        struct smb2_shared_file *grown = realloc(list->items, capacity * sizeof *grown);
        if (!grown)
            return -ENOMEM;
        list->items = grown;
        list->capacity = capacity;
    }
    char *copy = strdup(path);
    if (!copy)
        return -ENOMEM;
    list->items[list->count++] = (struct smb2_shared_file){.share = share, .path = copy};
    return 0;
}

static struct outcome walk_listing(const struct walk *walk, const char *path,
                                   const struct smb2_data *data, int depth)
{
    struct smb2_entry entry;
    struct outcome outcome = outcome_ok();
    size_t at = 0;
    int more = 1;
    while (outcome.kind == OUTCOME_OK &&
           (more = smb2_entry_next(data->data, data->size, &at, &entry)) > 0)
        outcome = walk_entry(walk, path, &entry, depth);
    return more < 0 ? outcome_failed("SMB2: malformed directory listing") : outcome;
}

/* Visits an entry of the folder at path. Skips what this user may not open, such as a policy for
 * others. A broken connection ends the walk. */
static struct outcome walk_entry(const struct walk *walk, const char *path,
                                 const struct smb2_entry *entry, int depth)
{
    char *name = NULL, full[PATH_MOST];
    int rc = utf16le_to_utf8(entry->name.data, entry->name.size, &name);
    if (rc)
        return outcome_of_error(rc);
    bool itself = strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
    int length = snprintf(full, sizeof full, "%s%s%s", path, *path ? "\\" : "", name);
    free(name);
    bool fits = length >= 0 && (size_t)length < sizeof full;
    bool folder = entry->attributes & SMB2_ATTRIBUTE_DIRECTORY;
    if (itself || !fits || count_files(walk->files) >= FILES_MOST ||
        (folder && depth == DEPTH_MOST))
        return outcome_ok();
    struct outcome outcome = folder ? walk_folder(walk, full, depth + 1) : try_file(walk, full);
    return walk->target.connection->error ? outcome : outcome_ok();
}

static size_t count_files(const struct smb2_shared_files *files)
{
    size_t sum = 0;
    for (size_t class = 0; class < SMB2_SHARED_CLASSES; class ++)
        sum += files->lists[class].count;
    return sum;
}

/* Keeps a file that the user may open. */
static struct outcome try_file(const struct walk *walk, const char *path)
{
    struct smb2_created created;
    struct outcome outcome = open_path(walk, path, false, &created);
    if (outcome.kind == OUTCOME_OK)
        outcome = smb2_close(&walk->target, created.file_id);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    int rc = shared_files_add(
        walk->files, is_script(walk->share, path) ? SMB2_SHARED_SCRIPT : SMB2_SHARED_POLICY,
        walk->share, path);
    return rc ? outcome_of_error(rc) : outcome;
}

/* Recognizes scripts by their extension or their share: NETLOGON contains the scripts. */
static bool is_script(enum smb2_share share, const char *path)
{
    static const char *const ends[] = {".bat", ".cmd", ".vbs", ".ps1", ".js", ".exe", ".kix"};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof ends / sizeof ends[0]; i++)
        if (strcasecmp(dot, ends[i]) == 0)
            return true;
    return share == SMB2_SHARE_NETLOGON;
}

int smb2_check_share(struct conversation *conversation, struct error *error)
{
    static const struct smb2_open_request scratch = {.file_class = SMB2_FILE_OTHER};
    const char *name = conversation->dc->options.smb_share;
    struct outcome outcome = smb2_logon(conversation);
    bool unknown = outcome.kind != OUTCOME_OK;
    const char *refused = "cannot connect to share";
    if (!unknown)
        outcome = smb2_connect_tree(conversation, SMB2_SHARE_OTHER);
    if (!unknown && outcome.kind == OUTCOME_OK) {
        refused = "a test user cannot write to share";
        outcome = smb2_open_file(conversation, &scratch);
    }
    /* A broken connection proves nothing about the share. */
    const struct smb2_state *state = conversation->smb2;
    unknown = unknown || !state || !state->connection || state->connection->error;
    smb2_reset(conversation); /* also deletes the file, which is opened with delete-on-close */
    if (unknown || outcome.kind == OUTCOME_OK)
        return 0;
    return error_set(error, -EINVAL, "--smb-share: %s \"%s\": %s", refused, name, outcome.cause);
}

void smb2_shared_files_free(struct smb2_shared_files *files)
{
    if (!files)
        return;
    for (size_t class = 0; class < SMB2_SHARED_CLASSES; class ++) {
        for (size_t i = 0; i < files->lists[class].count; i++)
            free(files->lists[class].items[i].path);
        free(files->lists[class].items);
    }
    free(files);
}

size_t smb2_shared_files_count(const struct smb2_shared_files *files, enum smb2_shared_class class)
{
    return files ? files->lists[class].count : 0;
}

const struct smb2_shared_file *smb2_shared_files_pick(const struct smb2_shared_files *files,
                                                      enum smb2_shared_class class, uint64_t random)
{
    size_t count = smb2_shared_files_count(files, class);
    return count ? &files->lists[class].items[random % count] : NULL;
}
