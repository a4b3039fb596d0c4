/* Points that carry wind or touch obstacles. */
#include "reduce/cook.h"

#include "base/threads.h"
#include "mesh/mesh.h"

#include <string.h>

enum { MOST_DIMENSIONS = 6, LLOYD_ROUNDS = 5, TRIANGLES_A_TASK = 512 };

/* The boundary of the body. */
typedef struct {
    bough_mesh *mesh;
    int32_t *vertex_map; /* to vertices of the body's mesh */
} boundary;

static bo_vec3 corner(const boundary *b, int32_t triangle, int32_t c) {
    return bo_load3(b->mesh->vertices + 3 * (size_t)b->mesh->elements[3 * (size_t)triangle + (size_t)c]);
}

/* Half the cross product of two edges: as long as the area, outward. */
static bo_vec3 area_vector(const boundary *b, int32_t triangle) {
    bo_vec3 a = corner(b, triangle, 0);
    return bo_scale(0.5, bo_cross(bo_sub(corner(b, triangle, 1), a), bo_sub(corner(b, triangle, 2), a)));
}

static bo_vec3 centroid(const boundary *b, int32_t triangle) {
    return bo_scale(1.0 / 3, bo_add(corner(b, triangle, 0), bo_add(corner(b, triangle, 1), corner(b, triangle, 2))));
}

/* The three rows of U of one vertex of the boundary. */
static const double *rows_of(const bo_cook *cook, const boundary *b, int32_t vertex) {
    return cook->r > 0 ? cook->U + 3 * (size_t)b->vertex_map[vertex] * (size_t)cook->r : NULL;
}

static bo_vec3 in_frame(const bo_cook *cook, bo_vec3 x) {
    return bo_sub(x, bo_load3(cook->draft.origin));
}

/* ---- farthest points ---- */

static double distance2(int32_t dimension, const double *a, const double *b) {
    double sum = 0;
    for (int32_t d = 0; d < dimension; d++)
        sum += (a[d] - b[d]) * (a[d] - b[d]);
    return sum;
}

static int32_t index_of_largest(int32_t count, const double *values) {
    int32_t best = 0;
    for (int32_t i = 1; i < count; i++)
        if (values[i] > values[best])
            best = i;
    return best;
}

int32_t bo_farthest_points(int32_t count, int32_t dimension, const double *points, int32_t wanted, int32_t *chosen,
                           double *distance) {
    double mean[MOST_DIMENSIONS] = {0};
    const size_t step = (size_t)dimension;
    for (size_t i = 0; i < (size_t)count; i++)
        for (size_t d = 0; d < step; d++)
            mean[d] += points[i * step + d] / count;
    for (size_t i = 0; i < (size_t)count; i++)
        distance[i] = distance2(dimension, points + i * step, mean);
    for (int32_t k = 0; k < wanted; k++) {
        const int32_t next = count > 0 ? index_of_largest(count, distance) : 0;
        if (count == 0 || (k > 0 && !(distance[next] > 0)))
            return k;
        chosen[k] = next;
        for (size_t i = 0; i < (size_t)count; i++) {
            double d = distance2(dimension, points + i * step, points + (size_t)next * step);
            distance[i] = k == 0 ? d : fmin(distance[i], d);
        }
    }
    return wanted;
}

/* ---- wind: clusters of triangles ---- */

/* Triangles are near each other when their centroids are and when they face the same way: the two sides of a leaf must
 * not end up in one cluster, whose area vector would be zero. A point is (centroid, spread * normal). */
typedef struct {
    const boundary *b;
    int32_t triangle_count, cluster_count;
    double *points;   /* triangle_count x 6 */
    double *area;     /* triangle_count */
    int32_t *cluster; /* triangle_count */
    double *centres;  /* cluster_count x 6 */
    double *weight;   /* scratch: triangle_count */
} clusters;

static void discard_clusters(bough_context *ctx, clusters *c) {
    bo_free(ctx, c->points);
    bo_free(ctx, c->area);
    bo_free(ctx, c->cluster);
    bo_free(ctx, c->centres);
    bo_free(ctx, c->weight);
}

/* To be discarded also when it fails. */
static bough_status place_triangles(bough_context *ctx, const boundary *b, int32_t wanted, clusters *c) {
    const int32_t count = b->mesh->element_count;
    *c = (clusters){.b = b, .triangle_count = count, .cluster_count = wanted < count ? wanted : count};
    c->points = BO_NEW_ARRAY(ctx, double, 6 * (size_t)count);
    c->area = BO_NEW_ARRAY(ctx, double, count);
    c->cluster = BO_NEW_ZEROS(ctx, int32_t, count);
    c->centres = BO_NEW_ARRAY(ctx, double, 6 * (size_t)c->cluster_count);
    c->weight = BO_NEW_ARRAY(ctx, double, count);
    if (!c->points || !c->area || !c->cluster || !c->centres || !c->weight)
        return BOUGH_ERROR_MEMORY;
    double total = 0;
    for (int32_t t = 0; t < count; t++)
        total += c->area[t] = bo_norm(area_vector(b, t));
    const double spread = sqrt(total / c->cluster_count); /* about the width of a cluster */
    for (int32_t t = 0; t < count; t++) {
        double *point = c->points + 6 * (size_t)t;
        bo_store3(point, centroid(b, t));
        bo_store3(point + 3, bo_scale(c->area[t] > 0 ? spread / c->area[t] : 0, area_vector(b, t)));
    }
    return BOUGH_OK;
}

