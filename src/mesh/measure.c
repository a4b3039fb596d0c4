#include "base/idmap.h"
#include "base/vec.h"
#include "mesh/generate.h"

#include <math.h>
#include <string.h>

static bo_vec3 corner(const bough_mesh *mesh, const int32_t *nodes, int32_t local) {
    return bo_load3(mesh->vertices + 3 * (size_t)nodes[local]);
}

/* ---- volume and centroid ---- */

/* Volume and first moments about a point near the mesh, so that a mesh far from the origin loses no digits. */
typedef struct moments {
    bo_vec3 centre;
    double volume;
    bo_vec3 first;
} moments;

static void add_point(moments *m, bo_vec3 x, double weight) {
    m->volume += weight;
    m->first = bo_mul_add(m->first, weight, bo_sub(x, m->centre));
}

static void add_tet(moments *m, bo_vec3 a, bo_vec3 b, bo_vec3 c, bo_vec3 d) {
    double volume = bo_dot(bo_cross(bo_sub(b, a), bo_sub(c, a)), bo_sub(d, a)) / 6;
    add_point(m, bo_scale(0.25, bo_add(bo_add(a, b), bo_add(c, d))), volume);
}

static void add_tet10_point(moments *m, const bough_mesh *mesh, const int32_t *nodes, const double L[4],
                            double weight) {
    const bo_element_info *info = bo_element_info_of(BOUGH_TET10);
    bo_vec3 x = {0, 0, 0}, g[4] = {{0, 0, 0}}; /* g[k] = dx/dL_k */
    for (int c = 0; c < 4; c++) {
        bo_vec3 p = corner(mesh, nodes, c);
        x = bo_mul_add(x, L[c] * (2 * L[c] - 1), p);
        g[c] = bo_mul_add(g[c], 4 * L[c] - 1, p);
    }
    for (int e = 0; e < 6; e++) {
        int32_t a = info->edges[e][0], b = info->edges[e][1];
        bo_vec3 p = corner(mesh, nodes, 4 + e);
        x = bo_mul_add(x, 4 * L[a] * L[b], p);
        g[a] = bo_mul_add(g[a], 4 * L[b], p);
        g[b] = bo_mul_add(g[b], 4 * L[a], p);
    }
    double det = bo_dot(bo_cross(bo_sub(g[1], g[0]), bo_sub(g[2], g[0])), bo_sub(g[3], g[0]));
    add_point(m, x, weight * det / 6);
}

/* x det J has degree 5 on a curved tet10: Stroud's rule T3:5-1 with 15 points is exact. */
static void add_tet10(moments *m, const bough_mesh *mesh, const int32_t *nodes) {
    const double s15 = sqrt(15.0);
    add_tet10_point(m, mesh, nodes, (double[4]){0.25, 0.25, 0.25, 0.25}, 16.0 / 135);
    for (int sign = -1; sign <= 1; sign += 2) {
        double r = (7 + sign * s15) / 34, weight = (2665 - sign * 14 * s15) / 37800;
        for (int c = 0; c < 4; c++) {
            double L[4] = {r, r, r, r};
            L[c] = 1 - 3 * r;
            add_tet10_point(m, mesh, nodes, L, weight);
        }
    }
    for (int a = 0; a < 4; a++)
        for (int b = a + 1; b < 4; b++) {
            double L[4] = {(10 - 2 * s15) / 40, (10 - 2 * s15) / 40, (10 - 2 * s15) / 40, (10 - 2 * s15) / 40};
            L[a] = L[b] = (10 + 2 * s15) / 40;
            add_tet10_point(m, mesh, nodes, L, 10.0 / 189);
        }
}

/* x det J has degree 3 in each variable of a trilinear hex: 2 x 2 x 2 Gauss points are exact. */
static void add_hex(moments *m, const bough_mesh *mesh, const int32_t *nodes) {
    const double g = 0.5 - 0.5 / sqrt(3.0);
    for (int q = 0; q < 8; q++) {
        double u[3] = {q & 1 ? 1 - g : g, q & 2 ? 1 - g : g, q & 4 ? 1 - g : g};
        bo_vec3 x = {0, 0, 0}, J[3] = {{0, 0, 0}};
        for (int k = 0; k < 8; k++) {
            int at[3] = {(k ^ k >> 1) & 1, k >> 1 & 1, k >> 2};
            double f[3], slope[3];
            for (int d = 0; d < 3; d++)
                f[d] = at[d] ? u[d] : 1 - u[d], slope[d] = at[d] ? 1 : -1;
            bo_vec3 p = corner(mesh, nodes, k);
            x = bo_mul_add(x, f[0] * f[1] * f[2], p);
            J[0] = bo_mul_add(J[0], slope[0] * f[1] * f[2], p);
            J[1] = bo_mul_add(J[1], slope[1] * f[0] * f[2], p);
            J[2] = bo_mul_add(J[2], slope[2] * f[0] * f[1], p);
        }
        add_point(m, x, bo_dot(bo_cross(J[0], J[1]), J[2]) / 8);
    }
}

