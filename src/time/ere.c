/* The exponential Rosenbrock-Euler method: the linearised motion over a step, exactly.
 *
 *     dq = (S + d C) v + C a0,   dv = -B C v + S a0,   B = M^-1 K,   d = rayleigh_mass + rayleigh_stiffness B,
 * with S and C of exponential.h as functions of the matrix B. B is symmetric in the inner product of M, so that two
 * Lanczos runs, from v and from a0, give them: f(B) x = |x|_M V f(T) e1. About h w_max + 8 vectors are needed, which
 * is why the cost explodes with stiffness. */
#include "time/exponential.h"
#include "time/integrator.h"

#include "dense/symmetric_eigen.h"

#include <math.h>
#include <string.h>

#define ACCURACY 1e-11 /* of the last coefficients, relative */

typedef struct {
    bo_integrator *I;
    double h;
    int limit;
    double **V;                       /* limit + 1 Lanczos vectors */
    double *alpha, *beta;             /* of T */
    double *T, *Q, *values, *scratch; /* dense */
    double *cq, *cv;                  /* coefficients of the two functions */
    double *w, *Mw;
} krylov;

static double dot(int32_t n, const double *a, const double *b) {
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* The next vector, kept orthogonal to all before it (twice is enough). *done: the space is invariant. */
static bough_status extend(krylov *k, int j, bool *done) {
    const bo_system *s = k->I->system;
    const int32_t n = s->size;
    s->multiply(s->data, BO_MATRIX_K, k->V[j], k->Mw);
    k->alpha[j] = dot(n, k->V[j], k->Mw);
    BO_TRY(s->solve(s->data, k->Mw, k->w));
    double before = 0;
    for (int pass = 0; pass < 2; pass++) {
        s->multiply(s->data, BO_MATRIX_M, k->w, k->Mw);
        if (pass == 0)
            before = sqrt(fmax(0, dot(n, k->w, k->Mw)));
        for (int i = 0; i <= j; i++)
            bo_add_scaled(k->I, k->w, -dot(n, k->V[i], k->Mw), k->V[i], k->w);
    }
    s->multiply(s->data, BO_MATRIX_M, k->w, k->Mw);
    k->beta[j] = sqrt(fmax(0, dot(n, k->w, k->Mw)));
    *done = k->beta[j] <= 1e-12 * before;
    for (int32_t i = 0; i < n && !*done; i++)
        k->V[j + 1][i] = k->w[i] / k->beta[j];
    return BOUGH_OK;
}

/* cq, cv: coefficients of the two functions of T in V; from_velocity chooses which two. */
static bool coefficients(krylov *k, int m, bool from_velocity) {
    const bo_system *s = k->I->system;
    memset(k->T, 0, (size_t)(m * m) * sizeof *k->T);
    for (int i = 0; i < m; i++) {
        k->T[i * m + i] = k->alpha[i];
        if (i + 1 < m)
            k->T[i * m + i + 1] = k->T[(i + 1) * m + i] = k->beta[i];
    }
    if (!bo_sym_eigen(m, k->T, k->values, k->Q, k->scratch))
        return false;
    memset(k->cq, 0, (size_t)m * sizeof *k->cq);
    memset(k->cv, 0, (size_t)m * sizeof *k->cv);
    for (int e = 0; e < m; e++) {
        double S, C, lambda = k->values[e], d = s->rayleigh_mass + s->rayleigh_stiffness * lambda;
        bo_mode_functions(lambda, d, k->h, &S, &C);
        double q = from_velocity ? S + d * C : C, v = from_velocity ? -lambda * C : S;
        for (int i = 0; i < m; i++) {
            k->cq[i] += k->Q[i * m + e] * q * k->Q[e];
            k->cv[i] += k->Q[i * m + e] * v * k->Q[e];
        }
    }
    return true;
}

static bool negligible(const double *c, int m) {
    double largest = 0;
    for (int i = 0; i < m; i++)
        largest = fmax(largest, fabs(c[i]));
    return fabs(c[m - 1]) <= ACCURACY * largest && (m < 2 || fabs(c[m - 2]) <= ACCURACY * largest);
}

/* dq += cq-function of B times x, dv likewise. */
static bough_status add_functions(krylov *k, const double *x, bool from_velocity, double *dq, double *dv) {
    const bo_system *s = k->I->system;
    const int32_t n = s->size;
    s->multiply(s->data, BO_MATRIX_M, x, k->Mw);
    double length = sqrt(fmax(0, dot(n, x, k->Mw)));
    if (length == 0)
        return BOUGH_OK;
    for (int32_t i = 0; i < n; i++)
        k->V[0][i] = x[i] / length;
    bool done = false;
    int m = 0, next_check = 8;
    while (!done) {
        BO_TRY(extend(k, m, &done));
        m++;
        if (!done && m < next_check && m < k->limit)
            continue;
        if (!coefficients(k, m, from_velocity))
            return bo_fail(k->I->ctx, BOUGH_NOT_FINITE, "the step met a number that is not finite");
        done |= negligible(k->cq, m) && negligible(k->cv, m);
        if (!done && m == k->limit)
            return bo_fail(k->I->ctx, BOUGH_NO_CONVERGENCE,
                           "%d Krylov vectors do not resolve h times the highest frequency; take a smaller step", m);
        next_check = m + (m < 32 ? 4 : m / 4);
    }
    for (int i = 0; i < m; i++) {
        bo_add_scaled(k->I, dq, length * k->cq[i], k->V[i], dq);
        bo_add_scaled(k->I, dv, length * k->cv[i], k->V[i], dv);
    }
    return BOUGH_OK;
}

size_t bo_krylov_bytes(int32_t limit) {
    size_t m = (size_t)limit;
    return (2 * m * m + 8 * m) * sizeof(double) + (m + 1) * sizeof(double *) + 64 * 10;
}

static void reserve(krylov *k) {
    bo_integrator *I = k->I;
    const size_t m = (size_t)k->limit;
    double **arrays[] = {&k->alpha, &k->beta, &k->values, &k->cq, &k->cv};
    for (int i = 0; i < 5; i++)
        *arrays[i] = bo_arena_take(I->ctx, &I->arena, m, sizeof(double));
    k->scratch = bo_arena_take(I->ctx, &I->arena, 2 * m, sizeof(double));
    k->T = bo_arena_take(I->ctx, &I->arena, m * m, sizeof(double));
    k->Q = bo_arena_take(I->ctx, &I->arena, m * m, sizeof(double));
    k->V = bo_arena_take(I->ctx, &I->arena, m + 1, sizeof(double *));
    for (size_t i = 0; i <= m; i++)
        k->V[i] = bo_take(I);
    k->w = bo_take(I);
    k->Mw = bo_take(I);
}

static bough_status ere(bo_integrator *I, double h, const bo_motion *from, bo_motion *to) {
    const bo_system *s = I->system;
    if (isnan(s->rayleigh_mass) || isnan(s->rayleigh_stiffness))
        return bo_fail(I->ctx, BOUGH_ERROR_UNSUPPORTED, "ere needs Rayleigh damping; this system has another kind");
    double *a = bo_take(I), *dq = bo_take(I), *dv = bo_take(I);
    krylov k = {.I = I, .h = h, .limit = I->def.krylov_limit};
    BO_TRY(s->linearise(s->data, from->t, from->q, false));
    BO_TRY(bo_total_force(I, from->t + 0.5 * h, from->q, from->v, a));
    BO_TRY(bo_mass_solve(I, a));
    reserve(&k);
    memset(dq, 0, (size_t)s->size * sizeof *dq);
    memset(dv, 0, (size_t)s->size * sizeof *dv);
    BO_TRY(add_functions(&k, from->v, true, dq, dv));
    BO_TRY(add_functions(&k, a, false, dq, dv));
    bo_move(I, from->q, 1, dq, to->q);
    bo_add_scaled(I, from->v, 1, dv, to->v);
    return BOUGH_OK;
}

const bo_method bo_method_ere = {
    .info = {.name = "ere",
             .about = "exponential Rosenbrock-Euler by Lanczos: linear motion exactly; cost grows with stiffness",
             .order = 2,
             .a_stable = true,
             .explicit_method = true,
             .solves = 20,
             .needs = ""},
    .step = ere,
    .vector_count = 3 + 3,
    .uses_krylov = true};
