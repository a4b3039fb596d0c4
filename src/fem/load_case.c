/* Load cases: how a body is held, and what acts on it. */
#include "fem/body.h"

#include "mesh/mesh.h"

#include <string.h>

bough_status bough_load_case_create(bough_context *ctx, const bough_body *body, bough_load_case **out) {
    *out = NULL;
    const size_t n = (size_t)bo_body_size(body);
    bough_load_case *load_case = BO_NEW(ctx, bough_load_case);
    if (!load_case)
        return BOUGH_ERROR_MEMORY;
    load_case->body = body;
    load_case->fixed = BO_NEW_ARRAY(ctx, unsigned char, n);
    load_case->prescribed = BO_NEW_ZEROS(ctx, double, n);
    load_case->point_force = BO_NEW_ZEROS(ctx, double, n);
    if (!load_case->fixed || !load_case->prescribed || !load_case->point_force) {
        bough_load_case_destroy(ctx, load_case);
        return BOUGH_ERROR_MEMORY;
    }
    for (size_t i = 0; i < n; i++) {
        load_case->fixed[i] = !body->used[i / 3]; /* nothing else would hold a vertex in no element */
        load_case->fixed_count += load_case->fixed[i];
    }
    *out = load_case;
    return BOUGH_OK;
}

void bough_load_case_destroy(bough_context *ctx, bough_load_case *load_case) {
    if (!load_case)
        return;
    bo_free(ctx, load_case->fixed);
    bo_free(ctx, load_case->prescribed);
    bo_free(ctx, load_case->point_force);
    bo_free(ctx, load_case->pressure);
    bo_free(ctx, load_case);
}

const bough_body *bough_load_case_body(const bough_load_case *load_case) {
    return load_case->body;
}

bough_status bo_load_case_of(bough_context *ctx, const bough_body *body, const bough_load_case *load_case,
                             const bough_load_case **used) {
    *used = load_case ? load_case : body->free_case;
    return (*used)->body == body ? BOUGH_OK
                                 : bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the load case was made for another body");
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

bough_status bough_load_case_fix(bough_context *ctx, bough_load_case *load_case, const int32_t *vertices, int32_t count,
                                 int axes, const double displacement[3]) {
    BO_TRY(check_vertices(ctx, load_case->body, vertices, count));
    if (axes < 1 || axes > BOUGH_AXES)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "axes to fix must be a sum of x = 1, y = 2, z = 4");
    if (displacement)
        BO_TRY(check_vector(ctx, "a prescribed displacement", displacement));
    for (int32_t i = 0; i < count; i++)
        for (int d = 0; d < 3; d++)
            if (axes >> d & 1) {
                size_t dof = 3 * (size_t)vertices[i] + (size_t)d;
                load_case->fixed_count += !load_case->fixed[dof];
                load_case->fixed[dof] = 1;
                load_case->prescribed[dof] = displacement ? displacement[d] : 0;
            }
    return BOUGH_OK;
}

/* ---- loads ---- */

bough_status bough_load_case_set_gravity(bough_context *ctx, bough_load_case *load_case, const double gravity[3]) {
    BO_TRY(check_vector(ctx, "gravity", gravity));
    memcpy(load_case->gravity, gravity, sizeof load_case->gravity);
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

bough_status bough_load_case_add_force(bough_context *ctx, bough_load_case *load_case, const int32_t *vertices,
                                       int32_t count, const double force[3]) {
    return bo_body_share_force(ctx, load_case->body, vertices, count, force, load_case->point_force);
}

bough_status bough_load_case_add_pressure(bough_context *ctx, bough_load_case *load_case, const int32_t *faces,
                                          int32_t count, double pressure) {
    const bough_mesh *mesh = load_case->body->mesh;
    int32_t limit = mesh->element_count * bough_element_face_count(mesh->type);
    for (int32_t i = 0; i < count; i++)
        if (faces[i] < 0 || faces[i] >= limit)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "face %d does not exist", faces[i]);
    if (!isfinite(pressure) || count < 1)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a pressure needs a finite value and at least one face");
    if (!BO_RESERVE(ctx, load_case->pressure, load_case->pressure_capacity, load_case->pressure_count + (size_t)count))
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < count; i++)
        load_case->pressure[load_case->pressure_count++] = (bo_pressure_face){faces[i], pressure};
    return BOUGH_OK;
}

/* ---- forces ---- */

void bo_load_case_dead_loads(const bough_load_case *load_case, const double gravity[3], double *force) {
    memcpy(force, load_case->point_force, (size_t)bo_body_size(load_case->body) * sizeof *force);
    if (gravity[0] != 0 || gravity[1] != 0 || gravity[2] != 0)
        bo_body_gravity_force(load_case->body, gravity, force);
}

void bough_load_case_forces(const bough_load_case *load_case, const double *u, double *force) {
    bo_load_case_dead_loads(load_case, load_case->gravity, force);
    bo_body_pressure_force(load_case->body, load_case->pressure_count, load_case->pressure, u, force);
}
