/* The body against beam theory and against an independent implementation's numbers. */
#include "test.h"

#include <bough/fem.h>

#include <jansson.h>

static bough_mesh *beam_mesh(bough_context *ctx, bough_element_type type, double length, double h, int32_t along,
                             int32_t across) {
    bough_box_def def = bough_default_box_def();
    def.type = type;
    def.size[0] = length, def.size[1] = def.size[2] = h;
    def.cells[0] = along, def.cells[1] = def.cells[2] = across;
    bough_mesh *mesh;
    check_ok(ctx, bough_mesh_generate_box(ctx, &def, &mesh));
    return mesh;
}

static bough_body *clamped_body(bough_context *ctx, const bough_mesh *mesh, const bough_body_def *def,
                                bough_load_case **load_case) {
    bough_body *body;
    int32_t *vertices, count;
    check_ok(ctx, bough_body_create(ctx, mesh, def, &body));
    check_ok(ctx, bough_load_case_create(ctx, body, load_case));
    check_ok(ctx, bough_mesh_select(ctx, mesh, "x0", &vertices, &count));
    check_ok(ctx, bough_load_case_fix(ctx, *load_case, vertices, count, BOUGH_AXES, NULL));
    bough_release(ctx, vertices);
    return body;
}

static bough_body_def steel(void) {
    bough_body_def def = bough_default_body_def();
    def.material.young = 210e9, def.material.poisson = 0.3, def.material.density = 7850;
    return def;
}

/* Frequency equation of a clamped-free Timoshenko beam (Huang 1961), b = w L^2 sqrt(rho A / EI). */
static double timoshenko_equation(double b, double r2, double s2) {
    double root = sqrt((r2 - s2) * (r2 - s2) + 4 / (b * b));
    double alpha = sqrt((-(r2 + s2) + root) / 2), beta = sqrt((r2 + s2 + root) / 2);
    return 2 + (b * b * (r2 - s2) * (r2 - s2) + 2) * cosh(b * alpha) * cos(b * beta) -
           b * (r2 + s2) / sqrt(1 - b * b * r2 * s2) * sinh(b * alpha) * sin(b * beta);
}

static void timoshenko_frequencies(double L, double h, double E, double nu, double rho, int count, double *hz) {
    double shear = 10 * (1 + nu) / (12 + 11 * nu); /* Cowper, rectangle */
    double r2 = h * h / 12 / (L * L), s2 = r2 * 2 * (1 + nu) / shear;
    double scale = sqrt(E * h * h / 12 / rho) / (L * L) / (2 * M_PI);
    double step = 0.01, b = 1;
    for (int found = 0; found < count; b += step) {
        double low = b, high = b + step;
        if (timoshenko_equation(low, r2, s2) * timoshenko_equation(high, r2, s2) > 0)
            continue;
        for (int i = 0; i < 60; i++) {
            double middle = 0.5 * (low + high);
            if (timoshenko_equation(low, r2, s2) * timoshenko_equation(middle, r2, s2) > 0)
                low = middle;
            else
                high = middle;
        }
        hz[found++] = low * scale;
    }
}

