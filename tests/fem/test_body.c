/* Facts about any correct body: patch test, rigid motions, mass, loads in balance, the same bits for any thread
 * count. */
#include "random_element.h"

#include "fem/body.h"

static bough_mesh *make_box(bough_context *ctx, bough_element_type type, int32_t cells, bool distort) {
    bough_box_def def = bough_default_box_def();
    def.type = type;
    def.size[0] = 2, def.size[1] = 1, def.size[2] = 0.5;
    def.cells[0] = 2 * cells, def.cells[1] = cells, def.cells[2] = cells;
    bough_mesh *mesh;
    check_ok(ctx, bough_mesh_generate_box(ctx, &def, &mesh));
    if (!distort)
        return mesh;
    /* Inner vertices move, edge nodes with their ends, so that no two elements are alike and edges stay straight. */
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        double *x = mesh->vertices + 3 * v;
        double bump = sin(M_PI * x[0] / 2) * sin(M_PI * x[1]) * sin(M_PI * x[2] / 0.5);
        x[0] += 0.08 * bump, x[1] -= 0.05 * bump, x[2] += 0.04 * bump;
    }
    if (type == BOUGH_TET10)
        for (int32_t e = 0; e < mesh->element_count; e++) {
            static const int edges[6][2] = {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}};
            const int32_t *n = mesh->elements + 10 * e;
            for (int k = 0; k < 6; k++)
                for (int d = 0; d < 3; d++)
                    mesh->vertices[3 * n[4 + k] + d] =
                        0.5 * (mesh->vertices[3 * n[edges[k][0]] + d] + mesh->vertices[3 * n[edges[k][1]] + d]);
        }
    return mesh;
}

static bool on_boundary(const double *x) {
    return x[0] == 0 || x[0] == 2 || x[1] == 0 || x[1] == 1 || x[2] == 0 || x[2] == 0.5;
}

/* An affine motion of the boundary makes the whole body follow it, with constant stress. */
static void patch_test(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const double A[9] = {0.02, -0.03, 0.01, 0.04, 0.015, 0.02, -0.01, 0.03, -0.02};
    for (int model = 0; model < BOUGH_MATERIAL_MODEL_COUNT; model++)
        for (int type = BOUGH_TET4; type <= BOUGH_HEX8; type++) {
            bough_mesh *mesh = make_box(ctx, (bough_element_type)type, 2, true);
            bough_body_def def = bough_default_body_def();
            def.material.model = (bough_material_model)model;
            bough_body *body;
            check_ok(ctx, bough_body_create(ctx, mesh, &def, &body));
            bough_load_case *load_case;
            check_ok(ctx, bough_load_case_create(ctx, body, &load_case));
            int32_t n = mesh->vertex_count, inner = 0;
            double *u = calloc(3 * (size_t)n, sizeof *u), *exact = calloc(3 * (size_t)n, sizeof *exact);
            for (int32_t v = 0; v < n; v++) {
                for (int i = 0; i < 3; i++)
                    for (int j = 0; j < 3; j++)
                        exact[3 * v + i] += A[3 * i + j] * mesh->vertices[3 * v + j];
                if (on_boundary(mesh->vertices + 3 * v))
                    check_ok(ctx, bough_load_case_fix(ctx, load_case, &v, 1, BOUGH_AXES, exact + 3 * v));
                else
                    inner++;
            }
            check(inner > 0);
            bough_static_result result;
            check_ok(ctx, bough_body_static(ctx, body, load_case, NULL, u, &result));
            double worst = 0;
            for (int32_t i = 0; i < 3 * n; i++)
                worst = fmax(worst, fabs(u[i] - exact[i]));
            check_below(worst, 1e-12);
            double *stress = calloc(6 * (size_t)mesh->element_count, sizeof *stress);
            check_ok(ctx, bough_body_stress(ctx, body, u, stress, NULL));
            for (int32_t e = 1; e < mesh->element_count; e++)
                for (int k = 0; k < 6; k++)
                    check_near(stress[6 * e + k], stress[k], 1e-13 * def.material.young);
            free(stress);
            free(u);
            free(exact);
            bough_load_case_destroy(ctx, load_case);
            bough_body_destroy(ctx, body);
            bough_mesh_destroy(ctx, mesh);
        }
    bough_context_destroy(ctx);
}

