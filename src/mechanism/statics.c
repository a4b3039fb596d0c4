#include "mechanism/statics.h"

#include <string.h>

#define STATICS_COOKIE 0xB0061064u

bough_mechanism_statics_def bough_default_mechanism_statics_def(void) {
    return (bough_mechanism_statics_def){.cookie = STATICS_COOKIE};
}

/* ---- spatial joints ---- */

/* Ad of the pose of a frame against the middle: from that frame to the spatial one. */
static bo_se3 about_middle(const bough_mechanism *m, bo_se3 frame) {
    frame.t = bo_sub(frame.t, m->middle);
    return frame;
}

void bo_place_joint(const bough_mechanism *m, const bo_mechanism_joint *joint, bo_spatial_joint *out) {
    const int n = joint->freedoms;
    const bo_se3 frame = about_middle(m, bo_joint_frame(joint, bo_pose(&m->links[joint->child].pose)));
    bo_joint_columns(joint->kind, joint->at, out->columns);
    double J[6][6];
    for (int a = 0; a < n; a++) {
        out->columns[a] = bo_ad(frame, out->columns[a]);
        bo_store_twist(J[a], out->columns[a]);
    }
    memset(out->G, 0, sizeof out->G);
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            const double c = joint->compliance[n * a + b];
            for (int i = 0; i < 6 && c != 0; i++)
                for (int k = 0; k < 6; k++)
                    out->G[6 * i + k] += c * J[a][i] * J[b][k];
        }
}

/* ---- from spatial to local ---- */

/* Columns of a block (6 x 6, row-major, spatial) by wrenches in the end effector's frame: A Ad(e<-s)^T, where the
 * wrench w_e is Ad(e<-s)^T w_e in spatial axes and Ad(e<-s) = Ad(frame)^-1. Row r of A Ad^T is Ad applied to row r,
 * with force and torque taking the places of v and w. */
static void columns_to_frame(bo_se3 frame, double *A) {
    const bo_se3 back = bo_se3_inverse(frame);
    for (int r = 0; r < 6; r++)
        bo_store_twist(A + 6 * r, bo_ad(back, bo_load_twist(A + 6 * r)));
}
/* Rows of twists: Ad(frame)^-1 A. */
static void rows_to_frame(bo_se3 frame, double *A) {
    const bo_se3 back = bo_se3_inverse(frame);
    for (int c = 0; c < 6; c++) {
        double x[6];
        for (int r = 0; r < 6; r++)
            x[r] = A[6 * r + c];
        bo_store_twist(x, bo_ad(back, bo_load_twist(x)));
        for (int r = 0; r < 6; r++)
            A[6 * r + c] = x[r];
    }
}
/* Rows of wrenches: Ad(frame)^T A. */
static void wrench_rows_to_frame(bo_se3 frame, double *A) {
    for (int c = 0; c < 6; c++) {
        double x[6];
        for (int r = 0; r < 6; r++)
            x[r] = A[6 * r + c];
        bo_store_twist(x, bo_ad_transposed(frame, bo_load_twist(x)));
        for (int r = 0; r < 6; r++)
            A[6 * r + c] = x[r];
    }
}
/* A block into a matrix with rows of `width`. */
static void put_block(double *matrix, size_t width, int32_t row, int32_t column, const double *A) {
    for (int r = 0; r < 6; r++)
        memcpy(matrix + (6 * (size_t)row + (size_t)r) * width + 6 * (size_t)column, A + 6 * r, 6 * sizeof(double));
}

static bo_se3 link_frame(const bough_mechanism *m, int32_t link) {
    return about_middle(m, bo_pose(&m->links[link].pose));
}
static bo_se3 effector_frame(const bough_mechanism *m, const bough_frame_def *e) {
    return bo_se3_mul(link_frame(m, e->body), bo_pose(&e->pose));
}

/* theta = K^-1 J^T f for the columns of f */
static void spring_coordinates(const bo_mechanism_joint *joint, const bo_spatial_joint *spatial, const double *f,
                               double out[6][6]) {
    double moment[6][6] = {{0}}; /* J^T f */
    for (int a = 0; a < joint->freedoms; a++) {
        double J[6];
        bo_store_twist(J, spatial->columns[a]);
        for (int r = 0; r < 6; r++)
            for (int c = 0; c < 6; c++)
                moment[a][c] += J[r] * f[6 * r + c];
    }
    for (int a = 0; a < joint->freedoms; a++)
        for (int c = 0; c < 6; c++) {
            out[a][c] = 0;
            for (int b = 0; b < joint->freedoms; b++)
                out[a][c] += joint->compliance[joint->freedoms * a + b] * moment[b][c];
        }
}

