#include "app.h"

#include <bough/retarget.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPT_OUTPUT = 'o',
    OPT_MARKER = 'm',
    OPT_PARTS = 'p',
    OPT_YOUNG = 300,
    OPT_DAMPING,
    OPT_UNIT,
    OPT_RELEASE,
    OPT_SYNCED,
    OPT_DT,
    OPT_PLOT,
    MOST_PARTS = 64,
    LINES = 6 /* of the plot: three coordinates, measured and fitted */
};

/* Residuals of neighbours are alike beyond this: the model is at fault, not the noise. */
#define ALIKE 0.3
/* A step's error of this share of half an interval is worth a word, and this much of it is harmless. */
#define STEP_SHARE 0.75
#define STEP_AIM 0.4
/* Coordinates that move less than this share of the largest are not drawn. */
#define DRAWN_SHARE 0.05

typedef struct {
    app_scene_options scene;
    char *marker; /* NAME=FILE, cut at its = */
    const char *file, *unit, *output, *plot;
    char *parts[MOST_PARTS];
    int part_count;
    bool young, damping, mass, stiffness, release, synced;
    double dt;
} arguments;

static const struct argp_option options[] = {
    {"marker", OPT_MARKER, "NAME=FILE.csv", 0,
     "the measurement: where the probe or the body NAME was seen; columns time, x, y, z", 0},
    {"unit", OPT_UNIT, "m|cm|mm", 0, "unit of x, y and z where their names do not say it, as in x_mm (default: m)", 0},
    {"parts", OPT_PARTS, "A,B,...", 0, "flexible parts that are made of the material (default: all)", 0},
    {"young", OPT_YOUNG, 0, 0, "fit Young's modulus (default, with --damping)", 0},
    {"damping", OPT_DAMPING, "stiffness|mass|both", OPTION_ARG_OPTIONAL, "fit Rayleigh damping (default: by stiffness)",
     0},
    {"release", OPT_RELEASE, 0, 0, "the marker was pulled aside, held still and let go: fit how far, too", 0},
    {"synced", OPT_SYNCED, 0, 0, "the clock of the measurement is the scene's: do not fit when it begins", 0},
    {"dt", OPT_DT, "S", 0, "time step, s (default: the scene's)", 0},
    {"output", OPT_OUTPUT, "FITTED.json", 0, "write the scene with the fitted material", 0},
    {"plot", OPT_PLOT, "FILE.svg|FILE.png", 0, "draw the measured and the fitted trajectory", 0},
    {0},
};

static void parse_damping(struct argp_state *state, const char *text, arguments *a) {
    const bool both = text && strcmp(text, "both") == 0, mass = text && strcmp(text, "mass") == 0;
    if (text && !both && !mass && strcmp(text, "stiffness") != 0)
        argp_error(state, "--damping: \"%s\" should be stiffness, mass or both", text);
    a->damping = true, a->mass = both || mass, a->stiffness = !mass;
}

static void parse_marker(struct argp_state *state, char *text, arguments *a) {
    char *equals = strchr(text, '=');
    if (a->marker)
        argp_error(state, "one marker at a time, not also \"%s\"", text);
    if (!equals || equals == text || !equals[1])
        argp_error(state, "--marker: \"%s\" should be NAME=FILE.csv, as in weight=seen.csv", text);
    *equals = 0;
    a->marker = text, a->file = equals + 1;
}

static void parse_parts(struct argp_state *state, char *text, arguments *a) {
    for (char *rest = text, *part; (part = strsep(&rest, ","));) {
        if (!*part || a->part_count == MOST_PARTS)
            argp_error(state, *part ? "--parts: at most %d parts" : "--parts: there is an empty name", MOST_PARTS);
        a->parts[a->part_count++] = part;
    }
}

