#include "retarget/vibrations.h"

#include <string.h>

#define SLOW 1e-12      /* of the largest omega^2: below it, a mode is rounding */
#define LEAST_OMEGA 0.1 /* rad/s: slower modes are no vibrations */
#define SHARE 1.0       /* 1/s^2: of the mass, which keeps the matrix of the elimination regular */
#define STEP 1e-2       /* s: of the step whose linearisation makes the matrices ready */
#define LEAST_SHAPED 0.01
#define APART_SHAPED 0.01
#define FOLLOWED_EVERY 0.05 /* s: between two equilibria on the way to the one whose modes are shaped */

typedef struct {
    bough_context *ctx;
    const bough_multibody *model;
    bough_multibody_state *state;
    bo_mb_linear linear;
    bough_multibody_modes *modes;
    double *full, *M, *D;    /* size x size; nv x nv */
    double *place, *rate;    /* motors */
    double *Rc, *Rr, *Cc;    /* motor_count x nv, likewise, motor_count x nc: dR and dC by place, dR by rate */
    double *unit, *solution; /* nv + nc */
    int32_t frame_count;
    const bough_frame_def *frames;
    double *memory;
} search;

static double product(int32_t n, const double *a, const double *b) {
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* ---- matrices ---- */

static void assemble(search *x, double ca, double cv, double cq) {
    const bo_mb_moment *at = &x->linear.at;
    bo_mb_tangent(x->model, &x->linear.work, &x->linear.drive, at->u, at->v, x->linear.zeros, at->lambda, ca, cv, cq, 0,
                  0, true);
}

/* The symmetric part of the matrix, by velocities. */
static void take_matrix(search *x, double ca, double cv, double *to) {
    const int32_t *place = x->model->place;
    const size_t n = (size_t)x->model->nv, size = n + (size_t)x->model->nc;
    assemble(x, ca, cv, 0);
    bo_block_lu_unfold(&x->linear.work.lu, x->full);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            const size_t a = (size_t)place[i], b = (size_t)place[j];
            to[n * i + j] = 0.5 * (x->full[size * a + b] + x->full[size * b + a]);
        }
}

static bough_status take_matrices(search *x) {
    const bough_multibody *model = x->model;
    const bo_mb_moment at = {.u = x->state->u,
                             .v = x->linear.zeros,
                             .v_base = x->linear.zeros,
                             .lambda = x->state->lambda,
                             .coordinates = bo_mb(x->state)->work.coordinates,
                             .place = x->place,
                             .rate = x->rate,
                             .gravity = x->state->gravity,
                             .h = STEP};
    const bo_mb_drive drive = bo_mb_drive_at(bo_mb(x->state), x->state->time);
    memcpy(x->place, drive.place, (size_t)model->def.motor_count * sizeof *x->place);
    if (!bo_mb_linearise(&x->linear, &at))
        return bo_fail(x->ctx, BOUGH_NO_CONVERGENCE, "the system cannot be linearised at t = %g", x->state->time);
    for (int32_t m = 0; m < model->def.motor_count; m++)
        for (int32_t i = 0; i < model->nv + model->nc; i++) {
            double by_place, by_rate;
            x->unit[i] = 1;
            bo_mb_linear_by_motor(&x->linear, m, x->unit, &by_place, &by_rate);
            x->unit[i] = 0;
            if (i < model->nv)
                x->Rc[model->nv * m + i] = by_place, x->Rr[model->nv * m + i] = by_rate;
            else /* the rate of a row by the motor's rate, which is the row by its place */
                x->Cc[model->nc * m + i - model->nv] = by_rate;
        }
    take_matrix(x, 1, 0, x->M);
    take_matrix(x, 0, 1, x->D);
    return BOUGH_OK;
}

/* ---- modes ---- */

/* By how much the frames move, m: the root of the sum of squares. */
static double moves(search *x, const double *displacement) {
    const bough_multibody *model = x->model;
    double sum = 0;
    memcpy(x->state->v, displacement, (size_t)model->nv * sizeof *displacement);
    const int32_t count = x->frame_count > 0 ? x->frame_count : model->def.body_count;
    for (int32_t f = 0; f < count; f++) {
        bough_frame_def origin = bough_default_frame_def();
        double twist[6];
        origin.body = f;
        bough_multibody_frame(model, x->state, x->frame_count > 0 ? &x->frames[f] : &origin, NULL, twist);
        sum += product(3, twist, twist);
    }
    memset(x->state->v, 0, (size_t)model->nv * sizeof *displacement);
    return sqrt(sum);
}

static void keep_mode(search *x, int32_t k, bo_vibrations *v) {
    const int32_t n = v->size, to = v->count++;
    const double *phi = x->modes->shapes + (size_t)n * (size_t)k;
    double *row = v->rows + (size_t)n * (size_t)to, damping = 0;
    memcpy(v->shapes + (size_t)n * (size_t)to, phi, (size_t)n * sizeof *phi);
    for (int32_t i = 0; i < n; i++) {
        row[i] = product(n, x->M + (size_t)n * (size_t)i, phi);
        damping += phi[i] * product(n, x->D + (size_t)n * (size_t)i, phi);
    }
    v->omega[to] = sqrt(x->modes->squares[k]);
    v->ratio[to] = damping / (2 * v->omega[to]);
    v->seen[to] = moves(x, phi);
}

