#include "mesh/generate.h"

#include <math.h>

#define BOX_COOKIE 0xB0061003u

enum { SIDE_X0 = 1, SIDE_X1 = 2, SIDE_Y0 = 4, SIDE_Y1 = 8, SIDE_Z0 = 16, SIDE_Z1 = 32 };
static const char *const side_names[] = {"x0", "x1", "y0", "y1", "z0", "z1"};

/* Six tets around the diagonal 06: every cell cuts opposite faces along parallel diagonals, so neighbours agree. */
static const int32_t six_tets[6][4] = {{0, 1, 2, 6}, {0, 2, 3, 6}, {0, 3, 7, 6},
                                       {0, 7, 4, 6}, {0, 4, 5, 6}, {0, 5, 1, 6}};

/* Four corners cut off and the tet that is left; cells of odd parity use the mirror image, so neighbours agree. */
static const int32_t five_tets[2][5][4] = {
    {{0, 1, 3, 4}, {2, 3, 1, 6}, {5, 4, 6, 1}, {7, 6, 4, 3}, {1, 3, 4, 6}},
    {{1, 2, 0, 5}, {3, 0, 2, 7}, {4, 7, 5, 0}, {6, 5, 7, 2}, {0, 5, 2, 7}},
};

bough_box_def bough_default_box_def(void) {
    return (bough_box_def){
        .cookie = BOX_COOKIE, .type = BOUGH_TET4, .size = {1, 1, 1}, .cells = {1, 1, 1}, .tets_per_cell = 6};
}

static bough_status check_def(bough_context *ctx, const bough_box_def *def) {
    if (def->cookie != BOX_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the box def was not made by bough_default_box_def()");
    if (def->type != BOUGH_TET4 && def->type != BOUGH_TET10 && def->type != BOUGH_HEX8)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a box is made of tet4, tet10 or hex8 elements");
    if (def->type != BOUGH_HEX8 && def->tets_per_cell != 5 && def->tets_per_cell != 6)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a cell of a box is cut into 5 or 6 tets, not %d",
                       def->tets_per_cell);
    for (int d = 0; d < 3; d++) {
        if (!(def->size[d] > 0) || !isfinite(def->size[d]))
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the box's size along %c is %g; it must be positive and finite",
                           'x' + d, def->size[d]);
        if (!isfinite(def->origin[d]) || !isfinite(def->origin[d] + def->size[d]))
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the box's origin along %c is not a finite number", 'x' + d);
        if (def->cells[d] < 1)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the box has %d cells along %c; it needs at least 1",
                           def->cells[d], 'x' + d);
    }
    return BOUGH_OK;
}

static int32_t grid_index(const bough_box_def *def, int32_t i, int32_t j, int32_t k) {
    return (k * (def->cells[1] + 1) + j) * (def->cells[0] + 1) + i;
}

static void place_vertices(const bough_box_def *def, double *x, uint8_t *flags) {
    const int32_t *n = def->cells;
    for (int32_t k = 0; k <= n[2]; k++)
        for (int32_t j = 0; j <= n[1]; j++)
            for (int32_t i = 0; i <= n[0]; i++, x += 3, flags++) {
                const int32_t at[3] = {i, j, k};
                for (int d = 0; d < 3; d++)
                    x[d] = def->origin[d] + def->size[d] * ((double)at[d] / n[d]);
                *flags = (uint8_t)((i == 0 ? SIDE_X0 : 0) | (i == n[0] ? SIDE_X1 : 0) | (j == 0 ? SIDE_Y0 : 0) |
                                   (j == n[1] ? SIDE_Y1 : 0) | (k == 0 ? SIDE_Z0 : 0) | (k == n[2] ? SIDE_Z1 : 0));
            }
}

static int32_t *add_cell(const bough_box_def *def, const int32_t corners[8], int32_t parity, int32_t *out) {
    if (def->type == BOUGH_HEX8) {
        for (int c = 0; c < 8; c++)
            *out++ = corners[c];
        return out;
    }
    const int32_t(*tets)[4] = def->tets_per_cell == 6 ? six_tets : five_tets[parity];
    for (int32_t t = 0; t < def->tets_per_cell; t++)
        for (int c = 0; c < 4; c++)
            *out++ = corners[tets[t][c]];
    return out;
}

static void connect_cells(const bough_box_def *def, int32_t *out) {
    for (int32_t k = 0; k < def->cells[2]; k++)
        for (int32_t j = 0; j < def->cells[1]; j++)
            for (int32_t i = 0; i < def->cells[0]; i++) {
                int32_t corners[8];
                for (int32_t c = 0; c < 8; c++)
                    corners[c] = grid_index(def, i + ((c ^ c >> 1) & 1), j + (c >> 1 & 1), k + (c >> 2));
                out = add_cell(def, corners, (i + j + k) & 1, out);
            }
}

static bough_status fill(bough_context *ctx, const bough_box_def *def, bough_mesh *mesh) {
    uint8_t *flags = BO_NEW_ARRAY(ctx, uint8_t, mesh->vertex_count);
    if (!flags)
        return BOUGH_ERROR_MEMORY;
    place_vertices(def, mesh->vertices, flags);
    connect_cells(def, mesh->elements);
    bough_status status = bo_mesh_add_flag_sets(ctx, mesh, flags, side_names, 6);
    bo_free(ctx, flags);
    BO_TRY(status);
    status = bough_mesh_check(ctx, mesh);
    if (status != BOUGH_OK)
        bo_prefix_message(ctx, "the box's cells are too thin or too far from the origin for their size: ");
    return status;
}

bough_status bough_mesh_generate_box(bough_context *ctx, const bough_box_def *def, bough_mesh **out) {
    *out = NULL;
    BO_TRY(check_def(ctx, def));
    const int32_t *n = def->cells;
    double vertices = (n[0] + 1.0) * (n[1] + 1.0) * (n[2] + 1.0);
    double cells = (double)n[0] * n[1] * n[2];
    bool hexes = def->type == BOUGH_HEX8;
    bough_mesh *mesh;
    BO_TRY(bo_mesh_alloc(ctx, hexes ? BOUGH_HEX8 : BOUGH_TET4, vertices, hexes ? cells : cells * def->tets_per_cell,
                         &mesh));
    bough_status status = fill(ctx, def, mesh);
    if (status == BOUGH_OK && def->type == BOUGH_TET10) {
        status = bough_mesh_raise_order(ctx, mesh, out);
        bough_mesh_destroy(ctx, mesh);
        return status;
    }
    if (status != BOUGH_OK)
        bough_mesh_destroy(ctx, mesh);
    else
        *out = mesh;
    return status;
}
