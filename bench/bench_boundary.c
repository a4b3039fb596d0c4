/* Interfaces that are not rigid: the error that this makes in trees, beside the error that was predicted, and the
 * effect of boundary modes in large motion with and without room for their derivatives. All trees are cut from one mesh
 * and compared with it in one piece. */
#include "tree_modes.h"
#include "tree_scene.h"

#include "fem/system.h"
#include "scene/cook_plan.h"
#include "scene/joints.h"
#include "scene/scene.h"
#include "time/integrator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- shapes: boxes on a lattice ---- */

enum { MOST_BOXES = 16 };

typedef struct {
    const char *name;
    int32_t from[3], to[3]; /* in cells of the lattice */
} lattice_box;

typedef struct {
    const char *about;
    bough_element_type type;
    double cell[3]; /* m */
    int32_t count;
    lattice_box boxes[MOST_BOXES]; /* the first is the root, held at its lower end along `held` */
    int32_t held;                  /* axis */
} lattice_shape;

/* Returns the box that holds the middle of an element; -1: none. */
static int32_t box_of(const lattice_shape *s, const bough_mesh *mesh, int32_t element) {
    const int32_t nodes = bough_element_node_count(mesh->type);
    double middle[3] = {0};
    for (int32_t k = 0; k < 3 * nodes; k++)
        middle[k % 3] += mesh->vertices[3 * (size_t)mesh->elements[nodes * element + k / 3] + (size_t)(k % 3)] / nodes;
    for (int32_t b = 0; b < s->count; b++) {
        bool inside = true;
        for (int d = 0; d < 3; d++)
            inside =
                inside && middle[d] > s->cell[d] * s->boxes[b].from[d] && middle[d] < s->cell[d] * s->boxes[b].to[d];
        for (int32_t first = 0; inside; first++) /* boxes of one name are one domain */
            if (!strcmp(s->boxes[first].name, s->boxes[b].name))
                return first;
    }
    return -1;
}

/* The lattice around all boxes. */
static bough_mesh *make_lattice(bough_context *ctx, const lattice_shape *s) {
    bough_box_def def = bough_default_box_def();
    bough_mesh *mesh = NULL;
    def.type = s->type;
    for (int d = 0; d < 3; d++) {
        int32_t low = INT32_MAX, high = INT32_MIN;
        for (int32_t b = 0; b < s->count; b++) {
            low = s->boxes[b].from[d] < low ? s->boxes[b].from[d] : low;
            high = s->boxes[b].to[d] > high ? s->boxes[b].to[d] : high;
        }
        def.origin[d] = low * s->cell[d];
        def.cells[d] = high - low;
        def.size[d] = def.cells[d] * s->cell[d];
    }
    return bough_mesh_generate_box(ctx, &def, &mesh) ? NULL : mesh;
}

typedef struct {
    double *vertices;
    int32_t *elements, *number, *of_box[MOST_BOXES], in_box[MOST_BOXES];
    int32_t vertex_count, element_count;
} carving;

static void carve(const lattice_shape *s, const bough_mesh *block, carving *c) {
    const int32_t nodes = bough_element_node_count(block->type);
    for (int32_t e = 0; e < block->element_count; e++) {
        const int32_t b = box_of(s, block, e);
        if (b < 0)
            continue;
        for (int32_t k = 0; k < nodes; k++) {
            const int32_t v = block->elements[nodes * e + k];
            if (!c->number[v]) {
                memcpy(c->vertices + 3 * (size_t)c->vertex_count, block->vertices + 3 * (size_t)v, 3 * sizeof(double));
                c->number[v] = ++c->vertex_count;
            }
            c->elements[nodes * c->element_count + k] = c->number[v] - 1;
        }
        c->of_box[b][c->in_box[b]++] = c->element_count++;
    }
}

