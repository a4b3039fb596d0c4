/* The same things by other engines, and by other methods of time. */
#include "../tree/bars.h"
#include "rods.h"
#include "vibrations.h"

#include <bough/mechanism.h>

/* ---- trees of parts ---- */

enum { BARS = 5 };

static void grow_tree(bars *tree, bough_context *ctx) {
    prepare_bars(tree, ctx, BARS, 0, false);
    for (int i = 0; i < BARS; i++)
        tree->parts[i].scale = 1;
    memset(tree->def.gravity, 0, sizeof tree->def.gravity);
    grow_bars(tree);
}

/* The same parts, each clamped to an interface of another. */
static build *copy_tree(const bars *tree) {
    build *b = start_build();
    for (int i = 0; i < BARS; i++) {
        const bough_part_def *from = &tree->parts[i];
        bough_flexible_def *part = &b->parts[b->def.part_count++];
        *part = bough_default_flexible_def();
        part->component = from->component ? tree->limb : tree->root;
        part->clamp.body = from->parent, part->clamp.interface_index = from->parent < 0 ? -1 : from->interface_index;
        memcpy(part->clamp.pose.rotation, from->rotation, sizeof from->rotation);
    }
    finish_build(b);
    return b;
}

static void trees_have_the_same_frequencies(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    bars tree;
    grow_tree(&tree, ctx);
    build *b = copy_tree(&tree);
    bough_tree_modes *modes;
    double squares[128];
    check_ok(ctx, bough_tree_state_modes(ctx, tree.model, tree.state, 100, &modes));
    const int32_t count = vibrations(ctx, b->model, b->state, squares);
    check_int(count, modes->count);
    for (int32_t k = 0; k < count; k++)
        check_near(sqrt(squares[k] / modes->squares[k]), 1, 1e-09);
    bough_tree_modes_destroy(ctx, modes);
    free_build(b);
    clear_bars(&tree);
    bough_context_destroy(ctx);
}

/* The centre of the last part's far end. */
static bo_vec3 end_in_multibody(const build *b) {
    bough_frame_def end = bough_default_frame_def();
    end.body = BARS - 1, end.interface_index = 1;
    bough_pose pose;
    bough_multibody_frame(b->model, b->state, &end, &pose, NULL);
    return bo_load3(pose.position);
}
static bo_vec3 end_in_tree(const bars *tree) {
    double centre[3], rotation[9];
    const double *q = tree->state->q + bough_tree_model_offset(tree->model, BARS - 1);
    bough_component_interface_frame(tree->limb, 1, q, centre, rotation);
    return bo_se3_apply(bo_pose(&tree->state->frames[BARS - 1].pose), bo_load3(centre));
}

/* A tree that feels its weight all at once swings the same way for a second. */
static void trees_swing_alike(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    bars tree;
    grow_tree(&tree, ctx);
    build *b = copy_tree(&tree);
    tree.state->gravity[2] = b->state->gravity[2] = -9.81;
    const bo_vec3 start = end_in_tree(&tree);
    check_below(bo_norm(bo_sub(end_in_multibody(b), start)), 1e-14);
    double apart = 0, moved = 0;
    const double dt = 5e-4;
    for (int i = 0; i < 2000; i++) {
        check_ok(ctx, bough_tree_step(ctx, tree.model, tree.state, dt));
        take_step(b, dt);
        const bo_vec3 here = end_in_multibody(b), there = end_in_tree(&tree);
        const bo_vec3 gap = bo_sub(here, there), way = bo_sub(there, start);
        apart += bo_dot(gap, gap), moved += bo_dot(way, way);
    }
    check(sqrt(moved / 2000) > 0.5);
    check_below(sqrt(apart / moved), 3e-4);
    free_build(b);
    clear_bars(&tree);
    bough_context_destroy(ctx);
}

/* ---- mechanisms of links ---- */

enum { LINKS = 4 };
static const bough_joint_kind kinds[LINKS] = {BOUGH_JOINT_HINGE, BOUGH_JOINT_UNIVERSAL, BOUGH_JOINT_PRISMATIC,
                                              BOUGH_JOINT_HINGE};

