#include "fem/joined.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OLD = 3 }; /* times as many as are wanted: pairs that come and go stay in the pattern until then */

/* ---- vertices that are to be connected ---- */

static int compare_keys(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t key_of(int32_t a, int32_t b) {
    return ((uint64_t)(a > b ? a : b) << 32) + (uint64_t)(a > b ? b : a);
}

/* Each once, ascending. Returns how many there are then. */
static size_t sort_keys(bo_joined *joined, size_t n) {
    size_t kept = 0;
    qsort(joined->wanted, n, sizeof *joined->wanted, compare_keys);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || joined->wanted[i] != joined->wanted[i - 1])
            joined->wanted[kept++] = joined->wanted[i];
    return kept;
}

/* Pairs of different vertices of the blocks. Returns how many; joined->wanted has room. */
static size_t list_keys(bo_joined *joined, int32_t count, const bo_joined_block *blocks) {
    size_t n = 0;
    for (int32_t i = 0; i < count; i++)
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < a; b++)
                joined->wanted[n++] = key_of(blocks[i].vertices[a], blocks[i].vertices[b]);
    return sort_keys(joined, n);
}

static bool has_all(const bo_joined *joined, size_t count) {
    size_t k = 0;
    for (size_t i = 0; i < count; i++) {
        while (k < joined->key_count && joined->keys[k] < joined->wanted[i])
            k++;
        if (k == joined->key_count || joined->keys[k] != joined->wanted[i])
            return false;
    }
    return true;
}

/* ---- the pattern ---- */

/* Neighbours above each vertex: those of elements and those of keys, merged, each once. */
typedef struct {
    int32_t *start, *neighbours; /* vertices + 1; the first neighbour of a vertex is itself */
} graph;

/* Neighbours by elements: every third row of the last column of the vertex, behind the diagonal. */
static int32_t base_count(const bough_sparse *base, int32_t v) {
    return (base->column_start[3 * v + 3] - base->column_start[3 * v + 2] - 1) / 3;
}
static int32_t base_neighbour(const bough_sparse *base, int32_t v, int32_t i) {
    return base->rows[base->column_start[3 * v + 2] + 1 + 3 * i] / 3;
}

/* Keys go by rows; their columns are counted and sorted into `of_column`. */
static bough_status sort_by_column(bough_context *ctx, const bo_joined *joined, int32_t vertices, int32_t **start,
                                   int32_t **rows) {
    *start = BO_NEW_ZEROS(ctx, int32_t, vertices + 2);
    *rows = BO_NEW_ARRAY(ctx, int32_t, joined->key_count);
    if (!*start || !*rows)
        return BOUGH_ERROR_MEMORY;
    for (size_t i = 0; i < joined->key_count; i++)
        (*start)[(uint32_t)joined->keys[i] + 2]++;
    for (int32_t v = 0; v < vertices; v++)
        (*start)[v + 2] += (*start)[v + 1];
    for (size_t i = 0; i < joined->key_count; i++)
        (*rows)[(*start)[(uint32_t)joined->keys[i] + 1]++] = (int32_t)(joined->keys[i] >> 32);
    return BOUGH_OK;
}

static void merge(const bough_sparse *base, const int32_t *start, const int32_t *rows, graph *g) {
    int32_t used = 0;
    for (int32_t v = 0; v < base->size / 3; v++) {
        const int32_t count = base_count(base, v);
        int32_t i = 0, k = start[v];
        g->start[v] = used;
        g->neighbours[used++] = v;
        while (i < count || k < start[v + 1]) {
            const int32_t a = i < count ? base_neighbour(base, v, i) : INT32_MAX,
                          b = k < start[v + 1] ? rows[k] : INT32_MAX;
            g->neighbours[used++] = a < b ? a : b;
            i += a <= b, k += b <= a;
        }
    }
    g->start[base->size / 3] = used;
}

/* Columns hold the diagonal block from the diagonal on, then the blocks of the neighbours. */
static bough_status lay_out(bough_context *ctx, const bough_sparse *base, const graph *g, bo_joined *joined) {
    const int32_t vertices = base->size / 3;
    const int64_t entries = 9 * (int64_t)g->start[vertices] - 3 * (int64_t)vertices;
    BO_TRY(bo_sparse_create(ctx, base->size, entries, &joined->matrix));
    joined->map = BO_NEW_ARRAY(ctx, int64_t, base->column_start[base->size]);
    if (!joined->map)
        return BOUGH_ERROR_MEMORY;
    int32_t at = 0;
    for (int32_t v = 0; v < vertices; v++)
        for (int32_t k = 0; k < 3; k++) {
            int32_t from = base->column_start[3 * v + k];
            joined->matrix->column_start[3 * v + k] = at;
            for (int32_t i = g->start[v]; i < g->start[v + 1]; i++)
                for (int32_t row = i == g->start[v] ? k : 0; row < 3; row++, at++) {
                    joined->matrix->rows[at] = 3 * g->neighbours[i] + row;
                    if (from < base->column_start[3 * v + k + 1] && base->rows[from] == joined->matrix->rows[at])
                        joined->map[from++] = at;
                }
        }
    joined->matrix->column_start[base->size] = at;
    return BOUGH_OK;
}

/* The keys stay. */
static void forget_matrix(bough_context *ctx, bo_joined *joined) {
    bo_factor_destroy(ctx, joined->factor);
    bough_sparse_destroy(ctx, joined->matrix);
    bo_free(ctx, joined->map);
    joined->factor = NULL, joined->matrix = NULL, joined->map = NULL;
}

