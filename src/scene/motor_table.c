#include "scene/motor_table.h"

#include "mesh/scanner.h"
#include "scene/scene.h"

#include <string.h>

enum { MOST_COLUMNS = 1000, MOST_ROWS = 1000000 };

void bo_motor_table_free(bough_context *ctx, bo_motor_table *t) {
    for (int32_t c = 0; c < t->column_count; c++)
        bo_free(ctx, t->columns[c]);
    bo_free(ctx, t->columns);
    bo_free(ctx, t->values);
    bo_free(ctx, t->lines);
    bo_free(ctx, t->path);
    *t = (bo_motor_table){0};
}

/* The next cell of a line, without blanks and quotes around it. False: the line is at its end. */
static bool next_cell(const char **at, const char *end, const char **text, size_t *length) {
    const char *from = *at, *to = from;
    if (from > end)
        return false;
    while (to < end && *to != ',')
        to++;
    *at = to + 1;
    while (from < to && (*from == ' ' || *from == '\t' || *from == '"'))
        from++;
    while (to > from && (to[-1] == ' ' || to[-1] == '\t' || to[-1] == '"' || to[-1] == '\r'))
        to--;
    *text = from, *length = (size_t)(to - from);
    return true;
}

static bough_status read_head(bo_scanner *s, bo_motor_table *t) {
    const char *line, *text;
    size_t length, size;
    const int64_t number = s->line;
    if (!bo_scan_line(s, &line, &size))
        return bo_scan_fail(s, "the table is empty; its first line must name its columns, one of them \"time\"");
    if (size >= 3 && !memcmp(line, "\xef\xbb\xbf", 3)) /* spreadsheets mark UTF-8 so */
        line += 3, size -= 3;
    if (memchr(line, ';', size) && !memchr(line, ',', size))
        return bo_fail(s->ctx, BOUGH_ERROR_FORMAT,
                       "%s:%lld: columns are separated by semicolons; a table has commas between them, and points in "
                       "its numbers",
                       t->path, (long long)number);
    t->time = -1;
    if (!(t->columns = BO_NEW_ZEROS(s->ctx, char *, MOST_COLUMNS)))
        return BOUGH_ERROR_MEMORY;
    for (const char *at = line; next_cell(&at, line + size, &text, &length);) {
        if (t->column_count == MOST_COLUMNS)
            return bo_scan_fail(s, "there are more than %d columns", MOST_COLUMNS);
        char *name = t->columns[t->column_count] = bo_strndup(s->ctx, text, length);
        if (!name)
            return BOUGH_ERROR_MEMORY;
        t->column_count++;
        if (!name[0])
            return bo_fail(s->ctx, BOUGH_ERROR_FORMAT, "%s:%lld: column %d has no name; is there a comma too many?",
                           t->path, (long long)number, t->column_count);
        for (int32_t c = 0; c + 1 < t->column_count; c++)
            if (!strcmp(t->columns[c], name))
                return bo_fail(s->ctx, BOUGH_ERROR_FORMAT, "%s:%lld: the column \"%.60s\" is there twice", t->path,
                               (long long)number, name);
        if (!strcmp(name, "time"))
            t->time = t->column_count - 1;
    }
    if (t->time >= 0)
        return BOUGH_OK;
    const char *near = bo_nearest_word("time", (const char *const *)t->columns, t->column_count);
    return bo_fail(s->ctx, BOUGH_ERROR_FORMAT, "%s:%lld: there is no column \"time\"%s%.60s%s", t->path,
                   (long long)number, near ? "; did you mean it by \"" : "", near ? near : "", near ? "\"?" : "");
}

static bough_status read_row(bough_context *ctx, const char *line, size_t size, int64_t number, bo_motor_table *t) {
    const char *text;
    size_t length;
    double *row = t->values + (size_t)t->column_count * (size_t)t->row_count;
    int32_t c = 0;
    for (const char *at = line; next_cell(&at, line + size, &text, &length); c++) {
        if (c == t->column_count)
            return bo_fail(ctx, BOUGH_ERROR_FORMAT, "%s:%lld: has more numbers than the %d columns", t->path,
                           (long long)number, t->column_count);
        if (length == 0)
            return bo_fail(ctx, BOUGH_ERROR_FORMAT,
                           "%s:%lld: %s is empty; leave the row out, and the motor is led across", t->path,
                           (long long)number, t->columns[c]);
        if (!bo_parse_double(text, length, &row[c]) || !isfinite(row[c]))
            return bo_fail(ctx, BOUGH_ERROR_FORMAT, "%s:%lld: %s: \"%.*s\" is no number", t->path, (long long)number,
                           t->columns[c], length < 40 ? (int)length : 40, text);
    }
    if (c != t->column_count)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "%s:%lld: has %d numbers, and there are %d columns", t->path,
                       (long long)number, c, t->column_count);
    if (t->row_count > 0 && !(row[t->time] > row[t->time - t->column_count]))
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "%s:%lld: times must ascend, but %g comes after %g", t->path,
                       (long long)number, row[t->time], row[t->time - t->column_count]);
    t->row_count++;
    return BOUGH_OK;
}

