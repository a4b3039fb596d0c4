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
    size_t n = (size_t)bo_body_size(body);
    body->used = BO_NEW_ZEROS(ctx, unsigned char, n / 3);
    body->fixed = BO_NEW_ARRAY(ctx, unsigned char, n);
    body->prescribed = BO_NEW_ARRAY(ctx, double, n);
    body->point_force = BO_NEW_ZEROS(ctx, double, n);
    body->block_energy = BO_NEW_ARRAY(ctx, double, body->pattern->block_count);
    body->block_failed = BO_NEW_ARRAY(ctx, unsigned char, body->pattern->block_count);
    if (!body->used || !body->fixed || !body->prescribed || !body->point_force || !body->block_energy ||
        !body->block_failed)
        return BOUGH_ERROR_MEMORY;
    mark_used(ctx, body);
    bough_body_clear_supports(body);
    return BOUGH_OK;
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
    bough_mesh_destroy(ctx, body->mesh);
    bo_pattern_destroy(ctx, body->pattern);
    bo_free(ctx, body->materials);
    bo_free(ctx, body->elastic);
    bo_free(ctx, body->density);
    bo_free(ctx, body->young);
    bo_free(ctx, body->element_material);
    bo_free(ctx, body->geometry);
    bo_free(ctx, body->used);
    bo_free(ctx, body->fixed);
    bo_free(ctx, body->prescribed);
    bo_free(ctx, body->point_force);
    bo_free(ctx, body->pressure);
    bo_free(ctx, body->block_energy);
    bo_free(ctx, body->block_failed);
    bo_free(ctx, body);
}

const bough_mesh *bough_body_mesh(const bough_body *body) {
    return body->mesh;
}

bough_status bough_body_matrix_create(bough_context *ctx, const bough_body *body, bough_sparse **matrix) {
    return bo_sparse_create_like(ctx, body->pattern->matrix, matrix);
}

/* ---- supports ---- */

static bough_status check_vertices(bough_context *ctx, const bough_body *body, const int32_t *vertices, int32_t count) {
    if (count < 1)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "no vertices were given");
    for (int32_t i = 0; i < count; i++)
        if (vertices[i] < 0 || vertices[i] >= body->mesh->vertex_count)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "vertex %d does not exist: the mesh has %d vertices", vertices[i],
                           body->mesh->vertex_count);
    return BOUGH_OK;
}

static bough_status check_vector(bough_context *ctx, const char *what, const double v[3]) {
    if (!isfinite(v[0]) || !isfinite(v[1]) || !isfinite(v[2]))
        return bo_fail(ctx, BOUGH_NOT_FINITE, "%s is not finite", what);
    return BOUGH_OK;
}

bough_status bough_body_fix(bough_context *ctx, bough_body *body, const int32_t *vertices, int32_t count, int axes,
                            const double displacement[3]) {
    BO_TRY(check_vertices(ctx, body, vertices, count));
    if (axes < 1 || axes > BOUGH_AXES)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "axes to fix must be a sum of x = 1, y = 2, z = 4");
    if (displacement)
        BO_TRY(check_vector(ctx, "a prescribed displacement", displacement));
    for (int32_t i = 0; i < count; i++)
        for (int d = 0; d < 3; d++)
            if (axes >> d & 1) {
                size_t dof = 3 * (size_t)vertices[i] + (size_t)d;
                body->fixed_count += !body->fixed[dof];
                body->fixed[dof] = 1;
                body->prescribed[dof] = displacement ? displacement[d] : 0;
            }
    return BOUGH_OK;
}

void bough_body_clear_supports(bough_body *body) {
    size_t n = (size_t)bo_body_size(body);
    memset(body->prescribed, 0, n * sizeof *body->prescribed);
    body->fixed_count = 0;
    for (size_t i = 0; i < n; i++) {
        body->fixed[i] = !body->used[i / 3]; /* nothing else would hold a vertex in no element */
        body->fixed_count += body->fixed[i];
    }
}

/* ---- loads ---- */

bough_status bough_body_set_gravity(bough_context *ctx, bough_body *body, const double gravity[3]) {
    BO_TRY(check_vector(ctx, "gravity", gravity));
    memcpy(body->gravity, gravity, sizeof body->gravity);
    return BOUGH_OK;
}

/* Share of each vertex in a uniform traction on the boundary faces spanned by the marked vertices. A straight
 * 6-node triangle gives nothing to its corners and a third to each edge node; corners of 3- and 4-node faces share
 * evenly (exact for triangles and parallelograms). Returns the sum (the area), 0 when no face is spanned. */
