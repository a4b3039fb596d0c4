/* Scene files of multibody systems: bodies and parts, joints and what moves them. */
#include "scene/multibody_scene.h"

#include "rig/joint.h"
#include "scene/bodies_file.h"
#include "scene/entries.h"
#include "scene/robot.h"
#include "scene/scene.h"

#include <string.h>

#define MOST_THINGS 10000 /* bodies, parts, joints, gears, forces; a slip or an attack beyond */

static const char *const whats[BO_NAMES_KINDS] = {"body or part", "joint", "motor", "gear", "obstacle"};

/* "joints" without links connect bodies and parts. */
static bool first_has(const bo_json *root, const char *list, const char *key) {
    bo_json entries = bo_json_at(root, list), first = bo_json_item(&entries, 0);
    return json_is_array(entries.value) && json_is_object(first.value) && bo_json_has(&first, key);
}

/* Only these scenes have, joints aside, parts that are clamped or stand beside rigid bodies, and bodies of which the first
 * says where its centre of mass is or that it touches. */
static bool has_clamped_parts(const bo_json *root) {
    const bool bodies = bo_json_has(root, "bodies") && !bo_has_full_bodies(root);
    return first_has(root, "parts", "clamp") || (bodies && bo_json_has(root, "parts")) ||
           first_has(root, "bodies", "touch") || first_has(root, "bodies", "centre") || bo_json_has(root, "gears") ||
           bo_json_has(root, "pass_through");
}

bool bo_is_multibody(const bo_json *root) {
    bo_json engine = bo_json_at(root, "engine"), kind = bo_json_at(&engine, "kind");
    if (json_is_string(kind.value) && strcmp(json_string_value(kind.value), "full") != 0)
        return strcmp(json_string_value(kind.value), "multibody") == 0 ||
               strcmp(json_string_value(kind.value), "rigid") == 0;
    if (bo_json_has(root, "robot"))
        return true;
    if (bo_json_has(root, "links") || bo_json_has(root, "generate") || bo_json_has(root, "urdf"))
        return false;
    return (bo_json_has(root, "joints") && (bo_json_has(root, "bodies") || bo_json_has(root, "parts"))) ||
           has_clamped_parts(root);
}

bough_status bo_multibody_find(const bo_multibody_reader *r, bo_json at, int kind, int32_t *index) {
    char what[40];
    snprintf(what, sizeof what, "%s ", whats[kind]);
    return bo_json_find_name(at, what, r->names[kind], index);
}

static bough_status list_of(bo_json at, int32_t *count) {
    BO_TRY(bo_json_list(at, count));
    return *count <= MOST_THINGS ? BOUGH_OK
                                 : bo_json_fail(at, "%d of them are too many; %d is the limit", *count, MOST_THINGS);
}

/* ---- ends: a body, an interface of a part, or the world ---- */

static bough_status find_interface(const bo_multibody_reader *r, bo_json at, bo_json entry, int32_t part,
                                   int32_t *index) {
    return bo_part_interface(at, entry, &r->assembly->components[r->m->components[part]], index);
}

static bough_status read_named_end(const bo_multibody_reader *r, bo_json at, bough_frame_def *end) {
    if (strcmp(json_string_value(at.value), "world") == 0)
        return BOUGH_OK;
    BO_TRY(bo_multibody_find(r, at, BO_NAMES_THING, &end->body));
    return end->body < r->m->def.body_count
               ? BOUGH_OK
               : bo_json_fail(at,
                              "is a part; say at which of its interfaces: {\"part\": \"%.60s\", \"interface\": ...}",
                              json_string_value(at.value));
}

