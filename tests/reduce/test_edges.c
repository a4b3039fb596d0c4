/* Rare requests to cooking: odd loads, supports, interfaces, counts. */
#include "cooked.h"

static bough_inertia point_mass(double mass, double x) {
    return (bough_inertia){
        .mass = mass, .moment = {mass * x, 0, 0}, .inertia = {0, 0, 0, 0, mass * x * x, 0, 0, 0, mass * x * x}};
}

static void check_refused(kitchen *k, const char *why) {
    k->def.interfaces = k->ends.interfaces;
    check_fails(k->ctx, bough_cook(k->ctx, k->body, k->load_case, &k->def, NULL, &k->c), BOUGH_ERROR_ARGUMENT, why);
}

/* In any unit; what is no inertia is refused before it spoils the modes. */
static void loads_are_those_of_rigid_masses(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    kitchen k = open_kitchen(ctx, default_bar(), 4);
    bough_interface_def *end = &k.ends.interfaces[1];
    end->has_load = true;
    const bough_inertia wrong[] = {
        {.mass = -1},
        {.mass = 1, .moment = {5, 0, 0}},                                         /* no inertia about the centre */
        {.mass = 1, .moment = {5, 0, 0}, .inertia = {1, 0, 0, 0, 1, 0, 0, 0, 1}}, /* too little */
        {.mass = 1, .inertia = {-50, 0, 0, 0, 100, 0, 0, 0, 100}},                /* negative about x */
        {.mass = 1, .inertia = {1, 0.1, 0, 0, 1, 0, 0, 0, 1}},                    /* not symmetric */
        {.mass = 0, .moment = {1e-9, 0, 0}, .inertia = {1e3, 0, 0, 0, 1e3, 0, 0, 0, 1e3}}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        end->load = wrong[i];
        check_refused(&k, "no rigid mass");
    }
    const bough_inertia right[] = {{0},
                                   point_mass(0.3, 1.7),
                                   point_mass(1e-9, 1e-4),
                                   {.mass = 1, .inertia = {1e-12, 1e-17, 0, 1.2e-17, 1, 0, 0, 0, 1}}}; /* thin rod */
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        end->load = right[i];
        cook_in(&k);
        bough_component_destroy(ctx, k.c);
        k.c = NULL;
    }
    close_kitchen(&k);
    bough_context_destroy(ctx);
}

static void counts_out_of_range_are_refused(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    kitchen k = open_kitchen(ctx, default_bar(), 4);
    int32_t *const counts[] = {&k.def.interface_count, &k.def.mode_count,           &k.def.snapshot_count,
                               &k.def.column_count,    &k.def.wind_count,           &k.def.contact_count,
                               &k.def.stress_count,    &k.def.stress_element_count, &k.def.field_count,
                               &k.def.cubature_most,   &k.def.training_count};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        const int32_t kept = *counts[i];
        *counts[i] = -1;
        check_refused(&k, "negative count");
        *counts[i] = kept;
    }
    k.def.r = BOUGH_MAX_COORDINATES + 1;
    check_refused(&k, "0 to 512 coordinates");
    k.def.r = 4;
    k.def.field_count = BOUGH_MAX_FIELD_POINTS + 1;
    check_refused(&k, "at most 1024 points, not 1025");
    k.def.field_count = BOUGH_MAX_FIELD_POINTS;
    cook_in(&k);
    check(k.c->field.count > 0);
    close_kitchen(&k);
    bough_context_destroy(ctx);
}

/* Columns that are kept exactly show most of the candidates, and the error is that of all of them. */
static void errors_count_what_is_kept(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    kitchen k = open_kitchen(ctx, default_bar(), 12);
    double error[2];
    k.def.basis = BOUGH_BASIS_ATTACHMENT | BOUGH_BASIS_MODES, k.def.mode_count = 12;
    for (int keep = 0; keep < 2; keep++) {
        k.def.keep_boundary = keep;
        cook_in(&k);
        check_int(k.c->r, 12);
        error[keep] = k.c->quality.basis_error;
        check_near(k.c->quality.energy_captured, 1 - error[keep] * error[keep], 1e-12);
        bough_component_destroy(ctx, k.c);
    }
    check(error[0] > 0 && error[0] <= error[1]);
    check_below(error[1], 3 * error[0]);
    k.def.r = 6; /* no room for more than what is kept */
    cook_in(&k);
    check(k.c->quality.basis_error > error[1]);
    error[0] = k.c->quality.basis_error;
    bough_component_destroy(ctx, k.c);
    k.def.r = 12, k.def.tolerance = 2 * error[0]; /* that alone is good enough */
    cook_in(&k);
    check_int(k.c->r, 6);
    check_near(k.c->quality.basis_error, error[0], 1e-9);
    bough_component_destroy(ctx, k.c);
    k.def.tolerance = 0.9 * error[0];
    cook_in(&k);
    check(k.c->r > 6);
    check_below(k.c->quality.basis_error, k.def.tolerance);
    close_kitchen(&k);
    bough_context_destroy(ctx);
}

