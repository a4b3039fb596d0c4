/* Obstacles as they are looked at: things that belong to the surroundings, for engines whose own things are drawn by a
 * mesh or a model that has no room for them. They stand beside these: numbers behind all others, and no vertices in the
 * mesh of the run. */
#ifndef BO_ENGINE_SURROUNDINGS_H
#define BO_ENGINE_SURROUNDINGS_H

#include "engine/engine.h"

/* An obstacle; the shapes that are touched are told to engines otherwise. */
typedef struct bo_obstacle_look {
    const char *name;
    bough_pose rest; /* in the world, at time 0 */
    /* Tells its place and motion at a time; NULL: it stays. */
    void (*frame)(const void *data, double t, bough_frame *frame);
    const void *frame_data;
} bo_obstacle_look;

/* All obstacles of a scene. Zero bytes: none. */
typedef struct bo_surroundings {
    int32_t count;
    const bo_obstacle_look *obstacles;
    /* Makes their looks, whose arrays become the engine's, also when it fails (bo_looks_free). plane: side of a plane, m.
     * Called when somebody looks for the first time. */
    bough_status (*draw)(bough_context *ctx, const void *data, double plane, bough_look *looks);
    const void *draw_data;
} bo_surroundings;

/* Makes the looks of all obstacles, and describes them as things whose looks have numbers from first_look on. size: of
 * what the engine moves, m; planes, which have no end, are drawn some times as large. */
bough_status bo_surroundings_gather(bough_context *ctx, const bo_surroundings *around, double size, int32_t first_look,
                                    bough_thing *things, bough_look *looks);
/* Tells where obstacle i is at time t. */
void bo_surroundings_look_at(const bo_surroundings *around, int32_t i, double t, bough_thing_state *state);

#endif