/* A name, or an object with a frame of its own. *placed: it has one. */
static bough_status read_end(const bo_multibody_reader *r, bo_json at, bough_frame_def *end, bool *placed) {
    bo_json body = bo_json_at(&at, "body"), part = bo_json_at(&at, "part"), interface = bo_json_at(&at, "interface");
    bo_se3 frame = bo_se3_identity();
    *end = bough_default_frame_def(), *placed = false;
    if (json_is_string(at.value))
        return read_named_end(r, at, end);
    BO_TRY(bo_json_keys(at, BO_END_KEYS));
    if (body.value && part.value)
        return bo_json_fail(part, "is one too many beside \"body\"");
    if (interface.value && !part.value)
        return bo_json_fail(interface, "is one of a \"part\", which is missing");
    if (body.value) {
        const char *name;
        BO_TRY(bo_json_string(body, &name));
        BO_TRY(read_named_end(r, body, end));
    }
    BO_TRY(bo_multibody_find(r, part, BO_NAMES_THING, &end->body));
    const int32_t number = end->body - r->m->def.body_count;
    if (part.value && number < 0)
        return bo_json_fail(part, "is a rigid body; say {\"body\": ...}");
    if (part.value)
        BO_TRY(find_interface(r, interface, at, number, &end->interface_index));
    *placed = bo_json_has(&at, "position") || bo_json_has(&at, "rotate_deg");
    BO_TRY(bo_scene_pose(&at, &frame));
    end->pose = bo_put_pose(frame);
    return BOUGH_OK;
}

/* The frame of a body or an interface in the world, as the scene has it; needs `rests` of the part. */
static bo_se3 rest_of_end(const bo_multibody_reader *r, const bough_frame_def *end) {
    if (end->body < 0)
        return bo_se3_identity();
    bo_se3 g = r->m->rests[end->body];
    if (end->interface_index >= 0) {
        const int32_t c = r->m->components[end->body - r->m->def.body_count];
        g.t = bo_se3_apply(g, bo_load3(r->assembly->components[c].rigid->interfaces[end->interface_index].centre));
    }
    return g;
}

/* ---- bodies ---- */

/* A body that says nothing of its mass has none: it carries a part, as check_carriers() sees to. */
static bough_status read_weight(const bo_json *at, const bo_scene_shapes *shapes, bough_rigid_body_def *body) {
    static const char *const of_mass[] = {"mass", "density", "centre", "inertia"};
    for (int i = 0; i < 4; i++)
        if (bo_json_has(at, of_mass[i]))
            return bo_scene_weight(at, shapes, false, body);
    body->mass = 0;
    memset(body->inertia, 0, sizeof body->inertia);
    return BOUGH_OK;
}

static bough_status check_carriers(const bo_multibody_reader *r, bo_json bodies) {
    const bo_multibody_scene *m = r->m;
    for (int32_t b = 0; b < m->def.body_count; b++) {
        int32_t p = 0;
        while (!(m->bodies[b].mass > 0) && p < m->def.part_count && m->parts[p].clamp.body != b)
            p++;
        if (!(m->bodies[b].mass > 0) && p == m->def.part_count)
            return bo_json_fail(bo_json_item(&bodies, b),
                                "needs a \"mass\", or a \"density\" of its shapes, since no part is clamped to it");
    }
    return BOUGH_OK;
}

static bough_status read_body(const bo_multibody_reader *r, bo_json at, int32_t b) {
    bough_rigid_body_def *body = &r->m->bodies[b];
    double velocity[3] = {0}, spin[3] = {0};
    bo_se3 pose = bo_se3_identity();
    BO_TRY(bo_scene_pose(&at, &pose));
    body->pose = bo_put_pose(pose), r->m->rests[b] = pose;
    BO_TRY(bo_scene_read_shapes(bo_json_at(&at, "shape"), &r->m->shapes[b], &r->scene->hash));
    BO_TRY(bo_multibody_read_touch(r, at, b));
    BO_TRY(read_weight(&at, r->m->shapes[b].count > 0 ? &r->m->shapes[b] : &r->m->touches[b].shapes, body));
    BO_TRY(bo_json_vec3(bo_json_at(&at, "velocity"), BO_ANY, velocity));
    BO_TRY(bo_json_vec3(bo_json_at(&at, "spin"), BO_ANY, spin));
    const bo_vec3 w = bo_mat_tvec(pose.R, bo_load3(spin)), v = bo_mat_tvec(pose.R, bo_load3(velocity));
    bo_store3(body->twist, bo_sub(v, bo_cross(w, bo_load3(body->centre)))); /* of the origin */
    bo_store3(body->twist + 3, w);
    return BOUGH_OK;
}

