/* Simulations forwards, with the steps kept, and backwards through their adjoints. docs/theory/adjoint.md. */
#include "retarget/adjoint.h"

#include "base/threads.h"

#include <string.h>

enum { STEPS_A_LOOK = 64 }; /* between two questions whether to go on */

/* ---- steps that are kept ---- */

static size_t record_size(const bough_multibody *model) {
    return (size_t)(model->nu + 2 * model->nv + model->nc + model->coordinate_count + model->body_count);
}

bo_kept_step bo_adjoint_step(const bough_adjoint *x, int32_t step) {
    const bough_multibody *model = x->model;
    bo_kept_step r;
    r.u = x->kept.steps + (size_t)((step - 1) % x->kept.segment) * x->kept.size;
    r.v = r.u + model->nu;
    r.v_base = r.v + model->nv;
    r.lambda = r.v_base + model->nv;
    r.coordinates = r.lambda + model->nc;
    r.shrink = r.coordinates + model->coordinate_count;
    return r;
}

/* Fewer steps at a time cost more snapshots: the longest segments that fit, since all but the last are taken twice. */
bough_status bo_kept_make(bough_context *ctx, const bough_adjoint *x, bo_kept *kept) {
    const double n = x->def.step_count, room = x->def.megabytes * 1e6 / sizeof(double);
    *kept = (bo_kept){.size = record_size(x->model), .snapshot_size = bo_mb_snapshot_size(bo_mb(x->state)), .now = -1};
    const double step = (double)kept->size, snapshot = (double)kept->snapshot_size;
    double segment = n;
    if (n * step > room) {
        /* L step + (n / L) snapshot <= room, of which the larger root */
        const double square = room * room - 4 * step * snapshot * n;
        segment = square > 0 ? floor((room + sqrt(square)) / (2 * step)) : 0;
        while (segment >= 1 && segment * step + (ceil(n / segment) - 1) * snapshot > room)
            segment -= 1;
        if (segment < 1)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%d steps need %.2g MB at least for their states; there are %.2g",
                           x->def.step_count, (2 * sqrt(n * step * snapshot) + step) * sizeof(double) * 1.01 / 1e6,
                           x->def.megabytes);
    }
    kept->segment = (int32_t)segment;
    kept->snapshot_count = (x->def.step_count - 1) / kept->segment;
    kept->steps = BO_NEW_ARRAY(ctx, double, (size_t)kept->segment * kept->size);
    kept->snapshots = BO_NEW_ARRAY(ctx, double, (size_t)kept->snapshot_count * kept->snapshot_size);
    return kept->steps && kept->snapshots ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

void bo_kept_free(bough_context *ctx, bo_kept *kept) {
    bo_free(ctx, kept->steps);
    bo_free(ctx, kept->snapshots);
    *kept = (bo_kept){0};
}

static void keep_step(const bough_adjoint *x, int32_t step) {
    const bough_multibody *model = x->model;
    const bo_mb_state *s = bo_mb_const(x->state);
    const bo_kept_step r = bo_adjoint_step(x, step);
    memcpy(r.u, s->face.u, (size_t)model->nu * sizeof *r.u);
    memcpy(r.v, s->face.v, (size_t)model->nv * sizeof *r.v);
    memcpy(r.v_base, s->v_base, (size_t)model->nv * sizeof *r.v_base);
    memcpy(r.lambda, s->face.lambda, (size_t)model->nc * sizeof *r.lambda);
    memcpy(r.coordinates, s->work.coordinates, (size_t)model->coordinate_count * sizeof *r.coordinates);
    for (int32_t b = 0; b < model->body_count; b++) { /* the quaternion before, of unit length, was scaled too */
        const double *q = s->u_before + 7 * b + 3;
        r.shrink[b] = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    }
}

/* ---- forwards ---- */

double bo_adjoint_weight(const bough_adjoint *x, int32_t step) {
    return x->def.dt * (step == 0 || step == x->def.step_count ? 0.5 : 1);
}

