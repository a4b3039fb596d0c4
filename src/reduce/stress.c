/* Stress: the points at which it is recovered, and those that its field over the surface is drawn from.
 * docs/theory/reduction.md, "Stress points". */
#include "reduce/cook.h"

#include "base/threads.h"
#include "mesh/mesh.h"

#include <string.h>

enum { ELEMENTS_A_TASK = 256 };

/* Stress points keep this distance from each other, of the body's size, while there are others to choose from. */
#define STRESS_SPACING 0.03
#define LEAST_STRESS_SPACING 1e-6

static double distance2(const double *a, const double *b) {
    const bo_vec3 d = bo_sub(bo_load3(a), bo_load3(b));
    return bo_dot(d, d);
}

/* ---- points ---- */

typedef struct {
    const bo_cook *cook;
    float *score;           /* element_count x r: von Mises' stress of each basis function, linearised */
    double *position;       /* element_count x 3: of its middle, in mesh coordinates */
    unsigned char *blocked; /* element_count: too near to one chosen before */
    unsigned char *clamped; /* element_count: touches the interface by which the component hangs */
    int32_t *chosen, chosen_count;
} stress_search;

/* A point stands for its element: F is the element's mean, as in the stress that the full body tells. In the middle of
 * a brick the shear that bricks feel by mistake when they bend vanishes; at the points of its rule it would drown what
 * bends a thin blade. */
static void mean_gradient(const bo_cook *cook, int32_t element, double *G) {
    const bough_body *body = cook->body;
    const int32_t count = body->rule->point_count, entries = 9 * cook->r;
    const bo_point_geometry *g = body->geometry + (size_t)count * (size_t)element;
    double one[9 * BOUGH_MAX_COORDINATES], volume = 0;
    memset(G, 0, (size_t)entries * sizeof *G);
    for (int32_t p = 0; p < count; p++) {
        bo_cook_gradient(cook, element, p, one);
        for (int32_t k = 0; k < entries; k++)
            G[k] += g[p].weight * one[k];
        volume += g[p].weight;
    }
    for (int32_t k = 0; k < entries; k++)
        G[k] /= volume;
}

static bo_vec3 mean_position(const bough_body *body, int32_t element) {
    const int32_t *nodes = bo_mesh_nodes(body->mesh, element), count = body->rule->point_count;
    const bo_point_geometry *g = body->geometry + (size_t)count * (size_t)element;
    bo_vec3 x = {0, 0, 0};
    double volume = 0;
    for (int32_t p = 0; p < count; volume += g[p++].weight)
        for (int32_t a = 0; a < body->rule->node_count; a++)
            x = bo_mul_add(x, g[p].weight * body->rule->N[p][a], bo_load3(body->mesh->vertices + 3 * (size_t)nodes[a]));
    return bo_scale(1 / volume, x);
}

/* Stress 2 mu e + lambda tr(e) I, e = sym G: von Mises' equivalent is sqrt(3/2) |dev s| = sqrt(6) mu |dev e|. */
static double von_mises(const bo_elastic *elastic, const double *G, int32_t r, int32_t l) {
    bo_mat3 g;
    for (int k = 0; k < 9; k++)
        g.m[k] = G[k * r + l];
    bo_mat3 e = bo_sym(g);
    const double mean = bo_trace(e) / 3;
    for (int k = 0; k < 9; k += 4)
        e.m[k] -= mean;
    return sqrt(6 * bo_contract(e, e)) * elastic->mu;
}

static void score_elements(void *data, int32_t begin, int32_t end, int32_t chunk) {
    stress_search *s = data;
    const bough_body *body = s->cook->body;
    const int32_t r = s->cook->r;
    double G[9 * BOUGH_MAX_COORDINATES];
    (void)chunk;
    for (int32_t e = begin; e < end; e++) {
        mean_gradient(s->cook, e, G);
        for (int32_t l = 0; l < r; l++)
            s->score[(size_t)e * (size_t)r + (size_t)l] =
                (float)von_mises(&body->elastic[body->element_material[e]], G, r, l);
        bo_store3(s->position + 3 * (size_t)e, mean_position(body, e));
    }
}

static void block_around(stress_search *s, int32_t element, double spacing) {
    const double *centre = s->position + 3 * (size_t)element;
    for (int32_t e = 0; e < s->cook->body->mesh->element_count; e++)
        if (distance2(s->position + 3 * (size_t)e, centre) < spacing * spacing)
            s->blocked[e] = 1;
}

/* Elements at the interface by which it hangs: U = 0 there keeps their sides from contracting, which the whole
 * structure does not. Their stress is that of the clamp (docs/validation.md, "Stress"). A component that has no others
 * keeps them. */
