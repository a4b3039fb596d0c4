/* Gmsh 4.1 as text. Sets are physical groups: element sets of the mesh's own dimension, face sets of dimension 2 (made
 * of triangles or quads), vertex sets of dimension 0 (made of points). An entity of Gmsh carries several groups, but an
 * element is in one entity only: so each combination of sets that occurs is an entity. A face between two elements
 * comes back as that of the element with the lower number. */
#include "base/idmap.h"
#include "mesh/formats.h"
#include "mesh/msh.h"

#include <math.h>
#include <string.h>

/* Combinations form a tree: the one above, and one set more. Number 0 is that of no sets. */
typedef struct combination {
    int32_t above, set, depth;
    int32_t entity; /* tag; 0 when no item has this combination */
} combination;

/* The combinations that the sets of one kind make of their items. */
typedef struct grouping {
    bough_set_kind kind;
    int32_t dim, gmsh_type;
    int32_t item_count;
    int32_t *of_item; /* combination */
    combination *combinations;
    size_t count, capacity;
    int32_t *first_item; /* of entity tag - 1 */
    int32_t entity_count;
    int64_t first_tag; /* of its elements in the file */
} grouping;

static void free_grouping(bough_context *ctx, grouping *g) {
    bo_free(ctx, g->of_item);
    bo_free(ctx, g->combinations);
    bo_free(ctx, g->first_item);
}

static int32_t entity_of(const grouping *g, int32_t item) {
    return g->combinations[g->of_item[item]].entity;
}

static bough_status add_combination(bough_context *ctx, grouping *g, int32_t above, int32_t set) {
    if (!BO_RESERVE(ctx, g->combinations, g->capacity, g->count + 1))
        return BOUGH_ERROR_MEMORY;
    int32_t depth = above < 0 ? 0 : g->combinations[above].depth + 1;
    g->combinations[g->count++] = (combination){above, set, depth, 0};
    return BOUGH_OK;
}

/* Moves the items of a set from their combinations to those with this set more. */
static bough_status apply_set(bough_context *ctx, grouping *g, const bough_set *set, int32_t number, bo_idmap *below) {
    for (int32_t i = 0; i < set->count; i++) {
        int32_t above = g->of_item[set->items[i]], found;
        BO_TRY(bo_idmap_add(ctx, below, above, (int32_t)g->count, &found));
        if (found < 0) {
            found = (int32_t)g->count;
            BO_TRY(add_combination(ctx, g, above, number));
        }
        g->of_item[set->items[i]] = found;
    }
    return BOUGH_OK;
}

static bough_status number_entities(bough_context *ctx, grouping *g, const char *path) {
    g->first_item = BO_NEW_ARRAY(ctx, int32_t, g->count);
    if (!g->first_item)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < g->item_count; i++) {
        combination *c = &g->combinations[g->of_item[i]];
        if (c->entity || (c->depth == 0 && g->kind != BOUGH_SET_ELEMENT))
            continue;
        if (c->depth > BO_MSH_GROUPS_OF_ENTITY)
            return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "%s: an item is in more than %d sets of the mesh", path,
                           BO_MSH_GROUPS_OF_ENTITY);
        g->first_item[g->entity_count] = i;
        c->entity = ++g->entity_count;
    }
    return BOUGH_OK;
}

static bough_status make_grouping(bough_context *ctx, const bough_mesh *mesh, const char *path, grouping *g) {
    g->of_item = BO_NEW_ZEROS(ctx, int32_t, g->item_count);
    if (!g->of_item)
        return BOUGH_ERROR_MEMORY;
    BO_TRY(add_combination(ctx, g, -1, -1));
    for (int32_t s = 0; s < mesh->set_count; s++) {
        if (mesh->sets[s].kind != g->kind)
            continue;
        bo_idmap below = {0};
        bough_status status = apply_set(ctx, g, &mesh->sets[s], s, &below);
        bo_idmap_free(ctx, &below);
        BO_TRY(status);
    }
    return number_entities(ctx, g, path);
}

/* ---- text ---- */

/* A surface has no face sets. */
static bool is_written(const bough_mesh *mesh, const bough_set *set) {
    return mesh->type != BOUGH_TRI3 || set->kind != BOUGH_SET_FACE;
}