/* Forces of motors beyond their limits; adds to by_lambda what they say of multipliers. */
static double look_at_forces(bough_adjoint *x, const double *lambda, bool gradient) {
    double sum = 0;
    for (int32_t m = 0; m < x->motor_count; m++) {
        const double most = x->limits[m].force;
        const int32_t row = isfinite(most) ? bo_mb_motor_row(x->model, m) : -1;
        if (row < 0)
            continue;
        const double excess = bo_beyond(lambda[row] / most, -1, 1);
        sum += 0.5 * x->def.limit_weight * excess * excess;
        if (gradient)
            x->by_lambda[row] += x->def.limit_weight * excess / most;
    }
    return sum;
}

/* Backwards in time the continuous adjoint begins with a step of backward Euler, and goes on by BDF2. */
static double step_backwards(const bough_adjoint *x, int32_t step) {
    return step == x->def.step_count - 1 ? x->def.dt : 2 * x->def.dt / 3;
}

/* Weight of a state's derivatives. Steps of the continuous adjoint have their own; it is zero at the end of the motion,
 * and at the start it is what it was just after. */
static double weight_backwards(const bough_adjoint *x, int32_t step) {
    return !x->def.continuous                       ? bo_adjoint_weight(x, step)
           : step == 0 || step == x->def.step_count ? 0
                                                    : step_backwards(x, step);
}

/* Adds the shares of a state to the value; gradient: its derivatives to by_xi, by_v, by_lambda as well. */
static bough_status look_at_state(bough_context *ctx, bough_adjoint *x, int32_t step, const double *u, const double *v,
                                  const double *lambda, bool gradient, double *sum) {
    const bough_multibody *model = x->model;
    const double weight = gradient ? weight_backwards(x, step) : bo_adjoint_weight(x, step);
    const size_t nv = (size_t)model->nv;
    for (int32_t i = 0; i < x->def.tracked_count; i++) {
        double value;
        if (!bo_tracked_at(model, &x->tracked[i], step, u, v, weight, &value, gradient ? x->by_xi : NULL))
            return bo_fail(ctx, BOUGH_NOT_FINITE, "the interface of tracked frame %d is crushed at t = %g", i,
                           x->start_time + step * x->def.dt);
        *sum += weight * value;
    }
    double value = 0;
    memset(x->by_term, 0, (2 * nv + (size_t)model->nc) * sizeof *x->by_term); /* with by_term_rate and by_lambda */
    if (x->def.term)
        x->def.term(x->def.term_data, step, u, v, lambda, &value, gradient ? x->by_term : NULL,
                    gradient ? x->by_term_rate : NULL, gradient ? x->by_lambda : NULL);
    value += look_at_forces(x, lambda, gradient);
    *sum += weight * value;
    if (!gradient)
        return BOUGH_OK;
    for (size_t i = 0; i < nv; i++)
        x->by_xi[i] += weight * x->by_term[i], x->by_v[i] += weight * x->by_term_rate[i];
    for (int32_t i = 0; i < model->nc; i++)
        x->by_lambda[i] *= weight;
    return BOUGH_OK;
}

static void drive(void *data, int32_t motor, double time, double *place, double *rate) {
    const bough_adjoint *x = data;
    const int64_t at = (int64_t)motor * (x->def.step_count + 1) + x->step;
    (void)time;
    *place = x->place[at], *rate = x->rate[at];
}

static void go_to_start(bough_adjoint *x) {
    const bough_multibody *model = x->model;
    bo_mb_state *s = bo_mb(x->state);
    x->state->time = x->start_time, x->state->drift = 0;
    memcpy(s->face.u, x->start_u, (size_t)model->nu * sizeof(double));
    memcpy(s->face.v, x->start_v, (size_t)model->nv * sizeof(double));
    memcpy(s->face.lambda, x->start_lambda, (size_t)model->nc * sizeof(double));
    memcpy(s->work.coordinates, x->start_coordinates, (size_t)model->coordinate_count * sizeof(double));
    memset(s->a, 0, (size_t)model->nv * sizeof(double));
    memset(s->trust, 0, (size_t)model->nv * sizeof(double));
    memset(s->u_before, 0, (size_t)model->nu * sizeof(double));
    memset(s->v_before, 0, (size_t)model->nv * sizeof(double));
    memset(s->lambda_before, 0, (size_t)model->nc * sizeof(double));
    bough_multibody_restart(x->state);
    x->state->drive = drive, x->state->drive_data = x;
}

