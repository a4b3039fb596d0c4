/* Full bodies that touch obstacles: barriers are not crossed, friction is Coulomb's, forces are those of a potential. */
#include "block.h"

#include "linalg/sparse.h"

/* ---- derivatives ---- */

static bo_se3 sliding(const void *data, double t) {
    (void)data;
    bo_se3 pose = bo_se3_identity();
    pose.t = bo_v3(0.3 * t, 0, 0.05 * t);
    return pose;
}

/* A block just above a moving plane and beside a sphere, with friction. */
static void make_pressed(block *b, double spacing, bough_element_type type) {
    block_def def = default_block();
    def.lift = 5e-4, def.friction = 0.6, def.type = type;
    *b = make_block(&def);
    b->def.spacing = spacing;
    b->obstacles[0] = ground(0.6);
    b->obstacles[0].pose = sliding;
    b->obstacles[1] = (bo_touch_obstacle){
        .shape = {.kind = BO_OBSTACLE_SPHERE, .pose = bo_se3_identity(), .radius = 0.05}, .friction = 0.3};
    b->obstacles[1].shape.pose.t = bo_v3(0.1524, 0.102, 0.0509);
    b->def.obstacle_count = 2;
    start_block(b, "backward-euler");
    check_ok(b->ctx, bo_touch_begin(b->touch, 0, 0.01, b->motion.q, b->motion.v));
}

static void compare_with_differences(double spacing, bough_element_type type) {
    block b;
    make_pressed(&b, spacing, type);
    test_random random = {3};
    const size_t n = (size_t)b.system.size;
    double *q = calloc(n, sizeof *q), *f = calloc(n, sizeof *f), *way = calloc(n, sizeof *way), *g[2], worst = 0;
    bough_sparse *K;
    for (int k = 0; k < 2; k++)
        g[k] = calloc(n, sizeof *g[k]);
    check_ok(b.ctx, bough_body_matrix_create(b.ctx, b.body, &K));
    for (int trial = 0; trial < 20; trial++) {
        const double t = 0.01, h = 1e-8;
        double U[2] = {0, 0}, along = 0, bent = 0, bends = 0, most = 0;
        for (size_t i = 0; i < n; i++) {
            q[i] = test_uniform(&random, -2e-5, 2e-5) + (i % 3 == 2 ? 4e-4 : 2e-3);
            way[i] = test_uniform(&random, -1, 1), f[i] = 0;
        }
        check_ok(b.ctx, bo_touch_force(b.touch, t, q, &along, f));
        memset(K->values, 0, (size_t)K->column_start[n] * sizeof *K->values);
        bo_touch_tangent(b.touch, t, q, false, K);
        along = 0;
        for (size_t i = 0; i < n; i++)
            along -= f[i] * way[i];
        for (int k = 0; k < 2; k++) {
            for (size_t i = 0; i < n; i++)
                g[k][i] = 0, q[i] += (k ? 2 : -1) * h * way[i];
            check_ok(b.ctx, bo_touch_force(b.touch, t, q, &U[k], g[k]));
        }
        check_near((U[1] - U[0]) / (2 * h) / along, 1, 1e-7);
        bo_sparse_mul(K, way, f, false);
        for (size_t i = 0; i < n; i++) {
            bent = (g[0][i] - g[1][i]) / (2 * h), bends = f[i];
            most = fmax(most, fabs(bent)), worst = fmax(worst, fabs(bent - bends) / fmax(most, 1));
        }
    }
    printf("second derivatives within %.2g\n", worst);
    check_below(worst, 1e-5);
    bough_sparse_destroy(b.ctx, K);
    free(q), free(f), free(way), free(g[0]), free(g[1]);
    free_block(&b);
}

static void forces_are_those_of_the_potential(void **unused) {
    (void)unused;
    compare_with_differences(0, BOUGH_HEX8);
    compare_with_differences(0.03, BOUGH_HEX8); /* points between vertices, too */
    compare_with_differences(0.03, BOUGH_TET10);
}

/* ---- on the ground ---- */

