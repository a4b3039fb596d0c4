/* One scene serves several runs at the same time, each on a thread and with a context of its own, by all its engines:
 * each has the bits that it would have had alone. */
#include "run/play.h"

#include <pthread.h>

enum { RUNS = 4, STEPS = 20 };

typedef struct {
    const bough_scene *scene;
    const char *engine;
    bough_status status;
    char message[256];
    double values[64];
    int32_t count;
} study;

static void *run_alone(void *data) {
    study *s = data;
    bough_context *ctx = bough_context_create(NULL);
    bough_run *run = NULL;
    bough_run_def def = bough_default_run_def();
    def.engine = s->engine;
    s->status = bough_run_create(ctx, s->scene, &def, &run);
    for (int i = 0; i < STEPS && s->status == BOUGH_OK; i++)
        s->status = bough_run_step(ctx, run);
    if (s->status == BOUGH_OK) {
        s->count = bough_run_column_count(run);
        memcpy(s->values, bough_run_values(run), (size_t)s->count * sizeof *s->values);
    } else
        snprintf(s->message, sizeof s->message, "%s", bough_message(ctx));
    bough_run_destroy(ctx, run);
    bough_context_destroy(ctx);
    return NULL;
}

static void check_together(const char *text, const char *const engines[2]) {
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    study alone[2], together[RUNS];
    pthread_t threads[RUNS];
    check_ok(ctx, bough_scene_load(ctx, write_scene("together.json", text), &scene));
    for (int i = 0; i < RUNS; i++) { /* those that come first cook what the others wait for */
        together[i] = (study){.scene = scene, .engine = engines[i % 2]};
        check_int(pthread_create(&threads[i], NULL, run_alone, &together[i]), 0);
    }
    for (int i = 0; i < RUNS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++) {
        alone[i] = (study){.scene = scene, .engine = engines[i]};
        run_alone(&alone[i]);
    }
    for (int i = 0; i < RUNS; i++) {
        const study *one = &together[i], *other = &alone[i % 2];
        if (one->status != BOUGH_OK || other->status != BOUGH_OK)
            fail_msg("%s: %s%s", one->engine, one->message, other->message);
        check_int(one->count, other->count);
        check(memcmp(one->values, other->values, (size_t)one->count * sizeof *one->values) == 0);
        check(one->values[BOUGH_COLUMN_KINETIC] > 0);
    }
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

static void runs_of_a_body(void **state) {
    (void)state;
    check_together(
        "{'bough': 1, 'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1, 0.1, 0.1], 'cells': [10, 1, 1]},"
        "'curves': {'pulse': [[0, 0], [0.02, 1]]}, 'fix': 'x0', 'gravity': [0, 0, -9.81],"
        "'pressures': [{'faces': 'z1', 'pressure': 100, 'curve': 'pulse'}],"
        "'time': {'dt': 0.002, 'duration': 1}, 'probes': [{'name': 'tip', 'select': 'x1'}]}",
        (const char *const[]){"full", "full"});
}

static void runs_of_parts(void **state) {
    (void)state;
    check_together(
        "{'bough': 1, 'object': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1, 0.1, 0.1], 'cells': "
        "[10, 1, 1]}, 'sets': {'a': {'elements': 'x<0.51'}, 'b': {'elements': 'x>0.49'}}, 'basis': {'r': 8}, "
        "'fix': 'x0'}, 'gravity': [0, 0, -9.81], 'forces': [{'part': 'b', 'nearest': [1, 0, 0], 'force': "
        "[0, 1, 0]}], 'time': {'dt': 0.002, 'duration': 1}, 'probes': [{'name': 'tip', 'part': 'b', 'nearest': "
        "[1, 0, 0]}]}",
        (const char *const[]){"tree", "full"});
}

static void runs_of_a_mechanism(void **state) {
    (void)state;
    check_together("{'bough': 1, 'generate': {'helix': {'links': 12, 'stiffness': 20, 'damping': 0.02}}, 'gravity': "
                   "[0, 0, -9.81], 'time': {'dt': 0.005, 'duration': 1}, 'probes': [{'name': 'tip', 'end_effector': "
                   "'tip'}]}",
                   (const char *const[]){"mechanism", "full"});
}

/* A scene describes itself without being stepped or cooked. */
static void scenes_are_described(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    bough_scene_info info;
    bough_file_info file;
    const char *path = write_scene(
        "wind.json",
        "{'bough': 1, 'object': {'mesh': {'generate': 'box', 'size': [1, 1, 1], 'cells': [2, 1, 1]}, 'sets': {'a': "
        "{'elements': 'x<0.51'}, 'b': {'elements': 'x>0.49'}}, 'fix': 'x0'}, 'gravity': [0, 0, -2], 'wind': "
        "{'velocity': [3, 0, 0]}, 'time': {'dt': 0.125, 'duration': 4}}");
    check(bough_file_look(ctx, path, &file) && !strcmp(file.kind, "parts") && file.complete && file.runs);
    check_ok(ctx, bough_scene_load(ctx, path, &scene));
    bough_scene_describe(ctx, scene, &info);
    check(!strcmp(info.kind, "parts") && !strcmp(info.engine, "tree") && !info.names_engine && info.dt == 0.125);
    check(info.gravity[2] == -2 && info.wind.velocity[0] == 3 && info.duration == 4);
    check_int(info.engine_count, 2);
    check(info.engines[0].suits && info.engines[0].can & BOUGH_CAN_WIND && !info.engines[0].reason[0]);
    check(!info.engines[1].suits && strstr(info.engines[1].reason, "the full engine knows no wind"));
    bough_scene_destroy(ctx, scene);
    check(!bough_file_look(ctx, test_path("nothing.json"), &file));
    check(!bough_file_look(ctx, write_scene("broken.json", "{'bough': "), &file));
    check(
        bough_file_look(ctx, write_scene("component.json", "{'bough': 1, 'mesh': 'a.msh', 'basis': {'r': 2}}"), &file));
    check(!file.complete && !file.runs && !strcmp(file.kind, "body"));
    bough_context_destroy(ctx);
}

/* Whoever makes bent parts stiffer does work on them, and the balance does not change; words are those of the engine. */
static void paint_counts_as_work(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_run_def def = bough_default_run_def();
    def.live = true;
    play p =
        begin_file(ctx,
                   write_scene("bent.json", "{'bough': 1, 'object': {'mesh': {'generate': 'box', 'type': 'hex8', "
                                            "'size': [1, 0.1, 0.1], 'cells': [10, 1, 1]}, 'sets': {'a': {'elements': "
                                            "'x<0.51'}, 'b': {'elements': 'x>0.49'}}, 'basis': {'r': 8}, 'fix': "
                                            "'x0'}, 'gravity': [0, 0, -1], 'settle': true, 'time': {'dt': 0.002}}"),
                   &def);
    const double elastic = value(&p, "elastic"), work = value(&p, "work"), balance = value(&p, "balance");
    check_ok(ctx, bough_run_set_stiffness(ctx, p.run, 0, true, 2));
    check(value(&p, "elastic") > 1.5 * elastic);
    check_near(value(&p, "work") - work, value(&p, "elastic") - elastic, 1e-9 * elastic);
    check_near(value(&p, "balance"), balance, 1e-9 * elastic);
    check_ok(ctx, bough_run_set_coupling(ctx, p.run, "l1"));
    bough_run_report report;
    bough_run_look(p.run, &report);
    check(!strcmp(report.coupling, "L1"));
    check_fails(ctx, bough_run_set_coupling(ctx, p.run, "L9"), BOUGH_ERROR_ARGUMENT, "there is no coupling");
    check_fails(ctx, bough_run_set_continuity(ctx, p.run, "C9"), BOUGH_ERROR_ARGUMENT, "there is no continuity");
    end(ctx, &p);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_of_a_body),       cmocka_unit_test(runs_of_parts),
        cmocka_unit_test(runs_of_a_mechanism),  cmocka_unit_test(scenes_are_described),
        cmocka_unit_test(paint_counts_as_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
