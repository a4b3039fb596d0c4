/* Blends of linearisation points against their models, the full mechanism and an independent implementation's figures.
 */
#include "mechanisms.h"

#include "dense/symmetric_eigen.h"
#include "mechanism/blend.h"
#include "mechanism/lanes.h"

/* A mechanism with its full version and a blend, without gravity. */
typedef struct {
    sketch *s;
    bough_mechanism *m;
    bough_full_mechanism *full;
    bough_mechanism_blend *blend;
    bough_blend_state *state;
} blended;

static blended start(bough_context *ctx, sketch *s) {
    blended b = {.s = s};
    check_ok(ctx, bough_mechanism_create(ctx, &s->def, &b.m));
    check_ok(ctx, bough_full_mechanism_create(ctx, b.m, &b.full));
    check_ok(ctx, bough_mechanism_blend_create(ctx, b.m, NULL, &b.blend));
    check_ok(ctx, bough_blend_state_create(ctx, b.blend, &b.state));
    return b;
}
static void stop(bough_context *ctx, blended b) {
    bough_blend_state_destroy(ctx, b.state);
    bough_mechanism_blend_destroy(ctx, b.blend);
    bough_full_mechanism_destroy(ctx, b.full);
    bough_mechanism_destroy(ctx, b.m);
    free(b.s);
}

/* The full mechanism under a force on the first end effector. */
static void pull(bough_context *ctx, blended *b, double x, double y, double z) {
    bo_store3(b->full->loads, bo_v3(x, y, z));
    check_ok(ctx, bough_full_mechanism_settle(ctx, b->full));
}
static void add_point(bough_context *ctx, blended *b, double x, double y, double z) {
    pull(ctx, b, x, y, z);
    check_ok(ctx, bough_mechanism_blend_add(ctx, b->blend, b->full->poses, b->full->loads));
}
/* Its end effectors where the full mechanism has them. */
static bo_se3 effector_of(const blended *b, const bough_pose *poses, int32_t e) {
    const bo_se3 base = bo_se3_inverse(bo_pose(&poses[b->s->def.base]));
    return bo_se3_mul(base, bo_se3_mul(bo_pose(&poses[b->s->effectors[e].body]), bo_pose(&b->s->effectors[e].pose)));
}
static void follow(blended *b) {
    for (int32_t e = 0; e < b->s->def.end_effector_count; e++)
        b->state->effectors[e] = bo_put_pose(effector_of(b, b->full->poses, e));
}
static double apart(const blended *b) {
    double most = 0;
    for (int32_t e = 0; e < b->s->def.end_effector_count; e++) {
        const bo_se3 there = effector_of(b, b->full->poses, e), here = bo_pose(&b->state->effectors[e]);
        most = fmax(most, bo_norm(bo_sub(there.t, here.t)));
    }
    return most / bough_mechanism_radius(b->m);
}
static void check_pose(const bough_pose *a, const bough_pose *b, double tolerance) {
    for (int k = 0; k < 9; k++)
        check_near(a->rotation[k], b->rotation[k], tolerance);
    for (int k = 0; k < 3; k++)
        check_near(a->position[k], b->position[k], tolerance);
}

/* Two links of half a metre, bent by a right angle, with hinges of 10 N m / rad: the paper's figure 4. */
static sketch *two_links(void) {
    const double quarter = 0.7853981633974483, length = 0.5;
    sketch *s = new_sketch();
    add_link(s, bo_se3_identity(), 1, 0.01, 0.01, 0.01);
    add_link(s, at(0, 0, 0, 0, 0, quarter), 1, 0.01, 0.01, 0.01);
    add_link(s, at(length * cos(quarter), length * sin(quarter), 0, 0, 0, -quarter), 1, 0.01, 0.01, 0.01);
    add_joint(s, BOUGH_JOINT_HINGE, 0, 1, bo_se3_identity(), 10, 0.5);
    add_joint(s, BOUGH_JOINT_HINGE, 1, 2, at(length * cos(quarter), length * sin(quarter), 0, 0, 0, 0), 10, 0.5);
    add_effector(s, 2, at(length, 0, 0, 0, 0, 0));
    return s;
}

/* ---- between poses, four at once ---- */

static void what_lies_between_poses_leads_from_one_to_the_other(void **unused) {
    (void)unused;
    test_random r = {5};
    int refused = 0;
    for (int round = 0; round < 2000; round++) {
        bo_v4 from[12], to[12], t[6], out[12];
        bo_rest4 rest;
        double widest = 0;
        for (int l = 0; l < 4; l++) {
            const double turn = round % 4 == 0   ? 3.1 * fabs(spread(&r))
                                : round % 4 == 1 ? spread(&r)
                                                 : 1e-5 * spread(&r);
            const bo_vec3 axis = bo_normalize(bo_v3(spread(&r), spread(&r), spread(&r)));
            const bo_twist twist = {{spread(&r), spread(&r), spread(&r)}, bo_scale(turn, axis)};
            const bo_se3 a = random_pose(&r, 1), b = bo_se3_mul(a, bo_se3_exp(twist));
            widest = fmax(widest, fabs(turn));
            for (int k = 0; k < 9; k++)
                BO_LANE(from[k], l) = a.R.m[k], BO_LANE(to[k], l) = b.R.m[k];
            double p[3], q[3];
            bo_store3(p, a.t), bo_store3(q, b.t);
            for (int k = 0; k < 3; k++)
                BO_LANE(from[9 + k], l) = p[k], BO_LANE(to[9 + k], l) = q[k];
        }
        if (!between4(from, to, t)) {
            refused++;
            check(widest > 2.9);
            continue;
        }
        memcpy(rest.R, from, sizeof rest.R);
        memcpy(rest.p, from + 9, sizeof rest.p);
        move4(t, &rest, out);
        for (int k = 0; k < 12; k++)
            for (int l = 0; l < 4; l++)
                check_near(BO_LANE(out[k], l), BO_LANE(to[k], l), 2e-14 / (1.0001 - fmin(widest / 3.2, 1)));
    }
    check(refused > 0);
}

