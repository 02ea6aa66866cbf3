/* SPDX-License-Identifier: Apache-2.0 */
/* What every program does first and last, and its exit statuses. */
#ifndef BASE_PROGRAM_H
#define BASE_PROGRAM_H

#include <stdbool.h>

enum exit_status {
    EXIT_OK = 0,
    EXIT_FAILED = 1,        /* the program could not do all of its work */
    EXIT_USAGE = 2,         /* a wrong option, argument or input file */
    EXIT_INTERRUPTED = 130, /* a signal ended the program: 128 + SIGINT, as shells report it */
    EXIT_NO_READER = 141    /* the reader of standard output has ended: 128 + SIGPIPE */
};

/*
 * To be called first in main(). Messages begin with name from here on. Fills the standard file
 * descriptors that the caller closed. Ignores SIGPIPE and SIGXFSZ, so that a vanished reader or a
 * file size limit causes a failed write, which is reported, instead of ending the program silently.
 */
void program_begin(const char *name);

/* To be called last in main(). Returns the exit status: EXIT_FAILED instead of EXIT_OK when
 * standard output is full or closed, which is reported, and EXIT_NO_READER instead of both when its
 * reader has ended before it got everything. Other statuses are returned unchanged: their cause is
 * already reported. */
int program_end(int status);

/* Flushes standard output. When anything written to it was lost, returns a negative errno and
 * reports it, once per program. A pipe whose reader has ended is not reported. */
int program_flush_output(void);

/* Whether standard output is a pipe without a reader, as in `traffic-summary results | head`. A
 * failure to write to it needs no message. */
bool program_reader_is_gone(void);

#endif
