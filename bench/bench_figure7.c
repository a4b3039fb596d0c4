/* Figure 7 of the paper: how far joints open as a growing load displaces an end effector, with one linear model and
 * with several blended, about points that were found automatically. */
#include "bench.h"

#include "linkages.h"

#include <bough/record.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 288, MOST_CASES = 4, BETWEEN = 24, BETWEEN_STEPS = 8 };
#define FULL_DISPLACEMENT 1.0
#define MOST_LOAD 4 /* times the load that takes the linear model to that displacement */

typedef struct {
    const char *name;
    double direction[3];
} pull;

typedef struct {
    const char *name;
    sketch *(*make)(void);
    pull pulls[MOST_CASES];
    int pull_count;
    int first_between; /* loads off the path are sums of these and the following */
} subject;

typedef struct {
    double x[STEPS + 1], y[STEPS + 1]; /* displacement, error */
} curve;

/* One direction of one subject. */
typedef struct {
    double load[6 * SKETCH_EFFECTORS]; /* at the end of the way */
    double size;                       /* N */
    double reached;                    /* displacement of the full mechanism there */
    double single;                     /* error of one model at displacement 1 */
    double blended, effector;          /* largest on the way: error of joints, and of the end effectors' poses */
    int32_t points;
    curve curves[2];
} result;

typedef struct {
    bough_context *ctx;
    sketch *s;
    bough_mechanism *mechanism;
    bough_full_mechanism *full;
    bough_mechanism_blend *one, *blend;
    bough_blend_state *one_state, *state;
    double radius;
    bough_pose rest;
} stand;

static sketch *make_y(void) {
    return fork_of_links(4, 4, BOUGH_JOINT_BALL);
}
static sketch *make_ladder(void) {
    return ladder(12, BOUGH_JOINT_BALL);
}

static bough_pose effector_of(const stand *b, const bough_pose *poses, int32_t e) {
    return bo_put_pose(bo_se3_mul(bo_pose(&poses[b->s->effectors[e].body]), bo_pose(&b->s->effectors[e].pose)));
}
/* |log(a^-1 b)| with linear parts over the radius and angular ones over pi */
static double displacement(const stand *b, const bough_pose *from, const bough_pose *to) {
    const double pi = 3.141592653589793;
    const bo_twist t = bo_se3_log(bo_se3_mul(bo_se3_inverse(bo_pose(from)), bo_pose(to)));
    return sqrt(bo_dot(t.v, t.v) / (b->radius * b->radius) + bo_dot(t.w, t.w) / (pi * pi));
}

static void put_loads(const stand *b, const double *load, double part, double *out) {
    for (int32_t k = 0; k < 6 * b->s->def.end_effector_count; k++)
        out[k] = part * load[k];
}

/* ---- making and dropping ---- */

static void close_stand(stand *b) {
    bough_blend_state_destroy(b->ctx, b->state);
    bough_blend_state_destroy(b->ctx, b->one_state);
    bough_mechanism_blend_destroy(b->ctx, b->blend);
    bough_mechanism_blend_destroy(b->ctx, b->one);
    bough_full_mechanism_destroy(b->ctx, b->full);
    bough_mechanism_destroy(b->ctx, b->mechanism);
    free(b->s);
}

static bool open_stand(stand *b, const subject *what) {
    b->s = what->make();
    if (bough_mechanism_create(b->ctx, &b->s->def, &b->mechanism) ||
        bough_mechanism_blend_create(b->ctx, b->mechanism, NULL, &b->one) ||
        bough_blend_state_create(b->ctx, b->one, &b->one_state))
        return false;
    b->radius = bough_mechanism_radius(b->mechanism);
    b->rest = effector_of(b, bough_mechanism_blend_model(b->one, 0)->rest, 0);
    return true;
}

static bool restart_full(stand *b) {
    bough_full_mechanism_destroy(b->ctx, b->full);
    if (bough_full_mechanism_create(b->ctx, b->mechanism, &b->full))
        return false;
    return true;
}

