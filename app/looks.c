/* What links, bodies and obstacles of a mechanism look like. */
#include "app.h"

#include <math.h>
#include <string.h>

/* Places that differ by rounding only look the same. */
static bool same_places(const bough_mesh *a, const bough_mesh *b) {
    const size_t count = 3 * (size_t)a->vertex_count;
    double most = 0, apart = 0;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, fabs(a->vertices[i]));
        apart = fmax(apart, fabs(a->vertices[i] - b->vertices[i]));
    }
    return apart <= 1e-7 * most;
}

static bool same_surface(const bough_mesh *a, const bough_mesh *b) {
    if (!a || !b)
        return !a && !b;
    return a->vertex_count == b->vertex_count && a->element_count == b->element_count &&
           (a->element_count == 0 ||
            !memcmp(a->elements, b->elements, 3 * (size_t)a->element_count * sizeof *a->elements)) &&
           same_places(a, b);
}

static bool look_alike(const bough_run_rigid *a, const bough_run_rigid *b) {
    return (a->kind == BOUGH_RIGID_OBSTACLE) == (b->kind == BOUGH_RIGID_OBSTACLE) &&
           !memcmp(a->colour, b->colour, sizeof a->colour) && same_surface(a->surface, b->surface);
}

int32_t app_find_looks(const bough_run *run, int32_t *look_of, int32_t *looks) {
    int32_t look_count = 0;
    for (int32_t i = 0; i < bough_run_rigid_count(run); i++) {
        const bough_run_rigid *rigid = bough_run_rigid_at(run, i);
        int32_t look = 0;
        while (look < look_count && !look_alike(rigid, bough_run_rigid_at(run, looks[look])))
            look++;
        if (look == look_count)
            looks[look_count++] = i;
        look_of[i] = look;
    }
    return look_count;
}
