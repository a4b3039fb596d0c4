/* Stress of the tree beside the full body's, and what it costs.
 *
 * The flower hangs under its weight. Its components were given their stress points at cooking, where modes strain most
 * and before anything was known of loads; at each of them the tree's von Mises is compared with that of the full-order
 * element, once for the same displacement u = U q and once for the full body's own equilibrium. Points count that carry
 * at least a quarter of the largest stress of their part in the full body. All elements that do, at u = U q beside the
 * full body's, tell how far from the cuts errors go. An element's stress is that of its mean deformation; beside it
 * stands the mean of the stresses at its integration points. */
#include "bench_peaks.h"
#include "whole_tree.h"

#include "base/vec.h"
#include "fem/body.h"
#include "material/elastic.h"
#include "mesh/mesh.h"
#include "scene/cook_plan.h"
#include "scene/scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 15, STEPS = 20, LOOKS = 20, VARIANTS = 5 };
static const double quarter = 0.25; /* of the part's largest stress: what a point must carry to count */
static const double tenth = 0.1;    /* the error that is asked for */
static const double cut_radii = 2;  /* of an interface: elements nearer to it are told of apart from the others */

/* Members of the flower's object that differ. Boundary modes: six for each child, with room for their derivatives. Cut
 * further out: the bricks of a leaf that touch its stem belong to the stem; the y of their corners tell them from the
 * rest. Leaves that weigh and resist next to nothing tell what comes from stems that do not feel their leaves. */
#define SOFT "{'model': 'stvk', 'young': 4.5e5, 'poisson': 0.4, 'density': 9}"
static const struct {
    const char *name, *object;
} variants[VARIANTS] = {
    {"r = 20", "{'basis': {'r': 20}}"},
    {"r = 40", "{'basis': {'r': 40}}"},
    {"r = 40, boundary modes",
     "{'basis': {'r': 40, 'kind': 'attachment+mass-loaded+derivatives', 'keep_boundary': true}}"},
    {"r = 40, leaves cut a brick further out",
     "{'basis': {'r': 40}, 'root': 'lower', 'sets': {'lower': {'elements': 'stem1 | leaf1 & y>-0.016'}, 'middle': "
     "{'elements': 'stem2 | leaf2 & y<0.0135'}, 'blade1': {'elements': 'leaf1 & y<-0.012'}, 'blade2': {'elements': "
     "'leaf2 & y>0.0095'}}, 'domains': ['lower', 'middle', 'stem3', 'head', 'blade1', 'blade2', 'petal1', 'petal2', "
     "'petal3', 'petal4', 'petal5', 'petal6']}"},
    {"r = 40, soft leaves", "{'basis': {'r': 40}, 'regions': [{'set': 'leaf1', 'material': " SOFT
                            "}, {'set': 'leaf2', 'material': " SOFT "}]}"},
};

/* Von Mises at a stress point: of the tree; of its full-order element at u = U q, there also of the mean of its
 * stresses; of the full body's element. */
typedef struct {
    int32_t part;
    double tree, same, mean, full;
} place;

/* Figures of the points that count. */
typedef struct {
    int32_t count, good;   /* within a tenth of the full body */
    double same, same_all; /* worst error against the same displacement: of those, of all points */
    double mean, mean_all; /* the same against means of stresses */
    double median, worst;  /* of those against the full body */
} errors;

typedef struct {
    const char *name;
    double most_tree; /* largest von Mises at stress points */
    double most_full; /* at all elements of the full body */
    errors errors;
} row;

typedef struct {
    tree_scene scene;
    bough_tree_state *state;
    const bough_body *body;
    double *full; /* von Mises of the full body's elements */
    int32_t part_count, place_count;
    place *places;
    row *rows;
    errors errors;
    double *near_cuts, *elsewhere; /* errors of all elements that count */
    size_t near_count, else_count;
} stress_bench;

static const bough_component *component_of(const stress_bench *b, int32_t part) {
    const bough_tree_model_def *def = bough_tree_model_describe(b->scene.model);
    return def->components[def->parts[part].component];
}

/* ---- the two equilibria ---- */

static json_t *changes_of(int variant) {
    char text[1000];
    snprintf(text, sizeof text, "{'object': %s}", variants[variant].object);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    return app_json_parse(text, strlen(text));
}

