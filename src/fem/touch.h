/* Contact of a full-order body with obstacles: barriers that it never crosses, and friction. docs/theory/contact.md,
 * "Full bodies".
 *
 * Points are the vertices of the body's surface, and points between them where spacing says so. Each has the energy kappa w b(d) of a barrier in its gap d from each
 * obstacle, where w is its share of the surface, and slides against friction under the force that pressed it at the
 * start of the step. */
#ifndef BO_FEM_TOUCH_H
#define BO_FEM_TOUCH_H

#include "contact/gap.h"
#include "fem/body.h"
#include "fem/joined.h"

#include <bough/contact.h>

typedef struct bo_touch_def {
    double support;   /* m: within it an obstacle repels; 0: a thousandth of the body's size */
    double slip;      /* m/s: friction holds by creeping slower than this; 1e-3 */
    double stiffness; /* factor on the barrier, which is as stiff as inertia in a step; 1 */
    double friction;  /* of the body; of two that touch the square root of the product counts */
    double spacing;   /* m: points on edges and faces between vertices are no further apart; 0: there are none */
    bool itself;      /* pieces of its surface touch each other, too */
    const unsigned char
        *led; /* 3 vertex_count: 1 where a support moves, so that it may meet something; NULL: none does.
                                 Copied */
    int32_t obstacle_count;
    const bo_touch_obstacle *obstacles; /* copied; what they point to is not */
} bo_touch_def;
bo_touch_def bo_default_touch_def(void);
/* Checks its numbers; obstacles were checked by whoever made them. */
bough_status bo_touch_check(bough_context *ctx, const bo_touch_def *def);

typedef struct bo_touch bo_touch;
/* Body and load case outlive it. Vertices that are held in all directions, and not led anywhere, touch nothing. */
bough_status bo_touch_make(bough_context *ctx, const bough_body *body, const bough_load_case *load_case,
                           const bo_touch_def *def, bo_touch **touch);
void bo_touch_free(bough_context *ctx, bo_touch *touch);

/* Further calls use this context. */
void bo_touch_use_context(bo_touch *touch, bough_context *ctx);

/* Finds the stiffness of the barriers for steps of this length (0: the first step will find it), and fails where a point is
 * in an obstacle at t, the start, with its name. */
bough_status bo_touch_start(bo_touch *touch, double t, double dt, const double *q);
/* For methods that do not damp what they cannot resolve: barriers are as stiff as what arrives needs, and steps as short
 * as barriers need, instead of the other way round. */
void bo_touch_follow_speed(bo_touch *touch);
/* While an equilibrium at t is looked for: friction under the forces at q holds points near to where they have been when
 * they began to touch, and obstacles stand still. Until a step begins. *change: as below. */
bough_status bo_touch_hold(bo_touch *touch, double t, const double *q, double *change);
/* Makes barriers stiffer where q, an equilibrium, is so near something that the next step would do so. False: they need
 * not be. */
bool bo_touch_stiffen(bo_touch *touch, double t, const double *q);
/* Begins a step of length h from displacements q and velocities v at t: keeps the forces by which friction is measured.
 * BOUGH_NO_CONVERGENCE where a point is in an obstacle. */
bough_status bo_touch_begin(bo_touch *touch, double t, double h, const double *q, const double *v);
/* Measures friction at obstacles by the forces at q, where the last stage of the step has ended at t, instead: it is
 * taken once more then. *change: of the largest force of friction, by how much of it one changed at most. */
bough_status bo_touch_begin_again(bo_touch *touch, double t, const double *q, double *change);
/* Friction between pieces of the body has no torque at q from now on; before, it had none at the start of the step.
 * Returns the longest way of a vertex from there, or from the q of the call before, in sizes of the body. */
double bo_touch_turn_levers(bo_touch *touch, const double *q);
/* Refuses what begins so close to something that the barrier there would throw it off. Equilibria may begin there. */
bough_status bo_touch_check_start(const bo_touch *touch, double t, const double *q);
/* Work of the step that has ended at q, J, by what the energy of the barriers leaves out: friction, obstacles that move,
 * barriers that got stiffer. Forces of obstacles count with the mean of both ends; *doubt: half their difference. *rubbed: the
 * work of friction, whose force counts as it is at the end. */
void bo_touch_work(const bo_touch *touch, const double *q, double *work, double *doubt, double *rubbed);

/* Adds the potential and the forces at q, at a time t of the step; U may be NULL. BOUGH_NOT_FINITE in an obstacle. */
bough_status bo_touch_force(bo_touch *touch, double t, const double *q, double *U, double *f);
/* Adds the second derivative of the potential to K, a matrix of the body; it is positive semidefinite where obstacles
 * are convex. project: everywhere. */
void bo_touch_tangent(bo_touch *touch, double t, const double *q, bool project, bough_sparse *K);
/* Those of pieces of the body with each other, which connect vertices that no element connects, at the same q. Returns
 * how many; -1: memory was short. */
int32_t bo_touch_blocks(const bo_touch *touch, const bo_joined_block **blocks);
/* The part of the way along dq, at most 1, on which no point comes nearer to an obstacle than a tenth of its gap. */
double bo_touch_bound(bo_touch *touch, double t, const double *q, const double *dq);
/* q is where the step began, but for supports, which are where they lead to at t. Points that an obstacle would run over
 * meanwhile go along with it: q is out of all obstacles at t afterwards, if it was at the start. Where a support leads
 * into something, or a point is caught between, searches find no force, and a step that is shorter may. */
void bo_touch_escape(bo_touch *touch, double t, double *q);

/* Searches never cross anything, but in long steps they may lead around it. Fails with BOUGH_NO_CONVERGENCE where a step
 * that moves vertices by more than a tenth of the body's size, and ended at q, has not come there straight. */
bough_status bo_touch_check_ways(bo_touch *touch, const double *q);

/* For methods whose steps end where no stage was: fails with BOUGH_NO_CONVERGENCE where the straight way of the step to q
 * leaves less than a tenth of any gap. */
bough_status bo_touch_check_end(bo_touch *touch, const double *q);

/* Looks for pieces of the surface that are near each other at q, after a jump of the state. */
bough_status bo_touch_look(bo_touch *touch, const double *q);
/* Energy of the barriers alone, J; INFINITY in an obstacle. */
double bo_touch_energy(const bo_touch *touch, double t, const double *q);
/* Lists what touches at q, at most so many: first vertices and obstacles, then pairs of pieces of the surface. Returns
 * how many there are. Indices of sides are vertices (one of each piece), and `thing` of obstacles. */
int32_t bo_touch_contacts(const bo_touch *touch, double t, const double *q, int32_t most, bough_contact *contacts);
/* The smallest gap, of pieces of the surface within the support distance of each other included; INFINITY: there is
 * none. */
double bo_touch_gap(const bo_touch *touch, double t, const double *q);

/* m: the diagonal of a box around the body at rest. */
double bo_touch_size(const bo_touch *touch);
/* The surface whose pieces touch each other; NULL: they do not. */
const struct bo_skin *bo_touch_skin(const bo_touch *touch);

/* kappa, N/m, is all that goes on from step to step besides the motion. 0: it will be found in the next step. */
double bo_touch_kappa(const bo_touch *touch);
void bo_touch_set_kappa(bo_touch *touch, double kappa);

#endif
