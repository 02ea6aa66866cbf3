/* SPDX-License-Identifier: Apache-2.0 */
/* The grid as a heat map, with the maximum and the edge of the service level marked. */
#ifndef SUMMARY_HEATMAP_H
#define SUMMARY_HEATMAP_H

#include <stdbool.h>
#include <stdio.h>

#include "summary/grid.h"
#include "summary/svg.h"

struct heatmap {
    bool standalone;       /* a separate SVG file */
    const char *id;        /* id of the picture within its page: letters and digits */
    const char *title;     /* NULL: the name of the metric */
    const char *links;     /* cells link to "#LINKS-row-column"; NULL: no links */
    double least, largest; /* ends of the colour scale; NaN: those of the grid */
    bool plain;            /* without the frame, the edge and their legend */
};

/* Draws the grid as one <svg> element. Errors are left in the stream. */
void heatmap_draw(FILE *stream, const struct grid *grid, const struct heatmap *map);

#endif
