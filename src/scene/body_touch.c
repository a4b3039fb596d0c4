#include "scene/body_touch.h"

#include "base/pose.h"
#include "rig/body.h"
#include "scene/assembly.h"
#include "scene/bodies_file.h"
#include "scene/entries.h"

#include <string.h>

#define MOST_OBSTACLES 1000 /* a slip or an attack beyond */
#define MOST_MESHES 100     /* each takes a part of a second, and a megabyte */

/* ---- reading ---- */

static bough_status read_obstacle(bo_json at, json_t *names, uint64_t *hash, int32_t index,
                                  bo_body_obstacle *obstacle) {
    bo_json track = bo_json_at(&at, "track");
    obstacle->friction = 0.5;
    BO_TRY(bo_json_keys(at, BO_BODY_OBSTACLE_KEYS));
    BO_TRY(bo_json_add_name(bo_json_must(&at, "name"), "obstacle", names, index, &obstacle->name));
    if (track.value && (bo_json_has(&at, "position") || bo_json_has(&at, "rotate_deg")))
        return bo_json_fail(track, "says where the obstacle is; leave out \"position\" and \"rotate_deg\"");
    obstacle->pose = bo_se3_identity();
    BO_TRY(bo_scene_pose(&at, &obstacle->pose));
    BO_TRY(bo_scene_read_shapes(bo_json_must(&at, "shape"), &obstacle->shapes, hash));
    BO_TRY(bo_json_number(bo_json_at(&at, "friction"), BO_NOT_NEGATIVE, &obstacle->friction));
    return bo_track_read_spline(track, &obstacle->track);
}

static bough_status read_obstacles(bo_json at, uint64_t *hash, bo_body_touch *touch) {
    int32_t count;
    BO_TRY(bo_json_list(at, &count));
    if (count > MOST_OBSTACLES)
        return bo_json_fail(at, "%d obstacles are too many; %d is the limit", count, MOST_OBSTACLES);
    json_t *names = json_object();
    touch->obstacles = BO_NEW_ZEROS(at.ctx, bo_body_obstacle, count);
    bough_status status = names && touch->obstacles ? BOUGH_OK : bo_fail_memory(at.ctx);
    for (int32_t i = 0; i < count && status == BOUGH_OK; i++) {
        touch->obstacle_count = i + 1;
        status = read_obstacle(bo_json_item(&at, i), names, hash, i, &touch->obstacles[i]);
    }
    json_decref(names);
    return status;
}

static bough_status read_contact(bo_json at, bough_body_touch_def *def) {
    BO_TRY(bo_json_keys(at, BO_BODY_CONTACT_KEYS));
    BO_TRY(bo_json_number(bo_json_at(&at, "distance"), BO_POSITIVE, &def->distance));
    BO_TRY(bo_json_number(bo_json_at(&at, "friction"), BO_NOT_NEGATIVE, &def->friction));
    BO_TRY(bo_json_number(bo_json_at(&at, "slip_speed"), BO_POSITIVE, &def->slip_speed));
    BO_TRY(bo_json_number(bo_json_at(&at, "spacing"), BO_POSITIVE, &def->spacing));
    BO_TRY(bo_json_flag(bo_json_at(&at, "itself"), &def->itself));
    return bo_json_number(bo_json_at(&at, "stiffness"), (bo_range){1e-6, 1e6, false}, &def->stiffness);
}

/* ---- the contact ---- */

static bool lead(void *data, int32_t obstacle, double t, bough_pose *place) {
    const bo_body_touch *touch = data;
    bo_track_pose pose;
    if (!touch->obstacles[obstacle].track)
        return false;
    bo_track_at(touch->obstacles[obstacle].track, t, &pose);
    *place = bo_put_pose((bo_se3){pose.rotation, pose.position});
    return true;
}

