/* States of a blend: weights, the blended model, steps and equilibria. docs/theory/mechanism.md, "Blending". */
#include "mechanism/blend.h"

#include "dense/cholesky.h"
#include "dense/lu.h"

#include <stdlib.h>
#include <string.h>

#define AT_A_POINT 1e-12 /* distance at which a point is all */
#define HOLD 1e-13       /* of compliances and of likenesses: keeps what is singular regular */
#define STIFF 1e-2       /* of the largest compliance: directions that are stiffer go on by their forces */
#define STILL 1e-12      /* distance that ends a search for equilibrium */
#define SEAM 1e-2 /* the same where the nearest model changes: directions may belong together in another way then */
#define DIFFERENCE 1e-7
#define NEGLIGIBLE 1e-16 /* weight of a point that changes no digit */
enum { MOST_ROUNDS = 120, FIRST_ROUNDS = 20 };

bough_status bough_blend_state_create(bough_context *ctx, const bough_mechanism_blend *blend,
                                      bough_blend_state **state) {
    *state = NULL;
    const size_t n = (size_t)blend->n, most = (size_t)blend->most_points, motors = (size_t)blend->motor_count,
                 effectors = (size_t)blend->effector_count, parts = (size_t)blend->parts.count;
    bo_blend_state *made = BO_NEW(ctx, bo_blend_state);
    if (!made)
        return bo_fail_memory(ctx);
    bough_blend_state *s = &made->seen;
    struct bo_blend_work *w = &made->work;
    const size_t doubles =
        3 * n + 2 * motors + most + parts + (4 * n * n + n) + 3 * n * n + 14 * n + (n + most) + most * (n + motors);
    double *x = w->memory = BO_NEW_ZEROS(ctx, double, doubles);
    w->at = BO_NEW_ARRAY(ctx, bo_se3, 4 * effectors);
    w->pivots = BO_NEW_ARRAY(ctx, int32_t, n);
    s->effectors = BO_NEW_ARRAY(ctx, bough_pose, effectors);
    s->poses = BO_NEW_ARRAY(ctx, bough_pose, blend->mechanism->def.link_count);
    if (!x || !w->at || !w->pivots || !s->effectors || !s->poses) {
        bough_blend_state_destroy(ctx, s);
        return bo_fail_memory(ctx);
    }
    const struct {
        double **array;
        size_t count;
    } all[] = {{&s->phi, n},
               {&s->wrench, n},
               {&s->carried, n},
               {&s->motors, motors},
               {&s->driven, motors},
               {&s->weights, most},
               {&w->numbers, parts},
               {&w->pair, 4 * n * n + n},
               {&w->gram, n * n},
               {&w->A, n * n},
               {&w->xi, n},
               {&w->force, n},
               {&w->z, n},
               {&w->rate, n},
               {&w->f, n},
               {&w->way, n},
               {&w->other, n},
               {&w->step, n},
               {&w->slope, n * n},
               {&w->pull, n},
               {&s->rates, n},
               {&s->springs, n},
               {&w->y, n},
               {&w->right, n},
               {&w->scratch, n},
               {&w->kept, n + most},
               {&w->columns, most * (n + motors)}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        *all[k].array = x, x += all[k].count;
    w->rest = w->at + effectors, w->next = w->rest + effectors, w->from = w->next + effectors;
    for (size_t e = 0; e < effectors; e++)
        s->effectors[e] = bo_put_pose(blend->points[0].at[e]);
    s->base = blend->mechanism->links[blend->mechanism->def.base].pose;
    const bough_status status = bough_blend_state_weigh(ctx, blend, s, NULL);
    if (status != BOUGH_OK) {
        bough_blend_state_destroy(ctx, s);
        return status;
    }
    bough_blend_state_place(blend, s);
    *state = s;
    return BOUGH_OK;
}

void bough_blend_state_destroy(bough_context *ctx, bough_blend_state *state) {
    if (!state)
        return;
    bo_free(ctx, bo_blend_work_of(state)->memory);
    bo_free(ctx, bo_blend_work_of(state)->at);
    bo_free(ctx, bo_blend_work_of(state)->pivots);
    bo_free(ctx, state->effectors);
    bo_free(ctx, state->poses);
    bo_free(ctx, state);
}

/* ---- the blended model ---- */

/* alpha_i = d_i^-p over their sum, by ratios of the least distance so that nothing overflows. Returns the nearest. */
static int32_t weigh(const bough_mechanism_blend *blend, const bo_se3 *at, double *weights) {
    double sum = 0;
    int32_t nearest = 0;
    for (int32_t i = 0; i < blend->count; i++) {
        weights[i] = bo_blend_distance(blend, blend->points[i].at, at);
        if (weights[i] < weights[nearest])
            nearest = i;
    }
    const double least = weights[nearest];
    for (int32_t i = 0; i < blend->count; i++) {
        weights[i] = i == nearest ? 1 : least < AT_A_POINT ? 0 : pow(least / weights[i], blend->power);
        sum += weights[i];
    }
    for (int32_t i = 0; i < blend->count; i++)
        weights[i] /= sum;
    return nearest;
}

static void add_scaled(int32_t count, double s, const double *restrict x, double *restrict y) {
    for (int32_t k = 0; k < count; k++)
        y[k] += s * x[k];
}

/* Directions to length 1. Masses and dampings of directions that some models lack are those of the models that have
 * them: their sums lack those models' weights, by a congruence so that they stay positive. */
static void normalise(const bough_mechanism_blend *blend, double *pair) {
    const int32_t tracks = blend->tracks;
    double *present = pair + blend->pair.present;
    for (int32_t t = 0; t < tracks; t++) {
        double length = 0;
        for (int32_t i = 0; i < blend->n; i++)
            length += pair[blend->pair.B + i * tracks + t] * pair[blend->pair.B + i * tracks + t];
        const double s = length > 0 ? 1 / sqrt(length) : 0;
        for (int32_t i = 0; i < blend->n; i++)
            pair[blend->pair.B + i * tracks + t] *= s;
        present[t] = present[t] > 0 ? 1 / sqrt(present[t]) : 0;
    }
    for (int32_t t = 0; t < tracks; t++)
        for (int32_t u = 0; u < tracks; u++) {
            pair[blend->pair.M + t * tracks + u] *= present[t] * present[u];
            pair[blend->pair.D + t * tracks + u] *= present[t] * present[u];
        }
}

/* B^T B = L L^T */
static bool factor_gram(const bough_mechanism_blend *blend, struct bo_blend_work *w) {
    const int32_t tracks = blend->tracks;
    const double *B = w->pair + blend->pair.B;
    memset(w->gram, 0, (size_t)tracks * (size_t)tracks * sizeof(double));
    for (int32_t i = 0; i < blend->n; i++)
        for (int32_t t = 0; t < tracks; t++)
            for (int32_t u = 0; u <= t; u++)
                w->gram[t * tracks + u] += B[i * tracks + t] * B[i * tracks + u];
    for (int32_t t = 0; t < tracks; t++)
        w->gram[t * tracks + t] = w->gram[t * tracks + t] > 0 ? w->gram[t * tracks + t] * (1 + HOLD) : 1;
    return bo_cholesky_factor(tracks, w->gram);
}

/* y (tracks) = B^T x */
static void onto(const bough_mechanism_blend *blend, const double *B, const double *x, double *y) {
    memset(y, 0, (size_t)blend->tracks * sizeof(double));
    for (int32_t i = 0; i < blend->n; i++)
        add_scaled(blend->tracks, x[i], B + (ptrdiff_t)i * blend->tracks, y);
}
/* y (n) = B z */
static void along(const bough_mechanism_blend *blend, const double *B, const double *z, double *y) {
    for (int32_t i = 0; i < blend->n; i++) {
        y[i] = 0;
        for (int32_t t = 0; t < blend->tracks; t++)
            y[i] += B[i * blend->tracks + t] * z[t];
    }
}
/* Coordinates along the directions of the blend: least squares. */
static void coordinates(const bough_mechanism_blend *blend, const struct bo_blend_work *w, const double *x, double *z) {
    onto(blend, w->pair + blend->pair.B, x, z);
    bo_cholesky_solve(blend->tracks, w->gram, z);
}

/* y = A x for A (tracks x tracks) */
static void multiply(int32_t tracks, const double *A, const double *x, double *y) {
    for (int32_t i = 0; i < tracks; i++) {
        y[i] = 0;
        for (int32_t k = 0; k < tracks; k++)
            y[i] += A[i * tracks + k] * x[k];
    }
}

/* Returns the motion of end effector e of point i by the motors, relative to their positions at the point: the twist of
 * its own model. */
static bo_twist driven_by(const bough_mechanism_blend *blend, const bough_blend_state *state, int32_t i, int32_t e) {
    const bo_blend_point *point = &blend->points[i];
    bo_twist t = {{0, 0, 0}, {0, 0, 0}};
    for (int32_t k = 0; k < blend->motor_count; k++)
        t = bo_twist_mul_add(t, state->motors[k] - point->driven[k],
                             bo_load_twist(point->model->motor_xi + (ptrdiff_t)blend->n * k + 6 * (ptrdiff_t)e));
    return t;
}

static bo_se3 driven_pose(const bough_mechanism_blend *blend, const bough_blend_state *state, int32_t i, int32_t e) {
    return bo_se3_mul(blend->points[i].at[e], bo_se3_exp(driven_by(blend, state, i, e)));
}

/* The blended pose of an end effector: H_m exp(sum alpha_i log(H_m^-1 H_i)) with all H where the motors take them from
 * their points. These are near each other however far the motors go; seen from the middle point itself, they would be
 * half a turn away where the motors are, and one with a bit more would count as half a turn the other way. */
static bo_se3 blended_pose(const bough_mechanism_blend *blend, const bough_blend_state *state, int32_t e) {
    const bo_se3 middle = blend->points[blend->middle].at[e];
    if (blend->motor_count == 0)
        return bo_se3_mul(
            middle, bo_se3_exp(bo_load_twist(bo_blend_work_of(state)->numbers + blend->parts.way + 6 * (ptrdiff_t)e)));
    const bo_se3 from = driven_pose(blend, state, blend->middle, e), back = bo_se3_inverse(from);
    bo_twist sum = {{0, 0, 0}, {0, 0, 0}};
    for (int32_t i = 0; i < blend->count; i++) {
        if (state->weights[i] < NEGLIGIBLE)
            continue;
        const bo_se3 there = driven_pose(blend, state, i, e);
        sum = bo_twist_mul_add(sum, state->weights[i], bo_se3_log(bo_se3_mul(back, there)));
    }
    return bo_se3_mul(from, bo_se3_exp(sum));
}

/* Everything of the blended model for end effectors at w->at: weights, numbers, pair, blended poses, and xi. */
static bough_status blend_at(bough_context *ctx, const bough_mechanism_blend *blend, bough_blend_state *state,
                             int32_t *nearest) {
    struct bo_blend_work *w = bo_blend_work_of(state);
    *nearest = weigh(blend, w->at, state->weights);
    memset(w->numbers, 0, (size_t)blend->parts.count * sizeof(double));
    memset(w->pair, 0, (size_t)blend->pair.count * sizeof(double));
    for (int32_t i = 0; i < blend->count; i++) {
        add_scaled(blend->parts.count, state->weights[i], blend->points[i].numbers, w->numbers);
        add_scaled(blend->pair.count, state->weights[i], bo_blend_pair_of(blend, *nearest, i), w->pair);
    }
    normalise(blend, w->pair);
    if (!factor_gram(blend, w))
        return bo_fail(ctx, BOUGH_NOT_FINITE,
                       "the blend is not finite: check where its end effectors are, or that its points are not too far "
                       "apart");
    for (int32_t e = 0; e < blend->effector_count; e++) {
        w->rest[e] = blended_pose(blend, state, e);
        const bo_twist xi = bo_se3_log(bo_se3_mul(bo_se3_inverse(w->rest[e]), w->at[e]));
        bo_store_twist(w->xi + 6 * (ptrdiff_t)e, (bo_twist){bo_scale(1 / blend->radius, xi.v), xi.w});
    }
    return BOUGH_OK;
}

/* Wrench of springs at the blended pose and of gravity on the end effectors. */
static void pull_of(const bough_mechanism_blend *blend, const bough_blend_state *state, double *force) {
    const struct bo_blend_work *w = bo_blend_work_of(state);
    const bo_blend_parts *parts = &blend->parts;
    double g[3];
    bo_store3(g, bo_mat_tvec(bo_pose(&state->base).R, bo_load3(state->gravity)));
    for (int32_t i = 0; i < blend->n; i++) {
        const double *weight = w->numbers + parts->weight + 3 * (ptrdiff_t)i;
        force[i] = w->numbers[parts->pull + i] + weight[0] * g[0] + weight[1] * g[1] + weight[2] * g[2];
    }
}

/* Axes of an end effector at its blended pose, in the world. */
static bo_mat3 axes_of(const bough_blend_state *state, int32_t e) {
    return bo_mat_mul(bo_pose(&state->base).R, bo_blend_work_of(state)->rest[e].R);
}

/* All that pushes the directions, in w->f. */
static void push(const bough_mechanism_blend *blend, bough_blend_state *state) {
    struct bo_blend_work *w = bo_blend_work_of(state);
    pull_of(blend, state, w->force);
    for (int32_t e = 0; e < blend->effector_count; e++) {
        const bo_mat3 R = axes_of(state, e);
        const double *given = state->wrench + 6 * (ptrdiff_t)e;
        double *force = w->force + 6 * (ptrdiff_t)e;
        bo_store3(force, bo_mul_add(bo_load3(force), blend->radius, bo_mat_tvec(R, bo_load3(given))));
        bo_store3(force + 3, bo_add(bo_load3(force + 3), bo_mat_tvec(R, bo_load3(given + 3))));
    }
    onto(blend, w->pair + blend->pair.B, w->force, w->f);
}

/* The least wrench whose pushes on the directions are F (tracks; destroyed). */
static void carry(const bough_mechanism_blend *blend, bough_blend_state *state, double *F) {
    bo_cholesky_solve(blend->tracks, bo_blend_work_of(state)->gram, F);
    along(blend, bo_blend_work_of(state)->pair + blend->pair.B, F, state->carried);
}

/* next = blended pose, moved along the directions by z */
static void move_to(const bough_mechanism_blend *blend, struct bo_blend_work *w, const double *z) {
    along(blend, w->pair + blend->pair.B, z, w->xi);
    for (int32_t e = 0; e < blend->effector_count; e++) {
        const bo_twist xi = bo_load_twist(w->xi + 6 * (ptrdiff_t)e);
        w->next[e] = bo_se3_mul(w->rest[e], bo_se3_exp((bo_twist){bo_scale(blend->radius, xi.v), xi.w}));
    }
}

static void read_effectors(const bough_mechanism_blend *blend, const bough_blend_state *state) {
    for (int32_t e = 0; e < blend->effector_count; e++)
        bo_blend_work_of(state)->at[e] = bo_pose(&state->effectors[e]);
}
/* Products drift from rotations. */
static void write_effectors(const bough_mechanism_blend *blend, bough_blend_state *state, const bo_se3 *at) {
    for (int32_t e = 0; e < blend->effector_count; e++) {
        bo_se3 g = at[e];
        g.R = bo_quat_to_matrix(bo_quat_from_matrix(g.R));
        state->effectors[e] = bo_put_pose(g);
    }
}
/* Weights and carried wrench, which a failure gives back. */
static void keep(const bough_mechanism_blend *blend, bough_blend_state *state) {
    memcpy(bo_blend_work_of(state)->kept, state->carried, (size_t)blend->n * sizeof(double));
    memcpy(bo_blend_work_of(state)->kept + blend->n, state->weights, (size_t)blend->most_points * sizeof(double));
}
bough_status bo_blend_give_back(const bough_mechanism_blend *blend, bough_blend_state *state, bough_status status) {
    memcpy(state->carried, bo_blend_work_of(state)->kept, (size_t)blend->n * sizeof(double));
    memcpy(state->weights, bo_blend_work_of(state)->kept + blend->n, (size_t)blend->most_points * sizeof(double));
    return status;
}

static bough_status check_state(bough_context *ctx, const bough_mechanism_blend *blend,
                                const bough_blend_state *state) {
    double sum = 0;
    for (int32_t e = 0; e < blend->effector_count; e++) {
        if (!bo_good_pose(&state->effectors[e]))
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                           "the pose of end effector %d is not a rotation and a finite position", e);
    }
    for (int d = 0; d < 3; d++)
        sum += 0 * state->gravity[d];
    if (!bo_all_finite(blend->n, state->phi) || !bo_all_finite(blend->n, state->wrench) ||
        !bo_all_finite(blend->motor_count, state->motors) || !bo_all_finite(blend->motor_count, state->driven) ||
        !bo_all_finite(blend->n, state->rates) || !bo_all_finite(blend->n, state->springs) || !(state->kinetic >= 0) ||
        !(sum == 0) || !bo_good_pose(&state->base))
        return bo_fail(ctx, BOUGH_NOT_FINITE,
                       "velocities, wrenches, motors, gravity and the base's pose of a blend "
                       "must be finite");
    return BOUGH_OK;
}

