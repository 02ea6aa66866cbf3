/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --html: a self-contained page without scripts: heat map, rate and response time over offered
 * load, percentiles by protocol, failures, server samples, and details of each cell. The page is
 * well-formed XML.
 */
#ifndef SUMMARY_PAGE_H
#define SUMMARY_PAGE_H

#include <stdio.h>

#include "base/error.h"
#include "summary/compare.h"
#include "summary/grid.h"
#include "summary/reading.h"
#include "summary/vary.h"

/* The page of a grid. Returns 0, or a negative errno with a line in error. */
int page_print(FILE *stream, const struct grid *grid, const struct readings *readings,
               struct error *error);

/* The page of a comparison: both grids side by side. */
int page_print_compare(FILE *stream, const struct compare *compare, struct error *error);

/* The page of a varied setting: what each value of the label reached. */
int page_print_vary(FILE *stream, const struct vary *vary, const struct readings *readings,
                    struct error *error);

/*
 * Index of the knee among count points sorted by offered load: where the largest rate so far is
 * farthest above the straight line from the first to the largest rate. SIZE_MAX: no knee, because
 * no point is clearly above that line, the rate still grows by a third or more afterwards, or the
 * server kept up with all loads from there on. kept_up may be NULL: unknown.
 */
size_t page_knee(const double *load, const double *rate, const bool *kept_up, size_t count);

#endif
