/* Free rigid bodies among obstacles, without any mechanism: rest, slides, flight, impacts, rough ground. */
#include "worlds.h"

/* ---- rest ---- */

static void what_lies_on_the_ground_is_carried(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const bough_shape_def shapes[] = {sphere_def(0.1), box_def(0.2, 0.3, 0.1)};
    for (int i = 0; i < 2; i++)
        for (int drop = 0; drop < 2; drop++) {
            plan *w = new_plan();
            const double height = i ? 0.05 : 0.1;
            const bough_rigid_body_def *body =
                add_body(ctx, w, shapes[i], 500, (bo_se3){bo_exp3(bo_v3(0, 0, 0.3)), bo_v3(0, 0, height + 0.2 * drop)});
            add_obstacle(w, plane_def(), bo_se3_identity());
            bough_contact_world *s = make_world(ctx, w);
            run(ctx, s, 0.005, drop ? 400 : 3);
            check_near(place_of(s, 0).z, height, 3e-8);
            check_below(bo_norm(velocity_of(s, 0)), 1e-6);
            const bo_vec3 force = total_force(s, BOUGH_CONTACT_OF_BODY, 0);
            check_near(force.z, 9.81 * body->mass, 1e-5 * body->mass);
            check_below(fabs(force.x) + fabs(force.y), 1e-5 * body->mass);
            check_below(s->residual, 1e-6);
            check(s->rounds <= 3); /* the impulses of the last step are the answer */
            bough_contact_world_destroy(ctx, s);
            free(w);
        }
    bough_context_destroy(ctx);
}

/* Below atan(mu) a block stays on a slope; above it slides with g (sin - mu cos). */
static void blocks_slide_as_friction_lets_them(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    for (int field = 0; field < 2; field++)
        for (double mu = 0.2; mu < 1; mu += 0.3)
            for (int above = 0; above < 2; above++) {
                plan *w = new_plan();
                const double angle = atan(mu) + (above ? 0.1 : -0.02), dt = 0.002;
                const bo_se3 tilted =
                    (bo_se3){bo_exp3(bo_v3(0, angle, 0)), bo_v3(0, 0, 0)}; /* down along +x of the slope */
                static double heights[100];
                add_body(ctx, w, box_def(0.2, 0.2, 0.1), 500,
                         bo_se3_mul(tilted, (bo_se3){bo_exp3(bo_v3(0, 0, 0.4)), bo_v3(0, 0, 0.05)}))
                    ->friction = mu;
                add_obstacle(w, field ? field_def(10, 10, 0.5, heights) : plane_def(), tilted)->friction = mu;
                bough_contact_world *s = make_world(ctx, w);
                run(ctx, s, dt, 250);
                const double speed = bo_dot(velocity_of(s, 0), bo_mat_vec(tilted.R, bo_v3(1, 0, 0)));
                const double expected = above ? 9.81 * (sin(angle) - mu * cos(angle)) * 0.5 : 0;
                check_near(speed, expected, above ? 1e-5 * expected : 1e-8);
                check_near(bo_norm(velocity_of(s, 0)), fabs(speed), 1e-9);
                bough_contact_world_destroy(ctx, s);
                free(w);
            }
    bough_context_destroy(ctx);
}

/* ---- flight and impacts ---- */

static double kinetic_of(const plan *w, const bough_contact_world *s) {
    double sum = 0;
    for (int32_t i = 0; i < s->body_count; i++) {
        const bo_vec3 spin = bo_load3(s->bodies[i].spin);
        bo_mat3 I;
        memcpy(I.m, w->bodies[i].inertia, sizeof I.m);
        sum += 0.5 * w->bodies[i].mass * bo_dot(velocity_of(s, i), velocity_of(s, i)) +
               0.5 * bo_dot(spin, bo_mat_vec(I, spin));
    }
    return sum;
}

