#include "time/modes.h"

#include "dense/cholesky.h"
#include "dense/symmetric_eigen.h"

#include <math.h>
#include <string.h>

#define GUARDS 8           /* vectors beyond those wanted: they set the speed of convergence */
#define MAX_SWEEPS 60      /* of subspace iteration; a warm start takes two or three */
#define CHANGE_LIMIT 1e-12 /* relative change of the eigenvalues between sweeps */

static int32_t width_of(int32_t size, int32_t count) {
    return count + GUARDS < size ? count + GUARDS : size;
}

int32_t bo_mode_vectors(int32_t size, int32_t count) {
    return 2 * width_of(size, count);
}

size_t bo_mode_bytes(int32_t size, int32_t count) {
    size_t w = (size_t)width_of(size, count);
    return sizeof(bo_mode_set) + 64 * 6 + 2 * w * sizeof(double *) + (4 * w * w + 5 * w) * sizeof(double);
}

bough_status bo_modes_take(bo_integrator *I) {
    bough_context *ctx = I->ctx;
    const int32_t size = I->system->size, width = width_of(size, I->def.mode_count);
    const size_t w = (size_t)width;
    bo_mode_set *m = bo_arena_take(ctx, &I->arena, 1, sizeof *m);
    if (!m)
        return BOUGH_ERROR_MEMORY;
    *m = (bo_mode_set){.count = I->def.mode_count < size ? I->def.mode_count : size, .width = width};
    m->lambda = bo_arena_take(ctx, &I->arena, w, sizeof(double));
    m->damping = bo_arena_take(ctx, &I->arena, w, sizeof(double));
    m->dense = bo_arena_take(ctx, &I->arena, 4 * w * w + 2 * w, sizeof(double));
    m->X = bo_arena_take(ctx, &I->arena, w, sizeof(double *));
    m->W = bo_arena_take(ctx, &I->arena, w, sizeof(double *));
    if (!m->lambda || !m->damping || !m->dense || !m->X || !m->W)
        return BOUGH_ERROR_MEMORY;
    memset(m->lambda, 0, w * sizeof(double));
    for (size_t i = 0; i < w; i++) {
        m->X[i] = bo_take(I);
        m->W[i] = bo_take(I);
        if (!m->X[i] || !m->W[i])
            return BOUGH_ERROR_MEMORY;
        memset(m->X[i], 0, (size_t)size * sizeof(double));
        memset(m->W[i], 0, (size_t)size * sizeof(double));
    }
    I->modes = m;
    return BOUGH_OK;
}

int64_t bo_modes_history_size(const bo_integrator *I) {
    return 2 + (int64_t)I->modes->width * (1 + 2 * (int64_t)I->system->size);
}

void bo_modes_save(const bo_integrator *I, double *history) {
    const bo_mode_set *m = I->modes;
    const size_t n = (size_t)I->system->size;
    *history++ = m->known;
    *history++ = m->age;
    for (int32_t j = 0; j < m->width; j++, history += 2 * n) {
        *history++ = m->lambda[j];
        memcpy(history, m->X[j], n * sizeof *history);
        memcpy(history + n, m->W[j], n * sizeof *history);
    }
}

void bo_modes_restore(bo_integrator *I, const double *history) {
    bo_mode_set *m = I->modes;
    const size_t n = (size_t)I->system->size;
    m->known = *history++ != 0;
    m->age = *history >= 0 && *history < INT32_MAX ? (int32_t)*history : 0;
    history++;
    for (int32_t j = 0; j < m->width; j++, history += 2 * n) {
        m->lambda[j] = *history++;
        memcpy(m->X[j], history, n * sizeof *history);
        memcpy(m->W[j], history + n, n * sizeof *history);
    }
}

