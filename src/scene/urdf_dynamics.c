/* The file beside a URDF with what that cannot say: springs of the joints, where they stand, end effectors. */
#include "scene/urdf.h"

#include "scene/json.h"

#include <string.h>

#define RADIANS (3.14159265358979323846 / 180)

/* NAME in metres or radians, or NAME_deg of a hinge. */
static bough_status read_place(bo_json at, const bo_urdf_joint *joint, const char *name, const char *in_degrees,
                               double *value) {
    if (!bo_json_has(&at, in_degrees))
        return bo_json_number(bo_json_at(&at, name), BO_ANY, value);
    if (joint->def.kind != BOUGH_JOINT_HINGE)
        return bo_json_fail(bo_json_at(&at, in_degrees), "the joint is prismatic; its \"%s\" is in metres", name);
    if (bo_json_has(&at, name))
        return bo_json_fail(at, "\"%s\" and \"%s\" say the same; one of them is enough", name, in_degrees);
    BO_TRY(bo_json_number(bo_json_at(&at, in_degrees), BO_ANY, value));
    *value *= RADIANS;
    return BOUGH_OK;
}

static bool is_fixed(const bo_urdf_joint *joint) {
    return joint->def.kind == BOUGH_JOINT_WELD || joint->def.kind == BOUGH_JOINT_COMPLIANT;
}

/* A fixed joint is rigid until it is given six stiffnesses: along and about x, y, z of the child. */
static bough_status soften_weld(bo_json at, bo_urdf_joint *joint) {
    BO_TRY(bo_json_keys(at, "stiffness", "damping"));
    BO_TRY(bo_json_numbers(bo_json_must(&at, "stiffness"), 6, BO_POSITIVE, joint->def.stiffness));
    BO_TRY(bo_json_numbers(bo_json_at(&at, "damping"), 6, BO_NOT_NEGATIVE, joint->def.damping));
    joint->has_stiffness = true, joint->def.kind = BOUGH_JOINT_COMPLIANT;
    return BOUGH_OK;
}

static bough_status read_spring(bo_json at, bo_urdf_joint *joint) {
    joint->has_stiffness = joint->has_stiffness || bo_json_has(&at, "stiffness");
    BO_TRY(bo_json_number(bo_json_at(&at, "stiffness"), BO_POSITIVE, &joint->def.stiffness[0]));
    BO_TRY(bo_json_number(bo_json_at(&at, "damping"), BO_NOT_NEGATIVE, &joint->def.damping[0]));
    return bo_json_number(bo_json_at(&at, "limit_stiffness"), BO_NOT_NEGATIVE, &joint->def.limit_stiffness);
}

static bough_status read_joint(bo_json at, bo_urdf_joint *joint) {
    if (is_fixed(joint))
        return soften_weld(at, joint);
    BO_TRY(bo_json_keys(at, "stiffness", "damping", "limit_stiffness", "offset", "offset_deg", "position",
                        "position_deg"));
    BO_TRY(read_spring(at, joint));
    BO_TRY(read_place(at, joint, "offset", "offset_deg", &joint->def.offset[0]));
    return read_place(at, joint, "position", "position_deg", &joint->position);
}

/* Damping that URDF gives goes over the default, what the side file says about the joint over both. */
static bough_status read_defaults(bo_json at, bo_urdf *u) {
    BO_TRY(bo_json_keys(at, "stiffness", "damping", "limit_stiffness"));
    for (int32_t j = 0; j < u->joint_count && at.value; j++) {
        bo_urdf_joint *joint = &u->joints[j];
        const double damping = joint->def.damping[0];
        if (is_fixed(joint))
            continue;
        BO_TRY(read_spring(at, joint));
        if (bo_xml_get(&u->xml, bo_xml_child(&u->xml, joint->at, "dynamics"), "damping"))
            joint->def.damping[0] = damping;
    }
    return BOUGH_OK;
}

static bough_status fail_name(bo_json at, const char *what, const bo_name *names, int32_t count, const char *name) {
    const char **words = BO_NEW_ARRAY(at.ctx, const char *, count);
    if (!words)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < count; i++)
        words[i] = names[i].name;
    const bough_status status = bo_json_fail_word(at, what, name, words, count);
    bo_free(at.ctx, words);
    return status;
}

static bough_status read_joints(bo_json at, bo_urdf *u) {
    if (at.value && !json_is_object(at.value))
        return bo_json_keys(at, "NAME"); /* which has the sentence */
    const char *name;
    json_t *value;
    json_object_foreach(at.value, name, value) {
        const int32_t j = bo_names_find(u->joint_names, u->joint_count, name);
        if (j < 0)
            return fail_name(at, "joint ", u->joint_names, u->joint_count, name);
        BO_TRY(read_joint(bo_json_at(&at, name), &u->joints[j]));
    }
    return BOUGH_OK;
}

static bough_status read_end_effectors(bo_json at, bo_urdf *u) {
    BO_TRY(bo_json_list(at, &u->end_effector_count));
    u->end_effectors = BO_NEW_ARRAY(at.ctx, int32_t, u->end_effector_count);
    if (!u->end_effectors)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < u->end_effector_count; i++) {
        const bo_json item = bo_json_item(&at, i);
        const char *name = NULL;
        BO_TRY(bo_json_string(item, &name));
        u->end_effectors[i] = bo_names_find(u->link_names, u->link_count, name);
        if (u->end_effectors[i] < 0)
            return fail_name(item, "link ", u->link_names, u->link_count, name);
    }
    return BOUGH_OK;
}

static bough_status read_root(bo_json root, bo_urdf *u) {
    int32_t version = 1;
    BO_TRY(bo_json_keys(root, "bough", "default", "joints", "free_base", "end_effectors", "comment"));
    BO_TRY(bo_json_integer(bo_json_must(&root, "bough"), 1, 1, &version));
    BO_TRY(bo_json_flag(bo_json_at(&root, "free_base"), &u->free_base));
    const bo_json defaults = bo_json_at(&root, "default");
    BO_TRY(read_defaults(defaults, u));
    BO_TRY(read_joints(bo_json_at(&root, "joints"), u));
    return read_end_effectors(bo_json_at(&root, "end_effectors"), u);
}

bough_status bo_urdf_dynamics(bough_context *ctx, const char *path, bo_urdf *u) {
    if (path) {
        bo_json root;
        BO_TRY(bo_json_load(ctx, path, &root));
        const bough_status status = read_root(root, u);
        bo_json_free(&root);
        BO_TRY(status);
    }
    for (int32_t j = 0; j < u->joint_count; j++)
        if (u->joints[j].def.kind != BOUGH_JOINT_WELD && !u->joints[j].has_stiffness)
            return bo_xml_fail(
                &u->xml, u->joints[j].at,
                "joint \"%.60s\" has no stiffness, for which URDF has no word; give it in a side file "
                "beside it (ROBOT.dynamics.json, or --dynamics FILE.json): {\"bough\": 1, \"joints\": "
                "{\"%.60s\": {\"stiffness\": 100}}}, "
                "or for all joints {\"bough\": 1, \"default\": {\"stiffness\": 100}}. A robot whose joints move "
                "freely is a multibody system: bough robot",
                u->joints[j].def.name, u->joints[j].def.name);
    return BOUGH_OK;
}