/* ---- weighing ---- */

/* Lambda^-1 z, with what is singular held */
static bool forces_of(const bough_mechanism_blend *blend, struct bo_blend_work *w, const double *z, double *F) {
    const int32_t tracks = blend->tracks;
    double most = 0;
    memcpy(w->A, w->pair + blend->pair.L, (size_t)tracks * (size_t)tracks * sizeof(double));
    for (int32_t t = 0; t < tracks; t++)
        most = fmax(most, w->A[t * tracks + t]);
    for (int32_t t = 0; t < tracks; t++)
        w->A[t * tracks + t] += HOLD * most;
    memcpy(F, z, (size_t)tracks * sizeof(double));
    if (!bo_cholesky_factor(tracks, w->A))
        return false;
    bo_cholesky_solve(tracks, w->A, F);
    return true;
}

bough_status bough_blend_state_weigh(bough_context *ctx, const bough_mechanism_blend *blend, bough_blend_state *state,
                                     double *holding) {
    struct bo_blend_work *w = bo_blend_work_of(state);
    BO_TRY(check_state(ctx, blend, state));
    keep(blend, state);
    read_effectors(blend, state);
    int32_t nearest;
    const bough_status status = blend_at(ctx, blend, state, &nearest);
    if (status != BOUGH_OK)
        return bo_blend_give_back(blend, state, status);
    coordinates(blend, w, w->xi, w->z);
    if (!forces_of(blend, w, w->z, w->f))
        return bo_blend_give_back(blend, state, bo_fail(ctx, BOUGH_NOT_FINITE, "the blended compliance is not finite"));
    carry(blend, state, w->f);
    state->nearest = -1;
    if (!holding)
        return BOUGH_OK;
    pull_of(blend, state, w->force);
    for (int32_t e = 0; e < blend->effector_count; e++) {
        const bo_mat3 R = axes_of(state, e);
        double x[6];
        for (int k = 0; k < 6; k++)
            x[k] = (state->carried[6 * e + k] - w->force[6 * e + k]) * bo_blend_scale(blend, k);
        bo_store3(holding + 6 * (ptrdiff_t)e, bo_mat_vec(R, bo_load3(x)));
        bo_store3(holding + 6 * (ptrdiff_t)e + 3, bo_mat_vec(R, bo_load3(x + 3)));
    }
    return BOUGH_OK;
}

