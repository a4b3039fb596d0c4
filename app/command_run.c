#include "film.h"

#include <bough/time.h>

#include <math.h>
#include <string.h>
#include <strings.h>

enum {
    OPT_ENGINE = 300,
    OPT_COUPLING,
    OPT_PASSES,
    OPT_CONTINUITY,
    OPT_DT,
    OPT_TIME,
    OPT_STRESS,
    OPT_INPUTS,
    OPT_CHANGES,
    OPT_FRAMES,
    OPT_BAKED,
    OPT_FPS,
    OPT_CHECKPOINT,
    OPT_RESUME,
    OPT_EVERY,
    OPT_ENERGY_TOLERANCE
};

typedef struct {
    app_scene_options scene;
    const char *picture;
    bough_run_def def;
    app_film film;
} arguments;

static const struct argp_option options[] = {
    {"engine", OPT_ENGINE, "NAME", 0,
     "of a scene of parts: tree (the reduced parts), or full (the whole mesh of its object); of a mechanism: "
     "mechanism (reduced), or full; of bodies with joints: multibody (reduced parts), or full; instead of the scene's",
     0},
    {"coupling", OPT_COUPLING, "NAME", 0, "of the tree engine: L1, L2, L2R or L3, instead of the scene's", 0},
    {"passes", OPT_PASSES, "N", 0, "of the tree engine in each step: 1 or 2, instead of the scene's", 0},
    {"continuity", OPT_CONTINUITY, "NAME", 0,
     "of the surfaces that the tree engine shows, where parts meet: none (default), C0 (no gaps) or C1 (no kinks "
     "either)",
     0},
    {"integrator", 'i', "NAME", 0, "instead of the scene's; bough integrators lists them", 0},
    {"dt", OPT_DT, "S", 0, "time step in s, instead of the scene's", 0},
    {"time", OPT_TIME, "S", 0, "simulated time in s, instead of the scene's duration", 0},
    {"record", 'r', "FILE", 0,
     "FILE.csv: record time, energies, momentum, work and probes, one row a step; FILE.npy: record the displacements "
     "of all "
     "vertices, one row a frame; FILE.npz: all columns, frames and coordinates of parts, for NumPy; FILE.glb: a film "
     "for "
     "browsers and Blender; FOLDER/NAME.obj: the surface, a file each frame; FILE.png, FILE.webm, FILE.mp4: a film of "
     "pictures (bough movie has more options); may be given once for each",
     0},
    {"baked", OPT_BAKED, 0, 0,
     "of FILE.glb: vertices of each frame instead of parts with coordinates, joined as --continuity says; large", 0},
    {"stress", OPT_STRESS, "FILE", 0,
     "FILE.csv or FILE.npy: record von Mises' stress of each part, or of each element of a body, one row a frame", 0},
    {"inputs", OPT_INPUTS, "FILE", 0, "of the tree engine: record all that is done to the scene, for bough replay", 0},
    {"changes", OPT_CHANGES, "FILE.csv", 0,
     "record what happens to parts and ties by the scene's \"events\" and \"break\": time, change, part, stress, force",
     0},
    {"frames", OPT_FRAMES, "FOLDER", 0, "write a series of .vtu files with the index frames.pvd", 0},
    {"fps", OPT_FPS, "N", 0,
     "frames of films and series, and rows of FILE.npy and of stresses, per simulated second (default 30)", 0},
    {"checkpoint", OPT_CHECKPOINT, "FILE", 0,
     "where to keep the last state, also after a failure or Ctrl-C, and every so often", 0},
    {"every", OPT_EVERY, "S", 0,
     "seconds of wall time after which the checkpoint is written and recordings become readable up to then, so that a "
     "run that is killed leaves them (default 60)",
     0},
    {"resume", OPT_RESUME, "FILE", 0, "go on from a checkpoint of the same scene, integrator and step", 0},
    {"energy-tolerance", OPT_ENERGY_TOLERANCE, "X", 0,
     "how much energy a run may make out of nothing, as a part of the energy in play, before it fails; 0: any; "
     "instead of the scene's (0.05 where it says nothing)",
     0},
    {"picture", 'p', "FILE.png", 0, "draw the last state", 0},
    {0},
};

