/* Online correction of motors: a feedback around a nominal motion, for a plant that differs from the model.
 * docs/theory/feedback.md, "Feedback".
 *
 *     bo_feedback_design(ctx, model, state, &def, &feedback);          (state: gravity and drive of the nominal motion)
 *     for each step from t to t + dt:
 *         bo_feedback_command(feedback, t, nominal->u, nominal->v, plant->u, plant->v, &correction);
 *         step the nominal motion, and the plant with motors told: nominal place + correction.place[motor], and rates
 *
 * The feedback is given positions and velocities of the whole plant. It uses no more of them than the amplitudes of a few
 * modes and their rates, which on a real machine an observer, or sensors on the parts, would have to supply. */
#ifndef BO_RETARGET_FEEDBACK_H
#define BO_RETARGET_FEEDBACK_H

#include "retarget/vibrations.h"

typedef struct bo_feedback_def {
    double from, every; /* s: gains are designed at from + k every, about equilibria with motors as they are told */
    int32_t pose_count; /* k = 0 .. pose_count - 1; between, gains are interpolated */
    double dt;          /* s: of the steps, during which the acceleration of a correction is constant */
    int32_t frame_count;
    const bough_frame_def *frames; /* that should not vibrate; none: the origins of all rigid bodies */
    int32_t mode_count;            /* the most that are corrected */
    double least_strength;         /* of a mode that is corrected, against the strongest */
    /* Weights, against a vibration of the frames by the same length: displacement of the frames by a correction's
     * place, and the same by an acceleration that a vibration of the strongest mode would take. */
    double place, effort;
    /* In how many periods of the strongest mode a constant difference, such as a heavier load sags, is recognised and
     * no longer corrected; INFINITY: never, and motors stay away from their curves by some of it. */
    double patience;
} bo_feedback_def;
/* One pose at 0, steps of 2 ms, up to 4 modes above a per cent of the strongest, weights 1 and 1, patience 0.5. */
bo_feedback_def bo_default_feedback_def(void);

/* Gains at one pose, of displacements x and velocities of the plant against the nominal motion (in the axes of each body
 * of the nominal motion, then coordinates of parts) and of corrections c. They are sums over modes z = rows x - inertia c,
 * so that signs and order of modes do not matter between poses. L: gains of the small system. */
typedef struct bo_feedback_gains {
    double *bend;       /* motor_count x size: L_z rows */
    double *bend_place; /* motor_count x motor_count: L_z inertia */
    double *swing;      /* motor_count x size: L_z' rows */
    double *swing_rate; /* motor_count x motor_count: L_c' - L_z' inertia */
    double *place;      /* motor_count x motor_count: L_c */
    double *soft;       /* motor_count x size: L_z / omega^2 rows */
    double *soft_rate;  /* motor_count x motor_count: L_z / omega^2 inertia */
} bo_feedback_gains;

/* Constant once it was designed; one feedback serves many plants. */
typedef struct bo_feedback {
    int32_t motor_count, size, body_count, pose_count;
    double from, every, dt;
    double offset_time;       /* s: patience; INFINITY: there is no end of it */
    bo_feedback_gains *gains; /* pose_count */
    int32_t *mode_counts;     /* pose_count: modes that are corrected there; 0: none is excited */
    double *radius;           /* pose_count: of the closed loop's eigenvalues, over one step; 1: nothing decays */
    double *memory;
} bo_feedback;

/* Designs the feedback. The state (positions, gravity, drive) is copied. BOUGH_ERROR_ARGUMENT where a number of the def
 * is out of range; failures of equilibria as bough_multibody_follow() says. The caller destroys it. */
bough_status bo_feedback_design(bough_context *ctx, const bough_multibody *model, const bough_multibody_state *state,
                                const bo_feedback_def *def, bo_feedback **feedback);
/* Takes NULL too. */
void bo_feedback_destroy(bough_context *ctx, bo_feedback *feedback);

/* Corrections of all motors of one plant: motor_count each, zeros at first. */
typedef struct bo_correction {
    double *place, *rate; /* rad, m; rad/s, m/s: added to what motors are told */
    double *acceleration; /* constant during a step */
    double *offset;       /* of the observer of constant differences */
    double *bend, *soft;  /* scratch */
} bo_correction;
bough_status bo_correction_make(bough_context *ctx, const bo_feedback *feedback, bo_correction *correction);
void bo_correction_free(bough_context *ctx, bo_correction *correction);

/* Advances the corrections from time t, where both states are, to t + dt. Allocates nothing. */
void bo_feedback_command(const bo_feedback *feedback, double t, const double *nominal_u, const double *nominal_v,
                         const double *plant_u, const double *plant_v, bo_correction *correction);

#endif
