/* Entries of scene files about rigid bodies and joints, which mechanisms and multibody systems share. */
#include "scene/mechanism_scene.h"

#include "base/eigen3.h"
#include "rig/joint.h"
#include "scene/assembly.h"

#include <string.h>

/* ---- places ---- */

bough_status bo_scene_pose(const bo_json *at, bo_se3 *pose) {
    double position[3], degrees[3] = {0};
    bo_store3(position, pose->t);
    BO_TRY(bo_json_vec3(bo_json_at(at, "position"), BO_ANY, position));
    BO_TRY(bo_json_vec3(bo_json_at(at, "rotate_deg"), BO_ANY, degrees));
    pose->t = bo_load3(position);
    if (bo_json_has(at, "rotate_deg"))
        pose->R = bo_turn_degrees(degrees);
    return BOUGH_OK;
}

bo_mat3 bo_turn_z_to(bo_vec3 axis) {
    const bo_vec3 a = bo_normalize(axis), z = bo_v3(0, 0, 1), about = bo_cross(z, a);
    const double sine = bo_norm(about);
    if (sine < 1e-12)
        return a.z > 0 ? bo_identity3() : bo_exp3(bo_v3(M_PI, 0, 0));
    return bo_exp3(bo_scale(atan2(sine, a.z) / sine, about));
}

/* ---- inertia ---- */

bough_status bo_scene_inertia(bo_json at, double matrix[9]) {
    double own[6] = {0};
    bo_vec3 moments;
    bo_mat3 axes;
    BO_TRY(bo_json_numbers(at, 6, BO_ANY, own));
    if (!at.value)
        return BOUGH_OK;
    const bo_mat3 I = {{own[0], own[5], own[4], own[5], own[1], own[3], own[4], own[3], own[2]}};
    bo_eigen3(I, &moments, &axes);
    if (!(moments.x > 0 && moments.z <= (moments.x + moments.y) * (1 + 1e-9)))
        return bo_json_fail(at, "is no body's inertia [Ixx, Iyy, Izz, Iyz, Ixz, Ixy]: its principal moments must be "
                                "positive, and none larger than the two others together");
    memcpy(matrix, I.m, sizeof I.m);
    return BOUGH_OK;
}

/* From the shapes at a density, or at the density that gives a mass. */
static bough_status weigh_shapes(bo_json at, const bo_scene_shapes *shapes, double density,
                                 bough_rigid_body_def *body) {
    const double mass = body->mass;
    if (shapes->count == 0)
        return bo_json_fail(at, "needs a \"shape\" that it is the density of");
    BO_TRY(bo_shapes_weigh(at.ctx, shapes, density > 0 ? density : 1, body));
    if (!(body->mass > 0))
        return bo_json_fail(at, "one of the shapes has no volume; give \"mass\" and \"inertia\"");
    if (density > 0)
        return BOUGH_OK;
    for (int k = 0; k < 9; k++)
        body->inertia[k] *= mass / body->mass;
    body->mass = mass;
    return BOUGH_OK;
}

/* "density", or "mass" and "inertia", which may come from the shapes. `may_lack`: something that never moves. */
bough_status bo_scene_weight(const bo_json *at, const bo_scene_shapes *shapes, bool may_lack,
                             bough_rigid_body_def *body) {
    static const char *const own[] = {"mass", "centre", "inertia"};
    bo_json density = bo_json_at(at, "density"), mass = bo_json_at(at, "mass");
    double rho = 0;
    BO_TRY(bo_json_number(density, BO_POSITIVE, &rho));
    for (int i = 0; density.value && i < 3; i++)
        if (bo_json_has(at, own[i]))
            return bo_json_fail(bo_json_at(at, own[i]), "follows from the \"density\"; leave one of them out");
    if (density.value)
        return weigh_shapes(density, shapes, rho, body);
    BO_TRY(bo_json_number(mass, BO_POSITIVE, &body->mass));
    if (!mass.value)
        return may_lack ? BOUGH_OK : bo_json_fail(*at, "needs a \"mass\", or a \"density\" of its shapes");
    if (!bo_json_has(at, "inertia") && shapes->count > 0)
        BO_TRY(weigh_shapes(mass, shapes, 0, body));
    else
        BO_TRY(bo_scene_inertia(may_lack ? bo_json_at(at, "inertia") : bo_json_must(at, "inertia"), body->inertia));
    return bo_json_vec3(bo_json_at(at, "centre"), BO_ANY, body->centre);
}

/* ---- joints ---- */