/* ---- steps ---- */

/* (M + h D + h^2 Lambda^-1) y = M z' + h (f - Lambda^-1 z), times Lambda, which need not be regular then; rows scaled
 * to a diagonal of 1. */
static bool solve_step(const bough_mechanism_blend *blend, struct bo_blend_work *w, double dt) {
    const int32_t tracks = blend->tracks;
    const double *L = w->pair + blend->pair.L, *M = w->pair + blend->pair.M, *D = w->pair + blend->pair.D;
    multiply(tracks, M, w->rate, w->scratch);
    add_scaled(tracks, dt, w->f, w->scratch);
    multiply(tracks, L, w->scratch, w->right);
    add_scaled(tracks, -dt, w->z, w->right);
    for (int32_t i = 0; i < tracks; i++) {
        double *row = w->A + (ptrdiff_t)i * tracks;
        for (int32_t j = 0; j < tracks; j++)
            row[j] = i == j ? dt * dt : 0;
        for (int32_t k = 0; k < tracks; k++)
            for (int32_t j = 0; j < tracks; j++)
                row[j] += L[i * tracks + k] * (M[k * tracks + j] + dt * D[k * tracks + j]);
        const double s = 1 / row[i];
        for (int32_t j = 0; j < tracks; j++)
            row[j] *= s;
        w->y[i] = s * w->right[i];
    }
    if (!bo_lu_factor(tracks, w->A, w->pivots))
        return false;
    bo_lu_solve(tracks, w->A, w->pivots, w->y);
    return bo_all_finite(tracks, w->y);
}

