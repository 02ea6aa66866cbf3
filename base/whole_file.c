/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are written whole or not at all: results, pages, pictures. */
#include "base/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

static int draw_and_flush(FILE *stream, int (*draw)(FILE *stream, void *context), void *context);
static int draw_to_file(const char *path, int (*draw)(FILE *stream, void *context), void *context);
static int replace_file(const char *path, int (*draw)(FILE *stream, void *context), void *context);
static int open_temporary(char *path);
static int write_through(const char *path, int (*draw)(FILE *stream, void *context), void *context);

int whole_file_write(const char *path, int (*draw)(FILE *stream, void *context), void *context,
                     struct error *error)
{
    bool standard = strcmp(path, "-") == 0;
    int written =
        standard ? draw_and_flush(stdout, draw, context) : draw_to_file(path, draw, context);
    if (written < 0 && standard)
        error_set(error, written, "cannot write standard output: %s", strerror(-written));
    else if (written < 0)
        error_set(error, written, "%s: cannot be written: %s", path, strerror(-written));
    return written;
}

/* What draw() wrote must have gone out, too. */
static int draw_and_flush(FILE *stream, int (*draw)(FILE *stream, void *context), void *context)
{
    int result = draw(stream, context);
    errno = 0;
    if (result == 0 && (fflush(stream) == EOF || ferror(stream)))
        result = errno ? -errno : -EIO;
    return result;
}

static int draw_to_file(const char *path, int (*draw)(FILE *stream, void *context), void *context)
{
    struct stat stat_of;
    if (stat(path, &stat_of) < 0)
        return replace_file(path, draw, context);
    if (!S_ISREG(stat_of.st_mode))
        return write_through(path, draw, context);
    /* A link goes on pointing where it points to. */
    char *target = realpath(path, NULL);
    int result = target ? replace_file(target, draw, context) : -errno;
    free(target);
    return result;
}

/* The file beside its temporary one, which becomes it. */
static int replace_file(const char *path, int (*draw)(FILE *stream, void *context), void *context)
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
    result = stream ? draw_and_flush(stream, draw, context) : -errno;
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

/* Makes the temporary file with the rights that open() would have given it. */
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

/* A device or a pipe is written to; it must never be replaced by a file. */
static int write_through(const char *path, int (*draw)(FILE *stream, void *context), void *context)
{
    FILE *stream = fopen(path, "we");
    if (!stream)
        return -errno;
    int result = draw_and_flush(stream, draw, context);
    if (fclose(stream) == EOF && result == 0)
        result = -errno;
    return result;
}
