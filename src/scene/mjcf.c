/* MJCF, its kinematic subset: bodies with their joints, geoms and inertials. Whatever else would change the motion is
 * refused by its name; what is only to be seen, and settings of a solver, are passed over. */
#include "scene/mjcf.h"

#include "rig/joint.h"

#include <ctype.h>
#include <string.h>

/* ---- attributes, and what is inherited ---- */

static const bo_xml_element *parent_of(const bo_xml *xml, const bo_xml_element *e) {
    return e->parent >= 0 ? &xml->elements[e->parent] : NULL;
}

/* Its own class, or the childclass of the nearest body around it; NULL: that for all. */
static const char *class_of(const bo_xml *xml, const bo_xml_element *e) {
    const char *name = bo_xml_get(xml, e, "class");
    for (e = parent_of(xml, e); e && !name; e = parent_of(xml, e))
        name = bo_xml_get(xml, e, "childclass");
    return name;
}

/* NULL: there is none. */
static const bo_xml_element *find_class(const bo_mjcf *m, const char *name) {
    for (int32_t k = 0; k < m->class_count; k++) {
        const char *own = bo_xml_get(m->xml, m->classes[k], "class");
        if (name ? own && strcmp(own, name) == 0 : k == 0)
            return m->classes[k];
    }
    return name && strcmp(name, "main") == 0 && m->class_count > 0 ? m->classes[0] : NULL;
}

const bo_xml_element *bo_mjcf_holder(const bo_mjcf *m, const bo_xml_element *e, const char *name) {
    const bo_xml_element *class = find_class(m, class_of(m->xml, e));
    if (bo_xml_get(m->xml, e, name))
        return e;
    for (; class && bo_xml_is(class, "default"); class = parent_of(m->xml, class)) {
        const bo_xml_element *holder = bo_xml_child(m->xml, class, e->name);
        if (holder && bo_xml_get(m->xml, holder, name))
            return holder;
    }
    return NULL;
}

const char *bo_mjcf_get(const bo_mjcf *m, const bo_xml_element *e, const char *name) {
    return bo_xml_get(m->xml, bo_mjcf_holder(m, e, name), name);
}

bough_status bo_mjcf_numbers(const bo_mjcf *m, const bo_xml_element *e, const char *name, int count, double *values) {
    return bo_xml_numbers(m->xml, bo_mjcf_holder(m, e, name), name, count, values);
}

static bool is_among(const char *words, const char *word) {
    const size_t length = strlen(word);
    for (const char *p = words; length && (p = strstr(p, word)); p += length)
        if (p[-1] == ' ' && p[length] == ' ')
            return true;
    return false;
}

bough_status bo_mjcf_check(const bo_mjcf *m, const bo_xml_element *e, const char *known, const char *ignored) {
    const char *class = class_of(m->xml, e);
    for (int32_t k = 0; k < e->attribute_count; k++) {
        const char *name = m->xml->attributes[e->first_attribute + k].name;
        if (!is_among(known, name) && !is_among(ignored, name))
            return bo_xml_refuse(m->xml, e, "the attribute \"%.60s\" is not known here; Bough takes%.200s", name,
                                 known);
    }
    return !class || find_class(m, class) ? BOUGH_OK
                                          : bo_xml_fail(m->xml, e, "there is no default class \"%.60s\"", class);
}

/* ---- orientations ---- */

static bough_status read_euler(const bo_mjcf *m, const double angles[3], bo_mat3 *R) {
    *R = bo_identity3();
    for (int k = 0; k < 3; k++) {
        bo_vec3 w = {0, 0, 0};
        *(m->sequence[k] == 'x' || m->sequence[k] == 'X'   ? &w.x
          : m->sequence[k] == 'y' || m->sequence[k] == 'Y' ? &w.y
                                                           : &w.z) = m->angle * angles[k];
        *R = islower((unsigned char)m->sequence[k]) ? bo_mat_mul(*R, bo_exp3(w)) : bo_mat_mul(bo_exp3(w), *R);
    }
    return BOUGH_OK;
}

static bough_status fail_direction(const bo_mjcf *m, const bo_xml_element *e, const char *name) {
    return bo_xml_fail(m->xml, e, "%s has no direction", name);
}

