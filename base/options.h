/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options as rows of a table: name, letter, argument, where the value goes, what is allowed, help.
 * From a program's table its command line is read, values are checked and set, and --help is
 * printed. What is wrong is told in one line on standard error.
 */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Of what kind a row's value is: the type of the member that it goes to. */
enum options_kind {
    OPTIONS_FLAG,     /* bool */
    OPTIONS_COUNTER,  /* int, one more each time */
    OPTIONS_NUMBER,   /* double */
    OPTIONS_WHOLE,    /* uint64_t */
    OPTIONS_INT,      /* int */
    OPTIONS_UNSIGNED, /* unsigned */
    OPTIONS_TEXT,     /* const char *, not empty */
    OPTIONS_INPUT,    /* the same, a file that can be read */
    OPTIONS_OUTPUT,   /* the same, a file that can be written, or "-" */
    OPTIONS_SECRET,   /* char *, not empty, overwritten where it came from */
    OPTIONS_CUSTOM    /* parse() */
};

enum options_property {
    OPTIONS_ABOVE = 1,        /* the minimum itself is not allowed */
    OPTIONS_COMMAND_LINE = 2, /* not in a file */
    OPTIONS_OWN = 4           /* this bit and those above it mean what the program says */
};

/* Room for rows in a reading of a command line; a table is checked against it when it is compiled.
 */
enum { OPTIONS_ROWS_MAX = 80, OPTIONS_ERROR_SIZE = 512 };

struct options_row {
    const char *name;     /* at most 31 letters */
    char letter;          /* 0: none */
    const char *argument; /* NULL: takes none */
    enum options_kind kind;
    size_t offset;       /* of the member in the owner, the struct that holds the values */
    double min, max;     /* of numbers */
    unsigned properties; /* enum options_property */
    int group;           /* in --help */
    const char *help;    /* one line or several */
    /* Sets it from value, which lives as long as the owner; returns NULL or what is wrong:
     * `"value" is not ...`. NULL: the program looks at the row itself. */
    const char *(*parse)(void *owner, char *value);
};

struct options_table {
    const struct options_row *rows;
    size_t count;
    const char *const *groups; /* titles, in the order of --help */
    int group_count;
    int help_column; /* where its texts stand */
};

/* --- Mistakes --- */

/* Tells a mistake of the user's; returns EXIT_USAGE. */
int options_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Tells that there is no memory; returns EXIT_FAILED. */
int options_out_of_memory(void);
/* What is wrong with a value, for a parse() to return: good until the next is made. */
const char *options_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* --- Rows and values --- */

/* The row of this long name, or NULL. */
const struct options_row *options_find(const struct options_table *table, const char *name);
/* The long name that is nearest to a mistyped one, or NULL when none is near. */
const char *options_nearest(const struct options_table *table, const char *name);
/* Whether several long names begin with name. */
bool options_is_ambiguous(const struct options_table *table, const char *name);

/* Sets the row's member of owner from value (NULL: a flag), which a SECRET overwrites and the other
 * texts point to. NULL, or what is wrong. */
const char *options_apply(const struct options_row *row, void *owner, char *value);

/* Whether the file can be read, or written ("-" always): NULL, or what is wrong. */
const char *options_check_input(const char *path);
const char *options_check_output(const char *path);

/* --- The command line --- */

/* A reading of a command line. getopt_long() has one state a process: one reading at a time. */
struct options_scan {
    const struct options_table *table;
    struct option long_options[OPTIONS_ROWS_MAX + 1];
    char letters[2 * OPTIONS_ROWS_MAX + 2];
    int argc;
    char **argv;
};

enum options_fault {
    OPTIONS_GOOD,
    OPTIONS_UNKNOWN,  /* there is no such option, or several begin so */
    OPTIONS_NO_VALUE, /* its argument is missing */
    OPTIONS_NEEDLESS  /* it takes no value */
};

/* An option as it was given. */
struct options_given {
    enum options_fault fault;
    const struct options_row *row; /* NULL: unknown */
    char *value;                   /* points into argv; NULL: none */
    bool by_letter;                /* "-r", not "--replay-rate" */
    int letter;                    /* of an unknown one; 0: a long one */
    const char *word;              /* in which an unknown long one stands: "--name", "--name=..." */
};

/* Begins to read: options up to a "--". Words without a dash are moved behind the options in argv.
 */
void options_scan(struct options_scan *scan, const struct options_table *table, int argc,
                  char **argv);
/* The next option; false: there are no more, and *first is the index of the first other word. */
bool options_next(struct options_scan *scan, struct options_given *given, int *first);
/* Tells what is wrong with a known option; returns EXIT_USAGE. */
int options_complain_of(const struct options_given *given);

/* All rows by group, as --help shows them. */
void options_help(const struct options_table *table, FILE *out);

#endif
