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

/* ---- one item ---- */

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

static bough_status cook_item(bough_context *ctx, void *data, int32_t number) {
    const kitchen *k = data;
    int32_t index = k->waiting[number];
    bo_plan_item *item = &k->plan->items[index];
    double times[BOUGH_COOK_PHASE_COUNT] = {0}, began = seconds_now();
    bough_component *component;
    BO_TRY(set_resume_path(ctx, item));
    BO_TRY(bough_cook_job_run(ctx, item->job, times, &component));
    bough_status status = bough_component_save(ctx, component, item->output);
    if (status == BOUGH_OK) {
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
        if (force || !plan->items[i].shown.up_to_date)
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
