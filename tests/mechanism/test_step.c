/* Steps of reduced models and the links that follow. */
#include "moving.h"

#include "dense/lu.h"
#include "mechanism/links.h"

static double energy_of(moving m) {
    const bough_mechanism_energies e = bough_mechanism_state_energies(m.model, m.state);
    return e.kinetic + e.elastic + e.gravity;
}
/* H_i = H_i0 exp(Psi_i xi), also where a link turns by more than the series of the batch reach. */
static void links_are_where_their_twists_lead(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {3};
    double furthest = 0;
    for (int i = 0; i < 24; i++) {
        sketch *s = i % 2 ? helix(5 + i, BOUGH_JOINT_BALL) : ladder(1 + i / 2, BOUGH_JOINT_HINGE);
        moving m = start(ctx, s);
        const size_t n = 6 * (size_t)s->def.end_effector_count;
        for (size_t k = 0; k < n; k++) {
            m.state->xi[k] = 0;
            for (int32_t d = 0; d < m.model->rank; d++)
                m.state->xi[k] += m.model->Q[k * (size_t)m.model->rank + (size_t)d] * (i < 12 ? 0.3 : 4) * spread(&r);
        }
        bough_mechanism_state_place(m.model, m.state);
        double turn = 0;
        for (int32_t l = 0; l < s->def.link_count; l++) {
            double x[6] = {0};
            for (size_t k = 0; k < 6 * n; k++)
                x[k / n] += m.model->Psi[6 * (size_t)l * n + k] * m.state->xi[k % n];
            turn = fmax(turn, bo_norm(bo_load3(x + 3)));
            check_pose(&m.state->poses[l], bo_se3_mul(bo_pose(&s->links[l].pose), bo_se3_exp(bo_load_twist(x))), 1e-10);
        }
        furthest = fmax(furthest, turn);
        const bough_pose end = bough_mechanism_state_end_effector(m.model, m.state, 0);
        if (i % 2)
            check_pose(&m.state->poses[s->effectors[0].body], bo_pose(&end), 1e-9);
        stop(ctx, m);
        free(s);
    }
    check(furthest > 3);
    bough_context_destroy(ctx);
}

/* Beside a link that turns many times, one that stays and one that hardly moves. */
static void links_of_one_batch_may_turn_by_any_angle(void **unused) {
    (void)unused;
    static const double turns[] = {0, 1e-200, 1e-9, 1e-3, 1, 3.1, 3.14159265, 3.2, 6.28318, 7, 40, 1000};
    enum { COUNT = sizeof turns / sizeof *turns };
    bough_context *ctx = test_context(1);
    test_random r = {31};
    for (int round = 0; round < 50; round++) {
        bo_mechanism_lanes *lanes = NULL;
        bo_se3 rest[COUNT];
        double twists[COUNT][6];
        bough_pose poses[COUNT];
        check_ok(ctx, bo_lanes_create(ctx, COUNT, 1, &lanes));
        for (int32_t i = 0; i < COUNT; i++) {
            const bo_vec3 axis = bo_normalize(bo_v3(spread(&r), spread(&r), spread(&r)));
            rest[i] = random_pose(&r, 1);
            bo_lanes_rest(lanes, i, rest[i]);
            bo_store_twist(twists[i], (bo_twist){{spread(&r), spread(&r), spread(&r)},
                                                 bo_scale(turns[test_bits(&r) % COUNT], axis)});
            bo_lanes_put(lanes, i, 1, rest[i].R, twists[i]);
        }
        bo_lanes_place(NULL, lanes, COUNT, (double[]){1}, NULL, poses);
        for (int32_t i = 0; i < COUNT; i++) {
            const bo_twist t = bo_load_twist(twists[i]);
            check_pose(&poses[i], bo_se3_mul(rest[i], bo_se3_exp(t)), 1e-14 * (10 + bo_norm(t.w)));
        }
        bo_lanes_destroy(ctx, lanes);
    }
    bough_context_destroy(ctx);
}

