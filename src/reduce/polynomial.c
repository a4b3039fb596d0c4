/* The exact reduced energy of St. Venant-Kirchhoff bodies, and the reduced stiffness. docs/theory/reduction.md,
 * "Polynomial".
 *
 * With G_l the gradient of basis function l at a quadrature point, Green's strain of u = U q is
 *   E = sum_l q_l e_l + 1/2 sum_ab q_a q_b h_ab,   e_l = sym G_l,   h_ab = sym(G_a^T G_b),
 * and the energy 1/2 sum_points <E, E> with <a, b> = w (lambda tr a tr b + 2 mu a:b). So all coefficients are inner
 * products of the r + r(r+1)/2 strain features e and h: one Gram matrix over all points, by blocks. */
#include "reduce/cook.h"

#include "base/simd.h"
#include "base/threads.h"
#include "component/polynomial.h"
#include "linalg/blas.h"
#include "mesh/mesh.h"

#include <string.h>

/* Points in a block of features: 6 rows each, few enough to stay in the cache, enough for the product to be fast. */
#define BLOCK_POINTS 64
/* Partial sums, added in order: the result does not depend on the number of threads. */
#define PARTS 4

static void shape_gradients(const bough_body *body, int32_t element, int32_t point, double (*g)[3]) {
    const bo_rule *rule = body->rule;
    const double *inverse = body->geometry[(size_t)rule->point_count * (size_t)element + (size_t)point].inverse;
    for (int32_t a = 0; a < rule->node_count; a++)
        for (int j = 0; j < 3; j++)
            g[a][j] = rule->dN[point][a][0] * inverse[j] + rule->dN[point][a][1] * inverse[3 + j] +
                      rule->dN[point][a][2] * inverse[6 + j];
}

BO_MULTIVERSION
static void gather_gradients(int32_t node_count, const int32_t *nodes, const double (*g)[3], size_t r,
                             const double *restrict U, double *restrict G) {
    memset(G, 0, 9 * r * sizeof *G);
    for (int32_t a = 0; a < node_count; a++)
        for (size_t i = 0; i < 3; i++) {
            const double *row = U + (3 * (size_t)nodes[a] + i) * r;
            for (size_t j = 0; j < 3; j++) {
                double *restrict to = G + (3 * i + j) * r;
                const double weight = g[a][j];
                for (size_t l = 0; l < r; l++)
                    to[l] += weight * row[l];
            }
        }
}

void bo_cook_field_gradient(const bough_body *body, int32_t element, int32_t point, int32_t count, const double *fields,
                            double *G) {
    double g[BO_MAX_NODES][3];
    shape_gradients(body, element, point, g);
    gather_gradients(body->rule->node_count, bo_mesh_nodes(body->mesh, element), (const double(*)[3])g, (size_t)count,
                     fields, G);
}

void bo_cook_gradient(const bo_cook *cook, int32_t element, int32_t point, double *G) {
    bo_cook_field_gradient(cook->body, element, point, cook->r, cook->U, G);
}

/* ---- strain features ---- */

/* Components xx yy zz yz xz xy; the last three stand for two equal ones, hence sqrt(2) in the inner product. */
static const int first_axis[6] = {0, 1, 2, 1, 0, 0}, second_axis[6] = {0, 1, 2, 2, 2, 1};

/* C^1/2 of the isotropic C: sqrt(2 mu) a + (sqrt(3 lambda + 2 mu) - sqrt(2 mu)) / 3 tr(a) I. Real for every stable
 * material, also with a negative lambda. */
BO_INLINE void weigh(size_t count, double weight, double lambda, double mu, size_t stride, double *f) {
    const double shear = sqrt(weight * 2 * mu);
    const double bulk = (sqrt(weight * (3 * lambda + 2 * mu)) - shear) / 3;
    const double off = sqrt(2.0) * shear;
    double *xx = f, *yy = f + stride, *zz = f + 2 * stride;
    for (size_t l = 0; l < count; l++) {
        const double trace = bulk * (xx[l] + yy[l] + zz[l]);
        xx[l] = shear * xx[l] + trace;
        yy[l] = shear * yy[l] + trace;
        zz[l] = shear * zz[l] + trace;
    }
    for (size_t c = 3; c < 6; c++)
        for (size_t l = 0; l < count; l++)
            f[c * stride + l] *= off;
}

