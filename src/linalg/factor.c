#include "linalg/factor.h"

#include "linalg/block_solve.h"
#include "linalg/memory.h"
#include "linalg/one_thread.h"
#include "linalg/ordering.h"
#include "linalg/supernodal.h"

#include <cholmod.h>
#include <string.h>

#define DISSECT_FROM 3000 /* unknowns: below, minimum degree is as good and faster */

struct bo_factor {
    cholmod_common common;
    cholmod_factor *L;        /* NULL when nothing is free */
    cholmod_dense *x, *y, *e; /* workspace that cholmod_solve2 reuses */
    bool numeric;
    bo_supernodal *supernodal; /* when L is made of supernodes; else CHOLMOD makes its numbers too */

    /* The free part of the matrix, when some unknowns are held; else `part` is NULL and A itself is factored. */
    bough_sparse *part;
    int32_t *entries;    /* of part: which entry of A */
    int32_t *free_index; /* unknown -> its number among the free ones, or -1 */
    int32_t size, free_count;
    double *rhs; /* free part of the right-hand sides */
    size_t rhs_capacity;
    double *work; /* of bo_block_solve */
    size_t work_capacity;
};

static cholmod_sparse view(const bough_sparse *A) {
    return (cholmod_sparse){.nrow = (size_t)A->size,
                            .ncol = (size_t)A->size,
                            .nzmax = (size_t)A->column_start[A->size],
                            .p = A->column_start,
                            .i = A->rows,
                            .x = A->values,
                            .stype = -1, /* lower triangle */
                            .itype = CHOLMOD_INT,
                            .xtype = CHOLMOD_REAL,
                            .dtype = CHOLMOD_DOUBLE,
                            .sorted = 1,
                            .packed = 1};
}

static bough_status fail(bough_context *ctx, const cholmod_common *common) {
    switch (common->status) {
    case CHOLMOD_OUT_OF_MEMORY:
        return bo_fail(ctx, BOUGH_ERROR_MEMORY, "out of memory while factorising a sparse matrix");
    case CHOLMOD_TOO_LARGE:
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "the factor of this matrix has more entries than can be indexed");
    default:
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "sparse factorisation failed (CHOLMOD status %d)", common->status);
    }
}

static bough_status number_free_unknowns(bough_context *ctx, int32_t size, const unsigned char *fixed, bo_factor *f) {
    f->size = size;
    f->free_index = BO_NEW_ARRAY(ctx, int32_t, size);
    if (!f->free_index)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < size; i++)
        f->free_index[i] = fixed && fixed[i] ? -1 : f->free_count++;
    return BOUGH_OK;
}

/* The pattern of the free part, and where its values come from. */
static bough_status pick_free_part(bough_context *ctx, const bough_sparse *A, bo_factor *f) {
    int32_t count = 0;
    for (int32_t j = 0; j < A->size; j++)
        for (int32_t k = A->column_start[j]; k < A->column_start[j + 1]; k++)
            count += f->free_index[j] >= 0 && f->free_index[A->rows[k]] >= 0;
    BO_TRY(bo_sparse_create(ctx, f->free_count, count, &f->part));
    f->entries = BO_NEW_ARRAY(ctx, int32_t, count);
    if (!f->entries)
        return BOUGH_ERROR_MEMORY;
    int32_t at = 0;
    for (int32_t j = 0; j < A->size; j++) {
        if (f->free_index[j] < 0)
            continue;
        for (int32_t k = A->column_start[j]; k < A->column_start[j + 1]; k++)
            if (f->free_index[A->rows[k]] >= 0) {
                f->part->rows[at] = f->free_index[A->rows[k]];
                f->entries[at++] = k;
            }
        f->part->column_start[f->free_index[j] + 1] = at;
    }
    return BOUGH_OK;
}

/* Symbolic, L knows how large it will be. */
static bough_status prepare_supernodes(bough_context *ctx, bo_factor *f, const bough_sparse *A) {
    BO_TRY(bo_check_memory(ctx, (double)f->L->xsize * sizeof(double), "the factor of a matrix with %d unknowns",
                           f->free_count));
    return bo_supernodal_create(ctx, f->L, A, f->common.fl, &f->supernodal);
}

