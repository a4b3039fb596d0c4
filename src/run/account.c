/* The account of a run's energy: total = total at the start + work - what damping took. Damping only takes, so that a
 * total above the first two was made by the steps themselves. */
#include "run/run.h"

#include <math.h>
#include <string.h>

#define NOISE 1e-12  /* J: rounding of a system in which nothing happens */
#define SETTLED 1e-6 /* of the energies of the state: what a start in equilibrium is off by */

void bo_run_account(const bough_run *run, double *values) {
    double doubt = 0;
    values[BOUGH_COLUMN_WORK] = run->engine.kind->work(run->engine.data, &doubt) + run->given;
    values[BOUGH_COLUMN_BALANCE] = values[BOUGH_COLUMN_TOTAL] - run->place.start_energy[3] - values[BOUGH_COLUMN_WORK];
}

/* The largest so far of what has been exchanged between the columns. */
static double in_play(const bough_run *run, const double *values) {
    const double *start = run->place.start_energy;
    const double now = values[BOUGH_COLUMN_KINETIC] + fabs(values[BOUGH_COLUMN_ELASTIC] - start[0]) +
                       fabs(values[BOUGH_COLUMN_EXTERNAL] - start[2]) + fabs(values[BOUGH_COLUMN_WORK]);
    return fmax(run->place.in_play, now);
}

void bo_run_note_energy(bough_run *run, const double *values) {
    run->place.in_play = in_play(run, values);
}

bough_status bo_run_check_energy(bough_context *ctx, bough_run *run, const double *values) {
    const double balance = values[BOUGH_COLUMN_BALANCE], scale = in_play(run, values);
    double doubt = 0;
    if (!(run->energy_tolerance > 0))
        return BOUGH_OK;
    run->engine.kind->work(run->engine.data, &doubt);
    const double rounding =
        NOISE + SETTLED * (fabs(values[BOUGH_COLUMN_ELASTIC]) + fabs(values[BOUGH_COLUMN_EXTERNAL]));
    if (balance <= run->energy_tolerance * scale + 2 * doubt + rounding)
        return BOUGH_OK;
    run->over_tolerance = true;
    return bo_fail(ctx, BOUGH_ENERGY_GAINED,
                   "there are %.3g J more than the start and the work done account for, %.3g %% of the energy in play",
                   balance, 100 * balance / scale);
}

bough_status bo_run_advise(bough_context *ctx, const bough_run *run) {
    char sentence[BO_MESSAGE_SIZE];
    memcpy(sentence, ctx->message, sizeof sentence);
    if (!run->over_tolerance) /* an engine refuses by itself what no tolerance could allow */
        return bo_fail(ctx, BOUGH_ENERGY_GAINED, "%.400s; take a smaller time step or another integrator", sentence);
    return bo_fail(ctx, BOUGH_ENERGY_GAINED,
                   "%.400s; take a smaller time step or another integrator, or allow more than %g %% with an energy "
                   "tolerance",
                   sentence, 100 * run->energy_tolerance);
}