/* Keeps the elements of the block that are in a box, with an element set for each box. */
static bough_mesh *make_shape(bough_context *ctx, const lattice_shape *s) {
    bough_mesh *block = make_lattice(ctx, s), *mesh = NULL;
    carving c = {0};
    if (!block)
        return NULL;
    const size_t elements = (size_t)block->element_count, vertices = (size_t)block->vertex_count;
    const size_t nodes = (size_t)bough_element_node_count(block->type);
    c.vertices = calloc(3 * vertices, sizeof *c.vertices);
    c.number = calloc(vertices + nodes * elements + MOST_BOXES * elements, sizeof *c.number);
    c.elements = c.number + vertices;
    for (size_t b = 0; b < MOST_BOXES; b++)
        c.of_box[b] = c.elements + (nodes + b) * elements;
    bool good = c.vertices && c.number;
    if (good)
        carve(s, block, &c);
    good = good && !bough_mesh_create(ctx, s->type, c.vertex_count, c.vertices, c.element_count, c.elements, &mesh);
    for (int32_t b = 0; b < s->count && good; b++)
        good = c.in_box[b] == 0 ||
               !bough_mesh_add_set(ctx, mesh, BOUGH_SET_ELEMENT, s->boxes[b].name, c.of_box[b], c.in_box[b]);
    if (!good)
        bough_mesh_destroy(ctx, mesh);
    bough_mesh_destroy(ctx, block);
    free(c.vertices);
    free(c.number);
    return good ? mesh : NULL;
}

typedef struct {
    double young, poisson;
    const char *basis; /* members of "basis" */
} cooking;

/* The last box has the probe, at its free end. */
static bool open_shape(bough_context *ctx, const lattice_shape *s, const cooking *how, double gravity,
                       tree_scene *scene) {
    const lattice_box *last = &s->boxes[s->count - 1];
    char text[1500];
    bough_mesh *mesh = make_shape(ctx, s);
    if (!mesh) {
        bench_fail(ctx);
        return false;
    }
    snprintf(text, sizeof text,
             "{\"bough\": 1, \"object\": {\"mesh\": \"mesh.msh\", \"material\": {\"model\": \"stvk\", \"young\": %g, "
             "\"poisson\": %g, \"density\": 1000}, \"root\": \"%s\", \"fix\": \"%c<%.17g\", \"basis\": {%s}, "
             "\"samples\": {\"wind\": 0, \"contact\": 0, \"stress\": 0}}, \"gravity\": [0, 0, %g], \"probes\": "
             "[{\"name\": \"tip\", \"part\": \"%s\", \"nearest\": [%g, %g, %g]}], \"time\": {\"duration\": 1}}",
             how->young, how->poisson, s->boxes[0].name, "xyz"[s->held],
             s -> cell[s->held] * (s->boxes[0].from[s->held] + 0.01), how -> basis, gravity, last -> name,
             s -> cell[0] * last -> to[0], s -> cell[1] * last -> to[1], s -> cell[2] * last -> to[2]);
    const bool good = tree_scene_open_mesh(ctx, text, mesh, scene);
    bough_mesh_destroy(ctx, mesh);
    if (good && bo_scene_make_whole(ctx, scene->scene, &scene->whole)) {
        bench_fail(ctx);
        return false;
    }
    return good;
}

/* ---- the first table: deviation and accuracy ---- */

enum { MODES = 3 };

typedef struct {
    bough_joint_forecast forecast; /* of the tree, without having seen the body */
    double hz[MODES];              /* of the tree over those of the body */
    double sag;                    /* distance of the tip from where the body has it, over how far it moved */
    double sags;                   /* how far it moved over how far the body's did */
} interface_row;

#define PLATE(about, width)                                                                 \
    {                                                                                       \
        about, BOUGH_HEX8, {0.1, 0.1, 0.05}, 2,                                             \
            {{"root", {0, 0, 0}, {10, width, 1}}, {"child", {10, 0, 0}, {20, width, 1}}}, 0 \
    }
