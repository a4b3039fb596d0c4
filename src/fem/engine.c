#include "fem/engine.h"

#include "fem/body.h"
#include "fem/overlap.h"
#include "fem/settle.h"
#include "fem/system.h"
#include "fem/touch.h"
#include "time/integrator.h"

#include <math.h>
#include <string.h>

enum { PASSES = 3, LEVER_PASSES = 24 }; /* of a step with friction */
#define SAME_FRICTION 1e-3              /* of the largest force of friction: changes that ask for no further pass */
#define SAME_LEVERS 1e-11               /* the same of vertices, in sizes of the body */
#define MOST_CHANGE 1e-3                /* of the energy: what a step of the midpoint rule may add to it or take */

typedef struct {
    bough_context *ctx;
    bo_body_plan plan;
    bough_thing *things;  /* the bodies, then obstacles; NULL: nobody looked */
    bough_look *looks;    /* of obstacles */
    bough_contact *found; /* scratch of contacts() */
    size_t found_capacity;
    bo_system system;
    bo_integrator *integrator;
    bo_motion motion;
    bo_touch *touch;                            /* NULL: it touches nothing */
    double *before;                             /* the state before a step, for friction that is measured twice */
    double *middle;                             /* q and v half way, of methods that end beyond their stage */
    const bo_hands *hands;                      /* NULL: none */
    bo_point_force pushes[BOUGH_RUN_HANDS + 1]; /* of the last step */
    int32_t push_count;
    double *change;    /* of the loads from one step to the next */
    double account[2]; /* work so far, J, and the largest doubt about that of a step */
} full_engine;

static void take_hands(void *data, const bo_hands *hands) {
    ((full_engine *)data)->hands = hands;
}

/* Springs as they stand at the start of the step. */
static int32_t list_pushes(const full_engine *e, bo_point_force *pushes) {
    int32_t count = 0;
    for (int i = 0; i <= BOUGH_RUN_HANDS && e->hands; i++) {
        const bo_hand *hand = i < BOUGH_RUN_HANDS ? &e->hands->pulls[i] : &e->hands->poke;
        bo_point_force *to = &pushes[count];
        if (!hand->holds)
            continue;
        *to = (bo_point_force){.vertex = hand->vertex};
        for (int d = 0; d < 3; d++) {
            const size_t at = 3 * (size_t)hand->vertex + (size_t)d;
            const double x = bough_body_mesh(e->plan.body)->vertices[at] + e->motion.q[at];
            to->force[d] = i < BOUGH_RUN_HANDS
                               ? hand->stiffness * (hand->target[d] - x) - hand->damping * e->motion.v[at]
                               : hand->target[d];
        }
        count++;
    }
    return count;
}

static void add_pushes(full_engine *e, double sign) {
    for (int32_t i = 0; i < e->push_count; i++)
        for (size_t d = 0; d < 3; d++)
            e->change[3 * (size_t)e->pushes[i].vertex + d] += sign * e->pushes[i].force[d];
}

static bool hold_the_same(int32_t count, const bo_point_force *a, const bo_point_force *b) {
    bool same = true;
    for (int32_t i = 0; i < count; i++)
        same &= a[i].vertex == b[i].vertex;
    return same;
}

/* A push is the same from the start of a step to its end, also for methods that start from the acceleration in which
 * the step before has ended. A hand that goes on pulling pulls nearly as before; other changes are blows. */
static bough_status push(full_engine *e) {
    bo_point_force pushes[BOUGH_RUN_HANDS + 1];
    const int32_t count = list_pushes(e, pushes);
    if (count == 0 && e->push_count == 0)
        return BOUGH_OK;
    const bool at_once = count != e->push_count || e->hands->poke.holds || !hold_the_same(count, pushes, e->pushes);
    memset(e->change, 0, (size_t)e->system.size * sizeof *e->change);
    add_pushes(e, -1);
    memcpy(e->pushes, pushes, sizeof pushes);
    e->push_count = count;
    add_pushes(e, 1);
    bo_body_system_push(&e->system, count, e->pushes);
    return bo_integrator_jump(e->integrator, e->change, at_once, &e->motion);
}

static bough_status set_gravity(void *data, const double gravity[3]) {
    full_engine *e = data;
    memset(e->change, 0, (size_t)e->system.size * sizeof *e->change);
    bo_body_system_weigh(&e->system, gravity, e->change);
    return bo_integrator_jump(e->integrator, e->change, true, &e->motion);
}

