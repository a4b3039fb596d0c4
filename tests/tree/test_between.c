/* Parts that touch each other: samples of one in the field of the other. */
#include "bars.h"

#include "base/pose.h"
#include "tree/touch.h"

static const double dt = 1.0 / 240;

static const bo_touch_obstacle ground = {
    .name = "ground",
    .shape = {.kind = BO_OBSTACLE_PLANE, .pose = {{{1, 0, 0, 0, 1, 0, 0, 0, 1}}, {0, 0, 0}}},
    .friction = 0.5};

/* `count` bars that fly, each by itself: 1 x 0.25 x 0.25 m, along x and y in turns. */
static void scatter(bars *b, bough_context *ctx, int32_t count, double damping, double height) {
    prepare_bars(b, ctx, count, damping, true);
    for (int32_t i = 0; i < count; i++) {
        bough_part_def *part = &b->parts[i];
        part->parent = -1, part->component = 0, part->scale = 1;
        memcpy(part->rotation, i % 2 ? (double[9]){0, -1, 0, 1, 0, 0, 0, 0, 1} : (double[9]){1, 0, 0, 0, 1, 0, 0, 0, 1},
               sizeof part->rotation);
        part->position[2] = 0.14 + height * i;
    }
}

static void touch(bars *b, bool on_ground, double friction) {
    const bool between[2] = {true, true};
    bo_tree_touch_def def = bo_default_tree_touch_def();
    def.obstacle_count = on_ground, def.obstacles = &ground;
    def.between = between, def.friction = friction;
    check_ok(b->ctx, bo_tree_state_touch(b->ctx, b->model, b->state, &def));
}

static double energy_of(bars *b) {
    bough_tree_energies e;
    check_ok(b->ctx, bough_tree_state_energies(b->ctx, b->model, b->state, &e));
    return e.kinetic + e.elastic + e.gravity;
}

static double force_between(const bars *b, bool ground_only, double *deepest) {
    int32_t count;
    const bo_tree_contact *contacts = bo_tree_contacts(b->state, &count);
    double sum = 0;
    for (int32_t i = 0; i < count; i++) {
        if ((contacts[i].obstacle >= 0) == ground_only)
            sum += ground_only ? contacts[i].force.z : bo_norm(contacts[i].force);
        *deepest = fmax(*deepest, -contacts[i].gap);
    }
    return sum;
}

/* The largest displacement of a bar's samples by bending, m. */
static double bend_of(const bars *b, int32_t part) {
    const bough_component *c = b->root;
    const double *q = b->state->q + bough_tree_model_offset(b->model, part);
    double most = 0;
    for (int32_t k = 0; k < c->contact.count; k++) {
        double u[3] = {0};
        for (int d = 0; d < 3; d++)
            for (int32_t l = 0; l < c->r; l++)
                u[d] += c->contact.U[(3 * k + d) * c->r + l] * q[l];
        most = fmax(most, bo_norm(bo_load3(u)));
    }
    return most;
}

/* By how much a sample of one bar is certainly inside of another, m, which is the box that it is at rest but for its
 * bend. */
static double true_depth(const bars *b, int32_t count) {
    const bough_component *c = b->root;
    double deepest = 0;
    for (int32_t i = 0; i < count; i++) {
        const double bend = bend_of(b, i);
        for (int32_t k = 0; k < count * c->contact.count; k++) {
            const int32_t other = k / c->contact.count, sample = k % c->contact.count;
            const bo_se3 at = bo_pose(&b->state->frames[i].pose), there = bo_pose(&b->state->frames[other].pose);
            const double *q = b->state->q + bough_tree_model_offset(b->model, other);
            double x[3];
            for (int d = 0; d < 3; d++) {
                x[d] = c->contact.position[3 * sample + d];
                for (int32_t l = 0; l < c->r; l++)
                    x[d] += c->contact.U[(3 * sample + d) * c->r + l] * q[l];
            }
            const bo_vec3 world = bo_se3_apply(there, bo_scale(b->parts[other].scale, bo_load3(x)));
            const bo_vec3 own = bo_scale(1 / b->parts[i].scale, bo_mat_tvec(at.R, bo_sub(world, at.t)));
            const double in = fmin(0.5 - fabs(own.x), fmin(0.1 - fabs(own.y), 0.125 - fabs(own.z)));
            deepest = other == i ? deepest : fmax(deepest, b->parts[i].scale * (in - bend));
        }
    }
    return deepest;
}

