/* Spanning tree and simultaneous loop closure.
 *
 * With all wrenches spatial, a joint of the tree carries the sum of the wrenches on what lies beyond it. Joint k that
 * closes a loop carries f_k: -f_k on its child, f_k on its parent. With t_jk = +-1 or 0 for whether that counts beyond
 * joint j of the tree (the signs of the loop's edges),
 *     F_j = sum over end effectors beyond j of w_e + sum_k t_jk f_k,    twist of link i = sum of G_j F_j on its way
 *     closed: twist of child - twist of parent of k = G_k f_k, that is
 *     (G_k delta_kl + sum_j t_jk G_j t_jl) f_l = -sum_j t_jk G_j (w beyond j)
 * Loops touch only the joints that they pass: nothing is taken as the difference of two ways to the base. */
#include "mechanism/statics.h"

#include "dense/cholesky.h"

#include <string.h>

#define REGULAR 1e-12 /* against the mean of the scaled diagonal */
#define REFINEMENTS 2

void bo_add6(double *C, double s, const double *A) {
    for (int k = 0; k < 36; k++)
        C[k] += s * A[k];
}
void bo_multiply_add6(double *C, double s, const double *A, const double *B) {
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 6; k++) {
            const double a = s * A[6 * i + k];
            for (int j = 0; j < 6; j++)
                C[6 * i + j] += a * B[6 * k + j];
        }
}
void bo_apply_add6(double *y, double s, const double *A, const double *x) {
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 6; k++)
            y[i] += s * A[6 * i + k] * x[k];
}

/* ---- the closure ---- */

/* y = b - Lam x for `count` columns */
static void residual(int32_t n, const double *Lam, int32_t count, const double *b, const double *x, double *y) {
    memcpy(y, b, (size_t)n * (size_t)count * sizeof(double));
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < n; k++) {
            const double a = Lam[(size_t)i * (size_t)n + (size_t)k];
            for (int32_t c = 0; c < count && a != 0; c++)
                y[(size_t)i * (size_t)count + (size_t)c] -= a * x[(size_t)k * (size_t)count + (size_t)c];
        }
}

/* Redundant loops leave Lam singular. With Lam + eps D the part of b along an eigenvalue lam is missed by the factor
 * eps / (lam + eps), and after each refinement by its next power: what is left is far below eps. D weighs forces and
 * torques by the radius; Lam's own diagonal would not do, since that of a planar mechanism has zeros. */
bough_status bo_factor_loops(bough_context *ctx, int32_t n, const double *Lam, double radius, double *L) {
    const double square = radius * radius;
    double mean = 0;
    for (int32_t i = 0; i < n; i++)
        mean += Lam[(size_t)i * (size_t)n + (size_t)i] / (i % 6 < 3 ? square : 1) / n;
    memcpy(L, Lam, (size_t)n * (size_t)n * sizeof(double));
    for (int32_t i = 0; i < n; i++)
        L[(size_t)i * (size_t)n + (size_t)i] += REGULAR * mean * (i % 6 < 3 ? square : 1);
    if (!(mean > 0) || !bo_cholesky_factor(n, L))
        return bo_fail(
            ctx, BOUGH_ERROR_SINGULAR,
            "the loops of the mechanism cannot be closed in this precision: stiffnesses or lengths are too far "
            "apart");
    return BOUGH_OK;
}

void bo_solve_loops(int32_t n, const double *Lam, const double *L, int32_t count, double *b, double *scratch) {
    const size_t columns = (size_t)n * (size_t)count;
    double *right = scratch, *left = right + columns;
    memcpy(right, b, columns * sizeof(double));
    bo_cholesky_solve_many(n, L, count, b);
    for (int k = 0; k < REFINEMENTS; k++) {
        residual(n, Lam, count, right, b, left);
        bo_cholesky_solve_many(n, L, count, left);
        for (size_t i = 0; i < columns; i++)
            b[i] += left[i];
    }
}

bough_status bo_close_loops(bough_context *ctx, int32_t n, double *Lam, double radius, int32_t count, double *b,
                            double *scratch) {
    BO_TRY(bo_factor_loops(ctx, n, Lam, radius, scratch));
    bo_solve_loops(n, Lam, scratch, count, b, scratch + (size_t)n * (size_t)n);
    return BOUGH_OK;
}

/* ---- the tree ---- */

static int32_t tree_sign(const bo_statics *s, int32_t joint) {
    const bough_mechanism *m = s->mechanism;
    const int32_t child = m->joints[joint].child;
    return m->topology.up[child] >= 0 && m->topology.way[child].joint == joint ? 1 : -1;
}

/* Sets the wrenches of the end effectors that the joints of the tree carry: units, with the sign of the tree for
 * now. */
