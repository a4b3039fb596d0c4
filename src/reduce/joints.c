/* Deformation of the interfaces on both sides of a joint: draft.joints and draft.foot. docs/theory/reduction.md,
 * "Interfaces that deform". */
#include "reduce/basis.h"

#include "base/eigen3.h"
#include "component/joints.h"
#include "linalg/blas.h"
#include "linalg/sparse.h"

#include <string.h>

enum { K = BO_JOINT_FUNCTIONS };

/* ---- functions ---- */

/* s, t of a vertex: along the two directions in which the interface is widest, over its radius. */
static void coordinates(const bo_cook *cook, const bough_interface *face, const double axes[9], bo_vec3 centre,
                        int32_t k, double m[BO_JOINT_MONOMIALS]) {
    const bo_vec3 d = bo_sub(bo_load3(cook->body->mesh->vertices + 3 * (size_t)face->vertices[k]), centre);
    const double s = d.x * axes[0] + d.y * axes[3] + d.z * axes[6], t = d.x * axes[1] + d.y * axes[4] + d.z * axes[7];
    bo_joint_monomials(s / face->radius, t / face->radius, m);
}

static bo_vec3 centre_of(const bo_cook *cook, const bough_interface *face) {
    bo_vec3 centre = {0, 0, 0};
    for (int32_t k = 0; k < face->vertex_count; k++)
        centre =
            bo_mul_add(centre, face->weights[k], bo_load3(cook->body->mesh->vertices + 3 * (size_t)face->vertices[k]));
    return centre;
}

static void measure_geometry(const bo_cook *cook, const bough_interface *face, bo_joint_geometry *g) {
    const bo_vec3 centre = centre_of(cook, face);
    bo_vec3 values;
    bo_mat3 V;
    bo_eigen3(bo_cook_spread(cook, face), &values, &V); /* ascending: the first is across */
    for (int i = 0; i < 3; i++) {
        g->axes[3 * i] = V.m[3 * i + 1];
        g->axes[3 * i + 1] = V.m[3 * i + 2];
        g->axes[3 * i + 2] = V.m[3 * i];
    }
    memset(g->moments, 0, sizeof g->moments);
    for (int32_t k = 0; k < face->vertex_count; k++) {
        double m[BO_JOINT_MONOMIALS];
        coordinates(cook, face, g->axes, centre, k, m);
        for (int i = 0; i < 36; i++)
            g->moments[i] += face->weights[k] * m[i / 6] * m[i % 6];
    }
}

/* Takes the interface's own rigid motion out of the functions: an interface that is not flat turns them into each
 * other. Displacements lose R (Q^T b), forces Q (R^T b), with R (rows as Q's) the rigid motions at the vertices, R^T Q
 * = 1. */
static bough_status remove_rigid(bo_cook *cook, const bough_interface *face, bo_vec3 centre, bool forces, double *B) {
    const size_t n = (size_t)cook->n, rows = 3 * (size_t)face->vertex_count;
    double *Q = BO_NEW_ZEROS(cook->ctx, double, 12 * rows), *R = Q ? Q + 6 * rows : NULL;
    bough_status status = Q ? bo_cook_rigid_fit(cook, face, Q) : BOUGH_ERROR_MEMORY;
    for (size_t i = 0; i < rows && status == BOUGH_OK; i++) {
        const bo_vec3 d = bo_sub(bo_load3(cook->body->mesh->vertices + 3 * (size_t)face->vertices[i / 3]), centre);
        const double x[3] = {d.x, d.y, d.z};
        const size_t a = i % 3;
        R[6 * i + a] = 1; /* (e_b x d)_a */
        R[6 * i + 3 + (a + 1) % 3] = x[(a + 2) % 3];
        R[6 * i + 3 + (a + 2) % 3] = -x[(a + 1) % 3];
    }
    const double *measure = forces ? R : Q, *motion = forces ? Q : R;
    for (size_t k = 0; k < K && status == BOUGH_OK; k++) {
        double part[6] = {0};
        for (size_t i = 0; i < rows; i++)
            for (size_t d = 0; d < 6; d++)
                part[d] += measure[6 * i + d] * B[k * n + 3 * (size_t)face->vertices[i / 3] + i % 3];
        for (size_t i = 0; i < rows; i++)
            for (size_t d = 0; d < 6; d++)
                B[k * n + 3 * (size_t)face->vertices[i / 3] + i % 3] -= motion[6 * i + d] * part[d];
    }
    bo_free(cook->ctx, Q);
    return status;
}

/* The functions as displacements of the whole body that are zero elsewhere (K x n); times the vertices' weights: as
 * forces. */
