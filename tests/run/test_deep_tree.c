/* Trees of five and six levels, cut from one mesh: the reduced parts beside the body in one piece. */
#include "test.h"

#include "dense/symmetric_eigen.h"
#include "scene/scene.h"
#include "tree/tree.h"

#include <bough/run.h>

/* A spine of segments, one on top of the other, each with an arm on its side: bricks of CELL metres, two by two across.
 */
enum { SEGMENTS = 5, SEGMENT = 8, ARM = 6, PARTS = 2 * SEGMENTS };
enum {
    REACH = ARM + 2,
    WIDTH = 2 * REACH + 3,
    HEIGHT = SEGMENTS * SEGMENT + 1,
    BRICKS = 4 * SEGMENTS * (SEGMENT + ARM)
};
#define CELL 0.05

/* An arm's foot stiffens the body where it grows. A part that hangs on another does not do so: cut at the spine's side,
 * the tree is softer than the body; cut one brick out, so that the foot belongs to the spine, it is not. */
typedef enum { BARE, CUT_AT_SIDE, CUT_OUTSIDE } tree_shape;
static const char *const shape_names[] = {"bare spine", "arms cut at its side", "arms cut one brick out"};

typedef struct {
    int32_t number[WIDTH][WIDTH][HEIGHT]; /* of the vertex at a point of the grid, plus 1 */
    double vertices[8 * BRICKS][3];
    int32_t elements[BRICKS][8];
    int32_t vertex_count, element_count;
    int32_t of_part[PARTS][BRICKS], part_size[PARTS];
} lattice;

static int32_t vertex_at(lattice *l, int i, int j, int k) {
    int32_t *number = &l->number[i + REACH][j + REACH][k];
    if (!*number) {
        const double x[3] = {CELL * i, CELL * j, CELL * k};
        memcpy(l->vertices[l->vertex_count], x, sizeof x);
        *number = ++l->vertex_count;
    }
    return *number - 1;
}

