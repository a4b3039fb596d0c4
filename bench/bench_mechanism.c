/* Compliant mechanisms: the cost of a step with all links, and of making a model. */
#include "bench.h"

#include "linkages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 21 };

typedef struct {
    const char *name;
    sketch *(*make)(int32_t count, bough_joint_kind kind);
    int32_t count;
    bough_joint_kind kind;
    double step_required;           /* us */
    double step_paper, step_engine; /* us: of the paper, and of the best other engine on the same mechanism */
    double make_required;           /* ms; 0: none */
} subject;

typedef struct {
    bench_times step, place, make;
    int32_t links, loops, rank;
} figures;

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct {
    bough_mechanism *mechanism;
    bough_mechanism_statics *statics;
    bough_mechanism_model *model;
    bough_mechanism_state *state;
} ready;

static void drop(bough_context *ctx, ready *r) {
    bough_mechanism_state_destroy(ctx, r->state);
    bough_mechanism_model_destroy(ctx, r->model);
    bough_mechanism_statics_destroy(ctx, r->statics);
    bough_mechanism_destroy(ctx, r->mechanism);
    *r = (ready){0};
}

/* Everything from the description to a state. */
static bool make(bough_context *ctx, const sketch *s, ready *r) {
    *r = (ready){0};
    if (!bough_mechanism_create(ctx, &s->def, &r->mechanism) &&
        !bough_mechanism_statics_create(ctx, r->mechanism, NULL, &r->statics) &&
        !bough_mechanism_model_create(ctx, r->mechanism, r->statics, NULL, &r->model) &&
        !bough_mechanism_state_create(ctx, r->model, &r->state))
        return true;
    drop(ctx, r);
    return false;
}

/* Mean of `steps` steps, in seconds; *place: of the links alone. */
static bool time_steps(bough_context *ctx, ready *r, int steps, double *step, double *place) {
    const double start = seconds();
    for (int k = 0; k < steps; k++) {
        if (bough_mechanism_step(ctx, r->model, r->state, 1e-3))
            return false;
        bough_mechanism_state_place(r->model, r->state);
    }
    const double middle = seconds();
    for (int k = 0; k < steps; k++)
        bough_mechanism_state_place(r->model, r->state);
    *step = (middle - start) / steps;
    *place = (seconds() - middle) / steps;
    return true;
}

static bool measure(bough_context *ctx, const subject *what, figures *f) {
    sketch *s = what->make(what->count, what->kind);
    ready r = {0};
    bool good = true;
    for (int k = 0; k < ROUNDS && good; k++) {
        const double start = seconds();
        drop(ctx, &r);
        good = make(ctx, s, &r);
        bench_add(&f->make, seconds() - start);
    }
    for (int32_t k = 0; good && k < 6; k++) /* it swings, by 0.2 rad or radii in the softest direction */
        r.state->xi[k] = 0.2 * r.model->Q[k * r.model->rank];
    for (int k = 0; k < ROUNDS && good; k++) {
        double step, place;
        good = time_steps(ctx, &r, 2000, &step, &place);
        if (good) {
            bench_add(&f->step, step);
            bench_add(&f->place, place);
        }
    }
    if (good) {
        f->links = s->def.link_count - 1;
        f->loops = bough_mechanism_loop_count(r.mechanism);
        f->rank = r.model->rank;
    } else {
        bench_fail(ctx);
    }
    drop(ctx, &r);
    free(s);
    return good;
}

static json_t *row(const subject *what, const figures *f) {
    return json_pack("{s:s, s:i, s:i, s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "mechanism", what->name,
                     "links", (int)f->links, "loops", (int)f->loops, "rank", (int)f->rank, "step_us",
                     1e6 * bench_median(&f->step), "step_least_us", 1e6 * bench_least(&f->step), "step_most_us",
                     1e6 * bench_most(&f->step), "links_us", 1e6 * bench_median(&f->place), "make_ms",
                     1e3 * bench_median(&f->make), "step_required_us", what->step_required, "step_paper_us",
                     what->step_paper, "step_engine_us", what->step_engine, "make_required_ms", what->make_required);
}

static void print_row(const subject *what, const figures *f) {
    printf("  %-12s %4d links %2d loops rank %d: step with all links %6.2f us (%.2f .. %.2f), links alone %6.2f us; "
           "required %g, paper %g, other engine %g us\n",
           what->name, f->links, f->loops, f->rank, 1e6 * bench_median(&f->step), 1e6 * bench_least(&f->step),
           1e6 * bench_most(&f->step), 1e6 * bench_median(&f->place), what->step_required, what->step_paper,
           what->step_engine);
    printf("  %-12s made in %.3f ms (%.3f .. %.3f)", "", 1e3 * bench_median(&f->make), 1e3 * bench_least(&f->make),
           1e3 * bench_most(&f->make));
    if (what->make_required > 0)
        printf("; required %g ms", what->make_required);
    printf("\n");
}

/* ---- blended ---- */

enum { BLENDED_LINKS = 200, POINTS = 4 };
static const double blended_required = 45, blended_paper = 160, blended_engine = 130; /* us */

