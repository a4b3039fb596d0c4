/* A slender rod with a weight at its end, against the theory of Euler and Bernoulli. */
#include "rods.h"
#include "vibrations.h"

/* det of the conditions at the end of a clamped beam with a mass and a moment of inertia there, for the wave number k:
 *   w'' = J k^4 / (rho A) w',  w''' = -m k^4 / (rho A) w */
static double beam_condition(const rod_def *rod, double k) {
    const double line = rod->density * rod_area(rod), x = k * rod->length;
    const double C = cosh(x), S = sinh(x), c = cos(x), s = sin(x);
    const double turn = rod->tip_inertia * k * k * k / line, shift = rod->tip_mass * k / line;
    return (C + c - turn * (S + s)) * (C + c + shift * (S - s)) - (S + s - turn * (C - c)) * (S - s + shift * (C - c));
}

/* The lowest frequencies, Hz. */
static void beam_frequencies(const rod_def *rod, int count, double *hz) {
    const double line = rod->density * rod_area(rod), step = 0.01 / rod->length;
    double k = step;
    for (int found = 0; found < count; k += step) {
        if (beam_condition(rod, k) * beam_condition(rod, k + step) > 0)
            continue;
        double low = k, high = k + step;
        for (int i = 0; i < 60; i++) {
            const double middle = 0.5 * (low + high);
            if (beam_condition(rod, low) * beam_condition(rod, middle) > 0)
                low = middle;
            else
                high = middle;
        }
        hz[found++] = low * low * sqrt(rod->young * rod_moment(rod) / line) / (2 * M_PI);
    }
}

static void rods_vibrate_as_beam_theory_says(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    for (int round = 0; round < 2; round++) {
        rod_def rod = default_rod();
        if (round == 1)
            rod.tip_inertia = 2e-3, rod.modes = 5, rod.r = 20; /* counts, and the rod twists at 6 Hz */
        double theory[2], squares[32];
        beam_frequencies(&rod, 2, theory);
        bough_component *component = cook_rod(ctx, &rod);
        build *b = make_hub_and_rod(&rod, component);
        vibrations(ctx, b->model, b->state, squares);
        for (int k = 0; k < 4; k++) /* in both planes */
            check_near(sqrt(squares[k + (round == 1 && k > 1)]) / (2 * M_PI) / theory[k / 2], 1, 5e-3);
        free_build(b);
        bough_component_destroy(ctx, component);
    }
    bough_context_destroy(ctx);
}

/* Let go from where a force on the ball held it, it passes its rest at every half of a period. */
static void rods_swing_at_that_frequency(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const rod_def rod = default_rod();
    double theory;
    beam_frequencies(&rod, 1, &theory);
    bough_component *component = cook_rod(ctx, &rod);
    build *b = make_hub_and_rod(&rod, component);
    b->state->force[6 + 2] = 1e-3;
    check_ok(b->ctx, bough_multibody_settle(b->ctx, b->model, b->state));
    const double deflection = 1e-3 * pow(rod.length, 3) / (3 * rod.young * rod_moment(&rod));
    check_near(position_of(b, 1).z / deflection, 1, 1e-2);
    memset(b->state->force, 0, (size_t)bough_multibody_velocity_count(b->model) * sizeof(double));
    double before = position_of(b, 1).z, first = 0, last = 0;
    int crossings = 0;
    while (crossings < 9) {
        take_step(b, 1e-3);
        const double z = position_of(b, 1).z;
        if ((z < 0) != (before < 0)) {
            last = b->state->time - 1e-3 * z / (z - before);
            first = crossings++ == 0 ? last : first;
        }
        before = z;
        check(b->state->time < 4);
    }
    check_near(4 / (last - first) / theory, 1, 5e-3);
    free_build(b);
    bough_component_destroy(ctx, component);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rods_vibrate_as_beam_theory_says),
                                       cmocka_unit_test(rods_swing_at_that_frequency)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
