/* The contact world on its own, without any mechanism: rest, impacts, friction, filters, islands, hostile input. */
#include "puck.h"

#include "contact/islands.h"
#include "contact/world.h"

/* ---- rest ---- */

static void add_stack(bough_context *ctx, plan *p, int count, double x) {
    for (int i = 0; i < count; i++) {
        const bo_se3 g = {bo_exp3(bo_v3(0, 0, 0.2 * i)), bo_v3(x + 0.01 * (i % 2), 0, 0.1 + 0.2 * i)};
        add_body(ctx, p, box_def(0.2, 0.2, 0.2), 300, g);
    }
}

static void a_stack_rests_for_a_minute(void **unused) {
    (void)unused;
    enum { COUNT = 6 };
    bough_context *ctx = test_context(1);
    plan *p = new_plan();
    add_stack(ctx, p, COUNT, 0);
    add_obstacle(p, plane_def(), bo_se3_identity());
    bough_contact_world *w = make_world(ctx, p);
    run(ctx, w, 1. / 120, 60 * 120);
    for (int i = 0; i < COUNT; i++) {
        check_near(place_of(w, i).z, 0.1 + 0.2 * i, 1e-7);
        check_near(place_of(w, i).x, 0.01 * (i % 2), 1e-5);
        check_near(place_of(w, i).y, 0, 1e-5);
        check_below(bo_norm(velocity_of(w, i)), 1e-4);
    }
    check_int(w->island_count, 1);
    double carried = 0;
    for (int32_t i = 0; i < w->contact_count; i++)
        if (w->contacts[i].sides[1].kind == BOUGH_CONTACT_OF_OBSTACLE)
            carried += w->contacts[i].force[2];
    check_near(carried, COUNT * 0.008 * 300 * 9.81, 5e-5);
    bough_contact_world_destroy(ctx, w);
    free(p);
    bough_context_destroy(ctx);
}

/* ---- impacts ---- */

/* Bodies of all kinds fly at each other, bounce, rub and turn: nothing is gained or lost by all of them together. */
static void impacts_keep_momentum(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {31};
    for (int round = 0; round < 8; round++) {
        plan *p = new_plan();
        for (int i = 0; i < 8; i++) {
            const bo_vec3 x = bo_scale(0.6, bo_normalize(random_vector(&r, 1)));
            bough_rigid_body_def *body = add_body(ctx, p, i % 2 ? sphere_def(0.1) : box_def(0.2, 0.1, 0.15),
                                                  i % 3 ? 500 : 5000, (bo_se3){bo_exp3(random_vector(&r, 2)), x});
            bo_store3(body->twist, bo_mat_tvec(bo_pose(&body->pose).R, bo_scale(-3, x)));
            bo_store3(body->twist + 3, random_vector(&r, 5));
            body->restitution = round % 2 ? 0.5 : 0, body->friction = round % 4 < 2 ? 0.6 : 0;
        }
        bough_contact_world *w = make_world(ctx, p);
        memset(w->gravity, 0, sizeof w->gravity);
        const momenta before = momenta_of(p, w);
        int touched = 0;
        for (int i = 0; i < 300; i++) {
            run(ctx, w, 0.004, 1);
            touched += w->contact_count > 0;
        }
        const momenta after = momenta_of(p, w);
        check(touched > 10);
        check_below(bo_norm(bo_sub(after.linear, before.linear)), 1e-12);
        check_below(bo_norm(bo_sub(after.angular, before.angular)), 1e-11);
        bough_contact_world_destroy(ctx, w);
        free(p);
    }
    bough_context_destroy(ctx);
}

