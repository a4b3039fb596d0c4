/* The tree engine as an engine of runs. */
#include "run/engine.h"

#include "base/vec.h"
#include "run/tree_changes.h"
#include "run/tree_motors.h"
#include "scene/cook_plan.h"
#include "tree/snapshot.h"
#include "tree/system.h"
#include "tree/tree.h"

#include <bough/run.h>
#include <bough/tree.h>

#include <math.h>
#include <string.h>

typedef struct {
    bough_context *ctx;
    const bough_scene *scene;
    bough_model *model;
    bough_state *state;
    bo_tree_changes changes;
    bo_tree_motors motors;
    const bo_hands *hands;    /* NULL: none */
    bool *blank;              /* of the columns: of probes of absent parts */
    double largest_step;      /* so far, s */
    double rest_gravity;      /* potential of the parts at rest, J */
    double start_steady;      /* potential of the steady forces at the start, J */
    int32_t *vertices;        /* of the probes: vertex of the part's surface; -1: its frame's origin */
    int32_t *points;          /* of the stress probes: stress point; -1: all */
    double *rest;             /* probes x 3: where they are at rest */
    int32_t *pushed;          /* of the forces: vertex, as of the probes */
    double *pushed_rest;      /* forces x 3: where they act at rest */
    float *positions, *rates; /* of the largest part */
    /* What is shown, from make_surface() on: */
    bough_mesh *surface; /* of all parts, at rest */
    int32_t *part_of;    /* of each of its triangles */
    double *displacement, *velocity;
    float *joined; /* of all parts; NULL: each is shown by itself */
} tree_engine;

static bool is_there(const tree_engine *e, int32_t part) {
    return bo_part_is_there(e->model, e->state, part);
}

static const bough_component *component_of(const tree_engine *e, int32_t part) {
    const bough_model_def *def = bough_model_describe(e->model);
    return def->components[def->parts[part].component];
}

/* ---- points: a vertex of the part's surface, or -1: the origin of its frame ---- */

static bough_status point_of(const tree_engine *e, int32_t part, int32_t vertex, double position[3],
                             double velocity[3]) {
    const bough_frame *frame = &e->state->frames[part];
    if (vertex >= 0)
        return bough_state_vertex(e->ctx, e->model, e->state, part, vertex, position, velocity);
    memcpy(position, frame->pose.position, 3 * sizeof *position);
    memcpy(velocity, frame->velocity, 3 * sizeof *velocity);
    return BOUGH_OK;
}

/* ---- forces ---- */

/* What is absent is not pushed. */
static bough_status push(const tree_engine *e, bough_state *state, int32_t i) {
    const bo_scene_force *f = &e->scene->forces[i];
    if (!is_there(e, f->part))
        return BOUGH_OK;
    return e->pushed[i] >= 0 ? bough_state_add_force(e->ctx, e->model, state, f->part, e->pushed[i], f->force)
                             : bough_state_add_wrench(e->ctx, e->model, state, f->part, f->force, f->torque);
}

/* What is absent by now slips out of the hands. */
static bough_status pull(const tree_engine *e) {
    const bo_hand *poke = &e->hands->poke;
    BO_TRY(bo_tree_motors_push(&e->motors, e->ctx, e->model, e->state, e->hands));
    for (int i = 0; i < BOUGH_RUN_HANDS; i++) {
        const bo_hand *hand = &e->hands->pulls[i];
        if (hand->holds && is_there(e, hand->part))
            BO_TRY(bough_state_pull(e->ctx, e->model, e->state, hand->part, hand->vertex, hand->target, hand->stiffness,
                                    hand->damping));
    }
    return poke->holds && is_there(e, poke->part)
               ? bough_state_add_force(e->ctx, e->model, e->state, poke->part, poke->vertex, poke->target)
               : BOUGH_OK;
}

static void look_at_motor(const void *data, int32_t i, bough_run_motor *motor) {
    const tree_engine *e = data;
    bo_tree_motors_look(&e->motors, e->model, e->hands, i, motor);
}

static void blow(const tree_engine *e, double t) {
    e->state->wind = e->hands && e->hands->has_wind ? e->hands->wind : bo_changes_wind(&e->changes, t);
}

