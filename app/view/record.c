/* Recordings: a table of the columns, and an animated glTF. */
#include "view.h"

#include "../film.h"

#include <stdlib.h>
#include <string.h>

#define FILM_BYTES 1e9 /* that a film may take in memory */

struct view_recording {
    char *table_path, *film_path;
    FILE *table;
    app_film film;
    double last;  /* time of the last frame */
    double bytes; /* of the film so far */
};

enum { FPS = 30 };

static const char *base_of(const char *path) {
    return strrchr(path, '/') + 1;
}

static void write_row(const view_world *w, FILE *table) {
    const double *values = bough_run_values(w->run);
    for (int32_t c = 0; c < bough_run_column_count(w->run); c++)
        fprintf(table, "%s%.9g", c ? "," : "", values[c]);
    fputc('\n', table);
}

static void write_names(const view_world *w, FILE *table) {
    for (int32_t c = 0; c < bough_run_column_count(w->run); c++)
        fprintf(table, "%s%s", c ? "," : "", bough_run_column_name(w->run, c));
    fputc('\n', table);
}

static double frame_bytes(const view_world *w) {
    double bytes = 0;
    for (int32_t p = 0; p < w->shape->part_count && !w->boundary; p++) /* bodies count their own */
        bytes += 28 + 4.0 * w->shape->parts[p].r;
    return bytes;
}

static bough_status open_files(bough_context *ctx, const view_world *w, view_recording *r) {
    r->table = fopen(r->table_path, "w");
    if (!r->table)
        return BOUGH_ERROR_FILE;
    write_names(w, r->table);
    write_row(w, r->table);
    r->last = view_world_time(w);
    r->film.glb_path = r->film_path, r->film.fps = FPS;
    return app_film_open(ctx, w->run, &r->film);
}

bough_status view_recording_start(bough_context *ctx, const view_world *world, const char *folder, int32_t number,
                                  view_recording **recording) {
    *recording = NULL;
    view_recording *r = calloc(1, sizeof *r);
    if (!r)
        return BOUGH_ERROR_MEMORY;
    if (asprintf(&r->table_path, "%s/recording-%d.csv", folder, number) < 0)
        r->table_path = NULL;
    if (asprintf(&r->film_path, "%s/recording-%d.glb", folder, number) < 0)
        r->film_path = NULL;
    bough_status s = r->table_path && r->film_path ? open_files(ctx, world, r) : BOUGH_ERROR_MEMORY;
    if (s)
        view_recording_discard(ctx, r);
    else
        *recording = r;
    return s;
}

bough_status view_recording_add(bough_context *ctx, const view_world *world, view_recording *r) {
    const double time = view_world_time(world);
    if (time <= r->last)
        return BOUGH_OK; /* nothing was stepped */
    write_row(world, r->table);
    if (time < r->last + 0.9 / FPS)
        return BOUGH_OK;
    r->last = time;
    r->bytes += frame_bytes(world);
    if (r->bytes > FILM_BYTES)
        return BOUGH_ERROR_UNSUPPORTED;
    return app_film_add(&r->film, ctx, world->run);
}

bough_status view_recording_finish(bough_context *ctx, view_recording *r, json_t *names) {
    const bool written = fflush(r->table) == 0 && !ferror(r->table);
    bough_status s = app_film_finish(ctx, &r->film);
    if (written)
        json_array_append_new(names, app_json_text(base_of(r->table_path)));
    if (!s)
        json_array_append_new(names, app_json_text(base_of(r->film_path)));
    view_recording_discard(ctx, r);
    return written ? s : BOUGH_ERROR_FILE;
}

void view_recording_discard(bough_context *ctx, view_recording *r) {
    if (!r)
        return;
    if (r->table)
        fclose(r->table);
    app_film_destroy(ctx, &r->film);
    free(r->table_path);
    free(r->film_path);
    free(r);
}
