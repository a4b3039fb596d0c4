/* A dragon: one mesh of tets, cut into 40 domains by its bones. */
#include "example_dragon.h"

#include <stdlib.h>
#include <string.h>

enum { DRAGON_R = 454 };   /* as the paper's */
#define DRAGON_CELL 0.0300 /* m: about 160,000 tets, as the paper's */
/* All that moves of the belly, which is held, is its own bending: with a share as small as the others' (13) it is seen
 * to be poor. */
#define OF_BELLY ", \"of\": {\"belly\": 18}"
#define GROUND_HEIGHT 0.06 /* m: up to here the belly rests on the ground */

/* ---- domains ---- */

typedef struct cutting {
    const dragon_shape *shape;
    const bough_mesh *mesh;
    int32_t *domain;        /* of each tet */
    int32_t *first, *tets;  /* those at vertex v: tets[first[v]] .. tets[first[v + 1] - 1] */
    int32_t *piece, *stack; /* of each tet: pieces of domains */
    int32_t depth[DRAGON_DOMAINS];
} cutting;

static const int32_t *corners_of(const cutting *c, int32_t tet) {
    return c->mesh->elements + 4 * (size_t)tet;
}

static bool create_cutting(cutting *c) {
    const size_t tets = (size_t)c->mesh->element_count, vertices = (size_t)c->mesh->vertex_count;
    c->domain = malloc(tets * sizeof *c->domain);
    c->first = calloc(vertices + 2, sizeof *c->first);
    c->tets = malloc(4 * tets * sizeof *c->tets);
    c->piece = malloc(tets * sizeof *c->piece);
    c->stack = malloc(tets * sizeof *c->stack);
    return c->domain && c->first && c->tets && c->piece && c->stack;
}

static void free_cutting(cutting *c) {
    free(c->domain), free(c->first), free(c->tets), free(c->piece), free(c->stack);
}

static void list_tets_at_vertices(cutting *c) {
    const int32_t count = 4 * c->mesh->element_count;
    int32_t *end = c->first + 1; /* grows from the beginning of v's tets to their end, which is that of first[v + 1] */
    for (int32_t i = 0; i < count; i++)
        end[c->mesh->elements[i] + 1]++;
    for (int32_t v = 0; v < c->mesh->vertex_count; v++)
        end[v + 1] += end[v];
    for (int32_t i = 0; i < count; i++)
        c->tets[end[c->mesh->elements[i]]++] = i / 4;
}

static v3 middle_of(const cutting *c, int32_t tet) {
    v3 sum = {0, 0, 0};
    for (int i = 0; i < 4; i++) {
        const double *x = c->mesh->vertices + 3 * (size_t)corners_of(c, tet)[i];
        sum = v3_add(sum, (v3){x[0], x[1], x[2]});
    }
    return v3_scale(0.25, sum);
}

static bool has_corner(const cutting *c, int32_t tet, int32_t vertex) {
    const int32_t *v = corners_of(c, tet);
    return v[0] == vertex || v[1] == vertex || v[2] == vertex || v[3] == vertex;
}

/* The tet behind the face opposite to a corner, or -1. */
static int32_t neighbour(const cutting *c, int32_t tet, int corner) {
    const int32_t *v = corners_of(c, tet), a = v[(corner + 1) % 4], b = v[(corner + 2) % 4], d = v[(corner + 3) % 4];
    for (int32_t i = c->first[a]; i < c->first[a + 1]; i++)
        if (c->tets[i] != tet && has_corner(c, c->tets[i], b) && has_corner(c, c->tets[i], d))
            return c->tets[i];
    return -1;
}

/* Marks the tets of the same domain that are joined to this one by faces; returns how many, and of the domains that
 * they share a face with the one nearest to the root. */
static int32_t flood(cutting *c, int32_t seed, int32_t number, int32_t *other) {
    int32_t count = 0, top = 0;
    c->stack[top++] = seed;
    c->piece[seed] = number;
    *other = -1;
    while (top > 0) {
        const int32_t tet = c->stack[--top];
        count++;
        for (int i = 0; i < 4; i++) {
            const int32_t next = neighbour(c, tet, i);
            if (next < 0)
                continue;
            const int32_t d = c->domain[next];
            if (d != c->domain[tet])
                *other = *other < 0 || c->depth[d] < c->depth[*other] ? d : *other;
            else if (c->piece[next] < 0) {
                c->piece[next] = number;
                c->stack[top++] = next;
            }
        }
    }
    return count;
}

