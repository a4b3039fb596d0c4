/* Points of a blend, and how the directions of their models belong together. docs/theory/mechanism.md, "Blending". */
#include "mechanism/blend.h"

#include "dense/symmetric_eigen.h"

#include <string.h>

#define BLEND_COOKIE 0xB006106Bu

bough_mechanism_blend_def bough_default_mechanism_blend_def(void) {
    return (bough_mechanism_blend_def){.cookie = BLEND_COOKIE, .power = 4, .most_points = 16};
}

double bo_blend_distance(const bough_mechanism_blend *blend, const bo_se3 *from, const bo_se3 *to) {
    const double pi = 3.141592653589793;
    double sum = 0;
    for (int32_t e = 0; e < blend->effector_count; e++) {
        const bo_twist t = bo_se3_log(bo_se3_mul(bo_se3_inverse(from[e]), to[e]));
        sum += sqrt(bo_dot(t.v, t.v) / (blend->radius * blend->radius) + bo_dot(t.w, t.w) / (pi * pi));
    }
    return sum;
}

/* ---- one point ---- */

static void drop_point(bough_context *ctx, bo_blend_point *point) {
    bough_mechanism_model_destroy(ctx, point->model);
    bough_mechanism_destroy(ctx, point->mechanism);
    bo_free(ctx, point->V);
    bo_free(ctx, point->lambda);
    bo_free(ctx, point->M);
    bo_free(ctx, point->D);
    bo_free(ctx, point->at);
    bo_free(ctx, point->numbers);
    bo_free(ctx, point->driven);
    *point = (bo_blend_point){0};
}

/* Finds the coordinates at which springs are at rest, with the motors as they are (NULL: zeros). */
static void find_rests(const bough_mechanism_blend *blend, const double *motors, double *rests) {
    const bough_mechanism *m = blend->mechanism;
    for (int32_t i = 0; i < m->def.joint_count; i++)
        for (int k = 0; k < m->joints[i].freedoms; k++)
            rests[m->joints[i].offset + k] = m->joints[i].rest[k];
    for (int32_t k = 0; k < blend->motor_count && motors; k++)
        rests[blend->motors[k]] += motors[k];
}

/* The mechanism at these poses, moved so that its base is where that of the blend's mechanism is. Joints have made the
 * turns that their motors have: a hinge at 180.1 degrees is not one at -179.9, whose spring would be wound up. */
static bough_status move_there(bough_context *ctx, const bough_mechanism_blend *blend, const bough_pose *poses,
                               const double *motors, bough_mechanism **moved) {
    const bough_mechanism *m = blend->mechanism;
    bough_pose *placed = BO_NEW_ARRAY(ctx, bough_pose, m->def.link_count);
    double *rests = BO_NEW_ARRAY(ctx, double, m->coordinate_count);
    bough_status status = placed && rests ? BOUGH_OK : bo_fail_memory(ctx);
    if (status == BOUGH_OK) {
        const int32_t base = m->def.base;
        const bool stays = !memcmp(&poses[base], &m->links[base].pose, sizeof *poses);
        const bo_se3 by = bo_se3_mul(bo_pose(&m->links[base].pose), bo_se3_inverse(bo_pose(&poses[base])));
        for (int32_t i = 0; i < m->def.link_count; i++)
            placed[i] = stays ? poses[i] : bo_put_pose(bo_se3_mul(by, bo_pose(&poses[i])));
        placed[base] = m->links[base].pose;
        find_rests(blend, motors, rests);
        status = bo_mechanism_create_near(ctx, m, placed, rests, moved);
    }
    bo_free(ctx, placed);
    bo_free(ctx, rests);
    return status;
}

static bough_status make_model(bough_context *ctx, const bough_mechanism_blend *blend, bo_blend_point *point) {
    bough_mechanism_statics *statics = NULL;
    BO_TRY(bough_mechanism_statics_create(ctx, point->mechanism, &blend->statics, &statics));
    const bough_status status =
        bough_mechanism_model_create(ctx, point->mechanism, statics, &blend->model, &point->model);
    bough_mechanism_statics_destroy(ctx, statics);
    return status;
}

