/* How good the component is, measured against the full body. docs/theory/reduction.md, "Quality". */
#include "reduce/cook.h"

#include "dense/cholesky.h"
#include "dense/symmetric_eigen.h"
#include "linalg/sparse.h"

#include <string.h>

#define RANDOM_POSES 8

typedef struct {
    double *u, *f, *product;              /* n */
    double *q, *full, *reduced, *scratch; /* r and what the component needs */
} work;

static void free_work(bough_context *ctx, work *w) {
    bo_free(ctx, w->u);
    bo_free(ctx, w->q);
}

static bough_status make_work(bo_cook *cook, work *w) {
    size_t n = (size_t)cook->n, r = (size_t)cook->r;
    w->u = BO_NEW_ARRAY(cook->ctx, double, 3 * n);
    w->q = BO_NEW_ARRAY(cook->ctx, double, 3 * r + bough_component_scratch(&cook->draft));
    if (!w->u || !w->q)
        return BOUGH_ERROR_MEMORY;
    w->f = w->u + n;
    w->product = w->u + 2 * n;
    w->full = w->q + r;
    w->reduced = w->q + 2 * r;
    w->scratch = w->q + 3 * r;
    return BOUGH_OK;
}

/* ---- forces ---- */

/* |U^T f(u) - f(q)| over |U^T f(u)| at the displacement w->u and the coordinates w->q. */
static bough_status force_error(bo_cook *cook, work *w, double *error) {
    BO_TRY(bough_body_evaluate(cook->ctx, cook->body, w->u, false, NULL, w->f, NULL));
    bo_cook_project(cook, w->f, w->full);
    if (!bough_component_evaluate(&cook->draft, w->q, w->scratch, NULL, w->reduced, NULL))
        return bo_fail(cook->ctx, BOUGH_NOT_FINITE, "the reduced model is inverted where the full one is not");
    double difference = 0, size = 0;
    for (int32_t l = 0; l < cook->r; l++) { /* the full force is -dE/du */
        difference += (w->full[l] + w->reduced[l]) * (w->full[l] + w->reduced[l]);
        size += w->full[l] * w->full[l];
    }
    *error = size > 0 ? sqrt(difference / size) : 0;
    return BOUGH_OK;
}

/* ---- interfaces ---- */

/* Root mean square distance of the vertices from where the fitted frame would put them, of the interface's radius. */
static double deviation(const bo_cook *cook, int32_t index, const double *q, const double *u) {
    const bough_interface *face = &cook->interfaces[index];
    double centre[3], R[9], sum = 0;
    if (!bough_component_interface_frame(&cook->draft, index, q, centre, R))
        return INFINITY;
    for (int32_t k = 0; k < face->vertex_count; k++) {
        const double *X = cook->body->mesh->vertices + 3 * (size_t)face->vertices[k];
        const double *move = u + 3 * (size_t)face->vertices[k];
        double d[3], off = 0;
        for (int i = 0; i < 3; i++)
            d[i] = X[i] - cook->draft.origin[i] - face->centre[i];
        for (int i = 0; i < 3; i++) {
            double x = X[i] - cook->draft.origin[i] + move[i] - centre[i];
            double e = x - R[3 * i] * d[0] - R[3 * i + 1] * d[1] - R[3 * i + 2] * d[2];
            off += e * e;
        }
        sum += face->weights[k] * off;
    }
    return sqrt(sum) / face->radius;
}

static bough_status random_poses(bo_cook *cook, work *w) {
    bough_component_quality *quality = &cook->draft.quality;
    bo_pose_random random = {cook->def->seed + 0x5EED};
    quality->force_random = quality->interface_deviation = 0;
    for (int pose = 0; pose < RANDOM_POSES; pose++) {
        double error;
        BO_TRY(bo_cook_pose(cook, &random, w->q));
        bo_cook_displace(cook, w->q, w->u);
        BO_TRY(force_error(cook, w, &error));
        quality->force_random = fmax(quality->force_random, error);
        for (int32_t i = 0; i < cook->draft.interface_count; i++)
            if (i != cook->draft.parent)
                quality->interface_deviation = fmax(quality->interface_deviation, deviation(cook, i, w->q, w->u));
        if (!bo_cook_progress(cook, 0.5 * pose / RANDOM_POSES))
            return bo_fail_cancelled(cook->ctx);
    }
    return BOUGH_OK;
}

/* ---- responses of the full body ---- */

