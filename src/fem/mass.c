/* Mass matrix and inertia of the body, gravity. */
#include "fem/body.h"

#include "mesh/mesh.h"

#include <string.h>

/* m_ab = density * integral N_a N_b dV of one element, N x N row-major. */
static void element_mass(const bough_body *body, const bo_rule *rule, int32_t element, double *m) {
    const bough_mesh *mesh = body->mesh;
    const int32_t *nodes = bo_mesh_nodes(mesh, element);
    const int32_t N = rule->node_count;
    const double density = body->density[body->element_material[element]];
    memset(m, 0, (size_t)(N * N) * sizeof *m);
    for (int32_t q = 0; q < rule->point_count; q++) {
        double weight = density * rule->weight[q] * bo_det(bo_rule_gradient(rule, q, mesh->vertices, nodes));
        for (int32_t a = 0; a < N; a++)
            for (int32_t b = 0; b < N; b++)
                m[N * a + b] += weight * rule->N[q][a] * rule->N[q][b];
    }
}

/* Row sums, which keep mass and centre; for tet10, whose row sums are negative at the corners, the diagonal scaled
 * to the element's mass (Hinton, Rock and Zienkiewicz 1976). */
static void lump(bough_element_type type, int32_t N, double *m) {
    double lumped[BO_MAX_NODES] = {0}, total = 0, trace = 0;
    for (int32_t a = 0; a < N; a++) {
        for (int32_t b = 0; b < N; b++)
            lumped[a] += m[N * a + b];
        total += lumped[a];
        trace += m[N * a + a];
    }
    if (type == BOUGH_TET10)
        for (int32_t a = 0; a < N; a++)
            lumped[a] = m[N * a + a] * total / trace;
    memset(m, 0, (size_t)(N * N) * sizeof *m);
    for (int32_t a = 0; a < N; a++)
        m[N * a + a] = lumped[a];
}

static void body_element_mass(const bough_body *body, int32_t element, double *m) {
    bough_element_type type = body->mesh->type;
    bo_rule_kind kind = body->def.mass == BOUGH_MASS_REDUCED ? BO_RULE_STIFFNESS : BO_RULE_MASS;
    element_mass(body, bo_rule_of(type, kind), element, m);
    if (body->def.mass == BOUGH_MASS_LUMPED)
        lump(type, bough_element_node_count(type), m);
}

bough_status bough_body_mass_matrix(bough_context *ctx, const bough_body *body, bough_sparse *M) {
    if (M->rows != body->pattern->matrix->rows)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the matrix was not made by bough_body_matrix_create() of this body");
    memset(M->values, 0, (size_t)M->column_start[M->size] * sizeof(double));
    const int32_t N = bough_element_node_count(body->mesh->type);
    double m[BO_MAX_NODES * BO_MAX_NODES];
    for (int32_t e = 0; e < body->mesh->element_count; e++) {
        body_element_mass(body, e, m);
        for (int32_t a = 0; a < N; a++)
            for (int32_t b = 0; b <= a; b++) {
                const double block[9] = {m[N * a + b], 0, 0, 0, m[N * a + b], 0, 0, 0, m[N * a + b]};
                bo_scatter_block(body->pattern, body->mesh, e, a, b, block, M);
            }
    }
    return BOUGH_OK;
}

/* A block column of the pattern is three columns of three rows a vertex, so that every third row of every third column
 * is one vertex. */
static bough_status scalar_pattern(bough_context *ctx, const bough_sparse *blocks, bough_sparse **m) {
    int32_t n = blocks->size / 3, entries = 0;
    for (int32_t j = 0; j < n; j++)
        entries += (blocks->column_start[3 * j + 1] - blocks->column_start[3 * j]) / 3;
    BO_TRY(bo_sparse_create(ctx, n, entries, m));
    int32_t at = 0;
    for (int32_t j = 0; j < n; j++) {
        for (int32_t k = blocks->column_start[3 * j]; k < blocks->column_start[3 * j + 1]; k += 3)
            (*m)->rows[at++] = blocks->rows[k] / 3;
        (*m)->column_start[j + 1] = at;
    }
    return BOUGH_OK;
}

bough_status bo_body_scalar_mass(bough_context *ctx, const bough_body *body, bough_sparse **m) {
    const bo_pattern *pattern = body->pattern;
    BO_TRY(scalar_pattern(ctx, pattern->matrix, m));
    const int32_t N = bough_element_node_count(body->mesh->type);
    double local[BO_MAX_NODES * BO_MAX_NODES];
    for (int32_t e = 0; e < body->mesh->element_count; e++) {
        const int32_t *nodes = bo_mesh_nodes(body->mesh, e);
        body_element_mass(body, e, local);
        for (int32_t a = 0; a < N; a++)
            for (int32_t b = 0; b <= a; b++) {
                int32_t column = nodes[a] < nodes[b] ? nodes[a] : nodes[b];
                size_t pair = (size_t)pattern->pair_count * (size_t)e + (size_t)(a * (a + 1) / 2 + b);
                int32_t block = (pattern->scatter[pair] - pattern->matrix->column_start[3 * column]) / 3;
                (*m)->values[(*m)->column_start[column] + block] += local[N * a + b];
            }
    }
    return BOUGH_OK;
}

