/* Scene files of mechanisms: links and joints, what moves them and what is around them. */
#include "scene/bodies_file.h"
#include "scene/scene.h"

#include "rig/joint.h"
#include "scene/entries.h"

#include <string.h>

#define MOST_LINKS 100000 /* in a file, and of joints; a slip or an attack beyond */
#define MOST_THINGS 10000 /* end effectors, motors, forces, bodies, obstacles */

enum { NAMES_LINK, NAMES_JOINT, NAMES_END_EFFECTOR, NAMES_BODY, NAMES_OBSTACLE, NAMES_COUNT };
static const char *const whats[NAMES_COUNT] = {"link", "joint", "end effector", "body", "obstacle"};

typedef struct {
    const bo_json *root;
    bough_scene *scene;
    bo_mechanism_scene *m;
    json_t *names[NAMES_COUNT]; /* {NAME: index} */
    bough_urdf *urdf;           /* NULL: there is none */
} reader;

bool bo_is_mechanism(const bo_json *root) {
    return bo_json_has(root, "links") || bo_json_has(root, "generate") || bo_json_has(root, "urdf") ||
           (bo_json_has(root, "bodies") && !bo_has_full_bodies(root));
}

bough_status bo_refuse_mechanism(const bo_json *root) {
    return bo_is_mechanism(root) ? bo_json_fail(*root, "is a mechanism, not a body: bough mechanism info tells its "
                                                       "frequencies, bough run and bough static take it as it is")
                                 : BOUGH_OK;
}

/* ---- names ---- */

static bough_status add_name(const reader *r, bo_json at, int kind, int32_t index) {
    return bo_json_add_name(at, whats[kind], r->names[kind], index, NULL);
}

static bough_status find(const reader *r, bo_json at, int kind, int32_t *index) {
    char what[40];
    snprintf(what, sizeof what, "%s ", whats[kind]);
    return bo_json_find_name(at, what, r->names[kind], index);
}

static bough_status list_of(bo_json at, int32_t most, int32_t *count) {
    BO_TRY(bo_json_list(at, count));
    return *count <= most ? BOUGH_OK : bo_json_fail(at, "%d of them are too many; %d is the limit", *count, most);
}

/* Enters the name of a thing that a generator or a URDF file made. */
static bough_status name_made(const reader *r, bo_json at, int kind, int32_t index, const char *name) {
    if (name && json_object_set_new(r->names[kind], name, json_integer(index)))
        return bo_fail_memory(at.ctx);
    return BOUGH_OK;
}

/* ---- places ---- */

/* Returns the pose of a link, or of a URDF link with a name of its own that is welded to it. */
static bo_se3 place_of(const reader *r, bo_json named, int32_t link) {
    const bo_se3 rest = bo_pose(&r->m->links[link].pose);
    const int32_t frame = r->urdf ? bough_urdf_find(r->urdf, json_string_value(named.value)) : -1;
    return frame < 0 ? rest : bo_se3_mul(rest, bo_pose(&r->urdf->frames[frame].pose));
}

/* ---- links ---- */

static bough_status read_link(const reader *r, bo_json at, bool held) {
    bough_rigid_body_def link = bough_default_rigid_body_def();
    bo_mechanism_scene *m = r->m;
    bo_se3 rest = bo_se3_identity();
    BO_TRY(bo_json_string(bo_json_at(&at, "name"), &link.name));
    BO_TRY(bo_scene_pose(&at, &rest));
    link.pose = bo_put_pose(rest);
    BO_TRY(bo_mechanism_add_link(at.ctx, m, &link));
    bo_scene_shapes *shapes = &m->link_shapes[m->link_count - 1];
    BO_TRY(bo_scene_read_shapes(bo_json_at(&at, "shape"), shapes, &r->scene->hash));
    return bo_scene_weight(&at, shapes, held, &m->links[m->link_count - 1]);
}