static bool make_room(bough_context *ctx, const bough_mechanism_blend *blend, bo_blend_point *point) {
    const size_t n = (size_t)blend->n;
    point->V = BO_NEW_ZEROS(ctx, double, n *n);
    point->lambda = BO_NEW_ZEROS(ctx, double, n);
    point->M = BO_NEW_ZEROS(ctx, double, n *n);
    point->D = BO_NEW_ZEROS(ctx, double, n *n);
    point->at = BO_NEW_ARRAY(ctx, bo_se3, blend->effector_count);
    point->numbers = BO_NEW_ZEROS(ctx, double, blend->parts.count);
    point->driven = BO_NEW_ZEROS(ctx, double, blend->motor_count);
    return point->V && point->lambda && point->M && point->D && point->at && point->numbers && point->driven;
}

/* V^T S^-1 A S^-1 V (rank x rank) of a matrix of the end effectors' coordinates */
static void along_directions(const bough_mechanism_blend *blend, const bo_blend_point *point, const double *A,
                             double *out) {
    const int32_t n = blend->n, rank = point->rank;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) {
            const double a = A[i * n + j] / (bo_blend_scale(blend, i) * bo_blend_scale(blend, j));
            for (int32_t p = 0; p < rank; p++)
                for (int32_t q = 0; q < rank; q++)
                    out[p * rank + q] += point->V[i * rank + p] * a * point->V[j * rank + q];
        }
}

/* S C S = V lambda V^T with the radius that all points share; a model's own is that of its pose. */
static bough_status find_directions(bough_context *ctx, const bough_mechanism_blend *blend, bo_blend_point *point) {
    const bough_mechanism_model *model = point->model;
    const int32_t n = blend->n, rank = model->rank;
    const size_t size = (size_t)n * (size_t)n;
    double *A = BO_NEW_ZEROS(ctx, double, 2 * size + 3 * (size_t)n), *V = A ? A + size : NULL;
    if (!A)
        return bo_fail_memory(ctx);
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++)
            for (int32_t k = 0; k < rank; k++)
                A[i * n + j] += bo_blend_scale(blend, i) * model->Q[i * rank + k] * model->compliances[k] *
                                model->Q[j * rank + k] * bo_blend_scale(blend, j);
    const bool good = bo_sym_eigen(n, A, V + size, V, V + size + n);
    point->rank = rank;
    for (int32_t k = 0; k < rank && good; k++) {
        point->lambda[k] = V[(ptrdiff_t)size + n - 1 - k];
        for (int32_t i = 0; i < n; i++)
            point->V[i * rank + k] = V[i * n + n - 1 - k];
    }
    bo_free(ctx, A);
    return good ? BOUGH_OK : bo_fail(ctx, BOUGH_NOT_FINITE, "the compliance of the end effectors is not finite");
}

/* y = S^-1 A x: a wrench, scaled */
static void scaled_wrench(const bough_mechanism_blend *blend, const double *A, const double *x, double *y) {
    const int32_t n = blend->n;
    for (int32_t i = 0; i < n; i++) {
        double sum = 0;
        for (int32_t k = 0; k < n; k++)
            sum += A[i * n + k] * x[k];
        y[i] = sum / bo_blend_scale(blend, i);
    }
}

/* At a point wrenches w balance the springs, pull + w = 0. The springs tell it only along V. */
static void add_reaction(const bough_mechanism_blend *blend, const bo_blend_point *point, const bough_pose *poses,
                         const double *wrench, double *pull) {
    const int32_t n = blend->n, rank = point->rank;
    for (int32_t e = 0; e < blend->effector_count; e++) {
        const bough_frame_def *effector = &blend->effectors[e];
        const bo_mat3 R = bo_mat_mul(bo_pose(&poses[effector->body]).R, bo_pose(&effector->pose).R);
        double w[6];
        bo_store3(w, bo_scale(blend->radius, bo_mat_tvec(R, bo_load3(wrench + 6 * (size_t)e))));
        bo_store3(w + 3, bo_mat_tvec(R, bo_load3(wrench + 6 * (size_t)e + 3)));
        for (int32_t i = 0; i < n; i++) { /* -(1 - V V^T) w */
            for (int c = 0; c < 6; c++) {
                double project = i == 6 * e + c;
                for (int32_t k = 0; k < rank; k++)
                    project -= point->V[i * rank + k] * point->V[(6 * e + c) * rank + k];
                pull[i] -= project * w[c];
            }
        }
    }
}

