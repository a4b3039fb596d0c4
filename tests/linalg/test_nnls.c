/* Non-negative least squares: against all active sets tried one by one, its optimality conditions, sparse solutions. */
#include "test.h"

#include "base/threads.h"
#include "dense/cholesky.h"
#include "linalg/nnls.h"

static float *random_matrix(test_random *random, int32_t rows, int32_t columns, double lower) {
    float *G = malloc((size_t)rows * (size_t)columns * sizeof *G);
    for (size_t i = 0; i < (size_t)rows * (size_t)columns; i++)
        G[i] = (float)test_uniform(random, lower, 1);
    return G;
}

static double product(int32_t rows, const float *a, const double *b) {
    double sum = 0;
    for (int32_t i = 0; i < rows; i++)
        sum += (double)a[i] * b[i];
    return sum;
}

/* b - G x for the columns in `chosen` */
static void subtract(const bo_nnls *p, int32_t count, const int32_t *chosen, const double *x, double *residual) {
    memcpy(residual, p->b, (size_t)p->rows * sizeof *residual);
    for (int32_t k = 0; k < count; k++)
        for (int32_t i = 0; i < p->rows; i++)
            residual[i] -= x[k] * (double)p->G[(size_t)chosen[k] * (size_t)p->rows + (size_t)i];
}

/* |G x - b| of the least squares on one set of columns; infinite when a factor is negative. */
static double residual_of_set(const bo_nnls *p, unsigned set) {
    int32_t chosen[8], count = 0;
    double A[64], x[8], residual[16];
    for (int32_t j = 0; j < p->columns; j++)
        if (set >> j & 1)
            chosen[count++] = j;
    for (int32_t i = 0; i < count; i++) {
        const float *a = p->G + chosen[i] * p->rows;
        x[i] = product(p->rows, a, p->b);
        for (int32_t j = 0; j < count; j++) {
            A[count * i + j] = 0;
            for (int32_t k = 0; k < p->rows; k++)
                A[count * i + j] += (double)a[k] * (double)p->G[chosen[j] * p->rows + k];
        }
    }
    if (!bo_cholesky_factor(count, A))
        return INFINITY;
    bo_cholesky_solve(count, A, x);
    for (int32_t i = 0; i < count; i++)
        if (x[i] < 0)
            return INFINITY;
    subtract(p, count, chosen, x, residual);
    double sum = 0;
    for (int32_t i = 0; i < p->rows; i++)
        sum += residual[i] * residual[i];
    return sqrt(sum);
}

static void no_other_set_of_columns_is_better(void **state) {
    (void)state;
    enum { ROWS = 10, COLUMNS = 8 };
    bough_context *ctx = test_context(1);
    test_random random = {1};
    for (int trial = 0; trial < 200; trial++) {
        float *G = random_matrix(&random, ROWS, COLUMNS, -1);
        double b[ROWS], length = 0, best = INFINITY;
        for (int i = 0; i < ROWS; i++)
            b[i] = test_uniform(&random, -1, 1), length += b[i] * b[i];
        bo_nnls problem = {ROWS, COLUMNS, G, b, 0, COLUMNS, NULL, NULL};
        bo_nnls_result result;
        check_ok(ctx, bo_nnls_solve(ctx, &problem, &result));
        for (unsigned set = 0; set < 1u << COLUMNS; set++)
            best = fmin(best, residual_of_set(&problem, set));
        check_near(result.residual * sqrt(length), best, 1e-12 * best);
        bo_nnls_free(ctx, &result);
        free(G);
    }
    bough_context_destroy(ctx);
}

/* x > 0 where the gradient G^T (b - G x) is zero, x = 0 where it is not positive. */
static void optimality_conditions_hold(void **state) {
    (void)state;
    enum { ROWS = 300, COLUMNS = 500 };
    bough_context *ctx = test_context(2);
    test_random random = {2};
    float *G = random_matrix(&random, ROWS, COLUMNS, -1);
    double b[ROWS], residual[ROWS];
    for (int i = 0; i < ROWS; i++)
        b[i] = test_uniform(&random, -1, 1);
    bo_nnls problem = {ROWS, COLUMNS, G, b, 0, ROWS, NULL, NULL};
    bo_nnls_result result;
    check_ok(ctx, bo_nnls_solve(ctx, &problem, &result));
    check(result.count > 50 && result.count < 250);
    subtract(&problem, result.count, result.active, result.x, residual);
    double scale = sqrt(ROWS) * sqrt(ROWS) / 3; /* length of a column times that of b */
    for (int32_t j = 0; j < COLUMNS; j++)
        check_below(product(ROWS, G + j * ROWS, residual) / scale, 1e-8);
    for (int32_t k = 0; k < result.count; k++) {
        check(result.x[k] > 0);
        check_near(product(ROWS, G + result.active[k] * ROWS, residual) / scale, 0, 1e-12);
    }
    bo_nnls_free(ctx, &result);
    free(G);
    bough_context_destroy(ctx);
}

