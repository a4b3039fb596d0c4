/* Contact of trees as programs describe it: obstacles and solids by their shapes. */
#include "tree/touch.h"

#include "base/pose.h"

#define TOUCH_COOKIE 0xB0061054u

bough_tree_touch_def bough_default_tree_touch_def(void) {
    const bo_tree_touch_def def = bo_default_tree_touch_def();
    return (bough_tree_touch_def){.cookie = TOUCH_COOKIE,
                                  .friction = def.friction,
                                  .slip_speed = def.slip,
                                  .most_contacts = def.most_contacts,
                                  .rest_speed = def.rest_speed,
                                  .rest_time = def.rest_time};
}

/* The shape in the frame of what it belongs to, once it was checked. */
static bough_status shape_of(bough_context *ctx, const bough_shape_def *def, bo_obstacle *to) {
    bough_shape *checked;
    BO_TRY(bough_shape_create(ctx, def, &checked));
    bough_shape_destroy(ctx, checked);
    *to = (bo_obstacle){.pose = bo_pose(&def->frame)};
    switch (def->kind) {
    case BOUGH_SHAPE_PLANE:
        to->kind = BO_OBSTACLE_PLANE;
        return BOUGH_OK;
    case BOUGH_SHAPE_SPHERE:
        to->kind = BO_OBSTACLE_SPHERE, to->radius = def->radius;
        return BOUGH_OK;
    case BOUGH_SHAPE_BOX:
        to->kind = BO_OBSTACLE_BOX, to->halves = bo_load3(def->half);
        return BOUGH_OK;
    default:
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "parts touch planes, spheres and boxes");
    }
}

static bough_status list_obstacles(bough_context *ctx, const bough_tree_touch_def *def, bo_touch_obstacle *to) {
    for (int32_t i = 0; i < def->obstacle_count; i++) {
        const bough_obstacle_def *from = &def->obstacles[i];
        for (int32_t k = 0; k < from->shape_count; k++, to++) {
            *to = (bo_touch_obstacle){.friction = from->friction, .thing = i};
            BO_TRY(shape_of(ctx, &from->shapes[k], &to->shape));
            to->shape.pose = bo_se3_mul(bo_pose(&from->pose), to->shape.pose);
            if (!(from->friction >= 0 && from->friction < INFINITY))
                return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "obstacle %d: friction must not be negative", i);
        }
    }
    return BOUGH_OK;
}

static bough_status list_solids(bough_context *ctx, const bough_tree_touch_def *def, bo_tree_solid *to) {
    for (int32_t i = 0; i < def->solid_count; i++) {
        to[i].part = def->solids[i].part;
        BO_TRY(shape_of(ctx, &def->solids[i].shape, &to[i].shape));
    }
    return BOUGH_OK;
}

bough_status bough_tree_state_touch(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                    const bough_tree_touch_def *def) {
    if (!def)
        return bo_tree_state_touch(ctx, model, state, NULL);
    if (def->cookie != TOUCH_COOKIE || def->obstacle_count < 0 || def->solid_count < 0)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the def was not made by bough_default_tree_touch_def()");
    int32_t shapes = 0;
    for (int32_t i = 0; i < def->obstacle_count; i++)
        shapes += def->obstacles[i].shape_count;
    bo_touch_obstacle *obstacles = BO_NEW_ZEROS(ctx, bo_touch_obstacle, shapes);
    bo_tree_solid *solids = BO_NEW_ZEROS(ctx, bo_tree_solid, def->solid_count);
    bough_status status = obstacles && solids ? list_obstacles(ctx, def, obstacles) : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK)
        status = list_solids(ctx, def, solids);
    if (status == BOUGH_OK)
        status = bo_tree_state_touch(ctx, model, state,
                                     &(bo_tree_touch_def){.obstacle_count = shapes,
                                                          .obstacles = obstacles,
                                                          .solid_count = def->solid_count,
                                                          .solids = solids,
                                                          .friction = def->friction,
                                                          .slip = def->slip_speed,
                                                          .most_contacts = def->most_contacts,
                                                          .rest_speed = def->rest_speed,
                                                          .rest_time = def->rest_time,
                                                          .between = def->between});
    bo_free(ctx, obstacles);
    bo_free(ctx, solids);
    return status;
}

int32_t bough_tree_state_contacts(const bough_tree_state *state, int32_t most, bough_run_contact *contacts) {
    const bo_tree_touch *touch = bo_tree_work_of(state)->touch;
    const int32_t count = touch ? touch->contact_count : 0;
    for (int32_t i = 0; i < count && i < most; i++) {
        const bo_tree_contact *from = &touch->contacts[i];
        const int32_t other = from->obstacle >= 0 ? -1 - touch->def.obstacles[from->obstacle].thing : from->other;
        contacts[i] = (bough_run_contact){.things = {from->part, other}, .gap = from->gap};
        bo_store3(contacts[i].position, from->position);
        bo_store3(contacts[i].normal, from->normal);
        bo_store3(contacts[i].force, from->force);
    }
    return count;
}
