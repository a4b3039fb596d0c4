/* Pictures show what geometry says they must, are the same for any number of threads, and survive bad input. */
#include "png_reader.h"

#include <bough/record.h>

enum { SIZE = 200 };

/* Looks down the -z axis from z = 10 at 100 pixels per unit in the plane z = 0, whose origin is in the middle. */
static bough_picture_def flat_def(void) {
    bough_picture_def def = bough_default_picture_def();
    def.width = def.height = SIZE;
    def.samples = 1;
    def.eye[0] = def.eye[1] = 0, def.eye[2] = 10;
    def.up[1] = 1, def.up[2] = 0;
    def.field_of_view = 2 * atan(0.1);
    def.ground = false;
    def.shadow = 0;
    for (int i = 0; i < 3; i++)
        def.background_top[i] = def.background_bottom[i] = 0;
    return def;
}

static bough_surface_style flat_style(int channel) {
    bough_surface_style style = bough_default_surface_style();
    style.gloss = 0;
    for (int i = 0; i < 3; i++)
        style.colour[i] = i == channel ? 1 : 0;
    return style;
}

/* Counts the pixels that have most of this channel. */
static int count_pixels(const bough_picture *picture, int channel, int count) {
    const uint8_t *p = bough_picture_pixels(picture);
    int sum = 0;
    for (int i = 0; i < count; i++, p += 4)
        sum += p[channel] > 40 && p[channel] > p[(channel + 1) % 3] + 30 && p[channel] > p[(channel + 2) % 3] + 30;
    return sum;
}

static const double square[12] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0};
static const int32_t lower_half[3] = {0, 1, 2}, upper_half[3] = {0, 2, 3};

static void two_triangles_cover_a_square_once(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int samples = 1; samples <= 4; samples++) {
        bough_picture_def def = flat_def();
        def.samples = samples;
        bough_surface_style red = flat_style(0), green = flat_style(1);
        bough_picture *p;
        check_ok(ctx, bough_picture_create(ctx, &def, &p));
        check_ok(ctx, bough_picture_add_surface(ctx, p, square, 4, lower_half, 1, &red));
        check_ok(ctx, bough_picture_add_surface(ctx, p, square, 4, upper_half, 1, &green));
        check_ok(ctx, bough_picture_render(ctx, p));
        int reds = count_pixels(p, 0, SIZE * SIZE), greens = count_pixels(p, 1, SIZE * SIZE);
        check(abs(reds - 5000) <= 101 && abs(greens - 5000) <= 101);
        if (samples == 1)
            check_int(reds + greens, 10000);
        /* right of and above the middle of the picture, and nowhere else */
        const uint8_t *pixels = bough_picture_pixels(p);
        for (int y = 0; y < SIZE; y++)
            for (int x = 0; x < SIZE; x++) {
                const uint8_t *pixel = pixels + 4 * (y * SIZE + x);
                check((pixel[0] + pixel[1] > 40) == (x >= 100 && y < 100));
                check_int(pixel[3], 255);
            }
        bough_picture_destroy(ctx, p);
    }
    bough_context_destroy(ctx);
}

static void nearer_wins_in_any_order(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int order = 0; order < 2; order++) {
        bough_picture_def def = flat_def();
        bough_picture *p;
        check_ok(ctx, bough_picture_create(ctx, &def, &p));
        double near[12], far[12];
        for (int i = 0; i < 4; i++) {
            for (int k = 0; k < 2; k++) /* as seen from z = 10, both look the same */
                near[3 * i + k] = square[3 * i + k] * 0.9, far[3 * i + k] = square[3 * i + k] * 1.1;
            near[3 * i + 2] = 1, far[3 * i + 2] = -1;
        }
        const int32_t both[6] = {0, 1, 2, 0, 2, 3};
        bough_surface_style red = flat_style(0), green = flat_style(1);
        for (int k = 0; k < 2; k++)
            check_ok(ctx, bough_picture_add_surface(ctx, p, k == order ? near : far, 4, both, 2,
                                                    k == order ? &red : &green));
        check_ok(ctx, bough_picture_render(ctx, p));
        check_int(count_pixels(p, 0, SIZE * SIZE), 10000);
        check_int(count_pixels(p, 1, SIZE * SIZE), 0);
        bough_picture_destroy(ctx, p);
    }
    bough_context_destroy(ctx);
}

