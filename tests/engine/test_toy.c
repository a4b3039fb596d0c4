/* A further engine needs a table of functions and one line that registers it (bouncing.c): it then runs, records,
 * checkpoints and resumes, and is shown, without a change anywhere else. */
#include "app/view_table.h"

#define BOUNCING "{'bough': 1, 'bouncing': {'height': 1}, 'time': {'dt': 0.001, 'duration': 2}}"

/* Under gravity g a fall from height H with restitution e reaches e^2 H after the first bounce. */
static void it_runs_and_bounces(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_run_report report;
    bough_run_def def = bough_default_run_def();
    def.record = test_path("ball.csv"), def.displacements = test_path("ball.npy"), def.frames = test_path("frames");
    play p = begin_file(ctx, write_scene("ball.json", BOUNCING), &def);
    double highest = 0;
    while (value(&p, "time") < 1.5) {
        check_ok(ctx, bough_run_step(ctx, p.run));
        if (value(&p, "time") > sqrt(2 / 9.81))
            highest = fmax(highest, frame_of(&p, 0).pose.position[2]);
    }
    check_near(highest, 0.64, 1e-6);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    bough_run_look(p.run, &report);
    check(!strcmp(report.engine, "bouncing") && report.can == BOUGH_CAN_PULL);
    check_int(report.rows, 2001);
    check_int(report.frames, 61);
    check_int(report.displacement_rows, 61);
    check_below(fabs(report.balance), 1e-9);
    const bough_mesh *mesh = bough_run_mesh(p.run);
    check_near(mesh->vertices[14] + bough_run_displacement(p.run)[14], 0.1 + frame_of(&p, 0).pose.position[2], 1e-12);
    check_near(bough_run_velocity(p.run)[14], frame_of(&p, 0).velocity[2], 0);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

static void it_resumes_with_the_same_bits(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_run_def def = bough_default_run_def();
    play whole = begin_file(ctx, write_scene("ball.json", BOUNCING), &def);
    check_ok(ctx, bough_run_advance(ctx, whole.run));
    def.duration = 1, def.checkpoint = test_path("ball.state");
    play half = begin_file(ctx, test_path("ball.json"), &def);
    check_ok(ctx, bough_run_advance(ctx, half.run));
    end(ctx, &half);
    def.duration = 2, def.checkpoint = NULL, def.resume = test_path("ball.state");
    play rest = begin_file(ctx, test_path("ball.json"), &def);
    check_ok(ctx, bough_run_advance(ctx, rest.run));
    for (int32_t c = 0; c < bough_run_column_count(whole.run); c++)
        check(bough_run_values(whole.run)[c] == bough_run_values(rest.run)[c]);
    end(ctx, &whole);
    end(ctx, &rest);
    bough_context_destroy(ctx);
}

static void it_is_described_and_refuses_what_it_cannot(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene_info info;
    bough_run_def def = bough_default_run_def();
    def.live = true;
    play p = begin_file(ctx, write_scene("ball.json", BOUNCING), &def);
    bough_scene_describe(ctx, p.scene, &info);
    check(!strcmp(info.kind, "bouncing") && info.engine_count == 1 && !strcmp(info.engines[0].name, "bouncing"));
    check_near(info.gravity[2], -9.81, 0);
    check(bough_engine_name(5) && !bough_engine_name(6));
    check_fails(ctx, bough_run_set_wind(ctx, p.run, NULL), BOUGH_ERROR_UNSUPPORTED,
                "the bouncing engine knows no wind");
    check_fails(ctx, bough_run_set_stiffness(ctx, p.run, 0, false, 2), BOUGH_ERROR_UNSUPPORTED, "a ball stays whole");
    const double up[3] = {0, 0, 2};
    check_ok(ctx, bough_run_poke(ctx, p.run, 0, 0, up));
    check_ok(ctx, bough_run_step(ctx, p.run));
    check_near(frame_of(&p, 0).velocity[2], 2 - 9.81e-3, 1e-12);
    bough_moment *moment;
    check_ok(ctx, bough_run_keep(ctx, p.run, &moment));
    check_ok(ctx, bough_run_step(ctx, p.run));
    check_ok(ctx, bough_run_return(ctx, p.run, moment));
    check_near(frame_of(&p, 0).velocity[2], 2 - 9.81e-3, 1e-12);
    bough_moment_destroy(ctx, moment);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

static void it_is_seen(void **state) {
    (void)state;
    table t = sit_down(write_scene("ball.json", BOUNCING), NULL, true);
    look_until(&t, t.seen.layers[0].part_count == 1 && t.frames > 0);
    order(&t, "{'do': 'pick', 'part': 0, 'vertex': 4}");
    look_until(&t, said(&t, "pick"));
    check(!strcmp(json_string_value(json_object_get(said(&t, "pick"), "kind")), "ball"));
    check_near(json_number_value(json_array_get(json_object_get(said(&t, "pick"), "position"), 2)), 1.1, 1e-9);
    order(&t, "{'do': 'cut', 'part': 0}");
    look_until(&t, said(&t, "error"));
    check(strstr(json_string_value(json_object_get(said(&t, "error"), "text")), "a ball stays whole"));
    order(&t, "{'do': 'record', 'on': true}");
    order(&t, "{'do': 'play'}");
    look_until(&t, said(&t, "numbers") && json_number_value(json_object_get(said(&t, "numbers"), "time")) > 0.3);
    order(&t, "{'do': 'record', 'on': false}");
    look_until(&t, said(&t, "recorded"));
    check_int(json_array_size(json_object_get(said(&t, "recorded"), "files")), 2);
    leave(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_runs_and_bounces),
        cmocka_unit_test(it_resumes_with_the_same_bits),
        cmocka_unit_test(it_is_described_and_refuses_what_it_cannot),
        cmocka_unit_test(it_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
