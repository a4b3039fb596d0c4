/* Retargeting of a scene: a rod on a motor, with a weight at its end, that is turned fast and stands still. */
#include "../scene/texts.h"

#include <bough/retarget.h>

/* `more`: members of the block "retarget", or of the scene. */
static void write_arm(const char *path, const char *retarget, const char *more) {
    char text[3000];
    snprintf(
        text, sizeof text,
        "{'bough': 1, 'components': {'rod': {"
        "'mesh': {'generate': 'box', 'type': 'tet10', 'origin': [0, -0.003, -0.0025], 'size': [0.5, 0.006, 0.005], "
        "'cells': [8, 1, 1]}, "
        "'material': {'model': 'stvk', 'young': 2e10, 'poisson': 0.3, 'density': 1900}, "
        "'damping': {'mass': 0.02, 'stiffness': 0.0005}, "
        "'interfaces': {'base': {'select': 'x0'}, 'tip': {'select': 'x1'}}, "
        "'basis': {'r': 8, 'kind': 'mass-loaded+derivatives'}}}, "
        "'bodies': [{'name': 'hub', 'mass': 0.2, 'shape': {'sphere': 0.02}}, "
        "{'name': 'weight', 'position': [0, 0, 0.5], 'mass': 0.05, 'shape': {'sphere': 0.011}}], "
        "'parts': [{'name': 'rod', 'component': 'rod', 'clamp': {'body': 'hub', 'rotate_deg': [0, -90, 0]}}], "
        "'joints': [{'name': 'shoulder', 'kind': 'hinge', 'parent': 'world', 'child': 'hub', 'position': [0, 0, 0], "
        "'axis': [0, 1, 0]}, "
        "{'name': 'grip', 'kind': 'weld', 'parent': {'part': 'rod', 'interface': 'tip'}, 'child': 'weight'}], "
        "'curves': {'turn': [[0.1, 0], [0.35, 25]], 'late': [[0, 0], [0.6, 1]]}, "
        "'motors': [{'joint': 'shoulder', 'curve': 'turn', 'degrees': true, 'between': 'lines'}], "
        "'gravity': [0, 0, -9.81], 'time': {'dt': 0.004, 'duration': 1.2}, "
        "'retarget': {'dt': 0.004, 'keep': 1e-5, 'smooth': 1e-9%s}%s}",
        retarget, more);
    write_quoted(path, text);
}

typedef struct {
    bough_context *ctx;
    bough_scene *scene;
    bough_retarget *retarget;
    bough_retarget_view view;
} bench;

static bench open_bench(const char *retarget, int32_t threads, const bough_retarget_def *def) {
    bench b = {.ctx = test_context(threads)};
    const bough_retarget_def usual = bough_default_retarget_def();
    write_arm(test_path("arm.json"), retarget, "");
    check_ok(b.ctx, bough_scene_load(b.ctx, test_path("arm.json"), &b.scene));
    check_ok(b.ctx, bough_retarget_create(b.ctx, b.scene, def ? def : &usual, &b.retarget));
    return b;
}

static void run(bench *b) {
    check_ok(b->ctx, bough_retarget_run(b->ctx, b->retarget));
    bough_retarget_look(b->retarget, &b->view);
}

static void close_bench(bench *b) {
    bough_retarget_destroy(b->ctx, b->retarget);
    bough_scene_destroy(b->ctx, b->scene);
    bough_context_destroy(b->ctx);
}

static bough_motion *play(const bench *b, const bough_replay_def *def) {
    bough_motion *motion;
    check_ok(b->ctx, bough_retarget_replay(b->ctx, b->retarget, def, &motion));
    return motion;
}