static double dot(int32_t n, const double *a, const double *b) {
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Repeatable vectors without symmetry. */
static void cold_start(bo_integrator *I) {
    uint64_t state = 12345;
    for (int32_t j = 0; j < I->modes->width; j++)
        for (int32_t i = 0; i < I->system->size; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            I->modes->X[j][i] = (double)(state >> 33) * 0x1p-31 - 0.25;
        }
}

/* Factors K + shift M; a compressed body needs a larger shift than was thought. */
static bough_status factor_shifted(bo_integrator *I, double shift) {
    const bo_system *s = I->system;
    bough_status status = BOUGH_ERROR_SINGULAR;
    for (int tries = 0; status == BOUGH_ERROR_SINGULAR && tries < 12; tries++, shift *= 10)
        status = s->factor(s->data, shift, 0, 1);
    return status == BOUGH_ERROR_SINGULAR
               ? bo_fail(I->ctx, BOUGH_NO_CONVERGENCE, "the modes of the state are not found")
               : status;
}

/* A part of the mean of the eigenvalues wanted: small enough to tell them apart, large enough that the zero ones of a
 * free body do not swamp the others in a sweep. */
static double warm_shift(const bo_mode_set *m) {
    double sum = 0;
    for (int32_t i = 0; i < m->count; i++)
        sum += fabs(m->lambda[i]);
    return 0.05 * sum / m->count;
}

/* Before anything is known: a part of what a rough vector has. */
static double cold_shift(const bo_integrator *I) {
    const bo_system *s = I->system;
    const bo_mode_set *m = I->modes;
    s->multiply(s->data, BO_MATRIX_K, m->X[0], m->W[0]);
    double k = fabs(dot(s->size, m->X[0], m->W[0]));
    s->multiply(s->data, BO_MATRIX_M, m->X[0], m->W[0]);
    return 1e-4 * k / dot(s->size, m->X[0], m->W[0]);
}

/* Rayleigh-Ritz in the span of X: K_r a = lambda M_r a with M_r = L L^T becomes (L^-1 K_r L^-T) b = lambda b. */
static bool rotate_to_modes(bo_integrator *I) {
    const bo_system *s = I->system;
    bo_mode_set *m = I->modes;
    const int w = m->width;
    const size_t ww = (size_t)w * (size_t)w;
    double *Kr = m->dense, *Mr = Kr + ww, *C = Mr + ww, *V = C + ww, *scratch = V + ww;
    for (int j = 0; j < w; j++) {
        s->multiply(s->data, BO_MATRIX_K, m->X[j], m->W[j]);
        for (int i = 0; i <= j; i++)
            Kr[i * w + j] = Kr[j * w + i] = dot(s->size, m->X[i], m->W[j]);
    }
    for (int j = 0; j < w; j++) {
        s->multiply(s->data, BO_MATRIX_M, m->X[j], m->W[j]);
        for (int i = 0; i <= j; i++)
            Mr[i * w + j] = Mr[j * w + i] = dot(s->size, m->X[i], m->W[j]);
    }
    if (!bo_cholesky_factor(w, Mr))
        return false;
    bo_cholesky_congruence(w, Mr, Kr);
    memcpy(C, Kr, ww * sizeof *C);
    if (!bo_sym_eigen(w, C, m->lambda, V, scratch))
        return false;
    bo_cholesky_solve_back(w, Mr, w, V);
    for (int32_t r = 0; r < s->size; r++) { /* X <- X V, W <- W V, row by row */
        for (int set = 0; set < 2; set++) {
            double **U = set ? m->W : m->X;
            for (int c = 0; c < w; c++) {
                scratch[c] = 0;
                for (int k = 0; k < w; k++)
                    scratch[c] += U[k][r] * V[k * w + c];
            }
            for (int c = 0; c < w; c++)
                U[c][r] = scratch[c];
        }
    }
    return true;
}

static bough_status iterate(bo_integrator *I) {
    const bo_system *s = I->system;
    bo_mode_set *m = I->modes;
    if (!m->known)
        cold_start(I);
    BO_TRY(factor_shifted(I, m->known ? warm_shift(m) : cold_shift(I)));
    double before = INFINITY;
    for (int sweep = 0; sweep < MAX_SWEEPS; sweep++) {
        if (sweep == 3 && !m->known) /* the eigenvalues are roughly there: a better shift */
            BO_TRY(factor_shifted(I, warm_shift(m)));
        for (int32_t j = 0; j < m->width; j++) {
            s->multiply(s->data, BO_MATRIX_M, m->X[j], m->W[j]);
            BO_TRY(s->solve(s->data, m->W[j], m->X[j]));
        }
        if (!rotate_to_modes(I)) {
            m->known = false;
            return bo_fail(I->ctx, BOUGH_NO_CONVERGENCE, "%d modes are more than this system has", m->count);
        }
        double sum = 0;
        for (int32_t i = 0; i < m->count; i++)
            sum += m->lambda[i];
        if (fabs(sum - before) <= CHANGE_LIMIT * fabs(sum) || m->width == 1)
            return BOUGH_OK;
        before = sum;
    }
    return BOUGH_OK; /* close enough: the hybrids stay consistent with any X */
}

bough_status bo_modes_refresh(bo_integrator *I, bool *fresh) {
    const bo_system *s = I->system;
    bo_mode_set *m = I->modes;
    *fresh = !m->known || m->age >= I->def.mode_refresh;
    if (*fresh) {
        bough_status status = iterate(I);
        m->known = status == BOUGH_OK;
        BO_TRY(status);
        I->factors++;
        m->age = 0;
    }
    for (int32_t i = 0; i < m->count; i++) {
        s->multiply(s->data, BO_MATRIX_D, m->X[i], I->move_scratch);
        m->damping[i] = dot(s->size, m->X[i], I->move_scratch);
        if (*fresh)
            continue;
        s->multiply(s->data, BO_MATRIX_K, m->X[i], I->move_scratch); /* frozen shapes, present stiffness */
        m->lambda[i] = dot(s->size, m->X[i], I->move_scratch);
    }
    return BOUGH_OK;
}

bough_status bo_hold_modes(bo_integrator *I, double *y, double *z) {
    const bo_system *s = I->system;
    bo_mode_set *m = I->modes;
    const int w = m->count, n = s->size;
    double *G = m->dense, *g = G + (size_t)w * (size_t)w;
    for (int j = 0; j < w; j++) {
        BO_TRY(s->solve(s->data, m->W[j], z));
        for (int i = 0; i < w; i++)
            G[i * w + j] = dot(n, m->W[i], z);
        g[j] = dot(n, m->W[j], y);
    }
    if (!bo_cholesky_factor(w, G))
        return bo_fail(I->ctx, BOUGH_NO_CONVERGENCE, "the modes do not fit the matrix of the step");
    bo_cholesky_solve(w, G, g);
    memset(z, 0, (size_t)n * sizeof *z); /* Z g = A^-1 (W g): one more solve instead of keeping Z */
    for (int j = 0; j < w; j++)
        bo_add_scaled(I, z, g[j], m->W[j], z);
    BO_TRY(s->solve(s->data, z, z));
    bo_add_scaled(I, y, -1, z, y);
    return BOUGH_OK;
}