static bough_status spread_functions(bo_cook *cook, const bough_interface *face, const bo_joint_geometry *g,
                                     bool forces, double *B) {
    const size_t n = (size_t)cook->n;
    const bo_vec3 centre = centre_of(cook, face);
    double Z[BO_JOINT_TERMS * K], m[BO_JOINT_MONOMIALS];
    bo_joint_functions(g, Z);
    memset(B, 0, K * n * sizeof *B);
    for (int32_t v = 0; v < face->vertex_count; v++) {
        coordinates(cook, face, g->axes, centre, v, m);
        const double weight = forces ? face->weights[v] : 1;
        for (size_t k = 0; k < K; k++)
            for (size_t i = 0; i < 3; i++)
                for (size_t term = 0; term < BO_JOINT_TERMS; term++)
                    B[k * n + 3 * (size_t)face->vertices[v] + i] +=
                        weight * g->axes[3 * i + term % 3] * m[term / 3] * Z[term * K + k];
    }
    return remove_rigid(cook, face, centre, forces, B);
}

/* ---- what carries others ---- */

static double load_at(const bo_cook *cook, int32_t interface) {
    const bough_interface_def *def = &cook->def->interfaces[interface];
    return def->has_load ? def->load.mass : 0;
}

/* Interfaces at which something hangs, or all where nothing is known; the heaviest first. */
static int32_t choose_joints(const bo_cook *cook, int32_t list[BOUGH_MAX_JOINTS]) {
    int32_t count = 0;
    for (int32_t i = 0; i < cook->def->interface_count; i++) {
        if (i == cook->def->parent || (cook->load_count > 0 && !cook->def->interfaces[i].has_load))
            continue;
        int32_t at = count;
        while (at > 0 && load_at(cook, list[at - 1]) < load_at(cook, i))
            at--;
        if (at == BOUGH_MAX_JOINTS)
            continue;
        count += count < BOUGH_MAX_JOINTS;
        for (int32_t k = count - 1; k > at; k--)
            list[k] = list[k - 1];
        list[at] = i;
    }
    return count;
}

/* Forces along the functions of all joints move the body by K^-1 B: flexibility B^T K^-1 B, and B^T U. */
static bough_status measure_joints(bo_cook *cook, int32_t count, const int32_t *list) {
    const size_t n = (size_t)cook->n, shapes = K * (size_t)count, r = (size_t)cook->r;
    int32_t *interfaces = BO_COOK_ARRAY(cook, int32_t, count);
    bo_joint_geometry *geometry = BO_COOK_ARRAY(cook, bo_joint_geometry, count);
    double *F = BO_COOK_ARRAY(cook, double, shapes *shapes), *BU = BO_COOK_ARRAY(cook, double, shapes *r);
    double *B = BO_NEW_ARRAY(cook->ctx, double, 3 * shapes * n);
    double *X = B ? B + shapes * n : NULL, *rhs = X ? X + shapes * n : NULL;
    bough_status status = interfaces && geometry && F && BU && B ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (int32_t j = 0; j < count && status == BOUGH_OK; j++) {
        const bough_interface *face = &cook->interfaces[list[j]];
        interfaces[j] = list[j];
        measure_geometry(cook, face, &geometry[j]);
        status = spread_functions(cook, face, &geometry[j], true, B + K * (size_t)j * n);
    }
    if (status == BOUGH_OK) {
        memcpy(rhs, B, shapes * n * sizeof *B);
        status = bo_cook_solve(cook, rhs, X, (int32_t)shapes);
    }
    if (status == BOUGH_OK) {
        bo_gemm(false, true, (int32_t)shapes, (int32_t)shapes, cook->n, 1, B, cook->n, X, cook->n, 0, F,
                (int32_t)shapes);
        bo_gemm(false, false, (int32_t)shapes, cook->r, cook->n, 1, B, cook->n, cook->U, cook->r, 0, BU, cook->r);
        cook->draft.joints = (bough_component_joints){count, interfaces, geometry->axes, F, BU};
    }
    bo_free(cook->ctx, B);
    return status;
}

/* ---- what hangs ---- */