static bough_status read_base(const reader *r) {
    BO_TRY(bo_json_flag(bo_json_at(r->root, "free_base"), &r->m->free_base));
    return find(r, bo_json_at(r->root, "base"), NAMES_LINK, &r->m->base);
}

/* Names first: the base may be any of them. */
static bough_status read_links(const reader *r, bo_json at) {
    int32_t count;
    BO_TRY(list_of(at, MOST_LINKS, &count));
    if (count < 2)
        return bo_json_fail(at, "a mechanism has two links at least, one of which is the base");
    for (int32_t i = 0; i < count; i++) {
        bo_json item = bo_json_item(&at, i);
        BO_TRY(bo_json_keys(item, BO_LINK_KEYS));
        BO_TRY(add_name(r, bo_json_must(&item, "name"), NAMES_LINK, i));
    }
    BO_TRY(read_base(r));
    for (int32_t i = 0; i < count; i++)
        BO_TRY(read_link(r, bo_json_item(&at, i), i == r->m->base && !r->m->free_base));
    return BOUGH_OK;
}

/* ---- joints ---- */

static bough_status read_compliance(bo_json at, int32_t n, double *compliance) {
    int32_t count;
    BO_TRY(bo_json_list(at, &count));
    if (count != n)
        return bo_json_fail(at, "must have %d rows of %d numbers, one for each freedom", n, n);
    for (int32_t i = 0; i < n; i++)
        BO_TRY(bo_json_numbers(bo_json_item(&at, i), n, BO_ANY, compliance + (ptrdiff_t)i * n));
    return BOUGH_OK;
}

static bough_status read_spring(const bo_json *at, bough_joint_def *joint, double compliance[36]) {
    const int32_t n = bough_joint_freedoms(joint->kind);
    bo_json stiffness = bo_json_at(at, "stiffness"), matrix = bo_json_at(at, "compliance");
    if (stiffness.value && matrix.value)
        return bo_json_fail(matrix, "says what the \"stiffness\" says; give one of them");
    if (!stiffness.value && !matrix.value)
        return bo_json_fail(*at, "needs a \"stiffness\" or a \"compliance\", since nothing else holds its links");
    BO_TRY(bo_scene_freedoms(stiffness, n, BO_POSITIVE, 1, joint->stiffness));
    BO_TRY(bo_scene_freedoms(bo_json_at(at, "damping"), n, BO_NOT_NEGATIVE, 1, joint->damping));
    if (matrix.value) {
        BO_TRY(read_compliance(matrix, n, compliance));
        joint->compliance = compliance;
    }
    return bo_scene_joint_angles(at, n, joint);
}

static bough_status read_joint(const reader *r, bo_json at, int32_t index) {
    bough_joint_def joint = bough_default_joint_def();
    bo_se3 frame = bo_se3_identity();
    bo_json name = bo_json_at(&at, "name"), child = bo_json_must(&at, "child");
    double compliance[36], position[3] = {0};
    BO_TRY(bo_json_keys(at, BO_LINK_JOINT_KEYS));
    if (name.value)
        BO_TRY(add_name(r, name, NAMES_JOINT, index));
    BO_TRY(bo_json_string(name, &joint.name));
    BO_TRY(bo_scene_joint_kind(bo_json_must(&at, "kind"), &joint.kind));
    BO_TRY(find(r, bo_json_must(&at, "parent"), NAMES_LINK, &joint.parent.body));
    BO_TRY(find(r, child, NAMES_LINK, &joint.child.body));
    if (joint.child.body == joint.parent.body)
        return bo_json_fail(child, "is the parent too; a joint connects two links");
    BO_TRY(bo_json_vec3(bo_json_must(&at, "position"), BO_ANY, position));
    BO_TRY(bo_scene_joint_frame(&at, joint.kind, &frame));
    BO_TRY(read_spring(&at, &joint, compliance));
    bo_mechanism_place_joint(r->m, frame, &joint);
    return bo_mechanism_add_joint(at.ctx, r->m, &joint);
}