static void find_clamped(stress_search *s) {
    const bough_mesh *mesh = s->cook->body->mesh;
    const int32_t node_count = bough_element_node_count(mesh->type);
    int32_t others = 0;
    if (s->cook->draft.support != BOUGH_SUPPORT_INTERFACE)
        return;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        for (int32_t k = 0; k < node_count; k++)
            s->clamped[e] |= s->cook->held[3 * (size_t)bo_mesh_nodes(mesh, e)[k]];
        others += !s->clamped[e];
    }
    if (others == 0)
        memset(s->clamped, 0, (size_t)mesh->element_count);
}

/* The element that basis function l strains most, of those that are still free; -1 when there is none. */
static int32_t most_strained(const stress_search *s, int32_t l) {
    int32_t best = -1;
    float most = 0;
    for (int32_t e = 0; e < s->cook->body->mesh->element_count; e++) {
        float score = s->score[(size_t)e * (size_t)s->cook->r + (size_t)l];
        if (!s->blocked[e] && !s->clamped[e] && score > most)
            most = score, best = e;
    }
    return best;
}

/* Basis functions take turns. When the body is full, points may stand closer. */
static void choose_elements(stress_search *s, int32_t wanted) {
    double spacing = STRESS_SPACING * s->cook->size;
    for (int32_t i = 0; i < s->chosen_count; i++)
        block_around(s, s->chosen[i], spacing);
    while (s->chosen_count < wanted && spacing > LEAST_STRESS_SPACING * s->cook->size) {
        const int32_t before = s->chosen_count;
        for (int32_t l = 0; l < s->cook->r && s->chosen_count < wanted; l++) {
            int32_t e = most_strained(s, l);
            if (e < 0)
                continue;
            s->chosen[s->chosen_count++] = e;
            block_around(s, e, spacing);
        }
        if (s->chosen_count > before)
            continue;
        spacing *= 0.5;
        memset(s->blocked, 0, (size_t)s->cook->body->mesh->element_count);
        for (int32_t i = 0; i < s->chosen_count; i++)
            block_around(s, s->chosen[i], spacing);
    }
}

static bough_status fill_stress(bo_cook *cook, const stress_search *s) {
    const int32_t count = s->chosen_count;
    double *position = BO_COOK_ARRAY(cook, double, 3 * (size_t)count);
    int32_t *element = BO_COOK_ARRAY(cook, int32_t, count), *material = BO_COOK_ARRAY(cook, int32_t, count);
    double *gradient = BO_COOK_ARRAY(cook, double, 9 * (size_t)count * (size_t)cook->r);
    if (!position || !element || !material || !gradient)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < count; i++) {
        const int32_t e = element[i] = s->chosen[i];
        material[i] = cook->body->element_material[e];
        bo_store3(position + 3 * (size_t)i, bo_sub(mean_position(cook->body, e), bo_load3(cook->draft.origin)));
        mean_gradient(cook, e, gradient + 9 * (size_t)i * (size_t)cook->r);
    }
    cook->draft.stress = (bough_material_points){
        .count = count, .position = position, .element = element, .material = material, .gradient = gradient};
    return BOUGH_OK;
}

static bough_status search_stress(bo_cook *cook, stress_search *s, int32_t wanted) {
    const bough_cook_def *def = cook->def;
    const int32_t element_count = cook->body->mesh->element_count;
    for (int32_t i = 0; i < def->stress_element_count; i++) {
        s->chosen[s->chosen_count] = def->stress_elements[i];
        if (def->stress_elements[i] < 0 || def->stress_elements[i] >= element_count)
            return bo_fail(cook->ctx, BOUGH_ERROR_ARGUMENT, "stress element %d does not exist: there are %d elements",
                           def->stress_elements[i], element_count);
        s->chosen_count++;
    }
    if (s->chosen_count < wanted) {
        find_clamped(s);
        bo_parallel_for(cook->ctx, element_count, ELEMENTS_A_TASK, score_elements, s);
        choose_elements(s, wanted);
    }
    return fill_stress(cook, s);
}

static bough_status sample_stress(bo_cook *cook) {
    const size_t element_count = (size_t)cook->body->mesh->element_count;
    const int64_t wanted = (int64_t)cook->def->stress_element_count + cook->def->stress_count;
    if (wanted <= 0 || wanted > INT32_MAX || cook->r == 0)
        return BOUGH_OK;
    stress_search s = {.cook = cook};
    s.score = BO_NEW_ARRAY(cook->ctx, float, element_count *(size_t)cook->r);
    s.position = BO_NEW_ARRAY(cook->ctx, double, 3 * element_count);
    s.blocked = BO_NEW_ZEROS(cook->ctx, unsigned char, element_count);
    s.clamped = BO_NEW_ZEROS(cook->ctx, unsigned char, element_count);
    s.chosen = BO_NEW_ARRAY(cook->ctx, int32_t, wanted);
    bough_status status = BOUGH_ERROR_MEMORY;
    if (s.score && s.position && s.blocked && s.clamped && s.chosen)
        status = search_stress(cook, &s, (int32_t)wanted);
    bo_free(cook->ctx, s.score);
    bo_free(cook->ctx, s.position);
    bo_free(cook->ctx, s.blocked);
    bo_free(cook->ctx, s.clamped);
    bo_free(cook->ctx, s.chosen);
    return status;
}