/* With SHARE s, (s M + K) x - J^T y = -dR/dc and J x = -dC/dc. Since phi^T J^T = 0, adding s phi^T M x / omega^2 of each
 * mode gives psi, with K psi - J^T y = -dR/dc. */
static bool follow_motor(search *x, int32_t m, bo_vibrations *v) {
    const bough_multibody *model = x->model;
    const int32_t n = v->size, motors = v->motor_count;
    double *psi = v->follows + (size_t)n * (size_t)m, *Rc = x->Rc + (size_t)n * (size_t)m;
    double *Cc = x->Cc + (size_t)model->nc * (size_t)m, *D_psi = x->solution;
    for (int32_t i = 0; i < n; i++)
        Rc[i] *= -1;
    for (int32_t i = 0; i < model->nc; i++)
        Cc[i] *= -1;
    bo_mb_solve(model, &x->linear.work, Rc, Cc, x->solution, x->solution + n);
    memcpy(psi, x->solution, (size_t)n * sizeof *psi);
    for (int32_t k = 0; k < v->count; k++) {
        const double *phi = v->shapes + (size_t)n * (size_t)k, square = v->omega[k] * v->omega[k];
        const double along = product(n, v->rows + (size_t)n * (size_t)k, x->solution);
        v->inertia[motors * k + m] = along * (1 + SHARE / square);
        for (int32_t i = 0; i < n; i++)
            psi[i] += phi[i] * along * SHARE / square;
    }
    for (int32_t i = 0; i < n; i++)
        D_psi[i] = product(n, x->D + (size_t)n * (size_t)i, psi) + x->Rr[n * m + i];
    for (int32_t k = 0; k < v->count; k++)
        v->drag[motors * k + m] = product(n, v->shapes + (size_t)n * (size_t)k, D_psi);
    v->reach[m] = moves(x, psi);
    return isfinite(v->reach[m]);
}

static bough_status find(search *x, bo_vibrations *v) {
    const bough_multibody_modes *modes = x->modes;
    BO_TRY(take_matrices(x));
    for (int32_t k = 0; k < modes->count; k++)
        if (modes->squares[k] > fmax(SLOW * modes->squares[modes->count - 1], LEAST_OMEGA * LEAST_OMEGA))
            keep_mode(x, k, v);
    assemble(x, SHARE, 0, 1);
    if (!bo_mb_factor(&x->linear.work))
        return bo_fail(x->ctx, BOUGH_ERROR_SINGULAR, "the system cannot be linearised at t = %g", x->state->time);
    for (int32_t m = 0; m < v->motor_count; m++)
        if (!follow_motor(x, m, v))
            return bo_fail(x->ctx, BOUGH_NOT_FINITE, "the equilibrium does not follow motor %d at t = %g", m,
                           x->state->time);
    for (int32_t k = 0; k < v->count; k++) {
        const double *g = v->inertia + (size_t)v->motor_count * (size_t)k;
        v->strength[k] = v->seen[k] * sqrt(product(v->motor_count, g, g));
    }
    return BOUGH_OK;
}

/* ---- memory ---- */

static bough_status make_vibrations(bough_context *ctx, const bough_multibody *model, int32_t count, bo_vibrations *v) {
    const size_t n = (size_t)model->nv, motors = (size_t)model->def.motor_count, k = (size_t)count;
    v->size = model->nv, v->motor_count = model->def.motor_count;
    double *block = v->omega = BO_NEW_ZEROS(ctx, double, 4 * k + 2 * k * n + 2 * k * motors + motors * n + motors);
    if (!block)
        return BOUGH_ERROR_MEMORY;
    v->ratio = block + k, v->seen = block + 2 * k, v->strength = block + 3 * k, block += 4 * k;
    v->shapes = block, v->rows = block + k * n, block += 2 * k * n;
    v->inertia = block, v->drag = block + k * motors, block += 2 * k * motors;
    v->follows = block, v->reach = block + motors * n;
    return BOUGH_OK;
}

static bough_status make_search(search *x) {
    const bough_multibody *model = x->model;
    const size_t n = (size_t)model->nv, nc = (size_t)model->nc, size = n + nc, motors = (size_t)model->def.motor_count;
    BO_TRY(bo_mb_linear_make(x->ctx, model, &x->linear));
    double *block = x->memory =
        BO_NEW_ZEROS(x->ctx, double, size *size + 2 * n * n + motors * (2 + 2 * n + nc) + 2 * size);
    if (!block)
        return BOUGH_ERROR_MEMORY;
    x->full = block, x->M = block + size * size, x->D = x->M + n * n, x->place = x->D + n * n;
    x->rate = x->place + motors, x->Rc = x->rate + motors, x->Rr = x->Rc + motors * n, x->Cc = x->Rr + motors * n;
    x->unit = x->Cc + motors * nc, x->solution = x->unit + size;
    return BOUGH_OK;
}

