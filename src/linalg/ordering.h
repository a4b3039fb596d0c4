/* Fill-reducing order of a sparse matrix by nested dissection (METIS). */
#ifndef BO_LINALG_ORDERING_H
#define BO_LINALG_ORDERING_H

#include "linalg/sparse.h"

/* A is made of full block x block blocks (one a vertex). free_index[i] is the number of unknown i among the free ones,
 * or -1 when it is held. order[new] = old among the free ones. The graph of vertices is dissected, which is three times
 * cheaper than that of the unknowns and no worse. */
bough_status bo_order_blocks(bough_context *ctx, const bough_sparse *A, int32_t block, const int32_t *free_index,
                             int32_t *order);

#endif
