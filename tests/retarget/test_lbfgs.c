#include "test.h"

#include "retarget/lbfgs.h"

typedef struct {
    int n, refused;
    double wall; /* x[0] beyond it is refused */
    const double *centre, *weights;
    int told, stop_at;
} function;

/* 100 (x1 - x0^2)^2 + (1 - x0)^2, for each pair of variables. */
static bough_status rosenbrock(bough_context *ctx, void *data, const double *x, double *value, double *g) {
    function *f = data;
    (void)ctx;
    if (x[0] > f->wall) {
        f->refused++;
        return BOUGH_NO_CONVERGENCE;
    }
    *value = 0;
    for (int i = 0; i < f->n; i += 2) {
        const double a = x[i + 1] - x[i] * x[i], b = 1 - x[i];
        *value += 100 * a * a + b * b;
        g[i] = -400 * a * x[i] - 2 * b, g[i + 1] = 200 * a;
    }
    return BOUGH_OK;
}

/* Weighted squares of distances, and of the sum of all. */
static bough_status bowl(bough_context *ctx, void *data, const double *x, double *value, double *g) {
    const function *f = data;
    (void)ctx;
    double sum = 0;
    for (int i = 0; i < f->n; i++)
        sum += x[i] - f->centre[i];
    *value = 0.5 * sum * sum;
    for (int i = 0; i < f->n; i++) {
        const double away = x[i] - f->centre[i];
        *value += 0.5 * f->weights[i] * away * away, g[i] = f->weights[i] * away + sum;
    }
    return BOUGH_OK;
}

static bool stop_early(bough_context *ctx, void *data, int32_t iteration, const double *x, double value, double slope) {
    function *f = data;
    (void)ctx, (void)x, (void)value, (void)slope;
    f->told++;
    return iteration < f->stop_at;
}

static bo_lbfgs problem_of(int n, void *data) {
    return (bo_lbfgs){.n = n, .data = data, .first_step = 0.1, .least_slope = 1e-9, .max_iterations = 300};
}

static void the_valley_of_rosenbrock_is_followed_to_its_end(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    for (int n = 2; n <= 40; n += 38) {
        function f = {.n = n, .wall = INFINITY};
        bo_lbfgs problem = problem_of(n, &f);
        bo_lbfgs_result result;
        double x[40];
        for (int i = 0; i < n; i++)
            x[i] = i % 2 ? 1 : -1.2 + 0.01 * i;
        problem.evaluate = rosenbrock;
        check_ok(ctx, bo_lbfgs_run(ctx, &problem, x, &result));
        printf("%d variables: %d iterations, %d evaluations, value %.2g, slope %.2g\n", n, result.iterations,
               result.evaluations, result.value, result.slope);
        check(result.converged);
        check(result.evaluations < 250);
        for (int i = 0; i < n; i++)
            check_near(x[i], 1, 1e-8);
    }
    bough_context_destroy(ctx);
}

/* Simulations fail for some curves: the search goes on beside them. */
static void points_that_are_refused_are_avoided(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    function f = {.n = 2, .wall = 1.02};
    bo_lbfgs problem = problem_of(2, &f);
    bo_lbfgs_result result;
    double x[2] = {-1.2, 1};
    problem.evaluate = rosenbrock, problem.first_step = 10;
    check_ok(ctx, bo_lbfgs_run(ctx, &problem, x, &result));
    check(f.refused > 0 && result.converged);
    check_near(x[0], 1, 1e-8);
    bough_context_destroy(ctx);
}

/* At the least point within bounds the gradient leads outwards where a bound holds, and vanishes elsewhere. */
static void bounds_hold(void **unused) {
    (void)unused;
    enum { N = 30 };
    bough_context *ctx = test_context(1);
    test_random random = {3};
    int worst = 0;
    double centre[N], weights[N], lower[N], upper[N], x[N], g[N], value;
    for (int trial = 0; trial < 20; trial++) {
        function f = {.n = N, .centre = centre, .weights = weights};
        bo_lbfgs problem = problem_of(N, &f);
        bo_lbfgs_result result;
        for (int i = 0; i < N; i++) {
            centre[i] = test_uniform(&random, -2, 2), weights[i] = exp(test_uniform(&random, -3, 5));
            lower[i] = i % 3 == 0 ? -INFINITY : -1, upper[i] = i % 4 == 0 ? INFINITY : 0.5;
            x[i] = test_uniform(&random, -3, 3);
        }
        problem.least_slope = 1e-5; /* the value has no more digits */
        problem.evaluate = bowl, problem.lower = lower, problem.upper = upper;
        check_ok(ctx, bo_lbfgs_run(ctx, &problem, x, &result));
        if (!result.converged)
            printf("trial %d: slope %.2g after %d iterations\n", trial, result.slope, result.iterations);
        check(result.converged);
        worst = result.evaluations > worst ? result.evaluations : worst;
        bowl(ctx, &f, x, &value, g);
        int held = 0;
        for (int i = 0; i < N; i++) {
            check(x[i] >= lower[i] && x[i] <= upper[i]);
            const bool low = x[i] == lower[i], high = x[i] == upper[i];
            held += low || high;
            check(low ? g[i] >= -1e-5 : high ? g[i] <= 1e-5 : fabs(g[i]) <= 1e-5);
        }
        check(held > 0 && held < N);
    }
    printf("at most %d evaluations\n", worst);
    check(worst < 200);
    bough_context_destroy(ctx);
}

static void a_search_that_is_stopped_leaves_its_best(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    function f = {.n = 2, .wall = INFINITY, .stop_at = 5};
    bo_lbfgs problem = problem_of(2, &f);
    bo_lbfgs_result result;
    double x[2] = {-1.2, 1}, g[2], value = 0;
    problem.evaluate = rosenbrock, problem.tell = stop_early;
    check_int(bo_lbfgs_run(ctx, &problem, x, &result), BOUGH_CANCELLED);
    check_int(f.told, 5);
    rosenbrock(ctx, &f, x, &value, g);
    check(value == result.value && value < result.first_value);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_valley_of_rosenbrock_is_followed_to_its_end),
                                       cmocka_unit_test(points_that_are_refused_are_avoided),
                                       cmocka_unit_test(bounds_hold),
                                       cmocka_unit_test(a_search_that_is_stopped_leaves_its_best)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
