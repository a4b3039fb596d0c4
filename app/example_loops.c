/* Loops of equal segments, which ties close: a ring that flies and a footbridge that is held at both ends. */
#include "example.h"

#include <string.h>

/* ---- bent segments ---- */

/* A straight piece along x in cells, bent so that its axis is an arc in the plane of x and z. It begins at the origin,
 * along x. */
typedef struct segment {
    const char *name;
    int32_t cells[3];
    v3 cell; /* m */
    example_inside inside;
    double centre_z; /* cells: height of its axis */
    double degrees;  /* of the arc; positive: it rises */
} segment;

static double length_of(const segment *s) {
    return s->cells[0] * s->cell.x;
}

/* A point at height z above the axis is on an arc of its own, with the same centre. */
static v3 bend(const segment *s, v3 p) {
    const double radius = length_of(s) / (s->degrees * M_PI / 180), angle = p.x / radius;
    return (v3){(radius - p.z) * sin(angle), p.y, radius - (radius - p.z) * cos(angle)};
}

static bough_status add_end(bough_context *ctx, bough_mesh *mesh, const char *name, double x) {
    char where[64];
    int32_t *vertices, count;
    snprintf(where, sizeof where, "x>%.17g & x<%.17g", x - 1e-6, x + 1e-6);
    bough_status s = bough_mesh_select(ctx, mesh, where, &vertices, &count);
    if (s)
        return s;
    s = bough_mesh_add_set(ctx, mesh, BOUGH_SET_VERTEX, name, vertices, count);
    bough_release(ctx, vertices);
    return s;
}

/* Quadratic tets: they bend without locking. */
static bough_status straight_mesh(bough_context *ctx, const segment *s, bough_mesh **mesh) {
    example_grid grid;
    bough_mesh *cubes;
    if (!example_grid_create(s->cells, 1, (v3){0, -0.5 * s->cells[1], -s->centre_z}, &grid))
        return BOUGH_ERROR_MEMORY;
    example_grid_fill(&grid, s->inside, s);
    bough_status status = example_grid_mesh(ctx, &grid, BOUGH_TET4, &cubes);
    example_grid_destroy(&grid);
    if (status)
        return status;
    status = bough_mesh_raise_order(ctx, cubes, mesh);
    bough_mesh_destroy(ctx, cubes);
    return status;
}

static bough_status segment_mesh(bough_context *ctx, const segment *s, bough_mesh **mesh) {
    bough_status status = straight_mesh(ctx, s, mesh);
    if (!status)
        status = add_end(ctx, *mesh, "base", 0);
    if (!status)
        status = add_end(ctx, *mesh, "tip", s->cells[0]);
    for (int32_t v = 0; !status && v < (*mesh)->vertex_count; v++) {
        double *x = (*mesh)->vertices + 3 * (size_t)v;
        const v3 to = bend(s, (v3){s->cell.x * x[0], s->cell.y * x[1], s->cell.z * x[2]});
        x[0] = to.x, x[1] = to.y, x[2] = to.z;
    }
    return status;
}

static bough_status write_segment(bough_context *ctx, example *e, const segment *s, int uses) {
    bough_mesh *mesh = NULL;
    char name[32];
    bough_status status = segment_mesh(ctx, s, &mesh);
    if (!status)
        status = example_count(ctx, e, mesh, NULL, uses);
    if (status) {
        bough_mesh_destroy(ctx, mesh);
        return status;
    }
    snprintf(name, sizeof name, "%s.msh", s->name);
    return example_write_mesh(ctx, e, mesh, name);
}

/* ---- scenes ---- */

/* Loops resist stretching, which is among the responses to forces at interfaces but not among the lowest modes. */
static void write_component(FILE *f, const segment *s, double young, double density, double damping, int r) {
    fprintf(f,
            "    \"%s\": {\n      \"mesh\": \"%s.msh\",\n"
            "      \"material\": {\"model\": \"stvk\", \"young\": %g, \"poisson\": 0.35, \"density\": %g},\n"
            "      \"damping\": {\"mass\": 0, \"stiffness\": %g},\n"
            "      \"interfaces\": {\"base\": {\"select\": \"base\"}, \"tip\": {\"select\": \"tip\"}},\n"
            "      \"basis\": {\"r\": %d, \"kind\": \"attachment+derivatives\"}, \"samples\": {\"wind\": 8}\n    }\n",
            s->name, s->name, young, density, damping, r);
}

