/* Sparse Cholesky factorisation without other libraries, for WebAssembly: L has all entries of a row from the first one
 * on (its envelope), and rows are ordered so that these are few (Cuthill and McKee, reversed). CHOLMOD, in its place
 * elsewhere, is many times faster for large matrices. */
#include "linalg/factor.h"

#include <math.h>
#include <string.h>

#define MOST_ENTRIES 200000000 /* 1.6 GB */

struct bo_factor {
    int32_t size, count; /* unknowns; those that are free */
    int32_t *place;      /* unknown -> its row in L, or -1 */
    int32_t *first;      /* count: column of the first entry of a row */
    int64_t *start;      /* count + 1: where the rows' entries begin */
    double *L, *work;
    bool numeric;
};

/* Who is joined with whom: both directions, without the diagonal. */
typedef struct {
    int32_t *start, *list;
    int32_t *queue; /* free unknowns in the order found */
    bool *seen;
} graph;

static bool is_free(const unsigned char *fixed, int32_t i) {
    return !fixed || !fixed[i];
}

static bool make_graph(bough_context *ctx, const bough_sparse *A, const unsigned char *fixed, graph *g) {
    const int32_t n = A->size, entries = A->column_start[n];
    g->start = BO_NEW_ZEROS(ctx, int32_t, (size_t)n + 2);
    g->list = BO_NEW_ARRAY(ctx, int32_t, 2 * (size_t)entries);
    g->queue = BO_NEW_ARRAY(ctx, int32_t, n);
    g->seen = BO_NEW_ZEROS(ctx, bool, n);
    if (!g->start || !g->list || !g->queue || !g->seen)
        return false;
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t j = 0; j < n; j++)
            for (int32_t k = A->column_start[j]; k < A->column_start[j + 1]; k++) {
                const int32_t i = A->rows[k];
                if (i == j || !is_free(fixed, i) || !is_free(fixed, j))
                    continue;
                if (pass == 0)
                    g->start[i + 2]++, g->start[j + 2]++;
                else
                    g->list[g->start[i + 1]++] = j, g->list[g->start[j + 1]++] = i;
            }
        for (int32_t i = 0; i < n && pass == 0; i++)
            g->start[i + 2] += g->start[i + 1];
    }
    return true;
}

static int32_t degree(const graph *g, int32_t i) {
    return g->start[i + 1] - g->start[i];
}

/* All that hang together with `from`, nearest first, and of those as near the ones with few neighbours first; into the
 * queue from `begin` on. Returns its end. */
static int32_t walk(graph *g, int32_t from, int32_t begin) {
    int32_t end = begin;
    g->queue[end++] = from;
    g->seen[from] = true;
    for (int32_t at = begin; at < end; at++) {
        const int32_t i = g->queue[at], old = end;
        for (int32_t k = g->start[i]; k < g->start[i + 1]; k++) {
            const int32_t j = g->list[k];
            if (g->seen[j])
                continue;
            g->seen[j] = true;
            int32_t to = end++;
            for (; to > old && degree(g, g->queue[to - 1]) > degree(g, j); to--)
                g->queue[to] = g->queue[to - 1];
            g->queue[to] = j;
        }
    }
    return end;
}

/* Every piece is walked twice: from one of its ends, which is where the first walk came to last. */
static void order(graph *g, const unsigned char *fixed, bo_factor *f) {
    int32_t count = 0;
    for (int32_t i = 0; i < f->size; i++) {
        if (g->seen[i] || !is_free(fixed, i))
            continue;
        const int32_t end = walk(g, i, count), last = g->queue[end - 1];
        for (int32_t k = count; k < end; k++)
            g->seen[g->queue[k]] = false;
        count = walk(g, last, count);
    }
    f->count = count;
    for (int32_t i = 0; i < f->size; i++)
        f->place[i] = -1;
    for (int32_t k = 0; k < count; k++)
        f->place[g->queue[k]] = count - 1 - k;
}

static bough_status measure_rows(bough_context *ctx, const bough_sparse *A, bo_factor *f) {
    f->first = BO_NEW_ARRAY(ctx, int32_t, f->count);
    f->start = BO_NEW_ARRAY(ctx, int64_t, (size_t)f->count + 1);
    f->work = BO_NEW_ARRAY(ctx, double, f->count);
    if (!f->first || !f->start || !f->work)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < f->count; i++)
        f->first[i] = i;
    for (int32_t j = 0; j < A->size; j++)
        for (int32_t k = A->column_start[j]; k < A->column_start[j + 1]; k++) {
            const int32_t a = f->place[j], b = f->place[A->rows[k]], low = a < b ? a : b, high = a < b ? b : a;
            if (low >= 0 && low < f->first[high])
                f->first[high] = low;
        }
    f->start[0] = 0;
    for (int32_t i = 0; i < f->count; i++)
        f->start[i + 1] = f->start[i] + (i - f->first[i] + 1);
    if (f->start[f->count] > MOST_ENTRIES)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "a matrix with %d unknowns is too large for this build of Bough, which has no CHOLMOD",
                       f->count);
    f->L = BO_NEW_ARRAY(ctx, double, (size_t)f->start[f->count]);
    return f->L ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

