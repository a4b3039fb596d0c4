/* "robot" of multibody scenes: which file, which of its links bend, and where it begins. */
#include "scene/robot.h"

#include "base/file.h"
#include "rig/joint.h"
#include "scene/entries.h"
#include "scene/scene.h"

#include <string.h>

#define MASS_SLACK 0.1 /* beyond this relative difference of masses a link that bends gives a warning */
#define NEAR 0.1       /* of a link's reach: how far beyond an interface's own size a joint may be from it */

typedef struct {
    const bo_multibody_reader *r;
    bo_robot *robot;
} reader;

/* ---- links that bend ---- */

static bo_vec3 centre_in_mesh(const bough_component *c, int32_t i) {
    return bo_add(bo_load3(c->origin), bo_load3(c->interfaces[i].centre));
}

/* The interface that is named for a joint, or the nearest to it; -1: the one by which the component hangs. */
static bough_status attach(const reader *s, bo_json at, bo_json named, const bo_robot_link *link,
                           bo_robot_joint *joint) {
    const bough_component *c = s->r->assembly->components[link->component].rigid;
    const bo_vec3 place = bo_se3_apply(joint->in_parent, joint->anchor);
    double least = INFINITY, reach = 0;
    int32_t best = -1;
    if (named.value)
        BO_TRY(bo_json_choose(named, &c->interfaces->name, sizeof *c->interfaces, c->interface_count, &best));
    for (int32_t i = 0; !named.value && i < c->interface_count; i++) {
        const double distance = bo_norm(bo_sub(place, centre_in_mesh(c, i)));
        reach = fmax(reach, bo_norm(bo_load3(c->interfaces[i].centre)));
        if (distance < least)
            least = distance, best = i;
    }
    if (!named.value && least > c->interfaces[best].radius + NEAR * reach)
        return bo_json_fail(at,
                            "joint \"%.60s\" is %.3g m from the nearest interface, \"%.60s\"; give the component one "
                            "where the joint is, or say {\"component\": ..., \"interfaces\": {\"%.60s\": ...}}",
                            joint->name, least, c->interfaces[best].name, joint->name);
    joint->attach = best == c->parent ? -1 : best;
    return BOUGH_OK;
}

static void compare_masses(const reader *s, const bo_robot_link *link, const bo_scene_component *component) {
    const double told = link->body.mass, mass = component->rigid->mass;
    if (told > 0 && !(fabs(mass - told) <= MASS_SLACK * told))
        bo_xml_warn(s->robot->xml, link->at,
                    "link \"%.60s\" has %.4g kg here, and the mesh of \"%.60s\", which stands for it, %.4g kg; the "
                    "mesh counts",
                    link->name, told, component->name, mass);
}

/* The interface by which it hangs should be where its frame, and thus the joint to its parent, is. */
static void look_at_base(const reader *s, const bo_robot_link *link, const bough_component *c) {
    const double away = bo_norm(bo_load3(c->origin));
    double reach = 0;
    for (int32_t i = 0; i < c->interface_count; i++)
        reach = fmax(reach, bo_norm(bo_load3(c->interfaces[i].centre)));
    if (away > c->interfaces[c->parent].radius + NEAR * reach)
        bo_xml_warn(s->robot->xml, link->at,
                    "link \"%.60s\" bends, and the interface by which its mesh hangs is %.3g m from its frame",
                    link->name, away);
}