/* A state that has no forces has no energy either, and is refused when it is measured. */
static void count_work(full_engine *e, double t, double h) {
    double work, doubt;
    const bough_status status = bo_body_system_end_work(&e->system, t, h, e->motion.q, e->motion.v, &work, &doubt);
    e->account[0] += status == BOUGH_OK ? work : NAN;
    e->account[1] = fmax(e->account[1], doubt);
    if (!e->touch)
        return;
    bo_touch_work(e->touch, e->motion.q, &work, &doubt);
    e->account[0] += work;
    e->account[1] = fmax(e->account[1], doubt);
}

/* The motion and what the method keeps of it. */
static void copy_motion(full_engine *e, bool back) {
    const size_t n = (size_t)e->system.size;
    double *const parts[3] = {e->motion.q, e->motion.v, e->motion.a}, *at = e->before;
    for (int i = 0; i < 3; i++, at += n)
        memcpy(back ? parts[i] : at, back ? at : parts[i], n * sizeof *at);
    if (back)
        bo_integrator_restore(e->integrator, at);
    else
        bo_integrator_save(e->integrator, at);
}

/* Friction is measured by the forces at the start of the step, and once more by those at its end where they differ. */
static bough_status measure_friction(full_engine *e, double t, double h, int pass, bool *again) {
    double change;
    *again = false;
    if (pass == PASSES - 1)
        return BOUGH_OK;
    BO_TRY(bo_touch_begin_again(e->touch, t + h, e->motion.q, &change));
    *again = !(change < SAME_FRICTION);
    return BOUGH_OK;
}

/* The midpoint rule has its forces in the middle of a step, and keeps angular momentum where they have no torque there.
 * Friction between pieces has none in the middle of the pass before: passes follow until that stays where it is. Each
 * moves it by as much less than the one before as friction moves a vertex, in a step, beside the size of an element;
 * shorter steps need fewer. */
static bough_status measure_friction_in_the_middle(full_engine *e, double t, double h, int pass, bool *again) {
    const size_t n = (size_t)e->system.size;
    double change = 0, *q = e->middle, *v = e->middle + n;
    for (size_t i = 0; i < n; i++) {
        q[i] = 0.5 * (e->before[i] + e->motion.q[i]);
        v[i] = 0.5 * (e->before[n + i] + e->motion.v[i]);
    }
    if (pass < PASSES - 1)
        BO_TRY(bo_touch_begin_again(e->touch, t + 0.5 * h, q, &change));
    *again = !(change < SAME_FRICTION);
    *again |= !(bo_touch_turn_levers(e->touch, q) < SAME_LEVERS);
    e->integrator->guess = v;
    return *again && pass == LEVER_PASSES - 1
               ? bo_fail(e->ctx, BOUGH_NO_CONVERGENCE, "friction at t = %g is not found; take a shorter step", t)
               : BOUGH_OK;
}

/* All but the potential of loads that have none; *moving: kinetic and elastic energy. */
static bough_status energy_of(full_engine *e, double t, double *total, double *moving) {
    bo_body_measures m;
    BO_TRY(bo_body_system_measure(&e->system, e->motion.q, e->motion.v, &m));
    *moving = m.kinetic + m.elastic;
    *total = *moving + m.external + bo_touch_energy(e->touch, t, e->motion.q);
    return BOUGH_OK;
}

/* The midpoint rule keeps energy where forces are smooth in a step, but not where a step leads deep into a barrier, with
 * forces that are too large or too small for the whole of it. Damping takes h v^T D v, v in the middle. */
static bough_status check_balance(full_engine *e, double t, double h, double before, double moving) {
    const double *v = e->middle + e->system.size;
    double work, pushed, after, unused, doubts[2], damped = 0;
    BO_TRY(energy_of(e, t + h, &after, &unused));
    BO_TRY(bo_body_system_end_work(&e->system, t + h, h, e->motion.q, e->motion.v, &pushed, &doubts[0]));
    bo_touch_work(e->touch, e->motion.q, &work, &doubts[1]);
    e->system.multiply(e->system.data, BO_MATRIX_D, v, e->change);
    for (int32_t i = 0; i < e->system.size; i++)
        damped += h * v[i] * e->change[i];
    if (fabs(after - before - work - pushed + damped) <= MOST_CHANGE * moving + doubts[0] + doubts[1])
        return BOUGH_OK;
    return bo_fail(e->ctx, BOUGH_NO_CONVERGENCE,
                   "the step from t = %g is too long for what touches in it, and would change the energy; take a "
                   "shorter one",
                   t);
}

