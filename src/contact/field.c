/* Gaps of bodies that bend. docs/theory/contact.md, "Fields".
 *
 * Around a point y the body is moved by an affine map, which is fitted to the samples X_j -> x_j nearby by moving least
 * squares, with weights w_j that fall with |x_j - y| so steeply that the map all but goes through the nearest sample:
 *     x = xm + F (X - Xm),   Xm, xm: means by w,   F C = A,   C = sum w dX dX^T,   A = sum w dx dX^T
 * The point comes from X = Xm + F^-1 (y - xm), where the distance s from the body at rest is known. Then
 *     gap = s / |n|,   n = F^-T grad s
 * is the distance from the bent surface to first order, and n turns as the body bends. By the same map X moves with
 *     u(X) = sum N_j u_j,   N_j = w_j / sum w + w_j dX_j . C^-1 (X - Xm),   sum N_j = 1 */
#include "contact/field.h"

#include "base/eigen3.h"
#include "contact/gap.h"

#include <math.h>

struct bo_field {
    bo_distance_grid grid;
    float *nodes;        /* distances at the nodes of the grid, for a first look */
    int32_t *starts;     /* the sample nearest to each node, of a body at rest */
    int32_t count;       /* of samples */
    int32_t patch_count; /* of samples in a neighbourhood */
    double spacing;      /* m, between a sample and its nearest neighbour: the mean */
    double *rest;        /* 3 x count */
    int32_t *patches;    /* patch_count x count: the samples nearest to each at rest, itself first */
};

/* ---- making ---- */

typedef struct {
    bo_vec3 lower, upper;
    double thickness; /* m: volume over half of the area, which is that of a plate */
} extent;

static extent extent_of(int32_t vertex_count, const double *vertices, int32_t triangle_count,
                        const int32_t *triangles) {
    extent e = {bo_v3(INFINITY, INFINITY, INFINITY), bo_v3(-INFINITY, -INFINITY, -INFINITY), 0};
    double volume = 0, area = 0;
    for (int32_t i = 0; i < vertex_count; i++) {
        const bo_vec3 x = bo_load3(vertices + 3 * (size_t)i);
        e.lower = bo_v3(fmin(e.lower.x, x.x), fmin(e.lower.y, x.y), fmin(e.lower.z, x.z));
        e.upper = bo_v3(fmax(e.upper.x, x.x), fmax(e.upper.y, x.y), fmax(e.upper.z, x.z));
    }
    for (int32_t t = 0; t < triangle_count; t++) {
        const int32_t *v = triangles + 3 * (size_t)t;
        const bo_vec3 a = bo_sub(bo_load3(vertices + 3 * (size_t)v[0]), e.lower),
                      b = bo_sub(bo_load3(vertices + 3 * (size_t)v[1]), e.lower),
                      c = bo_sub(bo_load3(vertices + 3 * (size_t)v[2]), e.lower);
        volume += bo_dot(a, bo_cross(b, c)) / 6;
        area += 0.5 * bo_norm(bo_cross(bo_sub(b, a), bo_sub(c, a)));
    }
    e.thickness = area > 0 ? 2 * fabs(volume) / area : 0;
    return e;
}

enum { CELLS_ACROSS = 6 /* of a thickness */, MOST_NODES = 50000, CELLS_AROUND = 3 };

static double choose_cell(extent e) {
    const bo_vec3 size = bo_sub(e.upper, e.lower);
    const double least = cbrt(size.x * size.y * size.z / MOST_NODES), longest = fmax(size.x, fmax(size.y, size.z));
    return fmax(fmax(e.thickness / CELLS_ACROSS, least), longest / 1000);
}

