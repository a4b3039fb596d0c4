/* A soft creature with a lumpy shell on its back, between two plates that come together. */
#include "example.h"

#include <stdlib.h>
#include <string.h>

#define EDGE 0.019    /* m: of the cubes that are cut into tets */
#define BLEND 0.018   /* m: radius of the fillets where limbs meet the trunk */
#define NEAREST 1.0   /* of an edge: the furthest that a vertex is moved at once to get onto the surface */
#define THINNEST 0.05 /* of the volume that a tet has in a cube: what moving vertices may leave of it */

enum { ROUNDS = 24, MOST_AROUND = 64 }; /* in which vertices move; tets around one of them */

/* ---- the shape ---- */

/* A capsule whose radius changes along it. */
typedef struct {
    v3 a, b;
    double radius_a, radius_b;
} limb;

/* It stands on z = 0 and looks along x: trunk, neck and head, snout; legs and feet, arms and hands, ears, tail. */
static const limb limbs[] = {
    {{0, 0, 0.135}, {-0.005, 0, 0.215}, 0.062, 0.055},
    {{0.005, 0, 0.25}, {0.03, 0, 0.3}, 0.03, 0.04},
    {{0.05, 0, 0.295}, {0.095, 0, 0.275}, 0.026, 0.016},
    {{0, 0.042, 0.115}, {0.012, 0.062, 0.028}, 0.036, 0.026},
    {{0, -0.042, 0.115}, {0.012, -0.062, 0.028}, 0.036, 0.026},
    {{0.012, 0.062, 0.022}, {0.05, 0.068, 0.02}, 0.024, 0.02},
    {{0.012, -0.062, 0.022}, {0.05, -0.068, 0.02}, 0.024, 0.02},
    {{0.005, 0.055, 0.22}, {0.03, 0.115, 0.18}, 0.026, 0.021},
    {{0.005, -0.055, 0.22}, {0.03, -0.115, 0.18}, 0.026, 0.021},
    {{0.03, 0.115, 0.18}, {0.085, 0.11, 0.185}, 0.021, 0.02},
    {{0.03, -0.115, 0.18}, {0.085, -0.11, 0.185}, 0.021, 0.02},
    {{0.018, 0.03, 0.325}, {0.005, 0.045, 0.36}, 0.021, 0.017},
    {{0.018, -0.03, 0.325}, {0.005, -0.045, 0.36}, 0.021, 0.017},
    {{-0.05, 0, 0.11}, {-0.12, 0, 0.05}, 0.032, 0.018},
};
enum { LIMBS = sizeof limbs / sizeof *limbs };
static const v3 LOWEST = {-0.15, -0.15, -0.01}, HIGHEST = {0.13, 0.15, 0.39};

static double distance_to_limb(const limb *l, v3 x) {
    const v3 along = v3_along(l->b, -1, l->a), from = v3_along(x, -1, l->a);
    const double s = fmax(0, fmin(1, v3_dot(from, along) / v3_dot(along, along)));
    const v3 apart = v3_along(from, -s, along);
    return sqrt(v3_dot(apart, apart)) - (l->radius_a + s * (l->radius_b - l->radius_a));
}

/* The smaller of two distances, rounded where they are equal. */
static double blend(double a, double b) {
    const double h = fmax(0, BLEND - fabs(a - b)) / BLEND;
    return fmin(a, b) - 0.25 * h * h * BLEND;
}

/* Rings of lumps on the back: the shell. */
static double lumps(v3 x) {
    const double behind = fmax(0, fmin(1, (-x.x + 0.01) / 0.04)), high = fmax(0, 1 - fabs(x.z - 0.185) / 0.1);
    return 0.009 * behind * high * (0.4 + sin(150 * x.z) * cos(85 * x.y));
}

/* Negative inside. */
static double distance_at(v3 x) {
    double d = distance_to_limb(&limbs[0], x) - lumps(x);
    for (int i = 1; i < LIMBS; i++)
        d = blend(d, distance_to_limb(&limbs[i], x));
    return d;
}

