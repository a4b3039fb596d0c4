#include "retarget/feedback.h"

#include "base/rotation.h"
#include "dense/riccati.h"

#include <string.h>

#define LEAST_RATIO 1e-3 /* of damping, in the design: what no motor reaches has to decay by itself */
enum { MOST_MODES = 16 };

bo_feedback_def bo_default_feedback_def(void) {
    return (bo_feedback_def){.every = 0.1,
                             .pose_count = 1,
                             .dt = 2e-3,
                             .mode_count = 4,
                             .least_strength = 0.01,
                             .place = 1,
                             .effort = 1,
                             .patience = 0.5};
}

static bough_status check(bough_context *ctx, const bo_feedback_def *def) {
    if (def->pose_count < 1 || !(def->every > 0) || !isfinite(def->from) || !isfinite(def->every))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a feedback needs a pose at least, and a time above 0 between poses");
    if (!(def->dt > 0) || !isfinite(def->dt))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the steps of a feedback are %g s; they must be above 0", def->dt);
    if (!(def->place > 0 && def->effort > 0) || !isfinite(def->place) || !isfinite(def->effort))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the weights of a feedback are %g and %g; they must be above 0",
                       def->place, def->effort);
    if (!(def->patience > 0))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the patience of a feedback is %g periods; it must be above 0",
                       def->patience);
    if (def->mode_count < 1 || def->mode_count > MOST_MODES)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a feedback is asked for %d modes; it takes 1 to %d", def->mode_count,
                       MOST_MODES);
    return BOUGH_OK;
}

/* ---- the regulator of one pose ---- */

/* The small system: its state is (z, z', c, c') of chosen modes and all motors, its input c''. */
typedef struct {
    int32_t modes, motors, n; /* n = 2 modes + 2 motors */
    double *A, *B, *Ad, *Bd;  /* n x n, n x motors */
    double *Q, *R, *X, *L;    /* n x n, motors x motors, n x n, motors x n */
    double *scratch;
    int32_t *pivots;
    double *memory;
} regulator;

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

static bough_status make_regulator(bough_context *ctx, int32_t modes, int32_t motors, regulator *r) {
    const size_t n = 2 * (size_t)(modes + motors), m = (size_t)motors;
    const size_t scratch = larger(4 * (n + m) * (n + m), (size_t)bo_riccati_scratch((int)n, motors));
    *r = (regulator){.modes = modes, .motors = motors, .n = (int32_t)n};
    double *block = r->memory = BO_NEW_ZEROS(ctx, double, 4 * n * n + 3 * n * m + m * m + scratch);
    r->pivots = BO_NEW_ZEROS(ctx, int32_t, n);
    if (!block || !r->pivots)
        return BOUGH_ERROR_MEMORY;
    r->A = block, r->Ad = block + n * n, r->Q = block + 2 * n * n, r->X = block + 3 * n * n, block += 4 * n * n;
    r->B = block, r->Bd = block + n * m, r->L = block + 2 * n * m, block += 3 * n * m;
    r->R = block, r->scratch = block + m * m;
    return BOUGH_OK;
}

static void free_regulator(bough_context *ctx, regulator *r) {
    bo_free(ctx, r->memory);
    bo_free(ctx, r->pivots);
    *r = (regulator){0};
}

/* z'' = -omega^2 z - 2 ratio omega z' - drag c' - inertia c''. */
static void fill_system(const bo_vibrations *v, const int32_t *chosen, regulator *r) {
    const int32_t n = r->n, modes = r->modes, motors = r->motors, c = 2 * modes;
    for (int32_t i = 0; i < modes; i++) {
        const int32_t k = chosen[i];
        double *row = r->A + n * (modes + i);
        r->A[n * i + modes + i] = 1;
        row[i] = -v->omega[k] * v->omega[k];
        row[modes + i] = -2 * fmax(v->ratio[k], LEAST_RATIO) * v->omega[k];
        for (int32_t m = 0; m < motors; m++) {
            row[c + motors + m] = -v->drag[motors * k + m];
            r->B[motors * (modes + i) + m] = -v->inertia[motors * k + m];
        }
    }
    for (int32_t m = 0; m < motors; m++)
        r->A[n * (c + m) + c + motors + m] = 1, r->B[motors * (c + motors + m) + m] = 1;
}