static bough_status make_grid(bough_context *ctx, int32_t vertex_count, const double *vertices, int32_t triangle_count,
                              const int32_t *triangles, double cell, bo_field *f) {
    const extent e = extent_of(vertex_count, vertices, triangle_count, triangles);
    const double chosen = cell > 0 ? cell : choose_cell(e), around = CELLS_AROUND * chosen;
    const bo_vec3 size = bo_sub(e.upper, e.lower), origin = bo_sub(e.lower, bo_v3(around, around, around));
    const double sizes[3] = {size.x, size.y, size.z};
    int32_t counts[3];
    for (int k = 0; k < 3; k++) {
        const double count = ceil(sizes[k] / chosen) + 2 * CELLS_AROUND + 1;
        if (!(count < 10000))
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                           "a surface of %g x %g x %g m cannot be divided into cells of %g m: it must be finite, with "
                           "fewer than 10000 cells along each axis",
                           sizes[0], sizes[1], sizes[2], chosen);
        counts[k] = (int32_t)count;
    }
    BO_TRY(bo_distance_grid_check(ctx, counts, chosen, origin));
    double *distances = BO_NEW_ARRAY(ctx, double, (size_t)counts[0] * (size_t)counts[1] * (size_t)counts[2]);
    bough_status status = distances ? bo_distances_of_surface(ctx, vertex_count, vertices, triangle_count, triangles,
                                                              counts, chosen, origin, distances)
                                    : bo_fail_memory(ctx);
    if (status == BOUGH_OK)
        status = bo_distance_grid_make(ctx, counts, chosen, origin, distances, &f->grid);
    const size_t count = (size_t)counts[0] * (size_t)counts[1] * (size_t)counts[2];
    if (status == BOUGH_OK && !(f->nodes = BO_NEW_ARRAY(ctx, float, count)))
        status = bo_fail_memory(ctx);
    for (size_t k = 0; k < count && status == BOUGH_OK; k++)
        f->nodes[k] = (float)distances[k];
    bo_free(ctx, distances);
    return status;
}

static bo_vec3 rest_of(const bo_field *f, int32_t i) {
    return bo_load3(f->rest + 3 * (size_t)i);
}

/* Puts the samples nearest to sample i in order; of equal distances the smaller number comes first. */
static void find_patch(const bo_field *f, int32_t i, int32_t *patch) {
    double distances[BO_FIELD_MOST];
    int32_t count = 0;
    for (int32_t k = 0; k < f->count; k++) {
        const double d = k == i ? -1 : bo_norm(bo_sub(rest_of(f, k), rest_of(f, i)));
        if (count == f->patch_count && !(d < distances[count - 1]))
            continue;
        int32_t at = count < f->patch_count ? count++ : count - 1;
        for (; at > 0 && distances[at - 1] > d; at--)
            distances[at] = distances[at - 1], patch[at] = patch[at - 1];
        distances[at] = d, patch[at] = k;
    }
}

static bough_status make_samples(bough_context *ctx, int32_t count, const double *samples, bo_field *f) {
    f->count = count, f->patch_count = count < BO_FIELD_MOST ? count : BO_FIELD_MOST;
    f->rest = BO_NEW_ARRAY(ctx, double, 3 * (size_t)count);
    f->patches = BO_NEW_ARRAY(ctx, int32_t, (size_t)f->patch_count * (size_t)count);
    if (!f->rest || !f->patches)
        return bo_fail_memory(ctx);
    for (size_t k = 0; k < 3 * (size_t)count; k++)
        f->rest[k] = samples[k];
    for (int32_t i = 0; i < count; i++) {
        int32_t *patch = f->patches + (size_t)f->patch_count * (size_t)i;
        find_patch(f, i, patch);
        if (f->patch_count > 1)
            f->spacing += bo_norm(bo_sub(rest_of(f, patch[1]), rest_of(f, i))) / count;
    }
    f->spacing = fmax(f->spacing, 1e-3 * f->grid.cell); /* samples may coincide */
    return BOUGH_OK;
}

/* The nearest sample of each node. */
static bough_status find_starts(bough_context *ctx, bo_field *f) {
    const int32_t *counts = f->grid.counts;
    f->starts = BO_NEW_ARRAY(ctx, int32_t, (size_t)counts[0] * (size_t)counts[1] * (size_t)counts[2]);
    if (!f->starts)
        return bo_fail_memory(ctx);
    int32_t *to = f->starts;
    for (int32_t z = 0; z < counts[2]; z++)
        for (int32_t y = 0; y < counts[1]; y++)
            for (int32_t x = 0; x < counts[0]; x++) {
                const bo_vec3 at = bo_mul_add(f->grid.origin, f->grid.cell, bo_v3(x, y, z));
                double least = INFINITY;
                int32_t nearest = 0;
                for (int32_t i = 0; i < f->count; i++) {
                    const bo_vec3 d = bo_sub(rest_of(f, i), at);
                    if (bo_dot(d, d) < least)
                        least = bo_dot(d, d), nearest = i;
                }
                *to++ = nearest;
            }
    return BOUGH_OK;
}

