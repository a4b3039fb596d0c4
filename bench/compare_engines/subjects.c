#include "subjects.h"

#include "../linkages.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Springs soft enough that engines whose springs are explicit are stable with COMPARE_DT: the lightest link turns with
 * 2 k / I = 1e6 / s^2, and damping with 2 d / I = 400 / s. */
static const double STIFFNESS = 5, DAMPING = 0.002; /* N m / rad, N m s / rad */

/* CPU time of this thread, whatever else the machine is busy with: all engines use one thread. */
static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int compare_subject_count(void) {
    return 4;
}

compare_subject compare_subject_make(int index) {
    static const char *const names[] = {"helix 50", "helix 100", "helix 400", "ladder 48"};
    static const int32_t counts[] = {50, 100, 400, 16};
    sketch *s = index < 3 ? helix(counts[index], BOUGH_JOINT_BALL) : ladder(counts[index], BOUGH_JOINT_HINGE);
    for (int32_t j = 0; j < s->def.joint_count; j++)
        for (int k = 0; k < 6; k++)
            s->joints[j].stiffness[k] = STIFFNESS, s->joints[j].damping[k] = DAMPING;
    const compare_subject subject = {names[index], &s->def, {0.02, 0.01, index < 3 ? 0.03 : 0}};
    return subject;
}

void compare_subject_drop(compare_subject *subject) {
    free((char *)subject->def - offsetof(sketch, def));
}

compare_result compare_measure(compare_engine engine, int steps_a_round) {
    double first[3], times[COMPARE_ROUNDS];
    compare_result result;
    engine.position(engine.data, first);
    for (int k = 0; k < COMPARE_STEPS; k++)
        engine.step(engine.data);
    engine.position(engine.data, result.moved);
    for (int d = 0; d < 3; d++)
        result.moved[d] -= first[d];
    for (int r = 0; r < COMPARE_ROUNDS; r++) {
        const double start = seconds();
        for (int k = 0; k < steps_a_round; k++)
            engine.step(engine.data);
        times[r] = 1e6 * (seconds() - start) / steps_a_round;
    }
    qsort(times, COMPARE_ROUNDS, sizeof *times, ascending);
    result.microseconds = times[COMPARE_ROUNDS / 2], result.least = times[0];
    return result;
}

/* ---- Bough ---- */

typedef struct {
    bough_context *ctx;
    bough_mechanism *mechanism;
    bough_mechanism_statics *statics;
    bough_mechanism_model *model;
    bough_mechanism_state *state;
    const double *force; /* on the end effector, in every step */
} reduced;

static void step_reduced(void *data) {
    reduced *r = data;
    const double none[3] = {0};
    bough_mechanism_state_push(r->model, r->state, 0, r->force, none);
    if (bough_mechanism_step(r->ctx, r->model, r->state, COMPARE_DT)) {
        fprintf(stderr, "%s\n", bough_message(r->ctx));
        exit(1);
    }
    bough_mechanism_state_place(r->model, r->state);
}

static void position_reduced(void *data, double position[3]) {
    reduced *r = data;
    memcpy(position, r->state->poses[r->model->link_count - 1].position, 3 * sizeof(double));
}

compare_result compare_bough(const compare_subject *subject, int internal_modes) {
    bough_context_def context = bough_default_context_def();
    bough_mechanism_model_def def = bough_default_mechanism_model_def();
    context.thread_count = 1;
    def.internal_modes = internal_modes;
    reduced r = {.ctx = bough_context_create(&context), .force = subject->force};
    if (bough_mechanism_create(r.ctx, subject->def, &r.mechanism) ||
        bough_mechanism_statics_create(r.ctx, r.mechanism, NULL, &r.statics) ||
        bough_mechanism_model_create(r.ctx, r.mechanism, r.statics, &def, &r.model) ||
        bough_mechanism_state_create(r.ctx, r.model, &r.state)) {
        fprintf(stderr, "%s\n", bough_message(r.ctx));
        exit(1);
    }
    const compare_result result = compare_measure((compare_engine){&r, step_reduced, position_reduced}, 2000);
    bough_mechanism_state_destroy(r.ctx, r.state);
    bough_mechanism_model_destroy(r.ctx, r.model);
    bough_mechanism_statics_destroy(r.ctx, r.statics);
    bough_mechanism_destroy(r.ctx, r.mechanism);
    bough_context_destroy(r.ctx);
    return result;
}
