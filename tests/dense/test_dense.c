/* Eigenvalues and factorisations of small matrices: residuals at rounding level, honest refusals. */
#include "test.h"

#include "dense/cholesky.h"
#include "dense/lu.h"
#include "dense/symmetric_eigen.h"

enum { N = 70 };

typedef struct matrices {
    double A[N * N], B[N * N], V[N * N], values[N], scratch[2 * N], x[N], b[N];
} matrices;

static matrices m; /* too large for the stack of some systems */

static void random_entries(test_random *r, double *A, int count) {
    for (int i = 0; i < count; i++)
        A[i] = test_uniform(r, -1, 1);
}

static double largest(const double *A, int count) {
    double most = 0;
    for (int i = 0; i < count; i++)
        most = fmax(most, fabs(A[i]));
    return most;
}

/* Reflects A from both sides by a few random Householder matrices: same eigenvalues, no structure left. */
static void hide_eigenvalues(test_random *r, int n, double *A) {
    for (int round = 0; round < 4; round++) {
        double v[N], w[N], norm = 0;
        random_entries(r, v, n);
        for (int i = 0; i < n; i++)
            norm += v[i] * v[i];
        for (int side = 0; side < 2; side++)
            for (int i = 0; i < n; i++) {
                double dot = 0;
                for (int j = 0; j < n; j++) {
                    w[j] = side ? A[n * j + i] : A[n * i + j];
                    dot += w[j] * v[j];
                }
                for (int j = 0; j < n; j++)
                    (side ? &A[n * j + i] : &A[n * i + j])[0] = w[j] - 2 * dot / norm * v[j];
            }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            A[n * j + i] = A[n * i + j];
}

/* |A V - V diag| and |V^T V - I| of the copy m.B of the matrix. */
static void check_eigenpairs(int n) {
    double size = largest(m.B, n * n) + 1e-300;
    for (int k = 0; k < n; k++) {
        check(k == 0 || m.values[k - 1] <= m.values[k]);
        for (int i = 0; i < n; i++) {
            double residual = -m.values[k] * m.V[n * i + k], dot = i == k ? -1 : 0;
            for (int j = 0; j < n; j++) {
                residual += m.B[n * i + j] * m.V[n * j + k];
                dot += m.V[n * j + i] * m.V[n * j + k];
            }
            check_below(fabs(residual) / size, 1e-13);
            check_below(fabs(dot), 1e-13);
        }
    }
}

static void solve_copy(int n) {
    memcpy(m.B, m.A, sizeof(double) * (size_t)(n * n));
    check(bo_sym_eigen(n, m.A, m.values, m.V, m.scratch));
    check_eigenpairs(n);
}

static void eigenpairs_of_random_matrices(void **state) {
    (void)state;
    test_random r = {1};
    for (int n = 1; n <= N; n++) {
        random_entries(&r, m.A, n * n);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < i; j++)
                m.A[n * j + i] = m.A[n * i + j];
        solve_copy(n);
        double values[N];
        check(bo_sym_eigen(n, m.B, values, NULL, m.scratch));
        for (int k = 0; k < n; k++)
            check_near(values[k], m.values[k], 1e-13 * n);
    }
    check(bo_sym_eigen(0, m.A, m.values, m.V, m.scratch));
}

static void known_eigenvalues_repeated_and_zero(void **state) {
    (void)state;
    test_random r = {2};
    for (int n = 2; n <= N; n += 7)
        for (int kind = 0; kind < 6; kind++) {
            double expected[N];
            for (int k = 0; k < n; k++) {
                const double choice[] = {1, k / 3, k < n / 2 ? 0 : k, 1 + 1e-15 * k, pow(10, k % 20), k - n / 2};
                expected[k] = choice[kind];
            }
            memset(m.A, 0, sizeof m.A);
            for (int k = 0; k < n; k++)
                m.A[n * k + k] = expected[k];
            hide_eigenvalues(&r, n, m.A);
            solve_copy(n);
            for (int i = 0; i < n; i++)
                for (int j = i + 1; j < n; j++)
                    if (expected[j] < expected[i]) {
                        double t = expected[i];
                        expected[i] = expected[j], expected[j] = t;
                    }
            for (int k = 0; k < n; k++)
                check_near(m.values[k], expected[k], 1e-13 * (fabs(expected[n - 1]) + fabs(expected[0])));
        }
}

