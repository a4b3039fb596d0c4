#include "mesh/element.h"
#include "base/vec.h"

#include <math.h>

static const bo_element_info infos[] = {
    [BOUGH_TRI3] = {"tri3", 3, 3, 0, 0, {{0}}, 3, {{0, 1}, {1, 2}, {2, 0}}},
    [BOUGH_TET4] = {"tet4",
                    4,
                    4,
                    4,
                    3,
                    {{0, 2, 1, -1}, {0, 1, 3, -1}, {1, 2, 3, -1}, {0, 3, 2, -1}},
                    6,
                    {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}}},
    [BOUGH_TET10] = {"tet10",
                     10,
                     4,
                     4,
                     3,
                     {{0, 2, 1, -1}, {0, 1, 3, -1}, {1, 2, 3, -1}, {0, 3, 2, -1}},
                     6,
                     {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}}},
    [BOUGH_HEX8] = {"hex8",
                    8,
                    8,
                    6,
                    4,
                    {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}},
                    12,
                    {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6}, {6, 7}, {7, 4}, {0, 4}, {1, 5}, {2, 6}, {3, 7}}},
};

const bo_element_info *bo_element_info_of(bough_element_type type) {
    return &infos[type];
}

const char *bough_element_name(bough_element_type type) {
    return infos[type].name;
}

int32_t bough_element_node_count(bough_element_type type) {
    return infos[type].node_count;
}

int32_t bough_element_corner_count(bough_element_type type) {
    return infos[type].corner_count;
}

int32_t bough_element_face_count(bough_element_type type) {
    return infos[type].face_count;
}

int32_t bough_element_face_corners(bough_element_type type, int32_t face, int32_t corners[4]) {
    const bo_element_info *info = &infos[type];
    if (face < 0 || face >= info->face_count)
        return 0;
    for (int i = 0; i < 4; i++)
        corners[i] = info->faces[face][i];
    return info->face_corner_count;
}

static int32_t edge_node(const bo_element_info *info, int32_t a, int32_t b) {
    for (int32_t e = 0; e < info->edge_count; e++)
        if ((info->edges[e][0] == a && info->edges[e][1] == b) || (info->edges[e][0] == b && info->edges[e][1] == a))
            return info->corner_count + e;
    return -1;
}

int32_t bo_element_face_nodes(bough_element_type type, int32_t face, int32_t nodes[6]) {
    const bo_element_info *info = &infos[type];
    int32_t corners = info->face_corner_count;
    for (int32_t c = 0; c < corners; c++)
        nodes[c] = info->faces[face][c];
    if (type != BOUGH_TET10)
        return corners;
    for (int32_t c = 0; c < 3; c++)
        nodes[3 + c] = edge_node(info, nodes[c], nodes[(c + 1) % 3]);
    return 6;
}

static bo_vec3 vertex(const double *vertices, int32_t index) {
    return bo_load3(vertices + 3 * (size_t)index);
}

static double tet_volume(bo_vec3 a, bo_vec3 b, bo_vec3 c, bo_vec3 d) {
    return bo_dot(bo_cross(bo_sub(b, a), bo_sub(c, a)), bo_sub(d, a)) / 6;
}

static double triangle_area(const double *vertices, const int32_t *n) {
    bo_vec3 a = vertex(vertices, n[0]);
    return 0.5 * bo_norm(bo_cross(bo_sub(vertex(vertices, n[1]), a), bo_sub(vertex(vertices, n[2]), a)));
}

/* The three neighbours of each hex corner, right-handed for a positive element. */
static const int hex_neighbours[8][3] = {{1, 3, 4}, {2, 0, 5}, {3, 1, 6}, {0, 2, 7},
                                         {7, 5, 0}, {4, 6, 1}, {5, 7, 2}, {6, 4, 3}};

/* Jacobian determinant of a tet10 at natural coordinates L (barycentric). */
static double tet10_jacobian(const double *vertices, const int32_t *n, const double L[4]) {
    double g[4][3] = {{0}}; /* dx/dL_k */
    for (int c = 0; c < 4; c++) {
        bo_vec3 x = vertex(vertices, n[c]);
        double w = 4 * L[c] - 1;
        g[c][0] += w * x.x, g[c][1] += w * x.y, g[c][2] += w * x.z;
    }
    for (int e = 0; e < 6; e++) {
        int a = infos[BOUGH_TET10].edges[e][0], b = infos[BOUGH_TET10].edges[e][1];
        bo_vec3 x = vertex(vertices, n[4 + e]);
        g[a][0] += 4 * L[b] * x.x, g[a][1] += 4 * L[b] * x.y, g[a][2] += 4 * L[b] * x.z;
        g[b][0] += 4 * L[a] * x.x, g[b][1] += 4 * L[a] * x.y, g[b][2] += 4 * L[a] * x.z;
    }
    bo_vec3 d0 = bo_load3(g[0]);
    return bo_dot(bo_cross(bo_sub(bo_load3(g[1]), d0), bo_sub(bo_load3(g[2]), d0)), bo_sub(bo_load3(g[3]), d0));
}

