/* The field of stress over the surfaces of parts: what a component needs to draw it. */
#ifndef BO_COMPONENT_FIELD_H
#define BO_COMPONENT_FIELD_H

#include "base/context.h"

#include <bough/component.h>

typedef struct bo_surface_field {
    int32_t count; /* of points; 0: none, or the component is rigid */
    const int32_t *material;
    const float *gradient; /* count x 9 x r */
    float *own;            /* the same, where the component has no field of its own */
    uint16_t *near;        /* vertex_count x 12: its points, and */
    float *weight;         /* ... theirs, sum 1 */
} bo_surface_field;

/* field: zero bytes. To be freed also when it fails. */
bough_status bo_surface_field_make(bough_context *ctx, const bough_component *component, bo_surface_field *field);
void bo_surface_field_free(bough_context *ctx, bo_surface_field *field);

enum { BO_FIELD_LANES = 8 };
/* Von Mises' stress at the vertices of 1 .. BO_FIELD_LANES parts of the component, whose field has points; of each part
 * its coordinates, the factor on its frequencies, and where its vertices go. INFINITY: turned inside out. */
void bo_surface_field_draw(const bough_component *component, const bo_surface_field *field, int32_t count,
                           const double *const q[], const double stiffness[], float *const out[]);

#endif
