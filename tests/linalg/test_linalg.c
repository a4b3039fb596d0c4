/* Sparse products, factorisation and eigenvalues on matrices whose answers are known. */
#include "test.h"

#include "linalg/eigen.h"

/* The 7-point Laplacian on an n x n x n grid with zero boundary: eigenvalues sum of 4 sin^2(k pi / 2(n+1)). */
static bough_sparse *laplacian(bough_context *ctx, int32_t n) {
    bough_sparse *A;
    int32_t size = n * n * n, at = 0;
    check_ok(ctx, bo_sparse_create(ctx, size, 4 * (int64_t)size, &A));
    for (int32_t z = 0; z < n; z++)
        for (int32_t y = 0; y < n; y++)
            for (int32_t x = 0; x < n; x++) {
                int32_t j = x + n * (y + n * z);
                A->column_start[j] = at;
                A->rows[at] = j, A->values[at++] = 6;
                if (x + 1 < n)
                    A->rows[at] = j + 1, A->values[at++] = -1;
                if (y + 1 < n)
                    A->rows[at] = j + n, A->values[at++] = -1;
                if (z + 1 < n)
                    A->rows[at] = j + n * n, A->values[at++] = -1;
            }
    A->column_start[size] = at;
    return A;
}

static void solve_inverts_multiply(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int32_t n = 4; n <= 16; n += 12) { /* below and above the size where the ordering changes */
        bough_sparse *A = laplacian(ctx, n);
        bo_factor *factor;
        check_ok(ctx, bo_factor_analyse(ctx, A, 1, NULL, &factor));
        size_t size = (size_t)A->size;
        double *x = calloc(2 * size, sizeof *x), *b = calloc(2 * size, sizeof *b), *y = calloc(2 * size, sizeof *y);
        for (size_t i = 0; i < 2 * size; i++)
            x[i] = sin((double)i);
        check_fails(ctx, bo_factor_solve(ctx, factor, b, y, 1), BOUGH_ERROR_SINGULAR, "without a factor");
        for (int scale = 1; scale <= 3; scale += 2) { /* refactor with other values */
            for (int32_t k = 0; k < A->column_start[A->size]; k++)
                A->values[k] *= scale;
            check_ok(ctx, bo_factor_numeric(ctx, factor, A));
            bo_sparse_mul(A, x, b, false);
            bo_sparse_mul(A, x + size, b + size, false);
            check_ok(ctx, bo_factor_solve(ctx, factor, b, y, 2));
            for (size_t i = 0; i < 2 * size; i++)
                check_near(y[i], x[i], 1e-12);
            check_ok(ctx, bo_factor_solve(ctx, factor, b, b, 1)); /* in place */
            for (size_t i = 0; i < size; i++)
                check_near(b[i], x[i], 1e-12);
        }
        /* Not positive definite: a clear failure, and the factor can be used again afterwards. */
        A->values[0] = -1;
        check_fails(ctx, bo_factor_numeric(ctx, factor, A), BOUGH_ERROR_SINGULAR, "not positive definite");
        A->values[0] = 18;
        check_ok(ctx, bo_factor_numeric(ctx, factor, A));
        check(bo_factor_rcond(factor) > 1e-4);
        free(x), free(b), free(y);
        bo_factor_destroy(ctx, factor);
        bough_sparse_destroy(ctx, A);
    }
    bough_context_destroy(ctx);
}

