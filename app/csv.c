/* Tables of numbers: CSV with the names of the columns in the first line. */
#include "app.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE_LIMIT = 1 << 20, /* bytes */
    COLUMN_LIMIT = 4096,
};

/* 1: a line; 0: the end of the file; -1: failed, and said so. */
static int read_line(app_csv *t) {
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
static char *next_cell(app_csv *t, size_t *at) {
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

static int read_header(app_csv *t) {
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

int app_csv_find(const app_csv *t, const char *name, size_t length) {
    for (int i = 0; i < t->name_count; i++)
        if (strncmp(t->names[i], name, length) == 0 && t->names[i][length] == 0)
            return i;
    return -1;
}

int app_csv_no_column(const app_csv *t, const char *name, size_t length) {
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

int app_csv_want(app_csv *t, int column) {
    if (t->wanted_count > BOUGH_SERIES_LIMIT)
        return app_fail_with("a plot has at most %d lines", BOUGH_SERIES_LIMIT);
    t->wanted[t->wanted_count++] = column;
    return APP_OK;
}

static int grow(app_csv *t) {
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
static int read_cell(const app_csv *t, int column, const char *cell, double *value) {
    *value = NAN;
    if (*cell && !is_number(cell, value))
        return app_fail_with("%s:%lld: column \"%.60s\": \"%.40s\" is not a number", t->path, t->line_number,
                             t->names[column], cell);
    if (isinf(*value) && !strchr("iI", cell[strspn(cell, "+-")]))
        return app_fail_with("%s:%lld: column \"%.60s\": %.40s is too large for a number", t->path, t->line_number,
                             t->names[column], cell);
    return APP_OK;
}

static int read_row(app_csv *t) {
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

int app_csv_read(app_csv *t) {
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

int app_csv_open(app_csv *t, const char *path) {
    *t = (app_csv){.path = path};
    t->stream = fopen(t->path, "rb");
    if (!t->stream)
        return app_fail_with("%s: cannot be opened: %s", t->path, strerror(errno));
    t->line = malloc(LINE_LIMIT + 1);
    t->names = calloc(COLUMN_LIMIT, sizeof *t->names);
    if (!t->line || !t->names)
        return app_fail_with("out of memory");
    return read_header(t);
}

void app_csv_close(app_csv *t) {
    for (int i = 0; i < t->name_count; i++)
        free(t->names[i]);
    for (int k = 0; k < t->wanted_count; k++)
        free(t->values[k]);
    free(t->names);
    free(t->line);
    if (t->stream)
        fclose(t->stream);
}
