/* The reduced St. Venant-Kirchhoff polynomial is the projection of the full body, exactly. */
#include "cooked.h"

#include "fem/system.h"
#include "linalg/sparse.h"
#include "time/integrator.h"

/* U^T K U for a matrix of the body. */
static void project_matrix(const bough_component *c, const bough_sparse *K, double *reduced) {
    size_t r = (size_t)c->r, n = 3 * (size_t)c->volume.vertex_count;
    double *KU = calloc(n * r, sizeof *KU);
    bo_sparse_mul_rows(K, c->r, c->volume.U, KU);
    memset(reduced, 0, r * r * sizeof *reduced);
    for (size_t i = 0; i < n; i++)
        for (size_t a = 0; a < r; a++)
            for (size_t b = 0; b < r; b++)
                reduced[a * r + b] += c->volume.U[i * r + a] * KU[i * r + b];
    free(KU);
}

/* Coordinates that bend and stretch the body by about a tenth of its size: equal energies in all. */
static void random_coordinates(const bough_component *c, test_random *random, double amplitude, double *q) {
    for (int32_t l = 0; l < c->r; l++)
        q[l] = amplitude * test_uniform(random, -1, 1) * sqrt(c->K[0] / c->K[(size_t)l * (size_t)(c->r + 1)]);
}

static void agrees(bar_def bar, int32_t r, int poses) {
    bough_context *ctx = test_context(1);
    bough_body *body;
    bough_component *c = cook_bar(ctx, bar, r, &body);
    check_int(c->r, r);
    check_int(c->elastic, BOUGH_REDUCED_POLYNOMIAL);
    size_t n = 3 * (size_t)c->volume.vertex_count, R = (size_t)r;
    double *u = calloc(2 * n, sizeof *u), *f = u + n;
    double *q = calloc(3 * R + 2 * R * R + bough_component_scratch(c), sizeof *q), *full = q + R, *reduced = q + 2 * R;
    double *H = q + 3 * R, *K = H + R * R, *scratch = K + R * R;
    bough_sparse *tangent;
    check_ok(ctx, bough_body_matrix_create(ctx, body, &tangent));
    test_random random = {7};
    for (int pose = 0; pose < poses; pose++) {
        double energy, exact;
        random_coordinates(c, &random, 0.6, q);
        displace(c, q, u);
        check_ok(ctx, bough_body_evaluate(ctx, body, u, false, &exact, f, tangent));
        check(bough_component_evaluate(c, q, scratch, &energy, reduced, H));
        project(c, f, full);
        project_matrix(c, tangent, K);
        check_near(energy, exact, 1e-12 * exact);
        check_below(relative(R, reduced, -1, full), 1e-12);
        check_below(relative(R * R, H, 1, K), 1e-12);
    }
    bough_sparse_destroy(ctx, tangent);
    free(u), free(q);
    bough_component_destroy(ctx, c);
    bough_body_destroy(ctx, body);
    bough_context_destroy(ctx);
}

static void tet4_forces_are_projections(void **state) {
    (void)state;
    bar_def bar = default_bar();
    agrees(bar, 1, 50);
    agrees(bar, 7, 200);
    agrees(bar, 20, 1000);
    bar.poisson = -0.3; /* lambda < 0 */
    agrees(bar, 12, 100);
}

static void tet10_forces_are_projections(void **state) {
    (void)state;
    bar_def bar = default_bar();
    bar.type = BOUGH_TET10;
    bar.cells[0] = 3, bar.cells[1] = bar.cells[2] = 1;
    agrees(bar, 20, 1000);
}

static void hex8_forces_are_projections(void **state) {
    (void)state;
    bar_def bar = default_bar();
    bar.type = BOUGH_HEX8;
    agrees(bar, 20, 1000);
}

static void forty_coordinates_are_projections(void **state) {
    (void)state;
    for (bough_element_type type = BOUGH_TET4; type <= BOUGH_HEX8; type++) {
        bar_def bar = default_bar();
        bar.type = type;
        bar.cells[0] = 4;
        agrees(bar, 40, test_long() ? 1000 : 100);
    }
}

/* ---- dynamics ---- */

/* One component that is held, as a system of its own: M = tr W7, no damping, no loads. */
typedef struct {
    const bough_component *c;
    double *M, *K, *A, *scratch;
} reduced_system;