/* All in squares of lengths by which frames move: vibrations z and z' / omega, corrections, and accelerations over the
 * square of the strongest mode's frequency. */
static void fill_weights(const bo_vibrations *v, const int32_t *chosen, const bo_feedback_def *def, regulator *r) {
    const int32_t n = r->n, modes = r->modes, motors = r->motors, c = 2 * modes;
    const double first = v->omega[chosen[0]];
    double reach = 0;
    for (int32_t i = 0; i < modes; i++) {
        const double square = v->seen[chosen[i]] * v->seen[chosen[i]], omega = v->omega[chosen[i]];
        r->Q[(n + 1) * i] = square;
        r->Q[(n + 1) * (modes + i)] = square / (omega * omega);
    }
    for (int32_t m = 0; m < motors; m++)
        reach = fmax(reach, v->reach[m]);
    for (int32_t m = 0; m < motors; m++) { /* a motor that moves no frame is not free of cost */
        const double square = pow(fmax(v->reach[m], 1e-2 * reach), 2);
        r->Q[(n + 1) * (c + m)] = def->place * square;
        r->R[(motors + 1) * m] = def->effort * square / pow(first, 4);
    }
}

/* The largest modulus of the eigenvalues of the closed loop, by the norm of a high power: |A^N|^(1/N). */
static double find_radius(const regulator *r) {
    const int32_t n = r->n, squarings = 14;
    double *A = r->scratch, *next = A + n * n, logarithm = 0, scale = 1;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) {
            double sum = r->Ad[n * i + j];
            for (int32_t m = 0; m < r->motors; m++)
                sum -= r->Bd[r->motors * i + m] * r->L[n * m + j];
            A[n * i + j] = sum;
        }
    for (int32_t s = 0; s <= squarings; s++) {
        double most = 0;
        for (int32_t i = 0; i < n * n; i++)
            most = fmax(most, fabs(A[i]));
        if (!(most > 0))
            return 0;
        logarithm += log(most) * scale, scale /= 2;
        for (int32_t i = 0; i < n * n; i++)
            A[i] /= most, next[i] = 0;
        for (int32_t i = 0; i < n; i++)
            for (int32_t k = 0; k < n; k++)
                for (int32_t j = 0; j < n; j++)
                    next[n * i + j] += A[n * i + k] * A[n * k + j];
        memcpy(A, next, (size_t)n * (size_t)n * sizeof *A);
    }
    return exp(logarithm);
}

/* ---- gains of displacements ---- */

/* From the axes of the world to those of bodies at u: gains of shifts and turns, in which they change little when a
 * body turns. */
static void turn_gains(int32_t body_count, const double *u, double *gains) {
    for (int32_t b = 0; b < 2 * body_count; b++) { /* shift and turn of each */
        const double *q = u + 7 * (b / 2) + 3;
        const bo_mat3 axes = bo_quat_to_matrix((bo_quat){q[0], q[1], q[2], q[3]});
        bo_store3(gains + 3 * b, bo_mat_tvec(axes, bo_load3(gains + 3 * b)));
    }
}

/* to += s from */
static void add(int32_t count, double s, const double *from, double *to) {
    for (int32_t i = 0; i < count; i++)
        to[i] += s * from[i];
}

/* u = -(L_z z + L_z' z' + L_c c + L_c' c') with z = rows x - inertia c, as sums over modes. */
static void spread_gains(const regulator *r, const bo_vibrations *v, const int32_t *chosen, int32_t body_count,
                         const double *u, bo_feedback_gains *g) {
    const int32_t n = r->n, modes = r->modes, motors = r->motors, size = v->size;
    for (int32_t m = 0; m < motors; m++) {
        const double *L = r->L + n * m;
        const int32_t row = size * m, small = motors * m;
        add(motors, 1, L + 2 * modes, g->place + small);
        add(motors, 1, L + 2 * modes + motors, g->swing_rate + small);
        for (int32_t i = 0; i < modes; i++) {
            const int32_t k = chosen[i];
            const double *rows = v->rows + (size_t)size * (size_t)k, *inertia = v->inertia + motors * k;
            const double L_soft = L[i] / (v->omega[k] * v->omega[k]);
            add(size, L[i], rows, g->bend + row), add(motors, L[i], inertia, g->bend_place + small);
            add(size, L[modes + i], rows, g->swing + row), add(motors, -L[modes + i], inertia, g->swing_rate + small);
            add(size, L_soft, rows, g->soft + row), add(motors, L_soft, inertia, g->soft_rate + small);
        }
        turn_gains(body_count, u, g->bend + row);
        turn_gains(body_count, u, g->swing + row);
        turn_gains(body_count, u, g->soft + row);
    }
}

