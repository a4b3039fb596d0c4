/* Mechanisms as engines of runs, reduced or in full. */
#include "run/mechanism_engine.h"

#include "dense/lu.h"

#include <bough/run.h>

#include <math.h>
#include <string.h>

/* ---- loads ---- */

static void place(mechanism_engine *e) {
    if (!e->placed)
        e->l.kind->place(&e->l);
    e->placed = true;
}

static void push_spot(mechanism_engine *e, const bo_scene_spot *spot, bo_vec3 force, bo_vec3 torque) {
    e->l.kind->push(&e->l, spot->index, spot->at, force, torque);
}

static double factor_at(const bough_scene *scene, int32_t curve, double t) {
    return curve < 0 ? 1 : bo_curve_at(&scene->drive.curves[curve], t);
}

/* What acts steadily, or in a step that begins at t. */
static void load_at(mechanism_engine *e, double t, bool steady) {
    const bo_mechanism_scene *m = e->l.m;
    e->l.kind->clear_loads(&e->l);
    for (int32_t i = 0; i < m->load_count; i++) {
        const bo_scene_load *load = &m->loads[i];
        if (steady ? !bo_load_is_steady(load) : !(t >= load->from && t < load->until))
            continue;
        const double s = factor_at(e->l.scene, load->curve, t);
        push_spot(e, &load->spot, bo_scale(s, bo_load3(load->force)), bo_scale(s, bo_load3(load->torque)));
    }
}

/* The springs of a step are at rest where they are at its end. */
static void drive_at(mechanism_engine *e, double t) {
    const bo_mechanism_scene *m = e->l.m;
    for (int32_t k = 0; k < m->motor_count; k++) {
        const bo_curve *curve = &e->l.scene->drive.curves[m->motors[k].curve];
        e->l.offsets[k] = m->motors[k].scale * bo_curve_at(curve, t);
        e->l.rates[k] = m->motors[k].scale * bo_curve_slope(curve, t);
    }
    e->l.kind->drive(&e->l, e->l.offsets);
    e->placed = false;
}

/* ---- hands ---- */

static void take_hands(void *data, const bo_hands *hands) {
    ((mechanism_engine *)data)->hands = hands;
}

typedef struct {
    const bo_hand *hand;
    bo_scene_spot spot;
    double goal[3]; /* what the spring would pull with at the start of the step, without damping */
} grip;

static bo_scene_spot spot_of(const mechanism_engine *e, const bo_hand *hand) {
    bo_scene_spot spot = {.index = hand->part};
    bo_linkage_vertex(e, hand->part, hand->vertex, spot.at);
    return spot;
}

static int list_grips(mechanism_engine *e, grip *grips) {
    int count = 0;
    for (int i = 0; i < BOUGH_RUN_HANDS; i++) {
        const bo_hand *hand = &e->hands->pulls[i];
        if (!hand->holds || hand->part >= e->l.m->link_count)
            continue;
        grip *g = &grips[count++];
        *g = (grip){.hand = hand, .spot = spot_of(e, hand)};
        const bo_vec3 x = bo_linkage_point(&e->l, hand->part, g->spot.at);
        bo_store3(g->goal, bo_scale(hand->stiffness, bo_sub(bo_load3(hand->target), x)));
    }
    return count;
}

static void read_velocities(mechanism_engine *e, int count, const grip *grips, double *v) {
    e->l.kind->place(&e->l);
    for (int i = 0; i < count; i++)
        bo_store3(v + 3 * i, bo_linkage_velocity(&e->l, grips[i].spot.index, grips[i].spot.at));
}

/* Velocities of the gripped points after a step with a force of 1 N at one of them in direction d (at -1: none),
 * beside what acts already. Everything is then as it was. */
static bough_status try_force(mechanism_engine *e, double h, int count, const grip *grips, int at, int d, double *v) {
    const double unit[3] = {d == 0, d == 1, d == 2};
    int64_t ignored = 0;
    if (at >= 0)
        push_spot(e, &grips[at].spot, bo_load3(unit), bo_v3(0, 0, 0));
    const bough_status status = e->l.kind->step(&e->l, h, &ignored);
    if (status == BOUGH_OK)
        read_velocities(e, count, grips, v);
    e->l.kind->restore(&e->l, e->before);
    if (at >= 0)
        push_spot(e, &grips[at].spot, bo_scale(-1, bo_load3(unit)), bo_v3(0, 0, 0));
    e->l.kind->place(&e->l);
    return status;
}

