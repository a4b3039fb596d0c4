/* Parts in full order. docs/theory/multibody.md, "Full order".
 *
 * Their coordinates are eliminated by the part itself. With A of its own rows, joints act on it by what they see,
 * eta = B x, and by forces mu = H (eta, body, multipliers) on that:
 *   A x + C b + B^T mu = r   and   D x + T0 b + ... = r_b
 * so that x = z - A^-1 (C, B^T) (b; mu) with z = A^-1 r, and the blocks have eta and mu instead of x:
 *   row eta   H (eta, b, lambda) - mu = 0
 *   row mu    -eta - B A^-1 C b - B A^-1 B^T mu = -B z
 *   body      ... - D A^-1 C b - D A^-1 B^T mu = r_b - D z */
#include "multibody/multibody.h"

#include "base/polar.h"

#include <string.h>

void bo_mb_full_make(const bough_flexible_def *def, bo_se3 clamp, bo_mb_part *part) {
    part->full = def->full;
    part->r = def->full->size, part->seen = bo_mb_full_seen(def->full);
    part->mass = def->component->mass;
    part->turn = clamp.R, part->shift = bo_mat_tvec(clamp.R, clamp.t);
}

void bo_mb_full_face(const bo_mb_part *part, int32_t interface_index, int32_t k, double translation[3], double A[9]) {
    const int32_t own = k - BO_MB_FACE * bo_mb_full_slot(part->full, interface_index);
    const bool is_own = bo_mb_full_slot(part->full, interface_index) >= 0 && own >= 0 && own < BO_MB_FACE;
    for (int i = 0; i < 3; i++)
        translation[i] = is_own && i == own;
    for (int i = 0; i < 9; i++)
        A[i] = is_own && i + 3 == own;
}

bough_status bo_mb_full_begin(bough_context *ctx, const bough_multibody *model, bo_mb_work *work) {
    for (int32_t p = 0; p < model->def.part_count; p++)
        if (model->parts[p].full)
            BO_TRY(model->parts[p].full->kind->begin(ctx, model->parts[p].full, &work->full[p].scratch));
    return BOUGH_OK;
}

void bo_mb_full_end(bough_context *ctx, const bough_multibody *model, bo_mb_work *work) {
    for (int32_t p = 0; p < model->def.part_count; p++)
        if (model->parts[p].full)
            model->parts[p].full->kind->end(ctx, work->full[p].scratch);
}

/* ---- what joints see ---- */

void bo_mb_full_look(const bo_mb_part *part, const double *u, const double *v, bo_mb_full *full) {
    const bough_full_part *own = part->full;
    for (int32_t i = 0; i < own->interface_count; i++) {
        const int32_t slot = bo_mb_full_slot(own, i);
        if (slot < 0)
            continue;
        own->kind->gather(own, i, u, full->seen + BO_MB_FACE * slot);
        own->kind->gather(own, i, v, full->rates + BO_MB_FACE * slot);
    }
}

void bo_mb_full_spread(const bo_mb_part *part, const double *seen, double *rows) {
    const bough_full_part *own = part->full;
    for (int32_t i = 0; i < own->interface_count; i++)
        if (bo_mb_full_slot(own, i) >= 0)
            own->kind->spread(own, i, seen + BO_MB_FACE * bo_mb_full_slot(own, i), rows);
}

/* ---- forces ---- */

static bo_mb_full_motion motion_of(const bo_mb_part *part, const bo_mb_shape *shape, const double *u, const double *v,
                                   const double *a) {
    return (bo_mb_full_motion){.w = bo_mat_tvec(part->turn, shape->w),
                               .a0 = bo_mat_tvec(part->turn, shape->a0),
                               .alpha = bo_mat_tvec(part->turn, shape->alpha),
                               .shift = part->shift,
                               .u = u,
                               .v = v,
                               .a = a,
                               .strength = part->strength,
                               .damping_mass = part->alpha,
                               .damping_stiffness = part->beta};
}

