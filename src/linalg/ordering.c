#include "linalg/ordering.h"

#include <metis.h>
#include <pthread.h>
#include <string.h>

/* METIS draws from the process's rand() and catches signals while it works: one at a time. */
static pthread_mutex_t metis_lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct {
    idx_t count;         /* blocks with a free unknown */
    int32_t *label;      /* block -> its number among those, or -1 */
    idx_t *start, *list; /* neighbours of each, without itself */
    idx_t *perm, *inverse;
} block_graph;

static void destroy(bough_context *ctx, block_graph *g) {
    bo_free(ctx, g->label);
    bo_free(ctx, g->start);
    bo_free(ctx, g->list);
    bo_free(ctx, g->perm);
    bo_free(ctx, g->inverse);
}

static bough_status label_blocks(bough_context *ctx, int32_t blocks, int32_t block, const int32_t *free_index,
                                 block_graph *g) {
    g->label = BO_NEW_ARRAY(ctx, int32_t, blocks);
    if (!g->label)
        return BOUGH_ERROR_MEMORY;
    for (int32_t j = 0; j < blocks; j++) {
        bool used = false;
        for (int32_t k = 0; k < block; k++)
            used |= free_index[block * j + k] >= 0;
        g->label[j] = used ? (int32_t)g->count++ : -1;
    }
    g->start = BO_NEW_ZEROS(ctx, idx_t, (size_t)g->count + 2);
    g->perm = BO_NEW_ARRAY(ctx, idx_t, g->count);
    g->inverse = BO_NEW_ARRAY(ctx, idx_t, g->count);
    return g->start && g->perm && g->inverse ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

/* Calls for every pair of different free blocks that A joins: counts them, or enters them into the list. */
static void walk_pairs(const bough_sparse *A, int32_t block, block_graph *g, bool enter) {
    for (int32_t j = 0; j < A->size / block; j++)
        for (int32_t k = A->column_start[block * j]; k < A->column_start[block * j + 1]; k++) {
            int32_t a = g->label[A->rows[k] / block], b = g->label[j];
            if (A->rows[k] % block || a == b || a < 0 || b < 0)
                continue;
            if (enter) {
                g->list[g->start[a + 1]++] = b;
                g->list[g->start[b + 1]++] = a;
            } else {
                g->start[a + 2]++;
                g->start[b + 2]++;
            }
        }
}

static bough_status make_graph(bough_context *ctx, const bough_sparse *A, int32_t block, block_graph *g) {
    walk_pairs(A, block, g, false);
    for (idx_t i = 0; i < g->count; i++)
        g->start[i + 2] += g->start[i + 1];
    g->list = BO_NEW_ARRAY(ctx, idx_t, g->start[g->count + 1]);
    if (!g->list)
        return BOUGH_ERROR_MEMORY;
    walk_pairs(A, block, g, true); /* moves start[i + 1] from the beginning of i to its end: start is now complete */
    return BOUGH_OK;
}

/* ---- nested dissection ---- */

/* The graph of some of the blocks, by their numbers 0, 1, ... among these. */
typedef struct {
    idx_t count, *start, *list;
    idx_t *part, *scratch; /* count each, for METIS's answer */
} subgraph;

static void destroy_part(bough_context *ctx, subgraph *s) {
    bo_free(ctx, s->start);
    bo_free(ctx, s->list);
    bo_free(ctx, s->part);
    bo_free(ctx, s->scratch);
}

/* `local` (of all blocks) is -1 before and after. To be destroyed also when it fails. */
static bough_status cut_out(bough_context *ctx, const block_graph *g, const idx_t *members, idx_t count, idx_t *local,
                            subgraph *s) {
    *s = (subgraph){.count = count, .start = BO_NEW_ARRAY(ctx, idx_t, count + 1)};
    s->part = BO_NEW_ARRAY(ctx, idx_t, count);
    s->scratch = BO_NEW_ARRAY(ctx, idx_t, count);
    size_t most = 0, used = 0;
    for (idx_t i = 0; i < count; i++)
        most += (size_t)(g->start[members[i] + 1] - g->start[members[i]]);
    s->list = BO_NEW_ARRAY(ctx, idx_t, most + 1);
    if (!s->start || !s->list || !s->part || !s->scratch)
        return BOUGH_ERROR_MEMORY;
    for (idx_t i = 0; i < count; i++)
        local[members[i]] = i;
    for (idx_t i = 0; i < count; i++) {
        s->start[i] = (idx_t)used;
        for (idx_t k = g->start[members[i]]; k < g->start[members[i] + 1]; k++)
            if (local[g->list[k]] >= 0)
                s->list[used++] = local[g->list[k]];
    }
    s->start[count] = (idx_t)used;
    for (idx_t i = 0; i < count; i++)
        local[members[i]] = -1;
    return BOUGH_OK;
}

static bough_status fail_metis(bough_context *ctx) {
    return bo_fail(ctx, BOUGH_ERROR_MEMORY, "out of memory while ordering a sparse matrix");
}

/* All of them by METIS in one go. */
static bough_status order_whole(bough_context *ctx, subgraph *s, idx_t *members) {
    pthread_mutex_lock(&metis_lock);
    int result = METIS_NodeND(&s->count, s->start, s->list, NULL, NULL, s->scratch, s->part);
    pthread_mutex_unlock(&metis_lock);
    if (result != METIS_OK)
        return fail_metis(ctx);
    for (idx_t i = 0; i < s->count; i++) /* part[i] is the place of i */
        s->scratch[s->part[i]] = members[i];
    memcpy(members, s->scratch, (size_t)s->count * sizeof *members);
    return BOUGH_OK;
}

/* Sorts the members into two sides and, last, what separates them; sides[] are the numbers on the sides. */
static bough_status separate(bough_context *ctx, subgraph *s, idx_t *members, idx_t sides[2]) {
    idx_t size = 0, at = 0;
    pthread_mutex_lock(&metis_lock);
    int result = METIS_ComputeVertexSeparator(&s->count, s->start, s->list, NULL, NULL, &size, s->part);
    pthread_mutex_unlock(&metis_lock);
    if (result != METIS_OK)
        return fail_metis(ctx);
    for (idx_t side = 0; side < 3; side++) {
        for (idx_t i = 0; i < s->count; i++)
            if (s->part[i] == side)
                s->scratch[at++] = members[i];
        if (side < 2)
            sides[side] = side == 0 ? at : at - sides[0];
    }
    memcpy(members, s->scratch, (size_t)s->count * sizeof *members);
    return BOUGH_OK;
}

/* METIS orders what it can in a fraction of a second; larger graphs are first cut in two by a separator, as METIS would
 * do it, so that nobody has to wait for the whole. *ordered counts the blocks that have their place. */
#define AT_ONE_GO 20000

static bough_status dissect(bough_context *ctx, const block_graph *g, idx_t *members, idx_t count, idx_t *local,
                            idx_t *ordered) {
    if (count == 0)
        return BOUGH_OK;
    subgraph s;
    idx_t sides[2] = {0, 0};
    bough_status status = cut_out(ctx, g, members, count, local, &s);
    if (status == BOUGH_OK && count > AT_ONE_GO)
        status = separate(ctx, &s, members, sides);
    const bool whole = sides[0] == 0 || sides[1] == 0;
    if (status == BOUGH_OK && whole)
        status = order_whole(ctx, &s, members);
    destroy_part(ctx, &s);
    BO_TRY(status);
    *ordered += whole ? count : count - sides[0] - sides[1];
    if (g->count > AT_ONE_GO &&
        !bo_progress(ctx, "ordering", (double)*ordered / (double)g->count, "%d blocks", (int)g->count))
        return bo_fail_cancelled(ctx);
    if (whole)
        return BOUGH_OK;
    BO_TRY(dissect(ctx, g, members, sides[0], local, ordered));
    return dissect(ctx, g, members + sides[0], sides[1], local, ordered);
}

/* perm[i] becomes the block at place i; `inverse` is scratch. */
static bough_status order_graph(bough_context *ctx, block_graph *g, int32_t blocks) {
    idx_t ordered = 0;
    for (idx_t i = 0; i < g->count; i++)
        g->perm[i] = i, g->inverse[i] = -1;
    BO_TRY(dissect(ctx, g, g->perm, g->count, g->inverse, &ordered));
    for (int32_t j = 0; j < blocks; j++)
        if (g->label[j] >= 0)
            g->inverse[g->label[j]] = j;
    for (idx_t i = 0; i < g->count; i++)
        g->perm[i] = g->inverse[g->perm[i]];
    return BOUGH_OK;
}

bough_status bo_order_blocks(bough_context *ctx, const bough_sparse *A, int32_t block, const int32_t *free_index,
                             int32_t *order) {
    block_graph g = {0};
    bough_status status = label_blocks(ctx, A->size / block, block, free_index, &g);
    if (status == BOUGH_OK)
        status = make_graph(ctx, A, block, &g);
    if (status == BOUGH_OK)
        status = order_graph(ctx, &g, A->size / block);
    int32_t at = 0;
    for (idx_t i = 0; status == BOUGH_OK && i < g.count; i++)
        for (int32_t k = 0; k < block; k++)
            if (free_index[block * g.perm[i] + k] >= 0)
                order[at++] = free_index[block * g.perm[i] + k];
    destroy(ctx, &g);
    return status;
}