static void need_integrator(struct argp_state *state, const char *name) {
    for (int32_t i = 0; i < bough_integrator_count(); i++)
        if (!strcasecmp(bough_integrator_describe(i)->name, name))
            return;
    argp_error(state, "--integrator: there is no \"%s\"; bough integrators lists them", name);
}

/* All that is written has a file of its own, and none of it goes over the scene. */
static void check_files(struct argp_state *state, const arguments *a) {
    const char *const *reels = a->film.reel_paths;
    const char *const files[] = {
        a->scene.path, a->def.record,   a->def.displacements, a->film.glb_path, a->film.npz_path,  reels[0],  reels[1],
        reels[2],      a->def.stresses, a->def.inputs,        a->def.changes,   a->def.checkpoint, a->picture};
    enum { COUNT = sizeof files / sizeof *files };
    for (int i = 0; i < COUNT; i++)
        for (int k = i + 1; k < COUNT; k++)
            if (files[i] && files[k] && app_is_same_file(files[i], files[k]))
                argp_error(state,
                           i == 0 ? "\"%s\" is the scene; what is written needs another name"
                                  : "\"%s\" would be written twice; give one of them another name",
                           files[k]);
}

static void take_recording(struct argp_state *state, char *path, arguments *a) {
    const char *other;
    if (!app_take_recording(path, &a->def, &a->film, &other))
        argp_error(state, "--record: the name of \"%s\" should end in %s", path, app_recording_kinds());
    if (other)
        argp_error(state, "--record: \"%s\" and \"%s\" are of one kind, of which a run records one; copy it afterwards",
                   other, path);
}

