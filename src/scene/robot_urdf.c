/* URDF -> a robot of a multibody scene: links and joints as they are, with shapes and joints that mimic others. */
#include "scene/robot.h"

#include "base/pose.h"

#include <string.h>

/* Places of links among those of the robot, whose parents come first: *number of each. */
static bough_status take_links(bo_robot *robot, const bo_urdf *u, int32_t *number) {
    for (int32_t k = 0; k < u->link_count; k++) {
        const bo_urdf_link *from = &u->links[u->order[k]];
        int32_t index;
        BO_TRY(bo_robot_add_link(robot, from->at, from->body.name, &index));
        bough_rigid_body_def *body = &robot->links[index].body;
        body->mass = from->body.mass;
        memcpy(body->centre, from->body.centre, sizeof body->centre);
        memcpy(body->inertia, from->body.inertia, sizeof body->inertia);
        number[u->order[k]] = index;
    }
    return BOUGH_OK;
}

/* <mimic joint="..." multiplier="1" offset="0"/>; numbers of joints are those of the URDF. */
static bough_status take_mimic(const bo_urdf *u, const bo_urdf_joint *from, bo_robot_joint *joint) {
    const char *name;
    joint->ratio = 1;
    BO_TRY(bo_xml_must(&u->xml, from->mimic, "joint", &name));
    BO_TRY(bo_xml_numbers(&u->xml, from->mimic, "multiplier", 1, &joint->ratio));
    BO_TRY(bo_xml_numbers(&u->xml, from->mimic, "offset", 1, &joint->shift));
    joint->mimics = bo_names_find(u->joint_names, u->joint_count, name);
    return joint->mimics >= 0 ? BOUGH_OK
                              : bo_xml_fail(&u->xml, from->mimic, "there is no joint \"%.60s\" to mimic", name);
}

static bough_status take_joints(bo_robot *robot, const bo_urdf *u, const int32_t *number) {
    for (int32_t j = 0; j < u->joint_count; j++) {
        const bo_urdf_joint *from = &u->joints[j];
        BO_TRY(bo_robot_add_joint(robot, from->at, from->def.name, NULL));
        bo_robot_joint *joint = &robot->joints[j];
        joint->kind = from->def.kind;
        joint->parent = number[from->parent], joint->child = number[from->child];
        joint->in_parent = from->origin;
        joint->damping = from->def.damping[0], joint->friction = from->def.friction[0];
        robot->links[joint->child].above = j;
        if (joint->kind == BOUGH_JOINT_HINGE || joint->kind == BOUGH_JOINT_PRISMATIC)
            joint->lower = from->def.lower[0], joint->upper = from->def.upper[0];
        if (joint->kind != BOUGH_JOINT_WELD && joint->kind != BOUGH_JOINT_FREE)
            joint->axis = from->axis;
        if (from->mimic)
            BO_TRY(take_mimic(u, from, joint));
    }
    return BOUGH_OK;
}

/* ---- shapes ---- */

static json_t *form_of(const bough_urdf_shape *from) {
    const double *s = from->size;
    switch (from->kind) {
    case BOUGH_URDF_BOX:
        return json_pack("{s:[f,f,f]}", "box", s[0], s[1], s[2]);
    case BOUGH_URDF_CYLINDER:
        return json_pack("{s:[f,f]}", "cylinder", s[0], s[1]);
    case BOUGH_URDF_CAPSULE:
        return json_pack("{s:[f,f]}", "capsule", s[0], s[1]);
    case BOUGH_URDF_SPHERE:
        return json_pack("{s:f}", "sphere", s[0]);
    case BOUGH_URDF_MESH:
        break;
    }
    return NULL;
}

/* package://NAME/meshes/arm.stl is looked for beside the URDF. */
static const char *name_in_package(const char *name) {
    static const char package[] = "package://";
    if (strncmp(name, package, sizeof package - 1) != 0)
        return name;
    const char *slash = strchr(name + sizeof package - 1, '/');
    return slash ? slash + 1 : name;
}

static bough_status take_shape(bo_robot *robot, const char *path, const bo_xml_element *at,
                               const bough_urdf_shape *from) {
    json_t *form = NULL;
    if (from->kind == BOUGH_URDF_MESH) {
        BO_TRY(bo_robot_mesh(robot, at, NULL, name_in_package(from->mesh), from->size, path, &form));
        if (!form)
            return BOUGH_OK;
    } else if (!(form = form_of(from)))
        return bo_fail_memory(robot->ctx);
    const double *c = from->colour;
    if (c[3] >= 0 && c[0] >= 0 && c[1] >= 0 && c[2] >= 0)
        json_object_set_new(form, "colour", json_pack("[f,f,f]", c[0], c[1], c[2]));
    return bo_robot_add_shape(robot, from->link, bo_pose(&from->frame), from->collision, form);
}

/* The reader of shapes counts links by `index` of heads: here every link is its own. */
static bough_status take_shapes(bo_robot *robot, const char *path, bo_urdf *u, const int32_t *number) {
    bough_urdf *shown = BO_NEW(robot->ctx, bough_urdf);
    if (!shown)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < u->link_count; i++)
        u->links[i].head = i, u->links[i].index = number[i], u->links[i].in_head = bo_se3_identity();
    bough_status status = bo_urdf_shapes(robot->ctx, u, shown);
    for (int32_t i = 0; i < shown->shape_count && status == BOUGH_OK; i++)
        status = take_shape(robot, path, robot->links[shown->shapes[i].link].at, &shown->shapes[i]);
    bough_urdf_destroy(robot->ctx, shown);
    return status;
}

bough_status bo_robot_from_urdf(bo_robot *robot, const char *path, bo_urdf *u) {
    u->multibody = true;
    robot->xml = &u->xml;
    BO_TRY(bo_urdf_read(robot->ctx, path, u));
    int32_t *number = BO_NEW_ZEROS(robot->ctx, int32_t, u->link_count);
    bough_status status = number ? take_links(robot, u, number) : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK)
        status = take_joints(robot, u, number);
    if (status == BOUGH_OK)
        status = take_shapes(robot, path, u, number);
    bo_free(robot->ctx, number);
    return status;
}
