/* Parts in full order: made, and as joints see them. */
#include "twin/twin.h"

#include "mesh/mesh.h"

#include <string.h>

/* ---- interfaces ---- */

/* Shift of the centre sum w u, and change of A sum w u d^T / radius^2. */
static void gather(const bough_full_part *part, int32_t interface_index, const double *u, double face[BO_MB_FACE]) {
    const bo_twin *twin = (const bo_twin *)part;
    const bo_twin_face *f = &twin->faces[interface_index];
    memset(face, 0, BO_MB_FACE * sizeof *face);
    for (int32_t k = 0; k < f->count; k++)
        for (int i = 0; i < 3; i++) {
            const double x = f->weights[k] * u[3 * (size_t)f->vertices[k] + (size_t)i];
            face[i] += x;
            face[3 + 3 * i] += x * f->arms[k].x;
            face[4 + 3 * i] += x * f->arms[k].y;
            face[5 + 3 * i] += x * f->arms[k].z;
        }
}

static void spread(const bough_full_part *part, int32_t interface_index, const double face[BO_MB_FACE], double *rows) {
    const bo_twin *twin = (const bo_twin *)part;
    const bo_twin_face *f = &twin->faces[interface_index];
    for (int32_t k = 0; k < f->count; k++)
        for (int i = 0; i < 3; i++)
            if (!twin->held[3 * (size_t)f->vertices[k]])
                rows[3 * (size_t)f->vertices[k] + (size_t)i] +=
                    f->weights[k] * (face[i] + bo_dot(bo_load3(face + 3 + 3 * i), f->arms[k]));
}

static void hold(const bough_full_part *part, double *rows) {
    const bo_twin *twin = (const bo_twin *)part;
    for (int32_t i = 0; i < part->size; i++)
        if (twin->held[i])
            rows[i] = 0;
}

/* ---- stress ---- */

static bool stress(const bough_full_part *part, const double *u, int32_t element, double out[6]) {
    const bo_twin *twin = (const bo_twin *)part;
    return bo_body_try_stress(twin->body, element, u, out);
}

static bo_vec3 centre(const bough_full_part *part, int32_t element) {
    const bo_twin *twin = (const bo_twin *)part;
    const int32_t n = bough_element_node_count(twin->body->mesh->type);
    const int32_t *nodes = bo_mesh_nodes(twin->body->mesh, element);
    bo_vec3 sum = {0, 0, 0};
    for (int32_t k = 0; k < n; k++)
        sum = bo_mul_add(sum, 1.0 / n, twin->X[nodes[k]]);
    return sum;
}

/* ---- scratch ---- */

static void end(bough_context *ctx, void *scratch) {
    bo_twin_work *w = scratch;
    if (!w)
        return;
    bo_factor_destroy(ctx, w->factor);
    bough_sparse_destroy(ctx, w->K);
    bough_sparse_destroy(ctx, w->A);
    void *const blocks[] = {w->y, w->inertia, w->a, w->b, w->columns, w->D, w->z};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        bo_free(ctx, blocks[i]);
    bo_free(ctx, w);
}

