#include "scene/bodies_file.h"

#include "base/file.h"
#include "mesh/mesh.h"
#include "scene/mechanism_scene.h"

#include <stdio.h>
#include <string.h>

enum { MOST_BODIES = 1000, LONGEST_NAME = 200 };

bool bo_has_full_bodies(const bo_json *root) {
    bo_json bodies = bo_json_at(root, "bodies");
    if (!json_is_array(bodies.value) || json_array_size(bodies.value) == 0)
        return false;
    bo_json first = bo_json_item(&bodies, 0);
    return bo_json_has(&first, "mesh");
}

/* ---- one body ---- */

typedef struct {
    const char *name;
    bo_se3 pose;
    double velocity[3], spin[3];
    bough_material material;
} full_body;

/* Dots part the names of bodies and sets, and a name should do in selections as it is. */
static bough_status read_name(bo_json at, json_t *names, int32_t index, const char **name) {
    char *copy = NULL;
    const bough_status status = bo_json_add_name(at, "body", names, index, &copy);
    bo_free(at.ctx, copy);
    BO_TRY(status);
    BO_TRY(bo_json_string(at, name));
    if (strlen(*name) > LONGEST_NAME)
        return bo_json_fail(at, "is longer than %d letters", LONGEST_NAME);
    for (const char *c = *name; *c; c++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", *c))
            return bo_json_fail(
                at, "has \"%c\" in it; names of bodies are letters, digits, _ and -, since selections use them", *c);
    return strcmp(*name, "all") != 0 ? BOUGH_OK : bo_json_fail(at, "\"all\" selects all bodies; take another name");
}

static bough_status read_body(bo_json at, json_t *names, int32_t index, full_body *body) {
    BO_TRY(bo_json_keys(at, BO_FULL_BODY_KEYS));
    BO_TRY(read_name(bo_json_must(&at, "name"), names, index, &body->name));
    body->pose = bo_se3_identity();
    BO_TRY(bo_scene_pose(&at, &body->pose));
    BO_TRY(bo_json_vec3(bo_json_at(&at, "velocity"), BO_ANY, body->velocity));
    BO_TRY(bo_json_vec3(bo_json_at(&at, "spin"), BO_ANY, body->spin));
    BO_TRY(bo_scene_material(bo_json_at(&at, "material"), &body->material));
    BO_TRY(bo_scene_mesh(bo_json_must(&at, "mesh"), NULL));
    return bo_scene_sets(bo_json_at(&at, "sets"), NULL);
}

/* Calls `visit` for each body in turn. */
typedef bough_status (*on_body)(bo_json at, int32_t index, const full_body *body, void *data);
static bough_status for_each(bo_json at, const bough_material *material, on_body visit, void *data) {
    int32_t count;
    BO_TRY(bo_json_list(at, &count));
    if (count > MOST_BODIES)
        return bo_json_fail(at, "%d bodies are too many; %d is the limit", count, MOST_BODIES);
    json_t *names = json_object();
    bough_status status = names ? BOUGH_OK : bo_fail_memory(at.ctx);
    for (int32_t i = 0; i < count && status == BOUGH_OK; i++) {
        full_body body = {.material = *material};
        status = read_body(bo_json_item(&at, i), names, i, &body);
        if (status == BOUGH_OK)
            status = visit(bo_json_item(&at, i), i, &body, data);
    }
    json_decref(names);
    return status;
}

/* ---- the joined mesh ---- */

typedef struct {
    bough_mesh **meshes; /* of each body, placed; NULL: none are made */
    bough_body_region *regions;
} gathering;

static bough_status gather_body(bo_json at, int32_t index, const full_body *body, void *data) {
    gathering *g = data;
    g->regions[index] = (bough_body_region){.set = body->name, .material = body->material};
    if (!g->meshes)
        return BOUGH_OK;
    BO_TRY(bo_scene_mesh(bo_json_at(&at, "mesh"), &g->meshes[index]));
    bough_mesh *mesh = g->meshes[index];
    BO_TRY(bo_scene_sets(bo_json_at(&at, "sets"), mesh));
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        double *x = mesh->vertices + 3 * (size_t)v;
        bo_store3(x, bo_add(body->pose.t, bo_mat_vec(body->pose.R, bo_load3(x))));
    }
    if (mesh->type != g->meshes[0]->type)
        return bo_json_fail(bo_json_at(&at, "mesh"),
                            "has other elements than the mesh of the first body; bodies of one "
                            "scene need elements of one type");
    return BOUGH_OK;
}

