/* The mechanism in full, not linearised: slow, to compare with. */
#include "mechanism/engine_linkage.h"

#include "mechanism/mechanism.h"

#include <math.h>
#include <string.h>

typedef struct {
    /* With an end effector at the origin of each link but the base, in their order; then those of the scene. */
    bough_mechanism *mechanism;
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
    bough_mechanism_destroy(l->ctx, w->mechanism);
    bo_free(l->ctx, w->own_offsets);
    bo_free(l->ctx, w);
}

/* Loads act on end effectors, so that every link becomes one. */
static bough_status make_mechanism(const bo_linkage *l, whole *w) {
    bough_mechanism_def def = *bough_mechanism_describe(l->m->mechanism);
    bough_frame_def *all = BO_NEW_ARRAY(l->ctx, bough_frame_def, def.link_count + l->m->end_effector_count);
    if (!all)
        return BOUGH_ERROR_MEMORY;
    def.end_effector_count = 0, def.end_effectors = all;
    for (int32_t i = 0; i < def.link_count; i++)
        if (i != def.base)
            all[def.end_effector_count++] = bo_frame_on(i, bough_default_pose());
    for (int32_t i = 0; i < l->m->end_effector_count; i++)
        all[def.end_effector_count++] = l->m->end_effectors[i];
    const bough_status status = bough_mechanism_create(l->ctx, &def, &w->mechanism);
    bo_free(l->ctx, all);
    return status;
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
    BO_TRY(make_mechanism(l, w));
    BO_TRY(bough_full_mechanism_create(l->ctx, w->mechanism, &w->full));
    const size_t count = (size_t)w->mechanism->coordinate_count;
    if (!(w->own_offsets = BO_NEW_ARRAY(l->ctx, double, count)))
        return BOUGH_ERROR_MEMORY;
    memcpy(w->own_offsets, w->full->offsets, count * sizeof(double));
    memcpy(w->full->gravity, l->m->gravity, sizeof w->full->gravity);
    l->keeps_all = true, l->first_effector = l->m->link_count - 1;
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
        const int32_t c = bough_mechanism_coordinate_offset(w->mechanism, motor->joint) + motor->freedom;
        w->full->offsets[c] = w->own_offsets[c] + offsets[k];
    }
}

static void clear_loads(const bo_linkage *l) {
    memset(of(l)->full->base_load, 0, sizeof of(l)->full->base_load);
    memset(of(l)->full->loads, 0, 6 * (size_t)of(l)->mechanism->def.end_effector_count * sizeof(double));
}

/* The support of the base holds it against this too. */
static void push(const bo_linkage *l, int32_t link, const double at[3], bo_vec3 force, bo_vec3 torque) {
    const bo_vec3 arm = bo_mat_vec(bo_pose(&l->poses[link]).R, bo_load3(at));
    const int32_t base = of(l)->mechanism->def.base;
    double *load =
        link == base ? of(l)->full->base_load : of(l)->full->loads + 6 * (size_t)(link > base ? link - 1 : link);
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
    const bough_mechanism *m = of(l)->mechanism;
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

enum { BLOCKS = 4 };

static void list_blocks(const bo_linkage *l, bo_state_block blocks[BLOCKS]) {
    const whole *w = of(l);
    const size_t links = (size_t)w->mechanism->def.link_count;
    blocks[0] = (bo_state_block){w->full->coordinates, (size_t)w->mechanism->coordinate_count};
    blocks[1] = (bo_state_block){(double *)w->full->poses, links * (sizeof(bough_pose) / sizeof(double))};
    blocks[2] = (bo_state_block){w->full->twists, 6 * links};
    blocks[3] = (bo_state_block){bo_full_loop_wrenches(w->full), 6 * (size_t)w->mechanism->topology.loop_count};
}

static int64_t state_size(const bo_linkage *l) {
    bo_state_block blocks[BLOCKS];
    list_blocks(l, blocks);
    return bo_blocks_size(BLOCKS, blocks);
}

static void save(const bo_linkage *l, double *to) {
    bo_state_block blocks[BLOCKS];
    list_blocks(l, blocks);
    bo_blocks_save(BLOCKS, blocks, to);
}

static void restore(const bo_linkage *l, const double *from) {
    bo_state_block blocks[BLOCKS];
    list_blocks(l, blocks);
    bo_blocks_restore(BLOCKS, blocks, from);
}

static void put_back(const bo_linkage *l, const double *from) {
    bo_state_block blocks[BLOCKS];
    list_blocks(l, blocks);
    bo_blocks_restore_some(BLOCKS, blocks, ~(1u << 2), from); /* all but the twists */
}

const bo_linkage_kind bo_full_linkage = {.create = create,
                                         .destroy = destroy,
                                         .gravity = kept_gravity,
                                         .place = place,
                                         .move = move,
                                         .drive = drive,
                                         .clear_loads = clear_loads,
                                         .push = push,
                                         .step = step,
                                         .settle = settle,
                                         .energies = energies,
                                         .state_size = state_size,
                                         .save = save,
                                         .restore = restore,
                                         .put_back = put_back};
