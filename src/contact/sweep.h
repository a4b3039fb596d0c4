/* Which boxes overlap: sorted along the axis on which they are spread most, and swept. */
#ifndef BO_CONTACT_SWEEP_H
#define BO_CONTACT_SWEEP_H

#include "base/context.h"
#include "base/vec.h"

typedef struct bo_box {
    bo_vec3 lower, upper;
} bo_box;

/* Kept from step to step: the order along the axis hardly changes. */
typedef struct bo_sweep {
    int32_t count;
    int32_t *order; /* count; filled by bo_sweep_create() */
    int axis;       /* 0, 1, 2: along which they are sorted; -1: not yet */
    size_t pair_count, pair_capacity;
    uint64_t *pairs; /* (a << 32) + b with a < b, ascending */
} bo_sweep;

bough_status bo_sweep_create(bough_context *ctx, int32_t count, bo_sweep *sweep);
void bo_sweep_destroy(bough_context *ctx, bo_sweep *sweep);
/* All pairs that overlap and that `wanted` says yes to, whatever the axis. */
bough_status bo_sweep_find(bough_context *ctx, bo_sweep *sweep, const bo_box *boxes,
                           bool (*wanted)(const void *user, int32_t a, int32_t b), const void *user);

#endif