bough_status bo_field_create(bough_context *ctx, int32_t vertex_count, const double *vertices, int32_t triangle_count,
                             const int32_t *triangles, int32_t sample_count, const double *samples, double cell,
                             bo_field **field) {
    *field = NULL;
    if (sample_count < 1 || !bo_all_finite(3 * (int64_t)sample_count, samples))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a field needs samples with finite positions; it has %d",
                       (int)sample_count);
    for (int64_t k = 0; k < 3 * (int64_t)triangle_count; k++)
        if (triangles[k] < 0 || triangles[k] >= vertex_count)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "triangle %d of the surface has vertex %d; there are %d vertices",
                           (int)(k / 3), (int)triangles[k], (int)vertex_count);
    bo_field *f = BO_NEW(ctx, bo_field);
    if (!f)
        return bo_fail_memory(ctx);
    bough_status status = make_grid(ctx, vertex_count, vertices, triangle_count, triangles, cell, f);
    if (status == BOUGH_OK)
        status = make_samples(ctx, sample_count, samples, f);
    if (status == BOUGH_OK)
        status = find_starts(ctx, f);
    if (status == BOUGH_OK)
        *field = f;
    else
        bo_field_destroy(ctx, f);
    return status;
}

void bo_field_destroy(bough_context *ctx, bo_field *f) {
    if (!f)
        return;
    bo_distance_grid_free(ctx, &f->grid);
    bo_free(ctx, f->nodes);
    bo_free(ctx, f->starts);
    bo_free(ctx, f->rest);
    bo_free(ctx, f->patches);
    bo_free(ctx, f);
}

int32_t bo_field_sample_count(const bo_field *f) {
    return f->count;
}

/* The node of the grid that is nearest to y, and how far y is outside of the grid (may be NULL). */
static size_t node_at(const bo_field *f, bo_vec3 y, double *away) {
    const double at[3] = {y.x - f->grid.origin.x, y.y - f->grid.origin.y, y.z - f->grid.origin.z}, cell = f->grid.cell;
    size_t node[3];
    double outside = 0;
    for (int k = 0; k < 3; k++) {
        const double end = cell * (f->grid.counts[k] - 1), inside = fmin(fmax(at[k], 0), end);
        outside += (at[k] - inside) * (at[k] - inside);
        node[k] = (size_t)(inside / cell + 0.5);
    }
    if (away)
        *away = sqrt(outside);
    return node[0] + (size_t)f->grid.counts[0] * (node[1] + (size_t)f->grid.counts[1] * node[2]);
}

/* ---- the map around a point ---- */

/* Samples around a point, with their weights, means and second moments. */
typedef struct {
    int32_t count;
    const int32_t *samples;
    double weights[BO_FIELD_MOST]; /* their sum is 1 */
    bo_vec3 rest, now;             /* Xm, xm */
    bo_mat3 C, A;
    double known[3];   /* 1: F is known along this axis of C; 0: it is not */
    double moments[3]; /* along the axes, descending */
    bo_vec3 axes[3];   /* of C */
    bo_mat3 F;
} patch;

static bo_vec3 now_of(const double *now, int32_t i) {
    return bo_load3(now + 3 * (size_t)i);
}

static double square_to(const double *now, int32_t i, bo_vec3 y) {
    const bo_vec3 d = bo_sub(now_of(now, i), y);
    return bo_dot(d, d);
}

/* The sample nearest to y: from neighbour to neighbour, beginning with the one that is nearest at rest. */
static int32_t nearest_sample(const bo_field *f, const double *now, bo_vec3 y) {
    int32_t nearest = f->starts[node_at(f, y, NULL)], before = -1;
    double least = square_to(now, nearest, y);
    while (nearest != before) {
        const int32_t *around = f->patches + (size_t)f->patch_count * (size_t)nearest;
        before = nearest;
        for (int32_t k = 1; k < f->patch_count; k++) {
            const double square = square_to(now, around[k], y);
            if (square < least)
                least = square, nearest = around[k];
        }
    }
    return nearest;
}