/* Keeps the largest piece of each domain and gives the others to a neighbour. */
static bool join_pieces(cutting *c) {
    enum { MOST = 4096 };
    static int32_t size[MOST], other[MOST], of[MOST];
    int32_t count = 0, largest[DRAGON_DOMAINS];
    bool changed = false;
    for (int32_t d = 0; d < DRAGON_DOMAINS; d++)
        largest[d] = -1;
    for (int32_t t = 0; t < c->mesh->element_count; t++)
        c->piece[t] = -1;
    for (int32_t t = 0; t < c->mesh->element_count && count < MOST; t++) {
        if (c->piece[t] >= 0)
            continue;
        const int32_t d = of[count] = c->domain[t];
        size[count] = flood(c, t, count, &other[count]);
        if (largest[d] < 0 || size[count] > size[largest[d]])
            largest[d] = count;
        count++;
    }
    for (int32_t t = 0; t < c->mesh->element_count; t++) {
        const int32_t p = c->piece[t];
        if (p >= 0 && p != largest[of[p]] && other[p] >= 0)
            c->domain[t] = other[p], changed = true;
    }
    return changed;
}

static bool joined(const cutting *c, int32_t a, int32_t b) {
    return a == b || c->shape->domains[a].parent == b || c->shape->domains[b].parent == a;
}

/* If domains that are no neighbours in the tree meet at a vertex, the one further out gives way to its parent. */
static bool part_strangers(cutting *c, int32_t vertex) {
    const int32_t begin = c->first[vertex], end = c->first[vertex + 1];
    int32_t outer = -1;
    for (int32_t i = begin; i < end; i++)
        for (int32_t j = begin; j < i; j++) {
            const int32_t a = c->domain[c->tets[i]], b = c->domain[c->tets[j]];
            if (!joined(c, a, b))
                outer = c->depth[a] > c->depth[b] || (c->depth[a] == c->depth[b] && a > b) ? a : b;
        }
    if (outer < 0)
        return false;
    for (int32_t i = begin; i < end; i++)
        if (c->domain[c->tets[i]] == outer)
            c->domain[c->tets[i]] = c->shape->domains[outer].parent;
    return true;
}

/* The nearest bone says what a tet belongs to; then what is not a tree of whole pieces is mended. Domains that give
 * way only move towards the root, so that this ends. */
static void cut(cutting *c) {
    enum { ROUNDS = 100 };
    list_tets_at_vertices(c);
    for (int32_t d = 0; d < DRAGON_DOMAINS; d++)
        for (int32_t p = c->shape->domains[d].parent; p >= 0; p = c->shape->domains[p].parent)
            c->depth[d]++;
    for (int32_t t = 0; t < c->mesh->element_count; t++)
        c->domain[t] = dragon_nearest(c->shape, middle_of(c, t));
    bool changed = true;
    for (int round = 0; round < ROUNDS && changed; round++) {
        changed = join_pieces(c);
        for (int32_t v = 0; v < c->mesh->vertex_count; v++)
            changed = part_strangers(c, v) || changed;
    }
}

/* ---- the mesh ---- */

static bough_status add_domains(bough_context *ctx, const cutting *c, bough_mesh *mesh) {
    bough_status s = BOUGH_OK;
    for (int32_t d = 0; d < DRAGON_DOMAINS && !s; d++) {
        int32_t count = 0;
        for (int32_t t = 0; t < mesh->element_count; t++)
            if (c->domain[t] == d)
                c->stack[count++] = t;
        s = bough_mesh_add_set(ctx, mesh, BOUGH_SET_ELEMENT, c->shape->domains[d].name, c->stack, count);
    }
    return s;
}

/* Makes the vertex set of the root's surface near the ground. */
static bough_status add_ground(bough_context *ctx, const cutting *c, bough_mesh *mesh) {
    int32_t count = 0;
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        bool of_root = false;
        for (int32_t i = c->first[v]; i < c->first[v + 1]; i++)
            of_root = of_root || c->domain[c->tets[i]] == DRAGON_ROOT;
        if (of_root && mesh->vertices[3 * (size_t)v + 2] < GROUND_HEIGHT)
            c->stack[count++] = v;
    }
    return bough_mesh_add_set(ctx, mesh, BOUGH_SET_VERTEX, "ground", c->stack, count);
}

static bough_status make_mesh(bough_context *ctx, dragon_shape *shape, bough_mesh **mesh) {
    bough_implicit_def def = bough_default_implicit_def();
    def.distance = dragon_distance, def.user = shape, def.cell = DRAGON_CELL;
    const double lower[3] = {-1.7, -1.4, -0.1}, upper[3] = {1.4, 1.4, 1.6};
    memcpy(def.lower, lower, sizeof lower), memcpy(def.upper, upper, sizeof upper);
    bough_status s = bough_mesh_generate_implicit(ctx, &def, mesh);
    if (s)
        return s;
    cutting c = {.shape = shape, .mesh = *mesh};
    if (create_cutting(&c)) {
        cut(&c);
        s = add_domains(ctx, &c, *mesh);
        if (!s)
            s = add_ground(ctx, &c, *mesh);
    } else
        s = BOUGH_ERROR_MEMORY;
    free_cutting(&c);
    if (s)
        bough_mesh_destroy(ctx, *mesh);
    return s;
}

