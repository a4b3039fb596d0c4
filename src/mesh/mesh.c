#include "mesh/mesh.h"

#include <stdlib.h>
#include <math.h>
#include <string.h>

static int compare_int32(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

int32_t bo_sort_unique(int32_t *items, int32_t count) {
    bool sorted = true;
    for (int32_t i = 1; i < count && sorted; i++)
        sorted = items[i - 1] <= items[i];
    if (!sorted)
        qsort(items, (size_t)count, sizeof *items, compare_int32);
    int32_t kept = 0;
    for (int32_t i = 0; i < count; i++)
        if (kept == 0 || items[kept - 1] != items[i])
            items[kept++] = items[i];
    return kept;
}

static bough_status check_indices(bough_context *ctx, const bough_mesh *mesh) {
    const bo_element_info *info = bo_element_info_of(mesh->type);
    for (int32_t v = 0; v < mesh->vertex_count; v++)
        for (int d = 0; d < 3; d++)
            if (!isfinite(mesh->vertices[3 * (size_t)v + (size_t)d]))
                return bo_fail(ctx, BOUGH_NOT_FINITE, "vertex %d has a coordinate that is not finite", v);
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const int32_t *nodes = bo_mesh_nodes(mesh, e);
        for (int32_t i = 0; i < info->node_count; i++) {
            if (nodes[i] < 0 || nodes[i] >= mesh->vertex_count)
                return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "element %d names vertex %d, but there are %d vertices", e,
                               nodes[i], mesh->vertex_count);
            for (int32_t j = 0; j < i; j++)
                if (nodes[i] == nodes[j])
                    return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "element %d names vertex %d twice", e, nodes[i]);
        }
    }
    return BOUGH_OK;
}

bough_status bough_mesh_create(bough_context *ctx, bough_element_type type, int32_t vertex_count,
                               const double *vertices, int32_t element_count, const int32_t *elements,
                               bough_mesh **out) {
    *out = NULL;
    if ((int)type < BOUGH_TRI3 || type > BOUGH_HEX8 || vertex_count < 0 || element_count < 0)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a mesh needs a known element type and counts that are not negative");
    const bo_element_info *info = bo_element_info_of(type);
    if (element_count > INT32_MAX / 32 || vertex_count > INT32_MAX / 32)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a mesh can have at most %d vertices and elements", INT32_MAX / 32);
    bough_mesh *mesh = BO_NEW(ctx, bough_mesh);
    if (!mesh)
        return BOUGH_ERROR_MEMORY;
    size_t entries = (size_t)element_count * (size_t)info->node_count;
    mesh->type = type;
    mesh->vertices = BO_NEW_ARRAY(ctx, double, 3 * (size_t)vertex_count);
    mesh->elements = BO_NEW_ARRAY(ctx, int32_t, entries);
    if (!mesh->vertices || !mesh->elements) {
        bough_mesh_destroy(ctx, mesh);
        return BOUGH_ERROR_MEMORY;
    }
    mesh->vertex_count = vertex_count;
    mesh->element_count = element_count;
    if (vertex_count)
        memcpy(mesh->vertices, vertices, 3 * (size_t)vertex_count * sizeof *vertices);
    if (element_count)
        memcpy(mesh->elements, elements, entries * sizeof *elements);
    bough_status status = check_indices(ctx, mesh);
    if (status != BOUGH_OK) {
        bough_mesh_destroy(ctx, mesh);
        return status;
    }
    *out = mesh;
    return BOUGH_OK;
}

void bough_mesh_destroy(bough_context *ctx, bough_mesh *mesh) {
    if (!mesh)
        return;
    for (int32_t i = 0; i < mesh->set_count; i++) {
        bo_free(ctx, mesh->sets[i].name);
        bo_free(ctx, mesh->sets[i].items);
    }
    for (int32_t i = 0; i < mesh->material_count; i++)
        bo_free(ctx, mesh->materials[i].name);
    for (int32_t i = 0; i < mesh->region_count; i++)
        bo_free(ctx, mesh->regions[i].set);
    bo_free(ctx, mesh->sets);
    bo_free(ctx, mesh->materials);
    bo_free(ctx, mesh->regions);
    bo_free(ctx, mesh->vertices);
    bo_free(ctx, mesh->elements);
    bo_free(ctx, mesh);
}