static bough_status read_rows(bo_scanner *s, bo_motor_table *t) {
    const char *line;
    size_t size, capacity = 0, line_capacity = 0;
    for (int64_t number = s->line; bo_scan_line(s, &line, &size); number = s->line) {
        if (size == 0)
            continue;
        if (t->row_count == MOST_ROWS)
            return bo_scan_fail(s, "there are more than %d rows", MOST_ROWS);
        if (!BO_RESERVE(s->ctx, t->values, capacity, (size_t)t->column_count * ((size_t)t->row_count + 1)) ||
            !BO_RESERVE(s->ctx, t->lines, line_capacity, t->row_count + 1))
            return BOUGH_ERROR_MEMORY;
        t->lines[t->row_count] = (int32_t)number;
        BO_TRY(read_row(s->ctx, line, size, number, t));
    }
    return t->row_count > 0 ? BOUGH_OK : bo_scan_fail(s, "the table has no rows");
}

#define FEW_ROWS 20      /* tables with fewer are points to go to, not samples */
#define MOST_UNEVEN 0.05 /* part of the distances of a sampled table that may differ from the usual one */
#define EVEN_WITHIN 0.1  /* part by which a distance may differ and is still the usual one */
#define GAP 3            /* usual distances that make a gap */

/* The distance of rows in time of a table that was sampled at a rate; 0: rows come as they like. */
static double usual_distance(const bo_motor_table *t) {
    const int32_t n = t->row_count - 1;
    if (n < FEW_ROWS)
        return 0;
    const size_t stride = (size_t)t->column_count;
    const double *times = t->values + t->time;
    for (int32_t tried = 0; tried < 3; tried++) { /* one of these is no gap */
        const size_t at = (size_t)(n / 4 * (tried + 1));
        const double distance = times[(at + 1) * stride] - times[at * stride];
        int32_t other = 0;
        for (size_t k = 0; k < (size_t)n; k++)
            other += fabs(times[(k + 1) * stride] - times[k * stride] - distance) > EVEN_WITHIN * distance;
        if (other <= MOST_UNEVEN * n)
            return distance;
    }
    return 0;
}

static void warn_of_gaps(bough_context *ctx, const bo_motor_table *t) {
    const double usual = usual_distance(t);
    for (int32_t k = 1; usual > 0 && k < t->row_count; k++) {
        const double *row = t->values + (size_t)t->column_count * (size_t)k;
        const double from = row[t->time - t->column_count], until = row[t->time];
        if (until - from < GAP * usual)
            continue;
        bo_warn(ctx, "%s:%d: there are no rows from %g s to %g s, while others are %g s apart; motors are led across",
                t->path, t->lines[k], from, until, usual);
        return;
    }
}

bough_status bo_motor_table_read(bough_context *ctx, const char *path, uint64_t *hash, bo_motor_table *t) {
    bo_file file;
    bo_scanner scanner;
    *t = (bo_motor_table){.path = bo_strdup(ctx, path)};
    if (!t->path)
        return BOUGH_ERROR_MEMORY;
    BO_TRY(bo_file_read_limited(ctx, path, (size_t)1 << 28, "CSV", &file));
    *hash = bo_hash_bytes(*hash, file.data, file.size);
    bo_scan_begin(&scanner, ctx, path, &file);
    bough_status status = read_head(&scanner, t);
    if (status == BOUGH_OK)
        status = read_rows(&scanner, t);
    if (status == BOUGH_OK)
        warn_of_gaps(ctx, t);
    bo_file_free(ctx, &file);
    return status;
}

bough_status bo_motor_table_find(bough_context *ctx, const bo_motor_table *t, const char *name, int32_t *column) {
    for (int32_t c = 0; c < t->column_count; c++)
        if (c != t->time && !strcmp(t->columns[c], name)) {
            *column = c;
            return BOUGH_OK;
        }
    const char *near = bo_nearest_word(name, (const char *const *)t->columns, t->column_count);
    return bo_fail(ctx, BOUGH_ERROR_FORMAT, "%s:1: there is no column \"%.60s\"%s%.60s%s", t->path, name,
                   near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}
