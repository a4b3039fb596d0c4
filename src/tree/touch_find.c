/* Contact in steps of trees: the points that touch. docs/theory/tree.md, "Contact". */
#include "tree/touch_look.h"

#include "base/simd.h"
#include "tree/rest.h"

#include <math.h>
#include <string.h>

/* ---- motion of parts ---- */

/* The frame of a part where the step without contact has led. */
static bo_tree_motion motion_of(const bo_tree_work *work, const bo_tree_part *part) {
    const bo_tree_frames *f = &work->frames[part->slot / 4];
    const int32_t lane = part->slot % 4;
    const bo_mat3 R = bo_matrix_at(f->world, lane);
    return (bo_tree_motion){R, bo_vector_at(f->origin, lane), bo_mat_vec(R, bo_vector_at(f->v, lane)),
                            bo_mat_vec(R, bo_vector_at(f->w, lane))};
}

bo_se3 bo_tree_start_of(const bough_tree_state *state, const bo_tree_part *part) {
    const bough_pose *pose = &state->frames[part->user].pose;
    bo_se3 at = {.t = bo_load3(pose->position)};
    memcpy(at.R.m, pose->rotation, sizeof at.R.m);
    return at;
}

/* ---- points ---- */

/* Two unit vectors across n. */
static void across(bo_vec3 n, bo_vec3 tangents[2]) {
    const bo_vec3 other = fabs(n.x) < 0.6 ? bo_v3(1, 0, 0) : bo_v3(0, 1, 0);
    tangents[0] = bo_normalize(bo_cross(n, other));
    tangents[1] = bo_cross(n, tangents[0]);
}

static int32_t coordinates_of(const bough_tree_model *model, const bo_tree_side *of) {
    const bo_tree_part *part = &model->parts[of->part];
    return part->locked || of->sample_count == 0 ? 0 : part->r;
}

