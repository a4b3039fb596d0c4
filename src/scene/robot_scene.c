/* A robot as entries of a multibody scene.
 *
 * Links that are welded together become one body. A link that bends becomes a part: clamped to what it is welded to, or
 * to a body without mass of its own, LINK.base, which its joint moves. Its mesh has the axes and the origin of the
 * link's frame, so that the part's frame, whose origin is the centre of the interface by which it hangs, lies at
 * component->origin there. */
#include "scene/robot.h"

#include "base/eigen3.h"
#include "rig/joint.h"
#include "scene/scene.h"

#include <string.h>

typedef struct {
    bo_robot *robot;
    const bo_multibody_reader *r;
    json_t *bodies, *parts, *joints, *gears; /* lists of the scene */
} writer;

/* ---- numbers ---- */

static json_t *vector(bo_vec3 v) {
    return json_pack("[f,f,f]", v.x, v.y, v.z);
}

/* Degrees about x, then y, then z: R = Rz Ry Rx. Where y is upright, z and x turn about the same axis; x and y are found
 * from what is left of R when the turn about z is undone, so that they make up for any error of it. */
static json_t *turn(bo_mat3 R) {
    const double degree = 180 / M_PI;
    const double z = hypot(R.m[0], R.m[3]) > 1e-12 ? atan2(R.m[3], R.m[0]) : 0;
    const bo_mat3 rest = bo_mat_mul(bo_exp3(bo_v3(0, 0, -z)), R);
    const double x = atan2(-rest.m[5], rest.m[4]), y = atan2(-rest.m[6], rest.m[0]);
    return json_pack("[f,f,f]", degree * x, degree * y, degree * z);
}

static bool is_identity(bo_mat3 R) {
    const bo_mat3 one = bo_identity3();
    return memcmp(R.m, one.m, sizeof R.m) == 0;
}

/* "position" and, where it is turned, "rotate_deg". */
static void set_pose(json_t *entry, bo_se3 g) {
    json_object_set_new(entry, "position", vector(g.t));
    if (!is_identity(g.R))
        json_object_set_new(entry, "rotate_deg", turn(g.R));
}

/* Long chains of products drift from rotations by rounding. */
static bo_se3 tidy(bo_se3 g) {
    return is_identity(g.R) ? g : (bo_se3){bo_quat_to_matrix(bo_quat_from_matrix(g.R)), g.t};
}

static bough_status append(const writer *w, json_t *list, json_t *entry) {
    return entry && json_array_append_new(list, entry) == 0 ? BOUGH_OK : bo_fail_memory(w->robot->ctx);
}

/* ---- places ---- */

static bool bends(const bo_robot_link *link) {
    return link->component >= 0;
}

/* The frame of the child in that of the parent at the start: turned about, or moved along, its axis. */
static bo_se3 step_over(const bo_robot_joint *joint) {
    bo_se3 moved = bo_se3_identity();
    if (joint->start == 0)
        return joint->in_parent;
    if (joint->kind == BOUGH_JOINT_HINGE) {
        moved.R = bo_exp3(bo_scale(joint->start, joint->axis));
        moved.t = bo_sub(joint->anchor, bo_mat_vec(moved.R, joint->anchor));
    } else
        moved.t = bo_scale(joint->start, joint->axis);
    return bo_se3_mul(joint->in_parent, moved);
}

static void place_links(const bo_robot *robot) {
    for (int32_t i = 0; i < robot->link_count; i++) {
        bo_robot_link *link = &robot->links[i];
        link->head = i, link->in_head = bo_se3_identity(), link->pose = robot->stands;
        if (link->above < 0)
            continue;
        const bo_robot_joint *joint = &robot->joints[link->above];
        const bo_robot_link *parent = &robot->links[joint->parent];
        link->pose = tidy(bo_se3_mul(parent->pose, step_over(joint)));
        if (joint->kind == BOUGH_JOINT_WELD && !bends(link) && !bends(parent)) {
            link->head = parent->head;
            link->in_head = tidy(bo_se3_mul(parent->in_head, joint->in_parent));
        }
    }
    for (int32_t i = 0; i < robot->shape_count; i++)
        robot->links[robot->links[robot->shapes[i].link].head].has_shapes = true;
    if (robot->links[0].has_shapes && strcmp(robot->links[0].name, "world") == 0)
        bo_xml_warn(robot->xml, robot->links[0].at, "shapes of the world are not drawn");
}

