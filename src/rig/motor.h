/* Motors: coordinates of joints whose springs' offsets follow curves. */
#ifndef BO_RIG_MOTOR_H
#define BO_RIG_MOTOR_H

#include "rig/curve.h"

/* As stiff as the spring of its joint. */
typedef struct bo_motor {
    int32_t joint, freedom;
    int32_t curve; /* number of the curve that it follows */
    double scale;  /* rad or m at a curve value of 1 */
} bo_motor;

/* The offset that it drives its joint's spring to at time t, and how fast. */
static inline double bo_motor_offset(const bo_motor *motor, const bo_curve *curves, double t) {
    return motor->scale * bo_curve_at(&curves[motor->curve], t);
}
static inline double bo_motor_rate(const bo_motor *motor, const bo_curve *curves, double t) {
    return motor->scale * bo_curve_slope(&curves[motor->curve], t);
}

#endif
