/* Text and colour bars, drawn over the finished picture. A glyph is a 5 x 9 grid of dots (capitals are 7 high, 2 rows
 * hang below the line); strokes join neighbouring dots, so that letters are smooth at any size. */
#include "record/picture.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = 5, ROWS = 9, FIRST_GLYPH = 32, GLYPH_COUNT = 95 };

/* ASCII 32 to 126; bit 4 is the leftmost column. */
static const uint8_t glyphs[GLYPH_COUNT][ROWS] = {
    // clang-format off
    {0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0x04, 0x04, 0x04, 0x04, 0x04, 0, 0x04, 0, 0},
    {0x0a, 0x0a, 0x0a, 0, 0, 0, 0, 0, 0},
    {0x0a, 0x0a, 0x1f, 0x0a, 0x1f, 0x0a, 0x0a, 0, 0},
    {0x04, 0x0f, 0x14, 0x0e, 0x05, 0x1e, 0x04, 0, 0},
    {0x18, 0x19, 0x02, 0x04, 0x08, 0x13, 0x03, 0, 0},
    {0x0c, 0x12, 0x14, 0x08, 0x15, 0x12, 0x0d, 0, 0},
    {0x04, 0x04, 0x08, 0, 0, 0, 0, 0, 0},
    {0x02, 0x04, 0x08, 0x08, 0x08, 0x04, 0x02, 0, 0},
    {0x08, 0x04, 0x02, 0x02, 0x02, 0x04, 0x08, 0, 0},
    {0, 0x04, 0x15, 0x0e, 0x15, 0x04, 0, 0, 0},
    {0, 0x04, 0x04, 0x1f, 0x04, 0x04, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0x04, 0x04, 0x08},
    {0, 0, 0, 0x0e, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0x04, 0, 0},
    {0x01, 0x01, 0x02, 0x04, 0x08, 0x10, 0x10, 0, 0},
    {0x0e, 0x11, 0x11, 0x11, 0x11, 0x11, 0x0e, 0, 0},
    {0x04, 0x0c, 0x04, 0x04, 0x04, 0x04, 0x0e, 0, 0},
    {0x0e, 0x11, 0x01, 0x02, 0x04, 0x08, 0x1f, 0, 0},
    {0x0e, 0x11, 0x01, 0x06, 0x01, 0x11, 0x0e, 0, 0},
    {0x02, 0x06, 0x0a, 0x12, 0x1f, 0x02, 0x02, 0, 0},
    {0x1f, 0x10, 0x1e, 0x01, 0x01, 0x11, 0x0e, 0, 0},
    {0x06, 0x08, 0x10, 0x1e, 0x11, 0x11, 0x0e, 0, 0},
    {0x1f, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08, 0, 0},
    {0x0e, 0x11, 0x11, 0x0e, 0x11, 0x11, 0x0e, 0, 0},
    {0x0e, 0x11, 0x11, 0x0f, 0x01, 0x02, 0x0c, 0, 0},
    {0, 0, 0x04, 0, 0, 0, 0x04, 0, 0},
    {0, 0, 0x04, 0, 0, 0, 0x04, 0x04, 0x08},
    {0x02, 0x04, 0x08, 0x10, 0x08, 0x04, 0x02, 0, 0},
    {0, 0, 0x1f, 0, 0x1f, 0, 0, 0, 0},
    {0x08, 0x04, 0x02, 0x01, 0x02, 0x04, 0x08, 0, 0},
    {0x0e, 0x11, 0x01, 0x02, 0x04, 0, 0x04, 0, 0},
    {0x0e, 0x11, 0x17, 0x15, 0x17, 0x10, 0x0e, 0, 0},
    {0x04, 0x0a, 0x11, 0x11, 0x1f, 0x11, 0x11, 0, 0},
    {0x1e, 0x11, 0x11, 0x1e, 0x11, 0x11, 0x1e, 0, 0},
    {0x0e, 0x11, 0x10, 0x10, 0x10, 0x11, 0x0e, 0, 0},
    {0x1c, 0x12, 0x11, 0x11, 0x11, 0x12, 0x1c, 0, 0},
    {0x1f, 0x10, 0x10, 0x1e, 0x10, 0x10, 0x1f, 0, 0},
    {0x1f, 0x10, 0x10, 0x1e, 0x10, 0x10, 0x10, 0, 0},
    {0x0e, 0x11, 0x10, 0x13, 0x11, 0x11, 0x0e, 0, 0},
    {0x11, 0x11, 0x11, 0x1f, 0x11, 0x11, 0x11, 0, 0},
    {0x0e, 0x04, 0x04, 0x04, 0x04, 0x04, 0x0e, 0, 0},
    {0x07, 0x02, 0x02, 0x02, 0x02, 0x12, 0x0c, 0, 0},
    {0x11, 0x12, 0x14, 0x18, 0x14, 0x12, 0x11, 0, 0},
    {0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x1f, 0, 0},
    {0x11, 0x1b, 0x15, 0x15, 0x11, 0x11, 0x11, 0, 0},
    {0x11, 0x11, 0x19, 0x15, 0x13, 0x11, 0x11, 0, 0},
    {0x0e, 0x11, 0x11, 0x11, 0x11, 0x11, 0x0e, 0, 0},
    {0x1e, 0x11, 0x11, 0x1e, 0x10, 0x10, 0x10, 0, 0},
    {0x0e, 0x11, 0x11, 0x11, 0x15, 0x12, 0x0d, 0, 0},
    {0x1e, 0x11, 0x11, 0x1e, 0x14, 0x12, 0x11, 0, 0},
    {0x0f, 0x10, 0x10, 0x0e, 0x01, 0x01, 0x1e, 0, 0},
    {0x1f, 0x04, 0x04, 0x04, 0x04, 0x04, 0x04, 0, 0},
    {0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x0e, 0, 0},
    {0x11, 0x11, 0x11, 0x11, 0x0a, 0x0a, 0x04, 0, 0},
    {0x11, 0x11, 0x11, 0x15, 0x15, 0x1b, 0x11, 0, 0},
    {0x11, 0x11, 0x0a, 0x04, 0x0a, 0x11, 0x11, 0, 0},
    {0x11, 0x11, 0x0a, 0x04, 0x04, 0x04, 0x04, 0, 0},
    {0x1f, 0x01, 0x02, 0x04, 0x08, 0x10, 0x1f, 0, 0},
    {0x0e, 0x08, 0x08, 0x08, 0x08, 0x08, 0x0e, 0, 0},
    {0x10, 0x10, 0x08, 0x04, 0x02, 0x01, 0x01, 0, 0},
    {0x0e, 0x02, 0x02, 0x02, 0x02, 0x02, 0x0e, 0, 0},
    {0x04, 0x0a, 0x11, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0x1f, 0},
    {0x08, 0x04, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0x0e, 0x01, 0x0f, 0x11, 0x0f, 0, 0},
    {0x10, 0x10, 0x1e, 0x11, 0x11, 0x11, 0x1e, 0, 0},
    {0, 0, 0x0e, 0x11, 0x10, 0x11, 0x0e, 0, 0},
    {0x01, 0x01, 0x0f, 0x11, 0x11, 0x11, 0x0f, 0, 0},
    {0, 0, 0x0e, 0x11, 0x1f, 0x10, 0x0e, 0, 0},
    {0x06, 0x08, 0x08, 0x1c, 0x08, 0x08, 0x08, 0, 0},
    {0, 0, 0x0f, 0x11, 0x11, 0x11, 0x0f, 0x01, 0x0e},
    {0x10, 0x10, 0x1e, 0x11, 0x11, 0x11, 0x11, 0, 0},
    {0x04, 0, 0x04, 0x04, 0x04, 0x04, 0x04, 0, 0},
    {0x02, 0, 0x02, 0x02, 0x02, 0x02, 0x02, 0x02, 0x0c},
    {0x10, 0x10, 0x12, 0x14, 0x18, 0x14, 0x12, 0, 0},
    {0x04, 0x04, 0x04, 0x04, 0x04, 0x04, 0x04, 0, 0},
    {0, 0, 0x1a, 0x15, 0x15, 0x15, 0x15, 0, 0},
    {0, 0, 0x1e, 0x11, 0x11, 0x11, 0x11, 0, 0},
    {0, 0, 0x0e, 0x11, 0x11, 0x11, 0x0e, 0, 0},
    {0, 0, 0x1e, 0x11, 0x11, 0x11, 0x1e, 0x10, 0x10},
    {0, 0, 0x0f, 0x11, 0x11, 0x11, 0x0f, 0x01, 0x01},
    {0, 0, 0x0b, 0x0c, 0x08, 0x08, 0x08, 0, 0},
    {0, 0, 0x0f, 0x10, 0x0e, 0x01, 0x1e, 0, 0},
    {0x08, 0x08, 0x1c, 0x08, 0x08, 0x08, 0x06, 0, 0},
    {0, 0, 0x11, 0x11, 0x11, 0x11, 0x0f, 0, 0},
    {0, 0, 0x11, 0x11, 0x0a, 0x0a, 0x04, 0, 0},
    {0, 0, 0x11, 0x11, 0x15, 0x15, 0x0a, 0, 0},
    {0, 0, 0x11, 0x0a, 0x04, 0x0a, 0x11, 0, 0},
    {0, 0, 0x11, 0x11, 0x11, 0x11, 0x0f, 0x01, 0x0e},
    {0, 0, 0x1f, 0x02, 0x04, 0x08, 0x1f, 0, 0},
    {0x06, 0x04, 0x04, 0x08, 0x04, 0x04, 0x06, 0, 0},
    {0x04, 0x04, 0x04, 0x04, 0x04, 0x04, 0x04, 0x04, 0},
    {0x0c, 0x04, 0x04, 0x02, 0x04, 0x04, 0x0c, 0, 0},
    {0, 0, 0x08, 0x15, 0x02, 0, 0, 0, 0},
    // clang-format on
};