static void add_element(moments *m, const bough_mesh *mesh, const int32_t *nodes) {
    switch (mesh->type) {
    case BOUGH_TRI3: /* the tet from the centre to the triangle; what is outside cancels on a closed surface */
        add_tet(m, m->centre, corner(mesh, nodes, 0), corner(mesh, nodes, 1), corner(mesh, nodes, 2));
        break;
    case BOUGH_TET4:
        add_tet(m, corner(mesh, nodes, 0), corner(mesh, nodes, 1), corner(mesh, nodes, 2), corner(mesh, nodes, 3));
        break;
    case BOUGH_TET10:
        add_tet10(m, mesh, nodes);
        break;
    case BOUGH_HEX8:
        add_hex(m, mesh, nodes);
        break;
    }
}

/* ---- quality ---- */

static double sum_of_squared_edges(const bough_mesh *mesh, const int32_t *nodes) {
    const bo_element_info *info = bo_element_info_of(mesh->type);
    double sum = 0;
    for (int32_t e = 0; e < info->edge_count; e++) {
        bo_vec3 d = bo_sub(corner(mesh, nodes, info->edges[e][0]), corner(mesh, nodes, info->edges[e][1]));
        sum += bo_dot(d, d);
    }
    return sum;
}

/* Smallest sine-like product of the three unit edges at a corner: 1 for a right angled one. */
static double scaled_jacobian(const bough_mesh *mesh, const int32_t *nodes) {
    static const int neighbours[8][3] = {{1, 3, 4}, {2, 0, 5}, {3, 1, 6}, {0, 2, 7},
                                         {7, 5, 0}, {4, 6, 1}, {5, 7, 2}, {6, 4, 3}};
    double least = 1;
    for (int c = 0; c < 8; c++) {
        bo_vec3 e[3];
        for (int k = 0; k < 3; k++)
            e[k] = bo_normalize(bo_sub(corner(mesh, nodes, neighbours[c][k]), corner(mesh, nodes, c)));
        least = fmin(least, bo_dot(bo_cross(e[0], e[1]), e[2]));
    }
    return least;
}

/* 0 flat or inverted, 1 regular. */
static double quality(const bough_mesh *mesh, const int32_t *nodes) {
    double q = 0;
    if (bo_element_sign(mesh->type, mesh->vertices, nodes) <= 0)
        return 0;
    if (mesh->type == BOUGH_HEX8) {
        q = scaled_jacobian(mesh, nodes);
    } else if (mesh->type == BOUGH_TRI3) {
        q = 4 * sqrt(3.0) * bo_element_volume(BOUGH_TRI3, mesh->vertices, nodes) / sum_of_squared_edges(mesh, nodes);
    } else {
        double volume = bo_element_volume(BOUGH_TET4, mesh->vertices, nodes); /* of the corners, for tet10 too */
        q = 12 * cbrt(9 * volume * volume) / sum_of_squared_edges(mesh, nodes);
    }
    return fmin(fmax(q, 0), 1);
}

/* ---- counting ---- */

bough_status bo_surface_census(bough_context *ctx, const bough_mesh *surface, bo_edge_census *census) {
    *census = (bo_edge_census){0};
    bo_idmap numbers = {0};
    size_t room = 3 * (size_t)surface->element_count;
    int32_t(*uses)[2] = bo_calloc(ctx, room, sizeof *uses); /* of each edge: upwards and downwards in vertex numbers */
    bough_status status = uses ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (size_t i = 0; i < room && status == BOUGH_OK; i++) {
        int32_t a = surface->elements[i], b = surface->elements[i % 3 == 2 ? i - 2 : i + 1], number;
        int64_t key = a < b ? (int64_t)a << 32 | b : (int64_t)b << 32 | a;
        status = bo_idmap_add(ctx, &numbers, key, census->edge_count, &number);
        if (status == BOUGH_OK)
            uses[number < 0 ? census->edge_count++ : number][a > b]++;
    }
    for (int32_t e = 0; e < census->edge_count && status == BOUGH_OK; e++) {
        int32_t total = uses[e][0] + uses[e][1];
        census->open_count += total == 1;
        census->odd_count += total % 2;
        census->crowded_count += total > 2;
        census->inconsistent_count += uses[e][0] != uses[e][1];
    }
    bo_idmap_free(ctx, &numbers);
    bo_free(ctx, uses);
    return status;
}

