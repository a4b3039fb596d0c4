/* Roots: ones that fly, rigid or with something soft on them, beside ones that are held or led. */
#include "garden.h"

/* ---- flying and held ---- */

/* Roots that fly come in the order of their parts, whatever their components; rigid ones fly along parabolas, held
 * ones stay. */
static void roots_of_all_kinds(void **state) {
    (void)state;
    for (bough_coupling coupling = BOUGH_COUPLING_L1; coupling <= BOUGH_COUPLING_L3; coupling++) {
        garden g = till(1);
        test_random random = {8};
        const int32_t soft = add_kind(&g, 4, 2, BOUGH_REDUCED_LINEAR, true);
        const int32_t post = add_kind(&g, 5, 2, BOUGH_REDUCED_LINEAR, false);
        const int32_t stone = add_kind(&g, 0, 2, BOUGH_REDUCED_RIGID, true);
        const int32_t leaf = add_kind(&g, 3, 1, BOUGH_REDUCED_LINEAR, false);
        const int32_t kinds[6] = {stone, post, soft, stone, soft, post};
        for (int i = 0; i < 6; i++)
            add_part(&g, &random, kinds[i], -1, 0);
        add_part(&g, &random, leaf, 3, 1);
        add_part(&g, &random, leaf, 4, 1);
        g.def.coupling = coupling;
        plant(&g);
        check_int(g.state->root_count, 4);
        const int32_t flying[4] = {0, 2, 3, 4};
        for (int k = 0; k < 4; k++)
            check_int(g.state->roots[k].part, flying[k]);
        bough_tree_root *rock = &g.state->roots[0];
        rock->velocity[0] = 1, rock->angular_velocity[1] = 2;
        check_ok(g.ctx, bough_tree_state_update(g.ctx, g.model, g.state));
        const bough_tree_root start = *rock;
        const bough_frame held = g.state->frames[1];
        for (int step = 0; step < 100; step++)
            check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, 0.002));
        check_near(rock->centre[2], start.centre[2] + 0.2 * start.momentum[2] / start.mass - 0.5 * 9.81 * 0.04, 1e-4);
        for (int d = 0; d < 3; d++)
            check_near(g.state->frames[1].pose.position[d], held.pose.position[d], 0);
        clear(&g);
    }
}

/* A tree of stones tumbles the same in all couplings: it is the rigid body that they take its root's tree for. */
static void rigid_trees_tumble_alike(void **state) {
    (void)state;
    bough_tree_root exact = {0};
    for (int coupling = BOUGH_COUPLING_L3; coupling >= BOUGH_COUPLING_L1; coupling--) {
        garden g = till(1);
        test_random random = {61};
        const int32_t rock = add_kind(&g, 0, 3, BOUGH_REDUCED_RIGID, true);
        const int32_t stone = add_kind(&g, 0, 2, BOUGH_REDUCED_RIGID, false);
        add_part(&g, &random, rock, -1, 0);
        add_part(&g, &random, stone, 0, 1);
        add_part(&g, &random, stone, 1, 1);
        g.def.coupling = (bough_coupling)coupling;
        plant(&g);
        bough_tree_root *root = &g.state->roots[0];
        stir(&g, 62, 0, 0);
        load(&g, 0, 3);
        check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, 0.01));
        if (coupling == BOUGH_COUPLING_L3)
            exact = *root;
        check(length_of(3, root->angular_acceleration) > 0.1);
        for (int d = 0; d < 3; d++) {
            check_near(root->acceleration[d], exact.acceleration[d], 1e-11);
            check_near(root->angular_acceleration[d], exact.angular_acceleration[d], 1e-11);
        }
        clear(&g);
    }
}

