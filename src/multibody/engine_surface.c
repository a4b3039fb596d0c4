/* Bodies and parts as things that are looked at. */
#include "multibody/engine_inside.h"

#include "base/pose.h"
#include "rig/joint.h"

#include <string.h>

#define PART_COLOUR \
    { 0.75, 0.75, 0.78 }

void bo_multibody_drop_surface(multibody_engine *e) {
    bo_multibody_drop_fields(e);
    bo_looks_free(e->ctx, e->look_count, e->looks);
    bo_free(e->ctx, e->things);
    bo_free(e->ctx, e->positions);
    bo_free(e->ctx, e->rates);
    bo_free(e->ctx, e->columns);
    e->things = NULL, e->looks = NULL, e->look_count = e->thing_count = 0;
    e->positions = e->rates = NULL, e->columns = NULL;
}

/* ---- gathering ---- */

/* The look of a component that a part before it has already; else the next one. */
static int32_t look_of(multibody_engine *e, const bough_component *c) {
    for (int32_t i = 0; i < e->look_count; i++)
        if (e->looks[i].component == c)
            return i;
    e->looks[e->look_count] = (bough_look){.component = c,
                                           .vertex_count = c->surface.vertex_count,
                                           .triangle_count = c->surface.triangle_count,
                                           .colour = PART_COLOUR};
    return e->look_count++;
}

/* The thing that a body hangs on: the parent of the first joint whose child it is; -1: the world, or nothing. */
static int32_t parent_of(const bough_multibody_def *def, int32_t body) {
    for (int32_t j = 0; j < def->joint_count; j++)
        if (def->joints[j].child.body == body && def->joints[j].parent.body < body)
            return def->joints[j].parent.body;
    return -1;
}

static void describe_body(const multibody_engine *e, int32_t b, bough_thing *thing) {
    const bough_rigid_body_def *body = &bo_multibody_def_of(e)->bodies[b];
    thing->name = body->name, thing->kind = "body", thing->mass = body->mass;
    thing->drawing = BOUGH_DRAWN_RIGID, thing->look = b;
    thing->parent = parent_of(bo_multibody_def_of(e), b);
    thing->rest = body->pose;
}

/* The surface of a part that does not bend, as a look of its own. */
static bough_status copy_look(multibody_engine *e, const bough_component *c, int32_t *number) {
    const size_t vertices = 3 * (size_t)c->surface.vertex_count, corners = 3 * (size_t)c->surface.triangle_count;
    double *x = BO_NEW_ARRAY(e->ctx, double, vertices);
    int32_t *triangles = BO_NEW_ARRAY(e->ctx, int32_t, corners);
    bough_look *look = &e->looks[ *number = e->look_count++];
    *look = (bough_look){.vertex_count = c->surface.vertex_count,
                         .triangle_count = c->surface.triangle_count,
                         .vertices = x,
                         .triangles = triangles,
                         .colour = PART_COLOUR};
    if (!x || !triangles)
        return BOUGH_ERROR_MEMORY;
    for (size_t k = 0; k < vertices; k++)
        x[k] = (double)c->surface.position[k];
    if (corners > 0)
        memcpy(triangles, c->surface.triangles, corners * sizeof *triangles);
    return BOUGH_OK;
}

/* Clamped to a body, or to the part before it. */
static bough_status describe_part(multibody_engine *e, int32_t p, bough_thing *thing) {
    const bough_flexible_def *part = &bo_multibody_def_of(e)->parts[p];
    thing->name = part->name, thing->kind = "part", thing->mass = part->component->mass;
    thing->stiffness = part->stiffness;
    thing->full_count = part->full ? part->full->size : 0;
    thing->parent = part->clamp.body;
    thing->rest = e->part_rests[p];
    if (bo_multibody_is_stiff(e)) {
        thing->drawing = BOUGH_DRAWN_RIGID;
        return copy_look(e, part->component, &thing->look);
    }
    thing->drawing = BOUGH_DRAWN_MODES, thing->look = look_of(e, part->component);
    return BOUGH_OK;
}

static void describe_obstacle(const multibody_engine *e, int32_t o, bough_thing *thing) {
    thing->name = e->plan->obstacles[o].name, thing->kind = "obstacle", thing->held = true;
    thing->drawing = BOUGH_DRAWN_RIGID, thing->look = bo_multibody_def_of(e)->body_count + o;
    thing->parent = -1;
    thing->rest = e->plan->obstacles[o].pose;
}