static bool is_inside(const void *data, v3 x) {
    (void)data;
    return distance_at(x) < 0;
}

/* ---- the mesh ---- */

static v3 vertex(const double *x, int32_t i) {
    return (v3){x[3 * (size_t)i], x[3 * (size_t)i + 1], x[3 * (size_t)i + 2]};
}

/* The way along the gradient to where the distance is zero, no longer than NEAREST edges. */
static v3 way_to_surface(v3 x) {
    const double h = 1e-5, d = distance_at(x);
    const v3 g = {(distance_at((v3){x.x + h, x.y, x.z}) - distance_at((v3){x.x - h, x.y, x.z})) / (2 * h),
                  (distance_at((v3){x.x, x.y + h, x.z}) - distance_at((v3){x.x, x.y - h, x.z})) / (2 * h),
                  (distance_at((v3){x.x, x.y, x.z + h}) - distance_at((v3){x.x, x.y, x.z - h})) / (2 * h)};
    const double slope = sqrt(v3_dot(g, g)), most = NEAREST * EDGE, way = slope > 0.1 ? -d / slope : 0;
    return v3_scale(slope > 0 ? fmax(-most, fmin(most, way)) / slope : 0, g);
}

static double volume_of(const double *x, const int32_t *n) {
    const v3 a = vertex(x, n[0]), b = v3_along(vertex(x, n[1]), -1, a), c = v3_along(vertex(x, n[2]), -1, a),
             d = v3_along(vertex(x, n[3]), -1, a);
    return v3_dot(b, v3_cross(c, d)) / 6;
}

/* The tets around a vertex. */
typedef struct {
    int32_t tets[MOST_AROUND], count;
} around;

static around find_around(const bough_mesh *mesh, int32_t v) {
    around a = {.count = 0};
    for (int32_t k = 0; k < 4 * mesh->element_count && a.count < MOST_AROUND; k++)
        if (mesh->elements[k] == v)
            a.tets[a.count++] = k / 4;
    return a;
}

/* The mean of the neighbours, those on the surface alone for a vertex that is there itself, and from there to it. */
static v3 target_of(const bough_mesh *mesh, const around *a, const bool *outside, int32_t v) {
    v3 sum = {0, 0, 0};
    int count = 0;
    for (int32_t t = 0; t < a->count; t++)
        for (int k = 0; k < 4; k++) {
            const int32_t n = mesh->elements[4 * (size_t)a->tets[t] + (size_t)k];
            if (n == v || (outside[v] && !outside[n]))
                continue;
            sum = v3_add(sum, vertex(mesh->vertices, n)), count++;
        }
    const v3 mean = count > 0 ? v3_scale(1. / count, sum) : vertex(mesh->vertices, v);
    return outside[v] ? v3_add(mean, way_to_surface(mean)) : mean;
}

/* Moves a vertex to its target, or to a part of the way there, where no tet gets too thin. */
static void move_vertex(bough_mesh *mesh, const around *a, int32_t v, v3 target) {
    double *x = mesh->vertices + 3 * (size_t)v;
    const v3 from = vertex(mesh->vertices, v), way = v3_along(target, -1, from);
    for (double part = 1; part > 0.05; part *= 0.5) {
        const v3 to = v3_along(from, part, way);
        double least = INFINITY;
        memcpy(x, (double[]){to.x, to.y, to.z}, 3 * sizeof *x);
        for (int32_t t = 0; t < a->count; t++)
            least = fmin(least, volume_of(mesh->vertices, mesh->elements + 4 * (size_t)a->tets[t]));
        if (least >= THINNEST * EDGE * EDGE * EDGE / 6)
            return;
    }
    memcpy(x, (double[]){from.x, from.y, from.z}, 3 * sizeof *x);
}

