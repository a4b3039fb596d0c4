#include "fem/body.h"

#include "mesh/mesh.h"

#include <string.h>

#define BODY_COOKIE 0xB0061011u

bough_body_def bough_default_body_def(void) {
    return (bough_body_def){.cookie = BODY_COOKIE, .material = bough_default_material(), .use_mesh_materials = true};
}

double bo_dot_n(int32_t n, const double *a, const double *b) {
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* ---- materials ---- */

static bough_status add_material(bough_context *ctx, bough_body *body, const bough_material *material,
                                 const char *set_name) {
    BO_TRY(bough_material_check(ctx, material));
    const bough_set *set = NULL;
    if (set_name && set_name[0]) {
        set = bough_mesh_find_set(body->mesh, BOUGH_SET_ELEMENT, set_name);
        if (!set)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the mesh has no element set \"%s\" to give a material to",
                           set_name);
    }
    int32_t index = body->material_count++; /* room for all was reserved */
    body->materials[index] = *material;
    body->elastic[index] = bo_elastic_of(material);
    body->density[index] = material->density;
    body->young[index] = material->young;
    int32_t count = set ? set->count : body->mesh->element_count;
    for (int32_t i = 0; i < count; i++)
        body->element_material[set ? set->items[i] : i] = index;
    return BOUGH_OK;
}

static bough_status assign_materials(bough_context *ctx, bough_body *body, const bough_body_def *def) {
    const bough_mesh *mesh = body->mesh;
    int32_t from_mesh = def->use_mesh_materials ? mesh->region_count : 0;
    size_t most = 1 + (size_t)from_mesh + (size_t)def->region_count;
    body->materials = BO_NEW_ARRAY(ctx, bough_material, most);
    body->elastic = BO_NEW_ARRAY(ctx, bo_elastic, most);
    body->density = BO_NEW_ARRAY(ctx, double, most);
    body->young = BO_NEW_ARRAY(ctx, double, most);
    body->element_material = BO_NEW_ZEROS(ctx, int32_t, mesh->element_count);
    if (!body->materials || !body->elastic || !body->density || !body->young || !body->element_material)
        return BOUGH_ERROR_MEMORY;
    BO_TRY(add_material(ctx, body, &def->material, NULL));
    for (int32_t i = 0; i < from_mesh; i++) {
        const bough_mesh_material *from = &mesh->materials[mesh->regions[i].material];
        bough_material material = def->material;
        if (from->young > 0)
            material.young = from->young, material.poisson = from->poisson;
        if (from->density > 0)
            material.density = from->density;
        BO_TRY(add_material(ctx, body, &material, mesh->regions[i].set));
    }
    for (int32_t i = 0; i < def->region_count; i++)
        BO_TRY(add_material(ctx, body, &def->regions[i].material, def->regions[i].set));
    return BOUGH_OK;
}

/* ---- geometry ---- */

static bough_status measure_points(bough_context *ctx, bough_body *body) {
    const bough_mesh *mesh = body->mesh;
    const bo_rule *rule = body->rule = bo_rule_of(mesh->type, BO_RULE_STIFFNESS);
    size_t points = (size_t)rule->point_count;
    body->geometry = BO_NEW_ARRAY(ctx, bo_point_geometry, points * (size_t)mesh->element_count);
    if (!body->geometry)
        return BOUGH_ERROR_MEMORY;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const int32_t *nodes = bo_mesh_nodes(mesh, e);
        for (size_t q = 0; q < points; q++) {
            bo_mat3 J = bo_rule_gradient(rule, (int32_t)q, mesh->vertices, nodes);
            double det = bo_det(J);
            if (!(det > 0))
                return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                               "element %d (counted from 0) is inverted or folded: its Jacobian is %g", e, det);
            bo_point_geometry *g = &body->geometry[points * (size_t)e + q];
            bo_mat3 inverse = bo_inverse(J);
            memcpy(g->inverse, inverse.m, sizeof g->inverse);
            g->weight = rule->weight[q] * det;
        }
    }
    return BOUGH_OK;
}

double bo_body_volume(const bough_body *body) {
    size_t points = (size_t)body->rule->point_count * (size_t)body->mesh->element_count;
    double volume = 0;
    for (size_t i = 0; i < points; i++)
        volume += body->geometry[i].weight;
    return volume;
}

