/* Shaped motions leave no vibration: of oscillators, exactly; of a rod with a weight, much less. */
#include "turning_rod.h"

#include "retarget/vibrations.h"

#include <complex.h>

static const bo_vibration one = {9.3, 0.07}, two[2] = {{9.3, 0.02}, {31.7, 0.11}};

/* The vibration of x'' + 2 ratio omega x' + omega^2 x = omega^2 u long after u has gone by steps from 0 to 1, as that
 * after a step at the time of the last impulse: x - 1 = Re(a exp(s t)), in closed form. */
static double step_response(const bo_shaper *shaper, bo_vibration v, double t, double *rate) {
    const double decay = v.ratio * v.omega, damped = v.omega * sqrt(1 - v.ratio * v.ratio);
    double x = 0;
    *rate = 0;
    for (int32_t i = 0; i < shaper->count; i++) {
        const double since = t - shaper->times[i], size = shaper->sizes[i] * exp(-decay * since);
        x += shaper->sizes[i] - size * (cos(damped * since) + decay / damped * sin(damped * since));
        *rate += size * v.omega * v.omega / damped * sin(damped * since);
    }
    return x;
}

/* The amplitude after the last impulse, against that of a single step at the same time. */
static double residual(const bo_shaper *shaper, bo_vibration v) {
    const double decay = v.ratio * v.omega, damped = v.omega * sqrt(1 - v.ratio * v.ratio);
    double rate, x = step_response(shaper, v, bo_shaper_delay(shaper), &rate) - 1;
    return hypot(x, (rate + decay * x) / damped) / hypot(1, decay / damped);
}

static double sum_of(const bo_shaper *shaper) {
    double sum = 0;
    for (int32_t i = 0; i < shaper->count; i++) {
        check(shaper->sizes[i] > 0);
        check(i == 0 || shaper->times[i] >= shaper->times[i - 1]);
        sum += shaper->sizes[i];
    }
    return sum;
}

static void shaped_steps_leave_no_vibration(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const double period = 2 * M_PI / (one.omega * sqrt(1 - one.ratio * one.ratio));
    for (int kind = BO_SHAPER_ZV; kind <= BO_SHAPER_ZVD; kind++) {
        bo_shaper shaper;
        check_ok(ctx, bo_shaper_make(ctx, (bo_shaper_kind)kind, 1, &one, &shaper));
        check_near(sum_of(&shaper), 1, 1e-15);
        check_near(bo_shaper_delay(&shaper), period * (kind == BO_SHAPER_ZV ? 0.5 : 1), 1e-15);
        check_below(residual(&shaper, one), 1e-14);
        check_ok(ctx, bo_shaper_make(ctx, (bo_shaper_kind)kind, 2, two, &shaper));
        check_int(shaper.count, kind == BO_SHAPER_ZV ? 4 : 9);
        check_near(sum_of(&shaper), 1, 1e-15);
        for (int i = 0; i < 2; i++)
            check_below(residual(&shaper, two[i]), 1e-14);
        /* and in between it does, as much as is said */
        const bo_vibration other = {17, 0.05};
        check(residual(&shaper, other) > 0.1);
        check_near(bo_shaper_leaves(&shaper, other), residual(&shaper, other), 1e-14);
    }
    bo_shaper none;
    check_ok(ctx, bo_shaper_make(ctx, BO_SHAPER_ZV, 0, NULL, &none));
    check_int(none.count, 1);
    check_near(bo_shaper_delay(&none), 0, 0);
    check_near(residual(&none, one), 1, 1e-15);
    bough_context_destroy(ctx);
}

/* Errors of the frequency by 2 % and by 1 %. */
static void zvd_forgives_wrong_frequencies(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    for (int kind = BO_SHAPER_ZV; kind <= BO_SHAPER_ZVD; kind++) {
        bo_shaper shaper;
        double left[2];
        check_ok(ctx, bo_shaper_make(ctx, (bo_shaper_kind)kind, 1, &one, &shaper));
        for (int i = 0; i < 2; i++)
            left[i] = residual(&shaper, (bo_vibration){one.omega * (i ? 1.01 : 1.02), one.ratio});
        printf("%s: %.2e of the vibration is left with 2 %%, %.2e with 1 %%, order %.3f\n",
               kind == BO_SHAPER_ZV ? "ZV" : "ZVD", left[0], left[1], log2(left[0] / left[1]));
        check_order(left[0], left[1], kind == BO_SHAPER_ZV ? 1 : 2, 0.05);
    }
    bough_context_destroy(ctx);
}