/* A floor that reaches from behind the eye to far away fills the picture up to just below the horizon. */
static void geometry_behind_the_eye_is_clipped(void **state) {
    (void)state;
    bough_context *ctx = test_context(2);
    bough_picture_def def = flat_def();
    def.eye[2] = 0, def.target[2] = -1;
    def.field_of_view = M_PI / 2; /* focal length 100 pixels */
    const double floor[12] = {-1e6, -1, 1e6, 1e6, -1, 1e6, 1e6, -1, -100, -1e6, -1, -100};
    const int32_t both[6] = {0, 1, 2, 0, 2, 3};
    bough_surface_style red = flat_style(0);
    bough_picture *p;
    check_ok(ctx, bough_picture_create(ctx, &def, &p));
    check_ok(ctx, bough_picture_add_surface(ctx, p, floor, 4, both, 2, &red));
    const double behind[9] = {-1, -1, 5, 1, -1, 5, 0, 1, 5}, through_eye[9] = {0, 0, 0, 1, 1, 0, 1, -1, 0};
    const int32_t one[3] = {0, 1, 2};
    bough_surface_style green = flat_style(1);
    check_ok(ctx, bough_picture_add_surface(ctx, p, behind, 3, one, 1, &green));
    check_ok(ctx, bough_picture_add_surface(ctx, p, through_eye, 3, one, 1, &green));
    check_ok(ctx, bough_picture_render(ctx, p));
    check_int(count_pixels(p, 0, SIZE * SIZE), 99 * SIZE); /* the far edge is at 1/100 below the horizon: 1 pixel */
    check_int(count_pixels(p, 1, SIZE * SIZE), 0);
    bough_picture_destroy(ctx, p);
    bough_context_destroy(ctx);
}

/* A wavy sheet with colours, edges, lines, labels: a bit of everything. */
static void add_scene(bough_context *ctx, bough_picture *p, double phase) {
    enum { N = 24 };
    double vertices[3 * N * N], scalars[N * N];
    int32_t triangles[6 * (N - 1) * (N - 1)], count = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double x = 2.0 * i / (N - 1) - 1, y = 2.0 * j / (N - 1) - 1, *v = vertices + 3 * (N * i + j);
            v[0] = x, v[1] = y, v[2] = 0.4 + 0.3 * sin(4 * x + phase) * cos(3 * y);
            scalars[N * i + j] = v[2];
            if (i + 1 < N && j + 1 < N) {
                int32_t a = N * i + j, quad[6] = {a, a + N, a + N + 1, a, a + N + 1, a + 1};
                memcpy(triangles + 3 * count, quad, sizeof quad);
                count += 2;
            }
        }
    bough_surface_style style = bough_default_surface_style();
    style.scalars = scalars, style.scalar_max = 0.8;
    style.edges = true;
    check_ok(ctx, bough_picture_add_surface(ctx, p, vertices, N * N, triangles, count, &style));
    const double line[6] = {0, 0, 0.3, 0, 0, 1.2};
    bough_line_style arrow = bough_default_line_style();
    arrow.arrowhead = true;
    check_ok(ctx, bough_picture_add_lines(ctx, p, line, 1, &arrow));
    check_ok(ctx, bough_picture_add_polyline(ctx, p, vertices, N, NULL));
    const float ink[3] = {0, 0, 0};
    check_ok(ctx, bough_picture_add_label(ctx, p, -3, 4, 9, ink, "t = 0.1 s\nsheet \x80"));
    check_ok(ctx, bough_picture_add_colour_bar(ctx, p, 130, 30, 8, 80, BOUGH_COLOUR_DIVERGING, 0, 0.8, "z"));
}

static bough_picture *draw_scene(bough_context *ctx, double phase) {
    bough_picture_def def = bough_default_picture_def();
    def.width = 163, def.height = 121;
    const double lower[3] = {-1, -1, 0}, upper[3] = {1, 1, 0.7};
    bough_picture_frame(&def, lower, upper);
    bough_picture *p;
    check_ok(ctx, bough_picture_create(ctx, &def, &p));
    add_scene(ctx, p, phase);
    check_ok(ctx, bough_picture_render(ctx, p));
    return p;
}

