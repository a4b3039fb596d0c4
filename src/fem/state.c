/* The motion of a full-order body. docs/theory/contact.md has what a step with contact does. */
#include "fem/state.h"

#include "fem/body.h"
#include "fem/settle.h"
#include "fem/touch_def.h"

#include <math.h>
#include <string.h>

enum { PASSES = 3, LEVER_PASSES = 24 }; /* of a step with friction */
#define SAME_FRICTION 1e-3              /* of the largest force of friction: changes that ask for no further pass */
#define SAME_LEVERS 1e-11               /* the same of vertices, in sizes of the body */
#define MOST_CHANGE 1e-3                /* of the energy: what a step of the midpoint rule may add to it or take */

/* ---- steps ---- */

/* A state that has no forces has no energy either, and is refused when it is measured. */
static void count_work(bo_body_state *s, double t, double h) {
    double work, doubt, rubbed;
    const bough_status status = bo_body_system_end_work(&s->system, t, h, s->motion.q, s->motion.v, &work, &doubt);
    s->account[0] += status == BOUGH_OK ? work : NAN;
    s->account[1] = fmax(s->account[1], doubt);
    if (!s->touch)
        return;
    bo_touch_work(s->touch, s->motion.q, &work, &doubt, &rubbed);
    /* A body that is let go begins to slide: its friction at the end of the first step is not that on the way there. */
    doubt += 0.5 * s->rests * fabs(rubbed);
    s->rests = 0;
    s->account[0] += work;
    s->account[1] = fmax(s->account[1], doubt);
}

/* The motion and what the method keeps of it. */
static void copy_motion(bo_body_state *s, bool back) {
    const size_t n = (size_t)s->system.size;
    double *const parts[3] = {s->motion.q, s->motion.v, s->motion.a}, *at = s->before;
    for (int i = 0; i < 3; i++, at += n)
        memcpy(back ? parts[i] : at, back ? at : parts[i], n * sizeof *at);
    if (back)
        bo_integrator_restore(s->integrator, at);
    else
        bo_integrator_save(s->integrator, at);
}

/* Friction is measured by the forces at the start of the step, and once more by those at its end where they differ. */
static bough_status measure_friction(bo_body_state *s, double t, double h, int pass, bool *again) {
    double change;
    *again = false;
    if (pass == PASSES - 1)
        return BOUGH_OK;
    BO_TRY(bo_touch_begin_again(s->touch, t + h, s->motion.q, &change));
    *again = !(change < SAME_FRICTION);
    return BOUGH_OK;
}

/* The midpoint rule has its forces in the middle of a step, and keeps angular momentum where they have no torque there.
 * Friction between pieces has none in the middle of the pass before: passes follow until that stays where it is. Each
 * moves it by as much less than the one before as friction moves a vertex, in a step, beside the size of an element;
 * shorter steps need fewer. */
static bough_status measure_friction_in_the_middle(bo_body_state *s, double t, double h, int pass, bool *again) {
    const size_t n = (size_t)s->system.size;
    double change = 0, *q = s->middle, *v = s->middle + n;
    for (size_t i = 0; i < n; i++) {
        q[i] = 0.5 * (s->before[i] + s->motion.q[i]);
        v[i] = 0.5 * (s->before[n + i] + s->motion.v[i]);
    }
    if (pass < PASSES - 1)
        BO_TRY(bo_touch_begin_again(s->touch, t + 0.5 * h, q, &change));
    *again = !(change < SAME_FRICTION);
    *again |= !(bo_touch_turn_levers(s->touch, q) < SAME_LEVERS);
    s->integrator->guess = v;
    return *again && pass == LEVER_PASSES - 1
               ? bo_fail(s->ctx, BOUGH_NO_CONVERGENCE, "friction at t = %g is not found; take a shorter step", t)
               : BOUGH_OK;
}

/* All but the potential of loads that have none; *moving: kinetic and elastic energy. */
static bough_status energy_of(bo_body_state *s, double t, double *total, double *moving) {
    bo_body_measures m;
    BO_TRY(bo_body_system_measure(&s->system, s->motion.q, s->motion.v, &m));
    *moving = m.kinetic + m.elastic;
    *total = *moving + m.external + bo_touch_energy(s->touch, t, s->motion.q);
    return BOUGH_OK;
}

/* The midpoint rule keeps energy where forces are smooth in a step, but not where a step leads deep into a barrier, with
 * forces that are too large or too small for the whole of it. Damping takes h v^T D v, v in the middle. */