/* ---- at and between points ---- */

/* Weights, links and a step are those of the point's model. */
static void at_a_point_it_is_that_model(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {6};
    for (int i = 0; i < 3; i++) {
        blended b = start(ctx, i == 0   ? fork_of_links(3, 3, BOUGH_JOINT_BALL)
                               : i == 1 ? ladder(4, BOUGH_JOINT_BALL)
                                        : two_links());
        const double force = i == 1 ? 100 : 15;
        add_point(ctx, &b, force, 0, 0);
        add_point(ctx, &b, 0, force, i == 2 ? 0 : force);
        add_point(ctx, &b, -force, force / 2, 0);
        bough_full_mechanism *full = b.full;
        for (int point = 3; point >= 0; point--) {
            if (point < 3) /* those added before, again */
                pull(ctx, &b, point == 1 ? force : 0, point == 2 ? force : 0, point == 2 && i != 2 ? force : 0);
            follow(&b);
            check_ok(ctx, bough_blend_state_weigh(ctx, b.blend, b.state, NULL));
            for (int k = 0; k < 4; k++)
                check_near(b.state->weights[k], k == point, 1e-12);
            bough_blend_state_place(b.blend, b.state);
            for (int32_t l = 0; l < b.s->def.link_count; l++)
                check_pose(&b.state->poses[l], &full->poses[l], 1e-8); /* another search of the equilibrium */
            check_below(bough_mechanism_constraint_error(b.m, b.state->poses), 1e-8);

            const bough_mechanism_model *model = bough_mechanism_blend_model(b.blend, point);
            const int32_t n = 6 * model->end_effector_count;
            bough_mechanism_state *state = NULL;
            check_ok(ctx, bough_mechanism_state_create(ctx, model, &state));
            for (int32_t e = 0; e < model->end_effector_count; e++) {
                b.state->effectors[e] = bough_mechanism_state_end_effector(model, state, e);
                const double push[3] = {spread(&r), spread(&r), spread(&r)}, turn[3] = {0, 0, 0.1 * spread(&r)};
                bough_mechanism_state_push(model, state, e, push, turn);
                memcpy(b.state->wrench + 6 * e, push, sizeof push);
                memcpy(b.state->wrench + 6 * e + 3, turn, sizeof turn);
            }
            for (int32_t k = 0; k < n; k++)
                b.state->phi[k] = state->phi[k] = spread(&r);
            b.state->gravity[1] = state->gravity[1] = -3;
            check_ok(ctx, bough_mechanism_step(ctx, model, state, 0.01));
            check_ok(ctx, bough_blend_state_step(ctx, b.blend, b.state, 0.01));
            check_below(difference((size_t)n, b.state->phi, state->phi), 1e-11);
            for (int32_t e = 0; e < model->end_effector_count; e++) {
                const bough_pose expected = bough_mechanism_state_end_effector(model, state, e);
                check_pose(&b.state->effectors[e], &expected, 1e-12);
            }
            memset(b.state->gravity, 0, sizeof b.state->gravity);
            bough_mechanism_state_destroy(ctx, state);
        }
        stop(ctx, b);
    }
    bough_context_destroy(ctx);
}

/* Returns how far a blend of one point and a model are apart after 100 steps under the same push, gravity and
 * motors. */
static double difference_from_model(bough_context *ctx, double push, double drive) {
    sketch *s = fork_of_links(2, 3, BOUGH_JOINT_BALL);
    bough_mechanism *m = NULL;
    bough_mechanism_statics *statics = NULL;
    bough_mechanism_model *model = NULL;
    bough_mechanism_state *expected = NULL;
    bough_mechanism_blend *blend = NULL;
    bough_blend_state *state = NULL;
    const int32_t motors[] = {3, 10};
    bough_mechanism_statics_def statics_def = bough_default_mechanism_statics_def();
    bough_mechanism_blend_def def = bough_default_mechanism_blend_def();
    statics_def.motor_count = 2, statics_def.motors = motors;
    def.statics = &statics_def;
    check_ok(ctx, bough_mechanism_create(ctx, &s->def, &m));
    check_ok(ctx, bough_mechanism_statics_create(ctx, m, &statics_def, &statics));
    check_ok(ctx, bough_mechanism_model_create(ctx, m, statics, NULL, &model));
    check_ok(ctx, bough_mechanism_state_create(ctx, model, &expected));
    check_ok(ctx, bough_mechanism_blend_create(ctx, m, &def, &blend));
    check_ok(ctx, bough_blend_state_create(ctx, blend, &state));
    const double force[3] = {3 * push, 2 * push, push}, none[3] = {0};
    state->gravity[2] = expected->gravity[2] = -9.81 * push;
    for (int k = 0; k < 100; k++) {
        bough_mechanism_state_push(model, expected, 1, force, none);
        memcpy(state->wrench + 6, force, sizeof force);
        for (int j = 0; j < 2; j++)
            state->motors[j] = expected->motors[j] = drive * sin(0.1 * k + j);
        check_ok(ctx, bough_mechanism_step(ctx, model, expected, 0.005));
        check_ok(ctx, bough_blend_state_step(ctx, blend, state, 0.005));
    }
    bough_mechanism_state_place(model, expected);
    bough_blend_state_place(blend, state);
    double most = 0, moved = 0;
    for (int32_t l = 0; l < s->def.link_count; l++) {
        const bo_se3 a = bo_pose(&state->poses[l]), b = bo_pose(&expected->poses[l]);
        most = fmax(most, bo_norm(bo_sub(a.t, b.t)) + bo_norm(bo_log3(bo_mat_mul(a.R, bo_transpose(b.R)))));
        moved = fmax(moved, bo_norm(bo_sub(b.t, bo_load3(s->links[l].pose.position))));
    }
    check(moved > 0.01 * (push + drive));
    bough_blend_state_destroy(ctx, state);
    bough_mechanism_blend_destroy(ctx, blend);
    bough_mechanism_state_destroy(ctx, expected);
    bough_mechanism_model_destroy(ctx, model);
    bough_mechanism_statics_destroy(ctx, statics);
    bough_mechanism_destroy(ctx, m);
    free(s);
    return most;
}

