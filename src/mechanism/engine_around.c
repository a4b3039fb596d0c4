/* The surroundings of a mechanism: obstacles and free bodies, which its end effectors touch; and bodies without any. */
#include "mechanism/engine_linkage.h"

#include "contact/world.h"
#include "engine/contacts.h"

#include <math.h>
#include <string.h>

bool bo_linkage_needs_around(const bo_mechanism_plan *m) {
    return m->body_count > 0 || (m->obstacle_count > 0 && m->touch_count > 0);
}

/* ---- making ---- */

/* The end effector's number in what is stepped; -1: it is not kept. */
static int32_t number_in_model(const bo_linkage *l, int32_t effector) {
    const bo_mechanism_plan *m = l->m;
    if (l->keeps_all)
        return effector;
    for (int32_t k = 0; k < m->kept_count; k++)
        if (m->kept[k] == effector)
            return k;
    return m->kept_count > 0 ? -1 : effector;
}

/* Touches of end effectors that were not kept would never be felt. */
static bough_status describe_touches(const bo_linkage *l, bough_touch_def *touches) {
    for (int32_t i = 0; i < l->m->touch_count; i++) {
        const bo_mechanism_touch *from = &l->m->touches[i];
        bough_touch_def *to = &touches[i];
        *to = bough_default_touch_def();
        to->end_effector = from->end_effector < 0 ? from->end_effector : number_in_model(l, from->end_effector);
        to->link = from->link;
        to->shape = from->shape;
        to->friction = from->friction;
        if (from->end_effector >= 0 && to->end_effector < 0)
            return bo_fail(
                l->ctx, BOUGH_ERROR_UNSUPPORTED,
                "the end effector \"%.60s\" touches things, so that it must be among those of the \"engine\"",
                from->name);
    }
    return BOUGH_OK;
}

typedef bough_status (*actor_maker)(bo_linkage *l, int32_t touch_count, const bough_touch_def *touches,
                                    bough_contact_actor *actor);

/* A base that is held stands in or on an obstacle, as a rule: where all of a robot collides, these two do not. */
static bough_status leave_base_alone(const bo_linkage *l) {
    const bo_mechanism_plan *m = l->m;
    bool touches = false;
    for (int32_t i = 0; i < m->touch_count; i++)
        touches = touches || (m->touches[i].end_effector == BOUGH_TOUCH_BY_LINK && m->touches[i].link == m->base);
    for (int32_t i = 0; i < m->obstacle_count && touches && m->collides && !m->free_base; i++)
        BO_TRY(bough_contact_world_ignore(l->ctx, l->around, (bough_contact_side){BOUGH_CONTACT_OF_LINK, m->base, 0},
                                          (bough_contact_side){BOUGH_CONTACT_OF_OBSTACLE, i, -1}, true));
    return BOUGH_OK;
}

/* Overlaps are undone at any cost where links take part, and an obstacle that is led goes on doing so: a body that begins
 * around one would take energy from nowhere. */
static bough_status check_start(const bo_linkage *l) {
    const bo_mechanism_plan *m = l->m;
    double depth;
    BO_TRY(bo_world_stand(l->ctx, l->around, m->obstacle_count, m->leads, 0));
    for (int32_t i = 0; m->leads && i < m->obstacle_count; i++) {
        const int32_t body = m->leads[i].pose ? bo_world_body_around(l->around, i, &depth) : -1;
        if (body >= 0)
            return bo_fail(
                l->ctx, BOUGH_ERROR_ARGUMENT,
                "the obstacle \"%.60s\", which has a track, begins %.3g m inside of the body \"%.60s\"; move "
                "one of them",
                m->obstacles[i].name ? m->obstacles[i].name : "", depth,
                m->bodies[body].name ? m->bodies[body].name : "");
    }
    return BOUGH_OK;
}

static bough_status make(bo_linkage *l, actor_maker create, bough_touch_def *touches) {
    const bo_mechanism_plan *m = l->m;
    bough_contact_world_def def = bough_default_contact_world_def();
    bough_contact_actor actor;
    BO_TRY(describe_touches(l, touches));
    def.obstacle_count = m->obstacle_count, def.obstacles = m->obstacles;
    def.body_count = m->body_count, def.bodies = m->bodies;
    def.most_contacts = m->most_contacts > 0 ? m->most_contacts : def.most_contacts;
    if (create) {
        BO_TRY(create(l, m->touch_count, touches, &actor));
        def.actor_count = 1, def.actors = &actor;
    }
    BO_TRY(bough_contact_world_create(l->ctx, &def, &l->around));
    if (create && m->touch_count > 0)
        BO_TRY(check_start(l));
    return leave_base_alone(l);
}

