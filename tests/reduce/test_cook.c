/* Cooking as a whole: interfaces, supports, kinds of bases, elastic models, cancelling, memory, determinism. */
#include "cooked.h"

#include "base/context.h"

/* ---- facts about every component ---- */

static double mass_entry(const bough_component *c, int32_t l, int32_t p) {
    const double *W = c->W7 + 9 * ((size_t)l * (size_t)c->r + (size_t)p);
    return W[0] + W[4] + W[8];
}

static void check_orthonormal(const bough_component *c) {
    for (int32_t l = 0; l < c->r; l++)
        for (int32_t p = 0; p < c->r; p++) {
            check_near(mass_entry(c, l, p), l == p, 1e-12);
            if (l != p)
                check_near(c->K[l * c->r + p], 0, 2e-13 * c->K[(c->r - 1) * (c->r + 1)]);
        }
}

static void coordinates_are_orthonormal_modes(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int mass = 0; mass < 3; mass++) {
        bar_def bar = default_bar();
        bar.mass = (bough_mass_kind)mass;
        kitchen k = open_kitchen(ctx, bar, 12);
        cook_in(&k);
        check_orthonormal(k.c);
        check_near(k.c->mass, 1000 * 0.2 * 0.25, 1e-9);
        check_near(k.c->mc0[0], k.c->mass * 0.5, 1e-9); /* from the middle of the end x0 */
        check_near(k.c->mc0[1], 0, 1e-9);
        for (int32_t v = 0; v < k.c->volume.vertex_count; v++)
            for (int32_t i = 0; i < 3 * 12 && k.c->volume.position[3 * v] < 1e-9; i++)
                check(k.c->volume.U[36 * v + i] == 0);
        close_kitchen(&k);
    }
    bough_context_destroy(ctx);
}

/* Reduced frequencies can only be too high, and the lowest are right. */
static void frequencies_come_from_above(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    kitchen k = open_kitchen(ctx, default_bar(), 20);
    cook_in(&k);
    check_int(k.c->quality.mode_count, 10);
    for (int32_t i = 0; i < 10; i++)
        check(k.c->quality.reduced_hz[i] >= k.c->quality.full_hz[i] * (1 - 1e-9));
    for (int32_t i = 0; i < 3; i++)
        check_near(k.c->quality.reduced_hz[i], k.c->quality.full_hz[i], 1e-3 * k.c->quality.full_hz[i]);
    close_kitchen(&k);
    bough_context_destroy(ctx);
}

/* ---- supports ---- */

static void free_components_have_mean_axes(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int loaded = 0; loaded < 2; loaded++) {
        kitchen k = open_kitchen(ctx, default_bar(), 12);
        k.def.parent = -1;
        k.ends.interfaces[1].has_load = loaded;
        k.ends.interfaces[1].load = (bough_inertia){.mass = 30, .inertia = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
        cook_in(&k);
        check_int(k.c->support, BOUGH_SUPPORT_FREE);
        check_orthonormal(k.c);
        for (int d = 0; d < 3; d++)
            check_near(k.c->mc0[d], 0, 1e-10);
        for (int32_t l = 0; l < 12; l++) { /* no momentum, no angular momentum in any coordinate */
            const double *W = k.c->W5 + 9 * l;
            for (int d = 0; d < 3; d++)
                check_near(k.c->s[3 * l + d], 0, 1e-11);
            check_near(W[7] - W[5], 0, 1e-11);
            check_near(W[2] - W[6], 0, 1e-11);
            check_near(W[3] - W[1], 0, 1e-11);
        }
        check(k.c->K[0] > 1); /* no rigid mode is left */
        close_kitchen(&k);
    }
    bough_context_destroy(ctx);
}

static void roots_hang_by_their_fixed_vertices(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    kitchen k = open_kitchen(ctx, default_bar(), 8);
    k.def.parent = -1;
    check_ok(ctx, bough_load_case_fix(ctx, k.load_case, k.ends.vertices[0], k.ends.interfaces[0].vertex_count,
                                      BOUGH_AXES, NULL));
    cook_in(&k);
    check_int(k.c->support, BOUGH_SUPPORT_FIXED);
    check_near(k.c->origin[0], 0, 1e-12);
    check_near(k.c->origin[1], 0.1, 1e-12);
    check_near(k.c->interfaces[1].centre[0], 1, 1e-12);
    close_kitchen(&k);
    bough_context_destroy(ctx);
}