/* Numbers (tracks) of the directions of the nearest model `old` as those of `now`; what has no likeness stays. */
static void change_tracks(const bough_mechanism_blend *blend, int32_t old, int32_t now, const double *x, double *y) {
    const int32_t *forward = bo_blend_tracks_of(blend, now, old), *back = bo_blend_tracks_of(blend, old, now);
    for (int32_t t = 0; t < blend->points[now].rank; t++)
        y[t] = back[t] > 0 ? x[back[t] - 1] : -x[-back[t] - 1];
    for (int32_t k = 0; k < blend->points[old].rank; k++)
        y[abs(forward[k]) - 1] = forward[k] > 0 ? x[k] : -x[k];
}

/* Finds how far the motors have moved the blended pose since the last step, along the directions (tracks). */
static void moved_by_motors(const bough_mechanism_blend *blend, const bough_blend_state *state, double *z) {
    struct bo_blend_work *w = bo_blend_work_of(state);
    memset(w->force, 0, (size_t)blend->n * sizeof(double));
    for (int32_t k = 0; k < blend->motor_count; k++)
        add_scaled(blend->n, state->motors[k] - state->driven[k],
                   w->numbers + blend->parts.motors + (ptrdiff_t)blend->n * k, w->force);
    coordinates(blend, w, w->force, z);
}