static bough_status traction_shares(bough_context *ctx, const bough_body *body, const unsigned char *marked,
                                    double *share, double *total) {
    const bough_mesh *mesh = body->mesh;
    const bo_element_info *info = bo_element_info_of(mesh->type);
    int32_t *neighbours, nonmanifold;
    BO_TRY(bo_mesh_face_neighbours(ctx, mesh, &neighbours, &nonmanifold));
    *total = 0;
    for (int32_t face = 0; face < mesh->element_count * info->face_count; face++) {
        int32_t local[6], count = bo_element_face_nodes(mesh->type, face % info->face_count, local);
        const int32_t *nodes = bo_mesh_nodes(mesh, face / info->face_count);
        bool spanned = neighbours[face] < 0;
        for (int32_t i = 0; i < info->face_corner_count && spanned; i++)
            spanned = marked[nodes[local[i]]];
        if (!spanned)
            continue;
        bo_vec3 x[4];
        for (int32_t i = 0; i < info->face_corner_count; i++)
            x[i] = bo_load3(mesh->vertices + 3 * (size_t)nodes[local[i]]);
        /* Half the cross product of the diagonals (edges) is the area vector. */
        bo_vec3 area = info->face_corner_count == 4 ? bo_cross(bo_sub(x[2], x[0]), bo_sub(x[3], x[1]))
                                                    : bo_cross(bo_sub(x[1], x[0]), bo_sub(x[2], x[0]));
        double A = 0.5 * bo_norm(area);
        int32_t first = count == 6 ? 3 : 0;
        for (int32_t i = first; i < count; i++)
            share[nodes[local[i]]] += A / (count - first);
        *total += A;
    }
    bo_free(ctx, neighbours);
    return BOUGH_OK;
}

bough_status bo_body_share_force(bough_context *ctx, const bough_body *body, const int32_t *vertices, int32_t count,
                                 const double force[3], double *out) {
    BO_TRY(check_vertices(ctx, body, vertices, count));
    BO_TRY(check_vector(ctx, "a force", force));
    size_t n = (size_t)body->mesh->vertex_count;
    unsigned char *marked = BO_NEW_ZEROS(ctx, unsigned char, n);
    double *share = BO_NEW_ZEROS(ctx, double, n);
    double total = 0;
    bough_status status = marked && share ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK) {
        for (int32_t i = 0; i < count; i++)
            marked[vertices[i]] = body->used[vertices[i]];
        status = traction_shares(ctx, body, marked, share, &total);
    }
    if (status == BOUGH_OK) {
        if (total == 0)
            for (size_t v = 0; v < n; v++) {
                share[v] = marked[v];
                total += share[v];
            }
        if (total == 0)
            status = bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                             "a force acts on vertices that are in no element, vertex %d for one", vertices[0]);
    }
    if (status == BOUGH_OK)
        for (size_t v = 0; v < n; v++)
            for (size_t d = 0; d < 3; d++)
                out[3 * v + d] += share[v] / total * force[d];
    bo_free(ctx, marked);
    bo_free(ctx, share);
    return status;
}

bough_status bough_body_add_force(bough_context *ctx, bough_body *body, const int32_t *vertices, int32_t count,
                                  const double force[3]) {
    return bo_body_share_force(ctx, body, vertices, count, force, body->point_force);
}

bough_status bough_body_add_pressure(bough_context *ctx, bough_body *body, const int32_t *faces, int32_t count,
                                     double pressure) {
    int32_t limit = body->mesh->element_count * bough_element_face_count(body->mesh->type);
    for (int32_t i = 0; i < count; i++)
        if (faces[i] < 0 || faces[i] >= limit)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "face %d does not exist", faces[i]);
    if (!isfinite(pressure) || count < 1)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a pressure needs a finite value and at least one face");
    if (!BO_RESERVE(ctx, body->pressure, body->pressure_capacity, body->pressure_count + (size_t)count))
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < count; i++)
        body->pressure[body->pressure_count++] = (bo_pressure_face){faces[i], pressure};
    return BOUGH_OK;
}

void bough_body_clear_loads(bough_body *body) {
    memset(body->gravity, 0, sizeof body->gravity);
    memset(body->point_force, 0, (size_t)bo_body_size(body) * sizeof *body->point_force);
    body->pressure_count = 0;
}