/* Without motors to rounding, wherever it goes. Motors move the pose of a point first and what bends it second, where a
 * model adds both up: that differs by their product. */
static void one_point_is_a_model_everywhere(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    check_below(difference_from_model(ctx, 1, 0), 2e-9);
    const double large = difference_from_model(ctx, 1, 0.1), small = difference_from_model(ctx, 0.1, 0.01);
    check_below(large, 0.05);
    check_below(small, 0.012 * large);
    bough_context_destroy(ctx);
}

/* Along a path through all points: weights are a partition of one, forces do not jump, the rank stays. */
static void forces_are_continuous_along_a_path(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    blended b = start(ctx, two_links());
    for (int k = 1; k < 5; k++)
        add_point(ctx, &b, 3 * pow(3, k - 1), 0, 0);
    double steepest[2] = {0};
    for (int fine = 0; fine < 2; fine++) {
        enum { STEPS = 400 };
        const int steps = STEPS << (2 * fine);
        double last[6] = {0};
        for (int k = 0; k <= steps; k++) {
            const double a = 0.7853981633974483 * (1 - (double)k / steps), half = 0.5;
            /* both hinges open evenly, as they do under the force */
            const bo_se3 tip = bo_se3_mul(at(half * cos(a), half * sin(a), 0, 0, 0, -a), at(half, 0, 0, 0, 0, 0));
            b.state->effectors[0] = bo_put_pose(tip);
            double held[6], sum = 0, jump = 0;
            check_ok(ctx, bough_blend_state_weigh(ctx, b.blend, b.state, held));
            for (int i = 0; i < bough_mechanism_blend_count(b.blend); i++) {
                check(b.state->weights[i] >= 0);
                sum += b.state->weights[i];
            }
            check_near(sum, 1, 1e-14);
            for (int c = 0; c < 6; c++) {
                check(isfinite(held[c]));
                jump = fmax(jump, fabs(held[c] - last[c]));
                last[c] = held[c];
            }
            if (k > 0)
                steepest[fine] = fmax(steepest[fine], jump);
        }
    }
    check_below(steepest[1], 0.3 * steepest[0]); /* a quarter, as of what is smooth; a jump would stay */
    stop(ctx, b);
    bough_context_destroy(ctx);
}

/* The freedom of the two links turns with them. A sum of compliances could do more than any of them, the blend not. */
static void the_rank_is_kept_where_directions_turn(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    blended b = start(ctx, two_links());
    add_point(ctx, &b, 10, 0, 0);
    add_point(ctx, &b, 80, 0, 0);
    pull(ctx, &b, 30, 0, 0);
    follow(&b);
    check_ok(ctx, bough_blend_state_weigh(ctx, b.blend, b.state, NULL));
    double sum[36] = {0}, values[6], V[36], scratch[12];
    for (int i = 0; i < 3; i++) {
        const bo_blend_point *p = &b.blend->points[i];
        check_int(p->rank, 2);
        for (int k = 0; k < 72; k++) {
            const int row = k / 12, column = k / 2 % 6, d = k % 2;
            sum[6 * row + column] += b.state->weights[i] * p->V[2 * row + d] * p->lambda[d] * p->V[2 * column + d];
        }
    }
    check_int(b.blend->tracks, 2);
    check(bo_sym_eigen(6, sum, values, V, scratch));
    check(values[3] > 1e-4 * values[5]); /* a third direction */
    stop(ctx, b);
    bough_context_destroy(ctx);
}

/* Every direction of a model has one track of its own, on the side of the nearest model's direction. */
static void directions_are_matched_one_to_one(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    for (int i = 0; i < 2; i++) {
        blended b = start(ctx, i ? ladder(3, BOUGH_JOINT_BALL) : fork_of_links(2, 3, BOUGH_JOINT_BALL));
        add_point(ctx, &b, i ? 400 : 30, 0, i ? 20 : 0);
        add_point(ctx, &b, 0, i ? 200 : 20, i ? 20 : 20);
        const int32_t n = b.blend->n, tracks = b.blend->tracks;
        for (int32_t r = 0; r < 3; r++)
            for (int32_t p = 0; p < 3; p++) {
                const bo_blend_point *point = &b.blend->points[p], *near = &b.blend->points[r];
                const double *pair = bo_blend_pair_of(b.blend, r, p);
                double lambdas = 0, expected = 0;
                int32_t present = 0;
                for (int32_t t = 0; t < tracks; t++) {
                    present += pair[b.blend->pair.present + t] == 1;
                    double length = 0, likeness = 0;
                    for (int32_t k = 0; k < n; k++) {
                        const double q = pair[b.blend->pair.B + k * tracks + t];
                        length += q * q;
                        if (t < near->rank)
                            likeness += q * near->V[k * near->rank + t];
                    }
                    check_near(length, pair[b.blend->pair.present + t], 1e-12);
                    check(likeness >= 0);
                    if (r == p && t < near->rank)
                        check_near(likeness, 1, 1e-12);
                    lambdas += pair[b.blend->pair.L + (tracks + 1) * t];
                }
                for (int32_t k = 0; k < point->rank; k++)
                    expected += point->lambda[k];
                check_int(present, point->rank);
                check_near(lambdas / expected, 1, 1e-12);
            }
        stop(ctx, b);
    }
    bough_context_destroy(ctx);
}

