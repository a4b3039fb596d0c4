#include "scene/cook_plan.h"

#include "base/jobs.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef struct {
    bough_cook_plan *plan;
    int32_t count, *waiting; /* items to cook, in the order in which they begin */
    void (*finished)(void *user, const bough_cooked *cooked);
    void *user;
} kitchen;

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- the folder, before minutes are spent ---- */

static bough_status check_folder(bough_context *ctx, const bough_cook_plan *plan) {
    const char *output = plan->items[0].output, *slash = strrchr(output, '/');
    if (plan->folder && mkdir(plan->folder, 0777) && errno != EEXIST)
        return bo_fail(ctx, BOUGH_ERROR_FILE, "the folder %s cannot be made: %s", plan->folder, strerror(errno));
    char *folder = slash ? bo_strndup(ctx, output, (size_t)(slash - output + 1)) : bo_strdup(ctx, ".");
    if (!folder)
        return BOUGH_ERROR_MEMORY;
    bough_status status = BOUGH_OK;
    if (access(folder, W_OK))
        status = bo_fail(ctx, BOUGH_ERROR_FILE, "%s: the folder %s cannot be written to: %s", output, folder,
                         strerror(errno));
    bo_free(ctx, folder);
    return status;
}

/* ---- news ---- */

typedef struct {
    const kitchen *k;
    bough_cooked cooked;
} news;

static void tell(void *data) {
    const news *n = data;
    n->k->finished(n->k->user, &n->cooked);
}

static bough_status set_resume_path(bough_context *ctx, bo_plan_item *item) {
    size_t size = strlen(item->output) + sizeof ".part";
    char *path = BO_NEW_ARRAY(ctx, char, size);
    if (!path)
        return BOUGH_ERROR_MEMORY;
    snprintf(path, size, "%s.part", item->output);
    bough_status status = bough_cook_job_set_resume_path(ctx, item->job, path);
    bo_free(ctx, path);
    return status;
}

/* ---- looking for a grade ---- */

static const char *const verdict_words[BOUGH_VERDICT_COUNT] = {"frequencies", "forces", "motion", "loads"};

static bough_grade grade_of(const bough_component *c, bough_verdict *worst, double *error) {
    *worst = bough_component_worst(c, error);
    bough_grade grade = BOUGH_GRADE_GOOD;
    for (int v = 0; v < BOUGH_VERDICT_COUNT; v++) {
        const bough_grade own = bough_verdict_grade((bough_verdict)v, bough_component_error(c, (bough_verdict)v));
        grade = own < grade ? own : grade;
    }
    return grade;
}

/* Chooses what to try next against this error: a finer cubature, or two fifths more coordinates, up to where the exact
 * polynomial ends. False: nothing is left. */
static bool try_more(bough_cook_def *def, const bough_component *c, bough_verdict worst, int32_t unknowns) {
    if (worst == BOUGH_VERDICT_FORCES) {
        def->cubature_tolerance *= 0.5;
        def->cubature_most *= 2;
        return c->elastic == BOUGH_REDUCED_CUBATURE && def->cubature_tolerance > 2e-4;
    }
    const int32_t most = def->polynomial_most < unknowns / 4 ? def->polynomial_most : unknowns / 4;
    const int32_t next = def->r + (2 * def->r + 4) / 5;
    const bool more = def->r < most && c->r == def->r; /* with fewer than asked for there are no more to be had */
    def->r = next < most ? next : most;
    if (def->mode_count > 0) /* as many modes for each coordinate as the file wants */
        def->mode_count += def->mode_count * 2 / 5;
    def->tolerance = 0;
    return more;
}

static void remark(bough_context *ctx, const bough_cook_job *job, const bough_component *c, bough_verdict worst,
                   double error, bool stuck) {
    bo_warn(
        ctx, "%s: r = %d, and %s are within %.3g %% only; %s", job->file, c->r, verdict_words[worst], 100 * error,
        worst == BOUGH_VERDICT_FORCES ? "its forces are linear, or its cubature has all points that help"
        : stuck
            ? "more coordinates hardly help: what is missed is local, where it is hit or where something hangs. Cut "
              "elsewhere, or make that interface larger"
            : "more coordinates would help, but make steps slow; cut the part in two");
}

/* Below this a basis has hardly room for what wrenches do, and may need several raises before anything is seen. */
#define ENOUGH 20

