/* The distance between the two sides of a joint. */
#include "mechanisms.h"

static const bough_joint_kind kinds[] = {BOUGH_JOINT_HINGE, BOUGH_JOINT_PRISMATIC, BOUGH_JOINT_UNIVERSAL,
                                         BOUGH_JOINT_BALL, BOUGH_JOINT_COMPLIANT};

/* Two links with one joint between them. */
static bough_mechanism *pair_of(bough_context *ctx, bough_joint_kind kind, sketch *s) {
    bough_mechanism *m = NULL;
    add_link(s, at(0.1, -0.2, 0.3, 0.2, 0.3, -0.4), 1, 0.01, 0.01, 0.01);
    add_link(s, at(0.6, 0.1, 0.2, -0.3, 0.1, 0.5), 1, 0.01, 0.01, 0.01);
    add_joint(s, kind, 0, 1, at(0.35, 0, 0.25, 0.7, -0.2, 0.1), 100, 1);
    add_effector(s, 1, bo_se3_identity());
    check_ok(ctx, bough_mechanism_create(ctx, &s->def, &m));
    return m;
}

/* Places the child for joint coordinates theta, with its frame `off` from there. */
static bough_pose child_at(const bough_mechanism *m, const double *theta, bo_se3 off) {
    const bo_mechanism_joint *joint = &m->joints[0];
    const bo_se3 frame =
        bo_se3_mul(bo_se3_mul(bo_pose(&m->links[0].pose), joint->in_parent), bo_joint_pose(joint->kind, theta));
    return bo_put_pose(bo_se3_mul(bo_se3_mul(frame, off), bo_se3_inverse(joint->in_child)));
}

static void what_freedoms_can_do_is_no_gap(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {3};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int round = 0; round < 20; round++) {
            sketch *s = new_sketch();
            bough_mechanism *m = pair_of(ctx, kinds[k], s);
            double theta[6];
            for (int a = 0; a < 6; a++)
                theta[a] = 1.2 * spread(&r);
            const bough_pose poses[2] = {s->links[0].pose, child_at(m, theta, bo_se3_identity())};
            const bough_mechanism_gap gap = bough_mechanism_largest_gap(m, poses);
            check_int(gap.joint, 0);
            check_below(gap.distance, 1e-14);
            check_below(gap.angle, 1e-13);
            check_near(bough_mechanism_joint_value(m, 0, poses), theta[0], 1e-12);
            bough_mechanism_destroy(ctx, m);
            free(s);
        }
    bough_context_destroy(ctx);
}

/* The axes of a hinge that are tilted by 0.1 rad are 0.1 rad apart, and its frames that are pulled apart by 3 and 4 cm
 * are 5 cm apart; a slider may be anywhere along its axis, and a ball turned anyhow. */
static void gaps_are_what_was_pulled_apart(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    static const double tilted[5] = {0.1, 0.1, 0, 0, 0}; /* about x: a universal joint and a ball can do that */
    static const double pulled[5] = {0.05, 0.03, 0.05, 0.05, 0};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        sketch *s = new_sketch();
        bough_mechanism *m = pair_of(ctx, kinds[k], s);
        const double theta[6] = {0};
        bough_pose poses[2] = {s->links[0].pose, child_at(m, theta, at(0, 0, 0, 0.1, 0, 0))};
        bough_mechanism_gap gap = bough_mechanism_joint_gap(m, 0, poses);
        check_near(gap.angle, tilted[k], 1e-13);
        check_below(gap.distance, 1e-12);
        check_near(gap.error, gap.angle, 1e-7);
        poses[1] = child_at(m, theta, at(0.03, 0, 0.04, 0, 0, 0));
        gap = bough_mechanism_joint_gap(m, 0, poses);
        check_near(gap.distance, pulled[k], 1e-12);
        check_below(gap.angle, 1e-13);
        check_near(gap.error, gap.distance / bough_mechanism_radius(m), 1e-7);
        check_near(bough_mechanism_constraint_error(m, poses), gap.distance / bough_mechanism_radius(m), 1e-12);
        bough_mechanism_destroy(ctx, m);
        free(s);
    }
    bough_context_destroy(ctx);
}

static void the_joint_that_is_open_most_is_named(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    sketch *s = helix(9, BOUGH_JOINT_BALL);
    bough_mechanism *m = NULL;
    check_ok(ctx, bough_mechanism_create(ctx, &s->def, &m));
    bough_pose poses[SKETCH_LINKS];
    for (int32_t i = 0; i < s->def.link_count; i++)
        poses[i] = s->links[i].pose;
    check_below(bough_mechanism_largest_gap(m, poses).error, 1e-12);
    for (int32_t open = 0; open < s->def.joint_count; open++) {
        /* everything beyond the joint goes 2 cm aside, and beyond the next 5 mm more */
        bough_pose moved[SKETCH_LINKS];
        for (int32_t i = 0; i < s->def.link_count; i++) {
            moved[i] = poses[i];
            moved[i].position[1] += i > open + 1 ? 0.025 : i > open ? 0.02 : 0;
        }
        const bough_mechanism_gap gap = bough_mechanism_largest_gap(m, moved);
        check_int(gap.joint, open);
        check_near(gap.distance, 0.02, 1e-12);
    }
    bough_mechanism_destroy(ctx, m);
    free(s);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_freedoms_can_do_is_no_gap),
        cmocka_unit_test(gaps_are_what_was_pulled_apart),
        cmocka_unit_test(the_joint_that_is_open_most_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
