/* Trees of parts as animated glTF: the columns of U are morph targets, q their weights, frames the poses of nodes. */
#include "film.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PANEL = 16 };   /* bough_surface.U */
#define INVISIBLE 4e-5 /* of the size of the scene: a twentieth of a pixel where it fills a large screen */

static void unpack_column(const bough_component *c, int32_t l, float *column) {
    const bough_surface *surface = &c->surface;
    for (size_t i = 0; i < 3 * (size_t)surface->vertex_count; i++) {
        size_t at = (i / PANEL * (size_t)c->r + (size_t)l) * PANEL + i % PANEL;
        column[i] = surface->U ? surface->U[at] : (float)surface->U16[at] * surface->scale[l];
    }
}

static bough_status add_mesh(bough_context *ctx, const bough_component *c, const float colour[3], bough_glb *glb) {
    size_t scalars = 3 * (size_t)c->surface.vertex_count;
    float *targets = malloc((scalars * (size_t)c->r + 1) * sizeof *targets);
    if (!targets)
        return BOUGH_ERROR_MEMORY;
    for (int32_t l = 0; l < c->r; l++)
        unpack_column(c, l, targets + scalars * (size_t)l);
    bough_glb_mesh mesh = bough_default_glb_mesh();
    mesh.vertex_count = c->surface.vertex_count, mesh.triangle_count = c->surface.triangle_count;
    mesh.positions = c->surface.position, mesh.triangles = c->surface.triangles;
    mesh.target_count = c->r, mesh.targets = targets;
    memcpy(mesh.colour, colour, sizeof mesh.colour);
    bough_status s = bough_glb_add_mesh(ctx, glb, &mesh);
    free(targets);
    return s;
}

enum { TINTS = 6 }; /* colours of a component, at most */

/* Meshes of a component follow each other, one for each colour; its parts take them in turn. */
static bough_status add_component(bough_context *ctx, const bough_tree_model_def *def, int32_t component,
                                  const app_part_style *style, int32_t *mesh_count, int32_t *mesh_of_part,
                                  bough_glb *glb) {
    int32_t uses = 0, first = *mesh_count;
    bough_status s = BOUGH_OK;
    for (int32_t p = 0; p < def->part_count && !s; p++) {
        if (def->parts[p].component != component)
            continue;
        float colour[3];
        app_part_colour(style, uses, colour);
        if (uses == 0)
            s = add_mesh(ctx, def->components[component], colour, glb);
        else if (uses < TINTS)
            s = bough_glb_add_tint(ctx, glb, first, colour);
        *mesh_count += uses < TINTS;
        mesh_of_part[p] = first + uses++ % TINTS;
    }
    return s;
}

static bough_status add_beside(bough_context *ctx, const bough_run *run, int32_t mesh_count, bough_glb *glb) {
    bough_status s = app_glb_add_beside(ctx, run, glb);
    for (int32_t i = app_first_beside(run); i < bough_run_thing_count(run) && !s; i++)
        s = bough_glb_add_node(ctx, glb, bough_run_thing(run, i)->name, mesh_count++, 1);
    return s;
}

/* run: that has something beside its parts; NULL: none. */
static bough_status add_parts(bough_context *ctx, const bough_tree_model_def *def, const bough_run *run,
                              const app_part_style *styles, bough_glb *glb) {
    int32_t *mesh_of_part = malloc(((size_t)def->part_count + 1) * sizeof *mesh_of_part), mesh_count = 0;
    bough_status s = mesh_of_part ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (int32_t c = 0; c < def->component_count && !s; c++)
        s = add_component(ctx, def, c, &styles[c], &mesh_count, mesh_of_part, glb);
    for (int32_t p = 0; p < def->part_count && !s; p++)
        s = bough_glb_add_node(ctx, glb, def->parts[p].name, mesh_of_part[p], def->parts[p].scale);
    free(mesh_of_part);
    return s || !run ? s : add_beside(ctx, run, mesh_count, glb);
}

