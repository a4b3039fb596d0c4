#include "linalg/factor.h"

#include <cholmod.h>
#include <string.h>

struct bo_factor {
    cholmod_common common;
    cholmod_factor *L;
    cholmod_dense *x, *y, *e; /* workspace that cholmod_solve2 reuses */
    bool numeric;
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

bough_status bo_factor_analyse(bough_context *ctx, const bough_sparse *A, bo_factor **out) {
    *out = NULL;
    bo_factor *factor = BO_NEW(ctx, bo_factor);
    if (!factor)
        return BOUGH_ERROR_MEMORY;
    cholmod_common *common = &factor->common;
    cholmod_start(common);
    common->print = 0;
    common->quick_return_if_not_posdef = 1;
    common->final_ll = 1;
#ifdef BO_SUPERNODAL
    common->supernodal = CHOLMOD_AUTO;
#else
    common->supernodal = CHOLMOD_SIMPLICIAL;
#endif
    /* Nested dissection beats minimum degree on solid meshes; AMD for what is too small to matter. */
    common->nmethods = 1;
    common->method[0].ordering = A->size > 3000 ? CHOLMOD_METIS : CHOLMOD_AMD;
    cholmod_sparse matrix = view(A);
    factor->L = cholmod_analyze(&matrix, common);
    if (!factor->L) {
        bough_status status = fail(ctx, common);
        bo_factor_destroy(ctx, factor);
        return status;
    }
    *out = factor;
    return BOUGH_OK;
}

bough_status bo_factor_numeric(bough_context *ctx, bo_factor *factor, const bough_sparse *A) {
    cholmod_sparse matrix = view(A);
    factor->numeric = false;
    cholmod_factorize(&matrix, factor->L, &factor->common);
    if (factor->common.status == CHOLMOD_NOT_POSDEF || factor->L->minor < factor->L->n)
        return bo_fail(ctx, BOUGH_ERROR_SINGULAR, "the matrix is not positive definite (column %zu of %zu)",
                       factor->L->minor, factor->L->n);
    if (factor->common.status < 0)
        return fail(ctx, &factor->common);
    factor->numeric = true;
    return BOUGH_OK;
}

bough_status bo_factor_solve(bough_context *ctx, bo_factor *factor, const double *b, double *x, int32_t count) {
    if (!factor->numeric)
        return bo_fail(ctx, BOUGH_ERROR_SINGULAR, "solve called without a factor");
    size_t n = factor->L->n;
    cholmod_dense rhs = {.nrow = n,
                         .ncol = (size_t)count,
                         .nzmax = n * (size_t)count,
                         .d = n,
                         .x = (void *)(uintptr_t)b, /* only read */
                         .xtype = CHOLMOD_REAL,
                         .dtype = CHOLMOD_DOUBLE};
    if (!cholmod_solve2(CHOLMOD_A, factor->L, &rhs, NULL, &factor->x, NULL, &factor->y, &factor->e, &factor->common))
        return fail(ctx, &factor->common);
    memcpy(x, factor->x->x, n * (size_t)count * sizeof *x);
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
    bo_free(ctx, factor);
}

double bo_factor_rcond(bo_factor *factor) {
    return factor->numeric ? cholmod_rcond(factor->L, &factor->common) : 0;
}

void bo_factor_cost(const bo_factor *factor, double *entries, double *operations) {
    *entries = factor->common.lnz;
    *operations = factor->common.fl;
}