static void sorted_corners(const bough_mesh *mesh, int32_t element, int32_t key[8]) {
    int32_t count = bo_element_info_of(mesh->type)->corner_count;
    const int32_t *nodes = bo_mesh_nodes(mesh, element);
    for (int32_t i = 0; i < count; i++) {
        int32_t j = i;
        for (; j > 0 && key[j - 1] > nodes[i]; j--)
            key[j] = key[j - 1];
        key[j] = nodes[i];
    }
    for (int32_t i = count; i < 8; i++)
        key[i] = -1;
}

/* Elements with the same corners meet in a chain of the hash table over sorted corners. */
static bough_status count_duplicates(bough_context *ctx, const bough_mesh *mesh, int32_t *duplicates) {
    size_t slots = 16;
    while (slots < (size_t)mesh->element_count)
        slots *= 2;
    int32_t *first = BO_NEW_ARRAY(ctx, int32_t, slots), *next = BO_NEW_ARRAY(ctx, int32_t, mesh->element_count);
    if (first && next) {
        memset(first, 0xff, slots * sizeof *first);
        for (int32_t e = 0; e < mesh->element_count; e++) {
            int32_t key[8], other[8];
            uint64_t hash = 0;
            sorted_corners(mesh, e, key);
            for (int i = 0; i < 8; i++)
                hash = (hash ^ (uint32_t)key[i]) * 0x9E3779B97F4A7C15u;
            int32_t *chain = &first[(size_t)(hash >> 32) & (slots - 1)], at = *chain;
            for (; at >= 0; at = next[at]) {
                sorted_corners(mesh, at, other);
                if (memcmp(key, other, sizeof key) == 0)
                    break;
            }
            if (at >= 0)
                ++*duplicates;
            next[e] = *chain; /* a duplicate goes in too: next[] must be defined for all */
            *chain = e;
        }
    }
    bough_status status = first && next ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    bo_free(ctx, first);
    bo_free(ctx, next);
    return status;
}

static int32_t root_of(int32_t *parent, int32_t v) {
    while (parent[v] != v)
        v = parent[v] = parent[parent[v]];
    return v;
}

bough_status bo_mesh_pieces(bough_context *ctx, const bough_mesh *mesh, int32_t *piece, int32_t *piece_count) {
    int32_t *parent = BO_NEW_ARRAY(ctx, int32_t, mesh->vertex_count);
    if (!parent)
        return BOUGH_ERROR_MEMORY;
    int32_t n = bo_element_info_of(mesh->type)->node_count;
    for (int32_t v = 0; v < mesh->vertex_count; v++)
        parent[v] = v, piece[v] = -1;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const int32_t *nodes = bo_mesh_nodes(mesh, e);
        for (int32_t i = 0; i < n; i++) {
            int32_t a = root_of(parent, nodes[i]), b = root_of(parent, nodes[0]);
            parent[a > b ? a : b] = a > b ? b : a; /* the lowest vertex of a piece is its root */
            piece[nodes[i]] = 0;
        }
    }
    *piece_count = 0;
    for (int32_t v = 0; v < mesh->vertex_count; v++)
        if (piece[v] == 0)
            piece[v] = parent[v] == v ? (*piece_count)++ : piece[root_of(parent, v)];
    bo_free(ctx, parent);
    return BOUGH_OK;
}

static bough_status count_pieces(bough_context *ctx, const bough_mesh *mesh, bough_mesh_report *report) {
    int32_t *piece = BO_NEW_ARRAY(ctx, int32_t, mesh->vertex_count);
    if (!piece)
        return BOUGH_ERROR_MEMORY;
    bough_status status = bo_mesh_pieces(ctx, mesh, piece, &report->piece_count);
    for (int32_t v = 0; v < mesh->vertex_count && status == BOUGH_OK; v++)
        report->unused_vertex_count += piece[v] < 0;
    bo_free(ctx, piece);
    return status;
}

/* ---- the report ---- */

