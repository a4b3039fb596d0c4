/* Small vibrations of trees: displaced along a mode, a tree accelerates straight back, omega^2 times as far. */
#include "bars.h"

#include <math.h>

/* Accelerations at q0 + amount times shape, at rest. */
static void accelerate(bars *b, const double *q0, const double *shape, double amount, double *a) {
    const int32_t n = bough_tree_model_size(b->model);
    for (int32_t k = 0; k < n; k++) {
        b->state->q[k] = q0[k] + amount * shape[k];
        b->state->v[k] = 0;
    }
    check_ok(b->ctx, bough_tree_state_update(b->ctx, b->model, b->state));
    check_ok(b->ctx, bough_tree_step(b->ctx, b->model, b->state, 0));
    memcpy(a, b->state->a, (size_t)n * sizeof *a);
}

/* The largest part of a(q0 + e x) - a(q0 - e x) that is not -2 e omega^2 x, over the whole; e bends the tree by a
 * thousandth of a coordinate. */
static double crookedness(bars *b, const bough_tree_modes *modes, int32_t k) {
    enum { MOST = 80 };
    const int32_t n = bough_tree_model_size(b->model);
    const double *x = modes->shapes + (size_t)k * (size_t)n;
    double q0[MOST + 1], there[MOST + 1], back[MOST + 1], largest = 0, wrong = 0, size = 0;
    check(n > 0 && n <= MOST);
    memcpy(q0, b->state->q, (size_t)n * sizeof *q0);
    for (int32_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(x[i]));
    const double amount = 1e-5 / largest;
    accelerate(b, q0, x, amount, there);
    accelerate(b, q0, x, -amount, back);
    for (int32_t i = 0; i < n; i++) {
        const double wanted = -2 * amount * modes->squares[k] * x[i];
        wrong = fmax(wrong, fabs(there[i] - back[i] - wanted));
        size = fmax(size, fabs(wanted));
    }
    memcpy(b->state->q, q0, (size_t)n * sizeof *q0);
    check_ok(b->ctx, bough_tree_state_update(b->ctx, b->model, b->state));
    return wrong / size;
}

static void check_modes(bars *b, int32_t count, double limit) {
    bough_tree_modes *modes;
    check_ok(b->ctx, bough_tree_state_modes(b->ctx, b->model, b->state, count, &modes));
    check_int(modes->count, count);
    for (int32_t k = 0; k < count; k++) {
        check(modes->squares[k] > 0 && (k == 0 || modes->squares[k] >= modes->squares[k - 1]));
        check_near(modes->frequencies_hz[k], sqrt(modes->squares[k]) / (2 * M_PI), 1e-12 * modes->frequencies_hz[k]);
        check_below(crookedness(b, modes, k), limit);
    }
    bough_tree_modes_destroy(b->ctx, modes);
}

static void a_mode_pulls_straight_back(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int coupling = BOUGH_COUPLING_L1; coupling <= BOUGH_COUPLING_L3; coupling++)
        for (int flies = 0; flies < 2; flies++) {
            bars b;
            if (flies && coupling != BOUGH_COUPLING_L3)
                continue;
            prepare_bars(&b, ctx, 5, 0, flies);
            b.def.coupling = (bough_coupling)coupling;
            memset(b.def.gravity, 0, sizeof b.def.gravity);
            grow_bars(&b);
            check_modes(&b, 6, 1e-5);
            clear_bars(&b);
        }
    bough_context_destroy(ctx);
}