static bough_status read_flexible(bo_json at, void *data) {
    const reader *s = data;
    bo_robot *robot = s->robot;
    const bo_assembly *a = s->r->assembly;
    const int32_t l = bo_robot_find_link(robot, at.key);
    bo_json component = json_is_string(at.value) ? at : bo_json_must(&at, "component");
    if (l < 0)
        return bo_json_fail(at, "the robot has no link \"%.60s\"", at.key);
    if (!json_is_string(at.value))
        BO_TRY(bo_json_keys(at, BO_FLEXIBLE_LINK_KEYS));
    if (a->component_count == 0)
        return bo_json_fail(at, "the scene has no \"components\"");
    bo_robot_link *link = &robot->links[l];
    BO_TRY(
        bo_json_choose(component, &a->components->name, sizeof *a->components, a->component_count, &link->component));
    const bo_scene_component *c = &a->components[link->component];
    if (c->rigid->support != BOUGH_SUPPORT_INTERFACE)
        return bo_json_fail(component,
                            "\"%.60s\" hangs by no interface; give it an interface \"base\" where the link's "
                            "frame is",
                            c->name);
    link->flexible = at.value;
    compare_masses(s, link, c);
    look_at_base(s, link, c->rigid);
    bo_json interfaces = bo_json_at(&at, "interfaces");
    const char *key;
    json_t *ignored;
    json_object_foreach(interfaces.value, key, ignored) {
        const int32_t j = bo_robot_find_joint(robot, key);
        if (j < 0 || robot->joints[j].parent != l)
            return bo_json_fail(bo_json_at(&interfaces, key), "the link carries no joint \"%.60s\"", key);
    }
    for (int32_t j = 0; j < robot->joint_count; j++)
        if (robot->joints[j].parent == l && robot->joints[j].kind != BOUGH_JOINT_FREE)
            BO_TRY(attach(s, at, bo_json_at(&interfaces, robot->joints[j].name), link, &robot->joints[j]));
    return BOUGH_OK;
}

/* ---- where it begins ---- */

static bough_status read_place(bo_json at, const reader *s, double unit) {
    const int32_t j = bo_robot_find_joint(s->robot, at.key);
    double value = 0;
    if (j < 0)
        return bo_json_fail(at, "the robot has no joint \"%.60s\"", at.key);
    bo_robot_joint *joint = &s->robot->joints[j];
    const bool hinge = joint->kind == BOUGH_JOINT_HINGE;
    if (joint->mimics >= 0)
        return bo_json_fail(at, "the joint follows \"%.60s\"; say where that begins",
                            s->robot->joints[joint->mimics].name);
    if (!hinge && joint->kind != BOUGH_JOINT_PRISMATIC)
        return bo_json_fail(at, "is for joints that turn or slide along one axis; this one is %s",
                            bough_joint_name(joint->kind));
    if (!hinge && unit != 1)
        return bo_json_fail(at, "the joint slides; its \"start\" is in metres");
    BO_TRY(bo_json_number(at, BO_ANY, &value));
    joint->start = unit * value;
    if (joint->start < joint->lower - 1e-9 || joint->start > joint->upper + 1e-9)
        return bo_json_fail(at, "is beyond the limits of the joint, %g to %g", joint->lower / unit,
                            joint->upper / unit);
    if (hinge && fabs(joint->start) > M_PI)
        return bo_json_fail(at, "must be within half a turn");
    return BOUGH_OK;
}

static bough_status read_start(bo_json at, void *data) {
    return read_place(at, data, 1);
}

static bough_status read_start_degrees(bo_json at, void *data) {
    return read_place(at, data, M_PI / 180);
}

/* Joints that mimic others begin where these tell them to. */
static bough_status start_mimics(const bo_robot *robot) {
    for (int32_t j = 0; j < robot->joint_count; j++) {
        bo_robot_joint *joint = &robot->joints[j];
        if (joint->mimics < 0)
            continue;
        const bo_robot_joint *other = &robot->joints[joint->mimics];
        const bool both[2] = {joint->kind == BOUGH_JOINT_HINGE || joint->kind == BOUGH_JOINT_PRISMATIC,
                              other->kind == BOUGH_JOINT_HINGE || other->kind == BOUGH_JOINT_PRISMATIC};
        if (!both[0] || !both[1] || joint->mimics == j)
            return bo_xml_fail(robot->xml, joint->at,
                               "joint \"%.60s\" cannot mimic \"%.60s\"; both must turn or slide about one axis",
                               joint->name, other->name);
        if (other->mimics >= 0)
            return bo_xml_refuse(robot->xml, joint->at,
                                 "joint \"%.60s\" mimics \"%.60s\", which mimics another; let it mimic that",
                                 joint->name, other->name);
        if (joint->ratio == 0)
            return bo_xml_fail(robot->xml, joint->at, "joint \"%.60s\" mimics another 0 times; make it fixed",
                               joint->name);
        joint->start = joint->ratio * other->start + joint->shift;
    }
    return BOUGH_OK;
}