static bough_status check_balance(bo_body_state *s, double t, double h, double before, double moving) {
    const double *v = s->middle + s->system.size;
    double work, pushed, after, unused, doubts[2], damped = 0;
    BO_TRY(energy_of(s, t + h, &after, &unused));
    BO_TRY(bo_body_system_end_work(&s->system, t + h, h, s->motion.q, s->motion.v, &pushed, &doubts[0]));
    bo_touch_work(s->touch, s->motion.q, &work, &doubts[1], &unused);
    s->system.multiply(s->system.data, BO_MATRIX_D, v, s->change);
    for (int32_t i = 0; i < s->system.size; i++)
        damped += h * v[i] * s->change[i];
    if (fabs(after - before - work - pushed + damped) <= MOST_CHANGE * moving + doubts[0] + doubts[1])
        return BOUGH_OK;
    return bo_fail(s->ctx, BOUGH_NO_CONVERGENCE,
                   "the step from t = %g is too long for what touches in it, and would change the energy; take a "
                   "shorter one",
                   t);
}

/* One pass; *again: friction was measured anew, and another one is to follow. */
static bough_status pass_with_contact(bo_body_state *s, double t, double h, int pass, int64_t *iterations,
                                      bool *again) {
    const bough_status status = bo_integrator_step(s->integrator, h, &s->motion);
    *iterations += s->integrator->iterations;
    BO_TRY(status);
    bo_body_system_hold(&s->system, t + h, s->motion.q, s->motion.v);
    if (s->integrator->method->ends_beyond) {
        BO_TRY(bo_touch_check_end(s->touch, s->motion.q));
        return measure_friction_in_the_middle(s, t, h, pass, again);
    }
    BO_TRY(bo_touch_check_ways(s->touch, s->motion.q));
    return measure_friction(s, t, h, pass, again);
}

static bough_status step_with_contact(bo_body_state *s, double t, double h, int64_t *iterations) {
    const double kappa = bo_touch_kappa(s->touch);
    const bool beyond = s->integrator->method->ends_beyond;
    double energy = 0, moving = 0;
    bough_status status = beyond ? energy_of(s, t, &energy, &moving) : BOUGH_OK;
    if (status == BOUGH_OK)
        status = bo_touch_begin(s->touch, t, h, s->motion.q, s->motion.v);
    copy_motion(s, false);
    bool again = status == BOUGH_OK;
    for (int pass = 0; again && status == BOUGH_OK; pass++) {
        if (pass > 0)
            copy_motion(s, true), s->motion.t = t;
        status = pass_with_contact(s, t, h, pass, iterations, &again);
    }
    s->integrator->guess = NULL;
    if (status == BOUGH_OK && beyond)
        status = check_balance(s, t, h, energy, moving);
    if (status == BOUGH_OK)
        return BOUGH_OK;
    copy_motion(s, true);
    s->motion.t = t;
    bo_touch_set_kappa(s->touch, kappa);
    return status;
}

static bough_status step_alone(bo_body_state *s, double h, int64_t *iterations) {
    const bough_status status = bo_integrator_step(s->integrator, h, &s->motion);
    *iterations += s->integrator->iterations;
    return status;
}

bough_status bo_body_state_step(bo_body_state *s, double t, double h, int64_t *iterations) {
    s->motion.t = t;
    if (s->touch && !s->moves)
        BO_TRY(bo_touch_check_start(s->touch, t, s->motion.q));
    s->moves = true;
    BO_TRY(bo_body_system_begin_work(&s->system, t, s->motion.q, s->motion.v));
    BO_TRY(s->touch ? step_with_contact(s, t, h, iterations) : step_alone(s, h, iterations));
    bo_body_system_hold(&s->system, t + h, s->motion.q, s->motion.v);
    count_work(s, t + h, h);
    return BOUGH_OK;
}

/* ---- loads that change ---- */

static void add_pushes(bo_body_state *s, double sign) {
    for (int32_t i = 0; i < s->push_count; i++)
        for (size_t d = 0; d < 3; d++)
            s->change[3 * (size_t)s->pushes[i].vertex + d] += sign * s->pushes[i].force[d];
}

/* The new ones are listed, and the change has the old ones. */
static bough_status take_pushes(bo_body_state *s, int32_t count, bool at_once) {
    s->push_count = count;
    add_pushes(s, 1);
    bo_body_system_push(&s->system, count, s->pushes);
    return bo_integrator_jump(s->integrator, s->change, at_once, &s->motion);
}

