/* The mechanism in full, not linearised: slow, to compare with. */
#include "mechanism/engine_linkage.h"

#include "mechanism/mechanism.h"

#include <math.h>
#include <string.h>

typedef struct {
    bough_full_mechanism *full;
    double *own_offsets; /* of the joints' springs, by the description */
} whole;

static const whole *of(const bo_linkage *l) {
    return l->data;
}

static void destroy(bo_linkage *l) {
    whole *w = l->data;
    if (!w)
        return;
    bough_full_mechanism_destroy(l->ctx, w->full);
    bo_free(l->ctx, w->own_offsets);
    bo_free(l->ctx, w);
}

static bough_status create_actor(bo_linkage *l, int32_t touch_count, const bough_touch_def *touches,
                                 bough_contact_actor *actor) {
    return bough_full_actor_create(l->ctx, of(l)->full, touch_count, touches, actor);
}

static bough_status create(bo_linkage *l) {
    if (strcmp(l->integrator.name, "backward-euler") != 0)
        return bo_fail(l->ctx, BOUGH_ERROR_UNSUPPORTED,
                       "the full mechanism is stepped by \"backward-euler\", not by \"%.60s\"", l->integrator.name);
    whole *w = l->data = BO_NEW(l->ctx, whole);
    if (!w)
        return BOUGH_ERROR_MEMORY;
    BO_TRY(bough_full_mechanism_create(l->ctx, l->m->mechanism, &w->full));
    const size_t count = (size_t)l->m->mechanism->coordinate_count;
    if (!(w->own_offsets = BO_NEW_ARRAY(l->ctx, double, count)))
        return BOUGH_ERROR_MEMORY;
    memcpy(w->own_offsets, w->full->offsets, count * sizeof(double));
    memcpy(w->full->gravity, l->m->gravity, sizeof w->full->gravity);
    l->keeps_all = true;
    return bo_linkage_needs_around(l->m) ? bo_linkage_make_around(l, create_actor) : BOUGH_OK;
}

static double *kept_gravity(const bo_linkage *l) {
    return of(l)->full->gravity;
}

static void place(const bo_linkage *l) {
    memcpy(l->poses, of(l)->full->poses, (size_t)l->m->link_count * sizeof *l->poses);
}

static void move(const bo_linkage *l) {
    memcpy(l->twists, of(l)->full->twists, 6 * (size_t)l->m->link_count * sizeof *l->twists);
}

static void drive(const bo_linkage *l, const double *offsets) {
    const whole *w = of(l);
    for (int32_t k = 0; k < l->m->motor_count; k++) {
        const bo_motor *motor = &l->m->motors[k];
        const int32_t c = bough_mechanism_coordinate_offset(l->m->mechanism, motor->joint) + motor->freedom;
        w->full->offsets[c] = w->own_offsets[c] + offsets[k];
    }
}

static void list_loads(const bo_linkage *l, bo_state_block blocks[BO_LOAD_BLOCKS]) {
    bough_full_mechanism *full = of(l)->full;
    blocks[0] = (bo_state_block){full->link_loads, 6 * (size_t)l->m->link_count, false};
    blocks[1] = (bo_state_block){full->loads, 0, false}; /* nothing pushes end effectors here */
}

static void push(const bo_linkage *l, int32_t link, const double at[3], bo_vec3 force, bo_vec3 torque) {
    const bo_vec3 arm = bo_mat_vec(bo_pose(&l->poses[link]).R, bo_load3(at));
    double *load = of(l)->full->link_loads + 6 * (size_t)link;
    bo_store3(load, bo_add(bo_load3(load), force));
    bo_store3(load + 3, bo_add(bo_load3(load + 3), bo_add(torque, bo_cross(arm, force))));
}