static void measure_elements(const bough_mesh *mesh, bough_mesh_report *r) {
    r->worst_element = r->first_inverted = r->first_flat = -1;
    r->smallest = mesh->element_count ? INFINITY : 0;
    r->largest = mesh->element_count ? -INFINITY : 0;
    r->worst_quality = 1;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const int32_t *nodes = bo_mesh_nodes(mesh, e);
        double volume = bo_element_volume(mesh->type, mesh->vertices, nodes);
        r->smallest = fmin(r->smallest, volume);
        r->largest = fmax(r->largest, volume);
        double q = quality(mesh, nodes);
        if (q < r->worst_quality || r->worst_element < 0)
            r->worst_quality = q, r->worst_element = e;
        int sign = bo_element_sign(mesh->type, mesh->vertices, nodes);
        if (sign < 0 && r->inverted_count++ == 0)
            r->first_inverted = e;
        if (sign == 0 && r->flat_count++ == 0)
            r->first_flat = e;
    }
}

static void measure_bounds(const bough_mesh *mesh, bough_mesh_report *r) {
    for (int d = 0; d < 3; d++)
        r->lower[d] = INFINITY, r->upper[d] = -INFINITY;
    for (size_t i = 0; i < 3 * (size_t)mesh->vertex_count; i++) {
        r->lower[i % 3] = fmin(r->lower[i % 3], mesh->vertices[i]);
        r->upper[i % 3] = fmax(r->upper[i % 3], mesh->vertices[i]);
    }
    if (mesh->vertex_count == 0)
        for (int d = 0; d < 3; d++)
            r->lower[d] = r->upper[d] = 0;
}

static moments empty_moments(const bough_mesh_report *r) {
    return (moments){.centre = bo_scale(0.5, bo_add(bo_load3(r->lower), bo_load3(r->upper)))};
}

static void measure_volume(const bough_mesh *mesh, bough_mesh_report *r) {
    moments m = empty_moments(r);
    for (int32_t e = 0; e < mesh->element_count; e++)
        add_element(&m, mesh, bo_mesh_nodes(mesh, e));
    r->volume = m.volume;
    bo_store3(r->centroid, m.volume != 0 ? bo_mul_add(m.centre, 1 / m.volume, m.first) : m.centre);
}

/* Total area; also its centroid when asked for. */
static double surface_area(const bough_mesh *surface, const bough_mesh_report *r, double *centroid) {
    moments m = empty_moments(r);
    for (int32_t t = 0; t < surface->element_count; t++) {
        const int32_t *nodes = bo_mesh_nodes(surface, t);
        bo_vec3 middle =
            bo_add(bo_add(corner(surface, nodes, 0), corner(surface, nodes, 1)), corner(surface, nodes, 2));
        add_point(&m, bo_scale(1.0 / 3, middle), bo_element_volume(BOUGH_TRI3, surface->vertices, nodes));
    }
    if (centroid)
        bo_store3(centroid, m.volume > 0 ? bo_mul_add(m.centre, 1 / m.volume, m.first) : m.centre);
    return m.volume;
}

static bough_status report_surface(bough_context *ctx, const bough_mesh *mesh, bough_mesh_report *r) {
    bo_edge_census census;
    BO_TRY(bo_surface_census(ctx, mesh, &census));
    r->boundary_face_count = mesh->element_count;
    r->nonmanifold_count = census.open_count + census.crowded_count;
    r->area = surface_area(mesh, r, r->centroid);
    if (census.odd_count == 0 && census.inconsistent_count == 0)
        measure_volume(mesh, r);
    return BOUGH_OK;
}

static bough_status report_volume(bough_context *ctx, const bough_mesh *mesh, bough_mesh_report *r) {
    measure_volume(mesh, r);
    bough_mesh *surface;
    BO_TRY(bo_mesh_boundary(ctx, mesh, &surface, &r->boundary_face_count, &r->nonmanifold_count));
    r->area = surface_area(surface, r, NULL);
    bough_mesh_destroy(ctx, surface);
    return BOUGH_OK;
}

bough_status bough_mesh_measure(bough_context *ctx, const bough_mesh *mesh, bough_mesh_report *report) {
    *report = (bough_mesh_report){0};
    measure_bounds(mesh, report);
    measure_elements(mesh, report);
    BO_TRY(count_duplicates(ctx, mesh, &report->duplicate_element_count));
    BO_TRY(count_pieces(ctx, mesh, report));
    return mesh->type == BOUGH_TRI3 ? report_surface(ctx, mesh, report) : report_volume(ctx, mesh, report);
}