/* The vibration of the weight in the pauses, against equilibria of the same robot. */
static double vibration(const bench *b, bough_replay_def def) {
    bough_deviation d;
    bough_motion *motion = play(b, &def);
    const bool shaped = def.source == BOUGH_REPLAY_ZV || def.source == BOUGH_REPLAY_ZVD;
    def.statics = true, def.feedback = false, def.source = shaped ? def.source : BOUGH_REPLAY_ANIMATION;
    bough_motion *target = play(b, &def);
    bough_motion_compare(b->retarget, motion, target, 0, &d);
    bough_motion_destroy(b->ctx, motion);
    bough_motion_destroy(b->ctx, target);
    return d.pause_rms;
}

static bough_replay_def by(bough_replay_source source) {
    bough_replay_def def = bough_default_replay_def();
    def.source = source;
    return def;
}

static void a_rod_stands_still_in_the_pauses(void **state) {
    (void)state;
    bench b = open_bench("", 2, NULL);
    run(&b);
    check_int(b.view.frame_count, 1);
    check(strcmp(b.view.frames[0], "weight") == 0 && b.view.degrees && b.view.converged);
    check(b.view.search == BOUGH_SEARCH_GAUSS_NEWTON && b.view.gradients == b.view.iterations + 1);
    const double before = vibration(&b, by(BOUGH_REPLAY_ANIMATION)), after = vibration(&b, by(BOUGH_REPLAY_CURVES));
    const double zv = vibration(&b, by(BOUGH_REPLAY_ZV)), zvd = vibration(&b, by(BOUGH_REPLAY_ZVD));
    printf("vibration in the pauses: %.3f cm, retargeted %.4f, ZV %.4f, ZVD %.4f\n", 100 * before, 100 * after,
           100 * zv, 100 * zvd);
    check_below(after, 0.03 * before);
    check_below(zv, 0.1 * before);
    check_below(zvd, 0.1 * before);
    close_bench(&b);
}

/* The first control points are those of the animation, and the motor ends where it should. */
static void curves_start_with_the_animation_and_end_near_it(void **state) {
    (void)state;
    bench b = open_bench("", 1, NULL);
    run(&b);
    for (int i = 0; i < 3; i++)
        check_near(b.view.curves->points[i], 0, 0);
    double place, rate;
    bough_motor_curves_at(b.view.curves, 0, 1.2, &place, &rate, NULL);
    check_near(place, 25 * M_PI / 180, 2e-4);
    check_near(rate, 0, 0.05);
    close_bench(&b);
}

static void searches_agree(void **state) {
    (void)state;
    static const bough_search_kind kinds[] = {BOUGH_SEARCH_GAUSS_NEWTON, BOUGH_SEARCH_LBFGS, BOUGH_SEARCH_BFGS};
    double values[3], first[3];
    if (TEST_SANITIZED)
        test_skip("some hundred simulations are too slow in this build");
    for (int k = 0; k < 3; k++) {
        bough_retarget_def def = bough_default_retarget_def();
        def.search = kinds[k], def.tolerance = 1e-6, def.iterations = 400;
        bench b = open_bench("", 2, &def);
        run(&b);
        values[k] = b.view.value, first[k] = b.view.first_value;
        check(b.view.search == kinds[k]);
        printf("%s: %.6g -> %.6g, %d iterations\n",
               k == 0   ? "Gauss-Newton"
               : k == 1 ? "L-BFGS"
                        : "BFGS",
               first[k], values[k], b.view.iterations);
        close_bench(&b);
    }
    for (int k = 1; k < 3; k++) {
        check_near(first[k] / first[0], 1, 1e-12);
        check_near(values[k] / values[0], 1, 1e-4);
    }
}

static void windows_come_near_to_the_whole(void **state) {
    (void)state;
    double values[2];
    for (int k = 0; k < 2; k++) {
        bough_retarget_def def = bough_default_retarget_def();
        def.window = k == 0 ? 0 : 0.4, def.overlap = 0.4;
        bench b = open_bench("", 1, &def);
        run(&b);
        values[k] = b.view.value;
        check_below(values[k], 1e-2 * b.view.first_value);
        close_bench(&b);
    }
    printf("the whole: %.4g, windows: %.4g\n", values[0], values[1]);
    check(values[1] >= values[0] * (1 - 1e-3));
    check_below(values[1], 2 * values[0]);
}

