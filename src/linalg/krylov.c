#include "linalg/krylov.h"

#include "linalg/blas.h"
#include "linalg/memory.h"

#include <math.h>
#include <string.h>

#define BLOCK BO_KRYLOV_BLOCK
#define PANEL 512             /* columns of V that a restart turns at a time: they stay in the cache */
#define OPERATIONS_A_LOOK 5e8 /* between two looks at whether to go on */

void bo_krylov_start(bo_factor *factor, const bo_operator *M, bo_krylov *k) {
    *k = (bo_krylov){.factor = factor, .M = M, .size = M->size, .random = 42};
}

static bool resize(bough_context *ctx, double **block, size_t count) {
    double *resized = bo_realloc(ctx, *block, count, sizeof *resized);
    *block = resized ? resized : *block;
    return resized != NULL;
}

bough_status bo_krylov_reserve(bough_context *ctx, bo_krylov *k, int32_t capacity) {
    size_t m = (size_t)capacity, old = (size_t)k->capacity, rows = m + BLOCK, n = (size_t)k->size;
    BO_TRY(bo_check_memory(ctx, 2.0 * (double)(m - old) * (double)n * sizeof(double),
                           "a search for eigenvalues with %d vectors of %d unknowns", capacity, k->size));
    double *T = BO_NEW_ZEROS(ctx, double, m *m);
    if (!T)
        return BOUGH_ERROR_MEMORY;
    for (size_t i = 0; i < old; i++)
        memcpy(T + i * m, k->T + i * old, old * sizeof *T);
    bo_free(ctx, k->T);
    k->T = T;
    k->capacity = capacity;
    bool there = resize(ctx, &k->V, rows * n) && resize(ctx, &k->MV, rows * n) &&
                 resize(ctx, &k->coefficients, 3 * BLOCK * rows) && resize(ctx, &k->panel, m * (m > PANEL ? m : PANEL));
    return there ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

void bo_krylov_release(bough_context *ctx, bo_krylov *k) {
    bo_free(ctx, k->V);
    bo_free(ctx, k->MV);
    bo_free(ctx, k->T);
    bo_free(ctx, k->coefficients);
    bo_free(ctx, k->panel);
}

static bough_status ask(bough_context *ctx, bo_krylov *k) {
    k->since_look = 0;
    return bo_progress(ctx, "eigenvalues", -1, "%d solves", k->solves) ? BOUGH_OK : bo_fail_cancelled(ctx);
}

static bough_status go_on(bough_context *ctx, bo_krylov *k, double operations) {
    k->since_look += operations;
    return k->since_look < OPERATIONS_A_LOOK ? BOUGH_OK : ask(ctx, k);
}

static double dot(int32_t n, const double *a, const double *b) {
    double sum[4] = {0};
    int32_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int d = 0; d < 4; d++)
            sum[d] += a[i + d] * b[i + d];
    for (; i < n; i++)
        sum[0] += a[i] * b[i];
    return sum[0] + sum[1] + (sum[2] + sum[3]);
}

static void scale_to(int32_t n, double factor, const double *from, double *to) {
    for (int32_t i = 0; i < n; i++)
        to[i] = factor * from[i];
}

/* Gram-Schmidt among the `rows` candidates behind the basis, with their products by M: those that keep more than `drop`
 * of their first length |w_i|^2 = |rest|^2 + sum_j C_ij^2 move together and are scaled to length 1. Their number;
 * w_i = ... + sum_j C_i,used+j q_j. */
