#include "contact_case.h"

#include "../tests/contact/crossing.h"
#include "bench.h"

#include <string.h>

enum { MOST_HALVES = 16 };
#define MOST_GAIN 0.01 /* of the energy of motion and strain: what a step may make out of nothing */

contact_case contact_case_new(bough_context *ctx, bough_element_type type) {
    contact_case c = {.ctx = ctx,
                      .type = type,
                      .body_def = bough_default_body_def(),
                      .touch = bo_default_touch_def(),
                      .touches = true,
                      .method = "backward-euler",
                      .dt = 1. / 120};
    c.body_def.material.model = BOUGH_MATERIAL_NEO_HOOKEAN;
    c.body_def.material.poisson = 0.3;
    return c;
}

bough_mesh *contact_case_box(bough_context *ctx, bough_element_type type, double sx, double sy, double sz, int32_t nx,
                             int32_t ny, int32_t nz) {
    bough_box_def def = bough_default_box_def();
    bough_mesh *mesh = NULL;
    def.type = type;
    def.size[0] = sx, def.size[1] = sy, def.size[2] = sz;
    for (int k = 0; k < 3; k++)
        def.origin[k] = -0.5 * def.size[k];
    def.cells[0] = nx, def.cells[1] = ny, def.cells[2] = nz;
    return bough_mesh_generate_box(ctx, &def, &mesh) == BOUGH_OK ? mesh : NULL;
}

bool contact_case_add(contact_case *c, bough_mesh *mesh, bo_mat3 R, bo_vec3 to, bo_vec3 velocity, bo_vec3 spin) {
    if (!mesh)
        return false;
    const size_t old = (size_t)c->vertex_count, count = (size_t)mesh->vertex_count,
                 nodes = (size_t)bough_element_node_count(mesh->type), old_nodes = nodes * (size_t)c->element_count,
                 new_nodes = nodes * (size_t)mesh->element_count;
    double *x = realloc(c->x, 3 * (old + count) * sizeof *x);
    c->x = x ? x : c->x;
    double *v = realloc(c->v, 3 * (old + count) * sizeof *v);
    c->v = v ? v : c->v;
    int32_t *elements = realloc(c->elements, (old_nodes + new_nodes) * sizeof *elements);
    c->elements = elements ? elements : c->elements;
    const bool good = x && v && elements;
    for (size_t i = 0; i < count && good; i++) {
        const bo_vec3 arm = bo_mat_vec(R, bo_load3(mesh->vertices + 3 * i));
        bo_store3(x + 3 * (old + i), bo_add(to, arm));
        bo_store3(v + 3 * (old + i), bo_add(velocity, bo_cross(spin, arm)));
    }
    for (size_t i = 0; i < new_nodes && good; i++)
        elements[old_nodes + i] = mesh->elements[i] + (int32_t)old;
    if (good)
        c->vertex_count += mesh->vertex_count, c->element_count += mesh->element_count, c->piece_count++;
    bough_mesh_destroy(c->ctx, mesh);
    return good;
}

bo_touch_obstacle *contact_case_obstacle(contact_case *c, bo_obstacle_kind kind, bo_mat3 R, bo_vec3 at) {
    bo_touch_obstacle *o = &c->obstacles[c->touch.obstacle_count++];
    *o = (bo_touch_obstacle){.name = "an obstacle", .shape = {.kind = kind, .pose = {R, at}}, .friction = 0.5};
    return o;
}

bool contact_case_make_body(contact_case *c) {
    return !bough_mesh_create(c->ctx, c->type, c->vertex_count, c->x, c->element_count, c->elements, &c->mesh) &&
           !bough_body_create(c->ctx, c->mesh, &c->body_def, &c->body) &&
           !bough_load_case_create(c->ctx, c->body, &c->load_case) &&
           !bough_load_case_set_gravity(c->ctx, c->load_case, c->gravity);
}

static bool make_skin(contact_case *c) {
    bough_mesh *surface = NULL;
    int32_t *map = NULL;
    bool good = !bough_mesh_surface(c->ctx, c->mesh, &surface, &map, NULL);
    for (int32_t i = 0; good && i < 3 * surface->element_count; i++)
        surface->elements[i] = map[surface->elements[i]];
    good = good && !bo_skin_make(c->ctx, c->vertex_count, surface->element_count, surface->elements, NULL, &c->skin);
    bough_mesh_destroy(c->ctx, surface);
    bough_release(c->ctx, map);
    return good;
}

