/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drawing as SVG: what heat maps, charts and the HTML page share. Colours are classes, so that one
 * style sheet serves light and dark; all text that comes from files or users is escaped here.
 */
#ifndef SUMMARY_SVG_H
#define SUMMARY_SVG_H

#include <stdbool.h>
#include <stdio.h>

/* Steps of the colour scale, classes h0 to h9 for areas and x0 to x9 for text on them. */
enum { SVG_LEVELS = 10 };
/* Colours of lines, classes s0 to s7. */
enum { SVG_SERIES = 8 };

/* Text for SVG and HTML, attributes included: & < > " and what XML does not allow are replaced. */
void svg_text(FILE *stream, const char *text);

/* The style sheet's rules, light and dark. */
void svg_style(FILE *stream);

/* Begins a picture of so many units. standalone: a file of its own, with its style sheet. id names
 * it in the page; title and description are its text alternatives. Ends with </svg>. */
struct svg_frame {
    bool standalone, links; /* links: it has links inside, so it is a group, not an image */
    const char *id, *title, *description;
    double width, height;
};
void svg_begin(FILE *stream, const struct svg_frame *frame);

/* The level of a value between least and largest: 0..SVG_LEVELS-1. */
int svg_level(double value, double least, double largest);

/* A step of 1, 2 or 5 times a power of ten that cuts a span into at most count parts. */
double svg_step(double span, int count);

#endif
