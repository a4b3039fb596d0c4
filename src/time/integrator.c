#include "time/integrator.h"
#include "time/modes.h"

#include "base/file.h"
#include "base/vec.h"

#include <math.h>
#include <string.h>

#define INTEGRATOR_COOKIE 0xB0061020u

bough_integrator_def bough_default_integrator_def(void) {
    return (bough_integrator_def){.cookie = INTEGRATOR_COOKIE,
                                  .name = "tr-bdf2",
                                  .rho = 0.8,
                                  .alpha = -0.05,
                                  .beta = 0.25,
                                  .gamma = 0.5,
                                  .tolerance = 1e-6,
                                  .max_iterations = 50,
                                  .mode_count = 10,
                                  .mode_refresh = 1,
                                  .krylov_limit = 100};
}

bough_status bo_system_keep_stiffness(void *data, double t, const double *q, bool project) {
    (void)data, (void)t, (void)q, (void)project;
    return BOUGH_OK;
}

bough_status bo_system_keep_damping(void *data, const double *q) {
    (void)data, (void)q;
    return BOUGH_OK;
}

static bough_status find_method(bough_context *ctx, const char *name, const bo_method **method) {
    const char *names[64];
    int32_t count = bough_integrator_count();
    for (int32_t i = 0; i < count; i++) {
        names[i] = bo_method_at(i)->info.name;
        if (bo_equal_ignoring_case(name, names[i])) {
            *method = bo_method_at(i);
            return BOUGH_OK;
        }
    }
    const char *nearest = bo_nearest_word(name, names, count);
    return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "integrator \"%s\" does not exist; %s%s%s", name,
                   nearest ? "did you mean \"" : "bough integrators lists them", nearest ? nearest : "",
                   nearest ? "\"?" : "");
}

static bough_status check_def(bough_context *ctx, const bough_integrator_def *def) {
    if (def->cookie != INTEGRATOR_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the integrator def was not made by bough_default_integrator_def()");
    if (!(def->rho >= 0 && def->rho <= 1))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "rho is %g; it must lie between 0 and 1", def->rho);
    if (!(def->alpha >= -1.0 / 3 - 1e-12 && def->alpha <= 0))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "alpha is %g; it must lie between -1/3 and 0", def->alpha);
    if (!(def->beta > 0 && def->beta <= 1 && def->gamma >= 0.5 && def->gamma <= 1))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "Newmark's beta must lie in (0, 1] and gamma in [1/2, 1], not %g and %g", def->beta, def->gamma);
    if (!(def->tolerance > 0) || def->max_iterations < 1)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "Newton needs a positive tolerance and at least one iteration");
    if (def->mode_count < 1 || def->mode_count > 200 || def->mode_refresh < 1)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "hybrids need 1 to 200 modes, refreshed every step or more rarely");
    if (def->krylov_limit < 8 || def->krylov_limit > 2000)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "krylov_limit is %d; it must lie between 8 and 2000",
                       def->krylov_limit);
    return BOUGH_OK;
}

#define OWN_VECTORS 6      /* next (3), history (2), move_scratch */
#define RESIDUAL_VECTORS 5 /* next (3), history (2) */

static size_t vector_length(const bo_system *system) {
    const int32_t sizes[] = {system->size, system->position_size, system->momentum_size, system->constraint_count};
    size_t most = 0;
    for (int i = 0; i < (system->residual ? 4 : 2); i++)
        most = (size_t)sizes[i] > most ? (size_t)sizes[i] : most;
    return most;
}

static bough_status reserve_residual(bo_integrator *I) {
    const size_t length = I->length;
    const int32_t of_step = I->method->residual_vectors, of_start = BO_START_VECTORS;
    const size_t vectors = OWN_VECTORS + RESIDUAL_VECTORS + (size_t)(of_step > of_start ? of_step : of_start);
    BO_TRY(bo_arena_create(I->ctx, &I->arena, "time integrator", (length * sizeof(double) + 64) * vectors));
    double **own[OWN_VECTORS + RESIDUAL_VECTORS] = {&I->next.q,   &I->next.v,       &I->next.a,      &I->q_before,
                                                    &I->v_before, &I->move_scratch, &I->next.lambda, &I->next.p,
                                                    &I->p_before, &I->alpha_rate,   &I->alpha_next};
    for (int i = 0; i < OWN_VECTORS + RESIDUAL_VECTORS; i++) {
        *own[i] = bo_take(I);
        memset(*own[i], 0, length * sizeof(double));
    }
    return BOUGH_OK;
}

