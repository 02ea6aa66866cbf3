/* SPDX-License-Identifier: Apache-2.0 */
/* The results folder of a sweep. */
#include "replay/sweep/sweep_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

static int store_make_folder(const char *folder, struct error *error);
static int store_fail(struct error *error, const char *what, const char *path, int number);
static int try_to_write(const struct sweep_store *store, struct error *error);

int sweep_store_open(struct sweep_store *store, const char *folder, struct error *error)
{
    *store = (struct sweep_store){.folder = folder, .lock = -1};
    int result = store_make_folder(folder, error);
    if (result < 0)
        return result;
    store->lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (store->lock < 0)
        return store_fail(error, "--results: cannot use", folder, errno);
    if (flock(store->lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        return error_set(error, -EBUSY, "--results: another sweep is using %s", folder);
    }
    return try_to_write(store, error);
}

/* Creates the folder and its parents. */
static int store_make_folder(const char *folder, struct error *error)
{
    char *path = strdup(folder);
    int result = 0;
    if (!path) {
        return error_no_memory(error);
    }
    for (char *at = strchr(path + 1, '/'); result == 0 && at; at = strchr(at + 1, '/')) {
        *at = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            result = store_fail(error, "--results: cannot create", path, errno);
        *at = '/';
    }
    if (result == 0 && mkdir(folder, 0777) != 0 && errno != EEXIST)
        result = store_fail(error, "--results: cannot create", folder, errno);
    free(path);
    return result;
}

static int store_fail(struct error *error, const char *what, const char *path, int number)
{
    error_set(error, -EINVAL, "%s %s: %s", what, path, strerror(number));
    return -number;
}

/* Detects a full or read-only folder before the first cell. */
static int try_to_write(const struct sweep_store *store, struct error *error)
{
    static const char name[] = ".traffic-sweep";
    static const char bytes[4096];
    int fd = openat(store->lock, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return store_fail(error, "--results: cannot write to", store->folder, errno);
    ssize_t written = write(fd, bytes, sizeof bytes);
    int number = written < 0 ? errno : written < (ssize_t)sizeof bytes ? ENOSPC : 0;
    close(fd);
    unlinkat(store->lock, name, 0);
    return number ? store_fail(error, "--results: cannot write to", store->folder, number) : 0;
}

void sweep_store_close(struct sweep_store *store)
{
    if (store->lock >= 0)
        close(store->lock);
    store->lock = -1;
}

int sweep_files_name(const struct sweep_store *store, const char *name, struct sweep_files *files)
{
    *files = (struct sweep_files){0};
    if (asprintf(&files->json, "%s/%s.json", store->folder, name) < 0)
        files->json = NULL;
    if (asprintf(&files->text, "%s/%s.txt", store->folder, name) < 0)
        files->text = NULL;
    if (asprintf(&files->unfinished_json, "%s/.%s.json", store->folder, name) < 0)
        files->unfinished_json = NULL;
    if (asprintf(&files->unfinished_text, "%s/.%s.txt", store->folder, name) < 0)
        files->unfinished_text = NULL;
    if (files->json && files->text && files->unfinished_json && files->unfinished_text)
        return 0;
    sweep_files_clear(files);
    return -ENOMEM;
}

void sweep_files_clear(struct sweep_files *files)
{
    free(files->json);
    free(files->text);
    free(files->unfinished_json);
    free(files->unfinished_text);
    *files = (struct sweep_files){0};
}

int sweep_files_finish(const struct sweep_files *files, struct error *error)
{
    if (rename(files->unfinished_text, files->text) != 0)
        return store_fail(error, "cannot write", files->text, errno);
    if (rename(files->unfinished_json, files->json) != 0)
        return store_fail(error, "cannot write", files->json, errno);
    return 0;
}

void sweep_files_abandon(const struct sweep_files *files)
{
    unlink(files->unfinished_text);
    unlink(files->unfinished_json);
}
