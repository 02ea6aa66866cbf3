/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options as rows of a table: name, letter, argument, where the value is stored, its limits, help.
 * A program's table is used to read its command line, to check and store values and to print
 * --help. Usage errors are reported in one line on standard error.
 */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/program.h"
#include "base/step.h"

/* The kind of a row's value: the type of the member that it is stored in. */
enum options_kind {
    OPTIONS_FLAG,      /* bool */
    OPTIONS_COUNTER,   /* int; each use adds 1 */
    OPTIONS_NUMBER,    /* double */
    OPTIONS_WHOLE,     /* uint64_t */
    OPTIONS_INT,       /* int */
    OPTIONS_UNSIGNED,  /* unsigned */
    OPTIONS_TEXT,      /* const char *, not empty */
    OPTIONS_NAME,      /* const char *, 1 to 255 bytes without control characters */
    OPTIONS_INPUT,     /* const char *, a readable file */
    OPTIONS_OUTPUT,    /* const char *, a writable file, or "-" */
    OPTIONS_SECRET,    /* char *, not empty; the argument is overwritten after it is copied */
    OPTIONS_CUSTOM,    /* parse() stores it */
    OPTIONS_HELP,      /* prints the table's help, and the program ends */
    OPTIONS_VERSION,   /* prints the version, and the program ends */
    OPTIONS_COMPLETION /* prints a completion script, and the program ends */
};

enum options_property {
    OPTIONS_ABOVE = 1,        /* the minimum itself is not allowed */
    OPTIONS_COMMAND_LINE = 2, /* not allowed in a configuration file */
    OPTIONS_OWN = 4           /* this bit and higher bits are free for the program */
};

/* Capacity of a scan; each table is checked against it at compile time. */
enum { OPTIONS_ROWS_MAX = 80, OPTIONS_ERROR_SIZE = 512 };

struct options_row {
    const char *name;     /* at most 31 letters */
    char letter;          /* 0: none */
    const char *argument; /* its name in --help; NULL: takes no argument */
    enum options_kind kind;
    size_t offset;       /* of the member in the owner, the struct that holds the values */
    double min, max;     /* of numbers */
    unsigned properties; /* enum options_property */
    int group;           /* in --help */
    const char *help;    /* lines are separated by \n */
    /* Stores value, which lives as long as owner, there. Returns NULL or what is wrong:
     * `"value" is not ...`. NULL: the program handles the row. */
    const char *(*parse)(void *owner, char *value);
};

/* The last three rows of every program's table. */
#define OPTIONS_COMPLETION_ROW(group)                                                              \
    {                                                                                              \
        "completion", 0, "bash|zsh", OPTIONS_COMPLETION, 0, 0, 0, OPTIONS_COMMAND_LINE, group,     \
            "print a completion script for this shell", NULL                                       \
    }
#define OPTIONS_HELP_ROW(group)                                                                    \
    {                                                                                              \
        "help", 'h', NULL, OPTIONS_HELP, 0, 0, 0, OPTIONS_COMMAND_LINE, group, "print this help",  \
            NULL                                                                                   \
    }
#define OPTIONS_VERSION_ROW(group)                                                                 \
    {                                                                                              \
        "version", 'V', NULL, OPTIONS_VERSION, 0, 0, 0, OPTIONS_COMMAND_LINE, group,               \
            "print the version", NULL                                                              \
    }

/* An option of another program that users try, and what to use instead. */
struct options_hint {
    const char *name; /* a long name, or one letter */
    const char *text;
};

/* Words that complete the value of an option. */
struct options_words {
    const char *option; /* its long name */
    /* In the shell's language, a quoted text or command substitution. $program is the program's
     * name as it was typed, "${others[@]}" the existing files and folders on the line. */
    const char *text;
    bool list; /* the value is a list, separated by commas */
};

/* What completion scripts need beside the rows. */
struct options_completion {
    const struct options_words *words; /* the last one has no option; NULL: none */
    const char *models;                /* suffixes of model files: "yaml|json"; NULL: any file */
    bool server;                       /* the second argument is a server's name */
    const char *after_dashes;          /* the program that gets what follows "--"; NULL: none */
};

