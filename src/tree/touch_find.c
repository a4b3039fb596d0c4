/* Contact in steps of trees: the points that touch. docs/theory/tree.md, "Contact". */
#include "tree/touch.h"

#include "tree/rest.h"

#include <math.h>
#include <string.h>

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

static bo_vec3 velocity_at(const motion *frame, bo_vec3 x) {
    return bo_add(frame->v, bo_cross(frame->w, bo_sub(x, frame->x)));
}

static bo_se3 start_of(const bough_tree_state *state, const bo_tree_part *part) {
    const bough_pose *pose = &state->frames[part->user].pose;
    bo_se3 at = {.t = bo_load3(pose->position)};
    memcpy(at.R.m, pose->rotation, sizeof at.R.m);
    return at;
}

/* ---- points ---- */

/* A point of a part: as it moves with the frame and, by the weights of samples, with the bends. */
typedef struct {
    int32_t part;         /* inside */
    const motion *frame;  /* NULL: of an obstacle */
    bo_vec3 v, start;     /* velocity without contact; where it was at the start of the step: in the world */
    int32_t sample_count; /* 0: it does not bend */
    const int32_t *samples;
    const double *weights;
} side;

/* Two unit vectors across n. */
static void across(bo_vec3 n, bo_vec3 tangents[2]) {
    const bo_vec3 other = fabs(n.x) < 0.6 ? bo_v3(1, 0, 0) : bo_v3(0, 1, 0);
    tangents[0] = bo_normalize(bo_cross(n, other));
    tangents[1] = bo_cross(n, tangents[0]);
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

static int32_t coordinates_of(const bough_tree_model *model, const side *of) {
    const bo_tree_part *part = &model->parts[of->part];
    return part->locked || of->sample_count == 0 ? 0 : part->r;
}

/* Velocities of the point x of a side along the axes, by the velocity of its frame and by those of its coordinates. */
static void fill_rows(const bough_tree_model *model, const side *of, bo_vec3 x, const bo_vec3 axes[3], double sign,
                      double frame[3][6], double *rows) {
    const bo_tree_part *part = &model->parts[of->part];
    const bo_mat3 R = of->frame->R;
    const bo_vec3 own = bo_mat_tvec(R, bo_sub(x, of->frame->x));
    const size_t r = (size_t)coordinates_of(model, of);
    const double *U = model->components[part->component].c->contact.U;
    for (size_t k = 0; k < 3; k++) {
        const bo_vec3 d = bo_scale(sign, bo_mat_tvec(R, axes[k]));
        bo_store3(frame[k], d);
        bo_store3(frame[k] + 3, bo_cross(own, d));
        for (size_t l = 0; l < r; l++)
            rows[k * r + l] = 0;
        for (int32_t j = 0; j < of->sample_count && r > 0; j++) {
            const double *u = U + 3 * r * (size_t)of->samples[j], w = part->scale * of->weights[j];
            for (size_t l = 0; l < r; l++)
                rows[k * r + l] += w * (d.x * u[l] + d.y * u[r + l] + d.z * u[2 * r + l]);
        }
    }
}

/* Adds a contact at x, in the world. The other's part is that of a solid or of any other part, or none: an obstacle. */
static bough_status add_point(bo_tree_search *s, bo_vec3 x, bo_vec3 n, double gap, double friction, const side *one,
                              const side *other, int32_t obstacle, int32_t feature) {
    bo_tree_touch *touch = s->touch;
    const bo_tree_part *part = &s->model->parts[one->part];
    const bo_tree_part *second = other->frame ? &s->model->parts[other->part] : NULL;
    if (part->asleep || (second && second->asleep)) {
        bo_tree_call(s->model, s->work, part->asleep ? one->part : other->part);
        return BOUGH_OK;
    }
    const size_t r = (size_t)coordinates_of(s->model, one);
    const size_t other_r = second ? (size_t)coordinates_of(s->model, other) : 0;
    if (touch->point_count == (size_t)touch->def.most_contacts)
        return bo_fail(
            s->ctx, BOUGH_ERROR_UNSUPPORTED,
            "more than %d points touch in one step; allow more, or cook the parts with fewer contact samples",
            touch->def.most_contacts);
    /* rows are never NULL, also of rigid parts */
    if (!BO_RESERVE(s->ctx, touch->points, touch->point_capacity, touch->point_count + 1) ||
        !BO_RESERVE(s->ctx, touch->rows, touch->row_capacity, touch->row_count + 3 * (r + other_r) + 1))
        return BOUGH_ERROR_MEMORY;
    bo_tree_point *point = &touch->points[touch->point_count++];
    *point = (bo_tree_point){.part = one->part,
                             .other = second ? other->part : -1,
                             .obstacle = obstacle,
                             .feature = feature,
                             .r = (int32_t)r,
                             .other_r = (int32_t)other_r,
                             .rows = touch->row_count,
                             .other_rows = touch->row_count + 3 * r,
                             .x = x,
                             .start = one->start,
                             .other_start = other->start,
                             .gap = gap,
                             .slack = fmax(gap, 0) / s->dt,
                             .friction = friction};
    if (second)
        join(touch, part->tree, second->tree);
    point->axes[0] = n;
    across(n, point->axes + 1);
    fill_rows(s->model, one, x, point->axes, 1, point->frame, touch->rows + point->rows);
    if (second)
        fill_rows(s->model, other, x, point->axes, -1, point->other_frame, touch->rows + point->other_rows);
    for (int k = 0; k < 3; k++)
        point->velocity[k] = bo_dot(point->axes[k], bo_sub(one->v, other->v));
    touch->row_count += 3 * (r + other_r);
    return BOUGH_OK;
}

/* ---- what touches ---- */

/* One sample of a part, or a point of a solid with a radius around it. */
typedef struct {
    int32_t part;     /* inside */
    int32_t number;   /* of the sample; -1: it is a solid's */
    int32_t feature;  /* likewise, or which point of the solid */
    double radius;    /* around it */
    bo_vec3 x, v;     /* in the world, without contact */
    bo_vec3 own, was; /* in the part's axes, bent as it is; and as it was at the start of the step */
    const motion *frame;
} sample;

/* A point that comes nearer than this may touch in the step, or in the next: those that lie on something are held all
 * the time, and those that come are slowed down to where they just meet it. */
static double reach_of(const bo_tree_search *s) {
    return s->still ? s->reach : s->dt * s->dt * bo_norm(bo_load3(s->state->gravity)) + 1e-9;
}

static bool comes_near(const bo_tree_search *s, double gap, double rate) {
    return gap + s->dt * fmin(rate, 0) < reach_of(s);
}

/* The side of a sample at the place where it touches, a radius away along -n. */
static side side_of(const bo_tree_search *s, const sample *at, bo_vec3 n, bo_vec3 *x) {
    static const double one = 1;
    *x = bo_mul_add(at->x, -at->radius, n);
    const bo_vec3 arm = bo_scale(-at->radius, bo_mat_tvec(at->frame->R, n));
    return (side){.part = at->part,
                  .frame = at->frame,
                  .v = bo_add(at->v, bo_cross(at->frame->w, bo_scale(-at->radius, n))),
                  .start = bo_se3_apply(start_of(s->state, &s->model->parts[at->part]), bo_add(at->was, arm)),
                  .sample_count = at->number >= 0,
                  .samples = &at->number,
                  .weights = &one};
}

static bough_status meet_obstacle(bo_tree_search *s, const sample *at, int32_t o) {
    const bo_obstacle *obstacle = &s->touch->now[o];
    const bo_se3 *before = &s->touch->before[o], *now = &obstacle->pose;
    const bo_vec3 was = bo_se3_apply(*before, bo_mat_tvec(now->R, bo_sub(at->x, now->t)));
    const bo_vec3 v = bo_scale(1 / s->dt, bo_sub(at->x, was));
    if (!comes_near(s, bo_obstacle_distance(obstacle, at->x) - at->radius, -bo_norm(bo_sub(at->v, v))))
        return BOUGH_OK;
    bo_gap gap;
    bo_obstacle_gap(obstacle, at->x, &gap);
    bo_vec3 x, n = bo_normalize(gap.n);
    const side one = side_of(s, at, n, &x), other = {.part = -1, .v = v, .start = was};
    if (!comes_near(s, gap.d - at->radius, bo_dot(n, bo_sub(one.v, v))))
        return BOUGH_OK;
    const double mu = sqrt(s->touch->def.friction * s->touch->def.obstacles[o].friction);
    return add_point(s, x, n, gap.d - at->radius, mu, &one, &other, o, at->feature);
}

/* The shape of a solid where it is now. */
static bo_obstacle placed(const bo_tree_solid *solid, const motion *at) {
    bo_obstacle shape = solid->shape;
    shape.pose = bo_se3_mul((bo_se3){at->R, at->x}, solid->shape.pose);
    return shape;
}

static bough_status meet_solid(bo_tree_search *s, const sample *at, int32_t k, const bo_obstacle *shape,
                               const motion *solid) {
    const bo_vec3 v = velocity_at(solid, at->x);
    if (!comes_near(s, bo_obstacle_distance(shape, at->x) - at->radius, -bo_norm(bo_sub(at->v, v))))
        return BOUGH_OK;
    const int32_t other = s->model->inside[s->touch->def.solids[k].part];
    bo_gap gap;
    bo_obstacle_gap(shape, at->x, &gap);
    bo_vec3 x, n = bo_normalize(gap.n);
    const side one = side_of(s, at, n, &x);
    const side two = {
        .part = other,
        .frame = solid,
        .v = velocity_at(solid, x),
        .start = bo_se3_apply(start_of(s->state, &s->model->parts[other]), bo_mat_tvec(solid->R, bo_sub(x, solid->x)))};
    if (!comes_near(s, gap.d - at->radius, bo_dot(n, bo_sub(one.v, two.v))))
        return BOUGH_OK;
    return add_point(s, x, n, gap.d - at->radius, s->touch->def.friction, &one, &two, -1, at->feature);
}

/* ---- parts by themselves ---- */

/* A part with its motion; its samples as the part is bent now, as it was at the start of the step, and their rates: in
 * the axes and the size of its component. Found once a step, for parts that are near something. */
struct bo_tree_figure {
    motion frame;
    bo_vec3 centre;
    double radius, speed; /* of a sphere around all samples; a bound on their speed */
    double rate;          /* m/s: a bound on the speed by bending alone */
    double bend;          /* m, of the component: by which no sample is further from its place at rest */
    size_t samples;       /* where 9 numbers a sample begin; SIZE_MAX: they are not known yet */
};

/* The sphere around all that a part touches with. */
static void look(const bo_tree_search *s, int32_t i, int32_t solid, bo_tree_figure *to) {
    const bo_tree_part *part = &s->model->parts[i];
    const bo_tree_cloud *cloud = &s->touch->clouds[part->component];
    to->frame = motion_of(s->work, part);
    to->samples = SIZE_MAX, to->bend = 0;
    double rate = 0;
    if (solid >= 0) {
        const bo_obstacle *shape = &s->touch->def.solids[solid].shape;
        to->centre = bo_add(to->frame.x, bo_mat_vec(to->frame.R, shape->pose.t));
        to->radius = shape->kind == BO_OBSTACLE_BOX ? bo_norm(shape->halves) : shape->radius + shape->half;
    } else {
        for (int32_t l = 0; l < part->r; l++) {
            to->bend += fabs(s->work->next_q[part->offset + l]) * cloud->reach[l];
            rate += fabs(s->work->next_v[part->offset + l]) * cloud->reach[l];
        }
        to->centre = bo_add(to->frame.x, bo_mat_vec(to->frame.R, bo_scale(part->scale, cloud->centre)));
        to->radius = part->scale * (cloud->radius + to->bend);
    }
    to->rate = part->scale * rate;
    to->speed = bo_norm(velocity_at(&to->frame, to->centre)) + to->radius * bo_norm(to->frame.w) + to->rate;
}

/* Places of all samples of a part: bent, at the start of the step, and their rates. */
static const double *bend(bo_tree_search *s, int32_t i) {
    bo_tree_touch *touch = s->touch;
    bo_tree_figure *shape = &touch->shapes[i];
    const bo_tree_part *part = &s->model->parts[i];
    const bough_sample_points *points = &s->model->components[part->component].c->contact;
    const size_t r = (size_t)part->r, count = (size_t)points->count;
    if (shape->samples != SIZE_MAX)
        return touch->bent + shape->samples;
    if (!BO_RESERVE(s->ctx, touch->bent, touch->bent_capacity, touch->bent_count + 9 * count))
        return NULL;
    shape->samples = touch->bent_count, touch->bent_count += 9 * count;
    const double *q[3] = {s->work->next_q + part->offset, s->state->q + part->offset, s->work->next_v + part->offset};
    for (size_t set = 0; set < 3; set++) {
        double *to = touch->bent + shape->samples + 3 * set * count;
        for (size_t k = 0; k < 3 * count; k++) {
            double sum = set < 2 ? points->position[k] : 0;
            for (size_t l = 0; l < r; l++)
                sum += points->U[k * r + l] * q[set][l];
            to[k] = sum;
        }
    }
    return touch->bent + shape->samples;
}

static sample sample_of(const bo_tree_search *s, int32_t i, int32_t k, const double *bent) {
    const bo_tree_part *part = &s->model->parts[i];
    const motion *frame = &s->touch->shapes[i].frame;
    const size_t count = (size_t)s->model->components[part->component].c->contact.count;
    const double *at = bent + 3 * (size_t)k, *was = at + 3 * count, *rate = was + 3 * count;
    sample x = {.part = i, .number = k, .feature = k, .frame = frame};
    x.own = bo_scale(part->scale, bo_load3(at)), x.was = bo_scale(part->scale, bo_load3(was));
    x.x = bo_add(frame->x, bo_mat_vec(frame->R, x.own));
    x.v = bo_add(velocity_at(frame, x.x), bo_mat_vec(frame->R, bo_scale(part->scale, bo_load3(rate))));
    return x;
}

/* ---- obstacles and solids ---- */

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

enum { MOST_NEAR = 256 }; /* obstacles, and solids, that are looked at together */

/* The things that one part may touch. */
typedef struct {
    int32_t obstacle_count, solid_count;
    int32_t obstacles[MOST_NEAR], solids[MOST_NEAR];
    bool stirs; /* something moves that could touch a tree that sleeps */
} near_things;

static bough_status meet(bo_tree_search *s, const sample *at, const near_things *near) {
    for (int32_t k = 0; k < near->obstacle_count; k++)
        BO_TRY(meet_obstacle(s, at, near->obstacles[k]));
    for (int32_t k = 0; k < near->solid_count; k++) {
        const int32_t solid = near->solids[k], part = s->model->inside[s->touch->def.solids[solid].part];
        BO_TRY(meet_solid(s, at, solid, &s->touch->placed[solid], &s->touch->shapes[part].frame));
    }
    return BOUGH_OK;
}

static bough_status meet_by_shape(bo_tree_search *s, int32_t i, int32_t solid, const near_things *near) {
    bo_vec3 points[8];
    const motion *frame = &s->touch->shapes[i].frame;
    sample at = {.part = i, .number = -1, .frame = frame};
    const int32_t count = points_of(&s->touch->def.solids[solid].shape, points, &at.radius);
    for (int32_t k = 0; k < count; k++) {
        at.own = at.was = points[k], at.feature = k;
        at.x = bo_add(frame->x, bo_mat_vec(frame->R, at.own));
        at.v = velocity_at(frame, at.x);
        BO_TRY(meet(s, &at, near));
    }
    return BOUGH_OK;
}

static bough_status meet_by_samples(bo_tree_search *s, int32_t i, const near_things *near) {
    const int32_t count = s->model->components[s->model->parts[i].component].c->contact.count;
    const double *bent = bend(s, i);
    if (!bent)
        return BOUGH_ERROR_MEMORY;
    for (int32_t k = 0; k < count; k++) {
        const sample at = sample_of(s, i, k, bent);
        BO_TRY(meet(s, &at, near));
    }
    return BOUGH_OK;
}

static bool are_equal_spheres(const bo_tree_search *s, int32_t a, int32_t b) {
    const bo_tree_solid *solids = s->touch->def.solids;
    return a >= 0 && solids[a].shape.kind == BO_OBSTACLE_SPHERE && solids[b].shape.kind == BO_OBSTACLE_SPHERE;
}

static bool does_move(const bo_tree_touch *touch, int32_t obstacle) {
    return memcmp(&touch->before[obstacle], &touch->now[obstacle].pose, sizeof *touch->before) != 0;
}

/* A bound on the speed of an obstacle within a sphere. */
static double obstacle_speed(const bo_tree_search *s, int32_t o, bo_vec3 centre, double radius) {
    const bo_se3 *before = &s->touch->before[o], *now = &s->touch->now[o].pose;
    if (!does_move(s->touch, o))
        return 0;
    const bo_vec3 was = bo_se3_apply(*before, bo_mat_tvec(now->R, bo_sub(centre, now->t)));
    double turn = 0;
    for (int k = 0; k < 9; k++)
        turn = fmax(turn, fabs(now->R.m[k] - before->R.m[k]));
    return (bo_norm(bo_sub(centre, was)) + 3 * turn * radius) / s->dt;
}

static bool is_near_obstacle(const bo_tree_search *s, const bo_tree_figure *shape, int32_t o) {
    const double speed = shape->speed + obstacle_speed(s, o, shape->centre, shape->radius);
    return comes_near(s, bo_obstacle_distance(&s->touch->now[o], shape->centre) - shape->radius, -speed);
}

/* One of the two hangs on the other, or both hang on a third: they meet where they hang. */
static bool are_related(const bough_tree_model *model, int32_t a, int32_t b) {
    const int32_t up = model->parts[a].parent, other = model->parts[b].parent;
    const int32_t top = up >= 0 ? model->parts[up].parent : -1, above = other >= 0 ? model->parts[other].parent : -1;
    return up == b || other == a || (up >= 0 && up == other) || (top >= 0 && top == b) || (above >= 0 && above == a);
}

/* The part of a solid that i may touch; of two spheres the first one has the contact. */
static bool is_near_solid(const bo_tree_search *s, int32_t i, int32_t own, int32_t solid) {
    const int32_t part = s->model->inside[s->touch->def.solids[solid].part];
    const bo_tree_figure *shape = &s->touch->shapes[i];
    if (solid == own || part < 0 || part == i || are_related(s->model, part, i) ||
        (s->model->parts[i].asleep && s->model->parts[part].asleep) ||
        (solid < own && are_equal_spheres(s, own, solid)))
        return false;
    return comes_near(s, bo_obstacle_distance(&s->touch->placed[solid], shape->centre) - shape->radius,
                      -(shape->speed + s->touch->shapes[part].speed));
}

/* All contacts of one part with obstacles and solids. */
static bough_status look_at_part(bo_tree_search *s, int32_t i, near_things *near) {
    const bo_tree_touch *touch = s->touch;
    const bo_tree_part *part = &s->model->parts[i];
    const int32_t own = touch->solid_of[part->user];
    if (own < 0 && s->model->components[part->component].c->contact.count == 0)
        return BOUGH_OK;
    for (int32_t first = 0, solid = 0; first < touch->def.obstacle_count || solid < touch->def.solid_count;) {
        near->obstacle_count = near->solid_count = 0;
        for (; first < touch->def.obstacle_count && near->obstacle_count < MOST_NEAR; first++)
            if ((!part->asleep || does_move(touch, first)) && is_near_obstacle(s, &touch->shapes[i], first))
                near->obstacles[near->obstacle_count++] = first;
        for (; solid < touch->def.solid_count && near->solid_count < MOST_NEAR; solid++)
            if (is_near_solid(s, i, own, solid))
                near->solids[near->solid_count++] = solid;
        if (near->obstacle_count > 0 || near->solid_count > 0)
            BO_TRY(own >= 0 ? meet_by_shape(s, i, own, near) : meet_by_samples(s, i, near));
    }
    return BOUGH_OK;
}

/* ---- part against part ---- */

static bool may_meet(const void *user, int32_t a, int32_t b) {
    const bo_tree_search *s = user;
    const int32_t i = s->model->inside[s->touch->mixing[a]], k = s->model->inside[s->touch->mixing[b]];
    return i >= 0 && k >= 0 && !(s->model->parts[i].asleep && s->model->parts[k].asleep) &&
           !are_related(s->model, i, k);
}

/* The place of b that the field has found, moving as its samples do. */
static side place_in(const bo_tree_search *s, int32_t b, const bo_field_touch *found, bo_vec3 x, const double *bent) {
    const bo_tree_part *part = &s->model->parts[b];
    const motion *frame = &s->touch->shapes[b].frame;
    const size_t count = (size_t)s->model->components[part->component].c->contact.count;
    const bo_vec3 own = bo_mat_tvec(frame->R, bo_sub(x, frame->x));
    bo_vec3 moved = bo_v3(0, 0, 0), rate = bo_v3(0, 0, 0);
    for (int32_t j = 0; j < found->sample_count; j++) {
        const double *now = bent + 3 * (size_t)found->samples[j], *was = now + 3 * count, *v = was + 3 * count;
        moved = bo_mul_add(moved, found->weights[j], bo_sub(bo_load3(now), bo_load3(was)));
        rate = bo_mul_add(rate, found->weights[j], bo_load3(v));
    }
    return (side){.part = b,
                  .frame = frame,
                  .v = bo_add(velocity_at(frame, x), bo_mat_vec(frame->R, bo_scale(part->scale, rate))),
                  .start = bo_se3_apply(start_of(s->state, part), bo_mul_add(own, -part->scale, moved)),
                  .sample_count = found->sample_count,
                  .samples = found->samples,
                  .weights = found->weights};
}

/* Samples of a in the field of b. */
static bough_status meet_part(bo_tree_search *s, int32_t a, int32_t b) {
    const bo_tree_figure *one = &s->touch->shapes[a], *two = &s->touch->shapes[b];
    const bo_tree_part *other = &s->model->parts[b];
    const bo_field *field = s->touch->fields[other->component];
    const double within = reach_of(s) + s->dt * (one->speed + two->speed);
    const int32_t count = s->model->components[s->model->parts[a].component].c->contact.count;
    if (!bend(s, a) || !bend(s, b))
        return BOUGH_ERROR_MEMORY;
    const double *bent = s->touch->bent + one->samples, *there = s->touch->bent + two->samples;
    for (int32_t k = 0; k < count; k++) {
        const sample at = sample_of(s, a, k, bent);
        bo_field_touch found;
        if (bo_norm(bo_sub(at.x, two->centre)) > two->radius + within)
            continue;
        const double near = reach_of(s) + s->dt * (bo_norm(bo_sub(at.v, velocity_at(&two->frame, at.x))) + two->rate);
        const bo_vec3 y = bo_scale(1 / other->scale, bo_mat_tvec(two->frame.R, bo_sub(at.x, two->frame.x)));
        if (!bo_field_gap(field, there, two->bend, y, near / other->scale, &found))
            continue;
        const bo_vec3 n = bo_mat_vec(two->frame.R, found.normal);
        bo_vec3 x;
        const side first = side_of(s, &at, n, &x), second = place_in(s, b, &found, x, there);
        const double gap = other->scale * found.gap;
        if (comes_near(s, gap, bo_dot(n, bo_sub(first.v, second.v))))
            BO_TRY(add_point(s, x, n, gap, s->touch->def.friction, &first, &second, -1, k));
    }
    return BOUGH_OK;
}

static bough_status look_between(bo_tree_search *s) {
    bo_tree_touch *touch = s->touch;
    if (touch->mixing_count < 2)
        return BOUGH_OK;
    for (int32_t k = 0; k < touch->mixing_count; k++) {
        const int32_t i = s->model->inside[touch->mixing[k]];
        const bo_tree_figure *shape = i >= 0 ? &touch->shapes[i] : NULL;
        const double more = shape ? shape->radius + reach_of(s) + s->dt * shape->speed : 0;
        const bo_vec3 centre = shape ? shape->centre : bo_v3(0, 0, 0), half = bo_v3(more, more, more);
        touch->boxes[k] = (bo_box){bo_sub(centre, half), bo_add(centre, half)};
    }
    BO_TRY(bo_sweep_find(s->ctx, &touch->sweep, touch->boxes, may_meet, s));
    for (size_t p = 0; p < touch->sweep.pair_count; p++) {
        const int32_t a = s->model->inside[touch->mixing[touch->sweep.pairs[p] >> 32]];
        const int32_t b = s->model->inside[touch->mixing[touch->sweep.pairs[p] & UINT32_MAX]];
        const bo_tree_figure *one = &touch->shapes[a], *two = &touch->shapes[b];
        const double within = reach_of(s) + s->dt * (one->speed + two->speed);
        if (bo_norm(bo_sub(one->centre, two->centre)) > one->radius + two->radius + within)
            continue;
        BO_TRY(meet_part(s, a, b));
        BO_TRY(meet_part(s, b, a));
    }
    return BOUGH_OK;
}

/* ---- all of it ---- */

size_t bo_tree_figure_size(void) {
    return sizeof(bo_tree_figure);
}

static void place_obstacles(bo_tree_search *s) {
    bo_tree_touch *touch = s->touch;
    for (int32_t o = 0; o < touch->def.obstacle_count; o++) {
        const bo_touch_obstacle *from = &touch->def.obstacles[o];
        touch->now[o] = from->shape;
        touch->before[o] = from->shape.pose;
        if (from->pose) {
            touch->now[o].pose = from->pose(from->pose_data, s->state->time + (s->still ? 0 : s->dt));
            touch->before[o] = from->pose(from->pose_data, s->state->time);
        }
    }
}

/* Something moves that could touch a tree that sleeps. */
static bool place_things(bo_tree_search *s) {
    bo_tree_touch *touch = s->touch;
    bool stirs = touch->mixing_count > 1;
    place_obstacles(s);
    for (int32_t k = 0; k < touch->def.obstacle_count; k++)
        stirs = stirs || does_move(touch, k);
    for (int32_t k = 0; k < touch->def.solid_count; k++) {
        const int32_t i = s->model->inside[touch->def.solids[k].part];
        stirs = stirs || (i >= 0 && !s->model->parts[i].asleep);
    }
    for (int32_t i = 0; i < s->model->part_count; i++) {
        touch->join[i] = i;
        if (!s->model->parts[i].asleep || stirs)
            look(s, i, touch->solid_of[s->model->parts[i].user], &touch->shapes[i]);
    }
    for (int32_t k = 0; k < touch->def.solid_count; k++) {
        const int32_t i = s->model->inside[touch->def.solids[k].part];
        if (i >= 0 && (!s->model->parts[i].asleep || stirs))
            touch->placed[k] = placed(&touch->def.solids[k], &touch->shapes[i].frame);
    }
    return stirs;
}

bough_status bo_tree_touch_find(bo_tree_search *s) {
    bo_tree_touch *touch = s->touch;
    near_things near;
    touch->point_count = touch->row_count = touch->bent_count = 0;
    near.stirs = place_things(s);
    for (int32_t i = 0; i < s->model->part_count; i++)
        if (!s->model->parts[i].asleep || near.stirs)
            BO_TRY(look_at_part(s, i, &near));
    return look_between(s);
}
