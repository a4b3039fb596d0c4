#include "multibody/engine_inside.h"

#include "base/pose.h"
#include "rig/joint.h"

#include <string.h>

/* ---- forces ---- */

static bool is_steady(const bo_multibody_load *load) {
    return load->from == 0 && load->until == INFINITY && load->curve < 0;
}

void bo_multibody_apply_loads(multibody_engine *e, double t, bool steady) {
    const bo_multibody_plan *plan = e->plan;
    const bo_vec3 none = {0, 0, 0};
    memset(e->state->force, 0, (size_t)e->model->nv * sizeof *e->state->force);
    memset(e->push, 0, (size_t)e->model->nv * sizeof *e->push);
    for (int32_t i = 0; i < plan->load_count; i++) {
        const bo_multibody_load *load = &plan->loads[i];
        if (steady ? !is_steady(load) : !(t >= load->from && t < load->until))
            continue;
        const double s = load->curve < 0 ? 1 : bo_curve_at(&plan->curves[load->curve], t);
        const bo_vec3 force = bo_scale(s, bo_load3(load->force)), torque = bo_scale(s, bo_load3(load->torque));
        const bo_multibody_place *place = &e->load_places[i];
        bo_multibody_push(e, &place->frame, place->vertex, force, torque, e->state->force);
        bo_multibody_push(e, &place->frame, place->vertex, is_steady(load) ? none : force, torque, e->push);
    }
}

/* Potential of the steady forces, 0 at the start of the scene: -f . u. */
static double measure_loads(const multibody_engine *e) {
    double potential = 0, x[3], v[3];
    for (int32_t i = 0; i < e->plan->load_count; i++) {
        const bo_multibody_load *load = &e->plan->loads[i];
        if (!is_steady(load))
            continue;
        bo_multibody_point(e, &e->load_places[i].frame, e->load_places[i].vertex, x, v);
        const bo_vec3 moved = bo_sub(bo_load3(x), bo_load3(e->load_places[i].rest));
        potential -= bo_dot(bo_load3(load->force), moved);
    }
    return potential;
}

/* A number for the set of forces that act in a step from t on: another one where some began or ended. */
static double forces_at(const multibody_engine *e, double t) {
    double sum = e->hands && e->hands->poke.holds ? 0.5 : 0;
    for (int32_t i = 0; i < e->plan->load_count; i++)
        if (t >= e->plan->loads[i].from && t < e->plan->loads[i].until)
            sum += i + 1.0;
    for (int i = 0; e->hands && i < BOUGH_RUN_HANDS; i++)
        sum += e->hands->pulls[i].holds ? ldexp(1, 30 + i) : 0;
    return sum;
}

static void take_hands(void *data, const bo_hands *hands) {
    ((multibody_engine *)data)->hands = hands;
}

/* ---- the account of a step ---- */

static double motor_power(const multibody_engine *e) {
    double sum = 0;
    for (int32_t m = 0; m < e->model->def.motor_count; m++) {
        double rate;
        const double force = bo_multibody_motor_force(e, m, &rate);
        sum += force * rate;
    }
    return sum;
}

/* Forces are the same from the start of the step to its end; the power of motors is taken to change evenly, and how
 * much it changes tells how far off that may be. */
static void count_work(multibody_engine *e, double h) {
    bo_mb_state *s = bo_mb(e->state);
    if (s->method) { /* its last evaluation need not be that of the step's end */
        bough_multibody_energies ignored;
        bough_multibody_measure(e->model, e->state, &ignored);
    }
    const double power = e->model->def.motor_count > 0 ? motor_power(e) : 0;
    const double before = e->has_power ? e->power : power;
    e->work += 0.5 * h * (before + power);
    e->doubt = fmax(e->doubt, 0.5 * h * fabs(power - before));
    e->power = power, e->has_power = true;
    s->system.difference(s, e->state->u, e->start, e->way);
    for (int32_t i = 0; i < e->model->nv; i++)
        e->work += e->push[i] * e->way[i];
}

static double work(const void *data, double *doubt) {
    const multibody_engine *e = data;
    *doubt = e->doubt;
    return e->work;
}

/* ---- gaps ---- */