/* Each goes on where the one before it ends; root: what is special about the first. */
static void write_row(FILE *f, const segment *s, int count, const char *root) {
    fprintf(f, "  \"parts\": [\n    {\"name\": \"%s1\", \"component\": \"%s\", %s}", s->name, s->name, root);
    for (int i = 2; i <= count; i++)
        fprintf(f,
                ",\n    {\"name\": \"%s%d\", \"component\": \"%s\", \"parent\": \"%s%d\", \"interface\": \"tip\", "
                "\"rotate_deg\": [0, %g, 0]}",
                s->name, i, s->name, s->name, i - 1, -s->degrees);
    fprintf(f, "\n  ],\n");
}

static const char *const how =
    "  \"engine\": {\"kind\": \"tree\", \"coupling\": \"L3\"},\n"
    "  \"time\": {\"integrator\": \"hht\", \"alpha\": -0.05, \"dt\": 0.0041666666666666666, \"duration\": 10},\n";

static bool everywhere(const void *data, v3 place) {
    (void)data, (void)place;
    return true;
}

/* ---- the ring ---- */

enum { RING_SEGMENTS = 16, RING_R = 12 };
#define RING_TILT 105 /* degrees about x: it lies nearly flat */

/* A radius of 1 m and a section of 0.12 by 0.08 m. */
static const segment ring_segment = {.name = "segment",
                                     .cells = {6, 2, 1},
                                     .cell = {2 * M_PI / RING_SEGMENTS / 6, 0.06, 0.08},
                                     .inside = everywhere,
                                     .centre_z = 0.5,
                                     .degrees = 360.0 / RING_SEGMENTS};

/* A force along the ring's diameter through its root and one across its plane. */
static void write_blow(FILE *f, int segment_number, double along, double across, bool last) {
    const double c = cos(RING_TILT * M_PI / 180), s = sin(RING_TILT * M_PI / 180);
    fprintf(f, "    {\"part\": \"segment%d\", \"force\": [0, %.2f, %.2f], \"from\": 0.2, \"until\": 0.5}%s\n",
            segment_number, c * across - s * along, s * across + c * along, last ? "" : ",");
}

/* Squeezed and twisted by what adds up to nothing. */
static bool write_ring(const example *e) {
    example_file file;
    char root[64];
    if (!example_open(e, "scene.json", &file))
        return false;
    FILE *f = file.stream;
    fprintf(f, "{\n  \"bough\": 1,\n  \"name\": \"an elastic ring that flies\",\n  \"components\": {\n");
    write_component(f, &ring_segment, 2e7, 1000, 0.002, RING_R);
    fprintf(f, "  },\n");
    snprintf(root, sizeof root, "\"flies\": true, \"rotate_deg\": [%d, 0, 0]", RING_TILT);
    write_row(f, &ring_segment, RING_SEGMENTS, root);
    fprintf(f,
            "  \"ties\": [{\"name\": \"closure\", \"parts\": [\"segment%d\", \"segment1\"], \"interfaces\": [\"tip\", "
            "\"base\"],\n    \"stiffness\": 1e7, \"damping\": 1000, \"turning_stiffness\": 1e5, \"turning_damping\": "
            "10}],\n",
            RING_SEGMENTS);
    fprintf(f, "  \"forces\": [\n");
    for (int i = 0; i < 4; i++)
        write_blow(f, i * RING_SEGMENTS / 4 + 1, i % 2 ? 0 : 100 * (1 - i), i % 2 ? -30 : 30, i == 3);
    fprintf(f,
            "  ],\n%s  \"probes\": [{\"name\": \"root\", \"part\": \"segment1\"}, {\"name\": \"opposite\", "
            "\"part\": \"segment%d\"}]\n}\n",
            how, RING_SEGMENTS / 2 + 1);
    return example_close(&file, true);
}