/* Velocities of the point x of a side along the axes, by the velocity of its frame and by those of its coordinates. */
static void fill_rows(const bough_tree_model *model, const bo_tree_side *of, bo_vec3 x, const bo_vec3 axes[3],
                      double sign, double frame[3][6], double *rows) {
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

/* The frame of a root that is held moves by nobody's force, nor do points where it is held. */
static bool stands_still(const bo_tree_part *part, size_t count, const double *rows) {
    if (part->parent >= 0 || part->free || part->joint >= 0)
        return false;
    for (size_t k = 0; k < count; k++)
        if (rows[k] != 0)
            return false;
    return true;
}

bough_status bo_tree_add_point(bo_tree_search *s, bo_vec3 x, bo_vec3 n, double gap, double friction,
                               const bo_tree_side *one, const bo_tree_side *other, int32_t obstacle, int32_t shape,
                               int32_t feature, bool waits) {
    bo_tree_touch *touch = s->touch;
    const bo_tree_part *part = &s->model->parts[one->part];
    const bo_tree_part *second = other->frame ? &s->model->parts[other->part] : NULL;
    const bool asleep = part->asleep || (second && second->asleep);
    const bool full = touch->found_count == (size_t)touch->def.most_contacts;
    if (waits && (asleep || full))
        return BOUGH_OK;
    if (asleep) {
        bo_tree_call(s->model, s->work, part->asleep ? one->part : other->part);
        return BOUGH_OK;
    }
    const size_t r = (size_t)coordinates_of(s->model, one);
    const size_t other_r = second ? (size_t)coordinates_of(s->model, other) : 0;
    if (full)
        return bo_fail(
            s->ctx, BOUGH_ERROR_UNSUPPORTED,
            "more than %d points touch in one step; allow more, or cook the parts with fewer contact samples",
            touch->def.most_contacts);
    /* rows are never NULL, also of rigid parts */
    if (!BO_RESERVE(s->ctx, touch->points, touch->point_capacity, touch->found_count + 1) ||
        !BO_RESERVE(s->ctx, touch->rows, touch->row_capacity, touch->row_count + 3 * (r + other_r) + 1))
        return BOUGH_ERROR_MEMORY;
    bo_tree_point *point = &touch->points[touch->found_count];
    *point = (bo_tree_point){.part = one->part,
                             .other = second ? other->part : -1,
                             .obstacle = obstacle,
                             .shape = shape,
                             .feature = feature,
                             .number = (int32_t)touch->found_count,
                             .waits = waits,
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
    point->axes[0] = n;
    across(n, point->axes + 1);
    fill_rows(s->model, one, x, point->axes, 1, point->frame, touch->rows + point->rows);
    if (!second && stands_still(part, 3 * r, touch->rows + point->rows))
        return BOUGH_OK;
    if (second)
        fill_rows(s->model, other, x, point->axes, -1, point->other_frame, touch->rows + point->other_rows);
    if (second && !waits)
        bo_tree_join_islands(touch, part->tree, second->tree);
    for (int k = 0; k < 3; k++)
        point->velocity[k] = bo_dot(point->axes[k], bo_sub(one->v, other->v));
    touch->found_count++, touch->row_count += 3 * (r + other_r);
    return BOUGH_OK;
}

/* ---- what touches ---- */

/* A point that comes nearer than this may touch in the step, or in the next: those that lie on something are held all
 * the time, and those that come are slowed down to where they just meet it. */
static double reach_of(const bo_tree_search *s) {
    return s->dt * s->dt * bo_norm(bo_load3(s->state->gravity)) + 1e-9;
}

/* ---- parts by themselves ---- */

/* The sphere around all that a part touches with. */
static void look(const bo_tree_search *s, int32_t i, int32_t solid, bo_tree_figure *to) {
    const bo_tree_part *part = &s->model->parts[i];
    const bo_tree_cloud *cloud = &s->touch->clouds[part->component];
    to->frame = motion_of(s->work, part);
    to->samples = SIZE_MAX, to->bend = to->margin = 0, to->measured = false;
    double rate = 0;
    if (solid >= 0) {
        const bo_tree_solid *first = &s->touch->def.solids[solid];
        to->centre = bo_add(to->frame.x, bo_mat_vec(to->frame.R, first->middle_of_all));
        to->radius = first->radius_of_all;
    } else {
        double bend = 0;
        for (int32_t l = 0; l < part->r; l++) {
            bend += fabs(s->work->next_q[part->offset + l]) * cloud->reach[l];
            rate += fabs(s->work->next_v[part->offset + l]) * cloud->reach[l];
        }
        to->bend = bend;
        to->centre = bo_add(to->frame.x, bo_mat_vec(to->frame.R, bo_scale(part->scale, cloud->centre)));
        to->radius = part->scale * (cloud->radius + to->bend);
    }
    to->rate = part->scale * rate;
    to->travel = bo_norm(bo_tree_velocity_at(&to->frame, to->centre)) + to->radius * bo_norm(to->frame.w);
    to->speed = to->travel + to->rate;
}

static void look_at(bo_tree_search *s, int32_t i) {
    look(s, i, s->touch->solid_of[s->model->parts[i].user], &s->touch->shapes[i]);
}

/* count numbers: sums of r entries of U times q, and the numbers of `base` (NULL: none). */
BO_MULTIVERSION
static void bend_some(size_t count, size_t r, const double *restrict base, const double *restrict U,
                      const double *restrict q, double *restrict to) {
    for (size_t k = 0; k < count; k++, U += r) {
        bo_v4 sums = {0};
        size_t l = 0;
        for (; l + 4 <= r; l += 4)
            sums += BO_V4_CONST(U + l) * BO_V4_CONST(q + l);
        double sum = (base ? base[k] : 0) + ((sums[0] + sums[1]) + (sums[2] + sums[3]));
        for (; l < r; l++)
            sum += U[l] * q[l];
        to[k] = sum;
    }
}

/* Places of all samples of a part. */
static const double *bend(bo_tree_search *s, int32_t i) {
    bo_tree_touch *touch = s->touch;
    bo_tree_figure *shape = &touch->shapes[i];
    const bo_tree_part *part = &s->model->parts[i];
    const bough_sample_points *points = &s->model->components[part->component].c->contact;
    const size_t count = 3 * (size_t)points->count;
    if (shape->samples != SIZE_MAX)
        return touch->bent + shape->samples;
    if (!BO_RESERVE(s->ctx, touch->bent, touch->bent_capacity, touch->bent_count + count))
        return NULL;
    shape->samples = touch->bent_count, touch->bent_count += count;
    bend_some(count, (size_t)part->r, points->position, points->U, s->work->next_q + part->offset,
              touch->bent + shape->samples);
    return touch->bent + shape->samples;
}

#define BETWEEN 1.25 /* points between samples move further than these by no more than that */

static double longest(size_t count, const double *x, const double *from) {
    double square = 0;
    for (size_t k = 0; k < count; k += 3) {
        const bo_vec3 d = from ? bo_sub(bo_load3(x + k), bo_load3(from + k)) : bo_load3(x + k);
        square = bo_dot(d, d) > square ? bo_dot(d, d) : square;
    }
    return sqrt(square);
}

/* Samples tell how far and how fast a part is bent at most: the sums over its coordinates may be some times as much. */
static bool measure_bend(bo_tree_search *s, int32_t i) {
    bo_tree_touch *touch = s->touch;
    bo_tree_figure *shape = &touch->shapes[i];
    const bo_tree_part *part = &s->model->parts[i];
    const bough_sample_points *points = &s->model->components[part->component].c->contact;
    const size_t count = 3 * (size_t)points->count;
    if (!bend(s, i))
        return false;
    if (shape->measured)
        return true;
    if (!BO_RESERVE(s->ctx, touch->bent, touch->bent_capacity, touch->bent_count + count))
        return false;
    double *rates = touch->bent + touch->bent_count; /* whose place is free again afterwards */
    bend_some(count, (size_t)part->r, NULL, points->U, s->work->next_v + part->offset, rates);
    shape->measured = true;
    shape->rate = fmin(shape->rate, BETWEEN * part->scale * longest(count, rates, NULL));
    shape->margin = 0.5 * s->dt * (shape->travel + shape->rate);
    shape->bend = fmin(shape->bend, BETWEEN * longest(count, touch->bent + shape->samples, points->position));
    return true;
}

/* U q of one sample. */
static bo_vec3 moved_by(const bo_tree_search *s, const bo_tree_part *part, int32_t k, const double *q) {
    const double *U = s->model->components[part->component].c->contact.U;
    const size_t r = (size_t)part->r;
    double u[3];
    bend_some(3, r, NULL, U + 3 * r * (size_t)k, q + part->offset, u);
    return bo_load3(u);
}

/* place: where it is, in the axes and the size of its component. */
static bo_tree_sample sample_of(const bo_tree_search *s, int32_t i, int32_t k, const double *place) {
    const bo_tree_motion *frame = &s->touch->shapes[i].frame;
    const bo_vec3 own = bo_scale(s->model->parts[i].scale, bo_load3(place));
    return (bo_tree_sample){.part = i,
                            .number = k,
                            .solid = -1,
                            .feature = k,
                            .frame = frame,
                            .x = bo_add(frame->x, bo_mat_vec(frame->R, own))};
}

void bo_tree_motion_of_sample(const bo_tree_search *s, bo_tree_sample *at) {
    const bo_tree_part *part = &s->model->parts[at->part];
    if (at->known)
        return;
    at->known = true, at->v = bo_tree_velocity_at(at->frame, at->x);
    if (at->number < 0) {
        at->was = bo_mat_tvec(at->frame->R, bo_sub(at->x, at->frame->x));
        return;
    }
    const double *rest = s->model->components[part->component].c->contact.position + 3 * (size_t)at->number;
    at->was = bo_scale(part->scale, bo_add(bo_load3(rest), moved_by(s, part, at->number, s->state->q)));
    at->v = bo_mul_add(at->v, part->scale, bo_mat_vec(at->frame->R, moved_by(s, part, at->number, s->work->next_v)));
}

#define ROUNDING 1e-6 /* by which spheres that tell most samples apart are larger */

/* Solids by the spheres around them, from the part. */
static void see_balls(const bo_tree_search *s, int32_t i, bo_tree_near *near) {
    const bo_tree_motion *frame = &s->touch->shapes[i].frame;
    const double scale = s->model->parts[i].scale;
    for (int32_t k = 0; k < near->solid_count; k++) {
        const bo_tree_sphere *solid = &s->touch->spheres[near->solids[k].number];
        const bo_vec3 centre = bo_scale(1 / scale, bo_mat_tvec(frame->R, bo_sub(solid->centre, frame->x)));
        const double within = (1 + ROUNDING) * (solid->radius + near->solids[k].within) / scale;
        near->balls[k] = (bo_tree_ball){centre, within};
    }
}

/* Planes and solids alone are near: most samples are not looked at any further. */
static bool see_planes(const bo_tree_search *s, int32_t i, bo_tree_near *near) {
    const bo_tree_figure *shape = &s->touch->shapes[i];
    const bo_tree_motion *frame = &shape->frame;
    const double scale = s->model->parts[i].scale, bends = shape->rate + scale * shape->bend * bo_norm(frame->w);
    for (int32_t k = 0; k < near->obstacle_count; k++) {
        const bo_tree_near_thing *it = &near->obstacles[k];
        const bo_obstacle *plane = &s->touch->now[it->number];
        const bo_vec3 n = bo_v3(plane->pose.R.m[2], plane->pose.R.m[5], plane->pose.R.m[8]);
        if (plane->kind != BO_OBSTACLE_PLANE)
            return false;
        near->planes[k] =
            (bo_tree_plane){.within = it->within,
                            .height = bo_dot(n, bo_sub(frame->x, plane->pose.t)),
                            .up = bo_scale(scale, bo_mat_tvec(frame->R, n)),
                            .rise = bo_dot(n, frame->v),
                            .turn = bo_scale(scale, bo_mat_tvec(frame->R, bo_cross(n, frame->w))),
                            .slack = bends + bo_tree_obstacle_speed(s, it->number, shape->centre, shape->radius)};
    }
    see_balls(s, i, near);
    return true;
}

/* Near planes and solids alone, samples are bent one by one, and few of them. */
static bough_status meet_by_samples(bo_tree_search *s, int32_t i, bo_tree_near *near) {
    const bo_tree_part *part = &s->model->parts[i];
    const bough_sample_points *points = &s->model->components[part->component].c->contact;
    const bo_tree_cloud *cloud = &s->touch->clouds[part->component];
    const bool mixes = s->touch->fields && s->touch->fields[part->component], planes = see_planes(s, i, near);
    if (mixes && !measure_bend(s, i))
        return BOUGH_ERROR_MEMORY;
    const double *bent = planes && !mixes ? NULL : bend(s, i);
    const bo_tree_planes all = {.count = planes ? near->obstacle_count : 0,
                                .ball_count = planes ? near->solid_count : 0,
                                .planes = near->planes,
                                .balls = near->balls,
                                .dt = s->dt,
                                .reach = s->reach,
                                .margin = s->touch->shapes[i].margin,
                                .scale = part->scale};
    const double around = part->scale * s->touch->shapes[i].bend;
    bool *close = s->touch->close;
    if (!bent && !planes)
        return BOUGH_ERROR_MEMORY;
    if (planes)
        bo_tree_planes_look(&all, (size_t)bo_padded4(points->count), cloud->side_by_side, around, close);
    for (int32_t k = 0; k < points->count; k++) {
        const double *rest = points->position + 3 * (ptrdiff_t)k, *place = bent ? bent + 3 * (ptrdiff_t)k : NULL;
        double one[3];
        if (planes && !close[k])
            continue;
        if (!place) {
            bo_store3(one, bo_add(bo_load3(rest), moved_by(s, part, k, s->work->next_q)));
            place = one;
        }
        if (planes && bo_tree_planes_clear(&all, place, 0))
            continue;
        bo_tree_sample at = sample_of(s, i, k, place);
        BO_TRY(bo_tree_meet(s, &at, near));
    }
    return BOUGH_OK;
}

/* within: how near points of the part have to be. */
static bool is_near_obstacle(const bo_tree_search *s, const bo_tree_figure *shape, int32_t o, double *within) {
    *within = s->reach + s->dt * (shape->speed + bo_tree_obstacle_speed(s, o, shape->centre, shape->radius));
    return bo_obstacle_distance(&s->touch->now[o], shape->centre) - shape->radius < *within;
}

/* One of the two hangs on the other, or both hang on a third: they meet where they hang. */
static bool are_related(const bough_tree_model *model, int32_t a, int32_t b) {
    const int32_t up = model->parts[a].parent, other = model->parts[b].parent;
    const int32_t top = up >= 0 ? model->parts[up].parent : -1, above = other >= 0 ? model->parts[other].parent : -1;
    return up == b || other == a || (up >= 0 && up == other) || (top >= 0 && top == b) || (above >= 0 && above == a);
}

/* A sphere around a solid, and a bound on its speed. */
static void look_at_solid(const bo_tree_solid *solid, const bo_tree_motion *frame, bo_tree_sphere *to) {
    to->centre = bo_add(frame->x, bo_mat_vec(frame->R, solid->middle));
    to->radius = solid->radius;
    to->speed = bo_norm(bo_tree_velocity_at(frame, to->centre)) + to->radius * bo_norm(frame->w);
}

/* The part of a solid that i may touch. */
static bool is_near_solid(const bo_tree_search *s, int32_t i, int32_t solid, double *within) {
    const int32_t part = s->model->inside[s->touch->def.solids[solid].part];
    const bo_tree_figure *shape = &s->touch->shapes[i];
    const bo_tree_sphere *other = &s->touch->spheres[solid];
    if (part < 0)
        return false;
    *within = s->reach + s->dt * (shape->speed + other->speed);
    const bo_vec3 way = bo_sub(shape->centre, other->centre); /* most are told apart by their spheres */
    const double most = shape->radius + other->radius + *within;
    if (bo_dot(way, way) > most * most || part == i || are_related(s->model, part, i) ||
        (s->model->parts[i].asleep && s->model->parts[part].asleep))
        return false;
    return bo_obstacle_distance(&s->touch->placed[solid], shape->centre) - shape->radius < *within;
}

/* All contacts of one part with obstacles and solids. */
static bough_status look_at_part(bo_tree_search *s, int32_t i, bo_tree_near *near) {
    const bo_tree_touch *touch = s->touch;
    const bo_tree_part *part = &s->model->parts[i];
    const int32_t own = touch->solid_of[part->user];
    if (own < 0 && s->model->components[part->component].c->contact.count == 0)
        return BOUGH_OK;
    for (int32_t first = 0, solid = 0; first < touch->def.obstacle_count || solid < touch->def.solid_count;) {
        double within;
        near->obstacle_count = near->solid_count = 0;
        for (; first < touch->def.obstacle_count && near->obstacle_count < BO_TREE_MOST_NEAR; first++)
            if ((!part->asleep || touch->moves[first]) && is_near_obstacle(s, &touch->shapes[i], first, &within))
                near->obstacles[near->obstacle_count++] = (bo_tree_near_thing){.number = first, .within = within};
        for (; solid < touch->def.solid_count && near->solid_count < BO_TREE_MOST_NEAR; solid++)
            if (is_near_solid(s, i, solid, &within))
                near->solids[near->solid_count++] = (bo_tree_near_thing){.number = solid, .within = within};
        if (near->obstacle_count > 0 || near->solid_count > 0)
            BO_TRY(own >= 0 ? bo_tree_meet_by_shapes(s, i, near) : meet_by_samples(s, i, near));
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
static bo_tree_side place_in(const bo_tree_search *s, int32_t b, const bo_field_touch *found, bo_vec3 x,
                             const double *bent) {
    const bo_tree_part *part = &s->model->parts[b];
    const bo_tree_motion *frame = &s->touch->shapes[b].frame;
    const double *rest = s->model->components[part->component].c->contact.position;
    const bo_vec3 own = bo_mat_tvec(frame->R, bo_sub(x, frame->x));
    bo_vec3 moved = bo_v3(0, 0, 0), rate = bo_v3(0, 0, 0);
    for (int32_t j = 0; j < found->sample_count; j++) {
        const int32_t k = found->samples[j];
        const bo_vec3 was = bo_add(bo_load3(rest + 3 * (size_t)k), moved_by(s, part, k, s->state->q));
        moved = bo_mul_add(moved, found->weights[j], bo_sub(bo_load3(bent + 3 * (size_t)k), was));
        rate = bo_mul_add(rate, found->weights[j], moved_by(s, part, k, s->work->next_v));
    }
    return (bo_tree_side){.part = b,
                          .frame = frame,
                          .v = bo_add(bo_tree_velocity_at(frame, x), bo_mat_vec(frame->R, bo_scale(part->scale, rate))),
                          .start = bo_se3_apply(bo_tree_start_of(s->state, part), bo_mul_add(own, -part->scale, moved)),
                          .sample_count = found->sample_count,
                          .samples = found->samples,
                          .weights = found->weights};
}

/* Samples of a in the field of b. */
static bough_status meet_part(bo_tree_search *s, int32_t a, int32_t b) {
    const bo_tree_figure *one = &s->touch->shapes[a], *two = &s->touch->shapes[b];
    const bo_tree_part *other = &s->model->parts[b];
    const bo_field *field = s->touch->fields[other->component];
    const double within = s->reach + s->dt * (one->speed + two->speed);
    const int32_t count = s->model->components[s->model->parts[a].component].c->contact.count;
    if (!measure_bend(s, a) || !measure_bend(s, b))
        return BOUGH_ERROR_MEMORY;
    const double *bent = s->touch->bent + one->samples, *there = s->touch->bent + two->samples;
    const double margin = one->margin + two->margin;
    for (int32_t k = 0; k < count; k++) {
        bo_tree_sample at = sample_of(s, a, k, bent + 3 * (ptrdiff_t)k);
        bo_field_touch found;
        if (bo_norm(bo_sub(at.x, two->centre)) > two->radius + within)
            continue;
        bo_tree_motion_of_sample(s, &at);
        const double near = fmax(
            margin, s->reach + s->dt * (bo_norm(bo_sub(at.v, bo_tree_velocity_at(&two->frame, at.x))) + two->rate));
        const bo_vec3 y = bo_scale(1 / other->scale, bo_mat_tvec(two->frame.R, bo_sub(at.x, two->frame.x)));
        if (!bo_field_gap(field, there, two->bend, y, near / other->scale, &found))
            continue;
        const bo_vec3 n = bo_mat_vec(two->frame.R, found.normal);
        bo_vec3 x;
        const bo_tree_side first = bo_tree_side_of(s, &at, n, &x), second = place_in(s, b, &found, x, there);
        const double gap = other->scale * found.gap;
        const bool waits = !bo_tree_comes_near(s, gap, bo_dot(n, bo_sub(first.v, second.v)));
        if (!waits || gap < margin)
            BO_TRY(bo_tree_add_point(s, x, n, gap, s->touch->def.friction, &first, &second, -1, -1, k, waits));
    }
    return BOUGH_OK;
}

/* The parts of a pair; false: their spheres keep clear of each other. */
static bool is_near_part(const bo_tree_search *s, size_t pair, int32_t *a, int32_t *b) {
    const bo_tree_touch *touch = s->touch;
    *a = s->model->inside[touch->mixing[touch->sweep.pairs[pair] >> 32]];
    *b = s->model->inside[touch->mixing[touch->sweep.pairs[pair] & UINT32_MAX]];
    const bo_tree_figure *one = &touch->shapes[*a], *two = &touch->shapes[*b];
    const double within = s->reach + s->dt * (one->speed + two->speed);
    return !(bo_norm(bo_sub(one->centre, two->centre)) > one->radius + two->radius + within);
}

enum { HOPS = 3 };

/* Pairs of parts that may touch. A part at rest may be led as far as those that hit it are. */
static bough_status find_pairs(bo_tree_search *s) {
    bo_tree_touch *touch = s->touch;
    int32_t a, b;
    touch->sweep.pair_count = 0;
    if (touch->mixing_count < 2)
        return BOUGH_OK;
    for (int32_t k = 0; k < touch->mixing_count; k++) {
        const int32_t i = s->model->inside[touch->mixing[k]];
        const bo_tree_figure *shape = i >= 0 ? &touch->shapes[i] : NULL;
        const double more = shape ? shape->radius + s->reach + s->dt * shape->speed : 0;
        const bo_vec3 centre = shape ? shape->centre : bo_v3(0, 0, 0), half = bo_v3(more, more, more);
        touch->boxes[k] = (bo_box){bo_sub(centre, half), bo_add(centre, half)};
    }
    BO_TRY(bo_sweep_find(s->ctx, &touch->sweep, touch->boxes, may_meet, s));
    for (size_t p = 0; p < touch->sweep.pair_count; p++)
        if (is_near_part(s, p, &a, &b) && !(measure_bend(s, a) && measure_bend(s, b)))
            return BOUGH_ERROR_MEMORY;
    for (int hop = 0; hop < HOPS; hop++)
        for (size_t p = 0; p < touch->sweep.pair_count; p++)
            if (is_near_part(s, p, &a, &b)) {
                const double most = fmax(touch->shapes[a].margin, touch->shapes[b].margin);
                touch->shapes[a].margin = touch->shapes[b].margin = most;
            }
    return BOUGH_OK;
}

static bough_status look_between(bo_tree_search *s) {
    int32_t a, b;
    for (size_t p = 0; p < s->touch->sweep.pair_count; p++)
        if (is_near_part(s, p, &a, &b)) {
            BO_TRY(meet_part(s, a, b));
            BO_TRY(meet_part(s, b, a));
        }
    return BOUGH_OK;
}

/* ---- where a step starts and ends ---- */

static bo_se3 place_of(const bo_tree_search *s, int32_t part, bool end) {
    if (!end)
        return bo_tree_start_of(s->state, &s->model->parts[part]);
    const bo_tree_motion at = motion_of(s->work, &s->model->parts[part]);
    return (bo_se3){at.R, at.x};
}

bool bo_tree_touch_gap_at(bo_tree_search *s, const bo_tree_point *point, bool end, double *gap) {
    bo_tree_touch *touch = s->touch;
    const double *q = end ? s->work->next_q : s->state->q;
    const bo_tree_part *part = &s->model->parts[point->part];
    const double *rest = s->model->components[part->component].c->contact.position + 3 * (size_t)point->feature;
    const bo_vec3 own = bo_add(bo_load3(rest), moved_by(s, part, point->feature, q));
    const bo_vec3 x = bo_se3_apply(place_of(s, point->part, end), bo_scale(part->scale, own));
    if (point->other < 0) {
        bo_obstacle obstacle = touch->now[point->obstacle];
        obstacle.pose = end ? obstacle.pose : touch->before[point->obstacle];
        *gap = bo_obstacle_near(&obstacle, x, NULL);
        return true;
    }
    if (point->shape >= 0) {
        const bo_obstacle solid = bo_tree_placed(&touch->def.solids[point->shape], place_of(s, point->other, end));
        *gap = bo_obstacle_near(&solid, x, NULL);
        return true;
    }
    const bo_tree_part *other = &s->model->parts[point->other];
    const bough_sample_points *points = &s->model->components[other->component].c->contact;
    const size_t count = 3 * (size_t)points->count;
    const bo_se3 at = place_of(s, point->other, end);
    if (!BO_RESERVE(s->ctx, touch->bent, touch->bent_capacity, count))
        return false;
    bend_some(count, (size_t)other->r, points->position, points->U, q + other->offset, touch->bent);
    const double bends = BETWEEN * longest(count, touch->bent, points->position);
    const bo_vec3 y = bo_scale(1 / other->scale, bo_mat_tvec(at.R, bo_sub(x, at.t)));
    bo_field_touch found;
    *gap =
        bo_field_gap(touch->fields[other->component], touch->bent, bends, y, 0, &found) ? other->scale * found.gap : 0;
    return true;
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
        touch->moves[o] = memcmp(&touch->before[o], &touch->now[o].pose, sizeof *touch->before) != 0;
    }
}

/* Trees that sleep are looked at where something moves that could touch them. */
static void place_things(bo_tree_search *s) {
    bo_tree_touch *touch = s->touch;
    bool stirs = touch->mixing_count > 1;
    place_obstacles(s);
    for (int32_t k = 0; k < touch->def.obstacle_count; k++)
        stirs = stirs || touch->moves[k];
    for (int32_t k = 0; k < touch->def.solid_count; k++) {
        const int32_t i = s->model->inside[touch->def.solids[k].part];
        stirs = stirs || (i >= 0 && !s->model->parts[i].asleep);
    }
    for (int32_t k = 0; k < touch->def.solid_count; k++) {
        const int32_t i = s->model->inside[touch->def.solids[k].part];
        if (i < 0)
            continue;
        const bo_tree_motion *frame = &touch->shapes[i].frame;
        look_at(s, i);
        touch->placed[k] = bo_tree_placed(&touch->def.solids[k], (bo_se3){frame->R, frame->x});
        look_at_solid(&touch->def.solids[k], frame, &touch->spheres[k]);
    }
    bo_tree_touch_cull(s, stirs);
    for (int32_t k = 0; k < touch->mixing_count && touch->mixing_count > 1; k++)
        if (s->model->inside[touch->mixing[k]] >= 0)
            look_at(s, s->model->inside[touch->mixing[k]]);
    for (int32_t i = 0; i < s->model->part_count; i++) {
        touch->join[i] = i;
        if (touch->near[i] && touch->solid_of[s->model->parts[i].user] < 0)
            look_at(s, i);
    }
}

bough_status bo_tree_touch_find(bo_tree_search *s) {
    bo_tree_touch *touch = s->touch;
    bo_tree_near near;
    if (!s->still)
        s->reach = reach_of(s);
    touch->point_count = touch->found_count = touch->row_count = touch->bent_count = 0;
    place_things(s);
    BO_TRY(find_pairs(s));
    for (int32_t i = 0; i < s->model->part_count; i++)
        if (touch->near[i])
            BO_TRY(look_at_part(s, i, &near));
    BO_TRY(look_between(s));
    return bo_tree_touch_set_aside(s);
}
