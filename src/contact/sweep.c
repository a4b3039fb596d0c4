#include "contact/sweep.h"

#include <string.h>

bough_status bo_sweep_create(bough_context *ctx, int32_t count, bo_sweep *sweep) {
    memset(sweep, 0, sizeof *sweep);
    sweep->order = BO_NEW_ARRAY(ctx, int32_t, count);
    if (!sweep->order)
        return bo_fail_memory(ctx);
    sweep->count = count;
    for (int32_t i = 0; i < count; i++)
        sweep->order[i] = i;
    return BOUGH_OK;
}

void bo_sweep_destroy(bough_context *ctx, bo_sweep *sweep) {
    bo_free(ctx, sweep->order);
    bo_free(ctx, sweep->pairs);
    memset(sweep, 0, sizeof *sweep);
}

/* By insertion, quick where the order is nearly right. Equal ones by their numbers: one order for the same boxes. */
static void sort_boxes(bo_sweep *sweep, const bo_box *boxes) {
    for (int32_t i = 1; i < sweep->count; i++) {
        const int32_t box = sweep->order[i];
        const double x = boxes[box].lower.x;
        int32_t k = i;
        for (; k > 0; k--) {
            const int32_t other = sweep->order[k - 1];
            const double y = boxes[other].lower.x;
            if (!(y > x || (y == x && other > box)))
                break;
            sweep->order[k] = other;
        }
        sweep->order[k] = box;
    }
}

/* Shell's sort: no memory, and pairs come nearly in order. */
static void sort_pairs(size_t count, uint64_t *pairs) {
    size_t gap = 1;
    while (gap < count / 3)
        gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3)
        for (size_t i = gap; i < count; i++) {
            const uint64_t pair = pairs[i];
            size_t k = i;
            for (; k >= gap && pairs[k - gap] > pair; k -= gap)
                pairs[k] = pairs[k - gap];
            pairs[k] = pair;
        }
}

static bool overlap(const bo_box *a, const bo_box *b) {
    return a->lower.y <= b->upper.y && b->lower.y <= a->upper.y && a->lower.z <= b->upper.z && b->lower.z <= a->upper.z;
}

bough_status bo_sweep_find(bough_context *ctx, bo_sweep *sweep, const bo_box *boxes,
                           bool (*wanted)(const void *user, int32_t a, int32_t b), const void *user) {
    sort_boxes(sweep, boxes);
    sweep->pair_count = 0;
    for (int32_t i = 0; i < sweep->count; i++)
        for (int32_t k = i + 1; k < sweep->count; k++) {
            const int32_t p = sweep->order[i], q = sweep->order[k], a = p < q ? p : q, b = p < q ? q : p;
            if (boxes[q].lower.x > boxes[p].upper.x)
                break;
            if (!overlap(&boxes[p], &boxes[q]) || !wanted(user, a, b))
                continue;
            if (!BO_RESERVE(ctx, sweep->pairs, sweep->pair_capacity, sweep->pair_count + 1))
                return bo_fail_memory(ctx);
            sweep->pairs[sweep->pair_count++] = (uint64_t)a << 32 | (uint64_t)b;
        }
    sort_pairs(sweep->pair_count, sweep->pairs);
    return BOUGH_OK;
}
