/* Reading the basis of a component's surface, one entry at a time. */
#ifndef BO_COMPONENT_SURFACE_H
#define BO_COMPONENT_SURFACE_H

#include <bough/component.h>

/* Entry l of the basis at scalar i (3 vertex + axis) of the surface. */
static inline double bo_surface_basis(const bough_surface *surface, int32_t r, int32_t i, int32_t l) {
    enum { PANEL = 16 };
    const size_t at = ((size_t)(i / PANEL) * (size_t)r + (size_t)l) * PANEL + (size_t)(i % PANEL);
    return surface->U ? (double)surface->U[at] : (double)surface->U16[at] * (double)surface->scale[l];
}

#endif