static const double stroke = 0.48; /* half the width of a stroke in dots */

static const uint8_t *glyph_of(char c) {
    int i = (unsigned char)c - FIRST_GLYPH;
    return glyphs[i >= 0 && i < GLYPH_COUNT ? i : '?' - FIRST_GLYPH];
}

static bool dot(const uint8_t *glyph, int column, int row) {
    return column >= 0 && column < COLUMNS && row >= 0 && row < ROWS && (glyph[row] & (16 >> column));
}

/* First used column, and how far the next letter is, in dots. Digits are all equally wide. */
static void glyph_extent(char c, int *first, double *advance) {
    const uint8_t *glyph = glyph_of(c);
    int used = 0;
    for (int row = 0; row < ROWS; row++)
        used |= glyph[row];
    *first = 0;
    if (c == ' ' || (c >= '0' && c <= '9')) {
        *advance = c == ' ' ? 3.6 : COLUMNS + 1.4;
        return;
    }
    int last = COLUMNS - 1;
    while (*first < COLUMNS && !(used & (16 >> *first)))
        ++*first;
    while (last > *first && !(used & (16 >> last)))
        last--;
    *advance = last - *first + 2.4;
}

static double segment_distance(double x, double y, double dx, double dy) {
    double length = dx * dx + dy * dy, t = length > 0 ? (x * dx + y * dy) / length : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return hypot(x - t * dx, y - t * dy);
}

