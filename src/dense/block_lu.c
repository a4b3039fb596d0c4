#include "dense/block_lu.h"

#include "dense/lu.h"

#include <string.h>

/* ---- pattern ---- */

static void sort_ascending(int32_t count, int32_t *x) {
    for (int32_t i = 1; i < count; i++)
        for (int32_t j = i; j > 0 && x[j - 1] > x[j]; j--) {
            const int32_t t = x[j];
            x[j] = x[j - 1], x[j - 1] = t;
        }
}

typedef struct {
    int32_t count;
    size_t capacity;
    int32_t *blocks;
} neighbours;

static bool insert(bough_context *ctx, neighbours *n, int32_t block) {
    for (int32_t k = 0; k < n->count; k++)
        if (n->blocks[k] == block)
            return true;
    if (!BO_RESERVE(ctx, n->blocks, n->capacity, n->count + 1))
        return false;
    n->blocks[n->count++] = block;
    return true;
}

/* The later neighbours of each block, with those that elimination adds: all that a block meets meet each other once it
 * is gone, and it is enough to tell the first of them. */
static bool find_neighbours(bough_context *ctx, int32_t count, int64_t pair_count, const int32_t *pairs,
                            neighbours *of) {
    for (int64_t p = 0; p < pair_count; p++) {
        const int32_t i = pairs[2 * p], j = pairs[2 * p + 1];
        if (i != j && !insert(ctx, &of[i < j ? i : j], i < j ? j : i))
            return false;
    }
    for (int32_t k = 0; k < count; k++) {
        sort_ascending(of[k].count, of[k].blocks);
        for (int32_t n = 1; n < of[k].count; n++)
            if (!insert(ctx, &of[of[k].blocks[0]], of[k].blocks[n]))
                return false;
    }
    return true;
}

static bough_status reserve(bough_context *ctx, bo_block_lu *lu, const neighbours *of) {
    const size_t count = (size_t)lu->count;
    int32_t widest = 1, near_count = 0;
    for (int32_t k = 0; k < lu->count; k++)
        near_count += of[k].count;
    if (!(lu->near = BO_NEW_ARRAY(ctx, int32_t, near_count)) ||
        !(lu->near_at = BO_NEW_ARRAY(ctx, int32_t, near_count)) ||
        !(lu->near_start = BO_NEW_ZEROS(ctx, int32_t, count + 1)) || !(lu->width = BO_NEW_ZEROS(ctx, int32_t, count)) ||
        !(lu->diagonal = BO_NEW_ARRAY(ctx, int64_t, count)) || !(lu->right = BO_NEW_ARRAY(ctx, int64_t, count)) ||
        !(lu->below = BO_NEW_ARRAY(ctx, int64_t, count)) || !(lu->pivots = BO_NEW_ZEROS(ctx, int32_t, lu->size)))
        return BOUGH_ERROR_MEMORY;
    for (int32_t k = 0, at = 0; k < lu->count; k++) {
        const int64_t n = lu->rows[k];
        lu->near_start[k] = at;
        for (int32_t i = 0; i < of[k].count; i++, at++) {
            lu->near[at] = of[k].blocks[i], lu->near_at[at] = lu->width[k];
            lu->width[k] += lu->rows[of[k].blocks[i]];
        }
        lu->near_start[k + 1] = at;
        lu->diagonal[k] = lu->value_count;
        lu->right[k] = lu->diagonal[k] + n * n;
        lu->below[k] = lu->right[k] + n * lu->width[k];
        lu->value_count = lu->below[k] + n * lu->width[k];
        widest = lu->width[k] > widest ? lu->width[k] : widest;
    }
    const size_t scratch = (size_t)widest * (size_t)widest;
    lu->values = BO_NEW_ZEROS(ctx, double, lu->value_count);
    lu->scratch = BO_NEW_ARRAY(ctx, double, scratch > (size_t)lu->size ? scratch : (size_t)lu->size);
    return lu->values && lu->scratch ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

bough_status bo_block_lu_make(bough_context *ctx, int32_t count, const int32_t *rows, int64_t pair_count,
                              const int32_t *pairs, bo_block_lu *lu) {
    *lu = (bo_block_lu){.count = count, .stuck = -1};
    neighbours *of = BO_NEW_ZEROS(ctx, neighbours, count);
    bough_status status =
        of && (lu->rows = BO_NEW_ARRAY(ctx, int32_t, count)) && (lu->first = BO_NEW_ARRAY(ctx, int32_t, count + 1))
            ? BOUGH_OK
            : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK) {
        for (int32_t k = 0; k < count; k++)
            lu->rows[k] = rows[k], lu->first[k] = lu->size, lu->size += rows[k];
        lu->first[count] = lu->size;
        status = find_neighbours(ctx, count, pair_count, pairs, of) ? reserve(ctx, lu, of) : BOUGH_ERROR_MEMORY;
    }
    for (int32_t k = 0; of && k < count; k++)
        bo_free(ctx, of[k].blocks);
    bo_free(ctx, of);
    return status;
}

