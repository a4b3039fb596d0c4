#include <bough/component.h>

#include "base/simd.h"

#include <string.h>

/* A panel is two vectors, which stay in registers while the coordinates go by. */
enum { W = 8, PANEL = 16 };
typedef float vec __attribute__((vector_size(4 * W), aligned(4)));
typedef int16_t shorts __attribute__((vector_size(2 * W), aligned(2)));
#define VEC(address) (*(vec *)(address))
#define LOAD(address) (*(const vec *)(address))
#define LOAD_SHORTS(address) __builtin_convertvector(*(const shorts *)(address), vec)

/* sum += sum_l q_l U_l of one panel. */
BO_INLINE void add_panel(int32_t r, const float *U, const float *q, float *sum) {
    vec a = LOAD(sum), b = LOAD(sum + W);
    for (int32_t l = 0; l < r; l++, U += PANEL) {
        a += q[l] * LOAD(U);
        b += q[l] * LOAD(U + W);
    }
    VEC(sum) = a, VEC(sum + W) = b;
}
BO_INLINE void add_panel16(int32_t r, const int16_t *U, const float *q, float *sum) {
    vec a = LOAD(sum), b = LOAD(sum + W);
    for (int32_t l = 0; l < r; l++, U += PANEL) {
        a += q[l] * LOAD_SHORTS(U);
        b += q[l] * LOAD_SHORTS(U + W);
    }
    VEC(sum) = a, VEC(sum + W) = b;
}

BO_MULTIVERSION static void fill_positions(const bough_component *component, const double *q, float *positions) {
    const bough_surface *surface = &component->surface;
    const int32_t r = component->r;
    const size_t scalars = 3 * (size_t)surface->vertex_count;
    float factor[BOUGH_MAX_COORDINATES];
    for (int32_t l = 0; l < r; l++)
        factor[l] = surface->U16 ? (float)(q[l] * (double)surface->scale[l]) : (float)q[l];
    for (size_t start = 0; start < scalars; start += PANEL) {
        const size_t panel = start * (size_t)r, count = scalars - start < PANEL ? scalars - start : PANEL;
        float sum[PANEL] = {0};
        memcpy(sum, surface->position + start, count * sizeof *sum);
        if (surface->U16)
            add_panel16(r, surface->U16 + panel, factor, sum);
        else if (surface->U)
            add_panel(r, surface->U + panel, factor, sum);
        memcpy(positions + start, sum, count * sizeof *sum);
    }
}

void bough_component_surface_positions(const bough_component *component, const double *q, float *positions) {
    fill_positions(component, q, positions);
}
