/* A lily: one mesh of bricks, glued from a column (stem and head) and blades (leaves and petals) that grow from faces
 * on its side; each piece is a domain. */
#include "example.h"

#include <stdlib.h>
#include <string.h>

/* Section of the column: CORE x CORE bricks in the middle and one ring around them, RIM faces on its side. */
enum { CORE = 6, RIM = 4 * CORE, CORE_VERTICES = (CORE + 1) * (CORE + 1), SECTION = CORE_VERTICES + RIM };
enum { STEMS = 3, STEM_LAYERS = 10, HEAD_LAYERS = 12, STEM_END = STEMS * STEM_LAYERS, LAYERS = STEM_END + HEAD_LAYERS };
enum { MOST_VERTICES = 20000, MOST_ELEMENTS = 12000, DOMAINS = 12, FLOWER_R = 20 };

/* m */
#define STEM_HEIGHT 0.42
#define STEM_RADIUS 0.0055
#define HEAD_HEIGHT 0.036
#define HEAD_RADIUS 0.0125

typedef struct domain {
    const char *name;
    int32_t begin, end; /* elements */
} domain;

typedef struct flower {
    double vertices[MOST_VERTICES][3];
    int32_t elements[MOST_ELEMENTS][8];
    int32_t items[MOST_ELEMENTS];
    int32_t vertex_count, element_count, domain_count;
    domain domains[DOMAINS];
} flower;

static int32_t add_vertex(flower *f, v3 p) {
    double *v = f->vertices[f->vertex_count];
    v[0] = p.x, v[1] = p.y, v[2] = p.z;
    return f->vertex_count++;
}

static v3 vertex(const flower *f, int32_t v) {
    return (v3){f->vertices[v][0], f->vertices[v][1], f->vertices[v][2]};
}

static void begin_domain(flower *f, const char *name) {
    f->domains[f->domain_count] = (domain){name, f->element_count, 0};
}

static void end_domain(flower *f) {
    f->domains[f->domain_count++].end = f->element_count;
}

/* ---- the column ---- */

/* Vertices of a layer follow each other; these are the numbers within it. */
static int32_t core_vertex(int32_t i, int32_t j) {
    return j * (CORE + 1) + i;
}

/* Around the core, counter-clockwise. */
static int32_t core_rim(int32_t k) {
    int32_t side = k % RIM / CORE, step = k % CORE;
    switch (side) {
    case 0:
        return core_vertex(step, 0);
    case 1:
        return core_vertex(CORE, step);
    case 2:
        return core_vertex(CORE - step, CORE);
    default:
        return core_vertex(0, CORE - step);
    }
}

static int32_t outer_rim(int32_t k) {
    return CORE_VERTICES + k % RIM;
}

static double rim_angle(double k) {
    return 2 * M_PI * (k - 1.5 * CORE) / RIM;
}

/* Middle of a section and its directions, z along the stem: upright at the ground, nodding at the top. */
typedef struct station {
    v3 middle;
    axes directions;
    double radius;
} station;

static double nod(double t) {
    return 0.02 + 0.13 * t + 0.5 * t * t * t * t;
}

/* A bulb that widens from the stem and closes in a dome; t from 0 to 1. */
static double head_radius(double t) {
    double open = STEM_RADIUS + (HEAD_RADIUS - STEM_RADIUS) * (0.5 - 0.5 * cos(M_PI * fmin(1, t / 0.45)));
    double closed = t < 0.5 ? 1 : sqrt(fmax(0, 1 - pow((t - 0.5) / 0.55, 2)));
    return open * (0.15 + 0.85 * closed);
}

static void place_stations(station *stations) {
    v3 at = {0, 0, 0};
    for (int32_t l = 0; l <= LAYERS; l++) {
        double t = fmin(1, (double)l / STEM_END), angle = nod(t);
        v3 along = {sin(angle), 0, cos(angle)};
        double step = l < STEM_END ? STEM_HEIGHT / STEM_END : HEAD_HEIGHT / HEAD_LAYERS;
        double radius =
            l < STEM_END ? STEM_RADIUS * (1.25 - 0.25 * t) : head_radius((double)(l - STEM_END) / HEAD_LAYERS);
        stations[l] = (station){at, axes_around(along, (v3){1, 0, 0}), radius};
        at = v3_along(at, step, along);
    }
}

