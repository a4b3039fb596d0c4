/* Blocks of parts: their numbers side by side and back, elimination of their coordinates. docs/theory/tree.md,
 * "Integration". */
#include "tree/blocks.h"

#include "dense/ldlt_lanes.h"

#include <string.h>

/* ---- in and out ---- */

void bo_tree_gather_block(const bough_tree_model *model, const bo_tree_block *b, const double *x, double *out) {
    const bo_tree_part *parts = &model->parts[b->first];
    const double *from = x + parts->offset;
    const int32_t r = b->r, n = b->n;
    if (b->lanes == 1) {
        memcpy(out, from, (size_t)r * sizeof *out);
        for (int32_t l = r; l < n; l++)
            out[l] = 0;
        return;
    }
    if (b->together)
        for (int32_t l = 0; l < r; l++)
            for (int32_t k = 0; k < BO_WIDE; k++)
                out[BO_WIDE * l + k] = k < b->count ? from[k * r + l] : 0;
    else
        for (int32_t k = 0; k < BO_WIDE; k++)
            for (int32_t l = 0; l < r; l++)
                out[BO_WIDE * l + k] = k < b->count ? x[parts[k].offset + l] : 0;
}

static void scatter(const bough_tree_model *model, const bo_tree_block *b, const double *x, double *out) {
    const bo_tree_part *parts = &model->parts[b->first];
    const int32_t r = b->r;
    if (b->lanes == 1) {
        memcpy(out + parts->offset, x, (size_t)r * sizeof *out);
        return;
    }
    for (int32_t k = 0; k < b->count; k++) {
        double *to = out + parts[k].offset;
        for (int32_t l = 0; l < r; l++)
            to[l] = x[BO_WIDE * l + k];
    }
}

/* ---- elimination ---- */

/* Z = L^-1 [Mrq^T, p_q] (r x 8; before that, scratch of the factorisation), I -= Z6^T D^-1 Z6, p -= Z6^T D^-1 z7 */
BO_MULTIVERSION
static bool eliminate_one(int32_t r, int32_t n, double *restrict L, const double *restrict Mrq,
                          const double *restrict p_q, double *restrict Z, bo_tree_inertias *inertias, int32_t lane,
                          bool exact) {
    if (!bo_ldlt_one(r, n, L, Z))
        return false;
    if (!exact)
        return true;
    for (int32_t l = 0; l < r; l++) {
        for (int d = 0; d < 6; d++)
            Z[8 * l + d] = Mrq[d * n + l];
        Z[8 * l + 6] = p_q[l];
        Z[8 * l + 7] = 0;
    }
    bo_ldlt_forward_one(r, n, L, Z);
    bo_v4 sum[6][2] = {{{0}}};
    for (int32_t l = 0; l < r; l++) {
        const double inverse = L[l * n + l];
        const bo_v4 z0 = inverse * BO_V4_CONST(Z + 8 * l), z1 = inverse * BO_V4_CONST(Z + 8 * l + 4);
        for (int d = 0; d < 6; d++) {
            sum[d][0] += Z[8 * l + d] * z0;
            sum[d][1] += Z[8 * l + d] * z1;
        }
    }
    for (int d = 0; d < 6; d++) {
        for (int e = d; e < 6; e++)
            BO_LANE(inertias->I[bo_six_at[d][e]], lane) -= sum[d][e / 4][e % 4];
        BO_LANE(inertias->p[d], lane) -= sum[d][1][2];
    }
    return true;
}

BO_MULTIVERSION
static bool eliminate_wide(int32_t r, int32_t n, double *restrict L, const double *restrict Mrq,
                           const double *restrict p_q, double *restrict Z, bo_tree_inertias *restrict inertias,
                           bool exact) {
    enum { W = BO_WIDE, ROW = 8 * W };
    if (!bo_ldlt_wide(r, L, Z))
        return false;
    if (!exact)
        return true;
    for (int32_t l = 0; l < r; l++) {
        double *z = Z + (ptrdiff_t)ROW * l;
        for (int h = 0; h < W; h += 4) {
            for (int d = 0; d < 6; d++)
                BO_V4(z + W * d + h) = BO_V4_CONST(Mrq + W * (d * n + l) + h);
            BO_V4(z + W * 6 + h) = BO_V4_CONST(p_q + W * l + h);
            BO_V4(z + W * 7 + h) = (bo_v4){0};
        }
    }
    bo_ldlt_forward_wide(r, L, Z);
    for (int h = 0; h < W; h += BO_WIDTH)
        for (int d = 0; d < 6; d++) {
            bo_vw sum[8] = {{0}};
            for (int32_t l = 0; l < r; l++) {
                const double *z = Z + (ptrdiff_t)ROW * l + h;
                const bo_vw x = BO_VW_CONST(z + W * d) * BO_VW_CONST(L + W * (l * (l + 1) / 2 + l) + h);
                for (int e = 0; e < 7; e++)
                    if (e >= d)
                        sum[e] += x * BO_VW_CONST(z + W * e);
            }
            for (int e = d; e < 6; e++)
                BO_VW(&BO_LANE(inertias[h / 4].I[bo_six_at[d][e]], h % 4)) -= sum[e];
            BO_VW(&BO_LANE(inertias[h / 4].p[d], h % 4)) -= sum[6];
        }
    return true;
}