static bool find_points(stand *b, const double *loads, int32_t load_count, bough_workspace_report *report) {
    bough_workspace_def def = bough_default_workspace_def();
    def.load_count = load_count, def.loads = loads;
    def.sample_count = 48, def.tolerance = 0.02, def.effector_tolerance = 0.1;
    bough_mechanism_blend_def blend = bough_default_mechanism_blend_def();
    blend.most_points = 24;
    bough_blend_state_destroy(b->ctx, b->state);
    bough_mechanism_blend_destroy(b->ctx, b->blend);
    b->state = NULL, b->blend = NULL;
    if (bough_mechanism_blend_create_automatic(b->ctx, b->mechanism, &blend, &def, report, &b->blend) ||
        bough_blend_state_create(b->ctx, b->blend, &b->state))
        return false;
    return true;
}

/* ---- one direction ---- */

/* The load that takes the linear model to displacement 1, then as much as takes the full mechanism there. */
static bool find_load(stand *b, const pull *p, result *r) {
    const double *d = p->direction, length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    double unit[6 * SKETCH_EFFECTORS] = {0};
    for (int k = 0; k < 3; k++)
        unit[k] = d[k] / length;
    put_loads(b, unit, 1e-3, b->one_state->wrench);
    if (bough_blend_state_settle(b->ctx, b->one, b->one_state) || !restart_full(b))
        return false;
    const double first = 1e-3 * FULL_DISPLACEMENT / displacement(b, &b->rest, &b->one_state->effectors[0]);
    for (int k = 1; k <= 8 * MOST_LOAD && r->reached < FULL_DISPLACEMENT; k++) {
        const double before = r->reached;
        put_loads(b, unit, first * k / 8, b->full->loads);
        if (bough_full_mechanism_settle(b->ctx, b->full))
            break;
        const bough_pose now = effector_of(b, b->full->poses, 0);
        r->reached = displacement(b, &b->rest, &now), r->size = first * k / 8;
        if (r->reached - before < 2e-3) /* it does not go farther */
            break;
    }
    put_loads(b, unit, r->size, r->load);
    return r->size > 0;
}

/* One model, by the load that takes it to a displacement of 1. */
static bool run_single(stand *b, result *r) {
    const double unit = 1 / r->size;
    put_loads(b, r->load, 1e-3 * unit, b->one_state->wrench);
    if (bough_blend_state_settle(b->ctx, b->one, b->one_state))
        return false;
    const double most = 1e-3 * FULL_DISPLACEMENT / displacement(b, &b->rest, &b->one_state->effectors[0]);
    for (int k = 0; k <= STEPS; k++) {
        put_loads(b, r->load, most * unit * k / STEPS, b->one_state->wrench);
        if (bough_blend_state_settle(b->ctx, b->one, b->one_state))
            return false;
        bough_blend_state_place(b->one, b->one_state);
        r->curves[0].x[k] = displacement(b, &b->rest, &b->one_state->effectors[0]);
        r->curves[0].y[k] = bough_mechanism_constraint_error(b->mechanism, b->one_state->poses);
    }
    r->single = r->curves[0].y[STEPS];
    return true;
}

/* The blend's equilibrium under a load that the full mechanism is in equilibrium with, from there. */
static bool settle_blend(stand *b, double *error, double *away) {
    for (int32_t e = 0; e < b->s->def.end_effector_count; e++) {
        const bo_se3 base = bo_se3_inverse(bo_pose(&b->full->poses[b->s->def.base]));
        const bough_pose there = effector_of(b, b->full->poses, e);
        b->state->effectors[e] = bo_put_pose(bo_se3_mul(base, bo_pose(&there)));
    }
    put_loads(b, b->full->loads, 1, b->state->wrench);
    if (bough_blend_state_settle(b->ctx, b->blend, b->state))
        return false;
    bough_blend_state_place(b->blend, b->state);
    const bough_pose there = effector_of(b, b->full->poses, 0);
    *error = bough_mechanism_constraint_error(b->mechanism, b->state->poses);
    *away = displacement(b, &there, &b->state->effectors[0]);
    return true;
}

