/* Shapes of end effectors, of the base and of links: checks, memory, rows. */
#include "mechanism/touches.h"

#include "contact/rows.h"
#include "rig/body.h"

#include <string.h>

#define TOUCH_COOKIE 0xB0061073u
#define MOST_TOUCHES 100000

bough_touch_def bough_default_touch_def(void) {
    return (bough_touch_def){.cookie = TOUCH_COOKIE, .shape = bough_default_shape_def(), .friction = 0.5};
}

static bough_status check_touch(bough_context *ctx, int32_t end_effector_count, int32_t link_count,
                                const bough_touch_def *touch, int32_t i) {
    if (touch->cookie != TOUCH_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "touch %d was not made by bough_default_touch_def()", i);
    if (touch->end_effector == BOUGH_TOUCH_BY_LINK && link_count == 0)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "touch %d: the links of a blend do not touch; make the link an end effector", i);
    if (touch->end_effector == BOUGH_TOUCH_BY_LINK && (touch->link < 0 || touch->link >= link_count))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "touch %d: it is of link %d, but they are 0 .. %d", i, touch->link,
                       link_count - 1);
    if (touch->end_effector < BOUGH_TOUCH_BY_LINK || touch->end_effector >= end_effector_count)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "touch %d: it is of end effector %d, but they are 0 .. %d", i,
                       touch->end_effector, end_effector_count - 1);
    return bo_check_friction(ctx, bo_label_of("touch", i, NULL).text, touch->friction);
}

/* Adds the shapes of one end effector or link, and the place that they share, if there are any. */
static void add_place(bough_contact_place_def place, int32_t touch_count, const bough_touch_def *defs,
                      bo_touches *touches) {
    const bool of_link = place.kind == BOUGH_CONTACT_OF_LINK;
    bool first = true;
    for (int32_t i = 0; i < touch_count; i++) {
        if (of_link ? defs[i].end_effector != BOUGH_TOUCH_BY_LINK || defs[i].link != place.index
                    : defs[i].end_effector != place.index)
            continue;
        if (first) {
            touches->defs[touches->place_count] = place;
            touches->places[touches->place_count] = (bo_touch_place){
                .def = place, .motion = touches->numbers + 6 * (size_t)touches->size * (size_t)touches->place_count};
            touches->place_count++;
        }
        first = false;
        touches->shapes[touches->shape_count++] = (bough_contact_shape_def){
            .place = touches->place_count - 1, .number = i, .shape = defs[i].shape, .friction = defs[i].friction};
    }
}

/* Places with shapes are few; each end effector and link is looked for among all touches. */
static bough_status fill(bough_context *ctx, const bo_touches_def *def, bo_touches *touches) {
    const int32_t count = def->touch_count;
    touches->size = def->size;
    if (count < 0 || count > MOST_TOUCHES || (count > 0 && !def->touches))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a mechanism cannot have %d touches", count);
    for (int32_t i = 0; i < count; i++)
        BO_TRY(check_touch(ctx, def->end_effector_count, def->link_count, &def->touches[i], i));
    touches->places = BO_NEW_ZEROS(ctx, bo_touch_place, count);
    touches->defs = BO_NEW_ZEROS(ctx, bough_contact_place_def, count);
    touches->shapes = BO_NEW_ZEROS(ctx, bough_contact_shape_def, count);
    touches->numbers = BO_NEW_ZEROS(ctx, double, 6 * (size_t)def->size * (size_t)count);
    touches->own = BO_NEW_ZEROS(ctx, double, def->own_size);
    if (!touches->places || !touches->defs || !touches->shapes || !touches->numbers || !touches->own)
        return bo_fail_memory(ctx);
    for (int32_t e = BOUGH_TOUCH_BY_BASE; e < def->end_effector_count; e++)
        add_place((bough_contact_place_def){BOUGH_CONTACT_OF_END_EFFECTOR, e}, count, def->touches, touches);
    for (int32_t link = 0; link < def->link_count; link++)
        add_place((bough_contact_place_def){BOUGH_CONTACT_OF_LINK, link}, count, def->touches, touches);
    return BOUGH_OK;
}

void bo_touches_destroy(bough_context *ctx, void *data) {
    bo_touches *touches = data;
    if (!touches)
        return;
    bo_free(ctx, touches->places);
    bo_free(ctx, touches->defs);
    bo_free(ctx, touches->shapes);
    bo_free(ctx, touches->numbers);
    bo_free(ctx, touches->own);
    bo_free(ctx, touches);
}

bough_status bo_touches_make(bough_context *ctx, const bo_touches_def *def, const bough_contact_table *table,
                             void *data, bough_contact_actor *actor) {
    bo_touches *touches = data;
    const bough_status status = data ? fill(ctx, def, touches) : bo_fail_memory(ctx);
    if (status != BOUGH_OK) {
        bo_touches_destroy(ctx, data);
        return status;
    }
    *actor = bough_default_contact_actor();
    actor->table = table, actor->data = touches;
    actor->most_rates = touches->size;
    actor->place_count = touches->place_count, actor->places = touches->defs;
    actor->shape_count = touches->shape_count, actor->shapes = touches->shapes;
    actor->shape_name = "touch";
    return BOUGH_OK;
}

/* By a twist (v; w) a point at r from the base moves with v + w x r. */
void bo_touches_move_with_base(bo_se3 base, int32_t base_size, int32_t size, bo_touch_place *place) {
    const bo_vec3 r = bo_sub(place->pose.t, base.t);
    for (int k = 0; k < base_size; k++) {
        const bo_vec3 axis = bo_v3(base.R.m[k % 3], base.R.m[3 + k % 3], base.R.m[6 + k % 3]);
        bo_put_column(place->motion, size, k, k < 3 ? axis : bo_cross(axis, r), k < 3 ? bo_v3(0, 0, 0) : axis);
    }
}

void bo_touches_tell(const bo_touches *touches, int32_t place, bough_contact_motion *motion) {
    const bo_touch_place *at = &touches->places[place];
    bo_vec3 velocity, spin;
    bo_motion_rates(touches->size, at->motion, touches->y, &velocity, &spin);
    motion->pose = bo_put_pose(at->pose);
    bo_store3(motion->velocity, velocity);
    bo_store3(motion->spin, spin);
}

void bo_touches_rows(const void *data, int32_t place, const double position[3], const double directions[9], double sign,
                     double *rows) {
    const bo_touches *touches = data;
    const bo_touch_place *at = &touches->places[place];
    bo_motion_rows(touches->size, at->motion, bo_sub(bo_load3(position), at->pose.t), directions, sign, rows);
}