static void rigid_components_have_no_coordinates(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    kitchen k = open_kitchen(ctx, default_bar(), 0);
    cook_in(&k);
    check_int(k.c->r, 0);
    check_int(k.c->elastic, BOUGH_REDUCED_RIGID);
    check_near(k.c->mass, 50, 1e-9);
    double centre[3], R[9];
    check(bough_component_interface_frame(k.c, 1, NULL, centre, R));
    check_near(R[0] + R[4] + R[8], 3, 1e-12);
    close_kitchen(&k);
    bough_context_destroy(ctx);
}

/* ---- interfaces ---- */

/* With the rigid motions of the end among the columns, its frame turns exactly as it does. */
static void frames_follow_rigid_motions_exactly(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    kitchen k = open_kitchen(ctx, default_bar(), 12);
    const bough_mesh *mesh = bough_body_mesh(k.body);
    size_t n = 3 * (size_t)mesh->vertex_count;
    double *columns = calloc(12 * n, sizeof *columns); /* all affine motions of the outer half */
    for (size_t v = 0; v < n / 3; v++) {
        const double *X = mesh->vertices + 3 * v;
        for (size_t c = 0; c < 12 && X[0] > 0.01; c++)
            columns[c * n + 3 * v + c % 3] = c < 3 ? 1 : X[c / 3 - 1];
    }
    k.def.basis = BOUGH_BASIS_COLUMNS, k.def.columns = columns, k.def.column_count = 12;
    cook_in(&k);
    check_int(k.c->r, 12);
    bough_sparse *M;
    check_ok(ctx, bough_body_matrix_create(ctx, k.body, &M));
    check_ok(ctx, bough_body_mass_matrix(ctx, k.body, M));
    for (double angle = 0.3; angle < 3.1; angle += 0.7) {
        double *u = calloc(2 * n, sizeof *u), *Mu = u + n, q[12], centre[3], R[9], c = cos(angle), s = sin(angle);
        for (size_t v = 0; v < n / 3; v++) { /* turned about an axis in the interface's plane */
            const double *X = mesh->vertices + 3 * v;
            if (X[0] > 0.01)
                u[3 * v] = c * X[0] + s * X[2] - X[0] + 0.1, u[3 * v + 2] = -s * X[0] + c * X[2] - X[2];
        }
        for (int32_t j = 0; j < M->size; j++)
            for (int32_t e = M->column_start[j]; e < M->column_start[j + 1]; e++) {
                Mu[M->rows[e]] += M->values[e] * u[j];
                if (M->rows[e] != j)
                    Mu[j] += M->values[e] * u[M->rows[e]];
            }
        project(k.c, Mu, q);
        check(bough_component_interface_frame(k.c, 1, q, centre, R));
        const double expected[9] = {c, 0, s, 0, 1, 0, -s, 0, c};
        for (int i = 0; i < 9; i++)
            check_near(R[i], expected[i], 1e-12);
        free(u);
    }
    bough_sparse_destroy(ctx, M);
    free(columns);
    close_kitchen(&k);
    bough_context_destroy(ctx);
}

static void weights_are_areas(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    static const bough_element_type types[] = {BOUGH_TET4, BOUGH_TET10, BOUGH_HEX8};
    for (int i = 0; i < 3; i++) {
        bar_def bar = default_bar();
        bar.type = types[i];
        kitchen k = open_kitchen(ctx, bar, 0);
        cook_in(&k);
        const bough_interface *face = &k.c->interfaces[1];
        /* any area weights give the centre; second moments are those of the rectangle but for the coarse mesh */
        check_near(face->centre[0], 1, 1e-12);
        check_near(face->centre[1], 0, 1e-12);
        check_near(face->centre[2], 0, 1e-12);
        check(face->radius > sqrt((0.2 * 0.2 + 0.25 * 0.25) / 12) && face->radius < 0.16);
        close_kitchen(&k);
    }
    bough_context_destroy(ctx);
}

static void thin_interfaces_are_refused(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    kitchen k = open_kitchen(ctx, default_bar(), 4);
    int32_t *edge, count;
    check_ok(ctx, bough_mesh_select(ctx, bough_body_mesh(k.body), "x1 & y0", &edge, &count));
    k.ends.interfaces[1].vertices = edge, k.ends.interfaces[1].vertex_count = count;
    k.def.interfaces = k.ends.interfaces;
    check_fails(ctx, bough_cook(ctx, k.body, k.load_case, &k.def, NULL, &k.c), BOUGH_ERROR_ARGUMENT, "on a line");
    k.ends.interfaces[1].vertex_count = 1;
    check_fails(ctx, bough_cook(ctx, k.body, k.load_case, &k.def, NULL, &k.c), BOUGH_ERROR_ARGUMENT, "in a point");
    bough_release(ctx, edge);
    close_kitchen(&k);
    bough_context_destroy(ctx);
}