/* Forces and motions of vertices that are held move nothing; what is left of the basis serves. */
static void held_interfaces_bring_nothing(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const uint32_t kinds[] = {BOUGH_BASIS_ATTACHMENT, BOUGH_BASIS_CONSTRAINT};
    for (int i = 0; i < 2; i++) {
        kitchen k = open_kitchen(ctx, default_bar(), 9);
        k.ends.interfaces[1].vertices = k.ends.vertices[0];
        k.ends.interfaces[1].vertex_count = k.ends.interfaces[0].vertex_count;
        k.def.basis = kinds[i] | BOUGH_BASIS_MODES | BOUGH_BASIS_DERIVATIVES;
        k.def.mode_count = 4, k.def.keep_boundary = true;
        cook_in(&k);
        check_int(k.c->r, 9);
        check(isfinite(k.c->quality.basis_error));
        bough_component_destroy(ctx, k.c);
        k.c = NULL;
        k.def.basis = kinds[i];
        check_refused(&k, "the basis is empty");
        close_kitchen(&k);
    }
    bough_context_destroy(ctx);
}

/* If interfaces take all vertices nothing is left to vibrate between them. */
static void craig_bampton_takes_what_modes_there_are(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    kitchen k = open_kitchen(ctx, default_bar(), 6);
    int32_t count = bough_body_mesh(k.body)->vertex_count, *all = calloc((size_t)count, sizeof *all);
    for (int32_t i = 0; i < count; i++)
        all[i] = i;
    k.ends.interfaces[1].vertices = all, k.ends.interfaces[1].vertex_count = count;
    k.def.basis = BOUGH_BASIS_CONSTRAINT | BOUGH_BASIS_MODES;
    cook_in(&k);
    check_int(k.c->r, 6);
    free(all);
    close_kitchen(&k);
    bough_context_destroy(ctx);
}

/* Given columns are kept whatever their length, also where a vertex is in no element. */
static void columns_may_have_any_length(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    kitchen k = open_kitchen(ctx, default_bar(), 5);
    const bough_mesh *mesh = bough_body_mesh(k.body);
    size_t n = 3 * (size_t)mesh->vertex_count;
    double *column = calloc(n, sizeof *column);
    k.def.basis = BOUGH_BASIS_COLUMNS | BOUGH_BASIS_MODES, k.def.columns = column, k.def.column_count = 1;
    const double lengths[] = {1e-14, 1, 1e9};
    for (int i = 0; i < 3; i++) {
        for (size_t v = 0; v < n / 3; v++) /* held at x0 but for rounding */
            column[3 * v + 2] = lengths[i] * (pow(mesh->vertices[3 * v], 3) + 1e-13);
        cook_in(&k);
        check_below(left_out(ctx, k.body, k.c, column), 1e-9);
        bough_component_destroy(ctx, k.c);
        k.c = NULL;
        column[3 * (size_t)k.ends.vertices[0][1]] = 1e-3 * lengths[i];
        check_refused(&k, "where the component is held");
        column[3 * (size_t)k.ends.vertices[0][1]] = 0;
    }
    free(column);
    close_kitchen(&k);
    bough_context_destroy(ctx);
}