/* Forces and torques in every step, in the world's axes, give a free body momentum in proportion to time. */
static void bodies_follow_forces_and_torques(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    plan *p = new_plan();
    const bo_vec3 force = {1, -2, 3}, torque = {0.1, 0.2, -0.3};
    add_body(ctx, p, box_def(0.3, 0.2, 0.1), 500, (bo_se3){bo_exp3(bo_v3(1, 2, 0.5)), bo_v3(0, 0, 0)});
    bough_contact_world *w = make_world(ctx, p);
    memset(w->gravity, 0, sizeof w->gravity);
    for (int k = 0; k < 200; k++) {
        bo_store3(w->bodies[0].force, force);
        bo_store3(w->bodies[0].torque, torque);
        run(ctx, w, 0.005, 1);
    }
    const momenta after = momenta_of(p, w);
    const bo_vec3 own = bo_sub(after.angular, bo_cross(place_of(w, 0), after.linear)); /* about its centre */
    check_below(bo_norm(bo_sub(after.linear, force)), 1e-12);
    check_below(bo_norm(bo_sub(own, torque)), 1e-12);
    bough_contact_world_destroy(ctx, w);
    free(p);
    bough_context_destroy(ctx);
}

/* ---- friction ---- */

/* A block slips from tan(angle) = mu on, and then as fast as Coulomb says; at rest and sliding its forces are within
 * the cone. */
static void blocks_slip_at_the_angle_of_friction(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    for (double mu = 0.1; mu < 1.2; mu += 0.25)
        for (int above = 0; above < 2; above++) {
            plan *p = new_plan();
            const double angle = atan(mu) + (above ? 0.004 : -0.004), seconds = 1;
            const bo_se3 slope = {bo_exp3(bo_v3(0, angle, 0)), bo_v3(0, 0, 0)};
            const bo_se3 turned = {bo_exp3(bo_v3(0, 0, 0.4)), bo_v3(0, 0, 0.05)};
            add_body(ctx, p, box_def(0.3, 0.3, 0.1), 500, bo_se3_mul(slope, turned))->friction = mu;
            add_obstacle(p, plane_def(), slope)->friction = mu;
            bough_contact_world *w = make_world(ctx, p);
            for (int i = 0; i < 500; i++) {
                run(ctx, w, seconds / 500, 1);
                for (int32_t k = 0; k < w->contact_count; k++) {
                    const bo_vec3 f = bo_load3(w->contacts[k].force), n = bo_load3(w->contacts[k].normal);
                    const double push = bo_dot(f, n);
                    check(push >= 0);
                    check_below(bo_norm(bo_mul_add(f, -push, n)), mu * push * (1 + 1e-9) + 1e-9);
                }
            }
            const double speed = bo_dot(velocity_of(w, 0), bo_mat_vec(slope.R, bo_v3(1, 0, 0)));
            const double expected = above ? 9.81 * (sin(angle) - mu * cos(angle)) * seconds : 0;
            check_near(speed, expected, above ? 1e-5 * expected : 1e-12);
            bough_contact_world_destroy(ctx, w);
            free(p);
        }
    bough_context_destroy(ctx);
}

/* ---- filters ---- */

/* Three balls over a floor: one is in another group, one ignores the floor, and one lies on it. */
static void filters_say_who_touches_whom(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    plan *p = new_plan();
    for (int i = 0; i < 3; i++)
        add_body(ctx, p, sphere_def(0.1), 500, placed(i, 0, 0.15));
    add_obstacle(p, plane_def(), bo_se3_identity());
    bough_contact_world *w = make_world(ctx, p);
    const bough_contact_side floor_side = side_of(BOUGH_CONTACT_OF_OBSTACLE, 0);
    check_ok(ctx, bough_contact_world_filter(ctx, w, side_of(BOUGH_CONTACT_OF_BODY, 1), 2, 2));
    check_ok(ctx, bough_contact_world_ignore(ctx, w, side_of(BOUGH_CONTACT_OF_BODY, 2), floor_side, true));
    run(ctx, w, 0.005, 100);
    check_near(place_of(w, 0).z, 0.1, 1e-9);
    check(place_of(w, 1).z < -0.5 && place_of(w, 2).z < -0.5);
    /* one mask that says no is enough */
    check_ok(ctx, bough_contact_world_filter(ctx, w, side_of(BOUGH_CONTACT_OF_BODY, 0), 1, 2));
    run(ctx, w, 0.005, 100);
    check(place_of(w, 0).z < -0.5);
    /* and what is taken back acts again */
    check_ok(ctx, bough_contact_world_filter(ctx, w, side_of(BOUGH_CONTACT_OF_BODY, 0), 1, UINT32_MAX));
    check_ok(ctx, bough_contact_world_ignore(ctx, w, floor_side, side_of(BOUGH_CONTACT_OF_BODY, 2), false));
    for (int i = 0; i < 3; i += 2) {
        w->bodies[i].pose.position[2] = 0.12;
        memset(w->bodies[i].velocity, 0, sizeof w->bodies[i].velocity);
    }
    run(ctx, w, 0.005, 100);
    check_near(place_of(w, 0).z, 0.1, 1e-9);
    check_near(place_of(w, 2).z, 0.1, 1e-9);
    check_fails(ctx, bough_contact_world_filter(ctx, w, side_of(BOUGH_CONTACT_OF_BODY, 3), 1, 1), BOUGH_ERROR_ARGUMENT,
                "index 3");
    check_fails(ctx, bough_contact_world_ignore(ctx, w, floor_side, side_of(BOUGH_CONTACT_OF_LINK, 0), true),
                BOUGH_ERROR_ARGUMENT, "nothing of kind");
    bough_contact_world_destroy(ctx, w);
    free(p);
    bough_context_destroy(ctx);
}

