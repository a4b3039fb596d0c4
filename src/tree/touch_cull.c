/* Which parts may be near something: most are not, and nothing else of them is looked at. docs/theory/tree.md, "Contact". */
#include "tree/touch.h"

#include "base/simd.h"

#include <math.h>
#include <string.h>

/* Spheres here are that much larger than those that parts are looked at by (touch_find.c): sums in another order are rounded
 * in another way. */
#define ROUNDING 1e-6

double bo_tree_obstacle_speed(const bo_tree_search *s, int32_t o, bo_vec3 centre, double radius) {
    const bo_se3 *before = &s->touch->before[o], *now = &s->touch->now[o].pose;
    if (!s->touch->moves[o])
        return 0;
    const bo_vec3 was = bo_se3_apply(*before, bo_mat_tvec(now->R, bo_sub(centre, now->t)));
    double turn = 0;
    for (int k = 0; k < 9; k++)
        turn = fmax(turn, fabs(now->R.m[k] - before->R.m[k]));
    return (bo_norm(bo_sub(centre, was)) + 3 * turn * radius) / s->dt;
}

/* Spheres around all samples of four parts, and bounds on the speed of these. */
typedef struct {
    bo_v4 centre[3], radius, speed;
} spheres;

typedef long long four __attribute__((vector_size(32), aligned(8)));

/* |x|, lane by lane */
BO_INLINE void take_magnitude(bo_v4 *x) {
    *x = (bo_v4)((four)*x & INT64_MAX);
}

/* By how much a part bends, and how fast it does: sums of |q_l| and |v_l| times what each moves a sample by, in the
 * component's size. */
BO_INLINE void bend_one(int32_t r, const double *reach, const double *q, const double *v, double *bend, double *rate) {
    bo_v4 far = {0}, fast = {0};
    int32_t l = 0;
    for (; l + 4 <= r; l += 4) {
        bo_v4 a = BO_V4_CONST(q + l), b = BO_V4_CONST(v + l);
        take_magnitude(&a);
        take_magnitude(&b);
        far += a * BO_V4_CONST(reach + l), fast += b * BO_V4_CONST(reach + l);
    }
    *bend = (far[0] + far[1]) + (far[2] + far[3]), *rate = (fast[0] + fast[1]) + (fast[2] + fast[3]);
    for (; l < r; l++)
        *bend += fabs(q[l]) * reach[l], *rate += fabs(v[l]) * reach[l];
}

/* Parts are far apart in memory: where coordinates follow each other only those are read. */
BO_INLINE void bend_four(const bo_tree_search *s, const bo_tree_block *block, int32_t first, int32_t count,
                         double *bend, double *rate) {
    const double *reach = s->touch->clouds[block->component].reach;
    const int32_t start = s->model->parts[block->first].offset;
    for (int32_t k = 0; k < 4; k++) {
        const int32_t at = first + (k < count ? k : 0);
        const int32_t offset = block->together ? start + at * block->r : s->model->parts[block->first + at].offset;
        bend_one(block->r, reach, s->work->next_q + offset, s->work->next_v + offset, bend + k, rate + k);
    }
}

/* Four parts of a block, from the number `first` of these on; missing ones are as that. */
BO_MULTIVERSION
static void enclose(const bo_tree_search *s, const bo_tree_block *block, int32_t first, spheres *to) {
    const bo_tree_cloud *cloud = &s->touch->clouds[block->component];
    const bo_tree_frames *f = &s->work->frames[(block->slot + first) / 4];
    const bo_v4 scale = BO_V4_CONST(block->scale + first);
    bo_v4 bend, rate, own[3], arm[3], turn[3], square = {0};
    bend_four(s, block, first, block->count - first, (double *)&bend, (double *)&rate);
    const double at[3] = {cloud->centre.x, cloud->centre.y, cloud->centre.z};
    for (int k = 0; k < 3; k++)
        own[k] = scale * at[k];
    bo_mulv4(f->world, own, arm);
    bo_cross4(f->w, own, turn);
    to->radius = (1 + ROUNDING) * scale * (cloud->radius + bend);
    for (int k = 0; k < 3; k++) {
        const bo_v4 v = f->v[k] + turn[k];
        to->centre[k] = f->origin[k] + arm[k];
        square += v * v;
        turn[k] = f->w[k] * f->w[k];
    }
    turn[0] += turn[1] + turn[2];
    for (int k = 0; k < 4; k++) {
        BO_LANE(to->speed, k) = sqrt(BO_LANE_CONST(square, k));
        BO_LANE(turn[1], k) = sqrt(BO_LANE_CONST(turn[0], k));
    }
    to->speed = (1 + ROUNDING) * (to->speed + to->radius * turn[1] + scale * rate);
}

