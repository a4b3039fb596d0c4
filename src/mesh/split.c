#include "base/vec.h"
#include "mesh/generate.h"

#include <stdlib.h>
#include <string.h>

/* A vertex as one of its domains knows it. */
typedef struct copy {
    int32_t domain, local;
} copy;

/* Two domains with at least one vertex in common. */
typedef struct pair {
    int32_t domains[2];
    int32_t shared_count; /* vertices of both */
    int32_t face_count;
    double area;
    int32_t vertex_count; /* of the shared faces */
} pair;

/* A vertex of a face that the domains of a pair share. */
typedef struct pair_vertex {
    int32_t pair, vertex;
    double area; /* its share of the face's */
} pair_vertex;

typedef struct splitter {
    const bough_mesh *mesh;
    const int32_t *domain; /* -1: of none */
    bough_split *split;
    int32_t *first_element; /* domain_count + 1, into the element maps put one behind the other */
    int32_t *local_element; /* element -> its number in its domain */
    int32_t *local_vertex;  /* vertex -> its number in the domain that was made last and has it */
    int32_t *first_copy;    /* vertex_count + 1, into copies */
    copy *copies;           /* by vertex, then by domain */
    int32_t *neighbours;    /* face -> face on the other side, -1 */
    pair *pairs;            /* sorted by domains */
    size_t pair_count;
    pair_vertex *pair_vertices;
    size_t pair_vertex_count, pair_vertex_capacity;
    int32_t *items, *counts; /* of a set: its items by domain, and where each domain's begin */
} splitter;

static void discard(bough_context *ctx, splitter *s) {
    void *blocks[] = {s->first_element, s->local_element, s->local_vertex,  s->first_copy, s->copies,
                      s->neighbours,    s->pairs,         s->pair_vertices, s->items,      s->counts};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        bo_free(ctx, blocks[i]);
    bough_split_destroy(ctx, s->split);
}

void bough_split_destroy(bough_context *ctx, bough_split *split) {
    if (!split)
        return;
    for (int32_t d = 0; d < split->domain_count; d++) {
        bough_mesh_destroy(ctx, split->domains[d].mesh);
        bo_free(ctx, split->domains[d].vertex_map);
        bo_free(ctx, split->domains[d].element_map);
    }
    for (int32_t i = 0; i < split->interface_count; i++) {
        bo_free(ctx, split->interfaces[i].vertices[0]);
        bo_free(ctx, split->interfaces[i].vertices[1]);
        bo_free(ctx, split->interfaces[i].weights);
    }
    bo_free(ctx, split->domains);
    bo_free(ctx, split->interfaces);
    bo_free(ctx, split->touching);
    bo_free(ctx, split);
}

/* ---- the domains' meshes ---- */

static bough_status check_domains(bough_context *ctx, const bough_mesh *mesh, const int32_t *domain,
                                  int32_t domain_count) {
    if (mesh->type == BOUGH_TRI3)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "only volume meshes can be cut into domains; this one is a surface");
    if (domain_count < 1 || domain_count > mesh->element_count)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%d elements cannot be cut into %d domains", mesh->element_count,
                       domain_count);
    for (int32_t e = 0; e < mesh->element_count; e++)
        if (domain[e] < 0 || domain[e] >= domain_count)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "element %d is in domain %d, but there are %d domains", e,
                           domain[e], domain_count);
    return BOUGH_OK;
}

static bough_status allocate(bough_context *ctx, splitter *s, int32_t domain_count) {
    size_t elements = (size_t)s->mesh->element_count, vertices = (size_t)s->mesh->vertex_count;
    s->split = BO_NEW(ctx, bough_split);
    if (!s->split)
        return BOUGH_ERROR_MEMORY;
    s->split->domains = BO_NEW_ZEROS(ctx, bough_domain, domain_count);
    if (!s->split->domains)
        return BOUGH_ERROR_MEMORY;
    s->split->domain_count = domain_count;
    s->first_element = BO_NEW_ZEROS(ctx, int32_t, domain_count + 1);
    s->local_element = BO_NEW_ARRAY(ctx, int32_t, elements);
    s->local_vertex = BO_NEW_ZEROS(ctx, int32_t, vertices);
    s->first_copy = BO_NEW_ZEROS(ctx, int32_t, vertices + 1);
    s->counts = BO_NEW_ARRAY(ctx, int32_t, domain_count + 1);
    return s->first_element && s->local_element && s->local_vertex && s->first_copy && s->counts ? BOUGH_OK
                                                                                                 : BOUGH_ERROR_MEMORY;
}

