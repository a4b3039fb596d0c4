/* Runs of scenes whose parts and ties change on the way: at times, and where they bear too much. */
#include "run/play.h"

#include "run/run.h"
#include "tree/tree.h"

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

/* A hexagon that flies and spins, closed by a tie; its ends are at the world's origin. */
#define ARM(number, parent)                                                                                           \
    ", {'name': 's" #number "', 'component': 'arm', 'parent': 's" #parent "', 'interface': 'tip', 'rotate_deg': [0, " \
    "0, 60]}"
#define RING_OF(ties, more)                                                                                            \
    "{'bough': 1, 'components': {'arm': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1, 0.1, 0.1], 'origin'"  \
    ": [0, -0.05, -0.05], 'cells': [6, 1, 1]}, 'basis': {'r': 9}, 'material': {'young': 2e7, 'poisson': 0.3, "         \
    "'density': 1000}, 'samples': {'wind': 0, 'contact': 0}, 'interfaces': {'base': {'select': 'x0'}, 'tip': "         \
    "{'select': 'x1'}}}}, 'parts': [{'name': 's1', 'component': 'arm', 'flies': true, 'angular_velocity': [0, 0, 3], " \
    "'velocity': [0.5, 0, 1]}" ARM(2, 1) ARM(3, 2) ARM(4, 3) ARM(5, 4)                                                 \
        ARM(6, 5) "], 'time': {'dt': 0.01, "                                                                           \
                  "'duration': 0.4}, 'probes': [{'name': 'head', 'part': 's1', 'nearest': [0, 0, 0]}, {'name': "       \
                  "'tail', 'part': "                                                                                   \
                  "'s6', 'nearest': [0, 0, 0]}]" ties more "}"
#define RING(more)                                                                                                    \
    RING_OF(", 'ties': [{'name': 'closure', 'parts': ['s6', 's1'], 'interfaces': ['tip', 'base'], 'stiffness': 1e6, " \
            "'damping': 100, 'turning_stiffness': 1e4, 'turning_damping': 1}]",                                       \
            more)
#define CUTTING                                                                                                       \
    ", 'break': [{'ties': '*', 'force': 1}, {'ties': 'clos*', 'force': 300}], 'events': [{'time': 0.3, 'cut_tie': "   \
    "'*'}, {'time': 0.07, 'cut_tie': 'closure'}, {'time': 0.0734, 'join_tie': 'closure'}, {'time': 0.2, 'cut_tie': "  \
    "'closure'}, {'time': 0.2, 'join_tie': '*'}, {'time': 0.25, 'join_tie': 'closure'}, {'time': 0.315, 'join_tie': " \
    "'closure'}, {'time': 0.4, 'cut_tie': 'closure'}]"

static void step(bough_context *ctx, play *p, int count) {
    for (int i = 0; i < count; i++)
        check_ok(ctx, bough_run_step(ctx, p->run));
}

