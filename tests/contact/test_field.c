/* Gaps between points and a bar that bends. */
#include "../rig/shapes.h"

#include "contact/field.h"
#include "contact/gap.h"

#define LENGTH 0.5
#define HALF 0.025 /* m, of the bar's section */
#define CELL 0.004 /* m, of the grid that is chosen: a sixth of volume over half of the area */
enum { ALONG = 20, ACROSS = 3, SAMPLES = (ALONG + 1) * 4 * ACROSS };

typedef struct {
    bough_context *ctx;
    bo_field *field;
    double rest[3 * SAMPLES], now[3 * SAMPLES];
} bar;

/* 12 triangles of the box [0, LENGTH] x [-HALF, HALF]^2. */
static const double vertices[] = {0, -HALF, -HALF, LENGTH, -HALF, -HALF, 0, HALF, -HALF, LENGTH, HALF, -HALF,
                                  0, -HALF, HALF,  LENGTH, -HALF, HALF,  0, HALF, HALF,  LENGTH, HALF, HALF};
static const int32_t triangles[] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                    2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};

/* Samples around every section, ACROSS of them along each side. */
static bo_vec3 sample_at(int i) {
    const int section = i / (4 * ACROSS), side = i / ACROSS % 4, step = i % ACROSS;
    const double s = HALF * (2.0 * step / ACROSS - 1), x = LENGTH * section / ALONG;
    return side == 0   ? bo_v3(x, s, -HALF)
           : side == 1 ? bo_v3(x, HALF, s)
           : side == 2 ? bo_v3(x, -s, HALF)
                       : bo_v3(x, -HALF, -s);
}

static bar *make_bar(void) {
    bar *b = calloc(1, sizeof *b);
    check(b != NULL);
    b->ctx = test_context(1);
    for (int i = 0; i < SAMPLES; i++)
        bo_store3(b->rest + 3 * i, sample_at(i));
    memcpy(b->now, b->rest, sizeof b->now);
    check_ok(b->ctx, bo_field_create(b->ctx, 8, vertices, 12, triangles, SAMPLES, b->rest, 0, &b->field));
    check_int(bo_field_sample_count(b->field), SAMPLES);
    return b;
}
static void free_bar(bar *b) {
    bo_field_destroy(b->ctx, b->field);
    bough_context_destroy(b->ctx);
    free(b);
}

/* Bent to a circle of radius R about an axis along y, through (0, 0, R). */
static bo_vec3 bent(bo_vec3 X, double R) {
    return bo_v3((R - X.z) * sin(X.x / R), X.y, R - (R - X.z) * cos(X.x / R));
}
/* Moves the samples and returns how far, at most. */
static double bend(bar *b, double R) {
    double most = 0;
    for (int i = 0; i < SAMPLES; i++) {
        bo_store3(b->now + 3 * i, bent(bo_load3(b->rest + 3 * i), R));
        most = fmax(most, bo_norm(bo_sub(bo_load3(b->now + 3 * i), bo_load3(b->rest + 3 * i))));
    }
    return most;
}

/* A point above the middle of a side of the bar at rest, `gap` from it, in the middle 60 % of its length. */
static bo_vec3 over_a_side(test_random *random, double gap, bo_vec3 *normal) {
    const int side = (int)(test_bits(random) % 4);
    const double x = LENGTH * test_uniform(random, 0.2, 0.8), s = HALF * test_uniform(random, -0.5, 0.5),
                 d = side % 2 ? HALF + gap : -HALF - gap;
    *normal = side < 2 ? bo_v3(0, 0, side % 2 ? 1 : -1) : bo_v3(0, side % 2 ? 1 : -1, 0);
    return side < 2 ? bo_v3(x, s, d) : bo_v3(x, d, s);
}

/* Bending moves the bar's flanks in and out by nothing, its upper and lower side to other radii: gaps are the distances
 * from circles, or from planes. A chord of the samples' spacing is h^2 / 8 R from its circle; the grid's spline swings by
 * some hundredths of a cell beside the bar's edges. */
