/* Forces on any link of a reduced model. */
#include "moving.h"

/* With all links where the state has them: the power of a force at a point of a link by a small change of z_k. */
static double power(moving m, int32_t link, const double point[3], const double force[3], int32_t k) {
    const double h = 1e-5;
    const size_t n = 6 * (size_t)m.model->end_effector_count;
    double *xi = calloc(n, sizeof *xi), work = 0;
    memcpy(xi, m.state->xi, n * sizeof *xi);
    for (int side = -1; side < 2; side += 2) {
        for (size_t i = 0; i < n; i++)
            m.state->xi[i] = xi[i] + side * h * m.model->Q[i * (size_t)m.model->rank + (size_t)k];
        bough_mechanism_state_place(m.model, m.state);
        work += side * bo_dot(bo_load3(force), bo_se3_apply(bo_pose(&m.state->poses[link]), bo_load3(point)));
    }
    memcpy(m.state->xi, xi, n * sizeof *xi);
    free(xi);
    return work / (2 * h);
}

static sketch *subject(int i, test_random *r) {
    sketch *s = i % 3 == 0   ? fork_of_links(2, 3, BOUGH_JOINT_BALL)
                : i % 3 == 1 ? ring_of_links(6, BOUGH_JOINT_COMPLIANT)
                             : helix(9, BOUGH_JOINT_UNIVERSAL);
    for (int32_t j = 0; j < s->def.joint_count; j++)
        s->joints[j].offset[0] = 0.02 * spread(r);
    s->def.free_base = i > 2;
    move_sketch(s, random_pose(r, 1));
    return s;
}

/* At the reference pose a push on an end effector's link is one on the end effector, also after the base has moved. */
static void a_push_on_its_link_is_one_on_the_end_effector(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {51};
    for (int i = 0; i < 6; i++) {
        sketch *s = subject(i, &r);
        for (int32_t j = 0; j < s->def.joint_count; j++)
            memset(s->joints[j].offset, 0, sizeof s->joints[j].offset);
        moving here = start(ctx, s), there = start(ctx, s);
        here.state->base = there.state->base = bo_put_pose(random_pose(&r, 2));
        const int32_t e = s->def.end_effector_count - 1, rank = here.model->rank;
        const double force[3] = {3, -2, 5}, torque[3] = {0.3, 0.5, -0.1};
        bough_mechanism_state_push(here.model, here.state, e, force, torque);
        bough_mechanism_state_push_link(there.model, there.state, s->effectors[e].body, s->effectors[e].pose.position,
                                        force, torque);
        for (int k = 0; k < 5; k++) { /* it goes on by itself */
            check_ok(ctx, bough_mechanism_step(ctx, here.model, here.state, 0.01));
            check_ok(ctx, bough_mechanism_step(ctx, there.model, there.state, 0.01));
        }
        const size_t n = 6 * (size_t)s->def.end_effector_count;
        check(rank > 0 && largest(n, here.state->xi) > 1e-6);
        check_below(difference(n, there.state->xi, here.state->xi), 1e-9);
        for (int k = 0; k < 6 && s->def.free_base; k++)
            check_near(there.state->base_twist[k], here.state->base_twist[k], 1e-9);
        stop(ctx, here);
        stop(ctx, there);
        free(s);
    }
    bough_context_destroy(ctx);
}

/* Bent, with springs that have offsets and a base that is elsewhere: the load is the power of the force where the links
 * are, and of a free base the wrench is that of the force about its origin. */
