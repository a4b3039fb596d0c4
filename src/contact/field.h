/* The gap between a point and a body that bends: the signed distance from the body at rest, at the place that the point
 * comes from. Knows nothing of how the body is moved: it is given where samples of its surface are now.
 * docs/theory/contact.md, "Fields". */
#ifndef BO_CONTACT_FIELD_H
#define BO_CONTACT_FIELD_H

#include "base/context.h"
#include "base/vec.h"

/* A body at rest: distances from its surface, and samples of the surface with their neighbours. It never changes once it is
 * made: any number of bodies and threads may share it. */
typedef struct bo_field bo_field;

enum { BO_FIELD_MOST = 12 }; /* samples that one place of the body moves with */

/* A point near the body. All vectors are in the body's axes. */
typedef struct bo_field_touch {
    double gap;     /* m; below 0 inside */
    bo_vec3 normal; /* a unit vector, outwards; the derivative of the gap by the point, at the surface */
    bo_vec3 rest;   /* where this place of the body is at rest */
    int32_t sample_count;
    int32_t samples[BO_FIELD_MOST];
    double weights[BO_FIELD_MOST]; /* their sum is 1: the place moves as sum w u does, and the gap by -w normal . u */
} bo_field_touch;

/* Makes a field of a closed surface of triangles (counter-clockwise from outside) and `sample_count` (1 or more) points on
 * it. cell: m, of the grid of distances; 0: chosen from thickness and size. The caller destroys it. */
bough_status bo_field_create(bough_context *ctx, int32_t vertex_count, const double *vertices, int32_t triangle_count,
                             const int32_t *triangles, int32_t sample_count, const double *samples, double cell,
                             bo_field **field);
/* Takes NULL. */
void bo_field_destroy(bough_context *ctx, bo_field *field);
int32_t bo_field_sample_count(const bo_field *field);

/* The gap of the point y. now: 3 x sample_count, where the samples are, in the body's axes, which the body may have moved
 * against by bending only. bend: m, no point of the body is further than that from where it is at rest. Returns false,
 * mostly after a single look at the grid, where the gap is more than `within`; *touch is not to be used then. Allocates
 * nothing. */
bool bo_field_gap(const bo_field *field, const double *now, double bend, bo_vec3 y, double within,
                  bo_field_touch *touch);

#endif
