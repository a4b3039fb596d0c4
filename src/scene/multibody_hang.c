/* Loads at the interfaces of components, for their mass-loaded modes: the rest inertia of everything that joints and
 * clamps hang there, as if it were one rigid body. */
#include "scene/multibody_scene.h"

#include <string.h>

/* A thing at the other end of a joint or a clamp. */
typedef struct {
    int32_t interface_index; /* of this end; -1: none */
    int32_t other;
} tie;

typedef struct {
    const bo_multibody_reader *r;
    int32_t things;
    int32_t *first; /* things + 1: where the ties of each begin */
    tie *ties;
    int32_t *queue, *reached; /* things; reached: number of the search that came by */
    int32_t search;
} graph;

static void free_graph(bough_context *ctx, graph *g) {
    bo_free(ctx, g->first);
    bo_free(ctx, g->ties);
    bo_free(ctx, g->queue);
    bo_free(ctx, g->reached);
}

/* The two ends of joint number i, or of the clamp that comes after all joints. False: the world is one of them. */
static bool ends_of(const graph *g, int32_t i, int32_t body[2], int32_t interface_index[2]) {
    const bo_multibody_scene *m = g->r->m;
    const int32_t part = i - m->def.joint_count;
    const bough_frame_def *a = part < 0 ? &m->joints[i].parent : &m->parts[part].clamp;
    body[0] = a->body, interface_index[0] = a->interface_index;
    body[1] = part < 0 ? m->joints[i].child.body : m->def.body_count + part;
    interface_index[1] = part < 0 ? m->joints[i].child.interface_index : -1;
    return body[0] >= 0 && body[1] >= 0;
}

static bough_status make_graph(bough_context *ctx, graph *g) {
    const bo_multibody_scene *m = g->r->m;
    const int32_t edges = m->def.joint_count + m->def.part_count;
    int32_t body[2], at[2];
    g->things = m->def.body_count + m->def.part_count;
    g->first = BO_NEW_ZEROS(ctx, int32_t, g->things + 2);
    g->ties = BO_NEW_ZEROS(ctx, tie, 2 * edges);
    g->queue = BO_NEW_ZEROS(ctx, int32_t, g->things);
    g->reached = BO_NEW_ZEROS(ctx, int32_t, g->things);
    if (!g->first || !g->ties || !g->queue || !g->reached)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < edges; i++)
        if (ends_of(g, i, body, at))
            g->first[body[0] + 2]++, g->first[body[1] + 2]++;
    for (int32_t t = 2; t < g->things + 2; t++)
        g->first[t] += g->first[t - 1];
    for (int32_t i = 0; i < edges; i++)
        if (ends_of(g, i, body, at))
            for (int k = 0; k < 2; k++)
                g->ties[g->first[body[k] + 1]++] = (tie){at[k], body[1 - k]};
    return BOUGH_OK;
}

static void reach(graph *g, int32_t thing, int32_t *count) {
    if (g->reached[thing] == g->search)
        return;
    g->reached[thing] = g->search;
    g->queue[(*count)++] = thing;
}

static bough_inertia inertia_of(const graph *g, int32_t thing) {
    const bo_multibody_scene *m = g->r->m;
    if (thing >= m->def.body_count)
        return bo_component_inertia(g->r->assembly->components[m->components[thing - m->def.body_count]].rigid);
    const bough_rigid_body_def *body = &m->bodies[thing];
    bough_inertia own = {.mass = body->mass};
    memcpy(own.inertia, body->inertia, sizeof own.inertia);
    return bo_inertia_moved(bo_load3(body->centre), own);
}

static void add(bough_inertia *sum, double factor, const bough_inertia *a) {
    sum->mass += factor * a->mass;
    for (int d = 0; d < 3; d++)
        sum->moment[d] += factor * a->moment[d];
    for (int k = 0; k < 9; k++)
        sum->inertia[k] += factor * a->inertia[k];
}

/* Everything beyond the interface of a part, about its centre in the part's axes. */
static bough_inertia load_at(graph *g, int32_t part, int32_t interface_index, bo_vec3 centre) {
    const bo_multibody_scene *m = g->r->m;
    const int32_t own = m->def.body_count + part;
    const bo_se3 rest = m->rests[own], from = {rest.R, bo_se3_apply(rest, centre)};
    bough_inertia sum = {0};
    int32_t count = 0;
    g->search++;
    g->reached[own] = g->search;
    for (int32_t k = g->first[own]; k < g->first[own + 1]; k++)
        if (g->ties[k].interface_index == interface_index)
            reach(g, g->ties[k].other, &count);
    for (int32_t i = 0; i < count; i++) {
        const bo_se3 to = bo_se3_mul(bo_se3_inverse(from), m->rests[g->queue[i]]);
        const bough_inertia thing = bo_inertia_moved(to.t, bo_inertia_turned(to.R, inertia_of(g, g->queue[i])));
        add(&sum, 1, &thing);
        for (int32_t k = g->first[g->queue[i]]; k < g->first[g->queue[i] + 1]; k++)
            reach(g, g->ties[k].other, &count);
    }
    return sum;
}

/* A component with several parts carries the mean of what they carry. */
static bough_status hang_at(graph *g, int32_t c) {
    const bo_multibody_reader *r = g->r;
    const bo_scene_component *component = &r->assembly->components[c];
    const int32_t interfaces = component->rigid->interface_count;
    bough_context *ctx = r->root->ctx;
    bough_inertia *loads = BO_NEW_ZEROS(ctx, bough_inertia, interfaces);
    int32_t uses = 0;
    if (!loads)
        return BOUGH_ERROR_MEMORY;
    for (int32_t p = 0; p < r->m->def.part_count; p++)
        uses += r->m->components[p] == c;
    for (int32_t p = 0; p < r->m->def.part_count; p++)
        for (int32_t i = 0; r->m->components[p] == c && i < interfaces; i++) {
            const bough_inertia load = load_at(g, p, i, bo_load3(component->rigid->interfaces[i].centre));
            add(&loads[i], 1.0 / uses, &load);
        }
    const bough_status status = bo_cook_job_add_loads(ctx, component->job, loads);
    bo_free(ctx, loads);
    return status;
}

bough_status bo_multibody_hang(const bo_multibody_reader *r) {
    graph g = {.r = r};
    bough_status status = make_graph(r->root->ctx, &g);
    for (int32_t c = 0; c < r->assembly->component_count && status == BOUGH_OK; c++)
        if (r->assembly->components[c].job)
            status = hang_at(&g, c);
    free_graph(r->root->ctx, &g);
    return status;
}