/* Stress of an element of a body with the displacements u. */
static void stress_of(bough_context *ctx, bough_body *body, const double *u, int32_t element, double s[6]) {
    double *stress = calloc(6 * (size_t)bough_body_mesh(body)->element_count, sizeof *stress);
    check_ok(ctx, bough_body_stress(ctx, body, u, stress, NULL));
    memcpy(s, stress + 6 * element, 6 * sizeof *s);
    free(stress);
}

/* A brick that bends about its middle is neither strained nor sheared there, though it is everywhere else; pulled along
 * with it, it has the stress of the pull alone. */
static void a_brick_that_bends_has_the_stress_of_its_middle(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_box_def box = bough_default_box_def();
    bough_mesh *mesh;
    box.type = BOUGH_HEX8;
    for (int d = 0; d < 3; d++)
        box.origin[d] = -0.5, box.size[d] = 1, box.cells[d] = 1;
    check_ok(ctx, bough_mesh_generate_box(ctx, &box, &mesh));
    for (int model = 0; model < BOUGH_MATERIAL_MODEL_COUNT; model++) {
        bough_body_def def = bough_default_body_def();
        bough_body *body;
        double pulled[24] = {0}, bent[24], s[3][6];
        def.material.model = (bough_material_model)model;
        check_ok(ctx, bough_body_create(ctx, mesh, &def, &body));
        for (int v = 0; v < 8; v++) {
            const double *x = mesh->vertices + 3 * v;
            pulled[3 * v] = 0.1 * x[0];
            memcpy(bent + 3 * v, pulled + 3 * v, 3 * sizeof *bent);
            bent[3 * v] += 0.3 * x[0] * x[2];
        }
        stress_of(ctx, body, NULL, 0, s[0]);
        stress_of(ctx, body, pulled, 0, s[1]);
        stress_of(ctx, body, bent, 0, s[2]);
        check(s[1][0] > 0.05 * def.material.young);
        for (int k = 0; k < 6; k++) {
            check_near(s[0][k], 0, 1e-14 * def.material.young);
            check_near(s[2][k], s[1][k], 1e-15 * def.material.young);
        }
        bough_body_destroy(ctx, body);
    }
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

/* x -> R x after any deformation: sigma -> R sigma R^T, in elements within which F varies. */
static void stress_turns_with_the_body(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const bo_mat3 R = {{0.36, 0.48, -0.8, -0.8, 0.6, 0, 0.48, 0.64, 0.6}};
    for (int model = 0; model < BOUGH_MATERIAL_MODEL_COUNT; model++)
        for (int type = BOUGH_TET4; type <= BOUGH_HEX8; type++) {
            if (model == BOUGH_MATERIAL_LINEAR)
                continue;
            bough_mesh *mesh = make_box(ctx, (bough_element_type)type, 1, false);
            bough_body_def def = bough_default_body_def();
            bough_body *body;
            def.material.model = (bough_material_model)model;
            check_ok(ctx, bough_body_create(ctx, mesh, &def, &body));
            size_t n = 3 * (size_t)mesh->vertex_count;
            double *u = calloc(n, sizeof *u), *turned = calloc(n, sizeof *u), s[2][6];
            test_random random = {5};
            for (size_t i = 0; i < n; i++)
                u[i] = test_uniform(&random, -0.03, 0.03);
            for (size_t v = 0; v < n; v += 3) {
                const bo_vec3 X = bo_load3(mesh->vertices + v);
                bo_store3(turned + v, bo_sub(bo_mat_vec(R, bo_add(X, bo_load3(u + v))), X));
            }
            for (int32_t e = 0; e < mesh->element_count; e++) {
                stress_of(ctx, body, u, e, s[0]);
                stress_of(ctx, body, turned, e, s[1]);
                const bo_mat3 S = {{s[0][0], s[0][5], s[0][4], s[0][5], s[0][1], s[0][3], s[0][4], s[0][3], s[0][2]}};
                const bo_mat3 T = bo_mat_mul(bo_mat_mul(R, S), bo_transpose(R));
                const double expected[6] = {T.m[0], T.m[4], T.m[8], T.m[5], T.m[2], T.m[1]};
                for (int k = 0; k < 6; k++)
                    check_near(s[1][k], expected[k], 3e-13 * def.material.young);
            }
            free(u), free(turned);
            bough_body_destroy(ctx, body);
            bough_mesh_destroy(ctx, mesh);
        }
    bough_context_destroy(ctx);
}

/* Rotated by any angle and moved far away: no force, for all models but the linear one. */
static void rigid_motion_costs_nothing(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const double R[9] = {0.36, 0.48, -0.8, -0.8, 0.6, 0, 0.48, 0.64, 0.6};
    for (int model = 0; model < BOUGH_MATERIAL_MODEL_COUNT; model++)
        for (int type = BOUGH_TET4; type <= BOUGH_HEX8; type++) {
            if (model == BOUGH_MATERIAL_LINEAR)
                continue;
            bough_mesh *mesh = make_box(ctx, (bough_element_type)type, 2, true);
            bough_body_def def = bough_default_body_def();
            def.material.model = (bough_material_model)model;
            bough_body *body;
            check_ok(ctx, bough_body_create(ctx, mesh, &def, &body));
            size_t n = (size_t)mesh->vertex_count;
            double *u = calloc(3 * n, sizeof *u), *f = calloc(3 * n, sizeof *f), energy, worst = 0;
            for (size_t v = 0; v < n; v++)
                for (size_t i = 0; i < 3; i++) {
                    u[3 * v + i] = (double)i - mesh->vertices[3 * v + i];
                    for (size_t j = 0; j < 3; j++)
                        u[3 * v + i] += R[3 * i + j] * mesh->vertices[3 * v + j];
                }
            check_ok(ctx, bough_body_evaluate(ctx, body, u, false, &energy, f, NULL));
            for (size_t i = 0; i < 3 * n; i++)
                worst = fmax(worst, fabs(f[i]));
            /* relative to the force of a strain of one: E times a unit area */
            check_below(worst / def.material.young, 1e-12);
            check_below(fabs(energy) / def.material.young, 1e-12);
            free(u);
            free(f);
            bough_body_destroy(ctx, body);
            bough_mesh_destroy(ctx, mesh);
        }
    bough_context_destroy(ctx);
}

static void box_inertia_is_exact(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int type = BOUGH_TET4; type <= BOUGH_HEX8; type++) {
        bough_mesh *mesh = make_box(ctx, (bough_element_type)type, 2, true);
        bough_body *body;
        bough_body_properties p;
        check_ok(ctx, bough_body_create(ctx, mesh, NULL, &body));
        check_ok(ctx, bough_body_measure(ctx, body, &p));
        const double a = 2, b = 1, c = 0.5, m = 1000 * a * b * c;
        const double inertia[9] = {m / 12 * (b * b + c * c), 0, 0, 0, m / 12 * (a * a + c * c), 0, 0, 0,
                                   m / 12 * (a * a + b * b)};
        check_near(p.mass / m, 1, 1e-12);
        check_near(p.centre[0], a / 2, 1e-12);
        check_near(p.centre[1], b / 2, 1e-12);
        check_near(p.centre[2], c / 2, 1e-12);
        for (int i = 0; i < 9; i++)
            check_near(p.inertia[i] / m, inertia[i] / m, 1e-12);
        bough_body_destroy(ctx, body);
        bough_mesh_destroy(ctx, mesh);
    }
    bough_context_destroy(ctx);
}

