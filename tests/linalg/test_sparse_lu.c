/* Sparse LU against dense LU: unsymmetric matrices, saddle points, singular ones, and what is no matrix. */
#include "test.h"

#include "dense/lu.h"
#include "linalg/sparse_lu.h"

#include <time.h>

typedef struct {
    int32_t size, *start, *rows;
    double *values;
} matrix;

/* Keeps the entries of a dense matrix that are not zero, rows of a column from the last to the first. */
static matrix sparse_of(int32_t n, const double *dense) {
    matrix A = {n, calloc((size_t)n + 1, sizeof(int32_t)), calloc((size_t)(n * n) + 1, sizeof(int32_t)),
                calloc((size_t)(n * n) + 1, sizeof(double))};
    int32_t at = 0;
    for (int32_t j = 0; j < n; j++) {
        for (int32_t i = n - 1; i >= 0; i--)
            if (dense[i * n + j] != 0)
                A.rows[at] = i, A.values[at++] = dense[i * n + j];
        A.start[j + 1] = at;
    }
    return A;
}
static void drop(matrix *A) {
    free(A->start), free(A->rows), free(A->values);
}

/* A few entries a row, the largest not on the diagonal, which is zero. */
static void fill_random(test_random *r, int32_t n, double *dense) {
    memset(dense, 0, (size_t)(n * n) * sizeof *dense);
    for (int32_t i = 0; i < n; i++) {
        dense[i * n + (i + 7) % n] = test_uniform(r, 3, 9) * (test_bits(r) % 2 ? 1 : -1);
        for (int k = 0; k < 4; k++) {
            const int32_t j = (int32_t)(test_bits(r) % (uint64_t)n);
            if (j != i && j != (i + 7) % n)
                dense[i * n + j] = test_uniform(r, -1, 1);
        }
    }
}

/* [A G^T; G 0] with m constraints: a chain of masses and springs, each constraint a combination of three neighbours. */
static void fill_saddle(test_random *r, int32_t n, int32_t m, double *dense) {
    const int32_t size = n + m;
    memset(dense, 0, (size_t)(size * size) * sizeof *dense);
    for (int32_t i = 0; i < n; i++) {
        dense[i * size + i] = test_uniform(r, 2, 30);
        if (i + 1 < n)
            dense[i * size + i + 1] = dense[(i + 1) * size + i] = test_uniform(r, -1, 1);
    }
    for (int32_t k = 0; k < m; k++)
        for (int32_t i = 0; i < 3; i++) {
            const int32_t column = (k * (n / m) + i) % n;
            dense[(n + k) * size + column] = dense[column * size + n + k] = test_uniform(r, 0.5, 2);
        }
}

static double compare(bough_context *ctx, bo_sparse_lu *lu, int32_t n, const double *dense) {
    double *LU = calloc((size_t)(n * n), sizeof *LU), *b = calloc(3 * (size_t)n, sizeof *b),
           *x = calloc(3 * (size_t)n, sizeof *x);
    int32_t *pivots = calloc((size_t)n, sizeof *pivots);
    double worst = 0, most = 0;
    memcpy(LU, dense, (size_t)(n * n) * sizeof *LU);
    check(bo_lu_factor(n, LU, pivots));
    for (int32_t i = 0; i < 3 * n; i++)
        b[i] = sin(i + 0.5);
    check_ok(ctx, bo_sparse_lu_solve(ctx, lu, b, x, 3));
    check_ok(ctx, bo_sparse_lu_solve(ctx, lu, b, b, 1)); /* in place */
    check(memcmp(b, x, (size_t)n * sizeof *b) == 0);
    for (int side = 0; side < 3; side++) {
        for (int32_t i = 0; i < n; i++)
            b[i] = sin(i + side * n + 0.5);
        bo_lu_solve(n, LU, pivots, b);
        for (int32_t i = 0; i < n; i++) {
            worst = fmax(worst, fabs(b[i] - x[side * n + i]));
            most = fmax(most, fabs(b[i]));
        }
    }
    free(LU), free(b), free(x), free(pivots);
    return worst / most;
}

