/* Energy, force and tangent of the whole body: element kernels and their assembly. */
#include "fem/body.h"

#include "base/simd.h"
#include "base/threads.h"
#include "dense/symmetric_eigen.h"
#include "mesh/mesh.h"

#include <string.h>

#define PADDED_MAX 12 /* nodes rounded up to whole AVX2 registers */

/* Element matrices are kept component by component: degree of freedom (node a, axis i) is i * NP + a with NP nodes
 * after padding, so that all inner loops run over nodes. */
typedef struct {
    double Gt[3][PADDED_MAX];                 /* dN_a / dX_j, zero in the padding */
    double T[9][3 * PADDED_MAX];              /* w C : (. G_b) */
    double K[3 * PADDED_MAX][3 * PADDED_MAX]; /* upper part in blocks of axes: (i,a),(k,b) for i <= k */
    double f[3][PADDED_MAX];                  /* dE/du */
} element_work;

BO_INLINE void shape_gradients(const int N, const int NP, const double (*dN)[3], const double *inverse,
                               element_work *w) {
    for (int j = 0; j < 3; j++)
        for (int a = 0; a < NP; a++)
            w->Gt[j][a] = a < N ? dN[a][0] * inverse[j] + dN[a][1] * inverse[3 + j] + dN[a][2] * inverse[6 + j] : 0;
}

/* F = I + sum_a u_a (x) G_a */
BO_INLINE bo_mat3 deformation_gradient(const int N, const double (*u)[3], const element_work *w) {
    bo_mat3 F = bo_identity3();
    for (int a = 0; a < N; a++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                F.m[3 * i + j] += u[a][i] * w->Gt[j][a];
    return F;
}

/* f_ia += w P_ij G_ja */
BO_INLINE void add_force(const int NP, double weight, const bo_mat3 *P, element_work *w) {
    for (int i = 0; i < 3; i++)
        for (int a = 0; a < NP; a++)
            w->f[i][a] +=
                weight * (P->m[3 * i] * w->Gt[0][a] + P->m[3 * i + 1] * w->Gt[1][a] + P->m[3 * i + 2] * w->Gt[2][a]);
}

/* K_(ia)(kb) += w G_ja C_ijkl G_lb */
BO_INLINE void add_tangent(const int N, const int NP, double weight, const double *C, element_work *w) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = i; k < 3; k++) {
                const double *c = C + 9 * (3 * i + j) + 3 * k;
                const double c0 = weight * c[0], c1 = weight * c[1], c2 = weight * c[2];
                double *T = w->T[3 * i + j] + k * NP;
                for (int b = 0; b < NP; b++)
                    T[b] = c0 * w->Gt[0][b] + c1 * w->Gt[1][b] + c2 * w->Gt[2][b];
            }
    for (int i = 0; i < 3; i++)
        for (int a = 0; a < N; a++) {
            const double g0 = w->Gt[0][a], g1 = w->Gt[1][a], g2 = w->Gt[2][a];
            const double *T0 = w->T[3 * i], *T1 = w->T[3 * i + 1], *T2 = w->T[3 * i + 2];
            double *row = w->K[i * NP + a];
            for (int c = i * NP; c < 3 * NP; c++)
                row[c] += g0 * T0[c] + g1 * T1[c] + g2 * T2[c];
        }
}

/* Nearest positive semidefinite matrix: negative eigenvalues become zero. Makes the element's tangent
 * sum_q w B^T C B positive semidefinite, whatever its shape. */
static void project_positive(double C[81]) {
    double values[9], V[81], copy[81], scratch[18];
    memcpy(copy, C, sizeof copy);
    if (!bo_sym_eigen(9, copy, values, V, scratch) || values[0] >= 0)
        return; /* not finite: the energy is not either, which the caller finds out */
    memset(C, 0, 81 * sizeof *C);
    for (int m = 0; m < 9; m++)
        if (values[m] > 0)
            for (int i = 0; i < 9; i++)
                for (int j = 0; j < 9; j++)
                    C[9 * i + j] += values[m] * V[9 * i + m] * V[9 * j + m];
}

/* Blocks that run at the same time, at most: few enough for their results to lie on the stack. */
#define BATCH 1024

