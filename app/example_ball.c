/* A heavy ball that falls through the crown of the oak, bends boughs aside and lands on the ground. */
#include "example_oak.h"

#include <string.h>

/* m, kg, m/s */
#define RADIUS 0.4
#define MASS 100.0
/* Over the leader, clear of all leaves and as slow as a walker: so it stays in the crown for two seconds. */
static const v3 start = {0.2, -0.9, 8}, velocity = {0, 0.9, 0};

enum { CELLS = 12, BRANCH_SAMPLES = 300, LEAF_SAMPLES = 60 };

const oak_visitor oak_ball = {BRANCH_SAMPLES, LEAF_SAMPLES};

/* Maps the cube [-1, 1]^3 smoothly onto the unit ball, its surface onto the sphere. */
static v3 onto_ball(v3 p) {
    const double x = p.x * p.x, y = p.y * p.y, z = p.z * p.z;
    return (v3){p.x * sqrt(1 - y / 2 - z / 2 + y * z / 3), p.y * sqrt(1 - z / 2 - x / 2 + z * x / 3),
                p.z * sqrt(1 - x / 2 - y / 2 + x * y / 3)};
}

/* The ball as tets, of which the boundary is drawn. */
static bough_status make_mesh(bough_context *ctx, bough_mesh **mesh) {
    bough_box_def def = bough_default_box_def();
    for (int d = 0; d < 3; d++)
        def.size[d] = 2, def.origin[d] = -1, def.cells[d] = CELLS;
    const bough_status s = bough_mesh_generate_box(ctx, &def, mesh);
    for (int32_t v = 0; !s && v < (*mesh)->vertex_count; v++) {
        double *x = (*mesh)->vertices + 3 * (size_t)v;
        const v3 p = v3_scale(RADIUS, onto_ball((v3){x[0], x[1], x[2]}));
        x[0] = p.x, x[1] = p.y, x[2] = p.z;
    }
    return s;
}

bough_status oak_ball_write_mesh(bough_context *ctx, example *e) {
    bough_mesh *mesh = NULL;
    bough_status s = make_mesh(ctx, &mesh);
    if (!s)
        s = example_count(ctx, e, mesh, NULL, 1);
    if (!s)
        return example_write_mesh(ctx, e, mesh, "ball.msh");
    bough_mesh_destroy(ctx, mesh);
    return s;
}

/* The density is that of the ball which is touched; tets fill a little less of it. */
void oak_ball_write_component(FILE *f) {
    fprintf(f,
            ",\n    \"ball\": {\n      \"mesh\": \"ball.msh\",\n      \"material\": {\"density\": %.4f},\n"
            "      \"basis\": {\"r\": 0}\n    }\n",
            MASS / (4 * M_PI / 3 * RADIUS * RADIUS * RADIUS));
}

/* Trees that fly have no equilibrium, so that the ball comes when the oak has settled. */
void oak_ball_write_part(FILE *f) {
    fprintf(f, ",\n    {\"name\": \"ball\", \"component\": \"ball\", \"absent\": true}");
}

void oak_ball_write_contact(FILE *f) {
    fprintf(
        f,
        "  \"obstacles\": [{\"name\": \"ground\", \"shape\": {\"plane\": true}, \"friction\": 0.6}],\n"
        "  \"contact\": {\"friction\": 0.4, \"solids\": [{\"part\": \"ball\", \"shape\": {\"sphere\": %g}}]},\n"
        "  \"events\": [{\"time\": 0, \"add\": \"ball\", \"position\": [%g, %g, %g], \"velocity\": [%g, %g, %g]}],\n",
        RADIUS, start.x, start.y, start.z, velocity.x, velocity.y, velocity.z);
}

void oak_ball_write_probes(FILE *f) {
    fprintf(f, ",\n    {\"name\": \"ball\", \"part\": \"ball\"},\n    {\"name\": \"touch\", \"contact\": \"ball\"},\n"
               "    {\"name\": \"landing\", \"contact\": \"ball\", \"against\": \"ground\"}");
}

int example_ball(bough_context *ctx, example *e) {
    oak_species species = oak_common();
    species.seed = e->seed;
    species.visitor = &oak_ball;
    return oak_make(ctx, &species, e);
}