#define POST(about, from, to)                                                                                \
    {                                                                                                        \
        about, BOUGH_HEX8, {0.1, 0.1, 0.05}, 2,                                                              \
            {{"root", {0, 0, 0}, {10, 10, 1}}, {"child", {from, from, 1}, {to, to, 1 + 2 * (to - from)}}}, 0 \
    }

/* A mast of four legs with storeys every fourth cell, and a jib like it, cut where it meets the mast. */
#define LATTICE(about, top)                                                             \
    {                                                                                   \
        about, BOUGH_HEX8, {0.1, 0.1, 0.1}, 15,                                         \
            {{"root", {0, 0, 0}, {1, 1, 20}},  {"root", {3, 0, 0}, {4, 1, 20}},         \
             {"root", {0, 3, 0}, {1, 4, 20}},  {"root", {3, 3, 0}, {4, 4, 20}},         \
             {"root", {0, 0, 4}, {4, 4, 5}},   {"root", {0, 0, 9}, {4, 4, 10}},         \
             {"root", {0, 0, 14}, {4, 4, 15}}, {"root", {0, 0, 19}, {4, 4, 20}},        \
             {"root", {0, 0, 16}, {4, 4, 17}}, {"jib", {4, 0, 16}, {20, 1, 17}},        \
             {"jib", {4, 3, 16}, {20, 4, 17}}, {"jib", {4, 0, 19}, {20, 1, 20}},        \
             {"jib", {4, 3, 19}, {20, 4, 20}}, {"jib", {top, 0, 16}, {top + 1, 4, 20}}, \
             {"jib", {19, 0, 16}, {20, 4, 20}}},                                        \
            2                                                                           \
    }

static const lattice_shape interface_shapes[] = {
    PLATE("strip, 0.1 m wide", 1),
    PLATE("strip, 0.4 m", 4),
    PLATE("plate, 1 m", 10),
    PLATE("plate, 2 m", 20),
    {"post, arm cut at its side",
     BOUGH_HEX8,
     {0.05, 0.05, 0.05},
     2,
     {{"root", {0, 0, 0}, {2, 2, 12}}, {"child", {2, 0, 8}, {10, 2, 10}}},
     2},
    {"post, arm cut 0.05 m out",
     BOUGH_HEX8,
     {0.05, 0.05, 0.05},
     3,
     {{"root", {0, 0, 0}, {2, 2, 12}}, {"root", {2, 0, 8}, {3, 2, 10}}, {"child", {3, 0, 8}, {10, 2, 10}}},
     2},
    POST("plate, post of 0.2 m on it", 4, 6),
    POST("plate, block of 0.4 m on it", 3, 7),
    POST("plate, block of 0.8 m on it", 1, 9),
    {"beam, four fins cut at their feet",
     BOUGH_HEX8,
     {0.1, 0.05, 0.05},
     6,
     {{"root", {0, 0, 0}, {8, 2, 2}},
      {"fin1", {2, 2, 0}, {8, 4, 1}},
      {"fin2", {2, -2, 1}, {8, 0, 2}},
      {"fin3", {2, 0, 2}, {8, 1, 4}},
      {"fin4", {2, 1, -2}, {8, 2, 0}},
      {"root", {8, 0, 0}, {16, 2, 2}}},
     0},
    LATTICE("lattice crane, jib at its top", 7),
    /* made after the forecast was finished */
    {"comb, teeth cut at their feet",
     BOUGH_HEX8,
     {0.05, 0.05, 0.05},
     6,
     {{"root", {0, 0, 0}, {3, 2, 30}},
      {"tooth1", {3, 0, 4}, {11, 2, 6}},
      {"tooth2", {3, 0, 9}, {11, 2, 11}},
      {"tooth3", {3, 0, 14}, {11, 2, 16}},
      {"tooth4", {3, 0, 19}, {11, 2, 21}},
      {"tooth5", {3, 0, 24}, {11, 2, 26}}},
     2},
    {"comb, cut 0.05 m out",
     BOUGH_HEX8,
     {0.05, 0.05, 0.05},
     11,
     {{"root", {0, 0, 0}, {3, 2, 30}},
      {"root", {3, 0, 4}, {4, 2, 6}},
      {"root", {3, 0, 9}, {4, 2, 11}},
      {"root", {3, 0, 14}, {4, 2, 16}},
      {"root", {3, 0, 19}, {4, 2, 21}},
      {"root", {3, 0, 24}, {4, 2, 26}},
      {"tooth1", {4, 0, 4}, {11, 2, 6}},
      {"tooth2", {4, 0, 9}, {11, 2, 11}},
      {"tooth3", {4, 0, 14}, {11, 2, 16}},
      {"tooth4", {4, 0, 19}, {11, 2, 21}},
      {"tooth5", {4, 0, 24}, {11, 2, 26}}},
     2},
    {"T, arms on a thin mast",
     BOUGH_HEX8,
     {0.05, 0.05, 0.05},
     3,
     {{"root", {0, 0, 0}, {2, 2, 30}}, {"left", {-12, 0, 28}, {0, 2, 30}}, {"right", {2, 0, 28}, {16, 2, 30}}},
     2},
    {"thin wall, shelf along it",
     BOUGH_HEX8,
     {0.05, 0.05, 0.05},
     2,
     {{"root", {0, 0, 0}, {1, 12, 16}}, {"shelf", {1, 0, 10}, {8, 12, 11}}},
     2},
    {"slab, two blocks on it",
     BOUGH_HEX8,
     {0.05, 0.05, 0.05},
     3,
     {{"root", {0, 0, 0}, {16, 6, 1}}, {"first", {3, 1, 1}, {8, 5, 4}}, {"second", {10, 1, 1}, {14, 5, 3}}},
     0},
    {"stem, blade along it",
     BOUGH_HEX8,
     {0.05, 0.05, 0.05},
     2,
     {{"root", {0, 0, 0}, {2, 2, 24}}, {"blade", {2, 0, 8}, {12, 1, 14}}},
     2},
};
#define INTERFACE_COUNT ((int)(sizeof interface_shapes / sizeof *interface_shapes))

