/* Line plots: the layout of the page. */
#include "record/plot.h"

#include <math.h>
#include <string.h>

enum { PLOT_COOKIE = 0x706c6f74, COLOUR_COUNT = 8, ROW_LIMIT = BOUGH_SERIES_LIMIT };

/* Units. Sizes of writing are heights of capitals. */
static const double tick_size = 8.2, title_size = 9, head_size = 10.5, edge = 14, tick_length = 5, minor_length = 3;
static const double row_height = 17.5, sample_length = 28, legend_padding = 9;

/* Neighbours differ in lightness as well as in hue, blue-yellow more than red-green, so that they stay apart without
 * red-green distinction and in grey. */
static const uint8_t palette[COLOUR_COUNT][3] = {
    {24, 88, 168},  {232, 138, 32}, {10, 142, 124}, {190, 42, 62},
    {96, 176, 228}, {122, 68, 150}, {124, 96, 6},   {70, 76, 86},
};
static const uint8_t ink_colour[3] = {38, 42, 48}, grid_colour[3] = {226, 229, 233}, white[3] = {255, 255, 255};

const double bo_dashes[3][4] = {{1, 0, 1, 0}, {7, 4, 7, 4}, {9, 3, 1.5, 3}};

/* A series on the page: runs of points between gaps. */
typedef struct curve {
    bo_point *points;
    size_t *run_ends; /* run r has the points run_ends[r-1] .. run_ends[r]-1 */
    size_t point_count, point_capacity, run_count, run_capacity;
} curve;

typedef struct legend_box {
    bool shown;
    bo_point corner;
    double width, height;
} legend_box;

struct bo_plot {
    bough_plot_def def;
    const bough_series *series;
    int32_t series_count;
    double left, right, top, bottom; /* of the frame */
    bo_axis x, y;
    curve *curves;
    legend_box legend;
    int32_t rows[ROW_LIMIT]; /* series in the legend */
    int32_t row_count;
    char names[ROW_LIMIT][BO_PLOT_TEXT];
    char title[BO_PLOT_TEXT], x_title[BO_PLOT_TEXT], y_title[BO_PLOT_TEXT];
};

bough_plot_def bough_default_plot_def(void) {
    return (bough_plot_def){.cookie = PLOT_COOKIE,
                            .width = 760,
                            .height = 480,
                            .png_scale = 2,
                            .x_min = NAN,
                            .x_max = NAN,
                            .y_min = NAN,
                            .y_max = NAN};
}

/* ---- writing ---- */

int bo_utf8_length(const char *text) {
    const unsigned char *s = (const unsigned char *)text;
    int length = s[0] < 0x80 ? 1 : s[0] >= 0xC2 && s[0] < 0xE0 ? 2 : (s[0] & 0xF0) == 0xE0 ? 3 : 0;
    if (s[0] >= 0xF0 && s[0] < 0xF5)
        length = 4;
    for (int i = 1; i < length; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    bool overlong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xF0 && s[1] < 0x90);
    bool surrogate = (s[0] == 0xED && s[1] >= 0xA0) || (s[0] == 0xF4 && s[1] >= 0x90);
    /* U+FFFE and U+FFFF are no characters of XML */
    bool nothing = s[0] == 0xEF && length == 3 && s[1] == 0xBF && s[2] >= 0xBE;
    return length > 1 && (overlong || surrogate || nothing) ? 0 : length;
}

