/* Trees that lie still fall asleep, cost nothing and change nothing, and wake up when something happens to them. */
#include "bars.h"

#include "tree/snapshot.h"
#include "tree/touch.h"

static const double dt = 1.0 / 240;

static const bo_touch_obstacle ground = {
    .name = "ground",
    .shape = {.kind = BO_OBSTACLE_PLANE, .pose = {{{1, 0, 0, 0, 1, 0, 0, 0, 1}}, {0, 0, 0}}},
    .friction = 0.5};

/* A bar, or several that hang on each other, falls from a hand's breadth; part 1 and 2 of three fly by themselves. */
static void drop(bars *b, bough_context *ctx, int32_t count, bool together) {
    prepare_bars(b, ctx, count, 1e-3, true);
    for (int32_t i = 0; i < count; i++) {
        if (i == 0 || !together)
            b->parts[i].parent = -1, b->parts[i].component = 0, b->parts[i].position[1] = i,
            memcpy(b->parts[i].rotation, (double[9]){1, 0, 0, 0, 1, 0, 0, 0, 1}, sizeof b->parts->rotation);
        b->parts[i].position[2] = 0.3 + 0.1 * i;
    }
    grow_bars(b);
}

static void touch(bars *b, int32_t count, const bo_touch_obstacle *obstacles) {
    bo_tree_touch_def def = bo_default_tree_touch_def();
    def.obstacle_count = count, def.obstacles = obstacles;
    check_ok(b->ctx, bo_tree_state_touch(b->ctx, b->model, b->state, &def));
}

static bool is_asleep(const bars *b, int32_t part) {
    return bough_tree_state_parts(b->model, b->state)[part].asleep;
}

static void go(bars *b, double seconds) {
    for (double end = b->state->time + seconds - 0.5 * dt; b->state->time < end;)
        check_ok(b->ctx, bough_tree_advance(b->ctx, b->model, b->state, dt, NULL));
}

/* Steps until a part sleeps, or wakes; returns the seconds that it took, or INFINITY. */
static double until(bars *b, int32_t part, bool asleep, double most) {
    const double start = b->state->time;
    while (b->state->time < start + most) {
        check_ok(b->ctx, bough_tree_advance(b->ctx, b->model, b->state, dt, NULL));
        if (is_asleep(b, part) == asleep)
            return b->state->time - start;
    }
    return INFINITY;
}

static double energy_of(bars *b) {
    bough_tree_energies e;
    check_ok(b->ctx, bough_tree_state_energies(b->ctx, b->model, b->state, &e));
    return e.kinetic + e.elastic + e.gravity;
}

static double weight_on_ground(const bars *b) {
    int32_t count;
    const bo_tree_contact *contacts = bo_tree_contacts(b->state, &count);
    double sum = 0;
    for (int32_t i = 0; i < count; i++)
        sum += contacts[i].force.z;
    return sum;
}

/* Sleep is no motion: nothing of the tree changes, its energy and the forces under it stay, and time goes on. */
static void what_sleeps_stays_as_it_is(void **state) {
    (void)state;
    for (int32_t count = 1; count <= 3; count += 2) {
        bough_context *ctx = test_context(1);
        bars b;
        drop(&b, ctx, count, true);
        touch(&b, 1, &ground);
        check(until(&b, 0, true, 30) < 30); /* three bars, hardly damped, take 13 s */
        const double energy = energy_of(&b), start = b.state->time;
        double q[16], frames[3 * sizeof(bough_frame) / sizeof(double)];
        memcpy(q, b.state->q, (size_t)bough_tree_model_size(b.model) * sizeof *q);
        memcpy(frames, b.state->frames, (size_t)count * sizeof *b.state->frames);
        go(&b, 5);
        check(is_asleep(&b, 0));
        check_near(b.state->time, start + 5, 1e-9);
        check(memcmp(q, b.state->q, (size_t)bough_tree_model_size(b.model) * sizeof *q) == 0);
        check(memcmp(frames, b.state->frames, (size_t)count * sizeof *b.state->frames) == 0);
        check_near(energy_of(&b), energy, 1e-9 * fabs(energy));
        check_near(weight_on_ground(&b) / (9.81 * b.state->roots[0].mass), 1, 0.02);
        clear_bars(&b);
        bough_context_destroy(ctx);
    }
}

