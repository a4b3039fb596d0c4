/* Topology of the element types. */
#ifndef BO_MESH_ELEMENT_H
#define BO_MESH_ELEMENT_H

#include <bough/mesh.h>

#define BO_MAX_NODES BOUGH_MAX_ELEMENT_NODES

typedef struct bo_element_info {
    const char *name;
    int32_t node_count, corner_count, face_count, face_corner_count;
    int32_t faces[6][4]; /* corners, counter-clockwise from outside, in Abaqus' face order; -1 behind the last */
    int32_t edge_count;
    int32_t edges[12][2]; /* corners; the order of tet10's edge nodes */
} bo_element_info;

const bo_element_info *bo_element_info_of(bough_element_type type);

/* Local nodes of a face: its corners, then (tet10) the nodes on the edges 01, 12, 20 of those corners. Returns their
 * number: 3, 4 or 6. */
int32_t bo_element_face_nodes(bough_element_type type, int32_t face, int32_t nodes[6]);

/* Signed measure with which an element counts as positive: volume for tets and hexes (smallest corner Jacobian
 * scaled to a volume for hexes and tet10, so that a folded element is not hidden by its sum); area for triangles. */
double bo_element_volume(bough_element_type type, const double *vertices, const int32_t *nodes);
double bo_element_least_volume(bough_element_type type, const double *vertices, const int32_t *nodes);
/* Longest corner-to-corner edge. */
double bo_element_size(bough_element_type type, const double *vertices, const int32_t *nodes);
/* Mirrors the node order (an inverted element becomes positive). */
void bo_element_flip(bough_element_type type, int32_t *nodes);

/* |volume| below this times size^3 is flat. */
#define BO_FLAT_RATIO 1e-12

/* The three directions of bo_element_least_volume's verdict: +1 positive, 0 flat, -1 inverted. */
int bo_element_sign(bough_element_type type, const double *vertices, const int32_t *nodes);

#endif