/* ---- bases ---- */

/* An attachment mode is the exact small response to a force at its interface. */
static void attachment_modes_answer_exactly(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    kitchen k = open_kitchen(ctx, default_bar(), 8);
    k.def.basis = BOUGH_BASIS_ATTACHMENT | BOUGH_BASIS_MODES;
    k.def.mode_count = 4, k.def.keep_boundary = true;
    cook_in(&k);
    const bough_interface *face = &k.c->interfaces[1];
    double q[8], work = 0; /* unit force along z, shared out by the weights */
    for (int32_t l = 0; l < 8; l++) {
        q[l] = face->translation[3 * l + 2] / k.c->K[9 * l];
        work += face->translation[3 * l + 2] * q[l];
    }
    int32_t n = 3 * k.c->volume.vertex_count;
    double *u = calloc((size_t)n, sizeof *u), full = 0;
    check_ok(ctx, bough_load_case_fix(ctx, k.load_case, k.ends.vertices[0], k.ends.interfaces[0].vertex_count,
                                      BOUGH_AXES, NULL));
    for (int32_t i = 0; i < face->vertex_count; i++)
        check_ok(ctx, bough_load_case_add_force(ctx, k.load_case, &face->vertices[i], 1,
                                                (double[3]){0, 0, 1e-6 * face->weights[i]}));
    bough_static_def def = bough_default_static_def();
    bough_static_result result;
    def.tolerance = 1e-10;
    check_ok(ctx, bough_body_static(ctx, k.body, k.load_case, &def, u, &result));
    for (int32_t i = 0; i < face->vertex_count; i++)
        full += 1e6 * u[3 * face->vertices[i] + 2] * face->weights[i];
    check_near(work, full, 1e-6 * full);
    free(u);
    close_kitchen(&k);
    bough_context_destroy(ctx);
}

static void craig_bampton_shows_rigid_ends(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    kitchen k = open_kitchen(ctx, default_bar(), 10);
    k.def.basis = BOUGH_BASIS_CONSTRAINT | BOUGH_BASIS_MODES;
    k.def.mode_count = 4, k.def.keep_boundary = true;
    cook_in(&k);
    check_int(k.c->r, 10);
    check_orthonormal(k.c);
    /* the end moves rigidly in every coordinate, by six of them and by none of the rest */
    check_below(k.c->quality.interface_deviation, 0.2);
    check_int(k.c->quality.mode_count, 6); /* of the body with its end free, though the basis was made of others */
    for (int32_t i = 0; i < 6; i++)
        check(k.c->quality.reduced_hz[i] >= k.c->quality.full_hz[i] * (1 - 1e-9));
    close_kitchen(&k);
    bough_context_destroy(ctx);
}

static void snapshots_and_columns_are_reproduced(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    kitchen k = open_kitchen(ctx, default_bar(), 6);
    const bough_mesh *mesh = bough_body_mesh(k.body);
    size_t n = 3 * (size_t)mesh->vertex_count;
    double *shots = calloc(9 * n, sizeof *shots);
    test_random random = {5};
    for (size_t c = 0; c < 9; c++) { /* combinations of three smooth shapes */
        double a[3] = {test_uniform(&random, -1, 1), test_uniform(&random, -1, 1), test_uniform(&random, -1, 1)};
        for (size_t v = 0; v < n / 3; v++) {
            double x = mesh->vertices[3 * v];
            shots[c * n + 3 * v + 2] = a[0] * x * x, shots[c * n + 3 * v + 1] = a[1] * x * x * x;
            shots[c * n + 3 * v] = a[2] * x;
        }
    }
    k.def.basis = BOUGH_BASIS_SNAPSHOTS, k.def.snapshots = shots, k.def.snapshot_count = 9;
    cook_in(&k);
    check_int(k.c->r, 3); /* near-null directions are dropped */
    check_below(k.c->quality.basis_error, 1e-7);
    bough_component_destroy(ctx, k.c);
    k.def.basis = BOUGH_BASIS_COLUMNS | BOUGH_BASIS_MODES | BOUGH_BASIS_DERIVATIVES;
    k.def.columns = shots, k.def.column_count = 2, k.def.r = 8;
    cook_in(&k);
    check_int(k.c->r, 8);
    shots[3 * (size_t)k.ends.vertices[0][0]] = 0.1;
    bough_component_destroy(ctx, k.c);
    check_fails(ctx, bough_cook(ctx, k.body, k.load_case, &k.def, NULL, &k.c), BOUGH_ERROR_ARGUMENT,
                "where the component is held");
    free(shots);
    close_kitchen(&k);
    bough_context_destroy(ctx);
}