static void same_pixels_for_any_number_of_threads(void **state) {
    (void)state;
    bough_context *one = test_context(1), *three = test_context(3);
    bough_picture *a = draw_scene(one, 0), *b = draw_scene(three, 0);
    check(memcmp(bough_picture_pixels(a), bough_picture_pixels(b), 163 * 121 * 4) == 0);
    check_ok(three, bough_picture_render(three, b)); /* again: the same */
    check(memcmp(bough_picture_pixels(a), bough_picture_pixels(b), 163 * 121 * 4) == 0);
    bough_picture_destroy(one, a);
    bough_picture_destroy(three, b);
    bough_context_destroy(one);
    bough_context_destroy(three);
}

/* Lines are as long and as wide as they are said to be, whichever way they go; a head is 44 pixels long here, and 0.84
 * as wide. */
static void lines_cover_their_length_times_their_width(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int i = 0; i < 24; i++) {
        const double angle = 2 * M_PI / 24 * i, x = 0.8 * cos(angle), y = 0.8 * sin(angle);
        const double line[6] = {-x, -y, 0, x, y, 0};
        bough_line_style red = bough_default_line_style();
        red.width = 10, red.arrowhead = i % 2;
        red.colour[0] = 1, red.colour[1] = red.colour[2] = 0;
        bough_picture_def def = flat_def();
        bough_picture *p;
        check_ok(ctx, bough_picture_create(ctx, &def, &p));
        check_ok(ctx, bough_picture_add_lines(ctx, p, line, 1, &red));
        check_ok(ctx, bough_picture_render(ctx, p));
        const double expected = i % 2 ? 10 * (160 - 44) + 0.5 * 44 * 0.84 * 44 : 10 * 160;
        check_near(count_pixels(p, 0, SIZE * SIZE), expected, 0.05 * expected);
        bough_picture_destroy(ctx, p);
    }
    bough_context_destroy(ctx);
}

/* The framed box touches neither border, but nearly. */
static void framing_fits_the_box(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    static const struct {
        double top, share; /* of the picture */
        int32_t width;
    } cases[] = {{1, 0.75, SIZE}, {-1.5, 1, 2 * SIZE}, {-2.5, 0.5 / 3, SIZE}};
    for (int i = 0; i < 3; i++) {
        bough_picture_def def = flat_def();
        def.width = cases[i].width;
        const double lower[3] = {5, -3, -0.001}, upper[3] = {8, cases[i].top, 0.001};
        bough_picture_frame(&def, lower, upper);
        const double corners[12] = {5, lower[1], 0, 8, lower[1], 0, 8, upper[1], 0, 5, upper[1], 0};
        const int32_t both[6] = {0, 1, 2, 0, 2, 3};
        bough_surface_style red = flat_style(0);
        bough_picture *p;
        check_ok(ctx, bough_picture_create(ctx, &def, &p));
        check_ok(ctx, bough_picture_add_surface(ctx, p, corners, 4, both, 2, &red));
        check_ok(ctx, bough_picture_render(ctx, p));
        double expected = def.width * SIZE / (1.12 * 1.12) * cases[i].share;
        check_near(count_pixels(p, 0, def.width * SIZE), expected, 0.03 * expected);
        bough_picture_destroy(ctx, p);
    }
    bough_context_destroy(ctx);
}

