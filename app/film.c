/* Recordings that bough run writes frame by frame, in addition to those of the library. */
#include "film.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FILM_WIDTH = 360, FILM_HEIGHT = 216, STILL_WIDTH = 900, STILL_HEIGHT = 560 };

/* ---- kinds of recordings ---- */

/* Returns the place for the name of a recording of this kind. */
typedef const char **slot_of_kind(const char *path, bough_run_def *def, app_film *film);

static const char **csv_slot(const char *path, bough_run_def *def, app_film *film) {
    (void)path, (void)film;
    return &def->record;
}

static const char **npy_slot(const char *path, bough_run_def *def, app_film *film) {
    (void)path, (void)film;
    return &def->displacements;
}

static const char **npz_slot(const char *path, bough_run_def *def, app_film *film) {
    (void)path, (void)def;
    return &film->npz_path;
}

static const char **glb_slot(const char *path, bough_run_def *def, app_film *film) {
    (void)path, (void)def;
    return &film->glb_path;
}

static const char **obj_slot(const char *path, bough_run_def *def, app_film *film) {
    (void)path, (void)def;
    return &film->obj_path;
}

static const char **reel_slot(const char *path, bough_run_def *def, app_film *film) {
    (void)def;
    int i = 0;
    while (i < film->reel_count && !app_has_extension(path, strrchr(film->reel_paths[i], '.')))
        i++; /* one of each kind */
    if (i == film->reel_count)
        film->reel_paths[film->reel_count++] = NULL;
    return &film->reel_paths[i];
}

static const char **series_slot(const char *path, bough_run_def *def, app_film *film) {
    (void)path, (void)film;
    return &def->frames;
}

#define SERIES "/frames.pvd" /* a series of .vtu files is named by its index, which is always this in its folder */

static const struct {
    const char *ending;
    slot_of_kind *slot;
} kinds[] = {
    {".csv", csv_slot},  {".npy", npy_slot},   {".npz", npz_slot},  {".glb", glb_slot},    {".obj", obj_slot},
    {".png", reel_slot}, {".webm", reel_slot}, {".mp4", reel_slot}, {SERIES, series_slot},
};

bool app_take_recording(char *path, bough_run_def *def, app_film *film, const char **other) {
    *other = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!app_has_extension(path, kinds[i].ending))
            continue;
        const char **slot = kinds[i].slot(path, def, film);
        if (!strcmp(kinds[i].ending, SERIES))
            *strrchr(path, '/') = 0;
        *other = *slot;
        if (!*slot)
            *slot = path;
        return true;
    }
    return false;
}

const char *app_recording_kinds(void) {
    return ".csv (energies and probes of each step), .npy (displacements), .npz (everything, for NumPy), .glb (for "
           "browsers and Blender), .obj (a file each frame), .png, .webm or .mp4 (pictures), or /frames.pvd (for "
           "ParaView)";
}

/* ---- films ---- */

app_film app_default_film(void) {
    app_film film = {.shot_def = app_default_shot()};
    film.shot_def.width = FILM_WIDTH, film.shot_def.height = FILM_HEIGHT, film.shot_def.film = true;
    return film;
}

bool app_wants_film(const app_film *film) {
    return film->glb_path || film->reel_count > 0 || film->npz_path || film->obj_path;
}

bough_status app_film_add(void *data, bough_context *ctx, const bough_run *run) {
    app_film *film = data;
    const bough_tree_model *model;
    const bough_tree_state *state;
    bough_status s = BOUGH_OK;
    if (film->glb.glb && bough_run_model(run, &model, &state))
        s = app_tree_glb_add(ctx, model, state, &film->glb);
    if (film->baked_glb.glb)
        s = app_baked_glb_add(ctx, run, &film->baked_glb);
    if (film->cast_glb.glb)
        s = app_cast_glb_add(ctx, run, &film->cast_glb);
    if (s == BOUGH_ERROR_UNSUPPORTED)
        snprintf(film->problem, sizeof film->problem,
                 "%s: the vertices of %d frames are too many for one file; record fewer frames (--fps, --time)%s",
                 film->glb_path, film->frames + 1, film->baked ? ", or leave --baked out" : "");
    if (!s && film->npz)
        s = app_npz_add(ctx, run, film->npz);
    if (!s && film->obj_path)
        s = app_obj_write(ctx, run, film->obj_path, film->frames);
    if (!s && film->reel_count > 0)
        s = app_shot_take(ctx, run, &film->shot);
    for (int i = 0; i < film->reel_count && !s; i++)
        s = app_reel_add(ctx, film->shot.picture, film->shot_def.width, film->shot_def.height, &film->reels[i]);
    film->frames += !s;
    return s;
}

