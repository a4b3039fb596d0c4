/* Isosurface stuffing (Labelle and Shewchuk 2007): a body-centred cubic lattice whose vertices near the surface are
 * moved onto it, and whose tets that the surface still crosses are cut. The result has no bad angles: a vertex is moved
 * whenever a cut would come near to it. */
#include "base/vec.h"
#include "mesh/generate.h"

#include <math.h>

#define IMPLICIT_COOKIE 0xB0061005u
#define GRID_LIMIT 20e6 /* cells: about 500 MB while it is built */

/* A cut nearer to a vertex than this part of the edge moves the vertex; the paper's figures for the best angles. */
#define LONG_EDGE_LIMIT 0.24999
#define SHORT_EDGE_LIMIT 0.41189

/* Lattice points have integer coordinates in half cells, all even (corners of cells) or all odd (their middles). Each
 * has 14 neighbours: six at 2 along an axis (long edges), eight at 1 along each (short edges). */
enum { LONG_EDGES = 6, EDGES = 14, BLOCK = 4 };

typedef struct {
    int32_t x[3];
} place;

typedef struct {
    const bough_implicit_def *def;
    bough_context *ctx;
    int32_t n[3];    /* corners along each axis, and as many middles */
    double lower[3]; /* of the first corner */
    size_t point_count;
    float *value;          /* point_count: > 0 outside, 0 on the surface (moved there), < 0 inside */
    int32_t *near;         /* point_count: which of the points near the shape, or -1 */
    int32_t near_count;    /* inside, or with a neighbour inside */
    place *places;         /* near_count */
    bo_vec3 *positions;    /* near_count */
    int32_t *vertices;     /* near_count: of the mesh, or -1 */
    float *cuts;           /* near_count x EDGES: where the edge is cut, 0..1 from this end; of those that are */
    int32_t *cut_vertices; /* near_count x EDGES: of the mesh, or -1; for ends that are inside */
    double *x;             /* vertices of the mesh */
    int32_t *tets;
    size_t x_room, tets_room;
    int32_t vertex_count, tet_count;
} stuffing;

bough_implicit_def bough_default_implicit_def(void) {
    return (bough_implicit_def){.cookie = IMPLICIT_COOKIE, .upper = {1, 1, 1}, .cell = 0.1};
}

static bough_status check_def(bough_context *ctx, const bough_implicit_def *def) {
    if (def->cookie != IMPLICIT_COOKIE || !def->distance)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "the shape's def was not made by bough_default_implicit_def(), or has no distance function");
    if (!(def->cell > 0) || !isfinite(def->cell))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the cells' size is %g; it must be positive and finite", def->cell);
    double cells = 1;
    for (int d = 0; d < 3; d++) {
        if (!isfinite(def->lower[d]) || !isfinite(def->upper[d]) || !(def->upper[d] > def->lower[d]))
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the shape's box goes from %g to %g along %c", def->lower[d],
                           def->upper[d], 'x' + d);
        cells *= ceil((def->upper[d] - def->lower[d]) / def->cell) + 2;
    }
    if (!(cells <= GRID_LIMIT))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "cells of %g m make a lattice of %.3g cells in the shape's box; at most %.0f are possible",
                       def->cell, cells, GRID_LIMIT);
    return BOUGH_OK;
}

/* ---- the lattice ---- */

static size_t index_of(const stuffing *s, place p) {
    size_t odd = (size_t)(p.x[0] & 1);
    size_t cell =
        ((size_t)(p.x[2] >> 1) * (size_t)s->n[1] + (size_t)(p.x[1] >> 1)) * (size_t)s->n[0] + (size_t)(p.x[0] >> 1);
    return 2 * cell + odd;
}

static bool in_lattice(const stuffing *s, place p) {
    for (int d = 0; d < 3; d++)
        if (p.x[d] < 0 || p.x[d] >> 1 >= s->n[d])
            return false;
    return true;
}

static bo_vec3 position_of(const stuffing *s, place p) {
    const double half = 0.5 * s->def->cell;
    return bo_v3(s->lower[0] + half * p.x[0], s->lower[1] + half * p.x[1], s->lower[2] + half * p.x[2]);
}

static place neighbour(place p, int edge) {
    if (edge < LONG_EDGES)
        p.x[edge >> 1] += edge & 1 ? 2 : -2;
    else
        for (int d = 0; d < 3; d++)
            p.x[d] += (edge - LONG_EDGES) >> d & 1 ? 1 : -1;
    return p;
}

