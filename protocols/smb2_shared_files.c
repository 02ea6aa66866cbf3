/* SPDX-License-Identifier: Apache-2.0 */
/* The survey of SYSVOL and NETLOGON, and picking from what it found. */
#include "protocols/smb2_shared_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "protocols/smb2.h"
#include "protocols/utf16.h"

enum { FILES_MOST = 2000, DEPTH_MOST = 6, PATH_MOST = 400, LIST_ACCESS = 0x00100081 };

struct list {
    struct smb2_shared_file *items;
    size_t count, capacity;
};

struct smb2_shared_files {
    struct list lists[SMB2_SHARED_CLASSES];
};

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

static size_t total(const struct smb2_shared_files *files)
{
    size_t sum = 0;
    for (size_t class = 0; class < SMB2_SHARED_CLASSES; class ++)
        sum += files->lists[class].count;
    return sum;
}

static int add(struct smb2_shared_files *files, enum smb2_shared_class class, enum smb2_share share,
               const char *path)
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

/* Scripts by their names' ends and by where they are: NETLOGON is the scripts' share. */
static bool is_script(enum smb2_share share, const char *path)
{
    static const char *const ends[] = {".bat", ".cmd", ".vbs", ".ps1", ".js", ".exe", ".kix"};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof ends / sizeof ends[0]; i++)
        if (strcasecmp(dot, ends[i]) == 0)
            return true;
    return share == SMB2_SHARE_NETLOGON;
}

/* One walk over one share. */
struct walk {
    struct smb2_shared_files *files;
    struct smb2_target target;
    enum smb2_share share;
};

static struct outcome walk_folder(const struct walk *walk, const char *path, int depth);

/* An entry of the folder at path: a file is noted, a folder noted and walked. */
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
    if (itself || !fits || total(walk->files) >= FILES_MOST)
        return outcome_ok();
    bool folder = entry->attributes & SMB2_ATTRIBUTE_DIRECTORY;
    enum smb2_shared_class class = folder                         ? SMB2_SHARED_DIRECTORY
                                   : is_script(walk->share, full) ? SMB2_SHARED_SCRIPT
                                                                  : SMB2_SHARED_POLICY;
    rc = add(walk->files, class, walk->share, full);
    if (rc)
        return outcome_of_error(rc);
    return folder && depth < DEPTH_MOST ? walk_folder(walk, full, depth + 1) : outcome_ok();
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

static struct outcome walk_folder(const struct walk *walk, const char *path, int depth)
{
    struct smb2_created created;
    struct smb2_data data = {0};
    struct smb2_create create = {.name = path,
                                 .access = LIST_ACCESS,
                                 .share_access = 7,
                                 .disposition = SMB2_OPEN,
                                 .options = SMB2_DIRECTORY_FILE};
    struct outcome outcome = smb2_create(&walk->target, &create, &created);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
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

static struct outcome walk_share(struct conversation *admin, struct smb2_shared_files *files,
                                 enum smb2_share share)
{
    struct walk walk = {.files = files, .share = share};
    struct outcome outcome = smb2_need_tree(admin, SMB2_USER, share, &walk.target);
    return outcome.kind == OUTCOME_OK ? walk_folder(&walk, "", 0) : outcome;
}

int smb2_survey(struct conversation *admin, struct smb2_shared_files **out, char *error,
                size_t error_size)
{
    *out = NULL;
    struct smb2_shared_files *files = calloc(1, sizeof *files);
    if (!files) {
        snprintf(error, error_size, "out of memory");
        return -ENOMEM;
    }
    admin->kerberos |= admin->dc->admin_ccache != NULL; /* -k */
    struct outcome outcome = walk_share(admin, files, SMB2_SHARE_SYSVOL);
    const char *share = "SYSVOL";
    if (outcome.kind == OUTCOME_OK) {
        outcome = walk_share(admin, files, SMB2_SHARE_NETLOGON);
        share = "NETLOGON";
    }
    smb2_reset(admin);
    if (outcome.kind != OUTCOME_OK) {
        snprintf(error, error_size, "reading %s over SMB2: %s", share, outcome.cause);
        smb2_shared_files_free(files);
        return -EIO;
    }
    *out = files;
    return 0;
}