static void counts_are_possible(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    kitchen k = open_kitchen(ctx, default_bar(), 5);
    const double none = 0;
    k.def.basis = BOUGH_BASIS_SNAPSHOTS, k.def.snapshots = &none;
    check_refused(&k, "but has none");
    k.def.basis = BOUGH_BASIS_COLUMNS, k.def.columns = &none;
    check_refused(&k, "but has none");
    k.def.basis = 0, k.def.mode_count = INT32_MAX;
    check_refused(&k, "too many to choose a basis from");
    k.def.mode_count = 0, k.def.elastic = BOUGH_REDUCED_CUBATURE, k.def.training_count = INT32_MAX;
    check_refused(&k, "more equations than a cubature is fitted to");
    k.def = bar_cook_def(&k.ends, BOUGH_MAX_POLYNOMIAL_COORDINATES + 1);
    k.def.polynomial_most = 100, k.def.cubature_most = 50;
    cook_in(&k);
    check_int(k.c->elastic, BOUGH_REDUCED_CUBATURE);
    close_kitchen(&k);
    bough_context_destroy(ctx);
}

/* The distance that a free body flies in its snapshots does not matter for the basis. */
static void snapshots_of_flight_count_as_others(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    double error[2];
    for (int flies = 0; flies < 2; flies++) {
        kitchen k = open_kitchen(ctx, default_bar(), 6);
        const bough_mesh *mesh = bough_body_mesh(k.body);
        size_t n = 3 * (size_t)mesh->vertex_count;
        double *shots = calloc(4 * n, sizeof *shots);
        for (size_t i = 0; i < 4 * n; i++)
            shots[i] =
                0.01 * sin((double)(i / n + 2) * mesh->vertices[i % n - i % 3]) + (flies ? 100.0 * (double)(i % 3) : 0);
        k.def.parent = -1;
        k.def.basis = BOUGH_BASIS_SNAPSHOTS | BOUGH_BASIS_MODES, k.def.snapshots = shots, k.def.snapshot_count = 4;
        cook_in(&k);
        error[flies] = k.c->quality.basis_error;
        free(shots);
        close_kitchen(&k);
    }
    check_near(error[1], error[0], 3e-10 * error[0]);
    bough_context_destroy(ctx);
}

/* Columns that are almost the same still give a basis that is orthonormal to rounding. */
static void almost_dependent_columns_are_told_apart(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    kitchen k = open_kitchen(ctx, default_bar(), 2);
    const bough_mesh *mesh = bough_body_mesh(k.body);
    size_t n = 3 * (size_t)mesh->vertex_count;
    double *columns = calloc(2 * n, sizeof *columns);
    for (size_t v = 0; v < n / 3; v++) {
        double x = mesh->vertices[3 * v];
        columns[3 * v + 2] = columns[n + 3 * v + 2] = x * x;
        columns[n + 3 * v + 1] = 1e-7 * x * x * x;
    }
    k.def.basis = BOUGH_BASIS_COLUMNS, k.def.columns = columns, k.def.column_count = 2;
    cook_in(&k);
    check_int(k.c->r, 2);
    for (int32_t i = 0; i < 4; i++)
        check_near(k.c->W7[9 * i] + k.c->W7[9 * i + 4] + k.c->W7[9 * i + 8], i % 3 == 0, 1e-13);
    free(columns);
    close_kitchen(&k);
    bough_context_destroy(ctx);
}

static void given_weights_are_kept(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    kitchen k = open_kitchen(ctx, default_bar(), 2);
    bough_interface_def *end = &k.ends.interfaces[1];
    int32_t count = end->vertex_count, vertices[64];
    double weights[64], sum = 0;
    check(count <= 64);
    for (int32_t i = 0; i < count; i++) { /* not in the order of the mesh */
        vertices[i] = k.ends.vertices[1][count - 1 - i];
        sum += weights[i] = i + 1;
    }
    end->vertices = vertices, end->weights = weights;
    cook_in(&k);
    for (int32_t i = 0; i < count; i++) {
        check_int(k.c->interfaces[1].vertices[i], vertices[i]);
        check_near(k.c->interfaces[1].weights[i], weights[i] / sum, 1e-15);
    }
    close_kitchen(&k);
    bough_context_destroy(ctx);
}

/* A bar whose far half is another material, or with more vertices than elements use, or far from the axes. */
typedef struct {
    bool half, loose;
    double away; /* m */
    bough_material second;
} odd_bar;

