/* Islands: groups that hang together by constraints. docs/theory/contact.md, "Islands". */
#ifndef BO_CONTACT_ISLANDS_H
#define BO_CONTACT_ISLANDS_H

#include "contact/solve.h"

/* Island i has the constraints order[start[i]] .. order[start[i + 1] - 1], ascending. Islands are in the order of their
 * first constraints. */
typedef struct bo_islands {
    int32_t count;
    int32_t *start;   /* count + 1 */
    int32_t *order;   /* constraints */
    int32_t *rounds;  /* count: by whoever solves them */
    double *residual; /* count: likewise */
    int32_t *above;   /* groups: a group of the same island; itself: none */
    int32_t *of;      /* groups: the island; -1: no constraint */
    size_t capacity;  /* constraints for which there is room */
    int32_t group_count;
} bo_islands;

bough_status bo_islands_create(bough_context *ctx, int32_t group_count, bo_islands *islands);
void bo_islands_destroy(bough_context *ctx, bo_islands *islands);
bough_status bo_islands_reserve(bough_context *ctx, bo_islands *islands, size_t constraint_count);
/* `apart` false: all constraints are one island. Room must have been reserved. */
void bo_islands_find(bo_islands *islands, int32_t constraint_count, const bo_constraint *constraints, bool apart);

#endif