static void put_joints(const bo_statics *s, bough_mechanism_statics *out) {
    const bough_mechanism *m = s->mechanism;
    const int32_t count = s->end_effector_count;
    const size_t width = 6 * (size_t)count;
    for (int32_t j = 0; j < m->def.joint_count; j++) {
        const bo_mechanism_joint *joint = &m->joints[j];
        for (int32_t e = 0; e < count; e++) {
            double f[36], theta[6][6];
            memcpy(f, bo_block(s->carried, count, j, e), sizeof f);
            columns_to_frame(effector_frame(m, &s->end_effectors[e]), f);
            spring_coordinates(joint, &s->joints[j], f, theta);
            for (int a = 0; a < joint->freedoms; a++)
                memcpy(out->coordinates + (size_t)(joint->offset + a) * width + 6 * (size_t)e, theta[a],
                       sizeof theta[a]);
            wrench_rows_to_frame(link_frame(m, joint->child), f);
            put_block(out->wrenches, width, j, e, f);
        }
    }
}

static void put_links(const bo_statics *s, bough_mechanism_statics *out) {
    const bough_mechanism *m = s->mechanism;
    const int32_t count = s->end_effector_count;
    const size_t width = 6 * (size_t)count;
    for (int32_t i = 0; i < m->def.link_count; i++) {
        const bo_se3 frame = link_frame(m, i);
        for (int32_t e = 0; e < count; e++) {
            double T[36];
            memcpy(T, bo_block(s->twists, count, i, e), sizeof T);
            columns_to_frame(effector_frame(m, &s->end_effectors[e]), T);
            rows_to_frame(frame, T);
            put_block(out->twists, width, i, e, T);
        }
        for (int32_t c = 0; c <= s->motor_count; c++) {
            const size_t at = 6 * (size_t)i, column = 6 * (size_t)m->def.link_count;
            double *twists = c > 0 ? out->motor_twists + (size_t)(c - 1) * column : out->offset_twists;
            bo_store_twist(twists + at,
                           bo_ad(bo_se3_inverse(frame), bo_load_twist(s->offset_twists + (size_t)c * column + at)));
        }
    }
    for (int32_t k = 0; k < count; k++)
        for (int32_t e = 0; e < count; e++) {
            double T[36];
            memcpy(T, bo_block(s->twists, count, s->end_effectors[k].body, e), sizeof T);
            columns_to_frame(effector_frame(m, &s->end_effectors[e]), T);
            rows_to_frame(effector_frame(m, &s->end_effectors[k]), T);
            put_block(out->C, width, k, e, T);
        }
}

/* ---- all of it ---- */

void bough_mechanism_statics_destroy(bough_context *ctx, bough_mechanism_statics *statics) {
    if (!statics)
        return;
    bo_free(ctx, statics->end_effectors);
    bo_free(ctx, statics->C);
    bo_free(ctx, statics->twists);
    bo_free(ctx, statics->wrenches);
    bo_free(ctx, statics->coordinates);
    bo_free(ctx, statics->offset_twists);
    bo_free(ctx, statics->motors);
    bo_free(ctx, statics->motor_twists);
    bo_free(ctx, statics);
}

static bough_mechanism_statics *new_statics(bough_context *ctx, const bo_statics *s) {
    const bough_mechanism *m = s->mechanism;
    const size_t n = 6 * (size_t)s->end_effector_count;
    bough_mechanism_statics *out = BO_NEW(ctx, bough_mechanism_statics);
    if (!out)
        return NULL;
    out->end_effector_count = s->end_effector_count, out->motor_count = s->motor_count;
    out->end_effectors = BO_NEW_ARRAY(ctx, bough_frame_def, s->end_effector_count);
    out->C = BO_NEW_ARRAY(ctx, double, n *n);
    out->twists = BO_NEW_ARRAY(ctx, double, 6 * (size_t)m->def.link_count * n);
    out->wrenches = BO_NEW_ARRAY(ctx, double, 6 * (size_t)m->def.joint_count * n);
    out->coordinates = BO_NEW_ARRAY(ctx, double, (size_t)m->coordinate_count *n);
    out->offset_twists = BO_NEW_ARRAY(ctx, double, 6 * (size_t)m->def.link_count);
    out->motors = BO_NEW_ARRAY(ctx, int32_t, s->motor_count);
    out->motor_twists = BO_NEW_ARRAY(ctx, double, 6 * (size_t)s->motor_count * (size_t)m->def.link_count);
    if (out->end_effectors && out->C && out->twists && out->wrenches && out->coordinates && out->offset_twists &&
        out->motors && out->motor_twists) {
        for (int32_t k = 0; k < s->motor_count; k++)
            out->motors[k] = s->motors[k];
        for (int32_t k = 0; k < s->end_effector_count; k++)
            out->end_effectors[k] = bo_frame_on(s->end_effectors[k].body, s->end_effectors[k].pose);
        return out;
    }
    bough_mechanism_statics_destroy(ctx, out);
    return NULL;
}

