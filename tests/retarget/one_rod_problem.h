/* A rod that is turned by 30 degrees in 0.3 s and back, and vibrates: its tip is to be where it would be at rest. */
#ifndef TEST_RETARGET_ONE_ROD_PROBLEM_H
#define TEST_RETARGET_ONE_ROD_PROBLEM_H

#include "multibody/reference_rod.h"

#include "base/context.h"

#include <bough/retarget.h>

enum { ROD_POINTS = 64 };
#define MARGIN 0.01 /* s: between the end of a movement, which has a corner there, and a pause */
#define SCALE 1e3   /* of the objective, so that limits on its gradient mean something */

static inline double animation(double t) {
    const double turn = 0.5235987755982988, up = (t - 0.2) / 0.3, down = (t - 1) / 0.3;
    return turn * (fmin(fmax(up, 0), 1) - fmin(fmax(down, 0), 1));
}

/* The animation stands still, and has done so for a time m, and will. */
static inline bool is_pause(double t, double m) {
    return t <= 0.2 - m || (t >= 0.5 + m && t <= 1 - m) || t >= 1.3 + m;
}

typedef struct {
    bough_context *ctx;
    reference_rod *m;
    bough_multibody *model;
    bough_multibody_state *state;
    bough_motor_curves *curves;
    bough_adjoint *adjoint;
    double weights[REFERENCE_STEPS + 1], positions[3 * (REFERENCE_STEPS + 1)], input[REFERENCE_STEPS + 1];
} rod_problem;

static inline bool open_rod_problem(rod_problem *p) {
    double times[REFERENCE_STEPS + 1];
    p->m = load_reference_rod();
    if (!p->m || !read_reference_targets(p->positions))
        return false;
    bough_context *ctx = p->ctx = test_context(2);
    check_ok(ctx, bough_multibody_create(ctx, &p->m->def, &p->model));
    check_ok(ctx, bough_multibody_state_create(ctx, p->model, &p->state));
    check_ok(ctx, bough_multibody_settle(ctx, p->model, p->state));
    check_ok(ctx, bough_motor_curves_create(ctx, 1, 3, ROD_POINTS, 0, 1.6, &p->curves));
    for (int k = 0; k <= REFERENCE_STEPS; k++)
        times[k] = 0.002 * k, p->input[k] = animation(times[k]), p->weights[k] = is_pause(times[k], 0) ? 1 : 0.1;
    check_ok(ctx, bough_motor_curves_fit(ctx, p->curves, REFERENCE_STEPS + 1, times, p->input, true));
    bough_tracked_frame tip = {
        .frame = bough_default_frame_def(), .position = 1, .positions = p->positions, .weights = p->weights};
    tip.frame.body = 1;
    bough_adjoint_def def = bough_default_adjoint_def();
    def.step_count = REFERENCE_STEPS, def.tracked = &tip, def.tracked_count = 1;
    def.input_weight = 1e-5, def.input = p->input, def.acceleration_weight = 3e-10;
    check_ok(ctx, bough_adjoint_create(ctx, p->model, p->state, p->curves, &def, &p->adjoint));
    return true;
}

static inline void close_rod_problem(rod_problem *p) {
    bough_adjoint_destroy(p->ctx, p->adjoint);
    bough_motor_curves_destroy(p->ctx, p->curves);
    bough_multibody_state_destroy(p->ctx, p->state);
    bough_multibody_destroy(p->ctx, p->model);
    bough_context_destroy(p->ctx);
    unload_reference_rod(p->m);
}

static inline bough_status evaluate_rod(bough_context *ctx, void *data, const double *x, double *value,
                                        double *gradient) {
    rod_problem *p = data;
    BO_TRY(bough_adjoint_gradient(ctx, p->adjoint, x, value, gradient, NULL));
    *value *= SCALE;
    for (int i = 0; i < ROD_POINTS; i++)
        gradient[i] *= SCALE;
    return BOUGH_OK;
}

/* Root mean square of the distance from tip to target, over all times or those at which the animation pauses. */
static inline double deviation(const rod_problem *p, bool pauses) {
    bough_adjoint_view view;
    double sum = 0;
    int count = 0;
    bough_adjoint_look(p->adjoint, &view);
    for (int k = 0; k <= REFERENCE_STEPS; k++) {
        const double t = 0.002 * k;
        if (pauses && !is_pause(t, MARGIN))
            continue;
        for (int i = 0; i < 3; i++)
            sum += pow(view.paths[0][3 * k + i] - p->positions[3 * k + i], 2);
        count++;
    }
    return sqrt(sum / count);
}

#endif
