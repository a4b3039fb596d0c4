/* Force = -dE/du and tangent = -dF/du for every material and element, by finite differences at random states. */
#include "random_element.h"

/* Displacement of a random element: a random affine map (rotation up to 180 degrees included for objective models)
 * plus noise; strains up to about 20 %. */
static void random_state(test_random *r, const bough_mesh *mesh, double *u) {
    double axis[3], A[9], angle = test_uniform(r, 0, 3.1), length = 0;
    for (int d = 0; d < 3; d++) {
        axis[d] = test_uniform(r, -1, 1);
        length += axis[d] * axis[d];
    }
    length = sqrt(length) + 1e-12;
    double k[9] = {0, -axis[2] / length, axis[1] / length,  axis[2] / length,
                   0, -axis[0] / length, -axis[1] / length, axis[0] / length,
                   0};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double kk = 0;
            for (int m = 0; m < 3; m++)
                kk += k[3 * i + m] * k[3 * m + j];
            A[3 * i + j] = sin(angle) * k[3 * i + j] + (1 - cos(angle)) * kk + test_uniform(r, -0.08, 0.08);
        }
    for (int32_t v = 0; v < mesh->vertex_count; v++)
        for (int i = 0; i < 3; i++) {
            u[3 * v + i] = test_uniform(r, -0.03, 0.03);
            for (int j = 0; j < 3; j++)
                u[3 * v + i] += A[3 * i + j] * mesh->vertices[3 * v + j];
        }
}

typedef struct {
    double force_error, tangent_error;
} errors;

/* Central differences of fourth order: (8 (g(h) - g(-h)) - (g(2h) - g(-2h))) / 12 h. */
static errors compare(bough_context *ctx, bough_body *body, bough_sparse *K, double *u, int32_t n) {
    static const double at[4] = {1, -1, 2, -2}, factor[4] = {8, -8, -1, 1};
    const double h = 1e-3;
    double f[30], dense[30][30] = {{0}}, f_error = 0, f_size = 0, K_error = 0, K_size = 0;
    check_ok(ctx, bough_body_evaluate(ctx, body, u, false, NULL, f, K));
    for (int32_t j = 0; j < n; j++)
        for (int32_t k = K->column_start[j]; k < K->column_start[j + 1]; k++)
            dense[K->rows[k]][j] = dense[j][K->rows[k]] = K->values[k];
    for (int32_t j = 0; j < n; j++) {
        double dE = 0, dF[30] = {0}, keep = u[j];
        for (int s = 0; s < 4; s++) {
            double E, F[30];
            u[j] = keep + at[s] * h;
            check_ok(ctx, bough_body_evaluate(ctx, body, u, false, &E, F, NULL));
            dE += factor[s] * E / (12 * h);
            for (int32_t i = 0; i < n; i++)
                dF[i] += factor[s] * F[i] / (12 * h);
        }
        u[j] = keep;
        f_error += (f[j] + dE) * (f[j] + dE);
        f_size += f[j] * f[j];
        for (int32_t i = 0; i < n; i++) {
            K_error += (dense[i][j] + dF[i]) * (dense[i][j] + dF[i]);
            K_size += dense[i][j] * dense[i][j];
        }
    }
    return (errors){sqrt(f_error / f_size), sqrt(K_error / K_size)};
}

static void check_pair(bough_context *ctx, bough_material_model model, bough_element_type type, int states) {
    test_random r = {1000u * (unsigned)model + (unsigned)type};
    errors worst = {0, 0};
    for (int state = 0; state < states; state++) {
        bough_mesh *mesh = random_element(ctx, &r, type);
        bough_body_def def = bough_default_body_def();
        def.material.model = model;
        def.material.young = 1000;
        def.material.poisson = test_uniform(&r, 0.05, 0.45);
        bough_body *body;
        bough_sparse *K;
        check_ok(ctx, bough_body_create(ctx, mesh, &def, &body));
        check_ok(ctx, bough_body_matrix_create(ctx, body, &K));
        double u[30];
        random_state(&r, mesh, u);
        errors e = compare(ctx, body, K, u, 3 * mesh->vertex_count);
        worst.force_error = fmax(worst.force_error, e.force_error);
        worst.tangent_error = fmax(worst.tangent_error, e.tangent_error);
        bough_sparse_destroy(ctx, K);
        bough_body_destroy(ctx, body);
        bough_mesh_destroy(ctx, mesh);
    }
    printf("%-20s %-6s force %.1e tangent %.1e\n", bough_material_name(model), bough_element_name(type),
           worst.force_error, worst.tangent_error);
    check_below(worst.force_error, 1e-6);
    check_below(worst.tangent_error, 1e-6);
}

static void force_and_tangent_are_derivatives_of_the_energy(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int model = 0; model < BOUGH_MATERIAL_MODEL_COUNT; model++)
        for (int type = BOUGH_TET4; type <= BOUGH_HEX8; type++)
            check_pair(ctx, (bough_material_model)model, (bough_element_type)type, test_long() ? 10000 : 1000);
    bough_context_destroy(ctx);
}

/* x^T K x >= 0 for any x and any state, also where the true tangent is indefinite. */
static void projected_tangents_are_positive_semidefinite(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    int indefinite = 0;
    for (int model = 0; model < BOUGH_MATERIAL_MODEL_COUNT; model++)
        for (int type = BOUGH_TET4; type <= BOUGH_HEX8; type++) {
            test_random r = {77u + (unsigned)model};
            bough_mesh *mesh = random_element(ctx, &r, (bough_element_type)type);
            bough_body_def def = bough_default_body_def();
            def.material.model = (bough_material_model)model;
            bough_body *body;
            bough_sparse *K;
            check_ok(ctx, bough_body_create(ctx, mesh, &def, &body));
            check_ok(ctx, bough_body_matrix_create(ctx, body, &K));
            int32_t n = 3 * mesh->vertex_count;
            for (int trial = 0; trial < 50; trial++) {
                double u[30], x[30], largest = 0;
                random_state(&r, mesh, u);
                for (int32_t i = 0; i < n; i++) /* squeezed to half its size: the true tangent is not definite */
                    u[i] = 0.5 * u[i] - 0.5 * mesh->vertices[i];
                for (int project = 0; project < 2; project++) {
                    check_ok(ctx, bough_body_evaluate(ctx, body, u, project, NULL, NULL, K));
                    for (int probe = 0; probe < 40; probe++) {
                        double energy = 0, size = 0;
                        for (int32_t i = 0; i < n; i++) {
                            x[i] = test_uniform(&r, -1, 1);
                            size += x[i] * x[i];
                        }
                        for (int32_t j = 0; j < n; j++)
                            for (int32_t k = K->column_start[j]; k < K->column_start[j + 1]; k++) {
                                energy += (K->rows[k] == j ? 1 : 2) * K->values[k] * x[j] * x[K->rows[k]];
                                largest = fmax(largest, fabs(K->values[k]));
                            }
                        if (project)
                            check(energy >= -1e-12 * largest * size);
                        else
                            indefinite += energy < -1e-9 * largest * size;
                    }
                }
            }
            bough_sparse_destroy(ctx, K);
            bough_body_destroy(ctx, body);
            bough_mesh_destroy(ctx, mesh);
        }
    check(indefinite > 100); /* the states do test the projection */
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(force_and_tangent_are_derivatives_of_the_energy),
        cmocka_unit_test(projected_tangents_are_positive_semidefinite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
