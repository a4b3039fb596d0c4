/* Contact in steps of trees: the points that touch. docs/theory/tree.md, "Contact". */
#include "tree/touch.h"

#include "tree/rest.h"

#include <math.h>
#include <string.h>

#define NOTHING 1e-9 /* m: what is inside by less does not touch: something may be fixed right there */

/* ---- motion of parts ---- */

/* A frame with its motion, in the world. */
typedef struct {
    bo_mat3 R;
    bo_vec3 x, v, w;
} motion;

/* The frame of a part where the step without contact has led. */
static motion motion_of(const bo_tree_work *work, const bo_tree_part *part) {
    const bo_tree_frames *f = &work->frames[part->slot / 4];
    const int32_t lane = part->slot % 4;
    const bo_mat3 R = bo_matrix_at(f->world, lane);
    return (motion){R, bo_vector_at(f->origin, lane), bo_mat_vec(R, bo_vector_at(f->v, lane)),
                    bo_mat_vec(R, bo_vector_at(f->w, lane))};
}

static bo_se3 start_of(const bough_tree_state *state, const bo_tree_part *part) {
    const bough_pose *pose = &state->frames[part->user].pose;
    bo_se3 at = {.t = bo_load3(pose->position)};
    memcpy(at.R.m, pose->rotation, sizeof at.R.m);
    return at;
}

/* ---- what touches ---- */

/* One sample of a part, as the part moves. */
typedef struct {
    int32_t part;    /* inside */
    bo_vec3 own, X;  /* in the part's axes: bent as it is; at the start of the step */
    const double *U; /* 3 x r; NULL: it does not bend */
    double radius;   /* around it */
    bo_vec3 x, v;    /* in the world, without contact */
    const motion *frame;
} sample;

/* Two unit vectors across n. */
static void across(bo_vec3 n, bo_vec3 tangents[2]) {
    const bo_vec3 other = fabs(n.x) < 0.6 ? bo_v3(1, 0, 0) : bo_v3(0, 1, 0);
    tangents[0] = bo_normalize(bo_cross(n, other));
    tangents[1] = bo_cross(n, tangents[0]);
}

/* Row of the velocity along a direction of the world, of a point of a frame: its derivative by the frame's velocity. */
static void frame_row(bo_mat3 R, bo_vec3 own, bo_vec3 direction, double sign, double row[6]) {
    const bo_vec3 d = bo_scale(sign, bo_mat_tvec(R, direction));
    bo_store3(row, d);
    bo_store3(row + 3, bo_cross(own, d));
}

int32_t bo_tree_island_of(const bo_tree_touch *touch, int32_t tree) {
    while (touch->join[tree] != tree)
        tree = touch->join[tree];
    return tree;
}

/* The first of both stands for all. */
static void join(bo_tree_touch *touch, int32_t a, int32_t b) {
    a = bo_tree_island_of(touch, a), b = bo_tree_island_of(touch, b);
    touch->join[a > b ? a : b] = a > b ? b : a;
}