static error_t parse(int key, char *text, struct argp_state *state) {
    arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->scene;
        break;
    case OPT_ENGINE:
        a->def.engine = app_parse_engine(state, text);
        break;
    case OPT_COUPLING:
        if (strcmp(text, "L1") != 0 && strcmp(text, "L2") != 0 && strcmp(text, "L2R") != 0 && strcmp(text, "L3") != 0)
            argp_error(state, "--coupling: \"%s\" should be L1, L2, L2R or L3", text);
        a->def.coupling = text;
        break;
    case OPT_PASSES:
        if (!app_parse_int(text, 1, 2, &a->def.passes))
            argp_error(state, "--passes: \"%s\" should be 1 or 2", text);
        break;
    case OPT_CONTINUITY:
        if (strcmp(text, "none") != 0 && strcmp(text, "C0") != 0 && strcmp(text, "C1") != 0)
            argp_error(state, "--continuity: \"%s\" should be none, C0 or C1", text);
        a->def.continuity = text;
        break;
    case 'i':
        need_integrator(state, text);
        a->def.integrator = text;
        break;
    case OPT_DT:
        a->def.dt = app_need_positive(state, "dt", text);
        break;
    case OPT_TIME:
        a->def.duration = app_need_positive(state, "time", text);
        break;
    case 'r':
        take_recording(state, text, a);
        break;
    case OPT_STRESS:
        if (!app_has_extension(text, ".csv") && !app_has_extension(text, ".npy"))
            argp_error(state, "--stress: \"%s\" should be a file whose name ends in .csv or .npy", text);
        a->def.stresses = text;
        break;
    case OPT_INPUTS:
        a->def.inputs = text;
        break;
    case OPT_CHANGES:
        app_need_extension(state, "changes", text, ".csv");
        a->def.changes = text;
        break;
    case OPT_FRAMES:
        if (a->def.frames)
            argp_error(state, "--frames: \"%s\" and \"%s\" are of one kind, of which a run records one", a->def.frames,
                       text);
        a->def.frames = text;
        break;
    case OPT_BAKED:
        a->film.baked = true;
        break;
    case OPT_FPS:
        a->def.fps = app_need_positive(state, "fps", text);
        break;
    case OPT_ENERGY_TOLERANCE:
        if (!app_parse_numbers(text, 1, &a->def.energy_tolerance) || a->def.energy_tolerance < 0)
            argp_error(state, "--energy-tolerance: \"%s\" should be a number, 0 or more", text);
        if (a->def.energy_tolerance == 0) /* which a def understands as the scene's */
            a->def.energy_tolerance = -1;
        break;
    case OPT_CHECKPOINT:
        a->def.checkpoint = text;
        break;
    case OPT_EVERY:
        a->def.every = app_need_positive(state, "every", text);
        break;
    case OPT_RESUME:
        a->def.resume = text;
        break;
    case 'p':
        app_need_extension(state, "picture", text, ".png");
        a->picture = text;
        break;
    case ARGP_KEY_SUCCESS: /* the scene's name is known */
        if (a->film.baked && !a->film.glb_path)
            argp_error(state, "--baked says how FILE.glb is made: name it by --record");
        check_files(state, a);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp parser = {
    options,
    parse,
    "SCENE.json",
    "Steps a scene through time. docs/scene-format.md tells what a scene is."
    "\vExamples:\n"
    "  bough run examples/beam/scene.json --record beam.csv --picture beam.png\n"
    "  bough run oak/scene.json --time 10 --record oak.glb --record oak.npz\n"
    "  bough run scene.json --integrator bdf2 --dt 0.005 --time 2 --frames frames --fps 60\n"
    "  bough run scene.json --checkpoint half.state; bough run scene.json --resume half.state --time 10\n\n"
    "A step that fails is taken in halves; when that does not help, the last good state is kept in the checkpoint or "
    "in "
    "SCENE.failed.state. Ctrl-C ends the run and keeps what was recorded; a run that is killed leaves what it had "
    "recorded a minute before (--every).",
    app_scene_children,
    NULL,
    NULL,
};

/* ---- what happens to parts and ties ---- */

/* Returns the load under which a part or tie broke. */
static double load_of(const bough_run_change *change) {
    return change->tie < 0 ? change->stress : change->force;
}

/* One line a step and kind of change, however many parts or ties it is about. */
static void tell(void *data, const bough_run_change *changes, int32_t count) {
    (void)data;
    for (int32_t i = 0, same; i < count; i += same) {
        double most = load_of(&changes[i]);
        for (same = 1; i + same < count && !strcmp(changes[i + same].change, changes[i].change); same++)
            most = fmax(most, load_of(&changes[i + same]));
        app_clear_progress();
        fprintf(stderr, "t = %.4f s: %s", changes[i].time, changes[i].change);
        for (int32_t k = 0; k < same && k < 3 && changes[i].name; k++)
            fprintf(stderr, "%s %s", k ? "," : "", changes[i + k].name);
        if (same > 3)
            fprintf(stderr, " and %d more", same - 3);
        if (!strncmp(changes[i].change, "break", 5))
            fprintf(stderr, " at %.3g %s", most, changes[i].tie < 0 ? "Pa" : "N");
        fputc('\n', stderr);
    }
}

static int32_t count_changes(const bough_run *run, const char *change) {
    int32_t count, found = 0;
    const bough_run_change *changes = bough_run_changes(run, &count);
    for (int32_t i = 0; i < count; i++)
        found += !strcmp(changes[i].change, change);
    return found;
}

static json_t *json_changes(const bough_run *run) {
    int32_t count;
    const bough_run_change *changes = bough_run_changes(run, &count);
    json_t *list = json_array();
    for (int32_t i = 0; i < count; i++) {
        const bough_run_change *c = &changes[i];
        json_array_append_new(list, json_pack("{s:f, s:s, s:o, s:o, s:o, s:o}", "time", c->time, "change", c->change,
                                              "part", c->part >= 0 ? app_json_text(c->name) : json_null(), "tie",
                                              c->tie >= 0 ? app_json_text(c->name) : json_null(), "stress",
                                              app_json_number(c->stress), "force", app_json_number(c->force)));
    }
    return list;
}

static void print_mechanism(const bough_run_report *r) {
    if (r->internal_modes > 0)
        printf("internal modes         %d, without which the lowest frequency would be off\n", r->internal_modes);
    if (!isnan(r->frequency_error))
        printf("lowest frequency       %.2g %% above the whole mechanism's\n", 100 * fmax(0, r->frequency_error));
    if (r->gap.joint < 0)
        return;
    const double degrees = r->gap.angle * 180 / M_PI;
    printf("joints apart           %.3g m", r->gap.distance);
    if (degrees >= 0.01 || r->gap.error <= r->gap.angle) /* the angle is what is worst */
        printf(" and %.3g degrees", degrees);
    printf(" at most, joint %s at t = %.4g s\n", r->gap.name ? r->gap.name : "without a name", r->gap.time);
}

static json_t *json_gap(const bough_run_gap *gap) {
    return gap->joint < 0 ? json_null()
                          : json_pack("{s:o, s:f, s:f, s:f, s:f}", "joint",
                                      gap->name ? app_json_text(gap->name) : json_integer(gap->joint), "distance",
                                      gap->distance, "angle", gap->angle, "error", gap->error, "time", gap->time);
}

static void print_text(const bough_run *run, const bough_run_report *r, bool done) {
    static const char *const names[4] = {"elastic", "kinetic", "external", "total"};
    double factor = r->seconds > 0 ? r->simulated_time / r->seconds : 0;
    printf("%s at t = %.6g s after %lld of %lld steps of %g s by %s\n", done ? "done" : "stopped", r->time,
           (long long)r->steps, (long long)r->step_count, r->dt, r->integrator);
    if (r->reason)
        printf("engine                 %s: %s\n", r->engine, r->reason);
    if (r->coupling)
        printf("engine                 %s, %s\n", r->engine, r->coupling);
    else
        printf("Newton iterations      %lld\n", (long long)r->iterations);
    if (!isnan(r->settle_residual))
        printf("settled within         %.2e of the forces\n", r->settle_residual);
    if (r->retries)
        printf("retries                %lld, smallest step %g s\n", (long long)r->retries, r->smallest_dt);
    printf("wall time              %.2f s, %.3g x real time\n", r->seconds, factor);
    printf("energies (J)           %14s %14s\n", "start", "end");
    for (int i = 0; i < 4; i++)
        printf("  %-20s %14.6g %14.6g\n", names[i], r->start_energy[i], r->energy[i]);
    printf("  %-20s %14.6g %14.6g\n", "work done", 0.0, r->work);
    printf("  %-20s %14.6g %14.6g\n", "balance", 0.0, r->balance);
    for (int32_t c = BOUGH_COLUMN_PROBES; c < bough_run_column_count(run); c++)
        printf("%-22s %.9g\n", bough_run_column_name(run, c), bough_run_values(run)[c]);
    print_mechanism(r);
    int32_t changes;
    bough_run_changes(run, &changes);
    if (changes)
        printf("changes                %d, of them %d broke off\n", changes,
               count_changes(run, "break") + count_changes(run, "break_tie"));
    if (r->rows)
        printf("recorded rows          %lld\n", (long long)r->rows);
    if (r->displacement_rows)
        printf("recorded displacements %lld\n", (long long)r->displacement_rows);
    if (r->stress_rows)
        printf("recorded stresses      %lld\n", (long long)r->stress_rows);
    if (r->frames)
        printf("frames                 %lld\n", (long long)r->frames);
}

static void print_json(const bough_run *run, const bough_run_report *r, bool done) {
    json_t *values = json_object();
    for (int32_t c = 0; c < bough_run_column_count(run); c++)
        json_object_set_new(values, bough_run_column_name(run, c), app_json_number(bough_run_values(run)[c]));
    app_print_json(json_pack(
        "{s:b, s:s, s:s?, s:o, s:s, s:f, s:f, s:f, s:I, s:I, s:I, s:I, s:f, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I, "
        "s:I, s:f, s:o, s:o, s:s?, s:o, s:i, s:o}",
        "done", (int)done, "engine", r->engine, "coupling", r->coupling, "settle_residual",
        app_json_number(r->settle_residual), "integrator", r->integrator, "time", r->time, "dt", r->dt, "duration",
        r->duration, "steps", (json_int_t)r->steps, "step_count", (json_int_t)r->step_count, "iterations",
        (json_int_t)r->iterations, "retries", (json_int_t)r->retries, "smallest_dt", r->smallest_dt, "start_energy",
        app_json_numbers(r->start_energy, 4), "energy", app_json_numbers(r->energy, 4), "work",
        app_json_number(r->work), "balance", app_json_number(r->balance), "values", values, "rows", (json_int_t)r->rows,
        "displacement_rows", (json_int_t)r->displacement_rows, "stress_rows", (json_int_t)r->stress_rows, "frames",
        (json_int_t)r->frames, "seconds", r->seconds, "real_time_factor",
        app_json_number(r->seconds > 0 ? r->simulated_time / r->seconds : 0), "changes", json_changes(run),
        "engine_reason", r->reason, "joint_gap", json_gap(&r->gap), "internal_modes", (int)r->internal_modes,
        "frequency_error", app_json_number(r->frequency_error)));
}

static int draw(bough_context *ctx, const bough_run *run, const arguments *a) {
    char title[64];
    const bough_tree_model *model;
    const bough_tree_state *state;
    if (bough_run_model(run, &model, &state) && state->root_count > 0)
        return app_film_still(ctx, run, a->picture) ? app_fail(ctx) : APP_OK;
    if (!bough_run_mesh(run) || !bough_run_displacement(run))
        return app_fail(ctx);
    snprintf(title, sizeof title, "t = %.4g s", bough_run_values(run)[BOUGH_COLUMN_TIME]);
    bough_status status =
        app_picture(ctx, bough_run_mesh(run), bough_run_displacement(run), 1, title, "|u| (m)", a->picture);
    return status ? app_fail(ctx) : APP_OK;
}

/* A run that cannot go on leaves its last good state on disk: in the checkpoint, or in SCENE.failed.state here. */
static int fail_with_state(bough_context *ctx, const arguments *a, const bough_run *run) {
    char reason[1024], path[512];
    snprintf(reason, sizeof reason, "%s", bough_message(ctx));
    if (a->def.checkpoint)
        return app_fail_with("%s; the last good state is in %s", reason, a->def.checkpoint);
    const char *slash = strrchr(a->scene.path, '/'), *name = slash ? slash + 1 : a->scene.path,
               *dot = strrchr(name, '.');
    snprintf(path, sizeof path, "%.*s.failed.state", (int)(dot ? dot - name : (long)strlen(name)), name);
    if (bough_run_save(ctx, run, path))
        return app_fail_with("%s; its last good state could not be kept: %s", reason, bough_message(ctx));
    return app_fail_with("%s; the last good state is in %s", reason, path);
}

static int execute(bough_context *ctx, arguments *a, bough_run *run) {
    int status = APP_OK;
    bough_status advanced = bough_run_advance(ctx, run);
    app_clear_progress();
    bough_run_report report;
    bough_run_look(run, &report);
    if (advanced == BOUGH_CANCELLED)
        status = app_fail_with("interrupted at t = %g s after %lld of %lld steps", report.time, (long long)report.steps,
                               (long long)report.step_count);
    else if (advanced > 0 || advanced == BOUGH_ERROR_SINGULAR)
        status = fail_with_state(ctx, a, run);
    else if (advanced)
        status = app_film_fail(ctx, &a->film);
    if (advanced == BOUGH_ERROR_FILE || advanced == BOUGH_ERROR_MEMORY)
        return status;
    /* The state reached before the failure, an impossible event or Ctrl-C is worth having. */
    if (a->scene.json)
        print_json(run, &report, advanced == BOUGH_OK);
    else
        print_text(run, &report, advanced == BOUGH_OK);
    int drawn = a->picture && !app_interrupted() ? draw(ctx, run, a) : APP_OK;
    if (drawn == APP_OK && app_film_finish(ctx, &a->film))
        drawn = app_film_fail(ctx, &a->film);
    return status == APP_OK ? drawn : status;
}

/* A film begins with the state that the run begins with. */
static int start(bough_context *ctx, arguments *a, bough_scene *scene, bough_run **run) {
    const bool film = app_wants_film(&a->film);
    if (film)
        a->def.watch = app_film_add, a->def.watch_data = &a->film, a->film.fps = a->def.fps,
        a->def.flush = app_film_flush;
    a->def.tell = tell;
    if (bough_run_create(ctx, scene, &a->def, run))
        return app_fail(ctx);
    if (film && app_film_open(ctx, *run, &a->film))
        return app_film_fail(ctx, &a->film);
    return APP_OK;
}

int command_run(int argc, char **argv) {
    arguments a = {.def = bough_default_run_def(), .film = app_default_film()};
    app_parse(&parser, argc, argv, &a);
    bough_context *ctx = app_context(a.scene.threads);
    bough_scene *scene = NULL;
    bough_run *run = NULL;
    int status = bough_scene_load(ctx, a.scene.path, &scene) ? app_fail(ctx) : start(ctx, &a, scene, &run);
    if (status == APP_OK)
        status = execute(ctx, &a, run);
    app_film_destroy(ctx, &a.film);
    bough_run_destroy(ctx, run);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
    return status;
}
