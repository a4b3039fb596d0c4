#include "linalg/block_solve.h"

#include "base/simd.h"

#include <string.h>

#define WIDTH BO_SOLVE_WIDTH
#define COLUMNS 4 /* of L taken together: so often fewer times the right-hand sides pass through the registers */

#define PARTS 2

/* One unknown of all right-hand sides, in pieces that fill a vector register. */
typedef double piece __attribute__((vector_size(WIDTH / PARTS * sizeof(double)), aligned(sizeof(double))));
typedef struct {
    piece part[PARTS];
} row;

static inline __attribute__((always_inline)) void subtract(row *to, double factor, const row *from) {
    for (int h = 0; h < PARTS; h++)
        to->part[h] -= factor * from->part[h];
}
static inline __attribute__((always_inline)) void divide(row *to, double divisor) {
    for (int h = 0; h < PARTS; h++)
        to->part[h] /= divisor;
}

/* One supernode: `columns` columns from `first`, rows[0 .. row_count) of which the first are those columns themselves,
 * and the values, column-major. */
typedef struct {
    int32_t first, columns, row_count;
    const int32_t *rows;
    const double *values;
} supernode;

static supernode get(const cholmod_factor *L, size_t s) {
    const int32_t *super = L->super, *pi = L->pi, *px = L->px;
    return (supernode){super[s], super[s + 1] - super[s], pi[s + 1] - pi[s], (const int32_t *)L->s + pi[s],
                       (const double *)L->x + px[s]};
}

/* L y = b for the columns j .. j + count of a supernode: their own unknowns, then what they take from those below. */
static inline __attribute__((always_inline)) void forward(const supernode *s, int32_t j, int32_t count, row *x) {
    size_t height = (size_t)s->row_count;
    const double *column = s->values + (size_t)j * height;
    row y[COLUMNS];
    for (int32_t q = 0; q < count; q++) {
        y[q] = x[s->first + j + q];
        for (int32_t p = 0; p < q; p++)
            subtract(&y[q], column[(size_t)p * height + (size_t)(j + q)], &y[p]);
        divide(&y[q], column[(size_t)q * height + (size_t)(j + q)]);
        x[s->first + j + q] = y[q];
    }
    for (int32_t i = j + count; i < s->row_count; i++) {
        row sum = x[s->rows[i]];
        for (int32_t q = 0; q < count; q++)
            subtract(&sum, column[(size_t)q * height + (size_t)i], &y[q]);
        x[s->rows[i]] = sum;
    }
}

/* L^T x = y likewise, from the unknowns below. */
static inline __attribute__((always_inline)) void backward(const supernode *s, int32_t j, int32_t count, row *x) {
    size_t height = (size_t)s->row_count;
    const double *column = s->values + (size_t)j * height;
    row y[COLUMNS];
    for (int32_t q = 0; q < count; q++)
        y[q] = x[s->first + j + q];
    for (int32_t i = j + count; i < s->row_count; i++) {
        row below = x[s->rows[i]];
        for (int32_t q = 0; q < count; q++)
            subtract(&y[q], column[(size_t)q * height + (size_t)i], &below);
    }
    for (int32_t q = count - 1; q >= 0; q--) {
        for (int32_t p = q + 1; p < count; p++)
            subtract(&y[q], column[(size_t)q * height + (size_t)(j + p)], &y[p]);
        divide(&y[q], column[(size_t)q * height + (size_t)(j + q)]);
        x[s->first + j + q] = y[q];
    }
}

/* The supernode behind a stretch that begins with `from` and goes up, or down (step -1). *entries counts those of L
 * since the last look at whether to go on, and the stretch ends when it is time for the next. */
static size_t end_of_stretch(const cholmod_factor *L, size_t from, int step, double *entries) {
    size_t k = from;
    for (; (step > 0 ? k < L->nsuper : k > 0) && *entries<BO_SOLVE_A_LOOK; k = step> 0 ? k + 1 : k - 1) {
        supernode s = get(L, step > 0 ? k : k - 1);
        *entries += (double)s.columns * s.row_count;
    }
    return k;
}

static bool go_on(bough_context *ctx, const cholmod_factor *L, double *entries) {
    if (*entries < BO_SOLVE_A_LOOK)
        return true;
    *entries = 0;
    return bo_progress(ctx, "solving", -1, "%zu unknowns", L->n);
}

BO_MULTIVERSION static void forward_some(const cholmod_factor *L, size_t begin, size_t end, row *x) {
    for (size_t k = begin; k < end; k++) {
        supernode s = get(L, k);
        int32_t j = 0;
        for (; j + COLUMNS <= s.columns; j += COLUMNS)
            forward(&s, j, COLUMNS, x);
        for (; j < s.columns; j++)
            forward(&s, j, 1, x);
    }
}

BO_MULTIVERSION static void backward_some(const cholmod_factor *L, size_t begin, size_t end, row *x) {
    for (size_t k = begin; k-- > end;) {
        supernode s = get(L, k);
        int32_t j = s.columns;
        for (; j % COLUMNS != 0; j--)
            backward(&s, j - 1, 1, x);
        for (; j > 0; j -= COLUMNS)
            backward(&s, j - COLUMNS, COLUMNS, x);
    }
}

bool bo_block_solve_fits(const cholmod_factor *L) {
    return L->is_super && L->is_ll && L->xtype == CHOLMOD_REAL && L->itype == CHOLMOD_INT && L->minor == L->n;
}

static bool sweep(bough_context *ctx, const cholmod_factor *L, double *entries, row *x) {
    for (size_t k = 0, end; k < L->nsuper; k = end) {
        if (!go_on(ctx, L, entries))
            return false;
        end = end_of_stretch(L, k, 1, entries);
        forward_some(L, k, end, x);
    }
    for (size_t k = L->nsuper, end; k > 0; k = end) {
        if (!go_on(ctx, L, entries))
            return false;
        end = end_of_stretch(L, k, -1, entries);
        backward_some(L, k, end, x);
    }
    return true;
}

bool bo_block_solve(bough_context *ctx, const cholmod_factor *L, const double *b, double *x, int32_t count,
                    double *work) {
    size_t n = L->n;
    const int32_t *order = L->Perm;
    double entries = 0;
    for (int32_t begin = 0; begin < count; begin += WIDTH, b += WIDTH * n, x += WIDTH * n) {
        size_t width = (size_t)(count - begin < WIDTH ? count - begin : WIDTH);
        memset(work, 0, width < WIDTH ? n * WIDTH * sizeof *work : 0);
        for (size_t c = 0; c < width; c++)
            for (size_t i = 0; i < n; i++)
                work[i * WIDTH + c] = b[c * n + (size_t)order[i]];
        if (!sweep(ctx, L, &entries, (row *)work))
            return false;
        for (size_t c = 0; c < width; c++)
            for (size_t i = 0; i < n; i++)
                x[c * n + (size_t)order[i]] = work[i * WIDTH + c];
    }
    return true;
}
