/* Gaps of points and obstacles: derivatives, bounds, splines. */
#include "obstacles.h"

/* ---- derivatives ---- */

static double apart(double x, double cell) {
    return fabs(x - cell * round(x / cell));
}

/* The region of a point, in the obstacle's axes, within which its gap is smooth: a number below MOST_REGIONS. A negative
 * number says that another region is nearer than `margin`. Third derivatives of splines jump between cells. */
enum { MOST_REGIONS = 8 };
static int region_of(const bo_obstacle *o, bo_vec3 x, double margin) {
    const double hair = 1e-4, size[3] = {o->halves.x, o->halves.y, o->halves.z}, at[3] = {x.x, x.y, x.z};
    int region = 0;
    double next[3];
    switch (o->kind) {
    case BO_OBSTACLE_PLANE:
        return 0;
    case BO_OBSTACLE_SPHERE:
        return bo_norm(x) < margin ? -1 : bo_norm(x) > o->radius;
    case BO_OBSTACLE_CAPSULE:
        if (fabs(fabs(x.z) - o->half) < margin || hypot(x.x, x.y) < margin)
            return -1;
        return x.z > o->half ? 2 : x.z < -o->half ? 1 : 0;
    case BO_OBSTACLE_BOX:
        for (int k = 0; k < 3; k++) {
            next[k] = fabs(at[k]) - size[k];
            if (fabs(next[k]) < margin)
                return -1;
            region += next[k] > 0 ? 1 << k : 0;
        }
        for (int k = 0; k < 3 && region == 0; k++)
            if (fabs(next[k] - next[(k + 1) % 3]) < margin || fabs(at[k]) < margin)
                return -1;
        return region;
    case BO_OBSTACLE_HEIGHT:
        if (apart(x.x, o->height->cell[0]) < hair || apart(x.y, o->height->cell[1]) < hair)
            return -1;
        return (fabs(x.x) > 0.125 * (COLUMNS - 1)) + 2 * (fabs(x.y) > 0.15 * (ROWS - 1));
    case BO_OBSTACLE_GRID:
        for (int k = 0; k < 3; k++) {
            const double from = at[k] - (&o->grid->origin.x)[k];
            if (apart(from, o->grid->cell) < hair)
                return -1;
            region += from < 0 || from > (o->grid->counts[k] - 1) * o->grid->cell ? 1 << k : 0;
        }
        return region;
    }
    return -1;
}

static void derivatives_are_those_of_differences(void **unused) {
    (void)unused;
    samples t;
    make_samples(&t);
    test_random r = {1};
    static const int regions[KINDS] = {1, 2, 3, 8, 4, 8};
    enum { EACH = 1000 }; /* points of every region of every kind */
    const double h = 2e-5;
    for (int kind = 0; kind < KINDS; kind++) {
        const bo_obstacle *o = &t.all[kind];
        int done[MOST_REGIONS] = {0}, full = 0;
        double worst_n = 0, worst_H = 0;
        while (full < regions[kind]) {
            const bo_vec3 local = around(&r, o), x = bo_se3_apply(o->pose, local);
            const int region = region_of(o, local, 0.04);
            if (region < 0 || done[region] == EACH)
                continue;
            full += ++done[region] == EACH;
            bo_gap gap;
            bo_obstacle_gap(o, x, &gap);
            const double stiff = 1 + sqrt(bo_contract(gap.H, gap.H));
            for (int k = 0; k < 3; k++) {
                const bo_vec3 step = {k == 0 ? h : 0, k == 1 ? h : 0, k == 2 ? h : 0}, ahead = bo_add(x, step),
                              back = bo_sub(x, step);
                const double slope = (gap_at(o, ahead) - gap_at(o, back)) / (2 * h);
                const bo_vec3 bend = bo_scale(1 / (2 * h), bo_sub(normal_at(o, ahead), normal_at(o, back)));
                worst_n = fmax(worst_n, fabs(slope - (&gap.n.x)[k]));
                worst_H = fmax(worst_H, bo_norm(bo_sub(bend, bo_load3(gap.H.m + 3 * k))) / stiff);
                for (int i = 0; i < k; i++)
                    check(gap.H.m[3 * k + i] == gap.H.m[3 * i + k]);
            }
        }
        check_below(worst_n, 1e-6);
        check_below(worst_H, 1e-6);
    }
    free_samples(&t);
}