/* Balls in a row, of which random pairs ignore each other, and random ones are told off again: those that are left out
 * pass through each other, and no others. */
static void ignored_pairs_pass_through_each_other(void **unused) {
    (void)unused;
    enum { COUNT = 12 };
    bough_context *ctx = test_context(1);
    test_random r = {32};
    plan *p = new_plan();
    bool ignored[COUNT][COUNT] = {{false}};
    for (int i = 0; i < COUNT; i++)
        add_body(ctx, p, sphere_def(0.1), 500, placed(0.02 * i, 0, 0)); /* all overlap */
    bough_contact_world *w = make_world(ctx, p);
    memset(w->gravity, 0, sizeof w->gravity);
    for (int round = 0; round < 200; round++) {
        const int a = (int)(test_bits(&r) % COUNT), b = (int)(test_bits(&r) % COUNT);
        const bool ignore = test_bits(&r) % 3 > 0;
        check_ok(ctx, bough_contact_world_ignore(ctx, w, side_of(BOUGH_CONTACT_OF_BODY, a),
                                                 side_of(BOUGH_CONTACT_OF_BODY, b), ignore));
        ignored[a][b] = ignored[b][a] = ignore;
    }
    run(ctx, w, 1e-4, 1);
    bool touched[COUNT][COUNT] = {{false}};
    for (int32_t i = 0; i < w->contact_count; i++) {
        const int32_t a = w->contacts[i].sides[0].index, b = w->contacts[i].sides[1].index;
        touched[a][b] = touched[b][a] = true;
    }
    int left_out = 0;
    for (int a = 0; a < COUNT; a++)
        for (int b = 0; b < a; b++) {
            const bool overlap = 0.02 * (a - b) < 0.2;
            left_out += overlap && ignored[a][b];
            if (0.02 * (a - b) < 0.19 || 0.02 * (a - b) > 0.22)
                check_int(touched[a][b], overlap && !ignored[a][b]);
        }
    check(left_out > 5);
    bough_contact_world_destroy(ctx, w);
    free(p);
    bough_context_destroy(ctx);
}

/* ---- islands ---- */

/* A stack has the same bits whether or not another falls down far away; and whether or not a stone hits the ground
 * there at 50 m/s. */
static void islands_do_not_feel_each_other(void **unused) {
    (void)unused;
    enum { COUNT = 5 };
    bough_context *ctx = test_context(1);
    plan *p[3];
    bough_contact_world *w[3];
    for (int k = 0; k < 3; k++) {
        p[k] = new_plan();
        add_stack(ctx, p[k], COUNT, 0);
        if (k == 1)
            add_stack(ctx, p[k], 3, 30);
        if (k == 2)
            add_body(ctx, p[k], box_def(0.3, 0.2, 0.1), 3000, placed(30, 0, 5))->twist[2] = -50;
        add_obstacle(p[k], plane_def(), bo_se3_identity());
        w[k] = make_world(ctx, p[k]);
    }
    int most_islands = 0;
    for (int i = 0; i < 300; i++)
        for (int k = 0; k < 3; k++) {
            run(ctx, w[k], 1. / 120, 1);
            check_int(memcmp(w[k]->bodies, w[0]->bodies, COUNT * sizeof(bough_rigid_body)), 0);
            most_islands = w[k]->island_count > most_islands ? w[k]->island_count : most_islands;
        }
    check_int(most_islands, 2);
    for (int k = 0; k < 3; k++) {
        bough_contact_world_destroy(ctx, w[k]);
        free(p[k]);
    }
    bough_context_destroy(ctx);
}

