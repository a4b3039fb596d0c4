/* Parts that turn about their origins against the interfaces they hang at: hinges and balls.
 * docs/theory/tree.md, "Joints".
 *
 * A part that hangs by a joint has R = R^ exp(phi~), with R^ the axes that it would have welded and phi its
 * coordinates: theta times the axis for a hinge, any vector for a ball. In its axes it turns with T phi' more than its
 * interface: w = exp(phi~)^T w^ + T phi',    T = 1 - a phi~ + b phi~ phi~,  a = (1 - cos t) / t^2, b = (t - sin t) /
 * t^3, t = |phi| which for a hinge is the axis times theta'. */
#include "tree/tree.h"

#include "dense/cholesky.h"
#include "rig/joint.h"

#include <math.h>
#include <string.h>

bough_status bo_tree_list_joints(bough_context *ctx, bough_tree_model *model) {
    model->joint_count = 0;
    model->joints = BO_NEW_ARRAY(ctx, bo_tree_joint, model->part_count);
    if (!model->joints)
        return BOUGH_ERROR_MEMORY;
    for (int32_t d = 0; d < model->level_count; d++) {
        bo_tree_level *level = &model->levels[d];
        level->first_joint = model->joint_count;
        for (int32_t i = level->first_part; i < level->end_part; i++) {
            bo_tree_part *part = &model->parts[i];
            const bough_joint_def *from = model->def.parts[part->user].joint;
            if (part->parent < 0 || !from)
                continue;
            part->joint = model->joint_count;
            model->joints[model->joint_count++] =
                (bo_tree_joint){.part = i,
                                .count = bough_joint_freedoms(from->kind),
                                .offset = model->offsets[model->def.part_count + part->user],
                                .axis = bo_joint_axis(from),
                                .stiffness = from->stiffness[0],
                                .damping = from->damping[0]};
        }
        level->end_joint = model->joint_count;
    }
    return BOUGH_OK;
}

void bo_tree_start_joint(const bough_tree_model *model, bough_tree_state *state, int32_t user) {
    const bough_joint_def *joint = model->def.parts[user].joint;
    const int32_t at = bough_tree_model_joint_offset(model, user);
    for (int32_t d = 0; at >= 0 && d < bough_joint_freedoms(joint->kind); d++) {
        state->q[at + d] = joint->start[d];
        state->v[at + d] = state->a[at + d] = state->mean_a[at + d] = 0;
    }
}

/* In a pass over trees that fly the others are where they should be. */
static bool is_left_out(const bough_tree_model *model, const bo_tree_mode *mode, int32_t j) {
    return mode->only_flights && !model->parts[model->joints[j].part].flies;
}

/* ---- kinematics ---- */

/* Rotation, T, angular velocity and bias of the joint itself. */
static bo_mat3 set_swing(const bo_tree_joint *joint, const double *q, const double *v, bo_tree_swing *swing) {
    q += joint->offset, v += joint->offset;
    if (joint->count == 1) {
        double axis[3];
        bo_store3(axis, joint->axis);
        memset(swing->T, 0, sizeof swing->T);
        for (int k = 0; k < 3; k++) {
            swing->T[3 * k] = axis[k];
            swing->turning[k] = axis[k] * v[0];
            swing->bias[k] = 0;
        }
        return bo_exp3(bo_scale(q[0], joint->axis));
    }
    const bo_vec3 phi = bo_load3(q), rate = bo_load3(v);
    const bo_mat3 T = bo_ball_map(phi);
    memcpy(swing->T, T.m, sizeof swing->T);
    bo_store3(swing->turning, bo_mat_vec(T, rate));
    bo_store3(swing->bias, bo_ball_bias(phi, rate));
    return bo_exp3(phi);
}