static void what_falls_comes_to_rest_above_the_ground(void **unused) {
    (void)unused;
    static const char *const methods[] = {"backward-euler", "bdf2", "sdirk", "tr-bdf2"};
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        block_def def = default_block();
        def.lift = 0.02, def.friction = 0.5;
        block b = make_block(&def);
        double slip;
        int32_t count;
        check_ok(b.ctx, bough_load_case_set_gravity(b.ctx, b.load_case, (double[]){0, 0, -9.81}));
        b.obstacles[0] = ground(0.5), b.def.obstacle_count = 1;
        start_block(&b, methods[m]);
        const double start = energy_of(&b);
        double most = start;
        for (int i = 0; i < 300; i++) {
            step_block(&b, 1. / 120);
            most = fmax(most, energy_of(&b));
        }
        const bo_vec3 push = pushes_on(&b, &slip, &count), v = velocity_of(&b);
        const double gap = bo_touch_gap(b.touch, b.motion.t, b.motion.q) / b.def.support;
        printf("%s: least gap %.3g, at rest %.3g of the support, weight within %.1e, speed %.1e m/s, energy +%.2g\n",
               methods[m], b.least / b.def.support, gap, push.z / (9.81 * b.mass) - 1, bo_norm(v),
               (most - start) / (9.81 * b.mass * 0.02));
        check_near(push.z / (9.81 * b.mass), 1, 1e-3);
        check(gap > 0.1 && gap < 1);
        check_below(bo_norm(v), 1e-3);
        check_below((most - start) / (9.81 * b.mass * 0.02), 1e-9);
        free_block(&b);
    }
}

/* A block on a slope, which is level ground with weight that leans. */
static void make_incline(block *b, double angle, double mu, const char *method) {
    block_def def = default_block();
    def.lift = 6e-4, def.friction = mu, def.young = 1e7;
    *b = make_block(&def);
    check_ok(b->ctx,
             bough_load_case_set_gravity(b->ctx, b->load_case, (double[]){9.81 * sin(angle), 0, -9.81 * cos(angle)}));
    b->obstacles[0] = ground(mu), b->def.obstacle_count = 1;
    start_block(b, method);
}

static void sliding_is_coulombs(void **unused) {
    (void)unused;
    static const struct { double degrees, mu; } cases[] = {{15, 0.1}, {30, 0.3}, {45, 0.6}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double angle = cases[i].degrees * M_PI / 180, h = 1. / 240;
        block b;
        make_incline(&b, angle, cases[i].mu, "backward-euler");
        double slip = 0, worst = 0, v[2] = {0, 0};
        int32_t count;
        for (int k = 0; k < 240; k++) {
            step_block(&b, h);
            pushes_on(&b, &slip, &count);
            worst = k >= 60 ? fmax(worst, slip) : 0;
            if (k == 119 || k == 239)
                v[k == 239] = velocity_of(&b).x;
        }
        const double expected = 9.81 * (sin(angle) - cases[i].mu * cos(angle)), found = (v[1] - v[0]) / 0.5;
        printf(
            "%g degrees, mu %g: acceleration %.5g, Coulomb %.5g (%.2g %%), friction %.8g of its cone, least gap %.2g\n",
            cases[i].degrees, cases[i].mu, found, expected, 100 * (found / expected - 1), worst,
            b.least / b.def.support);
        check_near(found / expected, 1, 1e-8);
        check_below(worst, 1 + 1e-6);
        free_block(&b);
    }
}

/* Below the limit friction is mu lambda s(v), with s = 2 v/e - (v/e)^2 = tan / mu. */
static void what_sticks_creeps_as_it_should(void **unused) {
    (void)unused;
    const double angle = 20 * M_PI / 180, mu = 0.6;
    block b;
    make_incline(&b, angle, mu, "backward-euler");
    for (int k = 0; k < 240; k++)
        step_block(&b, 1. / 120);
    const double creep = velocity_of(&b).x / b.def.slip, expected = 1 - sqrt(1 - tan(angle) / mu);
    printf("creeps at %.5g of the speed of slip, theory %.5g\n", creep, expected);
    check_near(creep, expected, 1e-8);
    free_block(&b);
}

/* ---- never inside ---- */

