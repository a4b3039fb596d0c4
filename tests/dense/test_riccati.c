/* Sampled systems and their best feedback: closed forms, the equation itself, and loops that decay. */
#include "test.h"

#include "dense/riccati.h"

enum { N = 12, M = 3, ROOM = 4000 };

static double scratch[ROOM];
static int32_t pivots[N];

static void sampled_oscillators_are_exact(void **unused) {
    (void)unused;
    const double omega = 7, ratio = 0.1, dt = 0.3, decay = ratio * omega, damped = omega * sqrt(1 - ratio * ratio);
    const double A[4] = {0, 1, -omega * omega, -2 * decay}, B[2] = {0, omega * omega};
    double Ad[4], Bd[2];
    bo_sample_system(2, 1, A, B, dt, Ad, Bd, scratch);
    const double e = exp(-decay * dt), c = cos(damped * dt), s = sin(damped * dt);
    check_near(Ad[0], e * (c + decay / damped * s), 1e-13);
    check_near(Ad[1], e * s / damped, 1e-13);
    check_near(Ad[2], -e * omega * omega / damped * s, 1e-12);
    check_near(Ad[3], e * (c - decay / damped * s), 1e-13);
    check_near(Bd[0], 1 - Ad[0], 1e-13); /* at rest at 1 under a force of 1 */
    check_near(Bd[1], -Ad[2], 1e-12);
}

/* One number, x <- a x + b u: its equation is quadratic. */
static void one_number_is_regulated_as_by_hand(void **unused) {
    (void)unused;
    const double a = 1.3, b = 0.4, q = 2, r = 0.7;
    const double half = 0.5 * (q * b * b + r * (a * a - 1)),
                 by_hand = (half + sqrt(half * half + q * r * b * b)) / (b * b);
    double X, L;
    check(bo_riccati_solve(1, 1, &a, &b, &q, &r, &X, &L, scratch, pivots));
    check_near(X, by_hand, 1e-13);
    check_near(L, a * b * X / (r + b * b * X), 1e-14);
}

typedef struct {
    double A[N * N], B[N * M], Q[N * N], R[M * M], X[N * N], L[M * N];
} problem;

static void make_random(test_random *random, problem *p) {
    double C[N * N], S[M * M];
    for (int i = 0; i < N * N; i++)
        p->A[i] = test_uniform(random, -0.5, 0.5), C[i] = test_uniform(random, -1, 1);
    for (int i = 0; i < N * M; i++)
        p->B[i] = test_uniform(random, -1, 1);
    for (int i = 0; i < M * M; i++)
        S[i] = test_uniform(random, -1, 1);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            p->Q[N * i + j] = 0;
            for (int k = 0; k < N; k += 3) /* of less than full rank */
                p->Q[N * i + j] += C[N * k + i] * C[N * k + j];
        }
    for (int i = 0; i < M; i++)
        for (int j = 0; j < M; j++) {
            p->R[M * i + j] = i == j ? 0.1 : 0;
            for (int k = 0; k < M; k++)
                p->R[M * i + j] += S[M * k + i] * S[M * k + j];
        }
}

static double entry(int a, int b, const double *A, int i, const double *B, int j, bool transposed) {
    double sum = 0;
    for (int k = 0; k < a; k++)
        sum += (transposed ? A[b * k + i] : A[a * i + k]) * B[k * N + j];
    return sum;
}

/* |X - (A^T X (A - B L) + Q)| over |X|: the equation with L put in; and |R L - B^T X (A - B L)|, which defines L. */
static void check_solution(const problem *p, double *closed) {
    double XF[N * N], worst = 0, worst_L = 0, size = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            closed[N * i + j] = p->A[N * i + j];
            for (int k = 0; k < M; k++)
                closed[N * i + j] -= p->B[M * i + k] * p->L[N * k + j];
        }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            XF[N * i + j] = entry(N, N, p->X, i, closed, j, false);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            const double x = p->X[N * i + j];
            worst = fmax(worst, fabs(x - p->Q[N * i + j] - entry(N, N, p->A, i, XF, j, true)));
            size = fmax(size, fabs(x));
        }
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            worst_L = fmax(worst_L, fabs(entry(M, M, p->R, i, p->L, j, false) - entry(N, M, p->B, i, XF, j, true)));
    check_below(worst / size, 1e-12);
    check_below(worst_L / size, 1e-12);
}

/* Unstable systems of twelve numbers and three inputs. */
static void random_systems_are_held(void **unused) {
    (void)unused;
    test_random random = {5};
    static problem p;
    for (int round = 0; round < 50; round++) {
        double closed[N * N], power[N * N], next[N * N], most = 0;
        make_random(&random, &p);
        check(bo_riccati_scratch(N, M) <= ROOM);
        check(bo_riccati_solve(N, M, p.A, p.B, p.Q, p.R, p.X, p.L, scratch, pivots));
        check_solution(&p, closed);
        memcpy(power, closed, sizeof power);
        for (int k = 0; k < 14; k++) { /* 2^14 steps */
            for (int i = 0; i < N; i++)
                for (int j = 0; j < N; j++)
                    next[N * i + j] = entry(N, N, power, i, power, j, false);
            memcpy(power, next, sizeof power);
        }
        for (int i = 0; i < N * N; i++)
            most = fmax(most, fabs(power[i]));
        check_below(most, 1e-10);
    }
}

static void hopeless_systems_are_refused(void **unused) {
    (void)unused;
    const double A[4] = {1.2, 0, 0, 0.5}, beside[2] = {0, 1}, Q[4] = {1, 0, 0, 1}, r = 1, none = 0;
    const double reached[2] = {1, 0}, turns[4] = {0, 1, -1, 0};
    double X[4], L[2];
    check(!bo_riccati_solve(2, 1, A, beside, Q, &r, X, L, scratch, pivots)); /* grows, and no input reaches it */
    check(!bo_riccati_solve(2, 1, turns, (const double[2]){0, 0}, Q, &r, X, L, scratch, pivots)); /* never decays */
    check(!bo_riccati_solve(2, 1, A, reached, Q, &none, X, L, scratch, pivots));
    check(bo_riccati_solve(2, 1, A, reached, Q, &r, X, L, scratch, pivots));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sampled_oscillators_are_exact), cmocka_unit_test(one_number_is_regulated_as_by_hand),
        cmocka_unit_test(random_systems_are_held), cmocka_unit_test(hopeless_systems_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
