#include "base/morton.h"
#include "base/threads.h"
#include "mesh/generate.h"
#include "mesh/nearest.h"

#include <stdlib.h>
#include <string.h>

#define LEAF_SIZE 4
#define VERTICES_PER_TASK 256
#define CLOSE_ENOUGH 1e-13 /* of the volume's size: nearer than this is inside, and no other element is looked for */
#define OUTSIDE_RATIO 1e-9 /* of the volume's size: further away counts as outside */
#define WARN_RATIO 0.05    /* of the surface's size */
#define TORN_RATIO 4       /* a concave corner may double a distance; a gap makes more of it */

/* ---- embeddings ---- */

bough_status bo_embedding_create(bough_context *ctx, int32_t vertex_count, bough_embedding **out) {
    *out = NULL;
    bough_embedding *embedding = BO_NEW(ctx, bough_embedding);
    if (!embedding)
        return BOUGH_ERROR_MEMORY;
    embedding->vertex_count = vertex_count;
    embedding->elements = BO_NEW_ZEROS(ctx, int32_t, vertex_count);
    embedding->weights = BO_NEW_ZEROS(ctx, double, (size_t)vertex_count *BOUGH_MAX_ELEMENT_NODES);
    if (!embedding->elements || !embedding->weights) {
        bough_embedding_destroy(ctx, embedding);
        return BOUGH_ERROR_MEMORY;
    }
    *out = embedding;
    return BOUGH_OK;
}

void bough_embedding_destroy(bough_context *ctx, bough_embedding *embedding) {
    if (!embedding)
        return;
    bo_free(ctx, embedding->elements);
    bo_free(ctx, embedding->weights);
    bo_free(ctx, embedding);
}

/* ---- the tree of boxes ---- */

typedef struct box {
    double lower[3], upper[3];
} box;

static const box nothing = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

/* A complete binary tree over the elements in the order of a space-filling curve: node n has the children 2n and
 * 2n + 1, leaf l is node leaf_count + l and holds LEAF_SIZE elements. */
typedef struct box_tree {
    const bough_mesh *mesh;
    box whole;
    double size;           /* its diagonal, m */
    int32_t leaf_count;    /* a power of two */
    int32_t *order;        /* element_count */
    box *boxes, *elements; /* of the nodes (2 leaf_count), of the elements in their order */
} box_tree;

static box unite(box a, const box *b) {
    for (int d = 0; d < 3; d++) {
        a.lower[d] = fmin(a.lower[d], b->lower[d]);
        a.upper[d] = fmax(a.upper[d], b->upper[d]);
    }
    return a;
}

static double diagonal(const box *b) {
    return bo_norm(bo_sub(bo_load3(b->upper), bo_load3(b->lower)));
}

static void load_nodes(const bough_mesh *mesh, int32_t element, bo_vec3 nodes[BOUGH_MAX_ELEMENT_NODES]) {
    const int32_t *index = bo_mesh_nodes(mesh, element);
    for (int32_t k = 0; k < bo_element_info_of(mesh->type)->node_count; k++)
        nodes[k] = bo_load3(mesh->vertices + 3 * (size_t)index[k]);
}

static box box_of(const bough_mesh *mesh, int32_t element) {
    bo_vec3 nodes[BOUGH_MAX_ELEMENT_NODES];
    box b;
    load_nodes(mesh, element, nodes);
    bo_element_box(mesh->type, nodes, b.lower, b.upper);
    return b;
}

static void free_tree(bough_context *ctx, box_tree *tree) {
    bo_free(ctx, tree->order);
    bo_free(ctx, tree->boxes);
    bo_free(ctx, tree->elements);
}

static void element_point(const void *data, int32_t element, double x[3]) {
    box b = box_of(data, element);
    for (int d = 0; d < 3; d++)
        x[d] = 0.5 * b.lower[d] + 0.5 * b.upper[d];
}

