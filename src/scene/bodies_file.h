/* Scenes of several full bodies: "bodies" become one mesh of separate pieces, with an element and a vertex set of its
 * name for each, and NAME.SET for each set of its mesh. */
#ifndef BO_SCENE_BODIES_FILE_H
#define BO_SCENE_BODIES_FILE_H

#include "fem/engine.h"
#include "scene/entries.h"

/* True where "bodies" are full ones: the first has a mesh. */
bool bo_has_full_bodies(const bo_json *root);

/* Reads them; with no mesh they are checked only. material: of those that name none. *regions (to be freed with bo_free,
 * also after a failure) has one for each; their names belong to the file. */
bough_status bo_scene_bodies(bo_json at, const bough_material *material, bough_body_region **regions, int32_t *count,
                             bough_mesh **mesh);
/* Sets the velocities that bodies have at the start, 3 for each vertex of the joined mesh. */
bough_status bo_scene_bodies_throw(bo_json at, const bough_mesh *mesh, double *velocity);
/* Lists the bodies as pieces of the joined mesh, to be freed with bo_body_pieces_free(); nothing where there are none. */
bough_status bo_scene_bodies_list(bo_json at, const bough_mesh *mesh, int32_t *count, bo_body_piece **pieces);
void bo_body_pieces_free(bough_context *ctx, int32_t count, bo_body_piece *pieces);

#endif