static void gaps_grow_by_no_more_than_a_metre_a_metre(void **unused) {
    (void)unused;
    samples t;
    make_samples(&t);
    test_random r = {2};
    for (int kind = 0; kind < KINDS; kind++) {
        const bo_obstacle *o = &t.all[kind];
        double most = 0;
        for (int i = 0; i < 5000; i++) {
            const double size = i % 3 ? 1.5 : 0.1; /* grids are steepest in the middle */
            const bo_vec3 x = bo_se3_apply(o->pose, bo_scale(size, around(&r, o))),
                          y = bo_add(x, random_vector(&r, i % 2 ? 1e-3 : 1));
            bo_gap gap;
            bo_obstacle_gap(o, x, &gap);
            check_below(bo_norm(gap.n), 1 + 1e-12);
            if (kind <= BO_OBSTACLE_BOX)
                check_near(bo_norm(gap.n), 1, 1e-12);
            most = fmax(most, (fabs(gap_at(o, x) - gap_at(o, y)) - 1e-14) / bo_norm(bo_sub(x, y)));
        }
        check_below(most, 1 + 1e-12);
        check(most > (kind == BO_OBSTACLE_HEIGHT ? 0.6 : kind == BO_OBSTACLE_GRID ? 0.8 : 0.99));
    }
    free_samples(&t);
}

/* ---- shapes ---- */

static void the_surface_is_as_far_as_the_gap_says(void **unused) {
    (void)unused;
    samples t;
    make_samples(&t);
    test_random r = {3};
    for (int kind = 0; kind <= BO_OBSTACLE_BOX; kind++)
        for (int i = 0; i < 1000; i++) {
            const bo_vec3 x = bo_se3_apply(t.all[kind].pose, around(&r, &t.all[kind]));
            bo_gap gap;
            bo_obstacle_gap(&t.all[kind], x, &gap);
            check_near(gap_at(&t.all[kind], bo_mul_add(x, -gap.d, gap.n)), 0, 1e-14);
        }
    bo_gap gap;
    bo_gap_capsule(0.3, 0.4, bo_v3(0, 0.5, 0.2), &gap);
    check_near(gap.d, 0.2, 1e-15);
    bo_gap_capsule(0.3, 0.4, bo_v3(0, 0, -1), &gap);
    check_near(gap.d, 0.3, 1e-15);
    bo_gap_box(bo_v3(1, 2, 3), bo_v3(4, -6, 3), &gap);
    check_near(gap.d, 5, 1e-15);
    bo_gap_box(bo_v3(1, 2, 3), bo_v3(0.5, -1.75, 1), &gap);
    check_near(gap.d, -0.25, 1e-15);
    check_near(gap.n.y, -1, 0);
    free_samples(&t);
}

static bool is_finite(const bo_gap *gap) {
    return isfinite(gap->d) && bo_all_finite(3, &gap->n.x) && bo_all_finite(9, gap->H.m);
}

static void middles_have_a_direction_and_nan_is_passed_on(void **unused) {
    (void)unused;
    samples t;
    make_samples(&t);
    for (int kind = 0; kind < KINDS; kind++) {
        bo_gap gap;
        bo_obstacle o = t.all[kind];
        o.pose = bo_se3_identity();
        for (int tiny = 0; tiny < 4; tiny++) {
            bo_obstacle_gap(&o, bo_v3(0, tiny ? pow(1e-100, tiny) : 0, 0), &gap);
            check(is_finite(&gap));
            if (kind <= BO_OBSTACLE_BOX)
                check_near(bo_norm(gap.n), 1, 1e-12);
        }
        bo_obstacle_gap(&o, bo_v3(0, 0, NAN), &gap);
        check(isnan(gap.d));
        bo_obstacle_gap(&o, bo_v3(NAN, NAN, 2), &gap);
        check(isnan(gap.d) || kind == BO_OBSTACLE_PLANE);
        bo_obstacle_gap(&o, bo_v3(1e6, 1e6, 1e6), &gap);
        check(is_finite(&gap) && gap.d > 1e5);
    }
    const bo_obstacle point = {.kind = BO_OBSTACLE_SPHERE, .pose = bo_se3_identity()},
                      nothing = {.kind = (bo_obstacle_kind)77, .pose = bo_se3_identity()};
    check_near(gap_at(&point, bo_v3(0, 0, 0)), 0, 0);
    check(isnan(gap_at(&nothing, bo_v3(0, 0, 0))));
    free_samples(&t);
}

/* ---- splines ---- */

static double height_of(const bo_height_spline *s, double x, double y) {
    bo_gap gap;
    bo_gap_height(s, bo_v3(x, y, 0), &gap);
    return -gap.d * sqrt(1 + s->steepest * s->steepest);
}

