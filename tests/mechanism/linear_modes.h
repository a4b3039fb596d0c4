/* Frequencies of the whole linearised mechanism: coordinates of all joints (and the base's twist when it is free) that
 * keep loops closed, with the springs of all joints and the masses of all links. Independent of compliances. */
#ifndef BOUGH_TEST_LINEAR_MODES_H
#define BOUGH_TEST_LINEAR_MODES_H

#include "mechanisms.h"

#include "dense/cholesky.h"
#include "dense/symmetric_eigen.h"

/* K x = lambda M x, ascending, for small dense matrices (destroyed). */
static inline void generalised_values(int n, double *K, double *M, double *values) {
    double *scratch = calloc((size_t)(2 * n), sizeof *scratch);
    check(bo_cholesky_factor(n, M));
    bo_cholesky_congruence(n, M, K);
    check(bo_sym_eigen(n, K, values, NULL, scratch));
    free(scratch);
}

typedef struct linear_mechanism {
    int n, constraints;
    double *K, *M, *closed; /* n x n, n x n, constraints x n */
    double *effectors;      /* 6 end effectors x n: their twists over the radius and 1 */
} linear_mechanism;

static inline void fill_linear(const sketch *s, const bough_mechanism *m, linear_mechanism *l) {
    const int base = s->def.free_base ? 6 : 0, n = l->n;
    bo_twist *columns = calloc((size_t)(s->def.link_count * n), sizeof *columns); /* of each link, spatial */
    bo_twist *joints = calloc((size_t)(s->def.joint_count * 6), sizeof *joints);
    for (int32_t j = 0; j < s->def.joint_count; j++) {
        const bo_mechanism_joint *joint = &m->joints[j];
        bo_joint_columns(joint->kind, joint->at, joints + 6 * j);
        for (int a = 0; a < joint->freedoms; a++)
            joints[6 * j + a] = bo_ad(bo_joint_frame(joint, bo_pose(&s->links[joint->child].pose)), joints[6 * j + a]);
        for (int a = 0; a < joint->freedoms; a++)
            for (int b = 0; b < joint->freedoms; b++)
                l->K[n * (base + joint->offset + a) + base + joint->offset + b] =
                    joint->stiffness[joint->freedoms * a + b];
    }
    for (int32_t k = 0; k < s->def.link_count; k++) {
        const int32_t i = m->topology.order[k];
        bo_twist *mine = columns + (ptrdiff_t)n * i;
        for (int d = 0; d < base; d++) {
            double x[6] = {0};
            x[d] = 1;
            mine[d] = bo_load_twist(x);
        }
        if (k == 0)
            continue;
        const int32_t j = m->topology.way[i].joint;
        memcpy(mine, columns + (ptrdiff_t)n * m->topology.up[i], (size_t)n * sizeof *mine);
        for (int a = 0; a < m->joints[j].freedoms; a++)
            mine[base + m->joints[j].offset + a] = (bo_twist){bo_scale(m->topology.way[i].sign, joints[6 * j + a].v),
                                                              bo_scale(m->topology.way[i].sign, joints[6 * j + a].w)};
    }
    for (int32_t k = 0; k < m->topology.loop_count; k++) {
        const bo_mechanism_joint *joint = &m->joints[m->topology.cuts[k]];
        for (int c = 0; c < n; c++) {
            double x[6];
            bo_twist gap = bo_twist_mul_add(columns[n * joint->child + c], -1, columns[n * joint->parent + c]);
            for (int a = 0; a < joint->freedoms; a++)
                if (c == base + joint->offset + a)
                    gap = bo_twist_mul_add(gap, -1, joints[6 * m->topology.cuts[k] + a]);
            bo_store_twist(x, gap);
            for (int r = 0; r < 6; r++)
                l->closed[(6 * k + r) * n + c] = x[r];
        }
    }
    for (int32_t e = 0; e < s->def.end_effector_count; e++) {
        const bo_se3 frame = bo_se3_mul(bo_pose(&s->links[s->effectors[e].body].pose), bo_pose(&s->effectors[e].pose));
        for (int c = 0; c < n; c++) {
            double x[6];
            bo_store_twist(x, bo_ad(bo_se3_inverse(frame), columns[n * s->effectors[e].body + c]));
            for (int r = 0; r < 6; r++)
                l->effectors[(6 * e + r) * n + c] = x[r] / (r < 3 ? m->radius : 1);
        }
    }
    for (int32_t i = 0; i < s->def.link_count; i++) { /* kinetic energy: velocity of the centre of mass, and spin */
        if (i == s->def.base && !base)
            continue;
        const bough_rigid_body_def *link = &s->links[i];
        const bo_se3 pose = bo_pose(&link->pose);
        const bo_vec3 c = bo_se3_apply(pose, bo_load3(link->centre));
        bo_mat3 I;
        memcpy(I.m, link->inertia, sizeof I.m);
        I = bo_mat_mul(pose.R, bo_mat_mul(I, bo_transpose(pose.R)));
        for (int p = 0; p < n; p++)
            for (int q = 0; q < n; q++) {
                const bo_twist a = columns[n * i + p], b = columns[n * i + q];
                l->M[n * p + q] += link->mass * bo_dot(bo_add(a.v, bo_cross(a.w, c)), bo_add(b.v, bo_cross(b.w, c))) +
                                   bo_dot(a.w, bo_mat_vec(I, b.w));
            }
    }
    free(columns);
    free(joints);
}