static bough_status name_things(const bo_multibody_reader *r, bo_json at, bool bodies) {
    bo_multibody_scene *m = r->m;
    const int32_t count = bodies ? m->def.body_count : m->def.part_count;
    for (int32_t i = 0; i < count; i++) {
        bo_json item = bo_json_item(&at, i), name = bo_json_must(&item, "name");
        char *copy = NULL;
        BO_TRY(bodies ? bo_json_keys(item, BO_JOINED_BODY_KEYS) : bo_json_keys(item, BO_CLAMPED_PART_KEYS));
        BO_TRY(bo_json_add_name(name, whats[BO_NAMES_THING], r->names[BO_NAMES_THING],
                                bodies ? i : m->def.body_count + i, &copy));
        *(bodies ? &m->bodies[i].name : &m->parts[i].name) = copy;
        if (copy && strcmp(copy, "world") == 0)
            return bo_json_fail(name, "is what everything stands in; choose another name");
    }
    return BOUGH_OK;
}

/* ---- parts ---- */

static bough_status read_component(const bo_multibody_reader *r, bo_json at, int32_t p) {
    const bo_assembly *a = r->assembly;
    if (a->component_count == 0)
        return bo_json_fail(at, "the scene has no \"components\"");
    BO_TRY(bo_json_choose(at, &a->components->name, sizeof *a->components, a->component_count, &r->m->components[p]));
    const bo_scene_component *c = &a->components[r->m->components[p]];
    return c->rigid->support == BOUGH_SUPPORT_INTERFACE
               ? BOUGH_OK
               : bo_json_fail(at,
                              "\"%.60s\" hangs by no interface, so that it cannot be clamped; give it an interface "
                              "\"base\", or name one under its \"parent\"",
                              c->name);
}

static bough_status read_part(const bo_multibody_reader *r, bo_json at, int32_t p) {
    bough_flexible_def *part = &r->m->parts[p];
    bo_json clamp = bo_json_at(&at, "clamp"), damping = bo_json_at(&at, "damping");
    bool ignored;
    if (clamp.value)
        BO_TRY(read_end(r, clamp, &part->clamp, &ignored));
    if (part->clamp.interface_index >= 0) {
        const int32_t other = part->clamp.body - r->m->def.body_count;
        const bo_scene_component *c = &r->assembly->components[r->m->components[other]];
        if (part->clamp.interface_index == c->rigid->parent)
            return bo_json_fail(clamp, "is the interface by which that part itself is clamped");
    }
    BO_TRY(bo_multibody_read_part_touch(r, at, p));
    BO_TRY(bo_json_number(bo_json_at(&at, "stiffness"), BO_POSITIVE, &part->stiffness));
    BO_TRY(bo_json_keys(damping, BO_DAMPING_KEYS));
    if (damping.value)
        part->damping_mass = part->damping_stiffness = 0;
    BO_TRY(bo_json_number(bo_json_at(&damping, "mass"), BO_NOT_NEGATIVE, &part->damping_mass));
    return bo_json_number(bo_json_at(&damping, "stiffness"), BO_NOT_NEGATIVE, &part->damping_stiffness);
}

/* Follows the clamps outwards from what does not hang on a part, until all parts have their place. */
static bough_status place_parts(const bo_multibody_reader *r, bo_json at) {
    bo_multibody_scene *m = r->m;
    const int32_t bodies = m->def.body_count, count = m->def.part_count;
    bool *placed = BO_NEW_ZEROS(at.ctx, bool, count);
    int32_t left = count;
    if (!placed)
        return BOUGH_ERROR_MEMORY;
    for (bool more = true; more;) {
        more = false;
        for (int32_t p = 0; p < count; p++) {
            const bough_frame_def *clamp = &m->parts[p].clamp;
            if (placed[p] || (clamp->body >= bodies && !placed[clamp->body - bodies]))
                continue;
            m->rests[bodies + p] = bo_se3_mul(rest_of_end(r, clamp), bo_pose(&clamp->pose));
            placed[p] = more = true, left--;
        }
    }
    int32_t lost = 0;
    while (lost < count && placed[lost])
        lost++;
    bo_free(at.ctx, placed);
    bo_json item = bo_json_item(&at, lost);
    return left == 0 ? BOUGH_OK
                     : bo_json_fail(bo_json_at(&item, "clamp"), "the part is clamped to itself, by way of other parts");
}

