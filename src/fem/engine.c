#include "fem/engine.h"

#include "fem/body.h"
#include "fem/state.h"

#include <math.h>
#include <string.h>

typedef struct {
    bough_context *ctx;
    bo_body_plan plan;
    bough_thing *things;  /* the bodies, then obstacles; NULL: nobody looked */
    bough_look *looks;    /* of obstacles */
    bough_contact *found; /* scratch of contacts() */
    size_t found_capacity;
    bo_body_state *state;
    const bo_hands *hands; /* NULL: none */
    double *scratch;       /* size of the system */
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
            const double x = bough_body_mesh(e->plan.body)->vertices[at] + e->state->motion.q[at];
            to->force[d] = i < BOUGH_RUN_HANDS
                               ? hand->stiffness * (hand->target[d] - x) - hand->damping * e->state->motion.v[at]
                               : hand->target[d];
        }
        count++;
    }
    return count;
}

static bool hold_the_same(int32_t count, const bo_point_force *a, const bo_point_force *b) {
    bool same = true;
    for (int32_t i = 0; i < count; i++)
        same &= a[i].vertex == b[i].vertex;
    return same;
}

/* A hand that goes on pulling pulls nearly as before; other changes are blows. */
static bough_status push(full_engine *e) {
    bo_point_force pushes[BOUGH_RUN_HANDS + 1];
    const bo_body_state *s = e->state;
    const int32_t count = list_pushes(e, pushes);
    if (count == 0 && s->push_count == 0)
        return BOUGH_OK;
    const bool at_once = count != s->push_count || e->hands->poke.holds || !hold_the_same(count, pushes, s->pushes);
    return bo_body_state_push(e->state, count, pushes, at_once);
}

static bough_status set_gravity(void *data, const double gravity[3]) {
    return bo_body_state_weigh(((full_engine *)data)->state, gravity);
}

static bough_status step(void *data, double t, double h, int64_t *iterations) {
    full_engine *e = data;
    e->state->motion.t = t;
    BO_TRY(push(e));
    return bo_body_state_step(e->state, t, h, iterations);
}

static double work(const void *data, double *doubt) {
    const full_engine *e = data;
    *doubt = e->state->account[1];
    return e->state->account[0];
}

static void measure_probe(const full_engine *e, const bo_probe *probe, double *values) {
    memset(values, 0, 9 * sizeof *values);
    for (int32_t i = 0; i < probe->count; i++)
        for (size_t d = 0; d < 3; d++) {
            size_t at = 3 * (size_t)probe->vertices[i] + d;
            double weight = probe->weights ? probe->weights[i] : 1.0 / probe->count;
            values[3 + d] += weight * e->state->motion.q[at];
            values[6 + d] += weight * e->state->motion.v[at];
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
        BO_TRY(bo_body_element_stress(e->ctx, body, probe->elements[i], e->state->motion.q, s));
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
    BO_TRY(bo_body_system_measure(&e->state->system, e->state->motion.q, e->state->motion.v, &m));
    if (e->state->touch)
        m.external += bo_touch_energy(e->state->touch, t, e->state->motion.q);
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
    return bough_body_stress(e->ctx, e->plan.body, e->state->motion.q, NULL, von_mises);
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
    memset(e->scratch, 0, (size_t)e->state->system.size * sizeof *e->scratch);
    for (int32_t i = 0; i < piece->vertex_count; i++)
        e->scratch[3 * (size_t)(piece->first_vertex + i)] = 1;
    BO_TRY(bo_body_system_measure(&e->state->system, e->state->motion.q, e->scratch, &m));
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
        status = bo_surroundings_gather(e->ctx, &e->plan.around, bo_touch_size(e->state->touch), 0, e->things + bodies,
                                        e->looks);
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
        bo_surroundings_look_at(&e->plan.around, obstacle, e->state->motion.t, state);
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

static int64_t state_size(const void *data) {
    return bo_body_state_memory_size(((const full_engine *)data)->state);
}

static void save(const void *data, double *state) {
    bo_body_state_save(((const full_engine *)data)->state, state);
}

static bough_status restore(void *data, const double *state, int64_t size) {
    return bo_body_state_restore(((full_engine *)data)->state, state, size);
}

/* ---- contacts ---- */

static int32_t thing_of(const full_engine *e, int32_t vertex) {
    return bo_body_piece_of(e->plan.piece_count, e->plan.pieces, vertex);
}

static int32_t contacts(const void *data, int32_t most, bough_run_contact *list) {
    full_engine *e = (full_engine *)(uintptr_t)data; /* for its scratch */
    if (!e->state->touch || !BO_RESERVE(e->ctx, e->found, e->found_capacity, (size_t)most))
        return 0;
    const int32_t count = bo_touch_contacts(e->state->touch, e->state->motion.t, e->state->motion.q, most, e->found);
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

/* ---- making ---- */

static void destroy(bough_context *ctx, void *data) {
    full_engine *e = data;
    bo_body_state_free(ctx, e->state);
    bo_free(ctx, e->scratch);
    bo_free(ctx, e->found);
    drop_surface(e);
    if (e->plan.owner)
        e->plan.release(ctx, e->plan.owner);
    bo_free(ctx, e);
}

static bough_status build(full_engine *e, const bo_engine_settings *settings, double *residual) {
    const bo_body_state_plan plan = {.body = e->plan.body,
                                     .load_case = e->plan.load_case,
                                     .drive = e->plan.drive,
                                     .v = e->plan.velocity,
                                     .touch = e->plan.touch,
                                     .piece_count = e->plan.piece_count,
                                     .pieces = e->plan.pieces,
                                     .integrator = settings->integrator,
                                     .dt = settings->dt,
                                     .settle = settings->settle,
                                     .most_pushes = BOUGH_RUN_HANDS + 1};
    e->scratch = BO_NEW_ZEROS(e->ctx, double, bo_body_size(e->plan.body));
    return e->scratch ? bo_body_state_make(e->ctx, &plan, &e->state, residual) : BOUGH_ERROR_MEMORY;
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
    engine->integrator = e->state->integrator->method->info.name;
    engine->displacement = e->state->motion.q;
    engine->velocity = e->state->motion.v;
    return BOUGH_OK;
}