/* Diagonal of the box around what is seen. */
static bough_status find_size(bough_context *ctx, const bough_tree_model *model, const bough_tree_state *state,
                              double *size) {
    const size_t scalars = 3 * (size_t)bough_tree_model_vertex_count(model);
    float *x = malloc((scalars + 1) * sizeof *x), lower[3], upper[3];
    bough_status s = x ? bough_tree_state_surface(ctx, model, state, x, NULL) : BOUGH_ERROR_MEMORY;
    for (size_t i = 0; i < scalars && !s; i++) {
        lower[i % 3] = i < 3 ? x[i] : fminf(lower[i % 3], x[i]);
        upper[i % 3] = i < 3 ? x[i] : fmaxf(upper[i % 3], x[i]);
    }
    *size = 0;
    for (int d = 0; d < 3 && scalars > 0 && !s; d++)
        *size = hypot(*size, (double)(upper[d] - lower[d]));
    free(x);
    return s;
}

bough_status app_tree_glb_create(bough_context *ctx, const bough_tree_model *model, const bough_tree_state *state,
                                 const bough_run *run, const app_part_style *styles, const char *path,
                                 app_tree_glb *film) {
    const bough_tree_model_def *def = bough_tree_model_describe(model);
    const int32_t beside = run ? app_count_beside(run) : 0;
    *film = (app_tree_glb){.run = beside > 0 ? run : NULL};
    film->poses = calloc((size_t)(def->part_count + beside) + 1, sizeof *film->poses);
    film->weights = calloc((size_t)bough_tree_model_size(model) + 1, sizeof *film->weights);
    if (!film->poses || !film->weights)
        return BOUGH_ERROR_MEMORY;
    bough_glb_def glb_def = bough_default_glb_def();
    glb_def.path = path;
    bough_status s = find_size(ctx, model, state, &glb_def.tolerance);
    glb_def.tolerance *= INVISIBLE;
    if (!s)
        s = bough_glb_create(ctx, &glb_def, &film->glb);
    return s ? s : add_parts(ctx, def, film->run, styles, film->glb);
}

/* Neither it nor what it hangs on is absent. */
static bool is_there(const bough_part_def *parts, int32_t part) {
    while (part >= 0 && !parts[part].absent)
        part = parts[part].parent;
    return part < 0;
}

bough_status app_tree_glb_add(bough_context *ctx, const bough_tree_model *model, const bough_tree_state *state,
                              app_tree_glb *film) {
    const bough_tree_model_def *def = bough_tree_model_describe(model);
    const bough_part_def *parts = bough_tree_state_parts(model, state);
    float *weight = film->weights;
    for (int32_t p = 0; p < def->part_count; p++) {
        const double *q = state->q + bough_tree_model_offset(model, p);
        film->poses[p].hidden = !is_there(parts, p);
        memcpy(film->poses[p].translation, state->frames[p].pose.position, sizeof film->poses[p].translation);
        memcpy(film->poses[p].rotation, state->frames[p].pose.rotation, sizeof film->poses[p].rotation);
        for (int32_t l = 0; l < def->components[def->parts[p].component]->r; l++)
            *weight++ = (float)q[l];
    }
    if (film->run)
        app_glb_place_beside(film->run, film->poses + def->part_count);
    bough_status s = bough_glb_add_frame(ctx, film->glb, state->time, film->poses, film->weights);
    film->frame_count += s == BOUGH_OK;
    return s;
}

bough_status app_tree_glb_finish(bough_context *ctx, app_tree_glb *film) {
    bough_status s = bough_glb_finish(ctx, film->glb);
    film->glb = NULL;
    return s;
}

void app_tree_glb_destroy(bough_context *ctx, app_tree_glb *film) {
    bough_glb_discard(ctx, film->glb);
    free(film->poses);
    free(film->weights);
    *film = (app_tree_glb){0};
}