/* Weight and ties have their say about the equilibrium. */
static void weight_and_hinges_add_their_stiffness(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bars b;
    prepare_bars(&b, ctx, 4, 0, false);
    b.def.coupling = BOUGH_COUPLING_L3;
    b.parts[1].joint = hinge_about(0, 1, 0, 40, 0);
    b.parts[3].joint = ball_joint(20, 0);
    memcpy(b.def.gravity, (double[3]){0, 0, -9.81}, sizeof b.def.gravity);
    grow_bars(&b);
    check_ok(ctx, bough_tree_state_settle(ctx, b.model, b.state, NULL, NULL));
    check_modes(&b, 6, 1e-4);
    bough_tree_modes *with, *without;
    check_ok(ctx, bough_tree_state_modes(ctx, b.model, b.state, 2, &with));
    memset(b.state->gravity, 0, sizeof b.state->gravity);
    memset(b.state->q, 0, (size_t)bough_tree_model_size(b.model) * sizeof *b.state->q);
    check_ok(ctx, bough_tree_state_update(ctx, b.model, b.state));
    check_ok(ctx, bough_tree_state_modes(ctx, b.model, b.state, 2, &without));
    check(fabs(with->squares[0] / without->squares[0] - 1) > 1e-3);
    bough_tree_modes_destroy(ctx, with);
    bough_tree_modes_destroy(ctx, without);
    clear_bars(&b);
    bough_context_destroy(ctx);
}

/* A pendulum: a stiff bar in a hinge swings as sqrt(m g l / I), and upside down it falls. */
static void a_hinged_bar_is_a_pendulum(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int down = -1; down <= 1; down += 2) {
        bars b;
        bough_tree_modes *modes;
        bough_tree_energies energies;
        prepare_bars(&b, ctx, 2, 0, false);
        b.def.coupling = BOUGH_COUPLING_L3;
        b.parts[0].stiffness = b.parts[1].stiffness = 100;
        memcpy(b.parts[1].rotation, (double[9]){1, 0, 0, 0, 1, 0, 0, 0, 1}, sizeof b.parts[1].rotation);
        b.parts[1].joint = hinge_about(0, 1, 0, 0, 0);
        memcpy(b.def.gravity, (double[3]){9.81 * down, 0, 0}, sizeof b.def.gravity); /* bars lie along x */
        grow_bars(&b);
        check_ok(ctx, bough_tree_state_modes(ctx, b.model, b.state, 3, &modes));
        /* I about the hinge from the energy of a turn of 1 rad/s; m g l from that of a small turn. */
        const int32_t at = bough_tree_model_joint_offset(b.model, 1);
        b.state->v[at] = 1;
        check_ok(ctx, bough_tree_state_update(ctx, b.model, b.state));
        check_ok(ctx, bough_tree_state_energies(ctx, b.model, b.state, &energies));
        const double inertia = 2 * energies.kinetic, start = energies.gravity;
        b.state->v[at] = 0, b.state->q[at] = 1e-3;
        check_ok(ctx, bough_tree_state_update(ctx, b.model, b.state));
        check_ok(ctx, bough_tree_state_energies(ctx, b.model, b.state, &energies));
        const double stiffness = 2 * (energies.gravity - start) / 1e-6;
        check_near(modes->squares[0] * inertia / stiffness, 1, 2e-3); /* the bars bend a little */
        check_int(modes->unstable_count, down < 0);
        check(down > 0 ? modes->frequencies_hz[0] > 0 : modes->frequencies_hz[0] == 0);
        bough_tree_modes_destroy(ctx, modes);
        clear_bars(&b);
    }
    bough_context_destroy(ctx);
}

/* Locked and absent parts do not vibrate; asking for more modes than there are gives all of them. */
static void only_what_bends_vibrates(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bars b;
    bough_tree_modes *modes;
    prepare_bars(&b, ctx, 3, 0, false);
    b.def.coupling = BOUGH_COUPLING_L3;
    b.parts[1].locked = true;
    grow_bars(&b);
    const int32_t at = bough_tree_model_offset(b.model, 1);
    check_ok(ctx, bough_tree_state_modes(ctx, b.model, b.state, 1000, &modes));
    check_int(modes->count, 5 + 4);
    for (int32_t k = 0; k < modes->count; k++)
        for (int32_t l = 0; l < 4; l++)
            check(modes->shapes[k * modes->size + at + l] == 0);
    bough_tree_modes_destroy(ctx, modes);
    check_fails(ctx, bough_tree_state_modes(ctx, b.model, b.state, 0, &modes), BOUGH_ERROR_ARGUMENT, "at least");
    clear_bars(&b);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mode_pulls_straight_back),
        cmocka_unit_test(weight_and_hinges_add_their_stiffness),
        cmocka_unit_test(a_hinged_bar_is_a_pendulum),
        cmocka_unit_test(only_what_bends_vibrates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