/* A straight ladder cannot be stretched, a bent one can: what one point lacks is rigid there and soft elsewhere. */
static void directions_that_a_point_lacks_are_rigid_there(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    blended b = start(ctx, ladder(4, BOUGH_JOINT_BALL));
    const int32_t rank = bough_mechanism_blend_model(b.blend, 0)->rank;
    add_point(ctx, &b, 0, 0, 100);
    const int32_t more = bough_mechanism_blend_model(b.blend, 1)->rank;
    check(more > rank);
    check_int(b.blend->tracks, more);
    /* its mass is that of the point that has it, whatever the weight of that point */
    const bo_blend_point *second = &b.blend->points[1];
    const int32_t *track_of = bo_blend_tracks_of(b.blend, 0, 1);
    for (int32_t k = 0; k < more; k++) {
        if (abs(track_of[k]) <= rank)
            continue;
        pull(ctx, &b, 0, 0, 40);
        follow(&b);
        for (int i = 0; i < 6; i++)
            b.state->phi[i] = second->V[i * more + k] / bo_blend_scale(b.blend, i);
        bough_mechanism_energies e;
        check_ok(ctx, bough_blend_state_weigh(ctx, b.blend, b.state, NULL));
        check(b.state->weights[1] > 0.01 && b.state->weights[1] < 0.5);
        check_ok(ctx, bough_blend_state_energies(ctx, b.blend, b.state, &e));
        check_near(e.kinetic / (0.5 * second->M[(more + 1) * k]), 1, 1e-9);
    }
    memset(b.state->phi, 0, 6 * sizeof(double));
    b.state->effectors[0] = bo_put_pose(b.blend->points[0].at[0]);
    check_ok(ctx, bough_blend_state_weigh(ctx, b.blend, b.state, NULL));

    for (int k = 0; k < 200; k++) {
        b.state->wrench[1] = 100; /* along the ladder */
        check_ok(ctx, bough_blend_state_step(ctx, b.blend, b.state, 0.02));
    }
    const bo_se3 rest = effector_of(&b, b.state->poses, 0);
    check_near(b.state->effectors[0].position[1], rest.t.y, 1e-6);
    for (int k = 0; k < 6; k++)
        check(isfinite(b.state->phi[k]) && isfinite(b.state->carried[k]));
    stop(ctx, b);
    bough_context_destroy(ctx);
}

/* ---- against the full mechanism ---- */

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The paper's figure 4, with five points: the force that holds the tip on its way. */
static void two_links_pulled_straight_need_the_right_force(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    blended b = start(ctx, two_links());
    static const double points[] = {10, 30, 80, 200};
    enum { COUNT = 60 };
    double errors[COUNT], single[COUNT], of_largest[COUNT];
    bough_mechanism_blend *one = NULL;
    check_ok(ctx, bough_mechanism_blend_create(ctx, b.m, NULL, &one));
    for (int k = 0; k < 4; k++)
        add_point(ctx, &b, points[k], 0, 0);
    for (int k = 0; k < COUNT; k++) {
        const double force = pow(10, 0.3 + 2 * (double)k / (COUNT - 1)); /* 2 .. 200 N */
        double held[6];
        pull(ctx, &b, force, 0, 0);
        follow(&b);
        check_ok(ctx, bough_blend_state_weigh(ctx, b.blend, b.state, held));
        errors[k] = fabs(held[0] / force - 1);
        of_largest[k] = fabs(held[0] - force) / points[3];
        check_ok(ctx, bough_blend_state_weigh(ctx, one, b.state, held));
        single[k] = fabs(held[0] / force - 1);
    }
    qsort(errors, COUNT, sizeof *errors, compare);
    qsort(single, COUNT, sizeof *single, compare);
    qsort(of_largest, COUNT, sizeof *of_largest, compare);
    print_message(
        "force, five points: median %.1f %%, largest %.1f %%, median of the largest force %.1f %%; one: %.1f, "
        "%.1f %%\n",
        100 * errors[COUNT / 2], 100 * errors[COUNT - 1], 100 * of_largest[COUNT / 2], 100 * single[COUNT / 2],
        100 * single[COUNT - 1]);
    check_below(errors[COUNT / 2], 0.1);
    check_below(errors[COUNT - 1], 0.4);
    check_below(of_largest[COUNT / 2], 0.03);
    check(single[COUNT / 2] > 3 * errors[COUNT / 2]);
    bough_mechanism_blend_destroy(ctx, one);
    stop(ctx, b);
    bough_context_destroy(ctx);
}

/* Between points, also where no point was looked for, it is nearer to the full mechanism than one model is, and its
 * joints are closer. */
static void a_blend_is_nearer_to_the_full_mechanism(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    for (int i = 0; i < 2; i++) {
        blended b = start(ctx, i ? ladder(5, BOUGH_JOINT_BALL) : fork_of_links(3, 3, BOUGH_JOINT_BALL));
        const double f = i ? 250 : 50;
        blended one = b;
        check_ok(ctx, bough_mechanism_blend_create(ctx, b.m, NULL, &one.blend));
        check_ok(ctx, bough_blend_state_create(ctx, one.blend, &one.state));
        add_point(ctx, &b, 0, 0, f);
        add_point(ctx, &b, 0, 0, 0.4 * f);
        for (int k = 1; k < 8; k++) {
            const double force = f * k / 8, aside = k % 2 ? 0.1 * force : 0;
            pull(ctx, &b, aside, 0, force);
            bough_blend_state *const states[] = {b.state, one.state};
            for (int j = 0; j < 2; j++)
                states[j]->wrench[0] = aside, states[j]->wrench[2] = force;
            check_ok(ctx, bough_blend_state_settle(ctx, b.blend, b.state));
            check_ok(ctx, bough_blend_state_settle(ctx, one.blend, one.state));
            bough_blend_state_place(b.blend, b.state);
            bough_blend_state_place(one.blend, one.state);
            const double gap = bough_mechanism_constraint_error(b.m, b.state->poses),
                         single = bough_mechanism_constraint_error(b.m, one.state->poses);
            if (k > 2) {
                check_below(apart(&b), 0.7 * apart(&one));
                check_below(gap, 0.4 * single);
            }
        }
        bough_blend_state_destroy(ctx, one.state);
        bough_mechanism_blend_destroy(ctx, one.blend);
        stop(ctx, b);
    }
    bough_context_destroy(ctx);
}

