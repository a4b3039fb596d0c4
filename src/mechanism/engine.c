#include "mechanism/engine_inside.h"

#include "dense/lu.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- loads ---- */

static void place(mechanism_engine *e) {
    if (!e->placed)
        e->l.kind->place(&e->l);
    e->placed = true;
}

/* Twists too, which steps need not know. */
static void place_moving(mechanism_engine *e) {
    place(e);
    if (!e->moved)
        e->l.kind->move(&e->l);
    e->moved = true;
}

static void lose_place(mechanism_engine *e) {
    e->placed = e->moved = false;
}

/* On a body: force and torque about its centre of mass. */
static void push_body(mechanism_engine *e, const bo_spot *spot, bo_vec3 force, bo_vec3 torque) {
    bough_rigid_body *b = &e->l.around->bodies[spot->index];
    const bo_vec3 arm = bo_mat_vec(bo_pose(&b->pose).R, bo_load3(spot->at));
    bo_store3(b->force, bo_add(bo_load3(b->force), force));
    bo_store3(b->torque, bo_add(bo_load3(b->torque), bo_add(torque, bo_cross(arm, force))));
}

static void push_spot(mechanism_engine *e, const bo_spot *spot, bo_vec3 force, bo_vec3 torque) {
    if (spot->body)
        push_body(e, spot, force, torque);
    else
        e->l.kind->push(&e->l, spot->index, spot->at, force, torque);
}

static double factor_at(const bo_mechanism_plan *m, int32_t curve, double t) {
    return curve < 0 ? 1 : bo_curve_at(&m->curves[curve], t);
}

/* Applies the loads that act steadily, or in a step that begins at t. */
static void load_at(mechanism_engine *e, double t, bool steady) {
    const bo_mechanism_plan *m = e->l.m;
    bo_state_block loads[BO_LOAD_BLOCKS];
    e->l.kind->loads(&e->l, loads);
    bo_blocks_clear(BO_LOAD_BLOCKS, loads); /* of a step that was refused */
    e->push_count = 0;
    for (int32_t i = 0; e->l.around && i < m->body_count; i++) {
        bough_rigid_body *b = &e->l.around->bodies[i];
        memset(b->force, 0, sizeof b->force);
        memset(b->torque, 0, sizeof b->torque);
    }
    for (int32_t i = 0; i < m->load_count; i++) {
        const bo_mechanism_load *load = &m->loads[i];
        if (steady ? !bo_load_is_steady(load) : !(t >= load->from && t < load->until))
            continue;
        const double s = factor_at(m, load->curve, t);
        const bo_vec3 force = bo_scale(s, bo_load3(load->force)), torque = bo_scale(s, bo_load3(load->torque));
        push_spot(e, &load->spot, force, torque);
        if (!steady) /* forces that never change have a potential, torques have none */
            bo_mechanism_note_push(e, &load->spot, bo_load_is_steady(load) ? bo_v3(0, 0, 0) : force, torque);
    }
}

/* Finds the range to choose from: the limits of the joint, or else half as far again as the curve goes, and at least
 * 0.1 rad or a hundredth of the mechanism. */
static void find_range(const mechanism_engine *e, const bo_motor *motor, bough_run_motor *out) {
    const bough_joint_def *joint = &e->l.m->joints[motor->joint];
    const bo_curve *curve = &e->l.m->curves[motor->curve];
    double most = !strcmp(out->unit, "rad") ? 0.1 : 0.01 * bough_mechanism_radius(e->l.m->mechanism);
    for (int32_t i = 0; i < curve->count; i++)
        most = fmax(most, 1.5 * fabs(motor->scale * curve->values[i]));
    const double lower = joint->lower[motor->freedom], upper = joint->upper[motor->freedom];
    const bool limited = isfinite(lower) && isfinite(upper) && lower < upper;
    out->lowest = limited ? lower : -most, out->highest = limited ? upper : most;
}

static void look_at_motor(const void *data, int32_t i, bough_run_motor *out) {
    const mechanism_engine *e = data;
    const bo_motor *motor = &e->l.m->motors[i];
    const bough_joint_def *joint = &e->l.m->joints[motor->joint];
    const bool slides = bo_joint_slides(joint->kind, motor->freedom);
    *out = (bough_run_motor){.joint = joint->name,
                             .freedom = motor->freedom,
                             .unit = slides ? "m" : "rad",
                             .offset = e->l.offsets[i],
                             .held = bo_hands_hold_motor(e->hands, i)};
    find_range(e, motor, out);
}

