/* A box that was cut into three parts, whose vertices say what belongs together; drawn, and in doubles. */
#ifndef TESTS_TREE_CUT_H
#define TESTS_TREE_CUT_H

#include "../reduce/cooked.h"

#include "tree/tree.h"

enum { PARTS = 3, R = 5 };

/* A box cut into three: a trunk, and two limbs side by side on its end. Each is cooked in axes and in a scale of its
 * own, so that its part must turn and scale it back, and the parts are not in the order of the tree. */
static const int32_t domain_of_part[PARTS] = {1, 0, 2}, trunk = 1;

typedef struct {
    bough_context *ctx;
    bough_mesh *mesh;
    bough_split *split;
    bough_component *components[PARTS]; /* by part */
    bough_part_def parts[PARTS];
    bough_tree_model *model;
    bough_tree_state *state;
    bo_mat3 axes[PARTS];
    int32_t vertex_count;
    int32_t *origin_of; /* vertex of the whole -> vertex of the box */
} cut;

static inline bo_mat3 turn(double a, double b) {
    const bo_mat3 x = {{1, 0, 0, 0, cos(a), -sin(a), 0, sin(a), cos(a)}};
    const bo_mat3 z = {{cos(b), -sin(b), 0, sin(b), cos(b), 0, 0, 0, 1}};
    return bo_mat_mul(z, x);
}

static inline bough_body *make_body(cut *c, int part, double scale) {
    const bough_mesh *from = c->split->domains[domain_of_part[part]].mesh;
    const size_t count = (size_t)from->vertex_count;
    double *x = malloc(3 * count * sizeof *x);
    for (size_t v = 0; v < count; v++)
        bo_store3(x + 3 * v, bo_scale(1 / scale, bo_mat_tvec(c->axes[part], bo_load3(from->vertices + 3 * v))));
    bough_mesh *mesh;
    bough_body *body;
    bough_body_def def = bough_default_body_def();
    def.material.young = 1e7;
    check_ok(c->ctx,
             bough_mesh_create(c->ctx, from->type, from->vertex_count, x, from->element_count, from->elements, &mesh));
    check_ok(c->ctx, bough_body_create(c->ctx, mesh, &def, &body));
    bough_mesh_destroy(c->ctx, mesh);
    free(x);
    return body;
}

/* Towards the trunk (the trunk: the vertices at x = 0) first, then towards limbs. */
static inline bough_component *cook_part(cut *c, int part, double scale, int32_t r, bool int16) {
    const int32_t domain = domain_of_part[part];
    const bough_mesh *mesh = c->split->domains[domain].mesh;
    bough_interface_def faces[PARTS] = {0};
    int32_t count = 0, *base = malloc((size_t)mesh->vertex_count * sizeof *base);
    if (part == trunk) {
        faces[count++] = (bough_interface_def){.name = "base", .vertices = base};
        for (int32_t v = 0; v < mesh->vertex_count; v++)
            if (mesh->vertices[3 * v] == 0)
                base[faces[0].vertex_count++] = v;
    }
    for (int32_t k = 0; k < c->split->interface_count; k++) {
        const bough_domain_interface *face = &c->split->interfaces[k];
        if (face->domains[0] != 0 || (domain != 0 && face->domains[1] != domain))
            continue;
        faces[count++] = (bough_interface_def){.name = face->domains[1] == 1 ? "one" : "two",
                                               .vertex_count = face->vertex_count,
                                               .vertices = face->vertices[domain != 0]};
    }
    bough_body *body = make_body(c, part, scale);
    bough_cook_def def = bough_default_cook_def();
    bough_component *component;
    def.interfaces = faces, def.interface_count = count, def.parent = 0;
    def.r = r, def.keep_volume = true, def.surface_int16 = int16;
    check_ok(c->ctx, bough_cook(c->ctx, body, NULL, &def, NULL, &component));
    bough_body_destroy(c->ctx, body);
    free(base);
    return component;
}