static bough_status read_joints(const reader *r, bo_json at) {
    int32_t count;
    BO_TRY(list_of(at, MOST_LINKS, &count));
    for (int32_t i = 0; i < count; i++)
        BO_TRY(read_joint(r, bo_json_item(&at, i), i));
    return BOUGH_OK;
}

/* ---- end effectors ---- */

static bough_status read_touch(const reader *r, bo_json shape, bo_json friction, bo_scene_touch *touch) {
    BO_TRY(bo_scene_read_shapes(shape, &touch->shapes, &r->scene->hash));
    BO_TRY(bo_scene_let_touch(shape, &r->m->meshes, &touch->shapes));
    BO_TRY(bo_scene_must_move(shape, &touch->shapes));
    return bo_json_number(friction, BO_NOT_NEGATIVE, &touch->friction);
}

static bough_status read_base_touch(const reader *r, bo_json at) {
    r->m->base_touch.friction = 0.5;
    if (!at.value)
        return BOUGH_OK;
    BO_TRY(bo_json_keys(at, BO_BASE_TOUCH_KEYS));
    if (r->m->link_count == 0)
        return bo_json_fail(at, "there are no links, and so no base");
    return read_touch(r, bo_json_must(&at, "shape"), bo_json_at(&at, "friction"), &r->m->base_touch);
}

/* "link_touches": what links touch with that are no end effectors. */
static bough_status read_link_touches(const reader *r, bo_json at) {
    bo_mechanism_scene *m = r->m;
    int32_t count;
    BO_TRY(list_of(at, MOST_THINGS, &count));
    if (!(m->link_touches = BO_NEW_ZEROS(at.ctx, bo_scene_link_touch, count)))
        return BOUGH_ERROR_MEMORY;
    for (m->link_touch_count = 0; m->link_touch_count < count;) {
        const bo_json item = bo_json_item(&at, m->link_touch_count);
        bo_scene_link_touch *touch = &m->link_touches[m->link_touch_count++];
        touch->touch.friction = 0.5;
        BO_TRY(bo_json_keys(item, BO_LINK_TOUCH_KEYS));
        BO_TRY(find(r, bo_json_must(&item, "link"), NAMES_LINK, &touch->link));
        BO_TRY(read_touch(r, bo_json_must(&item, "shape"), bo_json_at(&item, "friction"), &touch->touch));
    }
    return BOUGH_OK;
}

static bough_status read_end_effector(const reader *r, bo_json at) {
    bo_mechanism_scene *m = r->m;
    const char *name = NULL;
    int32_t link = 0;
    BO_TRY(bo_json_keys(at, BO_END_EFFECTOR_KEYS));
    BO_TRY(add_name(r, bo_json_must(&at, "name"), NAMES_END_EFFECTOR, m->end_effector_count));
    BO_TRY(bo_json_string(bo_json_at(&at, "name"), &name));
    BO_TRY(find(r, bo_json_must(&at, "link"), NAMES_LINK, &link));
    if (link == m->base)
        return bo_json_fail(bo_json_at(&at, "link"), "is the base, against which an end effector would never move");
    bo_se3 frame = place_of(r, bo_json_at(&at, "link"), link);
    BO_TRY(bo_scene_pose(&at, &frame));
    BO_TRY(bo_mechanism_add_end_effector(at.ctx, m, name, link, frame));
    return read_touch(r, bo_json_at(&at, "shape"), bo_json_at(&at, "friction"),
                      &m->effectors[m->end_effector_count - 1].touch);
}

static bough_status read_end_effectors(const reader *r, bo_json at) {
    int32_t count;
    BO_TRY(list_of(at, MOST_THINGS, &count));
    for (int32_t i = 0; i < count; i++)
        BO_TRY(read_end_effector(r, bo_json_item(&at, i)));
    return BOUGH_OK;
}

