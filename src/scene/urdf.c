/* URDF -> mechanism: links that are welded together become one, and all are placed.
 *
 * A joint of URDF has its frame where the child's is, and turns or slides about an axis in it. Bough's hinges and
 * slides go about z, so that the joint's frame in the child is a rotation A with A z = axis, and in the parent that
 * behind the origin:  child = parent  origin A  joint(t)  A^T. */
#include "scene/urdf.h"

#include "base/eigen3.h"
#include "rig/joint.h"

#include <string.h>

#define URDF_COOKIE 0xB0061070u
#define TURN (2 * 3.14159265358979323846)

bough_urdf_def bough_default_urdf_def(void) {
    return (bough_urdf_def){.cookie = URDF_COOKIE};
}

/* ---- places ---- */

/* A rotation that takes z to the axis; none when that is z. */
static bo_mat3 lay_z_on(bo_vec3 axis) {
    const double x = fabs(axis.x), y = fabs(axis.y), z = fabs(axis.z);
    const bo_vec3 least = x <= y && x <= z ? bo_v3(1, 0, 0) : y <= z ? bo_v3(0, 1, 0) : bo_v3(0, 0, 1);
    const bo_vec3 Y = bo_normalize(bo_cross(axis, least)), X = bo_cross(Y, axis);
    return (bo_mat3){{X.x, Y.x, axis.x, X.y, Y.y, axis.y, X.z, Y.z, axis.z}};
}

/* Returns the pose of the child in the parent. */
static bo_se3 step_over(const bo_urdf_joint *joint) {
    bo_se3 moved = bo_se3_identity();
    if (joint->def.kind == BOUGH_JOINT_HINGE)
        moved.R = bo_exp3(bo_scale(joint->position, joint->axis));
    if (joint->def.kind == BOUGH_JOINT_PRISMATIC)
        moved.t = bo_scale(joint->position, joint->axis);
    return bo_se3_mul(joint->origin, moved);
}

/* Long chains of products drift from rotations by rounding. */
static bo_se3 tidy(bo_se3 g) {
    return (bo_se3){bo_quat_to_matrix(bo_quat_from_matrix(g.R)), g.t};
}

/* Poses of all links, what each is welded to, and the number of each head in the mechanism. Returns how many there are.
 */
static int32_t place_links(bo_urdf *u) {
    for (int32_t k = 0; k < u->link_count; k++) {
        bo_urdf_link *link = &u->links[u->order[k]];
        link->head = u->order[k], link->in_head = bo_se3_identity(), link->pose = bo_se3_identity();
        if (link->above < 0)
            continue;
        const bo_urdf_joint *joint = &u->joints[link->above];
        const bo_urdf_link *parent = &u->links[joint->parent];
        link->pose = tidy(bo_se3_mul(parent->pose, step_over(joint)));
        if (joint->def.kind == BOUGH_JOINT_WELD) {
            link->head = parent->head;
            link->in_head = tidy(bo_se3_mul(parent->in_head, joint->origin));
        }
    }
    int32_t count = 0;
    for (int32_t i = 0; i < u->link_count; i++)
        if (u->links[i].head == i)
            u->links[i].index = count++;
    return count;
}

/* ---- masses ---- */

/* The mass of two solids together, and their inertia about the common centre: I + m (|d|^2 1 - d d^T) of each. */
static void add_solid(bough_rigid_body_def *sum, double mass, bo_vec3 centre, bo_mat3 inertia) {
    const double total = sum->mass + mass;
    const bo_vec3 old = bo_load3(sum->centre);
    const bo_vec3 both = bo_scale(1 / total, bo_add(bo_scale(sum->mass, old), bo_scale(mass, centre)));
    const bo_vec3 shifts[] = {bo_sub(old, both), bo_sub(centre, both)};
    const double masses[] = {sum->mass, mass};
    bo_mat3 I;
    memcpy(I.m, sum->inertia, sizeof I.m);
    I = bo_mat_add(I, inertia);
    for (int k = 0; k < 2; k++) {
        const bo_mat3 d = bo_hat(shifts[k]);
        I = bo_mat_add(I, bo_mat_scale(-masses[k], bo_mat_mul(d, d)));
    }
    sum->mass = total;
    bo_store3(sum->centre, both);
    memcpy(sum->inertia, I.m, sizeof sum->inertia);
}

