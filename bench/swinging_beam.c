#include "swinging_beam.h"

#include <stdlib.h>

void swinging_beam_destroy(bough_context *ctx, swinging_beam *b) {
    bo_body_system_destroy(ctx, &b->system);
    bough_load_case_destroy(ctx, b->load_case);
    bough_body_destroy(ctx, b->body);
    bough_mesh_destroy(ctx, b->mesh);
    free(b->q), free(b->v), free(b->a), free(b->w);
}

bough_status swinging_beam_create(bough_context *ctx, double young, swinging_beam *b) {
    *b = (swinging_beam){0};
    bough_box_def box = bough_default_box_def();
    box.size[0] = 1, box.size[1] = box.size[2] = 0.125;
    box.cells[0] = 32, box.cells[1] = box.cells[2] = 4;
    box.tets_per_cell = 5;
    bough_body_def def = bough_default_body_def();
    def.material.model = BOUGH_MATERIAL_STABLE_NEO_HOOKEAN;
    def.material.young = young, def.material.poisson = 0.4, def.material.density = 1000;
    def.mass = BOUGH_MASS_LUMPED;
    const double gravity[3] = {0, 0, -9.81};
    int32_t *vertices, count;
    bough_status s = bough_mesh_generate_box(ctx, &box, &b->mesh);
    if (!s)
        s = bough_body_create(ctx, b->mesh, &def, &b->body);
    if (!s)
        s = bough_load_case_create(ctx, b->body, &b->load_case);
    if (!s)
        s = bough_mesh_select(ctx, b->mesh, "x0 | x1", &vertices, &count);
    if (!s) {
        s = bough_load_case_fix(ctx, b->load_case, vertices, count, BOUGH_AXES, NULL);
        bough_release(ctx, vertices);
    }
    if (!s)
        s = bough_load_case_set_gravity(ctx, b->load_case, gravity);
    if (!s)
        s = bo_body_system_create(ctx, b->body, b->load_case, &b->system);
    if (s)
        return s;
    size_t n = (size_t)b->system.size;
    b->q = calloc(n, sizeof(double)), b->v = calloc(n, sizeof(double));
    b->a = calloc(n, sizeof(double)), b->w = calloc(n, sizeof(double));
    return b->q && b->v && b->a && b->w ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

bough_status swinging_beam_energy(swinging_beam *b, double *energy) {
    double U, T = 0;
    bough_status s = b->system.force(b->system.data, 0, b->q, &U, b->w);
    b->system.multiply(b->system.data, BO_MATRIX_M, b->v, b->w);
    for (int32_t i = 0; i < b->system.size; i++)
        T += 0.5 * b->v[i] * b->w[i];
    *energy = U + T;
    return s;
}