/* Thousands of links, placed by any number of threads: the same bits, with a base that stays and one that has moved. */
static void links_are_the_same_by_any_number_of_threads(void **unused) {
    (void)unused;
    enum { COUNT = 5003 };
    test_random r = {32};
    bough_context *contexts[3] = {test_context(1), test_context(2), test_context(5)};
    bo_mechanism_lanes *lanes = NULL;
    bough_pose *poses = calloc(COUNT, sizeof *poses), *others = calloc(COUNT, sizeof *others);
    const double z[3] = {0.3, -0.7, 1.1};
    const bo_se3 moved = random_pose(&r, 1);
    check_ok(contexts[0], bo_lanes_create(contexts[0], COUNT, 3, &lanes));
    for (int32_t i = 0; i < COUNT; i++) {
        const bo_se3 rest = random_pose(&r, 1);
        bo_lanes_rest(lanes, i, rest);
        for (int32_t c = 0; c < 4; c++)
            bo_lanes_put(lanes, i, c, rest.R,
                         (double[6]){spread(&r), spread(&r), spread(&r), spread(&r), spread(&r), spread(&r)});
    }
    for (int base = 0; base < 2; base++) {
        bo_lanes_place(NULL, lanes, COUNT, z, base ? &moved : NULL, poses);
        for (int k = 0; k < 3; k++) {
            memset(others, 0, COUNT * sizeof *others);
            bo_lanes_place(contexts[k], lanes, COUNT, z, base ? &moved : NULL, others);
            check(!memcmp(poses, others, COUNT * sizeof *poses));
        }
    }
    bo_lanes_destroy(contexts[0], lanes);
    free(poses), free(others);
    for (int k = 0; k < 3; k++)
        bough_context_destroy(contexts[k]);
}

/* (M + h D + h^2 K) phi+ = M phi + h (w - K xi), xi+ = xi + h phi+, with the whole matrices where they are regular. */
static void a_step_is_backward_euler(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {4};
    sketch *s = fork_of_links(3, 4, BOUGH_JOINT_BALL);
    moving m = start(ctx, s);
    enum { N = 12 };
    check_int(m.model->rank, N);
    for (int i = 0; i < 6; i++) {
        const double h = i < 3 ? 0.01 : 0.002;
        double A[N * N], b[N], xi[N];
        int32_t pivots[N];
        for (int k = 0; k < N; k++) {
            m.state->phi[k] = spread(&r), m.state->xi[k] = 0.1 * spread(&r), m.state->wrench[k] = spread(&r);
            xi[k] = m.state->xi[k];
        }
        for (int p = 0; p < N; p++) {
            b[p] = h * m.state->wrench[p];
            for (int q = 0; q < N; q++) {
                const int at_pq = N * p + q;
                A[at_pq] = m.model->M[at_pq] + h * m.model->D[at_pq] + h * h * m.model->K[at_pq];
                b[p] += m.model->M[at_pq] * m.state->phi[q] - h * m.model->K[at_pq] * xi[q];
            }
        }
        check(bo_lu_factor(N, A, pivots));
        bo_lu_solve(N, A, pivots, b);
        check_ok(ctx, bough_mechanism_step(ctx, m.model, m.state, h));
        for (int k = 0; k < N; k++) {
            check_near(m.state->phi[k], b[k], 1e-10 * largest(N, b));
            check_near(m.state->xi[k], xi[k] + h * b[k], 1e-9);
        }
    }
    stop(ctx, m);
    free(s);
    bough_context_destroy(ctx);
}

