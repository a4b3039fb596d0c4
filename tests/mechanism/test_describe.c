/* Descriptions: what is refused, and with which sentence; memory that runs out. */
#include "mechanisms.h"

static void refused(bough_context *ctx, const sketch *s, const char *part) {
    bough_mechanism *m = NULL;
    check_fails(ctx, bough_mechanism_create(ctx, &s->def, &m), BOUGH_ERROR_ARGUMENT, part);
    check(!m);
}

/* A good fork, one thing of which is spoiled. */
#define SPOILED(change, part)                              \
    do {                                                   \
        sketch *s = fork_of_links(2, 2, BOUGH_JOINT_BALL); \
        change;                                            \
        refused(ctx, s, part);                             \
        free(s);                                           \
    } while (0)

static void links_are_checked(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    SPOILED(s->links[2].mass = 0, "link 2: its mass is 0 kg");
    SPOILED(s->links[2].mass = -1, "link 2: its mass is -1 kg");
    SPOILED(s->links[3].mass = NAN, "link 3: mass, inertia and centre must be finite");
    SPOILED(s->links[3].name = "elbow"; s->links[3].mass = 0, "link 3 (elbow): its mass");
    SPOILED(s->links[3].inertia[0] = 0, "symmetric positive definite");
    SPOILED(s->links[3].inertia[1] = 1, "symmetric positive definite");
    SPOILED(s->links[3].centre[1] = INFINITY, "finite");
    SPOILED(s->links[1].pose.rotation[0] = 2, "rotation matrix");
    SPOILED(s->links[1].pose.position[0] = NAN, "link 1: its pose");
    SPOILED(s->links[1].cookie = 0, "bough_default_rigid_body_def()");
    SPOILED(s->links[0].mass = 0; s->def.free_base = true, "link 0: its mass is 0");
    SPOILED(s->def.link_count = 1, "2 to");
    SPOILED(s->def.base = 99, "the base is link 99");
    SPOILED(s->def.cookie = 1, "bough_default_mechanism_def()");
    sketch *s = fork_of_links(2, 2, BOUGH_JOINT_BALL); /* a base that is held needs no mass */
    bough_mechanism *m = NULL;
    s->links[0].mass = 0;
    memset(s->links[0].inertia, 0, sizeof s->links[0].inertia);
    check_ok(ctx, bough_mechanism_create(ctx, &s->def, &m));
    bough_mechanism_destroy(ctx, m);
    free(s);
    bough_context_destroy(ctx);
}

static void joints_are_checked(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    static const double singular[9] = {1, 0, 0, 0, 0, 0, 0, 0, 1}, wild[9] = {1, 0, 0, 0, NAN, 0, 0, 0, 1};
    SPOILED(s->joints[1].stiffness[1] = 0, "joint 1: the stiffness of freedom 1 is 0");
    SPOILED(s->joints[1].stiffness[0] = -3, "must be above 0");
    SPOILED(s->joints[1].stiffness[2] = INFINITY, "finite");
    SPOILED(s->joints[1].damping[2] = -1, "damping of freedom 2 is -1");
    SPOILED(s->joints[1].offset[0] = NAN, "offset");
    SPOILED(s->joints[1].lower[0] = 2; s->joints[1].upper[0] = 1, "lower limit");
    check_int(bough_joint_freedoms((bough_joint_kind)99), 0);
    SPOILED(s->joints[1].limit_stiffness = -1, "stiffness of its limits is -1");
    SPOILED(s->joints[1].compliance = singular, "positive definite matrix of size 3");
    SPOILED(s->joints[1].compliance = wild, "positive definite matrix of size 3");
    SPOILED(s->joints[1].parent.body = 77, "its parent is link 77");
    SPOILED(s->joints[1].child.body = -2, "its child is link -2");
    SPOILED(s->joints[1].child.body = s->joints[1].parent.body, "with itself");
    SPOILED(s->joints[1].kind = (bough_joint_kind)99, "no joint of kind 99");
    SPOILED(s->joints[1].child.pose.rotation[4] = -1, "rotation matrices");
    SPOILED(s->joints[1].child.interface_index = 0, "links have none");
    SPOILED(s->effectors[0].interface_index = 2, "links have none");
    SPOILED(s->joints[1].cookie = 3, "bough_default_joint_def()");
    SPOILED(s->def.joint_count = 0, "1 to");
    bough_context_destroy(ctx);
}

