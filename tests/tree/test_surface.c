/* The surface of the whole: numbers, positions, normals and seams, against doubles from the volume basis. */
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
    bough_model *model;
    bough_state *state;
    bo_mat3 axes[PARTS];
    int32_t vertex_count;
    int32_t *origin_of; /* vertex of the whole -> vertex of the box */
} cut;

static bo_mat3 turn(double a, double b) {
    const bo_mat3 x = {{1, 0, 0, 0, cos(a), -sin(a), 0, sin(a), cos(a)}};
    const bo_mat3 z = {{cos(b), -sin(b), 0, sin(b), cos(b), 0, 0, 0, 1}};
    return bo_mat_mul(z, x);
}

static bough_body *make_body(cut *c, int part, double scale) {
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
static bough_component *cook_part(cut *c, int part, double scale, int32_t r, bool int16) {
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
    check_ok(c->ctx, bough_cook(c->ctx, body, &def, NULL, &component));
    bough_body_destroy(c->ctx, body);
    free(base);
    return component;
}

static cut make_cut(int32_t threads, int32_t limb_r, bool int16) {
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
            c.parts[i].interface =
                bough_component_find_interface(c.components[trunk], domain_of_part[i] == 1 ? "one" : "two");
    bo_store3(c.parts[trunk].position,
              bo_mat_vec(c.axes[trunk], bo_scale(scales[trunk], bo_load3(c.components[trunk]->origin))));
    bough_model_def def = bough_default_model_def();
    def.component_count = PARTS, def.components = (const bough_component *const *)c.components;
    def.part_count = PARTS, def.parts = c.parts;
    check_ok(c.ctx, bough_model_create(c.ctx, &def, &c.model));
    check_ok(c.ctx, bough_state_create(c.ctx, c.model, &c.state));
    c.vertex_count = bough_model_vertex_count(c.model);
    c.origin_of = malloc((size_t)c.vertex_count * sizeof *c.origin_of);
    int32_t at = 0;
    for (int i = 0; i < PARTS; i++) {
        check_int(bough_model_first_vertex(c.model, i), at);
        for (int32_t v = 0; v < c.components[i]->surface.vertex_count; v++)
            c.origin_of[at++] = c.split->domains[domain_of_part[i]].vertex_map[c.components[i]->surface.mesh_vertex[v]];
    }
    check_int(at, c.vertex_count);
    return c;
}

static void free_cut(cut *c) {
    bough_state_destroy(c->ctx, c->state);
    bough_model_destroy(c->ctx, c->model);
    for (int i = 0; i < PARTS; i++)
        bough_component_destroy(c->ctx, c->components[i]);
    bough_split_destroy(c->ctx, c->split);
    bough_mesh_destroy(c->ctx, c->mesh);
    free(c->origin_of);
    bough_context_destroy(c->ctx);
}

/* Coordinates that move the surface by up to `amplitude`. */
static void deform(cut *c, double amplitude, uint64_t seed) {
    test_random random = {seed};
    for (int i = 0; i < PARTS; i++) {
        const bough_component *component = c->components[i];
        double largest = 1e-300, *q = c->state->q + bough_model_offset(c->model, i);
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
    check_ok(c->ctx, bough_state_update(c->ctx, c->model, c->state));
}

/* All in double from the volume basis: positions, area vectors, each part for itself. */
static void compute_apart(cut *c, double *x, double *n) {
    memset(n, 0, 3 * (size_t)c->vertex_count * sizeof *n);
    for (int i = 0; i < PARTS; i++) {
        const bough_component *component = c->components[i];
        const bough_surface *surface = &component->surface;
        const bough_frame *frame = &c->state->frames[i];
        bo_mat3 axes;
        memcpy(axes.m, frame->rotation, sizeof axes.m);
        double *u = malloc(3 * sizeof *u * (size_t)component->volume.vertex_count);
        displace(component, c->state->q + bough_model_offset(c->model, i), u);
        for (int32_t v = 0; v < surface->vertex_count; v++) {
            const int32_t m = 3 * surface->mesh_vertex[v];
            bo_vec3 local = bo_add(bo_load3(component->volume.position + m), bo_load3(u + m));
            bo_store3(x + 3 * v, bo_mul_add(bo_load3(frame->origin), c->parts[i].scale, bo_mat_vec(axes, local)));
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
static bool together(const cut *c, int32_t a, int32_t b) {
    if (a == b)
        return true;
    if (c->origin_of[a] != c->origin_of[b])
        return false;
    const int32_t first = bough_model_first_vertex(c->model, trunk),
                  end = bough_model_first_vertex(c->model, trunk + 1);
    for (int32_t v = first; v < end; v++)
        if (c->origin_of[v] == c->origin_of[a])
            return true;
    return false;
}

static void compute_joined(cut *c, double *x, double *n) {
    const size_t size = 3 * (size_t)c->vertex_count * sizeof *x;
    double *apart = malloc(size), *area = malloc(size);
    compute_apart(c, apart, area);
    for (int32_t a = 0; a < c->vertex_count; a++) {
        bo_vec3 at = {0, 0, 0}, normal = {0, 0, 0};
        int count = 0;
        for (int32_t b = 0; b < c->vertex_count; b++)
            if (together(c, a, b)) {
                at = bo_add(at, bo_load3(apart + 3 * b)), count++;
                normal = bo_add(normal, bo_load3(area + 3 * b));
            }
        bo_store3(x + 3 * a, bo_scale(1.0 / count, at));
        bo_store3(n + 3 * a, normal);
    }
    free(apart), free(area);
}

typedef struct {
    float *positions, *normals;
} drawn;

static drawn draw(const cut *c) {
    const size_t size = 3 * sizeof(float) * (size_t)c->vertex_count;
    drawn d = {malloc(size), malloc(size)};
    check_ok(c->ctx, bough_state_surface(c->ctx, c->model, c->state, d.positions, d.normals));
    return d;
}
static void free_drawn(drawn *d) {
    free(d->positions), free(d->normals);
}

static double distance3(const float *a, bo_vec3 b) {
    return bo_norm(bo_sub(bo_v3((double)a[0], (double)a[1], (double)a[2]), b));
}

static void check_against_doubles(cut *c, double tolerance) {
    const size_t size = 3 * sizeof(double) * (size_t)c->vertex_count;
    double *x = malloc(size), *n = malloc(size);
    int compared = 0;
    compute_joined(c, x, n);
    drawn d = draw(c);
    for (int32_t v = 0; v < c->vertex_count; v++) {
        const float *normal = d.normals + 3 * v;
        const double length = bo_norm(bo_load3(n + 3 * v));
        check_below(distance3(d.positions + 3 * v, bo_load3(x + 3 * v)), tolerance);
        check_near(distance3(normal, bo_v3(0, 0, 0)), 1, 1e-6);
        if (length > 1e-3) { /* not inside, where cut faces cancel; triangles have 1e-2 */
            check_below(distance3(normal, bo_scale(1 / length, bo_load3(n + 3 * v))), 10 * tolerance);
            compared++;
        }
    }
    check(compared > c->vertex_count * 3 / 4);
    free_drawn(&d);
    free(x), free(n);
}

static void positions_and_normals_are_those_of_doubles(void **unused) {
    (void)unused;
    cut c = make_cut(1, R, false);
    for (uint64_t seed = 1; seed < 4; seed++) {
        deform(&c, 0.04, seed);
        check_against_doubles(&c, 2e-6);
    }
    free_cut(&c);
    c = make_cut(1, 0, false); /* rigid limbs */
    deform(&c, 0.04, 5);
    check_against_doubles(&c, 2e-6);
    free_cut(&c);
    c = make_cut(1, R, true); /* 16 bits: a step is 0.04 / 32767 */
    deform(&c, 0.04, 6);
    check_against_doubles(&c, 1e-5);
    free_cut(&c);
}

static void copies_coincide(void **unused) {
    (void)unused;
    cut c = make_cut(1, R, false);
    deform(&c, 0.05, 9);
    drawn d = draw(&c);
    int pairs = 0, threes = 0, apart = 0;
    for (int32_t a = 0; a < c.vertex_count; a++) {
        int copies = 0;
        for (int32_t b = 0; b < c.vertex_count; b++) {
            const bool equal = memcmp(d.positions + 3 * a, d.positions + 3 * b, 3 * sizeof(float)) == 0 &&
                               memcmp(d.normals + 3 * a, d.normals + 3 * b, 3 * sizeof(float)) == 0;
            check_int(equal, together(&c, a, b));
            copies += equal;
            apart += !equal && c.origin_of[a] == c.origin_of[b];
        }
        pairs += copies == 2, threes += copies == 3;
    }
    /* 5 x 4 vertices on the cut, of which 4 belong to both limbs; limbs touch in 4 rows of 4 more */
    check_int(pairs, 2 * 16);
    check_int(threes, 3 * 4);
    check_int(apart, 2 * 16);
    free_drawn(&d);
    free_cut(&c);
}

/* Where parts are joined, normals at rest are those of the box that was never cut. */
static void a_cut_does_not_show(void **unused) {
    (void)unused;
    cut c = make_cut(1, R, false);
    bough_mesh *boundary;
    int32_t *vertex_map;
    check_ok(c.ctx, bough_mesh_surface(c.ctx, c.mesh, &boundary, &vertex_map, NULL));
    double *area = calloc(3 * (size_t)c.mesh->vertex_count, sizeof *area);
    for (int32_t t = 0; t < boundary->element_count; t++) {
        const int32_t *corner = boundary->elements + 3 * t;
        bo_vec3 x[3];
        for (int k = 0; k < 3; k++)
            x[k] = bo_load3(boundary->vertices + 3 * corner[k]);
        for (int k = 0; k < 3; k++) {
            double *sum = area + 3 * vertex_map[corner[k]];
            bo_store3(sum, bo_add(bo_load3(sum), bo_cross(bo_sub(x[1], x[0]), bo_sub(x[2], x[0]))));
        }
    }
    drawn d = draw(&c);
    int compared = 0;
    for (int32_t a = 0; a < c.vertex_count; a++) {
        const int32_t o = c.origin_of[a];
        check_below(distance3(d.positions + 3 * a, bo_load3(c.mesh->vertices + 3 * o)), 1e-6);
        const bool joint = fabs(c.mesh->vertices[3 * o] - 0.4) < 1e-9 && fabs(c.mesh->vertices[3 * o + 1] - 0.2) > 0.05;
        if (joint && bo_norm(bo_load3(area + 3 * o)) > 0) {
            check_below(distance3(d.normals + 3 * a, bo_normalize(bo_load3(area + 3 * o))), 1e-5);
            compared++;
        } else if (joint) /* inside: that of one of the two cut faces */
            check_near(fabs((double)d.normals[3 * a]), 1, 1e-5);
    }
    check(compared >= 16);
    free(area);
    free_drawn(&d);
    bough_mesh_destroy(c.ctx, boundary);
    bough_release(c.ctx, vertex_map);
    free_cut(&c);
}

static void triangles_are_those_of_the_parts(void **unused) {
    (void)unused;
    cut c = make_cut(1, R, false);
    const int32_t count = bough_model_triangle_count(c.model);
    int32_t *triangles = malloc(3 * sizeof *triangles * (size_t)count), at = 0;
    bough_model_triangles(c.model, triangles);
    for (int i = 0; i < PARTS; i++)
        for (int32_t k = 0; k < 3 * c.components[i]->surface.triangle_count; k++)
            check_int(triangles[at++] - bough_model_first_vertex(c.model, i), c.components[i]->surface.triangles[k]);
    check_int(at, 3 * count);
    free(triangles);
    free_cut(&c);
}

/* Many parts in several tasks: the same bits for any number of threads, and normals do not change positions. */
static void threads_do_not_change_bits(void **unused) {
    (void)unused;
    enum { COUNT = 300 };
    cut c = make_cut(1, R, false);
    bough_part_def parts[COUNT];
    for (int i = 0; i < COUNT; i++) {
        parts[i] = c.parts[trunk];
        parts[i].parent = i / 2 - (i < 2), parts[i].interface = 1 + i % 2;
        parts[i].scale = 1 + 0.01 * i;
    }
    bough_model_def def = *bough_model_describe(c.model);
    def.parts = parts, def.part_count = COUNT;
    float *first = NULL;
    size_t size = 0;
    for (int32_t threads = 1; threads <= 3; threads++) {
        bough_context *ctx = test_context(threads);
        bough_model *model;
        bough_state *state;
        check_ok(ctx, bough_model_create(ctx, &def, &model));
        check_ok(ctx, bough_state_create(ctx, model, &state));
        for (int32_t l = 0; l < bough_model_size(model); l++)
            state->q[l] = 1e-2 * sin(l);
        check_ok(ctx, bough_state_update(ctx, model, state));
        size = 3 * sizeof(float) * (size_t)bough_model_vertex_count(model);
        float *now = malloc(3 * size), *normals = now + size / sizeof *now, *alone = normals + size / sizeof *now;
        check(bough_model_vertex_count(model) > 8192); /* more than one task */
        check_ok(ctx, bough_state_surface(ctx, model, state, now, normals));
        check_ok(ctx, bough_state_surface(ctx, model, state, alone, NULL));
        check(memcmp(now, alone, size) == 0);
        check(threads == 1 || memcmp(now, first, 2 * size) == 0);
        free(threads == 1 ? NULL : now);
        first = threads == 1 ? now : first;
        bough_state_destroy(ctx, state);
        bough_model_destroy(ctx, model);
        bough_context_destroy(ctx);
    }
    free(first);
    free_cut(&c);
}

static void memory_is_kept_and_given_back(void **unused) {
    (void)unused;
    cut c = make_cut(1, R, false);
    test_memory memory = {.fail_at = -1};
    bough_context *ctx = test_counting_context(&memory);
    const long before = memory.live;
    bough_status status = BOUGH_ERROR_MEMORY;
    for (long fail_at = 0; status != BOUGH_OK; fail_at++) {
        bough_model *model = NULL;
        bough_state *state = NULL;
        memory.calls = 0, memory.fail_at = fail_at;
        status = bough_model_create(ctx, bough_model_describe(c.model), &model);
        if (status == BOUGH_OK)
            status = bough_state_create(ctx, model, &state);
        if (status == BOUGH_OK) {
            float *x = malloc(6 * sizeof *x * (size_t)c.vertex_count);
            const long calls = memory.calls;
            check_ok(ctx, bough_state_surface(ctx, model, state, x, x + 3 * c.vertex_count));
            check_int(memory.calls, calls);
            free(x);
        } else
            check_int(status, BOUGH_ERROR_MEMORY);
        bough_state_destroy(ctx, state);
        bough_model_destroy(ctx, model);
        check_int(memory.live, before);
    }
    bough_context_destroy(ctx);
    free_cut(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(positions_and_normals_are_those_of_doubles),
        cmocka_unit_test(copies_coincide),
        cmocka_unit_test(a_cut_does_not_show),
        cmocka_unit_test(triangles_are_those_of_the_parts),
        cmocka_unit_test(threads_do_not_change_bits),
        cmocka_unit_test(memory_is_kept_and_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
