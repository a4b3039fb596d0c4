/* Points go as far towards obstacles as they may, whether these rest or move. */
#include "obstacles.h"

/* The obstacle at a moment of its move. */
static bo_obstacle moved(const bo_obstacle *o, const bo_se3 *to, double s) {
    bo_obstacle at = *o;
    if (to) {
        at.pose.R = bo_mat_mul(bo_exp3(bo_scale(s, bo_log3(bo_mat_mul(to->R, bo_transpose(o->pose.R))))), o->pose.R);
        at.pose.t = bo_mul_add(o->pose.t, s, bo_sub(to->t, o->pose.t));
    }
    return at;
}

/* Walks the way in small steps: the first s at which the gap is below `least`, or 1. */
enum { STEPS = 250 };
static double first_below(const bo_obstacle *o, const bo_se3 *to, bo_vec3 x, bo_vec3 p, double end, double least) {
    for (int i = 0; i <= STEPS; i++) {
        const double s = end * i / STEPS;
        const bo_obstacle at = moved(o, to, s);
        if (gap_at(&at, bo_mul_add(x, s, p)) < least)
            return s;
    }
    return INFINITY;
}

static void no_way_leads_into_an_obstacle(void **unused) {
    (void)unused;
    samples t;
    make_samples(&t);
    test_random r = {11};
    for (int kind = 0; kind < KINDS; kind++) {
        int short_ways = 0;
        for (int i = 0; i < 1000; i++) {
            bo_obstacle *o = &t.all[kind];
            const bo_vec3 spin = random_vector(&r, 1);
            const bo_se3 end = {bo_mat_mul(bo_exp3(spin), o->pose.R), bo_add(o->pose.t, random_vector(&r, 0.5))};
            const bo_se3 *to = i % 2 ? &end : NULL;
            bo_vec3 local = bo_scale(1.2, around(&r, o));
            local.z = kind == BO_OBSTACLE_PLANE || kind == BO_OBSTACLE_HEIGHT ? fabs(local.z) : local.z;
            const bo_vec3 x = bo_se3_apply(o->pose, local), aim = bo_se3_apply(o->pose, bo_scale(0.3, around(&r, o))),
                          p = i % 4 < 2 ? bo_scale(2, bo_sub(aim, x)) : random_vector(&r, 0.5);
            const double gap = gap_at(o, x), keep = test_uniform(&r, 0.05, 0.5),
                         reach = bo_obstacle_reach(o, to, x, p, keep);
            if (gap <= 0) {
                check_near(reach, 0, 0);
                continue;
            }
            check(reach >= 0 && reach <= 1);
            check(first_below(o, to, x, p, reach, keep * gap - 1e-13) == INFINITY);
            if (reach < 1) { /* no shorter than need be: the gap is used up within the next step of the walk */
                const double seen = first_below(o, to, x, p, 1, keep * gap);
                check(reach > fmin(seen, 1) - 1.01 / STEPS);
                short_ways++;
            }
        }
        check(short_ways > 400);
    }
    free_samples(&t);
}

static void ways_to_planes_and_spheres_are_used_up(void **unused) {
    (void)unused;
    samples t;
    make_samples(&t);
    test_random r = {12};
    const bo_obstacle *plane = &t.all[BO_OBSTACLE_PLANE], *sphere = &t.all[BO_OBSTACLE_SPHERE];
    int met = 0;
    for (int i = 0; i < 1000; i++) {
        const bo_vec3 x = random_vector(&r, 1.5), p = random_vector(&r, 2);
        const double keep = test_uniform(&r, 0.01, 0.9);
        bo_gap gap;
        bo_obstacle_gap(plane, x, &gap);
        const double fall = -bo_dot(gap.n, p);
        if (gap.d > 0)
            check_near(bo_obstacle_reach(plane, NULL, x, p, keep), fall > 0 ? fmin(1, (1 - keep) * gap.d / fall) : 1,
                       1e-12);
        bo_obstacle_gap(sphere, x, &gap);
        if (gap.d <= 0)
            continue;
        /* |y + t p| = radius + keep gap */
        const bo_vec3 y = bo_sub(x, sphere->pose.t);
        const double far = 0.3 + keep * gap.d, b = bo_dot(y, p), pp = bo_dot(p, p), c = bo_dot(y, y) - far * far,
                     root = b * b - pp * c, exact = b < 0 && root >= 0 ? fmin(1, c / (sqrt(root) - b)) : 1,
                     reach = bo_obstacle_reach(sphere, NULL, x, p, keep);
        check(reach <= exact + 1e-12 && reach > 0.99 * exact);
        met += exact < 1;
    }
    check(met > 100);
    free_samples(&t);
}