static bough_status take_step(bough_context *ctx, bough_adjoint *x, int32_t step) {
    x->step = step;
    const double done = (double)step / x->def.step_count;
    if (step % STEPS_A_LOOK == 0 &&
        !(x->news[0] ? bo_progress(ctx, "retargeting", x->before + x->share * done, "%s", x->news)
                     : bo_progress(ctx, "simulating", done, "step %d", step)))
        return bo_fail_cancelled(ctx);
    return bough_multibody_step(ctx, x->model, x->state, x->def.dt);
}

bough_status bo_adjoint_forwards(bough_context *ctx, bough_adjoint *x, bool keep) {
    const bough_multibody_state *state = x->state;
    double sum = 0;
    go_to_start(x);
    x->kept.now = -1;
    BO_TRY(look_at_state(ctx, x, 0, state->u, state->v, state->lambda, false, &sum));
    for (int32_t k = 1; k <= x->def.step_count; k++) {
        const int32_t segment = (k - 1) / x->kept.segment;
        if (keep && (k - 1) % x->kept.segment == 0 && segment < x->kept.snapshot_count)
            bo_mb_snapshot_save(bo_mb_const(state), x->kept.snapshots + (size_t)segment * x->kept.snapshot_size);
        BO_TRY(take_step(ctx, x, k));
        if (keep)
            keep_step(x, k);
        BO_TRY(look_at_state(ctx, x, k, state->u, state->v, state->lambda, false, &sum));
    }
    x->tracked_value = sum;
    x->kept.now = keep ? x->kept.snapshot_count : -1;
    return BOUGH_OK;
}

/* The steps of a segment, from the state before it, with the same bits as the first time. */
static bough_status take_segment(bough_context *ctx, bough_adjoint *x, int32_t segment) {
    const int32_t first = segment * x->kept.segment + 1, end = first + x->kept.segment;
    x->kept.now = -1;
    for (int32_t k = first; k < end && k <= x->def.step_count; k++) {
        BO_TRY(take_step(ctx, x, k));
        keep_step(x, k);
        x->steps_again++;
    }
    x->kept.now = segment;
    return BOUGH_OK;
}

/* There is no snapshot before the last segment: the state gets there through the one before it. */
bough_status bo_adjoint_reach(bough_context *ctx, bough_adjoint *x, int32_t segment) {
    if (x->kept.now < 0)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "there is no simulation whose steps were kept");
    if (x->kept.now == segment)
        return BOUGH_OK;
    if (x->kept.now == segment - 1)
        return take_segment(ctx, x, segment);
    if (segment == x->kept.snapshot_count)
        BO_TRY(bo_adjoint_reach(ctx, x, segment - 1));
    else
        bo_mb_snapshot_restore(bo_mb(x->state), x->kept.snapshots + (size_t)segment * x->kept.snapshot_size);
    return take_segment(ctx, x, segment);
}

/* ---- shapes ---- */

bough_status bo_adjoint_shape_make(bough_context *ctx, const bough_adjoint *x, const bough_multibody_parameter *p,
                                   bo_adjoint_shape *shape) {
    const bough_multibody *const models[2] = {p->less, p->more};
    for (int side = 0; side < 2; side++) {
        BO_TRY(bo_mb_linear_make(ctx, models[side], &shape->linear[side]));
        if (!(shape->tracked[side] = BO_NEW_ZEROS(ctx, bo_tracked, x->def.tracked_count)))
            return BOUGH_ERROR_MEMORY;
        for (int32_t i = 0; i < x->def.tracked_count; i++)
            shape->tracked[side][i].face.part = -1;
        for (int32_t i = 0; i < x->def.tracked_count; i++)
            BO_TRY(bo_tracked_make_alike(ctx, models[side], &x->tracked[i], &shape->tracked[side][i]));
    }
    return BOUGH_OK;
}

