/* Descriptions of mechanisms: defaults, checks, the spanning tree and the loops. */
#include "mechanism/mechanism.h"

#include "dense/cholesky.h"
#include "rig/body.h"

#include <float.h>
#include <string.h>

#define MECHANISM_COOKIE 0xB0061063u
#define MOST_LINKS 1000000
#define FIT 1e-6 /* radians, or parts of the radius, by which a joint may miss the rest poses */

bough_mechanism_def bough_default_mechanism_def(void) {
    return (bough_mechanism_def){.cookie = MECHANISM_COOKIE};
}

/* ---- checks ---- */

static bough_status check_link(bough_context *ctx, const bough_mechanism_def *def, int32_t i) {
    const bo_label label = bo_rigid_body_label("link", i, &def->links[i]);
    return bo_rigid_body_check(ctx, label.text, &def->links[i], i == def->base && !def->free_base);
}

static bough_status check_kind(bough_context *ctx, const bough_joint_def *joint, const char *label) {
    if (joint->kind == BOUGH_JOINT_WELD)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "%s is a weld; links that are welded together are one link, or give it a stiffness and the kind "
                       "BOUGH_JOINT_COMPLIANT",
                       label);
    if (joint->kind == BOUGH_JOINT_FREE)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "%s is free, but every joint of a mechanism holds its links; a base that moves is free_base",
                       label);
    if (joint->kind == BOUGH_JOINT_CYLINDRICAL || joint->kind == BOUGH_JOINT_PLANAR ||
        joint->kind == BOUGH_JOINT_DISTANCE)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "%s is of the kind \"%s\", which mechanisms do not have; the multibody engine does", label,
                       bough_joint_name(joint->kind));
    return BOUGH_OK;
}

/* Refuses settings of rig's joints that mechanisms do not have. */
static bough_status check_settings(bough_context *ctx, const bough_joint_def *joint, const char *label) {
    for (int k = 0; k < bough_joint_freedoms(joint->kind); k++) {
        if (!joint->compliance && !(joint->stiffness[k] > 0 && isfinite(joint->stiffness[k])))
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                           "%s: the stiffness of freedom %d is %g; it must be above 0 and finite, since nothing else "
                           "would hold the links",
                           label, k, joint->stiffness[k]);
        if (joint->start[k] != 0)
            return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                           "%s: coordinates of a mechanism follow from the rest poses of its links; leave `start` 0",
                           label);
        if (joint->friction[k] != 0)
            return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "%s: joints of a mechanism have no friction; leave it 0",
                           label);
    }
    return BOUGH_OK;
}

static bough_status check_joint(bough_context *ctx, const bough_mechanism_def *def, int32_t i) {
    const bough_joint_def *joint = &def->joints[i];
    const bo_label label = bo_label_of("joint", i, bo_joint_is_made(joint) ? joint->name : NULL);
    if (bo_joint_is_made(joint) && bough_joint_freedoms(joint->kind) > 0)
        BO_TRY(check_settings(ctx, joint, label.text));
    BO_TRY(bo_joint_check(ctx, label.text, joint));
    BO_TRY(check_kind(ctx, joint, label.text));
    for (int side = 0; side < 2; side++) {
        const bough_frame_def *frame = side ? &joint->child : &joint->parent;
        if (frame->body < 0 || frame->body >= def->link_count)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: its %s is link %d, but links are 0 .. %d", label.text,
                           side ? "child" : "parent", frame->body, def->link_count - 1);
        if (frame->interface_index != -1)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: its %s is on an interface, but links have none", label.text,
                           side ? "child" : "parent");
    }
    if (joint->parent.body == joint->child.body)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s connects link %d with itself", label.text, joint->parent.body);
    return BOUGH_OK;
}