static bough_status make_room(multibody_engine *e, int32_t count) {
    int32_t largest = 0;
    for (int32_t p = 0; p < e->given.part_count; p++)
        if (e->given.parts[p].component->surface.vertex_count > largest)
            largest = e->given.parts[p].component->surface.vertex_count;
    e->things = BO_NEW_ZEROS(e->ctx, bough_thing, count);
    e->looks = BO_NEW_ZEROS(e->ctx, bough_look, count);
    e->positions = BO_NEW_ZEROS(e->ctx, float, 3 * (size_t)largest);
    e->rates = BO_NEW_ZEROS(e->ctx, float, 3 * (size_t)largest);
    e->columns = BO_NEW_ARRAY(e->ctx, double, 3 * BOUGH_RUN_HANDS * (size_t)e->model->nv);
    return e->things && e->looks && e->positions && e->rates && e->columns ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

static bough_status gather(multibody_engine *e) {
    const int32_t bodies = bo_multibody_def_of(e)->body_count, obstacles = bo_multibody_first_obstacle(e),
                  count = obstacles + e->plan->obstacle_count;
    int64_t first = 0;
    BO_TRY(make_room(e, count));
    e->look_count = bodies + e->plan->obstacle_count;
    BO_TRY(e->plan->draw(e->ctx, e->plan->draw_data, e->looks));
    for (int32_t i = 0; i < count; i++) {
        bough_thing *thing = &e->things[i];
        *thing = (bough_thing){.scale = 1, .stiffness = 1};
        if (i < bodies)
            describe_body(e, i, thing);
        else if (i >= obstacles)
            describe_obstacle(e, i - obstacles, thing);
        else
            BO_TRY(describe_part(e, i - bodies, thing));
        thing->name = thing->name ? thing->name : "";
        thing->first_vertex = (int32_t)first, thing->vertex_count = e->looks[thing->look].vertex_count;
        first += thing->vertex_count;
        if (first > INT32_MAX / 3)
            return bo_fail(e->ctx, BOUGH_ERROR_UNSUPPORTED, "the surfaces of all bodies have too many vertices");
    }
    e->thing_count = count;
    return BOUGH_OK;
}

bough_status bo_multibody_gather(bo_engine *engine) {
    multibody_engine *e = engine->data;
    const bough_status status = gather(e);
    if (status != BOUGH_OK) {
        bo_multibody_drop_surface(e);
        return status;
    }
    engine->things = e->things, engine->thing_count = e->thing_count;
    engine->looks = e->looks, engine->look_count = e->look_count;
    return BOUGH_OK;
}

/* ---- looking ---- */

void bo_multibody_look_at(void *data, int32_t thing, bough_thing_state *state) {
    const multibody_engine *e = data;
    const int32_t part = bo_multibody_part_of(e, thing);
    bo_twist t;
    const bo_se3 g = bo_multibody_thing(e, thing, &t);
    *state =
        (bough_thing_state){.parent = e->things[thing].parent, .there = true, .stiffness = e->things[thing].stiffness};
    state->frame.pose = bo_put_pose(g);
    bo_store3(state->frame.velocity, t.v);
    bo_store3(state->frame.angular_velocity, t.w);
    state->q = part >= 0 ? bo_multibody_q(e, part) : NULL;
}

/* ---- surfaces ---- */

/* x = o + R X of a look as it is at rest. */
static void place_rest(const bough_look *look, bo_se3 g, double *x) {
    for (int32_t k = 0; k < look->vertex_count; k++, x += 3) {
        const float *X = look->component ? look->component->surface.position + 3 * (size_t)k : NULL;
        bo_store3(x, bo_se3_apply(g, X ? bo_v3((double)X[0], (double)X[1], (double)X[2])
                                       : bo_load3(look->vertices + 3 * (size_t)k)));
    }
}

bough_status bo_multibody_rest_surface(void *data, double *x) {
    const multibody_engine *e = data;
    for (int32_t i = 0; i < e->thing_count; i++)
        place_rest(&e->looks[e->things[i].look], bo_pose(&e->things[i].rest),
                   x + 3 * (size_t)e->things[i].first_vertex);
    return BOUGH_OK;
}

/* A vertex at X of its frame, which moves there by `rate`. */
static void place_vertex(bo_se3 g, bo_twist t, bo_vec3 X, bo_vec3 rate, double *x, double *v) {
    const bo_vec3 arm = bo_mat_vec(g.R, X);
    bo_store3(x, bo_add(g.t, arm));
    bo_store3(v, bo_add(bo_add(t.v, bo_cross(t.w, arm)), bo_mat_vec(g.R, rate)));
}

static void show_body(const bough_look *look, bo_se3 g, bo_twist t, double *x, double *v) {
    for (size_t k = 0; k < (size_t)look->vertex_count; k++)
        place_vertex(g, t, bo_load3(look->vertices + 3 * k), bo_v3(0, 0, 0), x + 3 * k, v + 3 * k);
}

/* The displacement, or its rate, of a vertex of the surface of a part in full order is that of a vertex of the mesh. */
static void move_vertices(const multibody_engine *e, int32_t p, const double *u, float *x) {
    const bough_component *c = e->model->parts[p].component;
    for (int32_t k = 0; k < c->surface.vertex_count; k++)
        for (int d = 0; d < 3; d++) {
            const ptrdiff_t vertex = bo_multibody_vertex_of(c, k);
            const float move = vertex < 0 ? 0 : (float)u[3 * vertex + d];
            x[3 * (size_t)k + (size_t)d] = c->surface.position[3 * (size_t)k + (size_t)d] + move;
        }
}

static void surface_positions(const multibody_engine *e, int32_t p, const double *q, float *x) {
    if (e->model->parts[p].full)
        move_vertices(e, p, q, x);
    else
        bough_component_surface_positions(e->model->parts[p].component, q, x);
}

/* U q' from the positions at q' less those at rest. */
static void show_part(const multibody_engine *e, int32_t p, bo_se3 g, bo_twist t, double *x, double *v) {
    const bough_component *c = e->model->parts[p].component;
    surface_positions(e, p, bo_multibody_q(e, p), e->positions);
    surface_positions(e, p, e->state->v + e->model->parts[p].first, e->rates);
    for (size_t k = 0; k < (size_t)c->surface.vertex_count; k++) {
        double X[3], rate[3];
        for (size_t d = 0; d < 3; d++) {
            X[d] = (double)e->positions[3 * k + d];
            rate[d] = (double)e->rates[3 * k + d] - (double)c->surface.position[3 * k + d];
        }
        place_vertex(g, t, bo_load3(X), bo_load3(rate), x + 3 * k, v + 3 * k);
    }
}

bough_status bo_multibody_surface(void *data, double *x, double *v) {
    const multibody_engine *e = data;
    for (int32_t i = 0; i < e->thing_count; i++) {
        const size_t first = 3 * (size_t)e->things[i].first_vertex;
        const int32_t part = bo_multibody_part_of(e, i);
        bo_twist t;
        const bo_se3 g = bo_multibody_thing(e, i, &t);
        if (part < 0)
            show_body(&e->looks[e->things[i].look], g, t, x + first, v + first);
        else
            show_part(e, part, g, t, x + first, v + first);
    }
    return BOUGH_OK;
}

static void positions_of(const multibody_engine *e, int32_t thing, float *x) {
    const int32_t part = bo_multibody_part_of(e, thing);
    const bough_look *look = &e->looks[e->things[thing].look];
    bo_twist ignored;
    const bo_se3 g = bo_multibody_thing(e, thing, &ignored);
    if (part >= 0)
        surface_positions(e, part, bo_multibody_q(e, part), e->positions);
    for (size_t k = 0; k < (size_t)look->vertex_count; k++) {
        const float *q = e->positions + 3 * k;
        double at[3];
        bo_store3(at, bo_se3_apply(g, part < 0 ? bo_load3(look->vertices + 3 * k)
                                               : bo_v3((double)q[0], (double)q[1], (double)q[2])));
        for (size_t d = 0; d < 3; d++)
            x[3 * k + d] = (float)at[d];
    }
}

bough_status bo_multibody_positions(void *data, int32_t thing, float *x) {
    const multibody_engine *e = data;
    if (thing >= 0)
        positions_of(e, thing, x);
    for (int32_t i = 0; thing < 0 && i < e->thing_count; i++)
        positions_of(e, i, x + 3 * (size_t)e->things[i].first_vertex);
    return BOUGH_OK;
}

/* Those resist that joints connect with what is pulled: all of them, for most systems. */
void bo_multibody_feel(void *data, int32_t thing, double *mass, double *frequency) {
    const multibody_engine *e = data;
    (void)thing;
    *mass = 0, *frequency = 2;
    for (int32_t i = 0; i < e->thing_count; i++)
        *mass += e->things[i].mass;
}