/* b is made of `wanted` columns; more unknowns than equations. */
static void recover(bough_context *ctx, int32_t rows, int32_t columns, int32_t wanted, bool duplicates) {
    test_random random = {3};
    float *G = random_matrix(&random, rows, columns, -1);
    double *b = calloc((size_t)rows, sizeof *b), *x = calloc((size_t)columns, sizeof *x);
    if (duplicates) /* every column twice, some with another length */
        for (int32_t j = columns / 2; j < columns; j++)
            for (int32_t i = 0; i < rows; i++)
                G[(size_t)j * (size_t)rows + (size_t)i] =
                    (float)(j % 3 + 1) * G[(size_t)(j - columns / 2) * (size_t)rows + (size_t)i];
    for (int32_t k = 0; k < wanted; k++) {
        int32_t j = k * (columns / 2 / wanted);
        x[j] = test_uniform(&random, 0.5, 2);
        for (int32_t i = 0; i < rows; i++)
            b[i] += x[j] * (double)G[(size_t)j * (size_t)rows + (size_t)i];
    }
    bo_nnls problem = {rows, columns, G, b, 1e-7, columns, NULL, NULL};
    bo_nnls_result result;
    check_ok(ctx, bo_nnls_solve(ctx, &problem, &result));
    check_below(result.residual, 1e-7);
    check_int(result.count, wanted);
    for (int32_t k = 0; k < result.count && !duplicates; k++)
        check_near(result.x[k], x[result.active[k]], 1e-12);
    bo_nnls_free(ctx, &result);
    free(G), free(b), free(x);
}

static void sparse_solutions_are_found_exactly(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    recover(ctx, 200, 1000, 20, false);
    recover(ctx, 100, 300, 1, false);
    bough_context_destroy(ctx);
}

static void equal_columns_do_no_harm(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    recover(ctx, 200, 1000, 20, true);
    enum { ROWS = 5 }; /* columns of zeros, the same column again and again, nothing to do */
    float G[4 * ROWS] = {[ROWS] = 1, [2 * ROWS] = 1, [3 * ROWS] = 1};
    double b[ROWS] = {2, 1}, zero[ROWS] = {0};
    bo_nnls problem = {ROWS, 4, G, b, 1e-9, 4, NULL, NULL};
    bo_nnls_result result;
    check_ok(ctx, bo_nnls_solve(ctx, &problem, &result));
    check_int(result.count, 1);
    check_near(result.x[0], 2, 1e-12);
    check_near(result.residual, 1 / sqrt(5), 1e-12);
    bo_nnls_free(ctx, &result);
    problem.b = zero;
    check_ok(ctx, bo_nnls_solve(ctx, &problem, &result));
    check_int(result.count, 0);
    check(result.residual == 0);
    bo_nnls_free(ctx, &result);
    bough_context_destroy(ctx);
}

static bool stop_at_ten(void *user, int32_t count, double error, double within) {
    check(count >= 0 && error > 0 && error <= 1 && within >= 0 && within <= 1);
    return ++*(int *)user < 10;
}

static void ends_when_told(void **state) {
    (void)state;
    enum { ROWS = 100, COLUMNS = 400 };
    bough_context *ctx = test_context(1);
    int calls = 0;
    test_random random = {4};
    float *G = random_matrix(&random, ROWS, COLUMNS, 0);
    double b[ROWS];
    for (int i = 0; i < ROWS; i++)
        b[i] = test_uniform(&random, 0, 1);
    bo_nnls problem = {ROWS, COLUMNS, G, b, 0, 7, stop_at_ten, &calls};
    bo_nnls_result result;
    check_ok(ctx, bo_nnls_solve(ctx, &problem, &result));
    check_int(result.count, 7);
    bo_nnls_free(ctx, &result);
    problem.most = COLUMNS;
    check_int(bo_nnls_solve(ctx, &problem, &result), BOUGH_CANCELLED);
    check_int(result.count, 0);
    free(G);
    bough_context_destroy(ctx);
}

static void thread_count_does_not_matter(void **state) {
    (void)state;
    enum { ROWS = 150, COLUMNS = 700 };
    test_random random = {5};
    float *G = random_matrix(&random, ROWS, COLUMNS, -0.5);
    double b[ROWS], first[ROWS];
    for (int i = 0; i < ROWS; i++)
        b[i] = test_uniform(&random, 0, 1);
    bo_nnls problem = {ROWS, COLUMNS, G, b, 1e-3, COLUMNS, NULL, NULL};
    int32_t count = 0;
    for (int32_t threads = 1; threads <= 3; threads++) {
        bough_context *ctx = test_context(threads);
        bo_nnls_result result;
        check_ok(ctx, bo_nnls_solve(ctx, &problem, &result));
        if (threads == 1)
            memcpy(first, result.x, (size_t)(count = result.count) * sizeof *first);
        check_int(result.count, count);
        check(memcmp(first, result.x, (size_t)count * sizeof *first) == 0);
        bo_nnls_free(ctx, &result);
        bough_context_destroy(ctx);
    }
    free(G);
}

static void every_failing_allocation_is_reported(void **state) {
    (void)state;
    const float G[4] = {1, 0, 0, 1};
    const double b[2] = {1, 2};
    bo_nnls problem = {2, 2, G, b, 0, 2, NULL, NULL};
    for (long fail_at = 0;; fail_at++) {
        test_memory memory = {.fail_at = -1};
        bough_context *ctx = test_counting_context(&memory);
        bo_nnls_result result;
        long live = memory.live;
        memory.fail_at = memory.calls + fail_at;
        bough_status status = bo_nnls_solve(ctx, &problem, &result);
        bo_nnls_free(ctx, &result);
        check_int(memory.live, live);
        bough_context_destroy(ctx);
        if (status == BOUGH_OK)
            break;
        check_int(status, BOUGH_ERROR_MEMORY);
        check(fail_at < 50);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_other_set_of_columns_is_better),
        cmocka_unit_test(optimality_conditions_hold),
        cmocka_unit_test(sparse_solutions_are_found_exactly),
        cmocka_unit_test(equal_columns_do_no_harm),
        cmocka_unit_test(ends_when_told),
        cmocka_unit_test(thread_count_does_not_matter),
        cmocka_unit_test(every_failing_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
