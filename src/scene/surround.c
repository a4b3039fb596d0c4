/* The surroundings of each domain of an object, near its cuts, so that cooking knows the effect of neighbours on its
 * stress. */
#include "scene/assembly.h"
#include "scene/component_file.h"
#include "scene/entries.h"

#include "fem/body.h"
#include "mesh/mesh.h"

#include <math.h>
#include <string.h>

/* Neighbours are taken along to this distance from an interface's centre, of the rms distance of its vertices from it.
 * What a cut does to stress fades within about its width, twice that. */
#define REACH 5.0
/* And no more of them than this at an interface: those that are nearest, layer by layer. Where a broad flat interface
 * reaches far, as the root of a wing does, the whole animal would be taken along otherwise. */
#define MOST_ELEMENTS 4000

typedef struct {
    const bo_object_cut *cut;
    bo_assembly *assembly;
    int32_t *domain;       /* of each element of the whole mesh */
    int32_t *first, *at;   /* elements of each vertex: from at[first[v]] to at[first[v + 1]] */
    int32_t *queue;        /* vertices that a search has reached, each once */
    int32_t *taken;        /* of each element: 0 where the patch has it, else -1 */
    unsigned char *marked; /* of each vertex: the patch has it; 2: it is held */
    unsigned char *ground; /* of each vertex: what is not in the patch holds it */
    int32_t *pulled;       /* of each vertex: the domain that goes on there without holding it; -1: none */
} patching;

/* The neighbour of `domain` through which an element of another domain hangs on it; -1: it does not. */
static int32_t branch_of(const patching *p, int32_t domain, int32_t other) {
    while (other >= 0 && p->cut->parent[other] != domain)
        other = p->cut->parent[other];
    return other;
}

/* ---- which elements ---- */

typedef struct {
    bo_vec3 centre;
    double reach2;
} ball;

static ball around(const bough_mesh *mesh, const int32_t *map, const int32_t *vertices, int32_t count) {
    ball b = {.centre = bo_v3(0, 0, 0)};
    for (int32_t i = 0; i < count; i++)
        b.centre = bo_mul_add(b.centre, 1.0 / count, bo_load3(mesh->vertices + 3 * (size_t)map[vertices[i]]));
    for (int32_t i = 0; i < count; i++) {
        const bo_vec3 d = bo_sub(bo_load3(mesh->vertices + 3 * (size_t)map[vertices[i]]), b.centre);
        b.reach2 += REACH * REACH * bo_dot(d, d) / count;
    }
    return b;
}

static bool is_near(const bough_mesh *mesh, int32_t element, const ball *b) {
    const int32_t nodes = bough_element_node_count(mesh->type);
    for (int32_t k = 0; k < nodes; k++) {
        const bo_vec3 d =
            bo_sub(bo_load3(mesh->vertices + 3 * (size_t)mesh->elements[(size_t)nodes * (size_t)element + (size_t)k]),
                   b->centre);
        if (bo_dot(d, d) < b->reach2)
            return true;
    }
    return false;
}

/* Vertices that are new to the patch go to the end of the queue. */
static int32_t take(patching *p, int32_t element, int32_t queued) {
    const bough_mesh *mesh = p->cut->draft->mesh;
    const int32_t nodes = bough_element_node_count(mesh->type);
    p->taken[element] = 0;
    for (int32_t k = 0; k < nodes; k++) {
        const int32_t v = mesh->elements[(size_t)nodes * (size_t)element + (size_t)k];
        if (!p->marked[v])
            p->queue[queued++] = v;
        p->marked[v] = 1;
    }
    return queued;
}

static bool shares_face(const patching *p, int32_t element) {
    const bough_mesh *mesh = p->cut->draft->mesh;
    const int32_t nodes = bough_element_node_count(mesh->type), face = mesh->type == BOUGH_HEX8 ? 4 : 3;
    int32_t shared = 0;
    for (int32_t k = 0; k < nodes; k++)
        shared += p->marked[mesh->elements[(size_t)nodes * (size_t)element + (size_t)k]];
    return shared >= face;
}