static void energy_decays_with_damping(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    for (int free_base = 0; free_base < 2; free_base++) {
        double left[2];
        for (int damped = 0; damped < 2; damped++) {
            sketch *s = fork_of_links(3, 4, BOUGH_JOINT_BALL);
            s->def.free_base = free_base;
            for (int32_t j = 0; j < s->def.joint_count && !damped; j++)
                memset(s->joints[j].damping, 0, sizeof s->joints[j].damping);
            moving m = start(ctx, s);
            for (int k = 0; k < 100; k++) {
                m.state->wrench[2] = 30, m.state->wrench[6] = -20;
                check_ok(ctx, bough_mechanism_step(ctx, m.model, m.state, 1e-3));
            }
            const double first = energy_of(m);
            double before = first;
            for (int k = 0; k < 2000; k++) {
                check_ok(ctx, bough_mechanism_step(ctx, m.model, m.state, 1e-3));
                const double now = energy_of(m);
                check(now <= before * (1 + 1e-12));
                before = now;
            }
            left[damped] = bough_mechanism_state_energies(m.model, m.state).elastic / first;
            stop(ctx, m);
            free(s);
        }
        check(left[1] < 0.8 * left[0]);
    }
    bough_context_destroy(ctx);
}

/* Under its weight and a load a mechanism comes to rest where statics say: C w + sum over links of twists^T weight. */
static void it_settles_where_statics_say(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    sketch *all[] = {helix(20, BOUGH_JOINT_BALL), ladder(4, BOUGH_JOINT_HINGE),
                     fork_of_links(2, 3, BOUGH_JOINT_UNIVERSAL)};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        sketch *s = all[i];
        for (int32_t l = 0; l < s->def.link_count; l++)
            s->links[l].centre[1] = 0.02;
        moving m = start(ctx, s);
        const size_t n = 6 * (size_t)s->def.end_effector_count;
        const double force[3] = {3, -2, 1}, torque[3] = {0.1, 0.2, -0.3}, gravity[3] = {1, 2, -9};
        memcpy(m.state->gravity, gravity, sizeof gravity);
        bough_mechanism_state_push(m.model, m.state, 0, force, torque);
        double expected[12] = {0};
        for (size_t p = 0; p < n; p++)
            for (size_t q = 0; q < n; q++)
                expected[p] += m.statics->C[n * p + q] * m.state->wrench[q];
        for (int32_t l = 0; l < s->def.link_count; l++) {
            const bo_vec3 f = bo_scale(s->links[l].mass, bo_mat_tvec(bo_pose(&s->links[l].pose).R, bo_load3(gravity)));
            double w[6];
            bo_store_twist(w, (bo_twist){f, bo_cross(bo_load3(s->links[l].centre), f)});
            for (size_t k = 0; k < 6; k++)
                for (size_t p = 0; p < n; p++)
                    expected[p] += m.statics->twists[(6 * (size_t)l + k) * n + p] * w[k];
        }
        for (int k = 0; k < 200; k++) {
            check_ok(ctx, bough_mechanism_step(ctx, m.model, m.state, 10));
            bough_mechanism_state_push(m.model, m.state, 0, force, torque);
        }
        for (size_t p = 0; p < n; p++)
            check_near(m.state->xi[p], expected[p], 1e-7 * largest(n, expected));
        stop(ctx, m);
        free(s);
    }
    bough_context_destroy(ctx);
}

/* Springs with offsets pull the mechanism where they want to be, and its links with it. */
static void offsets_move_the_equilibrium(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    sketch *s = helix(6, BOUGH_JOINT_HINGE);
    for (int32_t j = 0; j < s->def.joint_count; j++)
        s->joints[j].offset[0] = 1e-4 * (j + 1);
    moving m = start(ctx, s);
    for (int k = 0; k < 200; k++)
        check_ok(ctx, bough_mechanism_step(ctx, m.model, m.state, 10));
    bough_mechanism_state_place(m.model, m.state);
    for (int32_t l = 0; l < s->def.link_count; l++)
        check_pose(
            &m.state->poses[l],
            bo_se3_mul(bo_pose(&s->links[l].pose), bo_se3_exp(bo_load_twist(m.statics->offset_twists + 6 * (size_t)l))),
            1e-9);
    check_below(bough_mechanism_state_energies(m.model, m.state).elastic, 1e-12);
    stop(ctx, m);
    free(s);
    bough_context_destroy(ctx);
}