/* A hinge that meets its limit: a point beyond makes the blend as stiff as the mechanism is there. */
static void a_point_beyond_a_limit_stiffens(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    sketch *s = new_sketch();
    add_link(s, bo_se3_identity(), 1, 0.01, 0.01, 0.01);
    add_link(s, bo_se3_identity(), 1, 0.01, 0.01, 0.01);
    bough_joint_def *hinge = add_joint(s, BOUGH_JOINT_HINGE, 0, 1, bo_se3_identity(), 10, 0.1);
    hinge->upper[0] = 0.3, hinge->limit_stiffness = 20;
    add_effector(s, 1, bo_se3_identity());
    blended b = start(ctx, s);
    const double torques[] = {2.9, 6, 12};
    for (int k = 0; k < 3; k++) {
        b.full->loads[5] = torques[k];
        check_ok(ctx, bough_full_mechanism_settle(ctx, b.full));
        check_ok(ctx, bough_mechanism_blend_add(ctx, b.blend, b.full->poses, b.full->loads));
    }
    double slopes[2];
    for (int beyond = 0; beyond < 2; beyond++) {
        double held[2][6];
        for (int k = 0; k < 2; k++) {
            const double angle = (beyond ? 0.33 : 0.05) + 0.01 * k;
            b.state->effectors[0] = bo_put_pose(at(0, 0, 0, 0, 0, angle));
            check_ok(ctx, bough_blend_state_weigh(ctx, b.blend, b.state, held[k]));
            b.full->loads[5] = 10 * angle + (angle > 0.3 ? 200 * (angle - 0.3) : 0);
            check_near(held[k][5] / b.full->loads[5], 1, 0.1);
        }
        slopes[beyond] = (held[1][5] - held[0][5]) / 0.01;
    }
    check_near(slopes[0], 10, 3);
    check_near(slopes[1], 210, 40);
    stop(ctx, b);
    bough_context_destroy(ctx);
}

/* ---- motion ---- */

static double energy_of(bough_context *ctx, const blended *b) {
    bough_mechanism_energies e;
    check_ok(ctx, bough_blend_state_energies(ctx, b->blend, b->state, &e));
    return e.kinetic + e.elastic + e.gravity;
}

/* At a point the energy is the springs', and the force that holds one model its slope. */
static void forces_are_the_slope_of_the_energy_of_one_model(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    blended b = start(ctx, fork_of_links(2, 2, BOUGH_JOINT_BALL));
    b.state->gravity[1] = -9.81;
    const bo_se3 rest = bo_pose(&b.state->effectors[0]);
    const double h = 1e-5;
    for (int c = 0; c < 3; c++) {
        double held[12], energies[2];
        for (int side = 0; side < 2; side++) {
            double t[6] = {0.02, -0.01, 0.015};
            t[c] += side ? h : -h;
            b.state->effectors[0] = bo_put_pose(bo_se3_mul(rest, bo_se3_exp(bo_load_twist(t))));
            energies[side] = energy_of(ctx, &b);
        }
        const double middle[6] = {0.02, -0.01, 0.015};
        b.state->effectors[0] = bo_put_pose(bo_se3_mul(rest, bo_se3_exp(bo_load_twist(middle))));
        check_ok(ctx, bough_blend_state_weigh(ctx, b.blend, b.state, held));
        double axis[3] = {0};
        axis[c] = 1;
        const double along = bo_dot(bo_load3(held), bo_mat_vec(rest.R, bo_load3(axis)));
        check_near((energies[1] - energies[0]) / (2 * h) / along, 1, 1e-7);
    }
    stop(ctx, b);
    bough_context_destroy(ctx);
}

static void it_swings_out_to_where_it_settles(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    blended b = start(ctx, fork_of_links(3, 3, BOUGH_JOINT_BALL));
    add_point(ctx, &b, 0, 0, 40);
    add_point(ctx, &b, 0, 0, 20);
    pull(ctx, &b, 0, 0, 30);
    follow(&b);
    const double first = energy_of(ctx, &b);
    double last = first;
    for (int k = 0; k < 4000; k++) {
        check_ok(ctx, bough_blend_state_step(ctx, b.blend, b.state, 0.005));
        last = energy_of(ctx, &b);
        check_below(b.state->kinetic, first); /* of what it had in its springs */
        check_below(last, 1.15 * first);
    }
    check_below(last, 1e-4 * first);
    for (int k = 0; k < 6000; k++) {
        b.state->wrench[2] = 25;
        check_ok(ctx, bough_blend_state_step(ctx, b.blend, b.state, 0.005));
    }
    const bough_pose swung = b.state->effectors[0];
    b.state->wrench[2] = 25;
    check_ok(ctx, bough_blend_state_settle(ctx, b.blend, b.state));
    check_pose(&b.state->effectors[0], &swung, 1e-5);
    stop(ctx, b);
    bough_context_destroy(ctx);
}

/* A mass on a spring that slides up and down sinks by m g / k. */
static void it_sinks_by_its_weight(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    sketch *s = new_sketch();
    add_link(s, bo_se3_identity(), 1, 0.01, 0.01, 0.01);
    add_link(s, bo_se3_identity(), 2, 0.01, 0.01, 0.01);
    add_joint(s, BOUGH_JOINT_PRISMATIC, 0, 1, bo_se3_identity(), 400, 1); /* along z */
    add_effector(s, 1, bo_se3_identity());
    blended b = start(ctx, s);
    test_weigh(b.state->gravity);
    check_ok(ctx, bough_blend_state_settle(ctx, b.blend, b.state));
    for (int d = 0; d < 3; d++)
        check_near(b.state->effectors[0].position[d], d == 2 ? -2 * 9.81 / 400 : 0, 1e-12);
    stop(ctx, b);
    bough_context_destroy(ctx);
}