static void height_splines_go_through_their_nodes(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {4};
    static const int32_t sizes[][2] = {{2, 2}, {2, 5}, {3, 3}, {7, 2}, {40, 33}};
    const double cell[2] = {0.25, 0.4};
    double heights[40 * 33];
    for (int n = 0; n < 5; n++) {
        const int32_t columns = sizes[n][0], rows = sizes[n][1];
        for (int plane = 0; plane < 2; plane++) {
            bo_height_spline s;
            for (int32_t i = 0; i < columns * rows; i++)
                heights[i] = plane ? 0.5 + 0.3 * cell[0] * (i % columns) - 0.4 * cell[1] * (i / columns) : spread(&r);
            check_ok(ctx, bo_height_spline_make(ctx, columns, rows, cell, heights, &s));
            for (int32_t i = 0; i < columns * rows; i++)
                check_near(height_of(&s, cell[0] * (i % columns - 0.5 * (columns - 1)),
                                     cell[1] * (i / columns - 0.5 * (rows - 1))),
                           heights[i], 1e-12);
            if (plane) { /* it is one between the nodes, too */
                check_near(s.steepest, 0.5, 1e-11);
                for (int i = 0; i < 50; i++) {
                    const double u = test_uniform(&r, 0, cell[0] * (columns - 1)),
                                 v = test_uniform(&r, 0, cell[1] * (rows - 1));
                    check_near(height_of(&s, u - 0.5 * cell[0] * (columns - 1), v - 0.5 * cell[1] * (rows - 1)),
                               0.5 + 0.3 * u - 0.4 * v, 1e-12);
                }
            }
            bo_height_spline_free(ctx, &s);
        }
    }
    bough_context_destroy(ctx);
}

static void grids_go_through_their_nodes(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {5};
    static const int32_t sizes[][3] = {{2, 2, 2}, {3, 2, 4}, {9, 11, 10}};
    const bo_vec3 origin = {-0.3, 0.2, 1};
    double distances[9 * 11 * 10];
    for (int n = 0; n < 3; n++) {
        const int32_t count = sizes[n][0] * sizes[n][1] * sizes[n][2];
        bo_distance_grid g;
        bo_gap gap;
        for (int32_t i = 0; i < count; i++)
            distances[i] = spread(&r);
        check_ok(ctx, bo_distance_grid_make(ctx, sizes[n], 0.1, origin, distances, &g));
        for (int32_t i = 0; i < count; i++) {
            bo_gap_grid(&g, node_of(sizes[n], 0.1, origin, i), &gap);
            check_near(gap.d * g.steepest, distances[i], 1e-12);
        }
        bo_distance_grid_free(ctx, &g);
        for (int32_t i = 0; i < count; i++) /* a plane stays one, as it is */
            distances[i] = bo_dot(bo_v3(0.6, 0, -0.8), node_of(sizes[n], 0.1, origin, i));
        check_ok(ctx, bo_distance_grid_make(ctx, sizes[n], 0.1, origin, distances, &g));
        check_near(g.steepest, 1, 1e-11);
        const bo_vec3 within = bo_add(origin, bo_v3(0.03, 0.07, 0.09));
        bo_gap_grid(&g, within, &gap);
        check_near(gap.d, bo_dot(bo_v3(0.6, 0, -0.8), within), 1e-11);
        bo_distance_grid_free(ctx, &g);
    }
    bough_context_destroy(ctx);
}

/* Third derivatives are bounded, so that over 2e-9 m second ones change by little more than rounding. */
static void second_derivatives_do_not_jump_between_cells(void **unused) {
    (void)unused;
    samples t;
    make_samples(&t);
    test_random r = {6};
    bo_gap a, b;
    double worst = 0;
    for (int i = 0; i < 2000; i++) {
        const double hair = 1e-9;
        const bo_vec3 x = random_vector(&r, 1.8);
        const double edge = t.height.cell[0] * floor(x.x / t.height.cell[0]); /* also beyond the rim */
        bo_gap_height(&t.height, bo_v3(edge - hair, x.y, x.z), &a);
        bo_gap_height(&t.height, bo_v3(edge + hair, x.y, x.z), &b);
        worst = fmax(worst, sqrt(bo_contract(bo_mat_sub(a.H, b.H), bo_mat_sub(a.H, b.H))));
        const int32_t layer = 1 + i % (t.grid.counts[2] - 2);
        const double at = t.grid.origin.z + layer * t.grid.cell;
        bo_gap_grid(&t.grid, bo_v3(0.4 * x.x, 0.4 * x.y, at - hair), &a);
        bo_gap_grid(&t.grid, bo_v3(0.4 * x.x, 0.4 * x.y, at + hair), &b);
        worst = fmax(worst, sqrt(bo_contract(bo_mat_sub(a.H, b.H), bo_mat_sub(a.H, b.H))));
    }
    check_below(worst, 2e-6);
    free_samples(&t);
}

