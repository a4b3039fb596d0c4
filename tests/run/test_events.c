/* Runs of scenes whose parts change on the way: at times, and where the stress becomes too much for them. */
#include "run/play.h"

#include "run/run.h"

/* A beam of three domains along x, held at x = 0. */
#define CHAIN(more)                                                                                              \
    "{'bough': 1, 'object': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1.5, 0.1, 0.1], 'cells': "     \
    "[15, 1, 1]}, 'sets': {'a': {'elements': 'x<0.51'}, 'b': {'elements': 'x>0.49 & x<1.01'}, 'c': "             \
    "{'elements': 'x>0.99'}}, 'material': {'young': 2e6, 'poisson': 0.3, 'density': 1000}, 'basis': {'r': 12}, " \
    "'samples': {'contact': 0, 'wind': 8}, 'fix': 'x0'}, 'time': {'integrator': 'hht', 'dt': 0.01, 'duration': " \
    "0.4}, 'gravity': [0, 0, -3], 'probes': [{'name': 'tip', 'part': 'c', 'nearest': [1.5, 0, 0]}, {'name': "    \
    "'joint', 'part': 'c'}, {'name': 'most', 'part': 'c', 'stress': 'max'}]" more "}"

static play begin(bough_context *ctx, const char *text, const bough_run_def *def) {
    return begin_file(ctx, write_scene("scene.json", text), def);
}

static void step(bough_context *ctx, play *p, int count) {
    for (int i = 0; i < count; i++)
        check_ok(ctx, bough_run_step(ctx, p->run));
}

