/* Bases: modal derivatives, bending far with few coordinates, loads, boundary modes, snapshots. */
#include "cooked.h"

#include "fem/body.h"
#include "linalg/sparse.h"
#include "reduce/basis.h"

/* ---- modal derivatives ---- */

/* Static response to the force K (e_i phi_i + e_j phi_j). */
static void respond(bough_context *ctx, bo_cook *cook, int32_t i, double ei, int32_t j, double ej, double *u) {
    size_t n = (size_t)cook->n;
    double *x = calloc(n, sizeof *x);
    for (size_t k = 0; k < n; k++)
        x[k] = ei * cook->modes[(size_t)i * n + k] + ej * cook->modes[(size_t)j * n + k];
    bough_load_case *pushed;
    check_ok(ctx, bough_load_case_create(ctx, cook->body, &pushed));
    memcpy(pushed->fixed, cook->held, n);
    pushed->fixed_count = cook->held_count;
    bo_sparse_mul(cook->K, x, pushed->point_force, false);
    memcpy(u, x, n * sizeof *u);
    bough_static_def def = bough_default_static_def();
    def.tolerance = 1e-13, def.max_iterations = 30;
    bough_static_result result;
    bough_status status = bough_body_static(ctx, cook->body, pushed, &def, u, &result);
    check(status == BOUGH_OK || result.residual < 1e-11);
    bough_load_case_destroy(ctx, pushed);
    free(x);
}

/* Second difference of the response, extrapolated once: d2u / de_i de_j. */
static void differenced(bough_context *ctx, bo_cook *cook, int32_t i, int32_t j, double e, double *second) {
    size_t n = (size_t)cook->n;
    double *u = calloc(n, sizeof *u);
    memset(second, 0, n * sizeof *second);
    for (int level = 0; level < 2; level++) {
        double h = level ? e : 2 * e, weight = level ? 4.0 / 3 : -1.0 / 3;
        for (int sign = 0; sign < 4; sign++) {
            double a = sign & 1 ? h : -h, b = sign & 2 ? h : -h;
            respond(ctx, cook, i, a, j, b, u);
            for (size_t k = 0; k < n; k++)
                second[k] += weight * (a * b > 0 ? 1 : -1) * u[k] / (4 * h * h);
        }
    }
    free(u);
}

static void derivatives_of(bough_material_model model, bough_element_type type) {
    bough_context *ctx = test_context(1);
    bar_def bar = default_bar();
    bar.model = model, bar.type = type;
    bar.cells[0] = type == BOUGH_TET10 ? 3 : 5, bar.cells[1] = bar.cells[2] = 1;
    bough_body *body = make_bar(ctx, bar);
    bar_ends ends = find_ends(ctx, body);
    bough_cook_def def = bar_cook_def(&ends, 6);
    bo_cook cook;
    check_ok(ctx, bo_cook_open(ctx, body, NULL, &def, &cook));
    check_ok(ctx, bo_cook_setup(&cook));
    check_ok(ctx, bo_cook_factor(&cook));
    check_ok(ctx, bo_cook_modes(&cook, 3));
    size_t n = (size_t)cook.n;
    double *derivatives = calloc(6 * n, sizeof *derivatives), *second = calloc(n, sizeof *second);
    check_ok(ctx, bo_cook_derivatives(&cook, 3, cook.modes, derivatives));
    for (int32_t i = 0, pair = 0; i < 3; i++)
        for (int32_t j = 0; j <= i; j++, pair++) {
            /* displacements of a thousandth of the length */
            differenced(ctx, &cook, i, j, 0.002, second);
            check_below(relative(n, derivatives + (size_t)pair * n, 1, second), 1e-6);
        }
    free(derivatives), free(second);
    bo_cook_close(&cook);
    free_ends(ctx, &ends);
    bough_body_destroy(ctx, body);
    bough_context_destroy(ctx);
}

