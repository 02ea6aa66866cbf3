/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of a recording, the traffic-summary format: one line per packet, with fields separated
 * by tabs,
 *
 *     time  IP protocol  stream  from  to  protocol  opcode  description  ...
 *
 * For ldap:3 the next fields are scope, base pattern, filter and attributes. For ldap:0 the sixth
 * and seventh of them are the authentication and its OID. Recordings that we write have a sixteenth
 * field: details that the format has no place for, as key=value separated by blanks.
 */
#ifndef MODEL_RECORDING_TEXT_H
#define MODEL_RECORDING_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "model/model.h"

/* One line. Its texts belong to the reader and are valid until the callback returns. */
struct recording_line {
    uint64_t line;      /* number in the file, from 1; ignored by the writer */
    int64_t time;       /* ns; the origin is the file's */
    const char *client; /* the sender of the request, as the file names it */
    const char *server;
    const char *stream; /* "" if the file does not give streams */
    const char *protocol, *opcode;
    const struct packet_row *row; /* of the packet table; NULL: it has none */
    bool reply;                   /* of server to client: nothing that a client plays */
    bool udp;
    /* This line includes all messages of its bind or session set-up, so that a line like it that
     * follows is a separate one. Written as legs=joined where this is not evident. */
    bool legs_joined;
    const struct packet_field *fields; /* checked details, without values of the network */
    size_t field_count;
};

/*
 * Reads a recording from an open file, which messages call name, in constant memory. Calls packet
 * for each line, in the order of the file, until it returns a value other than 0, which is
 * returned. -EINVAL with "file:line: expected ..." in error for wrong lines, or another negative
 * errno with a text in error.
 */
int recording_text_read(FILE *file, const char *name,
                        int (*packet)(void *context, const struct recording_line *packet),
                        void *context, struct error *error);

/* True if text starts like a line of a recording. */
bool recording_text_is_line(const char *text);

/* Sets *time to the nanoseconds of a time in decimal seconds, "1500000001.371377000". 0 or
 * -EINVAL. */
int recording_text_time(const char *text, int64_t *time);

/* Writes one line. description may be "". Errors are left in the stream, for ferror(). */
void recording_text_write(FILE *out, const struct recording_line *packet, const char *description);

#endif