static void replays_are_the_motion_that_was_searched(void **state) {
    (void)state;
    bench b = open_bench("", 1, NULL);
    run(&b);
    const bough_replay_def def = by(BOUGH_REPLAY_CURVES);
    bough_motion *motion = play(&b, &def);
    double sum = 0; /* the objective, without what curves cost */
    for (int32_t k = 0; k <= b.view.step_count; k++) {
        const double weight = b.view.dt * (k == 0 || k == b.view.step_count ? 0.5 : 1);
        for (int d = 0; d < 3; d++)
            sum += 0.5 * weight * pow(motion->positions[3 * k + d] - b.view.target->positions[3 * k + d], 2);
    }
    double curves = 0;
    for (int32_t k = 0; k <= b.view.step_count; k++) {
        const double weight = b.view.dt * (k == 0 || k == b.view.step_count ? 0.5 : 1);
        double place, acceleration;
        bough_motor_curves_at(b.view.curves, 0, k * b.view.dt, &place, NULL, &acceleration);
        curves += 0.5 * weight * (1e-5 * pow(place - b.view.target->places[k], 2) + 1e-9 * pow(acceleration, 2));
    }
    check_near((sum + curves) / b.view.value, 1, 1e-10);
    bough_motion_destroy(b.ctx, motion);
    close_bench(&b);
}

static void another_robot_vibrates_more_and_feedback_calms_it(void **state) {
    (void)state;
    bench b = open_bench(", 'duration': 2", 2, NULL);
    run(&b);
    bough_replay_def def = by(BOUGH_REPLAY_CURVES);
    const double planned = vibration(&b, def);
    def.mass = 1.2, def.stiffness = 0.8;
    const double other = vibration(&b, def);
    def.feedback = true;
    const double calmed = vibration(&b, def);
    printf("planned %.4f cm, another robot %.4f, with feedback %.4f\n", 100 * planned, 100 * other, 100 * calmed);
    check(other > 10 * planned);
    check_below(calmed, 0.6 * other);
    def.full = true;
    bough_motion *motion;
    check_int(bough_retarget_replay(b.ctx, b.retarget, &def, &motion), BOUGH_ERROR_ARGUMENT);
    close_bench(&b);
}

static void curves_hold_in_full_order(void **state) {
    (void)state;
    if (TEST_SANITIZED)
        test_skip("full order is too slow in this build");
    bench b = open_bench("", 2, NULL);
    run(&b);
    bough_replay_def def = by(BOUGH_REPLAY_ANIMATION);
    def.full = true;
    const double before = vibration(&b, def);
    def.source = BOUGH_REPLAY_CURVES;
    const double after = vibration(&b, def);
    printf("full order: %.3f cm -> %.4f cm\n", 100 * before, 100 * after);
    check_below(after, 0.05 * before);
    close_bench(&b);
}

/* ---- tables ---- */

static void a_search_goes_on_from_its_table(void **state) {
    (void)state;
    bough_retarget_def def = bough_default_retarget_def();
    def.iterations = 2;
    bench b = open_bench("", 1, &def);
    run(&b);
    const double left = b.view.value;
    check_ok(b.ctx, bough_retarget_write(b.ctx, b.retarget, test_path("motors.csv"), 250));
    close_bench(&b);
    b = open_bench("", 1, NULL);
    check_ok(b.ctx, bough_retarget_begin(b.ctx, b.retarget, test_path("motors.csv")));
    run(&b);
    check_near(b.view.first_value / left, 1, 1e-10);
    check_below(b.view.value, left);
    close_bench(&b);
}