static void shadow_darkens_the_ground(void **state) {
    (void)state;
    bough_context *ctx = test_context(2);
    bough_picture_def def = bough_default_picture_def();
    def.width = def.height = SIZE;
    def.samples = 1;
    def.ground_height = 0;
    def.light[2] = 1;
    const double plate[12] = {-0.5, -0.5, 0.3, 0.5, -0.5, 0.3, 0.5, 0.5, 0.3, -0.5, 0.5, 0.3};
    const double lower[3] = {-2, -2, 0}, upper[3] = {2, 2, 0};
    const int32_t both[6] = {0, 1, 2, 0, 2, 3};
    def.eye[0] = 0, def.eye[1] = -3, def.eye[2] = 0.35; /* below the plate's edge one sees the ground under it */
    bough_picture_frame(&def, lower, upper);
    bough_picture *p;
    uint8_t with, without;
    check_ok(ctx, bough_picture_create(ctx, &def, &p));
    size_t middle = 4 * ((size_t)(SIZE / 2) * SIZE + SIZE / 2);
    check_ok(ctx, bough_picture_render(ctx, p));
    without = bough_picture_pixels(p)[middle];
    check_ok(ctx, bough_picture_add_surface(ctx, p, plate, 4, both, 2, NULL));
    check_ok(ctx, bough_picture_render(ctx, p));
    with = bough_picture_pixels(p)[middle];
    check(with < without - 20);
    bough_picture_destroy(ctx, p);
    bough_context_destroy(ctx);
}

/* Seen from above, the ground is lighter around what stands on it than far away. */
static void the_ground_is_lit_around_the_scene(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_picture_def def = bough_default_picture_def();
    def.width = def.height = SIZE;
    def.samples = 1;
    def.ground_height = 0, def.shadow = 0;
    for (int k = 0; k < 3; k++)
        def.background_top[k] = def.background_bottom[k] = 0.2f, def.target[k] = 0;
    def.eye[0] = 0, def.eye[1] = -1, def.eye[2] = 5;
    const double pebble[9] = {0, 0, 0, 0.01, 0, 0, 0, 0.01, 0.2};
    const int32_t corners[3] = {0, 1, 2};
    bough_picture *p;
    check_ok(ctx, bough_picture_create(ctx, &def, &p));
    check_ok(ctx, bough_picture_add_surface(ctx, p, pebble, 3, corners, 1, NULL));
    check_ok(ctx, bough_picture_render(ctx, p));
    const uint8_t *pixels = bough_picture_pixels(p);
    const uint8_t beside = pixels[4 * ((size_t)(SIZE / 2) * SIZE + SIZE / 2 - SIZE / 16)], far = pixels[4];
    print_message("%d, far away %d\n", beside, far);
    check(beside > far + 10);
    bough_picture_destroy(ctx, p);
    bough_context_destroy(ctx);
}

/* A plate above a floor, seen from the side and lit from above. */
static bough_picture *draw_plate(bough_context *ctx, double offset, bool shadow) {
    bough_picture_def def = flat_def();
    def.ground = false, def.shadow = 0.6;
    def.light[2] = 1;
    def.up[1] = 0, def.up[2] = 1;
    double floor[12], plate[12];
    const int32_t both[6] = {0, 1, 2, 0, 2, 3};
    for (int i = 0; i < 4; i++) {
        const double x = 2 * square[3 * i] - 1, y = 2 * square[3 * i + 1] - 1;
        floor[3 * i] = 1.5 * x, floor[3 * i + 1] = 1.5 * y, floor[3 * i + 2] = offset;
        plate[3 * i] = 0.5 * x, plate[3 * i + 1] = 0.5 * y, plate[3 * i + 2] = offset + 0.6;
    }
    def.eye[0] = 0, def.eye[1] = -10, def.eye[2] = offset + 4, def.target[2] = offset;
    def.field_of_view = 0.35;
    bough_surface_style grey = bough_default_surface_style();
    grey.casts_shadow = shadow;
    bough_picture *p;
    check_ok(ctx, bough_picture_create(ctx, &def, &p));
    check_ok(ctx, bough_picture_add_surface(ctx, p, floor, 4, both, 2, &grey));
    check_ok(ctx, bough_picture_add_surface(ctx, p, plate, 4, both, 2, &grey));
    check_ok(ctx, bough_picture_render(ctx, p));
    return p;
}

static void surfaces_shade_each_other_anywhere(void **state) {
    (void)state;
    bough_context *ctx = test_context(2);
    bough_picture *free_light = draw_plate(ctx, 0, false), *near = draw_plate(ctx, 0, true);
    bough_picture *far = draw_plate(ctx, 1e5, true);
    size_t middle = 4 * ((size_t)(SIZE / 2) * SIZE + SIZE / 2), differing = 0;
    int lit = bough_picture_pixels(free_light)[middle + 2], dark = bough_picture_pixels(near)[middle + 2];
    check(dark < lit - 30);
    for (size_t i = 0; i < 4 * SIZE * SIZE; i++)
        differing += abs(bough_picture_pixels(near)[i] - bough_picture_pixels(far)[i]) > 4;
    check_below((double)differing, 0.002 * 4 * SIZE * SIZE);
    bough_picture_destroy(ctx, free_light);
    bough_picture_destroy(ctx, near);
    bough_picture_destroy(ctx, far);
    bough_context_destroy(ctx);
}