/* ---- motors ---- */

static bough_status read_motor(const reader *r, bo_json at, bo_motor *motor) {
    const bo_mechanism_scene *m = r->m;
    bo_json freedom = bo_json_at(&at, "freedom"), degrees = bo_json_at(&at, "degrees");
    bool in_degrees = false;
    *motor = (bo_motor){.scale = 1};
    BO_TRY(bo_json_keys(at, BO_MOTOR_KEYS));
    BO_TRY(find(r, bo_json_must(&at, "joint"), NAMES_JOINT, &motor->joint));
    const bough_joint_kind kind = m->joints[motor->joint].kind;
    BO_TRY(bo_json_integer(freedom, 0, bough_joint_freedoms(kind) - 1, &motor->freedom));
    BO_TRY(bo_json_flag(degrees, &in_degrees));
    if (in_degrees && !bo_joint_turns_only(kind))
        return bo_json_fail(degrees, "is for joints that only turn; this one is %s", bough_joint_name(kind));
    BO_TRY(bo_json_number(bo_json_at(&at, "scale"), BO_ANY, &motor->scale));
    motor->scale *= in_degrees ? M_PI / 180 : 1;
    for (const bo_motor *other = m->motors; other < motor; other++)
        if (other->joint == motor->joint && other->freedom == motor->freedom)
            return bo_json_fail(at, "another motor moves this joint already");
    bo_json curve = bo_json_must(&at, "curve");
    if (!curve.value)
        return bo_json_fail(at, "\"curve\" is missing");
    return bo_scene_choose_curve(curve, &r->scene->drive, &motor->curve);
}

static bough_status read_motors(const reader *r, bo_json at) {
    bo_mechanism_scene *m = r->m;
    int32_t count;
    BO_TRY(list_of(at, MOST_THINGS, &count));
    if (!(m->motors = BO_NEW_ZEROS(at.ctx, bo_motor, count)))
        return BOUGH_ERROR_MEMORY;
    for (m->motor_count = 0; m->motor_count < count; m->motor_count++)
        BO_TRY(read_motor(r, bo_json_item(&at, m->motor_count), &m->motors[m->motor_count]));
    return BOUGH_OK;
}

/* ---- places: "link", "end_effector" or "body", and "position" in the world at the reference pose ---- */

static bough_status read_spot(const reader *r, const bo_json *at, bo_spot *spot) {
    static const char *const keys[3] = {"link", "end_effector", "body"};
    static const int kinds[3] = {NAMES_LINK, NAMES_END_EFFECTOR, NAMES_BODY};
    const bo_mechanism_scene *m = r->m;
    int32_t index = 0, given = -1;
    for (int i = 0; i < 3; i++)
        if (bo_json_has(at, keys[i])) {
            if (given >= 0)
                return bo_json_fail(bo_json_at(at, keys[i]), "is one too many beside \"%s\"", keys[given]);
            given = i;
        }
    if (given < 0)
        return bo_json_fail(*at, "needs a \"link\", an \"end_effector\" or a \"body\"");
    BO_TRY(find(r, bo_json_at(at, keys[given]), kinds[given], &index));
    const bough_frame_def *effector = given == 1 ? &m->end_effectors[index] : NULL;
    *spot = (bo_spot){.body = given == 2, .index = effector ? effector->body : index};
    const bo_se3 rest = bo_pose(spot->body ? &m->bodies[index].pose : &m->links[spot->index].pose);
    bo_store3(spot->rest, effector     ? bo_se3_apply(rest, bo_load3(effector->pose.position))
                          : spot->body ? rest.t
                                       : place_of(r, bo_json_at(at, "link"), index).t);
    BO_TRY(bo_json_vec3(bo_json_at(at, "position"), BO_ANY, spot->rest));
    bo_store3(spot->at, bo_se3_apply(bo_se3_inverse(rest), bo_load3(spot->rest)));
    return BOUGH_OK;
}