/* From the time of the cut, which is not one of the steps', the centre of mass of what was cut off falls freely. */
static void what_is_cut_falls_from_then_on(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    play p = begin(ctx, CHAIN(", 'events': [{'time': 0.1234, 'detach': 'c'}]"), NULL);
    const bough_tree_model *model;
    const bough_tree_state *state;
    check(bough_run_model(p.run, &model, &state));
    const int32_t c = bough_tree_model_find_part(model, "c");
    step(ctx, &p, 12);
    check_int(state->root_count, 0);
    step(ctx, &p, 1);
    check_int(state->root_count, 1);
    check_near(state->time, 0.13, 1e-12);
    const bough_tree_root start = state->roots[0];
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
        const bough_tree_model *model;
        const bough_tree_state *state;
        check_ok(ctx, bough_run_advance(ctx, p.run));
        check(bough_run_model(p.run, &model, &state));
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
    const bough_tree_model *model;
    const bough_tree_state *state;
    check(bough_run_model(p.run, &model, &state));
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
    check_near(changes[0].stress, value(&whole, "most.von_mises"), 1e-11 * changes[0].stress);
    check(bough_tree_state_parts(model, state)[changes[0].part].locked);
    /* nothing is gained or lost in that instant but by the lock, which can only take energy */
    for (int d = 0; d < 3; d++)
        check_near(bough_run_values(p.run)[BOUGH_COLUMN_MOMENTUM + d],
                   bough_run_values(whole.run)[BOUGH_COLUMN_MOMENTUM + d], 1e-9);
    check(value(&p, "total") <= value(&whole, "total") + 1e-12);
    /* what has sunk below is gone, and its probes are blank */
    while (bough_run_values(p.run)[BOUGH_COLUMN_TIME] < 0.395) {
        step(ctx, &p, 1);
        const bool there = !bough_tree_state_parts(model, state)[changes[0].part].absent;
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
    const int32_t first = bough_tree_model_first_vertex(model, changes[0].part);
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
static void check_resuming(const char *text) {
    bough_context *ctx = test_context(1);
    char straight[4000], resumed[4000], csv[200], state_path[200];
    snprintf(csv, sizeof csv, "%s", test_path("changes.csv"));
    snprintf(state_path, sizeof state_path, "%s", test_path("run.state"));
    bough_run_def def = bough_default_run_def();
    def.changes = csv;
    play p = begin(ctx, text, &def);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    const int64_t size = p.run->engine.kind->state_size(p.run->engine.data);
    double *want = malloc((size_t)size * sizeof *want), *have = malloc((size_t)size * sizeof *have);
    p.run->engine.kind->save(p.run->engine.data, want);
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
        check_int(p.run->engine.kind->state_size(p.run->engine.data), size);
        p.run->engine.kind->save(p.run->engine.data, have);
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
    p.run->engine.kind->save(p.run->engine.data, have);
    check(memcmp(want, have, (size_t)size * sizeof *have) == 0);
    end(ctx, &p);
    free(want), free(have);
    bough_context_destroy(ctx);
}

static void resuming_keeps_the_bits_across_changes(void **unused) {
    (void)unused;
    check_resuming(
        CHAIN(BREAKING ", 'wind': {'velocity': [0, 4, 0], 'curve': 'up'}, 'curves': {'up': [[0, 0], [0.2, 1]]}"));
    check_resuming(RING(CUTTING));
}

/* Also what an event at the very end has done is in the recording. */
static void replaying_gives_the_same_bits_across_cut_ties(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    char path[200];
    snprintf(path, sizeof path, "%s", test_path("inputs.log"));
    bough_run_def def = bough_default_run_def();
    def.inputs = path;
    play p = begin(ctx,
                   RING(", 'events': [{'time': 0.1234, 'cut_tie': '*'}, {'time': 0.13, 'join_tie': '*'}, {'time': 0.4, "
                        "'cut_tie': '*'}]"),
                   &def);
    const bough_tree_model *model;
    const bough_tree_state *state;
    bough_tree_state *again;
    bough_tree_log *log;
    bool same = false;
    check(bough_run_model(p.run, &model, &state));
    check_ok(ctx, bough_run_advance(ctx, p.run));
    check(state->tie_strength[0] == 0); /* by the last event */
    check_ok(ctx, bough_tree_log_load(ctx, path, &log));
    check_ok(ctx, bough_tree_state_create(ctx, model, &again));
    check_ok(ctx, bough_tree_log_replay(ctx, model, again, log, NULL, NULL, &same));
    check(same && again->tie_strength[0] == 0);
    check_int(memcmp(again->q, state->q, (size_t)bough_tree_model_size(model) * sizeof *again->q), 0);
    bough_tree_state_destroy(ctx, again);
    bough_tree_log_destroy(ctx, log);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* An engine that refuses every ninth step, whatever happened in it. */
static bough_status (*true_measure)(void *data, double t, double *values);
static int measured;
static bough_status refuse_some(void *data, double t, double *values) {
    return measured++ % 9 == 3 ? BOUGH_NOT_FINITE : true_measure(data, t, values);
}

static play play_with_refusals(bough_context *ctx, const char *text) {
    play p = begin(ctx, text, NULL);
    static bo_engine_kind refusing; /* the same engine, but for this */
    refusing = *p.run->engine.kind;
    true_measure = refusing.measure, measured = 0;
    refusing.measure = refuse_some;
    p.run->engine.kind = &refusing;
    step(ctx, &p, 40);
    check(p.run->place.retries > 5);
    return p;
}

/* A step that is taken back has broken nothing: each part breaks once, and what is told is what is. */
static void steps_that_are_taken_back_break_nothing(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    play p = play_with_refusals(ctx, CHAIN(BREAKING));
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
    const bough_tree_model *model;
    const bough_tree_state *state;
    check(bough_run_model(p.run, &model, &state));
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

/* A curve is a factor on all of the velocity: twice the wind along an axis moves as that wind does. */
static void a_wind_curve_scales_every_axis(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    static const char *const columns[] = {"tip.ux", "tip.uy", "tip.uz", "tip.vx", "tip.vy", "tip.vz"};
    static const char *const winds[3][2] = {
        {CHAIN(", 'wind': {'velocity': [9, 0, 0], 'curve': 'c'}, 'curves': {'c': [[0, 2]]}"),
         CHAIN(", 'wind': {'velocity': [18, 0, 0]}")},
        {CHAIN(", 'wind': {'velocity': [0, 9, 0], 'curve': 'c'}, 'curves': {'c': [[0, 2]]}"),
         CHAIN(", 'wind': {'velocity': [0, 18, 0]}")},
        {CHAIN(", 'wind': {'velocity': [0, 0, 9], 'curve': 'c'}, 'curves': {'c': [[0, 2]]}"),
         CHAIN(", 'wind': {'velocity': [0, 0, 18]}")}};
    play calm = begin(ctx, CHAIN(""), NULL);
    step(ctx, &calm, 10);
    for (int axis = 0; axis < 3; axis++) {
        play by_curve = begin(ctx, winds[axis][0], NULL), plain = begin(ctx, winds[axis][1], NULL);
        double moved = 0;
        step(ctx, &by_curve, 10);
        step(ctx, &plain, 10);
        for (size_t i = 0; i < 6; i++) {
            check_near(value(&by_curve, columns[i]), value(&plain, columns[i]), 1e-12);
            moved = fmax(moved, fabs(value(&plain, columns[i]) - value(&calm, columns[i])));
        }
        check(moved > 1e-4);
        end(ctx, &by_curve);
        end(ctx, &plain);
    }
    end(ctx, &calm);
    bough_context_destroy(ctx);
}

/* A part that was absent is added, flies, hangs again; events leave out parts that are gone. */
static void parts_come_and_go(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    play p =
        begin(ctx,
              "{'bough': 1, 'components': {'arm': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1, 0.1, "
              "0.1], 'cells': [6, 1, 1]}, 'basis': {'r': 5}, 'material': {'young': 1e6, 'poisson': 0.3, "
              "'density': 500}, 'interfaces': {'base': {'select': 'x0'}, 'tip': {'select': 'x1'}}}}, 'parts': "
              "[{'name': 'a', 'component': 'arm'}, {'name': 'b', 'component': 'arm', 'parent': 'a'}, {'name': "
              "'x', 'component': 'arm', 'absent': true, 'position': [0, 3, 0]}], 'forces': [{'part': 'x', "
              "'force': [0, 0, 1]}], 'probes': [{'name': 'x', 'part': 'x'}, {'name': 'b', 'part': 'b'}], 'time': "
              "{'dt': 0.01, 'duration': 1}, 'events': [{'time': 0.3, 'remove': 'b'}, {'time': 0.05, 'add': 'x', "
              "'position': [0, 2, 1], 'rotate_deg': [0, 0, 90]}, {'time': 0.1, 'detach': 'x'}, {'time': 0.2, "
              "'attach': 'x', 'parent': 'a', 'interface': 'tip'}, {'time': 0.35, 'detach': '*'}, {'time': 0, "
              "'lock': 'a'}, {'time': 0.25, 'unlock': '?'}, {'time': 0.4, 'attach': 'x', 'parent': 'b', 'interface': "
              "'tip'}, {'time': 0.45, 'add': 'b'}, {'time': 0.46, 'detach': 'b'}, {'time': 0.47, 'remove': 'a'}, "
              "{'time': 0.5, 'reattach': 'b'}]}",
              NULL);
    const bough_tree_model *model;
    const bough_tree_state *state;
    check(bough_run_model(p.run, &model, &state));
    check(isnan(value(&p, "x.x")) && bough_tree_state_parts(model, state)[0].locked);
    step(ctx, &p, 5);
    check_near(value(&p, "x.y"), 2, 1e-12);
    check_near(value(&p, "x.uy"), -1, 1e-12);
    step(ctx, &p, 10);
    check_int(state->root_count, 1);
    check(value(&p, "x.vz") > 0); /* the force on it */
    step(ctx, &p, 7);
    check_int(state->root_count, 0);
    check_int(bough_tree_state_parts(model, state)[2].parent, 0);
    step(ctx, &p, 12);
    check(isnan(value(&p, "b.x")) && !bough_tree_state_parts(model, state)[0].locked);
    step(ctx, &p, 5);
    check_int(state->root_count, 2); /* of a and x; b is gone */
    step(ctx, &p, 3);
    check_int(bough_tree_state_parts(model, state)[2].parent, -1); /* there was nothing to hang on */
    step(ctx, &p, 10);
    check_int(bough_tree_state_parts(model, state)[1].parent, -1);
    int32_t count;
    const bough_run_change *changes = bough_run_changes(p.run, &count);
    check(!strcmp(changes[count - 1].change, "remove"));
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* The pose that an event does not give a root is that of the scene. */
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
    const bough_tree_model *model;
    const bough_tree_state *state;
    check(bough_run_model(p.run, &model, &state));
    step(ctx, &p, 2);
    const double upright[9] = {0, -1, 0, 1, 0, 0, 0, 0, 1}, tilted[9] = {1, 0, 0, 0, 0, -1, 0, 1, 0};
    check(state->frames[0].pose.position[0] == 5 && state->frames[0].pose.position[1] == 0);
    check(state->frames[1].pose.position[0] == 0 && state->frames[1].pose.position[1] == 3);
    for (int k = 0; k < 9; k++) {
        check_near(state->frames[0].pose.rotation[k], upright[k], 1e-12);
        check_near(state->frames[1].pose.rotation[k], tilted[k], 1e-12);
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

/* Distance of the ring's ends. */
static double gap(const play *p) {
    const double x = value(p, "head.x") - value(p, "tail.x"), y = value(p, "head.y") - value(p, "tail.y");
    return hypot(hypot(x, y), value(p, "head.z") - value(p, "tail.z"));
}

/* Nothing notices before; then the ends drift apart, while momenta stay what they were and the energy falls by what was
 * in the tie's springs. */
static void a_ring_opens_where_its_tie_is_cut(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    bough_run_def def = bough_default_run_def();
    def.changes = test_path("changes.csv");
    play p = begin(ctx, RING(", 'events': [{'time': 0.2, 'cut_tie': 'clos*'}]"), &def),
         whole = begin(ctx, RING(""), NULL);
    const bough_tree_model *model;
    const bough_tree_state *state;
    check(bough_run_model(p.run, &model, &state));
    double start[BOUGH_COLUMN_PROBES], widest = 0;
    char table[400];
    const double at_rest = gap(&p);
    const size_t columns = (size_t)bough_run_column_count(p.run);
    memcpy(start, bough_run_values(p.run), sizeof start);
    check_int(state->root_count, 1);
    for (int i = 1; i <= 40; i++) {
        step(ctx, &whole, 1);
        step(ctx, &p, 1);
        if (i < 20)
            check_int(memcmp(bough_run_values(p.run), bough_run_values(whole.run), columns * sizeof(double)), 0);
        if (i == 20) { /* nothing has moved yet */
            const double kept = value(&whole, "elastic") - value(&p, "elastic");
            double e[6], springs = 0;
            bo_tree_tie_stretch(bo_tree_now(model, state), state, 0, e);
            for (int d = 0; d < 6; d++)
                springs += 0.5 * (d < 3 ? 1e6 : 1e4) * e[d] * e[d];
            check(springs > 0 && value(&p, "kinetic") == value(&whole, "kinetic"));
            check_near(kept, springs, 1e-12 * springs);
        }
        check_int(state->tie_strength[0] == 0, i >= 20);
        for (int d = 0; d < 3; d++) {
            check_near(bough_run_values(p.run)[BOUGH_COLUMN_MOMENTUM + d], start[BOUGH_COLUMN_MOMENTUM + d], 1e-9);
            check_near(bough_run_values(p.run)[BOUGH_COLUMN_ANGULAR_MOMENTUM + d],
                       start[BOUGH_COLUMN_ANGULAR_MOMENTUM + d], 1e-9);
        }
        widest = fmax(widest, fabs(gap(&whole) - at_rest));
    }
    print_message("ends within %.2e m of each other, %.3f m when cut\n", widest, gap(&p) - at_rest);
    check(widest < 2e-3 && gap(&p) - at_rest > 0.1);
    int32_t count;
    const bough_run_change *changes = bough_run_changes(p.run, &count);
    check_int(count, 1);
    check(!strcmp(changes[0].change, "cut_tie") && !strcmp(changes[0].name, "closure"));
    check(changes[0].part == -1 && changes[0].tie == 0 && isnan(changes[0].stress) && changes[0].force > 0);
    check_near(changes[0].time, 0.2, 1e-12);
    end(ctx, &whole);
    end(ctx, &p);
    read_all(test_path("changes.csv"), table, sizeof table);
    check(strstr(table, "time,change,part,stress,force\n0.2") == table && strstr(table, ",cut_tie,closure,nan,"));
    bough_context_destroy(ctx);
}

/* A ring that is cut before it moves is one that was never closed. */
static void a_tie_that_is_cut_pulls_nothing(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    play cut = begin(ctx, RING(", 'events': [{'time': 0, 'cut_tie': '*'}]"), NULL);
    step(ctx, &cut, 40);
    play open = begin(ctx, RING_OF("", ""), NULL);
    step(ctx, &open, 40);
    for (int32_t i = 0; i < bough_run_column_count(open.run); i++)
        check_near(bough_run_values(cut.run)[i], bough_run_values(open.run)[i], 1e-9);
    end(ctx, &cut);
    end(ctx, &open);
    bough_context_destroy(ctx);
}

/* A body of 5 kg on a spring of 2 kN/m that gravity pulls along its own axis (%s: what breaks). It swings by
 * m g (1 - cos w t) from the force 0. */
#define ON_A_SPRING                                                                                                    \
    "{'bough': 1, 'components': {'bob': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [0.5, 0.1, 0.1], "        \
    "'origin': [0, -0.05, -0.05], 'cells': [2, 1, 1]}, 'material': {'young': 1e9, 'density': 1000}, 'basis': {'r': "   \
    "4}, 'samples': {'wind': 0, 'contact': 0}, 'interfaces': {'base': {'select': 'x0'}}}}, 'parts': [{'name': 'bob', " \
    "'component': 'bob', 'flies': true, 'locked': true}], 'ties': [{'name': 'spring', 'parts': ['bob'], "              \
    "'interfaces': ['base'], 'stiffness': 2000, 'turning_stiffness': %s}], 'gravity': [%s], 'time': {'dt': 0.001, "    \
    "'integrator': 'newmark', 'duration': 0.4}, 'break': [{'ties': 'spring', %s}]}"

static play begin_bob(bough_context *ctx, const char *turning, const char *gravity, const char *strength) {
    char text[2000];
    snprintf(text, sizeof text, ON_A_SPRING, turning, gravity, strength);
    return begin(ctx, text, NULL);
}

static void ties_break_where_they_pull_too_hard(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const double mg = 5 * 10, w = sqrt(2000 / 5.0);
    play p = begin_bob(ctx, "0", "10, 0, 0", "'force': 75, 'torque': 1e9"); /* 3/2 m g: at w t = 120 degrees */
    const bough_tree_model *model;
    const bough_tree_state *state;
    check(bough_run_model(p.run, &model, &state));
    step(ctx, &p, 400);
    int32_t count;
    const bough_run_change *changes = bough_run_changes(p.run, &count);
    check_int(count, 1);
    print_message("breaks at %.4f s by %.3f N\n", changes[0].time, changes[0].force);
    check(!strcmp(changes[0].change, "break_tie") && !strcmp(changes[0].name, "spring"));
    const double t = changes[0].time, due = 2 * M_PI / 3 / w;
    check(t >= due - 1e-3 && t <= due + 2e-3 && changes[0].force > 75);
    check_near(changes[0].force, mg * (1 - cos(w * t)), 0.5);
    /* free from then on; the step after the cut still has half of the old force, as all changes */
    const double speed = 10 / w * sin(w * t) + 10 * (0.4 - t);
    check_near(state->roots[0].momentum[0] / state->roots[0].mass, speed, 0.02 * speed);
    end(ctx, &p);
    p = begin_bob(ctx, "0", "10, 0, 0", "'force': 103"); /* never more than 2 m g */
    step(ctx, &p, 400);
    bough_run_changes(p.run, &count);
    check_int(count, 0);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* Across its axis the weight turns it: m g l / 2 = 12.5 N m when all is still, twice that when it swings. */
static void ties_break_where_they_turn_too_hard(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    static const char *const strengths[] = {"'torque': 10", "'torque': 40", "'force': 1000"};
    for (int i = 0; i < 3; i++) {
        play p = begin_bob(ctx, "500", "0, 0, -10", strengths[i]);
        int32_t count;
        step(ctx, &p, 400);
        bough_run_changes(p.run, &count);
        check_int(count, i == 0);
        end(ctx, &p);
    }
    bough_context_destroy(ctx);
}

/* Steps that are taken back cut nothing, and ties that are so already are left out: what is told alternates. */
static void ties_are_cut_and_joined_in_turn(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    play p = play_with_refusals(ctx, RING(CUTTING));
    const bough_tree_model *model;
    const bough_tree_state *state;
    check(bough_run_model(p.run, &model, &state));
    int32_t count, broken = 0;
    const bough_run_change *changes = bough_run_changes(p.run, &count);
    bool cut = false;
    check(count >= 6);
    for (int32_t i = 0; i < count; i++) {
        check(cut == !strcmp(changes[i].change, "join_tie"));
        check(!cut || changes[i].force == 0);
        check(strcmp(changes[i].change, "break_tie") || changes[i].force > 300);
        broken += !strcmp(changes[i].change, "break_tie");
        cut = !cut;
    }
    check(cut && state->tie_strength[0] == 0 && broken > 0);
    check_near(changes[0].time, 0.07, 1e-12);
    check_near(changes[1].time, 0.0734, 1e-12);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

static void check_no_leaks(const char *text) {
    test_memory memory = {.fail_at = -1};
    bough_context *ctx = test_counting_context(&memory);
    play p = begin(ctx, text, NULL); /* cooked */
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

static void failed_allocations_leak_nothing(void **unused) {
    (void)unused;
    check_no_leaks(CHAIN(BREAKING));
    check_no_leaks(RING(CUTTING));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_cut_falls_from_then_on),
        cmocka_unit_test(events_happen_at_their_times),
        cmocka_unit_test(parts_break_where_the_stress_passes_their_strength),
        cmocka_unit_test(resuming_keeps_the_bits_across_changes),
        cmocka_unit_test(replaying_gives_the_same_bits_across_cut_ties),
        cmocka_unit_test(steps_that_are_taken_back_break_nothing),
        cmocka_unit_test(a_wind_curve_scales_every_axis),
        cmocka_unit_test(gusts_are_carried_by_the_mean_as_it_was),
        cmocka_unit_test(parts_come_and_go),
        cmocka_unit_test(a_ring_opens_where_its_tie_is_cut),
        cmocka_unit_test(a_tie_that_is_cut_pulls_nothing),
        cmocka_unit_test(ties_break_where_they_pull_too_hard),
        cmocka_unit_test(ties_break_where_they_turn_too_hard),
        cmocka_unit_test(ties_are_cut_and_joined_in_turn),
        cmocka_unit_test(what_is_added_stands_as_the_scene_has_it),
        cmocka_unit_test(what_happens_is_not_later_than_the_run),
        cmocka_unit_test(rows_go_on_from_a_checkpoint),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
