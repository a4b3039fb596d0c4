/* The runtime library for the npm package bough-rt: functions whose arguments are numbers and addresses, as JavaScript
 * hands them over. npm/index.js calls them. One instance has one context; what fails returns NULL, false or a status, and
 * rt_message() has the sentence. */
#include <bough/mechanism.h>
#include <bough/tree.h>

#include <stdlib.h>
#include <string.h>

#define EXPORT(name) __attribute__((export_name(#name)))
/* An array of three, nine or more numbers begins there. */
typedef const double *numbers;

static bough_context *ctx;
static bough_status last;

static bool good(bough_status status) {
    last = status;
    return status == BOUGH_OK;
}

EXPORT(rt_open) bool rt_open(void) {
    bough_context_def def = bough_default_context_def();
    def.thread_count = 1;
    ctx = bough_context_create(&def);
    return ctx;
}
EXPORT(rt_alloc) void *rt_alloc(size_t size) {
    return malloc(size);
}
EXPORT(rt_free) void rt_free(void *block) {
    free(block);
}
EXPORT(rt_message) const char *rt_message(void) {
    return bough_message(ctx);
}
EXPORT(rt_status_name) const char *rt_status_name(void) {
    return bough_status_name(last);
}
EXPORT(rt_status) int rt_status(void) {
    return last;
}
EXPORT(rt_version) const char *rt_version(void) {
    return bough_version();
}

/* ---- components ---- */

EXPORT(rt_component_read) bough_component *rt_component_read(const void *bytes, size_t size) {
    bough_component *c = NULL;
    return good(bough_component_read(ctx, bytes, size, &c)) ? c : NULL;
}
EXPORT(rt_component_destroy) void rt_component_destroy(bough_component *c) {
    bough_component_destroy(ctx, c);
}
EXPORT(rt_component_size) int32_t rt_component_size(const bough_component *c) {
    return c->r;
}
EXPORT(rt_component_mass) double rt_component_mass(const bough_component *c) {
    return c->mass;
}
EXPORT(rt_component_interface_count) int32_t rt_component_interface_count(const bough_component *c) {
    return c->interface_count;
}
EXPORT(rt_component_interface_name) const char *rt_component_interface_name(const bough_component *c, int32_t i) {
    return c->interfaces[i].name;
}
EXPORT(rt_component_find_interface) int32_t rt_component_find_interface(const bough_component *c, const char *name) {
    return bough_component_find_interface(c, name);
}
EXPORT(rt_component_vertex_count) int32_t rt_component_vertex_count(const bough_component *c) {
    return c->surface.vertex_count;
}

/* ---- models of trees ---- */

/* A def that grows part by part. */
typedef struct {
    bough_tree_model_def def;
    int32_t component_count, part_count;
    const bough_component *components[256];
    bough_part_def *parts;
} tree_builder;