/* The vertex of the part's surface that is the probe's. */
static int32_t find_vertex(const tree_scene *s, const bough_tree_state *rest, const bo_probe *probe) {
    double x[3], v[3], best = INFINITY;
    int32_t found = 0;
    const bough_tree_model_def *def = bough_tree_model_describe(s->model);
    const int32_t count = def->components[def->parts[probe->part].component]->surface.vertex_count;
    for (int32_t i = 0; i < count && !bough_tree_state_vertex(s->ctx, s->model, rest, probe->part, i, x, v); i++) {
        const double d = fabs(x[0] - probe->rest[0]) + fabs(x[1] - probe->rest[1]) + fabs(x[2] - probe->rest[2]);
        if (d < best)
            best = d, found = i;
    }
    return found;
}

static bool compare_sag(tree_scene *s, bough_tree_state *state, double *u, interface_row *row) {
    const bo_probe *probe = &s->whole->probes[0];
    const bough_static_def def = bough_default_static_def();
    const int32_t vertex = find_vertex(s, state, probe);
    double x[3], v[3], off = 0, size = 0, own = 0;
    bough_static_result result;
    if (bough_body_static(s->ctx, s->whole->body, s->whole->load_case, &def, u, &result) ||
        bough_tree_state_settle(s->ctx, s->model, state, NULL, NULL) ||
        bough_tree_state_vertex(s->ctx, s->model, state, probe->part, vertex, x, v))
        return false;
    for (int d = 0; d < 3; d++) {
        const double moved = u[3 * (size_t)probe->vertices[0] + (size_t)d];
        off += pow(x[d] - probe->rest[d] - moved, 2);
        size += moved * moved;
        own += pow(x[d] - probe->rest[d], 2);
    }
    row->sag = sqrt(off / size);
    row->sags = sqrt(own / size) - 1;
    return true;
}