static bough_status analyse(bough_context *ctx, const bough_sparse *A, int32_t block, bo_factor *f) {
    if (f->free_count < f->size)
        BO_TRY(pick_free_part(ctx, A, f));
    if (f->free_count == 0)
        return BOUGH_OK;
    cholmod_sparse matrix = view(f->part ? f->part : A);
    if (f->free_count < DISSECT_FROM) {
        f->common.method[0].ordering = CHOLMOD_AMD;
        f->L = cholmod_analyze(&matrix, &f->common);
    } else {
        int32_t *order = BO_NEW_ARRAY(ctx, int32_t, f->free_count);
        if (!order)
            return BOUGH_ERROR_MEMORY;
        bough_status status = bo_order_blocks(ctx, A, block, f->free_index, order);
        if (status == BOUGH_OK) {
            f->common.method[0].ordering = CHOLMOD_GIVEN;
            f->L = cholmod_analyze_p(&matrix, order, NULL, 0, &f->common);
        }
        bo_free(ctx, order);
        if (status != BOUGH_OK)
            return status;
    }
    if (!f->L)
        return fail(ctx, &f->common);
    return f->L->is_super ? prepare_supernodes(ctx, f, f->part ? f->part : A) : BOUGH_OK;
}

bough_status bo_factor_analyse(bough_context *ctx, const bough_sparse *A, int32_t block, const unsigned char *fixed,
                               bo_factor **out) {
    *out = NULL;
    bo_factor *factor = BO_NEW(ctx, bo_factor);
    if (!factor)
        return BOUGH_ERROR_MEMORY;
    cholmod_common *common = &factor->common;
    cholmod_start(common);
    common->print = 0;
    common->quick_return_if_not_posdef = 1;
    common->final_ll = 1;
    common->nmethods = 1;
#ifdef BO_SUPERNODAL
    common->supernodal = CHOLMOD_AUTO;
#else
    common->supernodal = CHOLMOD_SIMPLICIAL;
#endif
    bough_status status = number_free_unknowns(ctx, A->size, fixed, factor);
    if (status == BOUGH_OK)
        status = analyse(ctx, A, block, factor);
    if (status != BOUGH_OK) {
        bo_factor_destroy(ctx, factor);
        return status;
    }
    *out = factor;
    return BOUGH_OK;
}

/* Only supernodal factors, those of larger matrices, are made by BLAS: others need not wait for it. */
static void begin_cholmod(const bo_factor *factor) {
    if (factor->L->is_super)
        bo_blas_begin();
    else
        bo_one_thread_begin();
}

static void end_cholmod(const bo_factor *factor) {
    if (factor->L->is_super)
        bo_blas_end();
    else
        bo_one_thread_end();
}

/* Whether A is positive definite is seen at L->minor. */
static bough_status make_numbers(bough_context *ctx, bo_factor *f, const bough_sparse *A) {
    if (!f->supernodal) {
        cholmod_sparse matrix = view(A);
        begin_cholmod(f);
        cholmod_factorize(&matrix, f->L, &f->common);
        end_cholmod(f);
        return BOUGH_OK;
    }
    f->common.status = CHOLMOD_OK;
    if (f->L->xtype == CHOLMOD_PATTERN && !cholmod_change_factor(CHOLMOD_REAL, 1, 1, 1, 1, f->L, &f->common))
        return fail(ctx, &f->common);
    return bo_supernodal_factorise(ctx, f->supernodal, A, f->L);
}

bough_status bo_factor_numeric(bough_context *ctx, bo_factor *factor, const bough_sparse *A) {
    factor->numeric = factor->L == NULL;
    if (!factor->L)
        return BOUGH_OK;
    if (factor->part)
        for (int32_t k = 0; k < factor->part->column_start[factor->free_count]; k++)
            factor->part->values[k] = A->values[factor->entries[k]];
    BO_TRY(make_numbers(ctx, factor, factor->part ? factor->part : A));
    if (factor->common.status == CHOLMOD_NOT_POSDEF || factor->L->minor < factor->L->n)
        return bo_fail(ctx, BOUGH_ERROR_SINGULAR, "the matrix is not positive definite (column %zu of %zu)",
                       factor->L->minor, factor->L->n);
    if (factor->common.status < 0)
        return fail(ctx, &factor->common);
    factor->numeric = true;
    return BOUGH_OK;
}

