#include "base/vec.h"
#include "mesh/generate.h"

#include <math.h>
#include <string.h>

#define GRID_LIMIT 50e6  /* cells of the grid, used or not: about 500 MB while it is built */
#define TOUCH_RATIO 1e-7 /* a triangle that enters a cell by less than this times its edge only touches it */

/* Points of the surface are snapped to this many steps along the longest side when it is decided what is inside, so
 * that int64 products are exact and no ray slips between two triangles. */
#define SNAP_STEPS (1 << 29)

/* A regular grid whose middle is the middle of the surface's bounding box. */
typedef struct grid {
    const bough_mesh *surface;
    double cell;
    double lower[3]; /* corner of the grid */
    int32_t n[3];    /* cells along each axis */
    size_t count;    /* of cells */
    uint8_t *used;   /* count, x fastest: the cell becomes an element */
    int32_t *cell_element, *vertex_of_node;
} grid;

static size_t cell_index(const grid *g, int32_t i, int32_t j, int32_t k) {
    return ((size_t)k * (size_t)g->n[1] + (size_t)j) * (size_t)g->n[0] + (size_t)i;
}

static int32_t clamp(double x, int32_t limit) {
    return x <= 0 ? 0 : x >= limit ? limit : (int32_t)x;
}

/* Cell coordinate along one axis: between 0 and n inside the grid. */
static double cell_coordinate(const grid *g, int axis, double x) {
    return (x - g->lower[axis]) / g->cell;
}

static bo_vec3 surface_corner(const grid *g, int32_t triangle, int c) {
    return bo_load3(g->surface->vertices + 3 * (size_t)g->surface->elements[3 * (size_t)triangle + (size_t)c]);
}

/* ---- the grid ---- */

static void find_bounds(const bough_mesh *surface, double lower[3], double upper[3]) {
    for (int d = 0; d < 3; d++)
        lower[d] = INFINITY, upper[d] = -INFINITY;
    for (size_t i = 0; i < 3 * (size_t)surface->element_count; i++)
        for (int d = 0; d < 3; d++) {
            double x = surface->vertices[3 * (size_t)surface->elements[i] + (size_t)d];
            lower[d] = fmin(lower[d], x);
            upper[d] = fmax(upper[d], x);
        }
}

/* A whole number of cells with a little grace for round-off: a side of 3 cells gets 3, not 4. */
static double cells_along(double extent, double cell) {
    return fmax(1, ceil(extent / cell - 1e-6));
}

static double grid_cells(const double extent[3], double cell) {
    return cells_along(extent[0], cell) * cells_along(extent[1], cell) * cells_along(extent[2], cell);
}

static bough_status fail_too_fine(bough_context *ctx, const double extent[3], double cell) {
    double wanted = grid_cells(extent, cell), works = fmax(extent[0], fmax(extent[1], extent[2])) / GRID_LIMIT;
    works = fmax(works, cell);
    while (grid_cells(extent, works) > GRID_LIMIT)
        works *= 1.05;
    return bo_fail(
        ctx, BOUGH_ERROR_ARGUMENT,
        "cells of %g m make a grid of %.3g cells; at most %.0f are possible, for example with cells of %.3g m", cell,
        wanted, GRID_LIMIT, 1.01 * works);
}

