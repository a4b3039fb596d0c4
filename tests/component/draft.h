/* Small random components that are sound: integrals over point masses, interfaces fitted to vertices. */
#ifndef BOUGH_TEST_DRAFT_H
#define BOUGH_TEST_DRAFT_H

#include "test.h"

#include "component/pack.h"
#include "component/polynomial.h"

enum { DRAFT_MOST_R = 64, DRAFT_VERTICES = 12, DRAFT_POINTS = 5, DRAFT_FACE = 4, DRAFT_SURFACE = 6, DRAFT_MODES = 3 };
enum { DRAFT_WIRE = 2, DRAFT_EDGES = 3 };
enum { DRAFT_PANELS = (3 * DRAFT_SURFACE + 15) / 16 };

/* Arrays that a draft points at. Vertices 0 .. 3 lie in a plane and are the interface "root", 4 .. 7 are "tip". */
typedef struct draft {
    bough_component c;
    double X[DRAFT_VERTICES * 3], U[DRAFT_VERTICES * 3 * DRAFT_MOST_R], mass[DRAFT_VERTICES];
    double s[DRAFT_MOST_R * 3], W5[DRAFT_MOST_R * 9], W7[DRAFT_MOST_R * DRAFT_MOST_R * 9];
    double K[DRAFT_MOST_R * DRAFT_MOST_R];
    double *quartic;
    bough_interface interfaces[2];
    int32_t vertices[2][DRAFT_FACE];
    double weights[2][DRAFT_FACE], translation[2][DRAFT_MOST_R * 3], A[2][(DRAFT_MOST_R + 1) * 9];
    bough_material materials[2];
    double weight[DRAFT_POINTS], position[DRAFT_POINTS * 3], normal[DRAFT_POINTS * 3], area[DRAFT_POINTS];
    double unit[DRAFT_POINTS * 3];
    float field_gradient[DRAFT_POINTS * 9 * DRAFT_MOST_R];
    double gradient[DRAFT_POINTS * 9 * DRAFT_MOST_R], point_U[DRAFT_POINTS * 3 * DRAFT_MOST_R];
    int32_t element[DRAFT_POINTS], material[DRAFT_POINTS];
    float surface_position[DRAFT_SURFACE * 3], surface_U[DRAFT_PANELS * DRAFT_MOST_R * 16], scale[DRAFT_MOST_R];
    int16_t surface_U16[DRAFT_PANELS * DRAFT_MOST_R * 16];
    int32_t triangles[DRAFT_SURFACE], mesh_vertex[DRAFT_SURFACE];
    float wire_position[3 * DRAFT_WIRE], wire_U[3 * DRAFT_WIRE * DRAFT_MOST_R];
    int32_t edges[2 * DRAFT_EDGES];
    int32_t elements[8];
    double hz[DRAFT_MODES];
} draft;

static inline void draft_randoms(test_random *random, double *values, int count, double size) {
    for (int i = 0; i < count; i++)
        values[i] = test_uniform(random, -size, size);
}

/* mass, mc0, Sigma0, s, W5, W7 as sums over the vertices. */
static inline void draft_inertia(draft *d) {
    int r = d->c.r;
    for (int v = 0; v < DRAFT_VERTICES; v++) {
        const double *X = d->X + 3 * v, *U = d->U + 3 * v * r, m = d->mass[v];
        d->c.mass += m;
        for (int i = 0; i < 3; i++)
            d->c.mc0[i] += m * X[i];
        for (int i = 0; i < 9; i++)
            d->c.Sigma0[i] += m * X[i / 3] * X[i % 3];
        for (int l = 0; l < r; l++) {
            for (int i = 0; i < 3; i++)
                d->s[3 * l + i] += m * U[r * i + l];
            for (int i = 0; i < 9; i++)
                d->W5[9 * l + i] += m * U[r * (i / 3) + l] * X[i % 3];
            for (int p = 0; p < r; p++)
                for (int i = 0; i < 9; i++)
                    d->W7[9 * (r * l + p) + i] += m * U[r * (i / 3) + l] * U[r * (i % 3) + p];
        }
    }
    d->c.s = d->s, d->c.W5 = d->W5, d->c.W7 = d->W7;
}

