/* "parts": what a scene is put together from. */
#include "scene/assembly.h"

#include "rig/joint.h"
#include "scene/entries.h"

#include <string.h>

/* ---- one part ---- */

bo_mat3 bo_turn_degrees(const double degrees[3]) {
    bo_mat3 R = bo_identity3();
    for (int d = 0; d < 3; d++) {
        bo_vec3 w = {0, 0, 0};
        (d == 0 ? &w.x : d == 1 ? &w.y : &w.z)[0] = degrees[d] * M_PI / 180;
        R = bo_mat_mul(bo_exp3(w), R); /* about x, then y, then z */
    }
    return R;
}

static bough_status read_damping(bo_json at, bo_part *part) {
    BO_TRY(bo_json_keys(at, BO_DAMPING_KEYS));
    part->has_damping = at.value != NULL;
    BO_TRY(bo_json_number(bo_json_at(&at, "mass"), BO_NOT_NEGATIVE, &part->damping_mass));
    return bo_json_number(bo_json_at(&at, "stiffness"), BO_NOT_NEGATIVE, &part->damping_stiffness);
}

/* About its axis for a hinge; for a ball the rotation vector. */
static bough_status read_angle(bo_json at, bough_joint_def *joint) {
    double degrees[3] = {0};
    BO_TRY(joint->kind == BOUGH_JOINT_HINGE ? bo_json_number(at, BO_ANY, degrees) : bo_json_vec3(at, BO_ANY, degrees));
    for (int d = 0; d < 3; d++)
        joint->start[d] = degrees[d] * M_PI / 180;
    return BOUGH_OK;
}

/* *made: the part's own; NULL: it is welded. */
static bough_status read_joint(bo_json at, bough_joint_def **made) {
    static const char *const kinds[] = {"hinge", "ball"};
    bo_json axis = bo_json_must(&at, "axis");
    int32_t kind = 0;
    double direction[3] = {0}, stiffness = 0, damping = 0;
    BO_TRY(bo_json_keys(at, BO_JOINT_KEYS));
    if (!at.value)
        return BOUGH_OK;
    bough_joint_def *joint = *made = BO_NEW(at.ctx, bough_joint_def);
    if (!joint)
        return BOUGH_ERROR_MEMORY;
    *joint = bough_default_joint_def();
    BO_TRY(bo_json_choice(bo_json_must(&at, "kind"), kinds, 2, &kind));
    joint->kind = kind == 0 ? BOUGH_JOINT_HINGE : BOUGH_JOINT_BALL;
    if (joint->kind == BOUGH_JOINT_BALL && axis.value)
        return bo_json_fail(axis, "is for a \"hinge\"; a \"ball\" turns about all axes");
    if (joint->kind == BOUGH_JOINT_HINGE) {
        BO_TRY(bo_json_vec3(axis, BO_ANY, direction));
        if (!(bo_norm(bo_load3(direction)) > 0))
            return bo_json_fail(axis, "must have a direction");
        joint->child.pose = bo_put_pose((bo_se3){bo_axes_about(bo_load3(direction)), {0, 0, 0}});
    }
    BO_TRY(bo_json_number(bo_json_at(&at, "stiffness"), BO_NOT_NEGATIVE, &stiffness));
    BO_TRY(bo_json_number(bo_json_at(&at, "damping"), BO_NOT_NEGATIVE, &damping));
    bo_set_springs(joint->stiffness, stiffness, stiffness);
    bo_set_springs(joint->damping, damping, damping);
    return read_angle(bo_json_at(&at, "angle_deg"), joint);
}

/* Keys that say how a part hangs belong to parts that do, and those of roots to roots. */
static bough_status check_role(bo_json at, const bo_part *part) {
    static const char *const of_roots[] = {"position",         "fix",    "track", "velocity",
                                           "angular_velocity", "absent", "flies"};
    static const char *const of_keys[] = {"position", "rotate_deg"};
    static const char *const of_hanging[] = {"offset", "joint"};
    for (size_t i = 0; i < sizeof of_roots / sizeof *of_roots; i++)
        if (part->parent >= 0 && bo_json_has(&at, of_roots[i]))
            return bo_json_fail(bo_json_at(&at, of_roots[i]), "is for roots, but this part hangs at \"parent\"");
    for (int i = 0; i < 2; i++)
        if (bo_json_has(&at, "track") && bo_json_has(&at, of_keys[i]))
            return bo_json_fail(bo_json_at(&at, of_keys[i]), "is for the keys of the \"track\", which moves this part");
    for (int i = 0; i < 2; i++)
        if (part->parent < 0 && bo_json_has(&at, of_hanging[i]))
            return bo_json_fail(bo_json_at(&at, of_hanging[i]),
                                "is for parts that hang at a \"parent\", and this one has none");
    if (part->parent < 0 && bo_json_has(&at, "interface"))
        return bo_json_fail(bo_json_at(&at, "interface"), "is one of the parent's, but \"parent\" is missing");
    return BOUGH_OK;
}

