/* An M-orthonormal basis V of a block Krylov space of A = (K - shift M)^-1 M, and A's projection on it.
 *
 * Rows of V below `processed` have been multiplied by A. With T = V M A V^T the relation
 *     A v_i = sum over j < used of T_ji v_j      for i < processed
 * holds, so that the rows processed .. used of T, the front, hold the residuals of the space. A is symmetric in the
 * inner product of M, and so is T. */
#ifndef BO_LINALG_KRYLOV_H
#define BO_LINALG_KRYLOV_H

#include "linalg/eigen.h"

/* Right-hand sides of one solve. The factor is read from memory once for all of them; eight cost about as much as two
 * or three one by one, more gain little. A block finds as many copies of a multiple eigenvalue as it has vectors, so it
 * is wider than the six zeros of a free body. */
#define BO_KRYLOV_BLOCK 8

typedef struct bo_krylov {
    bo_factor *factor;
    const bo_operator *M;
    int32_t size, capacity; /* length and largest number of basis vectors */
    int32_t processed, used;
    int32_t random_count; /* random directions that the space started from */
    double *V, *MV;       /* vector i at i * size; a block more than capacity */
    double *T;            /* capacity x capacity, symmetric */
    double *coefficients; /* 3 x block x (capacity + block): scratch */
    double *panel;        /* scratch of bo_krylov_restart */
    uint64_t random;
    int32_t solves;
    double work;       /* estimate of the floating-point operations so far */
    double since_look; /* operations since somebody was asked whether to go on */
} bo_krylov;

/* Without vectors or room for any. */
void bo_krylov_start(bo_factor *factor, const bo_operator *M, bo_krylov *krylov);
/* Room for `capacity` vectors, not fewer than before. When it fails the space can only be released. */
bough_status bo_krylov_reserve(bough_context *ctx, bo_krylov *krylov, int32_t capacity);
void bo_krylov_release(bough_context *ctx, bo_krylov *krylov);

/* Adds up to a block of random vectors from the range of A to the front; none when V spans that range. */
bough_status bo_krylov_inject(bough_context *ctx, bo_krylov *krylov);
/* Multiplies the next block of the front by A and adds what is new to the front. */
bough_status bo_krylov_step(bough_context *ctx, bo_krylov *krylov);
/* Replaces the processed part of the basis by `keep` Ritz vectors: columns of S (processed x keep, rows of length
 * `stride`) with the Ritz values `theta`. The front stays. When it fails the space can only be released. */
bough_status bo_krylov_restart(bough_context *ctx, bo_krylov *krylov, int32_t keep, const double *theta,
                               const double *S, int32_t stride);
/* X (count x size) = S^T V' with `rows` of the basis vectors, V', from `first` on, and the first `count` columns of S
 * (rows of length `stride`); or added to X. */
bough_status bo_krylov_combine(bough_context *ctx, bo_krylov *krylov, int32_t count, const double *S, int32_t stride,
                               int32_t first, int32_t rows, bool add, double *X);

#endif