static bough_status read_things(const bo_multibody_reader *r, bo_json bodies, bo_json parts) {
    bo_multibody_scene *m = r->m;
    bough_context *ctx = r->root->ctx;
    int32_t body_count, part_count;
    BO_TRY(list_of(bodies, &body_count));
    BO_TRY(list_of(parts, &part_count));
    if (body_count + part_count == 0)
        return bo_json_fail(*r->root, "a multibody system needs \"bodies\" or \"parts\", or a \"robot\"");
    m->bodies = BO_NEW_ARRAY(ctx, bough_rigid_body_def, body_count);
    m->shapes = BO_NEW_ZEROS(ctx, bo_scene_shapes, body_count);
    m->touches = BO_NEW_ZEROS(ctx, bo_body_touch, body_count + part_count);
    m->parts = BO_NEW_ARRAY(ctx, bough_flexible_def, part_count);
    m->components = BO_NEW_ZEROS(ctx, int32_t, part_count);
    m->rests = BO_NEW_ARRAY(ctx, bo_se3, body_count + part_count);
    if (!m->bodies || !m->shapes || !m->touches || !m->parts || !m->components || !m->rests)
        return BOUGH_ERROR_MEMORY;
    for (int32_t b = 0; b < body_count; b++)
        m->bodies[b] = bough_default_rigid_body_def();
    for (int32_t p = 0; p < part_count; p++)
        m->parts[p] = bough_default_flexible_def();
    m->def.body_count = body_count, m->def.part_count = part_count;
    BO_TRY(name_things(r, bodies, true));
    BO_TRY(name_things(r, parts, false));
    for (int32_t b = 0; b < body_count; b++)
        BO_TRY(read_body(r, bo_json_item(&bodies, b), b));
    for (int32_t p = 0; p < part_count; p++) {
        bo_json item = bo_json_item(&parts, p);
        BO_TRY(read_component(r, bo_json_must(&item, "component"), p));
    }
    for (int32_t p = 0; p < part_count; p++)
        BO_TRY(read_part(r, bo_json_item(&parts, p), p));
    BO_TRY(check_carriers(r, bodies));
    return place_parts(r, parts);
}

/* ---- joints ---- */

static bough_status read_kind(bo_json at, bough_joint_kind *kind) {
    const char *names[BOUGH_JOINT_KIND_COUNT];
    bough_joint_kind kinds[BOUGH_JOINT_KIND_COUNT];
    int32_t count = 0, chosen = -1;
    for (int k = 0; k < BOUGH_JOINT_KIND_COUNT; k++)
        if (k != BOUGH_JOINT_FREE)
            names[count] = bough_joint_name((bough_joint_kind)k), kinds[count++] = (bough_joint_kind)k;
    BO_TRY(bo_json_choice(at, names, count, &chosen));
    if (chosen >= 0)
        *kind = kinds[chosen];
    return BOUGH_OK;
}

/* "position", "axis" and "rotate_deg" in the world, as the scene has it; in the middle of an interface where nothing
 * is said. Ends with frames of their own keep these. */
static bough_status place_joint(const bo_multibody_reader *r, bo_json at, const bool placed[2],
                                bough_joint_def *joint) {
    bough_frame_def *const ends[2] = {&joint->parent, &joint->child};
    bo_se3 frame = bo_se3_identity();
    bool known = bo_json_has(&at, "position");
    for (int k = 0; k < 2 && !known; k++)
        if (ends[k]->interface_index >= 0 && !placed[k])
            frame.t = rest_of_end(r, ends[k]).t, known = true;
    if (!known && !(placed[0] && placed[1]))
        return bo_json_fail(at, "\"position\" is missing: where the joint is in the world");
    BO_TRY(bo_scene_joint_frame(&at, joint->kind, &frame));
    for (int k = 0; k < 2; k++)
        if (!placed[k])
            ends[k]->pose = bo_put_pose(bo_se3_mul(bo_se3_inverse(rest_of_end(r, ends[k])), frame));
    return BOUGH_OK;
}