/* ---- a mesh of the user's ---- */

/* Returns the score of a domain as the root: its vertices on the ground, or its size. */
static int32_t weight_of(const bough_mesh *mesh, const bough_domain *domain) {
    if (!bough_mesh_find_set(mesh, BOUGH_SET_VERTEX, "ground"))
        return domain->mesh->element_count;
    const bough_set *ground = bough_mesh_find_set(domain->mesh, BOUGH_SET_VERTEX, "ground");
    return ground ? ground->count : 0;
}

static int32_t choose_root(const bough_mesh *mesh, const bough_split *split) {
    int32_t root = 0;
    for (int32_t d = 1; d < split->domain_count; d++)
        if (weight_of(mesh, &split->domains[d]) > weight_of(mesh, &split->domains[root]))
            root = d;
    return root;
}

/* The vertex set "ground" of a mesh that has none: what is lowest of the root. */
static bough_status lay_down(bough_context *ctx, bough_mesh *mesh, const bough_domain *root) {
    const bough_mesh *of = root->mesh;
    double low = INFINITY, high = -INFINITY;
    for (int32_t v = 0; v < of->vertex_count; v++)
        low = fmin(low, of->vertices[3 * (size_t)v + 2]), high = fmax(high, of->vertices[3 * (size_t)v + 2]);
    int32_t count = 0, *lowest = malloc((size_t)of->vertex_count * sizeof *lowest);
    if (!lowest)
        return BOUGH_ERROR_MEMORY;
    for (int32_t v = 0; v < of->vertex_count; v++)
        if (of->vertices[3 * (size_t)v + 2] <= low + 0.15 * (high - low))
            lowest[count++] = root->vertex_map[v];
    bough_status s = bough_mesh_add_set(ctx, mesh, BOUGH_SET_VERTEX, "ground", lowest, count);
    free(lowest);
    return s;
}

/* Domains must be a tree; better told here than when it is cooked. */
static bough_status check_tree(bough_context *ctx, const bough_split *split, int32_t root) {
    int32_t *numbers = malloc(2 * (size_t)split->domain_count * sizeof *numbers);
    bough_status s =
        numbers ? bough_mesh_domain_tree(ctx, split, root, numbers, numbers + split->domain_count) : BOUGH_ERROR_MEMORY;
    free(numbers);
    return s;
}

static int take_domains(bough_context *ctx, bough_mesh *mesh, int32_t *root) {
    int32_t *domain, count;
    bough_split *split;
    if (bough_mesh_domains_from_sets(ctx, mesh, NULL, 0, &domain, &count))
        return app_fail(ctx);
    bough_status s = bough_mesh_split(ctx, mesh, domain, count, &split);
    bough_release(ctx, domain);
    if (s)
        return app_fail(ctx);
    *root = choose_root(mesh, split);
    s = check_tree(ctx, split, *root);
    if (!s && !bough_mesh_find_set(mesh, BOUGH_SET_VERTEX, "ground"))
        s = lay_down(ctx, mesh, &split->domains[*root]);
    bough_split_destroy(ctx, split);
    return s ? app_fail(ctx) : APP_OK;
}

static bool has_domains(const bough_mesh *mesh) {
    for (int32_t i = 0; i < mesh->set_count; i++)
        if (mesh->sets[i].kind == BOUGH_SET_ELEMENT)
            return true;
    return false;
}

static int read_scan(bough_context *ctx, const example *e, bough_mesh **mesh, int32_t *root) {
    if (bough_mesh_read(ctx, e->mesh, NULL, mesh))
        return app_fail(ctx);
    int status = APP_FAILED;
    if ((*mesh)->type == BOUGH_TRI3)
        app_fail_with("%s is a surface; the dragon needs a volume mesh whose element sets are its domains (bough mesh "
                      "generate tets makes volumes, gmsh's physical groups name domains)",
                      e->mesh);
    else if (!has_domains(*mesh))
        app_fail_with(
            "%s has no element sets; each domain of the dragon is one (in gmsh: a physical group with a name)",
            e->mesh);
    else
        status = take_domains(ctx, *mesh, root);
    if (status != APP_OK)
        bough_mesh_destroy(ctx, *mesh);
    return status;
}

/* ---- the scene ---- */

/* The name of element set number `domain`. */
static const char *domain_name(const bough_mesh *mesh, int32_t domain) {
    for (int32_t i = 0;; i++)
        if (mesh->sets[i].kind == BOUGH_SET_ELEMENT && domain-- == 0)
            return mesh->sets[i].name;
}

