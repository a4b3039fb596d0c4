/* A component from its numbers: the draft's arrays (anywhere in memory) are written into a file image, which is then
 * read back and checked like any file. image, image_size and the arrays' sizes that follow from others are ignored. */
#ifndef BO_COMPONENT_PACK_H
#define BO_COMPONENT_PACK_H

#include "base/context.h"

#include <bough/component.h>

bough_status bo_component_pack(bough_context *ctx, const bough_component *draft, bough_component **component);

#endif
