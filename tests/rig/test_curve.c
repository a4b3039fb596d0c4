/* Curves: value, slope and integral of each other, names, memory. */
#include "test.h"

#include "rig/motor.h"

/* A curve that is 1 before 0.5 s, goes to 3 at 1 s and to -1 at 2 s, and stays there: its value is the slope of its
 * integral, and the slope told is that of its value. */
static void curves_are_integrated_exactly(void **state) {
    (void)state;
    double times[] = {0.5, 1, 2}, values[] = {1, 3, -1};
    const bo_curve curve = {.count = 3, .times = times, .values = values};
    const double h = 1e-6;
    check_near(bo_curve_integral(&curve, 0), 0, 0);
    check_near(bo_curve_integral(&curve, 0.25), 0.25, 1e-15);
    check_near(bo_curve_integral(&curve, 1), 0.5 + 0.5 * 2, 1e-15);
    check_near(bo_curve_integral(&curve, 4), 1.5 + 1 - 2, 1e-15);
    for (double t = 0.05; t < 3; t += 0.1) {
        const double difference = bo_curve_integral(&curve, t + h) - bo_curve_integral(&curve, t - h);
        check_near(difference / (2 * h), bo_curve_at(&curve, t), 1e-8);
        check_near((bo_curve_at(&curve, t + h) - bo_curve_at(&curve, t - h)) / (2 * h), bo_curve_slope(&curve, t),
                   1e-8);
    }
}

static void the_integral_of_a_curve_is_the_area_below_it(void **state) {
    (void)state;
    double times[4] = {-1, 0.5, 2, 3}, values[4] = {1, 4, 0, 2};
    const bo_curve curve = {NULL, 4, times, values}, flat = {NULL, 1, times + 1, values + 1};
    for (double t = 0; t < 5; t += 0.37) {
        double sum = 0;
        const int parts = 20000;
        for (int i = 0; i < parts; i++)
            sum += t / parts * bo_curve_at(&curve, t * (i + 0.5) / parts);
        check_near(bo_curve_integral(&curve, t), sum, 1e-6);
        check_near(bo_curve_integral(&flat, t), 4 * t, 1e-12);
    }
}

static void curves_are_copies_and_are_found_by_name(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    double times[] = {0, 1}, values[] = {2, 5};
    char name[] = "lift";
    bo_curve curves[2];
    check_ok(ctx, bo_curve_make(ctx, NULL, 2, times, values, &curves[0]));
    check_ok(ctx, bo_curve_make(ctx, name, 1, times, values, &curves[1]));
    name[0] = 'x', times[0] = 7, values[0] = 9;
    check_int(bo_curve_find(2, curves, "lift"), 1);
    check_int(bo_curve_find(2, curves, "xift"), -1);
    check_near(bo_curve_at(&curves[0], 0.5), 3.5, 1e-15);
    check_near(bo_curve_at(&curves[1], 3), 2, 0);
    for (int i = 0; i < 2; i++)
        bo_curve_free(ctx, &curves[i]);
    bough_context_destroy(ctx);
}

static void memory_may_be_short(void **state) {
    (void)state;
    const double times[] = {0, 1}, values[] = {2, 5};
    for (long fail_at = 1;; fail_at++) {
        test_memory memory = {.fail_at = fail_at};
        bough_context *ctx = test_counting_context(&memory);
        bo_curve curve;
        const bough_status status = bo_curve_make(ctx, "lift", 2, times, values, &curve);
        bo_curve_free(ctx, &curve);
        bough_context_destroy(ctx);
        check_int(memory.live, 0);
        if (status == BOUGH_OK)
            break;
        check_int(status, BOUGH_ERROR_MEMORY);
    }
}

/* A motor goes where its curve does, scaled, and as fast. */
static void motors_follow_their_curves(void **state) {
    (void)state;
    double times[] = {0, 1, 2}, values[] = {1, 3, -1};
    const bo_curve curves[] = {{.count = 1, .times = times, .values = values},
                               {.count = 3, .times = times, .values = values}};
    const bo_motor motor = {.curve = 1, .scale = -0.5};
    const double h = 1e-6;
    for (double t = -0.95; t < 3; t += 0.1) {
        const double more = bo_motor_offset(&motor, curves, t + h), less = bo_motor_offset(&motor, curves, t - h);
        check_near(bo_motor_offset(&motor, curves, t), -0.5 * bo_curve_at(&curves[1], t), 0);
        check_near((more - less) / (2 * h), bo_motor_rate(&motor, curves, t), 1e-8);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curves_are_integrated_exactly),
        cmocka_unit_test(the_integral_of_a_curve_is_the_area_below_it),
        cmocka_unit_test(curves_are_copies_and_are_found_by_name),
        cmocka_unit_test(memory_may_be_short),
        cmocka_unit_test(motors_follow_their_curves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