/* The base of a robot that stands is the world itself, unless there is something to be seen of it. */
static bool is_world(const bo_robot *robot, int32_t head) {
    return head == 0 && !robot->free_base && !bends(&robot->links[0]) &&
           (!robot->links[0].has_shapes || strcmp(robot->links[0].name, "world") == 0);
}

/* The body without mass that carries a link that bends; none where that is clamped to something else. */
static bool has_carrier(const bo_robot *robot, const bo_robot_link *link) {
    return link->above < 0 ? robot->free_base : robot->joints[link->above].kind != BOUGH_JOINT_WELD;
}

static json_t *carrier_name(const bo_robot_link *link) {
    return json_sprintf("%s.base", link->name);
}

/* Makes an end of a scene, without a place of its own, for a joint or a clamp at a link; *rest: its frame in the world
 * at the start. interface_index -1: of a link that bends, what carries it. */
static json_t *end_at(const writer *w, int32_t l, int32_t interface_index, bo_se3 *rest) {
    const bo_robot *robot = w->robot;
    const bo_robot_link *link = &robot->links[l], *head = &robot->links[link->head];
    if (!bends(link)) {
        *rest = is_world(robot, link->head) ? bo_se3_identity() : head->pose;
        return json_pack("{s:s}", "body", is_world(robot, link->head) ? "world" : head->name);
    }
    const bough_component *c = w->r->assembly->components[link->component].rigid;
    *rest = link->pose;
    if (interface_index < 0 && has_carrier(robot, link))
        return json_pack("{s:o}", "body", carrier_name(link));
    if (interface_index < 0) /* clamped: to what is on the other side */
        return link->above < 0 ? (*rest = bo_se3_identity(), json_pack("{s:s}", "body", "world"))
                               : end_at(w, robot->joints[link->above].parent, robot->joints[link->above].attach, rest);
    const bough_interface *face = &c->interfaces[interface_index];
    rest->t = bo_se3_apply(link->pose, bo_add(bo_load3(c->origin), bo_load3(face->centre)));
    return json_pack("{s:s, s:s}", "part", link->name, "interface", face->name);
}

/* ---- bodies ---- */

/* I + m (|d|^2 1 - d d^T) of each of two solids about their common centre. */
static void add_solid(bough_rigid_body_def *sum, const bough_rigid_body_def *link, bo_se3 g) {
    const double masses[] = {sum->mass, link->mass}, total = sum->mass + link->mass;
    const bo_vec3 centres[] = {bo_load3(sum->centre), bo_se3_apply(g, bo_load3(link->centre))};
    const bo_vec3 both =
        total > 0 ? bo_scale(1 / total, bo_add(bo_scale(masses[0], centres[0]), bo_scale(masses[1], centres[1])))
                  : centres[0];
    bo_mat3 I, own;
    memcpy(I.m, sum->inertia, sizeof I.m);
    memcpy(own.m, link->inertia, sizeof own.m);
    if (!is_identity(g.R))
        own = bo_sym(bo_mat_mul(g.R, bo_mat_mul(own, bo_transpose(g.R))));
    I = bo_mat_add(I, own);
    for (int k = 0; k < 2; k++) {
        const bo_mat3 d = bo_hat(bo_sub(centres[k], both));
        I = bo_mat_add(I, bo_mat_scale(-masses[k], bo_mat_mul(d, d)));
    }
    sum->mass = total;
    bo_store3(sum->centre, both);
    memcpy(sum->inertia, I.m, sizeof sum->inertia);
}