static int32_t item_limit(const bough_mesh *mesh, bough_set_kind kind) {
    switch (kind) {
    case BOUGH_SET_VERTEX:
        return mesh->vertex_count;
    case BOUGH_SET_FACE:
        return mesh->element_count * bo_element_info_of(mesh->type)->face_count;
    case BOUGH_SET_ELEMENT:
        return mesh->element_count;
    }
    return 0;
}

int32_t bo_mesh_set_index(const bough_mesh *mesh, bough_set_kind kind, const char *name, size_t length) {
    for (int32_t i = 0; i < mesh->set_count; i++)
        if (mesh->sets[i].kind == kind && strlen(mesh->sets[i].name) == length &&
            memcmp(mesh->sets[i].name, name, length) == 0)
            return i;
    return -1;
}

const bough_set *bough_mesh_find_set(const bough_mesh *mesh, bough_set_kind kind, const char *name) {
    int32_t index = bo_mesh_set_index(mesh, kind, name, strlen(name));
    return index < 0 ? NULL : &mesh->sets[index];
}

static bough_status check_items(bough_context *ctx, const bough_mesh *mesh, bough_set_kind kind, const char *name,
                                const int32_t *items, int32_t count) {
    static const char *const kinds[] = {"vertex", "face", "element"};
    int32_t limit = item_limit(mesh, kind);
    for (int32_t i = 0; i < count; i++)
        if (items[i] < 0 || items[i] >= limit)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s set \"%s\" names item %d, but there are %d", kinds[kind],
                           name, items[i], limit);
    return BOUGH_OK;
}

bough_status bough_mesh_add_set(bough_context *ctx, bough_mesh *mesh, bough_set_kind kind, const char *name,
                                const int32_t *items, int32_t count) {
    if (!name[0] || count < 0)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a set needs a name and a count that is not negative");
    BO_TRY(check_items(ctx, mesh, kind, name, items, count));
    int32_t index = bo_mesh_set_index(mesh, kind, name, strlen(name));
    if (index < 0) {
        bough_set *sets = bo_realloc(ctx, mesh->sets, (size_t)mesh->set_count + 1, sizeof *sets);
        if (!sets)
            return BOUGH_ERROR_MEMORY;
        mesh->sets = sets;
        char *copy = bo_strdup(ctx, name);
        if (!copy)
            return BOUGH_ERROR_MEMORY;
        index = mesh->set_count++;
        mesh->sets[index] = (bough_set){.name = copy, .kind = kind};
    }
    bough_set *set = &mesh->sets[index];
    int32_t *merged = bo_realloc(ctx, set->items, (size_t)set->count + (size_t)count, sizeof *merged);
    if (!merged)
        return BOUGH_ERROR_MEMORY;
    if (count)
        memcpy(merged + set->count, items, (size_t)count * sizeof *items);
    set->items = merged;
    set->count = bo_sort_unique(merged, set->count + count);
    return BOUGH_OK;
}

bough_status bough_mesh_add_material(bough_context *ctx, bough_mesh *mesh, const char *name, double young,
                                     double poisson, double density, const char *element_set) {
    bough_mesh_material *materials =
        bo_realloc(ctx, mesh->materials, (size_t)mesh->material_count + 1, sizeof *materials);
    if (!materials)
        return BOUGH_ERROR_MEMORY;
    mesh->materials = materials;
    bough_mesh_region *regions = bo_realloc(ctx, mesh->regions, (size_t)mesh->region_count + 1, sizeof *regions);
    if (!regions)
        return BOUGH_ERROR_MEMORY;
    mesh->regions = regions;
    char *material_name = bo_strdup(ctx, name);
    char *set_name = bo_strdup(ctx, element_set ? element_set : "");
    if (!material_name || !set_name) {
        bo_free(ctx, material_name);
        bo_free(ctx, set_name);
        return BOUGH_ERROR_MEMORY;
    }
    mesh->materials[mesh->material_count] = (bough_mesh_material){material_name, young, poisson, density};
    mesh->regions[mesh->region_count++] = (bough_mesh_region){set_name, mesh->material_count++};
    return BOUGH_OK;
}