static bough_status copy_mesh(bough_context *ctx, const bough_mesh *mesh, bough_mesh **copy) {
    BO_TRY(bough_mesh_create(ctx, mesh->type, mesh->vertex_count, mesh->vertices, mesh->element_count, mesh->elements,
                             copy));
    return bo_mesh_copy_annotations(ctx, mesh, *copy);
}

static void mark_used(bough_context *ctx, bough_body *body) {
    const bough_mesh *mesh = body->mesh;
    size_t entries = (size_t)mesh->element_count * (size_t)bough_element_node_count(mesh->type);
    int32_t unused = mesh->vertex_count;
    for (size_t i = 0; i < entries; i++) {
        unused -= !body->used[mesh->elements[i]];
        body->used[mesh->elements[i]] = 1;
    }
    if (unused)
        bo_warn(ctx, "%d vertices of the mesh are in no element: they stay at rest and carry no load", unused);
}

static bough_status build(bough_context *ctx, const bough_mesh *mesh, const bough_body_def *def, bough_body *body) {
    BO_TRY(copy_mesh(ctx, mesh, &body->mesh));
    BO_TRY(bough_mesh_check(ctx, body->mesh));
    BO_TRY(assign_materials(ctx, body, def));
    BO_TRY(measure_points(ctx, body));
    BO_TRY(bo_pattern_create(ctx, body->mesh, &body->pattern));
    body->used = BO_NEW_ZEROS(ctx, unsigned char, body->mesh->vertex_count);
    if (!body->used)
        return BOUGH_ERROR_MEMORY;
    mark_used(ctx, body);
    return bough_load_case_create(ctx, body, &body->free_case);
}

static bough_status check_def(bough_context *ctx, const bough_mesh *mesh, const bough_body_def *def) {
    if (def->cookie != BODY_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the body def was not made by bough_default_body_def()");
    if (mesh->type == BOUGH_TRI3)
        return bo_fail(
            ctx, BOUGH_ERROR_ARGUMENT,
            "a body needs a volume mesh, but this is a surface; fill it first: bough mesh generate voxels or tets");
    if (mesh->element_count == 0)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a body needs at least one element");
    if ((int)def->mass < BOUGH_MASS_CONSISTENT || def->mass > BOUGH_MASS_LUMPED || def->region_count < 0)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the body def has a mass kind or region count that does not exist");
    if (!(def->damping_mass >= 0 && def->damping_stiffness >= 0) ||
        !isfinite(def->damping_mass + def->damping_stiffness))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "Rayleigh damping constants must not be negative");
    return BOUGH_OK;
}

bough_status bough_body_create(bough_context *ctx, const bough_mesh *mesh, const bough_body_def *def,
                               bough_body **out) {
    *out = NULL;
    bough_body_def defaults = bough_default_body_def();
    def = def ? def : &defaults;
    BO_TRY(check_def(ctx, mesh, def));
    bough_body *body = BO_NEW(ctx, bough_body);
    if (!body)
        return BOUGH_ERROR_MEMORY;
    body->def = *def;
    body->def.regions = NULL;
    body->def.region_count = 0;
    bough_status status = build(ctx, mesh, def, body);
    if (status != BOUGH_OK) {
        bough_body_destroy(ctx, body);
        return status;
    }
    *out = body;
    return BOUGH_OK;
}

void bough_body_destroy(bough_context *ctx, bough_body *body) {
    if (!body)
        return;
    bough_load_case_destroy(ctx, body->free_case);
    bough_mesh_destroy(ctx, body->mesh);
    bo_pattern_destroy(ctx, body->pattern);
    bo_free(ctx, body->materials);
    bo_free(ctx, body->elastic);
    bo_free(ctx, body->density);
    bo_free(ctx, body->young);
    bo_free(ctx, body->element_material);
    bo_free(ctx, body->geometry);
    bo_free(ctx, body->used);
    bo_free(ctx, body);
}

const bough_mesh *bough_body_mesh(const bough_body *body) {
    return body->mesh;
}

bough_status bough_body_matrix_create(bough_context *ctx, const bough_body *body, bough_sparse **matrix) {
    return bo_sparse_create_like(ctx, body->pattern->matrix, matrix);
}
