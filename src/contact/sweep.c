#include "contact/sweep.h"

#include <string.h>

bough_status bo_sweep_create(bough_context *ctx, int32_t count, bo_sweep *sweep) {
    memset(sweep, 0, sizeof *sweep);
    sweep->order = BO_NEW_ARRAY(ctx, int32_t, count);
    if (!sweep->order)
        return bo_fail_memory(ctx);
    sweep->count = count, sweep->axis = -1;
    for (int32_t i = 0; i < count; i++)
        sweep->order[i] = i;
    return BOUGH_OK;
}

void bo_sweep_destroy(bough_context *ctx, bo_sweep *sweep) {
    bo_free(ctx, sweep->order);
    bo_free(ctx, sweep->pairs);
    memset(sweep, 0, sizeof *sweep);
}

static double along(bo_vec3 x, int axis) {
    return axis == 0 ? x.x : axis == 1 ? x.y : x.z;
}

/* The axis on which the middles of the boxes vary most. That along which they are sorted stays unless another is twice
 * as good: they would have to be sorted anew. Boxes without end are left out. */
static int best_axis(const bo_sweep *sweep, const bo_box *boxes) {
    double variance[3];
    int best = 0;
    for (int k = 0; k < 3; k++) {
        double sum = 0, squares = 0, first = NAN, count = 0;
        for (int32_t i = 0; i < sweep->count; i++) {
            const double x = 0.5 * (along(boxes[i].lower, k) + along(boxes[i].upper, k));
            if (!isfinite(x))
                continue;
            first = count == 0 ? x : first;
            sum += x - first, squares += (x - first) * (x - first), count++;
        }
        variance[k] = count > 0 ? squares - sum * sum / count : 0;
        best = variance[k] > variance[best] ? k : best;
    }
    return sweep->axis >= 0 && !(variance[best] > 2 * variance[sweep->axis]) ? sweep->axis : best;
}

/* Equal ones by their numbers: one order for the same boxes. */
static bool is_before(const bo_sweep *sweep, const bo_box *boxes, int32_t a, int32_t b) {
    const double x = along(boxes[a].lower, sweep->axis), y = along(boxes[b].lower, sweep->axis);
    return x < y || (x == y && a < b);
}

/* By insertion over a gap: with a gap of 1 quick where the order is nearly right. */
static void sort_by_gap(bo_sweep *sweep, const bo_box *boxes, int32_t gap) {
    for (int32_t i = gap; i < sweep->count; i++) {
        const int32_t box = sweep->order[i];
        int32_t k = i;
        for (; k >= gap && is_before(sweep, boxes, box, sweep->order[k - gap]); k -= gap)
            sweep->order[k] = sweep->order[k - gap];
        sweep->order[k] = box;
    }
}

static void sort_boxes(bo_sweep *sweep, const bo_box *boxes) {
    const int axis = best_axis(sweep, boxes);
    int32_t gap = 1;
    while (axis != sweep->axis && gap < sweep->count / 3)
        gap = 3 * gap + 1;
    sweep->axis = axis;
    for (; gap > 0; gap /= 3)
        sort_by_gap(sweep, boxes, gap);
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
    return a->lower.x <= b->upper.x && b->lower.x <= a->upper.x && a->lower.y <= b->upper.y &&
           b->lower.y <= a->upper.y && a->lower.z <= b->upper.z && b->lower.z <= a->upper.z;
}

bough_status bo_sweep_find(bough_context *ctx, bo_sweep *sweep, const bo_box *boxes,
                           bool (*wanted)(const void *user, int32_t a, int32_t b), const void *user) {
    sort_boxes(sweep, boxes);
    sweep->pair_count = 0;
    for (int32_t i = 0; i < sweep->count; i++) {
        const int32_t p = sweep->order[i];
        const double end = along(boxes[p].upper, sweep->axis);
        for (int32_t k = i + 1; k < sweep->count; k++) {
            const int32_t q = sweep->order[k], a = p < q ? p : q, b = p < q ? q : p;
            if (along(boxes[q].lower, sweep->axis) > end)
                break;
            if (!overlap(&boxes[p], &boxes[q]) || !wanted(user, a, b))
                continue;
            if (!BO_RESERVE(ctx, sweep->pairs, sweep->pair_capacity, sweep->pair_count + 1))
                return bo_fail_memory(ctx);
            sweep->pairs[sweep->pair_count++] = (uint64_t)a << 32 | (uint64_t)b;
        }
    }
    sort_pairs(sweep->pair_count, sweep->pairs);
    return BOUGH_OK;
}
