/* Limits that the curves of a retargeting do not keep, and targets that they do not reach, told in sentences. */
#include "retarget_report.h"

#include <math.h>

#define SLACK 1.02 /* limits are weights: a little is always beyond */

static void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void warn(const char *format, ...) {
    va_list arguments;
    app_clear_progress();
    fputs("bough: warning: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

/* One motor, its numbers in the units that people read. */
typedef struct {
    const bough_retarget_view *view;
    const bough_motion *motion;
    int32_t motor;
    double unit;       /* rad or m, of one of these */
    const char *place; /* its name */
} looked_at;

static size_t sample(const looked_at *l, int32_t step) {
    return (size_t)l->motor * (size_t)(l->motion->step_count + 1) + (size_t)step;
}

static double acceleration_at(const looked_at *l, int32_t step) {
    double value;
    bough_motor_curves_at(l->view->curves, l->motor, step * l->motion->dt, NULL, NULL, &value);
    return value;
}

enum { SPEED, ACCELERATION, FORCE, LIMIT_KINDS };

static void check_size(const looked_at *l, int kind) {
    const bough_motor_limits *limits = &l->view->limits[l->motor];
    const double limit = kind == SPEED ? limits->speed : kind == ACCELERATION ? limits->acceleration : limits->force;
    const bool slides = l->view->slides[l->motor];
    double most = 0, when = 0;
    for (int32_t k = 0; k <= l->motion->step_count; k++) {
        const double value = fabs(kind == SPEED   ? l->motion->rates[sample(l, k)]
                                  : kind == FORCE ? l->motion->forces[sample(l, k)]
                                                  : acceleration_at(l, k));
        if (value > most)
            most = value, when = k * l->motion->dt;
    }
    if (!(most > SLACK * limit))
        return;
    if (kind == FORCE)
        warn("motor \"%s\" needs %.3g %s at %.3g s, and its limit is %g", l->view->motors[l->motor], most,
             slides ? "N" : "N m", when, limit);
    else
        warn("motor \"%s\" goes to %.3g %s/s%s at %.3g s, and its limit is %g", l->view->motors[l->motor],
             most / l->unit, l->place, kind == SPEED ? "" : "^2", when, limit / l->unit);
}

static void check_range(const looked_at *l) {
    const bough_motor_limits *limits = &l->view->limits[l->motor];
    const double slack = (SLACK - 1) * fmin(limits->highest - limits->lowest, 1);
    double most = slack, when = 0, place = 0;
    for (int32_t k = 0; k <= l->motion->step_count; k++) {
        const double x = l->motion->places[sample(l, k)], beyond = fmax(x - limits->highest, limits->lowest - x);
        if (beyond > most)
            most = beyond, when = k * l->motion->dt, place = x;
    }
    if (most > slack)
        warn("motor \"%s\" goes to %.3g %s at %.3g s, and its range is %g to %g", l->view->motors[l->motor],
             place / l->unit, l->place, when, limits->lowest / l->unit, limits->highest / l->unit);
}

void app_warn_of_limits(const bough_retarget_view *view, const bough_motion *motion) {
    for (int32_t i = 0; i < view->motor_count; i++) {
        const bool degrees = view->degrees && !view->slides[i];
        const looked_at l = {view, motion, i, degrees ? M_PI / 180 : 1,
                             degrees           ? "degrees"
                             : view->slides[i] ? "m"
                                               : "rad"};
        check_range(&l);
        for (int kind = 0; kind < LIMIT_KINDS; kind++)
            check_size(&l, kind);
    }
}

void app_warn_of_misses(const bough_retarget *retarget, const bough_retarget_view *view, const app_retarget_case *first,
                        const app_retarget_case *found) {
    for (int32_t f = 0; f < view->frame_count; f++) {
        bough_deviation before, after;
        bough_motion_compare(retarget, first->motion, first->target, f, &before);
        bough_motion_compare(retarget, found->motion, found->target, f, &after);
        if (after.rms > before.rms && after.rms > 1e-6)
            warn(
                "\"%s\" is %.3g cm from its target, and %.3g cm with the animation as it is: limits of motors, weights "
                "of other frames, \"keep\" or \"smooth\" prevail, or points are too few",
                view->frames[f], 100 * after.rms, 100 * before.rms);
    }
}
