/* Signed distances of grid nodes from surfaces of triangles, and what splines and surfaces refuse. */
#include "obstacles.h"

enum { MOST_VERTICES = 6200, MOST_TRIANGLES = 2100 };
typedef struct {
    int32_t vertex_count, triangle_count;
    double vertices[3 * MOST_VERTICES];
    int32_t triangles[3 * MOST_TRIANGLES];
} surface;

static void add_triangle(surface *s, bo_vec3 a, bo_vec3 b, bo_vec3 c) {
    const bo_vec3 corners[3] = {a, b, c};
    for (int k = 0; k < 3; k++) {
        s->triangles[3 * s->triangle_count + k] = s->vertex_count;
        bo_store3(s->vertices + 3 * s->vertex_count++, corners[k]);
    }
    s->triangle_count++;
}
/* Corners of different triangles are not joined. */
static void add_spherical(surface *s, int depth, bo_vec3 a, bo_vec3 b, bo_vec3 c) {
    if (depth == 0) {
        add_triangle(s, a, b, c);
        return;
    }
    const bo_vec3 ab = bo_normalize(bo_add(a, b)), bc = bo_normalize(bo_add(b, c)), ca = bo_normalize(bo_add(c, a));
    add_spherical(s, depth - 1, a, ab, ca);
    add_spherical(s, depth - 1, ab, b, bc);
    add_spherical(s, depth - 1, ca, bc, c);
    add_spherical(s, depth - 1, ab, bc, ca);
}
/* A sphere of radius 1: an octahedron whose faces are cut into 4^depth. */
static surface *sphere_surface(int depth) {
    surface *s = calloc(1, sizeof *s);
    check(s != NULL);
    for (int k = 0; k < 8; k++) {
        const bo_vec3 x = {k & 1 ? 1 : -1, 0, 0}, y = {0, k & 2 ? 1 : -1, 0}, z = {0, 0, k & 4 ? 1 : -1};
        const bool mirrored = x.x * y.y * z.z < 0;
        add_spherical(s, depth, x, mirrored ? z : y, mirrored ? y : z);
    }
    return s;
}
/* A prism over the letter L: the boxes [0, 2] x [0, 1] x [0, 1] and [0, 1] x [0, 2] x [0, 1]. */
static surface *letter_surface(void) {
    static const double outline[6][2] = {{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}};
    static const int caps[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 5}};
    surface *s = calloc(1, sizeof *s);
    check(s != NULL);
    bo_vec3 low[6], high[6];
    for (int k = 0; k < 6; k++)
        low[k] = bo_v3(outline[k][0], outline[k][1], 0), high[k] = bo_v3(outline[k][0], outline[k][1], 1);
    for (int k = 0; k < 4; k++) {
        add_triangle(s, high[caps[k][0]], high[caps[k][1]], high[caps[k][2]]);
        add_triangle(s, low[caps[k][0]], low[caps[k][2]], low[caps[k][1]]);
    }
    for (int k = 0, next = 1; k < 6; k++, next = (k + 1) % 6) {
        add_triangle(s, low[k], low[next], high[next]);
        add_triangle(s, low[k], high[next], high[k]);
    }
    return s;
}
static void measure(bough_context *ctx, const surface *s, const int32_t counts[3], double cell, bo_vec3 origin,
                    double *distances) {
    check_ok(ctx, bo_distances_of_surface(ctx, s->vertex_count, s->vertices, s->triangle_count, s->triangles, counts,
                                          cell, origin, distances));
}

enum { SIDE = 24 };

/* Faces are inside the sphere by up to 0.4 % of its radius. Inside a convex polyhedron the nearest
 * point of its surface is on the nearest plane of a face. */