static void assign_triangles(void *data, int32_t begin, int32_t end, int32_t chunk) {
    clusters *c = data;
    (void)chunk;
    for (int32_t t = begin; t < end; t++) {
        double nearest = INFINITY;
        for (int32_t k = 0; k < c->cluster_count; k++) {
            double d = distance2(6, c->points + 6 * (size_t)t, c->centres + 6 * (size_t)k);
            if (d < nearest)
                nearest = d, c->cluster[t] = k;
        }
    }
}

/* Centres become the area means of their triangles. */
static void move_centres(clusters *c) {
    for (int32_t k = 0; k < c->cluster_count; k++)
        c->weight[k] = 0;
    for (int32_t t = 0; t < c->triangle_count; t++)
        c->weight[c->cluster[t]] += c->area[t];
    for (int32_t k = 0; k < c->cluster_count; k++) /* an empty one stays where it is */
        for (int d = 0; d < 6 && c->weight[k] > 0; d++)
            c->centres[6 * k + d] = 0;
    for (int32_t t = 0; t < c->triangle_count; t++) {
        const int32_t k = c->cluster[t];
        for (int d = 0; d < 6 && c->weight[k] > 0; d++)
            c->centres[6 * k + d] += c->area[t] / c->weight[k] * c->points[6 * (size_t)t + (size_t)d];
    }
}

static bough_status form_clusters(bough_context *ctx, clusters *c) {
    int32_t *seeds = BO_NEW_ARRAY(ctx, int32_t, c->cluster_count);
    if (!seeds)
        return BOUGH_ERROR_MEMORY;
    c->cluster_count = bo_farthest_points(c->triangle_count, 6, c->points, c->cluster_count, seeds, c->weight);
    for (int32_t k = 0; k < c->cluster_count; k++)
        memcpy(c->centres + 6 * k, c->points + 6 * (size_t)seeds[k], 6 * sizeof(double));
    bo_free(ctx, seeds);
    for (int round = 0; round <= LLOYD_ROUNDS; round++) {
        if (round > 0)
            move_centres(c);
        bo_parallel_for(ctx, c->triangle_count, TRIANGLES_A_TASK, assign_triangles, c);
    }
    return BOUGH_OK;
}

/* Numbers the clusters that have an area; -1 for the others. Returns how many. */
static int32_t number_clusters(const clusters *c, int32_t *number) {
    int32_t count = 0;
    for (int32_t k = 0; k < c->cluster_count; k++)
        number[k] = -1;
    for (int32_t t = 0; t < c->triangle_count; t++)
        if (c->area[t] > 0)
            number[c->cluster[t]] = 0;
    for (int32_t k = 0; k < c->cluster_count; k++)
        if (number[k] == 0)
            number[k] = count++;
    return count;
}

/* The mean of U over a triangle is that of its corners, so that the sum is exact for a uniform traction. */
static void add_triangle(const bo_cook *cook, const clusters *c, int32_t t, double *area, double *normal,
                         double *position, double *U) {
    const double a = c->area[t];
    *area += a;
    bo_store3(normal, bo_add(bo_load3(normal), area_vector(c->b, t)));
    bo_store3(position, bo_mul_add(bo_load3(position), a, in_frame(cook, centroid(c->b, t))));
    for (int k = 0; k < 3; k++) {
        const double *rows = rows_of(cook, c->b, c->b->mesh->elements[3 * (size_t)t + (size_t)k]);
        for (int32_t i = 0; i < 3 * cook->r; i++)
            U[i] += a / 3 * rows[i];
    }
}

static bough_status sum_clusters(bo_cook *cook, const clusters *c, const int32_t *number, int32_t count) {
    const size_t row = 3 * (size_t)cook->r;
    double *position = BO_COOK_ARRAY(cook, double, 3 * (size_t)count);
    double *normal = BO_COOK_ARRAY(cook, double, 3 * (size_t)count);
    double *area = BO_COOK_ARRAY(cook, double, count), *U = BO_COOK_ARRAY(cook, double, row *(size_t)count);
    if (!position || !normal || !area || !U)
        return BOUGH_ERROR_MEMORY;
    memset(position, 0, 3 * (size_t)count * sizeof *position);
    memset(normal, 0, 3 * (size_t)count * sizeof *normal);
    memset(area, 0, (size_t)count * sizeof *area);
    memset(U, 0, row * (size_t)count * sizeof *U);
    for (int32_t t = 0; t < c->triangle_count; t++)
        if (c->area[t] > 0) {
            size_t k = (size_t)number[c->cluster[t]];
            add_triangle(cook, c, t, area + k, normal + 3 * k, position + 3 * k, U + row * k);
        }
    for (size_t k = 0; k < (size_t)count; k++) {
        bo_store3(position + 3 * k, bo_scale(1 / area[k], bo_load3(position + 3 * k)));
        for (size_t i = 0; i < row; i++)
            U[row * k + i] /= area[k];
    }
    cook->draft.wind =
        (bough_sample_points){.count = count, .position = position, .normal = normal, .area = area, .U = U};
    return BOUGH_OK;
}