static int edge_between(place from, place to) {
    int edge = LONG_EDGES;
    for (int d = 0; d < 3; d++) {
        int step = to.x[d] - from.x[d];
        if (step == 2 || step == -2)
            return 2 * d + (step > 0);
        edge += (step > 0) << d;
    }
    return edge;
}

static float value_at(const stuffing *s, place p) {
    return in_lattice(s, p) ? s->value[index_of(s, p)] : INFINITY;
}

static double distance(const stuffing *s, bo_vec3 p) {
    double x[3];
    bo_store3(x, p);
    return s->def->distance(s->def->user, x);
}

/* A distance changes by no more than the distance between two points. So only blocks are examined whose middle is no
 * further from the surface than their corners are from their middle, plus a cell, since edges lead out of blocks. */
static void fill_block(stuffing *s, const int32_t first[3]) {
    const double half = 0.5 * s->def->cell, reach = (BLOCK - 0.5) * half * 1.7320508075688773 + 2 * half;
    bo_vec3 middle = position_of(s, (place){{2 * first[0], 2 * first[1], 2 * first[2]}});
    middle = bo_add(middle, bo_v3((BLOCK - 0.5) * half, (BLOCK - 0.5) * half, (BLOCK - 0.5) * half));
    const double there = distance(s, middle);
    int32_t last[3];
    for (int d = 0; d < 3; d++)
        last[d] = first[d] + BLOCK < s->n[d] ? first[d] + BLOCK : s->n[d];
    for (int32_t k = first[2]; k < last[2]; k++)
        for (int32_t j = first[1]; j < last[1]; j++)
            for (int32_t i = first[0]; i < last[0]; i++)
                for (int odd = 0; odd < 2; odd++) {
                    place p = {{2 * i + odd, 2 * j + odd, 2 * k + odd}};
                    double value = fabs(there) > reach ? there : distance(s, position_of(s, p));
                    s->value[index_of(s, p)] = (float)(value == 0 ? -1e-30 : value);
                }
}

static bough_status fill_lattice(stuffing *s) {
    const bough_implicit_def *def = s->def;
    s->point_count = 2;
    for (int d = 0; d < 3; d++) {
        s->n[d] = (int32_t)ceil((def->upper[d] - def->lower[d]) / def->cell) + 2;
        s->lower[d] = 0.5 * (def->lower[d] + def->upper[d] - (s->n[d] - 0.5) * def->cell);
        s->point_count *= (size_t)s->n[d];
    }
    s->value = BO_NEW_ARRAY(s->ctx, float, s->point_count);
    s->near = BO_NEW_ARRAY(s->ctx, int32_t, s->point_count);
    if (!s->value || !s->near)
        return BOUGH_ERROR_MEMORY;
    int32_t first[3];
    for (first[2] = 0; first[2] < s->n[2]; first[2] += BLOCK)
        for (first[1] = 0; first[1] < s->n[1]; first[1] += BLOCK)
            for (first[0] = 0; first[0] < s->n[0]; first[0] += BLOCK)
                fill_block(s, first);
    return BOUGH_OK;
}

/* The place with this index. */
static place place_of(const stuffing *s, size_t index) {
    const size_t cell = index / 2, row = cell / (size_t)s->n[0];
    const int32_t odd = (int32_t)(index % 2);
    return (place){{2 * (int32_t)(cell % (size_t)s->n[0]) + odd, 2 * (int32_t)(row % (size_t)s->n[1]) + odd,
                    2 * (int32_t)(row / (size_t)s->n[1]) + odd}};
}

static bool is_near(const stuffing *s, place p) {
    bool near = value_at(s, p) < 0;
    for (int e = 0; e < EDGES && !near; e++)
        near = value_at(s, neighbour(p, e)) < 0;
    return near;
}

static bool at_border(const stuffing *s, place p) {
    for (int d = 0; d < 3; d++)
        if (p.x[d] < 2 || p.x[d] >> 1 >= s->n[d] - 1)
            return true;
    return false;
}

