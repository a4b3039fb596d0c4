/* The quartic energy of a reduced St. Venant-Kirchhoff body, in unique coefficients.
 *
 * With x = (1, q_1 .. q_r):  E(q) = sum over a >= b >= c >= d of t_abcd x_a x_b x_c x_d,  a .. d in 0 .. r.
 * Row (a, b) holds all (c, d) with b >= c >= d in the order (0,0) (1,0) (1,1) (2,0) ...: a prefix of the products
 * x_c x_d in the same order, so that a row is one dot product and one vector update. */
#ifndef BO_COMPONENT_POLYNOMIAL_H
#define BO_COMPONENT_POLYNOMIAL_H

#include <stddef.h>
#include <stdint.h>

/* Returns the place where row (a, b) begins: the sum of (b'+1)(b'+2)/2 over the rows before it. */
static inline size_t bo_quartic_row(int32_t a, int32_t b) {
    size_t A = (size_t)a, B = (size_t)b;
    return A * (A + 1) * (A + 2) * (A + 3) / 24 + B * (B + 1) * (B + 2) / 6;
}
static inline size_t bo_quartic_index(int32_t a, int32_t b, int32_t c, int32_t d) {
    return bo_quartic_row(a, b) + (size_t)c * (size_t)(c + 1) / 2 + (size_t)d;
}
/* Coefficients in all: (r + 4 choose 4). */
static inline size_t bo_quartic_count(int32_t r) {
    return bo_quartic_row(r + 1, 0);
}

/* Doubles of scratch. */
size_t bo_quartic_scratch(int32_t r);
/* Energy, gradient (r), Hessian (r x r, both triangles); outputs may be NULL. */
void bo_quartic_evaluate(int32_t r, const double *t, const double *q, double *scratch, double *energy, double *gradient,
                         double *hessian);
/* Gradient (r) and the product of the Hessian with v (r): about half the time of the Hessian. */
void bo_quartic_product(int32_t r, const double *t, const double *q, const double *v, double *scratch, double *gradient,
                        double *product);

#endif