/* One pass; *again: friction was measured anew, and another one is to follow. */
static bough_status pass_with_contact(full_engine *e, double t, double h, int pass, int64_t *iterations, bool *again) {
    const bough_status status = bo_integrator_step(e->integrator, h, &e->motion);
    *iterations += e->integrator->iterations;
    BO_TRY(status);
    bo_body_system_hold(&e->system, t + h, e->motion.q, e->motion.v);
    if (e->integrator->method->ends_beyond) {
        BO_TRY(bo_touch_check_end(e->touch, e->motion.q));
        return measure_friction_in_the_middle(e, t, h, pass, again);
    }
    BO_TRY(bo_touch_check_ways(e->touch, e->motion.q));
    return measure_friction(e, t, h, pass, again);
}

static bough_status step_with_contact(full_engine *e, double t, double h, int64_t *iterations) {
    const double kappa = bo_touch_kappa(e->touch);
    const bool beyond = e->integrator->method->ends_beyond;
    double energy = 0, moving = 0;
    bough_status status = beyond ? energy_of(e, t, &energy, &moving) : BOUGH_OK;
    if (status == BOUGH_OK)
        status = bo_touch_begin(e->touch, t, h, e->motion.q, e->motion.v);
    copy_motion(e, false);
    bool again = status == BOUGH_OK;
    for (int pass = 0; again && status == BOUGH_OK; pass++) {
        if (pass > 0)
            copy_motion(e, true), e->motion.t = t;
        status = pass_with_contact(e, t, h, pass, iterations, &again);
    }
    e->integrator->guess = NULL;
    if (status == BOUGH_OK && beyond)
        status = check_balance(e, t, h, energy, moving);
    if (status == BOUGH_OK)
        return BOUGH_OK;
    copy_motion(e, true);
    e->motion.t = t;
    bo_touch_set_kappa(e->touch, kappa);
    return status;
}

static bough_status step_alone(full_engine *e, double h, int64_t *iterations) {
    const bough_status status = bo_integrator_step(e->integrator, h, &e->motion);
    *iterations += e->integrator->iterations;
    return status;
}

static bough_status step(void *data, double t, double h, int64_t *iterations) {
    full_engine *e = data;
    e->motion.t = t; /* counted by the run, so that it does not drift */
    BO_TRY(push(e));
    BO_TRY(bo_body_system_begin_work(&e->system, t, e->motion.q, e->motion.v));
    BO_TRY(e->touch ? step_with_contact(e, t, h, iterations) : step_alone(e, h, iterations));
    bo_body_system_hold(&e->system, t + h, e->motion.q, e->motion.v);
    count_work(e, t + h, h);
    return BOUGH_OK;
}

static double work(const void *data, double *doubt) {
    const full_engine *e = data;
    *doubt = e->account[1];
    return e->account[0];
}

static void measure_probe(const full_engine *e, const bo_probe *probe, double *values) {
    memset(values, 0, 9 * sizeof *values);
    for (int32_t i = 0; i < probe->count; i++)
        for (size_t d = 0; d < 3; d++) {
            size_t at = 3 * (size_t)probe->vertices[i] + d;
            double weight = probe->weights ? probe->weights[i] : 1.0 / probe->count;
            values[3 + d] += weight * e->motion.q[at];
            values[6 + d] += weight * e->motion.v[at];
        }
    for (size_t d = 0; d < 3; d++)
        values[d] = probe->rest[d] + values[3 + d];
}

/* Measures the stress of the element, or of that with the largest von Mises of several. */
static bough_status measure_stress(const full_engine *e, const bo_probe *probe, double *values) {
    const bough_body *body = e->plan.body;
    double most = -1;
    for (int32_t i = 0; i < probe->element_count; i++) {
        double s[6];
        BO_TRY(bo_body_element_stress(e->ctx, body, probe->elements[i], e->motion.q, s));
        const double von_mises = bough_von_mises(s);
        if (von_mises <= most)
            continue;
        most = values[0] = von_mises;
        bough_principal_stresses(s, values + 1, NULL);
    }
    return BOUGH_OK;
}

