/* A tree on the mesh that it was cut from: the places of its parts' vertices, to be compared with those of the full
 * body. */
#ifndef BOUGH_BENCH_WHOLE_TREE_H
#define BOUGH_BENCH_WHOLE_TREE_H

#include "tree_scene.h"

typedef struct whole_tree {
    const bough_tree_model *model;
    const bough_mesh *mesh;
    int32_t *first;  /* of each part's vertices in `vertex` */
    int32_t *vertex; /* of the mesh, for all volume vertices of all parts */
} whole_tree;

/* state: at rest. Parts are to keep their volumes. False when memory or a vertex is missing. */
bool whole_tree_create(const bough_tree_model *model, const bough_mesh *mesh, const bough_tree_state *state,
                       whole_tree *tree);
void whole_tree_destroy(whole_tree *tree);

const bough_component *whole_tree_component(const whole_tree *tree, int32_t part);
/* World position and velocity (may be NULL) of a vertex of a part's volume. */
void whole_tree_vertex(const whole_tree *tree, const bough_tree_state *state, int32_t part, int32_t vertex, double x[3],
                       double v[3]);
/* Velocities of all vertices of the mesh: 3 vertex_count; means where parts share one. */
bool whole_tree_velocities(const whole_tree *tree, const bough_tree_state *state, double *v);

/* Returns how far the interface by which a part hangs is from having moved as a rigid body: rms distance of its
 * vertices from the best rigid fit, over their rms distance from its centre at rest. u: displacements of the mesh, or
 * NULL for where the part's parent has them. */
double whole_tree_deviation(const whole_tree *tree, const bough_tree_state *state, const double *u, int32_t part);

#endif