static bough_status read_turn(const bo_mjcf *m, const bo_xml_element *e, const char *name, bo_mat3 *R) {
    static const char *const names[] = {"quat", "axisangle", "euler", "xyaxes", "zaxis"};
    static const int counts[] = {4, 4, 3, 6, 3};
    double v[6] = {0};
    int kind = 0;
    while (strcmp(names[kind], name) != 0)
        kind++;
    BO_TRY(bo_mjcf_numbers(m, e, name, counts[kind], v));
    const bo_vec3 a = bo_load3(v), b = bo_load3(v + 3);
    if (kind == 2)
        return read_euler(m, v, R);
    if (kind == 0) {
        if (!(hypot(v[0], bo_norm(bo_load3(v + 1))) > 1e-9))
            return fail_direction(m, e, name);
        *R = bo_quat_to_matrix(bo_quat_normalize((bo_quat){v[0], v[1], v[2], v[3]}));
        return BOUGH_OK;
    }
    if (!(bo_norm(a) > 1e-9))
        return fail_direction(m, e, name);
    if (kind == 1)
        *R = bo_exp3(bo_scale(m->angle * v[3], bo_normalize(a)));
    if (kind == 4)
        *R = bo_turn_z_to(a);
    if (kind != 3)
        return BOUGH_OK;
    const bo_vec3 x = bo_normalize(a), across = bo_mul_add(b, -bo_dot(b, x), x);
    if (!(bo_norm(across) > 1e-9 * bo_norm(b)))
        return fail_direction(m, e, name);
    const bo_vec3 y = bo_normalize(across), z = bo_cross(x, y);
    *R = (bo_mat3){{x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z}};
    return BOUGH_OK;
}

bough_status bo_mjcf_pose(const bo_mjcf *m, const bo_xml_element *e, bo_se3 *pose) {
    static const char *const names[] = {"quat", "axisangle", "euler", "xyaxes", "zaxis"};
    const char *chosen = NULL;
    double position[3] = {0};
    *pose = bo_se3_identity();
    BO_TRY(bo_mjcf_numbers(m, e, "pos", 3, position));
    pose->t = bo_load3(position);
    for (int k = 0; k < 5; k++) {
        if (!bo_mjcf_get(m, e, names[k]))
            continue;
        if (chosen)
            return bo_xml_fail(m->xml, e, "has \"%s\" and \"%s\"; one orientation is enough", chosen, names[k]);
        chosen = names[k];
    }
    return chosen ? read_turn(m, e, chosen, &pose->R) : BOUGH_OK;
}

/* ---- joints ---- */

static bough_status read_flag(const bo_mjcf *m, const bo_xml_element *e, const char *name, bool automatic,
                              bool *value) {
    const char *word = bo_mjcf_get(m, e, name);
    if (word && strcmp(word, "auto") != 0 && strcmp(word, "true") != 0 && strcmp(word, "false") != 0)
        return bo_xml_fail(m->xml, e, "%s is \"%.40s\"; it must be true, false or auto", name, word);
    *value = word && strcmp(word, "auto") != 0 ? strcmp(word, "true") == 0 : automatic;
    return BOUGH_OK;
}

static bough_status read_limits(const bo_mjcf *m, const bo_xml_element *e, double unit, bo_robot_joint *joint) {
    double range[2] = {0};
    const bool has_range = bo_mjcf_get(m, e, "range") != NULL;
    bool limited;
    BO_TRY(bo_mjcf_numbers(m, e, "range", 2, range));
    BO_TRY(read_flag(m, e, "limited", has_range && m->limits_by_range, &limited));
    if (!limited)
        return BOUGH_OK;
    if (!(range[0] < range[1]))
        return bo_xml_fail(m->xml, e, "range must be \"LOWER UPPER\", but %g is not below %g", range[0], range[1]);
    if (joint->kind == BOUGH_JOINT_BALL)
        return bo_xml_refuse(m->xml, e, "a range of a ball is not supported; remove it, or use three hinges");
    joint->lower = unit * range[0], joint->upper = unit * range[1];
    return BOUGH_OK;
}

