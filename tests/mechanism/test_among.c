/* Mechanisms among free rigid bodies and obstacles: contact and friction. Bodies alone: tests/contact. */
#include "moving.h"
#include "surround.h"

/* ---- mechanisms ---- */

/* The force is what lifts the end from where its weight alone would take it, by the compliance. */
static void the_ground_carries_an_end_effector_as_statics_say(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    sketch *sk = chain(3);
    moving alone = start(ctx, sk), m = start(ctx, sk);
    alone.state->gravity[2] = m.state->gravity[2] = -9.81;
    plan *w = new_plan();
    const double radius = 0.02, raised = 0.004;
    add_touch(w, 0, sphere_def(radius))->friction = 0;
    add_obstacle(w, plane_def(), at(0, 0, raised - radius, 0, 0, 0));
    bough_contact_world *s = surround(ctx, &m, w);
    for (int i = 0; i < 4000; i++) {
        check_ok(ctx, bough_contact_world_step(ctx, s, 0.005));
        check_ok(ctx, bough_mechanism_step(ctx, alone.model, alone.state, 0.005));
    }
    const double lower = bough_mechanism_state_end_effector(alone.model, alone.state, 0).position[2],
                 upper = bough_mechanism_state_end_effector(m.model, m.state, 0).position[2];
    check_near(upper, raised, 1e-11);
    check(lower < raised - 0.005);
    check_int(s->contact_count, 1);
    check_near(s->contacts[0].force[2], (upper - lower) / m.statics->C[6 * 2 + 2],
               0.01 * s->contacts[0].force[2]); /* but for the turn of the axes */
    check_below(s->residual, 1e-9);
    bough_contact_world_destroy(ctx, s);
    stop(ctx, alone);
    stop(ctx, m);
    free(w);
    free(sk);
    bough_context_destroy(ctx);
}

/* A finger (a prismatic joint with a spring whose rest is beyond the wall) presses a ball against a wall: friction
 * holds it where 2 mu F is more than its weight. */
static void a_finger_holds_a_ball_at_a_wall(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    for (int slippery = 0; slippery < 2; slippery++) {
        sketch *sk = new_sketch();
        add_link(sk, bo_se3_identity(), 1, 0.01, 0.01, 0.01);
        add_link(sk, at(0.1, 0, 0, 0, 0, 0), 0.2, 1e-3, 1e-3, 1e-3);
        bough_joint_def *joint = add_joint(sk, BOUGH_JOINT_PRISMATIC, 0, 1, at(0, 0, 0, 0, M_PI / 2, 0), 500, 20);
        joint->offset[0] = 0.02;
        add_effector(sk, 1, bo_se3_identity());
        moving m = start(ctx, sk);
        m.state->gravity[2] = -9.81;
        plan *w = new_plan();
        const double force = 500 * 0.02, mu = slippery ? 0.15 : 0.6;
        add_touch(w, 0, box_def(0.04, 0.1, 0.1))->friction = mu;
        bough_rigid_body_def *ball = add_body(ctx, w, sphere_def(0.03), 4000, at(0.15, 0, 0, 0, 0, 0));
        ball->friction = mu;
        check(2 * 0.6 * force > 1.2 * 9.81 * ball->mass && 2 * 0.15 * force < 0.8 * 9.81 * ball->mass);
        add_obstacle(w, box_def(0.1, 1, 1), at(0.23, 0, 0, 0, 0, 0))->friction = mu;
        bough_contact_world *s = surround(ctx, &m, w);
        for (int i = 0; i < 300; i++)
            check_ok(ctx, bough_contact_world_step(ctx, s, 0.002));
        if (slippery) {
            check(place_of(s, 0).z < -0.05);
        } else {
            check_near(place_of(s, 0).z, 0, 1e-8);
            check_near(bo_norm(velocity_of(s, 0)), 0, 1e-9);
            check_near(total_force(s, BOUGH_CONTACT_OF_OBSTACLE, 0).x, force, 1e-9 * force);
            check_near(total_force(s, BOUGH_CONTACT_OF_BODY, 0).z, 9.81 * ball->mass, 1e-9 * ball->mass);
            check_near(total_force(s, BOUGH_CONTACT_OF_END_EFFECTOR, 0).x, -force, 1e-9 * force);
        }
        bough_contact_world_destroy(ctx, s);
        stop(ctx, m);
        free(w);
        free(sk);
    }
    bough_context_destroy(ctx);
}

