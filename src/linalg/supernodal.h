/* The numeric Cholesky factorisation L L^T = P A P^T on the supernodes that CHOLMOD's analysis has found. CHOLMOD's own
 * routine does the same, but in one call that may last minutes; here nobody waits longer for Ctrl-C than for one
 * product of a second's fraction, and how far it is can be told. */
#ifndef BO_LINALG_SUPERNODAL_H
#define BO_LINALG_SUPERNODAL_H

#include "linalg/sparse.h"

#include <cholmod.h>

typedef struct bo_supernodal bo_supernodal;

/* For a symbolic supernodal factor L of the pattern of A (lower triangle), with 32-bit indices. `operations` is what
 * the analysis has counted for one factorisation. */
bough_status bo_supernodal_create(bough_context *ctx, const cholmod_factor *L, const bough_sparse *A, double operations,
                                  bo_supernodal **supernodal);
void bo_supernodal_destroy(bough_context *ctx, bo_supernodal *supernodal);

/* Fills L->x, which is there. L->minor is the number of the first column without a positive pivot, n when there is
 * none. BOUGH_CANCELLED when the context's progress callback says so; L can then be given another matrix. */
bough_status bo_supernodal_factorise(bough_context *ctx, bo_supernodal *supernodal, const bough_sparse *A,
                                     cholmod_factor *L);

#endif
