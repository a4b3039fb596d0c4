/* Modal derivatives: how the static response bends away from a mode. docs/theory/reduction.md, "Modal derivatives".
 *
 * In f(q_1 phi_1 + q_2 phi_2 + ... + v(q)) = K (q_1 phi_1 + ...) the correction v is, to second order,
 * 1/2 sum_ij q_i q_j Phi_ij with K Phi_ij = -d2f/du2 [phi_i, phi_j] (f: the elastic force dE/du, at rest). */
#include "reduce/basis.h"

#include "base/simd.h"
#include "mesh/mesh.h"

#include <string.h>

/* Pairs worked on at once: their right-hand sides are pairs x n doubles. */
#define PAIRS_AT_ONCE 256

/* d2P_a / dF_b dF_c at F = I (third derivative of the energy), indices 3 i + j. */
typedef struct {
    double A[9][9][9];
    bool zero;
} third_derivative;

/* dC/dF_c by central differences, with the errors in h^2, h^4 and h^6 removed by Richardson's extrapolation; exact but
 * for rounding where C is quadratic in F (stvk). False: the material is undefined near rest, which none is. */
static bool differentiate(const bo_elastic *elastic, third_derivative *third) {
    enum { LEVELS = 4 };
    double largest = 0;
    for (int c = 0; c < 9; c++) {
        double table[LEVELS][81];
        for (int level = 0; level < LEVELS; level++) {
            double h = 0.04 / (1 << level), psi, C[2][81];
            for (int side = 0; side < 2; side++) {
                bo_mat3 F = bo_identity3(), P;
                F.m[c] += side ? h : -h;
                if (!bo_elastic_eval(elastic, &F, &psi, &P, C[side]))
                    return false;
            }
            for (int k = 0; k < 81; k++)
                table[level][k] = (C[1][k] - C[0][k]) / (2 * h);
        }
        for (int order = 1; order < LEVELS; order++)
            for (int level = LEVELS - 1; level >= order; level--)
                for (int k = 0; k < 81; k++)
                    table[level][k] += (table[level][k] - table[level - 1][k]) / ((1 << 2 * order) - 1);
        for (int k = 0; k < 81; k++) {
            third->A[k / 9][k % 9][c] = table[LEVELS - 1][k];
            largest = fmax(largest, fabs(table[LEVELS - 1][k]));
        }
    }
    third->zero = largest <= 1e-9 * elastic->mu;
    return true;
}

/* D[a][pair] = d2P_a [G_i, G_j] for i in first .. last-1, j <= i; pairs in the order (first,0) (first,1) ... */
BO_MULTIVERSION
static void second_stress(const third_derivative *third, size_t k, size_t first, size_t last, size_t pairs,
                          const double *restrict G, double *restrict D) {
    size_t at = 0;
    for (size_t i = first; i < last; at += ++i) {
        for (size_t a = 0; a < 9; a++) {
            double T[9];
            for (size_t b = 0; b < 9; b++) {
                T[b] = 0;
                for (size_t c = 0; c < 9; c++)
                    T[b] += third->A[a][b][c] * G[c * k + i];
            }
            double *restrict row = D + a * pairs + at;
            for (size_t j = 0; j <= i; j++) {
                double sum = 0;
                for (size_t b = 0; b < 9; b++)
                    sum += T[b] * G[b * k + j];
                row[j] = sum;
            }
        }
    }
}

/* B[(3 node + i)][pair] -= w sum_j D[3 i + j][pair] dN_node/dX_j */
BO_MULTIVERSION
static void scatter(const bough_body *body, int32_t element, int32_t point, size_t pairs, const double *restrict D,
                    double *restrict B) {
    const bo_rule *rule = body->rule;
    const bo_point_geometry *geometry = &body->geometry[(size_t)rule->point_count * (size_t)element + (size_t)point];
    const int32_t *nodes = bo_mesh_nodes(body->mesh, element);
    for (int32_t a = 0; a < rule->node_count; a++) {
        const double *dN = rule->dN[point][a];
        for (size_t i = 0; i < 3; i++) {
            double *restrict to = B + (3 * (size_t)nodes[a] + i) * pairs;
            for (size_t j = 0; j < 3; j++) {
                const double g = -geometry->weight * (dN[0] * geometry->inverse[j] + dN[1] * geometry->inverse[3 + j] +
                                                      dN[2] * geometry->inverse[6 + j]);
                const double *from = D + (3 * i + j) * pairs;
                for (size_t p = 0; p < pairs; p++)
                    to[p] += g * from[p];
            }
        }
    }
}