/* Whatever happens to a tree wakes it, and it alone. */
static void what_happens_wakes(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bars b;
    drop(&b, ctx, 3, false);
    touch(&b, 1, &ground);
    for (int32_t i = 0; i < 3; i++)
        check(is_asleep(&b, i) || until(&b, i, true, 10) < 10);
    const double force[3] = {0, 0, 5000}, torque[3] = {0, 0, 0};
    check_ok(ctx, bough_tree_state_add_wrench(ctx, b.model, b.state, 1, force, torque)); /* a push */
    check(until(&b, 1, false, 2 * dt) <= 2 * dt);
    check(is_asleep(&b, 0) && is_asleep(&b, 2));
    check(b.state->frames[1].velocity[2] > 0 || b.state->frames[1].angular_velocity[1] != 0);
    check(until(&b, 1, true, 10) < 10);
    const bough_change lock = {.kind = BOUGH_CHANGE_LOCK, .part = 2}; /* a change */
    check_ok(ctx, bough_tree_state_change(ctx, b.model, b.state, 1, &lock));
    check(!is_asleep(&b, 2) && is_asleep(&b, 0) && is_asleep(&b, 1));
    check(until(&b, 2, true, 10) < 10);
    b.state->gravity[0] = 6; /* the world leans: all slide */
    go(&b, 0.5);
    for (int32_t i = 0; i < 3; i++)
        check(!is_asleep(&b, i) && b.state->frames[i].velocity[0] > 0.1);
    b.state->gravity[0] = 0;
    for (int32_t i = 0; i < 3; i++)
        check(is_asleep(&b, i) || until(&b, i, true, 20) < 20);
    check_ok(ctx, bough_tree_state_set_stiffness(ctx, b.model, b.state, 0, 0.5)); /* it sags further */
    check(until(&b, 0, false, 2 * dt) <= 2 * dt);
    check(until(&b, 0, true, 10) < 10);
    check_ok(ctx, bo_tree_state_touch(ctx, b.model, b.state, NULL)); /* the ground is gone: all fall */
    go(&b, 0.5);
    for (int32_t i = 0; i < 3; i++)
        check(!is_asleep(&b, i) && b.state->frames[i].velocity[2] < -4);
    clear_bars(&b);
    bough_context_destroy(ctx);
}

static bo_se3 along_x(const void *data, double t) {
    const double *start = data;
    return (bo_se3){bo_identity3(), bo_v3(-3 + fmax(0, t - *start), 0, 0.1)};
}

/* An obstacle that moves, and that reaches a tree which sleeps, wakes it and pushes it along. */
static void obstacles_that_come_wake(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bars b;
    double start = 1e9;
    const bo_touch_obstacle list[2] = {ground,
                                       {.name = "plough",
                                        .shape = {.kind = BO_OBSTACLE_BOX,
                                                  .halves = {0.2, 2, 0.2},
                                                  .pose = {{{1, 0, 0, 0, 1, 0, 0, 0, 1}}, {0, 0, 0}}},
                                        .friction = 0.5,
                                        .pose = along_x,
                                        .pose_data = &start}};
    drop(&b, ctx, 1, true);
    touch(&b, 2, list);
    check(until(&b, 0, true, 10) < 10);
    const double x = b.state->frames[0].pose.position[0];
    start = b.state->time;
    const double waited = until(&b, 0, false, 5);
    check(waited > 1 && waited < 4); /* it comes from 3 m away, at 1 m/s */
    go(&b, 2);
    check(b.state->frames[0].pose.position[0] > x + 1);
    clear_bars(&b);
    bough_context_destroy(ctx);
}

/* Trees that are awake go on as they would, whoever sleeps beside them. (Three equal bars are computed side by side, one
 * is not: the bits differ.) */
static void sleep_disturbs_nobody(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    double last[2][3];
    for (int tired = 0; tired < 2; tired++) {
        bars b;
        drop(&b, ctx, 3, false);
        b.parts[2].position[2] = 30; /* falls for two seconds and a half */
        bough_tree_state_destroy(ctx, b.state);
        bough_tree_model_destroy(ctx, b.model);
        grow_bars(&b);
        bo_tree_touch_def def = bo_default_tree_touch_def();
        def.obstacle_count = 1, def.obstacles = &ground, def.rest_speed = tired ? def.rest_speed : 0;
        check_ok(ctx, bo_tree_state_touch(ctx, b.model, b.state, &def));
        go(&b, 2.4);
        check(is_asleep(&b, 0) == tired && is_asleep(&b, 1) == tired);
        memcpy(last[tired], b.state->frames[2].pose.position, sizeof last[tired]);
        clear_bars(&b);
    }
    for (int d = 0; d < 3; d++)
        check_near(last[0][d], last[1][d], 1e-11);
    bough_context_destroy(ctx);
}