/* Six rows of features of one point: r of e, then (zero without pairs: small strains) h_00, h_10, h_11, h_20, ... */
BO_MULTIVERSION
static void features(size_t r, const double *restrict G, double weight, double lambda, double mu, bool pairs,
                     size_t columns, double *restrict f) {
    for (size_t c = 0; c < 6; c++) {
        const double *a = G + (size_t)(3 * first_axis[c] + second_axis[c]) * r;
        const double *b = G + (size_t)(3 * second_axis[c] + first_axis[c]) * r;
        double *restrict row = f + c * columns;
        for (size_t l = 0; l < r; l++)
            row[l] = 0.5 * (a[l] + b[l]);
        for (size_t l = r; l < columns; l++)
            row[l] = 0;
    }
    for (size_t c = 0; c < 6 && pairs; c++) {
        double *restrict row = f + c * columns + r;
        for (size_t i = 0; i < 3; i++) {
            const double *x = G + (3 * i + (size_t)first_axis[c]) * r, *y = G + (3 * i + (size_t)second_axis[c]) * r;
            double *restrict at = row;
            for (size_t a = 0; a < r; at += ++a) {
                const double xa = 0.5 * x[a], ya = 0.5 * y[a];
                for (size_t b = 0; b <= a; b++)
                    at[b] += xa * y[b] + ya * x[b];
            }
        }
    }
    weigh(columns, weight, lambda, mu, columns, f);
}

/* ---- the Gram matrix ---- */

typedef struct {
    bo_cook *cook;
    size_t columns;
    bool all; /* materials count as stvk, but for linear ones */
    double *gram[PARTS], *block[PARTS], *gradient[PARTS];
} gram_job;

static void sum_range(gram_job *job, int32_t part, int64_t begin, int64_t end) {
    const bo_cook *cook = job->cook;
    const bough_body *body = cook->body;
    const int32_t points = body->rule->point_count;
    int32_t filled = 0;
    for (int64_t p = begin; p < end; p++) {
        int32_t element = (int32_t)(p / points), point = (int32_t)(p % points);
        const bo_elastic *elastic = &body->elastic[body->element_material[element]];
        bo_cook_gradient(cook, element, point, job->gradient[part]);
        features((size_t)cook->r, job->gradient[part], body->geometry[p].weight, elastic->lambda, elastic->mu,
                 elastic->model == BOUGH_MATERIAL_STVK || (job->all && elastic->model != BOUGH_MATERIAL_LINEAR),
                 job->columns, job->block[part] + (size_t)(6 * filled) * job->columns);
        if (++filled == BLOCK_POINTS || p + 1 == end) {
            bo_gram((int32_t)job->columns, 6 * filled, job->block[part], 1, job->gram[part]);
            filled = 0;
        }
    }
}

static void sum_part(void *data, int32_t part) {
    gram_job *job = data;
    int64_t total = (int64_t)job->cook->body->mesh->element_count * job->cook->body->rule->point_count;
    sum_range(job, part, total * part / PARTS, total * (part + 1) / PARTS);
}

static void free_job(bough_context *ctx, gram_job *job) {
    for (int i = 0; i < PARTS; i++) {
        bo_free(ctx, job->gram[i]);
        bo_free(ctx, job->block[i]);
        bo_free(ctx, job->gradient[i]);
    }
}

/* Lower triangle of the Gram matrix of the features, in job->gram[0]. */
static bough_status sum_features(bo_cook *cook, bool all, gram_job *job) {
    size_t r = (size_t)cook->r;
    *job = (gram_job){.cook = cook, .all = all, .columns = r + r * (r + 1) / 2};
    for (int i = 0; i < PARTS; i++) {
        job->gram[i] = BO_NEW_ZEROS(cook->ctx, double, job->columns * job->columns);
        job->block[i] = BO_NEW_ARRAY(cook->ctx, double, 6 * BLOCK_POINTS * job->columns);
        job->gradient[i] = BO_NEW_ARRAY(cook->ctx, double, 9 * r);
        if (!job->gram[i] || !job->block[i] || !job->gradient[i])
            return BOUGH_ERROR_MEMORY;
    }
    bo_run_tasks(cook->ctx, sum_part, job, PARTS);
    for (int i = 1; i < PARTS; i++)
        for (size_t k = 0; k < job->columns * job->columns; k++)
            job->gram[0][k] += job->gram[i][k];
    return BOUGH_OK;
}

/* ---- coefficients ---- */

typedef struct {
    size_t r, columns;
    const double *gram;
} products;

static double product(const products *p, size_t i, size_t j) {
    return i >= j ? p->gram[i * p->columns + j] : p->gram[j * p->columns + i];
}
static size_t pair(const products *p, size_t a, size_t b) { /* a >= b */
    return p->r + a * (a + 1) / 2 + b;
}

