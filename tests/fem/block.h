/* A block of finite elements that touches obstacles, stepped by any method. */
#ifndef TEST_FEM_BLOCK_H
#define TEST_FEM_BLOCK_H

#include "test.h"

#include "fem/system.h"
#include "fem/touch.h"
#include "time/integrator.h"

enum { MOST_OBSTACLES = 4 };

typedef struct {
    bough_context *ctx;
    bough_mesh *mesh;
    bough_body *body;
    bough_load_case *load_case;
    bo_system system;
    bo_touch_obstacle obstacles[MOST_OBSTACLES];
    bo_touch_def def;
    bo_touch *touch;
    bo_integrator *integrator;
    bo_motion motion;
    double mass, least; /* gap so far */
} block;

typedef struct {
    bough_element_type type;
    double size[3];
    int32_t cells[3];
    double young, density;
    bough_material_model model;
    double lift; /* m: of its lowest face above z = 0 */
    double friction, support;
    const char *method;
    int32_t copies; /* blocks one above the other, each turned a little: one body that touches itself */
    double apart;   /* m, between them */
} block_def;

static inline block_def default_block(void) {
    return (block_def){.type = BOUGH_HEX8,
                       .size = {0.2, 0.2, 0.1},
                       .cells = {2, 2, 1},
                       .young = 1e6,
                       .density = 1000,
                       .model = BOUGH_MATERIAL_NEO_HOOKEAN,
                       .lift = 1e-3,
                       .support = 1e-3,
                       .method = "backward-euler",
                       .copies = 1};
}

static inline bo_touch_obstacle ground(double friction) {
    return (bo_touch_obstacle){
        .name = "the ground", .shape = {.kind = BO_OBSTACLE_PLANE, .pose = bo_se3_identity()}, .friction = friction};
}

static inline void stack_copies(block *b, const block_def *def) {
    const bough_mesh *one = b->mesh;
    const size_t n = (size_t)one->vertex_count, nodes = (size_t)bough_element_node_count(one->type),
                 m = (size_t)one->element_count * nodes, copies = (size_t)def->copies;
    double *x = malloc(3 * n * copies * sizeof *x);
    int32_t *elements = malloc(m * copies * sizeof *elements);
    for (size_t c = 0; c < copies; c++) {
        const bo_mat3 turn = bo_exp3(bo_v3(0, 0, 0.3 * (double)c));
        for (size_t i = 0; i < n; i++)
            bo_store3(x + 3 * (c * n + i), bo_add(bo_mat_vec(turn, bo_load3(one->vertices + 3 * i)),
                                                  bo_v3(0, 0, (double)c * (def->size[2] + def->apart))));
        for (size_t i = 0; i < m; i++)
            elements[c * m + i] = one->elements[i] + (int32_t)(c * n);
    }
    bough_mesh *all;
    check_ok(b->ctx, bough_mesh_create(b->ctx, one->type, (int32_t)(n * copies), x, (int32_t)(m * copies / nodes),
                                       elements, &all));
    bough_mesh_destroy(b->ctx, b->mesh);
    b->mesh = all;
    free(x), free(elements);
}

/* Its middle is above the origin. Obstacles are added, then start_block() is called. */
static inline block make_block(const block_def *def) {
    block b = {.ctx = test_context(1), .least = INFINITY};
    bough_box_def box = bough_default_box_def();
    bough_body_def body = bough_default_body_def();
    box.type = def->type;
    for (int k = 0; k < 3; k++)
        box.size[k] = def->size[k], box.cells[k] = def->cells[k];
    body.material.model = def->model;
    body.material.young = def->young, body.material.poisson = 0.3, body.material.density = def->density;
    check_ok(b.ctx, bough_mesh_generate_box(b.ctx, &box, &b.mesh));
    double low[3] = {INFINITY, INFINITY, INFINITY};
    for (int32_t i = 0; i < 3 * b.mesh->vertex_count; i++)
        low[i % 3] = fmin(low[i % 3], b.mesh->vertices[i]);
    for (int32_t i = 0; i < 3 * b.mesh->vertex_count; i++)
        b.mesh->vertices[i] += (i % 3 < 2 ? -0.5 * def->size[i % 3] : def->lift) - low[i % 3];
    if (def->copies > 1)
        stack_copies(&b, def);
    check_ok(b.ctx, bough_body_create(b.ctx, b.mesh, &body, &b.body));
    check_ok(b.ctx, bough_load_case_create(b.ctx, b.body, &b.load_case));
    b.def = bo_default_touch_def();
    b.def.support = def->support, b.def.friction = def->friction, b.def.itself = def->copies > 1;
    bough_body_properties whole;
    check_ok(b.ctx, bough_body_measure(b.ctx, b.body, &whole));
    b.mass = whole.mass;
    return b;
}