static bough_status measure(void *data, double t, double *values) {
    full_engine *e = data;
    bo_body_measures m;
    BO_TRY(bo_body_system_measure(&e->system, e->motion.q, e->motion.v, &m));
    if (e->touch)
        m.external += bo_touch_energy(e->touch, t, e->motion.q);
    values[BOUGH_COLUMN_TIME] = t;
    values[BOUGH_COLUMN_ELASTIC] = m.elastic;
    values[BOUGH_COLUMN_KINETIC] = m.kinetic;
    values[BOUGH_COLUMN_EXTERNAL] = m.external;
    values[BOUGH_COLUMN_TOTAL] = m.elastic + m.kinetic + m.external;
    memcpy(values + BOUGH_COLUMN_MOMENTUM, m.momentum, sizeof m.momentum);
    memcpy(values + BOUGH_COLUMN_ANGULAR_MOMENTUM, m.angular_momentum, sizeof m.angular_momentum);
    values += BOUGH_COLUMN_PROBES;
    for (int32_t i = 0; i < e->plan.probe_count; i++) {
        const bo_probe *probe = &e->plan.probes[i];
        if (probe->kind == BO_PROBE_MOTION)
            measure_probe(e, probe, values);
        else if (probe->kind == BO_PROBE_STRESS)
            BO_TRY(measure_stress(e, probe, values));
        values += bo_probe_columns(probe);
    }
    return BOUGH_OK;
}

static bough_status stresses(void *data, double *von_mises) {
    const full_engine *e = data;
    return bough_body_stress(e->ctx, e->plan.body, e->motion.q, NULL, von_mises);
}

/* Means over the elements around each vertex, by number. */
static void spread_stresses(const bough_mesh *mesh, const double *of_element, float *of_vertex, int32_t *uses) {
    const int32_t nodes = bough_element_node_count(mesh->type);
    memset(of_vertex, 0, (size_t)mesh->vertex_count * sizeof *of_vertex);
    for (int32_t e = 0; e < mesh->element_count; e++)
        for (int32_t k = 0; k < nodes; k++) {
            const int32_t v = mesh->elements[(size_t)e * (size_t)nodes + (size_t)k];
            of_vertex[v] += (float)of_element[e], uses[v]++;
        }
    for (int32_t v = 0; v < mesh->vertex_count; v++)
        of_vertex[v] /= uses[v] > 0 ? (float)uses[v] : 1;
}

static bough_status vertex_stresses(void *data, float *von_mises) {
    const full_engine *e = data;
    const bough_mesh *mesh = bough_body_mesh(e->plan.body);
    double *of_element = BO_NEW_ARRAY(e->ctx, double, mesh->element_count);
    int32_t *uses = BO_NEW_ZEROS(e->ctx, int32_t, mesh->vertex_count);
    bough_status status = of_element && uses ? stresses(data, of_element) : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK)
        spread_stresses(mesh, of_element, von_mises, uses);
    bo_free(e->ctx, of_element);
    bo_free(e->ctx, uses);
    return status;
}

/* ---- what is shown ---- */

static void drop_surface(full_engine *e) {
    bo_looks_free(e->ctx, e->looks ? e->plan.around.count : 0, e->looks);
    bo_free(e->ctx, e->things);
    e->looks = NULL, e->things = NULL;
}

static bough_thing describe_body(const bo_engine *engine, double mass) {
    return (bough_thing){.name = "body",
                         .kind = "body",
                         .parent = -1,
                         .drawing = BOUGH_DRAWN_VERTICES,
                         .look = -1,
                         .scale = 1,
                         .stiffness = 1,
                         .mass = mass,
                         .rest = bough_default_pose(),
                         .vertex_count = engine->mesh->vertex_count};
}

/* The mass of vertices that no element connects with others: their momentum at the speed 1. */
static bough_status weigh_piece(full_engine *e, const bo_body_piece *piece, double *mass) {
    bo_body_measures m;
    memset(e->change, 0, (size_t)e->system.size * sizeof *e->change);
    for (int32_t i = 0; i < piece->vertex_count; i++)
        e->change[3 * (size_t)(piece->first_vertex + i)] = 1;
    BO_TRY(bo_body_system_measure(&e->system, e->motion.q, e->change, &m));
    *mass = m.momentum[0];
    return BOUGH_OK;
}

static bough_status describe_piece(full_engine *e, const bo_body_piece *piece, bough_thing *thing) {
    thing->name = piece->name;
    thing->first_vertex = piece->first_vertex, thing->vertex_count = piece->vertex_count;
    return weigh_piece(e, piece, &thing->mass);
}

