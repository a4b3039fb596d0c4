/* Components of bodies that differ a little, with coordinates that mean the same. */
#include "base/context.h"
#include "linalg/sparse.h"

#include <bough/reduce.h>

static bough_status check_pattern(bough_context *ctx, const bough_body *body, const bough_body *pattern_body,
                                  const bough_component *pattern) {
    const int32_t count = bough_body_mesh(body)->vertex_count;
    if (!pattern->volume.U || pattern->r == 0)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "the component has no basis to take over; cook it with keep_volume and r above 0");
    if (count != pattern->volume.vertex_count || count != bough_body_mesh(pattern_body)->vertex_count)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "the body has %d vertices, that of the component %d; move vertices, but keep the mesh", count,
                       pattern->volume.vertex_count);
    if (pattern->elastic == BOUGH_REDUCED_CUBATURE)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "the component is integrated at points that are chosen anew for each body, so that two of them "
                       "differ by more than the body; cook it as a polynomial (material stvk) or linear");
    return BOUGH_OK;
}

/* forces (r x 3 vertex_count) = K U of the pattern's body at rest. */
static bough_status find_forces(bough_context *ctx, const bough_body *body, const bough_component *pattern,
                                double *columns, double *forces) {
    const size_t n = 3 * (size_t)pattern->volume.vertex_count, r = (size_t)pattern->r;
    bough_sparse *K;
    BO_TRY(bough_body_matrix_create(ctx, body, &K));
    const bough_status status = bough_body_evaluate(ctx, body, NULL, false, NULL, NULL, K);
    for (size_t l = 0; l < r && status == BOUGH_OK; l++) {
        for (size_t i = 0; i < n; i++)
            columns[i] = pattern->volume.U[r * i + l];
        bo_sparse_mul(K, columns, forces + n * l, false);
    }
    bough_sparse_destroy(ctx, K);
    return status;
}

/* The same columns on a body that was stretched would shear it: a bent rod's sections would not stay across it. Answers
 * to the same forces bend it as it wants to, and for the pattern's own body they are its columns. They change smoothly
 * with the body, and so do they when Gram and Schmidt made them orthonormal, in their order. */
bough_status bough_cook_alike(bough_context *ctx, const bough_body *body, const bough_load_case *load_case,
                              const bough_cook_def *def, const bough_body *pattern_body, const bough_component *pattern,
                              bough_component **component) {
    *component = NULL;
    BO_TRY(check_pattern(ctx, body, pattern_body, pattern));
    const size_t n = 3 * (size_t)pattern->volume.vertex_count, r = (size_t)pattern->r;
    double *forces = BO_NEW_ARRAY(ctx, double, n *(r + 1));
    if (!forces)
        return BOUGH_ERROR_MEMORY;
    bough_status status = find_forces(ctx, pattern_body, pattern, forces + n * r, forces);
    if (status == BOUGH_OK) {
        bough_cook_def own = *def;
        own.basis = BOUGH_BASIS_FORCES, own.forces = forces, own.force_count = pattern->r;
        own.resume_path = NULL; /* what was left there knows nothing of these forces */
        own.r = pattern->r, own.tolerance = 0, own.elastic = (int32_t)pattern->elastic;
        status = bough_cook(ctx, body, load_case, &own, NULL, component);
    }
    bo_free(ctx, forces);
    return status;
}
