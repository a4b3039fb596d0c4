/* Stress of a component with what its gauges say. docs/theory/reduction.md, "Stress points". */
#ifndef BO_COMPONENT_STRESS_H
#define BO_COMPONENT_STRESS_H

#include "base/vec.h"

#include <bough/component.h>

/* Values of all gauges at q: 6 count + BOUGH_SEAM. seam: of the interface by which it hangs, in the component's axes;
 * NULL: not strained. */
void bo_component_gauges(const bough_component *component, const double *q, const double *seam, double *values);
/* As bough_component_stress(); values: of the gauges; NULL where there are none. */
bool bo_component_stress_with(const bough_component *component, int32_t i, const double *q, const double *values,
                              double stress[6], double *von_mises);

#endif