/* Settings that joints may have, but not those of mechanisms. */
static void other_joints_are_refused(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    sketch *s = ladder(2, BOUGH_JOINT_HINGE);
    const bough_joint_def good = s->joints[1];
    bough_mechanism *m = NULL;
#define UNSUPPORTED(change, part)                                                                  \
    do {                                                                                           \
        s->joints[1] = good;                                                                       \
        change;                                                                                    \
        check_fails(ctx, bough_mechanism_create(ctx, &s->def, &m), BOUGH_ERROR_UNSUPPORTED, part); \
    } while (0)
    UNSUPPORTED(s->joints[1].kind = BOUGH_JOINT_WELD, "joint 1 is a weld");
    UNSUPPORTED(s->joints[1].kind = BOUGH_JOINT_FREE, "joint 1 is free");
    UNSUPPORTED(s->joints[1].start[0] = 0.1, "joint 1: coordinates of a mechanism follow from the rest poses");
    UNSUPPORTED(s->joints[1].friction[0] = 0.1, "joint 1: joints of a mechanism have no friction");
#undef UNSUPPORTED
    free(s);
    bough_context_destroy(ctx);
}

static void topology_is_checked(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    SPOILED(s->def.joint_count -= 1, "is not connected with the base");
    SPOILED(s->joints[1].child.pose.position[0] += 0.01,
            "joint 1 (ball) cannot close at the rest poses of links 1 and 2");
    SPOILED(s->effectors[0].body = 50, "end effector 0 is on link 50");
    SPOILED(s->effectors[1].body = 0, "on the base");
    SPOILED(s->effectors[1].pose.position[2] = NAN, "end effector 1");
    SPOILED(s->def.end_effector_count = 100, "100 end effectors");
    sketch *s = ladder(2, BOUGH_JOINT_HINGE); /* a loop whose last hinge is askew */
    s->joints[3].child.pose = bo_put_pose(bo_se3_mul(bo_pose(&s->joints[3].child.pose), at(0, 0, 0, 0.1, 0, 0)));
    refused(ctx, s, "joint 3 (hinge) cannot close");
    check(strstr(bough_message(ctx), "0.1 rad"));
    free(s);
    s = helix(3, BOUGH_JOINT_BALL);
    s->def.end_effector_count = 0; /* may be named later, but not never */
    bough_mechanism *m = NULL;
    bough_mechanism_statics *statics = NULL;
    check_ok(ctx, bough_mechanism_create(ctx, &s->def, &m));
    check_fails(ctx, bough_mechanism_statics_create(ctx, m, NULL, &statics), BOUGH_ERROR_ARGUMENT, "no end effectors");
    bough_mechanism_destroy(ctx, m);
    free(s);
    bough_context_destroy(ctx);
}

/* Stiffnesses that no double can hold apart end in a sentence or in numbers, never in what is neither. */
static void extremes_give_sentences_or_numbers(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    static const double extremes[] = {1e-300, 1e-150, 1e-20, 1e20, 1e150, 1e300};
    for (int i = 0; i < 72; i++) {
        sketch *s = i % 2 ? ladder(2, BOUGH_JOINT_BALL) : ring_of_links(5, BOUGH_JOINT_COMPLIANT);
        const double extreme = extremes[i / 2 % 6];
        if (i < 24)
            for (int k = 0; k < 6; k++)
                s->joints[i < 12 ? 1 : 3].stiffness[k] = extreme;
        else if (i < 48)
            for (int32_t j = 0; j < s->def.joint_count; j++)
                for (int k = 0; k < 6; k++)
                    s->joints[j].stiffness[k] = extreme;
        else
            for (int32_t l = 0; l < s->def.link_count; l++)
                s->links[l].mass = extreme;
        bough_mechanism *m = NULL;
        bough_mechanism_statics *statics = NULL;
        bough_mechanism_model *model = NULL;
        bough_mechanism_state *state = NULL;
        bough_status status = bough_mechanism_create(ctx, &s->def, &m);
        status = status ? status : bough_mechanism_statics_create(ctx, m, NULL, &statics);
        status = status ? status : bough_mechanism_model_create(ctx, m, statics, NULL, &model);
        status = status ? status : bough_mechanism_state_create(ctx, model, &state);
        if (!status)
            test_weigh(state->gravity);
        for (int k = 0; k < 5 && !status; k++)
            status = bough_mechanism_step(ctx, model, state, 0.01);
        if (status) {
            check(bough_message(ctx)[0]);
        } else {
            bough_mechanism_state_place(model, state);
            for (int32_t l = 0; l < s->def.link_count; l++)
                for (int k = 0; k < 3; k++)
                    check(isfinite(state->poses[l].position[k]));
        }
        bough_mechanism_state_destroy(ctx, state);
        bough_mechanism_model_destroy(ctx, model);
        bough_mechanism_statics_destroy(ctx, statics);
        bough_mechanism_destroy(ctx, m);
        free(s);
    }
    bough_context_destroy(ctx);
}