static void a_push_acts_where_the_link_is_now(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {52};
    for (int i = 0; i < 12; i++) {
        sketch *s = subject(i % 6, &r);
        moving m = start(ctx, s);
        const size_t n = 6 * (size_t)s->def.end_effector_count;
        const int32_t link = 1 + i % (s->def.link_count - 1), rank = m.model->rank;
        const double point[3] = {0.1, -0.2, 0.05}, force[3] = {spread(&r), 2, 1}, torque[3] = {0.2, 0, spread(&r)};
        const double none[3] = {0};
        m.state->base = bo_put_pose(random_pose(&r, 2));
        for (int32_t k = 0; k < rank; k++) {
            const double z = 0.5 * spread(&r);
            for (size_t p = 0; p < n; p++)
                m.state->xi[p] += z * m.model->Q[p * (size_t)rank + (size_t)k];
        }
        bough_mechanism_state_push_link(m.model, m.state, link, point, force, none);
        double most = largest((size_t)rank, m.state->load);
        check(most > 1e-6);
        for (int32_t k = 0; k < rank; k++)
            check_near(m.state->load[k], power(m, link, point, force, k), 1e-6 * most);
        bough_mechanism_state_place(m.model, m.state);
        const bo_se3 pose = bo_pose(&m.state->poses[link]), base = bo_pose(&m.state->base);
        const bo_vec3 arm = bo_sub(bo_se3_apply(pose, bo_load3(point)), base.t), f = bo_load3(force);
        double expected[6] = {0};
        if (s->def.free_base)
            bo_store_twist(expected, (bo_twist){bo_mat_tvec(base.R, f), bo_mat_tvec(base.R, bo_cross(arm, f))});
        for (int k = 0; k < 6; k++)
            check_near(m.state->base_wrench[k], expected[k], 1e-12);
        /* a pair of forces at two points is a torque */
        memset(m.state->load, 0, (size_t)rank * sizeof(double));
        memset(m.state->base_wrench, 0, sizeof m.state->base_wrench);
        double other[3], back[3], *load = calloc((size_t)rank, sizeof *load);
        bo_store3(back, bo_scale(-1, f));
        bo_store3(other, bo_add(bo_load3(point), bo_mat_tvec(pose.R, bo_load3(torque))));
        bough_mechanism_state_push_link(m.model, m.state, link, other, force, none);
        bough_mechanism_state_push_link(m.model, m.state, link, point, back, none);
        memcpy(load, m.state->load, (size_t)rank * sizeof(double));
        memset(m.state->load, 0, (size_t)rank * sizeof(double));
        bo_store3(other, bo_cross(bo_load3(torque), f));
        bough_mechanism_state_push_link(m.model, m.state, link, point, none, other);
        check_below(difference((size_t)rank, m.state->load, load), 1e-10);
        free(load);
        stop(ctx, m);
        free(s);
    }
    bough_context_destroy(ctx);
}

/* The end effectors go where they would if the link were one too: C_el = C_le^T, although the model has no C_ll. */
static void loads_on_links_move_the_end_effectors_as_statics_say(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {53};
    for (int i = 0; i < 12; i++) {
        sketch *s = i % 2 ? ladder(4, i % 4 == 1 ? BOUGH_JOINT_BALL : BOUGH_JOINT_HINGE) : random_sketch(&r, 8, i / 6);
        moving m = start(ctx, s);
        int32_t link = i % s->def.link_count;
        link = link == s->def.base ? (link + 1) % s->def.link_count : link;
        const double force[3] = {2, 1, -3}, torque[3] = {0.1, 0.4, 0.2};
        const bo_se3 frame = at(0.05, 0.1, -0.1, 0, 0, 0);
        const size_t n = 6 * (size_t)s->def.end_effector_count;
        bough_frame_def all[SKETCH_EFFECTORS];
        memcpy(all, s->effectors, sizeof all);
        all[s->def.end_effector_count] = bo_frame_on(link, bo_put_pose(frame));
        bough_mechanism_statics_def def = bough_default_mechanism_statics_def();
        bough_mechanism_statics *both = NULL;
        def.end_effector_count = s->def.end_effector_count + 1, def.end_effectors = all;
        check_ok(ctx, bough_mechanism_statics_create(ctx, m.mechanism, &def, &both));
        double expected[36] = {0}, w[6], point[3];
        const bo_mat3 R = bo_pose(&s->links[link].pose).R;
        bo_store_twist(w, (bo_twist){bo_mat_tvec(R, bo_load3(force)), bo_mat_tvec(R, bo_load3(torque))});
        for (size_t p = 0; p < n; p++)
            for (size_t q = 0; q < 6; q++)
                expected[p] += both->C[p * (n + 6) + n + q] * w[q];
        bo_store3(point, frame.t);
        bough_mechanism_state_push_link(m.model, m.state, link, point, force, torque); /* as it lies at rest */
        double *load = calloc((size_t)m.model->rank, sizeof *load);
        memcpy(load, m.state->load, (size_t)m.model->rank * sizeof *load);
        for (int k = 0; k < 300; k++) {
            memcpy(m.state->load, load, (size_t)m.model->rank * sizeof *load);
            check_ok(ctx, bough_mechanism_step(ctx, m.model, m.state, 10));
        }
        free(load);
        for (size_t p = 0; p < n; p++) /* where nothing reaches them: against what the load does elsewhere */
            check_near(m.state->xi[p], expected[p], 1e-8 * fmax(largest(n, expected), 1e-2));
        bough_mechanism_statics_destroy(ctx, both);
        stop(ctx, m);
        free(s);
    }
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_push_on_its_link_is_one_on_the_end_effector),
        cmocka_unit_test(a_push_acts_where_the_link_is_now),
        cmocka_unit_test(loads_on_links_move_the_end_effectors_as_statics_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
