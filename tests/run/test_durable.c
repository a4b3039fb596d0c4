/* The files that a run promises to leave when its machine fails, and when. The test has a disk and a clock of its
 * own. */
#include "run/play.h"
#include "synced.h"

#include <time.h>

#define CHAIN                                                                                                      \
    "{'bough': 1, 'object': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1, 0.1, 0.1], 'cells': [10, 1, " \
    "1]}, 'sets': {'a': {'elements': 'x<0.51'}, 'b': {'elements': 'x>0.49'}}, 'material': {'young': 4e6}, 'fix': " \
    "'x0', 'basis': {'r': 4}}, 'gravity': [0, 0, -2], 'time': {'dt': 0.01, 'duration': 2}, 'events': [{'time': "   \
    "0.02, 'lock': 'b'}]}"

/* ---- a clock that stands until somebody looks at the run ---- */

static double seconds;
int clock_gettime(clockid_t kind, struct timespec *now) {
    (void)kind;
    *now = (struct timespec){(time_t)seconds, (long)(1e9 * (seconds - floor(seconds)))};
    return 0;
}

/* Half a second a frame; frames are steps. */
static bough_status wait_half_a_second(void *data, bough_context *ctx, const bough_run *run) {
    (void)data, (void)ctx, (void)run;
    seconds += 0.5;
    return BOUGH_OK;
}

static double flushes[32];
static int flush_count;
static bough_status note_flush(void *data, bough_context *ctx, const bough_run *run) {
    (void)data, (void)ctx, (void)run;
    check(flush_count < 32);
    flushes[flush_count++] = seconds;
    return BOUGH_OK;
}

/* 200 steps of half a second. */
static void run_for_100_seconds(bough_context *ctx, bough_run_def def) {
    def.fps = 100;
    def.watch = wait_half_a_second;
    def.flush = note_flush;
    flush_count = 0, seconds = 1000;
    play p = begin_file(ctx, write_scene("chain.json", CHAIN), &def);
    seconds = 1000;
    check_ok(ctx, bough_run_advance(ctx, p.run));
    check_near(seconds, 1100, 1e-9);
    end(ctx, &p);
}

static void every_minute_unless_somebody_says_otherwise(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_run_def def = bough_default_run_def();
    run_for_100_seconds(ctx, def);
    check_int(flush_count, 1);
    check_near(flushes[0], 1060, 1e-9);
    def.every = 30;
    run_for_100_seconds(ctx, def);
    check_int(flush_count, 3);
    for (int i = 0; i < 3; i++)
        check_near(flushes[i], 1030 + 30 * i, 1e-9);
    def.every = -1;
    run_for_100_seconds(ctx, def);
    check_int(flush_count, 0);
    bough_context_destroy(ctx);
}

/* ---- the disk ---- */

static const char *const tables[] = {"run.csv", "changes.csv", "series/frames.pvd", "series/frame_000000.vtu"};
static const char *const whole[] = {"run.npy", "stress.npy", "run.log"};

/* All that a run of parts can record. */
static bough_run_def record_everything(void) {
    static char paths[7][200];
    static const char *const names[7] = {"run.csv",    "changes.csv", "series",   "run.npy",
                                         "stress.npy", "run.log",     "run.state"};
    for (int i = 0; i < 7; i++)
        snprintf(paths[i], sizeof paths[i], "%s", test_path(names[i]));
    bough_run_def def = bough_default_run_def();
    def.record = paths[0];
    def.changes = paths[1];
    def.frames = paths[2];
    def.displacements = paths[3];
    def.stresses = paths[4];
    def.inputs = paths[5];
    def.checkpoint = paths[6];
    def.fps = 100;
    return def;
}

static void check_synced(const char *name) {
    if (!was_synced(test_path(name)))
        fail_msg("%s is not on the disk", name);
}

/* Comes before the checkpoint, which goes on from what is on the disk by then. */
static bough_status look_at_the_disk(void *data, bough_context *ctx, const bough_run *run) {
    (void)ctx;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        check_synced(tables[i]);
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        check_synced(whole[i]);
    check_synced("");
    check_synced("series");
    char last[64];
    snprintf(last, sizeof last, "series/frame_%06d.vtu", (int)lround(bough_run_values(run)[BOUGH_COLUMN_TIME] / 0.01));
    check_synced(last);
    ++*(int *)data;
    sync_count = 0;
    return BOUGH_OK;
}

static bough_status wait_ten_seconds(void *data, bough_context *ctx, const bough_run *run) {
    (void)ctx, (void)run;
    if (*(int *)data == 1) { /* the first time behind the look */
        check_synced("run.state");
        check_synced("");
        *(int *)data = 2;
    }
    seconds += 10;
    return BOUGH_OK;
}

static void what_can_be_read_after_a_failure_is_on_the_disk(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_run_def def = record_everything();
    int looks = 0;
    def.duration = 0.1;
    def.flush = look_at_the_disk;
    def.watch = wait_ten_seconds;
    def.watch_data = &looks;
    sync_count = 0;
    play p = begin_file(ctx, write_scene("chain.json", CHAIN), &def);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    check_int(looks, 2);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

static void what_is_complete_at_the_end_is_on_the_disk(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_run_def def = record_everything();
    def.duration = 0.1;
    def.every = -1;
    play p = begin_file(ctx, write_scene("chain.json", CHAIN), &def);
    sync_count = 0;
    check_ok(ctx, bough_run_advance(ctx, p.run));
    end(ctx, &p);
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        check_synced(whole[i]);
    check_synced("run.state");
    check_synced("");
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_minute_unless_somebody_says_otherwise),
        cmocka_unit_test(what_can_be_read_after_a_failure_is_on_the_disk),
        cmocka_unit_test(what_is_complete_at_the_end_is_on_the_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
