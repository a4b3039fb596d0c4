/* Potentials of contact: the barrier in the distance, and smooth friction. */
#include "test.h"

#include "contact/barrier.h"

static void slope_and_bend_are_those_of_differences(void **unused) {
    (void)unused;
    test_random r = {1};
    for (int i = 0; i < 1000; i++) {
        const double support = pow(10, test_uniform(&r, -4, 0)), d = support * test_uniform(&r, 0.01, 0.999),
                     h = 2e-5 * d;
        const bo_barrier b = bo_barrier_at(d, support), more = bo_barrier_at(d + h, support),
                         less = bo_barrier_at(d - h, support);
        check_near((more.value - less.value) / (2 * h), b.slope, 1e-7 * (fabs(b.slope) + support));
        check_near((more.slope - less.slope) / (2 * h), b.bend, 1e-7 * (b.bend + 1));
        check(b.value > 0 && b.slope < 0 && b.bend > 0); /* repels, the more the nearer */
    }
}

static void the_barrier_ends_smoothly_at_its_support(void **unused) {
    (void)unused;
    const double support = 0.02, e = 1e-6;
    const bo_barrier inside = bo_barrier_at(support * (1 - e), support), at = bo_barrier_at(support, support),
                     beyond = bo_barrier_at(3 * support, support);
    check_near(inside.value, 0, 1.01 * support * support * e * e * e);
    check_near(inside.slope, 0, 3.01 * support * e * e);
    check_near(inside.bend, 0, 6.01 * e);
    check(at.value == 0 && at.slope == 0 && at.bend == 0);
    check(beyond.value == 0 && beyond.slope == 0 && beyond.bend == 0);
}

static void the_barrier_has_no_end_at_the_obstacle(void **unused) {
    (void)unused;
    const double support = 0.02;
    check_near(bo_barrier_at(0.5 * support, support).slope, -(log(2) + 0.5) * support, 1e-15);
    double last = 0;
    for (double d = support / 2; d > 1e-150; d /= 10) { /* forces grow as D^2 / d */
        const bo_barrier b = bo_barrier_at(d, support);
        check(-b.slope > 2 * last && isfinite(b.value) && isfinite(b.slope) && isfinite(b.bend));
        check(-b.slope * d >= 0.25 * support * support);
        last = -b.slope;
    }
    const double none[3] = {0, -1, NAN};
    for (int k = 0; k < 3; k++) {
        const bo_barrier b = bo_barrier_at(none[k], support);
        check(b.value == INFINITY && b.slope == -INFINITY && b.bend == INFINITY);
    }
}

static void friction_is_the_slope_of_its_potential(void **unused) {
    (void)unused;
    test_random r = {2};
    for (int i = 0; i < 1000; i++) {
        const double e = pow(10, test_uniform(&r, -4, 0)), y = e * test_uniform(&r, 0.01, 3), h = 1e-5 * y;
        if (fabs(y - e) < 2 * h)
            continue;
        const bo_friction f = bo_friction_at(y, e), more = bo_friction_at(y + h, e), less = bo_friction_at(y - h, e);
        const double s = f.over * y;
        check_near((more.potential - less.potential) / (2 * h), s, 1e-9);
        check_near((more.over * (y + h) - less.over * (y - h)) / (2 * h) * e, f.slope * e, 1e-9);
        check(s > 0 && s <= 1 + 1e-15 && f.slope >= 0);
        check_near(s, y < e ? 1 - (1 - y / e) * (1 - y / e) : 1, 1e-14);
    }
}

static void friction_is_continuous(void **unused) {
    (void)unused;
    const double e = 1e-3, hair = 1e-9;
    const bo_friction slow = bo_friction_at(e * (1 - hair), e), fast = bo_friction_at(e * (1 + hair), e),
                      rest = bo_friction_at(0, e);
    check_near(slow.potential, fast.potential, 3 * hair * e);
    check_near(slow.over * e, fast.over * e, 3 * hair);
    check_near(slow.slope * e, fast.slope * e, 3 * hair);
    check_near(fast.potential, 2.0 / 3 * e, 3 * hair * e);
    check(rest.potential == 0);
    check_near(rest.over, 2 / e, 1e-12 / e);
    check_near(rest.slope, 2 / e, 1e-12 / e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slope_and_bend_are_those_of_differences),
        cmocka_unit_test(the_barrier_ends_smoothly_at_its_support),
        cmocka_unit_test(the_barrier_has_no_end_at_the_obstacle),
        cmocka_unit_test(friction_is_the_slope_of_its_potential),
        cmocka_unit_test(friction_is_continuous),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
