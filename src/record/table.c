#include "record/table.h"

#include "base/file.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bough_status fail_write(bough_context *ctx, const char *path) {
    return bo_fail(ctx, BOUGH_ERROR_FILE, "%s: cannot be written: %s", path,
                   errno ? strerror(errno) : "disk full or device error");
}

static bough_status open_table(bough_context *ctx, const char *path, const char *mode, int32_t column_count,
                               bo_table *table) {
    *table = (bo_table){.column_count = column_count, .path = bo_strdup(ctx, path)};
    if (!table->path)
        return BOUGH_ERROR_MEMORY;
    errno = 0;
    table->stream = fopen(path, mode);
    if (table->stream)
        return BOUGH_OK;
    bough_status status = fail_write(ctx, path);
    bo_free(ctx, table->path);
    *table = (bo_table){0};
    return status;
}

bough_status bo_table_create(bough_context *ctx, const char *path, const char *const *columns, int32_t column_count,
                             bo_table *table) {
    BO_TRY(open_table(ctx, path, "wb", column_count, table));
    for (int32_t i = 0; i < column_count; i++)
        fprintf(table->stream, "%s%c", columns[i], i + 1 < column_count ? ',' : '\n');
    errno = 0;
    if (fflush(table->stream) == 0 && !ferror(table->stream))
        return BOUGH_OK;
    bough_status status = fail_write(ctx, path);
    bo_table_close(ctx, table);
    return status;
}

/* Returns the place where the rows after the head begin; NULL if the head has other names. */
static const char *behind_head(const char *text, const char *const *columns, int32_t column_count) {
    for (int32_t i = 0; i < column_count; i++) {
        size_t length = strlen(columns[i]);
        if (strncmp(text, columns[i], length) != 0 || text[length] != (i + 1 < column_count ? ',' : '\n'))
            return NULL;
        text += length + 1;
    }
    return text;
}

static bool is_row(const char *row, const char *end, int32_t column_count, double last, locale_t plain) {
    char *behind;
    double time = strtod_l(row, &behind, plain); /* may go beyond the line, whose end is a blank to it */
    if (!(time <= last) || behind == row || behind > end || (*behind != ',' && behind != end))
        return false;
    for (; behind < end; behind++)
        column_count -= *behind == ',';
    return column_count == 1;
}

/* Bytes of complete rows up to `last`. */
static size_t kept_bytes(const bo_file *file, const char *row, int32_t column_count, double last, bool *kept) {
    const char *end;
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    while (plain && (end = strchr(row, '\n')) && is_row(row, end, column_count, last, plain)) {
        *kept = true;
        row = end + 1;
    }
    if (plain)
        freelocale(plain);
    return (size_t)(row - file->data);
}

bough_status bo_table_continue(bough_context *ctx, const char *path, const char *const *columns, int32_t column_count,
                               double last, bo_table *table, bool *kept) {
    *kept = false;
    if (!bo_file_exists(path))
        return bo_table_create(ctx, path, columns, column_count, table);
    bo_file file;
    BO_TRY(bo_file_read(ctx, path, &file));
    const char *rows = behind_head(file.data, columns, column_count);
    size_t size = rows ? kept_bytes(&file, rows, column_count, last, kept) : 0;
    bo_file_free(ctx, &file);
    if (!*kept)
        return bo_table_create(ctx, path, columns, column_count, table);
    BO_TRY(open_table(ctx, path, "r+b", column_count, table));
    errno = 0;
    if (ftruncate(fileno(table->stream), (off_t)size) == 0 && fseek(table->stream, 0, SEEK_END) == 0)
        return BOUGH_OK;
    bough_status status = fail_write(ctx, path);
    bo_table_close(ctx, table);
    return status;
}

/* A host program may have chosen a locale with another decimal point. */
static void print_number(FILE *stream, double value) {
    char text[48];
    snprintf(text, sizeof text, "%.17g", value);
    for (const char *c = text; *c; c++) {
        if ((*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') || *c == '+' || *c == '-')
            fputc(*c, stream);
        else if ((*c & 0xC0) != 0x80) /* once for a point of several bytes */
            fputc('.', stream);
    }
}

bough_status bo_table_words(bough_context *ctx, bo_table *table, const double *values, const char *const *words) {
    for (int32_t i = 0; i < table->column_count; i++) {
        if (words && words[i])
            fputs(words[i], table->stream);
        else
            print_number(table->stream, values[i]);
        fputc(i + 1 < table->column_count ? ',' : '\n', table->stream);
    }
    errno = 0;
    if (fflush(table->stream) != 0 || ferror(table->stream))
        return fail_write(ctx, table->path);
    table->rows++;
    return BOUGH_OK;
}

bough_status bo_table_row(bough_context *ctx, bo_table *table, const double *values) {
    return bo_table_words(ctx, table, values, NULL);
}

bough_status bo_table_sync(bough_context *ctx, bo_table *table) {
    if (!table->stream)
        return BOUGH_OK;
    errno = 0;
    if (!bo_stream_sync(table->stream))
        return fail_write(ctx, table->path);
    bo_sync_folder_of(table->path);
    return BOUGH_OK;
}

bough_status bo_table_close(bough_context *ctx, bo_table *table) {
    bough_status status = BOUGH_OK;
    if (table->stream) {
        errno = 0;
        bool good = !ferror(table->stream);
        if ((fclose(table->stream) != 0 || !good))
            status = fail_write(ctx, table->path);
    }
    bo_free(ctx, table->path);
    *table = (bo_table){0};
    return status;
}
