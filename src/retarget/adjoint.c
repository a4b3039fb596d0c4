/* Derivatives of motions: made, asked. */
#include "retarget/adjoint.h"

#include "base/threads.h"

#include <string.h>

#define ADJOINT_COOKIE 0xB0061061u
#define USUAL_TOLERANCE 1e-10 /* at which Newton's method ends in all other steps */
enum { MOST_LANES = 16 };

bough_adjoint_def bough_default_adjoint_def(void) {
    return (bough_adjoint_def){
        .cookie = ADJOINT_COOKIE, .dt = 2e-3, .held_points = -1, .megabytes = 256, .tolerance = USUAL_TOLERANCE};
}

/* ---- checks ---- */

/* True where positions, velocities and multipliers of one model can be read as those of the other. */
static bool are_alike(const bough_multibody *a, const bough_multibody *b) {
    bool alike = a->nu == b->nu && a->nv == b->nv && a->nc == b->nc && a->body_count == b->body_count &&
                 a->coordinate_count == b->coordinate_count && a->def.part_count == b->def.part_count &&
                 a->joint_count == b->joint_count && a->def.motor_count == b->def.motor_count;
    for (int32_t i = 0; alike && i < a->def.part_count; i++)
        alike = a->parts[i].r == b->parts[i].r && a->parts[i].first == b->parts[i].first &&
                a->parts[i].body == b->parts[i].body && !b->parts[i].full;
    for (int32_t i = 0; alike && i < a->joint_count; i++)
        alike = a->joints[i].kind == b->joints[i].kind && a->joints[i].row == b->joints[i].row;
    return alike;
}

static bough_status check_shape(bough_context *ctx, const bough_multibody *model, int32_t number,
                                const bough_multibody_parameter *p) {
    if (!p->less || !p->more || p->change == 0 || !isfinite(p->change))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "parameter %d is a shape: it needs two models and the change between them", number);
    if (!are_alike(model, p->less) || !are_alike(model, p->more))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "parameter %d is a shape, but its models have other bodies, parts or joints than the model",
                       number);
    return BOUGH_OK;
}

static bough_status check_parameter(bough_context *ctx, const bough_multibody *model, int32_t number,
                                    const bough_multibody_parameter *p) {
    const bough_multibody_def *d = &model->def;
    int32_t count = 0;
    switch (p->kind) {
    case BOUGH_MULTIBODY_YOUNG:
    case BOUGH_MULTIBODY_DAMPING_MASS:
    case BOUGH_MULTIBODY_DAMPING_STIFFNESS:
        count = d->part_count;
        break;
    case BOUGH_MULTIBODY_MASS:
        count = d->body_count;
        break;
    case BOUGH_MULTIBODY_JOINT_STIFFNESS:
    case BOUGH_MULTIBODY_JOINT_DAMPING:
        count = d->joint_count;
        break;
    case BOUGH_MULTIBODY_MOTOR_STIFFNESS:
    case BOUGH_MULTIBODY_MOTOR_DAMPING:
        count = d->motor_count;
        break;
    case BOUGH_MULTIBODY_SHAPE:
        return check_shape(ctx, model, number, p);
    case BOUGH_MULTIBODY_PARAMETER_KIND_COUNT:
        break;
    }
    if (p->index < 0 || p->index >= count)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "parameter %d is of number %d; there are %d", number, p->index,
                       count);
    if (p->kind == BOUGH_MULTIBODY_JOINT_STIFFNESS || p->kind == BOUGH_MULTIBODY_JOINT_DAMPING) {
        const int32_t freedoms = bough_joint_freedoms(d->joints[p->index].kind);
        if (p->freedom < 0 || p->freedom >= freedoms || d->joints[p->index].kind == BOUGH_JOINT_FREE)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                           "parameter %d is of freedom %d of a joint that has no spring there", number, p->freedom);
    }
    const bool of_motor = p->kind == BOUGH_MULTIBODY_MOTOR_STIFFNESS || p->kind == BOUGH_MULTIBODY_MOTOR_DAMPING;
    if (of_motor && isinf(d->motors[p->index].stiffness))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "parameter %d is of motor %d, which does not give way", number,
                       p->index);
    return BOUGH_OK;
}

