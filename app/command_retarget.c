/* bough retarget: curves of motors for which a flexible robot follows its animation without vibrating. */
#include "retarget_report.h"

#include <errno.h>
#include <libgen.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPT_OUTPUT = 'o',
    OPT_SCENE = 's',
    OPT_REPORT = 'r',
    OPT_FILMS = 300,
    OPT_FROM,
    OPT_RATE,
    OPT_SEARCH,
    OPT_ITERATIONS,
    OPT_TOLERANCE,
    OPT_DT,
    OPT_WINDOW,
    OPT_OVERLAP,
    OPT_MEGABYTES,
    OPT_FULL,
    OPT_CHECK,
    OPT_MASS,
    OPT_STIFFNESS,
    MOST_CASES = 12
};

typedef struct {
    app_scene_options scene;
    const char *output, *output_scene, *report, *films, *from;
    double rate, mass, stiffness; /* the last two: of the other robot */
    bool full, check;
    bough_retarget_def def;
} arguments;

static const struct argp_option options[] = {
    {"output", OPT_OUTPUT, "MOTORS.csv", 0,
     "where the curves go: a table of motors, as scenes read them (default: SCENE.retargeted.csv)", 0},
    {"scene", OPT_SCENE, "NEW.json", 0, "write a scene with these curves too, for bough run and bough view", 0},
    {"report", OPT_REPORT, "FILE.html", 0, "write a page with before and after: tables and plots", 0},
    {"films", OPT_FILMS, "FOLDER", 0, "write before.glb, after.glb and target.glb; needs --scene", 0},
    {"from", OPT_FROM, "MOTORS.csv", 0, "begin with these curves instead of the animation: goes on with a search", 0},
    {"rate", OPT_RATE, "HZ", 0, "rows a second of the table: the controller's rate (default: the scene's, or 100)", 0},
    {"search", OPT_SEARCH, "NAME", 0, "lbfgs, bfgs or gauss-newton (default: the scene's, or the fastest)", 0},
    {"iterations", OPT_ITERATIONS, "N", 0, "at most so many (default: the scene's, or 100)", 0},
    {"tolerance", OPT_TOLERANCE, "X", 0,
     "the search ends when five iterations gain less than this part (default: the scene's, or 1e-4)", 0},
    {"dt", OPT_DT, "S", 0, "time step, s (default: the scene's, or 0.002)", 0},
    {"window", OPT_WINDOW, "S", 0, "search windows of this length one after the other; 0: all at once", 0},
    {"overlap", OPT_OVERLAP, "S", 0, "how far a window looks ahead (default: 1)", 0},
    {"megabytes", OPT_MEGABYTES, "N", 0, "memory for states of the motion (default: 256)", 0},
    {"check", OPT_CHECK, 0, 0,
     "also try another robot, with and without feedback: what is tracked is 5 % heavier, parts are 10 % softer", 0},
    {"mass", OPT_MASS, "X", 0, "of the other robot: masses of what is tracked against those of the scene (1.05)", 0},
    {"stiffness", OPT_STIFFNESS, "X", 0, "of the other robot: stiffness of parts against the scene's (0.9)", 0},
    {"full", OPT_FULL, 0, 0, "also replay before and after on parts in full order", 0},
    {0},
};

static void parse_search(struct argp_state *state, const char *text, arguments *a) {
#define NAME(id, name, about) name,
    static const char *const names[] = {BOUGH_SEARCH_LIST(NAME)};
#undef NAME
    for (int i = 0; i < BOUGH_SEARCH_KIND_COUNT; i++)
        if (strcmp(text, names[i]) == 0) {
            a->def.search = (bough_search_kind)i;
            return;
        }
    argp_error(state, "--search: \"%s\" should be lbfgs, bfgs or gauss-newton", text);
}

static double need_number(struct argp_state *state, const char *option, const char *text) {
    double value;
    if (!app_parse_numbers(text, 1, &value) || !(value >= 0))
        argp_error(state, "--%s: \"%s\" should be a number that is 0 or more", option, text);
    return value;
}