static double size_of(const contact_case *c) {
    bo_vec3 low = bo_load3(c->x), high = low;
    for (int32_t i = 1; i < c->vertex_count; i++) {
        const bo_vec3 x = bo_load3(c->x + 3 * (size_t)i);
        low = bo_v3(fmin(low.x, x.x), fmin(low.y, x.y), fmin(low.z, x.z));
        high = bo_v3(fmax(high.x, x.x), fmax(high.y, x.y), fmax(high.z, x.z));
    }
    return bo_norm(bo_sub(high, low));
}

bool contact_case_start(contact_case *c) {
    if (!c->body && !contact_case_make_body(c))
        return false;
    bo_engine_settings settings = {.integrator = bough_default_integrator_def(), .settle = c->settles, .dt = c->dt};
    settings.integrator.name = c->method;
    c->touch.obstacles = c->obstacles;
    c->size = size_of(c);
    c->plan = (bo_body_plan){
        .body = c->body, .load_case = c->load_case, .velocity = c->v, .touch = c->touches ? &c->touch : NULL};
    if (!make_skin(c) || bo_body_engine_create(c->ctx, &c->plan, &settings, &c->engine))
        return false;
    c->at = calloc(3 * (size_t)c->vertex_count, sizeof *c->at);
    return c->at != NULL;
}

/* Energy less the work so far; *moving: of motion and strain. */
static bough_status energy_of(const contact_case *c, double t, double *energy, double *moving) {
    double values[BOUGH_COLUMN_PROBES], doubt;
    const bough_status status = c->engine.kind->measure(c->engine.data, t, values);
    *energy = values[BOUGH_COLUMN_TOTAL] - c->engine.kind->work(c->engine.data, &doubt);
    *moving = values[BOUGH_COLUMN_KINETIC] + values[BOUGH_COLUMN_ELASTIC];
    return status;
}

/* A step that makes energy out of nothing is none, as in runs. */
static bough_status try_step(contact_case *c, double h) {
    double before, after, moving, unused;
    if (!c->keeps_energy)
        return c->engine.kind->step(c->engine.data, c->t, h, &c->iterations);
    bough_status status = energy_of(c, c->t, &before, &moving);
    if (status == BOUGH_OK)
        status = c->engine.kind->step(c->engine.data, c->t, h, &c->iterations);
    if (status == BOUGH_OK)
        status = energy_of(c, c->t + h, &after, &unused);
    return status == BOUGH_OK && after - before > MOST_GAIN * moving ? BOUGH_ENERGY_GAINED : status;
}

/* A saved state grows with what has touched. */
static bool keep_state(contact_case *c) {
    c->state_size = c->engine.kind->state_size(c->engine.data);
    double *state = realloc(c->state, (size_t)c->state_size * sizeof *state);
    if (state)
        c->engine.kind->save(c->engine.data, c->state = state);
    return state != NULL;
}

static bool step_in_halves(contact_case *c, double h, int halves) {
    const bo_engine_kind *kind = c->engine.kind;
    if (!keep_state(c))
        return false;
    const bough_status status = try_step(c, h);
    if (status == BOUGH_OK) {
        c->t += h;
        return true;
    }
    c->failures++;
    if (status < 0 || halves == 0 || app_interrupted() || kind->restore(c->engine.data, c->state, c->state_size))
        return false;
    return step_in_halves(c, 0.5 * h, halves - 1) && step_in_halves(c, 0.5 * h, halves - 1);
}

bool contact_case_step(contact_case *c) {
    return step_in_halves(c, c->dt, MOST_HALVES);
}

void contact_case_free(contact_case *c) {
    bo_engine_destroy(c->ctx, &c->engine);
    bo_skin_free(c->ctx, &c->skin);
    bough_load_case_destroy(c->ctx, c->load_case);
    bough_body_destroy(c->ctx, c->body);
    bough_mesh_destroy(c->ctx, c->mesh);
    bo_height_spline_free(c->ctx, &c->height);
    bo_distance_grid_free(c->ctx, &c->grid);
    free(c->x), free(c->v), free(c->elements), free(c->state), free(c->at);
    *c = (contact_case){0};
}

/* ---- looking ---- */