/* Motors that are set while it runs take the mechanism where one that was made with these offsets goes, end effectors
 * and links, in trees and loops. */
static void motors_are_offsets_that_change(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {22};
    for (int i = 0; i < 12; i++) {
        sketch *s = i % 3 == 0   ? ladder(3, BOUGH_JOINT_BALL)
                    : i % 3 == 1 ? ring_of_links(5, BOUGH_JOINT_COMPLIANT)
                                 : random_sketch(&r, 6, 0);
        moving m = start(ctx, s);
        bough_mechanism_statics_def def = bough_default_mechanism_statics_def();
        const int32_t motors[3] = {1, 0, bough_mechanism_coordinate_count(m.mechanism) - 1};
        const double angles[3] = {0.01, -0.02, 0.015};
        def.motor_count = 3, def.motors = motors;
        bough_mechanism_state_destroy(ctx, m.state);
        bough_mechanism_model_destroy(ctx, m.model);
        bough_mechanism_statics_destroy(ctx, m.statics);
        check_ok(ctx, bough_mechanism_statics_create(ctx, m.mechanism, &def, &m.statics));
        check_ok(ctx, bough_mechanism_model_create(ctx, m.mechanism, m.statics, NULL, &m.model));
        check_ok(ctx, bough_mechanism_state_create(ctx, m.model, &m.state));
        test_weigh(m.state->gravity);
        for (int k = 0; k < 3; k++) {
            m.state->motors[k] = angles[k];
            for (int32_t j = 0; j < s->def.joint_count; j++) {
                const int32_t at_joint = motors[k] - bough_mechanism_coordinate_offset(m.mechanism, j);
                if (at_joint >= 0 && at_joint < bough_joint_freedoms(s->joints[j].kind))
                    s->joints[j].offset[at_joint] = angles[k];
            }
        }
        moving other = start(ctx, s);
        memcpy(other.state->gravity, m.state->gravity, sizeof m.state->gravity);
        for (int k = 0; k < 20; k++) {
            check_ok(ctx, bough_mechanism_step(ctx, m.model, m.state, 0.01));
            check_ok(ctx, bough_mechanism_step(ctx, other.model, other.state, 0.01));
        }
        bough_mechanism_state_place(m.model, m.state);
        bough_mechanism_state_place(other.model, other.state);
        for (int32_t l = 0; l < s->def.link_count; l++)
            check_pose(&m.state->poses[l], bo_pose(&other.state->poses[l]), 1e-9);
        check_near(bough_mechanism_state_energies(m.model, m.state).elastic,
                   bough_mechanism_state_energies(other.model, other.state).elastic, 1e-9);
        check(bough_mechanism_state_energies(m.model, m.state).elastic > 0);
        stop(ctx, m);
        stop(ctx, other);
        free(s);
    }
    sketch *s = helix(3, BOUGH_JOINT_BALL);
    moving m = start(ctx, s);
    bough_mechanism_statics_def def = bough_default_mechanism_statics_def();
    bough_mechanism_statics *none = NULL;
    const int32_t wrong[1] = {9};
    def.motor_count = 1, def.motors = wrong;
    check_fails(ctx, bough_mechanism_statics_create(ctx, m.mechanism, &def, &none), BOUGH_ERROR_ARGUMENT,
                "coordinates are 0 .. 8");
    stop(ctx, m);
    free(s);
    bough_context_destroy(ctx);
}

