#include "linalg/sparse_lu.h"

#include "base/vec.h"
#include "linalg/memory.h"

#include <float.h>
#include <klu.h>
#include <string.h>

#define SINGULAR (16 * DBL_EPSILON) /* least against largest of the diagonal of U, rows scaled to 1 */
#define GROWTH 1e-6                 /* reciprocal growth of pivots taken again: below, digits are lost */
/* A diagonal entry is the pivot when it has this part of the largest of its column. KLU's own 0.001, for circuits, lost
 * three digits on random matrices whose diagonal is weak. */
#define PREFERENCE 0.1
enum { SOLVES_A_LOOK = 64 }; /* right-hand sides between two looks at progress() */

struct bo_sparse_lu {
    klu_common common;
    klu_symbolic *symbolic;
    klu_numeric *numeric;
    int32_t size, *column_start, *rows;
    double *values; /* KLU takes arrays that it may write to; it does not */
    int64_t pivotings;
    bool ready; /* numeric is of the values given last */
};

static bough_status fail(bough_context *ctx, const klu_common *common) {
    switch (common->status) {
    case KLU_OUT_OF_MEMORY:
        return bo_fail(ctx, BOUGH_ERROR_MEMORY, "out of memory while factorising a sparse matrix");
    case KLU_TOO_LARGE:
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "the factor of this matrix has more entries than can be indexed");
    default:
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "sparse factorisation failed (KLU status %d)", common->status);
    }
}

/* seen: size entries of scratch */
static bough_status check_pattern(bough_context *ctx, int32_t size, const int32_t *start, const int32_t *rows,
                                  int32_t *seen) {
    if (start[0] != 0)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the first column of a sparse matrix begins at entry %d, not 0",
                       start[0]);
    for (int32_t j = 0; j < size; j++)
        if (start[j + 1] < start[j])
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "column %d of a sparse matrix ends before it begins", j);
    memset(seen, 0xff, (size_t)size * sizeof *seen);
    for (int32_t j = 0; j < size; j++)
        for (int32_t k = start[j]; k < start[j + 1]; k++) {
            if (rows[k] < 0 || rows[k] >= size)
                return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "column %d of a sparse matrix has row %d; there are %d", j,
                               rows[k], size);
            if (seen[rows[k]] == j)
                return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "column %d of a sparse matrix has row %d twice", j, rows[k]);
            seen[rows[k]] = j;
        }
    return BOUGH_OK;
}

static bough_status analyse(bough_context *ctx, bo_sparse_lu *lu) {
    lu->symbolic = klu_analyze(lu->size, lu->column_start, lu->rows, &lu->common);
    if (!lu->symbolic && lu->common.status != KLU_SINGULAR)
        return fail(ctx, &lu->common);
    if (!lu->symbolic || lu->symbolic->structural_rank < lu->size)
        return bo_fail(ctx, BOUGH_ERROR_SINGULAR,
                       "the matrix is singular whatever its values: %d of its %d columns have no row of their own",
                       lu->size - (lu->symbolic ? lu->symbolic->structural_rank : 0), lu->size);
    const double entries = lu->symbolic->lnz + lu->symbolic->unz;
    return bo_check_memory(ctx, 2 * entries * (sizeof(double) + sizeof(int32_t)),
                           "the factor of a matrix with %d unknowns", lu->size);
}

bough_status bo_sparse_lu_analyse(bough_context *ctx, int32_t size, const int32_t *column_start, const int32_t *rows,
                                  bo_sparse_lu **out) {
    *out = NULL;
    if (size < 1)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a sparse matrix has %d unknowns; there must be one at least", size);
    int32_t *seen = BO_NEW_ARRAY(ctx, int32_t, size);
    if (!seen)
        return BOUGH_ERROR_MEMORY;
    bough_status status = check_pattern(ctx, size, column_start, rows, seen);
    bo_free(ctx, seen);
    if (status != BOUGH_OK)
        return status;
    bo_sparse_lu *lu = BO_NEW(ctx, bo_sparse_lu);
    if (!lu)
        return BOUGH_ERROR_MEMORY;
    *lu = (bo_sparse_lu){.size = size};
    klu_defaults(&lu->common);
    lu->common.halt_if_singular = 1;
    lu->common.tol = PREFERENCE;
    const int32_t count = column_start[size];
    lu->column_start = BO_NEW_ARRAY(ctx, int32_t, size + 1);
    lu->rows = BO_NEW_ARRAY(ctx, int32_t, count);
    lu->values = BO_NEW_ARRAY(ctx, double, count);
    if (lu->column_start && lu->rows && lu->values) {
        memcpy(lu->column_start, column_start, ((size_t)size + 1) * sizeof *rows);
        if (count > 0)
            memcpy(lu->rows, rows, (size_t)count * sizeof *rows);
        status = analyse(ctx, lu);
    } else
        status = BOUGH_ERROR_MEMORY;
    if (status != BOUGH_OK) {
        bo_sparse_lu_destroy(ctx, lu);
        return status;
    }
    *out = lu;
    return BOUGH_OK;
}

