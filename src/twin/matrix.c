/* The matrix of a part in full order, and its elimination. Displacements x of the vertices change accelerations by
 *   L x,   L = ca 1 + 2 cv w~ + cq (alpha~ + w~ w~)
 * so that the part's own matrix is m (x) L + damping + stiffness. Its symmetric part is factored: what is left out is
 * 2 w h of the mass, which Newton's method makes up for. Couplings with the body are exact. */
#include "twin/twin.h"

#include <string.h>

/* A += m (x) S, S symmetric. Column 3 j + d of a block column lacks the d rows above its diagonal. */
static void add_mass(const bough_sparse *m, bo_mat3 S, bough_sparse *A) {
    for (int32_t j = 0; j < m->size; j++)
        for (int32_t k = m->column_start[j]; k < m->column_start[j + 1]; k++)
            for (int32_t d = 0; d < 3; d++) {
                double *to = A->values + A->column_start[3 * j + d] + 3 * (k - m->column_start[j]) - d;
                for (int32_t i = k == m->column_start[j] ? d : 0; i < 3; i++)
                    to[i] += m->values[k] * S.m[3 * i + d];
            }
}

static bo_mat3 by_displacement(const bo_mb_full_motion *motion, double ca, double cv, double cq) {
    const bo_mat3 W = bo_hat(motion->w);
    bo_mat3 L = bo_mat_scale(cq, bo_mat_add(bo_hat(motion->alpha), bo_mat_mul(W, W)));
    L = bo_mat_add(L, bo_mat_scale(2 * cv, W));
    return bo_mat_add(L, bo_mat_scale(ca, bo_identity3()));
}

/* ---- the part's own matrix ---- */

static bool factor_own(bo_twin_work *w, const bo_mb_full_motion *motion, double cv, double cq, bo_mat3 L) {
    const double stiff = motion->strength * (cq + cv * motion->damping_stiffness);
    bo_mat3 S = bo_mat_scale(0.5, bo_mat_add(L, bo_transpose(L)));
    S = bo_mat_add(S, bo_mat_scale(cv * motion->damping_mass, bo_identity3()));
    for (int project = 0; project < 2; project++) {
        if (stiff != 0 && (project || !w->knows_K) &&
            bough_body_evaluate(w->ctx, w->twin->body, motion->u, project, NULL, NULL, w->K) != BOUGH_OK)
            return false;
        w->knows_K = stiff != 0 && !project;
        bo_sparse_combine(w->A, 0, stiff, w->K);
        add_mass(w->twin->m, S, w->A);
        if (bo_factor_numeric(w->ctx, w->factor, w->A) == BOUGH_OK)
            return true;
        if (stiff == 0)
            return false;
    }
    return false;
}

/* ---- couplings ---- */

/* Accelerations of all points by a turn e_j of the body, or by its shift. */
static void body_column(const bo_mb_full_motion *motion, const bo_twin_work *w, int j, double ca, double cv, double cq,
                        bo_mat3 gamma, bo_vec3 *out) {
    const bo_vec3 *v = (const bo_vec3 *)(const void *)motion->v;
    const bo_vec3 e = bo_v3(j % 3 == 0, j % 3 == 1, j % 3 == 2), phi = bo_mat_vec(gamma, e);
    /* Spin changes by itself, and in the part's axes when these turn. */
    const bo_vec3 dw = bo_mul_add(bo_scale(cv, e), cq, bo_cross(motion->w, phi));
    const bo_vec3 dalpha = bo_mul_add(bo_scale(ca, e), cq, bo_cross(motion->alpha, phi));
    const bo_vec3 da0 = bo_scale(cq, bo_cross(motion->a0, phi));
    for (int32_t i = 0; i < w->twin->vertex_count; i++) {
        const bo_vec3 y = w->y[i];
        if (j < 3) {
            out[i] = bo_scale(ca, e);
            continue;
        }
        bo_vec3 x = bo_add(da0, bo_cross(dalpha, y));
        x = bo_add(x, bo_add(bo_cross(dw, bo_cross(motion->w, y)), bo_cross(motion->w, bo_cross(dw, y))));
        out[i] = bo_mul_add(x, 2, bo_cross(dw, v[i]));
    }
}

/* C, and T0 (6 x 6 of n): force and torque also turn with the body. */
static void couple_to_body(const bo_mb_full_motion *motion, bo_twin_work *w, double ca, double cv, double cq,
                           bo_mat3 gamma, int32_t n, double *T) {
    const bo_twin *twin = w->twin;
    bo_vec3 force = {0, 0, 0}, torque = {0, 0, 0};
    for (int32_t i = 0; i < twin->vertex_count; i++) {
        force = bo_add(force, w->inertia[i]);
        torque = bo_add(torque, bo_cross(w->y[i], w->inertia[i]));
    }
    for (int j = 0; j < 6; j++) {
        bo_vec3 *C = (bo_vec3 *)(void *)(w->columns + (size_t)j * (size_t)twin->face.size), sum = {0, 0, 0},
                moment = sum;
        body_column(motion, w, j, ca, cv, cq, gamma, w->a);
        bo_twin_mass(twin, w->a, C);
        for (int32_t i = 0; i < twin->vertex_count; i++) {
            sum = bo_add(sum, C[i]);
            moment = bo_add(moment, bo_cross(w->y[i], C[i]));
        }
        if (j >= 3) {
            const bo_vec3 phi = bo_mat_vec(gamma, bo_v3(j == 3, j == 4, j == 5));
            sum = bo_mul_add(sum, cq, bo_cross(phi, force));
            moment = bo_mul_add(moment, cq, bo_cross(phi, torque));
        }
        const double column[6] = {sum.x, sum.y, sum.z, moment.x, moment.y, moment.z};
        for (int i = 0; i < 6; i++)
            T[n * i + j] = column[i];
        twin->face.kind->hold(&twin->face, &C->x);
    }
}

