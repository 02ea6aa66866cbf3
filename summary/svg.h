/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SVG drawing shared by heat maps, charts and the HTML page. Colours are CSS classes, so one style
 * sheet serves light and dark mode. All text from files and users is escaped here.
 */
#ifndef SUMMARY_SVG_H
#define SUMMARY_SVG_H

#include <stdbool.h>
#include <stdio.h>

/* Steps of the colour scale: classes h0 to h9 for areas, x0 to x9 for text on them. */
enum { SVG_LEVELS = 10 };
/* Line colours: classes s0 to s7. */
enum { SVG_SERIES = 8 };

/* Writes text for SVG and HTML, also inside attributes: escapes & < > " and replaces characters
 * that XML does not allow. */
void svg_text(FILE *stream, const char *text);

/* Writes the style rules for light and dark mode. */
void svg_style(FILE *stream);

/* Begins a picture; the caller ends it with </svg>. standalone: a separate file with its own style
 * sheet. id names the picture in the page; title and description are its text alternatives. */
struct svg_frame {
    bool standalone, links; /* links: contains links, so it is a group and not an image */
    const char *id, *title, *description;
    double width, height;
};
void svg_begin(FILE *stream, const struct svg_frame *frame);

/* Three significant digits without an exponent: "119", "44.4", "0.00125". */
enum { SVG_NUMBER_SIZE = 64 };
void svg_number(char out[SVG_NUMBER_SIZE], double value);

/* The colour level of a value between least and largest: 0 to SVG_LEVELS-1. */
int svg_level(double value, double least, double largest);

/* The smallest step of 1, 2 or 5 times a power of ten that divides a span into at most count
 * parts. */
double svg_step(double span, int count);

#endif