struct options_table {
    const struct options_row *rows;
    size_t count;
    const char *const *groups; /* titles, in the order of --help */
    int group_count;
    int help_column;                  /* where the help texts begin */
    void (*print_help)(FILE *out);    /* all of --help; calls options_help() for the rows */
    const struct options_hint *hints; /* the last one has no name; NULL: none */
    struct options_completion completion;
};

/* Prints a usage error; returns EXIT_USAGE. */
int options_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints "out of memory"; returns EXIT_FAILED. */
int options_out_of_memory(void);
/* What is wrong with a value, for parse() to return. Valid until the next call. */
const char *options_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A seed from 0 to RANDOM_SEED_MAX, for parse(). Returns what is wrong, or NULL. */
const char *options_parse_seed(const char *value, uint64_t *seed);

/*
 * Reads a whole command line and stores all values in owner. argv is reordered: *first is the index
 * of the first argument that is no option. STEP_DONE after --help or --version, whose text is
 * printed, and after a usage error, which is reported.
 */
enum step options_read(const struct options_table *table, void *owner, int argc, char **argv,
                       int *first, int *status);

/* The row of this long name, or NULL. */
const struct options_row *options_find(const struct options_table *table, const char *name);
/* Whether a row has this letter. */
bool options_has_letter(const struct options_table *table, int letter);
/* The long name closest to a mistyped one; NULL: no name is close. */
const char *options_nearest(const struct options_table *table, const char *name);

/* Stores value (NULL: a flag's) in the row's member of owner. A SECRET is copied and overwritten;
 * other texts are pointed to. Returns NULL, or what is wrong. */
const char *options_apply(const struct options_row *row, void *owner, char *value);

/* NULL when the file can be read, or written ("-" always); else what is wrong. */
const char *options_check_input(const char *path);
const char *options_check_output(const char *path);

/* One pass over a command line, for programs that store the values later. getopt_long() has one
 * state per process, so there can be only one scan at a time. */
struct options_scan {
    const struct options_table *table;
    struct option long_options[OPTIONS_ROWS_MAX + 1];
    char letters[2 * OPTIONS_ROWS_MAX + 2];
    int argc;
    char **argv;
};

enum options_fault {
    OPTIONS_GOOD,
    OPTIONS_UNKNOWN,  /* no such option, or several begin with this name */
    OPTIONS_NO_VALUE, /* its argument is missing */
    OPTIONS_NEEDLESS  /* it has a value but takes none */
};

/* An option as it was given. */
struct options_given {
    enum options_fault fault;
    const struct options_row *row; /* NULL: unknown */
    char *value;                   /* points into argv; NULL: none */
    bool by_letter;                /* "-r", not "--replay-rate" */
    int letter;                    /* of an unknown option; 0: it has a long name */
    char name[OPTIONS_ERROR_SIZE]; /* of an unknown option with a long name, shortened */
};

/* Begins a scan. Options end at "--". Other arguments are moved to the end of argv. */
void options_scan(struct options_scan *scan, const struct options_table *table, int argc,
                  char **argv);
/* The next option; false at the end, with *first the index of the first other argument. */
bool options_next(struct options_scan *scan, struct options_given *given, int *first);
/* Reports the fault of a given option; returns EXIT_USAGE. */
int options_complain_of(const struct options_table *table, const struct options_given *given);
/* Handles an option of --help, --version or --completion: prints its text and returns STEP_DONE.
 * STEP_NEXT: any other option. */
enum step options_answer(const struct options_table *table, const struct options_given *given,
                         int *status);

/* Prints the completion script for "bash" or "zsh". Returns NULL, or what is wrong. */
const char *options_print_completion(const struct options_table *table, const char *shell,
                                     FILE *out);

/* Prints all rows by group. */
void options_help(const struct options_table *table, FILE *out);

#endif