/* Returns the energy of the springs at the point's pose, with its motors as they are there: they add to the rest
 * coordinates. */
static double spring_energy(const bough_mechanism_blend *blend, const bo_blend_point *point) {
    const bough_mechanism *m = point->mechanism;
    double sum = 0;
    for (int32_t j = 0; j < m->def.joint_count; j++) {
        const bo_mechanism_joint *joint = &m->joints[j];
        const int n = joint->freedoms;
        double d[BO_MOST_FREEDOMS];
        for (int a = 0; a < n; a++) {
            d[a] = joint->at[a] - joint->rest[a];
            for (int32_t k = 0; k < blend->motor_count; k++)
                d[a] -= blend->motors[k] == joint->offset + a ? point->driven[k] : 0;
        }
        for (int a = 0; a < n; a++) {
            double end;
            const double limit = bo_joint_limit(joint, a, joint->at[a], &end);
            if (limit > 0)
                sum += 0.5 * limit * (joint->at[a] - end) * (joint->at[a] - end);
            for (int b = 0; b < n; b++)
                sum += 0.5 * d[a] * joint->stiffness[n * a + b] * d[b];
        }
    }
    return sum;
}

/* rest: n, scratch */
static void fill_numbers(const bough_mechanism_blend *blend, const bough_pose *poses, const double *wrench,
                         double *rest, bo_blend_point *point) {
    const bough_mechanism *m = point->mechanism;
    const bough_mechanism_model *model = point->model;
    const bo_blend_parts *parts = &blend->parts;
    const int32_t n = blend->n;
    double *x = point->numbers;
    for (int32_t k = 0; k < blend->motor_count; k++)
        for (int32_t i = 0; i < n; i++)
            x[parts->motors + (ptrdiff_t)n * k + i] = model->motor_xi[(ptrdiff_t)n * k + i] * bo_blend_scale(blend, i);
    memcpy(rest, model->rest_xi, (size_t)n * sizeof(double));
    for (int32_t k = 0; k < blend->motor_count; k++)
        for (int32_t i = 0; i < n; i++)
            rest[i] += point->driven[k] * model->motor_xi[(ptrdiff_t)n * k + i];
    scaled_wrench(blend, model->K, rest, x + parts->pull);
    if (wrench)
        add_reaction(blend, point, poses, wrench, x + parts->pull);
    for (int32_t i = 0; i < n; i++)
        for (int d = 0; d < 3; d++)
            for (int32_t k = 0; k < model->rank; k++)
                x[parts->weight + 3 * i + d] +=
                    model->P[k * n + i] * model->weight[3 * k + d] / bo_blend_scale(blend, i);
    x[parts->energy] = spring_energy(blend, point);
    const bo_se3 from_world = bo_se3_inverse(bo_pose(&m->links[m->def.base].pose));
    bo_vec3 moment = {0, 0, 0};
    for (int32_t i = 0; i < m->def.link_count; i++) {
        const bo_vec3 centre = bo_se3_apply(bo_pose(&m->links[i].pose), bo_load3(m->links[i].centre));
        moment = bo_mul_add(moment, m->links[i].mass, bo_se3_apply(from_world, centre));
    }
    bo_store3(x + parts->moment, moment);
    for (int32_t e = 0; e < blend->effector_count; e++) {
        const bough_frame_def *effector = &blend->effectors[e];
        const bo_se3 world = bo_se3_mul(bo_pose(&m->links[effector->body].pose), bo_pose(&effector->pose));
        point->at[e] = bo_se3_mul(from_world, world);
    }
}

