#include "mechanism/lanes.h"

#include "base/threads.h"

#include <string.h>

enum {
    PARALLEL_LINKS = 2000, /* fewer are placed sooner than threads are woken: docs/performance.md */
    GRAIN = 128            /* groups of four links that one thread takes at a time */
};

bough_status bo_lanes_create(bough_context *ctx, int32_t link_count, int32_t rank, bo_mechanism_lanes **lanes) {
    bo_mechanism_lanes *l = BO_NEW(ctx, bo_mechanism_lanes);
    if (!l)
        return bo_fail_memory(ctx);
    l->group_count = (link_count + 3) / 4, l->rank = rank;
    const size_t groups = (size_t)l->group_count, maps = groups * 6 * (size_t)(1 + rank);
    bough_status status =
        bo_arena_create(ctx, &l->arena, "links of a mechanism", groups * sizeof(bo_rest4) + maps * sizeof(bo_v4) + 256);
    if (status == BOUGH_OK) {
        l->rest = bo_arena_take(ctx, &l->arena, groups, sizeof(bo_rest4));
        l->maps = bo_arena_take(ctx, &l->arena, maps, sizeof(bo_v4));
        memset(l->rest, 0, groups * sizeof(bo_rest4));
        memset(l->maps, 0, maps * sizeof(bo_v4));
        *lanes = l;
    } else {
        bo_free(ctx, l);
    }
    return status;
}

void bo_lanes_destroy(bough_context *ctx, bo_mechanism_lanes *lanes) {
    if (!lanes)
        return;
    bo_arena_destroy(ctx, &lanes->arena);
    bo_free(ctx, lanes);
}

size_t bo_lanes_memory(const bo_mechanism_lanes *lanes) {
    return sizeof *lanes +
           (size_t)lanes->group_count * (sizeof(bo_rest4) + 6 * (size_t)(1 + lanes->rank) * sizeof(bo_v4));
}

/* H_0 exp(t) = [exp(w') R_0, p_0 + J(w') v'] with v' = R_0 v, w' = R_0 w: turning the maps once saves turning the
 * links. */
void bo_lanes_put(bo_mechanism_lanes *lanes, int32_t link, int32_t column, bo_mat3 R, const double twist[6]) {
    bo_v4 *map = lanes->maps + ((size_t)(link / 4) * (size_t)(1 + lanes->rank) + (size_t)column) * 6;
    double x[6];
    bo_store3(x, bo_mat_vec(R, bo_load3(twist)));
    bo_store3(x + 3, bo_mat_vec(R, bo_load3(twist + 3)));
    for (int k = 0; k < 6; k++)
        BO_LANE(map[k], link % 4) = x[k];
}

bo_twist bo_lanes_twist(const bo_mechanism_lanes *lanes, int32_t link, int32_t column) {
    const bo_v4 *map = lanes->maps + ((size_t)(link / 4) * (size_t)(1 + lanes->rank) + (size_t)column) * 6;
    double x[6];
    for (int k = 0; k < 6; k++)
        x[k] = BO_LANE_CONST(map[k], link % 4);
    return bo_load_twist(x);
}

void bo_lanes_rest(bo_mechanism_lanes *lanes, int32_t link, bo_se3 rest) {
    bo_rest4 *r = &lanes->rest[link / 4];
    double p[3];
    bo_store3(p, rest.t);
    for (int k = 0; k < 9; k++)
        BO_LANE(r->R[k], link % 4) = rest.R.m[k];
    for (int k = 0; k < 3; k++)
        BO_LANE(r->p[k], link % 4) = p[k];
}

/* ---- all of them ---- */

BO_MULTIVERSION
static void place_groups(const bo_mechanism_lanes *lanes, int32_t begin, int32_t end, int32_t link_count,
                         const double *z, bough_pose *poses) {
    for (int32_t g = begin; g < end; g++) {
        bo_v4 t[6], out[12];
        twists4(lanes, g, 1, z, t);
        move4(t, &lanes->rest[g], out);
        scatter(out, link_count - 4 * g, poses + 4 * g);
    }
}

typedef struct {
    const bo_mechanism_lanes *lanes;
    int32_t link_count;
    const double *z;
    const bo_se3 *moved;
    bough_pose *poses;
} placing;

/* Groups begin .. end - 1. Each link is on its own: who places it makes no difference. */
static void place_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const placing *p = data;
    (void)chunk;
    place_groups(p->lanes, begin, end, p->link_count, p->z, p->poses);
    const int32_t last = 4 * end < p->link_count ? 4 * end : p->link_count;
    for (int32_t i = 4 * begin; i < last && p->moved; i++)
        p->poses[i] = bo_put_pose(bo_se3_mul(*p->moved, bo_pose(&p->poses[i])));
}

void bo_lanes_place(bough_context *ctx, const bo_mechanism_lanes *lanes, int32_t link_count, const double *z,
                    const bo_se3 *moved, bough_pose *poses) {
    placing p = {lanes, link_count, z, moved, poses};
    if (!ctx || link_count < PARALLEL_LINKS)
        place_range(&p, 0, lanes->group_count, 0);
    else
        bo_parallel_for(ctx, lanes->group_count, GRAIN, place_range, &p);
}