/* Released from far out, it swings as the full mechanism does, where one model does not. */
static void it_swings_as_the_full_mechanism_does(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    for (int i = 0; i < 2; i++) {
        double errors[2];
        for (int points = 1; points <= 5; points += 4) {
            blended b = start(ctx, i ? ladder(4, BOUGH_JOINT_BALL) : fork_of_links(3, 3, BOUGH_JOINT_BALL));
            const double force = i ? 200 : 30;
            static const double parts[] = {1, -1, 0.5, -0.5};
            for (int k = 0; k + 1 < points; k++)
                add_point(ctx, &b, 0, 0, force * parts[k]);
            const bo_se3 rest = effector_of(&b, b.state->poses, 0);
            pull(ctx, &b, 0, 0, force);
            follow(&b);
            check_ok(ctx, bough_blend_state_weigh(ctx, b.blend, b.state, NULL));
            memset(b.full->loads, 0, 3 * sizeof(double));
            double miss = 0, way = 0, gap = 0;
            for (int k = 0; k < 100; k++) {
                check_ok(ctx, bough_full_mechanism_step(ctx, b.full, 0.005));
                check_ok(ctx, bough_blend_state_step(ctx, b.blend, b.state, 0.005));
                bough_blend_state_place(b.blend, b.state);
                const bo_vec3 x = effector_of(&b, b.full->poses, 0).t;
                const bo_vec3 d = bo_sub(x, bo_load3(b.state->effectors[0].position)), s = bo_sub(x, rest.t);
                miss += bo_dot(d, d), way += bo_dot(s, s);
                gap = fmax(gap, bough_mechanism_constraint_error(b.m, b.state->poses));
            }
            errors[points / 4] = sqrt(miss / way);
            print_message("%s, %d points: rms %.3f of the swing, joints %.4f\n", i ? "ladder" : "fork", points,
                          errors[points / 4], gap);
            if (points > 1)
                check_below(gap, 0.03);
            stop(ctx, b);
        }
        check_below(errors[1], i ? 0.04 : 0.2);
        check_below(errors[1], (i ? 0.9 : 0.5) * errors[0]);
    }
    bough_context_destroy(ctx);
}

/* Moved as a whole it does the same. */
static void a_base_elsewhere_changes_nothing(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {8};
    blended b = start(ctx, fork_of_links(2, 3, BOUGH_JOINT_BALL));
    add_point(ctx, &b, 0, 0, 30);
    bough_blend_state *other = NULL;
    check_ok(ctx, bough_blend_state_create(ctx, b.blend, &other));
    const bo_se3 g = random_pose(&r, 2);
    const bo_vec3 weight = bo_v3(0, -2, -9), force = bo_v3(0, 3, 15);
    other->base = bo_put_pose(bo_se3_mul(g, bo_pose(&b.state->base)));
    bo_store3(b.state->gravity, weight), bo_store3(other->gravity, bo_mat_vec(g.R, weight));
    for (int k = 0; k < 50; k++) {
        bo_store3(b.state->wrench, force), bo_store3(other->wrench, bo_mat_vec(g.R, force));
        check_ok(ctx, bough_blend_state_step(ctx, b.blend, b.state, 0.01));
        check_ok(ctx, bough_blend_state_step(ctx, b.blend, other, 0.01));
    }
    bough_blend_state_place(b.blend, b.state);
    bough_blend_state_place(b.blend, other);
    for (int32_t l = 0; l < b.s->def.link_count; l++) {
        const bough_pose expected = bo_put_pose(bo_se3_mul(g, bo_pose(&b.state->poses[l])));
        check_pose(&other->poses[l], &expected, 1e-9);
    }
    bough_blend_state_destroy(ctx, other);
    stop(ctx, b);
    bough_context_destroy(ctx);
}

/* ---- automatic points ---- */

static void points_are_found_until_joints_close(void **unused) {
    (void)unused;
    test_memory memory = {.fail_at = -1};
    bough_context *ctx = test_counting_context(&memory);
    sketch *s = fork_of_links(3, 3, BOUGH_JOINT_BALL);
    bough_mechanism *m = NULL;
    bough_mechanism_blend *blend = NULL;
    check_ok(ctx, bough_mechanism_create(ctx, &s->def, &m));
    double loads[24] = {0}, box[12] = {20, 20, 20};
    loads[2] = 60, loads[12] = 60;
    bough_workspace_def def = bough_default_workspace_def();
    bough_workspace_report report;
    def.load_count = 2, def.loads = loads, def.random_count = 3, def.box = box, def.tolerance = 0.01;
    check_ok(ctx, bough_mechanism_blend_create_automatic(ctx, m, NULL, &def, &report, &blend));
    check(report.reached);
    check_int(report.sample_count, 5 * def.sample_count);
    check_int(report.lost_count, 0);
    check_int(report.round_count, bough_mechanism_blend_count(blend));
    check(report.round_count > 2 && report.worst[0] > 0.1);
    check_below(report.worst[report.round_count - 1], 0.01);
    bough_mechanism_blend_destroy(ctx, blend);

    bough_mechanism_blend_def few = bough_default_mechanism_blend_def();
    few.most_points = 2;
    check_ok(ctx, bough_mechanism_blend_create_automatic(ctx, m, &few, &def, &report, &blend));
    check(!report.reached && bough_mechanism_blend_count(blend) == 2);
    bough_mechanism_blend_destroy(ctx, blend);

    def.random_count = 0, def.effector_tolerance = 0.1;
    check_ok(ctx, bough_mechanism_blend_create_automatic(ctx, m, NULL, &def, &report, &blend));
    check(report.reached);
    check_below(report.effectors[report.round_count - 1], 0.1);
    bough_mechanism_blend_destroy(ctx, blend);
    bough_mechanism_destroy(ctx, m);
    free(s);
    bough_context_destroy(ctx);
    check_int(memory.live, 0);
}