bool bo_mb_full_forces(const bo_mb_part *part, bo_mb_full *full, const double *u, const double *v, const double *a,
                       bo_mb_shape *shape, double *rows) {
    const bo_mb_full_motion motion = motion_of(part, shape, u, v, a);
    memset(full->force, 0, (size_t)part->seen * sizeof *full->force);
    if (!part->full->kind->forces(full->scratch, &motion, &shape->force, &shape->torque, rows, shape->gradient))
        return false;
    shape->force = bo_mat_vec(part->turn, shape->force), shape->torque = bo_mat_vec(part->turn, shape->torque);
    return true;
}

void bo_mb_full_finish(const bo_mb_part *part, const bo_mb_full *full, double *rows) {
    bo_mb_full_spread(part, full->force, rows);
    part->full->kind->hold(part->full, rows);
}

void bo_mb_full_measure(const bo_mb_part *part, const bo_mb_full *full, const double *u, const double *v,
                        bo_mb_sums *sums) {
    const bo_mb_shape still = {0};
    const bo_mb_full_motion motion = motion_of(part, &still, u, v, NULL);
    const bo_mat3 Q = part->turn;
    part->full->kind->measure(full->scratch, &motion, sums);
    sums->S = bo_mat_vec(Q, sums->S), sums->Sdot = bo_mat_vec(Q, sums->Sdot), sums->swirl = bo_mat_vec(Q, sums->swirl);
    sums->I = bo_mat_mul(bo_mat_mul(Q, sums->I), bo_transpose(Q));
}

/* The power of the wrench by a unit rate of each number that joints see of the interface. */
void bo_mb_full_push(const bough_multibody *model, const bough_multibody_state *state, const bough_frame_def *frame,
                     bo_vec3 force, bo_vec3 torque, double *rows) {
    const bo_mb_part *part = &model->parts[frame->body - model->def.body_count];
    const bough_full_part *own = part->full;
    double seen[BO_MB_FACE], push[BO_MB_FACE];
    bo_mat3 Q = part->turn, A, P, S, Pdot, Sdot;
    bo_vec3 w;
    if (bo_mb_full_slot(own, frame->interface_index) < 0)
        return;
    if (part->body >= 0) {
        const double *q = state->u + 7 * (ptrdiff_t)part->body + 3;
        Q = bo_mat_mul(bo_quat_to_matrix((bo_quat){q[0], q[1], q[2], q[3]}), Q);
    }
    own->kind->gather(own, frame->interface_index, state->u + part->first + model->body_count, seen);
    for (int i = 0; i < 9; i++)
        A.m[i] = part->component->interfaces[frame->interface_index].A[i] + seen[3 + i];
    if (!bo_polar(A, &P, &S))
        return;
    const bo_vec3 f = bo_mat_tvec(Q, force), lever = bo_mat_vec(P, bo_load3(frame->pose.position));
    const bo_vec3 t = bo_add(bo_mat_tvec(Q, torque), bo_cross(lever, f));
    bo_store3(push, f);
    for (int i = 0; i < 9; i++) {
        bo_mat3 Adot = {{0}};
        Adot.m[i] = 1;
        bo_polar_rates(A, P, S, Adot, &w, &Pdot, &Sdot);
        push[3 + i] = bo_dot(t, w);
    }
    own->kind->spread(own, frame->interface_index, push, rows);
}

/* ---- matrix ---- */

/* The first six rows of T (n x n) from the component's axes to the world's. */
static void turn_rows(bo_mat3 Q, int32_t n, double *T) {
    for (int32_t i = 0; i < 6; i += 3)
        for (int32_t j = 0; j < n; j++) {
            double *to = T + n * i + j;
            const bo_vec3 x = bo_mat_vec(Q, bo_v3(to[0], to[n], to[2 * n]));
            to[0] = x.x, to[n] = x.y, to[2 * n] = x.z;
        }
}
/* The first six columns of `rows` rows. */
static void turn_columns(bo_mat3 Q, int32_t rows, int32_t n, double *T) {
    for (int32_t i = 0; i < rows; i++)
        for (int32_t j = 0; j < 6; j += 3)
            bo_store3(T + n * i + j, bo_mat_vec(Q, bo_load3(T + n * i + j)));
}

