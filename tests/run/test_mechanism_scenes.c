/* The examples of mechanisms that touch things: a hand that holds, a robot that walks, a trampoline that catches. */
#include "play.h"

#include <math.h>

static bough_context *ctx;

static int prepare(void **state) {
    (void)state;
    ctx = test_context(1);
    return 0;
}
static int finish_all(void **state) {
    (void)state;
    bough_context_destroy(ctx);
    return 0;
}

static play begin_example(const char *name, const char *resume) {
    char path[1000];
    bough_run_def def = bough_default_run_def();
    def.resume = resume;
    snprintf(path, sizeof path, "%s/examples/%s/scene.json", BOUGH_SOURCE_DIR, name);
    return begin_file(ctx, path, &def);
}

/* Energies, momenta and all probes are numbers at every step. */
static void play_until(play *p, double time) {
    while (value(p, "time") < time - 1e-9) {
        check_ok(ctx, bough_run_step(ctx, p->run));
        double sum = 0;
        for (int32_t c = 0; c < bough_run_column_count(p->run); c++)
            sum += bough_run_values(p->run)[c];
        check(isfinite(sum));
    }
}

typedef struct {
    double values[200];
} row;

static row row_of(const play *p) {
    row r = {0};
    check(bough_run_column_count(p->run) <= 200);
    memcpy(r.values, bough_run_values(p->run), (size_t)bough_run_column_count(p->run) * sizeof(double));
    return r;
}

static void check_same(const row *a, const play *p) {
    const row b = row_of(p);
    check(memcmp(a, &b, sizeof b) == 0);
}

/* Another run comes to the same bits. */
static void check_again(const char *name, double time, const row *first) {
    play p = begin_example(name, NULL);
    play_until(&p, time);
    check_same(first, &p);
    end(ctx, &p);
}

/* ---- the hand ---- */

#define BALL_WEIGHT (0.2 * 9.81)

/* Tips and pads together on the ball, along an axis of the world. */
static double grip(const play *p, char axis) {
    double sum = 0;
    for (int finger = 1; finger <= 4; finger++)
        for (int pad = 0; pad < 2; pad++) {
            char column[16];
            snprintf(column, sizeof column, "%s%d.f%c", pad ? "pad" : "tip", finger, axis);
            sum -= value(p, column);
        }
    return sum;
}

static double distance_from_palm(const play *p) {
    return hypot(hypot(value(p, "ball.x") - value(p, "palm.x"), value(p, "ball.y") - value(p, "palm.y")),
                 value(p, "ball.z") - value(p, "palm.z"));
}

/* At rest in the hand: what touches it carries its weight, and nothing else. */
static void check_held(const play *p) {
    check_near(distance_from_palm(p), 0.083, 0.003);
    check_near(grip(p, 'z'), BALL_WEIGHT, 5e-9 * BALL_WEIGHT);
    check_near(grip(p, 'x'), 0, 5e-9 * BALL_WEIGHT);
    check_near(grip(p, 'y'), 0, 5e-9 * BALL_WEIGHT);
    check(hypot(value(p, "ball.vy"), value(p, "ball.vz")) < 1e-3);
}

static void the_hand_holds_the_ball(void **state) {
    (void)state;
    play p = begin_example("hand", NULL);
    play_until(&p, 0.3); /* on its stand, with open fingers */
    check_near(value(&p, "ball.z"), 0.14, 2e-8);
    check(grip(&p, 'z') == 0);
    play_until(&p, 1.2);
    const row taken = row_of(&p);
    play_until(&p, 2); /* the stand is gone */
    check(value(&p, "stand.x") > 0.1);
    check_held(&p);
    play_until(&p, 3.5); /* turned to one side */
    check_near(value(&p, "palm.y"), -0.085 * sin(0.9), 0.002);
    check_held(&p);
    play_until(&p, 5.5); /* and to the other */
    check_near(value(&p, "palm.y"), 0.085 * sin(0.9), 0.002);
    check_held(&p);
    play_until(&p, 7);
    check_near(value(&p, "palm.y"), 0, 1e-6);
    check_held(&p);
    end(ctx, &p);
    check_again("hand", 1.2, &taken);
}