/* A push is the same from the start of a step to its end, also for methods that start from the acceleration in which
 * the step before has ended. */
bough_status bo_body_state_push(bo_body_state *s, int32_t count, const bo_point_force *pushes, bool at_once) {
    memset(s->change, 0, (size_t)s->system.size * sizeof *s->change);
    add_pushes(s, -1);
    for (int32_t i = 0; i < count; i++)
        s->pushes[i] = pushes[i];
    return take_pushes(s, count, at_once);
}

bough_status bo_body_state_weigh(bo_body_state *s, const double gravity[3]) {
    memset(s->change, 0, (size_t)s->system.size * sizeof *s->change);
    bo_body_system_weigh(&s->system, gravity, s->change);
    return bo_integrator_jump(s->integrator, s->change, true, &s->motion);
}

/* ---- saving ---- */

static int64_t size_of_motion(const bo_body_state *s) {
    return 2 + (s->touch ? 3 : 0) + 3 * (int64_t)s->system.size + bo_integrator_history_size(s->integrator);
}

int64_t bo_body_state_memory_size(const bo_body_state *s) {
    return size_of_motion(s) + bo_body_system_joined_size(&s->system);
}

void bo_body_state_save(const bo_body_state *s, double *memory) {
    const size_t n = (size_t)s->system.size;
    const double *parts[3] = {s->motion.q, s->motion.v, s->motion.a};
    memcpy(memory, s->account, sizeof s->account);
    memory += 2;
    if (s->touch)
        *memory++ = bo_touch_kappa(s->touch), *memory++ = s->motion.t, *memory++ = s->rests;
    for (int i = 0; i < 3; i++, memory += n)
        memcpy(memory, parts[i], n * sizeof *memory);
    bo_integrator_save(s->integrator, memory);
    bo_body_system_joined_save(&s->system, memory + bo_integrator_history_size(s->integrator));
}

bough_status bo_body_state_restore(bo_body_state *s, const double *memory, int64_t size) {
    const int64_t motion = size_of_motion(s);
    if (s->touch ? size < motion : size != motion)
        return bo_fail(s->ctx, BOUGH_ERROR_FORMAT, "the state has %lld numbers and should have %lld", (long long)size,
                       (long long)motion);
    BO_TRY(bo_body_system_joined_restore(&s->system, size - motion, memory + motion));
    const size_t n = (size_t)s->system.size;
    double *parts[3] = {s->motion.q, s->motion.v, s->motion.a};
    memcpy(s->account, memory, sizeof s->account);
    memory += 2;
    s->moves = true;
    if (s->touch)
        bo_touch_set_kappa(s->touch, *memory++), s->motion.t = *memory++, s->rests = *memory++;
    for (int i = 0; i < 3; i++, memory += n)
        memcpy(parts[i], memory, n * sizeof *memory);
    bo_integrator_restore(s->integrator, memory);
    return s->touch ? bo_touch_look(s->touch, s->motion.q) : BOUGH_OK;
}

/* ---- equilibria ---- */

static bough_status fail_lost(const bo_body_state *s, int32_t vertex) {
    return bo_fail(s->ctx, BOUGH_NO_CONVERGENCE,
                   "there is no equilibrium: \"%s\" slides or falls away without end; hold it, or give it more "
                   "friction or something to lie on",
                   s->plan.pieces[bo_body_piece_of(s->plan.piece_count, s->plan.pieces, vertex)].name);
}

/* Equilibrium under the loads as they are at t. */
static bough_status settle(bo_body_state *s, double t, double *residual, int32_t *iterations) {
    const bo_drive *drive = s->plan.drive;
    if (!s->touch && s->push_count == 0 && !(drive && drive->curve_count > 0)) {
        bough_static_result result;
        const bough_static_def def = bough_default_static_def();
        const bough_status status = bough_body_static(s->ctx, s->plan.body, s->load_case, &def, s->motion.q, &result);
        *residual = result.residual, *iterations = result.iterations;
        return status;
    }
    bo_settle_result result;
    bo_body_system_hold(&s->system, t, s->change, NULL);
    const bough_status status =
        bo_body_settle(s->ctx, s->load_case, &s->system, s->touch, t, s->change, s->motion.q, &result);
    *residual = result.residual, *iterations = result.iterations;
    if (status == BOUGH_OK)
        s->moves = true, s->rests = 1;
    return result.lost >= 0 && s->plan.piece_count > 0 ? fail_lost(s, result.lost) : status;
}

