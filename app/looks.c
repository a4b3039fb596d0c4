/* Rigid things: which of them look the same, and share what is sent or written of them. */
#include "app.h"

#include <math.h>
#include <string.h>

bool app_is_rigid(const bough_run *run) {
    const int32_t count = bough_run_thing_count(run);
    for (int32_t i = 0; i < count; i++)
        if (bough_run_thing(run, i)->drawing != BOUGH_DRAWN_RIGID)
            return false;
    return count > 0;
}

bool app_has_looks(const bough_run *run) {
    const bough_thing *first = bough_run_thing(run, 0);
    return first && first->drawing != BOUGH_DRAWN_VERTICES;
}

int32_t app_first_beside(const bough_run *run) {
    int32_t first = bough_run_thing_count(run);
    while (first > 0 && bough_run_thing(run, first - 1)->held && bough_run_thing(run, first - 1)->vertex_count == 0)
        first--;
    return first;
}

int32_t app_count_beside(const bough_run *run) {
    return bough_run_thing_count(run) - app_first_beside(run);
}

/* Places that differ by rounding only look the same. */
static bool same_places(const bough_look *a, const bough_look *b) {
    const size_t count = 3 * (size_t)a->vertex_count;
    double most = 0, apart = 0;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, fabs(a->vertices[i]));
        apart = fmax(apart, fabs(a->vertices[i] - b->vertices[i]));
    }
    return apart <= 1e-7 * most;
}

static bool same_surface(const bough_look *a, const bough_look *b) {
    return a->vertex_count == b->vertex_count && a->triangle_count == b->triangle_count &&
           (a->triangle_count == 0 ||
            !memcmp(a->triangles, b->triangles, 3 * (size_t)a->triangle_count * sizeof *a->triangles)) &&
           same_places(a, b);
}

static bool same_colours(const bough_look *a, const bough_look *b) {
    if (memcmp(a->colour, b->colour, sizeof a->colour) != 0 || !a->vertex_colours != !b->vertex_colours)
        return false;
    return !a->vertex_colours ||
           !memcmp(a->vertex_colours, b->vertex_colours, 3 * (size_t)a->vertex_count * sizeof *a->vertex_colours);
}

static bool look_alike(const bough_run *run, int32_t i, int32_t j) {
    const bough_thing *one = bough_run_thing(run, i), *other = bough_run_thing(run, j);
    const bough_look *a = bough_run_thing_look(run, one->look), *b = bough_run_thing_look(run, other->look);
    if (a->component || b->component)
        return a == b;
    return a == b || (one->held == other->held && same_surface(a, b) && same_colours(a, b));
}

int32_t app_find_looks(const bough_run *run, int32_t *look_of, int32_t *looks) {
    int32_t look_count = 0;
    for (int32_t i = 0; i < bough_run_thing_count(run); i++) {
        int32_t look = 0;
        look_of[i] = -1;
        if (!bough_run_thing_look(run, bough_run_thing(run, i)->look))
            continue; /* a body that is drawn by its vertices */
        while (look < look_count && !look_alike(run, i, looks[look]))
            look++;
        if (look == look_count)
            looks[look_count++] = i;
        look_of[i] = look;
    }
    return look_count;
}