static bough_status check_residual_form(bough_context *ctx, const bo_system *system, const bo_method *method) {
    const char *name = method->info.name;
    if (!method->step_residual)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "integrator \"%s\" needs masses, damping and stiffness as matrices, which a system with "
                       "constraints or forces of velocity does not have; take bdf2, tr-bdf2 or generalised-alpha",
                       name);
    if (method->steps_acceleration && system->momentum_size > 0)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "integrator \"%s\" steps accelerations, and this system has momenta; take bdf2 or tr-bdf2",
                       name);
    if (system->constraint_count > 0 && method->no_constraints)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "integrator \"%s\" cannot have constraints: %s", name,
                       method->no_constraints);
    if (system->constraint_count > 0 && !system->constraint_rate && strcmp(name, "backward-euler") != 0)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "integrator \"%s\" needs the rate of the constraints, which this system does not give; take "
                       "backward-euler",
                       name);
    return BOUGH_OK;
}

static bough_status reserve(bo_integrator *I) {
    const size_t length = I->length = vector_length(I->system);
    if (I->system->residual)
        return reserve_residual(I);
    size_t vectors = (size_t)I->method->vector_count + OWN_VECTORS + 1; /* one for bo_damp_ahead() */
    size_t bytes = (length * sizeof(double) + 64) * vectors;
    if (I->method->uses_modes)
        bytes += (length * sizeof(double) + 64) * (size_t)bo_mode_vectors(I->system->size, I->def.mode_count) +
                 bo_mode_bytes(I->system->size, I->def.mode_count);
    if (I->method->uses_krylov)
        bytes +=
            (length * sizeof(double) + 64) * ((size_t)I->def.krylov_limit + 1) + bo_krylov_bytes(I->def.krylov_limit);
    BO_TRY(bo_arena_create(I->ctx, &I->arena, "time integrator", bytes));
    double **own[OWN_VECTORS] = {&I->next.q, &I->next.v, &I->next.a, &I->q_before, &I->v_before, &I->move_scratch};
    for (int i = 0; i < OWN_VECTORS; i++) {
        *own[i] = bo_take(I);
        memset(*own[i], 0, length * sizeof(double));
    }
    return I->method->uses_modes ? bo_modes_take(I) : BOUGH_OK;
}

bough_status bo_integrator_create(bough_context *ctx, const bo_system *system, const bough_integrator_def *def,
                                  bo_integrator **out) {
    *out = NULL;
    BO_TRY(check_def(ctx, def));
    const bo_method *method = NULL;
    BO_TRY(find_method(ctx, def->name, &method));
    if (system->residual)
        BO_TRY(check_residual_form(ctx, system, method));
    bo_integrator *I = BO_NEW(ctx, bo_integrator);
    if (!I)
        return BOUGH_ERROR_MEMORY;
    *I = (bo_integrator){.ctx = ctx, .system = system, .method = method, .def = *def};
    I->def.name = method->info.name; /* the caller's may go */
    bough_status status = reserve(I);
    if (status != BOUGH_OK) {
        bo_integrator_destroy(ctx, I);
        return status;
    }
    *out = I;
    return BOUGH_OK;
}

void bo_integrator_destroy(bough_context *ctx, bo_integrator *I) {
    if (!I)
        return;
    bo_arena_destroy(ctx, &I->arena);
    bo_free(ctx, I);
}

void bo_integrator_restart(bo_integrator *I) {
    I->h_before = 0;
    I->has_acceleration = false;
    if (I->modes)
        I->modes->known = false;
}

bough_status bo_integrator_jump(bo_integrator *I, const double *change, bool at_once, bo_motion *motion) {
    if (at_once)
        I->h_before = 0;
    if (I->system->residual) { /* found again from the forces of now */
        I->has_acceleration = false;
        return BOUGH_OK;
    }
    if (!I->method->uses_acceleration || !I->has_acceleration)
        return BOUGH_OK;
    const size_t mark = bo_arena_mark(&I->arena);
    double *a = bo_take(I);
    memcpy(a, change, (size_t)I->system->size * sizeof *a);
    bough_status status = bo_mass_solve(I, a);
    if (status == BOUGH_OK)
        bo_add_scaled(I, motion->a, 1, a, motion->a);
    bo_arena_release(&I->arena, mark);
    return status;
}

