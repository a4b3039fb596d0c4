/* The recording of all displacements: a .npy array with one row of 3 vertex_count numbers a frame. */
#include "run/run.h"

#include <math.h>

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

static bough_status open_array(bough_context *ctx, bough_run *run, double rows, bool *kept) {
    int32_t columns = 3 * run->engine.mesh->vertex_count;
    if (rows > INT32_MAX)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "%s: %g frames are too many for one file; lower the frames per second", run->displacements_path,
                       rows);
    return bo_npy_continue(ctx, run->displacements_path, columns, (int32_t)rows, &run->displacements, kept);
}

bough_status bo_run_open_displacements(bough_context *ctx, bough_run *run, const char *path, bool resumed) {
    bool kept = false;
    run->displacements_path = bo_strdup(ctx, path);
    if (!run->displacements_path)
        return BOUGH_ERROR_MEMORY;
    if (resumed)
        BO_TRY(open_array(ctx, run, frames_so_far(run), &kept));
    else
        BO_TRY(bo_npy_open(ctx, path, 3 * run->engine.mesh->vertex_count, &run->displacements));
    return kept ? BOUGH_OK : bo_run_record_displacements(ctx, run);
}

bough_status bo_run_record_displacements(bough_context *ctx, bough_run *run) {
    if (!run->displacements.output.stream) { /* stepped on after bough_run_advance(), which completed the file */
        bool kept;
        BO_TRY(open_array(ctx, run, run->displacements.rows, &kept));
        if (!kept)
            return bo_fail(ctx, BOUGH_ERROR_FILE, "%s: was changed by another program while the run used it",
                           run->displacements_path);
    }
    BO_TRY(bo_run_show(run));
    BO_TRY(bo_npy_append(ctx, &run->displacements, run->engine.displacement));
    run->displacement_rows++;
    return BOUGH_OK;
}

bough_status bo_run_finish_displacements(bough_context *ctx, bough_run *run) {
    return run->displacements.output.stream ? bo_npy_commit(ctx, &run->displacements) : BOUGH_OK;
}