static bough_status sort_elements(bough_context *ctx, box_tree *tree) {
    const bough_mesh *mesh = tree->mesh;
    tree->whole = nothing;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        box b = box_of(mesh, e);
        tree->whole = unite(tree->whole, &b);
    }
    tree->size = diagonal(&tree->whole);
    return bo_morton_order(ctx, mesh->element_count, element_point, mesh, tree->order);
}

static bough_status build_tree(bough_context *ctx, const bough_mesh *mesh, box_tree *tree) {
    tree->mesh = mesh;
    for (tree->leaf_count = 1; tree->leaf_count * LEAF_SIZE < mesh->element_count;)
        tree->leaf_count *= 2;
    tree->order = BO_NEW_ARRAY(ctx, int32_t, mesh->element_count);
    tree->elements = BO_NEW_ARRAY(ctx, box, mesh->element_count);
    tree->boxes = BO_NEW_ARRAY(ctx, box, 2 * (size_t)tree->leaf_count);
    if (!tree->order || !tree->elements || !tree->boxes)
        return BOUGH_ERROR_MEMORY;
    BO_TRY(sort_elements(ctx, tree));
    for (int32_t n = 0; n < 2 * tree->leaf_count; n++)
        tree->boxes[n] = nothing;
    for (int32_t i = 0; i < mesh->element_count; i++) {
        box *leaf = &tree->boxes[tree->leaf_count + i / LEAF_SIZE];
        tree->elements[i] = box_of(mesh, tree->order[i]);
        *leaf = unite(*leaf, &tree->elements[i]);
    }
    for (int32_t n = tree->leaf_count - 1; n > 0; n--)
        tree->boxes[n] = unite(tree->boxes[2 * n], &tree->boxes[2 * n + 1]);
    return BOUGH_OK;
}

/* ---- the search ---- */

/* The best element so far. A point of element 0 stands in for x so far away that squares of distances overflow. */
typedef struct candidate {
    int32_t element;
    bo_place place;
    double distance2;
} candidate;

static double box_distance2(const box *b, const double x[3]) {
    double sum = 0;
    for (int d = 0; d < 3; d++) {
        double under = b->lower[d] - x[d], over = x[d] - b->upper[d]; /* no fmax(): it is a call, and this is hot */
        double gap = under > over ? under : over;
        sum += gap > 0 ? gap * gap : 0;
    }
    return sum;
}

static void look_into_leaf(const box_tree *tree, int32_t leaf, const double x[3], double reach2, candidate *best) {
    int32_t end =
        (leaf + 1) * LEAF_SIZE < tree->mesh->element_count ? (leaf + 1) * LEAF_SIZE : tree->mesh->element_count;
    for (int32_t i = leaf * LEAF_SIZE; i < end; i++) {
        double bound = box_distance2(&tree->elements[i], x);
        if (bound >= best->distance2 || bound > reach2)
            continue;
        bo_vec3 nodes[BOUGH_MAX_ELEMENT_NODES];
        bo_place place;
        load_nodes(tree->mesh, tree->order[i], nodes);
        double distance2 = bo_nearest_in_element(tree->mesh->type, nodes, bo_load3(x), &place);
        if (distance2 < best->distance2)
            *best = (candidate){tree->order[i], place, distance2};
    }
}

/* Improves on the best by boxes whose squared distance is at most reach2. Depth first, the nearer child first: the
 * order depends on x only, so every run finds the same element. */
static void search(const box_tree *tree, const double x[3], double reach2, double enough, candidate *best) {
    struct {
        int32_t node;
        double distance2;
    } stack[64];
    int depth = 0;
    stack[depth].node = 1;
    stack[depth++].distance2 = box_distance2(&tree->boxes[1], x);
    while (depth > 0 && best->distance2 > enough) {
        int32_t node = stack[--depth].node;
        if (stack[depth].distance2 >= best->distance2 || stack[depth].distance2 > reach2)
            continue;
        if (node >= tree->leaf_count) {
            look_into_leaf(tree, node - tree->leaf_count, x, reach2, best);
            continue;
        }
        double left = box_distance2(&tree->boxes[2 * node], x), right = box_distance2(&tree->boxes[2 * node + 1], x);
        int32_t near = right < left ? 2 * node + 1 : 2 * node;
        stack[depth].node = near ^ 1;
        stack[depth++].distance2 = fmax(left, right);
        stack[depth].node = near;
        stack[depth++].distance2 = fmin(left, right);
    }
}