/* Whatever its displacement and wherever its base is, a point that touches does not go on into the ground. */
static void what_touches_moves_no_further(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {11};
    for (int round = 0; round < 40; round++) {
        sketch *sk = round % 2 ? chain(3) : fork_of_links(2, 2, BOUGH_JOINT_BALL);
        sk->def.free_base = round % 4 < 2;
        moving m = start(ctx, sk);
        for (int32_t z = 0; z < m.model->rank; z++) {
            const double x = 0.5 * spread(&r) / m.model->radius, v = 3 * spread(&r);
            for (int32_t k = 0; k < 6 * m.model->end_effector_count; k++) {
                m.state->xi[k] += m.model->Q[k * m.model->rank + z] * x * m.model->radius;
                m.state->phi[k] += m.model->Q[k * m.model->rank + z] * v;
            }
        }
        m.state->base = bo_put_pose(random_pose(&r, 1));
        for (int k = 0; k < 6 && sk->def.free_base; k++)
            m.state->base_twist[k] = spread(&r);
        const double dt = 1e-7;
        const bough_pose before = bough_mechanism_state_end_effector(m.model, m.state, 0);
        /* off the middle of the end effector, so that its turning counts */
        bough_shape_def ball = sphere_def(0.01);
        bo_store3(ball.frame.position, random_vector(&r, 0.1));
        const bo_vec3 centre = bo_se3_apply(bo_pose(&before), bo_load3(ball.frame.position));
        const bo_mat3 turn = bo_exp3(random_vector(&r, 2));
        const bo_vec3 n = bo_mat_vec(turn, bo_v3(0, 0, 1));
        plan *w = new_plan();
        add_touch(w, 0, ball)->friction = 0;
        add_obstacle(w, plane_def(), (bo_se3){turn, bo_mul_add(centre, -0.01, n)});
        bough_contact_world *s = surround(ctx, &m, w);
        check_ok(ctx, bough_contact_world_step(ctx, s, dt));
        const bough_pose after = bough_mechanism_state_end_effector(m.model, m.state, 0);
        const double speed =
            bo_dot(n, bo_sub(bo_se3_apply(bo_pose(&after), bo_load3(ball.frame.position)), centre)) / dt;
        check(speed > -1e-5);
        check_int(s->contact_count, 1);
        if (s->contacts[0].force[0] != 0)
            check_near(speed, 0, 1e-5);
        bough_contact_world_destroy(ctx, s);
        stop(ctx, m);
        free(w);
        free(sk);
    }
    bough_context_destroy(ctx);
}

/* Two arms are pressed together: their ends stop each other if they are to, with equal and opposite forces. */
static void end_effectors_may_touch_each_other(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    double apart[2];
    for (int touch = 0; touch < 2; touch++) {
        sketch *sk = fork_of_links(1, 2, BOUGH_JOINT_BALL);
        moving m = start(ctx, sk);
        const bough_pose a = bough_mechanism_state_end_effector(m.model, m.state, 0),
                         b = bough_mechanism_state_end_effector(m.model, m.state, 1);
        const bo_vec3 d = bo_sub(bo_load3(b.position), bo_load3(a.position));
        plan *w = new_plan();
        const double radius = 0.4 * bo_norm(d);
        for (int e = 0; e < 2; e++)
            add_touch(w, e, sphere_def(radius))->friction = 0;
        w->touch_each_other = touch;
        bough_contact_world *s = surround(ctx, &m, w);
        double force[3];
        for (int i = 0; i < 2000; i++) {
            for (int e = 0; e < 2; e++) {
                bo_store3(force, bo_scale((e ? -300 : 300) / bo_norm(d), d));
                bough_mechanism_state_push(m.model, m.state, e, force, (double[3]){0});
            }
            check_ok(ctx, bough_contact_world_step(ctx, s, 0.005));
        }
        const bough_pose p = bough_mechanism_state_end_effector(m.model, m.state, 0),
                         q = bough_mechanism_state_end_effector(m.model, m.state, 1);
        apart[touch] = bo_norm(bo_sub(bo_load3(p.position), bo_load3(q.position))) / radius;
        check_int(s->contact_count, touch);
        if (touch) {
            check(bo_norm(bo_load3(s->contacts[0].force)) > 1);
            check_below(bo_norm(bo_add(total_force(s, BOUGH_CONTACT_OF_END_EFFECTOR, 0),
                                       total_force(s, BOUGH_CONTACT_OF_END_EFFECTOR, 1))),
                        1e-12);
        }
        bough_contact_world_destroy(ctx, s);
        stop(ctx, m);
        free(w);
        free(sk);
    }
    check(apart[0] < 1.9);
    check_near(apart[1], 2, 1e-9);
    bough_context_destroy(ctx);
}