static bough_status add_range(bough_context *ctx, bough_mesh *mesh, bough_set_kind kind, const char *name,
                              int32_t first, int32_t count) {
    int32_t *items = BO_NEW_ARRAY(ctx, int32_t, count);
    if (!items)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < count; i++)
        items[i] = first + i;
    const bough_status status = bough_mesh_add_set(ctx, mesh, kind, name, items, count);
    bo_free(ctx, items);
    return status;
}

/* A set of one body's mesh becomes NAME.SET. */
static bough_status add_set(bough_context *ctx, bough_mesh *all, const char *body, const bough_set *set,
                            int32_t first_vertex, int32_t first_element) {
    const int32_t shift = set->kind == BOUGH_SET_VERTEX ? first_vertex
                          : set->kind == BOUGH_SET_FACE ? first_element * bough_element_face_count(all->type)
                                                        : first_element;
    const size_t length = strlen(body) + strlen(set->name) + 2;
    char *name = BO_NEW_ARRAY(ctx, char, length);
    int32_t *items = BO_NEW_ARRAY(ctx, int32_t, set->count);
    bough_status status = name && items ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < set->count && status == BOUGH_OK; i++)
        items[i] = set->items[i] + shift;
    if (status == BOUGH_OK) {
        snprintf(name, length, "%s.%s", body, set->name);
        status = bough_mesh_add_set(ctx, all, set->kind, name, items, set->count);
    }
    bo_free(ctx, name);
    bo_free(ctx, items);
    return status;
}

static bough_status add_sets(bough_context *ctx, int32_t count, const gathering *g, bough_mesh *all) {
    int32_t vertex = 0, element = 0;
    for (int32_t i = 0; i < count; i++) {
        const bough_mesh *mesh = g->meshes[i];
        const char *name = g->regions[i].set;
        BO_TRY(add_range(ctx, all, BOUGH_SET_VERTEX, name, vertex, mesh->vertex_count));
        BO_TRY(add_range(ctx, all, BOUGH_SET_ELEMENT, name, element, mesh->element_count));
        for (int32_t s = 0; s < mesh->set_count; s++)
            BO_TRY(add_set(ctx, all, name, &mesh->sets[s], vertex, element));
        vertex += mesh->vertex_count, element += mesh->element_count;
    }
    return BOUGH_OK;
}

static bough_status join(bo_json at, int32_t count, const gathering *g, bough_mesh **out) {
    bough_context *ctx = at.ctx;
    int64_t vertices = 0, elements = 0;
    const int32_t nodes = bough_element_node_count(g->meshes[0]->type);
    for (int32_t i = 0; i < count; i++)
        vertices += g->meshes[i]->vertex_count, elements += g->meshes[i]->element_count;
    if (vertices > INT32_MAX / 16 || elements > INT32_MAX / 16)
        return bo_json_fail(at, "have more vertices or elements than one scene can have");
    double *x = BO_NEW_ARRAY(ctx, double, 3 * (size_t)vertices);
    int32_t *corners = BO_NEW_ARRAY(ctx, int32_t, (size_t)elements * (size_t)nodes);
    bough_status status = x && corners ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    size_t v = 0, c = 0;
    for (int32_t i = 0; i < count && status == BOUGH_OK; i++) {
        const bough_mesh *mesh = g->meshes[i];
        const size_t own = (size_t)mesh->element_count * (size_t)nodes;
        memcpy(x + 3 * v, mesh->vertices, 3 * (size_t)mesh->vertex_count * sizeof *x);
        for (size_t k = 0; k < own; k++)
            corners[c + k] = mesh->elements[k] + (int32_t)v;
        v += (size_t)mesh->vertex_count, c += own;
    }
    if (status == BOUGH_OK)
        status = bough_mesh_create(ctx, g->meshes[0]->type, (int32_t)vertices, x, (int32_t)elements, corners, out);
    if (status == BOUGH_OK)
        status = add_sets(ctx, count, g, *out);
    bo_free(ctx, x);
    bo_free(ctx, corners);
    return bo_json_explain(at, status);
}