void bo_plain_text(char *plain, size_t size, const char *text) {
    static const char *const spelt[][2] = {
        {"\u03b1", "alpha"}, {"\u03b2", "beta"},   {"\u03b3", "gamma"}, {"\u0394", "d"},   {"\u03b5", "eps"},
        {"\u03b8", "theta"}, {"\u03bb", "lambda"}, {"\u03bd", "nu"},    {"\u03c1", "rho"}, {"\u03c3", "sigma"},
        {"\u03c4", "tau"},   {"\u03c6", "phi"},    {"\u03c9", "w"},     {"\u00b7", "*"},   {"\u00d7", "x"},
        {"\u00b0", "deg"},   {"\u00b2", "^2"},     {"\u00b3", "^3"},    {"\u2212", "-"},   {"\u2013", "-"},
        {"\u2014", "-"}};
    size_t at = 0;
    while (*text && at + 1 < size) {
        int length = bo_utf8_length(text);
        char single[2] = {length == 1 && *text >= ' ' && *text < 127 ? *text : '?', 0};
        const char *word = single;
        for (size_t i = 0; length > 1 && i < sizeof spelt / sizeof *spelt; i++)
            if (strlen(spelt[i][0]) == (size_t)length && memcmp(spelt[i][0], text, (size_t)length) == 0)
                word = spelt[i][1];
        for (; *word && at + 1 < size; word++)
            plain[at++] = *word;
        text += length > 0 ? length : 1;
    }
    plain[at] = 0;
}

double bo_words_width(const bo_words *words) {
    char plain[BO_PLOT_TEXT];
    bo_plain_text(plain, sizeof plain, words->text);
    double width = bough_label_width(words->size, plain);
    return width + (words->power ? bough_label_width(0.72 * words->size, words->power) : 0);
}

static double text_width(double size, const char *text, const char *power) {
    return bo_words_width(&(bo_words){.size = size, .text = text, .power = power});
}

/* Copies as much of the text as has room, with "..." where something is missing. NULL is "". */
static void fit_text(char *fitted, const char *text, double size, double room) {
    size_t at = 0;
    fitted[0] = 0;
    while (text && *text) {
        int length = bo_utf8_length(text);
        size_t step = length > 0 ? (size_t)length : 1;
        if (at + step + 4 > BO_PLOT_TEXT)
            break;
        memcpy(fitted + at, text, step);
        fitted[at + step] = 0;
        if (text_width(size, fitted, NULL) > room)
            break;
        at += step, text += step;
    }
    if (text && *text)
        memcpy(fitted + at, "...", 4);
}

/* ---- axes and frame ---- */

static void data_range(const bo_plot *plot, bool along_x, double *least, double *most) {
    *least = INFINITY, *most = -INFINITY;
    for (int32_t s = 0; s < plot->series_count; s++)
        for (int32_t i = 0; i < plot->series[s].count; i++) {
            double x = bo_axis_scale(&plot->x, plot->series[s].x[i]), y = bo_axis_scale(&plot->y, plot->series[s].y[i]);
            double v = along_x ? x : y;
            if (isnan(x) || isnan(y))
                continue;
            /* what lies outside of a fixed range of x does not count for y */
            if (!along_x && (x < plot->x.lo || x > plot->x.hi))
                continue;
            *least = fmin(*least, v), *most = fmax(*most, v);
        }
}

static void set_ranges(bo_plot *plot) {
    const bough_plot_def *def = &plot->def;
    double least, most;
    plot->x.log = def->log_x, plot->y.log = def->log_y;
    data_range(plot, true, &least, &most);
    bo_axis_range(&plot->x, least, most, def->x_min, def->x_max, 0);
    data_range(plot, false, &least, &most);
    bo_axis_range(&plot->y, least, most, def->y_min, def->y_max, 0.04);
}

static double widest_label(const bo_axis *axis) {
    double widest = 0;
    for (int i = 0; i < axis->tick_count; i++)
        widest = fmax(widest, text_width(tick_size, axis->ticks[i].label, axis->ticks[i].power));
    return widest;
}

/* Makes as many ticks along x as leave room between their labels. */
static void ticks_along_x(bo_plot *plot) {
    double length = plot->right - plot->left;
    for (int count = (int)(length / 70); count >= 2; count--) {
        bo_axis_ticks(&plot->x, count);
        double gap = plot->x.tick_count > 1 ? INFINITY : length;
        for (int i = 1; i < plot->x.tick_count; i++)
            gap = fmin(gap, length * fabs(plot->x.ticks[i].at - plot->x.ticks[i - 1].at) / (plot->x.hi - plot->x.lo));
        if (gap > widest_label(&plot->x) + 14)
            break;
    }
}

