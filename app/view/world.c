#include "view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- shapes ---- */

view_shape *view_shape_hold(view_shape *shape) {
    if (shape)
        atomic_fetch_add(&shape->holders, 1);
    return shape;
}

void view_shape_drop(view_shape *shape) {
    if (!shape || atomic_fetch_sub(&shape->holders, 1) != 1)
        return;
    free(shape->parts);
    free(shape->reach);
    free(shape);
}

static view_shape *new_shape(int32_t parts, size_t reaches) {
    view_shape *shape = calloc(1, sizeof *shape);
    if (!shape)
        return NULL;
    atomic_init(&shape->holders, 1);
    shape->part_count = parts;
    shape->parts = calloc((size_t)parts + 1, sizeof *shape->parts);
    shape->reach = calloc(reaches + 1, sizeof *shape->reach);
    if (shape->parts && shape->reach)
        return shape;
    view_shape_drop(shape);
    return NULL;
}

/* The diagonal of the box around the points. */
static double size_of(const float *x, int32_t count) {
    double lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY}, square = 0;
    for (size_t i = 0; i < 3 * (size_t)count; i++) {
        lower[i % 3] = fmin(lower[i % 3], (double)x[i]);
        upper[i % 3] = fmax(upper[i % 3], (double)x[i]);
    }
    for (int d = 0; d < 3 && count > 0; d++)
        square += pow(upper[d] - lower[d], 2);
    return sqrt(square);
}

enum { PANEL = 16 }; /* bough_surface.U */

static double surface_U(const bough_component *c, int32_t l, size_t scalar) {
    const bough_surface *s = &c->surface;
    const size_t at = (scalar / PANEL * (size_t)c->r + (size_t)l) * PANEL + scalar % PANEL;
    return s->U ? (double)s->U[at] : (double)s->U16[at] * (double)s->scale[l];
}

static void find_reach(const bough_component *c, float *reach) {
    for (int32_t l = 0; l < c->r; l++) {
        double most = 0;
        for (size_t v = 0; v < (size_t)c->surface.vertex_count; v++) {
            const double x = surface_U(c, l, 3 * v), y = surface_U(c, l, 3 * v + 1), z = surface_U(c, l, 3 * v + 2);
            most = fmax(most, x * x + y * y + z * z);
        }
        reach[l] = (float)sqrt(most);
    }
}

/* Numbers follow each other part by part. */
static void lay_out(view_shape *shape) {
    for (int32_t p = 0; p < shape->part_count; p++) {
        view_shape_part *part = &shape->parts[p];
        part->count = part->streamed ? 3 * (part->vertices + part->inner) : part->r;
        part->at = shape->number_count;
        shape->number_count += VIEW_POSE + (size_t)part->count;
        shape->vertex_count += part->vertices;
    }
    shape->joints_at = shape->number_count;
    shape->number_count += VIEW_JOINT * (size_t)shape->joint_count;
}

const bough_look *view_world_look(const view_world *w, int32_t look) {
    return bough_run_thing_look(w->run, bough_run_thing(w->run, w->looks[look])->look);
}

static bool wants_all(const view_choice *choice) {
    return !strcmp(choice->continuity, "C1"); /* blending is more than shaders are told how to do */
}

/* Finds the place where the reach of each look's coordinates begins. NULL: there is no memory. */
static size_t *lay_out_reach(const view_world *w, size_t *reaches) {
    size_t *reach_of = calloc((size_t)w->look_count + 1, sizeof *reach_of);
    *reaches = 0;
    for (int32_t i = 0; i < w->look_count && reach_of; i++) {
        const bough_component *c = view_world_look(w, i)->component;
        reach_of[i] = *reaches;
        *reaches += c ? (size_t)c->r : 0;
    }
    return reach_of;
}

static double size_of_look(const bough_look *look) {
    double square = 0;
    if (look->component)
        return size_of(look->component->surface.position, look->vertex_count);
    for (size_t d = 0; d < 3 && look->vertex_count > 0; d++) {
        double lower = INFINITY, upper = -INFINITY;
        for (size_t v = 0; v < (size_t)look->vertex_count; v++) {
            lower = fmin(lower, look->vertices[3 * v + d]);
            upper = fmax(upper, look->vertices[3 * v + d]);
        }
        square += pow(upper - lower, 2);
    }
    return sqrt(square);
}

static double size_of_mesh(const bough_mesh *mesh) {
    double square = 0;
    for (size_t d = 0; d < 3; d++) {
        double lower = INFINITY, upper = -INFINITY;
        for (size_t v = 0; v < (size_t)mesh->vertex_count; v++) {
            lower = fmin(lower, mesh->vertices[3 * v + d]);
            upper = fmax(upper, mesh->vertices[3 * v + d]);
        }
        square += pow(upper - lower, 2);
    }
    return sqrt(square);
}