/* Every mass kind carries the same total; lumped masses are diagonal and positive. */
static void mass_kinds_agree_on_the_total(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int type = BOUGH_TET4; type <= BOUGH_HEX8; type++)
        for (int kind = BOUGH_MASS_CONSISTENT; kind <= BOUGH_MASS_LUMPED; kind++) {
            bough_mesh *mesh = make_box(ctx, (bough_element_type)type, 2, false);
            bough_body_def def = bough_default_body_def();
            def.mass = (bough_mass_kind)kind;
            bough_body *body;
            bough_sparse *M;
            check_ok(ctx, bough_body_create(ctx, mesh, &def, &body));
            check_ok(ctx, bough_body_matrix_create(ctx, body, &M));
            check_ok(ctx, bough_body_mass_matrix(ctx, body, M));
            double total = 0;
            for (int32_t j = 0; j < M->size; j++)
                for (int32_t k = M->column_start[j]; k < M->column_start[j + 1]; k++) {
                    bool diagonal = M->rows[k] == j;
                    if (M->rows[k] % 3 == j % 3)
                        total += (diagonal ? 1 : 2) * M->values[k];
                    else
                        check(M->values[k] == 0);
                    if (kind == BOUGH_MASS_LUMPED)
                        check(diagonal ? M->values[k] > 0 : M->values[k] == 0);
                }
            check_near(total, 3 * 1000.0, 1e-9);
            bough_sparse_destroy(ctx, M);
            bough_body_destroy(ctx, body);
            bough_mesh_destroy(ctx, mesh);
        }
    bough_context_destroy(ctx);
}

