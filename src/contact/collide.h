/* The points where two shapes touch, in the axes of the second. docs/theory/contact.md, "Collision". */
#ifndef BO_CONTACT_COLLIDE_H
#define BO_CONTACT_COLLIDE_H

#include "rig/shape.h"

#include <bough/contact.h>

typedef struct bo_touching {
    bo_vec3 on_a, on_b;
    bo_vec3 normal; /* from b to a */
    double gap;
    uint32_t feature;
} bo_touching;

/* All that was found, before the most telling points are chosen. */
enum { BO_MOST_FOUND = 64 };
typedef struct bo_manifold {
    double size;   /* of the smaller shape */
    double margin; /* points that are further apart are not taken */
    int32_t count;
    bo_touching points[BO_MOST_FOUND];
} bo_manifold;

/* A polyhedron in the axes of the second shape. */
typedef struct bo_placed {
    const bo_hull *hull;
    bo_se3 g;
} bo_placed;

static inline uint32_t bo_feature(uint32_t a, uint32_t b) {
    uint32_t h = (a ^ 0x9E3779B9u) * 0x85EBCA6Bu;
    h = (h ^ (h >> 13) ^ b) * 0xC2B2AE35u;
    return h ^ (h >> 16);
}

/* Adds a point where a is at x, above b along the normal by the gap. */
void bo_manifold_add(bo_manifold *m, bo_vec3 x, bo_vec3 normal, double gap, uint32_t feature);
/* Leaves `most` points at most: the deepest and those that reach furthest around it. */
void bo_manifold_reduce(bo_manifold *m, int32_t most);

void bo_collide_hulls(const bo_placed *a, const bo_placed *b, bo_manifold *m);
void bo_collide_sphere_field(bo_vec3 centre, double radius, const bough_shape *field, bo_manifold *m);
/* A point touches along the normal of the facet under it. */
void bo_collide_point_field(bo_vec3 x, const bough_shape *field, bo_manifold *m);
/* A point in the axes of a shape; at most one point is found. Leaves m->count 0 where there is none within m->margin. */
void bo_collide_point(bo_vec3 x, const bough_shape *shape, bo_manifold *m);
void bo_collide_hull_field(const bo_placed *a, const bough_shape *field, bo_manifold *m);

/* Meshes: the last shape is in its own axes, g says where the first one is. */
void bo_collide_sphere_mesh(bo_vec3 centre, double radius, const bough_shape *mesh, bo_manifold *m);
void bo_collide_point_mesh(bo_vec3 x, const bough_shape *mesh, bo_manifold *m);
void bo_collide_hull_mesh(const bough_shape *hull, bo_se3 g, const bough_shape *mesh, bo_manifold *m);
void bo_collide_meshes(const bough_shape *a, bo_se3 g, const bough_shape *b, bo_manifold *m);
void bo_collide_mesh_ground(const bough_shape *mesh, bo_se3 g, const bough_shape *ground, bo_manifold *m);

/* The part of a face (of `cut`) over another (of `over`), with gaps along the outward normal of the latter, which is
 * given with its corners in a loop. */
void bo_clip_face(const bo_placed *cut, int32_t face, int32_t count, const bo_vec3 *over, bo_vec3 normal, bool flip,
                  uint32_t feature, bo_manifold *m);
/* The face whose normal is furthest along a direction. */
int32_t bo_placed_face(const bo_placed *p, bo_vec3 direction);
/* Nearest points s, t of two segments from p along d and from q along e, as parts of them. */
void bo_nearest_on_segments(bo_vec3 p, bo_vec3 d, bo_vec3 q, bo_vec3 e, double *s, double *t);
static inline bo_vec3 bo_nearest_on_segment(bo_vec3 p, bo_vec3 d, bo_vec3 x) {
    const double s = bo_dot(d, bo_sub(x, p)) / bo_dot(d, d);
    return bo_mul_add(p, fmin(fmax(s, 0), 1), d);
}
static inline bo_vec3 bo_placed_corner(const bo_placed *p, int32_t i) {
    return bo_se3_apply(p->g, p->hull->vertices[i]);
}

#endif