static bough_status count_elements(bough_context *ctx, splitter *s) {
    for (int32_t e = 0; e < s->mesh->element_count; e++)
        if (s->domain[e] >= 0)
            s->local_element[e] = s->first_element[s->domain[e] + 1]++;
    for (int32_t d = 0; d < s->split->domain_count; d++) {
        if (s->first_element[d + 1] == 0)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "domain %d has no elements", d);
        s->first_element[d + 1] += s->first_element[d];
    }
    return BOUGH_OK;
}

/* Vertices of the domain, sorted; *count of them. Free with bo_free. */
static int32_t *collect_vertices(bough_context *ctx, const splitter *s, const bough_domain *domain,
                                 int32_t element_count, int32_t *count) {
    int32_t nodes = bo_element_info_of(s->mesh->type)->node_count;
    int32_t *vertices = BO_NEW_ARRAY(ctx, int32_t, (size_t)element_count * (size_t)nodes);
    if (!vertices)
        return NULL;
    for (int32_t e = 0; e < element_count; e++)
        memcpy(vertices + (size_t)e * (size_t)nodes, bo_mesh_nodes(s->mesh, domain->element_map[e]),
               (size_t)nodes * sizeof *vertices);
    *count = bo_sort_unique(vertices, element_count * nodes);
    int32_t *tight = bo_realloc(ctx, vertices, (size_t)*count, sizeof *vertices);
    if (!tight)
        bo_free(ctx, vertices);
    return tight;
}

static void fill_mesh(splitter *s, bough_domain *domain) {
    bough_mesh *mesh = domain->mesh;
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        s->local_vertex[domain->vertex_map[v]] = v;
        s->first_copy[domain->vertex_map[v] + 1]++;
        memcpy(mesh->vertices + 3 * (size_t)v, s->mesh->vertices + 3 * (size_t)domain->vertex_map[v],
               3 * sizeof(double));
    }
    int32_t nodes = bo_element_info_of(mesh->type)->node_count, *out = mesh->elements;
    for (int32_t e = 0; e < mesh->element_count; e++)
        for (int32_t k = 0; k < nodes; k++)
            *out++ = s->local_vertex[bo_mesh_nodes(s->mesh, domain->element_map[e])[k]];
}

static bough_status make_domain(bough_context *ctx, splitter *s, int32_t d) {
    bough_domain *domain = &s->split->domains[d];
    int32_t element_count = s->first_element[d + 1] - s->first_element[d], vertex_count = 0;
    domain->vertex_map = collect_vertices(ctx, s, domain, element_count, &vertex_count);
    if (!domain->vertex_map)
        return BOUGH_ERROR_MEMORY;
    BO_TRY(bo_mesh_alloc(ctx, s->mesh->type, vertex_count, element_count, &domain->mesh));
    fill_mesh(s, domain);
    int32_t *piece = BO_NEW_ARRAY(ctx, int32_t, vertex_count);
    if (!piece)
        return BOUGH_ERROR_MEMORY;
    bough_status status = bo_mesh_pieces(ctx, domain->mesh, piece, &domain->piece_count);
    bo_free(ctx, piece);
    return status;
}

static bough_status make_domains(bough_context *ctx, splitter *s) {
    for (int32_t d = 0; d < s->split->domain_count; d++) {
        bough_domain *domain = &s->split->domains[d];
        domain->element_map = BO_NEW_ARRAY(ctx, int32_t, s->first_element[d + 1] - s->first_element[d]);
        if (!domain->element_map)
            return BOUGH_ERROR_MEMORY;
    }
    for (int32_t e = 0; e < s->mesh->element_count; e++)
        if (s->domain[e] >= 0)
            s->split->domains[s->domain[e]].element_map[s->local_element[e]] = e;
    for (int32_t d = 0; d < s->split->domain_count; d++)
        BO_TRY(make_domain(ctx, s, d));
    return BOUGH_OK;
}