/* ---- the block ---- */

static bough_status read_block(bo_json at, const reader *s) {
    bo_robot *robot = s->robot;
    robot->stands = bo_se3_identity();
    robot->limit_stiffness = NAN;
    BO_TRY(bo_scene_pose(&at, &robot->stands));
    BO_TRY(bo_json_flag(bo_json_at(&at, "free_base"), &robot->free_base));
    BO_TRY(bo_json_flag(bo_json_at(&at, "touch"), &robot->touch));
    BO_TRY(bo_json_number(bo_json_at(&at, "limit_stiffness"), BO_NOT_NEGATIVE, &robot->limit_stiffness));
    BO_TRY(bo_json_named(bo_json_at(&at, "start"), "joints", read_start, (void *)s));
    BO_TRY(bo_json_named(bo_json_at(&at, "start_deg"), "joints", read_start_degrees, (void *)s));
    BO_TRY(start_mimics(robot));
    return bo_json_named(bo_json_at(&at, "flexible"), "links", read_flexible, (void *)s);
}

static bough_status hash_file(bough_context *ctx, const char *path, uint64_t *hash) {
    bo_file file;
    BO_TRY(bo_file_read(ctx, path, &file));
    *hash = bo_hash_bytes(*hash, file.data, file.size);
    bo_file_free(ctx, &file);
    return BOUGH_OK;
}

/* A failure in the robot's file names that; a scene says where it names it. */
static bough_status load_file(bo_json at, const char *path, bool urdf, bo_urdf *u, bo_xml *xml, bo_robot *robot) {
    const bough_status status = urdf ? bo_robot_from_urdf(robot, path, u) : bo_robot_from_mjcf(robot, path, xml);
    const bo_json *root = at.parent->parent;
    return root->text ? bo_json_explain(at, status) : status;
}

static bough_status expand(const bo_multibody_reader *r, bo_json at, bo_json named, const char *path) {
    const bool urdf = strcmp(named.key, "urdf") == 0;
    bo_robot robot = {.ctx = at.ctx, .beside = json_string_value(named.value)};
    const reader s = {r, &robot};
    bo_urdf u = {0};
    bo_xml xml = {0};
    bough_status status = load_file(named, path, urdf, &u, &xml, &robot);
    if (status == BOUGH_OK)
        status = hash_file(at.ctx, path, &r->scene->hash);
    if (status == BOUGH_OK)
        status = read_block(at, &s);
    if (status == BOUGH_OK)
        status = bo_robot_write_entries(&robot, r);
    bo_robot_free(&robot);
    bo_urdf_free(at.ctx, &u);
    bo_xml_free(&xml);
    return status;
}

bough_status bo_robot_expand(const bo_multibody_reader *r) {
    const bo_json at = bo_json_at(r->root, "robot"), urdf = bo_json_at(&at, "urdf"), mjcf = bo_json_at(&at, "mjcf");
    const bo_json named = urdf.value ? urdf : mjcf;
    const char *name = NULL;
    if (!at.value)
        return BOUGH_OK;
    BO_TRY(bo_json_keys(at, BO_ROBOT_KEYS));
    if (!urdf.value == !mjcf.value)
        return bo_json_fail(at, "needs a \"urdf\" or an \"mjcf\", one of them");
    BO_TRY(bo_json_string(named, &name));
    char *path = bo_path_beside(at.ctx, at.file, name);
    if (!path)
        return BOUGH_ERROR_MEMORY;
    const bough_status status = expand(r, at, named, path);
    bo_free(at.ctx, path);
    return status;
}