/* Blended poses are not quite where the mechanism can go, and its directions turn. Seen from the blended pose of this
 * step, the end effectors are elsewhere than a step ago, and their twists have parts in other directions. In stiff ones
 * that is nothing but the error of the blend, and would be answered by huge forces. What a step hands to the next is
 * therefore the rates along the directions, with their kinetic energy; and in stiff directions the springs' forces, in
 * soft ones where the end effectors are. With one model both are the same. pull: of the springs at z = 0. */
static void hand_over(const bough_mechanism_blend *blend, bough_blend_state *state, int32_t nearest,
                      const double *pull) {
    struct bo_blend_work *w = bo_blend_work_of(state);
    const int32_t tracks = blend->tracks;
    const double *L = w->pair + blend->pair.L;
    double *springs = w->right, most = 0, kinetic = 0;
    if (state->nearest < 0 || state->nearest >= blend->count)
        return;
    memcpy(springs, state->springs, (size_t)tracks * sizeof(double));
    memcpy(w->rate, state->rates, (size_t)tracks * sizeof(double));
    if (nearest != state->nearest) {
        change_tracks(blend, state->nearest, nearest, state->springs, springs);
        change_tracks(blend, state->nearest, nearest, state->rates, w->rate);
    }
    for (int32_t t = 0; t < tracks; t++)
        most = fmax(most, L[(tracks + 1) * t]);
    moved_by_motors(blend, state, w->y);
    multiply(tracks, w->pair + blend->pair.M, w->rate, w->scratch);
    for (int32_t t = 0; t < tracks; t++) {
        const double lambda = L[(tracks + 1) * t], soft = lambda / (lambda + STIFF * most);
        w->z[t] = soft * w->z[t] + (1 - soft) * (lambda * (pull[t] - springs[t]) - w->y[t]);
        kinetic += 0.5 * w->rate[t] * w->scratch[t];
    }
    const double s = kinetic > 0 ? fmin(2, fmax(0.5, sqrt(state->kinetic / kinetic))) : 1;
    for (int32_t t = 0; t < tracks; t++)
        w->rate[t] *= s;
}