/* u is made as large as poses are, and smaller while an element is inverted in a material that forbids it. */
static bough_status fit_amplitude(bo_cook *cook, work *w) {
    double largest = 0;
    for (size_t v = 0; v < (size_t)cook->n / 3; v++)
        largest = fmax(largest, bo_norm(bo_load3(w->u + 3 * v)));
    double factor = largest > 0 ? cook->def->pose_amplitude * cook->size / largest : 0;
    for (int round = 0; round < 30; round++, factor = 0.5) {
        for (size_t i = 0; i < (size_t)cook->n; i++)
            w->u[i] *= factor;
        bough_status status = bough_body_evaluate(cook->ctx, cook->body, w->u, false, NULL, w->f, NULL);
        if (status != BOUGH_NOT_FINITE)
            return status;
    }
    return bo_fail(cook->ctx, BOUGH_NOT_FINITE, "the body is inverted by small displacements");
}

/* Part of u that U cannot show, and the force error at its nearest q, for u in w->u. */
static bough_status response(bo_cook *cook, work *w, double *projection, double *force) {
    BO_TRY(fit_amplitude(cook, w));
    bo_cook_mass(cook, w->u, w->product, 1);
    double size = bo_dot_n(cook->n, w->u, w->product);
    bo_cook_project(cook, w->product, w->q); /* U is orthonormal in the mass */
    double error;
    BO_TRY(force_error(cook, w, &error));
    *force = fmax(*force, error);
    bo_cook_displace(cook, w->q, w->f);
    for (size_t i = 0; i < (size_t)cook->n; i++)
        w->f[i] -= w->u[i];
    bo_cook_mass(cook, w->f, w->product, 1);
    *projection = fmax(*projection, size > 0 ? sqrt(fmax(0, bo_dot_n(cook->n, w->f, w->product)) / size) : 0);
    return BOUGH_OK;
}

/* The weight of the body along each axis, with small displacements; a body that flies free does not feel it. */
static bough_status gravity_poses(bo_cook *cook, work *w) {
    bough_component_quality *quality = &cook->draft.quality;
    if (cook->draft.support == BOUGH_SUPPORT_FREE)
        return BOUGH_OK;
    quality->projection_gravity = quality->force_gravity = 0;
    for (int d = 0; d < 3; d++) {
        memset(w->f, 0, (size_t)cook->n * sizeof *w->f);
        bo_body_gravity_force(cook->body, (double[3]){d == 0, d == 1, d == 2}, w->f);
        BO_TRY(bo_cook_solve(cook, w->f, w->u, 1));
        BO_TRY(response(cook, w, &quality->projection_gravity, &quality->force_gravity));
    }
    return BOUGH_OK;
}

/* The vertex farthest from the origin. */
static size_t far_vertex(const bo_cook *cook) {
    size_t far = 0;
    double most = -1;
    for (size_t v = 0; v < (size_t)cook->n / 3; v++) {
        double distance = bo_norm(bo_sub(bo_load3(cook->body->mesh->vertices + 3 * v), bo_load3(cook->draft.origin)));
        if (cook->body->used[v] && distance > most)
            most = distance, far = v;
    }
    return far;
}

/* A blow at the far end along each axis, felt by one implicit step of half the lowest mode's time scale:
 * (M + h^2 K) u = h p. The factor of K gives way to that of this matrix. */
static bough_status impulse_poses(bo_cook *cook, work *w) {
    bough_component_quality *quality = &cook->draft.quality;
    bough_sparse *A;
    BO_TRY(bough_body_matrix_create(cook->ctx, cook->body, &A));
    double h2 = 0.25 / cook->draft.K[0];
    bo_body_add_mass(cook->m, 1, A);
    bo_sparse_combine(A, 1, h2, cook->K);
    bough_status status = bo_factor_numeric(cook->ctx, cook->factor, A);
    bough_sparse_destroy(cook->ctx, A);
    size_t at = 3 * far_vertex(cook);
    quality->projection_impulse = quality->force_impulse = 0;
    for (size_t d = 0; d < 3 && status == BOUGH_OK; d++) {
        memset(w->f, 0, (size_t)cook->n * sizeof *w->f);
        w->f[at + d] = cook->held[at + d] ? 0 : 1;
        status = bo_factor_solve(cook->ctx, cook->factor, w->f, w->u, 1);
        if (status == BOUGH_OK) {
            bo_cook_remove_rigid(cook, w->u, w->product);
            status = response(cook, w, &quality->projection_impulse, &quality->force_impulse);
        }
    }
    return status;
}

/* ---- frequencies ---- */