/* The core is between a square and a disc, so that no corner of a brick is flat. */
static v3 core_position(int32_t i, int32_t j) {
    double a = 2.0 * i / CORE - 1, b = 2.0 * j / CORE - 1;
    double square = 0.4 * M_SQRT1_2, disc = 0.6;
    return (v3){0.66 * a * (square + disc * sqrt(1 - b * b / 2)), 0.66 * b * (square + disc * sqrt(1 - a * a / 2)), 0};
}

static void add_section(flower *f, const station *s) {
    for (int32_t j = 0; j <= CORE; j++)
        for (int32_t i = 0; i <= CORE; i++)
            add_vertex(f, v3_along(s->middle, s->radius, axes_apply(&s->directions, core_position(i, j))));
    for (int32_t k = 0; k < RIM; k++) {
        v3 out = {cos(rim_angle(k)), sin(rim_angle(k)), 0};
        add_vertex(f, v3_along(s->middle, s->radius, axes_apply(&s->directions, out)));
    }
}

static void add_brick(flower *f, int32_t a, int32_t b, int32_t c, int32_t d, const int32_t above[4]) {
    int32_t *e = f->elements[f->element_count++];
    e[0] = a, e[1] = b, e[2] = c, e[3] = d;
    memcpy(e + 4, above, 4 * sizeof *e);
}

static void add_column_brick(flower *f, int32_t layer, const int32_t corners[4]) {
    int32_t base = layer * SECTION, above[4];
    for (int c = 0; c < 4; c++)
        above[c] = base + SECTION + corners[c];
    add_brick(f, base + corners[0], base + corners[1], base + corners[2], base + corners[3], above);
}

static void add_layers(flower *f, const char *name, int32_t begin, int32_t end) {
    begin_domain(f, name);
    for (int32_t l = begin; l < end; l++) {
        for (int32_t j = 0; j < CORE; j++)
            for (int32_t i = 0; i < CORE; i++)
                add_column_brick(f, l,
                                 (int32_t[]){core_vertex(i, j), core_vertex(i + 1, j), core_vertex(i + 1, j + 1),
                                             core_vertex(i, j + 1)});
        for (int32_t k = 0; k < RIM; k++)
            add_column_brick(f, l, (int32_t[]){core_rim(k), outer_rim(k), outer_rim(k + 1), core_rim(k + 1)});
    }
    end_domain(f);
}

/* ---- blades ---- */

/* A leaf or a petal: an arc of bricks, THICK in its thickness, that grows from a field of faces on the column's side.
 */
enum { THICK = 2, BLADE_CELLS = 16, MOST_ACROSS = 6 };

typedef struct blade {
    const char *name;
    int32_t layer;       /* lowest */
    int32_t rim, across; /* first face around the column, and how many */
    double length;       /* m */
    double rise, fall;   /* angle over the column's section at the foot and at the tip, rad */
    double width;        /* half, at the widest, m */
    double widest;       /* where, 0..1 */
    double thickness;    /* m */
    double cup;          /* rims stand up by this part of the half width */
} blade;

/* Half width: 0 at the foot (where the faces say it), 1 at the widest, a little at the tip. */
static double outline(const blade *b, double s) {
    double t = s < b->widest ? 0.5 * s / b->widest : 0.5 + 0.5 * (s - b->widest) / (1 - b->widest);
    return 0.06 + 0.94 * pow(sin(M_PI * fmin(t, 0.985)), 0.8);
}