/* The state tells at once which wind it is. */
static void take_hands(void *data, const bo_hands *hands) {
    tree_engine *e = data;
    e->hands = hands;
    blow(e, e->state->time);
}

/* The forces of a step of length h, judged at its start; times that rounding took apart are the same. Others, such as
 * those that a refused step has left, are gone. */
static bough_status push_at(const tree_engine *e, double t, double h) {
    t += 1e-6 * h;
    bough_state_clear_forces(e->model, e->state);
    for (int32_t i = 0; i < e->scene->force_count; i++)
        if (t >= e->scene->forces[i].from && t < e->scene->forces[i].until)
            BO_TRY(push(e, e->state, i));
    return e->hands ? pull(e) : BOUGH_OK;
}

/* The accelerations that the next step starts from, under the forces of time t. */
static bough_status find_accelerations(const tree_engine *e, double t) {
    BO_TRY(push_at(e, t, 0));
    const bough_status status = bough_step(e->ctx, e->model, e->state, 0);
    bough_state_clear_forces(e->model, e->state);
    return status;
}

static bough_status weigh(void *data, const double gravity[3]) {
    tree_engine *e = data;
    memcpy(e->state->gravity, gravity, sizeof e->state->gravity);
    bo_tree_restart_integrator(e->state->work);
    if (e->state->work->integrator || e->state->last_dt == 0) /* these find their own, and so do first steps */
        return BOUGH_OK;
    return find_accelerations(e, e->state->time);
}

static bough_status push_steadily(void *data, bough_context *ctx, const bough_model *model, bough_state *state) {
    const tree_engine *e = data;
    (void)ctx, (void)model;
    for (int32_t i = 0; i < e->scene->force_count; i++)
        if (bo_force_is_steady(&e->scene->forces[i]))
            BO_TRY(push(e, state, i));
    return BOUGH_OK;
}

/* Potential of the steady forces, 0 at rest: -f . u. A torque that keeps its direction has none. */
static bough_status measure_forces(const tree_engine *e, double *potential) {
    for (int32_t i = 0; i < e->scene->force_count; i++) {
        const bo_scene_force *f = &e->scene->forces[i];
        double x[3], v[3];
        if (!bo_force_is_steady(f) || !is_there(e, f->part))
            continue;
        BO_TRY(point_of(e, f->part, e->pushed[i], x, v));
        *potential -= bo_dot(bo_load3(f->force), bo_sub(bo_load3(x), bo_load3(e->pushed_rest + 3 * (size_t)i)));
    }
    return BOUGH_OK;
}

/* Without the potential of steady forces, whose changes work() counts. */
static bough_status total_energy(void *data, double *energy) {
    const tree_engine *e = data;
    bough_energies now;
    BO_TRY(bough_state_energies(e->ctx, e->model, e->state, &now));
    *energy = now.elastic + now.kinetic + now.gravity;
    return BOUGH_OK;
}

static double painted_stiffness(const tree_engine *e, int32_t i, double t) {
    const bo_scene_painted *p = &e->scene->painted[i];
    return p->stiffness * bo_curve_at(&e->scene->drive.curves[p->curve], t);
}

/* The stiffness of a step is that of its start. Whoever changes it changes the energy of what is bent. */
static bough_status paint_at(tree_engine *e, double t) {
    double before, after;
    bool changes = false;
    for (int32_t i = 0; i < e->scene->painted_count; i++)
        changes |= e->state->stiffness[e->scene->painted[i].part] != painted_stiffness(e, i, t);
    if (!changes)
        return BOUGH_OK;
    BO_TRY(total_energy(e, &before));
    for (int32_t i = 0; i < e->scene->painted_count; i++)
        BO_TRY(bough_state_set_stiffness(e->ctx, e->model, e->state, e->scene->painted[i].part,
                                         painted_stiffness(e, i, t)));
    BO_TRY(total_energy(e, &after));
    e->changes.given += after - before;
    return BOUGH_OK;
}

static bough_status step_once(tree_engine *e, double t, double h) {
    e->state->time = t; /* counted by the run, so that it does not drift */
    blow(e, t);
    BO_TRY(paint_at(e, t));
    BO_TRY(push_at(e, t, h));
    /* the run halves what is refused; its smallest parts are taken as they come, as by bough_advance() */
    e->largest_step = h > e->largest_step ? h : e->largest_step;
    return (h > e->largest_step / 512 ? bo_tree_step_gently : bough_step)(e->ctx, e->model, e->state, h);
}

