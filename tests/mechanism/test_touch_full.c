/* The full mechanism and blends among obstacles and free bodies: as reduced models where these are right, and where
 * they are not. */
#include "moving.h"
#include "surround.h"

#include "mechanism/full.h"

typedef struct {
    bough_mechanism *mechanism;
    bough_full_mechanism *full;
    bough_contact_world *s;
} whole;

static whole whole_of(bough_context *ctx, const sketch *sk, const plan *w) {
    whole f = {0};
    check_ok(ctx, bough_mechanism_create(ctx, &sk->def, &f.mechanism));
    check_ok(ctx, bough_full_mechanism_create(ctx, f.mechanism, &f.full));
    test_weigh(f.full->gravity);
    bough_contact_actor actor;
    const bough_status made = bough_full_actor_create(ctx, f.full, w->touch_count, w->touches, &actor);
    check_ok(ctx, surround_actor(ctx, made, &actor, w, &f.s));
    return f;
}
static bough_status surround_blend(bough_context *ctx, const bough_mechanism_blend *blend, bough_blend_state *state,
                                   const plan *w, bough_contact_world **s) {
    bough_contact_actor actor;
    const bough_status made = bough_blend_actor_create(ctx, blend, state, w->touch_count, w->touches, &actor);
    return surround_actor(ctx, made, &actor, w, s);
}
static void end_whole(bough_context *ctx, whole f) {
    bough_contact_world_destroy(ctx, f.s);
    bough_full_mechanism_destroy(ctx, f.full);
    bough_mechanism_destroy(ctx, f.mechanism);
}

static bo_vec3 effector_at(const sketch *sk, const bough_pose *poses, int32_t e) {
    return bo_se3_apply(bo_pose(&poses[sk->effectors[e].body]), bo_load3(sk->effectors[e].pose.position));
}

/* Stiff springs bend little: reduced, blended and full mechanisms meet the ground at the same time, bend alike and are
 * carried by the same forces; with loops too. */
static void stiff_mechanisms_touch_alike(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    for (int i = 0; i < 3; i++) {
        sketch *sk = i == 0 ? chain(3) : i == 1 ? ladder(3, BOUGH_JOINT_BALL) : ring_of_links(6, BOUGH_JOINT_BALL);
        for (int32_t j = 0; j < sk->def.joint_count; j++)
            for (int k = 0; k < 6; k++)
                sk->joints[j].stiffness[k] *= 100, sk->joints[j].damping[k] = 2;
        const bo_vec3 tip =
            bo_se3_apply(bo_pose(&sk->links[sk->effectors[0].body].pose), bo_load3(sk->effectors[0].pose.position));
        plan *w = new_plan();
        const double radius = 0.02;
        add_touch(w, 0, sphere_def(radius))->friction = 0.3;
        add_obstacle(w, plane_def(), at(0, 0, tip.z - radius - 2e-5, 0, 0, 0));
        moving m = start(ctx, sk);
        bough_contact_world *s = surround(ctx, &m, w), *around = NULL;
        bough_mechanism_blend *blend = NULL;
        bough_blend_state *state = NULL;
        whole f = whole_of(ctx, sk, w);
        check_ok(ctx, bough_mechanism_blend_create(ctx, m.mechanism, NULL, &blend));
        check_ok(ctx, bough_blend_state_create(ctx, blend, &state));
        check_ok(ctx, surround_blend(ctx, blend, state, w, &around));
        test_weigh(state->gravity);
        test_weigh(m.state->gravity);
        double most = 0;
        for (int k = 0; k < 300; k++) {
            check_ok(ctx, bough_contact_world_step(ctx, s, 0.002));
            check_ok(ctx, bough_contact_world_step(ctx, f.s, 0.002));
            check_ok(ctx, bough_contact_world_step(ctx, around, 0.002));
            bough_mechanism_state_place(m.model, m.state);
            bough_blend_state_place(blend, state);
            const bo_vec3 a = effector_at(sk, m.state->poses, 0), b = effector_at(sk, f.full->poses, 0),
                          c = effector_at(sk, state->poses, 0);
            most = fmax(most, fmax(bo_norm(bo_sub(a, b)), bo_norm(bo_sub(a, c))));
        }
        check_below(most, 4e-6); /* of some 5e-5 that the tip would sink, and 2e-5 that it may */
        const double one = total_force(s, BOUGH_CONTACT_OF_END_EFFECTOR, 0).z,
                     two = total_force(f.s, BOUGH_CONTACT_OF_END_EFFECTOR, 0).z,
                     three = total_force(around, BOUGH_CONTACT_OF_END_EFFECTOR, 0).z;
        check(one > 0.01);
        check_near(two, one, 0.05 * one);
        check_near(three, one, 1e-7 * one);
        bough_contact_world_destroy(ctx, around);
        bough_contact_world_destroy(ctx, s);
        bough_blend_state_destroy(ctx, state);
        bough_mechanism_blend_destroy(ctx, blend);
        end_whole(ctx, f);
        stop(ctx, m);
        free(w);
        free(sk);
    }
    bough_context_destroy(ctx);
}

