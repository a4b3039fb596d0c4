/* Pictures of mechanisms: links, bodies and obstacles in their own colours. */
#include "film.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static void place(const bough_pose *pose, const double *x, double *out) {
    for (int r = 0; r < 3; r++) {
        out[r] = pose->position[r];
        for (int c = 0; c < 3; c++)
            out[r] += pose->rotation[3 * r + c] * x[c];
    }
}

bool app_has_obstacles(const bough_run *run) {
    for (int32_t i = 0; i < bough_run_rigid_count(run); i++)
        if (bough_run_rigid_at(run, i)->kind == BOUGH_RIGID_OBSTACLE)
            return true;
    return false;
}

/* Floors are no part of what is looked at. */
static const bough_mesh *seen(const bough_run *run, int32_t rigid) {
    const bough_run_rigid *r = bough_run_rigid_at(run, rigid);
    return r->kind == BOUGH_RIGID_OBSTACLE ? NULL : r->surface;
}

float *app_rigid_points(const bough_run *run, size_t *count) {
    size_t vertices = 0, k = 0;
    for (int32_t i = 0; i < bough_run_rigid_count(run); i++)
        vertices += seen(run, i) ? (size_t)seen(run, i)->vertex_count : 0;
    float *points = malloc((3 * vertices + 1) * sizeof *points);
    *count = points ? 3 * vertices : 0;
    for (int32_t i = 0; i < bough_run_rigid_count(run) && points; i++) {
        const bough_mesh *mesh = seen(run, i);
        const bough_pose pose = bough_run_rigid_pose(run, i);
        for (int32_t v = 0; mesh && v < mesh->vertex_count; v++) {
            double x[3];
            place(&pose, mesh->vertices + 3 * (size_t)v, x);
            for (int d = 0; d < 3; d++)
                points[k++] = (float)x[d];
        }
    }
    return points;
}

/* Its own, unless the user has another one for its name. */
static void choose_colour(const bough_run_rigid *rigid, const app_shot_def *def, float colour[3]) {
    for (int c = 0; c < 3; c++)
        colour[c] = (float)rigid->colour[c];
    for (int i = 0; i < def->paint_count; i++)
        if (fnmatch(def->paints[i].pattern, rigid->name, 0) == 0)
            memcpy(colour, def->paints[i].colour, sizeof def->paints[i].colour);
}

static bough_status draw(bough_context *ctx, const bough_run_rigid *rigid, const bough_pose *pose,
                         const app_shot_def *def, bough_picture *picture) {
    const bough_mesh *mesh = rigid->surface;
    bough_surface_style style = bough_default_surface_style();
    double *x = malloc((3 * (size_t)mesh->vertex_count + 1) * sizeof *x);
    if (!x)
        return BOUGH_ERROR_MEMORY;
    for (int32_t v = 0; v < mesh->vertex_count; v++)
        place(pose, mesh->vertices + 3 * (size_t)v, x + 3 * (size_t)v);
    choose_colour(rigid, def, style.colour);
    style.gloss = 0.15;
    style.casts_shadow = rigid->kind != BOUGH_RIGID_OBSTACLE;
    bough_status s =
        bough_picture_add_surface(ctx, picture, x, mesh->vertex_count, mesh->elements, mesh->element_count, &style);
    free(x);
    return s;
}

bough_status app_draw_rigids(bough_context *ctx, const bough_run *run, const app_shot_def *def,
                             bough_picture *picture) {
    bough_status s = BOUGH_OK;
    for (int32_t i = 0; i < bough_run_rigid_count(run) && !s; i++) {
        const bough_run_rigid *rigid = bough_run_rigid_at(run, i);
        const bough_pose pose = bough_run_rigid_pose(run, i);
        if (rigid->surface)
            s = draw(ctx, rigid, &pose, def, picture);
    }
    return s;
}