static void a_sphere_of_triangles_is_nearly_one(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    surface *s = sphere_surface(4);
    const int32_t counts[3] = {SIDE, SIDE, SIDE};
    const double cell = 3.0 / (SIDE - 1), sagitta = 0.004;
    const bo_vec3 origin = {-1.5, -1.5, -1.5};
    double *distances = calloc(SIDE * SIDE * SIDE, sizeof(double));
    check_int(s->triangle_count, 2048);
    measure(ctx, s, counts, cell, origin, distances);
    int inside = 0;
    for (int32_t i = 0; i < SIDE * SIDE * SIDE; i++) {
        const bo_vec3 x = node_of(counts, cell, origin, i);
        check_near(distances[i], bo_norm(x) - 1 + 0.5 * sagitta, 0.5 * sagitta + 1e-9);
        if (distances[i] > 0)
            continue;
        double nearest = INFINITY;
        for (int32_t k = 0; k < s->triangle_count; k++) {
            const bo_vec3 a = bo_load3(s->vertices + 9 * k), b = bo_load3(s->vertices + 9 * k + 3),
                          c = bo_load3(s->vertices + 9 * k + 6), n = bo_normalize(bo_cross(bo_sub(b, a), bo_sub(c, a)));
            nearest = fmin(nearest, bo_dot(n, bo_sub(a, x)));
        }
        check_near(distances[i], -nearest, 1e-14);
        inside++;
    }
    check(inside > 1500);
    bo_distance_grid grid;
    check_ok(ctx, bo_distance_grid_make(ctx, counts, cell, origin, distances, &grid));
    check(grid.steepest < 1.3);
    test_random r = {10};
    double worst = 0;
    for (int i = 0; i < 2000; i++) {
        const bo_vec3 n = bo_normalize(random_vector(&r, 1));
        const double d = 0.3 * spread(&r);
        bo_gap gap;
        bo_gap_grid(&grid, bo_scale(1 + d, n), &gap);
        worst = fmax(worst, fabs(gap.d * grid.steepest - d));
        check(gap.d < d + sagitta || d < 0);
        check(bo_dot(gap.n, n) > 0.99 * bo_norm(gap.n));
    }
    check_below(worst, 0.005);
    bo_distance_grid_free(ctx, &grid);
    free(distances), free(s);
    bough_context_destroy(ctx);
}

/* Outside, a union of boxes is as far as the nearer of them. */
static void an_angle_is_outside_between_its_legs(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1), *many = test_context(3);
    surface *s = letter_surface();
    const int32_t counts[3] = {SIDE, SIDE - 1, SIDE / 2};
    const int32_t count = counts[0] * counts[1] * counts[2];
    const double cell = 0.131;
    const bo_vec3 origin = {-0.501, -0.49, -0.27};
    double *distances = calloc((size_t)count, sizeof(double)), *again = calloc((size_t)count, sizeof(double));
    measure(ctx, s, counts, cell, origin, distances);
    int inside = 0;
    for (int32_t i = 0; i < count; i++) {
        const bo_vec3 x = node_of(counts, cell, origin, i);
        bo_gap a, b;
        bo_gap_box(bo_v3(1, 0.5, 0.5), bo_sub(x, bo_v3(1, 0.5, 0.5)), &a);
        bo_gap_box(bo_v3(0.5, 1, 0.5), bo_sub(x, bo_v3(0.5, 1, 0.5)), &b);
        const double d = fmin(a.d, b.d);
        if (d > 0)
            check_near(distances[i], d, 1e-14);
        else
            check(distances[i] <= d + 1e-14);
        inside += d <= 0;
    }
    check(inside > 900);
    measure(many, s, counts, cell, origin, again);
    check(memcmp(distances, again, (size_t)count * sizeof(double)) == 0);
    for (int32_t k = 0; k < s->triangle_count; k++) { /* inside out */
        const int32_t swap = s->triangles[3 * k];
        s->triangles[3 * k] = s->triangles[3 * k + 1], s->triangles[3 * k + 1] = swap;
    }
    measure(many, s, counts, cell, origin, again);
    for (int32_t i = 0; i < count; i++)
        check_near(again[i], distances[i], 1e-14);
    free(distances), free(again), free(s);
    bough_context_destroy(ctx);
    bough_context_destroy(many);
}

