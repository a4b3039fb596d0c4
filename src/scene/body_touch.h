/* Contact of a full body in scene files: "obstacles" and "contact". */
#ifndef BO_SCENE_BODY_TOUCH_H
#define BO_SCENE_BODY_TOUCH_H

#include "fem/engine.h"
#include "fem/touch_def.h"
#include "scene/mechanism_scene.h"
#include "tree/track.h"

/* An obstacle: one or several shapes that move together. */
typedef struct bo_body_obstacle {
    char *name;
    bo_scene_shapes shapes;
    bo_se3 pose;
    double friction;
    bo_spline *track; /* NULL: it does not move */
} bo_body_obstacle;

typedef struct bo_body_touch {
    int32_t obstacle_count;
    bo_body_obstacle *obstacles;
    bo_obstacle_look *looks;  /* obstacle_count */
    bough_body_touch_def def; /* as read; its arrays are gone once the contact was made */
    bough_body_touch *made;   /* NULL: not yet */
    int32_t mesh_count;
    bough_shape_mesh **meshes; /* by which cylinders and meshes touch */
    int32_t piece_count;       /* bodies of a scene of several; 0: it has one */
    bo_body_piece *pieces;
} bo_body_touch;

/* *touch stays NULL where the scene has neither key, nor several bodies. *hash goes on over the files of shapes. */
bough_status bo_body_touch_read(const bo_json *root, uint64_t *hash, bo_body_touch **touch);
/* "obstacles" alone; there need be none. *touch is to be freed, also when it fails. bo_body_touch_make() follows, once
 * the rest of its def was read; at: for messages. */
bough_status bo_body_touch_obstacles(const bo_json *root, uint64_t *hash, bo_body_touch **touch);
bough_status bo_body_touch_make(bo_json at, bo_body_touch *touch);
/* The shape as bodies touch it; false: they touch the triangles that are drawn. */
bool bo_body_touch_shape(const bo_scene_shape *from, bough_shape_def *def);
/* The obstacles for engines that draw them; NULL: there are none. */
bo_surroundings bo_body_touch_around(const bo_body_touch *touch);
/* Takes NULL too. */
void bo_body_touch_free(bough_context *ctx, bo_body_touch *touch);

#endif