static bough_status read_joint(const bo_multibody_reader *r, bo_json at, int32_t j) {
    bough_joint_def *joint = &r->m->joints[j];
    bo_json parent = bo_json_must(&at, "parent"), child = bo_json_must(&at, "child");
    char *name = NULL;
    bool placed[2];
    *joint = bough_default_joint_def();
    BO_TRY(bo_json_keys(at, BO_BODY_JOINT_KEYS));
    BO_TRY(bo_json_add_name(bo_json_must(&at, "name"), whats[BO_NAMES_JOINT], r->names[BO_NAMES_JOINT], j, &name));
    joint->name = name;
    BO_TRY(read_kind(bo_json_must(&at, "kind"), &joint->kind));
    if (!parent.value || !child.value)
        return bo_json_fail(at, "\"%s\" is missing", parent.value ? "child" : "parent");
    BO_TRY(read_end(r, parent, &joint->parent, &placed[0]));
    BO_TRY(read_end(r, child, &joint->child, &placed[1]));
    if (joint->parent.body == joint->child.body && joint->parent.interface_index == joint->child.interface_index)
        return bo_json_fail(child, "is the parent too; a joint connects two things");
    BO_TRY(place_joint(r, at, placed, joint));
    const int32_t n = bough_joint_freedoms(joint->kind);
    static const char *const forces[] = {"stiffness", "damping", "friction", "limits", "limits_deg"};
    for (size_t i = 0; n == 0 && i < sizeof forces / sizeof *forces; i++)
        if (bo_json_has(&at, forces[i]))
            return bo_json_fail(bo_json_at(&at, forces[i]), "is for joints that can move; this one is a \"%s\"",
                                bough_joint_name(joint->kind));
    BO_TRY(bo_scene_freedoms(bo_json_at(&at, "stiffness"), n, BO_NOT_NEGATIVE, 1, joint->stiffness));
    BO_TRY(bo_scene_freedoms(bo_json_at(&at, "damping"), n, BO_NOT_NEGATIVE, 1, joint->damping));
    BO_TRY(bo_scene_freedoms(bo_json_at(&at, "friction"), n, BO_NOT_NEGATIVE, 1, joint->friction));
    return bo_scene_joint_angles(&at, n, joint);
}

static bough_status read_joints(const bo_multibody_reader *r, bo_json at) {
    int32_t count;
    BO_TRY(list_of(at, &count));
    if (!(r->m->joints = BO_NEW_ZEROS(at.ctx, bough_joint_def, count)))
        return BOUGH_ERROR_MEMORY;
    r->m->def.joint_count = count;
    for (int32_t j = 0; j < count; j++)
        BO_TRY(read_joint(r, bo_json_item(&at, j), j));
    return BOUGH_OK;
}

/* ---- gears ---- */

static bough_status read_gear(const bo_multibody_reader *r, bo_json at, int32_t g) {
    bough_gear_def *gear = &r->m->gears[g];
    bo_json joints = bo_json_must(&at, "joints"), freedoms = bo_json_at(&at, "freedoms");
    char *name = NULL;
    int32_t count;
    *gear = bough_default_gear_def();
    BO_TRY(bo_json_keys(at, BO_GEAR_KEYS));
    if (bo_json_has(&at, "name"))
        BO_TRY(bo_json_add_name(bo_json_at(&at, "name"), whats[BO_NAMES_GEAR], r->names[BO_NAMES_GEAR], g, &name));
    gear->name = name;
    BO_TRY(bo_json_list(joints, &count));
    if (count != 2)
        return bo_json_fail(joints, "must be two joints");
    for (int32_t k = 0; k < 2; k++)
        BO_TRY(bo_multibody_find(r, bo_json_item(&joints, k), BO_NAMES_JOINT, &gear->joints[k]));
    BO_TRY(bo_json_integers(freedoms, 2, 0, BOUGH_MOST_FREEDOMS - 1, gear->freedoms));
    for (int k = 0; k < 2; k++)
        if (gear->freedoms[k] >= bough_joint_freedoms(r->m->joints[gear->joints[k]].kind))
            return bo_json_fail(freedoms.value ? freedoms : bo_json_item(&joints, k), "the joint has %d freedoms",
                                bough_joint_freedoms(r->m->joints[gear->joints[k]].kind));
    BO_TRY(bo_json_number(bo_json_must(&at, "ratio"), BO_ANY, &gear->ratio));
    return gear->ratio != 0 ? BOUGH_OK : bo_json_fail(bo_json_at(&at, "ratio"), "must not be 0");
}

static bough_status read_gears(const bo_multibody_reader *r, bo_json at) {
    int32_t count;
    BO_TRY(list_of(at, &count));
    if (!(r->m->gears = BO_NEW_ZEROS(at.ctx, bough_gear_def, count)))
        return BOUGH_ERROR_MEMORY;
    r->m->def.gear_count = count;
    for (int32_t g = 0; g < count; g++)
        BO_TRY(read_gear(r, bo_json_item(&at, g), g));
    return BOUGH_OK;
}

/* ---- places: a point of a body, or an interface or a vertex of a part ---- */

