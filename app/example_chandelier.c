/* A chandelier: a chain of balls, a hub, and flexible arms on balls that carry lamps. */
#include "example.h"

#include <string.h>

enum { LINKS = 6, ARMS = 8, ARM_R = 8 };

/* All of its parts are rods along z, which points down, since the canopy hangs upside down. m */
typedef struct rod {
    const char *name;
    double length, radius, end_radius;
    double young, density;
    int r, uses;
} rod;

static const rod rods[] = {
    {"canopy", 0.06, 0.12, 0.05, 1e9, 800, 0, 1},    {"link", 0.12, 0.014, 0.014, 1e9, 2000, 0, LINKS},
    {"hub", 0.07, 0.12, 0.22, 1e9, 600, 0, 1},       {"arm", 0.55, 0.016, 0.010, 1.5e8, 700, ARM_R, ARMS},
    {"lamp", 0.16, 0.025, 0.075, 1e9, 300, 0, ARMS},
};
enum { RODS = sizeof rods / sizeof *rods };

#define ARM_SLOPE 55      /* degrees from straight down */
#define ARM_DISTANCE 0.19 /* of its ball from the hub's axis, m */

static bough_rod_def mesh_of(const rod *r) {
    bough_rod_def def = bough_default_rod_def();
    def.type = BOUGH_HEX8;
    def.length = r->length, def.radius = r->radius, def.top_radius = r->end_radius;
    def.cells_along = r->r ? 10 : 3;
    def.rings = 1, def.core_cells = 2;
    return def;
}

static void write_rod(FILE *f, const rod *r, bool last) {
    const bough_rod_def m = mesh_of(r);
    fprintf(f,
            "    \"%s\": {\n      \"mesh\": {\"generate\": \"rod\", \"type\": \"hex8\", \"length\": %g, \"radius\": "
            "%g, \"top_radius\": %g, \"cells_along\": %d, \"rings\": %d, \"core_cells\": %d},\n"
            "      \"material\": {\"model\": \"stvk\", \"young\": %g, \"poisson\": 0.3, \"density\": %g},\n"
            "      \"damping\": {\"mass\": 0, \"stiffness\": 0.002},\n"
            "      \"interfaces\": {\"base\": {\"select\": \"bottom\"}, \"tip\": {\"select\": \"top\"}},\n"
            "      \"basis\": {\"r\": %d}, \"samples\": {\"wind\": 0}\n    }%s\n",
            r->name, m.length, m.radius, m.top_radius, m.cells_along, m.rings, m.core_cells, r->young, r->density, r->r,
            last ? "" : ",");
}

/* Arms stand out from the hub, since their balls are stiff; lamps hang straight down from theirs. */
static void write_arm(FILE *f, int i) {
    const double turn = 360.0 * i / ARMS;
    fprintf(f,
            ",\n    {\"name\": \"arm%d\", \"component\": \"arm\", \"parent\": \"hub\", \"offset\": [%.5f, %.5f, "
            "-0.02], \"rotate_deg\": [0, %d, %g],\n     \"joint\": {\"kind\": \"ball\", \"stiffness\": 8, \"damping\": "
            "0.15}},\n"
            "    {\"name\": \"lamp%d\", \"component\": \"lamp\", \"parent\": \"arm%d\", \"rotate_deg\": [0, %d, 0], "
            "\"joint\": {\"kind\": \"ball\", \"stiffness\": 0.02, \"damping\": 0.004}}",
            i + 1, ARM_DISTANCE * cos(turn * M_PI / 180), ARM_DISTANCE * sin(turn * M_PI / 180), ARM_SLOPE, turn, i + 1,
            i + 1, -ARM_SLOPE);
}

static void write_parts(FILE *f) {
    fprintf(f, "  \"parts\": [\n    {\"name\": \"canopy\", \"component\": \"canopy\", \"fix\": \"base\", \"position\": "
               "[0, 0, 2], \"rotate_deg\": [180, 0, 0]}");
    for (int i = 1; i <= LINKS; i++) {
        char above[16] = "canopy";
        if (i > 1)
            snprintf(above, sizeof above, "link%d", i - 1);
        fprintf(f,
                ",\n    {\"name\": \"link%d\", \"component\": \"link\", \"parent\": \"%s\", \"joint\": {\"kind\": "
                "\"ball\", \"stiffness\": 0.05, \"damping\": 1.2}}",
                i, above);
    }
    fprintf(f,
            ",\n    {\"name\": \"hub\", \"component\": \"hub\", \"parent\": \"link%d\", \"joint\": {\"kind\": "
            "\"hinge\", \"axis\": [0, 1, 0], \"stiffness\": 0.05, \"damping\": 0.4}}",
            LINKS);
    for (int i = 0; i < ARMS; i++)
        write_arm(f, i);
    fprintf(f, "\n  ],\n");
}

/* It starts at rest, and the hub is pushed. */
static bool write_scene(const example *e) {
    example_file file;
    if (!example_open(e, "scene.json", &file))
        return false;
    FILE *f = file.stream;
    fprintf(f, "{\n  \"bough\": 1,\n  \"name\": \"a chandelier on balls and a hinge\",\n  \"components\": {\n");
    for (int r = 0; r < RODS; r++)
        write_rod(f, &rods[r], r == RODS - 1);
    fprintf(f, "  },\n");
    write_parts(f);
    fprintf(
        f,
        "  \"gravity\": [0, 0, -9.81],\n  \"settle\": true,\n"
        "  \"forces\": [{\"part\": \"hub\", \"force\": [45, 18, 0], \"torque\": [0, 0, 2], \"from\": 0.5, \"until\": "
        "0.8}],\n"
        "  \"engine\": {\"kind\": \"tree\", \"coupling\": \"L3\"},\n"
        "  \"time\": {\"integrator\": \"hht\", \"alpha\": -0.05, \"dt\": 0.0041666666666666666, \"duration\": 20},\n"
        "  \"probes\": [{\"name\": \"hub\", \"part\": \"hub\"}, {\"name\": \"lamp\", \"part\": \"lamp1\"}]\n}\n");
    return example_close(&file, true);
}

int example_chandelier(bough_context *ctx, example *e) {
    bough_status s = BOUGH_OK;
    for (int r = 0; r < RODS && !s; r++) {
        const bough_rod_def def = mesh_of(&rods[r]);
        bough_mesh *mesh;
        s = bough_mesh_generate_rod(ctx, &def, &mesh);
        if (s)
            break;
        s = example_count(ctx, e, mesh, NULL, rods[r].uses);
        bough_mesh_destroy(ctx, mesh);
        e->parts += rods[r].uses;
        e->coordinates += rods[r].uses * rods[r].r;
    }
    if (s)
        return app_fail(ctx);
    e->coordinates += 3 * (LINKS + 2 * ARMS) + 1; /* of the joints */
    return write_scene(e) ? APP_OK : APP_FAILED;
}