/* Lists the domains of every vertex, once they are all made. */
static bough_status list_copies(bough_context *ctx, splitter *s) {
    for (int32_t v = 0; v < s->mesh->vertex_count; v++)
        s->first_copy[v + 1] += s->first_copy[v];
    int32_t copy_count = s->first_copy[s->mesh->vertex_count];
    s->copies = BO_NEW_ARRAY(ctx, copy, copy_count);
    int32_t *next = s->local_vertex; /* not needed any more */
    if (!s->copies)
        return BOUGH_ERROR_MEMORY;
    memcpy(next, s->first_copy, (size_t)s->mesh->vertex_count * sizeof *next);
    for (int32_t d = 0; d < s->split->domain_count; d++) {
        const bough_domain *domain = &s->split->domains[d];
        for (int32_t v = 0; v < domain->mesh->vertex_count; v++)
            s->copies[next[domain->vertex_map[v]]++] = (copy){d, v};
    }
    return BOUGH_OK;
}

/* Returns the vertex's number in the domain; -1 if the domain does not have it. */
static int32_t local_of(const splitter *s, int32_t vertex, int32_t domain) {
    for (int32_t c = s->first_copy[vertex]; c < s->first_copy[vertex + 1]; c++)
        if (s->copies[c].domain == domain)
            return s->copies[c].local;
    return -1;
}

/* ---- sets and materials ---- */

/* Counts an item of a domain and, in the second round, puts it in its place. */
static void deal_item(splitter *s, int32_t domain, int32_t local, bool place) {
    if (place)
        s->items[s->counts[domain]] = local;
    s->counts[domain]++;
}

static void deal_items(splitter *s, const bough_set *set, bool place) {
    int32_t faces = set->kind == BOUGH_SET_FACE ? bo_element_info_of(s->mesh->type)->face_count : 1;
    for (int32_t i = 0; i < set->count; i++) {
        int32_t item = set->items[i];
        if (set->kind == BOUGH_SET_VERTEX)
            for (int32_t c = s->first_copy[item]; c < s->first_copy[item + 1]; c++)
                deal_item(s, s->copies[c].domain, s->copies[c].local, place);
        else if (s->domain[item / faces] >= 0)
            deal_item(s, s->domain[item / faces], s->local_element[item / faces] * faces + item % faces, place);
    }
}

/* All domains in one pass over the set, so that many sets in many domains stay cheap. */
static bough_status carry_set(bough_context *ctx, splitter *s, const bough_set *set) {
    int32_t domain_count = s->split->domain_count, begin = 0;
    memset(s->counts, 0, (size_t)domain_count * sizeof *s->counts);
    deal_items(s, set, false);
    for (int32_t d = 0; d < domain_count; d++) {
        int32_t count = s->counts[d];
        s->counts[d] = begin;
        begin += count;
    }
    bo_free(ctx, s->items);
    s->items = BO_NEW_ARRAY(ctx, int32_t, begin);
    if (!s->items)
        return BOUGH_ERROR_MEMORY;
    deal_items(s, set, true); /* counts[d] is now where the items of d end */
    begin = 0;
    for (int32_t d = 0; d < domain_count; begin = s->counts[d++])
        if (s->counts[d] > begin)
            BO_TRY(bough_mesh_add_set(ctx, s->split->domains[d].mesh, set->kind, set->name, s->items + begin,
                                      s->counts[d] - begin));
    return BOUGH_OK;
}

/* Regions of sets that have nothing in the domain would name a set that is not there. */
static void drop_regions(bough_context *ctx, const bough_mesh *whole, bough_mesh *mesh) {
    int32_t kept = 0;
    for (int32_t i = 0; i < mesh->region_count; i++) {
        bough_mesh_region region = mesh->regions[i];
        bool gone = bough_mesh_find_set(whole, BOUGH_SET_ELEMENT, region.set) &&
                    !bough_mesh_find_set(mesh, BOUGH_SET_ELEMENT, region.set);
        if (gone)
            bo_free(ctx, region.set);
        else
            mesh->regions[kept++] = region;
    }
    mesh->region_count = kept;
}