/* Gravity weighs m g; a force shared over a face stays in balance about the face's centre; pressure all around
 * cancels and its work is p dV. */
static void loads_add_up(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int type = BOUGH_TET4; type <= BOUGH_HEX8; type++) {
        bough_mesh *mesh = make_box(ctx, (bough_element_type)type, 2, true);
        bough_body *body;
        check_ok(ctx, bough_body_create(ctx, mesh, NULL, &body));
        bough_load_case *load_case;
        check_ok(ctx, bough_load_case_create(ctx, body, &load_case));
        size_t n = (size_t)mesh->vertex_count;
        double *f = calloc(3 * n, sizeof *f), *u = calloc(3 * n, sizeof *u);
        const double g[3] = {0, 0, -9.81}, force[3] = {1, 2, 3};
        check_ok(ctx, bough_load_case_set_gravity(ctx, load_case, g));
        bough_load_case_forces(load_case, NULL, f);
        double weight = 0;
        for (size_t v = 0; v < n; v++)
            weight += f[3 * v + 2];
        check_near(weight, -9810, 1e-8);

        bough_load_case_destroy(ctx, load_case);
        check_ok(ctx, bough_load_case_create(ctx, body, &load_case));
        int32_t *face, count;
        check_ok(ctx, bough_mesh_select(ctx, mesh, "x1", &face, &count));
        check_ok(ctx, bough_load_case_add_force(ctx, load_case, face, count, force));
        bough_release(ctx, face);
        bough_load_case_forces(load_case, NULL, f);
        double sum[3] = {0}, moment_y = 0, moment_z = 0;
        for (size_t v = 0; v < n; v++)
            for (size_t d = 0; d < 3; d++) {
                sum[d] += f[3 * v + d];
                if (d == 0) {
                    moment_y += f[3 * v] * (mesh->vertices[3 * v + 2] - 0.25);
                    moment_z += f[3 * v] * (mesh->vertices[3 * v + 1] - 0.5);
                }
            }
        for (int d = 0; d < 3; d++)
            check_near(sum[d], force[d], 1e-12);
        check_near(moment_y, 0, 1e-12);
        check_near(moment_z, 0, 1e-12);

        bough_load_case_destroy(ctx, load_case);
        check_ok(ctx, bough_load_case_create(ctx, body, &load_case));
        static const char *const sides[] = {"x0", "x1", "y0", "y1", "z0", "z1"};
        for (int s = 0; s < 6; s++) {
            const bough_set *set = bough_mesh_find_set(mesh, BOUGH_SET_FACE, sides[s]);
            check(set != NULL);
            check_ok(ctx, bough_load_case_add_pressure(ctx, load_case, set->items, set->count, 7));
        }
        test_random r = {5};
        for (size_t i = 0; i < 3 * n; i++)
            u[i] =
                0.2 * mesh->vertices[i] + 0.01 * sin(3 * mesh->vertices[i / 3 * 3]) + 0.001 * test_uniform(&r, -1, 1);
        bough_load_case_forces(load_case, u, f);
        double total[3] = {0};
        for (size_t i = 0; i < 3 * n; i++)
            total[i % 3] += f[i];
        for (int d = 0; d < 3; d++)
            check_near(total[d], 0, 1e-12);
        /* At rest the virtual work of growing by 1 + e is -p dV = -p 3 e V. */
        bough_load_case_forces(load_case, NULL, f);
        double work = 0;
        for (size_t i = 0; i < 3 * n; i++)
            work += f[i] * mesh->vertices[i];
        check_near(work, -7 * 3 * 1.0, 1e-10);
        free(f);
        free(u);
        bough_load_case_destroy(ctx, load_case);
        bough_body_destroy(ctx, body);
        bough_mesh_destroy(ctx, mesh);
    }
    bough_context_destroy(ctx);
}