void bo_adjoint_shape_free(bough_context *ctx, int32_t tracked_count, bo_adjoint_shape *shape) {
    for (int side = 0; side < 2; side++) {
        for (int32_t i = 0; shape->tracked[side] && i < tracked_count; i++)
            bo_tracked_free(ctx, &shape->tracked[side][i]);
        bo_free(ctx, shape->tracked[side]);
        if (shape->linear[side].model)
            bo_mb_linear_free(ctx, &shape->linear[side]);
    }
}

/* mu . dF by a parameter, at the moment at which a step, or an equilibrium, was linearised. */
static double by_parameter(bough_adjoint *x, int32_t p, bo_mb_linear *linear, bool equilibrium) {
    const bough_multibody_parameter *parameter = &x->parameters[p];
    if (parameter->kind != BOUGH_MULTIBODY_SHAPE)
        return bo_mb_linear_by_parameter(linear, parameter, x->mu);
    double along[2];
    for (int side = 0; side < 2; side++)
        along[side] = bo_mb_residual_along(&x->shapes[p].linear[side], &linear->at, equilibrium, x->mu);
    return (along[1] - along[0]) / parameter->change;
}

/* Frames on interfaces are elsewhere on a part of another shape, with the same coordinates: adds what that says. */
static bough_status look_at_shapes(bough_context *ctx, bough_adjoint *x, int32_t step, const double *u,
                                   const double *v) {
    for (int32_t p = 0; p < x->def.parameter_count; p++)
        for (int32_t i = 0; x->parameters[p].kind == BOUGH_MULTIBODY_SHAPE && i < x->def.tracked_count; i++) {
            double values[2];
            if (x->tracked[i].face.part < 0)
                continue;
            for (int side = 0; side < 2; side++)
                if (!bo_tracked_at(x->shapes[p].linear[side].model, &x->shapes[p].tracked[side][i], step, u, v, 0,
                                   &values[side], NULL))
                    return bo_fail(ctx, BOUGH_NOT_FINITE, "the interface of tracked frame %d is crushed at t = %g", i,
                                   x->start_time + step * x->def.dt);
            x->by_parameters[p] += bo_adjoint_weight(x, step) * (values[1] - values[0]) / x->parameters[p].change;
        }
    return BOUGH_OK;
}

/* ---- backwards ---- */

typedef struct {
    bough_adjoint *x;
    int32_t last; /* the step of the first linearisation; the others are those before it */
} batch;

bo_mb_moment bo_adjoint_moment(const bough_adjoint *x, int32_t step, double *motors) {
    const bo_kept_step r = bo_adjoint_step(x, step);
    for (int32_t m = 0; m < x->motor_count; m++) {
        const int64_t at = (int64_t)m * (x->def.step_count + 1) + step;
        motors[m] = x->place[at], motors[x->motor_count + m] = x->rate[at];
    }
    return (bo_mb_moment){.u = r.u,
                          .v = r.v,
                          .lambda = r.lambda,
                          .v_base = r.v_base,
                          .coordinates = r.coordinates,
                          .place = motors,
                          .rate = motors + x->motor_count,
                          .gravity = x->state->gravity,
                          .h = step == 1 ? x->def.dt : 2 * x->def.dt / 3};
}

/* Linearisations do not need each other: several are made side by side. */
static void linearise_one(void *data, int32_t i) {
    const batch *b = data;
    bo_adjoint_lane *lane = &b->x->lanes[i];
    const int32_t step = b->last - i;
    bo_mb_moment moment = bo_adjoint_moment(b->x, step, lane->motors);
    if (b->x->def.continuous) { /* the same accelerations, in a step of another length */
        const double h = step_backwards(b->x, step);
        for (int32_t k = 0; k < b->x->model->nv; k++)
            lane->v_base[k] = moment.v[k] - h / moment.h * (moment.v[k] - moment.v_base[k]);
        moment.v_base = lane->v_base, moment.h = h;
    }
    lane->good = bo_mb_linearise(&lane->linear, &moment);
}

