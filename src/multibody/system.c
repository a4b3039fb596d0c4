/* The same system for the methods of `time`, in residual form: positions are moved by turns, and constraints hold for
 * positions and velocities. */
#include "multibody/multibody.h"

#include <string.h>

static void retract(void *data, const double *q, const double *dq, double *out) {
    const bo_mb_state *s = data;
    const bough_multibody *model = s->model;
    for (int32_t b = 0; b < model->body_count; b++) {
        const double *from = q + 7 * b, *move = dq + 6 * b;
        const bo_quat turned =
            bo_quat_mul(bo_quat_exp(bo_load3(move + 3)), (bo_quat){from[3], from[4], from[5], from[6]});
        double *to = out + 7 * b;
        for (int k = 0; k < 3; k++)
            to[k] = from[k] + move[k];
        to[3] = turned.w, to[4] = turned.x, to[5] = turned.y, to[6] = turned.z;
    }
    for (int32_t i = 6 * model->body_count; i < model->nv; i++)
        out[i + model->body_count] = q[i + model->body_count] + dq[i];
}

static void difference(void *data, const double *to, const double *from, double *dq) {
    const bo_mb_state *s = data;
    const bough_multibody *model = s->model;
    for (int32_t b = 0; b < model->body_count; b++) {
        const double *a = from + 7 * b, *z = to + 7 * b;
        const bo_quat start = bo_quat_normalize((bo_quat){a[3], a[4], a[5], a[6]});
        const bo_quat end = bo_quat_normalize((bo_quat){z[3], z[4], z[5], z[6]});
        for (int k = 0; k < 3; k++)
            dq[6 * b + k] = z[k] - a[k];
        bo_store3(dq + 6 * b + 3, bo_quat_log(bo_quat_mul(end, bo_quat_conj(start))));
    }
    for (int32_t i = 6 * model->body_count; i < model->nv; i++)
        dq[i] = to[i + model->body_count] - from[i + model->body_count];
}

static bough_status residual(void *data, const bo_instant *at, double *R, double *c, double *magnitude) {
    bo_mb_state *s = data;
    const bo_mb_drive drive = bo_mb_drive_at(s, at->t);
    *magnitude = 0;
    if (!bo_mb_evaluate(s->model, &s->work, &drive, at->q, at->v, at->a, at->lambda, R, c, s->rate))
        return BOUGH_NOT_FINITE;
    /* Weight, inertia and elastic forces: what each body has to bear. */
    for (int32_t b = 0; b < s->model->body_count; b++)
        for (int k = 0; k < 3; k++)
            *magnitude = fmax(*magnitude, s->model->bodies[b].mass * s->model->length *
                                              (fabs(at->a[6 * b + k]) + fabs(s->face.gravity[k])));
    for (int32_t p = 0; p < s->model->def.part_count; p++)
        for (int32_t l = 0; l < s->model->parts[p].r; l++) {
            const int32_t i = s->model->parts[p].first + l;
            *magnitude = fmax(*magnitude, fabs(s->work.shapes[p].gradient[l]) * s->model->units[i]);
        }
    for (int32_t i = 0; i < s->model->nv; i++)
        *magnitude = fmax(*magnitude, fabs(s->face.force[i]) * s->model->units[i]);
    return BOUGH_OK;
}

static void constraint_rate(void *data, double t, const double *q, const double *v, double *rate) {
    bo_mb_state *s = data;
    const bo_mb_drive drive = bo_mb_drive_at(s, t);
    bo_mb_evaluate(s->model, &s->work, &drive, q, v, s->zeros, s->zeros_c, s->residual, s->c, rate);
}

static bough_status tangent(void *data, const bo_instant *at, double ca, double cv, double cq) {
    bo_mb_state *s = data;
    const bo_mb_drive drive = bo_mb_drive_at(s, at->t);
    s->face.factors++;
    if (!bo_mb_evaluate(s->model, &s->work, &drive, at->q, at->v, at->a, at->lambda, s->residual, s->c, s->rate))
        return BOUGH_NOT_FINITE;
    bo_mb_tangent(s->model, &s->work, &drive, at->q, at->v, at->a, at->lambda, ca, cv, cq, 0, 0, true);
    return bo_mb_factor(&s->work) ? BOUGH_OK : BOUGH_ERROR_SINGULAR;
}

static bough_status solve_tangent(void *data, const double *b, const double *d, double *x, double *y) {
    bo_mb_state *s = data;
    bo_mb_solve(s->model, &s->work, b, d, x, y);
    return BOUGH_OK;
}

void bo_mb_fill_system(bo_mb_state *s) {
    s->system = (bo_system){.data = s,
                            .size = s->model->nv,
                            .position_size = s->model->nu,
                            .constraint_count = s->model->nc,
                            .units = s->model->units,
                            .what = "step of the multibody system",
                            .retract = retract,
                            .difference = difference,
                            .residual = residual,
                            .constraint_rate = constraint_rate,
                            .tangent = tangent,
                            .solve_tangent = solve_tangent};
    s->motion = (bo_motion){.q = s->face.u, .v = s->face.v, .a = s->a, .lambda = s->face.lambda};
}

bough_status bough_multibody_use_integrator(bough_context *ctx, const bough_multibody *model,
                                            bough_multibody_state *state, const bough_integrator_def *def) {
    (void)model;
    bo_mb_state *s = bo_mb(state);
    bo_integrator *method = NULL;
    if (def)
        BO_TRY(bo_integrator_create(ctx, &s->system, def, &method));
    bo_integrator_destroy(ctx, s->method);
    s->method = method;
    bough_multibody_restart(state);
    return BOUGH_OK;
}

bough_status bo_mb_method_step(bough_context *ctx, bo_mb_state *s, double dt) {
    const bough_multibody *model = s->model;
    s->motion.t = s->face.time;
    const bough_status status = bo_integrator_step(s->method, dt, &s->motion);
    if (status == BOUGH_ERROR_SINGULAR)
        return bo_mb_fail_singular(ctx, s, s->face.time);
    BO_TRY(status);
    s->face.time = s->motion.t;
    s->face.iterations = s->method->iterations;
    bo_mb_keep_coordinates(model, &s->work);
    s->face.drift = 0;
    for (int32_t i = 0; i < model->nc; i++)
        s->face.drift = fmax(s->face.drift, fabs(s->c[i]));
    memset(s->face.force, 0, (size_t)model->nv * sizeof(double));
    return BOUGH_OK;
}