/* Takes the elements near the interface that are connected, face by face, with those already taken. queued: vertices of
 * the elements taken, before and after. */
static int32_t take_near(patching *p, const ball *b, int32_t queued) {
    int32_t count = 0;
    for (int32_t i = 0; i < queued; i++)
        for (int32_t k = p->first[p->queue[i]]; k < p->first[p->queue[i] + 1]; k++) {
            const int32_t e = p->at[k];
            if (p->taken[e] == 0 || count == MOST_ELEMENTS || !shares_face(p, e) || !is_near(p->cut->draft->mesh, e, b))
                continue;
            queued = take(p, e, queued);
            count++;
        }
    return queued;
}

static void choose_elements(patching *p, int32_t domain) {
    const bough_mesh *mesh = p->cut->draft->mesh;
    const bough_split *split = p->cut->split;
    int32_t queued = 0;
    memset(p->taken, -1, (size_t)mesh->element_count * sizeof *p->taken);
    memset(p->marked, 0, (size_t)mesh->vertex_count);
    for (int32_t e = 0; e < split->domains[domain].mesh->element_count; e++)
        queued = take(p, split->domains[domain].element_map[e], queued);
    for (int32_t i = 0; i < split->interface_count; i++) {
        const bough_domain_interface *shared = &split->interfaces[i];
        const int side = shared->domains[1] == domain;
        if (shared->domains[side] != domain)
            continue;
        const ball b = around(mesh, split->domains[domain].vertex_map, shared->vertices[side], shared->vertex_count);
        queued = take_near(p, &b, queued);
    }
}

/* ---- where the rest holds them ---- */

/* Elements outside of the patch that are connected with the supports hold it; the other elements outside pull at it. */
static void find_ground(patching *p) {
    const bough_mesh *mesh = p->cut->draft->mesh;
    const bough_cook_job *root = p->assembly->components[p->cut->root].job;
    const int32_t *map = p->cut->split->domains[p->cut->root].vertex_map;
    const int32_t nodes = bough_element_node_count(mesh->type);
    int32_t queued = 0;
    memset(p->ground, 0, (size_t)mesh->vertex_count);
    for (int32_t v = 0; v < root->body->mesh->vertex_count; v++) {
        const unsigned char *fixed = root->load_case->fixed + 3 * (size_t)v;
        if ((fixed[0] || fixed[1] || fixed[2]) && !p->ground[map[v]])
            p->ground[map[v]] = 1, p->queue[queued++] = map[v];
    }
    for (int32_t i = 0; i < queued; i++)
        for (int32_t k = p->first[p->queue[i]]; k < p->first[p->queue[i] + 1]; k++)
            for (int32_t c = 0; c < nodes && p->taken[p->at[k]] != 0; c++) {
                const int32_t v = mesh->elements[(size_t)nodes * (size_t)p->at[k] + (size_t)c];
                if (!p->ground[v])
                    p->ground[v] = 1, p->queue[queued++] = v;
            }
}

static void hold_rest(patching *p, int32_t domain) {
    const bough_mesh *mesh = p->cut->draft->mesh;
    const int32_t nodes = bough_element_node_count(mesh->type);
    find_ground(p);
    for (int32_t v = 0; v < mesh->vertex_count; v++)
        p->pulled[v] = -1;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const int32_t *corner = mesh->elements + (size_t)nodes * (size_t)e;
        const bool hanging = branch_of(p, domain, p->domain[e]) >= 0;
        for (int32_t k = 0; k < nodes && p->taken[e] != 0 && !hanging; k++)
            if (p->marked[corner[k]] && p->ground[corner[k]])
                p->marked[corner[k]] = 2;
            else if (p->marked[corner[k]])
                p->pulled[corner[k]] = p->domain[e];
    }
}