/* Up to the next event, and on from there; times that rounding took apart are the same. Parts break at the end. */
static bough_status step(void *data, double t, double h, int64_t *iterations) {
    tree_engine *e = data;
    const double end = t + h, little = 1e-6 * h;
    double left = h; /* all of it, to the last bit, where nothing happens */
    (void)iterations;
    e->changes.log_count = 0;
    for (double event; (event = bo_changes_next_time(&e->changes)) < end - little;) {
        if (event > t + little) {
            BO_TRY(step_once(e, t, event - t));
            t = event, left = end - event;
        }
        e->state->time = t;
        BO_TRY(bo_changes_happen(e->ctx, &e->changes, e->state, t + little));
    }
    BO_TRY(step_once(e, t, left));
    BO_TRY(bo_changes_happen(e->ctx, &e->changes, e->state, end + little));
    return bo_changes_break(e->ctx, &e->changes, e->state);
}

static bough_status change(void *data, int32_t count, const bough_change *list) {
    tree_engine *e = data;
    e->changes.log_count = 0;
    return bo_changes_by_hand(e->ctx, &e->changes, e->state, count, list);
}

static const bough_run_change *changes(const void *data, int32_t *count) {
    const tree_engine *e = data;
    *count = (int32_t)e->changes.log_count;
    return e->changes.log;
}

/* ---- saving: all there is to continue with the same bits. Files of states have a hash of their own. ---- */

/* Bytes of the snapshot, the number of events that have happened, and the account; then the snapshot. */
enum { OWN_NUMBERS = 4, HEAD = OWN_NUMBERS + 4 };

static int64_t state_size(const void *data) {
    const tree_engine *e = data;
    const size_t bytes = bough_state_snapshot_size(e->model, e->state);
    return OWN_NUMBERS + (int64_t)((bytes + sizeof(double) - 1) / sizeof(double));
}

static void save(const void *data, double *state) {
    const tree_engine *e = data;
    const double own[OWN_NUMBERS] = {(double)bough_state_snapshot_size(e->model, e->state), e->changes.next,
                                     e->changes.given, e->start_steady};
    memcpy(state, own, sizeof own);
    state[state_size(e) - 1] = 0; /* of which the snapshot may leave a part */
    bo_tree_save_plain(e->model, e->state, state + OWN_NUMBERS);
}

static bough_status restore(void *data, const double *state, int64_t size) {
    tree_engine *e = data;
    const double room = size > OWN_NUMBERS ? (double)(size - OWN_NUMBERS) * (double)sizeof(double) : 0;
    if (!(room > 0 && state[0] > 0 && state[0] <= room && state[1] >= 0 && state[1] <= e->scene->event_count &&
          isfinite(state[2]) && isfinite(state[3])))
        return bo_fail(e->ctx, BOUGH_ERROR_FORMAT, "these numbers are no state of parts");
    BO_TRY(bo_tree_restore_plain(e->ctx, e->model, e->state, state + OWN_NUMBERS, (size_t)state[0]));
    e->changes.next = (int32_t)state[1];
    e->changes.given = state[2], e->start_steady = state[3];
    return BOUGH_OK;
}

/* ---- measuring ---- */

static bough_status measure_probe(const tree_engine *e, int32_t probe, double *values) {
    BO_TRY(point_of(e, e->scene->probes[probe].part, e->vertices[probe], values, values + 6));
    for (size_t d = 0; d < 3; d++)
        values[3 + d] = values[d] - e->rest[3 * (size_t)probe + d];
    return BOUGH_OK;
}

/* At one point, or at that with the largest von Mises. */
static bough_status measure_stress(const tree_engine *e, int32_t probe, double *values) {
    const int32_t part = e->scene->probes[probe].part, point = e->points[probe];
    const int32_t first = point < 0 ? 0 : point, end = point < 0 ? component_of(e, part)->stress.count : point + 1;
    double most = -1;
    for (int32_t i = first; i < end; i++) {
        bough_stress stress;
        BO_TRY(bough_state_stress(e->ctx, e->model, e->state, part, i, &stress));
        if (stress.von_mises <= most)
            continue;
        most = values[0] = stress.von_mises;
        memcpy(values + 1, stress.principal, sizeof stress.principal);
    }
    return BOUGH_OK;
}