static void ways_past_obstacles_are_free(void **unused) {
    (void)unused;
    samples t;
    make_samples(&t);
    for (int kind = 0; kind < KINDS; kind++) {
        bo_obstacle o = t.all[kind];
        o.pose = bo_se3_identity();
        const bo_se3 to = {bo_exp3(bo_v3(0, 0, 0.5)), {0.1, 0, 0}};
        check_near(bo_obstacle_reach(&o, NULL, bo_v3(0, 0, 30), bo_v3(3, 2, -1), 0.2), 1, 0);
        check_near(bo_obstacle_reach(&o, &to, bo_v3(0, 0, 30), bo_v3(3, 2, -1), 0.2), 1, 0);
        check_near(bo_obstacle_reach(&o, NULL, bo_v3(0, 0, 1), bo_v3(0, 0, 0), 0.2), 1, 0); /* rests */
        check_near(bo_obstacle_reach(&o, NULL, bo_v3(0, 0, 1), bo_v3(0, 0, 9), 0.2), 1, 0); /* leaves */
    }
    /* A thousand gaps along a face. */
    check_near(bo_obstacle_reach(&t.all[BO_OBSTACLE_PLANE], NULL,
                                 bo_se3_apply(t.all[BO_OBSTACLE_PLANE].pose, bo_v3(0, 0, 1e-3)),
                                 bo_mat_vec(t.all[BO_OBSTACLE_PLANE].pose.R, bo_v3(1, 0, 0)), 0.2),
               1, 0);
    bo_obstacle box = {.kind = BO_OBSTACLE_BOX, .pose = bo_se3_identity(), .halves = {1, 1, 1}};
    check_near(bo_obstacle_reach(&box, NULL, bo_v3(0, 0, 1.001), bo_v3(0.9, 0.5, 0), 0.2), 1, 0);
    free_samples(&t);
}

/* None of them is near the point when it starts, nor when it ends. */
static void nothing_is_passed_through(void **unused) {
    (void)unused;
    const bo_vec3 still = {0, 0, 0}, x = {0.2, 0.1, 0};
    bo_obstacle box = {.kind = BO_OBSTACLE_BOX, .pose = {bo_identity3(), {0, 0, 1}}, .halves = {1, 1, 1e-4}};
    bo_se3 to = {bo_identity3(), {0, 0, -1}};
    check_near(bo_obstacle_reach(&box, &to, x, still, 0.1), 0.9 * (1 - 1e-4) / 2, 1e-12); /* 0.9 of the gap */
    check_near(bo_obstacle_reach(&box, NULL, x, bo_v3(0, 0, 2), 0.1), 0.9 * (1 - 1e-4) / 2, 1e-12);
    to.R = bo_exp3(bo_v3(0, 0, 1));
    const double turning = bo_obstacle_reach(&box, &to, x, still, 0.1);
    check(turning > 0.4 && turning <= 0.45);
    /* A long door swings by a right angle past a point at its middle angle. */
    box = (bo_obstacle){.kind = BO_OBSTACLE_BOX, .pose = bo_se3_identity(), .halves = {2, 1e-3, 1}};
    to = (bo_se3){bo_exp3(bo_v3(0, 0, 0.5 * M_PI)), {0, 0, 0}};
    const double swing = bo_obstacle_reach(&box, &to, bo_v3(1.2, 1.2, 0), still, 0.1), touch = 0.5;
    check(swing > 0.8 * touch && swing < touch);
    check_near(bo_obstacle_reach(&box, &to, bo_v3(-1.2, 1.2, 0), still, 0.1), 1, 0); /* the other way round */
}

static void numbers_that_are_none_move_nothing(void **unused) {
    (void)unused;
    samples t;
    make_samples(&t);
    for (int kind = 0; kind < KINDS; kind++) {
        bo_obstacle o = t.all[kind];
        o.pose = bo_se3_identity();
        const bo_vec3 x = {0, 0, 2}, p = {0.1, 0, -3};
        bo_se3 to = {bo_identity3(), {0, NAN, 0}};
        check_near(bo_obstacle_reach(&o, NULL, x, bo_v3(NAN, 0, 0), 0.1), 0, 0);
        check_near(bo_obstacle_reach(&o, NULL, x, bo_v3(0, INFINITY, 0), 0.1), 0, 0);
        check_near(bo_obstacle_reach(&o, NULL, x, bo_v3(0, 0, -1e300), 0.1), 0, 0);
        check_near(bo_obstacle_reach(&o, NULL, bo_v3(0, 0, NAN), p, 0.1), 0, 0);
        check_near(bo_obstacle_reach(&o, &to, x, p, 0.1), 0, 0);
        to.t.y = 0, to.R.m[4] = NAN;
        const double odd = bo_obstacle_reach(&o, &to, x, p, 0.1);
        check(odd >= 0 && odd <= 1);
        check_near(bo_obstacle_reach(&o, NULL, x, p, 1), 0, 0);
        check_near(bo_obstacle_reach(&o, NULL, x, p, NAN), 0, 0);
        const double reach = bo_obstacle_reach(&o, NULL, x, bo_v3(0, 1e-300, -1e50), 0.1);
        check(reach >= 0 && reach < 1e-40);
        check(bo_obstacle_reach(&o, NULL, x, p, -5) < 0.9); /* as 0 */
    }
    free_samples(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_way_leads_into_an_obstacle),      cmocka_unit_test(ways_to_planes_and_spheres_are_used_up),
        cmocka_unit_test(ways_past_obstacles_are_free),       cmocka_unit_test(nothing_is_passed_through),
        cmocka_unit_test(numbers_that_are_none_move_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