static bough_status reduced_force(void *data, double t, const double *q, double *U, double *f) {
    reduced_system *s = data;
    (void)t;
    if (!bough_component_evaluate(s->c, q, s->scratch, U, f, NULL))
        return BOUGH_NOT_FINITE;
    for (int32_t l = 0; l < s->c->r; l++)
        f[l] = -f[l];
    return BOUGH_OK;
}
static bough_status reduced_linearise(void *data, double t, const double *q, bool project_it) {
    reduced_system *s = data;
    (void)t, (void)project_it;
    return bough_component_evaluate(s->c, q, s->scratch, NULL, NULL, s->K) ? BOUGH_OK : BOUGH_NOT_FINITE;
}
static bough_status reduced_damp(void *data, const double *q) {
    (void)data, (void)q;
    return BOUGH_OK;
}
static void reduced_multiply(void *data, bo_matrix which, const double *x, double *y) {
    reduced_system *s = data;
    size_t r = (size_t)s->c->r;
    const double *A = which == BO_MATRIX_M ? s->M : s->K;
    for (size_t i = 0; i < r; i++) {
        y[i] = 0;
        for (size_t j = 0; j < r && which != BO_MATRIX_D; j++)
            y[i] += A[i * r + j] * x[j];
    }
}
static bough_status reduced_factor(void *data, double a, double b, double k) {
    reduced_system *s = data;
    (void)b;
    for (int32_t i = 0; i < s->c->r * s->c->r; i++)
        s->A[i] = a * s->M[i] + k * s->K[i];
    return bo_cholesky_factor(s->c->r, s->A) ? BOUGH_OK : BOUGH_ERROR_SINGULAR;
}
static bough_status reduced_solve(void *data, const double *b, double *x) {
    reduced_system *s = data;
    if (x != b)
        memcpy(x, b, (size_t)s->c->r * sizeof *x);
    bo_cholesky_solve(s->c->r, s->A, x);
    return BOUGH_OK;
}

/* With as many coordinates as unknowns nothing is lost: the same motion, step for step. */
static void whole_basis_moves_like_the_full_body(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bar_def bar = default_bar();
    bar.type = BOUGH_HEX8;
    bar.cells[0] = 2, bar.cells[1] = bar.cells[2] = 1;
    bough_body *body;
    bough_component *c = cook_bar(ctx, bar, 24, &body);
    int32_t *held, held_count;
    check_ok(ctx, bough_mesh_select(ctx, bough_body_mesh(body), "x0", &held, &held_count));
    bough_load_case *load_case;
    check_ok(ctx, bough_load_case_create(ctx, body, &load_case));
    check_ok(ctx, bough_load_case_fix(ctx, load_case, held, held_count, BOUGH_AXES, NULL));
    bough_release(ctx, held);
    bo_system full;
    check_ok(ctx, bo_body_system_create(ctx, body, load_case, &full));
    size_t r = 24, n = 36;
    reduced_system data = {c, calloc(r * r, 8), calloc(r * r, 8), calloc(r * r, 8),
                           calloc(bough_component_scratch(c), 8)};
    for (size_t i = 0; i < r * r; i++)
        data.M[i] = c->W7[9 * i] + c->W7[9 * i + 4] + c->W7[9 * i + 8];
    bo_system reduced = {.data = &data,
                         .size = 24,
                         .position_size = 24,
                         .has_potential = true,
                         .force = reduced_force,
                         .linearise = reduced_linearise,
                         .damp = reduced_damp,
                         .multiply = reduced_multiply,
                         .factor = reduced_factor,
                         .solve = reduced_solve};
    double qv[72] = {0}, uv[108] = {0}, u[36];
    bo_motion slow = {.q = uv, .v = uv + n, .a = uv + 2 * n}, fast = {.q = qv, .v = qv + r, .a = qv + 2 * r};
    test_random random = {3};
    for (size_t l = 0; l < r; l++)
        fast.v[l] = test_uniform(&random, -8, 8) * (l < 6);
    displace(c, fast.v, slow.v);
    bough_integrator_def def = bough_default_integrator_def();
    def.name = "midpoint", def.tolerance = 1e-13;
    bo_integrator *I, *J;
    check_ok(ctx, bo_integrator_create(ctx, &full, &def, &I));
    check_ok(ctx, bo_integrator_create(ctx, &reduced, &def, &J));
    double largest = 0;
    for (int step = 0; step < 200; step++) {
        check_ok(ctx, bo_integrator_step(I, 0.002, &slow));
        check_ok(ctx, bo_integrator_step(J, 0.002, &fast));
        displace(c, fast.q, u);
        for (size_t i = 0; i < n; i++) {
            largest = fmax(largest, fabs(u[i]));
            check_near(u[i], slow.q[i], 1e-10 * fmax(largest, 0.01));
        }
    }
    check(largest > 0.05);
    bo_integrator_destroy(ctx, I);
    bo_integrator_destroy(ctx, J);
    bo_body_system_destroy(ctx, &full);
    bough_load_case_destroy(ctx, load_case);
    free(data.M), free(data.K), free(data.A), free(data.scratch);
    bough_component_destroy(ctx, c);
    bough_body_destroy(ctx, body);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tet4_forces_are_projections),          cmocka_unit_test(tet10_forces_are_projections),
        cmocka_unit_test(hex8_forces_are_projections),          cmocka_unit_test(forty_coordinates_are_projections),
        cmocka_unit_test(whole_basis_moves_like_the_full_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
