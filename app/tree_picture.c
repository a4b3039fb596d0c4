/* Pictures of trees of parts. */
#include "app.h"

#include <stdlib.h>

/* Lighter or darker, more yellow or more blue. */
void app_part_colour(const app_part_style *style, int32_t part, float colour[3]) {
    uint32_t bits = (uint32_t)part * 2654435761u;
    bits ^= bits >> 15;
    float light = (float)(bits & 255u) / 255.0f - 0.5f, warm = (float)(bits >> 8 & 255u) / 255.0f - 0.5f;
    for (int c = 0; c < 3; c++) {
        float value = style->colour[c] * (1 + style->variation * (light + (c == 2 ? -warm : 0.7f * warm)));
        colour[c] = value < 0 ? 0 : value > 1 ? 1 : value;
    }
}

/* All parts of one component as one surface. */
typedef struct {
    int32_t vertex_count, triangle_count;
    double *vertices;
    int32_t *triangles;
    float *colours;
} heap;

static bool create(const bough_tree_model_def *def, int32_t component, heap *h) {
    const bough_surface *surface = &def->components[component]->surface;
    size_t uses = 0;
    for (int32_t p = 0; p < def->part_count; p++)
        uses += def->parts[p].component == component;
    size_t vertices = uses * (size_t)surface->vertex_count, triangles = uses * (size_t)surface->triangle_count;
    *h = (heap){0};
    if (vertices > INT32_MAX / 3 || triangles > INT32_MAX / 3)
        return false;
    h->vertices = malloc((3 * vertices + 1) * sizeof *h->vertices);
    h->triangles = malloc((3 * triangles + 1) * sizeof *h->triangles);
    h->colours = malloc((3 * vertices + 1) * sizeof *h->colours);
    return h->vertices && h->triangles && h->colours;
}

static void destroy(heap *h) {
    free(h->vertices), free(h->triangles), free(h->colours);
}

/* colours: of all vertices, or NULL. */
static void add_part(const bough_tree_model *model, const float *positions, int32_t part, const app_part_style *style,
                     const float *colours, heap *h) {
    const bough_tree_model_def *def = bough_tree_model_describe(model);
    const bough_surface *surface = &def->components[def->parts[part].component]->surface;
    float colour[3];
    const size_t first = 3 * (size_t)bough_tree_model_first_vertex(model, part);
    positions += first;
    app_part_colour(style, part, colour);
    for (int32_t v = 0; v < surface->vertex_count; v++)
        for (int c = 0; c < 3; c++) {
            size_t at = 3 * (size_t)(h->vertex_count + v) + (size_t)c;
            h->vertices[at] = (double)positions[3 * v + c];
            h->colours[at] = colours ? colours[first + 3 * (size_t)v + (size_t)c] : colour[c];
        }
    for (int32_t i = 0; i < 3 * surface->triangle_count; i++)
        h->triangles[3 * h->triangle_count + i] = h->vertex_count + surface->triangles[i];
    h->vertex_count += surface->vertex_count;
    h->triangle_count += surface->triangle_count;
}

static bough_status draw_component(bough_context *ctx, const bough_tree_model *model, const float *positions,
                                   int32_t component, const app_part_style *style, const float *colours,
                                   bough_picture *picture) {
    const bough_tree_model_def *def = bough_tree_model_describe(model);
    heap h;
    bough_status s = create(def, component, &h) ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (int32_t p = 0; p < def->part_count && !s; p++)
        if (def->parts[p].component == component)
            add_part(model, positions, p, style, colours, &h);
    bough_surface_style look = bough_default_surface_style();
    look.vertex_colours = h.colours;
    look.crease_angle = 1.2;
    look.gloss = style->gloss;
    if (!s)
        s = bough_picture_add_surface(ctx, picture, h.vertices, h.vertex_count, h.triangles, h.triangle_count, &look);
    destroy(&h);
    return s;
}

bough_status app_tree_draw_painted(bough_context *ctx, const bough_tree_model *model, const bough_tree_state *state,
                                   const app_part_style *styles, const float *colours, bough_picture *picture) {
    const bough_tree_model_def *def = bough_tree_model_describe(model);
    float *positions = malloc((3 * (size_t)bough_tree_model_vertex_count(model) + 1) * sizeof *positions);
    bough_status s = positions ? bough_tree_state_surface(ctx, model, state, positions, NULL) : BOUGH_ERROR_MEMORY;
    for (int32_t c = 0; c < def->component_count && !s; c++)
        if (def->components[c]->surface.triangle_count > 0)
            s = draw_component(ctx, model, positions, c, &styles[c], colours, picture);
    free(positions);
    return s;
}

bough_status app_tree_draw(bough_context *ctx, const bough_tree_model *model, const bough_tree_state *state,
                           const app_part_style *styles, bough_picture *picture) {
    return app_tree_draw_painted(ctx, model, state, styles, NULL, picture);
}
