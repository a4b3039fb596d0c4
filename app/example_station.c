/* A space station of cubes that flies: a hub, modules, a truss to either side, and what stands on these. */
#include "example.h"

#include <string.h>

#define CUBE 0.25  /* m */
#define HEADING 50 /* degrees about z */

/* Sizes in cubes. Things lie along x from 0, where they hang, and are even about y = z = 0. */
enum {
    HUB = 16,
    HUB_RADIUS = 6,
    MODULE = 30,
    MODULE_RADIUS = 7,
    TRUSS = 62,
    TRUSS_WIDTH = 10,
    BAY = 15, /* of the truss, from frame to frame; frames are 2 thick */
    PANEL = 92,
    PANEL_WIDTH = 30,
    YOKE = 6, /* between truss and panel */
    RADIATOR = 54,
    RADIATOR_WIDTH = 20,
    DISH = 16, /* across */
    BOOM = 50,
    BOOM_WIDTH = 4
};

/* ---- shapes, in cubes ---- */

static bool between(double x, double lower, double upper) {
    return x > lower && x < upper;
}

/* Tubes along all three axes, hollow, closed at their ends. */
static bool in_hub(const void *data, v3 p) {
    (void)data;
    const double c[3] = {fabs(p.x - HUB / 2), fabs(p.y), fabs(p.z)};
    bool outside = true, hollow = false;
    for (int d = 0; d < 3; d++) {
        const double across = hypot(c[(d + 1) % 3], c[(d + 2) % 3]);
        outside = outside && across > HUB_RADIUS;
        hollow = hollow || (across < HUB_RADIUS - 1.5 && c[d] < HUB / 2 - 2);
    }
    return !outside && !hollow;
}

/* A hollow tube, closed, narrower at its ends. */
static bool in_module(const void *data, v3 p) {
    (void)data;
    const double end = fmin(p.x, MODULE - p.x), across = hypot(p.y, p.z);
    const double radius = end < 3 ? MODULE_RADIUS - 3 + end : MODULE_RADIUS;
    return across < radius && (across > radius - 2 || end < 2);
}

/* Four beams at the corners, frames, and a diagonal on each side of each bay. */
static bool in_truss(const void *data, v3 p) {
    (void)data;
    const double half = TRUSS_WIDTH / 2.0, y = fabs(p.y), z = fabs(p.z);
    const bool rim_y = y > half - 2, rim_z = z > half - 2;
    if (!rim_y && !rim_z)
        return false;
    const double in_bay = fmod(p.x, BAY);
    if ((rim_y && rim_z) || in_bay < 2)
        return true;
    /* from the lower beam at one frame to the upper beam at the next, and back in the next bay */
    const double across = rim_y ? p.z : p.y, slope = (2 * half - 2) / (BAY - 2);
    const double turn = fmod(floor(p.x / BAY), 2) == 0 ? 1 : -1;
    return fabs(turn * across - slope * (in_bay - 2 - (BAY - 2) / 2.0)) < 1.3;
}

/* One cube thick; a fork of two bars holds it. */
static bool in_panel(const void *data, v3 p) {
    (void)data;
    if (p.x > YOKE)
        return true;
    return fabs(p.y) < 3 && (p.x < 2 || fabs(p.y) > 1 || p.x > YOKE - 2);
}

static bool in_radiator(const void *data, v3 p) {
    (void)data;
    return p.x > 4 || fabs(p.y) < 3;
}

/* A mast, and a bowl that opens away from it. */
static bool in_dish(const void *data, v3 p) {
    (void)data;
    const double across = hypot(p.y, p.z), bowl = 8 + across * across / (DISH * 1.0);
    return across < DISH / 2.0 && (between(p.x, bowl - 1.2, bowl + 0.8) || (p.x < 9 && across < 2));
}

/* A square tube. */
static bool in_boom(const void *data, v3 p) {
    (void)data;
    return p.x < 2 || p.x > BOOM - 2 || fmax(fabs(p.y), fabs(p.z)) > BOOM_WIDTH / 2.0 - 1;
}

/* ---- classes ---- */