static error_t parse(int key, char *text, struct argp_state *state) {
    arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->scene;
        break;
    case OPT_OUTPUT:
        app_need_extension(state, "output", text, ".csv");
        a->output = text;
        break;
    case OPT_SCENE:
        app_need_extension(state, "scene", text, ".json");
        a->output_scene = text;
        break;
    case OPT_REPORT:
        app_need_extension(state, "report", text, ".html");
        a->report = text;
        break;
    case OPT_FILMS:
        a->films = text;
        break;
    case OPT_FROM:
        a->from = text;
        break;
    case OPT_RATE:
        a->rate = app_need_positive(state, "rate", text);
        break;
    case OPT_SEARCH:
        parse_search(state, text, a);
        break;
    case OPT_ITERATIONS:
        if (!app_parse_int(text, 1, 100000, &a->def.iterations))
            argp_error(state, "--iterations: \"%s\" should be a number from 1 to 100000", text);
        break;
    case OPT_TOLERANCE:
        a->def.tolerance = need_number(state, "tolerance", text);
        break;
    case OPT_DT:
        a->def.dt = app_need_positive(state, "dt", text);
        break;
    case OPT_WINDOW:
        a->def.window = need_number(state, "window", text);
        break;
    case OPT_OVERLAP:
        a->def.overlap = need_number(state, "overlap", text);
        break;
    case OPT_MEGABYTES:
        a->def.megabytes = app_need_positive(state, "megabytes", text);
        break;
    case OPT_CHECK:
        a->check = true;
        break;
    case OPT_MASS:
        a->mass = app_need_positive(state, "mass", text), a->check = true;
        break;
    case OPT_STIFFNESS:
        a->stiffness = app_need_positive(state, "stiffness", text), a->check = true;
        break;
    case OPT_FULL:
        a->full = true;
        break;
    case ARGP_KEY_END:
        if (a->films && !a->output_scene)
            argp_error(state, "--films plays the new curves in a scene: say --scene NEW.json, too");
        return ARGP_ERR_UNKNOWN; /* the file is the children's */
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp parser = {
    options,
    parse,
    "SCENE.json",
    "Changes the curves of the motors of a scene so that what hangs on flexible parts goes where the animation would "
    "lead it if nothing vibrated."
    "\vExamples:\n"
    "  bough retarget robot.json -o motors.csv --report report.html\n"
    "  bough retarget robot.json --scene calm.json && bough view calm.json\n"
    "  bough retarget robot.json --from robot.retargeted.csv --iterations 50\n"
    "  bough retarget long-show.json --window 2 --overlap 1 --json\n\n"
    "The block \"retarget\" of the scene says what is tracked and what motors can do (docs/retarget.md); without it "
    "the "
    "bodies at the ends of flexible parts are. Ctrl-C ends with the best curves so far, which --from goes on with.",
    app_scene_children,
    NULL,
    NULL};

/* ---- files ---- */

/* SCENE.retargeted.csv for SCENE.json. */
static char *default_output(const char *scene) {
    const char *slash = strrchr(scene, '/'), *dot = strrchr(scene, '.');
    const size_t stem = dot && (!slash || dot > slash) ? (size_t)(dot - scene) : strlen(scene);
    char *path = NULL;
    return asprintf(&path, "%.*s.retargeted.csv", (int)stem, scene) < 0 ? NULL : path;
}

/* The table that the scene's motors follow, in the folder of the scene; NULL: there is none. To be freed. */
static char *name_of_animation(const char *scene) {
    json_t *all = app_json_load(scene);
    const char *name = json_string_value(json_object_get(json_object_get(all, "motors"), "csv"));
    const char *slash = strrchr(scene, '/');
    char *path = NULL;
    if (name && asprintf(&path, "%.*s%s", slash && name[0] != '/' ? (int)(slash - scene) + 1 : 0, scene, name) < 0)
        path = NULL;
    json_decref(all);
    return path;
}

static bool is_animation(const arguments *a) {
    char *animation = name_of_animation(a->scene.path);
    const bool same = animation && app_is_same_file(a->output, animation);
    free(animation);
    return same;
}

/* Before the work, not after it. */
static int check_outputs(const arguments *a) {
    const char *const all[] = {a->output, a->output_scene, a->report};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3 && all[i]; k++)
            if (app_is_same_file(all[i], a->scene.path) || (k != i && all[k] && app_is_same_file(all[i], all[k])))
                return app_fail_with("%s: is named twice; give each output a file of its own", all[i]);
    if (is_animation(a))
        return app_fail_with("%s: is the animation itself, which would be lost; name another file", a->output);
    if (a->output_scene &&
        (!app_is_same_folder(a->output_scene, a->scene.path) || !app_is_same_folder(a->output, a->scene.path)))
        return app_fail_with("--scene: %s and %s must be in the folder of the scene, whose files they name",
                             a->output_scene, a->output);
    return APP_OK;
}