static bool run_blended(stand *b, result *r) {
    bough_workspace_report report;
    if (!find_points(b, r->load, 1, &report) || !restart_full(b))
        return false;
    r->points = bough_mechanism_blend_count(b->blend);
    for (int k = 0; k <= STEPS; k++) {
        double error, away;
        put_loads(b, r->load, (double)k / STEPS, b->full->loads);
        if (bough_full_mechanism_settle(b->ctx, b->full) || !settle_blend(b, &error, &away))
            return false;
        r->curves[1].x[k] = displacement(b, &b->rest, &b->state->effectors[0]);
        r->curves[1].y[k] = error;
        r->blended = fmax(r->blended, error);
        r->effector = fmax(r->effector, away);
    }
    return true;
}

/* ---- off the path ---- */

/* Points for all directions together; errors under loads that are random sums of these directions. */
typedef struct {
    int32_t points;
    int count, lost;
    double errors[BETWEEN * BETWEEN_STEPS], away[BETWEEN * BETWEEN_STEPS];
} between;

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool run_between(stand *b, const subject *what, const result *results, between *out) {
    double loads[MOST_CASES * 6 * SKETCH_EFFECTORS], load[6 * SKETCH_EFFECTORS];
    const int32_t n = 6 * b->s->def.end_effector_count;
    bough_workspace_report report;
    uint64_t random = 7;
    const int count = what->pull_count - what->first_between;
    results += what->first_between;
    for (int p = 0; p < count; p++)
        memcpy(loads + (ptrdiff_t)n * p, results[p].load, (size_t)n * sizeof(double));
    if (!find_points(b, loads, count, &report))
        return false;
    out->points = bough_mechanism_blend_count(b->blend);
    for (int i = 0; i < BETWEEN; i++) {
        double shares[MOST_CASES], sum = 0;
        for (int p = 0; p < count; p++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            shares[p] = (double)(random >> 11) * 0x1p-53;
            sum += shares[p];
        }
        memset(load, 0, sizeof load);
        for (int p = 0; p < count; p++)
            for (int32_t k = 0; k < n; k++)
                load[k] += shares[p] / sum * results[p].load[k];
        if (!restart_full(b))
            return false;
        for (int k = 1; k <= BETWEEN_STEPS; k++) {
            put_loads(b, load, (double)k / BETWEEN_STEPS, b->full->loads);
            if (bough_full_mechanism_settle(b->ctx, b->full) ||
                !settle_blend(b, &out->errors[out->count], &out->away[out->count]))
                out->lost++;
            else
                out->count++;
        }
    }
    qsort(out->errors, (size_t)out->count, sizeof *out->errors, compare);
    qsort(out->away, (size_t)out->count, sizeof *out->away, compare);
    return out->count > 0;
}

/* ---- telling ---- */

static bool draw(bough_context *ctx, const subject *what, const result *results, const char *folder) {
    bough_series series[2 * MOST_CASES];
    char names[2 * MOST_CASES][64], path[1024], title[128];
    bough_plot_def def = bough_default_plot_def();
    for (int i = 0; i < 2 * what->pull_count; i++) {
        const int p = i % what->pull_count, blended = i / what->pull_count;
        const curve *c = &results[p].curves[blended];
        snprintf(names[i], sizeof names[i], "%s, %s", what->pulls[p].name, blended ? "blended" : "one model");
        series[i] = (bough_series){names[i], STEPS + 1, c->x, c->y, !blended};
    }
    snprintf(title, sizeof title, "%s: how far joints open, by load and model", what->name);
    snprintf(path, sizeof path, "%s/figure7-%s.svg", folder, what->name);
    def.title = title, def.x_title = "relative displacement of the end effector",
    def.y_title = "relative constraint error";
    def.width = 900, def.height = 460;
    def.x_min = 0, def.x_max = 1.1, def.y_min = 0, def.y_max = 0.16;
    def.legend = BOUGH_LEGEND_OUTSIDE;
    return !bough_plot_write(ctx, &def, series, 2 * what->pull_count, path);
}

