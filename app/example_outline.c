/* Surfaces of flat things: an outline in the plane of x and z, given by a distance, with a thickness along y. */
#include "example.h"

#include <stdlib.h>
#include <string.h>

/* The plane is cut into squares; in each the inside is a polygon of corners and of points where an edge crosses the
 * outline. Points have numbers by their place: corners, edges along x, edges along z. */
typedef struct {
    const example_outline *of;
    int32_t columns;  /* of points */
    double *distance; /* of the corners */
    int32_t *numbers; /* 3 for each corner: itself, its edge along x, its edge along z; -1: not used */
    double (*points)[2];
    int32_t (*triangles)[3];
    int32_t point_count, triangle_count;
} sheet;

enum { CORNER, EDGE_X, EDGE_Z };

static size_t place_of(const sheet *s, int32_t i, int32_t k) {
    return (size_t)k * (size_t)s->columns + (size_t)i;
}

static double distance_at(const sheet *s, int32_t i, int32_t k) {
    return s->distance[place_of(s, i, k)];
}

/* Points on the outline are inside, so that corners of things that fit the squares stay sharp. */
static bool inside(const sheet *s, int32_t i, int32_t k) {
    return distance_at(s, i, k) < 1e-9;
}

static int32_t point(sheet *s, int32_t i, int32_t k, int kind) {
    int32_t *number = &s->numbers[3 * place_of(s, i, k) + (size_t)kind];
    if (*number < 0) {
        double along = 0;
        if (kind != CORNER) { /* not quite at its ends, so that no triangle is flat */
            const double a = distance_at(s, i, k), b = distance_at(s, i + (kind == EDGE_X), k + (kind == EDGE_Z));
            along = fmax(0.02, fmin(0.98, a / (a - b)));
        }
        s->points[s->point_count][0] = s->of->lower[0] + s->of->step * (i + (kind == EDGE_X ? along : 0));
        s->points[s->point_count][1] = s->of->lower[1] + s->of->step * (k + (kind == EDGE_Z ? along : 0));
        *number = s->point_count++;
    }
    return *number;
}

static void add_triangle(sheet *s, int32_t a, int32_t b, int32_t c) {
    int32_t *t = s->triangles[s->triangle_count++];
    t[0] = a, t[1] = b, t[2] = c;
}

/* Back vertices are the front's, shifted by this much once all are known; until then they are negative. */
static int32_t behind(int32_t front) {
    return -1 - front;
}

/* Counter-clockwise seen from -y: front, back, and a wall where the polygon leaves the square's edges. */
static void add_polygon(sheet *s, int32_t count, const int32_t *polygon, const bool *leaves) {
    for (int32_t n = 1; n + 1 < count; n++) {
        add_triangle(s, polygon[0], polygon[n], polygon[n + 1]);
        add_triangle(s, behind(polygon[0]), behind(polygon[n + 1]), behind(polygon[n]));
    }
    for (int32_t n = 0; n < count; n++) {
        const int32_t a = polygon[n], b = polygon[(n + 1) % count];
        if (!leaves[n])
            continue;
        add_triangle(s, a, behind(b), b);
        add_triangle(s, a, behind(a), behind(b));
    }
}

static void add_square(sheet *s, int32_t i, int32_t k) {
    static const int32_t around[5][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 0}};
    static const int32_t edges[4][3] = {{0, 0, EDGE_X}, {1, 0, EDGE_Z}, {0, 1, EDGE_X}, {0, 0, EDGE_Z}};
    int32_t polygon[8], count = 0;
    bool leaves[8]; /* the polygon's edge behind this point is a piece of the outline */
    for (int c = 0; c < 4; c++) {
        const bool here = inside(s, i + around[c][0], k + around[c][1]);
        const bool next = inside(s, i + around[c + 1][0], k + around[c + 1][1]);
        if (here)
            leaves[count] = false, polygon[count++] = point(s, i + around[c][0], k + around[c][1], CORNER);
        if (here != next)
            leaves[count] = here, polygon[count++] = point(s, i + edges[c][0], k + edges[c][1], edges[c][2]);
    }
    add_polygon(s, count, polygon, leaves);
}

static bough_status make_mesh(bough_context *ctx, sheet *s, bough_mesh **mesh) {
    double *vertices = malloc((6 * (size_t)s->point_count + 1) * sizeof *vertices);
    if (!vertices)
        return BOUGH_ERROR_MEMORY;
    for (int32_t v = 0; v < 2 * s->point_count; v++) {
        const double *p = s->points[v % s->point_count];
        const double y = (v < s->point_count ? -0.5 : 0.5) * s->of->thickness;
        memcpy(vertices + 3 * v, (double[]){p[0], y, p[1]}, 3 * sizeof *vertices);
    }
    for (int32_t *t = s->triangles[0]; t < s->triangles[s->triangle_count]; t++)
        *t = *t < 0 ? s->point_count - 1 - *t : *t;
    bough_status status =
        bough_mesh_create(ctx, BOUGH_TRI3, 2 * s->point_count, vertices, s->triangle_count, s->triangles[0], mesh);
    free(vertices);
    return status;
}

bough_status example_outline_mesh(bough_context *ctx, const example_outline *of, bough_mesh **mesh) {
    const size_t corners = (size_t)(of->squares[0] + 1) * (size_t)(of->squares[1] + 1);
    sheet s = {.of = of,
               .columns = of->squares[0] + 1,
               .distance = malloc(corners * sizeof *s.distance),
               .numbers = malloc(3 * corners * sizeof *s.numbers),
               .points = malloc(3 * corners * sizeof *s.points),
               .triangles = malloc(16 * corners * sizeof *s.triangles)};
    bough_status status = s.distance && s.numbers && s.points && s.triangles ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (!status) {
        memset(s.numbers, -1, 3 * corners * sizeof *s.numbers);
        for (size_t n = 0; n < corners; n++)
            s.distance[n] = of->distance(of->data, of->lower[0] + of->step * (double)(n % (size_t)s.columns),
                                         of->lower[1] + of->step * (double)(n / (size_t)s.columns));
        for (int32_t k = 0; k < of->squares[1]; k++)
            for (int32_t i = 0; i < of->squares[0]; i++)
                add_square(&s, i, k);
        status = make_mesh(ctx, &s, mesh);
    }
    free(s.distance), free(s.numbers), free(s.points), free(s.triangles);
    return status;
}