/* The frame and its ticks, with `beside` units free on the right. */
static void set_frame(bo_plot *plot, double beside) {
    const bough_plot_def *def = &plot->def;
    plot->top = edge + (plot->title[0] ? head_size + 13 : 0);
    plot->bottom = def->height - edge - (plot->x_title[0] ? title_size + 12 : 0) - tick_size - 10;
    bo_axis_ticks(&plot->y, (int)((plot->bottom - plot->top) / 45));
    if (plot->y.factor)
        plot->top += tick_size + 7;
    plot->left = edge + (plot->y_title[0] ? title_size + 13 : 0) + widest_label(&plot->y) + 9;
    plot->right = def->width - edge - beside;
    ticks_along_x(plot);
    const bo_tick *last = plot->x.tick_count ? &plot->x.ticks[plot->x.tick_count - 1] : NULL;
    if (last && beside == 0)
        plot->right -= fmax(0, 0.5 * text_width(tick_size, last->label, last->power) - 4);
    if (plot->x.factor && !plot->x_title[0])
        plot->bottom -= tick_size + 9;
    plot->x.from = plot->left, plot->x.to = plot->right;
    plot->y.from = plot->bottom, plot->y.to = plot->top;
}

/* ---- curves ---- */

typedef struct box {
    double left, right, top, bottom;
} box;

/* The part of a-b inside the box (Liang and Barsky); false when there is none. */
static bool clip(box b, bo_point *from, bo_point *to) {
    double dx = to->x - from->x, dy = to->y - from->y, t0 = 0, t1 = 1;
    double p[4] = {-dx, dx, -dy, dy};
    double q[4] = {from->x - b.left, b.right - from->x, from->y - b.top, b.bottom - from->y};
    for (int i = 0; i < 4; i++) {
        if (p[i] == 0 && q[i] < 0)
            return false;
        if (p[i] < 0)
            t0 = fmax(t0, q[i] / p[i]);
        else if (p[i] > 0)
            t1 = fmin(t1, q[i] / p[i]);
    }
    if (t0 > t1)
        return false;
    bo_point start = *from;
    if (t0 > 0)
        *from = (bo_point){start.x + t0 * dx, start.y + t0 * dy};
    if (t1 < 1)
        *to = (bo_point){start.x + t1 * dx, start.y + t1 * dy};
    return true;
}

/* Gathers points. Of points that follow each other in one column, it keeps only the first, the lowest, the highest and
 * the last, in their order. */
typedef struct tracer {
    bough_context *ctx;
    curve *c;
    double column;
    size_t run_begin, waiting; /* points of this run so far; points of this column after the first */
    bo_point low, high, last;
    size_t low_at, high_at;
    bool failed;
} tracer;

static void emit(tracer *t, bo_point p) {
    curve *c = t->c;
    if (c->point_count > t->run_begin && c->points[c->point_count - 1].x == p.x &&
        c->points[c->point_count - 1].y == p.y)
        return;
    if (!t->failed && BO_RESERVE(t->ctx, c->points, c->point_capacity, c->point_count + 1))
        c->points[c->point_count++] = p;
    else
        t->failed = true;
}

static void end_column(tracer *t) {
    if (t->waiting > 0) {
        emit(t, t->low_at < t->high_at ? t->low : t->high);
        emit(t, t->low_at < t->high_at ? t->high : t->low);
        emit(t, t->last);
    }
    t->waiting = 0;
}

static void end_run(tracer *t) {
    curve *c = t->c;
    end_column(t);
    if (t->failed || c->point_count == t->run_begin)
        return;
    if (BO_RESERVE(t->ctx, c->run_ends, c->run_capacity, c->run_count + 1))
        c->run_ends[c->run_count++] = t->run_begin = c->point_count;
    else
        t->failed = true;
}

