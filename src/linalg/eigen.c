#include "linalg/eigen.h"

#include "dense/symmetric_eigen.h"
#include "linalg/blas.h"
#include "linalg/krylov.h"
#include "linalg/one_thread.h"

#include <float.h>
#include <math.h>

#define BLOCK BO_KRYLOV_BLOCK
#define MAX_RESTARTS 300

/* Rayleigh-Ritz approximations (theta, V^T s) from the processed part of a Krylov space, largest theta first. */
typedef struct {
    int32_t count;
    double *theta, *residual; /* residual: |A x - theta x| in the norm of M */
    double *S;                /* count x count, column i is s_i */
    double *square, *scratch;
    double work; /* of the space when they were computed */
} ritz;

static void release(bough_context *ctx, ritz *r) {
    bo_free(ctx, r->theta);
    bo_free(ctx, r->residual);
    bo_free(ctx, r->S);
    bo_free(ctx, r->square);
    bo_free(ctx, r->scratch);
}

/* Room for the next injection of random vectors. About twice as many vectors as modes let the low end of a spectrum
 * converge without a restart; the front and the steps that it needs come on top. More than the rank are not
 * independent.
 */
static bough_status reserve(bough_context *ctx, int32_t count, bo_krylov *k, ritz *r) {
    int64_t wish = 2 * (int64_t)count + 6 * ((int64_t)k->random_count + BLOCK);
    int32_t capacity = wish < k->M->rank ? (int32_t)wish : k->M->rank;
    if (capacity <= k->capacity)
        return BOUGH_OK;
    BO_TRY(bo_krylov_reserve(ctx, k, capacity));
    size_t m = (size_t)capacity;
    release(ctx, r);
    *r = (ritz){.work = r->work};
    r->theta = BO_NEW_ARRAY(ctx, double, m);
    r->residual = BO_NEW_ARRAY(ctx, double, m);
    r->S = BO_NEW_ARRAY(ctx, double, m *m);
    r->square = BO_NEW_ARRAY(ctx, double, m *m);
    r->scratch = BO_NEW_ARRAY(ctx, double, 2 * m);
    return r->theta && r->residual && r->S && r->square && r->scratch ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

/* Eigenvalues of -T come in ascending order, so those of T largest first. The residual A x - theta x of x = V^T s lies
 * in the front: its coordinates are F s with the front's rows F of T. */
static bough_status compute_ritz(bough_context *ctx, const bo_krylov *k, ritz *r) {
    int32_t n = k->processed, front = k->used - n, m = k->capacity;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j <= i; j++)
            r->square[(size_t)i * (size_t)n + (size_t)j] = -k->T[(size_t)i * (size_t)m + (size_t)j];
    if (!bo_sym_eigen(n, r->square, r->theta, r->S, r->scratch))
        return bo_fail(ctx, BOUGH_NO_CONVERGENCE, "the eigenvalue iteration failed: the matrices are not finite");
    double *Fs = r->square;
    if (front > 0)
        bo_gemm(false, false, front, n, n, 1, k->T + (size_t)n * (size_t)m, m, r->S, n, 0, Fs, n);
    for (int32_t i = 0; i < n; i++) {
        double sum = 0;
        for (int32_t f = 0; f < front; f++)
            sum += Fs[(size_t)f * (size_t)n + (size_t)i] * Fs[(size_t)f * (size_t)n + (size_t)i];
        r->theta[i] = -r->theta[i];
        r->residual[i] = sqrt(sum);
    }
    r->count = n;
    r->work = k->work;
    return BOUGH_OK;
}

/* Ritz values from `begin` that cannot be told from copies of one. */
static int32_t cluster_end(const ritz *r, int32_t begin) {
    int32_t end = begin + 1;
    while (end < r->count && r->theta[end - 1] - r->theta[end] <= 1e-5 * r->theta[end - 1])
        end++;
    return end;
}

static int32_t count_residuals(const ritz *r, int32_t begin, int32_t end, double limit) {
    int32_t below = 0;
    for (int32_t i = begin; i < end; i++)
        below += r->residual[i] <= limit * r->theta[i];
    return below;
}

/* Returns how many of the first `count` pairs have converged. An eigenvalue is wrong by residual^2 / gap, where the gap
 * is that between its cluster and the rest: with gaps down to a millionth of theta a residual of 1e-3 sqrt(tolerance)
 * theta makes it right to the tolerance.
 *
 * A space that started from w random vectors sees w directions of an eigenspace or narrow cluster, and shows all of it
 * when it shows fewer. A cluster with more copies may have some that are *hidden. Then the gap is that to the hidden
 * ones, and only the residual itself bounds the error. Exact copies of the last eigenvalue would not change the
 * answer. */
static int32_t judge(const bo_krylov *k, const ritz *r, int32_t count, double tolerance, bool *hidden) {
    int32_t converged = 0;
    *hidden = false;
    for (int32_t begin = 0, end; begin < count && begin < r->count; begin = end) {
        end = cluster_end(r, begin);
        int32_t wanted_end = end < count ? end : count;
        bool incomplete = count_residuals(r, begin, end, 1e-4) >= k->random_count;
        double limit = incomplete ? fmax(tolerance, 16 * DBL_EPSILON) : 1e-3 * sqrt(fmax(tolerance, DBL_EPSILON));
        int32_t good = count_residuals(r, begin, wanted_end, limit);
        if (incomplete && (end < count || (good < wanted_end - begin && k->random_count < count + 8 * BLOCK)))
            *hidden = true;
        converged += good;
    }
    return converged;
}