/* An arm stretched out straight cannot be pulled longer; it has that much less rank, and moves otherwise. */
static void a_singular_pose_has_less_rank(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    sketch *s = new_sketch();
    for (int i = 0; i < 4; i++)
        add_link(s, at(0.3 * i, 0, 0, 0, 0, 0), 1, 0.01, 0.01, 0.01);
    for (int i = 1; i < 4; i++)
        add_joint(s, BOUGH_JOINT_HINGE, i - 1, i, at(0.3 * i - 0.15, 0, 0, 0, 0, 0), 50, 0.1);
    add_effector(s, 3, bo_se3_identity());
    bough_mechanism *m = NULL;
    bough_mechanism_statics *statics = NULL;
    bough_mechanism_model *model = NULL;
    bough_mechanism_state *state = NULL;
    check_ok(ctx, bough_mechanism_create(ctx, &s->def, &m));
    check_ok(ctx, bough_mechanism_statics_create(ctx, m, NULL, &statics));
    check_ok(ctx, bough_mechanism_model_create(ctx, m, statics, NULL, &model));
    check_ok(ctx, bough_mechanism_state_create(ctx, model, &state));
    check_int(model->rank, 2);
    test_weigh(state->gravity);
    for (int k = 0; k < 100; k++) {
        state->wrench[0] = 1000, state->wrench[1] = 1;
        check_ok(ctx, bough_mechanism_step(ctx, model, state, 1));
    }
    check_near(state->xi[0], 0, 1e-12);
    check(state->xi[1] > 1e-4);
    bough_mechanism_state_destroy(ctx, state);
    bough_mechanism_model_destroy(ctx, model);
    bough_mechanism_statics_destroy(ctx, statics);
    bough_mechanism_destroy(ctx, m);
    free(s);
    bough_context_destroy(ctx);
}

/* Every allocation fails once; nothing leaks, and the next try succeeds. */
static void memory_that_runs_out_is_a_sentence(void **unused) {
    (void)unused;
    sketch *s = ladder(2, BOUGH_JOINT_BALL);
    static const double compliance[9] = {1e-3, 0, 0, 0, 1e-3, 0, 0, 0, 1e-3};
    s->joints[0].compliance = compliance, s->joints[0].name = "ankle", s->links[2].name = "shin";
    bool complete = false;
    for (long at_call = 0; !complete; at_call++) {
        test_memory memory = {.fail_at = -1};
        bough_context *ctx = test_counting_context(&memory);
        memory.fail_at = memory.calls + at_call;
        bough_mechanism *m = NULL, *moved = NULL;
        bough_mechanism_statics *statics[2] = {NULL, NULL};
        bough_mechanism_model *model = NULL;
        bough_mechanism_state *state = NULL;
        bough_full_mechanism *full = NULL;
        bough_mechanism_statics_def def = bough_default_mechanism_statics_def();
        def.method = BOUGH_MECHANISM_RECURSIVE;
        bough_status status = bough_mechanism_create(ctx, &s->def, &m);
        status = status ? status : bough_mechanism_statics_create(ctx, m, NULL, &statics[0]);
        status = status ? status : bough_mechanism_statics_create(ctx, m, &def, &statics[1]);
        status = status ? status : bough_mechanism_model_create(ctx, m, statics[0], NULL, &model);
        status = status ? status : bough_mechanism_state_create(ctx, model, &state);
        status = status ? status : bough_full_mechanism_create(ctx, m, &full);
        if (!status)
            test_weigh(full->gravity);
        status = status ? status : bough_full_mechanism_settle(ctx, full);
        status = status ? status : bough_mechanism_create_at(ctx, m, full->poses, &moved);
        complete = status == BOUGH_OK;
        check(complete || status == BOUGH_ERROR_MEMORY);
        bough_full_mechanism_destroy(ctx, full);
        bough_mechanism_state_destroy(ctx, state);
        bough_mechanism_model_destroy(ctx, model);
        for (int k = 0; k < 2; k++)
            bough_mechanism_statics_destroy(ctx, statics[k]);
        bough_mechanism_destroy(ctx, m);
        bough_mechanism_destroy(ctx, moved);
        check_int(memory.live, 1);
        bough_context_destroy(ctx);
        check(at_call < 500);
    }
    free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_are_checked),
        cmocka_unit_test(joints_are_checked),
        cmocka_unit_test(other_joints_are_refused),
        cmocka_unit_test(topology_is_checked),
        cmocka_unit_test(extremes_give_sentences_or_numbers),
        cmocka_unit_test(a_singular_pose_has_less_rank),
        cmocka_unit_test(memory_that_runs_out_is_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