static bough_status list_near(stuffing *s) {
    size_t room = 0;
    for (size_t i = 0; i < s->point_count; i++) {
        s->near[i] = -1;
        if (isnan(s->value[i]))
            return bo_fail(s->ctx, BOUGH_NOT_FINITE, "the shape's distance is not a number somewhere");
        place p = place_of(s, i);
        if (!is_near(s, p))
            continue;
        if (s->value[i] < 0 && at_border(s, p))
            return bo_fail(s->ctx, BOUGH_ERROR_ARGUMENT,
                           "the shape reaches the border of its box; make the box larger");
        if (!BO_RESERVE(s->ctx, s->places, room, (size_t)s->near_count + 1))
            return BOUGH_ERROR_MEMORY;
        s->near[i] = s->near_count;
        s->places[s->near_count++] = p;
    }
    if (!s->near_count)
        return bo_fail(s->ctx, BOUGH_ERROR_ARGUMENT,
                       "no point of the lattice lies inside the shape; it is empty, or thinner than the cells");
    if (s->near_count > BO_MESH_LIMIT)
        return bo_fail(s->ctx, BOUGH_ERROR_ARGUMENT, "the cells are too small: more than %d vertices", BO_MESH_LIMIT);
    return BOUGH_OK;
}

/* ---- cuts ---- */

static bool differ(float a, float b) {
    return (a < 0 && b > 0) || (a > 0 && b < 0);
}

/* Finds t with f(a + t (b - a)) = 0, by two steps of regula falsi: distances are nearly linear over an edge. */
static double find_cut(const stuffing *s, bo_vec3 a, bo_vec3 b, double fa, double fb) {
    double low = 0, high = 1, t = fa / (fa - fb);
    for (int i = 0; i < 2; i++) {
        double f = distance(s, bo_add(a, bo_scale(t, bo_sub(b, a))));
        if ((f < 0) == (fa < 0))
            low = t, fa = f;
        else
            high = t, fb = f;
        if (fa == fb)
            break;
        t = low + (high - low) * fa / (fa - fb);
    }
    return fmin(fmax(t, 0), 1);
}

static bough_status find_cuts(stuffing *s) {
    const size_t count = (size_t)s->near_count;
    s->positions = BO_NEW_ARRAY(s->ctx, bo_vec3, count);
    s->vertices = BO_NEW_ARRAY(s->ctx, int32_t, count);
    s->cuts = BO_NEW_ARRAY(s->ctx, float, count *EDGES);
    s->cut_vertices = BO_NEW_ARRAY(s->ctx, int32_t, count * EDGES);
    if (!s->positions || !s->vertices || !s->cuts || !s->cut_vertices)
        return BOUGH_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++) {
        s->positions[i] = position_of(s, s->places[i]);
        s->vertices[i] = -1;
        for (int e = 0; e < EDGES; e++)
            s->cuts[i * EDGES + (size_t)e] = 1, s->cut_vertices[i * EDGES + (size_t)e] = -1;
    }
    for (size_t i = 0; i < count; i++) {
        const float here = value_at(s, s->places[i]);
        for (int e = 0; e < EDGES && here < 0; e++) {
            const place other = neighbour(s->places[i], e);
            const float there = value_at(s, other);
            if (!(there > 0))
                continue;
            const double t = find_cut(s, s->positions[i], position_of(s, other), (double)here, (double)there);
            const size_t back = (size_t)s->near[index_of(s, other)] * EDGES + (size_t)edge_between(other, s->places[i]);
            s->cuts[i * EDGES + (size_t)e] = (float)t;
            s->cuts[back] = (float)(1 - t);
        }
    }
    return BOUGH_OK;
}

static bo_vec3 cut_point(const stuffing *s, int32_t i, int e) {
    const bo_vec3 a = position_of(s, s->places[i]), b = position_of(s, neighbour(s->places[i], e));
    return bo_add(a, bo_scale((double)s->cuts[(size_t)i * EDGES + (size_t)e], bo_sub(b, a)));
}

/* Vertices with a cut near by move to the nearest one; they lie on the surface then, and their edges are not cut. */
static void move_vertices(stuffing *s) {
    for (int32_t i = 0; i < s->near_count; i++) {
        const size_t index = index_of(s, s->places[i]);
        double nearest = INFINITY;
        int chosen = -1;
        for (int e = 0; e < EDGES; e++) {
            const double t = (double)s->cuts[(size_t)i * EDGES + (size_t)e];
            const double length = e < LONG_EDGES ? 1 : 0.8660254037844386;
            if (t < (e < LONG_EDGES ? LONG_EDGE_LIMIT : SHORT_EDGE_LIMIT) && t * length < nearest &&
                differ(s->value[index], value_at(s, neighbour(s->places[i], e))))
                nearest = t * length, chosen = e;
        }
        if (chosen < 0)
            continue;
        s->positions[i] = cut_point(s, i, chosen);
        s->value[index] = 0;
    }
}

/* ---- tets ---- */