/* Room for p_before and alpha_rate. */
static int64_t residual_history_size(const bo_system *system) {
    return system->residual ? (int64_t)system->momentum_size + system->size : 0;
}

int64_t bo_integrator_history_size(const bo_integrator *I) {
    return 2 + (int64_t)I->system->position_size + I->system->size + (I->modes ? bo_modes_history_size(I) : 0) +
           residual_history_size(I->system);
}

void bo_integrator_save(const bo_integrator *I, double *history) {
    *history++ = I->h_before;
    *history++ = I->has_acceleration;
    memcpy(history, I->q_before, (size_t)I->system->position_size * sizeof *history);
    history += I->system->position_size;
    memcpy(history, I->v_before, (size_t)I->system->size * sizeof *history);
    if (I->modes)
        bo_modes_save(I, history + I->system->size);
    if (!I->system->residual)
        return;
    history += I->system->size;
    memcpy(history, I->alpha_rate, (size_t)I->system->size * sizeof *history);
    memcpy(history + I->system->size, I->p_before, (size_t)I->system->momentum_size * sizeof *history);
}

void bo_integrator_restore(bo_integrator *I, const double *history) {
    I->h_before = *history++;
    I->has_acceleration = *history++ != 0;
    memcpy(I->q_before, history, (size_t)I->system->position_size * sizeof *history);
    history += I->system->position_size;
    memcpy(I->v_before, history, (size_t)I->system->size * sizeof *history);
    if (I->modes)
        bo_modes_restore(I, history + I->system->size);
    I->mass_factored = false;
    if (!I->system->residual)
        return;
    history += I->system->size;
    memcpy(I->alpha_rate, history, (size_t)I->system->size * sizeof *history);
    memcpy(I->p_before, history + I->system->size, (size_t)I->system->momentum_size * sizeof *history);
}

double *bo_take(bo_integrator *I) {
    return bo_arena_take(I->ctx, &I->arena, I->length, sizeof(double));
}

void bo_add_scaled(const bo_integrator *I, const double *x, double s, const double *y, double *out) {
    for (int32_t i = 0; i < I->system->size; i++)
        out[i] = x[i] + s * y[i];
}

void bo_move(bo_integrator *I, const double *q, double s, const double *dq, double *out) {
    const bo_system *system = I->system;
    if (!system->retract) {
        bo_add_scaled(I, q, s, dq, out);
        return;
    }
    for (int32_t i = 0; i < system->size; i++)
        I->move_scratch[i] = s * dq[i];
    system->retract(system->data, q, I->move_scratch, out);
}

bough_status bo_damp_ahead(bo_integrator *I, const double *q, double s, const double *v) {
    size_t mark = bo_arena_mark(&I->arena);
    double *ahead = bo_take(I);
    bo_move(I, q, s, v, ahead);
    bough_status status = I->system->damp(I->system->data, ahead);
    bo_arena_release(&I->arena, mark);
    return status;
}

void bo_difference(bo_integrator *I, const double *to, const double *from, double *dq) {
    if (I->system->difference)
        I->system->difference(I->system->data, to, from, dq);
    else
        bo_add_scaled(I, to, -1, from, dq);
}

bough_status bo_total_force(bo_integrator *I, double t, const double *q, const double *v, double *F) {
    const bo_system *system = I->system;
    size_t mark = bo_arena_mark(&I->arena);
    double *Dv = bo_take(I);
    BO_TRY(system->force(system->data, t, q, NULL, F));
    system->multiply(system->data, BO_MATRIX_D, v, Dv);
    bo_add_scaled(I, F, -1, Dv, F);
    bo_arena_release(&I->arena, mark);
    return BOUGH_OK;
}

bough_status bo_acceleration(bo_integrator *I, double t, const double *q, const double *v, double *a) {
    const bo_system *system = I->system;
    if (system->enter)
        BO_TRY(system->enter(system->data, t, q, v));
    BO_TRY(system->damp(system->data, q));
    BO_TRY(bo_total_force(I, t, q, v, a));
    return bo_mass_solve(I, a);
}