/* Lumped couplings do not have the energy that they should, so that nobody can tell what their steps make. */
static double counted_work(const tree_engine *e, double *doubt) {
    const double counted = bough_state_work(e->model, e->state, doubt);
    if (e->state->coupling != BOUGH_COUPLING_L3)
        *doubt = INFINITY;
    return counted;
}

/* The state counts all forces; those that never change have a potential here. */
static double work(const void *data, double *doubt) {
    const tree_engine *e = data;
    double steady = 0;
    if (measure_forces(e, &steady) != BOUGH_OK)
        steady = NAN;
    const double counted = counted_work(e, doubt);
    return counted + steady - e->start_steady + e->changes.given;
}

static bough_status measure(void *data, double t, double *values) {
    const tree_engine *e = data;
    bough_energies energies;
    double external;
    BO_TRY(bough_state_energies(e->ctx, e->model, e->state, &energies));
    external = energies.gravity - e->rest_gravity;
    BO_TRY(measure_forces(e, &external));
    values[BOUGH_COLUMN_TIME] = t;
    values[BOUGH_COLUMN_ELASTIC] = energies.elastic;
    values[BOUGH_COLUMN_KINETIC] = energies.kinetic;
    values[BOUGH_COLUMN_EXTERNAL] = external;
    values[BOUGH_COLUMN_TOTAL] = energies.elastic + energies.kinetic + external;
    memcpy(values + BOUGH_COLUMN_MOMENTUM, energies.momentum, sizeof energies.momentum);
    memcpy(values + BOUGH_COLUMN_ANGULAR_MOMENTUM, energies.angular_momentum, sizeof energies.angular_momentum);
    values += BOUGH_COLUMN_PROBES;
    bool *blank = e->blank + BOUGH_COLUMN_PROBES;
    for (int32_t i = 0; i < e->scene->probe_count; i++) {
        const bo_scene_probe *probe = &e->scene->probes[i];
        const int columns = bo_probe_columns(probe);
        const bool there = is_there(e, probe->part);
        for (int k = 0; k < columns; k++)
            values[k] = NAN, blank[k] = !there;
        if (there)
            BO_TRY(probe->stress ? measure_stress(e, i, values) : measure_probe(e, i, values));
        values += columns, blank += columns;
    }
    return BOUGH_OK;
}

static bough_status stresses(void *data, double *von_mises) {
    const tree_engine *e = data;
    bough_state_peak_stresses(e->ctx, e->model, e->state, von_mises);
    return BOUGH_OK;
}

static bough_status vertex_stresses(void *data, float *von_mises) {
    const tree_engine *e = data;
    bough_state_surface_stress(e->ctx, e->model, e->state, von_mises);
    return BOUGH_OK;
}

static const char *stress_name(const void *data, int32_t part) {
    return bough_model_describe(((const tree_engine *)data)->model)->parts[part].name;
}

/* ---- drawing ---- */

/* v + w x (x - origin) + s R (U qdot), with U qdot from the positions at qdot less those at rest. */
static void show_velocities(const tree_engine *e, int32_t part, double scale, double *velocity) {
    const bough_component *c = component_of(e, part);
    const bough_frame *frame = &e->state->frames[part];
    bo_mat3 R;
    memcpy(R.m, frame->pose.rotation, sizeof R.m);
    bough_component_surface_positions(c, e->state->v + bough_model_offset(e->model, part), e->rates);
    for (size_t v = 0; v < (size_t)c->surface.vertex_count; v++) {
        double rate[3], x[3];
        for (size_t d = 0; d < 3; d++) {
            rate[d] = scale * ((double)e->rates[3 * v + d] - (double)c->surface.position[3 * v + d]);
            x[d] = (double)e->positions[3 * v + d] - frame->pose.position[d];
        }
        bo_vec3 swing = bo_cross(bo_load3(frame->angular_velocity), bo_load3(x));
        bo_store3(velocity + 3 * v, bo_add(bo_add(bo_load3(frame->velocity), swing), bo_mat_vec(R, bo_load3(rate))));
    }
}

