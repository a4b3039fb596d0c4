#include "record/series.h"

#include "base/file.h"
#include "mesh/vtu.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FRAME_NAME = 32 };

static const char head[] = "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\">\n<Collection>\n";
static const char tail[] = "</Collection>\n</VTKFile>\n";
static const char entry[] = "<DataSet timestep=\"", entry_rest[] = "\" file=\"frame_%06d.vtu\"/>\n";

static char *path_in(bough_context *ctx, const char *folder, const char *name) {
    size_t length = strlen(folder) + strlen(name) + 2;
    char *path = bo_alloc(ctx, length, 1);
    if (path)
        snprintf(path, length, "%s/%s", folder, name);
    return path;
}

static bough_status fail_write(bough_context *ctx, const bo_series *series) {
    return bo_fail(ctx, BOUGH_ERROR_FILE, "%s/frames.pvd: cannot be written: %s", series->folder,
                   errno ? strerror(errno) : "disk full or device error");
}

/* Writes the end and stands before it again, so that the file is complete at any time. */
static bough_status finish_index(bough_context *ctx, bo_series *series) {
    fputs(tail, series->index);
    errno = 0;
    if (fflush(series->index) != 0 || ferror(series->index) ||
        fseek(series->index, -(long)(sizeof tail - 1), SEEK_CUR) != 0)
        return fail_write(ctx, series);
    return BOUGH_OK;
}

static bough_status open_index(bough_context *ctx, const char *folder, const char *mode, bo_series *series) {
    *series = (bo_series){.folder = bo_strdup(ctx, folder)};
    char *path = path_in(ctx, folder, "frames.pvd");
    bough_status status = series->folder && path ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK && mkdir(folder, 0777) != 0 && errno != EEXIST)
        status = bo_fail(ctx, BOUGH_ERROR_FILE, "%s: the folder cannot be made: %s", folder, strerror(errno));
    char *first = path_in(ctx, folder, "frame_");
    if (first)
        bo_output_remove_leftovers(first, true);
    bo_free(ctx, first);
    if (status == BOUGH_OK) {
        errno = 0;
        series->index = fopen(path, mode);
        status = series->index ? BOUGH_OK : fail_write(ctx, series);
    }
    bo_free(ctx, path);
    if (status != BOUGH_OK)
        bo_series_close(ctx, series);
    return status;
}

bough_status bo_series_create(bough_context *ctx, const char *folder, bo_series *series) {
    BO_TRY(open_index(ctx, folder, "wb", series));
    fputs(head, series->index);
    bough_status status = finish_index(ctx, series);
    if (status != BOUGH_OK)
        bo_series_close(ctx, series);
    return status;
}

/* Returns the end of the entry of this frame if it is here and its time is at most `last`; NULL if it is not. */
static const char *behind_entry(const char *line, int32_t frame, double last, locale_t plain) {
    char rest[48], *behind;
    if (strncmp(line, entry, sizeof entry - 1) != 0)
        return NULL;
    line += sizeof entry - 1;
    const double time = strtod_l(line, &behind, plain);
    snprintf(rest, sizeof rest, entry_rest, frame);
    if (behind == line || memchr(line, '\n', (size_t)(behind - line)) || !(time <= last) ||
        strncmp(behind, rest, strlen(rest)) != 0)
        return NULL;
    return behind + strlen(rest);
}

/* Bytes of the head and of the entries up to `last`; 0 when the index is not one of ours. */
static size_t kept_bytes(const bo_file *file, double last, int32_t *count) {
    const char *line = file->data, *end;
    if (strncmp(line, head, sizeof head - 1) != 0)
        return 0;
    line += sizeof head - 1;
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    while (plain && (end = behind_entry(line, *count, last, plain))) {
        (*count)++;
        line = end;
    }
    if (plain)
        freelocale(plain);
    return (size_t)(line - file->data);
}