typedef struct {
    const bough_body *body;
    const double *u;
    bool project, want_force;
    double *force;
    bough_sparse *tangent;
    int32_t first_block;         /* of the batch that runs now, all of one colour */
    double *block_energy;        /* BATCH; entry 0 is first_block's */
    unsigned char *block_failed; /* likewise */
} evaluation;

BO_INLINE bool eval_element(const int N, const int NP, const evaluation *v, int32_t element, const double (*u)[3],
                            double *energy, element_work *w) {
    const bough_body *body = v->body;
    const bo_rule *rule = body->rule;
    const bo_elastic *elastic = &body->elastic[body->element_material[element]];
    const bo_point_geometry *g = body->geometry + (size_t)rule->point_count * (size_t)element;
    memset(w->f, 0, sizeof w->f);
    if (v->tangent)
        for (int i = 0; i < 3; i++)
            for (int a = 0; a < N; a++)
                memset(w->K[i * NP + a], 0, (size_t)(3 * NP) * sizeof(double));
    for (int32_t q = 0; q < rule->point_count; q++) {
        double psi, C[81];
        bo_mat3 P;
        shape_gradients(N, NP, rule->dN[q], g[q].inverse, w);
        bo_mat3 F = deformation_gradient(N, u, w);
        if (!bo_elastic_eval(elastic, &F, &psi, v->want_force ? &P : NULL, v->tangent ? C : NULL))
            return false;
        *energy += g[q].weight * psi;
        if (v->want_force)
            add_force(NP, g[q].weight, &P, w);
        if (v->tangent) {
            if (v->project)
                project_positive(C);
            add_tangent(N, NP, g[q].weight, C, w);
        }
    }
    return true;
}

BO_INLINE double entry(const int NP, const element_work *w, int i, int a, int k, int b) {
    return i <= k ? w->K[i * NP + a][k * NP + b] : w->K[k * NP + b][i * NP + a];
}

/* The column length gives the distance of the three columns of a block: see build_matrix() in pattern.c. */
BO_INLINE void scatter_tangent(const int N, const int NP, const bo_pattern *pattern, const int32_t *nodes,
                               int32_t element, const element_work *w, bough_sparse *A) {
    const int32_t *at = pattern->scatter + (size_t)pattern->pair_count * (size_t)element;
    for (int a = 0; a < N; a++)
        for (int b = 0; b <= a; b++) {
            bool swap = nodes[a] < nodes[b];
            int r = swap ? b : a, c = swap ? a : b;
            const int32_t *start = A->column_start + 3 * nodes[c];
            int32_t length = start[1] - start[0];
            double *column0 = A->values + *at++, *column1 = column0 + length - 1, *column2 = column1 + length - 2;
            column0[0] += entry(NP, w, 0, r, 0, c);
            column0[1] += entry(NP, w, 1, r, 0, c);
            column0[2] += entry(NP, w, 2, r, 0, c);
            if (a != b)
                column1[0] += entry(NP, w, 0, r, 1, c);
            column1[1] += entry(NP, w, 1, r, 1, c);
            column1[2] += entry(NP, w, 2, r, 1, c);
            if (a != b) {
                column2[0] += entry(NP, w, 0, r, 2, c);
                column2[1] += entry(NP, w, 1, r, 2, c);
            }
            column2[2] += entry(NP, w, 2, r, 2, c);
        }
}

void bo_scatter_block(const bo_pattern *pattern, const bough_mesh *mesh, int32_t element, int32_t a, int32_t b,
                      const double block[9], bough_sparse *A) {
    const int32_t *nodes = bo_mesh_nodes(mesh, element);
    if (a < b)
        return; /* the pair comes up once, as (larger, smaller) */
    bool swap = nodes[a] < nodes[b];
    int32_t at = pattern->scatter[(size_t)pattern->pair_count * (size_t)element + (size_t)(a * (a + 1) / 2 + b)];
    const int32_t *start = A->column_start + 3 * (swap ? nodes[a] : nodes[b]);
    int32_t length = start[1] - start[0];
    double *column[3] = {A->values + at, A->values + at + length - 1, A->values + at + 2 * length - 3};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            if (a != b || i >= k)
                column[k][i] += swap ? block[3 * k + i] : block[3 * i + k];
}

