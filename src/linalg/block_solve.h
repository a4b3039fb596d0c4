/* Solves with a supernodal Cholesky factor for eight right-hand sides at a time. CHOLMOD hands small pieces of the
 * factor to BLAS, which copies each before it multiplies; for a few right-hand sides that is most of the time. Here the
 * factor is read once, from front to back and back again, at about the cost of a single right-hand side. */
#ifndef BO_LINALG_BLOCK_SOLVE_H
#define BO_LINALG_BLOCK_SOLVE_H

#include "base/context.h"

#include <cholmod.h>

#define BO_SOLVE_WIDTH 8
#define BO_SOLVE_A_LOOK 2e7 /* entries of L between two looks at whether to go on: some 50 ms */

/* Numeric, supernodal, of real numbers with 32-bit indices. */
bool bo_block_solve_fits(const cholmod_factor *L);
/* A x = b for `count` vectors one after the other, where P A P^T = L L^T; x may be b. work: n x BO_SOLVE_WIDTH.
 * False: the context's progress callback, which is looked at on the way, has cancelled it. */
bool bo_block_solve(bough_context *ctx, const cholmod_factor *L, const double *b, double *x, int32_t count,
                    double *work);

#endif
