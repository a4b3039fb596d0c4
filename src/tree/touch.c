/* Contact in steps of trees: what touches, and where that leads. docs/theory/tree.md, "Contact". */
#include "tree/touch.h"

#include "base/rotation.h"
#include "tree/couple.h"

#include <math.h>
#include <string.h>

#define PUSH_SPEED 0.5 /* m/s: faster than it came, a point is not pushed out of where it is */
#define NOTHING 1e-9   /* m: what is inside by less does not touch: something may be fixed right there */
#define MOST_BEND 0.2  /* by which contacts may bend a part in a step that is taken gently: about an angle */

bo_tree_touch_def bo_default_tree_touch_def(void) {
    return (bo_tree_touch_def){.friction = 0.5, .slip = 1e-3, .most_contacts = 10000};
}

/* ---- making ---- */

static bough_status check_solid(bough_context *ctx, const bough_tree_model *model, const bo_tree_solid *solid) {
    const bough_tree_model_def *def = &model->def;
    if (solid->part < 0 || solid->part >= def->part_count)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "there is no part %d that others could touch", solid->part);
    const bough_part_def *part = &def->parts[solid->part];
    const char *name = part->name ? part->name : "";
    const bough_component *c = def->components[part->component];
    if (c->r > 0 || part->parent >= 0 || !(part->free || c->support == BOUGH_SUPPORT_FREE))
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "the part \"%s\" has a shape that others touch; for that it must be rigid and fly", name);
    for (int32_t i = 0; i < def->part_count; i++)
        if (def->parts[i].parent == solid->part)
            return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                           "the part \"%s\" has a shape that others touch; for that nothing may hang on it", name);
    if (solid->shape.kind != BO_OBSTACLE_SPHERE && solid->shape.kind != BO_OBSTACLE_CAPSULE &&
        solid->shape.kind != BO_OBSTACLE_BOX)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "the part \"%s\" has a shape that others touch; it must be a sphere, a capsule or a box", name);
    return BOUGH_OK;
}

static bough_status check(bough_context *ctx, const bough_tree_model *model, const bo_tree_touch_def *def) {
    if (!(def->friction >= 0 && isfinite(def->friction)) || !(def->slip > 0 && isfinite(def->slip)) ||
        def->most_contacts < 1)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "friction must not be negative, and the slip speed and the number of contacts must be positive");
    for (int32_t k = 0; k < def->solid_count; k++)
        BO_TRY(check_solid(ctx, model, &def->solids[k]));
    return BOUGH_OK;
}

/* The sphere about the mean of the samples. */
static void enclose(const bough_component *c, bo_tree_cloud *cloud) {
    const bough_sample_points *s = &c->contact;
    cloud->centre = bo_v3(0, 0, 0);
    for (int32_t i = 0; i < s->count; i++)
        cloud->centre = bo_mul_add(cloud->centre, 1.0 / s->count, bo_load3(s->position + 3 * (size_t)i));
    for (int32_t i = 0; i < s->count; i++) {
        const double d = bo_norm(bo_sub(bo_load3(s->position + 3 * (size_t)i), cloud->centre));
        cloud->radius = fmax(cloud->radius, d);
        for (int32_t l = 0; l < c->r; l++) {
            double square = 0;
            for (size_t d3 = 0; d3 < 3; d3++) {
                const double u = s->U[(3 * (size_t)i + d3) * (size_t)c->r + (size_t)l];
                square += u * u;
            }
            cloud->reach[l] = fmax(cloud->reach[l], sqrt(square));
        }
    }
}

static bough_status make_clouds(bough_context *ctx, const bough_tree_model *model, bo_tree_touch *touch) {
    const bough_tree_model_def *def = &model->def;
    size_t total = 0;
    for (int32_t c = 0; c < def->component_count; c++)
        total += (size_t)def->components[c]->r;
    touch->clouds = BO_NEW_ZEROS(ctx, bo_tree_cloud, def->component_count);
    touch->reaches = BO_NEW_ZEROS(ctx, double, total);
    if (!touch->clouds || !touch->reaches)
        return BOUGH_ERROR_MEMORY;
    double *next = touch->reaches;
    for (int32_t c = 0; c < def->component_count; c++) {
        touch->clouds[c].reach = next;
        next += def->components[c]->r;
        enclose(def->components[c], &touch->clouds[c]);
    }
    return BOUGH_OK;
}

