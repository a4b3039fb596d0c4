/* Functions on an interface: how it can deform, in few numbers that mean the same on both sides of a joint.
 * docs/theory/reduction.md, "Interfaces that deform". */
#ifndef BO_COMPONENT_JOINTS_H
#define BO_COMPONENT_JOINTS_H

#include "base/vec.h"

#include <bough/component.h>

/* Polynomials of second degree in two coordinates s, t of the interface (over its radius), for three directions, less
 * the six rigid motions. */
enum {
    BO_JOINT_FUNCTIONS = BOUGH_JOINT_FUNCTIONS,
    BO_JOINT_MONOMIALS = 6, /* 1, s, t, s^2, s t, t^2 */
    BO_JOINT_TERMS = 3 * BO_JOINT_MONOMIALS
};

/* The geometry that the functions depend on: a row of "joint.geometry". */
typedef struct bo_joint_geometry {
    double axes[9];     /* columns: the directions of s and t, and across */
    double moments[36]; /* weighted sums of the products of the monomials */
} bo_joint_geometry;
_Static_assert(sizeof(bo_joint_geometry) == BOUGH_JOINT_GEOMETRY * sizeof(double), "one row");

void bo_joint_monomials(double s, double t, double m[BO_JOINT_MONOMIALS]);
/* Coefficients of the functions: Z[(3 monomial + direction) BO_JOINT_FUNCTIONS + function]; directions are the axes'.
 * Orthonormal in the moments and orthogonal to rigid motions; zero where the interface is too narrow for one. */
void bo_joint_functions(const bo_joint_geometry *geometry, double Z[BO_JOINT_TERMS * BO_JOINT_FUNCTIONS]);
/* D (functions x functions): the functions of `other`, seen by those of `own`. R takes other's axes to own's; a point
 * at x (own's axes, over own's radius) is at R^T x ratio for other. */
void bo_joint_translate(const bo_joint_geometry *own, const bo_joint_geometry *other, bo_mat3 R, double ratio,
                        double D[BO_JOINT_FUNCTIONS * BO_JOINT_FUNCTIONS]);

#endif