static void gaps_of_a_bent_bar_are_its_distances(void **unused) {
    (void)unused;
    static const double radii[] = {2, 1, 0.5};
    bar *b = make_bar();
    test_random random = {5};
    const double h = LENGTH / ALONG;
    for (int k = 0; k < 3; k++) {
        const double R = radii[k], most = bend(b, R);
        double worst = 0, tilt = 0, away = 0;
        for (int i = 0; i < 2000; i++) {
            const double gap = test_uniform(&random, -0.1, 0.2) * HALF;
            bo_vec3 n;
            const bo_vec3 X = over_a_side(&random, gap, &n);
            bo_field_touch t;
            check(bo_field_gap(b->field, b->now, most, bent(X, R), 1, &t));
            const bo_vec3 turned = bo_v3(-n.z * sin(X.x / R), n.y, n.z * cos(X.x / R));
            worst = fmax(worst, fabs(t.gap - gap));
            tilt = fmax(tilt, bo_norm(bo_sub(t.normal, turned)));
            away = fmax(away, bo_norm(bo_sub(t.rest, X)));
        }
        printf("radius %g: gaps %.2g m, normals %.2g rad, places %.2g m\n", R, worst, tilt, away);
        check_below(worst, 0.1 * CELL + 0.3 * h * h / R);
        check_below(tilt, 0.1 + 0.5 * h / R);
        check_below(away, 0.5 * h * h / R);
    }
    free_bar(b);
}

/* A body that is stretched, sheared and turned evenly is mapped back, for points on its surface, to 1e-2 of its thickness:
 * where most samples are in one plane, it is taken to be as thick as at rest. Weights hand places and forces over:
 * sum w = 1, sum w x = y. */
static void even_strains_are_mapped_back(void **unused) {
    (void)unused;
    bar *b = make_bar();
    test_random random = {6};
    for (int k = 0; k < 20; k++) {
        bo_mat3 F = bo_identity3();
        for (int i = 0; i < 9; i++)
            F.m[i] += test_uniform(&random, -0.15, 0.15);
        F = bo_mat_mul(bo_exp3(random_vector(&random, 0.5)), F);
        const bo_vec3 t = random_vector(&random, 0.1);
        double most = 0;
        for (int i = 0; i < SAMPLES; i++) {
            const bo_vec3 X = bo_load3(b->rest + 3 * i), x = bo_add(bo_mat_vec(F, X), t);
            bo_store3(b->now + 3 * i, x);
            most = fmax(most, bo_norm(bo_sub(x, X)));
        }
        for (int i = 0; i < 100; i++) {
            bo_vec3 n, sum = {0, 0, 0};
            const bo_vec3 X = over_a_side(&random, 0, &n), y = bo_add(bo_mat_vec(F, X), t);
            bo_field_touch touch;
            double whole = 0;
            check(bo_field_gap(b->field, b->now, most, y, 1, &touch));
            check_below(bo_norm(bo_sub(touch.rest, X)), 2e-2 * HALF);
            const bo_vec3 m = bo_mat_tvec(bo_inverse(F), n);
            check_near(touch.gap, 0, 0.02 * CELL);
            check_below(bo_norm(bo_sub(touch.normal, bo_scale(1 / bo_norm(m), m))), 0.1);
            for (int32_t s = 0; s < touch.sample_count; s++) {
                whole += touch.weights[s];
                sum = bo_mul_add(sum, touch.weights[s], bo_load3(b->now + 3 * touch.samples[s]));
            }
            check_near(whole, 1, 1e-11);
            check_below(bo_norm(bo_sub(sum, y)), 2e-2 * HALF);
        }
    }
    free_bar(b);
}

static double gap_at(const bar *b, double most, bo_vec3 y) {
    bo_field_touch t;
    check(bo_field_gap(b->field, b->now, most, y, 1, &t));
    return t.gap;
}

/* At the surface the normal is the derivative of the gap by the point, and -w normal that by each sample, to what the
 * bar bends within a patch. */