static bough_status read_load(const reader *r, bo_json at, bo_mechanism_load *load) {
    bo_json torque = bo_json_at(&at, "torque"), until = bo_json_at(&at, "until");
    *load = (bo_mechanism_load){.until = INFINITY, .curve = -1};
    BO_TRY(bo_json_keys(at, BO_LINK_FORCE_KEYS));
    BO_TRY(read_spot(r, &at, &load->spot));
    if (!bo_json_has(&at, "force") && !torque.value)
        return bo_json_fail(at, "needs a \"force\" or a \"torque\"");
    BO_TRY(bo_json_vec3(bo_json_at(&at, "force"), BO_ANY, load->force));
    BO_TRY(bo_json_vec3(torque, BO_ANY, load->torque));
    BO_TRY(bo_json_number(bo_json_at(&at, "from"), BO_NOT_NEGATIVE, &load->from));
    BO_TRY(bo_json_number(until, BO_POSITIVE, &load->until));
    if (!(load->until > load->from))
        return bo_json_fail(until, "must be after \"from\", which is %g, not %g", load->from, load->until);
    return bo_scene_choose_curve(bo_json_at(&at, "curve"), &r->scene->drive, &load->curve);
}

static bough_status read_loads(const reader *r, bo_json at) {
    bo_mechanism_scene *m = r->m;
    BO_TRY(list_of(at, MOST_THINGS, &m->load_count));
    if (!(m->loads = BO_NEW_ZEROS(at.ctx, bo_mechanism_load, m->load_count)))
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < m->load_count; i++)
        BO_TRY(read_load(r, bo_json_item(&at, i), &m->loads[i]));
    return BOUGH_OK;
}

static bough_status read_probe(const reader *r, bo_json at, bo_probe *probe) {
    bo_json touch = bo_json_at(&at, "touch"), joint = bo_json_at(&at, "joint");
    if (bo_json_has(&at, "contact")) {
        BO_TRY(bo_scene_probe_name(bo_json_must(&at, "name"), r->scene, probe));
        return bo_scene_contact_probe(at, probe);
    }
    BO_TRY(touch.value   ? bo_json_keys(at, BO_TOUCH_PROBE_KEYS)
           : joint.value ? bo_json_keys(at, BO_JOINT_PROBE_KEYS)
                         : bo_json_keys(at, BO_LINK_PROBE_KEYS));
    BO_TRY(bo_scene_probe_name(bo_json_must(&at, "name"), r->scene, probe));
    probe->kind = joint.value ? BO_PROBE_JOINT : touch.value ? BO_PROBE_TOUCH : BO_PROBE_MOTION;
    if (joint.value)
        return find(r, joint, NAMES_JOINT, &probe->joint);
    if (!touch.value)
        return read_spot(r, &at, &probe->spot);
    BO_TRY(find(r, touch, NAMES_END_EFFECTOR, &probe->end_effector));
    return r->m->effectors[probe->end_effector].touch.shapes.count > 0
               ? BOUGH_OK
               : bo_json_fail(touch, "this end effector has no \"shape\", so that nothing touches it");
}

static bough_status read_probes(const reader *r, bo_json at) {
    bough_scene *scene = r->scene;
    int32_t count;
    BO_TRY(list_of(at, MOST_THINGS, &count));
    if (!(scene->probes = BO_NEW_ZEROS(at.ctx, bo_probe, count)))
        return BOUGH_ERROR_MEMORY;
    scene->probe_count = count;
    for (int32_t i = 0; i < count; i++)
        BO_TRY(read_probe(r, bo_json_item(&at, i), &scene->probes[i]));
    return BOUGH_OK;
}

/* ---- engine and time ---- */

