/* Rigid things as animated glTF: nodes, which move as a whole. */
#include "film.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define INVISIBLE 4e-5 /* of the size of the scene, as of trees */

static const bough_look *look_at(const bough_run *run, int32_t thing) {
    return bough_run_thing_look(run, bough_run_thing(run, thing)->look);
}

static bool is_seen(const bough_run *run, int32_t thing) {
    return look_at(run, thing)->triangle_count > 0;
}

static bough_status add_look(bough_context *ctx, const bough_thing *thing, const bough_look *look, bough_glb *glb) {
    const size_t scalars = 3 * (size_t)look->vertex_count;
    float *x = malloc(scalars * sizeof *x);
    if (!x)
        return BOUGH_ERROR_MEMORY;
    for (size_t i = 0; i < scalars; i++)
        x[i] = (float)look->vertices[i];
    bough_glb_mesh def = bough_default_glb_mesh();
    def.name = thing->name[0] ? thing->name : NULL;
    def.vertex_count = look->vertex_count, def.triangle_count = look->triangle_count;
    def.positions = x, def.triangles = look->triangles;
    for (int c = 0; c < 3; c++)
        def.colour[c] = (float)look->colour[c];
    bough_status s = bough_glb_add_mesh(ctx, glb, &def);
    free(x);
    return s;
}

static void place(const bough_run *run, int32_t thing, bough_glb_pose *pose) {
    bough_thing_state now;
    bough_run_thing_state(run, thing, &now);
    *pose = (bough_glb_pose){.hidden = !now.there};
    memcpy(pose->translation, now.frame.pose.position, sizeof pose->translation);
    memcpy(pose->rotation, now.frame.pose.rotation, sizeof pose->rotation);
}

bough_status app_glb_add_beside(bough_context *ctx, const bough_run *run, bough_glb *glb) {
    bough_status s = BOUGH_OK;
    for (int32_t i = app_first_beside(run); i < bough_run_thing_count(run) && !s; i++)
        s = add_look(ctx, bough_run_thing(run, i), look_at(run, i), glb);
    return s;
}

void app_glb_place_beside(const bough_run *run, bough_glb_pose *poses) {
    const int32_t first = app_first_beside(run);
    for (int32_t i = first; i < bough_run_thing_count(run); i++)
        place(run, i, &poses[i - first]);
}

/* A mesh for each look, and a node for each thing that is seen. */
static bough_status add_nodes(bough_context *ctx, const bough_run *run, int32_t count, bough_glb *glb) {
    int32_t *look_of = calloc(3 * (size_t)count + 1, sizeof *look_of), mesh_count = 0;
    int32_t *looks = look_of ? look_of + count : NULL, *mesh_of = look_of ? looks + count : NULL; /* of the looks */
    bough_status s = look_of ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    const int32_t look_count = look_of ? app_find_looks(run, look_of, looks) : 0;
    for (int32_t i = 0; i < look_count && !s; i++) {
        if (is_seen(run, looks[i])) {
            mesh_of[i] = mesh_count++;
            s = add_look(ctx, bough_run_thing(run, looks[i]), look_at(run, looks[i]), glb);
        }
    }
    for (int32_t i = 0; i < count && !s; i++) {
        const char *name = bough_run_thing(run, i)->name;
        if (is_seen(run, i))
            s = bough_glb_add_node(ctx, glb, name[0] ? name : NULL, mesh_of[look_of[i]], 1);
    }
    free(look_of);
    return s;
}

/* Diagonal of the box around all that is seen. */
static double size_of(const bough_mesh *mesh) {
    double size = 0;
    for (size_t d = 0; d < 3 && mesh && mesh->vertex_count > 0; d++) {
        double lower = INFINITY, upper = -INFINITY;
        for (size_t v = 0; v < (size_t)mesh->vertex_count; v++) {
            lower = fmin(lower, mesh->vertices[3 * v + d]);
            upper = fmax(upper, mesh->vertices[3 * v + d]);
        }
        size = hypot(size, upper - lower);
    }
    return size;
}

bough_status app_cast_glb_create(bough_context *ctx, const bough_run *run, const char *path, app_cast_glb *film) {
    *film = (app_cast_glb){0};
    const int32_t count = bough_run_thing_count(run);
    film->poses = calloc((size_t)count + 1, sizeof *film->poses);
    if (!film->poses)
        return BOUGH_ERROR_MEMORY;
    bough_glb_def def = bough_default_glb_def();
    def.path = path;
    def.tolerance = INVISIBLE * size_of(bough_run_mesh(run));
    bough_status s = bough_glb_create(ctx, &def, &film->glb);
    return s ? s : add_nodes(ctx, run, count, film->glb);
}

bough_status app_cast_glb_add(bough_context *ctx, const bough_run *run, app_cast_glb *film) {
    bough_glb_pose *to = film->poses;
    for (int32_t i = 0; i < bough_run_thing_count(run); i++) {
        if (is_seen(run, i))
            place(run, i, to++);
    }
    return bough_glb_add_frame(ctx, film->glb, bough_run_values(run)[BOUGH_COLUMN_TIME], film->poses, NULL);
}

bough_status app_cast_glb_finish(bough_context *ctx, app_cast_glb *film) {
    bough_status s = bough_glb_finish(ctx, film->glb);
    film->glb = NULL;
    return s;
}

void app_cast_glb_destroy(bough_context *ctx, app_cast_glb *film) {
    bough_glb_discard(ctx, film->glb);
    free(film->poses);
    *film = (app_cast_glb){0};
}