/* Rows of a joint: the first three are distances, the others angles; those of a gear are neither. */
static bough_run_gap gap_of(const multibody_engine *e, int32_t j, const double *c) {
    const bo_mb_joint *joint = &e->model->joints[j];
    bough_run_gap gap = {.joint = j, .name = e->model->def.joints[j].name, .time = e->state->time};
    for (int32_t i = 0; i < joint->row_count; i++) {
        double *to = i < 3 ? &gap.distance : &gap.angle;
        *to = hypot(*to, c[joint->row + i]);
    }
    gap.error = fmax(gap.distance / e->model->length, gap.angle);
    return gap;
}

void bo_multibody_watch_gaps(multibody_engine *e) {
    e->gap = (bough_run_gap){.joint = -1};
    for (int32_t j = 0; j < e->model->def.joint_count; j++) {
        const bough_run_gap gap = gap_of(e, j, bo_mb(e->state)->c);
        if (e->gap.joint < 0 || gap.error > e->gap.error)
            e->gap = gap;
    }
    if (e->worst_gap.joint < 0 || e->gap.error > e->worst_gap.error)
        e->worst_gap = e->gap;
}

static bool joint_gap(void *data, bough_run_gap *now, bough_run_gap *worst) {
    const multibody_engine *e = data;
    *now = e->gap, *worst = e->worst_gap;
    return e->model->def.joint_count > 0;
}

/* Those of the scene; clamps of rigid parts are no joints to look at. */
static int32_t joints(const void *data, int32_t most, bough_run_joint *list) {
    const multibody_engine *e = data;
    const int32_t count = e->given.joint_count;
    for (int32_t j = 0; j < count && j < most; j++) {
        const bough_joint_def *def = &e->model->def.joints[j];
        bough_run_joint *to = &list[j];
        double wrench[6];
        *to = (bough_run_joint){.name = def->name, .kind = bough_joint_name(def->kind)};
        to->things[0] = def->parent.body, to->things[1] = def->child.body;
        bough_multibody_frame(e->model, e->state, &def->child, &to->pose, NULL);
        bough_multibody_joint_wrench(e->model, e->state, j, wrench);
        memcpy(to->force, wrench, sizeof to->force);
        memcpy(to->torque, wrench + 3, sizeof to->torque);
    }
    return count;
}

/* ---- steps ---- */

static bough_status step(void *data, double t, double h, int64_t *iterations) {
    multibody_engine *e = data;
    const size_t nv = (size_t)e->model->nv;
    e->state->time = t; /* counted by the run, so that it does not drift */
    bo_multibody_guide(e, t);
    bo_multibody_apply_loads(e, t + 1e-6 * h, false); /* times that rounding took apart are the same */
    if (e->hands) {
        double *pulled = e->unit + nv;
        memset(pulled, 0, nv * sizeof *pulled);
        BO_TRY(bo_multibody_pull(e, h, pulled));
        for (size_t i = 0; i < nv; i++)
            e->state->force[i] += pulled[i], e->push[i] += pulled[i];
    }
    const double acting = forces_at(e, t + 1e-6 * h);
    if (acting != e->acting)
        bo_multibody_begin_anew(e, h);
    e->acting = acting;
    memcpy(e->start, e->state->u, (size_t)e->model->nu * sizeof *e->start);
    BO_TRY(bo_multibody_step_among(e, h));
    *iterations += e->state->iterations;
    for (int32_t m = 0; m < e->model->def.motor_count; m++) {
        double rate;
        bo_multibody_drive(e, m, e->state->time, &e->guides.places[m], &rate);
    }
    count_work(e, h);
    bo_multibody_watch_gaps(e);
    return BOUGH_OK;
}

static bough_status set_gravity(void *data, const double gravity[3]) {
    multibody_engine *e = data;
    memcpy(e->state->gravity, gravity, sizeof e->state->gravity);
    e->acting = BO_MULTIBODY_OTHER_FORCES;
    return BOUGH_OK;
}

static bough_status use_integrator(multibody_engine *e, const bough_integrator_def *def) {
    const bool own = strcmp(def->name, BO_MULTIBODY_INTEGRATOR) == 0;
    if (!own && e->around)
        return bo_fail(e->ctx, BOUGH_ERROR_UNSUPPORTED,
                       "bodies that touch are stepped by \"" BO_MULTIBODY_INTEGRATOR "\", not by \"%.60s\"", def->name);
    if (!own && e->plan->tolerance > 0)
        return bo_fail(e->ctx, BOUGH_ERROR_UNSUPPORTED,
                       "a \"tolerance\" is for \"" BO_MULTIBODY_INTEGRATOR "\", not for \"%.60s\"", def->name);
    return bough_multibody_use_integrator(e->ctx, e->model, e->state, own ? NULL : def);
}