/* A ladder of hinges moves in one direction; what pushes across it, or would have it move so, does nothing. */
static void what_a_mechanism_cannot_do_is_never_free(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    sketch *s = ladder(4, BOUGH_JOINT_HINGE);
    moving m = start(ctx, s);
    check_int(m.model->rank, 1);
    const double up[3] = {0, 100, 100}, none[3] = {0};
    m.state->phi[1] = 3, m.state->phi[4] = 2;
    for (int k = 0; k < 100; k++) {
        bough_mechanism_state_push(m.model, m.state, 0, up, up);
        check_ok(ctx, bough_mechanism_step(ctx, m.model, m.state, 0.01));
    }
    for (int k = 0; k < 6; k++)
        check_near(m.state->xi[k], 0, 1e-9);
    const double across[3] = {10, 0, 0};
    bough_mechanism_state_push(m.model, m.state, 0, across, none);
    check_ok(ctx, bough_mechanism_step(ctx, m.model, m.state, 0.01));
    check(m.state->xi[0] > 1e-6);
    stop(ctx, m);
    free(s);
    bough_context_destroy(ctx);
}

/* Momentum in the world: of the base's axes M_base, M_coupling. */
static void momentum(moving m, double p[6]) {
    double z[12] = {0}, body[6];
    const int32_t n = 6 * m.model->end_effector_count, rank = m.model->rank;
    for (int32_t k = 0; k < rank; k++)
        for (int32_t i = 0; i < n; i++)
            z[k] += m.model->P[k * n + i] * m.state->phi[i];
    for (int i = 0; i < 6; i++) {
        body[i] = 0;
        for (int j = 0; j < 6; j++)
            body[i] += m.model->M_base[6 * i + j] * m.state->base_twist[j];
        for (int32_t k = 0; k < rank; k++)
            body[i] += m.model->M_coupling[i * rank + k] * z[k];
    }
    bo_store_twist(p, bo_ad_transposed(bo_se3_inverse(bo_pose(&m.state->base)), bo_load_twist(body)));
}

static void a_free_mechanism_keeps_its_momentum_and_falls(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {6};
    sketch *s = fork_of_links(3, 4, BOUGH_JOINT_BALL);
    s->def.free_base = true;
    move_sketch(s, random_pose(&r, 1));
    moving m = start(ctx, s);
    double first[6], last[6];
    for (int k = 0; k < 6; k++)
        m.state->base_twist[k] = 2 * spread(&r);
    for (int k = 0; k < 12; k++)
        m.state->phi[k] = 0.5 * spread(&r);
    momentum(m, first);
    for (int k = 0; k < 500; k++)
        check_ok(ctx, bough_mechanism_step(ctx, m.model, m.state, 0.002));
    momentum(m, last);
    for (int k = 0; k < 6; k++)
        check_near(last[k], first[k], 1e-10 * largest(6, first));
    /* an end effector that is pushed for a second hands its impulse on */
    const double force[3] = {1, 2, 3}, none[3] = {0};
    for (int k = 0; k < 500; k++) {
        bough_mechanism_state_push(m.model, m.state, 1, force, none);
        check_ok(ctx, bough_mechanism_step(ctx, m.model, m.state, 0.002));
    }
    momentum(m, last);
    for (int k = 0; k < 3; k++)
        check_near(last[k] - first[k], force[k], 1e-8);
    /* and it falls as everything does */
    stop(ctx, m);
    m = start(ctx, s);
    m.state->gravity[2] = -10;
    for (int k = 0; k < 100; k++)
        check_ok(ctx, bough_mechanism_step(ctx, m.model, m.state, 0.01));
    check_near(m.state->base.position[2] - s->links[0].pose.position[2], -10 * 0.5 * 1.01, 1e-9);
    for (int k = 0; k < 12; k++)
        check_near(m.state->xi[k], 0, 1e-9);
    bough_mechanism_state_place(m.model, m.state);
    for (int32_t l = 0; l < s->def.link_count; l++)
        check_near(m.state->poses[l].position[2] - s->links[l].pose.position[2], -10 * 0.5 * 1.01, 1e-8);
    stop(ctx, m);
    free(s);
    bough_context_destroy(ctx);
}