static void remember(const bough_mechanism_blend *blend, bough_blend_state *state, int32_t nearest,
                     const double *pull) {
    struct bo_blend_work *w = bo_blend_work_of(state);
    state->nearest = nearest, state->kinetic = 0;
    multiply(blend->tracks, w->pair + blend->pair.M, w->y, w->scratch);
    for (int32_t t = 0; t < blend->tracks; t++) {
        state->rates[t] = w->y[t];
        state->springs[t] = pull[t] - w->f[t];
        state->kinetic += 0.5 * w->y[t] * w->scratch[t];
    }
    memcpy(state->driven, state->motors, (size_t)blend->motor_count * sizeof(double));
}

bough_status bo_blend_predict(bough_context *ctx, const bough_mechanism_blend *blend, bough_blend_state *state,
                              double dt, int32_t *nearest) {
    struct bo_blend_work *w = bo_blend_work_of(state);
    if (!(dt > 0 && isfinite(dt)))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the step of a mechanism is %g s; it must be above 0", dt);
    BO_TRY(check_state(ctx, blend, state));
    keep(blend, state);
    read_effectors(blend, state);
    const bough_status status = blend_at(ctx, blend, state, nearest);
    if (status != BOUGH_OK)
        return bo_blend_give_back(blend, state, status);
    coordinates(blend, w, w->xi, w->z);
    for (int32_t i = 0; i < blend->n; i++)
        w->xi[i] = state->phi[i] * bo_blend_scale(blend, i);
    coordinates(blend, w, w->xi, w->rate);
    onto(blend, w->pair + blend->pair.B, w->numbers + blend->parts.pull, w->pull);
    hand_over(blend, state, *nearest, w->pull);
    push(blend, state);
    if (!solve_step(blend, w, dt))
        return bo_blend_give_back(
            blend, state,
            bo_fail(ctx, BOUGH_ERROR_SINGULAR,
                    "a step of %g s of the blended mechanism is singular or not finite: masses or "
                    "stiffnesses are too far apart, or wrenches too large",
                    dt));
    return BOUGH_OK;
}

void bo_blend_finish(const bough_mechanism_blend *blend, bough_blend_state *state, double dt, int32_t nearest) {
    struct bo_blend_work *w = bo_blend_work_of(state);
    const int32_t tracks = blend->tracks;
    add_scaled(tracks, dt, w->y, w->z);
    move_to(blend, w, w->z);
    /* Lambda^-1 z+ = f - M (y - z') / h - D y, without the inverse */
    for (int32_t t = 0; t < tracks; t++)
        w->right[t] = (w->y[t] - w->rate[t]) / dt;
    multiply(tracks, w->pair + blend->pair.M, w->right, w->scratch);
    add_scaled(tracks, -1, w->scratch, w->f);
    multiply(tracks, w->pair + blend->pair.D, w->y, w->scratch);
    add_scaled(tracks, -1, w->scratch, w->f);
    remember(blend, state, nearest, w->pull);
    carry(blend, state, w->f);
    along(blend, w->pair + blend->pair.B, w->y, state->phi);
    for (int32_t i = 0; i < blend->n; i++)
        state->phi[i] /= bo_blend_scale(blend, i);
    write_effectors(blend, state, w->next);
    memset(state->wrench, 0, (size_t)blend->n * sizeof(double));
    state->time += dt;
}

bough_status bough_blend_state_step(bough_context *ctx, const bough_mechanism_blend *blend, bough_blend_state *state,
                                    double dt) {
    int32_t nearest;
    BO_TRY(bo_blend_predict(ctx, blend, state, dt, &nearest));
    bo_blend_finish(blend, state, dt, nearest);
    return BOUGH_OK;
}

/* ---- equilibrium ---- */

static void move_by(const bough_mechanism_blend *blend, const bo_se3 *from, double part, const double *way,
                    bo_se3 *to) {
    for (int32_t e = 0; e < blend->effector_count; e++) {
        const bo_twist t = bo_load_twist(way + 6 * (ptrdiff_t)e);
        to[e] = bo_se3_mul(from[e], bo_se3_exp((bo_twist){bo_scale(part * blend->radius, t.v), bo_scale(part, t.w)}));
    }
}