bough_status bo_scene_bodies(bo_json at, const bough_material *material, bough_body_region **regions, int32_t *count,
                             bough_mesh **mesh) {
    BO_TRY(bo_json_list(at, count));
    gathering g = {.regions = BO_NEW_ZEROS(at.ctx, bough_body_region, *count),
                   .meshes = mesh ? BO_NEW_ZEROS(at.ctx, bough_mesh *, *count) : NULL};
    *regions = g.regions;
    bough_status status = g.regions && (!mesh || g.meshes) ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK)
        status = for_each(at, material, gather_body, &g);
    if (status == BOUGH_OK && mesh)
        status = join(at, *count, &g, mesh);
    for (int32_t i = 0; g.meshes && i < *count; i++)
        bough_mesh_destroy(at.ctx, g.meshes[i]);
    bo_free(at.ctx, g.meshes);
    return status;
}

/* ---- the start ---- */

typedef struct {
    const bough_mesh *mesh;
    double *velocity;
} throwing;

static bough_status throw_body(bo_json at, int32_t index, const full_body *body, void *data) {
    const throwing *s = data;
    const bough_set *set = bough_mesh_find_set(s->mesh, BOUGH_SET_VERTEX, body->name);
    (void)at, (void)index;
    for (int32_t i = 0; i < set->count; i++) {
        const size_t v = 3 * (size_t)set->items[i];
        const bo_vec3 arm = bo_sub(bo_load3(s->mesh->vertices + v), body->pose.t);
        bo_store3(s->velocity + v, bo_add(bo_load3(body->velocity), bo_cross(bo_load3(body->spin), arm)));
    }
    return BOUGH_OK;
}

bough_status bo_scene_bodies_throw(bo_json at, const bough_mesh *mesh, double *velocity) {
    throwing s = {mesh, velocity};
    const bough_material any = bough_default_material();
    return for_each(at, &any, throw_body, &s);
}

/* ---- pieces ---- */

typedef struct {
    const bough_mesh *mesh;
    bo_body_piece *pieces;
} listing;

static bough_status list_body(bo_json at, int32_t index, const full_body *body, void *data) {
    const listing *s = data;
    const bough_set *set = bough_mesh_find_set(s->mesh, BOUGH_SET_VERTEX, body->name);
    s->pieces[index] = (bo_body_piece){bo_strdup(at.ctx, body->name), set->items[0], set->count};
    return s->pieces[index].name ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

bough_status bo_scene_bodies_list(bo_json at, const bough_mesh *mesh, int32_t *count, bo_body_piece **pieces) {
    int32_t bodies;
    BO_TRY(bo_json_list(at, &bodies));
    listing s = {mesh, BO_NEW_ZEROS(at.ctx, bo_body_piece, bodies)};
    if (!s.pieces)
        return BOUGH_ERROR_MEMORY;
    *pieces = s.pieces, *count = bodies;
    const bough_material any = bough_default_material();
    return for_each(at, &any, list_body, &s);
}

void bo_body_pieces_free(bough_context *ctx, int32_t count, bo_body_piece *pieces) {
    for (int32_t i = 0; i < count; i++)
        bo_free(ctx, pieces[i].name);
    bo_free(ctx, pieces);
}
