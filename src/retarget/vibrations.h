/* Small vibrations of a multibody system as motors excite them: frequencies, damping, and how strongly each motor acts on
 * each mode. docs/theory/feedback.md, "Modes that motors excite". */
#ifndef BO_RETARGET_VIBRATIONS_H
#define BO_RETARGET_VIBRATIONS_H

#include "multibody/linear.h"
#include "retarget/shaping.h"

/* About an equilibrium, displacements are x = sum_k phi_k z_k + sum_m psi_m c_m: phi are the modes with motors held, of
 * unit modal mass, c changes of what motors are told, psi the equilibria that follow them. Then for each mode
 *   z'' + 2 ratio omega z' + omega^2 z = - inertia c'' - drag c',      z = rows x - inertia c */
typedef struct bo_vibrations {
    int32_t count, motor_count, size; /* modes that vibrate; motors; velocities of the model */
    double *omega;                    /* count: rad/s, ascending */
    double *ratio;                    /* count: damping ratio; 1 and more: it does not vibrate */
    double *shapes, *rows;            /* count x size: phi^T, phi^T M */
    double *inertia, *drag;           /* count x motor_count: phi^T M psi; phi^T D psi less the force by the rate */
    double *follows;                  /* motor_count x size: psi */
    double *seen;                     /* count: by how much a unit of a mode moves the frames, m */
    double *reach;                    /* motor_count: by how much a unit of a motor moves them in the end, m */
    double *strength;                 /* count: by how much a mode moves them when all motors jump by a unit, m */
} bo_vibrations;

/* Finds all modes of the state, which must be in equilibrium (bough_multibody_settle()); its velocities are used and
 * zeros afterwards. Frames are the places that should not vibrate; none: the origins of all rigid bodies. Modes without
 * a stiffness that brings them back are left out. BOUGH_ERROR_UNSUPPORTED: parts in full order, or more than 1500
 * velocities. bo_vibrations_free() is owed also when it fails. */
bough_status bo_vibrations_find(bough_context *ctx, const bough_multibody *model, bough_multibody_state *state,
                                int32_t frame_count, const bough_frame_def *frames, bo_vibrations *vibrations);
void bo_vibrations_free(bough_context *ctx, bo_vibrations *vibrations);

/* Chooses the modes that matter: those whose strength is above `least` times the largest, up to `most` of them,
 * strongest first; modes that do not vibrate, and those whose frequency is within `apart` (relative) of a stronger one,
 * are left out. chosen: at least `most`. Returns how many there are. */
int32_t bo_vibrations_choose(const bo_vibrations *vibrations, double least, double apart, int32_t most,
                             int32_t *chosen);

/* Settles a copy of the state at `time`, with motors as they are told to be then, and finds the vibrations that a
 * shaper has to cancel there: at most BO_SHAPER_MODES, those above a per cent of the strongest. */
bough_status bo_vibrations_to_shape(bough_context *ctx, const bough_multibody *model,
                                    const bough_multibody_state *state, double time, int32_t frame_count,
                                    const bough_frame_def *frames, int32_t *count,
                                    bo_vibration to_shape[BO_SHAPER_MODES]);

/* Makes a state of the model with positions, gravity and drive of another. The caller destroys it. */
bough_status bo_copy_state(bough_context *ctx, const bough_multibody *model, const bough_multibody_state *from,
                           bough_multibody_state **copy);

#endif
