/* SPDX-License-Identifier: Apache-2.0 */
/* The grid as a picture: a heat map with the maximum and the edge of the service level marked. */
#ifndef SUMMARY_HEATMAP_H
#define SUMMARY_HEATMAP_H

#include <stdbool.h>
#include <stdio.h>

#include "summary/grid.h"
#include "summary/svg.h"

struct heatmap {
    bool standalone;       /* a file of its own */
    const char *id;        /* of the picture in its page: letters and digits */
    const char *title;     /* NULL: what the metric is */
    const char *links;     /* cells link to "#LINKS-row-column"; NULL: they do not */
    double least, largest; /* of the colour scale; NaN: those of the grid */
};

void heatmap_draw(FILE *stream, const struct grid *grid, const struct heatmap *map);

#endif