static error_t parse(int key, char *text, struct argp_state *state) {
    arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->scene;
        break;
    case OPT_MARKER:
        parse_marker(state, text, a);
        break;
    case OPT_UNIT:
        a->unit = text;
        break;
    case OPT_PARTS:
        parse_parts(state, text, a);
        break;
    case OPT_YOUNG:
        a->young = true;
        break;
    case OPT_DAMPING:
        parse_damping(state, text, a);
        break;
    case OPT_RELEASE:
        a->release = true;
        break;
    case OPT_SYNCED:
        a->synced = true;
        break;
    case OPT_DT:
        a->dt = app_need_positive(state, "dt", text);
        break;
    case OPT_OUTPUT:
        app_need_extension(state, "output", text, ".json");
        a->output = text;
        break;
    case OPT_PLOT:
        app_need_plot(state, "plot", text);
        a->plot = text;
        break;
    case ARGP_KEY_END:
        if (!a->marker)
            argp_error(state, "what was measured? Say --marker NAME=FILE.csv");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp parser = {
    options,
    parse,
    "SCENE.json",
    "Finds Young's modulus and damping of the flexible parts of a scene of bodies with joints, so that a marker moves "
    "as "
    "it was measured, with intervals that hold the truth in 95 of 100 measurements."
    "\vExamples:\n"
    "  bough fit rod.json --marker weight=seen.csv --unit mm --plot fit.svg\n"
    "  bough fit rod.json --marker weight=seen.csv --release --damping=both -o fitted.json\n"
    "  bough fit arm.json --marker tip=seen.csv --parts upper,lower --young --json\n\n"
    "The first line of the CSV file has the names of its columns: time (or t), x, y and z; or NAME.x, NAME.y and "
    "NAME.z, as bough run records them. x_mm, x [mm] and x (mm) say the unit; time may be in s or ms. Ctrl-C ends with "
    "the best values so far.",
    app_scene_children,
    NULL,
    NULL};

/* ---- the measurement ---- */

typedef struct {
    int32_t count;
    double *times, *positions; /* s, m */
} measurement;

typedef struct {
    const char *name;
    double size;
} unit_size;
static const unit_size lengths[] = {{"m", 1}, {"cm", 0.01}, {"mm", 0.001}};
static const unit_size durations[] = {{"s", 1}, {"ms", 0.001}};

static double find_unit(const unit_size *units, size_t count, const char *text, size_t length) {
    for (size_t i = 0; i < count; i++)
        if (strlen(units[i].name) == length && strncmp(units[i].name, text, length) == 0)
            return units[i].size;
    return NAN;
}

/* The unit behind the name: "x_mm", "x [mm]", "x (mm)". Empty: it has none. False: it is another name. */
static bool split_name(const char *column, const char *name, const char **unit, size_t *length) {
    const size_t n = strlen(name);
    if (strncasecmp(column, name, n) != 0)
        return false;
    const char *rest = column + n;
    *unit = rest + strspn(rest, " _[(");
    *length = strcspn(*unit, ")] ");
    return *rest == 0 || strchr(" _[(", *rest);
}

/* *size: of the column's unit; `given` where the name has none. */
static int find_column(app_csv *csv, const char *const *names, const unit_size *units, size_t unit_count, double given,
                       double *size) {
    for (; *names; names++)
        for (int i = 0; i < csv->name_count; i++) {
            const char *unit;
            size_t length;
            if (!split_name(csv->names[i], *names, &unit, &length))
                continue;
            *size = length > 0 ? find_unit(units, unit_count, unit, length) : given;
            if (isnan(*size))
                return app_fail_with("%s:1: \"%s\": \"%.*s\" is no unit here; %s", csv->path, csv->names[i],
                                     (int)length, unit, units == lengths ? "say m, cm or mm" : "say s or ms");
            return app_csv_want(csv, i);
        }
    return app_csv_no_column(csv, names[-1], strlen(names[-1]));
}

static int choose_columns(app_csv *csv, const arguments *a, double sizes[4]) {
    static const char *const times[] = {"t", "time", NULL};
    const double unit = a->unit ? find_unit(lengths, 3, a->unit, strlen(a->unit)) : 1;
    int status = isnan(unit) ? app_fail_with("--unit: \"%s\" is no unit here; say m, cm or mm", a->unit)
                             : find_column(csv, times, durations, 2, 1, &sizes[0]);
    for (int d = 0; d < 3 && status == APP_OK; d++) {
        char own[256];
        const char axis[2] = {"xyz"[d]};
        snprintf(own, sizeof own, "%s.%s", a->marker, axis);
        const char *const names[] = {own, axis, NULL};
        status = find_column(csv, names, lengths, 3, unit, &sizes[1 + d]);
    }
    return status;
}

static int check_rows(const app_csv *csv) {
    if (csv->row_count < BOUGH_FIT_FEWEST)
        return app_fail_with("%s: there are %zu rows; a fit needs at least %d, and some hundred are better", csv->path,
                             csv->row_count, BOUGH_FIT_FEWEST);
    for (size_t i = 0; i < csv->row_count; i++) {
        for (int k = 0; k < 4; k++)
            if (!isfinite(csv->values[k][i]))
                return app_fail_with("%s: row %zu: \"%s\" is empty or not finite; leave rows out in which the marker "
                                     "was lost",
                                     csv->path, i + 1, csv->names[csv->wanted[k]]);
        if (i > 0 && !(csv->values[0][i] > csv->values[0][i - 1]))
            return app_fail_with("%s: row %zu: time must ascend, but %g follows %g; sort the rows", csv->path, i + 1,
                                 csv->values[0][i], csv->values[0][i - 1]);
    }
    return APP_OK;
}

static int take_rows(const app_csv *csv, const double sizes[4], measurement *m) {
    m->count = (int32_t)csv->row_count;
    m->times = malloc(csv->row_count * sizeof *m->times);
    m->positions = malloc(3 * csv->row_count * sizeof *m->positions);
    if (!m->times || !m->positions)
        return app_fail_with("out of memory");
    for (size_t i = 0; i < csv->row_count; i++) {
        m->times[i] = sizes[0] * csv->values[0][i];
        for (size_t d = 0; d < 3; d++)
            m->positions[3 * i + d] = sizes[1 + d] * csv->values[1 + d][i];
    }
    return APP_OK;
}

static int read_measurement(const arguments *a, measurement *m) {
    app_csv csv;
    double sizes[4];
    int status = app_csv_open(&csv, a->file);
    if (status == APP_OK)
        status = choose_columns(&csv, a, sizes);
    if (status == APP_OK)
        status = app_csv_read(&csv);
    if (status == APP_OK)
        status = check_rows(&csv);
    if (status == APP_OK)
        status = take_rows(&csv, sizes, m);
    app_csv_close(&csv);
    return status;
}

/* ---- the fitted scene ---- */

static bool is_chosen(const arguments *a, const char *name) {
    for (int i = 0; i < a->part_count; i++)
        if (name && strcmp(a->parts[i], name) == 0)
            return true;
    return a->part_count == 0;
}

static const bough_fit_value *find_value(const bough_fit *fit, bough_fit_kind kind) {
    for (int32_t i = 0; i < fit->count; i++)
        if (fit->values[i].kind == kind)
            return &fit->values[i];
    return NULL;
}

static bool has_moved(const bough_fit_value *v) {
    return v && (v->known || v->value != v->first);
}

/* Constants that the measurement tells nothing about stay. Two dampings go together: where each alone is unknown, both
 * as a whole still fit. */
static void change_part(const bough_fit *fit, json_t *part) {
    const bough_fit_value *young = find_value(fit, BOUGH_FIT_YOUNG);
    const double before = json_number_value(json_object_get(part, "stiffness"));
    if (young && young->known)
        json_object_set_new(part, "stiffness", json_real((before > 0 ? before : 1) * sqrt(fit->factor)));
    if (has_moved(find_value(fit, BOUGH_FIT_DAMPING_MASS)) || has_moved(find_value(fit, BOUGH_FIT_DAMPING_STIFFNESS)))
        json_object_set_new(part, "damping",
                            json_pack("{s:f, s:f}", "mass", fit->damping_mass, "stiffness", fit->damping_stiffness));
}

/* Names of files in a scene count from its folder. */
static bool has_files(const json_t *scene) {
    const char *name;
    json_t *component;
    json_object_foreach(json_object_get(scene, "components"), name,
                        component) if (!json_object_get(json_object_get(component, "mesh"), "generate")) return true;
    return false;
}

static int write_scene(const arguments *a, const bough_fit *fit) {
    json_t *scene = app_json_load(a->scene.path), *part;
    int status = APP_OK;
    size_t i;
    if (!scene)
        return app_fail_with("%s: cannot be read again", a->scene.path);
    json_array_foreach(json_object_get(scene, "parts"), i,
                       part) if (is_chosen(a, json_string_value(json_object_get(part, "name")))) change_part(fit, part);
    if (json_dump_file(scene, a->output, JSON_INDENT(2) | JSON_REAL_PRECISION(12)))
        status = app_fail_with("%s: cannot be written: %s", a->output, strerror(errno));
    json_decref(scene);
    return status;
}

/* Before the work, not after it. */
static int check_output(const arguments *a) {
    if (!a->output)
        return APP_OK;
    json_t *scene = app_json_load(a->scene.path);
    const bool moves = scene && has_files(scene) && !app_is_same_folder(a->output, a->scene.path);
    json_decref(scene);
    if (app_is_same_file(a->output, a->scene.path))
        return app_fail_with("--output: %s is the scene itself; name another file", a->output);
    return moves ? app_fail_with("--output: the scene names files beside it, so that %s must be in the same folder",
                                 a->output)
                 : APP_OK;
}

/* ---- the plot ---- */

/* Returns how far a coordinate of the fitted trajectory goes; *mean: that of the measured one. */
static double spread(const measurement *m, const bough_fit *fit, size_t d, double *mean) {
    double lowest = INFINITY, highest = -INFINITY, sum = 0;
    for (size_t i = 0; i < (size_t)m->count; i++) {
        lowest = fmin(lowest, fit->trajectory[3 * i + d]), highest = fmax(highest, fit->trajectory[3 * i + d]);
        sum += m->positions[3 * i + d];
    }
    *mean = sum / m->count;
    return highest - lowest;
}

/* Measured points are dots: each between two gaps. */
static int draw(bough_context *ctx, const arguments *a, const measurement *m, const bough_fit *fit) {
    static const char *const names[LINES] = {"x measured", "y measured", "z measured",
                                             "x fitted",   "y fitted",   "z fitted"};
    const size_t n = (size_t)m->count;
    double mean[3], ways[3], most = 0;
    double *numbers = malloc((2 * n + 3 * 2 * n + 3 * n) * sizeof *numbers), *dots = numbers;
    bough_series series[LINES];
    bough_plot_def def = bough_default_plot_def();
    int count = 0;
    if (!numbers)
        return app_fail_with("out of memory");
    for (size_t d = 0; d < 3; d++)
        ways[d] = spread(m, fit, d, &mean[d]), most = fmax(most, ways[d]);
    for (size_t i = 0; i < n; i++)
        dots[2 * i] = m->times[i], dots[2 * i + 1] = NAN;
    for (int line = 0; line < LINES; line++) {
        const size_t d = (size_t)line % 3, stride = line < 3 ? 2 : 1;
        if (ways[d] < DRAWN_SHARE * most)
            continue;
        const double *from = line < 3 ? m->positions : fit->trajectory;
        double *y = line < 3 ? numbers + 2 * n + 2 * n * d : numbers + 8 * n + n * d;
        for (size_t i = 0; i < n; i++) {
            y[stride * i] = 1e3 * (from[3 * i + d] - mean[d]);
            if (stride == 2)
                y[2 * i + 1] = NAN;
        }
        series[count++] = (bough_series){
            .name = names[line], .count = (int32_t)(stride * n), .x = line < 3 ? dots : m->times, .y = y};
    }
    def.x_title = "time, s", def.y_title = "from the mean, mm", def.title = a->marker;
    const int status = bough_plot_write(ctx, &def, series, count, a->plot) ? app_fail(ctx) : APP_OK;
    free(numbers);
    return status;
}

/* ---- the report ---- */

static const char *about(bough_fit_kind kind) {
    static const char *const texts[] = {"Young's modulus",  "damping by mass",  "damping by stiffness", "begins at",
                                        "released from, 1", "released from, 2", "released from, 3"};
    return texts[kind];
}

static void print_value(const bough_fit_value *v) {
    const bool logarithm = v->kind <= BOUGH_FIT_DAMPING_STIFFNESS;
    printf("  %-22s", about(v->kind));
    if (!v->known) {
        printf("not known: %s\n", v->reason);
        return;
    }
    char share[32] = "";
    if (logarithm)
        snprintf(share, sizeof share, "  +-%.2g %%", 50 * (v->upper - v->lower) / v->value);
    printf("%12.5g %-4s %11.5g .. %-11.5g", v->value, *v->unit ? v->unit : "x", v->lower, v->upper);
    printf(logarithm ? " %11.5g%s\n" : "\n", v->first, share);
}

static void print_remarks(const bough_fit *fit) {
    for (int32_t i = 0; i < fit->count; i++) {
        const bough_fit_value *v = &fit->values[i];
        const double share = fabs(v->step_shift) / v->deviation / 2;
        if (v->kind > BOUGH_FIT_DAMPING_STIFFNESS || !(share > STEP_SHARE))
            continue;
        printf("The time step of %g s shifts %s by %.2g %%, which its interval does not know of; --dt %.2g would "
               "do.\n",
               fit->dt, about(v->kind), 100 * v->step_shift, fit->dt * sqrt(STEP_AIM / share));
    }
    if (fit->residual_correlation > ALIKE)
        printf(
            "What is left is not noise (neighbours in time are alike by %.2f): something in the scene is not as it was "
            "measured, and the intervals are too narrow.\n",
            fit->residual_correlation);
    if (!fit->converged)
        printf("The search did not end: these are the best values so far.\n");
}

static void print_text(const arguments *a, const bough_fit *fit, double seconds) {
    printf("\"%s\" of %s, %d samples: %d iterations, %d simulations, %.1f s\n\n", a->marker, a->file, fit->sample_count,
           fit->iterations, fit->simulations, seconds);
    printf("  %-22s%12s %-4s %26s %11s\n", "", "fitted", "", "95 % interval      ", "scene");
    for (int32_t i = 0; i < fit->count; i++)
        print_value(&fit->values[i]);
    printf("\n  distance from marker to measurement, rms: %.3g mm (%.3g mm with the scene as it is); noise of a "
           "coordinate: %.3g mm\n",
           1e3 * fit->rms, 1e3 * fit->first_rms, 1e3 * fit->noise);
    for (int32_t i = 0; i < fit->count; i++)
        for (int32_t k = 0; k < i; k++)
            if (fabs(fit->correlation[i * fit->count + k]) > 0.7)
                printf("  correlation of %s and %s: %.3f\n", about(fit->values[i].kind), about(fit->values[k].kind),
                       fit->correlation[i * fit->count + k]);
    print_remarks(fit);
}

static void print_json(const arguments *a, const bough_fit *fit, double seconds) {
    json_t *values = json_object(), *rows = json_array();
    for (int32_t i = 0; i < fit->count; i++) {
        const bough_fit_value *v = &fit->values[i];
        json_object_set_new(values, v->name,
                            json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:b, s:s}", "value",
                                      app_json_number(v->value), "unit", v->unit, "lower", app_json_number(v->lower),
                                      "upper", app_json_number(v->upper), "deviation", app_json_number(v->deviation),
                                      "step_shift", app_json_number(v->step_shift), "scene", app_json_number(v->first),
                                      "known", v->known, "reason", v->reason));
        json_array_append_new(rows, app_json_numbers(fit->correlation + i * fit->count, fit->count));
    }
    app_print_json(json_pack(
        "{s:o, s:o, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:b, s:o}", "scene", app_json_text(a->scene.path),
        "marker", app_json_text(a->marker), "samples", fit->sample_count, "values", values, "correlation", rows, "rms",
        app_json_number(fit->rms), "rms_scene", app_json_number(fit->first_rms), "noise", app_json_number(fit->noise),
        "residual_correlation", app_json_number(fit->residual_correlation), "iterations", fit->iterations,
        "simulations", fit->simulations, "converged", fit->converged, "seconds", app_json_number(seconds)));
}