static void add_point(tracer *t, bo_point p) {
    if (t->c->point_count == t->run_begin || floor(p.x) != t->column) {
        end_column(t);
        emit(t, p);
        t->column = floor(p.x);
        return;
    }
    t->waiting++;
    if (t->waiting == 1)
        t->low = t->high = p, t->low_at = t->high_at = 0;
    if (p.y > t->low.y)
        t->low = p, t->low_at = t->waiting;
    if (p.y < t->high.y)
        t->high = p, t->high_at = t->waiting;
    t->last = p;
}

static bough_status trace(bough_context *ctx, const bo_plot *plot, const bough_series *series, curve *c) {
    tracer t = {.ctx = ctx, .c = c};
    box frame = {plot->left, plot->right, plot->top, plot->bottom};
    c->point_count = c->run_count = 0;
    bool open = false; /* the point before this one is on the page */
    bo_point before = {0};
    for (int32_t i = 0; i < series->count && !t.failed; i++) {
        double x = bo_axis_scale(&plot->x, series->x[i]), y = bo_axis_scale(&plot->y, series->y[i]);
        if (isnan(x) || isnan(y)) {
            end_run(&t);
            open = false;
            continue;
        }
        bo_point p = {bo_axis_place(&plot->x, x), bo_axis_place(&plot->y, y)};
        bo_point from = open ? before : p, to = p;
        if (clip(frame, &from, &to)) {
            if (!open || from.x != before.x || from.y != before.y) {
                end_run(&t);
                add_point(&t, from);
            }
            if (open)
                add_point(&t, to);
            if (to.x != p.x || to.y != p.y)
                end_run(&t);
        } else {
            end_run(&t);
        }
        before = p, open = true;
    }
    end_run(&t);
    return t.failed ? bo_fail_memory(ctx) : BOUGH_OK;
}

static bough_status trace_all(bough_context *ctx, bo_plot *plot) {
    for (int32_t s = 0; s < plot->series_count; s++)
        BO_TRY(trace(ctx, plot, &plot->series[s], &plot->curves[s]));
    return BOUGH_OK;
}

/* ---- legend ---- */

static void set_rows(bo_plot *plot) {
    double widest = 0, room = 0.4 * plot->def.width;
    for (int32_t s = 0; s < plot->series_count; s++)
        if (plot->series[s].name && plot->series[s].name[0]) {
            char *name = plot->names[plot->row_count];
            fit_text(name, plot->series[s].name, tick_size, room);
            widest = fmax(widest, text_width(tick_size, name, NULL));
            plot->rows[plot->row_count++] = s;
        }
    plot->legend.width = 2 * legend_padding + sample_length + 8 + widest;
    plot->legend.height = 2 * (legend_padding - 3) + row_height * plot->row_count;
}

static size_t lines_under(const bo_plot *plot, box b) {
    size_t count = 0;
    for (int32_t s = 0; s < plot->series_count; s++) {
        const curve *c = &plot->curves[s];
        for (size_t r = 0, i = 0; r < c->run_count; r++, i = c->run_ends[r - 1])
            for (; i < c->run_ends[r]; i++) {
                bo_point from = c->points[i], to = c->points[i + 1 < c->run_ends[r] ? i + 1 : i];
                count += clip(b, &from, &to);
            }
    }
    return count;
}

/* The corner of the frame, or with across or down 0.5 the middle of a side, where the legend would be. */
static size_t try_legend(const bo_plot *plot, double across, double down, bo_point *corner) {
    double inset = 10, w = plot->legend.width, h = plot->legend.height, margin = 4;
    double free_x = plot->right - plot->left - 2 * inset - w, free_y = plot->bottom - plot->top - 2 * inset - h;
    if (free_x < 0 || free_y < 0)
        return SIZE_MAX;
    *corner = (bo_point){plot->left + inset + across * free_x, plot->top + inset + down * free_y};
    return lines_under(plot,
                       (box){corner->x - margin, corner->x + w + margin, corner->y - margin, corner->y + h + margin});
}

