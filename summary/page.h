/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --html: one page that tells it all without a network and without scripts: heat map, rate and
 * response time over offered load, percentiles by protocol, failures, server samples, and each
 * cell's details. It is well-formed XML.
 */
#ifndef SUMMARY_PAGE_H
#define SUMMARY_PAGE_H

#include <stdio.h>

#include "base/error.h"
#include "summary/compare.h"
#include "summary/grid.h"
#include "summary/reading.h"

/* The page of a grid. Returns 0, or a negative errno with a line in error. */
int page_print(FILE *stream, const struct grid *grid, const struct readings *readings,
               struct error *error);

/* The page of a comparison: both grids side by side. */
int page_print_compare(FILE *stream, const struct compare *compare, struct error *error);

/* Index of the knee among count points in order of rising offered load, or SIZE_MAX: where the
 * largest rate so far lies highest above the straight line from the first to the largest. There is
 * none when it is hardly above that, or when the rate goes on growing by a third and more. */
size_t page_knee(const double *load, const double *rate, size_t count);

#endif