static double height_of_top(const play *p, const char *name) {
    bough_thing_state state;
    for (int32_t i = 0; i < bough_run_thing_count(p->run); i++)
        if (!strcmp(bough_run_thing(p->run, i)->name, name) && bough_run_thing_state(p->run, i, &state))
            return state.frame.pose.rotation[8];
    fail_msg("there is no %s", name);
    return NAN;
}

/* Half a turn about the wrist and back: the palm is below the ball then, which has turned with it and is nowhere lost. */
static void the_hand_turns_the_ball_over(void **state) {
    (void)state;
    bough_run_def def = bough_default_run_def();
    play p = begin_file(ctx, BOUGH_SOURCE_DIR "/examples/hand/over.json", &def);
    play_until(&p, 2);
    check_held(&p);
    check_near(height_of_top(&p, "ball"), 1, 1e-7);
    double nearest = INFINITY, farthest = 0;
    for (double t = 2; t < 7; t += 0.01) {
        play_until(&p, t);
        nearest = fmin(nearest, distance_from_palm(&p)), farthest = fmax(farthest, distance_from_palm(&p));
        if (fabs(t - 4.2) > 0.006)
            continue;
        check_near(value(&p, "palm.z"), 0.14 - 0.085, 1e-9);
        check_near(height_of_top(&p, "ball"), -1, 1e-6);
        check_held(&p);
    }
    check(nearest > 0.0808 && farthest < 0.0816);
    play_until(&p, 7);
    check_near(value(&p, "palm.z"), 0.14 + 0.085, 1e-9);
    check_near(height_of_top(&p, "ball"), 1, 1e-6);
    check_held(&p);
    end(ctx, &p);
}

/* In the middle of the pull at the stand, with all contacts there are. */
static void a_checkpoint_of_the_hand_goes_on_bit_by_bit(void **state) {
    (void)state;
    play p = begin_example("hand", NULL);
    play_until(&p, 1.25);
    check_ok(ctx, bough_run_save(ctx, p.run, test_path("hand.check")));
    play_until(&p, 2.3);
    const row later = row_of(&p);
    end(ctx, &p);
    p = begin_example("hand", test_path("hand.check"));
    play_until(&p, 2.3);
    check_same(&later, &p);
    end(ctx, &p);
}

/* ---- the walker ---- */

/* Three body lengths in less than seven seconds, over ground that is 5 cm uneven, with its back up all the time. */
static void the_walker_walks(void **state) {
    (void)state;
    play p = begin_example("walker", NULL);
    row early = {0};
    double lowest = 1, highest = 0, upright = 1;
    play_until(&p, 0.4);
    const double start = value(&p, "body.x");
    check_near(start, 0, 0.01);
    for (int tenth = 5; tenth <= 80; tenth++) {
        play_until(&p, 0.1 * tenth);
        if (tenth == 15)
            early = row_of(&p);
        lowest = fmin(lowest, value(&p, "body.z")), highest = fmax(highest, value(&p, "body.z"));
        upright = fmin(upright, (value(&p, "top.z") - value(&p, "body.z")) / 0.1);
    }
    check(value(&p, "body.x") - start > 1);
    check(fabs(value(&p, "body.y")) < 0.3);
    check(lowest > 0.08 && highest < 0.17);
    check(upright > cos(0.25));
    /* it stands at the end: its feet carry its weight, body and six legs of 0.2 kg */
    double carried = 0;
    for (int foot = 1; foot <= 6; foot++) {
        char column[16];
        snprintf(column, sizeof column, "foot%d.fz", foot);
        carried += value(&p, column);
    }
    check_near(carried, (2 + 6 * 0.2) * 9.81, 1e-7 * 31.4);
    check(fabs(value(&p, "body.vx")) < 0.01);
    end(ctx, &p);
    check_again("walker", 1.5, &early);
}

/* ---- the trampoline ---- */

