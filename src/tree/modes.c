/* Small vibrations of a tree about the state it is in. docs/theory/tree.md, "Small vibrations".
 *
 * With M the mass matrix at q and K = d(dE/dq)/dq + dh/dq the stiffness, where E are the parts' and joints' energies
 * and h the forces of weight, ties and loads on the coordinates, modes are K x = omega^2 M x. M   of held trees column
 * by column, as the forces that unit accelerations ask for; of trees that fly, and of the couplings that are not exact,
 * as the inverse of S, whose columns are the accelerations that unit forces make. K   the Hessians of the parts; dh/dq
 * by differences of the forces that hold the tree at rest, since only weight, ties and loads are in it, which are
 * smooth and small. In a coupling that is not exact a part does not feel how what hangs on it bends, so that S has no
 * blocks above the diagonal (parents first), and the frequencies are those of its diagonal blocks: of each part with
 * its load. */
#include "tree/log.h"

#include "dense/cholesky.h"
#include "dense/lu.h"
#include "dense/symmetric_eigen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_COORDINATES 6000 /* dense matrices: some 900 MB */
#define ROUNDS 300
#define MOST_SHIFTS 40

/* The coordinates that move: those of parts that are there and not locked, and of their joints, part after part with
 * parents first. */
typedef struct {
    int32_t count;
    int32_t *at;    /* count: coordinate of the state */
    int32_t *owner; /* count: part (inside number) */
    int32_t *first; /* part_count + 1: of each part */
} moving;

typedef struct {
    bough_context *ctx;
    const bough_tree_model *model;
    bough_tree_state *state;
    moving m;
    double *q, *zero, *unit, *y; /* size each */
    double *M, *K, *S;           /* count^2; S is NULL where M is found without it */
} vibration;

/* ---- matrices ---- */

static bough_status list_moving(vibration *v) {
    const bough_tree_model *model = v->model;
    moving *m = &v->m;
    m->at = BO_NEW_ARRAY(v->ctx, int32_t, model->size);
    m->owner = BO_NEW_ARRAY(v->ctx, int32_t, model->size);
    m->first = BO_NEW_ARRAY(v->ctx, int32_t, (size_t)model->part_count + 1);
    if (!m->at || !m->owner || !m->first)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < model->part_count; i++) {
        const bo_tree_part *part = &model->parts[i];
        m->first[i] = m->count;
        for (int32_t l = 0; l < part->r && !part->locked; l++)
            m->at[m->count++] = part->offset + l;
        if (part->joint >= 0)
            for (int32_t k = 0; k < model->joints[part->joint].count; k++)
                m->at[m->count++] = model->joints[part->joint].offset + k;
        for (int32_t k = m->first[i]; k < m->count; k++)
            m->owner[k] = i;
    }
    m->first[model->part_count] = m->count;
    return BOUGH_OK;
}

static bough_status fail_crushed(bough_context *ctx) {
    return bo_fail(ctx, BOUGH_NOT_FINITE, "an interface is crushed to a line, so that it has no frame");
}

/* Roots with tracks stand still. masses_alone: without weight and loads. */
static const bo_tree_mode at_rest = {.coupling = BOUGH_COUPLING_L3, .still = true};
static const bo_tree_mode masses_alone = {
    .coupling = BOUGH_COUPLING_L3, .still = true, .weightless = true, .unloaded = true};

/* Frames at q, at rest. */
static bough_status go_to(vibration *v, const double *q) {
    bo_tree_work *w = bo_tree_work_of(v->state);
    w->frames_stale = true;
    bo_tree_place_roots(v->model, w, v->state->roots, v->state->time, true);
    return bo_tree_move(v->ctx, v->model, w, &at_rest, q, v->zero) ? BOUGH_OK : fail_crushed(v->ctx);
}