static void identity(void *data, const double *x, double *y, int32_t count) {
    memcpy(y, x, *(const size_t *)data * (size_t)count * sizeof *y);
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void lowest_eigenvalues_of_the_laplacian(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    enum { N = 12, COUNT = 10 };
    bough_sparse *A = laplacian(ctx, N);
    bo_factor *factor;
    check_ok(ctx, bo_factor_analyse(ctx, A, 1, NULL, &factor));
    check_ok(ctx, bo_factor_numeric(ctx, factor, A));
    double exact[N * N * N], values[COUNT], *vectors = calloc((size_t)(COUNT * N * N * N), sizeof *vectors);
    for (int i = 0; i < N * N * N; i++) {
        int k[3] = {i % N + 1, i / N % N + 1, i / (N * N) + 1};
        exact[i] = 0;
        for (int d = 0; d < 3; d++)
            exact[i] += 4 * pow(sin(k[d] * M_PI / (2 * (N + 1))), 2);
    }
    qsort(exact, N * N * N, sizeof *exact, compare);
    size_t size = N * N * N;
    bo_operator M = {.multiply = identity, .data = &size, .size = N * N * N, .rank = N * N * N};
    check_ok(ctx, bo_eigen_shift_invert(ctx, factor, &M, 0, COUNT, 1e-12, values, vectors));
    for (int i = 0; i < COUNT; i++) /* with triple eigenvalues: 2-4, 5-7, 8-10 */
        check_near(values[i] / exact[i], 1, 1e-11);
    for (int a = 0; a < COUNT; a++)
        for (int b = 0; b < COUNT; b++) {
            double product = 0;
            for (size_t i = 0; i < size; i++)
                product += vectors[(size_t)a * size + i] * vectors[(size_t)b * size + i];
            check_near(product, a == b, 1e-10);
        }
    check_fails(ctx, bo_eigen_shift_invert(ctx, factor, &M, 0, N * N * N, 1e-12, values, vectors), BOUGH_ERROR_ARGUMENT,
                "cannot be computed");
    free(vectors);
    bo_factor_destroy(ctx, factor);
    bough_sparse_destroy(ctx, A);
    bough_context_destroy(ctx);
}

/* Held unknowns keep their value, the free ones solve A_ff x_f = b_f. */
static void held_unknowns_are_left_out(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int32_t n = 3; n <= 18; n += 15) { /* with either ordering */
        bough_sparse *A = laplacian(ctx, n);
        size_t size = (size_t)A->size;
        unsigned char *fixed = calloc(size, 1);
        double *x = calloc(2 * size, sizeof *x), *b = calloc(2 * size, sizeof *b), *y = calloc(2 * size, sizeof *y);
        test_random r = {7};
        for (size_t i = 0; i < size; i++)
            fixed[i] = test_uniform(&r, 0, 1) < 0.2;
        for (size_t i = 0; i < 2 * size; i++)
            x[i] = fixed[i % size] ? 0 : sin((double)i);
        bo_sparse_mul(A, x, b, false);
        bo_sparse_mul(A, x + size, b + size, false);
        for (size_t i = 0; i < 2 * size; i++)
            if (fixed[i % size])
                x[i] = b[i] = (double)i;
        bo_factor *factor;
        check_ok(ctx, bo_factor_analyse(ctx, A, 1, fixed, &factor));
        check_ok(ctx, bo_factor_numeric(ctx, factor, A));
        check_ok(ctx, bo_factor_solve(ctx, factor, b, y, 2));
        for (size_t i = 0; i < 2 * size; i++)
            check_near(y[i], x[i], 1e-12);
        bo_factor_destroy(ctx, factor);
        memset(fixed, 1, size); /* nothing is free */
        check_ok(ctx, bo_factor_analyse(ctx, A, 1, fixed, &factor));
        check_ok(ctx, bo_factor_numeric(ctx, factor, A));
        check_ok(ctx, bo_factor_solve(ctx, factor, b, y, 1));
        for (size_t i = 0; i < size; i++)
            check(y[i] == b[i]);
        bo_factor_destroy(ctx, factor);
        free(fixed), free(x), free(b), free(y);
        bough_sparse_destroy(ctx, A);
    }
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solve_inverts_multiply),
        cmocka_unit_test(lowest_eigenvalues_of_the_laplacian),
        cmocka_unit_test(held_unknowns_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