EXPORT(rt_tree_builder_create) tree_builder *rt_tree_builder_create(int32_t part_count, numbers gravity) {
    tree_builder *b = calloc(1, sizeof *b);
    if (!b || !(b->parts = calloc((size_t)part_count + 1, sizeof *b->parts))) {
        free(b);
        return NULL;
    }
    b->def = bough_default_tree_model_def();
    memcpy(b->def.gravity, gravity, sizeof b->def.gravity);
    return b;
}
static void free_name(const char *name) {
    free((void *)(uintptr_t)name);
}
EXPORT(rt_tree_builder_destroy) void rt_tree_builder_destroy(tree_builder *b) {
    for (int32_t i = 0; i < b->part_count; i++)
        free_name(b->parts[i].name);
    free(b->parts);
    free(b);
}
/* Returns its number; -1: there are too many. */
EXPORT(rt_tree_builder_component) int32_t rt_tree_builder_component(tree_builder *b, const bough_component *c) {
    if (b->component_count == sizeof b->components / sizeof *b->components)
        return -1;
    b->components[b->component_count] = c;
    return b->component_count++;
}
/* places: rotation (9), position (3), offset (3); factors: scale, stiffness, damping by mass, by stiffness, ratio. */
EXPORT(rt_tree_builder_part)
void rt_tree_builder_part(tree_builder *b, const char *name, int32_t component, int32_t parent, int32_t interface_index,
                          numbers places, numbers factors, bool flies) {
    bough_part_def *p = &b->parts[b->part_count++];
    *p = bough_default_part_def();
    p->name = name ? strdup(name) : NULL;
    p->component = component, p->parent = parent, p->interface_index = interface_index;
    memcpy(p->rotation, places, sizeof p->rotation);
    memcpy(p->position, places + 9, sizeof p->position);
    memcpy(p->offset, places + 12, sizeof p->offset);
    p->scale = factors[0], p->stiffness = factors[1], p->damping_mass = factors[2];
    p->damping_stiffness = factors[3], p->damping_ratio = factors[4];
    p->free = flies;
}
EXPORT(rt_tree_builder_model) bough_tree_model *rt_tree_builder_model(tree_builder *b) {
    bough_tree_model *model = NULL;
    b->def.component_count = b->component_count, b->def.components = b->components;
    b->def.part_count = b->part_count, b->def.parts = b->parts;
    return good(bough_tree_model_create(ctx, &b->def, &model)) ? model : NULL;
}

EXPORT(rt_tree_model_read) bough_tree_model *rt_tree_model_read(const void *bytes, size_t size) {
    bough_tree_model *model = NULL;
    return good(bough_tree_model_read(ctx, bytes, size, &model)) ? model : NULL;
}
EXPORT(rt_tree_model_destroy) void rt_tree_model_destroy(bough_tree_model *model) {
    bough_tree_model_destroy(ctx, model);
}
EXPORT(rt_tree_part_count) int32_t rt_tree_part_count(const bough_tree_model *model) {
    return bough_tree_model_part_count(model);
}
EXPORT(rt_tree_size) int32_t rt_tree_size(const bough_tree_model *model) {
    return bough_tree_model_size(model);
}
EXPORT(rt_tree_find_part) int32_t rt_tree_find_part(const bough_tree_model *model, const char *name) {
    return bough_tree_model_find_part(model, name);
}
EXPORT(rt_tree_part_name) const char *rt_tree_part_name(const bough_tree_model *model, int32_t part) {
    return bough_tree_model_describe(model)->parts[part].name;
}
EXPORT(rt_tree_part_parent) int32_t rt_tree_part_parent(const bough_tree_model *model, int32_t part) {
    return bough_tree_model_describe(model)->parts[part].parent;
}
EXPORT(rt_tree_part_offset) int32_t rt_tree_part_offset(const bough_tree_model *model, int32_t part) {
    return bough_tree_model_offset(model, part);
}
EXPORT(rt_tree_first_vertex) int32_t rt_tree_first_vertex(const bough_tree_model *model, int32_t part) {
    return bough_tree_model_first_vertex(model, part);
}
EXPORT(rt_tree_part_vertex_count) int32_t rt_tree_part_vertex_count(const bough_tree_model *model, int32_t part) {
    const bough_tree_model_def *def = bough_tree_model_describe(model);
    return def->components[def->parts[part].component]->surface.vertex_count;
}
EXPORT(rt_tree_vertex_count) int32_t rt_tree_vertex_count(const bough_tree_model *model) {
    return bough_tree_model_vertex_count(model);
}
EXPORT(rt_tree_triangle_count) int32_t rt_tree_triangle_count(const bough_tree_model *model) {
    return bough_tree_model_triangle_count(model);
}
EXPORT(rt_tree_triangles) void rt_tree_triangles(const bough_tree_model *model, int32_t *triangles) {
    bough_tree_model_triangles(model, triangles);
}

/* ---- states of trees ---- */