static bool settle(stress_bench *b) {
    bough_context *ctx = b->scene.ctx;
    const bough_static_def def = bough_default_static_def();
    bough_static_result result;
    if (bough_tree_state_create(ctx, b->scene.model, &b->state) ||
        bough_tree_state_settle(ctx, b->scene.model, b->state, NULL, NULL) ||
        bo_scene_make_whole(ctx, b->scene.scene, &b->scene.whole))
        return false;
    b->body = b->scene.whole->body;
    const bough_mesh *mesh = bough_body_mesh(b->body);
    double *u = calloc(3 * (size_t)mesh->vertex_count, sizeof *u);
    b->full = malloc((size_t)mesh->element_count * sizeof *b->full);
    const bool good = u && b->full && !bough_body_static(ctx, b->body, b->scene.whole->load_case, &def, u, &result) &&
                      !bough_body_stress(ctx, b->body, u, NULL, b->full);
    free(u);
    app_clear_progress();
    return good;
}

/* ---- one part ---- */

/* In the component's frame. */
static bo_vec3 middle_of(const bough_component *c, int32_t element) {
    const int32_t count = bough_element_node_count((bough_element_type)c->volume.type);
    const int32_t *nodes = c->volume.elements + (size_t)count * (size_t)element;
    bo_vec3 middle = bo_v3(0, 0, 0);
    for (int32_t k = 0; k < count; k++)
        middle = bo_mul_add(middle, 1.0 / count, bo_load3(c->volume.position + 3 * (size_t)nodes[k]));
    return middle;
}

/* Element of the full body that the middle of the part's lies in. */
static int32_t whole_element(const stress_bench *b, int32_t part, int32_t element) {
    const bough_component *c = component_of(b, part);
    double point[3];
    bo_store3(point, bo_add(bo_load3(c->origin), middle_of(c, element)));
    return bo_nearest_element(bough_body_mesh(b->body), point);
}

/* From its middle to the nearest vertex of an interface, over the interface's radius. */
static double radii_from_cuts(const bough_component *c, int32_t element) {
    const bo_vec3 middle = middle_of(c, element);
    double least = INFINITY;
    for (int32_t f = 0; f < c->interface_count; f++)
        for (int32_t v = 0; v < c->interfaces[f].vertex_count; v++) {
            const double *x = c->volume.position + 3 * (size_t)c->interfaces[f].vertices[v];
            least = fmin(least, bo_norm(bo_sub(middle, bo_load3(x))) / c->interfaces[f].radius);
        }
    return least;
}

static void look_at_elements(stress_bench *b, int32_t part, const double *same) {
    const bough_component *c = component_of(b, part);
    for (int32_t e = 0; e < c->volume.element_count; e++) {
        const double full = b->full[whole_element(b, part, e)], error = fabs(same[e] - full) / full;
        if (full < quarter * b->rows[part].most_full)
            continue;
        if (radii_from_cuts(c, e) < cut_radii)
            b->near_cuts[b->near_count++] = error;
        else
            b->elsewhere[b->else_count++] = error;
    }
}

/* Computes u = U q of the domain's vertices; NULL when there is no memory. */
static double *displacement_of(const stress_bench *b, int32_t part) {
    const bough_component *c = component_of(b, part);
    const double *q = b->state->q + bough_tree_model_offset(b->scene.model, part);
    const size_t n = 3 * (size_t)c->volume.vertex_count, r = (size_t)c->r;
    double *u = calloc(n, sizeof *u);
    for (size_t i = 0; i < n && u; i++)
        for (size_t l = 0; l < r; l++)
            u[i] += c->volume.U[i * r + l] * q[l];
    return u;
}

/* Von Mises of the mean of the stresses at an element's integration points. */
static double mises_of_mean(const bough_body *body, int32_t element, const double *u) {
    const bo_rule *rule = body->rule;
    const bo_point_geometry *g = body->geometry + (size_t)rule->point_count * (size_t)element;
    double sum[6] = {0}, volume = 0;
    for (int32_t p = 0; p < rule->point_count; p++) {
        bo_mat3 inverse;
        double s[6];
        memcpy(inverse.m, g[p].inverse, sizeof inverse.m);
        const bo_mat3 gradient = bo_rule_gradient(rule, p, u, bo_mesh_nodes(body->mesh, element));
        const bo_mat3 F = bo_mat_add(bo_identity3(), bo_mat_mul(gradient, inverse));
        if (!bo_elastic_cauchy(&body->elastic[body->element_material[element]], &F, s))
            return NAN;
        volume += g[p].weight;
        for (int k = 0; k < 6; k++)
            sum[k] += g[p].weight * s[k];
    }
    return bough_von_mises(sum) / volume;
}

