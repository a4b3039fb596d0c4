#include "fem/touch_def.h"

#include "rig/body.h"
#include "rig/shape.h"

#include <string.h>

#define TOUCH_COOKIE 0xB0061013u
#define MOST_OBSTACLES 100000 /* a slip or an attack beyond */
enum { MOST_GRIDS = 100 };    /* each takes a part of a second */

bough_body_touch_def bough_default_body_touch_def(void) {
    const bo_touch_def def = bo_default_touch_def();
    return (bough_body_touch_def){
        .cookie = TOUCH_COOKIE, .friction = def.friction, .slip_speed = def.slip, .stiffness = def.stiffness};
}

/* ---- places ---- */

static bool is_led(const bough_body_touch *touch, int32_t obstacle, double t, bough_pose *pose) {
    *pose = touch->poses[obstacle];
    if (touch->lead && touch->lead(touch->lead_data, obstacle, t, pose))
        return true;
    *pose = touch->poses[obstacle];
    return false;
}

static bo_se3 pose_at(const void *data, double t) {
    const bo_made_shape *shape = data;
    bough_pose pose;
    is_led(shape->touch, shape->obstacle, t, &pose);
    return bo_se3_mul(bo_pose(&pose), shape->frame);
}

static bough_status check_lead(bough_context *ctx, const bough_body_touch *touch, int32_t obstacle, double t,
                               bool *led) {
    bough_pose pose;
    *led = is_led(touch, obstacle, t, &pose);
    return bo_good_pose(&pose)
               ? BOUGH_OK
               : bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                         "%s is led to what is no pose at t = %g; it needs a rotation matrix and finite numbers",
                         bo_label_of("obstacle", obstacle, touch->names[obstacle]).text, t);
}

bough_status bo_body_touch_check_leads(bough_context *ctx, const bough_body_touch *touch, double t) {
    bool led;
    for (int32_t i = 0; touch->lead && i < touch->obstacle_count; i++)
        BO_TRY(check_lead(ctx, touch, i, t, &led));
    return BOUGH_OK;
}

/* ---- shapes ---- */

typedef struct {
    bough_context *ctx;
    bough_body_touch *touch;
    int32_t next, grids; /* how many were made */
    const char *name;    /* of the obstacle whose shapes are made, for messages */
} making;

static bough_status count_grid(making *m) {
    if (++m->grids > MOST_GRIDS)
        return bo_fail(m->ctx, BOUGH_ERROR_ARGUMENT,
                       "there are more than %d hulls; take boxes, spheres, capsules or meshes that were made before",
                       MOST_GRIDS);
    return bo_progress(m->ctx, "obstacles", 0, "distances from shape %d", m->grids) ? BOUGH_OK
                                                                                    : bo_fail_cancelled(m->ctx);
}

/* The surface by which a hull touches. */
static bough_status make_hull(making *m, const bough_shape_def *def, bough_shape_mesh **mesh) {
    BO_TRY(count_grid(m));
    return bo_shape_mesh_of(m->ctx, def, mesh);
}

static bo_made_shape *begin_shape(making *m, int32_t obstacle, bo_touch_obstacle **to) {
    bough_body_touch *touch = m->touch;
    bo_made_shape *shape = &touch->shapes[m->next];
    *to = &touch->touched[m->next++];
    *shape = (bo_made_shape){.touch = touch, .obstacle = obstacle, .frame = bo_se3_identity()};
    return shape;
}

static bough_status take_shape(making *m, const bough_shape_def *def, bo_made_shape *shape, bo_obstacle *to) {
    bough_shape *checked;
    BO_TRY(bough_shape_create(m->ctx, def, &checked));
    bough_shape_destroy(m->ctx, checked);
    shape->frame = bo_pose(&def->frame);
    if (bo_obstacle_of_shape(def, to))
        return BOUGH_OK;
    if (def->kind == BOUGH_SHAPE_HEIGHT_FIELD) {
        to->kind = BO_OBSTACLE_HEIGHT, to->height = &shape->height;
        return bo_height_spline_make(m->ctx, def->columns, def->rows, def->cell, def->heights, &shape->height);
    }
    if (def->kind == BOUGH_SHAPE_HULL)
        BO_TRY(make_hull(m, def, &shape->mesh));
    to->kind = BO_OBSTACLE_GRID, to->grid = shape->mesh ? &shape->mesh->grid : &def->mesh->grid;
    return BOUGH_OK;
}

static void place_shape(const bough_body_touch *touch, const bough_obstacle_def *from, bool led, bo_made_shape *shape,
                        bo_touch_obstacle *to) {
    to->name = touch->names[shape->obstacle], to->friction = from->friction, to->thing = shape->obstacle;
    to->shape.pose = bo_se3_mul(bo_pose(&from->pose), shape->frame);
    if (led)
        to->pose = pose_at, to->pose_data = shape, to->shape.pose = pose_at(shape, 0);
}