/* With the pivots of the factor before; false where they are no good for these values. */
static bool refactor(bo_sparse_lu *lu) {
    return lu->numeric &&
           klu_refactor(lu->column_start, lu->rows, lu->values, lu->symbolic, lu->numeric, &lu->common) &&
           lu->common.status == KLU_OK &&
           klu_rgrowth(lu->column_start, lu->rows, lu->values, lu->symbolic, lu->numeric, &lu->common) &&
           lu->common.rgrowth >= GROWTH;
}

bough_status bo_sparse_lu_numeric(bough_context *ctx, bo_sparse_lu *lu, const double *values, bool anew) {
    const int32_t count = lu->column_start[lu->size];
    lu->ready = false;
    if (!bo_all_finite(count, values))
        return bo_fail(ctx, BOUGH_NOT_FINITE, "the matrix has an entry that is not finite");
    memcpy(lu->values, values, (size_t)count * sizeof *values);
    if (anew || !refactor(lu)) {
        klu_free_numeric(&lu->numeric, &lu->common);
        lu->pivotings++;
        lu->numeric = klu_factor(lu->column_start, lu->rows, lu->values, lu->symbolic, &lu->common);
        if (!lu->numeric && lu->common.status != KLU_SINGULAR)
            return fail(ctx, &lu->common);
        if (lu->common.status == KLU_SINGULAR || !lu->numeric) {
            klu_free_numeric(&lu->numeric, &lu->common);
            return bo_fail(ctx, BOUGH_ERROR_SINGULAR, "the matrix is singular (column %d of %d)",
                           lu->common.singular_col, lu->size);
        }
    }
    if (!klu_rcond(lu->symbolic, lu->numeric, &lu->common) || !(lu->common.rcond > SINGULAR)) {
        const double rcond = lu->common.rcond;
        klu_free_numeric(&lu->numeric, &lu->common); /* its pivots are no good for others */
        return bo_fail(ctx, BOUGH_ERROR_SINGULAR,
                       "the matrix of %d unknowns is singular in double precision (pivots differ by %.0e)", lu->size,
                       rcond);
    }
    lu->ready = true;
    return BOUGH_OK;
}

bough_status bo_sparse_lu_solve(bough_context *ctx, bo_sparse_lu *lu, const double *b, double *x, int32_t count) {
    const size_t n = (size_t)lu->size;
    if (!lu->ready)
        return bo_fail(ctx, BOUGH_ERROR_SINGULAR, "solve called without a factor");
    if (x != b)
        memmove(x, b, n * (size_t)count * sizeof *x);
    for (int32_t begin = 0; begin < count; begin += SOLVES_A_LOOK) {
        const int32_t some = count - begin < SOLVES_A_LOOK ? count - begin : SOLVES_A_LOOK;
        if (begin > 0 && !bo_progress(ctx, "solving", -1, "%d unknowns", lu->size))
            return bo_fail_cancelled(ctx);
        if (!klu_solve(lu->symbolic, lu->numeric, lu->size, some, x + (size_t)begin * n, &lu->common))
            return fail(ctx, &lu->common);
    }
    return BOUGH_OK;
}

void bo_sparse_lu_destroy(bough_context *ctx, bo_sparse_lu *lu) {
    if (!lu)
        return;
    klu_free_numeric(&lu->numeric, &lu->common);
    klu_free_symbolic(&lu->symbolic, &lu->common);
    bo_free(ctx, lu->column_start);
    bo_free(ctx, lu->rows);
    bo_free(ctx, lu->values);
    bo_free(ctx, lu);
}

double bo_sparse_lu_rcond(const bo_sparse_lu *lu) {
    return lu->ready ? lu->common.rcond : 0;
}

void bo_sparse_lu_cost(const bo_sparse_lu *lu, int64_t *pivotings, double *entries) {
    *pivotings = lu->pivotings;
    *entries = lu->numeric ? (double)lu->numeric->lnz + (double)lu->numeric->unz : 0;
}