/* Places that are straight between samples have impulses of acceleration at samples: what they leave, exactly. */
static double left_by_samples(bo_vibration v, double dt, int count, const double *samples) {
    const double decay = v.ratio * v.omega, damped = v.omega * sqrt(1 - v.ratio * v.ratio), end = dt * (count - 1);
    double complex sum = 0;
    for (int k = 0; k < count; k++) {
        const double before = samples[k] - samples[k > 0 ? k - 1 : 0];
        const double after = samples[k + 1 < count ? k + 1 : k] - samples[k];
        sum += (after - before) / dt * cexp((decay - I * damped) * (dt * k - end));
    }
    return cabs(sum);
}

enum { MOST_SAMPLES = 2000 };

/* ... of a ramp over 0.35 s whose corners are shaped; the rest is how samples lie beside impulses. */
static double ramp_leaves(const bo_shaper *shaper, double dt) {
    double plain[MOST_SAMPLES] = {0}, shaped[MOST_SAMPLES] = {0};
    const int count = (int)lround(2 / dt) + 1;
    for (int k = 0; k < count; k++)
        plain[k] = fmin(k * dt / 0.35, 1);
    bo_shaper_apply(shaper, dt, count, plain, count, shaped);
    for (int k = 0; k < count; k++)
        check(shaped[k] >= -1e-15 && shaped[k] <= 1 + 1e-15 && (k == 0 || shaped[k] >= shaped[k - 1] - 1e-15));
    check_near(shaped[count - 1], 1, 1e-15);
    return left_by_samples(one, dt, count, shaped) / left_by_samples(one, dt, count, plain);
}

static void shaped_samples_vibrate_little(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    bo_shaper shaper;
    check_ok(ctx, bo_shaper_make(ctx, BO_SHAPER_ZV, 1, &one, &shaper));
    /* A delay of as many samples and a half, whatever their distance: the error of a straight line is largest */
    double left[2];
    for (int i = 0; i < 2; i++) {
        const int whole = i ? 40 : 20;
        left[i] = ramp_leaves(&shaper, bo_shaper_delay(&shaper) / (whole + 0.5));
    }
    printf("samples: %.2e of the vibration is left with %.1f ms, %.2e with half of it\n", left[0],
           1e3 * bo_shaper_delay(&shaper) / 20.5, left[1]);
    check_order(left[0], left[1], 2, 0.2);
    check_below(ramp_leaves(&shaper, bo_shaper_delay(&shaper) / 40), 1e-12);
    /* Rates and accelerations of a shaped motion are derivatives of its places. */
    const double h = 1e-4;
    for (double t = 0.05; t < 1; t += 0.0437) {
        double p[3], rate, acceleration, ignored;
        for (int k = 0; k < 3; k++)
            bo_shaper_at(&shaper, turn_at, NULL, 0, t + h * (k - 1), &p[k], k == 1 ? &rate : &ignored,
                         k == 1 ? &acceleration : NULL);
        check_near(rate, (p[2] - p[0]) / (2 * h), 1e-5);
        check_near(acceleration, (p[2] - 2 * p[1] + p[0]) / (h * h), 1e-5);
    }
    bough_context_destroy(ctx);
}

static void wrong_vibrations_are_refused(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    bo_shaper shaper;
    const bo_vibration still = {0, 0.1}, tough = {3, 1};
    check_fails(ctx, bo_shaper_make(ctx, BO_SHAPER_ZV, 1, &still, &shaper), BOUGH_ERROR_ARGUMENT, "0 rad/s");
    check_fails(ctx, bo_shaper_make(ctx, BO_SHAPER_ZV, 1, &tough, &shaper), BOUGH_ERROR_ARGUMENT, "ratio of 1");
    check_fails(ctx, bo_shaper_make(ctx, BO_SHAPER_ZV, 4, two, &shaper), BOUGH_ERROR_ARGUMENT, "up to 3");
    bough_context_destroy(ctx);
}

/* ---- a real rod ---- */

/* The modes, against the system itself: the equilibrium follows the motor by psi, and a mode has unit mass. */
static void check_modes(build *b) {
    bo_vibrations v;
    const bough_multibody *model = b->model;
    const int32_t nv = model->nv;
    shaped_turn turn = plain_turn();
    drive_with(b, &turn);
    check_ok(b->ctx, bo_vibrations_find(b->ctx, model, b->state, 0, NULL, &v));
    check_int(v.motor_count, 1);
    double ends[2][3], inertia = 0;
    const double step = 1e-3;
    for (int i = 0; i < 2; i++) {
        turn.place = i ? step : -step;
        check_ok(b->ctx, bough_multibody_settle(b->ctx, model, b->state));
        memcpy(ends[i], b->state->u + 7 * TIP, sizeof ends[i]);
    }
    for (int k = 0; k < 3; k++)
        check_near(v.follows[6 * TIP + k], (ends[1][k] - ends[0][k]) / (2 * step), 1e-5);
    for (int32_t k = 0; k < v.count; k++) {
        double mass = 0;
        for (int32_t i = 0; i < nv; i++)
            mass += v.rows[nv * k + i] * v.shapes[nv * k + i];
        check_near(mass, 1, 1e-10);
        inertia += v.inertia[k] * v.inertia[k];
    }
    /* All modes together have the inertia of what moves: 0.1 kg at 0.7 m and a rod of 69 g, sagging a little. */
    check_near(inertia, 0.1 * 0.49 + 0.069 * 0.49 / 3, 2e-3);
    bo_vibrations_free(b->ctx, &v);
    turn.place = 0;
}

