/* Builds the message that describes everything to draw. */
#include "view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Numbers behind the JSON, each array at a multiple of 8 bytes. */
typedef struct {
    unsigned char *bytes;
    size_t size, capacity;
    bool lost; /* there was no memory, or more than a message may have: lengths go through 31 bits on their way */
} blob;
#define MOST_BYTES ((size_t)1 << 30)

static void *add_room(blob *b, size_t size) {
    const size_t padded = (size + 7) / 8 * 8;
    b->lost |= padded > MOST_BYTES - b->size;
    if (b->lost)
        return NULL;
    if (b->size + padded > b->capacity) {
        const size_t capacity = 2 * b->capacity + padded + 4096;
        unsigned char *bytes = realloc(b->bytes, capacity);
        b->lost |= !bytes;
        if (!bytes)
            return NULL;
        b->bytes = bytes, b->capacity = capacity;
    }
    unsigned char *at = b->bytes + b->size;
    memset(at, 0, padded);
    b->size += padded;
    return at;
}

/* An array of numbers of 4 bytes; *at: where they are to be written, until the next one. */
static json_t *add_array(blob *b, size_t count, void **at) {
    const size_t begin = b->size;
    *at = add_room(b, 4 * count);
    return json_pack("{s:I, s:I}", "at", (json_int_t)begin, "count", (json_int_t)(*at ? count : 0));
}

static json_t *add_copy(blob *b, size_t count, const void *numbers) {
    void *at;
    json_t *array = add_array(b, count, &at);
    if (at && count > 0)
        memcpy(at, numbers, 4 * count);
    return array;
}

/* ---- components ---- */

char *view_component_name(const bough_component *component, int32_t number) {
    json_t *made = app_json_provenance(component);
    const char *name = json_string_value(json_object_get(made, "name"));
    char text[32];
    snprintf(text, sizeof text, "component %d", number);
    char *copy = strdup(name ? name : text);
    json_decref(made);
    return copy;
}

json_t *view_json_frequencies(const bough_component *c) {
    json_t *list = json_array();
    for (int32_t i = 0; i < c->quality.mode_count; i++)
        json_array_append_new(list, app_json_number(c->quality.reduced_hz[i]));
    return list;
}

enum { PANEL = 16 }; /* bough_surface.U */

/* Adds the positions of the surface, then of the other vertices of the volume mesh. */
static json_t *add_positions(blob *b, const bough_component *c) {
    const size_t surface = 3 * (size_t)c->surface.vertex_count, inner = 3 * (size_t)c->wire.vertex_count;
    void *room;
    json_t *array = add_array(b, surface + inner, &room);
    float *x = room;
    if (x && surface > 0)
        memcpy(x, c->surface.position, surface * sizeof *x);
    if (x && inner > 0)
        memcpy(x + surface, c->wire.position, inner * sizeof *x);
    return array;
}

/* Vertex after vertex, for each r displacements. */
static json_t *add_basis(blob *b, const bough_component *c) {
    const bough_surface *s = &c->surface;
    const size_t r = (size_t)c->r, surface = 3 * (size_t)s->vertex_count, inner = 3 * (size_t)c->wire.vertex_count;
    void *room;
    json_t *array = add_array(b, (surface + inner) * r, &room);
    float *U = room;
    for (size_t i = 0; i < inner && U; i++)
        for (size_t l = 0; l < r; l++)
            U[surface * r + (i / 3 * r + l) * 3 + i % 3] = c->wire.U[i * r + l];
    for (size_t i = 0; i < surface && U; i++)
        for (size_t l = 0; l < r; l++) {
            const size_t from = (i / PANEL * r + l) * PANEL + i % PANEL;
            U[(i / 3 * r + l) * 3 + i % 3] = s->U ? s->U[from] : (float)s->U16[from] * s->scale[l];
        }
    return array;
}

static json_t *json_component(blob *b, const bough_component *c, int32_t number, bool streamed) {
    char *name = view_component_name(c, number);
    json_t *entry = json_pack(
        "{s:o, s:i, s:b, s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o}", "name", app_json_text(name ? name : ""), "r",
        (int)c->r, "streamed", (int)streamed, "vertices", (int)c->surface.vertex_count, "inner",
        (int)c->wire.vertex_count, "triangles", (int)c->surface.triangle_count, "position", add_positions(b, c),
        "index", add_copy(b, 3 * (size_t)c->surface.triangle_count, c->surface.triangles), "edges",
        c->wire.edge_count > 0 ? add_copy(b, 2 * (size_t)c->wire.edge_count, c->wire.edges) : json_null(), "U",
        streamed ? json_null() : add_basis(b, c), "frequencies", view_json_frequencies(c), "mass",
        app_json_number(c->mass));
    free(name);
    return entry;
}