/* Derivatives by Uhat and Vhat of step k go to steps k - 1 and k - 2: Uhat = U_k-1 + history (U_k-1 - U_k-2).
 * Quaternions are those of unit length at the end of each step; the step shortened both that it came from, by `shrink`
 * (NULL: by nothing). by_u_next and by_v_next hold what step k + 1 says of step k - 1, `next` times which counts, and
 * then what step k says of step k - 2. */
static void hand_back(bough_adjoint *x, const double *shrink, double history, double next) {
    const bough_multibody *model = x->model;
    for (int32_t i = 0; i < model->nu; i++) {
        const bool turns = i < 7 * model->body_count && i % 7 >= 3;
        const double scale = turns && shrink ? shrink[i / 7] : 1;
        x->by_u[i] = scale * ((1 + history) * x->by_u_base[i] + next * x->by_u_next[i]);
        x->by_u_next[i] = -history * scale * x->by_u_base[i];
    }
    for (int32_t i = 0; i < model->nv; i++) {
        x->by_v[i] = (1 + history) * x->by_v_base[i] + next * x->by_v_next[i];
        x->by_v_next[i] = -history * x->by_v_base[i];
    }
}

/* The continuous adjoint goes backwards by BDF2, too, and to the start by a straight line. */
static void hand_on(bough_adjoint *x, int32_t step, const double *shrink) {
    if (!x->def.continuous)
        hand_back(x, shrink, step == 1 ? 0 : 1. / 3, 1);
    else if (step == 1)
        hand_back(x, NULL, 1, 3); /* 2 x_1 - x_2, where -x_2 / 3 is kept */
    else
        hand_back(x, NULL, 1. / 3, 1);
}

static bough_status pull_step(bough_context *ctx, bough_adjoint *x, int32_t step, bo_adjoint_lane *lane) {
    const bough_multibody *model = x->model;
    const bo_kept_step r = bo_adjoint_step(x, step);
    /* In the continuous adjoint mu is h times the multiplier, and integrals are those of the trapezoidal rule. */
    const bool last = x->def.continuous && step == x->def.step_count;
    const double share = last ? 0 : x->def.continuous ? x->def.dt / step_backwards(x, step) : 1;
    double ignored = 0;
    if (!lane->good)
        return bo_fail(ctx, BOUGH_NO_CONVERGENCE, "the matrix of the time step is singular at t = %g",
                       x->start_time + step * x->def.dt);
    memset(x->by_xi, 0, (size_t)model->nv * sizeof *x->by_xi);
    BO_TRY(look_at_state(ctx, x, step, r.u, r.v, r.lambda, true, &ignored));
    bo_mb_add_displacements(model, r.u, x->by_xi, x->by_u);
    bo_mb_linear_pull(&lane->linear, x->by_u, x->by_v, x->by_lambda, x->mu, x->by_u_base, x->by_v_base);
    for (int32_t m = 0; m < x->motor_count; m++) {
        const int64_t at = (int64_t)m * (x->def.step_count + 1) + step;
        bo_mb_linear_by_motor(&lane->linear, m, x->mu, &x->by_place[at], &x->by_rate[at]);
        x->by_place[at] *= -share, x->by_rate[at] *= -share;
    }
    const double of_start = !x->def.continuous || step > 2 ? 1 : step == 2 ? 0.5 : 2; /* dt/2 of 2 f_1 - f_2 */
    for (int32_t p = 0; p < x->def.parameter_count; p++)
        x->by_parameters[p] -= of_start * share * by_parameter(x, p, &lane->linear, false);
    BO_TRY(look_at_shapes(ctx, x, step, r.u, r.v));
    hand_on(x, step, r.shrink);
    return BOUGH_OK;
}