/* Bars that meet askew, one of them smaller, keep their momenta together, with friction and without, and gain nothing. */
static void collisions_keep_momenta(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        bough_context *ctx = test_context(1);
        bars b;
        scatter(&b, ctx, 2, 0, 0.35);
        b.parts[1].scale = k > 1 ? 0.5 : 1, b.parts[1].position[0] = 0.3;
        memset(b.def.gravity, 0, sizeof b.def.gravity);
        grow_bars(&b);
        touch(&b, false, k % 2 ? 0.6 : 0);
        b.state->roots[1].velocity[2] = -2, b.state->roots[1].velocity[0] = -0.7, b.state->roots[1].velocity[1] = 0.5;
        b.state->roots[1].angular_velocity[1] = 3;
        check_ok(ctx, bough_tree_state_update(ctx, b.model, b.state));
        double P[3] = {0}, L[3] = {0}, hit = 0, deepest = 0, deep = 0, before = energy_of(&b), last = before,
               gained = 0;
        for (int r = 0; r < 2; r++)
            for (int d = 0; d < 3; d++)
                P[d] += b.state->roots[r].momentum[d], L[d] += b.state->roots[r].angular_momentum[d];
        for (int step = 0; step < 240; step++) {
            check_ok(ctx, bough_tree_advance(ctx, b.model, b.state, dt, NULL));
            hit = fmax(hit, force_between(&b, false, &deepest));
            const double now = energy_of(&b);
            gained = fmax(gained, now - last), last = now;
            deep = fmax(deep, true_depth(&b, 2));
        }
        check(deep < 0.01);
        printf("case %d: force %.3g N, deepest %.2g m (by boxes %.2g), energy %.6g -> %.6g, gained at most %.2g\n", k,
               hit, deepest, deep, before, last, gained);
        check(hit > 100);
        check_below(gained / before, 0.02);
        check_below(last / before, 1);
        for (int d = 0; d < 3; d++) {
            const double *p = b.state->roots[0].momentum, *q = b.state->roots[1].momentum;
            const double *l = b.state->roots[0].angular_momentum, *m = b.state->roots[1].angular_momentum;
            check_near((p[d] + q[d] - P[d]) / bo_norm(bo_load3(P)), 0, 1e-13);
            check_near((l[d] + m[d] - L[d]) / bo_norm(bo_load3(L)), 0, 1e-12);
        }
        clear_bars(&b);
        bough_context_destroy(ctx);
    }
}

/* Bars in a row, a hair apart, are hit by one that comes at 8 m/s, 33 mm a step: the blow goes on from one to the next
 * within the step, so that none is led into another, and none is taken in halves. */
