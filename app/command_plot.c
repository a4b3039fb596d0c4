#include "app.h"

#include <stdlib.h>
#include <string.h>

enum {
    OPT_OUTPUT = 'o',
    OPT_JSON = 'j',
    OPT_COLUMNS = 'c',
    OPT_X = 'x',
    OPT_TITLE = 'T',
    OPT_LOG_X = 300,
    OPT_LOG_Y,
    DRAWN_LIMIT = 12, /* lines by default: more cannot be told apart */
};

typedef struct {
    const char *input, *output, *columns, *x, *title;
    bool log_x, log_y, json;
} arguments;

static const struct argp_option options[] = {
    {"output", OPT_OUTPUT, "FILE.svg|FILE.png", 0, "where to draw (default: RECORDING.svg beside the recording)", 0},
    {"columns", OPT_COLUMNS, "A,B,...", 0,
     "what to draw (default: the energies of a run, with work and balance; without such all, at most 12)", 0},
    {"x", OPT_X, "COLUMN", 0, "what to draw it against (default: the first column)", 0},
    {"title", OPT_TITLE, "TEXT", 0, "title of the plot", 0},
    {"log-x", OPT_LOG_X, 0, 0, "logarithmic x", 0},
    {"log-y", OPT_LOG_Y, 0, 0, "logarithmic y", 0},
    {"json", OPT_JSON, 0, 0, "print what was drawn as one JSON object", 0},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state) {
    arguments *a = state->input;
    switch (key) {
    case OPT_OUTPUT:
        app_need_plot(state, "output", text);
        a->output = text;
        break;
    case OPT_COLUMNS:
        a->columns = text;
        break;
    case OPT_X:
        a->x = text;
        break;
    case OPT_TITLE:
        a->title = text;
        break;
    case OPT_LOG_X:
        a->log_x = true;
        break;
    case OPT_LOG_Y:
        a->log_y = true;
        break;
    case OPT_JSON:
        a->json = true;
        break;
    case ARGP_KEY_ARG:
        if (a->input)
            argp_error(state, "one recording at a time, not also \"%s\"", text);
        a->input = text;
        break;
    case ARGP_KEY_END:
        if (!a->input)
            argp_error(state, "which recording? Give a CSV file");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp parser = {
    options,
    parse,
    "RECORDING.csv",
    "Draws columns of a recording (CSV, names of the columns in the first line) as lines."
    "\vExamples:\n"
    "  bough plot beam.csv\n"
    "  bough plot beam.csv --columns tip.z -o tip.png\n"
    "  bough plot sweep.csv --x dt --columns error --log-x --log-y\n\n"
    "Empty cells, nan and inf are gaps.",
    NULL,
    NULL,
    NULL};

/* ---- reading ---- */

/* The columns of a run that are energies, or whatever calls itself one. */
static bool is_energy(const char *name) {
    static const char *const names[] = {"elastic", "kinetic", "external", "total"};
    for (int i = 0; i < 4; i++)
        if (!strcmp(name, names[i]))
            return true;
    return strncmp(name, "energy", 6) == 0;
}

/* True for work and balance, which are drawn beside energies only. */
static bool is_account(const char *name) {
    return !strcmp(name, "work") || !strcmp(name, "balance");
}

static int choose_columns(app_csv *t, const arguments *a) {
    int x = a->x ? app_csv_find(t, a->x, strlen(a->x)) : 0, status = APP_OK, energies = 0;
    if (x < 0)
        return app_csv_no_column(t, a->x, strlen(a->x));
    app_csv_want(t, x);
    for (const char *word = a->columns; word && status == APP_OK;) {
        size_t length = strcspn(word, ",");
        int column = app_csv_find(t, word, length);
        status = column < 0 ? app_csv_no_column(t, word, length) : app_csv_want(t, column);
        word = word[length] ? word + length + 1 : NULL;
    }
    if (a->columns)
        return status;
    for (int i = 0; i < t->name_count; i++)
        energies += i != x && is_energy(t->names[i]);
    for (int i = 0; i < t->name_count && t->wanted_count <= DRAWN_LIMIT; i++)
        if (i != x && (energies == 0 || is_energy(t->names[i]) || is_account(t->names[i])))
            app_csv_want(t, i);
    if (t->wanted_count == 1)
        return app_fail_with("%s: there is one column only; nothing to draw against it", t->path);
    return APP_OK;
}

static int read_table(app_csv *t, const arguments *a) {
    int status = app_csv_open(t, a->input);
    if (status == APP_OK)
        status = choose_columns(t, a);
    return status == APP_OK ? app_csv_read(t) : status;
}

/* ---- drawing ---- */

static void print_result(const app_csv *t, const char *output, bool json) {
    const char *x = t->names[t->wanted[0]];
    if (!json) {
        printf("%s: %d line%s of %zu point%s against %s\n", output, t->wanted_count - 1, t->wanted_count > 2 ? "s" : "",
               t->row_count, t->row_count == 1 ? "" : "s", x);
        return;
    }
    json_t *columns = json_array();
    for (int k = 1; k < t->wanted_count; k++)
        json_array_append_new(columns, app_json_text(t->names[t->wanted[k]]));
    app_print_json(json_pack("{s:o, s:o, s:o, s:o, s:I}", "recording", app_json_text(t->path), "file",
                             app_json_text(output), "x", app_json_text(x), "columns", columns, "points",
                             (json_int_t)t->row_count));
}

static int draw(bough_context *ctx, const app_csv *t, const arguments *a) {
    bough_series series[BOUGH_SERIES_LIMIT] = {0};
    bough_plot_def def = bough_default_plot_def();
    bool single = t->wanted_count == 2;
    for (int k = 1; k < t->wanted_count; k++)
        series[k - 1] = (bough_series){.name = single ? NULL : t->names[t->wanted[k]],
                                       .count = (int32_t)t->row_count,
                                       .x = t->values[0],
                                       .y = t->values[k]};
    def.title = a->title, def.log_x = a->log_x, def.log_y = a->log_y;
    def.x_title = t->names[t->wanted[0]];
    def.y_title = single ? t->names[t->wanted[1]] : NULL;
    size_t stem = strlen(a->input);
    const char *dot = strrchr(a->input, '.'), *slash = strrchr(a->input, '/');
    if (dot && dot > (slash ? slash + 1 : a->input))
        stem = (size_t)(dot - a->input);
    char *beside = malloc(stem + 5);
    if (!beside)
        return app_fail_with("out of memory");
    memcpy(beside, a->input, stem);
    memcpy(beside + stem, ".svg", 5);
    const char *output = a->output ? a->output : beside;
    int status = APP_OK;
    if (bough_plot_write(ctx, &def, series, t->wanted_count - 1, output))
        status = app_fail(ctx);
    else
        print_result(t, output, a->json);
    free(beside);
    return status;
}

int command_plot(int argc, char **argv) {
    arguments a = {0};
    app_parse(&parser, argc, argv, &a);
    bough_context *ctx = app_context(1);
    app_csv t;
    int status = read_table(&t, &a);
    if (status == APP_OK)
        status = draw(ctx, &t, &a);
    app_csv_close(&t);
    bough_context_destroy(ctx);
    return status;
}