/* Things are the bodies, then the obstacles. */
static int32_t body_count(const full_engine *e) {
    return e->plan.piece_count > 0 ? e->plan.piece_count : 1;
}

static bough_status gather(bo_engine *engine) {
    full_engine *e = engine->data;
    const int32_t obstacles = e->plan.around.count;
    bough_body_properties whole = {0};
    BO_TRY(bough_body_measure(e->ctx, e->plan.body, &whole));
    const int32_t bodies = body_count(e);
    e->things = BO_NEW_ZEROS(e->ctx, bough_thing, bodies + obstacles);
    e->looks = BO_NEW_ZEROS(e->ctx, bough_look, obstacles);
    bough_status status = e->things && e->looks ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK && obstacles > 0)
        status =
            bo_surroundings_gather(e->ctx, &e->plan.around, bo_touch_size(e->touch), 0, e->things + bodies, e->looks);
    for (int32_t i = 0; i < bodies && status == BOUGH_OK; i++)
        e->things[i] = describe_body(engine, whole.mass);
    for (int32_t i = 0; i < e->plan.piece_count && status == BOUGH_OK; i++)
        status = describe_piece(e, &e->plan.pieces[i], &e->things[i]);
    if (status != BOUGH_OK) {
        drop_surface(e);
        return status;
    }
    engine->things = e->things, engine->thing_count = bodies + obstacles;
    engine->looks = e->looks, engine->look_count = obstacles;
    return BOUGH_OK;
}

static void look_at(void *data, int32_t thing, bough_thing_state *state) {
    const full_engine *e = data;
    const int32_t obstacle = thing - body_count(e);
    *state = (bough_thing_state){.frame = {.pose = bough_default_pose()}, .parent = -1, .there = true, .stiffness = 1};
    if (obstacle >= 0)
        bo_surroundings_look_at(&e->plan.around, obstacle, e->motion.t, state);
}

/* Nobody has looked for its frequencies: a hand takes it for slow. */
static void feel(void *data, int32_t thing, double *mass, double *frequency) {
    const full_engine *e = data;
    bough_body_properties whole = {.mass = 1};
    (void)thing;
    *mass = bough_body_measure(e->ctx, e->plan.body, &whole) == BOUGH_OK ? whole.mass : 1;
    *frequency = 1;
}

/* ---- saving ---- */

static int64_t size_of_motion(const full_engine *e) {
    return 2 + (e->touch ? 2 : 0) + 3 * (int64_t)e->system.size + bo_integrator_history_size(e->integrator);
}

static int64_t state_size(const void *data) {
    const full_engine *e = data;
    return size_of_motion(e) + bo_body_system_joined_size(&e->system);
}

static void save(const void *data, double *state) {
    const full_engine *e = data;
    const size_t n = (size_t)e->system.size;
    const double *parts[3] = {e->motion.q, e->motion.v, e->motion.a};
    memcpy(state, e->account, sizeof e->account);
    state += 2;
    if (e->touch)
        *state++ = bo_touch_kappa(e->touch), *state++ = e->motion.t;
    for (int i = 0; i < 3; i++, state += n)
        memcpy(state, parts[i], n * sizeof *state);
    bo_integrator_save(e->integrator, state);
    bo_body_system_joined_save(&e->system, state + bo_integrator_history_size(e->integrator));
}

static bough_status restore(void *data, const double *state, int64_t size) {
    full_engine *e = data;
    const int64_t motion = size_of_motion(e);
    if (e->touch ? size < motion : size != motion)
        return bo_fail(e->ctx, BOUGH_ERROR_FORMAT, "the state has %lld numbers and should have %lld", (long long)size,
                       (long long)motion);
    BO_TRY(bo_body_system_joined_restore(&e->system, size - motion, state + motion));
    const size_t n = (size_t)e->system.size;
    double *parts[3] = {e->motion.q, e->motion.v, e->motion.a};
    memcpy(e->account, state, sizeof e->account);
    state += 2;
    if (e->touch)
        bo_touch_set_kappa(e->touch, *state++), e->motion.t = *state++;
    for (int i = 0; i < 3; i++, state += n)
        memcpy(parts[i], state, n * sizeof *state);
    bo_integrator_restore(e->integrator, state);
    return e->touch ? bo_touch_look(e->touch, e->motion.q) : BOUGH_OK;
}