static void cross(const double *a, const double *b, double *out) {
    for (int d = 0; d < 3; d++)
        out[d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
}

/* A tree that flies, with something soft on it. */
static garden kite(int32_t passes) {
    garden g = till(1);
    test_random random = {71};
    const int32_t frame = add_kind(&g, 0, 3, BOUGH_REDUCED_RIGID, true);
    const int32_t tail = add_kind(&g, 4, 2, BOUGH_REDUCED_LINEAR, false);
    add_part(&g, &random, frame, -1, 0);
    add_part(&g, &random, tail, 0, 1);
    memset(g.def.gravity, 0, sizeof g.def.gravity);
    g.def.passes = passes;
    plant(&g);
    return g;
}

/* A force on a vertex adds f dt to the momentum and x x f dt to the angular momentum about the world's origin. */
static void forces_turn_what_flies(void **state) {
    (void)state;
    const double force[3] = {5, -3, 2}, dt = 0.01;
    for (int32_t part = 0; part < 2; part++) {
        garden g = kite(0);
        stir(&g, 72, 0.1, 1);
        const bough_tree_root before = g.state->roots[0], *root = &g.state->roots[0];
        double x[3], v[3], torque[3];
        check_ok(g.ctx, bough_tree_state_vertex(g.ctx, g.model, g.state, part, 1, x, v));
        check_ok(g.ctx, bough_tree_state_add_force(g.ctx, g.model, g.state, part, 1, force));
        check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, dt));
        cross(x, force, torque);
        for (int d = 0; d < 3; d++) {
            check_near(root->momentum[d] - before.momentum[d], dt * force[d], 1e-12);
            check_near(root->angular_momentum[d] - before.angular_momentum[d], dt * torque[d], 1e-12);
        }
        clear(&g);
    }
}

/* The centre of mass of what tumbles alone does not accelerate: a + alpha x c + w x (w x c) = 0 of its frame. */
static void what_tumbles_accelerates_towards_its_centre(void **state) {
    (void)state;
    garden g = till(1);
    test_random random = {73};
    add_kind(&g, 0, 1, BOUGH_REDUCED_RIGID, true);
    add_part(&g, &random, 0, -1, 0);
    memset(g.def.gravity, 0, sizeof g.def.gravity);
    plant(&g);
    bough_tree_root *root = &g.state->roots[0];
    for (int d = 0; d < 3; d++)
        root->angular_velocity[d] = 4 - 3 * d;
    check_ok(g.ctx, bough_tree_state_update(g.ctx, g.model, g.state));
    for (int step = 0; step < 5; step++)
        check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, 0.01));
    double c[3], swept[3], wc[3], wwc[3];
    for (int d = 0; d < 3; d++)
        c[d] = root->centre[d] - root->pose.position[d];
    cross(root->angular_acceleration, c, swept);
    cross(root->angular_velocity, c, wc);
    cross(root->angular_velocity, wc, wwc);
    check(length_of(3, wwc) > 1);
    for (int d = 0; d < 3; d++)
        check_near(root->acceleration[d] + swept[d] + wwc[d], 0, 5e-3 * length_of(3, wwc));
    clear(&g);
}

/* By default inertia is evaluated twice for roots that fly, as with two passes; a held root is stepped neither as with
 * one nor as with two passes. */
static void passes_that_are_not_given(void **state) {
    (void)state;
    double a[2][3][4];
    for (int flies = 0; flies < 2; flies++)
        for (int passes = 0; passes < 3; passes++) {
            garden g = flies ? kite(0) : small_forest(false);
            g.state->passes = passes;
            stir(&g, 74, 0.05, 1);
            check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, 0.01));
            memcpy(a[flies][passes], g.state->a, sizeof a[flies][passes]);
            clear(&g);
        }
    check_int(memcmp(a[1][0], a[1][2], sizeof a[1][0]), 0);
    for (int passes = 1; passes < 3; passes++)
        check(memcmp(a[0][0], a[0][passes], sizeof a[0][0]) != 0);
}

