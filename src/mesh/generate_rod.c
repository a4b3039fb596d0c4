#include "mesh/generate.h"

#include <math.h>

#define ROD_COOKIE 0xB0061004u

enum { SIDE_BOTTOM = 1, SIDE_TOP = 2, SIDE_ROUND = 4 };
static const char *const side_names[] = {"bottom", "top", "side"};

bough_rod_def bough_default_rod_def(void) {
    return (bough_rod_def){.cookie = ROD_COOKIE,
                           .type = BOUGH_TET4,
                           .length = 1,
                           .radius = 0.1,
                           .cells_along = 10,
                           .core_cells = 4,
                           .rings = 2,
                           .grading = 1};
}

static bool positive(double x) {
    return x > 0 && isfinite(x);
}

static bough_status check_def(bough_context *ctx, const bough_rod_def *def) {
    if (def->cookie != ROD_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the rod def was not made by bough_default_rod_def()");
    if (def->type != BOUGH_TET4 && def->type != BOUGH_TET10 && def->type != BOUGH_HEX8)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a rod is made of tet4, tet10 or hex8 elements");
    if (!positive(def->length) || !positive(def->radius))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "the rod's length is %g and its radius %g; both must be positive and finite", def->length,
                       def->radius);
    if (!(def->top_radius >= 0) || !isfinite(def->top_radius))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "the rod's top radius is %g; it must be positive, or 0 to be the same as the radius",
                       def->top_radius);
    if (def->cells_along < 1 || def->core_cells < 1 || def->rings < 1)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "the rod has %d cells along, %d across the core and %d rings; each must be at least 1",
                       def->cells_along, def->core_cells, def->rings);
    if (!(def->grading >= 0.1 && def->grading <= 10))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the rod's grading is %g; it must be between 0.1 and 10",
                       def->grading);
    return BOUGH_OK;
}

/* The cross section of radius 1: (core_cells + 1)^2 points of the core, row by row, then rings of 4 core_cells points,
 * from the inside to the outside, each beginning at the angle -135 degrees and running counter-clockwise. */
typedef struct section {
    int32_t core, rings, around; /* around = 4 core */
    int32_t point_count, quad_count;
    double *points; /* point_count x 2 */
    int32_t *quads; /* quad_count x 4, counter-clockwise; tets cut them from corner 0 to corner 2 */
} section;

static void free_section(bough_context *ctx, section *s) {
    bo_free(ctx, s->points);
    bo_free(ctx, s->quads);
}

/* Core point at i, j of 0..core. Rows are spaced so that the spokes of the rings are radial; the sides of the core
 * bulge to share the corner's angle with the two ring cells there. */
static void core_point(const section *s, double size, int32_t i, int32_t j, double *out) {
    const double bulge = 0.3;
    double u = tan(M_PI / 4 * (2.0 * i / s->core - 1)), v = tan(M_PI / 4 * (2.0 * j / s->core - 1));
    out[0] = size * u * ((1 - bulge) * M_SQRT1_2 + bulge * sqrt(1 - v * v / 2));
    out[1] = size * v * ((1 - bulge) * M_SQRT1_2 + bulge * sqrt(1 - u * u / 2));
}

/* Index of point k (counter-clockwise from the corner at -135 degrees) of ring 0, which is the core's border. */
static int32_t border_index(const section *s, int32_t k) {
    int32_t n = s->core, side = k / n % 4, t = k % n;
    int32_t i = side == 0 ? t : side == 1 ? n : side == 2 ? n - t : 0;
    int32_t j = side == 0 ? 0 : side == 1 ? t : side == 2 ? n : n - t;
    return j * (n + 1) + i;
}

static int32_t ring_index(const section *s, int32_t ring, int32_t k) {
    k %= s->around;
    return ring == 0 ? border_index(s, k) : (s->core + 1) * (s->core + 1) + (ring - 1) * s->around + k;
}

static void place_rings(section *s, double grading, double total) {
    double depth = 0, thickness = 1;
    for (int32_t r = 1; r <= s->rings; r++, thickness *= grading) {
        depth = r == s->rings ? 1 : depth + thickness / total;
        for (int32_t k = 0; k < s->around; k++) {
            const double *inner = s->points + 2 * border_index(s, k);
            double angle = M_PI / 2 * ((double)k / s->core - 1.5);
            double *p = s->points + 2 * ring_index(s, r, k);
            p[0] = (1 - depth) * inner[0] + depth * cos(angle);
            p[1] = (1 - depth) * inner[1] + depth * sin(angle);
        }
    }
}