/* One triangle of 128 is missing, and some have no area. */
static void small_holes_do_no_harm(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    surface *s = sphere_surface(2);
    const int32_t counts[3] = {SIDE, SIDE, SIDE};
    const double cell = 3.0 / (SIDE - 1);
    const bo_vec3 origin = {-1.5, -1.5, -1.5}, hole = bo_load3(s->vertices + 3 * (s->vertex_count - 1));
    double *distances = calloc(SIDE * SIDE * SIDE, sizeof(double));
    s->triangle_count--;
    add_triangle(s, bo_v3(0, 0, 1), bo_v3(0, 0, 1), bo_v3(0, 0, 1));
    add_triangle(s, bo_v3(1, 0, 0), bo_v3(1, 0, 0), bo_v3(0.9, 0, 0.3));
    measure(ctx, s, counts, cell, origin, distances);
    int close = 0;
    for (int32_t i = 0; i < SIDE * SIDE * SIDE; i++) {
        const bo_vec3 x = node_of(counts, cell, origin, i);
        if (bo_norm(bo_sub(x, hole)) < 0.6) {
            close++;
            continue;
        }
        check(bo_norm(x) < 1 || distances[i] > 0);
        check(bo_norm(x) > 0.95 || distances[i] < 0);
    }
    check(close < 500);
    free(distances), free(s);
    bough_context_destroy(ctx);
}

static void what_cannot_be_is_refused(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    surface *s = letter_surface();
    const double cell[2] = {1, 1}, flat[2] = {1, 0}, heights[4] = {0, 1, NAN, 3};
    double distances[8] = {0, 1, 2, 3, INFINITY};
    const int32_t two[3] = {2, 2, 2}, one[3] = {2, 1, 2}, huge[3] = {1 << 30, 1 << 30, 1 << 30};
    const bo_vec3 zero = {0, 0, 0}, nowhere = {0, NAN, 0};
    bo_height_spline spline;
    bo_distance_grid grid;
    check_fails(ctx, bo_height_spline_make(ctx, 1, 4, cell, heights, &spline), BOUGH_ERROR_ARGUMENT, "not 1 x 4");
    check_fails(ctx, bo_height_spline_make(ctx, 1 << 20, 1 << 20, cell, heights, &spline), BOUGH_ERROR_ARGUMENT,
                "2^31");
    check_fails(ctx, bo_height_spline_make(ctx, 2, 2, flat, heights, &spline), BOUGH_ERROR_ARGUMENT, "size");
    check_fails(ctx, bo_height_spline_make(ctx, 2, 2, cell, heights, &spline), BOUGH_ERROR_ARGUMENT, "finite");
    bo_height_spline_free(ctx, &spline);
    check_fails(ctx, bo_distance_grid_make(ctx, one, 1, zero, distances, &grid), BOUGH_ERROR_ARGUMENT, "2 x 1 x 2");
    check_fails(ctx, bo_distance_grid_make(ctx, huge, 1, zero, distances, &grid), BOUGH_ERROR_ARGUMENT, "2^31");
    check_fails(ctx, bo_distance_grid_make(ctx, two, -1, zero, distances, &grid), BOUGH_ERROR_ARGUMENT, "size");
    check_fails(ctx, bo_distance_grid_make(ctx, two, 1, nowhere, distances, &grid), BOUGH_ERROR_ARGUMENT, "origin");
    check_fails(ctx, bo_distance_grid_make(ctx, two, 1, zero, distances, &grid), BOUGH_ERROR_ARGUMENT, "finite");
    bo_distance_grid_free(ctx, &grid);
    const int32_t n = s->vertex_count, m = s->triangle_count;
    check_fails(ctx, bo_distances_of_surface(ctx, n, s->vertices, 0, s->triangles, two, 1, zero, distances),
                BOUGH_ERROR_ARGUMENT, "0 triangles");
    check_fails(ctx, bo_distances_of_surface(ctx, n - 1, s->vertices, m, s->triangles, two, 1, zero, distances),
                BOUGH_ERROR_ARGUMENT, "has vertex");
    check_fails(ctx, bo_distances_of_surface(ctx, n, s->vertices, m, s->triangles, one, 1, zero, distances),
                BOUGH_ERROR_ARGUMENT, "2 x 1 x 2");
    s->triangles[4] = -1;
    check_fails(ctx, bo_distances_of_surface(ctx, n, s->vertices, m, s->triangles, two, 1, zero, distances),
                BOUGH_ERROR_ARGUMENT, "triangle 1 of the surface has vertex -1");
    s->vertices[5] = INFINITY;
    check_fails(ctx, bo_distances_of_surface(ctx, n, s->vertices, m, s->triangles, two, 1, zero, distances),
                BOUGH_ERROR_ARGUMENT, "finite");
    free(s);
    bough_context_destroy(ctx);
}