/* D: force sum_b weight_b L x_b, torque sum_b (m y)_b x L x_b + cq x_b x inertia_b. */
static void couple_to_vertices(bo_twin_work *w, double cq, bo_mat3 L) {
    const bo_twin *twin = w->twin;
    const size_t size = (size_t)twin->face.size;
    bo_twin_mass(twin, w->y, w->a);
    for (size_t i = 0; i < (size_t)twin->vertex_count; i++)
        for (size_t k = 0; k < 3; k++) {
            const bo_vec3 e = bo_v3(k == 0, k == 1, k == 2), l = bo_mat_vec(L, e);
            const bo_vec3 f = bo_scale(twin->weight[i], l);
            const bo_vec3 t = bo_mul_add(bo_cross(w->a[i], l), cq, bo_cross(e, w->inertia[i]));
            const double column[6] = {f.x, f.y, f.z, t.x, t.y, t.z};
            for (size_t r = 0; r < 6; r++)
                w->D[r * size + 3 * i + k] = column[r];
        }
    for (size_t r = 0; r < 6; r++)
        twin->face.kind->hold(&twin->face, w->D + r * size);
}

/* t = (D; B) x */
static void reduce(const bo_twin_work *w, const double *x, double *t) {
    const bough_full_part *part = &w->twin->face;
    for (size_t r = 0; r < 6; r++)
        t[r] = bo_dot_n(part->size, w->D + r * (size_t)part->size, x);
    for (int32_t i = 0; i < part->interface_count; i++)
        if (bo_mb_full_slot(part, i) >= 0)
            part->kind->gather(part, i, x, t + 6 + BO_MB_FACE * bo_mb_full_slot(part, i));
}

static void fill_face_columns(bo_twin_work *w) {
    const bough_full_part *part = &w->twin->face;
    double *column = w->columns + 6 * (size_t)part->size;
    for (int32_t i = 0; i < part->interface_count; i++)
        for (int k = 0; k < BO_MB_FACE && bo_mb_full_slot(part, i) >= 0; k++, column += part->size) {
            double face[BO_MB_FACE] = {0};
            face[k] = 1;
            memset(column, 0, (size_t)part->size * sizeof *column);
            part->kind->spread(part, i, face, column);
        }
}

bool bo_twin_factor(void *scratch, const bo_mb_full_motion *motion, double ca, double cv, double cq, bo_mat3 gamma,
                    double *T) {
    bo_twin_work *w = scratch;
    const bough_full_part *part = &w->twin->face;
    const int32_t n = 6 + bo_mb_full_seen(part);
    const bo_mat3 L = by_displacement(motion, ca, cv, cq);
    if (!factor_own(w, motion, cv, cq, L))
        return false;
    memset(T, 0, (size_t)n * (size_t)n * sizeof *T);
    couple_to_body(motion, w, ca, cv, cq, gamma, n, T);
    couple_to_vertices(w, cq, L);
    fill_face_columns(w);
    if (bo_factor_solve(w->ctx, w->factor, w->columns, w->columns, n) != BOUGH_OK)
        return false;
    double *t = w->z; /* is larger */
    for (int32_t j = 0; j < n; j++) {
        reduce(w, w->columns + (size_t)j * (size_t)part->size, t);
        for (int32_t i = 0; i < n; i++)
            T[n * i + j] -= t[i];
    }
    return true;
}

/* ---- solving ---- */

void bo_twin_solve(void *scratch, const double *b, double *t) {
    bo_twin_work *w = scratch;
    const bough_full_part *part = &w->twin->face;
    memcpy(w->z, b, (size_t)part->size * sizeof *w->z);
    part->kind->hold(part, w->z);
    if (bo_factor_solve(w->ctx, w->factor, w->z, w->z, 1) != BOUGH_OK)
        w->z[0] = NAN; /* which ends the search */
    reduce(w, w->z, t);
}

void bo_twin_correct(void *scratch, const double *t, double *x) {
    const bo_twin_work *w = scratch;
    const size_t size = (size_t)w->twin->face.size;
    memcpy(x, w->z, size * sizeof *x);
    for (size_t j = 0; j < 6 + (size_t)bo_mb_full_seen(&w->twin->face); j++)
        for (size_t i = 0; i < size; i++)
            x[i] -= t[j] * w->columns[j * size + i];
}
