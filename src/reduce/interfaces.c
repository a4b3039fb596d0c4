/* Interfaces: where they are, and how their frames follow the coordinates. docs/theory/reduction.md, "Interfaces". */
#include "reduce/cook.h"

#include "base/eigen3.h"
#include "mesh/mesh.h"

#include <string.h>

/* A frame needs directions that span a plane: the second eigenvalue of C above this part of its trace. */
#define THINNEST 1e-6

/* ---- weights ---- */

/* The area that boundary faces give to the marked vertices: of faces all of whose corners are marked or, around
 * patches, of all faces. A triangle (tet10: each of the four it is cut into) gives a third to each corner, a quad a
 * quarter. */
static bough_status area_shares(bo_cook *cook, const unsigned char *marked, bool around, double *share, double *total) {
    const bough_mesh *mesh = cook->body->mesh;
    const bo_element_info *info = bo_element_info_of(mesh->type);
    BO_TRY(bo_cook_boundary(cook));
    const bough_mesh *surface = cook->boundary;
    const int32_t *vertex_map = cook->boundary_vertices, *face_map = cook->boundary_faces;
    *total = 0;
    for (int32_t t = 0; t < surface->element_count; t++) {
        const int32_t *triangle = surface->elements + 3 * (size_t)t;
        bo_vec3 x[3];
        int32_t corners[4], count = 3;
        for (int32_t i = 0; i < 3; i++) {
            x[i] = bo_load3(surface->vertices + 3 * (size_t)triangle[i]);
            corners[i] = vertex_map[triangle[i]];
        }
        if (info->face_corner_count == 4) {
            const int32_t *nodes = bo_mesh_nodes(mesh, face_map[t] / info->face_count);
            for (count = 0; count < 4; count++)
                corners[count] = nodes[info->faces[face_map[t] % info->face_count][count]];
        }
        bool spanned = true;
        for (int32_t i = 0; i < count; i++)
            spanned = spanned && marked[corners[i]];
        double area = 0.5 * bo_norm(bo_cross(bo_sub(x[1], x[0]), bo_sub(x[2], x[0])));
        for (int32_t i = 0; i < count && (spanned || around); i++)
            if (marked[corners[i]]) {
                share[corners[i]] += area / count;
                *total += area / count;
            }
    }
    return BOUGH_OK;
}

bough_status bo_cook_weights(bo_cook *cook, int32_t count, const int32_t *vertices, bool patch, double *weights) {
    size_t n = (size_t)cook->body->mesh->vertex_count;
    unsigned char *marked = BO_NEW_ZEROS(cook->ctx, unsigned char, n);
    double *share = BO_NEW_ZEROS(cook->ctx, double, n), total = 0;
    bough_status status = marked && share ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < count && status == BOUGH_OK; i++)
        marked[vertices[i]] = 1;
    if (status == BOUGH_OK)
        status = area_shares(cook, marked, patch, share, &total);
    /* Vertices that no face spans still belong to the interface: they count with a hundredth of the mean. */
    double least = total > 0 ? 0.01 * total / count : 1, sum = 0;
    for (int32_t i = 0; i < count && status == BOUGH_OK; i++) {
        weights[i] = share[vertices[i]] > least ? share[vertices[i]] : least;
        sum += weights[i];
    }
    for (int32_t i = 0; i < count && status == BOUGH_OK; i++)
        weights[i] /= sum;
    bo_free(cook->ctx, marked);
    bo_free(cook->ctx, share);
    return status;
}

/* ---- geometry ---- */

static bough_status check_interface(bo_cook *cook, int32_t index) {
    const bough_interface_def *def = &cook->def->interfaces[index];
    bough_context *ctx = cook->ctx;
    if (!def->name || !def->name[0])
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "interface %d has no name", index);
    for (int32_t i = 0; i < index; i++)
        if (!strcmp(cook->def->interfaces[i].name, def->name))
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "there are two interfaces \"%s\"", def->name);
    if (def->vertex_count < 1 || !def->vertices)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "interface \"%s\" has no vertices", def->name);
    for (int32_t i = 0; i < def->vertex_count; i++) {
        if (def->vertices[i] < 0 || def->vertices[i] >= cook->body->mesh->vertex_count)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "interface \"%s\": vertex %d does not exist", def->name,
                           def->vertices[i]);
        if (!cook->body->used[def->vertices[i]])
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "interface \"%s\": vertex %d is in no element", def->name,
                           def->vertices[i]);
        if (def->weights && !(def->weights[i] > 0 && isfinite(def->weights[i])))
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "interface \"%s\": the weight of vertex %d is not positive",
                           def->name, def->vertices[i]);
    }
    return BOUGH_OK;
}