/* ---- the field over the surface ---- */

/* Mean of the gradients of the elements around each chosen vertex, by volume, and the material of the largest part. */
typedef struct {
    const bo_cook *cook;
    const int32_t *slot; /* vertex of the mesh -> its number in the field, or -1 */
    double *sum;         /* count x 9 x r */
    double *volume;      /* count */
    double *most;        /* count: volume of the largest element, whose material counts */
    int32_t *material;
} averaging;

static double element_volume(const bough_body *body, int32_t element) {
    double volume = 0;
    for (int32_t p = 0; p < body->rule->point_count; p++)
        volume += body->geometry[(size_t)body->rule->point_count * (size_t)element + (size_t)p].weight;
    return volume;
}

static void add_element(averaging *a, int32_t element) {
    const bough_mesh *mesh = a->cook->body->mesh;
    const size_t entries = 9 * (size_t)a->cook->r;
    const double volume = element_volume(a->cook->body, element);
    double G[9 * BOUGH_MAX_COORDINATES];
    bool known = false;
    for (int32_t k = 0; k < bough_element_node_count(mesh->type); k++) {
        const int32_t slot = a->slot[bo_mesh_nodes(mesh, element)[k]];
        if (slot < 0)
            continue;
        if (!known)
            mean_gradient(a->cook, element, G);
        known = true;
        a->volume[slot] += volume;
        if (volume > a->most[slot])
            a->most[slot] = volume, a->material[slot] = a->cook->body->element_material[element];
        for (size_t i = 0; i < entries; i++)
            a->sum[(size_t)slot * entries + i] += volume * G[i];
    }
}

static bough_status fill_field(bo_cook *cook, int32_t count, const int32_t *vertices, const int32_t *slot) {
    const size_t entries = 9 * (size_t)cook->r * (size_t)count;
    averaging a = {.cook = cook, .slot = slot};
    a.sum = BO_COOK_ARRAY(cook, double, entries);
    a.volume = BO_COOK_ARRAY(cook, double, count), a.most = BO_COOK_ARRAY(cook, double, count);
    a.material = BO_COOK_ARRAY(cook, int32_t, count);
    double *position = BO_COOK_ARRAY(cook, double, 3 * (size_t)count);
    float *gradient = BO_COOK_ARRAY(cook, float, entries);
    if (!a.sum || !a.volume || !a.most || !a.material || !position || !gradient)
        return BOUGH_ERROR_MEMORY;
    for (int32_t e = 0; e < cook->body->mesh->element_count; e++)
        add_element(&a, e);
    for (size_t i = 0; i < entries; i++)
        gradient[i] = (float)(a.sum[i] / a.volume[i / (9 * (size_t)cook->r)]);
    for (int32_t i = 0; i < count; i++)
        bo_store3(position + 3 * (size_t)i, bo_sub(bo_load3(cook->body->mesh->vertices + 3 * (size_t)vertices[i]),
                                                   bo_load3(cook->draft.origin)));
    cook->draft.field = (bough_stress_field){
        .count = count, .position = position, .material = a.material, .gradient = gradient};
    return BOUGH_OK;
}

/* Vertices of the boundary, far from each other. */
static bough_status sample_field(bo_cook *cook) {
    if (cook->r == 0 || cook->def->field_count <= 0)
        return BOUGH_OK;
    BO_TRY(bo_cook_boundary(cook));
    const int32_t all = cook->boundary->vertex_count, limit = cook->def->field_count;
    int32_t wanted = limit < all ? limit : all;
    int32_t *chosen = BO_COOK_ARRAY(cook, int32_t, wanted);
    int32_t *slot = BO_COOK_ARRAY(cook, int32_t, cook->body->mesh->vertex_count);
    double *distance = BO_NEW_ARRAY(cook->ctx, double, all);
    const bool good = chosen && slot && distance;
    if (good)
        wanted = bo_farthest_points(all, 3, cook->boundary->vertices, wanted, chosen, distance);
    bo_free(cook->ctx, distance);
    if (!good)
        return BOUGH_ERROR_MEMORY;
    for (int32_t v = 0; v < cook->body->mesh->vertex_count; v++)
        slot[v] = -1;
    for (int32_t i = 0; i < wanted; i++)
        slot[chosen[i] = cook->boundary_vertices[chosen[i]]] = i;
    return fill_field(cook, wanted, chosen, slot);
}

bough_status bo_cook_stress(bo_cook *cook) {
    BO_TRY(sample_stress(cook));
    return sample_field(cook);
}
