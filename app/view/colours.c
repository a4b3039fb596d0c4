/* Numbers by which parts are coloured. */
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

static bough_status find_stresses(bough_context *ctx, const view_world *w, float *numbers) {
    double *all = malloc(((size_t)w->shape->part_count + 1) * sizeof *all);
    if (!all)
        return BOUGH_ERROR_MEMORY;
    bough_state_peak_stresses(ctx, w->model, w->state, all);
    for (int32_t p = 0; p < w->shape->part_count; p++)
        numbers[p] = (float)all[p];
    free(all);
    return BOUGH_OK;
}

static bough_status find_body_stress(bough_context *ctx, const view_world *w, float *number) {
    const bough_mesh *mesh = bough_run_mesh(w->run);
    const double *u = bough_run_displacement(w->run);
    double *all = mesh && u ? malloc(((size_t)mesh->element_count + 1) * sizeof *all) : NULL;
    bough_status s = all ? bough_body_stress(ctx, bough_scene_body(w->scene), u, NULL, all) : BOUGH_ERROR_MEMORY;
    for (int32_t e = 0; !s && e < mesh->element_count; e++)
        *number = fmaxf(*number, (float)all[e]);
    free(all);
    return s;
}

bough_status view_colours_make(bough_context *ctx, const view_world *w, uint32_t what, uint32_t layer,
                               view_message **message) {
    const uint32_t about[2] = {what, layer};
    const double time = view_world_time(w);
    const size_t count = (size_t)w->shape->part_count, begin = VIEW_HEAD_SIZE + sizeof time + sizeof about;
    float *numbers = calloc(count + 1, sizeof *numbers);
    *message = numbers ? view_message_new(begin + count * sizeof *numbers, false) : NULL;
    bough_status s = *message ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (!s && what == VIEW_COLOUR_STRESS)
        s = w->model              ? find_stresses(ctx, w, numbers)
            : w->rigid_count == 0 ? find_body_stress(ctx, w, numbers)
                                  : BOUGH_OK; /* rigid things tell of none */
    else if (!s && w->model)
        find_deviations(w, numbers);
    if (!s) {
        view_write_head((*message)->bytes, VIEW_COLOURS, w->shape->generation, 0);
        memcpy((*message)->bytes + VIEW_HEAD_SIZE, &time, sizeof time);
        memcpy((*message)->bytes + VIEW_HEAD_SIZE + sizeof time, about, sizeof about);
        memcpy((*message)->bytes + begin, numbers, count * sizeof *numbers);
    } else {
        view_message_drop(*message);
        *message = NULL;
    }
    free(numbers);
    return s;
}