/* A place at which something hangs: a patch of the surface. */
typedef struct port {
    const char *name;
    double at[3], radius; /* cubes */
} port;

typedef struct class {
    const char *name;
    example_inside inside;
    int32_t cells[3]; /* x from 0, y and z even about 0 */
    int32_t r;
    double young, density; /* Pa, kg/m^3 of the cubes */
    port ports[6];
} class;

#define HALF_HUB (HUB / 2.0)
#define HALF_TRUSS (TRUSS_WIDTH / 2.0)

enum { HUB_CLASS, MODULE_CLASS, TRUSS_CLASS, PANEL_CLASS, RADIATOR_CLASS, DISH_CLASS, BOOM_CLASS, CLASSES };

/* A port "base" is where it hangs; the hub has none, and flies. */
static const class classes[CLASSES] = {
    [HUB_CLASS] = {"hub",
                   in_hub,
                   {HUB, HUB, HUB},
                   21,
                   5e7,
                   300,
                   {{"right", {HUB, 0, 0}, 5},
                    {"left", {0, 0, 0}, 5},
                    {"fore", {HALF_HUB, HALF_HUB, 0}, 5},
                    {"aft", {HALF_HUB, -HALF_HUB, 0}, 5},
                    {"top", {HALF_HUB, 0, HALF_HUB}, 5},
                    {"bottom", {HALF_HUB, 0, -HALF_HUB}, 5}}},
    [MODULE_CLASS] = {"module",
                      in_module,
                      {MODULE, 2 * MODULE_RADIUS, 2 * MODULE_RADIUS},
                      20,
                      3e7,
                      250,
                      {{"base", {0, 0, 0}, 4}, {"tip", {MODULE, 0, 0}, 4}, {"side", {24, 0, MODULE_RADIUS}, 3}}},
    [TRUSS_CLASS] = {"truss",
                     in_truss,
                     {TRUSS, TRUSS_WIDTH, TRUSS_WIDTH},
                     20,
                     6e7,
                     200,
                     {{"base", {0, 0, 0}, 7.5},
                      {"tip", {TRUSS, 0, 0}, 7.5},
                      {"up1", {BAY + 1, 0, HALF_TRUSS}, 2.5},
                      {"up2", {3 * BAY + 1, 0, HALF_TRUSS}, 2.5},
                      {"down1", {BAY + 1, 0, -HALF_TRUSS}, 2.5},
                      {"down2", {3 * BAY + 1, 0, -HALF_TRUSS}, 2.5}}},
    [PANEL_CLASS] = {"panel", in_panel, {YOKE + PANEL, PANEL_WIDTH, 1}, 19, 2e9, 60, {{"base", {0, 0, 0}, 3.2}}},
    [RADIATOR_CLASS] =
        {"radiator", in_radiator, {4 + RADIATOR, RADIATOR_WIDTH, 1}, 20, 1e8, 60, {{"base", {0, 0, 0}, 3.2}}},
    [DISH_CLASS] = {"dish", in_dish, {13, DISH, DISH}, 20, 2e7, 80, {{"base", {0, 0, 0}, 3}}},
    [BOOM_CLASS] = {"boom", in_boom, {BOOM, BOOM_WIDTH, BOOM_WIDTH}, 4, 3e7, 100, {{"base", {0, 0, 0}, 3}}},
};

/* ---- parts ---- */

enum { PARTS = 48 };

typedef struct part {
    char name[32];
    int kind, parent;  /* kind: of classes */
    const char *place; /* the parent's port */
    axes directions;   /* in the world */
} part;

typedef struct station {
    part parts[PARTS];
    int count;
} station;

/* Along `x`, with its flat side across `z`. */
static int add(station *s, int kind, int parent, const char *place, v3 x, v3 z, const char *name) {
    part *p = &s->parts[s->count];
    *p = (part){.kind = kind, .parent = parent, .place = place, .directions = {x, v3_cross(z, x), z}};
    snprintf(p->name, sizeof p->name, "%s", name);
    return s->count++;
}