static bough_status choose(void *data, bo_word what, const char *name) {
    multibody_engine *e = data;
    bough_integrator_def def = bough_default_integrator_def();
    def.name = name;
    (void)what; /* the only word that this engine knows */
    BO_TRY(use_integrator(e, &def));
    e->acting = BO_MULTIBODY_OTHER_FORCES; /* the step before was another method's */
    return BOUGH_OK;
}

/* ---- measuring ---- */

static void measure_motion(const multibody_engine *e, int32_t probe, double *values) {
    const bo_multibody_place *place = &e->probe_places[probe];
    bo_multibody_point(e, &place->frame, place->vertex, values, values + 6);
    for (size_t d = 0; d < 3; d++)
        values[3 + d] = values[d] - place->rest[d];
}

static void measure_joint(const multibody_engine *e, const bo_probe *probe, double *values) {
    const bough_run_gap gap = gap_of(e, probe->joint, bo_mb(e->state)->c);
    double y[BOUGH_MOST_FREEDOMS] = {0};
    bough_multibody_joint_coordinates(e->model, e->state, probe->joint, y, NULL);
    values[0] = y[probe->freedom];
    values[1] = gap.distance, values[2] = gap.angle;
}

static void measure_motor(const multibody_engine *e, int32_t motor, double *values) {
    const bough_motor_def *def = &e->model->def.motors[motor];
    double y[BOUGH_MOST_FREEDOMS];
    bough_multibody_joint_coordinates(e->model, e->state, def->joint, y, NULL);
    values[0] = y[def->freedom];
    values[2] = bo_multibody_motor_force(e, motor, &values[1]);
}

static void measure_probe(multibody_engine *e, int32_t i, double *values) {
    const bo_probe *probe = &e->plan->probes[i];
    switch (probe->kind) {
    case BO_PROBE_JOINT:
        measure_joint(e, probe, values);
        break;
    case BO_PROBE_WRENCH:
        bough_multibody_joint_wrench(e->model, e->state, probe->joint, values);
        break;
    case BO_PROBE_MOTOR:
        measure_motor(e, probe->motor, values);
        break;
    case BO_PROBE_TOUCH:
        bo_multibody_touch(e, probe->part, values);
        break;
    case BO_PROBE_STRESS:
        bo_multibody_measure_stress(e, probe->part, e->stress_points[i], values);
        break;
    case BO_PROBE_CONTACT: /* the run does that */
        break;
    default:
        measure_motion(e, i, values);
    }
}

static bough_status measure(void *data, double t, double *values) {
    multibody_engine *e = data;
    bough_multibody_energies energies;
    bough_multibody_measure(e->model, e->state, &energies);
    const double elastic = energies.elastic + energies.springs - bo_multibody_motor_energy(e);
    const double external = energies.gravity - e->rest_gravity + measure_loads(e);
    values[BOUGH_COLUMN_TIME] = t;
    values[BOUGH_COLUMN_ELASTIC] = elastic;
    values[BOUGH_COLUMN_KINETIC] = energies.kinetic;
    values[BOUGH_COLUMN_EXTERNAL] = external;
    values[BOUGH_COLUMN_TOTAL] = elastic + energies.kinetic + external;
    memcpy(values + BOUGH_COLUMN_MOMENTUM, energies.momentum, sizeof energies.momentum);
    memcpy(values + BOUGH_COLUMN_ANGULAR_MOMENTUM, energies.angular_momentum, sizeof energies.angular_momentum);
    values += BOUGH_COLUMN_PROBES;
    for (int32_t i = 0; i < e->plan->probe_count; i++) {
        measure_probe(e, i, values);
        values += bo_probe_columns(&e->plan->probes[i]);
    }
    return BOUGH_OK;
}

/* ---- making ---- */