EXPORT(rt_tree_state_create) bough_tree_state *rt_tree_state_create(const bough_tree_model *model) {
    bough_tree_state *state = NULL;
    return good(bough_tree_state_create(ctx, model, &state)) ? state : NULL;
}
EXPORT(rt_tree_state_destroy) void rt_tree_state_destroy(bough_tree_state *state) {
    bough_tree_state_destroy(ctx, state);
}
/* Arrays of a state: 0 time, 1 q, 2 v, 3 a, 4 frames (18 numbers each), 5 gravity, 6 wind (velocity, gust, length,
 * density, drag). */
EXPORT(rt_tree_array) double *rt_tree_array(bough_tree_state *s, int which) {
    double *const arrays[] = {&s->time, s->q, s->v, s->a, s->frames->pose.position, s->gravity, s->wind.velocity};
    return arrays[which];
}
EXPORT(rt_tree_wind_seed) void rt_tree_wind_seed(bough_tree_state *s, uint32_t seed) {
    s->wind.seed = seed;
}
EXPORT(rt_tree_set_continuity) void rt_tree_set_continuity(bough_tree_state *s, int continuity) {
    s->continuity = (bough_continuity)continuity;
}
EXPORT(rt_tree_step) int rt_tree_step(const bough_tree_model *model, bough_tree_state *s, double dt) {
    return last = bough_tree_step(ctx, model, s, dt);
}
/* refused: how many steps were halved. */
EXPORT(rt_tree_advance)
int rt_tree_advance(const bough_tree_model *model, bough_tree_state *s, double dt, int32_t *refused) {
    return last = bough_tree_advance(ctx, model, s, dt, refused);
}
EXPORT(rt_tree_update) int rt_tree_update(const bough_tree_model *model, bough_tree_state *s) {
    return last = bough_tree_state_update(ctx, model, s);
}
EXPORT(rt_tree_settle) int rt_tree_settle(const bough_tree_model *model, bough_tree_state *s, double *residual) {
    return last = bough_tree_state_settle(ctx, model, s, NULL, residual);
}
EXPORT(rt_tree_use_integrator)
int rt_tree_use_integrator(const bough_tree_model *model, bough_tree_state *s, const char *name) {
    bough_integrator_def def = bough_default_integrator_def();
    def.name = name;
    return last = bough_tree_state_use_integrator(ctx, model, s, name ? &def : NULL);
}
EXPORT(rt_tree_add_force)
int rt_tree_add_force(const bough_tree_model *model, bough_tree_state *s, int32_t part, int32_t vertex, numbers force) {
    return last = bough_tree_state_add_force(ctx, model, s, part, vertex, force);
}
/* wrench: force and torque. */
EXPORT(rt_tree_add_wrench)
int rt_tree_add_wrench(const bough_tree_model *model, bough_tree_state *s, int32_t part, numbers wrench) {
    return last = bough_tree_state_add_wrench(ctx, model, s, part, wrench, wrench + 3);
}
EXPORT(rt_tree_add_joint_torque)
int rt_tree_add_joint_torque(const bough_tree_model *model, bough_tree_state *s, int32_t part, numbers torque) {
    return last = bough_tree_state_add_joint_torque(ctx, model, s, part, torque);
}
EXPORT(rt_tree_pull)
int rt_tree_pull(const bough_tree_model *model, bough_tree_state *s, int32_t part, int32_t vertex, numbers target,
                 double stiffness, double damping) {
    return last = bough_tree_state_pull(ctx, model, s, part, vertex, target, stiffness, damping);
}
EXPORT(rt_tree_clear_forces) void rt_tree_clear_forces(const bough_tree_model *model, bough_tree_state *s) {
    bough_tree_state_clear_forces(model, s);
}
/* kind: the number of a bough_change_kind. A root that is added is added where it was. */
EXPORT(rt_tree_change)
int rt_tree_change(const bough_tree_model *model, bough_tree_state *s, int kind, int32_t part, int32_t parent,
                   int32_t interface_index) {
    bough_change change = {
        .kind = (bough_change_kind)kind, .part = part, .parent = parent, .interface_index = interface_index};
    if (part >= 0 && part < bough_tree_model_part_count(model))
        change.frame = s->frames[part];
    return last = bough_tree_state_change(ctx, model, s, 1, &change);
}
/* The component's interface of that name, for the parent of an attached part; -1: there is none. */
EXPORT(rt_tree_find_interface)
int32_t rt_tree_find_interface(const bough_tree_model *model, int32_t part, const char *name) {
    const bough_tree_model_def *def = bough_tree_model_describe(model);
    return bough_component_find_interface(def->components[def->parts[part].component], name);
}
EXPORT(rt_tree_parent_now)
int32_t rt_tree_parent_now(const bough_tree_model *model, const bough_tree_state *s, int32_t part) {
    return bough_tree_state_parts(model, s)[part].parent;
}
EXPORT(rt_tree_set_stiffness)
int rt_tree_set_stiffness(const bough_tree_model *model, bough_tree_state *s, int32_t part, double factor) {
    return last = bough_tree_state_set_stiffness(ctx, model, s, part, factor);
}
EXPORT(rt_tree_set_damping_ratio)
int rt_tree_set_damping_ratio(const bough_tree_model *model, bough_tree_state *s, int32_t part, double ratio) {
    return last = bough_tree_state_set_damping_ratio(ctx, model, s, part, ratio);
}
EXPORT(rt_tree_surface)
int rt_tree_surface(const bough_tree_model *model, bough_tree_state *s, float *positions, float *normals) {
    return last = bough_tree_state_surface(ctx, model, s, positions, normals);
}
EXPORT(rt_tree_surface_stress)
void rt_tree_surface_stress(const bough_tree_model *model, bough_tree_state *s, float *von_mises) {
    bough_tree_state_surface_stress(ctx, model, s, von_mises);
}
/* place: position and velocity of a vertex. */
EXPORT(rt_tree_vertex)
int rt_tree_vertex(const bough_tree_model *model, bough_tree_state *s, int32_t part, int32_t vertex, double *place) {
    return last = bough_tree_state_vertex(ctx, model, s, part, vertex, place, place + 3);
}
/* Elastic, kinetic, gravity, momentum (3), angular momentum (3). */
EXPORT(rt_tree_energies) int rt_tree_energies(const bough_tree_model *model, bough_tree_state *s, double *out) {
    bough_tree_energies e;
    if (!good(bough_tree_state_energies(ctx, model, s, &e)))
        return last;
    out[0] = e.elastic, out[1] = e.kinetic, out[2] = e.gravity;
    memcpy(out + 3, e.momentum, sizeof e.momentum);
    memcpy(out + 6, e.angular_momentum, sizeof e.angular_momentum);
    return BOUGH_OK;
}
EXPORT(rt_tree_work) double rt_tree_work(const bough_tree_model *model, const bough_tree_state *s) {
    return bough_tree_state_work(model, s, NULL);
}
EXPORT(rt_tree_snapshot_size) size_t rt_tree_snapshot_size(const bough_tree_model *model, const bough_tree_state *s) {
    return bough_tree_state_snapshot_size(model, s);
}
EXPORT(rt_tree_save) void rt_tree_save(const bough_tree_model *model, const bough_tree_state *s, void *bytes) {
    bough_tree_state_save(model, s, bytes);
}
EXPORT(rt_tree_restore)
int rt_tree_restore(const bough_tree_model *model, bough_tree_state *s, const void *bytes, size_t size) {
    return last = bough_tree_state_restore(ctx, model, s, bytes, size);
}