/* The pressure tangent is the symmetric part of the force's derivative; around a closed surface it is all of it. */
static void pressure_tangent_is_a_derivative(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int type = BOUGH_TET4; type <= BOUGH_HEX8; type++) {
        bough_mesh *mesh = make_box(ctx, (bough_element_type)type, 1, false);
        bough_body *body;
        bough_sparse *K;
        check_ok(ctx, bough_body_create(ctx, mesh, NULL, &body));
        bough_load_case *load_case;
        check_ok(ctx, bough_load_case_create(ctx, body, &load_case));
        check_ok(ctx, bough_body_matrix_create(ctx, body, &K));
        static const char *const sides[] = {"x0", "x1", "y0", "y1", "z0", "z1"};
        for (int s = 0; s < 6; s++) {
            const bough_set *set = bough_mesh_find_set(mesh, BOUGH_SET_FACE, sides[s]);
            check_ok(ctx, bough_load_case_add_pressure(ctx, load_case, set->items, set->count, 3));
        }
        size_t n = 3 * (size_t)mesh->vertex_count;
        double *u = calloc(n, sizeof *u), *d = calloc(n, sizeof *d), *f1 = calloc(n, sizeof *f1),
               *f2 = calloc(n, sizeof *f2), *Kd = calloc(n, sizeof *Kd);
        test_random r = {9};
        for (size_t i = 0; i < n; i++)
            u[i] = test_uniform(&r, -0.05, 0.05), d[i] = test_uniform(&r, -1, 1);
        bo_body_pressure_tangent(body, load_case->pressure_count, load_case->pressure, u, 1, K);
        bo_sparse_mul(K, d, Kd, false);
        const double h = 1e-5;
        for (size_t i = 0; i < n; i++)
            u[i] += h * d[i];
        bough_load_case_forces(load_case, u, f2);
        for (size_t i = 0; i < n; i++)
            u[i] -= 2 * h * d[i];
        bough_load_case_forces(load_case, u, f1);
        double error = 0, size = 0;
        for (size_t i = 0; i < n; i++) {
            error = fmax(error, fabs((f2[i] - f1[i]) / (2 * h) + Kd[i]));
            size = fmax(size, fabs(Kd[i]));
        }
        check_below(error / size, 1e-8);
        free(u), free(d), free(f1), free(f2), free(Kd);
        bough_sparse_destroy(ctx, K);
        bough_load_case_destroy(ctx, load_case);
        bough_body_destroy(ctx, body);
        bough_mesh_destroy(ctx, mesh);
    }
    bough_context_destroy(ctx);
}