/* near: of the four, which come so near a plane that stands still that they may touch it. */
BO_MULTIVERSION
static void see_plane(const bo_tree_search *s, const bo_obstacle *plane, const spheres *all, bool *near) {
    const double *R = plane->pose.R.m;
    const bo_vec3 n = bo_v3(R[2], R[5], R[8]);
    const bo_v4 gap =
        n.x * all->centre[0] + n.y * all->centre[1] + n.z * all->centre[2] - bo_dot(n, plane->pose.t) - all->radius;
    const bo_v4 left = gap - s->dt * all->speed - s->reach;
    for (int k = 0; k < 4; k++)
        near[k] = near[k] || !(BO_LANE_CONST(left, k) > 0);
}

/* The same of a solid. */
BO_MULTIVERSION
static void see_sphere(const bo_tree_search *s, const bo_tree_sphere *it, const spheres *all, bool *near) {
    const bo_v4 x = all->centre[0] - it->centre.x, y = all->centre[1] - it->centre.y, z = all->centre[2] - it->centre.z;
    const bo_v4 most = all->radius + (it->radius + s->reach) + s->dt * (all->speed + it->speed);
    const bo_v4 left = x * x + y * y + z * z - (1 + ROUNDING) * most * most;
    for (int k = 0; k < 4; k++)
        near[k] = near[k] || !(BO_LANE_CONST(left, k) > 0);
}

/* The same of any other obstacle. */
static void see_obstacle(const bo_tree_search *s, int32_t o, const spheres *all, bool *near) {
    for (int k = 0; k < 4; k++) {
        const double radius = BO_LANE_CONST(all->radius, k), speed = BO_LANE_CONST(all->speed, k);
        const bo_vec3 x = bo_vector_at(all->centre, k);
        const double within = s->reach + s->dt * (speed + bo_tree_obstacle_speed(s, o, x, radius));
        near[k] = near[k] || bo_obstacle_distance(&s->touch->now[o], x) - radius < within;
    }
}

static void see_all(const bo_tree_search *s, const spheres *all, bool *near) {
    const bo_tree_touch *touch = s->touch;
    for (int32_t o = 0; o < touch->def.obstacle_count; o++)
        if (touch->now[o].kind == BO_OBSTACLE_PLANE && !touch->moves[o])
            see_plane(s, &touch->now[o], all, near);
        else
            see_obstacle(s, o, all, near);
    for (int32_t k = 0; k < touch->def.solid_count; k++)
        if (s->model->inside[touch->def.solids[k].part] >= 0)
            see_sphere(s, &touch->spheres[k], all, near);
}

void bo_tree_touch_cull(const bo_tree_search *s, bool stirs) {
    const bough_tree_model *model = s->model;
    bo_tree_touch *touch = s->touch;
    for (int32_t b = 0; b < model->block_count; b++) {
        const bo_tree_block *block = &model->blocks[b];
        const bool awake = stirs || !model->parts[block->first].asleep; /* all of a block are, or none is */
        const bool has_samples = model->components[block->component].c->contact.count > 0;
        memset(touch->near + block->first, awake && has_samples, (size_t)block->count * sizeof *touch->near);
        for (int32_t k = 0; k < block->count && block->lanes > 1 && awake && has_samples; k += 4) {
            const int32_t count = block->count - k < 4 ? block->count - k : 4;
            bool near[4] = {false, false, false, false};
            spheres all;
            enclose(s, block, k, &all);
            see_all(s, &all, near);
            memcpy(touch->near + block->first + k, near, (size_t)count * sizeof *near);
        }
    }
    for (int32_t k = 0; k < touch->def.solid_count; k++) { /* they are looked at in any case */
        const int32_t i = model->inside[touch->def.solids[k].part];
        if (i >= 0)
            touch->near[i] = stirs || !model->parts[i].asleep;
    }
}