bough_status bo_mass_solve(bo_integrator *I, double *a) {
    const bo_system *system = I->system;
    if (!I->mass_factored || system->enter) {
        BO_TRY(system->factor(system->data, 1, 0, 0));
        I->mass_factored = I->method->info.explicit_method; /* nothing else is factored there */
        I->factors++;
    }
    return system->solve(system->data, a, a);
}

static bough_status check_finite(bo_integrator *I, double h, double t) {
    if (!bo_all_finite(I->system->position_size, I->next.q) || !bo_all_finite(I->system->size, I->next.v))
        return bo_fail(I->ctx, BOUGH_NOT_FINITE, "the step from t = %g with h = %g gave a number that is not finite", t,
                       h);
    return BOUGH_OK;
}

static bough_status build_residual_step(bo_integrator *I, double h, bo_motion *motion) {
    if (!I->has_acceleration) {
        if (I->method->uses_acceleration || I->system->momentum_size > 0)
            BO_TRY(bo_start_residual(I, h, motion));
        if (I->method->steps_acceleration)
            memcpy(I->alpha_rate, motion->a, (size_t)I->system->size * sizeof(double));
        I->has_acceleration = true;
    }
    I->next.t = motion->t + h;
    memcpy(I->next.v, motion->v, (size_t)I->system->size * sizeof(double)); /* the first guess */
    if (I->system->constraint_count > 0)
        memcpy(I->next.lambda, motion->lambda, (size_t)I->system->constraint_count * sizeof(double));
    BO_TRY(I->method->step_residual(I, h, motion, &I->next));
    return check_finite(I, h, motion->t);
}

static bough_status build_step(bo_integrator *I, double h, bo_motion *motion) {
    const bo_system *system = I->system;
    if (system->residual)
        return build_residual_step(I, h, motion);
    if (system->enter)
        BO_TRY(system->enter(system->data, motion->t, motion->q, motion->v));
    if (I->method->uses_acceleration && !I->has_acceleration) {
        BO_TRY(bo_acceleration(I, motion->t, motion->q, motion->v, motion->a));
        I->has_acceleration = true;
    }
    BO_TRY(bo_damp_ahead(I, motion->q, 0.5 * h, motion->v));
    I->next.t = motion->t + h;
    I->q_start = motion->q;
    BO_TRY(I->method->step(I, h, motion, &I->next));
    return check_finite(I, h, motion->t);
}

/* The parts of a motion that only systems in residual form have. */
static void accept_residual(bo_integrator *I, bo_motion *motion) {
    const bo_system *system = I->system;
    const size_t p_bytes = (size_t)system->momentum_size * sizeof(double);
    const size_t a_bytes = p_bytes > 0 ? p_bytes : (size_t)system->size * sizeof(double);
    if (system->constraint_count > 0)
        memcpy(motion->lambda, I->next.lambda, (size_t)system->constraint_count * sizeof(double));
    memcpy(motion->a, I->next.a, a_bytes);
    if (I->method->steps_acceleration)
        memcpy(I->alpha_rate, I->alpha_next, a_bytes);
    if (p_bytes > 0) {
        memcpy(I->p_before, motion->p, p_bytes);
        memcpy(motion->p, I->next.p, p_bytes);
    }
}

bough_status bo_integrator_step(bo_integrator *I, double h, bo_motion *motion) {
    if (!(h > 0) || !isfinite(h))
        return bo_fail(I->ctx, BOUGH_ERROR_ARGUMENT, "the time step is %g s; it must be positive", h);
    I->iterations = I->factors = 0;
    size_t mark = bo_arena_mark(&I->arena);
    bough_status status = build_step(I, h, motion);
    bo_arena_release(&I->arena, mark);
    if (status != BOUGH_OK)
        return status;
    size_t q_bytes = (size_t)I->system->position_size * sizeof(double),
           v_bytes = (size_t)I->system->size * sizeof(double);
    memcpy(I->q_before, motion->q, q_bytes);
    memcpy(I->v_before, motion->v, v_bytes);
    I->h_before = h;
    if (I->modes)
        I->modes->age++;
    memcpy(motion->q, I->next.q, q_bytes);
    memcpy(motion->v, I->next.v, v_bytes);
    if (I->system->residual)
        accept_residual(I, motion);
    else if (I->method->uses_acceleration)
        memcpy(motion->a, I->next.a, v_bytes);
    motion->t = I->next.t;
    return BOUGH_OK;
}