static bool forecast(tree_scene *s, interface_row *row) {
    const bough_tree_model_def *def = bough_tree_model_describe(s->model);
    return !bo_joints_forecast(s->ctx, &s->scene->plan->assembly, def->components, s->scene->gravity, &row->forecast,
                               NULL);
}

static bool compare(tree_scene *s, interface_row *row) {
    bough_context *ctx = s->ctx;
    bough_tree_state *state = NULL;
    bough_modes *modes = NULL;
    const bough_body *body = s->whole->body;
    double hz[MODES], *u = calloc(3 * (size_t)bough_body_mesh(body)->vertex_count, sizeof *u);
    const bool good = u && !bough_tree_state_create(ctx, s->model, &state) &&
                      !bough_body_modes(ctx, body, s->whole->load_case, MODES, NULL, &modes) &&
                      tree_lowest_modes(ctx, s->model, state, MODES, hz, NULL) && compare_sag(s, state, u, row) &&
                      forecast(s, row);
    for (int k = 0; k < MODES && good; k++)
        row->hz[k] = hz[k] / modes->frequencies_hz[k];
    bough_modes_destroy(ctx, modes);
    bough_tree_state_destroy(ctx, state);
    free(u);
    return good;
}

static bool measure_interface(const lattice_shape *shape, const cooking *how, interface_row *row) {
    bough_context *ctx = app_context(1);
    tree_scene s;
    const bool opened = open_shape(ctx, shape, how, -0.2, &s);
    const bool good = opened && compare(&s, row);
    if (opened && !good)
        bench_fail(ctx);
    tree_scene_close(&s);
    bough_context_destroy(ctx);
    return good && !app_interrupted();
}

/* Signed. */
static double worst_frequency(const interface_row *row) {
    double worst = 0;
    for (int k = 0; k < MODES; k++)
        worst = fabs(row->hz[k] - 1) > fabs(worst) ? row->hz[k] - 1 : worst;
    return worst;
}

/* ---- the second table: boundary modes in large motion ---- */

/* The reference tree of tests/tree/test_reference.c, on our own lattice. */
static const lattice_shape young_tree = {"tree",
                                         BOUGH_TET4,
                                         {0.125, 0.1, 0.125},
                                         4,
                                         {{"trunk", {-1, -1, 0}, {1, 1, 8}},
                                          {"right", {1, -1, 6}, {8, 1, 8}},
                                          {"left", {-7, -1, 6}, {-1, 1, 8}},
                                          {"top", {6, -1, 8}, {8, 1, 14}}},
                                         2};
/* The chain of three links of tests/reduce/test_loads.c. */
static const lattice_shape chain = {
    "chain",
    BOUGH_TET4,
    {0.125, 0.125, 0.125},
    3,
    {{"first", {0, 0, 0}, {8, 2, 2}}, {"second", {8, 0, 0}, {16, 2, 2}}, {"third", {16, 0, 0}, {24, 2, 2}}},
    0};

enum { STEPS = 1000 };
static const double swing_dt = 0.005, swing_alpha = -0.05;

typedef struct {
    double linear;          /* Hz, at rest */
    double x[STEPS + 1][3]; /* displacement of the tip */
    double along[STEPS + 1];
} swing;

typedef struct {
    tree_scene scene;
    int32_t tip;         /* vertex of the probe's part */
    double direction[3]; /* of the first velocity of the body's tip */
} swinging;

static void look(const double direction[3], swing *s, int step) {
    s->along[step] = 0;
    for (int d = 0; d < 3; d++)
        s->along[step] += direction[d] * s->x[step][d];
}