/* Solving the small problem takes about 10 n^3 operations, which are slower than those on blocks; it is looked at when
 * that is little beside what was spent since. */
static bool worth_a_look(const bo_krylov *k, const ritz *r, int32_t count) {
    double n = k->processed;
    return k->processed >= count && 40 * n * n * n <= k->work - r->work;
}

/* For so many blocks more. A space that can hold all there is never needs a restart. */
static bool has_room(const bo_krylov *k, int32_t blocks) {
    return k->capacity == k->M->rank || k->used + blocks * BLOCK <= k->capacity;
}

/* Restart with half of the unwanted Ritz vectors, which are on their way, leaving room for two blocks at least. */
static bough_status restart(bough_context *ctx, bo_krylov *k, ritz *r, int32_t count) {
    int32_t front = k->used - k->processed, keep = (count + r->count) / 2, most = k->capacity - front - 2 * BLOCK;
    keep = keep > most ? most : keep;
    return bo_krylov_restart(ctx, k, keep, r->theta, r->S, r->count);
}

static bough_status too_low_rank(bough_context *ctx, int32_t count) {
    return bo_fail(ctx, BOUGH_NO_CONVERGENCE,
                   "the mass matrix has too low a rank for %d modes; ask for fewer or use the consistent mass", count);
}

/* Until the first `count` Ritz pairs have converged, or the space is all there is. */
static bough_status iterate(bough_context *ctx, bo_krylov *k, ritz *r, int32_t count, double tolerance) {
    int32_t converged = 0;
    bool hidden;
    BO_TRY(reserve(ctx, count, k, r));
    BO_TRY(bo_krylov_inject(ctx, k));
    for (int32_t restarts = 0; restarts <= MAX_RESTARTS;) {
        if (k->used > k->processed)
            BO_TRY(bo_krylov_step(ctx, k));
        bool closed = k->used == k->processed; /* V spans an invariant space */
        if (!closed && has_room(k, 1) && !worth_a_look(k, r, count))
            continue;
        BO_TRY(compute_ritz(ctx, k, r));
        converged = judge(k, r, count, tolerance, &hidden);
        if (!hidden && converged == count)
            return BOUGH_OK;
        if (!has_room(k, 1)) {
            BO_TRY(restart(ctx, k, r, count));
            restarts++;
        }
        if (closed || hidden) {
            BO_TRY(reserve(ctx, count, k, r));
            BO_TRY(bo_krylov_inject(ctx, k));
        }
        if (closed && k->used == k->processed) /* there is nothing else */
            return k->processed < count ? too_low_rank(ctx, count) : compute_ritz(ctx, k, r);
    }
    return bo_fail(ctx, BOUGH_NO_CONVERGENCE, "only %d of %d eigenvalues converged; ask for fewer modes", converged,
                   count);
}

/* theta = 1 / (lambda - shift). The vectors are A x / theta = x + (residual in the front) / theta, which is nearer to
 * the eigenvector than x and free of what rounding has put into the null space of M. */
static bough_status extract(bough_context *ctx, bo_krylov *k, const ritz *r, double shift, int32_t count,
                            double *values, double *vectors) {
    int32_t n = r->count, front = k->used - n, m = k->capacity;
    for (int32_t i = 0; i < count; i++) {
        if (!(r->theta[i] > 0))
            return too_low_rank(ctx, count);
        values[i] = shift + 1 / r->theta[i];
    }
    BO_TRY(bo_krylov_combine(ctx, k, count, r->S, n, 0, n, false, vectors));
    if (front == 0)
        return BOUGH_OK;
    double *Fs = r->square;
    bo_gemm(false, false, front, count, n, 1, k->T + (size_t)n * (size_t)m, m, r->S, n, 0, Fs, count);
    for (int32_t f = 0; f < front; f++)
        for (int32_t i = 0; i < count; i++)
            Fs[(size_t)f * (size_t)count + (size_t)i] /= r->theta[i];
    return bo_krylov_combine(ctx, k, count, Fs, count, n, front, true, vectors);
}

bough_status bo_eigen_shift_invert(bough_context *ctx, bo_factor *factor, const bo_operator *M, double shift,
                                   int32_t count, double tolerance, double *values, double *vectors) {
    if (count < 1 || count >= M->rank)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%d eigenvalues of a problem of rank %d cannot be computed", count,
                       M->rank);
    bo_krylov krylov;
    bo_krylov_start(factor, M, &krylov);
    ritz r = {0};
    bo_one_thread_begin();
    bough_status status = iterate(ctx, &krylov, &r, count, tolerance);
    if (status == BOUGH_OK)
        status = extract(ctx, &krylov, &r, shift, count, values, vectors);
    release(ctx, &r);
    bo_krylov_release(ctx, &krylov);
    bo_one_thread_end();
    return status;
}