static inline void start_block(block *b, const char *method) {
    const size_t n = 3 * (size_t)b->mesh->vertex_count;
    bough_integrator_def def = bough_default_integrator_def();
    b->def.obstacles = b->obstacles;
    check_ok(b->ctx, bo_body_system_create(b->ctx, b->body, b->load_case, &b->system));
    check_ok(b->ctx, bo_touch_make(b->ctx, b->body, b->load_case, &b->def, &b->touch));
    bo_body_system_touch(&b->system, b->touch);
    b->motion =
        (bo_motion){.q = calloc(n, sizeof(double)), .v = calloc(n, sizeof(double)), .a = calloc(n, sizeof(double))};
    def.name = method, def.max_iterations = 200;
    check_ok(b->ctx, bo_integrator_create(b->ctx, &b->system, &def, &b->integrator));
}

static inline void throw_block(block *b, double x, double y, double z) {
    for (int32_t i = 0; i < b->mesh->vertex_count; i++)
        b->motion.v[3 * i] = x, b->motion.v[3 * i + 1] = y, b->motion.v[3 * i + 2] = z;
}

/* A step, or nothing at all. */
static inline bough_status try_step(block *b, double h) {
    const size_t n = 3 * (size_t)b->mesh->vertex_count;
    double *kept = malloc((3 * n + (size_t)bo_integrator_history_size(b->integrator)) * sizeof *kept), t = b->motion.t;
    double *const parts[3] = {b->motion.q, b->motion.v, b->motion.a};
    for (size_t i = 0; i < 3; i++)
        memcpy(kept + i * n, parts[i], n * sizeof *kept);
    bo_integrator_save(b->integrator, kept + 3 * n);
    check_ok(b->ctx, bo_touch_begin(b->touch, t, h, b->motion.q, b->motion.v));
    bough_status status = bo_integrator_step(b->integrator, h, &b->motion);
    if (status == BOUGH_OK)
        status = bo_touch_check_ways(b->touch, b->motion.q);
    for (size_t i = 0; i < 3 && status != BOUGH_OK; i++)
        memcpy(parts[i], kept + i * n, n * sizeof *kept);
    if (status != BOUGH_OK)
        bo_integrator_restore(b->integrator, kept + 3 * n), b->motion.t = t;
    free(kept);
    return status;
}

static inline void step_block(block *b, double h) {
    check_ok(b->ctx, try_step(b, h));
    b->least = fmin(b->least, bo_touch_gap(b->touch, b->motion.t, b->motion.q));
    check(b->least > 0);
}

/* Positions of all vertices; to be freed. */
static inline double *places_of(const block *b) {
    const size_t n = 3 * (size_t)b->mesh->vertex_count;
    double *x = malloc(n * sizeof *x);
    for (size_t i = 0; i < n; i++)
        x[i] = b->mesh->vertices[i] + b->motion.q[i];
    return x;
}

/* Mean velocity, by mass. */
static inline bo_vec3 velocity_of(block *b) {
    bo_body_measures m;
    check_ok(b->ctx, bo_body_system_measure(&b->system, b->motion.q, b->motion.v, &m));
    return bo_scale(1 / b->mass, bo_load3(m.momentum));
}

static inline double energy_of(block *b) {
    bo_body_measures m;
    check_ok(b->ctx, bo_body_system_measure(&b->system, b->motion.q, b->motion.v, &m));
    return m.elastic + m.kinetic + m.external + bo_touch_energy(b->touch, b->motion.t, b->motion.q);
}

/* Forces of all obstacles on the body, and the largest friction over mu times the normal force. */
static inline bo_vec3 pushes_on(block *b, double *slip, int32_t *count) {
    bough_contact list[512];
    bo_vec3 sum = {0, 0, 0};
    *count = bo_touch_contacts(b->touch, b->motion.t, b->motion.q, 512, list);
    check(*count <= 512);
    *slip = 0;
    for (int32_t i = 0; i < *count; i++) {
        if (list[i].sides[1].kind != BOUGH_CONTACT_OF_OBSTACLE)
            continue;
        const bo_vec3 f = bo_load3(list[i].force), n = bo_load3(list[i].normal);
        const double normal = bo_dot(f, n), mu = b->def.friction;
        sum = bo_add(sum, f);
        if (normal > 0 && mu > 0)
            *slip = fmax(*slip, bo_norm(bo_mul_add(f, -normal, n)) / (mu * normal));
    }
    return sum;
}

static inline void free_block(block *b) {
    bo_integrator_destroy(b->ctx, b->integrator);
    bo_body_system_destroy(b->ctx, &b->system);
    bo_touch_free(b->ctx, b->touch);
    bough_load_case_destroy(b->ctx, b->load_case);
    bough_body_destroy(b->ctx, b->body);
    bough_mesh_destroy(b->ctx, b->mesh);
    free(b->motion.q), free(b->motion.v), free(b->motion.a);
    bough_context_destroy(b->ctx);
}

#endif