/* From the time of the cut, which is not one of the steps', the centre of mass of what was cut off falls freely. */
static void what_is_cut_falls_from_then_on(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    play p = begin(ctx, CHAIN(", 'events': [{'time': 0.1234, 'detach': 'c'}]"), NULL);
    const bough_model *model;
    const bough_state *state;
    check(bough_run_tree(p.run, &model, &state));
    const int32_t c = bough_model_find_part(model, "c");
    step(ctx, &p, 12);
    check_int(state->root_count, 0);
    step(ctx, &p, 1);
    check_int(state->root_count, 1);
    check_near(state->time, 0.13, 1e-12);
    const bough_root start = state->roots[0];
    check_int(start.part, c);
    step(ctx, &p, 20);
    const double t = 0.2, fall = start.momentum[2] / start.mass * t - 0.5 * 3 * t * t;
    /* centres of mass are where coordinates and frame are after a step, momenta are exact */
    check_near(state->roots[0].centre[2], start.centre[2] + fall, 2e-4);
    check_near(state->roots[0].momentum[2], start.momentum[2] - 3 * start.mass * t, 1e-12 * start.mass);
    int32_t count;
    const bough_run_change *changes = bough_run_changes(p.run, &count);
    check_int(count, 1);
    check(!strcmp(changes[0].change, "detach") && !strcmp(changes[0].name, "c") && changes[0].part == c);
    check_near(changes[0].time, 0.1234, 1e-12);
    /* 0.1234 and no other time: the momentum that gravity has given since then, without the support's */
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* Steps of any size see an event at its time: what follows agrees as steps become small. */
static void events_happen_at_their_times(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    double at[3];
    for (int k = 0; k < 3; k++) {
        bough_run_def def = bough_default_run_def();
        def.dt = k == 0 ? 0.01 : k == 1 ? 0.0077 : 0.0004, def.duration = 0.308;
        play p = begin(ctx, CHAIN(", 'events': [{'time': 0.205, 'detach': 'c'}, {'time': 0.1, 'lock': 'b'}]"), &def);
        const bough_model *model;
        const bough_state *state;
        check_ok(ctx, bough_run_advance(ctx, p.run));
        check(bough_run_tree(p.run, &model, &state));
        /* all after the cut by the weight alone */
        at[k] = state->roots[0].momentum[2] / state->roots[0].mass + 3 * (state->time - 0.205);
        print_message("dt %g: at the cut the centre moves at %.6f m/s\n", def.dt, at[k]);
        end(ctx, &p);
    }
    check(fabs(at[2]) > 0.2);
    /* a change keeps the accelerations of the step before it: of first order in the step */
    check_near(at[0], at[2], 0.03 * fabs(at[2]));
    check_near(at[1], at[2], 0.03 * fabs(at[2]));
    bough_context_destroy(ctx);
}

#define BREAKING                                                                                                  \
    ", 'break': [{'parts': '*', 'stress': 1e9}, {'parts': 'c', 'stress': 900, 'lock': true}, {'component': 'b', " \
    "'stress': 9000}], 'events': [{'time': 0.3, 'reattach': 'b'}], 'remove_below': -0.2"

/* The first step after which the stress is above the strength is the one that breaks the part off, and no earlier. */
static void parts_break_where_the_stress_passes_their_strength(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    play whole = begin(ctx, CHAIN(""), NULL), p = begin(ctx, CHAIN(BREAKING), NULL);
    const bough_model *model;
    const bough_state *state;
    check(bough_run_tree(p.run, &model, &state));
    int broken_at = 0;
    for (int i = 1; i <= 20 && !broken_at; i++) {
        step(ctx, &whole, 1);
        step(ctx, &p, 1);
        if (value(&whole, "most.von_mises") > 900)
            broken_at = i;
        check_int(state->root_count > 0, broken_at > 0);
    }
    int32_t count;
    const bough_run_change *changes = bough_run_changes(p.run, &count);
    check_int(count, 1);
    check(!strcmp(changes[0].change, "break") && !strcmp(changes[0].name, "c"));
    check_near(changes[0].time, 0.01 * broken_at, 1e-12);
    check_near(changes[0].stress, value(&whole, "most.von_mises"), 1e-9 * changes[0].stress);
    check(bough_state_parts(model, state)[changes[0].part].locked);
    /* nothing is gained or lost in that instant but by the lock, which can only take energy */
    for (int d = 0; d < 3; d++)
        check_near(bough_run_values(p.run)[BOUGH_COLUMN_MOMENTUM + d],
                   bough_run_values(whole.run)[BOUGH_COLUMN_MOMENTUM + d], 1e-9);
    check(value(&p, "total") <= value(&whole, "total") + 1e-12);
    /* what has sunk below is gone, and its probes are blank */
    while (bough_run_values(p.run)[BOUGH_COLUMN_TIME] < 0.395) {
        step(ctx, &p, 1);
        const bool there = !bough_state_parts(model, state)[changes[0].part].absent;
        check(isnan(value(&p, "tip.x")) == !there && isnan(value(&p, "most.von_mises")) == !there);
        check(!there || state->roots[0].centre[2] >= -0.2);
        changes = bough_run_changes(p.run, &count);
    }
    check_int(count, 3); /* b goes back to where it is already */
    check(!strcmp(changes[2].change, "remove") && changes[2].part == changes[0].part);
    check_int(state->root_count, 0);
    const bough_mesh *mesh = bough_run_mesh(p.run);
    const double *u = bough_run_displacement(p.run);
    check(u != NULL);
    const int32_t first = bough_model_first_vertex(model, changes[0].part);
    for (int d = 0; d < 3; d++) /* all in one point */
        check_near(mesh->vertices[3 * first + d] + u[3 * first + d],
                   mesh->vertices[3 * first + 3 + d] + u[3 * first + 3 + d], 1e-12);
    end(ctx, &whole);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

static size_t read_all(const char *path, char *text, size_t size) {
    FILE *f = fopen(path, "rb");
    check(f != NULL);
    size = fread(text, 1, size - 1, f);
    text[size] = 0;
    fclose(f);
    return size;
}

/* A checkpoint at any step, resumed by another run: the same bits, and the same table of changes. */
static void resuming_keeps_the_bits_across_changes(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const char *text =
        CHAIN(BREAKING ", 'wind': {'velocity': [0, 4, 0], 'curve': 'up'}, 'curves': {'up': [[0, 0], [0.2, 1]]}");
    char straight[4000], resumed[4000], csv[200], state_path[200];
    snprintf(csv, sizeof csv, "%s", test_path("changes.csv"));
    snprintf(state_path, sizeof state_path, "%s", test_path("run.state"));
    bough_run_def def = bough_default_run_def();
    def.changes = csv;
    play p = begin(ctx, text, &def);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    const int64_t size = p.run->engine.state_size(p.run->engine.data);
    double *want = malloc((size_t)size * sizeof *want), *have = malloc((size_t)size * sizeof *have);
    p.run->engine.save(p.run->engine.data, want);
    end(ctx, &p);
    check(read_all(csv, straight, sizeof straight) > 60);
    for (int at = 3; at < 40; at += 6) {
        def.resume = NULL;
        p = begin(ctx, text, &def);
        step(ctx, &p, at);
        check_ok(ctx, bough_run_save(ctx, p.run, state_path));
        if (at % 4 == 3) /* rows after the checkpoint are made anew */
            step(ctx, &p, 5);
        end(ctx, &p);
        def.resume = state_path;
        p = begin_file(ctx, test_path("scene.json"), &def);
        check_ok(ctx, bough_run_advance(ctx, p.run));
        check_int(p.run->engine.state_size(p.run->engine.data), size);
        p.run->engine.save(p.run->engine.data, have);
        check(memcmp(want, have, (size_t)size * sizeof *have) == 0);
        end(ctx, &p);
        read_all(csv, resumed, sizeof resumed);
        check(!strcmp(straight, resumed));
    }
    /* one run goes there and back */
    def.resume = NULL, def.changes = NULL;
    p = begin_file(ctx, test_path("scene.json"), &def);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    check_ok(ctx, bough_run_restore(ctx, p.run, state_path));
    check_ok(ctx, bough_run_advance(ctx, p.run));
    p.run->engine.save(p.run->engine.data, have);
    check(memcmp(want, have, (size_t)size * sizeof *have) == 0);
    end(ctx, &p);
    free(want), free(have);
    bough_context_destroy(ctx);
}

/* An engine that refuses every ninth step, whatever happened in it. */
static bough_status (*true_measure)(void *data, double t, double *values);
static int measured;
static bough_status refuse_some(void *data, double t, double *values) {
    return measured++ % 9 == 3 ? BOUGH_NOT_FINITE : true_measure(data, t, values);
}

/* A step that is taken back has broken nothing: each part breaks once, and what is told is what is. */
static void steps_that_are_taken_back_break_nothing(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    play p = begin(ctx, CHAIN(BREAKING), NULL);
    const bough_model *model;
    const bough_state *state;
    check(bough_run_tree(p.run, &model, &state));
    true_measure = p.run->engine.measure, measured = 0;
    p.run->engine.measure = refuse_some;
    step(ctx, &p, 40);
    check(p.run->place.retries > 5);
    int32_t count, broken = 0, back = 0;
    const bough_run_change *changes = bough_run_changes(p.run, &count);
    for (int32_t i = 0; i < count; i++) {
        check(i == 0 || changes[i].time >= changes[i - 1].time);
        broken += !strcmp(changes[i].change, "break") && !strcmp(changes[i].name, "c");
        back += !strcmp(changes[i].change, "reattach");
    }
    check_int(broken, 1);
    check_int(back, 1);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* The gusts of a wind that follows a curve are carried as far as its mean has gone: at twice the mean and half the time
 * they are the same. */
static void gusts_are_carried_by_the_mean_as_it_was(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    bough_run_def def = bough_default_run_def();
    def.dt = 0.01, def.duration = 0.4;
    play p = begin(
        ctx,
        CHAIN(", 'wind': {'velocity': [0, 2, 0], 'curve': 'up'}, 'curves': {'up': [[0, 1], [0.2, 1], [0.2001, 2]]}"),
        &def);
    const bough_model *model;
    const bough_state *state;
    check(bough_run_tree(p.run, &model, &state));
    step(ctx, &p, 40); /* the wind is that of the start of the last step, at 0.39 s */
    const double place[3] = {0.3, 0.2, 0.1};
    double now[3], then[3];
    bough_wind_at(&state->wind, 0.39, place, now);
    bough_wind steady = state->wind;
    steady.lead = 0;
    bough_wind_at(&steady, 0.1 + 0.19, place, then); /* 0.2 s at half of it */
    for (int d = 0; d < 3; d++)
        check_near(now[d], then[d], 2e-3);
    check_near(state->wind.velocity[1], 4, 1e-12);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* What was absent is added, flies, hangs again; parts that are gone are left out of what was planned for them. */
static void parts_come_and_go(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    play p = begin(ctx,
                   "{'bough': 1, 'components': {'arm': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1, 0.1, "
                   "0.1], 'cells': [6, 1, 1]}, 'basis': {'r': 5}, 'material': {'young': 1e6, 'poisson': 0.3, "
                   "'density': 500}, 'interfaces': {'base': {'select': 'x0'}, 'tip': {'select': 'x1'}}}}, 'parts': "
                   "[{'name': 'a', 'component': 'arm'}, {'name': 'b', 'component': 'arm', 'parent': 'a'}, {'name': "
                   "'x', 'component': 'arm', 'absent': true, 'position': [0, 3, 0]}], 'forces': [{'part': 'x', "
                   "'force': [0, 0, 1]}], 'probes': [{'name': 'x', 'part': 'x'}, {'name': 'b', 'part': 'b'}], 'time': "
                   "{'dt': 0.01, 'duration': 1}, 'events': [{'time': 0.3, 'remove': 'b'}, {'time': 0.05, 'add': 'x', "
                   "'position': [0, 2, 1], 'rotate_deg': [0, 0, 90]}, {'time': 0.1, 'detach': 'x'}, {'time': 0.2, "
                   "'attach': 'x', 'parent': 'a', 'interface': 'tip'}, {'time': 0.35, 'detach': '*'}, {'time': 0, "
                   "'lock': 'a'}, {'time': 0.25, 'unlock': '?'}]}",
                   NULL);
    const bough_model *model;
    const bough_state *state;
    check(bough_run_tree(p.run, &model, &state));
    check(isnan(value(&p, "x.x")) && bough_state_parts(model, state)[0].locked);
    step(ctx, &p, 5);
    check_near(value(&p, "x.y"), 2, 1e-12);
    check_near(value(&p, "x.uy"), -1, 1e-12);
    step(ctx, &p, 10);
    check_int(state->root_count, 1);
    check(value(&p, "x.vz") > 0); /* the force on it */
    step(ctx, &p, 7);
    check_int(state->root_count, 0);
    check_int(bough_state_parts(model, state)[2].parent, 0);
    step(ctx, &p, 12);
    check(isnan(value(&p, "b.x")) && !bough_state_parts(model, state)[0].locked);
    step(ctx, &p, 5);
    check_int(state->root_count, 2); /* of a and x; b is gone */
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* What an event does not say of where a root comes is as the scene has it. */
static void what_is_added_stands_as_the_scene_has_it(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    play p = begin(ctx,
                   "{'bough': 1, 'components': {'arm': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1, 0.1, "
                   "0.1], 'cells': [6, 1, 1]}, 'basis': {'r': 5}, 'material': {'young': 1e6, 'poisson': 0.3, "
                   "'density': 500}, 'interfaces': {'base': {'select': 'x0'}, 'tip': {'select': 'x1'}}}}, 'parts': "
                   "[{'name': 'x', 'component': 'arm', 'absent': true, 'position': [0, 3, 0], 'rotate_deg': [0, 0, "
                   "90]}, {'name': 'y', 'component': 'arm', 'absent': true, 'position': [0, 3, 0], 'rotate_deg': [0, "
                   "0, 90]}], 'time': {'dt': 0.01, 'duration': 1}, 'events': [{'time': 0.01, 'add': 'x', 'position': "
                   "[5, 0, 0]}, {'time': 0.01, 'add': 'y', 'rotate_deg': [90, 0, 0]}]}",
                   NULL);
    const bough_model *model;
    const bough_state *state;
    check(bough_run_tree(p.run, &model, &state));
    step(ctx, &p, 2);
    const double upright[9] = {0, -1, 0, 1, 0, 0, 0, 0, 1}, tilted[9] = {1, 0, 0, 0, 0, -1, 0, 1, 0};
    check(state->frames[0].origin[0] == 5 && state->frames[0].origin[1] == 0);
    check(state->frames[1].origin[0] == 0 && state->frames[1].origin[1] == 3);
    for (int k = 0; k < 9; k++) {
        check_near(state->frames[0].rotation[k], upright[k], 1e-12);
        check_near(state->frames[1].rotation[k], tilted[k], 1e-12);
    }
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* Rows of a frame each, also where frames are shorter than steps, which have one row each then. */
static void rows_go_on_from_a_checkpoint(void **unused) {
    (void)unused;
    static const double fps[] = {30, 100, 150, 250};
    static char whole[1 << 16], parts[1 << 16];
    bough_context *ctx = test_context(1);
    for (int k = 0; k < 4; k++) {
        for (int piece = 0; piece < 3; piece++) {
            bough_run_def def = bough_default_run_def();
            char path[512], checkpoint[512];
            snprintf(path, sizeof path, "%s", test_path(piece ? "parts.npy" : "whole.npy"));
            snprintf(checkpoint, sizeof checkpoint, "%s", test_path("half.state"));
            def.fps = fps[k], def.stresses = path;
            def.duration = piece == 1 ? 0.17 : 0.4;
            def.checkpoint = piece == 1 ? checkpoint : NULL, def.resume = piece == 2 ? checkpoint : NULL;
            play p = begin(ctx, CHAIN(BREAKING), &def);
            check_ok(ctx, bough_run_advance(ctx, p.run));
            end(ctx, &p);
        }
        const size_t size = read_all(test_path("whole.npy"), whole, sizeof whole);
        check(size > 128 && size == read_all(test_path("parts.npy"), parts, sizeof parts));
        check(memcmp(whole, parts, size) == 0);
    }
    bough_context_destroy(ctx);
}

/* Nothing is told before it has happened, whatever rounding does to times: a table that is continued from a checkpoint
 * keeps what happened up to then. */
static void what_happens_is_not_later_than_the_run(void **unused) {
    (void)unused;
    char text[8192];
    int used = snprintf(text, sizeof text, "%s", CHAIN(", 'events': ["));
    used -= (int)strlen("}");
    for (int k = 1; k <= 40; k++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s{'time': %.17g, '%s': 'c'}", k > 1 ? ", " : "",
                         0.01 * k * (1 + (k % 3 - 1) * 1e-15), k % 2 ? "lock" : "unlock");
    snprintf(text + used, sizeof text - (size_t)used, "]}");
    bough_context *ctx = test_context(1);
    play p = begin(ctx, text, NULL);
    for (int k = 1; k <= 40; k++) {
        int32_t count;
        step(ctx, &p, 1);
        const bough_run_change *changes = bough_run_changes(p.run, &count);
        check_int(count, k);
        check(changes[k - 1].time <= value(&p, "time"));
        check_near(changes[k - 1].time, 0.01 * k, 1e-12);
    }
    end(ctx, &p);
    bough_context_destroy(ctx);
}

static void failed_allocations_leak_nothing(void **unused) {
    (void)unused;
    test_memory memory = {.fail_at = -1};
    bough_context *ctx = test_counting_context(&memory);
    play p = begin(ctx, CHAIN(BREAKING), NULL); /* cooked */
    step(ctx, &p, 40);
    end(ctx, &p);
    bough_context_destroy(ctx);
    check_int(memory.live, 0);
    for (long fail = 0;; fail += 1 + fail / 7) {
        memory = (test_memory){.fail_at = -1};
        ctx = test_counting_context(&memory);
        bough_scene *scene = NULL;
        bough_run *run = NULL;
        check_ok(ctx, bough_scene_load(ctx, test_path("scene.json"), &scene));
        check_ok(ctx, bough_run_create(ctx, scene, NULL, &run));
        memory.calls = 0, memory.fail_at = fail;
        bough_status status = BOUGH_OK;
        for (int i = 0; i < 40 && status == BOUGH_OK; i++)
            status = bough_run_step(ctx, run);
        const bool done = memory.calls <= fail;
        check(status == BOUGH_OK || status == BOUGH_ERROR_MEMORY);
        check(!done || status == BOUGH_OK);
        bough_run_destroy(ctx, run);
        bough_scene_destroy(ctx, scene);
        bough_context_destroy(ctx);
        check_int(memory.live, 0);
        if (done)
            break;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_cut_falls_from_then_on),
        cmocka_unit_test(events_happen_at_their_times),
        cmocka_unit_test(parts_break_where_the_stress_passes_their_strength),
        cmocka_unit_test(resuming_keeps_the_bits_across_changes),
        cmocka_unit_test(steps_that_are_taken_back_break_nothing),
        cmocka_unit_test(gusts_are_carried_by_the_mean_as_it_was),
        cmocka_unit_test(parts_come_and_go),
        cmocka_unit_test(what_is_added_stands_as_the_scene_has_it),
        cmocka_unit_test(what_happens_is_not_later_than_the_run),
        cmocka_unit_test(rows_go_on_from_a_checkpoint),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
