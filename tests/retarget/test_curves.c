/* Curves of motors: B-splines, their derivatives, and fits. */
#include "test.h"

#include <bough/retarget.h>

enum { POINTS = 11, SAMPLES = 200 };

static bough_motor_curves *random_curves(bough_context *ctx, int degree) {
    test_random random = {(uint64_t)degree};
    bough_motor_curves *c;
    check_ok(ctx, bough_motor_curves_create(ctx, 2, degree, POINTS, 0.5, 2, &c));
    for (int i = 0; i < 2 * POINTS; i++)
        c->points[i] = test_uniform(&random, -1, 1);
    return c;
}

static double place_at_time(const bough_motor_curves *c, double t) {
    double place;
    bough_motor_curves_at(c, 1, t, &place, NULL, NULL);
    return place;
}

static void rates_are_derivatives_of_places(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const double h = 1e-4;
    for (int degree = 2; degree <= 5; degree++) {
        bough_motor_curves *c = random_curves(ctx, degree);
        for (int i = 1; i < 20; i++) {
            const double t = 0.5 + 0.0987 * i;
            double place, rate, pull;
            bough_motor_curves_at(c, 1, t, &place, &rate, &pull);
            const double before = place_at_time(c, t - h), after = place_at_time(c, t + h);
            check_near(rate, (after - before) / (2 * h), 2e-6);
            check_near(pull, (after - 2 * place + before) / (h * h), 1e-5);
        }
        bough_motor_curves_destroy(ctx, c);
    }
    bough_context_destroy(ctx);
}

/* All weights sum to one, and a straight row of points makes a straight line. */
static void points_on_a_line_make_a_line(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    for (int degree = 2; degree <= 5; degree++) {
        bough_motor_curves *c = random_curves(ctx, degree);
        const double interval = 2. / (POINTS - degree);
        for (int i = 0; i < POINTS; i++) /* the middle of what point i acts on */
            c->points[POINTS + i] = 3 - 2 * interval * (i - 0.5 * (degree - 1));
        for (int i = 0; i <= 20; i++) {
            double place, rate, pull;
            bough_motor_curves_at(c, 1, 0.5 + 0.1 * i, &place, &rate, &pull);
            check_near(place, 3 - 0.2 * i, 1e-13);
            check_near(rate, -2, 1e-13);
            check_near(pull, 0, 1e-12);
        }
        bough_motor_curves_destroy(ctx, c);
    }
    bough_context_destroy(ctx);
}

/* Points behind the degree-th do not act at the start, and nothing moves outside. */
static void the_start_depends_on_the_first_points(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    for (int degree = 2; degree <= 5; degree++) {
        bough_motor_curves *c = random_curves(ctx, degree);
        for (int i = 0; i < degree; i++)
            c->points[POINTS + i] = 0.25;
        double place, rate, pull;
        bough_motor_curves_at(c, 1, 0.5, &place, &rate, &pull);
        check_near(place, 0.25, 1e-15);
        check_near(rate, 0, 1e-15);
        if (degree > 2)
            check_near(pull, 0, 1e-14);
        const double end = place_at_time(c, 2.5);
        bough_motor_curves_at(c, 1, 4, &place, &rate, &pull);
        check(place == end && rate == 0 && pull == 0);
        bough_motor_curves_at(c, 1, -1, &place, &rate, &pull);
        check(place == place_at_time(c, 0.5) && rate == 0 && pull == 0);
        bough_motor_curves_destroy(ctx, c);
    }
    bough_context_destroy(ctx);
}

static void fits_find_curves_again(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    double times[SAMPLES], values[2 * SAMPLES], worst = 0;
    for (int degree = 2; degree <= 5; degree++) {
        bough_motor_curves *c = random_curves(ctx, degree), *fitted;
        check_ok(ctx, bough_motor_curves_create(ctx, 2, degree, POINTS, 0.5, 2, &fitted));
        for (int k = 0; k < SAMPLES; k++) {
            times[k] = 0.5 + 2. * k / (SAMPLES - 1);
            for (int m = 0; m < 2; m++)
                bough_motor_curves_at(c, m, times[k], &values[SAMPLES * m + k], NULL, NULL);
        }
        check_ok(ctx, bough_motor_curves_fit(ctx, fitted, SAMPLES, times, values, false));
        for (int k = 0; k <= 1000; k++)
            worst = fmax(worst, fabs(place_at_time(fitted, 0.5 + 2e-3 * k) - place_at_time(c, 0.5 + 2e-3 * k)));
        bough_motor_curves_destroy(ctx, c);
        bough_motor_curves_destroy(ctx, fitted);
    }
    printf("curves within %.2g\n", worst);
    check_below(worst, 1e-7);
    bough_context_destroy(ctx);
}

/* From rest; where samples are missing the curve goes on smoothly. */
static void fits_start_at_rest_and_bridge_gaps(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    bough_motor_curves *c;
    double times[SAMPLES], values[SAMPLES], place, rate, pull;
    int count = 0;
    check_ok(ctx, bough_motor_curves_create(ctx, 1, 3, 40, 0, 2, &c));
    for (int k = 0; k < SAMPLES; k++) {
        const double t = 2. * k / (SAMPLES - 1);
        if (t > 0.8 && t < 1.2) /* no samples */
            continue;
        times[count] = t, values[count++] = 0.3 + pow(sin(t), 4);
    }
    check_ok(ctx, bough_motor_curves_fit(ctx, c, count, times, values, true));
    bough_motor_curves_at(c, 0, 0, &place, &rate, &pull);
    check_near(place, 0.3, 1e-15);
    check_near(rate, 0, 1e-13);
    check_near(pull, 0, 1e-11);
    bough_motor_curves_at(c, 0, 1, &place, &rate, &pull);
    check_near(place, 0.3 + pow(sin(1), 4), 0.02);
    bough_motor_curves_destroy(ctx, c);
    bough_context_destroy(ctx);
}

static void curves_that_cannot_be_are_refused(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    bough_motor_curves *c;
    const double times[2] = {0, 1}, values[2] = {0, NAN};
    check_fails(ctx, bough_motor_curves_create(ctx, 1, 6, 20, 0, 1, &c), BOUGH_ERROR_ARGUMENT, "degree 6");
    check_fails(ctx, bough_motor_curves_create(ctx, 1, 3, 3, 0, 1, &c), BOUGH_ERROR_ARGUMENT, "needs 4");
    check_fails(ctx, bough_motor_curves_create(ctx, 1, 3, 9, 0, 0, &c), BOUGH_ERROR_ARGUMENT, "positive time");
    check_ok(ctx, bough_motor_curves_create(ctx, 1, 3, 9, 0, 1, &c));
    check_fails(ctx, bough_motor_curves_fit(ctx, c, 2, times, values, false), BOUGH_ERROR_ARGUMENT, "sample 1");
    check_fails(ctx, bough_motor_curves_fit(ctx, c, 0, times, values, false), BOUGH_ERROR_ARGUMENT, "no samples");
    bough_motor_curves_destroy(ctx, c);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_are_derivatives_of_places),       cmocka_unit_test(points_on_a_line_make_a_line),
        cmocka_unit_test(the_start_depends_on_the_first_points), cmocka_unit_test(fits_find_curves_again),
        cmocka_unit_test(fits_start_at_rest_and_bridge_gaps),    cmocka_unit_test(curves_that_cannot_be_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
