/* Frequencies of whole mechanisms, and what choices of end effectors keep of them. */
#include "linear_modes.h"
#include "moving.h"

static sketch *subject(int i, test_random *r) {
    switch (i % 6) {
    case 0:
        return helix(12, BOUGH_JOINT_BALL);
    case 1:
        return ladder(4, BOUGH_JOINT_BALL);
    case 2:
        return ladder(5, BOUGH_JOINT_HINGE);
    case 3:
        return fork_of_links(2, 3, BOUGH_JOINT_UNIVERSAL);
    case 4:
        return ring_of_links(7, BOUGH_JOINT_COMPLIANT);
    default:
        return random_sketch(r, 7, 1);
    }
}

/* Against the dense eigenproblem in all joints' coordinates, held and free. */
static void frequencies_are_those_of_the_whole_mechanism(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {61};
    for (int i = 0; i < 24; i++) {
        sketch *s = subject(i, &r);
        bough_mechanism *m = NULL;
        double expected[8], got[8];
        int32_t found = 0;
        s->def.free_base = i >= 12;
        for (int32_t l = 0; l < s->def.link_count; l++)
            s->links[l].centre[1] = 0.02;
        const int count = linear_frequencies(ctx, s, 8, expected, NULL);
        check_ok(ctx, bough_mechanism_create(ctx, &s->def, &m));
        check_ok(ctx, bough_mechanism_frequencies(ctx, m, 8, got, &found));
        check_int(found, count);
        for (int k = 0; k < count; k++)
            check_near(got[k], expected[k], 1e-9 * expected[k]);
        bough_mechanism_destroy(ctx, m);
        free(s);
    }
    bough_context_destroy(ctx);
}

/* Links by links more end effectors: no choice knows the frequencies worse than the one before, none lies below the
 * whole mechanism, and with all links it is that. */
static void more_end_effectors_are_never_worse(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {62};
    for (int i = 0; i < 12; i++) {
        sketch *s = subject(i, &r);
        const int32_t count = s->def.link_count - 1;
        bough_mechanism *m = NULL;
        bough_frame_def *links = calloc((size_t)count, sizeof *links);
        bough_mechanism_choice *choices = calloc((size_t)count, sizeof *choices);
        bough_mechanism_detail *details = calloc((size_t)count, sizeof *details);
        s->def.free_base = i >= 6;
        check_ok(ctx, bough_mechanism_create(ctx, &s->def, &m));
        for (int32_t k = 0; k < count; k++) { /* in some order, where the first moves at all */
            links[k] = bough_default_frame_def();
            links[k].body = s->def.link_count - 1 - k;
            if (links[k].body <= s->def.base)
                links[k].body--;
            choices[k] = (bough_mechanism_choice){k + 1, links, 0};
        }
        bough_mechanism_detail_def def = bough_default_mechanism_detail_def();
        def.choice_count = count, def.choices = choices, def.steps = 0;
        check_ok(ctx, bough_mechanism_details(ctx, m, &def, details));
        for (int32_t k = 0; k < count; k++) {
            check(details[k].frequency_count > 0);
            check_int(details[k].size, 6 * (k + 1));
            check(details[k].rank <= details[k].size && details[k].memory > 0);
            check(details[k].frequencies[0] >= details[k].full[0] * (1 - 1e-9));
            if (k == 0)
                continue;
            check(details[k].frequencies[0] <= details[k - 1].frequencies[0] * (1 + 1e-9));
            check(details[k].rank >= details[k - 1].rank);
        }
        const bough_mechanism_detail *all = &details[count - 1];
        for (int32_t k = 0; k < all->frequency_count; k++)
            check_near(all->frequencies[k], all->full[k], 1e-10 * all->full[k]);
        check_below(all->static_error, 3e-12);
        check_below(all->static_worst, 5e-12);
        free(links), free(choices), free(details);
        bough_mechanism_destroy(ctx, m);
        free(s);
    }
    bough_context_destroy(ctx);
}

/* The error counts what a load on one link does to all: none where that link is an end effector, and what statics say
 * elsewhere. */
static void static_errors_are_of_all_links(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    sketch *s = helix(6, BOUGH_JOINT_BALL);
    bough_mechanism *m = NULL;
    bough_mechanism_detail detail;
    const bough_mechanism_choice choice = {0, NULL, 0};
    const int32_t last = 6, middle = 3, wrong = 7;
    check_ok(ctx, bough_mechanism_create(ctx, &s->def, &m));
    bough_mechanism_detail_def def = bough_default_mechanism_detail_def();
    def.choice_count = 1, def.choices = &choice, def.load_count = 1, def.loads = &last;
    check_ok(ctx, bough_mechanism_details(ctx, m, &def, &detail));
    check_below(detail.static_worst, 1e-9);
    check(detail.step_seconds > 0 && detail.step_seconds < 1);
    def.loads = &middle, def.steps = 0;
    check_ok(ctx, bough_mechanism_details(ctx, m, &def, &detail));
    check(detail.step_seconds == 0);
    /* by statics with both links as end effectors: C_im - C_ie C_ee^-1 C_em, with wrenches and twists in radii */
    bough_mechanism_statics_def both = bough_default_mechanism_statics_def();
    bough_mechanism_statics *statics = NULL;
    bough_frame_def links[2] = {bough_default_frame_def(), bough_default_frame_def()};
    links[0].body = last, links[1].body = middle;
    both.end_effector_count = 2, both.end_effectors = links;
    check_ok(ctx, bough_mechanism_statics_create(ctx, m, &both, &statics));
    double Cee[36], Cem[36], left = 0, all = 0;
    for (int p = 0; p < 6; p++)
        for (int q = 0; q < 6; q++)
            Cee[6 * p + q] = statics->C[12 * p + q], Cem[6 * p + q] = statics->C[12 * p + 6 + q];
    check(bo_cholesky_factor(6, Cee));
    bo_cholesky_solve_many(6, Cee, 6, Cem);
    const double radius = bough_mechanism_radius(m);
    for (int32_t row = 0; row < 6 * s->def.link_count; row++)
        for (int q = 0; q < 6; q++) {
            const double scale = (row % 6 < 3 ? 1 / radius : 1) * (q < 3 ? 1 / radius : 1);
            double x = statics->twists[12 * row + 6 + q];
            all += x * x * scale * scale;
            for (int p = 0; p < 6; p++)
                x -= statics->twists[12 * row + p] * Cem[6 * p + q];
            left += x * x * scale * scale;
        }
    check(detail.static_error > 0.01);
    check_near(detail.static_error, sqrt(left / all), 1e-8);
    def.loads = &wrong;
    check_fails(ctx, bough_mechanism_details(ctx, m, &def, &detail), BOUGH_ERROR_ARGUMENT, "links are 0 .. 6");
    def.load_count = 0, def.frequency_count = 9;
    check_fails(ctx, bough_mechanism_details(ctx, m, &def, &detail), BOUGH_ERROR_ARGUMENT, "1 to 8");
    bough_mechanism_statics_destroy(ctx, statics);
    bough_mechanism_destroy(ctx, m);
    free(s);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frequencies_are_those_of_the_whole_mechanism),
        cmocka_unit_test(more_end_effectors_are_never_worse),
        cmocka_unit_test(static_errors_are_of_all_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