static bough_status make_grid(bough_context *ctx, grid *g) {
    double lower[3], upper[3], extent[3];
    find_bounds(g->surface, lower, upper);
    for (int d = 0; d < 3; d++)
        extent[d] = upper[d] - lower[d];
    if (!(grid_cells(extent, g->cell) <= GRID_LIMIT))
        return fail_too_fine(ctx, extent, g->cell);
    for (int d = 0; d < 3; d++) {
        g->n[d] = (int32_t)cells_along(extent[d], g->cell);
        g->lower[d] = 0.5 * (lower[d] + upper[d]) - 0.5 * g->n[d] * g->cell;
    }
    g->count = (size_t)g->n[0] * (size_t)g->n[1] * (size_t)g->n[2];
    g->used = BO_NEW_ZEROS(ctx, uint8_t, g->count);
    return g->used ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

/* ---- cells that the surface runs through ---- */

/* Separating axes of a triangle (corners relative to the cube's middle) and a cube: the nine products of edges, and
 * the normal. The cube's own axes are tested too, since candidates come from the triangle's plane only. */
static bool meets_cube(const bo_vec3 corner[3], double half) {
    bo_vec3 edge[3], axis[13];
    for (int i = 0; i < 3; i++)
        edge[i] = bo_sub(corner[(i + 1) % 3], corner[i]);
    for (int i = 0; i < 3; i++) {
        axis[3 * i] = bo_v3(0, -edge[i].z, edge[i].y);
        axis[3 * i + 1] = bo_v3(edge[i].z, 0, -edge[i].x);
        axis[3 * i + 2] = bo_v3(-edge[i].y, edge[i].x, 0);
    }
    axis[9] = bo_v3(1, 0, 0), axis[10] = bo_v3(0, 1, 0), axis[11] = bo_v3(0, 0, 1);
    axis[12] = bo_cross(edge[0], edge[1]);
    for (int i = 0; i < 13; i++) {
        double a = bo_dot(axis[i], corner[0]), b = bo_dot(axis[i], corner[1]), c = bo_dot(axis[i], corner[2]);
        double reach = half * (fabs(axis[i].x) + fabs(axis[i].y) + fabs(axis[i].z));
        if (fmin(a, fmin(b, c)) > reach || fmax(a, fmax(b, c)) < -reach)
            return false;
    }
    return true;
}

/* Cells of one column along `axis` near the triangle's plane: first..last, in the grid. */
static void column_range(const grid *g, const double normal[3], const double point[3], int axis, const int32_t at[3],
                         int32_t *first, int32_t *last) {
    double height = point[axis], slope = 0;
    for (int d = 0; d < 3; d++)
        if (d != axis) {
            height -= normal[d] / normal[axis] * (at[d] + 0.5 - point[d]);
            slope += 0.5 * fabs(normal[d] / normal[axis]);
        }
    *first = clamp(floor(height - slope - 1e-6), g->n[axis] - 1);
    *last = clamp(floor(height + slope + 1e-6), g->n[axis] - 1);
}

static void mark_column(grid *g, const bo_vec3 corner[3], const double normal[3], int axis, int32_t at[3]) {
    const double point[3] = {corner[0].x, corner[0].y, corner[0].z};
    int32_t first, last;
    column_range(g, normal, point, axis, at, &first, &last);
    for (at[axis] = first; at[axis] <= last; at[axis]++) {
        uint8_t *used = &g->used[cell_index(g, at[0], at[1], at[2])];
        if (*used)
            continue;
        bo_vec3 middle = bo_v3(at[0] + 0.5, at[1] + 0.5, at[2] + 0.5), local[3];
        for (int c = 0; c < 3; c++)
            local[c] = bo_sub(corner[c], middle);
        *used = meets_cube(local, 0.5 - TOUCH_RATIO);
    }
}

/* Walks the columns along the axis nearest to the normal, so that the work follows the triangle's area. */
static void mark_triangle(grid *g, int32_t triangle) {
    bo_vec3 corner[3]; /* in cell coordinates */
    int32_t low[3], high[3], at[3];
    for (int c = 0; c < 3; c++)
        corner[c] = bo_scale(1 / g->cell, bo_sub(surface_corner(g, triangle, c), bo_load3(g->lower)));
    double normal[3];
    bo_store3(normal, bo_cross(bo_sub(corner[1], corner[0]), bo_sub(corner[2], corner[0])));
    int axis = fabs(normal[0]) > fabs(normal[1]) ? 0 : 1;
    axis = fabs(normal[2]) > fabs(normal[axis]) ? 2 : axis;
    if (!(fabs(normal[axis]) > 0))
        return; /* no area: its edges belong to other triangles, its corners are seen to by hold_vertices() */
    for (int d = 0; d < 3; d++) {
        double x[3][3];
        for (int c = 0; c < 3; c++)
            bo_store3(x[c], corner[c]);
        low[d] = clamp(floor(fmin(x[0][d], fmin(x[1][d], x[2][d])) - 1e-6), g->n[d] - 1);
        high[d] = clamp(floor(fmax(x[0][d], fmax(x[1][d], x[2][d])) + 1e-6), g->n[d] - 1);
    }
    int u = (axis + 1) % 3, v = (axis + 2) % 3;
    for (at[u] = low[u]; at[u] <= high[u]; at[u]++)
        for (at[v] = low[v]; at[v] <= high[v]; at[v]++)
            mark_column(g, corner, normal, axis, at);
}

/* ---- cells whose middle is inside ---- */

/* y and z of a point in exact steps. */
typedef struct snapped {
    int64_t y, z;
} snapped;

static double snap_unit(const grid *g) {
    return fmax(g->n[0], fmax(g->n[1], g->n[2])) * g->cell / SNAP_STEPS;
}

static int64_t snap(const grid *g, int axis, double x, double unit) {
    return llround((x - g->lower[axis]) / unit);
}

static int64_t snapped_middle(const grid *g, int32_t cell, double unit) {
    return llround((cell + 0.5) * (g->cell / unit));
}

/* Returns the side of a -> b that the point is on: +1 left, -1 right. A point on the line counts as moved by (e, e^2)
 * for an infinitesimal e, the same for all triangles, so that neighbours never both claim or both miss it. */
static int side_of(snapped a, snapped b, snapped p) {
    int64_t dy = b.y - a.y, dz = b.z - a.z;
    int64_t cross = dy * (p.z - a.z) - dz * (p.y - a.y);
    if (cross == 0)
        cross = dz != 0 ? -dz : dy;
    return cross > 0 ? 1 : cross < 0 ? -1 : 0;
}

/* A ray along x crosses the triangle: +1 or -1 by its orientation, else 0. */
static int crossing(const snapped t[3], snapped p) {
    int side = side_of(t[0], t[1], p);
    return side == side_of(t[1], t[2], p) && side == side_of(t[2], t[0], p) ? side : 0;
}

/* Returns the x at which the line at y, z crosses the triangle's plane, kept within the triangle when that is nearly
 * parallel to x. */
static double crossing_x(const bo_vec3 c[3], double y, double z) {
    bo_vec3 n = bo_cross(bo_sub(c[1], c[0]), bo_sub(c[2], c[0]));
    double x = n.x != 0 ? c[0].x - (n.y * (y - c[0].y) + n.z * (z - c[0].z)) / n.x : c[0].x;
    return fmin(fmax(x, fmin(c[0].x, fmin(c[1].x, c[2].x))), fmax(c[0].x, fmax(c[1].x, c[2].x)));
}

/* turns[cell] is the change of the winding number between the middles of the cell before and this one. */
static void add_crossings(const grid *g, int32_t triangle, double unit, int16_t *turns) {
    snapped t[3];
    bo_vec3 corner[3];
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int c = 0; c < 3; c++) {
        bo_vec3 x = corner[c] = surface_corner(g, triangle, c);
        double at[2] = {cell_coordinate(g, 1, x.y), cell_coordinate(g, 2, x.z)};
        t[c] = (snapped){snap(g, 1, x.y, unit), snap(g, 2, x.z, unit)};
        for (int d = 0; d < 2; d++)
            low[d] = fmin(low[d], at[d]), high[d] = fmax(high[d], at[d]);
    }
    for (int32_t k = clamp(low[1] - 1, g->n[2]); k < clamp(high[1] + 1, g->n[2]); k++)
        for (int32_t j = clamp(low[0] - 1, g->n[1]); j < clamp(high[0] + 1, g->n[1]); j++) {
            int turn = crossing(t, (snapped){snapped_middle(g, j, unit), snapped_middle(g, k, unit)});
            if (turn == 0)
                continue;
            double x = crossing_x(corner, g->lower[1] + (j + 0.5) * g->cell, g->lower[2] + (k + 0.5) * g->cell);
            double first = ceil(cell_coordinate(g, 0, x) - 0.5); /* cells from here on have their middle behind x */
            if (first < g->n[0])
                turns[cell_index(g, clamp(first, g->n[0] - 1), j, k)] += (int16_t)turn;
        }
}