/* Adds the contact of a sample with what has the gap. other: the motion of a solid; NULL: an obstacle. */
static bough_status add_point(bo_tree_search *s, const sample *at, const bo_gap *gap, int32_t obstacle, int32_t other,
                              const motion *solid, bo_vec3 other_velocity, bo_vec3 other_start, double friction) {
    bo_tree_touch *touch = s->touch;
    const bo_tree_part *part = &s->model->parts[at->part];
    const int32_t r = part->locked || !at->U ? 0 : part->r;
    if (part->asleep || (other >= 0 && s->model->parts[other].asleep)) {
        bo_tree_call(s->model, s->work, part->asleep ? at->part : other);
        return BOUGH_OK;
    }
    if (touch->point_count == (size_t)touch->def.most_contacts)
        return bo_fail(
            s->ctx, BOUGH_ERROR_UNSUPPORTED,
            "more than %d points touch in one step; allow more, or cook the parts with fewer contact samples",
            touch->def.most_contacts);
    if (!BO_RESERVE(s->ctx, touch->points, touch->point_capacity, touch->point_count + 1) ||
        !BO_RESERVE(s->ctx, touch->rows, touch->row_capacity,
                    touch->row_count + 3 * (size_t)r + 1)) /* never NULL, also of rigid parts */
        return BOUGH_ERROR_MEMORY;
    bo_tree_point *point = &touch->points[touch->point_count++];
    if (other >= 0)
        join(touch, part->tree, s->model->parts[other].tree);
    const bo_vec3 n = bo_normalize(gap->n), x = bo_mul_add(at->x, -at->radius, n);
    const bo_vec3 own = bo_mat_tvec(at->frame->R, bo_sub(x, at->frame->x));
    const bo_vec3 v = bo_add(at->v, bo_cross(at->frame->w, bo_scale(-at->radius, n)));
    *point = (bo_tree_point){.part = at->part,
                             .other = other,
                             .obstacle = obstacle,
                             .r = r,
                             .rows = touch->row_count,
                             .x = x,
                             .other_start = other_start,
                             .gap = gap->d - at->radius,
                             .friction = friction};
    const bo_se3 start = start_of(s->state, part);
    point->start = bo_se3_apply(start, bo_add(at->X, bo_sub(own, at->own)));
    point->axes[0] = n;
    across(n, point->axes + 1);
    for (int k = 0; k < 3; k++) {
        const bo_vec3 d = bo_scale(part->scale, bo_mat_tvec(at->frame->R, point->axes[k]));
        const double direction[3] = {d.x, d.y, d.z};
        double *row = touch->rows + touch->row_count + (size_t)k * (size_t)r;
        frame_row(at->frame->R, own, point->axes[k], 1, point->frame[k]);
        if (solid)
            frame_row(solid->R, bo_mat_tvec(solid->R, bo_sub(x, solid->x)), point->axes[k], -1, point->other_frame[k]);
        for (int32_t l = 0; l < r; l++) {
            row[l] = 0;
            for (int e = 0; e < 3; e++)
                row[l] += direction[e] * at->U[(size_t)e * (size_t)r + (size_t)l];
        }
        point->velocity[k] = bo_dot(point->axes[k], bo_sub(v, other_velocity));
    }
    touch->row_count += 3 * (size_t)r;
    return BOUGH_OK;
}

static bough_status meet_obstacle(bo_tree_search *s, const sample *at, int32_t o) {
    const bo_obstacle *obstacle = &s->touch->now[o];
    if (bo_obstacle_distance(obstacle, at->x) >= at->radius - NOTHING)
        return BOUGH_OK;
    bo_gap gap;
    bo_obstacle_gap(obstacle, at->x, &gap);
    const bo_se3 *before = &s->touch->before[o], *now = &obstacle->pose;
    const bo_vec3 was = bo_se3_apply(*before, bo_mat_tvec(now->R, bo_sub(at->x, now->t)));
    const double mu = sqrt(s->touch->def.friction * s->touch->def.obstacles[o].friction);
    return add_point(s, at, &gap, o, -1, NULL, bo_scale(1 / s->dt, bo_sub(at->x, was)), was, mu);
}

/* The shape of a solid where it is now. */
static bo_obstacle placed(const bo_tree_solid *solid, const motion *at) {
    bo_obstacle shape = solid->shape;
    shape.pose = bo_se3_mul((bo_se3){at->R, at->x}, solid->shape.pose);
    return shape;
}

static bough_status meet_solid(bo_tree_search *s, const sample *at, int32_t k, const bo_obstacle *shape,
                               const motion *solid) {
    if (bo_obstacle_distance(shape, at->x) >= at->radius - NOTHING)
        return BOUGH_OK;
    const int32_t other = s->model->inside[s->touch->def.solids[k].part];
    bo_gap gap;
    bo_obstacle_gap(shape, at->x, &gap);
    const bo_vec3 arm = bo_sub(at->x, solid->x);
    const bo_vec3 was = bo_se3_apply(start_of(s->state, &s->model->parts[other]), bo_mat_tvec(solid->R, arm));
    return add_point(s, at, &gap, -1, other, solid, bo_add(solid->v, bo_cross(solid->w, arm)), was,
                     s->touch->def.friction);
}

/* Ends of the axis of a capsule, the middle of a sphere, the corners of a box: with the radius around them they are the
 * points by which solids touch. */
static int32_t points_of(const bo_obstacle *shape, bo_vec3 points[8], double *radius) {
    int32_t count = 0;
    *radius = shape->kind == BO_OBSTACLE_BOX ? 0 : shape->radius;
    if (shape->kind == BO_OBSTACLE_SPHERE)
        points[count++] = bo_v3(0, 0, 0);
    for (int k = 0; k < 2 && shape->kind == BO_OBSTACLE_CAPSULE; k++)
        points[count++] = bo_v3(0, 0, k ? shape->half : -shape->half);
    for (int k = 0; k < 8 && shape->kind == BO_OBSTACLE_BOX; k++)
        points[count++] = bo_v3(k & 1 ? shape->halves.x : -shape->halves.x, k & 2 ? shape->halves.y : -shape->halves.y,
                                k & 4 ? shape->halves.z : -shape->halves.z);
    for (int32_t k = 0; k < count; k++)
        points[k] = bo_se3_apply(shape->pose, points[k]);
    return count;
}