static bough_status put_legend(bough_context *ctx, bo_plot *plot) {
    static const double places[][2] = {{1, 0}, {0, 0}, {1, 1}, {0, 1}, {0.5, 0}, {0.5, 1}, {1, 0.5}, {0, 0.5}};
    legend_box *legend = &plot->legend;
    bough_legend wish = plot->def.legend;
    if (wish == BOUGH_LEGEND_NONE || plot->row_count == 0)
        return BOUGH_OK;
    legend->shown = true;
    if (wish >= BOUGH_LEGEND_TOP_RIGHT && wish <= BOUGH_LEGEND_BOTTOM_LEFT) {
        const double *place = places[wish - BOUGH_LEGEND_TOP_RIGHT];
        if (try_legend(plot, place[0], place[1], &legend->corner) != SIZE_MAX)
            return BOUGH_OK;
    }
    for (size_t i = 0; wish == BOUGH_LEGEND_AUTO && i < sizeof places / sizeof *places; i++)
        if (try_legend(plot, places[i][0], places[i][1], &legend->corner) == 0)
            return BOUGH_OK;
    set_frame(plot, legend->width);
    legend->corner = (bo_point){plot->right + 6, plot->top - legend_padding + 3};
    return trace_all(ctx, plot);
}

/* ---- drawing ---- */

static void draw_axis(const bo_plot *plot, bo_pen *pen, bool along_x) {
    const bo_axis *axis = along_x ? &plot->x : &plot->y;
    bo_point lines[2 * BO_MINOR_LIMIT];
    bo_ink thin = {.width = 1};
    size_t count = 0;
    for (int i = 0; i < axis->tick_count; i++) {
        double at = bo_axis_place(axis, axis->ticks[i].at);
        lines[count++] = along_x ? (bo_point){at, plot->top} : (bo_point){plot->left, at};
        lines[count++] = along_x ? (bo_point){at, plot->bottom} : (bo_point){plot->right, at};
    }
    memcpy(thin.rgb, grid_colour, sizeof thin.rgb);
    pen->lines(pen, lines, count / 2, thin);
    count = 0;
    memcpy(thin.rgb, ink_colour, sizeof thin.rgb);
    for (int i = 0; i < axis->tick_count + axis->minor_count && count + 2 <= 2 * BO_MINOR_LIMIT; i++) {
        bool minor = i >= axis->tick_count;
        double at = bo_axis_place(axis, minor ? axis->minor[i - axis->tick_count] : axis->ticks[i].at);
        double length = minor ? minor_length : tick_length;
        lines[count++] = along_x ? (bo_point){at, plot->bottom} : (bo_point){plot->left, at};
        lines[count++] = along_x ? (bo_point){at, plot->bottom + length} : (bo_point){plot->left - length, at};
    }
    thin.width = 0.8;
    pen->lines(pen, lines, count / 2, thin);
}

static void draw_frame(const bo_plot *plot, bo_pen *pen) {
    bo_point a = {plot->left, plot->top}, b = {plot->right, plot->top}, c = {plot->right, plot->bottom},
             d = {plot->left, plot->bottom};
    bo_point sides[8] = {a, b, b, c, c, d, d, a};
    bo_ink thin = {.width = 1};
    memcpy(thin.rgb, ink_colour, sizeof thin.rgb);
    pen->lines(pen, sides, 4, thin);
}

static void draw_factor(const bo_axis *axis, bo_pen *pen, bo_words words) {
    char power[8];
    if (!axis->factor)
        return;
    bo_format_fixed(power, sizeof power, axis->factor, 0);
    words.size = tick_size, words.text = "\u00d710", words.power = power;
    pen->words(pen, &words);
}

