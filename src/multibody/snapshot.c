/* Snapshots: the factor of the last step is part of a state, since the next step begins with it. */
#include "multibody/multibody.h"

#include <string.h>

enum { NUMBERS = 5 };

void bo_mb_list_arrays(bo_mb_state *s, bo_mb_array arrays[BO_MB_ARRAYS]) {
    const size_t nu = (size_t)s->model->nu, nv = (size_t)s->model->nv, nc = (size_t)s->model->nc;
    const bo_mb_array all[BO_MB_ARRAYS] = {{s->face.u, nu},
                                           {s->face.v, nv},
                                           {s->face.lambda, nc},
                                           {s->a, nv},
                                           {s->u_before, nu},
                                           {s->v_before, nv},
                                           {s->lambda_before, nc},
                                           {s->trust, nv},
                                           {s->work.coordinates, (size_t)s->model->coordinate_count},
                                           {s->impulses, s->keeps ? bo_mb_momenta_size(s->model) : 0},
                                           {s->work.lu.values, (size_t)s->work.lu.value_count}};
    memcpy(arrays, all, sizeof all);
}

static bo_mb_state *unlock(const bo_mb_state *s) {
    return (bo_mb_state *)(uintptr_t)s;
}

/* Rows of a block are exchanged within it. */
static bool are_pivots(const bo_block_lu *lu, const double *pivots) {
    for (int32_t b = 0; b < lu->count; b++)
        for (int32_t i = lu->first[b]; i < lu->first[b + 1]; i++)
            if (!(pivots[i] >= 0 && pivots[i] < lu->rows[b] && pivots[i] == (double)(int32_t)pivots[i]))
                return false;
    return true;
}

bool bo_mb_numbers_fit(const bo_mb_state *s, const double *numbers, const double *pivots) {
    bo_mb_array arrays[BO_MB_ARRAYS];
    bo_mb_list_arrays(unlock(s), arrays);
    for (int i = 0; i < BO_MB_ARRAYS; numbers += arrays[i++].count)
        for (size_t k = 0; arrays[i].numbers == s->trust && k < arrays[i].count; k++)
            if (!(numbers[k] == 0 || numbers[k] == 1 || numbers[k] == 2))
                return false;
    return are_pivots(&s->work.lu, pivots);
}

size_t bo_mb_snapshot_size(const bo_mb_state *s) {
    bo_mb_array arrays[BO_MB_ARRAYS];
    size_t size = NUMBERS + (size_t)s->work.lu.size;
    bo_mb_list_arrays(unlock(s), arrays);
    for (int i = 0; i < BO_MB_ARRAYS; i++)
        size += arrays[i].count;
    return size;
}

void bo_mb_snapshot_save(const bo_mb_state *s, double *to) {
    bo_mb_array arrays[BO_MB_ARRAYS];
    const double numbers[NUMBERS] = {s->face.time, s->h_before, s->factored_h, s->knows_lambda, s->face.drift};
    bo_mb_list_arrays(unlock(s), arrays);
    for (int i = 0; i < BO_MB_ARRAYS; to += arrays[i++].count)
        memcpy(to, arrays[i].numbers, arrays[i].count * sizeof *to);
    memcpy(to, numbers, sizeof numbers);
    to += NUMBERS;
    for (int32_t i = 0; i < s->work.lu.size; i++)
        *to++ = s->work.lu.pivots[i];
}

void bo_mb_snapshot_restore(bo_mb_state *s, const double *from) {
    bo_mb_array arrays[BO_MB_ARRAYS];
    bo_mb_list_arrays(s, arrays);
    for (int i = 0; i < BO_MB_ARRAYS; from += arrays[i++].count)
        memcpy(arrays[i].numbers, from, arrays[i].count * sizeof *from);
    s->face.time = from[0], s->h_before = from[1], s->factored_h = from[2], s->knows_lambda = from[3] != 0;
    s->face.drift = from[4];
    from += NUMBERS;
    for (int32_t i = 0; i < s->work.lu.size; i++)
        s->work.lu.pivots[i] = (int32_t)*from++;
    memset(s->face.force, 0, (size_t)s->model->nv * sizeof *s->face.force);
}
