#include "engine/surroundings.h"

#define PLANES 6 /* side of a plane, in sizes of what stands on it */

static bough_thing describe(const bo_obstacle_look *obstacle, int32_t look) {
    return (bough_thing){.name = obstacle->name,
                         .kind = "obstacle",
                         .parent = -1,
                         .drawing = BOUGH_DRAWN_RIGID,
                         .look = look,
                         .scale = 1,
                         .stiffness = 1,
                         .rest = obstacle->rest,
                         .held = true};
}

bough_status bo_surroundings_gather(bough_context *ctx, const bo_surroundings *around, double size, int32_t first_look,
                                    bough_thing *things, bough_look *looks) {
    for (int32_t i = 0; i < around->count; i++)
        things[i] = describe(&around->obstacles[i], first_look + i);
    return around->count > 0 ? around->draw(ctx, around->draw_data, PLANES * size, looks) : BOUGH_OK;
}

void bo_surroundings_look_at(const bo_surroundings *around, int32_t i, double t, bough_thing_state *state) {
    const bo_obstacle_look *obstacle = &around->obstacles[i];
    *state = (bough_thing_state){.frame = {.pose = obstacle->rest}, .parent = -1, .there = true, .stiffness = 1};
    if (obstacle->frame)
        obstacle->frame(obstacle->frame_data, t, &state->frame);
}
