/* Potentials of contact without penetration: a barrier in the distance, and friction that is smooth in the velocity.
 * docs/theory/contact.md, "Barriers". */
#ifndef BO_CONTACT_BARRIER_H
#define BO_CONTACT_BARRIER_H

#include <math.h>

/* b(d) = -(d - D)^2 ln(d / D) for 0 < d < D, 0 beyond, infinite for d <= 0: repels within the support distance D, and is
 * twice continuously differentiable there. kappa b is an energy, -kappa b' a force. */
typedef struct bo_barrier {
    double value, slope, bend; /* m^2, m, 1 */
} bo_barrier;

static inline bo_barrier bo_barrier_at(double d, double support) {
    if (d >= support)
        return (bo_barrier){0, 0, 0};
    if (!(d > 0))
        return (bo_barrier){INFINITY, -INFINITY, INFINITY};
    const double x = d - support, log_of = log(d / support);
    return (bo_barrier){-x * x * log_of, -2 * x * log_of - x * x / d, -2 * log_of - 4 * x / d + x * x / (d * d)};
}

/* Friction with the coefficient mu under the normal force lambda slows a sliding velocity v, |v| = y, by
 * mu lambda s(y) v / y, the gradient of mu lambda psi(y). Below the speed e, s grows from 0 to 1 smoothly. */
typedef struct bo_friction {
    double potential; /* psi, m/s */
    double over;      /* s / y, s/m: 2 / e at rest */
    double slope;     /* ds/dy, s/m */
} bo_friction;

static inline bo_friction bo_friction_at(double y, double e) {
    if (y >= e)
        return (bo_friction){y - e / 3, 1 / y, 0};
    return (bo_friction){y * y / e - y * y * y / (3 * e * e), 2 / e - y / (e * e), 2 / e - 2 * y / (e * e)};
}

#endif
