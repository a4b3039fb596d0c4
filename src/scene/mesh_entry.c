#include "scene/entries.h"

#include "base/file.h"
#include "mesh/mesh.h"

#include <string.h>

#define CELL_LIMIT 1000000 /* cells along one direction; the mesh's own limit is on the product */

/* ---- files ---- */

bough_status bo_scene_mesh_file(bo_json at, bough_volume_policy volumes, bough_mesh **mesh) {
    const char *name = NULL;
    BO_TRY(bo_json_string(at, &name));
    if (!mesh)
        return BOUGH_OK;
    char *path = bo_path_beside(at.ctx, at.file, name);
    if (!path)
        return BOUGH_ERROR_MEMORY;
    bough_mesh_read_def def = bough_default_mesh_read_def();
    def.volumes = volumes;
    bough_status status = bough_mesh_read(at.ctx, path, &def, mesh);
    bo_free(at.ctx, path);
    return bo_json_explain(at, status);
}

bough_status bo_scene_mesh_transformed(bo_json at, const char *key, bough_volume_policy volumes, bough_mesh **mesh) {
    static const char *const axes[] = {"x", "y", "z"};
    bough_mesh_transform_def def = bough_default_mesh_transform_def();
    int32_t axis = 2;
    BO_TRY(bo_json_number(bo_json_at(&at, "scale"), (bo_range){BOUGH_MESH_SCALE_MIN, BOUGH_MESH_SCALE_MAX, false},
                          &def.scale));
    BO_TRY(bo_json_choice(bo_json_at(&at, "up"), axes, 3, &axis));
    BO_TRY(bo_json_vec3(bo_json_at(&at, "rotate_deg"), BO_ANY, def.rotate_deg));
    def.up = (char)('x' + axis);
    BO_TRY(bo_scene_mesh_file(bo_json_must(&at, key), volumes, mesh));
    bough_status status = mesh ? bough_mesh_transform(at.ctx, *mesh, &def) : BOUGH_OK;
    if (status != BOUGH_OK) {
        bough_mesh_destroy(at.ctx, *mesh);
        *mesh = NULL;
    }
    return bo_json_explain(at, status);
}

static bough_status read_file_entry(bo_json at, bough_mesh **mesh) {
    bool repair = false;
    BO_TRY(bo_json_keys(at, BO_MESH_FILE_KEYS));
    BO_TRY(bo_json_flag(bo_json_at(&at, "repair"), &repair));
    return bo_scene_mesh_transformed(at, "file", repair ? BOUGH_VOLUME_REPAIR : BOUGH_VOLUME_REFUSE, mesh);
}

/* ---- generators ---- */

static bough_status read_type(bo_json at, bough_element_type *type) {
    static const char *const words[] = {"tet4", "tet10", "hex8"};
    static const bough_element_type types[] = {BOUGH_TET4, BOUGH_TET10, BOUGH_HEX8};
    int32_t choice = -1;
    BO_TRY(bo_json_choice(at, words, 3, &choice));
    if (choice >= 0)
        *type = types[choice];
    return BOUGH_OK;
}

static bough_status read_box(bo_json at, bough_mesh **mesh) {
    bough_box_def def = bough_default_box_def();
    BO_TRY(bo_json_keys(at, BO_BOX_KEYS));
    BO_TRY(read_type(bo_json_at(&at, "type"), &def.type));
    BO_TRY(bo_json_vec3(bo_json_at(&at, "origin"), BO_ANY, def.origin));
    BO_TRY(bo_json_vec3(bo_json_must(&at, "size"), BO_POSITIVE, def.size));
    BO_TRY(bo_json_integers(bo_json_at(&at, "cells"), 3, 1, CELL_LIMIT, def.cells));
    BO_TRY(bo_json_integer(bo_json_at(&at, "tets_per_cell"), 5, 6, &def.tets_per_cell));
    return mesh ? bo_json_explain(at, bough_mesh_generate_box(at.ctx, &def, mesh)) : BOUGH_OK;
}

/* "cells": [along, rings] is short for two of the three counts. */
static bough_status read_rod_cells(bo_json at, bough_rod_def *def) {
    bo_json cells = bo_json_at(&at, "cells");
    if (cells.value && (bo_json_has(&at, "cells_along") || bo_json_has(&at, "rings")))
        return bo_json_fail(cells, "says [cells_along, rings], so these keys cannot be given too");
    int32_t both[2] = {def->cells_along, def->rings};
    BO_TRY(bo_json_integers(cells, 2, 1, CELL_LIMIT, both));
    def->cells_along = both[0], def->rings = both[1];
    BO_TRY(bo_json_integer(bo_json_at(&at, "cells_along"), 1, CELL_LIMIT, &def->cells_along));
    BO_TRY(bo_json_integer(bo_json_at(&at, "rings"), 1, CELL_LIMIT, &def->rings));
    return bo_json_integer(bo_json_at(&at, "core_cells"), 1, CELL_LIMIT, &def->core_cells);
}

