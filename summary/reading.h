/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readings: one per run, read from a result file of any format and reduced to what grids show.
 * A list is collected from files and folders. A run found in two files counts once.
 */
#ifndef SUMMARY_READING_H
#define SUMMARY_READING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "summary/result/histogram.h"

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
    METRIC_PLANNED_RATE,
    METRIC_ACHIEVED,
    METRIC_BYTES, /* NaN, like the next three, for runs without SMB2 */
    METRIC_READ_BYTES,
    METRIC_WRITTEN_BYTES,
    METRIC_IOPS,
    METRICS
};

/* Name of a metric on the command line, its unit, and how it is printed. */
struct metric_form {
    const char *name;
    const char *unit;
    int decimals;
    const char *title; /* for values that are printed with their unit */
};
extern const struct metric_form metric_forms[METRICS];
/* Writes a value with three significant digits and its unit: "119/s", "98.5%", "85.3 ms". out has
 * room for METRIC_TEXT_SIZE. */
enum { METRIC_TEXT_SIZE = 96 };
void metric_text(char *out, enum metric metric, double value);
/* The metric of this name; METRICS: there is none. */
enum metric metric_find(const char *name);

/* Whether a server kept up with a load: at least 98% of the planned operations ended, at least 90%
 * succeeded, and no more failed than with other loads, of which best_success is the largest success
 * rate. All are percent. false for NaN: unknown. */
bool reading_kept_up(double achieved, double success, double best_success);

enum reading_form {
    READING_JSON,
    READING_TEXT,  /* traffic-replay's text report */
    READING_PYTHON /* text report of Samba's Python script */
};

struct reading_label {
    char *name, *value;
};

struct reading {
    char *path;
    enum reading_form form;
    bool interrupted;
    bool spoiled; /* RESULT_SPOILED: the figures are not the server's */
    double r, S;
    /* NaN: the file does not hold it. Times are response times in seconds, but of READING_PYTHON:
     * its mean is of service times. */
    double metrics[METRICS];
    size_t label_count;
    struct reading_label *labels;
    /* Identity of a run; all 0 for READING_PYTHON, whose files have none. */
    uint64_t seed, ok, failed, planned;
    int64_t instance;
    double start;
    dev_t device;
    ino_t inode;
    /* What was measured; NULL or 0 for READING_PYTHON. */
    char *dc, *model_name, *version, *command;
    char model[65]; /* SHA-256 */
    char pace[64];  /* of a loadfile; "": none */
    double window;  /* seconds */
    /* READING_JSON only */
    uint64_t ended;         /* operations due in the window that ended in it */
    uint64_t unsent;        /* not sent, or dropped */
    double busy, timer_p99; /* of the generator; NaN: unknown */
    struct histogram response;
    double server_cpu;    /* processor seconds of the server's processes; NaN: not sampled */
    struct reading *more; /* other processes of this run; this reading holds the sums */
};

struct readings {
    struct reading *items;
    size_t count;
    size_t refused;  /* damaged files, files without r and S, and arguments that are not results */
    size_t foreign;  /* files in folders that are not results, except logs, models and the like */
    size_t repeated; /* files that readings_finish() dropped ... */
    size_t twins;    /* ... of which texts with a JSON of the same name */
    size_t joined;   /* files that readings_finish() joined to another process's run */
    /* Called with one line for each refused file. May be NULL. */
    void (*warning)(void *context, const char *line);
    void *context;
    size_t room;       /* private */
    size_t other_kind; /* private: all foreign files of the folder being read */
};

/* Reads a file, or all regular files in a folder and its sub-folders except names that begin with a
 * dot. Unusable files are reported through the warning and counted as refused. Files in a folder
 * that are not results are counted as foreign, and one warning gives their number. 0 or -ENOMEM. */
int readings_add(struct readings *readings, const char *path);
/*
 * Keeps one reading of each run, preferring JSON to text, and joins the processes of one run: JSON
 * results of the same model, server, r and labels but different instances, whose windows overlap.
 * Their counts, rates, histograms and S are added. Sorts by path. 0 or -ENOMEM.
 */
int readings_finish(struct readings *readings);
/* Whether all runs have the same pace as *first, which is set to the first run if it is NULL. Runs
 * in closed and open loop measure different things, and so do runs of different pace. -EINVAL: no,
 * with a line in error. */
int readings_check_pace(const struct readings *readings, const struct reading **first,
                        struct error *error);
void readings_clear(struct readings *readings);

/* Reads r and S from a base name such as dc1_r4_S5.txt or dc1_r0.5_S3.7_2.json. false: the name
 * does not contain them. */
bool reading_cell_of_name(const char *path, double *r, double *S);

void reading_clear(struct reading *reading);
/* Orders values of labels: numbers by size, before other texts. */
int reading_compare_values(const char *left, const char *right);
/* The value of a label, or NULL. */
const char *reading_label(const struct reading *reading, const char *name);

/* Reads one file's bytes into *reading, which must be zeroed. path stays the caller's. The caller
 * clears the reading, even after a failure. 0, -ENOMEM, or with a line in error -EINVAL or -ENOMSG
 * (not a result). */
int reading_parse(struct reading *reading, const char *bytes, size_t length, const char *path,
                  struct error *error);

#endif
