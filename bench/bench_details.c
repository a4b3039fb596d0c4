/* Levels of detail of mechanisms: the accuracy with end effectors spread over the links, and its cost. Also the gain by
 * a second thread when many links are placed. */
#include "tree_scene.h"

#include "linkages.h"

#include <stdio.h>

enum { LEVELS = 4, FREQUENCIES = 3, ROUNDS = 201, LONG = 2 };

static const int32_t counts[LEVELS] = {1, 2, 4, 8}; /* end effectors */

typedef struct {
    const char *name;
    sketch *(*make)(int32_t count, bough_joint_kind kind);
    int32_t count;
    bough_joint_kind kind;
} subject;

/* Evenly over the links, the last one first. */
static void spread(int32_t links, int32_t count, bough_frame_def *effectors) {
    for (int32_t k = 0; k < count; k++)
        effectors[k] = bo_frame_on(links - k * links / count, bough_default_pose());
}

static bool measure(bough_context *ctx, const subject *what, bough_mechanism_detail details[LEVELS]) {
    sketch *s = what->make(what->count, what->kind);
    bough_mechanism *mechanism = NULL;
    bough_frame_def effectors[LEVELS][8];
    bough_mechanism_choice choices[LEVELS] = {{0}};
    bough_mechanism_detail_def def = bough_default_mechanism_detail_def();
    for (int k = 0; k < LEVELS; k++) {
        spread(s->def.link_count - 1, counts[k], effectors[k]);
        choices[k] = (bough_mechanism_choice){
            .end_effector_count = counts[k], .end_effectors = effectors[k], .internal_modes = 0};
    }
    def.choice_count = LEVELS, def.choices = choices, def.frequency_count = FREQUENCIES;
    const bool good =
        !bough_mechanism_create(ctx, &s->def, &mechanism) && !bough_mechanism_details(ctx, mechanism, &def, details);
    if (!good)
        bench_fail(ctx);
    bough_mechanism_destroy(ctx, mechanism);
    free(s);
    return good;
}

static void tell(const subject *what, int level, const bough_mechanism_detail *d, json_t *rows) {
    double errors[FREQUENCIES] = {0};
    const int32_t count = d->frequency_count < FREQUENCIES ? d->frequency_count : FREQUENCIES;
    for (int32_t k = 0; k < count; k++)
        errors[k] = d->frequencies[k] / d->full[k] - 1;
    if (rows) {
        json_array_append_new(rows,
                              json_pack("{s:s, s:i, s:i, s:f, s:o, s:o, s:f, s:f}", "mechanism", what->name,
                                        "end_effectors", (int)counts[level], "rank", (int)d->rank, "memory_kb",
                                        1e-3 * (double)d->memory, "frequencies", app_json_numbers(d->full, FREQUENCIES),
                                        "errors", app_json_numbers(errors, count), "static_error", d->static_error,
                                        "step_us", 1e6 * d->step_seconds));
        return;
    }
    if (level == 0)
        printf("%s: %.4g, %.4g, %.4g Hz\n", what->name, d->full[0], d->full[1], d->full[2]);
    printf("  %d end effectors, rank %2d, %6.0f kB; frequencies", (int)counts[level], (int)d->rank,
           1e-3 * (double)d->memory);
    for (int32_t k = 0; k < count; k++)
        printf(" %+.2f %%", 100 * errors[k]);
    printf("; static error %.1f %%; step %.2f us\n", 100 * d->static_error, 1e6 * d->step_seconds);
}

/* ---- long chains ---- */

static const int32_t long_counts[LONG] = {2000, 4000};

/* Returns the time below which 5 % of the rounds lie: rounds on a core that is busy elsewhere do not count. */
static bool time_places(int32_t links, int32_t threads, double *us) {
    sketch *s = helix(links, BOUGH_JOINT_BALL);
    bough_context *ctx = app_context(threads);
    bough_mechanism *m = NULL;
    bough_mechanism_statics *statics = NULL;
    bough_mechanism_model *model = NULL;
    bough_mechanism_state *state = NULL;
    double rounds[ROUNDS];
    const bool good = !bough_mechanism_create(ctx, &s->def, &m) &&
                      !bough_mechanism_statics_create(ctx, m, NULL, &statics) &&
                      !bough_mechanism_model_create(ctx, m, statics, NULL, &model) &&
                      !bough_mechanism_state_create(ctx, model, &state);
    for (int k = 0; k < ROUNDS && good; k++) {
        enum { TIMES = 20 };
        const double start = app_seconds();
        for (int i = 0; i < TIMES; i++)
            bough_mechanism_state_place(model, state);
        rounds[k] = 1e6 * (app_seconds() - start) / TIMES;
    }
    if (good) {
        median_of(ROUNDS, rounds);
        *us = rounds[ROUNDS / 20];
    } else
        bench_fail(ctx);
    bough_mechanism_state_destroy(ctx, state);
    bough_mechanism_model_destroy(ctx, model);
    bough_mechanism_statics_destroy(ctx, statics);
    bough_mechanism_destroy(ctx, m);
    bough_context_destroy(ctx);
    free(s);
    return good;
}

static bool measure_threads(json_t *rows) {
    for (int k = 0; k < LONG; k++) {
        double us[2];
        if (!time_places(long_counts[k], 1, &us[0]) || !time_places(long_counts[k], 2, &us[1]))
            return false;
        if (rows)
            json_array_append_new(rows, json_pack("{s:i, s:f, s:f}", "placed_links", (int)long_counts[k],
                                                  "one_thread_us", us[0], "two_threads_us", us[1]));
        else
            printf("%d links placed in %.1f us by one thread, in %.1f us by two\n", (int)long_counts[k], us[0], us[1]);
    }
    return true;
}

int bench_details(const bench_options *options) {
    static const subject subjects[] = {{"helix 50", helix, 50, BOUGH_JOINT_BALL},
                                       {"helix 400", helix, 400, BOUGH_JOINT_BALL},
                                       {"ladder 48", ladder, 16, BOUGH_JOINT_HINGE}};
    bough_context *ctx = app_context(1);
    json_t *rows = options->json ? json_array() : NULL;
    bool good = true;
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects && good; i++) {
        bough_mechanism_detail details[LEVELS] = {{0}};
        good = measure(ctx, &subjects[i], details);
        for (int k = 0; k < LEVELS && good; k++)
            tell(&subjects[i], k, &details[k], rows);
    }
    good = good && measure_threads(rows);
    return bench_end(ctx, rows, good);
}