static void nothing_goes_through_at_any_speed(void **unused) {
    (void)unused;
    const double speeds[] = {0.5, 5, 50}, steps[] = {1e-4, 1e-3, 1. / 30};
    for (int s = 0; s < 3; s++)
        for (int d = 0; d < 3; d++)
            for (int soft = 0; soft < 2; soft++) {
                block_def def = default_block();
                def.young = soft ? 1e4 : 1e8, def.lift = 0.01, def.type = BOUGH_TET4;
                block b = make_block(&def);
                b.obstacles[0] = ground(0), b.def.obstacle_count = 1;
                start_block(&b, "backward-euler");
                throw_block(&b, 0.1 * speeds[s], 0, -speeds[s]);
                const double start = energy_of(&b);
                int done = 0, failed = 0;
                double h = steps[d];
                for (; done < 40 && failed < 200;) {
                    const bough_status status = try_step(&b, h);
                    if (status != BOUGH_OK) {
                        check(status > 0); /* recoverable: take half of it */
                        h *= 0.5, failed++;
                        continue;
                    }
                    check(bo_touch_gap(b.touch, b.motion.t, b.motion.q) > 0);
                    check_below(energy_of(&b), start * (1 + 1e-6) + 1e-9);
                    h = fmin(2 * h, steps[d]), done++;
                }
                printf("%g m/s, steps of %.2g s, %s: %d failed, end %.3g J of %.3g\n", speeds[s], steps[d],
                       soft ? "soft" : "hard", failed, energy_of(&b), start);
                check_int(done, 40);
                free_block(&b);
            }
}

/* A plate that comes down on a block presses it flat, and never runs over a vertex. */
static bo_se3 coming_down(const void *data, double t) {
    const double *speed = data;
    bo_se3 pose = bo_se3_identity();
    pose.R = bo_exp3(bo_v3(M_PI, 0, 0));
    pose.t = bo_v3(0, 0, 0.1025 - *speed * t);
    return pose;
}

static void plates_press_what_lies_under_them(void **unused) {
    (void)unused;
    for (int fast = 0; fast < 2; fast++) {
        const double speed = fast ? 1 : 0.05, h = 1. / 120;
        block_def def = default_block();
        def.young = 1e5;
        block b = make_block(&def);
        b.obstacles[0] = ground(0.5);
        b.obstacles[1] = ground(0.5);
        b.obstacles[1].name = "the plate", b.obstacles[1].pose = coming_down, b.obstacles[1].pose_data = &speed;
        b.def.obstacle_count = 2, b.def.friction = 0.5;
        start_block(&b, "backward-euler");
        const int count = (int)lround(0.03 / speed / h) + 1;
        for (int k = 0; k < count; k++)
            step_block(&b, h);
        double high = -INFINITY;
        for (int32_t i = 0; i < b.mesh->vertex_count; i++)
            high = fmax(high, b.mesh->vertices[3 * i + 2] + b.motion.q[3 * i + 2]);
        const double plate = coming_down(&speed, b.motion.t).t.z;
        printf("plate at %.4f m, block up to %.4f m\n", plate, high);
        check(high < plate && high > plate - b.def.support);
        free_block(&b);
    }
}

static void what_begins_inside_is_refused(void **unused) {
    (void)unused;
    block_def def = default_block();
    def.lift = -0.01;
    block b = make_block(&def);
    b.obstacles[0] = ground(0.5), b.def.obstacle_count = 1;
    start_block(&b, "backward-euler");
    check_fails(b.ctx, bo_touch_start(b.touch, 0, 0.01, b.motion.q), BOUGH_ERROR_ARGUMENT, "0.01 m inside the ground");
    check_fails(b.ctx, bo_touch_begin(b.touch, 0, 0.01, b.motion.q, b.motion.v), BOUGH_NO_CONVERGENCE,
                "inside the ground");
    bo_touch *none;
    bo_touch_def bad = b.def;
    bad.slip = 0;
    check_fails(b.ctx, bo_touch_make(b.ctx, b.body, b.load_case, &bad, &none), BOUGH_ERROR_ARGUMENT,
                "must be positive");
    bad = b.def, bad.friction = NAN;
    check_fails(b.ctx, bo_touch_make(b.ctx, b.body, b.load_case, &bad, &none), BOUGH_ERROR_ARGUMENT, "0 or more");
    free_block(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(forces_are_those_of_the_potential),
                                       cmocka_unit_test(what_falls_comes_to_rest_above_the_ground),
                                       cmocka_unit_test(sliding_is_coulombs),
                                       cmocka_unit_test(what_sticks_creeps_as_it_should),
                                       cmocka_unit_test(nothing_goes_through_at_any_speed),
                                       cmocka_unit_test(plates_press_what_lies_under_them),
                                       cmocka_unit_test(what_begins_inside_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