static bough_status step(const bo_linkage *l, double h, int64_t *iterations) {
    const bool touches = l->around && !l->alone;
    const bough_status status =
        touches ? bough_contact_world_step(l->ctx, l->around, h) : bough_full_mechanism_step(l->ctx, of(l)->full, h);
    *iterations += of(l)->full->iterations;
    return status;
}

static bough_status settle(const bo_linkage *l, double part, double *residual) {
    (void)part;
    BO_TRY(bough_full_mechanism_settle(l->ctx, of(l)->full));
    *residual = of(l)->full->residual;
    return BOUGH_OK;
}

/* ---- energies ---- */

/* 1/2 d^T K d against where the springs are at rest, and the same of limits that are passed. */
static double spring_energy(const bough_full_mechanism *full, const bo_mechanism_joint *joint) {
    const double *theta = full->coordinates + joint->offset, *offset = full->offsets + joint->offset;
    double d[6], energy = 0;
    for (int a = 0; a < joint->freedoms; a++)
        d[a] = theta[a] - joint->at[a] - offset[a];
    for (int a = 0; a < joint->freedoms; a++) {
        double rest, limit = bo_joint_limit(joint, a, theta[a], &rest);
        for (int b = 0; b < joint->freedoms; b++)
            energy += 0.5 * d[a] * joint->stiffness[joint->freedoms * a + b] * d[b];
        if (limit > 0)
            energy += 0.5 * limit * (theta[a] - rest) * (theta[a] - rest);
    }
    return energy;
}

static void energies(const bo_linkage *l, double *kinetic, double *elastic, double *gravity) {
    const bough_full_mechanism *full = of(l)->full;
    const bough_mechanism *m = l->m->mechanism;
    const bo_vec3 g = bo_load3(full->gravity);
    *kinetic = *elastic = *gravity = 0;
    for (int32_t j = 0; j < m->def.joint_count; j++)
        *elastic += spring_energy(full, &m->joints[j]);
    for (int32_t i = 0; i < m->def.link_count; i++) {
        const bough_rigid_body_def *link = &m->links[i];
        const bo_twist t = bo_load_twist(full->twists + 6 * (size_t)i);
        const bo_vec3 c = bo_load3(link->centre), v = bo_add(t.v, bo_cross(t.w, c));
        bo_mat3 I;
        if (i == m->def.base && !m->def.free_base)
            continue;
        memcpy(I.m, link->inertia, sizeof I.m);
        const bo_vec3 moved = bo_sub(bo_se3_apply(bo_pose(&full->poses[i]), c), bo_se3_apply(bo_pose(&link->pose), c));
        *kinetic += 0.5 * (link->mass * bo_dot(v, v) + bo_dot(t.w, bo_mat_vec(I, t.w)));
        *gravity -= link->mass * bo_dot(g, moved);
    }
}

/* ---- saving: coordinates, poses, twists, and the wrenches in loops that a search begins with ---- */

static int list_state(const bo_linkage *l, bo_state_block blocks[BO_MOST_BLOCKS]) {
    const bough_full_mechanism *full = of(l)->full;
    const size_t links = (size_t)l->m->link_count, loops = (size_t)l->m->mechanism->topology.loop_count;
    blocks[0] = (bo_state_block){full->coordinates, (size_t)l->m->mechanism->coordinate_count, false};
    blocks[1] = (bo_state_block){(double *)full->poses, links * (sizeof(bough_pose) / sizeof(double)), false};
    blocks[2] = (bo_state_block){full->twists, 6 * links, true};
    blocks[3] = (bo_state_block){bo_full_loop_wrenches(full), 6 * loops, false};
    return 4;
}

const bo_linkage_kind bo_full_linkage = {.create = create,
                                         .destroy = destroy,
                                         .gravity = kept_gravity,
                                         .place = place,
                                         .move = move,
                                         .drive = drive,
                                         .loads = list_loads,
                                         .push = push,
                                         .step = step,
                                         .settle = settle,
                                         .energies = energies,
                                         .list_state = list_state};