/* First among the elements whose boxes hold x: that is enough for a vertex inside, and spares it the nearest points of
 * elements it is not in, which cost most. */
static candidate find_nearest(const box_tree *tree, const double x[3]) {
    candidate best = {0, {{0.25, 0.25, 0.25, 0.25}}, INFINITY};
    double enough = CLOSE_ENOUGH * tree->size * CLOSE_ENOUGH * tree->size;
    search(tree, x, 0, enough, &best);
    search(tree, x, INFINITY, enough, &best);
    return best;
}

/* ---- binding ---- */

typedef struct binder {
    box_tree tree;
    const bough_mesh *surface;
    bough_embedding *embedding;
    int32_t *order;    /* of the surface's vertices along the curve: neighbours look at the same boxes */
    double *distances; /* of the surface's vertices from what holds them */
} binder;

static void bind_vertices(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    binder *b = data;
    for (int32_t i = begin; i < end; i++) {
        int32_t v = b->order[i];
        candidate best = find_nearest(&b->tree, b->surface->vertices + 3 * (size_t)v);
        b->embedding->elements[v] = best.element;
        bo_shape_weights(b->tree.mesh->type, &best.place, b->embedding->weights + BOUGH_MAX_ELEMENT_NODES * (size_t)v);
        b->distances[v] = sqrt(best.distance2);
    }
}

/* Returns the point of the volume, at rest, that holds a vertex. */
static bo_vec3 held_by(const binder *b, int32_t vertex) {
    const double *w = b->embedding->weights + BOUGH_MAX_ELEMENT_NODES * (size_t)vertex;
    bo_vec3 nodes[BOUGH_MAX_ELEMENT_NODES], x = {0, 0, 0};
    load_nodes(b->tree.mesh, b->embedding->elements[vertex], nodes);
    for (int32_t k = 0; k < bo_element_info_of(b->tree.mesh->type)->node_count; k++)
        x = bo_mul_add(x, w[k], nodes[k]);
    return x;
}

static bool is_torn(const binder *b, const int32_t *triangle) {
    if (!(b->distances[triangle[0]] + b->distances[triangle[1]] + b->distances[triangle[2]] > 0))
        return false;
    for (int c = 0; c < 3; c++) {
        int32_t i = triangle[c], j = triangle[(c + 1) % 3];
        double rest = bo_norm(
            bo_sub(bo_load3(b->surface->vertices + 3 * (size_t)i), bo_load3(b->surface->vertices + 3 * (size_t)j)));
        double held = bo_norm(bo_sub(held_by(b, i), held_by(b, j)));
        if (held > TORN_RATIO * rest + OUTSIDE_RATIO * b->tree.size)
            return true;
    }
    return false;
}

static void fill_report(const binder *b, bough_bind_report *report) {
    *report = (bough_bind_report){.farthest_vertex = -1};
    for (int32_t v = 0; v < b->surface->vertex_count; v++) {
        if (!(b->distances[v] > OUTSIDE_RATIO * b->tree.size))
            continue;
        report->outside_count++;
        if (b->distances[v] > report->largest_distance)
            report->largest_distance = b->distances[v], report->farthest_vertex = v;
    }
    for (int32_t t = 0; t < b->surface->element_count; t++) {
        const int32_t *triangle = bo_mesh_nodes(b->surface, t);
        report->degenerate_triangle_count += bo_element_sign(BOUGH_TRI3, b->surface->vertices, triangle) == 0;
        report->torn_triangle_count += is_torn(b, triangle);
    }
}

static box point_box(const double *x) {
    return (box){{x[0], x[1], x[2]}, {x[0], x[1], x[2]}};
}