/* Eight boxes stand as well while stones hit the ground beside them at 50 m/s as without. One search for all is content
 * with less then. */
static void stones_elsewhere_do_not_loosen_a_stack(void **unused) {
    (void)unused;
    enum { COUNT = 8, STONES = 40 };
    bough_context *ctx = test_context(1);
    double off[3] = {0}; /* without stones; with them and islands; without islands */
    for (int k = 0; k < 3; k++) {
        plan *p = new_plan();
        for (int i = 0; i < COUNT; i++)
            add_body(ctx, p, box_def(0.2, 0.2, 0.2), 300,
                     (bo_se3){bo_exp3(bo_v3(0, 0, 0.2 * i)), bo_v3(0.03 * (i % 2), 0, 0.1 + 0.2 * i)});
        for (int i = 0; i < STONES && k > 0; i++)
            add_body(ctx, p, box_def(0.3, 0.2, 0.1), 3000, placed(30 + i, 0, 5 + 25 * i))->twist[2] = -50;
        add_obstacle(p, plane_def(), bo_se3_identity());
        p->def.islands = k < 2;
        bough_contact_world *w = make_world(ctx, p);
        for (int i = 0; i < 1200; i++) {
            run(ctx, w, 1. / 120, 1);
            for (int b = 0; b < COUNT; b++)
                off[k] = fmax(off[k], bo_norm(bo_sub(place_of(w, b), bo_v3(0.03 * (b % 2), 0, 0.1 + 0.2 * b))));
        }
        bough_contact_world_destroy(ctx, w);
        free(p);
    }
    check_below(off[0], 1e-5);
    check(off[1] == off[0]);
    check(off[2] > 1.5 * off[0]);
    bough_context_destroy(ctx);
}

/* Islands by their definition: two constraints are of one island where a chain of groups that move leads from one to
 * the other. */
static void islands_are_what_hangs_together(void **unused) {
    (void)unused;
    enum { GROUPS = 30, MOST_CONSTRAINTS = 40 };
    bough_context *ctx = test_context(1);
    test_random r = {33};
    bo_islands islands;
    check_ok(ctx, bo_islands_create(ctx, GROUPS, &islands));
    check_ok(ctx, bo_islands_reserve(ctx, &islands, MOST_CONSTRAINTS));
    int several = 0;
    for (int round = 0; round < 200; round++) {
        bo_constraint c[MOST_CONSTRAINTS];
        const int count = (int)(test_bits(&r) % (MOST_CONSTRAINTS + 1));
        int label[GROUPS];
        for (int g = 0; g < GROUPS; g++)
            label[g] = g;
        for (int i = 0; i < count; i++) {
            const int a = (int)(test_bits(&r) % GROUPS), b = (int)(test_bits(&r) % GROUPS);
            c[i] = (bo_constraint){.groups = {a, b}};
            if (test_bits(&r) % 2 || a == b)
                c[i].groups[test_bits(&r) % 2] = -1;
            else
                for (int g = 0, old = label[b]; g < GROUPS; g++)
                    label[g] = label[g] == old ? label[a] : label[g];
        }
        bo_islands_find(&islands, count, c, true);
        int seen = 0, island_of[MOST_CONSTRAINTS], first = -1;
        for (int k = 0; k < islands.count; k++) {
            check(islands.start[k] < islands.start[k + 1]);
            check(islands.order[islands.start[k]] > first); /* ordered by first constraints */
            first = islands.order[islands.start[k]];
            for (int32_t i = islands.start[k]; i < islands.start[k + 1]; i++, seen++) {
                check(i == islands.start[k] || islands.order[i] > islands.order[i - 1]);
                island_of[islands.order[i]] = k;
            }
        }
        check_int(seen, count);
        for (int i = 0; i < count; i++)
            for (int k = 0; k < i; k++) {
                const int a = c[i].groups[0] >= 0 ? c[i].groups[0] : c[i].groups[1],
                          b = c[k].groups[0] >= 0 ? c[k].groups[0] : c[k].groups[1];
                check_int(island_of[i] == island_of[k], label[a] == label[b]);
            }
        several += islands.count > 2;
        bo_islands_find(&islands, count, c, false);
        check_int(islands.count, count > 0);
        for (int i = 0; i < count; i++)
            check_int(islands.order[i], i);
    }
    check(several > 50);
    bo_islands_destroy(ctx, &islands);
    bough_context_destroy(ctx);
}