static bough_status check_def(bough_context *ctx, const bough_multibody *model, const bough_motor_curves *curves,
                              const bough_adjoint_def *def) {
    if (def->cookie != ADJOINT_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "start from bough_default_adjoint_def()");
    if (!(def->dt > 0) || !isfinite(def->dt) || def->step_count < 1)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a motion of %d steps of %g s; both must be positive",
                       def->step_count, def->dt);
    if (def->continuous && def->step_count < 4)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the continuous adjoint needs 4 steps at least; there are %d",
                       def->step_count);
    for (int32_t p = 0; p < model->def.part_count; p++)
        if (model->parts[p].full)
            return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "gradients are of systems whose parts are reduced");
    if (curves->motor_count != model->def.motor_count)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "there are curves of %d motors for a model that has %d",
                       curves->motor_count, model->def.motor_count);
    if (!(def->input_weight >= 0) || !(def->acceleration_weight >= 0) || !(def->limit_weight >= 0) ||
        !isfinite(def->input_weight + def->acceleration_weight + def->limit_weight))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "weights of curves must be 0 or more, and finite");
    if (def->input_weight > 0 && !def->input)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the distance to an input has a weight, but there is no input");
    for (int32_t m = 0; def->limits && m < curves->motor_count; m++) {
        const bough_motor_limits *l = &def->limits[m];
        if (!(l->lowest <= l->highest) || !(l->speed > 0) || !(l->acceleration > 0) || !(l->force > 0))
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                           "motor %d: its limits are %g to %g, %g a second, %g a second squared and a force of %g; "
                           "nothing fits into them",
                           m, l->lowest, l->highest, l->speed, l->acceleration, l->force);
        if (isfinite(l->force) && bo_mb_motor_row(model, m) < 0)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "motor %d gives way; the limit of its force is in its def", m);
    }
    if (def->held_points < -1 || def->held_points > curves->point_count)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%d points of curves that have %d cannot be held", def->held_points,
                       curves->point_count);
    if (!(def->megabytes > 0) || !(def->tolerance > 0))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "megabytes and tolerance must be positive");
    for (int32_t p = 0; p < def->parameter_count; p++)
        BO_TRY(check_parameter(ctx, model, p, &def->parameters[p]));
    return BOUGH_OK;
}

/* ---- making ---- */

static bough_status reserve(bough_context *ctx, bough_adjoint *x) {
    const bough_multibody *model = x->model;
    const size_t nu = (size_t)model->nu, nv = (size_t)model->nv, nc = (size_t)model->nc;
    const size_t samples = (size_t)x->motor_count * (size_t)(x->def.step_count + 1);
    const struct {
        double **to;
        size_t count;
    } arrays[] = {{&x->start_u, nu},
                  {&x->start_v, nv},
                  {&x->start_lambda, nc},
                  {&x->start_coordinates, (size_t)model->coordinate_count},
                  {&x->place, samples},
                  {&x->rate, samples},
                  {&x->acceleration, samples},
                  {&x->by_place, samples},
                  {&x->by_rate, samples},
                  {&x->input, samples},
                  {&x->by_parameters, (size_t)x->def.parameter_count},
                  {&x->by_u, nu},
                  {&x->by_u_base, nu},
                  {&x->by_u_next, nu},
                  {&x->by_v, nv},
                  {&x->by_v_base, nv},
                  {&x->by_v_next, nv},
                  {&x->by_xi, nv},
                  {&x->by_start, nv},
                  {&x->by_term, nv},
                  {&x->by_term_rate, nv},
                  {&x->by_lambda, nc},
                  {&x->mu, nv + nc}};
    size_t total = 0;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        total += arrays[i].count;
    double *block = x->memory = BO_NEW_ZEROS(ctx, double, total);
    if (!block)
        return BOUGH_ERROR_MEMORY;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i].to = block, block += arrays[i].count;
    return BOUGH_OK;
}

static bough_status make_lanes(bough_context *ctx, bough_adjoint *x) {
    const int32_t threads = ctx->def.thread_count > 0 ? ctx->def.thread_count : bo_core_count();
    const int32_t count = threads < 2 ? 1 : 2 * threads > MOST_LANES ? MOST_LANES : 2 * threads;
    if (!(x->lanes = BO_NEW_ZEROS(ctx, bo_adjoint_lane, count)))
        return BOUGH_ERROR_MEMORY;
    for (x->lane_count = 0; x->lane_count < count;) {
        bo_adjoint_lane *lane = &x->lanes[x->lane_count++];
        BO_TRY(bo_mb_linear_make(ctx, x->model, &lane->linear));
        if (!(lane->motors = BO_NEW_ZEROS(ctx, double, 2 * x->motor_count + x->model->nv)))
            return BOUGH_ERROR_MEMORY;
        lane->v_base = lane->motors + 2 * x->motor_count;
    }
    return BOUGH_OK;
}