static int warnings;
static void count_warning(void *user, const char *sentence) {
    (void)user;
    warnings += strstr(sentence, "not finite") != NULL;
}

static void bad_numbers_are_left_out(void **state) {
    (void)state;
    bough_context_def context_def = bough_default_context_def();
    context_def.thread_count = 1, context_def.warn = count_warning;
    bough_context *ctx = bough_context_create(&context_def);
    bough_picture_def def = flat_def();
    bough_picture *p;
    double vertices[12];
    memcpy(vertices, square, sizeof vertices);
    vertices[11] = NAN;
    const int32_t both[6] = {0, 1, 2, 0, 2, 3};
    bough_surface_style red = flat_style(0);
    check_ok(ctx, bough_picture_create(ctx, &def, &p));
    check_ok(ctx, bough_picture_add_surface(ctx, p, vertices, 4, both, 2, &red));
    check_int(warnings, 1);
    check_ok(ctx, bough_picture_render(ctx, p));
    check(abs(count_pixels(p, 0, SIZE * SIZE) - 5000) <= 50);
    /* huge, flat and degenerate triangles; colours, scalars and lines that are no numbers */
    const double odd[9] = {1e308, -1e308, 1e308, -1e308, 1e308, -1e308, 0, 0, INFINITY}, line[6] = {0, 0, 0, 1, NAN, 0};
    const int32_t collapsed[9] = {0, 1, 1, 0, 0, 0, 0, 1, 2};
    const double scalars[3] = {NAN, INFINITY, -INFINITY};
    bough_surface_style style = bough_default_surface_style();
    style.scalars = scalars, style.edges = true, style.edge_width = 0;
    check_ok(ctx, bough_picture_add_surface(ctx, p, odd, 3, collapsed, 3, &style));
    check_ok(ctx, bough_picture_add_surface(ctx, p, square, 3, lower_half, 1, &style));
    check_ok(ctx, bough_picture_add_lines(ctx, p, line, 1, NULL));
    check_ok(ctx, bough_picture_render(ctx, p));
    bough_picture_clear(ctx, p);
    check_ok(ctx, bough_picture_add_surface(ctx, p, NULL, 0, NULL, 0, NULL));
    check_ok(ctx, bough_picture_render(ctx, p));
    check_int(count_pixels(p, 0, SIZE * SIZE), 0);
    bough_picture_destroy(ctx, p);
    bough_context_destroy(ctx);
}

/* A progress callback that ends the call after so many looks. */
static bool stop_after(void *user, const bough_progress *progress) {
    (void)progress;
    return --*(int *)user > 0;
}

static void pictures_can_be_cancelled(void **state) {
    (void)state;
    int looks;
    for (int32_t threads = 1; threads <= 2; threads++) {
        bough_context_def settings = bough_default_context_def();
        settings.thread_count = threads, settings.progress = stop_after, settings.progress_user = &looks;
        bough_context *ctx = bough_context_create(&settings);
        bough_picture_def def = flat_def();
        bough_picture *p;
        const char *path = test_path("cancelled.png");
        def.background_top[0] = def.background_bottom[0] = 1;
        check_ok(ctx, bough_picture_create(ctx, &def, &p));
        looks = 1; /* in the first round of bands at the latest */
        check_fails(ctx, bough_picture_render(ctx, p), BOUGH_CANCELLED, "cancelled");
        check_int(bough_picture_pixels(p)[4 * SIZE * SIZE - 4], 0); /* black, as nobody came there */
        looks = 2;
        check_fails(ctx, bough_picture_write_png(ctx, p, path), BOUGH_CANCELLED, "cancelled");
        check(access(path, F_OK) != 0);
        looks = 100000;
        check_ok(ctx, bough_picture_render(ctx, p));
        check(bough_picture_pixels(p)[4 * SIZE * SIZE - 4] > 100);
        check(looks < (threads > 1 ? 100000 : 100000 - SIZE)); /* each row that the caller draws */
        bough_picture_destroy(ctx, p);
        bough_context_destroy(ctx);
    }
}

