/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the HTML page share: the page being written and its parts. */
#ifndef SUMMARY_PAGE_PRIVATE_H
#define SUMMARY_PAGE_PRIVATE_H

#include <stdbool.h>
#include <stdio.h>

#include "summary/chart.h"
#include "summary/detail.h"
#include "summary/heatmap.h"
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

/* One curve of the charts over load: the cells of a grid, or of one of its columns. */
#define PAGE_ALL_COLUMNS SIZE_MAX
struct page_curve {
    const char *name; /* in the legend; NULL: no legend entry */
    const struct grid *grid;
    size_t column;
};
/* Draws rate and response time over load; at most CHART_SERIES_MAX curves. knee_of: the grid whose
 * knee is marked, or NULL. 0 or -ENOMEM. */
int page_print_loads(FILE *stream, const struct page_curve *curves, size_t count,
                     const struct grid *knee_of);

/* Response times by protocol in the best cell. */
int page_print_percentiles(const struct page *page);

/* A chart with its title. */
void page_draw_figure(FILE *stream, const struct chart *chart);

/* What was measured: a table of servers, models, dates, windows, seeds, programs and commands.
 * 0 or -ENOMEM. */
int page_print_origin(FILE *stream, const struct readings *readings);

/* What speaks against the figures: a list, empty if there is nothing. */
void page_print_doubts(FILE *stream, const struct readings *readings);
/* How the runs differ. prefix is printed before each line. */
void page_print_mixed(FILE *stream, const struct mixed *mixed, const char *prefix);

/* Parts of all pages. */
void page_print_top(FILE *stream, const char *title);
void page_print_bottom(FILE *stream);
void page_print_map(FILE *stream, const struct grid *grid, const struct heatmap *map);
/* "119/s at r=4 S=5" */
void page_print_where(FILE *stream, const struct grid *grid, const struct grid_cell *cell);

/* The server's samples, of the first run of the best cell that has some. */
int page_print_samples(const struct page *page);

/* Adds up the runs of one cell. */
int page_cell_detail(const struct page *page, const struct grid_cell *cell, struct detail *detail);
bool page_in_cell(const struct page *page, const struct reading *reading,
                  const struct grid_cell *cell);

/* Reports "out of memory" in page->error and returns -ENOMEM. */
int page_no_memory(const struct page *page);

#endif