static bough_status make_tracked(bough_context *ctx, const bough_adjoint_def *def, bough_adjoint *x) {
    const size_t count = (size_t)def->tracked_count;
    if (!(x->tracked = BO_NEW_ZEROS(ctx, bo_tracked, count)) || !(x->paths = BO_NEW_ZEROS(ctx, const double *, count)))
        return BOUGH_ERROR_MEMORY;
    while (x->def.tracked_count < def->tracked_count) {
        const int32_t i = x->def.tracked_count++;
        BO_TRY(bo_tracked_make(ctx, x->model, &def->tracked[i], i, def->step_count, &x->tracked[i]));
        x->paths[i] = x->tracked[i].path;
    }
    return BOUGH_OK;
}

static void copy_start(const bough_multibody_state *start, bough_adjoint *x) {
    const bough_multibody *model = x->model;
    memcpy(x->start_u, start->u, (size_t)model->nu * sizeof(double));
    memcpy(x->start_v, start->v, (size_t)model->nv * sizeof(double));
    memcpy(x->start_lambda, start->lambda, (size_t)model->nc * sizeof(double));
    memcpy(x->start_coordinates, bo_mb_const(start)->work.coordinates,
           (size_t)model->coordinate_count * sizeof(double));
    memcpy(x->state->gravity, start->gravity, sizeof start->gravity);
    x->start_time = start->time;
    for (int32_t b = 0; b < model->body_count; b++) {
        double *q = x->start_u + 7 * b + 3;
        const double scale = 1 / sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        for (int k = 0; k < 4; k++)
            q[k] *= scale;
    }
}

static bough_status make(bough_context *ctx, const bough_multibody_state *start, const bough_adjoint_def *def,
                         bough_adjoint *x) {
    const size_t samples = (size_t)x->motor_count * (size_t)(def->step_count + 1);
    BO_TRY(make_tracked(ctx, def, x));
    BO_TRY(bough_multibody_state_create(ctx, x->model, &x->state));
    bo_mb(x->state)->exact = def->tolerance / USUAL_TOLERANCE;
    BO_TRY(reserve(ctx, x));
    if (!(x->parameters = BO_NEW_ARRAY(ctx, bough_multibody_parameter, def->parameter_count)) ||
        !(x->shapes = BO_NEW_ZEROS(ctx, bo_adjoint_shape, def->parameter_count)) ||
        !(x->limits = BO_NEW_ARRAY(ctx, bough_motor_limits, x->motor_count)))
        return BOUGH_ERROR_MEMORY;
    for (int32_t p = 0; p < def->parameter_count; p++)
        if (def->parameters[p].kind == BOUGH_MULTIBODY_SHAPE)
            BO_TRY(bo_adjoint_shape_make(ctx, x, &def->parameters[p], &x->shapes[p]));
    for (int32_t m = 0; m < x->motor_count; m++)
        x->limits[m] = def->limits ? def->limits[m] : bough_default_motor_limits();
    if (def->parameter_count > 0)
        memcpy(x->parameters, def->parameters, (size_t)def->parameter_count * sizeof *x->parameters);
    if (def->input)
        memcpy(x->input, def->input, samples * sizeof *x->input);
    x->def.tracked = NULL, x->def.input = NULL, x->def.parameters = NULL, x->def.limits = NULL; /* the caller's */
    copy_start(start, x);
    BO_TRY(make_lanes(ctx, x));
    return bo_kept_make(ctx, x, &x->kept);
}

bough_status bough_adjoint_create(bough_context *ctx, const bough_multibody *model, const bough_multibody_state *start,
                                  const bough_motor_curves *curves, const bough_adjoint_def *def, bough_adjoint **out) {
    *out = NULL;
    BO_TRY(check_def(ctx, model, curves, def));
    bough_adjoint *x = BO_NEW(ctx, bough_adjoint);
    if (!x)
        return BOUGH_ERROR_MEMORY;
    x->model = model, x->def = *def, x->def.tracked_count = 0;
    x->shape = bo_curves_shape(curves), x->motor_count = curves->motor_count;
    if (x->def.held_points < 0)
        x->def.held_points = curves->degree;
    const bough_status status = make(ctx, start, def, x);
    if (status != BOUGH_OK) {
        bough_adjoint_destroy(ctx, x);
        return status;
    }
    *out = x;
    return BOUGH_OK;
}