typedef struct {
    third_derivative *third; /* of each material */
    double *rows;            /* n x count: the seeds, row-major */
    double *G, *D, *B;
} work;

static void free_work(bough_context *ctx, work *w) {
    bo_free(ctx, w->third);
    bo_free(ctx, w->rows);
    bo_free(ctx, w->G);
    bo_free(ctx, w->D);
    bo_free(ctx, w->B);
}

static bough_status make_work(bo_cook *cook, int32_t count, size_t most, work *w) {
    bough_context *ctx = cook->ctx;
    size_t n = (size_t)cook->n;
    w->third = BO_NEW_ARRAY(ctx, third_derivative, cook->body->material_count);
    w->rows = BO_NEW_ARRAY(ctx, double, n *(size_t)count);
    w->G = BO_NEW_ARRAY(ctx, double, 9 * (size_t)count);
    w->D = BO_NEW_ARRAY(ctx, double, 9 * most);
    w->B = BO_NEW_ARRAY(ctx, double, n *most);
    if (!w->third || !w->rows || !w->G || !w->D || !w->B)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < cook->body->material_count; i++)
        if (!differentiate(&cook->body->elastic[i], &w->third[i]))
            return bo_fail(ctx, BOUGH_NOT_FINITE, "a material has no third derivative at rest");
    return BOUGH_OK;
}

static size_t pairs_between(int32_t first, int32_t last) {
    return (size_t)(last * (last + 1) / 2 - first * (first + 1) / 2);
}

void bo_transpose_block(size_t rows, size_t columns, const double *from, double *to) {
    enum { TILE = 16 };
    for (size_t i0 = 0; i0 < rows; i0 += TILE)
        for (size_t j0 = 0; j0 < columns; j0 += TILE)
            for (size_t j = j0; j < columns && j < j0 + TILE; j++)
                for (size_t i = i0; i < rows && i < i0 + TILE; i++)
                    to[j * rows + i] = from[i * columns + j];
}

/* The end of the block of seeds that begins with `first`. */
static int32_t next_block(int32_t first, int32_t count) {
    int32_t last = first + 1;
    while (last < count && pairs_between(first, last + 1) <= PAIRS_AT_ONCE)
        last++;
    return last;
}

static bough_status right_hand_sides(bo_cook *cook, work *w, int32_t count, int32_t first, int32_t last,
                                     double *vectors) {
    const bough_body *body = cook->body;
    size_t n = (size_t)cook->n, pairs = pairs_between(first, last);
    memset(w->B, 0, n * pairs * sizeof *w->B);
    for (int32_t e = 0; e < body->mesh->element_count; e++) {
        const third_derivative *third = &w->third[body->element_material[e]];
        for (int32_t q = 0; q < body->rule->point_count && !third->zero; q++) {
            bo_cook_field_gradient(body, e, q, count, w->rows, w->G);
            second_stress(third, (size_t)count, (size_t)first, (size_t)last, pairs, w->G, w->D);
            scatter(body, e, q, pairs, w->D, w->B);
        }
        if (e % 4096 == 0 && !bo_cook_progress(cook, 0))
            return bo_fail_cancelled(cook->ctx);
    }
    bo_transpose_block((size_t)n, pairs, w->B, vectors);
    return BOUGH_OK;
}

bough_status bo_cook_derivatives(bo_cook *cook, int32_t count, const double *seeds, double *derivatives) {
    size_t n = (size_t)cook->n, most = 0;
    for (int32_t first = 0, last; first < count; first = last) {
        last = next_block(first, count);
        most = pairs_between(first, last) > most ? pairs_between(first, last) : most;
    }
    work w = {0};
    bough_status status = make_work(cook, count, most, &w);
    if (status == BOUGH_OK)
        bo_transpose_block((size_t)count, n, seeds, w.rows);
    double *rhs = BO_NEW_ARRAY(cook->ctx, double, n *most);
    if (!rhs)
        status = BOUGH_ERROR_MEMORY;
    for (int32_t first = 0, last; first < count && status == BOUGH_OK; first = last) {
        last = next_block(first, count);
        status = right_hand_sides(cook, &w, count, first, last, rhs);
        if (status == BOUGH_OK)
            status = bo_cook_solve(cook, rhs, derivatives + n * pairs_between(0, first),
                                   (int32_t)pairs_between(first, last));
    }
    bo_free(cook->ctx, rhs);
    free_work(cook->ctx, &w);
    return status;
}
