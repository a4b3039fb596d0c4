/* Links of a blend, four side by side: those of each model, and what lies between. docs/theory/mechanism.md,
 * "Blending". */
#include "mechanism/blend.h"
#include "mechanism/lanes.h"

#define NOTHING 1e-16 /* weight of a model that changes no digit */

/* The same as between4() for any rotations. */
static void between_any(const bo_v4 from[12], const bo_v4 to[12], bo_v4 t[6]) {
    for (int l = 0; l < 4; l++) {
        bo_se3 a, b;
        double p[3], q[3], x[6];
        for (int k = 0; k < 9; k++)
            a.R.m[k] = BO_LANE_CONST(from[k], l), b.R.m[k] = BO_LANE_CONST(to[k], l);
        for (int k = 0; k < 3; k++)
            p[k] = BO_LANE_CONST(from[9 + k], l), q[k] = BO_LANE_CONST(to[9 + k], l);
        a.t = bo_load3(p), b.t = bo_load3(q);
        const bo_twist local = bo_se3_log(bo_se3_mul(bo_se3_inverse(a), b)); /* in the axes of a */
        bo_store_twist(x, (bo_twist){bo_mat_vec(a.R, local.v), bo_mat_vec(a.R, local.w)});
        for (int k = 0; k < 6; k++)
            BO_LANE(t[k], l) = x[k];
    }
}

typedef struct {
    const bo_mechanism_lanes *lanes;
    const double *columns;
    double weight;
} share;

/* H_1 exp(sum alpha_i log(H_1^-1 H_i)) with shares[0] for H_1, all in the world's axes. */
BO_MULTIVERSION
static void place_blended(int32_t count, const share *shares, int32_t link_count, bough_pose *poses) {
    for (int32_t g = 0; g < shares[0].lanes->group_count; g++) {
        bo_v4 t[6], sum[6] = {{0}}, out[12], other[12];
        bo_rest4 first;
        twists4(shares[0].lanes, g, 0, shares[0].columns, t);
        move4(t, &shares[0].lanes->rest[g], out);
        for (int32_t i = 1; i < count; i++) {
            twists4(shares[i].lanes, g, 0, shares[i].columns, t);
            move4(t, &shares[i].lanes->rest[g], other);
            if (!between4(out, other, t))
                between_any(out, other, t);
            for (int k = 0; k < 6; k++)
                sum[k] += shares[i].weight * t[k];
        }
        if (count > 1) {
            for (int k = 0; k < 9; k++)
                first.R[k] = out[k];
            for (int k = 0; k < 3; k++)
                first.p[k] = out[9 + k];
            move4(sum, &first, out);
        }
        scatter(out, link_count - 4 * g, poses + 4 * g);
    }
}

void bo_blend_place(const bough_mechanism_blend *blend, const double *weights, const double *columns,
                    int32_t column_count, const bo_se3 *moved, bough_pose *poses) {
    share shares[BOUGH_BLEND_LIMIT];
    int32_t count = 0;
    for (int32_t k = 0; k < blend->count; k++) {
        const int32_t i = k == 0 ? blend->middle : k <= blend->middle ? k - 1 : k; /* the middle one first */
        if (k == 0 || weights[i] > NOTHING)
            shares[count++] = (share){bo_mechanism_lanes_of(blend->points[i].model),
                                      columns + (ptrdiff_t)column_count * i, weights[i]};
    }
    const int32_t link_count = blend->mechanism->def.link_count;
    place_blended(count, shares, link_count, poses);
    for (int32_t i = 0; i < link_count && moved; i++)
        poses[i] = bo_put_pose(bo_se3_mul(*moved, bo_pose(&poses[i])));
}
