/* Plots show the numbers they were given, have round ticks, and survive any numbers and texts. */
#include "png_reader.h"

#include "record/plot.h"

/* ---- axes ---- */

static bo_axis axis_of(double lo, double hi, bool log, int count) {
    bo_axis axis = {.log = log, .from = 0, .to = 100};
    bo_axis_range(&axis, bo_axis_scale(&axis, lo), bo_axis_scale(&axis, hi), NAN, NAN, 0);
    bo_axis_ticks(&axis, count);
    return axis;
}

static void linear_ticks_are_round_and_cover_the_range(void **state) {
    (void)state;
    test_random r = {1};
    for (int i = 0; i < 20000; i++) {
        double size = pow(10, test_uniform(&r, -200, 200)), lo = size * test_uniform(&r, -1, 1);
        double hi = lo + size * pow(10, test_uniform(&r, -6, 1));
        int count = 3 + (int)(test_bits(&r) % 10);
        bo_axis axis = axis_of(lo, hi, false, count);
        check(axis.lo <= lo && axis.hi >= hi);
        check(axis.hi - axis.lo <= 1.03 * (hi - lo));
        check(axis.tick_count >= 1 && axis.tick_count <= count + 2);
        double step = axis.tick_count > 1 ? axis.ticks[1].at - axis.ticks[0].at : (hi - lo);
        if (axis.tick_count > 1) { /* 1, 2, 5 times a power of ten */
            double digit = step / pow(10, floor(log10(step) + 1e-6));
            check(fabs(digit - 1) < 1e-4 || fabs(digit - 2) < 1e-4 || fabs(digit - 5) < 1e-4);
        }
        check(axis.ticks[0].at - step < axis.lo + 1e-6 * step);
        check(axis.ticks[axis.tick_count - 1].at + step > axis.hi - 1e-6 * step);
        for (int k = 0; k < axis.tick_count; k++) { /* labels say where ticks are */
            double said = strtod(axis.ticks[k].label, NULL) * pow(10, axis.factor);
            check_near(said, axis.ticks[k].at, 1e-6 * step);
        }
        check(axis.minor_count > 0);
    }
}

static void log_ticks_are_powers_of_ten(void **state) {
    (void)state;
    bo_axis axis = axis_of(0.01, 1000, true, 8);
    check_int(axis.tick_count, 6);
    check_int(axis.minor_count, 5 * 8);
    for (int i = 0; i < 6; i++)
        check_near(axis.ticks[i].at, i - 2, 1e-12);
    check(strcmp(axis.ticks[0].label, "0.01") == 0 && strcmp(axis.ticks[5].label, "1000") == 0);
    axis = axis_of(1e-9, 1, true, 12);
    check(strcmp(axis.ticks[0].label, "10") == 0 && strcmp(axis.ticks[0].power, "-9") == 0);
    axis = axis_of(1e-280, 1e280, true, 8);
    check(axis.tick_count >= 3 && axis.tick_count <= 10);
    static const double ends[][2] = {{3, 4}, {3e-6, 4e-6}, {2, 30}, {2e7, 9e8}, {9.5, 10.5}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        axis = axis_of(ends[i][0], ends[i][1], true, 6);
        check(axis.tick_count >= 2);
        for (int k = 0; k < axis.tick_count; k++) {
            check(axis.ticks[k].at >= axis.lo - 1e-9 && axis.ticks[k].at <= axis.hi + 1e-9);
            if (!axis.ticks[k].power[0])
                check_near(log10(strtod(axis.ticks[k].label, NULL)) + axis.factor, axis.ticks[k].at, 1e-9);
        }
    }
}

static void single_values_have_room(void **state) {
    (void)state;
    static const double values[] = {0, 1, -5, 1e-320, 1e300, -1e308, 1e-300, 123456.789};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        for (int log = 0; log < 2; log++) {
            bo_axis axis = axis_of(values[i], values[i], log != 0, 6);
            check(axis.hi > axis.lo && isfinite(axis.hi - axis.lo));
            check(axis.tick_count >= 1);
            for (int k = 0; k < axis.tick_count; k++)
                check(isfinite(axis.ticks[k].at));
        }
}