static void memory_that_runs_out_is_given_back(void **unused) {
    (void)unused;
    surface *s = letter_surface();
    const double cell[2] = {1, 1}, heights[4] = {0, 1, 2, 3};
    const int32_t counts[3] = {2, 2, 2};
    int failed = 0;
    for (long fail_at = 0; fail_at < 12; fail_at++) {
        test_memory memory = {.fail_at = -1};
        bough_context *ctx = test_counting_context(&memory);
        const long before = memory.live;
        bo_height_spline spline = {0};
        bo_distance_grid grid = {0};
        double distances[8];
        memory.fail_at = memory.calls + fail_at;
        bough_status status = bo_height_spline_make(ctx, 2, 2, cell, heights, &spline);
        if (status == BOUGH_OK)
            status = bo_distances_of_surface(ctx, s->vertex_count, s->vertices, s->triangle_count, s->triangles, counts,
                                             1, bo_v3(0, 0, 0), distances);
        if (status == BOUGH_OK)
            status = bo_distance_grid_make(ctx, counts, 1, bo_v3(0, 0, 0), distances, &grid);
        bo_height_spline_free(ctx, &spline);
        bo_distance_grid_free(ctx, &grid);
        check_int(memory.live, before);
        check(status == BOUGH_OK || status == BOUGH_ERROR_MEMORY);
        check(failed == fail_at || status == BOUGH_OK);
        failed += status != BOUGH_OK;
        bough_context_destroy(ctx);
        check_int(memory.live, 0);
    }
    check_int(failed, 6);
    free(s);
}

typedef struct {
    int calls, patience;
    double last;
} onlooker;

static bool look_on(void *user, const bough_progress *progress) {
    onlooker *o = user;
    check(progress->fraction >= o->last && progress->fraction <= 1);
    o->last = progress->fraction;
    return ++o->calls <= o->patience;
}

/* Whoever waits for the distances sees how far they are, and may end it. */
static void distances_show_progress_and_can_be_cancelled(void **state) {
    (void)state;
    enum { COUNT = 20 };
    surface *s = sphere_surface(2);
    const int32_t counts[3] = {COUNT, COUNT, COUNT};
    double *distances = calloc(COUNT * COUNT * COUNT, sizeof *distances);
    for (int ends = 0; ends < 2; ends++) {
        bough_context_def def = bough_default_context_def();
        onlooker o = {.patience = ends ? 5 : 1000};
        def.progress = look_on, def.progress_user = &o, def.thread_count = 1;
        bough_context *ctx = bough_context_create(&def);
        const bough_status status =
            bo_distances_of_surface(ctx, s->vertex_count, s->vertices, s->triangle_count, s->triangles, counts, 0.15,
                                    bo_v3(-1.4, -1.4, -1.4), distances);
        check_int(status, ends ? BOUGH_CANCELLED : BOUGH_OK);
        check(ends ? o.calls == 6 : o.calls >= 10);
        bough_context_destroy(ctx);
    }
    free(distances), free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sphere_of_triangles_is_nearly_one),
        cmocka_unit_test(an_angle_is_outside_between_its_legs),
        cmocka_unit_test(small_holes_do_no_harm),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(memory_that_runs_out_is_given_back),
        cmocka_unit_test(distances_show_progress_and_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