static bough_status carry_annotations(bough_context *ctx, splitter *s) {
    for (int32_t i = 0; i < s->mesh->set_count; i++)
        BO_TRY(carry_set(ctx, s, &s->mesh->sets[i]));
    for (int32_t d = 0; d < s->split->domain_count; d++) {
        BO_TRY(bo_mesh_copy_materials(ctx, s->mesh, s->split->domains[d].mesh));
        drop_regions(ctx, s->mesh, s->split->domains[d].mesh);
    }
    return BOUGH_OK;
}

/* ---- pairs ---- */

static int compare_pairs(const void *x, const void *y) {
    const pair *a = x, *b = y;
    int by_first = (a->domains[0] > b->domains[0]) - (a->domains[0] < b->domains[0]);
    return by_first ? by_first : (a->domains[1] > b->domains[1]) - (a->domains[1] < b->domains[1]);
}

static int compare_pair_vertices(const void *x, const void *y) {
    const pair_vertex *a = x, *b = y;
    int by_pair = (a->pair > b->pair) - (a->pair < b->pair);
    return by_pair ? by_pair : (a->vertex > b->vertex) - (a->vertex < b->vertex);
}

/* Equal pairs become one that knows how many there were. */
static size_t merge_pairs(pair *pairs, size_t count) {
    if (count)
        qsort(pairs, count, sizeof *pairs, compare_pairs);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (kept && compare_pairs(&pairs[kept - 1], &pairs[i]) == 0)
            pairs[kept - 1].shared_count += pairs[i].shared_count;
        else
            pairs[kept++] = pairs[i];
    return kept;
}

/* A pair for any two domains that have a vertex in common. Merged whenever the list is full, so that it stays about as
 * long as there are different pairs. */
static bough_status find_pairs(bough_context *ctx, splitter *s) {
    size_t capacity = 0;
    for (int32_t v = 0; v < s->mesh->vertex_count; v++)
        for (int32_t b = s->first_copy[v] + 1; b < s->first_copy[v + 1]; b++)
            for (int32_t a = s->first_copy[v]; a < b; a++) {
                if (s->pair_count == capacity) {
                    s->pair_count = merge_pairs(s->pairs, s->pair_count);
                    if (!BO_RESERVE(ctx, s->pairs, capacity, 2 * s->pair_count + 64))
                        return BOUGH_ERROR_MEMORY;
                }
                s->pairs[s->pair_count++] =
                    (pair){.domains = {s->copies[a].domain, s->copies[b].domain}, .shared_count = 1};
            }
    s->pair_count = merge_pairs(s->pairs, s->pair_count);
    return BOUGH_OK;
}

/* share: of its nodes, `count` of them: those of a triangle share its area, and all four of a quadrilateral. */
static double face_area(const bough_mesh *mesh, int32_t face, int32_t node_count, const int32_t *nodes,
                        double share[6]) {
    int32_t triangles[12], count = bo_mesh_cut_face(mesh, face, triangles);
    double total = 0;
    for (int32_t k = 0; k < node_count; k++)
        share[k] = 0;
    for (int32_t t = 0; t < count; t++) {
        bo_vec3 x[3];
        for (int c = 0; c < 3; c++)
            x[c] = bo_load3(mesh->vertices + 3 * (size_t)triangles[3 * t + c]);
        const double area = 0.5 * bo_norm(bo_cross(bo_sub(x[1], x[0]), bo_sub(x[2], x[0])));
        for (int32_t k = 0; k < node_count; k++)
            for (int c = 0; c < 3; c++)
                if (node_count != 4 && triangles[3 * t + c] == nodes[k])
                    share[k] += area / 3;
        total += area;
    }
    for (int32_t k = 0; k < node_count && node_count == 4; k++)
        share[k] = total / 4;
    return total;
}

