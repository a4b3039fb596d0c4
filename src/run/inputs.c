/* Recordings of all that is done to the state, for replays, by engines that make them. */
#include "run/run.h"

bough_status bo_run_open_inputs(bough_context *ctx, bough_run *run, const char *path) {
    const bo_engine_kind *kind = run->engine.kind;
    if (!(kind->can & BOUGH_CAN_INPUTS))
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "inputs can be recorded of scenes of parts that the tree engine steps, not of the engine \"%s\"",
                       kind->name);
    return kind->start_inputs(run->engine.data, path);
}

static bool has_inputs(const bough_run *run) {
    return run->engine.data && run->engine.kind->can & BOUGH_CAN_INPUTS;
}

void bo_run_discard_inputs(bough_run *run) {
    if (has_inputs(run))
        run->engine.kind->end_inputs(run->engine.data, false);
}

bough_status bo_run_flush_inputs(bough_run *run) {
    return has_inputs(run) ? run->engine.kind->flush_inputs(run->engine.data) : BOUGH_OK;
}

bough_status bo_run_finish_inputs(bough_run *run) {
    return has_inputs(run) ? run->engine.kind->end_inputs(run->engine.data, true) : BOUGH_OK;
}