/* Motors of the scene without what says where they are told to be. */
static json_t *motor_list(const json_t *motors) {
    const json_t *from = json_is_object(motors) ? json_object_get(motors, "list") : motors;
    static const char *const places[] = {"curve", "scale", "degrees", "between"};
    json_t *list = json_deep_copy(from), *motor;
    size_t i;
    json_array_foreach(list, i, motor) for (int k = 0; k < 4; k++) json_object_del(motor, places[k]);
    return list;
}

/* The file appears when it is complete. */
static int write_json(bough_context *ctx, const json_t *object, const char *path) {
    bough_output *output = NULL;
    if (bough_output_create(ctx, path, &output))
        return app_fail(ctx);
    if (json_dump_file(object, bough_output_name(output), JSON_INDENT(2) | JSON_REAL_PRECISION(12))) {
        const int reason = errno;
        bough_output_discard(ctx, output);
        return app_fail_with("%s: cannot be written: %s", path, strerror(reason));
    }
    return bough_output_finish(ctx, output) ? app_fail(ctx) : APP_OK;
}

/* The curves begin in equilibrium, and so does the scene. */
static int write_scene(bough_context *ctx, const arguments *a, const bough_retarget_view *view) {
    json_t *scene = app_json_load(a->scene.path);
    char *table = strdup(a->output);
    if (!scene || !table) {
        json_decref(scene), free(table);
        return app_fail_with("%s: cannot be read again; scenes are written of .json files only", a->scene.path);
    }
    json_t *list = motor_list(json_object_get(scene, "motors"));
    json_t *motors = json_pack("{s:s, s:b}", "csv", basename(table), "degrees", view->degrees);
    if (list)
        json_object_set_new(motors, "list", list);
    json_object_set_new(scene, "motors", motors);
    json_object_set_new(scene, "settle", json_true());
    const int status = write_json(ctx, scene, a->output_scene);
    json_decref(scene), free(table);
    return status;
}

/* ---- ways to drive the robot ---- */

typedef struct {
    bough_context *ctx;
    const arguments *a;
    bough_retarget *retarget;
    bough_retarget_view view;
    app_retarget_case cases[MOST_CASES];
    bough_motion *motions[2 * MOST_CASES]; /* to be destroyed */
    int32_t case_count, motion_count;
    app_retarget_round *rounds;
    int32_t round_count;
    double since, seconds;
} work;

static bool tell(void *data, const bough_retarget_progress *p) {
    work *w = data;
    app_retarget_round *more = realloc(w->rounds, (size_t)(w->round_count + 1) * sizeof *more);
    if (more) {
        more[w->round_count++] = (app_retarget_round){p->window, p->value, p->deviation, app_seconds() - w->since};
        w->rounds = more;
    }
    return !app_interrupted();
}

/* A motion that belongs to the work; NULL where it fails. */
static const bough_motion *play(work *w, const bough_replay_def *def) {
    bough_motion *motion = NULL;
    if (bough_retarget_replay(w->ctx, w->retarget, def, &motion))
        return NULL;
    return w->motions[w->motion_count++] = motion;
}

static bool is_planned(const bough_replay_def *def) {
    return !def->full && def->mass == 1 && def->stiffness == 1;
}

/* Targets of another robot are its own equilibria: it sags otherwise, which is no vibration. */
static bool add_case(work *w, const char *name, const char *about, bool first, const bough_replay_def *def) {
    bough_replay_def slowly = *def;
    const bool shaped = def->source == BOUGH_REPLAY_ZV || def->source == BOUGH_REPLAY_ZVD;
    slowly.source = shaped ? def->source : BOUGH_REPLAY_ANIMATION, slowly.statics = true, slowly.feedback = false;
    const bough_motion *target = is_planned(def) && !shaped ? w->view.target : NULL;
    for (int32_t i = 0; i < w->case_count && !target && !is_planned(def); i++)
        if (!strncmp(w->cases[i].name, name, strcspn(name, ":") + 1))
            target = w->cases[i].target;
    const bough_motion *motion = play(w, def);
    if (!motion || (!target && !(target = play(w, &slowly)))) {
        app_fail(w->ctx);
        return false;
    }
    w->cases[w->case_count++] = (app_retarget_case){
        .name = name, .about = about, .main = first, .motion = motion, .target = target, .delay = motion->delay};
    return true;
}