/* Centre, radius, translation and A of an interface over given vertices, by their definitions. */
static inline void draft_fit(draft *d, int index, const char *name) {
    int r = d->c.r;
    bough_interface *face = &d->interfaces[index];
    double trace = 0, *A = d->A[index], *a = d->translation[index];
    *face = (bough_interface){.name = name,
                              .translation = r > 0 ? a : NULL,
                              .A = A,
                              .vertex_count = DRAFT_FACE,
                              .vertices = d->vertices[index],
                              .weights = d->weights[index]};
    for (int k = 0; k < DRAFT_FACE; k++)
        for (int i = 0; i < 3; i++) {
            int v = d->vertices[index][k];
            face->centre[i] += d->weights[index][k] * d->X[3 * v + i];
            for (int l = 0; l < r; l++)
                a[3 * l + i] += d->weights[index][k] * d->U[(3 * v + i) * r + l];
        }
    for (int k = 0; k < DRAFT_FACE; k++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                int v = d->vertices[index][k];
                double dj = d->weights[index][k] * (d->X[3 * v + j] - face->centre[j]);
                A[3 * i + j] += (d->X[3 * v + i] - face->centre[i]) * dj;
                trace += i == j ? (d->X[3 * v + i] - face->centre[i]) * dj : 0;
                for (int l = 0; l < r; l++)
                    A[9 * (l + 1) + 3 * i + j] += (d->U[(3 * v + i) * r + l] - a[3 * l + i]) * dj;
            }
    for (int i = 0; i < 9 * (r + 1); i++)
        A[i] /= trace;
    face->radius = sqrt(trace);
}

static inline void draft_interfaces(draft *d) {
    for (int k = 0; k < DRAFT_FACE; k++) {
        d->vertices[0][k] = k, d->vertices[1][k] = k + DRAFT_FACE;
        d->weights[0][k] = 0.25;
        d->weights[1][k] = 0.1 * (k + 1);
    }
    draft_fit(d, 0, "root");
    draft_fit(d, 1, "tip \xC3\xA4");
    d->c.interfaces = d->interfaces, d->c.interface_count = 2;
}

static inline void draft_elastic(draft *d, test_random *random) {
    int r = d->c.r;
    double B[DRAFT_MOST_R * DRAFT_MOST_R];
    draft_randoms(random, B, r * r, 1);
    for (int l = 0; l < r; l++)
        for (int p = 0; p < r; p++)
            for (int k = 0; k < r; k++)
                d->K[r * l + p] += B[r * l + k] * B[r * p + k] / r;
    for (int l = 0; l < r; l++)
        d->K[(r + 1) * l] += 1;
    d->c.K = d->K;
    if (d->c.elastic != BOUGH_REDUCED_POLYNOMIAL)
        return;
    size_t count = bo_quartic_count(r);
    d->quartic = malloc(count * sizeof *d->quartic);
    draft_randoms(random, d->quartic, (int)count, 1);
    for (int a = 0; a <= r; a++) {
        d->quartic[bo_quartic_index(a, 0, 0, 0)] = 0; /* at rest */
        for (int b = 1; b <= a; b++)
            d->quartic[bo_quartic_index(a, b, 0, 0)] = d->K[r * (a - 1) + b - 1] * (a == b ? 0.5 : 1);
    }
    d->c.quartic = d->quartic;
}

