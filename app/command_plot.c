#include "app.h"

#include <errno.h>
#include <math.h>
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
    LINE_LIMIT = 1 << 20, /* bytes */
    COLUMN_LIMIT = 4096,
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

/* A table of which only the wanted columns are kept. */
typedef struct {
    const char *path;
    FILE *stream;
    char *line; /* LINE_LIMIT + 1 bytes, without the end of the line */
    size_t length;
    long long line_number;
    char **names;
    int name_count;
    int wanted[BOUGH_SERIES_LIMIT + 1]; /* columns; the first is x */
    double *values[BOUGH_SERIES_LIMIT + 1];
    int wanted_count;
    size_t row_count, row_capacity;
} table;

/* 1: a line; 0: the end of the file; -1: failed, and said so. */
static int read_line(table *t) {
    int c;
    t->length = 0;
    while ((c = getc_unlocked(t->stream)) != EOF && c != '\n') {
        if (t->length == LINE_LIMIT) {
            app_fail_with("%s:%lld: the line is longer than a megabyte; is this a CSV file?", t->path,
                          t->line_number + 1);
            return -1;
        }
        t->line[t->length++] = (char)c;
    }
    if (ferror(t->stream)) {
        app_fail_with("%s: cannot be read: %s", t->path, strerror(errno));
        return -1;
    }
    if (c == EOF && t->length == 0)
        return 0;
    t->line_number++;
    if (t->length > 0 && t->line[t->length - 1] == '\r')
        t->length--;
    t->line[t->length] = 0;
    return 1;
}

/* Cuts the next cell out of the line, in place: without blanks around it, or without its quotes. *at moves behind its
 * comma. NULL when the quotes are wrong. */
static char *next_cell(table *t, size_t *at) {
    char *line = t->line, *cell;
    while (line[*at] == ' ' || line[*at] == '\t')
        ++*at;
    size_t end;
    if (line[*at] == '"') {
        size_t to = end = ++*at;
        cell = line + *at;
        for (;; end++) {
            if (end >= t->length)
                return NULL;
            if (line[end] == '"' && line[end + 1] != '"')
                break;
            end += line[end] == '"';
            line[to++] = line[end];
        }
        size_t after = end + 1;
        while (line[after] == ' ' || line[after] == '\t')
            after++;
        if (after < t->length && line[after] != ',')
            return NULL;
        line[to] = 0;
        *at = after + 1;
        return cell;
    }
    cell = line + *at;
    for (end = *at; end < t->length && line[end] != ','; end++)
        ;
    *at = end + 1;
    while (end > 0 && line + end > cell && (line[end - 1] == ' ' || line[end - 1] == '\t'))
        end--;
    line[end] = 0;
    return cell;
}

static bool is_number(const char *cell, double *value) {
    char *end;
    *value = strtod(cell, &end);
    return end != cell && *end == 0;
}

