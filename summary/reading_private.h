/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that collect and parse readings share. */
#ifndef SUMMARY_READING_PRIVATE_H
#define SUMMARY_READING_PRIVATE_H

#include "summary/reading.h"

/* Successful operations in percent of those that ended; NaN: none ended. */
double reading_success_rate(uint64_t ok, uint64_t failed);

/* Operations due in the window that ended in it, in percent of the planned; NaN: none planned. */
double reading_achieved(const struct reading *reading);

/* Sets the metrics that are derived from the histogram of response times. */
void reading_take_times(struct reading *reading);

#endif