static void add_brick(lattice *l, int part, int i, int j, int k) {
    static const int corners[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                      {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    for (int c = 0; c < 8; c++)
        l->elements[l->element_count][c] = vertex_at(l, i + corners[c][0], j + corners[c][1], k + corners[c][2]);
    l->of_part[part][l->part_size[part]++] = l->element_count++;
}

static void build(lattice *l, tree_shape shape) {
    for (int s = 0; s < SEGMENTS; s++)
        for (int b = 0; b < 4; b++) {
            for (int k = 0; k < SEGMENT; k++)
                add_brick(l, s, b % 2, b / 2, SEGMENT * s + k);
            for (int n = 0; n < ARM && shape != BARE; n++) { /* to +x, +y, -x, -y in turn */
                const int out = s / 2 % 2 ? -1 - n : 2 + n, level = SEGMENT * s + 4 + b / 2;
                add_brick(l, n == 0 && shape == CUT_OUTSIDE ? s : SEGMENTS + s, s % 2 ? b % 2 : out,
                          s % 2 ? out : b % 2, level);
            }
        }
}

/* Mesh and scene in the test's folder. */
static const char *write_tree(bough_context *ctx, tree_shape shape, const char *gravity) {
    lattice *l = calloc(1, sizeof *l);
    bough_mesh *mesh;
    build(l, shape);
    check_ok(ctx, bough_mesh_create(ctx, BOUGH_HEX8, l->vertex_count, l->vertices[0], l->element_count, l->elements[0],
                                    &mesh));
    for (int p = 0; p < (shape == BARE ? SEGMENTS : PARTS); p++) {
        char name[16];
        snprintf(name, sizeof name, "%s%d", p < SEGMENTS ? "segment" : "arm", p % SEGMENTS);
        check_ok(ctx, bough_mesh_add_set(ctx, mesh, BOUGH_SET_ELEMENT, name, l->of_part[p], l->part_size[p]));
    }
    check_ok(ctx, bough_mesh_write(ctx, mesh, test_path("tree.msh")));
    bough_mesh_destroy(ctx, mesh);
    free(l);
    char text[2048];
    snprintf(text, sizeof text,
             "{\"bough\": 1, \"object\": {\"mesh\": \"tree.msh\", \"material\": {\"model\": \"stvk\", \"young\": 1e7, "
             "\"poisson\": 0.3, \"density\": 1000}, \"root\": \"segment0\", \"fix\": \"z<0.001\", \"basis\": {\"r\": "
             "20}, \"samples\": {\"contact\": 0, \"stress\": 0}}, \"probes\": [{\"name\": \"top\", \"part\": "
             "\"segment4\", \"nearest\": [0, 0, 9]}], \"gravity\": %s, \"time\": {\"dt\": 0.01, \"duration\": 1}}",
             gravity);
    const char *path = test_path("tree.json");
    test_write_text(path, text);
    return path;
}

/* ---- lowest frequency ---- */

/* Lowest frequency of K x = w^2 M x with K = G G diagonal: that of G M^-1 G, of coordinates first .. first + n - 1. */
static double lowest(int32_t size, const double *inverse, const double *K, int32_t first, int32_t n) {
    double *A = calloc((size_t)(n * n + 3 * n), sizeof *A), *values = A + n * n;
    for (int32_t e = 0; e < n * n; e++) {
        const int32_t i = first + e / n, j = first + e % n;
        A[e] = sqrt(K[i] * K[j]) * 0.5 * (inverse[i * size + j] + inverse[j * size + i]);
    }
    check(bo_sym_eigen(n, A, values, NULL, values + n));
    const double hz = sqrt(values[0]) / (2 * M_PI);
    free(A);
    return hz;
}

/* The whole tree with the exact coupling, its softest part with what it carries else. */
static double tree_frequency(bough_context *ctx, const bough_tree_model *model, bough_coupling coupling) {
    const int32_t n = bough_tree_model_size(model);
    double *inverse = calloc((size_t)(n * n + 4 * n), sizeof *inverse), *K = inverse + n * n, *zero = K + n;
    double *force = zero + n, *a = force + n, best = INFINITY;
    bough_tree_state *state;
    check_ok(ctx, bough_tree_state_create(ctx, model, &state));
    state->coupling = coupling;
    for (int32_t k = 0; k < n; k++) {
        force[k] = 1;
        check_ok(ctx, bo_tree_accelerations(ctx, model, state, false, zero, zero, force, a));
        for (int32_t i = 0; i < n; i++)
            inverse[i * n + k] = a[i];
        force[k] = 0;
    }
    const bough_tree_model_def *def = bough_tree_model_describe(model);
    for (int32_t p = 0; p < def->part_count; p++) {
        const bough_component *c = def->components[def->parts[p].component];
        for (int32_t l = 0; l < c->r; l++)
            K[bough_tree_model_offset(model, p) + l] = c->K[l * (c->r + 1)];
    }
    for (int32_t p = 0; p < def->part_count && coupling != BOUGH_COUPLING_L3; p++)
        best = fmin(best, lowest(n, inverse, K, bough_tree_model_offset(model, p),
                                 def->components[def->parts[p].component]->r));
    if (coupling == BOUGH_COUPLING_L3)
        best = lowest(n, inverse, K, 0, n);
    bough_tree_state_destroy(ctx, state);
    free(inverse);
    return best;
}

static int32_t levels_of(const bough_tree_model *model) {
    const bough_tree_model_def *def = bough_tree_model_describe(model);
    int32_t most = 0;
    for (int32_t p = 0; p < def->part_count; p++) {
        int32_t levels = 1;
        for (int32_t i = def->parts[p].parent; i >= 0; i = def->parts[i].parent)
            levels++;
        most = levels > most ? levels : most;
    }
    return most;
}

static void compare_frequencies(tree_shape shape, double tolerance) {
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    bough_tree_model *model;
    bough_modes *modes;
    check_ok(ctx, bough_scene_load(ctx, write_tree(ctx, shape, "[0, 0, 0]"), &scene));
    check_ok(ctx, bough_scene_model(ctx, scene, &model));
    check_int(levels_of(model), shape == BARE ? SEGMENTS : SEGMENTS + 1);
    check_int(bough_tree_model_part_count(model), shape == BARE ? SEGMENTS : PARTS);
    bo_whole *whole;
    check_ok(ctx, bo_scene_make_whole(ctx, scene, &whole));
    check_ok(ctx, bough_body_modes(ctx, whole->body, whole->load_case, 1, NULL, &modes));
    bo_whole_destroy(ctx, whole);
    double ratio[4];
    for (int c = 0; c < 4; c++)
        ratio[c] = tree_frequency(ctx, model, (bough_coupling)c) / modes->frequencies_hz[0];
    print_message(
        "%s, %d levels: lowest frequency over the whole body's %.4f Hz: L1 %.3f, L2 %.3f, L2R %.3f, L3 %.4f\n",
        shape_names[shape], levels_of(model), modes->frequencies_hz[0], ratio[0], ratio[1], ratio[2], ratio[3]);
    check_near(ratio[3], 1, tolerance);
    check(ratio[0] > ratio[1] && ratio[1] > ratio[2] && ratio[2] > ratio[3]); /* better and better */
    bough_modes_destroy(ctx, modes);
    bough_tree_model_destroy(ctx, model);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

static void lowest_frequency_is_the_whole_bodys(void **state) {
    (void)state;
    compare_frequencies(BARE, 0.01);
    compare_frequencies(CUT_AT_SIDE, 0.04);
    compare_frequencies(CUT_OUTSIDE, 0.01);
}

/* ---- sag ---- */

/* The top's displacement in equilibrium. */
static void settle(bough_context *ctx, const char *path, const char *engine, double u[3]) {
    bough_scene *scene;
    bough_run *run;
    bough_run_def def = bough_default_run_def();
    def.engine = engine, def.settle = true;
    check_ok(ctx, bough_scene_load(ctx, path, &scene));
    check_ok(ctx, bough_run_create(ctx, scene, &def, &run));
    memcpy(u, bough_run_values(run) + BOUGH_COLUMN_PROBES + 3, 3 * sizeof *u);
    bough_run_destroy(ctx, run);
    bough_scene_destroy(ctx, scene);
}

static double length(const double *u) {
    return sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
}

static void compare_sag(tree_shape shape, double tolerance) {
    bough_context *ctx = test_context(1);
    const char *path = write_tree(ctx, shape, shape == BARE ? "[1.6, 0.5, 0]" : "[0.9, 0.3, 0]");
    double tree[3], full[3];
    settle(ctx, path, "tree", tree);
    settle(ctx, path, "full", full);
    const double gap[3] = {tree[0] - full[0], tree[1] - full[1], tree[2] - full[2]};
    print_message("%s: sag %.4f of the whole body's %.3f m, apart by %.4f of it\n", shape_names[shape],
                  length(tree) / length(full), length(full), length(gap) / length(full));
    check(length(full) > 0.3);
    check_below(length(gap), tolerance * length(full));
    bough_context_destroy(ctx);
}

static void sag_is_the_whole_bodys(void **state) {
    (void)state;
    compare_sag(BARE, 0.02);
    compare_sag(CUT_AT_SIDE, 0.07);
    compare_sag(CUT_OUTSIDE, 0.02);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lowest_frequency_is_the_whole_bodys),
        cmocka_unit_test(sag_is_the_whole_bodys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
