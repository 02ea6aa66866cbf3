/* SPDX-License-Identifier: Apache-2.0 */
/* The response times and seconds of a result in formats of other programs. */
#ifndef SUMMARY_RESULT_HDR_LOG_H
#define SUMMARY_RESULT_HDR_LOG_H

#include "summary/result/result.h"

/*
 * Writes response times as an HdrHistogram log, version 1.3, by atomic_file_write(): one line for
 * all operations, and one line for each packet type with the tag "ldap:3". Values are nanoseconds
 * with two significant digits; the column Interval_Max is in milliseconds. 0, or a negative errno
 * with one line in error.
 */
int hdr_log_write(const struct result *result, const char *path, struct error *error);

/* Writes the seconds of the window as CSV, with a head line, by atomic_file_write(). The column p95
 * is in seconds, and empty where nothing ended. 0, or a negative errno with one line in error. */
int seconds_csv_write(const struct result *result, const char *path, struct error *error);

#endif
