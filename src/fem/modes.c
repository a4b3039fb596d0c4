/* Natural frequencies and mode shapes. */
#include "fem/body.h"

#include "linalg/eigen.h"

#include <string.h>

void bough_modes_destroy(bough_context *ctx, bough_modes *modes) {
    if (!modes)
        return;
    bo_free(ctx, modes->frequencies_hz);
    bo_free(ctx, modes->eigenvalues);
    bo_free(ctx, modes->shapes);
    bo_free(ctx, modes->damping);
    bo_free(ctx, modes->participation);
    bo_free(ctx, modes->effective_mass);
    bo_free(ctx, modes);
}

static bough_modes *create_modes(bough_context *ctx, const bough_body *body, int32_t count) {
    bough_modes *m = BO_NEW(ctx, bough_modes);
    if (!m)
        return NULL;
    size_t k = (size_t)count;
    m->count = count;
    m->vertex_count = body->mesh->vertex_count;
    m->frequencies_hz = BO_NEW_ZEROS(ctx, double, k);
    m->eigenvalues = BO_NEW_ZEROS(ctx, double, k);
    m->shapes = BO_NEW_ARRAY(ctx, double, k *(size_t)bo_body_size(body));
    m->damping = BO_NEW_ZEROS(ctx, double, k);
    m->participation = BO_NEW_ZEROS(ctx, double, 6 * k);
    m->effective_mass = BO_NEW_ZEROS(ctx, double, 6 * k);
    if (!m->frequencies_hz || !m->eigenvalues || !m->shapes || !m->damping || !m->participation || !m->effective_mass) {
        bough_modes_destroy(ctx, m);
        return NULL;
    }
    return m;
}

/* (c h / L^2)^2 for a body of length L and thickness h with speed of sound c. */
double bo_body_typical_eigenvalue(const bough_body *body, const bough_body_properties *p) {
    double L2 = 0;
    for (size_t d = 0; d < 3; d++) {
        double lower = INFINITY, upper = -INFINITY;
        for (size_t v = 0; v < (size_t)body->mesh->vertex_count; v++)
            if (body->used[v]) {
                lower = fmin(lower, body->mesh->vertices[3 * v + d]);
                upper = fmax(upper, body->mesh->vertices[3 * v + d]);
            }
        L2 += (upper - lower) * (upper - lower);
    }
    double h2 = bo_body_volume(body) / sqrt(L2);
    return p->strain_scale * p->strain_scale * h2 / (L2 * L2);
}

/* Factor of K - shift M. With enough supports shift 0 works; else a tenth of a typical eigenvalue below it makes the
 * matrix positive definite. Rounding can hide the zero pivots of a loose body, so the supports are looked at first. */
static bough_status factorise(bough_context *ctx, const bough_load_case *load_case, bough_sparse *K,
                              const bough_sparse *m, double typical, bo_factor *factor, double *shift) {
    *shift = 0;
    int32_t loose;
    BO_TRY(bo_body_rigid_motions(ctx, load_case->body, load_case->fixed, &loose));
    if (loose == 0) {
        bough_status status = bo_factor_numeric(ctx, factor, K);
        if (status == BOUGH_OK && bo_factor_rcond(factor) > 1e-14)
            return BOUGH_OK;
        if (status != BOUGH_OK && status != BOUGH_ERROR_SINGULAR)
            return status;
    }
    *shift = -0.1 * typical;
    bo_body_add_mass(m, -*shift, K);
    bough_status status = bo_factor_numeric(ctx, factor, K);
    if (status == BOUGH_ERROR_SINGULAR)
        return bo_fail(
            ctx, BOUGH_ERROR_SINGULAR,
            "the body is unstable in this state (its stiffness is not positive), so it has no vibration modes");
    return status;
}

typedef struct {
    bough_sparse *m;
    const unsigned char *fixed;
    double *scratch;
} mass_operator;

