/* A step linearised forwards: how its end changes with its beginning and with motors, for many changes side by side.
 *
 * With dq0 = m dqhat for quaternions and xi0 its displacements,
 *   A (dV; dlambda) = M/h dVhat - K xi0 - dF,   dU = dU0 + h dV,   dq = dq0 + h/2 m dw q
 * which is the transpose of bo_mb_linear_pull(). */
#include "multibody/linear.h"

#include "rig/joint.h"

#include <string.h>

enum { LANES = BO_LU_LANES };

bough_status bo_mb_forward_make(bough_context *ctx, const bough_multibody *model, bo_mb_forward *x) {
    *x = (bo_mb_forward){0};
    BO_TRY(bo_mb_linear_make(ctx, model, &x->linear));
    const bo_block_lu *lu = &x->linear.work.lu;
    const size_t size = (size_t)(model->nv + model->nc);
    BO_TRY(bo_sparse_rows_make(ctx, lu->size, 2 * lu->value_count, &x->rows));
    x->mass = BO_NEW_ARRAY(ctx, double, lu->value_count);
    x->by_motor = BO_NEW_ZEROS(ctx, double, 2 * (size_t)model->def.motor_count * size + size);
    x->joint = BO_NEW_ZEROS(ctx, bool, lu->count);
    if (!x->mass || !x->by_motor || !x->joint)
        return BOUGH_ERROR_MEMORY;
    x->scratch = x->by_motor + 2 * (size_t)model->def.motor_count * size;
    for (int32_t k = 0; k < lu->count; k++)
        x->joint[k] = x->linear.owner[k] == -2;
    return BOUGH_OK;
}

void bo_mb_forward_free(bough_context *ctx, bo_mb_forward *x) {
    if (x->linear.model)
        bo_mb_linear_free(ctx, &x->linear);
    bo_sparse_rows_free(ctx, &x->rows);
    bo_free(ctx, x->mass);
    bo_free(ctx, x->by_motor);
    bo_free(ctx, x->joint);
    *x = (bo_mb_forward){0};
}

/* dF by place and rate of all motors, in the order of the blocks. */
static void gather_motors(bo_mb_forward *x) {
    const bough_multibody *model = x->linear.model;
    const int32_t size = model->nv + model->nc;
    for (int32_t m = 0; m < model->def.motor_count; m++)
        for (int k = 0; k < 2; k++) {
            double *to = x->by_motor + (int64_t)size * (2 * m + k);
            memset(x->scratch, 0, (size_t)size * sizeof *x->scratch);
            bo_mb_linear_add_motor(&x->linear, m, k == 1, x->scratch);
            for (int32_t i = 0; i < size; i++)
                to[model->place[i]] = x->scratch[i];
        }
}

bool bo_mb_linearise_forwards(bo_mb_forward *x, const bo_mb_moment *at) {
    const bo_block_lu *lu = &x->linear.work.lu;
    if (!bo_mb_linearise_with_mass(&x->linear, at, x->mass))
        return false;
    const bo_block_term terms[2] = {{x->linear.K, -1, x->joint}, {x->mass, 1, x->joint}};
    bo_block_lu_compress(lu, 2, terms, &x->rows);
    gather_motors(x);
    return true;
}

/* ---- quaternions ---- */

/* Four numbers of a quaternion as rows: p q is matrix_left(p) q and matrix_right(q) p. */
static void matrix_left(bo_quat p, double L[16]) {
    const double all[16] = {p.w, -p.x, -p.y, -p.z, p.x, p.w, -p.z, p.y, p.y, p.z, p.w, -p.x, p.z, -p.y, p.x, p.w};
    memcpy(L, all, sizeof all);
}
static void matrix_right(bo_quat q, double R[16]) {
    const double all[16] = {q.w, -q.x, -q.y, -q.z, q.x, q.w, q.z, -q.y, q.y, -q.z, q.w, q.x, q.z, q.y, -q.x, q.w};
    memcpy(R, all, sizeof all);
}

