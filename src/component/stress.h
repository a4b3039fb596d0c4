/* Stress of a component, corrected by its gauges. docs/theory/reduction.md, "Stress points". */
#ifndef BO_COMPONENT_STRESS_H
#define BO_COMPONENT_STRESS_H

#include "base/vec.h"

#include <bough/component.h>

/* Computes the values of all gauges at q: 6 count + BOUGH_SEAM. seam: of the interface by which the component hangs, in
 * its axes; NULL: not strained. */
void bo_component_gauges(const bough_component *component, const double *q, const double *seam, double *values);
/* The same as bough_component_stress(), with the values of the gauges; NULL if there are none. */
bool bo_component_stress_with(const bough_component *component, int32_t i, const double *q, const double *values,
                              double stress[6], double *von_mises);

#endif