/* Springs, dampers and friction. A rotor's inertia is a body's in Bough. */
static bough_status read_springs(const bo_mjcf *m, const bo_xml_element *e, double unit, bo_robot_joint *joint) {
    static const char *const names[] = {"damping", "stiffness", "frictionloss"};
    double *const values[] = {&joint->damping, &joint->stiffness, &joint->friction};
    double armature = 0, reference = 0;
    for (int k = 0; k < 3; k++) {
        BO_TRY(bo_mjcf_numbers(m, e, names[k], 1, values[k]));
        if (!(*values[k] >= 0))
            return bo_xml_fail(m->xml, e, "%s is %g; it must be 0 or more", names[k], *values[k]);
    }
    if (joint->friction > 0 && joint->kind == BOUGH_JOINT_BALL)
        return bo_xml_refuse(m->xml, e, "frictionloss of a ball is not supported");
    BO_TRY(bo_mjcf_numbers(m, e, "armature", 1, &armature));
    BO_TRY(bo_mjcf_numbers(m, e, "ref", 1, &reference));
    if (armature != 0)
        return bo_xml_refuse(m->xml, e, "armature is %g; give a body this inertia instead, and set it to 0", armature);
    if (reference != 0)
        return bo_xml_refuse(m->xml, e, "ref is %g; place the body where the joint is 0, and set it to 0", reference);
    BO_TRY(bo_mjcf_numbers(m, e, "springref", 1, &joint->offset));
    joint->offset = joint->stiffness > 0 ? unit * joint->offset : 0;
    if (joint->offset != 0 && joint->kind == BOUGH_JOINT_BALL)
        return bo_xml_refuse(m->xml, e, "springref of a ball is not supported");
    return BOUGH_OK;
}

#define JOINT_KEYS " name class type pos axis range limited damping stiffness springref frictionloss ref armature "
#define JOINT_IGNORED \
    " group solreflimit solimplimit solreffriction solimpfriction margin user actuatorfrcrange actuatorfrclimited "

static bough_status read_joint(const bo_mjcf *m, const bo_xml_element *e, bo_robot_joint *joint) {
    static const char *const types[] = {"hinge", "slide", "ball", "free"};
    static const bough_joint_kind kinds[] = {BOUGH_JOINT_HINGE, BOUGH_JOINT_PRISMATIC, BOUGH_JOINT_BALL,
                                             BOUGH_JOINT_FREE};
    double axis[3] = {0, 0, 1}, anchor[3] = {0};
    int kind = 0;
    if (bo_xml_is(e, "freejoint")) {
        joint->kind = BOUGH_JOINT_FREE;
        return bo_mjcf_check(m, e, " name ", " group align ");
    }
    BO_TRY(bo_mjcf_check(m, e, JOINT_KEYS, JOINT_IGNORED));
    const char *type = bo_mjcf_get(m, e, "type");
    while (type && kind < 4 && strcmp(type, types[kind]) != 0)
        kind++;
    if (kind == 4)
        return bo_xml_fail(m->xml, e, "has the type \"%.60s\"; there are hinge, slide, ball, free", type);
    joint->kind = kinds[kind];
    BO_TRY(bo_mjcf_numbers(m, e, "pos", 3, anchor));
    BO_TRY(bo_mjcf_numbers(m, e, "axis", 3, axis));
    joint->anchor = bo_load3(anchor), joint->axis = bo_load3(axis);
    if (!(bo_norm(joint->axis) > 1e-9))
        return fail_direction(m, e, "axis");
    joint->axis = bo_normalize(joint->axis);
    if (joint->kind == BOUGH_JOINT_FREE)
        return BOUGH_OK;
    const double unit = joint->kind == BOUGH_JOINT_PRISMATIC ? 1 : m->angle;
    BO_TRY(read_limits(m, e, unit, joint));
    return read_springs(m, e, unit, joint);
}

/* ---- bodies ---- */

static const bo_xml_element *next_joint(const bo_xml *xml, const bo_xml_element *e) {
    while (e && !bo_xml_is(e, "joint") && !bo_xml_is(e, "freejoint"))
        e = bo_xml_next(xml, e, NULL);
    return e;
}

static bough_status add_joint(const bo_mjcf *m, const bo_xml_element *body, int32_t parent, int32_t link) {
    bo_robot *robot = m->robot;
    const bo_xml_element *e = next_joint(m->xml, bo_xml_child(m->xml, body, NULL));
    const bo_xml_element *second = e ? next_joint(m->xml, bo_xml_next(m->xml, e, NULL)) : NULL;
    const char *given = e ? bo_xml_get(m->xml, e, "name") : NULL;
    char name[300];
    int32_t j;
    if (second)
        return bo_xml_refuse(m->xml, second,
                             "body \"%.60s\" has a joint already, in line %d; give each joint a body of its own",
                             robot->links[link].name, e->line);
    snprintf(name, sizeof name, "%.200s.%s", robot->links[link].name, e ? "joint" : "weld");
    BO_TRY(bo_robot_add_joint(robot, e ? e : body, given && given[0] ? given : name, &j));
    bo_robot_joint *joint = &robot->joints[j];
    joint->parent = parent, joint->child = link;
    robot->links[link].above = j;
    BO_TRY(bo_mjcf_pose(m, body, &joint->in_parent));
    return e ? read_joint(m, e, joint) : BOUGH_OK;
}