static void place(contact_case *c) {
    for (size_t i = 0; i < 3 * (size_t)c->vertex_count; i++)
        c->at[i] = c->mesh->vertices[i] + c->engine.displacement[i];
}

int contact_case_crossings(contact_case *c) {
    place(c);
    return count_crossings(&c->skin, c->at);
}

/* Planes, spheres, capsules and boxes by their definitions; splines by the spline itself. */
static bool is_inside(const bo_obstacle *o, bo_vec3 at) {
    const bo_vec3 y = bo_mat_tvec(o->pose.R, bo_sub(at, o->pose.t));
    const double over = fmax(fabs(y.z) - o->half, 0);
    bo_gap gap;
    switch (o->kind) {
    case BO_OBSTACLE_PLANE:
        return !(y.z > 0);
    case BO_OBSTACLE_SPHERE:
        return !(bo_dot(y, y) > o->radius * o->radius);
    case BO_OBSTACLE_CAPSULE:
        return !(y.x * y.x + y.y * y.y + over * over > o->radius * o->radius);
    case BO_OBSTACLE_BOX:
        return !(fabs(y.x) > o->halves.x || fabs(y.y) > o->halves.y || fabs(y.z) > o->halves.z);
    case BO_OBSTACLE_HEIGHT:
    case BO_OBSTACLE_GRID:
        break;
    }
    bo_obstacle_gap(o, at, &gap);
    return !(gap.d > 0);
}

int contact_case_inside(contact_case *c) {
    int count = 0;
    place(c);
    for (int32_t o = 0; o < c->touch.obstacle_count; o++) {
        bo_obstacle shape = c->obstacles[o].shape;
        if (c->obstacles[o].pose)
            shape.pose = c->obstacles[o].pose(c->obstacles[o].pose_data, c->t);
        for (int32_t i = 0; i < c->skin.point_count; i++)
            count += is_inside(&shape, bo_load3(c->at + 3 * (size_t)c->skin.points[i]));
    }
    return count;
}

/* Determinant of dx/dxi of a trilinear element at xi. */
static double jacobian(const double *x, const int32_t *n, const double xi[3]) {
    static const double corners[8][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                         {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};
    bo_vec3 d[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    for (int k = 0; k < 8; k++) {
        const double *c = corners[k], f[3] = {1 + c[0] * xi[0], 1 + c[1] * xi[1], 1 + c[2] * xi[2]};
        const double slopes[3] = {c[0] * f[1] * f[2], f[0] * c[1] * f[2], f[0] * f[1] * c[2]};
        for (int i = 0; i < 3; i++)
            d[i] = bo_mul_add(d[i], 0.125 * slopes[i], bo_load3(x + 3 * (size_t)n[k]));
    }
    return bo_dot(d[0], bo_cross(d[1], d[2]));
}

int contact_case_inverted(const contact_case *c) {
    const int32_t nodes = bough_element_node_count(c->type);
    const double g = sqrt(1. / 3);
    int count = 0;
    for (int32_t e = 0; e < c->element_count; e++) {
        const int32_t *n = c->elements + (size_t)e * (size_t)nodes;
        double least = INFINITY;
        if (c->type != BOUGH_HEX8) {
            const bo_vec3 a = bo_load3(c->at + 3 * (size_t)n[0]);
            bo_vec3 d[3];
            for (int k = 0; k < 3; k++)
                d[k] = bo_sub(bo_load3(c->at + 3 * (size_t)n[k + 1]), a);
            least = bo_dot(d[0], bo_cross(d[1], d[2]));
        }
        for (int k = 0; k < 8 && c->type == BOUGH_HEX8; k++)
            least = fmin(least, jacobian(c->at, n, (double[]){k & 1 ? g : -g, k & 2 ? g : -g, k & 4 ? g : -g}));
        count += !(least > 0);
    }
    return count;
}

bool contact_case_measure(contact_case *c, double values[BOUGH_COLUMN_PROBES]) {
    return !c->engine.kind->measure(c->engine.data, c->t, values);
}

int32_t contact_case_contacts(contact_case *c, bough_run_contact **list) {
    const int32_t count = c->engine.kind->contacts(c->engine.data, 0, NULL);
    *list = calloc((size_t)count + 1, sizeof **list);
    return *list ? c->engine.kind->contacts(c->engine.data, count, *list) : 0;
}