static bough_status add_shared_face(bough_context *ctx, splitter *s, int32_t face, int32_t a, int32_t b) {
    const bo_element_info *info = bo_element_info_of(s->mesh->type);
    pair key = {.domains = {a < b ? a : b, a < b ? b : a}};
    pair *found = bsearch(&key, s->pairs, s->pair_count, sizeof key, compare_pairs);
    int32_t local[6], count = bo_element_face_nodes(s->mesh->type, face % info->face_count, local);
    if (!BO_RESERVE(ctx, s->pair_vertices, s->pair_vertex_capacity, s->pair_vertex_count + (size_t)count))
        return BOUGH_ERROR_MEMORY;
    int32_t nodes[6];
    double share[6];
    for (int32_t k = 0; k < count; k++)
        nodes[k] = bo_mesh_nodes(s->mesh, face / info->face_count)[local[k]];
    found->face_count++;
    found->area += face_area(s->mesh, face, count, nodes, share);
    for (int32_t k = 0; k < count; k++)
        if (local_of(s, nodes[k], b) >= 0) /* two tet10 may have the corners of a face in common, but not its edges */
            s->pair_vertices[s->pair_vertex_count++] = (pair_vertex){(int32_t)(found - s->pairs), nodes[k], share[k]};
    return BOUGH_OK;
}

static bough_status find_shared_faces(bough_context *ctx, splitter *s) {
    int32_t per_element = bo_element_info_of(s->mesh->type)->face_count;
    for (int32_t f = 0; f < s->mesh->element_count * per_element; f++) {
        if (s->neighbours[f] <= f)
            continue;
        int32_t a = s->domain[f / per_element], b = s->domain[s->neighbours[f] / per_element];
        if (a != b)
            BO_TRY(add_shared_face(ctx, s, f, a, b));
    }
    if (s->pair_vertex_count)
        qsort(s->pair_vertices, s->pair_vertex_count, sizeof *s->pair_vertices, compare_pair_vertices);
    size_t kept = 0;
    for (size_t i = 0; i < s->pair_vertex_count; i++)
        if (!kept || compare_pair_vertices(&s->pair_vertices[kept - 1], &s->pair_vertices[i]) != 0) {
            s->pair_vertices[kept++] = s->pair_vertices[i];
            s->pairs[s->pair_vertices[i].pair].vertex_count++;
        } else {
            s->pair_vertices[kept - 1].area += s->pair_vertices[i].area;
        }
    s->pair_vertex_count = kept;
    return BOUGH_OK;
}

/* ---- pieces that hang together by faces ---- */

static int32_t root_of(int32_t *parent, int32_t element) {
    while (parent[element] != element)
        element = parent[element] = parent[parent[element]];
    return element;
}

static bough_status count_face_pieces(bough_context *ctx, splitter *s) {
    int32_t per_element = bo_element_info_of(s->mesh->type)->face_count;
    int32_t *parent = BO_NEW_ARRAY(ctx, int32_t, s->mesh->element_count);
    if (!parent)
        return BOUGH_ERROR_MEMORY;
    for (int32_t e = 0; e < s->mesh->element_count; e++)
        parent[e] = e;
    for (int32_t f = 0; f < s->mesh->element_count * per_element; f++) {
        int32_t e = f / per_element, other = s->neighbours[f] / per_element;
        if (s->neighbours[f] > f && s->domain[e] == s->domain[other])
            parent[root_of(parent, other)] = root_of(parent, e);
    }
    for (int32_t e = 0; e < s->mesh->element_count; e++)
        s->split->domains[s->domain[e]].face_piece_count += parent[e] == e;
    bo_free(ctx, parent);
    return BOUGH_OK;
}

/* ---- the result ---- */