static void carry_effectors(bo_statics *s) {
    const bough_mechanism *m = s->mechanism;
    for (int32_t e = 0; e < s->end_effector_count; e++)
        for (int32_t i = s->end_effectors[e].body; m->topology.up[i] >= 0; i = m->topology.up[i]) {
            double *F = bo_block(s->carried, s->end_effector_count, m->topology.way[i].joint, e);
            for (int k = 0; k < 6; k++)
                F[7 * k] = 1;
        }
}

static double *offset_twist(const bo_statics *s, int32_t link, int32_t column) {
    return s->offset_twists + 6 * ((size_t)column * (size_t)s->mechanism->def.link_count + (size_t)link);
}
static double *offset_wrench(const bo_statics *s, int32_t joint, int32_t column) {
    return s->offset_carried + 6 * ((size_t)column * (size_t)s->mechanism->def.joint_count + (size_t)joint);
}

/* J d of a joint: d is its slack (column 0), or (K + L)^-1 K of a unit of offset (column 1 + k, of motor k). */
static bo_twist given_way(const bo_statics *s, int32_t j, int32_t column) {
    const bo_mechanism_joint *joint = &s->mechanism->joints[j];
    const int n = joint->freedoms, motor = column > 0 ? s->motors[column - 1] - joint->offset : 0;
    bo_twist sum = {{0, 0, 0}, {0, 0, 0}};
    for (int a = 0; a < n && motor >= 0 && motor < n; a++) {
        double d = column > 0 ? 0 : joint->slack[a];
        for (int b = 0; b < n && column > 0; b++)
            d += joint->compliance[n * a + b] * joint->stiffness[n * b + motor];
        sum = bo_twist_mul_add(sum, d, s->joints[j].columns[a]);
    }
    return sum;
}

/* xi_i = xi_up + G_j F_j. An offset d of the springs turns the joint by d beside what wrenches do:
 * sign J d added, where the sign is that of the tree. */
static void add_twists(bo_statics *s) {
    const bough_mechanism *m = s->mechanism;
    const int32_t count = s->end_effector_count;
    for (int32_t k = 1; k < m->def.link_count; k++) {
        const int32_t i = m->topology.order[k], up = m->topology.up[i], j = m->topology.way[i].joint;
        for (int32_t e = 0; e < count; e++) {
            double *T = bo_block(s->twists, count, i, e);
            memcpy(T, bo_block(s->twists, count, up, e), 36 * sizeof(double));
            bo_multiply_add6(T, 1, s->joints[j].G, bo_block(s->carried, count, j, e));
        }
        for (int32_t c = 0; c <= s->motor_count; c++) {
            double *x = offset_twist(s, i, c);
            memcpy(x, offset_twist(s, up, c), 6 * sizeof(double));
            bo_apply_add6(x, 1, s->joints[j].G, offset_wrench(s, j, c));
            bo_store_twist(x, bo_twist_mul_add(bo_load_twist(x), m->topology.way[i].sign, given_way(s, j, c)));
        }
    }
}

/* ---- loops ---- */

static void add_to_Lam(double *Lam, size_t n, int32_t k, int32_t l, double sign, const double *G) {
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < 6; j++)
            Lam[(6 * (size_t)k + i) * n + 6 * (size_t)l + j] += sign * G[6 * i + j];
}