/* A soft chain hangs down and lies on the ground: nothing sinks in, joints stay closed, and in the end the ground and
 * the springs carry its weight: what the ground pushes up with holds the chain in equilibrium. */
static void a_soft_chain_lies_on_the_ground(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    sketch *sk = chain(4);
    for (int32_t j = 0; j < sk->def.joint_count; j++)
        for (int k = 0; k < 6; k++)
            sk->joints[j].stiffness[k] = 0.3, sk->joints[j].damping[k] = 0.02;
    plan *w = new_plan();
    add_touch(w, 0, sphere_def(0.02))->friction = 0.4;
    add_obstacle(w, plane_def(), at(0, 0, -0.22, 0, 0, 0))->friction = 0.4;
    whole f = whole_of(ctx, sk, w);
    for (int k = 0; k < 3000; k++) {
        check_ok(ctx, bough_contact_world_step(ctx, f.s, 0.002));
        check(effector_at(sk, f.full->poses, 0).z > -0.2 - 1e-4);
        check_below(bough_mechanism_largest_gap(f.mechanism, f.full->poses).distance, 1e-9);
    }
    check_near(effector_at(sk, f.full->poses, 0).z, -0.2, 1e-7);
    for (int32_t i = 0; i < 6 * sk->def.link_count; i++)
        check_below(fabs(f.full->twists[i]), 1e-4);
    const bo_vec3 rest = effector_at(sk, f.full->poses, 0); /* what rests does not creep, though springs press on */
    for (int k = 0; k < 500; k++)
        check_ok(ctx, bough_contact_world_step(ctx, f.s, 0.002));
    check_below(bo_norm(bo_sub(effector_at(sk, f.full->poses, 0), rest)), 1e-7);
    const bo_vec3 force = total_force(f.s, BOUGH_CONTACT_OF_END_EFFECTOR, 0);
    check(force.z > 0.05);
    check(hypot(force.x, force.y) <= 0.4 * force.z * 1.001);
    /* the same force as a load, at the point of contact: equilibrium is here */
    bough_full_mechanism *held = NULL;
    check_ok(ctx, bough_full_mechanism_create(ctx, f.mechanism, &held));
    test_weigh(held->gravity);
    memcpy(held->coordinates, f.full->coordinates,
           (size_t)bough_mechanism_coordinate_count(f.mechanism) * sizeof(double));
    memcpy(held->poses, f.full->poses, (size_t)sk->def.link_count * sizeof *held->poses);
    bo_store3(held->loads, force);
    bo_store3(held->loads + 3, bo_cross(bo_v3(0, 0, -0.02), force));
    check_ok(ctx, bough_full_mechanism_settle(ctx, held));
    check_below(bo_norm(bo_sub(effector_at(sk, held->poses, 0), effector_at(sk, f.full->poses, 0))), 1e-4);
    bough_full_mechanism_destroy(ctx, held);
    end_whole(ctx, f);
    free(w);
    free(sk);
    bough_context_destroy(ctx);
}

static bo_vec3 momentum_of(const sketch *sk, const whole *f, const plan *w) {
    bo_vec3 p = {0, 0, 0};
    for (int32_t i = 0; i < sk->def.link_count; i++) {
        const bo_twist t = bo_load_twist(f->full->twists + 6 * i);
        const bo_vec3 v = bo_add(t.v, bo_cross(t.w, bo_load3(sk->links[i].centre)));
        p = bo_mul_add(p, sk->links[i].mass, bo_mat_vec(bo_pose(&f->full->poses[i]).R, v));
    }
    for (int32_t i = 0; i < w->def.body_count; i++)
        p = bo_mul_add(p, w->bodies[i].mass, velocity_of(f->s, i));
    return p;
}

