/* Recorded inputs of scenes in which parts touch: a replay ends with the same bits, with any number of threads. */
#include "play.h"

#include "tree/tree.h"

/* A beam of three domains over the ground. Its ends are cut off, fall, rest and fall asleep, until a plate that moves
 * on a track sweeps them away; what is left of it is pressed down by a ball, which is a part. */
#define SCENE(obstacles, more)                                                                                         \
    "{'bough': 1, 'object': {'mesh': {'generate': 'box', 'type': 'hex8', 'origin': [0, 0, 0.3], 'size': [1.5, 0.1, "   \
    "0.1], 'cells': [15, 1, 1]}, 'sets': {'a': {'elements': 'x<0.51'}, 'b': {'elements': 'x>0.49 & x<1.01'}, 'c': "    \
    "{'elements': 'x>0.99'}}, 'material': {'young': 2e6, 'poisson': 0.3, 'density': 1000}, 'damping': {'mass': 1, "    \
    "'stiffness': 0.01}, 'basis': {'r': 10}, 'samples': {'contact': 40, 'wind': 8}, 'fix': 'x0'}, 'gravity': [0, 0, "  \
    "-9.81], 'time': {'integrator': 'hht', 'dt': 0.01, 'duration': 3}, 'wind': {'velocity': [2, 3, 0]}, 'contact': "   \
    "{'rest_speed': 0.1, 'rest_time': 0.2, 'between': true}, 'obstacles': [{'name': 'ground', 'shape': {'plane': "     \
    "true}, 'friction': 0.6}, {'name': 'broom', 'shape': {'box': [0.1, 2, 0.4]}, 'track': [{'time': 1.6, 'position': " \
    "[2.2, 0, 0.25]}, {'time': 3, 'position': [1.2, 0, 0.25]}]}" obstacles "], 'events': [{'time': 0.1234, 'detach': " \
    "'c'}, {'time': 0.5, 'detach': 'b'}]" more "}"

typedef struct {
    size_t size;
    unsigned char *bytes;
} snapshot;

static snapshot snap(const bough_tree_model *model, const bough_tree_state *state) {
    snapshot s = {.size = bough_tree_state_snapshot_size(model, state)};
    s.bytes = malloc(s.size);
    bough_tree_state_save(model, state, s.bytes);
    return s;
}

/* The scene, and the recording of a run of it. */
static snapshot record(bough_context *ctx, const char *text, const char *path, int *asleep) {
    bough_run_def def = bough_default_run_def();
    const bough_tree_model *model;
    const bough_tree_state *state;
    def.inputs = path;
    play p = begin_file(ctx, write_scene("touching.json", text), &def);
    check(bough_run_model(p.run, &model, &state));
    for (bool done = false; !done;) {
        bough_run_report report;
        check_ok(ctx, bough_run_step(ctx, p.run));
        int now = 0;
        for (int32_t i = 0; i < bough_tree_model_part_count(model); i++)
            now += bough_tree_state_parts(model, state)[i].asleep;
        *asleep = now > *asleep ? now : *asleep;
        bough_run_look(p.run, &report);
        done = report.steps == report.step_count;
    }
    check_ok(ctx, bough_run_advance(ctx, p.run)); /* finishes the recording */
    const snapshot end_of_run = snap(model, state);
    end(ctx, &p);
    return end_of_run;
}

static bough_status replay(bough_context *ctx, const bough_scene *scene, const char *path, bool touch, snapshot *at,
                           bool *same) {
    bough_tree_model *model;
    bough_tree_state *state;
    bough_tree_log *log;
    check_ok(ctx, bough_scene_model(ctx, scene, &model));
    check_ok(ctx, bough_tree_state_create(ctx, model, &state));
    if (touch)
        check_ok(ctx, bough_scene_touch(ctx, scene, model, state));
    check_ok(ctx, bough_tree_log_load(ctx, path, &log));
    const bough_status status = bough_tree_log_replay(ctx, model, state, log, NULL, NULL, same);
    *at = snap(model, state);
    bough_tree_log_destroy(ctx, log);
    bough_tree_state_destroy(ctx, state);
    bough_tree_model_destroy(ctx, model);
    return status;
}

/* Cuts, trees that fall asleep and are woken, an obstacle on a track, parts that touch each other. */
static void replays_of_contact_end_with_the_same_bits(void **unused) {
    (void)unused;
    char path[200];
    snprintf(path, sizeof path, "%s", test_path("touching.log"));
    bough_context *ctx = test_context(1);
    int asleep = 0;
    const snapshot recorded = record(ctx, SCENE("", ""), path, &asleep);
    check_int(asleep, 2);
    for (int threads = 1; threads <= 3; threads += 2) {
        bough_context *other = test_context(threads);
        bough_scene *scene;
        snapshot again;
        bool same = false;
        check_ok(other, bough_scene_load(other, test_path("touching.json"), &scene));
        check_ok(other, replay(other, scene, path, true, &again, &same));
        check(same && again.size == recorded.size && memcmp(again.bytes, recorded.bytes, again.size) == 0);
        free(again.bytes);
        bough_scene_destroy(other, scene);
        bough_context_destroy(other);
    }
    free(recorded.bytes);
    bough_context_destroy(ctx);
}

/* A recording does not hold the obstacles: a replay must have the same. */
static void replays_ask_for_the_same_obstacles(void **unused) {
    (void)unused;
    static const char *const others[] = {
        SCENE(", {'name': 'post', 'shape': {'sphere': 0.1}, 'position': [5, 5, 5]}", ""), SCENE("", "")};
    char path[200];
    snprintf(path, sizeof path, "%s", test_path("touching.log"));
    bough_context *ctx = test_context(1);
    for (int k = 0; k < 2; k++) {
        bough_scene *scene;
        snapshot at;
        bool same = true;
        check_ok(ctx, bough_scene_load(ctx, write_scene("touching.json", others[k]), &scene));
        check_fails(ctx, replay(ctx, scene, path, k == 0, &at, &same), BOUGH_ERROR_ARGUMENT, "touches other things");
        check(!same);
        free(at.bytes);
        bough_scene_destroy(ctx, scene);
    }
    bough_context_destroy(ctx);
}

static void what_is_touched_stays_while_it_is_recorded(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    bough_tree_model *model;
    bough_tree_state *state;
    bough_tree_log *log;
    check_ok(ctx, bough_scene_load(ctx, write_scene("touching.json", SCENE("", "")), &scene));
    check_ok(ctx, bough_scene_model(ctx, scene, &model));
    check_ok(ctx, bough_tree_state_create(ctx, model, &state));
    check_ok(ctx, bough_tree_log_start(ctx, model, state, &log));
    check_fails(ctx, bough_scene_touch(ctx, scene, model, state), BOUGH_ERROR_ARGUMENT, "while the state is recorded");
    bough_tree_log_destroy(ctx, log);
    check_ok(ctx, bough_scene_touch(ctx, scene, model, state));
    bough_tree_state_destroy(ctx, state);
    bough_tree_model_destroy(ctx, model);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(replays_of_contact_end_with_the_same_bits),
                                       cmocka_unit_test(replays_ask_for_the_same_obstacles),
                                       cmocka_unit_test(what_is_touched_stays_while_it_is_recorded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