static bough_status read_rod(bo_json at, bough_mesh **mesh) {
    bough_rod_def def = bough_default_rod_def();
    BO_TRY(bo_json_keys(at, BO_ROD_KEYS));
    BO_TRY(read_type(bo_json_at(&at, "type"), &def.type));
    BO_TRY(bo_json_number(bo_json_must(&at, "length"), BO_POSITIVE, &def.length));
    BO_TRY(bo_json_number(bo_json_must(&at, "radius"), BO_POSITIVE, &def.radius));
    BO_TRY(bo_json_number(bo_json_at(&at, "top_radius"), BO_NOT_NEGATIVE, &def.top_radius));
    BO_TRY(bo_json_number(bo_json_at(&at, "grading"), (bo_range){0.1, 10, false}, &def.grading));
    BO_TRY(read_rod_cells(at, &def));
    return mesh ? bo_json_explain(at, bough_mesh_generate_rod(at.ctx, &def, mesh)) : BOUGH_OK;
}

static bough_status read_voxels(bo_json at, bough_mesh **mesh) {
    double cell = 0;
    bough_mesh *surface = NULL;
    BO_TRY(bo_json_keys(at, BO_VOXELS_KEYS));
    BO_TRY(bo_json_number(bo_json_must(&at, "cell"), BO_POSITIVE, &cell));
    BO_TRY(bo_scene_mesh_transformed(at, "surface", BOUGH_VOLUME_REFUSE, mesh ? &surface : NULL));
    if (!mesh)
        return BOUGH_OK;
    bough_status status = bough_mesh_voxelize(at.ctx, surface, cell, mesh, NULL);
    bough_mesh_destroy(at.ctx, surface);
    return bo_json_explain(at, status);
}

static bough_status read_tets(bo_json at, bough_mesh **mesh) {
    static const char *const programs[] = {"gmsh", "tetgen"};
    int32_t program = -1;
    double max_edge = 0;
    bough_mesh *surface = NULL;
    BO_TRY(bo_json_keys(at, BO_TETS_KEYS));
    BO_TRY(bo_json_choice(bo_json_at(&at, "program"), programs, 2, &program));
    BO_TRY(bo_json_number(bo_json_at(&at, "max_edge"), BO_NOT_NEGATIVE, &max_edge));
    BO_TRY(bo_scene_mesh_transformed(at, "surface", BOUGH_VOLUME_REFUSE, mesh ? &surface : NULL));
    if (!mesh)
        return BOUGH_OK;
    bough_status status =
        bough_mesh_tetrahedralize(at.ctx, surface, program < 0 ? NULL : programs[program], max_edge, mesh);
    bough_mesh_destroy(at.ctx, surface);
    return bo_json_explain(at, status);
}

static bough_status read_generator(bo_json at, bough_mesh **mesh) {
    static const char *const words[] = {"box", "rod", "voxels", "tets"};
    static bough_status (*const readers[])(bo_json, bough_mesh **) = {read_box, read_rod, read_voxels, read_tets};
    int32_t choice = 0;
    BO_TRY(bo_json_choice(bo_json_must(&at, "generate"), words, 4, &choice));
    return readers[choice](at, mesh);
}

bough_status bo_scene_mesh(bo_json at, bough_mesh **mesh) {
    if (mesh)
        *mesh = NULL;
    if (json_is_string(at.value))
        return bo_scene_mesh_file(at, BOUGH_VOLUME_REFUSE, mesh);
    if (json_is_object(at.value) && bo_json_has(&at, "generate") && !bo_json_has(&at, "file"))
        return read_generator(at, mesh);
    if (json_is_object(at.value) && bo_json_has(&at, "file") == bo_json_has(&at, "generate"))
        return bo_json_fail(at, "needs either \"file\" or \"generate\"");
    return read_file_entry(at, mesh);
}

/* ---- selections and sets ---- */

bough_status bo_scene_select(bo_json at, const bough_mesh *mesh, int32_t **vertices, int32_t *count) {
    *vertices = NULL;
    *count = 0;
    const char *expression = NULL;
    BO_TRY(bo_json_string(at, &expression));
    return mesh ? bo_json_explain(at, bough_mesh_select(at.ctx, mesh, expression, vertices, count)) : BOUGH_OK;
}

