/* The point of an element nearest to a given point, and the shape functions there. */
#ifndef BO_MESH_NEAREST_H
#define BO_MESH_NEAREST_H

#include "base/vec.h"
#include "mesh/element.h"

/* A place in an element. Tets: barycentric coordinates, not negative, sum 1. hex8: three coordinates from 0 to 1, with
 * corner k where (k ^ k >> 1) & 1, k >> 1 & 1 and k >> 2 say. Always in the element, also when that is flat. */
typedef struct bo_place {
    double at[4];
} bo_place;

/* Squared distance of x from the element with these nodes, and where it is attained. Exact for tet4 and wherever the
 * element's map is affine; else the best minimum that Gauss-Newton finds from several starts. x in the element has the
 * distance of round-off. */
double bo_nearest_in_element(bough_element_type type, const bo_vec3 *nodes, bo_vec3 x, bo_place *place);

/* Shape functions at a place; zeros behind the last node. */
void bo_shape_weights(bough_element_type type, const bo_place *place, double weights[BOUGH_MAX_ELEMENT_NODES]);

/* A box that holds the element: of its nodes, or, where a tet10 may bulge beyond them, of its Bezier points. */
void bo_element_box(bough_element_type type, const bo_vec3 *nodes, double lower[3], double upper[3]);

#endif