static bough_status check_children(const bo_mjcf *m, const bo_xml_element *of, const char *known, const char *ignored) {
    for (const bo_xml_element *e = bo_xml_child(m->xml, of, NULL); e; e = bo_xml_next(m->xml, e, NULL))
        if (!is_among(known, e->name) && !is_among(ignored, e->name))
            return bo_xml_refuse(m->xml, e, "is not supported in <%s>; Bough takes%.200s", of->name, known);
    return BOUGH_OK;
}

#define BODY_CHILDREN " body joint freejoint geom inertial "
#define BODY_IGNORED " site camera light "

static bough_status add_bodies(const bo_mjcf *m, const bo_xml_element *of, int32_t parent);

static bough_status add_body(const bo_mjcf *m, const bo_xml_element *body, int32_t parent) {
    const char *given = bo_xml_get(m->xml, body, "name");
    char name[40];
    double lifted = 0;
    int32_t link;
    snprintf(name, sizeof name, "body%d", m->robot->link_count);
    BO_TRY(bo_mjcf_check(m, body, " name pos childclass gravcomp" BO_MJCF_TURNS, " user sleep "));
    BO_TRY(bo_xml_numbers(m->xml, body, "gravcomp", 1, &lifted));
    if (lifted != 0)
        return bo_xml_refuse(m->xml, body, "gravcomp is %g; gravity acts on everything", lifted);
    BO_TRY(check_children(m, body, BODY_CHILDREN, BODY_IGNORED));
    BO_TRY(bo_robot_add_link(m->robot, body, given && given[0] ? given : name, &link));
    BO_TRY(add_joint(m, body, parent, link));
    BO_TRY(bo_mjcf_geoms(m, body, link));
    return add_bodies(m, body, link);
}

/* As deep as the reader of XML lets elements be nested. */
static bough_status add_bodies(const bo_mjcf *m, const bo_xml_element *of, int32_t parent) {
    for (const bo_xml_element *e = bo_xml_child(m->xml, of, "body"); e; e = bo_xml_next(m->xml, e, "body"))
        BO_TRY(add_body(m, e, parent));
    return BOUGH_OK;
}

/* The world is a body that is drawn where it has geoms other than planes. */
static bough_status add_world(const bo_mjcf *m, const bo_xml_element *world) {
    bool drawn = false;
    BO_TRY(check_children(m, world, " body geom ", BODY_IGNORED));
    for (const bo_xml_element *e = bo_xml_child(m->xml, world, "geom"); e; e = bo_xml_next(m->xml, e, "geom")) {
        const char *type = bo_mjcf_get(m, e, "type");
        drawn = drawn || !type || strcmp(type, "plane") != 0;
    }
    BO_TRY(bo_robot_add_link(m->robot, world, drawn ? "ground" : "world", NULL));
    BO_TRY(bo_mjcf_geoms(m, world, 0));
    return add_bodies(m, world, 0);
}

/* ---- equations between joints ---- */

/* q1 = c0 + c1 q2; higher powers are refused. */
static bough_status read_equation(const bo_mjcf *m, const bo_xml_element *e) {
    const char *names[2];
    double c[5] = {0, 1, 0, 0, 0};
    int32_t joints[2];
    if (!bo_xml_is(e, "joint"))
        return bo_xml_refuse(m->xml, e,
                             "is not supported in <equality>; Bough takes <joint>, and joints of the scene "
                             "close loops");
    BO_TRY(bo_mjcf_check(m, e, " name class joint1 joint2 polycoef ", " active solref solimp "));
    for (int k = 0; k < 2; k++) {
        BO_TRY(bo_xml_must(m->xml, e, k ? "joint2" : "joint1", &names[k]));
        joints[k] = bo_robot_find_joint(m->robot, names[k]);
        if (joints[k] < 0)
            return bo_xml_fail(m->xml, e, "there is no joint \"%.60s\"", names[k]);
    }
    BO_TRY(bo_xml_numbers(m->xml, e, "polycoef", 5, c));
    if (c[2] != 0 || c[3] != 0 || c[4] != 0)
        return bo_xml_refuse(m->xml, e, "polycoef has powers of the second joint; Bough's gears are linear");
    bo_robot_joint *joint = &m->robot->joints[joints[0]];
    if (joint->mimics >= 0)
        return bo_xml_fail(m->xml, e, "joint \"%.60s\" follows another already", names[0]);
    joint->mimics = joints[1], joint->ratio = c[1], joint->shift = c[0];
    return BOUGH_OK;
}