/* M + what the interfaces carry, in coordinates. */
static void loaded_mass(const bo_cook *cook, double *M) {
    size_t r = (size_t)cook->r;
    for (size_t i = 0; i < r * r; i++)
        M[i] = cook->draft.W7[9 * i] + cook->draft.W7[9 * i + 4] + cook->draft.W7[9 * i + 8];
    for (int32_t k = 0; k < cook->load_count && cook->loaded; k++) {
        const bo_cook_load *load = &cook->loads[k];
        for (size_t l = 0; l < r; l++) {
            double motion[6] = {0}, momentum[6] = {0};
            for (size_t i = 0; i < 3 * (size_t)load->vertex_count; i++)
                for (size_t d = 0; d < 6; d++)
                    motion[d] += load->Q[6 * i + d] * cook->U[(3 * (size_t)load->vertices[i / 3] + i % 3) * r + l];
            for (size_t d = 0; d < 36; d++)
                momentum[d / 6] += load->I6[d] * motion[d % 6];
            for (size_t i = 0; i < 3 * (size_t)load->vertex_count; i++)
                for (size_t p = 0; p < r; p++) {
                    double u = cook->U[(3 * (size_t)load->vertices[i / 3] + i % 3) * r + p];
                    for (size_t d = 0; d < 6; d++)
                        M[p * r + l] += u * load->Q[6 * i + d] * momentum[d];
                }
        }
    }
}

/* K x = lambda M x by M = L L^T: eigenvalues of L^-1 K L^-T. */
static bough_status reduced_eigenvalues(bo_cook *cook, double *values) {
    size_t r = (size_t)cook->r;
    double *M = BO_NEW_ARRAY(cook->ctx, double, 2 * r * r + 2 * r), *A = M + r * r, *scratch = A + r * r;
    if (!M)
        return BOUGH_ERROR_MEMORY;
    loaded_mass(cook, M);
    memcpy(A, cook->draft.K, r * r * sizeof *A);
    bough_status status = BOUGH_OK;
    if (!bo_cholesky_factor(cook->r, M))
        status = bo_fail(cook->ctx, BOUGH_ERROR_SINGULAR, "the reduced mass is not positive definite");
    for (int side = 0; side < 2 && status == BOUGH_OK; side++) { /* A <- L^-1 A, transposed, twice */
        for (size_t i = 0; i < r; i++)
            for (size_t c = 0; c < r; c++) {
                double sum = A[i * r + c];
                for (size_t k = 0; k < i; k++)
                    sum -= M[i * r + k] * A[k * r + c];
                A[i * r + c] = sum / M[i * r + i];
            }
        for (size_t i = 0; i < r; i++)
            for (size_t c = 0; c < i; c++) {
                double t = A[i * r + c];
                A[i * r + c] = A[c * r + i];
                A[c * r + i] = t;
            }
    }
    if (status == BOUGH_OK && !bo_sym_eigen(cook->r, A, values, NULL, scratch))
        status = bo_fail(cook->ctx, BOUGH_NOT_FINITE, "the reduced stiffness is not finite");
    bo_free(cook->ctx, M);
    return status;
}

static bough_status frequencies(bo_cook *cook) {
    int32_t count = cook->modes_held ? 0 : cook->mode_count < cook->r ? cook->mode_count : cook->r;
    double *full = BO_COOK_ARRAY(cook, double, count), *reduced = BO_COOK_ARRAY(cook, double, cook->r);
    if (!full || !reduced)
        return BOUGH_ERROR_MEMORY;
    BO_TRY(reduced_eigenvalues(cook, reduced));
    for (int32_t k = 0; k < count; k++) {
        full[k] = sqrt(fmax(0, cook->eigenvalues[k])) / (2 * M_PI);
        reduced[k] = sqrt(fmax(0, reduced[k])) / (2 * M_PI);
    }
    cook->draft.quality.mode_count = count;
    cook->draft.quality.full_hz = full;
    cook->draft.quality.reduced_hz = reduced;
    return BOUGH_OK;
}

/* ---- all ---- */

bough_status bo_cook_quality(bo_cook *cook) {
    if (cook->r == 0)
        return BOUGH_OK;
    work w = {0};
    bough_status status = make_work(cook, &w);
    if (status == BOUGH_OK)
        status = frequencies(cook);
    if (status == BOUGH_OK)
        status = random_poses(cook, &w);
    if (status == BOUGH_OK)
        status = gravity_poses(cook, &w);
    if (status == BOUGH_OK)
        status = impulse_poses(cook, &w);
    free_work(cook->ctx, &w);
    return status;
}
