/* Lines of a plot by their distance from the middle of each pixel. A curve is first gathered as coverage, so that it
 * does not darken where its pieces meet. */
#include "record/picture.h"
#include "record/plot.h"
#include "record/png.h"

#include <math.h>
#include <string.h>

typedef struct png_pen {
    bo_pen pen;
    double scale; /* pixels per unit */
    bough_picture *picture;
    float *cover; /* height x width */
    int32_t touched_top, touched_bottom;
} png_pen;

static bo_rgb light_of(const uint8_t rgb[3]) {
    float srgb[3] = {(float)rgb[0] / 255, (float)rgb[1] / 255, (float)rgb[2] / 255};
    return bo_rgb_from_srgb(srgb);
}

static int32_t clamp_to(double v, int32_t limit) {
    return v < 0 ? 0 : v > limit ? limit : (int32_t)v;
}

/* Writing and lines are mixed as sRGB values: dark on white looks as strong as it is wide. */
static void blend(uint8_t *pixel, const uint8_t rgb[3], float cover) {
    for (int k = 0; k < 3; k++)
        pixel[k] = (uint8_t)((float)pixel[k] + cover * ((float)rgb[k] - (float)pixel[k]) + 0.5f);
}

static double overlap(int32_t i, double lower, double upper) {
    double length = fmin(i + 1, upper) - fmax(i, lower);
    return length < 0 ? 0 : length;
}

static void fill(const png_pen *p, double x0, double y0, double x1, double y1, const uint8_t rgb[3], double opacity) {
    int32_t width = p->picture->def.width, height = p->picture->def.height;
    for (int32_t j = clamp_to(y0, height); j < clamp_to(ceil(y1), height); j++)
        for (int32_t i = clamp_to(x0, width); i < clamp_to(ceil(x1), width); i++)
            blend(p->picture->pixels + 4 * ((size_t)j * (size_t)width + (size_t)i), rgb,
                  (float)(opacity * overlap(i, x0, x1) * overlap(j, y0, y1)));
}

static void png_box(bo_pen *pen, bo_point corner, double width, double height, const uint8_t rgb[3]) {
    png_pen *p = (png_pen *)pen;
    double s = p->scale;
    fill(p, s * corner.x, s * corner.y, s * (corner.x + width), s * (corner.y + height), rgb, 0.85);
}

/* Upright and level lines lie on whole pixels, so that they are crisp. */
static void png_lines(bo_pen *pen, const bo_point *points, size_t line_count, bo_ink ink) {
    png_pen *p = (png_pen *)pen;
    double s = p->scale, width = fmax(1, round(s * ink.width));
    for (size_t i = 0; i < line_count; i++) {
        bo_point a = points[2 * i], b = points[2 * i + 1];
        double x0 = round(s * fmin(a.x, b.x) - 0.5 * width), x1 = round(s * fmax(a.x, b.x) - 0.5 * width) + width;
        double y0 = round(s * fmin(a.y, b.y) - 0.5 * width), y1 = round(s * fmax(a.y, b.y) - 0.5 * width) + width;
        fill(p, x0, y0, x1, y1, ink.rgb, 1);
    }
}

/* Coverage of a line with round ends. In each row only the columns near the line are looked at. */
static void cover_segment(png_pen *p, bo_point a, bo_point b, double half) {
    int32_t width = p->picture->def.width, height = p->picture->def.height;
    double dx = b.x - a.x, dy = b.y - a.y, length2 = dx * dx + dy * dy, reach = half + 0.5;
    int32_t y0 = clamp_to(floor(fmin(a.y, b.y) - reach), height), y1 = clamp_to(ceil(fmax(a.y, b.y) + reach), height);
    p->touched_top = y0 < p->touched_top ? y0 : p->touched_top;
    p->touched_bottom = y1 > p->touched_bottom ? y1 : p->touched_bottom;
    for (int32_t j = y0; j < y1; j++) {
        double left = fmin(a.x, b.x), right = fmax(a.x, b.x);
        if (fabs(dy) > 1e-9) { /* where the line is in this row, and a little above and below */
            double t0 = (j + 0.5 - reach - a.y) / dy, t1 = (j + 0.5 + reach - a.y) / dy;
            t0 = fmin(1, fmax(0, t0)), t1 = fmin(1, fmax(0, t1));
            left = a.x + fmin(t0 * dx, t1 * dx), right = a.x + fmax(t0 * dx, t1 * dx);
        }
        int32_t x0 = clamp_to(floor(left - reach), width), x1 = clamp_to(ceil(right + reach), width);
        float *row = p->cover + (size_t)j * (size_t)width;
        for (int32_t i = x0; i < x1; i++) {
            if (row[i] >= 1)
                continue;
            double px = i + 0.5 - a.x, py = j + 0.5 - a.y;
            double t = length2 > 0 ? (px * dx + py * dy) / length2 : 0;
            t = t < 0 ? 0 : t > 1 ? 1 : t;
            double ex = px - t * dx, ey = py - t * dy, reached = half + 0.5 - sqrt(ex * ex + ey * ey);
            if (reached > row[i])
                row[i] = reached > 1 ? 1 : (float)reached;
        }
    }
}