/* Bodies have no coordinates: their vertices are told. */
static bough_status open_glb(bough_context *ctx, const bough_run *run, app_film *film) {
    const bough_tree_model *model;
    const bough_tree_state *state;
    const bool parts = bough_run_model(run, &model, &state);
    if (!film->baked && app_is_rigid(run))
        return app_cast_glb_create(ctx, run, film->glb_path, &film->cast_glb);
    if (parts && !(film->styles = app_choose_styles(bough_tree_model_describe(model))))
        return BOUGH_ERROR_MEMORY;
    return parts && !film->baked ? app_tree_glb_create(ctx, model, state, run, film->styles, film->glb_path, &film->glb)
                                 : app_baked_glb_create(ctx, run, film->glb_path, &film->baked_glb);
}

/* The folder of FOLDER/NAME.obj. */
static bough_status make_folder(app_film *film) {
    char *folder = strdup(film->obj_path), *slash = folder ? strrchr(folder, '/') : NULL;
    bough_status s = folder ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (slash && slash > folder) {
        *slash = 0;
        if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
            snprintf(film->problem, sizeof film->problem, "%s: the folder cannot be made: %s", folder, strerror(errno));
            s = BOUGH_ERROR_FILE;
        }
    }
    free(folder);
    return s;
}

bough_status app_film_prepare(bough_context *ctx, const bough_run *run, app_film *film) {
    bough_status s = BOUGH_OK;
    film->run = run;
    if (film->glb_path)
        s = open_glb(ctx, run, film);
    if (!s && film->npz_path)
        s = app_npz_create(ctx, run, film->npz_path, &film->npz);
    if (!s && film->obj_path)
        s = make_folder(film);
    for (int i = 0; i < film->reel_count && !s; i++)
        s = app_reel_open(ctx, film->reel_paths[i], film->shot_def.width, film->shot_def.height, film->fps,
                          &film->reels[i]);
    return s;
}

bough_status app_film_begin(bough_context *ctx, const bough_run *run, app_film *film) {
    bough_status s = film->reel_count > 0 ? app_shot_open(ctx, run, &film->shot_def, &film->shot) : BOUGH_OK;
    return s ? s : app_film_add(film, ctx, run);
}

bough_status app_film_open(bough_context *ctx, const bough_run *run, app_film *film) {
    bough_status s = app_film_prepare(ctx, run, film);
    return s ? s : app_film_begin(ctx, run, film);
}

bough_status app_film_flush(void *data, bough_context *ctx, const bough_run *run) {
    app_film *film = data;
    bough_status s = BOUGH_OK;
    if (film->glb.glb)
        s = bough_glb_flush(ctx, film->glb.glb);
    if (film->cast_glb.glb)
        s = bough_glb_flush(ctx, film->cast_glb.glb);
    if (film->baked_glb.glb)
        s = app_baked_glb_flush(ctx, run, film->styles, film->glb_path, &film->baked_glb);
    return s || !film->npz ? s : bough_npz_flush(ctx, film->npz);
}

bough_status app_film_finish(bough_context *ctx, app_film *film) {
    bough_status s = BOUGH_OK, last = BOUGH_OK;
    if (film->glb.glb)
        s = app_tree_glb_finish(ctx, &film->glb);
    if (film->baked_glb.glb)
        s = app_baked_glb_finish(ctx, film->run, film->styles, &film->baked_glb);
    if (film->cast_glb.glb)
        s = app_cast_glb_finish(ctx, &film->cast_glb);
    if (film->npz)
        last = bough_npz_finish(ctx, film->npz);
    film->npz = NULL;
    s = s ? s : last;
    for (int i = 0; i < film->reel_count; i++) {
        last = film->reels[i].frames > 0 ? app_reel_finish(ctx, &film->reels[i]) : BOUGH_OK;
        s = s ? s : last;
    }
    return s;
}

int app_film_fail(const bough_context *ctx, const app_film *film) {
    if (film->problem[0])
        return app_fail_with("%s", film->problem);
    for (int i = 0; i < film->reel_count; i++)
        if (film->reels[i].problem[0])
            return app_fail_with("%s", film->reels[i].problem);
    return app_fail(ctx);
}

void app_film_destroy(bough_context *ctx, app_film *film) {
    app_tree_glb_destroy(ctx, &film->glb);
    app_baked_glb_destroy(ctx, &film->baked_glb);
    app_cast_glb_destroy(ctx, &film->cast_glb);
    bough_npz_discard(ctx, film->npz);
    for (int i = 0; i < film->reel_count; i++)
        app_reel_discard(ctx, &film->reels[i]);
    app_shot_close(ctx, &film->shot);
    free(film->styles);
    *film = (app_film){0};
}

bough_status app_film_still(bough_context *ctx, const bough_run *run, const char *path) {
    app_shot_def def = app_default_shot();
    app_shot shot;
    def.width = STILL_WIDTH, def.height = STILL_HEIGHT;
    bough_status s = app_shot_open(ctx, run, &def, &shot);
    if (!s)
        s = app_shot_take(ctx, run, &shot);
    if (!s)
        s = bough_picture_write_png(ctx, shot.picture, path);
    app_shot_close(ctx, &shot);
    return s;
}
