/* bough static --along: the equilibrium of a scene at every time of its motors' curves, as a table. */
#include "app.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { MOST_SNAPS = 8 }; /* that are told one by one */

typedef struct {
    bough_run *run;
    const app_static_scene *options;
    FILE *csv;
    double duration;
    int32_t count, done; /* times */
    int32_t snap_count;
    bough_run_snap snaps[MOST_SNAPS];
} walk;

/* "hand.px" ... of every thing that moves, after the columns of the probes. */
static void write_head(const walk *w) {
    static const char *const pose[] = {"px", "py", "pz", "qw", "qx", "qy", "qz"};
    fprintf(w->csv, "time,elastic");
    for (int32_t c = BOUGH_COLUMN_PROBES; c < bough_run_column_count(w->run); c++)
        fprintf(w->csv, ",%s", bough_run_column_name(w->run, c));
    for (int32_t i = 0; i < bough_run_thing_count(w->run); i++)
        for (size_t k = 0; k < sizeof pose / sizeof *pose; k++)
            fprintf(w->csv, ",%s.%s", bough_run_thing(w->run, i)->name, pose[k]);
    fputc('\n', w->csv);
}

/* Numbers with 17 digits, each row handed to the system: what was done is kept. */
static bool write_row(const walk *w) {
    const double *values = bough_run_values(w->run);
    fprintf(w->csv, "%.17g,%.17g", values[BOUGH_COLUMN_TIME], values[BOUGH_COLUMN_ELASTIC]);
    for (int32_t c = BOUGH_COLUMN_PROBES; c < bough_run_column_count(w->run); c++)
        fprintf(w->csv, ",%.17g", values[c]);
    for (int32_t i = 0; i < bough_run_thing_count(w->run); i++) {
        bough_thing_state thing;
        double q[4];
        bough_run_thing_state(w->run, i, &thing);
        app_quaternion(thing.frame.pose.rotation, q);
        for (int d = 0; d < 3; d++)
            fprintf(w->csv, ",%.17g", thing.frame.pose.position[d]);
        for (int d = 0; d < 4; d++) /* w first, and not negative */
            fprintf(w->csv, ",%.17g", q[3] < 0 ? -q[(d + 3) % 4] : q[(d + 3) % 4]);
    }
    fputc('\n', w->csv);
    return fflush(w->csv) == 0;
}

static int fail_to_write(const walk *w) {
    return app_fail_with("%s: cannot be written: %s", w->options->csv, strerror(errno));
}

/* The status of the last time; all before it are in the table. */
static int follow(bough_context *ctx, walk *w) {
    for (w->done = 0; w->done < w->count; w->done++) {
        const double t = fmin(w->done * w->options->every, w->duration);
        int32_t snaps = 0;
        bough_run_snap snap;
        if (bough_run_follow(ctx, w->run, t, &snaps, &snap))
            return app_fail(ctx);
        if (snaps > 0 && w->snap_count++ < MOST_SNAPS)
            w->snaps[w->snap_count - 1] = snap;
        if (w->csv && !write_row(w))
            return fail_to_write(w);
    }
    return APP_OK;
}

static void tell_text(const walk *w, double seconds) {
    printf("equilibria at %d of %d times, every %g s, after %.2f s\n", w->done, w->count, w->options->every, seconds);
    for (int32_t i = 0; i < w->snap_count && i < MOST_SNAPS; i++)
        printf("snap at t = %.4g s     joint %s, by %.3g rad and %.3g m\n", w->snaps[i].time,
               w->snaps[i].name ? w->snaps[i].name : "without a name", w->snaps[i].turn, w->snaps[i].distance);
    if (w->snap_count > MOST_SNAPS)
        printf("and %d more snaps\n", w->snap_count - MOST_SNAPS);
    if (w->options->csv)
        printf("table                  %s\n", w->options->csv);
}

static void tell_json(const walk *w, double seconds) {
    json_t *snaps = json_array();
    for (int32_t i = 0; i < w->snap_count && i < MOST_SNAPS; i++)
        json_array_append_new(snaps, json_pack("{s:f, s:i, s:s?, s:f, s:f}", "time", w->snaps[i].time, "joint",
                                               (int)w->snaps[i].joint, "name", w->snaps[i].name, "turn",
                                               w->snaps[i].turn, "distance", w->snaps[i].distance));
    app_print_json(json_pack("{s:b, s:i, s:i, s:f, s:i, s:o, s:f}", "complete", (int)(w->done == w->count), "done",
                             (int)w->done, "times", (int)w->count, "every", w->options->every, "snap_count",
                             (int)w->snap_count, "snaps", snaps, "seconds", seconds));
}

int app_follow_scene(bough_context *ctx, const bough_scene *scene, bough_run *run, const app_static_scene *options) {
    walk w = {.run = run, .options = options};
    bough_scene_info info;
    const double began = app_seconds();
    bough_scene_describe(ctx, scene, &info);
    w.duration = options->until > 0 ? options->until : info.duration;
    if (!(w.duration > 0))
        return app_fail_with("%s: does not say how long its motors move; say so with --time", options->scene);
    const double count = ceil(w.duration / options->every - 1e-9) + 1;
    if (!(count < 1e8))
        return app_fail_with("%s: there would be %g times; take a larger --every", options->scene, count);
    w.count = (int32_t)count;
    if (options->csv && !(w.csv = fopen(options->csv, "w")))
        return fail_to_write(&w);
    if (w.csv)
        write_head(&w);
    int status = follow(ctx, &w);
    app_clear_progress();
    if (w.csv && fclose(w.csv) != 0 && status == APP_OK)
        status = fail_to_write(&w);
    if (w.done > 0 || options->json)
        (options->json ? tell_json : tell_text)(&w, app_seconds() - began);
    return status;
}