bool bo_body_touch_shape(const bo_scene_shape *from, bough_shape_def *def) {
    *def = from->def;
    if (from->form == BO_FORM_CAPSULE)
        def->kind = BOUGH_SHAPE_CAPSULE, def->radius = from->radius, def->half[2] = 0.5 * from->length;
    return from->form != BO_FORM_CYLINDER && from->form != BO_FORM_MESH;
}

/* The shapes of all obstacles, while the contact is made of them. */
typedef struct {
    bough_context *ctx;
    bough_obstacle_def *obstacles;
    bough_shape_def *shapes;
    int32_t shape_count;
} description;

/* Adds a shape. Cylinders and meshes touch by surfaces, which stay with the contact. */
static bough_status add_shape(const bo_scene_shape *from, bo_body_touch *touch, description *d) {
    bough_shape_def *to = &d->shapes[d->shape_count++];
    if (bo_body_touch_shape(from, to))
        return BOUGH_OK;
    if (touch->mesh_count == MOST_MESHES)
        return bo_fail(d->ctx, BOUGH_ERROR_ARGUMENT,
                       "there are more than %d cylinders and meshes; take boxes, spheres or capsules", MOST_MESHES);
    if (!bo_progress(d->ctx, "obstacles", 0, "distances from surface %d", touch->mesh_count + 1))
        return bo_fail_cancelled(d->ctx);
    bough_shape_mesh **mesh = &touch->meshes[touch->mesh_count];
    BO_TRY(bo_shape_touch_mesh(d->ctx, from, 1, mesh));
    to->kind = BOUGH_SHAPE_MESH, to->mesh = *mesh;
    touch->mesh_count++;
    return BOUGH_OK;
}

static bough_status describe(bo_body_touch *touch, description *d) {
    for (int32_t i = 0; i < touch->obstacle_count; i++) {
        const bo_body_obstacle *o = &touch->obstacles[i];
        bough_obstacle_def *to = &d->obstacles[i];
        *to = bough_default_obstacle_def();
        to->name = o->name, to->pose = bo_put_pose(o->pose), to->friction = o->friction;
        to->shapes = &d->shapes[d->shape_count], to->shape_count = o->shapes.count;
        for (int32_t k = 0; k < o->shapes.count; k++) {
            const bough_status status = add_shape(&o->shapes.shapes[k], touch, d);
            if (status == BOUGH_ERROR_ARGUMENT)
                bo_prefix_message(d->ctx, "%s: ", bo_label_of("obstacle", i, o->name).text);
            BO_TRY(status);
        }
    }
    return BOUGH_OK;
}

bough_status bo_body_touch_make(bo_json at, bo_body_touch *touch) {
    description d = {.ctx = at.ctx};
    size_t count = 0;
    for (int32_t i = 0; i < touch->obstacle_count; i++)
        count += (size_t)touch->obstacles[i].shapes.count;
    d.obstacles = BO_NEW_ARRAY(at.ctx, bough_obstacle_def, touch->obstacle_count);
    d.shapes = BO_NEW_ARRAY(at.ctx, bough_shape_def, count);
    touch->meshes = BO_NEW_ZEROS(at.ctx, bough_shape_mesh *, count < MOST_MESHES ? count : MOST_MESHES);
    bough_status status = d.obstacles && d.shapes && touch->meshes ? describe(touch, &d) : BOUGH_ERROR_MEMORY;
    touch->def.obstacle_count = touch->obstacle_count, touch->def.obstacles = d.obstacles;
    touch->def.lead = lead, touch->def.lead_data = touch;
    if (status == BOUGH_OK)
        status = bough_body_touch_create(at.ctx, &touch->def, &touch->made);
    bo_free(at.ctx, d.obstacles);
    bo_free(at.ctx, d.shapes);
    return bo_json_explain(at, status);
}

/* ---- looks ---- */

static void frame_at(const void *data, double t, bough_frame *frame) {
    bo_track_pose pose;
    bo_track_at(data, t, &pose);
    frame->pose = bo_put_pose((bo_se3){pose.rotation, pose.position});
    bo_store3(frame->velocity, pose.velocity);
    bo_store3(frame->angular_velocity, pose.angular_velocity);
}