/* A thing whose vertices are drawn by themselves. */
static json_t *json_body(blob *b, const view_world *w) {
    const bough_mesh *surface = w->boundary, *mesh = bough_run_mesh(w->run);
    void *room;
    json_t *position = add_array(b, 3 * (size_t)mesh->vertex_count, &room);
    for (size_t i = 0; i < 3 * (size_t)mesh->vertex_count && room; i++)
        ((float *)room)[i] = (float)mesh->vertices[3 * (size_t)w->vertex_map[i / 3] + i % 3];
    json_t *index = add_copy(b, 3 * (size_t)surface->element_count, surface->elements);
    return json_pack("{s:s, s:i, s:b, s:i, s:i, s:i, s:o, s:o, s:o, s:n, s:[], s:n}", "name", "body", "r", 0,
                     "streamed", 1, "vertices", (int)surface->vertex_count, "inner", (int)w->shape->parts[0].inner,
                     "triangles", (int)surface->element_count, "position", position, "index", index, "edges",
                     add_copy(b, 2 * (size_t)w->edge_count, w->edges), "U", "frequencies", "mass");
}

/* The look of rigid things, by the first that has it. */
static json_t *json_rigid(blob *b, const bough_thing *thing, const bough_look *look) {
    const size_t vertices = (size_t)look->vertex_count, triangles = (size_t)look->triangle_count;
    void *room;
    json_t *position = add_array(b, 3 * vertices, &room);
    for (size_t i = 0; i < 3 * vertices && room; i++)
        ((float *)room)[i] = (float)look->vertices[i];
    json_t *index = add_copy(b, 3 * triangles, look->triangles);
    json_t *colours = look->vertex_colours ? add_copy(b, 3 * vertices, look->vertex_colours) : json_null();
    return json_pack("{s:o, s:i, s:b, s:i, s:i, s:i, s:o, s:o, s:n, s:o, s:[], s:o, s:o, s:o, s:b}", "name",
                     app_json_text(thing->name), "r", 0, "streamed", 0, "vertices", (int)vertices, "inner", 0,
                     "triangles", (int)triangles, "position", position, "index", index, "edges", "U",
                     add_copy(b, 0, NULL), "frequencies", "mass", app_json_number(thing->mass), "colour",
                     app_json_numbers(look->colour, 3), "colours", colours, "backdrop", (int)thing->held);
}

static bool is_streamed(const view_world *w, int32_t look) {
    bool streamed = false;
    for (int32_t p = 0; p < w->shape->part_count && !streamed; p++)
        streamed = w->look_of[p] == look && w->shape->parts[p].streamed;
    return streamed;
}

static json_t *json_components(blob *b, const view_world *w) {
    static const bough_look none = {0};
    json_t *list = json_array();
    if (w->boundary)
        json_array_append_new(list, json_body(b, w));
    for (int32_t i = 0; i < w->look_count; i++) {
        const bough_look *look = view_world_look(w, i);
        const bough_thing *thing = bough_run_thing(w->run, w->looks[i]);
        json_array_append_new(list, look->component ? json_component(b, look->component, thing->look, is_streamed(w, i))
                                                    : json_rigid(b, thing, look));
    }
    if (w->boundary && app_first_beside(w->run) > 1)
        json_array_append_new(list, json_rigid(b, bough_run_thing(w->run, 1), &none)); /* of further bodies */
    return list;
}

/* ---- parts ---- */

enum { PART_COMPONENT, PART_PARENT, PART_Q, PART_FIRST };

static int32_t part_number(const view_shape_part *part, int which) {
    const int32_t numbers[] = {part->component, part->parent, part->first_q, part->first};
    return numbers[which];
}

static json_t *add_part_numbers(blob *b, const view_shape *shape, int which) {
    void *room;
    json_t *array = add_array(b, (size_t)shape->part_count, &room);
    for (int32_t p = 0; p < shape->part_count && room; p++)
        ((int32_t *)room)[p] = part_number(&shape->parts[p], which);
    return array;
}