/* The springs of a step are at rest where they are at its end. */
static void drive_at(mechanism_engine *e, double t) {
    const bo_mechanism_plan *m = e->l.m;
    for (int32_t k = 0; k < m->motor_count; k++) {
        e->l.offsets[k] = bo_motor_offset(&m->motors[k], e->l.m->curves, t);
        e->l.rates[k] = bo_motor_rate(&m->motors[k], e->l.m->curves, t);
        if (bo_hands_hold_motor(e->hands, k))
            e->l.offsets[k] = e->hands->motors[k], e->l.rates[k] = 0;
    }
    e->l.kind->drive(&e->l, e->l.offsets);
    lose_place(e);
}

/* ---- the state of a linkage as numbers: its arrays, one after the other, then what else its kind remembers ---- */

static int list_state(const bo_linkage *l, bo_state_block blocks[BO_MOST_BLOCKS]) {
    return l->kind->list_state ? l->kind->list_state(l, blocks) : 0;
}

static int64_t linkage_size(const bo_linkage *l) {
    bo_state_block blocks[BO_MOST_BLOCKS];
    const int count = list_state(l, blocks);
    return bo_blocks_size(count, blocks) + (l->kind->memory_size ? l->kind->memory_size(l) : 0);
}

static void save_linkage(const bo_linkage *l, double *to) {
    bo_state_block blocks[BO_MOST_BLOCKS];
    const int count = list_state(l, blocks);
    bo_blocks_save(count, blocks, to);
    if (l->kind->save_memory)
        l->kind->save_memory(l, to + bo_blocks_size(count, blocks));
}

/* ONLY_PLACES: back to where the state is, moving as it does now. */
typedef enum { ALL, ONLY_PLACES } extent;
static void restore_linkage(const bo_linkage *l, extent what, const double *from) {
    bo_state_block blocks[BO_MOST_BLOCKS];
    const int count = list_state(l, blocks);
    for (int i = 0; i < count; from += blocks[i++].count)
        if (what == ALL || !blocks[i].motion)
            memcpy(blocks[i].numbers, from, blocks[i].count * sizeof *from);
    if (what == ALL && l->kind->restore_memory)
        l->kind->restore_memory(l, from);
}

/* ---- hands ---- */

static void take_hands(void *data, const bo_hands *hands) {
    ((mechanism_engine *)data)->hands = hands;
}

typedef struct {
    const bo_hand *hand;
    bo_spot spot;
    double goal[3]; /* what the spring would pull with at the start of the step, without damping */
} grip;

/* Obstacles stay where they are. */
static bool can_hold(const mechanism_engine *e, const bo_hand *hand) {
    return hand->holds && hand->part < e->l.m->link_count + e->l.m->body_count;
}

static bo_spot spot_of(const mechanism_engine *e, const bo_hand *hand) {
    const int32_t links = e->l.m->link_count;
    const bool body = hand->part >= links;
    bo_spot spot = {.body = body, .index = body ? hand->part - links : hand->part};
    bo_mechanism_vertex(e, hand->part, hand->vertex, spot.at);
    return spot;
}

/* Springs pull no harder than from a radius away: nothing comes further in a step, and a model that is linear about one
 * pose would be torn around. */
static int list_grips(mechanism_engine *e, grip *grips) {
    int count = 0;
    for (int i = 0; i < BOUGH_RUN_HANDS; i++) {
        const bo_hand *hand = &e->hands->pulls[i];
        if (!can_hold(e, hand) || hand->part >= e->l.m->link_count)
            continue;
        grip *g = &grips[count++];
        *g = (grip){.hand = hand, .spot = spot_of(e, hand)};
        const bo_vec3 x = bo_linkage_point(&e->l, hand->part, g->spot.at);
        const bo_vec3 way = bo_sub(bo_load3(hand->target), x);
        const double longest = bough_mechanism_radius(e->l.m->mechanism),
                     share = fmin(1, longest / fmax(bo_norm(way), DBL_MIN));
        bo_store3(g->goal, bo_scale(hand->stiffness * share, way));
    }
    return count;
}