/* Two panels up and two down. */
static void add_panels(station *s, int truss, const char *name) {
    static const char *const ports[4] = {"up1", "up2", "down1", "down2"};
    for (int i = 0; i < 4; i++) {
        char panel[32];
        snprintf(panel, sizeof panel, "%s panel %d", name, i + 1);
        add(s, PANEL_CLASS, truss, ports[i], (v3){0, 0, i < 2 ? 1 : -1}, (v3){0, 1, 0}, panel);
    }
}

/* Three trusses in a row, each with its panels. */
static void add_wing(station *s, int hub, const char *side, v3 x) {
    int at = hub;
    for (int i = 1; i <= 3; i++) {
        char name[16];
        snprintf(name, sizeof name, "%s %d", side, i);
        at = add(s, TRUSS_CLASS, at, i == 1 ? side : "tip", x, (v3){0, 0, 1}, name);
        add_panels(s, at, name);
    }
}

/* Two modules in a row and a dish at their end, with a radiator or two on their sides. */
static void add_arm(station *s, int hub, const char *side, v3 x, v3 z) {
    char name[16];
    snprintf(name, sizeof name, "%s 1", side);
    const int inner = add(s, MODULE_CLASS, hub, side, x, z, name);
    snprintf(name, sizeof name, "%s 2", side);
    const int outer = add(s, MODULE_CLASS, inner, "tip", x, z, name);
    snprintf(name, sizeof name, "%s dish", side);
    add(s, DISH_CLASS, outer, "tip", x, z, name);
    snprintf(name, sizeof name, "%s radiator", side);
    add(s, RADIATOR_CLASS, inner, "side", z, x, name);
}

/* 1 + 2 (3 + 12) + 4 (2 + 1 + 1) + 1 = 48 */
static void assemble(station *s) {
    const v3 right = {1, 0, 0}, left = {-1, 0, 0}, fore = {0, 1, 0}, aft = {0, -1, 0}, up = {0, 0, 1},
             down = {0, 0, -1};
    s->count = 0;
    const int hub = add(s, HUB_CLASS, -1, NULL, right, up, "hub");
    add_wing(s, hub, "right", right);
    add_wing(s, hub, "left", left);
    add_arm(s, hub, "fore", fore, up);
    add_arm(s, hub, "aft", aft, down);
    add_arm(s, hub, "top", up, aft);
    add_arm(s, hub, "bottom", down, fore);
    int outer = 0;
    while (strcmp(s->parts[outer].name, "fore 2") != 0)
        outer++;
    add(s, BOOM_CLASS, outer, "side", up, aft, "boom");
}

/* ---- the scene ---- */

static void write_class(FILE *f, const class *c, bool last) {
    fprintf(f,
            "    \"%s\": {\n      \"mesh\": \"%s.msh\",\n"
            "      \"material\": {\"model\": \"stvk\", \"young\": %g, \"poisson\": 0.3, \"density\": %g},\n"
            "      \"damping\": {\"mass\": 0, \"stiffness\": 0.004},\n      \"interfaces\": {",
            c->name, c->name, c->young, c->density);
    for (const port *p = c->ports; p < c->ports + 6 && p->name; p++)
        fprintf(f, "%s\n        \"%s\": {\"patch\": [%g, %g, %g], \"radius\": %g}", p == c->ports ? "" : ",", p->name,
                CUBE * p->at[0], CUBE * p->at[1], CUBE * p->at[2], CUBE * p->radius);
    fprintf(f, "\n      },\n      \"basis\": {\"r\": %d}, \"samples\": {\"wind\": 8}\n    }%s\n", c->r,
            last ? "" : ",");
}

static void write_part(FILE *f, const station *s, int index) {
    const part *p = &s->parts[index];
    if (p->parent < 0) {
        fprintf(f, "    {\"name\": \"%s\", \"component\": \"%s\", \"rotate_deg\": [0, 0, %d]}", p->name,
                classes[p->kind].name, HEADING);
        return;
    }
    double degrees[3];
    axes_degrees(&s->parts[p->parent].directions, &p->directions, degrees);
    fprintf(f,
            ",\n    {\"name\": \"%s\", \"component\": \"%s\", \"parent\": \"%s\", \"interface\": \"%s\", "
            "\"rotate_deg\": [%g, %g, %g]}",
            p->name, classes[p->kind].name, s->parts[p->parent].name, p->place, degrees[0], degrees[1], degrees[2]);
}

