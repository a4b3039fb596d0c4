/* What cooking says about its own result. */
#include "cooked.h"

static kitchen free_and_loaded(bough_context *ctx, double unit, double mass) {
    bar_def bar = default_bar();
    for (int i = 0; i < 3; i++)
        bar.size[i] *= unit;
    kitchen k = open_kitchen(ctx, bar, 8);
    k.def.parent = -1;
    const double m = mass * unit * unit * unit, I = 0.01 * m * unit * unit;
    k.ends.interfaces[1].has_load = true;
    k.ends.interfaces[1].load = (bough_inertia){.mass = m, .inertia = {I, 0, 0, 0, I, 0, 0, 0, I}};
    return k;
}

/* A free component that carries something also moves rigidly when it vibrates. */
static void loaded_free_frequencies_agree(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (double mass = 1; mass < 1000; mass *= 30) { /* the bar: 50 kg */
        kitchen k = free_and_loaded(ctx, 1, mass);
        k.def.basis = BOUGH_BASIS_LOADED;
        cook_in(&k);
        const bough_component_quality *q = &k.c->quality;
        check_int(q->mode_count, 8);
        for (int32_t i = 0; i < 8; i++)
            check_near(q->reduced_hz[i], q->full_hz[i], 1e-6 * q->full_hz[i]);
        close_kitchen(&k);
    }
    bough_context_destroy(ctx);
}

/* A leaf of a centimetre and a building of a hundred metres. */
static void quality_does_not_depend_on_units(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const double units[] = {1, 0.01, 100, 1e-6, 1e5};
    for (int parent = -1; parent < 1; parent++) {
        double found[5][4];
        for (int u = 0; u < 5; u++) {
            kitchen k = free_and_loaded(ctx, units[u], 50);
            k.def.parent = parent;
            cook_in(&k);
            const bough_component_quality *q = &k.c->quality;
            const double values[4] = {q->basis_error, q->projection_impulse, q->interface_deviation,
                                      q->reduced_hz[3] / q->full_hz[0]};
            memcpy(found[u], values, sizeof values);
            for (int i = 0; i < 4; i++)
                check_near(found[u][i], found[0][i], 1e-6 * found[0][i]);
            close_kitchen(&k);
        }
    }
    bough_context_destroy(ctx);
}

/* Few coordinates lock, and a plain Newton iteration leaves the equilibrium for good. */
static void weight_is_always_answered(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int32_t r = 1; r <= 10; r++) {
        kitchen k = open_kitchen(ctx, default_bar(), r);
        cook_in(&k);
        check(k.c->quality.response_gravity >= k.c->quality.projection_gravity * (1 - 1e-9));
        check_below(k.c->quality.response_gravity, r < 3 ? 0.8 : 0.2);
        check_below(k.c->quality.force_gravity, 1e-9);
        close_kitchen(&k);
    }
    bough_context_destroy(ctx);
}

/* The full body would be inverted where the component goes; that is no reason not to cook it. */
static void poses_beyond_the_material_are_made_smaller(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bar_def bar = default_bar();
    bar.model = BOUGH_MATERIAL_NEO_HOOKEAN, bar.poisson = 0.45;
    kitchen k = open_kitchen(ctx, bar, 1);
    k.def.pose_amplitude = 2, k.def.cubature_most = 60;
    cook_in(&k);
    check(isfinite(k.c->quality.force_gravity) && isfinite(k.c->quality.force_impulse));
    close_kitchen(&k);
    bough_context_destroy(ctx);
}

/* A bar between a clamp and a wall along which it slides: the farthest vertices are held, all or in part. */
static void blows_hit_what_can_move(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    kitchen k = open_kitchen(ctx, default_bar(), 6);
    k.def.parent = -1;
    for (int end = 0; end < 2; end++)
        check_ok(ctx, bough_body_fix(ctx, k.body, k.ends.vertices[end], k.ends.interfaces[end].vertex_count,
                                     end ? BOUGH_AXES : BOUGH_AXIS_X, NULL));
    cook_in(&k);
    check(k.c->quality.projection_impulse > 1e-3);
    check_below(k.c->quality.projection_impulse, 0.9);
    close_kitchen(&k);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loaded_free_frequencies_agree), cmocka_unit_test(quality_does_not_depend_on_units),
        cmocka_unit_test(weight_is_always_answered),     cmocka_unit_test(poses_beyond_the_material_are_made_smaller),
        cmocka_unit_test(blows_hit_what_can_move),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