/* Shapes of the links that are welded together, those to be seen or those that collide; NULL: there are none. */
static bough_status list_shapes(const writer *w, int32_t head, bool collide, json_t **list) {
    const bo_robot *robot = w->robot;
    *list = NULL;
    for (int32_t i = 0; i < robot->shape_count; i++) {
        const bo_robot_shape *shape = &robot->shapes[i];
        const bo_robot_link *link = &robot->links[shape->link];
        if (link->head != head || shape->collides != collide)
            continue;
        if (!*list && !(*list = json_array()))
            return bo_fail_memory(robot->ctx);
        json_t *entry = json_copy(shape->form);
        const bo_se3 frame = bo_se3_mul(link->in_head, shape->frame);
        if (entry && (bo_norm(frame.t) > 0 || !is_identity(frame.R)))
            set_pose(entry, frame);
        BO_TRY(append(w, *list, entry));
    }
    return BOUGH_OK;
}

/* Shapes that collide are drawn where nothing else is, and touch where the scene says so. */
static bough_status add_shapes(const writer *w, int32_t head, json_t *body) {
    json_t *seen = NULL, *collide = NULL;
    bough_status status = list_shapes(w, head, false, &seen);
    if (status == BOUGH_OK)
        status = list_shapes(w, head, true, &collide);
    json_t *drawn = seen ? seen : collide;
    if (status == BOUGH_OK && ((drawn && json_object_set(body, "shape", drawn)) ||
                               (collide && w->robot->touch && json_object_set(body, "touch", collide))))
        status = bo_fail_memory(w->robot->ctx);
    json_decref(seen);
    json_decref(collide);
    return status;
}

/* In no solid is a principal moment larger than the sum of the others. Digits that a file leaves out may make it so by a
 * little: then it becomes the sum. */
static bough_status check_mass(const bo_robot *robot, const bo_robot_link *link, bough_rigid_body_def *body) {
    const double slack = 0.01;
    bo_vec3 values;
    bo_mat3 I, axes;
    if (!(body->mass > 0))
        return bo_xml_fail(robot->xml, link->at,
                           "\"%.60s\" has no mass, nor has anything that is welded to it; everything that moves needs "
                           "one above 0",
                           link->name);
    memcpy(I.m, body->inertia, sizeof I.m);
    bo_eigen3(I, &values, &axes);
    const double most = values.x + values.y;
    if (!(values.x > 1e-12 * values.z && values.z <= (1 + slack) * most))
        return bo_xml_fail(robot->xml, link->at,
                           "\"%.60s\" has the principal moments %.3g, %.3g and %.3g kg m^2; all must be above 0, and "
                           "none larger than the sum of the others",
                           link->name, values.x, values.y, values.z);
    if (values.z <= most)
        return BOUGH_OK;
    const bo_mat3 D = {{values.x, 0, 0, 0, values.y, 0, 0, 0, most}};
    I = bo_sym(bo_mat_mul(axes, bo_mat_mul(D, bo_transpose(axes))));
    memcpy(body->inertia, I.m, sizeof I.m);
    return BOUGH_OK;
}

/* A base that is held has any mass: none is told, one kilogram will do. */
static bough_status add_body(const writer *w, int32_t head) {
    const bo_robot *robot = w->robot;
    const bo_robot_link *link = &robot->links[head];
    bough_rigid_body_def sum = bough_default_rigid_body_def();
    const bough_rigid_body_def any = sum;
    sum.mass = 0;
    memset(sum.inertia, 0, sizeof sum.inertia);
    for (int32_t i = head; i < robot->link_count; i++)
        if (robot->links[i].head == head && robot->links[i].body.mass > 0)
            add_solid(&sum, &robot->links[i].body, robot->links[i].in_head);
    if (head == 0 && !robot->free_base && !(sum.mass > 0))
        sum = any;
    BO_TRY(check_mass(robot, link, &sum));
    const double *I = sum.inertia;
    json_t *entry = json_pack("{s:s}", "name", link->name);
    if (!entry)
        return bo_fail_memory(robot->ctx);
    set_pose(entry, link->pose);
    json_object_set_new(entry, "mass", json_real(sum.mass));
    json_object_set_new(entry, "centre", vector(bo_load3(sum.centre)));
    json_object_set_new(entry, "inertia", json_pack("[f,f,f,f,f,f]", I[0], I[4], I[8], I[5], I[2], I[1]));
    const bough_status status = add_shapes(w, head, entry);
    if (status != BOUGH_OK)
        json_decref(entry);
    return status == BOUGH_OK ? append(w, w->bodies, entry) : status;
}