static void modal_derivatives_are_second_derivatives_of_the_response(void **state) {
    (void)state;
    derivatives_of(BOUGH_MATERIAL_STVK, BOUGH_TET4);
    derivatives_of(BOUGH_MATERIAL_STVK, BOUGH_HEX8);
    derivatives_of(BOUGH_MATERIAL_STVK, BOUGH_TET10);
    derivatives_of(BOUGH_MATERIAL_NEO_HOOKEAN, BOUGH_HEX8);
    derivatives_of(BOUGH_MATERIAL_STABLE_NEO_HOOKEAN, BOUGH_TET4);
    derivatives_of(BOUGH_MATERIAL_COROTATED, BOUGH_HEX8);
    derivatives_of(BOUGH_MATERIAL_MOONEY_RIVLIN, BOUGH_TET4);
}

/* ---- large deflection ---- */

static void tip(const bough_component *c, const double *u, double mean[3]) {
    int32_t count = 0;
    mean[0] = mean[1] = mean[2] = 0;
    for (int32_t v = 0; v < c->volume.vertex_count; v++)
        if (c->volume.position[3 * v] > 0.999) {
            count++;
            for (int d = 0; d < 3; d++)
                mean[d] += u[3 * v + d];
        }
    for (int d = 0; d < 3; d++)
        mean[d] /= count;
}

/* Relative error of the tip of a slender cantilever whose end is pulled sideways until it is halfway round. */
static double deflection_error(bough_context *ctx, uint32_t kinds, int32_t modes, int32_t r) {
    bar_def bar = default_bar();
    bar.type = BOUGH_TET10;
    bar.size[1] = 0.05, bar.size[2] = 0.04;
    bar.cells[0] = 20, bar.cells[1] = bar.cells[2] = 1;
    bar.poisson = 0.3;
    bough_body *body = make_bar(ctx, bar);
    bough_load_case *load_case;
    check_ok(ctx, bough_load_case_create(ctx, body, &load_case));
    bar_ends ends = find_ends(ctx, body);
    bough_cook_def def = bar_cook_def(&ends, r);
    def.basis = kinds, def.mode_count = modes;
    bough_component *c;
    check_ok(ctx, bough_cook(ctx, body, NULL, &def, NULL, &c));
    size_t n = 3 * (size_t)c->volume.vertex_count;
    double *u = calloc(2 * n, sizeof *u), *f = u + n, *q = calloc(2 * (size_t)c->r, sizeof *q), *load = q + c->r;
    /* P L^2 / EI = 3: the tip goes to 0.6 of the length sideways and a quarter back */
    double EI = 1e6 * 0.05 * pow(0.04, 3) / 12, force[3] = {0, 0, 3 * EI};
    check_ok(ctx,
             bough_load_case_fix(ctx, load_case, ends.vertices[0], ends.interfaces[0].vertex_count, BOUGH_AXES, NULL));
    check_ok(ctx, bough_load_case_add_force(ctx, load_case, ends.vertices[1], ends.interfaces[1].vertex_count, force));
    bough_static_def static_def = bough_default_static_def();
    static_def.load_steps = 8;
    bough_static_result result;
    check_ok(ctx, bough_body_static(ctx, body, load_case, &static_def, u, &result));
    double exact[3], reduced[3] = {0};
    tip(c, u, exact);
    check(exact[2] > 0.5 && exact[0] < -0.15);
    memcpy(f, load_case->point_force, n * sizeof *f);
    project(c, f, load);
    check(reduced_static(c, load, 40, q));
    displace(c, q, u);
    tip(c, u, reduced);
    double error = relative(3, reduced, 1, exact);
    free(u), free(q);
    bough_component_destroy(ctx, c);
    free_ends(ctx, &ends);
    bough_load_case_destroy(ctx, load_case);
    bough_body_destroy(ctx, body);
    return error;
}

static void five_modes_with_derivatives_bend_far_where_twenty_modes_lock(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    double with = deflection_error(ctx, BOUGH_BASIS_MODES | BOUGH_BASIS_DERIVATIVES, 5, 20);
    double without = deflection_error(ctx, BOUGH_BASIS_MODES, 20, 20), plain = deflection_error(ctx, 0, 0, 20);
    print_message("tip error: 5 modes + 15 derivatives %.3f %%, 20 modes %.1f %%\n", 100 * with, 100 * without);
    print_message("the default basis: %.3f %%\n", 100 * plain);
    check_below(with, 0.02);
    check_below(plain, 0.02);
    check(without > 0.3);
    bough_context_destroy(ctx);
}