static void elastic_balls_keep_momentum_and_energy(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {12};
    for (int round = 0; round < 30; round++) {
        plan *w = new_plan();
        const double e = round % 3 == 0 ? 1 : round % 3 == 1 ? 0.5 : 0;
        const double z = 0.1 * spread(&r), y = 0.15 * spread(&r), density = 300 + 1000 * test_uniform(&r, 0, 1);
        bough_rigid_body_def *a = add_body(ctx, w, sphere_def(0.1), 1000, placed(-0.4, 0, 0)),
                             *b = add_body(ctx, w, sphere_def(0.15), density, placed(0.1, y, z));
        a->restitution = e, a->friction = 0, a->twist[0] = 2, b->twist[0] = -0.3;
        bough_contact_world *s = make_world(ctx, w);
        memset(s->gravity, 0, sizeof s->gravity);
        const momenta before = momenta_of(w, s);
        const double energy = kinetic_of(w, s);
        bo_vec3 n = {0, 0, 0};
        double approach = 0;
        for (int i = 0; i < 400; i++) {
            const bo_vec3 relative = bo_sub(velocity_of(s, 0), velocity_of(s, 1));
            check_ok(ctx, bough_contact_world_step(ctx, s, 0.001));
            if (s->contact_count && bo_norm(bo_load3(s->contacts[0].force)) > 0 && approach == 0) {
                n = bo_load3(s->contacts[0].normal);
                approach = -bo_dot(n, relative);
                const double leave = bo_dot(n, bo_sub(velocity_of(s, 0), velocity_of(s, 1)));
                if (e > 0)
                    check_near(leave, e * approach, 1e-12);
            }
        }
        check(approach > 0.5);
        const momenta after = momenta_of(w, s);
        check_below(bo_norm(bo_sub(after.linear, before.linear)), 1e-14 * bo_norm(before.linear));
        check_below(bo_norm(bo_sub(after.angular, before.angular)), 1e-12);
        /* of the energy of their approach 1 - e^2 is lost */
        const double reduced = a->mass * b->mass / (a->mass + b->mass);
        check_near(kinetic_of(w, s), energy - 0.5 * reduced * (1 - e * e) * approach * approach,
                   (e > 0 ? 1e-9 : 5e-3) * energy); /* 0: they part in several steps */
        if (e == 1)
            check_near(kinetic_of(w, s), energy, 1e-12 * energy);
        bough_contact_world_destroy(ctx, s);
        free(w);
    }
    bough_context_destroy(ctx);
}

/* Bodies of all kinds that fly into each other, stick, rub and turn. */
static void free_bodies_keep_their_momentum(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {13};
    plan *w = new_plan();
    bo_vec3 points[20];
    for (int i = 0; i < 20; i++)
        points[i] = bo_scale(0.12, bo_normalize(random_vector(&r, 1)));
    for (int i = 0; i < 12; i++) {
        const bo_vec3 x = bo_scale(0.5, bo_normalize(random_vector(&r, 1)));
        bough_rigid_body_def *body =
            add_body(ctx, w,
                     i % 3 == 0   ? sphere_def(0.08)
                     : i % 3 == 1 ? box_def(0.2, 0.1, 0.15)
                                  : hull_def(20, points),
                     500, (bo_se3){bo_exp3(random_vector(&r, 2)), bo_scale(1 + 0.4 * (i / 4), x)});
        bo_store3(body->twist, bo_mat_tvec(bo_pose(&body->pose).R, bo_scale(-2, x)));
        bo_store3(body->twist + 3, random_vector(&r, 4));
    }
    bough_contact_world *s = make_world(ctx, w);
    memset(s->gravity, 0, sizeof s->gravity);
    const momenta before = momenta_of(w, s);
    double energy = kinetic_of(w, s);
    const double first = energy;
    int touched = 0;
    for (int i = 0; i < 400; i++) {
        check_ok(ctx, bough_contact_world_step(ctx, s, 0.004));
        touched += s->contact_count > 2;
        const double now = kinetic_of(w, s);
        check(now <= energy + 1e-3 * first); /* but for the undoing of overlaps */
        energy = now;
    }
    check(touched > 20);
    check(energy < 0.8 * first);
    const momenta after = momenta_of(w, s);
    check_below(bo_norm(bo_sub(after.linear, before.linear)), 1e-12);
    check_below(bo_norm(bo_sub(after.angular, before.angular)), 1e-10);
    bough_contact_world_destroy(ctx, s);
    free(w);
    bough_context_destroy(ctx);
}