/* Thrusters at the ends of the wings turn it, and the hub is pushed against both; force in the station's axes. */
static void write_thruster(FILE *f, const char *where, v3 force, bool last) {
    const double c = cos(HEADING * M_PI / 180), s = sin(HEADING * M_PI / 180);
    fprintf(f, "    {\"part\": \"%s\", \"force\": [%.1f, %.1f, %.1f], \"from\": 0.5, \"until\": 1.5}%s\n", where,
            c * force.x - s * force.y, s * force.x + c * force.y, force.z, last ? "" : ",");
}

static void write_tail(FILE *f) {
    fprintf(f, "\n  ],\n  \"forces\": [\n");
    write_thruster(f, "right 3", (v3){0, 150000, 40000}, false);
    write_thruster(f, "left 3", (v3){0, -150000, 40000}, false);
    write_thruster(f, "hub", (v3){0, 0, -80000}, true);
    fprintf(
        f, "  ],\n  \"engine\": {\"kind\": \"tree\", \"coupling\": \"L3\"},\n"
           "  \"time\": {\"integrator\": \"hht\", \"alpha\": -0.05, \"dt\": 0.0041666666666666666, \"duration\": 20},\n"
           "  \"probes\": [{\"name\": \"hub\", \"part\": \"hub\"}, {\"name\": \"right end\", \"part\": \"right "
           "3\"}]\n}\n");
}

static bool write_scene(const example *e, const station *s) {
    example_file file;
    if (!example_open(e, "scene.json", &file))
        return false;
    fprintf(file.stream, "{\n  \"bough\": 1,\n  \"name\": \"a space station of %d parts\",\n  \"components\": {\n",
            s->count);
    for (int c = 0; c < CLASSES; c++)
        write_class(file.stream, &classes[c], c == CLASSES - 1);
    fprintf(file.stream, "  },\n  \"parts\": [\n");
    for (int p = 0; p < s->count; p++)
        write_part(file.stream, s, p);
    write_tail(file.stream);
    return example_close(&file, true);
}

/* ---- meshes ---- */

/* Shapes are in cubes. */
static bough_status mesh_of(bough_context *ctx, const class *c, bough_mesh **mesh) {
    example_grid grid;
    if (!example_grid_create(c->cells, 1, (v3){0, -0.5 * c->cells[1], -0.5 * c->cells[2]}, &grid))
        return BOUGH_ERROR_MEMORY;
    example_grid_fill(&grid, c->inside, NULL);
    grid.edge = CUBE, grid.origin = v3_scale(CUBE, grid.origin);
    bough_status s = example_grid_mesh(ctx, &grid, BOUGH_HEX8, mesh);
    example_grid_destroy(&grid);
    return s;
}

static bough_status write_mesh(bough_context *ctx, example *e, const station *s, int kind) {
    bough_mesh *mesh = NULL;
    int uses = 0;
    char name[32];
    for (int p = 0; p < s->count; p++)
        uses += s->parts[p].kind == kind;
    e->coordinates += uses * classes[kind].r;
    bough_status status = mesh_of(ctx, &classes[kind], &mesh);
    if (!status)
        status = example_count(ctx, e, mesh, NULL, uses);
    if (status) {
        bough_mesh_destroy(ctx, mesh);
        return status;
    }
    snprintf(name, sizeof name, "%s.msh", classes[kind].name);
    return example_write_mesh(ctx, e, mesh, name);
}

int example_station(bough_context *ctx, example *e) {
    static station s;
    assemble(&s);
    e->parts = s.count;
    for (int c = 0; c < CLASSES; c++)
        if (write_mesh(ctx, e, &s, c))
            return app_fail(ctx);
    return write_scene(e, &s) ? APP_OK : APP_FAILED;
}