/* A ball hits a free mechanism: what it loses of its momentum the mechanism has. By its base or by its end. */
static void a_ball_hands_over_its_momentum(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    for (int by_base = 0; by_base < 2; by_base++) {
        sketch *sk = chain(3);
        sk->def.free_base = true;
        plan *w = new_plan();
        add_touch(w, by_base ? BOUGH_TOUCH_BY_BASE : 0, sphere_def(0.03));
        bough_rigid_body_def *ball =
            add_body(ctx, w, sphere_def(0.03), 3000, at(by_base ? 0.01 : 0.34, 0.005, 0.2, 0, 0, 0));
        ball->twist[2] = -2, ball->restitution = 0.5;
        whole f = whole_of(ctx, sk, w);
        memset(f.full->gravity, 0, sizeof f.full->gravity);
        memset(f.s->gravity, 0, sizeof f.s->gravity);
        const bo_vec3 before = momentum_of(sk, &f, w);
        for (int k = 0; k < 200; k++) {
            check_ok(ctx, bough_contact_world_step(ctx, f.s, 0.002));
            check_below(bo_norm(bo_sub(momentum_of(sk, &f, w), before)), 1e-8 * bo_norm(before));
        }
        check(velocity_of(f.s, 0).z > -1.9);                       /* it was hit */
        check(f.full->poses[by_base ? 0 : 3].position[2] < -0.01); /* and went on */
        end_whole(ctx, f);
        free(w);
        free(sk);
    }
    bough_context_destroy(ctx);
}

/* The velocities by unit impulses on coordinates are a symmetric matrix with a positive diagonal and 2 x 2 minors. */
static void all_coordinates_answer_to_impulses(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    for (int free_base = 0; free_base < 2; free_base++) {
        sketch *sk = chain(3);
        sk->def.free_base = free_base;
        plan *w = new_plan();
        add_touch(w, 0, sphere_def(0.03));
        whole f = whole_of(ctx, sk, w);
        check_ok(ctx, bough_contact_world_step(ctx, f.s, 0.002));
        const int32_t n = bo_full_work_of(f.full)->n;
        double answer[40 * 40];
        check(n > 2 && n <= 40);
        for (int32_t i = 0; i < n * n; i++)
            answer[i] = NAN;
        check(bo_full_answer(f.full, answer));
        for (int32_t r = 0; r < n; r++)
            for (int32_t c = 0; c < r; c++) {
                const double own = answer[r * n + r] * answer[c * n + c];
                check(answer[r * n + r] > 0 && answer[c * n + c] > 0);
                check(answer[r * n + c] * answer[r * n + c] < own);
                check(answer[r * n + c] == answer[c * n + r]);
            }
        end_whole(ctx, f);
        free(w);
        free(sk);
    }
    bough_context_destroy(ctx);
}

/* A shape of a link touches as the same shape of an end effector at the link's origin does, reduced and in full, with a
 * base that is held, moved or free, with motors too. */