static bough_status begin(bough_context *ctx, const bough_full_part *part, void **scratch) {
    const bo_twin *twin = (const bo_twin *)part;
    const size_t n = (size_t)twin->vertex_count, size = 3 * n, columns = 6 + (size_t)bo_mb_full_seen(part);
    bo_twin_work *w = *scratch = BO_NEW(ctx, bo_twin_work);
    if (!w)
        return BOUGH_ERROR_MEMORY;
    w->ctx = ctx, w->twin = twin;
    BO_TRY(bough_body_matrix_create(ctx, twin->body, &w->K));
    BO_TRY(bough_body_matrix_create(ctx, twin->body, &w->A));
    BO_TRY(bo_factor_analyse(ctx, w->A, 3, twin->held, &w->factor));
    w->y = BO_NEW_ARRAY(ctx, bo_vec3, n);
    w->inertia = BO_NEW_ARRAY(ctx, bo_vec3, n);
    w->a = BO_NEW_ARRAY(ctx, bo_vec3, n);
    w->b = BO_NEW_ARRAY(ctx, bo_vec3, n);
    w->columns = BO_NEW_ARRAY(ctx, double, columns *size);
    w->D = BO_NEW_ARRAY(ctx, double, 6 * size);
    w->z = BO_NEW_ARRAY(ctx, double, size);
    return w->y && w->inertia && w->a && w->b && w->columns && w->D && w->z ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

const bo_mb_full_kind bo_twin_kind = {.begin = begin,
                                      .end = end,
                                      .gather = gather,
                                      .spread = spread,
                                      .hold = hold,
                                      .measure = bo_twin_measure,
                                      .forces = bo_twin_forces,
                                      .factor = bo_twin_factor,
                                      .solve = bo_twin_solve,
                                      .correct = bo_twin_correct,
                                      .stress = stress,
                                      .centre = centre,
                                      .destroy = bough_full_part_destroy};

/* ---- making ---- */

static bough_status check_match(bough_context *ctx, const bough_mesh *mesh, const bough_component *c) {
    if (c->support != BOUGH_SUPPORT_INTERFACE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the component of a part in full order must hang by an interface");
    for (int32_t i = 0; i < c->interface_count; i++)
        for (int32_t k = 0; k < c->interfaces[i].vertex_count; k++)
            if (c->interfaces[i].vertices[k] >= mesh->vertex_count)
                return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                               "interface \"%s\" has vertices that the mesh of the part in full order does not have",
                               c->interfaces[i].name);
    return BOUGH_OK;
}

static bough_status make_faces(bough_context *ctx, bo_twin *twin) {
    const bough_component *c = twin->component;
    if (!(twin->faces = BO_NEW_ZEROS(ctx, bo_twin_face, c->interface_count)))
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < c->interface_count; i++) {
        const bough_interface *from = &c->interfaces[i];
        bo_twin_face *f = &twin->faces[i];
        *f = (bo_twin_face){.count = from->vertex_count, .vertices = from->vertices, .weights = from->weights};
        if (!(f->arms = BO_NEW_ARRAY(ctx, bo_vec3, f->count)))
            return BOUGH_ERROR_MEMORY;
        const double scale = 1 / (from->radius * from->radius);
        for (int32_t k = 0; k < f->count; k++)
            f->arms[k] = bo_scale(scale, bo_sub(twin->X[f->vertices[k]], bo_load3(from->centre)));
    }
    return BOUGH_OK;
}

static bough_status make(bough_context *ctx, bo_twin *twin) {
    const bough_mesh *mesh = twin->body->mesh;
    const size_t n = (size_t)mesh->vertex_count;
    twin->X = BO_NEW_ARRAY(ctx, bo_vec3, n);
    twin->weight = BO_NEW_ARRAY(ctx, double, n);
    twin->held = BO_NEW_ZEROS(ctx, unsigned char, 3 * n);
    bo_vec3 *ones = BO_NEW_ARRAY(ctx, bo_vec3, 2 * n);
    bough_status status = twin->X && twin->weight && twin->held && ones ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK)
        status = bo_body_scalar_mass(ctx, twin->body, &twin->m);
    if (status == BOUGH_OK) {
        for (size_t i = 0; i < n; i++) {
            ones[i] = bo_v3(1, 1, 1);
            twin->X[i] = bo_sub(bo_load3(mesh->vertices + 3 * i), bo_load3(twin->component->origin));
            memset(twin->held + 3 * i, !twin->body->used[i], 3);
        }
        bo_twin_mass(twin, ones, ones + n);
        for (size_t i = 0; i < n; i++)
            twin->weight[i] = ones[n + i].x;
        const bough_interface *root = &twin->component->interfaces[twin->component->parent];
        for (int32_t k = 0; k < root->vertex_count; k++)
            memset(twin->held + 3 * (size_t)root->vertices[k], 1, 3);
        status = make_faces(ctx, twin);
    }
    bo_free(ctx, ones);
    return status;
}

bough_status bough_full_part_create(bough_context *ctx, const bough_body *body, const bough_component *component,
                                    bough_full_part **part) {
    *part = NULL;
    BO_TRY(check_match(ctx, body->mesh, component));
    bo_twin *twin = BO_NEW(ctx, bo_twin);
    if (!twin)
        return BOUGH_ERROR_MEMORY;
    twin->face = (bough_full_part){.kind = &bo_twin_kind,
                                   .size = bo_body_size(body),
                                   .element_count = body->mesh->element_count,
                                   .interface_count = component->interface_count,
                                   .parent = component->parent};
    twin->body = body, twin->component = component, twin->vertex_count = body->mesh->vertex_count;
    const bough_status status = make(ctx, twin);
    if (status != BOUGH_OK) {
        bough_full_part_destroy(ctx, &twin->face);
        return status;
    }
    *part = &twin->face;
    return BOUGH_OK;
}

void bough_full_part_destroy(bough_context *ctx, bough_full_part *part) {
    bo_twin *twin = (bo_twin *)part;
    if (!twin)
        return;
    for (int32_t i = 0; twin->faces && i < twin->face.interface_count; i++)
        bo_free(ctx, twin->faces[i].arms);
    bough_sparse_destroy(ctx, twin->m);
    void *const blocks[] = {twin->X, twin->weight, twin->held, twin->faces};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        bo_free(ctx, blocks[i]);
    bo_free(ctx, twin);
}