static bough_status regulate(bough_context *ctx, const bo_vibrations *v, int32_t count, const int32_t *chosen,
                             const bo_feedback_def *def, double time, regulator *r) {
    BO_TRY(make_regulator(ctx, count, v->motor_count, r));
    fill_system(v, chosen, r);
    fill_weights(v, chosen, def, r);
    bo_sample_system(r->n, r->motors, r->A, r->B, def->dt, r->Ad, r->Bd, r->scratch);
    if (!bo_riccati_solve(r->n, r->motors, r->Ad, r->Bd, r->Q, r->R, r->X, r->L, r->scratch, r->pivots))
        return bo_fail(ctx, BOUGH_NO_CONVERGENCE, "no feedback was found for the pose at t = %g", time);
    return BOUGH_OK;
}

static bough_status design_pose(bough_context *ctx, const bough_multibody *model, bough_multibody_state *state,
                                const bo_feedback_def *def, int32_t pose, bo_feedback *f) {
    bo_vibrations v;
    regulator r = {0};
    int32_t chosen[MOST_MODES];
    f->radius[pose] = 1;
    bough_status status = bo_vibrations_find(ctx, model, state, def->frame_count, def->frames, &v);
    const int32_t count =
        status == BOUGH_OK ? bo_vibrations_choose(&v, def->least_strength, 0, def->mode_count, chosen) : 0;
    if (count > 0)
        status = regulate(ctx, &v, count, chosen, def, state->time, &r);
    if (count > 0 && status == BOUGH_OK) {
        spread_gains(&r, &v, chosen, f->body_count, state->u, &f->gains[pose]);
        f->radius[pose] = find_radius(&r);
        if (!isfinite(f->offset_time)) /* the first pose with a mode */
            f->offset_time = def->patience * 2 * M_PI / v.omega[chosen[0]];
    }
    f->mode_counts[pose] = count;
    free_regulator(ctx, &r);
    bo_vibrations_free(ctx, &v);
    return status;
}

/* ---- design ---- */

static bough_status make_feedback(bough_context *ctx, const bough_multibody *model, const bo_feedback_def *def,
                                  bo_feedback **out) {
    bo_feedback *f = *out = BO_NEW(ctx, bo_feedback);
    if (!f)
        return BOUGH_ERROR_MEMORY;
    const size_t m = (size_t)model->def.motor_count, n = (size_t)model->nv, poses = (size_t)def->pose_count;
    const size_t one = 3 * m * n + 4 * m * m;
    f->motor_count = model->def.motor_count, f->size = model->nv, f->body_count = model->body_count;
    f->pose_count = def->pose_count, f->from = def->from, f->every = def->every, f->dt = def->dt;
    f->offset_time = INFINITY;
    f->gains = BO_NEW_ZEROS(ctx, bo_feedback_gains, poses);
    f->mode_counts = BO_NEW_ZEROS(ctx, int32_t, poses);
    f->memory = BO_NEW_ZEROS(ctx, double, poses *(one + 1));
    if (!f->gains || !f->mode_counts || !f->memory)
        return BOUGH_ERROR_MEMORY;
    f->radius = f->memory + poses * one;
    for (size_t k = 0; k < poses; k++) {
        double *large = f->memory + k * one, *small = large + 3 * m * n;
        f->gains[k] = (bo_feedback_gains){.bend = large,
                                          .swing = large + m * n,
                                          .soft = large + 2 * m * n,
                                          .place = small,
                                          .bend_place = small + m * m,
                                          .swing_rate = small + 2 * m * m,
                                          .soft_rate = small + 3 * m * m};
    }
    return BOUGH_OK;
}