static void multiply_mass(void *data, const double *x, double *y, int32_t count) {
    const mass_operator *mass = data;
    bo_mass_multiply(mass->m, mass->fixed, mass->scratch, x, y, count);
}

static void free_mass(bough_context *ctx, mass_operator *mass) {
    bough_sparse_destroy(ctx, mass->m);
    bo_free(ctx, mass->scratch);
}

/* To be freed also when it fails. */
static bough_status make_mass(bough_context *ctx, const bough_load_case *load_case, mass_operator *mass) {
    *mass = (mass_operator){.fixed = load_case->fixed};
    BO_TRY(bo_body_scalar_mass(ctx, load_case->body, &mass->m));
    mass->scratch = BO_NEW_ARRAY(ctx, double, bo_mass_scratch(mass->m));
    return mass->scratch ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

static bough_status solve(bough_context *ctx, const bough_load_case *load_case, const double *u, bough_sparse *K,
                          const mass_operator *mass, double typical, bough_modes *modes) {
    const bough_body *body = load_case->body;
    const int32_t unknowns = bo_body_size(body) - load_case->fixed_count;
    if (!bo_progress(ctx, "assembling", -1, "%d unknowns", unknowns))
        return bo_fail_cancelled(ctx);
    BO_TRY(bough_body_evaluate(ctx, body, u, false, NULL, NULL, K));
    if (!bo_progress(ctx, "ordering", 0, "%d unknowns", unknowns))
        return bo_fail_cancelled(ctx);
    if (u) /* a body in equilibrium under pressure feels how that pressure follows its motion */
        bo_body_pressure_tangent(body, load_case->pressure_count, load_case->pressure, u, 1, K);
    const bo_operator operator= {
        .multiply = multiply_mass, .data = (void *)(uintptr_t)mass, .size = bo_body_size(body), .rank = unknowns};
    bo_factor *factor;
    double shift;
    BO_TRY(bo_factor_analyse(ctx, K, 3, load_case->fixed, &factor));
    bough_status status = factorise(ctx, load_case, K, mass->m, typical, factor, &shift);
    if (status == BOUGH_OK)
        status = bo_eigen_shift_invert(ctx, factor, &operator, shift, modes->count, 1e-12, modes->eigenvalues,
                                       modes->shapes);
    bo_factor_destroy(ctx, factor);
    return status;
}

/* Rigid motions about the centre of mass, 6 x n: translations, then rotations e_d x (X - centre); zero where held. */
static void rigid_motions(const bough_load_case *load_case, const double centre[3], double *motions) {
    const bough_body *body = load_case->body;
    size_t n = (size_t)bo_body_size(body);
    for (size_t v = 0; v < n / 3; v++) {
        bo_vec3 r = bo_sub(bo_load3(body->mesh->vertices + 3 * v), bo_load3(centre));
        for (size_t d = 0; d < 3; d++) {
            bo_vec3 axis = {d == 0, d == 1, d == 2};
            bo_store3(motions + d * n + 3 * v, axis);
            bo_store3(motions + (3 + d) * n + 3 * v, bo_cross(axis, r));
        }
        for (size_t i = 0; i < 3; i++)
            for (size_t d = 0; d < 6 && load_case->fixed[3 * v + i]; d++)
                motions[d * n + 3 * v + i] = 0;
    }
}

/* Participation of mode k in the rigid motion d: phi_k . M r_d; its square is the effective mass (phi has mass 1). */
static bough_status participate(bough_context *ctx, const bough_load_case *load_case, const double centre[3],
                                mass_operator *mass, bough_modes *modes) {
    int32_t n = bo_body_size(load_case->body);
    double *motions = BO_NEW_ARRAY(ctx, double, 6 * (size_t)n), *product = BO_NEW_ARRAY(ctx, double, n);
    if (!motions || !product) {
        bo_free(ctx, motions);
        bo_free(ctx, product);
        return BOUGH_ERROR_MEMORY;
    }
    rigid_motions(load_case, centre, motions);
    for (size_t d = 0; d < 6; d++) {
        multiply_mass(mass, motions + d * (size_t)n, product, 1);
        modes->total_mass[d] = bo_dot_n(n, motions + d * (size_t)n, product);
        for (size_t k = 0; k < (size_t)modes->count; k++) {
            double g = bo_dot_n(n, modes->shapes + k * (size_t)n, product);
            modes->participation[6 * k + d] = g;
            modes->effective_mass[6 * k + d] = g * g;
        }
    }
    bo_free(ctx, motions);
    bo_free(ctx, product);
    return BOUGH_OK;
}

/* The largest component of a shape is positive, so that shapes do not depend on the solver's choice of sign. */
static void fix_signs(bough_modes *modes) {
    size_t n = 3 * (size_t)modes->vertex_count;
    for (size_t k = 0; k < (size_t)modes->count; k++) {
        double *shape = modes->shapes + k * n, largest = 0;
        for (size_t i = 0; i < n; i++)
            if (fabs(shape[i]) > fabs(largest) * (1 + 1e-9))
                largest = shape[i];
        for (size_t i = 0; i < n && largest < 0; i++)
            shape[i] = -shape[i];
    }
}

static void describe(const bough_body *body, double typical, bough_modes *modes) {
    for (int32_t k = 0; k < modes->count; k++) {
        double w = sqrt(fmax(0, modes->eigenvalues[k]));
        modes->frequencies_hz[k] = w / (2 * M_PI);
        /* zeta = alpha / (2 w) + beta w / 2 */
        modes->damping[k] = w > 0 ? 0.5 * (body->def.damping_mass / w + body->def.damping_stiffness * w) : 0;
    }
    /* A jump by 1e8 in the eigenvalue (1e4 in frequency) parts rigid modes from flexible ones; when no flexible one was
     * asked for, a typical one stands for it. A body in several pieces has more than six rigid modes. */
    for (int32_t k = 1; k <= modes->count; k++)
        if (fabs(modes->eigenvalues[k - 1]) < 1e-8 * (k < modes->count ? modes->eigenvalues[k] : typical))
            modes->rigid_count = k;
}

bough_status bough_body_modes(bough_context *ctx, const bough_body *body, const bough_load_case *load_case,
                              int32_t count, const double *u, bough_modes **out) {
    *out = NULL;
    BO_TRY(bo_load_case_of(ctx, body, load_case, &load_case));
    int32_t free_count = bo_body_size(body) - load_case->fixed_count;
    if (free_count < 2)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "all of the body is held, so that nothing is left to vibrate");
    if (count < 1 || count >= free_count)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%d modes were asked for; this body can give 1 to %d", count,
                       free_count - 1);
    bough_modes *modes = create_modes(ctx, body, count);
    bough_sparse *K = NULL;
    mass_operator mass = {0};
    bough_status status = modes ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    bough_body_properties p = {0};
    if (status == BOUGH_OK)
        status = bough_body_measure(ctx, body, &p);
    double typical = bo_body_typical_eigenvalue(body, &p);
    if (status == BOUGH_OK)
        status = bough_body_matrix_create(ctx, body, &K);
    if (status == BOUGH_OK)
        status = make_mass(ctx, load_case, &mass);
    if (status == BOUGH_OK)
        status = solve(ctx, load_case, u, K, &mass, typical, modes);
    if (status == BOUGH_OK) {
        fix_signs(modes);
        describe(body, typical, modes);
        status = participate(ctx, load_case, p.centre, &mass, modes);
    }
    free_mass(ctx, &mass);
    bough_sparse_destroy(ctx, K);
    if (status != BOUGH_OK) {
        bough_modes_destroy(ctx, modes);
        return status;
    }
    *out = modes;
    return BOUGH_OK;
}