bough_status bo_vibrations_find(bough_context *ctx, const bough_multibody *model, bough_multibody_state *state,
                                int32_t frame_count, const bough_frame_def *frames, bo_vibrations *v) {
    search x = {.ctx = ctx, .model = model, .state = state, .frame_count = frame_count, .frames = frames};
    *v = (bo_vibrations){0};
    x.linear.work.lu.stuck = -1;
    if (model->in_full)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "vibrations are found with reduced parts, not in full order");
    bough_status status = bough_multibody_find_modes(ctx, model, state, model->nv, &x.modes);
    if (status != BOUGH_OK)
        return status;
    status = make_vibrations(ctx, model, x.modes->count, v);
    if (status == BOUGH_OK)
        status = make_search(&x);
    if (status == BOUGH_OK)
        status = find(&x, v);
    if (x.linear.model)
        bo_mb_linear_free(ctx, &x.linear);
    bo_free(ctx, x.memory);
    bough_multibody_modes_destroy(ctx, x.modes);
    return status;
}

void bo_vibrations_free(bough_context *ctx, bo_vibrations *v) {
    bo_free(ctx, v->omega);
    *v = (bo_vibrations){0};
}

/* ---- the modes that matter ---- */

static bool stands_apart(const bo_vibrations *v, int32_t k, double apart, int32_t count, const int32_t *chosen) {
    for (int32_t i = 0; i < count; i++)
        if (fabs(v->omega[k] - v->omega[chosen[i]]) <= apart * v->omega[k])
            return false;
    return true;
}

int32_t bo_vibrations_choose(const bo_vibrations *v, double least, double apart, int32_t most, int32_t *chosen) {
    double largest = 0;
    int32_t count = 0;
    for (int32_t k = 0; k < v->count; k++)
        largest = v->ratio[k] < 1 ? fmax(largest, v->strength[k]) : largest;
    for (; count < most; count++) {
        int32_t best = -1;
        for (int32_t k = 0; k < v->count; k++)
            if (v->ratio[k] < 1 && v->strength[k] > 0 && v->strength[k] >= least * largest &&
                (best < 0 || v->strength[k] > v->strength[best]) && stands_apart(v, k, apart, count, chosen))
                best = k;
        if (best < 0)
            break;
        chosen[count] = best;
    }
    return count;
}

bough_status bo_copy_state(bough_context *ctx, const bough_multibody *model, const bough_multibody_state *from,
                           bough_multibody_state **copy) {
    BO_TRY(bough_multibody_state_create(ctx, model, copy));
    bough_multibody_state *to = *copy;
    memcpy(to->u, from->u, (size_t)model->nu * sizeof *to->u);
    memcpy(to->lambda, from->lambda, (size_t)model->nc * sizeof *to->lambda);
    memcpy(to->gravity, from->gravity, sizeof to->gravity);
    memcpy(bo_mb(to)->work.coordinates, bo_mb_const(from)->work.coordinates,
           (size_t)model->coordinate_count * sizeof(double));
    to->time = from->time, to->drive = from->drive, to->drive_data = from->drive_data;
    return BOUGH_OK;
}

static bough_status shape_at(bough_context *ctx, const bough_multibody *model, bough_multibody_state *state,
                             double time, int32_t frame_count, const bough_frame_def *frames, int32_t *count,
                             bo_vibration *to_shape) {
    bo_vibrations v;
    int32_t chosen[BO_SHAPER_MODES];
    BO_TRY(bough_multibody_settle(ctx, model, state));
    while (state->time != time) { /* later or earlier */
        const double way = time - state->time;
        BO_TRY(bough_multibody_follow(
            ctx, model, state, fabs(way) <= FOLLOWED_EVERY ? time : state->time + copysign(FOLLOWED_EVERY, way), NULL));
    }
    const bough_status status = bo_vibrations_find(ctx, model, state, frame_count, frames, &v);
    if (status == BOUGH_OK)
        *count = bo_vibrations_choose(&v, LEAST_SHAPED, APART_SHAPED, BO_SHAPER_MODES, chosen);
    for (int32_t i = 0; i < *count; i++) /* damping below 0, which only rounding gives, is none */
        to_shape[i] = (bo_vibration){v.omega[chosen[i]], fmax(v.ratio[chosen[i]], 0)};
    bo_vibrations_free(ctx, &v);
    return status;
}

bough_status bo_vibrations_to_shape(bough_context *ctx, const bough_multibody *model,
                                    const bough_multibody_state *state, double time, int32_t frame_count,
                                    const bough_frame_def *frames, int32_t *count,
                                    bo_vibration to_shape[BO_SHAPER_MODES]) {
    bough_multibody_state *copy = NULL;
    *count = 0;
    BO_TRY(bo_copy_state(ctx, model, state, &copy));
    const bough_status status = shape_at(ctx, model, copy, time, frame_count, frames, count, to_shape);
    bough_multibody_state_destroy(ctx, copy);
    return status;
}