static void write_paint(FILE *stream, const dragon_shape *shape) {
    const char *comma = "";
    fprintf(stream, ",\n  \"paint\": [");
    for (int32_t d = 0; d < shape->domain_count; d++)
        if (shape->domains[d].stiffness != 1) {
            fprintf(stream, "%s{\"parts\": \"%s\", \"stiffness\": %g}", comma, shape->domains[d].name,
                    shape->domains[d].stiffness);
            comma = ",\n            ";
        }
    fprintf(stream, "]");
}

/* Its nose and its tail are pulled, and looked at; one wing is pushed down. */
static void write_play(FILE *stream) {
    static const char nose[] = "\"part\": \"snout\", \"nearest\": [1.22, 0, 1.16]";
    static const char tail[] = "\"part\": \"tail4\", \"nearest\": [-1.17, 1.24, 0.72]";
    fprintf(stream,
            ",\n  \"forces\": [{%s, \"force\": [0, 250, 100], \"from\": 0.3, \"until\": 0.7},\n"
            "             {%s, \"force\": [0, -40, 40], \"from\": 0.3, \"until\": 0.6},\n"
            "             {\"part\": \"wing3_right\", \"nearest\": [-0.12, -1.12, 1.34], \"force\": [0, 0, -80], "
            "\"from\": 1.2, \"until\": 1.5}],\n"
            "  \"probes\": [{\"name\": \"nose\", %s},\n             {\"name\": \"tail\", %s}]",
            nose, tail, nose, tail);
}

/* shape: NULL for a mesh of the user's, about whose domains nothing is known. */
static bool write_scene(const example *e, const dragon_shape *shape, const char *root) {
    example_file file;
    if (!example_open(e, "scene.json", &file))
        return false;
    json_t *name = json_string(root); /* as the user wrote it, quoted for JSON */
    char *quoted = name ? json_dumps(name, JSON_ENCODE_ANY) : NULL;
    fprintf(file.stream,
            "{\n  \"bough\": 1,\n  \"name\": \"a dragon of %d domains, cut from one mesh\",\n  \"object\": {\n"
            "    \"mesh\": \"dragon.msh\",\n"
            "    \"material\": {\"model\": \"stvk\", \"young\": 1e7, \"poisson\": 0.4, \"density\": 500},\n"
            "    \"damping\": {\"mass\": 0.1, \"stiffness\": 0.002},\n"
            "    \"root\": %s,\n    \"fix\": \"ground\",\n    \"basis\": {\"total\": %d%s},\n",
            e->parts, quoted ? quoted : "\"\"", e->coordinates, shape ? OF_BELLY : "");
    fprintf(file.stream,
            "    \"samples\": {\"wind\": 8}\n  },\n"
            "  \"gravity\": [0, 0, -9.81],\n  \"wind\": {\"velocity\": [-6, 5, 0], \"gust\": 0.5, \"seed\": 3},\n"
            "  \"engine\": {\"kind\": \"tree\", \"coupling\": \"L3\"},\n"
            "  \"time\": {\"integrator\": \"hht\", \"alpha\": -0.05, \"dt\": 0.0041666666666666666, \"duration\": "
            "10},\n  \"settle\": true");
    if (shape) {
        write_paint(file.stream, shape);
        write_play(file.stream);
    }
    fprintf(file.stream, "\n}\n");
    const bool good = quoted != NULL;
    free(quoted);
    json_decref(name);
    return example_close(&file, good);
}

static int write_all(bough_context *ctx, example *e, const dragon_shape *shape, bough_mesh *mesh, int32_t root) {
    e->parts = 0;
    for (int32_t i = 0; i < mesh->set_count; i++)
        e->parts += mesh->sets[i].kind == BOUGH_SET_ELEMENT;
    e->coordinates = (e->parts * DRAGON_R + DRAGON_DOMAINS - 1) / DRAGON_DOMAINS;
    const bool written = write_scene(e, shape, domain_name(mesh, root));
    bough_status s = example_count_surfaces(ctx, mesh, e);
    if (s) {
        bough_mesh_destroy(ctx, mesh);
        return app_fail(ctx);
    }
    return example_write_mesh(ctx, e, mesh, "dragon.msh") ? app_fail(ctx) : written ? APP_OK : APP_FAILED;
}

int example_dragon(bough_context *ctx, example *e) {
    bough_mesh *mesh;
    int32_t root = DRAGON_ROOT;
    if (e->mesh)
        return read_scan(ctx, e, &mesh, &root) == APP_OK ? write_all(ctx, e, NULL, mesh, root) : APP_FAILED;
    dragon_shape shape;
    dragon_make(&shape);
    if (make_mesh(ctx, &shape, &mesh))
        return app_fail(ctx);
    return write_all(ctx, e, &shape, mesh, root);
}