/* ---- the file ---- */

static bough_status read_sequence(bo_mjcf *m, const bo_xml_element *e) {
    const char *word = bo_xml_get(m->xml, e, "eulerseq");
    if (!word)
        return BOUGH_OK;
    if (strlen(word) != 3 || strspn(word, "xyzXYZ") != 3)
        return bo_xml_fail(m->xml, e, "eulerseq is \"%.40s\"; it must be three letters of xyz or XYZ", word);
    m->sequence = word;
    return BOUGH_OK;
}

static bough_status read_compiler(bo_mjcf *m, const bo_xml_element *e) {
    static const char *const modes[] = {"false", "auto", "true"}; /* bo_mjcf_inertia */
    const char *angle = bo_xml_get(m->xml, e, "angle"), *space = bo_xml_get(m->xml, e, "coordinate");
    const char *mode = bo_xml_get(m->xml, e, "inertiafromgeom"), *folder = bo_xml_get(m->xml, e, "meshdir");
    int k = 0;
    BO_TRY(bo_mjcf_check(m, e, " angle coordinate eulerseq autolimits inertiafromgeom meshdir assetdir ",
                         " strippath texturedir discardvisual usethread fusestatic saveinertial "));
    if (angle && strcmp(angle, "radian") != 0 && strcmp(angle, "degree") != 0)
        return bo_xml_fail(m->xml, e, "angle is \"%.40s\"; it must be radian or degree", angle);
    if (angle)
        m->angle = strcmp(angle, "radian") == 0 ? 1 : M_PI / 180;
    if (space && strcmp(space, "local") != 0)
        return bo_xml_refuse(m->xml, e, "coordinate is \"%.40s\"; Bough takes local ones", space);
    while (mode && k < 3 && strcmp(mode, modes[k]) != 0)
        k++;
    if (k == 3)
        return bo_xml_fail(m->xml, e, "inertiafromgeom is \"%.40s\"; it must be true, false or auto", mode);
    if (mode)
        m->inertia = (bo_mjcf_inertia)k;
    if (folder || (folder = bo_xml_get(m->xml, e, "assetdir")))
        m->meshes = folder;
    BO_TRY(read_flag(m, e, "autolimits", m->limits_by_range, &m->limits_by_range));
    return read_sequence(m, e);
}

static bough_status read_option(const bo_mjcf *m, const bo_xml_element *e) {
    static const char *const airs[] = {"wind", "density", "viscosity"};
    bo_robot *robot = m->robot;
    for (int k = 0; k < 3; k++)
        if (bo_xml_get(m->xml, e, airs[k]))
            return bo_xml_refuse(m->xml, e, "%s is not supported; bodies move in nothing", airs[k]);
    return bo_xml_numbers(m->xml, e, "gravity", 3, robot->gravity);
}

/* Classes with those inside them; joints and geoms in them must be known here. */
static bough_status read_classes(bo_mjcf *m, const bo_xml_element *e) {
    if (m->class_count > 0 && !bo_xml_is(parent_of(m->xml, e), "default"))
        return bo_xml_refuse(m->xml, e, "there is one in line %d already; make one of both", m->classes[0]->line);
    if (m->class_count == BO_MJCF_MOST_CLASSES)
        return bo_xml_fail(m->xml, e, "there are more than %d classes", BO_MJCF_MOST_CLASSES);
    m->classes[m->class_count++] = e;
    for (const bo_xml_element *c = bo_xml_child(m->xml, e, "default"); c; c = bo_xml_next(m->xml, c, "default")) {
        const char *name;
        BO_TRY(bo_xml_must(m->xml, c, "class", &name));
        if (find_class(m, name))
            return bo_xml_fail(m->xml, c, "there is a class \"%.60s\" already", name);
        BO_TRY(read_classes(m, c));
    }
    for (const bo_xml_element *g = bo_xml_child(m->xml, e, "geom"); g; g = bo_xml_next(m->xml, g, "geom"))
        BO_TRY(bo_mjcf_check(m, g, BO_MJCF_GEOM_KEYS, BO_MJCF_GEOM_IGNORED));
    for (const bo_xml_element *j = bo_xml_child(m->xml, e, "joint"); j; j = bo_xml_next(m->xml, j, "joint"))
        BO_TRY(bo_mjcf_check(m, j, JOINT_KEYS, JOINT_IGNORED));
    return BOUGH_OK;
}