/* Elements all of whose vertices are selected; *count of them, in *elements, to be freed with bo_free. */
static bough_status find_elements(bough_context *ctx, const bough_mesh *mesh, const int32_t *vertices,
                                  int32_t vertex_count, int32_t **elements, int32_t *count) {
    int32_t nodes = bough_element_node_count(mesh->type);
    char *chosen = BO_NEW_ZEROS(ctx, char, mesh->vertex_count);
    *elements = BO_NEW_ARRAY(ctx, int32_t, mesh->element_count);
    *count = 0;
    bough_status status = chosen && *elements ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < vertex_count && status == BOUGH_OK; i++)
        chosen[vertices[i]] = 1;
    for (int32_t e = 0; e < mesh->element_count && status == BOUGH_OK; e++) {
        bool all = true;
        for (int32_t i = 0; i < nodes; i++)
            all = all && chosen[bo_mesh_nodes(mesh, e)[i]];
        if (all)
            (*elements)[(*count)++] = e;
    }
    bo_free(ctx, chosen);
    return status;
}

static bough_status add_element_set(bo_json at, bough_mesh *mesh, const int32_t *vertices, int32_t vertex_count) {
    int32_t *elements, count;
    bough_status status = find_elements(at.ctx, mesh, vertices, vertex_count, &elements, &count);
    if (status == BOUGH_OK && count == 0)
        status =
            bo_json_fail(bo_json_at(&at, "elements"), "no element has all its vertices among these (%d)", vertex_count);
    else if (status == BOUGH_OK)
        status = bo_json_explain(at, bough_mesh_add_set(at.ctx, mesh, BOUGH_SET_ELEMENT, at.key, elements, count));
    bo_free(at.ctx, elements);
    return status;
}

static bough_status read_set(bo_json at, void *data) {
    bough_mesh *mesh = data;
    int32_t *vertices, count;
    if (!at.key[0])
        return bo_json_fail(at, "a set needs a name");
    BO_TRY(bo_json_keys(at, BO_SET_KEYS));
    bool of_elements = bo_json_has(&at, "elements");
    if (of_elements == bo_json_has(&at, "vertices"))
        return bo_json_fail(at, "needs either \"vertices\" or \"elements\"");
    if (mesh && bough_mesh_find_set(mesh, of_elements ? BOUGH_SET_ELEMENT : BOUGH_SET_VERTEX, at.key))
        return bo_json_fail(at, "the mesh has %s set of this name already", of_elements ? "an element" : "a vertex");
    BO_TRY(bo_scene_select(bo_json_at(&at, of_elements ? "elements" : "vertices"), mesh, &vertices, &count));
    if (!mesh)
        return BOUGH_OK;
    bough_status status =
        of_elements ? add_element_set(at, mesh, vertices, count)
                    : bo_json_explain(at, bough_mesh_add_set(at.ctx, mesh, BOUGH_SET_VERTEX, at.key, vertices, count));
    bo_free(at.ctx, vertices);
    return status;
}

bough_status bo_scene_sets(bo_json at, bough_mesh *mesh) {
    return bo_json_named(at, "sets", read_set, mesh);
}

static bough_status fail_set(bo_json at, const bough_mesh *mesh, bough_set_kind kind, const char *name) {
    static const char *const kinds[] = {"vertex", "face", "element"};
    const char **names = BO_NEW_ARRAY(at.ctx, const char *, mesh->set_count);
    if (!names)
        return BOUGH_ERROR_MEMORY;
    char list[400] = "";
    size_t used = 0;
    int32_t count = 0;
    for (int32_t i = 0; i < mesh->set_count; i++)
        if (mesh->sets[i].kind == kind) {
            names[count] = mesh->sets[i].name;
            if (used < sizeof list)
                used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", count ? ", " : "", names[count]);
            count++;
        }
    const char *nearest = bo_nearest_word(name, names, count);
    bo_free(at.ctx, names);
    if (nearest)
        return bo_json_fail(at, "the mesh has no %s set \"%.60s\"; did you mean \"%s\"?", kinds[kind], name, nearest);
    return bo_json_fail(at, "the mesh has no %s set \"%.60s\" (%s sets: %s)", kinds[kind], name, kinds[kind],
                        count ? list : "none");
}

bough_status bo_scene_find_set(bo_json at, const bough_mesh *mesh, bough_set_kind kind, const char *name,
                               const bough_set **set) {
    *set = bough_mesh_find_set(mesh, kind, name);
    return *set ? BOUGH_OK : fail_set(at, mesh, kind, name);
}
