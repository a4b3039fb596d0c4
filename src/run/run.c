#include "run/run.h"

#include "base/file.h"
#include "engine/contacts.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define GOOD_PARTS 4 /* that must succeed before larger ones are tried again */

double bo_run_time(const bough_run *run) {
    const double steps = (double)(run->place.step - run->since_step) + (double)run->place.unit / BO_RUN_UNITS;
    return run->since_time + steps * run->dt;
}

/* ---- recording ---- */

bough_status bo_run_record_frame(bough_context *ctx, bough_run *run) {
    const int32_t stresses = run->engine.stress_count;
    const bo_run_surface *s = &run->surface;
    BO_TRY(bo_run_show(run));
    if (stresses > 0)
        BO_TRY(bough_run_stresses(run, run->von_mises));
    for (int32_t i = s->mesh->element_count - 1; i >= 0 && s->thing_of && stresses > 0; i--)
        run->von_mises[stresses + i] = run->von_mises[s->thing_of[i]];
    const double *shown = stresses > 0 ? run->von_mises + (s->thing_of ? stresses : 0) : NULL;
    return bo_series_frame(ctx, &run->series, bo_run_time(run), s->mesh, s->displacement, s->velocity, shown);
}

bough_status bo_run_record(bough_context *ctx, bough_run *run) {
    if (run->table.stream)
        BO_TRY(bo_table_row(ctx, &run->table, run->values));
    if (!bo_run_frame_is_due(run))
        return BOUGH_OK;
    BO_TRY(bo_run_record_arrays(ctx, run));
    if (run->series.index)
        BO_TRY(bo_run_record_frame(ctx, run));
    return run->watch ? run->watch(run->watch_data, ctx, run) : BOUGH_OK;
}

/* ---- stepping ---- */

static bool may_succeed_with_less(bough_status status) {
    return status == BOUGH_NO_CONVERGENCE || status == BOUGH_NOT_FINITE || status == BOUGH_ENERGY_GAINED ||
           status == BOUGH_ERROR_SINGULAR;
}

bough_status bo_run_measure(bough_context *ctx, bough_run *run, double t, double *values) {
    BO_TRY(run->engine.kind->measure(run->engine.data, t, values));
    BO_TRY(bo_engine_measure_contacts(ctx, &run->engine, values));
    bo_run_account(run, values);
    for (int32_t i = 0; i < run->engine.column_count; i++)
        if (!isfinite(values[i]) && !(run->engine.blank && run->engine.blank[i]))
            return bo_fail(ctx, BOUGH_NOT_FINITE, "%s is not finite", run->engine.columns[i]);
    return BOUGH_OK;
}

bough_status bo_run_keep_state(bough_context *ctx, bough_run *run) {
    run->state_size = run->engine.kind->state_size(run->engine.data);
    if (!BO_RESERVE(ctx, run->state, run->state_capacity, (size_t)run->state_size))
        return BOUGH_ERROR_MEMORY;
    run->engine.kind->save(run->engine.data, run->state);
    return BOUGH_OK;
}

static bough_status try_live(bough_context *ctx, bough_run *run, double t, double h) {
    run->measured = NAN;
    if (run->engine.in_pieces)
        BO_TRY(bo_run_keep_state(ctx, run));
    bough_status status = run->engine.kind->step(run->engine.data, t, h, &run->place.iterations);
    if (status == BOUGH_OK)
        status = bo_run_reserve_changes(ctx, run);
    if (status != BOUGH_OK && run->place.halvings == run->max_halvings)
        bo_run_note_overlap(run);
    if (status != BOUGH_OK && run->engine.in_pieces)
        BO_TRY(run->engine.kind->restore(run->engine.data, run->state, run->state_size));
    return status;
}

/* A step whose end cannot be measured is none: it is taken back, with what happened to parts in it. */
static bough_status try_part(bough_context *ctx, bough_run *run) {
    const double t = bo_run_time(run), h = ldexp(run->dt, -run->place.halvings);
    if (run->live)
        return try_live(ctx, run, t, h);
    BO_TRY(bo_run_keep_state(ctx, run));
    run->over_tolerance = false;
    bough_status status = run->engine.kind->step(run->engine.data, t, h, &run->place.iterations);
    if (status == BOUGH_OK)
        status = bo_run_measure(ctx, run, t + h, run->trial);
    if (status == BOUGH_OK)
        status = bo_run_check_energy(ctx, run, run->trial);
    if (status == BOUGH_OK)
        status = bo_run_reserve_changes(ctx, run);
    if (status != BOUGH_OK && run->place.halvings == run->max_halvings)
        bo_run_note_overlap(run);
    if (status != BOUGH_OK)
        BO_TRY(run->engine.kind->restore(run->engine.data, run->state, run->state_size));
    return status;
}

