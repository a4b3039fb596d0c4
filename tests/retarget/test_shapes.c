/* Derivatives of motions by the shape of a model: the length and the thickness of a rod, and where a joint is. */
#include "motions.h"

#define LENGTH 0.5      /* m */
#define THICKNESS 0.012 /* m */
#define CHANGE \
    1e-4 /* of a length, a thickness, and m: between the two models of a derivative. Shorter ones show
                         * the rounding of cooking, 1e-11, longer ones the bend: each of them leaves 1e-6 here */

/* A motor, a rod and a weight, as they differ from those above. */
typedef struct {
    double length, thickness; /* factors */
    double shift;             /* m: of the rod's clamp on the hub */
} variation;
static const variation plain = {1, 1, 0};

static bough_component *cook_varied(bough_context *ctx, variation v, const bough_component *pattern) {
    rod_def rod = default_rod();
    rod.length = LENGTH * v.length, rod.thickness = THICKNESS * v.thickness, rod.wide = 1.4;
    rod.cells = 8, rod.modes = 3, rod.r = 8, rod.young = 3e9, rod.density = 1200;
    rod.pattern = pattern, rod.pattern_length = LENGTH, rod.pattern_thickness = THICKNESS;
    return cook_rod(ctx, &rod);
}

static void build_varied(problem *p, variation v, const bough_component *pattern, bool settles) {
    start_problem(p);
    p->rod = cook_varied(p->b->ctx, v, pattern);
    const bo_vec3 clamp = bo_v3(0, 0.01, v.shift), tip = bo_v3(LENGTH * v.length, 0.01, v.shift);
    const int32_t hub = add_body(p->b, 0.05, bo_v3(2e-5, 2e-5, 2e-5), place_at(bo_v3(0, 0, 0)));
    const int32_t weight = add_body(p->b, 0.1, bo_v3(2e-5, 3e-5, 4e-5), place_at(tip));
    add_motor(p->b, add_hinge(p->b, BOUGH_WORLD, hub, bo_v3(0, 0, 0), bo_v3(0, 1, 0.1)), 0);
    p->b->parts[add_part(p->b, p->rod, hub, place_at(clamp))].damping_stiffness = 1e-3;
    weld_tip(p->b, 0, weight);
    p->tracked[p->tracked_count++] = weight;
    p->settles = settles;
    finish_problem(p);
    for (int k = 0; k <= STEPS; k++) /* wishes do not depend on the shape */
        for (int i = 0; i < 3; i++)
            p->positions[3 * k + i] = (i == 0 ? LENGTH : 0) + 0.05 * sin(0.1 * k + i);
}

static double varied_value(variation v, const bough_component *pattern, bool settles) {
    problem p;
    double value;
    build_varied(&p, v, pattern, settles);
    make_adjoint(&p);
    check_ok(p.b->ctx, bough_adjoint_value(p.b->ctx, p.adjoint, p.curves->points, &value));
    free_problem(&p);
    return value;
}

static variation vary(int kind, double by) {
    variation v = plain;
    *(kind == 0 ? &v.length : kind == 1 ? &v.thickness : &v.shift) += by;
    return v;
}
enum { KINDS = 3 };

/* Whole motions with rods that are cooked anew, against two evaluations a step. The start follows the shape. */
static void derivatives_by_shapes_are_those_of_differences(void **unused) {
    (void)unused;
    static const char *const names[KINDS] = {"length", "thickness", "clamp"};
    problem p, sides[KINDS][2];
    double found[KINDS], value;
    build_varied(&p, plain, NULL, true);
    check_int(p.rod->elastic, BOUGH_REDUCED_POLYNOMIAL);
    for (int i = 0; i < KINDS; i++) {
        for (int side = 0; side < 2; side++)
            build_varied(&sides[i][side], vary(i, (side - 0.5) * CHANGE), p.rod, true);
        p.parameters[i] = (bough_multibody_parameter){.kind = BOUGH_MULTIBODY_SHAPE,
                                                      .less = sides[i][0].b->model,
                                                      .more = sides[i][1].b->model,
                                                      .change = CHANGE};
    }
    p.def.parameter_count = KINDS;
    make_adjoint(&p);
    check_ok(p.b->ctx, bough_adjoint_gradient(p.b->ctx, p.adjoint, p.curves->points, &value, NULL, found));
    for (int i = 0; i < KINDS; i++) {
        const double h = 1e-3;
        double f[4];
        for (int k = 0; k < 4; k++)
            f[k] = varied_value(vary(i, h * (const double[]){-2, -1, 1, 2}[k]), p.rod, true);
        const double expected = (8 * (f[2] - f[1]) - (f[3] - f[0])) / (12 * h);
        printf("by the %s: %.10g, error %.2g\n", names[i], found[i], found[i] / expected - 1);
        check_near(found[i] / expected, 1, 3e-6);
    }
    free_problem(&p);
    for (int i = 0; i < 2 * KINDS; i++)
        free_problem(&sides[i / 2][i % 2]);
}