/* Column k of M: the forces that a unit acceleration asks for, without weight and loads. */
static bough_status weigh_columns(vibration *v) {
    bo_tree_work *w = bo_tree_work_of(v->state);
    const int32_t n = v->m.count;
    BO_TRY(go_to(v, v->state->q));
    for (int32_t k = 0; k < n; k++) {
        v->unit[v->m.at[k]] = 1;
        bo_tree_weigh(v->ctx, v->model, v->state, &masses_alone, v->state->q, v->zero);
        bo_tree_balance(v->ctx, v->model, w, &masses_alone, v->unit, v->y);
        v->unit[v->m.at[k]] = 0;
        for (int32_t i = 0; i < n; i++)
            v->M[(size_t)i * (size_t)n + (size_t)k] = v->y[v->m.at[i]];
        if (!bo_progress(v->ctx, "mass matrix", (double)k / n, "%d coordinates", n))
            return bo_fail_cancelled(v->ctx);
    }
    return BOUGH_OK;
}

/* Column k of S: what a unit force adds to the accelerations. */
static bough_status push_columns(vibration *v) {
    const int32_t n = v->m.count;
    double *base = BO_NEW_ZEROS(v->ctx, double, v->model->size);
    bough_status status = base ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK)
        status = bo_tree_accelerations(v->ctx, v->model, v->state, true, v->state->q, v->zero, v->unit, base);
    for (int32_t k = 0; k < n && status == BOUGH_OK; k++) {
        v->unit[v->m.at[k]] = 1;
        status = bo_tree_accelerations(v->ctx, v->model, v->state, true, v->state->q, v->zero, v->unit, v->y);
        v->unit[v->m.at[k]] = 0;
        for (int32_t i = 0; i < n; i++)
            v->S[(size_t)i * (size_t)n + (size_t)k] = v->y[v->m.at[i]] - base[v->m.at[i]];
        if (status == BOUGH_OK && !bo_progress(v->ctx, "mass matrix", (double)k / n, "%d coordinates", n))
            status = bo_fail_cancelled(v->ctx);
    }
    bo_free(v->ctx, base);
    return status;
}

static void symmetrise(int32_t n, double *A) {
    for (size_t i = 0; i < (size_t)n; i++)
        for (size_t j = 0; j < i; j++)
            A[i * (size_t)n + j] = A[j * (size_t)n + i] = 0.5 * (A[i * (size_t)n + j] + A[j * (size_t)n + i]);
}

static bough_status fail_inertia(bough_context *ctx) {
    return bo_fail(ctx, BOUGH_ERROR_SINGULAR, "the tree has a motion without inertia, so it has no modes");
}

/* A <- A^-1, by way of a copy in `scratch` (n x n). */
static bool invert(int32_t n, double *A, double *scratch) {
    const size_t size = (size_t)n * (size_t)n;
    memcpy(scratch, A, size * sizeof *A);
    if (!bo_cholesky_factor(n, scratch))
        return false;
    memset(A, 0, size * sizeof *A);
    for (size_t i = 0; i < (size_t)n; i++)
        A[i * (size_t)n + i] = 1;
    bo_cholesky_solve_many(n, scratch, n, A);
    return true;
}

/* Hessians of the parts and springs of the joints. */
static bough_status add_elastic(vibration *v) {
    const bough_tree_model *model = v->model;
    const size_t n = (size_t)v->m.count;
    for (int32_t i = 0; i < model->part_count; i++) {
        const bo_tree_part *part = &model->parts[i];
        const double stiffness = v->state->stiffness[part->user], factor = stiffness * stiffness * part->scale3;
        const size_t first = (size_t)v->m.first[i], r = part->locked ? 0 : (size_t)part->r;
        double *H = r ? BO_NEW_ARRAY(v->ctx, double, r *r) : NULL;
        if (r && !H)
            return BOUGH_ERROR_MEMORY;
        const bool good =
            r == 0 || bough_component_evaluate(model->components[part->component].c, v->state->q + part->offset,
                                               bo_tree_work_of(v->state)->scratch, NULL, NULL, H);
        for (size_t k = 0; k < r; k++)
            for (size_t l = 0; l < r; l++)
                v->K[(first + k) * n + first + l] += factor * H[k * r + l];
        for (size_t k = first + r; k < (size_t)v->m.first[i + 1]; k++)
            v->K[k * n + k] += model->joints[part->joint].stiffness;
        bo_free(v->ctx, H);
        if (!good)
            return bo_fail(v->ctx, BOUGH_NOT_FINITE, "a part is turned inside out, so that it has no modes");
    }
    return BOUGH_OK;
}

