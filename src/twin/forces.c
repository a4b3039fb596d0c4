/* Forces of a part in full order. With y = X + u from the body's origin, spin w, a0 and angular acceleration alpha of the
 * body, all in the component's axes, a point of the part accelerates by
 *   a0 + alpha x y + w x (w x y) + 2 w x v + a
 * and the mass matrix of pairs of vertices, times that, is the inertia on each vertex, whose sum and moment are force
 * and torque on the body. docs/theory/multibody.md, "Full order". */
#include "twin/twin.h"

#include <string.h>

void bo_twin_mass(const bo_twin *twin, const bo_vec3 *x, bo_vec3 *out) {
    bo_sparse_mul_rows(twin->m, 3, &x->x, &out->x);
}

bo_vec3 bo_twin_acceleration(const bo_mb_full_motion *motion, bo_vec3 y, bo_vec3 v, bo_vec3 a) {
    const bo_vec3 w = motion->w;
    bo_vec3 sum = bo_add(bo_add(motion->a0, a), bo_cross(motion->alpha, y));
    sum = bo_add(sum, bo_cross(w, bo_cross(w, y)));
    return bo_mul_add(sum, 2, bo_cross(w, v));
}

static void place_vertices(const bo_mb_full_motion *motion, bo_twin_work *w) {
    for (size_t i = 0; i < (size_t)w->twin->vertex_count; i++)
        w->y[i] = bo_add(bo_add(w->twin->X[i], motion->shift), bo_load3(motion->u + 3 * i));
}

void bo_twin_measure(void *scratch, const bo_mb_full_motion *motion, bo_mb_sums *sums) {
    bo_twin_work *w = scratch;
    const bo_twin *twin = w->twin;
    const bo_vec3 *v = (const bo_vec3 *)(const void *)motion->v;
    bo_mat3 J = {{0}};
    *sums = (bo_mb_sums){0};
    place_vertices(motion, w);
    bo_twin_mass(twin, w->y, w->a);
    bo_twin_mass(twin, v, w->b);
    for (int32_t i = 0; i < twin->vertex_count; i++) {
        sums->S = bo_mul_add(sums->S, twin->weight[i], w->y[i]);
        sums->Sdot = bo_mul_add(sums->Sdot, twin->weight[i], v[i]);
        sums->swirl = bo_add(sums->swirl, bo_cross(w->y[i], w->b[i]));
        sums->kinetic += 0.5 * bo_dot(v[i], w->b[i]);
        J = bo_mat_add(J, bo_outer(w->y[i], w->a[i]));
    }
    sums->I = bo_mat_sub(bo_mat_scale(bo_trace(J), bo_identity3()), J);
    bough_body_evaluate(w->ctx, twin->body, motion->u, false, &sums->elastic, NULL, NULL);
}

static bool moves(int32_t size, const double *v) {
    for (int32_t i = 0; i < size; i++)
        if (v[i] != 0)
            return true;
    return false;
}

/* Stiffness is needed where something moves that it damps. */
static bool evaluate_elastic(bo_twin_work *w, const bo_mb_full_motion *motion, double *gradient) {
    const int32_t size = w->twin->face.size;
    w->knows_K = motion->damping_stiffness != 0 && moves(size, motion->v);
    if (bough_body_evaluate(w->ctx, w->twin->body, motion->u, false, NULL, gradient, w->knows_K ? w->K : NULL) !=
        BOUGH_OK)
        return false;
    for (int32_t i = 0; i < size; i++)
        gradient[i] *= -1;
    return true;
}

bool bo_twin_forces(void *scratch, const bo_mb_full_motion *motion, bo_vec3 *force, bo_vec3 *torque, double *rows,
                    double *gradient) {
    bo_twin_work *w = scratch;
    const bo_twin *twin = w->twin;
    const bo_vec3 *v = (const bo_vec3 *)(const void *)motion->v, *a = (const bo_vec3 *)(const void *)motion->a;
    if (!evaluate_elastic(w, motion, gradient))
        return false;
    place_vertices(motion, w);
    for (int32_t i = 0; i < twin->vertex_count; i++)
        w->a[i] = bo_twin_acceleration(motion, w->y[i], v[i], a[i]);
    bo_twin_mass(twin, w->a, w->inertia);
    if (w->knows_K)
        bo_sparse_mul(w->K, motion->v, &w->b->x, false);
    else
        memset(w->b, 0, (size_t)twin->vertex_count * sizeof *w->b);
    bo_twin_mass(twin, v, w->a);
    *force = *torque = bo_v3(0, 0, 0);
    for (int32_t i = 0; i < twin->vertex_count; i++) {
        *force = bo_add(*force, w->inertia[i]);
        *torque = bo_add(*torque, bo_cross(w->y[i], w->inertia[i]));
        bo_vec3 row = bo_mul_add(w->inertia[i], motion->damping_mass, w->a[i]);
        row = bo_mul_add(row, motion->strength,
                         bo_mul_add(bo_load3(gradient + 3 * (size_t)i), motion->damping_stiffness, w->b[i]));
        bo_store3(rows + 3 * (size_t)i, row);
    }
    return true;
}
