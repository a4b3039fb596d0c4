/* Gauss and Newton's method on motions of rods, beside L-BFGS. */
#include "motions.h"
#include "one_rod_problem.h"

#include "retarget/box_quadratic.h"
#include "retarget/gauss_newton.h"
#include "retarget/lbfgs.h"

#include <time.h>

enum { ALL = POINTS * MOST_MOTORS };

static double cpu_seconds(void) {
    return (double)clock() / CLOCKS_PER_SEC;
}

/* ---- quadratic functions within bounds ---- */

/* At the least point the slope leads outwards where a bound holds, and vanishes elsewhere. */
static void least_points_within_bounds_have_no_way_down(void **unused) {
    (void)unused;
    enum { N = 25 };
    bough_context *ctx = test_context(1);
    bo_box_quadratic box;
    test_random random = {9};
    double A[N * N], B[N * N], g[N], lowest[N], highest[N], x[N];
    check_ok(ctx, bo_box_quadratic_make(ctx, N, &box));
    for (int trial = 0; trial < 100; trial++) {
        int held = 0;
        for (int i = 0; i < N * N; i++)
            B[i] = test_uniform(&random, -1, 1) * exp(test_uniform(&random, -2, 2));
        for (int i = 0; i < N; i++) {
            g[i] = test_uniform(&random, -5, 5);
            lowest[i] = i % 5 == 0 ? 0 : i % 3 == 0 ? -INFINITY : -test_uniform(&random, 0, 0.5);
            highest[i] = i % 4 == 0 ? INFINITY : test_uniform(&random, 0, 0.5);
            for (int j = 0; j < N; j++) {
                A[N * i + j] = i == j ? 0.1 : 0;
                for (int k = 0; k < N; k++)
                    A[N * i + j] += B[N * i + k] * B[N * j + k];
            }
        }
        check(bo_box_quadratic_solve(&box, A, g, lowest, highest, x));
        for (int i = 0; i < N; i++) {
            double slope = g[i];
            for (int j = 0; j < N; j++)
                slope += A[N * i + j] * x[j];
            check(x[i] >= lowest[i] && x[i] <= highest[i]);
            const bool low = x[i] == lowest[i], high = x[i] == highest[i];
            held += low || high;
            check(low ? slope >= -1e-5 : high ? slope <= 1e-5 : fabs(slope) <= 1e-5);
        }
        check(held > 0 && held < N);
    }
    A[0] = -1, lowest[0] = -1, highest[0] = 1;
    check(!bo_box_quadratic_solve(&box, A, g, lowest, highest, x));
    bo_box_quadratic_free(ctx, &box);
    bough_context_destroy(ctx);
}

/* ---- the rod ---- */

static double copy_points(const rod_problem *p, double *x) {
    memcpy(x, p->curves->points, ROD_POINTS * sizeof *x);
    return cpu_seconds();
}

static void few_iterations_do_what_many_gradients_do(void **unused) {
    (void)unused;
    static rod_problem p;
    if (TEST_SANITIZED)
        test_skip("a hundred simulations are too slow in this build");
    if (!open_rod_problem(&p))
        test_skip("no reference data");
    double x[ROD_POINTS], value, start = copy_points(&p, x);
    const bo_gauss_newton search = {.adjoint = p.adjoint, .least_decrease = 1e-3, .max_iterations = 40};
    bo_gauss_newton_result result;
    check_ok(p.ctx, bo_gauss_newton_run(p.ctx, &search, x, &result));
    const double seconds = cpu_seconds() - start;
    check_ok(p.ctx, bough_adjoint_value(p.ctx, p.adjoint, x, &value));
    printf("Gauss-Newton: %.5g to %.8g, %d iterations, %d simulations, %.2f s; %.4f cm in pauses\n",
           SCALE * result.first_value, SCALE * value, result.iterations, result.simulations, seconds,
           100 * deviation(&p, true));
    check(result.converged && value == result.value);
    check_below(deviation(&p, true), 1e-3);
    const bo_gauss_newton more = {.adjoint = p.adjoint, .least_decrease = 1e-7, .max_iterations = 40};
    for (int i = 0; i < 2; i++) { /* a search that begins at its end has nothing left to gain, and says so */
        check_ok(p.ctx, bo_gauss_newton_run(p.ctx, &more, x, &result));
        check(result.converged);
    }
    start = copy_points(&p, x);
    const bo_lbfgs other = {.n = ROD_POINTS,
                            .evaluate = evaluate_rod,
                            .data = &p,
                            .first_step = 0.02,
                            .least_decrease = 1e-4,
                            .max_iterations = 100};
    bo_lbfgs_result by_gradients;
    check_ok(p.ctx, bo_lbfgs_run(p.ctx, &other, x, &by_gradients));
    printf("L-BFGS: to %.8g, %d iterations, %d gradients, %.2f s\n", by_gradients.value, by_gradients.iterations,
           by_gradients.evaluations, cpu_seconds() - start);
    check(SCALE * value < by_gradients.value && 4 * result.iterations < by_gradients.iterations);
    close_rod_problem(&p);
}

