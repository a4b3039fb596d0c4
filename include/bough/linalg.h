/* Sparse matrices as plain data, for programs that bring their own solver. */
#ifndef BOUGH_LINALG_H
#define BOUGH_LINALG_H

#include <bough/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Lower triangle of a symmetric matrix in compressed columns: the entries of column j are column_start[j] ..
 * column_start[j+1]-1, with ascending rows, the diagonal first. */
typedef struct bough_sparse {
    int32_t size;
    int32_t *column_start; /* size + 1 */
    int32_t *rows;         /* column_start[size] */
    double *values;        /* column_start[size] */
    bool shares_pattern;   /* column_start and rows belong to another matrix */
} bough_sparse;

/* A matrix that shares its pattern must be destroyed before the one that owns the pattern. */
BOUGH_API void bough_sparse_destroy(bough_context *ctx, bough_sparse *matrix);

#ifdef __cplusplus
}
#endif

#endif