/* Coordinates of parts that are locked: a = 0, and their frames are heavy with all that they carry. */
static void lock_parts(const bough_tree_model *model, bo_tree_work *work, const bo_tree_block *b) {
    double *L = work->L + b->squares, *Mrq = work->Mrq + 6 * b->vectors, *p_q = work->p_q + b->vectors;
    for (int32_t k = 0; k < b->count; k++) {
        if (!model->parts[b->first + k].locked)
            continue;
        for (int32_t i = 0; i < b->r; i++) {
            p_q[b->lanes * i + k] = 0;
            for (int d = 0; d < 6; d++)
                Mrq[b->lanes * (d * b->n + i) + k] = 0;
            for (int32_t j = 0; j <= i; j++)
                L[b->lanes == 1 ? i * b->n + j : BO_WIDE * (i * (i + 1) / 2 + j) + k] = i == j;
        }
    }
}

bool bo_tree_eliminate_block(bo_tree_work *work, const bo_tree_block *b, bool exact) {
    double *L = work->L + b->squares, *Z = work->Z + 8 * b->vectors;
    const double *Mrq = work->Mrq + 6 * b->vectors, *p_q = work->p_q + b->vectors;
    if (b->lanes == 1)
        return eliminate_one(b->r, b->n, L, Mrq, p_q, Z, &work->inertias[b->slot / 4], b->slot % 4, exact);
    return eliminate_wide(b->r, b->n, L, Mrq, p_q, Z, &work->inertias[b->slot / 4], exact);
}

bool bo_tree_eliminate(const bough_tree_model *model, bo_tree_work *work, bough_coupling coupling, int32_t block) {
    const bo_tree_block *b = &model->blocks[block];
    if (b->r == 0)
        return true;
    if (b->locked)
        lock_parts(model, work, b);
    return bo_tree_eliminate_block(work, b, coupling == BOUGH_COUPLING_L3);
}

/* a = -L^-T D^-1 (z7 + Z6 A); without elimination -L^-T D^-1 L^-1 (p_q + Mrq^T A) */
BO_MULTIVERSION
static void substitute_one(int32_t r, int32_t n, const double *restrict L, const double *restrict Mrq,
                           const double *restrict p_q, const double *restrict Z, const double *restrict A, bool exact,
                           double *restrict out) {
    if (exact) {
        for (int32_t l = 0; l < r; l++) {
            const double *z = Z + 8 * l;
            double sum = z[6];
            for (int d = 0; d < 6; d++)
                sum += z[d] * A[d];
            out[l] = sum;
        }
    } else {
        for (int32_t l = 0; l < n; l += 4) {
            bo_v4 sum = BO_V4_CONST(p_q + l);
            for (int d = 0; d < 6; d++)
                sum += A[d] * BO_V4_CONST(Mrq + d * n + l);
            BO_V4(out + l) = sum;
        }
        bo_ldlt_forward_vector_one(r, n, L, out);
    }
    for (int32_t l = 0; l < r; l++)
        out[l] *= -L[l * n + l];
    bo_ldlt_back_one(r, n, L, out);
}

BO_MULTIVERSION
static void substitute_wide(int32_t r, int32_t n, const double *restrict L, const double *restrict Mrq,
                            const double *restrict p_q, const double *restrict Z,
                            const bo_tree_inertias *restrict inertias, bool exact, double *restrict out) {
    enum { W = BO_WIDE, ROW = 8 * W };
    for (int32_t l = 0; l < r; l++)
        for (int h = 0; h < 2; h++) {
            const bo_v4 *A = inertias[h].A;
            bo_v4 sum = exact ? BO_V4_CONST(Z + ROW * l + W * 6 + 4 * h) : BO_V4_CONST(p_q + W * l + 4 * h);
            for (int d = 0; d < 6; d++)
                sum += A[d] *
                       (exact ? BO_V4_CONST(Z + ROW * l + W * d + 4 * h) : BO_V4_CONST(Mrq + W * (d * n + l) + 4 * h));
            BO_V4(out + W * l + 4 * h) = sum;
        }
    if (!exact)
        bo_ldlt_forward_vector_wide(r, L, out);
    for (int32_t l = 0; l < r; l++)
        for (int h = 0; h < W; h += 4)
            BO_V4(out + W * l + h) *= -BO_V4_CONST(L + W * (l * (l + 1) / 2 + l) + h);
    bo_ldlt_back_wide(r, L, out);
}

void bo_tree_substitute_block(const bo_tree_work *work, const bo_tree_block *b, bool exact, double *out) {
    const double *L = work->L + b->squares, *Z = work->Z + 8 * b->vectors;
    const double *Mrq = work->Mrq + 6 * b->vectors, *p_q = work->p_q + b->vectors;
    const bo_tree_inertias *inertias = &work->inertias[b->slot / 4];
    if (b->lanes == 1) {
        double A[6];
        for (int d = 0; d < 6; d++)
            A[d] = BO_LANE_CONST(inertias->A[d], b->slot % 4);
        substitute_one(b->r, b->n, L, Mrq, p_q, Z, A, exact, out);
    } else {
        substitute_wide(b->r, b->n, L, Mrq, p_q, Z, inertias, exact, out);
    }
}

void bo_tree_substitute(const bough_tree_model *model, const bo_tree_work *work, bough_coupling coupling, int32_t block,
                        double *a) {
    const bo_tree_block *b = &model->blocks[block];
    if (b->r == 0)
        return;
    double *out = work->x + b->vectors;
    bo_tree_substitute_block(work, b, coupling == BOUGH_COUPLING_L3, out);
    scatter(model, b, out, a);
    for (int32_t k = 0; k < b->count && b->locked; k++) /* lumped couplings add to p_q after elimination */
        if (model->parts[b->first + k].locked)
            memset(a + model->parts[b->first + k].offset, 0, (size_t)b->r * sizeof *a);
}
