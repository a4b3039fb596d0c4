/* The graph of bodies and joints: a spanning tree from one body, and the loops that the other joints close. */
#ifndef BO_RIG_TOPOLOGY_H
#define BO_RIG_TOPOLOGY_H

#include "base/context.h"

#include <bough/rig.h>

/* A joint of the tree on the way from a body to the base, or of a loop. */
typedef struct bo_edge {
    int32_t joint;
    int32_t sign; /* of the tree: +1 where the joint's child is the body away from the base. Of a loop: of a wrench on
                     what is beyond that joint of the tree, for a unit that the joint which closes the loop carries from
                     its child to its parent */
} bo_edge;

/* All zeros: none. */
typedef struct bo_topology {
    int32_t *order; /* bodies from the base outwards */
    int32_t *up;    /* of each body: the next towards the base; -1: it is the base; -2: it is not connected */
    bo_edge *way;   /* of each body: the joint to that */
    int32_t loop_count;
    int32_t *cuts;       /* loop_count: the joints that are not in the tree */
    int32_t *loop_start; /* loop_count + 1: where the edges of a loop begin */
    bo_edge *loop_edges;
    int32_t lost_count; /* bodies that no joints connect with the base; there are no loops then */
    int32_t lost;       /* the first of them; -1: all are connected */
} bo_topology;

/* Grows the tree breadth first, so that ways to the base, and with them loops, are as short as can be. Joints connect
 * bodies 0 .. body_count - 1, which was checked. bo_topology_free() is owed also when it fails. */
bough_status bo_topology_find(bough_context *ctx, int32_t body_count, int32_t joint_count,
                              const bough_joint_def *joints, int32_t base, bo_topology *topology);
void bo_topology_free(bough_context *ctx, bo_topology *topology);

#endif