bough_status bo_check_end_effectors(bough_context *ctx, const bough_mechanism *mechanism, int32_t count,
                                    const bough_frame_def *end_effectors) {
    const bough_mechanism_def *def = &mechanism->def;
    if (count < 0 || count / 4 > def->link_count || (count > 0 && !end_effectors))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a mechanism of %d links cannot have %d end effectors",
                       def->link_count, count);
    for (int32_t i = 0; i < count; i++) {
        if (end_effectors[i].body < 0 || end_effectors[i].body >= def->link_count)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "end effector %d is on link %d, but links are 0 .. %d", i,
                           end_effectors[i].body, def->link_count - 1);
        if (end_effectors[i].body == def->base)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                           "end effector %d is on the base (link %d), against which it would never move", i, def->base);
        if (end_effectors[i].interface_index != -1)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "end effector %d is on an interface, but links have none", i);
        if (!bo_good_pose(&end_effectors[i].pose))
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                           "end effector %d: its frame needs a rotation matrix and finite numbers", i);
    }
    return BOUGH_OK;
}

static bough_status check_def(bough_context *ctx, const bough_mechanism_def *def) {
    if (!def || def->cookie != MECHANISM_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the mechanism was not made by bough_default_mechanism_def()");
    if (def->link_count < 2 || def->link_count > MOST_LINKS || !def->links)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a mechanism has 2 to %d links, one of which is the base, not %d",
                       MOST_LINKS, def->link_count);
    if (def->joint_count < 1 || def->joint_count > MOST_LINKS || !def->joints)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a mechanism has 1 to %d joints, not %d", MOST_LINKS,
                       def->joint_count);
    if (def->base < 0 || def->base >= def->link_count)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the base is link %d, but links are 0 .. %d", def->base,
                       def->link_count - 1);
    for (int32_t i = 0; i < def->link_count; i++)
        BO_TRY(check_link(ctx, def, i));
    for (int32_t i = 0; i < def->joint_count; i++)
        BO_TRY(check_joint(ctx, def, i));
    return BOUGH_OK;
}

/* ---- copies ---- */

static bough_status copy_name(bough_context *ctx, const char **name) {
    if (*name && !(*name = bo_strdup(ctx, *name)))
        return bo_fail_memory(ctx);
    return BOUGH_OK;
}

static bough_status copy_joint(bough_context *ctx, bough_joint_def *joint) {
    const double *compliance = joint->compliance;
    joint->compliance = NULL;
    const char *name = joint->name;
    joint->name = NULL;
    BO_TRY(copy_name(ctx, &name));
    joint->name = name;
    if (compliance) {
        const size_t n = (size_t)bough_joint_freedoms(joint->kind);
        double *copy = BO_NEW_ARRAY(ctx, double, n *n);
        if (!copy)
            return bo_fail_memory(ctx);
        memcpy(copy, compliance, n * n * sizeof(double));
        joint->compliance = copy;
    }
    return BOUGH_OK;
}

/* Everything that a failure leaves must be safe to free: names are taken out before they are copied. */
static bough_status copy_def(bough_context *ctx, bough_mechanism *m, const bough_mechanism_def *def) {
    m->def = *def;
    m->def.links = NULL, m->def.joints = NULL, m->def.end_effectors = NULL;
    m->links = BO_NEW_ZEROS(ctx, bough_rigid_body_def, def->link_count);
    m->joint_defs = BO_NEW_ZEROS(ctx, bough_joint_def, def->joint_count);
    m->end_effectors = BO_NEW_ZEROS(ctx, bough_frame_def, def->end_effector_count);
    m->joints = BO_NEW_ZEROS(ctx, bo_mechanism_joint, def->joint_count);
    if (!m->links || !m->joint_defs || !m->end_effectors || !m->joints)
        return bo_fail_memory(ctx);
    for (int32_t i = 0; i < def->link_count; i++) {
        const char *name = def->links[i].name;
        BO_TRY(copy_name(ctx, &name));
        m->links[i] = def->links[i];
        m->links[i].name = name;
        m->links[i].shape_count = 0, m->links[i].shapes = NULL; /* which belong to the caller */
    }
    for (int32_t i = 0; i < def->joint_count; i++) {
        bough_joint_def joint = def->joints[i];
        const bough_status status = copy_joint(ctx, &joint);
        m->joint_defs[i] = joint;
        BO_TRY(status);
    }
    for (int32_t i = 0; i < def->end_effector_count; i++)
        m->end_effectors[i] = bo_frame_on(def->end_effectors[i].body, def->end_effectors[i].pose);
    m->def.links = m->links, m->def.joints = m->joint_defs, m->def.end_effectors = m->end_effectors;
    return BOUGH_OK;
}