static void numbers_are_written_with_points(void **state) {
    (void)state;
    char text[32];
    static const struct {
        double value;
        int decimals;
        const char *text;
    } cases[] = {{0, 0, "0"},       {-0.004, 2, "0.00"}, {1.5, 1, "1.5"},     {-12.345, 2, "-12.35"},
                 {0.05, 2, "0.05"}, {100, 0, "100"},     {-0.5, 3, "-0.500"}, {7, 2, "7.00"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bo_format_fixed(text, sizeof text, cases[i].value, cases[i].decimals);
        if (strcmp(text, cases[i].text) != 0)
            fail_msg("%g with %d decimals is \"%s\"", cases[i].value, cases[i].decimals, text);
    }
    bo_format_fixed(text, 4, 123456, 0);
    check(strcmp(text, "123") == 0);
}

/* ---- SVG ---- */

static char *read_text(const char *path) {
    size_t size;
    char *text = (char *)test_read(path, &size);
    text[size] = 0;
    check(strlen(text) == size);
    return text;
}

/* Tags balance, attributes are quoted, no bare & or <, no control characters. */
static void check_xml(const char *text) {
    char open[16][16];
    int depth = 0, roots = 0;
    const char *c = text;
    check(strncmp(c, "<?xml", 5) == 0);
    c = strstr(c, "?>") + 2;
    while (*c) {
        if (*c == '&') {
            check(!strncmp(c, "&amp;", 5) || !strncmp(c, "&lt;", 4) || !strncmp(c, "&gt;", 4));
        } else if (*c == '<' && c[1] == '/') {
            size_t length = strcspn(c + 2, ">");
            check(depth > 0 && strlen(open[depth - 1]) == length && !strncmp(open[depth - 1], c + 2, length));
            depth--, c += 2 + length;
        } else if (*c == '<') {
            size_t length = strspn(c + 1, "abcdefghijklmnopqrstuvwxyz");
            check(length > 0 && length < 16 && depth < 16);
            roots += depth == 0;
            snprintf(open[depth++], 16, "%.*s", (int)length, c + 1);
            c += 1 + length;
            while (*c == ' ') {
                size_t name = strspn(c + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");
                check(name > 0 && c[1 + name] == '=' && c[2 + name] == '"');
                c += 3 + name;
                size_t value = strcspn(c, "\"<&");
                check(c[value] == '"');
                c += value + 1;
            }
            if (*c == '/')
                depth--, c++;
            check(*c == '>');
        } else {
            check((unsigned char)*c >= ' ' || *c == '\n');
            check(depth > 0 || *c == '\n');
        }
        c++;
    }
    check_int(depth, 0);
    check_int(roots, 1);
}

/* The points of polyline number `index`; returns how many. */
static int polyline(const char *svg, int index, double *xy, int limit) {
    const char *c = svg;
    for (int i = 0; i <= index; i++) {
        c = strstr(i ? c + 1 : c, "<polyline");
        if (!c)
            return 0;
    }
    c = strstr(c, "points=\"") + 8;
    int count = 0;
    while (*c != '"') {
        char *end;
        check(count < limit);
        xy[2 * count] = strtod(c, &end);
        check(*end == ',');
        xy[2 * count++ + 1] = strtod(end + 1, &end);
        c = end + strspn(end, " \n");
    }
    return count;
}

static int occurrences(const char *text, const char *word) {
    int count = 0;
    for (; (text = strstr(text, word)); text++)
        count++;
    return count;
}

static void lines_are_where_the_numbers_are(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    enum { N = 40 };
    double x[N], y[N], xy[2 * N];
    for (int log = 0; log < 2; log++) {
        for (int i = 0; i < N; i++)
            x[i] = 3 + 0.5 * i, y[i] = log ? pow(10, 0.1 * i - 2) : 17 + cos(0.3 * i);
        bough_series series = {"line", N, x, y, false};
        bough_plot_def def = bough_default_plot_def();
        def.log_y = log != 0;
        def.x_title = "x", def.y_title = "y";
        check_ok(ctx, bough_plot_write(ctx, &def, &series, 1, test_path("line.svg")));
        char *svg = read_text(test_path("line.svg"));
        check_xml(svg);
        check_int(polyline(svg, 0, xy, N), N);
        double sx = (xy[2 * N - 2] - xy[0]) / (x[N - 1] - x[0]);
        double y0 = log ? log10(y[0]) : y[0], y9 = log ? log10(y[9]) : y[9], sy = (xy[19] - xy[1]) / (y9 - y0);
        check(sx > 0 && sy < 0);
        for (int i = 0; i < N; i++) {
            check_near(xy[2 * i], xy[0] + sx * (x[i] - x[0]), 0.011);
            check_near(xy[2 * i + 1], xy[1] + sy * ((log ? log10(y[i]) : y[i]) - y0), 0.1);
            check(xy[2 * i] >= 0 && xy[2 * i] <= def.width && xy[2 * i + 1] >= 0 && xy[2 * i + 1] <= def.height);
        }
        free(svg);
    }
    bough_context_destroy(ctx);
}

static void gaps_stay_gaps_and_lonely_points_are_dots(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    double x[] = {0, 1, 2, 3, 4, 5, 6, 7, 8}, y[] = {1, 2, NAN, 4, INFINITY, 3, 3, -INFINITY, NAN}, xy[64];
    bough_series series = {"", 9, x, y, false};
    check_ok(ctx, bough_plot_write(ctx, NULL, &series, 1, test_path("gaps.svg")));
    char *svg = read_text(test_path("gaps.svg"));
    check_xml(svg);
    check_int(occurrences(svg, "<polyline"), 2);
    check_int(occurrences(svg, "<circle"), 1);
    check_int(polyline(svg, 0, xy, 32), 2);
    free(svg);
    bough_context_destroy(ctx);
}

/* Few of a million points remain, among them the highest and the lowest of all. */
static void long_series_keep_their_peaks(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    enum { N = 1000000 };
    double *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y), *xy = malloc(20000 * sizeof *xy);
    for (int i = 0; i < N; i++)
        x[i] = i, y[i] = sin(1e-5 * i);
    y[123456] = 10, y[765432] = -10;
    bough_series series = {NULL, N, x, y, false};
    bough_plot_def def = bough_default_plot_def();
    check_ok(ctx, bough_plot_write(ctx, &def, &series, 1, test_path("long.svg")));
    char *svg = read_text(test_path("long.svg"));
    int count = polyline(svg, 0, xy, 10000);
    check(count > 600 && count <= 4 * def.width);
    double low = -INFINITY, high = INFINITY, sx = (xy[2 * count - 2] - xy[0]) / (N - 1), low_x = 0, high_x = 0;
    for (int i = 0; i < count; i++) {
        if (xy[2 * i + 1] > low)
            low = xy[2 * i + 1], low_x = xy[2 * i];
        if (xy[2 * i + 1] < high)
            high = xy[2 * i + 1], high_x = xy[2 * i];
    }
    check_near(high_x, xy[0] + sx * 123456, 0.02);
    check_near(low_x, xy[0] + sx * 765432, 0.02);
    double middle = xy[1]; /* sin 0 */
    check_near((high - middle) / (low - middle), -1, 1e-3);
    free(svg);
    free(x), free(y), free(xy);
    bough_context_destroy(ctx);
}

static void fixed_ranges_cut_lines_at_the_frame(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    double x[] = {-10, 10}, y[] = {-1e300, 1e300}, y2[] = {-20, 20}, xy[64];
    bough_series series[] = {{NULL, 2, x, y, false}, {NULL, 2, x, y2, true}};
    bough_plot_def def = bough_default_plot_def();
    def.x_min = -1, def.x_max = 1, def.y_min = -1, def.y_max = 1;
    check_ok(ctx, bough_plot_write(ctx, &def, series, 2, test_path("cut.svg")));
    char *svg = read_text(test_path("cut.svg"));
    check_int(polyline(svg, 1, xy, 32), 2);
    for (int i = 0; i < 4; i++)
        check(xy[i] > 10 && xy[i] < def.width);
    /* y = 2 x reaches the frame at x = -1/2 and 1/2, from its lower to its upper side */
    double steep[64];
    check_int(polyline(svg, 0, steep, 32), 2);
    check_near(xy[1], steep[1], 0.011);
    check_near(xy[3], steep[3], 0.011);
    check_near(0.5 * (xy[0] + xy[2]), steep[0], 0.02);
    check(xy[2] - xy[0] > 0.4 * def.width);
    check(occurrences(svg, "stroke-dasharray") == 1);
    free(svg);
    bough_context_destroy(ctx);
}

static void any_text_gives_good_xml(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    double x[] = {0, 1}, y[] = {0, 1};
    char endless[5000];
    memset(endless, 'W', sizeof endless - 1);
    endless[sizeof endless - 1] = 0;
    static const char *const texts[] = {"a < b && \"c\" > 'd'",
                                        "caf\xe9 \x01\x02\x7f\n",
                                        "\xe2\x82",
                                        "\xed\xa0\x80\xef\xbf\xbf",
                                        "\u03c1\u221e = \U0001F600",
                                        "]]>",
                                        "",
                                        "%s%n%d"};
    bough_plot_def def = bough_default_plot_def();
    for (size_t i = 0; i <= sizeof texts / sizeof *texts; i++) {
        const char *text = i < sizeof texts / sizeof *texts ? texts[i] : endless;
        bough_series series[] = {{text, 2, x, y, false}, {text, 2, y, x, true}};
        def.title = def.x_title = def.y_title = text;
        check_ok(ctx, bough_plot_write(ctx, &def, series, 2, test_path("text.svg")));
        check_ok(ctx, bough_plot_write(ctx, &def, series, 2, test_path("text.png")));
        char *svg = read_text(test_path("text.svg"));
        check_xml(svg);
        for (const char *c = svg; *c; c += bo_utf8_length(c))
            check(bo_utf8_length(c) > 0);
        free(svg);
    }
    char plain[64];
    bo_plain_text(plain, sizeof plain, "\u03c1 = \u03b1\u00b2 \xff");
    check(strcmp(plain, "rho = alpha^2 ?") == 0);
    bough_context_destroy(ctx);
}

/* ---- PNG ---- */

static uint8_t *read_pixels(const char *path, int *width, int *height) {
    png_file png = read_png(path);
    uint8_t *pixels = malloc(4 * (size_t)png.width * png.height);
    png_draw_frame(&png, 0, pixels);
    *width = (int)png.width, *height = (int)png.height;
    free_png(&png);
    return pixels;
}

static bool is_colour(const uint8_t *pixel, unsigned rgb) {
    return pixel[0] == rgb >> 16 && pixel[1] == (rgb >> 8 & 255) && pixel[2] == (rgb & 255);
}

/* The SVG tells where the line and which its colour is; the PNG has it there, and white above and below. */
static void png_and_svg_agree(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    enum { N = 50 };
    double x[N], y[N], xy[2 * N];
    for (int i = 0; i < N; i++)
        x[i] = 0.1 * i, y[i] = 1e6 * sin(x[i]);
    bough_series series = {NULL, N, x, y, false};
    bough_plot_def def = bough_default_plot_def();
    check_ok(ctx, bough_plot_write(ctx, &def, &series, 1, test_path("both.svg")));
    check_ok(ctx, bough_plot_write(ctx, &def, &series, 1, test_path("both.png")));
    char *svg = read_text(test_path("both.svg"));
    check_int(polyline(svg, 0, xy, N), N);
    unsigned rgb = (unsigned)strtoul(strstr(strstr(svg, "<polyline"), "stroke=\"#") + 9, NULL, 16);
    int width, height, near_white = 0;
    uint8_t *pixels = read_pixels(test_path("both.png"), &width, &height);
    check(width == 2 * def.width && height == 2 * def.height);
    check(is_colour(pixels, 0xffffff));
    for (int i = 1; i + 1 < N; i++) {
        int px = (int)(2 * xy[2 * i]), py = (int)(2 * xy[2 * i + 1]);
        check(is_colour(pixels + 4 * (py * width + px), rgb));
        for (int side = -16; side <= 16; side += 32)
            near_white += !is_colour(pixels + 4 * ((py + side) * width + px), rgb);
    }
    check(near_white > 80);
    free(pixels);
    free(svg);
    bough_context_destroy(ctx);
}

/* Colours stay apart for eyes without red-green distinction: the difference of lightness or of blue and yellow. */
static void colours_can_be_told_apart(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    double x[] = {0, 1}, y[8][2];
    bough_series series[8];
    for (int i = 0; i < 8; i++)
        y[i][0] = y[i][1] = i, series[i] = (bough_series){NULL, 2, x, y[i], false};
    check_ok(ctx, bough_plot_write(ctx, NULL, series, 8, test_path("colours.svg")));
    char *svg = read_text(test_path("colours.svg"));
    double seen[8][2];
    const char *c = svg;
    for (int i = 0; i < 8; i++) {
        c = strstr(c + 1, "<polyline");
        unsigned rgb = (unsigned)strtoul(strstr(c, "stroke=\"#") + 9, NULL, 16);
        double r = pow((rgb >> 16) / 255.0, 2.2), g = pow((rgb >> 8 & 255) / 255.0, 2.2),
               b = pow((rgb & 255) / 255.0, 2.2);
        double yellow = 0.29 * r + 0.71 * g; /* what a deuteranope keeps of red and green */
        seen[i][0] = cbrt(0.93 * yellow + 0.07 * b), seen[i][1] = cbrt(b) - cbrt(yellow);
        check(seen[i][0] < 0.85); /* visible on white */
        for (int k = 0; k < i; k++)
            if (hypot(seen[i][0] - seen[k][0], seen[i][1] - seen[k][1]) < 0.1)
                fail_msg("colours %d and %d look alike", k, i);
    }
    free(svg);
    bough_context_destroy(ctx);
}

/* ---- hostile input ---- */

static void any_numbers_give_a_file(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    static const double odd[] = {NAN,   INFINITY, -INFINITY, 0,      -0.0,   1,      -1,         1e300, -1e300,
                                 1e308, -1e308,   5e-324,    1e-310, 1e-300, 3.5e15, 3.5e15 + 1, 1e-17, 2};
    enum { COUNT = sizeof odd / sizeof *odd };
    test_random r = {7};
    bough_plot_def def = bough_default_plot_def();
    def.width = def.height = 200, def.png_scale = 1;
    for (int i = 0; i < 400; i++) {
        double x[2][12], y[2][12];
        bough_series series[2];
        for (int s = 0; s < 2; s++) {
            for (int k = 0; k < 12; k++)
                x[s][k] = odd[test_bits(&r) % COUNT], y[s][k] = odd[test_bits(&r) % COUNT];
            series[s] = (bough_series){"odd", (int32_t)(test_bits(&r) % 13), x[s], y[s], s != 0};
        }
        def.log_x = i & 1, def.log_y = i & 2;
        def.y_max = i & 4 ? 1e-200 : NAN;
        def.legend = (bough_legend)(test_bits(&r) % 7);
        bool png = i % 4 == 0;
        check_ok(ctx, bough_plot_write(ctx, &def, series, (int32_t)(test_bits(&r) % 3),
                                       test_path(png ? "odd.png" : "odd.svg")));
        if (png) {
            png_file file = read_png(test_path("odd.png"));
            free_png(&file);
        } else {
            char *svg = read_text(test_path("odd.svg"));
            check_xml(svg);
            check(!strstr(svg, "nan") && !strstr(svg, "inf"));
            free(svg);
        }
    }
    bough_context_destroy(ctx);
}

/* A line with gaps fills three corners; the legend goes to the fourth. */
static void legends_go_where_no_line_is(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    enum { EACH = 40, ALL = 3 * (EACH + 1) };
    for (int left = 0; left < 4; left++) {
        double x[ALL], y[ALL], xy[2 * ALL], lower[2] = {1e9, 1e9}, upper[2] = {0, 0};
        int count = 0;
        for (int corner = 0; corner < 4; corner++) {
            if (corner == left)
                continue;
            for (int k = 0; k < EACH; k++, count++)
                x[count] = (corner & 1 ? 0.6 : 0) + 0.4 * k / (EACH - 1),
                y[count] = (corner & 2 ? 0.6 : 0) + (k % 2 ? 0.4 : 0);
            x[count] = y[count] = NAN, count++;
        }
        const bough_series series = {"gaps", count, x, y, false};
        check_ok(ctx, bough_plot_write(ctx, NULL, &series, 1, test_path("gaps.svg")));
        char *svg = read_text(test_path("gaps.svg"));
        for (int run = 0; run < 3; run++) {
            check_int(polyline(svg, run, xy, ALL), EACH);
            for (int k = 0; k < 2 * EACH; k++)
                lower[k % 2] = fmin(lower[k % 2], xy[k]), upper[k % 2] = fmax(upper[k % 2], xy[k]);
        }
        const char *c = strstr(svg, ">gaps<");
        check(c != NULL);
        while (strncmp(c, "<text", 5) != 0)
            c--;
        const double at[2] = {strtod(strstr(c, "x=\"") + 3, NULL), strtod(strstr(c, "y=\"") + 3, NULL)};
        check((at[0] > 0.5 * (lower[0] + upper[0])) == ((left & 1) != 0));
        check((at[1] < 0.5 * (lower[1] + upper[1])) == ((left & 2) != 0)); /* y goes down */
        free(svg);
    }
    bough_context_destroy(ctx);
}

static void many_lines_have_a_legend_beside_them(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    static double x[200], y[200];
    static char names[BOUGH_SERIES_LIMIT][16];
    test_random r = {3};
    for (int i = 0; i < 200; i++)
        x[i] = i, y[i] = i % 2 ? 1 : -1;
    bough_series series[BOUGH_SERIES_LIMIT];
    for (int s = 0; s < BOUGH_SERIES_LIMIT; s++) {
        snprintf(names[s], sizeof names[s], "line %d", s);
        series[s] = (bough_series){names[s], 200, x, y, test_bits(&r) % 2 != 0};
    }
    check_ok(ctx, bough_plot_write(ctx, NULL, series, BOUGH_SERIES_LIMIT, test_path("many.svg")));
    check_ok(ctx, bough_plot_write(ctx, NULL, series, 5, test_path("few.svg")));
    char *svg = read_text(test_path("few.svg"));
    double xy[800];
    int count = polyline(svg, 0, xy, 400);
    check_int(count, 200);
    double right = xy[2 * count - 2]; /* the legend begins behind the end of the lines */
    const char *c = strstr(svg, ">line 3<");
    check(c != NULL);
    while (strncmp(c, "<text", 5) != 0)
        c--;
    check(strtod(strstr(c, "x=\"") + 3, NULL) > right + 20);
    free(svg);
    bough_context_destroy(ctx);
}

static void mistakes_are_explained(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    double x[] = {0, 1};
    bough_series series = {"a", 2, x, x, false}, none = {"a", 2, x, NULL, false};
    bough_plot_def def = bough_default_plot_def(), bad = {0};
    const char *path = test_path("never.svg");
#define check_bad(change, part)                                                                        \
    do {                                                                                               \
        bad = def;                                                                                     \
        change;                                                                                        \
        check_fails(ctx, bough_plot_write(ctx, &bad, &series, 1, path), BOUGH_ERROR_ARGUMENT, (part)); \
    } while (0)
    check_bad(bad.cookie = 0, "bough_default_plot_def");
    check_bad(bad.width = 199, "199 x 480");
    check_bad(bad.height = 4001, "4001");
    check_bad(bad.png_scale = 5, "png_scale");
    check_bad(bad.legend = (bough_legend)9, "legend");
    check_bad(bad.x_min = INFINITY, "x_min");
    check_bad((bad.log_y = true, bad.y_min = 0), "y_min");
    check_bad((bad.x_min = 1, bad.x_max = 1), "range");
    check_fails(ctx, bough_plot_write(ctx, &def, &none, 1, path), BOUGH_ERROR_ARGUMENT, "no points");
    check_fails(ctx, bough_plot_write(ctx, &def, &series, 65, path), BOUGH_ERROR_ARGUMENT, "at most 64");
    check_fails(ctx, bough_plot_write(ctx, &def, &series, 1, test_path("a.pdf")), BOUGH_ERROR_ARGUMENT, ".svg or .png");
    check_fails(ctx, bough_plot_write(ctx, &def, &series, 1, test_path("no/a.svg")), BOUGH_ERROR_FILE, "no/a.svg");
    check(access(path, F_OK) != 0);
    bough_context_destroy(ctx);
}

static void every_failed_allocation_is_survived(void **state) {
    (void)state;
    double x[100], y[100];
    for (int i = 0; i < 100; i++)
        x[i] = i, y[i] = i % 7 ? (double)i : (double)NAN;
    bough_series series[] = {{"a", 100, x, y, false}, {"b", 100, y, x, true}};
    static const char *const names[] = {"memory.svg", "memory.png"};
    for (int kind = 0; kind < 2; kind++) {
        bough_status status = BOUGH_ERROR_MEMORY;
        for (long fail_at = 0; status != BOUGH_OK; fail_at++) {
            test_memory memory = {.fail_at = -1};
            bough_context *ctx = test_counting_context(&memory);
            long before = memory.live;
            memory.fail_at = memory.calls + fail_at;
            status = bough_plot_write(ctx, NULL, series, 2, test_path(names[kind]));
            check(status == BOUGH_OK || status == BOUGH_ERROR_MEMORY);
            check_int(memory.live, before);
            check(fail_at < 200);
            check((access(test_path(names[kind]), F_OK) == 0) == (status == BOUGH_OK));
            bough_context_destroy(ctx);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_ticks_are_round_and_cover_the_range),
        cmocka_unit_test(log_ticks_are_powers_of_ten),
        cmocka_unit_test(single_values_have_room),
        cmocka_unit_test(numbers_are_written_with_points),
        cmocka_unit_test(lines_are_where_the_numbers_are),
        cmocka_unit_test(gaps_stay_gaps_and_lonely_points_are_dots),
        cmocka_unit_test(long_series_keep_their_peaks),
        cmocka_unit_test(fixed_ranges_cut_lines_at_the_frame),
        cmocka_unit_test(any_text_gives_good_xml),
        cmocka_unit_test(png_and_svg_agree),
        cmocka_unit_test(colours_can_be_told_apart),
        cmocka_unit_test(any_numbers_give_a_file),
        cmocka_unit_test(legends_go_where_no_line_is),
        cmocka_unit_test(many_lines_have_a_legend_beside_them),
        cmocka_unit_test(mistakes_are_explained),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