static void weld_masses(const bo_urdf *u, bough_rigid_body_def *links) {
    for (int32_t i = 0; i < u->link_count; i++) {
        const bo_urdf_link *link = &u->links[i];
        const bo_mat3 R = link->in_head.R;
        bo_mat3 I;
        memcpy(I.m, link->body.inertia, sizeof I.m);
        if (link->body.mass > 0)
            add_solid(&links[u->links[link->head].index], link->body.mass,
                      bo_se3_apply(link->in_head, bo_load3(link->body.centre)),
                      bo_sym(bo_mat_mul(R, bo_mat_mul(I, bo_transpose(R)))));
    }
}

static bough_status check_mass(const bo_urdf *u, const bo_urdf_link *head, const bough_rigid_body_def *link) {
    if (!(link->mass > 0))
        return bo_xml_fail(&u->xml, head->at,
                           "link \"%.60s\" has no mass, nor has anything that is welded to it; every link that moves "
                           "needs <inertial> with one above 0",
                           head->body.name);
    bo_mat3 I, axes;
    bo_vec3 values;
    memcpy(I.m, link->inertia, sizeof I.m);
    bo_eigen3(I, &values, &axes);
    if (!(values.x > 1e-12 * values.z))
        return bo_xml_fail(&u->xml, head->at,
                           "link \"%.60s\" has a principal moment of inertia of %g kg m^2; every link that moves needs "
                           "three above 0",
                           head->body.name, values.x);
    return BOUGH_OK;
}

static bough_status make_links(const bo_urdf *u, bough_rigid_body_def *links) {
    for (int32_t i = 0; i < u->link_count; i++) {
        if (u->links[i].head != i)
            continue;
        bough_rigid_body_def *link = &links[u->links[i].index];
        *link = bough_default_rigid_body_def();
        link->name = u->links[i].body.name;
        link->mass = 0;
        memset(link->inertia, 0, sizeof link->inertia);
        link->pose = bo_put_pose(u->links[i].pose);
    }
    weld_masses(u, links);
    for (int32_t i = 0; i < u->link_count; i++)
        if (u->links[i].head == i && (i != u->root || u->free_base))
            BO_TRY(check_mass(u, &u->links[i], &links[u->links[i].index]));
    return BOUGH_OK;
}

/* ---- joints ---- */

/* The angle of a hinge is read from poses as one between -180 and 180 degrees: limits move with it by whole turns. */
static void take_limits(bo_urdf *u, const bo_urdf_joint *from, bough_joint_def *joint) {
    const double turns = joint->kind == BOUGH_JOINT_HINGE ? TURN * nearbyint(from->position / TURN) : 0;
    const double lower = joint->lower[0], upper = joint->upper[0];
    joint->lower[0] = lower - turns, joint->upper[0] = upper - turns;
    if (from->position < lower || from->position > upper)
        bo_xml_warn(&u->xml, from->at, "joint \"%.60s\" stands at %g, beyond its limits %g and %g", joint->name,
                    from->position, lower, upper);
}

static void make_joint(bo_urdf *u, const bo_urdf_joint *from, bough_joint_def *joint) {
    const bo_urdf_link *parent = &u->links[from->parent];
    bo_se3 A = bo_se3_identity();
    *joint = from->def;
    if (joint->kind != BOUGH_JOINT_COMPLIANT) {
        A.R = lay_z_on(from->axis);
        take_limits(u, from, joint);
    }
    joint->parent = bo_frame_on(u->links[parent->head].index,
                                bo_put_pose(tidy(bo_se3_mul(parent->in_head, bo_se3_mul(from->origin, A)))));
    joint->child = bo_frame_on(u->links[from->child].index, bo_put_pose(A));
}

/* ---- end effectors ---- */

/* A head whose links carry nothing that moves against it is a leaf. It is held where its only <link> without children
 * is (the "tool" frame that many files have), and at its own frame when it has several. */
