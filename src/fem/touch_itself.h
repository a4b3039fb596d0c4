/* Contact of a full body with itself: pairs of a point and a triangle, and of two edges, of its surface.
 * docs/theory/contact.md, "Pairs". */
#ifndef BO_FEM_TOUCH_ITSELF_H
#define BO_FEM_TOUCH_ITSELF_H

#include "contact/near.h"
#include "fem/body.h"
#include "fem/joined.h"

#include <bough/contact.h>

/* The surface of a mesh; the body of a vertex is the lowest vertex of the piece that elements hold together. The caller
 * frees it, also when this fails. */
bough_status bo_body_skin(bough_context *ctx, const bough_mesh *mesh, bo_skin *skin);

typedef struct bo_itself bo_itself;
/* Refuses surfaces that are nearer to themselves than the support distance at rest.
 *   still  3 vertex_count: 1 where a vertex never moves; pairs that do not move at all are left out */
bough_status bo_itself_make(bough_context *ctx, const bough_body *body, const unsigned char *still, double support,
                            double slip, double friction, bo_itself **itself);
/* Further calls use this context. */
void bo_itself_use_context(bo_itself *itself, bough_context *ctx);
void bo_itself_free(bough_context *ctx, bo_itself *itself);

/* Finds the pairs that come near each other on the way from displacements q to q + dq (NULL: at q): those that are
 * looked at below. */
bough_status bo_itself_look(bo_itself *itself, const double *q, const double *dq);
/* The part of that way on which no two pieces come nearer than `keep` of their distance. */
double bo_itself_bound(bo_itself *itself, const double *q, const double *dq, double keep);
/* A step begins at q: friction is measured by the forces there. */
bough_status bo_itself_begin(bo_itself *itself, double kappa, const double *q);
/* While an equilibrium is looked for: friction under the forces at q holds pieces that have touched before near to where
 * they began to. *change becomes the largest change of a force of friction, as part of the largest, where that is more. */
bough_status bo_itself_hold(bo_itself *itself, double kappa, const double *q, double *change);
/* Friction has no torque at q from now on, instead of at the start of the step. Returns the longest way, m, of a vertex
 * with friction since the call before, or since the start of the step. */
double bo_itself_turn_levers(bo_itself *itself, const double *q);
/* Adds the potential and the forces at q; since: s, from the start of the step. False: pieces touch. */
bool bo_itself_force(const bo_itself *itself, double kappa, double since, const double *q, double *U, double *f);
/* Finds the second derivatives at q; they stay until the next call. Returns how many there are, -1 when memory is short.
 */
int32_t bo_itself_tangent(bo_itself *itself, double kappa, double since, const double *q, bool project,
                          const bo_joined_block **blocks);
/* Energy of the barriers alone; those of pairs that were looked for. */
double bo_itself_energy(const bo_itself *itself, double kappa, const double *q);
/* Work of friction in a step of length h that ended at q, J. */
double bo_itself_work(const bo_itself *itself, double h, const double *q);
/* The smallest distance of two pieces that were looked for. */
double bo_itself_gap(const bo_itself *itself, const double *q);
/* Lists the pairs that push each other at q, at most so many, behind each other by their first pieces; since: s, from
 * the start of the step. Indices of sides are vertices. Returns how many there are. */
int32_t bo_itself_contacts(const bo_itself *itself, double kappa, double since, const double *q, int32_t most,
                           bough_contact *contacts);
const bo_skin *bo_itself_skin(const bo_itself *itself);

#endif