static void solutions_are_those_of_dense_lu(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {4};
    for (int round = 0; round < 40; round++) {
        const int32_t n = 9 + 3 * round, m = round % 2 ? n / 4 : 0, size = n + m;
        double *dense = calloc((size_t)(size * size), sizeof *dense);
        if (m > 0)
            fill_saddle(&r, n, m, dense);
        else
            fill_random(&r, n, dense);
        matrix A = sparse_of(size, dense);
        bo_sparse_lu *lu;
        check_ok(ctx, bo_sparse_lu_analyse(ctx, size, A.start, A.rows, &lu));
        check_fails(ctx, bo_sparse_lu_solve(ctx, lu, A.values, A.values, 1), BOUGH_ERROR_SINGULAR, "without a factor");
        check_ok(ctx, bo_sparse_lu_numeric(ctx, lu, A.values, false));
        check_below(compare(ctx, lu, size, dense), 2e-12);
        check(bo_sparse_lu_rcond(lu) > 1e-8);
        /* other values with the same pivots */
        for (int32_t i = 0; i < size * size; i++)
            dense[i] *= 1 + 0.1 * sin(i);
        matrix B = sparse_of(size, dense);
        int64_t pivotings;
        double entries;
        check_ok(ctx, bo_sparse_lu_numeric(ctx, lu, B.values, false));
        check_below(compare(ctx, lu, size, dense), 2e-12);
        bo_sparse_lu_cost(lu, &pivotings, &entries);
        check_int(pivotings, 1);
        check(entries >= size);
        drop(&A), drop(&B), free(dense);
        bo_sparse_lu_destroy(ctx, lu);
    }
    bough_context_destroy(ctx);
}

/* Values for which the pivots of those before are zero: others are looked for. Made anew, the same values give the same
 * bits whatever was factored before. */
static void pivots_are_looked_for_again(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const int32_t start[] = {0, 2, 4}, rows[] = {0, 1, 0, 1};
    const double first[] = {4, 1, 1, 3}, second[] = {1e-17, 1, 1, 0.5}, third[] = {0, 2, 5, 0};
    bo_sparse_lu *lu;
    int64_t pivotings;
    double entries, x[2] = {1, 2}, y[2] = {1, 2};
    check_ok(ctx, bo_sparse_lu_analyse(ctx, 2, start, rows, &lu));
    check_ok(ctx, bo_sparse_lu_numeric(ctx, lu, first, false));
    check_ok(ctx, bo_sparse_lu_numeric(ctx, lu, second, false));
    check_ok(ctx, bo_sparse_lu_solve(ctx, lu, x, x, 1));
    check_near(x[0], 1.5, 1e-14); /* x1 = 1, x0 + 0.5 x1 = 2 */
    check_near(x[1], 1, 1e-14);
    check_ok(ctx, bo_sparse_lu_numeric(ctx, lu, third, false));
    check_ok(ctx, bo_sparse_lu_solve(ctx, lu, y, y, 1));
    check_near(y[0], 1, 1e-14);
    check_near(y[1], 0.2, 1e-14);
    bo_sparse_lu_cost(lu, &pivotings, &entries);
    check(pivotings >= 2);
    bo_sparse_lu_destroy(ctx, lu);

    enum { N = 60 };
    test_random r = {8};
    double dense[N * N], other[N * N], solutions[2][N];
    fill_random(&r, N, dense);
    memcpy(other, dense, sizeof dense);
    for (int i = 0; i < N * N; i++)
        other[i] *= test_uniform(&r, 0.1, 2);
    matrix A = sparse_of(N, dense), B = sparse_of(N, other);
    for (int pass = 0; pass < 2; pass++) {
        check_ok(ctx, bo_sparse_lu_analyse(ctx, N, A.start, A.rows, &lu));
        if (pass)
            check_ok(ctx, bo_sparse_lu_numeric(ctx, lu, B.values, false));
        check_ok(ctx, bo_sparse_lu_numeric(ctx, lu, A.values, true));
        for (int i = 0; i < N; i++)
            solutions[pass][i] = cos(i);
        check_ok(ctx, bo_sparse_lu_solve(ctx, lu, solutions[pass], solutions[pass], 1));
        bo_sparse_lu_destroy(ctx, lu);
    }
    check(memcmp(solutions[0], solutions[1], sizeof solutions[0]) == 0);
    drop(&A), drop(&B);
    bough_context_destroy(ctx);
}