static void destroy(bough_context *ctx, void *data) {
    multibody_engine *e = data;
    bo_multibody_drop_surface(e);
    bo_multibody_free_guides(e);
    bough_contact_world_destroy(ctx, e->around);
    bough_multibody_state_destroy(ctx, e->state);
    bough_multibody_destroy(ctx, e->model);
    for (int32_t c = 0; c < e->full_count; c++)
        if (e->full[c])
            e->full[c]->kind->destroy(ctx, e->full[c]);
    void *const blocks[] = {e->full,
                            e->probe_places,
                            e->load_places,
                            e->stress_points,
                            e->blank,
                            e->part_rests,
                            e->push,
                            e->start,
                            e->way,
                            e->unit,
                            e->kept_force,
                            e->kept_coordinates,
                            (void *)(uintptr_t)e->given.parts};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        bo_free(ctx, blocks[i]);
    bo_free(ctx, e);
}

static bough_status make_model(multibody_engine *e, const bough_component *const *components, bool stiff) {
    const bough_multibody_def *def = &e->plan->def;
    bough_flexible_def *parts = BO_NEW_ARRAY(e->ctx, bough_flexible_def, def->part_count);
    if (!parts)
        return BOUGH_ERROR_MEMORY;
    for (int32_t p = 0; p < def->part_count; p++) {
        parts[p] = def->parts[p];
        parts[p].component = components[e->plan->components[p]];
        parts[p].full = e->full ? e->full[e->plan->components[p]] : NULL;
    }
    e->given = *def;
    e->given.parts = parts;
    return stiff ? bo_multibody_make_stiff(e->ctx, &e->given, &e->model)
                 : bough_multibody_create(e->ctx, &e->given, &e->model);
}

static bough_status make_room(multibody_engine *e) {
    const size_t nv = (size_t)e->model->nv, probes = (size_t)e->plan->probe_count, loads = (size_t)e->plan->load_count;
    e->push = BO_NEW_ZEROS(e->ctx, double, nv);
    e->way = BO_NEW_ZEROS(e->ctx, double, nv);
    e->unit = BO_NEW_ZEROS(e->ctx, double, 2 * nv); /* and the forces of hands */
    e->kept_force = BO_NEW_ZEROS(e->ctx, double, nv);
    e->kept_coordinates = BO_NEW_ZEROS(e->ctx, double, e->model->coordinate_count);
    e->start = BO_NEW_ZEROS(e->ctx, double, e->model->nu);
    e->probe_places = BO_NEW_ZEROS(e->ctx, bo_multibody_place, probes);
    e->load_places = BO_NEW_ZEROS(e->ctx, bo_multibody_place, loads);
    e->stress_points = BO_NEW_ZEROS(e->ctx, int32_t, probes);
    e->blank = BO_NEW_ZEROS(e->ctx, bool, BOUGH_COLUMN_PROBES + 9 * probes);
    e->part_rests = BO_NEW_ARRAY(e->ctx, bough_pose, e->given.part_count);
    return e->push && e->way && e->unit && e->start && e->probe_places && e->load_places && e->stress_points &&
                   e->blank && e->part_rests && e->kept_force && e->kept_coordinates
               ? BOUGH_OK
               : BOUGH_ERROR_MEMORY;
}

/* A spot while all is as the scene has it. A vertex of a part that does not bend is a point of a body. */
static bough_status place_spot(multibody_engine *e, const bo_multibody_spot *spot, const char *what,
                               bo_multibody_place *place) {
    double ignored[3];
    place->frame = spot->frame, place->vertex = -1;
    if (spot->nearest) {
        const int32_t part = spot->frame.body - e->given.body_count;
        if (e->given.parts[part].component->surface.vertex_count == 0)
            return bo_fail(e->ctx, BOUGH_ERROR_FORMAT, "%s is at the surface of a part that has none", what);
        place->vertex = bo_multibody_nearest(e, part, spot->rest);
    }
    if (bo_multibody_is_stiff(e)) {
        place->frame = bo_multibody_stiff_frame(&e->given, &place->frame);
        if (place->vertex >= 0)
            bo_multibody_vertex(e, spot->frame.body, place->vertex, place->frame.pose.position);
        place->vertex = -1;
    }
    bo_multibody_point(e, &place->frame, place->vertex, place->rest, ignored);
    return BOUGH_OK;
}