static bough_status add_flexible(const writer *w, int32_t l) {
    static const char *const own[] = {"stiffness", "damping"};
    const bo_robot_link *link = &w->robot->links[l];
    const bo_scene_component *component = &w->r->assembly->components[link->component];
    bo_se3 rest;
    if (has_carrier(w->robot, link)) {
        json_t *carrier = json_pack("{s:o}", "name", carrier_name(link));
        set_pose(carrier, link->pose);
        BO_TRY(append(w, w->bodies, carrier));
    }
    json_t *clamp = end_at(w, l, -1, &rest);
    const bo_se3 frame = {link->pose.R, bo_se3_apply(link->pose, bo_load3(component->rigid->origin))};
    set_pose(clamp, bo_se3_mul(bo_se3_inverse(rest), frame));
    json_t *part = json_pack("{s:s, s:s, s:o}", "name", link->name, "component", component->name, "clamp", clamp);
    for (int k = 0; k < 2; k++)
        if (part && json_object_get(link->flexible, own[k]))
            json_object_set(part, own[k], json_object_get(link->flexible, own[k]));
    return append(w, w->parts, part);
}

static bough_status add_links(const writer *w) {
    const bo_robot *robot = w->robot;
    for (int32_t i = 0; i < robot->link_count; i++) {
        if (bends(&robot->links[i]))
            BO_TRY(add_flexible(w, i));
        else if (robot->links[i].head == i && !is_world(robot, i))
            BO_TRY(add_body(w, i));
    }
    return BOUGH_OK;
}

/* ---- joints ---- */

static void set_springs(const bo_robot *robot, const bo_robot_joint *joint, json_t *entry) {
    static const char *const keys[] = {"damping", "friction", "stiffness", "offset"};
    const double values[] = {joint->damping, joint->friction, joint->stiffness, joint->offset};
    for (int k = 0; k < 4; k++)
        if (values[k] != 0)
            json_object_set_new(entry, keys[k], json_real(values[k]));
    if (isinf(joint->lower) && isinf(joint->upper))
        return;
    json_object_set_new(entry, "limits", json_pack("[f,f]", joint->lower, joint->upper));
    if (!isnan(robot->limit_stiffness))
        json_object_set_new(entry, "limit_stiffness", json_real(robot->limit_stiffness));
}

/* "position" and "axis" in the world say where a joint is whose coordinates are 0 at the start; both ends of another one
 * have frames of their own. */
static void set_place(const writer *w, const bo_robot_joint *joint, json_t *entry, json_t *const ends[2],
                      const bo_se3 rests[2]) {
    const bo_robot_link *parent = &w->robot->links[joint->parent], *child = &w->robot->links[joint->child];
    const bo_se3 frame = {bo_turn_z_to(joint->axis), joint->anchor};
    const bo_se3 in_world = bo_se3_mul(child->pose, frame);
    if (joint->start != 0) {
        const bo_se3 both[2] = {bo_se3_mul(parent->pose, bo_se3_mul(joint->in_parent, frame)), in_world};
        for (int k = 0; k < 2; k++)
            set_pose(ends[k], bo_se3_mul(bo_se3_inverse(rests[k]), both[k]));
        return;
    }
    json_object_set_new(entry, "position", vector(in_world.t));
    if (joint->kind == BOUGH_JOINT_HINGE || joint->kind == BOUGH_JOINT_PRISMATIC)
        json_object_set_new(entry, "axis", vector(bo_mat_vec(child->pose.R, joint->axis)));
    else if (joint->kind == BOUGH_JOINT_PLANAR)
        json_object_set_new(entry, "rotate_deg", turn(in_world.R));
}

