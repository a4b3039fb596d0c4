/* Numbers by which parts, or the vertices of their surfaces, are coloured. */
#include "view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A(q) of the interface, of which the nearest rotation is the interface's. */
static void find_A(const bough_component *c, int32_t interface, const double *q, double A[9]) {
    const double *terms = c->interfaces[interface].A;
    memcpy(A, terms, 9 * sizeof *A);
    for (int32_t l = 0; l < c->r; l++)
        for (int i = 0; i < 9; i++)
            A[i] += q[l] * terms[9 * (size_t)(l + 1) + (size_t)i];
}

/* A = R S: S tells how the interface is stretched, and S_0 = A_0 how it is at rest. |R^T A - A_0| / |A_0|. */
static double deviation_of(const bough_component *c, int32_t interface, const double *q) {
    const double *A0 = c->interfaces[interface].A;
    double A[9], centre[3], R[9], difference = 0, rest = 0;
    if (!bough_component_interface_frame(c, interface, q, centre, R))
        return INFINITY;
    find_A(c, interface, q, A);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double S = 0;
            for (int k = 0; k < 3; k++)
                S += R[3 * k + i] * A[3 * k + j];
            difference += pow(S - A0[3 * i + j], 2);
            rest += pow(A0[3 * i + j], 2);
        }
    return sqrt(difference / rest);
}

/* Of the interface at which a part hangs: told of the part that it belongs to, the worst of them. */
static void find_deviations(const view_world *w, float *numbers) {
    const bough_model_def *def = bough_model_describe(w->model);
    const bough_part_def *parts = bough_state_parts(w->model, w->state);
    for (int32_t p = 0; p < def->part_count; p++) {
        const int32_t parent = parts[p].parent;
        if (parent < 0 || !view_part_is_there(w, p))
            continue;
        const double *q = w->state->q + bough_model_offset(w->model, parent);
        const double d = deviation_of(def->components[parts[parent].component], parts[p].interface, q);
        numbers[parent] = fmaxf(numbers[parent], (float)d);
    }
}

/* ---- fields: a number of each vertex of a surface ---- */

/* Von Mises' stress at the vertices of all surfaces: smooth over each part, or over the body. */
static bough_status find_stresses(bough_context *ctx, const view_world *w, float *field) {
    if (w->model) {
        bough_state_surface_stress(ctx, w->model, w->state, field);
        return BOUGH_OK;
    }
    const bough_mesh *mesh = bough_run_mesh(w->run);
    float *all = mesh ? malloc(((size_t)mesh->vertex_count + 1) * sizeof *all) : NULL;
    bough_status s = all ? bough_run_vertex_stresses(w->run, all) : BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; !s && i < w->boundary->vertex_count; i++)
        field[i] = all[w->vertex_map[i]];
    free(all);
    return s;
}

/* Which colours are fields over the surfaces of this world. */
static bool has_field(const view_world *w, uint32_t what) {
    return what == VIEW_COLOUR_STRESS && w->rigid_count == 0;
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

static bough_status find_field(bough_context *ctx, const view_world *w, float *numbers, uint16_t *shares) {
    float *field = calloc((size_t)w->shape->vertex_count + 1, sizeof *field);
    bough_status s = field ? find_stresses(ctx, w, field) : BOUGH_ERROR_MEMORY;
    if (!s)
        pack_field(w->shape, field, numbers, shares);
    free(field);
    return s;
}

/* ---- messages ---- */

bough_status view_colours_make(bough_context *ctx, const view_world *w, uint32_t what, uint32_t layer,
                               view_message **message) {
    const uint32_t about[2] = {what, layer};
    const double time = view_world_time(w);
    const bool fielded = has_field(w, what);
    const size_t parts = (size_t)w->shape->part_count, vertices = fielded ? (size_t)w->shape->vertex_count : 0;
    const size_t begin = VIEW_HEAD_SIZE + sizeof time + sizeof about, size = begin + 4 * parts + 2 * vertices;
    float *numbers = calloc(parts + 1, sizeof *numbers);
    uint16_t *shares = calloc(vertices + 1, sizeof *shares);
    *message = numbers && shares ? view_message_new(size, false) : NULL;
    bough_status s = !*message ? BOUGH_ERROR_MEMORY : fielded ? find_field(ctx, w, numbers, shares) : BOUGH_OK;
    if (!s && what == VIEW_COLOUR_DEVIATION && w->model) /* only parts have interfaces */
        find_deviations(w, numbers);
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