bough_status bo_linkage_make_around(bo_linkage *l, actor_maker create) {
    bough_touch_def *touches = BO_NEW_ARRAY(l->ctx, bough_touch_def, l->m->touch_count);
    const bough_status status = touches ? make(l, create, touches) : BOUGH_ERROR_MEMORY;
    bo_free(l->ctx, touches);
    return status;
}

/* ---- looking ---- */

bo_se3 bo_linkage_body(const bo_linkage *l, int32_t body, bo_twist *twist) {
    const bough_rigid_body *b = &l->around->bodies[body];
    const bo_se3 pose = bo_pose(&b->pose);
    *twist = (bo_twist){bo_mat_tvec(pose.R, bo_load3(b->velocity)), bo_load3(b->spin)};
    return pose;
}

/* The thing that a side of a contact belongs to: links come first, then bodies, then obstacles. */
static int32_t thing_of(const void *data, const bough_contact_side *side) {
    const bo_linkage *l = data;
    const bo_mechanism_plan *m = l->m;
    switch (side->kind) {
    case BOUGH_CONTACT_OF_OBSTACLE:
        return m->link_count + m->body_count + side->index;
    case BOUGH_CONTACT_OF_BODY:
        return m->link_count + side->index;
    case BOUGH_CONTACT_OF_END_EFFECTOR:
        if (side->index == BOUGH_TOUCH_BY_BASE)
            return m->base;
        return m->end_effectors[l->keeps_all || m->kept_count == 0 ? side->index : m->kept[side->index]].body;
    default:
        return side->index; /* a link */
    }
}

int32_t bo_linkage_contacts(const bo_linkage *l, int32_t most, bough_run_contact *contacts) {
    return bo_world_contacts(l->around, thing_of, l, most, contacts);
}

void bo_linkage_touch(const bo_linkage *l, int32_t end_effector, double force[3]) {
    bo_world_touch(l->around, BOUGH_CONTACT_OF_END_EFFECTOR, number_in_model(l, end_effector), force);
}

/* ---- bodies alone ---- */

typedef struct {
    double gravity[3];
} nothing;

static bough_status create(bo_linkage *l) {
    nothing *n = l->data = BO_NEW(l->ctx, nothing);
    if (!n)
        return BOUGH_ERROR_MEMORY;
    memcpy(n->gravity, l->m->gravity, sizeof n->gravity);
    if (strcmp(l->integrator.name, "backward-euler") != 0)
        return bo_fail(l->ctx, BOUGH_ERROR_UNSUPPORTED, "bodies are stepped by \"backward-euler\", not by \"%.60s\"",
                       l->integrator.name);
    return bo_linkage_make_around(l, NULL);
}
static void destroy(bo_linkage *l) {
    bo_free(l->ctx, l->data);
}
static double *kept_gravity(const bo_linkage *l) {
    return ((nothing *)l->data)->gravity;
}
static void place(const bo_linkage *l) {
    (void)l;
}
static void drive(const bo_linkage *l, const double *offsets) {
    (void)l, (void)offsets;
}
static void list_loads(const bo_linkage *l, bo_state_block blocks[BO_LOAD_BLOCKS]) {
    (void)l;
    memset(blocks, 0, BO_LOAD_BLOCKS * sizeof *blocks);
}
static void push(const bo_linkage *l, int32_t link, const double at[3], bo_vec3 force, bo_vec3 torque) {
    (void)l, (void)link, (void)at, (void)force, (void)torque;
}
static bough_status step(const bo_linkage *l, double h, int64_t *iterations) {
    (void)iterations;
    return bough_contact_world_step(l->ctx, l->around, h);
}
static bough_status settle(const bo_linkage *l, double part, double *residual) {
    (void)part, (void)residual;
    return bo_fail(l->ctx, BOUGH_ERROR_UNSUPPORTED, "bodies that fly have no equilibrium; leave \"settle\" out");
}
static void energies(const bo_linkage *l, double *kinetic, double *elastic, double *gravity) {
    (void)l;
    *kinetic = *elastic = *gravity = 0;
}

const bo_linkage_kind bo_no_linkage = {.create = create,
                                       .destroy = destroy,
                                       .gravity = kept_gravity,
                                       .place = place,
                                       .move = place,
                                       .drive = drive,
                                       .loads = list_loads,
                                       .push = push,
                                       .step = step,
                                       .settle = settle,
                                       .energies = energies};
