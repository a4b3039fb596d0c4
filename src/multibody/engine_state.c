/* Saving: all there is to continue with the same bits. The factor of the last step is part of it, since the next one
 * begins with it. */
#include "multibody/engine_inside.h"

#include <string.h>

enum { BLOCKS = 4 + BO_MB_ARRAYS, FACTOR = 3 + BO_MB_FACTOR, OWN = 11 };

/* Arrays that are a state. */
static void list_blocks(const multibody_engine *e, bo_mb_array blocks[BLOCKS]) {
    const size_t motors = (size_t)e->model->def.motor_count;
    blocks[0] = (bo_mb_array){e->guides.goals, motors};
    blocks[1] = (bo_mb_array){e->guides.places, motors};
    blocks[2] = (bo_mb_array){e->guides.strays, motors};
    bo_mb_list_arrays(bo_mb(e->state), blocks + 3);
    blocks[3 + BO_MB_ARRAYS] = (bo_mb_array){e->state->gravity, 3};
}

static int64_t history_size(const multibody_engine *e) {
    const bo_integrator *method = bo_mb(e->state)->method;
    return method ? bo_integrator_history_size(method) : 0;
}

/* Without what is around it, whose numbers change with its contacts. */
static int64_t own_size(const multibody_engine *e) {
    bo_mb_array blocks[BLOCKS];
    int64_t size = OWN + bo_mb(e->state)->work.lu.size + history_size(e);
    list_blocks(e, blocks);
    for (int i = 0; i < BLOCKS; i++)
        size += (int64_t)blocks[i].count;
    return size;
}

int64_t bo_multibody_state_size(const void *data) {
    const multibody_engine *e = data;
    return own_size(e) + (e->around ? bough_contact_world_memory_size(e->around) : 0);
}

/* Goals of motors come first: those that nobody holds are NAN. */
void bo_multibody_save(const void *data, double *to) {
    const multibody_engine *e = data;
    const bo_mb_state *s = bo_mb(e->state);
    const double own[OWN] = {e->state->time, s->h_before,  s->factored_h, e->guides.since, e->work, e->power,
                             e->doubt,       e->has_power, e->acting,     s->knows_lambda, s->suits};
    bo_mb_array blocks[BLOCKS];
    list_blocks(e, blocks);
    for (int i = 0; i < BLOCKS; to += blocks[i++].count)
        if (i == FACTOR && s->factored_h == 0)
            memset(to, 0, blocks[i].count * sizeof *to); /* what a search left there, which nobody reads */
        else
            memcpy(to, blocks[i].numbers, blocks[i].count * sizeof *to);
    memcpy(to, own, sizeof own);
    to += OWN;
    for (int32_t i = 0; i < s->work.lu.size; i++)
        *to++ = s->work.lu.pivots[i];
    if (s->method)
        bo_integrator_save(s->method, to);
    if (e->around) /* its steps are the engine's own: there is no method */
        bough_contact_world_save(e->around, to);
}

bough_status bo_multibody_restore(void *data, const double *from, int64_t size) {
    multibody_engine *e = data;
    bo_mb_state *s = bo_mb(e->state);
    const int64_t expected = own_size(e);
    bo_mb_array blocks[BLOCKS];
    size_t numbers = 0;
    list_blocks(e, blocks);
    for (int i = 0; i < BLOCKS; i++)
        numbers += blocks[i].count;
    const double *own = from + numbers, *arrays = from + 3 * (size_t)e->model->def.motor_count; /* behind the guides */
    if ((e->around ? size < expected : size != expected) || !bo_mb_numbers_fit(s, arrays, own + OWN))
        return bo_fail(e->ctx, BOUGH_ERROR_FORMAT, "these %lld numbers are no state of this system, which has %lld",
                       (long long)size, (long long)expected);
    if (e->around)
        BO_TRY(bough_contact_world_restore(e->ctx, e->around, size - expected, from + expected));
    for (int i = 0; i < BLOCKS; from += blocks[i++].count)
        memcpy(blocks[i].numbers, from, blocks[i].count * sizeof *from);
    /* Factors of parts in full order are not saved: the next step makes them anew. */
    e->state->time = own[0], s->h_before = own[1], s->factored_h = e->full ? 0 : own[2], e->guides.since = own[3];
    e->work = own[4], e->power = own[5], e->doubt = own[6], e->has_power = own[7] != 0;
    e->acting = own[8], s->knows_lambda = own[9] != 0, s->suits = own[10];
    for (int32_t i = 0; i < s->work.lu.size; i++)
        s->work.lu.pivots[i] = (int32_t)own[OWN + i];
    memset(e->state->force, 0, (size_t)e->model->nv * sizeof *e->state->force);
    if (s->method)
        bo_integrator_restore(s->method, own + OWN + s->work.lu.size);
    return BOUGH_OK;
}