static void vertex_point(const void *data, int32_t vertex, double x[3]) {
    const bough_mesh *mesh = data;
    memcpy(x, mesh->vertices + 3 * (size_t)vertex, 3 * sizeof *x);
}

static bough_status sort_vertices(bough_context *ctx, binder *b) {
    b->order = BO_NEW_ARRAY(ctx, int32_t, b->surface->vertex_count);
    return b->order ? bo_morton_order(ctx, b->surface->vertex_count, vertex_point, b->surface, b->order)
                    : BOUGH_ERROR_MEMORY;
}

static void warn_outside(bough_context *ctx, const bough_mesh *surface, const bough_bind_report *report) {
    box whole = nothing;
    for (int32_t v = 0; v < surface->vertex_count; v++) {
        box point = point_box(surface->vertices + 3 * (size_t)v);
        whole = unite(whole, &point);
    }
    if (report->outside_count && report->largest_distance > WARN_RATIO * diagonal(&whole))
        bo_warn(
            ctx,
            "%d of %d vertices of the surface lie outside of the volume mesh, vertex %d by %.3g m, where the surface "
            "is %.3g m large; they follow the nearest element, but the two may not belong together",
            report->outside_count, surface->vertex_count, report->farthest_vertex, report->largest_distance,
            diagonal(&whole));
}

static bough_status check_finite(bough_context *ctx, const bough_mesh *mesh, const char *what) {
    for (size_t i = 0; i < 3 * (size_t)mesh->vertex_count; i++)
        if (!isfinite(mesh->vertices[i]))
            return bo_fail(ctx, BOUGH_NOT_FINITE, "vertex %zu of the %s has a coordinate that is not finite", i / 3,
                           what);
    return BOUGH_OK;
}

static bough_status check_meshes(bough_context *ctx, const bough_mesh *volume, const bough_mesh *surface) {
    if (volume->type == BOUGH_TRI3)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "a surface can be bound to a volume mesh only, and this one is a surface too");
    if (surface->type != BOUGH_TRI3)
        return bo_fail(
            ctx, BOUGH_ERROR_ARGUMENT,
            "only a triangle surface can be bound; this mesh is %s (bough_mesh_surface() gives its boundary)",
            bough_element_name(surface->type));
    if (volume->element_count == 0)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the volume mesh has no elements to which a surface could be bound");
    BO_TRY(check_finite(ctx, volume, "volume mesh"));
    return check_finite(ctx, surface, "surface");
}

static bough_status bind(bough_context *ctx, binder *b, const bough_mesh *volume, bough_bind_report *report) {
    BO_TRY(build_tree(ctx, volume, &b->tree));
    BO_TRY(bo_embedding_create(ctx, b->surface->vertex_count, &b->embedding));
    b->distances = BO_NEW_ARRAY(ctx, double, b->surface->vertex_count);
    if (!b->distances)
        return BOUGH_ERROR_MEMORY;
    BO_TRY(sort_vertices(ctx, b));
    bo_parallel_for(ctx, b->surface->vertex_count, VERTICES_PER_TASK, bind_vertices, b);
    fill_report(b, report);
    warn_outside(ctx, b->surface, report);
    return BOUGH_OK;
}

bough_status bough_mesh_bind(bough_context *ctx, const bough_mesh *volume, const bough_mesh *surface,
                             bough_embedding **embedding, bough_bind_report *report) {
    *embedding = NULL;
    BO_TRY(check_meshes(ctx, volume, surface));
    bough_bind_report found;
    binder b = {.surface = surface};
    bough_status status = bind(ctx, &b, volume, &found);
    free_tree(ctx, &b.tree);
    bo_free(ctx, b.distances);
    bo_free(ctx, b.order);
    if (status != BOUGH_OK) {
        bough_embedding_destroy(ctx, b.embedding);
        return status;
    }
    *embedding = b.embedding;
    if (report)
        *report = found;
    return BOUGH_OK;
}