static void assembly_has_the_same_bits_for_any_thread_count(void **state) {
    (void)state;
    for (int type = BOUGH_TET4; type <= BOUGH_HEX8; type++) {
        double *reference = NULL, *force0 = NULL, energy0 = 0;
        for (int32_t threads = 1; threads <= 4; threads++) {
            bough_context *ctx = test_context(threads);
            bough_mesh *mesh = make_box(ctx, (bough_element_type)type, 6, true);
            bough_body *body;
            bough_sparse *K;
            check_ok(ctx, bough_body_create(ctx, mesh, NULL, &body));
            check_ok(ctx, bough_body_matrix_create(ctx, body, &K));
            size_t n = 3 * (size_t)mesh->vertex_count, entries = (size_t)K->column_start[K->size];
            double *u = calloc(n, sizeof *u), *f = calloc(n, sizeof *f), energy;
            for (size_t i = 0; i < n; i++)
                u[i] = 0.05 * sin((double)i);
            check_ok(ctx, bough_body_evaluate(ctx, body, u, false, &energy, f, K));
            if (threads == 1) {
                reference = malloc(entries * sizeof *reference);
                force0 = malloc(n * sizeof *force0);
                memcpy(reference, K->values, entries * sizeof *reference);
                memcpy(force0, f, n * sizeof *f);
                energy0 = energy;
            } else {
                check(memcmp(reference, K->values, entries * sizeof *reference) == 0);
                check(memcmp(force0, f, n * sizeof *f) == 0);
                check(energy == energy0);
            }
            free(u);
            free(f);
            bough_sparse_destroy(ctx, K);
            bough_body_destroy(ctx, body);
            bough_mesh_destroy(ctx, mesh);
            bough_context_destroy(ctx);
        }
        free(reference);
        free(force0);
    }
}