static bough_status write_names(bough_context *ctx, const bough_mesh *mesh, const char *path, FILE *f) {
    int32_t count = 0;
    for (int32_t s = 0; s < mesh->set_count; s++) {
        count += is_written(mesh, &mesh->sets[s]);
        if (strpbrk(mesh->sets[s].name, "\r\n"))
            return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "%s: the name of set %d has a line break", path, s);
    }
    if (!count)
        return BOUGH_OK;
    fprintf(f, "$PhysicalNames\n%d\n", count);
    for (int32_t s = 0; s < mesh->set_count; s++) {
        bough_set_kind kind = mesh->sets[s].kind;
        int dim = kind == BOUGH_SET_VERTEX ? 0 : kind == BOUGH_SET_FACE || mesh->type == BOUGH_TRI3 ? 2 : 3;
        if (is_written(mesh, &mesh->sets[s]))
            fprintf(f, "%d %d \"%s\"\n", dim, s + 1, mesh->sets[s].name);
    }
    fprintf(f, "$EndPhysicalNames\n");
    return BOUGH_OK;
}

static void write_groups(const grouping *g, int32_t item, FILE *f) {
    const combination *c = &g->combinations[g->of_item[item]];
    fprintf(f, " %d", c->depth);
    for (; c->depth; c = &g->combinations[c->above])
        fprintf(f, " %d", c->set + 1);
}

static void write_point(const double *x, FILE *f) {
    fprintf(f, "%.17g %.17g %.17g", x[0], x[1], x[2]);
}

static void write_entities(const bough_mesh *mesh, const grouping *groupings, FILE *f) {
    int32_t counts[4] = {0};
    double lower[3] = {0}, upper[3] = {0};
    for (int i = 0; i < 3; i++)
        counts[groupings[i].dim] += groupings[i].entity_count;
    for (int32_t i = 0; i < 3 * mesh->vertex_count; i++) {
        int d = i % 3;
        lower[d] = i < 3 ? mesh->vertices[i] : fmin(lower[d], mesh->vertices[i]);
        upper[d] = i < 3 ? mesh->vertices[i] : fmax(upper[d], mesh->vertices[i]);
    }
    fprintf(f, "$Entities\n%d %d %d %d\n", counts[0], counts[1], counts[2], counts[3]);
    for (int i = 0; i < 3; i++)
        for (int32_t e = 0; e < groupings[i].entity_count; e++) {
            int32_t item = groupings[i].first_item[e];
            fprintf(f, "%d ", e + 1);
            write_point(groupings[i].dim ? lower : mesh->vertices + 3 * item, f);
            if (groupings[i].dim) {
                fputc(' ', f);
                write_point(upper, f);
            }
            write_groups(&groupings[i], item, f);
            fputs(groupings[i].dim ? " 0\n" : "\n", f);
        }
    fprintf(f, "$EndEntities\n");
}

static bough_status write_nodes(bough_context *ctx, const bough_mesh *mesh, int32_t dim, FILE *f) {
    fprintf(f, "$Nodes\n1 %d 1 %d\n%d 1 0 %d\n", mesh->vertex_count, mesh->vertex_count, dim, mesh->vertex_count);
    for (int32_t v = 0; v < mesh->vertex_count; v++)
        fprintf(f, "%d\n", v + 1);
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        write_point(mesh->vertices + 3 * (size_t)v, f);
        fputc('\n', f);
        BO_TRY(bo_mesh_go_on(ctx, "writing vertices", (size_t)v, (size_t)mesh->vertex_count));
    }
    fprintf(f, "$EndNodes\n");
    return BOUGH_OK;
}

static int32_t edge_node(const bough_mesh *mesh, const int32_t *nodes, int32_t a, int32_t b) {
    const bo_element_info *info = bo_element_info_of(mesh->type);
    for (int32_t e = 0; e < info->edge_count; e++)
        if ((info->edges[e][0] == a && info->edges[e][1] == b) || (info->edges[e][0] == b && info->edges[e][1] == a))
            return nodes[info->corner_count + e];
    return -1;
}

static void write_face(const bough_mesh *mesh, int32_t face, FILE *f) {
    const bo_element_info *info = bo_element_info_of(mesh->type);
    const int32_t *nodes = bo_mesh_nodes(mesh, face / info->face_count);
    const int32_t *corners = info->faces[face % info->face_count];
    int32_t n = info->face_corner_count;
    for (int32_t i = 0; i < n; i++)
        fprintf(f, " %d", nodes[corners[i]] + 1);
    if (mesh->type == BOUGH_TET10)
        for (int32_t i = 0; i < n; i++)
            fprintf(f, " %d", edge_node(mesh, nodes, corners[i], corners[(i + 1) % n]) + 1);
}