/* By CHOLMOD, into factor->x. */
static bough_status solve_few(bough_context *ctx, bo_factor *factor, const double *b, int32_t count) {
    size_t n = factor->L->n;
    cholmod_dense rhs = {.nrow = n,
                         .ncol = (size_t)count,
                         .nzmax = n * (size_t)count,
                         .d = n,
                         .x = (void *)(uintptr_t)b, /* only read */
                         .xtype = CHOLMOD_REAL,
                         .dtype = CHOLMOD_DOUBLE};
    begin_cholmod(factor);
    int solved =
        cholmod_solve2(CHOLMOD_A, factor->L, &rhs, NULL, &factor->x, NULL, &factor->y, &factor->e, &factor->common);
    end_cholmod(factor);
    return solved ? BOUGH_OK : fail(ctx, &factor->common);
}

/* CHOLMOD takes four right-hand sides at a time through both halves of the factor, and all of them in one call. */
static int32_t most_at_once(const bo_factor *factor) {
    double most = BO_SOLVE_A_LOOK / (2 * (factor->common.lnz + (double)factor->free_count));
    return most < 1 ? 4 : most > 100000 ? 400000 : 4 * (int32_t)most;
}

/* x_f <- A_ff^-1 b_f for `count` columns of the free unknowns; x may be b. */
static bough_status solve_free(bough_context *ctx, bo_factor *factor, const double *b, double *x, int32_t count) {
    size_t n = (size_t)factor->free_count;
    if (count > 1 && bo_block_solve_fits(factor->L)) {
        if (!BO_RESERVE(ctx, factor->work, factor->work_capacity, n * BO_SOLVE_WIDTH))
            return BOUGH_ERROR_MEMORY;
        return bo_block_solve(ctx, factor->L, b, x, count, factor->work) ? BOUGH_OK : bo_fail_cancelled(ctx);
    }
    const int32_t most = most_at_once(factor);
    for (int32_t begin = 0; begin < count; begin += most) {
        const int32_t some = count - begin < most ? count - begin : most;
        const size_t at = (size_t)begin * n;
        if (begin > 0 && !bo_progress(ctx, "solving", -1, "%d unknowns", factor->free_count))
            return bo_fail_cancelled(ctx);
        BO_TRY(solve_few(ctx, factor, b + at, some));
        memcpy(x + at, factor->x->x, n * (size_t)some * sizeof *x);
    }
    return BOUGH_OK;
}

bough_status bo_factor_solve(bough_context *ctx, bo_factor *factor, const double *b, double *x, int32_t count) {
    if (!factor->numeric)
        return bo_fail(ctx, BOUGH_ERROR_SINGULAR, "solve called without a factor");
    size_t n = (size_t)factor->size, free_count = (size_t)factor->free_count;
    if (!factor->part)
        return factor->L ? solve_free(ctx, factor, b, x, count) : BOUGH_OK;
    if (!BO_RESERVE(ctx, factor->rhs, factor->rhs_capacity, free_count * (size_t)count))
        return BOUGH_ERROR_MEMORY;
    for (size_t c = 0; c < (size_t)count; c++)
        for (size_t i = 0; i < n; i++)
            if (factor->free_index[i] >= 0)
                factor->rhs[c * free_count + (size_t)factor->free_index[i]] = b[c * n + i];
    if (factor->L)
        BO_TRY(solve_free(ctx, factor, factor->rhs, factor->rhs, count));
    for (size_t c = 0; c < (size_t)count; c++)
        for (size_t i = 0; i < n; i++)
            x[c * n + i] =
                factor->free_index[i] < 0 ? b[c * n + i] : factor->rhs[c * free_count + (size_t)factor->free_index[i]];
    return BOUGH_OK;
}

void bo_factor_destroy(bough_context *ctx, bo_factor *factor) {
    if (!factor)
        return;
    cholmod_free_dense(&factor->x, &factor->common);
    cholmod_free_dense(&factor->y, &factor->common);
    cholmod_free_dense(&factor->e, &factor->common);
    cholmod_free_factor(&factor->L, &factor->common);
    cholmod_finish(&factor->common);
    bo_supernodal_destroy(ctx, factor->supernodal);
    bough_sparse_destroy(ctx, factor->part);
    bo_free(ctx, factor->entries);
    bo_free(ctx, factor->free_index);
    bo_free(ctx, factor->rhs);
    bo_free(ctx, factor->work);
    bo_free(ctx, factor);
}

double bo_factor_rcond(bo_factor *factor) {
    return factor->numeric && factor->L ? cholmod_rcond(factor->L, &factor->common) : 0;
}

void bo_factor_cost(const bo_factor *factor, double *entries, double *operations) {
    *entries = factor->common.lnz;
    *operations = factor->common.fl;
}