static void a_tolerance_chooses_r(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    int32_t before = 0;
    for (double tolerance = 0.1; tolerance > 1e-5; tolerance /= 10) {
        kitchen k = open_kitchen(ctx, default_bar(), 40);
        k.def.mode_count = 8, k.def.tolerance = tolerance;
        cook_in(&k);
        check_below(k.c->quality.basis_error, tolerance);
        check(k.c->r > before && k.c->r < 40);
        before = k.c->r;
        close_kitchen(&k);
    }
    bough_context_destroy(ctx);
}

static void modes_are_shared_out_by_size(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const int32_t elements[5] = {10, 100, 1000, 10000, 10000};
    int32_t r[5], sum = 0;
    for (int32_t total = 5; total < 200; total += 13) {
        check_ok(ctx, bough_share_modes(ctx, total, 5, elements, r));
        sum = 0;
        for (int i = 0; i < 5; i++) {
            sum += r[i];
            check(r[i] >= 1 && (i == 0 || r[i] >= r[i - 1] - (i == 4)));
        }
        check_int(sum, total);
    }
    check_fails(ctx, bough_share_modes(ctx, 3, 5, elements, r), BOUGH_ERROR_ARGUMENT, "3 coordinates");
    bough_context_destroy(ctx);
}

/* ---- elastic models ---- */

static void linear_bodies_become_linear_components(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bar_def bar = default_bar();
    bar.model = BOUGH_MATERIAL_LINEAR;
    kitchen k = open_kitchen(ctx, bar, 8);
    cook_in(&k);
    check_int(k.c->elastic, BOUGH_REDUCED_LINEAR);
    check_int(k.c->r, 8);
    check_below(k.c->quality.force_random, 1e-12);
    close_kitchen(&k);
    bough_context_destroy(ctx);
}

static void wrong_wishes_are_refused(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bar_def bar = default_bar();
    bar.model = BOUGH_MATERIAL_NEO_HOOKEAN;
    kitchen k = open_kitchen(ctx, bar, 6);
    k.def.interfaces = k.ends.interfaces;
    k.def.elastic = BOUGH_REDUCED_POLYNOMIAL;
    check_fails(ctx, bough_cook(ctx, k.body, k.load_case, &k.def, NULL, &k.c), BOUGH_ERROR_ARGUMENT, "use cubature");
    k.def.elastic = -1, k.def.r = 500;
    check_fails(ctx, bough_cook(ctx, k.body, k.load_case, &k.def, NULL, &k.c), BOUGH_ERROR_ARGUMENT, "unknowns");
    k.def.r = 6, k.def.parent = 7;
    check_fails(ctx, bough_cook(ctx, k.body, k.load_case, &k.def, NULL, &k.c), BOUGH_ERROR_ARGUMENT, "does not exist");
    k.def.parent = -1;
    check_ok(ctx, bough_load_case_fix(ctx, k.load_case, k.ends.vertices[0], 1, BOUGH_AXES, NULL));
    check_fails(ctx, bough_cook(ctx, k.body, k.load_case, &k.def, NULL, &k.c), BOUGH_ERROR_ARGUMENT, "rigid motions");
    k.def.interfaces = NULL;
    check_fails(ctx, bough_cook(ctx, k.body, k.load_case, &k.def, NULL, &k.c), BOUGH_ERROR_ARGUMENT, "does not give");
    k.def.interfaces = k.ends.interfaces;
    k.def.cookie = 0;
    check_fails(ctx, bough_cook(ctx, k.body, k.load_case, &k.def, NULL, &k.c), BOUGH_ERROR_ARGUMENT,
                "bough_default_cook_def");
    check(!k.c);
    close_kitchen(&k);
    bough_context_destroy(ctx);
}

/* ---- as a program ---- */

static void threads_do_not_change_a_bit(void **state) {
    (void)state;
    void *bytes = NULL;
    size_t size = 0;
    for (int32_t threads = 1; threads < 4; threads++) {
        bough_context *ctx = test_context(threads);
        kitchen k = open_kitchen(ctx, default_bar(), 12);
        cook_in(&k);
        if (!bytes) {
            size = k.c->image_size;
            bytes = malloc(size);
            memcpy(bytes, k.c->image, size);
        }
        check_int(k.c->image_size, size);
        check(memcmp(bytes, k.c->image, size) == 0);
        close_kitchen(&k);
        bough_context_destroy(ctx);
    }
    free(bytes);
}

