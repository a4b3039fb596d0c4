/* What is told of something that somebody picked. */
#include "session.h"

#include <math.h>
#include <stdlib.h>

/* ---- parts ---- */

/* Those of its component, as cooking found them, at the part's scale and stiffness; f ~ sqrt(E) / length. */
static json_t *json_part_frequencies(const view_world *w, const bough_component *c, int32_t part) {
    const double factor = w->state->stiffness[part] / w->shape->parts[part].scale;
    json_t *list = json_array();
    for (int32_t i = 0; i < c->quality.mode_count; i++)
        json_array_append_new(list, app_json_number(factor * c->quality.reduced_hz[i]));
    return list;
}

static double stress_of(view_session *s, int32_t part) {
    const view_world *w = s->worlds[0];
    double *all = malloc(((size_t)w->shape->part_count + 1) * sizeof *all), stress = NAN;
    if (all) {
        bough_state_peak_stresses(s->ctx, w->model, w->state, all);
        stress = all[part];
    }
    free(all);
    return stress;
}

/* Of a vertex of the part's surface; null: there is none of that number. */
static json_t *json_part_position(view_session *s, int32_t part, int32_t vertex) {
    const view_world *w = s->worlds[0];
    const int32_t count = w->shape->parts[part].vertices;
    float *x = vertex >= 0 && vertex < count ? malloc(3 * (size_t)count * sizeof *x) : NULL;
    json_t *position = NULL;
    if (x && !bough_state_positions(s->ctx, w->model, w->state, part, x)) {
        const float *at = x + 3 * (size_t)vertex;
        position = app_json_numbers((double[]){(double)at[0], (double)at[1], (double)at[2]}, 3);
    }
    free(x);
    return position ? position : json_null();
}

static void pick_part(view_session *s, uint64_t seat, int32_t part, int32_t vertex) {
    const view_world *w = s->worlds[0];
    const bough_model_def *def = bough_model_describe(w->model);
    const bough_part_def *now = &bough_state_parts(w->model, w->state)[part];
    const bough_component *c = def->components[now->component];
    char *component = view_component_name(c, now->component);
    double spring, damping;
    view_world_spring(s->ctx, w, part, &spring, &damping);
    session_tell(s, seat,
                 view_message_json(json_pack(
                     "{s:s, s:i, s:o, s:o, s:i, s:i, s:o, s:o, s:f, s:o, s:b, s:o, s:o, s:o}", "say", "pick", "part",
                     (int)part, "name", app_json_text(now->name ? now->name : ""), "component",
                     app_json_text(component ? component : ""), "parent", (int)now->parent, "r", (int)c->r, "mass",
                     app_json_number(c->mass * pow(now->scale, 3)), "frequencies", json_part_frequencies(w, c, part),
                     "stiffness", w->state->stiffness[part], "damping", app_json_number(w->damping_ratio[part]),
                     "locked", (int)now->locked, "stress", app_json_number(stress_of(s, part)), "position",
                     json_part_position(s, part, vertex), "spring", app_json_number(spring))));
    free(component);
}

/* ---- the body of the full engine ---- */

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

static double body_stress(view_session *s, const bough_mesh *mesh, const double *u, int32_t vertex) {
    double *mises = malloc(((size_t)mesh->element_count + 1) * sizeof *mises), stress = NAN;
    if (mises && u && !bough_body_stress(s->ctx, bough_scene_body(s->worlds[0]->scene), u, NULL, mises))
        stress = mises_at(mesh, mises, vertex);
    free(mises);
    return stress;
}

static json_t *json_body_position(const bough_mesh *mesh, const double *u, int32_t vertex) {
    double x[3];
    if (vertex < 0 || !u)
        return json_null();
    for (size_t d = 0; d < 3; d++)
        x[d] = mesh->vertices[3 * (size_t)vertex + d] + u[3 * (size_t)vertex + d];
    return app_json_numbers(x, 3);
}

static void pick_body(view_session *s, uint64_t seat, int32_t drawn) {
    const view_world *w = s->worlds[0];
    const bough_mesh *mesh = bough_run_mesh(w->run);
    const double *u = bough_run_displacement(w->run);
    const int32_t vertex = view_world_vertex(w, drawn);
    bough_body_properties whole = {.mass = NAN};
    double spring, damping;
    bough_body_measure(s->ctx, bough_scene_body(w->scene), &whole);
    view_world_spring(s->ctx, w, 0, &spring, &damping);
    session_tell(s, seat,
                 view_message_json(json_pack(
                     "{s:s, s:i, s:s, s:s, s:i, s:i, s:o, s:o, s:o, s:o, s:o}", "say", "pick", "part", 0, "name",
                     "body", "element", bough_element_name(mesh->type), "elements", (int)mesh->element_count,
                     "vertices", (int)mesh->vertex_count, "mass", app_json_number(whole.mass), "stress",
                     app_json_number(body_stress(s, mesh, u, vertex)), "position", json_body_position(mesh, u, vertex),
                     "spring", app_json_number(spring), "vertex", vertex < 0 ? json_null() : json_integer(vertex))));
}

/* ---- mechanisms ---- */

static json_t *json_rigid_position(const bough_run_rigid *rigid, const bough_pose *pose, int32_t vertex) {
    if (!rigid->surface || vertex < 0 || vertex >= rigid->surface->vertex_count)
        return json_null();
    const double *X = rigid->surface->vertices + 3 * (size_t)vertex, *R = pose->rotation;
    double x[3];
    for (int d = 0; d < 3; d++)
        x[d] = pose->position[d] + R[3 * d] * X[0] + R[3 * d + 1] * X[1] + R[3 * d + 2] * X[2];
    return app_json_numbers(x, 3);
}

static void pick_rigid(view_session *s, uint64_t seat, int32_t part, int32_t vertex) {
    static const char *const kinds[] = {
        [BOUGH_RIGID_LINK] = "link", [BOUGH_RIGID_BODY] = "free body", [BOUGH_RIGID_OBSTACLE] = "obstacle"};
    const view_world *w = s->worlds[0];
    const bough_run_rigid *rigid = bough_run_rigid_at(w->run, part);
    const bough_pose pose = bough_run_rigid_pose(w->run, part);
    double spring, damping;
    view_world_spring(s->ctx, w, part, &spring, &damping);
    session_tell(
        s, seat,
        view_message_json(json_pack("{s:s, s:i, s:o, s:s, s:i, s:o, s:o, s:o}", "say", "pick", "part", (int)part,
                                    "name", app_json_text(rigid->name), "kind", kinds[rigid->kind], "parent",
                                    (int)rigid->parent, "mass", app_json_number(rigid->mass), "position",
                                    json_rigid_position(rigid, &pose, vertex), "spring", app_json_number(spring))));
}

/* ---- whatever it is ---- */

void session_pick(view_session *s, uint64_t seat, const view_command *c) {
    if (s->worlds[0]->model) {
        if (session_need_part(s, seat, c->part))
            pick_part(s, seat, c->part, c->vertex);
    } else if (s->worlds[0]->rigid_count > 0) {
        if (view_world_has_part(s->worlds[0], c->part))
            pick_rigid(s, seat, c->part, c->vertex);
        else
            session_complain(s, seat, false, "there is no part %d", c->part);
    } else if (c->part == 0)
        pick_body(s, seat, c->vertex);
    else
        session_complain(s, seat, false, "the full engine has one body, part 0");
}
