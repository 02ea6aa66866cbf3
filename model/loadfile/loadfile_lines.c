/* SPDX-License-Identifier: Apache-2.0 */
#include "model/loadfile/loadfile_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "model/loadfile/loadfile.h"

enum { BUFFER_SIZE = 64 << 10, GZIP_WINDOW = 15 + 16 };

struct loadfile_lines {
    FILE *file;
    bool gzip, inflating, member_ended, at_end;
    z_stream stream;
    uint8_t packed[BUFFER_SIZE];
    char text[BUFFER_SIZE];
    size_t begin, end; /* of the text that was not taken yet */
};

static int fill_text(struct loadfile_lines *lines);
static ssize_t lines_read(struct loadfile_lines *lines, char *to, size_t room);
static ssize_t lines_inflate(struct loadfile_lines *lines, char *to, size_t room);
static int next_member(struct loadfile_lines *lines);
static ssize_t fill_packed(struct loadfile_lines *lines);

struct loadfile_lines *loadfile_lines_new(FILE *file, bool gzip)
{
    struct loadfile_lines *lines = calloc(1, sizeof *lines);
    if (!lines)
        return NULL;
    lines->file = file;
    lines->gzip = gzip;
    lines->inflating = gzip && inflateInit2(&lines->stream, GZIP_WINDOW) == Z_OK;
    if (gzip == lines->inflating)
        return lines;
    free(lines);
    return NULL;
}

void loadfile_lines_free(struct loadfile_lines *lines)
{
    if (lines && lines->inflating)
        inflateEnd(&lines->stream);
    free(lines);
}

int loadfile_lines_next(struct loadfile_lines *lines, char **line)
{
    char *end;
    while (!(end = memchr(lines->text + lines->begin, '\n', lines->end - lines->begin)) &&
           !lines->at_end) {
        if (lines->end - lines->begin > LOADFILE_LINE_MAX)
            return -E2BIG;
        int result = fill_text(lines);
        if (result < 0)
            return result;
    }
    char *begin = lines->text + lines->begin;
    if (!end && lines->begin == lines->end)
        return 0;
    /* There is always room for the NUL: fill_text() leaves a byte. */
    size_t length = end ? (size_t)(end - begin) : lines->end - lines->begin;
    lines->begin += length + (end != NULL);
    if (length > LOADFILE_LINE_MAX)
        return -E2BIG;
    if (memchr(begin, '\0', length))
        return -EILSEQ;
    if (length > 0 && begin[length - 1] == '\r')
        length--;
    begin[length] = '\0';
    *line = begin;
    return 1;
}

static int fill_text(struct loadfile_lines *lines)
{
    memmove(lines->text, lines->text + lines->begin, lines->end - lines->begin);
    lines->end -= lines->begin;
    lines->begin = 0;
    char *to = lines->text + lines->end;
    size_t room = sizeof lines->text - 1 - lines->end;
    ssize_t got = lines->gzip ? lines_inflate(lines, to, room) : lines_read(lines, to, room);
    if (got < 0)
        return (int)got;
    lines->end += (size_t)got;
    lines->at_end = got == 0;
    return 0;
}

static ssize_t lines_read(struct loadfile_lines *lines, char *to, size_t room)
{
    errno = 0;
    size_t got = fread(to, 1, room, lines->file);
    if (got == 0 && ferror(lines->file))
        return errno ? -errno : -EIO;
    return (ssize_t)got;
}

/* 0 at the end of the last member. A file that ends within a member is damaged. */
static ssize_t lines_inflate(struct loadfile_lines *lines, char *to, size_t room)
{
    z_stream *stream = &lines->stream;
    stream->next_out = (Bytef *)to;
    stream->avail_out = (uInt)room;
    while (stream->avail_out == room) {
        int more = lines->member_ended ? next_member(lines) : 1;
        if (more <= 0)
            return more;
        ssize_t got = 1;
        if (stream->avail_in == 0)
            got = fill_packed(lines);
        if (got <= 0)
            return got < 0 ? got : -EBADMSG;
        int result = inflate(stream, Z_NO_FLUSH);
        lines->member_ended = result == Z_STREAM_END;
        if (result != Z_OK && !lines->member_ended)
            return -EBADMSG;
    }
    return (ssize_t)(room - stream->avail_out);
}

/* A gzip file may have several members. 1: another begins; 0: the file ends here. */
static int next_member(struct loadfile_lines *lines)
{
    ssize_t got = lines->stream.avail_in ? 1 : fill_packed(lines);
    if (got <= 0)
        return (int)got;
    lines->member_ended = false;
    return inflateReset(&lines->stream) == Z_OK ? 1 : -EBADMSG;
}

/* The number of bytes that were read; 0: the file's end. */
static ssize_t fill_packed(struct loadfile_lines *lines)
{
    ssize_t got = lines_read(lines, (char *)lines->packed, sizeof lines->packed);
    if (got > 0) {
        lines->stream.next_in = lines->packed;
        lines->stream.avail_in = (uInt)got;
    }
    return got;
}