/* Forty little piles, as many islands: 1, 2, 3 or 8 threads find the same bits. */
static void threads_do_not_change_bits(void **unused) {
    (void)unused;
    const int32_t threads[] = {1, 2, 3, 8};
    bough_rigid_body first[120];
    for (int k = 0; k < 4; k++) {
        bough_context *ctx = test_context(threads[k]);
        plan *p = new_plan();
        test_random r = {34};
        for (int i = 0; i < 120; i++)
            add_body(ctx, p, i % 3 ? box_def(0.2, 0.15, 0.1) : sphere_def(0.08), 500,
                     (bo_se3){bo_exp3(random_vector(&r, 1)), bo_v3(0.05 * (i % 3) + i / 3, 0, 0.2 + 0.25 * (i % 3))});
        add_obstacle(p, plane_def(), bo_se3_identity());
        bough_contact_world *w = make_world(ctx, p);
        int32_t most = 0;
        for (int i = 0; i < 150; i++) {
            run(ctx, w, 0.005, 1);
            most = w->island_count > most ? w->island_count : most;
        }
        check(most >= 40 && w->contact_count > 200);
        if (k == 0)
            memcpy(first, w->bodies, sizeof first);
        check_int(memcmp(first, w->bodies, sizeof first), 0);
        bough_contact_world_destroy(ctx, w);
        free(p);
        bough_context_destroy(ctx);
    }
}

/* ---- pairs ---- */

/* In random scenes, spread along any axis, that move: boxes that overlap are found whatever happened before, and those
 * only. */
static void the_sweep_finds_what_all_pairs_find(void **unused) {
    (void)unused;
    enum { COUNT = 80 };
    bough_context *ctx = test_context(1);
    test_random r = {35};
    for (int round = 0; round < 60; round++) {
        plan *p = new_plan();
        const bo_vec3 spreads[] = {{4, 0.3, 0.3}, {0.3, 4, 0.3}, {0.3, 0.3, 4}, {1, 1, 1}, {0, 0, 3}};
        const bo_vec3 s = spreads[round % 5];
        for (int i = 0; i < COUNT; i++) {
            const bo_vec3 x = random_vector(&r, 1), v = random_vector(&r, 20);
            bough_rigid_body_def *body =
                add_body(ctx, p, i % 2 ? sphere_def(0.05 + 0.1 * test_uniform(&r, 0, 1)) : box_def(0.2, 0.1, 0.3), 500,
                         (bo_se3){bo_exp3(random_vector(&r, 2)), bo_v3(s.x * x.x, s.y * x.y, s.z * x.z)});
            bo_store3(body->twist, v);
        }
        add_obstacle(p, plane_def(), placed(0, 0, -0.2));
        bough_contact_world *w = make_world(ctx, p);
        for (int step = 0; step < 6; step++) {
            run(ctx, w, step == 3 ? 0.2 : 0.01, 1); /* once they leap */
            const struct bo_contact_world_work *work = bo_world_work(w);
            size_t expected = 0;
            for (int32_t a = 0; a < work->thing_count; a++)
                for (int32_t b = a + 1; b < work->thing_count; b++) {
                    const bo_box *q = &work->boxes[a], *t = &work->boxes[b];
                    if (q->lower.x > t->upper.x || t->lower.x > q->upper.x || q->lower.y > t->upper.y ||
                        t->lower.y > q->upper.y || q->lower.z > t->upper.z || t->lower.z > q->upper.z)
                        continue;
                    check(expected < work->sweep.pair_count &&
                          work->sweep.pairs[expected] == ((uint64_t)a << 32 | (uint64_t)b));
                    expected++;
                }
            check_int(work->sweep.pair_count, expected);
        }
        bough_contact_world_destroy(ctx, w);
        free(p);
    }
    bough_context_destroy(ctx);
}