/* A winding number other than 0 is inside: so overlapping shells make their union. Without consistent orientation
 * only the parity of the number of crossings means something; it is the parity of the winding number too. */
/* One triangle may cross many cells: each is asked, at most a few hundred thousand times. */
static bough_status go_on(bough_context *ctx, const grid *g, const char *what, int32_t triangle) {
    const int32_t stride = 256;
    if (triangle % stride != stride - 1 ||
        bo_progress(ctx, what, (double)triangle / (double)g->surface->element_count, "%zu cells", g->count))
        return BOUGH_OK;
    return bo_fail_cancelled(ctx);
}

static void mark_inside(grid *g, const int16_t *turns, bool oriented) {
    for (int32_t k = 0; k < g->n[2]; k++)
        for (int32_t j = 0; j < g->n[1]; j++) {
            size_t row = cell_index(g, 0, j, k);
            int winding = 0;
            for (size_t i = 0; i < (size_t)g->n[0]; i++) {
                winding += turns[row + i];
                g->used[row + i] |= oriented ? winding != 0 : winding % 2 != 0;
            }
        }
}

static bough_status find_inside(bough_context *ctx, grid *g, bool oriented) {
    int16_t *turns = BO_NEW_ZEROS(ctx, int16_t, g->count);
    if (!turns)
        return BOUGH_ERROR_MEMORY;
    double unit = snap_unit(g);
    bough_status status = BOUGH_OK;
    for (int32_t t = 0; t < g->surface->element_count && status == BOUGH_OK; t++) {
        add_crossings(g, t, unit, turns);
        status = go_on(ctx, g, "finding the inside", t);
    }
    if (status == BOUGH_OK)
        mark_inside(g, turns, oriented);
    bo_free(ctx, turns);
    return status;
}