static inline void draft_points(draft *d, test_random *random, bough_material_model model) {
    int r = d->c.r;
    for (int i = 0; i < 2; i++) {
        d->materials[i] = bough_default_material();
        d->materials[i].model = i == 0 ? model : BOUGH_MATERIAL_STVK;
        d->materials[i].young = 1 + i;
    }
    d->c.materials = d->materials, d->c.material_count = 2;
    draft_randoms(random, d->gradient, DRAFT_POINTS * 9 * r, 0.3);
    draft_randoms(random, d->point_U, DRAFT_POINTS * 3 * r, 1);
    draft_randoms(random, d->position, DRAFT_POINTS * 3, 1);
    draft_randoms(random, d->normal, DRAFT_POINTS * 3, 1);
    for (int i = 0; i < DRAFT_POINTS; i++) {
        d->weight[i] = d->area[i] = test_uniform(random, 0.1, 1);
        d->element[i] = i % 2, d->material[i] = i == 3;
        const double *n = d->normal + 3 * i, length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (int k = 0; k < 3; k++)
            d->unit[3 * i + k] = n[k] / length;
    }
    bough_material_points points = {
        .count = DRAFT_POINTS, .element = d->element, .material = d->material, .gradient = r > 0 ? d->gradient : NULL};
    d->c.stress = points;
    d->c.stress.position = d->position;
    for (int i = 0; i < DRAFT_POINTS * 9 * r; i++)
        d->field_gradient[i] = (float)d->gradient[i];
    d->c.field = (bough_stress_field){.count = DRAFT_POINTS,
                                      .position = d->position,
                                      .material = d->material,
                                      .gradient = r > 0 ? d->field_gradient : NULL};
    if (d->c.elastic == BOUGH_REDUCED_CUBATURE) {
        d->c.cubature = points;
        d->c.cubature.weight = d->weight;
    }
    d->c.contact = (bough_sample_points){
        .count = DRAFT_POINTS, .position = d->position, .normal = d->unit, .U = r > 0 ? d->point_U : NULL};
    d->c.wind = d->c.contact;
    d->c.wind.normal = d->normal;
    d->c.wind.area = d->area;
}

static inline void draft_surface(draft *d, test_random *random, bool shorts) {
    int r = d->c.r;
    for (int i = 0; i < DRAFT_SURFACE * 3; i++)
        d->surface_position[i] = (float)test_uniform(random, -1, 1);
    for (int i = 0; i < DRAFT_SURFACE; i++)
        d->triangles[i] = i, d->mesh_vertex[i] = i - 1;
    for (int l = 0; l < r; l++) {
        d->scale[l] = (float)(l + 1) / 32768;
        for (int i = 0; i < 16 * DRAFT_PANELS; i++) {
            int at = (i / 16 * r + l) * 16 + i % 16;
            d->surface_U16[at] = i < 3 * DRAFT_SURFACE ? (int16_t)test_uniform(random, -32768, 32767) : 0;
            d->surface_U[at] = (float)d->surface_U16[at] * d->scale[l];
        }
    }
    d->c.surface = (bough_surface){.vertex_count = DRAFT_SURFACE,
                                   .triangle_count = DRAFT_SURFACE / 3,
                                   .position = d->surface_position,
                                   .triangles = d->triangles,
                                   .mesh_vertex = d->mesh_vertex,
                                   .U = r > 0 && !shorts ? d->surface_U : NULL,
                                   .U16 = r > 0 && shorts ? d->surface_U16 : NULL,
                                   .scale = r > 0 && shorts ? d->scale : NULL};
}

static inline void draft_wire(draft *d) {
    const int32_t edges[2 * DRAFT_EDGES] = {0, DRAFT_SURFACE, 1, 2, DRAFT_SURFACE, DRAFT_SURFACE + 1};
    const int r = d->c.r;
    for (int i = 0; i < 3 * DRAFT_WIRE; i++)
        d->wire_position[i] = (float)(i + 1);
    for (int i = 0; i < 3 * DRAFT_WIRE * r; i++)
        d->wire_U[i] = (float)(i + 1) / 8;
    memcpy(d->edges, edges, sizeof edges);
    d->c.wire = (bough_wire){.vertex_count = DRAFT_WIRE,
                             .edge_count = DRAFT_EDGES,
                             .position = d->wire_position,
                             .U = r > 0 ? d->wire_U : NULL,
                             .edges = d->edges};
}