BO_INLINE void eval_block(const int N, const int NP, const evaluation *v, int32_t block) {
    const bough_body *body = v->body;
    const bo_pattern *pattern = body->pattern;
    const int32_t at = block - v->first_block;
    element_work w;
    double energy = 0;
    v->block_failed[at] = 0;
    for (int32_t i = pattern->block_start[block]; i < pattern->block_start[block + 1]; i++) {
        int32_t element = pattern->order[i];
        const int32_t *nodes = body->mesh->elements + (size_t)N * (size_t)element;
        double u[PADDED_MAX][3];
        for (int a = 0; a < N; a++)
            for (int d = 0; d < 3; d++)
                u[a][d] = v->u ? v->u[3 * (size_t)nodes[a] + (size_t)d] : 0;
        if (!eval_element(N, NP, v, element, (const double(*)[3])u, &energy, &w)) {
            v->block_failed[at] = 1;
            break;
        }
        if (v->force)
            for (int a = 0; a < N; a++)
                for (int d = 0; d < 3; d++)
                    v->force[3 * (size_t)nodes[a] + (size_t)d] -= w.f[d][a];
        if (v->tangent)
            scatter_tangent(N, NP, pattern, nodes, element, &w, v->tangent);
    }
    v->block_energy[at] = energy;
}

BO_MULTIVERSION static void eval_block_tet4(const evaluation *v, int32_t block) {
    eval_block(4, 4, v, block);
}
BO_MULTIVERSION static void eval_block_tet10(const evaluation *v, int32_t block) {
    eval_block(10, 12, v, block);
}
BO_MULTIVERSION static void eval_block_hex8(const evaluation *v, int32_t block) {
    eval_block(8, 8, v, block);
}

static void run_block(void *data, int32_t index) {
    const evaluation *v = data;
    int32_t block = v->first_block + index;
    switch (v->body->mesh->type) {
    case BOUGH_TET4:
        eval_block_tet4(v, block);
        break;
    case BOUGH_TET10:
        eval_block_tet10(v, block);
        break;
    case BOUGH_HEX8:
        eval_block_hex8(v, block);
        break;
    case BOUGH_TRI3:
        break;
    }
}

/* Adds the energies of `count` blocks to *sum; false when an element of theirs is inverted that must not be. */
static bool run_batch(bough_context *ctx, evaluation *v, int32_t count, double *sum) {
    bo_run_tasks(ctx, run_block, v, count);
    for (int32_t b = 0; b < count; b++) {
        if (v->block_failed[b])
            return false;
        *sum += v->block_energy[b];
    }
    return true;
}

bough_status bough_body_evaluate(bough_context *ctx, const bough_body *body, const double *u, bool project,
                                 double *energy, double *force, bough_sparse *tangent) {
    const bo_pattern *pattern = body->pattern;
    if (tangent && tangent->rows != pattern->matrix->rows)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the matrix was not made by bough_body_matrix_create() of this body");
    if (force)
        memset(force, 0, (size_t)bo_body_size(body) * sizeof *force);
    if (tangent)
        memset(tangent->values, 0, (size_t)tangent->column_start[tangent->size] * sizeof(double));
    double block_energy[BATCH];
    unsigned char block_failed[BATCH];
    evaluation v = {body, u, project, force != NULL, force, tangent, 0, block_energy, block_failed};
    double sum = 0;
    for (int32_t c = 0; c < pattern->color_count; c++)
        for (v.first_block = pattern->color_start[c]; v.first_block < pattern->color_start[c + 1];) {
            const int32_t left = pattern->color_start[c + 1] - v.first_block, count = left < BATCH ? left : BATCH;
            if (!run_batch(ctx, &v, count, &sum))
                return bo_fail(ctx, BOUGH_NOT_FINITE, "an element is inverted, which this material does not allow");
            v.first_block += count;
        }
    if (!isfinite(sum))
        return bo_fail(ctx, BOUGH_NOT_FINITE, "the elastic energy is not finite");
    if (energy)
        *energy = sum;
    return BOUGH_OK;
}
