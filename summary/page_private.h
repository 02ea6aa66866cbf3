/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the HTML page share: the page being written and its parts. */
#ifndef SUMMARY_PAGE_PRIVATE_H
#define SUMMARY_PAGE_PRIVATE_H

#include <stdbool.h>
#include <stdio.h>

#include "summary/detail.h"
#include "summary/page.h"

struct page {
    FILE *stream;
    const struct grid *grid;
    const struct readings *readings;
    const struct grid_cell *best; /* shown in detail; NULL: no cell has a value */
    struct detail total;          /* counts and causes of all runs */
    struct error *error;
};

/* Each part returns 0, or a negative errno with a line in page->error. */

/* A section for each cell, shown when its link in the grid is followed. Adds all cells' counts to
 * page->total. */
int page_print_cells(struct page *page);

/* The failures of a detail, the most frequent cause first, below a heading. 0 or -ENOMEM. */
int page_print_failures(FILE *stream, const struct detail *detail, const char *heading);

/* Rate and response time over offered load, and response times by protocol. */
int page_print_charts(const struct page *page);

/* The server's samples, of the first run of the best cell that has some. */
int page_print_samples(const struct page *page);

/* Adds up the runs of one cell. */
int page_cell_detail(const struct page *page, const struct grid_cell *cell, struct detail *detail);
bool page_in_cell(const struct page *page, const struct reading *reading,
                  const struct grid_cell *cell);

/* Reports "out of memory" in page->error and returns -ENOMEM. */
int page_no_memory(const struct page *page);

#endif