/* The things that one part may touch. */
typedef struct {
    int32_t obstacle_count, solid_count;
    const int32_t *obstacles, *solids;
    const bo_obstacle *shapes; /* of the solids of the scene */
    const motion *motions;
    bool stirs; /* something moves that could touch a tree that sleeps */
} near_things;

static bough_status meet(bo_tree_search *s, const sample *at, const near_things *near) {
    for (int32_t k = 0; k < near->obstacle_count; k++)
        BO_TRY(meet_obstacle(s, at, near->obstacles[k]));
    for (int32_t k = 0; k < near->solid_count; k++)
        BO_TRY(meet_solid(s, at, near->solids[k], &near->shapes[near->solids[k]], &near->motions[near->solids[k]]));
    return BOUGH_OK;
}

static bough_status meet_by_shape(bo_tree_search *s, int32_t i, int32_t solid, const motion *frame,
                                  const near_things *near) {
    bo_vec3 points[8];
    sample at = {.part = i, .frame = frame};
    const int32_t count = points_of(&s->touch->def.solids[solid].shape, points, &at.radius);
    for (int32_t k = 0; k < count; k++) {
        at.own = at.X = points[k];
        at.x = bo_add(frame->x, bo_mat_vec(frame->R, at.own));
        at.v = bo_add(frame->v, bo_cross(frame->w, bo_sub(at.x, frame->x)));
        BO_TRY(meet(s, &at, near));
    }
    return BOUGH_OK;
}

static bough_status meet_by_samples(bo_tree_search *s, int32_t i, const motion *frame, const near_things *near) {
    const bo_tree_part *part = &s->model->parts[i];
    const bough_component *c = s->model->components[part->component].c;
    const size_t r = (size_t)c->r;
    const double *q = s->work->next_q + part->offset, *v = s->work->next_v + part->offset;
    const double *q_was = s->state->q + part->offset;
    for (int32_t k = 0; k < c->contact.count; k++) {
        const double *U = c->contact.U + 3 * r * (size_t)k, *X = c->contact.position + 3 * (size_t)k;
        double own[3], was[3], rate[3];
        for (size_t d = 0; d < 3; d++) {
            own[d] = was[d] = X[d], rate[d] = 0;
            for (size_t l = 0; l < r; l++) {
                own[d] += U[d * r + l] * q[l], was[d] += U[d * r + l] * q_was[l];
                rate[d] += U[d * r + l] * v[l];
            }
        }
        sample at = {.part = i, .frame = frame, .U = U};
        at.own = bo_scale(part->scale, bo_load3(own)), at.X = bo_scale(part->scale, bo_load3(was));
        const bo_vec3 arm = bo_mat_vec(frame->R, at.own);
        at.x = bo_add(frame->x, arm);
        at.v = bo_add(bo_add(frame->v, bo_cross(frame->w, arm)),
                      bo_mat_vec(frame->R, bo_scale(part->scale, bo_load3(rate))));
        BO_TRY(meet(s, &at, near));
    }
    return BOUGH_OK;
}

/* The sphere around all that a part touches with. */
static double sphere_of(const bo_tree_search *s, int32_t i, const motion *frame, int32_t solid, bo_vec3 *centre) {
    const bo_tree_part *part = &s->model->parts[i];
    const bo_tree_cloud *cloud = &s->touch->clouds[part->component];
    if (solid >= 0) {
        const bo_obstacle *shape = &s->touch->def.solids[solid].shape;
        *centre = bo_add(frame->x, bo_mat_vec(frame->R, shape->pose.t));
        return shape->kind == BO_OBSTACLE_BOX ? bo_norm(shape->halves) : shape->radius + shape->half;
    }
    double radius = cloud->radius;
    for (int32_t l = 0; l < part->r; l++)
        radius += fabs(s->work->next_q[part->offset + l]) * cloud->reach[l];
    *centre = bo_add(frame->x, bo_mat_vec(frame->R, bo_scale(part->scale, cloud->centre)));
    return part->scale * radius;
}

enum { MOST_NEAR = 256 }; /* obstacles, and solids, that are looked at together */

static bool are_equal_spheres(const bo_tree_search *s, int32_t a, int32_t b) {
    const bo_tree_solid *solids = s->touch->def.solids;
    return a >= 0 && solids[a].shape.kind == BO_OBSTACLE_SPHERE && solids[b].shape.kind == BO_OBSTACLE_SPHERE;
}