static bough_status read_blend_load(const reader *r, bo_json at, bo_blend_load *load) {
    BO_TRY(bo_json_keys(at, BO_BLEND_LOAD_KEYS));
    BO_TRY(find(r, bo_json_must(&at, "end_effector"), NAMES_END_EFFECTOR, &load->end_effector));
    if (!bo_json_has(&at, "force") && !bo_json_has(&at, "torque"))
        return bo_json_fail(at, "needs a \"force\" or a \"torque\"");
    BO_TRY(bo_json_vec3(bo_json_at(&at, "force"), BO_ANY, load->force));
    return bo_json_vec3(bo_json_at(&at, "torque"), BO_ANY, load->torque);
}

static bough_status read_random(bo_json at, bo_blend_plan *blend) {
    int32_t seed = 1;
    BO_TRY(bo_json_keys(at, BO_BLEND_RANDOM_KEYS));
    if (!at.value)
        return BOUGH_OK;
    BO_TRY(bo_json_integer(bo_json_must(&at, "count"), 1, 1000, &blend->random_count));
    BO_TRY(bo_json_number(bo_json_at(&at, "force"), BO_NOT_NEGATIVE, &blend->random_force));
    BO_TRY(bo_json_number(bo_json_at(&at, "torque"), BO_NOT_NEGATIVE, &blend->random_torque));
    BO_TRY(bo_json_integer(bo_json_at(&at, "seed"), 0, INT32_MAX, &seed));
    blend->seed = (uint64_t)seed;
    return blend->random_force > 0 || blend->random_torque > 0
               ? BOUGH_OK
               : bo_json_fail(at, "needs a \"force\" or a \"torque\" above 0: the largest of each component");
}

static bough_status read_blend(const reader *r, bo_json at) {
    bo_blend_plan *blend = &r->m->blend;
    bo_json loads = bo_json_at(&at, "loads");
    int32_t count;
    *blend = (bo_blend_plan){.points = 16, .tolerance = 0.02};
    BO_TRY(bo_json_keys(at, BO_BLEND_KEYS));
    r->m->has_blend = at.value != NULL;
    BO_TRY(bo_json_integer(bo_json_at(&at, "points"), 1, BOUGH_BLEND_LIMIT, &blend->points));
    BO_TRY(bo_json_number(bo_json_at(&at, "tolerance"), (bo_range){0, 1, true}, &blend->tolerance));
    BO_TRY(list_of(loads, 1000, &count));
    if (!(blend->loads = BO_NEW_ZEROS(at.ctx, bo_blend_load, count)))
        return BOUGH_ERROR_MEMORY;
    blend->load_count = count;
    for (int32_t i = 0; i < count; i++)
        BO_TRY(read_blend_load(r, bo_json_item(&loads, i), &blend->loads[i]));
    BO_TRY(read_random(bo_json_at(&at, "random"), blend));
    return !at.value || count > 0 || blend->random_count > 0 || json_array_size(bo_json_at(r->root, "motors").value) > 0
               ? BOUGH_OK
               : bo_json_fail(at, "needs \"loads\" or \"random\" ones, under which its poses are found, or \"motors\"");
}