/* Rank of J V for J (rows x n) and the first f columns of V (n x n). */
static inline int rank_of(int rows, int n, int f, const double *J, const double *V) {
    double *A = calloc((size_t)(rows * f), sizeof *A), *AA = calloc((size_t)(rows * rows), sizeof *AA);
    double *values = calloc((size_t)rows, sizeof *values), *scratch = calloc((size_t)(2 * rows), sizeof *scratch);
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < f; j++)
                A[f * i + j] += J[n * i + k] * V[n * k + j];
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < rows; j++)
            for (int k = 0; k < f; k++)
                AA[rows * i + j] += A[f * i + k] * A[f * j + k];
    check(bo_sym_eigen(rows, AA, values, NULL, scratch));
    int rank = 0;
    for (int k = 0; k < rows; k++)
        rank += values[k] > 1e-11 * values[rows - 1];
    free(A), free(AA), free(values), free(scratch);
    return rank;
}

/* The `count` lowest frequencies in Hz that are not zero; returns how many there are. *rank (may be NULL): in how many
 * directions the end effectors can move. */
static inline int linear_frequencies(bough_context *ctx, const sketch *s, int count, double *frequencies, int *rank) {
    bough_mechanism *m = NULL;
    check_ok(ctx, bough_mechanism_create(ctx, &s->def, &m));
    const int n = m->coordinate_count + (s->def.free_base ? 6 : 0);
    linear_mechanism l = {.n = n, .constraints = 6 * m->topology.loop_count};
    l.K = calloc((size_t)(n * n), sizeof(double)), l.M = calloc((size_t)(n * n), sizeof(double));
    l.closed = calloc((size_t)(l.constraints * n + 1), sizeof(double));
    l.effectors = calloc((size_t)(6 * s->def.end_effector_count * n), sizeof(double));
    fill_linear(s, m, &l);
    /* motions that keep loops closed: eigenvectors of A^T A to zero */
    double *A = calloc((size_t)(n * n), sizeof *A), *V = calloc((size_t)(n * n), sizeof *V);
    double *values = calloc((size_t)n, sizeof *values), *scratch = calloc((size_t)(2 * n), sizeof *scratch);
    for (int r = 0; r < l.constraints; r++)
        for (int p = 0; p < n; p++)
            for (int q = 0; q < n; q++)
                A[n * p + q] += l.closed[n * r + p] * l.closed[n * r + q];
    check(bo_sym_eigen(n, A, values, V, scratch));
    int free_count = 0;
    while (free_count < n && values[free_count] <= 1e-12 * fmax(1, values[n - 1]))
        free_count++;
    const int f = free_count;
    double *Kf = calloc((size_t)(f * f), sizeof *Kf), *Mf = calloc((size_t)(f * f), sizeof *Mf);
    for (int i = 0; i < f; i++)
        for (int j = 0; j < f; j++)
            for (int p = 0; p < n; p++)
                for (int q = 0; q < n; q++) {
                    Kf[f * i + j] += V[n * p + i] * l.K[n * p + q] * V[n * q + j];
                    Mf[f * i + j] += V[n * p + i] * l.M[n * p + q] * V[n * q + j];
                }
    if (rank)
        *rank = rank_of(6 * s->def.end_effector_count, n, f, l.effectors, V);
    generalised_values(f, Kf, Mf, values);
    int found = 0;
    for (int k = s->def.free_base ? 6 : 0; k < f && found < count; k++)
        frequencies[found++] = sqrt(fmax(0, values[k])) / 6.283185307179586;
    void *const blocks[] = {l.K, l.M, l.closed, l.effectors, A, V, values, scratch, Kf, Mf};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++)
        free(blocks[k]);
    bough_mechanism_destroy(ctx, m);
    return found;
}

#endif