/* Block (i, j) from (row, column) on += M (rows x columns). */
static void add_at(bo_block_lu *lu, int32_t i, int32_t j, int32_t row, int32_t column, int32_t rows, int32_t columns,
                   const double *M, int32_t stride) {
    int32_t to_stride;
    double *to = bo_block_lu_at(lu, i, j, &to_stride);
    for (int32_t a = 0; a < rows; a++)
        for (int32_t b = 0; b < columns; b++)
            to[(int64_t)to_stride * (row + a) + column + b] += M[(int64_t)stride * a + b];
}

bool bo_mb_full_tangent(const bough_multibody *model, bo_mb_work *work, int32_t p, const double *u, const double *v,
                        const double *a, double ca, double cv, double cq, double h) {
    const bo_mb_part *part = &model->parts[p];
    const int32_t seen = part->seen, n = 6 + seen, own = model->part_block[p];
    const bo_mb_full_motion motion = motion_of(part, &work->shapes[p], u, v, a);
    double *T = work->blocks;
    int32_t stride;
    if (!part->full->kind->factor(work->full[p].scratch, &motion, ca, cv, cq, bo_mb_turn_by_spin(h, motion.w), T))
        return false;
    double *block = bo_block_lu_at(&work->lu, own, own, &stride);
    for (int32_t k = 0; k < seen; k++) {
        block[(int64_t)stride * k + seen + k] -= 1;
        block[(int64_t)stride * (seen + k) + k] -= 1;
    }
    add_at(&work->lu, own, own, seen, seen, seen, seen, T + 6 * n + 6, n);
    if (part->body < 0)
        return true;
    const bo_mat3 Q = work->full[p].Q = bo_mat_mul(work->R[part->body], part->turn);
    const int32_t body = model->body_block[part->body];
    turn_rows(Q, n, T);
    turn_columns(Q, n, n, T);
    add_at(&work->lu, body, body, 0, 0, 6, 6, T, n);
    add_at(&work->lu, body, own, 0, seen, 6, seen, T + 6, n);
    add_at(&work->lu, own, body, seen, 0, seen, 6, T + 6 * n, n);
    return true;
}

void bo_mb_full_before(const bough_multibody *model, bo_mb_work *work, int32_t p, const double *b) {
    const bo_mb_part *part = &model->parts[p];
    const int32_t seen = part->seen;
    double *t = work->blocks, *own = work->rhs + work->lu.first[model->part_block[p]];
    part->full->kind->solve(work->full[p].scratch, b, t);
    for (int32_t k = 0; k < seen; k++)
        own[k] = 0, own[seen + k] = -t[6 + k];
    if (part->body < 0)
        return;
    const bo_mat3 Q = work->full[p].Q;
    double *body = work->rhs + work->lu.first[model->body_block[part->body]];
    for (int i = 0; i < 6; i += 3)
        bo_store3(body + i, bo_sub(bo_load3(body + i), bo_mat_vec(Q, bo_load3(t + i))));
}

void bo_mb_full_after(const bough_multibody *model, bo_mb_work *work, int32_t p, double *x) {
    const bo_mb_part *part = &model->parts[p];
    double *t = work->blocks;
    memset(t, 0, 6 * sizeof *t);
    memcpy(t + 6, work->rhs + work->lu.first[model->part_block[p]] + part->seen, (size_t)part->seen * sizeof *t);
    if (part->body >= 0) {
        const bo_mat3 Q = work->full[p].Q;
        const double *body = work->rhs + work->lu.first[model->body_block[part->body]];
        for (int i = 0; i < 6; i += 3)
            bo_store3(t + i, bo_mat_tvec(Q, bo_load3(body + i)));
    }
    part->full->kind->correct(work->full[p].scratch, t, x);
}