static void bending_frequencies_follow_timoshenko(void **state) {
    (void)state;
    bough_context *ctx = test_context(2);
    bough_mesh *mesh = beam_mesh(ctx, BOUGH_TET10, 1, 0.05, 30, 2);
    bough_body_def def = steel();
    bough_load_case *load_case;
    bough_body *body = clamped_body(ctx, mesh, &def, &load_case);
    bough_modes *modes;
    check_ok(ctx, bough_body_modes(ctx, body, load_case, 8, NULL, &modes));
    double theory[3];
    timoshenko_frequencies(1, 0.05, 210e9, 0.3, 7850, 3, theory);
    for (int pair = 0; pair < 3; pair++)
        for (int side = 0; side < 2; side++) {
            printf("mode %d: %.3f Hz, Timoshenko %.3f Hz\n", 2 * pair + side + 1,
                   modes->frequencies_hz[2 * pair + side], theory[pair]);
            check_near(modes->frequencies_hz[2 * pair + side] / theory[pair], 1, 0.01);
        }
    /* Mode 7 is the first torsion: nothing of it in the translations. */
    check_below(modes->effective_mass[6 * 6 + 2] / modes->total_mass[2], 1e-6);
    bough_modes_destroy(ctx, modes);
    bough_load_case_destroy(ctx, load_case);
    bough_body_destroy(ctx, body);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

/* First three bending pairs; the two of a pair differ a little by the mesh's diagonals, so their mean. */
static void bending_pairs(bough_context *ctx, bough_element_type type, int32_t across, double hz[3]) {
    bough_mesh *mesh = beam_mesh(ctx, type, 1, 0.05, 20 * across, across);
    bough_body_def def = steel();
    bough_load_case *load_case;
    bough_body *body = clamped_body(ctx, mesh, &def, &load_case);
    bough_modes *modes;
    check_ok(ctx, bough_body_modes(ctx, body, load_case, 6, NULL, &modes));
    for (int pair = 0; pair < 3; pair++)
        hz[pair] = 0.5 * (modes->frequencies_hz[2 * pair] + modes->frequencies_hz[2 * pair + 1]);
    bough_modes_destroy(ctx, modes);
    bough_load_case_destroy(ctx, load_case);
    bough_body_destroy(ctx, body);
    bough_mesh_destroy(ctx, mesh);
}

/* Linear elements are too stiff and approach a fine quadratic solution from above, with an order near 2. */
static void linear_elements_converge_monotonically(void **state) {
    (void)state;
    bough_context *ctx = test_context(2);
    double fine[3];
    bending_pairs(ctx, BOUGH_TET10, 4, fine);
    static const bough_element_type types[] = {BOUGH_TET4, BOUGH_HEX8};
    for (int t = 0; t < 2; t++) {
        double before[3] = {INFINITY, INFINITY, INFINITY};
        for (int32_t across = 1; across <= 8; across *= 2) {
            double hz[3];
            bending_pairs(ctx, types[t], across, hz);
            for (int k = 0; k < 3; k++) {
                double error = hz[k] / fine[k] - 1;
                check(error > 0 && error < before[k]);
                if (across == 8)
                    check(log2(before[k] / error) >= 1.7);
                before[k] = error;
            }
        }
    }
    bough_context_destroy(ctx);
}

/* A free body has six modes at zero; its flexible ones are those of a free-free beam. */
static void free_bodies_have_six_rigid_modes(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int type = BOUGH_TET4; type <= BOUGH_HEX8; type++) {
        bough_mesh *mesh = beam_mesh(ctx, (bough_element_type)type, 1, 0.1, 20, 2);
        bough_body_def def = steel();
        bough_body *body;
        bough_modes *modes;
        check_ok(ctx, bough_body_create(ctx, mesh, &def, &body));
        check_ok(ctx, bough_body_modes(ctx, body, NULL, 12, NULL, &modes));
        check_int(modes->rigid_count, 6);
        check_below(modes->frequencies_hz[5], 1e-3 * modes->frequencies_hz[6]);
        double mass = 7850 * 0.01, sum[6] = {0};
        for (int k = 0; k < 6; k++)
            for (int d = 0; d < 6; d++)
                sum[d] += modes->effective_mass[6 * k + d];
        for (int d = 0; d < 3; d++)
            check_near(sum[d] / mass, 1, 1e-11);
        for (int d = 3; d < 6; d++)
            check_near(sum[d] / modes->total_mass[d], 1, 1e-11);
        if (type == BOUGH_TET10) /* Euler-Bernoulli gives 4.730^2: shear lowers it by a few percent */
            check_near(modes->frequencies_hz[6], 22.3733 / (2 * M_PI) * sqrt(210e9 * 0.01 / 12 / 7850), 0.04 * 534);
        bough_modes_destroy(ctx, modes);
        bough_body_destroy(ctx, body);
        bough_mesh_destroy(ctx, mesh);
    }
    bough_context_destroy(ctx);
}

