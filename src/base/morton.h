/* Order along Morton's space-filling curve: what is near in space is mostly near in the order. */
#ifndef BO_BASE_MORTON_H
#define BO_BASE_MORTON_H

#include "base/context.h"

/* order: 0 .. count-1, sorted along the curve through their points, which point() tells. Equal places keep their
 * order; coordinates that are not finite count as lowest. */
bough_status bo_morton_order(bough_context *ctx, int32_t count,
                             void (*point)(const void *data, int32_t index, double x[3]), const void *data,
                             int32_t *order);

#endif