/* ---- mechanisms ---- */

/* A def that grows link by link, and a reduced model that keeps it. */
typedef struct {
    bough_mechanism_def def;
    bough_rigid_body_def *links;
    bough_joint_def *joints;
    bough_frame_def *end_effectors;
    bough_mechanism *mechanism;
    bough_mechanism_model *model;
} rt_mechanism;

EXPORT(rt_mechanism_destroy) void rt_mechanism_destroy(rt_mechanism *m) {
    bough_mechanism_model_destroy(ctx, m->model);
    bough_mechanism_destroy(ctx, m->mechanism);
    for (int32_t i = 0; i < m->def.link_count; i++)
        free_name(m->links[i].name);
    for (int32_t i = 0; i < m->def.joint_count; i++)
        free_name(m->joints[i].name);
    free(m->links);
    free(m->joints);
    free(m->end_effectors);
    free(m);
}
EXPORT(rt_mechanism_create)
rt_mechanism *rt_mechanism_create(int32_t links, int32_t joints, int32_t end_effectors, int32_t base, bool free_base) {
    rt_mechanism *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->def = bough_default_mechanism_def();
    m->def.base = base, m->def.free_base = free_base;
    m->links = calloc((size_t)links + 1, sizeof *m->links);
    m->joints = calloc((size_t)joints + 1, sizeof *m->joints);
    m->end_effectors = calloc((size_t)end_effectors + 1, sizeof *m->end_effectors);
    if (m->links && m->joints && m->end_effectors)
        return m;
    rt_mechanism_destroy(m);
    return NULL;
}
static bough_pose pose_of(numbers at) { /* position, rotation */
    bough_pose pose;
    memcpy(pose.position, at, sizeof pose.position);
    memcpy(pose.rotation, at + 3, sizeof pose.rotation);
    return pose;
}
/* body: mass, centre (3), inertia (9), pose (12). */
EXPORT(rt_mechanism_link) void rt_mechanism_link(rt_mechanism *m, const char *name, numbers body) {
    bough_rigid_body_def *link = &m->links[m->def.link_count++];
    *link = bough_default_rigid_body_def();
    link->name = name ? strdup(name) : NULL;
    link->mass = body[0];
    memcpy(link->centre, body + 1, sizeof link->centre);
    memcpy(link->inertia, body + 4, sizeof link->inertia);
    link->pose = pose_of(body + 13);
}
/* values: pose in the parent (12), pose in the child (12), stiffness (6), damping (6), offset (6). false: no such kind. */
EXPORT(rt_mechanism_joint)
bool rt_mechanism_joint(rt_mechanism *m, const char *name, const char *kind, int32_t parent, int32_t child,
                        numbers values) {
    int32_t k = 0;
    while (k < BOUGH_JOINT_KIND_COUNT && strcmp(kind, bough_joint_name((bough_joint_kind)k)) != 0)
        k++;
    if (k == BOUGH_JOINT_KIND_COUNT)
        return false;
    bough_joint_def *joint = &m->joints[m->def.joint_count++];
    *joint = bough_default_joint_def();
    joint->name = name ? strdup(name) : NULL;
    joint->kind = (bough_joint_kind)k;
    joint->parent.body = parent, joint->parent.pose = pose_of(values);
    joint->child.body = child, joint->child.pose = pose_of(values + 12);
    memcpy(joint->stiffness, values + 24, sizeof joint->stiffness);
    memcpy(joint->damping, values + 30, sizeof joint->damping);
    memcpy(joint->offset, values + 36, sizeof joint->offset);
    return true;
}
EXPORT(rt_mechanism_end_effector) void rt_mechanism_end_effector(rt_mechanism *m, int32_t link, numbers pose) {
    bough_frame_def *frame = &m->end_effectors[m->def.end_effector_count++];
    *frame = bough_default_frame_def();
    frame->body = link, frame->pose = pose_of(pose);
}
/* Reduces what was described; internal_modes -1: as many as the lowest frequency needs. */
EXPORT(rt_mechanism_reduce) int rt_mechanism_reduce(rt_mechanism *m, int32_t internal_modes) {
    bough_mechanism_statics *statics = NULL;
    bough_mechanism_model_def def = bough_default_mechanism_model_def();
    def.internal_modes = internal_modes;
    m->def.links = m->links, m->def.joints = m->joints, m->def.end_effectors = m->end_effectors;
    if (good(bough_mechanism_create(ctx, &m->def, &m->mechanism)) &&
        good(bough_mechanism_statics_create(ctx, m->mechanism, NULL, &statics)))
        last = bough_mechanism_model_create(ctx, m->mechanism, statics, &def, &m->model);
    bough_mechanism_statics_destroy(ctx, statics);
    return last;
}
EXPORT(rt_mechanism_rank) int32_t rt_mechanism_rank(const rt_mechanism *m) {
    return m->model->rank;
}
EXPORT(rt_mechanism_compliance) double *rt_mechanism_compliance(const rt_mechanism *m) {
    return m->model->C;
}
/* Returns how many there are, at most `count`; -1: it failed. */
EXPORT(rt_mechanism_frequencies) int32_t rt_mechanism_frequencies(const rt_mechanism *m, int32_t count, double *hz) {
    int32_t found = 0;
    return good(bough_mechanism_model_frequencies(ctx, m->model, count, hz, &found)) ? found : -1;
}

