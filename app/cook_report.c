/* The report of bough cook: a card of one component, or lines and a table of those of a scene. */
#include "app.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Data that are kept of a component when it is destroyed. */
typedef struct {
    bool known, cooked;
    int32_t r;
    double seconds, bytes;
    char elastic[16];
} row;

typedef struct {
    const bough_cook_plan *plan;
    bool json;
    row *rows;    /* one for each item */
    json_t *list; /* the same for programs */
    int done, cooked;
    bough_joint_forecast joints;
} report;

/* ---- one component ---- */

static json_t *json_times(const double *times) {
    json_t *object = json_object();
    for (int i = 0; i < BOUGH_COOK_PHASE_COUNT; i++)
        json_object_set_new(object, bough_cook_phase_name((bough_cook_phase)i), json_real(times[i]));
    return object;
}

static json_t *json_cooked(const bough_cook_item *item, const bough_cooked *cooked) {
    json_t *object = app_json_component(item->output, cooked->component);
    json_object_set_new(object, "cooked", json_boolean(cooked->cooked));
    json_object_set_new(object, "seconds", json_real(cooked->seconds));
    json_object_set_new(object, "phase_seconds", cooked->times ? json_times(cooked->times) : json_null());
    return object;
}

static void print_one(const bough_cook_item *item, const bough_cooked *cooked) {
    const bough_component *c = cooked->component;
    if (!cooked->cooked) {
        printf("%s: up to date (--force cooks it all the same)\n", item->output);
        return;
    }
    printf("%s: r = %d, %s, %s, cooked in %.2f s\n", item->output, c->r, app_elastic_name(c),
           app_size_text((double)c->image_size), cooked->seconds);
    app_print_quality(c);
    puts("times");
    for (int i = 0; i < BOUGH_COOK_PHASE_COUNT; i++)
        printf("  %-20s %.2f s\n", bough_cook_phase_name((bough_cook_phase)i), cooked->times[i]);
}

/* ---- while it works ---- */

static void remember(report *r, const bough_cooked *cooked) {
    const bough_component *c = cooked->component;
    row *to = &r->rows[cooked->index];
    *to = (row){.known = true, .cooked = cooked->cooked, .r = c->r};
    to->seconds = cooked->seconds;
    to->bytes = (double)c->image_size;
    snprintf(to->elastic, sizeof to->elastic, "%s", app_elastic_name(c));
    r->done++;
    r->cooked += cooked->cooked;
}

static void on_finished(void *user, const bough_cooked *cooked) {
    report *r = user;
    const bough_cook_item *item = bough_cook_plan_item(r->plan, cooked->index);
    app_clear_progress();
    remember(r, cooked);
    if (r->json) {
        json_t *object = json_cooked(item, cooked);
        json_object_set_new(object, "elements", json_integer(item->element_count));
        json_object_set_new(object, "index", json_integer(cooked->index));
        if (bough_cook_plan_folder(r->plan))
            json_object_set_new(object, "name", app_json_text(item->name));
        json_array_append_new(r->list, object);
    } else if (!bough_cook_plan_folder(r->plan)) {
        print_one(item, cooked);
    } else if (cooked->cooked) {
        printf("%s: %d elements, r = %d, %.2f s\n", item->name, item->element_count, cooked->component->r,
               cooked->seconds);
        fflush(stdout);
    }
}

/* ---- at the end ---- */

static void print_table(const report *r, double seconds) {
    int32_t count = bough_cook_plan_count(r->plan), coordinates = 0;
    double bytes = 0;
    int width = 9;
    for (int32_t i = 0; i < count; i++) {
        int length = (int)strlen(bough_cook_plan_item(r->plan, i)->name);
        width = length > width && length <= 40 ? length : width;
    }
    printf("\n%-*s  %9s  %4s  %-10s  %9s  %9s  worst\n", width, "component", "elements", "r", "elastic", "size",
           "seconds");
    for (int32_t i = 0; i < count; i++) {
        const row *c = &r->rows[i];
        const bough_cook_item *item = bough_cook_plan_item(r->plan, i);
        char time[16] = "-", worst[96];
        app_worst_quality(item, c->r, worst, sizeof worst);
        if (c->cooked)
            snprintf(time, sizeof time, "%.2f", c->seconds);
        printf("%-*s  %9d  %4d  %-10s  %9s  %9s  %s\n", width, item->name, item->element_count, c->r, c->elastic,
               app_size_text(c->bytes), time, worst);
        coordinates += c->r;
        bytes += c->bytes;
    }
    printf("%s: %d components, %d of them cooked now in %.2f s; %d coordinates, %s\n", bough_cook_plan_folder(r->plan),
           count, r->cooked, seconds, coordinates, app_size_text(bytes));
}

/* Prints the cost of a scene's joints. */
static void print_joints(const bough_joint_forecast *f) {
    if (!f->frequency_joint && !f->sag_joint)
        return;
    const double worst = fmax(fabs(f->frequency), fabs(f->sag));
    printf("joints: %s; with rigid interfaces a low frequency is about %.2g %% too %s (most of it at \"%s\"), the sag "
           "%.2g %% too %s (\"%s\")%s\n",
           worst <= 0.02                  ? "good"
           : worst <= BOUGH_JOINT_WARNING ? "fair"
                                          : "poor",
           100 * fabs(f->frequency), f->frequency > 0 ? "high" : "low", f->frequency_joint ? f->frequency_joint : "-",
           100 * fabs(f->sag), f->sag > 0 ? "large" : "small", f->sag_joint ? f->sag_joint : "-",
           worst <= BOUGH_JOINT_WARNING
               ? ""
               : "; the cut is the reason, not r: cut where the body is slimmer or stiffer, or a "
                 "little outside of where something grows");
}

