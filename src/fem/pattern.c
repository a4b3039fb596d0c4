#include "fem/pattern.h"

#include "base/morton.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE 64 /* elements: small enough for many blocks of one colour, large enough to stay in cache */

void bo_pattern_destroy(bough_context *ctx, bo_pattern *p) {
    if (!p)
        return;
    bough_sparse_destroy(ctx, p->matrix);
    bo_free(ctx, p->scatter);
    bo_free(ctx, p->order);
    bo_free(ctx, p->block_start);
    bo_free(ctx, p->color_start);
    bo_free(ctx, p);
}

/* ---- order: Morton curve ---- */

/* The mean of the first four corners. */
static void element_point(const void *data, int32_t element, double x[3]) {
    const bough_mesh *mesh = data;
    const int32_t *n = mesh->elements + (size_t)bough_element_node_count(mesh->type) * (size_t)element;
    for (size_t d = 0; d < 3; d++) {
        x[d] = 0;
        for (int c = 0; c < 4; c++)
            x[d] += 0.25 * mesh->vertices[3 * (size_t)n[c] + d];
    }
}

static bough_status order_elements(bough_context *ctx, const bough_mesh *mesh, bo_pattern *p) {
    p->order = BO_NEW_ARRAY(ctx, int32_t, mesh->element_count);
    return p->order ? bo_morton_order(ctx, mesh->element_count, element_point, mesh, p->order) : BOUGH_ERROR_MEMORY;
}

/* ---- colours ---- */

/* Greedy colouring of blocks, 64 colours at a time: each vertex keeps a mask of the colours that touch it. */
static void color_blocks(const bough_mesh *mesh, const int32_t *order, int32_t block_count, uint64_t *mask,
                         int32_t *color, int32_t *color_count) {
    size_t nodes = (size_t)bough_element_node_count(mesh->type);
    memset(color, 0xff, (size_t)block_count * sizeof *color);
    *color_count = 0;
    int32_t left = block_count;
    for (int32_t base = 0; left > 0; base += 64) {
        memset(mask, 0, (size_t)mesh->vertex_count * sizeof *mask);
        for (int32_t b = 0; b < block_count; b++) {
            if (color[b] >= 0)
                continue;
            int32_t begin = b * BLOCK_SIZE;
            int32_t end = begin + BLOCK_SIZE < mesh->element_count ? begin + BLOCK_SIZE : mesh->element_count;
            uint64_t taken = 0;
            for (int32_t i = begin; i < end; i++)
                for (size_t k = 0; k < nodes; k++)
                    taken |= mask[mesh->elements[nodes * (size_t)order[i] + k]];
            if (taken == UINT64_MAX)
                continue;
            int chosen = __builtin_ctzll(~taken);
            for (int32_t i = begin; i < end; i++)
                for (size_t k = 0; k < nodes; k++)
                    mask[mesh->elements[nodes * (size_t)order[i] + k]] |= UINT64_C(1) << chosen;
            color[b] = base + chosen;
            if (color[b] >= *color_count)
                *color_count = color[b] + 1;
            left--;
        }
    }
}

static bough_status arrange_blocks(bough_context *ctx, const bough_mesh *mesh, bo_pattern *p) {
    p->block_count = (mesh->element_count + BLOCK_SIZE - 1) / BLOCK_SIZE;
    uint64_t *mask = BO_NEW_ARRAY(ctx, uint64_t, mesh->vertex_count);
    int32_t *color = BO_NEW_ARRAY(ctx, int32_t, p->block_count);
    int32_t *sorted = BO_NEW_ARRAY(ctx, int32_t, mesh->element_count);
    p->block_start = BO_NEW_ZEROS(ctx, int32_t, (size_t)p->block_count + 1);
    bough_status status = BOUGH_ERROR_MEMORY;
    if (mask && color && sorted && p->block_start) {
        color_blocks(mesh, p->order, p->block_count, mask, color, &p->color_count);
        p->color_start = BO_NEW_ZEROS(ctx, int32_t, (size_t)p->color_count + 1);
        if (p->color_start)
            status = BOUGH_OK;
    }
    if (status == BOUGH_OK) {
        int32_t block = 0, filled = 0;
        for (int32_t c = 0; c < p->color_count; c++) {
            for (int32_t b = 0; b < p->block_count; b++) {
                if (color[b] != c)
                    continue;
                int32_t begin = b * BLOCK_SIZE;
                int32_t size = mesh->element_count - begin < BLOCK_SIZE ? mesh->element_count - begin : BLOCK_SIZE;
                memcpy(sorted + filled, p->order + begin, (size_t)size * sizeof *sorted);
                filled += size;
                p->block_start[++block] = filled;
            }
            p->color_start[c + 1] = block;
        }
        memcpy(p->order, sorted, (size_t)mesh->element_count * sizeof *sorted);
    }
    bo_free(ctx, mask);
    bo_free(ctx, color);
    bo_free(ctx, sorted);
    return status;
}

/* ---- matrix pattern ---- */

/* Vertex graph: for each vertex the neighbours with a higher number, sorted, itself first. */
typedef struct {
    int32_t *start;      /* vertex_count + 1 */
    int32_t *neighbours; /* start[vertex_count] */
} graph;