static bough_status make_point(bough_context *ctx, const bough_mechanism_blend *blend, const bough_pose *poses,
                               const double *motors, const double *wrench, bo_blend_point *point) {
    BO_TRY(move_there(ctx, blend, poses, motors, &point->mechanism));
    BO_TRY(make_model(ctx, blend, point));
    if (!make_room(ctx, blend, point))
        return bo_fail_memory(ctx);
    BO_TRY(find_directions(ctx, blend, point));
    along_directions(blend, point, point->model->M, point->M);
    along_directions(blend, point, point->model->D, point->D);
    double *rest = BO_NEW_ARRAY(ctx, double, blend->n);
    if (!rest)
        return bo_fail_memory(ctx);
    for (int32_t k = 0; k < blend->motor_count; k++)
        point->driven[k] = motors ? motors[k] : 0;
    fill_numbers(blend, poses, wrench, rest, point);
    bo_free(ctx, rest);
    return BOUGH_OK;
}

/* ---- how directions belong together ---- */

/* Takes the part along a unit column w (stride `tracks`) from all columns of R (n x count). */
static void take_away(int32_t n, int32_t tracks, const double *w, int32_t count, double *R) {
    for (int32_t c = 0; c < count; c++) {
        double along = 0;
        for (int32_t i = 0; i < n; i++)
            along += w[i * tracks] * R[i * count + c];
        for (int32_t i = 0; i < n; i++)
            R[i * count + c] -= along * w[i * tracks];
    }
}

/* W (n x tracks): the directions of the nearest model, and where others have more, what those have beyond: the longest
 * remainders of a model that has them all, orthonormal. scratch: n x n */
static void reference_directions(const bough_mechanism_blend *blend, int32_t nearest, int32_t tracks, double *scratch,
                                 double *W) {
    const int32_t n = blend->n;
    const bo_blend_point *point = &blend->points[nearest], *richest = point;
    for (int32_t i = 0; i < blend->count && richest->rank < tracks; i++)
        richest = &blend->points[i];
    double *R = scratch;
    memcpy(R, richest->V, (size_t)n * (size_t)richest->rank * sizeof(double));
    for (int32_t k = 0; k < tracks; k++) {
        int32_t longest = 0;
        double most = -1;
        for (int32_t c = 0; c < richest->rank && k >= point->rank; c++) {
            double length = 0;
            for (int32_t i = 0; i < n; i++)
                length += R[i * richest->rank + c] * R[i * richest->rank + c];
            if (length > most)
                most = length, longest = c;
        }
        for (int32_t i = 0; i < n; i++)
            W[i * tracks + k] =
                k < point->rank ? point->V[i * point->rank + k] : R[i * richest->rank + longest] / sqrt(most);
        take_away(n, tracks, W + k, richest->rank, R);
    }
}

/* T (rank x tracks) from the likenesses A = V^T W: a track for each direction, the most similar pair first; with the
 * sign that makes them similar. track_of: the same in short. Destroys A. */
static void match(int32_t rank, int32_t tracks, double *A, double *T, int32_t *track_of) {
    for (int32_t round = 0; round < rank; round++) {
        int32_t k = 0, t = 0;
        double most = -1;
        for (int32_t i = 0; i < rank; i++)
            for (int32_t j = 0; j < tracks; j++)
                if (fabs(A[i * tracks + j]) > most && isfinite(A[i * tracks + j]))
                    most = fabs(A[i * tracks + j]), k = i, t = j;
        T[k * tracks + t] = A[k * tracks + t] < 0 ? -1 : 1;
        track_of[k] = A[k * tracks + t] < 0 ? -(t + 1) : t + 1;
        for (int32_t i = 0; i < rank; i++)
            A[i * tracks + t] = NAN;
        for (int32_t j = 0; j < tracks; j++)
            A[k * tracks + j] = NAN;
    }
}