static bough_status read_engine(const reader *r, bo_json at) {
    static const char *const methods[] = {"exact", "recursive"}; /* bough_mechanism_method */
    bo_mechanism_scene *m = r->m;
    int32_t method = 0;
    bo_json named = bo_json_at(&at, "kind"), kept = bo_json_at(&at, "end_effectors");
    bo_json modes = bo_json_at(&at, "internal_modes");
    BO_TRY(bo_json_keys(at, BO_MECHANISM_ENGINE_KEYS));
    BO_TRY(bo_scene_read_engine(named, r->scene));
    r->scene->names_engine |= kept.value || modes.value || bo_json_has(&at, "blend") || bo_json_has(&at, "method");
    m->joint_tolerance = 0.03, m->internal_modes = BOUGH_INTERNAL_AUTOMATIC;
    BO_TRY(bo_json_number(bo_json_at(&at, "joint_tolerance"), BO_POSITIVE, &m->joint_tolerance));
    BO_TRY(bo_json_choice(bo_json_at(&at, "method"), methods, 2, &method));
    m->method = (bough_mechanism_method)method;
    if (json_is_string(modes.value)) {
        static const char *const automatic[] = {"auto"};
        int32_t ignored;
        BO_TRY(bo_json_choice(modes, automatic, 1, &ignored));
    } else
        BO_TRY(bo_json_integer(modes, 0, 1000, &m->internal_modes));
    BO_TRY(read_blend(r, bo_json_at(&at, "blend")));
    if (m->internal_modes > 0 && m->has_blend)
        return bo_json_fail(modes, "are for one pose; leave them or \"blend\" out");
    BO_TRY(list_of(kept, MOST_THINGS, &m->kept_count));
    if (!(m->kept = BO_NEW_ZEROS(at.ctx, int32_t, m->kept_count)))
        return BOUGH_ERROR_MEMORY;
    if (m->kept_count > 0 && m->has_blend)
        return bo_json_fail(kept, "cannot be chosen beside \"blend\", which keeps all end effectors");
    for (int32_t i = 0; i < m->kept_count; i++) {
        BO_TRY(find(r, bo_json_item(&kept, i), NAMES_END_EFFECTOR, &m->kept[i]));
        for (int32_t k = 0; k < i; k++)
            if (m->kept[k] == m->kept[i])
                return bo_json_fail(bo_json_item(&kept, i), "is named twice");
    }
    return BOUGH_OK;
}

static bough_status read_time(bo_json at, bough_scene *scene) {
    scene->names_integrator = bo_json_has(&at, "integrator");
    BO_TRY(bo_scene_time(at, scene));
    if (!scene->names_integrator)
        scene->integrator.name = "backward-euler";
    return BOUGH_OK;
}

/* ---- the file ---- */

static bough_status read_settings(const reader *r) {
    const bo_json *root = r->root;
    bough_scene *scene = r->scene;
    const char *ignored;
    BO_TRY(bo_json_keys(*root, BO_MECHANISM_KEYS));
    BO_TRY(bo_scene_version(*root));
    BO_TRY(bo_json_string(bo_json_at(root, "$schema"), &ignored));
    BO_TRY(bo_json_string(bo_json_at(root, "name"), &ignored));
    BO_TRY(bo_json_vec3(bo_json_at(root, "gravity"), BO_ANY, scene->gravity));
    BO_TRY(read_time(bo_json_at(root, "time"), scene));
    BO_TRY(bo_scene_curves(bo_json_at(root, "curves"), &scene->drive));
    return bo_json_flag(bo_json_at(root, "settle"), &scene->settle);
}

/* Enters the names of links, joints and end effectors that a generator or a URDF file made. A URDF file says itself
 * which base is free; the scene may say otherwise. */
static bough_status name_all(const reader *r, bo_json at) {
    const bo_mechanism_scene *m = r->m;
    for (int32_t i = 0; i < m->link_count; i++)
        BO_TRY(name_made(r, at, NAMES_LINK, i, m->links[i].name));
    for (int32_t i = 0; i < m->joint_count; i++)
        BO_TRY(name_made(r, at, NAMES_JOINT, i, m->joints[i].name));
    for (int32_t i = 0; i < m->end_effector_count; i++)
        BO_TRY(name_made(r, at, NAMES_END_EFFECTOR, i, m->effectors[i].name));
    for (int32_t i = 0; r->urdf && i < r->urdf->frame_count; i++)
        BO_TRY(name_made(r, at, NAMES_LINK, r->urdf->frames[i].body, r->urdf->frames[i].name));
    return read_base(r);
}