static int32_t orthonormalise_candidates(bo_krylov *k, int32_t rows, int32_t room, double drop, double *C) {
    int32_t n = k->size, width = k->capacity + BLOCK, found = 0;
    double *Q = k->V + (size_t)k->used * (size_t)n, *MQ = k->MV + (size_t)k->used * (size_t)n;
    for (int32_t i = 0; i < rows; i++) {
        double *w = Q + (size_t)i * (size_t)n, *Mw = MQ + (size_t)i * (size_t)n;
        double *row = C + (size_t)i * (size_t)width, *c = row + k->used;
        double length2 = dot(k->used, row, row) + dot(n, w, Mw);
        memset(c, 0, BLOCK * sizeof *c);
        if (found > 0) {
            bo_gemm(false, true, 1, found, n, 1, Mw, n, Q, n, 0, c, width);
            bo_gemm(false, false, 1, n, found, -1, c, width, Q, n, 1, w, n);
            bo_gemm(false, false, 1, n, found, -1, c, width, MQ, n, 1, Mw, n);
        }
        double rest2 = dot(n, w, Mw);
        if (found == room || !(rest2 > drop * drop * length2))
            continue;
        c[found] = sqrt(rest2);
        scale_to(n, 1 / c[found], w, Q + (size_t)found * (size_t)n);
        scale_to(n, 1 / c[found], Mw, MQ + (size_t)found * (size_t)n);
        found++;
    }
    return found;
}

/* So many of `count` rows or columns, of which each costs so many operations, are multiplied at a time. */
static int32_t at_a_time(int32_t count, double operations_each, int32_t least) {
    double most = fmax(least, OPERATIONS_A_LOOK / 4 / (operations_each + 1));
    return count < most ? count : (int32_t)most;
}

/* W <- W - C V with C = W M V^T, for the `rows` candidates W and the `beside` vectors V of the basis from `from` on. */
static bough_status subtract_projections(bough_context *ctx, bo_krylov *k, int32_t rows, int32_t from, int32_t beside,
                                         double *C) {
    const int32_t n = k->size, width = k->capacity + BLOCK;
    const size_t stride = (size_t)n;
    double *W = k->V + (size_t)k->used * stride;
    const double *V = k->V + (size_t)from * stride, *MV = k->MV + (size_t)from * stride;
    for (int32_t at = 0, some; at < beside; at += some) {
        some = at_a_time(beside - at, 2.0 * rows * n, BLOCK);
        bo_gemm(false, true, rows, some, n, 1, W, n, MV + (size_t)at * stride, n, 0, C + from + at, width);
        BO_TRY(go_on(ctx, k, 2.0 * rows * some * n));
    }
    for (int32_t at = 0, some; at < n; at += some) {
        some = at_a_time(n - at, 2.0 * rows * beside, PANEL);
        bo_gemm(false, false, rows, some, beside, -1, C + from, width, V + at, n, 1, W + at, n);
        BO_TRY(go_on(ctx, k, 2.0 * rows * some * beside));
    }
    k->work += 4.0 * rows * n * beside;
    return BOUGH_OK;
}

/* One round of block Gram-Schmidt: the `rows` candidates W behind the basis become W = C [V; Q] with *found new rows Q.
 * Their parts along the first `from` vectors are known to be no more than rounding and stay. */
static bough_status orthogonalise_once(bough_context *ctx, bo_krylov *k, int32_t rows, int32_t from, int32_t room,
                                       double drop, double *C, int32_t *found) {
    int32_t n = k->size, width = k->capacity + BLOCK, beside = k->used - from;
    double *W = k->V + (size_t)k->used * (size_t)n, *MW = k->MV + (size_t)k->used * (size_t)n;
    for (int32_t i = 0; i < rows; i++)
        memset(C + (size_t)i * (size_t)width, 0, (size_t)from * sizeof *C);
    if (beside > 0)
        BO_TRY(subtract_projections(ctx, k, rows, from, beside, C));
    k->M->multiply(k->M->data, W, MW, rows);
    *found = orthonormalise_candidates(k, rows, room, drop, C);
    return BOUGH_OK;
}

/* The `rows` candidates behind the basis become orthonormal to it and to each other; those that are combinations of the
 * others are left out. The first round leaves errors of rounding over what was kept; candidates of which only rounding
 * was left are unmasked by the second round, which must not change them much. *C: the candidates in the new basis,
 *     W = C1 [V; Q1], Q1 = C2 [V; Q2]   ->   W = (C1v + C1q C2v) V + C1q C2q Q2 . */
