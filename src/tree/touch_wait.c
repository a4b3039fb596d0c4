/* Points that touch nothing where a step without contact leads, but may where the contacts of others lead them: parts that
 * are hit, or that spring back from one thing into another. docs/theory/tree.md, "Contact". */
#include "tree/touch.h"

#include <math.h>

#define ENTERS 2e-3 /* deeper than that, of the radius of its part, a point that waits is taken in */

bough_status bo_tree_touch_set_aside(bo_tree_search *s) {
    bo_tree_touch *touch = s->touch;
    size_t waiting = 0, kept = 0;
    for (size_t i = 0; i < touch->found_count; i++)
        waiting += touch->points[i].waits;
    if (!BO_RESERVE(s->ctx, touch->spare, touch->spare_capacity, waiting))
        return BOUGH_ERROR_MEMORY;
    waiting = 0;
    for (size_t i = 0; i < touch->found_count; i++)
        if (touch->points[i].waits)
            touch->spare[waiting++] = touch->points[i];
        else if (kept++ < i)
            touch->points[kept - 1] = touch->points[i];
    for (size_t i = 0; i < waiting; i++)
        touch->points[kept + i] = touch->spare[i];
    touch->point_count = kept;
    return BOUGH_OK;
}

/* A point that had room, gap, and v outwards, ends at gap + dt (u - v) / 2 with u: it may end with u inwards only as far
 * as it could go on with that for a step. */
static double slack_of(const bo_tree_point *point, double dt) {
    const double room = fmax(point->gap, 0) / dt;
    return fmin(fmax((room - 0.5 * point->velocity[0]) / 1.5, 0), room);
}

bool bo_tree_touch_take_in(bo_tree_search *s, double share) {
    bo_tree_touch *touch = s->touch;
    size_t count = 0, first = touch->point_count, end = touch->found_count;
    for (size_t i = first; i < end; i++) {
        bo_tree_point *point = &touch->points[i];
        const bo_tree_part *part = &s->model->parts[point->part];
        const double radius = part->scale * touch->clouds[part->component].radius;
        const double way = share * bo_dot(point->axes[0], bo_sub(point->moves, point->other_moves));
        if (point->gap + way < -ENTERS * radius) {
            point->waits = false, point->slack = slack_of(point, s->dt);
            touch->spare[count++] = *point;
            if (point->other >= 0)
                bo_tree_join_islands(touch, part->tree, s->model->parts[point->other].tree);
        }
    }
    const bool any = count > 0;
    for (size_t i = end, to = end; i > first && count > 0; i--)
        if (touch->points[i - 1].waits)
            touch->points[--to] = touch->points[i - 1];
    for (size_t old = first, to = first + count; count > 0;)
        if (old > 0 && touch->points[old - 1].number > touch->spare[count - 1].number)
            touch->points[--to] = touch->points[--old];
        else
            touch->points[--to] = touch->spare[--count], touch->point_count++;
    return any;
}