bough_status bo_multibody_read_spot(const bo_multibody_reader *r, const bo_json *at, bo_multibody_spot *spot) {
    bo_json body = bo_json_at(at, "body"), part = bo_json_at(at, "part"), position = bo_json_at(at, "position");
    bo_json interface = bo_json_at(at, "interface"), nearest = bo_json_at(at, "nearest");
    bo_json named = body.value ? body : part;
    spot->frame = bough_default_frame_def();
    if (body.value && part.value)
        return bo_json_fail(part, "is one too many beside \"body\"");
    if (!named.value)
        return bo_json_fail(*at, "needs a \"body\" or a \"part\"");
    BO_TRY(bo_multibody_find(r, named, BO_NAMES_THING, &spot->frame.body));
    const int32_t number = spot->frame.body - r->m->def.body_count;
    if (body.value && number >= 0)
        return bo_json_fail(body, "is a part; say {\"part\": ...}");
    if (part.value && number < 0)
        return bo_json_fail(part, "is a rigid body; say {\"body\": ...}");
    if (position.value && !body.value)
        return bo_json_fail(position, "is for bodies; a part has an \"interface\", or the \"nearest\" vertex");
    if ((interface.value || nearest.value) && !part.value)
        return bo_json_fail(interface.value ? interface : nearest, "is one of a \"part\"");
    if (interface.value && nearest.value)
        return bo_json_fail(nearest, "is one too many beside \"interface\"");
    if (interface.value)
        BO_TRY(find_interface(r, interface, *at, number, &spot->frame.interface_index));
    spot->nearest = nearest.value != NULL;
    const bo_se3 rest = rest_of_end(r, &spot->frame);
    bo_store3(spot->rest, rest.t);
    BO_TRY(bo_json_vec3(nearest.value ? nearest : position, BO_ANY, spot->rest));
    if (position.value)
        bo_store3(spot->frame.pose.position, bo_se3_apply(bo_se3_inverse(rest), bo_load3(spot->rest)));
    return BOUGH_OK;
}

static bough_status read_load(const bo_multibody_reader *r, bo_json at, bo_multibody_load *load) {
    bo_json torque = bo_json_at(&at, "torque"), until = bo_json_at(&at, "until");
    *load = (bo_multibody_load){.until = INFINITY, .curve = -1};
    BO_TRY(bo_json_keys(at, BO_BODY_FORCE_KEYS));
    BO_TRY(bo_multibody_read_spot(r, &at, &load->spot));
    if (!bo_json_has(&at, "force") && !torque.value)
        return bo_json_fail(at, "needs a \"force\" or a \"torque\"");
    if (torque.value && load->spot.nearest)
        return bo_json_fail(torque, "acts on a body or an \"interface\", not on a vertex");
    BO_TRY(bo_json_vec3(bo_json_at(&at, "force"), BO_ANY, load->force));
    BO_TRY(bo_json_vec3(torque, BO_ANY, load->torque));
    BO_TRY(bo_json_number(bo_json_at(&at, "from"), BO_NOT_NEGATIVE, &load->from));
    BO_TRY(bo_json_number(until, BO_POSITIVE, &load->until));
    if (!(load->until > load->from))
        return bo_json_fail(until, "must be after \"from\", which is %g, not %g", load->from, load->until);
    return bo_scene_choose_curve(bo_json_at(&at, "curve"), &r->scene->drive, &load->curve);
}

static bough_status read_loads(const bo_multibody_reader *r, bo_json at) {
    int32_t count;
    BO_TRY(list_of(at, &count));
    if (!(r->m->loads = BO_NEW_ZEROS(at.ctx, bo_multibody_load, count)))
        return BOUGH_ERROR_MEMORY;
    r->m->load_count = count;
    for (int32_t i = 0; i < count; i++)
        BO_TRY(read_load(r, bo_json_item(&at, i), &r->m->loads[i]));
    return BOUGH_OK;
}

/* ---- probes ---- */