static bough_status build_graph(bough_context *ctx, const bough_mesh *mesh, graph *g) {
    size_t nodes = (size_t)bough_element_node_count(mesh->type), n = (size_t)mesh->vertex_count;
    size_t entries = nodes * (size_t)mesh->element_count;
    int32_t *incidence_start = BO_NEW_ZEROS(ctx, int32_t, n + 1);
    int32_t *incidence = BO_NEW_ARRAY(ctx, int32_t, entries);
    int32_t *seen = BO_NEW_ARRAY(ctx, int32_t, n);
    size_t capacity = 0;
    g->start = BO_NEW_ZEROS(ctx, int32_t, n + 1);
    bough_status status = incidence_start && incidence && seen && g->start ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK) {
        for (size_t i = 0; i < entries; i++)
            incidence_start[mesh->elements[i] + 1]++;
        for (size_t v = 0; v < n; v++)
            incidence_start[v + 1] += incidence_start[v];
        for (size_t i = entries; i-- > 0;)
            incidence[--incidence_start[mesh->elements[i] + 1]] = (int32_t)(i / nodes);
        /* incidence_start[v + 1] is now the start of v; shift the meaning by reading [v+1] .. [v+2]. */
        memset(seen, 0xff, n * sizeof *seen);
    }
    int64_t used = 0;
    for (int32_t v = 0; status == BOUGH_OK && v < mesh->vertex_count; v++) {
        int32_t from = incidence_start[v + 1];
        int32_t to = v + 2 <= mesh->vertex_count ? incidence_start[v + 2] : (int32_t)entries;
        size_t most = (size_t)used + 1 + nodes * (size_t)(to - from);
        if (!BO_RESERVE(ctx, g->neighbours, capacity, most)) {
            status = BOUGH_ERROR_MEMORY;
            break;
        }
        int32_t *list = g->neighbours + used, count = 0;
        list[count++] = v;
        seen[v] = v;
        for (int32_t i = from; i < to; i++)
            for (size_t k = 0; k < nodes; k++) {
                int32_t w = mesh->elements[nodes * (size_t)incidence[i] + k];
                if (w > v && seen[w] != v) {
                    seen[w] = v;
                    list[count++] = w;
                }
            }
        for (int32_t i = 2; i < count; i++)
            for (int32_t j = i; j > 1 && list[j - 1] > list[j]; j--) {
                int32_t t = list[j];
                list[j] = list[j - 1];
                list[j - 1] = t;
            }
        used += count;
        if (used > INT32_MAX / 9)
            status = bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "the stiffness matrix has more entries than can be indexed");
        g->start[v + 1] = (int32_t)used;
    }
    bo_free(ctx, incidence_start);
    bo_free(ctx, incidence);
    bo_free(ctx, seen);
    return status;
}

/* Column 3v+k of the lower triangle holds rows 3v+k..3v+2 of the diagonal block, then the three rows of each
 * neighbour: 3 (number of blocks) - k entries. */
static bough_status build_matrix(bough_context *ctx, const bough_mesh *mesh, const graph *g, bo_pattern *p) {
    int64_t entries = 9 * (int64_t)g->start[mesh->vertex_count] - 3 * (int64_t)mesh->vertex_count;
    BO_TRY(bo_sparse_create(ctx, 3 * mesh->vertex_count, entries, &p->matrix));
    int32_t at = 0;
    for (int32_t v = 0; v < mesh->vertex_count; v++)
        for (int32_t k = 0; k < 3; k++) {
            p->matrix->column_start[3 * v + k] = at;
            for (int32_t i = g->start[v]; i < g->start[v + 1]; i++)
                for (int32_t row = i == g->start[v] ? k : 0; row < 3; row++)
                    p->matrix->rows[at++] = 3 * g->neighbours[i] + row;
        }
    p->matrix->column_start[3 * mesh->vertex_count] = at;
    return BOUGH_OK;
}

static int32_t find_block(const graph *g, int32_t column, int32_t row) {
    int32_t low = g->start[column], high = g->start[column + 1] - 1;
    while (low < high) {
        int32_t middle = (low + high) / 2;
        if (g->neighbours[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low - g->start[column];
}

static bough_status build_scatter(bough_context *ctx, const bough_mesh *mesh, const graph *g, bo_pattern *p) {
    int32_t nodes = bough_element_node_count(mesh->type);
    p->pair_count = nodes * (nodes + 1) / 2;
    p->scatter = BO_NEW_ARRAY(ctx, int32_t, (size_t)p->pair_count * (size_t)mesh->element_count);
    if (!p->scatter)
        return BOUGH_ERROR_MEMORY;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const int32_t *n = mesh->elements + (size_t)nodes * (size_t)e;
        int32_t *out = p->scatter + (size_t)p->pair_count * (size_t)e;
        for (int32_t a = 0; a < nodes; a++)
            for (int32_t b = 0; b <= a; b++) {
                int32_t row = n[a] > n[b] ? n[a] : n[b], column = n[a] > n[b] ? n[b] : n[a];
                *out++ = p->matrix->column_start[3 * column] + 3 * find_block(g, column, row);
            }
    }
    return BOUGH_OK;
}

static bough_status build(bough_context *ctx, const bough_mesh *mesh, bo_pattern *p) {
    graph g = {0};
    BO_TRY(order_elements(ctx, mesh, p));
    BO_TRY(arrange_blocks(ctx, mesh, p));
    bough_status status = build_graph(ctx, mesh, &g);
    if (status == BOUGH_OK)
        status = build_matrix(ctx, mesh, &g, p);
    if (status == BOUGH_OK)
        status = build_scatter(ctx, mesh, &g, p);
    bo_free(ctx, g.start);
    bo_free(ctx, g.neighbours);
    return status;
}

bough_status bo_pattern_create(bough_context *ctx, const bough_mesh *mesh, bo_pattern **out) {
    *out = NULL;
    bo_pattern *p = BO_NEW(ctx, bo_pattern);
    if (!p)
        return BOUGH_ERROR_MEMORY;
    bough_status status = build(ctx, mesh, p);
    if (status != BOUGH_OK) {
        bo_pattern_destroy(ctx, p);
        return status;
    }
    *out = p;
    return BOUGH_OK;
}