static void blows_go_on_within_a_step(void **state) {
    (void)state;
    enum { COUNT = 4 };
    bough_context *ctx = test_context(1);
    bars b;
    scatter(&b, ctx, COUNT, 1e-3, 0.251);
    b.parts[COUNT - 1].position[2] += 0.1;
    memset(b.def.gravity, 0, sizeof b.def.gravity);
    grow_bars(&b);
    touch(&b, false, 0.3);
    b.state->roots[COUNT - 1].velocity[2] = -8;
    check_ok(ctx, bough_tree_state_update(ctx, b.model, b.state));
    const double P = b.state->roots[COUNT - 1].momentum[2];
    double last = energy_of(&b), gained = 0, deep = 0, deepest = 0, hit = 0, sum = 0;
    const double scale = last;
    int32_t halves = 0;
    for (int step = 0; step < 120; step++) {
        int32_t refused = 0;
        check_ok(ctx, bough_tree_advance(ctx, b.model, b.state, dt, &refused));
        const double now = energy_of(&b);
        gained = fmax(gained, now - last), last = now;
        hit = fmax(hit, force_between(&b, false, &deepest));
        deep = fmax(deep, true_depth(&b, COUNT)), halves += refused;
    }
    printf("force %.3g N, deepest %.2g m (by boxes %.2g), gained %.2g, refused %d\n", hit, deepest, deep,
           gained / scale, halves);
    check(hit > 1000);
    check(deep < 0.01);
    check_below(gained / scale, 0.02);
    for (int i = 0; i < COUNT; i++)
        sum += b.state->roots[i].momentum[2];
    check_near(sum / P, 1, 1e-12);
    check(b.state->roots[0].momentum[2] < 0);
    clear_bars(&b);
    bough_context_destroy(ctx);
}

/* A stack of bars, laid crosswise: it stands, nothing sinks into anything, the ground bears all of it, and it falls
 * asleep as one. A further bar that lands on it wakes it up. */
static void stacks_stand(void **state) {
    (void)state;
    enum { COUNT = 5 };
    bough_context *ctx = test_context(1);
    bars b;
    scatter(&b, ctx, COUNT, 1e-3, 0.3);
    b.parts[COUNT - 1].position[2] = 60; /* arrives after 3.4 s */
    grow_bars(&b);
    touch(&b, true, 0.5);
    double last = energy_of(&b), gained = 0, deepest = 0, deep = 0, asleep = 0;
    const double scale = COUNT * b.state->roots[0].mass * 9.81 * 0.3;
    while (b.state->time < 3.2) {
        check_ok(ctx, bough_tree_advance(ctx, b.model, b.state, dt, NULL));
        const double now = energy_of(&b);
        gained = fmax(gained, now - last), last = now;
        const double weight = force_between(&b, true, &deepest) / (9.81 * b.state->roots[0].mass * (COUNT - 1));
        const bough_part_def *parts = bough_tree_state_parts(b.model, b.state);
        if (b.state->time > 2)
            check_near(weight, 1, 0.05);
        for (int32_t i = 0; i + 1 < COUNT; i++)
            check(parts[i].asleep == parts[0].asleep);
        deep = fmax(deep, true_depth(&b, COUNT - 1));
        if (parts[0].asleep && asleep == 0)
            asleep = b.state->time;
    }
    printf("deepest %.2g m (by boxes %.2g), gained %.2g of the fall in a step, asleep after %.2f s\n", deepest, deep,
           gained / scale, asleep);
    check(asleep > 0.5 && asleep < 3);
    check(deepest < 0.01 && deep < 0.01);
    check_below(gained / scale, 1e-5);
    for (int32_t i = 0; i + 1 < COUNT; i++) {
        check_near(b.state->frames[i].pose.position[2], 0.125 + 0.25 * i, 0.01);
        check_near(b.state->frames[i].pose.position[0], 0, 0.02);
        check_near(b.state->frames[i].pose.position[1], 0, 0.02);
    }
    while (b.state->time < 3.6)
        check_ok(ctx, bough_tree_advance(ctx, b.model, b.state, dt, NULL));
    check(!bough_tree_state_parts(b.model, b.state)[COUNT - 2].asleep);
    clear_bars(&b);
    bough_context_destroy(ctx);
}

/* A tree touches itself: a bar that swings down from the end of a hook hits the foot of the hook and lies on it, instead
 * of passing through. */