static void tell(const subject *what, const result *results, const between *off) {
    for (int p = 0; p < what->pull_count; p++) {
        const result *r = &results[p];
        printf(
            "  %-7s %-9s to %7.0f N (displacement %.2f): one model at displacement 1: %.3f; %2d points: at most %.4f "
            "on the way, end effector %.3f off\n",
            what->name, what->pulls[p].name, r->size, r->reached, r->single, r->points, r->blended, r->effector);
    }
    printf("  %-7s off the path, %d points, %d loads between (%d without equilibrium): median %.4f, nine "
           "tenths %.4f, largest %.4f; end effector median %.3f, largest %.3f\n",
           what->name, off->points, off->count, off->lost, off->errors[off->count / 2],
           off->errors[off->count * 9 / 10], off->errors[off->count - 1], off->away[off->count / 2],
           off->away[off->count - 1]);
}

static json_t *rows(const subject *what, const result *results, const between *off) {
    json_t *list = json_array();
    for (int p = 0; p < what->pull_count; p++) {
        const result *r = &results[p];
        json_array_append_new(list,
                              json_pack("{s:s, s:f, s:f, s:f, s:i, s:f, s:f}", "direction", what->pulls[p].name, "load",
                                        r->size, "displacement", r->reached, "one_model", r->single, "points",
                                        (int)r->points, "blended", r->blended, "effector", r->effector));
    }
    return json_pack("{s:s, s:o, s:{s:i, s:i, s:i, s:f, s:f, s:f, s:f}}", "mechanism", what->name, "directions", list,
                     "off_path", "points", (int)off->points, "loads", off->count, "lost", off->lost, "median",
                     off->errors[off->count / 2], "nine_tenths", off->errors[off->count * 9 / 10], "largest",
                     off->errors[off->count - 1], "effector_median", off->away[off->count / 2]);
}

static bool measure(stand *b, const subject *what, result *results, between *off) {
    if (!open_stand(b, what))
        return false;
    for (int p = 0; p < what->pull_count; p++)
        if (!find_load(b, &what->pulls[p], &results[p]) || !run_single(b, &results[p]) || !run_blended(b, &results[p]))
            return false;
    return run_between(b, what, results, off);
}

int bench_figure7(const bench_options *options) {
    static const subject subjects[] = {
        {"Y", make_y, {{"x", {1, 0, 0}}, {"y", {0, 1, 0}}, {"z", {0, 0, 1}}, {"diagonal", {1, 1, 1}}}, 4, 0},
        /* along x it takes two hundred times the force: no load between that and the others is like either */
        {"ladder", make_ladder, {{"x", {1, 0, 0}}, {"z", {0, 0, 1}}, {"diagonal", {1, 1, 1}}}, 3, 1}};
    if (options->folder && !app_make_folder(options->folder))
        return APP_FAILED;
    bough_context *ctx = app_context(1);
    json_t *all = json_array();
    bool good = true;
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects && good; i++) {
        static result results[MOST_CASES];
        static between off;
        stand b = {.ctx = ctx};
        memset(results, 0, sizeof results);
        memset(&off, 0, sizeof off);
        good = measure(&b, &subjects[i], results, &off) &&
               (!options->folder || draw(ctx, &subjects[i], results, options->folder));
        close_stand(&b);
        if (good && options->json)
            json_array_append_new(all, rows(&subjects[i], results, &off));
        else if (good)
            tell(&subjects[i], results, &off);
    }
    if (!good)
        bench_fail(ctx);
    if (options->json && good)
        app_print_json(all);
    else
        json_decref(all);
    bough_context_destroy(ctx);
    return good ? APP_OK : APP_FAILED;
}