int example_ring(bough_context *ctx, example *e) {
    if (write_segment(ctx, e, &ring_segment, RING_SEGMENTS))
        return app_fail(ctx);
    e->parts = RING_SEGMENTS;
    e->coordinates = RING_SEGMENTS * RING_R;
    return write_ring(e) ? APP_OK : APP_FAILED;
}

/* ---- the bridge ---- */

enum { BRIDGE_SEGMENTS = 16, BRIDGE_R = 12 };
#define BRIDGE_DEGREES 24.0 /* of the whole arc */

/* A deck of one layer, and at both sides a post with a piece of rail, which stops before the next one's. */
static bool in_bridge(const void *data, v3 p) {
    const segment *s = data;
    const double z = p.z + s->centre_z;
    const bool side = fabs(p.y) > 0.5 * s->cells[1] - 1, post = p.x > 2 && p.x<3, rail = p.x> 1 && p.x < 4;
    return z < 1 || (side && (post || (rail && z > s->cells[2] - 1)));
}

/* 12 m long, 0.48 m wide and 0.16 m thick, with rails 0.8 m above. */
static const segment bridge_segment = {.name = "span",
                                       .cells = {5, 4, 6},
                                       .cell = {0.15, 0.12, 0.16},
                                       .inside = in_bridge,
                                       .centre_z = 0.5,
                                       .degrees = -BRIDGE_DEGREES / BRIDGE_SEGMENTS};

/* Somebody jumps on it in the middle, in a breeze across. */
static bool write_bridge(const example *e) {
    example_file file;
    char root[96];
    if (!example_open(e, "scene.json", &file))
        return false;
    FILE *f = file.stream;
    fprintf(f, "{\n  \"bough\": 1,\n  \"name\": \"a footbridge, held at both ends\",\n  \"components\": {\n");
    write_component(f, &bridge_segment, 3e8, 600, 0.002, BRIDGE_R);
    fprintf(f, "  },\n");
    snprintf(root, sizeof root, "\"fix\": \"base\", \"rotate_deg\": [0, %g, 0]", -BRIDGE_DEGREES / 2);
    write_row(f, &bridge_segment, BRIDGE_SEGMENTS, root);
    fprintf(f,
            "  \"ties\": [{\"name\": \"far bank\", \"parts\": [\"span%d\"], \"interfaces\": [\"tip\"],\n"
            "    \"stiffness\": 1e9, \"damping\": 1e5, \"turning_stiffness\": 1e8, \"turning_damping\": 1e4}],\n",
            BRIDGE_SEGMENTS);
    fprintf(f,
            "  \"gravity\": [0, 0, -9.81],\n  \"settle\": true,\n"
            "  \"wind\": {\"velocity\": [2, 8, 0], \"gust\": 0.4, \"length\": 6},\n  \"forces\": [\n"
            "    {\"part\": \"span7\", \"force\": [0, 300, -2500], \"from\": 0.5, \"until\": 0.7},\n"
            "    {\"part\": \"span7\", \"force\": [0, 300, -2500], \"from\": 1.1, \"until\": 1.3},\n"
            "    {\"part\": \"span7\", \"force\": [0, 300, -2500], \"from\": 1.7, \"until\": 1.9}\n  ],\n%s"
            "  \"probes\": [{\"name\": \"middle\", \"part\": \"span%d\"}, {\"name\": \"far end\", \"part\": "
            "\"span%d\"}]\n}\n",
            how, BRIDGE_SEGMENTS / 2 + 1, BRIDGE_SEGMENTS);
    return example_close(&file, true);
}

int example_bridge(bough_context *ctx, example *e) {
    if (write_segment(ctx, e, &bridge_segment, BRIDGE_SEGMENTS))
        return app_fail(ctx);
    e->parts = BRIDGE_SEGMENTS;
    e->coordinates = BRIDGE_SEGMENTS * BRIDGE_R;
    return write_bridge(e) ? APP_OK : APP_FAILED;
}
