/* The examples of contact in examples/ do what their pages say: short runs here, whole ones in ./bough test --long. */
#include "play.h"

#include "contact/crossing.h"
#include "fem/touch_itself.h"

static play begin_example(bough_context *ctx, const char *name) {
    char path[400];
    const bough_run_def def = bough_default_run_def();
    snprintf(path, sizeof path, "%s/examples/%s/scene.json", BOUGH_SOURCE_DIR, name);
    return begin_file(ctx, path, &def);
}

/* Steps to the time, with `look` at each step. */
static void advance_to(bough_context *ctx, play *p, double time, void (*look)(const play *p)) {
    while (value(p, "time") < time - 1e-9) {
        check_ok(ctx, bough_run_step(ctx, p->run));
        if (look)
            look(p);
    }
}

static void a_block_slides_as_coulomb_says_and_another_holds(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    play p = begin_example(ctx, "incline");
    const double until = test_long() ? 0.8 : 0.2;
    advance_to(ctx, &p, 0.1, NULL);
    const double start = value(&p, "slides.vx");
    advance_to(ctx, &p, until, NULL);
    const double found = (value(&p, "slides.vx") - start) / (until - 0.1), expected = 9.81 * (0.5 - 0.3 * sqrt(0.75));
    printf("%.6g m/s^2, Coulomb %.6g\n", found, expected);
    check_near(found / expected, 1, 2e-5);
    check(value(&p, "stays.vx") > 0 && value(&p, "stays.vx") < 1e-3); /* the slip speed */
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* ---- rods ---- */

static bo_skin skin;

static void nothing_crosses(const play *p) {
    const bough_mesh *mesh = bough_run_mesh(p->run);
    const double *u = bough_run_displacement(p->run);
    const size_t n = 3 * (size_t)mesh->vertex_count;
    double *x = malloc(n * sizeof *x);
    for (size_t i = 0; i < n; i++)
        x[i] = mesh->vertices[i] + u[i];
    check_int(count_crossings(&skin, x), 0);
    free(x);
}

static void rods_wind_about_each_other_and_never_cross(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    play p = begin_example(ctx, "rods");
    bough_run_contact contacts[1];
    check_ok(ctx, bo_body_skin(ctx, bough_run_mesh(p.run), &skin));
    advance_to(ctx, &p, test_long() ? 1.2 : 0.15, nothing_crosses);
    /* The frame turns by 180 degrees a second, and the upper ends with it. */
    const double angle = atan2(value(&p, "right.y") - value(&p, "left.y"), value(&p, "right.x") - value(&p, "left.x"));
    printf("turned by %g degrees, %d contacts\n", angle * 180 / M_PI, bough_run_contacts(p.run, 0, contacts));
    if (test_long()) {
        check_near(angle < 0 ? angle + 2 * M_PI : angle, 216 * M_PI / 180, 0.3);
        check(bough_run_contacts(p.run, 0, contacts) > 100);
    }
    check(bough_run_contacts(p.run, 0, contacts) > 0);
    bo_skin_free(ctx, &skin);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* ---- the gripper ---- */

static void is_held(const play *p) {
    check_near(value(p, "ball.x"), value(p, "palm.x"), 3e-4);
    check_near(value(p, "ball.y"), 0, 3e-5);
    check_near(value(p, "ball.z"), value(p, "palm.z") - 0.105, 3e-4);
    check_near(value(p, "left touches.fz"), -0.5 * 9.81 * 300 * 4 * M_PI / 3 * 0.04 * 0.04 * 0.04, 0.01);
}

static void the_gripper_lifts_its_ball_and_carries_it(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    play p = begin_example(ctx, "gripper");
    advance_to(ctx, &p, 1.4, NULL);
    check_near(value(&p, "ball.z"), 0.04, 1e-4);
    advance_to(ctx, &p, 3.6, NULL);
    check_near(value(&p, "ball.z"), 0.19, 1e-3);
    const double before = value(&p, "balance");
    advance_to(ctx, &p, test_long() ? 64 : 6, is_held);
    check(value(&p, "balance") < before + 1e-4);
    if (!test_long())
        check(value(&p, "ball.x") > 0.05);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* ---- rings ---- */

static void note_warning(void *user, const char *message) {
    snprintf(user, 300, "%s", message);
}

/* A ring of 1.1 kg hangs on a peg and another one in it: nothing begins inside of anything, and the peg bears both. */
static void rings_hang_on_a_peg(void **unused) {
    (void)unused;
    char warned[300] = "";
    bough_context_def def = bough_default_context_def();
    def.thread_count = 1, def.warn = note_warning, def.warn_user = warned;
    bough_context *ctx = bough_context_create(&def);
    play p = begin_example(ctx, "rings");
    for (int i = 0; i < 60; i++) {
        bough_run_contact contacts[100];
        check_ok(ctx, bough_run_step(ctx, p.run));
        const int32_t count = bough_run_contacts(p.run, 100, contacts);
        for (int32_t c = 0; c < count && c < 100; c++)
            check_below(fabs(contacts[c].force[2]),
                        2000); /* 1e5 N, and more in each step, where the ring was in its peg */
    }
    check(!*warned);
    for (int32_t i = 0; i < bough_run_thing_count(p.run); i++)
        if (!strcmp(bough_run_thing(p.run, i)->name, "chain"))
            check_near(frame_of(&p, i).pose.position[2], 0.763, 0.01);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* ---- what takes seconds ---- */

static void cubes_stand_and_the_beam_lies_on_the_stairs(void **unused) {
    (void)unused;
    if (!test_long())
        test_skip("takes half a minute: ./bough test --long");
    bough_context *ctx = test_context(1);
    play p = begin_example(ctx, "cubes");
    advance_to(ctx, &p, 2, NULL);
    check(value(&p, "kinetic") < 1e-4 && value(&p, "balance") < 0);
    check(value(&p, "bottom.z") > 0.19 && value(&p, "middle.z") > 0.27 && value(&p, "top.z") > 0.47);
    end(ctx, &p);
    p = begin_example(ctx, "stairs");
    double balance = 0;
    while (value(&p, "time") < 1.5 - 1e-9) {
        check_ok(ctx, bough_run_step(ctx, p.run));
        check(value(&p, "balance") <= balance + 1e-9);
        balance = value(&p, "balance");
    }
    check(value(&p, "kinetic") < 0.01 && fabs(value(&p, "middle.vz")) < 0.05);
    check(value(&p, "front.z") < value(&p, "back.z") - 0.1); /* it bends over two steps */
    end(ctx, &p);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_block_slides_as_coulomb_says_and_another_holds),
                                       cmocka_unit_test(rods_wind_about_each_other_and_never_cross),
                                       cmocka_unit_test(the_gripper_lifts_its_ball_and_carries_it),
                                       cmocka_unit_test(rings_hang_on_a_peg),
                                       cmocka_unit_test(cubes_stand_and_the_beam_lies_on_the_stairs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