static void tables_that_do_not_fit_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *sentence;
    } cases[] = {{"time,elbow\n0,0\n1,2\n", "no column \"shoulder\""},
                 {"time,shoulder\n0,0\n0,2\n", "ascend"},
                 {"time,shoulder\n0,0\n1,nan\n", "nan"},
                 {"time,shoulder\n0,0\n1\n", "2:"}};
    bench b = open_bench("", 1, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_write_text(test_path("bad.csv"), cases[i].text);
        check(bough_retarget_begin(b.ctx, b.retarget, test_path("bad.csv")) != BOUGH_OK);
        printf("%s\n", bough_message(b.ctx));
        check(strstr(bough_message(b.ctx), "bad.csv") != NULL);
    }
    check_int(bough_retarget_write(b.ctx, b.retarget, test_path("nowhere/motors.csv"), 0), BOUGH_ERROR_FILE);
    close_bench(&b);
}

/* ---- limits, memory, wishes ---- */

static void motors_keep_their_limits(void **state) {
    (void)state;
    double fastest[2] = {0}, strongest[2] = {0};
    for (int k = 0; k < 2; k++) {
        bench b = open_bench(k == 0 ? ", 'point_rate': 15"
                                    : ", 'point_rate': 15, 'limit_weight': 10, 'limits': [{'motor': 'shoulder', "
                                      "'speed_deg': 110, 'force': 0.4}]",
                             2, NULL);
        run(&b);
        const bough_replay_def def = by(BOUGH_REPLAY_CURVES);
        bough_motion *motion = play(&b, &def);
        for (int32_t i = 0; i <= b.view.step_count; i++) {
            fastest[k] = fmax(fastest[k], fabs(motion->rates[i]) * 180 / M_PI);
            strongest[k] = fmax(strongest[k], fabs(motion->forces[i]));
        }
        bough_motion_destroy(b.ctx, motion);
        close_bench(&b);
    }
    printf("speed %.1f deg/s, with a limit %.1f; torque %.3f N m, with a limit %.3f\n", fastest[0], fastest[1],
           strongest[0], strongest[1]);
    check(fastest[0] > 120 && strongest[0] > 0.42);
    check_below(fastest[1], 1.02 * 110);
    check_below(strongest[1], 1.02 * 0.4);
}

static void ranges_bound_the_curves(void **state) {
    (void)state;
    bench b = open_bench(", 'limits': [{'motor': 'shoulder', 'range_deg': [-0.5, 25.5]}]", 1, NULL);
    run(&b);
    for (int32_t i = 0; i < b.view.curves->point_count; i++) {
        const double degrees = b.view.curves->points[i] * 180 / M_PI, first = b.view.input->points[i] * 180 / M_PI;
        check(degrees >= fmin(-0.5, first) - 1e-9 && degrees <= fmax(25.5, first) + 1e-9);
    }
    close_bench(&b);
}

static void few_megabytes_find_the_same_curves(void **state) {
    (void)state;
    double points[2][64];
    int64_t bytes[2];
    int32_t count = 0;
    for (int k = 0; k < 2; k++) {
        bough_retarget_def def = bough_default_retarget_def();
        def.megabytes = k == 0 ? 256 : 0.1, def.iterations = 3, def.search = BOUGH_SEARCH_LBFGS;
        bench b = open_bench("", 1, &def);
        run(&b);
        count = b.view.curves->point_count, bytes[k] = b.view.bytes;
        check(count <= 64);
        memcpy(points[k], b.view.curves->points, (size_t)count * sizeof points[k][0]);
        close_bench(&b);
    }
    printf("%lld bytes, %lld bytes\n", (long long)bytes[0], (long long)bytes[1]);
    check(bytes[0] > 100000 && bytes[1] <= 100000);
    for (int32_t i = 0; i < count; i++)
        check_near(points[0][i], points[1][i], 0);
}

static bool stop_at_second(void *data, const bough_retarget_progress *p) {
    *(bough_retarget_progress *)data = *p;
    return p->iteration < 2;
}

static void a_search_that_is_stopped_keeps_its_best(void **state) {
    (void)state;
    bough_retarget_progress last = {0};
    bough_retarget_def def = bough_default_retarget_def();
    def.tell = stop_at_second, def.tell_data = &last;
    bench b = open_bench("", 1, &def);
    check_int(bough_retarget_run(b.ctx, b.retarget), BOUGH_CANCELLED);
    bough_retarget_look(b.retarget, &b.view);
    check_int(last.iteration, 2);
    check(last.value < last.first_value && last.deviation < last.first_deviation && !b.view.converged);
    check_near(b.view.value, last.value, 0);
    close_bench(&b);
}

