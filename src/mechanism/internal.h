/* Modes of what is between the end effectors, with these held (Craig and Bampton). docs/theory/mechanism.md, "Internal
 * modes". */
#ifndef BO_MECHANISM_INTERNAL_H
#define BO_MECHANISM_INTERNAL_H

#include "mechanism/mechanism.h"

typedef struct bo_internal {
    int32_t count;
    double *squares;     /* count: omega^2 */
    double *twists;      /* count x 6 links: of the links, in their frames */
    double *coordinates; /* count x coordinates: of the joints */
} bo_internal;

/* The first model->internal_count of them (fewer where there are no more) about a model whose directions are known: Q,
 * P and compliances. */
bough_status bo_internal_find(bough_context *ctx, const bough_mechanism *mechanism,
                              const bough_mechanism_statics *statics, const bough_mechanism_model *model,
                              bo_internal *internal);
void bo_internal_free(bough_context *ctx, bo_internal *internal);

#endif
