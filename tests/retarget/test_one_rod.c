/* A rod that is turned by 30 degrees in 0.3 s and vibrates: the curve of its motor is changed until it does not. */
#include "one_rod_problem.h"

#include "retarget/lbfgs.h"

static void a_rod_stops_to_vibrate(void **unused) {
    (void)unused;
    static rod_problem p;
    if (TEST_SANITIZED)
        test_skip("a hundred simulations are too slow in this build");
    if (!open_rod_problem(&p))
        test_skip("no reference data");
    double value, *x = p.curves->points;
    check_ok(p.ctx, bough_adjoint_value(p.ctx, p.adjoint, x, &value));
    const double before = deviation(&p, true), before_all = deviation(&p, false);
    const bo_lbfgs search = {.n = ROD_POINTS,
                             .evaluate = evaluate_rod,
                             .data = &p,
                             .first_step = 0.02,
                             .least_decrease = 1e-4,

                             .max_iterations = 100};
    bo_lbfgs_result result;
    check_ok(p.ctx, bo_lbfgs_run(p.ctx, &search, x, &result));
    check_ok(p.ctx, bough_adjoint_value(p.ctx, p.adjoint, x, &value));
    const double after = deviation(&p, true), after_all = deviation(&p, false);
    printf("pauses: %.2f cm before, %.4f cm after; always: %.2f, %.4f cm; %d iterations, %d gradients\n", 100 * before,
           100 * after, 100 * before_all, 100 * after_all, result.iterations, result.evaluations);
    check_near(before, 0.174, 0.001);
    check_below(after, 1e-3);
    close_rod_problem(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_rod_stops_to_vibrate)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
