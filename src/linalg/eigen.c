#include "linalg/eigen.h"
#include "linalg/one_thread.h"

#include <arpack/arpack.h>
#include <pthread.h>
#include <string.h>

/* ARPACK keeps its state in static Fortran variables between calls of dsaupd: one run at a time in a process. */
static pthread_mutex_t arpack_lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct {
    double *resid, *v, *workd, *workl;
    a_int *select;
} workspace;

static void release(bough_context *ctx, workspace *w) {
    bo_free(ctx, w->resid);
    bo_free(ctx, w->v);
    bo_free(ctx, w->workd);
    bo_free(ctx, w->workl);
    bo_free(ctx, w->select);
}

static bough_status reserve(bough_context *ctx, workspace *w, size_t n, size_t ncv) {
    w->resid = BO_NEW_ARRAY(ctx, double, n);
    w->v = BO_NEW_ARRAY(ctx, double, n *ncv);
    w->workd = BO_NEW_ZEROS(ctx, double, 3 * n);
    w->workl = BO_NEW_ZEROS(ctx, double, ncv *(ncv + 8));
    w->select = BO_NEW_ZEROS(ctx, a_int, ncv);
    return w->resid && w->v && w->workd && w->workl && w->select ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

/* A start vector without symmetry, the same every time, so that results are repeatable; multiplied by the operator
 * once so that it lies in its range (M may be singular at fixed degrees of freedom). */
static bough_status start_vector(bough_context *ctx, bo_factor *factor, const bo_operator *M, workspace *w) {
    uint64_t state = 42;
    for (int32_t i = 0; i < M->size; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        w->workd[i] = (double)(state >> 33) * 0x1p-31 + 0.5;
    }
    M->multiply(M->data, w->workd, w->resid);
    return bo_factor_solve(ctx, factor, w->resid, w->resid, 1);
}

static bough_status iterate(bough_context *ctx, bo_factor *factor, const bo_operator *M, int32_t count, a_int ncv,
                            double tolerance, double sigma, workspace *w, double *values, double *vectors) {
    const a_int n = M->size;
    a_int ido = 0, info = 1, iparam[11] = {0}, ipntr[11] = {0}, lworkl = ncv * (ncv + 8);
    iparam[0] = 1;   /* exact shifts */
    iparam[2] = 300; /* restarts */
    iparam[6] = 3;   /* shift-invert */
    int32_t solves = 0;
    for (;;) {
        dsaupd_c(&ido, "G", n, "LM", count, tolerance, w->resid, ncv, w->v, n, iparam, ipntr, w->workd, w->workl,
                 lworkl, &info);
        double *x = w->workd + ipntr[0] - 1, *y = w->workd + ipntr[1] - 1;
        if (ido == -1) {
            M->multiply(M->data, x, y);
            BO_TRY(bo_factor_solve(ctx, factor, y, y, 1));
        } else if (ido == 1) {
            BO_TRY(bo_factor_solve(ctx, factor, w->workd + ipntr[2] - 1, y, 1)); /* M x is there already */
        } else if (ido == 2) {
            M->multiply(M->data, x, y);
        } else {
            break;
        }
        if (ido != 2 && !bo_progress(ctx, "eigenvalues", -1, "%d solves", ++solves))
            return bo_fail_cancelled(ctx);
    }
    if (info == -9999) /* the iteration ran out of new directions */
        return bo_fail(ctx, BOUGH_NO_CONVERGENCE,
                       "the mass matrix has too low a rank for %d modes; ask for fewer or use the consistent mass",
                       count);
    if (info < 0)
        return bo_fail(ctx, BOUGH_NO_CONVERGENCE, "the eigenvalue iteration failed (ARPACK info %d)", (int)info);
    if (info == 1 || iparam[4] < count)
        return bo_fail(ctx, BOUGH_NO_CONVERGENCE, "only %d of %d eigenvalues converged; ask for fewer modes",
                       (int)iparam[4], count);
    memset(w->select, 0, (size_t)ncv * sizeof *w->select);
    dseupd_c(1, "A", w->select, values, vectors, n, sigma, "G", n, "LM", count, tolerance, w->resid, ncv, w->v, n,
             iparam, ipntr, w->workd, w->workl, lworkl, &info);
    return info == 0
               ? BOUGH_OK
               : bo_fail(ctx, BOUGH_NO_CONVERGENCE, "eigenvectors could not be formed (ARPACK info %d)", (int)info);
}

static void sort_ascending(double *values, double *vectors, int32_t count, size_t n, double *scratch) {
    for (int32_t i = 1; i < count; i++)
        for (int32_t j = i; j > 0 && values[j - 1] > values[j]; j--) {
            double t = values[j];
            values[j] = values[j - 1];
            values[j - 1] = t;
            double *a = vectors + (size_t)j * n, *b = a - n;
            memcpy(scratch, a, n * sizeof *a);
            memcpy(a, b, n * sizeof *a);
            memcpy(b, scratch, n * sizeof *a);
        }
}

bough_status bo_eigen_shift_invert(bough_context *ctx, bo_factor *factor, const bo_operator *M, double shift,
                                   int32_t count, double tolerance, double *values, double *vectors) {
    if (count < 1 || count >= M->rank)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%d eigenvalues of a problem of rank %d cannot be computed", count,
                       M->rank);
    /* About twice as many Lanczos vectors as modes let the low end of a spectrum converge without a restart; every
     * further vector costs a solve. */
    a_int ncv = 2 * count + 2 > 20 ? 2 * count + 2 : 20;
    if (ncv > M->rank)
        ncv = M->rank; /* there are no more independent ones */
    workspace w = {0};
    pthread_mutex_lock(&arpack_lock);
    bo_one_thread_begin();
    bough_status status = reserve(ctx, &w, (size_t)M->size, (size_t)ncv);
    if (status == BOUGH_OK)
        status = start_vector(ctx, factor, M, &w);
    if (status == BOUGH_OK)
        status = iterate(ctx, factor, M, count, ncv, tolerance, shift, &w, values, vectors);
    if (status == BOUGH_OK)
        sort_ascending(values, vectors, count, (size_t)M->size, w.resid);
    release(ctx, &w);
    bo_one_thread_end();
    pthread_mutex_unlock(&arpack_lock);
    return status;
}