/* Cubes become round: vertices move one after the other, again and again. */
static bough_status smooth(bough_context *ctx, bough_mesh *mesh) {
    bough_mesh *surface;
    int32_t *map;
    bough_status s = bough_mesh_surface(ctx, mesh, &surface, &map, NULL);
    if (s)
        return s;
    bool *outside = calloc((size_t)mesh->vertex_count, sizeof *outside);
    s = outside ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < surface->vertex_count && !s; i++)
        outside[map[i]] = true;
    for (int32_t v = 0; v < ROUNDS * mesh->vertex_count && !s; v++) {
        const around a = find_around(mesh, v % mesh->vertex_count);
        move_vertex(mesh, &a, v % mesh->vertex_count, target_of(mesh, &a, outside, v % mesh->vertex_count));
    }
    free(outside);
    bough_mesh_destroy(ctx, surface);
    bough_release(ctx, map);
    return s;
}

static bough_status make_creature(bough_context *ctx, bough_mesh **mesh) {
    const v3 size = v3_along(HIGHEST, -1, LOWEST);
    const int32_t cells[3] = {(int32_t)ceil(size.x / EDGE), (int32_t)ceil(size.y / EDGE), (int32_t)ceil(size.z / EDGE)};
    example_grid grid;
    if (!example_grid_create(cells, EDGE, LOWEST, &grid))
        return BOUGH_ERROR_MEMORY;
    example_grid_fill(&grid, is_inside, NULL);
    bough_status s = example_grid_mesh(ctx, &grid, BOUGH_TET4, mesh);
    example_grid_destroy(&grid);
    return s ? s : smooth(ctx, *mesh);
}

/* ---- the scene ---- */

/* The plates come from both sides, in a second to 0.1 m of each other, wait there, and go apart again. */
static bool write_scene(const example *e) {
    static const char *const names[] = {"right", "left"};
    example_file file;
    if (!example_open(e, "scene.json", &file))
        return false;
    fprintf(
        file.stream,
        "{\n  \"bough\": 1,\n  \"name\": \"a creature between two plates\",\n  \"mesh\": \"creature.msh\",\n"
        "  \"material\": {\"model\": \"stable-neo-hookean\", \"young\": 1e5, \"poisson\": 0.4, \"density\": 1000},\n"
        "  \"damping\": {\"stiffness\": 0.01},\n  \"obstacles\": [\n");
    for (int i = 0; i < 2; i++) {
        const double apart = i ? 0.165 : -0.165, near = i ? 0.07 : -0.07;
        fprintf(file.stream,
                "    {\"name\": \"%s\", \"shape\": {\"box\": [0.5, 0.04, 0.5]}, \"friction\": 0.6, \"track\": [\n"
                "      {\"time\": 0, \"position\": [0, %g, 0.19]}, {\"time\": 1, \"position\": [0, %g, 0.19]},\n"
                "      {\"time\": 1.2, \"position\": [0, %g, 0.19]}, {\"time\": 2, \"position\": [0, %g, 0.19]}]}%s\n",
                names[i], apart, near, near, apart, i ? "" : ",");
    }
    fprintf(file.stream,
            "  ],\n  \"contact\": {\"distance\": 0.001, \"friction\": 0.5, \"itself\": true},\n"
            "  \"time\": {\"integrator\": \"backward-euler\", \"dt\": 0.01, \"duration\": 2},\n"
            "  \"probes\": [{\"name\": \"head\", \"select\": \"z>0.27\"}, {\"name\": \"hand\", \"select\": "
            "\"y>0.1\"}]\n}\n");
    return example_close(&file, true);
}

int example_squeeze(bough_context *ctx, example *e) {
    bough_mesh *mesh = NULL;
    bough_status s = make_creature(ctx, &mesh);
    if (!s)
        s = example_count(ctx, e, mesh, NULL, 1);
    if (s) {
        bough_mesh_destroy(ctx, mesh);
        return app_fail(ctx);
    }
    if (example_write_mesh(ctx, e, mesh, "creature.msh"))
        return app_fail(ctx);
    return write_scene(e) ? APP_OK : APP_FAILED;
}