/* The engine's advice about one step is none any more. */
static void drop_advice(bough_context *ctx) {
    char *advice = strstr(ctx->message, "; take a smaller one");
    if (advice)
        *advice = '\0';
}

static bough_status halve(bough_context *ctx, bough_run *run, bough_status status) {
    bo_run_place *p = &run->place;
    const double t = bo_run_time(run), h = ldexp(run->dt, -p->halvings);
    if (p->halvings == run->max_halvings) {
        bo_prefix_message(ctx, "at t = %g s even a step of %g s fails: ", t, h);
        if (status == BOUGH_ENERGY_GAINED)
            drop_advice(ctx);
        if (!bo_run_name_overlap(ctx, run, status) && status == BOUGH_ENERGY_GAINED)
            bo_run_advise(ctx, run);
        return status;
    }
    p->retries++;
    p->good = 0;
    if (++p->halvings > p->deepest) {
        p->deepest = p->halvings;
        bo_warn(ctx, "at t = %g s a step of %g s failed (%s); going on with halves of it", t, h, bough_message(ctx));
    }
    return BOUGH_OK;
}

static void accept(bough_run *run) {
    bo_run_place *p = &run->place;
    p->unit += BO_RUN_UNITS >> p->halvings;
    if (p->unit == BO_RUN_UNITS)
        p->unit = 0, p->step++;
    /* Twice the size only where it ends together with a step. */
    if (++p->good >= GOOD_PARTS && p->halvings > 0 && p->unit % (BO_RUN_UNITS >> (p->halvings - 1)) == 0)
        p->halvings--, p->good = 0;
    if (!run->live) {
        memcpy(run->values, run->trial, (size_t)run->engine.column_count * sizeof *run->values);
        bo_run_note_energy(run, run->values);
    }
    run->values[BOUGH_COLUMN_TIME] = bo_run_time(run);
}

bough_status bough_run_step(bough_context *ctx, bough_run *run) {
    const int64_t goal = run->place.step + 1;
    if (run->place.unit == 0) /* else the rest of a step: the poke goes on as it began */
        for (int d = 0; d < 3; d++)
            run->hands.poke.target[d] = run->hands.impulse[d] / run->dt;
    while (run->place.step < goal) {
        bough_status status = try_part(ctx, run);
        if (status == BOUGH_OK) {
            accept(run);
            BO_TRY(bo_run_watch_overlaps(run));
            BO_TRY(bo_run_take_changes(ctx, run));
        } else
            BO_TRY(may_succeed_with_less(status) ? halve(ctx, run, status) : status);
        /* A step under somebody's hand can take minutes. */
        if (run->live && run->place.halvings > 0 && run->place.step < goal &&
            !bo_progress(ctx, "stepping", -1, "t = %.4g s, in halves", bo_run_time(run)))
            return bo_fail_cancelled(ctx);
    }
    run->hands.poke.holds = false;
    return bo_run_record(ctx, run);
}

/* Makes the recordings so far readable, then writes the checkpoint that continues from there: a run that is killed
 * loses only what came after. Tables and series are complete at all times, on the disk itself from now on. */
static bough_status flush(bough_context *ctx, bough_run *run) {
    bo_table *const tables[] = {&run->table, &run->stress_table, &run->change_table};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        BO_TRY(bo_table_sync(ctx, tables[i]));
    BO_TRY(bo_series_sync(ctx, &run->series));
    BO_TRY(bo_run_flush_arrays(ctx, run));
    BO_TRY(bo_run_flush_inputs(run));
    if (run->flush)
        BO_TRY(run->flush(run->watch_data, ctx, run));
    return run->checkpoint ? bough_run_save(ctx, run, run->checkpoint) : BOUGH_OK;
}