/* The body's lowest mode, as velocities that give the tip this speed. */
static bool start_body(swinging *b, double amplitude, double *v, swing *full) {
    bough_modes *modes = NULL;
    const bough_body *body = b->scene.whole->body;
    const size_t n = 3 * (size_t)bough_body_mesh(body)->vertex_count;
    const size_t tip = 3 * (size_t)b->scene.whole->probes[0].vertices[0];
    if (bough_body_modes(b->scene.ctx, body, b->scene.whole->load_case, 1, NULL, &modes))
        return false;
    const double *shape = modes->shapes + tip;
    const double length = sqrt(shape[0] * shape[0] + shape[1] * shape[1] + shape[2] * shape[2]);
    full->linear = modes->frequencies_hz[0];
    for (size_t i = 0; i < n; i++)
        v[i] = amplitude * 2 * M_PI * full->linear * modes->shapes[i] / length;
    for (int d = 0; d < 3; d++)
        b->direction[d] = shape[d] / length;
    bough_modes_destroy(b->scene.ctx, modes);
    return true;
}

static bool swing_body(swinging *b, double amplitude, swing *full) {
    bough_context *ctx = b->scene.ctx;
    const bough_body *body = b->scene.whole->body;
    const size_t n = 3 * (size_t)bough_body_mesh(body)->vertex_count;
    const size_t tip = 3 * (size_t)b->scene.whole->probes[0].vertices[0];
    bough_integrator_def def = bough_default_integrator_def();
    bo_system system = {0};
    bo_integrator *integrator = NULL;
    bo_motion motion = {.q = calloc(3 * n, sizeof(double))};
    def.name = "hht", def.alpha = swing_alpha;
    motion.v = motion.q + n, motion.a = motion.v + n;
    bool good = motion.q && start_body(b, amplitude, motion.v, full) &&
                !bo_body_system_create(ctx, body, b->scene.whole->load_case, &system);
    if (good)
        bo_body_system_hold(&system, 0, motion.q, motion.v);
    good = good && !bo_integrator_create(ctx, &system, &def, &integrator);
    for (int i = 1; i <= STEPS && good; i++) {
        good = !app_interrupted() && !bo_integrator_step(integrator, swing_dt, &motion);
        memcpy(full->x[i], motion.q + tip, sizeof full->x[i]);
        look(b->direction, full, i);
    }
    bo_integrator_destroy(ctx, integrator);
    bo_body_system_destroy(ctx, &system);
    free(motion.q);
    return good;
}

/* The tree's own lowest mode with the same speed and direction of the tip. */
static bool start_tree(swinging *b, bough_tree_state *state, double speed, double *linear) {
    const tree_scene *s = &b->scene;
    const int32_t part = s->scene->probes[0].part;
    double x[3], v[3];
    state->alpha = swing_alpha;
    if (!tree_lowest_modes(s->ctx, s->model, state, 1, linear, state->v) ||
        bough_tree_state_update(s->ctx, s->model, state) ||
        bough_tree_state_vertex(s->ctx, s->model, state, part, b->tip, x, v))
        return false;
    const double now = v[0] * b->direction[0] + v[1] * b->direction[1] + v[2] * b->direction[2];
    for (int32_t k = 0; k < bough_tree_model_size(s->model); k++)
        state->v[k] *= speed / now;
    return !bough_tree_state_update(s->ctx, s->model, state) && !bough_tree_step(s->ctx, s->model, state, 0);
}

static bool swing_tree(swinging *b, double speed, swing *run) {
    const tree_scene *s = &b->scene;
    const bo_probe *probe = &s->whole->probes[0];
    bough_tree_state *state = NULL;
    double v[3];
    bool good = !bough_tree_state_create(s->ctx, s->model, &state);
    b->tip = good ? find_vertex(s, state, probe) : 0;
    good = good && start_tree(b, state, speed, &run->linear);
    for (int i = 1; i <= STEPS && good; i++) {
        good = !app_interrupted() && !bough_tree_advance(s->ctx, s->model, state, swing_dt, NULL) &&
               !bough_tree_state_vertex(s->ctx, s->model, state, probe->part, b->tip, run->x[i], v);
        for (int d = 0; d < 3; d++)
            run->x[i][d] -= probe->rest[d];
        look(b->direction, run, i);
    }
    bough_tree_state_destroy(s->ctx, state);
    return good;
}