static bough_status make_obstacle(making *m, const bough_body_touch_def *def, int32_t i) {
    const bough_obstacle_def *from = &def->obstacles[i];
    const bo_label label = bo_label_of("obstacle", i, from->name);
    bool led;
    bo_touch_obstacle *to;
    m->name = label.text;
    m->touch->poses[i] = from->pose;
    if (from->name && !(m->touch->names[i] = bo_strdup(m->ctx, from->name)))
        return BOUGH_ERROR_MEMORY;
    BO_TRY(check_lead(m->ctx, m->touch, i, 0, &led));
    for (int32_t k = 0; k < from->shape_count; k++) {
        bo_made_shape *shape = begin_shape(m, i, &to);
        const bough_status status = take_shape(m, &from->shapes[k], shape, &to->shape);
        if (status == BOUGH_ERROR_ARGUMENT)
            bo_prefix_message(m->ctx, "%s: ", m->name);
        BO_TRY(status);
        place_shape(m->touch, from, led, shape, to);
    }
    return BOUGH_OK;
}

/* ---- all ---- */

static bough_status check_def(bough_context *ctx, const bough_body_touch_def *def, int32_t *shapes) {
    if (!def || def->cookie != TOUCH_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the def was not made by bough_default_body_touch_def()");
    if (def->obstacle_count < 0 || def->obstacle_count > MOST_OBSTACLES || (def->obstacle_count && !def->obstacles))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "there can be 0 to %d obstacles, not %d", MOST_OBSTACLES,
                       def->obstacles ? def->obstacle_count : 0);
    *shapes = 0;
    for (int32_t i = 0; i < def->obstacle_count; i++) {
        const bough_obstacle_def *from = &def->obstacles[i];
        BO_TRY(bo_obstacle_check(ctx, from, i));
        if (from->shape_count < 0 || from->shape_count > MOST_OBSTACLES - *shapes ||
            (from->shape_count && !from->shapes))
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: there can be 0 to %d shapes in all, not %d",
                           bo_label_of("obstacle", i, from->name).text, MOST_OBSTACLES,
                           from->shapes ? from->shape_count : 0);
        *shapes += from->shape_count;
    }
    return BOUGH_OK;
}

static bough_status fill(bough_context *ctx, const bough_body_touch_def *def, bough_body_touch *touch) {
    making m = {.ctx = ctx, .touch = touch};
    touch->names = BO_NEW_ZEROS(ctx, char *, touch->obstacle_count);
    touch->poses = BO_NEW_ZEROS(ctx, bough_pose, touch->obstacle_count);
    touch->shapes = BO_NEW_ZEROS(ctx, bo_made_shape, touch->shape_count);
    touch->touched = BO_NEW_ZEROS(ctx, bo_touch_obstacle, touch->shape_count);
    if (!touch->names || !touch->poses || !touch->shapes || !touch->touched)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < def->obstacle_count; i++)
        BO_TRY(make_obstacle(&m, def, i));
    return BOUGH_OK;
}

bough_status bough_body_touch_create(bough_context *ctx, const bough_body_touch_def *def, bough_body_touch **out) {
    int32_t shapes = 0;
    *out = NULL;
    BO_TRY(check_def(ctx, def, &shapes));
    bough_body_touch *touch = BO_NEW(ctx, bough_body_touch);
    if (!touch)
        return BOUGH_ERROR_MEMORY;
    *touch = (bough_body_touch){
        .obstacle_count = def->obstacle_count, .shape_count = shapes, .lead = def->lead, .lead_data = def->lead_data};
    touch->def = (bo_touch_def){.support = def->distance,
                                .slip = def->slip_speed,
                                .stiffness = def->stiffness,
                                .friction = def->friction,
                                .spacing = def->spacing,
                                .itself = def->itself};
    bough_status status = bo_touch_check(ctx, &touch->def);
    if (status == BOUGH_OK)
        status = fill(ctx, def, touch);
    if (status != BOUGH_OK) {
        bough_body_touch_destroy(ctx, touch);
        return status;
    }
    touch->def.obstacle_count = shapes, touch->def.obstacles = touch->touched;
    *out = touch;
    return BOUGH_OK;
}

void bough_body_touch_destroy(bough_context *ctx, bough_body_touch *touch) {
    if (!touch)
        return;
    for (int32_t i = 0; touch->names && i < touch->obstacle_count; i++)
        bo_free(ctx, touch->names[i]);
    for (int32_t k = 0; touch->shapes && k < touch->shape_count; k++) {
        bo_height_spline_free(ctx, &touch->shapes[k].height);
        bough_shape_mesh_destroy(ctx, touch->shapes[k].mesh);
    }
    bo_free(ctx, touch->names);
    bo_free(ctx, touch->poses);
    bo_free(ctx, touch->shapes);
    bo_free(ctx, touch->touched);
    bo_free(ctx, touch);
}