/* h at q: what weight, ties and loads ask of the coordinates. */
static bough_status hold_still(vibration *v, const double *q, double *h) {
    bo_tree_work *w = bo_tree_work_of(v->state);
    bo_tree_state at = *bo_tree_inside(v->state);
    at.seen.q = (double *)(uintptr_t)q;
    BO_TRY(go_to(v, q));
    bo_tree_take_loads(v->ctx, v->model, &at.seen, false);
    bo_tree_load_ties(v->model, &at.seen);
    bo_tree_weigh(v->ctx, v->model, v->state, &at_rest, q, v->zero);
    bo_tree_balance(v->ctx, v->model, w, &at_rest, v->zero, h);
    return BOUGH_OK;
}

/* dh/dq by central differences. A coordinate is a displacement of the order of 1 m (of a joint, an angle). */
static bough_status add_weight(vibration *v) {
    const double step = 1e-5;
    const int32_t n = v->m.count;
    double *other = BO_NEW_ARRAY(v->ctx, double, v->model->size);
    bough_status status = other ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    memcpy(v->q, v->state->q, (size_t)v->model->size * sizeof *v->q);
    for (int32_t k = 0; k < n && status == BOUGH_OK; k++) {
        const int32_t at = v->m.at[k];
        v->q[at] = v->state->q[at] + step;
        status = hold_still(v, v->q, v->y);
        v->q[at] = v->state->q[at] - step;
        if (status == BOUGH_OK)
            status = hold_still(v, v->q, other);
        v->q[at] = v->state->q[at];
        for (int32_t i = 0; i < n && status == BOUGH_OK; i++)
            v->K[(size_t)i * (size_t)n + (size_t)k] += (v->y[v->m.at[i]] - other[v->m.at[i]]) / (2 * step);
        if (status == BOUGH_OK && !bo_progress(v->ctx, "stiffness", (double)k / n, "%d coordinates", n))
            status = bo_fail_cancelled(v->ctx);
    }
    bo_free(v->ctx, other);
    return status;
}

/* ---- the exact coupling: all coordinates together ---- */

/* Y (n x p) <- A X for row-major A (n x n) and X (n x p). */
static void multiply(size_t n, size_t p, const double *A, const double *X, double *Y) {
    memset(Y, 0, n * p * sizeof *Y);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            const double a = A[i * n + k];
            if (a == 0)
                continue;
            for (size_t c = 0; c < p; c++)
                Y[i * p + c] += a * X[k * p + c];
        }
}

/* C (p x p) = X^T Y */
static void project(size_t n, size_t p, const double *X, const double *Y, double *C) {
    memset(C, 0, p * p * sizeof *C);
    for (size_t i = 0; i < n; i++)
        for (size_t a = 0; a < p; a++)
            for (size_t b = 0; b < p; b++)
                C[a * p + b] += X[i * p + a] * Y[i * p + b];
}

/* Modes of the small problem Kr y = lambda Mr y: Mr = L L^T, A = L^-1 Kr L^-T = Q Lambda Q^T, y = L^-T Q. Kr and Mr are
 * overwritten; columns of V. */
static bool solve_small(int32_t p, double *Kr, double *Mr, double *values, double *V, double *scratch) {
    if (!bo_cholesky_factor(p, Mr))
        return false;
    bo_cholesky_congruence(p, Mr, Kr);
    symmetrise(p, Kr);
    if (!bo_sym_eigen(p, Kr, values, V, scratch))
        return false;
    bo_cholesky_solve_back(p, Mr, p, V);
    return true;
}

/* A = K + shift M, factored. The shift is zero where K is positive; else it grows until A is: a mechanism that swings
 * freely has K = 0 there, one that is about to fall over less. */
