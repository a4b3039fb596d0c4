#include "base/context.h"

#include <bough/contact.h>

#define SHAPE_COOKIE 0xB0067001u

bough_shape_def bough_default_shape_def(void) {
    return (bough_shape_def){
        .cookie = SHAPE_COOKIE, .kind = BOUGH_SHAPE_SPHERE, .frame = bough_default_pose(), .radius = 0.1};
}