/* The chain of n equal springs: values 2 - 2 cos(k pi / (n+1)). */
static void eigenvalues_of_a_spring_chain(void **state) {
    (void)state;
    int n = 64;
    memset(m.A, 0, sizeof m.A);
    for (int i = 0; i < n; i++) {
        m.A[n * i + i] = 2;
        if (i > 0)
            m.A[n * i + i - 1] = m.A[n * (i - 1) + i] = -1;
    }
    solve_copy(n);
    for (int k = 0; k < n; k++)
        check_near(m.values[k], 2 - 2 * cos((k + 1) * M_PI / (n + 1)), 1e-14);
}

static void extreme_sizes_and_bad_numbers(void **state) {
    (void)state;
    test_random r = {3};
    const double sizes[] = {1e-300, 1e-160, 1e160, 1e300, 0};
    for (int k = 0; k < 5; k++) {
        int n = 9;
        random_entries(&r, m.A, n * n);
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++)
                m.A[n * j + i] = m.A[n * i + j] *= sizes[k];
        solve_copy(n);
    }
    double faint[16] = {0, 0, 0, 0, 1e-200, 0, 0, 0, 0, 1e-250, 0, 0, 0, 0, 0, 1};
    check(bo_sym_eigen(4, faint, m.values, m.V, m.scratch));
    check(m.values[3] == 1 && fabs(m.values[0]) < 1e-99);
    double bad[4] = {1, 0, NAN, 1}, values[2], V[4], scratch[4];
    check(!bo_sym_eigen(2, bad, values, V, scratch));
    bad[2] = INFINITY;
    check(!bo_sym_eigen(2, bad, values, V, scratch));
    double lower_only[4] = {1, 99, 2, 1}; /* the upper triangle is not read */
    check(bo_sym_eigen(2, lower_only, values, V, scratch));
    check_near(values[0], -1, 1e-15);
    check_near(values[1], 3, 1e-15);
}

/* B = G G^T + shift I */
static void positive_matrix(test_random *r, int n, int rank, double shift) {
    random_entries(r, m.V, n * n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = i == j ? shift : 0;
            for (int k = 0; k < rank; k++)
                sum += m.V[n * i + k] * m.V[n * j + k];
            m.B[n * i + j] = sum;
        }
    memcpy(m.A, m.B, sizeof(double) * (size_t)(n * n));
}

/* b = B x for a random x; afterwards the solution must have a small residual. */
static void make_right_side(test_random *r, int n) {
    random_entries(r, m.x, n);
    for (int i = 0; i < n; i++) {
        m.b[i] = 0;
        for (int j = 0; j < n; j++)
            m.b[i] += m.B[n * i + j] * m.x[j];
    }
}
static void check_solution(int n, const double *solution) {
    double size = largest(m.B, n * n) * largest(solution, n) * n;
    for (int i = 0; i < n; i++) {
        double residual = -m.b[i];
        for (int j = 0; j < n; j++)
            residual += m.B[n * i + j] * solution[j];
        check_below(fabs(residual) / size, 1e-14);
    }
}

static void cholesky_solves(void **state) {
    (void)state;
    test_random r = {4};
    for (int n = 1; n <= N; n += 3) {
        positive_matrix(&r, n, n, 0.1);
        for (int i = 0; i < n; i++)
            for (int j = i + 1; j < n; j++)
                m.A[n * i + j] = NAN; /* neither read nor written */
        make_right_side(&r, n);
        check(bo_cholesky_factor(n, m.A));
        double solution[N], many[3 * N];
        memcpy(solution, m.b, sizeof solution);
        bo_cholesky_solve(n, m.A, solution);
        check_solution(n, solution);
        for (int i = 0; i < n; i++)
            for (int k = 0; k < 3; k++)
                many[3 * i + k] = (k + 1) * m.b[i];
        bo_cholesky_solve_many(n, m.A, 3, many);
        for (int i = 0; i < n; i++)
            for (int k = 0; k < 3; k++)
                check_near(many[3 * i + k], (k + 1) * solution[i], 1e-9 * largest(solution, n));
    }
}

