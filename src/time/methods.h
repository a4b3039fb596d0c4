/* What methods share with each other. */
#ifndef BO_TIME_METHODS_H
#define BO_TIME_METHODS_H

/* BDF2 with steps of changing size, w = h / h_before:
 *     u1 = u0 + w^2/(1+2w) (u0 - u-) + tau F(u1),  tau = h (1+w)/(1+2w) */
typedef struct bo_bdf2_weights {
    double history, tau;
} bo_bdf2_weights;
bo_bdf2_weights bo_bdf2_weights_of(double h, double h_before);

#endif
