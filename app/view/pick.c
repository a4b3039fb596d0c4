/* The data shown of something that somebody picked. */
#include "session.h"

#include <math.h>
#include <stdlib.h>

/* ---- stress ---- */

/* Mean of the elements around the vertex of the mesh; of -1: the largest of all. */
static double mises_at(const bough_mesh *mesh, const double *mises, int32_t vertex) {
    const int32_t nodes = bough_element_node_count(mesh->type);
    double sum = 0, most = 0;
    int32_t count = 0;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        most = fmax(most, mises[e]);
        for (int32_t k = 0; k < nodes; k++)
            if (mesh->elements[(size_t)nodes * (size_t)e + (size_t)k] == vertex)
                sum += mises[e], count++;
    }
    return vertex < 0 ? most : sum / count;
}

/* Returns the part's stress, or, if every element has its own, that at the vertex. */
static double stress_of(const view_world *w, int32_t part, int32_t vertex) {
    const int32_t count = bough_run_stress_count(w->run);
    double *all = malloc(((size_t)count + 1) * sizeof *all), stress = NAN;
    if (all && (w->boundary || part < count) && w->can & BOUGH_CAN_STRESS && !bough_run_stresses(w->run, all))
        stress = w->boundary ? mises_at(bough_run_mesh(w->run), all, vertex) : all[part];
    free(all);
    return stress;
}

/* ---- places ---- */

static bool find_on_mesh(const view_world *w, int32_t vertex, double x[3]) {
    const bough_mesh *mesh = bough_run_mesh(w->run);
    const double *u = bough_run_displacement(w->run);
    for (size_t d = 0; d < 3 && u && vertex >= 0; d++)
        x[d] = mesh->vertices[3 * (size_t)vertex + d] + u[3 * (size_t)vertex + d];
    return u && vertex >= 0;
}

static bool find_on_modes(bough_context *ctx, const view_world *w, int32_t part, int32_t vertex, double x[3]) {
    float *all = malloc((3 * (size_t)w->shape->parts[part].vertices + 1) * sizeof *all);
    const bool found = all && !bough_run_positions(ctx, w->run, part, all);
    for (size_t d = 0; d < 3 && found; d++)
        x[d] = (double)all[3 * (size_t)vertex + d];
    free(all);
    return found;
}

static bool find_on_rigid(const view_world *w, int32_t part, int32_t vertex, double x[3]) {
    const bough_look *look = bough_run_thing_look(w->run, bough_run_thing(w->run, part)->look);
    const double *X = look->vertices + 3 * (size_t)vertex;
    bough_thing_state now;
    bough_run_thing_state(w->run, part, &now);
    for (int d = 0; d < 3; d++) {
        const double *R = now.frame.pose.rotation + 3 * d;
        x[d] = now.frame.pose.position[d] + R[0] * X[0] + R[1] * X[1] + R[2] * X[2];
    }
    return true;
}

/* Position of a vertex of the part's surface; null: there is none of that number. */
static json_t *json_position(bough_context *ctx, const view_world *w, int32_t part, int32_t vertex) {
    double x[3];
    const bough_drawing drawing = bough_run_thing(w->run, part)->drawing;
    if (vertex < 0 || (drawing != BOUGH_DRAWN_VERTICES && vertex >= bough_run_thing(w->run, part)->vertex_count))
        return json_null();
    const bool found = drawing == BOUGH_DRAWN_VERTICES ? find_on_mesh(w, vertex, x)
                       : drawing == BOUGH_DRAWN_MODES  ? find_on_modes(ctx, w, part, vertex, x)
                                                       : find_on_rigid(w, part, vertex, x);
    return found ? app_json_numbers(x, 3) : json_null();
}

/* ---- what there is to know of each way of drawing ---- */

/* Those of its component, as cooking found them, at the part's scale and stiffness; f ~ sqrt(E) / length. */
static json_t *json_part_frequencies(const bough_component *c, double factor) {
    json_t *list = json_array();
    for (int32_t i = 0; i < c->quality.mode_count; i++)
        json_array_append_new(list, app_json_number(factor * c->quality.reduced_hz[i]));
    return list;
}

static void tell_of_component(const view_world *w, int32_t part, const bough_thing_state *now, json_t *to) {
    const bough_thing *thing = bough_run_thing(w->run, part);
    const bough_component *c = bough_run_thing_look(w->run, thing->look)->component;
    char *name = view_component_name(c, thing->look);
    json_object_set_new(to, "component", app_json_text(name ? name : ""));
    json_object_set_new(to, "r", json_integer(c->r));
    json_object_set_new(to, "frequencies", json_part_frequencies(c, now->stiffness / thing->scale));
    json_object_set_new(to, "stiffness", json_real(now->stiffness));
    json_object_set_new(to, "damping", app_json_number(w->damping_ratio[part]));
    json_object_set_new(to, "locked", json_boolean(now->locked));
    free(name);
}

static void tell_of_mesh(const view_world *w, int32_t vertex, json_t *to) {
    const bough_mesh *mesh = bough_run_mesh(w->run);
    json_object_set_new(to, "element", json_string(bough_element_name(mesh->type)));
    json_object_set_new(to, "elements", json_integer(mesh->element_count));
    json_object_set_new(to, "vertices", json_integer(mesh->vertex_count));
    json_object_set_new(to, "vertex", vertex < 0 ? json_null() : json_integer(vertex));
}

/* ---- whatever it is ---- */

void session_pick(view_session *s, uint64_t seat, const view_command *c) {
    const view_world *w = s->worlds[0];
    const bool there = view_world_has_part(w, c->part);
    const int32_t vertex = there ? view_world_vertex(w, c->vertex) : -1;
    const int32_t part = w->boundary && c->part == 0 && vertex >= 0 ? view_world_body(w, vertex) : c->part;
    const bough_thing *thing = there ? bough_run_thing(w->run, part) : NULL;
    double spring = NAN, damping;
    bough_thing_state now;
    if (!thing) {
        session_complain(s, seat, false, "there is no part %d", c->part);
        return;
    }
    bough_run_thing_state(w->run, c->part, &now);
    if (bough_run_spring(s->ctx, w->run, c->part, &spring, &damping))
        spring = NAN;
    json_t *to = json_pack("{s:s, s:i, s:o, s:s, s:i, s:o, s:o, s:o}", "say", "pick", "part", (int)c->part, "name",
                           app_json_text(thing->name), "kind", thing->kind, "parent", (int)now.parent, "mass",
                           app_json_number(thing->mass), "position", json_position(s->ctx, w, c->part, vertex),
                           "spring", app_json_number(spring));
    if (w->can & BOUGH_CAN_STRESS)
        json_object_set_new(to, "stress", app_json_number(stress_of(w, c->part, vertex)));
    if (thing->drawing == BOUGH_DRAWN_MODES)
        tell_of_component(w, c->part, &now, to);
    else if (thing->drawing == BOUGH_DRAWN_VERTICES)
        tell_of_mesh(w, vertex, to);
    session_tell(s, seat, view_message_json(to));
}