/* The angular acceleration of the frame gains w^ x T phi' + T' phi' beside T phi" */
void bo_tree_turn_joints(const bough_tree_model *model, bo_tree_work *work, const bo_tree_mode *mode, int32_t level,
                         const double *q, const double *v) {
    for (int32_t j = model->levels[level].first_joint; j < model->levels[level].end_joint; j++) {
        if (is_left_out(model, mode, j))
            continue;
        const int32_t slot = model->parts[model->joints[j].part].slot, lane = slot % 4;
        bo_tree_frames *f = &work->frames[slot / 4];
        bo_tree_swing *swing = &work->swings[j];
        const bo_mat3 turn = set_swing(&model->joints[j], q, v, swing);
        const bo_mat3 R = bo_mat_mul(bo_matrix_at(f->R, lane), turn);
        const bo_vec3 w = bo_mat_tvec(turn, bo_vector_at(f->w, lane)), more = bo_load3(swing->turning);
        bo_put_matrix(f->R, lane, R);
        bo_put_matrix(f->world, lane, bo_mat_mul(bo_matrix_at(f->world, lane), turn));
        bo_put_vector(f->v, lane, bo_mat_tvec(turn, bo_vector_at(f->v, lane)));
        bo_put_vector(f->w, lane, bo_add(w, more));
        const bo_vec3 bias = bo_add(bo_cross(w, more), bo_load3(swing->bias));
        bo_put_vector(f->b + 3, lane, bo_add(bo_vector_at(f->b + 3, lane), bo_mat_vec(R, bias)));
    }
}

/* ---- dynamics: an articulated body gives way in its joint ---- */

static void prepare_joint(const bo_tree_pass *pass, const bo_tree_joint *joint, bo_tree_swing *swing) {
    const bo_tree_scheme *h = pass->scheme;
    const double more = 1 + h->alpha;
    if (!pass->elastic) {
        swing->H = swing->kept_H;
        return;
    }
    const double k = joint->stiffness, c = joint->damping, ahead_by = h->begins ? 0 : more;
    swing->H = h->inert ? 0 : more * (h->gamma * h->dt * c + h->beta * h->dt * h->dt * k);
    if (pass->keep)
        swing->kept_H = swing->H;
    for (int32_t d = 0; d < joint->count; d++) {
        const double q = pass->state->q[joint->offset + d], v = pass->state->v[joint->offset + d];
        const double a = pass->state->a[joint->offset + d];
        const double ahead = ahead_by * (h->dt * v + h->dt * h->dt * (0.5 - h->beta) * a);
        swing->p[d] = h->inert ? 0 : k * (q + ahead) + c * (v + ahead_by * h->dt * (1 - h->gamma) * a);
    }
}

void bo_tree_prepare_joints(const bo_tree_pass *pass) {
    const bough_tree_model *model = pass->model;
    for (int32_t d = 0; d < model->level_count; d++)
        for (int32_t j = model->levels[d].first_joint; j < model->levels[d].end_joint; j++)
            prepare_joint(pass, &model->joints[j], &pass->work->swings[j]);
}

/* I -= I S D^-1 S^T I, p += I S D^-1 u, with S = [0; T], D = S^T I S + H, u = -(p_joint + S^T p) */
static bool release(const bo_tree_joint *joint, const double *load, bo_tree_swing *swing, bo_tree_inertias *s,
                    int32_t lane) {
    const int n = joint->count;
    double G[18], g[3]; /* D^-1 S^T I (n x 6), D^-1 u */
    for (int d = 0; d < 6; d++)
        for (int k = 0; k < n; k++) {
            double sum = 0;
            for (int e = 0; e < 3; e++)
                sum += BO_LANE_CONST(s->I[bo_six_at[d][3 + e]], lane) * swing->T[3 * e + k];
            swing->IS[3 * d + k] = sum;
            G[6 * k + d] = sum;
        }
    for (int k = 0; k < n; k++) {
        swing->u[k] = (load ? load[k] : 0) - swing->p[k];
        for (int e = 0; e < 3; e++)
            swing->u[k] -= swing->T[3 * e + k] * BO_LANE_CONST(s->p[3 + e], lane);
        g[k] = swing->u[k];
        for (int l = 0; l <= k; l++) {
            double sum = k == l ? swing->H : 0;
            for (int e = 0; e < 3; e++)
                sum += swing->T[3 * e + k] * swing->IS[3 * (3 + e) + l];
            swing->D[n * k + l] = sum;
        }
    }
    if (!bo_cholesky_factor(n, swing->D))
        return false;
    bo_cholesky_solve_many(n, swing->D, 6, G);
    bo_cholesky_solve(n, swing->D, g);
    for (int d = 0; d < 6; d++)
        for (int k = 0; k < n; k++) {
            for (int e = d; e < 6; e++)
                BO_LANE(s->I[bo_six_at[d][e]], lane) -= swing->IS[3 * d + k] * G[6 * k + e];
            BO_LANE(s->p[d], lane) += swing->IS[3 * d + k] * g[k];
        }
    return true;
}