void bo_block_lu_free(bough_context *ctx, bo_block_lu *lu) {
    void *const blocks[] = {lu->rows,     lu->first, lu->near_start, lu->near,   lu->near_at, lu->width,
                            lu->diagonal, lu->right, lu->below,      lu->values, lu->pivots,  lu->scratch};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        bo_free(ctx, blocks[i]);
    *lu = (bo_block_lu){.stuck = -1};
}

/* ---- values ---- */

void bo_block_lu_clear(bo_block_lu *lu) {
    memset(lu->values, 0, (size_t)lu->value_count * sizeof *lu->values);
}

static int32_t column_of(const bo_block_lu *lu, int32_t k, int32_t block) {
    int32_t i = lu->near_start[k];
    while (lu->near[i] != block)
        i++;
    return lu->near_at[i];
}

double *bo_block_lu_at(const bo_block_lu *lu, int32_t i, int32_t j, int32_t *stride) {
    if (i == j) {
        *stride = lu->rows[i];
        return lu->values + lu->diagonal[i];
    }
    if (i < j) {
        *stride = lu->width[i];
        return lu->values + lu->right[i] + column_of(lu, i, j);
    }
    *stride = lu->rows[j];
    return lu->values + lu->below[j] + (int64_t)column_of(lu, j, i) * lu->rows[j];
}

static void unfold_block(const bo_block_lu *lu, int32_t i, int32_t j, double *A) {
    int32_t stride;
    const double *from = bo_block_lu_at(lu, i, j, &stride);
    for (int32_t a = 0; a < lu->rows[i]; a++)
        for (int32_t b = 0; b < lu->rows[j]; b++)
            A[(int64_t)lu->size * (lu->first[i] + a) + lu->first[j] + b] = from[(int64_t)stride * a + b];
}

void bo_block_lu_unfold(const bo_block_lu *lu, double *A) {
    memset(A, 0, (size_t)lu->size * (size_t)lu->size * sizeof *A);
    for (int32_t k = 0; k < lu->count; k++) {
        unfold_block(lu, k, k, A);
        for (int32_t n = lu->near_start[k]; n < lu->near_start[k + 1]; n++) {
            unfold_block(lu, k, lu->near[n], A);
            unfold_block(lu, lu->near[n], k, A);
        }
    }
}

/* T = B X for B (rows x n), X (n x rows) */
static void multiply(int32_t rows, int32_t n, const double *restrict B, const double *restrict X, double *restrict T) {
    for (int32_t i = 0; i < rows; i++) {
        double *restrict t = T + (int64_t)rows * i;
        memset(t, 0, (size_t)rows * sizeof *t);
        for (int32_t k = 0; k < n; k++) {
            const double b = B[(int64_t)n * i + k];
            const double *restrict x = X + (int64_t)rows * k;
            for (int32_t j = 0; j < rows; j++)
                t[j] += b * x[j];
        }
    }
}

/* All later blocks that k meets: A_ij -= B_ik D_k^-1 C_kj. */
static void eliminate(bo_block_lu *lu, int32_t k) {
    const int32_t width = lu->width[k];
    multiply(width, lu->rows[k], lu->values + lu->below[k], lu->values + lu->right[k], lu->scratch);
    for (int32_t a = lu->near_start[k]; a < lu->near_start[k + 1]; a++)
        for (int32_t b = lu->near_start[k]; b < lu->near_start[k + 1]; b++) {
            const int32_t i = lu->near[a], j = lu->near[b];
            int32_t stride;
            double *to = bo_block_lu_at(lu, i, j, &stride);
            const double *from = lu->scratch + (int64_t)width * lu->near_at[a] + lu->near_at[b];
            for (int32_t r = 0; r < lu->rows[i]; r++)
                for (int32_t c = 0; c < lu->rows[j]; c++)
                    to[(int64_t)stride * r + c] -= from[(int64_t)width * r + c];
        }
}

bool bo_block_lu_factor(bo_block_lu *lu) {
    for (int32_t k = 0; k < lu->count; k++) {
        double *D = lu->values + lu->diagonal[k];
        int32_t *pivots = lu->pivots + lu->first[k];
        if (!bo_lu_factor(lu->rows[k], D, pivots)) {
            lu->stuck = k;
            return false;
        }
        if (lu->width[k] == 0)
            continue;
        bo_lu_solve_many(lu->rows[k], D, pivots, lu->width[k], lu->values + lu->right[k]);
        eliminate(lu, k);
    }
    lu->stuck = -1;
    return true;
}