static bool find_shift(const vibration *v, double *A, double *shift) {
    const size_t n = (size_t)v->m.count;
    double least = INFINITY;
    for (size_t k = 0; k < n; k++)
        if (v->K[k * n + k] > 0)
            least = fmin(least, v->K[k * n + k] / v->M[k * n + k]);
    *shift = 0;
    for (int i = 0; i < MOST_SHIFTS; i++) {
        for (size_t k = 0; k < n * n; k++)
            A[k] = v->K[k] + *shift * v->M[k];
        if (bo_cholesky_factor((int)n, A))
            return true;
        *shift = *shift == 0 ? (isfinite(least) ? 1e-6 * least : 1e-6) : 4 * *shift;
    }
    return false;
}

/* Subspace iteration: X <- A^-1 M X, then the best of the space by Rayleigh and Ritz. Matrices n x p, row-major. */
typedef struct {
    size_t n, p;
    double *A, *X, *Y, *Z, *MZ, *Kr, *V, *values, *scratch, *y, *My, *block;
    uint64_t random;
} subspace;

static double draw_random(uint64_t *random) {
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)*random / 9.3e18;
}

static bough_status begin_subspace(bough_context *ctx, size_t n, size_t p, subspace *s) {
    *s = (subspace){.n = n, .p = p, .random = 1};
    s->block = BO_NEW_ARRAY(ctx, double, n *n + 4 * n * p + 2 * p * p + 3 * p + 2 * n);
    if (!s->block)
        return BOUGH_ERROR_MEMORY;
    s->A = s->block, s->X = s->A + n * n, s->Y = s->X + n * p, s->Z = s->Y + n * p, s->MZ = s->Z + n * p;
    s->Kr = s->MZ + n * p, s->V = s->Kr + p * p, s->values = s->V + p * p, s->scratch = s->values + p;
    s->y = s->scratch + 2 * p, s->My = s->y + n;
    for (size_t i = 0; i < n * p; i++)
        s->X[i] = draw_random(&s->random);
    return BOUGH_OK;
}

/* y (of unit length by M) without what the columns 0 .. c of Z have of it; MZ are their products by M. False when
 * nothing is left. */
static bool orthonormalise(const vibration *v, const subspace *s, size_t c, double *y, double *My) {
    const size_t n = s->n, p = s->p;
    double before = -1;
    for (int pass = 0; pass < 3; pass++) {
        for (size_t a = 0; a < c && pass > 0; a++) {
            double part = 0;
            for (size_t i = 0; i < n; i++)
                part += s->MZ[i * p + a] * y[i];
            for (size_t i = 0; i < n; i++)
                y[i] -= part * s->Z[i * p + a];
        }
        multiply(n, 1, v->M, y, My);
        double square = 0;
        for (size_t i = 0; i < n; i++)
            square += y[i] * My[i];
        if (!(square > 0) || (pass > 0 && square < 1e-20 * before))
            return false;
        before = 1;
        const double scale = 1 / sqrt(square);
        for (size_t i = 0; i < n; i++)
            y[i] *= scale, My[i] *= scale;
    }
    return true;
}

/* Z: an M-orthonormal basis of A^-1 M X (of everything, where p is n), completed by random vectors where that has lost
 * directions against each other; X becomes the best of its span by Rayleigh and Ritz. */
static bool improve(const vibration *v, subspace *s) {
    const size_t n = s->n, p = s->p;
    if (p < n) {
        multiply(n, p, v->M, s->X, s->Y);
        bo_cholesky_solve_many((int)n, s->A, (int)p, s->Y);
    }
    for (size_t c = 0; c < p; c++) {
        bool good = false;
        for (int attempt = 0; attempt < 5 && !good; attempt++) {
            for (size_t i = 0; i < n; i++)
                s->y[i] = attempt ? draw_random(&s->random) : p < n ? s->Y[i * p + c] : i == c;
            good = orthonormalise(v, s, c, s->y, s->My);
        }
        if (!good)
            return false;
        for (size_t i = 0; i < n; i++)
            s->Z[i * p + c] = s->y[i], s->MZ[i * p + c] = s->My[i];
    }
    multiply(n, p, v->K, s->Z, s->Y);
    project(n, p, s->Z, s->Y, s->Kr);
    symmetrise((int32_t)p, s->Kr);
    if (!bo_sym_eigen((int)p, s->Kr, s->values, s->V, s->scratch))
        return false;
    memset(s->X, 0, n * p * sizeof *s->X);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < p; k++)
            for (size_t c = 0; c < p; c++)
                s->X[i * p + c] += s->Z[i * p + k] * s->V[k * p + c];
    return true;
}