static bough_status read_stress_probe(const bo_multibody_reader *r, bo_json at, bo_probe *probe) {
    bo_json most = bo_json_at(&at, "stress"), part = bo_json_must(&at, "part");
    int32_t only, thing = 0;
    probe->kind = BO_PROBE_STRESS, probe->most = most.value != NULL;
    BO_TRY(bo_json_keys(at, BO_PART_STRESS_PROBE_KEYS));
    if (most.value && bo_json_has(&at, "stress_at"))
        return bo_json_fail(most, "is that of the whole part; leave it or \"stress_at\" out");
    BO_TRY(bo_json_choice(most, (const char *const[]){"max"}, 1, &only));
    BO_TRY(bo_multibody_find(r, part, BO_NAMES_THING, &thing));
    probe->part = thing - r->m->def.body_count;
    return probe->part >= 0 ? bo_json_vec3(bo_json_at(&at, "stress_at"), BO_ANY, probe->rest)
                            : bo_json_fail(part, "is a rigid body, which has no stress");
}

static bough_status read_probe(const bo_multibody_reader *r, bo_json at, int32_t i) {
    bo_probe *probe = &r->scene->probes[i];
    bo_json joint = bo_json_at(&at, "joint"), force = bo_json_at(&at, "joint_force"), motor = bo_json_at(&at, "motor");
    BO_TRY(bo_scene_probe_name(bo_json_must(&at, "name"), r->scene, probe));
    if (bo_json_has(&at, "stress") || bo_json_has(&at, "stress_at"))
        return read_stress_probe(r, at, probe);
    if (bo_json_has(&at, "contact"))
        return bo_scene_contact_probe(at, probe);
    if (bo_json_has(&at, "touch"))
        return bo_multibody_read_touch_probe(r, at, probe);
    probe->kind = joint.value   ? BO_PROBE_JOINT
                  : force.value ? BO_PROBE_WRENCH
                  : motor.value ? BO_PROBE_MOTOR
                                : BO_PROBE_MOTION;
    if (motor.value) {
        BO_TRY(bo_json_keys(at, BO_MOTOR_PROBE_KEYS));
        return bo_multibody_find(r, motor, BO_NAMES_MOTOR, &probe->motor);
    }
    if (force.value) {
        BO_TRY(bo_json_keys(at, BO_JOINT_FORCE_PROBE_KEYS));
        return bo_multibody_find(r, force, BO_NAMES_JOINT, &probe->joint);
    }
    if (!joint.value) {
        BO_TRY(bo_json_keys(at, BO_BODY_PROBE_KEYS));
        return bo_multibody_read_spot(r, &at, &r->m->spots[i]);
    }
    BO_TRY(bo_json_keys(at, BO_COORDINATE_PROBE_KEYS));
    BO_TRY(bo_multibody_find(r, joint, BO_NAMES_JOINT, &probe->joint));
    const int32_t n = bough_joint_freedoms(r->m->joints[probe->joint].kind);
    return bo_json_integer(bo_json_at(&at, "freedom"), 0, n > 0 ? n - 1 : 0, &probe->freedom);
}

static bough_status read_probes(const bo_multibody_reader *r, bo_json at) {
    int32_t count;
    BO_TRY(list_of(at, &count));
    if (!(r->scene->probes = BO_NEW_ZEROS(at.ctx, bo_probe, count)))
        return BOUGH_ERROR_MEMORY;
    r->scene->probe_count = count;
    if (!(r->m->spots = BO_NEW_ZEROS(at.ctx, bo_multibody_spot, count)))
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < count; i++)
        BO_TRY(read_probe(r, bo_json_item(&at, i), i));
    return BOUGH_OK;
}

/* ---- the file ---- */

static bough_status read_settings(const bo_multibody_reader *r) {
    const bo_json *root = r->root;
    bough_scene *scene = r->scene;
    bo_json time = bo_json_at(root, "time"), engine = bo_json_at(root, "engine");
    const char *ignored;
    BO_TRY(bo_json_keys(*root, BO_MULTIBODY_KEYS));
    BO_TRY(bo_scene_version(*root));
    BO_TRY(bo_json_string(bo_json_at(root, "$schema"), &ignored));
    BO_TRY(bo_json_string(bo_json_at(root, "name"), &ignored));
    BO_TRY(bo_json_vec3(bo_json_at(root, "gravity"), BO_ANY, scene->gravity));
    BO_TRY(bo_json_keys(engine, BO_MULTIBODY_ENGINE_KEYS));
    BO_TRY(bo_scene_read_engine(bo_json_at(&engine, "kind"), scene));
    r->m->def = bough_default_multibody_def();
    BO_TRY(bo_json_number(bo_json_at(&engine, "baumgarte"), BO_NOT_NEGATIVE, &r->m->def.baumgarte));
    BO_TRY(bo_json_number(bo_json_at(&engine, "friction_speed"), BO_POSITIVE, &r->m->def.friction_speed));
    BO_TRY(bo_json_number(bo_json_at(&engine, "tolerance"), BO_POSITIVE, &r->m->tolerance));
    scene->dt = 0.001;
    scene->names_integrator = bo_json_has(&time, "integrator");
    BO_TRY(bo_scene_time(time, scene));
    if (!scene->names_integrator)
        scene->integrator.name = BO_MULTIBODY_INTEGRATOR;
    BO_TRY(bo_scene_curves(bo_json_at(root, "curves"), &scene->drive));
    return bo_json_flag(bo_json_at(root, "settle"), &scene->settle);
}

