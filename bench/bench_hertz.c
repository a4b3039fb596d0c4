/* Hertz's contact: an elastic sphere that a rigid plane presses. One eighth of the sphere is meshed: two planes of
 * symmetry through the axis, and the plane of the equator, which is held along the axis. */
#include "bench_contact.h"
#include "contact_case.h"

#include <stdlib.h>

enum { MOST_LINES = 64, CORE_HIGH = 3, PRESSES = 3 };

/* Lines of the mesh. Core: a box [0, core]^3 in the middle, graded towards the axis. Outside of it, layers to the
 * sphere, graded towards the surface. All lengths in radii. */
typedef struct {
    double core;
    int lines, layers;                        /* intervals */
    double across[MOST_LINES], s[MOST_LINES]; /* 0 .. core; 0 .. 1 from the core to the sphere */
} grading;

/* A number of intervals of the length h, then ever longer ones, up to `whole`. Returns how many. */
static int grade(double h, int fine, double whole, double *at) {
    const double growth = 1.6;
    int n = 0;
    at[0] = 0;
    while (n < MOST_LINES - 1 && at[n] < whole) {
        at[n + 1] = at[n] + h;
        n++;
        h *= n >= fine ? growth : 1;
    }
    for (int i = 0; i <= n; i++)
        at[i] *= whole / at[n];
    return n;
}

static grading make_grading(double a, int fine) {
    grading g = {.core = 0.4};
    double from_surface[MOST_LINES];
    g.lines = grade(g.core * a / fine, fine + fine / 2, g.core, g.across);
    g.layers = grade(a / fine / (1 - g.core), fine / 2, 1, from_surface);
    for (int i = 0; i <= g.layers; i++)
        g.s[i] = 1 - from_surface[g.layers - i];
    return g;
}

/* Numbers of vertices: (i, j, k) of the core, k downwards, and `layer` 0; beyond, of its outer faces, layer by layer. */
static int32_t vertex_of(const grading *g, int i, int j, int k, int layer) {
    const int n = g->lines + 1, m = CORE_HIGH + 1, core = n * n * m;
    if (layer == 0)
        return (int32_t)((k * n + j) * n + i);
    const int below = k == CORE_HIGH ? j * n + i : -1;
    const int beside = i == g->lines ? n * n + k * n + j : n * n + CORE_HIGH * n + k * (n - 1) + i;
    return (int32_t)(core + (layer - 1) * (n * n + CORE_HIGH * (2 * n - 1)) + (below >= 0 ? below : beside));
}

static bo_vec3 place_of(const grading *g, int i, int j, int k, int layer) {
    const bo_vec3 p = bo_v3(g->across[i], g->across[j], -g->core * k / CORE_HIGH);
    return layer == 0 ? p : bo_mul_add(p, g->s[layer], bo_sub(bo_normalize(p), p));
}

typedef struct {
    const grading *g;
    double *x;
    int32_t *elements;
    int32_t count;
} sketch;

/* Four corners (i, j, k) of a face, and the two layers (or heights) that it lies between. */
static void add_brick(sketch *s, const int corners[4][3], int layer, int deeper) {
    for (int side = 0; side < 2; side++)
        for (int c = 0; c < 4; c++) {
            const int up = deeper && side == 0; /* of the core: the lower four first */
            const int i = corners[c][0], j = corners[c][1], k = corners[c][2] + up;
            const int at = deeper ? 0 : layer + 1 - side;
            const int32_t v = vertex_of(s->g, i, j, k, at);
            bo_store3(s->x + 3 * (size_t)v, place_of(s->g, i, j, k, at));
            s->elements[8 * (size_t)s->count + (size_t)(4 * side + c)] = v;
        }
    s->count++;
}

static void add_bricks(sketch *s) {
    const int n = s->g->lines, m = CORE_HIGH;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            for (int k = 0; k < m; k++)
                add_brick(s, (int[4][3]){{i, j, k}, {i + 1, j, k}, {i + 1, j + 1, k}, {i, j + 1, k}}, 0, 1);
    for (int l = 0; l < s->g->layers; l++) {
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++)
                add_brick(s, (int[4][3]){{i, j, m}, {i + 1, j, m}, {i + 1, j + 1, m}, {i, j + 1, m}}, l, 0);
        for (int k = 0; k < m; k++)
            for (int i = 0; i < n; i++) {
                add_brick(s, (int[4][3]){{n, i, k}, {n, i + 1, k}, {n, i + 1, k + 1}, {n, i, k + 1}}, l, 0);
                add_brick(s, (int[4][3]){{i, n, k}, {i, n, k + 1}, {i + 1, n, k + 1}, {i + 1, n, k}}, l, 0);
            }
    }
}

static bough_mesh *make_sphere(bough_context *ctx, const grading *g) {
    const int n = g->lines, m = CORE_HIGH;
    const size_t vertices = (size_t)((n + 1) * (n + 1) * (m + 1)) +
                            (size_t)(g->layers * ((n + 1) * (n + 1) + m * (2 * n + 1))),
                 bricks = (size_t)(n * n * m + g->layers * (n * n + 2 * n * m));
    sketch s = {g, calloc(3 * vertices, sizeof(double)), calloc(8 * bricks, sizeof(int32_t)), 0};
    bough_mesh *mesh = NULL;
    if (s.x && s.elements) {
        add_bricks(&s);
        bough_mesh_create(ctx, BOUGH_HEX8, (int32_t)vertices, s.x, s.count, s.elements, &mesh);
    }
    free(s.x), free(s.elements);
    return mesh;
}