static bool look_at_points(stress_bench *b, int32_t part, const bough_body *body, const double *u, const double *same) {
    const bough_component *c = component_of(b, part);
    row *r = &b->rows[part];
    for (int32_t i = 0; i < c->stress.count; i++) {
        const int32_t e = c->stress.element[i];
        bough_stress stress;
        if (bough_tree_state_stress(b->scene.ctx, b->scene.model, b->state, part, i, &stress))
            return false;
        r->most_tree = fmax(r->most_tree, stress.von_mises);
        b->places[b->place_count++] =
            (place){part, stress.von_mises, same[e], mises_of_mean(body, e, u), b->full[whole_element(b, part, e)]};
    }
    return true;
}

static bool look_at_part(stress_bench *b, int32_t part) {
    const bough_component *c = component_of(b, part);
    const bough_body *body = b->scene.scene->plan->assembly.components[part].job->body;
    double *u = displacement_of(b, part), *same = malloc((size_t)c->volume.element_count * sizeof *same);
    row *r = &b->rows[part];
    bool good = u && same && !bough_body_stress(b->scene.ctx, body, u, NULL, same);
    r->name = bough_tree_model_describe(b->scene.model)->parts[part].name;
    for (int32_t e = 0; e < c->volume.element_count && good; e++)
        r->most_full = fmax(r->most_full, b->full[whole_element(b, part, e)]);
    if (good)
        look_at_elements(b, part, same);
    good = good && look_at_points(b, part, body, u, same);
    free(u), free(same);
    return good;
}

/* Errors of a part, or of all parts: -1. */
static errors errors_of(const stress_bench *b, int32_t part, double *scratch) {
    errors found = {0};
    for (int32_t i = 0; i < b->place_count; i++) {
        const place *p = &b->places[i];
        if (part >= 0 && p->part != part)
            continue;
        const double error = fabs(p->tree - p->full) / p->full, same = fabs(p->tree - p->same) / p->same;
        const double mean = fabs(p->tree - p->mean) / p->mean;
        found.same_all = fmax(found.same_all, same);
        found.mean_all = fmax(found.mean_all, mean);
        if (p->full < quarter * b->rows[p->part].most_full)
            continue;
        found.same = fmax(found.same, same);
        found.mean = fmax(found.mean, mean);
        found.good += error <= tenth;
        scratch[found.count++] = error;
    }
    found.median = median_of((size_t)found.count, scratch); /* sorts them */
    found.worst = found.count ? scratch[found.count - 1] : 0;
    return found;
}

static bool compare(stress_bench *b) {
    size_t most = 1;
    b->part_count = bough_tree_model_part_count(b->scene.model);
    for (int32_t p = 0; p < b->part_count; p++)
        most += (size_t)component_of(b, p)->stress.count;
    b->places = calloc(most, sizeof *b->places);
    b->rows = calloc((size_t)b->part_count + 1, sizeof *b->rows);
    const size_t elements = (size_t)bough_body_mesh(b->body)->element_count;
    b->near_cuts = malloc(elements * sizeof(double)), b->elsewhere = malloc(elements * sizeof(double));
    double *scratch = malloc(most * sizeof *scratch);
    bool good = b->places && b->rows && scratch && b->near_cuts && b->elsewhere;
    for (int32_t p = 0; p < b->part_count && good; p++)
        good = look_at_part(b, p);
    for (int32_t p = 0; p < b->part_count && good; p++)
        b->rows[p].errors = errors_of(b, p, scratch);
    if (good)
        b->errors = errors_of(b, -1, scratch);
    free(scratch);
    return good;
}

static void close_bench(stress_bench *b) {
    bough_tree_state_destroy(b->scene.ctx, b->state);
    free(b->full), free(b->places), free(b->rows), free(b->near_cuts), free(b->elsewhere);
    tree_scene_close(&b->scene);
}

/* ---- what a look at all parts of the oak costs ---- */

typedef struct {
    double step_us[2], look_us;  /* with L1, L3 */
    double field_us, surface_us; /* stress at all vertices; their positions, to compare with */
    int32_t parts, points, vertices;
} cost;