void bo_feedback_destroy(bough_context *ctx, bo_feedback *f) {
    if (f) {
        bo_free(ctx, f->gains);
        bo_free(ctx, f->mode_counts);
        bo_free(ctx, f->memory);
    }
    bo_free(ctx, f);
}

static bough_status design_all(bough_context *ctx, const bough_multibody *model, bough_multibody_state *state,
                               const bo_feedback_def *def, bo_feedback *f) {
    state->time = def->from;
    BO_TRY(bough_multibody_settle(ctx, model, state));
    for (int32_t k = 0; k < def->pose_count; k++) {
        if (k > 0)
            BO_TRY(bough_multibody_follow(ctx, model, state, def->from + k * def->every, NULL));
        BO_TRY(design_pose(ctx, model, state, def, k, f));
        if (!bo_progress(ctx, "designing the feedback", (k + 1.) / def->pose_count, "pose %d", k))
            return bo_fail_cancelled(ctx);
    }
    return BOUGH_OK;
}

bough_status bo_feedback_design(bough_context *ctx, const bough_multibody *model, const bough_multibody_state *state,
                                const bo_feedback_def *def, bo_feedback **feedback) {
    bough_multibody_state *copy = NULL;
    *feedback = NULL;
    BO_TRY(check(ctx, def));
    bough_status status = make_feedback(ctx, model, def, feedback);
    if (status == BOUGH_OK)
        status = bo_copy_state(ctx, model, state, &copy);
    if (status == BOUGH_OK)
        status = design_all(ctx, model, copy, def, *feedback);
    bough_multibody_state_destroy(ctx, copy);
    if (status != BOUGH_OK) {
        bo_feedback_destroy(ctx, *feedback);
        *feedback = NULL;
    }
    return status;
}

/* ---- commands ---- */

bough_status bo_correction_make(bough_context *ctx, const bo_feedback *f, bo_correction *c) {
    const size_t n = (size_t)f->motor_count;
    double *block = BO_NEW_ZEROS(ctx, double, 6 * n);
    *c = (bo_correction){.place = block};
    if (!block)
        return BOUGH_ERROR_MEMORY;
    c->rate = block + n, c->acceleration = block + 2 * n, c->offset = block + 3 * n;
    c->bend = block + 4 * n, c->soft = block + 5 * n;
    return BOUGH_OK;
}

void bo_correction_free(bough_context *ctx, bo_correction *c) {
    bo_free(ctx, c->place);
    *c = (bo_correction){0};
}

/* Gains between two poses: the first ones and those after, and the share of these. */
typedef struct {
    const bo_feedback_gains *first, *second;
    double share;
} gains_at;

static gains_at find_gains(const bo_feedback *f, double t) {
    const double at = fmin(fmax((t - f->from) / f->every, 0), f->pose_count - 1);
    const int32_t k = (int32_t)at, next = k + 1 < f->pose_count ? k + 1 : k;
    return (gains_at){&f->gains[k], &f->gains[next], at - k};
}

/* The product of a row of gains, from entry `first` on, with x. */
static double times(const gains_at *g, const double *a, const double *b, int32_t first, int32_t count,
                    const double *x) {
    double sum = 0;
    for (int32_t i = first; i < first + count; i++)
        sum += (a[i] + g->share * (b[i] - a[i])) * x[i - first];
    return sum;
}
#define TIMES(g, name, from, count, x) times(g, (g)->first->name, (g)->second->name, from, count, x)

/* Adds what a displacement and its rate, from entry `first` on, mean to each motor. */
static void add_share(const bo_feedback *f, const gains_at *g, int32_t first, int32_t count, const double *x,
                      const double *rate, bo_correction *c) {
    for (int32_t m = 0; m < f->motor_count; m++) {
        const int32_t at = f->size * m + first;
        c->bend[m] += TIMES(g, bend, at, count, x);
        c->soft[m] += TIMES(g, soft, at, count, rate);
        c->acceleration[m] -= TIMES(g, swing, at, count, rate);
    }
}

/* Shift and turn of a body of the plant in the axes Q of the same body of the nominal motion, and their rates:
 *   s = Q^T (p - p*),  s' = Q^T (v - v*) - w x s,   turn = log(Q^T Q_plant),  turn' = Q^T (w_plant - w*) */