bool bo_tree_release_joints(const bough_tree_model *model, bo_tree_work *work, const bo_tree_mode *mode,
                            int32_t level) {
    for (int32_t j = model->levels[level].first_joint; j < model->levels[level].end_joint; j++) {
        const bo_tree_joint *joint = &model->joints[j];
        const int32_t slot = model->parts[joint->part].slot;
        if (!is_left_out(model, mode, j) &&
            !release(joint, bo_tree_loads_act(work, mode) ? work->load + joint->offset : NULL, &work->swings[j],
                     &work->inertias[slot / 4], slot % 4))
            return false;
    }
    return true;
}

/* The frame accelerates by T a more. */
static void drive(const bo_tree_joint *joint, const bo_tree_swing *swing, const double *a, bo_tree_inertias *s,
                  int32_t lane) {
    for (int e = 0; e < 3; e++)
        for (int k = 0; k < joint->count; k++)
            BO_LANE(s->A[3 + e], lane) += swing->T[3 * e + k] * a[k];
}

void bo_tree_drive_joints(const bough_tree_model *model, bo_tree_work *work, const bo_tree_mode *mode, int32_t level,
                          const double *a) {
    for (int32_t j = model->levels[level].first_joint; j < model->levels[level].end_joint; j++) {
        const int32_t slot = model->parts[model->joints[j].part].slot;
        if (is_left_out(model, mode, j))
            continue;
        drive(&model->joints[j], &work->swings[j], a + model->joints[j].offset, &work->inertias[slot / 4], slot % 4);
    }
}

/* phi" = D^-1 (u - S^T I A^) */
void bo_tree_swing_joints(const bough_tree_model *model, bo_tree_work *work, const bo_tree_mode *mode, int32_t level,
                          double *a) {
    for (int32_t j = model->levels[level].first_joint; j < model->levels[level].end_joint; j++) {
        const bo_tree_joint *joint = &model->joints[j];
        const int32_t slot = model->parts[joint->part].slot;
        const bo_tree_inertias *s = &work->inertias[slot / 4];
        const bo_tree_swing *swing = &work->swings[j];
        double *out = a + joint->offset;
        if (is_left_out(model, mode, j))
            continue;
        for (int k = 0; k < joint->count; k++) {
            out[k] = swing->u[k];
            for (int d = 0; d < 6; d++)
                out[k] -= swing->IS[3 * d + k] * BO_LANE_CONST(s->A[d], slot % 4);
        }
        bo_cholesky_solve(joint->count, swing->D, out);
    }
    bo_tree_drive_joints(model, work, mode, level, a);
}

void bo_tree_joint_torque(const bough_tree_model *model, const bo_tree_work *work, int32_t j, double torque[3]) {
    const int32_t slot = model->parts[model->joints[j].part].slot;
    const bo_tree_inertias *s = &work->inertias[slot / 4];
    for (int k = 0; k < model->joints[j].count; k++) {
        torque[k] = 0;
        for (int e = 0; e < 3; e++)
            torque[k] += work->swings[j].T[3 * e + k] * BO_LANE_CONST(s->p[3 + e], slot % 4);
    }
}

/* ---- balls that have turned far ---- */

/* The map T has no inverse at 2 pi. Beyond pi: the other way round, with the same angular velocity and acceleration. */
static bool wrap(double *q, double *v, double *a) {
    const bo_vec3 phi = bo_load3(q), rate = bo_load3(v);
    const double t = bo_norm(phi), pi = 3.14159265358979323846;
    if (!(t > pi))
        return false;
    const bo_mat3 T = bo_ball_map(phi);
    const bo_vec3 w = bo_mat_vec(T, rate), dw = bo_add(bo_mat_vec(T, bo_load3(a)), bo_ball_bias(phi, rate));
    const bo_vec3 other = bo_scale(1 - 2 * pi / t, phi);
    const bo_mat3 inverse = bo_transpose(bo_left_jacobian_inverse(other));
    const bo_vec3 other_rate = bo_mat_vec(inverse, w);
    bo_store3(q, other);
    bo_store3(v, other_rate);
    bo_store3(a, bo_mat_vec(inverse, bo_sub(dw, bo_ball_bias(other, other_rate))));
    return true;
}

bool bo_tree_wrap_balls(const bough_tree_model *model, double *q, double *v, double *a, double *mean_a) {
    bool any = false;
    for (int32_t j = 0; j < model->joint_count; j++) {
        const int32_t at = model->joints[j].offset;
        if (model->joints[j].count < 3 || !wrap(q + at, v + at, a + at))
            continue;
        any = true;
        if (mean_a)
            memcpy(mean_a + at, a + at, 3 * sizeof *a);
    }
    return any;
}
