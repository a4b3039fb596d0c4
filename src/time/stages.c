#include "time/integrator.h"

#include <string.h>

/* With z = v: cm = 1/tau, r = -M vh / tau. */
bough_status bo_stage_from(bo_integrator *I, double t, const double *qh, const double *vh, double tau, double *q,
                           double *v) {
    const bo_system *system = I->system;
    BO_TRY(bo_damp_ahead(I, qh, tau, vh));
    size_t mark = bo_arena_mark(&I->arena);
    double *r = bo_take(I);
    system->multiply(system->data, BO_MATRIX_M, vh, r);
    for (int32_t i = 0; i < system->size; i++)
        r[i] /= -tau;
    bo_implicit problem = {.t = t, .cm = 1 / tau, .cq = tau, .cv = 1, .q_base = qh, .r = r};
    bough_status status = bo_solve_implicit(I, &problem, v);
    if (status == BOUGH_OK)
        bo_move(I, qh, tau, v, q);
    bo_arena_release(&I->arena, mark);
    return status;
}

bough_status bo_stage(bo_integrator *I, double t, const double *qh, const double *vh, double tau, double *q,
                      double *v) {
    if (v != vh)
        memcpy(v, vh, (size_t)I->system->size * sizeof *v);
    return bo_stage_from(I, t, qh, vh, tau, q, v);
}

bough_status bo_linear_stage(bo_integrator *I, double tau, bool factor, const double *bq, double *Mbv, double *dq,
                             double *dv) {
    const bo_system *system = I->system;
    size_t mark = bo_arena_mark(&I->arena);
    double *Kb = bo_take(I);
    system->multiply(system->data, BO_MATRIX_K, bq, Kb);
    bo_add_scaled(I, Mbv, -tau, Kb, Mbv);
    bo_arena_release(&I->arena, mark);
    if (factor) {
        BO_TRY(system->factor(system->data, 1, tau, tau * tau));
        I->factors++;
    }
    BO_TRY(system->solve(system->data, Mbv, dv));
    bo_add_scaled(I, bq, tau, dv, dq);
    return BOUGH_OK;
}