/* Dropped onto the ground, a mechanism with a free base comes to rest on its base and end effectors, and its weight is
 * carried. */
static void a_free_mechanism_lands(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    sketch *sk = new_sketch(); /* a body with four legs in springs */
    sk->def.free_base = true;
    double weight = 0;
    add_link(sk, at(0, 0, 0.3, 0, 0, 0), 3, 0.02, 0.02, 0.03);
    for (int i = 0; i < 4; i++) {
        const double x = i % 2 ? 0.2 : -0.2, y = i / 2 ? 0.15 : -0.15;
        const int32_t leg = add_link(sk, at(x, y, 0.15, 0, 0, 0), 0.2, 1e-3, 1e-3, 1e-4);
        add_joint(sk, BOUGH_JOINT_BALL, 0, leg, at(x, y, 0.28, 0, 0, 0), 60, 1);
        add_effector(sk, leg, at(0, 0, -0.12, 0, 0, 0));
    }
    for (int32_t i = 0; i < sk->def.link_count; i++)
        weight += 9.81 * sk->links[i].mass;
    moving m = start(ctx, sk);
    m.state->gravity[2] = -9.81;
    m.state->base.position[2] += 0.1;
    plan *w = new_plan();
    for (int i = 0; i < 4; i++)
        add_touch(w, i, sphere_def(0.03));
    add_touch(w, BOUGH_TOUCH_BY_BASE, box_def(0.4, 0.3, 0.05));
    add_obstacle(w, plane_def(), bo_se3_identity());
    bough_contact_world *s = surround(ctx, &m, w);
    for (int i = 0; i < 2000; i++)
        check_ok(ctx, bough_contact_world_step(ctx, s, 0.002));
    check_near(total_force(s, BOUGH_CONTACT_OF_OBSTACLE, 0).z, -weight, 1e-11 * weight);
    check_near(m.state->base.position[2], 0.3, 1e-9);
    double speed = 0;
    for (int k = 0; k < 6; k++)
        speed = fmax(speed, fabs(m.state->base_twist[k]));
    check_below(speed, 1e-9);
    /* without legs to stand on it lies on its base */
    for (int i = 0; i < 4; i++)
        w->touches[i].shape.radius = 1e-3;
    w->touches[4].shape = box_def(0.5, 0.4, 0.7);
    bough_contact_world_destroy(ctx, s);
    s = surround(ctx, &m, w);
    for (int i = 0; i < 2000; i++)
        check_ok(ctx, bough_contact_world_step(ctx, s, 0.002));
    check_near(m.state->base.position[2], 0.35, 1e-8);
    check_near(total_force(s, BOUGH_CONTACT_OF_END_EFFECTOR, BOUGH_TOUCH_BY_BASE).z, weight, 1e-3 * weight);
    bough_contact_world_destroy(ctx, s);
    stop(ctx, m);
    free(w);
    free(sk);
    bough_context_destroy(ctx);
}

