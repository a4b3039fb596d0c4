#include "mechanism/links.h"

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

/* ---- the exponential ---- */

#define FAR 9.8696 /* square of half a turn, rad^2, up to which the series below are exact to rounding */

/* (1 - cos t) / t^2 and (t - sin t) / t^3 by x = t^2: sums of (-x)^k / (2k+2)! and (-x)^k / (2k+3)!, k = 0 .. 13 */
BO_INLINE void exponential_factors(const bo_v4 *x, bo_v4 *b, bo_v4 *c) {
    enum { TERMS = 14 };
    static const double even[TERMS] = {0x1p-1,
                                       1 / 24.,
                                       1 / 720.,
                                       1 / 40320.,
                                       1 / 3628800.,
                                       1 / 479001600.,
                                       1 / 87178291200.,
                                       1 / 20922789888e3,
                                       1 / 6402373705728e3,
                                       1 / 243290200817664e4,
                                       1 / 112400072777760768e4,
                                       1 / 6.204484017332394e23,
                                       1 / 4.0329146112660565e26,
                                       1 / 3.0488834461171386e29};
    static const double odd[TERMS] = {1 / 6.,
                                      1 / 120.,
                                      1 / 5040.,
                                      1 / 362880.,
                                      1 / 39916800.,
                                      1 / 6227020800.,
                                      1 / 1307674368e3,
                                      1 / 355687428096e3,
                                      1 / 121645100408832e3,
                                      1 / 5109094217170944e4,
                                      1 / 2585201673888497664e4,
                                      1 / 1.5511210043330986e25,
                                      1 / 1.0888869450418352e28,
                                      1 / 8.841761993739702e30};
    const bo_v4 y = -*x;
    bo_v4 p = even[TERMS - 1] + (bo_v4){0}, q = odd[TERMS - 1] + (bo_v4){0};
    for (int k = TERMS - 2; k >= 0; k--) {
        p = p * y + even[k];
        q = q * y + odd[k];
    }
    *b = p, *c = q;
}

/* The same for any x > 0: sin t and 1 - cos t are those of t less whole turns. */
BO_INLINE void far_factors(const bo_v4 *x, bo_v4 *b, bo_v4 *c) {
    const double turn = 6.283185307179586, whole = 0x1.8p52; /* adding it and taking it away rounds */
    bo_v4 t;
    for (int k = 0; k < 4; k++)
        BO_LANE(t, k) = sqrt(BO_LANE_CONST(*x, k)) + 1e-30; /* of a link that stays, beside one that is far */
    const bo_v4 turns = (t / turn + whole) - whole, rest = t - turns * turn, square = rest * rest;
    exponential_factors(&square, b, c);
    const bo_v4 sine = rest * (1 - *c * square);
    *b = *b * square / (t * t);
    *c = (t - sine) / (t * t * t);
}

BO_INLINE bool is_far(const bo_v4 *x) {
    typedef long long mask4 __attribute__((vector_size(32)));
    const mask4 far = (mask4)(*x > FAR);
    return (far[0] | far[1] | far[2] | far[3]) != 0;
}

/* R = ((1 - b x) 1 + a w~ + b w w^T) R_0,  p = p_0 + a v + b w x v + c (w . v) w,  a = 1 - c x.
 */
BO_INLINE void move4(const bo_v4 *t, const bo_rest4 *rest, bo_v4 out[12]) {
    const bo_v4 *v = t, *w = t + 3;
    const bo_v4 x = w[0] * w[0] + w[1] * w[1] + w[2] * w[2], along = w[0] * v[0] + w[1] * v[1] + w[2] * v[2];
    bo_v4 b, c;
    if (__builtin_expect(is_far(&x), 0))
        far_factors(&x, &b, &c);
    else
        exponential_factors(&x, &b, &c);
    const bo_v4 a = 1 - c * x, d = 1 - b * x, slide = c * along;
    const bo_v4 bw[3] = {b * w[0], b * w[1], b * w[2]}, aw[3] = {a * w[0], a * w[1], a * w[2]};
    const bo_v4 xy = bw[0] * w[1], xz = bw[0] * w[2], yz = bw[1] * w[2];
    const bo_v4 E[9] = {d + bw[0] * w[0], xy - aw[2], xz + aw[1], xy + aw[2],      d + bw[1] * w[1],
                        yz - aw[0],       xz - aw[1], yz + aw[0], d + bw[2] * w[2]};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[3 * i + j] = E[3 * i] * rest->R[j] + E[3 * i + 1] * rest->R[3 + j] + E[3 * i + 2] * rest->R[6 + j];
    out[9] = rest->p[0] + a * v[0] + (bw[1] * v[2] - bw[2] * v[1]) + slide * w[0];
    out[10] = rest->p[1] + a * v[1] + (bw[2] * v[0] - bw[0] * v[2]) + slide * w[1];
    out[11] = rest->p[2] + a * v[2] + (bw[0] * v[1] - bw[1] * v[0]) + slide * w[2];
}

/* Twelve numbers of four links to four poses. */
BO_INLINE void scatter4(const bo_v4 *in, bough_pose *poses) {
    for (int k = 0; k < 12; k += 4) {
        const bo_v4 ab_low = __builtin_shufflevector(in[k], in[k + 1], 0, 4, 2, 6);
        const bo_v4 ab_high = __builtin_shufflevector(in[k], in[k + 1], 1, 5, 3, 7);
        const bo_v4 cd_low = __builtin_shufflevector(in[k + 2], in[k + 3], 0, 4, 2, 6);
        const bo_v4 cd_high = __builtin_shufflevector(in[k + 2], in[k + 3], 1, 5, 3, 7);
        double *out = (double *)poses + k;
        BO_V4(out) = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
        BO_V4(out + 12) = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
        BO_V4(out + 24) = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
        BO_V4(out + 36) = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
    }
}

BO_INLINE void twists4(const bo_mechanism_lanes *lanes, int32_t group, const double *z, bo_v4 t[6]) {
    const bo_v4 *map = lanes->maps + (size_t)group * (size_t)(1 + lanes->rank) * 6;
    bo_v4 t0 = map[0], t1 = map[1], t2 = map[2], t3 = map[3], t4 = map[4], t5 = map[5];
    for (int32_t k = 0; k < lanes->rank; k++) {
        map += 6;
        t0 += z[k] * map[0], t1 += z[k] * map[1], t2 += z[k] * map[2];
        t3 += z[k] * map[3], t4 += z[k] * map[4], t5 += z[k] * map[5];
    }
    t[0] = t0, t[1] = t1, t[2] = t2, t[3] = t3, t[4] = t4, t[5] = t5;
}

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