/* Cooks until the grade is reached, or until two raises in a row took less than a tenth of the error away. */
static bough_status cook_for_grade(bough_context *ctx, const bough_cook_plan *plan, bo_plan_item *item, double *times,
                                   bough_component **component) {
    bough_cook_def def = item->job->def;
    const int32_t unknowns = 3 * bough_body_mesh(item->job->body)->vertex_count;
    bough_verdict worst;
    double error, before = INFINITY;
    BO_TRY(bo_cook_job_run_as(ctx, item->job, &def, times, component));
    def.resume_path = NULL; /* it holds the basis of the first */
    for (int idle = 0; grade_of(*component, &worst, &error) < plan->grade;) {
        idle = def.r >= ENOUGH && error > 0.9 * before ? idle + 1 : 0;
        before = error < before ? error : before;
        if (idle >= 2 || !try_more(&def, *component, worst, unknowns)) {
            remark(ctx, item->job, *component, worst, error, idle >= 2);
            break;
        }
        bough_component *next;
        const bough_status status = bo_cook_job_run_as(ctx, item->job, &def, times, &next);
        if (status != BOUGH_OK) {
            bough_component_destroy(ctx, *component);
            *component = NULL;
            return status;
        }
        bough_component_destroy(ctx, *component);
        *component = next;
    }
    return BOUGH_OK;
}

static bool is_good_enough(const bough_cook_plan *plan, const bo_plan_item *item) {
    bough_verdict worst;
    double error;
    return plan->grade == BOUGH_GRADE_POOR || (item->ready && grade_of(item->ready, &worst, &error) >= plan->grade);
}

/* ---- one item ---- */

static bough_status cook_item(bough_context *ctx, void *data, int32_t number) {
    const kitchen *k = data;
    int32_t index = k->waiting[number];
    bo_plan_item *item = &k->plan->items[index];
    double times[BOUGH_COOK_PHASE_COUNT] = {0}, began = seconds_now();
    bough_component *component;
    BO_TRY(set_resume_path(ctx, item));
    BO_TRY(cook_for_grade(ctx, k->plan, item, times, &component));
    bough_status status = bough_component_save(ctx, component, item->output);
    if (status == BOUGH_OK) {
        bough_component_destroy(ctx, item->ready); /* what was there before */
        item->ready = NULL;
        item->shown.up_to_date = true;
        item->shown.r = component->r;
        news n = {k, {index, component, true, seconds_now() - began, times}};
        if (k->finished)
            bo_job_call(ctx, tell, &n);
    }
    bough_component_destroy(ctx, component);
    return status;
}

/* ---- all ---- */

/* Large ones first: a large one at the end would leave the other threads idle. */
static void add_in_order(kitchen *k, int32_t index) {
    const bo_plan_item *items = k->plan->items;
    int32_t at = k->count++;
    for (; at > 0 && items[k->waiting[at - 1]].shown.element_count < items[index].shown.element_count; at--)
        k->waiting[at] = k->waiting[at - 1];
    k->waiting[at] = index;
}

static void show_ready(bough_context *ctx, const kitchen *k, int32_t index) {
    bo_plan_item *item = &k->plan->items[index];
    bough_component *component = item->ready;
    if (!component && bough_component_load(ctx, item->output, &component) != BOUGH_OK)
        return; /* somebody removed it since the plan was made */
    const bough_cooked cooked = {.index = index, .component = component};
    k->finished(k->user, &cooked);
    bough_component_destroy(ctx, component);
    item->ready = NULL;
}

bough_status bough_cook_plan_run(bough_context *ctx, bough_cook_plan *plan, bool force,
                                 void (*finished)(void *user, const bough_cooked *cooked), void *user) {
    kitchen k = {.plan = plan, .finished = finished, .user = user};
    k.waiting = BO_NEW_ARRAY(ctx, int32_t, plan->item_count);
    if (!k.waiting)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < plan->item_count; i++) {
        if (force || !plan->items[i].shown.up_to_date || !is_good_enough(plan, &plan->items[i]))
            add_in_order(&k, i);
        else if (finished)
            show_ready(ctx, &k, i);
    }
    bough_status status = k.count ? check_folder(ctx, plan) : BOUGH_OK;
    if (status == BOUGH_OK)
        status = bo_run_jobs(ctx, cook_item, &k, k.count, "cooking");
    bo_free(ctx, k.waiting);
    return status;
}