/* K phi = lambda M phi, phi^T M phi = 1. */
static void modes_satisfy_their_equation(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *mesh = beam_mesh(ctx, BOUGH_HEX8, 1, 0.1, 16, 2);
    bough_body_def def = steel();
    def.damping_mass = 3, def.damping_stiffness = 1e-5;
    bough_load_case *load_case;
    bough_body *body = clamped_body(ctx, mesh, &def, &load_case);
    bough_modes *modes;
    bough_sparse *K, *M, *D;
    check_ok(ctx, bough_body_modes(ctx, body, load_case, 10, NULL, &modes));
    check_ok(ctx, bough_body_matrix_create(ctx, body, &K));
    check_ok(ctx, bough_body_matrix_create(ctx, body, &M));
    check_ok(ctx, bough_body_evaluate(ctx, body, NULL, false, NULL, NULL, K));
    check_ok(ctx, bough_body_mass_matrix(ctx, body, M));
    check_ok(ctx, bough_body_matrix_create(ctx, body, &D));
    check_ok(ctx, bough_body_damping_matrix(ctx, body, NULL, D));
    size_t n = (size_t)K->size;
    double *Kx = calloc(n, sizeof *Kx), *Mx = calloc(n, sizeof *Mx);
    for (int a = 0; a < 10; a++) {
        const double *x = modes->shapes + (size_t)a * n;
        memset(Kx, 0, n * sizeof *Kx);
        memset(Mx, 0, n * sizeof *Mx);
        for (int32_t j = 0; j < K->size; j++)
            for (int32_t k = K->column_start[j]; k < K->column_start[j + 1]; k++) {
                int32_t i = K->rows[k];
                Kx[i] += K->values[k] * x[j], Mx[i] += M->values[k] * x[j];
                if (i != j)
                    Kx[j] += K->values[k] * x[i], Mx[j] += M->values[k] * x[i];
            }
        double residual = 0, size = 0;
        for (size_t i = 0; i < n; i++)
            if (mesh->vertices[i / 3 * 3] > 0) {
                double r = Kx[i] - modes->eigenvalues[a] * Mx[i];
                residual += r * r, size += Kx[i] * Kx[i];
            }
        check_below(sqrt(residual / size), 1e-8);
        for (int b = 0; b <= a; b++) {
            double product = 0;
            for (size_t i = 0; i < n; i++)
                product += modes->shapes[(size_t)b * n + i] * Mx[i];
            check_near(product, a == b, 1e-9);
        }
        double w = 2 * M_PI * modes->frequencies_hz[a], damped = 0;
        for (int32_t j = 0; j < D->size; j++) /* phi^T D phi = 2 zeta w */
            for (int32_t k = D->column_start[j]; k < D->column_start[j + 1]; k++)
                damped += (D->rows[k] == j ? 1 : 2) * D->values[k] * x[j] * x[D->rows[k]];
        check_near(damped / (2 * w * modes->damping[a]), 1, 1e-8);
        check_near(modes->damping[a], 0.5 * (3 / w + 1e-5 * w), 1e-12);
    }
    free(Kx);
    free(Mx);
    bough_sparse_destroy(ctx, K);
    bough_sparse_destroy(ctx, M);
    bough_sparse_destroy(ctx, D);
    bough_modes_destroy(ctx, modes);
    bough_load_case_destroy(ctx, load_case);
    bough_body_destroy(ctx, body);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

/* Elastica: EI theta'' = -P cos theta, theta(0) = 0, theta'(L) = 0 for a dead tip load; by shooting on the root
 * curvature with RK4. Gives tip deflection and shortening over L. */
static void elastica(double load, double *down, double *back) {
    double low = 0, high = load + 1; /* root curvature times L: at most the moment of the straight beam */
    for (int i = 0; i < 100; i++) {
        double kappa0 = 0.5 * (low + high), theta = 0, kappa = kappa0, x = 0, y = 0;
        const int steps = 2000;
        const double h = 1.0 / steps;
        for (int s = 0; s < steps; s++) {
            double k1 = -load * cos(theta), k2 = -load * cos(theta + h / 2 * kappa),
                   k3 = -load * cos(theta + h / 2 * kappa + h * h / 4 * k1),
                   k4 = -load * cos(theta + h * kappa + h * h / 2 * k2);
            double middle = theta + h / 2 * kappa + h * h / 8 * (k1 + k2) / 2;
            double next = theta + h * kappa + h * h / 6 * (k1 + k2 + k3);
            x += h / 6 * (cos(theta) + 4 * cos(middle) + cos(next));
            y += h / 6 * (sin(theta) + 4 * sin(middle) + sin(next));
            theta = next;
            kappa += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
        }
        *down = y, *back = 1 - x;
        if (kappa > 0)
            high = kappa0;
        else
            low = kappa0;
    }
}

static void slender_cantilevers_bend_like_the_elastica(void **state) {
    (void)state;
    bough_context *ctx = test_context(2);
    const double L = 1, h = 0.005, E = 1e9, EI = E * h * h * h * h / 12;
    const double loads[4] = {1, 2, 5, 10};
    const double bisshopp_drucker[4] = {0.302, 0.494, 0.714, 0.811}; /* checks the shooting above */
    bough_mesh *mesh = beam_mesh(ctx, BOUGH_TET10, L, h, 120, 1);
    for (int i = 0; i < 4; i++) {
        double down, back;
        elastica(loads[i], &down, &back);
        check_near(down, bisshopp_drucker[i], 6e-4);
        bough_body_def def = bough_default_body_def();
        def.material.young = E, def.material.poisson = 0.3;
        bough_load_case *load_case;
        bough_body *body = clamped_body(ctx, mesh, &def, &load_case);
        int32_t *tip, count;
        const double force[3] = {0, 0, -loads[i] * EI / (L * L)};
        check_ok(ctx, bough_mesh_select(ctx, mesh, "x1", &tip, &count));
        check_ok(ctx, bough_load_case_add_force(ctx, load_case, tip, count, force));
        double *u = calloc(3 * (size_t)mesh->vertex_count, sizeof *u), mean[3] = {0};
        bough_static_result result;
        check_ok(ctx, bough_body_static(ctx, body, load_case, NULL, u, &result));
        for (int32_t k = 0; k < count; k++)
            for (int d = 0; d < 3; d++)
                mean[d] += u[3 * tip[k] + d] / count;
        printf("PL2/EI = %2.0f: down %.5f (elastica %.5f), back %.5f (%.5f), %d steps, %d iterations\n", loads[i],
               -mean[2], down, -mean[0], back, result.steps, result.iterations);
        check_near(-mean[2] / down, 1, 0.01);
        check_near(-mean[0] / back, 1, 0.01);
        free(u);
        bough_release(ctx, tip);
        bough_load_case_destroy(ctx, load_case);
        bough_body_destroy(ctx, body);
    }
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

/* ---- an independent implementation: a small tree of 648 tets ---- */

static bough_mesh *read_ytree(bough_context *ctx, int32_t **fixed, int32_t *fixed_count) {
    double vertices[252 * 3];
    int32_t tets[648 * 4];
    char line[256];
    int rows = 0;
    FILE *f = fopen(test_shared("reference/ytree/vertices.txt"), "r");
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "%lf %lf %lf", vertices + 3 * rows, vertices + 3 * rows + 1, vertices + 3 * rows + 2) == 3)
            rows++;
    fclose(f);
    check_int(rows, 252);
    rows = 0;
    f = fopen(test_shared("reference/ytree/tets.txt"), "r");
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "%d %d %d %d", tets + 4 * rows, tets + 4 * rows + 1, tets + 4 * rows + 2,
                   tets + 4 * rows + 3) == 4)
            rows++;
    fclose(f);
    check_int(rows, 648);
    *fixed = malloc(252 * sizeof **fixed);
    *fixed_count = 0;
    f = fopen(test_shared("reference/ytree/fixed_vertices.txt"), "r");
    while (fscanf(f, "%255s", line) == 1)
        if (line[0] >= '0' && line[0] <= '9' && *fixed_count < 252)
            (*fixed)[(*fixed_count)++] = atoi(line);
        else if (line[0] == '#' && !fgets(line, sizeof line, f))
            break;
    fclose(f);
    bough_mesh *mesh;
    check_ok(ctx, bough_mesh_create(ctx, BOUGH_TET4, 252, vertices, 648, tets, &mesh));
    return mesh;
}

