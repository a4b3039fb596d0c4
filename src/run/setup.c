/* Making and unmaking runs. */
#include "run/run.h"

#include "base/file.h"
#include "engine/contacts.h"

#include <math.h>
#include <string.h>

#define RUN_COOKIE 0xB0061030u
#define EVERY 60       /* s of wall time: what may be lost when a run is killed */
#define STEP_LIMIT 1e9 /* steps in all; more is a slip in dt or duration */

bough_run_def bough_default_run_def(void) {
    return (bough_run_def){.cookie = RUN_COOKIE, .max_halvings = 10, .fps = 30};
}

static bough_status check_def(bough_context *ctx, const bough_run_def *def) {
    if (def->cookie != RUN_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the run def was not made by bough_default_run_def()");
    if (def->max_halvings < 0 || def->max_halvings > BO_RUN_MAX_HALVINGS)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a step can be halved 0 to %d times, not %d", BO_RUN_MAX_HALVINGS,
                       def->max_halvings);
    if (!(def->fps > 0) || !isfinite(def->fps))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "frames per second must be positive, not %g", def->fps);
    if (isnan(def->every))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the time between checkpoints is not a number");
    if (isnan(def->energy_tolerance))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the energy tolerance is not a number");
    if (def->passes < 0 || def->passes > 2)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a step takes 1 or 2 passes, not %d", def->passes);
    if (def->live && (def->record || def->displacements || def->stresses || def->frames || def->inputs ||
                      def->changes || def->checkpoint || def->resume))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a live run records nothing and knows no checkpoints");
    return BOUGH_OK;
}

/* The last step ends at the duration, or after it where dt does not divide it. */
static bough_status choose_steps(bough_context *ctx, const bough_scene *scene, const bough_run_def *def,
                                 bough_run *run) {
    run->dt = def->dt != 0 ? def->dt : scene->dt;
    run->duration = def->duration != 0 ? def->duration : scene->duration;
    if (!(run->dt > 0) || !isfinite(run->dt))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the time step is %g s; it must be positive", run->dt);
    if (def->live)
        run->duration = STEP_LIMIT * run->dt;
    if (run->duration == 0)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "neither the scene (time.duration) nor the run says how long it should take");
    if (!(run->duration > 0) || !isfinite(run->duration))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the duration is %g s; it must be positive", run->duration);
    double count = ceil(run->duration / run->dt * (1 - 1e-9));
    if (count > STEP_LIMIT)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%g s in steps of %g s are %g steps; %g is the limit", run->duration,
                       run->dt, count, STEP_LIMIT);
    run->step_count = (int64_t)count;
    return BOUGH_OK;
}

/* A checkpoint goes with all that decides the bits of the next step. */
static uint64_t hash_run(const bough_scene *scene, const bough_run *run, const bough_integrator_def *def) {
    const double numbers[] = {def->rho,       def->alpha,          def->beta, def->gamma,
                              def->tolerance, def->max_iterations, run->dt};
    const bo_engine_kind *kind = run->engine.kind;
    bo_engine_report own = {0};
    if (kind->report)
        kind->report(run->engine.data, &own);
    uint64_t hash = bo_hash_bytes(scene->hash, run->integrator, strlen(run->integrator));
    hash = bo_hash_bytes(hash, kind->name, strlen(kind->name));
    if (own.coupling)
        hash = bo_hash_bytes(hash, own.coupling, strlen(own.coupling));
    hash = bo_hash_bytes(hash, &own.passes, sizeof own.passes);
    return bo_hash_bytes(hash, numbers, sizeof numbers);
}

static bough_status make_engine(bough_context *ctx, const bough_scene *scene, const bough_run_def *def,
                                bough_run *run) {
    bo_engine_settings settings = {.integrator = scene->integrator,
                                   .coupling = def->coupling,
                                   .continuity = def->continuity,
                                   .passes = def->passes,
                                   .settle = (scene->settle || def->settle) && !def->resume,
                                   .dt = run->dt};
    if (def->integrator)
        settings.integrator.name = def->integrator;
    BO_TRY(bo_scene_make_engine(ctx, scene, def->engine, &settings, def->integrator || scene->names_integrator,
                                run->duration, &run->engine, run->reason));
    run->integrator = run->engine.integrator;
    BO_TRY(bo_engine_watch_contacts(ctx, &run->engine));
    run->hash = hash_run(scene, run, &settings.integrator);
    return BOUGH_OK;
}

static bough_status make_run(bough_context *ctx, const bough_scene *scene, const bough_run_def *def, bough_run *run) {
    BO_TRY(make_engine(ctx, scene, def, run));
    memcpy(run->gravity, scene->gravity, sizeof run->gravity);
    run->max_halvings = def->max_halvings;
    run->energy_tolerance = def->energy_tolerance != 0 ? def->energy_tolerance : scene->energy_tolerance;
    run->fps = def->fps;
    run->watch = def->watch, run->watch_data = def->watch_data, run->flush = def->flush;
    run->every = def->every > 0 ? def->every : def->every == 0 ? EVERY : INFINITY;
    run->tell = def->tell, run->tell_data = def->tell_data;
    run->live = def->live, run->measured = NAN;
    if (run->live && run->engine.kind->take_hands)
        run->engine.kind->take_hands(run->engine.data, &run->hands);
    run->values = BO_NEW_ZEROS(ctx, double, run->engine.column_count);
    run->trial = BO_NEW_ZEROS(ctx, double, run->engine.column_count);
    if (!run->values || !run->trial)
        return BOUGH_ERROR_MEMORY;
    if (def->checkpoint && !(run->checkpoint = bo_strdup(ctx, def->checkpoint)))
        return BOUGH_ERROR_MEMORY;
    return BOUGH_OK;
}