static bough_status solve_exact(vibration *v, bough_tree_modes *modes) {
    const size_t n = (size_t)v->m.count, count = (size_t)modes->count;
    size_t p = 2 * count + 8 < n ? 2 * count + 8 : n;
    subspace s;
    double shift, change = INFINITY;
    BO_TRY(begin_subspace(v->ctx, n, p, &s));
    bough_status status = find_shift(v, s.A, &shift)
                              ? BOUGH_OK
                              : bo_fail(v->ctx, BOUGH_ERROR_SINGULAR, "the tree's stiffness is not finite");
    for (int round = 0; round < ROUNDS && change > 1e-13 && status == BOUGH_OK; round++) {
        double before = 0;
        change = 0;
        for (size_t k = 0; k < count; k++)
            modes->squares[k] = round ? s.values[k] : INFINITY;
        if (!improve(v, &s))
            status = fail_inertia(v->ctx);
        for (size_t k = 0; k < count && status == BOUGH_OK; k++) {
            before = fabs(s.values[k] + shift) + 1e-12 * fabs(s.values[count - 1]);
            change = fmax(change, fabs(modes->squares[k] - s.values[k]) / before);
        }
        change = p == n ? 0 : change; /* nothing is left out */
        if (status == BOUGH_OK && !bo_progress(v->ctx, "modes", -1, "%d rounds", round + 1))
            status = bo_fail_cancelled(v->ctx);
    }
    for (size_t k = 0; k < count && status == BOUGH_OK; k++) {
        modes->squares[k] = s.values[k];
        for (size_t i = 0; i < n; i++)
            modes->shapes[k * (size_t)v->model->size + (size_t)v->m.at[i]] = s.X[i * p + k];
    }
    bo_free(v->ctx, s.block);
    return status;
}

/* ---- other couplings: part by part ---- */

typedef struct {
    double square;
    int32_t part, place; /* which of the part's own modes */
} candidate;

static int compare_candidates(const void *a, const void *b) {
    const double x = ((const candidate *)a)->square, y = ((const candidate *)b)->square;
    return (x > y) - (x < y);
}

typedef struct {
    double *K, *M, *V, *values, *scratch, *block;
    int32_t *pivots;
} own_modes;

static bough_status begin_own(bough_context *ctx, const vibration *v, own_modes *o) {
    size_t most = 1;
    for (int32_t i = 0; i < v->model->part_count; i++)
        if ((size_t)(v->m.first[i + 1] - v->m.first[i]) > most)
            most = (size_t)(v->m.first[i + 1] - v->m.first[i]);
    *o = (own_modes){.block = BO_NEW_ARRAY(ctx, double, 3 * most * most + 4 * most),
                     .pivots = BO_NEW_ARRAY(ctx, int32_t, most)};
    if (!o->block || !o->pivots)
        return BOUGH_ERROR_MEMORY;
    o->K = o->block, o->M = o->K + most * most, o->V = o->M + most * most, o->values = o->V + most * most;
    o->scratch = o->values + most;
    return BOUGH_OK;
}

static void take_block(const vibration *v, const double *A, int32_t row_part, int32_t column_part, double *block) {
    const int32_t *first = v->m.first, columns = first[column_part + 1] - first[column_part];
    for (int32_t i = first[row_part]; i < first[row_part + 1]; i++)
        for (int32_t j = first[column_part]; j < first[column_part + 1]; j++)
            block[(i - first[row_part]) * columns + j - first[column_part]] =
                A[(size_t)i * (size_t)v->m.count + (size_t)j];
}

/* The part's modes with its load: o->values, columns of o->V. */
static bool find_own(const vibration *v, int32_t i, own_modes *o) {
    const int32_t r = v->m.first[i + 1] - v->m.first[i];
    take_block(v, v->S, i, i, o->M);
    symmetrise(r, o->M);
    if (!invert(r, o->M, o->V))
        return false;
    take_block(v, v->K, i, i, o->K);
    symmetrise(r, o->K);
    return solve_small(r, o->K, o->M, o->values, o->V, o->scratch);
}