/* ---- small systems ---- */

static bo_gauss_newton search_of(const problem *p) {
    return (bo_gauss_newton){.adjoint = p->adjoint, .least_slope = 1e-7, .max_iterations = 50};
}

static void open_motion(problem *p, void (*fill)(problem *p), int32_t threads) {
    fill(p);
    bough_context_destroy(p->b->ctx);
    p->b->ctx = test_context(threads);
    finish_problem(p);
    p->def.tolerance = 1e-10;
}

/* At the end the gradient leads outwards where a bound holds, and vanishes elsewhere. Held points stay. */
static void bounds_hold(void **unused) {
    (void)unused;
    problem p;
    double x[ALL], lower[ALL], upper[ALL], g[ALL], value;
    open_motion(&p, geared, 2);
    make_adjoint(&p);
    int held = 0;
    for (int i = 0; i < ALL; i++)
        x[i] = p.curves->points[i], lower[i] = x[i] - 0.05, upper[i] = i % 4 == 0 ? INFINITY : x[i] + 0.1;
    bo_gauss_newton search = search_of(&p);
    bo_gauss_newton_result result;
    search.lower = lower, search.upper = upper;
    check_ok(p.b->ctx, bo_gauss_newton_run(p.b->ctx, &search, x, &result));
    check_ok(p.b->ctx, bough_adjoint_gradient(p.b->ctx, p.adjoint, x, &value, g, NULL));
    check(value == result.value && value < result.first_value);
    for (int i = 0; i < ALL; i++)
        held += x[i] == lower[i] || x[i] == upper[i];
    printf("%d of %d at bounds; %d iterations, %d simulations, slope %.2g\n", held, ALL, result.iterations,
           result.simulations, result.slope);
    for (int i = 0; i < ALL; i++) {
        const bool low = x[i] == lower[i], high = x[i] == upper[i];
        check(x[i] >= lower[i] && x[i] <= upper[i]);
        check(low ? g[i] >= -1e-7 : high ? g[i] <= 1e-7 : fabs(g[i]) <= 1e-7);
        check(i % POINTS >= 3 || x[i] == p.curves->points[i]);
    }
    check(result.converged && held > 0 && held < ALL / 2);
    free_problem(&p);
}

static void threads_change_no_bit(void **unused) {
    (void)unused;
    double x[2][ALL], values[2];
    for (int k = 0; k < 2; k++) {
        problem p;
        open_motion(&p, two_rods, k + 1);
        make_adjoint(&p);
        bo_gauss_newton search = search_of(&p);
        bo_gauss_newton_result result;
        search.max_iterations = 4;
        memcpy(x[k], p.curves->points, sizeof x[k]);
        check_ok(p.b->ctx, bo_gauss_newton_run(p.b->ctx, &search, x[k], &result));
        values[k] = result.value;
        check_int(result.iterations, 4);
        free_problem(&p);
    }
    check(values[0] == values[1] && memcmp(x[0], x[1], sizeof x[0]) == 0);
}

/* The motor must be slow: kinetic energy of the first body. */
static void energy(void *data, int32_t step, const double *u, const double *v, const double *lambda, double *value,
                   double *by_displacement, double *by_velocity, double *by_multiplier) {
    (void)data, (void)step, (void)u, (void)lambda, (void)by_displacement, (void)by_multiplier;
    for (int i = 0; i < 6; i++) {
        *value += 0.05 * v[6 + i] * v[6 + i];
        if (by_velocity)
            by_velocity[6 + i] += 0.1 * v[6 + i];
    }
}

static void terms_without_curvature_are_made_small_too(void **unused) {
    (void)unused;
    problem p;
    double x[ALL], g[ALL], value;
    open_motion(&p, two_rods, 1);
    p.def.term = energy;
    make_adjoint(&p);
    bo_gauss_newton search = search_of(&p);
    bo_gauss_newton_result result;
    search.least_slope = 1e-6, search.max_iterations = 100;
    memcpy(x, p.curves->points, sizeof x);
    check_ok(p.b->ctx, bo_gauss_newton_run(p.b->ctx, &search, x, &result));
    check_ok(p.b->ctx, bough_adjoint_gradient(p.b->ctx, p.adjoint, x, &value, g, NULL));
    printf("with a term: %.4g to %.4g, %d iterations, %d simulations, slope %.2g\n", result.first_value, value,
           result.iterations, result.simulations, result.slope);
    check(result.converged && value < result.first_value);
    for (int i = 0; i < ALL; i++)
        check_near(g[i], 0, 1e-6);
    free_problem(&p);
}

/* The first body may not go further than a wall. */
typedef struct {
    double sign, wall, furthest; /* m, along x or against it */
    int refused;
} fence;