/* Where surfaces are joined, displacements are those of the joined ones; velocities stay those of the parts. */
static bough_status show_joined(const tree_engine *e) {
    BO_TRY(bough_state_surface(e->ctx, e->model, e->state, e->joined, NULL));
    for (size_t k = 0; k < 3 * (size_t)bough_model_vertex_count(e->model); k++)
        e->displacement[k] = (double)e->joined[k] - e->surface->vertices[k];
    return BOUGH_OK;
}

/* What is absent is one point, which nobody sees: where its frame was last. */
static void hide(const tree_engine *e, int32_t part) {
    const size_t first = 3 * (size_t)bough_model_first_vertex(e->model, part);
    for (size_t k = 0; k < 3 * (size_t)component_of(e, part)->surface.vertex_count; k++) {
        e->displacement[first + k] = e->state->frames[part].pose.position[k % 3] - e->surface->vertices[first + k];
        e->velocity[first + k] = 0;
    }
}

static bough_status show(void *data) {
    const tree_engine *e = data;
    for (int32_t part = 0; part < bough_model_part_count(e->model); part++) {
        const size_t count = 3 * (size_t)component_of(e, part)->surface.vertex_count;
        const size_t first = 3 * (size_t)bough_model_first_vertex(e->model, part);
        if (!is_there(e, part)) {
            hide(e, part);
            continue;
        }
        BO_TRY(bough_state_positions(e->ctx, e->model, e->state, part, e->positions));
        for (size_t k = 0; k < count; k++)
            e->displacement[first + k] = (double)e->positions[k] - e->surface->vertices[first + k];
        show_velocities(e, part, bough_model_describe(e->model)->parts[part].scale, e->velocity + first);
    }
    return e->joined ? show_joined(e) : BOUGH_OK;
}

/* ---- what is shown: made when somebody looks, since a forest has more vertices than all the rest of it needs memory
 * ---- */

/* Of a part's surface in a state, also where it is absent: at rest in its frame then. Into e->positions. */
static bough_status positions_of(const tree_engine *e, const bough_state *state, int32_t part) {
    if (bo_part_is_there(e->model, state, part))
        return bough_state_positions(e->ctx, e->model, state, part, e->positions);
    const bough_surface *surface = &component_of(e, part)->surface;
    const bough_frame *frame = &state->frames[part];
    const double scale = bough_model_describe(e->model)->parts[part].scale;
    bo_mat3 R;
    memcpy(R.m, frame->pose.rotation, sizeof R.m);
    for (size_t v = 0; v < (size_t)surface->vertex_count; v++) {
        const float *x = surface->position + 3 * v;
        double at[3];
        bo_store3(at, bo_mul_add(bo_load3(frame->pose.position), scale,
                                 bo_mat_vec(R, bo_v3((double)x[0], (double)x[1], (double)x[2]))));
        for (size_t d = 0; d < 3; d++)
            e->positions[3 * v + d] = (float)at[d];
    }
    return BOUGH_OK;
}

/* Vertices and triangles of all parts, one after the other, as a state has them that did not move yet. */
static bough_status gather_surface(tree_engine *e, const bough_state *still, double *vertices, int32_t *triangles) {
    bough_model_triangles(e->model, triangles);
    for (int32_t part = 0, triangle = 0; part < bough_model_part_count(e->model); part++) {
        const bough_surface *surface = &component_of(e, part)->surface;
        double *at = vertices + 3 * (size_t)bough_model_first_vertex(e->model, part);
        BO_TRY(positions_of(e, still, part));
        for (size_t k = 0; k < 3 * (size_t)surface->vertex_count; k++)
            at[k] = (double)e->positions[k];
        for (int32_t k = 0; k < surface->triangle_count; k++)
            e->part_of[triangle++] = part;
    }
    return BOUGH_OK;
}