double bo_element_least_volume(bough_element_type type, const double *vertices, const int32_t *nodes) {
    switch (type) {
    case BOUGH_TRI3:
        return triangle_area(vertices, nodes);
    case BOUGH_TET4:
        return tet_volume(vertex(vertices, nodes[0]), vertex(vertices, nodes[1]), vertex(vertices, nodes[2]),
                          vertex(vertices, nodes[3]));
    case BOUGH_TET10: {
        double least = INFINITY;
        for (int c = 0; c < 4; c++) {
            double L[4] = {0};
            L[c] = 1;
            least = fmin(least, tet10_jacobian(vertices, nodes, L) / 6);
        }
        return least;
    }
    case BOUGH_HEX8: {
        double least = INFINITY;
        for (int c = 0; c < 8; c++) {
            const int *k = hex_neighbours[c];
            least = fmin(least, 6 * tet_volume(vertex(vertices, nodes[c]), vertex(vertices, nodes[k[0]]),
                                               vertex(vertices, nodes[k[1]]), vertex(vertices, nodes[k[2]])));
        }
        return least;
    }
    }
    return 0;
}

double bo_element_volume(bough_element_type type, const double *vertices, const int32_t *n) {
    if (type == BOUGH_TET10) {
        /* det J is a cubic in L: the 5-point rule of degree 3 (Zienkiewicz) integrates it exactly. */
        const double centre[4] = {0.25, 0.25, 0.25, 0.25};
        double sum = -0.8 * tet10_jacobian(vertices, n, centre);
        for (int c = 0; c < 4; c++) {
            double L[4] = {1.0 / 6, 1.0 / 6, 1.0 / 6, 1.0 / 6};
            L[c] = 0.5;
            sum += 0.45 * tet10_jacobian(vertices, n, L);
        }
        return sum / 6;
    }
    if (type == BOUGH_HEX8) {
        /* 2 x 2 x 2 Gauss points are exact for the trilinear map's determinant (degree 2 in each variable). */
        double sum = 0;
        const double g = 0.5 - 0.5 / sqrt(3.0);
        for (int q = 0; q < 8; q++) {
            double u = q & 1 ? 1 - g : g, v = q & 2 ? 1 - g : g, w = q & 4 ? 1 - g : g;
            double a[3] = {0}, b[3] = {0}, c[3] = {0};
            for (int k = 0; k < 8; k++) {
                int i = (k ^ (k >> 1)) & 1, j = (k >> 1) & 1, l = k >> 2; /* corner k sits at (i,j,l) */
                double fu = i ? u : 1 - u, fv = j ? v : 1 - v, fw = l ? w : 1 - w;
                const double *x = vertices + 3 * (size_t)n[k];
                for (int d = 0; d < 3; d++) {
                    a[d] += (i ? 1 : -1) * fv * fw * x[d];
                    b[d] += (j ? 1 : -1) * fu * fw * x[d];
                    c[d] += (l ? 1 : -1) * fu * fv * x[d];
                }
            }
            sum += bo_dot(bo_cross(bo_load3(a), bo_load3(b)), bo_load3(c)) / 8;
        }
        return sum;
    }
    return bo_element_least_volume(type, vertices, n);
}

double bo_element_size(bough_element_type type, const double *vertices, const int32_t *nodes) {
    double longest = 0;
    for (int e = 0; e < infos[type].edge_count; e++) {
        const int32_t *edge = infos[type].edges[e];
        longest = fmax(longest, bo_norm(bo_sub(vertex(vertices, nodes[edge[0]]), vertex(vertices, nodes[edge[1]]))));
    }
    return longest;
}

int bo_element_sign(bough_element_type type, const double *vertices, const int32_t *nodes) {
    double size = bo_element_size(type, vertices, nodes);
    double unit = type == BOUGH_TRI3 ? size * size : size * size * size;
    double measure = bo_element_least_volume(type, vertices, nodes);
    /* Written so that a NaN (overflowing coordinates) counts as flat. */
    if (measure > BO_FLAT_RATIO * unit)
        return 1;
    return measure < -BO_FLAT_RATIO * unit ? -1 : 0;
}

static void swap(int32_t *nodes, int a, int b) {
    int32_t t = nodes[a];
    nodes[a] = nodes[b];
    nodes[b] = t;
}

void bo_element_flip(bough_element_type type, int32_t *nodes) {
    switch (type) {
    case BOUGH_TRI3:
        swap(nodes, 1, 2);
        break;
    case BOUGH_TET10: /* corners 1 and 2 change places, and with them edges 01 <-> 20 and 13 <-> 23 */
        swap(nodes, 4, 6);
        swap(nodes, 8, 9);
        swap(nodes, 1, 2);
        break;
    case BOUGH_TET4:
        swap(nodes, 1, 2);
        break;
    case BOUGH_HEX8: /* bottom and top change places */
        for (int i = 0; i < 4; i++)
            swap(nodes, i, i + 4);
        break;
    }
}