/* A body that turns about no axis of symmetry keeps its momentum, and flies straight. */
static void a_spinning_body_flies_straight(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    plan *w = new_plan();
    bough_rigid_body_def *body =
        add_body(ctx, w, box_def(0.3, 0.2, 0.1), 500, (bo_se3){bo_exp3(bo_v3(0.3, 0.2, 0.1)), bo_v3(0, 0, 0)});
    const double twist[6] = {1, 0.5, -0.2, 0.1, 9, 0.2};
    memcpy(body->twist, twist, sizeof twist);
    bough_contact_world *s = make_world(ctx, w);
    memset(s->gravity, 0, sizeof s->gravity);
    const momenta before = momenta_of(w, s);
    const bo_vec3 v = velocity_of(s, 0);
    double energy = kinetic_of(w, s), widest = 0;
    for (int i = 0; i < 3000; i++) {
        run(ctx, s, 0.001, 1);
        check(kinetic_of(w, s) <= energy * (1 + 1e-12));
        energy = kinetic_of(w, s);
        widest = fmax(widest, fabs(s->bodies[0].spin[2]));
    }
    const momenta after = momenta_of(w, s);
    check(widest > 1); /* it tumbles about its middle axis */
    check_below(bo_norm(bo_sub(after.angular, before.angular)), 1e-11);
    check_below(bo_norm(bo_sub(place_of(s, 0), bo_scale(3, v))), 1e-10);
    double back[6];
    bough_contact_world_body_twist(s, 0, back);
    check_near(bo_norm(bo_load3(back)), bo_norm(v), 1e-12);
    bough_contact_world_destroy(ctx, s);
    free(w);
    bough_context_destroy(ctx);
}

/* A splinter that turns by a part of a turn in a step, or by thousands, is not driven: neither up to the axis about
 * which it spins most easily, where the same momentum is much energy, nor off its momentum. */
static void fast_spins_are_not_driven(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const double spins[] = {50, 100, 200, 300, 1000, 1e4, 1e6};
    test_random r = {21};
    for (size_t k = 0; k < 4 * sizeof spins / sizeof *spins; k++) {
        plan *w = new_plan();
        bough_rigid_body_def *body = add_body(ctx, w, box_def(0.0188, 0.0929, 0.0127), 8000, bo_se3_identity());
        bo_store3(body->twist + 3, bo_scale(spins[k / 4], bo_normalize(random_vector(&r, 1))));
        bough_contact_world *s = make_world(ctx, w);
        memset(s->gravity, 0, sizeof s->gravity);
        const momenta before = momenta_of(w, s);
        double energy = kinetic_of(w, s);
        for (int i = 0; i < 100; i++) {
            run(ctx, s, 0.01, 1);
            check(kinetic_of(w, s) <= energy * (1 + 1e-9));
            energy = kinetic_of(w, s);
        }
        const momenta after = momenta_of(w, s);
        check_below(bo_norm(bo_sub(after.angular, before.angular)), 1e-9 * bo_norm(before.angular));
        bough_contact_world_destroy(ctx, s);
        free(w);
    }
    bough_context_destroy(ctx);
}

/* A small ball at 60 m/s and a wall that is thinner than a step. */
static void nothing_flies_through_walls(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    for (int i = 0; i < 20; i++) {
        plan *w = new_plan();
        bough_rigid_body_def *ball = add_body(ctx, w, i % 2 ? sphere_def(0.02) : box_def(0.04, 0.04, 0.04), 1000,
                                              (bo_se3){bo_exp3(bo_v3(0.1 * i, 0.2, 0)), bo_v3(-1 - 0.037 * i, 0, 0)});
        bo_store3(ball->twist, bo_mat_tvec(bo_pose(&ball->pose).R, bo_v3(60, 0, 0)));
        add_obstacle(w, box_def(0.02, 1, 1), bo_se3_identity());
        bough_contact_world *s = make_world(ctx, w);
        run(ctx, s, 0.01, 20);
        check(place_of(s, 0).x < 0);
        bough_contact_world_destroy(ctx, s);
        free(w);
    }
    bough_context_destroy(ctx);
}

/* ---- rough ground ---- */

/* Boxes and hulls land on rough ground, whatever of them and of it touches first, and none sinks in. With all seeds but
 * the first bodies used to be drawn 30 mm to 85 mm into narrow peaks, by their far sides. */