static bool add_vertex(stuffing *s, bo_vec3 p, int32_t *vertex) {
    if (*vertex >= 0)
        return true;
    if (!BO_RESERVE(s->ctx, s->x, s->x_room, 3 * ((size_t)s->vertex_count + 1)))
        return false;
    bo_store3(s->x + 3 * (size_t)s->vertex_count, p);
    *vertex = s->vertex_count++;
    return true;
}

static bool add_tet(stuffing *s, int32_t a, int32_t b, int32_t c, int32_t d) {
    if (!BO_RESERVE(s->ctx, s->tets, s->tets_room, 4 * ((size_t)s->tet_count + 1)))
        return false;
    const bo_vec3 o = bo_load3(s->x + 3 * (size_t)a);
    const bo_vec3 p = bo_sub(bo_load3(s->x + 3 * (size_t)b), o), q = bo_sub(bo_load3(s->x + 3 * (size_t)c), o);
    const bool turned = bo_dot(bo_cross(p, q), bo_sub(bo_load3(s->x + 3 * (size_t)d), o)) < 0;
    int32_t *tet = s->tets + 4 * (size_t)s->tet_count++;
    tet[0] = a, tet[1] = turned ? c : b, tet[2] = turned ? b : c, tet[3] = d;
    return true;
}

/* A convex body of triangles and quads (repeated last corner: a triangle), as tets from its corner of the lowest
 * number. Quads are cut from their lowest corner too, so that neighbours agree. */
static bool fan_out(stuffing *s, const int32_t (*faces)[4], int face_count) {
    int32_t apex = INT32_MAX;
    for (int f = 0; f < face_count; f++)
        for (int c = 0; c < 4; c++)
            apex = faces[f][c] < apex ? faces[f][c] : apex;
    for (int f = 0; f < face_count; f++) {
        const int32_t *q = faces[f];
        const int corners = q[3] == q[2] ? 3 : 4;
        int low = 0;
        bool at_apex = false;
        for (int c = 0; c < corners; c++) {
            at_apex = at_apex || q[c] == apex;
            low = q[c] < q[low] ? c : low;
        }
        for (int t = 1; t + 1 < corners && !at_apex; t++)
            if (!add_tet(s, apex, q[low], q[(low + t) % corners], q[(low + t + 1) % corners]))
                return false;
    }
    return true;
}

/* Corners of a lattice tet by sign, and the cut between an inner and an outer one. */
typedef struct {
    int32_t inner[4], on[4], outer[4]; /* of the near points */
    int inner_count, on_count, outer_count;
} sorted;

static bool vertex_of(stuffing *s, int32_t point, int32_t *vertex) {
    const bool good = add_vertex(s, s->positions[point], &s->vertices[point]);
    *vertex = s->vertices[point];
    return good;
}

static bool cut_of(stuffing *s, int32_t inner, int32_t outer, int32_t *vertex) {
    const int e = edge_between(s->places[inner], s->places[outer]);
    int32_t *slot = &s->cut_vertices[(size_t)inner * EDGES + (size_t)e];
    const bool good = add_vertex(s, cut_point(s, inner, e), slot);
    *vertex = *slot;
    return good;
}

/* The inner part of the tet: inner corners, corners on the surface, and cuts towards the outer ones. */
static bool add_inner_part(stuffing *s, const sorted *t) {
    int32_t v[4] = {0}, cut[4][4];
    for (int i = 0; i < t->inner_count; i++)
        if (!vertex_of(s, t->inner[i], &v[i]))
            return false;
    for (int i = 0; i < t->on_count; i++)
        if (!vertex_of(s, t->on[i], &v[t->inner_count + i]))
            return false;
    for (int i = 0; i < t->inner_count; i++)
        for (int o = 0; o < t->outer_count; o++)
            if (!cut_of(s, t->inner[i], t->outer[o], &cut[i][o]))
                return false;
    if (t->outer_count == 0)
        return add_tet(s, v[0], v[1], v[2], v[3]);
    if (t->inner_count == 1) {
        for (int o = 0; o < t->outer_count; o++)
            v[1 + t->on_count + o] = cut[0][o];
        return add_tet(s, v[0], v[1], v[2], v[3]);
    }
    if (t->on_count == 1) { /* a pyramid over the quad of two inner corners and their cuts */
        const int32_t faces[5][4] = {{v[0], v[1], cut[1][0], cut[0][0]},
                                     {v[2], v[0], v[1], v[1]},
                                     {v[2], v[1], cut[1][0], cut[1][0]},
                                     {v[2], cut[1][0], cut[0][0], cut[0][0]},
                                     {v[2], cut[0][0], v[0], v[0]}};
        return fan_out(s, faces, 5);
    }
    /* a wedge: two triangles that face each other, as a[] and b[] */
    const bool two = t->inner_count == 2;
    const int32_t a[3] = {v[0], two ? cut[0][0] : v[1], two ? cut[0][1] : v[2]};
    const int32_t b[3] = {two ? v[1] : cut[0][0], cut[1][0], two ? cut[1][1] : cut[2][0]};
    const int32_t faces[5][4] = {{a[0], a[1], a[2], a[2]},
                                 {b[0], b[1], b[2], b[2]},
                                 {a[0], a[1], b[1], b[0]},
                                 {a[1], a[2], b[2], b[1]},
                                 {a[2], a[0], b[0], b[2]}};
    return fan_out(s, faces, 5);
}

