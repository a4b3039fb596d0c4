#include <bough/component.h>

#include "base/simd.h"

#include <string.h>

enum { PANEL = 16 };

/* sum_l q_l U_l of one panel. */
BO_INLINE void add_panel(int32_t r, const float *restrict U, const float *restrict q, float *restrict sum) {
    for (int32_t l = 0; l < r; l++)
        for (int i = 0; i < PANEL; i++)
            sum[i] += q[l] * U[PANEL * (size_t)l + (size_t)i];
}
BO_INLINE void add_panel16(int32_t r, const int16_t *restrict U, const float *restrict q, float *restrict sum) {
    for (int32_t l = 0; l < r; l++)
        for (int i = 0; i < PANEL; i++)
            sum[i] += q[l] * (float)U[PANEL * (size_t)l + (size_t)i];
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
