/* SPDX-License-Identifier: Apache-2.0 */
/* SVG: style sheet, escaping, frames, scales. */
#include "summary/svg.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

struct theme {
    const char *text, *faint, *paper, *edge, *frame;
    double hue, saturation, first, last; /* of the colour scale; lightness in percent */
    int dark_text_below;                 /* levels below this have text in the text colour */
    const char *series[SVG_SERIES];
};

static const struct theme light = {.text = "#1b1f24",
                                   .faint = "#59636e",
                                   .paper = "#ffffff",
                                   .edge = "#b42318",
                                   .frame = "#e8890c",
                                   .hue = 215,
                                   .saturation = 72,
                                   .first = 95,
                                   .last = 33,
                                   .dark_text_below = 6,
                                   .series = {"#1f5fb4", "#b3460f", "#2c7a3f", "#8b3d9c", "#8a6400",
                                              "#0b7a82", "#b0305c", "#555d66"}};
static const struct theme dark = {.text = "#e6e9ed",
                                  .faint = "#9aa4af",
                                  .paper = "#14171b",
                                  .edge = "#ff8a75",
                                  .frame = "#ffc14d",
                                  .hue = 215,
                                  .saturation = 55,
                                  .first = 17,
                                  .last = 44,
                                  .dark_text_below = SVG_LEVELS,
                                  .series = {"#7db1f5", "#f3a26b", "#79c98c", "#cf9ade", "#d9b85c",
                                             "#62c9cf", "#ee86a8", "#aab2bb"}};

static size_t sequence_length(const unsigned char *text);
static void theme_style(FILE *stream, const struct theme *theme);

void svg_text(FILE *stream, const char *text)
{
    static const struct {
        char character;
        const char *entity;
    } entities[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}};
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        size_t length = sequence_length(at), i = 0;
        while (i < 4 && entities[i].character != (char)*at)
            i++;
        if (length == 0)
            fputc('?', stream);
        else if (i < 4)
            fputs(entities[i].entity, stream);
        else
            fwrite(at, 1, length, stream);
        at += length ? length : 1;
    }
}

/* Length of a valid UTF-8 sequence that XML allows; 0: invalid. */
static size_t sequence_length(const unsigned char *text)
{
    if (text[0] < 0x80)
        return text[0] >= 0x20 || text[0] == '\t' || text[0] == '\n' ? 1 : 0;
    size_t length = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
    if (text[0] < 0xc2 || text[0] > 0xf4)
        return 0;
    uint32_t code = text[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (text[i] & 0x3fu);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    bool surrogate = code >= 0xd800 && code <= 0xdfff, none = code == 0xfffe || code == 0xffff;
    return code < least[length] || code > 0x10ffff || surrogate || none ? 0 : length;
}

void svg_style(FILE *stream)
{
    fputs("svg{font:12px sans-serif}.r{text-anchor:end}.c{text-anchor:middle}.b{font-weight:bold}"
          ".g,.a{stroke-width:1;fill:none}.e{stroke-width:3;stroke-linecap:square}"
          ".m{fill:none;stroke-width:2.5}.k{stroke-width:1.5;stroke-dasharray:5 4}"
          ".s0,.s1,.s2,.s3,.s4,.s5,.s6,.s7{fill:none;stroke-width:2}"
          ".s1,.s5{stroke-dasharray:7 3}.s2,.s6{stroke-dasharray:2 3}.s3,.s7{stroke-dasharray:9 3 "
          "2 3}"
          ".v{stroke-width:1.2;fill:none}.q{stroke-width:1;fill:none;stroke-dasharray:2 4}"
          ".i{stroke-width:1.2;fill:none}a:focus .o,a:hover .o"
          "{stroke:currentColor;stroke-width:2}\n",
          stream);
    theme_style(stream, &light);
    fputs("@media(prefers-color-scheme:dark){\n", stream);
    theme_style(stream, &dark);
    fputs("}\n", stream);
}

static void theme_style(FILE *stream, const struct theme *theme)
{
    fprintf(stream,
            ".t{fill:%s}.f{fill:%s}.g{stroke:%s;stroke-opacity:.35}.a{stroke:%s}"
            ".n{fill:%s;fill-opacity:.08}.e{stroke:%s}.m{stroke:%s}.k{stroke:%s;fill:none}"
            ".q{stroke:%s}.v{stroke:%s;stroke-opacity:.7}.y{fill:%s}.i{stroke:%s}\n",
            theme->text, theme->faint, theme->faint, theme->text, theme->faint, theme->edge,
            theme->frame, theme->edge, theme->text, theme->faint, theme->edge, theme->edge);
    for (int level = 0; level < SVG_LEVELS; level++) {
        double lightness = theme->first + (theme->last - theme->first) * level / (SVG_LEVELS - 1);
        fprintf(stream, ".h%d{fill:hsl(%.0f,%.0f%%,%.0f%%)}.x%d{fill:%s}", level, theme->hue,
                theme->saturation, lightness, level,
                level < theme->dark_text_below ? theme->text : "#ffffff");
    }
    for (int series = 0; series < SVG_SERIES; series++)
        fprintf(stream, ".s%d{stroke:%s}.d%d{fill:%s}", series, theme->series[series], series,
                theme->series[series]);
    fputc('\n', stream);
}

void svg_begin(FILE *stream, const struct svg_frame *frame)
{
    if (frame->standalone)
        fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", stream);
    fprintf(stream,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
            "viewBox=\"0 0 %.0f %.0f\" role=\"%s\" aria-labelledby=\"%s-t %s-d\">\n"
            "<title id=\"%s-t\">",
            frame->width, frame->height, frame->width, frame->height,
            frame->links ? "group" : "img", frame->id, frame->id, frame->id);
    svg_text(stream, frame->title);
    fprintf(stream, "</title>\n<desc id=\"%s-d\">", frame->id);
    svg_text(stream, frame->description);
    fputs("</desc>\n", stream);
    if (!frame->standalone)
        return;
    fputs("<style>\n", stream);
    svg_style(stream);
    fprintf(stream,
            ".p{fill:%s}@media(prefers-color-scheme:dark){.p{fill:%s}}\n</style>\n"
            "<rect class=\"p\" width=\"%.0f\" height=\"%.0f\"/>\n",
            light.paper, dark.paper, frame->width, frame->height);
}

void svg_number(char out[SVG_NUMBER_SIZE], double value)
{
    double size = fabs(value), step = size > 0 && isfinite(size) ? floor(log10(size)) : 0;
    int decimals = step >= 2 ? 0 : step < -8 ? 8 : (int)(2 - step);
    snprintf(out, SVG_NUMBER_SIZE, "%.*f", decimals, value);
    if (!strchr(out, '.'))
        return;
    size_t length = strlen(out);
    while (out[length - 1] == '0')
        out[--length] = '\0';
    if (out[length - 1] == '.')
        out[length - 1] = '\0';
}

int svg_level(double value, double least, double largest)
{
    if (!(largest > least))
        return SVG_LEVELS / 2;
    double level = (value - least) / (largest - least) * SVG_LEVELS;
    return level >= SVG_LEVELS ? SVG_LEVELS - 1 : level < 0 ? 0 : (int)level;
}

double svg_step(double span, int count)
{
    static const double steps[] = {1, 2, 5, 10};
    if (!(span > 0) || !isfinite(span))
        return 1;
    double power = pow(10, floor(log10(span / count)));
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        if (span / (power * steps[i]) <= count)
            return power * steps[i];
    return power * 10;
}