/* vertices: those of the pair among pair_vertices. */
static bough_status make_interface(bough_context *ctx, const splitter *s, const pair *from, const pair_vertex *vertices,
                                   bough_domain_interface *to) {
    *to = (bough_domain_interface){.domains = {from->domains[0], from->domains[1]},
                                   .vertex_count = from->vertex_count,
                                   .face_count = from->face_count,
                                   .area = from->area,
                                   .loose_vertex_count = from->shared_count - from->vertex_count};
    for (int side = 0; side < 2; side++) {
        to->vertices[side] = BO_NEW_ARRAY(ctx, int32_t, to->vertex_count);
        if (!to->vertices[side])
            return BOUGH_ERROR_MEMORY;
        for (int32_t i = 0; i < to->vertex_count; i++)
            to->vertices[side][i] = local_of(s, vertices[i].vertex, to->domains[side]);
    }
    to->weights = BO_NEW_ARRAY(ctx, double, to->vertex_count);
    if (!to->weights)
        return BOUGH_ERROR_MEMORY;
    /* none is left without a weight: a hundredth of the mean at least */
    const double least = to->area > 0 ? 0.01 * to->area / to->vertex_count : 1;
    double sum = 0;
    for (int32_t i = 0; i < to->vertex_count; i++)
        sum += to->weights[i] = vertices[i].area > least ? vertices[i].area : least;
    for (int32_t i = 0; i < to->vertex_count; i++)
        to->weights[i] /= sum;
    return BOUGH_OK;
}

static bough_status make_interfaces(bough_context *ctx, splitter *s) {
    bough_split *split = s->split;
    split->interfaces = BO_NEW_ZEROS(ctx, bough_domain_interface, s->pair_count);
    split->touching = BO_NEW_ZEROS(ctx, bough_domain_touch, s->pair_count);
    if (!split->interfaces || !split->touching)
        return BOUGH_ERROR_MEMORY;
    const pair_vertex *vertices = s->pair_vertices;
    for (size_t i = 0; i < s->pair_count; i++) {
        const pair *p = &s->pairs[i];
        if (p->face_count == 0) {
            split->touching[split->touching_count++] =
                (bough_domain_touch){{p->domains[0], p->domains[1]}, p->shared_count};
            continue;
        }
        BO_TRY(make_interface(ctx, s, p, vertices, &split->interfaces[split->interface_count++]));
        vertices += p->vertex_count;
    }
    return BOUGH_OK;
}

static bough_status find_neighbours(bough_context *ctx, splitter *s) {
    int32_t crowded;
    BO_TRY(bo_mesh_face_neighbours(ctx, s->mesh, &s->neighbours, &crowded));
    if (crowded)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "the mesh has %d faces of three or more elements, so its elements overlap; it cannot be cut "
                       "into domains",
                       crowded);
    return BOUGH_OK;
}

static bough_status cut_pieces(bough_context *ctx, splitter *s, int32_t domain_count) {
    BO_TRY(allocate(ctx, s, domain_count));
    BO_TRY(count_elements(ctx, s));
    BO_TRY(make_domains(ctx, s));
    BO_TRY(list_copies(ctx, s));
    return carry_annotations(ctx, s);
}

static bough_status find_joints(bough_context *ctx, splitter *s) {
    BO_TRY(find_neighbours(ctx, s));
    BO_TRY(count_face_pieces(ctx, s));
    BO_TRY(find_pairs(ctx, s));
    BO_TRY(find_shared_faces(ctx, s));
    return make_interfaces(ctx, s);
}

static bough_status split_mesh(bough_context *ctx, const bough_mesh *mesh, const int32_t *domain, int32_t domain_count,
                               bool with_joints, bough_split **split) {
    splitter s = {.mesh = mesh, .domain = domain};
    bough_status status = cut_pieces(ctx, &s, domain_count);
    if (status == BOUGH_OK && with_joints)
        status = find_joints(ctx, &s);
    if (status == BOUGH_OK) {
        *split = s.split;
        s.split = NULL;
    }
    discard(ctx, &s);
    return status;
}

bough_status bough_mesh_split(bough_context *ctx, const bough_mesh *mesh, const int32_t *domain, int32_t domain_count,
                              bough_split **split) {
    *split = NULL;
    BO_TRY(check_domains(ctx, mesh, domain, domain_count));
    return split_mesh(ctx, mesh, domain, domain_count, true, split);
}

bough_status bo_mesh_take_out(bough_context *ctx, const bough_mesh *mesh, const int32_t *domain, bough_split **split) {
    *split = NULL;
    return split_mesh(ctx, mesh, domain, 1, false, split);
}