/* A free mechanism hit by a ball: what the ball loses the mechanism gains. */
static void a_mechanism_takes_momentum_from_what_hits_it(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    sketch *sk = fork_of_links(2, 2, BOUGH_JOINT_BALL);
    sk->def.free_base = true;
    moving m = start(ctx, sk);
    plan *w = new_plan();
    for (int e = 0; e < 2; e++)
        add_touch(w, e, sphere_def(0.03));
    const bough_pose end = bough_mechanism_state_end_effector(m.model, m.state, 0);
    bough_rigid_body_def *ball =
        add_body(ctx, w, sphere_def(0.05), 1000,
                 (bo_se3){bo_identity3(), bo_add(bo_load3(end.position), bo_v3(0.01, 0.02, 0.2))});
    ball->twist[2] = -2;
    bough_contact_world *s = surround(ctx, &m, w);
    memset(s->gravity, 0, sizeof s->gravity);
    double hardest = 0;
    for (int i = 0; i < 300; i++) {
        check_ok(ctx, bough_contact_world_step(ctx, s, 0.001));
        hardest = fmax(hardest, bo_norm(total_force(s, BOUGH_CONTACT_OF_BODY, 0)));
        double p[6] = {0}, z[12] = {0};
        for (int32_t k = 0; k < m.model->rank; k++)
            for (int32_t j = 0; j < 12; j++)
                z[k] += m.model->P[12 * k + j] * m.state->phi[j];
        for (int k = 0; k < 6; k++) {
            for (int j = 0; j < 6; j++)
                p[k] += m.model->M_base[6 * k + j] * m.state->base_twist[j];
            for (int32_t j = 0; j < m.model->rank; j++)
                p[k] += m.model->M_coupling[k * m.model->rank + j] * z[j];
        }
        const bo_vec3 sum =
            bo_mul_add(bo_mat_vec(bo_pose(&m.state->base).R, bo_load3(p)), ball->mass, velocity_of(s, 0));
        check_below(bo_norm(bo_sub(sum, bo_v3(0, 0, -2 * ball->mass))), 1e-10);
    }
    check(hardest > 1);
    bough_contact_world_destroy(ctx, s);
    stop(ctx, m);
    free(w);
    free(sk);
    bough_context_destroy(ctx);
}

/* ---- numbers ---- */

/* A pile of all shapes on rough ground, with a chain that reaches into it. */
static plan *pile(bough_context *ctx, const double *heights, bo_vec3 *points, bo_se3 g) {
    plan *w = new_plan();
    test_random r = {14};
    for (int i = 0; i < 20; i++)
        points[i] = bo_scale(0.08, bo_normalize(random_vector(&r, 1)));
    for (int i = 0; i < 9; i++)
        add_body(ctx, w,
                 i % 3 == 0   ? sphere_def(0.06)
                 : i % 3 == 1 ? box_def(0.12, 0.1, 0.15)
                              : hull_def(20, points),
                 400, bo_se3_mul(g, at(0.15 * (i % 3), 0.12 * (i / 3), 0.2 + 0.07 * i, 0.3 * i, 0.2, 0.1)));
    add_obstacle(w, field_def(12, 12, 0.15, heights), g);
    add_obstacle(w, box_def(0.2, 1, 1), bo_se3_mul(g, at(-0.3, 0, 0, 0, 0, 0)));
    add_touch(w, 0, box_def(0.05, 0.2, 0.05));
    return w;
}

