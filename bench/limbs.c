#include "limbs.h"

#include "base/vec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BRICKS = 20000, TETS = 24 };

limbs *limbs_create(void) {
    limbs *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->vertices = malloc(3 * 2 * MOST_BRICKS * sizeof *l->vertices);
    l->bricks = malloc(8 * MOST_BRICKS * sizeof *l->bricks);
    l->domain = malloc(MOST_BRICKS * sizeof *l->domain);
    if (l->vertices && l->bricks && l->domain)
        return l;
    limbs_free(l);
    return NULL;
}

void limbs_free(limbs *l) {
    if (!l)
        return;
    free(l->vertices), free(l->bricks), free(l->domain);
    free(l);
}

static bo_vec3 vertex(const limbs *l, int32_t v) {
    return bo_load3(l->vertices + 3 * (size_t)v);
}

static int32_t add_vertex(limbs *l, bo_vec3 x) {
    bo_store3(l->vertices + 3 * (size_t)l->vertex_count, x);
    return l->vertex_count++;
}

/* Bricks between two layers; turned over where they would be inside out. */
static void add_bricks(limbs *l, const limb *b, int32_t layer, int32_t domain) {
    for (int32_t i = 0; i < b->cells[0]; i++)
        for (int32_t j = 0; j < b->cells[1]; j++) {
            int32_t *c = l->bricks + 8 * (size_t)l->brick_count;
            for (int k = 0; k < 2; k++) {
                const int32_t(*g)[LIMBS_ACROSS + 1] = b->grid[layer + k];
                c[4 * k] = g[i][j], c[4 * k + 1] = g[i + 1][j];
                c[4 * k + 2] = g[i + 1][j + 1], c[4 * k + 3] = g[i][j + 1];
            }
            const bo_vec3 a = vertex(l, c[0]), x = bo_sub(vertex(l, c[1]), a), y = bo_sub(vertex(l, c[3]), a);
            if (bo_dot(bo_cross(x, y), bo_sub(vertex(l, c[4]), a)) < 0)
                for (int k = 0; k < 8; k += 4) {
                    const int32_t other = c[k + 1];
                    c[k + 1] = c[k + 3], c[k + 3] = other;
                }
            l->domain[l->brick_count++] = domain;
        }
}

/* From the grid of layer 0, which is there. */
static void extrude(limbs *l, limb *b, int32_t number, int32_t below, int32_t kept, const double reach[3],
                    double taper) {
    const double vertices = (b->cells[0] + 1) * (b->cells[1] + 1);
    bo_vec3 middle = bo_v3(0, 0, 0);
    for (int32_t i = 0; i <= b->cells[0]; i++)
        for (int32_t j = 0; j <= b->cells[1]; j++)
            middle = bo_mul_add(middle, 1 / vertices, vertex(l, b->grid[0][i][j]));
    for (int32_t k = 1; k <= b->layers; k++) {
        const double s = (double)k / b->layers, width = 1 + s * (taper - 1);
        for (int32_t i = 0; i <= b->cells[0]; i++)
            for (int32_t j = 0; j <= b->cells[1]; j++) {
                const bo_vec3 arm = bo_scale(width, bo_sub(vertex(l, b->grid[0][i][j]), middle));
                b->grid[k][i][j] = add_vertex(l, bo_add(bo_add(middle, arm), bo_scale(s, bo_load3(reach))));
            }
        add_bricks(l, b, k - 1, k <= kept ? below : number);
    }
}

void limbs_plant(limbs *l, double width, double depth, int32_t across, int32_t deep, int32_t layers,
                 const double end[3], double taper) {
    limb *b = &l->limbs[l->limb_count++];
    *b = (limb){.cells = {across, deep}, .layers = layers};
    for (int32_t i = 0; i <= across; i++)
        for (int32_t j = 0; j <= deep; j++)
            b->grid[0][i][j] =
                add_vertex(l, bo_v3(width * ((double)i / across - 0.5), depth * ((double)j / deep - 0.5), 0));
    extrude(l, b, 0, 0, 0, end, taper);
}

void limbs_grow(limbs *l, const limb_place *place) {
    const limb *below = &l->limbs[place->below];
    const int32_t number = l->limb_count++;
    limb *b = &l->limbs[number];
    const int32_t long_way = place->i1 - place->i0, x = below->cells[0], y = below->cells[1];
    *b = (limb){.cells = {long_way, place->side < 0 || place->side < 2 ? y : x}, .layers = place->layers};
    for (int32_t i = 0; i <= long_way; i++)
        for (int32_t j = 0; j <= b->cells[1]; j++) {
            const int32_t at = place->i0 + i;
            b->grid[0][i][j] = place->side < 0    ? below->grid[below->layers][at][j]
                               : place->side == 0 ? below->grid[at][x][j]
                               : place->side == 1 ? below->grid[at][0][j]
                               : place->side == 2 ? below->grid[at][j][y]
                                                  : below->grid[at][j][0];
        }
    extrude(l, b, number, place->below, place->kept, place->reach, place->taper);
}