static bough_status fix(const patching *p, bough_context *ctx, const bough_domain *patch, const int32_t *place,
                        bough_load_case *load_case) {
    const bough_cook_job *root = p->assembly->components[p->cut->root].job;
    const int32_t *map = p->cut->split->domains[p->cut->root].vertex_map;
    for (int32_t v = 0; v < patch->mesh->vertex_count; v++)
        if (p->marked[patch->vertex_map[v]] == 2)
            BO_TRY(bough_load_case_fix(ctx, load_case, &v, 1, BOUGH_AXES, NULL));
    for (int32_t v = 0; v < root->body->mesh->vertex_count; v++) {
        const unsigned char *fixed = root->load_case->fixed + 3 * (size_t)v;
        const int axes = fixed[0] | fixed[1] << 1 | fixed[2] << 2;
        if (root->body->used[v] && axes && place[map[v]] >= 0)
            BO_TRY(bough_load_case_fix(ctx, load_case, &place[map[v]], 1, axes, NULL));
    }
    return BOUGH_OK;
}

/* ---- the job's ---- */

/* Interfaces of a job are those of its neighbours, by name. */
static int32_t interface_of(const patching *p, int32_t domain, int32_t neighbour) {
    const bough_cook_def *def = &p->assembly->components[domain].job->def;
    for (int32_t i = 0; i < def->interface_count; i++)
        if (!strcmp(def->interfaces[i].name, p->cut->names[neighbour]))
            return i;
    return BOUGH_OWNER_SELF; /* cannot be */
}

static bough_status fill(const patching *p, bough_context *ctx, int32_t domain, const bough_domain *patch,
                         bo_cook_around *to) {
    const bough_mesh *whole = p->cut->draft->mesh;
    const bough_domain *own = &p->cut->split->domains[domain];
    int32_t *place = BO_NEW_ARRAY(ctx, int32_t, whole->vertex_count);
    to->vertices = BO_NEW_ARRAY(ctx, int32_t, own->mesh->vertex_count);
    to->owner = BO_NEW_ARRAY(ctx, int32_t, patch->mesh->element_count);
    to->pulled = BO_NEW_ARRAY(ctx, int32_t, patch->mesh->vertex_count);
    to->beside = BO_NEW_ARRAY(ctx, unsigned char, patch->mesh->element_count);
    bough_status status =
        place && to->vertices && to->owner && to->pulled && to->beside ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (int32_t v = 0; v < whole->vertex_count && status == BOUGH_OK; v++)
        place[v] = -1;
    for (int32_t v = 0; v < patch->mesh->vertex_count && status == BOUGH_OK; v++)
        place[patch->vertex_map[v]] = v;
    for (int32_t v = 0; v < own->mesh->vertex_count && status == BOUGH_OK; v++)
        to->vertices[v] = place[own->vertex_map[v]];
    for (int32_t v = 0; v < patch->mesh->vertex_count && status == BOUGH_OK; v++) {
        const int32_t other = p->pulled[patch->vertex_map[v]];
        to->pulled[v] = other < 0 ? BOUGH_OWNER_SELF : BOUGH_OWNER_OTHER - other;
    }
    for (int32_t e = 0; e < patch->mesh->element_count && status == BOUGH_OK; e++) {
        const int32_t other = p->domain[patch->element_map[e]];
        const int32_t branch = other == domain ? -1 : branch_of(p, domain, other);
        to->owner[e] = other == domain ? BOUGH_OWNER_SELF
                       : branch < 0    ? BOUGH_OWNER_OTHER - other
                                       : interface_of(p, domain, branch);
        to->beside[e] = other != domain && branch < 0 && p->cut->parent[domain] >= 0 &&
                        branch_of(p, p->cut->parent[domain], other) >= 0;
    }
    if (status == BOUGH_OK)
        status = fix(p, ctx, patch, place, to->load_case);
    bo_free(ctx, place);
    return status;
}

