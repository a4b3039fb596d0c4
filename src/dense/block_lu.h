/* LU factorisation of a sparse matrix of dense blocks, in a fixed order without exchanging blocks; rows are exchanged
 * within the block on the diagonal. The pattern is symmetric; values need not be. The caller chooses the order of the
 * blocks, which must leave every block on the diagonal regular when its turn comes. */
#ifndef BO_DENSE_BLOCK_LU_H
#define BO_DENSE_BLOCK_LU_H

#include "base/context.h"

typedef struct bo_block_lu {
    int32_t count;                     /* of blocks, in the order of elimination */
    int32_t size;                      /* rows in all */
    int32_t *rows;                     /* count: rows of each block */
    int32_t *first;                    /* count + 1: the first row of each block */
    int32_t *near_start;               /* count + 1 */
    int32_t *near;                     /* of each block: the later ones that it meets, ascending */
    int32_t *near_at;                  /* alongside: where the columns of that block begin in the panels */
    int32_t *width;                    /* count: columns of its panels */
    int64_t *diagonal, *right, *below; /* count: where the block, the panel to its right (rows x width) and that below
                                          it (width x rows) begin in `values` */
    int64_t value_count;
    double *values;
    int32_t *pivots; /* size */
    double *scratch; /* widest x widest, or a right-hand side */
    int32_t stuck;   /* the block that was found singular; -1: none */
} bo_block_lu;

/* pairs: 2 pair_count numbers of blocks that meet, in any order and as often as one likes. bo_block_lu_free() is owed
 * also when it fails. */
bough_status bo_block_lu_make(bough_context *ctx, int32_t count, const int32_t *rows, int64_t pair_count,
                              const int32_t *pairs, bo_block_lu *lu);
void bo_block_lu_free(bough_context *ctx, bo_block_lu *lu);

void bo_block_lu_clear(bo_block_lu *lu);
/* Finds block (i, j), and the distance of its rows. The two must meet, or be one. */
double *bo_block_lu_at(const bo_block_lu *lu, int32_t i, int32_t j, int32_t *stride);

/* Writes all of it as one matrix (size x size), in the order of the blocks. */
void bo_block_lu_unfold(const bo_block_lu *lu, double *A);

/* Factors what was put into the blocks. False: block `stuck` is singular. */
bool bo_block_lu_factor(bo_block_lu *lu);
/* Returns 1 or -1: the sign of the determinant of what was factored. */
int bo_block_lu_sign(const bo_block_lu *lu);
/* b <- A^-1 b (size), in the order of the blocks. */
void bo_block_lu_solve(const bo_block_lu *lu, double *b);
/* b <- A^-T b */
void bo_block_lu_solve_transposed(const bo_block_lu *lu, double *b);

/* y (size) = A^T x, where `values` are those of a matrix with the same blocks, not factored. */
void bo_block_lu_multiply_transposed(const bo_block_lu *lu, const double *values, const double *x, double *y);

/* ---- block_lu_lanes.c: BO_LU_LANES vectors side by side, row by row ---- */

enum { BO_LU_LANES = 16 };

/* b <- A^-1 b for b (size x BO_LU_LANES). */
void bo_block_lu_solve_lanes(const bo_block_lu *lu, double *b);

/* Entries of a matrix that are not zero, row by row. */
typedef struct bo_sparse_rows {
    int32_t rows;
    int64_t *start;  /* rows + 1 */
    int32_t *column; /* of each entry */
    double *value;
} bo_sparse_rows;
/* bo_sparse_rows_free() is owed also when it fails. */
bough_status bo_sparse_rows_make(bough_context *ctx, int32_t rows, int64_t capacity, bo_sparse_rows *to);
void bo_sparse_rows_free(bough_context *ctx, bo_sparse_rows *rows);

/* A matrix with the blocks of a factorisation, not factored, and the blocks whose columns are left out. */
typedef struct bo_block_term {
    const double *values; /* as those of the factorisation */
    double scale;
    const bool *skip; /* count */
} bo_block_term;
/* Writes (scale A | scale B | ...): the columns of each matrix stand behind those of the one before. The capacity of
 * `to` is value_count for each of them. */
void bo_block_lu_compress(const bo_block_lu *lu, int32_t term_count, const bo_block_term *terms, bo_sparse_rows *to);
/* y += A x for y (rows x BO_LU_LANES). */
void bo_sparse_rows_add_lanes(const bo_sparse_rows *rows, const double *x, double *y);

#endif
