/* Slender rods of steel, cooked: the rod of the equations' sheet is 70 cm long and 4 mm thick. */
#ifndef BOUGH_TEST_RODS_H
#define BOUGH_TEST_RODS_H

#include "../reduce/cooked.h"

#include "build.h"

typedef struct {
    double length, thickness, young, density; /* a round rod */
    int32_t cells, modes, r;
    double tip_mass, tip_inertia; /* that the modes are loaded by */
    bool attachments;             /* answers to forces and torques at the end, too */
    bough_material_model model;
    double wide;      /* factor on its width along y, as a flat rod; 0: it is round */
    int32_t bendings; /* the basis is of as many bent shapes of the whole body; 0: of modes and their derivatives */
    /* A rod whose coordinates it takes over, and of which it is cooked; NULL: it has its own. */
    const bough_component *pattern;
    double pattern_length, pattern_thickness;
} rod_def;

static inline rod_def default_rod(void) {
    return (rod_def){.length = 0.7,
                     .thickness = 4e-3,
                     .young = 2.1e11,
                     .density = 7850,
                     .cells = 40,
                     .modes = 4,
                     .r = 14,
                     .tip_mass = 0.1,
                     .tip_inertia = 2e-5,
                     .model = BOUGH_MATERIAL_STVK};
}
static inline double rod_area(const rod_def *rod) {
    return M_PI * rod->thickness * rod->thickness / 4;
}
static inline double rod_moment(const rod_def *rod) {
    return M_PI * pow(rod->thickness, 4) / 64;
}

/* Shapes of the whole body at rest under forces and torques at its end, along y, z and between, that bend it by up to a
 * third of its length. */
static inline double *bend_rod(bough_context *ctx, const rod_def *rod, const bough_body *body, const bar_ends *ends) {
    const size_t n = 3 * (size_t)bough_body_mesh(body)->vertex_count;
    const double full = rod->young * rod_moment(rod) / (rod->length * rod->length); /* N: bends it by L / 3 */
    double *shapes = calloc((size_t)rod->bendings * n, sizeof *shapes);
    for (int32_t k = 0; k < rod->bendings; k++) {
        const double angle = 2.4 * k, size = full * (k + 1) / rod->bendings; /* rad: of no regular figure */
        const bough_interface_def *held = &ends->interfaces[0], *tip = &ends->interfaces[1];
        bough_load_case *pushed;
        bough_static_def def = bough_default_static_def();
        bough_static_result result;
        check_ok(ctx, bough_load_case_create(ctx, body, &pushed));
        check_ok(ctx, bough_load_case_fix(ctx, pushed, held->vertices, held->vertex_count, 7, NULL));
        check_ok(ctx, bough_load_case_add_force(ctx, pushed, tip->vertices, tip->vertex_count,
                                                (double[]){0, size * cos(angle), size * sin(angle)}));
        check_ok(ctx, bough_body_static(ctx, body, pushed, &def, shapes + (size_t)k * n, &result));
        bough_load_case_destroy(ctx, pushed);
    }
    return shapes;
}

/* One tet10 cell across: a square of the same second moment of area, whose density is scaled to the mass. It lies along
 * x. */
static inline bough_body *make_rod_body(bough_context *ctx, const rod_def *rod) {
    const double side = pow(12 * rod_moment(rod), 0.25), width = rod->wide > 0 ? rod->wide * side : side;
    bough_box_def box = bough_default_box_def();
    bough_body_def body_def = bough_default_body_def();
    bough_mesh *mesh;
    bough_body *body;
    box.type = BOUGH_TET10;
    box.size[0] = rod->length, box.size[1] = width, box.size[2] = side;
    box.cells[0] = rod->cells, box.cells[1] = box.cells[2] = 1;
    body_def.material.model = rod->model;
    body_def.material.young = rod->young, body_def.material.poisson = 0.3;
    body_def.material.density = rod->density * rod_area(rod) / (width * side);
    check_ok(ctx, bough_mesh_generate_box(ctx, &box, &mesh));
    check_ok(ctx, bough_body_create(ctx, mesh, &body_def, &body));
    bough_mesh_destroy(ctx, mesh);
    return body;
}

/* Hangs by its start (interface 0) and carries at its end (interface 1). */
static inline bough_component *cook_rod(bough_context *ctx, const rod_def *rod) {
    bough_component *component;
    bough_body *body = make_rod_body(ctx, rod);
    bar_ends ends = find_ends(ctx, body);
    bough_interface_def *tip = &ends.interfaces[1];
    tip->has_load = rod->tip_mass > 0, tip->load.mass = rod->tip_mass;
    for (int k = 0; k < 3; k++)
        tip->load.inertia[4 * k] = rod->tip_inertia;
    bough_cook_def def = bar_cook_def(&ends, rod->r);
    def.basis = (tip->has_load ? BOUGH_BASIS_LOADED : BOUGH_BASIS_MODES) | BOUGH_BASIS_DERIVATIVES |
                (rod->attachments ? BOUGH_BASIS_ATTACHMENT : 0);
    def.mode_count = rod->modes;
    def.field_count = 0;
    double *shapes = rod->bendings > 0 ? bend_rod(ctx, rod, body, &ends) : NULL;
    if (shapes)
        def.basis = BOUGH_BASIS_SNAPSHOTS, def.snapshot_count = rod->bendings, def.snapshots = shapes;
    if (rod->pattern) {
        rod_def of_pattern = *rod;
        of_pattern.length = rod->pattern_length, of_pattern.thickness = rod->pattern_thickness;
        bough_body *other = make_rod_body(ctx, &of_pattern);
        check_ok(ctx, bough_cook_alike(ctx, body, NULL, &def, other, rod->pattern, &component));
        bough_body_destroy(ctx, other);
    } else {
        check_ok(ctx, bough_cook(ctx, body, NULL, &def, NULL, &component));
    }
    free(shapes);
    free_ends(ctx, &ends);
    bough_body_destroy(ctx, body);
    return component;
}

/* A ball at the end of the rod, which is the last part: a body that is welded to its interface. Bodies' frames of the
 * joint: the tip's centre of mass is at the interface. */
static inline int32_t weld_tip(build *b, int32_t part, int32_t body) {
    const int32_t joint = b->def.joint_count++;
    bough_joint_def *weld = &b->joints[joint];
    *weld = bough_default_joint_def();
    weld->kind = BOUGH_JOINT_WELD;
    weld->parent.body = b->def.body_count + part, weld->parent.interface_index = 1;
    weld->child.body = body;
    return joint;
}

/* A hub that is held, the rod and a ball at its end. */
static inline build *make_hub_and_rod(const rod_def *rod, const bough_component *component) {
    build *b = start_build();
    const double J = rod->tip_inertia;
    add_body(b, 1, bo_v3(0.01, 0.01, 0.01), place_at(bo_v3(0, 0, 0)));
    add_body(b, rod->tip_mass, bo_v3(J, J, J), place_at(bo_v3(rod->length, 0, 0)));
    add_joint(b, BOUGH_JOINT_WELD, BOUGH_WORLD, 0, place_at(bo_v3(0, 0, 0)));
    add_part(b, component, 0, place_at(bo_v3(0, 0, 0)));
    weld_tip(b, 0, 1);
    finish_build(b);
    return b;
}

#endif