/* The way (n, scaled) from where the end effectors are to where the blended model there would have them: its pose moved
 * by Lambda f. Its length in *length. */
static bough_status find_way(bough_context *ctx, const bough_mechanism_blend *blend, bough_blend_state *state,
                             double *way, double *length) {
    struct bo_blend_work *w = bo_blend_work_of(state);
    int32_t nearest;
    BO_TRY(blend_at(ctx, blend, state, &nearest));
    push(blend, state);
    multiply(blend->tracks, w->pair + blend->pair.L, w->f, w->z);
    move_to(blend, w, w->z);
    *length = 0;
    for (int32_t e = 0; e < blend->effector_count; e++) {
        const bo_twist t = bo_se3_log(bo_se3_mul(bo_se3_inverse(w->at[e]), w->next[e]));
        bo_store_twist(way + 6 * (ptrdiff_t)e, (bo_twist){bo_scale(1 / blend->radius, t.v), t.w});
        *length += sqrt(bo_dot(t.v, t.v) / (blend->radius * blend->radius) + bo_dot(t.w, t.w));
    }
    return isfinite(*length) ? BOUGH_OK
                             : bo_fail(ctx, BOUGH_NOT_FINITE, "the blended mechanism is not finite under its wrenches");
}

/* One step of Newton's method from w->at, where the way is `way` and its length `before`; false: it leads nowhere. The
 * slope of the way is taken by differences. */
static bool newton(bough_context *ctx, const bough_mechanism_blend *blend, bough_blend_state *state, const double *way,
                   double before) {
    struct bo_blend_work *w = bo_blend_work_of(state);
    const int32_t n = blend->n;
    double *step = w->step, *other = w->other, length;
    memcpy(w->from, w->at, (size_t)blend->effector_count * sizeof *w->from);
    for (int32_t c = 0; c < n; c++) {
        memset(step, 0, (size_t)n * sizeof(double));
        step[c] = DIFFERENCE;
        move_by(blend, w->from, 1, step, w->at);
        if (find_way(ctx, blend, state, other, &length) != BOUGH_OK)
            return false;
        for (int32_t r = 0; r < n; r++)
            w->slope[r * n + c] = (other[r] - way[r]) / DIFFERENCE;
    }
    for (int32_t r = 0; r < n; r++)
        step[r] = -way[r];
    bool shorter = bo_lu_factor(n, w->slope, w->pivots);
    if (shorter) {
        bo_lu_solve(n, w->slope, w->pivots, step);
        shorter = false;
        for (double part = 1; part > 0.01 && !shorter; part *= 0.5) {
            move_by(blend, w->from, part, step, w->at);
            shorter = find_way(ctx, blend, state, other, &length) == BOUGH_OK && length < (1 - 0.1 * part) * before;
        }
    }
    if (!shorter)
        memcpy(w->at, w->from, (size_t)blend->effector_count * sizeof *w->from);
    return shorter;
}

/* The blended pose and its directions depend on where the end effectors are. First they go a part of the way again and
 * again, less of it when ways become longer; what then is left is Newton's. */
bough_status bough_blend_state_settle(bough_context *ctx, const bough_mechanism_blend *blend,
                                      bough_blend_state *state) {
    struct bo_blend_work *w = bo_blend_work_of(state);
    double part = 1, last = INFINITY, length;
    BO_TRY(check_state(ctx, blend, state));
    keep(blend, state);
    read_effectors(blend, state);
    for (int round = 0; round < MOST_ROUNDS; round++) {
        const bough_status status = find_way(ctx, blend, state, w->way, &length);
        if (status != BOUGH_OK)
            return bo_blend_give_back(blend, state, status);
        if (length < STILL || (round == MOST_ROUNDS - 1 && length < SEAM)) {
            carry(blend, state, w->f);
            write_effectors(blend, state, w->next);
            memset(state->phi, 0, (size_t)blend->n * sizeof(double));
            state->nearest = -1;
            return BOUGH_OK;
        }
        if (round >= FIRST_ROUNDS && newton(ctx, blend, state, w->way, length))
            continue;
        part = length > 0.9 * last ? fmax(0.6 * part, 0.02) : fmin(1, 1.1 * part);
        last = length;
        memcpy(w->from, w->at, (size_t)blend->effector_count * sizeof *w->from);
        move_by(blend, w->from, part, w->way, w->at);
    }
    return bo_blend_give_back(
        blend, state,
        bo_fail(ctx, BOUGH_NO_CONVERGENCE,
                "no equilibrium of the blended mechanism was found; smaller changes of the wrenches, or "
                "more points, may help"));
}