static void derivatives_are_normals_and_weights(void **unused) {
    (void)unused;
    bar *b = make_bar();
    test_random random = {7};
    const double eps = 1e-7, R = 1, most = bend(b, R) + 1e-3, h = LENGTH / ALONG;
    double by_point = 0, by_sample = 0;
    for (int i = 0; i < 200; i++) {
        bo_field_touch t;
        bo_vec3 n;
        const bo_vec3 y = bent(over_a_side(&random, 0, &n), R), d = bo_normalize(random_vector(&random, 1));
        check(bo_field_gap(b->field, b->now, most, y, 1, &t));
        const double found =
            (gap_at(b, most, bo_mul_add(y, eps, d)) - gap_at(b, most, bo_mul_add(y, -eps, d))) / (2 * eps);
        by_point = fmax(by_point, fabs(found - bo_dot(t.normal, d)));
        for (int32_t k = 0; k < t.sample_count; k++) {
            double *x = b->now + 3 * t.samples[k], ends[2];
            const bo_vec3 was = bo_load3(x);
            for (int side = 0; side < 2; side++) {
                bo_store3(x, bo_mul_add(was, side ? -eps : eps, d));
                ends[side] = gap_at(b, most, y);
            }
            bo_store3(x, was);
            by_sample = fmax(by_sample, fabs((ends[0] - ends[1]) / (2 * eps) + t.weights[k] * bo_dot(t.normal, d)));
        }
    }
    printf("derivatives by points: %.2g, by samples: %.2g\n", by_point, by_sample);
    check_below(by_point, 0.6 * h / R);
    check_below(by_sample, 0.6 * h / R);
    free_bar(b);
}

/* One look suffices for what is far away, and nothing that is near is missed, however the bar is bent. */
static void what_is_far_is_left_out(void **unused) {
    (void)unused;
    bar *b = make_bar();
    test_random random = {8};
    const double R = 0.4, most = bend(b, R), within = 0.01;
    int found = 0;
    for (int i = 0; i < 20000; i++) {
        const bo_vec3 y = bo_add(bo_v3(0.2, 0, 0.1), random_vector(&random, 0.3));
        bo_field_touch near, any;
        const bool is_near = bo_field_gap(b->field, b->now, most, y, within, &near);
        check(bo_field_gap(b->field, b->now, most, y, 10, &any));
        check(is_near == (any.gap <= within));
        if (is_near)
            check(near.gap == any.gap);
        found += is_near;
    }
    check(found > 100);
    bo_field_touch t;
    check(!bo_field_gap(b->field, b->now, most, bo_v3(NAN, 0, 0), within, &t));
    free_bar(b);
}

/* Samples in one plane, or in one line, say nothing of what the body does across it: it turns with them. */
static void flat_samples_turn_the_body(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random random = {9};
    double rest[3 * 27], now[3 * 27];
    for (int line = 0; line < 2; line++) {
        const int count = line ? 9 : 27;
        for (int i = 0; i < count; i++)
            bo_store3(rest + 3 * i, bo_v3(LENGTH * (i % 9) / 8, line ? 0 : HALF * (i / 9 - 1), HALF));
        bo_field *field;
        check_ok(ctx, bo_field_create(ctx, 8, vertices, 12, triangles, count, rest, 0, &field));
        for (int k = 0; k < 200; k++) {
            const bo_vec3 turn = line ? bo_v3(0, test_uniform(&random, -0.5, 0.5), test_uniform(&random, -0.5, 0.5))
                                      : random_vector(&random, 1);
            const bo_mat3 Q = bo_exp3(turn);
            for (int i = 0; i < count; i++)
                bo_store3(now + 3 * i, bo_mat_vec(Q, bo_load3(rest + 3 * i)));
            const double gap = test_uniform(&random, -0.05, 0.05) * HALF;
            const bo_vec3 X = bo_v3(test_uniform(&random, 0.1, 0.4), 0, HALF + gap);
            bo_field_touch t;
            check(bo_field_gap(field, now, 2, bo_mat_vec(Q, X), 1, &t));
            check_below(bo_norm(bo_sub(t.normal, bo_mat_vec(Q, bo_v3(0, 0, 1)))), line ? 0.3 : 1e-2);
            check_near(t.gap, gap, line ? 1e-4 : 1e-5);
        }
        bo_field_destroy(ctx, field);
    }
    bough_context_destroy(ctx);
}

