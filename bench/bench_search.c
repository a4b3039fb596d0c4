/* Retargeting of the rods and robots of the examples: how long it takes, and how much of their vibration is left. */
#include "bench_retarget.h"

#include <bough/retarget.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ways to drive a robot. */
typedef struct {
    const char *name;
    bough_replay_source source;
    double mass; /* of what is tracked */
    bool feedback, full;
} way;
static const way ways[] = {
    {"animation", BOUGH_REPLAY_ANIMATION, 1, false, false},
    {"retargeted", BOUGH_REPLAY_CURVES, 1, false, false},
    {"ZVD", BOUGH_REPLAY_ZVD, 1, false, false},
    {"heavier, animation", BOUGH_REPLAY_ANIMATION, 1.05, false, false},
    {"heavier, retargeted", BOUGH_REPLAY_CURVES, 1.05, false, false},
    {"heavier, feedback", BOUGH_REPLAY_CURVES, 1.05, true, false},
    {"full order, animation", BOUGH_REPLAY_ANIMATION, 1, false, true},
    {"full order, retargeted", BOUGH_REPLAY_CURVES, 1, false, true},
};

static void show(const bench_subject *s, const char *frame, const way *w, const bough_deviation *d, double delay,
                 json_t *rows) {
    if (rows)
        json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "scene", s->name,
                                              "frame", frame, "case", w->name, "rms", app_json_number(d->rms), "peak",
                                              app_json_number(d->peak), "pauses", app_json_number(d->pause_rms),
                                              "after", app_json_number(d->end_rms), "tilt",
                                              app_json_number(d->tilt_peak), "delay", app_json_number(delay)));
    else
        printf("    %-14s %-24s rms %8.3f cm, peak %8.3f, pauses %8.3f, after %8.3f; tilt %7.2f deg; delay %.2f s\n",
               frame, w->name, 100 * d->rms, 100 * d->peak, 100 * d->pause_rms, 100 * d->end_rms,
               d->tilt_peak * 180 / M_PI, delay);
}

/* Vibrations are measured against the equilibria of the same robot, with the same delay. */
static bool play(bough_context *ctx, const bench_subject *s, const bough_retarget *r, const way *w, json_t *rows) {
    bough_retarget_view view;
    bough_replay_def def = bough_default_replay_def();
    bough_motion *motion = NULL, *target = NULL;
    def.source = w->source, def.mass = w->mass, def.feedback = w->feedback, def.full = w->full;
    bool good = !bough_retarget_replay(ctx, r, &def, &motion);
    def.source = w->source == BOUGH_REPLAY_ZVD ? w->source : BOUGH_REPLAY_ANIMATION;
    def.statics = true, def.feedback = false;
    good = good && !bough_retarget_replay(ctx, r, &def, &target);
    bough_retarget_look(r, &view);
    for (int32_t f = 0; good && f < view.frame_count; f++) {
        bough_deviation d;
        bough_motion_compare(r, motion, target, f, &d);
        show(s, view.frames[f], w, &d, motion->delay, rows);
    }
    bough_motion_destroy(ctx, motion);
    bough_motion_destroy(ctx, target);
    return good;
}

bool bench_search(bough_context *ctx, const bench_subject *s, json_t *rows) {
    const bough_retarget_def def = bough_default_retarget_def();
    bough_retarget *r = NULL;
    bough_retarget_view view;
    tree_scene files = {0};
    bool good = (s->text ? tree_scene_write(ctx, s->text, &files) : tree_scene_make(ctx, s->name, &files)) &&
                !bough_scene_load(ctx, files.path, &files.scene) && !bough_retarget_create(ctx, files.scene, &def, &r);
    const double wall = app_seconds(), cpu = app_cpu_seconds();
    good = good && !bough_retarget_run(ctx, r);
    const double seconds = app_seconds() - wall, worked = app_cpu_seconds() - cpu;
    if (good)
        bough_retarget_look(r, &view);
    if (good && rows)
        json_array_append_new(rows,
                              json_pack("{s:s, s:f, s:f, s:f, s:i, s:i, s:f, s:f, s:f}", "scene", s->name, "search_s",
                                        seconds, "search_cpu_s", worked, "required_s", s->required, "iterations",
                                        (int)view.iterations, "gradients", (int)view.gradients, "first_value",
                                        view.first_value, "value", view.value, "megabytes", (double)view.bytes / 1e6));
    else if (good)
        printf("  %-10s search %6.1f s (%6.1f s of CPU; required: at most %.0f s), %d iterations, objective %.4g -> "
               "%.4g, %.0f MB\n",
               s->name, seconds, worked, s->required, (int)view.iterations, view.first_value, view.value,
               (double)view.bytes / 1e6);
    for (size_t i = 0; i < sizeof ways / sizeof *ways && good; i++)
        if (!ways[i].full || s->twin)
            good = play(ctx, s, r, &ways[i], rows) && !app_interrupted();
    fflush(stdout); /* the next takes a while */
    if (!good)
        bench_fail(ctx);
    bough_retarget_destroy(ctx, r);
    tree_scene_close(&files);
    return good;
}