bough_status bo_factor_analyse(bough_context *ctx, const bough_sparse *A, int32_t block, const unsigned char *fixed,
                               bo_factor **factor) {
    (void)block;
    *factor = NULL;
    bo_factor *f = BO_NEW(ctx, bo_factor);
    graph g = {0};
    if (!f)
        return BOUGH_ERROR_MEMORY;
    f->size = A->size;
    f->place = BO_NEW_ARRAY(ctx, int32_t, A->size);
    bough_status status = f->place && make_graph(ctx, A, fixed, &g) ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (!status) {
        order(&g, fixed, f);
        status = measure_rows(ctx, A, f);
    }
    bo_free(ctx, g.start);
    bo_free(ctx, g.list);
    bo_free(ctx, g.queue);
    bo_free(ctx, g.seen);
    if (status)
        bo_factor_destroy(ctx, f);
    else
        *factor = f;
    return status;
}

static double *row_of(const bo_factor *f, int32_t i) { /* its entry of column 0, were there one */
    return f->L + f->start[i] - f->first[i];
}

static void fill_in(bo_factor *f, const bough_sparse *A) {
    memset(f->L, 0, (size_t)f->start[f->count] * sizeof *f->L);
    for (int32_t j = 0; j < A->size; j++)
        for (int32_t k = A->column_start[j]; k < A->column_start[j + 1]; k++) {
            const int32_t a = f->place[j], b = f->place[A->rows[k]], low = a < b ? a : b, high = a < b ? b : a;
            if (low >= 0)
                row_of(f, high)[low] += A->values[k];
        }
}

static double dot(int32_t count, const double *a, const double *b) {
    double sums[4] = {0};
    int32_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (int k = 0; k < 4; k++)
            sums[k] += a[i + k] * b[i + k];
    for (; i < count; i++)
        sums[0] += a[i] * b[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* L L^T = A, row by row: L_ij = (A_ij - sum_k L_ik L_jk) / L_jj. */
bough_status bo_factor_numeric(bough_context *ctx, bo_factor *f, const bough_sparse *A) {
    f->numeric = false;
    fill_in(f, A);
    for (int32_t i = 0; i < f->count; i++) {
        double *row = row_of(f, i);
        for (int32_t j = f->first[i]; j <= i; j++) {
            const double *other = row_of(f, j);
            const int32_t from = f->first[i] > f->first[j] ? f->first[i] : f->first[j];
            const double rest = row[j] - dot(j - from, row + from, other + from);
            if (j < i)
                row[j] = rest / other[j];
            else if (rest > 0 && isfinite(rest))
                row[i] = sqrt(rest);
            else
                return bo_fail(ctx, BOUGH_ERROR_SINGULAR, "matrix is not positive definite (unknown %d of %d)", i,
                               f->count);
        }
    }
    f->numeric = true;
    return BOUGH_OK;
}

static void solve_one(bo_factor *f, const double *b, double *x) {
    double *y = f->work;
    for (int32_t u = 0; u < f->size; u++)
        if (f->place[u] >= 0)
            y[f->place[u]] = b[u];
    for (int32_t i = 0; i < f->count; i++) {
        const double *row = row_of(f, i);
        y[i] = (y[i] - dot(i - f->first[i], row + f->first[i], y + f->first[i])) / row[i];
    }
    for (int32_t i = f->count - 1; i >= 0; i--) {
        const double *row = row_of(f, i);
        y[i] /= row[i];
        for (int32_t j = f->first[i]; j < i; j++)
            y[j] -= row[j] * y[i];
    }
    for (int32_t u = 0; u < f->size; u++)
        x[u] = f->place[u] >= 0 ? y[f->place[u]] : b[u];
}

bough_status bo_factor_solve(bough_context *ctx, bo_factor *f, const double *b, double *x, int32_t count) {
    if (!f->numeric)
        return bo_fail(ctx, BOUGH_ERROR_SINGULAR, "there is no factor to solve with");
    for (size_t k = 0; k < (size_t)count; k++)
        solve_one(f, b + k * (size_t)f->size, x + k * (size_t)f->size);
    return BOUGH_OK;
}

void bo_factor_destroy(bough_context *ctx, bo_factor *f) {
    if (!f)
        return;
    bo_free(ctx, f->place);
    bo_free(ctx, f->first);
    bo_free(ctx, f->start);
    bo_free(ctx, f->L);
    bo_free(ctx, f->work);
    bo_free(ctx, f);
}

double bo_factor_rcond(bo_factor *f) {
    double least = INFINITY, most = 0;
    for (int32_t i = 0; i < f->count; i++) {
        const double d = row_of(f, i)[i];
        least = fmin(least, d), most = fmax(most, d);
    }
    return f->numeric && most > 0 ? least / most * (least / most) : 0;
}

void bo_factor_cost(const bo_factor *f, double *entries, double *operations) {
    *entries = (double)f->start[f->count], *operations = 0;
    for (int32_t i = 0; i < f->count; i++) {
        const double width = i - f->first[i] + 1;
        *operations += width * width;
    }
}
