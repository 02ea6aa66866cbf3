/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What went wrong, for the person at the terminal: a code that the program acts on and one line of
 * text. Functions that can explain a failure take a pointer to the caller's struct error; functions
 * that need no text return a negative errno alone.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdarg.h>

enum { ERROR_TEXT_SIZE = 1024 };

/* A zeroed struct means no error. */
struct error {
    int code;                   /* negative errno; -EINVAL: the user's input is wrong */
    char text[ERROR_TEXT_SIZE]; /* "FILE:LINE: expected ...", without a newline */
};

/* Sets code and text, and returns the code. error may be NULL: the caller wants no text. */
int error_set(struct error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int error_set_args(struct error *error, int code, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

/* Sets -ENOMEM and "out of memory", and returns -ENOMEM. */
int error_no_memory(struct error *error);

#endif