/* The start as an equilibrium changes with the constants. */
static bough_status pull_equilibrium(bough_context *ctx, bough_adjoint *x) {
    bo_adjoint_lane *lane = &x->lanes[0];
    memset(x->by_v_base, 0, (size_t)x->model->nv * sizeof *x->by_v_base);
    for (int32_t m = 0; m < x->motor_count; m++)
        lane->motors[m] = x->place[(int64_t)m * (x->def.step_count + 1)], lane->motors[x->motor_count + m] = 0;
    const bo_mb_moment moment = {.u = x->start_u,
                                 .v = x->by_v_base,
                                 .lambda = x->start_lambda,
                                 .v_base = x->by_v_base,
                                 .coordinates = x->start_coordinates,
                                 .place = lane->motors,
                                 .rate = lane->motors + x->motor_count,
                                 .gravity = x->state->gravity,
                                 .h = 1};
    if (!bo_mb_linearise_equilibrium(&lane->linear, &moment) ||
        !bo_mb_linear_pull_equilibrium(&lane->linear, x->by_start, x->mu))
        return bo_fail(ctx, BOUGH_NO_CONVERGENCE,
                       "the start is no equilibrium that follows the constants of the model");
    for (int32_t p = 0; p < x->def.parameter_count; p++)
        x->by_parameters[p] -= by_parameter(x, p, &lane->linear, true);
    return BOUGH_OK;
}

static bough_status pull_start(bough_context *ctx, bough_adjoint *x) {
    const bough_multibody *model = x->model;
    double ignored = 0;
    memset(x->by_xi, 0, (size_t)model->nv * sizeof *x->by_xi);
    BO_TRY(look_at_state(ctx, x, 0, x->start_u, x->start_v, x->start_lambda, true, &ignored));
    bo_mb_add_displacements(model, x->start_u, x->by_xi, x->by_u);
    bo_mb_to_displacements(model, x->start_u, x->by_u, x->by_start);
    BO_TRY(look_at_shapes(ctx, x, 0, x->start_u, x->start_v));
    return x->def.start_settles && x->def.parameter_count > 0 ? pull_equilibrium(ctx, x) : BOUGH_OK;
}

/* The continuous adjoint has no steps at both ends of the motion: derivatives by motors there, which have half a weight,
 * continue those of the two neighbours. */
static void extend_to_ends(bough_adjoint *x) {
    const int32_t n = x->def.step_count;
    double *const all[2] = {x->by_place, x->by_rate};
    for (int32_t m = 0; m < x->motor_count; m++)
        for (int k = 0; k < 2; k++) {
            double *f = all[k] + (int64_t)m * (n + 1);
            f[0] = f[1] - 0.5 * f[2], f[n] = f[n - 1] - 0.5 * f[n - 2];
        }
}

bough_status bo_adjoint_backwards(bough_context *ctx, bough_adjoint *x) {
    const size_t nu = (size_t)x->model->nu, nv = (size_t)x->model->nv;
    x->steps_again = 0;
    memset(x->by_u, 0, nu * sizeof *x->by_u), memset(x->by_u_next, 0, nu * sizeof *x->by_u_next);
    memset(x->by_v, 0, nv * sizeof *x->by_v), memset(x->by_v_next, 0, nv * sizeof *x->by_v_next);
    memset(x->by_lambda, 0, (size_t)x->model->nc * sizeof *x->by_lambda);
    for (int32_t p = 0; p < x->def.parameter_count; p++)
        x->by_parameters[p] = 0;
    for (int32_t segment = x->kept.snapshot_count; segment >= 0; segment--) {
        const int32_t first = segment * x->kept.segment + 1;
        int32_t step = first + x->kept.segment - 1;
        step = step > x->def.step_count ? x->def.step_count : step;
        BO_TRY(bo_adjoint_reach(ctx, x, segment));
        while (step >= first) {
            const int32_t left = step - first + 1, count = left < x->lane_count ? left : x->lane_count;
            batch b = {x, step};
            bo_run_tasks(ctx, linearise_one, &b, count);
            for (int32_t i = 0; i < count; i++)
                BO_TRY(pull_step(ctx, x, step - i, &x->lanes[i]));
            step -= count;
        }
    }
    if (x->def.continuous)
        extend_to_ends(x);
    return pull_start(ctx, x);
}