/* Distance, in dots, from (x,y) to the strokes of a glyph; far away it is just large. */
static double glyph_distance(const uint8_t *glyph, double x, double y) {
    static const int steps[4][2] = {{1, 0}, {0, 1}, {1, 1}, {-1, 1}};
    double nearest = 2;
    int column = (int)floor(x), row = (int)floor(y);
    for (int j = row - 1; j <= row + 2; j++)
        for (int i = column - 1; i <= column + 2; i++) {
            if (!dot(glyph, i, j))
                continue;
            nearest = fmin(nearest, hypot(x - i, y - j));
            for (int k = 0; k < 4; k++) {
                int dx = steps[k][0], dy = steps[k][1];
                /* diagonals only where no corner leads around them */
                bool corner = dx != 0 && dy != 0 && (dot(glyph, i + dx, j) || dot(glyph, i, j + dy));
                if (dot(glyph, i + dx, j + dy) && !corner)
                    nearest = fmin(nearest, segment_distance(x - i, y - j, dx, dy));
            }
        }
    return nearest;
}

static void blend(uint8_t *pixel, bo_rgb colour, float cover) {
    float old[3] = {(float)pixel[0] / 255, (float)pixel[1] / 255, (float)pixel[2] / 255};
    bo_rgb mixed = bo_rgb_mix(bo_rgb_from_srgb(old), colour, cover);
    pixel[0] = (uint8_t)(255 * bo_srgb_encode(mixed.r) + 0.5f);
    pixel[1] = (uint8_t)(255 * bo_srgb_encode(mixed.g) + 0.5f);
    pixel[2] = (uint8_t)(255 * bo_srgb_encode(mixed.b) + 0.5f);
}

