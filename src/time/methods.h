/* Functions that methods share. */
#ifndef BO_TIME_METHODS_H
#define BO_TIME_METHODS_H

#include "time/integrator.h"

/* BDF2 with steps of changing size, w = h / h_before:
 *     u1 = u0 + w^2/(1+2w) (u0 - u-) + tau F(u1),  tau = h (1+w)/(1+2w) */
typedef struct bo_bdf2_weights {
    double history, tau;
} bo_bdf2_weights;
bo_bdf2_weights bo_bdf2_weights_of(double h, double h_before);

/* (I - tau J) d = 2 tau F(u0): the linearised trapezoidal rule over 2 tau; K is kept at q0. */
bough_status bo_linear_trapezoid(bo_integrator *I, double tau, const bo_motion *from, double *qs, double *vs);

#endif