/* A tree settles where its root is, as if that stood still, also when a track leads it past there at full speed. */
static void settling_stands_still(void **state) {
    (void)state;
    garden g = till(1);
    test_random random = {14};
    const int32_t post = add_kind(&g, 4, 2, BOUGH_REDUCED_LINEAR, false);
    add_part(&g, &random, post, -1, 0);
    add_part(&g, &random, post, 0, 1);
    const double time[3] = {0, 1, 2}, position[9] = {0, 0, 0, 3, 1, 0, 0, 5, 5};
    const double rotation[12] = {1, 0, 0, 0, 0.8, 0.6, 0, 0, 0.6, 0, 0.8, 0};
    g.parts[0].track = (bough_track){3, time, position, rotation};
    plant(&g);
    g.state->time = 1.2;
    check_ok(g.ctx, bough_tree_state_update(g.ctx, g.model, g.state));
    check(length_of(3, g.state->frames[0].velocity) > 1 && length_of(3, g.state->frames[0].angular_velocity) > 0.1);
    check_ok(g.ctx, bough_tree_state_settle(g.ctx, g.model, g.state, NULL, NULL));
    garden held = g;
    bough_part_def parts[2] = {g.parts[0], g.parts[1]};
    parts[0].track = (bough_track){0};
    memcpy(parts[0].rotation, g.state->frames[0].pose.rotation, sizeof parts[0].rotation);
    held.parts = parts;
    plant(&held);
    check_ok(held.ctx, bough_tree_state_settle(held.ctx, held.model, held.state, NULL, NULL));
    check(length_of(8, held.state->q) > 0.01);
    for (int k = 0; k < 8; k++)
        check_near(g.state->q[k], held.state->q[k], 1e-7);
    uproot(&held);
    clear(&g);
}

/* A tree vibrates about where its root is as if that stood still there, also when a track leads it past at full speed.
 */
static void modes_are_of_roots_that_stand_still(void **state) {
    (void)state;
    enum { COUNT = 4 };
    for (int coupling = BOUGH_COUPLING_L2R; coupling <= BOUGH_COUPLING_L3; coupling++) {
        garden g = till(1);
        test_random random = {14};
        const int32_t post = add_kind(&g, 4, 2, BOUGH_REDUCED_LINEAR, false);
        add_part(&g, &random, post, -1, 0);
        add_part(&g, &random, post, 0, 1);
        const double time[3] = {0, 1, 2}, position[9] = {0, 0, 0, 3, 1, 0, 0, 5, 5};
        const double rotation[12] = {1, 0, 0, 0, 0.8, 0.6, 0, 0, 0.6, 0, 0.8, 0};
        g.parts[0].track = (bough_track){3, time, position, rotation};
        g.def.coupling = (bough_coupling)coupling;
        plant(&g);
        g.state->time = 1.2;
        check_ok(g.ctx, bough_tree_state_update(g.ctx, g.model, g.state));
        check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, 1e-3));
        check(length_of(3, g.state->frames[0].velocity) > 1);
        garden held = g;
        bough_part_def parts[2] = {g.parts[0], g.parts[1]};
        parts[0].track = (bough_track){0};
        memcpy(parts[0].rotation, g.state->frames[0].pose.rotation, sizeof parts[0].rotation);
        held.parts = parts;
        plant(&held);
        memcpy(held.state->q, g.state->q, 8 * sizeof(double));
        check_ok(held.ctx, bough_tree_state_update(held.ctx, held.model, held.state));
        bough_tree_modes *led, *still;
        check_ok(g.ctx, bough_tree_state_modes(g.ctx, g.model, g.state, COUNT, &led));
        check_ok(held.ctx, bough_tree_state_modes(held.ctx, held.model, held.state, COUNT, &still));
        for (int k = 0; k < COUNT; k++)
            check_near(led->squares[k] / still->squares[k], 1, 1e-7);
        bough_tree_modes_destroy(g.ctx, led);
        bough_tree_modes_destroy(held.ctx, still);
        uproot(&held);
        clear(&g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modes_are_of_roots_that_stand_still),
        cmocka_unit_test(roots_of_all_kinds),
        cmocka_unit_test(rigid_trees_tumble_alike),
        cmocka_unit_test(forces_turn_what_flies),
        cmocka_unit_test(what_tumbles_accelerates_towards_its_centre),
        cmocka_unit_test(passes_that_are_not_given),
        cmocka_unit_test(settling_stands_still),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