static void wrong_arguments_are_refused(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_picture *p;
    bough_animation *a;
    const int32_t sizes[][2] = {{0, 5}, {5, 0}, {-1, 5}, {16385, 1}, {1, 16385}};
    for (int i = 0; i < 5; i++) {
        bough_picture_def def = flat_def();
        def.width = sizes[i][0], def.height = sizes[i][1];
        check_fails(ctx, bough_picture_create(ctx, &def, &p), BOUGH_ERROR_ARGUMENT, "pixels");
        check(p == NULL);
        check_fails(ctx, bough_animation_create(ctx, test_path("x.png"), def.width, def.height, 25, &a),
                    BOUGH_ERROR_ARGUMENT, "pixels");
    }
    const int32_t allowed[][2] = {{1, 1}, {16384, 1}, {1, 16384}};
    for (int i = 0; i < 3; i++) {
        bough_picture_def def = bough_default_picture_def();
        def.width = allowed[i][0], def.height = allowed[i][1];
        check_ok(ctx, bough_picture_create(ctx, &def, &p));
        check_ok(ctx, bough_picture_add_surface(ctx, p, square, 4, lower_half, 1, NULL));
        check_ok(ctx, bough_picture_render(ctx, p));
        bough_picture_destroy(ctx, p);
    }
    bough_picture_def def = flat_def();
    def.eye[2] = 0;
    check_fails(ctx, bough_picture_create(ctx, &def, &p), BOUGH_ERROR_ARGUMENT, "differ");
    def = flat_def(), def.samples = 9;
    check_fails(ctx, bough_picture_create(ctx, &def, &p), BOUGH_ERROR_ARGUMENT, "samples");
    def = flat_def(), def.cookie = 0;
    check_fails(ctx, bough_picture_create(ctx, &def, &p), BOUGH_ERROR_ARGUMENT, "bough_default_picture_def");
    def = flat_def(), def.up[1] = 0, def.up[2] = 1; /* looking along up is fine */
    check_ok(ctx, bough_picture_create(ctx, &def, &p));
    const int32_t wrong[3] = {0, 1, 4};
    check_fails(ctx, bough_picture_add_surface(ctx, p, square, 4, wrong, 1, NULL), BOUGH_ERROR_ARGUMENT, "vertex 4");
    bough_surface_style style = {0};
    check_fails(ctx, bough_picture_add_surface(ctx, p, square, 4, lower_half, 1, &style), BOUGH_ERROR_ARGUMENT,
                "style");
    check_ok(ctx, bough_picture_render(ctx, p));
    check_fails(ctx, bough_picture_write_png(ctx, p, "/nonexistent/x.png"), BOUGH_ERROR_FILE, "x.png");
    check_fails(ctx, bough_animation_create(ctx, test_path("x.png"), 5, 5, NAN, &a), BOUGH_ERROR_ARGUMENT,
                "per second");
    check_fails(ctx, bough_animation_create(ctx, "/dev/null", 5, 5, 25, &a), BOUGH_ERROR_FILE, "rewound");
    bough_picture_destroy(ctx, p);
    bough_picture_destroy(ctx, NULL);
    bough_context_destroy(ctx);
}

static void png_gives_the_pixels_back(void **state) {
    (void)state;
    bough_context *ctx = test_context(2);
    bough_picture *p = draw_scene(ctx, 0.3);
    const char *path = test_path("scene.png");
    check_ok(ctx, bough_picture_write_png(ctx, p, path));
    png_file png = read_png(path);
    check(!png.animated && png.width == 163 && png.height == 121);
    uint8_t *canvas = calloc(163 * 121, 4);
    png_draw_frame(&png, 0, canvas);
    check(memcmp(canvas, bough_picture_pixels(p), 163 * 121 * 4) == 0);
    free(canvas);
    free_png(&png);
    bough_picture_destroy(ctx, p);
    bough_context_destroy(ctx);
}