static void weights_move_the_motion(void **state) {
    (void)state;
    static const char *const blocks[] = {
        ", 'track': [{'body': 'weight', 'weight': 1}]", ", 'track': [{'body': 'weight', 'weight': 1, 'curve': 'late'}]",
        ", 'track': [{'body': 'weight', 'weight': 1, 'orientation': 0.1}]", ", 'moving': 0.1"};
    double peaks[4], pauses[4], tilts[4];
    for (int k = 0; k < 4; k++) {
        bench b = open_bench(blocks[k], 1, NULL);
        run(&b);
        const bough_replay_def def = by(BOUGH_REPLAY_CURVES);
        bough_motion *motion = play(&b, &def);
        bough_deviation d;
        bough_motion_compare(b.retarget, motion, b.view.target, 0, &d);
        peaks[k] = d.peak, pauses[k] = d.pause_rms, tilts[k] = d.tilt_rms;
        bough_motion_destroy(b.ctx, motion);
        close_bench(&b);
    }
    printf("peaks %.3f, late %.3f cm; in pauses %.4f, moving %.4f cm; tilts %.3f, %.3f deg\n", 100 * peaks[0],
           100 * peaks[1], 100 * pauses[0], 100 * pauses[3], tilts[0] * 180 / M_PI, tilts[2] * 180 / M_PI);
    check(peaks[1] > 1.1 * peaks[0]);
    check(pauses[3] < 0.8 * pauses[0]);
    check(tilts[2] < 0.95 * tilts[0]);
}

static void other_scenes_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *more, *sentence;
    } cases[] = {{", 'forces': [{'body': 'weight', 'force': [1, 0, 0]}]", "\"forces\""}};
    bough_context *ctx = test_context(1);
    const bough_retarget_def def = bough_default_retarget_def();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bough_scene *scene;
        bough_retarget *retarget;
        write_arm(test_path("arm.json"), "", cases[i].more);
        check_ok(ctx, bough_scene_load(ctx, test_path("arm.json"), &scene));
        check_int(bough_retarget_create(ctx, scene, &def, &retarget), BOUGH_ERROR_UNSUPPORTED);
        check(strstr(bough_message(ctx), cases[i].sentence) && !retarget);
        bough_scene_destroy(ctx, scene);
    }
    const bough_retarget_def raw = {0};
    bough_scene *scene;
    bough_retarget *retarget;
    write_arm(test_path("arm.json"), "", "");
    check_ok(ctx, bough_scene_load(ctx, test_path("arm.json"), &scene));
    check_int(bough_retarget_create(ctx, scene, &raw, &retarget), BOUGH_ERROR_ARGUMENT);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_rod_stands_still_in_the_pauses),
                                       cmocka_unit_test(curves_start_with_the_animation_and_end_near_it),
                                       cmocka_unit_test(searches_agree),
                                       cmocka_unit_test(windows_come_near_to_the_whole),
                                       cmocka_unit_test(replays_are_the_motion_that_was_searched),
                                       cmocka_unit_test(another_robot_vibrates_more_and_feedback_calms_it),
                                       cmocka_unit_test(curves_hold_in_full_order),
                                       cmocka_unit_test(a_search_goes_on_from_its_table),
                                       cmocka_unit_test(tables_that_do_not_fit_are_refused),
                                       cmocka_unit_test(motors_keep_their_limits),
                                       cmocka_unit_test(ranges_bound_the_curves),
                                       cmocka_unit_test(few_megabytes_find_the_same_curves),
                                       cmocka_unit_test(a_search_that_is_stopped_keeps_its_best),
                                       cmocka_unit_test(weights_move_the_motion),
                                       cmocka_unit_test(other_scenes_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