/* ---- looking at states ---- */

/* z of each model for the carried wrench: lambda Q^T w */
void bough_blend_state_place(const bough_mechanism_blend *blend, bough_blend_state *state) {
    struct bo_blend_work *w = bo_blend_work_of(state);
    const int32_t stride = blend->n + blend->motor_count;
    for (int32_t i = 0; i < blend->n; i++)
        w->force[i] = state->carried[i] * bo_blend_scale(blend, i);
    for (int32_t p = 0; p < blend->count; p++) {
        const bough_mechanism_model *model = blend->points[p].model;
        double *columns = w->columns + (ptrdiff_t)stride * p;
        memset(columns, 0, (size_t)model->rank * sizeof(double));
        for (int32_t i = 0; i < blend->n; i++)
            add_scaled(model->rank, w->force[i], model->Q + (ptrdiff_t)i * model->rank, columns);
        for (int32_t k = 0; k < model->rank; k++)
            columns[k] *= model->compliances[k];
        for (int32_t m = 0; m < blend->motor_count; m++)
            add_scaled(model->rank, state->motors[m] - blend->points[p].driven[m],
                       model->motor_z + (ptrdiff_t)model->rank * m, columns);
        memcpy(columns + model->rank, state->motors, (size_t)blend->motor_count * sizeof(double));
    }
    const bough_pose *rest = &blend->mechanism->links[blend->mechanism->def.base].pose;
    const bool moves = memcmp(&state->base, rest, sizeof *rest) != 0;
    bo_se3 moved;
    if (moves)
        moved = bo_se3_mul(bo_pose(&state->base), bo_se3_inverse(bo_pose(rest)));
    bo_blend_place(blend, state->weights, w->columns, stride, moves ? &moved : NULL, state->poses);
}

/* Work of gravity (in the base's axes) where the motors take the end effectors from their points. */
static double lifted_by_motors(const bough_mechanism_blend *blend, const bough_blend_state *state, const double g[3]) {
    double sum = 0;
    for (int32_t p = 0; p < blend->count; p++) {
        const double *weight = blend->points[p].numbers + blend->parts.weight,
                     *motors = blend->points[p].numbers + blend->parts.motors;
        for (int32_t k = 0; k < blend->motor_count; k++)
            for (int32_t i = 0; i < blend->n; i++)
                for (int d = 0; d < 3; d++)
                    sum += state->weights[p] * (state->motors[k] - blend->points[p].driven[k]) * weight[3 * i + d] *
                           g[d] * motors[(ptrdiff_t)blend->n * k + i];
    }
    return sum;
}

bough_status bough_blend_state_energies(bough_context *ctx, const bough_mechanism_blend *blend,
                                        bough_blend_state *state, bough_mechanism_energies *energies) {
    struct bo_blend_work *w = bo_blend_work_of(state);
    const bo_blend_parts *parts = &blend->parts;
    const int32_t tracks = blend->tracks;
    int32_t nearest;
    *energies = (bough_mechanism_energies){0};
    BO_TRY(check_state(ctx, blend, state));
    keep(blend, state);
    read_effectors(blend, state);
    BO_TRY(bo_blend_give_back(blend, state, blend_at(ctx, blend, state, &nearest)));
    coordinates(blend, w, w->xi, w->z);
    if (!forces_of(blend, w, w->z, w->f))
        return bo_fail(ctx, BOUGH_NOT_FINITE, "the blended compliance is not finite");
    energies->elastic = w->numbers[parts->energy];
    along(blend, w->pair + blend->pair.B, w->z, w->xi);
    for (int32_t t = 0; t < tracks; t++)
        energies->elastic += 0.5 * w->f[t] * w->z[t];
    double g[3];
    bo_store3(g, bo_mat_tvec(bo_pose(&state->base).R, bo_load3(state->gravity)));
    const double *moment = w->numbers + parts->moment, *first = blend->points[0].numbers + parts->moment;
    for (int d = 0; d < 3; d++)
        energies->gravity -= g[d] * (moment[d] - first[d]);
    energies->gravity -= lifted_by_motors(blend, state, g);
    for (int32_t i = 0; i < blend->n; i++) {
        energies->elastic -= w->numbers[parts->pull + i] * w->xi[i];
        for (int d = 0; d < 3; d++)
            energies->gravity -= w->numbers[parts->weight + 3 * i + d] * g[d] * w->xi[i];
    }
    for (int32_t i = 0; i < blend->n; i++)
        w->xi[i] = state->phi[i] * bo_blend_scale(blend, i);
    coordinates(blend, w, w->xi, w->rate);
    multiply(tracks, w->pair + blend->pair.M, w->rate, w->scratch);
    for (int32_t t = 0; t < tracks; t++)
        energies->kinetic += 0.5 * w->rate[t] * w->scratch[t];
    return BOUGH_OK;
}