static uint8_t *pixel_at(const bough_picture *picture, int32_t x, int32_t y) {
    return picture->pixels + 4 * ((size_t)y * (size_t)picture->def.width + (size_t)x);
}

static int32_t clamp_pixel(double v, int32_t limit) {
    return v < 0 ? 0 : v > limit ? limit : (int32_t)v;
}

/* (x,y): pixel position of the dot in the top left corner; `scale` pixels per dot. Turned: the text runs upwards. */
static void draw_glyph(const bough_picture *picture, char c, double x, double y, double scale, bo_rgb colour,
                       bool turned) {
    const uint8_t *glyph = glyph_of(c);
    double left = x - scale, right = x + (turned ? 10 : 6) * scale;
    double top = y - (turned ? 6 : 1) * scale, bottom = y + (turned ? 1 : 10) * scale;
    int32_t x0 = clamp_pixel(left, picture->def.width), x1 = clamp_pixel(right, picture->def.width);
    int32_t y0 = clamp_pixel(top, picture->def.height), y1 = clamp_pixel(bottom, picture->def.height);
    for (int32_t j = y0; j < y1; j++)
        for (int32_t i = x0; i < x1; i++) {
            double dx = (i + 0.5 - x) / scale, dy = (j + 0.5 - y) / scale;
            double d = turned ? glyph_distance(glyph, -dy, dx) : glyph_distance(glyph, dx, dy);
            double cover = (stroke - d) * scale + 0.5;
            if (cover > 0)
                blend(pixel_at(picture, i, j), colour, cover > 1 ? 1 : (float)cover);
        }
}

double bough_label_width(double size, const char *text) {
    double width = 0, longest = 0, advance;
    int first;
    for (; *text; text++) {
        if (*text == '\n') {
            width = 0;
            continue;
        }
        glyph_extent(*text, &first, &advance);
        width += advance * size / 7;
        longest = fmax(longest, width);
    }
    return longest;
}

void bo_draw_text(const bough_picture *picture, double x, double y, double size, bo_rgb colour, const char *text,
                  bool turned) {
    double scale = size / 7, along = 0, down = 0.5 * scale;
    for (const char *c = text; *c; c++) {
        if (*c == '\n') {
            along = 0, down += 12 * scale;
            continue;
        }
        int first;
        double advance;
        glyph_extent(*c, &first, &advance);
        double u = along + (0.5 - first) * scale;
        draw_glyph(picture, *c, turned ? x + down : x + u, turned ? y - u : y + down, scale, colour, turned);
        along += advance * scale;
    }
}

/* Length of the part of pixel i that lies in [lower, upper]. */
static double overlap(int32_t i, double lower, double upper) {
    double length = fmin(i + 1, upper) - fmax(i, lower);
    return length < 0 ? 0 : length;
}

static void draw_bar(const bough_picture *picture, const bo_colour_bar *bar) {
    static const bo_rgb ink = {0.02f, 0.025f, 0.03f};
    double right = bar->x + bar->width, bottom = bar->y + bar->height;
    int32_t x0 = clamp_pixel(floor(bar->x) - 1, picture->def.width),
            x1 = clamp_pixel(ceil(right) + 1, picture->def.width);
    int32_t y0 = clamp_pixel(floor(bar->y) - 1, picture->def.height);
    int32_t y1 = clamp_pixel(ceil(bottom) + 1, picture->def.height);
    for (int32_t j = y0; j < y1; j++) {
        float srgb[3];
        bough_colour_map_at(bar->map, (bottom - (j + 0.5)) / bar->height, srgb);
        bo_rgb colour = bo_rgb_from_srgb(srgb);
        for (int32_t i = x0; i < x1; i++) {
            double outer = overlap(i, bar->x - 1, right + 1) * overlap(j, bar->y - 1, bottom + 1);
            double inner = overlap(i, bar->x, right) * overlap(j, bar->y, bottom);
            blend(pixel_at(picture, i, j), ink, (float)(0.6 * (outer - inner)));
            blend(pixel_at(picture, i, j), colour, (float)inner);
        }
    }
}

void bo_draw_labels(const bough_picture *picture) {
    for (size_t i = 0; i < picture->bar_count; i++)
        draw_bar(picture, &picture->bars[i]);
    for (size_t i = 0; i < picture->label_count; i++)
        bo_draw_text(picture, picture->labels[i].x, picture->labels[i].y, picture->labels[i].size,
                     picture->labels[i].colour, picture->labels[i].text, false);
}
