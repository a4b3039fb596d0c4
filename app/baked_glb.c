/* Films as vertices: one morph target a frame, each shown at its time. They show what bough_tree_state_surface() does,
 * with parts that are joined, and bodies that have no coordinates, and take as much more room. */
#include "film.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES 1e9 /* of positions; normals take as much again in the file */

static bough_status create_glb(bough_context *ctx, const char *path, bough_glb **glb) {
    bough_glb_def def = bough_default_glb_def();
    def.path = path;
    return bough_glb_create(ctx, &def, glb);
}

bough_status app_baked_glb_create(bough_context *ctx, const bough_run *run, const char *path, app_baked_glb *film) {
    const bough_tree_model *model;
    const bough_tree_state *state;
    *film = (app_baked_glb){0};
    bough_status s = create_glb(ctx, path, &film->glb);
    if (s)
        return s;
    film->beside_count = app_count_beside(run);
    if (bough_run_model(run, &model, &state)) {
        film->vertex_count = bough_tree_model_vertex_count(model);
        return BOUGH_OK;
    }
    const bough_mesh *mesh = bough_run_mesh(run);
    s = mesh ? app_view_create(ctx, mesh, &film->view) : BOUGH_ERROR_MEMORY;
    film->vertex_count = s ? 0 : film->view.surface->vertex_count;
    return s;
}

static bool grow(app_baked_glb *film) {
    if (film->frame_count < film->frame_capacity)
        return true;
    const int32_t capacity = 2 * film->frame_capacity + 16;
    const size_t scalars = 3 * (size_t)film->vertex_count + 1;
    float *positions = realloc(film->positions, (size_t)capacity * scalars * sizeof *positions);
    film->positions = positions ? positions : film->positions;
    double *times = realloc(film->times, (size_t)capacity * sizeof *times);
    film->times = times ? times : film->times;
    bough_glb_pose *beside =
        realloc(film->beside, ((size_t)capacity * (size_t)film->beside_count + 1) * sizeof *beside);
    film->beside = beside ? beside : film->beside;
    film->frame_capacity = positions && times && beside ? capacity : film->frame_capacity;
    return positions && times && beside;
}

static float *frame_of(const app_baked_glb *film, int32_t frame) {
    return film->positions + 3 * (size_t)film->vertex_count * (size_t)frame;
}