/* A spring as it is at the end of the step, however stiff: f = k (target - x - h v') - d v', where v' = v0 + B f and B
 * is found by trying. (1 + (h k + d) B) f = k (target - x) - (h k + d) v0. */
static bough_status pull_at_end(mechanism_engine *e, double h, int count, const grip *grips, double *f) {
    enum { MOST = 3 * BOUGH_RUN_HANDS };
    double v0[MOST], v[MOST], A[MOST * MOST];
    int32_t pivots[MOST];
    const int n = 3 * count;
    e->l.kind->save(&e->l, e->before);
    BO_TRY(try_force(e, h, count, grips, -1, 0, v0));
    for (int c = 0; c < n; c++) {
        BO_TRY(try_force(e, h, count, grips, c / 3, c % 3, v));
        for (int r = 0; r < n; r++) {
            const bo_hand *hand = grips[r / 3].hand;
            A[r * n + c] = (r == c) + (h * hand->stiffness + hand->damping) * (v[r] - v0[r]);
        }
    }
    for (int r = 0; r < n; r++) {
        const bo_hand *hand = grips[r / 3].hand;
        f[r] = grips[r / 3].goal[r % 3] - (h * hand->stiffness + hand->damping) * v0[r];
    }
    if (!bo_lu_factor(n, A, pivots))
        return bo_fail(e->l.ctx, BOUGH_NOT_FINITE, "hands pull so hard that their forces are not finite");
    bo_lu_solve(n, A, pivots, f);
    return BOUGH_OK;
}

/* Springs as they stand at the start of the step. */
static void pull_at_start(const mechanism_engine *e, int count, const grip *grips, double *f) {
    for (int i = 0; i < count; i++) {
        const bo_vec3 v = bo_linkage_velocity(&e->l, grips[i].spot.index, grips[i].spot.at);
        bo_store3(f + 3 * i, bo_mul_add(bo_load3(grips[i].goal), -grips[i].hand->damping, v));
    }
}

static bough_status pull(mechanism_engine *e, double h) {
    grip grips[BOUGH_RUN_HANDS];
    double f[3 * BOUGH_RUN_HANDS];
    const bo_hand *poke = &e->hands->poke;
    if (poke->holds && poke->part < e->l.m->link_count) {
        const bo_scene_spot spot = spot_of(e, poke);
        push_spot(e, &spot, bo_load3(poke->target), bo_v3(0, 0, 0));
    }
    const int count = list_grips(e, grips);
    if (count == 0)
        return BOUGH_OK;
    if (e->l.kind->answers_at_once)
        BO_TRY(pull_at_end(e, h, count, grips, f));
    else
        pull_at_start(e, count, grips, f);
    for (int i = 0; i < count; i++)
        push_spot(e, &grips[i].spot, bo_load3(f + 3 * i), bo_v3(0, 0, 0));
    return BOUGH_OK;
}

/* ---- steps ---- */

static bough_status step(void *data, double t, double h, int64_t *iterations) {
    mechanism_engine *e = data;
    place(e);
    load_at(e, t + 1e-6 * h, false); /* times that rounding took apart are the same */
    drive_at(e, t + h);
    if (e->hands)
        BO_TRY(pull(e, h));
    e->time = t + h;
    e->placed = false;
    return e->l.kind->step(&e->l, h, iterations);
}

/* How far links have moved since they were at `before`, in radii. */
static double way_from(const mechanism_engine *e, const bough_pose *before) {
    double most = 0;
    for (int32_t i = 0; i < e->l.m->link_count; i++)
        most = fmax(most, bo_norm(bo_sub(bo_load3(e->l.poses[i].position), bo_load3(before[i].position))));
    return most / bough_mechanism_radius(e->l.m->mechanism);
}

/* Arms of forces follow what they move, so that it is settled again until nothing moves. Each time goes a part of the
 * way, less when ways become longer. */
static bough_status settle_with(mechanism_engine *e, bough_pose *before, double *residual) {
    enum { ROUNDS = 500 };
    double part = 1, last = INFINITY;
    for (int i = 0; i < ROUNDS; i++) {
        place(e);
        memcpy(before, e->l.poses, (size_t)e->l.m->link_count * sizeof *before);
        load_at(e, 0, true);
        BO_TRY(e->l.kind->settle(&e->l, part, residual));
        e->placed = false;
        place(e);
        const double way = way_from(e, before);
        if (way < 1e-11)
            return BOUGH_OK;
        part = way > 0.9 * last ? fmax(0.6 * part, 0.02) : fmin(1, 1.1 * part);
        last = way;
    }
    return bo_fail(e->l.ctx, BOUGH_NO_CONVERGENCE,
                   "no equilibrium was found: the forces move the mechanism too far; begin without \"settle\"");
}