static void materials_follow_element_sets(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *mesh = make_box(ctx, BOUGH_HEX8, 1, false); /* two cubes side by side */
    const int32_t left = 0, right = 1;
    check_ok(ctx, bough_mesh_add_set(ctx, mesh, BOUGH_SET_ELEMENT, "left", &left, 1));
    check_ok(ctx, bough_mesh_add_set(ctx, mesh, BOUGH_SET_ELEMENT, "right", &right, 1));
    check_ok(ctx, bough_mesh_add_material(ctx, mesh, "from file", 2e6, 0.3, 500, "left"));
    bough_body_region region = {"right", bough_default_material()};
    region.material.density = 3000;
    bough_body_def def = bough_default_body_def();
    def.region_count = 1, def.regions = &region;
    bough_body *body;
    bough_body_properties p;
    check_ok(ctx, bough_body_create(ctx, mesh, &def, &body));
    check_ok(ctx, bough_body_measure(ctx, body, &p));
    check_near(p.mass, 0.5 * 500 + 0.5 * 3000, 1e-9);
    bough_body_destroy(ctx, body);
    region.set = "middle";
    check_fails(ctx, bough_body_create(ctx, mesh, &def, &body), BOUGH_ERROR_ARGUMENT, "middle");
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

static void wrong_arguments_are_explained(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *mesh = make_box(ctx, BOUGH_TET4, 1, false);
    bough_body *body;
    bough_body_def def = bough_default_body_def();
    def.material.poisson = 0.5;
    check_fails(ctx, bough_body_create(ctx, mesh, &def, &body), BOUGH_ERROR_ARGUMENT, "Poisson");
    def = (bough_body_def){0};
    check_fails(ctx, bough_body_create(ctx, mesh, &def, &body), BOUGH_ERROR_ARGUMENT, "bough_default_body_def");
    check_ok(ctx, bough_body_create(ctx, mesh, NULL, &body));
    bough_load_case *load_case;
    check_ok(ctx, bough_load_case_create(ctx, body, &load_case));
    int32_t wrong = mesh->vertex_count;
    check_fails(ctx, bough_load_case_fix(ctx, load_case, &wrong, 1, BOUGH_AXES, NULL), BOUGH_ERROR_ARGUMENT,
                "does not exist");
    double *u = calloc(3 * (size_t)mesh->vertex_count, sizeof *u);
    const double g[3] = {0, 0, -9.81}, bad[3] = {NAN, 0, 0};
    check_fails(ctx, bough_load_case_set_gravity(ctx, load_case, bad), BOUGH_NOT_FINITE, "gravity");
    const int32_t face = 0, beyond = 1 << 30;
    check_fails(ctx, bough_load_case_add_pressure(ctx, load_case, &beyond, 1, 1), BOUGH_ERROR_ARGUMENT,
                "does not exist");
    check_fails(ctx, bough_load_case_add_pressure(ctx, load_case, &face, 1, NAN), BOUGH_ERROR_ARGUMENT, "finite value");
    check_fails(ctx, bough_load_case_add_pressure(ctx, load_case, &face, 0, 1), BOUGH_ERROR_ARGUMENT,
                "at least one face");
    check_ok(ctx, bough_load_case_set_gravity(ctx, load_case, g));
    bough_static_result result;
    check_fails(ctx, bough_body_static(ctx, body, load_case, NULL, u, &result), BOUGH_ERROR_SINGULAR,
                "fix more vertices");
    bough_material_model model;
    check_fails(ctx, bough_material_find(ctx, "neohookean", &model), BOUGH_ERROR_ARGUMENT,
                "did you mean \"neo-hookean\"");
    free(u);
    bough_load_case_destroy(ctx, load_case);
    bough_body_destroy(ctx, body);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

static void failed_allocations_leak_nothing(void **state) {
    (void)state;
    bool worked = false;
    for (long fail_at = 1; !worked; fail_at++) {
        test_memory memory = {.fail_at = -1};
        bough_context *ctx = test_counting_context(&memory);
        bough_mesh *mesh = make_box(ctx, BOUGH_TET4, 1, false);
        memory.fail_at = memory.calls + fail_at - 1;
        bough_body *body;
        bough_load_case *load_case = NULL;
        bough_modes *modes = NULL;
        double u[200] = {0};
        int32_t vertices[4] = {0, 1, 2, 3};
        bough_static_result result;
        bough_status status = bough_body_create(ctx, mesh, NULL, &body);
        if (status == BOUGH_OK)
            status = bough_load_case_create(ctx, body, &load_case);
        if (status == BOUGH_OK)
            status = bough_load_case_fix(ctx, load_case, vertices, 4, BOUGH_AXES, NULL);
        if (status == BOUGH_OK)
            status = bough_body_static(ctx, body, load_case, NULL, u, &result);
        if (status == BOUGH_OK)
            status = bough_body_modes(ctx, body, load_case, 2, NULL, &modes);
        check(status == BOUGH_OK || status == BOUGH_ERROR_MEMORY);
        worked = status == BOUGH_OK;
        bough_modes_destroy(ctx, modes);
        bough_load_case_destroy(ctx, load_case);
        bough_body_destroy(ctx, body);
        bough_mesh_destroy(ctx, mesh);
        bough_context_destroy(ctx);
        check_int(memory.live, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patch_test),
        cmocka_unit_test(a_brick_that_bends_has_the_stress_of_its_middle),
        cmocka_unit_test(stress_turns_with_the_body),
        cmocka_unit_test(rigid_motion_costs_nothing),
        cmocka_unit_test(box_inertia_is_exact),
        cmocka_unit_test(mass_kinds_agree_on_the_total),
        cmocka_unit_test(loads_add_up),
        cmocka_unit_test(pressure_tangent_is_a_derivative),
        cmocka_unit_test(assembly_has_the_same_bits_for_any_thread_count),
        cmocka_unit_test(materials_follow_element_sets),
        cmocka_unit_test(wrong_arguments_are_explained),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