static bough_status finish_plan(const bo_multibody_reader *r) {
    bo_multibody_scene *m = r->m;
    const bough_scene *scene = r->scene;
    m->def.bodies = m->bodies, m->def.parts = m->parts, m->def.joints = m->joints;
    m->def.motors = m->motors, m->def.gears = m->gears;
    memcpy(m->def.gravity, scene->gravity, sizeof m->def.gravity);
    m->plan = (bo_multibody_plan){.path = scene->path,
                                  .def = m->def,
                                  .components = m->components,
                                  .drives = m->drives,
                                  .curves = scene->drive.curves,
                                  .load_count = m->load_count,
                                  .loads = m->loads,
                                  .probe_count = scene->probe_count,
                                  .probes = scene->probes,
                                  .spots = m->spots,
                                  .pass_count = m->plan.pass_count,
                                  .most_contacts = m->plan.most_contacts,
                                  .tolerance = m->tolerance,
                                  .draw = bo_multibody_draw,
                                  .draw_data = m,
                                  .point_at = bo_multibody_point_at};
    return bo_multibody_plan_around(r->root->ctx, m);
}

static bough_status read_all(const bo_multibody_reader *r, bo_assembly *assembly) {
    const bo_json *root = r->root;
    BO_TRY(read_settings(r));
    assembly->keeps_samples = true;
    if (bo_json_has(root, "components"))
        BO_TRY(bo_assembly_of_components(root, assembly));
    BO_TRY(bo_robot_expand(r));
    BO_TRY(read_things(r, bo_json_at(root, "bodies"), bo_json_at(root, "parts")));
    BO_TRY(bo_multibody_read_around(r));
    BO_TRY(read_joints(r, bo_json_at(root, "joints")));
    BO_TRY(bo_multibody_read_motors(r, bo_json_at(root, "motors")));
    BO_TRY(read_gears(r, bo_json_at(root, "gears")));
    BO_TRY(read_loads(r, bo_json_at(root, "forces")));
    BO_TRY(read_probes(r, bo_json_at(root, "probes")));
    BO_TRY(bo_multibody_read_retarget(r, bo_json_at(root, "retarget")));
    BO_TRY(bo_multibody_hang(r));
    return finish_plan(r);
}

static bough_status read_with_names(const bo_json *root, bough_scene *scene, bo_assembly *assembly) {
    bo_multibody_reader r = {.root = root, .scene = scene, .assembly = assembly};
    bough_status status = BOUGH_OK;
    if (!(scene->content = r.m = BO_NEW(root->ctx, bo_multibody_scene)))
        return BOUGH_ERROR_MEMORY;
    for (int i = 0; i < BO_NAMES_KINDS; i++)
        if (!(r.names[i] = json_object()))
            status = bo_fail_memory(root->ctx);
    if (status == BOUGH_OK)
        status = read_all(&r, assembly);
    for (int i = 0; i < BO_NAMES_KINDS; i++)
        json_decref(r.names[i]);
    return status;
}

bough_status bo_multibody_read(const bo_json *root, bough_scene *scene, bo_assembly *assembly) {
    if (scene)
        return read_with_names(root, scene, assembly);
    bough_scene checked = bo_scene_defaults();
    checked.kind = &bo_multibody_scene_kind, checked.engine = &bo_multibody_scene_kind.engines[0];
    const bough_status status = read_with_names(root, &checked, assembly);
    bo_scene_free_probes(root->ctx, &checked);
    bo_multibody_scene_free(root->ctx, checked.content);
    bo_drive_free(root->ctx, &checked.drive);
    return status;
}