/* ---- making ---- */

static void destroy(bough_context *ctx, void *data) {
    full_engine *e = data;
    bo_integrator_destroy(ctx, e->integrator);
    bo_body_system_destroy(ctx, &e->system);
    bo_touch_free(ctx, e->touch);
    bo_free(ctx, e->before);
    bo_free(ctx, e->middle);
    bo_free(ctx, e->motion.q);
    bo_free(ctx, e->motion.v);
    bo_free(ctx, e->motion.a);
    bo_free(ctx, e->change);
    bo_free(ctx, e->found);
    drop_surface(e);
    if (e->plan.owner)
        e->plan.release(ctx, e->plan.owner);
    bo_free(ctx, e);
}

/* Pieces ascend by their vertices. */
static int32_t thing_of(const full_engine *e, int32_t vertex) {
    int32_t i = 0;
    while (i + 1 < e->plan.piece_count && vertex >= e->plan.pieces[i + 1].first_vertex)
        i++;
    return i;
}

static bough_status fail_lost(const full_engine *e, int32_t vertex) {
    return bo_fail(e->ctx, BOUGH_NO_CONVERGENCE,
                   "there is no equilibrium: \"%s\" slides or falls away without end; hold it, or give it more "
                   "friction or something to lie on",
                   e->plan.pieces[thing_of(e, vertex)].name);
}

/* Equilibrium under the loads as they are at the start, which becomes the start. */
static bough_status settle(full_engine *e, const bough_load_case *load_case, double *residual) {
    if (!e->touch && !(e->plan.drive && e->plan.drive->curve_count > 0)) {
        bough_static_result result;
        const bough_static_def def = bough_default_static_def();
        BO_TRY(bough_body_static(e->ctx, e->plan.body, load_case, &def, e->motion.q, &result));
        *residual = result.residual;
        return BOUGH_OK;
    }
    bo_settle_result result;
    bo_body_system_hold(&e->system, 0, e->change, NULL);
    const bough_status status =
        bo_body_settle(e->ctx, load_case, &e->system, e->touch, e->change, e->motion.q, &result);
    *residual = result.residual;
    return result.lost >= 0 && e->plan.piece_count > 0 ? fail_lost(e, result.lost) : status;
}

static bough_status make_touch(full_engine *e, const bough_load_case *load_case, const bo_engine_settings *settings) {
    bo_touch_def def = *e->plan.touch;
    unsigned char *led = BO_NEW_ARRAY(e->ctx, unsigned char, e->system.size);
    if (!led)
        return BOUGH_ERROR_MEMORY;
    if (bo_drive_leads(e->plan.drive, load_case, led))
        def.led = led;
    const bough_status status = bo_touch_make(e->ctx, e->plan.body, load_case, &def, &e->touch);
    bo_free(e->ctx, led);
    BO_TRY(status);
    bo_body_system_touch(&e->system, e->touch);
    return bo_touch_start(e->touch, settings->dt, e->motion.q);
}

static bough_status begin(full_engine *e, const bo_engine_settings *settings, double *residual) {
    const bough_load_case *load_case;
    BO_TRY(bo_load_case_of(e->ctx, e->plan.body, e->plan.load_case, &load_case));
    if (!settings->settle)
        bo_body_system_hold(&e->system, 0, e->motion.q, e->motion.v);
    if (e->plan.touch) {
        BO_TRY(bo_body_check_overlap(e->ctx, &e->plan, e->motion.q));
        BO_TRY(make_touch(e, load_case, settings));
    }
    if (settings->settle)
        BO_TRY(settle(e, load_case, residual));
    bo_body_system_hold(&e->system, 0, e->motion.q, e->motion.v);
    return e->touch ? bo_touch_look(e->touch, e->motion.q) : BOUGH_OK;
}

static int32_t contacts(const void *data, int32_t most, bough_run_contact *list) {
    full_engine *e = (full_engine *)(uintptr_t)data; /* for its scratch */
    if (!e->touch || !BO_RESERVE(e->ctx, e->found, e->found_capacity, (size_t)most))
        return 0;
    const int32_t count = bo_touch_contacts(e->touch, e->motion.t, e->motion.q, most, e->found);
    for (int32_t i = 0; i < count && i < most; i++) {
        const bough_contact *from = &e->found[i];
        const bool obstacle = from->sides[1].kind == BOUGH_CONTACT_OF_OBSTACLE;
        list[i] = (bough_run_contact){
            .things = {thing_of(e, from->sides[0].index),
                       obstacle ? body_count(e) + from->sides[1].index : thing_of(e, from->sides[1].index)},
            .gap = from->gap};
        memcpy(list[i].position, from->position, sizeof list[i].position);
        memcpy(list[i].normal, from->normal, sizeof list[i].normal);
        memcpy(list[i].force, from->force, sizeof list[i].force);
    }
    return count;
}

