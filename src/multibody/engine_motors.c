/* Motors of a run: where they are told to be, by curves or by hands, and what they give. */
#include "multibody/engine_inside.h"

#include "rig/joint.h"

#include <string.h>

#define FADE 0.1 /* s: time in which a motor that somebody took over, or let go, comes near to where it should be */

bough_status bo_multibody_make_guides(multibody_engine *e) {
    const int32_t count = e->plan->def.motor_count;
    bo_multibody_guides *g = &e->guides;
    g->goals = BO_NEW_ARRAY(e->ctx, double, count);
    g->places = BO_NEW_ZEROS(e->ctx, double, count);
    g->strays = BO_NEW_ZEROS(e->ctx, double, count);
    if (!g->goals || !g->places || !g->strays)
        return BOUGH_ERROR_MEMORY;
    for (int32_t m = 0; m < count; m++) {
        g->goals[m] = NAN;
        bo_spline_at(&e->plan->drives[m], 0, &g->places[m], NULL, NULL);
    }
    return BOUGH_OK;
}

void bo_multibody_free_guides(multibody_engine *e) {
    bo_free(e->ctx, e->guides.goals);
    bo_free(e->ctx, e->guides.places);
    bo_free(e->ctx, e->guides.strays);
}

void bo_multibody_guide(multibody_engine *e, double t) {
    bo_multibody_guides *g = &e->guides;
    g->since = t;
    for (int32_t m = 0; m < e->plan->def.motor_count; m++) {
        double should = 0;
        g->goals[m] = bo_hands_hold_motor(e->hands, m) ? e->hands->motors[m] : NAN;
        bo_spline_at(&e->plan->drives[m], t, &should, NULL, NULL);
        should = isnan(g->goals[m]) ? should : g->goals[m];
        g->strays[m] = g->places[m] - should;
        if (fabs(g->strays[m]) < 1e-9) /* rounding, of times above all */
            g->strays[m] = 0;
    }
}

void bo_multibody_drive(void *data, int32_t m, double time, double *place, double *rate) {
    const multibody_engine *e = data;
    const bo_multibody_guides *g = &e->guides;
    *place = g->goals[m], *rate = 0;
    if (isnan(*place))
        bo_spline_at(&e->plan->drives[m], e->rests ? e->rest_time : time, place, rate, NULL);
    *rate = e->rests ? 0 : *rate;
    if (g->strays[m] == 0)
        return;
    const double left = g->strays[m] * exp(-(time - g->since) / FADE);
    *place += left, *rate -= left / FADE;
}

/* The limits of the joint, or half as far again as the curve goes, and at least 0.1 rad or a hundredth of the system. */
static void find_range(const multibody_engine *e, int32_t m, bough_run_motor *out) {
    const bough_motor_def *motor = &e->plan->def.motors[m];
    const bough_joint_def *joint = &e->plan->def.joints[motor->joint];
    const bo_spline *drive = &e->plan->drives[m];
    double most = !strcmp(out->unit, "rad") ? 0.1 : 0.01 * e->model->length;
    for (int32_t i = 0; i < drive->count; i++)
        most = fmax(most, 1.5 * fabs(drive->values[i]));
    const double lower = joint->lower[motor->freedom], upper = joint->upper[motor->freedom];
    const bool limited = isfinite(lower) && isfinite(upper) && lower < upper;
    out->lowest = limited ? lower : -most, out->highest = limited ? upper : most;
}

void bo_multibody_look_at_motor(const void *data, int32_t i, bough_run_motor *out) {
    const multibody_engine *e = data;
    const bough_motor_def *motor = &e->plan->def.motors[i];
    const bough_joint_def *joint = &e->plan->def.joints[motor->joint];
    *out = (bough_run_motor){.joint = motor->name ? motor->name : joint->name,
                             .freedom = motor->freedom,
                             .unit = bo_joint_slides(joint->kind, motor->freedom) ? "m" : "rad",
                             .offset = e->guides.places[i],
                             .held = bo_hands_hold_motor(e->hands, i)};
    find_range(e, i, out);
}

/* ---- forces ---- */

/* An exact motor is the only constraint along its axis: the multipliers' force or torque along it is its own. */
static double exact_force(const multibody_engine *e, const bough_motor_def *motor) {
    bo_mb_state *s = bo_mb(e->state);
    const bo_mb_joint *joint = &e->model->joints[motor->joint];
    const bo_mb_drive drive = bo_mb_drive_at(s, e->state->time);
    bo_mb_rows *rows = &s->work.rows;
    bo_mb_joint_rows(e->model, &s->work, motor->joint, &drive, e->state->lambda, false, rows);
    const double *Q = s->work.places[joint->frames[0]].Q.m;
    const double *W = rows->W + (bo_joint_slides(joint->kind, motor->freedom) ? 6 : 9);
    return W[0] * Q[2] + W[1] * Q[5] + W[2] * Q[8];
}

double bo_multibody_motor_force(const multibody_engine *e, int32_t m, double *rate) {
    const bough_motor_def *motor = &e->model->def.motors[m];
    double y[BOUGH_MOST_FREEDOMS], rates[BOUGH_MOST_FREEDOMS], place, told, slope;
    bough_multibody_joint_coordinates(e->model, e->state, motor->joint, y, rates);
    *rate = rates[motor->freedom];
    if (isinf(motor->stiffness))
        return exact_force(e, motor);
    bo_multibody_drive((void *)(uintptr_t)e, m, e->state->time, &place, &told);
    return bo_mb_motor_force(motor, place - y[motor->freedom], told - *rate, &slope);
}

double bo_multibody_motor_energy(const multibody_engine *e) {
    double energy = 0;
    for (int32_t m = 0; m < e->model->def.motor_count; m++) {
        const bough_motor_def *motor = &e->model->def.motors[m];
        double y[BOUGH_MOST_FREEDOMS], place, told;
        if (isinf(motor->stiffness))
            continue;
        bough_multibody_joint_coordinates(e->model, e->state, motor->joint, y, NULL);
        bo_multibody_drive((void *)(uintptr_t)e, m, e->state->time, &place, &told);
        energy += 0.5 * motor->stiffness * (y[motor->freedom] - place) * (y[motor->freedom] - place);
    }
    return energy;
}