static int read_header(table *t) {
    int got = read_line(t);
    if (got < 0)
        return APP_FAILED;
    if (got == 0 || t->length == 0)
        return app_fail_with("%s:1: the first line should hold the names of the columns, but it is empty", t->path);
    size_t at = strncmp(t->line, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    bool named = false;
    while (at <= t->length) {
        double number;
        char *cell = next_cell(t, &at);
        if (!cell)
            return app_fail_with("%s:1: the quotes of column %d are wrong", t->path, t->name_count + 1);
        if (t->name_count == COLUMN_LIMIT)
            return app_fail_with("%s:1: there are more than %d columns", t->path, COLUMN_LIMIT);
        named = named || !is_number(cell, &number);
        t->names[t->name_count] = strdup(cell);
        if (!t->names[t->name_count++])
            return app_fail_with("out of memory");
    }
    if (!named)
        return app_fail_with("%s:1: the first line should hold the names of the columns, but it holds numbers",
                             t->path);
    return APP_OK;
}

static int find_column(const table *t, const char *name, size_t length) {
    for (int i = 0; i < t->name_count; i++)
        if (strncmp(t->names[i], name, length) == 0 && t->names[i][length] == 0)
            return i;
    return -1;
}

static int no_column(const table *t, const char *name, size_t length) {
    char list[400] = "";
    size_t used = 0;
    for (int i = 0; i < t->name_count && used < sizeof list; i++) {
        int added = snprintf(list + used, sizeof list - used, "%s%.60s", i ? ", " : "", t->names[i]);
        if (used + (size_t)added + 5 > sizeof list) {
            snprintf(list + used, sizeof list - used, ", ...");
            break;
        }
        used += (size_t)added;
    }
    return app_fail_with("%s: there is no column \"%.*s\"; the columns are %s", t->path,
                         (int)(length < 80 ? length : 80), name, list);
}

static int want(table *t, int column) {
    if (t->wanted_count > BOUGH_SERIES_LIMIT)
        return app_fail_with("a plot has at most %d lines", BOUGH_SERIES_LIMIT);
    t->wanted[t->wanted_count++] = column;
    return APP_OK;
}

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

static int choose_columns(table *t, const arguments *a) {
    int x = a->x ? find_column(t, a->x, strlen(a->x)) : 0, status = APP_OK, energies = 0;
    if (x < 0)
        return no_column(t, a->x, strlen(a->x));
    want(t, x);
    for (const char *word = a->columns; word && status == APP_OK;) {
        size_t length = strcspn(word, ",");
        int column = find_column(t, word, length);
        status = column < 0 ? no_column(t, word, length) : want(t, column);
        word = word[length] ? word + length + 1 : NULL;
    }
    if (a->columns)
        return status;
    for (int i = 0; i < t->name_count; i++)
        energies += i != x && is_energy(t->names[i]);
    for (int i = 0; i < t->name_count && t->wanted_count <= DRAWN_LIMIT; i++)
        if (i != x && (energies == 0 || is_energy(t->names[i]) || is_account(t->names[i])))
            want(t, i);
    if (t->wanted_count == 1)
        return app_fail_with("%s: there is one column only; nothing to draw against it", t->path);
    return APP_OK;
}

static int grow(table *t) {
    if (t->row_count < t->row_capacity)
        return APP_OK;
    size_t capacity = t->row_capacity ? 2 * t->row_capacity : 1024;
    if (t->row_count >= INT32_MAX)
        return app_fail_with("%s:%lld: there are more than %d rows", t->path, t->line_number, INT32_MAX);
    for (int k = 0; k < t->wanted_count; k++) {
        double *larger = realloc(t->values[k], capacity * sizeof *larger);
        if (!larger)
            return app_fail_with("out of memory");
        t->values[k] = larger;
    }
    t->row_capacity = capacity;
    return APP_OK;
}

/* Empty cells are gaps. */
static int read_cell(const table *t, int column, const char *cell, double *value) {
    *value = NAN;
    if (*cell && !is_number(cell, value))
        return app_fail_with("%s:%lld: column \"%.60s\": \"%.40s\" is not a number", t->path, t->line_number,
                             t->names[column], cell);
    if (isinf(*value) && !strchr("iI", cell[strspn(cell, "+-")]))
        return app_fail_with("%s:%lld: column \"%.60s\": %.40s is too large for a number", t->path, t->line_number,
                             t->names[column], cell);
    return APP_OK;
}

static int read_row(table *t) {
    size_t at = 0;
    int column = 0;
    for (; at <= t->length; column++) {
        char *cell = next_cell(t, &at);
        if (!cell)
            return app_fail_with("%s:%lld: the quotes of column %d are wrong", t->path, t->line_number, column + 1);
        for (int k = 0; k < t->wanted_count; k++)
            if (t->wanted[k] == column && read_cell(t, column, cell, &t->values[k][t->row_count]))
                return APP_FAILED;
    }
    if (column != t->name_count)
        return app_fail_with("%s:%lld: there are %d cells, but %d columns", t->path, t->line_number, column,
                             t->name_count);
    t->row_count++;
    return APP_OK;
}

static int read_rows(table *t) {
    int got, status = APP_OK;
    while (status == APP_OK && (got = read_line(t)) != 0) {
        if (app_interrupted())
            return app_fail_with("cancelled");
        if (got < 0)
            return APP_FAILED;
        if (t->length == 0)
            continue;
        status = grow(t);
        if (status == APP_OK)
            status = read_row(t);
    }
    if (status == APP_OK && t->row_count == 0)
        status = app_fail_with("%s: there is no row under the names of the columns", t->path);
    return status;
}

static int read_table(table *t, const arguments *a) {
    t->stream = fopen(t->path, "rb");
    if (!t->stream)
        return app_fail_with("%s: cannot be opened: %s", t->path, strerror(errno));
    t->line = malloc(LINE_LIMIT + 1);
    t->names = calloc(COLUMN_LIMIT, sizeof *t->names);
    if (!t->line || !t->names)
        return app_fail_with("out of memory");
    int status = read_header(t);
    if (status == APP_OK)
        status = choose_columns(t, a);
    return status == APP_OK ? read_rows(t) : status;
}

static void free_table(table *t) {
    for (int i = 0; i < t->name_count; i++)
        free(t->names[i]);
    for (int k = 0; k < t->wanted_count; k++)
        free(t->values[k]);
    free(t->names);
    free(t->line);
    if (t->stream)
        fclose(t->stream);
}

/* ---- drawing ---- */

static void print_result(const table *t, const char *output, bool json) {
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

static int draw(bough_context *ctx, const table *t, const arguments *a) {
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
    table t = {.path = a.input};
    int status = read_table(&t, &a);
    if (status == APP_OK)
        status = draw(ctx, &t, &a);
    free_table(&t);
    bough_context_destroy(ctx);
    return status;
}