void bo_fill_loops(const bough_mechanism *m, const bo_spatial_joint *joints, int32_t *marks, double *Lam) {
    const size_t n = 6 * (size_t)m->topology.loop_count;
    for (int32_t k = 0; k < m->topology.loop_count; k++) {
        for (int32_t q = m->topology.loop_start[k]; q < m->topology.loop_start[k + 1]; q++)
            marks[m->topology.loop_edges[q].joint] = m->topology.loop_edges[q].sign;
        for (int32_t l = 0; l <= k; l++)
            for (int32_t q = m->topology.loop_start[l]; q < m->topology.loop_start[l + 1]; q++) {
                const bo_edge edge = m->topology.loop_edges[q];
                if (marks[edge.joint] != 0)
                    add_to_Lam(Lam, n, k, l, marks[edge.joint] * edge.sign, joints[edge.joint].G);
            }
        add_to_Lam(Lam, n, k, k, 1, joints[m->topology.cuts[k]].G);
        for (int32_t q = m->topology.loop_start[k]; q < m->topology.loop_start[k + 1]; q++)
            marks[m->topology.loop_edges[q].joint] = 0;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            Lam[i * n + j] = Lam[j * n + i];
}

static size_t width_of(const bo_statics *s) {
    return 6 * (size_t)s->end_effector_count + 1 + (size_t)s->motor_count;
}

/* Right-hand sides: 6 columns an end effector, one for the offsets, one a motor:
 * closed with offsets: sum_j -t_jk (G_j F_j + sign_j J_j d_j) = G_k f_k + J_k d_k */
static void fill_right(const bo_statics *s, double *b) {
    const bough_mechanism *m = s->mechanism;
    const size_t width = width_of(s), offsets = 6 * (size_t)s->end_effector_count;
    for (int32_t k = 0; k < m->topology.loop_count; k++) {
        double *rows = b + 6 * (size_t)k * width;
        for (int32_t q = m->topology.loop_start[k]; q <= m->topology.loop_start[k + 1]; q++) {
            const bool closing = q == m->topology.loop_start[k + 1];
            const int32_t j = closing ? m->topology.cuts[k] : m->topology.loop_edges[q].joint,
                          t = closing ? 1 : m->topology.loop_edges[q].sign;
            const int32_t sign = closing ? 1 : tree_sign(s, j);
            for (int32_t c = 0; c <= s->motor_count; c++) {
                double x[6];
                bo_store_twist(x, given_way(s, j, c));
                for (size_t r = 0; r < 6; r++)
                    rows[r * width + offsets + (size_t)c] -= t * sign * x[r];
            }
            for (int32_t e = 0; e < s->end_effector_count && !closing; e++) {
                const double *F = bo_block(s->carried, s->end_effector_count, j, e);
                for (size_t r = 0; r < 6 && F[0] != 0; r++) /* it is the identity or zero */
                    for (size_t c = 0; c < 6; c++)
                        rows[r * width + 6 * (size_t)e + c] -= t * s->joints[j].G[6 * r + c];
            }
        }
    }
}

/* The wrenches of a loop (6 rows) onto what joint j carries. */
static void add_rows(bo_statics *s, int32_t j, double sign, const double *rows) {
    const size_t width = width_of(s), effectors = (size_t)s->end_effector_count;
    double *blocks = bo_block(s->carried, s->end_effector_count, j, 0);
    for (size_t r = 0; r < 6; r++) {
        for (size_t e = 0; e < effectors; e++)
            for (size_t c = 0; c < 6; c++)
                blocks[36 * e + 6 * r + c] += sign * rows[r * width + 6 * e + c];
        for (int32_t c = 0; c <= s->motor_count; c++)
            offset_wrench(s, j, c)[r] += sign * rows[r * width + 6 * effectors + (size_t)c];
    }
}

/* F_j += t_jk f_k */
static void carry_loops(bo_statics *s, const double *f) {
    const bough_mechanism *m = s->mechanism;
    for (int32_t k = 0; k < m->topology.loop_count; k++) {
        const double *rows = f + 6 * (size_t)k * width_of(s);
        for (int32_t q = m->topology.loop_start[k]; q < m->topology.loop_start[k + 1]; q++)
            add_rows(s, m->topology.loop_edges[q].joint, m->topology.loop_edges[q].sign, rows);
        add_rows(s, m->topology.cuts[k], 1, rows);
    }
}

static bough_status close_all(bough_context *ctx, bo_statics *s) {
    const bough_mechanism *m = s->mechanism;
    const size_t n = 6 * (size_t)m->topology.loop_count, width = width_of(s);
    if (n > 20000)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "the mechanism has %d loops; 3333 are supported",
                       m->topology.loop_count);
    int32_t *marks = BO_NEW_ZEROS(ctx, int32_t, m->def.joint_count);
    double *Lam = BO_NEW_ZEROS(ctx, double, n *n), *f = BO_NEW_ZEROS(ctx, double, n *width);
    double *scratch = BO_NEW_ARRAY(ctx, double, n *(n + 2 * width));
    bough_status status = marks && Lam && f && scratch ? BOUGH_OK : bo_fail_memory(ctx);
    if (status == BOUGH_OK) {
        bo_fill_loops(m, s->joints, marks, Lam);
        fill_right(s, f);
        status = bo_close_loops(ctx, (int32_t)n, Lam, m->radius, (int32_t)width, f, scratch);
    }
    if (status == BOUGH_OK)
        carry_loops(s, f);
    bo_free(ctx, marks);
    bo_free(ctx, Lam);
    bo_free(ctx, f);
    bo_free(ctx, scratch);
    return status;
}

/* From wrenches on what is beyond a joint to those that it carries from child to parent. */
static void turn_signs(bo_statics *s) {
    const bough_mechanism *m = s->mechanism;
    for (int32_t k = 1; k < m->def.link_count; k++) {
        const bo_edge way = m->topology.way[m->topology.order[k]];
        double *F = bo_block(s->carried, s->end_effector_count, way.joint, 0);
        for (int32_t i = 0; i < 36 * s->end_effector_count && way.sign < 0; i++)
            F[i] = -F[i];
    }
}

bough_status bo_statics_exact(bough_context *ctx, bo_statics *s) {
    carry_effectors(s);
    if (s->mechanism->topology.loop_count > 0)
        BO_TRY(close_all(ctx, s));
    add_twists(s);
    turn_signs(s);
    return BOUGH_OK;
}