/* As the rates of now would move them from where they were: v = J y, with the same J by which forces act. */
static void read_velocities(mechanism_engine *e, int count, const grip *grips, double *v) {
    restore_linkage(&e->l, ONLY_PLACES, e->before);
    lose_place(e);
    place_moving(e);
    for (int i = 0; i < count; i++)
        bo_store3(v + 3 * i, bo_linkage_velocity(&e->l, grips[i].spot.index, grips[i].spot.at));
}

/* Velocities of the gripped points by a step with a force of 1 N at one of them in direction d (at -1: none),
 * beside what acts already. Everything is then as it was. */
static bough_status try_force(mechanism_engine *e, double h, int count, const grip *grips, int at, int d, double *v) {
    const double unit[3] = {d == 0, d == 1, d == 2};
    int64_t ignored = 0;
    bo_state_block loads[BO_LOAD_BLOCKS];
    if (at >= 0)
        push_spot(e, &grips[at].spot, bo_load3(unit), bo_v3(0, 0, 0));
    e->l.kind->loads(&e->l, loads);
    bo_blocks_save(BO_LOAD_BLOCKS, loads, e->loads);
    e->l.alone = true;
    const bough_status status = e->l.kind->step(&e->l, h, &ignored);
    e->l.alone = false;
    if (status == BOUGH_OK)
        read_velocities(e, count, grips, v);
    restore_linkage(&e->l, ALL, e->before);
    bo_blocks_restore(BO_LOAD_BLOCKS, loads, e->loads);
    lose_place(e);
    place(e);
    if (at >= 0)
        push_spot(e, &grips[at].spot, bo_scale(-1, bo_load3(unit)), bo_v3(0, 0, 0));
    return status;
}

/* A spring as it is at the end of the step, however stiff: f = k (target - x - h v') - d v', where v' = v0 + B f and B
 * is found by trying. B = J A^-1 J^T has no negative eigenvalues, so that this has a solution. (1 + (h k + d) B) f = k
 * (target - x) - (h k + d) v0. */