static bough_status add_joint(const writer *w, const bo_robot_joint *joint) {
    const bo_robot_link *parent = &w->robot->links[joint->parent], *child = &w->robot->links[joint->child];
    bo_se3 rests[2];
    if (joint->kind == BOUGH_JOINT_FREE || (joint->kind == BOUGH_JOINT_WELD && (bends(child) || !bends(parent))))
        return BOUGH_OK;
    json_t *const ends[2] = {end_at(w, joint->parent, joint->attach, &rests[0]),
                             end_at(w, joint->child, -1, &rests[1])};
    json_t *entry = json_pack("{s:s, s:s, s:o, s:o}", "name", joint->name, "kind", bough_joint_name(joint->kind),
                              "parent", ends[0], "child", ends[1]);
    if (!entry)
        return bo_fail_memory(w->robot->ctx);
    set_place(w, joint, entry, ends, rests);
    set_springs(w->robot, joint, entry);
    return append(w, w->joints, entry);
}

/* A base with something to be seen of it stands in the world. */
static bough_status hold_base(const writer *w) {
    const bo_robot *robot = w->robot;
    const bo_robot_link *base = &robot->links[0];
    if (robot->free_base || bends(base) || is_world(robot, 0))
        return BOUGH_OK;
    return append(w, w->joints,
                  json_pack("{s:o, s:s, s:s, s:s, s:o}", "name", json_sprintf("%s.stand", base->name), "kind", "weld",
                            "parent", "world", "child", base->name, "position", vector(base->pose.t)));
}

/* q = ratio q' + shift: q - ratio q' stays. */
static bough_status add_gears(const writer *w) {
    for (int32_t j = 0; j < w->robot->joint_count; j++) {
        const bo_robot_joint *joint = &w->robot->joints[j];
        if (joint->mimics >= 0)
            BO_TRY(append(w, w->gears,
                          json_pack("{s:s, s:[s,s], s:f}", "name", joint->name, "joints", joint->name,
                                    w->robot->joints[joint->mimics].name, "ratio", -joint->ratio)));
    }
    return BOUGH_OK;
}

/* ---- names of links that are part of another body ---- */

/* Forces and probes may name any link: they act at its frame. */
static void resolve(const writer *w, json_t *entry) {
    const char *name = json_string_value(json_object_get(entry, "body"));
    const int32_t l = name ? bo_robot_find_link(w->robot, name) : -1;
    if (l < 0 || bends(&w->robot->links[l]) || w->robot->links[l].head == l)
        return;
    const int32_t head = w->robot->links[l].head;
    json_object_set_new(entry, "body", json_string(is_world(w->robot, head) ? "world" : w->robot->links[head].name));
    if (!json_object_get(entry, "position"))
        json_object_set_new(entry, "position", vector(w->robot->links[l].pose.t));
}

static void resolve_names(const writer *w) {
    static const char *const keys[] = {"forces", "probes"};
    for (int k = 0; k < 2; k++) {
        json_t *list = json_object_get(w->r->root->value, keys[k]);
        for (size_t i = 0; i < json_array_size(list); i++)
            resolve(w, json_array_get(list, i));
    }
}

/* ---- all of it ---- */

/* A list of the scene; NULL: it has something else under this key, or memory is short. */
static json_t *list_of(json_t *root, const char *key) {
    json_t *list = json_object_get(root, key);
    if (!list && json_object_set_new(root, key, json_array()) == 0)
        list = json_object_get(root, key);
    return json_is_array(list) ? list : NULL;
}

bough_status bo_robot_write_entries(bo_robot *robot, const bo_multibody_reader *r) {
    static const char *const keys[] = {"bodies", "parts", "joints", "gears"};
    json_t *root = r->root->value, *lists[4];
    for (int k = 0; k < 4; k++)
        if (!(lists[k] = list_of(root, keys[k])))
            return bo_json_fail(bo_json_at(r->root, keys[k]), "must be a list");
    const writer w = {robot, r, lists[0], lists[1], lists[2], lists[3]};
    place_links(robot);
    BO_TRY(add_links(&w));
    BO_TRY(hold_base(&w));
    for (int32_t j = 0; j < robot->joint_count; j++)
        BO_TRY(add_joint(&w, &robot->joints[j]));
    BO_TRY(add_gears(&w));
    resolve_names(&w);
    if (robot->has_gravity && !bo_json_has(r->root, "gravity")) {
        json_object_set_new(root, "gravity", vector(bo_load3(robot->gravity)));
        memcpy(r->scene->gravity, robot->gravity, sizeof robot->gravity);
    }
    return BOUGH_OK;
}
