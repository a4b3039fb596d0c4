/* Parts of other materials and bases: cubature, and bases of shapes that the whole body took. */
#include "rods.h"
#include "vibrations.h"

enum { STEPS = 600 };

/* The tip's height while it swings from where a force of 2 N held it, about an eighth of its length away. */
static void swing(bough_context *ctx, const rod_def *rod, double *heights) {
    bough_component *component = cook_rod(ctx, rod);
    build *b = make_hub_and_rod(rod, component);
    b->state->force[6 + 2] = 2;
    check_ok(b->ctx, bough_multibody_settle(b->ctx, b->model, b->state));
    memset(b->state->force, 0, (size_t)bough_multibody_velocity_count(b->model) * sizeof(double));
    for (int k = 0; k < STEPS; k++) {
        heights[k] = position_of(b, 1).z;
        take_step(b, 1e-3);
    }
    free_build(b);
    bough_component_destroy(ctx, component);
}

/* rms of the difference, in parts of the motion. */
static double difference(const double *a, const double *b) {
    double sum = 0, all = 0;
    for (int k = 0; k < STEPS; k++)
        sum += (a[k] - b[k]) * (a[k] - b[k]), all += b[k] * b[k];
    return sqrt(sum / all);
}

/* Strains are of some thousandths, for which both materials are the same. The one is a polynomial, the other is summed
 * over points, which are chosen so that forces err by a hundredth at most; which ones, rounding decides. */
static void slender_rods_do_not_tell_materials_apart(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    rod_def rod = default_rod();
    double polynomial[STEPS], points[STEPS];
    swing(ctx, &rod, polynomial);
    check(fabs(polynomial[0]) > 0.05 * rod.length);
    rod.model = BOUGH_MATERIAL_NEO_HOOKEAN;
    swing(ctx, &rod, points);
    print_message("started at %.4f m, neo-Hookean %.2g apart\n", polynomial[0], difference(points, polynomial));
    check_below(difference(points, polynomial), 3e-2);
    bough_context_destroy(ctx);
}

/* A rod that bends also gets shorter. Few shapes cannot tell both apart: it is far too stiff. */
static void few_bent_shapes_lock(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    rod_def rod = default_rod();
    double modes[STEPS], shapes[STEPS];
    swing(ctx, &rod, modes);
    rod.bendings = 24;
    for (rod.r = 12; rod.r >= 4; rod.r -= 8) {
        swing(ctx, &rod, shapes);
        print_message("%d shapes: starts at %.4f m instead of %.4f, %.2g apart\n", rod.r, shapes[0], modes[0],
                      difference(shapes, modes));
        if (rod.r == 12)
            check_below(difference(shapes, modes), 2e-3);
        else
            check(shapes[0] < 0.8 * modes[0] && difference(shapes, modes) > 0.5);
    }
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(slender_rods_do_not_tell_materials_apart),
                                       cmocka_unit_test(few_bent_shapes_lock)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