/* y = A x for lanes: y (rows), x (columns); A has rows of `stride`. */
static void apply(int32_t rows, int32_t columns, int32_t stride, const double *A, double scale, const double *x,
                  double *restrict y) {
    for (int32_t i = 0; i < rows; i++) {
        double sum[LANES] = {0};
        for (int32_t j = 0; j < columns; j++)
            for (int32_t l = 0; l < LANES; l++)
                sum[l] += scale * A[stride * i + j] * x[LANES * j + l];
        memcpy(y + LANES * i, sum, sizeof sum);
    }
}

static bo_quat quaternion_of(const bo_mb_forward *x, int32_t body) {
    const double *q = x->linear.at.u + 7 * body + 3;
    return (bo_quat){q[0], q[1], q[2], q[3]};
}

/* (dU0 of U by Uhat; displacements in the order of the blocks) */
static void carry_over(const bo_mb_forward *x, const double *du_base, double *du, double *xi) {
    const bough_multibody *model = x->linear.model;
    const size_t row = LANES * sizeof *du;
    memcpy(du, du_base, (size_t)model->nu * row);
    for (int32_t b = 0; b < model->body_count; b++) {
        const bo_quat q = quaternion_of(x, b);
        double L[16], R[16], turn[3 * LANES];
        matrix_left(bo_mb_linear_turn(&x->linear, b), L), matrix_right(bo_quat_conj(q), R);
        double *to = du + (int64_t)LANES * (7 * b + 3);
        apply(4, 4, 4, L, 1, du_base + (int64_t)LANES * (7 * b + 3), to);
        apply(3, 4, 4, R + 4, 2 / bo_quat_dot(q, q), to, turn);
        for (int k = 0; k < 3; k++) {
            memcpy(xi + (int64_t)LANES * model->place[6 * b + k], du + (int64_t)LANES * (7 * b + k), row);
            memcpy(xi + (int64_t)LANES * model->place[6 * b + 3 + k], turn + LANES * k, row);
        }
    }
    for (int32_t i = 6 * model->body_count; i < model->nv; i++)
        memcpy(xi + (int64_t)LANES * model->place[i], du + (int64_t)LANES * (i + model->body_count), row);
}

/* dU += h dV, quaternions by h/2 m dw q. */
static void move_on(const bo_mb_forward *x, const double *dv, double *du) {
    const bough_multibody *model = x->linear.model;
    const double h = x->linear.at.h;
    for (int32_t b = 0; b < model->body_count; b++) {
        double L[16], R[16], spun[4 * LANES], moved[4 * LANES];
        const double *v = dv + (int64_t)LANES * 6 * b;
        double *to = du + (int64_t)LANES * 7 * b;
        matrix_left(bo_mb_linear_turn(&x->linear, b), L), matrix_right(quaternion_of(x, b), R);
        apply(4, 3, 4, R + 1, 1, v + LANES * 3, spun);
        apply(4, 4, 4, L, 0.5 * h, spun, moved);
        for (int32_t i = 0; i < 3 * LANES; i++)
            to[i] += h * v[i];
        for (int32_t i = 0; i < 4 * LANES; i++)
            to[3 * LANES + i] += moved[i];
    }
    for (int64_t i = (int64_t)LANES * 6 * model->body_count; i < (int64_t)LANES * model->nv; i++)
        du[i + (int64_t)LANES * model->body_count] += h * dv[i];
}

void bo_mb_linear_push(const bo_mb_forward *x, const double *du_base, const double *dv_base, double *solution,
                       double *scratch, double *du, double *dv) {
    const bough_multibody *model = x->linear.model;
    const bo_block_lu *lu = &x->linear.work.lu;
    const size_t row = LANES * sizeof *du;
    double *velocities = scratch + (int64_t)LANES * lu->size;
    carry_over(x, du_base, du, scratch);
    for (int32_t i = 0; i < model->nv; i++)
        memcpy(velocities + (int64_t)LANES * model->place[i], dv_base + (int64_t)LANES * i, row);
    bo_sparse_rows_add_lanes(&x->rows, scratch, solution);
    bo_block_lu_solve_lanes(lu, solution);
    for (int32_t i = 0; i < model->nv; i++)
        memcpy(dv + (int64_t)LANES * i, solution + (int64_t)LANES * model->place[i], row);
    move_on(x, dv, du);
}