static void draw_numbers(const bo_plot *plot, bo_pen *pen) {
    for (int i = 0; i < plot->x.tick_count; i++) {
        const bo_tick *tick = &plot->x.ticks[i];
        pen->words(pen, &(bo_words){.x = bo_axis_place(&plot->x, tick->at),
                                    .y = plot->bottom + 10 + tick_size,
                                    .anchor = BO_MIDDLE,
                                    .size = tick_size,
                                    .text = tick->label,
                                    .power = tick->power[0] ? tick->power : NULL});
    }
    for (int i = 0; i < plot->y.tick_count; i++) {
        const bo_tick *tick = &plot->y.ticks[i];
        pen->words(pen, &(bo_words){.x = plot->left - 9,
                                    .y = bo_axis_place(&plot->y, tick->at) + 0.5 * tick_size,
                                    .anchor = BO_END,
                                    .size = tick_size,
                                    .text = tick->label,
                                    .power = tick->power[0] ? tick->power : NULL});
    }
    draw_factor(&plot->x, pen, (bo_words){.x = plot->right, .y = plot->def.height - edge, .anchor = BO_END});
    draw_factor(&plot->y, pen, (bo_words){.x = plot->left, .y = plot->top - 6});
}

static void draw_titles(const bo_plot *plot, bo_pen *pen) {
    double x = 0.5 * (plot->left + plot->right), y = 0.5 * (plot->top + plot->bottom);
    if (plot->title[0])
        pen->words(pen, &(bo_words){.x = x,
                                    .y = edge + head_size,
                                    .anchor = BO_MIDDLE,
                                    .size = head_size,
                                    .strong = true,
                                    .text = plot->title});
    if (plot->x_title[0])
        pen->words(
            pen,
            &(bo_words){
                .x = x, .y = plot->def.height - edge, .anchor = BO_MIDDLE, .size = title_size, .text = plot->x_title});
    if (plot->y_title[0])
        pen->words(pen, &(bo_words){.x = edge + title_size,
                                    .y = y,
                                    .anchor = BO_MIDDLE,
                                    .size = title_size,
                                    .turned = true,
                                    .text = plot->y_title});
}

/* When the colours are used up, they come again with other dashes. */
static bo_ink ink_of(const bo_plot *plot, int32_t s) {
    bo_ink ink = {.width = 1.8, .dash = ((plot->series[s].dashed ? 1 : 0) + s / COLOUR_COUNT) % 3};
    memcpy(ink.rgb, palette[s % COLOUR_COUNT], sizeof ink.rgb);
    return ink;
}

static void draw_legend(const bo_plot *plot, bo_pen *pen) {
    const legend_box *l = &plot->legend;
    if (!l->shown)
        return;
    pen->box(pen, l->corner, l->width, l->height, white);
    for (int32_t row = 0; row < plot->row_count; row++) {
        double y = l->corner.y + legend_padding - 3 + (row + 0.5) * row_height, x = l->corner.x + legend_padding;
        bo_point sample[2] = {{x, y}, {x + sample_length, y}};
        if (y + 0.5 * row_height > plot->def.height)
            return;
        pen->curve(pen, sample, 2, ink_of(plot, plot->rows[row]));
        pen->words(pen, &(bo_words){.x = x + sample_length + 8,
                                    .y = y + 0.5 * tick_size,
                                    .size = tick_size,
                                    .text = plot->names[row]});
    }
}

void bo_plot_draw(const bo_plot *plot, bo_pen *pen) {
    draw_axis(plot, pen, true);
    draw_axis(plot, pen, false);
    for (int32_t s = 0; s < plot->series_count; s++) {
        const curve *c = &plot->curves[s];
        for (size_t r = 0, begin = 0; r < c->run_count; begin = c->run_ends[r++])
            pen->curve(pen, c->points + begin, c->run_ends[r] - begin, ink_of(plot, s));
    }
    draw_frame(plot, pen);
    draw_numbers(plot, pen);
    draw_titles(plot, pen);
    draw_legend(plot, pen);
}

/* ---- from the def to the file ---- */

static bough_status check_end(bough_context *ctx, const char *name, double value, bool log) {
    if (isinf(value) || fabs(value) > 1e300 || (log && value <= 0))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "plot: %s is %g; it should be %s", name, value,
                       log ? "above 0, since the axis is logarithmic" : "a finite number");
    return BOUGH_OK;
}

