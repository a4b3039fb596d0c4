/* What is around a mechanism: obstacles and free bodies, which its end effectors touch; and bodies without any. */
#include "run/linkage.h"

#include <math.h>
#include <string.h>

static bool has_touches(const bo_mechanism_scene *m) {
    if (m->base_touch.shapes.count > 0 || m->link_touch_count > 0)
        return true;
    for (int32_t i = 0; i < m->end_effector_count; i++)
        if (m->effectors[i].touch.shapes.count > 0)
            return true;
    return false;
}

bool bo_linkage_needs_around(const bo_mechanism_scene *m) {
    return m->body_count > 0 || (m->obstacle_count > 0 && has_touches(m));
}

/* ---- making ---- */

/* Room for all, freed at once. */
typedef struct {
    bough_obstacle_def *obstacles;
    bough_rigid_body_def *bodies;
    bough_touch_def *touches;
    bough_shape_def *shapes; /* of obstacles and bodies, one after the other */
    int32_t touch_count;
} draft;

static const bough_shape_def *copy_shapes(const bo_scene_shapes *shapes, bough_shape_def **to) {
    const bough_shape_def *first = *to;
    for (int32_t i = 0; i < shapes->count; i++)
        *(*to)++ = shapes->shapes[i].def;
    return first;
}

static void describe_obstacle(const bo_scene_rigid *from, bough_shape_def **shapes, bough_obstacle_def *to) {
    *to = bough_default_obstacle_def();
    to->name = from->name, to->pose = from->pose, to->friction = from->friction;
    to->shape_count = from->shapes.count;
    to->shapes = copy_shapes(&from->shapes, shapes);
}

static void describe_body(const bo_scene_rigid *from, bough_shape_def **shapes, bough_rigid_body_def *to) {
    const bo_mat3 R = bo_pose(&from->pose).R;
    *to = bough_default_rigid_body_def();
    to->name = from->name, to->pose = from->pose, to->mass = from->mass;
    memcpy(to->inertia, from->inertia, sizeof to->inertia);
    bo_store3(to->twist, bo_mat_tvec(R, bo_load3(from->velocity)));
    bo_store3(to->twist + 3, bo_mat_tvec(R, bo_load3(from->spin)));
    to->friction = from->friction, to->restitution = from->restitution;
    to->shape_count = from->shapes.count;
    to->shapes = copy_shapes(&from->shapes, shapes);
}

/* The end effector's number in what is stepped; -1: it is not kept. */
static int32_t number_in_model(const bo_linkage *l, int32_t effector) {
    const bo_mechanism_scene *m = l->m;
    if (l->keeps_all)
        return l->first_effector + effector;
    for (int32_t k = 0; k < m->kept_count; k++)
        if (m->kept[k] == effector)
            return k;
    return m->kept_count > 0 ? -1 : effector;
}

static void add_touches(const bo_scene_touch *from, int32_t end_effector, int32_t link, draft *d) {
    for (int32_t k = 0; k < from->shapes.count; k++) {
        bough_touch_def *touch = &d->touches[d->touch_count++];
        *touch = bough_default_touch_def();
        touch->end_effector = end_effector, touch->link = link;
        touch->shape = from->shapes.shapes[k].def;
        touch->friction = from->friction;
    }
}

static bough_status describe_touches(const bo_linkage *l, draft *d) {
    const bo_mechanism_scene *m = l->m;
    add_touches(&m->base_touch, BOUGH_TOUCH_BY_BASE, 0, d);
    for (int32_t i = 0; i < m->link_touch_count; i++)
        add_touches(&m->link_touches[i].touch, BOUGH_TOUCH_BY_LINK, m->link_touches[i].link, d);
    for (int32_t i = 0; i < m->end_effector_count; i++) {
        const bo_scene_end_effector *effector = &m->effectors[i];
        if (effector->touch.shapes.count > 0 && number_in_model(l, i) < 0)
            return bo_fail(
                l->ctx, BOUGH_ERROR_UNSUPPORTED,
                "the end effector \"%.60s\" touches things, so that it must be among those of the \"engine\"",
                effector->name);
        add_touches(&effector->touch, number_in_model(l, i), 0, d);
    }
    return BOUGH_OK;
}

static bool make_room(const bo_linkage *l, draft *d) {
    const bo_mechanism_scene *m = l->m;
    size_t shapes = 0, touches = (size_t)m->base_touch.shapes.count;
    for (int32_t i = 0; i < m->obstacle_count; i++)
        shapes += (size_t)m->obstacles[i].shapes.count;
    for (int32_t i = 0; i < m->body_count; i++)
        shapes += (size_t)m->bodies[i].shapes.count;
    for (int32_t i = 0; i < m->end_effector_count; i++)
        touches += (size_t)m->effectors[i].touch.shapes.count;
    for (int32_t i = 0; i < m->link_touch_count; i++)
        touches += (size_t)m->link_touches[i].touch.shapes.count;
    d->obstacles = BO_NEW_ARRAY(l->ctx, bough_obstacle_def, m->obstacle_count);
    d->bodies = BO_NEW_ARRAY(l->ctx, bough_rigid_body_def, m->body_count);
    d->touches = BO_NEW_ARRAY(l->ctx, bough_touch_def, touches);
    d->shapes = BO_NEW_ARRAY(l->ctx, bough_shape_def, shapes);
    return d->obstacles && d->bodies && d->touches && d->shapes;
}

