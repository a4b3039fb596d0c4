/* Looks at what touches when the tree engine starts: parts that nothing could touch, and parts that begin inside of
 * something. */
#include "tree/engine_inside.h"
#include "tree/touch.h"

#define DEEP 0.01 /* of the radius of a part */

/* Obstacles and solids are touched by samples of parts, and by solids. */
static bool can_touch(const tree_engine *e) {
    const bo_tree_touch_def *def = e->plan->touch;
    const int32_t others = def->obstacle_count + def->solid_count;
    bool any = others == 0 || (def->solid_count > 0 && others > 1);
    for (int32_t p = 0; p < bough_tree_model_part_count(e->model) && !any; p++)
        any = bo_tree_component_of(e, p)->contact.count > 0;
    return any;
}

/* The deepest sample of a part in something. */
typedef struct {
    int32_t part;
    double depth; /* m */
    bo_vec3 at;
    const char *in;
} sunken;

/* A sample k of a part, in the world. False: it is held where it is. */
static bool sample_at(const tree_engine *e, int32_t part, int32_t k, bo_vec3 *x) {
    const bough_component *c = bo_tree_component_of(e, part);
    const bo_tree_part *inside = &e->model->parts[e->model->inside[part]];
    const bough_frame *frame = &e->state->frames[part];
    const double *q = e->state->q + bough_tree_model_offset(e->model, part);
    bool moves = inside->parent >= 0 || inside->free || inside->track;
    double local[3];
    for (int d = 0; d < 3; d++) {
        const size_t row = 3 * (size_t)k + (size_t)d;
        local[d] = c->contact.position[row];
        for (int32_t l = 0; l < c->r; l++) {
            const double U = c->contact.U[row * (size_t)c->r + (size_t)l];
            local[d] += U * q[l], moves = moves || U != 0;
        }
    }
    const bo_se3 pose = bo_pose(&frame->pose);
    *x = bo_se3_apply(pose, bo_scale(inside->scale, bo_load3(local)));
    return moves;
}

static void sink(const tree_engine *e, int32_t part, const bo_obstacle *shape, const char *name, sunken *deepest) {
    const bough_component *c = bo_tree_component_of(e, part);
    for (int32_t k = 0; k < c->contact.count; k++) {
        bo_vec3 x;
        bo_gap gap;
        if (!sample_at(e, part, k, &x))
            continue;
        bo_obstacle_gap(shape, x, &gap);
        if (-gap.d > deepest->depth)
            *deepest = (sunken){part, -gap.d, x, name};
    }
}

/* The radius of the contact samples of a part about their mean, m. */
static double radius_of(const tree_engine *e, int32_t part) {
    const bough_sample_points *s = &bo_tree_component_of(e, part)->contact;
    bo_vec3 mean = bo_v3(0, 0, 0);
    double radius = 0;
    for (int32_t k = 0; k < s->count; k++)
        mean = bo_mul_add(mean, 1.0 / s->count, bo_load3(s->position + 3 * (size_t)k));
    for (int32_t k = 0; k < s->count; k++)
        radius = fmax(radius, bo_norm(bo_sub(bo_load3(s->position + 3 * (size_t)k), mean)));
    return radius * e->model->parts[e->model->inside[part]].scale;
}

bough_status bo_tree_check_samples(const tree_engine *e) {
    return can_touch(e) ? BOUGH_OK
                        : bo_fail(e->ctx, BOUGH_ERROR_ARGUMENT,
                                  "no part has contact samples, so that none can touch anything; cook components with "
                                  "\"samples\": {\"contact\": 100}");
}

void bo_tree_warn_of_overlaps(const tree_engine *e) {
    const bo_tree_touch_def *def = e->plan->touch;
    const bough_part_def *parts = bough_tree_model_describe(e->model)->parts;
    sunken deepest = {-1, 0, {0, 0, 0}, NULL};
    for (int32_t p = 0; p < bough_tree_model_part_count(e->model); p++) {
        sunken own = {p, DEEP * radius_of(e, p), {0, 0, 0}, NULL};
        if (!bo_tree_is_there(e, p))
            continue;
        for (int32_t o = 0; o < def->obstacle_count; o++) {
            bo_obstacle shape = def->obstacles[o].shape;
            if (def->obstacles[o].pose)
                shape.pose = def->obstacles[o].pose(def->obstacles[o].pose_data, e->state->time);
            sink(e, p, &shape, def->obstacles[o].name, &own);
        }
        for (int32_t s = 0; s < def->solid_count; s++) {
            const int32_t of = def->solids[s].part;
            bo_obstacle shape = def->solids[s].shape;
            shape.pose = bo_se3_mul(bo_pose(&e->state->frames[of].pose), shape.pose);
            if (of != p && bo_tree_is_there(e, of))
                sink(e, p, &shape, parts[of].name, &own);
        }
        if (own.in && own.depth > deepest.depth)
            deepest = own;
    }
    if (deepest.in)
        bo_warn(
            e->ctx,
            "\"%.60s\" begins %.3g m inside \"%.60s\", at (%.4g, %.4g, %.4g): pushing it out makes energy, for which "
            "steps may be refused; move one of them, or let the scene settle",
            parts[deepest.part].name ? parts[deepest.part].name : "", deepest.depth, deepest.in, deepest.at.x,
            deepest.at.y, deepest.at.z);
}