static void cook_odd(bough_context *ctx, odd_bar odd, bough_component **c) {
    bough_box_def box = bough_default_box_def();
    memcpy(box.size, (double[3]){1, 0.2, 0.25}, sizeof box.size);
    memcpy(box.cells, (int32_t[3]){6, 2, 2}, sizeof box.cells);
    bough_mesh *mesh;
    check_ok(ctx, bough_mesh_generate_box(ctx, &box, &mesh));
    int32_t *half = calloc((size_t)mesh->element_count, sizeof *half), count = 0;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        double least = 1;
        for (int a = 0; a < 4; a++)
            least = fmin(least, mesh->vertices[3 * (size_t)mesh->elements[4 * e + a]]);
        if (least > 0.499)
            half[count++] = e;
    }
    for (int32_t i = 0; i < 3 * mesh->vertex_count; i++)
        mesh->vertices[i] += odd.away * (i % 3 - 1);
    bough_body_def def = bough_default_body_def();
    def.material.model = BOUGH_MATERIAL_STVK, def.material.young = 1e6;
    bough_body_region region = {"half", odd.second};
    if (odd.half) {
        check_ok(ctx, bough_mesh_add_set(ctx, mesh, BOUGH_SET_ELEMENT, "half", half, count));
        def.regions = &region, def.region_count = 1;
    }
    bough_mesh larger = *mesh; /* only looked at: bodies copy their mesh */
    larger.vertices = calloc(3 * (size_t)mesh->vertex_count + 6, sizeof *larger.vertices);
    memcpy(larger.vertices, mesh->vertices, 3 * (size_t)mesh->vertex_count * sizeof *larger.vertices);
    for (int32_t i = 0; i < 6; i++)
        larger.vertices[3 * mesh->vertex_count + i] = 0.1;
    larger.vertex_count += odd.loose ? 2 : 0;
    bough_body *body;
    check_ok(ctx, bough_body_create(ctx, &larger, &def, &body));
    bar_ends ends = find_ends(ctx, body);
    bough_cook_def cook_def = bar_cook_def(&ends, 8);
    check_ok(ctx, bough_cook(ctx, body, NULL, &cook_def, NULL, c));
    free(half), free(larger.vertices);
    free_ends(ctx, &ends);
    bough_body_destroy(ctx, body);
    bough_mesh_destroy(ctx, mesh);
}

/* Linear and stvk together are exact, whatever their densities. */
static void mixed_polynomials_are_exact(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_material second = bough_default_material();
    second.model = BOUGH_MATERIAL_LINEAR, second.young = 3e5;
    for (double density = 1; density < 1e7; density *= 1000) {
        second.density = density;
        bough_component *c;
        cook_odd(ctx, (odd_bar){.half = true, .second = second}, &c);
        check_int(c->elastic, BOUGH_REDUCED_POLYNOMIAL);
        check_below(c->quality.force_random, 1e-12);
        check_near(c->mass, 0.025 * (1000 + density), 1e-12 * c->mass);
        check_near(c->quality.reduced_hz[0], c->quality.full_hz[0], 1e-4 * c->quality.full_hz[0]);
        bough_component_destroy(ctx, c);
    }
    bough_context_destroy(ctx);
}

static void place_and_loose_vertices_change_nothing(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_component *plain, *c;
    cook_odd(ctx, (odd_bar){0}, &plain);
    for (int loose = 0; loose < 2; loose++) {
        cook_odd(ctx, (odd_bar){.loose = loose, .away = loose ? 0 : 1e6}, &c);
        for (int l = 0; l < 8; l++)
            check_near(c->K[9 * l], plain->K[9 * l], 1e-8 * plain->K[9 * l]);
        for (int i = 0; i < 9; i++)
            check_near(c->Sigma0[i], plain->Sigma0[i], 1e-7);
        check_near(c->quality.projection_impulse, plain->quality.projection_impulse, 1e-9);
        bough_component_destroy(ctx, c);
    }
    bough_component_destroy(ctx, plain);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_are_those_of_rigid_masses),
        cmocka_unit_test(counts_out_of_range_are_refused),
        cmocka_unit_test(errors_count_what_is_kept),
        cmocka_unit_test(held_interfaces_bring_nothing),
        cmocka_unit_test(craig_bampton_takes_what_modes_there_are),
        cmocka_unit_test(columns_may_have_any_length),
        cmocka_unit_test(almost_dependent_columns_are_told_apart),
        cmocka_unit_test(given_weights_are_kept),
        cmocka_unit_test(counts_are_possible),
        cmocka_unit_test(mixed_polynomials_are_exact),
        cmocka_unit_test(place_and_loose_vertices_change_nothing),
        cmocka_unit_test(snapshots_of_flight_count_as_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
