/* Steps of reduced models by the methods of the time room. docs/theory/mechanism.md, "Other integrators". */
#include "mechanism/step.h"

#include "dense/cholesky.h"
#include "time/integrator.h"

#include <float.h>
#include <string.h>

/* M z'' = Q^T w + load + weight g - K (z - z_rest) - D z' with constant matrices: what pushes is the same for all of a
 * step. */
struct bough_mechanism_stepper {
    const bough_mechanism_model *model;
    bough_mechanism_state *state;
    bo_system system;
    bo_integrator *method;
    bo_motion motion;
    double *push;          /* rank: all but the springs; these pull to: */
    double *goal;          /* rank */
    double *factor;        /* rank x rank */
    double *end_q, *end_v; /* rank: that the last step left: a state that stands elsewhere was put there */
    double end_gravity[3]; /* of the last step */
    double *history;       /* of the method, before the step */
    double *block;
    double coefficients[3]; /* of the factor: a M + b D + c K */
};

/* ---- the system ---- */

static bough_status force(void *data, double t, const double *q, double *U, double *f) {
    const bough_mechanism_stepper *s = data;
    double energy = 0;
    (void)t;
    for (int32_t k = 0; k < s->model->rank; k++) {
        const double stretch = q[k] - s->goal[k], pull = s->model->Kz[k] * stretch;
        f[k] = s->push[k] - pull;
        energy += 0.5 * pull * stretch - s->push[k] * q[k];
    }
    if (U)
        *U = energy;
    return BOUGH_OK;
}

static void multiply(void *data, bo_matrix which, const double *x, double *y) {
    const bough_mechanism_model *model = ((const bough_mechanism_stepper *)data)->model;
    const double *A = which == BO_MATRIX_M ? model->Mz : model->Dz;
    for (int32_t i = 0; i < model->rank; i++) {
        y[i] = which == BO_MATRIX_K ? model->Kz[i] * x[i] : 0;
        for (int32_t j = 0; j < model->rank && which != BO_MATRIX_K; j++)
            y[i] += A[(size_t)i * (size_t)model->rank + (size_t)j] * x[j];
    }
}

/* Matrices are constant: the same combination need not be factored again. */
static bough_status factor(void *data, double a, double b, double c) {
    bough_mechanism_stepper *s = data;
    const bough_mechanism_model *model = s->model;
    const int32_t n = model->rank;
    if (s->coefficients[0] == a && s->coefficients[1] == b && s->coefficients[2] == c)
        return BOUGH_OK;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++)
            s->factor[i * n + j] =
                a * model->Mz[i * n + j] + b * model->Dz[i * n + j] + (i == j ? c * model->Kz[i] : 0);
    const bool good = bo_cholesky_factor(n, s->factor);
    s->coefficients[0] = good ? a : NAN, s->coefficients[1] = b, s->coefficients[2] = c;
    return good ? BOUGH_OK
                : bo_fail(s->method->ctx, BOUGH_ERROR_SINGULAR,
                          "the matrix of a step of the mechanism is not positive definite: masses or stiffnesses are "
                          "too far apart");
}

static bough_status solve(void *data, const double *b, double *x) {
    const bough_mechanism_stepper *s = data;
    memmove(x, b, (size_t)s->model->rank * sizeof *x);
    bo_cholesky_solve(s->model->rank, s->factor, x);
    return BOUGH_OK;
}

/* b of D = b K, as joints have that are all damped alike; NAN: D is another. */
static double stiffness_damping(const bough_mechanism_model *model) {
    const int32_t n = model->rank;
    double most = 0, off = 0;
    const double b = model->Dz[0] / model->Kz[0];
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) {
            const double scale = sqrt(model->Kz[i] * model->Kz[j]), d = model->Dz[i * n + j];
            most = fmax(most, fabs(d) / scale);
            off = fmax(off, fabs(d - (i == j ? b * model->Kz[i] : 0)) / scale);
        }
    return off <= 1e-10 * most ? b : NAN;
}

/* ---- its life ---- */

void bough_mechanism_stepper_destroy(bough_context *ctx, bough_mechanism_stepper *stepper) {
    if (!stepper)
        return;
    bo_integrator_destroy(ctx, stepper->method);
    bo_free(ctx, stepper->block);
    bo_free(ctx, stepper);
}

static bough_status fill(bough_context *ctx, const bough_integrator_def *def, bough_mechanism_stepper *s) {
    const size_t rank = (size_t)s->model->rank;
    const double b = stiffness_damping(s->model);
    s->system = (bo_system){.data = s,
                            .size = s->model->rank,
                            .position_size = s->model->rank,
                            .has_potential = true,
                            .rayleigh_mass = isnan(b) ? NAN : 0,
                            .rayleigh_stiffness = b,
                            .force = force,
                            .linearise = bo_system_keep_stiffness,
                            .damp = bo_system_keep_damping,
                            .multiply = multiply,
                            .factor = factor,
                            .solve = solve};
    BO_TRY(bo_integrator_create(ctx, &s->system, def, &s->method));
    const size_t history = (size_t)bo_integrator_history_size(s->method);
    s->block = BO_NEW_ZEROS(ctx, double, 7 * rank + rank * rank + history);
    if (!s->block)
        return bo_fail_memory(ctx);
    s->motion = (bo_motion){.q = s->block, .v = s->block + rank, .a = s->block + 2 * rank};
    s->push = s->block + 3 * rank, s->goal = s->push + rank, s->factor = s->goal + rank;
    s->end_q = s->factor + rank * rank, s->end_v = s->end_q + rank, s->history = s->end_v + rank;
    return BOUGH_OK;
}

