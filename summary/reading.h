/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readings: one run each, as read from a result file of any form, reduced to what grids show.
 * A list of them is collected from files and folders, runs that two files tell of counted once.
 */
#ifndef SUMMARY_READING_H
#define SUMMARY_READING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum metric {
    METRIC_OK,
    METRIC_FAILED,
    METRIC_NOMINAL,
    METRIC_PLANNED,
    METRIC_MEAN,
    METRIC_P50,
    METRIC_P95,
    METRIC_P99,
    METRIC_SUCCESS_RATE,
    METRICS
};

/* How a metric is called on the command line, what it is measured in, how it is printed. */
struct metric_form {
    const char *name;
    const char *unit;
    int decimals;
};
extern const struct metric_form metric_forms[METRICS];
/* METRICS when there is none of this name. */
enum metric metric_find(const char *name);

enum reading_form {
    READING_JSON,
    READING_TEXT,  /* our report */
    READING_PYTHON /* the established Python tool's report */
};

struct reading {
    char *path;
    enum reading_form form;
    double r, S;
    /* NaN: the file does not hold it. Times are response times in seconds, but of READING_PYTHON:
     * its mean is of service times. */
    double metrics[METRICS];
    /* What tells one run from another; all 0 for READING_PYTHON, whose files do not tell. */
    uint64_t seed, ok, failed, planned;
    int64_t instance, start;
    dev_t device;
    ino_t inode;
};

struct readings {
    struct reading *items;
    size_t count;
    size_t refused;  /* files that were damaged, foreign or without a cell */
    size_t repeated; /* files left out by readings_finish() */
    /* Told for each file that was refused, in one line. May be NULL. */
    void (*warning)(void *context, const char *line);
    void *context;
    size_t room; /* private */
};

/* Reads path, a file or a folder with all its regular files and sub-folders (names that begin with
 * a dot are passed over). Returns 0 (what cannot be read is told and counted as refused), or
 * -ENOMEM. */
int readings_add(struct readings *readings, const char *path);
/* Leaves out all but one reading of each run (JSON before text) and sorts by path. */
void readings_finish(struct readings *readings);
void readings_clear(struct readings *readings);

/* r and S from a base name like dc1_r4_S5.txt or dc1_r0.5_S3.7_2.json; false: it does not tell. */
bool reading_cell_of_name(const char *path, double *r, double *S);

/* Reads one file's bytes into *reading (path is the caller's). 0, -ENOMEM, or -EINVAL with a line
 * in error. */
int reading_parse(struct reading *reading, const char *bytes, size_t length, const char *path,
                  char *error, size_t size);

#endif