/* ---- tets: each brick's middle, the middles of its faces, and their edges ---- */

typedef struct {
    int32_t key[4], vertex;
} face_middle;

static int by_number(const void *a, const void *b) {
    return *(const int32_t *)a - *(const int32_t *)b;
}

/* The middle of the face with these corners; made when it is new. count: of those there are. */
static int32_t middle_of(const int32_t corners[4], face_middle *faces, int32_t *count, double *vertices,
                         int32_t *vertex_count) {
    int32_t key[4];
    memcpy(key, corners, sizeof key);
    qsort(key, 4, sizeof *key, by_number);
    for (int32_t i = *count - 1; i >= 0; i--)
        if (!memcmp(faces[i].key, key, sizeof key))
            return faces[i].vertex;
    double *x = vertices + 3 * (size_t)*vertex_count;
    for (int d = 0; d < 3; d++) {
        x[d] = 0;
        for (int k = 0; k < 4; k++)
            x[d] += 0.25 * vertices[3 * (size_t)key[k] + (size_t)d];
    }
    memcpy(faces[*count].key, key, sizeof key);
    return faces[(*count)++].vertex = (*vertex_count)++;
}

static bough_mesh *cut_bricks(bough_context *ctx, const limbs *l) {
    bough_mesh *mesh = NULL;
    const size_t bricks = (size_t)l->brick_count;
    double *vertices = malloc(3 * ((size_t)l->vertex_count + 7 * bricks) * sizeof *vertices);
    int32_t *tets = malloc(4 * TETS * bricks * sizeof *tets), vertex_count = l->vertex_count, faces_found = 0, n = 0;
    face_middle *faces = malloc(6 * bricks * sizeof *faces);
    for (int32_t b = 0; b < l->brick_count && vertices && tets && faces; b++) {
        const int32_t *c = l->bricks + 8 * (size_t)b;
        if (b == 0)
            memcpy(vertices, l->vertices, 3 * (size_t)l->vertex_count * sizeof *vertices);
        const int32_t middle = vertex_count++;
        bo_vec3 x = bo_v3(0, 0, 0);
        for (int k = 0; k < 8; k++)
            x = bo_mul_add(x, 0.125, vertex(l, c[k]));
        bo_store3(vertices + 3 * (size_t)middle, x);
        for (int32_t f = 0; f < 6; f++) {
            int32_t local[4], corners[4];
            bough_element_face_corners(BOUGH_HEX8, f, local);
            for (int k = 0; k < 4; k++)
                corners[k] = c[local[k]];
            const int32_t at = middle_of(corners, faces, &faces_found, vertices, &vertex_count);
            for (int k = 0; k < 4; k++, n++) /* corners go round as seen from outside, the middle is inside */
                memcpy(tets + 4 * (size_t)n, (int32_t[4]){corners[(k + 1) % 4], corners[k], at, middle},
                       4 * sizeof *tets);
        }
    }
    if (vertices && tets && faces)
        bough_mesh_create(ctx, BOUGH_TET4, vertex_count, vertices, n, tets, &mesh);
    free(vertices), free(tets), free(faces);
    return mesh;
}

bough_mesh *limbs_mesh(bough_context *ctx, const limbs *l, bough_element_type type) {
    bough_mesh *mesh = NULL;
    const int32_t times = type == BOUGH_HEX8 ? 1 : TETS;
    if (type != BOUGH_HEX8)
        mesh = cut_bricks(ctx, l);
    else if (bough_mesh_create(ctx, BOUGH_HEX8, l->vertex_count, l->vertices, l->brick_count, l->bricks, &mesh))
        mesh = NULL;
    int32_t *items = malloc((size_t)l->brick_count * (size_t)times * sizeof *items);
    bool good = mesh && items;
    for (int32_t b = 0; b < l->limb_count && good; b++) {
        int32_t count = 0;
        char name[16];
        snprintf(name, sizeof name, "limb%d", b);
        for (int32_t e = 0; e < l->brick_count * times; e++)
            if (l->domain[e / times] == b)
                items[count++] = e;
        good = count == 0 || !bough_mesh_add_set(ctx, mesh, BOUGH_SET_ELEMENT, name, items, count);
    }
    free(items);
    bough_mesh *raised = NULL;
    if (good && type == BOUGH_TET10) {
        good = !bough_mesh_raise_order(ctx, mesh, &raised);
        bough_mesh_destroy(ctx, mesh);
        mesh = raised;
    }
    if (good)
        return mesh;
    bough_mesh_destroy(ctx, mesh);
    return NULL;
}