static bough_status make_mesh(tree_engine *e, int32_t vertex_count, int32_t triangle_count) {
    bough_context *ctx = e->ctx;
    bough_state *still = NULL;
    double *vertices = BO_NEW_ARRAY(ctx, double, 3 * (size_t)vertex_count);
    int32_t *triangles = BO_NEW_ARRAY(ctx, int32_t, 3 * (size_t)triangle_count);
    bough_status status = vertices && triangles ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK)
        status = bough_state_create(ctx, e->model, &still);
    if (status == BOUGH_OK)
        status = gather_surface(e, still, vertices, triangles);
    bough_state_destroy(ctx, still);
    if (status == BOUGH_OK)
        status = bough_mesh_create(ctx, BOUGH_TRI3, vertex_count, vertices, triangle_count, triangles, &e->surface);
    bo_free(ctx, vertices);
    bo_free(ctx, triangles);
    return status;
}

static void drop_surface(bough_context *ctx, tree_engine *e) {
    bough_mesh_destroy(ctx, e->surface);
    bo_free(ctx, e->part_of);
    bo_free(ctx, e->displacement);
    bo_free(ctx, e->velocity);
    bo_free(ctx, e->joined);
    e->surface = NULL, e->part_of = NULL, e->displacement = e->velocity = NULL, e->joined = NULL;
}

