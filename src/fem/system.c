#include "fem/system.h"

#include "fem/body.h"
#include "linalg/factor.h"

#include <string.h>

typedef struct {
    bough_context *ctx;
    bough_body *body;
    bough_sparse *M, *K, *A;
    bough_sparse *K_damping; /* NULL where damping does not follow the stiffness */
    bo_factor *factor;
    double *loads;
    bool loads_known; /* dead loads are computed once */
} body_system;

static void zero_held(const body_system *s, double *x) {
    for (int32_t i = 0; i < s->M->size; i++)
        if (s->body->fixed[i])
            x[i] = 0;
}

static bough_status force(void *data, double t, const double *q, double *U, double *f) {
    (void)t;
    body_system *s = data;
    BO_TRY(bough_body_evaluate(s->ctx, s->body, q, false, U, f, NULL));
    if (!s->loads_known || s->body->pressure_count)
        BO_TRY(bough_body_loads(s->ctx, s->body, q, s->loads));
    s->loads_known = true;
    for (int32_t i = 0; i < s->M->size; i++)
        f[i] += s->loads[i];
    if (U)
        *U -= bo_dot_n(s->M->size, s->loads, q);
    zero_held(s, f);
    return BOUGH_OK;
}

static bough_status linearise(void *data, double t, const double *q, bool project) {
    (void)t;
    body_system *s = data;
    BO_TRY(bough_body_evaluate(s->ctx, s->body, q, project, NULL, NULL, s->K));
    if (s->body->pressure_count)
        bo_body_pressure_tangent(s->body, q, 1, s->K);
    return BOUGH_OK;
}

static bough_status damp(void *data, const double *q) {
    body_system *s = data;
    return s->K_damping ? bough_body_evaluate(s->ctx, s->body, q, false, NULL, NULL, s->K_damping) : BOUGH_OK;
}

static void multiply(void *data, bo_matrix which, const double *x, double *y) {
    body_system *s = data;
    const int32_t n = s->M->size;
    switch (which) {
    case BO_MATRIX_M:
        bo_sparse_mul(s->M, x, y, false);
        break;
    case BO_MATRIX_K:
        bo_sparse_mul(s->K, x, y, false);
        break;
    case BO_MATRIX_D:
        memset(y, 0, (size_t)n * sizeof *y);
        if (s->body->def.damping_mass > 0)
            bo_sparse_mul(s->M, x, y, false);
        for (int32_t i = 0; i < n; i++)
            y[i] *= s->body->def.damping_mass / (s->K_damping ? s->body->def.damping_stiffness : 1);
        if (s->K_damping) {
            bo_sparse_mul(s->K_damping, x, y, true);
            for (int32_t i = 0; i < n; i++)
                y[i] *= s->body->def.damping_stiffness;
        }
        break;
    }
    zero_held(s, y);
}

static bough_status factor(void *data, double a, double b, double c) {
    body_system *s = data;
    const double m = a + b * s->body->def.damping_mass, d = b * s->body->def.damping_stiffness;
    const int32_t entries = s->M->column_start[s->M->size];
    for (int32_t k = 0; k < entries; k++)
        s->A->values[k] = m * s->M->values[k] + c * s->K->values[k];
    if (s->K_damping)
        for (int32_t k = 0; k < entries; k++)
            s->A->values[k] += d * s->K_damping->values[k];
    return bo_factor_numeric(s->ctx, s->factor, s->A);
}

static bough_status solve(void *data, const double *b, double *x) {
    body_system *s = data;
    BO_TRY(bo_factor_solve(s->ctx, s->factor, b, x, 1));
    zero_held(s, x);
    return BOUGH_OK;
}

static bough_status build(bough_context *ctx, bough_body *body, body_system *s) {
    s->ctx = ctx;
    s->body = body;
    BO_TRY(bough_body_matrix_create(ctx, body, &s->M));
    BO_TRY(bough_body_matrix_create(ctx, body, &s->K));
    BO_TRY(bough_body_matrix_create(ctx, body, &s->A));
    if (body->def.damping_stiffness > 0)
        BO_TRY(bough_body_matrix_create(ctx, body, &s->K_damping));
    s->loads = BO_NEW_ZEROS(ctx, double, bo_body_size(body));
    if (!s->loads)
        return BOUGH_ERROR_MEMORY;
    BO_TRY(bough_body_mass_matrix(ctx, body, s->M));
    return bo_factor_analyse(ctx, s->A, 3, body->fixed, &s->factor);
}

static void destroy(bough_context *ctx, body_system *s) {
    bough_sparse_destroy(ctx, s->M);
    bough_sparse_destroy(ctx, s->K);
    bough_sparse_destroy(ctx, s->A);
    bough_sparse_destroy(ctx, s->K_damping);
    bo_factor_destroy(ctx, s->factor);
    bo_free(ctx, s->loads);
    bo_free(ctx, s);
}

bough_status bo_body_system_create(bough_context *ctx, bough_body *body, bo_system *system) {
    memset(system, 0, sizeof *system);
    body_system *s = BO_NEW(ctx, body_system);
    if (!s)
        return BOUGH_ERROR_MEMORY;
    bough_status status = build(ctx, body, s);
    if (status != BOUGH_OK) {
        destroy(ctx, s);
        return status;
    }
    *system = (bo_system){.data = s,
                          .size = bo_body_size(body),
                          .position_size = bo_body_size(body),
                          .has_potential = body->pressure_count == 0,
                          .rayleigh_mass = body->def.damping_mass,
                          .rayleigh_stiffness = body->def.damping_stiffness,
                          .force = force,
                          .linearise = linearise,
                          .damp = damp,
                          .multiply = multiply,
                          .factor = factor,
                          .solve = solve};
    return BOUGH_OK;
}

void bo_body_system_destroy(bough_context *ctx, bo_system *system) {
    if (system->data)
        destroy(ctx, system->data);
    memset(system, 0, sizeof *system);
}