bough_status bo_series_continue(bough_context *ctx, const char *folder, double last, bo_series *series) {
    char *path = path_in(ctx, folder, "frames.pvd");
    if (!path)
        return BOUGH_ERROR_MEMORY;
    size_t size = 0;
    int32_t count = 0;
    bough_status status = BOUGH_OK;
    if (bo_file_exists(path)) {
        bo_file file;
        status = bo_file_read(ctx, path, &file);
        if (status == BOUGH_OK) {
            size = kept_bytes(&file, last, &count);
            bo_file_free(ctx, &file);
        }
    }
    bo_free(ctx, path);
    BO_TRY(status);
    if (count == 0)
        return bo_series_create(ctx, folder, series);
    BO_TRY(open_index(ctx, folder, "r+b", series));
    series->count = series->synced = count;
    errno = 0;
    status = ftruncate(fileno(series->index), (off_t)size) == 0 && fseek(series->index, 0, SEEK_END) == 0
                 ? finish_index(ctx, series)
                 : fail_write(ctx, series);
    if (status != BOUGH_OK)
        bo_series_close(ctx, series);
    return status;
}

static bough_status write_frame(bough_context *ctx, const char *path, const bough_mesh *mesh,
                                const double *displacement, const double *velocity, const double *von_mises) {
    const bo_vtu_field fields[] = {{"velocity", false, 3, velocity}, {"von Mises", true, 1, von_mises}};
    bo_output output;
    BO_TRY(bo_output_open_in_series(ctx, path, &output));
    bough_status status = bo_vtu_write(ctx, output.stream, mesh, displacement, fields, von_mises ? 2 : 1);
    if (status == BOUGH_OK)
        return bo_output_commit(ctx, &output);
    bo_output_discard(ctx, &output);
    return status;
}

static char *frame_path(bough_context *ctx, const bo_series *series, int32_t frame, char name[static FRAME_NAME]) {
    snprintf(name, FRAME_NAME, "frame_%06d.vtu", frame);
    return path_in(ctx, series->folder, name);
}

bough_status bo_series_frame(bough_context *ctx, bo_series *series, double time, const bough_mesh *mesh,
                             const double *displacement, const double *velocity, const double *von_mises) {
    char name[FRAME_NAME], number[48];
    char *path = frame_path(ctx, series, series->count, name);
    if (!path)
        return BOUGH_ERROR_MEMORY;
    bough_status status = write_frame(ctx, path, mesh, displacement, velocity, von_mises);
    bo_free(ctx, path);
    BO_TRY(status);
    snprintf(number, sizeof number, "%.17g", time);
    for (char *c = number; *c; c++)
        if (*c == ',')
            *c = '.';
    fprintf(series->index, "%s%s", entry, number);
    fprintf(series->index, entry_rest, series->count++);
    series->written++;
    return finish_index(ctx, series);
}

static bough_status sync_frame(bough_context *ctx, const bo_series *series, int32_t frame) {
    char name[FRAME_NAME];
    char *path = frame_path(ctx, series, frame, name);
    if (!path)
        return BOUGH_ERROR_MEMORY;
    FILE *file = fopen(path, "rbe");
    errno = 0;
    if (file && !bo_stream_sync(file)) { /* who has removed a frame does not want it */
        bough_status status = bo_fail(ctx, BOUGH_ERROR_FILE, "%s: cannot be written: %s", path, strerror(errno));
        fclose(file);
        bo_free(ctx, path);
        return status;
    }
    if (file)
        fclose(file);
    bo_free(ctx, path);
    return BOUGH_OK;
}

/* Each frame once, and not when it is written: the disk takes many at a time faster. */
bough_status bo_series_sync(bough_context *ctx, bo_series *series) {
    if (!series->index)
        return BOUGH_OK;
    for (; series->synced < series->count; series->synced++)
        BO_TRY(sync_frame(ctx, series, series->synced));
    char *path = path_in(ctx, series->folder, "frames.pvd");
    if (!path)
        return BOUGH_ERROR_MEMORY;
    bo_sync_folder_of(path);
    bo_free(ctx, path);
    errno = 0;
    return bo_stream_sync(series->index) ? BOUGH_OK : fail_write(ctx, series);
}

bough_status bo_series_close(bough_context *ctx, bo_series *series) {
    bough_status status = BOUGH_OK;
    if (series->index) {
        errno = 0;
        bool good = !ferror(series->index);
        if (fclose(series->index) != 0 || !good)
            status = fail_write(ctx, series);
    }
    bo_free(ctx, series->folder);
    *series = (bo_series){0};
    return status;
}
