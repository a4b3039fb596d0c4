/* The full-order body as a system for the time integrators. */
#ifndef BO_FEM_SYSTEM_H
#define BO_FEM_SYSTEM_H

#include "fem/drive.h"
#include "time/system.h"

#include <bough/fem.h>

/* q is the displacement u. Loads are those of the load case (NULL: none); its supports are held where q has them. Body
 * and load case must outlive the system, and nothing may be added to the load case meanwhile. Destroy with
 * bo_body_system_destroy(). */
bough_status bo_body_system_create(bough_context *ctx, const bough_body *body, const bough_load_case *load_case,
                                   bo_system *system);
/* Further calls use this context. */
void bo_body_system_use_context(bo_system *system, bough_context *ctx);
/* From now on loads and supports follow the curves of the drive too, which must outlive the system; NULL: no longer.
 * Before each step the held entries of q and v must be those of bo_body_system_hold(). A kink of a curve changes the
 * velocity of a support; what that would do at once to its free neighbours (through a mass matrix that is not
 * diagonal) is left out, the elastic forces pull them along. */
void bo_body_system_drive(bo_system *system, const bo_drive *drive);
void bo_body_system_hold(const bo_system *system, double t, double *q, double *v);

/* From now on supports are where q has them, as while an equilibrium is looked for; false: where they are at the time. */
void bo_body_system_hold_by_q(bo_system *system, bool by_q);
/* N: a measure of the forces that balance each other at q: those of loads and of what touches at free vertices, and those
 * of supports. */
bough_status bo_body_system_magnitude(const bo_system *system, double t, const double *q, double *magnitude);

/* From now on it touches (fem/touch.h), until the contact, which the caller keeps, is NULL. */
struct bo_touch;
void bo_body_system_touch(bo_system *system, struct bo_touch *touch);
/* Contact of a body with itself connects vertices in matrices that no element connects. Which ones belongs to what a
 * run saves: so many numbers; factors then have the same bits. restore() refuses what save() did not write. */
int64_t bo_body_system_joined_size(const bo_system *system);
void bo_body_system_joined_save(const bo_system *system, double *numbers);
bough_status bo_body_system_joined_restore(bo_system *system, int64_t count, const double *numbers);

/* Further forces, which stay with the caller and act until others are given. Held vertices do not feel them. */
typedef struct bo_point_force {
    int32_t vertex;
    double force[3]; /* N */
} bo_point_force;
void bo_body_system_push(bo_system *system, int32_t count, const bo_point_force *forces);

/* From now on gravity is this one instead of the load case's. change (size entries) += what that adds to the loads. */
void bo_body_system_weigh(bo_system *system, const double gravity[3], double *change);

typedef struct bo_body_measures {
    double elastic, kinetic;                 /* J */
    double external;                         /* potential of the loads that never change, J, zero at rest */
    double momentum[3], angular_momentum[3]; /* kg m/s; kg m^2/s about the origin */
} bo_body_measures;
bough_status bo_body_system_measure(const bo_system *system, const double *q, const double *v,
                                    bo_body_measures *measures);

/* The work of a step, J, by what bo_body_measures.external leaves out: loads by curves, pressure, pushes and supports
 * that move. begin at its start, once its pushes are known; end when it has succeeded and supports are held where they
 * are at its end. Forces count with the mean of the two; *doubt: what another mean might give. */
bough_status bo_body_system_begin_work(const bo_system *system, double t, const double *q, const double *v);
bough_status bo_body_system_end_work(const bo_system *system, double t, double h, const double *q, const double *v,
                                     double *work, double *doubt);
void bo_body_system_destroy(bough_context *ctx, bo_system *system);

#endif