static void trees_touch_themselves(void **state) {
    (void)state;
    double lowest[2];
    for (int feels = 0; feels < 2; feels++) {
        bough_context *ctx = test_context(1);
        bars b;
        prepare_bars(&b, ctx, 4, 2e-3, false);
        for (int32_t i = 1; i < 4; i++) {
            b.parts[i].parent = i - 1, b.parts[i].scale = 1;
            memcpy(b.parts[i].rotation,
                   i < 3 ? (double[9]){0, 0, -1, 0, 1, 0, 1, 0, 0} : (double[9]){1, 0, 0, 0, 1, 0, 0, 0, 1},
                   sizeof b.parts->rotation);
        }
        b.parts[3].joint = hinge_about(0, 1, 0, 0, 2);
        grow_bars(&b);
        touch(&b, false, 0.3);
        if (!feels)
            check_ok(ctx, bo_tree_state_touch(ctx, b.model, b.state, NULL));
        double deepest = 0, force = 0;
        lowest[feels] = INFINITY;
        for (int step = 0; step < 480; step++) {
            check_ok(ctx, bough_tree_advance(ctx, b.model, b.state, dt, NULL));
            if (feels)
                force = fmax(force, force_between(&b, false, &deepest));
            const double *R = b.state->frames[3].pose.rotation;
            lowest[feels] = fmin(lowest[feels], b.state->frames[3].pose.position[2] + 0.7 * R[6]);
        }
        printf("%s: the end is %.3f m high at least, force %.3g N, deepest %.2g m\n",
               feels ? "touches itself" : "passes through itself", lowest[feels], force, deepest);
        check((force > 100) == (feels > 0));
        check(deepest < 0.01);
        clear_bars(&b);
        bough_context_destroy(ctx);
    }
    check(lowest[0] < 0.05 && lowest[1] > 0.1);
}

/* A shape that is attached to a part moves with it: a bar that falls onto a ball at the end of a beam bends the beam. */
static void shapes_move_with_their_parts(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bars b;
    prepare_bars(&b, ctx, 2, 2e-3, false);
    b.root = (bough_component_destroy(ctx, b.root), cook_one(ctx, 5, 1, 2e-3, false));
    b.limb = (bough_component_destroy(ctx, b.limb), cook_one(ctx, 5, 1, 2e-3, true));
    b.parts[1].parent = -1, b.parts[1].scale = 0.5;
    memcpy(b.parts[1].rotation, b.parts[0].rotation, sizeof b.parts->rotation);
    b.parts[1].position[0] = 0.9, b.parts[1].position[2] = 0.8;
    grow_bars(&b);
    for (int step = 0; step < 240; step++) /* sags by itself */
        check_ok(ctx, bough_tree_advance(ctx, b.model, b.state, dt, NULL));
    bo_tree_solid ball = {
        .part = 0,
        .shape = {.kind = BO_OBSTACLE_SPHERE, .radius = 0.25, .pose = {{{1, 0, 0, 0, 1, 0, 0, 0, 1}}, {0.9, 0, 0}}}};
    bo_tree_touch_def def = bo_default_tree_touch_def();
    def.solid_count = 1, def.solids = &ball;
    b.state->roots[0].pose.position[2] = 0.8, b.state->roots[0].velocity[2] = 0;
    check_ok(ctx, bough_tree_state_update(ctx, b.model, b.state));
    check_ok(ctx, bo_tree_state_touch(ctx, b.model, b.state, &def));
    const double before = b.state->q[0];
    double force = 0, deepest = 0, moved = 0;
    for (int step = 0; step < 120; step++) {
        check_ok(ctx, bough_tree_advance(ctx, b.model, b.state, dt, NULL));
        force = fmax(force, force_between(&b, false, &deepest));
        moved = fmax(moved, fabs(b.state->q[0] - before));
    }
    printf("force %.3g N, deepest %.2g m, the beam's first coordinate moves by %.3g of %.3g\n", force, deepest, moved,
           before);
    check(force > 50);
    check(deepest < 0.01);
    clear_bars(&b);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(collisions_keep_momenta),
                                       cmocka_unit_test(blows_go_on_within_a_step), cmocka_unit_test(stacks_stand),
                                       cmocka_unit_test(trees_touch_themselves),
                                       cmocka_unit_test(shapes_move_with_their_parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
