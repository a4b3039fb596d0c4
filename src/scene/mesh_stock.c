/* Meshes that touch in contact worlds: each is made once for all shapes of a scene that are alike. */
#include "scene/mechanism_scene.h"

#include "mesh/mesh.h"
#include "scene/scene.h"

enum { MOST_MESHES = 100 }; /* each takes a part of a second, and some megabytes */

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

bough_status bo_shape_touch_mesh(bough_context *ctx, const bo_scene_shape *shape, double scale,
                                 bough_shape_mesh **mesh) {
    const size_t count = 3 * (size_t)shape->mesh->vertex_count;
    double *vertices = BO_NEW_ARRAY(ctx, double, count);
    *mesh = NULL;
    if (!vertices)
        return bo_fail_memory(ctx);
    for (size_t k = 0; k < count; k++)
        vertices[k] = scale * shape->mesh->vertices[k];
    const bough_status status =
        bough_shape_mesh_create(ctx, shape->mesh->vertex_count, vertices, shape->mesh->element_count,
                                shape->mesh->elements, shape->cells, mesh);
    bo_free(ctx, vertices);
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
