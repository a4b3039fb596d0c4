#include "scene/body_touch.h"

#include "base/pose.h"
#include "mesh/generate.h"
#include "scene/assembly.h"
#include "scene/bodies_file.h"
#include "scene/entries.h"

#include <string.h>

#define MOST_OBSTACLES 1000 /* a slip or an attack beyond */
enum { MOST_GRIDS = 100 };  /* each takes a part of a second */
enum { GRID_CELLS = 40 };   /* of a grid of distances, along its longest side */

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
        touch->shape_count += touch->obstacles[i].shapes.count;
    }
    json_decref(names);
    return status;
}

static bough_status read_contact(bo_json at, bo_touch_def *def) {
    BO_TRY(bo_json_keys(at, BO_BODY_CONTACT_KEYS));
    BO_TRY(bo_json_number(bo_json_at(&at, "distance"), BO_POSITIVE, &def->support));
    BO_TRY(bo_json_number(bo_json_at(&at, "friction"), BO_NOT_NEGATIVE, &def->friction));
    BO_TRY(bo_json_number(bo_json_at(&at, "slip_speed"), BO_POSITIVE, &def->slip));
    BO_TRY(bo_json_number(bo_json_at(&at, "spacing"), BO_POSITIVE, &def->spacing));
    BO_TRY(bo_json_flag(bo_json_at(&at, "itself"), &def->itself));
    return bo_json_number(bo_json_at(&at, "stiffness"), (bo_range){1e-6, 1e6, false}, &def->stiffness);
}

/* ---- shapes ---- */

static bo_se3 pose_at(const void *data, double t) {
    const bo_body_shape *shape = data;
    bo_track_pose pose;
    bo_track_at(shape->track, t, &pose);
    return bo_se3_mul((bo_se3){pose.rotation, pose.position}, shape->frame);
}

static bough_status make_grid(bo_json at, const bo_scene_shape *from, bo_distance_grid *grid) {
    bo_triangles t = {0};
    bough_status status = bo_shape_triangles(at.ctx, from, 1, &t);
    if (status == BOUGH_OK)
        status = bo_json_explain(at, bo_distance_grid_around(at.ctx, (int32_t)t.vertex_count, t.vertices,
                                                             (int32_t)t.triangle_count, t.corners,
                                                             from->cells > 0 ? from->cells : GRID_CELLS, grid, NULL));
    bo_triangles_free(at.ctx, &t);
    return status;
}

/* A mesh must be closed, or it has no inside. */
static bough_status check_closed(bo_json at, const bo_scene_shape *shape) {
    bo_edge_census census;
    if (shape->form != BO_FORM_MESH)
        return BOUGH_OK;
    BO_TRY(bo_surface_census(at.ctx, shape->mesh, &census));
    return census.odd_count == 0
               ? BOUGH_OK
               : bo_json_fail(at, "has %d open edges, so that it has no inside; close its holes", census.open_count);
}

bool bo_body_touch_simple(const bo_scene_shape *from, bo_obstacle *obstacle) {
    const bough_shape_def *def = &from->def;
    obstacle->pose = bo_pose(&def->frame);
    switch (from->form) {
    case BO_FORM_PLANE:
        obstacle->kind = BO_OBSTACLE_PLANE;
        return true;
    case BO_FORM_SPHERE:
        obstacle->kind = BO_OBSTACLE_SPHERE, obstacle->radius = def->radius;
        return true;
    case BO_FORM_BOX:
        obstacle->kind = BO_OBSTACLE_BOX, obstacle->halves = bo_load3(def->half);
        return true;
    case BO_FORM_CAPSULE:
        obstacle->kind = BO_OBSTACLE_CAPSULE, obstacle->radius = from->radius, obstacle->half = 0.5 * from->length;
        return true;
    case BO_FORM_HEIGHT_FIELD:
    case BO_FORM_HULL:
    case BO_FORM_CYLINDER:
    case BO_FORM_MESH:
        break;
    }
    return false;
}

static bough_status make_shape(bo_json at, const bo_scene_shape *from, int32_t *grids, bo_body_shape *to,
                               bo_obstacle *obstacle) {
    const bough_shape_def *def = &from->def;
    to->frame = bo_pose(&def->frame);
    if (bo_body_touch_simple(from, obstacle))
        return BOUGH_OK;
    if (from->form == BO_FORM_HEIGHT_FIELD) {
        obstacle->kind = BO_OBSTACLE_HEIGHT, obstacle->height = &to->height;
        return bo_height_spline_make(at.ctx, def->columns, def->rows, def->cell, def->heights, &to->height);
    }
    to->frame = bo_se3_identity(); /* triangles are in the frame of the obstacle already */
    obstacle->kind = BO_OBSTACLE_GRID, obstacle->grid = &to->grid;
    if (++*grids > MOST_GRIDS)
        return bo_json_fail(at, "there are more than %d hulls, cylinders and meshes; take boxes, spheres or capsules",
                            MOST_GRIDS);
    if (!bo_progress(at.ctx, "obstacles", 0, "distances from shape %d", *grids))
        return bo_fail_cancelled(at.ctx);
    BO_TRY(check_closed(at, from));
    return make_grid(at, from, &to->grid);
}

static bough_status make_shapes(bo_json at, bo_body_touch *touch) {
    touch->shapes = BO_NEW_ZEROS(at.ctx, bo_body_shape, touch->shape_count);
    touch->touched = BO_NEW_ZEROS(at.ctx, bo_touch_obstacle, touch->shape_count);
    if (!touch->shapes || !touch->touched)
        return BOUGH_ERROR_MEMORY;
    int32_t k = 0, grids = 0;
    for (int32_t i = 0; i < touch->obstacle_count; i++) {
        const bo_body_obstacle *o = &touch->obstacles[i];
        bo_json item = bo_json_item(&at, i);
        for (int32_t s = 0; s < o->shapes.count; s++, k++) {
            bo_body_shape *shape = &touch->shapes[k];
            bo_touch_obstacle *to = &touch->touched[k];
            BO_TRY(make_shape(bo_json_at(&item, "shape"), &o->shapes.shapes[s], &grids, shape, &to->shape));
            shape->track = o->track;
            to->name = o->name, to->friction = o->friction, to->thing = i;
            to->shape.pose = bo_se3_mul(o->pose, shape->frame);
            if (o->track)
                to->pose = pose_at, to->pose_data = shape, to->shape.pose = pose_at(shape, 0);
        }
    }
    touch->def.obstacle_count = touch->shape_count, touch->def.obstacles = touch->touched;
    return BOUGH_OK;
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
    touch->def = bo_default_touch_def();
    BO_TRY(read_obstacles(obstacles, hash, touch));
    BO_TRY(make_shapes(obstacles, touch));
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
               ? BOUGH_OK
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
    for (int32_t k = 0; touch->shapes && k < touch->shape_count; k++) {
        bo_height_spline_free(ctx, &touch->shapes[k].height);
        bo_distance_grid_free(ctx, &touch->shapes[k].grid);
    }
    bo_body_pieces_free(ctx, touch->piece_count, touch->pieces);
    bo_free(ctx, touch->obstacles);
    bo_free(ctx, touch->shapes);
    bo_free(ctx, touch->touched);
    bo_free(ctx, touch->looks);
    bo_free(ctx, touch);
}
