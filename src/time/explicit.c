/* Explicit methods, for reference: stable only while h times the highest frequency is below about 2. */
#include "time/integrator.h"

/* Velocity Verlet form; damping sees the velocity extrapolated to the end of the step. */
static bough_status central_differences(bo_integrator *I, double h, const bo_motion *from, bo_motion *to) {
    double *half = bo_take(I);
    bo_add_scaled(I, from->v, 0.5 * h, from->a, half);
    bo_move(I, from->q, h, half, to->q);
    bo_add_scaled(I, from->v, h, from->a, to->v);
    BO_TRY(bo_acceleration(I, to->t, to->q, to->v, to->a));
    bo_add_scaled(I, half, 0.5 * h, to->a, to->v);
    return BOUGH_OK;
}

const bo_method bo_method_central_differences = {
    .info = {.name = "central-differences",
             .about = "explicit, second order, no damping (Verlet, leapfrog)",
             .order = 2,
             .explicit_method = true,
             .solves = 1,
             .needs = ""},
    .step = central_differences,
    .vector_count = 2,
    .uses_acceleration = true};

/* v1 = v0 + h a0, q1 = q0 + h v1; a is kept for the next step. */
static bough_status symplectic_euler(bo_integrator *I, double h, const bo_motion *from, bo_motion *to) {
    bo_add_scaled(I, from->v, h, from->a, to->v);
    bo_move(I, from->q, h, to->v, to->q);
    return bo_acceleration(I, to->t, to->q, to->v, to->a);
}

const bo_method bo_method_symplectic_euler = {.info = {.name = "symplectic-euler",
                                                       .about = "explicit, first order, no damping",
                                                       .order = 1,
                                                       .explicit_method = true,
                                                       .solves = 1,
                                                       .needs = ""},
                                              .step = symplectic_euler,
                                              .vector_count = 1,
                                              .uses_acceleration = true};

/* Classical Runge-Kutta for (q, v)' = (v, a(q, v)). */
static bough_status rk4(bo_integrator *I, double h, const bo_motion *from, bo_motion *to) {
    static const double at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    double *k = bo_take(I), *a = bo_take(I), *q = bo_take(I), *dq = bo_take(I), *dv = bo_take(I);
    const int32_t n = I->system->size;
    for (int32_t i = 0; i < n; i++)
        dq[i] = dv[i] = k[i] = 0, a[i] = from->a[i];
    for (int s = 0; s < 4; s++) {
        /* k: velocity of the stage before; a: its acceleration */
        for (int32_t i = 0; i < n; i++)
            to->v[i] = from->v[i] + at[s] * h * a[i];
        bo_move(I, from->q, at[s] * h, s ? k : from->v, q);
        for (int32_t i = 0; i < n; i++)
            k[i] = s ? to->v[i] : from->v[i];
        if (s > 0)
            BO_TRY(bo_acceleration(I, from->t + at[s] * h, q, k, a));
        for (int32_t i = 0; i < n; i++) {
            dq[i] += weight[s] * h * k[i];
            dv[i] += weight[s] * h * a[i];
        }
    }
    bo_move(I, from->q, 1, dq, to->q);
    bo_add_scaled(I, from->v, 1, dv, to->v);
    return bo_acceleration(I, to->t, to->q, to->v, to->a);
}

const bo_method bo_method_rk4 = {.info = {.name = "rk4",
                                          .about = "explicit, fourth order",
                                          .order = 4,
                                          .explicit_method = true,
                                          .solves = 4,
                                          .needs = ""},
                                 .step = rk4,
                                 .vector_count = 6,
                                 .uses_acceleration = true};