/* The largest difference of two bases, of the largest entry. */
static double moved(const bough_component *a, const bough_component *b) {
    double most = 0, moved = 0;
    check_int(a->r, b->r);
    for (size_t i = 0; i < 3 * (size_t)a->volume.vertex_count * (size_t)a->r; i++) {
        moved = fmax(moved, fabs(a->volume.U[i] - b->volume.U[i]));
        most = fmax(most, fabs(a->volume.U[i]));
    }
    return moved / most;
}

/* A rod as it is has the basis of the pattern; on one that is longer by twice as much it differs by twice as much. */
static void components_that_are_alike_have_the_same_coordinates(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    bough_component *first = cook_varied(ctx, plain, NULL), *again = cook_varied(ctx, plain, first);
    bough_component *longer = cook_varied(ctx, vary(0, 1e-4), first), *twice = cook_varied(ctx, vary(0, 2e-4), first);
    check_below(moved(first, again), 1e-8);
    printf("0.1, 0.2 per mille longer: bases differ by %.3g, %.3g\n", moved(first, longer), moved(first, twice));
    check_below(moved(first, longer), 5e-3);
    check_near(moved(first, twice) / moved(first, longer), 2, 0.01);
    bough_component_destroy(ctx, twice), bough_component_destroy(ctx, longer);
    bough_component_destroy(ctx, again), bough_component_destroy(ctx, first);
    bough_context_destroy(ctx);
}

static void shapes_that_do_not_fit_are_refused(void **unused) {
    (void)unused;
    problem p, other;
    bough_adjoint *none;
    build_varied(&p, plain, NULL, false);
    one_rod(&other);
    finish_problem(&other);
    bough_context *ctx = p.b->ctx;
    p.def.parameter_count = 1;
    p.parameters[0] = (bough_multibody_parameter){.kind = BOUGH_MULTIBODY_SHAPE, .less = p.b->model, .change = 1};
    check_fails(ctx, bough_adjoint_create(ctx, p.b->model, p.b->state, p.curves, &p.def, &none), BOUGH_ERROR_ARGUMENT,
                "needs two models");
    p.parameters[0].more = p.b->model, p.parameters[0].change = 0;
    check_fails(ctx, bough_adjoint_create(ctx, p.b->model, p.b->state, p.curves, &p.def, &none), BOUGH_ERROR_ARGUMENT,
                "the change between them");
    p.parameters[0].more = other.b->model, p.parameters[0].change = 1;
    check_fails(ctx, bough_adjoint_create(ctx, p.b->model, p.b->state, p.curves, &p.def, &none), BOUGH_ERROR_ARGUMENT,
                "other bodies, parts or joints");
    free_problem(&other);
    free_problem(&p);
}

static void patterns_that_do_not_fit_are_refused(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    rod_def def = default_rod();
    def.cells = 4, def.modes = 2, def.r = 3;
    bough_component *pattern = cook_rod(ctx, &def), *none;
    def.model = BOUGH_MATERIAL_NEO_HOOKEAN;
    bough_component *points = cook_rod(ctx, &def);
    bough_box_def box = bough_default_box_def();
    bough_body_def body_def = bough_default_body_def();
    bough_cook_def cook = bough_default_cook_def();
    bough_mesh *mesh;
    bough_body *body;
    box.cells[0] = 2, box.cells[1] = box.cells[2] = 1;
    check_ok(ctx, bough_mesh_generate_box(ctx, &box, &mesh));
    check_ok(ctx, bough_body_create(ctx, mesh, &body_def, &body));
    check_fails(ctx, bough_cook_alike(ctx, body, NULL, &cook, body, pattern, &none), BOUGH_ERROR_ARGUMENT, "vertices");
    bough_component bare = *pattern;
    bare.volume.U = NULL;
    check_fails(ctx, bough_cook_alike(ctx, body, NULL, &cook, body, &bare, &none), BOUGH_ERROR_ARGUMENT, "keep_volume");
    bare = *points, bare.volume.vertex_count = mesh->vertex_count;
    check_fails(ctx, bough_cook_alike(ctx, body, NULL, &cook, body, &bare, &none), BOUGH_ERROR_UNSUPPORTED,
                "chosen anew");
    bough_body_destroy(ctx, body);
    bough_mesh_destroy(ctx, mesh);
    bough_component_destroy(ctx, points);
    bough_component_destroy(ctx, pattern);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(derivatives_by_shapes_are_those_of_differences),
                                       cmocka_unit_test(components_that_are_alike_have_the_same_coordinates),
                                       cmocka_unit_test(shapes_that_do_not_fit_are_refused),
                                       cmocka_unit_test(patterns_that_do_not_fit_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