static bough_status solve(bough_context *ctx, bo_statics *s, bough_mechanism_method method,
                          bough_mechanism_statics **statics) {
    const bough_mechanism *m = s->mechanism;
    for (int32_t j = 0; j < m->def.joint_count; j++)
        bo_place_joint(m, &m->joints[j], &s->joints[j]);
    BO_TRY(method == BOUGH_MECHANISM_EXACT ? bo_statics_exact(ctx, s) : bo_statics_recursive(ctx, s));
    bough_mechanism_statics *out = new_statics(ctx, s);
    if (!out)
        return bo_fail_memory(ctx);
    put_joints(s, out);
    put_links(s, out);
    const size_t n = 6 * (size_t)s->end_effector_count;
    if (!bo_all_finite((int64_t)(n * n), out->C) || !bo_all_finite(6 * m->def.link_count * (int64_t)n, out->twists)) {
        bough_mechanism_statics_destroy(ctx, out);
        return bo_fail(ctx, BOUGH_NOT_FINITE,
                       "the compliance of the end effectors is not finite: stiffnesses or lengths are too far apart");
    }
    *statics = out;
    return BOUGH_OK;
}

static bough_status check_motors(bough_context *ctx, const bough_mechanism *m, const bough_mechanism_statics_def *def) {
    if (def->motor_count < 0 || def->motor_count > m->coordinate_count || (def->motor_count > 0 && !def->motors))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a mechanism of %d coordinates cannot have %d motors",
                       m->coordinate_count, def->motor_count);
    for (int32_t k = 0; k < def->motor_count; k++)
        if (def->motors[k] < 0 || def->motors[k] >= m->coordinate_count)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "motor %d is of coordinate %d, but coordinates are 0 .. %d", k,
                           def->motors[k], m->coordinate_count - 1);
    if (def->motor_count > 0 && def->method == BOUGH_MECHANISM_RECURSIVE)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "recursive statics know no motors; use the exact method");
    return BOUGH_OK;
}

bough_status bough_mechanism_statics_create(bough_context *ctx, const bough_mechanism *mechanism,
                                            const bough_mechanism_statics_def *def, bough_mechanism_statics **statics) {
    const bough_mechanism_statics_def defaults = bough_default_mechanism_statics_def();
    *statics = NULL;
    def = def ? def : &defaults;
    if (def->cookie != STATICS_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "the statics def was not made by bough_default_mechanism_statics_def()");
    if (def->method != BOUGH_MECHANISM_EXACT && def->method != BOUGH_MECHANISM_RECURSIVE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "there is no method %d of statics", (int)def->method);
    bo_statics s = {.mechanism = mechanism,
                    .end_effector_count = mechanism->def.end_effector_count,
                    .end_effectors = mechanism->end_effectors};
    if (def->end_effector_count != 0)
        s.end_effector_count = def->end_effector_count, s.end_effectors = def->end_effectors;
    if (s.end_effector_count < 1)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the mechanism has no end effectors; name at least one link");
    BO_TRY(bo_check_end_effectors(ctx, mechanism, s.end_effector_count, s.end_effectors));
    BO_TRY(check_motors(ctx, mechanism, def));
    s.motor_count = def->motor_count, s.motors = def->motors;
    const size_t e = (size_t)s.end_effector_count, joints = (size_t)mechanism->def.joint_count,
                 links = (size_t)mechanism->def.link_count;
    s.joints = BO_NEW_ARRAY(ctx, bo_spatial_joint, joints);
    s.carried = BO_NEW_ZEROS(ctx, double, 36 * joints * e);
    s.twists = BO_NEW_ZEROS(ctx, double, 36 * links * e);
    s.offset_carried = BO_NEW_ZEROS(ctx, double, 6 * joints * (1 + (size_t)s.motor_count));
    s.offset_twists = BO_NEW_ZEROS(ctx, double, 6 * links * (1 + (size_t)s.motor_count));
    bough_status status = BOUGH_OK;
    if (!s.joints || !s.carried || !s.twists || !s.offset_carried || !s.offset_twists)
        status = bo_fail_memory(ctx);
    else
        status = solve(ctx, &s, def->method, statics);
    bo_free(ctx, s.joints);
    bo_free(ctx, s.carried);
    bo_free(ctx, s.twists);
    bo_free(ctx, s.offset_carried);
    bo_free(ctx, s.offset_twists);
    return status;
}