static bough_status check(bough_context *ctx, const bough_plot_def *def, const bough_series *series, int32_t count) {
    if (def->cookie != PLOT_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the plot def was not made by bough_default_plot_def()");
    if (def->width < 200 || def->height < 200 || def->width > 4000 || def->height > 4000)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a plot is 200 to 4000 units wide and high, not %d x %d", def->width,
                       def->height);
    if (def->png_scale < 1 || def->png_scale > 4)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "plot: png_scale is 1 to 4, not %d", def->png_scale);
    if (def->legend < BOUGH_LEGEND_AUTO || def->legend > BOUGH_LEGEND_NONE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "plot: there is no place %d for the legend", (int)def->legend);
    BO_TRY(check_end(ctx, "x_min", def->x_min, def->log_x));
    BO_TRY(check_end(ctx, "x_max", def->x_max, def->log_x));
    BO_TRY(check_end(ctx, "y_min", def->y_min, def->log_y));
    BO_TRY(check_end(ctx, "y_max", def->y_max, def->log_y));
    if (def->x_min >= def->x_max || def->y_min >= def->y_max)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "plot: a range should end above its beginning");
    if (count < 0 || count > BOUGH_SERIES_LIMIT)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a plot has at most %d lines, not %d", BOUGH_SERIES_LIMIT, count);
    for (int32_t s = 0; s < count; s++)
        if (series[s].count < 0 || (series[s].count > 0 && (!series[s].x || !series[s].y)))
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "plot: line %d has no points", s);
    return BOUGH_OK;
}

static bough_status lay_out(bough_context *ctx, bo_plot *plot) {
    const bough_plot_def *def = &plot->def;
    fit_text(plot->title, def->title, head_size, def->width - 4 * edge);
    fit_text(plot->x_title, def->x_title, title_size, def->width - 8 * edge);
    fit_text(plot->y_title, def->y_title, title_size, def->height - 5 * edge);
    set_rows(plot);
    set_ranges(plot);
    set_frame(plot, 0);
    BO_TRY(trace_all(ctx, plot));
    return put_legend(ctx, plot);
}

static bough_status write_file(bough_context *ctx, const bo_plot *plot, bool svg, const char *path) {
    bo_output output;
    BO_TRY(bo_output_open(ctx, path, &output));
    bough_status status = svg ? bo_plot_write_svg(ctx, plot, &plot->def, output.stream)
                              : bo_plot_write_png(ctx, plot, &plot->def, output.stream);
    if (status != BOUGH_OK) {
        bo_output_discard(ctx, &output);
        return status;
    }
    return bo_output_commit(ctx, &output);
}

bough_status bough_plot_write(bough_context *ctx, const bough_plot_def *def, const bough_series *series,
                              int32_t series_count, const char *path) {
    bough_plot_def used = def ? *def : bough_default_plot_def();
    BO_TRY(check(ctx, &used, series, series_count));
    const char *extension = bo_path_extension(path);
    bool svg = bo_equal_ignoring_case(extension, "svg");
    if (!svg && !bo_equal_ignoring_case(extension, "png"))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: a plot is written to a file that ends in .svg or .png", path);
    bo_plot *plot = BO_NEW(ctx, bo_plot);
    curve *curves = BO_NEW_ZEROS(ctx, curve, series_count);
    bough_status status = plot && curves ? BOUGH_OK : bo_fail_memory(ctx);
    if (status == BOUGH_OK) {
        plot->def = used, plot->series = series, plot->series_count = series_count, plot->curves = curves;
        status = lay_out(ctx, plot);
    }
    if (status == BOUGH_OK)
        status = write_file(ctx, plot, svg, path);
    for (int32_t s = 0; curves && s < series_count; s++) {
        bo_free(ctx, curves[s].points);
        bo_free(ctx, curves[s].run_ends);
    }
    bo_free(ctx, curves);
    bo_free(ctx, plot);
    return status;
}