static bough_status pull_at_end(mechanism_engine *e, double h, int count, const grip *grips, double *f) {
    enum { MOST = 3 * BOUGH_RUN_HANDS };
    double v0[MOST], v[MOST], A[MOST * MOST];
    int32_t pivots[MOST];
    const int n = 3 * count;
    save_linkage(&e->l, e->before);
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

static void pull_spot(mechanism_engine *e, const bo_spot *spot, bo_vec3 force) {
    push_spot(e, spot, force, bo_v3(0, 0, 0));
    bo_mechanism_note_push(e, spot, force, bo_v3(0, 0, 0));
}

/* The same for a body, which answers by B = h (1/m - r~ I^-1 r~) to a force at r from its centre of mass. */
static void pull_body(mechanism_engine *e, double h, const bo_hand *hand) {
    const bo_spot spot = spot_of(e, hand);
    const bough_rigid_body_def *rigid = &e->l.m->bodies[spot.index];
    bo_twist t;
    bo_mat3 I;
    const bo_se3 pose = bo_linkage_body(&e->l, spot.index, &t);
    const bo_vec3 at = bo_load3(spot.at), goal = bo_sub(bo_load3(hand->target), bo_se3_apply(pose, at));
    const bo_vec3 g = bo_load3(e->l.kind->gravity(&e->l));
    const bo_vec3 v = bo_mul_add(bo_mat_vec(pose.R, bo_add(t.v, bo_cross(t.w, at))), h, g);
    const double s = h * hand->stiffness + hand->damping;
    memcpy(I.m, rigid->inertia, sizeof I.m);
    const bo_mat3 arm = bo_hat(at), turns = bo_mat_mul(arm, bo_mat_mul(bo_inverse(I), arm));
    bo_mat3 B = bo_mat_sub(bo_mat_scale(1 / rigid->mass, bo_identity3()), turns); /* in its own axes */
    B = bo_mat_mul(pose.R, bo_mat_mul(B, bo_transpose(pose.R)));
    const bo_mat3 A = bo_mat_add(bo_identity3(), bo_mat_scale(s * h, B));
    pull_spot(e, &spot, bo_mat_vec(bo_inverse(A), bo_mul_add(bo_scale(hand->stiffness, goal), -s, v)));
}

static bough_status pull(mechanism_engine *e, double h) {
    grip grips[BOUGH_RUN_HANDS];
    double f[3 * BOUGH_RUN_HANDS];
    const bo_hand *poke = &e->hands->poke;
    for (int i = 0; i < BOUGH_RUN_HANDS; i++)
        if (can_hold(e, &e->hands->pulls[i]) && e->hands->pulls[i].part >= e->l.m->link_count)
            pull_body(e, h, &e->hands->pulls[i]);
    if (can_hold(e, poke)) {
        const bo_spot spot = spot_of(e, poke);
        pull_spot(e, &spot, bo_load3(poke->target));
    }
    const int count = list_grips(e, grips);
    if (count == 0)
        return BOUGH_OK;
    BO_TRY(pull_at_end(e, h, count, grips, f));
    for (int i = 0; i < count; i++)
        pull_spot(e, &grips[i].spot, bo_load3(f + 3 * i));
    return BOUGH_OK;
}

/* ---- steps ---- */

static bough_status step(void *data, double t, double h, int64_t *iterations) {
    mechanism_engine *e = data;
    place(e);
    load_at(e, t + 1e-6 * h, false); /* times that rounding took apart are the same */
    bo_mechanism_note_motors(e, drive_at, t + h);
    if (e->hands)
        BO_TRY(pull(e, h));
    e->time = t + h;
    lose_place(e);
    if (e->l.around)
        memcpy(e->l.around->gravity, e->l.kind->gravity(&e->l), sizeof e->l.around->gravity);
    if (e->l.around)
        BO_TRY(bo_world_lead(e->l.ctx, e->l.around, e->l.m->obstacle_count, e->l.m->leads, t, h));
    BO_TRY(e->l.kind->step(&e->l, h, iterations));
    if (e->l.around)
        e->work += bo_world_lead_work(e->l.around, e->l.m->leads, t, h);
    bo_mechanism_count_work(e);
    return BOUGH_OK;
}

static double work(const void *data, double *doubt) {
    *doubt = 0;
    return ((const mechanism_engine *)data)->work;
}

/* Returns how far links have moved since they were at `before`, in radii. */
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
        lose_place(e);
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

static void load_at_rest(mechanism_engine *e) {
    lose_place(e);
    place(e);
    load_at(e, 0, true);
    lose_place(e);
}

static bough_status settle(mechanism_engine *e, double *residual) {
    bough_pose *before = BO_NEW_ARRAY(e->l.ctx, bough_pose, e->l.m->link_count);
    if (!before)
        return BOUGH_ERROR_MEMORY;
    drive_at(e, 0);
    const bough_status status = bo_mechanism_can_rest(e) ? bo_mechanism_rest(e, load_at_rest, before, residual)
                                                         : settle_with(e, before, residual);
    lose_place(e);
    bo_free(e->l.ctx, before);
    return status;
}

/* ---- saving: the time, which decides where motors are, the account, the mechanism and what is around it ---- */

enum { OWN_NUMBERS = 2 };

static int64_t state_size(const void *data) {
    const mechanism_engine *e = data;
    return OWN_NUMBERS + linkage_size(&e->l) + (e->l.around ? bough_contact_world_memory_size(e->l.around) : 0);
}

static void save(const void *data, double *state) {
    const mechanism_engine *e = data;
    state[0] = e->time;
    state[1] = e->work;
    save_linkage(&e->l, state + OWN_NUMBERS);
    if (e->l.around)
        bough_contact_world_save(e->l.around, state + OWN_NUMBERS + linkage_size(&e->l));
}

static bough_status restore(void *data, const double *state, int64_t size) {
    mechanism_engine *e = data;
    const int64_t own = OWN_NUMBERS + linkage_size(&e->l);
    if (e->l.around ? size < own : size != own)
        return bo_fail(e->l.ctx, BOUGH_ERROR_FORMAT, "the state has %lld numbers and should have %lld", (long long)size,
                       (long long)own);
    if (e->l.around)
        BO_TRY(bough_contact_world_restore(e->l.ctx, e->l.around, size - own, state + own));
    restore_linkage(&e->l, ALL, state + OWN_NUMBERS);
    e->time = state[0];
    e->work = state[1];
    drive_at(e, e->time);
    return BOUGH_OK;
}

/* ---- measuring ---- */

/* Adds a rigid thing to the momenta: its centre of mass `at` in its frame. */
static void add_momentum(bo_se3 pose, bo_twist t, bo_vec3 at, double mass, const double inertia[9], double *values) {
    bo_mat3 I;
    memcpy(I.m, inertia, sizeof I.m);
    const bo_vec3 p = bo_scale(mass, bo_mat_vec(pose.R, bo_add(t.v, bo_cross(t.w, at))));
    const bo_vec3 spin = bo_mat_vec(pose.R, bo_mat_vec(I, t.w)), turn = bo_cross(bo_se3_apply(pose, at), p);
    double *sum = values + BOUGH_COLUMN_MOMENTUM, *turns = values + BOUGH_COLUMN_ANGULAR_MOMENTUM;
    bo_store3(sum, bo_add(bo_load3(sum), p));
    bo_store3(turns, bo_add(bo_load3(turns), bo_add(spin, turn)));
}

/* Sums over all links that move, and bodies. */
static void measure_momenta(mechanism_engine *e, double *values) {
    const bo_mechanism_plan *m = e->l.m;
    memset(values + BOUGH_COLUMN_MOMENTUM, 0, 6 * sizeof *values);
    for (int32_t i = 0; i < m->link_count; i++)
        if (i != m->base || m->free_base)
            add_momentum(bo_pose(&e->l.poses[i]), bo_load_twist(e->l.twists + 6 * (size_t)i),
                         bo_load3(m->links[i].centre), m->links[i].mass, m->links[i].inertia, values);
    for (int32_t i = 0; e->l.around && i < m->body_count; i++) {
        bo_twist t;
        const bo_se3 pose = bo_linkage_body(&e->l, i, &t);
        add_momentum(pose, t, bo_v3(0, 0, 0), m->bodies[i].mass, m->bodies[i].inertia, values);
    }
}

/* Adds the energies of the bodies to those of the mechanism; gravity: 0 where they started. */
static void add_body_energies(mechanism_engine *e, double *kinetic, double *gravity) {
    const bo_vec3 g = bo_load3(e->l.kind->gravity(&e->l));
    for (int32_t i = 0; e->l.around && i < e->l.m->body_count; i++) {
        const bough_rigid_body_def *body = &e->l.m->bodies[i];
        bo_twist t;
        bo_mat3 I;
        const bo_se3 pose = bo_linkage_body(&e->l, i, &t);
        memcpy(I.m, body->inertia, sizeof I.m);
        *kinetic += 0.5 * (body->mass * bo_dot(t.v, t.v) + bo_dot(t.w, bo_mat_vec(I, t.w)));
        *gravity -= body->mass * bo_dot(g, bo_sub(pose.t, bo_load3(body->pose.position)));
    }
}

static bo_vec3 spot_position(mechanism_engine *e, const bo_spot *spot, bo_vec3 *velocity) {
    bo_twist t;
    const bo_se3 pose = bo_mechanism_rigid(e, spot->body ? e->l.m->link_count + spot->index : spot->index, &t);
    const bo_vec3 at = bo_load3(spot->at);
    *velocity = bo_mat_vec(pose.R, bo_add(t.v, bo_cross(t.w, at)));
    return bo_se3_apply(pose, at);
}

static void measure_spot(mechanism_engine *e, const bo_spot *spot, double *values) {
    bo_vec3 velocity;
    const bo_vec3 x = spot_position(e, spot, &velocity);
    bo_store3(values, x);
    bo_store3(values + 3, bo_sub(x, bo_load3(spot->rest)));
    bo_store3(values + 6, velocity);
}

/* Potential of the steady forces, 0 at the reference pose: -f . u. A torque that keeps its direction has none. */
static double measure_loads(mechanism_engine *e) {
    const bo_mechanism_plan *m = e->l.m;
    double potential = 0;
    for (int32_t i = 0; i < m->load_count; i++) {
        const bo_mechanism_load *load = &m->loads[i];
        if (!bo_load_is_steady(load))
            continue;
        bo_vec3 velocity;
        const bo_vec3 x = spot_position(e, &load->spot, &velocity);
        potential -= bo_dot(bo_load3(load->force), bo_sub(x, bo_load3(load->spot.rest)));
    }
    return potential;
}

/* Its first coordinate, as the two sides of it show it, and how far these are apart. */
static void measure_joint(const mechanism_engine *e, int32_t j, double *values) {
    const bough_mechanism *mechanism = e->l.m->mechanism;
    const bough_mechanism_gap gap = bough_mechanism_joint_gap(mechanism, j, e->l.poses);
    values[0] = bough_mechanism_joint_value(mechanism, j, e->l.poses);
    values[1] = gap.distance, values[2] = gap.angle;
}

static bool joint_gap(void *data, bough_run_gap *now, bough_run_gap *worst) {
    const mechanism_engine *e = data;
    *now = e->gap, *worst = e->worst_gap;
    return e->l.m->mechanism != NULL;
}

static int32_t contacts(const void *data, int32_t most, bough_run_contact *list) {
    return bo_linkage_contacts(&((const mechanism_engine *)data)->l, most, list);
}

static void report(const void *data, bo_engine_report *to) {
    const mechanism_engine *e = data;
    if (e->l.kind->detail)
        e->l.kind->detail(&e->l, &to->internal_modes, &to->frequency_error);
}

void bo_mechanism_energies(mechanism_engine *e, double *kinetic, double *elastic, double *external) {
    e->l.kind->energies(&e->l, kinetic, elastic, external);
    add_body_energies(e, kinetic, external);
    *external += measure_loads(e);
}

static bough_status measure(void *data, double t, double *values) {
    mechanism_engine *e = data;
    double kinetic, elastic, external;
    place_moving(e);
    bo_linkage_watch(e, t);
    bo_mechanism_energies(e, &kinetic, &elastic, &external);
    values[BOUGH_COLUMN_TIME] = t;
    values[BOUGH_COLUMN_ELASTIC] = elastic;
    values[BOUGH_COLUMN_KINETIC] = kinetic;
    values[BOUGH_COLUMN_EXTERNAL] = external;
    values[BOUGH_COLUMN_TOTAL] = elastic + kinetic + external;
    measure_momenta(e, values);
    values += BOUGH_COLUMN_PROBES;
    for (int32_t i = 0; i < e->l.m->probe_count; i++) {
        const bo_probe *probe = &e->l.m->probes[i];
        if (probe->kind == BO_PROBE_TOUCH)
            bo_linkage_touch(&e->l, probe->end_effector, values);
        else if (probe->kind == BO_PROBE_JOINT)
            measure_joint(e, probe->joint, values);
        else if (probe->kind == BO_PROBE_MOTION)
            measure_spot(e, &probe->spot, values);
        values += bo_probe_columns(probe);
    }
    return BOUGH_OK;
}

/* ---- what is shown ---- */

bo_se3 bo_mechanism_rigid(mechanism_engine *e, int32_t rigid, bo_twist *twist) {
    const bo_mechanism_plan *m = e->l.m;
    place_moving(e);
    *twist = (bo_twist){0};
    if (rigid < m->link_count) {
        *twist = bo_load_twist(e->l.twists + 6 * (size_t)rigid);
        return bo_pose(&e->l.poses[rigid]);
    }
    rigid -= m->link_count;
    if (rigid < m->body_count && e->l.around)
        return bo_linkage_body(&e->l, rigid, twist);
    if (rigid >= m->body_count && m->leads && m->leads[rigid - m->body_count].pose) {
        bo_vec3 v, w;
        const bo_se3 pose = bo_lead_at(&m->leads[rigid - m->body_count], e->time, &v, &w);
        *twist = (bo_twist){bo_mat_tvec(pose.R, v), bo_mat_tvec(pose.R, w)};
        return pose;
    }
    return bo_pose(rigid < m->body_count ? &m->bodies[rigid].pose : &m->obstacles[rigid - m->body_count].pose);
}

/* ---- making ---- */

static void destroy(bough_context *ctx, void *data) {
    mechanism_engine *e = data;
    bo_mechanism_drop_surface(e);
    bo_mechanism_free_account(e);
    bough_contact_world_destroy(ctx, e->l.around);
    if (e->l.kind)
        e->l.kind->destroy(&e->l);
    void *const blocks[] = {e->l.offsets, e->l.rates, e->l.poses, e->l.twists, e->before, e->loads};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        bo_free(ctx, blocks[i]);
    bo_free(ctx, e);
}

static const bo_linkage_kind *choose_kind(const bo_mechanism_plan *m, const bo_engine_kind *kind) {
    if (!m->mechanism)
        return &bo_no_linkage;
    if (kind == &bo_full_mechanism_engine)
        return &bo_full_linkage;
    return m->has_blend ? &bo_blended_linkage : &bo_reduced_linkage;
}

static bough_status build(const bo_engine_kind *kind, bool settles, mechanism_engine *e, double *residual) {
    bo_linkage *l = &e->l;
    const size_t links = (size_t)l->m->link_count, motors = (size_t)l->m->motor_count;
    l->kind = choose_kind(l->m, kind);
    l->offsets = BO_NEW_ZEROS(l->ctx, double, motors);
    l->rates = BO_NEW_ZEROS(l->ctx, double, motors);
    l->poses = BO_NEW_ARRAY(l->ctx, bough_pose, links);
    l->twists = BO_NEW_ZEROS(l->ctx, double, 6 * links);
    if (!l->offsets || !l->rates || !l->poses || !l->twists)
        return BOUGH_ERROR_MEMORY;
    BO_TRY(l->kind->create(l));
    BO_TRY(bo_mechanism_make_account(e));
    bo_state_block loads[BO_LOAD_BLOCKS];
    l->kind->loads(l, loads);
    e->before = BO_NEW_ARRAY(l->ctx, double, linkage_size(l));
    e->loads = BO_NEW_ARRAY(l->ctx, double, bo_blocks_size(BO_LOAD_BLOCKS, loads));
    if (!e->before || !e->loads)
        return BOUGH_ERROR_MEMORY;
    drive_at(e, 0);
    return settles ? settle(e, residual) : BOUGH_OK;
}

static bough_status set_gravity(void *data, const double gravity[3]) {
    const mechanism_engine *e = data;
    memcpy(e->l.kind->gravity(&e->l), gravity, 3 * sizeof *gravity);
    return BOUGH_OK;
}

/* ---- the tables ---- */

#define FUNCTIONS                                                                                                 \
    .title = "a mechanism", .things = "links of mechanisms stay as they are",                                     \
    .can = BOUGH_CAN_PULL | BOUGH_CAN_GRAVITY | BOUGH_CAN_MOTORS | BOUGH_CAN_GAPS | BOUGH_CAN_CONTACTS,           \
    .destroy = destroy, .step = step, .measure = measure, .work = work, .state_size = state_size, .save = save,   \
    .restore = restore, .gather = bo_mechanism_gather, .look_at = bo_mechanism_look_at, .take_hands = take_hands, \
    .feel = bo_mechanism_feel, .motor = look_at_motor, .set_gravity = set_gravity, .joint_gap = joint_gap,        \
    .contacts = contacts, .report = report

const bo_engine_kind bo_mechanism_engine = {.name = "mechanism", .label = "reduced mechanism", FUNCTIONS};
const bo_engine_kind bo_full_mechanism_engine = {.name = "full", .label = "full mechanism", FUNCTIONS};

bough_status bo_mechanism_engine_create(bough_context *ctx, const bo_mechanism_plan *plan, const bo_engine_kind *kind,
                                        const bo_engine_settings *settings, bo_engine *engine) {
    *engine = (bo_engine){.kind = kind, .residual = NAN, .motor_count = plan->motor_count, .overlaps = true};
    mechanism_engine *e = BO_NEW(ctx, mechanism_engine);
    if (!e)
        return BOUGH_ERROR_MEMORY;
    engine->data = e;
    e->gap.joint = e->worst_gap.joint = -1;
    e->l = (bo_linkage){.ctx = ctx, .m = plan, .integrator = settings->integrator};
    bough_status status = build(kind, settings->settle, e, &engine->residual);
    if (status != BOUGH_OK && status != BOUGH_ERROR_MEMORY)
        bo_prefix_message(ctx, "%s: ", plan->path);
    engine->integrator = bo_registered_integrator(settings->integrator.name);
    if (status == BOUGH_OK)
        status = bo_engine_name_columns(ctx, engine, plan->probe_count, plan->probes);
    if (status != BOUGH_OK)
        bo_engine_destroy(ctx, engine);
    return status;
}
