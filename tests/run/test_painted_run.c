/* Runs of painted scenes and of several objects. */
#include "run/play.h"

#include "run/run.h"

#define BEAM                                                                                                       \
    "'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1, 0.1, 0.1], 'cells': [8, 1, 1]}, 'sets': {'a': "       \
    "{'elements': 'x<0.51'}, 'b': {'elements': 'x>0.49'}}, 'material': {'young': 5e7, 'poisson': 0.3, 'density': " \
    "1000}, 'basis': {'r': 6}, 'fix': 'x0', 'samples': {'wind': 0, 'contact': 0, 'stress': 0}"
#define TIME ", 'time': {'integrator': 'newmark', 'dt': 0.002, 'duration': 3}"
#define PUSH(part) ", 'forces': [{'part': '" part "', 'nearest': [1, 0, 0], 'force': [0, 2, 0], 'until': 0.05}]"

static play begin(bough_context *ctx, const char *text) {
    bough_run_def def = bough_default_run_def();
    return begin_file(ctx, write_scene("scene.json", text), &def);
}

/* From upward crossings of zero of a column in a window of time; *decay: of its peaks, 1/s. */
static double frequency(bough_context *ctx, play *p, const char *column, double from, double until, double *decay) {
    double before = value(p, column), first = NAN, last = NAN, peak = 0, first_peak = 0, last_peak = 0;
    int periods = -1;
    for (double t = bough_run_values(p->run)[BOUGH_COLUMN_TIME]; t < until;) {
        check_ok(ctx, bough_run_step(ctx, p->run));
        const double now = value(p, column), t_now = bough_run_values(p->run)[BOUGH_COLUMN_TIME];
        if (t >= from)
            peak = fmax(peak, fabs(now));
        if (t >= from && before < 0 && now >= 0) {
            last = t - (t_now - t) * before / (now - before);
            if (periods++ < 0)
                first = last;
            else
                last_peak = peak, first_peak = first_peak > 0 ? first_peak : peak;
            peak = 0;
        }
        before = now, t = t_now;
    }
    check(periods >= 2);
    *decay = log(first_peak / last_peak) / ((last - first) * (periods - 1) / periods);
    return periods / (last - first);
}

/* Both domains of a beam by one factor: all of its frequencies take it; then a curve does the same in the middle of a
 * run, and the damping ratio is the same before and after. */
static void paint_is_seen_in_the_motion(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
#define PROBE(part) ", 'probes': [{'name': 'tip', 'part': '" part "', 'nearest': [1, 0, 0]}]"
    double decay[4], hz[4];
    play p = begin(ctx, "{'bough': 1, 'object': {" BEAM "}" TIME PUSH("b") PROBE("b") "}");
    hz[0] = frequency(ctx, &p, "tip.uy", 0.1, 3, &decay[0]);
    end(ctx, &p);
    p = begin(ctx, "{'bough': 1, 'object': {" BEAM "}, 'paint': [{'parts': '?', 'stiffness': 0.6}]" TIME PUSH("b")
                       PROBE("b") "}");
    hz[1] = frequency(ctx, &p, "tip.uy", 0.1, 3, &decay[1]);
    end(ctx, &p);
    check_near(hz[1] / hz[0], 0.6, 0.002);
    p = begin(ctx, "{'bough': 1, 'object': {" BEAM "}, 'curves': {'dry': [[1.49, 1], [1.5, 0.6]]}, 'paint': [{'parts': "
                   "'*', 'curve': 'dry', 'damping_ratio': 0.02}]" TIME PUSH("b") PROBE("b") "}");
    hz[2] = frequency(ctx, &p, "tip.uy", 0.1, 1.45, &decay[2]);
    hz[3] = frequency(ctx, &p, "tip.uy", 1.6, 3, &decay[3]);
    end(ctx, &p);
    print_message("%.4f Hz; painted by 0.6: %.4f; by a curve: %.4f then %.4f; decay %.4f, %.4f\n", hz[0], hz[1], hz[2],
                  hz[3], decay[2] / (2 * M_PI * hz[2]), decay[3] / (2 * M_PI * hz[3]));
    check_near(hz[2] / hz[0], 1, 0.005);
    check_near(hz[3] / hz[2], 0.6, 0.005);
    check_near(fabs(decay[0]), 0, 0.02);
    check_near(decay[2] * hz[3] / (decay[3] * hz[2]), 1, 0.05);
    bough_context_destroy(ctx);
}