static void nothing_sinks_into_rough_ground(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const uint64_t seeds[] = {21, 5000036, 25000096, 35000126};
    test_random r = {0};
    for (int round = 0; round < 24; round++) {
        if (round % 6 == 0)
            r.state = seeds[round / 6];
        enum { N = 30, COUNT = 12 };
        double heights[N * N];
        const double cell = round % 2 ? 0.08 : 0.2, rough = 0.02 + 0.01 * (round % 6),
                     apart = round % 2 ? 0.25 : 0.4; /* also over the middles of cells, where facets meet */
        for (int i = 0; i < N * N; i++)
            heights[i] = rough * spread(&r);
        bo_vec3 points[20];
        for (int i = 0; i < 20; i++)
            points[i] = bo_scale(0.08, bo_normalize(random_vector(&r, 1)));
        plan *w = new_plan();
        for (int i = 0; i < COUNT; i++) {
            const double b = spread(&r), a = spread(&r);
            add_body(ctx, w, i % 2 ? box_def(0.12, 0.1, 0.15) : hull_def(20, points), 400,
                     (bo_se3){bo_exp3(bo_v3(a, b, 0)), bo_v3(apart * (i % 4 - 1.5), apart * (i / 4 - 1), 0.3)});
        }
        add_obstacle(w, field_def(N, N, cell, heights), bo_se3_identity());
        bough_contact_world *s = make_world(ctx, w);
        double deepest = 0;
        for (int k = 0; k < 200; k++) {
            run(ctx, s, 0.005, 1);
            for (int32_t i = 0; i < COUNT; i++) {
                const bough_shape_def *def = w->bodies[i].shapes;
                const bo_se3 g = bo_se3_mul(bo_pose(&s->bodies[i].pose), bo_pose(&def->frame));
                for (int32_t c = 0; c < (i % 2 ? 8 : 20); c++) {
                    const bo_vec3 corner = i % 2
                                               ? bo_v3((c & 1 ? 1 : -1) * def->half[0], (c & 2 ? 1 : -1) * def->half[1],
                                                       (c & 4 ? 1 : -1) * def->half[2])
                                               : points[c];
                    const bo_vec3 x = bo_se3_apply(g, corner);
                    deepest = fmax(deepest, height_at(N, cell, heights, x.x, x.y) - x.z);
                }
            }
        }
        check_below(deepest, 0.002); /* a fifth of what they fall in a step */
        bough_contact_world_destroy(ctx, s);
        free(w);
    }
    bough_context_destroy(ctx);
}

/* Whatever allocation fails while hulls and ground are made and meet, nothing leaks, and the world goes on when there is
 * memory. */
static void memory_may_be_short_on_rough_ground(void **unused) {
    (void)unused;
    bough_context *plain = test_context(1);
    test_random r = {14};
    double heights[144];
    bo_vec3 points[20];
    for (int i = 0; i < 144; i++)
        heights[i] = 0.03 * spread(&r);
    for (int i = 0; i < 20; i++)
        points[i] = bo_scale(0.08, bo_normalize(random_vector(&r, 1)));
    plan *w = new_plan();
    for (int i = 0; i < 9; i++)
        add_body(plain, w, i % 2 ? box_def(0.12, 0.1, 0.15) : hull_def(20, points), 400,
                 (bo_se3){bo_exp3(random_vector(&r, 1)), bo_v3(0.15 * (i % 3), 0.12 * (i / 3), 0.1 + 0.07 * i)});
    add_obstacle(w, field_def(12, 12, 0.15, heights), bo_se3_identity());
    for (long fail_at = 1;; fail_at++) {
        test_memory memory = {.fail_at = fail_at};
        bough_context *ctx = test_counting_context(&memory);
        bough_contact_world *s = NULL;
        bough_status status = bough_contact_world_create(ctx, &w->def, &s);
        if (s)
            test_weigh(s->gravity);
        for (int i = 0; i < 60 && status == BOUGH_OK; i++) {
            status = bough_contact_world_step(ctx, s, 0.005);
            if (status == BOUGH_ERROR_MEMORY)
                check_ok(ctx, bough_contact_world_step(ctx, s, 0.005));
        }
        check(status != BOUGH_OK || s->contact_count > 0);
        bough_contact_world_destroy(ctx, s);
        bough_context_destroy(ctx);
        check_int(memory.live, 0);
        if (status == BOUGH_OK)
            break;
        check_int(status, BOUGH_ERROR_MEMORY);
    }
    free(w);
    bough_context_destroy(plain);
}

/* ---- obstacles that are led ---- */

static const double still[3] = {0, 0, 0};