bough_status bough_mechanism_stepper_create(bough_context *ctx, const bough_mechanism_model *model,
                                            bough_mechanism_state *state, const bough_integrator_def *def,
                                            bough_mechanism_stepper **stepper) {
    const bough_integrator_def defaults = bough_default_integrator_def();
    *stepper = NULL;
    if (model->free_base)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "a mechanism with a free base moves by backward Euler (bough_mechanism_step) only; the other "
                       "integrators need a held base");
    bough_mechanism_stepper *s = BO_NEW(ctx, bough_mechanism_stepper);
    if (!s)
        return bo_fail_memory(ctx);
    s->model = model, s->state = state;
    const bough_status status = fill(ctx, def ? def : &defaults, s);
    if (status != BOUGH_OK)
        bough_mechanism_stepper_destroy(ctx, s);
    else
        *stepper = s;
    return status;
}

/* ---- steps ---- */

/* y = A x for A (rows x columns); y += A^T x */
static void times(int32_t rows, int32_t columns, const double *A, const double *x, double *y) {
    for (int32_t i = 0; i < rows; i++) {
        y[i] = 0;
        for (int32_t k = 0; k < columns; k++)
            y[i] += A[(size_t)i * (size_t)columns + (size_t)k] * x[k];
    }
}
static void add_transposed(int32_t rows, int32_t columns, const double *A, const double *x, double *y) {
    for (int32_t i = 0; i < rows; i++)
        for (int32_t k = 0; k < columns; k++)
            y[k] += A[(size_t)i * (size_t)columns + (size_t)k] * x[i];
}

static void read_state(bough_mechanism_stepper *s) {
    const bough_mechanism_model *model = s->model;
    const bough_mechanism_state *state = s->state;
    const int32_t n = 6 * model->end_effector_count, rank = model->rank;
    double g[3];
    bo_store3(g, bo_mat_tvec(bo_pose(&state->base).R, bo_load3(state->gravity)));
    bo_mechanism_coordinates(model, state->xi, state->internal, s->motion.q);
    bo_mechanism_coordinates(model, state->phi, state->internal_rate, s->motion.v);
    s->motion.t = state->time;
    times(rank, 3, model->weight, g, s->push);
    for (int32_t k = 0; k < rank; k++)
        s->push[k] += state->load[k];
    add_transposed(n, rank, model->Q, state->wrench, s->push);
    memcpy(s->goal, model->rest_z, (size_t)rank * sizeof(double));
    add_transposed(model->motor_count, rank, model->motor_z, state->motors, s->goal);
}

/* The method's memory is useless after a jump of the state or of its weight. An acceleration that is not of its own
 * balance follows from the forces, which may have changed. */
static void notice_jumps(bough_mechanism_stepper *s) {
    const size_t bytes = (size_t)s->model->rank * sizeof(double);
    if (memcmp(s->end_q, s->motion.q, bytes) != 0 || memcmp(s->end_v, s->motion.v, bytes) != 0 ||
        memcmp(s->end_gravity, s->state->gravity, sizeof s->end_gravity) != 0)
        bo_integrator_restart(s->method);
    if (!s->method->method->carries_balance)
        s->method->has_acceleration = false;
}

/* As the next step will read it. */
static void remember_end(bough_mechanism_stepper *s) {
    bo_mechanism_coordinates(s->model, s->state->xi, s->state->internal, s->end_q);
    bo_mechanism_coordinates(s->model, s->state->phi, s->state->internal_rate, s->end_v);
}

bough_status bough_mechanism_stepper_step(bough_context *ctx, bough_mechanism_stepper *s, double dt) {
    const bough_mechanism_model *model = s->model;
    const int32_t n = 6 * model->end_effector_count, rank = model->rank, directions = rank - model->internal_count;
    bough_mechanism_state *state = s->state;
    s->method->ctx = ctx;
    read_state(s);
    if (!bo_all_finite(rank, s->push) || !bo_all_finite(rank, s->motion.q) || !bo_all_finite(rank, s->motion.v))
        return bo_fail(ctx, BOUGH_NOT_FINITE,
                       "a step of the mechanism is not finite: check its wrenches and velocities");
    notice_jumps(s);
    bo_integrator_save(s->method, s->history);
    const bough_status status = bo_integrator_step(s->method, dt, &s->motion);
    if (status != BOUGH_OK) {
        bo_integrator_restore(s->method, s->history);
        return status;
    }
    times(n, rank, model->Q, s->motion.q, state->xi);
    times(n, rank, model->Q, s->motion.v, state->phi);
    memcpy(state->internal, s->motion.q + directions, (size_t)model->internal_count * sizeof(double));
    memcpy(state->internal_rate, s->motion.v + directions, (size_t)model->internal_count * sizeof(double));
    remember_end(s);
    memcpy(s->end_gravity, state->gravity, sizeof s->end_gravity);
    bo_mechanism_clear_loads(model, state);
    state->time += dt;
    return BOUGH_OK;
}

/* ---- memory ---- */

int64_t bough_mechanism_stepper_memory_size(const bough_mechanism_stepper *s) {
    return s->model->rank + 3 + bo_integrator_history_size(s->method);
}

void bough_mechanism_stepper_save(const bough_mechanism_stepper *s, double *memory) {
    memcpy(memory, s->motion.a, (size_t)s->model->rank * sizeof *memory);
    memcpy(memory + s->model->rank, s->end_gravity, sizeof s->end_gravity);
    bo_integrator_save(s->method, memory + s->model->rank + 3);
}

void bough_mechanism_stepper_restore(bough_mechanism_stepper *s, const double *memory) {
    memcpy(s->motion.a, memory, (size_t)s->model->rank * sizeof *memory);
    memcpy(s->end_gravity, memory + s->model->rank, sizeof s->end_gravity);
    bo_integrator_restore(s->method, memory + s->model->rank + 3);
    remember_end(s);
}