/* T^T A T (tracks x tracks) for A (rank x rank) */
static void along_tracks(int32_t rank, int32_t tracks, const double *A, const double *T, double *out) {
    for (int32_t i = 0; i < rank; i++)
        for (int32_t j = 0; j < rank; j++)
            for (int32_t t = 0; t < tracks && A[i * rank + j] != 0; t++)
                for (int32_t u = 0; u < tracks; u++)
                    out[t * tracks + u] += T[i * tracks + t] * A[i * rank + j] * T[j * tracks + u];
}

/* scratch: 3 n x n; W: the directions of the nearest model */
static void fill_pair(const bough_mechanism_blend *blend, const bo_blend_point *point, const bo_blend_pair *pair,
                      int32_t tracks, const double *W, double *scratch, int32_t *track_of, double *out) {
    const int32_t n = blend->n, rank = point->rank;
    const size_t size = (size_t)n * (size_t)n;
    double *A = scratch, *T = A + size, *diagonal = T + size;
    memset(scratch, 0, 3 * size * sizeof(double));
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < rank; k++)
            for (int32_t t = 0; t < tracks; t++)
                A[k * tracks + t] += point->V[i * rank + k] * W[i * tracks + t];
    match(rank, tracks, A, T, track_of);
    for (int32_t k = 0; k < rank; k++) {
        diagonal[k * rank + k] = point->lambda[k];
        for (int32_t t = 0; t < tracks; t++) {
            out[pair->present + t] += T[k * tracks + t] * T[k * tracks + t];
            for (int32_t i = 0; i < n; i++)
                out[pair->B + i * tracks + t] += point->V[i * rank + k] * T[k * tracks + t];
        }
    }
    along_tracks(rank, tracks, diagonal, T, out + pair->L);
    along_tracks(rank, tracks, point->M, T, out + pair->M);
    along_tracks(rank, tracks, point->D, T, out + pair->D);
}

/* The point whose farthest fellow is nearest: logs of poses are taken from there, and stay short. */
static int32_t middle_point(const bough_mechanism_blend *blend) {
    int32_t best = 0;
    double least = INFINITY;
    for (int32_t i = 0; i < blend->count; i++) {
        double far = 0;
        for (int32_t k = 0; k < blend->count; k++)
            far = fmax(far, bo_blend_distance(blend, blend->points[i].at, blend->points[k].at));
        if (far < least)
            least = far, best = i;
    }
    return best;
}

/* All that depends on which points there are. Changes nothing when it fails. */
static bough_status relate(bough_context *ctx, bough_mechanism_blend *blend) {
    const size_t n = (size_t)blend->n, count = (size_t)blend->count;
    int32_t tracks = 0;
    for (int32_t i = 0; i < blend->count; i++)
        tracks = blend->points[i].rank > tracks ? blend->points[i].rank : tracks;
    const int32_t square = tracks * tracks, B = blend->n * tracks;
    const bo_blend_pair pair = {0, B, B + square, B + 2 * square, B + 3 * square, B + 3 * square + tracks};
    double *pairs = BO_NEW_ZEROS(ctx, double, count *count *(size_t)pair.count);
    int32_t *track_of = BO_NEW_ZEROS(ctx, int32_t, count * count * n);
    double *scratch = BO_NEW_ARRAY(ctx, double, 4 * n * n), *W = scratch ? scratch + 3 * n * n : NULL;
    if (!pairs || !track_of || !scratch) {
        bo_free(ctx, pairs);
        bo_free(ctx, track_of);
        bo_free(ctx, scratch);
        return bo_fail_memory(ctx);
    }
    for (int32_t r = 0; r < blend->count; r++) {
        reference_directions(blend, r, tracks, scratch, W);
        for (int32_t i = 0; i < blend->count; i++) {
            const size_t at = (size_t)r * count + (size_t)i;
            fill_pair(blend, &blend->points[i], &pair, tracks, W, scratch, track_of + at * n,
                      pairs + at * (size_t)pair.count);
        }
    }
    bo_free(ctx, scratch);
    bo_free(ctx, blend->pairs);
    bo_free(ctx, blend->track_of);
    blend->pairs = pairs, blend->track_of = track_of, blend->pair = pair, blend->tracks = tracks;
    blend->middle = middle_point(blend);
    const bo_se3 *from = blend->points[blend->middle].at;
    for (int32_t i = 0; i < blend->count; i++)
        for (int32_t e = 0; e < blend->effector_count; e++)
            bo_store_twist(blend->points[i].numbers + blend->parts.way + 6 * (ptrdiff_t)e,
                           bo_se3_log(bo_se3_mul(bo_se3_inverse(from[e]), blend->points[i].at[e])));
    return BOUGH_OK;
}