static bough_status settle(mechanism_engine *e, double *residual) {
    bough_pose *before = BO_NEW_ARRAY(e->l.ctx, bough_pose, e->l.m->link_count);
    if (!before)
        return BOUGH_ERROR_MEMORY;
    drive_at(e, 0);
    const bough_status status = settle_with(e, before, residual);
    bo_free(e->l.ctx, before);
    return status;
}

/* ---- saving: the time, which decides where motors are, and the mechanism ---- */

static int64_t state_size(const void *data) {
    const mechanism_engine *e = data;
    return 1 + e->l.kind->state_size(&e->l);
}

static void save(const void *data, double *state) {
    const mechanism_engine *e = data;
    state[0] = e->time;
    e->l.kind->save(&e->l, state + 1);
}

static bough_status restore(void *data, const double *state, int64_t size) {
    mechanism_engine *e = data;
    if (size != state_size(e))
        return bo_fail(e->l.ctx, BOUGH_ERROR_FORMAT, "the state has %lld numbers and should have %lld", (long long)size,
                       (long long)state_size(e));
    e->l.kind->restore(&e->l, state + 1);
    e->time = state[0];
    drive_at(e, e->time);
    return BOUGH_OK;
}

/* ---- measuring ---- */

/* Sums over all links that move. */
static void measure_momenta(const mechanism_engine *e, double *values) {
    const bo_mechanism_scene *m = e->l.m;
    bo_vec3 sum = bo_v3(0, 0, 0), turn = bo_v3(0, 0, 0);
    for (int32_t i = 0; i < m->link_count; i++) {
        const bough_mechanism_link *link = &m->links[i];
        const bo_mat3 R = bo_pose(&e->l.poses[i]).R;
        bo_mat3 I;
        if (i == m->base && !m->free_base)
            continue;
        memcpy(I.m, link->inertia, sizeof I.m);
        const bo_vec3 p = bo_scale(link->mass, bo_linkage_velocity(&e->l, i, link->centre));
        const bo_vec3 spin = bo_mat_vec(R, bo_mat_vec(I, bo_load3(e->l.twists + 6 * (size_t)i + 3)));
        sum = bo_add(sum, p);
        turn = bo_add(turn, bo_add(spin, bo_cross(bo_linkage_point(&e->l, i, link->centre), p)));
    }
    bo_store3(values + BOUGH_COLUMN_MOMENTUM, sum);
    bo_store3(values + BOUGH_COLUMN_ANGULAR_MOMENTUM, turn);
}

static void measure_spot(const mechanism_engine *e, const bo_scene_spot *spot, double *values) {
    const bo_vec3 x = bo_linkage_point(&e->l, spot->index, spot->at);
    bo_store3(values, x);
    bo_store3(values + 3, bo_sub(x, bo_load3(spot->rest)));
    bo_store3(values + 6, bo_linkage_velocity(&e->l, spot->index, spot->at));
}

/* Potential of the steady forces, 0 at the reference pose: -f . u. A torque that keeps its direction has none. */
static double measure_loads(const mechanism_engine *e) {
    const bo_mechanism_scene *m = e->l.m;
    double potential = 0;
    for (int32_t i = 0; i < m->load_count; i++) {
        const bo_scene_load *load = &m->loads[i];
        if (!bo_load_is_steady(load))
            continue;
        const bo_vec3 x = bo_linkage_point(&e->l, load->spot.index, load->spot.at);
        potential -= bo_dot(bo_load3(load->force), bo_sub(x, bo_load3(load->spot.rest)));
    }
    return potential;
}

static bough_status measure(void *data, double t, double *values) {
    mechanism_engine *e = data;
    double kinetic, elastic, external;
    place(e);
    e->l.kind->energies(&e->l, &kinetic, &elastic, &external);
    external += measure_loads(e);
    values[BOUGH_COLUMN_TIME] = t;
    values[BOUGH_COLUMN_ELASTIC] = elastic;
    values[BOUGH_COLUMN_KINETIC] = kinetic;
    values[BOUGH_COLUMN_EXTERNAL] = external;
    values[BOUGH_COLUMN_TOTAL] = elastic + kinetic + external;
    measure_momenta(e, values);
    values += BOUGH_COLUMN_PROBES;
    for (int32_t i = 0; i < e->l.scene->probe_count; i++) {
        const bo_scene_probe *probe = &e->l.scene->probes[i];
        measure_spot(e, &probe->spot, values);
        values += bo_probe_columns(probe);
    }
    return BOUGH_OK;
}