/* Cuts a piece of a curve into dashes; *at is how far along the pattern it begins. */
static void cover_dashes(png_pen *p, bo_point a, bo_point b, double half, const double *dash, double *at) {
    double period = p->scale * (dash[0] + dash[1] + dash[2] + dash[3]), length = hypot(b.x - a.x, b.y - a.y), done = 0;
    while (done < length) {
        double place = fmod(*at, period), end = 0;
        int k = 0;
        while (k < 3 && (end += p->scale * dash[k]) <= place)
            k++;
        if (k == 3)
            end = period;
        double step = fmax(fmin(end - place, length - done), 1e-3), t0 = done / length,
               t1 = fmin(1, (done + step) / length);
        if (k % 2 == 0)
            cover_segment(p, (bo_point){a.x + t0 * (b.x - a.x), a.y + t0 * (b.y - a.y)},
                          (bo_point){a.x + t1 * (b.x - a.x), a.y + t1 * (b.y - a.y)}, half);
        done += step, *at += step;
    }
}

static void png_curve(bo_pen *pen, const bo_point *points, size_t count, bo_ink ink) {
    png_pen *p = (png_pen *)pen;
    int32_t width = p->picture->def.width;
    double s = p->scale, half = 0.5 * s * ink.width, at = 0;
    p->touched_top = p->picture->def.height, p->touched_bottom = 0;
    for (size_t i = 0; i + 1 < count; i++) {
        bo_point a = {s * points[i].x, s * points[i].y}, b = {s * points[i + 1].x, s * points[i + 1].y};
        if (ink.dash)
            cover_dashes(p, a, b, half, bo_dashes[ink.dash], &at);
        else
            cover_segment(p, a, b, half);
    }
    if (count == 1) {
        bo_point dot = {s * points[0].x, s * points[0].y};
        cover_segment(p, dot, dot, 1.6 * s * ink.width);
    }
    for (int32_t j = p->touched_top; j < p->touched_bottom; j++) {
        float *row = p->cover + (size_t)j * (size_t)width;
        for (int32_t i = 0; i < width; i++)
            if (row[i] > 0)
                blend(p->picture->pixels + 4 * ((size_t)j * (size_t)width + (size_t)i), ink.rgb, row[i]);
        memset(row, 0, (size_t)width * sizeof *row);
    }
}

static void png_words(bo_pen *pen, const bo_words *words) {
    static const uint8_t rgb[3] = {20, 23, 28};
    png_pen *p = (png_pen *)pen;
    char plain[BO_PLOT_TEXT];
    bo_plain_text(plain, sizeof plain, words->text);
    double s = p->scale, size = s * words->size, width = s * bo_words_width(words);
    double back = words->anchor == BO_START ? 0 : words->anchor == BO_MIDDLE ? 0.5 * width : width;
    double x = s * words->x - (words->turned ? size : back), y = s * words->y - (words->turned ? -back : size);
    /* strong writing is drawn twice, half a pixel apart */
    for (int i = 0; i <= (words->strong ? 1 : 0); i++)
        bo_draw_text(p->picture, x + 0.35 * s * i, y, size, light_of(rgb), plain, words->turned);
    if (words->power)
        bo_draw_text(p->picture, x + bough_label_width(size, plain), y - 0.32 * size, 0.72 * size, light_of(rgb),
                     words->power, false);
}

bough_status bo_plot_write_png(bough_context *ctx, const bo_plot *plot, const bough_plot_def *def, FILE *stream) {
    bough_picture_def canvas = bough_default_picture_def();
    canvas.width = def->width * def->png_scale, canvas.height = def->height * def->png_scale;
    png_pen pen = {.pen = {png_box, png_lines, png_curve, png_words}, .scale = def->png_scale};
    BO_TRY(bough_picture_create(ctx, &canvas, &pen.picture));
    size_t count = (size_t)canvas.width * (size_t)canvas.height;
    pen.cover = BO_NEW_ZEROS(ctx, float, count);
    bough_status status = pen.cover ? BOUGH_OK : bo_fail_memory(ctx);
    if (status == BOUGH_OK) {
        memset(pen.picture->pixels, 255, 4 * count);
        bo_plot_draw(plot, &pen.pen);
        bo_png_write_header(stream, canvas.width, canvas.height);
        bo_png_image image = {pen.picture->pixels, 4 * (size_t)canvas.width, canvas.width, canvas.height};
        status = bo_png_write_image(ctx, stream, image, NULL, false);
        bo_png_write_chunk(stream, "IEND", NULL, 0);
    }
    bo_free(ctx, pen.cover);
    bough_picture_destroy(ctx, pen.picture);
    return status;
}