static bough_status body_positions(const bough_run *run, const app_view *view, float *x) {
    const double *u = bough_run_displacement(run);
    for (int32_t v = 0; v < view->surface->vertex_count && u; v++) {
        const size_t from = 3 * (size_t)(view->vertex_map ? view->vertex_map[v] : v);
        for (size_t d = 0; d < 3; d++)
            x[3 * (size_t)v + d] = (float)(view->surface->vertices[3 * (size_t)v + d] + u[from + d]);
    }
    return u ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

bough_status app_baked_glb_add(bough_context *ctx, const bough_run *run, app_baked_glb *film) {
    const bough_tree_model *model;
    const bough_tree_state *state;
    if (film->frame_count > BOUGH_GLB_TARGET_LIMIT || 12.0 * film->vertex_count * (film->frame_count + 1) > MOST_BYTES)
        return BOUGH_ERROR_UNSUPPORTED;
    if (!grow(film))
        return BOUGH_ERROR_MEMORY;
    float *x = frame_of(film, film->frame_count);
    bough_status s = bough_run_model(run, &model, &state) ? bough_tree_state_surface(ctx, model, state, x, NULL)
                                                          : body_positions(run, &film->view, x);
    app_glb_place_beside(run, film->beside + (size_t)film->frame_count * (size_t)film->beside_count);
    film->times[film->frame_count] = bough_run_values(run)[BOUGH_COLUMN_TIME];
    film->frame_count += !s;
    return s;
}

/* ---- at the end ---- */

/* A piece of the whole that has one colour: vertices and triangles with numbers of its own. */
typedef struct {
    int32_t vertex_count, triangle_count;
    int32_t *vertices, *triangles; /* vertices: their numbers in the whole */
    float colour[3];
} piece;

static void free_piece(piece *p) {
    free(p->vertices);
    free(p->triangles);
}

static bool take_body(const bough_mesh *surface, piece *p) {
    *p = (piece){surface->vertex_count, surface->element_count, NULL, NULL, {0.36f, 0.55f, 0.74f}};
    p->vertices = malloc(((size_t)p->vertex_count + 1) * sizeof *p->vertices);
    p->triangles = malloc((3 * (size_t)p->triangle_count + 1) * sizeof *p->triangles);
    if (!p->vertices || !p->triangles)
        return false;
    for (int32_t v = 0; v < p->vertex_count; v++)
        p->vertices[v] = v;
    memcpy(p->triangles, surface->elements, 3 * (size_t)p->triangle_count * sizeof *p->triangles);
    return true;
}

/* All parts of a component. */
static bool take_component(const bough_tree_model *model, int32_t component, const app_part_style *style, piece *p) {
    const bough_tree_model_def *def = bough_tree_model_describe(model);
    const bough_surface *surface = &def->components[component]->surface;
    size_t uses = 0;
    for (int32_t part = 0; part < def->part_count; part++)
        uses += def->parts[part].component == component;
    *p = (piece){0};
    memcpy(p->colour, style->colour, sizeof p->colour);
    p->vertices = malloc((uses * (size_t)surface->vertex_count + 1) * sizeof *p->vertices);
    p->triangles = malloc((3 * uses * (size_t)surface->triangle_count + 1) * sizeof *p->triangles);
    for (int32_t part = 0; part < def->part_count && p->vertices && p->triangles; part++) {
        if (def->parts[part].component != component)
            continue;
        int32_t *triangles = p->triangles + 3 * (size_t)p->triangle_count;
        for (size_t i = 0; i < 3 * (size_t)surface->triangle_count; i++)
            triangles[i] = p->vertex_count + surface->triangles[i];
        for (int32_t v = 0; v < surface->vertex_count; v++)
            p->vertices[p->vertex_count++] = bough_tree_model_first_vertex(model, part) + v;
        p->triangle_count += surface->triangle_count;
    }
    return p->vertices && p->triangles;
}

static void gather(const app_baked_glb *film, const piece *p, int32_t frame, float *x) {
    const float *whole = frame_of(film, frame);
    for (size_t v = 0; v < (size_t)p->vertex_count; v++)
        memcpy(x + 3 * v, whole + 3 * (size_t)p->vertices[v], 3 * sizeof *x);
}

/* Unit sums of areas; z where there are none. */
static void find_normals(const piece *p, const float *x, float *normals) {
    memset(normals, 0, 3 * (size_t)p->vertex_count * sizeof *normals);
    for (size_t t = 0; t < (size_t)p->triangle_count; t++) {
        const int32_t *v = p->triangles + 3 * t;
        const float *a = x + 3 * (size_t)v[0], *b = x + 3 * (size_t)v[1], *c = x + 3 * (size_t)v[2];
        for (int d = 0; d < 3; d++) {
            const int e = (d + 1) % 3, f = (d + 2) % 3;
            const float area = (b[e] - a[e]) * (c[f] - a[f]) - (b[f] - a[f]) * (c[e] - a[e]);
            for (int k = 0; k < 3; k++)
                normals[3 * (size_t)v[k] + (size_t)d] += area;
        }
    }
    for (size_t v = 0; v < (size_t)p->vertex_count; v++) {
        float *n = normals + 3 * v, length = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (int d = 0; d < 3; d++)
            n[d] = length > 0 ? n[d] / length : d == 2 ? 1.0f : 0.0f;
    }
}

/* Targets are what each frame after the first adds to it. */
static bough_status add_piece(bough_context *ctx, const app_baked_glb *film, const piece *p, const char *name) {
    const size_t scalars = 3 * (size_t)p->vertex_count, targets = (size_t)film->frame_count - 1;
    float *x = malloc(2 * (scalars + 1) * sizeof *x), *changes = malloc((2 * scalars * targets + 1) * sizeof *changes);
    bough_status s = x && changes ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (!s) {
        float *normals = x + scalars, *turned = changes + scalars * targets;
        gather(film, p, 0, x);
        find_normals(p, x, normals);
        for (size_t k = 0; k < targets; k++) {
            gather(film, p, (int32_t)k + 1, changes + scalars * k);
            find_normals(p, changes + scalars * k, turned + scalars * k);
            for (size_t i = 0; i < scalars; i++)
                changes[scalars * k + i] -= x[i], turned[scalars * k + i] -= normals[i];
        }
        bough_glb_mesh mesh = bough_default_glb_mesh();
        mesh.name = name, mesh.vertex_count = p->vertex_count, mesh.triangle_count = p->triangle_count;
        mesh.positions = x, mesh.normals = normals, mesh.triangles = p->triangles;
        mesh.target_count = (int32_t)targets, mesh.targets = changes, mesh.target_normals = turned;
        memcpy(mesh.colour, p->colour, sizeof mesh.colour);
        s = bough_glb_add_mesh(ctx, film->glb, &mesh);
    }
    free(x);
    free(changes);
    return s;
}

/* Each frame has its own target and no other. What is beside the body has none. */
static bough_status add_frames(bough_context *ctx, const app_baked_glb *film, int32_t piece_count) {
    const size_t targets = (size_t)film->frame_count - 1, pieces = (size_t)piece_count;
    const size_t beside = (size_t)film->beside_count;
    bough_glb_pose *poses = calloc(pieces + beside + 1, sizeof *poses);
    float *weights = calloc(pieces * targets + 1, sizeof *weights);
    bough_status s = poses && weights ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (size_t i = 0; i < pieces && !s; i++)
        for (int d = 0; d < 3; d++)
            poses[i].rotation[4 * d] = 1;
    for (size_t i = 0; i < pieces + beside && !s; i++)
        s = bough_glb_add_node(ctx, film->glb, NULL, (int32_t)i, 1);
    for (size_t f = 0; f <= targets && !s; f++) {
        for (size_t i = 0; i < pieces; i++)
            for (size_t k = 0; k < targets; k++)
                weights[i * targets + k] = k + 1 == f ? 1.0f : 0.0f;
        memcpy(poses + pieces, film->beside + f * beside, beside * sizeof *poses);
        s = bough_glb_add_frame(ctx, film->glb, film->times[f], poses, weights);
    }
    free(poses);
    free(weights);
    return s;
}

static bough_status add_pieces(bough_context *ctx, const bough_run *run, const app_part_style *styles,
                               const app_baked_glb *film, int32_t *count) {
    const bough_tree_model *model;
    const bough_tree_state *state;
    const bool parts = bough_run_model(run, &model, &state);
    const bough_tree_model_def *def = parts ? bough_tree_model_describe(model) : NULL;
    bough_status s = BOUGH_OK;
    *count = 0;
    for (int32_t c = 0; c < (parts ? def->component_count : 1) && !s; c++) {
        piece p;
        char name[64] = "body";
        const bool taken = parts ? take_component(model, c, &styles[c], &p) : take_body(film->view.surface, &p);
        if (parts)
            app_component_name(def->components[c], name, sizeof name);
        s = taken ? BOUGH_OK : BOUGH_ERROR_MEMORY;
        if (!s && p.triangle_count > 0) {
            s = add_piece(ctx, film, &p, name[0] ? name : NULL);
            ++*count;
        }
        free_piece(&p);
    }
    return s;
}

/* Targets are made of all frames, so that the file is made anew. */
bough_status app_baked_glb_flush(bough_context *ctx, const bough_run *run, const app_part_style *styles,
                                 const char *path, const app_baked_glb *film) {
    app_baked_glb now = *film;
    bough_status s = create_glb(ctx, path, &now.glb);
    if (s)
        return s;
    s = app_baked_glb_finish(ctx, run, styles, &now);
    bough_glb_discard(ctx, now.glb);
    return s;
}

bough_status app_baked_glb_finish(bough_context *ctx, const bough_run *run, const app_part_style *styles,
                                  app_baked_glb *film) {
    int32_t count;
    bough_status s = add_pieces(ctx, run, styles, film, &count);
    if (!s)
        s = app_glb_add_beside(ctx, run, film->glb);
    if (!s)
        s = add_frames(ctx, film, count);
    if (s)
        return s;
    s = bough_glb_finish(ctx, film->glb);
    film->glb = NULL;
    return s;
}

void app_baked_glb_destroy(bough_context *ctx, app_baked_glb *film) {
    bough_glb_discard(ctx, film->glb);
    app_view_destroy(ctx, &film->view);
    free(film->positions);
    free(film->times);
    free(film->beside);
    *film = (app_baked_glb){0};
}