/* Orders in which a sorted list of indices can be written. */
static double arrangements(int32_t count, const size_t *sorted) {
    double all = 1, run = 1;
    for (int32_t i = 1; i <= count; i++) {
        all *= i;
        if (i < count && sorted[i] == sorted[i - 1])
            all /= ++run;
        else
            run = 1;
    }
    return all;
}

/* E = 1/2 K2 q q + 1/6 K3 q q q + 1/24 K4 q q q q with the fully symmetric
 * K3_abc = <e_a,h_bc> + <e_b,h_ac> + <e_c,h_ab> and K4_abcd = <h_ab,h_cd> + <h_ac,h_bd> + <h_ad,h_bc>; a unique
 * coefficient stands for all arrangements of its indices. In `t`, index 0 is the constant 1. */
static void unique_coefficients(const products *p, double *t) {
    int32_t r = (int32_t)p->r;
    for (int32_t a = 0; a < r; a++)
        for (int32_t b = 0; b <= a; b++) {
            size_t A = (size_t)a, B = (size_t)b;
            t[bo_quartic_index(a + 1, b + 1, 0, 0)] = product(p, A, B) * arrangements(2, (size_t[]){A, B}) / 2;
            for (int32_t c = 0; c <= b; c++) {
                size_t C = (size_t)c;
                double K3 = product(p, A, pair(p, B, C)) + product(p, B, pair(p, A, C)) + product(p, C, pair(p, A, B));
                t[bo_quartic_index(a + 1, b + 1, c + 1, 0)] = K3 * arrangements(3, (size_t[]){A, B, C}) / 6;
                double *row = t + bo_quartic_index(a + 1, b + 1, c + 1, 1);
                for (size_t D = 0; D <= C; D++) {
                    double K4 = product(p, pair(p, A, B), pair(p, C, D)) + product(p, pair(p, A, C), pair(p, B, D)) +
                                product(p, pair(p, A, D), pair(p, B, C));
                    row[D] = K4 * arrangements(4, (size_t[]){A, B, C, D}) / 24;
                }
            }
        }
}

static bough_status keep_stiffness(bo_cook *cook, const gram_job *job) {
    size_t r = (size_t)cook->r;
    double *K = BO_COOK_ARRAY(cook, double, r *r);
    if (!K)
        return BOUGH_ERROR_MEMORY;
    for (size_t i = 0; i < r; i++)
        for (size_t j = 0; j <= i; j++)
            K[i * r + j] = K[j * r + i] = job->gram[0][i * job->columns + j];
    cook->draft.K = K;
    return BOUGH_OK;
}

bough_status bo_cook_polynomial(bo_cook *cook) {
    gram_job job;
    double *t = BO_COOK_ARRAY(cook, double, bo_quartic_count(cook->r));
    bough_status status = t ? sum_features(cook, false, &job) : BOUGH_ERROR_MEMORY;
    if (!t)
        return status;
    if (status == BOUGH_OK)
        status = keep_stiffness(cook, &job);
    if (status == BOUGH_OK) {
        unique_coefficients(&(products){(size_t)cook->r, job.columns, job.gram[0]}, t);
        cook->draft.quartic = t;
    }
    free_job(cook->ctx, &job);
    return status;
}

bough_status bo_cook_surrogate(bo_cook *cook, double *t) {
    gram_job job;
    bough_status status = sum_features(cook, true, &job);
    memset(t, 0, bo_quartic_count(cook->r) * sizeof *t);
    if (status == BOUGH_OK)
        unique_coefficients(&(products){(size_t)cook->r, job.columns, job.gram[0]}, t);
    free_job(cook->ctx, &job);
    return status;
}

bough_status bo_cook_stiffness(bo_cook *cook) {
    size_t r = (size_t)cook->r;
    double *K = BO_COOK_ARRAY(cook, double, r *r), *KU = BO_NEW_ARRAY(cook->ctx, double, (size_t)cook->n *r);
    if (!K || !KU) {
        bo_free(cook->ctx, KU);
        return BOUGH_ERROR_MEMORY;
    }
    bo_sparse_mul_rows(cook->K, cook->r, cook->U, KU);
    bo_gemm(true, false, cook->r, cook->r, cook->n, 1, cook->U, cook->r, KU, cook->r, 0, K, cook->r);
    for (size_t i = 0; i < r; i++)
        for (size_t j = 0; j < i; j++)
            K[i * r + j] = K[j * r + i] = 0.5 * (K[i * r + j] + K[j * r + i]);
    bo_free(cook->ctx, KU);
    cook->draft.K = K;
    return BOUGH_OK;
}
