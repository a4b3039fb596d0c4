/* A forest in the wind: the demo of many trees. */
#include "example.h"

enum { FRAMES_PER_SECOND = 12, STEPS_PER_FRAME = 20, FILM_WIDTH = 480, PICTURE_WIDTH = 1200 };

typedef struct {
    bough_context *ctx;
    const app_forest_demo *demo;
    bough_scene *scene;
    bough_tree_model *model;
    bough_tree_state *state;
    int32_t frames; /* drawn */
    double stepped; /* s of wall clock */
    double prepared;
    int32_t coordinates;
    int64_t triangles;
} forest_run;

static void path_in(const forest_run *f, const char *name, char *path) {
    snprintf(path, EXAMPLE_PATH, "%s/%s", f->demo->folder, name);
}

/* Grown, cooked (what is up to date is kept), settled under its weight. */
static int prepare(forest_run *f) {
    char folder[EXAMPLE_PATH], scene[EXAMPLE_PATH];
    const double start = app_seconds();
    path_in(f, "forest", folder), path_in(f, "forest/scene.json", scene);
    example e = {.folder = folder, .leaves = f->demo->leaves, .seed = OAK_SEED};
    if (!app_make_folder(f->demo->folder) || !app_make_folder(folder) || example_forest(f->ctx, &e) != APP_OK)
        return APP_FAILED;
    f->coordinates = e.coordinates, f->triangles = e.surface_triangles;
    if (!f->demo->json)
        printf("100 oaks of 41 branches and %d leaves each: %d coordinates, %lld triangles.\n", f->demo->leaves,
               e.coordinates, (long long)e.surface_triangles);
    fflush(stdout);
    bough_status s = bough_scene_load(f->ctx, scene, &f->scene);
    if (!s)
        s = bough_scene_model(f->ctx, f->scene, &f->model);
    if (!s)
        s = bough_tree_state_create(f->ctx, f->model, &f->state);
    if (!s)
        s = bough_tree_state_settle(f->ctx, f->model, f->state, NULL, NULL);
    app_clear_progress();
    f->prepared = app_seconds() - start;
    if (!s && !f->demo->json)
        printf("Cooked and settled in %.1f s.\n", app_seconds() - start);
    return s ? app_fail(f->ctx) : APP_OK;
}

static bough_status blow(forest_run *f) {
    const double start = app_seconds();
    bough_status s = BOUGH_OK;
    for (int i = 0; i < STEPS_PER_FRAME && !s; i++)
        s = bough_tree_advance(f->ctx, f->model, f->state, 1.0 / (FRAMES_PER_SECOND * STEPS_PER_FRAME), NULL);
    f->stepped += app_seconds() - start;
    return s;
}

static bough_status draw_film(forest_run *f, bough_picture *picture, bough_animation *film) {
    bough_status s = BOUGH_OK;
    for (int32_t frame = 0; frame < f->demo->frames && !s && !app_interrupted(); frame++) {
        if (frame > 0)
            s = blow(f);
        if (!s)
            s = app_forest_draw(f->ctx, f->model, f->state, picture);
        if (!s)
            s = bough_animation_add(f->ctx, film, picture);
        f->frames += !s;
        app_show_line("the wind blows  frame %d of %d, %.2f x real time without drawing", frame + 1, f->demo->frames,
                      f->stepped > 0 ? f->state->time / f->stepped : 0);
    }
    app_clear_progress();
    return s == BOUGH_CANCELLED ? BOUGH_OK : s; /* in the middle of a frame, which is not in the film */
}

static bough_status make_film(forest_run *f) {
    char path[EXAMPLE_PATH];
    bough_picture_def def = app_forest_view(FILM_WIDTH);
    bough_picture *picture = NULL;
    bough_animation *film = NULL;
    path_in(f, "film.png", path);
    def.samples = 2;
    bough_status s = bough_picture_create(f->ctx, &def, &picture);
    if (!s)
        s = bough_animation_create(f->ctx, path, def.width, def.height, FRAMES_PER_SECOND, &film);
    if (!s)
        s = draw_film(f, picture, film);
    if (!s)
        s = bough_animation_finish(f->ctx, film);
    else if (film)
        bough_animation_discard(f->ctx, film);
    bough_picture_destroy(f->ctx, picture);
    if (!s && !f->demo->json)
        printf("%s: %d frames; %.1f s in the wind took %.1f s: %.2f x real time.\n", path, f->frames, f->state->time,
               f->stepped, f->stepped > 0 ? f->state->time / f->stepped : 0);
    return s;
}

static bough_status make_picture(forest_run *f) {
    char path[EXAMPLE_PATH];
    bough_picture_def def = app_forest_view(PICTURE_WIDTH);
    bough_picture *picture = NULL;
    path_in(f, "forest.png", path);
    bough_status s = bough_picture_create(f->ctx, &def, &picture);
    if (!s)
        s = app_forest_draw(f->ctx, f->model, f->state, picture);
    if (!s)
        s = bough_picture_write_png(f->ctx, picture, path);
    bough_picture_destroy(f->ctx, picture);
    app_clear_progress();
    if (!s && !f->demo->json)
        printf("%s: the last of them\n", path);
    return s;
}

static void print_json(const forest_run *f) {
    char film[EXAMPLE_PATH], picture[EXAMPLE_PATH], scene[EXAMPLE_PATH];
    path_in(f, "film.png", film), path_in(f, "forest.png", picture), path_in(f, "forest/scene.json", scene);
    app_print_json(json_pack("{s:o, s:o, s:o, s:i, s:i, s:I, s:i, s:f, s:f, s:f}", "film", app_json_text(film),
                             "picture", app_json_text(picture), "scene", app_json_text(scene), "leaves",
                             (int)f->demo->leaves, "coordinates", (int)f->coordinates, "triangles",
                             (json_int_t)f->triangles, "frames", (int)f->frames, "prepare_seconds", f->prepared,
                             "simulated_seconds", f->state->time, "step_seconds", f->stepped));
}

static int run(forest_run *f) {
    const int status = prepare(f);
    if (status != APP_OK)
        return status;
    if (make_film(f))
        return app_fail(f->ctx);
    if (app_interrupted())
        return app_fail_with("stopped after %.1f s of simulated time; what was done is kept", f->state->time);
    if (make_picture(f))
        return app_fail(f->ctx);
    if (f->demo->json)
        print_json(f);
    return APP_OK;
}

int app_demo_forest(const app_forest_demo *demo) {
    forest_run f = {.ctx = app_context(demo->threads), .demo = demo};
    const int status = run(&f);
    bough_tree_state_destroy(f.ctx, f.state);
    bough_tree_model_destroy(f.ctx, f.model);
    bough_scene_destroy(f.ctx, f.scene);
    bough_context_destroy(f.ctx);
    return status;
}
