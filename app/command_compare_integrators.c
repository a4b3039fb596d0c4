#include "app.h"

#include <bough/run.h>
#include <bough/time.h>

#include <stdlib.h>
#include <string.h>

enum { OPT_DT = 300, OPT_TIME, METHOD_LIMIT = 32 };

typedef struct {
    const char *scene, *names[METHOD_LIMIT];
    int count;
    double dt, duration;
    const char *output;
    int32_t threads;
    bool json;
} arguments;

typedef struct {
    double *time, *energy; /* total, at the start and after every step */
    int32_t count;
    bough_run_report report;
    bool failed;
} result;

static const struct argp_option options[] = {
    {"dt", OPT_DT, "H", 0, "time step in s (default: the scene's)", 0},
    {"time", OPT_TIME, "T", 0, "duration in s (default: the scene's)", 0},
    {"output", 'o', "FILE.svg|FILE.png", 0, "where to draw (default: energies.svg)", 0},
    APP_OPTION_THREADS('t'),
    APP_OPTION_JSON('j'),
    {0},
};

static void positive(struct argp_state *state, const char *option, const char *text, double *value) {
    if (!app_parse_numbers(text, 1, value) || *value <= 0)
        argp_error(state, "--%s: \"%s\" should be a positive number", option, text);
}

static void check_name(struct argp_state *state, const char *name) {
    for (int32_t i = 0; i < bough_integrator_count(); i++)
        if (!strcmp(name, bough_integrator_describe(i)->name))
            return;
    argp_error(state, "there is no integrator \"%s\"; bough integrators lists them", name);
}

static error_t parse(int key, char *text, struct argp_state *state) {
    arguments *a = state->input;
    switch (key) {
    case OPT_DT:
        positive(state, "dt", text, &a->dt);
        break;
    case OPT_TIME:
        positive(state, "time", text, &a->duration);
        break;
    case 'o':
        app_need_plot(state, "output", text);
        a->output = text;
        break;
    case 't':
        app_need_threads(state, text, &a->threads);
        break;
    case 'j':
        a->json = true;
        break;
    case ARGP_KEY_ARG:
        if (!a->scene) {
            a->scene = text;
            break;
        }
        check_name(state, text);
        if (a->count == METHOD_LIMIT)
            argp_error(state, "more than %d integrators", METHOD_LIMIT);
        a->names[a->count++] = text;
        break;
    case ARGP_KEY_END:
        if (!a->scene)
            argp_error(state, "name a scene");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp parser = {
    options,
    parse,
    "SCENE.json [INTEGRATOR ...]",
    "Runs one scene with several time integrators and draws the total energy of each."
    "\vExamples:\n"
    "  bough compare-integrators examples/pendulum/scene.json\n"
    "  bough compare-integrators scene.json tr-bdf2 siere midpoint --dt 0.02 -o energies.png\n\n"
    "Without names: backward-euler bdf2 tr-bdf2 midpoint generalised-alpha s-sdirk siere str-sbdf2ere.",
    NULL,
    NULL,
    NULL};

/* Steps the scene to its end and keeps the total energy. */
static bough_status follow(bough_context *ctx, bough_scene *scene, const arguments *a, const char *name, result *r) {
    bough_run_def def = bough_default_run_def();
    def.integrator = name, def.dt = a->dt, def.duration = a->duration;
    bough_run *run;
    bough_status s = bough_run_create(ctx, scene, &def, &run);
    if (s)
        return s;
    bough_run_look(run, &r->report);
    size_t most = (size_t)r->report.step_count + 1;
    r->time = calloc(most, sizeof *r->time);
    r->energy = calloc(most, sizeof *r->energy);
    if (!r->time || !r->energy)
        s = BOUGH_ERROR_MEMORY;
    while (!s) {
        r->time[r->count] = bough_run_values(run)[BOUGH_COLUMN_TIME];
        r->energy[r->count++] = bough_run_values(run)[BOUGH_COLUMN_TOTAL];
        if ((size_t)r->count == most)
            break;
        s = app_interrupted() ? BOUGH_CANCELLED : bough_run_step(ctx, run);
    }
    bough_run_look(run, &r->report);
    bough_run_destroy(ctx, run);
    return s;
}

static bough_status draw(bough_context *ctx, const arguments *a, const result *results, const char *path) {
    bough_series series[METHOD_LIMIT];
    for (int i = 0; i < a->count; i++)
        series[i] = (bough_series){a->names[i], results[i].count, results[i].time, results[i].energy, i >= 6};
    bough_plot_def def = bough_default_plot_def();
    def.title = "Total energy";
    def.x_title = "t (s)", def.y_title = "energy (J)";
    return bough_plot_write(ctx, &def, series, a->count, path);
}

static void report(const arguments *a, const result *results, const char *path) {
    json_t *list = json_array();
    if (!a->json)
        printf("integrator            energy change (J)   iterations   retries\n");
    for (int i = 0; i < a->count; i++) {
        const result *r = &results[i];
        double change = r->count ? r->energy[r->count - 1] - r->energy[0] : 0;
        if (a->json)
            json_array_append_new(list, json_pack("{s:s, s:b, s:o, s:I, s:I}", "integrator", a->names[i], "finished",
                                                  (int)!r->failed, "energy_change", app_json_number(change),
                                                  "iterations", (json_int_t)r->report.iterations, "retries",
                                                  (json_int_t)r->report.retries));
        else
            printf("%-20s  %17.6g   %10lld   %7lld%s\n", a->names[i], change, (long long)r->report.iterations,
                   (long long)r->report.retries, r->failed ? "   did not finish" : "");
    }
    if (a->json)
        app_print_json(json_pack("{s:o, s:s}", "integrators", list, "plot", path));
    else {
        json_decref(list);
        printf("drawn in %s\n", path);
    }
}

int command_compare_integrators(int argc, char **argv) {
    static const char *const usual[] = {"backward-euler",    "bdf2",    "tr-bdf2", "midpoint",
                                        "generalised-alpha", "s-sdirk", "siere",   "str-sbdf2ere"};
    arguments a = {0};
    app_parse(&parser, argc, argv, &a);
    if (a.count == 0)
        for (; a.count < 8; a.count++)
            a.names[a.count] = usual[a.count];
    const char *path = a.output ? a.output : "energies.svg";
    bough_context *ctx = app_context(a.threads);
    bough_scene *scene;
    if (bough_scene_load(ctx, a.scene, &scene)) {
        int failed = app_fail(ctx);
        bough_context_destroy(ctx);
        return failed;
    }
    result results[METHOD_LIMIT] = {0};
    int status = APP_OK;
    for (int i = 0; i < a.count && !app_interrupted(); i++) {
        bough_status s = follow(ctx, scene, &a, a.names[i], &results[i]);
        app_clear_progress();
        results[i].failed = s != BOUGH_OK;
        if (s)
            status = app_fail_with("%s: %s", a.names[i], bough_message(ctx));
        if (s < 0)
            break;
    }
    if (results[0].count > 1) {
        if (draw(ctx, &a, results, path))
            status = app_fail(ctx);
        else
            report(&a, results, path);
    }
    for (int i = 0; i < METHOD_LIMIT; i++) {
        free(results[i].time);
        free(results[i].energy);
    }
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
    return status;
}