static void place_points(section *s, double grading) {
    double total = 0, thickness = 1; /* of the rings, in units of the first */
    for (int32_t r = 0; r < s->rings; r++, thickness *= grading)
        total += thickness;
    /* The first ring is about as thick as a core cell is wide, within limits that keep all cells well shaped. */
    double size = fmin(fmax(1 / (1 + M_SQRT2 * total / s->core), 0.35), 0.75);
    for (int32_t j = 0; j <= s->core; j++)
        for (int32_t i = 0; i <= s->core; i++)
            core_point(s, size, i, j, s->points + 2 * (j * (s->core + 1) + i));
    place_rings(s, grading, total);
}

static void add_quad(int32_t *quad, int32_t a, int32_t b, int32_t c, int32_t d, bool turn) {
    quad[0] = turn ? b : a, quad[1] = turn ? c : b, quad[2] = turn ? d : c, quad[3] = turn ? a : d;
}

/* Diagonals are mirrored from quadrant to quadrant and from spoke to spoke, so that tets show no twist. */
static void connect(section *s) {
    int32_t n = s->core, *quad = s->quads;
    for (int32_t j = 0; j < n; j++)
        for (int32_t i = 0; i < n; i++, quad += 4) {
            int32_t a = j * (n + 1) + i;
            add_quad(quad, a, a + 1, a + n + 2, a + n + 1, (2 * i < n) != (2 * j < n));
        }
    for (int32_t r = 0; r < s->rings; r++)
        for (int32_t k = 0; k < s->around; k++, quad += 4)
            add_quad(quad, ring_index(s, r, k), ring_index(s, r + 1, k), ring_index(s, r + 1, k + 1),
                     ring_index(s, r, k + 1), k % 2 == 1);
}

static bough_status make_section(bough_context *ctx, const bough_rod_def *def, section *s) {
    s->core = def->core_cells, s->rings = def->rings, s->around = 4 * s->core;
    s->point_count = (s->core + 1) * (s->core + 1) + s->rings * s->around;
    s->quad_count = s->core * s->core + s->rings * s->around;
    s->points = BO_NEW_ARRAY(ctx, double, 2 * (size_t)s->point_count);
    s->quads = BO_NEW_ARRAY(ctx, int32_t, 4 * (size_t)s->quad_count);
    if (!s->points || !s->quads)
        return BOUGH_ERROR_MEMORY;
    place_points(s, def->grading);
    connect(s);
    return BOUGH_OK;
}

static double radius_at(const bough_rod_def *def, double z) {
    double top = def->top_radius > 0 ? def->top_radius : def->radius, t = z / def->length;
    return (1 - t) * def->radius + t * top;
}

static void place_vertices(const bough_rod_def *def, const section *s, double *x, uint8_t *flags) {
    for (int32_t k = 0; k <= def->cells_along; k++) {
        double z = def->length * ((double)k / def->cells_along), radius = radius_at(def, z);
        for (int32_t i = 0; i < s->point_count; i++, x += 3, flags++) {
            x[0] = radius * s->points[2 * i];
            x[1] = radius * s->points[2 * i + 1];
            x[2] = z;
            *flags = (uint8_t)((k == 0 ? SIDE_BOTTOM : 0) | (k == def->cells_along ? SIDE_TOP : 0) |
                               (i >= s->point_count - s->around ? SIDE_ROUND : 0));
        }
    }
}

/* A prism over the triangle a, b, c (counter-clockwise seen from the layer `step` vertices on): with the corners in
 * ascending order, each side is cut from the lower number here to the higher one there, so neighbours agree. */
static int32_t *add_prism(int32_t a, int32_t b, int32_t c, int32_t step, int32_t *out) {
    int32_t t[3] = {a, b, c};
    bool mirrored = false;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2 - i; j++)
            if (t[j] > t[j + 1]) {
                int32_t swap = t[j];
                t[j] = t[j + 1], t[j + 1] = swap;
                mirrored = !mirrored;
            }
    const int32_t tets[3][4] = {{t[0], t[1], t[2], t[2] + step},
                                {t[0], t[1], t[2] + step, t[1] + step},
                                {t[0], t[1] + step, t[2] + step, t[0] + step}};
    for (int i = 0; i < 3; i++, out += 4) {
        for (int k = 0; k < 4; k++)
            out[k] = tets[i][k];
        if (mirrored)
            bo_element_flip(BOUGH_TET4, out);
    }
    return out;
}

