/* Loops that ties close, beside the full body in which they are closed: small vibrations of the ring, the sag of the
 * bridge, by the stiffness of their ties; and what a tie costs. */
#include "tree_modes.h"
#include "tree_scene.h"

#include "dense/cholesky.h"
#include "dense/symmetric_eigen.h"
#include "fem/body.h"
#include "scene/cook_plan.h"
#include "scene/scene.h"
#include "rig/joint.h"
#include "tree/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MODES = 4, STRENGTHS = 8, STEPS = 400 };

/* Times the stiffness that the scene says. */
static const double strengths[STRENGTHS] = {1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100};

/* ---- all parts as one mesh ---- */

typedef struct {
    bough_mesh *mesh;
    int32_t *vertex; /* of the mesh: one row for each part, of the vertices of its component's mesh */
    int32_t in_part; /* vertices */
} whole;

typedef struct {
    int64_t cell[3];
    int32_t index;
} corner;

static int compare_corners(const void *a, const void *b) {
    const corner *x = a, *y = b;
    for (int d = 0; d < 3; d++)
        if (x->cell[d] != y->cell[d])
            return x->cell[d] < y->cell[d] ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Vertices in one place become one: places are 10 micrometres wide, with edges where no vertex is. */
static int32_t merge(int32_t count, double *x, int32_t *number) {
    corner *corners = malloc((size_t)count * sizeof *corners);
    int32_t kept = 0;
    for (int32_t v = 0; v < count && corners; v++) {
        corners[v].index = v;
        for (int d = 0; d < 3; d++)
            corners[v].cell[d] = (int64_t)floor((x[3 * (size_t)v + (size_t)d] + 0.31830989) / 1e-5);
    }
    if (!corners)
        return 0;
    qsort(corners, (size_t)count, sizeof *corners, compare_corners);
    int32_t *first = number; /* the lowest index of each place, then its number */
    for (int32_t i = 0, of = 0; i < count; i++) {
        of = i && !memcmp(corners[i].cell, corners[i - 1].cell, sizeof corners[i].cell) ? of : corners[i].index;
        first[corners[i].index] = of;
    }
    for (int32_t v = 0; v < count; v++)
        if (first[v] == v) {
            memmove(x + 3 * (size_t)kept, x + 3 * (size_t)v, 3 * sizeof *x);
            number[v] = kept++;
        } else {
            number[v] = number[first[v]];
        }
    free(corners);
    return kept;
}

static const bough_body *body_of(const tree_scene *scene) {
    return scene->scene->plan->assembly.components[0].job->body;
}

static void place_vertices(const bough_tree_model *model, const bough_tree_state *rest, const bough_mesh *mesh,
                           double *x) {
    const bough_component *c = bough_tree_model_describe(model)->components[0];
    for (int32_t p = 0; p < bough_tree_model_part_count(model); p++) {
        const bough_frame *frame = &rest->frames[p];
        bo_mat3 R;
        memcpy(R.m, frame->pose.rotation, sizeof R.m);
        for (int32_t v = 0; v < mesh->vertex_count; v++, x += 3) {
            const bo_vec3 own = bo_sub(bo_load3(mesh->vertices + 3 * (size_t)v), bo_load3(c->origin));
            bo_store3(x, bo_add(bo_load3(frame->pose.position), bo_mat_vec(R, own)));
        }
    }
}

/* Assembles the whole of a scene whose parts are all of one component. */
static bool make_whole(const tree_scene *scene, const bough_tree_state *rest, whole *w) {
    const bough_mesh *mesh = bough_body_mesh(body_of(scene));
    const size_t parts = (size_t)bough_tree_model_part_count(scene->model),
                 vertices = parts * (size_t)mesh->vertex_count;
    const size_t nodes = (size_t)bough_element_node_count(mesh->type), in_part = nodes * (size_t)mesh->element_count;
    double *x = malloc(3 * vertices * sizeof *x);
    int32_t *elements = malloc(parts * in_part * sizeof *elements);
    w->in_part = mesh->vertex_count;
    w->vertex = malloc(vertices * sizeof *w->vertex);
    bool good = x && elements && w->vertex;
    if (good) {
        place_vertices(scene->model, rest, mesh, x);
        const int32_t kept = merge((int32_t)vertices, x, w->vertex);
        for (size_t k = 0; k < parts * in_part; k++)
            elements[k] = w->vertex[k / in_part * (size_t)mesh->vertex_count + (size_t)mesh->elements[k % in_part]];
        good = kept && !bough_mesh_create(scene->ctx, mesh->type, kept, x, (int32_t)parts * mesh->element_count,
                                          elements, &w->mesh);
    }
    free(x);
    free(elements);
    return good;
}

static void free_whole(bough_context *ctx, whole *w) {
    bough_mesh_destroy(ctx, w->mesh);
    free(w->vertex);
}

static bool make_body(const tree_scene *scene, const whole *w, bough_body **body) {
    bough_body_def def = bough_default_body_def();
    def.material = body_of(scene)->materials[0];
    def.mass = body_of(scene)->def.mass;
    return !bough_body_create(scene->ctx, w->mesh, &def, body);
}

/* ---- the ring ---- */

typedef struct {
    double tree[STRENGTHS + 1][MODES], full[MODES]; /* Hz; the first row: without the tie */
    int32_t vertices, elements;
} ring_result;

/* The ties' K = J^T k J with J = de/dq, by central differences. */
static bool add_tie_stiffness(const tree_scene *scene, bough_tree_state *state, double strength, double *K) {
    const bough_tree_model_def *def = bough_tree_model_describe(scene->model);
    const size_t n = (size_t)bough_tree_model_size(scene->model), ties = (size_t)def->tie_count;
    double *J = calloc(6 * ties * n, sizeof *J);
    const double step = 1e-4;
    bool good = J;
    for (size_t l = 0; l < n && good; l++) {
        for (int side = 0; side < 2 && good; side++) {
            state->q[l] = side ? -step : step;
            good = !bough_tree_state_update(scene->ctx, scene->model, state);
            for (size_t t = 0; t < ties && good; t++) {
                double e[6];
                bo_tree_tie_stretch(scene->model, state, (int32_t)t, e);
                for (size_t d = 0; d < 6; d++)
                    J[(6 * t + d) * n + l] += (side ? -e[d] : e[d]) / (2 * step);
            }
        }
        state->q[l] = 0;
    }
    for (size_t row = 0; row < 6 * ties && good; row++) {
        const double k = strength * def->ties[row / 6].stiffness[row % 6];
        for (size_t i = 0; i < n * n; i++)
            K[i] += k * J[row * n + i / n] * J[row * n + i % n];
    }
    free(J);
    return good && !bough_tree_state_update(scene->ctx, scene->model, state);
}

/* With K = L L^T: eigenvalues of L^T M^-1 L. */
static bool frequencies(int32_t count, const double *inverse, double *K, double *hz) {
    const size_t n = (size_t)count;
    double *A = calloc(3 * n * n + 3 * n, sizeof *A), *B = A + n * n, *V = B + n * n, *values = V + n * n;
    bool good = A && bo_cholesky_factor(count, K);
    for (size_t i = 0; i < n && good; i++)
        for (size_t j = 0; j < n; j++)
            for (size_t k = j; k < n; k++) /* M^-1 L */
                B[i * n + j] += inverse[i * n + k] * K[k * n + j];
    for (size_t i = 0; i < n && good; i++)
        for (size_t j = 0; j < n; j++)
            for (size_t k = i; k < n; k++)
                A[i * n + j] += K[k * n + i] * B[k * n + j];
    for (size_t i = 0; i < n && good; i++)
        for (size_t j = 0; j < i; j++)
            A[i * n + j] = A[j * n + i] = 0.5 * (A[i * n + j] + A[j * n + i]);
    good = good && bo_sym_eigen(count, A, values, V, values + n);
    for (int k = 0; k < MODES && good; k++)
        hz[k] = sqrt(values[k]) / (2 * M_PI);
    free(A);
    return good;
}

static bool vibrate(const tree_scene *scene, bough_tree_state *state, ring_result *r) {
    const size_t n = (size_t)bough_tree_model_size(scene->model);
    double *inverse = malloc((2 * n * n + n) * sizeof *inverse), *K = inverse + n * n, *diagonal = K + n * n;
    bool good = inverse && tree_inverse_mass(scene->ctx, scene->model, state, inverse);
    if (good)
        tree_stiffness(scene->model, diagonal);
    for (int s = 0; s <= STRENGTHS && good; s++) {
        memset(K, 0, n * n * sizeof *K);
        for (size_t l = 0; l < n; l++)
            K[l * (n + 1)] = diagonal[l];
        good = add_tie_stiffness(scene, state, s ? strengths[s - 1] : 0, K) &&
               frequencies((int32_t)n, inverse, K, r->tree[s]);
    }
    free(inverse);
    return good;
}

static bool full_modes(const tree_scene *scene, const bough_tree_state *rest, ring_result *r) {
    whole w = {0};
    bough_body *body = NULL;
    bough_modes *modes = NULL;
    const bool good = make_whole(scene, rest, &w) && make_body(scene, &w, &body) &&
                      !bough_body_modes(scene->ctx, body, NULL, 6 + MODES, NULL, &modes) && modes->rigid_count == 6;
    for (int k = 0; k < MODES && good; k++)
        r->full[k] = modes->frequencies_hz[6 + k];
    if (good)
        r->vertices = w.mesh->vertex_count, r->elements = w.mesh->element_count;
    bough_modes_destroy(scene->ctx, modes);
    bough_body_destroy(scene->ctx, body);
    free_whole(scene->ctx, &w);
    return good;
}

static bool ring(bough_context *ctx, ring_result *r) {
    tree_scene scene;
    bough_tree_state *state = NULL;
    const bool opened = tree_scene_open(ctx, "ring", -1, &scene);
    const bool good = opened && !bough_tree_state_create(ctx, scene.model, &state) && full_modes(&scene, state, r) &&
                      vibrate(&scene, state, r);
    if (opened && !good)
        bench_fail(ctx);
    bough_tree_state_destroy(ctx, state);
    tree_scene_close(&scene);
    app_clear_progress();
    return good;
}

/* ---- the bridge ---- */

typedef struct {
    double tree[STRENGTHS], full; /* m: sag of the middle */
    double residual[STRENGTHS];
    int32_t vertices, elements;
} bridge_result;

/* Finds the vertices of an interface of a part on the whole. */
static void hold_face(const tree_scene *scene, const whole *w, int32_t part, int32_t face, bough_load_case *load_case) {
    const bough_interface *f = &bough_tree_model_describe(scene->model)->components[0]->interfaces[face];
    for (int32_t k = 0; k < f->vertex_count; k++)
        bough_load_case_fix(scene->ctx, load_case, &w->vertex[part * w->in_part + f->vertices[k]], 1, BOUGH_AXES, NULL);
}

static double full_sag(const tree_scene *scene, const whole *w, int32_t part, const double *u) {
    const bough_component *c = bough_tree_model_describe(scene->model)->components[0];
    const bough_interface *f = &c->interfaces[c->parent];
    double sag = 0;
    for (int32_t k = 0; k < f->vertex_count; k++)
        sag -= f->weights[k] * u[3 * w->vertex[part * w->in_part + f->vertices[k]] + 2];
    return sag;
}

/* Fixed at both ends. */
static bool settle_full(const tree_scene *scene, const bough_tree_state *rest, int32_t middle, bridge_result *r) {
    const bough_tree_model_def *def = bough_tree_model_describe(scene->model);
    whole w = {0};
    bough_body *body = NULL;
    bough_load_case *load_case = NULL;
    bough_static_result result;
    const bough_static_def how = bough_default_static_def();
    bool good = make_whole(scene, rest, &w) && make_body(scene, &w, &body);
    double *u = good ? calloc(3 * (size_t)w.mesh->vertex_count, sizeof *u) : NULL;
    good = u && !bough_load_case_create(scene->ctx, body, &load_case) &&
           !bough_load_case_set_gravity(scene->ctx, load_case, def->gravity);
    if (good) {
        hold_face(scene, &w, 0, def->components[0]->parent, load_case);
        hold_face(scene, &w, def->ties[0].parent.body, def->ties[0].parent.interface_index, load_case);
        good = !bough_body_static(scene->ctx, body, load_case, &how, u, &result);
    }
    if (good) {
        r->full = full_sag(scene, &w, middle, u);
        r->vertices = w.mesh->vertex_count, r->elements = w.mesh->element_count;
    }
    free(u);
    bough_load_case_destroy(scene->ctx, load_case);
    bough_body_destroy(scene->ctx, body);
    free_whole(scene->ctx, &w);
    return good;
}

static bool settle_tree(const tree_scene *scene, int32_t middle, double strength, double *sag, double *residual) {
    bough_tree_state *state = NULL;
    bool good = !bough_tree_state_create(scene->ctx, scene->model, &state);
    const double before = good ? state->frames[middle].pose.position[2] : 0;
    if (good)
        state->tie_strength[0] = strength;
    good = good && !bough_tree_state_settle(scene->ctx, scene->model, state, NULL, residual);
    if (good)
        *sag = before - state->frames[middle].pose.position[2];
    bough_tree_state_destroy(scene->ctx, state);
    return good;
}

static bool bridge(bough_context *ctx, bridge_result *r) {
    tree_scene scene;
    bough_tree_state *rest = NULL;
    const bool opened = tree_scene_open(ctx, "bridge", -1, &scene);
    const int32_t middle = opened ? bough_tree_model_part_count(scene.model) / 2 : 0;
    bool good = opened && !bough_tree_state_create(ctx, scene.model, &rest) && settle_full(&scene, rest, middle, r);
    for (int s = 0; s < STRENGTHS && good; s++)
        good = settle_tree(&scene, middle, strengths[s], &r->tree[s], &r->residual[s]);
    if (opened && !good)
        bench_fail(ctx);
    bough_tree_state_destroy(ctx, rest);
    tree_scene_close(&scene);
    app_clear_progress();
    return good;
}

/* ---- what it costs ---- */

enum { COSTS = 6 };
static const int32_t tie_counts[COSTS] = {0, 0, 1, 4, 8, 16}; /* the first without a second pass */

/* Median microseconds of a step of the ring with its tie and others, which are soft, between parts and the world. */
static double step_time(const tree_scene *scene, int32_t ties, int32_t passes) {
    bough_tree_model_def def = *bough_tree_model_describe(scene->model);
    bough_tree_model *model = NULL;
    bough_tree_state *state = NULL;
    bough_joint_def all[16];
    double times[STEPS];
    for (int32_t t = 0; t < ties; t++) {
        all[t] = def.ties[0];
        if (t > 0) {
            all[t].parent.body = t * def.part_count / ties, all[t].child.body = BOUGH_WORLD;
            bo_set_springs(all[t].stiffness, 1, all[t].stiffness[3]);
        }
    }
    def.tie_count = ties, def.ties = all;
    bool good =
        !bough_tree_model_create(scene->ctx, &def, &model) && !bough_tree_state_create(scene->ctx, model, &state);
    if (good)
        state->passes = passes;
    for (int i = 0; i < STEPS && good; i++) {
        const double force[3] = {0, 2, 3}, none[3] = {0};
        good = i > STEPS / 2 || !bough_tree_state_add_wrench(scene->ctx, model, state, 0, force, none);
        const double begin = app_seconds();
        good = good && !bough_tree_step(scene->ctx, model, state, 1.0 / 240);
        times[i] = 1e6 * (app_seconds() - begin);
    }
    bough_tree_state_destroy(scene->ctx, state);
    bough_tree_model_destroy(scene->ctx, model);
    return good ? median_of(STEPS, times) : NAN;
}

static bool cost(bough_context *ctx, double us[COSTS]) {
    tree_scene scene;
    bool good = tree_scene_open(ctx, "ring", -1, &scene);
    for (int i = 0; i < COSTS && good; i++) {
        us[i] = step_time(&scene, tie_counts[i], i ? 2 : 1);
        good = isfinite(us[i]);
    }
    tree_scene_close(&scene);
    return good;
}

/* ---- what is told ---- */

static double worst_error(const double *tree, const double *full) {
    double worst = 0;
    for (int k = 0; k < MODES; k++)
        worst = fmax(worst, fabs(tree[k] / full[k] - 1));
    return worst;
}

static void tell(const ring_result *r, const bridge_result *b, const double us[COSTS]) {
    printf("ring: lowest frequencies (Hz) that are not rigid; the full body has %d vertices, %d elements\n",
           r->vertices, r->elements);
    for (int s = 0; s <= STRENGTHS + 1; s++) {
        const double *hz = s <= STRENGTHS ? r->tree[s] : r->full;
        char name[32] = "no tie";
        if (s > STRENGTHS)
            snprintf(name, sizeof name, "full");
        else if (s)
            snprintf(name, sizeof name, "tie x %g", strengths[s - 1]);
        printf("  %-12s %8.4f %8.4f %8.4f %8.4f   worst %.2f %%\n", name, hz[0], hz[1], hz[2], hz[3],
               100 * worst_error(hz, r->full));
    }
    printf("bridge: sag of the middle; the full body has %d vertices, %d elements\n", b->vertices, b->elements);
    for (int s = 0; s < STRENGTHS; s++)
        printf("  tie x %-6g %9.4f mm   %+.2f %%   residual %.1e\n", strengths[s], 1e3 * b->tree[s],
               100 * (b->tree[s] / b->full - 1), b->residual[s]);
    printf("  full         %9.4f mm\n", 1e3 * b->full);
    printf("a step of the ring: without ties %.0f us (one pass), %.0f us (two); with", us[0], us[1]);
    for (int i = 2; i < COSTS; i++)
        printf("%s %d: %.0f us", i > 2 ? "," : "", tie_counts[i], us[i]);
    printf("\n");
}

static json_t *list_of(int count, const double *values) {
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list, json_real(values[i]));
    return list;
}