/* ---- embedding ---- */

/* A used cell that holds the point, within round-off; SIZE_MAX when there is none. at = its grid coordinates. */
static size_t find_cell(const grid *g, const double *x, int32_t at[3]) {
    int32_t low[3], high[3];
    for (int d = 0; d < 3; d++) {
        double c = cell_coordinate(g, d, x[d]);
        low[d] = clamp(floor(c - 2 * TOUCH_RATIO), g->n[d] - 1);
        high[d] = clamp(floor(c + 2 * TOUCH_RATIO), g->n[d] - 1);
    }
    for (at[2] = low[2]; at[2] <= high[2]; at[2]++)
        for (at[1] = low[1]; at[1] <= high[1]; at[1]++)
            for (at[0] = low[0]; at[0] <= high[0]; at[0]++)
                if (g->used[cell_index(g, at[0], at[1], at[2])])
                    return cell_index(g, at[0], at[1], at[2]);
    return SIZE_MAX;
}

/* Every corner of a triangle lies in a used cell, even where the surface only grazes the cells around it. */
static void hold_vertices(grid *g) {
    for (size_t i = 0; i < 3 * (size_t)g->surface->element_count; i++) {
        const double *x = g->surface->vertices + 3 * (size_t)g->surface->elements[i];
        int32_t at[3];
        if (find_cell(g, x, at) != SIZE_MAX)
            continue;
        for (int d = 0; d < 3; d++)
            at[d] = clamp(floor(cell_coordinate(g, d, x[d])), g->n[d] - 1);
        g->used[cell_index(g, at[0], at[1], at[2])] = 1;
    }
}

/* Trilinear weights; they continue outside of the cell, which serves vertices that are in no triangle. */
static void weigh(const bough_mesh *mesh, int32_t element, const double *x, double *weights) {
    const int32_t *nodes = bo_mesh_nodes(mesh, element);
    const double *lower = mesh->vertices + 3 * (size_t)nodes[0], *upper = mesh->vertices + 3 * (size_t)nodes[6];
    double t[3];
    for (int d = 0; d < 3; d++)
        t[d] = (x[d] - lower[d]) / (upper[d] - lower[d]);
    for (int c = 0; c < 8; c++)
        weights[c] = ((c ^ c >> 1) & 1 ? t[0] : 1 - t[0]) * (c >> 1 & 1 ? t[1] : 1 - t[1]) * (c >> 2 ? t[2] : 1 - t[2]);
}

static bough_status embed(bough_context *ctx, const grid *g, const bough_mesh *mesh, bough_embedding **out) {
    BO_TRY(bo_embedding_create(ctx, g->surface->vertex_count, out));
    bough_embedding *embedding = *out;
    for (int32_t v = 0; v < embedding->vertex_count; v++) {
        const double *x = g->surface->vertices + 3 * (size_t)v;
        int32_t at[3];
        size_t cell = find_cell(g, x, at);
        embedding->elements[v] = cell == SIZE_MAX ? 0 : g->cell_element[cell];
        weigh(mesh, embedding->elements[v], x, embedding->weights + BOUGH_MAX_ELEMENT_NODES * (size_t)v);
    }
    return BOUGH_OK;
}

/* ---- the mesh ---- */

static size_t node_index(const grid *g, int32_t i, int32_t j, int32_t k) {
    return ((size_t)k * (size_t)(g->n[1] + 1) + (size_t)j) * (size_t)(g->n[0] + 1) + (size_t)i;
}

static size_t corner_node(const grid *g, size_t cell, int32_t c) {
    int32_t i = (int32_t)(cell % (size_t)g->n[0]), j = (int32_t)(cell / (size_t)g->n[0] % (size_t)g->n[1]);
    int32_t k = (int32_t)(cell / (size_t)g->n[0] / (size_t)g->n[1]);
    return node_index(g, i + ((c ^ c >> 1) & 1), j + (c >> 1 & 1), k + (c >> 2));
}