static bough_status describe_looks(bough_context *ctx, bo_body_touch *touch) {
    if (!(touch->looks = BO_NEW_ZEROS(ctx, bo_obstacle_look, touch->obstacle_count)))
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < touch->obstacle_count; i++) {
        const bo_body_obstacle *o = &touch->obstacles[i];
        bough_frame start = {.pose = bo_put_pose(o->pose)};
        if (o->track)
            frame_at(o->track, 0, &start);
        touch->looks[i] = (bo_obstacle_look){
            .name = o->name, .rest = start.pose, .frame = o->track ? frame_at : NULL, .frame_data = o->track};
    }
    return BOUGH_OK;
}

static bough_status draw(bough_context *ctx, const void *data, double plane, bough_look *looks) {
    const bo_body_touch *touch = data;
    for (int32_t i = 0; i < touch->obstacle_count; i++) {
        const bo_scene_shapes *shapes = &touch->obstacles[i].shapes;
        bo_triangles triangles = {0};
        const bough_status status = bo_shapes_triangles(ctx, shapes, bo_se3_identity(), plane, &triangles);
        if (status != BOUGH_OK) {
            bo_triangles_free(ctx, &triangles);
            return status;
        }
        bo_triangles_show(ctx, &triangles, shapes->shapes[0].colour, &looks[i]);
    }
    return BOUGH_OK;
}

bo_surroundings bo_body_touch_around(const bo_body_touch *touch) {
    return touch ? (bo_surroundings){.count = touch->obstacle_count,
                                     .obstacles = touch->looks,
                                     .draw = draw,
                                     .draw_data = touch}
                 : (bo_surroundings){0};
}

/* ---- all ---- */

bough_status bo_body_touch_obstacles(const bo_json *root, uint64_t *hash, bo_body_touch **out) {
    bo_json obstacles = bo_json_at(root, "obstacles");
    bo_body_touch *touch = *out = BO_NEW(root->ctx, bo_body_touch);
    if (!touch)
        return BOUGH_ERROR_MEMORY;
    touch->def = bough_default_body_touch_def();
    BO_TRY(read_obstacles(obstacles, hash, touch));
    return describe_looks(root->ctx, touch);
}

bough_status bo_body_touch_read(const bo_json *root, uint64_t *hash, bo_body_touch **touch) {
    bo_json obstacles = bo_json_at(root, "obstacles"), contact = bo_json_at(root, "contact");
    const bool several = bo_json_has(root, "bodies");
    if (!obstacles.value && !contact.value && !several)
        return BOUGH_OK;
    BO_TRY(bo_body_touch_obstacles(root, hash, touch));
    (*touch)->def.itself = several;
    BO_TRY(read_contact(contact, &(*touch)->def));
    return obstacles.value || (*touch)->def.itself || several
               ? bo_body_touch_make(obstacles.value ? obstacles : contact, *touch)
               : bo_json_fail(contact, "has nothing to touch; give the scene \"obstacles\", or \"itself\": true");
}

void bo_body_touch_free(bough_context *ctx, bo_body_touch *touch) {
    if (!touch)
        return;
    for (int32_t i = 0; i < touch->obstacle_count; i++) {
        bo_free(ctx, touch->obstacles[i].name);
        bo_scene_free_shapes(ctx, &touch->obstacles[i].shapes);
        bo_track_free(ctx, touch->obstacles[i].track);
    }
    bough_body_touch_destroy(ctx, touch->made);
    for (int32_t k = 0; k < touch->mesh_count; k++)
        bough_shape_mesh_destroy(ctx, touch->meshes[k]);
    bo_free(ctx, touch->meshes);
    bo_body_pieces_free(ctx, touch->piece_count, touch->pieces);
    bo_free(ctx, touch->obstacles);
    bo_free(ctx, touch->looks);
    bo_free(ctx, touch);
}
