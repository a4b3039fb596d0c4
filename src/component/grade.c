/* The verdicts on a component that a user wants first: four errors, and a grade for each. */
#include "component/layout.h"

#include <math.h>

/* Returns the relative error of mode k's frequency; rigid modes are not judged. Nearly all motion is in the lower half
 * of the modes. */
static double frequency_error(const bough_component_quality *q) {
    double worst = 0;
    for (int32_t k = 0; k < (q->mode_count + 1) / 2; k++)
        worst = fmax(worst, q->full_hz[k] > 0 ? fabs(q->reduced_hz[k] / q->full_hz[k] - 1) : 0);
    return q->mode_count ? worst : NAN;
}

/* fmax skips NAN. */
double bough_component_error(const bough_component *c, bough_verdict verdict) {
    const bough_component_quality *q = &c->quality;
    if (c->r == 0)
        return NAN;
    switch (verdict) {
    case BOUGH_VERDICT_FREQUENCIES:
        return frequency_error(q);
    case BOUGH_VERDICT_FORCES:
        return fmax(fmax(q->force_random, q->cubature_test), fmax(q->force_gravity, q->force_impulse));
    case BOUGH_VERDICT_MOTION:
        return fmax(isnan(q->response_moderate) ? q->response_gravity : q->response_moderate, q->projection_impulse);
    default:
        return q->load_error;
    }
}

static const double limits[BOUGH_VERDICT_COUNT][2] = {{0.01, 0.05}, {0.02, 0.1}, {0.02, 0.1}, {0.03, 0.1}};

bough_grade bough_verdict_grade(bough_verdict verdict, double error) {
    return isnan(error) || error <= limits[verdict][0] ? BOUGH_GRADE_GOOD
           : error <= limits[verdict][1]               ? BOUGH_GRADE_FAIR
                                                       : BOUGH_GRADE_POOR;
}

bough_verdict bough_component_worst(const bough_component *c, double *error) {
    return bough_component_worst_in_scene(c, 1, error);
}

bough_verdict bough_component_worst_in_scene(const bough_component *c, double share, double *error) {
    bough_verdict worst = BOUGH_VERDICT_FREQUENCIES;
    double most = -1;
    *error = NAN;
    for (int v = 0; v < BOUGH_VERDICT_COUNT; v++) {
        const bool counts_less = v == BOUGH_VERDICT_MOTION || v == BOUGH_VERDICT_LOADS;
        const double found = (counts_less ? share : 1) * bough_component_error(c, (bough_verdict)v);
        if (found / limits[v][1] > most)
            most = found / limits[v][1], worst = (bough_verdict)v, *error = found;
    }
    return worst;
}