/* Keys become those that are wanted, and as long as they are not too many those that there were. */
static bough_status choose_keys(bough_context *ctx, bo_joined *joined, size_t wanted) {
    const size_t old = joined->key_count <= MOST_OLD * wanted ? joined->key_count : 0;
    if (!BO_RESERVE(ctx, joined->wanted, joined->wanted_capacity, wanted + old))
        return BOUGH_ERROR_MEMORY;
    for (size_t i = 0; i < old; i++)
        joined->wanted[wanted + i] = joined->keys[i];
    wanted = sort_keys(joined, wanted + old);
    if (!BO_RESERVE(ctx, joined->keys, joined->key_capacity, wanted))
        return BOUGH_ERROR_MEMORY;
    memcpy(joined->keys, joined->wanted, wanted * sizeof *joined->keys);
    joined->key_count = wanted;
    return BOUGH_OK;
}

/* Makes the matrix of the keys. */
static bough_status find_pattern(bough_context *ctx, bo_joined *joined, const bough_sparse *base,
                                 const unsigned char *fixed) {
    graph g = {0};
    int32_t *start = NULL, *rows = NULL;
    forget_matrix(ctx, joined);
    const int32_t vertices = base->size / 3;
    size_t most = joined->key_count + (size_t)vertices;
    for (int32_t v = 0; v < vertices; v++)
        most += (size_t)base_count(base, v);
    g.start = BO_NEW_ARRAY(ctx, int32_t, vertices + 1);
    g.neighbours = BO_NEW_ARRAY(ctx, int32_t, most);
    bough_status status =
        g.start && g.neighbours ? sort_by_column(ctx, joined, vertices, &start, &rows) : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK) {
        merge(base, start, rows, &g);
        status = lay_out(ctx, base, &g, joined);
    }
    if (status == BOUGH_OK)
        status = bo_factor_analyse(ctx, joined->matrix, 3, fixed, &joined->factor);
    bo_free(ctx, g.start);
    bo_free(ctx, g.neighbours);
    bo_free(ctx, start);
    bo_free(ctx, rows);
    if (status != BOUGH_OK)
        forget_matrix(ctx, joined);
    return status;
}

/* ---- values ---- */

static void add_block(bough_sparse *A, double scale, const bo_joined_block *block) {
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++) {
            const int32_t row = 3 * block->vertices[a], column = 3 * block->vertices[b];
            if (row < column)
                continue;
            for (int k = 0; k < 3; k++) {
                const int first = row == column ? k : 0;
                double *to = A->values + bo_sparse_find(A, column + k, row + first);
                for (int r = first; r < 3; r++)
                    *to++ += scale * block->H[12 * (3 * a + r) + 3 * b + k];
            }
        }
}

bough_status bo_joined_factor(bough_context *ctx, bo_joined *joined, const bough_sparse *base, int32_t count,
                              const bo_joined_block *blocks, double scale, const unsigned char *fixed) {
    if (!BO_RESERVE(ctx, joined->wanted, joined->wanted_capacity, 6 * (size_t)count))
        return BOUGH_ERROR_MEMORY;
    const size_t wanted = list_keys(joined, count, blocks);
    const bool known = has_all(joined, wanted);
    if (!known)
        BO_TRY(choose_keys(ctx, joined, wanted));
    if (!known || !joined->matrix)
        BO_TRY(find_pattern(ctx, joined, base, fixed));
    bough_sparse *A = joined->matrix;
    memset(A->values, 0, (size_t)A->column_start[A->size] * sizeof *A->values);
    for (int32_t k = 0; k < base->column_start[base->size]; k++)
        A->values[joined->map[k]] = base->values[k];
    for (int32_t i = 0; i < count; i++)
        add_block(A, scale, &blocks[i]);
    return bo_factor_numeric(ctx, joined->factor, A);
}

/* ---- saving ---- */

/* A number holds both vertices of a key exactly: 2^53 are enough for 94 million of them. */
void bo_joined_save(const bo_joined *joined, int32_t vertex_count, double *numbers) {
    for (size_t i = 0; i < joined->key_count; i++)
        numbers[i] = (double)((int64_t)(joined->keys[i] >> 32) * vertex_count + (uint32_t)joined->keys[i]);
}

bough_status bo_joined_restore(bough_context *ctx, bo_joined *joined, int32_t vertex_count, int64_t count,
                               const double *numbers) {
    const double most = (double)vertex_count * vertex_count;
    bool same = count == (int64_t)joined->key_count;
    if (!BO_RESERVE(ctx, joined->wanted, joined->wanted_capacity, (size_t)count) ||
        !BO_RESERVE(ctx, joined->keys, joined->key_capacity, (size_t)count))
        return BOUGH_ERROR_MEMORY;
    for (int64_t i = 0; i < count; i++) {
        const bool fits = numbers[i] >= 0 && numbers[i] < most && numbers[i] == floor(numbers[i]);
        const int64_t row = fits ? (int64_t)numbers[i] / vertex_count : 0,
                      column = fits ? (int64_t)numbers[i] % vertex_count : 0;
        joined->wanted[i] = key_of((int32_t)row, (int32_t)column);
        if (row <= column || (i > 0 && joined->wanted[i] <= joined->wanted[i - 1]))
            return bo_fail(ctx, BOUGH_ERROR_FORMAT, "the state connects vertices that the body does not have");
        same = same && joined->wanted[i] == joined->keys[i];
    }
    if (same)
        return BOUGH_OK;
    forget_matrix(ctx, joined);
    memcpy(joined->keys, joined->wanted, (size_t)count * sizeof *joined->keys);
    joined->key_count = (size_t)count;
    return BOUGH_OK;
}

void bo_joined_free(bough_context *ctx, bo_joined *joined) {
    forget_matrix(ctx, joined);
    bo_free(ctx, joined->keys);
    bo_free(ctx, joined->wanted);
    *joined = (bo_joined){0};
}