/* A robot's arm with springs and dampers in its joints, which stand at 0 at the start. */
static build *make_arm(void) {
    build *b = start_build();
    bo_vec3 at = {0, 0, 0};
    for (int i = 0; i < LINKS; i++) {
        const bo_vec3 next = bo_add(at, bo_v3(0.3 - 0.04 * i, 0.05 * i, 0.1));
        add_body(b, 1 - 0.15 * i, bo_v3(0.004, 0.008, 0.006),
                 (bo_se3){bo_exp3(bo_v3(0.1 * i, 0.2, -0.3)), bo_scale(0.5, bo_add(at, next))});
        const int32_t j = add_joint(b, kinds[i], i - 1, i, place_along(at, bo_v3(0.3 * i, 1 - 0.2 * i, 0.4)));
        for (int k = 0; k < bough_joint_freedoms(kinds[i]); k++) {
            const bool slides = kinds[i] == BOUGH_JOINT_PRISMATIC;
            b->joints[j].stiffness[k] = slides ? 300 : 20, b->joints[j].damping[k] = slides ? 2 : 0.1;
        }
        at = next;
    }
    b->def.gravity[2] = -9.81;
    finish_build(b);
    return b;
}

/* The same with a base; its coordinates after `duration`. */
static void move_mechanism(const build *b, double duration, int steps, double *coordinates) {
    bough_context *ctx = test_context(1);
    bough_rigid_body_def links[LINKS + 1];
    bough_joint_def joints[LINKS];
    bough_mechanism_def def = bough_default_mechanism_def();
    links[0] = bough_default_rigid_body_def();
    memcpy(links + 1, b->bodies, LINKS * sizeof *links);
    memcpy(joints, b->joints, sizeof joints);
    for (int i = 0; i < LINKS; i++)
        joints[i].parent.body++, joints[i].child.body++;
    def.link_count = LINKS + 1, def.links = links, def.joint_count = LINKS, def.joints = joints;
    bough_frame_def effector = bough_default_frame_def();
    effector.body = LINKS;
    def.end_effector_count = 1, def.end_effectors = &effector;
    bough_mechanism *mechanism;
    bough_full_mechanism *full;
    check_ok(ctx, bough_mechanism_create(ctx, &def, &mechanism));
    check_ok(ctx, bough_full_mechanism_create(ctx, mechanism, &full));
    test_weigh(full->gravity);
    for (int i = 0; i < steps; i++)
        check_ok(ctx, bough_full_mechanism_step(ctx, full, duration / steps));
    memcpy(coordinates, full->coordinates, (size_t)bough_mechanism_coordinate_count(mechanism) * sizeof(double));
    bough_full_mechanism_destroy(ctx, full);
    bough_mechanism_destroy(ctx, mechanism);
    bough_context_destroy(ctx);
}

static void robots_move_alike_with_short_steps(void **unused) {
    (void)unused;
    build *b = make_arm();
    double exact[5], coarse[5], fine[5], error[2] = {0}, limit = 0, moved = 0;
    run_for(b, 0.4, 4000);
    for (int i = 0, k = 0; i < LINKS; k += bough_joint_freedoms(kinds[i++]))
        bough_multibody_joint_coordinates(b->model, b->state, i, exact + k, NULL);
    move_mechanism(b, 0.4, 2000, coarse);
    move_mechanism(b, 0.4, 4000, fine);
    for (int k = 0; k < 5; k++) {
        error[0] = fmax(error[0], fabs(coarse[k] - exact[k])), error[1] = fmax(error[1], fabs(fine[k] - exact[k]));
        limit = fmax(limit, fabs(2 * fine[k] - coarse[k] - exact[k])); /* its steps are of first order */
        moved = fmax(moved, fabs(exact[k]));
    }
    check(moved > 0.2);
    check_order(error[0], error[1], 1, 0.1);
    check_below(limit / moved, 1e-4);
    free_build(b);
}

/* At rest both hang in the same place. */
static void robots_rest_alike(void **unused) {
    (void)unused;
    build *b = make_arm();
    check_ok(b->ctx, bough_multibody_settle(b->ctx, b->model, b->state));
    double rest[5], there[5];
    for (int i = 0, k = 0; i < LINKS; k += bough_joint_freedoms(kinds[i++]))
        bough_multibody_joint_coordinates(b->model, b->state, i, rest + k, NULL);
    move_mechanism(b, 60, 3000, there); /* by then all is damped out */
    for (int k = 0; k < 5; k++)
        check_near(rest[k], there[k], 1e-6);
    free_build(b);
}