static void tell_json(const ring_result *r, const bridge_result *b, const double us[COSTS]) {
    json_t *rows = json_array();
    for (int s = 0; s <= STRENGTHS; s++)
        json_array_append_new(rows, json_pack("{s:f, s:o, s:f}", "strength", s ? strengths[s - 1] : 0, "hz",
                                              list_of(MODES, r->tree[s]), "worst", worst_error(r->tree[s], r->full)));
    json_t *ties = json_array();
    for (int i = 0; i < COSTS; i++)
        json_array_append_new(
            ties, json_pack("{s:i, s:i, s:f}", "ties", (int)tie_counts[i], "passes", i ? 2 : 1, "us", us[i]));
    app_print_json(json_pack("{s:{s:o, s:o}, s:{s:o, s:o, s:f}, s:o}", "ring", "tied", rows, "full_hz",
                             list_of(MODES, r->full), "bridge", "strengths", list_of(STRENGTHS, strengths), "sag",
                             list_of(STRENGTHS, b->tree), "full_sag", b->full, "steps", ties));
}

int bench_loops(const bench_options *options) {
    bough_context *ctx = app_context(1);
    ring_result r = {.vertices = 0};
    bridge_result b = {.vertices = 0};
    double us[COSTS] = {0};
    const bool good = ring(ctx, &r) && bridge(ctx, &b) && cost(ctx, us) && !app_interrupted();
    if (good && options->json)
        tell_json(&r, &b, us);
    else if (good)
        tell(&r, &b, us);
    bough_context_destroy(ctx);
    return good ? APP_OK : APP_FAILED;
}