static bool add_lattice_tet(stuffing *s, const place corners[4]) {
    sorted t = {.inner_count = 0};
    bool inside = false;
    for (int c = 0; c < 4; c++)
        inside = inside || value_at(s, corners[c]) < 0;
    for (int c = 0; c < 4 && inside; c++) { /* all are near, since one is inside */
        const size_t index = index_of(s, corners[c]);
        if (s->value[index] < 0)
            t.inner[t.inner_count++] = s->near[index];
        else if (s->value[index] > 0)
            t.outer[t.outer_count++] = s->near[index];
        else
            t.on[t.on_count++] = s->near[index];
    }
    return !inside || add_inner_part(s, &t);
}

/* Four tets around each long edge between the middles of two cells: with the edges of the face between these. */
static bool add_tets_at(stuffing *s, place middle) {
    static const int ring[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    for (int d = 0; d < 3; d++)
        for (int r = 0; r < 4; r++) {
            place corners[4] = {middle, neighbour(middle, 2 * d + 1), middle, middle};
            for (int c = 0; c < 2; c++) {
                const int *at = ring[(r + c) % 4];
                place *corner = &corners[2 + c];
                corner->x[d] += 1, corner->x[(d + 1) % 3] += at[0], corner->x[(d + 2) % 3] += at[1];
            }
            if (!add_lattice_tet(s, corners))
                return false;
        }
    return true;
}

static bough_status add_tets(stuffing *s) {
    for (int32_t k = 0; k < s->n[2]; k++)
        for (int32_t j = 0; j < s->n[1]; j++)
            for (int32_t i = 0; i < s->n[0]; i++) {
                const place middle = {{2 * i + 1, 2 * j + 1, 2 * k + 1}};
                bool near = s->near[index_of(s, middle)] >= 0;
                for (int d = 0; d < 3 && !near; d++) {
                    const place next = neighbour(middle, 2 * d + 1);
                    near = in_lattice(s, next) && s->near[index_of(s, next)] >= 0;
                }
                if (near && !add_tets_at(s, middle))
                    return BOUGH_ERROR_MEMORY;
                if (s->tet_count > BO_MESH_LIMIT)
                    return bo_fail(s->ctx, BOUGH_ERROR_ARGUMENT, "the cells are too small: more than %d tets",
                                   BO_MESH_LIMIT);
            }
    return s->tet_count ? BOUGH_OK : bo_fail(s->ctx, BOUGH_ERROR_ARGUMENT, "the shape is thinner than the cells");
}

static bough_status stuff(stuffing *s, bough_mesh **mesh) {
    BO_TRY(fill_lattice(s));
    BO_TRY(list_near(s));
    BO_TRY(find_cuts(s));
    move_vertices(s);
    BO_TRY(add_tets(s));
    return bough_mesh_create(s->ctx, BOUGH_TET4, s->vertex_count, s->x, s->tet_count, s->tets, mesh);
}

bough_status bough_mesh_generate_implicit(bough_context *ctx, const bough_implicit_def *def, bough_mesh **mesh) {
    stuffing s = {.ctx = ctx, .def = def};
    *mesh = NULL;
    BO_TRY(check_def(ctx, def));
    bough_status status = stuff(&s, mesh);
    bo_free(ctx, s.value), bo_free(ctx, s.near), bo_free(ctx, s.places), bo_free(ctx, s.positions);
    bo_free(ctx, s.vertices), bo_free(ctx, s.cuts), bo_free(ctx, s.cut_vertices);
    bo_free(ctx, s.x), bo_free(ctx, s.tets);
    return status;
}