/* w = (1 - d^2 / D^2)^2 / (d^2 + (spacing / 10)^2)^2: the furthest sample of the patch has none, so that hardly
 * anything changes where another patch takes over. */
static void weigh(const bo_field *f, const double *now, bo_vec3 y, patch *p) {
    double squares[BO_FIELD_MOST], furthest = 0, sum = 0;
    const double close = 0.01 * f->spacing * f->spacing;
    for (int32_t k = 0; k < p->count; k++) {
        const bo_vec3 d = bo_sub(now_of(now, p->samples[k]), y);
        squares[k] = bo_dot(d, d), furthest = fmax(furthest, squares[k]);
    }
    for (int32_t k = 0; k < p->count; k++) {
        const double fade = furthest > 0 && p->count > 1 ? 1 - squares[k] / furthest : 1,
                     near = (squares[k] + close) / (squares[0] + close);
        p->weights[k] = fade * fade / (near * near), sum += p->weights[k];
    }
    for (int32_t k = 0; k < p->count; k++) {
        p->weights[k] = sum > 0 ? p->weights[k] / sum : 1.0 / p->count;
        p->rest = bo_mul_add(p->rest, p->weights[k], rest_of(f, p->samples[k]));
        p->now = bo_mul_add(p->now, p->weights[k], now_of(now, p->samples[k]));
    }
    for (int32_t k = 0; k < p->count; k++) {
        const bo_vec3 X = bo_sub(rest_of(f, p->samples[k]), p->rest), x = bo_sub(now_of(now, p->samples[k]), p->now);
        p->C = bo_mat_add(p->C, bo_mat_scale(p->weights[k], bo_outer(X, X)));
        p->A = bo_mat_add(p->A, bo_mat_scale(p->weights[k], bo_outer(x, X)));
    }
}

/* Moments below LEAST of the largest are those of samples in a plane, or in a line, which say nothing of how the body
 * moves across it; above ENOUGH they say it all. */
#define LEAST 0.005
#define ENOUGH 0.02

static double smooth_step(double x) {
    const double t = x < 0 ? 0 : x > 1 ? 1 : x;
    return t * t * (3 - 2 * t);
}

/* The vector b, turned as a is turned into c: by the smallest rotation (a and c of length 1). */
static bo_vec3 turned_along(bo_vec3 a, bo_vec3 c, bo_vec3 b) {
    const bo_vec3 w = bo_cross(a, c);
    const double cosine = bo_dot(a, c);
    if (!(cosine > -0.999))
        return bo_scale(-1, b); /* half a turn, about any axis */
    return bo_add(bo_add(bo_scale(cosine, b), bo_cross(w, b)), bo_scale(bo_dot(w, b) / (1 + cosine), w));
}

/* Along axes that are not known the body keeps its thickness and its angles: F e3 is the unit normal of F e1 and F e2,
 * and F e2, if need be, e2 turned with e1. */
static void fit(patch *p) {
    bo_vec3 values, f[3];
    bo_mat3 V;
    bo_eigen3(p->C, &values, &V);
    p->moments[0] = values.z, p->moments[1] = values.y, p->moments[2] = values.x;
    for (int i = 0; i < 3; i++) {
        p->axes[i] = bo_v3(V.m[2 - i], V.m[5 - i], V.m[8 - i]);
        p->known[i] =
            i == 0 ? values.z > 0 : smooth_step((p->moments[i] - LEAST * values.z) / ((ENOUGH - LEAST) * values.z));
        f[i] = p->known[i] > 0 ? bo_scale(1 / p->moments[i], bo_mat_vec(p->A, p->axes[i])) : bo_v3(0, 0, 0);
    }
    const bo_vec3 along = bo_norm(f[0]) > 0 ? bo_normalize(f[0]) : p->axes[0];
    if (p->known[0] <= 0)
        f[0] = p->axes[0];
    if (p->known[1] < 1) {
        const bo_vec3 guess = turned_along(p->axes[0], along, p->axes[1]);
        f[1] = bo_add(bo_scale(p->known[1], f[1]), bo_scale(1 - p->known[1], guess));
    }
    if (p->known[2] < 1) {
        const bo_vec3 across = bo_cross(f[0], f[1]);
        const double handed = bo_dot(bo_cross(p->axes[0], p->axes[1]), p->axes[2]), length = bo_norm(across);
        const bo_vec3 guess = length > 0 ? bo_scale(handed / length, across) : p->axes[2];
        f[2] = bo_add(bo_scale(p->known[2], f[2]), bo_scale(1 - p->known[2], guess));
    }
    p->F = (bo_mat3){0};
    for (int i = 0; i < 3; i++)
        p->F = bo_mat_add(p->F, bo_outer(f[i], p->axes[i]));
}