static bool stop_at(void *user, const bough_progress *progress) {
    check(progress->fraction <= 1);
    return progress->fraction < *(double *)user;
}
static void looking_for_points_can_be_stopped(void **unused) {
    (void)unused;
    for (int k = 0; k < 2; k++) {
        double limit = k ? 0.51 : 0.1;
        bough_context_def context = bough_default_context_def();
        context.progress = stop_at, context.progress_user = &limit;
        context.thread_count = 1;
        bough_context *ctx = bough_context_create(&context);
        sketch *s = fork_of_links(2, 2, BOUGH_JOINT_BALL);
        bough_mechanism *m = NULL;
        bough_mechanism_blend *blend = NULL;
        check_ok(ctx, bough_mechanism_create(ctx, &s->def, &m));
        double loads[48] = {0};
        loads[2] = 60, loads[12] = 60, loads[25] = 60, loads[36] = 60;
        bough_workspace_def def = bough_default_workspace_def();
        def.load_count = 4, def.loads = loads, def.tolerance = 1e-4;
        check_fails(ctx, bough_mechanism_blend_create_automatic(ctx, m, NULL, &def, NULL, &blend), BOUGH_CANCELLED,
                    "cancelled");
        check(!blend);
        bough_mechanism_destroy(ctx, m);
        free(s);
        bough_context_destroy(ctx);
    }
}

/* ---- wrong input ---- */

static void wrong_input_gets_a_sentence(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    blended b = start(ctx, fork_of_links(2, 2, BOUGH_JOINT_BALL));
    bough_mechanism_blend *none = NULL;
    bough_mechanism_blend_def def = {0};
    check_fails(ctx, bough_mechanism_blend_create(ctx, b.m, &def, &none), BOUGH_ERROR_ARGUMENT, "bough_default");
    def = bough_default_mechanism_blend_def();
    def.power = NAN;
    check_fails(ctx, bough_mechanism_blend_create(ctx, b.m, &def, &none), BOUGH_ERROR_ARGUMENT, "power");
    def = bough_default_mechanism_blend_def();
    def.most_points = BOUGH_BLEND_LIMIT + 1;
    check_fails(ctx, bough_mechanism_blend_create(ctx, b.m, &def, &none), BOUGH_ERROR_ARGUMENT, "64");
    bough_mechanism_statics_def statics = {0};
    def = bough_default_mechanism_blend_def();
    def.statics = &statics;
    check_fails(ctx, bough_mechanism_blend_create(ctx, b.m, &def, &none), BOUGH_ERROR_ARGUMENT, "statics");
    bough_mechanism_model_def model = bough_default_mechanism_model_def();
    def = bough_default_mechanism_blend_def();
    def.model = &model, model.internal_modes = 2;
    check_fails(ctx, bough_mechanism_blend_create(ctx, b.m, &def, &none), BOUGH_ERROR_UNSUPPORTED, "internal");
    bough_mechanism *floating = NULL;
    b.s->def.free_base = true;
    check_ok(ctx, bough_mechanism_create(ctx, &b.s->def, &floating));
    check_fails(ctx, bough_mechanism_blend_create(ctx, floating, NULL, &none), BOUGH_ERROR_UNSUPPORTED, "held");
    bough_mechanism_destroy(ctx, floating);
    b.s->def.free_base = false;

    /* poses of another mechanism, of none, and of a point that is there already */
    bough_pose poses[SKETCH_LINKS];
    memcpy(poses, b.full->poses, (size_t)b.s->def.link_count * sizeof *poses);
    check_fails(ctx, bough_mechanism_blend_add(ctx, b.blend, poses, NULL), BOUGH_ERROR_ARGUMENT, "already");
    poses[2].position[0] += 0.1;
    check_fails(ctx, bough_mechanism_blend_add(ctx, b.blend, poses, NULL), BOUGH_ERROR_ARGUMENT, "cannot close");
    poses[2].position[0] = NAN;
    check_fails(ctx, bough_mechanism_blend_add(ctx, b.blend, poses, NULL), BOUGH_ERROR_ARGUMENT, "link 2");
    pull(ctx, &b, 0, 0, 10);
    double wrench[12] = {INFINITY};
    check_fails(ctx, bough_mechanism_blend_add(ctx, b.blend, b.full->poses, wrench), BOUGH_ERROR_ARGUMENT, "finite");
    check_int(bough_mechanism_blend_count(b.blend), 1);
    check(bough_mechanism_blend_model(b.blend, 1) == NULL && bough_mechanism_blend_model(b.blend, -1) == NULL);

    double loads[12] = {0};
    bough_workspace_def space = bough_default_workspace_def();
    check_fails(ctx, bough_mechanism_blend_create_automatic(ctx, b.m, NULL, &space, NULL, &none), BOUGH_ERROR_ARGUMENT,
                "loads");
    space.load_count = 1, space.loads = loads, space.tolerance = 0;
    check_fails(ctx, bough_mechanism_blend_create_automatic(ctx, b.m, NULL, &space, NULL, &none), BOUGH_ERROR_ARGUMENT,
                "tolerance");
    space.tolerance = 0.1, loads[0] = NAN;
    check_fails(ctx, bough_mechanism_blend_create_automatic(ctx, b.m, NULL, &space, NULL, &none), BOUGH_ERROR_ARGUMENT,
                "finite");
    stop(ctx, b);
    bough_context_destroy(ctx);
}

/* A step that fails leaves the state as it was; one that succeeds allocates nothing. States live on when a point is
 * added. */