/* ---- geometry ---- */

/* Middle of the box about all links' origins, centres of mass and joints, and the radius about it. */
static void measure(bough_mechanism *m) {
    bo_vec3 low = {INFINITY, INFINITY, INFINITY}, high = {-INFINITY, -INFINITY, -INFINITY};
    for (int pass = 0; pass < 2; pass++) {
        double radius = 0;
        for (int32_t i = 0; i < m->def.link_count + m->def.joint_count; i++) {
            const int32_t j = i - m->def.link_count;
            bo_vec3 x;
            if (j < 0)
                x = bo_se3_apply(bo_pose(&m->links[i].pose), bo_load3(m->links[i].centre));
            else
                x = bo_joint_frame(&m->joints[j], bo_pose(&m->links[m->joints[j].child].pose)).t;
            low = bo_v3(fmin(low.x, x.x), fmin(low.y, x.y), fmin(low.z, x.z));
            high = bo_v3(fmax(high.x, x.x), fmax(high.y, x.y), fmax(high.z, x.z));
            radius = fmax(radius, bo_norm(bo_sub(x, m->middle)));
        }
        m->middle = bo_scale(0.5, bo_add(low, high));
        m->radius = radius;
    }
    if (!(m->radius > 0))
        m->radius = 1; /* everything in one point: no length is better than another */
}

static void invert(int n, const double *A, double *inverse) {
    double L[36];
    memcpy(L, A, (size_t)(n * n) * sizeof(double));
    memset(inverse, 0, (size_t)(n * n) * sizeof(double));
    for (int k = 0; k < n; k++)
        inverse[n * k + k] = 1;
    bo_cholesky_factor(n, L);
    bo_cholesky_solve_many(n, L, n, inverse);
}

static void take_joint(bough_mechanism *m, int32_t i) {
    const bough_joint_def *def = &m->joint_defs[i];
    bo_mechanism_joint *joint = &m->joints[i];
    *joint = (bo_mechanism_joint){.kind = def->kind, .parent = def->parent.body, .child = def->child.body};
    joint->in_parent = bo_pose(&def->parent.pose), joint->in_child = bo_pose(&def->child.pose);
    const int n = joint->freedoms = bough_joint_freedoms(def->kind);
    joint->offset = m->coordinate_count;
    m->coordinate_count += n;
    memcpy(joint->damping, def->damping, sizeof joint->damping);
    if (def->compliance)
        invert(n, def->compliance, joint->stiffness);
    for (int k = 0; k < n; k++) {
        if (!def->compliance)
            joint->stiffness[n * k + k] = def->stiffness[k];
        joint->lower[k] = def->lower[k], joint->upper[k] = def->upper[k];
        joint->limit[k] = def->limit_stiffness * joint->stiffness[n * k + k];
    }
}

/* With K + L for the stiffness and that of limits at the reference pose: compliance (K + L)^-1, slack
 * (K + L)^-1 (K (rest - at) + L (limit - at)), at which linear forces are zero. */