typedef bough_status (*actor_maker)(bo_linkage *l, int32_t touch_count, const bough_touch_def *touches,
                                    bough_contact_actor *actor);

/* A base that is held stands in or on an obstacle, as a rule: where all of a robot collides, these two do not. */
static bough_status leave_base_alone(const bo_linkage *l) {
    const bo_mechanism_scene *m = l->m;
    bool touches = false;
    for (int32_t i = 0; i < m->link_touch_count; i++)
        touches = touches || m->link_touches[i].link == m->base;
    for (int32_t i = 0; i < m->obstacle_count && touches && m->collides && !m->free_base; i++)
        BO_TRY(bough_contact_world_ignore(l->ctx, l->around, (bough_contact_side){BOUGH_CONTACT_OF_LINK, m->base, 0},
                                          (bough_contact_side){BOUGH_CONTACT_OF_OBSTACLE, i, -1}, true));
    return BOUGH_OK;
}

/* All contacts are one search: scenes keep the bits that they had before there were islands. */
static bough_status make(bo_linkage *l, actor_maker create, draft *d) {
    const bo_mechanism_scene *m = l->m;
    bough_contact_world_def def = bough_default_contact_world_def();
    bough_contact_actor actor;
    bough_shape_def *shapes = d->shapes;
    BO_TRY(describe_touches(l, d));
    for (int32_t i = 0; i < m->obstacle_count; i++)
        describe_obstacle(&m->obstacles[i], &shapes, &d->obstacles[i]);
    for (int32_t i = 0; i < m->body_count; i++)
        describe_body(&m->bodies[i], &shapes, &d->bodies[i]);
    def.obstacle_count = m->obstacle_count, def.obstacles = d->obstacles;
    def.body_count = m->body_count, def.bodies = d->bodies;
    def.islands = false;
    if (create) {
        BO_TRY(create(l, d->touch_count, d->touches, &actor));
        def.actor_count = 1, def.actors = &actor;
    }
    BO_TRY(bough_contact_world_create(l->ctx, &def, &l->around));
    return leave_base_alone(l);
}

bough_status bo_linkage_make_around(bo_linkage *l, actor_maker create) {
    draft d = {0};
    const bough_status status = make_room(l, &d) ? make(l, create, &d) : BOUGH_ERROR_MEMORY;
    bo_free(l->ctx, d.obstacles);
    bo_free(l->ctx, d.bodies);
    bo_free(l->ctx, d.touches);
    bo_free(l->ctx, d.shapes);
    return status;
}

/* ---- looking ---- */

bo_se3 bo_linkage_body(const bo_linkage *l, int32_t body, bo_twist *twist) {
    const bough_rigid_body *b = &l->around->bodies[body];
    const bo_se3 pose = bo_pose(&b->pose);
    *twist = (bo_twist){bo_mat_tvec(pose.R, bo_load3(b->velocity)), bo_load3(b->spin)};
    return pose;
}

void bo_linkage_touch(const bo_linkage *l, int32_t end_effector, double force[3]) {
    const int32_t number = number_in_model(l, end_effector);
    memset(force, 0, 3 * sizeof *force);
    for (int32_t i = 0; l->around && i < l->around->contact_count; i++) {
        const bough_contact *c = &l->around->contacts[i];
        for (int side = 0; side < 2; side++)
            for (int d = 0;
                 d < 3 && c->sides[side].kind == BOUGH_CONTACT_OF_END_EFFECTOR && c->sides[side].index == number; d++)
                force[d] += side ? -c->force[d] : c->force[d];
    }
}

/* ---- bodies alone ---- */

typedef struct {
    double gravity[3];
} nothing;

static bough_status create(bo_linkage *l) {
    nothing *n = l->data = BO_NEW(l->ctx, nothing);
    if (!n)
        return BOUGH_ERROR_MEMORY;
    memcpy(n->gravity, l->scene->model.gravity, sizeof n->gravity);
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
static int64_t state_size(const bo_linkage *l) {
    (void)l;
    return 0;
}
static void save(const bo_linkage *l, double *state) {
    (void)l, (void)state;
}
static void restore(const bo_linkage *l, const double *state) {
    (void)l, (void)state;
}

const bo_linkage_kind bo_no_linkage = {.create = create,
                                       .destroy = destroy,
                                       .gravity = kept_gravity,
                                       .place = place,
                                       .move = place,
                                       .drive = drive,
                                       .clear_loads = place,
                                       .push = push,
                                       .step = step,
                                       .settle = settle,
                                       .energies = energies,
                                       .state_size = state_size,
                                       .save = save,
                                       .restore = restore};
