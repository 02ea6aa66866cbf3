/* SPDX-License-Identifier: Apache-2.0 */
/* Text files in memory. */
#include "base/files/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int text_file_read_all(int fd, const char *begin, size_t begun, size_t limit, char **text,
                              size_t *size);
static const char *not_text(const char *text, size_t size);

int text_file_read(const char *path, size_t limit, char **text, size_t *size, struct error *error)
{
    int fd = text_file_open(path, error);
    if (fd < 0)
        return fd;
    int result = text_file_read_rest(fd, path, NULL, 0, limit, text, size, error);
    close(fd);
    return result;
}

int text_file_open(const char *path, struct error *error)
{
    const char *name = text_file_name(path);
    struct stat status;
    int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        int result = -errno;
        return error_set(error, result, "%s: %s", name, strerror(-result));
    }
    if (fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
        close(fd);
        return error_set(error, -EINVAL, "%s: expected a file, found a directory", name);
    }
    return fd;
}

int text_file_read_rest(int fd, const char *path, const char *begin, size_t begun, size_t limit,
                        char **text, size_t *size, struct error *error)
{
    const char *name = text_file_name(path);
    int result = text_file_read_all(fd, begin, begun, limit, text, size);
    if (result == -EFBIG)
        error_set(error, -EINVAL, "%s:1:1: expected at most %zu MiB", name, limit >> 20);
    else if (result < 0)
        error_set(error, result, "%s: %s", name, strerror(-result));
    if (result < 0)
        return result;
    result = text_file_check(name, *text, *size, error);
    if (result < 0) {
        free(*text);
        *text = NULL;
    }
    return result;
}

/* begin[0..begun-1] is already read. */
static int text_file_read_all(int fd, const char *begin, size_t begun, size_t limit, char **text,
                              size_t *size)
{
    size_t room = begun + (64 << 10), used = begun;
    char *bytes = malloc(room + 1);
    if (bytes && begun > 0)
        memcpy(bytes, begin, begun);
    while (bytes) {
        ssize_t got = read(fd, bytes + used, room - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 || used + (size_t)got > limit) {
            int result = got < 0 ? -errno : -EFBIG;
            free(bytes);
            return result;
        }
        used += (size_t)got;
        if (got == 0)
            break;
        if (used == room) {
            char *larger = realloc(bytes, 2 * room + 1);
            if (!larger)
                free(bytes);
            bytes = larger;
            room *= 2;
        }
    }
    if (!bytes)
        return -ENOMEM;
    bytes[used] = '\0';
    *text = bytes;
    *size = used;
    return 0;
}

ssize_t text_file_read_start(int fd, char *bytes, size_t size)
{
    size_t used = 0;
    while (used < size) {
        ssize_t got = read(fd, bytes + used, size - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        if (got == 0)
            break;
        used += (size_t)got;
    }
    return (ssize_t)used;
}

int text_file_read_line(FILE *stream, char *line, size_t size)
{
    size_t length = 0;
    int byte;
    errno = 0;
    while ((byte = getc(stream)) != EOF && byte != '\n') {
        if (byte == '\0' || length + 1 >= size)
            return -EINVAL;
        line[length++] = (char)byte;
    }
    line[length] = '\0';
    if (ferror(stream))
        return errno ? -errno : -EIO;
    return byte == '\n' || length > 0;
}

int text_file_line_error(const char *path, size_t number, int code, struct error *error)
{
    if (code != -EINVAL)
        return error_set(error, code, "cannot read %s: %s", path, strerror(-code));
    return error_set(error, code, "%s:%zu: expected a line of text of fewer than %d bytes", path,
                     number, TEXT_FILE_LINE_SIZE);
}

int text_file_flush(FILE *stream)
{
    if (fflush(stream) == 0 && !ferror(stream))
        return 0;
    return errno ? -errno : -EIO;
}

int text_file_check(const char *name, const char *text, size_t size, struct error *error)
{
    const char *problem = not_text(text, size);
    if (problem) {
        return error_set(error, -EINVAL, "%s:1:1: %s", name, problem);
    }
    const char *nul = memchr(text, '\0', size);
    if (!nul)
        return 0;
    struct text_place place = text_file_place(text, (size_t)(nul - text));
    return error_set(error, -EINVAL, "%s:%u:%u: expected text, found a NUL byte", name, place.line,
                     place.column);
}

/* Recognizes files that are neither YAML nor JSON. NULL, or what is wrong. */
static const char *not_text(const char *text, size_t size)
{
    static const unsigned char captures[][4] = {{0xd4, 0xc3, 0xb2, 0xa1},
                                                {0xa1, 0xb2, 0xc3, 0xd4},
                                                {0x4d, 0x3c, 0xb2, 0xa1},
                                                {0xa1, 0xb2, 0x3c, 0x4d},
                                                {0x0a, 0x0d, 0x0d, 0x0a}};
    for (size_t i = 0; size >= 4 && i < sizeof captures / sizeof captures[0]; i++)
        if (memcmp(text, captures[i], 4) == 0)
            return "expected text, found a packet capture (traffic-learn makes models of them)";
    if (size == 0)
        return "expected text, found an empty file";
    size_t start = size < 1000 ? size : 1000;
    if (text[0] == '<' && memmem(text, start, "<pdml", 5))
        return "found tshark's PDML; give the capture itself to traffic-learn";
    if (size >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0))
        return "expected UTF-8, found UTF-16";
    return NULL;
}

struct text_place text_file_place(const char *text, size_t offset)
{
    struct text_place place = {1, 1};
    for (size_t i = 0; i < offset; i++) {
        if (text[i] == '\n')
            place = (struct text_place){place.line + 1, 1};
        else
            place.column += ((unsigned char)text[i] & 0xc0) != 0x80;
    }
    return place;
}

const char *text_file_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "stdin" : path;
}