static void linearise_joint(const bough_joint_def *def, bo_mechanism_joint *joint) {
    const int n = joint->freedoms;
    double K[36], pull[6] = {0};
    bool limited = false;
    memcpy(K, joint->stiffness, sizeof K);
    for (int k = 0; k < n; k++) {
        double end;
        const double L = bo_joint_limit(joint, k, joint->at[k], &end);
        limited = limited || L > 0;
        pull[k] = L > 0 ? L * (end - joint->at[k]) : 0;
        for (int l = 0; l < n; l++)
            pull[k] += joint->stiffness[n * k + l] * (joint->rest[l] - joint->at[l]);
        K[n * k + k] += L;
    }
    if (limited || !def->compliance)
        invert(n, K, joint->compliance);
    else
        memcpy(joint->compliance, def->compliance, (size_t)(n * n) * sizeof(double));
    for (int k = 0; k < n; k++) {
        joint->slack[k] = limited ? 0 : joint->rest[k] - joint->at[k];
        for (int l = 0; l < n && limited; l++)
            joint->slack[k] += joint->compliance[n * k + l] * pull[l];
    }
}

/* Coordinates from the rest poses, which the joint must be able to reach. */
static bough_status fit_joint(bough_context *ctx, bough_mechanism *m, int32_t i) {
    bo_mechanism_joint *joint = &m->joints[i];
    const bough_joint_def *def = &m->joint_defs[i];
    const bo_se3 from = bo_se3_mul(bo_pose(&m->links[joint->parent].pose), joint->in_parent);
    const bo_se3 X = bo_se3_mul(bo_se3_inverse(from), bo_joint_frame(joint, bo_pose(&m->links[joint->child].pose)));
    bo_joint_read(joint->kind, X, joint->at);
    const bo_twist miss = bo_se3_log(bo_se3_mul(bo_se3_inverse(bo_joint_pose(joint->kind, joint->at)), X));
    if (!(bo_norm(miss.v) <= FIT * m->radius && bo_norm(miss.w) <= FIT))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "%s (%s) cannot close at the rest poses of links %d and %d: its frames miss each other by "
                       "%.3g m and %.3g rad",
                       bo_label_of("joint", i, def->name).text, bough_joint_name(joint->kind), joint->parent,
                       joint->child, bo_norm(miss.v), bo_norm(miss.w));
    for (int k = 0; k < joint->freedoms; k++)
        joint->rest[k] = joint->at[k] + def->offset[k];
    linearise_joint(def, joint);
    return BOUGH_OK;
}

static bough_status find_topology(bough_context *ctx, bough_mechanism *m) {
    const bo_topology *t = &m->topology;
    BO_TRY(bo_topology_find(ctx, m->def.link_count, m->def.joint_count, m->joint_defs, m->def.base, &m->topology));
    if (t->lost >= 0)
        return bo_fail(
            ctx, BOUGH_ERROR_ARGUMENT, "%s is not connected with the base (link %d) by joints; %d of %d links are not",
            bo_label_of("link", t->lost, m->links[t->lost].name).text, m->def.base, t->lost_count, m->def.link_count);
    return BOUGH_OK;
}

/* ---- all of it ---- */

static bough_status make(bough_context *ctx, bough_mechanism *m, const bough_mechanism_def *def) {
    BO_TRY(copy_def(ctx, m, def));
    for (int32_t i = 0; i < def->joint_count; i++)
        take_joint(m, i);
    measure(m);
    for (int32_t i = 0; i < def->joint_count; i++)
        BO_TRY(fit_joint(ctx, m, i));
    return find_topology(ctx, m);
}

bough_status bough_mechanism_create(bough_context *ctx, const bough_mechanism_def *def, bough_mechanism **mechanism) {
    *mechanism = NULL;
    BO_TRY(check_def(ctx, def));
    BO_TRY(bo_check_end_effectors(ctx, &(bough_mechanism){.def = *def}, def->end_effector_count, def->end_effectors));
    bough_mechanism *m = BO_NEW(ctx, bough_mechanism);
    if (!m)
        return bo_fail_memory(ctx);
    const bough_status status = make(ctx, m, def);
    if (status != BOUGH_OK) {
        bough_mechanism_destroy(ctx, m);
        return status;
    }
    *mechanism = m;
    return BOUGH_OK;
}

