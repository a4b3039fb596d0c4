/* Nearest points of a pair with the directions around them, in which all its second derivatives are sparse. Shared by
 * pair.c, pair_barrier.c and pair_reach.c. docs/theory/contact.md, "Pairs". */
#ifndef BO_CONTACT_PAIR_FRAME_H
#define BO_CONTACT_PAIR_FRAME_H

#include "contact/pair.h"

/* The nearest points can slide along `tangent_count` edges: none (two corners), one (a corner and an edge), or two (a
 * point over a triangle, edges that cross). Tangent j leads from point tangents[j][0] to point tangents[j][1]. */
typedef struct bo_pair_nearest {
    bo_vec3 y; /* sum weights x */
    double weights[4];
    int tangent_count;
    int tangents[2][2];
    bo_vec3 normal; /* of two tangents: their cross product, by which the nearest points were found */
} bo_pair_nearest;
void bo_pair_find_nearest(bo_pair_kind kind, const bo_vec3 x[4], bo_pair_nearest *nearest);

/* n = y / d, and unit vectors u_j = sum_i k[j][i] x_i that span the tangents; all of them are orthogonal. */
typedef struct bo_pair_frame {
    double d;
    double weights[4];
    bo_vec3 n; /* 0 where d = 0 */
    int tangent_count;
    bo_vec3 u[2];
    double k[2][4];
} bo_pair_frame;
void bo_pair_frame_at(bo_pair_kind kind, const bo_vec3 x[4], bo_pair_frame *frame);

/* A symmetric 12 x 12 matrix of the shape that second derivatives of functions of d have, block (i, k) being
 *   nn_ik n n^T + w_k n nt_i^T + w_i nt_k n^T + w_i w_k tt,      nt_i and tt orthogonal to n. */
typedef struct bo_pair_form {
    double nn[16];
    bo_vec3 nt[4];
    bo_mat3 tt;
} bo_pair_form;
/* Second derivatives of d > 0. */
void bo_pair_form_of_distance(const bo_pair_frame *frame, bo_pair_form *form);
void bo_pair_unfold(const bo_pair_frame *frame, const bo_pair_form *form, double H[144]);

/* Returns c = |ea x eb|^2 of two edges, which the mollifier depends on. */
double bo_pair_area_squared(const bo_vec3 x[4]);

#endif