static bough_status make(bough_context *ctx, const bough_tree_model *model, const bo_tree_touch_def *def,
                         bo_tree_touch *touch) {
    const size_t parts = (size_t)model->def.part_count, n = (size_t)model->size;
    bo_touch_obstacle *obstacles = BO_NEW_ARRAY(ctx, bo_touch_obstacle, def->obstacle_count);
    bo_tree_solid *solids = BO_NEW_ARRAY(ctx, bo_tree_solid, def->solid_count);
    touch->def = *def, touch->def.obstacles = obstacles, touch->def.solids = solids;
    touch->now = BO_NEW_ARRAY(ctx, bo_obstacle, def->obstacle_count);
    touch->before = BO_NEW_ARRAY(ctx, bo_se3, def->obstacle_count);
    touch->solid_of = BO_NEW_ARRAY(ctx, int32_t, parts);
    touch->node_of = BO_NEW_ARRAY(ctx, int32_t, parts);
    touch->solids = BO_NEW_ARRAY(ctx, int32_t, def->solid_count);
    touch->place = BO_NEW_ARRAY(ctx, int32_t, def->solid_count);
    touch->islands = BO_NEW_ZEROS(ctx, bo_tree_island, parts);
    touch->p = BO_NEW_ZEROS(ctx, double, 12 * parts + 5 * n);
    if (!obstacles || !solids || !touch->now || !touch->before || !touch->solid_of || !touch->node_of ||
        !touch->solids || !touch->place || !touch->islands || !touch->p)
        return BOUGH_ERROR_MEMORY;
    touch->p_q = touch->p + 6 * parts, touch->answers = touch->p_q + n, touch->pushed = touch->answers + n;
    touch->rates = touch->pushed + n, touch->next = touch->rates + n;
    for (int32_t k = 0; k < def->obstacle_count; k++)
        obstacles[k] = def->obstacles[k];
    for (size_t i = 0; i < parts; i++)
        touch->solid_of[i] = -1;
    for (int32_t k = 0; k < def->solid_count; k++)
        solids[k] = def->solids[k], touch->solid_of[solids[k].part] = k;
    for (size_t i = 0; i < parts; i++) {
        const bough_part_def *part = &model->def.parts[i];
        touch->mass += part->scale * part->scale * part->scale * model->def.components[part->component]->mass;
    }
    return make_clouds(ctx, model, touch);
}

void bo_tree_touch_free(bough_context *ctx, bo_tree_touch *touch) {
    if (!touch)
        return;
    void *const blocks[] = {(void *)(uintptr_t)touch->def.obstacles,
                            (void *)(uintptr_t)touch->def.solids,
                            touch->clouds,
                            touch->reaches,
                            touch->solid_of,
                            touch->now,
                            touch->before,
                            touch->points,
                            touch->rows,
                            touch->node_of,
                            touch->nodes,
                            touch->numbers,
                            touch->solids,
                            touch->place,
                            touch->islands,
                            touch->p,
                            touch->contacts,
                            touch->push,
                            touch};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        bo_free(ctx, blocks[i]);
}

bough_status bo_tree_state_touch(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                 const bo_tree_touch_def *def) {
    bo_tree_work *w = bo_tree_work_of(state);
    bo_tree_touch *touch = NULL;
    if (def) {
        BO_TRY(check(ctx, model, def));
        touch = BO_NEW(ctx, bo_tree_touch);
        const bough_status status = touch ? make(ctx, model, def, touch) : BOUGH_ERROR_MEMORY;
        if (status != BOUGH_OK) {
            bo_tree_touch_free(ctx, touch);
            return status;
        }
    }
    bo_tree_touch_free(ctx, w->touch);
    w->touch = touch;
    return BOUGH_OK;
}

const bo_tree_contact *bo_tree_contacts(const bough_tree_state *state, int32_t *count) {
    const bo_tree_touch *touch = bo_tree_work_of(state)->touch;
    *count = touch ? touch->contact_count : 0;
    return touch ? touch->contacts : NULL;
}

const double *bo_tree_touch_answers(const bo_tree_work *work) {
    return work->touch && work->touch->answered ? work->touch->rates : NULL;
}

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

typedef struct {
    bough_context *ctx;
    const bough_tree_model *model;
    bough_tree_state *state;
    bo_tree_work *work;
    bo_tree_touch *touch;
    double dt;
    const bo_tree_scheme *scheme;
} search;

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

