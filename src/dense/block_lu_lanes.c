/* Many right-hand sides side by side: a row of each vector stands beside the same row of the others, so that a number
 * of the matrix is loaded once for all of them. */
#include "dense/block_lu.h"

#include "base/simd.h"

#include <string.h>

enum { LANES = BO_LU_LANES };

/* y -= sum_j a_j x_j over n rows of lanes. */
BO_INLINE void subtract(int32_t n, const double *a, const double *x, double *y) {
    bo_v4 s0 = BO_V4_CONST(y), s1 = BO_V4_CONST(y + 4), s2 = BO_V4_CONST(y + 8), s3 = BO_V4_CONST(y + 12);
    for (int32_t j = 0; j < n; j++, x += LANES) {
        s0 -= a[j] * BO_V4_CONST(x), s1 -= a[j] * BO_V4_CONST(x + 4);
        s2 -= a[j] * BO_V4_CONST(x + 8), s3 -= a[j] * BO_V4_CONST(x + 12);
    }
    BO_V4(y) = s0, BO_V4(y + 4) = s1, BO_V4(y + 8) = s2, BO_V4(y + 12) = s3;
}

BO_INLINE void solve_block(int32_t n, const double *LU, const int32_t *pivots, double *x) {
    for (int32_t k = 0; k < n; k++)
        for (int32_t l = 0; l < LANES && pivots[k] != k; l++) {
            const double t = x[LANES * k + l];
            x[LANES * k + l] = x[LANES * pivots[k] + l], x[LANES * pivots[k] + l] = t;
        }
    for (int32_t i = 1; i < n; i++)
        subtract(i, LU + (int64_t)n * i, x, x + LANES * i);
    for (int32_t i = n - 1; i >= 0; i--) {
        subtract(n - 1 - i, LU + (int64_t)n * i + i + 1, x + LANES * (i + 1), x + LANES * i);
        const double inverse = 1 / LU[(int64_t)n * i + i];
        for (int32_t l = 0; l < LANES; l++)
            x[LANES * i + l] *= inverse;
    }
}

/* Functions of two versions are static: clang 14 gives them another name, which other files would not find. */
BO_MULTIVERSION static void solve_lanes(const bo_block_lu *lu, double *b) {
    for (int32_t k = 0; k < lu->count; k++) {
        const int32_t n = lu->rows[k];
        double *own = b + (int64_t)LANES * lu->first[k];
        solve_block(n, lu->values + lu->diagonal[k], lu->pivots + lu->first[k], own);
        const double *B = lu->values + lu->below[k];
        for (int32_t a = lu->near_start[k]; a < lu->near_start[k + 1]; a++) {
            double *to = b + (int64_t)LANES * lu->first[lu->near[a]];
            for (int32_t i = 0; i < lu->rows[lu->near[a]]; i++, B += n)
                subtract(n, B, own, to + LANES * i);
        }
    }
    for (int32_t k = lu->count - 1; k >= 0; k--) {
        const double *X = lu->values + lu->right[k];
        double *own = b + (int64_t)LANES * lu->first[k];
        for (int32_t i = 0; i < lu->rows[k]; i++)
            for (int32_t a = lu->near_start[k]; a < lu->near_start[k + 1]; a++) {
                const int32_t next = lu->near[a];
                subtract(lu->rows[next], X, b + (int64_t)LANES * lu->first[next], own + LANES * i);
                X += lu->rows[next];
            }
    }
}

void bo_block_lu_solve_lanes(const bo_block_lu *lu, double *b) {
    solve_lanes(lu, b);
}

/* ---- sparse rows ---- */