/* ---- failures ---- */

/* Whenever an actor fails, everybody is where they were, and everybody who had begun hears of it. */
static void steps_are_transactions(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    plan *p = new_plan();
    puck a = new_puck(2, 0.1, bo_v3(0, 0, 0.1), bo_v3(0, 0, 0)),
         b = new_puck(2, 0.1, bo_v3(0, 0, 0.3), bo_v3(0, 0, -1));
    add_puck(p, &a), add_puck(p, &b);
    add_body(ctx, p, sphere_def(0.1), 500, placed(0, 0, 0.6))->twist[2] = -2;
    add_obstacle(p, plane_def(), bo_se3_identity());
    bough_contact_world *w = make_world(ctx, p);
    run(ctx, w, 0.005, 10);
    const int32_t contacts = w->contact_count;
    const bough_contact contact = w->contacts[0];
    for (int refuse = 1; refuse <= 4; refuse++) {
        const puck kept[2] = {a, b};
        const bough_rigid_body body = w->bodies[0];
        b.refuse = refuse;
        check_fails(ctx, bough_contact_world_step(ctx, w, 0.005), BOUGH_ERROR_SINGULAR, "the puck does not");
        b.refuse = 0;
        check_int(memcmp(&body, &w->bodies[0], sizeof body), 0);
        check_int(w->contact_count, contacts);
        check_int(memcmp(&contact, &w->contacts[0], sizeof contact), 0);
        check_int(memcmp(kept[0].x, a.x, sizeof a.x), 0);
        check_int(memcmp(kept[1].v, b.v, sizeof b.v), 0);
        check_int(a.cancelled, kept[0].cancelled + 1);
        check_int(b.cancelled, kept[1].cancelled + 1);
        check_int(a.ended, kept[0].ended);
    }
    for (int k = 0; k < 2; k++) {
        const double wrong[] = {NAN, INFINITY};
        w->bodies[0].force[1] = wrong[k];
        check(bough_contact_world_step(ctx, w, 0.005) == BOUGH_NOT_FINITE);
        w->bodies[0].force[1] = 0;
    }
    check_fails(ctx, bough_contact_world_step(ctx, w, NAN), BOUGH_ERROR_ARGUMENT, "above 0");
    check_fails(ctx, bough_contact_world_step(ctx, w, 0), BOUGH_ERROR_ARGUMENT, "above 0");
    run(ctx, w, 0.005, 1);
    bough_contact_world_destroy(ctx, w);
    free(p);
    bough_context_destroy(ctx);
}

/* ---- memory ---- */

static plan *big_pile(bough_context *ctx) {
    plan *p = new_plan();
    test_random r = {36};
    for (int i = 0; i < 30; i++)
        add_body(ctx, p, i % 2 ? box_def(0.2, 0.15, 0.1) : sphere_def(0.08), 500,
                 (bo_se3){bo_exp3(random_vector(&r, 1)), bo_v3(0.2 * (i % 4), 0.2 * (i / 4 % 3), 0.2 + 0.06 * i)});
    add_obstacle(p, plane_def(), bo_se3_identity());
    return p;
}