static bool time_drawing(const tree_scene *scene, const bough_tree_model *model, const bough_tree_state *state,
                         cost *c) {
    double field[ROUNDS * LOOKS], surface[ROUNDS * LOOKS];
    c->vertices = bough_tree_model_vertex_count(model);
    float *values = malloc((size_t)c->vertices * sizeof *values);
    float *positions = malloc(3 * (size_t)c->vertices * sizeof *positions);
    bool good = values && positions;
    for (int i = 0; i < ROUNDS * LOOKS && good; i++) {
        const double begin = app_seconds();
        bough_tree_state_surface_stress(scene->ctx, model, state, values);
        const double middle = app_seconds();
        good = !bough_tree_state_surface(scene->ctx, model, state, positions, NULL);
        field[i] = 1e6 * (middle - begin), surface[i] = 1e6 * (app_seconds() - middle);
    }
    c->field_us = median_of(ROUNDS * LOOKS, field), c->surface_us = median_of(ROUNDS * LOOKS, surface);
    free(values), free(positions);
    return good;
}

/* Steps and looks in turns; L1 begins anew each time, since it feeds energy into an oak. */
static bool time_looks(const tree_scene *scene, const bough_tree_model *model, bough_tree_state *state, cost *c) {
    const size_t size = bough_tree_state_snapshot_size(model, state);
    double steps[2][ROUNDS * STEPS], looks[ROUNDS * LOOKS];
    double *peaks = malloc((size_t)c->parts * sizeof *peaks);
    void *start = malloc(size);
    bool good = peaks && start;
    if (good)
        bough_tree_state_save(model, state, start);
    for (int round = 0; round < ROUNDS && good && !app_interrupted(); round++) {
        for (int kind = 0; kind < 2 && good; kind++) {
            good = !bough_tree_state_restore(scene->ctx, model, state, start, size);
            state->coupling = kind ? BOUGH_COUPLING_L3 : BOUGH_COUPLING_L1;
            for (int i = 0; i < STEPS && good; i++) {
                const double begin = app_seconds();
                good = !bough_tree_step(scene->ctx, model, state, 1.0 / 240);
                steps[kind][round * STEPS + i] = 1e6 * (app_seconds() - begin);
            }
        }
        for (int i = 0; i < LOOKS; i++) {
            const double begin = app_seconds();
            bough_tree_state_peak_stresses(scene->ctx, model, state, peaks);
            looks[round * LOOKS + i] = 1e6 * (app_seconds() - begin);
        }
    }
    for (int kind = 0; kind < 2; kind++)
        c->step_us[kind] = median_of(ROUNDS * STEPS, steps[kind]);
    c->look_us = median_of(ROUNDS * LOOKS, looks);
    good = good && time_drawing(scene, model, state, c);
    free(peaks), free(start);
    return good && !app_interrupted();
}

static bool measure_cost(bough_context *ctx, cost *c) {
    tree_scene scene;
    const bool opened = tree_scene_open(ctx, "oak", -1, &scene);
    bough_tree_model *model = opened ? weightless_model(&scene) : NULL;
    bough_tree_state *state = model ? moving_state(&scene, model) : NULL;
    bool good = state;
    if (good) {
        const bough_tree_model_def *def = bough_tree_model_describe(model);
        *c = (cost){.parts = def->part_count};
        for (int32_t p = 0; p < c->parts; p++)
            c->points += def->components[def->parts[p].component]->stress.count;
        state->passes = 1;
        good = time_looks(&scene, model, state, c);
        if (!good)
            bench_fail(ctx);
    }
    bough_tree_state_destroy(ctx, state);
    bough_tree_model_destroy(ctx, model);
    tree_scene_close(&scene);
    return good;
}

/* ---- what is told ---- */

static size_t within_tenth(size_t count, const double *sorted) {
    size_t good = 0;
    while (good < count && sorted[good] <= tenth)
        good++;
    return good;
}

static void tell_elements(const char *which, size_t count, double *found) {
    const double median = median_of(count, found); /* sorts them */
    printf("  all elements that do, %s: %.1f %% median, %.1f %% worst, %zu of %zu within 10 %%\n", which, 100 * median,
           count ? 100 * found[count - 1] : 0, within_tenth(count, found), count);
}

static json_t *elements_as_json(size_t count, double *found) {
    const double median = median_of(count, found);
    return json_pack("{s:I, s:I, s:f, s:f}", "elements", (json_int_t)count, "within_tenth",
                     (json_int_t)within_tenth(count, found), "median", median, "worst", count ? found[count - 1] : 0);
}

