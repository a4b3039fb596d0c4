#include "tree/engine_inside.h"

#include "base/file.h"
#include "base/vec.h"
#include "tree/snapshot.h"
#include "tree/ledger.h"
#include "tree/system.h"
#include "tree/touch.h"
#include "tree/tree.h"

#include <math.h>
#include <string.h>

/* ---- points: a vertex of the part's surface, or -1: the origin of its frame ---- */

static bough_status point_of(const tree_engine *e, int32_t part, int32_t vertex, double position[3],
                             double velocity[3]) {
    const bough_frame *frame = &e->state->frames[part];
    if (vertex >= 0)
        return bough_tree_state_vertex(e->ctx, e->model, e->state, part, vertex, position, velocity);
    memcpy(position, frame->pose.position, 3 * sizeof *position);
    memcpy(velocity, frame->velocity, 3 * sizeof *velocity);
    return BOUGH_OK;
}

/* ---- forces ---- */

/* Pushes a part unless it is absent. */
static bough_status push(const tree_engine *e, bough_tree_state *state, int32_t i) {
    const bo_tree_force *f = &e->plan->forces[i];
    if (!bo_tree_is_there(e, f->part))
        return BOUGH_OK;
    return e->pushed[i] >= 0 ? bough_tree_state_add_force(e->ctx, e->model, state, f->part, e->pushed[i], f->force)
                             : bough_tree_state_add_wrench(e->ctx, e->model, state, f->part, f->force, f->torque);
}

/* Pulls by the hands; a part that has become absent is let go. */
static bough_status pull(const tree_engine *e) {
    const bo_hand *poke = &e->hands->poke;
    BO_TRY(bo_tree_motors_push(&e->motors, e->ctx, e->model, e->state, e->hands));
    for (int i = 0; i < BOUGH_RUN_HANDS; i++) {
        const bo_hand *hand = &e->hands->pulls[i];
        if (hand->holds && bo_tree_is_there(e, hand->part))
            BO_TRY(bough_tree_state_pull(e->ctx, e->model, e->state, hand->part, hand->vertex, hand->target,
                                         hand->stiffness, hand->damping));
    }
    return poke->holds && bo_tree_is_there(e, poke->part)
               ? bough_tree_state_add_force(e->ctx, e->model, e->state, poke->part, poke->vertex, poke->target)
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
    bough_tree_state_clear_forces(e->model, e->state);
    for (int32_t i = 0; i < e->plan->force_count; i++)
        if (t >= e->plan->forces[i].from && t < e->plan->forces[i].until)
            BO_TRY(push(e, e->state, i));
    return e->hands ? pull(e) : BOUGH_OK;
}

/* The accelerations that the next step starts from, under the forces of time t. */
static bough_status find_accelerations(const tree_engine *e, double t) {
    BO_TRY(push_at(e, t, 0));
    const bough_status status = bough_tree_step(e->ctx, e->model, e->state, 0);
    bough_tree_state_clear_forces(e->model, e->state);
    return status;
}

static bough_status set_gravity(void *data, const double gravity[3]) {
    tree_engine *e = data;
    memcpy(e->state->gravity, gravity, sizeof e->state->gravity);
    bo_tree_restart_integrator(bo_tree_work_of(e->state));
    if (bo_tree_work_of(e->state)->integrator ||
        e->state->last_dt == 0) /* these find their own, and so do first steps */
        return BOUGH_OK;
    return find_accelerations(e, e->state->time);
}

static bough_status push_steadily(void *data, bough_context *ctx, const bough_tree_model *model,
                                  bough_tree_state *state) {
    const tree_engine *e = data;
    (void)ctx, (void)model;
    for (int32_t i = 0; i < e->plan->force_count; i++)
        if (bo_force_is_steady(&e->plan->forces[i]))
            BO_TRY(push(e, state, i));
    return BOUGH_OK;
}

/* Potential of the steady forces, 0 at rest: -f . u. A torque that keeps its direction has none. */
static bough_status measure_forces(const tree_engine *e, double *potential) {
    for (int32_t i = 0; i < e->plan->force_count; i++) {
        const bo_tree_force *f = &e->plan->forces[i];
        double x[3], v[3];
        if (!bo_force_is_steady(f) || !bo_tree_is_there(e, f->part))
            continue;
        BO_TRY(point_of(e, f->part, e->pushed[i], x, v));
        *potential -= bo_dot(bo_load3(f->force), bo_sub(bo_load3(x), bo_load3(e->pushed_rest + 3 * (size_t)i)));
    }
    return BOUGH_OK;
}

