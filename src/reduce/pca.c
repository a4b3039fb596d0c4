/* Orthonormal bases in the mass norm: Gram-Schmidt, and principal components of weighted candidates. */
#include "reduce/basis.h"

#include "dense/symmetric_eigen.h"
#include "linalg/blas.h"
#include "linalg/sparse.h"

#include <string.h>

/* A vector of which projection leaves less than this part of its length counts as dependent. */
#define DEPENDENT 1e-8
/* Principal directions below this part of the largest singular value are noise: singular values come from their
 * squares, which are good to 1e-16. */
#define NOISE 1e-7

double *bo_columns_add(bo_cook *cook, bo_columns *columns, int32_t more) {
    size_t n = (size_t)cook->n, needed = ((size_t)columns->count + (size_t)more) * n;
    if (!BO_RESERVE(cook->ctx, columns->values, columns->capacity, needed))
        return NULL;
    double *added = columns->values + (size_t)columns->count * n;
    columns->count += more;
    return added;
}

/* ---- projection ---- */

/* Memory of one projection: product of n, coefficients of as many as the basis will have. */
typedef struct {
    double *product, *coefficients;
} projector;

static bough_status make_projector(bo_cook *cook, int32_t most, projector *p) {
    p->product = BO_NEW_ARRAY(cook->ctx, double, cook->n);
    p->coefficients = BO_NEW_ARRAY(cook->ctx, double, most + 1);
    return p->product && p->coefficients ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}
static void free_projector(bo_cook *cook, projector *p) {
    bo_free(cook->ctx, p->product);
    bo_free(cook->ctx, p->coefficients);
}

static double mass_norm(const bo_cook *cook, const double *x, projector *p) {
    bo_cook_mass(cook, x, p->product, 1);
    return sqrt(fmax(0, bo_dot_n(cook->n, x, p->product)));
}
static double energy_norm(const bo_cook *cook, const double *x, projector *p) {
    bo_sparse_mul(cook->K, x, p->product, false);
    return sqrt(fmax(0, bo_dot_n(cook->n, x, p->product)));
}

/* x <- x - Q^T (Q M x), twice for rounding, and without rigid motions; returns what is left of its length *before. */
static double project_out(const bo_cook *cook, const bo_columns *basis, double *x, projector *p, double *before) {
    bo_cook_remove_rigid(cook, x, p->product);
    double after = *before = mass_norm(cook, x, p);
    for (int round = 0; round < 2 && basis->count > 0; round++) {
        bo_gemm(false, false, basis->count, 1, cook->n, 1, basis->values, cook->n, p->product, 1, 0, p->coefficients,
                1);
        bo_gemm(true, false, cook->n, 1, basis->count, -1, basis->values, cook->n, p->coefficients, 1, 1, x, 1);
        after = mass_norm(cook, x, p);
    }
    return after > DEPENDENT * *before ? after : 0;
}

bough_status bo_cook_orthonormalise(bo_cook *cook, int32_t count, const double *vectors, bo_columns *basis) {
    size_t n = (size_t)cook->n;
    projector p;
    bough_status status = make_projector(cook, basis->count + count, &p);
    for (int32_t c = 0; c < count && status == BOUGH_OK; c++) {
        double *x = bo_columns_add(cook, basis, 1);
        if (!x) {
            status = BOUGH_ERROR_MEMORY;
            break;
        }
        basis->count--; /* not one of them before it is independent */
        memcpy(x, vectors + (size_t)c * n, n * sizeof *x);
        double before, length = project_out(cook, basis, x, &p, &before);
        for (size_t i = 0; i < n && length > 0; i++)
            x[i] /= length;
        basis->count += length > 0;
    }
    free_projector(cook, &p);
    return status;
}

/* ---- principal components ---- */

/* Squares of lengths in the norm of the components. */
typedef struct {
    double total;   /* of all candidates together */
    double longest; /* of one of them */
    double left;    /* of what the basis does not show of them */
} candidate_sums;

static bough_status project_candidates(bo_cook *cook, const bo_columns *basis, bool energy, bo_columns *candidates,
                                       candidate_sums *sums) {
    size_t n = (size_t)cook->n;
    projector p;
    bough_status status = make_projector(cook, basis->count, &p);
    for (int32_t c = 0; c < candidates->count && status == BOUGH_OK; c++) {
        double *x = candidates->values + (size_t)c * n, before;
        const double stored = energy ? energy_norm(cook, x, &p) : 0;
        double left = project_out(cook, basis, x, &p, &before);
        if (left == 0)
            memset(x, 0, n * sizeof *x);
        if (energy)
            before = stored, left = energy_norm(cook, x, &p);
        sums->total += before * before;
        sums->longest = fmax(sums->longest, before * before);
        sums->left += left * left;
    }
    free_projector(cook, &p);
    return status;
}