/* Trees do not feel each other: a copy moves as the object alone does, where it stands. */
static void copies_move_as_one_does(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    play one = begin(ctx, "{'bough': 1, 'object': {" BEAM "}, 'gravity': [0, 0, -3]" TIME PROBE("b") "}");
    play all =
        begin(ctx, "{'bough': 1, 'objects': {'beam': {" BEAM "}}, 'place': [{'object': 'beam', 'copies': [3, 2, 1], "
                   "'spacing': [5, 7, 0]}, {'object': 'beam', 'rotate_deg': [0, 0, 90], 'position': [0, 0, 50]}], "
                   "'gravity': [0, 0, -3]" TIME
                   ", 'probes': [{'name': 'five', 'part': 'beam5/b', 'nearest': [6, 7, 0]}, {'name': 'turned', "
                   "'part': 'beam7/b', 'nearest': [0, 1, 50]}]}");
    for (int i = 0; i < 160; i++) {
        check_ok(ctx, bough_run_step(ctx, one.run));
        check_ok(ctx, bough_run_step(ctx, all.run));
    }
    const double sag = value(&one, "tip.uz");
    check(sag < -0.001);
    check_near(value(&all, "five.uz"), sag, 1e-9);
    check_near(value(&all, "five.ux"), value(&one, "tip.ux"), 1e-9);
    check_near(value(&all, "turned.uz"), sag, 1e-9);
    check_near(value(&all, "turned.uy"), value(&one, "tip.ux"), 1e-9); /* x became y */
    check_near(value(&all, "elastic"), 7 * value(&one, "elastic"), 1e-9 * value(&all, "elastic"));
    end(ctx, &one);
    end(ctx, &all);
    bough_context_destroy(ctx);
}

/* A run that is resumed in the middle of a curve goes on with the same bits. */
static void resuming_keeps_the_paint(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const char *path = write_scene("scene.json", "{'bough': 1, 'object': {" BEAM "}, 'curves': {'dry': [[0, 1], [1, "
                                                 "0.3]]}, 'paint': [{'parts': 'b', 'curve': 'dry', 'damping_ratio': "
                                                 "0.02}], 'gravity': [0, 0, -3]" TIME PROBE("b") "}");
    double straight, resumed;
    bough_run_def def = bough_default_run_def();
    play p = begin_file(ctx, path, &def);
    for (int i = 0; i < 200; i++) {
        if (i == 77)
            check_ok(ctx, bough_run_save(ctx, p.run, test_path("half.state")));
        check_ok(ctx, bough_run_step(ctx, p.run));
    }
    straight = value(&p, "tip.uz");
    end(ctx, &p);
    def.resume = test_path("half.state");
    p = begin_file(ctx, path, &def);
    for (int i = 77; i < 200; i++)
        check_ok(ctx, bough_run_step(ctx, p.run));
    resumed = value(&p, "tip.uz");
    check(straight == resumed);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

static void the_full_engine_knows_no_paint(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    static const char *const entries[] = {"'stiffness': 2", "'damping_ratio': 0.1", "'curve': 'one'"};
    for (int i = 0; i < 3; i++) {
        char text[2000];
        snprintf(text, sizeof text,
                 "{'bough': 1, 'object': {" BEAM "}, 'curves': {'one': [[0, 1]]}, 'paint': [{'parts': 'b', %s}], "
                 "'engine': {'kind': 'full'}" TIME "}",
                 entries[i]);
        bough_scene *scene;
        bough_run *run;
        check_ok(ctx, bough_scene_load(ctx, write_scene("scene.json", text), &scene));
        check_fails(ctx, bough_run_create(ctx, scene, NULL, &run), BOUGH_ERROR_UNSUPPORTED, "knows no \"paint\"");
        bough_scene_destroy(ctx, scene);
    }
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paint_is_seen_in_the_motion),
        cmocka_unit_test(copies_move_as_one_does),
        cmocka_unit_test(resuming_keeps_the_paint),
        cmocka_unit_test(the_full_engine_knows_no_paint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
