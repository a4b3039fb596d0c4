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

static bough_status dissect(bough_context *ctx, const bough_sparse *A, int32_t block, block_graph *g) {
    walk_pairs(A, block, g, false);
    for (idx_t i = 0; i < g->count; i++)
        g->start[i + 2] += g->start[i + 1];
    g->list = BO_NEW_ARRAY(ctx, idx_t, g->start[g->count + 1]);
    if (!g->list)
        return BOUGH_ERROR_MEMORY;
    walk_pairs(A, block, g, true); /* moves start[i + 1] from the beginning of i to its end: start is now complete */
    pthread_mutex_lock(&metis_lock);
    int result = METIS_NodeND(&g->count, g->start, g->list, NULL, NULL, g->perm, g->inverse);
    pthread_mutex_unlock(&metis_lock);
    return result == METIS_OK ? BOUGH_OK
                              : bo_fail(ctx, BOUGH_ERROR_MEMORY, "out of memory while ordering a sparse matrix");
}

bough_status bo_order_blocks(bough_context *ctx, const bough_sparse *A, int32_t block, const int32_t *free_index,
                             int32_t *order) {
    block_graph g = {0};
    bough_status status = label_blocks(ctx, A->size / block, block, free_index, &g);
    if (status == BOUGH_OK)
        status = dissect(ctx, A, block, &g);
    if (status ==
        BOUGH_OK) /* inverse[label] is the block's place: list the blocks by place, then their free unknowns */
        for (int32_t j = 0; j < A->size / block; j++)
            if (g.label[j] >= 0)
                g.perm[g.inverse[g.label[j]]] = j;
    int32_t at = 0;
    for (idx_t i = 0; status == BOUGH_OK && i < g.count; i++)
        for (int32_t k = 0; k < block; k++)
            if (free_index[block * g.perm[i] + k] >= 0)
                order[at++] = free_index[block * g.perm[i] + k];
    destroy(ctx, &g);
    return status;
}