void bough_adjoint_destroy(bough_context *ctx, bough_adjoint *x) {
    if (!x)
        return;
    for (int32_t p = 0; x->shapes && p < x->def.parameter_count; p++)
        bo_adjoint_shape_free(ctx, x->def.tracked_count, &x->shapes[p]);
    for (int32_t i = 0; x->tracked && i < x->def.tracked_count; i++)
        bo_tracked_free(ctx, &x->tracked[i]);
    for (int32_t i = 0; i < x->lane_count; i++) {
        bo_mb_linear_free(ctx, &x->lanes[i].linear);
        bo_free(ctx, x->lanes[i].motors);
    }
    bough_multibody_state_destroy(ctx, x->state);
    bo_kept_free(ctx, &x->kept);
    bo_free(ctx, x->tracked);
    bo_free(ctx, x->paths);
    bo_free(ctx, x->parameters);
    bo_free(ctx, x->shapes);
    bo_free(ctx, x->limits);
    bo_free(ctx, x->lanes);
    bo_free(ctx, x->memory);
    bo_free(ctx, x);
}

/* ---- curves ---- */

double bo_adjoint_time(const bough_adjoint *x, int32_t step) {
    return x->start_time + step * x->def.dt;
}

static void follow(bough_adjoint *x, const double *points) {
    double *const to[3] = {x->place, x->rate, x->acceleration};
    for (int32_t k = 0; k <= x->def.step_count; k++) {
        bo_bspline_weights w;
        bo_bspline_at(&x->shape, bo_adjoint_time(x, k), &w);
        for (int32_t m = 0; m < x->motor_count; m++)
            for (int d = 0; d < 3; d++) {
                const double *p = points + (int64_t)x->shape.count * m + w.first;
                double sum = 0;
                for (int32_t j = 0; j <= x->shape.degree; j++)
                    sum += w.weights[d][j] * p[j];
                to[d][(int64_t)m * (x->def.step_count + 1) + k] = sum;
            }
    }
}

/* Ways that a curve goes beyond the limits of its motor. */
typedef struct {
    double place, rate, acceleration;
} excess;

static excess excess_of(const bough_adjoint *x, int32_t motor, int64_t at) {
    const bough_motor_limits *l = &x->limits[motor];
    return (excess){bo_beyond(x->place[at], l->lowest, l->highest), bo_beyond(x->rate[at] / l->speed, -1, 1),
                    bo_beyond(x->acceleration[at] / l->acceleration, -1, 1)};
}

/* The share of one motor at one time; by: its derivatives by place, rate and acceleration. */
static double look_at_motor(const bough_adjoint *x, int32_t motor, int64_t at, double by[3]) {
    const double away = x->place[at] - x->input[at], pull = x->acceleration[at];
    const double near = x->def.input_weight, calm = x->def.acceleration_weight, limit = x->def.limit_weight;
    const excess e = excess_of(x, motor, at);
    by[0] = near * away + limit * e.place;
    by[1] = limit * e.rate / x->limits[motor].speed;
    by[2] = calm * pull + limit * e.acceleration / x->limits[motor].acceleration;
    return 0.5 * (near * away * away + calm * pull * pull +
                  limit * (e.place * e.place + e.rate * e.rate + e.acceleration * e.acceleration));
}

/* Shares of the curves themselves; by_points (may be NULL): the derivatives of everything. */
static double look_at_curves(const bough_adjoint *x, double *by_points) {
    const int32_t n = x->def.step_count;
    double sum = 0;
    if (by_points)
        memset(by_points, 0, (size_t)x->motor_count * (size_t)x->shape.count * sizeof *by_points);
    for (int32_t k = 0; k <= n; k++) {
        const double weight = bo_adjoint_weight(x, k);
        bo_bspline_weights w;
        bo_bspline_at(&x->shape, bo_adjoint_time(x, k), &w);
        for (int32_t m = 0; m < x->motor_count; m++) {
            const int64_t at = (int64_t)m * (n + 1) + k;
            double by[3];
            sum += weight * look_at_motor(x, m, at, by);
            if (!by_points)
                continue;
            double *to = by_points + (int64_t)x->shape.count * m + w.first;
            for (int32_t j = 0; j <= x->shape.degree; j++)
                to[j] += w.weights[0][j] * (x->by_place[at] + weight * by[0]) +
                         w.weights[1][j] * (x->by_rate[at] + weight * by[1]) + w.weights[2][j] * weight * by[2];
        }
    }
    for (int32_t m = 0; by_points && m < x->motor_count; m++)
        memset(by_points + (int64_t)x->shape.count * m, 0, (size_t)x->def.held_points * sizeof *by_points);
    return sum;
}

