/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are written atomically. */
#include "base/files/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/text_file.h"

static int print_and_flush(FILE *stream, int (*print)(FILE *stream, void *context), void *context);
static int print_to_file(const char *path, int (*print)(FILE *stream, void *context),
                         void *context);
static int replace_file(const char *path, int (*print)(FILE *stream, void *context), void *context);
static int open_temporary(char *path);
static int write_through(const char *path, int (*print)(FILE *stream, void *context),
                         void *context);

int atomic_file_write(const char *path, int (*print)(FILE *stream, void *context), void *context,
                      struct error *error)
{
    bool standard = strcmp(path, "-") == 0;
    int written =
        standard ? print_and_flush(stdout, print, context) : print_to_file(path, print, context);
    if (written < 0 && standard)
        error_set(error, written, "cannot write standard output: %s", strerror(-written));
    else if (written < 0)
        error_set(error, written, "%s: cannot be written: %s", path, strerror(-written));
    return written;
}

static int print_and_flush(FILE *stream, int (*print)(FILE *stream, void *context), void *context)
{
    int result = print(stream, context);
    errno = 0;
    return result == 0 ? text_file_flush(stream) : result;
}

static int print_to_file(const char *path, int (*print)(FILE *stream, void *context), void *context)
{
    struct stat stat_of;
    if (stat(path, &stat_of) < 0)
        return replace_file(path, print, context);
    if (!S_ISREG(stat_of.st_mode))
        return write_through(path, print, context);
    /* The target of a symbolic link is replaced, not the link. */
    char *target = realpath(path, NULL);
    int result = target ? replace_file(target, print, context) : -errno;
    free(target);
    return result;
}

/* Writes a temporary file next to path, then renames it to path. */
static int replace_file(const char *path, int (*print)(FILE *stream, void *context), void *context)
{
    char *temporary = NULL;
    FILE *stream = NULL;
    int fd = -1, result = -ENOMEM;
    if (asprintf(&temporary, "%s.XXXXXX", path) < 0)
        return -ENOMEM;
    result = fd = open_temporary(temporary);
    if (fd < 0)
        goto cleanup;
    stream = fdopen(fd, "w");
    result = stream ? print_and_flush(stream, print, context) : -errno;
    if (result == 0 && fsync(fd) < 0)
        result = -errno;
    if ((stream ? fclose(stream) : close(fd)) < 0 && result == 0)
        result = -errno;
    if (result == 0 && rename(temporary, path) < 0)
        result = -errno;
    if (result < 0)
        unlink(temporary);
cleanup:
    free(temporary);
    return result;
}

/* Creates the temporary file with the mode that open() would have given it. path is its template
 * for mkstemp(). */
static int open_temporary(char *path)
{
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        return -errno;
    mode_t mask = umask(0);
    umask(mask);
    if (fchmod(fd, 0666 & ~mask) == 0)
        return fd;
    int result = -errno;
    close(fd);
    unlink(path);
    return result;
}

/* Writes to a device or pipe, which must not be replaced by a regular file. */
static int write_through(const char *path, int (*print)(FILE *stream, void *context), void *context)
{
    FILE *stream = fopen(path, "we");
    if (!stream)
        return -errno;
    int result = print_and_flush(stream, print, context);
    if (fclose(stream) == EOF && result == 0)
        result = -errno;
    return result;
}
