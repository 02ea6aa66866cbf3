/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of result files for tests of traffic-summary. */
#ifndef TESTS_LIB_RESULT_FILES_H
#define TESTS_LIB_RESULT_FILES_H

#include <stdint.h>

#include "summary/reading.h"
#include "summary/result/result.h"

/* One run of 1000 s with one packet type. */
struct results_run {
    double r, S;
    uint64_t seed, ok, failed;
    int64_t response; /* ns, of every operation */
};

/* What each run moves over SMB2: nothing, unless a test sets it. */
extern struct results_data {
    uint64_t read, written, requests;
    const char *pace; /* NULL: none */
} results_data;

/* The folder of the running test. */
extern char results_folder[256];
/* All warnings of results_read_folder(), one per line. */
extern char results_warnings[4096];

/* cmocka set-up and tear-down: a folder for the test, removed with its contents. */
int results_make_folder(void **state);
int results_remove_folder(void **state);

/* A path in the test's folder; valid until the next call. */
const char *results_path(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Writes a text to a file. */
void results_write_file(const char *path, const char *text);

/* Makes a result that satisfies the accounting identities. */
void results_make(struct result *result, const struct results_run *run);

/* Write the run as JSON or as a text report. */
void results_write_json(const struct results_run *run, const char *path);
void results_write_text(const struct results_run *run, const char *path);

/* Appends a line to results_warnings. */
void results_keep_warning(void *context, const char *line);

/* Reads the test's folder; results_warnings holds the warnings. The caller clears the readings. */
struct readings results_read_folder(void);

/* Writes one result per line of a table of r, S and rate, by results_write_json() or _text(). */
void results_write_published(const char *tsv,
                             void (*write)(const struct results_run *run, const char *path),
                             const char *ending);

/* A whole file as a string; the caller frees it. */
char *results_load_text(const char *path);

#endif