static void tell_variant(const stress_bench *b, int variant) {
    const errors *all = &b->errors;
    printf("flower, %s: %d of %d stress points carry a quarter of their part's largest von Mises\n",
           variants[variant].name, all->count, b->place_count);
    printf("  same displacement  %.1e worst, of all points %.1e; required 2 %%\n", all->same, all->same_all);
    printf("  mean of stresses   %.2f %% worst, of all points %.2f %%\n", 100 * all->mean, 100 * all->mean_all);
    printf("  full body          %.1f %% median, %.1f %% worst, %d within the required 10 %%\n", 100 * all->median,
           100 * all->worst, all->good);
    tell_elements("beyond two radii of cuts", b->else_count, b->elsewhere);
    tell_elements("nearer to cuts", b->near_count, b->near_cuts);
    printf("  %-8s %6s %6s %9s %9s %11s %11s\n", "part", "points", "within", "median %", "worst %", "tree (Pa)",
           "full (Pa)");
    for (int32_t p = 0; p < b->part_count; p++) {
        const row *r = &b->rows[p];
        printf("  %-8s %6d %6d %9.1f %9.1f %11.0f %11.0f\n", r->name, r->errors.count, r->errors.good,
               100 * r->errors.median, 100 * r->errors.worst, r->most_tree, r->most_full);
    }
}

static json_t *errors_as_json(const errors *e) {
    return json_pack("{s:i, s:i, s:f, s:f, s:f, s:f, s:f, s:f}", "points", (int)e->count, "within_tenth", (int)e->good,
                     "same_worst", e->same, "same_worst_of_all", e->same_all, "mean_worst", e->mean,
                     "mean_worst_of_all", e->mean_all, "full_median", e->median, "full_worst", e->worst);
}

static json_t *variant_as_json(const stress_bench *b, int variant) {
    json_t *parts = json_array();
    for (int32_t p = 0; p < b->part_count; p++) {
        json_t *part = errors_as_json(&b->rows[p].errors);
        json_object_set_new(part, "part", json_string(b->rows[p].name));
        json_object_set_new(part, "largest_tree", json_real(b->rows[p].most_tree));
        json_object_set_new(part, "largest_full", json_real(b->rows[p].most_full));
        json_array_append_new(parts, part);
    }
    json_t *all = errors_as_json(&b->errors);
    json_object_set_new(all, "variant", json_string(variants[variant].name));
    json_object_set_new(all, "beyond_two_radii", elements_as_json(b->else_count, b->elsewhere));
    json_object_set_new(all, "near_cuts", elements_as_json(b->near_count, b->near_cuts));
    json_object_set_new(all, "parts", parts);
    return all;
}

static bool run_variant(bough_context *ctx, int variant, json_t *list, bool json) {
    stress_bench b = {.part_count = 0};
    const bool opened = tree_scene_open_changed(ctx, "flower", changes_of(variant), &b.scene);
    const bool good = opened && settle(&b) && compare(&b);
    if (opened && !good)
        bench_fail(ctx);
    if (good && json)
        json_array_append_new(list, variant_as_json(&b, variant));
    else if (good)
        tell_variant(&b, variant);
    close_bench(&b);
    return good && !app_interrupted();
}

static void tell_cost(const cost *c) {
    printf("oak, one thread: largest stress of %d parts (%d points) %.0f us: %.0f %% of a step with L1 (%.0f us), "
           "%.0f %% with L3 (%.0f us)\n",
           c->parts, c->points, c->look_us, 100 * c->look_us / c->step_us[0], c->step_us[0],
           100 * c->look_us / c->step_us[1], c->step_us[1]);
    printf("oak, one thread: stress at all %d vertices %.0f us; their positions %.0f us\n", c->vertices, c->field_us,
           c->surface_us);
}

int bench_stress(const bench_options *options) {
    bough_context *ctx = app_context(1);
    json_t *list = json_array();
    cost c = {0};
    json_t *peaks = NULL;
    bool good = bench_peaks_of(ctx, options->json, options->size > 1, false, &peaks);
    for (int v = 0; v < VARIANTS && good; v++)
        good = run_variant(ctx, v, list, options->json);
    good = good && measure_cost(ctx, &c);
    if (good && options->json)
        app_print_json(json_pack("{s:O, s:s, s:O, s:{s:i, s:i, s:f, s:f, s:f, s:i, s:f, s:f}}", "peaks", peaks, "scene",
                                 "flower", "variants", list, "oak", "parts", (int)c.parts, "points", (int)c.points,
                                 "step_us_L1", c.step_us[0], "step_us_L3", c.step_us[1], "peaks_us", c.look_us,
                                 "vertices", (int)c.vertices, "field_us", c.field_us, "positions_us", c.surface_us));
    else if (good)
        tell_cost(&c);
    json_decref(list);
    json_decref(peaks);
    bough_context_destroy(ctx);
    return good ? APP_OK : APP_FAILED;
}