static bough_status read_structure(reader *r) {
    bo_json links = bo_json_at(r->root, "links"), joints = bo_json_at(r->root, "joints");
    bo_json made = bo_json_at(r->root, "generate"), urdf = bo_json_at(r->root, "urdf");
    bo_json dynamics = bo_json_at(r->root, "dynamics"), source = made.value ? made : urdf;
    if (made.value && urdf.value)
        return bo_json_fail(urdf, "is one too many beside \"generate\"");
    if (source.value && (links.value || joints.value))
        return bo_json_fail(links.value ? links : joints, "is made by \"%s\"; leave one of them out", source.key);
    if (dynamics.value && !urdf.value)
        return bo_json_fail(dynamics, "is for the joints of a \"urdf\", and there is none");
    if (source.value) {
        BO_TRY(made.value ? bo_mechanism_generate(made, r->m)
                          : bo_mechanism_from_urdf(r->root, r->m, &r->scene->hash, &r->urdf));
        return name_all(r, source);
    }
    if (!links.value)
        return joints.value ? bo_json_fail(joints, "connect \"links\", and there are none") : BOUGH_OK;
    BO_TRY(read_links(r, links));
    return read_joints(r, joints);
}

/* Connected, with loops that close: what the whole must be. */
static bough_status make_mechanism(const reader *r) {
    bo_mechanism_scene *m = r->m;
    bough_mechanism_def def = bough_default_mechanism_def();
    if (m->link_count == 0)
        return BOUGH_OK;
    def.link_count = m->link_count, def.links = m->links;
    def.joint_count = m->joint_count, def.joints = m->joints;
    def.end_effector_count = m->end_effector_count, def.end_effectors = m->end_effectors;
    def.base = m->base, def.free_base = m->free_base;
    return bo_json_explain(*r->root, bough_mechanism_create(r->root->ctx, &def, &m->mechanism));
}

static bough_status read_all(reader *r) {
    const bo_json *root = r->root;
    bo_mechanism_scene *m = r->m;
    BO_TRY(read_settings(r));
    BO_TRY(read_structure(r));
    BO_TRY(read_base_touch(r, bo_json_at(root, "base_touch")));
    BO_TRY(read_link_touches(r, bo_json_at(root, "link_touches")));
    BO_TRY(bo_mechanism_collide(root, r->urdf, m, &r->scene->hash));
    BO_TRY(read_end_effectors(r, bo_json_at(root, "end_effectors")));
    BO_TRY(bo_scene_read_rigids(bo_json_at(root, "bodies"), true, r->names[NAMES_BODY], &r->scene->hash, &m->meshes,
                                &m->body_count, &m->bodies));
    BO_TRY(bo_scene_read_rigids(bo_json_at(root, "obstacles"), false, r->names[NAMES_OBSTACLE], &r->scene->hash,
                                &m->meshes, &m->obstacle_count, &m->obstacles));
    BO_TRY(bo_scene_read_budget(bo_json_at(root, "contact"), &m->most_contacts));
    BO_TRY(read_engine(r, bo_json_at(root, "engine")));
    BO_TRY(read_motors(r, bo_json_at(root, "motors")));
    BO_TRY(read_loads(r, bo_json_at(root, "forces")));
    BO_TRY(read_probes(r, bo_json_at(root, "probes")));
    BO_TRY(make_mechanism(r));
    return bo_mechanism_make_plan(root->ctx, r->scene, m);
}

bough_status bo_scene_read_mechanism(const bo_json *root, bough_scene *scene) {
    reader r = {.root = root, .scene = scene};
    bough_status status = BOUGH_OK;
    if (!(scene->mechanism = r.m = BO_NEW(root->ctx, bo_mechanism_scene)))
        return BOUGH_ERROR_MEMORY;
    for (int i = 0; i < NAMES_COUNT; i++)
        if (!(r.names[i] = json_object()))
            status = bo_fail_memory(root->ctx);
    if (status == BOUGH_OK)
        status = read_all(&r);
    bough_urdf_destroy(root->ctx, r.urdf);
    for (int i = 0; i < NAMES_COUNT; i++)
        json_decref(r.names[i]);
    return status;
}