static void singular_matrices_say_so(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {6};
    bo_sparse_lu *lu;
    /* a column without entries, two columns that share their only row: no values help */
    const int32_t start[] = {0, 1, 1, 2}, rows[] = {0, 2}, share_start[] = {0, 1, 2, 4}, share_rows[] = {0, 0, 1, 2};
    check_fails(ctx, bo_sparse_lu_analyse(ctx, 3, start, rows, &lu), BOUGH_ERROR_SINGULAR, "whatever its values");
    check(!lu);
    check_fails(ctx, bo_sparse_lu_analyse(ctx, 3, share_start, share_rows, &lu), BOUGH_ERROR_SINGULAR, "1 of its 3");
    /* constraints that say the same thing twice */
    for (int round = 0; round < 20; round++) {
        const int32_t n = 20 + round, m = 6, size = n + m;
        double *dense = calloc((size_t)(size * size), sizeof *dense), *x = calloc((size_t)size, sizeof *x);
        fill_saddle(&r, n, m, dense);
        for (int32_t i = 0; i < n; i++) {
            const double same = 0.7 * dense[(n + 1) * size + i] - 0.3 * dense[(n + 2) * size + i];
            dense[(n + 4) * size + i] = dense[i * size + n + 4] = same;
        }
        matrix A = sparse_of(size, dense);
        check_ok(ctx, bo_sparse_lu_analyse(ctx, size, A.start, A.rows, &lu));
        check_fails(ctx, bo_sparse_lu_numeric(ctx, lu, A.values, false), BOUGH_ERROR_SINGULAR, "singular");
        check_fails(ctx, bo_sparse_lu_solve(ctx, lu, x, x, 1), BOUGH_ERROR_SINGULAR, "without a factor");
        check(bo_sparse_lu_rcond(lu) == 0);
        for (int32_t k = 0; k < A.start[size]; k++) /* other values help */
            A.values[k] *= 1 + 0.3 * sin(k);
        check_ok(ctx, bo_sparse_lu_numeric(ctx, lu, A.values, false));
        /* and so does nothing where one is no number */
        A.values[3] = round % 2 ? NAN : INFINITY;
        check_fails(ctx, bo_sparse_lu_numeric(ctx, lu, A.values, false), BOUGH_NOT_FINITE, "not finite");
        check_fails(ctx, bo_sparse_lu_solve(ctx, lu, x, x, 1), BOUGH_ERROR_SINGULAR, "without a factor");
        drop(&A), free(dense), free(x);
        bo_sparse_lu_destroy(ctx, lu);
    }
    bough_context_destroy(ctx);
}

static void what_is_no_pattern_is_refused(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    bo_sparse_lu *lu;
    const int32_t rows[] = {0, 1, 1}, out[] = {0, 1, 2}, below[] = {0, -1, 1}, twice[] = {0, 1, 1};
    const int32_t good[] = {0, 1, 3}, late[] = {1, 2, 3}, back[] = {0, 3, 2}, far[] = {0, 1, 3};
    check_fails(ctx, bo_sparse_lu_analyse(ctx, 0, good, rows, &lu), BOUGH_ERROR_ARGUMENT, "one at least");
    check_fails(ctx, bo_sparse_lu_analyse(ctx, -5, good, rows, &lu), BOUGH_ERROR_ARGUMENT, "one at least");
    check_fails(ctx, bo_sparse_lu_analyse(ctx, 2, late, rows, &lu), BOUGH_ERROR_ARGUMENT, "begins at entry 1");
    check_fails(ctx, bo_sparse_lu_analyse(ctx, 2, back, rows, &lu), BOUGH_ERROR_ARGUMENT, "ends before");
    check_fails(ctx, bo_sparse_lu_analyse(ctx, 2, far, out, &lu), BOUGH_ERROR_ARGUMENT, "row 2; there are 2");
    check_fails(ctx, bo_sparse_lu_analyse(ctx, 2, far, below, &lu), BOUGH_ERROR_ARGUMENT, "row -1");
    check_fails(ctx, bo_sparse_lu_analyse(ctx, 2, good, twice, &lu), BOUGH_ERROR_ARGUMENT, "twice");
    /* each allocation fails in turn */
    const int32_t start[] = {0, 2, 4}, all[] = {0, 1, 0, 1};
    test_memory memory = {0};
    for (int k = 0; k < 20; k++) {
        memory = (test_memory){.fail_at = k};
        bough_context *poor = test_counting_context(&memory);
        if (!poor)
            continue;
        const bough_status status = bo_sparse_lu_analyse(poor, 2, start, all, &lu);
        check(status == BOUGH_OK || (status == BOUGH_ERROR_MEMORY && !lu));
        bo_sparse_lu_destroy(poor, lu);
        bough_context_destroy(poor);
        check_int(memory.live, 0);
    }
    bough_context_destroy(ctx);
}