/* E = the body's shape when its foot is deformed by each function and nothing else acts: K_ii E_i = -K_ib E_b. */
static bough_status extend_foot(bo_cook *cook, const bo_joint_geometry *g, double *E) {
    const size_t n = (size_t)cook->n;
    double *b = BO_NEW_ARRAY(cook->ctx, double, 2 * K * n), *inside = b ? b + K * n : NULL;
    if (!b)
        return BOUGH_ERROR_MEMORY;
    bough_status status = spread_functions(cook, &cook->interfaces[cook->def->parent], g, false, E);
    for (size_t k = 0; k < K; k++)
        bo_sparse_mul(cook->K, E + k * n, b + k * n, false);
    for (size_t i = 0; i < K * n; i++)
        b[i] = -b[i];
    if (status == BOUGH_OK)
        status = bo_cook_solve(cook, b, inside, K);
    for (size_t i = 0; i < K * n && status == BOUGH_OK; i++)
        E[i] += inside[i];
    bo_free(cook->ctx, b);
    return status;
}

/* Rigid motions (6 x n): translations, rotations about the origin. */
static void unit_accelerations(const bo_cook *cook, double *R) {
    const size_t n = (size_t)cook->n;
    memset(R, 0, 6 * n * sizeof *R);
    for (size_t v = 0; v < n / 3; v++) {
        const bo_vec3 x = bo_sub(bo_load3(cook->body->mesh->vertices + 3 * v), bo_load3(cook->draft.origin));
        for (size_t d = 0; d < 3 && cook->body->used[v]; d++) {
            const bo_vec3 axis = {d == 0, d == 1, d == 2};
            bo_store3(R + d * n + 3 * v, axis);
            bo_store3(R + (3 + d) * n + 3 * v, bo_cross(axis, x));
        }
    }
}

/* Motion of each joint when the foot is deformed: Q^T E. */
static bough_status pass_on(bo_cook *cook, const double *E, double *passes) {
    const size_t n = (size_t)cook->n, count = (size_t)cook->draft.joints.count;
    bough_status status = BOUGH_OK;
    for (size_t j = 0; j < count && status == BOUGH_OK; j++) {
        const bough_interface *face = &cook->interfaces[cook->draft.joints.interface_index[j]];
        double *Q = BO_NEW_ARRAY(cook->ctx, double, 18 * (size_t)face->vertex_count);
        status = Q ? bo_cook_rigid_fit(cook, face, Q) : BOUGH_ERROR_MEMORY;
        for (size_t i = 0; i < 3 * (size_t)face->vertex_count && status == BOUGH_OK; i++)
            for (size_t k = 0; k < K; k++)
                for (size_t d = 0; d < 6; d++)
                    passes[(k * count + j) * 6 + d] +=
                        Q[6 * i + d] * E[k * n + 3 * (size_t)face->vertices[i / 3] + i % 3];
        bo_free(cook->ctx, Q);
    }
    return status;
}

static bough_status measure_foot(bo_cook *cook) {
    const size_t n = (size_t)cook->n, r = (size_t)cook->r;
    bo_joint_geometry *geometry = BO_COOK_ARRAY(cook, bo_joint_geometry, 1);
    double *S = BO_COOK_ARRAY(cook, double, K *K + K * 6 + K * r), *P = S ? S + K * K : NULL;
    double *PU = S ? P + K * 6 : NULL;
    double *passes = BO_COOK_ARRAY(cook, double, K * 6 * (size_t)cook->draft.joints.count);
    double *E = BO_NEW_ARRAY(cook->ctx, double, (2 * K + 6) * n), *product = E ? E + K * n : NULL;
    double *R = E ? product + K * n : NULL;
    bough_status status = geometry && S && passes && E ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK) {
        measure_geometry(cook, &cook->interfaces[cook->def->parent], geometry);
        status = extend_foot(cook, geometry, E);
    }
    if (status == BOUGH_OK) {
        for (size_t k = 0; k < K; k++)
            bo_sparse_mul(cook->K, E + k * n, product + k * n, false);
        bo_gemm(false, true, K, K, cook->n, 1, E, cook->n, product, cook->n, 0, S, K);
        bo_cook_mass(cook, E, product, K);
        unit_accelerations(cook, R);
        bo_gemm(false, true, K, 6, cook->n, 1, product, cook->n, R, cook->n, 0, P, 6);
        bo_gemm(false, false, K, cook->r, cook->n, 1, product, cook->n, cook->U, cook->r, 0, PU, cook->r);
        status = pass_on(cook, E, passes);
    }
    if (status == BOUGH_OK)
        cook->draft.foot = (bough_component_foot){geometry->axes, S, P, PU, passes};
    bo_free(cook->ctx, E);
    return status;
}

bough_status bo_cook_joints(bo_cook *cook) {
    int32_t list[BOUGH_MAX_JOINTS];
    const int32_t count = choose_joints(cook, list);
    if (count > 0)
        BO_TRY(measure_joints(cook, count, list));
    return cook->def->parent >= 0 ? measure_foot(cook) : BOUGH_OK;
}