static view_shape *shape_of_things(const view_world *w) {
    const int32_t count = bough_run_thing_count(w->run);
    size_t reaches, *reach_of = lay_out_reach(w, &reaches);
    view_shape *shape = reach_of ? new_shape(count, reaches) : NULL;
    for (int32_t i = 0; i < w->look_count && shape; i++)
        if (view_world_look(w, i)->component)
            find_reach(view_world_look(w, i)->component, shape->reach + reach_of[i]);
    for (int32_t p = 0, q = 0, first = 0; p < count && shape; p++) {
        const bough_thing *from = bough_run_thing(w->run, p);
        const bough_look *look = bough_run_thing_look(w->run, from->look);
        const bough_component *c = look->component;
        const int32_t r = c ? c->r : 0;
        shape->parts[p] = (view_shape_part){
            .component = w->look_of[p],
            .parent = from->parent,
            .scale = from->scale,
            .size = from->scale * size_of_look(look),
            .r = r,
            .vertices = look->vertex_count,
            .inner = c ? c->wire.vertex_count : 0,
            .first = first,
            .first_q = q,
            .streamed = c && (wants_all(&w->choice) || r >= VIEW_STREAMED_FROM || from->full_count > 0),
            .reach = shape->reach + reach_of[w->look_of[p]]};
        q += r, first += look->vertex_count;
    }
    free(reach_of);
    return shape;
}

/* The body, whose vertices come first among all, and what is beside it. Several bodies are one mesh, which is drawn as the
 * first of them; the others are parts with an empty component, behind all looks. */
static view_shape *shape_of_body(const view_world *w) {
    const int32_t count = bough_run_thing_count(w->run);
    view_shape *shape = new_shape(count, 0);
    if (!shape)
        return NULL;
    shape->parts[0] = (view_shape_part){.parent = -1,
                                        .scale = 1,
                                        .size = size_of_mesh(w->boundary),
                                        .vertices = w->boundary->vertex_count,
                                        .inner = bough_run_mesh(w->run)->vertex_count - w->boundary->vertex_count,
                                        .streamed = true};
    for (int32_t p = 1, first = w->boundary->vertex_count; p < count; p++) {
        const bough_look *look = bough_run_thing_look(w->run, bough_run_thing(w->run, p)->look);
        shape->parts[p] = (view_shape_part){.component = 1 + (look ? w->look_of[p] : w->look_count),
                                            .parent = -1,
                                            .scale = 1,
                                            .size = look ? size_of_look(look) : 1,
                                            .vertices = look ? look->vertex_count : 0,
                                            .first = first,
                                            .reach = shape->reach};
        first += shape->parts[p].vertices;
    }
    return shape;
}

bough_status view_world_reshape(bough_context *ctx, view_world *w) {
    (void)ctx;
    const bool all = view_world_drawing(w) == BOUGH_DRAWN_MODES && wants_all(&w->choice);
    view_shape *shape = w->boundary ? shape_of_body(w) : shape_of_things(w);
    if (!shape)
        return BOUGH_ERROR_MEMORY;
    shape->joint_count = bough_run_joints(w->run, 0, NULL);
    lay_out(shape);
    float *positions = all ? malloc((3 * (size_t)shape->vertex_count + 1) * sizeof *positions) : NULL;
    if (all && !positions) {
        view_shape_drop(shape);
        return BOUGH_ERROR_MEMORY;
    }
    view_shape_drop(w->shape);
    free(w->positions);
    w->shape = shape, w->positions = positions;
    return BOUGH_OK;
}

/* order: the vertices of the boundary, then all others; place: the way back. */
static void order_vertices(const bough_mesh *mesh, const int32_t *boundary, int32_t count, int32_t *order,
                           int32_t *place) {
    for (int32_t v = 0; v < mesh->vertex_count; v++)
        place[v] = -1;
    for (int32_t i = 0; i < count; i++)
        order[i] = boundary[i], place[boundary[i]] = i;
    for (int32_t v = 0; v < mesh->vertex_count; v++)
        if (place[v] < 0)
            order[count] = v, place[v] = count++;
}

static bough_status find_edges(bough_context *ctx, const bough_mesh *mesh, const int32_t *place, view_world *w) {
    bough_status s = bough_mesh_edges(ctx, mesh, &w->edges, &w->edge_count);
    for (size_t i = 0; !s && i < 2 * (size_t)w->edge_count; i++)
        w->edges[i] = place[w->edges[i]];
    return s;
}

static bough_status look_at_mesh(bough_context *ctx, view_world *w) {
    const bough_mesh *mesh = bough_run_mesh(w->run);
    int32_t *boundary = NULL, *place = NULL;
    bough_status s = mesh ? bough_mesh_surface(ctx, mesh, &w->boundary, &boundary, NULL) : BOUGH_ERROR_MEMORY;
    if (!s) {
        place = malloc((size_t)mesh->vertex_count * sizeof *place);
        w->vertex_map = malloc((size_t)mesh->vertex_count * sizeof *w->vertex_map);
        s = place && w->vertex_map ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    }
    if (!s) {
        order_vertices(mesh, boundary, w->boundary->vertex_count, w->vertex_map, place);
        s = find_edges(ctx, mesh, place, w);
    }
    free(place);
    bough_release(ctx, boundary);
    return s;
}