static bough_status place_stress(multibody_engine *e, int32_t i) {
    const bo_probe *probe = &e->plan->probes[i];
    const bough_material_points *points = &e->given.parts[probe->part].component->stress;
    const bough_full_part *full = e->given.parts[probe->part].full;
    const bo_vec3 at = bo_se3_apply(bo_se3_inverse(bo_pose(&e->part_rests[probe->part])), bo_load3(probe->rest));
    const int32_t count = full ? full->element_count : points->count;
    double least = INFINITY;
    if (count == 0 || (!full && !probe->most && !points->position))
        return bo_fail(e->ctx, BOUGH_ERROR_FORMAT,
                       "the probe \"%s\" asks for the stress of a part without stress points; see \"samples\" of its "
                       "component",
                       probe->name);
    e->stress_points[i] = -1;
    for (int32_t k = 0; k < count && !probe->most; k++) {
        const bo_vec3 x = full ? full->kind->centre(full, k) : bo_load3(points->position + 3 * (size_t)k);
        const double d = bo_norm(bo_sub(x, at));
        if (d < least)
            least = d, e->stress_points[i] = k;
    }
    return BOUGH_OK;
}

static bough_status place_all(multibody_engine *e) {
    const bo_multibody_plan *plan = e->plan;
    bough_multibody_energies energies;
    bough_multibody_measure(e->model, e->state, &energies);
    e->rest_gravity = energies.gravity;
    for (int32_t p = 0; p < e->given.part_count; p++) {
        bo_twist ignored;
        e->part_rests[p] = bo_put_pose(bo_multibody_thing(e, e->given.body_count + p, &ignored));
    }
    bool *blank = e->blank + BOUGH_COLUMN_PROBES;
    for (int32_t i = 0; i < plan->probe_count; i++) {
        if (plan->probes[i].kind == BO_PROBE_MOTION)
            BO_TRY(place_spot(e, &plan->spots[i], plan->probes[i].name, &e->probe_places[i]));
        else if (plan->probes[i].kind == BO_PROBE_STRESS)
            BO_TRY(place_stress(e, i));
        for (int k = bo_probe_columns(&plan->probes[i]); k > 0; k--)
            *blank++ = plan->probes[i].kind == BO_PROBE_STRESS && bo_multibody_is_stiff(e);
    }
    for (int32_t i = 0; i < plan->load_count; i++)
        BO_TRY(place_spot(e, &plan->loads[i].spot, "a force", &e->load_places[i]));
    return BOUGH_OK;
}

static void warn_of_redundant(const multibody_engine *e) {
    int32_t joint = -1;
    const int32_t count = bough_multibody_redundant(e->model, 0, &joint);
    if (count > 0)
        bo_warn(e->ctx,
                "%s: %d constraints follow from others, the first of them in joint %d%s%s%s; forces in such loops are "
                "shared evenly",
                e->plan->path, count, joint, joint >= 0 && e->model->def.joints[joint].name ? " (" : "",
                joint >= 0 && e->model->def.joints[joint].name ? e->model->def.joints[joint].name : "",
                joint >= 0 && e->model->def.joints[joint].name ? ")" : "");
}

static bough_status build(const bough_component *const *components, const bo_engine_settings *settings, bool stiff,
                          multibody_engine *e, double *residual) {
    BO_TRY(make_model(e, components, stiff));
    BO_TRY(bough_multibody_state_create(e->ctx, e->model, &e->state));
    bo_mb_keep_momenta(bo_mb(e->state));
    BO_TRY(make_room(e));
    BO_TRY(bo_multibody_make_guides(e));
    BO_TRY(place_all(e));
    warn_of_redundant(e);
    e->state->drive = bo_multibody_drive, e->state->drive_data = e;
    BO_TRY(bo_multibody_make_around(e));
    BO_TRY(settings->settle ? bo_multibody_settle(e, residual) : bough_multibody_assemble(e->ctx, e->model, e->state));
    return use_integrator(e, &settings->integrator);
}

/* ---- the table ---- */

#define CAN                                                                                          \
    (BOUGH_CAN_PULL | BOUGH_CAN_GRAVITY | BOUGH_CAN_MOTORS | BOUGH_CAN_INTEGRATOR | BOUGH_CAN_GAPS | \
     BOUGH_CAN_CONTACTS | BOUGH_CAN_FOLLOW | BOUGH_CAN_JOINTS | BOUGH_CAN_MODES)
