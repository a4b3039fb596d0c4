/* Meshes of equal cubes: a grid whose cells are filled or empty. */
#include "example.h"

#include <stdlib.h>
#include <string.h>

bool example_grid_create(const int32_t cells[3], double edge, v3 origin, example_grid *grid) {
    *grid = (example_grid){.cells = {cells[0], cells[1], cells[2]}, .edge = edge, .origin = origin};
    grid->filled = calloc((size_t)cells[0] * (size_t)cells[1] * (size_t)cells[2], 1);
    return grid->filled != NULL;
}

void example_grid_destroy(example_grid *grid) {
    free(grid->filled);
    grid->filled = NULL;
}

static size_t cell_at(const example_grid *g, int32_t i, int32_t j, int32_t k) {
    return ((size_t)k * (size_t)g->cells[1] + (size_t)j) * (size_t)g->cells[0] + (size_t)i;
}

void example_grid_fill(example_grid *g, example_inside inside, const void *data) {
    for (int32_t k = 0; k < g->cells[2]; k++)
        for (int32_t j = 0; j < g->cells[1]; j++)
            for (int32_t i = 0; i < g->cells[0]; i++)
                if (inside(data, v3_along(g->origin, g->edge, (v3){i + 0.5, j + 0.5, k + 0.5})))
                    g->filled[cell_at(g, i, j, k)] = 1;
}

int32_t example_grid_count(const example_grid *g) {
    const size_t cells = (size_t)g->cells[0] * (size_t)g->cells[1] * (size_t)g->cells[2];
    int32_t count = 0;
    for (size_t c = 0; c < cells; c++)
        count += g->filled[c];
    return count;
}

/* ---- the mesh ---- */

/* Corners of a cube in the order of hex8. */
static const int32_t corners[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                      {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};

/* One tet for each order in which a way from corner 0 to corner 6 can take the three axes, so that all cubes cut the
 * faces that they share alike. */
static const int32_t tets[6][4] = {{0, 1, 2, 6}, {0, 2, 3, 6}, {0, 3, 7, 6}, {0, 7, 4, 6}, {0, 4, 5, 6}, {0, 5, 1, 6}};

typedef struct {
    int32_t *numbers; /* of the grid's points, -1: not used */
    double *vertices;
    int32_t *elements;
    int32_t vertex_count, element_count;
} lattice;

static int32_t vertex_at(const example_grid *g, lattice *l, int32_t i, int32_t j, int32_t k) {
    const size_t at = ((size_t)k * (size_t)(g->cells[1] + 1) + (size_t)j) * (size_t)(g->cells[0] + 1) + (size_t)i;
    if (l->numbers[at] < 0) {
        v3 p = v3_along(g->origin, g->edge, (v3){i, j, k});
        memcpy(l->vertices + 3 * (size_t)l->vertex_count, (double[]){p.x, p.y, p.z}, 3 * sizeof(double));
        l->numbers[at] = l->vertex_count++;
    }
    return l->numbers[at];
}

static void add_cell(lattice *l, bough_element_type type, const int32_t nodes[8]) {
    if (type == BOUGH_HEX8) {
        memcpy(l->elements + 8 * (size_t)l->element_count++, nodes, 8 * sizeof *nodes);
        return;
    }
    for (int t = 0; t < 6; t++, l->element_count++)
        for (int n = 0; n < 4; n++)
            l->elements[4 * (size_t)l->element_count + (size_t)n] = nodes[tets[t][n]];
}

static void add_cells(const example_grid *g, bough_element_type type, lattice *l) {
    for (int32_t k = 0; k < g->cells[2]; k++)
        for (int32_t j = 0; j < g->cells[1]; j++)
            for (int32_t i = 0; i < g->cells[0]; i++) {
                int32_t nodes[8];
                if (!g->filled[cell_at(g, i, j, k)])
                    continue;
                for (int c = 0; c < 8; c++)
                    nodes[c] = vertex_at(g, l, i + corners[c][0], j + corners[c][1], k + corners[c][2]);
                add_cell(l, type, nodes);
            }
}

bough_status example_grid_mesh(bough_context *ctx, const example_grid *g, bough_element_type type, bough_mesh **mesh) {
    const size_t points = (size_t)(g->cells[0] + 1) * (size_t)(g->cells[1] + 1) * (size_t)(g->cells[2] + 1);
    const size_t cells = (size_t)example_grid_count(g);
    lattice l = {.numbers = malloc(points * sizeof *l.numbers),
                 .vertices = malloc(3 * points * sizeof *l.vertices),
                 .elements = malloc((24 * cells + 1) * sizeof *l.elements)};
    bough_status s = l.numbers && l.vertices && l.elements ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (!s) {
        memset(l.numbers, -1, points * sizeof *l.numbers);
        add_cells(g, type, &l);
        s = bough_mesh_create(ctx, type, l.vertex_count, l.vertices, l.element_count, l.elements, mesh);
    }
    free(l.numbers), free(l.vertices), free(l.elements);
    return s;
}