/* Without the potential of steady forces, whose changes work() counts. */
static bough_status total_energy(void *data, double *energy) {
    const tree_engine *e = data;
    bough_tree_energies now;
    BO_TRY(bough_tree_state_energies(e->ctx, e->model, e->state, &now));
    *energy = now.elastic + now.kinetic + now.gravity;
    return BOUGH_OK;
}

static double painted_stiffness(const tree_engine *e, int32_t i, double t) {
    const bo_tree_painted *p = &e->plan->painted[i];
    return p->stiffness * bo_curve_at(&e->plan->curves[p->curve], t);
}

/* The stiffness of a step is that of its start. Whoever changes it changes the energy of what is bent. */
static bough_status paint_at(tree_engine *e, double t) {
    double before, after;
    bool changes = false;
    for (int32_t i = 0; i < e->plan->painted_count; i++)
        changes |= e->state->stiffness[e->plan->painted[i].part] != painted_stiffness(e, i, t);
    if (!changes)
        return BOUGH_OK;
    BO_TRY(total_energy(e, &before));
    for (int32_t i = 0; i < e->plan->painted_count; i++)
        BO_TRY(bough_tree_state_set_stiffness(e->ctx, e->model, e->state, e->plan->painted[i].part,
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
    /* the run halves what is refused; its smallest parts are taken as they come, as by bough_tree_advance() */
    e->largest_step = h > e->largest_step ? h : e->largest_step;
    /* Energy that was made before a step is not the step's: after a refusal the ledger looks at where it starts, too. The
     * run puts the state back, and with it what the ledger asked for. */
    if (e->refused)
        bo_ledger_ask(e->state);
    const bough_status status =
        (h > e->largest_step / 512 ? bo_tree_step_gently : bough_tree_step)(e->ctx, e->model, e->state, h);
    e->refused = status == BOUGH_ENERGY_GAINED;
    return status;
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
    const size_t bytes = bough_tree_state_snapshot_size(e->model, e->state);
    return OWN_NUMBERS + (int64_t)((bytes + sizeof(double) - 1) / sizeof(double));
}

static void save(const void *data, double *state) {
    const tree_engine *e = data;
    const double own[OWN_NUMBERS] = {(double)bough_tree_state_snapshot_size(e->model, e->state), e->changes.next,
                                     e->changes.given, e->start_steady};
    memcpy(state, own, sizeof own);
    state[state_size(e) - 1] = 0; /* of which the snapshot may leave a part */
    bo_tree_save_plain(e->model, e->state, state + OWN_NUMBERS);
}

static bough_status restore(void *data, const double *state, int64_t size) {
    tree_engine *e = data;
    const double room = size > OWN_NUMBERS ? (double)(size - OWN_NUMBERS) * (double)sizeof(double) : 0;
    if (!(room > 0 && state[0] > 0 && state[0] <= room && state[1] >= 0 && state[1] <= e->plan->event_count &&
          isfinite(state[2]) && isfinite(state[3])))
        return bo_fail(e->ctx, BOUGH_ERROR_FORMAT, "these numbers are no state of parts");
    BO_TRY(bo_tree_restore_plain(e->ctx, e->model, e->state, state + OWN_NUMBERS, (size_t)state[0]));
    e->changes.next = (int32_t)state[1];
    e->changes.given = state[2], e->start_steady = state[3];
    return BOUGH_OK;
}

/* ---- measuring ---- */

static bough_status measure_probe(const tree_engine *e, int32_t probe, double *values) {
    BO_TRY(point_of(e, e->plan->probes[probe].part, e->vertices[probe], values, values + 6));
    for (size_t d = 0; d < 3; d++)
        values[3 + d] = values[d] - e->rest[3 * (size_t)probe + d];
    return BOUGH_OK;
}

/* At one point, or at that with the largest von Mises. */
static bough_status measure_stress(const tree_engine *e, int32_t probe, double *values) {
    const int32_t part = e->plan->probes[probe].part, point = e->points[probe];
    const int32_t first = point < 0 ? 0 : point,
                  end = point < 0 ? bo_tree_component_of(e, part)->stress.count : point + 1;
    double most = -1;
    for (int32_t i = first; i < end; i++) {
        bough_stress stress;
        BO_TRY(bough_tree_state_stress(e->ctx, e->model, e->state, part, i, &stress));
        if (stress.von_mises <= most)
            continue;
        most = values[0] = stress.von_mises;
        memcpy(values + 1, stress.principal, sizeof stress.principal);
    }
    return BOUGH_OK;
}

/* Lumped couplings do not have the energy that they should, so that nobody can tell what their steps make. */
static double counted_work(const tree_engine *e, double *doubt) {
    const double counted = bough_tree_state_work(e->model, e->state, doubt);
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
    bough_tree_energies energies;
    double external;
    BO_TRY(bough_tree_state_energies(e->ctx, e->model, e->state, &energies));
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
    for (int32_t i = 0; i < e->plan->probe_count; i++) {
        const bo_probe *probe = &e->plan->probes[i];
        const int columns = bo_probe_columns(probe);
        const bool contact = probe->kind == BO_PROBE_CONTACT; /* the run measures that */
        const bool there = contact || bo_tree_is_there(e, probe->part);
        for (int k = 0; k < columns; k++)
            values[k] = NAN, blank[k] = !there;
        if (there && !contact)
            BO_TRY(probe->kind == BO_PROBE_STRESS ? measure_stress(e, i, values) : measure_probe(e, i, values));
        values += columns, blank += columns;
    }
    return BOUGH_OK;
}

static bough_status stresses(void *data, double *von_mises) {
    const tree_engine *e = data;
    bough_tree_state_peak_stresses(e->ctx, e->model, e->state, von_mises);
    return BOUGH_OK;
}

static bough_status vertex_stresses(void *data, float *von_mises) {
    const tree_engine *e = data;
    bough_tree_state_surface_stress(e->ctx, e->model, e->state, von_mises);
    return BOUGH_OK;
}

/* ---- recordings of all that is done to the state, for replays ---- */

static bough_status start_inputs(void *data, const char *path) {
    tree_engine *e = data;
    if (!(e->inputs_path = bo_strdup(e->ctx, path)))
        return BOUGH_ERROR_MEMORY;
    return bough_tree_log_start(e->ctx, e->model, e->state, &e->inputs);
}

static bough_status flush_inputs(void *data) {
    const tree_engine *e = data;
    return e->inputs ? bough_tree_log_flush(e->ctx, e->model, e->inputs, e->inputs_path) : BOUGH_OK;
}

static bough_status end_inputs(void *data, bool kept) {
    tree_engine *e = data;
    if (!e->inputs)
        return BOUGH_OK;
    bough_status status = kept ? bough_tree_log_stop(e->ctx, e->model, e->inputs) : BOUGH_OK;
    if (status == BOUGH_OK && kept)
        status = bough_tree_log_save(e->ctx, e->inputs, e->inputs_path);
    bough_tree_log_destroy(e->ctx, e->inputs);
    e->inputs = NULL;
    return status;
}

/* ---- making ---- */

static void destroy(bough_context *ctx, void *data) {
    tree_engine *e = data;
    end_inputs(e, true);
    bough_tree_state_destroy(ctx, e->state);
    bough_tree_model_destroy(ctx, e->model);
    bo_changes_free(ctx, &e->changes);
    bo_tree_drop_surface(e);
    void *const blocks[] = {e->vertices,  e->points, e->rest,  e->pushed,      e->pushed_rest,
                            e->positions, e->rates,  e->blank, e->inputs_path, e};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        bo_free(ctx, blocks[i]);
}

/* Room for one part at a time. */
static bough_status make_room(tree_engine *e) {
    const bough_tree_model_def *def = bough_tree_model_describe(e->model);
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
    BO_TRY(bo_tree_positions_of(e, e->state, part));
    for (int32_t v = 0; v < bo_tree_component_of(e, part)->surface.vertex_count; v++) {
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
    if (bo_tree_is_there(e, part))
        return point_of(e, part, vertex, position, velocity);
    BO_TRY(bo_tree_positions_of(e, e->state, part));
    for (size_t d = 0; d < 3; d++)
        position[d] =
            vertex < 0 ? e->state->frames[part].pose.position[d] : (double)e->positions[3 * (size_t)vertex + d];
    return BOUGH_OK;
}

static bough_status place_forces(tree_engine *e) {
    const bo_tree_plan *plan = e->plan;
    e->pushed = BO_NEW_ZEROS(e->ctx, int32_t, plan->force_count);
    e->pushed_rest = BO_NEW_ZEROS(e->ctx, double, 3 * (size_t)plan->force_count);
    if (!e->pushed || !e->pushed_rest)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < plan->force_count; i++) {
        const bo_tree_force *force = &plan->forces[i];
        if (force->at_surface && bo_tree_component_of(e, force->part)->surface.vertex_count == 0)
            return bo_fail(e->ctx, BOUGH_ERROR_FORMAT, "force %d is at the surface of a part that has none", i);
        e->pushed[i] = -1;
        if (force->at_surface)
            BO_TRY(find_nearest(e, force->part, force->rest, &e->pushed[i]));
        BO_TRY(rest_of(e, force->part, e->pushed[i], e->pushed_rest + 3 * (size_t)i));
    }
    return BOUGH_OK;
}

/* Returns the position of stress point i of the part, which is still at rest. */
static bo_vec3 stress_position(const tree_engine *e, int32_t part, int32_t i) {
    const bough_frame *frame = &e->state->frames[part];
    const double scale = bough_tree_model_describe(e->model)->parts[part].scale;
    bo_mat3 R;
    memcpy(R.m, frame->pose.rotation, sizeof R.m);
    const bo_vec3 X = bo_load3(bo_tree_component_of(e, part)->stress.position + 3 * (size_t)i);
    return bo_mul_add(bo_load3(frame->pose.position), scale, bo_mat_vec(R, X));
}

/* The point of the probe's element, or the nearest of those there are. */
static bough_status place_stress(tree_engine *e, int32_t i) {
    const bo_probe *probe = &e->plan->probes[i];
    const bough_material_points *stress = &bo_tree_component_of(e, probe->part)->stress;
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
    const bo_tree_plan *plan = e->plan;
    e->vertices = BO_NEW_ZEROS(e->ctx, int32_t, plan->probe_count);
    e->points = BO_NEW_ZEROS(e->ctx, int32_t, plan->probe_count);
    e->rest = BO_NEW_ZEROS(e->ctx, double, 3 * (size_t)plan->probe_count);
    e->blank = BO_NEW_ZEROS(e->ctx, bool, BOUGH_COLUMN_PROBES + 9 * (size_t)plan->probe_count);
    if (!e->vertices || !e->points || !e->rest || !e->blank)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < plan->probe_count; i++) {
        const bo_probe *probe = &plan->probes[i];
        e->points[i] = -1;
        if (probe->kind == BO_PROBE_STRESS) {
            BO_TRY(place_stress(e, i));
            continue;
        }
        if (probe->kind == BO_PROBE_CONTACT)
            continue;
        if (probe->at_surface && bo_tree_component_of(e, probe->part)->surface.vertex_count == 0)
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
        bough_tree_root *root = &e->state->roots[k];
        const bo_tree_start *start = &e->plan->starts[root->part];
        memcpy(root->velocity, start->velocity, sizeof root->velocity);
        memcpy(root->angular_velocity, start->angular_velocity, sizeof root->angular_velocity);
    }
    return bough_tree_state_update(e->ctx, e->model, e->state);
}

/* These two are the tree's own step, linearised once. */
static bool is_own(const char *integrator) {
    return strcmp(integrator, "hht") == 0 || strcmp(integrator, "newmark") == 0;
}

double bo_tree_alpha(const bough_integrator_def *integrator) {
    return strcmp(integrator->name, "newmark") == 0 ? 0 : integrator->alpha;
}

static bough_status build(const bo_engine_settings *settings, bough_continuity continuity, tree_engine *e,
                          double *residual) {
    bough_context *ctx = e->ctx;
    bough_tree_energies energies;
    BO_TRY(bough_tree_state_create(ctx, e->model, &e->state));
    BO_TRY(bo_changes_make(ctx, e->plan, e->model, &e->changes));
    e->changes.energy = total_energy, e->changes.energy_data = e;
    BO_TRY(make_room(e));
    e->state->continuity = continuity;
    BO_TRY(place_forces(e));
    BO_TRY(place_probes(e));
    BO_TRY(bough_tree_state_energies(ctx, e->model, e->state, &energies));
    e->rest_gravity = energies.gravity;
    bough_tree_settle_def search = bough_default_tree_settle_def();
    search.push = push_steadily, search.data = e;
    if (e->plan->touch) {
        BO_TRY(bo_tree_check_samples(e));
        BO_TRY(bo_tree_state_touch(ctx, e->model, e->state, e->plan->touch));
    }
    if (settings->settle)
        BO_TRY(bough_tree_state_settle(ctx, e->model, e->state, &search, residual));
    if (e->state->root_count > 0)
        BO_TRY(set_off(e));
    e->state->wind = bo_changes_wind(&e->changes, 0);
    BO_TRY(bo_changes_happen(ctx, &e->changes, e->state, 0));
    if (e->plan->touch)
        bo_tree_warn_of_overlaps(e);
    BO_TRY(measure_forces(e, &e->start_steady));
    e->changes.given = 0;
    return is_own(settings->integrator.name)
               ? BOUGH_OK
               : bough_tree_state_use_integrator(ctx, e->model, e->state, &settings->integrator);
}

/* ---- settings between steps ---- */

static bough_status paint_one(const tree_engine *e, bo_paint what, int32_t part, double value) {
    return what == BO_PAINT_STIFFNESS ? bough_tree_state_set_stiffness(e->ctx, e->model, e->state, part, value)
                                      : bough_tree_state_set_damping_ratio(e->ctx, e->model, e->state, part, value);
}

static bough_status paint_siblings(const tree_engine *e, bo_paint what, int32_t component, double value) {
    return what == BO_PAINT_STIFFNESS
               ? bough_tree_state_set_component_stiffness(e->ctx, e->model, e->state, component, value)
               : bough_tree_state_set_component_damping_ratio(e->ctx, e->model, e->state, component, value);
}

/* Whoever makes what is bent stiffer gives it energy. */
static bough_status paint(void *data, bo_paint what, int32_t part, bool siblings, double value) {
    tree_engine *e = data;
    double before, after;
    BO_TRY(total_energy(e, &before));
    BO_TRY(siblings ? paint_siblings(e, what, bough_tree_model_describe(e->model)->parts[part].component, value)
                    : paint_one(e, what, part, value));
    BO_TRY(total_energy(e, &after));
    e->changes.given += after - before;
    return BOUGH_OK;
}

const char *const bo_coupling_names[] = {"L1", "L2", "L2R", "L3", NULL};
const char *const bo_continuity_names[] = {"C0", "C1", "none", NULL};

/* Joints, ties and integrators may need the exact one, which a step of no length finds out. */
static bough_status choose_coupling(tree_engine *e, bough_coupling coupling) {
    const bough_coupling before = e->state->coupling;
    e->state->coupling = coupling;
    const bough_status status = bough_tree_step(e->ctx, e->model, e->state, 0);
    if (status != BOUGH_OK)
        e->state->coupling = before;
    return status;
}

static bough_status choose_integrator(tree_engine *e, const char *name) {
    bough_integrator_def def = bough_default_integrator_def();
    def.name = name;
    BO_TRY(bough_tree_state_use_integrator(e->ctx, e->model, e->state, is_own(name) ? NULL : &def));
    e->state->alpha = bo_tree_alpha(&def);
    return BOUGH_OK;
}

static bough_status choose(void *data, bo_word what, const char *name) {
    tree_engine *e = data;
    int32_t i = 0;
    if (what == BO_WORD_INTEGRATOR)
        return choose_integrator(e, name);
    const char *const *names = what == BO_WORD_COUPLING ? bo_coupling_names : bo_continuity_names;
    while (names[i] && !bo_equal_ignoring_case(names[i], name))
        i++;
    if (!names[i])
        return bo_fail(e->ctx, BOUGH_ERROR_ARGUMENT, "there is no %s \"%s\"",
                       what == BO_WORD_COUPLING ? "coupling" : "continuity", name);
    if (what == BO_WORD_COUPLING)
        return choose_coupling(e, (bough_coupling)i);
    e->state->continuity = (bough_continuity)i;
    return BOUGH_OK;
}

/* The coupling as it is now: live runs change it. */
static void report(const void *data, bo_engine_report *to) {
    const tree_engine *e = data;
    to->coupling = bo_coupling_names[e->state->coupling];
    to->passes = bough_tree_model_describe(e->model)->passes;
}

static const bough_wind *wind_now(const void *data) {
    return &((const tree_engine *)data)->state->wind;
}

static const bough_tree_model *model_of(const void *data, bough_tree_state **state) {
    const tree_engine *e = data;
    *state = e->state;
    return e->model;
}

/* ---- contacts ---- */

static int32_t contacts(const void *data, int32_t most, bough_run_contact *list) {
    const tree_engine *e = data;
    const int32_t parts = bough_tree_model_part_count(e->model);
    const int32_t count = bough_tree_state_contacts(e->state, most, list);
    for (int32_t i = 0; i < count && i < most; i++)
        for (int side = 0; side < 2; side++) {
            int32_t *thing = &list[i].things[side];
            *thing = *thing < 0 ? parts - 1 - *thing : *thing; /* obstacle k is -1 - k, and stands behind the parts */
        }
    return count;
}

/* ---- the table ---- */

const bo_engine_kind bo_tree_engine = {
    .name = "tree",
    .label = "tree",
    .title = "the tree engine",
    .can = BOUGH_CAN_PULL | BOUGH_CAN_GRAVITY | BOUGH_CAN_WIND | BOUGH_CAN_CHANGE | BOUGH_CAN_PAINT | BOUGH_CAN_MOTORS |
           BOUGH_CAN_STRESS | BOUGH_CAN_DEVIATION | BOUGH_CAN_COUPLING | BOUGH_CAN_CONTINUITY | BOUGH_CAN_INTEGRATOR |
           BOUGH_CAN_INPUTS | BOUGH_CAN_CONTACTS,
    .destroy = destroy,
    .step = step,
    .measure = measure,
    .work = work,
    .state_size = state_size,
    .save = save,
    .restore = restore,
    .gather = bo_tree_gather,
    .look_at = bo_tree_look_at,
    .rest_surface = bo_tree_rest_surface,
    .surface = bo_tree_surface,
    .positions = bo_tree_positions,
    .seams = bo_tree_seams,
    .take_hands = take_hands,
    .feel = bo_tree_feel,
    .motor = look_at_motor,
    .set_gravity = set_gravity,
    .wind = wind_now,
    .change = change,
    .changes = changes,
    .paint = paint,
    .choose = choose,
    .stresses = stresses,
    .vertex_stresses = vertex_stresses,
    .deviations = bo_tree_deviations,
    .contacts = contacts,
    .start_inputs = start_inputs,
    .flush_inputs = flush_inputs,
    .end_inputs = end_inputs,
    .report = report,
    .model = model_of,
};

bough_status bo_tree_engine_create(bough_context *ctx, const bo_tree_plan *plan, bough_tree_model *model,
                                   bough_continuity continuity, const bo_engine_settings *settings, bo_engine *engine) {
    *engine = (bo_engine){.kind = &bo_tree_engine, .head_size = HEAD, .residual = NAN};
    tree_engine *e = BO_NEW(ctx, tree_engine);
    if (!e) {
        bough_tree_model_destroy(ctx, model);
        return BOUGH_ERROR_MEMORY;
    }
    engine->data = e;
    e->ctx = ctx;
    e->plan = plan;
    e->model = model;
    bough_status status = build(settings, continuity, e, &engine->residual);
    if (status == BOUGH_OK)
        status = bo_engine_name_columns(ctx, engine, plan->probe_count, plan->probes);
    if (status != BOUGH_OK) {
        bo_engine_destroy(ctx, engine);
        return status;
    }
    engine->stress_count = bough_tree_model_part_count(e->model);
    bo_tree_motors_find(e->model, &e->motors);
    engine->motor_count = e->motors.count;
    engine->in_pieces = plan->event_count > 0 || plan->strength || plan->tie_strength || isfinite(plan->remove_below);
    engine->integrator = bo_registered_integrator(settings->integrator.name);
    engine->blank = e->blank;
    return BOUGH_OK;
}