/* ---- making ---- */

static bough_status make_touch(bo_body_state *s) {
    bo_touch_def def = *s->plan.touch;
    unsigned char *led = BO_NEW_ARRAY(s->ctx, unsigned char, s->system.size);
    if (!led)
        return BOUGH_ERROR_MEMORY;
    if (bo_drive_leads(s->plan.drive, s->load_case, led))
        def.led = led;
    const bough_status status = bo_touch_make(s->ctx, s->plan.body, s->load_case, &def, &s->touch);
    bo_free(s->ctx, led);
    BO_TRY(status);
    bo_body_system_touch(&s->system, s->touch);
    return BOUGH_OK;
}

static bough_status check_start(bo_body_state *s) {
    const bo_body_state_plan *plan = &s->plan;
    return bo_body_check_overlap(s->ctx, plan->body->mesh, plan->touch, plan->piece_count, plan->pieces, s->motion.t,
                                 s->motion.q);
}

static bough_status begin(bo_body_state *s, double *residual) {
    if (!s->plan.settle)
        bo_body_system_hold(&s->system, 0, s->motion.q, s->motion.v);
    if (s->plan.touch) {
        BO_TRY(check_start(s));
        BO_TRY(make_touch(s));
        BO_TRY(bo_touch_start(s->touch, 0, s->plan.dt, s->motion.q));
    }
    if (s->plan.settle)
        BO_TRY(settle(s, 0, residual, &s->seen.iterations));
    bo_body_system_hold(&s->system, 0, s->motion.q, s->motion.v);
    return s->touch ? bo_touch_look(s->touch, s->motion.q) : BOUGH_OK;
}