/* Put back, a run goes on with the same bits; forces obey contact and friction in all of it. */
static void saved_runs_go_on_with_the_same_bits(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {15};
    double heights[144];
    bo_vec3 points[20];
    for (int i = 0; i < 144; i++)
        heights[i] = 0.03 * spread(&r);
    sketch *sk = chain(3);
    moving m = start(ctx, sk), again = start(ctx, sk);
    plan *w = pile(ctx, heights, points, bo_se3_identity());
    bough_contact_world *s = surround(ctx, &m, w), *t = surround(ctx, &again, w);
    double *memory = NULL;
    bough_contact *contacts = NULL;
    int64_t size = 0;
    int32_t touched = 0;
    double worst = 0;
    for (int i = 0; i < 500; i++) {
        check_ok(ctx, bough_contact_world_step(ctx, s, 0.005));
        worst = fmax(worst, s->residual);
        for (int32_t k = 0; k < s->contact_count; k++) {
            const bo_vec3 f = bo_load3(s->contacts[k].force), n = bo_load3(s->contacts[k].normal);
            const double push = bo_dot(f, n);
            check(push >= 0);
            check_below(bo_norm(bo_mul_add(f, -push, n)), 0.5 * push * (1 + 1e-9) + 1e-12);
        }
        if (i == 250) {
            size = bough_contact_world_memory_size(s);
            memory = malloc((size_t)size * sizeof(double));
            bough_contact_world_save(s, memory);
            touched = s->contact_count;
            contacts = malloc((size_t)touched * sizeof *contacts);
            memcpy(contacts, s->contacts, (size_t)touched * sizeof *contacts);
            memcpy(again.state->xi, m.state->xi, 6 * sizeof(double));
            memcpy(again.state->phi, m.state->phi, 6 * sizeof(double));
        }
    }
    check_below(worst, 2e-3);
    check_ok(ctx, bough_contact_world_restore(ctx, t, size, memory));
    check(touched > 0);
    check_int(t->contact_count, touched);
    check_int(memcmp(contacts, t->contacts, (size_t)touched * sizeof *contacts), 0);
    free(contacts);
    for (int i = 251; i < 500; i++)
        check_ok(ctx, bough_contact_world_step(ctx, t, 0.005));
    check_int(memcmp(s->bodies, t->bodies, (size_t)s->body_count * sizeof *s->bodies), 0);
    check_int(memcmp(m.state->xi, again.state->xi, 6 * sizeof(double)), 0);
    check_int(s->contact_count, t->contact_count);
    check_int(memcmp(s->contacts, t->contacts, (size_t)s->contact_count * sizeof *s->contacts), 0);
    /* what was not saved here is refused, and changes nothing */
    const bough_rigid_body kept = t->bodies[0];
    for (int64_t k = 0; k < size; k++) {
        const double right = memory[k];
        memory[k] = NAN;
        check_fails(ctx, bough_contact_world_restore(ctx, t, size, memory), BOUGH_ERROR_FORMAT, "not those");
        memory[k] = right;
    }
    check(memory[2] > 0); /* impulses, and the step of which they are */
    memory[3] = 0;
    check_fails(ctx, bough_contact_world_restore(ctx, t, size, memory), BOUGH_ERROR_FORMAT, "not those");
    check_fails(ctx, bough_contact_world_restore(ctx, t, size - 1, memory), BOUGH_ERROR_FORMAT, "not those");
    check_fails(ctx, bough_contact_world_restore(ctx, t, 3, memory), BOUGH_ERROR_FORMAT, "not those");
    check_int(memcmp(&kept, &t->bodies[0], sizeof kept), 0);
    free(memory);
    bough_contact_world_destroy(ctx, s);
    bough_contact_world_destroy(ctx, t);
    stop(ctx, m);
    stop(ctx, again);
    free(w);
    free(sk);
    bough_context_destroy(ctx);
}

/* With gravity and everything else turned, the run is the turned run. */
static void it_does_not_matter_how_the_world_is_turned(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const bo_se3 g = at(1, -2, 0.5, 0.7, -1.1, 0.4);
    double heights[144] = {0};
    bo_vec3 points[20];
    bough_contact_world *s[2];
    moving m[2];
    plan *w[2];
    sketch *sk[2];
    for (int k = 0; k < 2; k++) {
        sk[k] = chain(3);
        if (k)
            move_sketch(sk[k], g);
        m[k] = start(ctx, sk[k]);
        w[k] = pile(ctx, heights, points, k ? g : bo_se3_identity());
        w[k]->def.tolerance = 1e-12, w[k]->def.most_rounds = 5000;
        s[k] = surround(ctx, &m[k], w[k]);
        const bo_vec3 down = bo_mat_vec(k ? g.R : bo_identity3(), bo_v3(0, 0, -9.81));
        bo_store3(s[k]->gravity, down);
        bo_store3(m[k].state->gravity, down);
        for (int i = 0; i < 60; i++)
            check_ok(ctx, bough_contact_world_step(ctx, s[k], 0.004));
    }
    for (int32_t i = 0; i < s[0]->body_count; i++)
        check_below(bo_norm(bo_sub(bo_se3_apply(g, place_of(s[0], i)), place_of(s[1], i))), 1e-5);
    for (int k = 0; k < 2; k++) {
        bough_contact_world_destroy(ctx, s[k]);
        stop(ctx, m[k]);
        free(w[k]);
        free(sk[k]);
    }
    bough_context_destroy(ctx);
}

