/* Inside view of shapes: polyhedra with their faces and edges, meshes, height fields. docs/theory/rig.md. */
#ifndef BO_RIG_SHAPE_H
#define BO_RIG_SHAPE_H

#include "base/context.h"
#include "base/pose.h"
#include "rig/splines.h"

#include <bough/rig.h>

enum { BO_MOST_CORNERS = 512 }; /* of a hull: collision looks at pairs of edges */

typedef struct bo_hull_edge {
    int32_t from, to;    /* corners, as `left` goes round */
    int32_t left, right; /* faces */
} bo_hull_edge;

/* A convex polyhedron. */
typedef struct bo_hull {
    int32_t vertex_count, face_count, edge_count;
    bo_vec3 *vertices;
    bo_vec3 *normals; /* of the faces, outwards: normal . x <= offset within */
    double *offsets;
    int32_t *face_start; /* face_count + 1 */
    int32_t *loops;      /* corners of the faces, counter-clockwise seen from outside */
    bo_hull_edge *edges;
    bo_vec3 middle;       /* of the corners: inside */
    bo_vec3 lower, upper; /* of a box around it */
} bo_hull;

/* A point of a mesh by which it touches others. */
typedef struct bo_mesh_point {
    bo_vec3 x;
    bo_vec3
        along;   /* of a point on an edge that sticks out: it stands for the edge from x - along to x + along; else 0 */
    bool corner; /* of triangles; the others lie between corners */
} bo_mesh_point;

/* A sphere around some points of a mesh, with the edges that they stand for. */
typedef struct bo_mesh_ball {
    bo_vec3 centre;
    double radius;
} bo_mesh_ball;

struct bough_shape_mesh {
    int32_t vertex_count, triangle_count;
    bo_vec3 *vertices;
    int32_t *triangles;   /* counter-clockwise seen from outside */
    bo_vec3 lower, upper; /* of a box around it */
    bo_distance_grid grid;
    float *nodes; /* distances at the nodes of the grid, for a first look */
    /* points in Morton's order, halved again and again: ball k of a level with 2^level balls has those from
     * point_count k / 2^level on; its number is 2^level - 1 + k */
    int32_t point_count, levels; /* the last level has a few points each */
    bo_mesh_point *points;
    bo_mesh_ball *balls;
};
static inline int32_t bo_mesh_first_point(const bough_shape_mesh *mesh, int32_t level, int32_t k) {
    return (int32_t)((int64_t)mesh->point_count * k >> level);
}
static inline const bo_mesh_ball *bo_mesh_ball_at(const bough_shape_mesh *mesh, int32_t level, int32_t k) {
    return mesh->balls + ((1 << level) - 1 + k);
}

/* Nothing of the mesh is within `radius` (m) of x, in its own axes: distances grow by no more than a metre a metre. Often not
 * known where it is so, within about a cell. */
static inline bool bo_mesh_is_far(const bough_shape_mesh *mesh, bo_vec3 x, double radius) {
    const bo_distance_grid *g = &mesh->grid;
    const double from[3] = {x.x - g->origin.x, x.y - g->origin.y, x.z - g->origin.z};
    double square = 0;
    int64_t at = 0;
    for (int k = 2; k >= 0; k--) {
        const double most = g->counts[k] - 1, u = from[k] / g->cell;
        const int32_t node = u > 0 ? (int32_t)((u < most ? u : most) + 0.5) : 0;
        const double off = from[k] - g->cell * node;
        square += off * off, at = at * g->counts[k] + node;
    }
    const double swing = 0.1 * g->cell; /* of the spline, about what distances are */
    return (double)mesh->nodes[at] * (1 - 1e-6) - sqrt(square) - swing > radius;
}

struct bough_shape {
    bough_shape_kind kind;
    bo_se3 frame;
    bo_vec3 centre; /* of a sphere around it, in its own axes */
    double radius;  /* of that; infinite for a plane */
    bo_hull hull;   /* of boxes, hulls and capsules */
    int32_t columns, rows;
    double cell[2];
    double lowest, highest;
    double *heights;
    const bough_shape_mesh *mesh; /* of meshes; belongs to somebody else */
};

static inline bool bo_shape_is_ground(const bough_shape *shape) {
    return shape->kind == BOUGH_SHAPE_PLANE || shape->kind == BOUGH_SHAPE_HEIGHT_FIELD;
}

/* Corners of a hull for a capsule along z: rings around both ends, and their poles. They lie on the capsule; between them
 * the hull is up to 1 - cos(15)^2 = 6.7 % of the radius within. */
enum { BO_CAPSULE_SIDES = 12, BO_CAPSULE_RINGS = 3 /* at 0, 30 and 60 degrees */ };
enum { BO_CAPSULE_POINTS = 2 * (BO_CAPSULE_RINGS * BO_CAPSULE_SIDES + 1) };
void bo_capsule_points(double radius, double half, double points[3 * BO_CAPSULE_POINTS]);
/* Volume of the capsule itself, and the integrals of x^2 (or y^2) and of z^2 over it. */
void bo_capsule_moments(double radius, double half, double *volume, double *across, double *along);

bough_status bo_hull_create(bough_context *ctx, int32_t count, const bo_vec3 *points, bo_hull *hull);
void bo_hull_destroy(bough_context *ctx, bo_hull *hull);

/* The corner furthest along a direction. */
static inline int32_t bo_hull_support(const bo_hull *hull, bo_vec3 direction) {
    int32_t best = 0;
    double most = -INFINITY;
    for (int32_t i = 0; i < hull->vertex_count; i++) {
        const double d = bo_dot(hull->vertices[i], direction);
        if (d > most)
            most = d, best = i;
    }
    return best;
}

/* A node of a height field; those outside are not asked for. */
static inline bo_vec3 bo_field_node(const bough_shape *field, int32_t column, int32_t row) {
    return bo_v3((column - 0.5 * (field->columns - 1)) * field->cell[0],
                 (row - 0.5 * (field->rows - 1)) * field->cell[1],
                 field->heights[(ptrdiff_t)row * field->columns + column]);
}

/* Makes a mesh of a box, a hull or a height field, in its own axes. Heights become a block, which ends at their rim and a tenth
 * of its longer side below the lowest of them. The caller destroys it. */
bough_status bo_shape_mesh_of(bough_context *ctx, const bough_shape_def *def, bough_shape_mesh **mesh);

/* A box around a placed shape, along the world's axes. */
void bo_shape_bounds(const bough_shape *shape, bo_se3 at, bo_vec3 *lower, bo_vec3 *upper);

#endif
