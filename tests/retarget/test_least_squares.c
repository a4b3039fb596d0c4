#include "test.h"

#include "retarget/least_squares.h"

/* A straight line through points: what textbooks have in closed form. */
enum { POINTS = 20 };
typedef struct {
    double t[POINTS], y[POINTS];
    int refused;
} points;

static bough_status line(bough_context *ctx, void *data, const double *x, double *r) {
    const points *p = data;
    (void)ctx;
    for (int i = 0; i < POINTS; i++)
        r[i] = x[0] + x[1] * p->t[i] - p->y[i];
    return BOUGH_OK;
}

static bough_status line_slopes(bough_context *ctx, void *data, const double *x, double *J) {
    const points *p = data;
    (void)ctx, (void)x;
    for (int i = 0; i < POINTS; i++)
        J[i] = 1, J[POINTS + i] = p->t[i];
    return BOUGH_OK;
}

static bo_least_squares wide_problem(int32_t n, int32_t p, void *data) {
    bo_least_squares problem = {.n = n, .p = p, .data = data, .least_step = 1e-6, .max_iterations = 100};
    for (int32_t i = 0; i < p; i++)
        problem.most_step[i] = 1e3, problem.lowest[i] = -1e6, problem.highest[i] = 1e6;
    return problem;
}

static void a_line_has_the_variances_of_textbooks(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    test_random random = {4};
    points p = {0};
    double s0 = POINTS, s1 = 0, s2 = 0, x[2] = {0, 0}, C[4], d[2];
    bool still[2];
    for (int i = 0; i < POINTS; i++) {
        p.t[i] = test_uniform(&random, 1, 5), p.y[i] = 3 - 0.5 * p.t[i];
        s1 += p.t[i], s2 += p.t[i] * p.t[i];
    }
    bo_least_squares problem = wide_problem(POINTS, 2, &p);
    problem.residual = line, problem.jacobian = line_slopes;
    bo_least_squares_room room = {0};
    bo_least_squares_result result;
    check_ok(ctx, bo_least_squares_make(ctx, POINTS, 2, &room));
    check_ok(ctx, bo_least_squares_run(ctx, &problem, &room, x, &result));
    check(result.converged);
    check_near(x[0], 3, 1e-9);
    check_near(x[1], -0.5, 1e-9);
    bo_least_squares_covariance(POINTS, 2, room.J, 1e-9, still, C);
    const double det = s0 * s2 - s1 * s1;
    check_near(C[0], s2 / det, 1e-11);
    check_near(C[1], -s1 / det, 1e-11);
    check_near(C[3], s0 / det, 1e-11);
    check(!still[0] && !still[1]);
    /* All that is measured rises by 0.1, and so does the line. */
    for (int i = 0; i < POINTS; i++)
        room.trial[i] = 0.1;
    bo_least_squares_follow(POINTS, 2, room.J, C, room.trial, d);
    check_near(d[0], 0.1, 1e-11);
    check_near(d[1], 0, 1e-11);
    bo_least_squares_free(ctx, &room);
    bough_context_destroy(ctx);
}

/* Rosenbrock's valley, with a region that refuses to be evaluated. */
static bough_status valley(bough_context *ctx, void *data, const double *x, double *r) {
    points *p = data;
    if (x[0] > 1.5 || x[1] > 3) {
        p->refused++;
        return bo_fail(ctx, BOUGH_NO_CONVERGENCE, "out there nothing works");
    }
    r[0] = 10 * (x[1] - x[0] * x[0]), r[1] = 1 - x[0], r[2] = 0;
    return BOUGH_OK;
}

static bough_status valley_slopes(bough_context *ctx, void *data, const double *x, double *J) {
    (void)ctx, (void)data;
    const double rows[6] = {-20 * x[0], -1, 0, 10, 0, 0};
    memcpy(J, rows, sizeof rows);
    return BOUGH_OK;
}

static void the_bottom_of_a_bent_valley_is_found(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    points p = {0};
    double x[2] = {-1.2, 1};
    bo_least_squares problem = wide_problem(3, 2, &p);
    problem.residual = valley, problem.jacobian = valley_slopes;
    bo_least_squares_room room = {0};
    bo_least_squares_result result;
    check_ok(ctx, bo_least_squares_make(ctx, 3, 2, &room));
    check_ok(ctx, bo_least_squares_run(ctx, &problem, &room, x, &result));
    check(result.converged && result.iterations < 60);
    check_near(x[0], 1, 1e-6);
    check_near(x[1], 1, 1e-6);
    /* The search ends at a bound that is in the way. */
    x[0] = -1.2, x[1] = 1, problem.highest[0] = 0.5;
    check_ok(ctx, bo_least_squares_run(ctx, &problem, &room, x, &result));
    check(x[0] <= 0.5);
    /* A start that is refused is the caller's mistake. */
    x[0] = 2;
    check_fails(ctx, bo_least_squares_run(ctx, &problem, &room, x, &result), BOUGH_NO_CONVERGENCE, "nothing works");
    bo_least_squares_free(ctx, &room);
    bough_context_destroy(ctx);
}

/* Two parameters that only their sum tells of, and one that nothing does. */
static void what_is_not_determined_has_a_huge_variance(void **state) {
    (void)state;
    double J[3 * POINTS], C[9];
    bool still[3];
    for (int i = 0; i < POINTS; i++)
        J[i] = J[POINTS + i] = sin(i), J[2 * POINTS + i] = 0;
    bo_least_squares_covariance(POINTS, 3, J, 1e-9, still, C);
    check(!still[0] && !still[1] && still[2]);
    check(C[0] > 1e6 && C[4] > 1e6 && C[8] == 0);
    check_near(C[1] / sqrt(C[0] * C[4]), -1, 2e-11);
}

static void quantiles_are_those_of_tables(void **state) {
    (void)state;
    check_near(bo_student_95(10), 2.2281, 1e-3);
    check_near(bo_student_95(30), 2.0423, 2e-4);
    check_near(bo_student_95(1200), 1.9619, 1e-4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_has_the_variances_of_textbooks),
        cmocka_unit_test(the_bottom_of_a_bent_valley_is_found),
        cmocka_unit_test(what_is_not_determined_has_a_huge_variance),
        cmocka_unit_test(quantiles_are_those_of_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
