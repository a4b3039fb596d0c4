#include "mechanism/lanes.h"

#include <string.h>

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
static void place_groups(const bo_mechanism_lanes *lanes, int32_t link_count, const double *z, bough_pose *poses) {
    for (int32_t g = 0; g < lanes->group_count; g++) {
        bo_v4 t[6], out[12];
        twists4(lanes, g, z, t);
        move4(t, &lanes->rest[g], out);
        if (4 * g + 4 <= link_count) {
            scatter4(out, poses + 4 * g);
        } else {
            bough_pose last[4];
            scatter4(out, last);
            memcpy(poses + 4 * g, last, (size_t)(link_count - 4 * g) * sizeof *poses);
        }
    }
}

void bo_lanes_place(const bo_mechanism_lanes *lanes, int32_t link_count, const double *z, const bo_se3 *moved,
                    bough_pose *poses) {
    place_groups(lanes, link_count, z, poses);
    for (int32_t i = 0; i < link_count && moved; i++)
        poses[i] = bo_put_pose(bo_se3_mul(*moved, bo_pose(&poses[i])));
}