static int32_t list_leaves(const bo_urdf *u, int32_t *children, int32_t *leaves) {
    memset(children, 0, (size_t)u->link_count * sizeof *children);
    for (int32_t j = 0; j < u->joint_count; j++)
        if (u->joints[j].def.kind != BOUGH_JOINT_WELD)
            children[u->links[u->joints[j].parent].head]++;
    int32_t count = 0;
    for (int32_t i = 0; i < u->link_count; i++)
        if (u->links[i].head == i && i != u->root && children[i] == 0)
            leaves[count++] = i;
    /* children[head] from now on: -1 - its only childless link, or 1 for several */
    for (int32_t i = 0; i < u->link_count; i++) {
        const int32_t head = u->links[i].head;
        if (u->links[i].below < 0)
            children[head] = children[head] == 0 ? -1 - i : 1;
    }
    for (int32_t k = 0; k < count; k++)
        if (children[leaves[k]] < 0)
            leaves[k] = -1 - children[leaves[k]];
    return count;
}

static bough_status list_end_effectors(bough_context *ctx, const bo_urdf *u, const bough_urdf_def *def, int32_t *chosen,
                                       int32_t *count) {
    *count = def ? def->end_effector_count : 0;
    for (int32_t k = 0; k < *count; k++) {
        chosen[k] = bo_names_find(u->link_names, u->link_count, def->end_effectors[k]);
        if (chosen[k] < 0)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: there is no link \"%.60s\" for an end effector", u->xml.path,
                           def->end_effectors[k]);
    }
    if (*count == 0 && u->end_effector_count > 0) {
        *count = u->end_effector_count;
        memcpy(chosen, u->end_effectors, (size_t)*count * sizeof *chosen);
    }
    if (*count == 0) {
        int32_t *children = BO_NEW_ARRAY(ctx, int32_t, u->link_count);
        if (!children)
            return BOUGH_ERROR_MEMORY;
        *count = list_leaves(u, children, chosen);
        bo_free(ctx, children);
    }
    for (int32_t k = 0; k < *count; k++)
        if (u->links[chosen[k]].head == u->root)
            return bo_xml_fail(&u->xml, u->links[chosen[k]].at,
                               "link \"%.60s\" is welded to the base; an end effector moves against it",
                               u->links[chosen[k]].body.name);
    return BOUGH_OK;
}

/* ---- all of it ---- */

static bough_status copy_frames(bough_context *ctx, const bo_urdf *u, bough_urdf *out) {
    out->name = bo_strdup(ctx, u->name && u->name[0] ? u->name : "robot");
    out->frames = BO_NEW_ZEROS(ctx, bough_frame_def, u->link_count);
    if (!out->name || !out->frames)
        return BOUGH_ERROR_MEMORY;
    out->frame_count = u->link_count;
    for (int32_t i = 0; i < u->link_count; i++) {
        out->frames[i] = bo_frame_on(u->links[u->links[i].head].index, bo_put_pose(u->links[i].in_head));
        out->frames[i].name = bo_strdup(ctx, u->links[i].body.name);
        if (!out->frames[i].name)
            return BOUGH_ERROR_MEMORY;
    }
    return BOUGH_OK;
}

static bough_status describe(bough_context *ctx, bo_urdf *u, int32_t link_count, const int32_t *chosen,
                             bough_mechanism_def *made) {
    u->bodies = BO_NEW_ARRAY(ctx, bough_rigid_body_def, link_count);
    u->joint_defs = BO_NEW_ARRAY(ctx, bough_joint_def, u->joint_count);
    u->frames = BO_NEW_ARRAY(ctx, bough_frame_def, made->end_effector_count);
    if (!u->bodies || !u->joint_defs || !u->frames)
        return bo_fail_memory(ctx);
    BO_TRY(make_links(u, u->bodies));
    for (int32_t j = 0; j < u->joint_count; j++)
        if (u->joints[j].def.kind != BOUGH_JOINT_WELD)
            make_joint(u, &u->joints[j], &u->joint_defs[made->joint_count++]);
    for (int32_t k = 0; k < made->end_effector_count; k++) {
        const bo_urdf_link *link = &u->links[chosen[k]];
        u->frames[k] = bo_frame_on(u->links[link->head].index, bo_put_pose(link->in_head));
        u->frames[k].name = link->body.name;
    }
    made->link_count = link_count, made->links = u->bodies;
    made->joints = u->joint_defs, made->end_effectors = u->frames;
    made->base = u->links[u->root].index, made->free_base = u->free_base;
    return BOUGH_OK;
}