/* ---- all of it ---- */

static bool finite_wrench(int32_t n, const double *wrench) {
    double sum = 0;
    for (int32_t k = 0; k < n; k++)
        sum += 0 * wrench[k];
    return sum == 0;
}

bough_status bough_mechanism_blend_add(bough_context *ctx, bough_mechanism_blend *blend, const bough_pose *poses,
                                       const double *wrench) {
    return bough_mechanism_blend_add_driven(ctx, blend, poses, NULL, wrench);
}

bough_status bough_mechanism_blend_add_driven(bough_context *ctx, bough_mechanism_blend *blend, const bough_pose *poses,
                                              const double *motors, const double *wrench) {
    if (blend->count == blend->most_points)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "the blend has room for %d points and they are used up; make it with larger most_points",
                       blend->most_points);
    for (int32_t i = 0; i < blend->mechanism->def.link_count; i++)
        if (!bo_good_pose(&poses[i]))
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the pose of link %d is not a rotation and a finite position", i);
    if (wrench && !finite_wrench(blend->n, wrench))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the wrenches of a point of a blend must be finite");
    if (motors && !finite_wrench(blend->motor_count, motors))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the motors of a point of a blend must be finite");
    bo_blend_point *point = &blend->points[blend->count];
    bough_status status = make_point(ctx, blend, poses, motors, wrench, point);
    if (status == BOUGH_OK) {
        for (int32_t i = 0; i < blend->count && status == BOUGH_OK; i++)
            if (!(bo_blend_distance(blend, blend->points[i].at, point->at) > 1e-9))
                status = bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                                 "the end effectors are where they are at point %d of the blend already", i);
    }
    if (status == BOUGH_OK) {
        blend->count++;
        status = relate(ctx, blend);
        if (status != BOUGH_OK)
            blend->count--;
    }
    if (status != BOUGH_OK)
        drop_point(ctx, point);
    return status;
}

void bough_mechanism_blend_destroy(bough_context *ctx, bough_mechanism_blend *blend) {
    if (!blend)
        return;
    for (int32_t i = 0; i < blend->count; i++)
        drop_point(ctx, &blend->points[i]);
    bo_free(ctx, blend->points);
    bo_free(ctx, blend->pairs);
    bo_free(ctx, blend->track_of);
    bo_free(ctx, blend->effectors);
    bo_free(ctx, blend->motors);
    bo_free(ctx, blend);
}

static bough_status check_def(bough_context *ctx, const bough_mechanism *m, const bough_mechanism_blend_def *def) {
    if (def->cookie != BLEND_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the blend def was not made by bough_default_mechanism_blend_def()");
    if (!(def->power >= 1 && def->power <= 16))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the power of a blend's weights is %g; it must be 1 .. 16",
                       def->power);
    if (def->most_points < 1 || def->most_points > BOUGH_BLEND_LIMIT)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a blend of at most %d points; it must be 1 .. %d", def->most_points,
                       BOUGH_BLEND_LIMIT);
    if (def->statics && def->statics->cookie != bough_default_mechanism_statics_def().cookie)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "the statics def was not made by bough_default_mechanism_statics_def()");
    if (def->model && def->model->internal_modes != 0)
        return bo_fail(
            ctx, BOUGH_ERROR_UNSUPPORTED,
            "models with internal modes cannot be blended; leave internal_modes at 0, or make more links end "
            "effectors");
    if (m->def.free_base)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "only mechanisms whose base is held can be blended; set free_base to false");
    return BOUGH_OK;
}