bough_status bo_sparse_rows_make(bough_context *ctx, int32_t rows, int64_t capacity, bo_sparse_rows *to) {
    *to = (bo_sparse_rows){.rows = rows};
    to->start = BO_NEW_ZEROS(ctx, int64_t, (size_t)rows + 1);
    to->column = BO_NEW_ARRAY(ctx, int32_t, capacity);
    to->value = BO_NEW_ARRAY(ctx, double, capacity);
    return to->start && to->column && to->value ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

void bo_sparse_rows_free(bough_context *ctx, bo_sparse_rows *rows) {
    bo_free(ctx, rows->start);
    bo_free(ctx, rows->column);
    bo_free(ctx, rows->value);
    *rows = (bo_sparse_rows){0};
}

/* A block of a matrix: its first row and column in the whole, and where it is. */
typedef struct {
    int32_t row, column, rows, columns, stride;
    const double *at;
} block;

/* Counts the entries of a block that are not zero into start[row + 1], or writes them from start[row] on. */
static void gather_block(const block *b, double scale, int32_t shift, bool write, bo_sparse_rows *to) {
    for (int32_t i = 0; i < b->rows; i++)
        for (int32_t j = 0; j < b->columns; j++) {
            const double value = b->at[(int64_t)b->stride * i + j];
            if (value == 0)
                continue;
            if (!write) {
                to->start[b->row + i + 1]++;
                continue;
            }
            const int64_t at = to->start[b->row + i]++;
            to->column[at] = b->column + j + shift, to->value[at] = scale * value;
        }
}

static void gather(const bo_block_lu *lu, const bo_block_term *term, int32_t shift, bool write, bo_sparse_rows *to) {
    for (int32_t k = 0; k < lu->count; k++) {
        const int32_t n = lu->rows[k], first = lu->first[k];
        const double *values = term->values;
        const bool wanted = !term->skip[k];
        if (wanted) {
            const block own = {first, first, n, n, n, values + lu->diagonal[k]};
            gather_block(&own, term->scale, shift, write, to);
        }
        for (int32_t a = lu->near_start[k]; a < lu->near_start[k + 1]; a++) {
            const int32_t next = lu->near[a], m = lu->rows[next], at = lu->near_at[a];
            const block below = {lu->first[next], first, m, n, n, values + lu->below[k] + (int64_t)n * at};
            const block right = {first, lu->first[next], n, m, lu->width[k], values + lu->right[k] + at};
            if (wanted)
                gather_block(&below, term->scale, shift, write, to);
            if (!term->skip[next])
                gather_block(&right, term->scale, shift, write, to);
        }
    }
}

void bo_block_lu_compress(const bo_block_lu *lu, int32_t term_count, const bo_block_term *terms, bo_sparse_rows *to) {
    memset(to->start, 0, ((size_t)to->rows + 1) * sizeof *to->start);
    for (int32_t t = 0; t < term_count; t++)
        gather(lu, &terms[t], t * lu->size, false, to);
    for (int32_t i = 0; i < to->rows; i++)
        to->start[i + 1] += to->start[i];
    for (int32_t t = 0; t < term_count; t++)
        gather(lu, &terms[t], t * lu->size, true, to);
    memmove(to->start + 1, to->start, (size_t)to->rows * sizeof *to->start); /* each had moved on to the next */
    to->start[0] = 0;
}

BO_MULTIVERSION static void add_lanes(const bo_sparse_rows *rows, const double *x, double *y) {
    for (int32_t i = 0; i < rows->rows; i++, y += LANES) {
        bo_v4 s0 = BO_V4_CONST(y), s1 = BO_V4_CONST(y + 4), s2 = BO_V4_CONST(y + 8), s3 = BO_V4_CONST(y + 12);
        for (int64_t k = rows->start[i]; k < rows->start[i + 1]; k++) {
            const double a = rows->value[k], *from = x + (int64_t)LANES * rows->column[k];
            s0 += a * BO_V4_CONST(from), s1 += a * BO_V4_CONST(from + 4);
            s2 += a * BO_V4_CONST(from + 8), s3 += a * BO_V4_CONST(from + 12);
        }
        BO_V4(y) = s0, BO_V4(y + 4) = s1, BO_V4(y + 8) = s2, BO_V4(y + 12) = s3;
    }
}

void bo_sparse_rows_add_lanes(const bo_sparse_rows *rows, const double *x, double *y) {
    add_lanes(rows, x, y);
}