/* A robot that is not as it was planned. */
static bool play_others(work *w) {
    bough_replay_def def = bough_default_replay_def();
    def.mass = w->a->mass, def.stiffness = w->a->stiffness;
    def.source = BOUGH_REPLAY_ANIMATION;
    if (!add_case(w, "other robot: animation", "another robot, which was not planned with", false, &def))
        return false;
    def.source = BOUGH_REPLAY_CURVES;
    if (!add_case(w, "other robot: retargeted", "the same robot with the curves that were found", false, &def))
        return false;
    def.feedback = true;
    return add_case(w, "other robot: feedback", "the same, with motors that are corrected on the way", false, &def);
}

static bool play_full(work *w) {
    bough_replay_def def = bough_default_replay_def();
    def.full = true, def.source = BOUGH_REPLAY_ANIMATION;
    if (!add_case(w, "full order: animation", "parts in full order, the animation as it is", false, &def))
        return false;
    def.source = BOUGH_REPLAY_CURVES;
    return add_case(w, "full order: retargeted", "parts in full order, the curves that were found", false, &def);
}

static bool play_all(work *w) {
    bough_replay_def def = bough_default_replay_def();
    def.source = BOUGH_REPLAY_ANIMATION;
    bool good = add_case(w, "animation", "the animation as it is", true, &def);
    def.source = BOUGH_REPLAY_CURVES;
    good = good && add_case(w, "retargeted", "the curves that were found", true, &def);
    def.source = BOUGH_REPLAY_ZVD;
    good =
        good && add_case(w, "ZVD", "the animation, shaped by three impulses for each of the first modes", false, &def);
    if (w->a->check)
        good = good && play_others(w);
    return good && (!w->a->full || play_full(w));
}

/* ---- the summary ---- */

static void print_length(double metres) {
    if (isnan(metres))
        printf("%10s", "-");
    else
        printf("%10.3f", 100 * metres);
}

static void print_text(const work *w) {
    const bough_retarget_view *v = &w->view;
    printf(
        "%s: %d motor%s, %d points each, %d steps of %g s; objective %.4g -> %.4g, %d iterations, %d gradients, %.1f "
        "s%s\n\n",
        w->a->scene.path, v->motor_count, v->motor_count == 1 ? "" : "s", v->curves->point_count, v->step_count, v->dt,
        v->first_value, v->value, v->iterations, v->gradients, w->seconds,
        v->converged ? "" : " (more iterations would find more)");
    printf("  %-16s %-24s%10s%10s%10s%10s%10s\n", "cm from target", "", "rms", "peak", "pauses", "after", "tilt deg");
    for (int32_t f = 0; f < v->frame_count; f++)
        for (int32_t c = 0; c < w->case_count; c++) {
            bough_deviation d;
            bough_motion_compare(w->retarget, w->cases[c].motion, w->cases[c].target, f, &d);
            printf("  %-16s %-24s", c == 0 ? v->frames[f] : "", w->cases[c].name);
            print_length(d.rms), print_length(d.peak), print_length(d.pause_rms), print_length(d.end_rms);
            printf("%10.3f", d.tilt_peak * 180 / M_PI);
            if (w->cases[c].delay > 0)
                printf("  %.2f s late", w->cases[c].delay);
            putchar('\n');
        }
    printf("\nCurves: %s\n", w->a->output);
}

static json_t *json_deviation(const bough_deviation *d) {
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "rms", app_json_number(d->rms), "peak",
                     app_json_number(d->peak), "pause_rms", app_json_number(d->pause_rms), "pause_peak",
                     app_json_number(d->pause_peak), "end_rms", app_json_number(d->end_rms), "end_peak",
                     app_json_number(d->end_peak), "tilt_rms", app_json_number(d->tilt_rms), "tilt_peak",
                     app_json_number(d->tilt_peak));
}

static void print_json(const work *w) {
    const bough_retarget_view *v = &w->view;
    json_t *cases = json_object(), *delays = json_object();
    for (int32_t c = 0; c < w->case_count; c++) {
        json_t *frames = json_object();
        for (int32_t f = 0; f < v->frame_count; f++) {
            bough_deviation d;
            bough_motion_compare(w->retarget, w->cases[c].motion, w->cases[c].target, f, &d);
            json_object_set_new(frames, v->frames[f], json_deviation(&d));
        }
        json_object_set_new(cases, w->cases[c].name, frames);
        json_object_set_new(delays, w->cases[c].name, app_json_number(w->cases[c].delay));
    }
    app_print_json(json_pack(
        "{s:o, s:i, s:i, s:i, s:o, s:o, s:o, s:i, s:i, s:b, s:o, s:o, s:o, s:o, s:o}", "scene",
        app_json_text(w->a->scene.path), "motors", v->motor_count, "points", v->curves->point_count, "steps",
        v->step_count, "dt", app_json_number(v->dt), "objective_first", app_json_number(v->first_value), "objective",
        app_json_number(v->value), "iterations", v->iterations, "gradients", v->gradients, "converged", v->converged,
        "megabytes", app_json_number((double)v->bytes / 1e6), "seconds", app_json_number(w->seconds), "deviations",
        cases, "delays", delays, "output", app_json_text(w->a->output)));
}

