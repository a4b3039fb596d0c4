/* The results that statics reports belong to the state that it hands back. */
#include "test.h"

#include <bough/fem.h>

static bough_body *soft_beam(bough_context *ctx, bough_mesh **mesh, bough_material_model model,
                             bough_load_case **load_case) {
    bough_box_def box = bough_default_box_def();
    box.type = BOUGH_HEX8;
    box.size[0] = 1, box.size[1] = box.size[2] = 0.1;
    box.cells[0] = 10, box.cells[1] = box.cells[2] = 2;
    bough_body_def def = bough_default_body_def();
    def.material.model = model;
    bough_body *body;
    int32_t *vertices, count;
    check_ok(ctx, bough_mesh_generate_box(ctx, &box, mesh));
    check_ok(ctx, bough_body_create(ctx, *mesh, &def, &body));
    check_ok(ctx, bough_load_case_create(ctx, body, load_case));
    check_ok(ctx, bough_mesh_select(ctx, *mesh, "x0", &vertices, &count));
    check_ok(ctx, bough_load_case_fix(ctx, *load_case, vertices, count, BOUGH_AXES, NULL));
    bough_release(ctx, vertices);
    return body;
}

/* Relative residual of u under a fraction of the loads, computed from outside. */
static double residual_of(bough_context *ctx, const bough_load_case *load_case, const double *u, double fraction,
                          double *energy) {
    const bough_body *body = bough_load_case_body(load_case);
    const bough_mesh *mesh = bough_body_mesh(body);
    size_t n = 3 * (size_t)mesh->vertex_count;
    double *internal = calloc(n, sizeof *internal), *external = calloc(n, sizeof *external), sum = 0, size = 0;
    check_ok(ctx, bough_body_evaluate(ctx, body, u, false, energy, internal, NULL));
    bough_load_case_forces(load_case, u, external);
    for (size_t i = 0; i < n; i++)
        if (mesh->vertices[i / 3 * 3] > 0) {
            sum += pow(internal[i] + fraction * external[i], 2);
            size += pow(fraction * external[i], 2);
        }
    free(internal);
    free(external);
    return sqrt(sum / size);
}

/* A beam pushed along its axis far beyond what neo-Hookean elements bear: statics stops on the way. */
static void the_report_is_of_the_state_handed_back(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *mesh;
    bough_load_case *load_case;
    bough_body *body = soft_beam(ctx, &mesh, BOUGH_MATERIAL_NEO_HOOKEAN, &load_case);
    int32_t *tip, count;
    const double push[3] = {-1e9, 0, 1e6};
    check_ok(ctx, bough_mesh_select(ctx, mesh, "x1", &tip, &count));
    check_ok(ctx, bough_load_case_add_force(ctx, load_case, tip, count, push));
    bough_static_def def = bough_default_static_def();
    def.load_steps = 1000000, def.min_step = 0.1, def.max_iterations = 10;
    double *u = calloc(3 * (size_t)mesh->vertex_count, sizeof *u), energy;
    bough_static_result result;
    check_int(bough_body_static(ctx, body, load_case, &def, u, &result), BOUGH_NO_CONVERGENCE);
    check(!result.converged && result.steps > 0 && result.load_fraction > 0 && result.load_fraction < 1);
    check_below(residual_of(ctx, load_case, u, result.load_fraction, &energy), 1e-9);
    check_below(result.residual, 1e-9);
    check_near(result.energy / energy, 1, 1e-9);
    free(u);
    bough_release(ctx, tip);
    bough_load_case_destroy(ctx, load_case);
    bough_body_destroy(ctx, body);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

/* Many small steps end where one large step ends: equilibrium does not remember the way. */
static void the_number_of_steps_does_not_matter(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    double tip[3];
    static const int32_t steps[3] = {1, 7, 200};
    for (int i = 0; i < 3; i++) {
        bough_mesh *mesh;
        bough_load_case *load_case;
        bough_body *body = soft_beam(ctx, &mesh, BOUGH_MATERIAL_STVK, &load_case);
        const double g[3] = {0, 0, -9.81};
        check_ok(ctx, bough_load_case_set_gravity(ctx, load_case, g));
        bough_static_def def = bough_default_static_def();
        def.load_steps = steps[i];
        double *u = calloc(3 * (size_t)mesh->vertex_count, sizeof *u);
        bough_static_result result;
        check_ok(ctx, bough_body_static(ctx, body, load_case, &def, u, &result));
        check_int(result.steps, steps[i]);
        tip[i] = result.max_displacement;
        check(result.stable);
        free(u);
        bough_load_case_destroy(ctx, load_case);
        bough_body_destroy(ctx, body);
        bough_mesh_destroy(ctx, mesh);
    }
    check_near(tip[1] / tip[0], 1, 1e-8);
    check_near(tip[2] / tip[0], 1, 1e-8);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_report_is_of_the_state_handed_back),
        cmocka_unit_test(the_number_of_steps_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