/* Copies of what later points need; checked when the first point is made. */
static bough_status copy_def(bough_context *ctx, const bough_mechanism *m, const bough_mechanism_blend_def *def,
                             bough_mechanism_blend *blend) {
    blend->mechanism = m, blend->power = def->power, blend->radius = m->radius;
    blend->most_points = def->most_points;
    blend->statics = def->statics ? *def->statics : bough_default_mechanism_statics_def();
    blend->model = def->model ? *def->model : bough_default_mechanism_model_def();
    bough_mechanism_statics_def *statics = &blend->statics;
    if (statics->end_effector_count == 0)
        statics->end_effector_count = m->def.end_effector_count, statics->end_effectors = m->end_effectors;
    if (statics->end_effector_count < 1)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the mechanism has no end effectors; name at least one link");
    BO_TRY(bo_check_end_effectors(ctx, m, statics->end_effector_count, statics->end_effectors));
    if (statics->motor_count < 0 || statics->motor_count > m->coordinate_count ||
        (statics->motor_count > 0 && !statics->motors))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a mechanism of %d coordinates cannot have %d motors",
                       m->coordinate_count, statics->motor_count);
    blend->effectors = BO_NEW_ARRAY(ctx, bough_frame_def, statics->end_effector_count);
    blend->motors = BO_NEW_ARRAY(ctx, int32_t, statics->motor_count);
    blend->points = BO_NEW_ZEROS(ctx, bo_blend_point, def->most_points);
    if (!blend->effectors || !blend->motors || !blend->points)
        return bo_fail_memory(ctx);
    for (int32_t e = 0; e < statics->end_effector_count; e++)
        blend->effectors[e] = statics->end_effectors[e];
    for (int32_t k = 0; k < statics->motor_count; k++)
        blend->motors[k] = statics->motors[k];
    statics->end_effectors = blend->effectors, statics->motors = blend->motors;
    const int32_t n = blend->n = 6 * statics->end_effector_count;
    blend->effector_count = statics->end_effector_count, blend->motor_count = statics->motor_count;
    const int32_t motors = 2 * n, weight = motors + n * blend->motor_count, energy = weight + 3 * n;
    blend->parts = (bo_blend_parts){0, n, motors, weight, energy, energy + 1, energy + 4};
    return BOUGH_OK;
}

bough_status bough_mechanism_blend_create(bough_context *ctx, const bough_mechanism *mechanism,
                                          const bough_mechanism_blend_def *def, bough_mechanism_blend **blend) {
    const bough_mechanism_blend_def defaults = bough_default_mechanism_blend_def();
    *blend = NULL;
    def = def ? def : &defaults;
    BO_TRY(check_def(ctx, mechanism, def));
    bough_mechanism_blend *made = BO_NEW(ctx, bough_mechanism_blend);
    bough_pose *poses = made ? BO_NEW_ARRAY(ctx, bough_pose, mechanism->def.link_count) : NULL;
    bough_status status = poses ? copy_def(ctx, mechanism, def, made) : bo_fail_memory(ctx);
    for (int32_t i = 0; i < mechanism->def.link_count && status == BOUGH_OK; i++)
        poses[i] = mechanism->links[i].pose;
    if (status == BOUGH_OK)
        status = bough_mechanism_blend_add(ctx, made, poses, NULL);
    bo_free(ctx, poses);
    if (status != BOUGH_OK)
        bough_mechanism_blend_destroy(ctx, made);
    else
        *blend = made;
    return status;
}

int32_t bough_mechanism_blend_count(const bough_mechanism_blend *blend) {
    return blend->count;
}
const bough_mechanism_model *bough_mechanism_blend_model(const bough_mechanism_blend *blend, int32_t point) {
    return point >= 0 && point < blend->count ? blend->points[point].model : NULL;
}