static void refuse(void *data, int32_t step, const double *u, const double *v, const double *lambda, double *value,
                   double *by_displacement, double *by_velocity, double *by_multiplier) {
    fence *f = data;
    (void)v, (void)lambda, (void)by_displacement, (void)by_velocity, (void)by_multiplier;
    f->furthest = fmax(step == 0 ? -INFINITY : f->furthest, f->sign * u[0]);
    if (f->sign * u[0] > f->wall)
        *value = INFINITY, f->refused++;
}

static double reach_of(problem *p, fence *f, const double *x) {
    double value;
    check_ok(p->b->ctx, bough_adjoint_value(p->b->ctx, p->adjoint, x, &value));
    return f->furthest;
}

/* Motions that fail are infinitely bad: the search stays on this side of them. */
static void motions_that_are_refused_are_avoided(void **unused) {
    (void)unused;
    problem p;
    double x[ALL], best[ALL];
    fence f = {.sign = 1, .wall = INFINITY};
    bo_gauss_newton_result result;
    open_motion(&p, geared, 1);
    p.def.term = refuse, p.def.term_data = &f;
    make_adjoint(&p);
    const bo_gauss_newton search = search_of(&p);
    memcpy(x, p.curves->points, sizeof x), memcpy(best, x, sizeof x);
    check_ok(p.b->ctx, bo_gauss_newton_run(p.b->ctx, &search, best, &result));
    const double least = result.value;
    f.sign = reach_of(&p, &f, best) > reach_of(&p, &f, x) ? 1 : -1;
    const double at_first = reach_of(&p, &f, x), at_best = reach_of(&p, &f, best);
    check(at_best > at_first);
    f.wall = at_first + 0.5 * (at_best - at_first);
    check_ok(p.b->ctx, bo_gauss_newton_run(p.b->ctx, &search, x, &result));
    printf("%d simulations, refused in %d steps: %.4g to %.4g; without a wall %.4g\n", result.simulations, f.refused,
           result.first_value, result.value, least);
    check(f.refused > 0 && reach_of(&p, &f, x) <= f.wall);
    check(result.value < result.first_value && result.value > least);
    free_problem(&p);
}

/* ---- those who stop it ---- */

typedef struct {
    int told, stop_at;
    double values[8];
} listener;

static bool listen(bough_context *ctx, void *data, int32_t iteration, const double *x, double value, double slope) {
    listener *l = data;
    (void)ctx, (void)x, (void)slope;
    l->values[l->told++] = value;
    return iteration < l->stop_at;
}

static void a_search_that_is_stopped_leaves_its_best(void **unused) {
    (void)unused;
    problem p;
    double x[ALL], value;
    listener l = {.stop_at = 2};
    bo_gauss_newton_result result;
    open_motion(&p, two_rods, 1);
    make_adjoint(&p);
    bo_gauss_newton search = search_of(&p);
    search.tell = listen, search.data = &l;
    memcpy(x, p.curves->points, sizeof x);
    check_int(bo_gauss_newton_run(p.b->ctx, &search, x, &result), BOUGH_CANCELLED);
    check_int(l.told, 2);
    check_ok(p.b->ctx, bough_adjoint_value(p.b->ctx, p.adjoint, x, &value));
    check(value == result.value && value == l.values[1] && value < l.values[0] && value < result.first_value);
    free_problem(&p);
}

static void memory_that_fails_is_given_back(void **unused) {
    (void)unused;
    problem p;
    open_motion(&p, two_rods, 1);
    make_adjoint(&p);
    bo_gauss_newton search = search_of(&p);
    search.max_iterations = 1;
    for (long fail_at = 0;; fail_at += 3) {
        test_memory memory = {.fail_at = -1};
        bough_context *ctx = test_counting_context(&memory);
        const long live = memory.live;
        double x[ALL];
        bo_gauss_newton_result result;
        memory.calls = 0, memory.fail_at = fail_at;
        memcpy(x, p.curves->points, sizeof x);
        const bough_status status = bo_gauss_newton_run(ctx, &search, x, &result);
        check_int(memory.live, live);
        bough_context_destroy(ctx);
        if (status == BOUGH_OK)
            break;
        check_int(status, BOUGH_ERROR_MEMORY);
    }
    free_problem(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(least_points_within_bounds_have_no_way_down),
                                       cmocka_unit_test(few_iterations_do_what_many_gradients_do),
                                       cmocka_unit_test(bounds_hold),
                                       cmocka_unit_test(threads_change_no_bit),
                                       cmocka_unit_test(terms_without_curvature_are_made_small_too),
                                       cmocka_unit_test(motions_that_are_refused_are_avoided),
                                       cmocka_unit_test(a_search_that_is_stopped_leaves_its_best),
                                       cmocka_unit_test(memory_that_fails_is_given_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
