/* What is seldom asked of cooking: odd loads, supports, interfaces, counts. */
#include "cooked.h"

static bough_inertia point_mass(double mass, double x) {
    return (bough_inertia){
        .mass = mass, .moment = {mass * x, 0, 0}, .inertia = {0, 0, 0, 0, mass * x * x, 0, 0, 0, mass * x * x}};
}

static void check_refused(kitchen *k, const char *why) {
    k->def.interfaces = k->ends.interfaces;
    check_fails(k->ctx, bough_cook(k->ctx, k->body, &k->def, NULL, &k->c), BOUGH_ERROR_ARGUMENT, why);
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

/* What is kept exactly shows most of the candidates, and the error is of all of them. */
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_are_those_of_rigid_masses),
        cmocka_unit_test(errors_count_what_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