typedef struct {
    const char *about;
    cooking how;
} boundary_case;

#define KEPT ", \"keep_boundary\": true"
#define MODAL "\"kind\": \"mass-loaded+derivatives\""
#define BOUNDARY "\"kind\": \"mass-loaded+attachment\"" KEPT
#define BOTH "\"kind\": \"mass-loaded+attachment+derivatives\"" KEPT
static const boundary_case boundary_cases[] = {
    {"modes, derivatives, r = 10", {1e7, 0.4, "\"r\": 10, " MODAL}},
    {"attachment, modes, r = 12", {1e7, 0.4, "\"r\": 12, " BOUNDARY}},
    {"attachment, modes, r = 20", {1e7, 0.4, "\"r\": 20, " BOUNDARY}},
    {"attachment, derivatives, r = 12", {1e7, 0.4, "\"r\": 12, " BOTH}},
    {"attachment, derivatives, r = 20", {1e7, 0.4, "\"r\": 20, " BOTH}},
    {"attachment, derivatives, r = 30", {1e7, 0.4, "\"r\": 30, " BOTH}},
    {"attachment, derivatives, r = 40", {1e7, 0.4, "\"r\": 40, " BOTH}},
    {"modes, derivatives, r = 20", {1e7, 0.4, "\"r\": 20, " MODAL}},
    {"the default (wrenches), r = 20", {1e7, 0.4, "\"r\": 20"}},
};
enum { CASES = sizeof boundary_cases / sizeof *boundary_cases };

typedef struct {
    double linear, swing, error; /* frequencies over the body's; rms distance of the tip in 2 s, m */
} boundary_row;

static double rms_distance(const swing *a, const swing *b, int steps) {
    double sum = 0;
    for (int i = 1; i <= steps; i++)
        for (int d = 0; d < 3; d++)
            sum += pow(a->x[i][d] - b->x[i][d], 2);
    return sqrt(sum / steps);
}

/* full: of the first case, whose body is that of all. */
static bool measure_boundary(const lattice_shape *shape, double amplitude, int index, swing *full, swing *run,
                             boundary_row *row) {
    static double direction[3];
    bough_context *ctx = app_context(1);
    swinging b = {.tip = 0};
    const bool opened = open_shape(ctx, shape, &boundary_cases[index].how, 0, &b.scene);
    bool good = opened && (index > 0 || swing_body(&b, amplitude, full));
    if (index == 0)
        memcpy(direction, b.direction, sizeof direction);
    memcpy(b.direction, direction, sizeof direction);
    good = good && swing_tree(&b, amplitude * 2 * M_PI * full->linear, run);
    if (good)
        *row = (boundary_row){run->linear / full->linear,
                              crossing_frequency(STEPS + 1, run->along, swing_dt) /
                                  crossing_frequency(STEPS + 1, full->along, swing_dt),
                              rms_distance(run, full, 400)};
    if (opened && !good)
        bench_fail(ctx);
    tree_scene_close(&b.scene);
    bough_context_destroy(ctx);
    return good;
}

/* ---- both ---- */

enum { TREES = 2 };
static const lattice_shape *const swinging_trees[TREES] = {&chain, &young_tree};
static const double swing_amplitudes[TREES] = {1.14, 0.56}; /* m: how far the lowest frequency would carry the tip */

typedef struct {
    interface_row interfaces[INTERFACE_COUNT][2]; /* second: with boundary modes */
    boundary_row boundary[TREES][CASES];
    double full_hz[TREES];
} boundary_bench;

