/* Shapes given by their distance are filled with tets: their volume, their topology, no bad element, every boundary
 * vertex on the surface. */
#include "test.h"

#include "mesh/mesh.h"

typedef struct {
    double centre[3], radius, tube; /* tube > 0: a ring around z */
} round_shape;

static double round_distance(void *user, const double x[3]) {
    const round_shape *s = user;
    double d[3];
    for (int k = 0; k < 3; k++)
        d[k] = x[k] - s->centre[k];
    const double flat = hypot(d[0], d[1]);
    return s->tube > 0 ? hypot(flat - s->radius, d[2]) - s->tube : hypot(flat, d[2]) - s->radius;
}

static bough_implicit_def around(const round_shape *s, double cell) {
    bough_implicit_def def = bough_default_implicit_def();
    def.distance = round_distance, def.user = (void *)(uintptr_t)s, def.cell = cell;
    for (int d = 0; d < 3; d++)
        def.lower[d] = s->centre[d] - 1.01 * (s->radius + s->tube),
        def.upper[d] = s->centre[d] + 1.01 * (s->radius + s->tube);
    return def;
}

/* Sound, of one piece, its boundary closed, within 1 % of a cell of where it should be, and of this Euler number. */
static double check_filled(bough_context *ctx, const round_shape *s, double cell, int32_t euler) {
    const bough_implicit_def def = around(s, cell);
    bough_mesh *mesh, *surface;
    bough_mesh_report report;
    check_ok(ctx, bough_mesh_generate_implicit(ctx, &def, &mesh));
    check_int(mesh->type, BOUGH_TET4);
    check_ok(ctx, bough_mesh_check(ctx, mesh));
    check_ok(ctx, bough_mesh_measure(ctx, mesh, &report));
    check(report.nonmanifold_count == 0 && report.unused_vertex_count == 0 && report.duplicate_element_count == 0);
    check_int(report.piece_count, 1);
    check(report.worst_quality > 0.3);
    check(report.largest < cell * cell * cell / 6); /* the lattice's are a twelfth */
    check_ok(ctx, bough_mesh_surface(ctx, mesh, &surface, NULL, NULL));
    check_int(surface->vertex_count - surface->element_count / 2, euler);
    for (int32_t v = 0; v < surface->vertex_count; v++)
        check_below(fabs(round_distance((void *)(uintptr_t)s, surface->vertices + 3 * (size_t)v)), 0.01 * cell);
    const double volume = report.volume;
    bough_mesh_destroy(ctx, surface);
    bough_mesh_destroy(ctx, mesh);
    return volume;
}

static void a_ball_is_filled_better_by_smaller_cells(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const round_shape ball = {.centre = {0.3, -2, 10}, .radius = 1};
    const double exact = 4 * M_PI / 3;
    const double coarse = exact - check_filled(ctx, &ball, 0.2, 2), fine = exact - check_filled(ctx, &ball, 0.1, 2);
    check(coarse > 0 && coarse < 0.02 * exact); /* corners are on the ball, faces within it */
    check_near(fine / coarse, 0.25, 0.05);
    bough_context_destroy(ctx);
}

static void a_ring_keeps_its_hole(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const round_shape ring = {.radius = 1, .tube = 0.3};
    check_near(check_filled(ctx, &ring, 0.11, 0), 2 * M_PI * M_PI * 0.09, 0.04);
    bough_context_destroy(ctx);
}

/* All moves together with the box; nothing depends on where the origin is. */
static void a_shape_elsewhere_is_the_same_mesh(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const round_shape here = {.radius = 0.7, .tube = 0.25}, there = {{8, -4, 2}, 0.7, 0.25};
    const bough_implicit_def def[2] = {around(&here, 0.1), around(&there, 0.1)};
    bough_mesh *mesh[2];
    for (int i = 0; i < 2; i++)
        check_ok(ctx, bough_mesh_generate_implicit(ctx, &def[i], &mesh[i]));
    check_int(mesh[0]->element_count, mesh[1]->element_count);
    check_int(mesh[0]->vertex_count, mesh[1]->vertex_count);
    for (int32_t v = 0; v < 3 * mesh[0]->vertex_count; v++)
        check_near(mesh[1]->vertices[v] - there.centre[v % 3], mesh[0]->vertices[v], 1e-12);
    bough_mesh_destroy(ctx, mesh[0]);
    bough_mesh_destroy(ctx, mesh[1]);
    bough_context_destroy(ctx);
}

static double nowhere(void *user, const double x[3]) {
    (void)user, (void)x;
    return NAN;
}

static void mistakes_are_told(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const round_shape ball = {.radius = 1}, dust = {.centre = {0.01, 0.02, 0.03}, .radius = 1e-4};
    bough_mesh *mesh;
    bough_implicit_def def = around(&ball, 0.2);
    def.cookie = 0;
    check_fails(ctx, bough_mesh_generate_implicit(ctx, &def, &mesh), BOUGH_ERROR_ARGUMENT, "default_implicit_def");
    def = around(&ball, -1);
    check_fails(ctx, bough_mesh_generate_implicit(ctx, &def, &mesh), BOUGH_ERROR_ARGUMENT, "cells' size");
    def = around(&ball, 1e-5);
    check_fails(ctx, bough_mesh_generate_implicit(ctx, &def, &mesh), BOUGH_ERROR_ARGUMENT, "at most");
    def = around(&ball, 0.2), def.upper[1] = -2;
    check_fails(ctx, bough_mesh_generate_implicit(ctx, &def, &mesh), BOUGH_ERROR_ARGUMENT, "along y");
    def = around(&ball, 0.2), def.upper[2] = 0.5;
    check_fails(ctx, bough_mesh_generate_implicit(ctx, &def, &mesh), BOUGH_ERROR_ARGUMENT, "make the box larger");
    def = around(&ball, 0.2), def.user = (void *)(uintptr_t)&dust;
    check_fails(ctx, bough_mesh_generate_implicit(ctx, &def, &mesh), BOUGH_ERROR_ARGUMENT, "thinner than the cells");
    def = around(&ball, 0.2), def.distance = nowhere;
    check_fails(ctx, bough_mesh_generate_implicit(ctx, &def, &mesh), BOUGH_NOT_FINITE, "not a number");
    check(mesh == NULL);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_is_filled_better_by_smaller_cells),
        cmocka_unit_test(a_ring_keeps_its_hole),
        cmocka_unit_test(a_shape_elsewhere_is_the_same_mesh),
        cmocka_unit_test(mistakes_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
