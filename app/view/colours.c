/* Numbers by which parts, or the vertices of their surfaces, are coloured. */
#include "view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- contacts ---- */

/* Things that belong to the surroundings bear everything, and would outshine the rest. */
static bough_status add_contacts(view_world *w, float *numbers) {
    const int32_t count = view_world_touch(w, true);
    for (int32_t i = 0; i < count; i++) {
        const bough_run_contact *c = &w->contacts[i];
        const double *f = c->force, size = sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);
        for (int side = 0; side < 2; side++)
            if (view_world_has_part(w, c->things[side]) && !bough_run_thing(w->run, c->things[side])->held)
                numbers[c->things[side]] += (float)size;
    }
    return count < 0 ? BOUGH_ERROR_MEMORY : BOUGH_OK;
}

/* ---- fields: a number of each vertex of a surface ---- */

/* From vertices of the mesh to those of its surface; takes the memory of all. */
static bough_status spread(const view_world *w, bough_status s, float *all, float *field) {
    for (int32_t i = 0; !s && i < w->boundary->vertex_count; i++)
        field[i] = all[w->vertex_map[i]];
    free(all);
    return s;
}

static float *new_field(const view_world *w) {
    const bough_mesh *mesh = bough_run_mesh(w->run);
    return mesh ? calloc((size_t)mesh->vertex_count + 1, sizeof(float)) : NULL;
}

/* Von Mises' stress at the vertices of all surfaces: smooth over each part, or over the body. */
static bough_status find_stresses(const view_world *w, float *field) {
    if (!w->boundary)
        return bough_run_vertex_stresses(w->run, field);
    float *all = new_field(w);
    return spread(w, all ? bough_run_vertex_stresses(w->run, all) : BOUGH_ERROR_MEMORY, all, field);
}

/* Several bodies are drawn as one part: each of its vertices has the force on its own body. */
static bough_status find_forces(view_world *w, float *field) {
    float *all = new_field(w), *forces = calloc((size_t)w->shape->part_count + 1, sizeof *forces);
    bough_status s = all && forces ? add_contacts(w, forces) : BOUGH_ERROR_MEMORY;
    for (int32_t p = 0; p < app_first_beside(w->run) && !s; p++) {
        const bough_thing *body = bough_run_thing(w->run, p);
        for (int32_t v = 0; v < body->vertex_count; v++)
            all[body->first_vertex + v] = forces[p];
    }
    free(forces);
    return spread(w, s, all, field);
}

/* Which colours are fields over the surfaces of this world. */
static bool has_field(const view_world *w, uint32_t what) {
    return (what == VIEW_COLOUR_STRESS && w->can & BOUGH_CAN_STRESS) ||
           (what == VIEW_COLOUR_CONTACTS && w->can & BOUGH_CAN_CONTACTS && w->boundary && app_first_beside(w->run) > 1);
}

/* The largest number of each part becomes the part's, and each vertex has its share of that, in 65,535ths: all of it
 * where the material is turned inside out. */
static void pack_field(const view_shape *shape, const float *field, float *numbers, uint16_t *shares) {
    for (int32_t p = 0; p < shape->part_count; p++) {
        const view_shape_part *part = &shape->parts[p];
        float most = 0;
        for (int32_t v = part->first; v < part->first + part->vertices; v++)
            most = isfinite(field[v]) ? fmaxf(most, field[v]) : most;
        for (int32_t v = part->first; v < part->first + part->vertices; v++) {
            const float share = most > 0 ? field[v] / most : 0;
            shares[v] = (uint16_t)lrintf(65535 * fminf(fmaxf(share, 0), 1)); /* of no number: 0 */
        }
        numbers[p] = most;
    }
}

static bough_status find_field(view_world *w, uint32_t what, float *numbers, uint16_t *shares) {
    float *field = calloc((size_t)w->shape->vertex_count + 1, sizeof *field);
    bough_status s = !field                       ? BOUGH_ERROR_MEMORY
                     : what == VIEW_COLOUR_STRESS ? find_stresses(w, field)
                                                  : find_forces(w, field);
    if (!s)
        pack_field(w->shape, field, numbers, shares);
    free(field);
    return s;
}

/* ---- messages ---- */

bough_status view_colours_make(view_world *w, uint32_t what, uint32_t layer, view_message **message) {
    const uint32_t about[2] = {what, layer};
    const double time = view_world_time(w);
    const bool fielded = has_field(w, what);
    const size_t parts = (size_t)w->shape->part_count, vertices = fielded ? (size_t)w->shape->vertex_count : 0;
    const size_t begin = VIEW_HEAD_SIZE + sizeof time + sizeof about, size = begin + 4 * parts + 2 * vertices;
    float *numbers = calloc(parts + 1, sizeof *numbers);
    uint16_t *shares = calloc(vertices + 1, sizeof *shares);
    *message = numbers && shares ? view_message_new(size, false) : NULL;
    bough_status s = !*message ? BOUGH_ERROR_MEMORY : fielded ? find_field(w, what, numbers, shares) : BOUGH_OK;
    if (!s && what == VIEW_COLOUR_DEVIATION && w->can & BOUGH_CAN_DEVIATION)
        s = bough_run_deviations(w->run, numbers);
    if (!s && what == VIEW_COLOUR_CONTACTS && !fielded)
        s = add_contacts(w, numbers);
    if (!s) {
        unsigned char *at = (*message)->bytes;
        view_write_head(at, VIEW_COLOURS, w->shape->generation, 0);
        memcpy(at + VIEW_HEAD_SIZE, &time, sizeof time);
        memcpy(at + VIEW_HEAD_SIZE + sizeof time, about, sizeof about);
        memcpy(at + begin, numbers, 4 * parts);
        memcpy(at + begin + 4 * parts, shares, 2 * vertices);
    } else {
        view_message_drop(*message);
        *message = NULL;
    }
    free(numbers);
    free(shares);
    return s;
}