/* The arc in the plane of `out` (x) and `up` (z), with its slope. */
static v3 arc(const blade *b, double s, double *slope) {
    enum { STEPS = 200 };
    v3 at = {0, 0, 0};
    for (int i = 0; i < STEPS; i++) {
        double t = s * (i + 0.5) / STEPS, angle = b->rise + (b->fall - b->rise) * t * t;
        at = v3_along(at, b->length * s / STEPS, (v3){cos(angle), 0, sin(angle)});
    }
    *slope = b->rise + (b->fall - b->rise) * s * s;
    return at;
}

/* From the column's face (`foot` = displaced by the arc) to the blade's own shape within the first quarter. */
static v3 blade_position(const blade *b, const axes *a, v3 origin, v3 foot, double s, double u, double w) {
    double slope, half = b->width * outline(b, s), blend = fmin(1, s / 0.25);
    v3 middle = arc(b, s, &slope);
    v3 normal = {-sin(slope), 0, cos(slope)};
    v3 shape = v3_along(middle, b->thickness * (1 - 0.5 * s) * w + b->cup * half * u * u, normal);
    shape.y += half * u;
    blend = blend * blend * (3 - 2 * blend);
    v3 grown = v3_add(foot, axes_apply(a, middle));
    return v3_add(v3_scale(1 - blend, grown), v3_scale(blend, v3_add(origin, axes_apply(a, shape))));
}

static void add_blade(flower *f, const station *stations, const blade *b) {
    int32_t grid[BLADE_CELLS + 1][THICK + 1][MOST_ACROSS + 1];
    const station *s = &stations[b->layer + THICK / 2];
    double angle = rim_angle(b->rim + 0.5 * b->across);
    v3 out = axes_apply(&s->directions, (v3){cos(angle), sin(angle), 0}), up = s->directions.z;
    axes a = {out, v3_cross(up, out), up};
    v3 origin = v3_along(s->middle, s->radius, out);
    for (int32_t i = 0; i <= BLADE_CELLS; i++)
        for (int32_t w = 0; w <= THICK; w++)
            for (int32_t k = 0; k <= b->across; k++) {
                int32_t foot = (b->layer + w) * SECTION + outer_rim(b->rim + k);
                grid[i][w][k] = foot;
                if (i > 0)
                    grid[i][w][k] =
                        add_vertex(f, blade_position(b, &a, origin, vertex(f, foot), (double)i / BLADE_CELLS,
                                                     2.0 * k / b->across - 1, (double)w / THICK - 0.5));
            }
    begin_domain(f, b->name);
    for (int32_t i = 0; i < BLADE_CELLS; i++)
        for (int32_t w = 0; w < THICK; w++)
            for (int32_t k = 0; k < b->across; k++) {
                const int32_t above[4] = {grid[i + 1][w][k], grid[i + 1][w][k + 1], grid[i + 1][w + 1][k + 1],
                                          grid[i + 1][w + 1][k]};
                add_brick(f, grid[i][w][k], grid[i][w][k + 1], grid[i][w + 1][k + 1], grid[i][w + 1][k], above);
            }
    end_domain(f);
}

/* ---- the flower ---- */

/* Two whorls of three petals: six faces each and two free between neighbours, so that petals share no vertex. */
static void build(flower *f) {
    static const char *const stems[STEMS] = {"stem1", "stem2", "stem3"};
    static const char *const petals[6] = {"petal1", "petal2", "petal3", "petal4", "petal5", "petal6"};
    station stations[LAYERS + 1];
    place_stations(stations);
    for (int32_t l = 0; l <= LAYERS; l++)
        add_section(f, &stations[l]);
    for (int32_t i = 0; i < STEMS; i++)
        add_layers(f, stems[i], i * STEM_LAYERS, (i + 1) * STEM_LAYERS);
    add_layers(f, "head", STEM_END, LAYERS);
    const blade leaf1 = {"leaf1", 7, 1, 4, 0.2, 0.9, -0.5, 0.022, 0.4, 0.002, 0.35};
    const blade leaf2 = {"leaf2", 15, 13, 4, 0.17, 1.0, -0.4, 0.02, 0.4, 0.002, 0.35};
    add_blade(f, stations, &leaf1);
    add_blade(f, stations, &leaf2);
    for (int32_t p = 0; p < 6; p++) {
        bool inner = p % 2 == 1;
        blade petal = {petals[p], STEM_END + (inner ? 8 : 5), 4 * p, 6, 0.115, 0.9, -0.35, 0.024, 0.55, 0.0018, 0.2};
        if (inner)
            petal.length = 0.105, petal.rise = 1.15, petal.fall = 0.0, petal.width = 0.028;
        add_blade(f, stations, &petal);
    }
}