/* Prisms are built from the thin end of a cone towards the thick one: the other way round, tet10s of thin rings are
 * folded when their edge nodes move out to the side. */
static int32_t *add_tets(const bough_rod_def *def, const section *s, const int32_t c[4], int32_t *out) {
    int32_t up = s->point_count;
    if (def->top_radius > 0 && def->top_radius < def->radius) {
        out = add_prism(c[2] + up, c[1] + up, c[0] + up, -up, out);
        return add_prism(c[3] + up, c[2] + up, c[0] + up, -up, out);
    }
    out = add_prism(c[0], c[1], c[2], up, out);
    return add_prism(c[0], c[2], c[3], up, out);
}

static void connect_layers(const bough_rod_def *def, const section *s, int32_t *out) {
    for (int32_t k = 0; k < def->cells_along; k++)
        for (int32_t q = 0; q < s->quad_count; q++) {
            int32_t base = k * s->point_count, c[4];
            for (int i = 0; i < 4; i++)
                c[i] = base + s->quads[4 * q + i];
            if (def->type == BOUGH_HEX8)
                for (int i = 0; i < 8; i++)
                    *out++ = i < 4 ? c[i] : c[i - 4] + s->point_count;
            else
                out = add_tets(def, s, c, out);
        }
}

static bough_status fill(bough_context *ctx, const bough_rod_def *def, const section *s, bough_mesh *mesh) {
    uint8_t *flags = BO_NEW_ARRAY(ctx, uint8_t, mesh->vertex_count);
    if (!flags)
        return BOUGH_ERROR_MEMORY;
    place_vertices(def, s, mesh->vertices, flags);
    connect_layers(def, s, mesh->elements);
    bough_status status = bo_mesh_add_flag_sets(ctx, mesh, flags, side_names, 3);
    bo_free(ctx, flags);
    return status;
}

/* Edge nodes of the side move out to the cylinder; all others stay in the middle of their straight edges. */
static void round_side(const bough_rod_def *def, bough_mesh *mesh) {
    const bough_set *side = bough_mesh_find_set(mesh, BOUGH_SET_VERTEX, "side");
    for (int32_t i = 0; i < side->count; i++) {
        double *x = mesh->vertices + 3 * (size_t)side->items[i];
        double scale = radius_at(def, x[2]) / hypot(x[0], x[1]);
        x[0] *= scale, x[1] *= scale;
    }
}

static bough_status generate(bough_context *ctx, const bough_rod_def *def, section *s, bough_mesh **mesh) {
    BO_TRY(make_section(ctx, def, s));
    bool hexes = def->type == BOUGH_HEX8;
    double cells = (double)s->quad_count * def->cells_along;
    BO_TRY(bo_mesh_alloc(ctx, hexes ? BOUGH_HEX8 : BOUGH_TET4, s->point_count * (def->cells_along + 1.0),
                         hexes ? cells : 6 * cells, mesh));
    BO_TRY(fill(ctx, def, s, *mesh));
    if (def->type == BOUGH_TET10) {
        bough_mesh *raised;
        BO_TRY(bough_mesh_raise_order(ctx, *mesh, &raised));
        bough_mesh_destroy(ctx, *mesh);
        *mesh = raised;
        round_side(def, raised);
    }
    bough_status status = bough_mesh_check(ctx, *mesh);
    if (status != BOUGH_OK)
        bo_prefix_message(ctx, "the rod's cells are too thin for their length: ");
    return status;
}

bough_status bough_mesh_generate_rod(bough_context *ctx, const bough_rod_def *def, bough_mesh **out) {
    *out = NULL;
    BO_TRY(check_def(ctx, def));
    double n = def->core_cells, quads = n * n + 4 * n * def->rings;
    if (quads > BO_MESH_LIMIT || (n + 1) * (n + 1) + 4 * n * def->rings > BO_MESH_LIMIT)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "the rod would have %.3g cells in each layer; at most %d elements are possible", quads,
                       BO_MESH_LIMIT);
    section s = {0};
    bough_mesh *mesh = NULL;
    bough_status status = generate(ctx, def, &s, &mesh);
    free_section(ctx, &s);
    if (status != BOUGH_OK)
        bough_mesh_destroy(ctx, mesh);
    else
        *out = mesh;
    return status;
}
