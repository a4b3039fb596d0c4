/* Inside of a line plot.
 *
 *   series --(axis: ranges, ticks)--> axes --(plot: clip, merge)--> curves in units --(pen: svg or png)--> file
 *
 * Places are in units from the top left corner of the page; a pen knows how large a unit is. */
#ifndef BO_RECORD_PLOT_H
#define BO_RECORD_PLOT_H

#include "base/context.h"
#include "base/file.h"

#include <bough/record.h>

enum { BO_TICK_LIMIT = 64, BO_MINOR_LIMIT = 512, BO_TICK_TEXT = 32, BO_PLOT_TEXT = 256 };

typedef struct bo_tick {
    double at; /* on the axis' scale */
    char label[BO_TICK_TEXT];
    char power[8]; /* raised behind the label: "-3" after "10"; "" for none */
} bo_tick;

/* The scale of an axis is the value itself, or its log10. */
typedef struct bo_axis {
    bool log;
    double lo, hi;   /* ends, on the axis' scale; lo < hi, both finite */
    double from, to; /* where they are on the page */
    int factor;      /* labels are multiples of 10^factor; 0: plain */
    int tick_count, minor_count;
    bo_tick ticks[BO_TICK_LIMIT];
    double minor[BO_MINOR_LIMIT]; /* on the axis' scale */
} bo_axis;

/* Range of an axis from its data. fixed_lo, fixed_hi: NaN where the data decides. pad: part of the range that is added
 * at both ends that are not fixed. */
void bo_axis_range(bo_axis *axis, double least, double most, double fixed_lo, double fixed_hi, double pad);
/* Ticks at 1, 2 or 5 times a power of ten, about `count` of them; on wide log axes, at powers of ten. */
void bo_axis_ticks(bo_axis *axis, int count);
/* The value on the axis' scale; NaN where it has none. */
double bo_axis_scale(const bo_axis *axis, double value);
/* From the axis' scale to the page; places far outside are held at a million lengths of the axis. */
double bo_axis_place(const bo_axis *axis, double scaled);

/* value * 10^decimals, rounded, written with a point whatever the locale; |value| * 10^decimals below 9e15 */
void bo_format_fixed(char *text, size_t size, double value, int decimals);

typedef struct bo_point {
    double x, y;
} bo_point;

typedef struct bo_ink {
    uint8_t rgb[3];
    double width;
    int dash; /* 0: solid; 1 dashed, 2 dash-dotted */
} bo_ink;

extern const double bo_dashes[3][4]; /* lengths of line, gap, line, gap */

typedef enum bo_anchor { BO_START, BO_MIDDLE, BO_END } bo_anchor;

typedef struct bo_words {
    double x, y; /* where the line of writing starts, has its middle or ends */
    bo_anchor anchor;
    double size; /* height of capitals */
    bool turned; /* runs upwards */
    bool strong;
    const char *text, *power; /* UTF-8; power is raised and small, or NULL */
} bo_words;

/* The drawing functions of a kind of file. */
typedef struct bo_pen bo_pen;
struct bo_pen {
    /* A filled rectangle. */
    void (*box)(bo_pen *pen, bo_point corner, double width, double height, const uint8_t rgb[3]);
    /* Separate straight lines: from points[2i] to points[2i+1]. */
    void (*lines)(bo_pen *pen, const bo_point *points, size_t line_count, bo_ink ink);
    /* A line through all points; one point is a dot. */
    void (*curve)(bo_pen *pen, const bo_point *points, size_t count, bo_ink ink);
    void (*words)(bo_pen *pen, const bo_words *words);
};

/* Draws everything except the white page. */
typedef struct bo_plot bo_plot;
void bo_plot_draw(const bo_plot *plot, bo_pen *pen);

bough_status bo_plot_write_svg(bough_context *ctx, const bo_plot *plot, const bough_plot_def *def, FILE *stream);
bough_status bo_plot_write_png(bough_context *ctx, const bo_plot *plot, const bough_plot_def *def, FILE *stream);

/* The text in ASCII for the built-in font. */
void bo_plain_text(char *plain, size_t size, const char *text);
/* Length in bytes of the UTF-8 sequence at text, 0 when it is none. */
int bo_utf8_length(const char *text);
/* Returns the width of the words in the built-in font, which is a little wider than most. */
double bo_words_width(const bo_words *words);

#endif