static void animation_plays_every_frame(void **state) {
    (void)state;
    enum { FRAMES = 5, BYTES = 163 * 121 * 4 };
    bough_context *ctx = test_context(2);
    bough_animation *a;
    const char *path = test_path("waves.png");
    uint8_t *expected = malloc(FRAMES * BYTES), *canvas = calloc(BYTES, 1);
    check_ok(ctx, bough_animation_create(ctx, path, 163, 121, 25, &a));
    for (int i = 0; i < FRAMES; i++) {
        bough_picture *p = draw_scene(ctx, i < 3 ? 0.1 * i : 0.2); /* the last three are the same */
        check_ok(ctx, bough_animation_add(ctx, a, p));
        memcpy(expected + i * BYTES, bough_picture_pixels(p), BYTES);
        bough_picture_destroy(ctx, p);
    }
    check(access(path, F_OK) != 0);
    check_ok(ctx, bough_animation_finish(ctx, a));
    png_file png = read_png(path);
    check(png.animated);
    check_int(png.declared_frames, FRAMES);
    check_int(png.frame_count, FRAMES);
    for (uint32_t i = 0; i < FRAMES; i++) {
        const png_frame *f = &png.frames[i];
        check_near((double)f->delay_num / f->delay_den, 1 / 25.0, 1e-9);
        check(f->dispose == 0 && f->blend == 0);
        check(i == 0 || f->width * f->height < 163 * 121);
        check(i < 3 || f->width * f->height == 1);
        png_draw_frame(&png, i, canvas);
        check(memcmp(canvas, expected + i * BYTES, BYTES) == 0);
    }
    free_png(&png);
    free(expected);
    free(canvas);
    bough_context_destroy(ctx);
}

static void discarded_animation_leaves_nothing(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_animation *a;
    const char *path = test_path("nothing.png");
    check_ok(ctx, bough_animation_create(ctx, path, 163, 121, 25, &a));
    bough_picture *p = draw_scene(ctx, 0);
    check_ok(ctx, bough_animation_add(ctx, a, p));
    bough_animation_discard(ctx, a);
    check(access(path, F_OK) != 0);
    check_ok(ctx, bough_animation_create(ctx, path, 163, 120, 25, &a));
    check_fails(ctx, bough_animation_add(ctx, a, p), BOUGH_ERROR_ARGUMENT, "163 x 121");
    check_fails(ctx, bough_animation_finish(ctx, a), BOUGH_ERROR_ARGUMENT, "at least one");
    check(access(path, F_OK) != 0);
    bough_picture_destroy(ctx, p);
    bough_context_destroy(ctx);
}

static bough_status draw_and_write(bough_context *ctx, const char *path) {
    bough_picture_def def = flat_def();
    def.width = def.height = 16;
    def.ground = true, def.shadow = 0.5;
    const float ink[3] = {0, 0, 0};
    const double line[6] = {0, 0, 1, 1, 1, 1};
    bough_surface_style style = flat_style(0);
    style.edges = true, style.scalars = square;
    bough_picture *p;
    bough_animation *a = NULL;
    bough_status s = bough_picture_create(ctx, &def, &p);
    if (s != BOUGH_OK)
        return s;
    if ((s = bough_picture_add_surface(ctx, p, square, 4, lower_half, 1, &style)) == BOUGH_OK &&
        (s = bough_picture_add_lines(ctx, p, line, 1, NULL)) == BOUGH_OK &&
        (s = bough_picture_add_label(ctx, p, 1, 1, 5, ink, "a")) == BOUGH_OK &&
        (s = bough_picture_add_colour_bar(ctx, p, 1, 1, 2, 5, BOUGH_COLOUR_SEQUENTIAL, 0, 1, NULL)) == BOUGH_OK &&
        (s = bough_picture_render(ctx, p)) == BOUGH_OK && (s = bough_picture_write_png(ctx, p, path)) == BOUGH_OK &&
        (s = bough_animation_create(ctx, path, 16, 16, 25, &a)) == BOUGH_OK &&
        (s = bough_animation_add(ctx, a, p)) == BOUGH_OK) {
        s = bough_animation_finish(ctx, a);
        a = NULL;
    }
    bough_animation_discard(ctx, a);
    bough_picture_destroy(ctx, p);
    return s;
}