/* Adds the contact of a sample with what has the gap. other: the motion of a solid; NULL: an obstacle. */
static bough_status add_point(search *s, const sample *at, const bo_gap *gap, int32_t obstacle, int32_t other,
                              const motion *solid, bo_vec3 other_velocity, bo_vec3 other_start, double friction) {
    bo_tree_touch *touch = s->touch;
    const bo_tree_part *part = &s->model->parts[at->part];
    const int32_t r = part->locked || !at->U ? 0 : part->r;
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

static bough_status meet_obstacle(search *s, const sample *at, int32_t o) {
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

static bough_status meet_solid(search *s, const sample *at, int32_t k, const bo_obstacle *shape, const motion *solid) {
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
} near_things;

static bough_status meet(search *s, const sample *at, const near_things *near) {
    for (int32_t k = 0; k < near->obstacle_count; k++)
        BO_TRY(meet_obstacle(s, at, near->obstacles[k]));
    for (int32_t k = 0; k < near->solid_count; k++)
        BO_TRY(meet_solid(s, at, near->solids[k], &near->shapes[near->solids[k]], &near->motions[near->solids[k]]));
    return BOUGH_OK;
}

static bough_status meet_by_shape(search *s, int32_t i, int32_t solid, const motion *frame, const near_things *near) {
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

static bough_status meet_by_samples(search *s, int32_t i, const motion *frame, const near_things *near) {
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
static double sphere_of(const search *s, int32_t i, const motion *frame, int32_t solid, bo_vec3 *centre) {
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

static bool are_equal_spheres(const search *s, int32_t a, int32_t b) {
    const bo_tree_solid *solids = s->touch->def.solids;
    return a >= 0 && solids[a].shape.kind == BO_OBSTACLE_SPHERE && solids[b].shape.kind == BO_OBSTACLE_SPHERE;
}

/* All contacts of one part; of two spheres the first one has it. */
static bough_status look_at_part(search *s, int32_t i, near_things *near, int32_t *obstacles, int32_t *solids) {
    const bo_tree_touch *touch = s->touch;
    const bo_tree_part *part = &s->model->parts[i];
    const int32_t own = touch->solid_of[part->user];
    if (own < 0 && s->model->components[part->component].c->contact.count == 0)
        return BOUGH_OK;
    const motion frame = motion_of(s->work, part);
    bo_vec3 centre;
    const double radius = sphere_of(s, i, &frame, own, &centre);
    for (int32_t first = 0, solid = 0; first < touch->def.obstacle_count || solid < touch->def.solid_count;) {
        near->obstacle_count = near->solid_count = 0;
        for (; first < touch->def.obstacle_count && near->obstacle_count < MOST_NEAR; first++)
            if (bo_obstacle_distance(&touch->now[first], centre) < radius)
                obstacles[near->obstacle_count++] = first;
        for (; solid < touch->def.solid_count && near->solid_count < MOST_NEAR; solid++)
            if (solid != own && s->model->inside[touch->def.solids[solid].part] >= 0 &&
                !(solid < own && are_equal_spheres(s, own, solid)) &&
                bo_obstacle_distance(&near->shapes[solid], centre) < radius)
                solids[near->solid_count++] = solid;
        if (near->obstacle_count == 0 && near->solid_count == 0)
            continue;
        BO_TRY(own >= 0 ? meet_by_shape(s, i, own, &frame, near) : meet_by_samples(s, i, &frame, near));
    }
    return BOUGH_OK;
}

static void place_obstacles(search *s) {
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

static bough_status find_points(search *s) {
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
    for (int32_t i = 0; i < s->model->part_count && status == BOUGH_OK; i++)
        status = look_at_part(s, i, &near, obstacles, solids);
    if (count > FEW) {
        bo_free(s->ctx, shapes);
        bo_free(s->ctx, motions);
    }
    return status;
}

/* ---- where forces lead ---- */

static bo_vec3 force_of(const bo_tree_point *point) {
    bo_vec3 f = bo_v3(0, 0, 0);
    for (int k = 0; k < 3; k++)
        f = bo_mul_add(f, point->force[k], point->axes[k]);
    return f;
}

/* Biases by the forces of the points, on their parts and on solids. */
static void load_points(search *s) {
    bo_tree_touch *touch = s->touch;
    memset(touch->p, 0, 6 * (size_t)s->model->part_count * sizeof *touch->p);
    memset(touch->p_q, 0, (size_t)s->model->size * sizeof *touch->p_q);
    for (size_t i = 0; i < touch->point_count; i++) {
        const bo_tree_point *point = &touch->points[i];
        for (int k = 0; k < 3; k++) {
            const double *row = touch->rows + point->rows + (size_t)k * (size_t)point->r, f = point->force[k];
            for (int d = 0; d < 6; d++) {
                touch->p[6 * point->part + d] -= f * point->frame[k][d];
                if (point->other >= 0)
                    touch->p[6 * point->other + d] -= f * point->other_frame[k][d];
            }
            for (int32_t l = 0; l < point->r; l++)
                touch->p_q[s->model->parts[point->part].offset + l] -= f * row[l];
        }
    }
}

/* All right-hand sides of the step become zero. */
static void forget_loads(const bough_tree_model *model, bo_tree_work *w) {
    for (int32_t b = 0; b < model->block_count; b++) {
        const bo_tree_block *block = &model->blocks[b];
        double *Z = w->Z + 8 * block->vectors;
        const size_t lanes = (size_t)block->lanes;
        for (int32_t l = 0; l < block->r; l++)
            memset(Z + (8 * (size_t)l + 6) * lanes, 0, lanes * sizeof *Z);
    }
    for (int32_t k = 0; k < model->slots_count; k++)
        memset(w->frames[k].b, 0, sizeof w->frames[k].b);
    for (int32_t i = 0; i < model->levels[0].end_part; i++)
        for (int d = 0; d < 6; d++)
            BO_LANE(w->inertias[model->parts[i].slot / 4].p[d], model->parts[i].slot % 4) = 0;
    for (int32_t j = 0; j < model->joint_count; j++)
        memset(w->swings[j].u, 0, sizeof w->swings[j].u);
}

/* The forces on a part, eliminated, as the scattering sweep wants them. */
static void lay_down(search *s, int32_t i) {
    const bo_tree_part *part = &s->model->parts[i];
    const bo_tree_block *block = &s->model->blocks[part->block];
    bo_tree_touch *touch = s->touch;
    bo_tree_hand_up(s->model, s->work, i, touch->p, touch->p_q);
    double *Z = s->work->Z + 8 * block->vectors;
    for (int32_t l = 0; l < part->r; l++)
        Z[(8 * (size_t)l + 6) * (size_t)block->lanes + (size_t)part->lane] = touch->p_q[part->offset + l];
    for (int32_t k = 0; part->joint >= 0 && k < s->model->joints[part->joint].count; k++)
        s->work->swings[part->joint].u[k] = touch->p_q[s->model->joints[part->joint].offset + k];
    for (int d = 0; d < 6 && part->parent < 0; d++)
        BO_LANE(s->work->inertias[part->slot / 4].p[d], part->slot % 4) = touch->p[6 * i + d];
}

/* Accelerations of everything by the forces of the points. The frames, and what a step was solved with on the
 * right-hand side, are used up. */
static bool respond(search *s, double *answers) {
    static const bo_tree_mode mode = {.coupling = BOUGH_COUPLING_L3, .still = true, .weightless = true};
    bo_tree_touch *touch = s->touch;
    forget_loads(s->model, s->work);
    for (int32_t i = s->model->part_count - 1; i >= 0; i--)
        if (touch->node_of[i] >= 0)
            lay_down(s, i);
    for (int32_t k = 0; k < touch->solid_count; k++)
        lay_down(s, touch->solids[k]);
    return bo_tree_scatter(s->ctx, s->model, s->work, &mode, answers);
}

/* Roots that fly, as bo_tree_fly() has them: velocities and places change by so much of the answer. */
static void move_roots(search *s, double of_acceleration, double of_velocity, double of_place) {
    const bough_tree_model *model = s->model;
    for (int32_t k = 0; k < model->free_count; k++) {
        bough_tree_root *root = &s->work->next_roots[k];
        const int32_t slot = model->parts[model->inside[root->part]].slot;
        bo_mat3 R;
        double A[6];
        memcpy(R.m, root->pose.rotation, sizeof R.m);
        for (int d = 0; d < 6; d++)
            A[d] = BO_LANE_CONST(s->work->inertias[slot / 4].A[d], slot % 4);
        const bo_vec3 a = bo_mat_vec(R, bo_load3(A)), turn = bo_mat_vec(R, bo_load3(A + 3));
        const bo_mat3 turned = bo_mat_mul(bo_exp3(bo_scale(of_place, turn)), R);
        struct {
            double *to, by;
            bo_vec3 what;
        } const list[] = {{root->pose.position, of_place, a},
                          {root->velocity, of_velocity, a},
                          {root->angular_velocity, of_velocity, turn},
                          {root->acceleration, of_acceleration, a},
                          {root->angular_acceleration, of_acceleration, turn}};
        for (size_t i = 0; i < sizeof list / sizeof *list; i++)
            bo_store3(list[i].to, bo_mul_add(bo_load3(list[i].to), list[i].by, list[i].what));
        memcpy(root->pose.rotation, turned.m, sizeof root->pose.rotation);
    }
}

static void give_momentum(const bo_tree_part *part, bo_vec3 x, bo_vec3 impulse, bough_tree_root *roots) {
    if (part->flight < 0)
        return;
    bough_tree_root *root = &roots[part->flight];
    bo_store3(root->momentum, bo_add(bo_load3(root->momentum), impulse));
    bo_store3(root->angular_momentum, bo_add(bo_load3(root->angular_momentum), bo_cross(x, impulse)));
}

static void give_momenta(search *s) {
    for (size_t i = 0; i < s->touch->point_count; i++) {
        const bo_tree_point *point = &s->touch->points[i];
        const bo_vec3 impulse = bo_scale(s->dt * s->scheme->gamma, force_of(point));
        give_momentum(&s->model->parts[point->part], point->x, impulse, s->work->next_roots);
        if (point->other >= 0)
            give_momentum(&s->model->parts[point->other], point->x, bo_scale(-1, impulse), s->work->next_roots);
    }
}

/* Acceleration of the point of one side by the answers of all, against the direction of the other side's rows. */
static bo_vec3 answer_of(const search *s, const bo_tree_point *point, int32_t part, const double frame[3][6], int32_t r,
                         const double *answers) {
    const int32_t slot = s->model->parts[part].slot;
    bo_vec3 sum = bo_v3(0, 0, 0);
    for (int k = 0; k < 3; k++) {
        const double *row = s->touch->rows + point->rows + (size_t)k * (size_t)r;
        double along = 0;
        for (int d = 0; d < 6; d++)
            along += frame[k][d] * BO_LANE_CONST(s->work->inertias[slot / 4].A[d], slot % 4);
        for (int32_t l = 0; l < r; l++)
            along += row[l] * answers[s->model->parts[part].offset + l];
        sum = bo_mul_add(sum, along, point->axes[k]);
    }
    return sum;
}

static void measure_answers(search *s, const double *answers) {
    for (size_t i = 0; i < s->touch->point_count; i++) {
        bo_tree_point *point = &s->touch->points[i];
        point->moves = answer_of(s, point, point->part, point->frame, point->r, answers);
        if (point->other >= 0)
            point->other_moves = bo_scale(-1, answer_of(s, point, point->other, point->other_frame, 0, answers));
    }
}

/* ---- the step ---- */

static bough_status unsolved(bough_context *ctx) {
    return bo_fail(ctx, BOUGH_NO_CONVERGENCE, "the contacts of this step have no solution; take a smaller one");
}

static bough_status list_contacts(search *s) {
    bo_tree_touch *touch = s->touch;
    touch->contact_count = 0;
    if (!BO_RESERVE(s->ctx, touch->contacts, touch->contact_capacity, touch->point_count) ||
        !BO_RESERVE(s->ctx, touch->push, touch->push_capacity, 2 * touch->point_count))
        return BOUGH_ERROR_MEMORY;
    touch->clear = touch->push + touch->point_count;
    for (size_t i = 0; i < touch->point_count; i++) {
        const bo_tree_point *point = &touch->points[i];
        touch->contacts[touch->contact_count++] =
            (bo_tree_contact){.part = s->model->parts[point->part].user,
                              .obstacle = point->obstacle,
                              .other = point->other < 0 ? -1 : s->model->parts[point->other].user,
                              .position = point->x,
                              .normal = point->axes[0],
                              .force = bo_scale(s->scheme->gamma, force_of(point)),
                              .gap = point->gap};
    }
    return BOUGH_OK;
}

/* The largest bend of a part by the contacts: as that of steps (step.c). */
static double largest_bend(const search *s) {
    double largest = 0;
    for (int32_t k = 0; k < s->model->part_count; k++) {
        const bo_tree_part *part = &s->model->parts[k];
        const bo_component_tables *t = &s->model->components[part->component];
        double square = 0;
        for (int32_t l = 0; l < part->r; l++) {
            const double x = s->scheme->beta * s->dt * s->dt * s->touch->answers[part->offset + l];
            square += t->M[l * t->n + l] * x * x;
        }
        square /= t->c->Sigma0[0] + t->c->Sigma0[4] + t->c->Sigma0[8];
        if (!(square <= largest))
            largest = square;
    }
    return sqrt(largest);
}

/* Pushes points out that are still inside, without velocity: no further than they came in, and a little. */
static bough_status push_out(search *s) {
    bo_tree_touch *touch = s->touch;
    touch->pushes = false;
    for (size_t i = 0; i < touch->point_count; i++) {
        const bo_tree_point *point = &touch->points[i];
        const double way = bo_dot(point->axes[0], bo_sub(point->moves, point->other_moves));
        const double gap = point->gap + s->scheme->beta * s->dt * s->dt * way;
        const double most = s->dt * (fmax(0, -point->velocity[0]) + PUSH_SPEED);
        touch->push[i] = gap < 0 ? fmin(-gap, most) : 0, touch->clear[i] = fmax(gap, 0);
        touch->pushes = touch->pushes || touch->push[i] > 0;
    }
    if (!touch->pushes)
        return BOUGH_OK;
    if (!bo_tree_touch_push(s->model, s->work, s->dt))
        return unsolved(s->ctx);
    load_points(s);
    if (!respond(s, touch->pushed))
        return unsolved(s->ctx);
    for (int32_t k = 0; k < s->model->size; k++)
        s->work->next_q[k] += s->dt * s->dt * touch->pushed[k];
    move_roots(s, 0, 0, s->dt * s->dt);
    return BOUGH_OK;
}

/* ---- forces of the last step ----
 *
 * A force that accelerations at the end of a step feel counts in it with the share gamma, and in the next one with
 * 1 - gamma. Contacts are to act in their own step alone, with forces f: so accelerations feel F,
 *     gamma F + (1 - gamma) F_before = f,   F = f / gamma - (1 - gamma) / gamma F_before
 * The second part is a load on the step from its beginning; F_before is kept. */

static bool any_but_zero(size_t count, const double *x) {
    for (size_t i = 0; i < count; i++)
        if (x[i] != 0)
            return true;
    return false;
}

bool bo_tree_touch_begin(const bough_tree_model *model, bo_tree_work *w, const bo_tree_scheme *scheme) {
    bo_tree_touch *touch = w->touch;
    const size_t n = (size_t)model->size, parts = (size_t)model->part_count, all = (size_t)model->def.part_count;
    if (!touch)
        return false;
    touch->carried = any_but_zero(n, w->blow) || any_but_zero(6 * all, w->blow_wrench);
    if (!touch->carried)
        return false;
    const double share = -(1 - scheme->gamma) / scheme->gamma;
    touch->loaded = w->loaded;
    if (!w->loaded) {
        memset(w->load, 0, n * sizeof *w->load);
        memset(w->load_wrench, 0, 6 * parts * sizeof *w->load_wrench);
    }
    memcpy(touch->p_q, w->load, n * sizeof *w->load);
    memcpy(touch->p, w->load_wrench, 6 * parts * sizeof *w->load_wrench);
    w->loaded = true;
    for (size_t k = 0; k < n; k++)
        w->load[k] += share * w->blow[k];
    for (size_t i = 0; i < parts; i++)
        for (size_t d = 0; d < 6; d++)
            w->load_wrench[6 * i + d] += share * w->blow_wrench[6 * (size_t)model->parts[i].user + d];
    return true;
}

void bo_tree_touch_end(const bough_tree_model *model, bo_tree_work *w) {
    const bo_tree_touch *touch = w->touch;
    memcpy(w->load, touch->p_q, (size_t)model->size * sizeof *w->load);
    memcpy(w->load_wrench, touch->p, 6 * (size_t)model->part_count * sizeof *w->load_wrench);
    w->loaded = touch->loaded;
}

/* F of the step that was solved: of its contacts, if it has some, and of what it took back. */
static void add_up_forces(const bough_tree_model *model, const bo_tree_work *w, const bo_tree_scheme *scheme,
                          bool touches) {
    bo_tree_touch *touch = w->touch;
    const double share = -(1 - scheme->gamma) / scheme->gamma, little = 1e-12 * touch->mass;
    const size_t n = (size_t)model->size, all = (size_t)model->def.part_count;
    double *wrench = touch->next + n;
    for (size_t k = 0; k < n; k++)
        touch->next[k] = share * w->blow[k] - (touches ? touch->p_q[k] : 0);
    for (size_t k = 0; k < 6 * all; k++)
        wrench[k] = share * w->blow_wrench[k];
    for (int32_t i = 0; i < model->part_count && touches; i++)
        for (size_t d = 0; d < 6; d++)
            wrench[6 * (size_t)model->parts[i].user + d] -= touch->p[6 * (size_t)i + d];
    for (size_t k = 0; k < n + 6 * all; k++)
        if (fabs(touch->next[k]) < little)
            touch->next[k] = 0;
}

void bo_tree_touch_accept(const bough_tree_model *model, bo_tree_work *w, double dt) {
    const size_t n = (size_t)model->size, all = (size_t)model->def.part_count;
    if (!w->touch || dt == 0)
        return;
    memcpy(w->blow, w->touch->next, n * sizeof *w->blow);
    memcpy(w->blow_wrench, w->touch->next + n, 6 * all * sizeof *w->blow_wrench);
}

/* Adds the answers to the step. */
static void go_there(search *s) {
    const double dt = s->dt, of_v = s->scheme->gamma * dt, of_q = s->scheme->beta * dt * dt;
    s->touch->share = of_q;
    bo_tree_work *w = s->work;
    for (int32_t k = 0; k < s->model->size; k++) {
        const double a = s->touch->answers[k];
        w->next_a[k] += a, w->next_v[k] += of_v * a, w->next_q[k] += of_q * a;
        s->touch->rates[k] = s->scheme->gamma * a;
    }
    move_roots(s, 1, of_v, 0.5 * dt * of_v);
    give_momenta(s);
}

bough_status bo_tree_touch_step(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                const bo_tree_scheme *scheme, bool gently, bool *touched) {
    bo_tree_work *w = bo_tree_work_of(state);
    search s = {ctx, model, state, w, w->touch, scheme->dt, scheme};
    bo_tree_touch *touch = w->touch;
    *touched = touch->answered = false;
    touch->contact_count = 0;
    BO_TRY(find_points(&s));
    if (touch->point_count == 0) {
        add_up_forces(model, w, scheme, false);
        return BOUGH_OK;
    }
    BO_TRY(bo_tree_touch_gather(ctx, model, w));
    if (!bo_tree_touch_solve(model, w, scheme->gamma * scheme->dt))
        return unsolved(ctx);
    BO_TRY(list_contacts(&s));
    load_points(&s);
    add_up_forces(model, w, scheme, true);
    if (!respond(&s, touch->answers))
        return unsolved(ctx);
    if (!bo_all_finite(model->size, touch->answers))
        return bo_fail(ctx, BOUGH_NOT_FINITE, "forces of contact are not finite; take a smaller step");
    if (gently && !(largest_bend(&s) <= MOST_BEND))
        return bo_fail(ctx, BOUGH_NO_CONVERGENCE, "a contact bends a part too far in this step; take a smaller one");
    measure_answers(&s, touch->answers);
    *touched = touch->answered = true;
    go_there(&s);
    return push_out(&s);
}

/* Forces act all through a step: their work is that along the way of their points from its start to its end, and along
 * the way by which these were pushed out. */
void bo_tree_touch_work(const bough_tree_model *model, const bo_tree_work *work, void (*add)(void *, int32_t, double),
                        void *data) {
    const bo_tree_touch *touch = work->touch;
    for (int32_t i = 0; touch && touch->answered && i < touch->contact_count; i++) {
        const bo_vec3 force = touch->contacts[i].force;
        const bo_tree_point *point = &touch->points[i];
        const bo_vec3 end = bo_mul_add(point->x, touch->share, point->moves);
        const bo_vec3 other_end = bo_mul_add(point->x, touch->share, point->other_moves);
        const double push = touch->pushes ? touch->push[i] * bo_dot(force, point->axes[0]) : 0;
        add(data, model->parts[point->part].tree, bo_dot(force, bo_sub(end, point->start)) + push);
        if (point->other >= 0)
            add(data, model->parts[point->other].tree, -bo_dot(force, bo_sub(other_end, point->other_start)));
    }
}