/* Y M Y^T or Y K Y^T (count x count) */
static bough_status gram(bo_cook *cook, const bo_columns *Y, bool energy, double *G) {
    double *MY = BO_NEW_ARRAY(cook->ctx, double, (size_t)Y->count *(size_t)cook->n);
    if (!MY)
        return BOUGH_ERROR_MEMORY;
    if (!energy)
        bo_cook_mass(cook, Y->values, MY, Y->count);
    for (int32_t k = 0; k < Y->count && energy; k++)
        bo_sparse_mul(cook->K, Y->values + (size_t)k * (size_t)cook->n, MY + (size_t)k * (size_t)cook->n, false);
    bo_gemm(false, true, Y->count, Y->count, cook->n, 1, Y->values, cook->n, MY, cook->n, 0, G, Y->count);
    bo_free(cook->ctx, MY);
    return BOUGH_OK;
}

/* Chooses how many of the directions to take, `least` to `most`; values ascend. *rest: squares of those that are not
 * taken. */
static int32_t choose_count(int32_t count, const double *values, int32_t least, int32_t most, double tolerance,
                            const candidate_sums *sums, double *rest) {
    int32_t independent = 0;
    for (int32_t k = 0; k < count; k++)
        independent += values[k] > NOISE * NOISE * fmax(values[count - 1], sums->longest);
    most = most < independent ? most : independent;
    *rest = 0;
    for (int32_t k = 0; k < count - most; k++)
        *rest += fmax(0, values[k]);
    int32_t chosen = most;
    while (tolerance > 0 && chosen > least && *rest + values[count - chosen] <= tolerance * tolerance * sums->total)
        *rest += values[count - chosen--];
    return chosen;
}

static bough_status append_leading(bo_cook *cook, const bo_columns *Y, int32_t chosen, const double *V,
                                   bo_columns *basis) {
    size_t count = (size_t)Y->count;
    double *combined = BO_NEW_ARRAY(cook->ctx, double, (size_t)chosen *(size_t)cook->n);
    double *rows = BO_NEW_ARRAY(cook->ctx, double, (size_t)chosen *count);
    bough_status status = combined && rows ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK) {
        for (size_t k = 0; k < (size_t)chosen; k++)
            for (size_t i = 0; i < count; i++)
                rows[k * count + i] = V[i * count + count - 1 - k];
        bo_gemm(false, false, chosen, cook->n, Y->count, 1, rows, Y->count, Y->values, cook->n, 0, combined, cook->n);
        status = bo_cook_orthonormalise(cook, chosen, combined, basis);
    }
    bo_free(cook->ctx, combined);
    bo_free(cook->ctx, rows);
    return status;
}

static void note_error(bo_cook *cook, double rest, double total) {
    cook->draft.quality.basis_error = total > 0 ? sqrt(rest / total) : 0;
    cook->draft.quality.energy_captured = total > 0 ? 1 - rest / total : 1;
}

/* The principal directions of what was left of the candidates. */
static bough_status add_directions(bo_cook *cook, const bo_columns *candidates, const bo_pca_def *def,
                                   const candidate_sums *sums, bo_columns *basis) {
    int32_t count = candidates->count, least = basis->count > 0 ? 0 : 1, most = def->most - basis->count;
    size_t N = (size_t)count;
    double *G = BO_NEW_ARRAY(cook->ctx, double, N *N), *V = BO_NEW_ARRAY(cook->ctx, double, N *N);
    double *values = BO_NEW_ARRAY(cook->ctx, double, 3 * N), rest;
    bough_status status = G && V && values ? gram(cook, candidates, def->energy, G) : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK && !bo_sym_eigen(count, G, values, V, values + N))
        status = bo_fail(cook->ctx, BOUGH_NOT_FINITE, "the candidate columns of the basis are not finite");
    if (status == BOUGH_OK) {
        int32_t chosen = choose_count(count, values, least, most, def->tolerance, sums, &rest);
        if (!def->energy)
            note_error(cook, rest, sums->total);
        status = append_leading(cook, candidates, chosen, V, basis);
    }
    bo_free(cook->ctx, G);
    bo_free(cook->ctx, V);
    bo_free(cook->ctx, values);
    return status;
}

bough_status bo_cook_pca(bo_cook *cook, bo_columns *candidates, const bo_pca_def *def, bo_columns *basis) {
    candidate_sums sums = {0};
    BO_TRY(project_candidates(cook, basis, def->energy, candidates, &sums));
    if (!def->energy) {
        cook->candidate_total = sums.total;
        note_error(cook, sums.left, sums.total);
    }
    return sums.left > 0 && basis->count < def->most ? add_directions(cook, candidates, def, &sums, basis) : BOUGH_OK;
}

bough_status bo_cook_left_out(bo_cook *cook, bo_columns *candidates, const bo_columns *basis) {
    candidate_sums sums = {0};
    BO_TRY(project_candidates(cook, basis, false, candidates, &sums));
    note_error(cook, sums.left, cook->candidate_total);
    return BOUGH_OK;
}