/* K x = lambda M x by way of L^-1 K L^-T: residuals, and X^T M X = I. */
static void generalised_eigenpairs(void **state) {
    (void)state;
    test_random r = {9};
    static double K[N * N], M[N * N], L[N * N];
    for (int round = 0; round < 20; round++) {
        const int n = 1 + round * 2;
        random_entries(&r, m.B, n * n);
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++) {
                M[n * i + j] = i == j ? n : 0;
                for (int k = 0; k < n; k++)
                    M[n * i + j] += m.B[n * i + k] * m.B[n * j + k];
                M[n * j + i] = M[n * i + j];
                K[n * i + j] = K[n * j + i] = test_uniform(&r, -1, 1);
            }
        memcpy(L, M, sizeof L);
        memcpy(m.A, K, sizeof m.A);
        check(bo_cholesky_factor(n, L));
        bo_cholesky_congruence(n, L, m.A);
        check(bo_sym_eigen(n, m.A, m.values, m.V, m.scratch));
        bo_cholesky_solve_back(n, L, n, m.V);
        for (int c = 0; c < n; c++)
            for (int i = 0; i < n; i++) {
                double residual = 0, product = i == c ? -1 : 0;
                for (int k = 0; k < n; k++) {
                    residual += (K[n * i + k] - m.values[c] * M[n * i + k]) * m.V[n * k + c];
                    for (int j = 0; j < n; j++)
                        product += m.V[n * j + i] * M[n * j + k] * m.V[n * k + c];
                }
                check_below(fabs(residual), 1e-13);
                check_below(fabs(product), 1e-13);
            }
    }
}

static void cholesky_refuses_what_is_not_definite(void **state) {
    (void)state;
    test_random r = {5};
    for (int n = 2; n <= 40; n++) {
        /* semidefinite: a chain of springs that nothing holds */
        memset(m.A, 0, sizeof m.A);
        for (int i = 0; i + 1 < n; i++) {
            m.A[n * i + i] += 0.1, m.A[n * (i + 1) + i + 1] += 0.1;
            m.A[n * (i + 1) + i] = -0.1;
        }
        check(!bo_cholesky_factor(n, m.A));
        for (int i = 0; i < n * n; i++) /* rank 1 */
            m.A[i] = 0.7;
        check(!bo_cholesky_factor(n, m.A));
        positive_matrix(&r, n, n, -1e3);
        check(!bo_cholesky_factor(n, m.A));
    }
    double zero = 0, bad = NAN;
    check(!bo_cholesky_factor(1, &zero));
    check(!bo_cholesky_factor(1, &bad));
}

static void ldlt_counts_negative_eigenvalues(void **state) {
    (void)state;
    test_random r = {6};
    for (int n = 2; n <= N; n += 4) {
        int half = n / 2, negative;
        positive_matrix(&r, n, n, 0.5);
        /* quasi-definite: the second diagonal block is negative */
        for (int i = half; i < n; i++)
            for (int j = half; j < n; j++)
                m.B[n * i + j] = m.A[n * i + j] = -m.B[n * i + j];
        make_right_side(&r, n);
        check(bo_ldlt_factor(n, m.A, &negative));
        check_int(negative, n - half);
        bo_ldlt_solve(n, m.A, m.b);
        for (int i = 0; i < n; i++)
            check_near(m.b[i], m.x[i], 1e-10);
    }
    double singular[4] = {1, 0, 1, 1}, bad[1] = {NAN};
    check(!bo_ldlt_factor(2, singular, NULL));
    check(!bo_ldlt_factor(1, bad, NULL));
}

static void lu_solves(void **state) {
    (void)state;
    test_random r = {7};
    int32_t pivots[N];
    for (int n = 1; n <= N; n += 3) {
        random_entries(&r, m.B, n * n);
        m.B[0] = n > 1 ? 0 : 1; /* needs its first exchange */
        memcpy(m.A, m.B, sizeof m.A);
        make_right_side(&r, n);
        check(bo_lu_factor(n, m.A, pivots));
        double solution[N], many[2 * N];
        memcpy(solution, m.b, sizeof solution);
        bo_lu_solve(n, m.A, pivots, solution);
        check_solution(n, solution);
        for (int i = 0; i < n; i++)
            many[2 * i] = m.b[i], many[2 * i + 1] = -m.b[i];
        bo_lu_solve_many(n, m.A, pivots, 2, many);
        for (int i = 0; i < n; i++)
            check(many[2 * i] == solution[i] && many[2 * i + 1] == -solution[i]);
    }
    double singular[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, bad[4] = {1, NAN, 2, 3};
    check(!bo_lu_factor(3, singular, pivots));
    check(!bo_lu_factor(2, bad, pivots));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eigenpairs_of_random_matrices),
        cmocka_unit_test(known_eigenvalues_repeated_and_zero),
        cmocka_unit_test(eigenvalues_of_a_spring_chain),
        cmocka_unit_test(extreme_sizes_and_bad_numbers),
        cmocka_unit_test(cholesky_solves),
        cmocka_unit_test(generalised_eigenpairs),
        cmocka_unit_test(cholesky_refuses_what_is_not_definite),
        cmocka_unit_test(ldlt_counts_negative_eigenvalues),
        cmocka_unit_test(lu_solves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