static inline cut make_cut(int32_t threads, int32_t limb_r, bool int16) {
    static const double scales[PARTS] = {0.5, 2, 1};
    cut c = {.ctx = test_context(threads), .axes = {turn(0.5, 1), turn(-0.3, 0.2), turn(2, -2)}};
    bough_box_def box = bough_default_box_def();
    const double size[3] = {1.2, 0.4, 0.3};
    const int32_t cells[3] = {6, 4, 3};
    memcpy(box.size, size, sizeof size), memcpy(box.cells, cells, sizeof cells);
    box.type = BOUGH_TET4;
    check_ok(c.ctx, bough_mesh_generate_box(c.ctx, &box, &c.mesh));
    int32_t *domain = calloc((size_t)c.mesh->element_count, sizeof *domain);
    for (int32_t e = 0; e < c.mesh->element_count; e++) {
        double x = 0, y = 0;
        for (int k = 0; k < 4; k++)
            x += c.mesh->vertices[3 * c.mesh->elements[4 * e + k]] / 4,
                y += c.mesh->vertices[3 * c.mesh->elements[4 * e + k] + 1] / 4;
        domain[e] = x < 0.4 ? 0 : y < 0.2 ? 1 : 2;
    }
    check_ok(c.ctx, bough_mesh_split(c.ctx, c.mesh, domain, PARTS, &c.split));
    free(domain);
    for (int i = 0; i < PARTS; i++) {
        bough_part_def *part = &c.parts[i];
        c.components[i] = cook_part(&c, i, scales[i], i == trunk ? R : limb_r, int16);
        *part = bough_default_part_def();
        part->component = i, part->scale = scales[i];
        part->parent = i == trunk ? -1 : trunk;
        bo_mat3 axes = i == trunk ? c.axes[i] : bo_mat_tmul(c.axes[trunk], c.axes[i]);
        memcpy(part->rotation, axes.m, sizeof axes.m);
    }
    for (int i = 0; i < PARTS; i++)
        if (i != trunk)
            c.parts[i].interface_index =
                bough_component_find_interface(c.components[trunk], domain_of_part[i] == 1 ? "one" : "two");
    bo_store3(c.parts[trunk].position,
              bo_mat_vec(c.axes[trunk], bo_scale(scales[trunk], bo_load3(c.components[trunk]->origin))));
    bough_tree_model_def def = bough_default_tree_model_def();
    test_weigh(def.gravity);
    def.component_count = PARTS, def.components = (const bough_component *const *)c.components;
    def.part_count = PARTS, def.parts = c.parts;
    check_ok(c.ctx, bough_tree_model_create(c.ctx, &def, &c.model));
    check_ok(c.ctx, bough_tree_state_create(c.ctx, c.model, &c.state));
    c.vertex_count = bough_tree_model_vertex_count(c.model);
    c.origin_of = malloc((size_t)c.vertex_count * sizeof *c.origin_of);
    int32_t at = 0;
    for (int i = 0; i < PARTS; i++) {
        check_int(bough_tree_model_first_vertex(c.model, i), at);
        for (int32_t v = 0; v < c.components[i]->surface.vertex_count; v++)
            c.origin_of[at++] = c.split->domains[domain_of_part[i]].vertex_map[c.components[i]->surface.mesh_vertex[v]];
    }
    check_int(at, c.vertex_count);
    return c;
}

static inline void free_cut(cut *c) {
    bough_tree_state_destroy(c->ctx, c->state);
    bough_tree_model_destroy(c->ctx, c->model);
    for (int i = 0; i < PARTS; i++)
        bough_component_destroy(c->ctx, c->components[i]);
    bough_split_destroy(c->ctx, c->split);
    bough_mesh_destroy(c->ctx, c->mesh);
    free(c->origin_of);
    bough_context_destroy(c->ctx);
}

