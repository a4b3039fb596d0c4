/* The main job, from nothing to a film: an oak in the wind. */
#include "example.h"

#include <string.h>
#include <sys/stat.h>

enum { OPT_JSON = 'j' };
enum { FRAMES_PER_SECOND = 30, STEPS_PER_FRAME = 8, PICTURE_WIDTH = 800 };

typedef struct {
    const char *folder;
    int32_t threads, frames, leaves;
    bool forest, json;
} arguments;

static const struct argp_option options[] = {
    {"output", 'o', "FOLDER", 0, "where the files go (default: demo)", 0},
    {"frames", 'n', "N", 0, "frames of the animation, 30 a second (default 300), 12 a second of the forest (24)", 0},
    {"leaves", 'l', "N", 0, "leaves of the oak, or of each in the forest (default 1394)", 0},
    APP_OPTION_THREADS('t'),
    APP_OPTION_JSON(OPT_JSON),
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state) {
    arguments *a = state->input;
    switch (key) {
    case 'o':
        a->folder = text;
        break;
    case 'n':
        if (!app_parse_int(text, 1, 10000, &a->frames))
            argp_error(state, "--frames: \"%s\" should be a number from 1 to 10000", text);
        break;
    case 'l':
        if (!app_parse_int(text, 0, OAK_MOST_LEAVES, &a->leaves))
            argp_error(state, "--leaves: \"%s\" should be a number from 0 to %d", text, OAK_MOST_LEAVES);
        break;
    case 't':
        app_need_threads(state, text, &a->threads);
        break;
    case OPT_JSON:
        a->json = true;
        break;
    case ARGP_KEY_ARG:
        if (strcmp(text, "oak") != 0 && strcmp(text, "forest") != 0)
            argp_error(state, "the demo shows oak or forest, and takes no file; try bough run for your own");
        a->forest = text[0] == 'f';
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp parser = {options,
                                   parse,
                                   "[oak|forest]",
                                   "Grows an oak, cooks its parts, lets the wind blow through it, and writes an "
                                   "animation for browsers and Blender and a picture; or a forest of 100 of them, for "
                                   "which it draws an animation (3.5 GB of memory, minutes)."
                                   "\vExample:\n  bough demo -o /tmp/oak\n  bough demo forest --leaves 200",
                                   NULL,
                                   NULL,
                                   NULL};

/* An oak that is being stepped. */
typedef struct {
    bough_context *ctx;
    const arguments *a;
    bough_scene *scene;
    bough_tree_model *model;
    bough_tree_state *state;
    app_tree_glb film;
    double prepared, stepped; /* s of wall clock */
    int32_t coordinates;
    int64_t triangles;
} oak_run;

static void close_oak(oak_run *o) {
    app_tree_glb_destroy(o->ctx, &o->film);
    bough_tree_state_destroy(o->ctx, o->state);
    bough_tree_model_destroy(o->ctx, o->model);
    bough_scene_destroy(o->ctx, o->scene);
}

static void path_in(const arguments *a, const char *name, char *path) {
    snprintf(path, EXAMPLE_PATH, "%s/%s", a->folder, name);
}

/* Grown, cooked (what is up to date is kept), settled under its weight. */
static int prepare(oak_run *o) {
    char folder[EXAMPLE_PATH], scene[EXAMPLE_PATH], film[EXAMPLE_PATH];
    double start = app_seconds();
    path_in(o->a, "oak", folder), path_in(o->a, "oak/scene.json", scene), path_in(o->a, "oak.glb", film);
    example e = {.folder = folder, .leaves = o->a->leaves, .seed = OAK_SEED};
    if (!app_make_folder(o->a->folder) || !app_make_folder(folder) || example_oak(o->ctx, &e) != APP_OK)
        return APP_FAILED;
    o->coordinates = e.coordinates, o->triangles = e.surface_triangles;
    if (!o->a->json)
        printf("An oak of 41 branches and %d leaves: %d coordinates, %lld triangles.\n", o->a->leaves, e.coordinates,
               (long long)e.surface_triangles);
    fflush(stdout);
    bough_status s = bough_scene_load(o->ctx, scene, &o->scene);
    if (!s)
        s = bough_scene_model(o->ctx, o->scene, &o->model);
    if (!s)
        s = bough_tree_state_create(o->ctx, o->model, &o->state);
    if (!s)
        s = bough_tree_state_settle(o->ctx, o->model, o->state, NULL, NULL);
    if (!s)
        s = app_tree_glb_create(o->ctx, o->model, o->state, NULL, app_oak_styles, film, &o->film);
    o->prepared = app_seconds() - start;
    if (s == BOUGH_CANCELLED)
        return app_fail_with("stopped before the wind blew; components that are cooked are kept for the next demo");
    return s ? app_fail(o->ctx) : APP_OK;
}

static bough_status blow(oak_run *o) {
    double start = app_seconds();
    bough_status s = app_tree_glb_add(o->ctx, o->model, o->state, &o->film);
    for (int32_t frame = 1; frame < o->a->frames && !s && !app_interrupted(); frame++) {
        for (int i = 0; i < STEPS_PER_FRAME && !s; i++)
            s = bough_tree_advance(o->ctx, o->model, o->state, 1.0 / (FRAMES_PER_SECOND * STEPS_PER_FRAME), NULL);
        if (!s)
            s = app_tree_glb_add(o->ctx, o->model, o->state, &o->film);
        o->stepped = app_seconds() - start;
        app_show_line("the wind blows  %4.1f s of %.1f s  %.1f x real time", o->state->time,
                      (double)(o->a->frames - 1) / FRAMES_PER_SECOND, o->state->time / o->stepped);
    }
    app_clear_progress();
    return s;
}

static double megabytes(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 ? (double)info.st_size / 1e6 : 0;
}

static void print_json(const oak_run *o, const char *film, const char *picture, const char *scene) {
    app_print_json(json_pack("{s:o, s:o, s:o, s:i, s:i, s:I, s:i, s:f, s:f, s:f, s:o}", "film", app_json_text(film),
                             "picture", app_json_text(picture), "scene", app_json_text(scene), "leaves",
                             (int)o->a->leaves, "coordinates", (int)o->coordinates, "triangles",
                             (json_int_t)o->triangles, "frames", (int)o->film.frame_count, "prepare_seconds",
                             o->prepared, "simulated_seconds", o->state->time, "step_seconds", o->stepped,
                             "real_time_factor", app_json_number(o->state->time / o->stepped)));
}

static int write_results(oak_run *o) {
    char film[EXAMPLE_PATH], picture[EXAMPLE_PATH], scene[EXAMPLE_PATH];
    path_in(o->a, "oak.glb", film), path_in(o->a, "oak.png", picture), path_in(o->a, "oak/scene.json", scene);
    if (app_tree_glb_finish(o->ctx, &o->film))
        return app_fail(o->ctx);
    if (!o->a->json)
        printf("\n  %-24s %d frames, %.1f MB: drop it into a glTF viewer, or import it into Blender\n", film,
               o->film.frame_count, megabytes(film));
    fflush(stdout);
    if (app_interrupted())
        return app_fail_with("stopped after %.1f s of simulated time; what was done is kept", o->state->time);
    if (app_oak_picture(o->ctx, o->model, o->state, PICTURE_WIDTH, picture))
        return app_fail(o->ctx);
    app_clear_progress();
    if (o->a->json) {
        print_json(o, film, picture, scene);
        return APP_OK;
    }
    printf("  %-24s the last of them\n  %-24s the scene, for bough run\n\n"
           "Next: %s view %s, %s example, docs/getting-started.md\n",
           picture, scene, app_name(), scene, app_name());
    return APP_OK;
}

static int run(oak_run *o) {
    int status = prepare(o);
    if (status != APP_OK)
        return status;
    bough_status s = blow(o);
    if (s && s != BOUGH_CANCELLED)
        return app_fail(o->ctx);
    if (o->stepped > 0 && !o->a->json)
        printf(
            "Cooked and settled in %.1f s; %.1f s in the wind (%.0f steps of 1/%d s) took %.1f s: %.1f x real time.\n",
            o->prepared, o->state->time, o->state->time * FRAMES_PER_SECOND * STEPS_PER_FRAME,
            FRAMES_PER_SECOND * STEPS_PER_FRAME, o->stepped, o->state->time / o->stepped);
    return write_results(o);
}

int command_demo(int argc, char **argv) {
    arguments a = {.folder = "demo", .leaves = OAK_LEAVES};
    app_parse(&parser, argc, argv, &a);
    if (!a.frames)
        a.frames = a.forest ? 24 : 300;
    if (a.forest)
        return app_demo_forest(&(app_forest_demo){a.folder, a.threads, a.frames, a.leaves, a.json});
    oak_run o = {.ctx = app_context(a.threads), .a = &a};
    int status = run(&o);
    close_oak(&o);
    bough_context_destroy(o.ctx);
    return status;
}