static json_t *json_joints(const bough_joint_forecast *f) {
    json_t *object = json_pack("{s:f, s:f}", "frequency_error", f->frequency, "sag_error", f->sag);
    json_object_set_new(object, "frequency_joint",
                        f->frequency_joint ? app_json_text(f->frequency_joint) : json_null());
    json_object_set_new(object, "sag_joint", f->sag_joint ? app_json_text(f->sag_joint) : json_null());
    return object;
}

static int by_index(const void *a, const void *b) {
    const json_t *const *x = a, *const *y = b;
    json_int_t i = json_integer_value(json_object_get(*x, "index"));
    json_int_t j = json_integer_value(json_object_get(*y, "index"));
    return (i > j) - (i < j);
}

/* In the order of the plan, whatever order they were finished in. */
static json_t *sorted_list(const json_t *list) {
    size_t count = json_array_size(list);
    json_t **items = calloc(count ? count : 1, sizeof *items), *sorted = json_array();
    for (size_t i = 0; items && i < count; i++)
        items[i] = json_array_get(list, i);
    if (items)
        qsort(items, count, sizeof *items, by_index);
    for (size_t i = 0; items && i < count; i++)
        json_array_append(sorted, items[i]);
    free(items);
    return sorted;
}

/* Adds the figures of each component that only the whole scene knows. */
static void add_shares(const report *r, json_t *list) {
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *object = json_array_get(list, i);
        const int32_t index = (int32_t)json_integer_value(json_object_get(object, "index"));
        const bough_cook_item *item = bough_cook_plan_item(r->plan, index);
        char worst[96];
        json_object_del(object, "index");
        if (!bough_cook_plan_folder(r->plan))
            continue;
        app_worst_quality(item, r->rows[index].r, worst, sizeof worst);
        json_object_set_new(object, "share", json_real(item->share));
        json_object_set_new(object, "in_scene", json_string(worst));
    }
}

static void print_json(const report *r, double seconds) {
    const char *folder = bough_cook_plan_folder(r->plan);
    json_t *list = sorted_list(r->list);
    add_shares(r, list);
    if (folder)
        app_print_json(json_pack("{s:o, s:i, s:f, s:o, s:o}", "folder", app_json_text(folder), "cooked", r->cooked,
                                 "seconds", seconds, "components", list, "joints", json_joints(&r->joints)));
    else
        app_print_json(json_incref(json_array_get(list, 0)));
    if (!folder)
        json_decref(list);
}

static void print_result(const report *r, double seconds) {
    const char *folder = bough_cook_plan_folder(r->plan);
    if (r->json)
        print_json(r, seconds);
    else if (folder && r->cooked)
        print_table(r, seconds);
    else if (folder && bough_cook_plan_count(r->plan))
        printf("%s: %d components, all up to date (--force cooks them all the same)\n", folder,
               bough_cook_plan_count(r->plan));
    else if (folder)
        puts("there is nothing to cook: all components are given as files");
}

/* The unfinished basis of a single component; zeros when there is none. */
static struct stat look_for_part(const report *r, char part[4096]) {
    struct stat info = {0};
    snprintf(part, 4096, "%.4080s.part", bough_cook_plan_item(r->plan, 0)->output);
    return stat(part, &info) ? (struct stat){0} : info;
}

static int fail_interrupted(const report *r, const struct stat *before) {
    char part[4096];
    if (bough_cook_plan_folder(r->plan))
        return app_fail_with("interrupted; %d of %d components are done, and the same command goes on from there",
                             r->done, bough_cook_plan_count(r->plan));
    struct stat now = look_for_part(r, part);
    if (now.st_ino == 0)
        return app_fail_with("interrupted before there was anything to keep");
    if (now.st_ino == before->st_ino && now.st_mtim.tv_sec == before->st_mtim.tv_sec &&
        now.st_mtim.tv_nsec == before->st_mtim.tv_nsec)
        return app_fail_with("interrupted before there was anything to keep; %s is of an earlier run", part);
    return app_fail_with("interrupted; %s keeps the basis, and the same command goes on from there", part);
}

int app_cook(bough_context *ctx, bough_cook_plan *plan, bool force, bool json) {
    report r = {.plan = plan, .json = json, .list = json_array()};
    int32_t count = bough_cook_plan_count(plan);
    double began = app_seconds();
    r.rows = calloc((size_t)count + 1, sizeof *r.rows);
    if (!r.rows || !r.list)
        return app_fail_with("out of memory");
    char part[4096];
    struct stat before = bough_cook_plan_folder(plan) ? (struct stat){0} : look_for_part(&r, part);
    bough_status status = bough_cook_plan_run(ctx, plan, force, on_finished, &r);
    app_clear_progress();
    if (status == BOUGH_OK)
        status = bough_cook_plan_forecast(ctx, plan, &r.joints);
    int result = status == BOUGH_CANCELLED ? fail_interrupted(&r, &before) : status ? app_fail(ctx) : APP_OK;
    if (result == APP_OK)
        print_result(&r, app_seconds() - began);
    if (result == APP_OK && !json)
        print_joints(&r.joints);
    json_decref(r.list);
    free(r.rows);
    return result;
}