/* With room for the contacts no step allocates; without, none once there were as many. Room changes no bits. */
static void steps_do_not_allocate(void **unused) {
    (void)unused;
    bough_rigid_body first[30];
    for (int reserved = 0; reserved < 2; reserved++) {
        test_memory counted = {.fail_at = -1};
        bough_context *ctx = test_counting_context(&counted);
        plan *p = big_pile(ctx);
        p->def.contact_reserve = reserved ? 500 : 0;
        puck a = new_puck(2, 0.1, bo_v3(0.2, 0.2, 0.1), bo_v3(0, 0, 0));
        a.gravity = -9.81;
        add_puck(p, &a);
        bough_contact_world *w = make_world(ctx, p);
        long calls = counted.calls;
        run(ctx, w, 0.005, 400);
        check(w->contact_count > 40);
        if (reserved)
            check_int(counted.calls, calls);
        else
            memcpy(first, w->bodies, sizeof first);
        check_int(memcmp(first, w->bodies, sizeof first), 0);
        calls = counted.calls;
        run(ctx, w, 0.005, 50);
        check_int(counted.calls, calls);
        bough_contact_world_destroy(ctx, w);
        free(p);
        bough_context_destroy(ctx);
        check_int(counted.live, 0);
    }
}

/* Whatever allocation fails, nothing leaks, actors are destroyed once, and the world goes on when there is memory. */
static void memory_may_be_short(void **unused) {
    (void)unused;
    for (long fail_at = 1;; fail_at++) {
        bough_context *plain = test_context(1);
        plan *p = big_pile(plain);
        test_memory memory = {.fail_at = fail_at};
        bough_context *ctx = test_counting_context(&memory);
        puck a = new_puck(2, 0.1, bo_v3(0.2, 0.2, 0.1), bo_v3(0, 0, 0));
        add_puck(p, &a);
        bough_contact_world *w = NULL;
        bough_status status = bough_contact_world_create(ctx, &p->def, &w);
        check(!p->actors[0].table);
        check(status == BOUGH_OK || !w);
        if (w)
            test_weigh(w->gravity);
        for (int i = 0; i < 40 && status == BOUGH_OK; i++) {
            status = bough_contact_world_step(ctx, w, 0.005);
            if (status == BOUGH_ERROR_MEMORY)
                check_ok(ctx, bough_contact_world_step(ctx, w, 0.005));
        }
        bough_contact_world_destroy(ctx, w);
        check_int(a.destroyed, 1);
        bough_context_destroy(ctx);
        check_int(memory.live, 0);
        free(p);
        bough_context_destroy(plain);
        if (status == BOUGH_OK)
            break;
        check_int(status, BOUGH_ERROR_MEMORY);
    }
}

static void saved_worlds_go_on_with_the_same_bits(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    plan *p = big_pile(ctx);
    bough_contact_world *w = make_world(ctx, p), *t = make_world(ctx, p);
    w->gravity[0] = 0.5;
    run(ctx, w, 0.005, 120);
    const int64_t size = bough_contact_world_memory_size(w);
    double *memory = malloc((size_t)size * sizeof(double));
    bough_contact_world_save(w, memory);
    check(w->contact_count > 20);
    run(ctx, t, 0.01, 7); /* it was elsewhere */
    check_ok(ctx, bough_contact_world_restore(ctx, t, size, memory));
    check_int(t->contact_count, w->contact_count); /* seen at once, before any step */
    check_int(memcmp(w->contacts, t->contacts, (size_t)w->contact_count * sizeof *w->contacts), 0);
    run(ctx, w, 0.005, 120);
    run(ctx, t, 0.005, 120);
    check_int(memcmp(w->bodies, t->bodies, (size_t)w->body_count * sizeof *w->bodies), 0);
    check_int(w->contact_count, t->contact_count);
    check_int(memcmp(w->contacts, t->contacts, (size_t)w->contact_count * sizeof *w->contacts), 0);
    const bough_rigid_body kept = t->bodies[0];
    for (int64_t k = 0; k < size; k++) {
        const double right = memory[k];
        memory[k] = NAN;
        check_fails(ctx, bough_contact_world_restore(ctx, t, size, memory), BOUGH_ERROR_FORMAT, "not those");
        memory[k] = right;
    }
    check_fails(ctx, bough_contact_world_restore(ctx, t, size - 1, memory), BOUGH_ERROR_FORMAT, "not those");
    check_fails(ctx, bough_contact_world_restore(ctx, t, 3, memory), BOUGH_ERROR_FORMAT, "not those");
    check_int(memcmp(&kept, &t->bodies[0], sizeof kept), 0);
    free(memory);
    bough_contact_world_destroy(ctx, w);
    bough_contact_world_destroy(ctx, t);
    free(p);
    bough_context_destroy(ctx);
}