/* C = sum w d d^T about the centre, both in mesh coordinates. */
static bo_mat3 spread(const bo_cook *cook, const bough_interface *face, bo_vec3 *centre) {
    const double *X = cook->body->mesh->vertices;
    *centre = bo_v3(0, 0, 0);
    for (int32_t i = 0; i < face->vertex_count; i++)
        *centre = bo_mul_add(*centre, face->weights[i], bo_load3(X + 3 * (size_t)face->vertices[i]));
    bo_mat3 C = {{0}};
    for (int32_t i = 0; i < face->vertex_count; i++) {
        double d[3];
        bo_store3(d, bo_sub(bo_load3(X + 3 * (size_t)face->vertices[i]), *centre));
        for (int a = 0; a < 9; a++)
            C.m[a] += face->weights[i] * d[a / 3] * d[a % 3];
    }
    return C;
}

static bough_status place(bo_cook *cook, int32_t index) {
    const bough_interface_def *def = &cook->def->interfaces[index];
    bough_interface *face = &cook->interfaces[index];
    double *weights = BO_COOK_ARRAY(cook, double, def->vertex_count);
    int32_t *vertices = BO_COOK_ARRAY(cook, int32_t, def->vertex_count);
    if (!weights || !vertices)
        return BOUGH_ERROR_MEMORY;
    memcpy(vertices, def->vertices, (size_t)def->vertex_count * sizeof *vertices);
    int32_t count = bo_sort_unique(vertices, def->vertex_count);
    if (def->weights && count < def->vertex_count)
        return bo_fail(cook->ctx, BOUGH_ERROR_ARGUMENT, "interface \"%s\" names a vertex twice", def->name);
    if (def->weights) { /* in the caller's order */
        double sum = 0;
        memcpy(vertices, def->vertices, (size_t)def->vertex_count * sizeof *vertices);
        for (int32_t i = 0; i < count; i++)
            sum += def->weights[i];
        for (int32_t i = 0; i < count; i++)
            weights[i] = def->weights[i] / sum;
    } else {
        BO_TRY(bo_cook_weights(cook, count, vertices, def->patch, weights));
    }
    *face = (bough_interface){.name = def->name, .vertex_count = count, .vertices = vertices, .weights = weights};
    bo_vec3 centre, values;
    bo_mat3 C = spread(cook, face, &centre), V;
    bo_eigen3(C, &values, &V);
    if (!(values.y > THINNEST * bo_trace(C)))
        return bo_fail(cook->ctx, BOUGH_ERROR_ARGUMENT,
                       "interface \"%s\": its %d vertices lie %s, so that no frame can be fitted to them; add vertices "
                       "beside them, for instance a patch with a larger radius",
                       def->name, count, count == 1 ? "in a point" : "on a line");
    bo_store3(face->centre, centre);
    face->radius = sqrt(bo_trace(C));
    return BOUGH_OK;
}

bough_status bo_cook_interfaces(bo_cook *cook) {
    int32_t count = cook->def->interface_count;
    cook->interfaces = BO_COOK_ARRAY(cook, bough_interface, count);
    if (!cook->interfaces)
        return BOUGH_ERROR_MEMORY;
    cook->draft.interfaces = cook->interfaces;
    cook->draft.interface_count = count;
    for (int32_t i = 0; i < count; i++) {
        BO_TRY(check_interface(cook, i));
        BO_TRY(place(cook, i));
    }
    return BOUGH_OK;
}

/* ---- rigid motion of an interface ---- */

bo_mat3 bo_cook_spread(const bo_cook *cook, const bough_interface *face) {
    bo_vec3 centre;
    return spread(cook, face, &centre);
}

