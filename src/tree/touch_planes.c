#include "tree/touch_planes.h"

#include "base/simd.h"

#include <string.h>

typedef long long four __attribute__((vector_size(32)));

bool bo_tree_planes_clear(const bo_tree_planes *all, const double *place, double around) {
    const bo_vec3 y = bo_load3(place);
    for (int32_t k = 0; k < all->count; k++) {
        const bo_tree_plane *it = &all->planes[k];
        const double gap = it->height + bo_dot(it->up, y) - around;
        if (!(gap < it->within))
            continue;
        const double rate = it->rise + bo_dot(it->turn, y) - it->slack;
        if (gap < all->margin || gap + (rate < 0 ? all->dt * rate : 0) < all->reach)
            return false;
    }
    for (int32_t k = 0; k < all->ball_count; k++) {
        const bo_vec3 way = bo_sub(y, all->balls[k].centre);
        const double within = all->balls[k].within + around / all->scale;
        if (bo_dot(way, way) < within * within)
            return false;
    }
    return true;
}

/* Those of four that are not clear are close. */
BO_INLINE void mark(const four *clear, bool *close) {
    const four is = *clear;
    if (is[0] & is[1] & is[2] & is[3])
        return;
    for (int k = 0; k < 4; k++)
        close[k] |= !is[k];
}

BO_MULTIVERSION
static void look(const bo_tree_planes *all, size_t count, const double *places, double around, bool *close) {
    const double *x = places, *y = x + count, *z = y + count;
    memset(close, 0, count * sizeof *close);
    for (int32_t o = 0; o < all->count; o++) {
        const bo_tree_plane *it = &all->planes[o];
        const bo_vec3 up = it->up, turn = it->turn;
        for (size_t k = 0; k < count; k += 4) {
            const bo_v4 a = BO_V4_CONST(x + k), b = BO_V4_CONST(y + k), c = BO_V4_CONST(z + k);
            const bo_v4 gap = up.x * a + up.y * b + up.z * c + (it->height - around);
            const bo_v4 led = all->dt * (turn.x * a + turn.y * b + turn.z * c + (it->rise - it->slack)) + gap;
            const four clear = (gap >= all->margin) & (gap >= all->reach) & (led >= all->reach);
            mark(&clear, close + k);
        }
    }
    for (int32_t o = 0; o < all->ball_count; o++) {
        const bo_vec3 centre = all->balls[o].centre;
        const double within = all->balls[o].within + around / all->scale, most = within * within;
        for (size_t k = 0; k < count; k += 4) {
            const bo_v4 a = BO_V4_CONST(x + k) - centre.x, b = BO_V4_CONST(y + k) - centre.y,
                        c = BO_V4_CONST(z + k) - centre.z;
            const four clear = a * a + b * b + c * c >= most;
            mark(&clear, close + k);
        }
    }
}

void bo_tree_planes_look(const bo_tree_planes *all, size_t count, const double *places, double around, bool *close) {
    look(all, count, places, around, close);
}