/* The parts further out are carried along: rows of S K x = lambda x for them, with x of those before known. */
static void carry_along(const vibration *v, double lambda, int32_t from, double *x, double *f, own_modes *o) {
    const int32_t n = v->m.count, *first = v->m.first;
    for (int32_t j = from + 1; j < v->model->part_count; j++) {
        const int32_t r = first[j + 1] - first[j];
        for (int32_t i = first[j - 1]; i < first[j]; i++) { /* f = -K x of the part before, by its own block */
            f[i] = 0;
            for (int32_t k = first[j - 1]; k < first[j]; k++)
                f[i] -= v->K[(size_t)i * (size_t)n + (size_t)k] * x[k];
        }
        if (r == 0)
            continue;
        take_block(v, v->S, j, j, o->M);
        take_block(v, v->K, j, j, o->V);
        for (int32_t a = 0; a < r; a++) {
            double sum = 0;
            for (int32_t k = 0; k < first[j]; k++)
                sum += v->S[(size_t)(first[j] + a) * (size_t)n + (size_t)k] * f[k];
            x[first[j] + a] = sum;
            for (int32_t b = 0; b < r; b++) {
                o->K[a * r + b] = a == b ? -lambda : 0;
                for (int32_t k = 0; k < r; k++)
                    o->K[a * r + b] += o->M[a * r + k] * o->V[k * r + b];
            }
        }
        if (bo_lu_factor(r, o->K, o->pivots))
            bo_lu_solve(r, o->K, o->pivots, x + first[j]);
        else /* in resonance: its motion would have no bound */
            memset(x + first[j], 0, (size_t)r * sizeof *x);
    }
}

static bough_status solve_lumped(vibration *v, bough_tree_modes *modes) {
    const int32_t n = v->m.count, *first = v->m.first;
    own_modes o = {0};
    candidate *all = BO_NEW_ARRAY(v->ctx, candidate, n);
    double *x = BO_NEW_ARRAY(v->ctx, double, 2 * (size_t)n), *f = x ? x + n : NULL;
    bough_status status = begin_own(v->ctx, v, &o);
    if (!all || !x)
        status = BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < v->model->part_count && status == BOUGH_OK; i++) {
        if (first[i + 1] == first[i])
            continue;
        if (!find_own(v, i, &o))
            status = fail_inertia(v->ctx);
        for (int32_t k = first[i]; k < first[i + 1]; k++)
            all[k] = (candidate){o.values[k - first[i]], i, k - first[i]};
    }
    if (status == BOUGH_OK)
        qsort(all, (size_t)n, sizeof *all, compare_candidates);
    for (int32_t k = 0; k < modes->count && status == BOUGH_OK; k++) {
        const int32_t i = all[k].part, r = first[i + 1] - first[i];
        find_own(v, i, &o);
        memset(x, 0, 2 * (size_t)n * sizeof *x);
        for (int32_t a = 0; a < r; a++)
            x[first[i] + a] = o.V[a * r + all[k].place];
        carry_along(v, all[k].square, i, x, f, &o);
        modes->squares[k] = all[k].square;
        for (int32_t a = 0; a < n; a++)
            modes->shapes[(size_t)k * (size_t)v->model->size + (size_t)v->m.at[a]] = x[a];
    }
    bo_free(v->ctx, all);
    bo_free(v->ctx, x);
    bo_free(v->ctx, o.block);
    bo_free(v->ctx, o.pivots);
    return status;
}

/* ---- all ---- */

