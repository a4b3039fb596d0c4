/* Smooth curves: they pass through their points, start and end at rest, and nothing about them jumps. */
#include "test.h"

#include "rig/spline.h"

static double times[5] = {0.2, 0.5, 1.1, 1.5, 2}, values[5] = {0, 0.5, 0.4, -0.3, 0.1};

static bo_spline make(bough_context *ctx, int32_t count, double scale, bo_spline_kind kind) {
    const bo_curve curve = {NULL, count, times, values};
    bo_spline spline;
    check_ok(ctx, bo_spline_make(ctx, &curve, scale, kind, &spline));
    return spline;
}

static void check_smooth(const bo_spline *s, double step) {
    const double h = 1e-6;
    for (double t = -0.1; t < 2.4; t += step) {
        double before, after, rate, acceleration, rates[2], accelerations[2];
        bo_spline_at(s, t - h, &before, &rates[0], &accelerations[0]);
        bo_spline_at(s, t + h, &after, &rates[1], &accelerations[1]);
        bo_spline_at(s, t, NULL, &rate, &acceleration);
        check_near(rate, (after - before) / (2 * h), 1e-7);
        check_near(acceleration, (rates[1] - rates[0]) / (2 * h), 2e-6);
        check_near(accelerations[0], accelerations[1], 0.02); /* it is continuous */
    }
}

static void splines_pass_through_their_points_and_nothing_jumps(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int kind = 0; kind < 2; kind++)
        for (int32_t count = 1; count <= 5; count++) {
            bo_spline s = make(ctx, count, 2, (bo_spline_kind)kind);
            for (int32_t i = 0; i < count; i++) {
                double value, rate, acceleration;
                bo_spline_at(&s, times[i], &value, &rate, &acceleration);
                check_near(value, 2 * values[i], 1e-12);
                if (kind == BO_SPLINE_STOPS || i == 0 || i == count - 1) {
                    check_near(rate, 0, 1e-9);
                    check_near(acceleration, 0, 1e-7);
                }
            }
            check_smooth(&s, 0.0137);
            bo_spline_free(ctx, &s);
        }
    bough_context_destroy(ctx);
}

static void lines_are_straight_but_for_their_corners(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bo_spline s = make(ctx, 5, 1, BO_SPLINE_LINES);
    double value, rate, acceleration;
    for (int32_t i = 0; i < 4; i++) {
        const double from = times[i] + (i == 0 ? 0.01 : 0), until = times[i + 1] - (i == 3 ? 0.01 : 0);
        const double slope = (values[i + 1] - values[i]) / (until - from);
        for (double t = from + 0.0101; t < until - 0.01; t += 0.03) {
            bo_spline_at(&s, t, &value, &rate, &acceleration);
            check_near(value, values[i] + slope * (t - from), 1e-12);
            check_near(rate, slope, 1e-12);
            check_near(acceleration, 0, 0);
        }
    }
    const double h = 1e-6;
    for (double t = 0.1; t < 2.1; t += 0.00137) { /* rates are derivatives, and nothing jumps */
        double near[2], rates[2], accelerations[2];
        for (int k = 0; k < 2; k++)
            bo_spline_at(&s, t + (2 * k - 1) * h, &near[k], &rates[k], &accelerations[k]);
        bo_spline_at(&s, t, NULL, &rate, &acceleration);
        check_near(rate, (near[1] - near[0]) / (2 * h), 1e-7);
        check_near(acceleration, (rates[1] - rates[0]) / (2 * h), 1e-4);
        check_near(accelerations[0], accelerations[1], 0.1);
    }
    for (int32_t i = 0; i < 5; i += 4) { /* at rest at both ends */
        bo_spline_at(&s, times[i], &value, &rate, NULL);
        check_near(value, values[i], 1e-12);
        check_near(rate, 0, 1e-12);
    }
    bo_spline_free(ctx, &s);
    bough_context_destroy(ctx);
}

static void splines_rest_before_and_after(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bo_spline s = make(ctx, 5, 1, BO_SPLINE_THROUGH);
    double value, rate;
    bo_spline_at(&s, -3, &value, &rate, NULL);
    check_near(value, 0, 0);
    check_near(rate, 0, 0);
    bo_spline_at(&s, 30, &value, &rate, NULL);
    check_near(value, 0.1, 0);
    check_near(rate, 0, 0);
    bo_spline_free(ctx, &s);
    bough_context_destroy(ctx);
}

/* From 0 to 1 with a stop at each end nothing overshoots. */
static void stops_do_not_overshoot(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bo_spline s = make(ctx, 5, 1, BO_SPLINE_STOPS);
    for (double t = 0; t < 2.2; t += 0.003) {
        double value;
        int32_t i = 0;
        while (i < 3 && t > times[i + 1])
            i++;
        bo_spline_at(&s, t, &value, NULL, NULL);
        const double low = fmin(values[i], values[i + 1]), high = fmax(values[i], values[i + 1]);
        check(value >= low - 1e-12 && value <= high + 1e-12);
    }
    bo_spline_free(ctx, &s);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(splines_pass_through_their_points_and_nothing_jumps),
                                       cmocka_unit_test(lines_are_straight_but_for_their_corners),
                                       cmocka_unit_test(splines_rest_before_and_after),
                                       cmocka_unit_test(stops_do_not_overshoot)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