/* Second derivatives of one motor's share at one time by place, rate and acceleration; mixed ones are zero. */
static void bend_of_motor(const bough_adjoint *x, int32_t motor, int64_t at, double bend[3]) {
    const bough_motor_limits *l = &x->limits[motor];
    const excess e = excess_of(x, motor, at);
    bend[0] = x->def.input_weight + (e.place != 0 ? x->def.limit_weight : 0);
    bend[1] = e.rate != 0 ? x->def.limit_weight / (l->speed * l->speed) : 0;
    bend[2] = x->def.acceleration_weight +
              (e.acceleration != 0 ? x->def.limit_weight / (l->acceleration * l->acceleration) : 0);
}

void bo_adjoint_add_curvature(const bough_adjoint *x, double *H) {
    const int64_t size = (int64_t)x->motor_count * x->shape.count;
    for (int32_t k = 0; k <= x->def.step_count; k++) {
        bo_bspline_weights w;
        bo_bspline_at(&x->shape, bo_adjoint_time(x, k), &w);
        for (int32_t m = 0; m < x->motor_count; m++) {
            const int64_t first = (int64_t)x->shape.count * m + w.first;
            const int32_t held = x->def.held_points - w.first;
            double bend[3];
            bend_of_motor(x, m, (int64_t)m * (x->def.step_count + 1) + k, bend);
            for (int32_t i = held > 0 ? held : 0; i <= x->shape.degree; i++)
                for (int32_t j = held > 0 ? held : 0; j <= x->shape.degree; j++)
                    for (int d = 0; d < 3; d++)
                        H[size * (first + i) + first + j] +=
                            bo_adjoint_weight(x, k) * bend[d] * w.weights[d][i] * w.weights[d][j];
        }
    }
}

/* ---- asking ---- */

static bough_status run(bough_context *ctx, bough_adjoint *x, const double *points, bool keep) {
    for (int64_t i = 0; i < (int64_t)x->motor_count * x->shape.count; i++)
        if (!isfinite(points[i]))
            return bo_fail(ctx, BOUGH_NOT_FINITE, "point %d of the curve of motor %d is not a finite number",
                           (int)(i % x->shape.count), (int)(i / x->shape.count));
    follow(x, points);
    return bo_adjoint_forwards(ctx, x, keep);
}

bough_status bough_adjoint_value(bough_context *ctx, bough_adjoint *x, const double *points, double *value) {
    BO_TRY(run(ctx, x, points, false));
    *value = x->value = x->tracked_value + look_at_curves(x, NULL);
    return BOUGH_OK;
}

bough_status bo_adjoint_try(bough_context *ctx, bough_adjoint *x, const double *points, double *value) {
    BO_TRY(run(ctx, x, points, true));
    *value = x->value = x->tracked_value + look_at_curves(x, NULL);
    return BOUGH_OK;
}

bough_status bo_adjoint_pull(bough_context *ctx, bough_adjoint *x, double *by_points) {
    BO_TRY(bo_adjoint_backwards(ctx, x));
    if (by_points)
        look_at_curves(x, by_points);
    return BOUGH_OK;
}

bough_status bough_adjoint_gradient(bough_context *ctx, bough_adjoint *x, const double *points, double *value,
                                    double *by_points, double *by_parameters) {
    BO_TRY(bo_adjoint_try(ctx, x, points, value));
    BO_TRY(bo_adjoint_pull(ctx, x, by_points));
    if (by_parameters)
        memcpy(by_parameters, x->by_parameters, (size_t)x->def.parameter_count * sizeof *by_parameters);
    return BOUGH_OK;
}

void bough_adjoint_look(const bough_adjoint *x, bough_adjoint_view *view) {
    const int64_t numbers =
        (int64_t)x->kept.size * x->kept.segment + (int64_t)x->kept.snapshot_size * x->kept.snapshot_count;
    *view = (bough_adjoint_view){.place = x->place,
                                 .rate = x->rate,
                                 .by_place = x->by_place,
                                 .by_rate = x->by_rate,
                                 .by_start_displacement = x->by_start,
                                 .by_start_velocity = x->by_v,
                                 .paths = x->paths,
                                 .value = x->value,
                                 .tracked_value = x->tracked_value,
                                 .step_count = x->def.step_count,
                                 .steps_again = x->steps_again,
                                 .bytes = numbers * (int64_t)sizeof(double)};
}