static inline void draft_rest(draft *d) {
    int r = d->c.r;
    for (int i = 0; i < 8; i++)
        d->elements[i] = i;
    d->c.volume = (bough_component_volume){.type = 1,
                                           .vertex_count = DRAFT_VERTICES,
                                           .element_count = 2,
                                           .position = d->X,
                                           .elements = d->elements,
                                           .U = r > 0 ? d->U : NULL};
#define DRAFT_QUALITY(name, about) d->c.quality.name = NAN;
    BOUGH_QUALITY_LIST(DRAFT_QUALITY)
#undef DRAFT_QUALITY
    d->c.quality.force_random = 1e-3;
    for (int i = 0; i < DRAFT_MODES; i++)
        d->hz[i] = i + 1;
    d->c.quality.mode_count = DRAFT_MODES;
    d->c.quality.full_hz = d->c.quality.reduced_hz = d->hz;
    d->c.provenance = "{\"program\": \"test\"}";
    d->c.input_hash = 0x0123456789ABCDEFu;
    d->c.damping_mass = 0.1, d->c.damping_stiffness = 0.01;
    d->c.support = BOUGH_SUPPORT_INTERFACE;
}

/* To be freed with draft_free. Interface 0 is held: U is zero there. */
static inline draft *draft_make(int32_t r, bough_reduced_elastic elastic, bough_material_model model, uint64_t seed) {
    draft *d = calloc(1, sizeof *d);
    test_random random = {seed};
    d->c.r = r;
    d->c.elastic = elastic;
    draft_randoms(&random, d->X, DRAFT_VERTICES * 3, 1);
    draft_randoms(&random, d->U, DRAFT_VERTICES * 3 * r, 1);
    for (int v = 0; v < DRAFT_VERTICES; v++)
        d->mass[v] = test_uniform(&random, 0.5, 1);
    for (int k = 0; k < DRAFT_FACE; k++)
        d->X[3 * k + 2] = 0;
    memset(d->U, 0, sizeof *d->U * (size_t)(3 * DRAFT_FACE * r));
    draft_inertia(d);
    if (r > 3 * (DRAFT_VERTICES - DRAFT_FACE)) /* more coordinates than so few points can tell apart */
        for (int l = 0; l < r; l++)
            d->W7[9 * (r + 1) * l] += 1;
    draft_interfaces(d);
    draft_elastic(d, &random);
    draft_points(d, &random, model);
    draft_surface(d, &random, seed % 2);
    draft_wire(d);
    draft_rest(d);
    return d;
}

static inline void draft_free(draft *d) {
    free(d->quartic);
    free(d);
}

static inline bough_component *draft_pack(bough_context *ctx, const draft *d) {
    bough_component *component = NULL;
    check_ok(ctx, bo_component_pack(ctx, &d->c, &component));
    return component;
}

/* Every elastic model with several r; name for messages. */
typedef struct draft_case {
    int32_t r;
    bough_reduced_elastic elastic;
} draft_case;
static const draft_case draft_cases[] = {
    {0, BOUGH_REDUCED_RIGID},       {1, BOUGH_REDUCED_LINEAR},     {5, BOUGH_REDUCED_LINEAR},
    {12, BOUGH_REDUCED_LINEAR},     {1, BOUGH_REDUCED_POLYNOMIAL}, {5, BOUGH_REDUCED_POLYNOMIAL},
    {12, BOUGH_REDUCED_POLYNOMIAL}, {1, BOUGH_REDUCED_CUBATURE},   {5, BOUGH_REDUCED_CUBATURE},
    {12, BOUGH_REDUCED_CUBATURE},
};
enum { DRAFT_CASES = sizeof draft_cases / sizeof draft_cases[0] };

#endif