static double wall_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool tell(bough_context *ctx, const bough_run *run, double seconds, double simulated, int64_t steps) {
    double rate = seconds > 0 ? (double)steps / seconds : 0, factor = seconds > 0 ? simulated / seconds : 0;
    return bo_progress(ctx, "running", (double)run->place.step / (double)run->step_count,
                       "t = %.4g of %.4g s, %.3g steps/s, %.3g x real time", bo_run_time(run), run->duration, rate,
                       factor);
}

static bough_status steps_to_the_end(bough_context *ctx, bough_run *run) {
    const double start = wall_seconds(), t = bo_run_time(run);
    const int64_t first = run->place.step;
    bough_status status = BOUGH_OK;
    double next = start + run->every;
    while (status == BOUGH_OK && run->place.step < run->step_count) {
        status = bough_run_step(ctx, run);
        bool go_on = tell(ctx, run, wall_seconds() - start, bo_run_time(run) - t, run->place.step - first);
        if (status == BOUGH_OK && !go_on && run->place.step < run->step_count)
            status = bo_fail_cancelled(ctx);
        const double now = wall_seconds();
        if (status != BOUGH_OK || now < next || run->place.step == run->step_count)
            continue;
        status = flush(ctx, run);
        next = wall_seconds() + fmax(run->every, 10 * (wall_seconds() - now)); /* large files take their time */
    }
    run->seconds += wall_seconds() - start;
    run->simulated += bo_run_time(run) - t;
    return status;
}

/* Writes what belongs on disk after a failure without losing its sentence. */
static void keep_last_state(bough_context *ctx, bough_run *run) {
    char sentence[BO_MESSAGE_SIZE];
    memcpy(sentence, ctx->message, sizeof sentence);
    bool part = run->place.unit != 0; /* whole steps are recorded already */
    bool lost = part && run->table.stream && bo_table_row(ctx, &run->table, run->values) != BOUGH_OK;
    lost |= part && run->series.index && bo_run_record_frame(ctx, run) != BOUGH_OK;
    lost |= bo_run_finish_arrays(ctx, run) != BOUGH_OK; /* whose rows have no times, so no part */
    lost |= bo_run_finish_inputs(run) != BOUGH_OK;
    lost |= run->checkpoint && bough_run_save(ctx, run, run->checkpoint) != BOUGH_OK;
    if (lost)
        bo_warn(ctx, "the last state was not kept: %s", bough_message(ctx));
    memcpy(ctx->message, sentence, sizeof sentence);
}

bough_status bough_run_advance(bough_context *ctx, bough_run *run) {
    if (run->live)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "a live run has no end; it is stepped by bough_run_step()");
    bough_status status = steps_to_the_end(ctx, run);
    if (status != BOUGH_OK) {
        keep_last_state(ctx, run);
        return status;
    }
    status = bo_run_finish_arrays(ctx, run);
    bough_status inputs = bo_run_finish_inputs(run);
    bough_status saved = run->checkpoint ? bough_run_save(ctx, run, run->checkpoint) : BOUGH_OK;
    return status != BOUGH_OK ? status : inputs != BOUGH_OK ? inputs : saved;
}

/* ---- equilibria ---- */

bough_status bough_run_follow(bough_context *ctx, bough_run *run, double time, int32_t *snaps, bough_run_snap *last) {
    const bo_engine_kind *kind = run->engine.kind;
    int32_t count = 0;
    bough_run_snap snap = {.joint = -1};
    if (!(kind->can & BOUGH_CAN_FOLLOW))
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "%s knows equilibria at the start only", kind->title);
    if (isnan(run->engine.residual))
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "only a run that was settled can be followed from there");
    if (!isfinite(time))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the time of an equilibrium is %g; it must be finite", time);
    if (!bo_progress(ctx, "following", run->duration > 0 ? time / run->duration : -1, "t = %.4g s", time))
        return bo_fail_cancelled(ctx);
    const bough_status status = kind->follow(run->engine.data, time, &count, &snap);
    if (snaps)
        *snaps = count;
    if (last)
        *last = snap;
    BO_TRY(status);
    run->since_step = run->place.step, run->since_time = time;
    run->measured = time;
    return bo_run_measure(ctx, run, time, run->values);
}

/* ---- looking ---- */

int32_t bough_run_column_count(const bough_run *run) {
    return run->engine.column_count;
}

const char *bough_run_column_name(const bough_run *run, int32_t column) {
    return column < 0 || column >= run->engine.column_count ? NULL : run->engine.columns[column];
}

