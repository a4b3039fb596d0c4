/* Recordings with one row a frame: .npy arrays of displacements and stresses, and stresses as a table. */
#include "run/run.h"

#include <math.h>
#include <string.h>

#define LITTLE 1e-9 /* of a frame: rounding of t fps */

/* A frame is due when the step before ended in an earlier 1/fps of a second. */
bool bo_run_frame_is_due(const bough_run *run) {
    double now = floor(bo_run_time(run) * run->fps + LITTLE);
    return run->place.step == 0 || floor((double)(run->place.step - 1) * run->dt * run->fps + LITTLE) < now;
}

/* Frames that were due up to the last whole step, with the one at the start: every step when they are longer than a
 * frame, else one for each frame that has begun. */
static double frames_so_far(const bough_run *run) {
    double steps = (double)run->place.step;
    return 1 + (run->dt * run->fps >= 1 ? steps : floor(steps * run->dt * run->fps + LITTLE));
}

/* ---- arrays ---- */

static bough_status continue_array(bough_context *ctx, bo_run_array *array, double rows, bool *kept) {
    if (rows > INT32_MAX)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "%s: %g frames are too many for one file; lower the frames per second", array->path, rows);
    return bo_npy_continue(ctx, array->path, array->columns, (int32_t)rows, &array->writer, kept);
}

/* *kept: the rows of the frames up to now are there. */
static bough_status open_array(bough_context *ctx, const bough_run *run, const char *path, int32_t columns,
                               bool resumed, bo_run_array *array, bool *kept) {
    *kept = false;
    array->columns = columns;
    array->path = bo_strdup(ctx, path);
    if (!array->path)
        return BOUGH_ERROR_MEMORY;
    return resumed ? continue_array(ctx, array, frames_so_far(run), kept)
                   : bo_npy_open(ctx, path, columns, &array->writer);
}

static bough_status append(bough_context *ctx, bo_run_array *array, const double *row) {
    if (!array->writer.output.stream) { /* stepped on after bough_run_advance(), which completed the file */
        bool kept;
        BO_TRY(continue_array(ctx, array, array->writer.rows, &kept));
        if (!kept)
            return bo_fail(ctx, BOUGH_ERROR_FILE, "%s: was changed by another program while the run used it",
                           array->path);
    }
    BO_TRY(bo_npy_append(ctx, &array->writer, row));
    array->rows++;
    return BOUGH_OK;
}

bough_status bo_run_flush_arrays(bough_context *ctx, bough_run *run) {
    if (run->displacements.writer.output.stream)
        BO_TRY(bo_npy_flush(ctx, &run->displacements.writer));
    return run->stresses.writer.output.stream ? bo_npy_flush(ctx, &run->stresses.writer) : BOUGH_OK;
}

static bough_status finish(bough_context *ctx, bo_run_array *array) {
    array->writer.output.durable = true;
    return array->writer.output.stream ? bo_npy_commit(ctx, &array->writer) : BOUGH_OK;
}

bough_status bo_run_finish_arrays(bough_context *ctx, bough_run *run) {
    bough_status status = finish(ctx, &run->displacements), last = finish(ctx, &run->stresses);
    return status != BOUGH_OK ? status : last;
}

void bo_run_discard_arrays(bough_context *ctx, bough_run *run) {
    bo_npy_discard(ctx, &run->displacements.writer);
    bo_npy_discard(ctx, &run->stresses.writer);
}

void bo_run_free_arrays(bough_context *ctx, bough_run *run) {
    bo_free(ctx, run->displacements.path);
    bo_free(ctx, run->stresses.path);
    bo_free(ctx, run->stress);
}

/* ---- displacements ---- */

static bough_status record_displacements(bough_context *ctx, bough_run *run) {
    BO_TRY(bo_run_show(run));
    return append(ctx, &run->displacements, run->surface.displacement);
}

bough_status bo_run_open_displacements(bough_context *ctx, bough_run *run, const char *path, bool resumed) {
    bool kept;
    BO_TRY(bo_run_need_mesh(run));
    BO_TRY(open_array(ctx, run, path, 3 * run->surface.mesh->vertex_count, resumed, &run->displacements, &kept));
    return kept ? BOUGH_OK : record_displacements(ctx, run);
}

/* ---- stresses ---- */

/* The table has the time before them. */
static bough_status record_stresses(bough_context *ctx, bough_run *run) {
    run->stress[0] = bo_run_time(run);
    BO_TRY(bough_run_stresses(run, run->stress + 1));
    return run->stress_table.stream ? bo_table_row(ctx, &run->stress_table, run->stress)
                                    : append(ctx, &run->stresses, run->stress + 1);
}

/* "time", then the names of parts without what would break a line of the table, or the numbers of elements. */
static void name_stresses(const bo_engine *engine, size_t size, char *text, char **names) {
    for (int32_t i = 0; i <= engine->stress_count; i++, text += size) {
        names[i] = text;
        if (i == 0)
            snprintf(text, size, "time");
        else if (!engine->mesh) /* things have a stress each */
            snprintf(text, size, "%s", engine->things[i - 1].name);
        else
            snprintf(text, size, "%d", i - 1);
        for (char *c = text; (c = strpbrk(c, ",\"\n\r"));)
            *c = '_';
    }
}

static bough_status open_table(bough_context *ctx, bough_run *run, const char *path, bool resumed, bool *kept) {
    enum { SIZE = 128 };
    BO_TRY(bo_engine_need_things(&run->engine));
    const int32_t count = run->engine.stress_count + 1;
    char **names = BO_NEW_ARRAY(ctx, char *, count), *text = BO_NEW_ZEROS(ctx, char, SIZE *(size_t)count);
    const char *const *columns = (const char *const *)names;
    bough_status status = BOUGH_ERROR_MEMORY;
    if (names && text) {
        name_stresses(&run->engine, SIZE, text, names);
        status = resumed ? bo_table_continue(ctx, path, columns, count, bo_run_time(run), &run->stress_table, kept)
                         : bo_table_create(ctx, path, columns, count, &run->stress_table);
    }
    bo_free(ctx, names);
    bo_free(ctx, text);
    return status;
}

bough_status bo_run_open_stresses(bough_context *ctx, bough_run *run, const char *path, bool resumed) {
    const bool table = bo_equal_ignoring_case(bo_path_extension(path), "csv");
    bool kept = false;
    if (!table && !bo_equal_ignoring_case(bo_path_extension(path), "npy"))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: stresses are recorded as .csv or .npy", path);
    if (run->engine.stress_count == 0)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "%s: %s records no stress", path, run->engine.kind->title);
    if (!(run->stress = BO_NEW_ZEROS(ctx, double, run->engine.stress_count + 1)))
        return BOUGH_ERROR_MEMORY;
    BO_TRY(table ? open_table(ctx, run, path, resumed, &kept)
                 : open_array(ctx, run, path, run->engine.stress_count, resumed, &run->stresses, &kept));
    return kept ? BOUGH_OK : record_stresses(ctx, run);
}

bough_status bo_run_record_arrays(bough_context *ctx, bough_run *run) {
    if (run->displacements.path)
        BO_TRY(record_displacements(ctx, run));
    return run->stresses.path || run->stress_table.stream ? record_stresses(ctx, run) : BOUGH_OK;
}
