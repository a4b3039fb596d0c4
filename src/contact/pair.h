/* Distances between pieces of surfaces of triangles, with first and second derivatives: a point and a triangle, or two
 * edges. docs/theory/contact.md, "Pairs". */
#ifndef BO_CONTACT_PAIR_H
#define BO_CONTACT_PAIR_H

#include "base/vec.h"

/* A pair has four points x: a point and a triangle are (p; a, b, c), two edges are (a, b; c, d). The first piece stands
 * before the semicolon. */
typedef enum bo_pair_kind { BO_PAIR_POINT_TRIANGLE, BO_PAIR_EDGES } bo_pair_kind;

typedef struct bo_pair {
    double d;            /* m: the distance */
    double weights[4];   /* sum weights x leads from the nearest point of the second piece to that of the first: those
                            of the first piece add up to 1, those of the second to -1. The nearest point may lie on an
                            edge or a corner; the weights of the other points are 0 then */
    double gradient[12]; /* dd/dx: weights[i] n for point i, n the unit vector along sum weights x */
    double H[144];       /* d2d/dx2, 12 x 12; only where asked for */
    /* A bound on -H that is positive semidefinite: H = (1/d) (Y^T (1 - n n^T) Y - C^T (E^T E)^-1 C), and this is
     * (1/d) C^T (E^T E)^-1 C. For b' < 0 it bounds b' H by -b' bent. Only where asked for. */
    double bent[144];
} bo_pair;

/* Finds the nearest points. d is smooth as long as the same corners, edges or faces are nearest, and its derivatives
 * are those of that region. derivatives: H and bent as well. Where d = 0 there are none, and all of them are 0.
 * Degenerate pieces (triangles without area, edges without length, parallel edges) give a right distance and weights.
 * Numbers that are not finite give a d that is not finite. */
void bo_pair_at(bo_pair_kind kind, const bo_vec3 x[4], bool derivatives, bo_pair *pair);

/* The nearest points of parallel edges jump, and so would forces. The factor m = 1 - (1 - c/e)^2 for
 * c = |ea x eb|^2 < e, 1 beyond, fades them out; e = 1e-3 |ea|^2 |eb|^2 at rest. It is once continuously
 * differentiable. */
typedef struct bo_mollifier {
    double value, gradient[12], H[144]; /* H only where asked for */
} bo_mollifier;
/* e = 0: the value is 1. */
void bo_mollifier_at(const bo_vec3 x[4], double e, bool derivatives, bo_mollifier *mollifier);

/* A barrier potential of a pair, kappa m b(d) with b of barrier.h, and its derivatives by the four points.
 *   mollified  e of edges; 0: m = 1, as for a point and a triangle
 *   project    H is made positive semidefinite: its negative eigenvalues are replaced by 0. Else it is exact
 * Returns its value: 0 where the pieces are further apart than `support`, and then nothing is written; infinite, with
 * derivatives of 0, where they touch or x is not finite. */
double bo_pair_barrier(bo_pair_kind kind, const bo_vec3 x[4], double kappa, double support, double mollified,
                       bool project, double gradient[12], double H[144]);

/* Returns the largest t <= 1, or a little less, such that the distance at x + s p stays above `keep` (below 1) of that
 * at x for all 0 <= s <= t. It is never too large. Returns 0 where the pieces touch already, are apart by no more than
 * rounding, or a number is not finite. Ends after a bounded number of rounds for any numbers. */
double bo_pair_reach(bo_pair_kind kind, const bo_vec3 x[4], const bo_vec3 p[4], double keep);

/* Returns true if the pieces certainly stay further apart than `distance` while they move from x to x + p in straight
 * lines (p NULL: they stay). It may be false where they only seem to come near; for p NULL it is false only within
 * rounding of `distance`. */
bool bo_pair_stays_apart(bo_pair_kind kind, const bo_vec3 x[4], const bo_vec3 p[4], double distance);

#endif
