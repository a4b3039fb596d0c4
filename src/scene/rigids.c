/* Free bodies and obstacles: what mechanisms and multibody systems say about their surroundings in the same words. */
#include "scene/mechanism_scene.h"

#include "base/pose.h"
#include "scene/assembly.h"
#include "scene/entries.h"
#include "tree/track.h"

#include <string.h>

#define MOST_RIGIDS 10000 /* a slip or an attack beyond */

/* ---- which shapes will do ---- */

bough_status bo_scene_must_move(bo_json at, const bo_scene_shapes *shapes) {
    for (int32_t i = 0; i < shapes->count; i++)
        if (shapes->shapes[i].form == BO_FORM_PLANE || shapes->shapes[i].form == BO_FORM_HEIGHT_FIELD)
            return bo_json_fail(at, "planes and height fields are for obstacles");
    return BOUGH_OK;
}

/* ---- reading ---- */

static bo_se3 pose_at(const void *track, double t) {
    bo_track_pose pose;
    bo_track_at(track, t, &pose);
    return (bo_se3){pose.rotation, pose.position};
}

/* A body is described from its centre of mass from here on. */
static void centre_body(bo_scene_rigid *body, const double centre[3]) {
    const bo_vec3 c = bo_load3(centre);
    const bo_se3 pose = bo_pose(&body->pose);
    bo_store3(body->pose.position, bo_se3_apply(pose, c));
    for (int32_t i = 0; i < body->shapes.count; i++) {
        double *at = body->shapes.shapes[i].def.frame.position;
        bo_store3(at, bo_sub(bo_load3(at), c));
    }
}

static bough_status read_body(bo_json at, bo_scene_rigid *body) {
    bough_rigid_body_def w = {0};
    BO_TRY(bo_json_vec3(bo_json_at(&at, "velocity"), BO_ANY, body->velocity));
    BO_TRY(bo_json_vec3(bo_json_at(&at, "spin"), BO_ANY, body->spin));
    BO_TRY(bo_json_number(bo_json_at(&at, "restitution"), (bo_range){0, 1, false}, &body->restitution));
    BO_TRY(bo_scene_must_move(bo_json_at(&at, "shape"), &body->shapes));
    BO_TRY(bo_scene_weight(&at, &body->shapes, false, &w));
    body->mass = w.mass;
    memcpy(body->inertia, w.inertia, sizeof w.inertia);
    centre_body(body, w.centre);
    return BOUGH_OK;
}

/* A track says where an obstacle is, from its start on. */
static bough_status read_track(bo_json at, bo_scene_rigid *obstacle) {
    bo_json track = bo_json_at(&at, "track");
    if (track.value && (bo_json_has(&at, "position") || bo_json_has(&at, "rotate_deg")))
        return bo_json_fail(track, "says where the obstacle is; leave out \"position\" and \"rotate_deg\"");
    bo_spline *spline;
    BO_TRY(bo_track_read_spline(track, &spline));
    obstacle->track = spline;
    if (spline)
        obstacle->pose = bo_put_pose(pose_at(obstacle->track, 0));
    return BOUGH_OK;
}

static bough_status read_rigid(bo_json at, bool body, json_t *names, uint64_t *hash, bo_mesh_stock *stock,
                               int32_t index, bo_scene_rigid *rigid) {
    bo_json shape = bo_json_must(&at, "shape");
    bo_se3 pose = bo_se3_identity();
    bool touches = true;
    rigid->friction = 0.5;
    BO_TRY(body ? bo_json_keys(at, BO_RIGID_BODY_KEYS) : bo_json_keys(at, BO_OBSTACLE_KEYS));
    BO_TRY(bo_json_add_name(bo_json_must(&at, "name"), body ? "body" : "obstacle", names, index, &rigid->name));
    BO_TRY(bo_scene_pose(&at, &pose));
    rigid->pose = bo_put_pose(pose);
    BO_TRY(bo_scene_read_shapes(shape, &rigid->shapes, hash));
    if (!body)
        BO_TRY(bo_json_flag(bo_json_at(&at, "touch"), &touches));
    rigid->drawn_only = !touches;
    if (touches)
        BO_TRY(bo_scene_let_touch(shape, stock, &rigid->shapes));
    BO_TRY(bo_json_number(bo_json_at(&at, "friction"), BO_NOT_NEGATIVE, &rigid->friction));
    return body ? read_body(at, rigid) : read_track(at, rigid);
}