typedef struct {
    bough_mechanism *mechanism;
    bough_full_mechanism *full;
    bough_mechanism_blend *blend;
    bough_blend_state *state;
} blended;

static void drop_blended(bough_context *ctx, blended *b) {
    bough_blend_state_destroy(ctx, b->state);
    bough_mechanism_blend_destroy(ctx, b->blend);
    bough_full_mechanism_destroy(ctx, b->full);
    bough_mechanism_destroy(ctx, b->mechanism);
}

/* Points under a force along each axis. */
static bool make_blended(bough_context *ctx, const sketch *s, blended *b) {
    if (bough_mechanism_create(ctx, &s->def, &b->mechanism) ||
        bough_full_mechanism_create(ctx, b->mechanism, &b->full) ||
        bough_mechanism_blend_create(ctx, b->mechanism, NULL, &b->blend) ||
        bough_blend_state_create(ctx, b->blend, &b->state))
        return false;
    for (int k = 0; k < POINTS - 1; k++) {
        memset(b->full->loads, 0, 6 * sizeof(double));
        b->full->loads[k] = 1.5;
        if (bough_full_mechanism_settle(ctx, b->full) ||
            bough_mechanism_blend_add(ctx, b->blend, b->full->poses, b->full->loads))
            return false;
    }
    return true;
}

/* In between, so that all points have weight. */
static void pull_blended(blended *b) {
    for (int k = 0; k < POINTS - 1; k++)
        b->state->wrench[k] = 0.7;
}

static bool measure_blended(bough_context *ctx, figures *f) {
    sketch *s = helix(BLENDED_LINKS, BOUGH_JOINT_BALL);
    blended b = {0};
    bool good = make_blended(ctx, s, &b);
    for (int k = 0; k < ROUNDS && good; k++) {
        enum { STEPS = 50 }; /* about a millisecond, as the other rounds */
        const double start = seconds();
        for (int i = 0; i < STEPS && good; i++) {
            pull_blended(&b);
            good = bough_blend_state_step(ctx, b.blend, b.state, 1e-3) == BOUGH_OK;
            bough_blend_state_place(b.blend, b.state);
        }
        const double middle = seconds();
        for (int i = 0; i < STEPS; i++)
            bough_blend_state_place(b.blend, b.state);
        bench_add(&f->step, (middle - start) / STEPS);
        bench_add(&f->place, (seconds() - middle) / STEPS);
    }
    if (!good)
        bench_fail(ctx);
    drop_blended(ctx, &b);
    free(s);
    return good;
}

static void tell_blended(const figures *f, bool json, json_t *all) {
    if (json)
        json_array_append_new(all, json_pack("{s:s, s:i, s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "mechanism",
                                             "blended", "links", (int)BLENDED_LINKS, "points", (int)POINTS, "step_us",
                                             1e6 * bench_median(&f->step), "step_least_us", 1e6 * bench_least(&f->step),
                                             "step_most_us", 1e6 * bench_most(&f->step), "links_us",
                                             1e6 * bench_median(&f->place), "step_required_us", blended_required,
                                             "step_paper_us", blended_paper, "step_engine_us", blended_engine));
    else
        printf(
            "  blended      %4d links, %d points: step with all links %6.2f us (%.2f .. %.2f), links alone %6.2f us; "
            "required %g, paper %g, other engine %g us\n",
            (int)BLENDED_LINKS, (int)POINTS, 1e6 * bench_median(&f->step), 1e6 * bench_least(&f->step),
            1e6 * bench_most(&f->step), 1e6 * bench_median(&f->place), blended_required, blended_paper, blended_engine);
}

int bench_mechanism(const bench_options *options) {
    static const subject subjects[] = {{"helix 50", helix, 50, BOUGH_JOINT_BALL, 3, 20, 31, 0},
                                       {"helix 100", helix, 100, BOUGH_JOINT_BALL, 5, 32, 62, 0},
                                       {"helix 400", helix, 400, BOUGH_JOINT_BALL, 20, 112, 256, 5},
                                       {"ladder 48", ladder, 16, BOUGH_JOINT_HINGE, 4, 22, 58, 5},
                                       {"ball ladder", ladder, 16, BOUGH_JOINT_BALL, 4, 22, 58, 5}};
    bough_context *ctx = app_context(1);
    json_t *all = json_array();
    int status = APP_OK;
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects && status == APP_OK; i++) {
        figures f = {0};
        if (!measure(ctx, &subjects[i], &f))
            status = APP_FAILED;
        else if (options->json)
            json_array_append_new(all, row(&subjects[i], &f));
        else
            print_row(&subjects[i], &f);
    }
    figures mixed = {0};
    if (status == APP_OK && !measure_blended(ctx, &mixed))
        status = APP_FAILED;
    if (status == APP_OK)
        tell_blended(&mixed, options->json, all);
    if (options->json && status == APP_OK)
        app_print_json(all);
    else
        json_decref(all);
    bough_context_destroy(ctx);
    return status;
}