/* ---- hostile input ---- */

static void hostile_worlds_are_refused(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    bough_contact_world *w = NULL;
    plan *p = new_plan();
    bough_rigid_body_def *body = add_body(ctx, p, sphere_def(0.1), 1000, bo_se3_identity());
    bough_obstacle_def *obstacle = add_obstacle(p, plane_def(), bo_se3_identity());
    const bough_rigid_body_def good = *body;
    const bough_obstacle_def wall = *obstacle;
    const bough_contact_world_def def = p->def;
#define REFUSED(part)                                                                             \
    check_fails(ctx, bough_contact_world_create(ctx, &p->def, &w), BOUGH_ERROR_ARGUMENT, (part)); \
    check(!w);                                                                                    \
    *body = good, *obstacle = wall, p->def = def
    body->mass = 0;
    REFUSED("mass");
    body->mass = 1e13;
    REFUSED("mass");
    body->mass = NAN;
    REFUSED("mass");
    body->name = "cup", body->inertia[0] = -1;
    REFUSED("body 0 (cup): its inertia");
    body->inertia[1] = 0.5;
    REFUSED("inertia");
    body->inertia[4] = NAN;
    REFUSED("inertia");
    body->pose.position[1] = INFINITY;
    REFUSED("pose");
    body->twist[5] = NAN;
    REFUSED("spin");
    body->friction = -1;
    REFUSED("body 0: its friction");
    body->restitution = 1.5;
    REFUSED("restitution");
    body->shape_count = 1000000000;
    REFUSED("shapes");
    body->shapes = wall.shapes;
    REFUSED("only be obstacles");
    body->cookie = 0;
    REFUSED("bough_default_rigid_body_def");
    obstacle->friction = NAN;
    REFUSED("obstacle 0: its friction");
    obstacle->pose.rotation[0] = 0;
    REFUSED("pose");
    obstacle->shapes = NULL;
    REFUSED("shapes");
    obstacle->cookie = 0;
    REFUSED("bough_default_obstacle_def");
    p->def.body_count = -1;
    REFUSED("bodies");
    p->def.obstacle_count = 2000000000;
    REFUSED("obstacles");
    p->def.actor_count = -1;
    REFUSED("actors");
    p->def.margin = NAN;
    REFUSED("margin");
    p->def.most_rounds = 0;
    REFUSED("most_rounds");
    p->def.contact_reserve = -1;
    REFUSED("contact_reserve");
    p->def.tolerance = 2;
    REFUSED("tolerance");
    p->def.cookie = 0;
    REFUSED("bough_default_contact_world_def");
    body->centre[0] = 0.1;
    check_fails(ctx, bough_contact_world_create(ctx, &p->def, &w), BOUGH_ERROR_UNSUPPORTED, "centre of mass");
    free(p);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stack_rests_for_a_minute),
        cmocka_unit_test(impacts_keep_momentum),
        cmocka_unit_test(bodies_follow_forces_and_torques),
        cmocka_unit_test(blocks_slip_at_the_angle_of_friction),
        cmocka_unit_test(filters_say_who_touches_whom),
        cmocka_unit_test(ignored_pairs_pass_through_each_other),
        cmocka_unit_test(islands_do_not_feel_each_other),
        cmocka_unit_test(stones_elsewhere_do_not_loosen_a_stack),
        cmocka_unit_test(islands_are_what_hangs_together),
        cmocka_unit_test(threads_do_not_change_bits),
        cmocka_unit_test(the_sweep_finds_what_all_pairs_find),
        cmocka_unit_test(steps_are_transactions),
        cmocka_unit_test(steps_do_not_allocate),
        cmocka_unit_test(memory_may_be_short),
        cmocka_unit_test(saved_worlds_go_on_with_the_same_bits),
        cmocka_unit_test(hostile_worlds_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