bough_status bo_scene_read_budget(bo_json at, int32_t *most_contacts) {
    BO_TRY(bo_json_keys(at, BO_WORLD_CONTACT_KEYS));
    return bo_json_integer(bo_json_at(&at, "most_contacts"), 1, 1000000, most_contacts);
}

bough_status bo_scene_read_rigids(bo_json at, bool bodies, json_t *names, uint64_t *hash, bo_mesh_stock *stock,
                                  int32_t *count, bo_scene_rigid **rigids) {
    int32_t n;
    BO_TRY(bo_json_list(at, &n));
    if (n > MOST_RIGIDS)
        return bo_json_fail(at, "%d of them are too many; %d is the limit", n, MOST_RIGIDS);
    if (!(*rigids = BO_NEW_ZEROS(at.ctx, bo_scene_rigid, n)))
        return BOUGH_ERROR_MEMORY;
    *count = n;
    for (int32_t i = 0; i < n; i++)
        BO_TRY(read_rigid(bo_json_item(&at, i), bodies, names, hash, stock, i, &(*rigids)[i]));
    return BOUGH_OK;
}

void bo_scene_free_rigids(bough_context *ctx, int32_t count, bo_scene_rigid *rigids) {
    for (int32_t i = 0; i < count; i++) {
        bo_free(ctx, rigids[i].name);
        bo_track_free(ctx, rigids[i].track);
        bo_scene_free_shapes(ctx, &rigids[i].shapes);
    }
    bo_free(ctx, rigids);
}

/* ---- as contact worlds see them ---- */

static const bough_shape_def *copy_shapes(const bo_scene_shapes *shapes, bough_shape_def **to) {
    const bough_shape_def *first = *to;
    for (int32_t i = 0; i < shapes->count; i++)
        *(*to)++ = shapes->shapes[i].def;
    return first;
}

void bo_scene_describe_obstacle(const bo_scene_rigid *from, bough_shape_def **shapes, bough_obstacle_def *to) {
    *to = bough_default_obstacle_def();
    to->name = from->name, to->pose = from->pose, to->friction = from->friction;
    if (from->drawn_only)
        return;
    to->shape_count = from->shapes.count;
    to->shapes = copy_shapes(&from->shapes, shapes);
}

bough_status bo_scene_describe_leads(bough_context *ctx, int32_t count, const bo_scene_rigid *obstacles,
                                     bo_lead **leads) {
    bool any = false;
    for (int32_t i = 0; i < count; i++)
        any = any || obstacles[i].track;
    *leads = any ? BO_NEW_ZEROS(ctx, bo_lead, count) : NULL;
    for (int32_t i = 0; *leads && i < count; i++)
        if (obstacles[i].track)
            (*leads)[i] = (bo_lead){pose_at, obstacles[i].track};
    return *leads || !any ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

void bo_scene_describe_body(const bo_scene_rigid *from, bough_shape_def **shapes, bough_rigid_body_def *to) {
    const bo_mat3 R = bo_pose(&from->pose).R;
    *to = bough_default_rigid_body_def();
    to->name = from->name, to->pose = from->pose, to->mass = from->mass;
    memcpy(to->inertia, from->inertia, sizeof to->inertia);
    bo_store3(to->twist, bo_mat_tvec(R, bo_load3(from->velocity)));
    bo_store3(to->twist + 3, bo_mat_tvec(R, bo_load3(from->spin)));
    to->friction = from->friction, to->restitution = from->restitution;
    to->shape_count = from->shapes.count;
    to->shapes = copy_shapes(&from->shapes, shapes);
}