static void steps_are_transactions_and_stop_allocating(void **unused) {
    (void)unused;
    test_memory counted = {.fail_at = -1};
    bough_context *ctx = test_counting_context(&counted);
    double heights[144] = {0};
    bo_vec3 points[20];
    sketch *sk = chain(3);
    moving m = start(ctx, sk);
    plan *w = pile(ctx, heights, points, bo_se3_identity());
    bough_contact_world *s = surround(ctx, &m, w);
    for (int i = 0; i < 200; i++)
        check_ok(ctx, bough_contact_world_step(ctx, s, 0.005));
    const long calls = counted.calls;
    for (int i = 0; i < 100; i++)
        check_ok(ctx, bough_contact_world_step(ctx, s, 0.005));
    check_int(counted.calls, calls);

    bough_rigid_body bodies[9];
    double xi[6];
    memcpy(bodies, s->bodies, sizeof bodies);
    memcpy(xi, m.state->xi, sizeof xi);
    const double time = m.state->time;
    check_fails(ctx, bough_contact_world_step(ctx, s, NAN), BOUGH_ERROR_ARGUMENT, "above 0");
    bough_contact_actor stateless;
    check_fails(ctx, bough_mechanism_actor_create(ctx, m.model, NULL, 0, NULL, &stateless), BOUGH_ERROR_ARGUMENT,
                "its state");
    for (int k = 0; k < 4; k++) {
        double *number = k == 0   ? &s->bodies[3].force[1]
                         : k == 1 ? &s->bodies[3].torque[1]
                         : k == 2 ? &s->gravity[0]
                                  : &m.state->wrench[2];
        const double wrong[] = {NAN, INFINITY, 1e308};
        for (int i = 0; i < 3; i++) {
            const double right = *number;
            *number = wrong[i];
            const bough_status status = bough_contact_world_step(ctx, s, 0.005);
            *number = right;
            check(status == BOUGH_NOT_FINITE);
            check_int(memcmp(bodies, s->bodies, sizeof bodies), 0);
            check_int(memcmp(xi, m.state->xi, sizeof xi), 0);
            check(m.state->time == time);
        }
    }
    check_ok(ctx, bough_contact_world_step(ctx, s, 0.005));
    bough_contact_world_destroy(ctx, s);
    stop(ctx, m);
    free(w);
    free(sk);
    bough_context_destroy(ctx);
    check_int(counted.live, 0);
}

static void hostile_surroundings_are_refused(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    bough_contact_world *s = NULL;
    sketch *sk = chain(2);
    moving m = start(ctx, sk);
    plan *w = new_plan();
    bough_touch_def *touch = add_touch(w, 1, sphere_def(0.1));
    check_fails(ctx, try_surround(ctx, &m, w, &s), BOUGH_ERROR_ARGUMENT, "end effector 1");
    touch->end_effector = 0, touch->shape.radius = NAN;
    check_fails(ctx, try_surround(ctx, &m, w, &s), BOUGH_ERROR_ARGUMENT, "touch 0: the radius");
    touch->shape = plane_def();
    check_fails(ctx, try_surround(ctx, &m, w, &s), BOUGH_ERROR_ARGUMENT, "only be obstacles");
    touch->cookie = 1;
    check_fails(ctx, try_surround(ctx, &m, w, &s), BOUGH_ERROR_ARGUMENT, "touch 0");
    stop(ctx, m);
    free(w);
    free(sk);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ground_carries_an_end_effector_as_statics_say),
        cmocka_unit_test(a_finger_holds_a_ball_at_a_wall),
        cmocka_unit_test(what_touches_moves_no_further),
        cmocka_unit_test(end_effectors_may_touch_each_other),
        cmocka_unit_test(a_free_mechanism_lands),
        cmocka_unit_test(a_mechanism_takes_momentum_from_what_hits_it),
        cmocka_unit_test(saved_runs_go_on_with_the_same_bits),
        cmocka_unit_test(it_does_not_matter_how_the_world_is_turned),
        cmocka_unit_test(steps_are_transactions_and_stop_allocating),
        cmocka_unit_test(hostile_surroundings_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