static bough_status number_cells(bough_context *ctx, grid *g, int32_t *vertex_count, int32_t *element_count) {
    size_t nodes = (size_t)(g->n[0] + 1) * (size_t)(g->n[1] + 1) * (size_t)(g->n[2] + 1);
    g->cell_element = BO_NEW_ARRAY(ctx, int32_t, g->count);
    g->vertex_of_node = BO_NEW_ZEROS(ctx, int32_t, nodes);
    if (!g->cell_element || !g->vertex_of_node)
        return BOUGH_ERROR_MEMORY;
    *vertex_count = *element_count = 0;
    for (size_t cell = 0; cell < g->count; cell++) {
        g->cell_element[cell] = g->used[cell] ? (*element_count)++ : -1;
        for (int32_t c = 0; c < 8 && g->used[cell]; c++)
            g->vertex_of_node[corner_node(g, cell, c)] = 1;
        BO_TRY(bo_mesh_go_on(ctx, "numbering cells", cell, g->count));
    }
    for (size_t node = 0; node < nodes; node++)
        g->vertex_of_node[node] = g->vertex_of_node[node] ? (*vertex_count)++ : -1;
    return BOUGH_OK;
}

static bough_status fill_mesh(bough_context *ctx, const grid *g, bough_mesh *mesh) {
    size_t node = 0;
    for (int32_t k = 0; k <= g->n[2]; k++)
        for (int32_t j = 0; j <= g->n[1]; j++)
            for (int32_t i = 0; i <= g->n[0]; i++, node++)
                if (g->vertex_of_node[node] >= 0)
                    bo_store3(mesh->vertices + 3 * (size_t)g->vertex_of_node[node],
                              bo_v3(g->lower[0] + i * g->cell, g->lower[1] + j * g->cell, g->lower[2] + k * g->cell));
    int32_t *out = mesh->elements;
    for (size_t cell = 0; cell < g->count; cell++) {
        for (int32_t c = 0; c < 8 && g->used[cell]; c++)
            *out++ = g->vertex_of_node[corner_node(g, cell, c)];
        BO_TRY(bo_mesh_go_on(ctx, "filling cells", cell, g->count));
    }
    return BOUGH_OK;
}

static bough_status check_surface(bough_context *ctx, const bough_mesh *surface, double cell, bool *oriented) {
    if (surface->type != BOUGH_TRI3)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "only a triangle surface can be filled with voxels; this mesh is %s",
                       bough_element_name(surface->type));
    if (!(cell > 0) || !isfinite(cell))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the voxels' edge is %g m; it must be positive and finite", cell);
    if (surface->element_count == 0)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the surface has no triangles");
    bo_edge_census census;
    BO_TRY(bo_surface_census(ctx, surface, &census));
    if (census.odd_count)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "the surface is not closed: %d of its %d edges are open, so it has no inside; fill its holes "
                       "and merge its duplicate vertices first",
                       census.odd_count, census.edge_count);
    *oriented = census.inconsistent_count == 0;
    return BOUGH_OK;
}

static bough_status voxelize(bough_context *ctx, grid *g, bool oriented, bough_mesh **mesh,
                             bough_embedding **embedding) {
    BO_TRY(make_grid(ctx, g));
    for (int32_t t = 0; t < g->surface->element_count; t++) {
        mark_triangle(g, t);
        BO_TRY(go_on(ctx, g, "marking cells", t));
    }
    BO_TRY(find_inside(ctx, g, oriented));
    hold_vertices(g);
    int32_t vertex_count, element_count;
    BO_TRY(number_cells(ctx, g, &vertex_count, &element_count));
    BO_TRY(bo_mesh_alloc(ctx, BOUGH_HEX8, vertex_count, element_count, mesh));
    BO_TRY(fill_mesh(ctx, g, *mesh));
    bough_status status = bough_mesh_check(ctx, *mesh);
    if (status == BOUGH_CANCELLED)
        return status;
    if (status != BOUGH_OK) {
        bo_prefix_message(ctx, "the voxels are too small for the surface's distance from the origin: ");
        return status;
    }
    return embedding ? embed(ctx, g, *mesh, embedding) : BOUGH_OK;
}

bough_status bough_mesh_voxelize(bough_context *ctx, const bough_mesh *surface, double cell, bough_mesh **mesh,
                                 bough_embedding **embedding) {
    *mesh = NULL;
    if (embedding)
        *embedding = NULL;
    bool oriented = false;
    BO_TRY(check_surface(ctx, surface, cell, &oriented));
    grid g = {.surface = surface, .cell = cell};
    bough_status status = voxelize(ctx, &g, oriented, mesh, embedding);
    bo_free(ctx, g.used);
    bo_free(ctx, g.cell_element);
    bo_free(ctx, g.vertex_of_node);
    if (status != BOUGH_OK) {
        bough_mesh_destroy(ctx, *mesh);
        *mesh = NULL;
        if (embedding) {
            bough_embedding_destroy(ctx, *embedding);
            *embedding = NULL;
        }
    }
    return status;
}