/* The run is const for the caller: values that are measured late are still those of the state. */
const double *bough_run_values(const bough_run *run) {
    bough_run *now = (bough_run *)run;
    if (run->live && !(run->measured == bo_run_time(run))) {
        now->measured = bo_run_time(run);
        if (run->engine.kind->measure(run->engine.data, now->measured, now->values) != BOUGH_OK ||
            bo_engine_measure_contacts(run->ctx, &now->engine, now->values) != BOUGH_OK)
            for (int32_t i = BOUGH_COLUMN_TIME + 1; i < run->engine.column_count; i++)
                now->values[i] = NAN;
        bo_run_account(run, now->values);
    }
    return run->values;
}

bool bough_run_joint_gap(const bough_run *run, bough_run_gap *now, bough_run_gap *worst) {
    bough_run_gap ignored[2];
    if (!(run->engine.kind->can & BOUGH_CAN_GAPS))
        return false;
    bough_run_values(run); /* a live run is measured now */
    return run->engine.kind->joint_gap(run->engine.data, now ? now : &ignored[0], worst ? worst : &ignored[1]);
}

int32_t bough_run_contacts(const bough_run *run, int32_t most, bough_run_contact *contacts) {
    const bo_engine_kind *kind = run->engine.kind;
    return kind->can & BOUGH_CAN_CONTACTS ? kind->contacts(run->engine.data, most, contacts) : 0;
}

int32_t bough_run_joints(const bough_run *run, int32_t most, bough_run_joint *joints) {
    const bo_engine_kind *kind = run->engine.kind;
    return kind->can & BOUGH_CAN_JOINTS ? kind->joints(run->engine.data, most, joints) : 0;
}

bough_status bough_run_find_modes(bough_context *ctx, bough_run *run, bough_run_modes *modes) {
    const bo_engine_kind *kind = run->engine.kind;
    if (!(kind->can & BOUGH_CAN_MODES))
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "%s finds no modes", kind->title);
    if (modes->shapes)
        BO_TRY(bo_engine_need_things(&run->engine));
    return kind->modes(run->engine.data, modes);
}

const bough_run_change *bough_run_changes(const bough_run *run, int32_t *count) {
    *count = (int32_t)run->change_count;
    return run->changes;
}

bool bough_run_model(const bough_run *run, const bough_tree_model **model, const bough_tree_state **state) {
    bough_tree_state *now = NULL;
    *model = run->engine.kind->model ? run->engine.kind->model(run->engine.data, &now) : NULL;
    *state = now;
    return *model != NULL;
}

void bough_run_look(const bough_run *run, bough_run_report *report) {
    bo_engine_report own = {.frequency_error = NAN};
    if (run->engine.kind->report)
        run->engine.kind->report(run->engine.data, &own);
    *report = (bough_run_report){.engine = run->engine.kind->name,
                                 .can = run->engine.kind->can,
                                 .reason = run->reason[0] ? run->reason : NULL,
                                 .gap = {.joint = -1},
                                 .internal_modes = own.internal_modes,
                                 .frequency_error = own.frequency_error,
                                 .coupling = own.coupling,
                                 .passes = own.passes,
                                 .settle_residual = run->engine.residual,
                                 .integrator = run->integrator,
                                 .time = bo_run_time(run),
                                 .dt = run->dt,
                                 .duration = run->duration,
                                 .steps = run->place.step,
                                 .step_count = run->step_count,
                                 .iterations = run->place.iterations,
                                 .retries = run->place.retries,
                                 .smallest_dt = ldexp(run->dt, -run->place.deepest),
                                 .rows = run->table.rows,
                                 .frames = run->series.written,
                                 .displacement_rows = run->displacements.rows,
                                 .stress_rows = run->stresses.rows + run->stress_table.rows,
                                 .seconds = run->seconds,
                                 .simulated_time = run->simulated};
    bough_run_joint_gap(run, NULL, &report->gap);
    memcpy(report->start_energy, run->place.start_energy, sizeof report->start_energy);
    memcpy(report->energy, run->values + BOUGH_COLUMN_ELASTIC, sizeof report->energy);
    report->work = run->values[BOUGH_COLUMN_WORK];
    report->balance = run->values[BOUGH_COLUMN_BALANCE];
}