static void every_failed_allocation_is_survived(void **state) {
    (void)state;
    bough_status status = BOUGH_ERROR_MEMORY;
    for (long fail_at = 1; status != BOUGH_OK; fail_at++) {
        test_memory memory = {.fail_at = -1};
        bough_context *ctx = test_counting_context(&memory);
        long before = memory.live;
        memory.fail_at = memory.calls + fail_at - 1;
        status = draw_and_write(ctx, test_path("memory.png"));
        check(status == BOUGH_OK || status == BOUGH_ERROR_MEMORY);
        check_int(memory.live, before);
        check(fail_at < 1000);
        bough_context_destroy(ctx);
    }
}

static void colour_maps_rise_evenly_in_lightness(void **state) {
    (void)state;
    double last = -1;
    for (int i = 0; i <= 100; i++) {
        float c[3], d[3];
        bough_colour_map_at(BOUGH_COLOUR_SEQUENTIAL, i / 100.0, c);
        double light = 0.2126 * pow(c[0], 2.2) + 0.7152 * pow(c[1], 2.2) + 0.0722 * pow(c[2], 2.2);
        double step = cbrt(light) - last;
        check(i == 0 || (step > 0.002 && step < 0.015));
        last = cbrt(light);
        bough_colour_map_at(BOUGH_COLOUR_DIVERGING, i / 100.0, d);
        for (int k = 0; k < 3; k++)
            check(c[k] >= 0 && c[k] <= 1 && d[k] >= 0 && d[k] <= 1);
        check(i < 60 ? i > 40 || d[2] > d[0] : d[0] > d[2]);
    }
    float grey[3];
    bough_colour_map_at(BOUGH_COLOUR_SEQUENTIAL, NAN, grey);
    check(grey[0] == grey[1] && grey[1] == grey[2]);
}

static void labels_have_their_width(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_picture_def def = flat_def();
    bough_picture *p;
    const float red[3] = {1, 0, 0};
    const char *text = "Hg 0.5";
    check_ok(ctx, bough_picture_create(ctx, &def, &p));
    check_ok(ctx, bough_picture_add_label(ctx, p, 20, 30, 21, red, text));
    check_ok(ctx, bough_picture_render(ctx, p));
    int left = SIZE, right = 0, top = SIZE, bottom = 0;
    for (int y = 0; y < SIZE; y++)
        for (int x = 0; x < SIZE; x++)
            if (bough_picture_pixels(p)[4 * (y * SIZE + x)] > 100) {
                left = x < left ? x : left, right = x > right ? x : right;
                top = y < top ? y : top, bottom = y > bottom ? y : bottom;
            }
    double width = bough_label_width(21, text);
    check(left >= 19 && left <= 22 && right <= 20 + width && right >= 20 + width - 9);
    check(top >= 29 && top <= 32 && bottom >= 50 && bottom <= 58);
    check_near(bough_label_width(21, "ab\nabc\na"), bough_label_width(21, "abc"), 1e-12);
    bough_picture_destroy(ctx, p);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_triangles_cover_a_square_once),
        cmocka_unit_test(nearer_wins_in_any_order),
        cmocka_unit_test(geometry_behind_the_eye_is_clipped),
        cmocka_unit_test(same_pixels_for_any_number_of_threads),
        cmocka_unit_test(framing_fits_the_box),
        cmocka_unit_test(lines_cover_their_length_times_their_width),
        cmocka_unit_test(shadow_darkens_the_ground),
        cmocka_unit_test(the_ground_is_lit_around_the_scene),
        cmocka_unit_test(surfaces_shade_each_other_anywhere),
        cmocka_unit_test(bad_numbers_are_left_out),
        cmocka_unit_test(pictures_can_be_cancelled),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(png_gives_the_pixels_back),
        cmocka_unit_test(animation_plays_every_frame),
        cmocka_unit_test(discarded_animation_leaves_nothing),
        cmocka_unit_test(every_failed_allocation_is_survived),
        cmocka_unit_test(colour_maps_rise_evenly_in_lightness),
        cmocka_unit_test(labels_have_their_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
