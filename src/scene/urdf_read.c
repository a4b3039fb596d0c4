/* URDF: links and joints as the file has them, and the tree that they are. */
#include "scene/urdf.h"

#include "base/eigen3.h"

#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

static int compare_names(const void *a, const void *b) {
    const bo_name *one = a, *two = b;
    const int order = strcmp(one->name, two->name);
    return order ? order : (one->index > two->index) - (one->index < two->index);
}

void bo_names_sort(bo_name *names, int32_t count) {
    qsort(names, (size_t)count, sizeof *names, compare_names);
}

int32_t bo_names_find(const bo_name *names, int32_t count, const char *name) {
    int32_t low = 0, high = count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (strcmp(names[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && strcmp(names[low].name, name) == 0 ? names[low].index : -1;
}

/* ---- pieces ---- */

/* Roll, pitch and yaw turn about fixed axes: first about x. */
static bo_mat3 turn(const double rpy[3]) {
    const bo_mat3 X = bo_exp3(bo_v3(rpy[0], 0, 0)), Y = bo_exp3(bo_v3(0, rpy[1], 0)), Z = bo_exp3(bo_v3(0, 0, rpy[2]));
    return bo_mat_mul(Z, bo_mat_mul(Y, X));
}

bough_status bo_urdf_origin(const bo_urdf *u, const bo_xml_element *of, bo_se3 *origin) {
    const bo_xml_element *at = bo_xml_child(&u->xml, of, "origin");
    double xyz[3] = {0}, rpy[3] = {0};
    BO_TRY(bo_xml_numbers(&u->xml, at, "xyz", 3, xyz));
    BO_TRY(bo_xml_numbers(&u->xml, at, "rpy", 3, rpy));
    *origin = (bo_se3){turn(rpy), bo_load3(xyz)};
    return BOUGH_OK;
}

/* Elements of other programs, and those that are read elsewhere, give no warning; anything else may be a typing
 * mistake. */
static void warn_unknown(bo_urdf *u, const bo_xml_element *of, const char *const *known, int count) {
    static const char *const others[] = {"gazebo",
                                         "transmission",
                                         "material",
                                         "sensor",
                                         "ros2_control",
                                         "mujoco",
                                         "safety_controller",
                                         "verbose",
                                         "calibration",
                                         "collision_checking",
                                         "self_collision_checking"};
    for (const bo_xml_element *e = bo_xml_child(&u->xml, of, NULL); e; e = bo_xml_next(&u->xml, e, NULL)) {
        bool found = false;
        for (int k = 0; k < count && !found; k++)
            found = bo_xml_is(e, known[k]);
        for (size_t k = 0; k < sizeof others / sizeof *others && !found; k++)
            found = bo_xml_is(e, others[k]);
        if (!found)
            bo_xml_warn(&u->xml, e, "is not known here and is ignored");
    }
}
#define WARN_UNKNOWN(u, of, ...)                                \
    warn_unknown((u), (of), (const char *const[]){__VA_ARGS__}, \
                 (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *)))

/* One child of this name at most; NULL: there is none. */
static bough_status only_child(const bo_urdf *u, const bo_xml_element *of, const char *name,
                               const bo_xml_element **child) {
    *child = bo_xml_child(&u->xml, of, name);
    const bo_xml_element *second = *child ? bo_xml_next(&u->xml, *child, name) : NULL;
    return second ? bo_xml_fail(&u->xml, second, "<%s> has it already in line %d", of->name, (*child)->line) : BOUGH_OK;
}

/* ---- links ---- */

/* A solid's principal moments obey I1 + I2 >= I3. */
static bough_status check_inertia(bo_urdf *u, const bo_xml_element *at, bo_mat3 I) {
    bo_vec3 values;
    bo_mat3 axes;
    bo_eigen3(I, &values, &axes);
    const double slip = 1e-6 * fabs(values.z);
    if (!(values.x >= -slip))
        return bo_xml_fail(&u->xml, at, "has a principal moment of %g kg m^2; none may be negative", values.x);
    if (values.z > values.x + values.y + 10 * slip)
        bo_xml_warn(&u->xml, at,
                    "its principal moments are %.3g, %.3g and %.3g kg m^2; in no solid is one larger than the sum of "
                    "the others",
                    values.x, values.y, values.z);
    return BOUGH_OK;
}

static bough_status read_inertial(bo_urdf *u, const bo_xml_element *at, bo_urdf_link *link) {
    const bo_xml_element *mass, *inertia;
    bo_se3 origin;
    BO_TRY(bo_urdf_origin(u, at, &origin));
    BO_TRY(only_child(u, at, "mass", &mass));
    BO_TRY(only_child(u, at, "inertia", &inertia));
    if (!mass)
        return bo_xml_fail(&u->xml, at, "<mass value=\"...\"/> is missing");
    BO_TRY(bo_xml_need_numbers(&u->xml, mass, "value", 1, &link->body.mass));
    if (!(link->body.mass >= 0))
        return bo_xml_fail(&u->xml, mass, "%g kg; a mass is not negative", link->body.mass);
    WARN_UNKNOWN(u, at, "origin", "mass", "inertia");
    if (!inertia)
        return link->body.mass > 0 ? bo_xml_fail(&u->xml, at, "<inertia ixx=\"...\" .../> is missing") : BOUGH_OK;
    double I[6]; /* xx, yy, zz, yz, xz, xy */
    static const char *const names[] = {"ixx", "iyy", "izz", "iyz", "ixz", "ixy"};
    for (int k = 0; k < 6; k++)
        BO_TRY(bo_xml_need_numbers(&u->xml, inertia, names[k], 1, &I[k]));
    const bo_mat3 own = {{I[0], I[5], I[4], I[5], I[1], I[3], I[4], I[3], I[2]}};
    BO_TRY(check_inertia(u, inertia, own));
    bo_store3(link->body.centre, origin.t);
    const bo_mat3 turned = bo_sym(bo_mat_mul(origin.R, bo_mat_mul(own, bo_transpose(origin.R))));
    memcpy(link->body.inertia, turned.m, sizeof turned.m);
    return BOUGH_OK;
}

static bough_status read_link(bo_urdf *u, const bo_xml_element *at, bo_urdf_link *link) {
    const bo_xml_element *inertial;
    *link = (bo_urdf_link){.at = at, .body = bough_default_rigid_body_def(), .above = -1, .below = -1};
    link->body.mass = 0;
    memset(link->body.inertia, 0, sizeof link->body.inertia);
    BO_TRY(bo_xml_must(&u->xml, at, "name", &link->body.name));
    BO_TRY(only_child(u, at, "inertial", &inertial));
    WARN_UNKNOWN(u, at, "inertial", "visual", "collision");
    return inertial ? read_inertial(u, inertial, link) : BOUGH_OK;
}

/* ---- joints ---- */

static bough_status read_kind(const bo_urdf *u, bo_urdf_joint *joint) {
    static const struct {
        const char *type;
        bough_joint_kind kind;
    } known[] = {{"revolute", BOUGH_JOINT_HINGE},
                 {"continuous", BOUGH_JOINT_HINGE},
                 {"prismatic", BOUGH_JOINT_PRISMATIC},
                 {"fixed", BOUGH_JOINT_WELD}};
    const char *type;
    BO_TRY(bo_xml_must(&u->xml, joint->at, "type", &type));
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strcmp(type, known[k].type) == 0) {
            joint->def.kind = known[k].kind;
            return BOUGH_OK;
        }
    static const char *const freer[] = {"floating", "planar"};
    for (int k = 0; k < 2 && u->multibody; k++)
        if (strcmp(type, freer[k]) == 0) {
            joint->def.kind = k ? BOUGH_JOINT_PLANAR : BOUGH_JOINT_FREE;
            return BOUGH_OK;
        }
    if (strcmp(type, "floating") == 0)
        return bo_xml_refuse(&u->xml, joint->at,
                             "joint \"%.60s\" is floating; for a base that moves remove it with the link above it and "
                             "write \"free_base\": true into the side file",
                             joint->def.name);
    if (strcmp(type, "planar") == 0)
        return bo_xml_refuse(&u->xml, joint->at,
                             "joint \"%.60s\" is planar, which Bough has not; write two prismatic joints and a "
                             "continuous one",
                             joint->def.name);
    return bo_xml_fail(&u->xml, joint->at,
                       "joint \"%.60s\" has the type \"%.60s\"; there are revolute, continuous, prismatic, fixed%s",
                       joint->def.name, type, u->multibody ? ", planar, floating" : "");
}

static bough_status read_axis(const bo_urdf *u, bo_urdf_joint *joint) {
    const bo_xml_element *at;
    double xyz[3] = {1, 0, 0}; /* as URDF has it */
    BO_TRY(only_child(u, joint->at, "axis", &at));
    if (at)
        BO_TRY(bo_xml_need_numbers(&u->xml, at, "xyz", 3, xyz));
    const double length = bo_norm(bo_load3(xyz));
    if (!(length > 1e-9))
        return bo_xml_fail(&u->xml, at, "the axis of joint \"%.60s\" has no direction", joint->def.name);
    joint->axis = bo_scale(1 / length, bo_load3(xyz));
    return BOUGH_OK;
}

static bough_status read_limits(const bo_urdf *u, bo_urdf_joint *joint) {
    const bo_xml_element *at;
    BO_TRY(only_child(u, joint->at, "limit", &at));
    if (strcmp(bo_xml_get(&u->xml, joint->at, "type"), "continuous") == 0)
        return BOUGH_OK;
    if (!at)
        return bo_xml_fail(&u->xml, joint->at, "joint \"%.60s\" has no <limit lower=\"...\" upper=\"...\"/>%s",
                           joint->def.name,
                           joint->def.kind == BOUGH_JOINT_HINGE ? "; one without limits is of type continuous" : "");
    double *lower = &joint->def.lower[0], *upper = &joint->def.upper[0];
    *lower = *upper = 0; /* as URDF has it */
    BO_TRY(bo_xml_numbers(&u->xml, at, "lower", 1, lower));
    BO_TRY(bo_xml_numbers(&u->xml, at, "upper", 1, upper));
    if (*lower > *upper)
        return bo_xml_fail(&u->xml, at, "the lower limit of joint \"%.60s\", %g, is above the upper one, %g",
                           joint->def.name, *lower, *upper);
    return BOUGH_OK;
}

static bough_status read_damping(bo_urdf *u, bo_urdf_joint *joint) {
    const bo_xml_element *at;
    double friction = 0;
    BO_TRY(only_child(u, joint->at, "dynamics", &at));
    BO_TRY(bo_xml_numbers(&u->xml, at, "damping", 1, &joint->def.damping[0]));
    BO_TRY(bo_xml_numbers(&u->xml, at, "friction", 1, &friction));
    if (!(joint->def.damping[0] >= 0))
        return bo_xml_fail(&u->xml, at, "the damping of joint \"%.60s\" is %g; it must be 0 or more", joint->def.name,
                           joint->def.damping[0]);
    if (u->multibody && !(friction >= 0))
        return bo_xml_fail(&u->xml, at, "the friction of joint \"%.60s\" is %g; it must be 0 or more", joint->def.name,
                           friction);
    if (u->multibody)
        joint->def.friction[0] = friction;
    else if (friction != 0)
        bo_xml_warn(&u->xml, at, "friction in joint \"%.60s\" is ignored; joints have springs and dampers only",
                    joint->def.name);
    return BOUGH_OK;
}

static bough_status read_ends(const bo_urdf *u, bo_urdf_joint *joint) {
    static const char *const names[] = {"parent", "child"};
    for (int side = 0; side < 2; side++) {
        const bo_xml_element *at;
        const char *name;
        BO_TRY(only_child(u, joint->at, names[side], &at));
        if (!at)
            return bo_xml_fail(&u->xml, joint->at, "joint \"%.60s\" has no <%s link=\"...\"/>", joint->def.name,
                               names[side]);
        BO_TRY(bo_xml_must(&u->xml, at, "link", &name));
        const int32_t link = bo_names_find(u->link_names, u->link_count, name);
        if (link < 0)
            return bo_xml_fail(&u->xml, at, "joint \"%.60s\": there is no link \"%.60s\"", joint->def.name, name);
        *(side ? &joint->child : &joint->parent) = link;
    }
    return BOUGH_OK;
}

static bough_status read_joint(bo_urdf *u, const bo_xml_element *at, bo_urdf_joint *joint) {
    *joint = (bo_urdf_joint){.at = at, .next = -1, .def = bough_default_joint_def()};
    BO_TRY(bo_xml_must(&u->xml, at, "name", &joint->def.name));
    BO_TRY(read_kind(u, joint));
    BO_TRY(only_child(u, at, "mimic", &joint->mimic));
    if (joint->mimic && !u->multibody)
        return bo_xml_refuse(&u->xml, joint->mimic,
                             "joint \"%.60s\" mimics another; Bough's joints have springs of their own. Remove <mimic> "
                             "and give the joint a stiffness, or make it fixed",
                             joint->def.name);
    BO_TRY(bo_urdf_origin(u, at, &joint->origin));
    BO_TRY(read_ends(u, joint));
    WARN_UNKNOWN(u, at, "origin", "parent", "child", "axis", "limit", "dynamics", "mimic");
    if (joint->def.kind == BOUGH_JOINT_WELD || joint->def.kind == BOUGH_JOINT_FREE)
        return BOUGH_OK;
    BO_TRY(read_axis(u, joint));
    if (joint->def.kind != BOUGH_JOINT_PLANAR)
        BO_TRY(read_limits(u, joint));
    return read_damping(u, joint);
}

/* ---- the tree ---- */

/* Everything hangs below one link, each at one joint. */
static bough_status grow_tree(bo_urdf *u) {
    for (int32_t j = u->joint_count - 1; j >= 0; j--) { /* from the back, so that lists are in the file's order */
        bo_urdf_joint *joint = &u->joints[j];
        joint->next = u->links[joint->parent].below;
        u->links[joint->parent].below = j;
    }
    for (int32_t j = 0; j < u->joint_count; j++) {
        bo_urdf_link *child = &u->links[u->joints[j].child];
        if (child->above >= 0)
            return bo_xml_refuse(&u->xml, u->joints[j].at,
                                 "link \"%.60s\" hangs at joint \"%.60s\" already; a URDF is a tree. Loops can be "
                                 "described in a scene file",
                                 child->body.name, u->joints[child->above].def.name);
        child->above = j;
    }
    u->root = -1;
    for (int32_t i = 0; i < u->link_count; i++) {
        if (u->links[i].above >= 0)
            continue;
        if (u->root >= 0)
            return bo_xml_fail(&u->xml, u->links[i].at,
                               "neither \"%.60s\" nor \"%.60s\" hangs at a joint; one link only may be the base",
                               u->links[u->root].body.name, u->links[i].body.name);
        u->root = i;
    }
    if (u->root < 0)
        return bo_xml_fail(&u->xml, u->links[0].at, "every link hangs at a joint, in a circle; one must be the base");
    int32_t count = 0;
    u->order[count++] = u->root;
    for (int32_t k = 0; k < count; k++)
        for (int32_t j = u->links[u->order[k]].below; j >= 0; j = u->joints[j].next)
            u->order[count++] = u->joints[j].child;
    if (count == u->link_count)
        return BOUGH_OK;
    for (int32_t i = 0; i < u->link_count; i++)
        u->links[i].head = -1;
    for (int32_t k = 0; k < count; k++)
        u->links[u->order[k]].head = 0;
    int32_t lost = 0;
    while (u->links[lost].head == 0)
        lost++;
    return bo_xml_fail(&u->xml, u->links[lost].at, "link \"%.60s\" hangs in a circle of joints, not at \"%.60s\"",
                       u->links[lost].body.name, u->links[u->root].body.name);
}

static bough_status sort_names(const bo_urdf *u, bo_name *names, int32_t count, const char *what) {
    bo_names_sort(names, count);
    for (int32_t i = 1; i < count; i++)
        if (strcmp(names[i - 1].name, names[i].name) == 0) {
            const bool links = names == u->link_names;
            const int32_t a = names[i - 1].index, b = names[i].index;
            return bo_xml_fail(&u->xml, links ? u->links[b].at : u->joints[b].at,
                               "there is a %s \"%.60s\" already, in line %d", what, names[i].name,
                               links ? u->links[a].at->line : u->joints[a].at->line);
        }
    return BOUGH_OK;
}

static int32_t count_children(const bo_urdf *u, const bo_xml_element *of, const char *name) {
    int32_t count = 0;
    for (const bo_xml_element *e = bo_xml_child(&u->xml, of, name); e; e = bo_xml_next(&u->xml, e, name))
        count++;
    return count;
}

static bough_status read_links(bo_urdf *u, const bo_xml_element *robot) {
    int32_t i = 0;
    for (const bo_xml_element *e = bo_xml_child(&u->xml, robot, "link"); e; e = bo_xml_next(&u->xml, e, "link"), i++) {
        BO_TRY(read_link(u, e, &u->links[i]));
        u->link_names[i] = (bo_name){u->links[i].body.name, i};
    }
    return sort_names(u, u->link_names, u->link_count, "link");
}

static bough_status read_joints(bo_urdf *u, const bo_xml_element *robot) {
    int32_t i = 0;
    for (const bo_xml_element *e = bo_xml_child(&u->xml, robot, "joint"); e;
         e = bo_xml_next(&u->xml, e, "joint"), i++) {
        BO_TRY(read_joint(u, e, &u->joints[i]));
        u->joint_names[i] = (bo_name){u->joints[i].def.name, i};
    }
    return sort_names(u, u->joint_names, u->joint_count, "joint");
}

static bough_status check_robot(bo_urdf *u, const bo_xml_element *robot) {
    if (!bo_xml_is(robot, "robot"))
        return bo_xml_fail(&u->xml, robot, "a URDF file is one <robot>");
    for (const bo_xml_element *e = bo_xml_child(&u->xml, robot, NULL); e; e = bo_xml_next(&u->xml, e, NULL))
        if (strncmp(e->name, "xacro:", 6) == 0)
            return bo_xml_fail(&u->xml, e, "is a macro; expand the file first: xacro %.200s > robot.urdf", u->xml.path);
    WARN_UNKNOWN(u, robot, "link", "joint");
    return BOUGH_OK;
}

bough_status bo_urdf_read(bough_context *ctx, const char *path, bo_urdf *u) {
    BO_TRY(bo_xml_load(ctx, path, "URDF", &u->xml));
    const bo_xml_element *robot = &u->xml.elements[0];
    BO_TRY(check_robot(u, robot));
    u->name = bo_xml_get(&u->xml, robot, "name");
    u->link_count = count_children(u, robot, "link"), u->joint_count = count_children(u, robot, "joint");
    if (u->link_count == 0)
        return bo_xml_fail(&u->xml, robot, "has no <link>");
    u->links = BO_NEW_ZEROS(ctx, bo_urdf_link, u->link_count);
    u->joints = BO_NEW_ZEROS(ctx, bo_urdf_joint, u->joint_count);
    u->link_names = BO_NEW_ZEROS(ctx, bo_name, u->link_count);
    u->joint_names = BO_NEW_ZEROS(ctx, bo_name, u->joint_count);
    u->order = BO_NEW_ARRAY(ctx, int32_t, u->link_count);
    if (!u->links || !u->joints || !u->link_names || !u->joint_names || !u->order)
        return BOUGH_ERROR_MEMORY;
    BO_TRY(read_links(u, robot));
    BO_TRY(read_joints(u, robot));
    return grow_tree(u);
}

void bo_urdf_free(bough_context *ctx, bo_urdf *u) {
    void *const blocks[] = {u->links,         u->joints, u->link_names, u->joint_names, u->order,
                            u->end_effectors, u->bodies, u->joint_defs, u->frames};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++)
        bo_free(ctx, blocks[k]);
    bo_xml_free(&u->xml);
}