int bo_block_lu_sign(const bo_block_lu *lu) {
    int sign = 1;
    for (int32_t k = 0; k < lu->count; k++) {
        const int32_t n = lu->rows[k];
        for (int32_t i = 0; i < n; i++) {
            const bool turned = lu->values[lu->diagonal[k] + (int64_t)n * i + i] < 0;
            const bool exchanged = lu->pivots[lu->first[k] + i] != i;
            sign = turned != exchanged ? -sign : sign;
        }
    }
    return sign;
}

void bo_block_lu_solve(const bo_block_lu *lu, double *b) {
    for (int32_t k = 0; k < lu->count; k++) {
        const int32_t n = lu->rows[k];
        double *own = b + lu->first[k];
        bo_lu_solve(n, lu->values + lu->diagonal[k], lu->pivots + lu->first[k], own);
        const double *B = lu->values + lu->below[k];
        for (int32_t a = lu->near_start[k]; a < lu->near_start[k + 1]; a++) {
            double *to = b + lu->first[lu->near[a]];
            for (int32_t i = 0; i < lu->rows[lu->near[a]]; i++, B += n)
                for (int32_t j = 0; j < n; j++)
                    to[i] -= B[j] * own[j];
        }
    }
    for (int32_t k = lu->count - 1; k >= 0; k--) {
        double *own = b + lu->first[k];
        const double *X = lu->values + lu->right[k];
        for (int32_t i = 0; i < lu->rows[k]; i++)
            for (int32_t a = lu->near_start[k]; a < lu->near_start[k + 1]; a++) {
                const double *from = b + lu->first[lu->near[a]];
                for (int32_t j = 0; j < lu->rows[lu->near[a]]; j++)
                    own[i] -= *X++ * from[j];
            }
    }
}

/* x <- D^-T x with P D = L U: U^T L^T P x = b */
static void solve_block_transposed(int32_t n, const double *LU, const int32_t *pivots, double *x) {
    for (int32_t i = 0; i < n; i++) {
        for (int32_t k = 0; k < i; k++)
            x[i] -= LU[n * k + i] * x[k];
        x[i] /= LU[n * i + i];
    }
    for (int32_t i = n - 1; i >= 0; i--)
        for (int32_t k = i + 1; k < n; k++)
            x[i] -= LU[n * k + i] * x[k];
    for (int32_t k = n - 1; k >= 0; k--) {
        const double t = x[k];
        x[k] = x[pivots[k]], x[pivots[k]] = t;
    }
}

/* A = (unit lower with B D^-1) diag(D) (unit upper with X): the transposed factors in the opposite order. */
void bo_block_lu_solve_transposed(const bo_block_lu *lu, double *b) {
    for (int32_t k = 0; k < lu->count; k++) {
        const double *X = lu->values + lu->right[k], *own = b + lu->first[k];
        for (int32_t i = 0; i < lu->rows[k]; i++)
            for (int32_t a = lu->near_start[k]; a < lu->near_start[k + 1]; a++) {
                double *to = b + lu->first[lu->near[a]];
                for (int32_t j = 0; j < lu->rows[lu->near[a]]; j++)
                    to[j] -= *X++ * own[i];
            }
    }
    for (int32_t k = lu->count - 1; k >= 0; k--) {
        const int32_t n = lu->rows[k];
        double *own = b + lu->first[k];
        const double *B = lu->values + lu->below[k];
        for (int32_t a = lu->near_start[k]; a < lu->near_start[k + 1]; a++) {
            const double *from = b + lu->first[lu->near[a]];
            for (int32_t i = 0; i < lu->rows[lu->near[a]]; i++, B += n)
                for (int32_t j = 0; j < n; j++)
                    own[j] -= B[j] * from[i];
        }
        solve_block_transposed(n, lu->values + lu->diagonal[k], lu->pivots + lu->first[k], own);
    }
}

void bo_block_lu_multiply_transposed(const bo_block_lu *lu, const double *values, const double *x, double *y) {
    memset(y, 0, (size_t)lu->size * sizeof *y);
    for (int32_t k = 0; k < lu->count; k++) {
        const int32_t n = lu->rows[k];
        const double *own = x + lu->first[k], *D = values + lu->diagonal[k], *C = values + lu->right[k];
        const double *B = values + lu->below[k];
        double *to_own = y + lu->first[k];
        for (int32_t i = 0; i < n; i++) {
            for (int32_t j = 0; j < n; j++)
                to_own[j] += D[n * i + j] * own[i];
            for (int32_t a = lu->near_start[k]; a < lu->near_start[k + 1]; a++) {
                double *to = y + lu->first[lu->near[a]];
                for (int32_t j = 0; j < lu->rows[lu->near[a]]; j++)
                    to[j] += *C++ * own[i];
            }
        }
        for (int32_t a = lu->near_start[k]; a < lu->near_start[k + 1]; a++) {
            const double *from = x + lu->first[lu->near[a]];
            for (int32_t i = 0; i < lu->rows[lu->near[a]]; i++, B += n)
                for (int32_t j = 0; j < n; j++)
                    to_own[j] += B[j] * from[i];
        }
    }
}