/* ---- the command ---- */

static int report(work *w) {
    const arguments *a = w->a;
    bough_retarget_look(w->retarget, &w->view);
    int status = bough_retarget_write(w->ctx, w->retarget, a->output, a->rate) ? app_fail(w->ctx) : APP_OK;
    if (status == APP_OK && a->output_scene)
        status = write_scene(w->ctx, a, &w->view);
    if (status != APP_OK || app_interrupted())
        return status;
    status = play_all(w) ? APP_OK : APP_FAILED;
    app_clear_progress();
    if (a->scene.json)
        print_json(w);
    else
        print_text(w);
    if (w->case_count > 1) { /* the animation, and the curves that were found */
        app_warn_of_misses(w->retarget, &w->view, &w->cases[0], &w->cases[1]);
        app_warn_of_limits(&w->view, w->cases[1].motion);
    }
    const app_retarget_report page = {.scene = a->scene.path,
                                      .retarget = w->retarget,
                                      .view = w->view,
                                      .case_count = w->case_count,
                                      .round_count = w->round_count,
                                      .cases = w->cases,
                                      .rounds = w->rounds,
                                      .seconds = w->seconds};
    if (a->films &&
        app_write_retarget_films(w->ctx, a->scene.path, a->output_scene, w->view.duration, a->films) != APP_OK)
        status = APP_FAILED;
    if (a->report && app_write_retarget_report(&page, a->report) != APP_OK)
        status = APP_FAILED;
    return status;
}

/* Keep the curves that were found before a failure; where there are none, write nothing. */
static int conclude(work *w, bough_status status) {
    const char *output = w->a->output;
    if (status == BOUGH_CANCELLED && w->round_count == 0)
        return app_fail_with("cancelled before there was anything to keep");
    if (status != BOUGH_OK && status != BOUGH_CANCELLED)
        app_fail(w->ctx);
    if ((status != BOUGH_OK && w->round_count == 0) || report(w) != APP_OK)
        return APP_FAILED;
    if (status == BOUGH_CANCELLED)
        app_fail_with("cancelled; %s has the best curves so far, and --from %s goes on", output, output);
    return status == BOUGH_OK ? APP_OK : APP_FAILED;
}

static int retarget_scene(work *w) {
    const arguments *a = w->a;
    bough_retarget_def def = a->def;
    def.tell = tell, def.tell_data = w;
    bough_scene *scene = NULL;
    if (bough_scene_load(w->ctx, a->scene.path, &scene))
        return app_fail(w->ctx);
    bough_status status = bough_retarget_create(w->ctx, scene, &def, &w->retarget);
    if (status == BOUGH_OK && a->from)
        status = bough_retarget_begin(w->ctx, w->retarget, a->from);
    int result = status == BOUGH_OK ? APP_OK : app_fail(w->ctx);
    if (status == BOUGH_OK) {
        w->since = app_seconds();
        status = bough_retarget_run(w->ctx, w->retarget);
        w->seconds = app_seconds() - w->since;
        result = conclude(w, status);
    }
    for (int32_t i = 0; i < w->motion_count; i++)
        bough_motion_destroy(w->ctx, w->motions[i]);
    bough_retarget_destroy(w->ctx, w->retarget);
    bough_scene_destroy(w->ctx, scene);
    return result;
}

int command_retarget(int argc, char **argv) {
    arguments a = {.def = bough_default_retarget_def(), .mass = 1.05, .stiffness = 0.9};
    app_parse(&parser, argc, argv, &a);
    char *output = a.output ? NULL : default_output(a.scene.path);
    a.output = a.output ? a.output : output;
    bough_context *ctx = app_context(a.scene.threads);
    work w = {.ctx = ctx, .a = &a};
    int status = a.output ? check_outputs(&a) : app_fail_with("out of memory");
    if (status == APP_OK)
        status = retarget_scene(&w);
    free(w.rounds);
    free(output);
    bough_context_destroy(ctx);
    return status;
}