#define TOGETHER 8 /* vectors that the mass matrix is read once for */

size_t bo_mass_scratch(const bough_sparse *m) {
    return 6 * TOGETHER * (size_t)m->size;
}

static void multiply_some(const bough_sparse *m, const unsigned char *held, double *scratch, const double *x, double *y,
                          size_t count) {
    size_t n = 3 * (size_t)m->size;
    double *X = scratch, *Y = scratch + count * n;
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < count; c++)
            X[i * count + c] = held && held[i] ? 0 : x[c * n + i];
    bo_sparse_mul_rows(m, (int32_t)(3 * count), X, Y);
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < count; c++)
            y[c * n + i] = held && held[i] ? 0 : Y[i * count + c];
}

void bo_mass_multiply(const bough_sparse *m, const unsigned char *held, double *scratch, const double *x, double *y,
                      int32_t count) {
    size_t n = 3 * (size_t)m->size;
    if (count == 1 && !held) {
        bo_sparse_mul_rows(m, 3, x, y);
        return;
    }
    for (int32_t c = 0; c < count; c += TOGETHER)
        multiply_some(m, held, scratch, x + (size_t)c * n, y + (size_t)c * n,
                      (size_t)(count - c < TOGETHER ? count - c : TOGETHER));
}

void bo_body_add_mass(const bough_sparse *m, double scale, bough_sparse *A) {
    for (int32_t j = 0; j < m->size; j++)
        for (int32_t k = m->column_start[j]; k < m->column_start[j + 1]; k++)
            for (int32_t d = 0; d < 3; d++) /* column 3j+d lacks the d rows above its diagonal */
                A->values[A->column_start[3 * j + d] + 3 * (k - m->column_start[j])] += scale * m->values[k];
}

bough_status bough_body_damping_matrix(bough_context *ctx, const bough_body *body, const double *u, bough_sparse *D) {
    bough_sparse *K;
    BO_TRY(bough_body_matrix_create(ctx, body, &K));
    bough_status status = bough_body_evaluate(ctx, body, u, false, NULL, NULL, K);
    if (status == BOUGH_OK)
        status = bough_body_mass_matrix(ctx, body, D);
    if (status == BOUGH_OK)
        bo_sparse_combine(D, body->def.damping_mass, body->def.damping_stiffness, K);
    bough_sparse_destroy(ctx, K);
    return status;
}

/* Gravity acts on each vertex with the row sum of the mass matrix (integral density N_a dV where it is not lumped), so
 * that a free body falls without straining. */
void bo_body_gravity_force(const bough_body *body, const double gravity[3], double *force) {
    const bough_mesh *mesh = body->mesh;
    const int32_t N = bough_element_node_count(mesh->type);
    double m[BO_MAX_NODES * BO_MAX_NODES];
    for (int32_t e = 0; e < mesh->element_count; e++) {
        body_element_mass(body, e, m);
        const int32_t *nodes = bo_mesh_nodes(mesh, e);
        for (int32_t a = 0; a < N; a++) {
            double share = 0;
            for (int32_t b = 0; b < N; b++)
                share += m[N * a + b];
            for (int d = 0; d < 3; d++)
                force[3 * (size_t)nodes[a] + (size_t)d] += share * gravity[d];
        }
    }
}

bough_status bough_body_measure(bough_context *ctx, const bough_body *body, bough_body_properties *p) {
    (void)ctx;
    const bough_mesh *mesh = body->mesh;
    const int32_t N = bough_element_node_count(mesh->type);
    memset(p, 0, sizeof *p);
    /* sum m r, sum m r r^T with r = x - origin, a point of the body, so that no digits are lost far from the axes */
    double first[3] = {0}, second[9] = {0};
    const double *origin = mesh->vertices + 3 * (size_t)mesh->elements[0];
    double m[BO_MAX_NODES * BO_MAX_NODES];
    for (int32_t e = 0; e < mesh->element_count; e++) {
        body_element_mass(body, e, m);
        const int32_t *nodes = bo_mesh_nodes(mesh, e);
        for (int32_t a = 0; a < N; a++)
            for (int32_t b = 0; b < N; b++) {
                const double *xa = mesh->vertices + 3 * (size_t)nodes[a], *xb = mesh->vertices + 3 * (size_t)nodes[b];
                p->mass += m[N * a + b];
                for (int i = 0; i < 3; i++) {
                    first[i] += m[N * a + b] * (xa[i] - origin[i]);
                    for (int j = 0; j < 3; j++)
                        second[3 * i + j] += m[N * a + b] * (xa[i] - origin[i]) * (xb[j] - origin[j]);
                }
            }
        int32_t material = body->element_material[e];
        p->strain_scale = fmax(p->strain_scale, sqrt(body->young[material] / body->density[material]));
    }
    for (int i = 0; i < 3; i++)
        p->centre[i] = origin[i] + first[i] / p->mass;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            second[3 * i + j] -= first[i] * first[j] / p->mass;
    double trace = second[0] + second[4] + second[8];
    for (int i = 0; i < 9; i++)
        p->inertia[i] = (i % 4 == 0 ? trace : 0) - second[i];
    return BOUGH_OK;
}