static bool never(void *user, const bough_progress *progress) {
    (void)progress;
    ++*(int *)user;
    return false;
}
/* Many right-hand sides can be stopped between them. */
static void solving_can_be_stopped(void **unused) {
    (void)unused;
    int calls = 0;
    bough_context_def def = bough_default_context_def();
    def.progress = never, def.progress_user = &calls;
    bough_context *ctx = bough_context_create(&def);
    const int32_t start[] = {0, 1}, rows[] = {0};
    double value = 2, x[500];
    bo_sparse_lu *lu;
    for (int i = 0; i < 500; i++)
        x[i] = i;
    check_ok(ctx, bo_sparse_lu_analyse(ctx, 1, start, rows, &lu));
    check_ok(ctx, bo_sparse_lu_numeric(ctx, lu, &value, false));
    check_ok(ctx, bo_sparse_lu_solve(ctx, lu, x, x, 10));
    check_int(calls, 0);
    check_fails(ctx, bo_sparse_lu_solve(ctx, lu, x, x, 500), BOUGH_CANCELLED, "cancelled");
    check_int(calls, 1);
    bo_sparse_lu_destroy(ctx, lu);
    bough_context_destroy(ctx);
}

/* A chain of 20,000 bodies in the plane, three unknowns each, pinned to each other: 100,000 unknowns. Residuals are
 * rounding. */
static void long_chains_are_solved(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const int32_t bodies = 20000, n = 3 * bodies, size = n + 2 * bodies;
    matrix A = {size, calloc((size_t)size + 1, sizeof(int32_t)), calloc(20 * (size_t)size, sizeof(int32_t)),
                calloc(20 * (size_t)size, sizeof(double))};
    int32_t at = 0;
    for (int32_t j = 0; j < size; j++) {
        const int32_t b = j < n ? j / 3 : (j - n) / 2, d = j < n ? j % 3 : (j - n) % 2;
        const double angle = 0.3 * b, arm[2] = {-0.5 * sin(angle), 0.5 * cos(angle)};
        if (j < n) { /* mass, then the pins at either end */
            A.rows[at] = j, A.values[at++] = d < 2 ? 400 : 30;
            for (int side = 0; side < 2 && b + side < bodies; side++)
                for (int k = 0; k < 2; k++)
                    if (d == 2 || d == k)
                        A.rows[at] = n + 2 * (b + side) + k,
                        A.values[at++] = (side ? 1 : -1) * (d < 2 ? 1 : (side ? 1 : -1) * arm[k]);
        } else
            for (int side = 0; side < 2; side++) {
                const int32_t other = b - side;
                const double turn = 0.3 * other, lever[2] = {-0.5 * sin(turn), 0.5 * cos(turn)};
                if (other < 0)
                    continue;
                A.rows[at] = 3 * other + d, A.values[at++] = side ? 1 : -1;
                A.rows[at] = 3 * other + 2, A.values[at++] = lever[d];
            }
        A.start[j + 1] = at;
    }
    double *b = calloc((size_t)size, sizeof *b), *x = calloc((size_t)size, sizeof *x);
    for (int32_t i = 0; i < size; i++)
        x[i] = b[i] = sin(i);
    bo_sparse_lu *lu;
    struct timespec t[4];
    clock_gettime(CLOCK_MONOTONIC, &t[0]);
    check_ok(ctx, bo_sparse_lu_analyse(ctx, size, A.start, A.rows, &lu));
    clock_gettime(CLOCK_MONOTONIC, &t[1]);
    check_ok(ctx, bo_sparse_lu_numeric(ctx, lu, A.values, false));
    clock_gettime(CLOCK_MONOTONIC, &t[2]);
    check_ok(ctx, bo_sparse_lu_numeric(ctx, lu, A.values, false));
    clock_gettime(CLOCK_MONOTONIC, &t[3]);
    for (int k = 0; k < 3; k++)
        printf("%s %.3f s%s",
               k == 0   ? "analysed in"
               : k == 1 ? ", factored in"
                        : ", again in",
               (double)(t[k + 1].tv_sec - t[k].tv_sec) + 1e-9 * (double)(t[k + 1].tv_nsec - t[k].tv_nsec),
               k == 2 ? "\n" : "");
    check_ok(ctx, bo_sparse_lu_solve(ctx, lu, x, x, 1));
    double most = 0, worst = 0;
    for (int32_t j = 0; j < size; j++) {
        most = fmax(most, fabs(x[j]));
        for (int32_t k = A.start[j]; k < A.start[j + 1]; k++)
            b[A.rows[k]] -= A.values[k] * x[j];
    }
    for (int32_t i = 0; i < size; i++)
        worst = fmax(worst, fabs(b[i]));
    check_below(worst / (400 * most), 3e-16);
    drop(&A), free(b), free(x);
    bo_sparse_lu_destroy(ctx, lu);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solutions_are_those_of_dense_lu), cmocka_unit_test(pivots_are_looked_for_again),
        cmocka_unit_test(singular_matrices_say_so),        cmocka_unit_test(what_is_no_pattern_is_refused),
        cmocka_unit_test(solving_can_be_stopped),          cmocka_unit_test(long_chains_are_solved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
