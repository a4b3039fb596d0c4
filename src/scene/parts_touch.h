/* Contact of parts in scene files: "obstacles" and "contact". */
#ifndef BO_SCENE_PARTS_TOUCH_H
#define BO_SCENE_PARTS_TOUCH_H

#include "scene/assembly.h"
#include "scene/body_touch.h"
#include "tree/touch.h"

typedef struct bo_parts_touch {
    bo_body_touch *around; /* the obstacles; never NULL */
    bo_tree_touch_def def;
    bo_tree_solid *solids;
    bo_tree_kept_shapes kept; /* meshes of solids */
    bool *between;            /* components: whose parts touch each other; NULL: none do */
} bo_parts_touch;

/* *touch stays NULL where the scene has neither key. *hash goes on over the files of shapes. */
bough_status bo_parts_touch_read(const bo_json *root, const bo_assembly *assembly, uint64_t *hash,
                                 bo_parts_touch **touch);
/* Takes NULL too. */
void bo_parts_touch_free(bough_context *ctx, bo_parts_touch *touch);

#endif
