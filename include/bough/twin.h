/* Full-order twins: the parts of a multibody system (<bough/multibody.h>) with all nodes of their meshes instead of a
 * basis, in the same assembly and by the same steps. They are what reduced parts are compared with, and motions of theirs
 * are snapshots to cook from (bough_cook_def.snapshots).
 */
#ifndef BOUGH_TWIN_H
#define BOUGH_TWIN_H

#include <bough/fem.h>
#include <bough/multibody.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes the full order of a part for bough_flexible_def.full. `body` is what the component was cooked from;
 * `component`, which may be rigid, says by which interface it hangs and where the others are. Its vertices there are
 * held. Both must outlive it, and it must outlive the models that it is a part of; threads may share it. Fails with
 * BOUGH_ERROR_ARGUMENT if the component hangs by no interface or was cooked from another mesh. */
BOUGH_API bough_status bough_full_part_create(bough_context *ctx, const bough_body *body,
                                              const bough_component *component, bough_full_part **part);
/* Takes NULL too. */
BOUGH_API void bough_full_part_destroy(bough_context *ctx, bough_full_part *part);

#ifdef __cplusplus
}
#endif

#endif
