/* Meshes in other units, with another axis up, or turned. */
#include "test.h"

#include <bough/mesh.h>

#include <math.h>

static bough_mesh *make_box(bough_context *ctx) {
    bough_box_def def = bough_default_box_def();
    def.size[0] = 1, def.size[1] = 2, def.size[2] = 3;
    def.cells[0] = 1, def.cells[1] = 2, def.cells[2] = 2;
    bough_mesh *mesh;
    check_ok(ctx, bough_mesh_generate_box(ctx, &def, &mesh));
    return mesh;
}

static bough_mesh_report moved(bough_context *ctx, double scale, char up, double x, double y, double z) {
    bough_mesh_transform_def def = bough_default_mesh_transform_def();
    def.scale = scale, def.up = up;
    def.rotate_deg[0] = x, def.rotate_deg[1] = y, def.rotate_deg[2] = z;
    bough_mesh *mesh = make_box(ctx);
    bough_mesh_report report;
    check_ok(ctx, bough_mesh_transform(ctx, mesh, &def));
    check_ok(ctx, bough_mesh_check(ctx, mesh)); /* no element is turned inside out */
    check_ok(ctx, bough_mesh_measure(ctx, mesh, &report));
    bough_mesh_destroy(ctx, mesh);
    return report;
}

static void check_spans(const bough_mesh_report *r, const double lower[3], const double upper[3]) {
    for (int d = 0; d < 3; d++)
        if (r->lower[d] != lower[d] || r->upper[d] != upper[d])
            fail_msg("axis %d spans %.17g..%.17g, not %g..%g", d, r->lower[d], r->upper[d], lower[d], upper[d]);
}
#define SPANS(...)      \
    (const double[3]) { \
        __VA_ARGS__     \
    }

/* The box of 1 x 2 x 3 stands on the axis that was up, with its other axes following by the right hand. */
static void the_axis_that_points_up_becomes_z(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh_report r = moved(ctx, 1, 'z', 0, 0, 0);
    check_spans(&r, SPANS(0, 0, 0), SPANS(1, 2, 3));
    r = moved(ctx, 1, 'y', 0, 0, 0);
    check_spans(&r, SPANS(0, -3, 0), SPANS(1, 0, 2));
    r = moved(ctx, 1, 'x', 0, 0, 0);
    check_spans(&r, SPANS(0, 0, 0), SPANS(2, 3, 1));
    bough_context_destroy(ctx);
}

static void quarter_turns_are_exact_and_follow_the_right_hand(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh_report r = moved(ctx, 1, 'z', 90, 0, 0); /* y to z */
    check_spans(&r, SPANS(0, -3, 0), SPANS(1, 0, 2));
    r = moved(ctx, 1, 'z', 0, 90, 0); /* z to x */
    check_spans(&r, SPANS(0, 0, -1), SPANS(3, 2, 0));
    r = moved(ctx, 1, 'z', 0, 0, 90); /* x to y */
    check_spans(&r, SPANS(-2, 0, 0), SPANS(0, 1, 3));
    r = moved(ctx, 1, 'z', 0, 0, -270);
    check_spans(&r, SPANS(-2, 0, 0), SPANS(0, 1, 3));
    r = moved(ctx, 1, 'z', 90, 0, 90); /* about x first: y to z, then x to y */
    check_spans(&r, SPANS(0, 0, 0), SPANS(3, 1, 2));
    r = moved(ctx, 1, 'y', -90, 0, 0); /* up first, and back */
    check_spans(&r, SPANS(0, 0, 0), SPANS(1, 2, 3));
    bough_context_destroy(ctx);
}

static void other_angles_and_scales_keep_the_shape(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh_report r = moved(ctx, 0.001, 'y', 10, -20, 33);
    check_near(r.volume, 6e-9, 1e-21);
    check_near(r.area, 22e-6, 1e-18);
    r = moved(ctx, 1, 'z', 0, 0, 30);
    check_near(r.upper[0], cos(M_PI / 6), 1e-15);
    check_near(r.upper[1], sin(M_PI / 6) + 2 * cos(M_PI / 6), 1e-15);
    bough_context_destroy(ctx);
}

static void what_would_spoil_a_mesh_is_refused(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *mesh = make_box(ctx);
    bough_mesh_transform_def def = bough_default_mesh_transform_def(), none = {.scale = 1, .up = 'z'};
    check_int(bough_mesh_transform(ctx, mesh, &none), BOUGH_ERROR_ARGUMENT);
    static const double scales[] = {0, -1, 1e7, 1e-7, INFINITY, NAN};
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        def.scale = scales[i];
        check_int(bough_mesh_transform(ctx, mesh, &def), BOUGH_ERROR_ARGUMENT);
    }
    def.scale = 1, def.up = 'w';
    check_int(bough_mesh_transform(ctx, mesh, &def), BOUGH_ERROR_ARGUMENT);
    def.up = 'z', def.rotate_deg[1] = NAN;
    check_int(bough_mesh_transform(ctx, mesh, &def), BOUGH_ERROR_ARGUMENT);
    check(mesh->vertices[3 * (size_t)mesh->vertex_count - 1] == 3); /* untouched */
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_axis_that_points_up_becomes_z),
        cmocka_unit_test(quarter_turns_are_exact_and_follow_the_right_hand),
        cmocka_unit_test(other_angles_and_scales_keep_the_shape),
        cmocka_unit_test(what_would_spoil_a_mesh_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
