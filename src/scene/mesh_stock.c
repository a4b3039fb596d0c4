/* Meshes that touch in contact worlds: each is made once for all shapes of a scene that are alike. */
#include "scene/mechanism_scene.h"

#include "mesh/mesh.h"
#include "rig/shape.h"
#include "scene/scene.h"

enum { MOST_MESHES = 100 };   /* each takes a part of a second, and some megabytes */
enum { CYLINDER_SIDES = 48 }; /* of the hull of a cylinder: 0.2 % of its radius within it */

struct bo_stocked_mesh {
    uint64_t hash;
    bough_shape_mesh *mesh;
};

void bo_mesh_stock_free(bough_context *ctx, bo_mesh_stock *stock) {
    for (size_t i = 0; i < stock->count; i++)
        bough_shape_mesh_destroy(ctx, stock->meshes[i].mesh);
    bo_free(ctx, stock->meshes);
    *stock = (bo_mesh_stock){0};
}

/* The numbers of a hull, a cylinder or a height field, scaled, and a shape that has them. */
static bough_status scale_shape(bough_context *ctx, const bo_scene_shape *from, double scale, bough_shape_def *def,
                                double **numbers) {
    const bool round = from->form == BO_FORM_CYLINDER;
    const size_t heights = (size_t)def->columns * (size_t)def->rows;
    const size_t count = round ? 6 * CYLINDER_SIDES : def->points ? 3 * (size_t)def->point_count : heights;
    const double *old = def->points ? def->points : def->heights;
    if (!(*numbers = BO_NEW_ARRAY(ctx, double, count)))
        return BOUGH_ERROR_MEMORY;
    for (size_t k = 0; k < count && !round; k++)
        (*numbers)[k] = scale * old[k];
    for (size_t k = 0; k < 2 * CYLINDER_SIDES && round; k++) {
        const double angle = 2 * M_PI * (double)(k / 2) / CYLINDER_SIDES, r = scale * from->radius;
        bo_store3(*numbers + 3 * k, bo_v3(r * cos(angle), r * sin(angle), (k % 2 ? 0.5 : -0.5) * scale * from->length));
    }
    if (round)
        def->point_count = 2 * CYLINDER_SIDES;
    if (def->points || round)
        def->points = *numbers;
    else
        def->heights = *numbers;
    def->cell[0] *= scale, def->cell[1] *= scale;
    return BOUGH_OK;
}

/* The triangles of a mesh, scaled. */
static bough_status scale_mesh(bough_context *ctx, const bo_scene_shape *from, double scale, bough_shape_mesh **mesh) {
    const size_t count = 3 * (size_t)from->mesh->vertex_count;
    double *vertices = BO_NEW_ARRAY(ctx, double, count);
    if (!vertices)
        return bo_fail_memory(ctx);
    for (size_t k = 0; k < count; k++)
        vertices[k] = scale * from->mesh->vertices[k];
    const bough_status status = bough_shape_mesh_create(
        ctx, from->mesh->vertex_count, vertices, from->mesh->element_count, from->mesh->elements, from->cells, mesh);
    bo_free(ctx, vertices);
    return status;
}

bough_status bo_shape_touch_mesh(bough_context *ctx, const bo_scene_shape *from, double scale,
                                 bough_shape_mesh **mesh) {
    bough_shape_def def = from->def;
    double *numbers = NULL;
    *mesh = NULL;
    if (from->form == BO_FORM_MESH)
        return scale_mesh(ctx, from, scale, mesh);
    bough_status status = scale_shape(ctx, from, scale, &def, &numbers);
    if (status == BOUGH_OK)
        status = bo_shape_mesh_of(ctx, &def, mesh);
    bo_free(ctx, numbers);
    return status;
}

static bough_status take(bo_json at, bo_mesh_stock *stock, const bo_scene_shape *shape, const bough_shape_mesh **mesh) {
    const uint64_t hash = bo_hash_bytes(bo_hash_mesh(BO_HASH_START, shape->mesh), &shape->cells, sizeof shape->cells);
    for (size_t i = 0; i < stock->count; i++)
        if (stock->meshes[i].hash == hash) {
            *mesh = stock->meshes[i].mesh;
            return BOUGH_OK;
        }
    if (stock->count == MOST_MESHES)
        return bo_json_fail(at, "is one of more than %d different meshes that touch", MOST_MESHES);
    if (!BO_RESERVE(at.ctx, stock->meshes, stock->capacity, stock->count + 1))
        return bo_fail_memory(at.ctx);
    if (!bo_progress(at.ctx, "meshes", 0, "distances from mesh %d", (int)stock->count + 1))
        return bo_fail_cancelled(at.ctx);
    bough_shape_mesh *made;
    BO_TRY(bo_json_explain(at, bo_shape_touch_mesh(at.ctx, shape, 1, &made)));
    stock->meshes[stock->count++] = (bo_stocked_mesh){hash, made};
    *mesh = made;
    return BOUGH_OK;
}

bough_status bo_scene_let_touch(bo_json at, bo_mesh_stock *stock, bo_scene_shapes *shapes) {
    for (int32_t i = 0; i < shapes->count; i++) {
        bo_scene_shape *shape = &shapes->shapes[i];
        if (shape->form != BO_FORM_MESH)
            continue;
        shape->def.kind = BOUGH_SHAPE_MESH;
        BO_TRY(take(at, stock, shape, &shape->def.mesh));
    }
    return BOUGH_OK;
}