static bough_status stresses(void *data, double *von_mises) {
    (void)von_mises;
    return bo_fail(((mechanism_engine *)data)->l.ctx, BOUGH_ERROR_UNSUPPORTED,
                   "a mechanism's links are rigid and have no stress");
}

/* ---- what is shown ---- */

bo_se3 bo_mechanism_rigid(mechanism_engine *e, int32_t rigid, bo_twist *twist) {
    const bo_mechanism_scene *m = e->l.m;
    place(e);
    *twist = (bo_twist){0};
    if (rigid < m->link_count) {
        *twist = bo_load_twist(e->l.twists + 6 * (size_t)rigid);
        return bo_pose(&e->l.poses[rigid]);
    }
    rigid -= m->link_count;
    return bo_pose(rigid < m->body_count ? &m->bodies[rigid].pose : &m->obstacles[rigid - m->body_count].pose);
}

static bough_pose rigid_pose(void *data, int32_t i) {
    bo_twist ignored;
    return bo_put_pose(bo_mechanism_rigid(data, i, &ignored));
}

/* ---- making ---- */

static void destroy(bough_context *ctx, void *data) {
    mechanism_engine *e = data;
    bo_mechanism_free_surface(e);
    if (e->l.kind)
        e->l.kind->destroy(&e->l);
    void *const blocks[] = {e->l.offsets, e->l.rates, e->l.poses, e->l.twists, e->before};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        bo_free(ctx, blocks[i]);
    bo_free(ctx, e);
}

static bough_status check_scene(bough_context *ctx, const bough_scene *scene) {
    const bo_mechanism_scene *m = scene->mechanism;
    if (!m->mechanism || m->body_count > 0)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "free bodies are not stepped yet");
    return BOUGH_OK;
}

static bough_status build(const bo_engine_def *def, mechanism_engine *e, double *residual) {
    bo_linkage *l = &e->l;
    const size_t links = (size_t)l->m->link_count, motors = (size_t)l->m->motor_count;
    BO_TRY(check_scene(l->ctx, l->scene));
    l->kind = def->kind == BO_ENGINE_FULL ? &bo_full_linkage
              : l->m->has_blend           ? &bo_blended_linkage
                                          : &bo_reduced_linkage;
    l->offsets = BO_NEW_ZEROS(l->ctx, double, motors);
    l->rates = BO_NEW_ZEROS(l->ctx, double, motors);
    l->poses = BO_NEW_ARRAY(l->ctx, bough_pose, links);
    l->twists = BO_NEW_ZEROS(l->ctx, double, 6 * links);
    if (!l->offsets || !l->rates || !l->poses || !l->twists)
        return BOUGH_ERROR_MEMORY;
    BO_TRY(l->kind->create(l));
    if (!(e->before = BO_NEW_ARRAY(l->ctx, double, l->kind->state_size(l))))
        return BOUGH_ERROR_MEMORY;
    drive_at(e, 0);
    return def->settle ? settle(e, residual) : BOUGH_OK;
}

bough_status bo_mechanism_engine_create(bough_context *ctx, bough_scene *scene, const bo_engine_def *def,
                                        bo_engine *engine) {
    *engine = (bo_engine){.step = step,
                          .take_hands = take_hands,
                          .measure = measure,
                          .state_size = state_size,
                          .save = save,
                          .restore = restore,
                          .make_mesh = bo_mechanism_make_surface,
                          .show = bo_mechanism_show,
                          .stresses = stresses,
                          .rigid_pose = rigid_pose,
                          .destroy = destroy,
                          .residual = NAN};
    mechanism_engine *e = BO_NEW(ctx, mechanism_engine);
    if (!e)
        return BOUGH_ERROR_MEMORY;
    engine->data = e;
    e->l = (bo_linkage){.ctx = ctx, .scene = scene, .m = scene->mechanism, .integrator = def->integrator};
    bough_status status = build(def, e, &engine->residual);
    if (status != BOUGH_OK && status != BOUGH_ERROR_MEMORY)
        bo_prefix_message(ctx, "%s: ", scene->path);
    engine->integrator = bo_registered_integrator(def->integrator.name);
    if (status == BOUGH_OK) {
        engine->gravity = e->l.kind->gravity(&e->l);
        status = bo_engine_name_columns(ctx, scene, engine);
    }
    if (status != BOUGH_OK)
        bo_engine_destroy(ctx, engine);
    return status;
}