/* Holds the plane across an axis through the middle, displaced along it. */
static bool hold(contact_case *c, int axis, double displacement) {
    double way[3] = {0};
    way[axis] = displacement;
    int32_t *list = calloc((size_t)c->vertex_count, sizeof *list), count = 0;
    for (int32_t i = 0; list && i < c->vertex_count; i++)
        if (fabs(c->x[3 * (size_t)i + (size_t)axis]) < 1e-12)
            list[count++] = i;
    const bool good = list && !bough_load_case_fix(c->ctx, c->load_case, list, count, 1 << axis, way);
    free(list);
    return good;
}

typedef struct {
    double start, speed;
} rising;

static bo_se3 plane_at(const void *data, double t) {
    const rising *r = data;
    bo_se3 pose = bo_se3_identity();
    pose.t.z = r->start + r->speed * t;
    return pose;
}

/* Sums the forces of the plane on the whole sphere, N; *gap is that at the pole. */
static double press_on(contact_case *c, double *gap) {
    bough_run_contact *list;
    const int32_t count = contact_case_contacts(c, &list);
    double sum = 0, nearest = INFINITY;
    for (int32_t i = 0; i < count; i++) {
        const double off = hypot(list[i].position[0], list[i].position[1]);
        sum += 4 * list[i].force[2];
        if (off < nearest)
            nearest = off, *gap = list[i].gap;
    }
    free(list);
    return sum;
}

/* The plane rises, or, where it settles, the sphere is pressed down at once, by as much. */
static bool start_hertz(bough_context *ctx, double a, int fine, bool settles, rising *plane, contact_case *c) {
    const grading g = make_grading(a, fine);
    const double support = 1e-2 * a * a;
    *c = contact_case_new(ctx, BOUGH_HEX8);
    c->body_def.material.model = BOUGH_MATERIAL_LINEAR;
    c->body_def.material.young = 1e6, c->body_def.material.density = 1e-3;
    c->dt = 1, c->settles = settles, c->touch.support = support, c->touch.friction = 0;
    *plane = (rising){-1 - (settles ? 1.1 : 0.9) * support, settles ? 0 : a * a / PRESSES};
    bo_touch_obstacle *o = contact_case_obstacle(c, BO_OBSTACLE_PLANE, bo_identity3(), bo_v3(0, 0, 0));
    o->pose = plane_at, o->pose_data = plane;
    bool good =
        contact_case_add(c, make_sphere(ctx, &g), bo_identity3(), bo_v3(0, 0, 0), bo_v3(0, 0, 0), bo_v3(0, 0, 0)) &&
        contact_case_make_body(c);
    for (int axis = 0; axis < 3 && good; axis++)
        good = hold(c, axis, settles && axis == 2 ? -a * a : 0);
    bough_body_properties whole;
    good = good && !bough_body_measure(ctx, c->body, &whole);
    if (good) /* kappa = 1e-3 E R^2 / support: stiffer than the elements at the contact, whatever the length of a step */
        c->touch.stiffness = 1e6 * 1e-3 / support / (10 * whole.mass / c->vertex_count);
    return good && contact_case_start(c);
}

/* down: of the equator. */
static void report(contact_case *c, double plane, double down, double elements, json_t *rows) {
    double gap = 0;
    const double force = press_on(c, &gap), depth = plane + 1 + down + gap;
    const double theory = 4. / 3 * 1e6 / (1 - 0.3 * 0.3) * pow(depth, 1.5);
    if (rows)
        json_array_append_new(rows,
                              json_pack("{s:f, s:f, s:f, s:f, s:f, s:i, s:b}", "hertz_approach", depth,
                                        "contact_radius", sqrt(depth), "force", force, "theory", theory, "ratio",
                                        force / theory, "vertices", (int)c->vertex_count, "settled", (int)c->settles));
    else
        printf("  sphere%s, approach %.3e radii (contact radius %.4f, %.1f elements, gap %.1e): force over Hertz's "
               "%.4f\n",
               c->settles ? " that settles" : "", depth, sqrt(depth), elements * sqrt(depth), gap, force / theory);
    fflush(stdout);
}

bool bench_hertz(bough_context *ctx, json_t *rows) {
    const double a = 0.02; /* of the radius: half the width of the last contact */
    const int fine = 6;    /* elements on it */
    contact_case c;
    rising plane;
    bool good = start_hertz(ctx, a, fine, false, &plane, &c);
    for (int i = 0; i < PRESSES && good; i++)
        if ((good = contact_case_step(&c)))
            report(&c, plane_at(&plane, c.t).t.z, 0, fine / a, rows);
    contact_case_free(&c);
    if (!good)
        return false;
    good = start_hertz(ctx, a, fine, true, &plane, &c);
    if (good)
        report(&c, plane.start, a * a, fine / a, rows);
    contact_case_free(&c);
    return good;
}