/* One number for all freedoms, or one for each. */
bough_status bo_scene_freedoms(bo_json at, int32_t n, bo_range range, double unit, double *values) {
    if (!at.value)
        return BOUGH_OK;
    if (json_is_number(at.value)) {
        BO_TRY(bo_json_number(at, range, values));
        for (int32_t k = 1; k < n; k++)
            values[k] = values[0];
    } else
        BO_TRY(bo_json_numbers(at, n, range, values));
    for (int32_t k = 0; k < n; k++)
        values[k] *= unit;
    return BOUGH_OK;
}

static bough_status read_pair(bo_json at, double unit, double *lower, double *upper) {
    double pair[2] = {0};
    BO_TRY(bo_json_numbers(at, 2, BO_ANY, pair));
    if (!(pair[0] <= pair[1]))
        return bo_json_fail(at, "must be [lower, upper], but %g is above %g", pair[0], pair[1]);
    *lower = unit * pair[0], *upper = unit * pair[1];
    return BOUGH_OK;
}

/* One pair for all freedoms, or one for each. */
static bough_status read_limits(bo_json at, int32_t n, double unit, bough_joint_def *joint) {
    int32_t count;
    BO_TRY(bo_json_list(at, &count));
    if (!at.value)
        return BOUGH_OK;
    const bool shared = count > 0 && json_is_number(bo_json_item(&at, 0).value);
    if (!shared && count != n)
        return bo_json_fail(at, "must be [lower, upper] or a list of %d such pairs, one for each freedom", n);
    for (int32_t k = 0; k < n; k++)
        BO_TRY(read_pair(shared ? at : bo_json_item(&at, k), unit, &joint->lower[k], &joint->upper[k]));
    return BOUGH_OK;
}

bool bo_joint_turns_only(bough_joint_kind kind) {
    return kind == BOUGH_JOINT_HINGE || kind == BOUGH_JOINT_UNIVERSAL || kind == BOUGH_JOINT_BALL;
}

/* "offset" and "limits", in rad and m or in degrees. */
bough_status bo_scene_joint_angles(const bo_json *at, int32_t n, bough_joint_def *joint) {
    static const char *const keys[2] = {"offset", "limits"}, *const in_degrees[2] = {"offset_deg", "limits_deg"};
    for (int i = 0; i < 2; i++) {
        bo_json plain = bo_json_at(at, keys[i]), degrees = bo_json_at(at, in_degrees[i]);
        if (degrees.value && plain.value)
            return bo_json_fail(degrees, "is \"%s\" in degrees; give one of them", keys[i]);
        if (degrees.value && !bo_joint_turns_only(joint->kind))
            return bo_json_fail(degrees, "is for joints that only turn; give \"%s\" in m and rad", keys[i]);
        const double unit = degrees.value ? M_PI / 180 : 1;
        const bo_json given = degrees.value ? degrees : plain;
        BO_TRY(i == 0 ? bo_scene_freedoms(given, n, BO_ANY, unit, joint->offset) : read_limits(given, n, unit, joint));
    }
    return bo_json_number(bo_json_at(at, "limit_stiffness"), BO_NOT_NEGATIVE, &joint->limit_stiffness);
}

bough_status bo_scene_joint_frame(const bo_json *at, bough_joint_kind kind, bo_se3 *frame) {
    bo_json axis = bo_json_at(at, "axis");
    double direction[3] = {0};
    BO_TRY(bo_scene_pose(at, frame));
    if (!axis.value)
        return BOUGH_OK;
    if (kind != BOUGH_JOINT_HINGE && kind != BOUGH_JOINT_PRISMATIC && kind != BOUGH_JOINT_CYLINDRICAL)
        return bo_json_fail(axis, "is for hinges and prismatic joints; others are turned by \"rotate_deg\"");
    if (bo_json_has(at, "rotate_deg"))
        return bo_json_fail(axis, "is where its z points; leave it or \"rotate_deg\" out");
    BO_TRY(bo_json_vec3(axis, BO_ANY, direction));
    if (!(bo_norm(bo_load3(direction)) > 0))
        return bo_json_fail(axis, "must have a direction");
    frame->R = bo_turn_z_to(bo_load3(direction));
    return BOUGH_OK;
}

bough_status bo_scene_joint_kind(bo_json at, bough_joint_kind *kind) {
    static const bough_joint_kind kinds[] = {BOUGH_JOINT_HINGE, BOUGH_JOINT_PRISMATIC, BOUGH_JOINT_UNIVERSAL,
                                             BOUGH_JOINT_BALL, BOUGH_JOINT_COMPLIANT};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    const char *names[KINDS];
    int32_t chosen = -1;
    for (int i = 0; i < KINDS; i++)
        names[i] = bough_joint_name(kinds[i]);
    BO_TRY(bo_json_choice(at, names, KINDS, &chosen));
    if (chosen >= 0)
        *kind = kinds[chosen];
    return BOUGH_OK;
}