#define FUNCTIONS                                                                                                    \
    .things = "bodies and parts of a multibody system stay as they are", .destroy = destroy, .step = step,           \
    .measure = measure, .work = work, .state_size = bo_multibody_state_size, .save = bo_multibody_save,              \
    .restore = bo_multibody_restore, .gather = bo_multibody_gather, .look_at = bo_multibody_look_at,                 \
    .rest_surface = bo_multibody_rest_surface, .surface = bo_multibody_surface, .positions = bo_multibody_positions, \
    .take_hands = take_hands, .feel = bo_multibody_feel, .motor = bo_multibody_look_at_motor,                        \
    .set_gravity = set_gravity, .choose = choose, .joint_gap = joint_gap, .contacts = bo_multibody_contacts,         \
    .follow = bo_multibody_follow, .joints = joints, .modes = bo_multibody_modes

#define NAMED .name = "multibody", .label = "multibody", .title = "the multibody engine"

const bo_engine_kind bo_multibody_engine = {NAMED, .can = CAN | BOUGH_CAN_STRESS, .stresses = bo_multibody_stresses,
                                            .vertex_stresses = bo_multibody_vertex_stresses, FUNCTIONS};
/* Bodies have no stress. */
static const bo_engine_kind without_parts = {NAMED, .can = CAN, FUNCTIONS};
const bo_engine_kind bo_rigid_multibody_engine = {
    .name = "rigid", .label = "rigid parts", .title = "the multibody engine with rigid parts", .can = CAN, FUNCTIONS};
const bo_engine_kind bo_multibody_twin_engine = {
    .name = "full", .label = "full order", .title = "the full engine", .can = CAN & ~BOUGH_CAN_MODES, FUNCTIONS};

static bough_status take_full(multibody_engine *e, int32_t count, bough_full_part *const *full) {
    if (!full)
        return BOUGH_OK;
    if (!(e->full = BO_NEW_ARRAY(e->ctx, bough_full_part *, count)))
        return BOUGH_ERROR_MEMORY;
    memcpy(e->full, full, (size_t)count * sizeof *e->full);
    e->full_count = count;
    return BOUGH_OK;
}

bough_status bo_multibody_engine_create(bough_context *ctx, const bo_multibody_plan *plan, const bo_engine_kind *kind,
                                        const bough_component *const *components, bough_full_part *const *full,
                                        int32_t component_count, const bo_engine_settings *settings,
                                        bo_engine *engine) {
    *engine = (bo_engine){.kind = plan->def.part_count > 0 ? kind : &without_parts,
                          .residual = NAN,
                          .motor_count = plan->def.motor_count, .overlaps = true};
    multibody_engine *e = BO_NEW(ctx, multibody_engine);
    if (e)
        e->ctx = ctx;
    if (!e || take_full(e, component_count, full) != BOUGH_OK) {
        for (int32_t c = 0; full && c < component_count; c++)
            if (full[c])
                full[c]->kind->destroy(ctx, full[c]);
        bo_free(ctx, e);
        return BOUGH_ERROR_MEMORY;
    }
    engine->data = e, engine->head_size = plan->def.motor_count;
    e->plan = plan;
    e->gap.joint = e->worst_gap.joint = -1;
    e->acting = BO_MULTIBODY_OTHER_FORCES;
    bough_status status = build(components, settings, kind == &bo_rigid_multibody_engine, e, &engine->residual);
    const int32_t apart = status == BOUGH_NO_CONVERGENCE && e->state ? bo_mb(e->state)->apart : -1;
    if (plan->point_at && apart >= 0 && apart < plan->def.joint_count)
        plan->point_at(ctx, plan->draw_data, apart);
    else if (status != BOUGH_OK && status != BOUGH_ERROR_MEMORY)
        bo_prefix_message(ctx, "%s: ", plan->path);
    engine->blank = e->blank;
    if (engine->kind->can & BOUGH_CAN_STRESS)
        engine->stress_count = plan->def.body_count + plan->def.part_count + plan->obstacle_count;
    engine->integrator = bo_registered_integrator(settings->integrator.name);
    if (status == BOUGH_OK)
        status = bo_engine_name_columns(ctx, engine, plan->probe_count, plan->probes);
    if (status != BOUGH_OK)
        bo_engine_destroy(ctx, engine);
    return status;
}