/* Coordinates that move the surface by up to `amplitude`. */
static inline void deform(cut *c, double amplitude, uint64_t seed) {
    test_random random = {seed};
    for (int i = 0; i < PARTS; i++) {
        const bough_component *component = c->components[i];
        double largest = 1e-300, *q = c->state->q + bough_tree_model_offset(c->model, i);
        double *u = malloc(3 * sizeof *u * (size_t)component->volume.vertex_count);
        for (int32_t l = 0; l < component->r; l++)
            q[l] = test_uniform(&random, -1, 1);
        displace(component, q, u);
        for (int32_t k = 0; k < 3 * component->volume.vertex_count; k++)
            largest = fmax(largest, fabs(u[k]));
        for (int32_t l = 0; l < component->r; l++)
            q[l] *= amplitude / (largest * c->parts[i].scale);
        free(u);
    }
    check_ok(c->ctx, bough_tree_state_update(c->ctx, c->model, c->state));
}

/* All in double from the volume basis: positions, area vectors, each part for itself. */
static inline void compute_apart(cut *c, double *x, double *n) {
    memset(n, 0, 3 * (size_t)c->vertex_count * sizeof *n);
    for (int i = 0; i < PARTS; i++) {
        const bough_component *component = c->components[i];
        const bough_surface *surface = &component->surface;
        const bough_frame *frame = &c->state->frames[i];
        bo_mat3 axes;
        memcpy(axes.m, frame->pose.rotation, sizeof axes.m);
        double *u = malloc(3 * sizeof *u * (size_t)component->volume.vertex_count);
        displace(component, c->state->q + bough_tree_model_offset(c->model, i), u);
        for (int32_t v = 0; v < surface->vertex_count; v++) {
            const int32_t m = 3 * surface->mesh_vertex[v];
            bo_vec3 local = bo_add(bo_load3(component->volume.position + m), bo_load3(u + m));
            bo_store3(x + 3 * v,
                      bo_mul_add(bo_load3(frame->pose.position), c->parts[i].scale, bo_mat_vec(axes, local)));
        }
        for (int32_t t = 0; t < surface->triangle_count; t++) {
            const int32_t *corner = surface->triangles + 3 * t;
            bo_vec3 a = bo_load3(x + 3 * corner[0]);
            bo_vec3 area = bo_cross(bo_sub(bo_load3(x + 3 * corner[1]), a), bo_sub(bo_load3(x + 3 * corner[2]), a));
            for (int k = 0; k < 3; k++)
                bo_store3(n + 3 * corner[k], bo_add(bo_load3(n + 3 * corner[k]), area));
        }
        free(u);
        x += 3 * surface->vertex_count, n += 3 * surface->vertex_count;
    }
}

/* The cut says which vertices belong together: copies of one vertex of the box that is also the trunk's. */
static inline bool together(const cut *c, int32_t a, int32_t b) {
    if (a == b)
        return true;
    if (c->origin_of[a] != c->origin_of[b])
        return false;
    const int32_t first = bough_tree_model_first_vertex(c->model, trunk),
                  end = bough_tree_model_first_vertex(c->model, trunk + 1);
    for (int32_t v = first; v < end; v++)
        if (c->origin_of[v] == c->origin_of[a])
            return true;
    return false;
}

typedef struct {
    float *positions, *normals;
} drawn;

static inline drawn draw(const cut *c) {
    const size_t size = 3 * sizeof(float) * (size_t)c->vertex_count;
    drawn d = {malloc(size), malloc(size)};
    check_ok(c->ctx, bough_tree_state_surface(c->ctx, c->model, c->state, d.positions, d.normals));
    return d;
}
static inline void free_drawn(drawn *d) {
    free(d->positions), free(d->normals);
}

static inline double distance3(const float *a, bo_vec3 b) {
    return bo_norm(bo_sub(bo_v3((double)a[0], (double)a[1], (double)a[2]), b));
}

#endif
