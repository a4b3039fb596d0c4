#include "app.h"

#include <bough/time.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_OUTPUT = 'o', OPT_JSON = 'j', OPT_RHO = 300, OPT_ALPHA, OPT_CSV, PER_DECADE = 40, DECADES = 5 };
enum { POINT_COUNT = PER_DECADE * DECADES + 1, TABLE_COUNT = 10, METHOD_LIMIT = 32 };

static const double first_hw = 0.01;
static const double table_hw[TABLE_COUNT] = {0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100};
/* Curves end where rounding in the measured spectral radius would be all that is seen. */
static const double least_shown = 1e-7;

typedef struct {
    const char *label; /* as it was given */
    const bough_integrator_info *info;
    bough_integrator_def def;
    double damping[POINT_COUNT], table[TABLE_COUNT];
} method;

typedef struct {
    method *methods;
    int count;
    const char *names[METHOD_LIMIT];
    double rho, alpha; /* NAN: not given */
    const char *output, *csv;
    bool json;
} arguments;

static const struct argp_option options[] = {
    {"rho", OPT_RHO, "R", 0, "spectral radius of generalised-alpha, 0..1, where the name does not say it", 0},
    {"alpha", OPT_ALPHA, "A", 0, "alpha of HHT, -1/3..0, where the name does not say it", 0},
    {"output", OPT_OUTPUT, "FILE.svg|FILE.png", 0, "draw the curves for h w = 0.01 ... 1000", 0},
    {"csv", OPT_CSV, "FILE.csv", 0, "write the curves as a table", 0},
    APP_OPTION_JSON(OPT_JSON),
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state) {
    arguments *a = state->input;
    switch (key) {
    case OPT_RHO:
        if (!app_parse_numbers(text, 1, &a->rho) || !(a->rho >= 0 && a->rho <= 1))
            argp_error(state, "--rho: \"%s\" should be a number from 0 to 1", text);
        break;
    case OPT_ALPHA:
        if (!app_parse_numbers(text, 1, &a->alpha) || !(a->alpha >= -1.0 / 3 && a->alpha <= 0))
            argp_error(state, "--alpha: \"%s\" should be a number from -1/3 to 0", text);
        break;
    case OPT_OUTPUT:
        app_need_plot(state, "output", text);
        a->output = text;
        break;
    case OPT_CSV:
        app_need_extension(state, "csv", text, ".csv");
        a->csv = text;
        break;
    case OPT_JSON:
        a->json = true;
        break;
    case ARGP_KEY_ARG:
        if (a->count == METHOD_LIMIT)
            argp_error(state, "at most %d integrators at a time", METHOD_LIMIT);
        a->names[a->count++] = text;
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp parser = {
    options,
    parse,
    "[NAME[:PARAMETER] ...]",
    "Numerical damping d/w of time integrators on an undamped oscillator, against h w: measured on the implemented "
    "step, "
    "by default of backward-euler, bdf2, tr-bdf2, sdirk and generalised-alpha."
    "\vExamples:\n"
    "  bough damping -o damping.svg\n"
    "  bough damping tr-bdf2 generalised-alpha:0.5 hht:-0.1 --csv damping.csv\n\n"
    "0: energy is kept. Negative: the method is unstable there. The parameter is rho of generalised-alpha, alpha of "
    "HHT; bough integrators lists the names.",
    NULL,
    NULL,
    NULL};

static void use_default_names(arguments *a) {
    static const char *const names[] = {
        "backward-euler",       "bdf2", "tr-bdf2", "sdirk", "generalised-alpha:0", "generalised-alpha:0.5",
        "generalised-alpha:0.8"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        a->names[a->count++] = names[i];
    if (!isnan(a->rho)) /* one generalised-alpha, as it was asked for */
        a->names[4] = "generalised-alpha", a->count = 5;
}

static int set_parameter(method *m, const char *text) {
    double value;
    bool rho = m->info && strcmp(m->info->needs, "rho") == 0, alpha = m->info && strcmp(m->info->needs, "alpha") == 0;
    if (!rho && !alpha)
        return app_fail_with("%s: %s takes no parameter here", m->label, m->def.name);
    if (!app_parse_numbers(text, 1, &value))
        return app_fail_with("%s: \"%s\" should be a number, %s of %s", m->label, text, rho ? "rho" : "alpha",
                             m->def.name);
    *(rho ? &m->def.rho : &m->def.alpha) = value;
    return APP_OK;
}

/* name[:parameter]; unknown names are left for the library to complain about. */
static int set_method(method *m, const char *label, const arguments *a) {
    const char *colon = strchr(label, ':');
    size_t length = colon ? (size_t)(colon - label) : strlen(label);
    m->label = label;
    m->def = bough_default_integrator_def();
    m->def.name = label;
    m->def.rho = isnan(a->rho) ? m->def.rho : a->rho;
    m->def.alpha = isnan(a->alpha) ? m->def.alpha : a->alpha;
    for (int32_t i = 0; i < bough_integrator_count(); i++) {
        const bough_integrator_info *info = bough_integrator_describe(i);
        if (strncmp(info->name, label, length) == 0 && info->name[length] == 0)
            m->info = info, m->def.name = info->name;
    }
    return colon && m->info ? set_parameter(m, colon + 1) : APP_OK;
}

static double hw_of(int i) {
    return first_hw * pow(10, (double)i / PER_DECADE);
}

static int measure(bough_context *ctx, method *m) {
    for (int i = 0; i < POINT_COUNT; i++)
        if (bough_integrator_damping(ctx, &m->def, hw_of(i), &m->damping[i]))
            return app_fail(ctx);
    for (int i = 0; i < TABLE_COUNT; i++)
        if (bough_integrator_damping(ctx, &m->def, table_hw[i], &m->table[i]))
            return app_fail(ctx);
    return APP_OK;
}

/* Rounding is not damping. */
static double shown(double damping) {
    return fabs(damping) < 1e-10 ? 0 : damping;
}

static void print_table(const arguments *a) {
    printf("%-24s", "d/w at h w =");
    for (int i = 0; i < TABLE_COUNT; i++)
        printf("  %9g", table_hw[i]);
    putchar('\n');
    for (int k = 0; k < a->count; k++) {
        printf("%-24s", a->methods[k].label);
        for (int i = 0; i < TABLE_COUNT; i++)
            printf("  %9.4g", shown(a->methods[k].table[i]));
        putchar('\n');
    }
}

static json_t *describe(const method *m) {
    json_t *row =
        json_pack("{s:o, s:s, s:o, s:o}", "label", app_json_text(m->label), "name", m->def.name, "damping",
                  app_json_numbers(m->table, TABLE_COUNT), "curve", app_json_numbers(m->damping, POINT_COUNT));
    if (strcmp(m->info->needs, "rho") == 0)
        json_object_set_new(row, "rho", json_real(m->def.rho));
    if (strcmp(m->info->needs, "alpha") == 0)
        json_object_set_new(row, "alpha", json_real(m->def.alpha));
    return row;
}

static void print_json(const arguments *a, const double *hw) {
    json_t *list = json_array();
    for (int k = 0; k < a->count; k++)
        json_array_append_new(list, describe(&a->methods[k]));
    app_print_json(json_pack("{s:o, s:o, s:o}", "hw", app_json_numbers(table_hw, TABLE_COUNT), "curve_hw",
                             app_json_numbers(hw, POINT_COUNT), "integrators", list));
}

static int write_csv(const arguments *a, const double *hw) {
    FILE *f = fopen(a->csv, "w");
    if (!f)
        return app_fail_with("%s: cannot be written: %s", a->csv, strerror(errno));
    fputs("hw", f);
    for (int k = 0; k < a->count; k++)
        fprintf(f, ",%s", a->methods[k].label);
    for (int i = 0; i < POINT_COUNT; i++) {
        fprintf(f, "\n%.9g", hw[i]);
        for (int k = 0; k < a->count; k++)
            fprintf(f, ",%.9g", a->methods[k].damping[i]);
    }
    fputc('\n', f);
    bool failed = ferror(f) != 0;
    if (fclose(f) == 0 && !failed)
        return APP_OK;
    int reason = errno;
    remove(a->csv);
    return app_fail_with("%s: cannot be written: %s", a->csv, strerror(reason));
}

/* "generalised-alpha, rho = 0.5" */
static void name_curve(const method *m, char *name, size_t size) {
    if (strcmp(m->info->needs, "rho") == 0)
        snprintf(name, size, "%s, \u03c1 = %g", m->def.name, m->def.rho);
    else if (strcmp(m->info->needs, "alpha") == 0)
        snprintf(name, size, "%s, \u03b1 = %g", m->def.name, m->def.alpha);
    else
        snprintf(name, size, "%s", m->def.name);
}

static int draw(bough_context *ctx, const arguments *a, const double *hw) {
    bough_series series[METHOD_LIMIT] = {0};
    char names[METHOD_LIMIT][80];
    double *values = malloc(sizeof(double) * POINT_COUNT * METHOD_LIMIT);
    if (!values)
        return app_fail_with("out of memory");
    for (int k = 0; k < a->count; k++) {
        const method *m = &a->methods[k];
        double *y = values + k * POINT_COUNT;
        for (int i = 0; i < POINT_COUNT; i++)
            y[i] = m->damping[i] > least_shown ? m->damping[i] : NAN;
        name_curve(m, names[k], sizeof names[k]);
        series[k] = (bough_series){names[k], POINT_COUNT, hw, y, strcmp(m->info->needs, "") != 0};
    }
    bough_plot_def def = bough_default_plot_def();
    def.title = "Numerical damping of time integrators";
    def.x_title = "step times angular frequency, h\u03c9", def.y_title = "damping, d/\u03c9";
    def.log_x = def.log_y = true;
    def.x_min = first_hw, def.x_max = first_hw * pow(10, DECADES);
    def.y_min = 1e-6; /* below it, methods are as good as free of damping */
    int status = bough_plot_write(ctx, &def, series, a->count, a->output) ? app_fail(ctx) : APP_OK;
    free(values);
    return status;
}

int command_damping(int argc, char **argv) {
    arguments a = {.rho = NAN, .alpha = NAN};
    app_parse(&parser, argc, argv, &a);
    if (a.count == 0)
        use_default_names(&a);
    bough_context *ctx = app_context(1);
    a.methods = calloc((size_t)a.count, sizeof *a.methods);
    int status = a.methods ? APP_OK : app_fail_with("out of memory");
    for (int k = 0; status == APP_OK && k < a.count; k++) {
        status = set_method(&a.methods[k], a.names[k], &a);
        if (status == APP_OK)
            status = measure(ctx, &a.methods[k]);
    }
    double hw[POINT_COUNT];
    for (int i = 0; i < POINT_COUNT; i++)
        hw[i] = hw_of(i);
    if (status == APP_OK && a.output)
        status = draw(ctx, &a, hw);
    if (status == APP_OK && a.csv)
        status = write_csv(&a, hw);
    if (status == APP_OK && a.json)
        print_json(&a, hw);
    else if (status == APP_OK)
        print_table(&a);
    free(a.methods);
    bough_context_destroy(ctx);
    return status;
}