static bough_status sample_wind(bo_cook *cook, const boundary *b) {
    clusters c;
    if (cook->def->wind_count <= 0)
        return BOUGH_OK;
    bough_status status = place_triangles(cook->ctx, b, cook->def->wind_count, &c);
    if (status == BOUGH_OK)
        status = form_clusters(cook->ctx, &c);
    if (status == BOUGH_OK) {
        int32_t *number = BO_NEW_ARRAY(cook->ctx, int32_t, c.cluster_count);
        status = number ? sum_clusters(cook, &c, number, number_clusters(&c, number)) : BOUGH_ERROR_MEMORY;
        bo_free(cook->ctx, number);
    }
    discard_clusters(cook->ctx, &c);
    return status;
}

/* ---- contact: vertices of the boundary ---- */

/* Sums of the area vectors around each vertex. */
static void vertex_normals(const boundary *b, double *normals) {
    memset(normals, 0, 3 * (size_t)b->mesh->vertex_count * sizeof *normals);
    for (int32_t t = 0; t < b->mesh->element_count; t++)
        for (size_t c = 0; c < 3; c++) {
            double *normal = normals + 3 * (size_t)b->mesh->elements[3 * (size_t)t + c];
            bo_store3(normal, bo_add(bo_load3(normal), area_vector(b, t)));
        }
}

/* Vertices whose triangles cancel have no normal and are left out. */
static bough_status fill_contact(bo_cook *cook, const boundary *b, const double *normals, const int32_t *chosen,
                                 int32_t wanted) {
    const size_t row = 3 * (size_t)cook->r;
    double *position = BO_COOK_ARRAY(cook, double, 3 * (size_t)wanted);
    double *normal = BO_COOK_ARRAY(cook, double, 3 * (size_t)wanted);
    double *U = BO_COOK_ARRAY(cook, double, row *(size_t)wanted);
    if (!position || !normal || !U)
        return BOUGH_ERROR_MEMORY;
    size_t count = 0;
    for (int32_t i = 0; i < wanted; i++) {
        const int32_t v = chosen[i];
        bo_vec3 n = bo_load3(normals + 3 * (size_t)v);
        if (!(bo_norm(n) > 0))
            continue;
        bo_store3(position + 3 * count, in_frame(cook, bo_load3(b->mesh->vertices + 3 * (size_t)v)));
        bo_store3(normal + 3 * count, bo_scale(1 / bo_norm(n), n));
        if (row)
            memcpy(U + row * count, rows_of(cook, b, v), row * sizeof *U);
        count++;
    }
    cook->draft.contact =
        (bough_sample_points){.count = (int32_t)count, .position = position, .normal = normal, .U = U};
    return BOUGH_OK;
}

static bough_status sample_contact(bo_cook *cook, const boundary *b) {
    const int32_t all = b->mesh->vertex_count;
    int32_t wanted = cook->def->contact_count < all ? cook->def->contact_count : all;
    if (wanted <= 0)
        return BOUGH_OK;
    int32_t *chosen = BO_NEW_ARRAY(cook->ctx, int32_t, wanted);
    double *distance = BO_NEW_ARRAY(cook->ctx, double, all),
           *normals = BO_NEW_ARRAY(cook->ctx, double, 3 * (size_t)all);
    bough_status status = chosen && distance && normals ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK) {
        wanted = bo_farthest_points(all, 3, b->mesh->vertices, wanted, chosen, distance);
        vertex_normals(b, normals);
        status = fill_contact(cook, b, normals, chosen, wanted);
    }
    bo_free(cook->ctx, chosen);
    bo_free(cook->ctx, distance);
    bo_free(cook->ctx, normals);
    return status;
}

bough_status bo_cook_samples(bo_cook *cook) {
    boundary b = {0};
    bough_status status = BOUGH_OK;
    if (cook->def->wind_count > 0 || cook->def->contact_count > 0)
        status = bo_cook_boundary(cook);
    b.mesh = cook->boundary, b.vertex_map = cook->boundary_vertices;
    if (status == BOUGH_OK)
        status = sample_wind(cook, &b);
    if (status == BOUGH_OK && cook->def->contact_count > 0)
        status = sample_contact(cook, &b);
    if (status == BOUGH_OK)
        status = bo_cook_stress(cook);
    return status;
}
