/* Counts the rigid motions that supports leave to a body. */
#include "fem/body.h"

#include "dense/symmetric_eigen.h"
#include "mesh/mesh.h"

/* The supports of one connected piece: the Gram matrix sum r r^T over its held degrees of freedom, where r lists how
 * far each of six rigid motions (three translations, three rotations about the centre by 1/size) moves that one. */
typedef struct {
    double centre[3], size; /* mean of the vertices; their root mean square distance from it, m */
    int32_t vertex_count;
    double gram[36];
} piece_support;

static void add_held(piece_support *p, const double *x, int axis) {
    bo_vec3 r = bo_scale(1 / p->size, bo_sub(bo_load3(x), bo_load3(p->centre)));
    double row[6];
    for (int d = 0; d < 3; d++) {
        double moved[3];
        row[d] = d == axis;
        bo_store3(moved, bo_cross(bo_v3(d == 0, d == 1, d == 2), r));
        row[3 + d] = moved[axis];
    }
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            p->gram[6 * i + j] += row[i] * row[j];
}

/* 6 - rank of the Gram matrix. Its eigenvalues are squares: 1e-12 of the largest is a lever arm of 1e-6 of the size. */
static int32_t loose_motions(piece_support *p) {
    double values[6], scratch[12];
    bo_sym_eigen(6, p->gram, values, NULL, scratch);
    int32_t loose = 0;
    for (int i = 0; i < 6; i++)
        loose += !(values[i] > 1e-12 * values[5]);
    return loose;
}

static void gather_pieces(const bough_mesh *mesh, const unsigned char *fixed, const int32_t *piece, int32_t piece_count,
                          piece_support *pieces) {
    size_t n = (size_t)mesh->vertex_count;
    for (size_t v = 0; v < n; v++)
        if (piece[v] >= 0) {
            piece_support *p = &pieces[piece[v]];
            p->vertex_count++;
            for (size_t d = 0; d < 3; d++)
                p->centre[d] += (mesh->vertices[3 * v + d] - p->centre[d]) / p->vertex_count;
        }
    for (size_t v = 0; v < n; v++)
        for (size_t d = 0; d < 3 && piece[v] >= 0; d++) {
            double r = mesh->vertices[3 * v + d] - pieces[piece[v]].centre[d];
            pieces[piece[v]].size += r * r;
        }
    for (int32_t i = 0; i < piece_count; i++)
        pieces[i].size = sqrt(pieces[i].size / pieces[i].vertex_count);
    for (size_t v = 0; v < n; v++)
        for (size_t d = 0; d < 3 && piece[v] >= 0; d++)
            if (fixed[3 * v + d])
                add_held(&pieces[piece[v]], mesh->vertices + 3 * v, (int)d);
}

bough_status bo_body_rigid_motions(bough_context *ctx, const bough_body *body, const unsigned char *fixed,
                                   int32_t *count) {
    *count = 0;
    int32_t piece_count = 0, *piece = BO_NEW_ARRAY(ctx, int32_t, body->mesh->vertex_count);
    if (!piece)
        return BOUGH_ERROR_MEMORY;
    bough_status status = bo_mesh_pieces(ctx, body->mesh, piece, &piece_count);
    piece_support *pieces = status == BOUGH_OK ? BO_NEW_ZEROS(ctx, piece_support, piece_count) : NULL;
    if (pieces) {
        gather_pieces(body->mesh, fixed, piece, piece_count, pieces);
        for (int32_t i = 0; i < piece_count; i++)
            *count += loose_motions(&pieces[i]);
    } else {
        status = BOUGH_ERROR_MEMORY;
    }
    bo_free(ctx, pieces);
    bo_free(ctx, piece);
    return status;
}
