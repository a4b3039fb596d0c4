/* Links, free bodies and obstacles as things that are looked at. */
#include "mechanism/engine_inside.h"

#include "mechanism/mechanism.h"

#include <string.h>

static int32_t count_things(const bo_mechanism_plan *m) {
    return m->link_count + m->body_count + m->obstacle_count;
}

void bo_mechanism_drop_surface(mechanism_engine *e) {
    bo_looks_free(e->l.ctx, e->look_count, e->looks);
    bo_free(e->l.ctx, e->things);
    e->things = NULL, e->looks = NULL, e->look_count = 0;
}

void bo_mechanism_vertex(const mechanism_engine *e, int32_t thing, int32_t vertex, double x[3]) {
    memcpy(x, e->looks[e->things[thing].look].vertices + 3 * (size_t)vertex, 3 * sizeof *x);
}

/* ---- gathering ---- */

static bo_se3 rest_of(const bo_mechanism_plan *m, int32_t thing) {
    const int32_t body = thing - m->link_count, obstacle = body - m->body_count;
    return bo_pose(body < 0       ? &m->links[thing].pose
                   : obstacle < 0 ? &m->bodies[body].pose
                                  : &m->obstacles[obstacle].pose);
}

/* Each has a look of its own: those who draw may share what differs by rounding only. */
static bough_thing describe(const bo_mechanism_plan *m, int32_t i) {
    bough_thing thing = {.parent = -1, .drawing = BOUGH_DRAWN_RIGID, .scale = 1, .stiffness = 1, .look = i};
    const int32_t body = i - m->link_count, obstacle = body - m->body_count;
    if (body < 0) {
        thing.name = m->links[i].name, thing.kind = "link";
        thing.mass = i != m->base || m->free_base ? m->links[i].mass : 0;
        thing.parent = m->mechanism->topology.up[i];
    } else if (obstacle < 0) {
        thing.name = m->bodies[body].name, thing.kind = "free body";
        thing.mass = m->bodies[body].mass;
    } else
        thing.name = m->obstacles[obstacle].name, thing.kind = "obstacle", thing.held = true;
    thing.name = thing.name ? thing.name : "";
    thing.rest = bo_put_pose(rest_of(m, i));
    return thing;
}

static bough_status make_looks(mechanism_engine *e, int32_t count) {
    e->things = BO_NEW_ZEROS(e->l.ctx, bough_thing, count);
    e->looks = BO_NEW_ZEROS(e->l.ctx, bough_look, count);
    if (!e->things || !e->looks)
        return BOUGH_ERROR_MEMORY;
    e->look_count = count;
    return e->l.m->draw(e->l.ctx, e->l.m->draw_data, e->looks);
}

bough_status bo_mechanism_gather(bo_engine *engine) {
    mechanism_engine *e = engine->data;
    const int32_t count = count_things(e->l.m);
    int64_t first = 0;
    bough_status status = make_looks(e, count);
    for (int32_t i = 0; i < count && status == BOUGH_OK; i++) {
        e->things[i] = describe(e->l.m, i);
        e->things[i].first_vertex = (int32_t)first, e->things[i].vertex_count = e->looks[i].vertex_count;
        first += e->looks[i].vertex_count;
        if (first > INT32_MAX / 3)
            status = bo_fail(e->l.ctx, BOUGH_ERROR_UNSUPPORTED, "the surfaces of all links have too many vertices");
    }
    if (status != BOUGH_OK) {
        bo_mechanism_drop_surface(e);
        return status;
    }
    engine->things = e->things, engine->thing_count = count;
    engine->looks = e->looks, engine->look_count = count;
    return BOUGH_OK;
}

/* ---- looking ---- */

void bo_mechanism_look_at(void *data, int32_t thing, bough_thing_state *state) {
    mechanism_engine *e = data;
    bo_twist t;
    const bo_se3 pose = bo_mechanism_rigid(e, thing, &t);
    *state = (bough_thing_state){.parent = e->things[thing].parent, .there = true, .stiffness = 1};
    bo_store3(state->frame.pose.position, pose.t);
    memcpy(state->frame.pose.rotation, pose.R.m, sizeof pose.R.m);
    bo_store3(state->frame.velocity, bo_mat_vec(pose.R, t.v));
    bo_store3(state->frame.angular_velocity, bo_mat_vec(pose.R, t.w));
}

/* A hand that pulls a link feels all links, since where one of them is pulled they all resist. */
void bo_mechanism_feel(void *data, int32_t thing, double *mass, double *frequency) {
    const mechanism_engine *e = data;
    const int32_t links = e->l.m->link_count;
    *mass = thing < links ? 0 : e->things[thing].mass;
    for (int32_t i = 0; i < links && thing < links; i++)
        *mass += e->things[i].mass;
    *frequency = 2;
}