static void write_element(const bough_mesh *mesh, int32_t element, FILE *f) {
    const int32_t *nodes = bo_mesh_nodes(mesh, element);
    int32_t n = bough_element_node_count(mesh->type);
    for (int32_t i = 0; i < n; i++) {
        /* Gmsh has edge 23 before 13. */
        int32_t k = mesh->type == BOUGH_TET10 && i >= 8 ? 17 - i : i;
        fprintf(f, " %d", nodes[k] + 1);
    }
}

/* A block is a run of items with one entity (items without one do not count), so that the order of the elements is kept
 * although an entity may then have several blocks. Returns where the next run begins. */
static int32_t find_run(const grouping *g, int32_t begin, int32_t *entity, int32_t *length) {
    *entity = *length = 0;
    for (; begin < g->item_count; begin++) {
        int32_t next = entity_of(g, begin);
        if (next && *entity && next != *entity)
            break;
        if (next)
            *entity = next, ++*length;
    }
    return begin;
}

static bough_status write_blocks(bough_context *ctx, const bough_mesh *mesh, const grouping *g, FILE *f) {
    int64_t tag = g->first_tag;
    for (int32_t begin = 0, end, entity, length; begin < g->item_count; begin = end) {
        end = find_run(g, begin, &entity, &length);
        if (!length)
            break;
        fprintf(f, "%d %d %d %d\n", g->dim, entity, g->gmsh_type, length);
        for (int32_t i = begin; i < end; i++) {
            if (!entity_of(g, i))
                continue;
            fprintf(f, "%lld", (long long)tag++);
            if (g->kind == BOUGH_SET_ELEMENT)
                write_element(mesh, i, f);
            else if (g->kind == BOUGH_SET_FACE)
                write_face(mesh, i, f);
            else
                fprintf(f, " %d", i + 1);
            fputc('\n', f);
            BO_TRY(bo_mesh_go_on(ctx, "writing elements", (size_t)i, (size_t)g->item_count));
        }
    }
    return BOUGH_OK;
}

/* Elements are numbered first, though points and faces stand before them. */
static bough_status write_elements(bough_context *ctx, const bough_mesh *mesh, grouping *groupings, FILE *f) {
    int64_t blocks = 0, total = 0;
    for (int i = 2; i >= 0; i--) {
        grouping *g = &groupings[i];
        g->first_tag = total + 1;
        for (int32_t begin = 0, entity, length; begin<g->item_count; total += length, blocks += length> 0)
            begin = find_run(g, begin, &entity, &length);
    }
    fprintf(f, "$Elements\n%lld %lld 1 %lld\n", (long long)blocks, (long long)total, (long long)total);
    for (int i = 0; i < 3; i++)
        BO_TRY(write_blocks(ctx, mesh, &groupings[i], f));
    fprintf(f, "$EndElements\n");
    return BOUGH_OK;
}

bough_status bo_write_msh(bough_context *ctx, const bough_mesh *mesh, const char *path, FILE *stream) {
    static const int32_t element_types[] = {[BOUGH_TRI3] = 2, [BOUGH_TET4] = 4, [BOUGH_TET10] = 11, [BOUGH_HEX8] = 5};
    static const int32_t face_types[] = {[BOUGH_TRI3] = 2, [BOUGH_TET4] = 2, [BOUGH_TET10] = 9, [BOUGH_HEX8] = 3};
    int32_t dim = mesh->type == BOUGH_TRI3 ? 2 : 3;
    grouping groupings[3] = {
        {.kind = BOUGH_SET_VERTEX, .dim = 0, .gmsh_type = 15, .item_count = mesh->vertex_count},
        {.kind = BOUGH_SET_FACE,
         .dim = 2,
         .gmsh_type = face_types[mesh->type],
         .item_count = mesh->element_count * bough_element_face_count(mesh->type)},
        {.kind = BOUGH_SET_ELEMENT,
         .dim = dim,
         .gmsh_type = element_types[mesh->type],
         .item_count = mesh->element_count},
    };
    bough_status status = BOUGH_OK;
    for (int i = 0; i < 3 && status == BOUGH_OK; i++)
        status = make_grouping(ctx, mesh, path, &groupings[i]);
    if (status == BOUGH_OK) {
        fprintf(stream, "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n");
        status = write_names(ctx, mesh, path, stream);
    }
    if (status == BOUGH_OK) {
        write_entities(mesh, groupings, stream);
        status = write_nodes(ctx, mesh, dim, stream);
    }
    if (status == BOUGH_OK)
        status = write_elements(ctx, mesh, groupings, stream);
    for (int i = 0; i < 3; i++)
        free_grouping(ctx, &groupings[i]);
    return status;
}