/* Six static shapes of a rigid end, and modes of the bar that is held at both ends. */
static void craig_bampton_is_static_shapes_and_held_modes(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bar_def bar = default_bar();
    bar.model = BOUGH_MATERIAL_LINEAR;
    kitchen k = open_kitchen(ctx, bar, 8);
    k.def.basis = BOUGH_BASIS_CONSTRAINT | BOUGH_BASIS_MODES;
    k.def.mode_count = 2, k.def.keep_boundary = true;
    cook_in(&k);
    check_int(k.c->r, 8);
    double *u = calloc(3 * (size_t)k.c->volume.vertex_count, sizeof *u);
    const bough_interface_def *ends = k.ends.interfaces;
    check_ok(ctx, bough_load_case_fix(ctx, k.load_case, ends[0].vertices, ends[0].vertex_count, BOUGH_AXES, NULL));
    for (int32_t i = 0; i < ends[1].vertex_count; i++) { /* a shift and a turn about x by a small angle */
        const double *X = bough_body_mesh(k.body)->vertices + 3 * ends[1].vertices[i];
        const double move[3] = {2e-6, -1e-6 - 3e-6 * X[2], 1e-6 + 3e-6 * X[1]};
        check_ok(ctx, bough_load_case_fix(ctx, k.load_case, &ends[1].vertices[i], 1, BOUGH_AXES, move));
    }
    bough_static_result result;
    check_ok(ctx, bough_body_static(ctx, k.body, k.load_case, NULL, u, &result));
    check_below(left_out(ctx, k.body, k.c, u), 1e-12);
    bough_modes *modes;
    check_ok(ctx, bough_body_modes(ctx, k.body, k.load_case, 3, NULL, &modes));
    size_t n = 3 * (size_t)modes->vertex_count;
    check_below(left_out(ctx, k.body, k.c, modes->shapes), 1e-10);
    check_below(left_out(ctx, k.body, k.c, modes->shapes + n), 1e-10);
    check(left_out(ctx, k.body, k.c, modes->shapes + 2 * n) > 0.1);
    bough_modes_destroy(ctx, modes);
    free(u);
    close_kitchen(&k);
    bough_context_destroy(ctx);
}

/* One mode and one snapshot across it, however long: each is half of all. */
static void snapshots_weigh_as_much_as_the_lowest_mode(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (double length = 1e-6; length < 1e9; length *= 1e6) {
        kitchen k = open_kitchen(ctx, default_bar(), 1);
        bough_modes *modes;
        check_ok(ctx, bough_load_case_fix(ctx, k.load_case, k.ends.vertices[0], k.ends.interfaces[0].vertex_count,
                                          BOUGH_AXES, NULL));
        check_ok(ctx, bough_body_modes(ctx, k.body, k.load_case, 4, NULL, &modes));
        double *shot = modes->shapes + 9 * (size_t)modes->vertex_count;
        for (size_t i = 0; i < 3 * (size_t)modes->vertex_count; i++)
            shot[i] *= length;
        k.def.basis = BOUGH_BASIS_MODES | BOUGH_BASIS_SNAPSHOTS;
        k.def.mode_count = 1, k.def.snapshots = shot, k.def.snapshot_count = 1;
        cook_in(&k);
        check_near(k.c->quality.energy_captured, 0.5, 1e-12);
        bough_modes_destroy(ctx, modes);
        close_kitchen(&k);
    }
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(craig_bampton_is_static_shapes_and_held_modes),
        cmocka_unit_test(snapshots_weigh_as_much_as_the_lowest_mode),
        cmocka_unit_test(modal_derivatives_are_second_derivatives_of_the_response),
        cmocka_unit_test(five_modes_with_derivatives_bend_far_where_twenty_modes_lock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