static void bounds_of_splines_hold(void **unused) {
    (void)unused;
    samples t;
    make_samples(&t);
    test_random r = {7};
    bo_gap gap;
    double bend = 0;
    for (int i = 0; i < 20000; i++) {
        const bo_vec3 x = random_vector(&r, 2), v = bo_normalize(random_vector(&r, 1));
        const double h = height_of(&t.height, x.x, x.y);
        check(h >= t.height.lowest - 1e-14 && h <= t.height.highest + 1e-14);
        bo_gap_height(&t.height, x, &gap);
        check_below(fabs(bo_dot(v, bo_mat_vec(gap.H, v))), t.height.bend);
        bo_gap_grid(&t.grid, bo_v3(0.45 * x.x, 0.45 * x.y, 0.35 * x.z), &gap);
        bend = fmax(bend, fabs(bo_dot(v, bo_mat_vec(gap.H, v))));
    }
    check_below(bend, t.grid.bend);
    check(bend > 0.1 * t.grid.bend);
    free_samples(&t);
}

static void ground_goes_on_level_two_cells_beyond_the_rim(void **unused) {
    (void)unused;
    samples t;
    make_samples(&t);
    bo_gap near, far;
    const double rim = 0.5 * t.height.cell[0] * (COLUMNS - 1);
    bo_gap_height(&t.height, bo_v3(rim + 2.001 * t.height.cell[0], 0.1, 0), &near);
    bo_gap_height(&t.height, bo_v3(1e9, 0.1, 0), &far);
    check_near(near.d, far.d, 1e-9);
    check_near(near.n.x, 0, 1e-12);
    check_near(far.n.x, 0, 1e-15);
    free_samples(&t);
}

static void grids_go_on_beyond_their_box(void **unused) {
    (void)unused;
    samples t;
    make_samples(&t);
    test_random r = {8};
    const bo_distance_grid *g = &t.grid;
    check_near(g->border, 0, 0);
    bo_gap in, out;
    for (int i = 0; i < 2000; i++) {
        const bo_vec3 x = random_vector(&r, 4);
        bo_gap_grid(g, x, &out);
        const bo_vec3 mid =
            bo_mul_add(g->origin, 0.5 * g->cell, bo_v3(g->counts[0] - 1, g->counts[1] - 1, g->counts[2] - 1));
        bo_gap way; /* from the box to the point */
        bo_gap_box(bo_sub(mid, g->origin), bo_sub(x, mid), &way);
        check(out.d > way.d);
        const double face = g->origin.x + (g->counts[0] - 1) * g->cell;
        const bo_vec3 on = {face - 1e-12, 0.2 * x.y, 0.2 * x.z};
        bo_gap_grid(g, on, &in);
        bo_gap_grid(g, bo_v3(face + 1e-12, on.y, on.z), &out);
        check(in.d > 0);
        check_near(in.d, out.d, 1e-11);
    }
    free_samples(&t);
}

/* The distance from a plane through the box: all of its border is near the obstacle or in it. */
static void obstacles_may_reach_the_border_of_a_grid(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const int32_t counts[3] = {5, 5, 5};
    const bo_vec3 origin = {-1, -1, -1};
    double distances[125], most = 0;
    for (int32_t i = 0; i < 125; i++)
        distances[i] = node_of(counts, 0.5, origin, i).z;
    bo_distance_grid grid;
    check_ok(ctx, bo_distance_grid_make(ctx, counts, 0.5, origin, distances, &grid));
    check_near(grid.border, -1.5, 1e-11); /* the coefficients beyond the lowest nodes */
    const bo_obstacle o = {.kind = BO_OBSTACLE_GRID, .pose = bo_se3_identity(), .grid = &grid};
    test_random r = {9};
    for (int i = 0; i < 5000; i++) {
        const bo_vec3 x = random_vector(&r, 3), y = bo_add(x, random_vector(&r, i % 2 ? 1e-3 : 1));
        most = fmax(most, (fabs(gap_at(&o, x) - gap_at(&o, y)) - 1e-14) / bo_norm(bo_sub(x, y)));
    }
    check_below(most, 1 + 1e-12);
    check(gap_at(&o, bo_v3(0, 0, 1e3)) > 990 && gap_at(&o, bo_v3(0, 0, -1e3)) > 990); /* the obstacle ends somewhere */
    check(gap_at(&o, bo_v3(1.1, 0, -0.5)) < 0);
    bo_distance_grid_free(ctx, &grid);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_are_those_of_differences),
        cmocka_unit_test(gaps_grow_by_no_more_than_a_metre_a_metre),
        cmocka_unit_test(the_surface_is_as_far_as_the_gap_says),
        cmocka_unit_test(middles_have_a_direction_and_nan_is_passed_on),
        cmocka_unit_test(height_splines_go_through_their_nodes),
        cmocka_unit_test(grids_go_through_their_nodes),
        cmocka_unit_test(second_derivatives_do_not_jump_between_cells),
        cmocka_unit_test(bounds_of_splines_hold),
        cmocka_unit_test(ground_goes_on_level_two_cells_beyond_the_rim),
        cmocka_unit_test(grids_go_on_beyond_their_box),
        cmocka_unit_test(obstacles_may_reach_the_border_of_a_grid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