static bough_status make_matrices(vibration *v) {
    const size_t n = (size_t)v->m.count, size = (size_t)v->model->size;
    const bool exact = v->state->coupling == BOUGH_COUPLING_L3, held = v->model->free_count == 0;
    v->q = BO_NEW_ZEROS(v->ctx, double, 4 * size);
    v->M = BO_NEW_ZEROS(v->ctx, double, n *n);
    v->K = BO_NEW_ZEROS(v->ctx, double, n *n);
    if (!exact || !held)
        v->S = BO_NEW_ZEROS(v->ctx, double, n *n);
    if (!v->q || !v->M || !v->K || (!v->S && !(exact && held)))
        return BOUGH_ERROR_MEMORY;
    v->zero = v->q + size, v->unit = v->zero + size, v->y = v->unit + size;
    if (v->S)
        BO_TRY(push_columns(v));
    else
        BO_TRY(weigh_columns(v));
    if (v->S && exact) {
        memcpy(v->M, v->S, n * n * sizeof *v->M);
        symmetrise((int32_t)n, v->M);
        if (!invert((int32_t)n, v->M, v->K))
            return fail_inertia(v->ctx);
        memset(v->K, 0, n * n * sizeof *v->K);
    }
    if (held) /* what falls freely does not feel its weight */
        BO_TRY(add_weight(v));
    BO_TRY(add_elastic(v));
    symmetrise((int32_t)n, v->M);
    symmetrise((int32_t)n, v->K);
    return BOUGH_OK;
}

static bough_status create_modes(bough_context *ctx, int32_t count, int32_t size, bough_tree_modes **out) {
    bough_tree_modes *modes = *out = BO_NEW(ctx, bough_tree_modes);
    if (!modes)
        return BOUGH_ERROR_MEMORY;
    modes->count = count, modes->size = size;
    modes->squares = BO_NEW_ZEROS(ctx, double, count);
    modes->frequencies_hz = BO_NEW_ZEROS(ctx, double, count);
    modes->shapes = BO_NEW_ZEROS(ctx, double, (size_t)count *(size_t)size);
    return modes->squares && modes->frequencies_hz && modes->shapes ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

static bough_status find_modes(vibration *v, int32_t count, bough_tree_modes **out) {
    BO_TRY(list_moving(v));
    const int32_t n = v->m.count;
    if (n == 0)
        return bo_fail(v->ctx, BOUGH_ERROR_UNSUPPORTED,
                       "all parts are rigid and welded: there is nothing that vibrates");
    if (n > MOST_COORDINATES)
        return bo_fail(
            v->ctx, BOUGH_ERROR_UNSUPPORTED,
            "the tree has %d coordinates; modes of trees with more than %d are not found (of one of its parts "
            "`bough info` tells them)",
            n, MOST_COORDINATES);
    BO_TRY(create_modes(v->ctx, count < n ? count : n, v->model->size, out));
    BO_TRY(make_matrices(v));
    BO_TRY(v->state->coupling == BOUGH_COUPLING_L3 ? solve_exact(v, *out) : solve_lumped(v, *out));
    const double turn = 6.283185307179586477;
    for (int32_t k = 0; k < (*out)->count; k++) {
        (*out)->frequencies_hz[k] = sqrt(fmax(0, (*out)->squares[k])) / turn;
        (*out)->unstable_count += (*out)->squares[k] < -1e-9 * fabs((*out)->squares[(*out)->count - 1]);
    }
    return BOUGH_OK;
}

bough_status bough_tree_state_modes(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                    int32_t count, bough_tree_modes **modes) {
    *modes = NULL;
    if (count < 1)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%d modes were asked for; one at least is needed", count);
    BO_TRY(bo_log_come_back(ctx, model, state));
    vibration v = {.ctx = ctx, .model = bo_tree_now(model, state), .state = state};
    bough_status status = find_modes(&v, count, modes);
    bo_free(ctx, v.m.at);
    bo_free(ctx, v.m.owner);
    bo_free(ctx, v.m.first);
    bo_free(ctx, v.q);
    bo_free(ctx, v.M);
    bo_free(ctx, v.K);
    bo_free(ctx, v.S);
    if (status != BOUGH_OK) {
        bough_tree_modes_destroy(ctx, *modes);
        *modes = NULL;
    }
    bo_tree_work_of(state)->frames_stale = true;
    bough_status back = bo_log_come_back(ctx, model, state);
    return status != BOUGH_OK ? status : back;
}

void bough_tree_modes_destroy(bough_context *ctx, bough_tree_modes *modes) {
    if (!modes)
        return;
    bo_free(ctx, modes->squares);
    bo_free(ctx, modes->frequencies_hz);
    bo_free(ctx, modes->shapes);
    bo_free(ctx, modes);
}