/* A single sample moves the body as a whole; samples in one point, and a body turned inside out, give numbers still. */
static void poor_samples_give_numbers(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const double one[3] = {0.2, 0, HALF}, moved[3] = {0.3, 0, HALF + 0.01},
                 same[12] = {0.2, 0, HALF, 0.2, 0, HALF, 0.2, 0, HALF, 0.2, 0, HALF};
    bo_field *field;
    bo_field_touch t;
    check_ok(ctx, bo_field_create(ctx, 8, vertices, 12, triangles, 1, one, 0, &field));
    check(bo_field_gap(field, moved, 0.2, bo_v3(0.25, 0, HALF + 0.012), 1, &t));
    check_near(t.gap, 0.002, 1e-5);
    check(t.sample_count == 1 && t.weights[0] == 1);
    bo_field_destroy(ctx, field);
    check_ok(ctx, bo_field_create(ctx, 8, vertices, 12, triangles, 4, same, 0, &field));
    check(bo_field_gap(field, same, 0.2, bo_v3(0.25, 0, HALF), 1, &t));
    check_near(t.gap, 0, 1e-5);
    bo_field_destroy(ctx, field);
    bar *b = make_bar();
    for (int i = 0; i < SAMPLES; i++)
        b->now[3 * i + 2] = -b->now[3 * i + 2];
    check(bo_field_gap(b->field, b->now, 1, bo_v3(0.25, 0, HALF), 1, &t));
    check(isfinite(t.gap) && isfinite(t.normal.x + t.normal.y + t.normal.z));
    free_bar(b);
    bough_context_destroy(ctx);
}

static void what_is_no_field_is_refused(void **unused) {
    (void)unused;
    static const int32_t wrong[3] = {0, 1, 8};
    double rest[3] = {0, 0, 0};
    bough_context *ctx = test_context(1);
    bo_field *field;
    check_fails(ctx, bo_field_create(ctx, 8, vertices, 12, triangles, 0, rest, 0, &field), BOUGH_ERROR_ARGUMENT,
                "needs samples");
    check_fails(ctx, bo_field_create(ctx, 8, vertices, 1, wrong, 1, rest, 0, &field), BOUGH_ERROR_ARGUMENT,
                "has vertex 8");
    check_fails(ctx, bo_field_create(ctx, 8, vertices, 12, triangles, 1, rest, 1e-9, &field), BOUGH_ERROR_ARGUMENT,
                "cannot be divided into cells of 1e-09 m");
    rest[1] = NAN;
    check_fails(ctx, bo_field_create(ctx, 8, vertices, 12, triangles, 1, rest, 0, &field), BOUGH_ERROR_ARGUMENT,
                "finite");
    check(field == NULL);
    bough_context_destroy(ctx);
    bool done = false;
    rest[1] = 0;
    for (long fail_at = 0; !done; fail_at++) {
        test_memory memory = {.fail_at = -1};
        ctx = test_counting_context(&memory);
        const long live = memory.live;
        memory.fail_at = memory.calls + fail_at;
        const bough_status status = bo_field_create(ctx, 8, vertices, 12, triangles, 1, rest, 0, &field);
        done = status == BOUGH_OK;
        check(done || (status == BOUGH_ERROR_MEMORY && field == NULL));
        bo_field_destroy(ctx, field);
        check_int(memory.live, live);
        bough_context_destroy(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaps_of_a_bent_bar_are_its_distances), cmocka_unit_test(even_strains_are_mapped_back),
        cmocka_unit_test(derivatives_are_normals_and_weights),  cmocka_unit_test(what_is_far_is_left_out),
        cmocka_unit_test(flat_samples_turn_the_body),           cmocka_unit_test(poor_samples_give_numbers),
        cmocka_unit_test(what_is_no_field_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