static void a_mechanism_moved_in_space_swings_the_same(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {12};
    for (int i = 0; i < 4; i++) {
        sketch *s = i % 2 ? fork_of_links(2, 3, BOUGH_JOINT_BALL) : ladder(3, BOUGH_JOINT_HINGE);
        s->def.free_base = i > 1;
        const bo_se3 g = random_pose(&r, 20);
        moving here = start(ctx, s);
        move_sketch(s, g);
        moving there = start(ctx, s);
        const bo_vec3 weight = bo_v3(3, 1, -9), force = bo_v3(5, 4, 3);
        double a[3], b[3];
        const double none[3] = {0};
        bo_store3(here.state->gravity, weight);
        bo_store3(there.state->gravity, bo_mat_vec(g.R, weight));
        bo_store3(a, force), bo_store3(b, bo_mat_vec(g.R, force));
        for (int k = 0; k < 50; k++) {
            bough_mechanism_state_push(here.model, here.state, 0, a, none);
            bough_mechanism_state_push(there.model, there.state, 0, b, none);
            check_ok(ctx, bough_mechanism_step(ctx, here.model, here.state, 0.01));
            check_ok(ctx, bough_mechanism_step(ctx, there.model, there.state, 0.01));
        }
        bough_mechanism_state_place(here.model, here.state);
        bough_mechanism_state_place(there.model, there.state);
        for (int32_t l = 0; l < s->def.link_count; l++)
            check_pose(&there.state->poses[l], bo_se3_mul(g, bo_pose(&here.state->poses[l])), 1e-8);
        stop(ctx, here);
        stop(ctx, there);
        free(s);
    }
    bough_context_destroy(ctx);
}

/* A step that fails leaves the state as it was; one that succeeds allocates nothing. */
static void steps_are_transactions_and_allocate_nothing(void **unused) {
    (void)unused;
    test_memory memory = {.fail_at = -1};
    bough_context *ctx = test_counting_context(&memory);
    sketch *s = fork_of_links(2, 3, BOUGH_JOINT_BALL);
    moving m = start(ctx, s);
    const long calls = memory.calls;
    m.state->wrench[0] = 1;
    check_ok(ctx, bough_mechanism_step(ctx, m.model, m.state, 0.01));
    bough_mechanism_state_place(m.model, m.state);
    const double x = m.state->xi[0];
    check(x != 0);
    check_fails(ctx, bough_mechanism_step(ctx, m.model, m.state, 0), BOUGH_ERROR_ARGUMENT, "above 0");
    check_fails(ctx, bough_mechanism_step(ctx, m.model, m.state, NAN), BOUGH_ERROR_ARGUMENT, "above 0");
    m.state->wrench[3] = NAN;
    check_fails(ctx, bough_mechanism_step(ctx, m.model, m.state, 0.01), BOUGH_NOT_FINITE, "not finite");
    check(m.state->xi[0] == x && m.state->time == 0.01);
    m.state->wrench[3] = 0;
    check_ok(ctx, bough_mechanism_step(ctx, m.model, m.state, 0.02));
    check_int(memory.calls, calls);
    stop(ctx, m);
    check_int(memory.live, 1); /* the context */
    bough_context_destroy(ctx);
    free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_are_where_their_twists_lead),
        cmocka_unit_test(links_of_one_batch_may_turn_by_any_angle),
        cmocka_unit_test(links_are_the_same_by_any_number_of_threads),
        cmocka_unit_test(a_step_is_backward_euler),
        cmocka_unit_test(energy_decays_with_damping),
        cmocka_unit_test(it_settles_where_statics_say),
        cmocka_unit_test(offsets_move_the_equilibrium),
        cmocka_unit_test(motors_are_offsets_that_change),
        cmocka_unit_test(what_a_mechanism_cannot_do_is_never_free),
        cmocka_unit_test(a_free_mechanism_keeps_its_momentum_and_falls),
        cmocka_unit_test(a_mechanism_moved_in_space_swings_the_same),
        cmocka_unit_test(steps_are_transactions_and_allocate_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