/* The vibration of the tip in the last second of 3. */
static double run_turn(build *b, shaped_turn *turn) {
    const double dt = 2e-3;
    range r = {0};
    renew_state(b);
    drive_with(b, turn);
    for (int k = 0; k < 1500; k++) {
        take_step(b, dt);
        if (k >= 1000)
            widen(&r, position_of(b, TIP));
    }
    return half_range(&r);
}

/* A vibration that was let go: angular frequency and damping ratio, from the peaks of the tip's height. */
static bo_vibration measure_vibration(build *b, shaped_turn *turn) {
    const double dt = 1e-3;
    const int tip = 7 * TIP + 2;
    double before[2], first = 0, last = 0, first_size = 0, last_size = 0;
    int peaks = 0;
    renew_state(b);
    drive_with(b, turn);
    const double rest = b->state->u[tip];
    b->state->v[6 * TIP + 2] = 0.1;
    check_ok(b->ctx, bough_multibody_assemble(b->ctx, b->model, b->state));
    bough_multibody_restart(b->state);
    before[0] = before[1] = rest;
    for (int k = 1; k < 3000; k++) {
        take_step(b, dt);
        const double x = b->state->u[tip];
        if (k > 1000 && before[1] > rest && before[1] > before[0] && before[1] >= x) { /* a parabola's top */
            const double bend = x - 2 * before[1] + before[0], shift = -0.5 * (x - before[0]) / bend;
            last = (k - 1 + shift) * dt, last_size = before[1] - rest - 0.125 * pow(x - before[0], 2) / bend;
            if (peaks++ == 0)
                first = last, first_size = last_size;
        }
        before[0] = before[1], before[1] = x;
    }
    const double damped = 2 * M_PI * (peaks - 1) / (last - first), decay = log(first_size / last_size) / (last - first);
    return (bo_vibration){hypot(damped, decay), decay / hypot(damped, decay)};
}

static void a_shaped_rod_vibrates_less(void **unused) {
    (void)unused;
    bough_component *component = cook_turning_rod();
    build *b = make_turning_rod(component, nominal_rod);
    shaped_turn plain = plain_turn(), zv = plain, zvd = plain;
    bough_frame_def tip = bough_default_frame_def();
    bo_vibration found[BO_SHAPER_MODES];
    int32_t count;
    tip.body = TIP;
    check_modes(b);
    shaped_turn still = {0}; /* no impulses: the motor stays */
    const bo_vibration seen = measure_vibration(b, &still);
    const double unshaped = run_turn(b, &plain);
    printf("a free vibration: %.3f rad/s with %.5f\n", seen.omega, seen.ratio);
    const double times[3] = {0, TURN_START + 0.5 * TURN_TIME, 3}; /* start, middle and end of the turn */
    for (int i = 0; i < 3; i++) {
        check_ok(b->ctx, bo_vibrations_to_shape(b->ctx, b->model, b->state, times[i], 1, &tip, &count, found));
        check_ok(b->ctx, bo_shaper_make(b->ctx, BO_SHAPER_ZV, count, found, &zv.shaper));
        check_ok(b->ctx, bo_shaper_make(b->ctx, BO_SHAPER_ZVD, count, found, &zvd.shaper));
        const double shaped = run_turn(b, &zv), robust = run_turn(b, &zvd);
        printf("modes at %.1f s: %d, the first %.3f rad/s with %.5f; vibration %.3f cm, ZV %.4f cm, ZVD %.4f cm, later "
               "by %.3f and %.3f s\n",
               times[i], count, found[0].omega, found[0].ratio, 100 * unshaped, 100 * shaped, 100 * robust,
               bo_shaper_delay(&zv.shaper), bo_shaper_delay(&zvd.shaper));
        check_below(shaped, 0.05 * unshaped);
        check_below(robust, 0.02 * unshaped);
        if (i == 0) { /* as the rod is seen to vibrate there */
            check_near(found[0].omega / seen.omega, 1, 2e-3);
            check_near(found[0].ratio / seen.ratio, 1, 0.1);
        }
    }
    free_build(b);
    free_turning_rod(component);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shaped_steps_leave_no_vibration), cmocka_unit_test(zvd_forgives_wrong_frequencies),
        cmocka_unit_test(shaped_samples_vibrate_little), cmocka_unit_test(wrong_vibrations_are_refused),
        cmocka_unit_test(a_shaped_rod_vibrates_less)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
