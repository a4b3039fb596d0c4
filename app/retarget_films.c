/* Films of a retargeting: the animation as it is, the curves that were found, and the targets. */
#include "retarget_report.h"

#include "film.h"

#include <math.h>
#include <string.h>

#define FPS 30.0

/* Infinitely slowly, or by steps. */
static int shoot(bough_context *ctx, bough_run *run, app_film *film, bool slowly, double duration) {
    bough_status status = app_film_open(ctx, run, film);
    const int32_t frames = (int32_t)ceil(duration * FPS - 1e-9);
    for (int32_t k = 1; k <= frames && slowly && status == BOUGH_OK; k++) {
        status = bough_run_follow(ctx, run, fmin(k / FPS, duration), NULL, NULL);
        if (status == BOUGH_OK)
            status = app_film_add(film, ctx, run);
    }
    if (!slowly && status == BOUGH_OK)
        status = bough_run_advance(ctx, run);
    if (status == BOUGH_OK)
        status = app_film_finish(ctx, film);
    return status == BOUGH_OK ? APP_OK : app_film_fail(ctx, film);
}

static int film_scene(bough_context *ctx, const char *scene_path, const char *path, bool slowly, double duration) {
    bough_scene *scene = NULL;
    bough_run *run = NULL;
    bough_run_def def = bough_default_run_def();
    app_film film = app_default_film();
    film.glb_path = path, film.fps = FPS;
    def.duration = duration, def.fps = FPS, def.settle = true;
    if (!slowly)
        def.watch = app_film_add, def.watch_data = &film, def.flush = app_film_flush;
    bough_status status = bough_scene_load(ctx, scene_path, &scene);
    if (status == BOUGH_OK)
        status = bough_run_create(ctx, scene, &def, &run);
    const int result = status == BOUGH_OK ? shoot(ctx, run, &film, slowly, duration) : app_fail(ctx);
    app_film_destroy(ctx, &film);
    bough_run_destroy(ctx, run);
    bough_scene_destroy(ctx, scene);
    return result;
}

int app_write_retarget_films(bough_context *ctx, const char *scene, const char *found, double duration,
                             const char *folder) {
    const struct {
        const char *name, *scene;
        bool slowly;
    } films[] = {{"before", scene, false}, {"after", found, false}, {"target", scene, true}};
    int status = app_make_folder(folder) ? APP_OK : APP_FAILED;
    for (size_t i = 0; i < sizeof films / sizeof *films && status == APP_OK; i++) {
        char path[4096];
        if (snprintf(path, sizeof path, "%s/%s.glb", folder, films[i].name) >= (int)sizeof path)
            return app_fail_with("%s: the name is too long", folder);
        status = film_scene(ctx, films[i].scene, path, films[i].slowly, duration);
    }
    return status;
}
