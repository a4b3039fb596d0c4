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

/* sum = rest + sum_l q_l U_l of the panel that begins with scalar `start`. */
BO_INLINE void fill_panel(const bough_surface *surface, int32_t r, size_t start, const float *q, const float *rest,
                          float *sum) {
    vec a = LOAD(rest), b = LOAD(rest + W);
    const float *U = surface->U ? surface->U + start * (size_t)r : NULL;
    const int16_t *U16 = surface->U16 ? surface->U16 + start * (size_t)r : NULL;
    for (int32_t l = 0; U && l < r; l++, U += PANEL) {
        a += q[l] * LOAD(U);
        b += q[l] * LOAD(U + W);
    }
    for (int32_t l = 0; U16 && l < r; l++, U16 += PANEL) {
        a += q[l] * LOAD_SHORTS(U16);
        b += q[l] * LOAD_SHORTS(U16 + W);
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
    size_t start = 0;
    for (; start + PANEL <= scalars; start += PANEL)
        fill_panel(surface, r, start, factor, surface->position + start, positions + start);
    if (start < scalars) {
        float rest[PANEL] = {0}, sum[PANEL];
        memcpy(rest, surface->position + start, (scalars - start) * sizeof *rest);
        fill_panel(surface, r, start, factor, rest, sum);
        memcpy(positions + start, sum, (scalars - start) * sizeof *sum);
    }
}

void bough_component_surface_positions(const bough_component *component, const double *q, float *positions) {
    fill_positions(component, q, positions);
}
