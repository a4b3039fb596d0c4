/* Order along Morton's space-filling curve: points that are near in space are mostly near in the order. */
#ifndef BO_BASE_MORTON_H
#define BO_BASE_MORTON_H

#include "base/context.h"

/* Writes into order the numbers 0 .. count-1, sorted along the curve through the points that point() returns. Equal
 * points keep their order; coordinates that are not finite count as lowest. */
bough_status bo_morton_order(bough_context *ctx, int32_t count,
                             void (*point)(const void *data, int32_t index, double x[3]), const void *data,
                             int32_t *order);

#endif
