/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The traffic-summary text: one line a packet, fields between tabs,
 *
 *     time  IP protocol  stream  from  to  protocol  opcode  description  ...
 *
 * where ldap:3 goes on with scope, base pattern, filter, attributes, ldap:0 with its authentication
 * and OID in the sixth and seventh of the fields that follow. Ours have one field more, the
 * sixteenth: details that the format has no place for, as key=value with blanks between them.
 */
#ifndef MODEL_RECORDING_TEXT_H
#define MODEL_RECORDING_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "model/model.h"

/* One line. Everything in it belongs to the reader and lasts until the callback returns. */
struct recording_line {
    uint64_t line;      /* of the file, from 1; nothing to a writer */
    int64_t time;       /* ns, as in the file: its origin is the file's */
    const char *client; /* who sent the request, whatever names the file gives */
    const char *server;
    const char *stream; /* "" when the file does not say */
    const char *protocol, *opcode;
    const struct packet_row *row; /* of the packet table; NULL: it has none */
    bool reply; /* of the server: nothing that a client plays. client and server are still these */
    bool udp;
    /* Of a bind or session set-up: this line stands for all of its messages, so that one directly
     * after it is another one. Written as legs=joined where nothing else tells. */
    bool legs_joined;
    const struct packet_field *fields; /* details, checked; no value of a network among them */
    size_t field_count;
};

/*
 * Reads a text line by line in memory that does not grow with it; path "-" is standard input. Each
 * line is one call of packet, in the file's order; another value than 0 that it returns ends the
 * reading and is returned. What is wrong is refused with "file:line: expected ..." in error and
 * -EINVAL; other failures are negative errnos with a line in error.
 */
int recording_text_read(const char *path,
                        int (*packet)(void *context, const struct recording_line *packet),
                        void *context, struct error *error);

/* The same from a stream that is open; name is what messages call it. Does not close it. */
int recording_text_read_file(FILE *file, const char *name,
                             int (*packet)(void *context, const struct recording_line *packet),
                             void *context, struct error *error);

/* True when text begins as a line of such a file does. */
bool recording_text_is_line(const char *text);

/* Nanoseconds of a time in decimal seconds, "1500000001.371377000". False if it is none. */
bool recording_text_time(const char *text, int64_t *time);

/* Writes one packet; the description may be "". Errors stay in the stream (ferror()). */
void recording_text_write(FILE *out, const struct recording_line *packet, const char *description);

#endif