static bough_status start(bough_context *ctx, const bough_run_def *def, bough_run *run) {
    if (def->resume)
        return bough_run_restore(ctx, run, def->resume);
    BO_TRY(bo_run_measure(ctx, run, 0, run->values));
    memcpy(run->place.start_energy, run->values + BOUGH_COLUMN_ELASTIC, sizeof run->place.start_energy);
    bo_run_account(run, run->values);
    bo_run_note_energy(run, run->values);
    return BOUGH_OK;
}

/* Better now than after hours of work. */
static bough_status check_writable(bough_context *ctx, const char *path) {
    bo_output output;
    BO_TRY(bo_output_open(ctx, path, &output));
    bo_output_discard(ctx, &output);
    return BOUGH_OK;
}

static bough_status open_recordings(bough_context *ctx, const bough_run_def *def, bough_run *run) {
    const char *const *columns = (const char *const *)run->engine.columns;
    const int32_t count = run->engine.column_count;
    const double now = bo_run_time(run);
    bool has_row = false;
    if (run->checkpoint)
        BO_TRY(check_writable(ctx, run->checkpoint));
    if (def->inputs)
        BO_TRY(check_writable(ctx, def->inputs));
    if (def->inputs)
        BO_TRY(bo_run_open_inputs(ctx, run, def->inputs));
    if (def->record)
        BO_TRY(def->resume ? bo_table_continue(ctx, def->record, columns, count, now, &run->table, &has_row)
                           : bo_table_create(ctx, def->record, columns, count, &run->table));
    if (run->table.stream && !has_row)
        BO_TRY(bo_table_row(ctx, &run->table, run->values));
    if (def->changes)
        BO_TRY(bo_run_open_changes(ctx, run, def->changes, def->resume != NULL));
    if (!def->resume) { /* else what happened at the start is long past */
        BO_TRY(bo_run_reserve_changes(ctx, run));
        BO_TRY(bo_run_take_changes(ctx, run));
    }
    if (def->displacements)
        BO_TRY(bo_run_open_displacements(ctx, run, def->displacements, def->resume != NULL));
    if (def->stresses)
        BO_TRY(bo_run_open_stresses(ctx, run, def->stresses, def->resume != NULL));
    if (!def->frames)
        return BOUGH_OK;
    BO_TRY(def->resume ? bo_series_continue(ctx, def->frames, now, &run->series)
                       : bo_series_create(ctx, def->frames, &run->series));
    BO_TRY(bo_run_need_mesh(run));
    run->von_mises = BO_NEW_ZEROS(ctx, double, run->engine.stress_count + run->surface.mesh->element_count);
    if (!run->von_mises)
        return BOUGH_ERROR_MEMORY;
    return run->series.count ? BOUGH_OK : bo_run_record_frame(ctx, run);
}

bough_status bough_run_create(bough_context *ctx, const bough_scene *scene, const bough_run_def *given,
                              bough_run **out) {
    *out = NULL;
    bough_run_def def = given ? *given : bough_default_run_def();
    BO_TRY(check_def(ctx, &def));
    bough_run *run = BO_NEW(ctx, bough_run);
    if (!run)
        return BOUGH_ERROR_MEMORY;
    run->ctx = ctx;
    bough_status status = choose_steps(ctx, scene, &def, run);
    if (status == BOUGH_OK)
        status = make_run(ctx, scene, &def, run);
    if (status == BOUGH_OK)
        status = start(ctx, &def, run);
    if (status == BOUGH_OK)
        status = open_recordings(ctx, &def, run);
    if (status == BOUGH_OK)
        *out = run;
    else {
        bo_run_discard_arrays(ctx, run);
        bo_run_discard_inputs(run);
        bough_run_destroy(ctx, run);
    }
    return status;
}

void bough_run_destroy(bough_context *ctx, bough_run *run) {
    if (!run)
        return;
    bo_table_close(ctx, &run->table); /* every row was checked when it was written */
    bo_series_close(ctx, &run->series);
    bo_table_close(ctx, &run->stress_table);
    bo_table_close(ctx, &run->change_table);
    if (bo_run_finish_arrays(ctx, run) != BOUGH_OK)
        bo_warn(ctx, "%s", bough_message(ctx));
    if (bo_run_finish_inputs(run) != BOUGH_OK)
        bo_warn(ctx, "%s", bough_message(ctx));
    bo_run_free_arrays(ctx, run);
    bo_free(ctx, run->von_mises);
    bo_run_free_surface(ctx, run);
    bo_engine_destroy(ctx, &run->engine);
    bo_free(ctx, run->values);
    bo_free(ctx, run->trial);
    bo_free(ctx, run->state);
    bo_free(ctx, run->hands.motors);
    bo_free(ctx, run->changes);
    bo_free(ctx, run->checkpoint);
    bo_free(ctx, run);
}
