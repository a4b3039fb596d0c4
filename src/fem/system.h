/* The full-order body as a system for the time integrators. */
#ifndef BO_FEM_SYSTEM_H
#define BO_FEM_SYSTEM_H

#include "time/system.h"

#include <bough/fem.h>

/* q is the displacement u. Loads are those of the body; supports are held at rest. The body must outlive the system
 * and keep its supports. Destroy with bo_body_system_destroy(). */
bough_status bo_body_system_create(bough_context *ctx, bough_body *body, bo_system *system);
void bo_body_system_destroy(bough_context *ctx, bo_system *system);

#endif