static bough_status write_mesh(bough_context *ctx, example *e, flower *f) {
    bough_mesh *mesh;
    bough_status s =
        bough_mesh_create(ctx, BOUGH_HEX8, f->vertex_count, f->vertices[0], f->element_count, f->elements[0], &mesh);
    if (s)
        return s;
    for (int32_t i = 0; i < f->element_count; i++)
        f->items[i] = i; /* of vertices, too, for there are more of them than in a section */
    s = bough_mesh_add_set(ctx, mesh, BOUGH_SET_VERTEX, "ground", f->items, SECTION);
    for (int32_t d = 0; d < f->domain_count && !s; d++)
        s = bough_mesh_add_set(ctx, mesh, BOUGH_SET_ELEMENT, f->domains[d].name, f->items + f->domains[d].begin,
                               f->domains[d].end - f->domains[d].begin);
    if (!s)
        s = example_count_surfaces(ctx, mesh, e);
    if (!s)
        return example_write_mesh(ctx, e, mesh, "flower.msh");
    bough_mesh_destroy(ctx, mesh);
    return s;
}

static bool write_scene(const example *e, const flower *f) {
    example_file file;
    if (!example_open(e, "scene.json", &file))
        return false;
    v3 tip = vertex(f, LAYERS * SECTION + core_vertex(CORE / 2, CORE / 2));
    fprintf(file.stream,
            "{\n  \"bough\": 1,\n  \"name\": \"a lily of 12 pieces, cut from one mesh\",\n  \"object\": {\n"
            "    \"mesh\": \"flower.msh\",\n"
            "    \"material\": {\"model\": \"stvk\", \"young\": 4.5e7, \"poisson\": 0.4, \"density\": 900},\n"
            "    \"damping\": {\"mass\": 0.1, \"stiffness\": 0.002},\n"
            "    \"domains\": [");
    for (int32_t d = 0; d < f->domain_count; d++)
        fprintf(file.stream, "%s\"%s\"", d ? ", " : "", f->domains[d].name);
    fprintf(
        file.stream,
        "],\n    \"root\": \"stem1\",\n    \"fix\": \"ground\",\n    \"basis\": {\"r\": %d},\n"
        "    \"samples\": {\"wind\": 8},\n    \"keep_volume\": true\n  },\n"
        "  \"gravity\": [0, 0, -9.81],\n  \"wind\": {\"velocity\": [6, 0, 0], \"gust\": 0.5, \"seed\": 7},\n"
        "  \"engine\": {\"kind\": \"tree\", \"coupling\": \"L3\"},\n"
        "  \"time\": {\"integrator\": \"hht\", \"alpha\": -0.05, \"dt\": 0.0041666666666666666, \"duration\": 10},\n"
        "  \"settle\": true,\n"
        "  \"probes\": [{\"name\": \"head\", \"part\": \"head\", \"nearest\": [%.4f, %.4f, %.4f]}]\n}\n",
        FLOWER_R, tip.x, tip.y, tip.z);
    return example_close(&file, true);
}

int example_flower(bough_context *ctx, example *e) {
    flower *f = calloc(1, sizeof *f);
    if (!f)
        return app_fail_with("out of memory");
    build(f);
    e->parts = f->domain_count;
    e->coordinates = FLOWER_R * f->domain_count;
    e->vertices = f->vertex_count, e->elements = f->element_count;
    bough_status s = write_mesh(ctx, e, f);
    int status = s ? app_fail(ctx) : write_scene(e, f) ? APP_OK : APP_FAILED;
    free(f);
    return status;
}