/* Sections in the order in which they are needed; each may be there several times. */
static bough_status for_each(bo_mjcf *m, const bo_xml_element *root, const char *name,
                             bough_status (*read)(bo_mjcf *m, const bo_xml_element *e)) {
    for (const bo_xml_element *e = bo_xml_child(m->xml, root, name); e; e = bo_xml_next(m->xml, e, name))
        BO_TRY(read(m, e));
    return BOUGH_OK;
}

static bough_status take_option(bo_mjcf *m, const bo_xml_element *e) {
    return read_option(m, e);
}

static bough_status take_equations(bo_mjcf *m, const bo_xml_element *e) {
    for (const bo_xml_element *c = bo_xml_child(m->xml, e, NULL); c; c = bo_xml_next(m->xml, c, NULL))
        BO_TRY(read_equation(m, c));
    return BOUGH_OK;
}

static bough_status check_root(const bo_mjcf *m, const bo_xml_element *root) {
    static const char seen[] = " size visual statistic custom keyframe sensor contact ";
    if (!bo_xml_is(root, "mujoco"))
        return bo_xml_fail(m->xml, root, "an MJCF file is one <mujoco>");
    for (const bo_xml_element *e = bo_xml_child(m->xml, root, NULL); e; e = bo_xml_next(m->xml, e, NULL)) {
        if (bo_xml_is(e, "actuator"))
            return bo_xml_refuse(m->xml, e, "is not supported; \"motors\" of the scene move joints");
        if (bo_xml_is(e, "include"))
            return bo_xml_refuse(m->xml, e, "is not supported; put the other file's text in its place");
        if (bo_xml_is(e, "contact") || bo_xml_is(e, "keyframe"))
            bo_xml_warn(m->xml, e, "is passed over");
    }
    return check_children(m, root, " compiler option default asset worldbody equality ", seen);
}

static bough_status check_names(const bo_robot *robot, bo_name *names, int32_t count, const char *what) {
    bo_names_sort(names, count);
    for (int32_t i = 1; i < count; i++)
        if (strcmp(names[i - 1].name, names[i].name) == 0) {
            const int32_t k = names[i].index;
            return bo_xml_fail(robot->xml, what[0] == 'b' ? robot->links[k].at : robot->joints[k].at,
                               "there is a %s \"%.60s\" already", what, names[i].name);
        }
    return BOUGH_OK;
}

static bough_status check_all_names(const bo_robot *robot) {
    bo_name *names = BO_NEW_ARRAY(robot->ctx, bo_name, robot->link_count + robot->joint_count);
    if (!names)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < robot->link_count; i++)
        names[i] = (bo_name){robot->links[i].name, i};
    bough_status status = check_names(robot, names, robot->link_count, "body");
    for (int32_t j = 0; j < robot->joint_count; j++)
        names[j] = (bo_name){robot->joints[j].name, j};
    if (status == BOUGH_OK)
        status = check_names(robot, names, robot->joint_count, "joint");
    bo_free(robot->ctx, names);
    return status;
}

bough_status bo_robot_from_mjcf(bo_robot *robot, const char *path, bo_xml *xml) {
    bo_mjcf m = {.robot = robot,
                 .xml = xml,
                 .path = path,
                 .angle = M_PI / 180,
                 .sequence = "xyz",
                 .limits_by_range = true,
                 .inertia = BO_MJCF_AUTOMATIC};
    robot->xml = xml;
    robot->has_gravity = true, robot->gravity[2] = -9.81; /* as MJCF has it */
    BO_TRY(bo_xml_load(robot->ctx, path, "MJCF", xml));
    const bo_xml_element *root = &xml->elements[0], *world = bo_xml_child(xml, root, "worldbody");
    BO_TRY(check_root(&m, root));
    if (!world || bo_xml_next(xml, world, "worldbody"))
        return bo_xml_fail(xml, root, "must have one <worldbody>");
    BO_TRY(for_each(&m, root, "compiler", read_compiler));
    BO_TRY(for_each(&m, root, "option", take_option));
    BO_TRY(for_each(&m, root, "default", read_classes));
    BO_TRY(add_world(&m, world));
    if (robot->link_count < 2)
        return bo_xml_fail(xml, world, "has no <body>");
    BO_TRY(check_all_names(robot));
    return for_each(&m, root, "equality", take_equations);
}