/* Offsets are against the coordinates at the reference pose, which are others now. */
static void keep_springs(const bough_mechanism *old, bough_mechanism *moved) {
    for (int32_t i = 0; i < moved->def.joint_count; i++) {
        for (int k = 0; k < moved->joints[i].freedoms; k++) {
            moved->joints[i].rest[k] = old->joints[i].rest[k];
            moved->joint_defs[i].offset[k] = moved->joints[i].rest[k] - moved->joints[i].at[k];
        }
        linearise_joint(&moved->joint_defs[i], &moved->joints[i]);
    }
}

/* The freedom of a joint that may go round and round, of which poses tell no turns; -1: none. */
static int turning_freedom(bough_joint_kind kind) {
    return kind == BOUGH_JOINT_HINGE ? 0 : kind == BOUGH_JOINT_CYLINDRICAL ? 1 : kind == BOUGH_JOINT_PLANAR ? 2 : -1;
}

/* Coordinates that were read from poses, with the turns that bring them nearest to these. */
static void count_turns(bough_mechanism *m, const double *nearest) {
    for (int32_t i = 0; i < m->def.joint_count; i++) {
        const int k = turning_freedom(m->joints[i].kind);
        if (k >= 0)
            m->joints[i].at[k] +=
                2 * M_PI * round((nearest[m->joints[i].offset + k] - m->joints[i].at[k]) / (2 * M_PI));
    }
}

bough_status bo_mechanism_create_near(bough_context *ctx, const bough_mechanism *mechanism, const bough_pose *poses,
                                      const double *nearest, bough_mechanism **moved) {
    bough_mechanism_def def = mechanism->def;
    *moved = NULL;
    bough_rigid_body_def *links = BO_NEW_ARRAY(ctx, bough_rigid_body_def, def.link_count);
    if (!links)
        return bo_fail_memory(ctx);
    for (int32_t i = 0; i < def.link_count; i++) {
        links[i] = def.links[i];
        links[i].pose = poses[i];
    }
    def.links = links;
    const bough_status status = bough_mechanism_create(ctx, &def, moved);
    if (status == BOUGH_OK && nearest)
        count_turns(*moved, nearest);
    if (status == BOUGH_OK)
        keep_springs(mechanism, *moved);
    bo_free(ctx, links);
    return status;
}

bough_status bough_mechanism_create_at(bough_context *ctx, const bough_mechanism *mechanism, const bough_pose *poses,
                                       bough_mechanism **moved) {
    return bo_mechanism_create_near(ctx, mechanism, poses, NULL, moved);
}

void bough_mechanism_destroy(bough_context *ctx, bough_mechanism *m) {
    if (!m)
        return;
    for (int32_t i = 0; m->links && i < m->def.link_count; i++)
        bo_free(ctx, (char *)m->links[i].name);
    for (int32_t i = 0; m->joint_defs && i < m->def.joint_count; i++) {
        bo_free(ctx, (char *)m->joint_defs[i].name);
        bo_free(ctx, (double *)m->joint_defs[i].compliance);
    }
    bo_topology_free(ctx, &m->topology);
    void *const blocks[] = {m->links, m->joint_defs, m->end_effectors, m->joints, m};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++)
        bo_free(ctx, blocks[k]);
}

const bough_mechanism_def *bough_mechanism_describe(const bough_mechanism *m) {
    return &m->def;
}
int32_t bough_mechanism_loop_count(const bough_mechanism *m) {
    return m->topology.loop_count;
}
int32_t bough_mechanism_coordinate_count(const bough_mechanism *m) {
    return m->coordinate_count;
}
int32_t bough_mechanism_coordinate_offset(const bough_mechanism *m, int32_t joint) {
    return m->joints[joint].offset;
}
double bough_mechanism_radius(const bough_mechanism *m) {
    return m->radius;
}
