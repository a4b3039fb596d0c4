#include "retarget/least_squares.h"

#include "dense/cholesky.h"

#include <math.h>
#include <string.h>

#define FIRST_LAMBDA 1e-3
#define MOST_LAMBDA 1e10
#define LEAST_LAMBDA 1e-9
#define SUM_LIMIT 1e-13 /* a step that changes the sum by so little is the last */
/* Eigenvalues of a matrix of correlations below this are rounding of central differences. */
#define RIDGE 1e-13

bough_status bo_least_squares_make(bough_context *ctx, int32_t n, int32_t p, bo_least_squares_room *room) {
    room->r = BO_NEW_ZEROS(ctx, double, n);
    room->trial = BO_NEW_ZEROS(ctx, double, n);
    room->J = BO_NEW_ZEROS(ctx, double, (size_t)n *(size_t)p);
    return room->r && room->trial && room->J ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

void bo_least_squares_free(bough_context *ctx, bo_least_squares_room *room) {
    bo_free(ctx, room->r);
    bo_free(ctx, room->trial);
    bo_free(ctx, room->J);
    *room = (bo_least_squares_room){0};
}

static double dot(int32_t n, const double *a, const double *b) {
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* N = J J^T; returns which parameters change something. */
static void normal_matrix(int32_t n, int32_t p, const double *J, double least, bool *still, double *N) {
    for (int32_t i = 0; i < p; i++)
        for (int32_t k = 0; k <= i; k++)
            N[i * p + k] = N[k * p + i] = dot(n, J + (size_t)i * (size_t)n, J + (size_t)k * (size_t)n);
    for (int32_t i = 0; i < p; i++)
        still[i] = !(sqrt(N[i * p + i] / n) > least);
}

/* ---- what is known of the result ---- */

/* The matrix is scaled to ones on its diagonal, so that units of the parameters do not matter. Parameters that only
 * together change something get variances of up to 1 / RIDGE. */
void bo_least_squares_covariance(int32_t n, int32_t p, const double *J, double least, bool *still, double *C) {
    double N[BO_MOST_PARAMETERS * BO_MOST_PARAMETERS], L[BO_MOST_PARAMETERS * BO_MOST_PARAMETERS];
    normal_matrix(n, p, J, least, still, N);
    for (double ridge = RIDGE;; ridge *= 10) {
        memset(C, 0, (size_t)(p * p) * sizeof *C);
        for (int32_t i = 0; i < p; i++)
            for (int32_t k = 0; k < p; k++) {
                const bool apart = still[i] || still[k];
                L[i * p + k] = apart ? i == k : N[i * p + k] / sqrt(N[i * p + i] * N[k * p + k]) + (i == k) * ridge;
            }
        if (bo_cholesky_factor(p, L) || ridge > 1)
            break;
    }
    for (int32_t i = 0; i < p; i++) {
        double column[BO_MOST_PARAMETERS] = {0};
        column[i] = 1;
        bo_cholesky_solve(p, L, column);
        for (int32_t k = 0; k < p; k++)
            if (!still[i] && !still[k])
                C[i * p + k] = column[k] / sqrt(N[i * p + i] * N[k * p + k]);
    }
}

void bo_least_squares_follow(int32_t n, int32_t p, const double *J, const double *C, const double *y, double *d) {
    double g[BO_MOST_PARAMETERS];
    for (int32_t i = 0; i < p; i++)
        g[i] = dot(n, J + (size_t)i * (size_t)n, y);
    for (int32_t i = 0; i < p; i++)
        d[i] = dot(p, C + i * p, g);
}

/* Cornish and Fisher's expansion about the normal quantile z; to 1e-3 from 6 freedoms on. */
double bo_student_95(double v) {
    const double z = 1.959963984540054, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
    return z + (z3 + z) / (4 * v) + (5 * z5 + 16 * z3 + 3 * z) / (96 * v * v) +
           (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * v * v * v);
}

/* ---- the search ---- */

static double clamp(double x, double lowest, double highest) {
    return fmin(fmax(x, lowest), highest);
}

/* (N + lambda diag N) d = -g, shortened as a whole where one parameter would go too far; *reach: d^T N d. */
static bool find_step(const bo_least_squares *problem, const double *N, const bool *still, const double *g,
                      double lambda, const double *x, double *y, double *reach) {
    const int32_t p = problem->p;
    double A[BO_MOST_PARAMETERS * BO_MOST_PARAMETERS], d[BO_MOST_PARAMETERS], shorter = 1;
    for (int32_t i = 0; i < p; i++) {
        for (int32_t k = 0; k < p; k++)
            A[i * p + k] = still[i] || still[k] ? i == k : N[i * p + k] * (1 + (i == k) * lambda);
        d[i] = still[i] ? 0 : -g[i];
    }
    if (!bo_cholesky_factor(p, A))
        return false;
    bo_cholesky_solve(p, A, d);
    *reach = 0;
    for (int32_t i = 0; i < p; i++)
        shorter = fmin(shorter, problem->most_step[i] / fmax(fabs(d[i]), 1e-300));
    for (int32_t i = 0; i < p; i++) {
        y[i] = clamp(x[i] + shorter * d[i], problem->lowest[i], problem->highest[i]);
        for (int32_t k = 0; k < p; k++)
            *reach += d[i] * N[i * p + k] * d[k];
    }
    return true;
}

static bough_status evaluate(bough_context *ctx, const bo_least_squares *problem, const double *x, double *r,
                             double *sum) {
    const bough_status status = problem->residual(ctx, problem->data, x, r);
    *sum = status == BOUGH_OK ? dot(problem->n, r, r) : INFINITY;
    if (!isfinite(*sum))
        *sum = INFINITY;
    return status > 0 && status != BOUGH_CANCELLED ? BOUGH_OK : status;
}

/* Tries shorter and shorter steps until one is better. *better: there was one. */
static bough_status improve(bough_context *ctx, const bo_least_squares *problem, bo_least_squares_room *room, double *x,
                            double *lambda, bo_least_squares_result *result, bool *better) {
    const int32_t n = problem->n, p = problem->p;
    double N[BO_MOST_PARAMETERS * BO_MOST_PARAMETERS], g[BO_MOST_PARAMETERS], y[BO_MOST_PARAMETERS], reach, sum;
    bool still[BO_MOST_PARAMETERS];
    normal_matrix(n, p, room->J, problem->least_change, still, N);
    for (int32_t i = 0; i < p; i++)
        g[i] = dot(n, room->J + (size_t)i * (size_t)n, room->r);
    *better = false;
    for (; *lambda < MOST_LAMBDA; *lambda *= 10) {
        if (!find_step(problem, N, still, g, *lambda, x, y, &reach))
            continue;
        const double variance = result->sum / fmax(1, n - p);
        if (reach <= problem->least_step * problem->least_step * variance || reach <= SUM_LIMIT * result->sum) {
            result->converged = true;
            return BOUGH_OK;
        }
        BO_TRY(evaluate(ctx, problem, y, room->trial, &sum));
        if (sum < result->sum) {
            double *r = room->r;
            room->r = room->trial, room->trial = r;
            memcpy(x, y, (size_t)p * sizeof *x);
            result->sum = sum;
            *lambda = fmax(*lambda / 10, LEAST_LAMBDA);
            *better = true;
            return BOUGH_OK;
        }
    }
    return BOUGH_OK;
}

bough_status bo_least_squares_run(bough_context *ctx, const bo_least_squares *problem, bo_least_squares_room *room,
                                  double *x, bo_least_squares_result *result) {
    double lambda = FIRST_LAMBDA;
    bool better;
    *result = (bo_least_squares_result){.sum = INFINITY};
    const bough_status status = problem->residual(ctx, problem->data, x, room->r);
    if (status != BOUGH_OK)
        return status;
    result->sum = dot(problem->n, room->r, room->r);
    for (;;) {
        BO_TRY(problem->jacobian(ctx, problem->data, x, room->J));
        if (result->iterations == problem->max_iterations)
            return BOUGH_OK;
        BO_TRY(improve(ctx, problem, room, x, &lambda, result, &better));
        result->converged = result->converged || !better; /* no direction is better: rounding is all that is left */
        if (!better)
            return BOUGH_OK; /* J is still that of x */
        result->iterations++;
        if (problem->tell && !problem->tell(ctx, problem->data, result->iterations, x, result->sum))
            return bo_fail_cancelled(ctx);
    }
}