/* For streamed parts the scales describe the shape at rest only. */
static json_t *add_scales(blob *b, const view_shape *shape) {
    void *room;
    json_t *array = add_array(b, (size_t)shape->part_count, &room);
    for (int32_t p = 0; p < shape->part_count && room; p++)
        ((float *)room)[p] = (float)shape->parts[p].scale;
    return array;
}

/* Poses at rest; of a body that is drawn by its vertices: where the world's axes are. */
static json_t *add_rest(blob *b, const view_world *w) {
    void *room;
    json_t *array = add_array(b, VIEW_POSE * (size_t)w->shape->part_count, &room);
    for (int32_t p = 0; p < w->shape->part_count && room; p++) {
        const bough_pose *rest = &bough_run_thing(w->run, p)->rest;
        view_write_pose(rest->rotation, rest->position, (float *)room + VIEW_POSE * (size_t)p);
    }
    return array;
}

static json_t *json_parts(blob *b, const view_world *w) {
    const view_shape *shape = w->shape;
    json_t *parts = json_object();
    json_object_set_new(parts, "component", add_part_numbers(b, shape, PART_COMPONENT));
    json_object_set_new(parts, "parent", add_part_numbers(b, shape, PART_PARENT));
    json_object_set_new(parts, "scale", add_scales(b, shape));
    json_object_set_new(parts, "q", add_part_numbers(b, shape, PART_Q));
    json_object_set_new(parts, "first", add_part_numbers(b, shape, PART_FIRST));
    json_object_set_new(parts, "rest", add_rest(b, w));
    return parts;
}

static json_t *json_names(const view_world *w) {
    json_t *names = json_array();
    for (int32_t p = 0; p < w->shape->part_count; p++)
        json_array_append_new(names, app_json_text(bough_run_thing(w->run, p)->name));
    return names;
}

static json_t *json_seams(blob *b, const view_world *w) {
    bough_seams seams = {0};
    const int32_t none = 0;
    bough_run_seams(w->run, &seams);
    void *room;
    json_t *place = add_copy(b, (size_t)seams.place_count + 1, seams.place_count ? seams.place_first : &none);
    json_t *member = add_array(b, (size_t)seams.copy_count, &room);
    for (int32_t i = 0; i < seams.copy_count && room; i++)
        ((int32_t *)room)[i] = seams.copy_vertex[seams.members[i]];
    return json_pack("{s:o, s:o}", "place", place, "member", member);
}

/* ---- the whole ---- */

json_t *view_json_wind(const bough_wind *wind) {
    return json_pack("{s:o, s:o}", "velocity", app_json_numbers(wind->velocity, 3), "gust",
                     app_json_number(wind->gust));
}

static json_t *json_columns(const view_world *w) {
    json_t *list = json_array();
    for (int32_t c = 0; c < bough_run_column_count(w->run); c++)
        json_array_append_new(list, app_json_text(bough_run_column_name(w->run, c)));
    return list;
}

/* Names of what the bits of a set stand for: the page asks for these, and never which engine it is. */
static json_t *json_can(uint32_t can) {
    json_t *list = json_array();
    for (int32_t i = 0; bough_capability_name(i); i++)
        if (can >> i & 1)
            json_array_append_new(list, json_string(bough_capability_name(i)));
    return list;
}

/* Engines that can step the scene, with what each can do. */
static json_t *json_engines(const bough_scene_info *scene) {
    json_t *list = json_array();
    for (int32_t i = 0; i < scene->engine_count; i++)
        if (scene->engines[i].suits)
            json_array_append_new(list, json_pack("{s:s, s:s, s:o}", "name", scene->engines[i].name, "label",
                                                  scene->engines[i].label, "can", json_can(scene->engines[i].can)));
    return list;
}

static json_t *json_integrators(void) {
    json_t *list = json_array();
    for (int32_t i = 0; i < bough_integrator_count(); i++)
        json_array_append_new(list, json_string(bough_integrator_describe(i)->name));
    return list;
}