static bool does_move(const bo_tree_touch *touch, int32_t obstacle) {
    return memcmp(&touch->before[obstacle], &touch->now[obstacle].pose, sizeof *touch->before) != 0;
}

/* All contacts of one part; of two spheres the first one has it. */
static bough_status look_at_part(bo_tree_search *s, int32_t i, near_things *near, int32_t *obstacles, int32_t *solids) {
    const bo_tree_touch *touch = s->touch;
    const bo_tree_part *part = &s->model->parts[i];
    const int32_t own = touch->solid_of[part->user];
    if ((own < 0 && s->model->components[part->component].c->contact.count == 0) || (part->asleep && !near->stirs))
        return BOUGH_OK;
    const motion frame = motion_of(s->work, part);
    bo_vec3 centre;
    const double radius = sphere_of(s, i, &frame, own, &centre);
    for (int32_t first = 0, solid = 0; first < touch->def.obstacle_count || solid < touch->def.solid_count;) {
        near->obstacle_count = near->solid_count = 0;
        for (; first < touch->def.obstacle_count && near->obstacle_count < MOST_NEAR; first++)
            if ((!part->asleep || does_move(touch, first)) && bo_obstacle_distance(&touch->now[first], centre) < radius)
                obstacles[near->obstacle_count++] = first;
        for (; solid < touch->def.solid_count && near->solid_count < MOST_NEAR; solid++)
            if (solid != own && s->model->inside[touch->def.solids[solid].part] >= 0 &&
                !(part->asleep && s->model->parts[s->model->inside[touch->def.solids[solid].part]].asleep) &&
                !(solid < own && are_equal_spheres(s, own, solid)) &&
                bo_obstacle_distance(&near->shapes[solid], centre) < radius)
                solids[near->solid_count++] = solid;
        if (near->obstacle_count == 0 && near->solid_count == 0)
            continue;
        BO_TRY(own >= 0 ? meet_by_shape(s, i, own, &frame, near) : meet_by_samples(s, i, &frame, near));
    }
    return BOUGH_OK;
}

static void place_obstacles(bo_tree_search *s) {
    bo_tree_touch *touch = s->touch;
    for (int32_t o = 0; o < touch->def.obstacle_count; o++) {
        const bo_touch_obstacle *from = &touch->def.obstacles[o];
        touch->now[o] = from->shape;
        touch->before[o] = from->shape.pose;
        if (from->pose) {
            touch->now[o].pose = from->pose(from->pose_data, s->state->time + s->dt);
            touch->before[o] = from->pose(from->pose_data, s->state->time);
        }
    }
}

bough_status bo_tree_touch_find(bo_tree_search *s) {
    enum { FEW = 64 };
    bo_tree_touch *touch = s->touch;
    const int32_t count = touch->def.solid_count;
    int32_t obstacles[MOST_NEAR], solids[MOST_NEAR];
    bo_obstacle few_shapes[FEW], *shapes = few_shapes;
    motion few_motions[FEW], *motions = few_motions;
    bough_status status = BOUGH_OK;
    touch->point_count = touch->row_count = 0;
    place_obstacles(s);
    if (count > FEW) {
        shapes = BO_NEW_ARRAY(s->ctx, bo_obstacle, count);
        motions = BO_NEW_ARRAY(s->ctx, motion, count);
        status = shapes && motions ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    }
    for (int32_t k = 0; k < count && status == BOUGH_OK; k++) {
        const int32_t i = s->model->inside[touch->def.solids[k].part];
        if (i < 0)
            continue;
        motions[k] = motion_of(s->work, &s->model->parts[i]);
        shapes[k] = placed(&touch->def.solids[k], &motions[k]);
    }
    near_things near = {.obstacles = obstacles, .solids = solids, .shapes = shapes, .motions = motions};
    for (int32_t k = 0; k < touch->def.obstacle_count; k++)
        near.stirs = near.stirs || does_move(touch, k);
    for (int32_t k = 0; k < count; k++)
        near.stirs = near.stirs || (s->model->inside[touch->def.solids[k].part] >= 0 &&
                                    !s->model->parts[s->model->inside[touch->def.solids[k].part]].asleep);
    for (int32_t i = 0; i < s->model->part_count; i++)
        touch->join[i] = i;
    for (int32_t i = 0; i < s->model->part_count && status == BOUGH_OK; i++)
        status = look_at_part(s, i, &near, obstacles, solids);
    if (count > FEW) {
        bo_free(s->ctx, shapes);
        bo_free(s->ctx, motions);
    }
    return status;
}
