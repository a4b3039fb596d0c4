/* Sensitivities: changes of tracked frames with control points, along a motion that was simulated, and the matrix of
 * Gauss and Newton made of them. docs/theory/adjoint.md, "Gauss-Newton". */
#ifndef BO_RETARGET_SENSITIVITY_H
#define BO_RETARGET_SENSITIVITY_H

#include "retarget/adjoint.h"

typedef struct bo_sensitivity bo_sensitivity;

/* memory_seconds: changes are followed that long after a point has ceased to act; 0: to the end. The adjoint must
 * outlive it. */
bough_status bo_sensitivity_create(bough_context *ctx, bough_adjoint *adjoint, double memory_seconds,
                                   bo_sensitivity **sensitivity);
/* Takes NULL too. */
void bo_sensitivity_destroy(bough_context *ctx, bo_sensitivity *sensitivity);

/* H (n x n for the n points of all motors, in their order): J^T J, where J are derivatives of residuals whose squares'
 * half sum is the objective without the caller's term; rows and columns of points that are held are zeros. It is about
 * the motion that the adjoint has simulated last, with the steps kept (bo_adjoint_try(), bough_adjoint_gradient()). The
 * same bits for any number of threads. */
bough_status bo_sensitivity_matrix(bough_context *ctx, bo_sensitivity *sensitivity, double *H);

#endif