static void reference_tree_is_reproduced(void **state) {
    (void)state;
    if (!test_shared("reference/ytree/freqs.json"))
        test_skip("the reference data ../shared is not there");
    bough_context *ctx = test_context(1);
    int32_t *fixed, fixed_count;
    bough_mesh *mesh = read_ytree(ctx, &fixed, &fixed_count);
    json_t *reference = json_load_file(test_shared("reference/ytree/freqs.json"), 0, NULL);
    check(reference != NULL);
    for (int lumped = 0; lumped < 2; lumped++) {
        bough_body_def def = bough_default_body_def();
        def.material.young = 1e7, def.material.poisson = 0.4, def.material.density = 1000;
        def.mass = lumped ? BOUGH_MASS_LUMPED : BOUGH_MASS_CONSISTENT;
        bough_body *body;
        bough_modes *modes;
        check_ok(ctx, bough_body_create(ctx, mesh, &def, &body));
        bough_load_case *load_case;
        check_ok(ctx, bough_load_case_create(ctx, body, &load_case));
        check_ok(ctx, bough_load_case_fix(ctx, load_case, fixed, fixed_count, BOUGH_AXES, NULL));
        check_ok(ctx, bough_body_modes(ctx, body, load_case, 10, NULL, &modes));
        const json_t *list = json_object_get(reference, lumped ? "full_lumped" : "full_consistent");
        for (size_t k = 0; k < 10; k++)
            check_near(modes->frequencies_hz[k] / json_real_value(json_array_get(list, k)), 1, 1e-9);
        bough_modes_destroy(ctx, modes);
        if (!lumped) { /* sag under a slanted gravity */
            double *u = calloc(3 * 252, sizeof *u), worst = 0, size = 0;
            bough_static_result result;
            const double g[3] = {3, 1, -9.81};
            check_ok(ctx, bough_load_case_set_gravity(ctx, load_case, g));
            check_ok(ctx, bough_body_static(ctx, body, load_case, NULL, u, &result));
            FILE *f = fopen(test_shared("reference/ytree/ytree_static_full_u.csv"), "r");
            for (int v = 0; v < 252; v++) {
                double x[3];
                check_int(fscanf(f, "%lf,%lf,%lf", x, x + 1, x + 2), 3);
                for (int d = 0; d < 3; d++) {
                    worst = fmax(worst, fabs(u[3 * v + d] - x[d]));
                    size = fmax(size, fabs(x[d]));
                }
            }
            fclose(f);
            printf("sag: largest difference %.2e of %.3f m\n", worst, size);
            check_below(worst / size, 5e-9);
            free(u);
        }
        bough_load_case_destroy(ctx, load_case);
        bough_body_destroy(ctx, body);
    }
    json_decref(reference);
    free(fixed);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

/* ---- robustness of the statics ---- */

/* A soft beam under ten times its buckling-size weight still finds its (hanging) shape; the loads reached are
 * reported; a cancelled run keeps the last accepted step. */
static bool stop_after_two(void *user, double fraction, const double *u) {
    (void)fraction, (void)u;
    return ++*(int *)user < 2;
}

static void statics_can_be_cancelled_and_keeps_what_it_has(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *mesh = beam_mesh(ctx, BOUGH_TET4, 1, 0.1, 20, 2);
    bough_load_case *load_case;
    bough_body *body = clamped_body(ctx, mesh, NULL, &load_case);
    const double g[3] = {0, 0, -9.81};
    check_ok(ctx, bough_load_case_set_gravity(ctx, load_case, g));
    bough_static_def def = bough_default_static_def();
    int steps = 0;
    def.load_steps = 10, def.on_step = stop_after_two, def.on_step_user = &steps;
    double *u = calloc(3 * (size_t)mesh->vertex_count, sizeof *u);
    bough_static_result result;
    check_int(bough_body_static(ctx, body, load_case, &def, u, &result), BOUGH_CANCELLED);
    check(!result.converged && result.load_fraction > 0.15 && result.load_fraction < 0.35);
    check(result.max_displacement > 0);
    free(u);
    bough_load_case_destroy(ctx, load_case);
    bough_body_destroy(ctx, body);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

/* Pressed to half its height, every finite-strain material of the list finds equilibrium. */
static void strong_compression_converges(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    static const bough_material_model models[] = {BOUGH_MATERIAL_NEO_HOOKEAN, BOUGH_MATERIAL_STABLE_NEO_HOOKEAN,
                                                  BOUGH_MATERIAL_MOONEY_RIVLIN, BOUGH_MATERIAL_COROTATED};
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        bough_mesh *mesh = beam_mesh(ctx, BOUGH_HEX8, 1, 1, 4, 4);
        bough_body_def def = bough_default_body_def();
        def.material.model = models[m];
        bough_load_case *load_case;
        bough_body *body = clamped_body(ctx, mesh, &def, &load_case);
        int32_t *top, count;
        const double down[3] = {-0.5, 0, 0};
        check_ok(ctx, bough_mesh_select(ctx, mesh, "x1", &top, &count));
        check_ok(ctx, bough_load_case_fix(ctx, load_case, top, count, BOUGH_AXES, down));
        bough_release(ctx, top);
        double *u = calloc(3 * (size_t)mesh->vertex_count, sizeof *u);
        bough_static_result result;
        check_ok(ctx, bough_body_static(ctx, body, load_case, NULL, u, &result));
        printf("%-20s %d steps, %d iterations\n", bough_material_name(models[m]), result.steps, result.iterations);
        free(u);
        bough_load_case_destroy(ctx, load_case);
        bough_body_destroy(ctx, body);
        bough_mesh_destroy(ctx, mesh);
    }
    bough_context_destroy(ctx);
}

/* A thin-walled box under inner pressure grows; Newton with the pressure's tangent converges quickly. */
static void pressure_inflates(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *mesh = beam_mesh(ctx, BOUGH_TET10, 1, 0.2, 8, 1);
    bough_body_def def = bough_default_body_def();
    bough_load_case *load_case;
    bough_body *body = clamped_body(ctx, mesh, &def, &load_case);
    const bough_set *top = bough_mesh_find_set(mesh, BOUGH_SET_FACE, "z1");
    check_ok(ctx, bough_load_case_add_pressure(ctx, load_case, top->items, top->count, 3000));
    double *u = calloc(3 * (size_t)mesh->vertex_count, sizeof *u);
    bough_static_result result;
    check_ok(ctx, bough_body_static(ctx, body, load_case, NULL, u, &result));
    /* w L^4 / 8 EI with w = p b: the small-deflection value is 0.5625 m; a follower load curls more than a dead one
     * but geometry stiffens. */
    printf("follower pressure: %.4f m, %d steps, %d iterations\n", result.max_displacement, result.steps,
           result.iterations);
    check(result.max_displacement > 0.3 && result.max_displacement < 0.8);
    free(u);
    bough_load_case_destroy(ctx, load_case);
    bough_body_destroy(ctx, body);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bending_frequencies_follow_timoshenko),
        cmocka_unit_test(linear_elements_converge_monotonically),
        cmocka_unit_test(free_bodies_have_six_rigid_modes),
        cmocka_unit_test(modes_satisfy_their_equation),
        cmocka_unit_test(slender_cantilevers_bend_like_the_elastica),
        cmocka_unit_test(reference_tree_is_reproduced),
        cmocka_unit_test(statics_can_be_cancelled_and_keeps_what_it_has),
        cmocka_unit_test(strong_compression_converges),
        cmocka_unit_test(pressure_inflates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