/* It falls, is thrown up again, and comes to rest on the sheet, 1 m above the ground. */
static void the_trampoline_catches_the_bunny(void **state) {
    (void)state;
    play p = begin_example("trampoline", NULL);
    double before = value(&p, "total"), deepest = 2, leap = 0, highest_again = 0;
    const double rest = value(&p, "middle.z");
    row early = {0};
    check(value(&p, "bunny.z") > rest + 0.8);
    for (int tenth = 1; tenth <= 60; tenth++) {
        play_until(&p, 0.1 * tenth);
        if (tenth == 8)
            early = row_of(&p);
        deepest = fmin(deepest, value(&p, "middle.z"));
        if (tenth > 5)
            leap = fmax(leap, value(&p, "bunny.vz")), highest_again = fmax(highest_again, value(&p, "bunny.z"));
        check(value(&p, "total") < before + 0.05); /* nothing drives it */
        before = fmin(before, value(&p, "total"));
    }
    check(deepest < rest - 0.1);
    check(leap > 1 && highest_again > rest + 0.25);
    check_near(value(&p, "bunny.z"), rest + 0.1, 0.05);
    check(value(&p, "bunny.z") > 0.9 && fabs(value(&p, "bunny.vz")) < 0.05);
    check(hypot(value(&p, "bunny.x"), value(&p, "bunny.y")) < 0.2);
    end(ctx, &p);
    check_again("trampoline", 0.8, &early);
}

/* ---- what makes no sense at the start ---- */

#define RAM_SCENE(x, engine)                                                                                           \
    "{'bough': 1, 'engine': {'kind': '" engine "'}, 'links': [{'name': 'post', 'mass': 1, 'inertia': [1, 1, 1, 0, 0, " \
    "0], 'position': [-1, 0, 0.3]}, {'name': 'arm', 'mass': 1, 'inertia': [0.1, 0.1, 0.1, 0, 0, 0], 'position': "      \
    "[-0.6, 0, 0.3]}], 'joints': [{'name': 'j', 'kind': 'ball', 'parent': 'post', 'child': 'arm', 'position': [-1, "   \
    "0, 0.3], 'stiffness': 50, 'damping': 1}], 'base': 'post', 'end_effectors': [{'name': 'tip', 'link': 'arm', "      \
    "'position': [-0.3, 0, 0.3], 'shape': {'sphere': 0.05}}], 'bodies': [{'name': 'block', 'density': 500, 'shape': "  \
    "{'box': [0.3, 0.3, 0.3]}, 'position': [0, 0, 0.15]}], 'obstacles': [{'name': 'ground', 'shape': {'plane': "       \
    "true}}, {'name': 'ram', 'shape': {'box': [0.2, 0.2, 0.2]}, 'track': [{'time': 0, 'position': [" x                 \
    ", 0, 0.15]}, {'time': 1, 'position': [-0.1, 0, 0.15]}]}], 'gravity': [0, 0, -9.81], 'time': {'dt': 0.004, "       \
    "'duration': 1}}"

/* A body around a ram would be pushed out with energy from nowhere, while links take part. */
static void rams_begin_outside_of_bodies(void **state) {
    (void)state;
    static const char *const inside[] = {RAM_SCENE("0.1", "mechanism"), RAM_SCENE("0.1", "full")};
    const bough_run_def def = bough_default_run_def();
    for (int i = 0; i < 2; i++) {
        bough_scene *scene;
        bough_run *run;
        check_ok(ctx, bough_scene_load(ctx, write_scene("ram.json", inside[i]), &scene));
        check_fails(ctx, bough_run_create(ctx, scene, &def, &run), BOUGH_ERROR_ARGUMENT,
                    "the obstacle \"ram\", which has a track, begins 0.15 m inside of the body \"block\"");
        bough_scene_destroy(ctx, scene);
    }
    play p = begin_file(ctx, write_scene("ram.json", RAM_SCENE("0.2501", "mechanism")), &def);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    end(ctx, &p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rams_begin_outside_of_bodies),
        cmocka_unit_test(the_hand_holds_the_ball),
        cmocka_unit_test(the_hand_turns_the_ball_over),
        cmocka_unit_test(a_checkpoint_of_the_hand_goes_on_bit_by_bit),
        cmocka_unit_test(the_walker_walks),
        cmocka_unit_test(the_trampoline_catches_the_bunny),
    };
    return cmocka_run_group_tests(tests, prepare, finish_all);
}