/* C^-1 v along the axes that are known. */
static bo_vec3 over_moments(const patch *p, bo_vec3 v) {
    bo_vec3 x = {0, 0, 0};
    for (int i = 0; i < 3; i++)
        if (p->known[i] > 0)
            x = bo_mul_add(x, p->known[i] * bo_dot(p->axes[i], v) / p->moments[i], p->axes[i]);
    return x;
}

/* A body that is pressed flat or turned inside out has no map: there it moves with the nearest sample alone. */
#define FLAT 0.02 /* of the volume at rest */

static bo_vec3 map_back(const bo_field *f, const double *now, int32_t nearest, bo_vec3 y, patch *p) {
    *p = (patch){.count = f->patch_count, .samples = f->patches + (size_t)f->patch_count * (size_t)nearest};
    weigh(f, now, y, p);
    fit(p);
    if (bo_det(p->F) > FLAT)
        return bo_add(p->rest, bo_mat_vec(bo_inverse(p->F), bo_sub(y, p->now)));
    *p = (patch){.count = 1, .samples = p->samples, .weights = {1}, .F = bo_identity3(), .rest = rest_of(f, nearest)};
    return bo_add(p->rest, bo_sub(y, now_of(now, nearest)));
}

/* ---- gaps ---- */

#define LEAST_SLOPE \
    0.3 /* where distances have a kink, deep inside, the spline is flat and says little about the way out */

/* A first look: the body at rest is further than this from y. Distances change by no more than the way, and a node is
 * within 0.87 cells of any point in the box, which ends some cells away from the body. */
static double least_distance(const bo_field *f, bo_vec3 y) {
    double away;
    const double near = (double)f->nodes[node_at(f, y, &away)], cell = f->grid.cell;
    return away > 0 ? fmax(near - 0.9 * cell - away, away + (CELLS_AROUND - 0.1) * cell) : near - 0.9 * cell;
}

bool bo_field_gap(const bo_field *f, const double *now, double bend, bo_vec3 y, double within, bo_field_touch *touch) {
    bo_gap at;
    patch p;
    if (!(least_distance(f, y) / f->grid.steepest - bend <= within))
        return false;
    bo_gap_grid(&f->grid, y, &at); /* not steeper than 1: the bent surface is nowhere nearer than this less the bend */
    if (!(at.d - bend <= within))
        return false;
    const bo_vec3 X = map_back(f, now, nearest_sample(f, now, y), y, &p);
    bo_gap_grid(&f->grid, X, &at);
    const bo_vec3 n = bo_mat_tvec(bo_inverse(p.F), at.n);
    const double slope = bo_norm(n);
    touch->gap = at.d / fmax(slope, LEAST_SLOPE);
    if (!(touch->gap <= within) || !(slope > 0))
        return false;
    touch->normal = bo_scale(1 / slope, n), touch->rest = X;
    const bo_vec3 lever = over_moments(&p, bo_sub(X, p.rest));
    touch->sample_count = p.count;
    for (int32_t k = 0; k < p.count; k++) {
        const bo_vec3 arm = bo_sub(rest_of(f, p.samples[k]), p.rest);
        touch->samples[k] = p.samples[k];
        touch->weights[k] = p.weights[k] * (1 + bo_dot(arm, lever));
    }
    return true;
}
