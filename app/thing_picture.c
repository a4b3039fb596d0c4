/* Pictures of things in the colours of their looks. */
#include "film.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void place(const bough_frame *frame, const double *x, double *out) {
    for (int r = 0; r < 3; r++) {
        out[r] = frame->pose.position[r];
        for (int c = 0; c < 3; c++)
            out[r] += frame->pose.rotation[3 * r + c] * x[c];
    }
}

bool app_has_obstacles(const bough_run *run) {
    for (int32_t i = 0; i < bough_run_thing_count(run); i++)
        if (bough_run_thing(run, i)->held)
            return true;
    return false;
}

/* Floors are no part of what is looked at. */
static const bough_look *seen(const bough_run *run, int32_t i) {
    const bough_thing *thing = bough_run_thing(run, i);
    return thing->held ? NULL : bough_run_thing_look(run, thing->look);
}

static bough_status bent_positions(bough_context *ctx, const bough_run *run, int32_t i, size_t numbers, double *x) {
    float *bent = malloc((numbers + 1) * sizeof *bent);
    const bough_status s = bent ? bough_run_positions(ctx, run, i, bent) : BOUGH_ERROR_MEMORY;
    for (size_t k = 0; k < numbers && !s; k++)
        x[k] = (double)bent[k];
    free(bent);
    return s;
}

/* The vertices of a thing as they are now, to be freed also when it fails. */
static bough_status positions_of(bough_context *ctx, const bough_run *run, int32_t i, double **x) {
    const bough_look *look = bough_run_thing_look(run, bough_run_thing(run, i)->look);
    const size_t numbers = 3 * (size_t)look->vertex_count;
    bough_thing_state now;
    if (!(*x = malloc((numbers + 1) * sizeof **x)))
        return BOUGH_ERROR_MEMORY;
    if (look->component)
        return bent_positions(ctx, run, i, numbers, *x);
    bough_run_thing_state(run, i, &now);
    for (size_t k = 0; k < numbers; k += 3)
        place(&now.frame, look->vertices + k, *x + k);
    return BOUGH_OK;
}

bough_status app_thing_points(bough_context *ctx, const bough_run *run, size_t *count, float **points) {
    size_t numbers = 0;
    bough_status s = BOUGH_OK;
    for (int32_t i = 0; i < bough_run_thing_count(run); i++)
        numbers += seen(run, i) ? 3 * (size_t)seen(run, i)->vertex_count : 0;
    *count = 0;
    if (!(*points = malloc((numbers + 1) * sizeof **points)))
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < bough_run_thing_count(run) && !s; i++) {
        const bough_look *look = seen(run, i);
        double *x = NULL;
        if (look)
            s = positions_of(ctx, run, i, &x);
        for (size_t k = 0; look && !s && k < 3 * (size_t)look->vertex_count; k++)
            (*points)[(*count)++] = (float)x[k];
        free(x);
    }
    return s;
}

/* Its own, unless the user has another one for its name. */
static void choose_colour(const bough_thing *thing, const bough_look *look, const app_shot_def *def,
                          bough_surface_style *style) {
    for (int c = 0; c < 3; c++)
        style->colour[c] = (float)look->colour[c];
    style->vertex_colours = look->vertex_colours;
    for (int i = 0; i < def->paint_count; i++)
        if (fnmatch(def->paints[i].pattern, thing->name, 0) == 0) {
            memcpy(style->colour, def->paints[i].colour, sizeof def->paints[i].colour);
            style->vertex_colours = NULL;
        }
}

/* Tells whether a thing is a level floor, and how high it lies. */
static bool is_floor(const bough_run *run, int32_t i, double *height) {
    const bough_thing *thing = bough_run_thing(run, i);
    const bough_look *look = thing->held ? bough_run_thing_look(run, thing->look) : NULL;
    bough_thing_state now;
    if (!look || look->component || look->vertex_count == 0)
        return false;
    bough_run_thing_state(run, i, &now);
    const double *up = now.frame.pose.rotation + 6;
    bool level = true;
    for (const double *x = look->vertices; x < look->vertices + 3 * (size_t)look->vertex_count; x += 3)
        level &= fabs(up[0] * x[0] + up[1] * x[1] + up[2] * x[2]) < 1e-6;
    *height = now.frame.pose.position[2];
    return level;
}

bool app_find_floor(const bough_run *run, double *height) {
    for (int32_t i = 0; i < bough_run_thing_count(run); i++)
        if (is_floor(run, i, height))
            return true;
    return false;
}

/* A meadow is drawn instead of the floor on which it lies. */
static bool is_meadow(const bough_run *run, int32_t i, const app_shot_def *def) {
    double height, floor;
    return def->backdrop == APP_BACKDROP_MEADOW && is_floor(run, i, &height) && app_find_floor(run, &floor) &&
           height <= floor && height >= floor;
}

static bough_status draw(bough_context *ctx, const bough_run *run, int32_t i, const app_shot_def *def,
                         bough_picture *picture) {
    const bough_thing *thing = bough_run_thing(run, i);
    const bough_look *look = bough_run_thing_look(run, thing->look);
    const int32_t *triangles = look->component ? look->component->surface.triangles : look->triangles;
    bough_surface_style style = bough_default_surface_style();
    double *x;
    bough_status s = positions_of(ctx, run, i, &x);
    choose_colour(thing, look, def, &style);
    style.gloss = 0.15;
    style.casts_shadow = !thing->held;
    if (!s)
        s = bough_picture_add_surface(ctx, picture, x, look->vertex_count, triangles, look->triangle_count, &style);
    free(x);
    return s;
}

static bough_status draw_from(bough_context *ctx, const bough_run *run, int32_t first, const app_shot_def *def,
                              bough_picture *picture) {
    bough_status s = BOUGH_OK;
    for (int32_t i = first; i < bough_run_thing_count(run) && !s; i++)
        if (bough_run_thing_look(run, bough_run_thing(run, i)->look)->triangle_count > 0 && !is_meadow(run, i, def))
            s = draw(ctx, run, i, def, picture);
    return s;
}

bough_status app_draw_things(bough_context *ctx, const bough_run *run, const app_shot_def *def,
                             bough_picture *picture) {
    return draw_from(ctx, run, 0, def, picture);
}

bough_status app_draw_beside(bough_context *ctx, const bough_run *run, const app_shot_def *def,
                             bough_picture *picture) {
    return draw_from(ctx, run, app_first_beside(run), def, picture);
}