static bough_status surround_one(patching *p, const bo_json *block, int32_t domain) {
    bough_context *ctx = block->ctx;
    bough_cook_job *job = p->assembly->components[domain].job;
    bough_split *split;
    int32_t loose = 0;
    choose_elements(p, domain);
    hold_rest(p, domain);
    BO_TRY(bo_mesh_take_out(ctx, p->cut->draft->mesh, p->taken, &split));
    bo_cook_around *to = &job->around;
    bough_status status =
        bo_scene_draft_body(block, p->cut->draft, split->domains[0].mesh, NULL, &to->body, &to->load_case);
    if (status == BOUGH_OK)
        status = fill(p, ctx, domain, &split->domains[0], to);
    if (status == BOUGH_OK)
        status = bo_body_rigid_motions(ctx, to->body, to->load_case->fixed, &loose);
    bough_split_destroy(ctx, split);
    if (status == BOUGH_OK && loose > 0) /* nothing holds what flies free */
        bo_cook_around_free(ctx, to);
    else if (status == BOUGH_OK)
        bo_cook_job_surround(job);
    return status;
}

static void list_elements(const bough_mesh *mesh, patching *p) {
    const size_t count = (size_t)mesh->element_count * (size_t)bough_element_node_count(mesh->type);
    const int32_t nodes = bough_element_node_count(mesh->type);
    memset(p->first, 0, ((size_t)mesh->vertex_count + 1) * sizeof *p->first);
    for (size_t k = 0; k < count; k++)
        p->first[mesh->elements[k] + 1]++;
    for (int32_t v = 0; v < mesh->vertex_count; v++)
        p->first[v + 1] += p->first[v];
    memcpy(p->queue, p->first, (size_t)mesh->vertex_count * sizeof *p->queue); /* where the next one goes */
    for (size_t k = 0; k < count; k++)
        p->at[p->queue[mesh->elements[k]]++] = (int32_t)k / nodes;
}

bough_status bo_object_surround(const bo_json *block, const bo_object_cut *cut, bo_assembly *assembly) {
    bough_context *ctx = block->ctx;
    const bough_mesh *mesh = cut->draft->mesh;
    patching p = {.cut = cut, .assembly = assembly};
    p.domain = BO_NEW_ARRAY(ctx, int32_t, mesh->element_count);
    p.taken = BO_NEW_ARRAY(ctx, int32_t, mesh->element_count);
    p.marked = BO_NEW_ARRAY(ctx, unsigned char, mesh->vertex_count);
    p.ground = BO_NEW_ARRAY(ctx, unsigned char, mesh->vertex_count);
    p.pulled = BO_NEW_ARRAY(ctx, int32_t, mesh->vertex_count);
    p.first = BO_NEW_ARRAY(ctx, int32_t, mesh->vertex_count + 1);
    p.at = BO_NEW_ARRAY(ctx, int32_t, (size_t)mesh->element_count * (size_t)bough_element_node_count(mesh->type));
    p.queue = BO_NEW_ARRAY(ctx, int32_t, mesh->vertex_count);
    void *const blocks[] = {p.domain, p.taken, p.marked, p.ground, p.pulled, p.first, p.at, p.queue};
    const size_t block_count = sizeof blocks / sizeof *blocks;
    bough_status status = BOUGH_OK;
    for (size_t i = 0; i < block_count; i++)
        if (!blocks[i])
            status = BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK)
        list_elements(mesh, &p);
    for (int32_t d = 0; d < cut->split->domain_count && status == BOUGH_OK; d++)
        for (int32_t e = 0; e < cut->split->domains[d].mesh->element_count; e++)
            p.domain[cut->split->domains[d].element_map[e]] = d;
    for (int32_t d = 0; d < cut->split->domain_count && status == BOUGH_OK; d++)
        if (assembly->components[d].job->def.r > 0 && cut->split->domain_count > 1)
            status = surround_one(&p, block, d);
    for (size_t i = 0; i < block_count; i++)
        bo_free(ctx, blocks[i]);
    return status;
}