/* Leads obstacle 0 from `at` with a velocity, for so many steps. */
static void lead(bough_context *ctx, bough_contact_world *w, bo_vec3 at, bo_vec3 velocity, double dt, int steps) {
    double v[3];
    bo_store3(v, velocity);
    for (int i = 0; i < steps; i++) {
        bough_pose pose = bough_default_pose();
        bo_store3(pose.position, bo_mul_add(at, i * dt, velocity));
        check_ok(ctx, bough_contact_world_move(ctx, w, 0, &pose, v, still));
        run(ctx, w, dt, 1);
    }
}

/* A bat gives a ball its own speed, or twice that where both bounce; it does not pass through it, however fast it is. */
static void bats_hit_balls(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    static const double speeds[] = {1, 10, 60};
    for (int k = 0; k < 6; k++) {
        const double speed = speeds[k / 2], e = k % 2;
        plan *p = new_plan();
        add_obstacle(p, box_def(0.1, 1, 1), placed(-0.5, 0, 0))->friction = 0;
        add_body(ctx, p, sphere_def(0.1), 1000, placed(0, 0, 0))->restitution = e;
        bough_contact_world *w = make_world(ctx, p);
        bo_store3(w->gravity, bo_v3(0, 0, 0));
        lead(ctx, w, bo_v3(-0.5, 0, 0), bo_v3(speed, 0, 0), 0.005, (int)(0.6 / speed / 0.005) + 2);
        check_near(velocity_of(w, 0).x, (1 + e) * speed, 1e-10 * speed);
        bough_contact_world_destroy(ctx, w);
        free(p);
    }
    bough_context_destroy(ctx);
}

/* A turntable takes a block along, on a circle, by friction alone; without friction it lies still. */
static void turntables_take_along(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    for (int rubs = 0; rubs < 2; rubs++) {
        plan *p = new_plan();
        const double spin[3] = {0, 0, 2}; /* 1.2 m/s^2 at 0.3 m */
        const bough_pose pose = bough_default_pose();
        add_obstacle(p, plane_def(), bo_se3_identity())->friction = 0.5 * rubs;
        add_body(ctx, p, box_def(0.1, 0.1, 0.05), 1000, placed(0.3, 0, 0.025))->friction = 0.5;
        bough_contact_world *w = make_world(ctx, p);
        check_ok(ctx, bough_contact_world_move(ctx, w, 0, &pose, still, spin));
        run(ctx, w, 1. / 240, 480);
        const double speed = bo_norm(velocity_of(w, 0)), away = bo_norm(bo_v3(place_of(w, 0).x, place_of(w, 0).y, 0));
        check_near(speed, rubs ? 2 * away : 0, 0.02 * away);
        check_near(w->bodies[0].spin[2], rubs ? 2 : 0, 1e-7);
        check(rubs ? away > 0.3 && away < 0.4 : fabs(away - 0.3) < 1e-9);
        bough_contact_world_destroy(ctx, w);
        free(p);
    }
    bough_context_destroy(ctx);
}

static void what_cannot_be_led_is_refused(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    plan *p = new_plan();
    bough_pose pose = bough_default_pose();
    const double wrong[3] = {0, NAN, 0};
    add_obstacle(p, plane_def(), bo_se3_identity());
    bough_contact_world *w = make_world(ctx, p);
    check_fails(ctx, bough_contact_world_move(ctx, w, 1, &pose, still, still), BOUGH_ERROR_ARGUMENT, "no obstacle 1");
    check_fails(ctx, bough_contact_world_move(ctx, w, 0, &pose, wrong, still), BOUGH_ERROR_ARGUMENT, "finite numbers");
    pose.rotation[0] = 2;
    check_fails(ctx, bough_contact_world_move(ctx, w, 0, &pose, still, still), BOUGH_ERROR_ARGUMENT, "rotation matrix");
    bough_contact_world_destroy(ctx, w);
    free(p);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bats_hit_balls),
        cmocka_unit_test(turntables_take_along),
        cmocka_unit_test(what_cannot_be_led_is_refused),

        cmocka_unit_test(what_lies_on_the_ground_is_carried),
        cmocka_unit_test(blocks_slide_as_friction_lets_them),
        cmocka_unit_test(elastic_balls_keep_momentum_and_energy),
        cmocka_unit_test(free_bodies_keep_their_momentum),
        cmocka_unit_test(a_spinning_body_flies_straight),
        cmocka_unit_test(fast_spins_are_not_driven),
        cmocka_unit_test(nothing_flies_through_walls),
        cmocka_unit_test(nothing_sinks_into_rough_ground),
        cmocka_unit_test(memory_may_be_short_on_rough_ground),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
