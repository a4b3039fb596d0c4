/* The cost to a tree of its rigid interfaces. docs/theory/reduction.md, "Interfaces that deform". */
#ifndef BO_SCENE_JOINTS_H
#define BO_SCENE_JOINTS_H

#include "scene/assembly.h"

#include <bough/scene.h>

/* Predicts the cost of joints of the assembly with these components (one for each of its own); names are those of its
 * parts. gravity: m/s^2, of the sag; where it is 0, that under a weight along -z. share (may be NULL): of each
 * component, raised to how far its parts bend of how far they move. */
bough_status bo_joints_forecast(bough_context *ctx, const bo_assembly *assembly,
                                const bough_component *const *components, const double gravity[3],
                                bough_joint_forecast *forecast, double *share);
/* Warns where it says that something is off by more than BOUGH_JOINT_WARNING. file: of the scene. */
void bo_joints_warn(bough_context *ctx, const char *file, const bough_joint_forecast *forecast);

#endif