static void body_error(int32_t b, const double *u0, const double *v0, const double *u1, const double *v1, double x[6],
                       double rate[6]) {
    const double *a = u0 + 7 * b, *c = u1 + 7 * b, *va = v0 + 6 * b, *vc = v1 + 6 * b;
    const bo_quat qa = bo_quat_normalize((bo_quat){a[3], a[4], a[5], a[6]});
    const bo_quat qc = bo_quat_normalize((bo_quat){c[3], c[4], c[5], c[6]});
    const bo_mat3 Q = bo_quat_to_matrix(qa);
    const bo_vec3 shift = bo_mat_tvec(Q, bo_sub(bo_load3(c), bo_load3(a)));
    const bo_vec3 w = bo_mat_tvec(Q, bo_load3(va + 3));
    bo_store3(x, shift);
    bo_store3(x + 3, bo_quat_log(bo_quat_mul(bo_quat_conj(qa), qc)));
    bo_store3(rate, bo_sub(bo_mat_tvec(Q, bo_sub(bo_load3(vc), bo_load3(va))), bo_cross(w, shift)));
    bo_store3(rate + 3, bo_mat_tvec(Q, bo_sub(bo_load3(vc + 3), bo_load3(va + 3))));
}

/* Fills bend = L_z z, soft = L_z / omega^2 z', and acceleration = -(L_z' z' + L_c c + L_c' c'). */
static void look(const bo_feedback *f, const gains_at *g, const double *nominal_u, const double *nominal_v,
                 const double *plant_u, const double *plant_v, bo_correction *c) {
    const int32_t motors = f->motor_count, bodies = f->body_count;
    for (int32_t m = 0; m < motors; m++) {
        const int32_t at = motors * m;
        c->bend[m] = -TIMES(g, bend_place, at, motors, c->place);
        c->soft[m] = -TIMES(g, soft_rate, at, motors, c->rate);
        c->acceleration[m] = -TIMES(g, place, at, motors, c->place) - TIMES(g, swing_rate, at, motors, c->rate);
    }
    for (int32_t b = 0; b < bodies; b++) {
        double x[6], rate[6];
        body_error(b, nominal_u, nominal_v, plant_u, plant_v, x, rate);
        add_share(f, g, 6 * b, 6, x, rate, c);
    }
    for (int32_t i = 6 * bodies; i < f->size; i++) {
        const double x = plant_u[i + bodies] - nominal_u[i + bodies], rate = plant_v[i] - nominal_v[i];
        add_share(f, g, i, 1, &x, &rate, c);
    }
}

/* A plant that rests at z_s vibrates about it: z + (z'' + inertia c'') / omega^2 = z_s, but for damping. A low-pass filter
 * of the left side, (z_s - estimate) / tau = estimate', needs no z'': estimate = offset + z' / (omega^2 tau) with
 *   offset' = (z + inertia c'' / omega^2 - estimate) / tau
 * Vibrations of the model leave no trace in it, so that tau may be short. Gains L_z make one number for each motor of it.
 */
void bo_feedback_command(const bo_feedback *f, double t, const double *nominal_u, const double *nominal_v,
                         const double *plant_u, const double *plant_v, bo_correction *c) {
    const gains_at g = find_gains(f, t);
    const int32_t motors = f->motor_count;
    const double dt = f->dt, tau = f->offset_time, grows = 1 - exp(-dt / tau);
    look(f, &g, nominal_u, nominal_v, plant_u, plant_v, c);
    for (int32_t m = 0; m < motors; m++) {
        c->soft[m] = c->offset[m] + c->soft[m] / tau; /* the estimate */
        c->acceleration[m] -= c->bend[m] - c->soft[m];
    }
    for (int32_t m = 0; m < motors; m++)
        c->offset[m] += grows * (c->bend[m] + TIMES(&g, soft_rate, motors * m, motors, c->acceleration) - c->soft[m]);
    for (int32_t m = 0; m < motors; m++) {
        c->place[m] += dt * (c->rate[m] + 0.5 * dt * c->acceleration[m]);
        c->rate[m] += dt * c->acceleration[m];
    }
}