static bough_status orthonormalise(bough_context *ctx, bo_krylov *k, int32_t rows, int32_t from, double **C,
                                   int32_t *found) {
    int32_t first, width = k->capacity + BLOCK, used = k->used;
    double *C1 = k->coefficients, *C2 = C1 + BLOCK * (size_t)width, *sum = C2 + BLOCK * (size_t)width;
    int32_t room = k->capacity - used < rows ? k->capacity - used : rows;
    *found = 0;
    BO_TRY(orthogonalise_once(ctx, k, rows, from, rows, 1e-14, C1, &first));
    if (first > 0)
        BO_TRY(orthogonalise_once(ctx, k, first, 0, room, 0.1, C2, found));
    memset(sum, 0, BLOCK * (size_t)width * sizeof *sum);
    for (int32_t i = 0; i < rows; i++) {
        double *to = sum + (size_t)i * (size_t)width;
        memcpy(to, C1 + (size_t)i * (size_t)width, (size_t)used * sizeof *to);
        for (int32_t q = 0; q < first; q++) {
            double factor = C1[(size_t)i * (size_t)width + (size_t)(used + q)];
            for (int32_t j = 0; j < used + *found; j++)
                to[j] += factor * C2[(size_t)q * (size_t)width + (size_t)j];
        }
    }
    *C = sum;
    return BOUGH_OK;
}

/* The rows of T from `begin` to `end`, and the columns as they are symmetric. */
static void clear_rows(bo_krylov *k, int32_t begin, int32_t end) {
    size_t m = (size_t)k->capacity;
    for (size_t i = (size_t)begin; i < (size_t)end; i++)
        for (size_t j = 0; j < (size_t)end; j++)
            k->T[i * m + j] = k->T[j * m + i] = 0;
}

static bough_status solve(bough_context *ctx, bo_krylov *k, const double *b, double *x, int32_t count) {
    double entries, operations;
    bo_factor_cost(k->factor, &entries, &operations);
    BO_TRY(bo_factor_solve(ctx, k->factor, b, x, count));
    if (k->M->correct)
        k->M->correct(k->M->data, x, count);
    k->work += 4 * entries * count;
    k->solves += count;
    return ask(ctx, k);
}

/* A fixed sequence without symmetry, so that results are repeatable, multiplied by A once so that it lies in its range
 * (M may be singular). */
bough_status bo_krylov_inject(bough_context *ctx, bo_krylov *k) {
    int32_t rows = k->capacity - k->used < BLOCK ? k->capacity - k->used : BLOCK;
    if (rows <= 0)
        return BOUGH_OK;
    size_t at = (size_t)k->used * (size_t)k->size;
    for (size_t i = 0; i < (size_t)rows * (size_t)k->size; i++) {
        k->random = k->random * 6364136223846793005u + 1442695040888963407u;
        k->V[at + i] = (double)(k->random >> 33) * 0x1p-30 - 1;
    }
    k->M->multiply(k->M->data, k->V + at, k->MV + at, rows);
    BO_TRY(solve(ctx, k, k->MV + at, k->V + at, rows));
    double *C;
    int32_t found;
    BO_TRY(orthonormalise(ctx, k, rows, 0, &C, &found));
    clear_rows(k, k->used, k->used + found);
    k->used += found;
    k->random_count += found;
    return BOUGH_OK;
}

/* The first basis vector that the next `rows` of the front are coupled to by T: A maps them to a combination of it and
 * its successors. Without a restart that is the block before (the three-term recurrence). */
static int32_t first_coupled(const bo_krylov *k, int32_t rows) {
    for (int32_t j = 0; j < k->processed; j++)
        for (int32_t i = k->processed; i < k->processed + rows; i++)
            if (k->T[(size_t)j * (size_t)k->capacity + (size_t)i] != 0)
                return j;
    return k->processed;
}