static bough_status fill_surface(tree_engine *e) {
    const int32_t vertices = bough_model_vertex_count(e->model), triangles = bough_model_triangle_count(e->model);
    e->part_of = BO_NEW_ARRAY(e->ctx, int32_t, triangles);
    if (!e->part_of)
        return BOUGH_ERROR_MEMORY;
    BO_TRY(make_mesh(e, vertices, triangles)); /* may be refused: before there is more */
    e->displacement = BO_NEW_ZEROS(e->ctx, double, 3 * (size_t)vertices);
    e->velocity = BO_NEW_ZEROS(e->ctx, double, 3 * (size_t)vertices);
    if (e->state->continuity != BOUGH_CONTINUITY_NONE &&
        !(e->joined = BO_NEW_ARRAY(e->ctx, float, 3 * (size_t)vertices)))
        return BOUGH_ERROR_MEMORY;
    return e->displacement && e->velocity ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

static bough_status make_surface(bo_engine *engine) {
    tree_engine *e = engine->data;
    const bough_status status = fill_surface(e);
    if (status != BOUGH_OK)
        drop_surface(e->ctx, e);
    engine->mesh = e->surface;
    engine->stress_of = e->part_of;
    engine->displacement = e->displacement, engine->velocity = e->velocity;
    return status;
}

/* ---- making ---- */

static void destroy(bough_context *ctx, void *data) {
    tree_engine *e = data;
    bough_state_destroy(ctx, e->state);
    bough_model_destroy(ctx, e->model);
    bo_changes_free(ctx, &e->changes);
    drop_surface(ctx, e);
    void *const blocks[] = {e->vertices,  e->points, e->rest,  e->pushed, e->pushed_rest,
                            e->positions, e->rates,  e->blank, e};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        bo_free(ctx, blocks[i]);
}

/* Room for one part at a time. */
static bough_status make_room(tree_engine *e) {
    const bough_model_def *def = bough_model_describe(e->model);
    int32_t largest = 0;
    for (int32_t c = 0; c < def->component_count; c++)
        if (def->components[c]->surface.vertex_count > largest)
            largest = def->components[c]->surface.vertex_count;
    e->positions = BO_NEW_ZEROS(e->ctx, float, 3 * (size_t)largest);
    e->rates = BO_NEW_ZEROS(e->ctx, float, 3 * (size_t)largest);
    return e->positions && e->rates ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

/* The one of the part's surface, where it is now. */
static bough_status find_nearest(const tree_engine *e, int32_t part, const double point[3], int32_t *nearest) {
    double least = INFINITY;
    *nearest = 0;
    BO_TRY(positions_of(e, e->state, part));
    for (int32_t v = 0; v < component_of(e, part)->surface.vertex_count; v++) {
        const float *x = e->positions + 3 * (size_t)v;
        const bo_vec3 d = bo_sub(bo_v3((double)x[0], (double)x[1], (double)x[2]), bo_load3(point));
        if (bo_dot(d, d) < least)
            least = bo_dot(d, d), *nearest = v;
    }
    return BOUGH_OK;
}

/* As point_of(), while all is at rest; also of parts that are absent. */
static bough_status rest_of(const tree_engine *e, int32_t part, int32_t vertex, double position[3]) {
    double velocity[3];
    if (is_there(e, part))
        return point_of(e, part, vertex, position, velocity);
    BO_TRY(positions_of(e, e->state, part));
    for (size_t d = 0; d < 3; d++)
        position[d] =
            vertex < 0 ? e->state->frames[part].pose.position[d] : (double)e->positions[3 * (size_t)vertex + d];
    return BOUGH_OK;
}

static bough_status place_forces(tree_engine *e) {
    const bough_scene *scene = e->scene;
    e->pushed = BO_NEW_ZEROS(e->ctx, int32_t, scene->force_count);
    e->pushed_rest = BO_NEW_ZEROS(e->ctx, double, 3 * (size_t)scene->force_count);
    if (!e->pushed || !e->pushed_rest)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < scene->force_count; i++) {
        const bo_scene_force *force = &scene->forces[i];
        if (force->at_surface && component_of(e, force->part)->surface.vertex_count == 0)
            return bo_fail(e->ctx, BOUGH_ERROR_FORMAT, "force %d is at the surface of a part that has none", i);
        e->pushed[i] = -1;
        if (force->at_surface)
            BO_TRY(find_nearest(e, force->part, force->rest, &e->pushed[i]));
        BO_TRY(rest_of(e, force->part, e->pushed[i], e->pushed_rest + 3 * (size_t)i));
    }
    return BOUGH_OK;
}

/* Where stress point i of the part is at rest, which it still is. */
static bo_vec3 stress_position(const tree_engine *e, int32_t part, int32_t i) {
    const bough_frame *frame = &e->state->frames[part];
    const double scale = bough_model_describe(e->model)->parts[part].scale;
    bo_mat3 R;
    memcpy(R.m, frame->pose.rotation, sizeof R.m);
    const bo_vec3 X = bo_load3(component_of(e, part)->stress.position + 3 * (size_t)i);
    return bo_mul_add(bo_load3(frame->pose.position), scale, bo_mat_vec(R, X));
}

/* The point of the probe's element, or the nearest of those there are. */
static bough_status place_stress(tree_engine *e, int32_t i) {
    const bo_scene_probe *probe = &e->scene->probes[i];
    const bough_material_points *stress = &component_of(e, probe->part)->stress;
    double least = INFINITY;
    if (stress->count == 0)
        return bo_fail(e->ctx, BOUGH_ERROR_FORMAT,
                       "the probe \"%s\" asks for the stress of a part without stress points; it is rigid, or was "
                       "cooked with \"stress\": 0 in its \"samples\"",
                       probe->name);
    if (!probe->most && !stress->position)
        return bo_fail(e->ctx, BOUGH_ERROR_FORMAT,
                       "the probe \"%s\" is at a point of a part whose component does not tell where its stress "
                       "points are; use \"stress\": \"max\"",
                       probe->name);
    for (int32_t k = 0; k < stress->count && !probe->most; k++) {
        const double d = bo_norm(bo_sub(stress_position(e, probe->part, k), bo_load3(probe->rest)));
        const double distance = stress->element[k] == probe->element ? -1 : d;
        if (distance < least)
            least = distance, e->points[i] = k;
    }
    return BOUGH_OK;
}

static bough_status place_probes(tree_engine *e) {
    const bough_scene *scene = e->scene;
    e->vertices = BO_NEW_ZEROS(e->ctx, int32_t, scene->probe_count);
    e->points = BO_NEW_ZEROS(e->ctx, int32_t, scene->probe_count);
    e->rest = BO_NEW_ZEROS(e->ctx, double, 3 * (size_t)scene->probe_count);
    e->blank = BO_NEW_ZEROS(e->ctx, bool, BOUGH_COLUMN_PROBES + 9 * (size_t)scene->probe_count);
    if (!e->vertices || !e->points || !e->rest || !e->blank)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < scene->probe_count; i++) {
        const bo_scene_probe *probe = &scene->probes[i];
        e->points[i] = -1;
        if (probe->stress) {
            BO_TRY(place_stress(e, i));
            continue;
        }
        if (probe->at_surface && component_of(e, probe->part)->surface.vertex_count == 0)
            return bo_fail(e->ctx, BOUGH_ERROR_FORMAT, "the probe \"%s\" is at the surface of a part that has none",
                           probe->name);
        e->vertices[i] = -1;
        if (probe->at_surface)
            BO_TRY(find_nearest(e, probe->part, probe->rest, &e->vertices[i]));
        BO_TRY(rest_of(e, probe->part, e->vertices[i], e->rest + 3 * (size_t)i));
    }
    return BOUGH_OK;
}