static bool measure_all(boundary_bench *b) {
    static const cooking plain = {1e7, 0.3, "\"r\": 20"}, attached = {1e7, 0.3, "\"r\": 40, " BOTH};
    swing *full = calloc(1, sizeof *full), *run = calloc(1, sizeof *run);
    bool good = full && run;
    for (int i = 0; i < INTERFACE_COUNT && good; i++)
        good = measure_interface(&interface_shapes[i], &plain, &b->interfaces[i][0]) &&
               measure_interface(&interface_shapes[i], &attached, &b->interfaces[i][1]);
    for (int t = 0; t < TREES && good; t++)
        for (int i = 0; i < CASES && good; i++) {
            good = measure_boundary(swinging_trees[t], swing_amplitudes[t], i, full, run, &b->boundary[t][i]);
            b->full_hz[t] = full->linear;
        }
    free(full);
    free(run);
    return good;
}

static void tell(const boundary_bench *b) {
    puts("trees of one mesh, r = 20: what the joints are foretold to cost, and the tree beside the body\n"
         "                              frequency foretold    true  three lowest over the body's   sag foretold     "
         "true  "
         "with attachment modes, r = 40: frequency, sag");
    for (int i = 0; i < INTERFACE_COUNT; i++) {
        const interface_row *r = &b->interfaces[i][0], *a = &b->interfaces[i][1];
        printf("%-28s  %+16.2f %%  %+6.2f %%  %8.4f %8.4f %8.4f  %+9.2f %%  %+6.2f %%  %+6.2f %%  %+6.2f %%\n",
               interface_shapes[i].about, 100 * r->forecast.frequency, 100 * worst_frequency(r), r->hz[0], r->hz[1],
               r->hz[2], 100 * r->forecast.sag, 100 * r->sags, 100 * worst_frequency(a), 100 * a->sags);
    }
    for (int t = 0; t < TREES; t++) {
        printf(
            "\n%s, tet4, %.4f Hz, tip at %.2f m/s: frequencies over the body's at rest and in the swing, rms distance "
            "of the tip in 2 s\n",
            swinging_trees[t]->about, b->full_hz[t], swing_amplitudes[t] * 2 * M_PI * b->full_hz[t]);
        for (int i = 0; i < CASES; i++)
            printf("%-34s %7.4f  %7.4f  %7.4f m\n", boundary_cases[i].about, b->boundary[t][i].linear,
                   b->boundary[t][i].swing, b->boundary[t][i].error);
    }
}

static json_t *interface_as_json(const char *about, const interface_row *r, const interface_row *attached) {
    return json_pack("{s:s, s:f, s:f, s:[f, f, f], s:f, s:f, s:f, s:f, s:f}", "shape", about, "frequency_forecast",
                     r->forecast.frequency, "frequency_error", worst_frequency(r), "frequencies", r->hz[0], r->hz[1],
                     r->hz[2], "sag_forecast", r->forecast.sag, "sag_error", r->sags, "tip_off", r->sag,
                     "attachment_frequency_error", worst_frequency(attached), "attachment_sag_error", attached->sags);
}

static void tell_json(const boundary_bench *b) {
    json_t *interfaces = json_array(), *boundary = json_array();
    for (int i = 0; i < INTERFACE_COUNT; i++)
        json_array_append_new(interfaces,
                              interface_as_json(interface_shapes[i].about, &b->interfaces[i][0], &b->interfaces[i][1]));
    for (int t = 0; t < TREES; t++)
        for (int i = 0; i < CASES; i++) {
            const boundary_row *r = &b->boundary[t][i];
            json_t *row = json_pack("{s:s, s:s, s:f}", "tree", swinging_trees[t]->about, "basis",
                                    boundary_cases[i].about, "linear", r->linear);
            json_object_set_new(row, "swing", app_json_number(r->swing));
            json_object_set_new(row, "rms_error_2s", app_json_number(r->error));
            json_array_append_new(boundary, row);
        }
    app_print_json(json_pack("{s:o, s:o}", "interfaces", interfaces, "boundary_modes", boundary));
}

int bench_boundary(const bench_options *options) {
    boundary_bench b = {0};
    if (!measure_all(&b))
        return APP_FAILED;
    options->json ? tell_json(&b) : tell(&b);
    return APP_OK;
}
