/* Recordings of all that is done to the state of a tree, for replays. */
#include "run/run.h"

#include <bough/tree.h>

bough_status bo_run_open_inputs(bough_context *ctx, bough_run *run, const char *path) {
    if (!run->engine.state)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "inputs can be recorded of scenes of parts that the tree engine steps, not of the engine \"%s\"",
                       run->engine_name);
    if (!(run->inputs_path = bo_strdup(ctx, path)))
        return BOUGH_ERROR_MEMORY;
    return bough_log_start(ctx, run->engine.model, run->engine.state, &run->inputs);
}

void bo_run_discard_inputs(bough_context *ctx, bough_run *run) {
    bough_log_destroy(ctx, run->inputs);
    run->inputs = NULL;
}

bough_status bo_run_flush_inputs(bough_context *ctx, bough_run *run) {
    return run->inputs ? bough_log_flush(ctx, run->engine.model, run->inputs, run->inputs_path) : BOUGH_OK;
}

bough_status bo_run_finish_inputs(bough_context *ctx, bough_run *run) {
    if (!run->inputs)
        return BOUGH_OK;
    bough_status status = bough_log_stop(ctx, run->engine.model, run->inputs);
    if (status == BOUGH_OK)
        status = bough_log_save(ctx, run->inputs, run->inputs_path);
    bo_run_discard_inputs(ctx, run);
    return status;
}