/* ---- methods of time ---- */

/* A flat four-bar on a turntable, with two swinging arms on its coupler. */
static build *make_contraption(void) {
    build *b = start_build();
    const bo_vec3 A = {0, 0, 0}, B = {0.4, 0, 0}, C = {0, 0.2, 0.05}, D = {0.45, 0.3, 0.05}, E = {0.2, 0.4, 0.05};
    const bo_vec3 tip = {0.3, 0.7, 0.2}, Z = {0, 0, 1};
    add_body(b, 2, bo_v3(0.05, 0.05, 0.05), place_at(bo_v3(0.2, 0, -0.1)));
    add_link(b, 0.4, A, C), add_link(b, 0.6, B, D), add_link(b, 0.5, C, D), add_link(b, 0.3, E, tip);
    add_hinge(b, BOUGH_WORLD, 0, bo_v3(0.2, 0, -0.1), bo_v3(0, 1, 0.3));
    add_hinge(b, 0, 1, A, Z), add_hinge(b, 0, 2, B, Z), add_hinge(b, 1, 3, C, Z);
    add_joint(b, BOUGH_JOINT_BALL, 2, 3, place_at(D));
    add_joint(b, BOUGH_JOINT_UNIVERSAL, 3, 4, place_at(E));
    b->def.gravity[2] = -9.81;
    finish_build(b);
    return b;
}

static bo_vec3 contraption_after(build *b, const char *method, int steps) {
    renew_state(b);
    if (method)
        use_method(b, method);
    run_for(b, 0.3, steps);
    return position_of(b, 4);
}

static void all_methods_converge_to_the_same_motion(void **unused) {
    (void)unused;
    build *b = make_contraption();
    const bo_vec3 exact = contraption_after(b, "sdirk", 6000);
    check(bo_norm(bo_sub(exact, bo_load3(b->bodies[4].pose.position))) > 0.1);
    static const char *const methods[] = {NULL, "bdf2", "generalised-alpha", "tr-bdf2", "sdirk"};
    for (int m = 0; m < 5; m++) {
        const double coarse = bo_norm(bo_sub(contraption_after(b, methods[m], 300), exact));
        const double fine = bo_norm(bo_sub(contraption_after(b, methods[m], 600), exact));
        check_below(fine, 1e-4);
        check_order(coarse, fine, 2, 0.25);
    }
    free_build(b);
}

/* A rod that swings under its own weight and that of a ball, on a hinge. */
static void rods_swing_alike_by_all_methods(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const rod_def rod = default_rod();
    bough_component *component = cook_rod(ctx, &rod);
    static const char *const methods[] = {"sdirk", NULL, "bdf2", "generalised-alpha", "tr-bdf2", "sdirk"};
    bo_vec3 exact = {0, 0, 0};
    for (int m = 0; m < 6; m++) {
        build *b = start_build();
        add_body(b, 0.2, bo_v3(1e-3, 1e-3, 1e-3), place_at(bo_v3(0, 0, 0)));
        add_body(b, 0.1, bo_v3(2e-5, 2e-5, 2e-5), place_at(bo_v3(rod.length, 0, 0)));
        add_hinge(b, BOUGH_WORLD, 0, bo_v3(0, 0, 0), bo_v3(0, 1, 0));
        add_part(b, component, 0, place_at(bo_v3(0, 0, 0)));
        weld_tip(b, 0, 1);
        b->def.gravity[2] = -9.81;
        finish_build(b);
        use_method(b, methods[m]);
        run_for(b, 0.5, m == 0 ? 4000 : 1000);
        if (m == 0)
            exact = position_of(b, 1);
        else
            check_below(bo_norm(bo_sub(position_of(b, 1), exact)), 1e-4);
        free_build(b);
    }
    bough_component_destroy(ctx, component);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_have_the_same_frequencies),         cmocka_unit_test(trees_swing_alike),
        cmocka_unit_test(robots_move_alike_with_short_steps),      cmocka_unit_test(robots_rest_alike),
        cmocka_unit_test(all_methods_converge_to_the_same_motion), cmocka_unit_test(rods_swing_alike_by_all_methods),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