/* The one that is named, or else ROBOT.dynamics.json where it is there. */
static bough_status find_side_file(bough_context *ctx, const char *path, const bough_urdf_def *def, bough_urdf *out) {
    const bool named = def && def->dynamics;
    char *side = named ? bo_strdup(ctx, def->dynamics) : bo_path_replace_extension(ctx, path, ".dynamics.json");
    out->dynamics = side;
    if (!side)
        return BOUGH_ERROR_MEMORY;
    if (!named && !bo_file_exists(side)) {
        bo_free(ctx, side);
        out->dynamics = NULL;
    }
    return BOUGH_OK;
}

bough_status bo_urdf_describe(bough_context *ctx, const char *path, const bough_urdf_def *def, bo_urdf *u,
                              bough_urdf *out, bough_mechanism_def *made) {
    *made = bough_default_mechanism_def();
    if (def && def->cookie != URDF_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the def was not made by bough_default_urdf_def()");
    BO_TRY(bo_urdf_read(ctx, path, u));
    BO_TRY(find_side_file(ctx, path, def, out));
    BO_TRY(bo_urdf_dynamics(ctx, out->dynamics, u));
    const int32_t link_count = place_links(u);
    if (link_count < 2)
        return bo_xml_fail(&u->xml, &u->xml.elements[0], "has no joint that moves; everything is one rigid link");
    BO_TRY(copy_frames(ctx, u, out));
    BO_TRY(bo_urdf_shapes(ctx, u, out));
    const int32_t asked = def ? def->end_effector_count : 0;
    const int32_t room = asked > u->end_effector_count ? asked : u->end_effector_count;
    out->end_effectors = BO_NEW_ARRAY(ctx, int32_t, room > u->link_count ? room : u->link_count);
    if (!out->end_effectors)
        return BOUGH_ERROR_MEMORY;
    BO_TRY(list_end_effectors(ctx, u, def, out->end_effectors, &made->end_effector_count));
    return describe(ctx, u, link_count, out->end_effectors, made);
}

static bough_status load(bough_context *ctx, const char *path, const bough_urdf_def *def, bo_urdf *u, bough_urdf *out) {
    bough_mechanism_def made;
    BO_TRY(bo_urdf_describe(ctx, path, def, u, out, &made));
    const bough_status status = bough_mechanism_create(ctx, &made, &out->mechanism);
    if (status != BOUGH_OK)
        bo_prefix_message(ctx, "%s: ", u->xml.path);
    return status == BOUGH_ERROR_ARGUMENT ? BOUGH_ERROR_FORMAT : status;
}

bough_status bough_mechanism_load_urdf(bough_context *ctx, const char *path, const bough_urdf_def *def,
                                       bough_urdf **urdf) {
    *urdf = NULL;
    bough_urdf *out = BO_NEW(ctx, bough_urdf);
    if (!out)
        return bo_fail_memory(ctx);
    bo_urdf u = {0};
    const bough_status status = load(ctx, path, def, &u, out);
    bo_urdf_free(ctx, &u);
    if (status != BOUGH_OK) {
        bough_urdf_destroy(ctx, out);
        return status;
    }
    *urdf = out;
    return BOUGH_OK;
}

void bough_urdf_destroy(bough_context *ctx, bough_urdf *urdf) {
    if (!urdf)
        return;
    for (int32_t i = 0; i < urdf->frame_count; i++)
        bo_free(ctx, (char *)urdf->frames[i].name);
    for (int32_t i = 0; i < urdf->shape_count; i++)
        bo_free(ctx, (char *)urdf->shapes[i].mesh);
    bough_mechanism_destroy(ctx, urdf->mechanism);
    bo_free(ctx, (char *)urdf->name);
    bo_free(ctx, (char *)urdf->dynamics);
    bo_free(ctx, urdf->frames);
    bo_free(ctx, urdf->end_effectors);
    bo_free(ctx, urdf->shapes);
    bo_free(ctx, urdf);
}

int32_t bough_urdf_find(const bough_urdf *urdf, const char *name) {
    for (int32_t i = 0; i < urdf->frame_count; i++)
        if (strcmp(urdf->frames[i].name, name) == 0)
            return i;
    return -1;
}