bough_status bo_mesh_copy_materials(bough_context *ctx, const bough_mesh *from, bough_mesh *to) {
    to->materials = BO_NEW_ARRAY(ctx, bough_mesh_material, from->material_count);
    to->regions = BO_NEW_ARRAY(ctx, bough_mesh_region, from->region_count);
    if (!to->materials || !to->regions)
        return BOUGH_ERROR_MEMORY;
    for (; to->material_count < from->material_count; to->material_count++) {
        bough_mesh_material *copy = &to->materials[to->material_count];
        *copy = from->materials[to->material_count];
        if (!(copy->name = bo_strdup(ctx, copy->name)))
            return BOUGH_ERROR_MEMORY;
    }
    for (; to->region_count < from->region_count; to->region_count++) {
        bough_mesh_region *copy = &to->regions[to->region_count];
        *copy = from->regions[to->region_count];
        if (!(copy->set = bo_strdup(ctx, copy->set)))
            return BOUGH_ERROR_MEMORY;
    }
    return BOUGH_OK;
}

bough_status bo_mesh_copy_annotations(bough_context *ctx, const bough_mesh *from, bough_mesh *to) {
    for (int32_t i = 0; i < from->set_count; i++)
        BO_TRY(bough_mesh_add_set(ctx, to, from->sets[i].kind, from->sets[i].name, from->sets[i].items,
                                  from->sets[i].count));
    return bo_mesh_copy_materials(ctx, from, to);
}

bough_status bough_mesh_check(bough_context *ctx, const bough_mesh *mesh) {
    BO_TRY(check_indices(ctx, mesh));
    for (int32_t i = 0; i < mesh->set_count; i++)
        BO_TRY(
            check_items(ctx, mesh, mesh->sets[i].kind, mesh->sets[i].name, mesh->sets[i].items, mesh->sets[i].count));
    for (int32_t i = 0; i < mesh->region_count; i++)
        if (mesh->regions[i].material < 0 || mesh->regions[i].material >= mesh->material_count)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "region %d names material %d, but there are %d", i,
                           mesh->regions[i].material, mesh->material_count);
    for (int32_t e = 0; e < mesh->element_count; e++) {
        int sign = bo_element_sign(mesh->type, mesh->vertices, bo_mesh_nodes(mesh, e));
        if (sign <= 0)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "element %d (counted from 0) %s", e,
                           sign < 0 ? "is inverted (negative volume)" : "is flat (zero volume)");
        BO_TRY(bo_mesh_go_on(ctx, "checking elements", (size_t)e, (size_t)mesh->element_count));
    }
    return BOUGH_OK;
}

bough_status bough_mesh_repair(bough_context *ctx, bough_mesh *mesh, int32_t *flipped) {
    BO_TRY(check_indices(ctx, mesh));
    int32_t count = 0;
    if (mesh->type != BOUGH_TRI3)
        for (int32_t e = 0; e < mesh->element_count; e++) {
            int32_t *nodes = mesh->elements + (size_t)e * (size_t)bo_element_info_of(mesh->type)->node_count;
            if (bo_element_sign(mesh->type, mesh->vertices, nodes) >= 0)
                continue;
            bo_element_flip(mesh->type, nodes);
            if (bo_element_sign(mesh->type, mesh->vertices, nodes) < 0)
                bo_element_flip(mesh->type, nodes); /* folded, not mirrored: flipping does not help */
            else
                count++;
        }
    if (flipped)
        *flipped = count;
    return BOUGH_OK;
}