/* A snapshot goes on as its state does, through falling asleep and waking up. */
static void snapshots_sleep(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bars b;
    drop(&b, ctx, 3, false);
    b.parts[2].position[2] = 8;
    bough_tree_state_destroy(ctx, b.state);
    bough_tree_model_destroy(ctx, b.model);
    grow_bars(&b);
    touch(&b, 1, &ground);
    check(until(&b, 0, true, 10) < 10);
    unsigned char *kept, *ends[2];
    const size_t size = bough_tree_state_snapshot_size(b.model, b.state);
    kept = malloc(size);
    bough_tree_state_save(b.model, b.state, kept);
    size_t sizes[2];
    for (int round = 0; round < 2; round++) {
        go(&b, 4);
        b.state->gravity[1] = 4;
        go(&b, 0.3);
        b.state->gravity[1] = 0;
        sizes[round] = bough_tree_state_snapshot_size(b.model, b.state);
        ends[round] = malloc(sizes[round]);
        bough_tree_state_save(b.model, b.state, ends[round]);
        check_ok(ctx, bough_tree_state_restore(ctx, b.model, b.state, kept, size));
        check(is_asleep(&b, 0));
    }
    check(sizes[0] == sizes[1] && memcmp(ends[0], ends[1], sizes[0]) == 0);
    free(kept), free(ends[0]), free(ends[1]);
    clear_bars(&b);
    bough_context_destroy(ctx);
}

/* The contacts of what sleeps are part of a snapshot, whatever the state that it goes to has touched since; bytes that
 * name things which are not there are refused. */
static void snapshots_list_contacts_of_sleepers(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bars b;
    drop(&b, ctx, 1, true);
    touch(&b, 1, &ground);
    check(until(&b, 0, true, 10) < 10);
    const double weight = weight_on_ground(&b);
    const size_t size = bough_tree_state_snapshot_size(b.model, b.state);
    unsigned char *kept = malloc(size);
    bough_tree_state_save(b.model, b.state, kept);
    check(weight > 1);
    for (int asleep = 0; asleep < 2; asleep++) {
        bough_tree_state *other;
        check_ok(ctx, bough_tree_state_create(ctx, b.model, &other));
        bough_tree_state_destroy(ctx, b.state);
        b.state = other;
        touch(&b, 1, &ground);
        check_ok(ctx, bough_tree_state_restore(ctx, b.model, b.state, kept, size));
        for (int steps = 0; steps < 2; steps++) {
            check_near(weight_on_ground(&b), weight, 0);
            check_ok(ctx, bough_tree_advance(ctx, b.model, b.state, dt, NULL));
        }
        touch(&b, 1, &ground);
        check_near(weight_on_ground(&b), 0, 0);
    }
    double *part = (double *)(kept + size) - 13; /* of the last contact: part, obstacle, other, gap, three vectors */
    check(part[0] == 0 && part[1] == 0 && part[2] == -1);
    for (int k = 0; k < 3; k++) {
        double wrong[] = {-1, 0.5, 1e9};
        unsigned char *plain = malloc(size);
        bo_tree_save_plain(b.model, b.state, plain);
        const size_t now = bough_tree_state_snapshot_size(b.model, b.state);
        check(now < size);
        memcpy(plain + now, part, 13 * sizeof *part);
        memcpy(plain + now, &wrong[k], sizeof *part);
        const uint64_t longer = now + 13 * sizeof *part;
        memcpy(plain + 8, &longer, sizeof longer);
        check_fails(ctx, bo_tree_restore_plain(ctx, b.model, b.state, plain, longer), BOUGH_ERROR_FORMAT, "not there");
        free(plain);
    }
    free(kept);
    clear_bars(&b);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_sleeps_stays_as_it_is),
                                       cmocka_unit_test(what_happens_wakes),
                                       cmocka_unit_test(obstacles_that_come_wake),
                                       cmocka_unit_test(sleep_disturbs_nobody),
                                       cmocka_unit_test(snapshots_sleep),
                                       cmocka_unit_test(snapshots_list_contacts_of_sleepers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