/* Least squares: translation sum w u, rotation J^-1 sum w d x u with J = tr(C) I - C. Q holds both as columns. */
bough_status bo_cook_rigid_fit(bo_cook *cook, const bough_interface *face, double *Q) {
    bo_vec3 centre;
    bo_mat3 J = bo_mat_scale(-1, spread(cook, face, &centre));
    double trace = face->radius * face->radius;
    for (int i = 0; i < 3; i++)
        J.m[4 * i] += trace;
    bo_mat3 inverse = bo_inverse(J);
    for (int32_t k = 0; k < face->vertex_count; k++) {
        bo_vec3 d = bo_sub(bo_load3(cook->body->mesh->vertices + 3 * (size_t)face->vertices[k]), centre);
        for (int i = 0; i < 3; i++) {
            double *row = Q + 6 * (3 * (size_t)k + (size_t)i);
            row[0] = row[1] = row[2] = 0;
            row[i] = face->weights[k];
            bo_store3(row + 3,
                      bo_scale(face->weights[k], bo_mat_vec(inverse, bo_cross(d, bo_v3(i == 0, i == 1, i == 2)))));
        }
    }
    return BOUGH_OK;
}

void bo_cook_bends(const bo_cook *cook, const bough_interface *face, double *bends) {
    bo_vec3 centre;
    const bo_mat3 C = spread(cook, face, &centre);
    for (int32_t k = 0; k < face->vertex_count; k++) {
        const bo_vec3 d = bo_sub(bo_load3(cook->body->mesh->vertices + 3 * (size_t)face->vertices[k]), centre);
        const double scale = face->weights[k] / pow(face->radius, 3);
        const double form[6] = {d.x * d.x - C.m[0], d.y * d.y - C.m[4], d.z * d.z - C.m[8],
                                d.y * d.z - C.m[5], d.x * d.z - C.m[2], d.x * d.y - C.m[1]};
        for (int j = 0; j < 6; j++)
            *bends++ = scale * form[j];
    }
}

/* ---- how frames follow q ---- */

static bough_status follow(bo_cook *cook, bough_interface *face) {
    size_t r = (size_t)cook->r;
    double *translation = BO_COOK_ARRAY(cook, double, 3 * r), *A = BO_COOK_ARRAY(cook, double, 9 * (r + 1));
    double *bend = BO_COOK_ARRAY(cook, double, 18 * (r + 1));
    double *bends = BO_COOK_ARRAY(cook, double, 6 * (size_t)face->vertex_count);
    if (!translation || !A || !bend || !bends)
        return BOUGH_ERROR_MEMORY;
    bo_cook_bends(cook, face, bends);
    bo_vec3 centre;
    bo_mat3 C = spread(cook, face, &centre);
    double trace = face->radius * face->radius;
    for (size_t i = 0; i < 9; i++)
        A[i] = C.m[i] / trace;
    for (int32_t k = 0; k < face->vertex_count; k++) {
        const double *form = bends + 6 * (size_t)k;
        double d[3];
        bo_store3(d, bo_sub(bo_load3(cook->body->mesh->vertices + 3 * (size_t)face->vertices[k]), centre));
        for (size_t i = 0; i < 18; i++)
            bend[i] += d[i / 6] * form[i % 6];
        for (size_t i = 0; i < 18 * r; i++)
            bend[18 + i] += cook->U[(3 * (size_t)face->vertices[k] + i % 18 / 6) * r + i / 18] * form[i % 6];
    }
    for (int32_t k = 0; k < face->vertex_count && r > 0; k++) { /* a rigid component has no U */
        const double *U = cook->U + 3 * (size_t)face->vertices[k] * r;
        double d[3];
        bo_store3(d, bo_sub(bo_load3(cook->body->mesh->vertices + 3 * (size_t)face->vertices[k]), centre));
        /* B_l = sum w (U_l - a_l) d^T, and sum w d = 0 */
        for (size_t l = 0; l < r; l++)
            for (size_t i = 0; i < 3; i++) {
                double u = face->weights[k] * U[i * r + l];
                translation[3 * l + i] += u;
                for (size_t j = 0; j < 3; j++)
                    A[9 * (l + 1) + 3 * i + j] += u * d[j] / trace;
            }
    }
    face->translation = translation;
    face->A = A;
    face->bend = bend;
    return BOUGH_OK;
}

bough_status bo_cook_frames(bo_cook *cook) {
    for (int32_t i = 0; i < cook->draft.interface_count; i++)
        BO_TRY(follow(cook, &cook->interfaces[i]));
    for (int32_t i = 0; i < cook->draft.interface_count; i++)
        for (int d = 0; d < 3; d++)
            cook->interfaces[i].centre[d] -= cook->draft.origin[d];
    return BOUGH_OK;
}