typedef struct {
    int calls, stop_at;
} patience;
static bool impatient(void *user, const bough_progress *progress) {
    patience *p = user;
    (void)progress;
    return p->calls++ != p->stop_at;
}

/* Cancelled anywhere and taken up again, the result is the same. */
static void cancel_and_resume(int32_t parent) {
    patience p = {0, -1};
    bough_context_def context_def = bough_default_context_def();
    context_def.progress = impatient, context_def.progress_user = &p;
    bough_context *ctx = bough_context_create(&context_def);
    kitchen k = open_kitchen(ctx, default_bar(), 10);
    k.def.input_hash = 0x1234;
    k.def.parent = parent;
    k.def.resume_path = test_path("bar.bough.part");
    cook_in(&k);
    int calls = p.calls;
    size_t size = k.c->image_size;
    void *bytes = malloc(size);
    memcpy(bytes, k.c->image, size);
    bool left = false;
    for (int stop = 0; stop < calls; stop++) {
        bough_component_destroy(ctx, k.c);
        p = (patience){0, stop};
        check_fails(ctx, bough_cook(ctx, k.body, k.load_case, &k.def, NULL, &k.c), BOUGH_CANCELLED, "");
        left = left || access(k.def.resume_path, R_OK) == 0;
        p = (patience){0, -1};
        cook_in(&k);
        check(access(k.def.resume_path, R_OK) != 0);
        check_int(k.c->image_size, size);
        check(memcmp(bytes, k.c->image, size) == 0);
    }
    check(left);
    test_write_text(k.def.resume_path, "not a partial result");
    bough_component_destroy(ctx, k.c);
    cook_in(&k);
    check(memcmp(bytes, k.c->image, size) == 0);
    free(bytes);
    close_kitchen(&k);
    bough_context_destroy(ctx);
}

static void cancelled_cooking_goes_on_where_it_was(void **state) {
    (void)state;
    cancel_and_resume(0);
    cancel_and_resume(-1);
}

static void memory_failures_leak_nothing(void **state) {
    (void)state;
    test_memory memory = {.fail_at = -1};
    bough_context *ctx = test_counting_context(&memory);
    bar_def bar = default_bar();
    bar.cells[0] = 3, bar.cells[1] = bar.cells[2] = 1;
    kitchen k = open_kitchen(ctx, bar, 6);
    k.def.interfaces = k.ends.interfaces;
    k.def.wind_count = 4, k.def.contact_count = 8, k.def.stress_count = 2;
    long live = memory.live, calls = memory.calls;
    check_ok(ctx, bough_cook(ctx, k.body, k.load_case, &k.def, NULL, &k.c));
    long needed = memory.calls - calls;
    bough_component_destroy(ctx, k.c);
    check_int(memory.live, live);
    for (long fail = 0; fail < needed; fail++) {
        memory.fail_at = memory.calls + fail;
        bough_status status = bough_cook(ctx, k.body, k.load_case, &k.def, NULL, &k.c);
        check(status == BOUGH_ERROR_MEMORY);
        check(!k.c);
        check_int(memory.live, live);
    }
    memory.fail_at = -1;
    cook_in(&k);
    close_kitchen(&k);
    check_int(memory.live, 1); /* the context itself */
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coordinates_are_orthonormal_modes),
        cmocka_unit_test(frequencies_come_from_above),
        cmocka_unit_test(free_components_have_mean_axes),
        cmocka_unit_test(roots_hang_by_their_fixed_vertices),
        cmocka_unit_test(rigid_components_have_no_coordinates),
        cmocka_unit_test(frames_follow_rigid_motions_exactly),
        cmocka_unit_test(weights_are_areas),
        cmocka_unit_test(thin_interfaces_are_refused),
        cmocka_unit_test(attachment_modes_answer_exactly),
        cmocka_unit_test(craig_bampton_shows_rigid_ends),
        cmocka_unit_test(snapshots_and_columns_are_reproduced),
        cmocka_unit_test(a_tolerance_chooses_r),
        cmocka_unit_test(modes_are_shared_out_by_size),
        cmocka_unit_test(linear_bodies_become_linear_components),
        cmocka_unit_test(wrong_wishes_are_refused),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(cancelled_cooking_goes_on_where_it_was),
        cmocka_unit_test(memory_failures_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