/* Trees that fly start as rigid bodies, moving as their roots do. */
static bough_status set_off(tree_engine *e) {
    for (int32_t k = 0; k < e->state->root_count; k++) {
        bough_root *root = &e->state->roots[k];
        const bo_part *part = &e->scene->plan->assembly.parts[root->part];
        memcpy(root->velocity, part->velocity, sizeof root->velocity);
        memcpy(root->angular_velocity, part->angular_velocity, sizeof root->angular_velocity);
    }
    return bough_state_update(e->ctx, e->model, e->state);
}

/* These two are the tree's own step, linearised once. */
static bool is_own(const char *integrator) {
    return strcmp(integrator, "hht") == 0 || strcmp(integrator, "newmark") == 0;
}

static bough_status build(bough_scene *scene, const bo_engine_def *def, tree_engine *e, double *residual) {
    bough_context *ctx = e->ctx;
    bough_model_def settings = def->model;
    bough_energies energies;
    settings.alpha = strcmp(def->integrator.name, "newmark") == 0 ? 0 : def->integrator.alpha;
    BO_TRY(bo_scene_model(ctx, scene, &settings, &e->model));
    BO_TRY(bough_state_create(ctx, e->model, &e->state));
    BO_TRY(bo_changes_make(ctx, scene, e->model, &e->changes));
    e->changes.energy = total_energy, e->changes.energy_data = e;
    BO_TRY(make_room(e));
    e->state->continuity = def->continuity;
    BO_TRY(place_forces(e));
    BO_TRY(place_probes(e));
    BO_TRY(bough_state_energies(ctx, e->model, e->state, &energies));
    e->rest_gravity = energies.gravity;
    bough_settle_def search = bough_default_settle_def();
    search.push = push_steadily, search.data = e;
    if (def->settle)
        BO_TRY(bough_state_settle(ctx, e->model, e->state, &search, residual));
    if (e->state->root_count > 0)
        BO_TRY(set_off(e));
    e->state->wind = bo_changes_wind(&e->changes, 0);
    BO_TRY(bo_changes_happen(ctx, &e->changes, e->state, 0));
    BO_TRY(measure_forces(e, &e->start_steady));
    e->changes.given = 0;
    return is_own(def->integrator.name) ? BOUGH_OK
                                        : bough_state_use_integrator(ctx, e->model, e->state, &def->integrator);
}

bough_status bo_tree_engine_create(bough_context *ctx, bough_scene *scene, const bo_engine_def *def,
                                   bo_engine *engine) {
    *engine = (bo_engine){.step = step,
                          .take_hands = take_hands,
                          .weigh = weigh,
                          .measure = measure,
                          .work = work,
                          .changes = changes,
                          .change = change,
                          .head_size = HEAD,
                          .state_size = state_size,
                          .save = save,
                          .restore = restore,
                          .make_mesh = make_surface,
                          .show = show,
                          .stresses = stresses,
                          .vertex_stresses = vertex_stresses,
                          .stress_name = stress_name,
                          .destroy = destroy,
                          .residual = NAN};
    tree_engine *e = BO_NEW(ctx, tree_engine);
    if (!e)
        return BOUGH_ERROR_MEMORY;
    engine->data = e;
    e->ctx = ctx;
    e->scene = scene;
    bough_status status = build(scene, def, e, &engine->residual);
    if (status == BOUGH_OK)
        status = bo_engine_name_columns(ctx, scene, engine);
    if (status != BOUGH_OK) {
        bo_engine_destroy(ctx, engine);
        return status;
    }
    engine->stress_count = bough_model_part_count(e->model);
    engine->model = e->model, engine->state = e->state;
    bo_tree_motors_find(e->model, &e->motors);
    engine->motor_count = e->motors.count, engine->motor = look_at_motor;
    engine->in_pieces =
        scene->event_count > 0 || scene->strength || scene->tie_strength || isfinite(scene->remove_below);
    engine->integrator = bo_registered_integrator(def->integrator.name);
    engine->blank = e->blank;
    return BOUGH_OK;
}