bough_status bo_krylov_step(bough_context *ctx, bo_krylov *k) {
    int32_t rows = k->used - k->processed < BLOCK ? k->used - k->processed : BLOCK, old = k->used;
    size_t n = (size_t)k->size, m = (size_t)k->capacity, width = m + BLOCK, begin = (size_t)k->processed;
    BO_TRY(solve(ctx, k, k->MV + begin * n, k->V + (size_t)old * n, rows));
    double *C;
    int32_t found;
    BO_TRY(orthonormalise(ctx, k, rows, first_coupled(k, rows), &C, &found));
    clear_rows(k, old, old + found);
    k->used += found;
    for (size_t i = 0; i < (size_t)rows; i++)
        for (size_t j = 0; j < (size_t)k->used; j++) {
            size_t other = j - begin; /* the block with itself: both halves were measured */
            double c = C[i * width + j];
            if (j >= begin && other < (size_t)rows)
                c = 0.5 * (c + C[other * width + begin + i]);
            k->T[(begin + i) * m + j] = k->T[j * m + begin + i] = c;
        }
    k->processed += rows;
    return BOUGH_OK;
}

/* rows of X <- S^T X, a panel of columns at a time, then the front moves up behind them */
static bough_status turn(bough_context *ctx, bo_krylov *k, int32_t keep, const double *S, int32_t stride, double *X) {
    size_t n = (size_t)k->size;
    for (size_t at = 0; at < n; at += PANEL) {
        int32_t columns = n - at < PANEL ? (int32_t)(n - at) : PANEL;
        bo_gemm(true, false, keep, columns, k->processed, 1, S, stride, X + at, k->size, 0, k->panel, columns);
        for (size_t i = 0; i < (size_t)keep; i++)
            memcpy(X + i * n + at, k->panel + i * (size_t)columns, (size_t)columns * sizeof *X);
        BO_TRY(go_on(ctx, k, 2.0 * keep * columns * k->processed));
    }
    memmove(X + (size_t)keep * n, X + (size_t)k->processed * n, (size_t)(k->used - k->processed) * n * sizeof *X);
    return BOUGH_OK;
}

bough_status bo_krylov_restart(bough_context *ctx, bo_krylov *k, int32_t keep, const double *theta, const double *S,
                               int32_t stride) {
    int32_t front = k->used - k->processed, m = k->capacity;
    BO_TRY(turn(ctx, k, keep, S, stride, k->V));
    BO_TRY(turn(ctx, k, keep, S, stride, k->MV));
    /* The front's rows of T become T S. The panel is free again. */
    bo_gemm(false, false, front, keep, k->processed, 1, k->T + (size_t)k->processed * (size_t)m, m, S, stride, 0,
            k->panel, keep);
    clear_rows(k, 0, k->used);
    for (int32_t i = 0; i < keep; i++) {
        k->T[(size_t)i * (size_t)m + (size_t)i] = theta[i];
        for (int32_t j = 0; j < front; j++)
            k->T[(size_t)i * (size_t)m + (size_t)(keep + j)] = k->T[(size_t)(keep + j) * (size_t)m + (size_t)i] =
                k->panel[(size_t)j * (size_t)keep + (size_t)i];
    }
    k->processed = keep;
    k->used = keep + front;
    return BOUGH_OK;
}

bough_status bo_krylov_combine(bough_context *ctx, bo_krylov *k, int32_t count, const double *S, int32_t stride,
                               int32_t first, int32_t rows, bool add, double *X) {
    const double each = 2.0 * count * rows; /* operations for a column */
    const double *V = k->V + (size_t)first * (size_t)k->size;
    for (int32_t at = 0, columns; at < k->size; at += columns) {
        columns = at_a_time(k->size - at, each, PANEL);
        bo_gemm(true, false, count, columns, rows, 1, S, stride, V + at, k->size, add, X + at, k->size);
        BO_TRY(go_on(ctx, k, each * columns));
    }
    return BOUGH_OK;
}
