/* Input shaping: an animation is replaced by a weighted sum of delayed copies of itself, which cancels the vibration
 * that it would leave in some modes. docs/theory/feedback.md, "Input shaping". */
#ifndef BO_RETARGET_SHAPING_H
#define BO_RETARGET_SHAPING_H

#include "base/context.h"

/* ZV leaves no vibration at the frequencies it was made for; ZVD also has no slope there, and takes twice as long. */
typedef enum bo_shaper_kind { BO_SHAPER_ZV, BO_SHAPER_ZVD } bo_shaper_kind;

enum { BO_SHAPER_MODES = 3, BO_SHAPER_IMPULSES = 27 }; /* the most; ZVD has 3 impulses for each mode */

/* A vibration with undamped angular frequency `omega` (rad/s): x'' + 2 ratio omega x' + omega^2 x. */
typedef struct bo_vibration {
    double omega, ratio;
} bo_vibration;

typedef struct bo_shaper {
    int32_t count;
    double times[BO_SHAPER_IMPULSES]; /* s, ascending, from 0 */
    double sizes[BO_SHAPER_IMPULSES]; /* above 0; their sum is 1 */
} bo_shaper;

/* Makes the shaper of up to BO_SHAPER_MODES vibrations: the convolution of the shapers of each. Without vibrations it
 * is one impulse that changes nothing. BOUGH_ERROR_ARGUMENT: too many, a frequency that is not above 0, or a damping
 * ratio outside of 0 to 1. */
bough_status bo_shaper_make(bough_context *ctx, bo_shaper_kind kind, int32_t count, const bo_vibration *vibrations,
                            bo_shaper *shaper);
/* Returns by how much the shaped motion ends later, s. */
double bo_shaper_delay(const bo_shaper *shaper);
/* Returns the vibration that the shaper leaves, against that of the animation as it is: 0 to 1 where damping is weak.
 * The worst case over animations that end at the same time. */
double bo_shaper_leaves(const bo_shaper *shaper, bo_vibration vibration);

/* A motion of motors: place, rate and acceleration at time t. It is asked for times before its start, too. */
typedef void (*bo_motion_at)(void *data, int32_t motor, double t, double *place, double *rate, double *acceleration);

/* Reads the shaped motion at time t; results that are NULL are left out. */
void bo_shaper_at(const bo_shaper *shaper, bo_motion_at motion, void *data, int32_t motor, double t, double *place,
                  double *rate, double *acceleration);

/* Shapes samples that are dt apart (places; rates and accelerations likewise). Between samples the input is straight,
 * before the first and after the last it is as these are (rates and accelerations should be 0 there). The output has
 * its own count: count + ceil(delay / dt) samples hold all of it. */
void bo_shaper_apply(const bo_shaper *shaper, double dt, int32_t count, const double *samples, int32_t shaped_count,
                     double *shaped);

#endif