EXPORT(rt_mechanism_state_create) bough_mechanism_state *rt_mechanism_state_create(const rt_mechanism *m) {
    bough_mechanism_state *s = NULL;
    return good(bough_mechanism_state_create(ctx, m->model, &s)) ? s : NULL;
}
EXPORT(rt_mechanism_state_destroy) void rt_mechanism_state_destroy(bough_mechanism_state *s) {
    bough_mechanism_state_destroy(ctx, s);
}
/* Arrays of a state: 0 time, 1 xi, 2 phi, 3 gravity, 4 poses (12 numbers each, after rt_mechanism_place()). */
EXPORT(rt_mechanism_array) double *rt_mechanism_array(bough_mechanism_state *s, int which) {
    double *const arrays[] = {&s->time, s->xi, s->phi, s->gravity, s->poses->position};
    return arrays[which];
}
EXPORT(rt_mechanism_step) int rt_mechanism_step(const rt_mechanism *m, bough_mechanism_state *s, double dt) {
    return last = bough_mechanism_step(ctx, m->model, s, dt);
}
EXPORT(rt_mechanism_place) void rt_mechanism_place(const rt_mechanism *m, bough_mechanism_state *s) {
    bough_mechanism_state_place(m->model, s);
}
EXPORT(rt_mechanism_end_effector_pose)
void rt_mechanism_end_effector_pose(const rt_mechanism *m, const bough_mechanism_state *s, int32_t end_effector,
                                    double *pose) {
    const bough_pose at = bough_mechanism_state_end_effector(m->model, s, end_effector);
    memcpy(pose, at.position, sizeof at.position);
    memcpy(pose + 3, at.rotation, sizeof at.rotation);
}
EXPORT(rt_mechanism_push)
void rt_mechanism_push(const rt_mechanism *m, bough_mechanism_state *s, int32_t end_effector, numbers wrench) {
    bough_mechanism_state_push(m->model, s, end_effector, wrench, wrench + 3);
}
/* values: point, force, torque. */
EXPORT(rt_mechanism_push_link)
void rt_mechanism_push_link(const rt_mechanism *m, bough_mechanism_state *s, int32_t link, numbers values) {
    bough_mechanism_state_push_link(m->model, s, link, values, values + 3, values + 6);
}
/* Kinetic, elastic, gravity. */
EXPORT(rt_mechanism_energies)
void rt_mechanism_energies(const rt_mechanism *m, const bough_mechanism_state *s, double *out) {
    const bough_mechanism_energies e = bough_mechanism_state_energies(m->model, s);
    out[0] = e.kinetic, out[1] = e.elastic, out[2] = e.gravity;
}
