/* Motions as plain arrays, and how far one is from another. */
#include "retarget/retarget.h"

#include "base/vec.h"

#include <math.h>

void bough_motion_destroy(bough_context *ctx, bough_motion *motion) {
    if (motion)
        bo_free(ctx, motion->memory);
    bo_free(ctx, motion);
}

bough_status bo_motion_make(bough_context *ctx, const bough_retarget *r, bough_motion **out) {
    const size_t n = bo_retarget_samples(r), motors = (size_t)r->motor_count * n, frames = (size_t)r->frame_count * n;
    bough_motion *m = BO_NEW(ctx, bough_motion);
    double *block = BO_NEW_ZEROS(ctx, double, 3 * motors + 12 * frames + 2 * n);
    *out = NULL;
    if (!m || !block) {
        bo_free(ctx, m);
        bo_free(ctx, block);
        return BOUGH_ERROR_MEMORY;
    }
    *m = (bough_motion){.dt = r->dt,
                        .step_count = r->step_count,
                        .motor_count = r->motor_count,
                        .frame_count = r->frame_count,
                        .memory = block};
    m->places = block, m->rates = m->places + motors, m->forces = m->rates + motors;
    m->positions = m->forces + motors, m->rotations = m->positions + 3 * frames;
    m->kinetic = m->rotations + 9 * frames, m->elastic = m->kinetic + n;
    *out = m;
    return BOUGH_OK;
}

/* ---- comparing ---- */

/* The angle of the turn from one orientation to the other: |A - B|_F = 2 sqrt(2) sin(angle / 2). */
static double angle_between(const double *a, const double *b) {
    double sum = 0;
    for (int i = 0; i < 9; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return 2 * asin(fmin(1, sqrt(sum / 8)));
}

typedef struct {
    double squares, peak;
    int32_t count;
} tally;

static void count(tally *t, double x) {
    t->squares += x * x, t->peak = fmax(t->peak, x), t->count++;
}

static void report(const tally *t, double *rms, double *peak) {
    *rms = t->count > 0 ? sqrt(t->squares / t->count) : NAN;
    *peak = t->count > 0 ? t->peak : NAN;
}

void bough_motion_compare(const bough_retarget *r, const bough_motion *motion, const bough_motion *target,
                          int32_t frame, bough_deviation *d) {
    const int32_t late = (int32_t)ceil(motion->delay / r->dt - 1e-9);
    int32_t moved = -1 - late; /* the last step that is no pause; before the start there is one */
    tally all = {0}, pauses = {0}, end = {0}, tilts = {0};
    for (int32_t k = 0; k <= r->step_count; k++) {
        const size_t at = (size_t)frame * bo_retarget_samples(r) + (size_t)k;
        const double away = bo_norm(bo_sub(bo_load3(motion->positions + 3 * at), bo_load3(target->positions + 3 * at)));
        moved = r->pauses[k] ? moved : k;
        const bool pause = k > moved + late;
        count(&all, away);
        if (pause)
            count(&pauses, away);
        if (pause && k > r->last_move)
            count(&end, away);
        count(&tilts, angle_between(motion->rotations + 9 * at, target->rotations + 9 * at));
    }
    report(&all, &d->rms, &d->peak);
    report(&pauses, &d->pause_rms, &d->pause_peak);
    report(&end, &d->end_rms, &d->end_peak);
    report(&tilts, &d->tilt_rms, &d->tilt_peak);
}