static void links_touch_as_end_effectors_there(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    for (int i = 0; i < 4; i++) {
        sketch *sk = chain(4);
        sk->def.free_base = i % 2;
        add_effector(sk, 2, bo_se3_identity());
        plan *w[2] = {new_plan(), new_plan()};
        bough_shape_def ball = sphere_def(0.03);
        bo_store3(ball.frame.position, bo_v3(0.01, 0.02, 0));
        for (int by_link = 0; by_link < 2; by_link++) {
            bough_touch_def *touch = add_touch(w[by_link], by_link ? BOUGH_TOUCH_BY_LINK : 1, ball);
            touch->link = 2;
            add_obstacle(w[by_link], plane_def(), at(0, 0, -0.0315, 0.05, 0, 0));
            add_body(ctx, w[by_link], sphere_def(0.03), 500, at(0.22, 0.01, 0.07, 0, 0, 0));
        }
        if (i < 2) {
            moving m[2] = {start(ctx, sk), start(ctx, sk)};
            bough_contact_world *s[2];
            for (int k = 0; k < 2; k++) {
                s[k] = surround(ctx, &m[k], w[k]);
                m[k].state->gravity[2] = -9.81;
            }
            for (int step = 0; step < 200; step++)
                for (int k = 0; k < 2; k++)
                    check_ok(ctx, bough_contact_world_step(ctx, s[k], 0.002));
            check(s[0]->contact_count > 0);
            check_int(s[1]->contact_count, s[0]->contact_count);
            const bo_vec3 force = total_force(s[0], BOUGH_CONTACT_OF_END_EFFECTOR, 1);
            check(bo_norm(force) > 0.01);
            check_below(bo_norm(bo_sub(total_force(s[1], BOUGH_CONTACT_OF_LINK, 2), force)), 1e-11 * bo_norm(force));
            for (int k = 0; k < 12; k++)
                check_near(m[1].state->xi[k], m[0].state->xi[k], 1e-8);
            check_below(bo_norm(bo_sub(place_of(s[1], 0), place_of(s[0], 0))), 1e-8);
            for (int k = 0; k < 2; k++)
                bough_contact_world_destroy(ctx, s[k]), stop(ctx, m[k]);
        } else {
            whole f[2] = {whole_of(ctx, sk, w[0]), whole_of(ctx, sk, w[1])};
            for (int step = 0; step < 200; step++)
                for (int k = 0; k < 2; k++)
                    check_ok(ctx, bough_contact_world_step(ctx, f[k].s, 0.002));
            check(f[0].s->contact_count > 0);
            const bo_vec3 force = total_force(f[0].s, BOUGH_CONTACT_OF_END_EFFECTOR, 1);
            check(bo_norm(force) > 0.01);
            check_below(bo_norm(bo_sub(total_force(f[1].s, BOUGH_CONTACT_OF_LINK, 2), force)), 1e-3 * bo_norm(force));
            for (int32_t l = 0; l < sk->def.link_count; l++)
                check_below(
                    bo_norm(bo_sub(bo_load3(f[1].full->poses[l].position), bo_load3(f[0].full->poses[l].position))),
                    1e-8);
            end_whole(ctx, f[0]), end_whole(ctx, f[1]);
        }
        free(w[0]), free(w[1]);
        free(sk);
    }
    bough_context_destroy(ctx);
}

/* Two chains in one world: the upper one's end lies on the lower one's, and neither knows what the other is, reduced or
 * full. Stiff as they are, all four ways end alike; forces on both are equal and opposite. */
static void mechanisms_of_any_kind_share_a_world(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    double heights[4][2], force[4];
    for (int k = 0; k < 4; k++) {
        sketch *sk[2] = {chain(3), chain(3)};
        bough_contact_actor actors[2];
        moving m[2] = {{0}};
        bough_mechanism *whole_of_it[2] = {NULL};
        bough_full_mechanism *full[2] = {NULL};
        bough_touch_def touch = bough_default_touch_def();
        touch.shape = sphere_def(0.02), touch.friction = 0.3;
        for (int i = 0; i < 2; i++) {
            if (i == 1)
                move_sketch(sk[i], at(0, 0.005, 0.0397, 0, 0, 0));
            for (int32_t j = 0; j < sk[i]->def.joint_count; j++)
                for (int f = 0; f < 6; f++)
                    sk[i]->joints[j].stiffness[f] *= i ? 30 : 60, sk[i]->joints[j].damping[f] = 2;
            if (k >> i & 1) {
                check_ok(ctx, bough_mechanism_create(ctx, &sk[i]->def, &whole_of_it[i]));
                check_ok(ctx, bough_full_mechanism_create(ctx, whole_of_it[i], &full[i]));
                test_weigh(full[i]->gravity);
                check_ok(ctx, bough_full_actor_create(ctx, full[i], 1, &touch, &actors[i]));
            } else {
                m[i] = start(ctx, sk[i]);
                m[i].state->gravity[2] = -9.81;
                check_ok(ctx, bough_mechanism_actor_create(ctx, m[i].model, m[i].state, 1, &touch, &actors[i]));
            }
        }
        bough_contact_world_def def = bough_default_contact_world_def();
        bough_contact_world *s = NULL;
        def.actor_count = 2, def.actors = actors;
        check_ok(ctx, bough_contact_world_create(ctx, &def, &s));
        for (int step = 0; step < 1000; step++)
            check_ok(ctx, bough_contact_world_step(ctx, s, 0.002));
        check_int(s->contact_count, 1);
        check_int(s->contacts[0].sides[0].actor, 0);
        check_int(s->contacts[0].sides[1].actor, 1);
        force[k] = -s->contacts[0].force[2];
        for (int i = 0; i < 2; i++) {
            if (!full[i])
                bough_mechanism_state_place(m[i].model, m[i].state);
            heights[k][i] = effector_at(sk[i], full[i] ? full[i]->poses : m[i].state->poses, 0).z;
        }
        bough_contact_world_destroy(ctx, s);
        for (int i = 0; i < 2; i++) {
            if (full[i])
                bough_full_mechanism_destroy(ctx, full[i]), bough_mechanism_destroy(ctx, whole_of_it[i]);
            else
                stop(ctx, m[i]);
            free(sk[i]);
        }
        check(force[k] > 0.005);
        check_near(force[k], force[0], 5e-4 * force[0]);
        for (int i = 0; i < 2; i++)
            check_near(heights[k][i], heights[0][i], 3e-8);
    }
    check(heights[0][1] - heights[0][0] > 0.035); /* the upper would be lower without the other */
    bough_context_destroy(ctx);
}

