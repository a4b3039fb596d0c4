/* Shape functions and quadrature rules of the element types. */
#ifndef BO_FEM_SHAPE_H
#define BO_FEM_SHAPE_H

#include "base/vec.h"
#include "mesh/element.h"

#define BO_MAX_POINTS 27

/* A rule with the shape functions tabulated at its points. Weights sum to the volume of the reference element
 * (1/6 for tets with corners 0, e1, e2, e3; 8 for the hex [-1,1]^3). */
typedef struct bo_rule {
    int32_t point_count, node_count;
    double weight[BO_MAX_POINTS];
    double N[BO_MAX_POINTS][BO_MAX_NODES];     /* shape functions */
    double dN[BO_MAX_POINTS][BO_MAX_NODES][3]; /* d N / d natural coordinate */
} bo_rule;

typedef enum bo_rule_kind {
    BO_RULE_STIFFNESS, /* tet4 1 point, tet10 4, hex8 2x2x2 */
    BO_RULE_MASS /* exact for N_a N_b det J on straight-sided tets and on all trilinear hexes: tet4 4, tet10 15, hex8
                    3x3x3 */
} bo_rule_kind;

/* dx / d(natural) at point q of an element with these nodes, where x holds three numbers for each vertex. */
bo_mat3 bo_rule_gradient(const bo_rule *rule, int32_t q, const double *x, const int32_t *nodes);

/* Built once, thread-safe; never fails for volume elements. */
const bo_rule *bo_rule_of(bough_element_type type, bo_rule_kind kind);

#endif