/* ---- the command ---- */

static int report(bough_context *ctx, const arguments *a, const measurement *m, const bough_fit *fit, double seconds) {
    int status = APP_OK;
    app_clear_progress();
    if (a->scene.json)
        print_json(a, fit, seconds);
    else
        print_text(a, fit, seconds);
    if (a->plot)
        status = draw(ctx, a, m, fit);
    if (a->output && status == APP_OK)
        status = write_scene(a, fit);
    return status;
}

static int fit_scene(bough_context *ctx, const arguments *a, const measurement *m) {
    const double since = app_seconds();
    bough_scene *scene;
    bough_fit *fit = NULL;
    if (bough_scene_load(ctx, a->scene.path, &scene))
        return app_fail(ctx);
    bough_fit_def def = bough_default_fit_def();
    def.marker = a->marker, def.sample_count = m->count, def.times = m->times, def.positions = m->positions;
    def.part_count = a->part_count, def.parts = (const char *const *)a->parts;
    if (a->young || a->damping)
        def.young = a->young, def.damping_mass = a->mass, def.damping_stiffness = a->stiffness;
    def.release = a->release, def.start = !a->synced, def.dt = a->dt;
    const bough_status status = bough_fit_scene(ctx, scene, &def, &fit);
    int result = APP_OK;
    if (status == BOUGH_CANCELLED && fit)
        app_fail_with("cancelled; these are the best values so far");
    else if (status != BOUGH_OK)
        result = app_fail(ctx);
    if (fit && report(ctx, a, m, fit, app_seconds() - since) != APP_OK)
        result = APP_FAILED;
    bough_fit_destroy(ctx, fit);
    bough_scene_destroy(ctx, scene);
    return result;
}

int command_fit(int argc, char **argv) {
    arguments a = {0};
    measurement m = {0};
    app_parse(&parser, argc, argv, &a);
    bough_context *ctx = app_context(a.scene.threads);
    int status = check_output(&a);
    if (status == APP_OK)
        status = read_measurement(&a, &m);
    if (status == APP_OK)
        status = fit_scene(ctx, &a, &m);
    free(m.times);
    free(m.positions);
    bough_context_destroy(ctx);
    return status;
}