static bough_status find_looks(view_world *w) {
    const int32_t count = bough_run_thing_count(w->run);
    w->look_of = calloc((size_t)count + 1, sizeof *w->look_of);
    w->looks = calloc((size_t)count + 1, sizeof *w->looks);
    if (!w->look_of || !w->looks)
        return BOUGH_ERROR_MEMORY;
    w->look_count = app_find_looks(w->run, w->look_of, w->looks);
    return BOUGH_OK;
}

static bough_status make_shape(bough_context *ctx, view_world *w) {
    if (bough_run_thing_count(w->run) == 0)
        return BOUGH_ERROR_MEMORY; /* the context tells why */
    bough_status s = view_world_drawing(w) == BOUGH_DRAWN_VERTICES ? look_at_mesh(ctx, w) : BOUGH_OK;
    if (!s)
        s = find_looks(w);
    if (!s)
        s = view_world_reshape(ctx, w);
    if (s)
        return s;
    w->joints = calloc((size_t)w->shape->joint_count + 1, sizeof *w->joints);
    w->damping_ratio = malloc(((size_t)w->shape->part_count + 1) * sizeof *w->damping_ratio);
    for (int32_t p = 0; p < w->shape->part_count && w->damping_ratio; p++)
        w->damping_ratio[p] = NAN;
    return w->damping_ratio && w->joints ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

/* ---- worlds ---- */

static bough_status make_run(bough_context *ctx, const char *path, view_tell tell, void *tell_data, view_world *w) {
    bough_run_def def = bough_default_run_def();
    bough_run_report report;
    def.live = true;
    def.engine = w->choice.engine, def.coupling = w->choice.coupling, def.integrator = w->choice.integrator;
    def.dt = w->choice.dt, def.continuity = w->choice.continuity;
    def.tell = tell, def.tell_data = tell_data;
    bough_status s = bough_scene_load(ctx, path, &w->scene);
    if (!s)
        s = bough_run_create(ctx, w->scene, &def, &w->run);
    if (s)
        return s;
    bough_run_look(w->run, &report);
    w->choice.engine = report.engine, w->choice.coupling = report.coupling, w->choice.integrator = report.integrator;
    w->choice.dt = report.dt;
    w->can = report.can;
    return make_shape(ctx, w);
}

bough_status view_world_create(bough_context *ctx, const char *path, const view_choice *choice, view_tell tell,
                               void *tell_data, view_world **world) {
    *world = NULL;
    view_world *w = calloc(1, sizeof *w);
    if (!w)
        return BOUGH_ERROR_MEMORY;
    w->choice = *choice;
    bough_status s = make_run(ctx, choice->path ? choice->path : path, tell, tell_data, w);
    if (s)
        view_world_destroy(ctx, w);
    else
        *world = w;
    return s;
}

void view_world_destroy(bough_context *ctx, view_world *w) {
    if (!w)
        return;
    view_shape_drop(w->shape);
    bough_mesh_destroy(ctx, w->boundary);
    free(w->vertex_map);
    bough_release(ctx, w->edges);
    free(w->positions);
    free(w->look_of);
    free(w->looks);
    free(w->damping_ratio);
    free(w->joints);
    free(w->contacts);
    bough_run_destroy(ctx, w->run);
    bough_scene_destroy(ctx, w->scene);
    free(w);
}

int32_t view_world_part_count(const view_world *w) {
    return w->shape->part_count;
}

bool view_world_has_part(const view_world *w, int32_t part) {
    return part >= 0 && part < w->shape->part_count;
}

bough_drawing view_world_drawing(const view_world *w) {
    const int32_t count = bough_run_thing_count(w->run);
    for (int32_t i = 0; i < count; i++)
        if (bough_run_thing(w->run, i)->drawing == BOUGH_DRAWN_MODES)
            return BOUGH_DRAWN_MODES;
    return count > 0 ? bough_run_thing(w->run, 0)->drawing : BOUGH_DRAWN_VERTICES;
}

double view_world_time(const view_world *w) {
    bough_run_report report;
    bough_run_look(w->run, &report);
    return report.time;
}

int32_t view_world_body(const view_world *w, int32_t vertex) {
    int32_t body = 0;
    for (int32_t i = 1; i < w->shape->part_count; i++) {
        const bough_thing *thing = bough_run_thing(w->run, i);
        if (thing->drawing == BOUGH_DRAWN_VERTICES && vertex >= thing->first_vertex)
            body = i;
    }
    return body;
}

int32_t view_world_vertex(const view_world *w, int32_t vertex) {
    if (!w->boundary)
        return vertex;
    return vertex >= 0 && vertex < w->boundary->vertex_count ? w->vertex_map[vertex] : -1;
}