static void links_that_are_none_do_not_touch(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    sketch *sk = chain(2);
    plan *w = new_plan();
    add_touch(w, BOUGH_TOUCH_BY_LINK, sphere_def(0.03))->link = 3;
    moving m = start(ctx, sk);
    bough_contact_world *s = NULL;
    bough_mechanism_blend *blend = NULL;
    bough_blend_state *state = NULL;
    check_fails(ctx, try_surround(ctx, &m, w, &s), BOUGH_ERROR_ARGUMENT, "0 .. 2");
    w->touches[0].link = 1;
    check_ok(ctx, bough_mechanism_blend_create(ctx, m.mechanism, NULL, &blend));
    check_ok(ctx, bough_blend_state_create(ctx, blend, &state));
    check_fails(ctx, surround_blend(ctx, blend, state, w, &s), BOUGH_ERROR_UNSUPPORTED,
                "make the link an end effector");
    bough_blend_state_destroy(ctx, state);
    bough_mechanism_blend_destroy(ctx, blend);
    stop(ctx, m);
    free(w);
    free(sk);
    bough_context_destroy(ctx);
}

/* A step that cannot be taken leaves everything as it was, and what is put back goes on with the same bits. */
static void steps_are_whole_or_none(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    sketch *sk = chain(3);
    plan *w = new_plan();
    add_touch(w, 0, sphere_def(0.02));
    add_obstacle(w, plane_def(), at(0, 0, -0.03, 0, 0, 0));
    add_body(ctx, w, sphere_def(0.03), 500, at(0.3, 0, 0.1, 0, 0, 0));
    whole f = whole_of(ctx, sk, w);
    for (int k = 0; k < 100; k++)
        check_ok(ctx, bough_contact_world_step(ctx, f.s, 0.002));
    check(f.s->contact_count > 0);
    const bough_pose tip = f.full->poses[3], ball = f.s->bodies[0].pose;
    check(bough_contact_world_step(ctx, f.s, -1) == BOUGH_ERROR_ARGUMENT);
    f.s->bodies[0].force[0] = INFINITY;
    check(bough_contact_world_step(ctx, f.s, 0.002) == BOUGH_NOT_FINITE);
    check(!memcmp(&tip, &f.full->poses[3], sizeof tip) && !memcmp(&ball, &f.s->bodies[0].pose, sizeof ball));
    f.s->bodies[0].force[0] = 0;
    check_ok(ctx, bough_contact_world_step(ctx, f.s, 0.002));
    end_whole(ctx, f);
    free(w);
    free(sk);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stiff_mechanisms_touch_alike),     cmocka_unit_test(a_soft_chain_lies_on_the_ground),
        cmocka_unit_test(a_ball_hands_over_its_momentum),   cmocka_unit_test(links_touch_as_end_effectors_there),
        cmocka_unit_test(links_that_are_none_do_not_touch), cmocka_unit_test(mechanisms_of_any_kind_share_a_world),
        cmocka_unit_test(steps_are_whole_or_none),          cmocka_unit_test(all_coordinates_answer_to_impulses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