static bough_status build(full_engine *e, const bo_engine_settings *settings, double *residual) {
    BO_TRY(bo_body_system_create(e->ctx, e->plan.body, e->plan.load_case, &e->system));
    bo_body_system_drive(&e->system, e->plan.drive);
    double **vectors[4] = {&e->motion.q, &e->motion.v, &e->motion.a, &e->change};
    for (int i = 0; i < 4; i++)
        if (!(*vectors[i] = BO_NEW_ZEROS(e->ctx, double, e->system.size)))
            return BOUGH_ERROR_MEMORY;
    memcpy(e->motion.v, e->plan.velocity, (size_t)e->system.size * sizeof *e->plan.velocity);
    BO_TRY(begin(e, settings, residual));
    bough_integrator_def def = settings->integrator;
    if (e->touch) /* obstacles shorten the steps of Newton's method */
        def.max_iterations = 10 * def.max_iterations;
    BO_TRY(bo_integrator_create(e->ctx, &e->system, &def, &e->integrator));
    const bo_method *method = e->integrator->method;
    if (e->touch && !method->ends_at_stage && !method->ends_beyond)
        return bo_fail(e->ctx, BOUGH_ERROR_UNSUPPORTED,
                       "\"%s\" ends its steps where it has not looked for obstacles, so that a body could end in one; "
                       "take \"backward-euler\", \"bdf2\", \"tr-bdf2\", \"sdirk\" or \"midpoint\"",
                       method->info.name);
    if (e->touch && method->ends_beyond) {
        bo_touch_follow_speed(e->touch);
        if (!(e->middle = BO_NEW_ARRAY(e->ctx, double, 2 * (size_t)e->system.size)))
            return BOUGH_ERROR_MEMORY;
    }
    const int64_t size = 3 * (int64_t)e->system.size + bo_integrator_history_size(e->integrator);
    return !e->touch || (e->before = BO_NEW_ARRAY(e->ctx, double, size)) ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

#define BODY_CAN (BOUGH_CAN_PULL | BOUGH_CAN_GRAVITY | BOUGH_CAN_STRESS)
#define BODY_ENGINE                                                                                             \
    .name = "full", .label = "full FEM", .title = "the full engine", .things = "the full engine has no parts",  \
    .destroy = destroy, .step = step, .measure = measure, .work = work, .state_size = state_size, .save = save, \
    .restore = restore, .gather = gather, .look_at = look_at, .take_hands = take_hands, .feel = feel,           \
    .set_gravity = set_gravity, .stresses = stresses, .vertex_stresses = vertex_stresses

const bo_engine_kind bo_body_engine = {BODY_ENGINE, .can = BODY_CAN};
static const bo_engine_kind touching_engine = {BODY_ENGINE, .can = BODY_CAN | BOUGH_CAN_CONTACTS, .contacts = contacts};

bough_status bo_body_engine_create(bough_context *ctx, const bo_body_plan *plan, const bo_engine_settings *settings,
                                   bo_engine *engine) {
    *engine = (bo_engine){.kind = plan->touch ? &touching_engine : &bo_body_engine, .residual = NAN};
    full_engine *e = BO_NEW(ctx, full_engine);
    if (!e) {
        if (plan->owner)
            plan->release(ctx, plan->owner);
        return BOUGH_ERROR_MEMORY;
    }
    engine->data = e;
    e->ctx = ctx;
    e->plan = *plan;
    bough_status status = build(e, settings, &engine->residual);
    if (status == BOUGH_OK)
        status = bo_engine_name_columns(ctx, engine, plan->probe_count, plan->probes);
    if (status != BOUGH_OK) {
        bo_engine_destroy(ctx, engine);
        return status;
    }
    engine->mesh = bough_body_mesh(plan->body);
    engine->stress_count = engine->mesh->element_count;
    engine->integrator = e->integrator->method->info.name;
    engine->displacement = e->motion.q;
    engine->velocity = e->motion.v;
    return BOUGH_OK;
}
