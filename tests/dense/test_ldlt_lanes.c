/* LDL^T of one matrix in padded rows and of eight side by side, against Cholesky. */
#include "test.h"

#include "dense/cholesky.h"
#include "dense/ldlt_lanes.h"

enum { MOST = 70, W = BO_LDLT_WIDE };

/* Too large for the stack of some systems. */
static double A[W][MOST * MOST], C[W][MOST * MOST], packed[W * MOST * (MOST + 1) / 2], padded[MOST * (MOST + 3)];
static double B[W][8][MOST], X[W][8][MOST];

static void make_matrices(test_random *random, int r) {
    static double root[MOST * MOST];
    for (int k = 0; k < W; k++) {
        for (int i = 0; i < r * r; i++)
            root[i] = test_uniform(random, -1, 1);
        for (int i = 0; i < r; i++)
            for (int j = 0; j < r; j++) {
                double sum = i == j ? 0.1 : 0;
                for (int l = 0; l < r; l++)
                    sum += root[r * i + l] * root[r * j + l];
                A[k][r * i + j] = sum;
            }
        memcpy(C[k], A[k], sizeof C[k]);
        check(bo_cholesky_factor(r, C[k]));
        for (int side = 0; side < 8; side++) {
            for (int i = 0; i < r; i++)
                B[k][side][i] = X[k][side][i] = test_uniform(random, -1, 1);
            bo_cholesky_solve(r, C[k], X[k][side]);
        }
    }
}

static double size_of(int r, const double *x) {
    double most = 0;
    for (int i = 0; i < r; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

/* Rows behind the last coordinate and above the diagonal hold nonsense: nobody may read it. */
static void fill_padded(int r, int n, const double *from) {
    for (int i = 0; i < r * n; i++)
        padded[i] = 1e3;
    for (int i = 0; i < r; i++)
        for (int j = 0; j <= i; j++)
            padded[n * i + j] = from[r * i + j];
}

static void solve_one(int r, int k) {
    const int n = (r + 3) & ~3;
    double scratch[2 * (MOST + 3)], b[MOST + 3], rows[8 * MOST];
    fill_padded(r, n, A[k]);
    check(bo_ldlt_one(r, n, padded, scratch));
    for (int i = 0; i < r; i++)
        b[i] = B[k][0][i];
    bo_ldlt_forward_vector_one(r, n, padded, b);
    for (int i = 0; i < r; i++)
        for (int side = 0; side < 8; side++)
            rows[8 * i + side] = B[k][side][i];
    bo_ldlt_forward_one(r, n, padded, rows);
    for (int i = 0; i < r; i++)
        check_near(rows[8 * i], b[i], 1e-12 * (1 + size_of(r, b)));
    for (int side = 0; side < 8; side++) {
        for (int i = 0; i < r; i++)
            b[i] = rows[8 * i + side] * padded[n * i + i];
        bo_ldlt_back_one(r, n, padded, b);
        for (int i = 0; i < r; i++)
            check_near(b[i], X[k][side][i], 1e-9 * size_of(r, X[k][side]));
    }
}

static void pack(int r) {
    for (int i = 0; i < r; i++)
        for (int j = 0; j <= i; j++)
            for (int k = 0; k < W; k++)
                packed[W * (i * (i + 1) / 2 + j) + k] = A[k][r * i + j];
}

static void solve_wide(int r) {
    static double scratch[2 * W * MOST], b[W * MOST], rows[8 * W * MOST];
    pack(r);
    check(bo_ldlt_wide(r, packed, scratch));
    for (int i = 0; i < r; i++)
        for (int k = 0; k < W; k++) {
            b[W * i + k] = B[k][3][i];
            for (int side = 0; side < 8; side++)
                rows[W * (8 * i + side) + k] = B[k][side][i];
        }
    bo_ldlt_forward_vector_wide(r, packed, b);
    bo_ldlt_forward_wide(r, packed, rows);
    for (int i = 0; i < r; i++)
        for (int k = 0; k < W; k++)
            check_near(rows[W * (8 * i + 3) + k], b[W * i + k], 1e-12 * (1 + size_of(W * r, b)));
    for (int side = 0; side < 8; side++) {
        for (int i = 0; i < r; i++)
            for (int k = 0; k < W; k++)
                b[W * i + k] = rows[W * (8 * i + side) + k] * packed[W * (i * (i + 1) / 2 + i) + k];
        bo_ldlt_back_wide(r, packed, b);
        for (int k = 0; k < W; k++)
            for (int i = 0; i < r; i++)
                check_near(b[W * i + k], X[k][side][i], 1e-9 * size_of(r, X[k][side]));
    }
}

static void solutions_are_those_of_cholesky(void **state) {
    (void)state;
    test_random random = {1};
    for (int r = 1; r <= MOST; r += r < 36 ? 1 : 17) {
        make_matrices(&random, r);
        for (int k = 0; k < W; k++)
            solve_one(r, k);
        solve_wide(r);
    }
}

/* One matrix that is not positive definite, in whatever lane and at whatever pivot, is noticed. */
static void others_are_refused(void **state) {
    (void)state;
    static const double bad[] = {NAN, -1, 0, -INFINITY, INFINITY};
    test_random random = {2};
    double scratch[2 * W * 9];
    for (int r = 1; r <= 9; r++) {
        make_matrices(&random, r);
        const int n = (r + 3) & ~3;
        for (size_t b = 0; b < sizeof bad / sizeof *bad; b++)
            for (int i = 0; i < r; i++)
                for (int k = 0; k < W; k++) {
                    pack(r);
                    packed[W * (i * (i + 1) / 2 + i) + k] = bad[b];
                    check(!bo_ldlt_wide(r, packed, scratch));
                    fill_padded(r, n, A[k]);
                    padded[n * i + i] = bad[b];
                    check(!bo_ldlt_one(r, n, padded, scratch));
                }
    }
    /* rank one: the second pivot is lost in rounding */
    double two[8] = {1, 0, 0, 0, 1.0 / 3, 1.0 / 9 * (1 + 1e-16), 0, 0};
    check(!bo_ldlt_one(2, 4, two, scratch));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solutions_are_those_of_cholesky),
        cmocka_unit_test(others_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
