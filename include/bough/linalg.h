/* Sparse matrices as plain data, for programs that bring their own solver. Threads may share one that nobody changes.
 */
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

/* Frees a matrix, whoever made it. One that shares its pattern must be destroyed before the owner of the pattern. Takes
 * NULL. Cannot fail. */
BOUGH_API void bough_sparse_destroy(bough_context *ctx, bough_sparse *matrix);

#ifdef __cplusplus
}
#endif

#endif
