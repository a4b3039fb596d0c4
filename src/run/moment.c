/* Moments of a live run, kept in memory: what the engine saves, and where the run stood. */
#include "run/run.h"

#include <math.h>
#include <string.h>

struct bough_moment {
    const bo_engine_kind *engine; /* a state of another one means nothing */
    const char *integrator;
    bo_run_place place;
    double time, given; /* given: of the account */
    int64_t size;
    double numbers[];
};

bough_status bough_run_keep(bough_context *ctx, const bough_run *run, bough_moment **moment) {
    *moment = NULL;
    if (!run->live)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "only a live run keeps moments; others write checkpoints");
    const int64_t size = run->engine.kind->state_size(run->engine.data);
    bough_moment *m = bo_alloc(ctx, 1, sizeof *m + (size_t)size * sizeof *m->numbers);
    if (!m)
        return BOUGH_ERROR_MEMORY;
    *m = (bough_moment){.engine = run->engine.kind,
                        .integrator = run->integrator,
                        .place = run->place,
                        .time = bo_run_time(run),
                        .given = run->given,
                        .size = size};
    run->engine.kind->save(run->engine.data, m->numbers);
    *moment = m;
    return BOUGH_OK;
}

/* Steps are of the present dt from there on: a part of a step that was done is done, and the next one is whole. */
bough_status bough_run_return(bough_context *ctx, bough_run *run, const bough_moment *m) {
    if (!run->live || m->engine != run->engine.kind || m->integrator != run->integrator)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "this moment is of the engine %s with the integrator %s; choose these to go back to it",
                       m->engine->name, m->integrator);
    BO_TRY(run->engine.kind->restore(run->engine.data, m->numbers, m->size));
    run->place = m->place;
    run->place.unit = run->place.halvings = run->place.good = 0;
    run->since_step = run->place.step, run->since_time = m->time;
    run->hands.poke.holds = false;
    run->given = m->given;
    run->measured = NAN;
    run->values[BOUGH_COLUMN_TIME] = m->time;
    return BOUGH_OK;
}

double bough_moment_time(const bough_moment *moment) {
    return moment->time;
}

size_t bough_moment_size(const bough_moment *moment) {
    return sizeof *moment + (size_t)moment->size * sizeof *moment->numbers;
}

void bough_moment_destroy(bough_context *ctx, bough_moment *moment) {
    bo_free(ctx, moment);
}