static bough_status make_integrator(bo_body_state *s) {
    bough_integrator_def def = s->plan.integrator;
    if (s->touch) /* obstacles shorten the steps of Newton's method */
        def.max_iterations = def.max_iterations < INT32_MAX / 10 ? 10 * def.max_iterations : INT32_MAX;
    BO_TRY(bo_integrator_create(s->ctx, &s->system, &def, &s->integrator));
    s->plan.integrator.name = s->integrator->method->info.name;
    const bo_method *method = s->integrator->method;
    if (s->touch && !method->ends_at_stage && !method->ends_beyond)
        return bo_fail(s->ctx, BOUGH_ERROR_UNSUPPORTED,
                       "\"%s\" ends its steps where it has not looked for obstacles, so that a body could end in one; "
                       "take \"backward-euler\", \"bdf2\", \"tr-bdf2\", \"sdirk\" or \"midpoint\"",
                       method->info.name);
    if (s->touch && method->ends_beyond) {
        bo_touch_follow_speed(s->touch);
        if (!(s->middle = BO_NEW_ARRAY(s->ctx, double, 2 * (size_t)s->system.size)))
            return BOUGH_ERROR_MEMORY;
    }
    const int64_t size = 3 * (int64_t)s->system.size + bo_integrator_history_size(s->integrator);
    return (s->before = BO_NEW_ARRAY(s->ctx, double, size)) ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

static bough_status build(bo_body_state *s, double *residual) {
    const bo_body_state_plan *plan = &s->plan;
    BO_TRY(bo_load_case_of(s->ctx, plan->body, plan->load_case, &s->load_case));
    BO_TRY(bo_body_system_create(s->ctx, plan->body, plan->load_case, &s->system));
    bo_body_system_drive(&s->system, plan->drive);
    double **vectors[4] = {&s->motion.q, &s->motion.v, &s->motion.a, &s->change};
    for (int i = 0; i < 4; i++)
        if (!(*vectors[i] = BO_NEW_ZEROS(s->ctx, double, s->system.size)))
            return BOUGH_ERROR_MEMORY;
    if (!(s->pushes = BO_NEW_ARRAY(s->ctx, bo_point_force, plan->most_pushes)))
        return BOUGH_ERROR_MEMORY;
    const size_t bytes = (size_t)s->system.size * sizeof(double);
    if (plan->u)
        memcpy(s->motion.q, plan->u, bytes);
    if (plan->v)
        memcpy(s->motion.v, plan->v, bytes);
    BO_TRY(begin(s, residual));
    s->plan.u = s->plan.v = NULL;
    s->seen.u = s->motion.q, s->seen.v = s->motion.v;
    return make_integrator(s);
}

bough_status bo_body_state_make(bough_context *ctx, const bo_body_state_plan *plan, bo_body_state **out,
                                double *residual) {
    *out = NULL;
    bo_body_state *s = BO_NEW(ctx, bo_body_state);
    if (!s)
        return BOUGH_ERROR_MEMORY;
    s->ctx = ctx;
    s->plan = *plan;
    const bough_status status = build(s, residual);
    if (status != BOUGH_OK) {
        bo_body_state_free(ctx, s);
        return status;
    }
    *out = s;
    return BOUGH_OK;
}

void bo_body_state_free(bough_context *ctx, bo_body_state *s) {
    if (!s)
        return;
    bo_integrator_destroy(ctx, s->integrator);
    bo_body_system_destroy(ctx, &s->system);
    bo_touch_free(ctx, s->touch);
    bo_free(ctx, s->before);
    bo_free(ctx, s->middle);
    bo_free(ctx, s->motion.q);
    bo_free(ctx, s->motion.v);
    bo_free(ctx, s->motion.a);
    bo_free(ctx, s->change);
    bo_free(ctx, s->pushes);
    bo_free(ctx, s);
}

/* ---- for programs ---- */

#define STATE_COOKIE 0xB0061014u
#define MOST_PARTS 1024 /* of a step that fails */

bough_body_state_def bough_default_body_state_def(void) {
    return (bough_body_state_def){.cookie = STATE_COOKIE, .integrator = bough_default_integrator_def()};
}

/* A thread has a context of its own: whoever calls lends it to all that works for the state. */
static bo_body_state *lent(bough_context *ctx, const bough_body_state *state) {
    bo_body_state *s = (bo_body_state *)(uintptr_t)state; /* it is the first member */
    s->ctx = s->integrator->ctx = ctx;
    bo_body_system_use_context(&s->system, ctx);
    if (s->touch)
        bo_touch_use_context(s->touch, ctx);
    return s;
}

static bough_status check_finite(bough_context *ctx, int32_t size, const double *x, const char *what) {
    for (int32_t i = 0; x && i < size; i++)
        if (!isfinite(x[i]))
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the %s of vertex %d is not finite", what, i / 3);
    return BOUGH_OK;
}

bough_status bough_body_state_create(bough_context *ctx, const bough_body *body, const bough_body_state_def *def,
                                     bough_body_state **state) {
    *state = NULL;
    if (!def || def->cookie != STATE_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the def was not made by bough_default_body_state_def()");
    BO_TRY(check_finite(ctx, bo_body_size(body), def->u, "displacement"));
    BO_TRY(check_finite(ctx, bo_body_size(body), def->v, "velocity"));
    const bo_body_state_plan plan = {.body = body,
                                     .load_case = def->load_case,
                                     .u = def->u,
                                     .v = def->v,
                                     .touch = def->touch ? &def->touch->def : NULL,
                                     .integrator = def->integrator,
                                     .most_pushes = body->mesh->vertex_count};
    bo_body_state *made;
    double residual;
    BO_TRY(bo_body_state_make(ctx, &plan, &made, &residual));
    made->made = def->touch;
    *state = &made->seen;
    return BOUGH_OK;
}

void bough_body_state_destroy(bough_context *ctx, bough_body_state *state) {
    bo_body_state_free(ctx, (bo_body_state *)state);
}

bough_status bough_body_state_restart(bough_context *ctx, bough_body_state *state) {
    bo_body_state *s = lent(ctx, state);
    if (!isfinite(state->time))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the time of a state must be finite");
    BO_TRY(check_finite(ctx, s->system.size, state->u, "displacement"));
    BO_TRY(check_finite(ctx, s->system.size, state->v, "velocity"));
    s->motion.t = state->time, s->moves = false, s->rests = 0;
    bo_integrator_restart(s->integrator);
    bo_body_system_hold(&s->system, state->time, s->motion.q, s->motion.v);
    if (!s->touch)
        return BOUGH_OK;
    BO_TRY(bo_body_touch_check_leads(ctx, s->made, state->time));
    BO_TRY(check_start(s));
    return bo_touch_start(s->touch, state->time, 0, s->motion.q);
}

bough_status bough_body_state_step(bough_context *ctx, bough_body_state *state, double dt) {
    bo_body_state *s = lent(ctx, state);
    int64_t iterations = 0;
    if (!(dt > 0 && isfinite(dt)))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the time step is %g s; it must be positive", dt);
    if (s->touch)
        BO_TRY(bo_body_touch_check_leads(ctx, s->made, state->time + dt));
    BO_TRY(bo_body_state_step(s, state->time, dt, &iterations));
    state->time = s->motion.t;
    state->iterations = (int32_t)iterations;
    return BOUGH_OK;
}

/* Halves that follow from the place where they are: a half that begins in the middle of a longer one ends where that
 * would have ended. */
bough_status bough_body_state_advance(bough_context *ctx, bough_body_state *state, double dt, int32_t *steps) {
    const double start = state->time;
    int32_t done = 0, part = MOST_PARTS, unused; /* of MOST_PARTS */
    steps = steps ? steps : &unused;
    for (*steps = 0; done < MOST_PARTS;) {
        const double h = dt * part / MOST_PARTS;
        const bough_status status = bough_body_state_step(ctx, state, h);
        if (status != BOUGH_OK && (status < 0 || part == 1 || status == BOUGH_CANCELLED))
            return status;
        if (status != BOUGH_OK) {
            part /= 2;
            continue;
        }
        done += part, ++*steps;
        state->time = start + dt * done / MOST_PARTS;
        if (part < MOST_PARTS && done % (2 * part) == 0)
            part *= 2;
    }
    return BOUGH_OK;
}

bough_status bough_body_state_settle(bough_context *ctx, bough_body_state *state) {
    bo_body_state *s = lent(ctx, state);
    double residual;
    bough_body_properties whole;
    const double t = state->time;
    BO_TRY(bough_body_measure(ctx, s->plan.body, &whole));
    if (s->touch)
        BO_TRY(bo_body_touch_check_leads(ctx, s->made, t));
    copy_motion(s, false);
    s->motion.t = t;
    bough_status status = BOUGH_OK;
    if (s->touch && !(bo_touch_kappa(s->touch) > 0)) /* no step has told how stiff inertia is */
        status = bo_touch_start(s->touch, t, 1 / sqrt(bo_body_typical_eigenvalue(s->plan.body, &whole)), s->motion.q);
    if (status == BOUGH_OK)
        status = settle(s, t, &residual, &state->iterations);
    if (status == BOUGH_OK && s->touch)
        status = bo_touch_look(s->touch, s->motion.q);
    if (status != BOUGH_OK) {
        copy_motion(s, true);
        return status;
    }
    memset(s->motion.v, 0, (size_t)s->system.size * sizeof *s->motion.v);
    bo_integrator_restart(s->integrator);
    return BOUGH_OK;
}

bough_status bough_body_state_push(bough_context *ctx, bough_body_state *state, const double *force) {
    bo_body_state *s = lent(ctx, state);
    int32_t count = 0;
    BO_TRY(check_finite(ctx, s->system.size, force, "force"));
    memset(s->change, 0, (size_t)s->system.size * sizeof *s->change);
    add_pushes(s, -1);
    for (int32_t i = 0; force && i < s->plan.most_pushes; i++) {
        const double *f = force + 3 * (size_t)i;
        if (f[0] != 0 || f[1] != 0 || f[2] != 0)
            s->pushes[count++] = (bo_point_force){i, {f[0], f[1], f[2]}};
    }
    return take_pushes(s, count, true);
}

int32_t bough_body_state_contacts(const bough_body_state *state, int32_t most, bough_contact *contacts) {
    const bo_body_state *s = (const bo_body_state *)state;
    return s->touch ? bo_touch_contacts(s->touch, s->motion.t, s->motion.q, most, contacts) : 0;
}

bough_status bough_body_state_measure(bough_context *ctx, const bough_body_state *state, bough_body_energies *e) {
    const bo_body_state *s = lent(ctx, state);
    bo_body_measures m;
    BO_TRY(bo_body_system_measure(&s->system, s->motion.q, s->motion.v, &m));
    *e = (bough_body_energies){
        .elastic = m.elastic, .kinetic = m.kinetic, .external = m.external, .work = s->account[0], .gap = INFINITY};
    memcpy(e->momentum, m.momentum, sizeof e->momentum);
    memcpy(e->angular_momentum, m.angular_momentum, sizeof e->angular_momentum);
    if (s->touch) {
        e->contact = bo_touch_energy(s->touch, s->motion.t, s->motion.q);
        e->gap = bo_touch_gap(s->touch, s->motion.t, s->motion.q);
    }
    return BOUGH_OK;
}
