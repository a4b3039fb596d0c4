#include "record/plot.h"

#include <stdio.h>

typedef struct svg_pen {
    bo_pen pen;
    FILE *stream;
} svg_pen;

/* Two decimals, without zeros at the end, whatever the locale. */
static void put_number(FILE *f, double value) {
    char text[32];
    bo_format_fixed(text, sizeof text, value, 2);
    size_t length = 0;
    while (text[length])
        length++;
    while (text[length - 1] == '0')
        length--;
    if (text[length - 1] == '.')
        length--;
    fwrite(text, 1, length, f);
}

static void put_attribute(FILE *f, const char *name, double value) {
    fprintf(f, " %s=\"", name);
    put_number(f, value);
    fputc('"', f);
}

static void put_colour(FILE *f, const char *name, const uint8_t rgb[3]) {
    fprintf(f, " %s=\"#%02x%02x%02x\"", name, rgb[0], rgb[1], rgb[2]);
}

static void put_text(FILE *f, const char *text) {
    while (*text) {
        int length = bo_utf8_length(text);
        if (*text == '&')
            fputs("&amp;", f);
        else if (*text == '<')
            fputs("&lt;", f);
        else if (*text == '>')
            fputs("&gt;", f);
        else if (length == 0 || (length == 1 && ((unsigned char)*text < ' ' || *text == 127)))
            fputc('?', f);
        else
            fwrite(text, 1, (size_t)length, f);
        text += length > 0 ? length : 1;
    }
}

/* Numbers have a minus sign, not a hyphen. */
static void put_signed(FILE *f, const char *text) {
    bool negative = text[0] == '-' && text[1] >= '0' && text[1] <= '9';
    fputs(negative ? "\u2212" : "", f);
    put_text(f, text + negative);
}

static void put_stroke(FILE *f, bo_ink ink) {
    put_colour(f, "stroke", ink.rgb);
    put_attribute(f, "stroke-width", ink.width);
    if (ink.dash == 0)
        return;
    fputs(" stroke-dasharray=\"", f);
    for (int i = 0; i < 4; i++) {
        if (i > 0)
            fputc(' ', f);
        put_number(f, bo_dashes[ink.dash][i]);
    }
    fputc('"', f);
}

static void svg_box(bo_pen *pen, bo_point corner, double width, double height, const uint8_t rgb[3]) {
    FILE *f = ((svg_pen *)pen)->stream;
    fputs("<rect", f);
    put_attribute(f, "x", corner.x);
    put_attribute(f, "y", corner.y);
    put_attribute(f, "width", width);
    put_attribute(f, "height", height);
    put_colour(f, "fill", rgb);
    fputs(" fill-opacity=\"0.85\"/>\n", f);
}

static void svg_lines(bo_pen *pen, const bo_point *points, size_t line_count, bo_ink ink) {
    FILE *f = ((svg_pen *)pen)->stream;
    if (line_count == 0)
        return;
    fputs("<path fill=\"none\"", f);
    put_stroke(f, ink);
    fputs(" d=\"", f);
    for (size_t i = 0; i < 2 * line_count; i++) {
        fputc(i % 2 ? 'L' : 'M', f);
        put_number(f, points[i].x);
        fputc(' ', f);
        put_number(f, points[i].y);
    }
    fputs("\"/>\n", f);
}

static void svg_curve(bo_pen *pen, const bo_point *points, size_t count, bo_ink ink) {
    FILE *f = ((svg_pen *)pen)->stream;
    if (count == 1) {
        fputs("<circle", f);
        put_attribute(f, "cx", points[0].x);
        put_attribute(f, "cy", points[0].y);
        put_attribute(f, "r", 1.6 * ink.width);
        put_colour(f, "fill", ink.rgb);
        fputs("/>\n", f);
        return;
    }
    fputs("<polyline fill=\"none\" stroke-linejoin=\"round\"", f);
    put_stroke(f, ink);
    fputs(" points=\"", f);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            fputc(i % 16 ? ' ' : '\n', f);
        put_number(f, points[i].x);
        fputc(',', f);
        put_number(f, points[i].y);
    }
    fputs("\"/>\n", f);
}

static void svg_words(bo_pen *pen, const bo_words *words) {
    static const char *const anchors[] = {"start", "middle", "end"};
    static const double cap = 0.716; /* height of capitals of common sans-serif fonts, in ems */
    FILE *f = ((svg_pen *)pen)->stream;
    fputs("<text", f);
    if (words->turned) {
        fputs(" transform=\"translate(", f);
        put_number(f, words->x);
        fputc(' ', f);
        put_number(f, words->y);
        fputs(") rotate(-90)\"", f);
    } else {
        put_attribute(f, "x", words->x);
        put_attribute(f, "y", words->y);
    }
    put_attribute(f, "font-size", words->size / cap);
    fprintf(f, " text-anchor=\"%s\"%s>", anchors[words->anchor], words->strong ? " font-weight=\"600\"" : "");
    put_signed(f, words->text);
    if (words->power) {
        fputs("<tspan", f);
        put_attribute(f, "dy", -0.6 * words->size);
        put_attribute(f, "font-size", 0.72 * words->size / cap);
        fputc('>', f);
        put_signed(f, words->power);
        fputs("</tspan>", f);
    }
    fputs("</text>\n", f);
}

bough_status bo_plot_write_svg(bough_context *ctx, const bo_plot *plot, const bough_plot_def *def, FILE *stream) {
    svg_pen pen = {{svg_box, svg_lines, svg_curve, svg_words}, stream};
    (void)ctx;
    fprintf(stream,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
            "font-family=\"system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif\" "
            "fill=\"#262a30\">\n",
            def->width, def->height, def->width, def->height);
    if (def->title && def->title[0]) {
        fputs("<title>", stream);
        put_text(stream, def->title);
        fputs("</title>\n", stream);
    }
    fputs("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n", stream);
    bo_plot_draw(plot, &pen.pen);
    fputs("</svg>\n", stream);
    return BOUGH_OK;
}