static bough_status read_part(bo_json at, json_t *components, json_t *names, bo_part *part) {
    double degrees[3] = {0};
    const char *ignored;
    part->component = part->parent = part->interface_index = -1;
    part->scale = part->stiffness = 1;
    part->damping_ratio = NAN;
    BO_TRY(bo_json_find_name(bo_json_must(&at, "component"), "component ", components, &part->component));
    BO_TRY(bo_json_find_name(bo_json_at(&at, "parent"), "part ", names, &part->parent));
    BO_TRY(check_role(at, part));
    BO_TRY(bo_json_string(bo_json_at(&at, "interface"), &ignored));
    BO_TRY(bo_json_string(bo_json_at(&at, "fix"), &ignored));
    BO_TRY(bo_json_vec3(bo_json_at(&at, "rotate_deg"), BO_ANY, degrees));
    BO_TRY(bo_json_number(bo_json_at(&at, "scale"), (bo_range){1e-6, 1e6, false}, &part->scale));
    BO_TRY(bo_json_vec3(bo_json_at(&at, "position"), BO_ANY, part->position));
    BO_TRY(bo_json_number(bo_json_at(&at, "stiffness"), BO_POSITIVE, &part->stiffness));
    BO_TRY(bo_json_vec3(bo_json_at(&at, "velocity"), BO_ANY, part->velocity));
    BO_TRY(bo_json_vec3(bo_json_at(&at, "angular_velocity"), BO_ANY, part->angular_velocity));
    BO_TRY(bo_json_number(bo_json_at(&at, "damping_ratio"), BO_NOT_NEGATIVE, &part->damping_ratio));
    BO_TRY(bo_json_flag(bo_json_at(&at, "absent"), &part->absent));
    BO_TRY(bo_json_flag(bo_json_at(&at, "flies"), &part->flies));
    BO_TRY(bo_json_flag(bo_json_at(&at, "locked"), &part->locked));
    BO_TRY(bo_json_vec3(bo_json_at(&at, "offset"), BO_ANY, part->offset));
    BO_TRY(read_joint(bo_json_at(&at, "joint"), &part->joint));
    part->rotation = bo_turn_degrees(degrees);
    BO_TRY(bo_track_read(bo_json_at(&at, "track"), &part->track));
    if (part->track.count > 0) { /* it begins there */
        const double *q = part->track.rotation;
        memcpy(part->position, part->track.position, sizeof part->position);
        part->rotation = bo_quat_to_matrix((bo_quat){q[0], q[1], q[2], q[3]});
    }
    return read_damping(bo_json_at(&at, "damping"), part);
}

/* ---- all of them ---- */

static bough_status fail_loop(bo_json at, const bo_assembly *assembly, int32_t in_loop) {
    char text[300];
    size_t used = 0;
    int32_t p = in_loop;
    do {
        p = assembly->parts[p].parent;
        if (used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, " -> \"%.40s\"", assembly->parts[p].name);
    } while (p != in_loop);
    bo_json item = bo_json_item(&at, in_loop);
    return bo_json_fail(bo_json_at(&item, "parent"), "parts hang in a loop: \"%.40s\"%s", assembly->parts[in_loop].name,
                        text);
}

/* Follows parents from each part until something known to end at a root; meeting the same walk again is a loop. */
static bough_status check_tree(bo_json at, const bo_assembly *assembly) {
    int32_t count = assembly->part_count;
    int32_t *walk = BO_NEW_ZEROS(at.ctx, int32_t, count); /* number of the walk that came by, from 1 */
    bough_status status = walk ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (int32_t start = 0; start < count && status == BOUGH_OK; start++) {
        int32_t p = start;
        while (p >= 0 && walk[p] == 0) {
            walk[p] = start + 1;
            p = assembly->parts[p].parent;
        }
        if (p >= 0 && walk[p] == start + 1)
            status = fail_loop(at, assembly, p);
    }
    bo_free(at.ctx, walk);
    return status;
}

static bough_status read_all(bo_json at, bo_assembly *assembly, json_t *components, json_t *names) {
    if (!components || !names)
        return bo_fail_memory(at.ctx);
    for (int32_t c = 0; c < assembly->component_count; c++)
        if (json_object_set_new(components, assembly->components[c].name, json_integer(c)))
            return bo_fail_memory(at.ctx);
    for (int32_t p = 0; p < assembly->part_count; p++) {
        bo_json item = bo_json_item(&at, p);
        BO_TRY(bo_json_keys(item, BO_PART_KEYS));
        BO_TRY(bo_json_add_name(bo_json_must(&item, "name"), "part", names, p, &assembly->parts[p].name));
    }
    for (int32_t p = 0; p < assembly->part_count; p++)
        BO_TRY(read_part(bo_json_item(&at, p), components, names, &assembly->parts[p]));
    return check_tree(at, assembly);
}