static void steps_are_transactions_and_allocate_nothing(void **unused) {
    (void)unused;
    test_memory memory = {.fail_at = -1};
    bough_context *ctx = test_counting_context(&memory);
    blended b = start(ctx, fork_of_links(2, 3, BOUGH_JOINT_BALL));
    add_point(ctx, &b, 0, 0, 20);
    const long calls = memory.calls;
    for (int k = 0; k < 3; k++) {
        b.state->wrench[2] = 10;
        check_ok(ctx, bough_blend_state_step(ctx, b.blend, b.state, 0.01 * (k + 1)));
    }
    bough_blend_state_place(b.blend, b.state);
    check_int(memory.calls, calls);
    const bough_pose before = b.state->effectors[0];
    const double weight = b.state->weights[1], time = b.state->time;
    check(weight > 0);
    check_fails(ctx, bough_blend_state_step(ctx, b.blend, b.state, -1), BOUGH_ERROR_ARGUMENT, "above 0");
    b.state->wrench[3] = NAN;
    check_fails(ctx, bough_blend_state_step(ctx, b.blend, b.state, 0.01), BOUGH_NOT_FINITE, "finite");
    check_fails(ctx, bough_blend_state_settle(ctx, b.blend, b.state), BOUGH_NOT_FINITE, "finite");
    b.state->wrench[3] = 1e300;
    check(bough_blend_state_settle(ctx, b.blend, b.state) != BOUGH_OK);
    b.state->wrench[3] = 0;
    check(!memcmp(&before, &b.state->effectors[0], sizeof before));
    check(b.state->weights[1] == weight && b.state->time == time);
    b.state->effectors[0].position[1] = NAN;
    check_fails(ctx, bough_blend_state_weigh(ctx, b.blend, b.state, NULL), BOUGH_ERROR_ARGUMENT, "end effector 0");
    b.state->effectors[0] = before;
    add_point(ctx, &b, 10, 0, 20);
    check_ok(ctx, bough_blend_state_step(ctx, b.blend, b.state, 0.01));
    check(b.state->weights[2] > 0);
    stop(ctx, b);
    check_int(memory.live, 1); /* the context */
    bough_context_destroy(ctx);
}

/* A copy of what the header names goes on with the same bits. */
static void a_copy_of_a_state_goes_on_the_same(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    blended b = start(ctx, fork_of_links(2, 3, BOUGH_JOINT_BALL));
    add_point(ctx, &b, 0, 0, 20);
    add_point(ctx, &b, 10, 0, -20);
    bough_blend_state *copy = NULL;
    check_ok(ctx, bough_blend_state_create(ctx, b.blend, &copy));
    for (int k = 0; k < 60; k++) {
        b.state->wrench[2] = 15;
        check_ok(ctx, bough_blend_state_step(ctx, b.blend, b.state, 0.01));
        if (k < 20)
            continue;
        if (k == 20) {
            const size_t bytes = (size_t)b.blend->n * sizeof(double);
            memcpy(copy->effectors, b.state->effectors, (size_t)b.blend->effector_count * sizeof *copy->effectors);
            double *const from[] = {b.state->phi, b.state->carried, b.state->rates, b.state->springs};
            double *const to[] = {copy->phi, copy->carried, copy->rates, copy->springs};
            for (int i = 0; i < 4; i++)
                memcpy(to[i], from[i], bytes);
            memcpy(copy->weights, b.state->weights, (size_t)b.blend->most_points * sizeof(double));
            memcpy(copy->gravity, b.state->gravity, sizeof copy->gravity);
            copy->nearest = b.state->nearest, copy->kinetic = b.state->kinetic, copy->time = b.state->time;
        } else {
            copy->wrench[2] = 15;
            check_ok(ctx, bough_blend_state_step(ctx, b.blend, copy, 0.01));
        }
        bough_blend_state_place(b.blend, b.state);
        bough_blend_state_place(b.blend, copy);
        check(!memcmp(copy->poses, b.state->poses, (size_t)b.s->def.link_count * sizeof *copy->poses));
    }
    copy->rates[1] = NAN;
    check_fails(ctx, bough_blend_state_step(ctx, b.blend, copy, 0.01), BOUGH_NOT_FINITE, "finite");
    copy->rates[1] = 0, copy->nearest = 1000;
    check_ok(ctx, bough_blend_state_step(ctx, b.blend, copy, 0.01));
    bough_blend_state_destroy(ctx, copy);
    stop(ctx, b);
    bough_context_destroy(ctx);
}

/* Wherever memory ends while a point is added, the blend is what it was, and nothing leaks. */
static void memory_may_end_anywhere(void **unused) {
    (void)unused;
    test_memory memory = {.fail_at = -1};
    bough_context *ctx = test_counting_context(&memory);
    blended b = start(ctx, fork_of_links(1, 1, BOUGH_JOINT_BALL));
    pull(ctx, &b, 0, 0, 10);
    const long live = memory.live;
    bool done = false;
    for (long k = 0; k < 500 && !done; k++) {
        memory.fail_at = memory.calls + k;
        done = bough_mechanism_blend_add(ctx, b.blend, b.full->poses, b.full->loads) == BOUGH_OK;
        memory.fail_at = -1;
        if (!done) {
            check_int(memory.live, live);
            check_ok(ctx, bough_blend_state_step(ctx, b.blend, b.state, 0.01));
        }
    }
    check(done);
    stop(ctx, b);
    check_int(memory.live, 1);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_lies_between_poses_leads_from_one_to_the_other),
        cmocka_unit_test(at_a_point_it_is_that_model),
        cmocka_unit_test(one_point_is_a_model_everywhere),
        cmocka_unit_test(forces_are_continuous_along_a_path),
        cmocka_unit_test(the_rank_is_kept_where_directions_turn),
        cmocka_unit_test(directions_are_matched_one_to_one),
        cmocka_unit_test(directions_that_a_point_lacks_are_rigid_there),
        cmocka_unit_test(two_links_pulled_straight_need_the_right_force),
        cmocka_unit_test(a_blend_is_nearer_to_the_full_mechanism),
        cmocka_unit_test(a_point_beyond_a_limit_stiffens),
        cmocka_unit_test(forces_are_the_slope_of_the_energy_of_one_model),
        cmocka_unit_test(it_swings_out_to_where_it_settles),
        cmocka_unit_test(it_sinks_by_its_weight),
        cmocka_unit_test(it_swings_as_the_full_mechanism_does),
        cmocka_unit_test(a_base_elsewhere_changes_nothing),
        cmocka_unit_test(points_are_found_until_joints_close),
        cmocka_unit_test(looking_for_points_can_be_stopped),
        cmocka_unit_test(wrong_input_gets_a_sentence),
        cmocka_unit_test(steps_are_transactions_and_allocate_nothing),
        cmocka_unit_test(a_copy_of_a_state_goes_on_the_same),
        cmocka_unit_test(memory_may_end_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