/* "shoulder", or "wrist 2": the second freedom of its joint. */
static json_t *json_motors(const bough_run *run) {
    json_t *list = json_array();
    bough_run_motor motor;
    for (int32_t i = 0; bough_run_motor_at(run, i, &motor); i++) {
        char name[96], number[32] = "";
        if (motor.freedom > 0)
            snprintf(number, sizeof number, " %d", (int)motor.freedom + 1);
        snprintf(name, sizeof name, "%.50s%s", motor.joint ? motor.joint : "motor", number);
        json_array_append_new(list, json_pack("{s:o, s:s, s:f, s:f}", "name", app_json_text(name), "unit", motor.unit,
                                              "low", motor.lowest, "high", motor.highest));
    }
    return list;
}

static json_t *json_joints(const view_world *w) {
    json_t *list = json_array();
    bough_run_joints(w->run, w->shape->joint_count, w->joints);
    for (int32_t j = 0; j < w->shape->joint_count; j++) {
        const bough_run_joint *joint = &w->joints[j];
        json_array_append_new(list, json_pack("{s:o, s:s, s:i, s:i}", "name",
                                              app_json_text(joint->name ? joint->name : ""), "kind", joint->kind,
                                              "parent", (int)joint->things[0], "child", (int)joint->things[1]));
    }
    return list;
}

static json_t *json_layer(blob *b, const view_stage *stage, const view_world *w) {
    json_t *layer = json_object();
    json_object_set_new(layer, "name", app_json_text(stage->name));
    json_object_set_new(layer, "engine", json_string(w->choice.engine));
    json_object_set_new(layer, "can", json_can(w->can));
    json_object_set_new(layer, "engines", json_engines(stage->scene));
    json_object_set_new(layer, "kind", json_string(stage->scene->kind));
    json_object_set_new(layer, "things", json_string(stage->scene->things));
    json_object_set_new(layer, "coupling", w->choice.coupling ? json_string(w->choice.coupling) : json_null());
    json_object_set_new(layer, "integrator", json_string(w->choice.integrator));
    json_object_set_new(layer, "integrators", json_integrators());
    json_object_set_new(layer, "continuity", json_string(w->choice.continuity));
    json_object_set_new(layer, "dt", json_real(w->choice.dt));
    json_object_set_new(layer, "gravity", app_json_numbers(stage->gravity, 3));
    json_object_set_new(layer, "wind", view_json_wind(stage->wind));
    json_object_set_new(layer, "columns", json_columns(w));
    json_object_set_new(layer, "motors", json_motors(w->run));
    json_object_set_new(layer, "components", json_components(b, w));
    json_object_set_new(layer, "parts", json_parts(b, w));
    json_object_set_new(layer, "names", json_names(w));
    json_object_set_new(layer, "seams", json_seams(b, w));
    json_object_set_new(layer, "joints", json_joints(w));
    if (w->choice.path) { /* another scene */
        const char *slash = strrchr(w->choice.path, '/');
        json_object_set_new(layer, "file", app_json_text(slash ? slash + 1 : w->choice.path));
    }
    return layer;
}

/* Head, JSON filled up with spaces, numbers. */
static view_message *join(json_t *json, const blob *b, uint32_t generation) {
    const size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(9), size = json_dumpb(json, NULL, 0, flags);
    const size_t padded = (size + 7) / 8 * 8;
    view_message *m = size > 0 && !b->lost ? view_message_new(VIEW_HEAD_SIZE + padded + b->size, false) : NULL;
    if (!m)
        return NULL;
    view_write_head(m->bytes, VIEW_STAGE, generation, (uint32_t)padded);
    memset(m->bytes + VIEW_HEAD_SIZE, ' ', padded);
    json_dumpb(json, (char *)m->bytes + VIEW_HEAD_SIZE, size, flags);
    if (b->size > 0)
        memcpy(m->bytes + VIEW_HEAD_SIZE + padded, b->bytes, b->size);
    return m;
}

bough_status view_stage_make(const view_stage *stage, view_message **message) {
    blob b = {0};
    json_t *json = json_layer(&b, stage, stage->worlds[0]);
    json_object_set_new(json, "ghost", stage->worlds[1] ? json_layer(&b, stage, stage->worlds[1]) : json_null());
    json_object_set_new(json, "files", stage->files ? json_deep_copy(stage->files) : json_array());
    json_object_set_new(json, "file", stage->file ? app_json_text(stage->file) : json_null());
    *message = join(json, &b, stage->generation);
    json_decref(json);
    free(b.bytes);
    return *message ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}