bough_status bo_parts_read(bo_json at, bo_assembly *assembly) {
    int32_t count;
    BO_TRY(bo_json_list(at, &count));
    assembly->parts = BO_NEW_ZEROS(at.ctx, bo_part, count);
    if (!assembly->parts)
        return BOUGH_ERROR_MEMORY;
    assembly->part_count = count;
    json_t *components = json_object(), *names = json_object();
    bough_status status = read_all(at, assembly, components, names);
    json_decref(components);
    json_decref(names);
    return status;
}

/* ---- interfaces ---- */

bough_status bo_choose_interface(bo_json at, const bo_scene_component *component, int32_t *index) {
    const bough_component *rigid = component->rigid;
    if (rigid->interface_count == 0)
        return bo_json_fail(at, "the component \"%.60s\" has no interfaces", component->name);
    return bo_json_choose(at, &rigid->interfaces->name, sizeof *rigid->interfaces, rigid->interface_count, index);
}

/* The interface to which something can be attached, when there is one only. */
static bough_status only_interface(bo_json part, const bo_scene_component *component, int32_t *index) {
    int32_t count = 0;
    for (int32_t i = 0; i < component->rigid->interface_count; i++)
        if (i != component->rigid->parent) {
            *index = i;
            count++;
        }
    if (count == 1)
        return BOUGH_OK;
    return bo_json_fail(part,
                        count ? "\"interface\" is missing: the parent's component \"%.60s\" has %d to choose from"
                              : "nothing can be attached to its parent: the component \"%.60s\" has %d interfaces "
                                "that are free",
                        component->name, count);
}

bough_status bo_part_interface(bo_json at, bo_json entry, const bo_scene_component *component, int32_t *index) {
    if (!at.value)
        return only_interface(entry, component, index);
    if (component->rigid->interface_count == 0)
        return only_interface(at, component, index);
    return bo_choose_interface(at, component, index);
}

static bough_status attach(bo_json at, const bo_assembly *assembly, bo_part *part) {
    const bo_scene_component *own = &assembly->components[part->component];
    const bo_scene_component *other = &assembly->components[assembly->parts[part->parent].component];
    bo_json interface = bo_json_at(&at, "interface");
    if (own->rigid->support != BOUGH_SUPPORT_INTERFACE)
        return bo_json_fail(bo_json_at(&at, "component"),
                            "\"%.60s\" hangs by no interface, so that it cannot have a parent; give it an interface "
                            "\"base\", or name one under its \"parent\"",
                            own->name);
    BO_TRY(bo_part_interface(interface, at, other, &part->interface_index));
    return part->interface_index == other->rigid->parent
               ? bo_json_fail(interface, "is the one by which the parent itself hangs")
               : BOUGH_OK;
}

/* A component is cooked held at one interface, and a root can be held in the world there only. */
static bough_status check_fix(bo_json at, const bo_scene_component *component) {
    int32_t index = -1;
    const bough_component *rigid = component->rigid;
    if (!at.value)
        return BOUGH_OK;
    if (rigid->support != BOUGH_SUPPORT_INTERFACE)
        return bo_json_fail(at, "the component \"%.60s\" hangs by no interface; its own \"fix\" says what holds it",
                            component->name);
    BO_TRY(bo_choose_interface(at, component, &index));
    return index == rigid->parent ? BOUGH_OK
                                  : bo_json_fail(at,
                                                 "the component \"%.60s\" can be held at \"%s\" only, by which it "
                                                 "hangs",
                                                 component->name, rigid->interfaces[rigid->parent].name);
}

static bough_status check_root(bo_json at, const bo_part *part, const bo_scene_component *component) {
    static const char *const of_flights[] = {"velocity", "angular_velocity"};
    static const char *const of_held[] = {"fix", "track"};
    for (int i = 0; i < 2; i++)
        if (bo_json_has(&at, of_flights[i]) && component->rigid->support != BOUGH_SUPPORT_FREE && !part->flies)
            return bo_json_fail(bo_json_at(&at, of_flights[i]),
                                "is for roots that fly free, but the component \"%.60s\" is held; say \"flies\": "
                                "true, or move it by a \"track\"",
                                component->name);
    for (int i = 0; i < 2; i++)
        if (bo_json_has(&at, of_held[i]) && part->flies)
            return bo_json_fail(bo_json_at(&at, of_held[i]), "is for roots that are held, but this one flies");
    if (bo_json_has(&at, "track") && component->rigid->support == BOUGH_SUPPORT_FREE)
        return bo_json_fail(bo_json_at(&at, "track"),
                            "the component \"%.60s\" flies free, so that nothing holds it on a track; give it an "
                            "interface \"base\" or a \"fix\"",
                            component->name);
    return check_fix(bo_json_at(&at, "fix"), component);
}

bough_status bo_parts_attach(bo_json at, bo_assembly *assembly) {
    for (int32_t p = 0; p < assembly->part_count; p++) {
        bo_part *part = &assembly->parts[p];
        bo_json item = bo_json_item(&at, p);
        BO_TRY(part->parent >= 0 ? attach(item, assembly, part)
                                 : check_root(item, part, &assembly->components[part->component]));
    }
    return BOUGH_OK;
}
