/* Pictures of rigid things in their own colours. */
#include "film.h"

#include <fnmatch.h>
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

float *app_rigid_points(const bough_run *run, size_t *count) {
    size_t vertices = 0, k = 0;
    for (int32_t i = 0; i < bough_run_thing_count(run); i++)
        vertices += seen(run, i) ? (size_t)seen(run, i)->vertex_count : 0;
    float *points = malloc((3 * vertices + 1) * sizeof *points);
    *count = points ? 3 * vertices : 0;
    for (int32_t i = 0; i < bough_run_thing_count(run) && points; i++) {
        const bough_look *look = seen(run, i);
        bough_thing_state now;
        bough_run_thing_state(run, i, &now);
        for (int32_t v = 0; look && v < look->vertex_count; v++) {
            double x[3];
            place(&now.frame, look->vertices + 3 * (size_t)v, x);
            for (int d = 0; d < 3; d++)
                points[k++] = (float)x[d];
        }
    }
    return points;
}

/* Its own, unless the user has another one for its name. */
static void choose_colour(const bough_thing *thing, const bough_look *look, const app_shot_def *def, float colour[3]) {
    for (int c = 0; c < 3; c++)
        colour[c] = (float)look->colour[c];
    for (int i = 0; i < def->paint_count; i++)
        if (fnmatch(def->paints[i].pattern, thing->name, 0) == 0)
            memcpy(colour, def->paints[i].colour, sizeof def->paints[i].colour);
}

static bough_status draw(bough_context *ctx, const bough_thing *thing, const bough_look *look, const bough_frame *frame,
                         const app_shot_def *def, bough_picture *picture) {
    bough_surface_style style = bough_default_surface_style();
    double *x = malloc((3 * (size_t)look->vertex_count + 1) * sizeof *x);
    if (!x)
        return BOUGH_ERROR_MEMORY;
    for (int32_t v = 0; v < look->vertex_count; v++)
        place(frame, look->vertices + 3 * (size_t)v, x + 3 * (size_t)v);
    choose_colour(thing, look, def, style.colour);
    style.gloss = 0.15;
    style.casts_shadow = !thing->held;
    bough_status s =
        bough_picture_add_surface(ctx, picture, x, look->vertex_count, look->triangles, look->triangle_count, &style);
    free(x);
    return s;
}

bough_status app_draw_rigids(bough_context *ctx, const bough_run *run, const app_shot_def *def,
                             bough_picture *picture) {
    bough_status s = BOUGH_OK;
    for (int32_t i = 0; i < bough_run_thing_count(run) && !s; i++) {
        const bough_thing *thing = bough_run_thing(run, i);
        const bough_look *look = bough_run_thing_look(run, thing->look);
        bough_thing_state now;
        bough_run_thing_state(run, i, &now);
        if (look->triangle_count > 0)
            s = draw(ctx, thing, look, &now.frame, def, picture);
    }
    return s;
}
